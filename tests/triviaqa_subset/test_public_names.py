"""The public names: what can be imported, that it is documented, and that importing it is light."""

import importlib
import inspect
import subprocess
import sys

import pytest

PACKAGES = ["triviaqa_subset"]
HEAVY = {"datasets", "pandas", "pyarrow", "huggingface_hub", "numpy", "torch", "transformers", "evaluate", "tqdm"}
PUBLIC = [(package, name) for package in PACKAGES for name in importlib.import_module(package).__all__]


def test_all_public_names_are_listed_once_and_in_order():
    for package in PACKAGES:
        names = importlib.import_module(package).__all__
        assert names == sorted(set(names))
        assert set(names) <= set(dir(importlib.import_module(package)))


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_a_public_name_is_documented(package, name):
    thing = getattr(importlib.import_module(package), name)
    assert thing.__module__.startswith("triviaqa_subset")
    assert thing.__name__ == name
    text = inspect.getdoc(thing)
    if inspect.isfunction(thing):
        parameters = list(inspect.signature(thing).parameters)
        wanted = [*(["Parameters"] if parameters else []), "Returns"]
        assert [section for section in wanted if f"{section}\n{'-' * len(section)}" not in text] == []
        assert [each for each in parameters if each not in text] == []
        assert ">>>" in text
    else:
        assert len(text.split()) > 5


def test_an_unknown_name_is_an_attribute_error():
    for package in PACKAGES:
        with pytest.raises(AttributeError, match=rf"^module '{package}' has no attribute 'nothing'$"):
            _ = importlib.import_module(package).nothing


@pytest.mark.e2e
@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_imports_nothing_heavy(package, offline):
    code = f"import sys, {package}; print(*{HEAVY!r}.intersection(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=offline, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

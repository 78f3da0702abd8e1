"""The public names: what can be imported, that it is documented, and that importing it is light."""

import inspect
import subprocess
import sys

import pytest

import triviaqa_subset

HEAVY = {"datasets", "pandas", "pyarrow", "huggingface_hub", "numpy", "torch", "transformers", "evaluate", "tqdm"}


def test_public_names_are_listed_once_in_order_and_importing_them_is_by_attribute():
    assert triviaqa_subset.__all__ == sorted(set(triviaqa_subset.__all__))
    assert set(triviaqa_subset.__all__) <= set(dir(triviaqa_subset))
    with pytest.raises(AttributeError, match=r"^module 'triviaqa_subset' has no attribute 'nothing'$"):
        _ = triviaqa_subset.nothing


@pytest.mark.parametrize("name", triviaqa_subset.__all__)
def test_a_public_name_is_documented(name):
    thing = getattr(triviaqa_subset, name)
    assert (thing.__module__.split(".")[0], thing.__name__) == ("triviaqa_subset", name)
    text = inspect.getdoc(thing)
    if inspect.isfunction(thing):
        parameters = list(inspect.signature(thing).parameters)
        wanted = [*(["Parameters"] if parameters else []), "Returns"]
        assert [section for section in wanted if f"{section}\n{'-' * len(section)}" not in text] == []
        assert [parameter for parameter in parameters if parameter not in text] == []
        assert ">>>" in text
    else:
        assert len(text.split()) > 5


@pytest.mark.e2e
def test_importing_the_package_imports_nothing_heavy(offline):
    code = f"import sys, triviaqa_subset; print(*{HEAVY!r}.intersection(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=offline, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

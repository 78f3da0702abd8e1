"""The public names: what can be imported, and that importing it is light."""

import subprocess
import sys

import pytest

import triviaqa_subset

HEAVY = {"datasets", "pandas", "pyarrow", "huggingface_hub", "numpy", "torch", "transformers", "evaluate", "tqdm"}


def test_public_names_are_listed_once_in_order_and_importing_them_is_by_attribute():
    assert triviaqa_subset.__all__ == sorted(set(triviaqa_subset.__all__))
    assert set(triviaqa_subset.__all__) <= set(dir(triviaqa_subset))
    for name in triviaqa_subset.__all__:
        assert getattr(triviaqa_subset, name).__name__ == name
    with pytest.raises(AttributeError, match=r"^module 'triviaqa_subset' has no attribute 'nothing'$"):
        _ = triviaqa_subset.nothing


@pytest.mark.e2e
def test_importing_the_package_imports_nothing_heavy(offline):
    code = f"import sys, triviaqa_subset; print(*{HEAVY!r}.intersection(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=offline, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

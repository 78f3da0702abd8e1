"""The public names: what can be imported; that importing it is light is in tests/ecuas_metric/test_public.py."""

import pytest

import triviaqa_subset


def test_public_names_are_listed_and_found_by_attribute():
    assert set(triviaqa_subset.__all__) <= set(dir(triviaqa_subset))
    for name in triviaqa_subset.__all__:
        assert getattr(triviaqa_subset, name).__name__ == name
    with pytest.raises(
        AttributeError, match=r"^module 'triviaqa_subset' has no attribute 'nothing'$"
    ):
        _ = triviaqa_subset.nothing

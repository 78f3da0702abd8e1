"""The form of errors."""

import re

import pytest

from triviaqa_subset.checking import require


def test_what_holds_is_no_error():
    require([], [], "x must be anything")
    require([True, True], "ab", "x must be a letter")


@pytest.mark.parametrize(
    ("holds", "values", "message"),
    [
        ([True, False, False], [1, -2, -3], "x must be positive; got -2 at index 1 (2 of 3). Drop it."),
        ([False], ["a" * 80], f"x must be positive; got '{'a' * 56}... at index 0 (1 of 1). Drop it."),
    ],
)
def test_the_first_offender_its_index_and_how_many(holds, values, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        require(holds, values, "x must be positive", "Drop it.")


def test_another_type_of_error():
    with pytest.raises(TypeError, match=r"^x must be text; got None at index 0 \(1 of 1\)\.$"):
        require([False], [None], "x must be text", error=TypeError)

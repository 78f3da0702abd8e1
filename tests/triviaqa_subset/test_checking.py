"""The form of errors."""

import re

import pytest

from triviaqa_subset.checking import require


def test_an_error_names_the_first_offender_its_index_and_how_many():
    require([], [], "x must be anything")
    require([True, True], "ab", "x must be a letter")
    message = f"x must be short; got '{'a' * 56}... at index 1 (2 of 3). Drop it."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        require([True, False, False], ["b", "a" * 80, "c"], "x must be short", "Drop it.")
    with pytest.raises(TypeError, match=re.escape("x must be text; got None at index 0 (1 of 1).")):
        require([False], [None], "x must be text", error=TypeError)

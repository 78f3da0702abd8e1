"""What is asked of files."""

import numpy as np
import pytest

from ecuas_metric.options import OPTIONS
from space import scoring
from space.words import LABELS
from tests.space.refusals import refused


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("", []), (None, []), (" 0, 1 ;-2 ∞", [0, 1, -2, np.inf]), ([0, 0.5], [0, 0.5]), (0, [0])],
)
def test_numbers_are_separated_as_people_do(text, numbers):
    assert scoring.numbers({"n": text}, "n") == numbers


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0," * 21, r"^n must be at most 20 numbers; got 21\.$"),
        ("low", r"^n must be numbers, separated by commas; got 'low'\.$"),
        ("1, 2", r"^n must be one number; got '1, 2'\.$"),
    ],
)
def test_what_is_no_number_is_an_error(text, message):
    with refused(message):
        scoring.number({"n": text}, "n")


def test_columns_are_pairs():
    columns = {"confidence": "p_true", "system": "llm+method"}
    assert scoring.columns_of("confidence=p_true, system = llm+method") == columns
    with refused(r"^Columns must be ROLE=COLUMN pairs, separated by commas; got 'p_true'\.$"):
        scoring.columns_of("p_true")


def test_empty_controls_ask_for_the_defaults_and_say_what_the_options_mean():
    empty = dict.fromkeys(scoring.CONTROLS, "")
    defaults = {name: control.default for name, control in scoring.CONTROLS.items()}
    assert scoring.options_of(empty) == scoring.options_of(defaults) == {}
    for name in LABELS:
        assert scoring.CONTROLS[name].help.startswith(OPTIONS[name].help)

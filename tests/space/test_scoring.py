"""What is asked of files."""

import re

import numpy as np
import pytest

from space import scoring
from space.words import CONTROLS
from tests.space.refusals import refused


@pytest.mark.parametrize(
    "text, numbers",
    [("", []), (None, []), (" 0, 1 ;-2 ∞", [0, 1, -2, np.inf]), ([0, 0.5], [0, 0.5]), (0, [0])],
)
def test_numbers_are_separated_as_people_do(text, numbers):
    assert scoring.numbers({"n": text}, "n") == numbers


@pytest.mark.parametrize(
    "read, text, message",
    [
        (
            scoring.numbers,
            "0," * 21,
            r"^n must be at most 20 numbers, separated by commas; got '0,0,",
        ),
        (
            scoring.numbers,
            "low",
            r"^n must be at most 20 numbers, separated by commas; got 'low'\.$",
        ),
        (scoring.number, "low", r"^n must be one number; got 'low'\.$"),
        (scoring.number, "1, 2", r"^n must be one number; got '1, 2'\.$"),
    ],
)
def test_what_is_no_number_is_an_error(read, text, message):
    with refused(message):
        read({"n": text}, "n")


@pytest.mark.parametrize(
    "text, columns",
    [
        (
            "confidence=p_true, system = llm+method",
            {"confidence": "p_true", "system": "llm+method"},
        ),
        (
            '"confidence=Sure (%), of 100,correct=OK?,scale=100"',
            {"confidence": "Sure (%), of 100", "correct": "OK?", "scale": "100"},
        ),
        (
            "label=y,a:confidence=p,predicted=q,b:confidence=r",
            {"label": "y", "a": {"confidence": "p", "predicted": "q"}, "b": {"confidence": "r"}},
        ),
    ],
    ids=["roles", "as errors print it", "systems"],
)
def test_columns_are_pairs_in_the_syntax_of_the_command(text, columns):
    assert scoring.columns_of(text) == columns


def test_what_is_no_pair_is_an_error():
    with refused(r"^Columns must be ROLE=COLUMN pairs, separated by commas; got 'p_true'\.$"):
        scoring.columns_of("p_true")


def test_empty_controls_ask_for_the_defaults_and_say_what_they_mean_without_code():
    empty = dict.fromkeys(CONTROLS, "")
    defaults = {name: control.default for name, control in CONTROLS.items()}
    assert scoring.options_of(empty) == scoring.options_of(defaults) == {}
    for control in CONTROLS.values():
        assert not re.search(r"u_M|shape|\(N,|by default", control.help), control


def test_a_role_that_there_is_not_is_refused(files):
    with refused(r"got 'confidense'\.$"):
        scoring.score_files(files, {"columns": "confidense=confidence"})

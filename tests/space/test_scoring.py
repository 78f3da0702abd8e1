"""What is asked of files, and what is laid out of the answer."""

import numpy as np

from ecuas_metric.options import OPTIONS
from space import scoring
from space.words import LABELS
from tests.space.refusals import refused


def test_numbers_are_separated_as_people_do_and_what_is_none_is_an_error():
    texts = {"": [], " 0, 1 ;-2 ∞": [0, 1, -2, np.inf], None: []}
    assert {text: scoring.numbers({"n": text}, "n") for text in texts} == texts
    numbers = [scoring.number({"scale": text}, "scale") for text in ("", " ", "∞", "4", 3)]
    assert numbers == [None, None, np.inf, 4, 3]
    columns = {"confidence": "p_true", "system": "llm+method"}
    assert scoring.columns_of("confidence=p_true, system = llm+method") == columns
    for call, text, message in (
        (scoring.numbers, "0," * 21, r"^n must be at most 20 numbers; got 21\.$"),
        (scoring.numbers, "low", r"^n must be numbers, separated by commas; got 'low'\.$"),
        (scoring.number, "1, 2", r"^n must be one number; got '1, 2'\.$"),
    ):
        with refused(message):
            call({"n": text}, "n")
    with refused(r"^Columns must be ROLE=COLUMN pairs, separated by commas; got 'p_true'\.$"):
        scoring.columns_of("p_true")


def test_empty_controls_ask_for_the_defaults_and_say_what_the_options_mean():
    empty = {
        name: "" if control.kind is not bool else False
        for name, control in scoring.CONTROLS.items()
    }
    defaults = {name: control.default for name, control in scoring.CONTROLS.items()}
    assert scoring.options_of(empty) == scoring.options_of(defaults) == {}
    for name in LABELS:
        assert scoring.CONTROLS[name].help.startswith(OPTIONS[name].help)

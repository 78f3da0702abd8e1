"""What is asked of files, and what is laid out of the answer."""

import json

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.options import OPTIONS
from ecuas_metric.reporting.cli import main
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


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ({}, ["--columns", "id=question_id,weight=weight,stratum=stratum"]),
        (
            {"columns": "weight=w2", "n": "0, inf"},
            ["--columns", "id=question_id,weight=w2,stratum=stratum", "--n", "0,inf"],
        ),
    ],
)
def test_graded_answers_are_scored_as_by_the_command_when_it_is_told_their_columns(
    given, flags, tmp_path
):
    random = np.random.default_rng(0)
    confidence = random.beta(3, 1.5, 60)
    graded = pd.DataFrame(
        {
            "question_id": [f"q{i}" for i in range(60)],
            "confidence": confidence,
            "correct": (random.random(60) < confidence).astype(int),
            "weight": np.tile([1.0, 4.0], 30),
            "w2": np.tile([2.0, 1.0, 3.0], 20),
            "stratum": np.tile([1, 2], 30),
            "population": "TriviaQA curated",
        }
    )
    file = tmp_path / "graded.csv"
    output = tmp_path / "output.json"
    graded.to_csv(file, index=False)
    main(["score", str(file), *flags, "--interval", "0.95", "--output", str(output)])
    by_command = json.loads(output.read_text(encoding="utf-8"))
    by_page = scoring.score_files([str(file)], given).json()
    assert by_page["rows"] == by_command["rows"]
    assert by_page["signature"] == by_command["signature"]

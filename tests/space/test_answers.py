"""A visitor's answers are graded, and a link restores every digit of the result or there is none."""

import base64
import json
import zlib

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.reporting.cli import main
from space import answers, links
from space.scoring import score_files, score_submissions
from space.uploads import read_answers
from tests.space.refusals import refused
from triviaqa_subset.grading import answer_sha256, label_bank
from triviaqa_subset.tables import ASKED, table, with_design, write_form


@pytest.fixture
def mine():
    """One answer to every question of the subset, which the bank has for some of them, by the row of its file."""
    ids = table("curated")["question_id"]
    confidence = np.linspace(0, 1, len(ids))
    frame = pd.DataFrame(
        {"question_id": ids, "answer": "London.", "confidence": confidence, "correct": np.nan}
    )
    return frame.set_axis(frame.index + 2)


def test_the_bank_decides_what_it_knows_and_the_visitor_what_it_does_not(mine):
    graded = answers.grade_answers(mine, "curated")
    bank = label_bank()
    sha256 = answer_sha256("London.")
    known = np.array([(question, sha256) in bank for question in mine["question_id"]])
    assert graded.open_questions() == mine["question_id"][~known].tolist()
    assert graded.summary() == (
        f"455 answers: {sum(known)} decided by the label bank. {sum(~known)} are unknown."
    )
    said = mine.assign(correct=np.arange(455) % 2)  # of what the bank knows it decides nothing
    decided = answers.grade_answers(said, "curated").frame
    assert (decided["decided_by"] == "you").tolist() == (~known).tolist()
    assert (decided["correct"] == said["correct"])[~known].all()
    shuffled = answers.grade_answers(mine.sample(frac=1, random_state=1), "curated")
    pd.testing.assert_frame_equal(shuffled.frame, graded.frame)
    few = answers.grade_answers(mine.head(28), "curated")
    assert "28 of 455 questions are answered" in few.summary()


@pytest.mark.parametrize("asked", ASKED)
def test_the_form_that_is_offered_has_every_question_once_and_is_graded_as_it_is(asked, tmp_path):
    write_form(asked, tmp_path / "form.csv")
    graded = answers.grade_answers(read_answers(str(tmp_path / "form.csv")), asked)
    assert list(graded.frame["question_id"]) == list(table(asked)["question_id"])
    assert not graded.frame["correct"].any()  # nothing is answered yet


def test_what_is_answered_twice_or_not_asked_is_refused_with_its_row(mine):
    with refused("must not be repeated; got '.*' in row 2 "):
        answers.grade_answers(pd.concat([mine, mine.head(1)]), "curated")
    mine.loc[7, "question_id"] = "q1"
    with refused("asked; got 'q1' in row 7 "):
        answers.grade_answers(mine, "curated")


@pytest.mark.parametrize("asked", ASKED)
def test_graded_answers_are_scored_alike_from_their_file(asked, mine, tmp_path):
    """Here, on the first tab, and by the command that is told their columns; no text is a formula in a spreadsheet."""
    mine["answer"] = ["=1+1", *["London."] * 454]
    mine["confidence"] = [0.1 + 0.2, 1e-17, *mine["confidence"][2:]]
    mine.loc[100:, "correct"] = 1
    graded = answers.grade_answers(mine.head(400), asked)
    file = tmp_path / "mine.csv"
    graded.write(file)
    assert pd.read_csv(file)["answer"][0] == "'=1+1"
    here = score_submissions([graded.submission("mine")], {}).json()
    there = score_files([str(file)], {"unlabelled": "bounds"}).json()
    assert "weights:" in there["signature"]
    output = tmp_path / "output.json"
    columns = ["--columns", "id=question_id,weight=weight,stratum=stratum"]
    flags = [*columns, "--unlabelled", "bounds", "--interval", "0.95", "--output", str(output)]
    main(["score", str(file), *flags])
    by_command = json.loads(output.read_text("utf-8"))
    assert here["rows"] == there["rows"] == by_command["rows"]
    assert there["signature"] == by_command["signature"]


def random_result(rng):
    """Graded answers of any number, and confidences of any kind."""
    asked = str(rng.choice(ASKED))
    ids = table(asked)["question_id"]
    ids = ids[rng.random(len(ids)) < rng.random()]
    confidence = rng.random(len(ids))
    confidence = 10 ** (-9 * confidence) if rng.random() < 0.5 else confidence.round(2)
    confidence[rng.random(len(ids)) < rng.choice([0, 0.1])] = np.nan
    correct = rng.choice([0.0, 1.0, np.nan], len(ids))
    frame = pd.DataFrame({"question_id": ids, "confidence": confidence, "correct": correct})
    return answers.Graded(with_design(frame, asked), asked)


@pytest.mark.parametrize("number", [15, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_link_holds_the_whole_result_or_there_is_none(number, rng):
    for graded in (random_result(rng) for _ in range(number)):
        token = links.pack("µ", graded)
        assert token or len(graded.frame) > 400  # with fewer there is always room
        if token and len(graded.frame):
            name, again = links.unpack(token)
            assert (name, again.asked) == ("µ (self-reported)", graded.asked)
            frame = graded.frame.set_axis(again.frame.index)
            pd.testing.assert_frame_equal(again.frame, frame)  # bit by bit


def test_confidences_that_no_link_can_hold_leave_none_and_are_refused_or_scored_as_elsewhere(mine):
    """Percentages and missing ones are scored; where one is no probability, its row is named, and what to write."""
    frame = mine.assign(correct=1.0)
    for confidence, fits in (("50%", False), ([None, *mine["confidence"][1:]], True)):
        graded = answers.grade_answers(frame.assign(confidence=confidence), "curated")
        assert (links.pack("mine", graded) != "") == fits
        assert score_submissions([graded.submission("mine")], {}).report.sizes == {"mine": 455}
    graded = answers.grade_answers(frame.assign(confidence=5.0), "curated")
    assert links.pack("mine", graded) == ""
    with refused("mine: column 'confidence' must lie .* got 5.0 in row 2.* Write confidences as"):
        graded.submission("mine")


def token_of(content):
    packed = zlib.compress(content if isinstance(content, bytes) else json.dumps(content).encode())
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


GOOD = {"name": "m", "asked": "curated", "states": "111" + "3" * 452, "confidence": [0.5, 0.25, 1]}
BROKEN = [  # what differs from a good link
    {"more": 1},
    {"asked": "../pool"},
    {"states": "1"},
    {"states": "9" * 455},
    {"states": "3" * 455, "confidence": []},
    {"confidence": [0.5]},
    *({"confidence": [first, 0, 1]} for first in (10**400, 2, float("nan"), "0.5")),
]
TOKENS = [
    *("", "A" * 9000, "!!!é", token_of(GOOD)[:-9]),
    *map(token_of, ([{}], b" " * 10**7, b"\0\1\2", b"[" * 50_000)),
    *(token_of(GOOD | changes) for changes in BROKEN),
]


@pytest.mark.parametrize("token", TOKENS, ids=range(len(TOKENS)))
def test_a_broken_link_is_an_error(token):
    with refused("The link is not one of this page's, or is not whole"):
        links.unpack(token)


FORGED = {
    "1. GEMINI 2.5 Pro (checked)": "a model",
    "\uff47emini-2.5-pro": "a model",
    "g\u0435mini-2.5-pro": "a model",  # Cyrillic
    "\0": "a model",
    "\u202eorp-5.2-inimeg": "orp-5.2-inimeg",
    "\U0001d54f" * 200: "\U0001d54f" * 60,
    "<script>../gemini-4-ultra": "<script>../gemini-4-ultra",
}


@pytest.mark.parametrize("forged, shown", FORGED.items())
def test_a_forged_name_is_never_one_of_the_datasets_and_is_marked(forged, shown):
    assert links.unpack(token_of(GOOD | {"name": forged}))[0] == f"{shown} (self-reported)"

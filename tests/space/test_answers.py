"""A visitor's answers are graded, and a link restores every digit of the result or there is none."""

import base64
import json
import zlib

import numpy as np
import pandas as pd
import pytest

from space import answers, links, subset
from space.scoring import options_of, score_files, score_submissions
from space.uploads import Answers
from tests.space.refusals import refused
from triviaqa_subset.grading import answer_sha256, label_bank


def sheet(frame):
    frame = frame.reset_index(drop=True)
    correct = frame["correct"] if "correct" in frame else pd.Series(np.nan, frame.index)
    return Answers(
        frame[["question_id", "answer", "confidence"]], correct, np.arange(len(frame)) + 2
    )


@pytest.fixture
def mine():
    """One answer to every question of the subset, which the bank has for some of them."""
    ids = subset.questions_of("curated")["question_id"]
    return pd.DataFrame(
        {"question_id": ids, "answer": "London.", "confidence": np.linspace(0, 1, len(ids))}
    )


def test_the_bank_decides_what_it_knows_and_the_visitor_what_it_does_not(mine):
    graded = answers.grade_answers(sheet(mine), "curated")
    bank = label_bank()
    known = np.array(
        [(question, answer_sha256("London.")) in bank for question in mine["question_id"]]
    )
    assert graded.open_questions() == mine["question_id"][~known].tolist()
    counts = (
        f"Of 455 answers were decided: {sum(known)} by the label bank. {sum(~known)} are unknown."
    )
    assert graded.summary() == counts
    # of what the bank knows it decides nothing
    said = mine.assign(correct=[1.0] * 300 + [np.nan] * 155)
    decided = answers.grade_answers(sheet(said), "curated").frame
    assert (decided["decided_by"] == "you")[:300].equals(pd.Series(~known[:300]))
    assert decided["correct"].isna().sum() == sum(~known[300:])
    shuffled = answers.grade_answers(sheet(mine.sample(frac=1, random_state=1)), "curated")
    pd.testing.assert_frame_equal(shuffled.frame, graded.frame)
    assert (
        "28 of 455 questions are answered"
        in answers.grade_answers(sheet(mine.head(28)), "curated").summary()
    )


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            lambda frame: pd.concat([frame, frame.head(1)]),
            {},
            "must not be repeated; got '.*' in row [0-9]+ ",
        ),
        (
            lambda frame: frame.assign(question_id=["q1", *frame["question_id"][1:]]),
            {},
            "asked; got 'q1' in row 2 ",
        ),
        (lambda frame: frame, {"asked": "x"}, "Questions must be one of curated, kept; got 'x'"),
    ],
)
def test_what_is_not_asked_or_not_there_is_refused(change, options, message, mine):
    with refused(message):
        answers.grade_answers(sheet(change(mine)), **{"asked": "curated", **options})


@pytest.mark.parametrize("asked", subset.ASKED)
def test_graded_answers_are_scored_alike_from_their_file(asked, mine, tmp_path):
    """It carries weights and strata; digits are all there, and no text is a formula in a spreadsheet."""
    frame = mine.assign(
        answer=["=1+1", *["London."] * 454], confidence=[0.1 + 0.2, 1e-17, *mine["confidence"][2:]]
    )
    graded = answers.grade_answers(sheet(frame.head(400)), asked)
    graded.write(tmp_path / "mine.csv")
    written = pd.read_csv(tmp_path / "mine.csv", dtype=str)
    assert written["answer"][0] == "'=1+1"
    here = score_submissions([graded.submission("mine")], options_of({}))
    there = score_files([str(tmp_path / "mine.csv")], {"unlabelled": "bounds"})
    assert there.json()["rows"] == here.json()["rows"]
    assert "weights:" in there.report.signature


def test_without_text_gold_answers_decide_by_their_hashes():
    rows = {
        "question_id": ["qb_5701", "jp_3200"],
        "answer": ["The answer is **X**.", "Silver"],
        "confidence": 0.5,
    }
    graded = answers.grade_answers(sheet(pd.DataFrame(rows)), "kept")
    assert graded.frame.set_index("question_id")["decided_by"].to_dict() == {
        "qb_5701": "exact",
        "jp_3200": "unlabelled",
    }


def random_result(rng):
    """Graded answers of any number, confidences of any kind, and any settings."""
    asked = str(rng.choice(subset.ASKED))
    ids = subset.questions_of(asked)["question_id"]
    ids = ids[rng.random(len(ids)) < rng.random()]
    confidence = (
        10 ** (-9 * rng.random(len(ids))) if rng.random() < 0.5 else rng.random(len(ids)).round(2)
    )
    correct = rng.choice([0.0, 1.0, np.nan], len(ids))
    frame = pd.DataFrame({"question_id": ids, "confidence": confidence, "correct": correct})
    return answers.Graded(answers.with_design(frame, asked), np.arange(len(frame)) + 2, asked)


@pytest.mark.parametrize("number", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_link_holds_the_whole_result_or_there_is_none(number, rng):
    for graded in (random_result(rng) for _ in range(number)):
        token = links.pack("µ", graded)
        assert token or len(graded.frame) > 400  # with fewer there is always room
        if token and len(graded.frame):
            name, again = links.unpack(token)
            # bit by bit
            pd.testing.assert_frame_equal(again.frame, graded.frame[again.frame.columns])
            assert (name, again.asked) == ("µ (self-reported)", graded.asked)


def test_confidences_that_no_link_can_hold_leave_none_and_are_refused_or_scored_as_elsewhere(mine):
    """Percentages and missing ones are scored; where one is no probability, its row is named."""
    frame = mine.assign(correct=1.0)
    for confidence in ("50%", [None, *mine["confidence"][1:]]):
        graded = answers.grade_answers(sheet(frame.assign(confidence=confidence)), "curated")
        assert links.pack("mine", graded) == ""
        assert score_submissions([graded.submission("mine")], {}).report.sizes == {"mine": 455}
    graded = answers.grade_answers(sheet(frame.assign(confidence=5.0)), "curated")
    assert links.pack("mine", graded) == ""
    with refused("mine: column 'confidence' holds ratings .* got 5.0 in row 2"):
        graded.submission("mine")


def token_of(content):
    packed = zlib.compress(content if isinstance(content, bytes) else json.dumps(content).encode())
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def good(**changes):
    link = {"name": "m", "asked": "curated"}
    return link | {"states": "1" * 3 + "3" * 452, "confidence": [0.5, 0.25, 1]} | changes


BROKEN = [  # what is in a link: text, bytes that are packed, or what differs from a good one
    *("", "x", "A" * 9000, "!!!é", token_of({"name": "m"})[:-9], token_of([{}]), token_of({})),
    *(b" " * 10**7, b"\0\1\2", b"[" * 50_000),
    *({"more": 1}, {"asked": "../pool"}, {"asked": None}, {"rule": "wrong"}),
    *({"states": "1"}, {"states": "9" * 455}, {"states": "3" * 455, "confidence": []}),
    *({"confidence": [0.5]}, {"confidence": [0.5] * 9}, {"confidence": [[0.5], {}, None]}),
    *(
        {"confidence": [first, 0, 1]}
        for first in (10**400, 2, -1e308, float("nan"), "0.5", True, None)
    ),
]


@pytest.mark.parametrize("content", BROKEN, ids=lambda content: str(content)[:30])
def test_a_broken_link_is_an_error(content):
    token = (
        content
        if isinstance(content, str)
        else token_of(good(**content) if isinstance(content, dict) else content)
    )
    with refused("The link is not one of this page's, or is not whole"):
        links.unpack(token)


@pytest.mark.parametrize(
    ("forged", "shown"),
    [
        *(
            (name, "a model")
            for name in ("GEMINI 2.5 Pro · verbalized", "1. gemini-2.5-pro (checked)", "\0", "")
        ),
        *(
            (name, "a model")
            for name in ("gemini-2.5-pro", "\uff47emini-2.5-pro", "g\u0435mini-2.5-pro")
        ),  # Cyrillic
        *(("\u202eorp-5.2-inimeg", "orp-5.2-inimeg"), ("\U0001d54f" * 200, "\U0001d54f" * 60)),
        *(
            (name, name)
            for name in ("../../etc/passwd", "<script>alert(1)</script>", "gemini-4-ultra")
        ),
    ],
)
def test_a_forged_name_is_never_one_of_the_datasets_and_is_marked(forged, shown):
    assert links.unpack(token_of(good(name=forged)))[0] == f"{shown} (self-reported)"

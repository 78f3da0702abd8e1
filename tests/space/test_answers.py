"""A visitor's answers are graded, and a link restores every digit of the result or there is none."""

import base64
import json
import shutil
import zlib

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.errors import FileError
from space import answers, links, subset
from space.scoring import options_of, score_files, score_submissions
from space.uploads import Answers
from tests.space.refusals import refused
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.grading import answer_sha256, label_bank


def sheet(frame):
    frame = frame.reset_index(drop=True)
    correct = frame["correct"] if "correct" in frame else pd.Series(np.nan, frame.index)
    return Answers(frame[["question_id", "answer", "confidence"]], correct, np.arange(len(frame)) + 2)


@pytest.fixture
def mine():
    """One answer to every question of the subset, which the bank has for some of them."""
    ids = subset.questions_of("curated")["question_id"]
    return pd.DataFrame({"question_id": ids, "answer": "London.", "confidence": np.linspace(0, 1, len(ids))})


def test_the_bank_decides_what_it_knows_and_the_visitor_the_rest(mine):
    graded = answers.grade_answers(sheet(mine), "curated")
    bank = label_bank()
    is_known = np.array([(question, answer_sha256("London.")) in bank for question in mine["question_id"]])
    unknown = sum(~is_known)
    assert ((graded.frame["decided_by"] == "bank") == is_known).all()
    assert (graded.frame["correct"].isna() == ~is_known).all()
    assert graded.summary() == f"Of 455 answers were decided: {sum(is_known)} by the label bank. {unknown} are unknown."
    assert graded.open_questions() == mine["question_id"][~is_known].tolist()
    said = mine.assign(correct=[1.0] * 300 + [np.nan] * 155)  # of what the bank knows it decides nothing
    for rule, missing in (("bounds", sum(~is_known[300:])), ("wrong", 0)):
        decided = answers.grade_answers(sheet(said), "curated", rule=rule).frame
        assert (decided["decided_by"] == "you")[:300].equals(pd.Series(~is_known[:300]))
        assert decided["correct"].isna().sum() == missing
        assert decided["correct"].sum() == sum(~is_known[:300]) + sum(
            bank.get((q, answer_sha256("London.")), 0) for q in mine["question_id"]
        )
    shuffled = answers.grade_answers(sheet(mine.sample(frac=1, random_state=1)), "curated")
    pd.testing.assert_frame_equal(shuffled.frame, graded.frame)
    assert "28 of 455 questions are answered" in answers.grade_answers(sheet(mine.head(28)), "curated").summary()


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda frame: pd.concat([frame, frame.head(1)]), {}, "must not be repeated; got '.*' in row [0-9]+ "),
        (lambda frame: frame.assign(question_id=["q1", *frame["question_id"][1:]]), {}, "asked; got 'q1' in row 2 "),
        (lambda frame: frame, {"rule": "drop"}, "must count as one of bounds, wrong; got 'drop'"),
        (lambda frame: frame, {"asked": "x"}, "Questions must be one of curated, kept; got 'x'"),
    ],
)
def test_what_is_not_asked_or_not_there_is_refused(change, options, message, mine):
    with refused(message):
        answers.grade_answers(sheet(change(mine)), **{"asked": "curated", **options})


@pytest.mark.parametrize(("asked", "rule"), [("curated", "wrong"), ("curated", "bounds"), ("kept", "wrong")])
def test_graded_answers_are_scored_alike_from_their_file(asked, rule, mine, tmp_path):
    """It carries weights and strata; digits are all there, and no text is a formula in a spreadsheet."""
    frame = mine.assign(answer=["=1+1", *["London."] * 454], confidence=[0.1 + 0.2, 1e-17, *mine["confidence"][2:]])
    graded = answers.grade_answers(sheet(frame.head(400)), asked, rule=rule)
    graded.write(tmp_path / "mine.csv")
    written = pd.read_csv(tmp_path / "mine.csv", dtype=str)
    assert written["answer"][0] == "'=1+1"
    here = score_submissions([graded.submission("mine")], options_of({}))
    there = score_files([str(tmp_path / "mine.csv")], {"unlabelled": "bounds"})
    assert there.json()["rows"] == here.json()["rows"]
    assert "weights:" in there.report.signature


def test_gold_answers_decide_where_there_is_text(mine, tmp_path, monkeypatch):
    data = shutil.copytree(FOLDER / "data", tmp_path / "data")
    ids = mine["question_id"]
    gold = [{"value": f"<{i}>", "aliases": [f"<{i}>", f"alias {i}"], "normalized_aliases": []} for i in ids]
    texts = {"question": [f"What is <{i}>?" for i in ids], "answer": gold}
    pd.read_parquet(data / "curated.parquet").assign(**texts).to_parquet(data / "curated.parquet")
    monkeypatch.setattr(subset, "BUILT", tmp_path)
    monkeypatch.setattr(subset, "tables", subset.tables.__wrapped__)  # those that are there now
    mine["answer"] = ["alias " + i if k % 2 else "nobody said this" for k, i in enumerate(ids)]
    graded = answers.grade_answers(sheet(mine), "curated")
    assert "227 by exact match" in graded.summary()
    assert graded.open_questions() == ids[::2].tolist()


def test_without_text_gold_answers_decide_by_their_hashes():
    rows = {"question_id": ["qb_5701", "jp_3200"], "answer": ["The answer is **X**.", "Silver"], "confidence": 0.5}
    graded = answers.grade_answers(sheet(pd.DataFrame(rows)), "kept")
    assert graded.frame.set_index("question_id")["decided_by"].to_dict() == {
        "qb_5701": "exact",
        "jp_3200": "unlabelled",
    }


def test_errors_of_answers_name_the_row_of_the_file(mine):
    graded = answers.grade_answers(sheet(mine.assign(confidence=87.0)), "curated", rule="wrong")
    with pytest.raises(FileError, match=r"^mine: column 'confidence' must lie in \[0, 1\]; got 87\.0 in row 2"):
        graded.submission("mine")


def random_result(rng):
    """Graded answers of any number, confidences of any kind, and any settings."""
    asked, rule = str(rng.choice(subset.ASKED)), str(rng.choice(answers.RULES_OF_OTHERS))
    ids = subset.questions_of(asked)["question_id"]
    chosen = np.sort(rng.choice(len(ids), int(rng.integers(1, len(ids) + 1)), replace=False))
    raw = rng.random(len(chosen))
    confidence = (raw, raw.round(2), 10 ** (-9 * raw), np.where(raw < 0.5, 1.0, 1 - 1e-16))[rng.integers(4)]
    correct = rng.choice([0.0, 1.0, np.nan], len(chosen))
    frame = pd.DataFrame({"question_id": ids.iloc[chosen], "confidence": confidence, "correct": correct})
    graded = answers.Graded(answers.with_design(frame, asked), np.arange(len(frame)) + 2, asked, rule)
    return graded


@pytest.mark.parametrize("number", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_link_holds_the_whole_result_or_there_is_none(number, rng):
    for _ in range(number):
        graded = random_result(rng)
        token = links.pack("µ", graded)
        if not token:
            assert len(graded.frame) > 400  # with fewer there is always room
            continue
        name, again = links.unpack(token)
        pd.testing.assert_frame_equal(again.frame, graded.frame[again.frame.columns])  # bit by bit
        assert (name, again.asked, again.rule) == ("µ (self-reported)", graded.asked, graded.rule)


def token_of(content):
    packed = zlib.compress(content if isinstance(content, bytes) else json.dumps(content).encode())
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def good(**changes):
    link = {"name": "m", "asked": "curated", "rule": "bounds"}
    return link | {"states": "1" * 3 + "3" * 452, "confidence": [0.5, 0.25, 1]} | changes


BROKEN = [  # what is in a link: text, bytes that are packed, or what differs from a good one
    *("", "x", "A" * 9000, "!!!é", token_of({"name": "m"})[:-9], token_of([{}]), token_of({})),
    *(b" " * 10**7, b"\0\1\2", b"[" * 50_000),
    *({"more": 1}, {"asked": "../pool"}, {"asked": None}, {"rule": "drop"}),
    *({"states": "1"}, {"states": "9" * 455}, {"states": "3" * 455, "confidence": []}),
    *({"confidence": [0.5]}, {"confidence": [0.5] * 9}, {"confidence": [[0.5], {}, None]}),
    *({"confidence": [first, 0, 1]} for first in (10**400, 2, -1e308, float("nan"), "0.5", True, None)),
]


@pytest.mark.parametrize("content", BROKEN, ids=lambda content: str(content)[:30])
def test_a_broken_link_is_an_error(content):
    token = content if isinstance(content, str) else token_of(good(**content) if isinstance(content, dict) else content)
    with refused("The link is not one of this page's, or is not whole"):
        links.unpack(token)


@pytest.mark.parametrize(
    ("forged", "shown"),
    [
        *((name, "a model") for name in ("GEMINI 2.5 Pro · verbalized", "1. gemini-2.5-pro (checked)", "\0", "")),
        *((name, "a model") for name in ("gemini-2.5-pro", "\uff47emini-2.5-pro", "g\u0435mini-2.5-pro")),  # Cyrillic
        *(("\u202eorp-5.2-inimeg", "orp-5.2-inimeg"), ("\U0001d54f" * 200, "\U0001d54f" * 60)),
        *((name, name) for name in ("../../etc/passwd", "<script>alert(1)</script>", "gemini-4-ultra")),
    ],
)
def test_a_forged_name_is_never_one_of_the_datasets_and_is_marked(forged, shown):
    assert links.unpack(token_of(good(name=forged)))[0] == f"{shown} (self-reported)"

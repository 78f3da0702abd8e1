"""A visitor's answers are graded, and a link restores every digit of the result or there is none."""

import base64
import json
import shutil
import zlib

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.errors import FileError, InputError
from space import answers, subset
from space.subset import tables
from space.uploads import Answers
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.grading import answer_sha256, label_bank


def sheet(frame):
    return Answers(frame.reset_index(drop=True), np.arange(len(frame)) + 2)


@pytest.fixture
def mine():
    """One answer to every question of the subset, which the bank has for some of them."""
    ids = tables()["curated"]["question_id"]
    return sheet(pd.DataFrame({"question_id": ids, "answer": "London.", "confidence": np.linspace(0, 1, len(ids))}))


def test_the_bank_decides_what_it_knows_and_the_visitor_the_rest(mine):
    done, bank = answers.grade_answers(mine, "curated"), label_bank()
    known = np.array([(one, answer_sha256("London.")) in bank for one in mine.frame["question_id"]])
    size, opened = len(known), sum(~known)
    assert 0 < opened < size
    assert (done.frame["decided_by"] == "bank").tolist() == known.tolist()
    assert done.frame["correct"].isna().tolist() == (~known).tolist()
    assert done.frame["weight"].tolist() == tables()["curated"]["weight"].tolist()
    expected = f"Of {size} answers were decided: {size - opened} by the label bank. {opened} are unknown."
    assert done.summary() == expected
    keys = [key for _, key in done.open_answers()]
    assert len(keys) == opened
    theirs = f"{mine.frame['question_id'][known.argmax()]}\tlondon"
    done = answers.grade_answers(mine, "curated", accepted=[*keys[:5], theirs], rule="wrong").frame
    assert done["correct"][done["decided_by"] == "you"].tolist() == [True] * 5 + [False] * (opened - 5)
    assert (done["decided_by"] == "bank").tolist() == known.tolist()
    shuffled = answers.grade_answers(sheet(mine.frame.sample(frac=1, random_state=1)), "curated")
    pd.testing.assert_frame_equal(shuffled.frame, answers.grade_answers(mine, "curated").frame)
    text = answers.grade_answers(sheet(mine.frame.head(28)), "curated").summary()
    assert f"28 of {size} questions are answered: the metrics are of these alone" in text
    assert f"counts the {size - 28} others as unknown" in text


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        (lambda frame: pd.concat([frame, frame.head(1)]), {}, "must not be repeated; got '.*' in row [0-9]+ "),
        (lambda frame: frame.assign(question_id=["q1", *frame["question_id"][1:]]), {}, "asked; got 'q1' in row 2 "),
        (lambda frame: frame, {"rule": "right"}, "must count as one of bounds, wrong, drop; got 'right'"),
        (lambda frame: frame, {"asked": "x"}, "Questions must be one of curated, kept; got 'x'"),
    ],
)
def test_questions_are_those_that_are_asked_once_each(change, given, message, mine):
    with pytest.raises(InputError, match=message):
        answers.grade_answers(sheet(change(mine.frame)), **{"asked": "curated", **given})


def test_the_graded_file_has_no_formulas_and_all_digits(mine, tmp_path):
    frame = mine.frame.head(2).assign(answer=["=1+1", "London."], confidence=[0.1 + 0.2, 1e-17])
    answers.grade_answers(sheet(frame), "curated").write(tmp_path / "a.csv")
    written = pd.read_csv(tmp_path / "a.csv", dtype={"confidence": str})
    assert written["answer"].tolist() == ["'=1+1", "London."]
    assert list(map(float, written["confidence"])) == [0.1 + 0.2, 1e-17]
    assert list(written) == ["question_id", "answer", "confidence", "correct", "decided_by", "weight", "stratum"]


def test_gold_answers_decide_and_questions_are_shown_where_there_is_text(mine, tmp_path, monkeypatch):
    data, ids = shutil.copytree(FOLDER / "data", tmp_path / "data"), mine.frame["question_id"]
    gold = [{"value": f"<{i}>", "aliases": [f"<{i}>", f"alias {i}"], "normalized_aliases": []} for i in ids]
    texts = {"question": [f"What is <{i}>?" for i in ids], "answer": gold}
    pd.read_parquet(data / "curated.parquet").assign(**texts).to_parquet(data / "curated.parquet")
    monkeypatch.setattr(subset, "BUILT", tmp_path)
    monkeypatch.setattr(subset, "tables", subset.tables.__wrapped__)  # those that are there now
    mine.frame["answer"] = ["alias " + i if k % 2 else "nobody said this" for k, i in enumerate(ids)]
    done = answers.grade_answers(mine, "curated")
    assert f"{len(ids) // 2} by exact match" in done.summary()
    shown, key = done.open_answers()[0]
    assert shown == f"{ids[0]}: What is <{ids[0]}>? → nobody said this"
    assert key == f"{ids[0]}\tnobody said this"


@pytest.mark.parametrize(("weighted", "rule"), [(False, "bounds"), (True, "drop")])
def test_graded_answers_are_a_submission_whose_errors_name_the_row_of_the_file(weighted, rule, mine):
    done = answers.grade_answers(mine, "curated", rule=rule)
    unknown = done.frame["correct"].isna()
    rows = done.frame if rule == "bounds" else done.frame[~unknown]
    submission = done.submission("my model", weighted=weighted)
    assert submission.name == "my model"
    assert submission.references.tolist() == rows["correct"].fillna(0).tolist()
    assert submission.predictions.tolist() == rows["confidence"].tolist()
    assert submission.ids.tolist() == rows["question_id"].tolist()
    strata = {"strata": rows["stratum"].tolist()}
    assert submission.per_sample == strata | ({"sample_weight": rows["weight"].tolist()} if weighted else {})
    assert submission.unlabelled.rows.sum() == (unknown.sum() if rule == "bounds" else 0)
    mine.frame["confidence"] = 87.0
    with pytest.raises(FileError, match=r"^mine: column 'confidence' must lie in \[0, 1\]; got 87\.0 in row 2"):
        answers.grade_answers(mine, "curated", rule="wrong").submission("mine", weighted=weighted)


def random_result(rng):
    """Graded answers of any number, confidences of any kind, and any settings."""
    asked, rule = str(rng.choice(subset.ASKED)), str(rng.choice(answers.RULES))
    questions = tables()[asked]
    chosen = np.sort(rng.choice(len(questions), int(rng.integers(1, len(questions) + 1)), replace=False))
    raw = rng.random(len(chosen))
    confidence = (raw, raw.round(2), 10 ** (-9 * raw), np.where(raw < 0.5, 1.0, 1 - 1e-16))[rng.integers(4)]
    correct = rng.choice([0.0, 1.0, 0.0 if rule == "wrong" else np.nan], len(chosen), p=[0.3, 0.6, 0.1])
    ids = questions["question_id"].iloc[chosen]
    frame = pd.DataFrame({"question_id": ids, "confidence": confidence, "correct": correct})
    graded = answers.Graded(answers._with_design(frame, questions), np.arange(len(frame)) + 2, asked, rule)
    n, (weighted, intervals) = str(rng.choice(["0, 1, 128", "0.5 ∞", ""])), rng.random(2) < 0.5
    return graded, answers.Settings(n=n, weighted=bool(weighted), intervals=bool(intervals))


@pytest.mark.parametrize("number", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_link_holds_the_whole_result_or_there_is_none(number, rng):
    refused = 0
    for _ in range(number):
        graded, settings = random_result(rng)
        if not (token := answers.pack(graded, name="µ", settings=settings)):
            refused += 1
            assert len(graded.frame) > 400  # with fewer there is always room
            continue
        name, again, same = answers.unpack(token)
        pd.testing.assert_frame_equal(again.frame, graded.frame[again.frame.columns])  # bit by bit
        assert (name, again.asked, again.rule, same) == ("µ (self-reported)", graded.asked, graded.rule, settings)
    assert 0 < refused < 0.3 * number


def token_of(content):
    packed = zlib.compress(content if isinstance(content, bytes) else json.dumps(content).encode())
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def good(**changes):
    settings = {"name": "m", "asked": "curated", "rule": "bounds", "n": "1", "weighted": True, "intervals": False}
    states = "1" * 3 + "3" * (len(tables()["curated"]) - 3)
    return settings | {"states": states, "confidence": [0.5, 0.25, 1]} | changes


BROKEN = [  # what is in a link: text, bytes that are packed, or what differs from a good one
    *("", "x", "A" * 9000, "!!!é", token_of({"name": "m"})[:-9], token_of([{}]), token_of({})),
    *(b" " * 10**7, b"\0\1\2", b"[" * 50_000),
    *({"more": 1}, {"n": [1]}, {"asked": "../pool"}, {"asked": None}, {"rule": "right"}),
    *({"states": "1"}, {"states": "9" * 455}, {"states": "3" * 455, "confidence": []}),
    *({"confidence": [0.5]}, {"confidence": [0.5] * 9}, {"confidence": [[0.5], {}, None]}),
    *({"confidence": [one, 0, 1]} for one in (10**400, 2, -1e308, float("nan"), "0.5", True, None)),
]


@pytest.mark.parametrize("content", BROKEN, ids=lambda content: str(content)[:30])
def test_a_broken_link_is_an_error(content):
    token = content if isinstance(content, str) else token_of(good(**content) if isinstance(content, dict) else content)
    with pytest.raises(InputError, match="The link is not one of this page's, or is not whole"):
        answers.unpack(token)


@pytest.mark.parametrize(
    ("forged", "shown"),
    [
        *((name, "a model") for name in ("GEMINI 2.5 Pro · verbalized", "1. gemini-2.5-pro (checked)", "\0", "")),
        *((name, "a model") for name in ("gemini-2.5-pro", "\uff47emini-2.5-pro", "g\u0435mini-2.5-pro")),  # Cyrillic
        ("\u202eorp-5.2-inimeg", "orp-5.2-inimeg"),
        ("x" * 5000, "x" * 60),
        ("\U0001d54f" * 200, "\U0001d54f" * 60),
        *((name, name) for name in ("../../etc/passwd", "<script>alert(1)</script>", "gemini-4-ultra")),
    ],
)
def test_a_forged_name_is_never_one_of_the_datasets_and_is_marked(forged, shown):
    name, *_ = answers.unpack(token_of(good(name=forged)))
    assert name == f"{shown} (self-reported)"

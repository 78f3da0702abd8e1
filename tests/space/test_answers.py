"""A visitor's answers are graded, and a link restores every digit of the result or there is none."""

import base64
import json
import zlib

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.errors import FileError, InputError
from space import answers, subset
from space.subset import tables
from space.uploads import Answers
from triviaqa_subset.grading import answer_sha256, label_bank


@pytest.fixture
def mine():
    """One answer to every question of the subset, which the bank has for some of them."""
    return sheet(
        pd.DataFrame({"question_id": tables()["curated"]["question_id"], "answer": "London.", "confidence": 0.5})
    )


def sheet(frame):
    return Answers(frame.reset_index(drop=True), np.arange(len(frame)) + 2)


def known(mine):
    bank, digest = label_bank(), answer_sha256("London.")
    return [(i, digest) in bank for i in mine.frame["question_id"]]


def test_the_bank_decides_what_it_knows_and_the_rest_is_open(mine):
    done, decided = answers.graded(mine, "curated"), known(mine)
    size = len(decided)
    assert 0 < sum(decided) < size
    assert (done.frame["decided_by"] == "bank").tolist() == decided
    assert done.frame["correct"].isna().tolist() == [not one for one in decided]
    assert done.frame["weight"].tolist() == tables()["curated"]["weight"].tolist()
    expected = f"Of {size} answers were decided: {sum(decided)} by the label bank. {size - sum(decided)} are unknown."
    assert done.summary() == expected
    assert len(done.open_answers()) == size - sum(decided)
    text = answers.graded(sheet(mine.frame.head(28)), "curated").summary()
    assert f"28 of {size} questions are answered: the metrics are of these alone" in text
    assert f"counts the {size - 28} others as unknown" in text


def test_the_visitor_decides_the_rest_but_not_what_the_bank_knows(mine):
    keys = [key for _, key in answers.graded(mine, "curated").open_answers()]
    row = known(mine).index(True)
    theirs = f"{mine.frame['question_id'][row]}\tlondon"
    done = answers.graded(mine, "curated", accepted=[*keys[:5], theirs], rule="wrong")
    by_you = done.frame[done.frame["decided_by"] == "you"]
    assert by_you["correct"].tolist() == [True] * 5 + [False] * (len(keys) - 5)
    assert done.frame["decided_by"][row] == "bank"
    assert not done.frame["correct"].isna().any()


def test_the_order_of_the_file_changes_nothing(mine):
    mine.frame["confidence"] = np.linspace(0, 1, len(mine.frame))
    other = mine.frame.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(answers.graded(mine, "curated").frame, answers.graded(sheet(other), "curated").frame)


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
        answers.graded(sheet(change(mine.frame)), **{"asked": "curated", **given})


def test_the_graded_file_has_no_formulas_and_all_digits(mine, tmp_path):
    frame = mine.frame.head(2).assign(answer=["=1+1", "London."], confidence=[0.1 + 0.2, 1e-17])
    answers.graded(sheet(frame), "curated").write(tmp_path / "a.csv")
    written = pd.read_csv(tmp_path / "a.csv", dtype={"confidence": str})
    assert written["answer"].tolist() == ["'=1+1", "London."]
    assert list(map(float, written["confidence"])) == [0.1 + 0.2, 1e-17]
    assert list(written) == ["question_id", "answer", "confidence", "correct", "decided_by", "weight", "stratum"]


def test_gold_answers_decide_and_questions_are_shown_where_there_is_text(mine, with_text):
    ids = mine.frame["question_id"]
    mine.frame["answer"] = ["alias " + i if k % 2 else "nobody said this" for k, i in enumerate(ids)]
    done = answers.graded(mine, "curated")
    assert f"{len(ids) // 2} by exact match" in done.summary()
    shown, key = done.open_answers()[0]
    assert shown == f"{ids[0]}: What is <{ids[0]}>? → nobody said this"
    assert key == f"{ids[0]}\tnobody said this"


@pytest.mark.parametrize(("weighted", "rule"), [(False, "bounds"), (True, "drop")])
def test_graded_answers_are_a_submission(weighted, rule, mine):
    done = answers.graded(mine, "curated", rule=rule)
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


def test_errors_of_graded_answers_name_the_row_of_the_file(mine):
    mine.frame["confidence"] = 87.0
    with pytest.raises(FileError, match=r"^mine: column 'confidence' must lie in \[0, 1\]; got 87\.0 in row 2"):
        answers.graded(mine, "curated", rule="wrong").submission("mine", weighted=False)


# ---- links


def random_result(rng):
    """Graded answers of any number, confidences of any kind, and any options."""
    asked = str(rng.choice(subset.ASKED))
    questions = tables()[asked]
    ids = questions["question_id"].sample(int(rng.integers(1, len(questions) + 1)), random_state=int(rng.integers(1e9)))
    kind = rng.integers(0, 4)
    raw = rng.random(len(ids))
    confidence = (raw, raw.round(2), 10 ** (-9 * raw), np.where(raw < 0.5, 1.0, 1 - 1e-16))[kind]
    correct = rng.choice([0.0, 1.0, np.nan], len(ids), p=[0.3, 0.6, 0.1])
    correct[0] = 1.0
    frame = pd.DataFrame({"question_id": ids, "confidence": confidence, "correct": correct})
    places = pd.Index(questions["question_id"]).get_indexer(ids)
    frame = answers._with_design(frame.iloc[np.argsort(places)], questions)
    rule = str(rng.choice(answers.RULES))
    if rule == "wrong":
        frame["correct"] = frame["correct"].fillna(0.0)
    options = {"n": str(rng.choice(["0, 1, 128", "0.5 ∞", ""])), "weighted": bool(rng.integers(2))}
    options["intervals"] = bool(rng.integers(2))
    return answers.Graded(frame, np.arange(len(frame)) + 2, asked, rule), options


def numbers_of(graded, options):
    """Every number that the page shows of a result, with all its digits."""
    from space import api

    scored, row = api.evaluate(graded, "m", "", **options)
    shown = scored.json(explained=True), subset.record(row), scored.html(title="m")
    return json.loads(json.dumps(shown))


def restored(graded, options):
    token = answers.pack(graded, name="µ", options=options)
    if not token:
        return None
    _, again, same = answers.unpack(token)
    assert same == options
    return again


@pytest.mark.parametrize("number", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_link_holds_the_whole_result_or_there_is_none(number, rng):
    refused = 0
    for _ in range(number):
        graded, options = random_result(rng)
        again = restored(graded, options)
        if again is None:
            refused += 1
            assert len(graded.frame) > 400  # with fewer there is always room
            continue
        pd.testing.assert_frame_equal(again.frame, graded.frame[again.frame.columns])  # bit by bit
        assert (again.asked, again.rule) == (graded.asked, graded.rule)
    assert 0 < refused < 0.3 * number


@pytest.mark.e2e
@pytest.mark.parametrize("seed", range(3))
def test_every_number_of_a_restored_result_is_the_same(seed):
    graded, options = random_result(np.random.default_rng(seed))
    graded = graded._replace(frame=graded.frame.head(400), rows=graded.rows[:400])
    assert numbers_of(restored(graded, options), options) == numbers_of(graded, options)


def token_of(content):
    packed = zlib.compress(content if isinstance(content, bytes) else json.dumps(content).encode())
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


GOOD = {"name": "m", "asked": "curated", "rule": "bounds", "n": "1", "weighted": True, "intervals": False}


def good(**changes):
    states = "1" * 3 + "3" * (len(tables()["curated"]) - 3)
    return GOOD | {"states": states, "confidence": [0.5, 0.25, 1]} | changes


BROKEN = {  # name -> what is in the link
    "nothing": lambda: "",
    "letters": lambda: "x",
    "too long": lambda: "A" * 9000,
    "cut": lambda: token_of(good())[:-9],
    "no letters": lambda: "!!!é",
    "a bomb": lambda: token_of(b" " * 10**7),
    "no JSON": lambda: token_of(b"\0\1\2"),
    "deep": lambda: token_of(b"[" * 50_000),
    "a list": lambda: token_of([good()]),
    "nobody's": lambda: token_of({}),
    "more": lambda: token_of(good(more=1)),
    "another n": lambda: token_of(good(n=[1])),
    "another set": lambda: token_of(good(asked="../pool")),
    "no set": lambda: token_of(good(asked=None)),
    "another rule": lambda: token_of(good(rule="right")),
    "states": lambda: token_of(good(states="9" * len(tables()["curated"]))),
    "short": lambda: token_of(good(states="1")),
    "no answer": lambda: token_of(good(states="3" * len(tables()["curated"]), confidence=[])),
    "few": lambda: token_of(good(confidence=[0.5])),
    "many": lambda: token_of(good(confidence=[0.5] * 9)),
    "nested": lambda: token_of(good(confidence=[[0.5], {}, None])),
    **{
        f"a confidence of {str(value)[:9]}": lambda value=value: token_of(good(confidence=[value, 0, 1]))
        for value in (10**400, 2, -1e308, float("nan"), "0.5", True, None)
    },
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_link_is_an_error(name):
    with pytest.raises(InputError, match="The link is not one of this page's, or is not whole"):
        answers.unpack(BROKEN[name]())


NAMES = [  # a forged name -> what is shown of it
    ("gemini-2.5-pro", "a model"),
    ("GEMINI 2.5 Pro · verbalized", "a model"),
    ("1. gemini-2.5-pro (checked)", "a model"),
    ("\uff47emini-2.5-pro", "a model"),
    ("g\u0435mini-2.5-pro", "a model"),  # a Cyrillic letter
    ("\u202eorp-5.2-inimeg", "orp-5.2-inimeg"),
    ("\0", "a model"),
    ("", "a model"),
    ("x" * 5000, "x" * 60),
    ("\U0001d54f" * 200, "\U0001d54f" * 60),
    ("../../etc/passwd", "../../etc/passwd"),
    ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ("gemini-4-ultra", "gemini-4-ultra"),
]


@pytest.mark.parametrize(("forged", "shown"), NAMES)
def test_a_forged_name_is_never_one_of_the_datasets_and_is_marked(forged, shown):
    name, *_ = answers.unpack(token_of(good(name=forged)))
    assert name == f"{shown} (self-reported)"

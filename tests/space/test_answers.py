import pandas as pd
import pytest

from space import answers
from space.subset import tables
from space.uploads import frame_of
from tests.space.test_subset import with_text  # noqa: F401
from triviaqa_subset.grading import answer_sha256, label_bank


@pytest.fixture
def mine():
    """An answer to every question of the subset that the bank knows of some of them."""
    ids = tables()["curated"]["question_id"]
    return pd.DataFrame({"question_id": ids, "answer": "Unknown.", "confidence": 0.5})


def known(mine):
    bank, digest = label_bank(), answer_sha256("Unknown.")
    return [(i, digest) in bank for i in mine["question_id"]]


def test_the_bank_decides_what_it_knows_and_the_rest_is_open(mine):
    done, said = answers.graded(mine, tables()["curated"])
    decided = known(mine)
    assert 0 < sum(decided) < 455
    assert (done["decided_by"] == "bank").tolist() == decided
    assert done["correct"].isna().tolist() == [not one for one in decided]
    assert f"Of 455 answers were decided: {sum(decided)} by the label bank. {455 - sum(decided)} are unknown" in said
    assert len(answers.open_answers(done, tables()["curated"])) == 455 - sum(decided)


def test_the_visitor_decides_the_rest(mine):
    done, _ = answers.graded(mine, tables()["curated"])
    keys = [key for _, key in answers.open_answers(done, tables()["curated"])]
    done, said = answers.graded(mine, tables()["curated"], accepted=keys[:5], rest="wrong")
    by_you = done[done["decided_by"] == "you"]
    assert by_you["correct"].tolist() == [True] * 5 + [False] * (len(keys) - 5)
    assert "unknown" not in said
    assert not done["correct"].isna().any()


def test_the_bank_cannot_be_overruled(mine):
    row = known(mine).index(True)
    key = f"{mine['question_id'][row]}\tunknown"
    done, _ = answers.graded(mine, tables()["curated"], accepted=[key])
    assert (done["correct"][row], done["decided_by"][row]) == (False, "bank")


def test_answers_that_are_the_same_are_asked_once(mine):
    twice = pd.concat([mine.assign(answer="some thing"), mine.assign(answer="Some Thing.")], ignore_index=True)
    done, _ = answers.graded(twice, tables()["curated"])
    asked = answers.open_answers(done, tables()["curated"])
    assert len(asked) == 455
    done, _ = answers.graded(twice, tables()["curated"], accepted=[asked[0][1]])
    assert done["correct"].eq(True).sum() == 2


def test_gold_answers_decide_and_questions_are_shown_where_there_is_text(mine, with_text):  # noqa: F811
    mine["answer"] = ["alias " + i if k % 2 else "nobody said this" for k, i in enumerate(mine["question_id"])]
    done, said = answers.graded(mine, tables()["curated"])
    assert "227 by exact match" in said
    shown, key = answers.open_answers(done, tables()["curated"])[0]
    question_id = mine["question_id"][0]
    assert shown == f"{question_id}: What is <{question_id}>? → nobody said this"
    assert key == f"{question_id}\tnobody said this"


def test_weights_come_from_the_subset(mine):
    done, _ = answers.graded(mine, tables()["curated"])
    assert done["weight"].tolist() == tables()["curated"]["weight"].tolist()


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_answers_stay_text(separator, tmp_path):
    path = tmp_path / "a.csv"
    rows = [("question_id", "answer", "confidence"), ("q1", "007", "0.5"), ("q2", "None", "0.25"), ("q3", "", "1")]
    path.write_text("".join(separator.join(row) + "\n" for row in rows), encoding="utf-8-sig")
    read = answers.checked_answers(frame_of(path, text=answers.TEXT))
    assert read["answer"].tolist() == ["007", "None", ""]


def test_no_answer_is_an_empty_one(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"question_id": "q1", "answer": null, "confidence": 0.5}\n')
    assert answers.checked_answers(frame_of(tmp_path / "a.jsonl"))["answer"].tolist() == [""]


def test_missing_columns_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question_id,text\nq1,x\n")
    with pytest.raises(ValueError, match=r"^There must be columns .*; answer is missing among question_id, text\.$"):
        answers.checked_answers(frame_of(path))


def test_questions_outside_the_subset_are_an_error(mine):
    mine.loc[3, "question_id"] = "q1"
    with pytest.raises(ValueError, match=r"^question_id must be in the dataset; got 'q1' at index 3 \(1 of 455\)"):
        answers.graded(mine, tables()["curated"])


def test_what_the_rest_is_must_be_said(mine):
    with pytest.raises(ValueError, match="must count as one of wrong, unknown: leave them out; got 'right'"):
        answers.graded(mine, tables()["curated"], rest="right")

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.errors import FileError, InputError
from ecuas_metric.files.read import Sheet
from space import answers
from space.subset import tables
from space.uploads import read_answers
from tests.space.test_subset import with_text  # noqa: F401
from triviaqa_subset.grading import answer_sha256, label_bank


@pytest.fixture
def mine():
    """One answer to every question of the subset, which the bank has for some of them."""
    ids = tables()["curated"]["question_id"]
    return sheet(pd.DataFrame({"question_id": ids, "answer": "London.", "confidence": 0.5}))


def sheet(frame):
    return Sheet(frame, np.arange(len(frame)) + 2)


def known(mine):
    bank, digest = label_bank(), answer_sha256("London.")
    return [(i, digest) in bank for i in mine.frame["question_id"]]


def test_the_bank_decides_what_it_knows_and_the_rest_is_open(mine):
    done, summary = answers.graded(mine, tables()["curated"])
    decided = known(mine)
    assert 0 < sum(decided) < 455
    assert (done.frame["decided_by"] == "bank").tolist() == decided
    assert done.frame["correct"].isna().tolist() == [not one for one in decided]
    assert f"Of 455 answers were decided: {sum(decided)} by the label bank. {455 - sum(decided)} are unknown" in summary
    assert len(answers.open_answers(done, tables()["curated"])) == 455 - sum(decided)


def test_the_visitor_decides_the_rest(mine):
    done, _ = answers.graded(mine, tables()["curated"])
    keys = [key for _, key in answers.open_answers(done, tables()["curated"])]
    done, summary = answers.graded(mine, tables()["curated"], accepted=keys[:5], rest="wrong")
    by_you = done.frame[done.frame["decided_by"] == "you"]
    assert by_you["correct"].tolist() == [True] * 5 + [False] * (len(keys) - 5)
    assert "unknown" not in summary
    assert not done.frame["correct"].isna().any()


def test_the_bank_cannot_be_overruled(mine):
    row = known(mine).index(True)
    key = f"{mine.frame['question_id'][row]}\tlondon"
    done, _ = answers.graded(mine, tables()["curated"], accepted=[key])
    assert (done.frame["correct"][row], done.frame["decided_by"][row]) == (False, "bank")


def test_a_question_is_answered_once(mine):
    twice = pd.concat([mine.frame, mine.frame[mine.frame["question_id"] == "sfq_178"]], ignore_index=True)
    with pytest.raises(InputError, match=r"must not be repeated; got 'sfq_178' in row 457 again \(1 of 456\)"):
        answers.graded(sheet(twice), tables()["curated"])


def test_missing_answers_are_said(mine):
    _, summary = answers.graded(sheet(mine.frame.head(28)), tables()["curated"])
    assert "28 of 455 questions are answered: the metrics are of these alone" in summary
    assert "counts the 427 others as unknown" in summary


def test_the_graded_file_has_no_formulas(mine, tmp_path):
    done, _ = answers.graded(sheet(mine.frame.head(2).assign(answer=["=1+1", "London."])), tables()["curated"])
    answers.write(done.frame, tmp_path / "a.csv")
    written = pd.read_csv(tmp_path / "a.csv")
    assert written["answer"].tolist() == ["'=1+1", "London."]
    assert list(written) == ["question_id", "answer", "confidence", "correct", "decided_by", "weight", "stratum"]


def test_gold_answers_decide_and_questions_are_shown_where_there_is_text(mine, with_text):  # noqa: F811
    ids = mine.frame["question_id"]
    mine.frame["answer"] = ["alias " + i if k % 2 else "nobody said this" for k, i in enumerate(ids)]
    done, summary = answers.graded(mine, tables()["curated"])
    assert "227 by exact match" in summary
    shown, key = answers.open_answers(done, tables()["curated"])[0]
    question_id = ids[0]
    assert shown == f"{question_id}: What is <{question_id}>? → nobody said this"
    assert key == f"{question_id}\tnobody said this"


def test_weights_come_from_the_subset(mine):
    done, _ = answers.graded(mine, tables()["curated"])
    assert done.frame["weight"].tolist() == tables()["curated"]["weight"].tolist()


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_answers_stay_text(separator, tmp_path):
    path = tmp_path / "a.csv"
    rows = [("question_id", "answer", "confidence"), ("q1", "007", "0.5"), ("q2", "None", "0.25"), ("q3", "", "1")]
    path.write_text("".join(separator.join(row) + "\n" for row in rows), encoding="utf-8-sig")
    read = read_answers(str(path))
    assert read.frame["answer"].tolist() == ["007", "None", ""]


def test_no_answer_is_an_empty_one(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"question_id": "q1", "answer": null, "confidence": 0.5}\n')
    assert read_answers(str(tmp_path / "a.jsonl")).frame["answer"].tolist() == [""]


def test_missing_columns_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question_id,text\nq1,x\n")
    with pytest.raises(InputError, match=r"^Answers must have columns .*; answer is missing among question_id, text\."):
        read_answers(str(path))


def test_questions_outside_the_subset_are_an_error(mine):
    mine.frame.loc[3, "question_id"] = "q1"
    with pytest.raises(InputError, match=r"one of the 455 that are asked; got 'q1' in row 5 \(1 of 455\)\."):
        answers.graded(mine, tables()["curated"])


def test_what_the_rest_is_must_be_said(mine):
    with pytest.raises(InputError, match="must count as one of unknown: .*, wrong, left out .*; got 'right'"):
        answers.graded(mine, tables()["curated"], rest="right")


@pytest.mark.parametrize("weighted", [False, True])
def test_graded_answers_are_a_submission_without_a_file(weighted, mine):
    done, _ = answers.graded(mine, tables()["curated"])
    unknown = done.frame["correct"].isna()
    for rest, rows in ((answers.REST[0], done.frame), (answers.REST[2], done.frame[~unknown])):
        submission = answers.submission(done, "/somewhere/my model.csv", weighted=weighted, rest=rest)
        assert submission.name == "my model"
        assert submission.references.tolist() == rows["correct"].fillna(0).tolist()
        assert submission.predictions.tolist() == rows["confidence"].tolist()
        assert submission.ids.tolist() == rows["question_id"].tolist()
        strata = {"strata": rows["stratum"].tolist()}
        assert submission.per_sample == strata | ({"sample_weight": rows["weight"].tolist()} if weighted else {})
        assert [note.kind for note in submission.notes] == ["unjudged"]
        assert submission.unjudged.rows.sum() == (unknown.sum() if rest == answers.REST[0] else 0)


def test_errors_of_graded_answers_name_the_row_of_the_file(mine):
    mine.frame.loc[:, "confidence"] = 87.0
    done, _ = answers.graded(mine, tables()["curated"], rest="wrong")
    with pytest.raises(FileError, match=r"^my\.csv: column 'confidence' must lie in \[0, 1\]; got 87\.0 in row 2"):
        answers.submission(done, "/somewhere/my.csv", weighted=False)


def test_without_text_nothing_is_warned_of(mine, recwarn):
    answers.graded(mine, tables()["curated"])
    assert not recwarn

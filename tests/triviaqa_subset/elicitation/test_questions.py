"""Questions: with their text or not at all."""

import json
import re

import pandas as pd
import pytest

from tests.triviaqa_subset.elicitation.chat_server import question
from triviaqa_subset.build import build
from triviaqa_subset.elicitation.questions import load_questions
from triviaqa_subset.folders import BUILT


def rows(root, name="curated"):
    ids = pd.read_parquet(root / f"triviaqa_subset/data/{name}.parquet")["question_id"]
    gold = {"value": "A", "aliases": ["A"], "normalized_aliases": ["a"]}
    return [{"question_id": own, "question": question(number), "answer": gold} for number, own in enumerate(ids)]


def write(path, made):
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    return str(path)


@pytest.fixture
def built(root, tmp_path):
    """The dataset as a build with text makes it, with invented questions."""
    build(tmp_path / "built", without_text=True)
    for name in ("curated", "kept"):
        file = tmp_path / f"built/data/{name}.parquet"
        pd.read_parquet(file).merge(pd.DataFrame(rows(root, name)), on="question_id").to_parquet(file)
    return tmp_path / "built"


def test_a_source_is_joined_to_the_curated_questions(root, tmp_path):
    source = write(tmp_path / "source.jsonl", rows(root, "pool")[::-1])
    questions, remarks = load_questions("triviaqa", source=source)
    curated = pd.read_parquet(root / "triviaqa_subset/data/curated.parquet")
    assert [row["question_id"] for row in questions] == curated["question_id"].tolist()
    assert [row["weight"] for row in questions] == curated["weight"].tolist()
    assert remarks == [f"{source}: 449 question texts are not those of the curation"]


def test_a_dataset_with_text(built, root):
    questions, remarks = load_questions("triviaqa", dataset=built)
    assert [row["question"] for row in questions] == [question(number) for number in range(455)]
    assert list(questions[0]) == ["question_id", "question", "answer", "weight", "stratum"]
    strata = [question["stratum"] for question in questions]
    assert (strata.count("exact_match_all"), strata.count("reviewed")) == (256, 199)
    assert remarks == []


def test_all_kept_questions_can_be_asked(built, root, tmp_path):
    source = write(tmp_path / "source.jsonl", rows(root, "kept"))
    for where in ({"dataset": built}, {"source": source}):
        questions, _ = load_questions("triviaqa", **where, questions="kept")
        assert [row["question_id"] for row in questions] == [row["question_id"] for row in rows(root, "kept")]
        assert {row["weight"] for row in questions} == {1.0}
    with pytest.raises(ValueError, match=r"must have all 926 questions of the kept part of the pool; \S+ is missing"):
        load_questions("triviaqa", source=write(tmp_path / "few.jsonl", rows(root)), questions="kept")
    with pytest.raises(ValueError, match=r"^questions must be one of curated, kept; got 'pool'\.$"):
        load_questions("triviaqa", questions="pool")


def test_the_default_is_the_build_of_the_clone_wherever_it_is_started(built, root, tmp_path, monkeypatch):
    assert root / "build/triviaqa_subset" == BUILT
    monkeypatch.setattr("triviaqa_subset.elicitation.questions.BUILT", built)
    monkeypatch.chdir(tmp_path)
    assert len(load_questions("triviaqa")[0]) == 455


def test_without_text_a_line_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr("triviaqa_subset.elicitation.questions.BUILT", tmp_path / "nowhere")
    with pytest.raises(
        ValueError,
        match="^dataset must have the texts of its questions; got .* without. Build it with text first, ",
    ):
        load_questions("triviaqa")
    with pytest.raises(ValueError, match=r"^dataset must be a folder with data/curated.parquet; got nowhere. Build it"):
        load_questions("triviaqa", dataset="nowhere")


def test_a_source_must_have_all_questions(root, tmp_path):
    made = rows(root)
    source = write(tmp_path / "source.jsonl", made[1:-2])
    first = made[0]["question_id"]
    message = f"{source} must have all 455 questions of the curated subset; {first} is missing (3 of 455)."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        load_questions("triviaqa", source=source)


def test_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match=r"^task must be one of triviaqa, mmlu; got 'squad'\.$"):
        load_questions("squad")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_mmlu_from_a_file(tmp_path, suffix):
    made = [
        {"question": "2 + 2?", "choices": ["3", "4", "5", "6"], "answer": 1, "subject": "sums"},
        {"question": "3 + 3?", "choices": ["6", "4", "5", "7"], "answer": 0, "subject": "sums"},
    ]
    source = tmp_path / f"mmlu{suffix}"
    write(source, made) if suffix == ".jsonl" else pd.DataFrame(made).to_parquet(source)
    questions, _ = load_questions("mmlu", source=str(source))
    assert [(row["question_id"], row["answer"]) for row in questions] == [("sums-0", "B"), ("sums-1", "A")]
    assert questions[0]["choices"] == ["3", "4", "5", "6"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"question": "?", "answer": 0},
            " must have a question (text) and choices (2 to 26 texts); got question, answer.",
        ),
        ({"question": "?", "choices": ["a"], "answer": 0}, " must have a question (text)"),
        ({"question": "?", "choices": ["a", 2], "answer": 0}, " must have a question (text)"),
        ({"choices": ["a", "b"], "answer": 0}, " must have a question (text)"),
        (
            {"question": "?", "choices": ["a", "b"], "answer": 2},
            ": answer must be one of A, B or its number from 0; got 2.",
        ),
        (
            {"question": "?", "choices": ["a", "b"], "answer": -1},
            ": answer must be one of A, B or its number from 0; got -1.",
        ),
        ({"question": "?", "choices": ["a", "b"], "answer": True}, ": answer must be one of"),
        ({"question": "?", "choices": ["a", "b"]}, ": answer must be one of A, B or its number from 0; got None."),
    ],
)
def test_mmlu_rows_that_do_not_fit(tmp_path, row, message):
    source = write(tmp_path / "mmlu.jsonl", [{"question": "?", "choices": ["a", "b"], "answer": "B"}, row])
    with pytest.raises(ValueError, match="^" + re.escape(f"{source}, row 1{message}")):
        load_questions("mmlu", source=source)

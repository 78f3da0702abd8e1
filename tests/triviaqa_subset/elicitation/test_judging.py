"""Graded runs: exact match, bank, judge or letter; what is unknown stays so and is counted."""

import json

import pytest

from triviaqa_subset.elicitation.judging import asking_judge, grade_rows, summary, write_graded
from triviaqa_subset.elicitation.prompts import load_prompts
from triviaqa_subset.elicitation.replies import Failure, Reply
from triviaqa_subset.elicitation.runs import open_run

GOLD = {"value": "Mudville", "aliases": ["Mudville"], "normalized_aliases": ["mudville"]}
QUESTIONS = [
    {"question_id": f"q{number}", "question": f"Capital {number}?", "answer": GOLD, "weight": 1.0 + number}
    for number in range(5)
]
QUESTIONS[1]["stratum"] = "reviewed"
JUDGE = load_prompts()["judge"]["semantic_equivalence"]


def row(question_id, answer, confidence=0.5, error=None):
    return {"question_id": question_id, "answer": answer, "confidence": confidence, "error": error}


ROWS = {
    made["question_id"]: made
    for made in (
        row("q3", None, None, "timed out"),
        row("q0", "**mudville**."),
        row("q1", "Mud Town", None),
        row("q2", "Oslo"),
    )
}


def test_every_question_that_was_asked_is_there_in_order():
    graded = grade_rows(QUESTIONS, ROWS, task="triviaqa", system="m is_true")
    assert [(made["question_id"], made["correct"], made["decided_by"]) for made in graded] == [
        ("q0", True, "exact"), ("q1", None, "unjudged"), ("q2", None, "unjudged"), ("q3", None, "error")
    ]  # fmt: skip
    assert graded[1] == {
        "system": "m is_true", "question_id": "q1", "answer": "Mud Town", "confidence": None, "correct": None,
        "decided_by": "unjudged", "weight": 2.0, "stratum": "reviewed",
    }  # fmt: skip
    assert summary(graded, 5) == [
        "5 questions: 3 answers, 1 errors, 1 not asked",
        "answers without a confidence: 1",
        "graded by: exact 1, unjudged 2",
        "wrong: 0 of 1 graded; unknown: 2",
    ]


def test_a_judge_is_asked_once_and_remembered(tmp_path):
    asked = []

    def ask(requests):
        asked.extend(requests)
        said = {"Mud Town": "Yes.", "Oslo": "I think so"}
        return [
            next(Reply(said[a], None, "stop") for a in said if a in request.messages[0]["content"])
            for request in requests
        ]

    for _ in range(2):
        with open_run(tmp_path / "j.jsonl", {}, {}, "asked_sha256") as (verdicts, file):
            judge = asking_judge(JUDGE, ask, verdicts, file)
            graded = grade_rows(QUESTIONS, ROWS, task="triviaqa", system="m", judge=judge)
        assert [(made["correct"], made["decided_by"]) for made in graded] == [
            (True, "exact"), (True, "judge"), (None, "unjudged"), (None, "error")
        ]  # fmt: skip
    assert len(asked) == 2
    assert (
        "Question: Capital 1?\nGiven answer: Mud Town\nAccepted answers: Mudville; mudville\n"
        in asked[0].messages[0]["content"]
    )


def test_a_judge_that_fails_leaves_the_answer_unknown_and_is_asked_again(tmp_path):
    def asked_with(reply, again):
        drop = (lambda row: row["error"]) if again else None
        with open_run(tmp_path / "j.jsonl", {}, {}, "asked_sha256", drop=drop) as (verdicts, file):
            return asking_judge(JUDGE, lambda requests: [reply], verdicts, file)("Q?", "a", ["b"])

    assert asked_with(Failure("gone"), False) is None
    assert asked_with(Reply("No.", None, "stop"), False) is None
    assert asked_with(Reply("No.", None, "stop"), True) is False
    assert asked_with(Failure("gone"), True) is False


@pytest.mark.parametrize(
    ("said", "verdict"),
    [("B", (True, "letter")), ("(a) red", (False, "letter")), ("blue", (True, "letter")), ("none", (None, "unjudged"))],
)
def test_choices_are_graded_by_letter(said, verdict):
    questions = [{"question_id": "q0", "question": "?", "choices": ["red", "blue"], "answer": "B"}]
    (graded,) = grade_rows(questions, {"q0": row("q0", said)}, task="mmlu", system="m")
    assert (graded["correct"], graded["decided_by"]) == verdict
    assert "weight" not in graded


def test_nothing_but_errors_can_be_graded(tmp_path):
    graded = grade_rows(QUESTIONS, {"q0": row("q0", None, None, "gone")}, task="triviaqa", system="m")
    assert summary(graded, 5)[2] == "graded by: nothing to grade"
    write_graded(tmp_path / "graded.jsonl", graded)
    assert [json.loads(line) for line in (tmp_path / "graded.jsonl").read_text().splitlines()] == graded

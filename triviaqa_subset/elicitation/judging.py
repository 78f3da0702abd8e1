"""Rows of a run -> graded rows, for `ecuas score`: by exact match, label bank and judge, or by the letter."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import NotRequired, TypedDict

from ..grading import Grade, Judge, grade, judge_key
from .methods import Question
from .parsing import choice_letter, yes_or_no
from .prompts import Messages, prefill, render
from .replies import Ask, Failure, Request, body
from .runs import Row, RunFile, append

JUDGE_TOKENS = 8
NO_BANK: dict[str, list[object]] = {"question_id": [], "answer_sha256": [], "correct": []}


class GradedRow(TypedDict):
    """What `ecuas score` reads of an answer. `correct` None: unknown; `confidence` None: missing."""

    system: str
    question_id: str
    answer: str | None
    confidence: float | None
    correct: bool | None
    decided_by: str
    weight: NotRequired[float]
    stratum: NotRequired[str]


class RecordedVerdict(TypedDict):
    """What a judge said of an answer, with the hash of the question and of the answer."""

    asked_sha256: NotRequired[str]
    reply: str
    correct: bool | None
    error: str | None


def grade_rows(
    questions: Sequence[Question],
    rows: Mapping[str, Row],
    *,
    task: str,
    system: str,
    judge: Judge | None = None,
    concurrency: int = 1,
) -> list[GradedRow]:
    """Grade the answers of a run.

    Parameters
    ----------
    questions : sequence of dict
        From `load_questions`.
    rows : mapping
        question_id -> row of the run.
    task : {"triviaqa", "mmlu"}
    system : str
        The name of the system in a table.
    judge, concurrency
        See `grading.grade`.

    Returns
    -------
    list of dict
        One row per question that was asked, in the order of the questions: system, question_id, answer,
        confidence, correct (True, False, or None: unknown), decided_by (exact, bank, judge, letter,
        unjudged, error), and weight and stratum where the question has them.

    Examples
    --------
    >>> questions = [{"question_id": "q1", "question": "?", "choices": ["a cat", "a dog"], "answer": "B"}]
    >>> rows = {"q1": {"question_id": "q1", "answer": "B", "confidence": 0.9, "error": None}}
    >>> [graded] = grade_rows(questions, rows, task="mmlu", system="m verbalized")
    >>> graded["correct"], graded["decided_by"]
    (True, 'letter')
    """
    asked = [question for question in questions if question["question_id"] in rows]
    answered = [question for question in asked if rows[question["question_id"]]["error"] is None]
    answers = [rows[question["question_id"]]["answer"] or "" for question in answered]
    verdicts = _by_letter(answered, answers) if task == "mmlu" else _by_text(answered, answers, judge, concurrency)
    graded = {question["question_id"]: verdict for question, verdict in zip(answered, verdicts, strict=True)}
    return [_graded_row(question, rows[question["question_id"]], graded, system) for question in asked]


def asking_judge(
    prompt: Messages,
    ask: Ask | None,
    verdicts: dict[str, RecordedVerdict],
    file: RunFile | None = None,
    max_tokens: int = JUDGE_TOKENS,
) -> Judge:
    """Return a judge that asks a language model; each verdict is written as it comes, and not asked for twice.

    Parameters
    ----------
    prompt : list of {role, content}
        With the fields question, pred_answer and gold_answers.
    ask : callable or None
        The backend. None: nothing is asked, and what is not known stays unknown.
    verdicts : dict
        asked_sha256 -> verdict, those known already; new ones are added.
    file : RunFile, optional
        For `append`.
    max_tokens : int
        Longest reply; a judge that reasons needs more.

    Returns
    -------
    callable
        (question, answer, gold_aliases) -> True for "Yes.", False for "No.", None for anything else.
    """
    lock = Lock()

    def judge(question: str, answer: str, gold: list[str]) -> bool | None:
        key = judge_key(question, answer)
        if key not in verdicts and ask:
            verdicts[key] = _verdict(prompt, ask, (question, answer, gold), max_tokens) | {"asked_sha256": key}
            with lock:
                if file:
                    append(file, verdicts[key])
        return verdicts[key]["correct"] if key in verdicts else None

    return judge


def check_judge(prompt: Messages, ask: Ask, where: str, max_tokens: int) -> None:
    """Ask the judge about a right answer and a wrong one of our own, before anything else is asked.

    Raises
    ------
    ValueError
        A judge that does not answer, or not with one word.
    """
    for answer in ("Paris", "Rome"):
        found = _verdict(prompt, ask, ("What is the capital of France?", answer, ["Paris"]), max_tokens)
        if found["error"]:
            raise ValueError(f"{where} must answer as a judge; got {found['error']}.")
        if found["correct"] is None:
            raise ValueError(
                f"{where} must judge with Yes or No; got {found['reply'][:60]!r}. Turn its reasoning off with "
                "--judge-extra-body, or allow more --judge-max-tokens."
            )


def _verdict(prompt: Messages, ask: Ask, asked: tuple[str, str, list[str]], max_tokens: int) -> RecordedVerdict:
    question, answer, gold = asked
    fields = {"question": question, "pred_answer": answer, "gold_answers": "; ".join(gold)}
    reply = ask([Request(render(prompt, fields), max_tokens)])[0]
    if isinstance(reply, Failure):
        return {"reply": "", "correct": None, "error": str(reply)}
    text = body(reply, prefill(prompt)).text
    return {"reply": text or reply.text, "correct": yes_or_no(text), "error": None}


def agreement(questions: Sequence[Question], rows: Mapping[str, Row], judge: Judge, limit: int = 30) -> tuple[int, int]:
    """Return on how many answers the judge agrees with the label bank, and how many both know.

    Parameters
    ----------
    questions, rows
        See `grade_rows`.
    judge : callable
        Asked about answers that the bank decides already, the first `limit` of them.
    limit : int

    Returns
    -------
    tuple of int
    """
    answered = [q for q in questions if q["question_id"] in rows and rows[q["question_id"]]["answer"]]
    answers = [rows[question["question_id"]]["answer"] or "" for question in answered]
    graded = zip(answered, answers, _by_text(answered, answers, None, 1), strict=True)
    known = [(question, answer, correct) for question, answer, (correct, way) in graded if way == "bank"][:limit]
    pairs = [question for question, _, _ in known], [answer for _, answer, _ in known]
    said = [verdict for verdict, _ in _by_text(*pairs, judge, 1, bank=NO_BANK)]
    both = [(verdict, correct) for verdict, (_, _, correct) in zip(said, known, strict=True) if verdict is not None]
    return sum(verdict == correct for verdict, correct in both), len(both)


def failed_verdicts(verdicts: Iterable[RecordedVerdict]) -> list[str]:
    """Return lines on the judge's failures, and on what it said that is neither yes nor no."""
    given = list(verdicts)
    failed = [verdict["error"] for verdict in given if verdict["error"]]
    vague = [verdict["reply"] for verdict in given if not verdict["error"] and verdict["correct"] is None]
    lines = [f"judge: {len(failed)} errors, which the same command asks again, e.g. {failed[0]}"] if failed else []
    unclear = [f"judge: {len(vague)} replies that are neither yes nor no, e.g. {vague[0][:60]!r}"] if vague else []
    return [*lines, *unclear]


def write_graded(path: Path, rows: Sequence[GradedRow]) -> None:
    """Write graded rows as JSON lines, all at once."""
    stage = path.with_name(f".{path.name}.new")
    stage.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    stage.replace(path)


def summary(rows: Sequence[GradedRow], questions: int) -> list[str]:
    """Return lines on what became of all questions."""
    states = Counter(row["decided_by"] for row in rows)
    errors = states.pop("error", 0)
    answered = [row for row in rows if row["decided_by"] != "error"]
    missing = sum(row["confidence"] is None for row in answered)
    known = [row["correct"] for row in answered if row["correct"] is not None]
    wrong = sum(not correct for correct in known)
    return [
        f"{questions} questions: {len(answered)} answers, {errors} errors, {questions - len(rows)} not asked",
        f"answers without a confidence: {missing}",
        f"graded by: {', '.join(f'{state} {states[state]}' for state in sorted(states)) or 'nothing to grade'}",
        f"wrong: {wrong} of {len(known)} graded; unknown: {len(answered) - len(known)}",
    ]


def _by_text(
    questions: list[Question],
    answers: list[str],
    judge: Judge | None,
    concurrency: int,
    bank: Mapping[str, list[object]] | None = None,
) -> list[Grade]:
    given = {"question_id": [question["question_id"] for question in questions], "answer": answers}
    dataset = {
        "question_id": given["question_id"],
        "question": [question["question"] for question in questions],
        "answer": [question["answer"] for question in questions],
    }
    grades = grade(given, dataset, bank=bank, judge=judge)
    return list(zip(grades.correct, grades.decided_by, strict=True))


def _by_letter(questions: list[Question], answers: list[str]) -> list[Grade]:
    letters = [choice_letter(text, q["choices"]) for q, text in zip(questions, answers, strict=True)]
    pairs = zip(questions, letters, strict=True)
    return [(None, "unjudged") if letter is None else (letter == q["answer"], "letter") for q, letter in pairs]


def _graded_row(question: Question, row: Row, graded: Mapping[str, Grade], system: str) -> GradedRow:
    correct, decided_by = graded.get(question["question_id"], (None, "error"))
    graded_row: GradedRow = {
        "system": system,
        "question_id": question["question_id"],
        "answer": row["answer"],
        "confidence": row["confidence"],
        "correct": correct,
        "decided_by": decided_by,
    }
    if "weight" in question:
        graded_row["weight"] = question["weight"]
    if "stratum" in question:
        graded_row["stratum"] = question["stratum"]
    return graded_row

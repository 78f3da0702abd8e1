"""Run -> graded rows: exact match, label bank and judge for TriviaQA, the letter for MMLU; what a score reads."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, TextIO

from tqdm.auto import tqdm

from .grading import Judge, grade
from .methods import Question
from .parsing import choice_letter, yes_or_no
from .prompts import Messages, json_sha256, prefill, render
from .replies import Ask, Failure, Request, body
from .runs import append

Row = dict[str, Any]
JUDGE_TOKENS = 8


def grade_rows(
    questions: Sequence[Question],
    rows: Mapping[str, Row],
    *,
    task: str,
    system: str,
    judge: Judge | None = None,
    concurrency: int = 1,
) -> list[Row]:
    """Grade the answers of a run, a row per question that was asked, in the order of the questions.

    Parameters
    ----------
    questions : sequence of dict
        From `load_questions`.
    rows : mapping
        question_id -> row of the run.
    task : {"triviaqa", "mmlu"}
    system : str
        Its name in a table.
    judge : callable, optional
        See `grading.grade`; asked from several threads if `concurrency` is above 1.
    concurrency : int
        Answers that are judged at a time.

    Returns
    -------
    list of dict
        system, question_id, answer, confidence, correct (True, False, or None: unknown), decided_by
        (exact, bank, judge, letter, unjudged, error), and weight where the task has one.
    """
    asked = [question for question in questions if question["question_id"] in rows]
    answered = [question for question in asked if rows[question["question_id"]]["error"] is None]
    answers = [rows[question["question_id"]]["answer"] for question in answered]
    verdicts = _by_letter(answered, answers) if task == "mmlu" else _by_text(answered, answers, judge, concurrency)
    graded = {question["question_id"]: verdict for question, verdict in zip(answered, verdicts, strict=True)}
    return [_graded_row(question, rows[question["question_id"]], graded, system) for question in asked]


def asking_judge(prompt: Messages, ask: Ask, verdicts: dict[str, Row], file: TextIO) -> Judge:
    """Make a judge of a language model; each verdict is written as it comes, and not asked for twice.

    Parameters
    ----------
    prompt : list of {role, content}
        With the fields question, pred_answer and gold_answers.
    ask : callable
        The backend.
    verdicts : dict
        messages_sha256 -> row, those known already; new ones are added.
    file : text file
        For `append`.

    Returns
    -------
    callable
        (question, answer, gold_aliases) -> True for "Yes.", False for "No.", None for anything else.
    """
    lock = Lock()

    def judge(question: str, answer: str, gold: list[str]) -> bool | None:
        fields = {"question": question, "pred_answer": answer, "gold_answers": "; ".join(gold)}
        messages = render(prompt, fields)
        key = json_sha256(messages)
        if key not in verdicts:
            reply = ask([Request(messages, JUDGE_TOKENS)])[0]
            said, error = ("", str(reply)) if isinstance(reply, Failure) else (body(reply, prefill(prompt)).text, None)
            verdicts[key] = {"messages_sha256": key, "reply": said, "correct": yes_or_no(said), "error": error}
            with lock:
                append(file, verdicts[key])
        return verdicts[key]["correct"]

    return judge


def write_graded(path: Path, rows: Sequence[Row]) -> None:
    """Write graded rows as JSON lines, all at once."""
    stage = path.with_name(f".{path.name}.new")
    stage.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    stage.replace(path)


def summary(rows: Sequence[Row], questions: int) -> list[str]:
    """Say what became of the questions, a line each; nothing is left out."""
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
    questions: list[Question], answers: list[str], judge: Judge | None, concurrency: int
) -> list[tuple[bool | None, str]]:
    given = {"question_id": [question["question_id"] for question in questions], "answer": answers}
    dataset = {name: [question[name] for question in questions] for name in ("question_id", "question", "answer")}
    open_: list[tuple] = []
    if judge is not None:  # what is to be judged is gathered first, then asked side by side
        grade(given, dataset, judge=lambda *asked: open_.append(asked))
    known = dict(zip([asked[:2] for asked in open_], _side_by_side(judge, open_, concurrency), strict=True))
    grades = grade(given, dataset, judge=judge and (lambda *asked: known[asked[:2]]))
    return list(zip(grades.correct, grades.decided_by, strict=True))


def _side_by_side(judge: Judge | None, asked: list[tuple], concurrency: int) -> list[bool | None]:
    if judge is None or not asked:
        return []
    pool = ThreadPoolExecutor(concurrency)
    try:
        return list(tqdm(pool.map(lambda one: judge(*one), asked), total=len(asked), desc="judge", unit="answer"))
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C the rest is not asked


def _by_letter(questions: list[Question], answers: list[str]) -> list[tuple[bool | None, str]]:
    letters = [choice_letter(text, q["choices"]) for q, text in zip(questions, answers, strict=True)]
    pairs = zip(questions, letters, strict=True)
    return [(None, "unjudged") if letter is None else (letter == q["answer"], "letter") for q, letter in pairs]


def _graded_row(question: Question, row: Row, graded: Mapping[str, Any], system: str) -> Row:
    correct, decided_by = graded.get(question["question_id"], (None, "error"))
    known = {"question_id": question["question_id"], "answer": row["answer"], "confidence": row["confidence"]}
    weight = {"weight": question["weight"]} if "weight" in question else {}
    return {"system": system, **known, "correct": correct, "decided_by": decided_by, **weight}

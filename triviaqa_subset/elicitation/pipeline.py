"""A run from its file to its graded rows: asks the questions that have no row yet, then grades."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from pathlib import Path
from threading import Event
from typing import Any

from ..grading import Judge
from .asking import elicit, first_sha256
from .chat import Endpoint, chat_backend
from .judging import GradedRow, agreement, asking_judge, check_judge, failed_verdicts, grade_rows, write_graded
from .local import local_backend
from .methods import DIALOGUES, Question, needs_logprobs
from .prompts import json_sha256
from .replies import Ask, Failure
from .runs import Row, append, open_run, read_run
from .settings import RunSettings, recorded_parameters, versions

PROBE: Question = {"question_id": "probe", "question": "What is the capital of France?", "choices": ["Rome", "Paris"]}


def run(questions: Sequence[Question], settings: RunSettings, stop: Event | None = None) -> list[GradedRow]:
    """Ask a model all questions that the file of the run has no row for, and grade the answers.

    Parameters
    ----------
    questions : sequence of dict
        From `load_questions`.
    settings : RunSettings
    stop : Event, optional
        Once set, no question is begun, those under way are finished, and nothing is judged. The first
        Ctrl-C sets it while questions are asked.

    Returns
    -------
    list of dict
        The graded rows, which are also in the file beside the run, see `graded_file`.

    Raises
    ------
    ValueError
        Anything that keeps the run from starting: a file of another run, a server that does not answer.
    OSError
        A file, the Hub or a model out of reach.
    """
    stop = stop or Event()
    facts = {
        "versions": versions(local=not isinstance(settings.backend, Endpoint)),
        "prompts": dict(settings.setup.prompts),
    }
    parameters = recorded_parameters(settings)
    drop = partial(_is_asked_again, settings=settings)
    with open_run(settings.out, parameters, facts, drop=drop) as (rows, file):
        _check_same(questions, rows, settings)
        left = _left(questions, rows, settings)
        if left:
            _ask(left, settings, stop, partial(append, file))
    return _grade(questions, settings, stop)


def _is_asked_again(row: Mapping[str, Any], settings: RunSettings) -> bool:
    """Return whether a row is asked again: what was lost on the way always, the rest on demand."""
    if row.get("error"):
        return settings.retry_errors or row.get("kind") == "transport"
    return settings.retry_missing and row.get("confidence") is None


def graded_file(out: Path) -> Path:
    """Return the file of the graded rows of a run: run.jsonl -> run.graded.jsonl."""
    return out.with_suffix(".graded.jsonl")


def _check_same(questions: Sequence[Question], rows: Mapping[str, Row], settings: RunSettings) -> None:
    asked = [question for question in questions if question["question_id"] in rows]
    others = [
        question["question_id"]
        for question in asked
        if rows[question["question_id"]]["messages_sha256"] != first_sha256(question, settings.method, settings.setup)
    ]
    if others:
        raise ValueError(
            f"questions and answers must be those that {settings.out} was made from; got another text for {others[0]} "
            f"({len(others)} of {len(asked)}). Use the same ones, or another --out."
        )


def _left(questions: Sequence[Question], rows: Mapping[str, Row], settings: RunSettings) -> list[Question]:
    """Return the questions without a row; if answers are given, only those that have one."""
    left = [question for question in questions if question["question_id"] not in rows]
    if not settings.answers_given:
        return left
    return [question for question in left if question["question_id"] in settings.setup.answers]


def _ask(
    questions: list[Question], settings: RunSettings, stop: Event, write: Callable[[Mapping[str, object]], None]
) -> None:
    if isinstance(settings.backend, Endpoint):
        ask = chat_backend(settings.backend, stop)
        _probe(ask, settings, settings.backend)
        _probe_judge(settings, stop)
        concurrency, batch_size = settings.concurrency, 1
    else:
        _probe_judge(settings, stop)
        ask, facts = local_backend(settings.backend)
        write({"facts": facts})
        concurrency, batch_size = 1, settings.batch_size
    elicit(
        questions,
        ask,
        settings.method,
        settings.setup,
        write=write,
        stop=stop,
        concurrency=concurrency,
        batch_size=batch_size,
        max_failures=settings.max_failures,
    )


def _probe(ask: Ask, settings: RunSettings, endpoint: Endpoint) -> None:
    """Ask a question of our own first: whether the server answers, and returns what the method needs."""
    setup, method = settings.setup, settings.method
    asks_true, needed = method == "is_true", needs_logprobs(method, setup.weights)
    request = next(DIALOGUES["sequence_posterior" if asks_true else method](PROBE, setup))
    if not needed:
        request = request._replace(top_logprobs=None)
    reply = ask([request._replace(top_logprobs=setup.top_logprobs) if asks_true else request])[0]
    where = endpoint.base_url or "the provider"
    if isinstance(reply, Failure):
        raise ValueError(f"{where} must answer a first question; got {reply}.")
    if needed and not reply.tokens:
        raise ValueError(
            f"{where} must return log-probabilities for --method {method}; got none for {endpoint.model}. "
            "Use --method verbalized, or a server that returns them."
        )
    if asks_true and reply.tokens and not any(token.top for token in reply.tokens):
        raise ValueError(f"{where} must return top_logprobs for --method is_true; got none for {endpoint.model}.")


def _probe_judge(settings: RunSettings, stop: Event) -> None:
    if settings.judge:
        where = f"the judge {settings.judge.model} at {settings.judge.base_url or 'the provider'}"
        prompt = settings.setup.prompts["semantic_equivalence"]
        check_judge(prompt, chat_backend(settings.judge, stop), where, settings.judge_max_tokens)


def verdicts_file(settings: RunSettings) -> Path:
    """Return the file of a judge's verdicts, which all runs in a folder share: one per model and prompt."""
    judge, prompt = settings.judge, settings.setup.prompts["semantic_equivalence"]
    name = "" if judge is None else judge.model
    slug = re.sub(r"[^\w.-]+", "-", name)
    return settings.out.with_name(f"judge-{slug}-{json_sha256([name, prompt])[:8]}.jsonl")


@contextmanager
def _judge(settings: RunSettings, stop: Event) -> Iterator[Judge | None]:
    """Open the file of verdicts, once no other run has it; without a judge, or once stopped, there is none."""
    if settings.judge is None or stop.is_set():
        yield None
        return
    prompt = settings.setup.prompts["semantic_equivalence"]
    parameters = {"judge": settings.judge.model, "prompt_sha256": json_sha256(prompt)}
    facts = {"versions": versions(local=False), "prompt": prompt, "base_url": settings.judge.base_url}
    file, again = verdicts_file(settings), itemgetter("error")
    with open_run(file, parameters, facts, "asked_sha256", drop=again, wait=True) as (verdicts, lines):
        yield asking_judge(prompt, chat_backend(settings.judge, stop), verdicts, lines, settings.judge_max_tokens)


def _grade(questions: Sequence[Question], settings: RunSettings, stop: Event) -> list[GradedRow]:
    rows: dict[str, Row] = read_run(settings.out).rows if settings.out.exists() else {}
    with _judge(settings, stop) as judge:
        graded = grade_rows(
            questions, rows, task=settings.task, system=settings.system, judge=judge, concurrency=settings.concurrency
        )
        if judge and settings.task != "mmlu":
            agreement(questions, rows, judge)
    write_graded(graded_file(settings.out), graded)
    return graded


def judge_summary(questions: Sequence[Question], settings: RunSettings) -> list[str]:
    """Return lines on the judge: its failures, and how often it agrees with the label bank."""
    if settings.judge is None or settings.task == "mmlu" or not verdicts_file(settings).exists():
        return []
    verdicts = read_run(verdicts_file(settings), "asked_sha256").rows
    known = asking_judge(settings.setup.prompts["semantic_equivalence"], None, verdicts)
    same, both = agreement(questions, read_run(settings.out).rows, known)
    lines = [f"judge: agrees with the label bank on {same} of {both} answers"] if both else []
    return [*failed_verdicts(verdicts.values()), *lines]

"""Asks a language model for answers and confidences, and grades them: the command line of a run."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from datasets.exceptions import DatasetsError

from .asking import ask_all, first_sha256, interruptible
from .chat import chat_backend
from .grading import Judge
from .judging import asking_judge, grade_rows, summary, write_graded
from .methods import METHODS, Question, Setup, needs_logprobs
from .options import parser
from .prompts import Messages, json_sha256
from .questions import load_questions
from .replies import Ask, Failure
from .runs import append, open_run, read_run
from .settings import make_endpoint, make_judge_endpoint, make_parameters, make_setup, versions

Row = dict[str, Any]
PROBE = {"question_id": "probe", "question": "What is the capital of France?", "choices": ["Rome", "Paris"]}


def run(options: Namespace, stop: Event) -> bool:
    """Ask what is left to ask, then grade; False if it was stopped before the end.

    Parameters
    ----------
    options : Namespace
        Of `options.parser`.
    stop : Event
        Set by Ctrl-C.

    Raises
    ------
    ValueError
        Anything that keeps the run from starting; the message is a line for the user.
    OSError
        A file, the Hub or a model out of reach.
    """
    questions, remarks = load_questions(options.task, dataset=options.dataset, source=options.source)
    for remark in remarks:
        print(remark, file=sys.stderr)
    questions = questions[: options.limit]
    setup = make_setup(options)
    parameters = make_parameters(options, setup)
    facts = {"versions": versions(options.local), "prompts": setup.prompts}
    with _judge(options, setup.prompts["semantic_equivalence"], stop) as judge:
        with open_run(options.out, parameters, facts, drop_errors=options.retry_errors) as (rows, file):
            _check_rows(questions, rows, options, setup)
            left = _left(questions, rows, options, setup)
            if left:
                _ask(left, options, setup, stop, lambda line: append(file, line))
        _grade(questions, options, None if stop.is_set() else judge)
    return not stop.is_set()


def _left(questions: Sequence[Question], rows: Row, options: Namespace, setup: Setup) -> list[Question]:
    """Return the questions without a row; of those, if answers are given, the ones that have an answer."""
    left = [question for question in questions if question["question_id"] not in rows]
    return [question for question in left if question["question_id"] in setup.answers] if options.answers else left


def _ask(
    questions: Sequence[Question], options: Namespace, setup: Setup, stop: Event, write: Callable[[Row], None]
) -> None:
    ask, facts = _backend(options, stop)
    if facts:
        write({"facts": facts})
    else:
        _probe(ask, options, setup)
    how = (
        {"concurrency": 1, "batch_size": options.batch_size} if options.local else {"concurrency": options.concurrency}
    )
    with interruptible(stop):
        ask_all(questions, options.method, setup, ask, write=write, stop=stop, **how)


def _backend(options: Namespace, stop: Event) -> tuple[Ask, Row]:
    if options.local:
        from .local import local_backend

        return local_backend(options.model, device=options.device, template=options.extra_body)
    return chat_backend(make_endpoint(options, options.model, options.base_url, options.api_key_env), stop), {}


def _probe(ask: Ask, options: Namespace, setup: Setup) -> None:
    """Ask one question of our own first: whether the server answers, and gives what the method needs."""
    asks_true, needed = options.method == "is_true", needs_logprobs(options.method, options.weights)
    method = "sequence_posterior" if asks_true else options.method
    request = next(METHODS[method](PROBE, setup))
    if not needed:
        request = request._replace(top_logprobs=None)
    reply = ask([request._replace(top_logprobs=setup.top_logprobs) if asks_true else request])[0]
    where = options.base_url or "the provider"
    if isinstance(reply, Failure):
        raise ValueError(f"{where} does not answer a first question: {reply}")
    if needed and not reply.tokens:
        raise ValueError(
            f"{where} returns no log-probabilities for {options.model}, and {options.method} needs them: "
            f"use --method verbalized, or a server that returns them"
        )
    if asks_true and reply.tokens and not any(token.top for token in reply.tokens):
        raise ValueError(f"{where} returns no top_logprobs for {options.model}, and is_true needs them")


def _check_rows(questions: Sequence[Question], rows: dict[str, Row], options: Namespace, setup: Setup) -> None:
    there = [question for question in questions if question["question_id"] in rows]
    others = [
        question["question_id"]
        for question in there
        if rows[question["question_id"]]["messages_sha256"] != first_sha256(question, options.method, setup)
    ]
    if others:
        raise ValueError(
            f"{options.out} was made from other questions or answers; {len(others)} of {len(there)} differ, the first "
            f"is {others[0]}: use the same ones, or another --out"
        )


def _grade(questions: Sequence[Question], options: Namespace, judge: Judge | None) -> None:
    rows = read_run(options.out).rows
    system = f"{options.model} {options.method}"
    how = {"task": options.task, "system": system, "concurrency": options.concurrency}
    graded = grade_rows(questions, rows, judge=judge, **how)
    file = Path(options.out).with_suffix(".graded.jsonl")
    write_graded(file, graded)
    print("\n".join([*summary(graded, len(questions)), f"graded: {file}"]))


@contextmanager
def _judge(options: Namespace, prompt: Messages, stop: Event) -> Iterator[Judge | None]:
    """Open the verdicts so far and go on with them; there is no judge unless one is named."""
    if not options.judge:
        yield None
        return
    endpoint = make_judge_endpoint(options)
    parameters = {"judge": options.judge, "base_url": endpoint.base_url, "prompt_sha256": json_sha256(prompt)}
    facts = {"versions": versions(local=False), "prompt": prompt}
    file = Path(options.out).with_suffix(".judge.jsonl")
    with open_run(file, parameters, facts, "messages_sha256", drop_errors=options.retry_errors) as (verdicts, lines):
        yield asking_judge(prompt, chat_backend(endpoint, stop), verdicts, lines)


def main(argv: list[str] | None = None) -> int:
    """Run the command line: 2 and a line on stderr if it cannot start, 130 if it was interrupted."""
    options, stop = parser().parse_args(argv), Event()
    try:
        done = run(options, stop)
    except (ValueError, OSError, DatasetsError) as error:
        print(f"elicitation: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        done = False
    if not done:
        print("interrupted: the same command goes on from here", file=sys.stderr)
    return 0 if done else 130


if __name__ == "__main__":
    sys.exit(main())

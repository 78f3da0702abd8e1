"""The run: questions -> rows, several at a time, each written as it comes; an interrupt loses none."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from threading import Event
from typing import Any

from tqdm.auto import tqdm

from .chat import Stopped
from .methods import METHODS, Dialogue, Outcome, Question, Setup
from .prompts import json_sha256
from .replies import Ask, Failure, Reply, Request

Row = dict[str, Any]


def ask_all(
    questions: Sequence[Question],
    method: str,
    setup: Setup,
    ask: Ask,
    *,
    write: Callable[[Row], None],
    stop: Event,
    concurrency: int = 8,
    batch_size: int = 1,
) -> None:
    """Ask all questions and write a row for each as it comes.

    Parameters
    ----------
    questions : sequence of dict
    method : str
        One of `METHODS`.
    setup : Setup
    ask : callable
        The backend.
    write : callable
        Called with each row, in this thread, in the order in which they come.
    stop : Event
        Once set, no question is begun, and those under way are finished and written.
    concurrency : int
        Batches under way at a time.
    batch_size : int
        Questions to a batch.
    """
    waiting = iter(questions[start : start + batch_size] for start in range(0, len(questions), batch_size))

    def begun(number: int) -> set:
        batches = () if stop.is_set() else islice(waiting, number)
        return {pool.submit(answer, batch, method, setup, ask) for batch in batches}

    bar = tqdm(total=len(questions), desc=method, unit="question")
    with ThreadPoolExecutor(concurrency) as pool, bar:
        errors, running = 0, begun(concurrency)
        while running:
            done, running = wait(running, timeout=1, return_when=FIRST_COMPLETED)
            for row in (row for future in done for row in _rows(future)):
                write(row)
                errors += row["error"] is not None
                bar.set_postfix(errors=errors, refresh=False)
                bar.update()
            running |= begun(len(done))


def answer(batch: Sequence[Question], method: str, setup: Setup, ask: Ask) -> list[Row]:
    """Hold the dialogues of a batch of questions side by side.

    Parameters
    ----------
    batch : sequence of dict
    method, setup, ask
        As for `ask_all`.

    Returns
    -------
    list of dict
        question_id, answer, confidence (None: missing), error (None: none), messages_sha256 of the first
        request, and all replies as they came.
    """
    dialogues = [METHODS[method](question, setup) for question in batch]
    requests = {place: next(dialogue) for place, dialogue in enumerate(dialogues)}
    rows = [_row(question, requests[place]) for place, question in enumerate(batch)]
    while requests:
        replies = ask(list(requests.values()))
        pairs = zip(requests.items(), replies, strict=True)
        advanced = {place: _advance(dialogues[place], rows[place], asked, reply) for (place, asked), reply in pairs}
        requests = {place: request for place, request in advanced.items() if request is not None}
    return rows


def first_sha256(question: Question, method: str, setup: Setup) -> str:
    """Hash of the first messages for a question: whether a row belongs to what would be asked now."""
    return json_sha256(next(METHODS[method](question, setup)).messages)


@contextmanager
def interruptible(stop: Event) -> Iterator[None]:
    """Let the first Ctrl-C set `stop`, so that what is under way is finished, and the second end the process."""

    def interrupt(*_: object) -> None:
        if stop.is_set():
            os._exit(130)
        stop.set()
        tqdm.write("\nstopping: finishing what is under way (again Ctrl-C: at once)")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _advance(dialogue: Dialogue, row: Row, asked: Request, reply: Reply | Failure) -> Request | None:
    """Send a reply; return the next request, or None with the row completed."""
    if isinstance(reply, Failure):
        row["error"] = str(reply)
        return None
    row["replies"].append({"messages_sha256": json_sha256(asked.messages), **reply._asdict()})
    try:
        return dialogue.send(reply)
    except StopIteration as end:
        outcome: Outcome = end.value
        row |= outcome._asdict()
    except (Failure, ValueError) as error:
        row["error"] = str(error)
    return None


def _row(question: Question, first: Request) -> Row:
    return {
        "question_id": question["question_id"],
        "answer": None,
        "confidence": None,
        "error": None,
        "messages_sha256": json_sha256(first.messages),
        "replies": [],
    }


def _rows(future: Any) -> list[Row]:
    try:
        return future.result()
    except Stopped:
        return []

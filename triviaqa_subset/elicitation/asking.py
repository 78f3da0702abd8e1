"""Questions -> rows, several at a time, each written as it comes; an interrupt loses none."""

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from threading import Event

from tqdm.auto import tqdm

from ..checking import require
from .chat import Stopped
from .methods import DIALOGUES, Dialogue, Outcome, Question, Setup
from .prompts import json_sha256
from .replies import Ask, Failure, Reply, Request
from .runs import RecordedReply, Row


def elicit(
    questions: Sequence[Question],
    ask: Ask,
    method: str,
    setup: Setup | None = None,
    *,
    write: Callable[[Row], object] | None = None,
    stop: Event | None = None,
    concurrency: int = 8,
    batch_size: int = 1,
    max_failures: int | None = None,
) -> list[Row]:
    r"""Ask a language model all questions, and return an answer with a confidence for each.

    Parameters
    ----------
    questions : sequence of dict
        With `question_id` and `question`, and with `choices` where the prompts show them; from
        `load_questions`, or your own.
    ask : callable
        The backend, list of Request -> list of Reply or Failure: from `chat_backend` or `local_backend`, or
        your own. Called from several threads if `concurrency` is above 1.
    method : {"sequence_posterior", "is_true", "verbalized", "semantic_confidence"}
        How the confidence is elicited.
    setup : Setup, optional
        Prompts and what else is the same for all questions; by default those of TriviaQA.
    write : callable, optional
        Called with each row, in this thread, as it comes.
    stop : Event, optional
        Once set, no question is begun, and those under way are finished. The first Ctrl-C sets it, the
        second ends the process.
    concurrency : int
        Batches under way at a time.
    batch_size : int
        Questions in a batch, whose requests are passed to `ask` together.
    max_failures : int, optional
        After so many errors in a row no question is begun.

    Returns
    -------
    list of dict
        One row per question that was asked, in the order of the questions: question_id, answer, confidence
        (None: missing), error (None: there is none) and its kind, remark (why a confidence is missing, or
        how exact it is), messages_sha256 of the first request, and all replies
        as they came.

    Raises
    ------
    ValueError
        If `method` is unknown, or a question_id is repeated.

    Examples
    --------
    >>> from triviaqa_subset.elicitation import Reply
    >>> def ask(requests):
    ...     return [Reply(" Paris\nProbability: 0.9", None, "stop") for request in requests]
    >>> questions = [{"question_id": "q1", "question": "What is the capital of France?"}]
    >>> [row] = elicit(questions, ask, "verbalized")
    >>> row["answer"], row["confidence"], row["error"]
    ('Paris', 0.9, None)
    """
    if method not in DIALOGUES:
        raise ValueError(f"method must be one of {', '.join(DIALOGUES)}; got {method!r}.")
    ids = [question["question_id"] for question in questions]
    counts = Counter(ids)
    require((counts[own] == 1 for own in ids), ids, "question_id must be unique")
    setup, stop = setup or Setup(), stop or Event()
    batches = [questions[start : start + batch_size] for start in range(0, len(questions), batch_size)]
    rows: dict[str, Row] = {}
    errors, in_a_row, given_up = 0, 0, Event()
    bar = tqdm(total=len(questions), desc=method, unit="question")

    def answer(batch: Sequence[Question]) -> list[Row]:
        return ask_batch(batch, ask, method, setup)

    with _interruptible(stop), bar:
        for row in _answered(batches, answer, lambda: stop.is_set() or given_up.is_set(), concurrency):
            rows[row["question_id"]] = row
            if write:
                write(row)
            errors += row["error"] is not None
            in_a_row = in_a_row + 1 if row["error"] else 0
            if in_a_row == max_failures and not given_up.is_set():
                given_up.set()
                tqdm.write(f"\ngiving up after {in_a_row} errors in a row, the last: {row['error']}", file=sys.stderr)
            bar.set_postfix(errors=errors, refresh=False)
            bar.update()
    return [rows[own] for own in ids if own in rows]


def ask_batch(batch: Sequence[Question], ask: Ask, method: str, setup: Setup) -> list[Row]:
    """Hold the dialogues of a batch of questions side by side; parameters and rows are those of `elicit`."""
    dialogues = [DIALOGUES[method](question, setup) for question in batch]
    requests = {place: next(dialogue) for place, dialogue in enumerate(dialogues)}
    rows = [_row(question, requests[place]) for place, question in enumerate(batch)]
    while requests:
        replies = ask(list(requests.values()))
        pairs = zip(requests.items(), replies, strict=True)
        advanced = {place: _advance(dialogues[place], rows[place], asked, reply) for (place, asked), reply in pairs}
        requests = {place: request for place, request in advanced.items() if request is not None}
    return rows


def first_sha256(question: Question, method: str, setup: Setup) -> str:
    """Return the hash of the first messages for a question, which tells whether a row would be asked for now."""
    return json_sha256(next(DIALOGUES[method](question, setup)).messages)


@contextmanager
def _interruptible(stop: Event) -> Iterator[None]:
    """Let the first Ctrl-C set `stop`, so that what is under way is finished, and the second end the process."""
    if threading.current_thread() is not threading.main_thread():  # which alone is sent signals
        yield
        return

    def interrupt(*_: object) -> None:
        if stop.is_set():
            os._exit(130)
        stop.set()
        tqdm.write("\nstopping: finishing what is under way (Ctrl-C again stops at once)")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _answered(
    batches: Sequence[Sequence[Question]],
    answer: Callable[[Sequence[Question]], list[Row]],
    is_over: Callable[[], bool],
    number: int,
) -> Iterator[Row]:
    """Answer batches, a number of them at a time, and yield each row as it comes."""
    waiting = iter(batches)
    with ThreadPoolExecutor(number) as pool:

        def begun(number: int) -> set[Future[list[Row]]]:
            return {pool.submit(answer, batch) for batch in (() if is_over() else islice(waiting, number))}

        running = begun(number)
        while running:
            done, running = wait(running, timeout=1, return_when=FIRST_COMPLETED)
            for future in done:
                yield from _rows(future)
            running |= begun(len(done))


def _advance(dialogue: Dialogue, row: Row, asked: Request, reply: Reply | Failure) -> Request | None:
    """Send a reply; return the next request, or None with the row completed."""
    if isinstance(reply, Failure):
        row["error"], row["kind"] = str(reply), reply.kind
        return None
    recorded: RecordedReply = {
        "messages_sha256": json_sha256(asked.messages),
        "text": reply.text,
        "tokens": reply.tokens,
        "finish_reason": reply.finish_reason,
    }
    for name in ("reasoning", "usage", "model"):
        if getattr(reply, name):
            recorded[name] = getattr(reply, name)
    row["replies"].append(recorded)
    try:
        return dialogue.send(reply)
    except StopIteration as end:
        outcome: Outcome = end.value
        row["answer"], row["confidence"], row["remark"] = outcome
    except (Failure, ValueError) as error:
        row["error"], row["kind"] = str(error), getattr(error, "kind", "reply")
    return None


def _row(question: Question, first: Request) -> Row:
    return {
        "question_id": question["question_id"],
        "answer": None,
        "confidence": None,
        "error": None,
        "kind": None,
        "remark": None,
        "messages_sha256": json_sha256(first.messages),
        "replies": [],
    }


def _rows(future: Future[list[Row]]) -> list[Row]:
    try:
        return future.result()
    except Stopped:
        return []

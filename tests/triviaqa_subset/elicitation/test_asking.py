"""`elicit`: every question once, in order, whatever the concurrency; stopped, it keeps what it has."""

import math
import re
from threading import Barrier, Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.triviaqa_subset.elicitation.chat_server import name, right
from triviaqa_subset.elicitation import Endpoint, Reply, RunSettings, Setup, Token, chat_backend, elicit, run
from triviaqa_subset.elicitation.chat import Stopped
from triviaqa_subset.elicitation.questions import load_questions
from triviaqa_subset.elicitation.replies import Failure
from triviaqa_subset.elicitation.runs import read_run


def questions(number):
    return [{"question_id": f"q{i}", "question": f"What is {i}?"} for i in range(number)]


def echo(requests):
    """Answer with the number that is asked about."""
    numbers = [re.search(r"\d+", request.messages[1]["content"])[0] for request in requests]
    return [Reply(f" {number}", [Token(f" {number}", -float(number), [])], "stop") for number in numbers]


@given(st.integers(0, 9), st.integers(1, 4), st.integers(1, 4))
def test_every_question_has_its_row_in_order(number, concurrency, batch_size):
    written = []
    rows = elicit(
        questions(number),
        echo,
        "sequence_posterior",
        write=written.append,
        concurrency=concurrency,
        batch_size=batch_size,
    )
    assert [(row["question_id"], row["answer"], row["confidence"], row["error"]) for row in rows] == [
        (f"q{i}", str(i), pytest.approx(math.exp(-i)), None) for i in range(number)
    ]
    assert sorted(row["question_id"] for row in written) == sorted(row["question_id"] for row in rows)


def test_a_row_holds_all_that_was_said():
    (row,) = elicit(questions(1), echo, "sequence_posterior")
    assert list(row) == ["question_id", "answer", "confidence", "error", "kind", "remark", "messages_sha256", "replies"]
    (reply,) = row["replies"]
    assert reply == {
        "messages_sha256": row["messages_sha256"], "text": " 0", "tokens": [(" 0", -0.0, [])], "finish_reason": "stop",
    }  # fmt: skip


def test_batches_are_asked_together_and_side_by_side():
    sizes, together = [], Barrier(2, timeout=10)

    def ask(requests):
        sizes.append(len(requests))
        if len(requests) == 3:
            together.wait()  # two of these must be under way at once
        return echo(requests)

    assert len(elicit(questions(8), ask, "sequence_posterior", concurrency=2, batch_size=3)) == 8
    assert sorted(sizes) == [2, 3, 3]


def test_a_failure_is_one_row_and_the_others_go_on():
    def ask(requests):
        return [Failure("gone") if reply.text == " 1" else reply for reply in echo(requests)]

    rows = elicit(questions(3), ask, "sequence_posterior", batch_size=2)
    assert [row["error"] for row in rows] == [None, "gone", None]
    assert rows[1]["answer"] is rows[1]["confidence"] is None


def test_once_stopped_no_question_is_begun():
    stop = Event()
    stop.set()
    assert elicit(questions(3), echo, "sequence_posterior", stop=stop) == []


def test_what_is_under_way_when_it_is_stopped_is_kept_unless_it_was_waiting():
    stop = Event()

    def ask(requests):
        if "2?" in requests[0].messages[1]["content"]:
            stop.set()
        if "3?" in requests[0].messages[1]["content"]:
            stop.wait(10)
            raise Stopped  # as a backend does that waits to try again
        return echo(requests)

    rows = elicit(questions(100), ask, "sequence_posterior", stop=stop, concurrency=4)
    assert [row["question_id"] for row in rows][:3] == ["q0", "q1", "q2"]
    assert "q3" not in [row["question_id"] for row in rows]
    assert len(rows) < 100


def test_an_error_of_the_writer_ends_it():
    def full(row):
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space left"):
        elicit(questions(20), echo, "sequence_posterior", write=full)


@pytest.mark.parametrize(
    ("asked", "method", "message"),
    [
        (
            questions(1),
            "guess",
            "method must be one of sequence_posterior, is_true, verbalized, semantic_confidence; got",
        ),
        ([*questions(3), *questions(1)], "verbalized", "question_id must be unique; got 'q0' at index 0 (2 of 4)."),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is(asked, method, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        elicit(asked, None, method)


def test_a_run_from_python_gives_the_graded_rows_and_is_resumed(chat, source, tmp_path):
    loaded, _ = load_questions("triviaqa", source=str(source))
    endpoint = Endpoint("m", chat.url, timeout=5.0)
    settings = RunSettings(endpoint, "verbalized", tmp_path / "run.jsonl", Setup())
    first = run(loaded[:4], settings)
    assert [(row["answer"], row["correct"]) for row in first] == [
        (name(i), True) if right(i) else ("Nix", None) for i in range(4)
    ]
    asked = len(chat.requests)
    assert asked == 1 + 4
    assert run(loaded[:6], settings)[:4] == first
    assert len(chat.requests) == asked + 1 + 2
    rows = elicit(loaded[:6], chat_backend(endpoint), "verbalized")
    assert {row["question_id"]: row for row in rows} == read_run(settings.out).rows

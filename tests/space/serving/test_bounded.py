"""The worker: what its copies return and refuse, and that nothing of them stays."""

import os
import resource
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from ecuas_metric.errors import FileError
from space import uploads
from space.markup import FAILED, TOO_MUCH, RefusedError
from space.serving import bounded

pytestmark = pytest.mark.e2e
REFUSAL = FileError("a.csv", "must hold numbers")


def refuse(error):
    raise error


def remember():
    """Return whether an earlier task was here."""
    was_here = hasattr(uploads, "of_a_task")
    uploads.of_a_task = True
    return was_here


@pytest.fixture
def lower(monkeypatch):
    """Return a function that lowers limits."""

    def lower(**changes):
        monkeypatch.setattr(uploads, "LIMITS", replace(uploads.LIMITS, **changes))

    return lower


def test_results_come_back_and_errors_in_words():
    assert bounded.bounded(bytes, 10**6) == bytes(10**6)
    most = uploads.LIMITS.cpu_seconds
    assert bounded.bounded(resource.getrlimit, resource.RLIMIT_CPU) == (most, most)
    for call, said in (
        ((refuse, REFUSAL), r"a\.csv: must hold numbers\."),
        ((divmod, 1, 0), FAILED),
    ):
        with pytest.raises(RefusedError, match=f"^{said}$"):
            bounded.bounded(*call)


@pytest.mark.parametrize(
    "call, lowered",
    [
        ((signal.raise_signal, signal.SIGKILL), {}),
        ((bytes, 2 * uploads.LIMITS.memory), {}),
        ((bytes, 2 * uploads.LIMITS.result_bytes), {}),
        ((signal.pause,), {"seconds": 1}),
        ((pow, 3, 10**9), {"cpu_seconds": 1}),
    ],
    ids=["stopped", "memory", "result", "seconds", "seconds of a processor"],
)
def test_what_passes_a_limit_is_refused_in_words_and_the_next_task_is_done(call, lowered, lower):
    lower(**lowered)
    with pytest.raises(RefusedError, match=TOO_MUCH):
        bounded.bounded(*call)
    assert bounded.bounded(len, "abc") == 3


def test_a_task_leaves_nothing_to_the_next_one():
    assert [bounded.bounded(remember) for _ in range(2)] == [False, False]


def test_who_waits_for_too_long_or_behind_too_many_is_told_that_the_page_is_busy(lower):
    lower(patience=0)
    most = uploads.LIMITS.tasks
    with ThreadPoolExecutor(most) as visitors:
        slow = [visitors.submit(bounded.bounded, time.sleep, 5) for _ in range(most)]
        while bounded._TURNS._value:
            time.sleep(0.01)
        with pytest.raises(RefusedError, match=r"^This page is busy: .*\. Try again in a few min"):
            bounded.bounded(len, "")
        assert [one.result() for one in slow] == [None] * most
    assert bounded.bounded(len, "") == 0


def test_a_worker_that_is_gone_is_started_again():
    bounded.bounded(len, "")
    process, _ = bounded._workers[-1]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert bounded.bounded(len, "abc") == 3
    assert bounded._workers[-1][0].pid != process.pid

"""Runs in processes of their own, interrupted and killed: what is in the file stays, and the next start resumes."""

import collections
import contextlib
import json
import signal
import subprocess
import sys
import time

import pytest

from ecuas_metric.reporting.cli import main as score
from tests.triviaqa_subset.elicitation.chat_server import FAULTS, right
from tests.triviaqa_subset.elicitation.conftest import command, graded
from triviaqa_subset.elicitation.prompts import json_sha256, task_prompts
from triviaqa_subset.elicitation.runs import read_run

JUDGED = f"judge-j-{json_sha256(['j', task_prompts('triviaqa')['semantic_equivalence']])[:8]}.jsonl"
pytestmark = pytest.mark.e2e


class Process:
    """A run in a process of its own."""

    def __init__(self, arguments, env, out):
        self.out = out
        call = [sys.executable, "-m", "triviaqa_subset.elicitation", *arguments]
        # A shell that runs the tests in the background lets its children ignore Ctrl-C; these must not.
        self.process = subprocess.Popen(
            call,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def until(self, lines):
        """Wait until the file has so many lines; bounded."""
        for _ in range(6000):
            if self.process.poll() is not None or (self.out.exists() and self.out.read_bytes().count(b"\n") >= lines):
                break
            time.sleep(0.005)
        assert self.process.poll() is None, self.process.communicate()

    def end(self, sent=None):
        if sent is not None:
            self.process.send_signal(sent)
        self.printed, self.errors = self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture
def online(offline):
    return {name: value for name, value in offline.items() if name != "HF_HUB_OFFLINE"}


def test_455_questions_two_interrupts_and_five_per_cent_faults(chat, source, tmp_path, online, capsys):
    """Ends with an answer or a recorded error for each question, none twice, and gives the table."""
    faults = collections.Counter()
    dead = {f"thing {i}?" for i in (11, 222, 444)}  # these keep failing

    swift = 150  # so many requests; after that a reply takes its time, for the interrupt to come in between

    def fault(payload, number):
        chat.delay = 0.01 if number <= swift else 0.2
        if any(thing in str(payload) for thing in dead):
            return "500"
        if number % 20:
            return None
        kind = FAULTS[number // 20 % len(FAULTS)]
        faults[kind] += 1
        return kind

    chat.fault, out = fault, tmp_path / "run.jsonl"
    arguments = command(chat, source, out, "sequence_posterior")

    first = Process(arguments, online, out)
    first.until(120)
    assert first.end(signal.SIGINT) == 130
    assert "interrupted: the same command resumes here" in first.errors
    after_first = read_run(out).rows
    assert 100 < len(after_first) < 300
    assert out.read_bytes().endswith(b"\n")
    answered = len(chat.requests) - sum(faults.values())
    assert len(after_first) > answered - 1 - 3 * 4 - 8  # all but the probe, the dead ones' and what was being retried

    swift = len(chat.requests) + 130
    second = Process(arguments, online, out)
    second.until(len(after_first) + 100)
    assert second.end(signal.SIGKILL) == -signal.SIGKILL
    with out.open("ab") as file:
        file.write(b'{"question_id": "cut off in the mid')  # what a kill at the worst moment leaves
    after_second = read_run(out).rows
    assert {k: after_second[k] for k in after_first} == after_first
    assert len(after_second) < 455

    swift = 10_000
    third = Process([*arguments, "--judge", "j"], online, out)
    assert third.end() == 1, third.errors
    assert "errors: 3; --retry-errors asks all of them again\n  transport 3 (" in third.printed
    rows = read_run(out).rows  # refuses what comes twice
    ids = [json.loads(line)["question_id"] for line in source.open()]
    assert sorted(rows) == sorted(ids)
    assert {k: rows[k] for k in after_second} == after_second
    errors = {ids.index(k) for k, row in rows.items() if row["error"]}
    assert errors == {11, 222, 444}
    assert set(faults) == set(FAULTS)
    assert "455 questions: 452 answers, 3 errors, 0 not asked" in third.printed

    table = graded(out)
    assert [row["question_id"] for row in table] == ids
    assert [row["decided_by"] for row in table] == [
        "error" if i in errors else "exact" if right(i) else "judge" for i in range(455)
    ]

    wrong = sum(not right(i) for i in range(455) if i not in errors)
    assert score(["score", str(out.with_suffix(".graded.jsonl")), "--unjudged", "drop", "--weight", "weight"]) == 0
    assert score(["score", str(out.with_suffix(".graded.jsonl")), "--unjudged", "drop"]) == 0
    printed = capsys.readouterr().out
    last = printed[printed.rindex("system ") :]
    assert last.splitlines()[2].split()[:5] == ["m", "sequence_posterior", "452", "0.007", f"{wrong / 452:.3f}"]
    assert "3 of 455 answers (0.7%) are unjudged.\nThey are left out" in last


def test_a_second_interrupt_ends_the_process_at_once_and_the_file_is_whole(chat, source, tmp_path, online):
    out = tmp_path / "run.jsonl"
    chat.fault = lambda payload, number: "slow" if number > 20 else None
    running = Process([*command(chat, source, out), "--timeout", "30"], online, out)
    running.until(15)
    running.process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        running.process.wait(0.3)
    assert running.end(signal.SIGINT) == 130
    assert 10 <= len(read_run(out).rows) <= 30


def test_an_interrupted_judge_is_resumed(chat, source, tmp_path, online):
    out, verdicts = tmp_path / "run.jsonl", tmp_path / JUDGED
    arguments = command(chat, source, out, "verbalized", "--judge", "j", "--limit", "120")

    def slow_judge(payload, number):
        chat.delay = 0.2 if payload["model"] == "j" else 0.0

    chat.fault = slow_judge
    first = Process(arguments, online, verdicts)
    first.until(10)
    assert first.end(signal.SIGINT) == 130
    chat.fault, chat.delay = (lambda payload, number: None), 0.0
    known = read_run(verdicts, "asked_sha256").rows
    assert 9 <= len(known) < 40
    second = Process(arguments, online, verdicts)
    assert second.end() == 0, second.errors
    assert "120 questions: 120 answers, 0 errors, 0 not asked" in second.printed
    assert "graded by: exact 80, judge 40" in second.printed
    asked = sum(payload["model"] == "j" for payload in chat.requests)
    assert 42 <= asked <= 42 + 8  # what was under way when it was interrupted is written, or asked again

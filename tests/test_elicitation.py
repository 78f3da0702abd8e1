"""Runs from the command line against a chat server: whole, interrupted, refused, graded, computed again."""

import collections
import contextlib
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import huggingface_hub
import pytest

from ecuas_metric.cli import main as score
from tests.chat_server import FAULTS, name, question, right, said, serving, write_source
from triviaqa_subset import confidences, parsing
from triviaqa_subset.chat import NO_KEY
from triviaqa_subset.elicitation import main
from triviaqa_subset.methods import METHODS
from triviaqa_subset.options import parser
from triviaqa_subset.replies import Reply, Token, body, first_line
from triviaqa_subset.runs import read_run


@pytest.fixture
def source(root, tmp_path):
    return write_source(tmp_path / "source.jsonl", root)


@pytest.fixture
def mmlu(tmp_path):
    rows = [{"question": question(i), "choices": ["Nix", name(i)], "answer": 1} for i in range(9)]
    return write(tmp_path / "mmlu.jsonl", rows)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def command(chat, source, out, method="verbalized", *more):
    fast = ["--timeout", "1.5", "--retries", "3", "--retry-wait", "0.02"]
    where = ["--base-url", chat.url, "--model", "m", "--method", method, "--source", str(source), "--out", str(out)]
    return [*where, *fast, *more]


def graded(out):
    return [json.loads(line) for line in out.with_suffix(".graded.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("method", "confidence", "calls"),
    [
        ("sequence_posterior", lambda i: math.exp(-0.75) if right(i) else math.exp(-0.25), 1),
        ("is_true", lambda i: 1 / (1 + math.exp(-3 + 0.25)) if right(i) else 1 / (1 + math.exp(3 - 0.25)), 2),
        ("verbalized", lambda i: (1 + i % 9) / 10, 1),
        ("semantic_confidence", lambda i: 1.0, 10),
    ],
)
def test_a_run_of_each_method(chat, source, tmp_path, capsys, method, confidence, calls):
    out = tmp_path / "run.jsonl"
    assert main(command(chat, source, out, method, "--limit", "12")) == 0
    rows = graded(out)
    assert [row["confidence"] for row in rows] == pytest.approx([confidence(i) for i in range(12)])
    assert [row["answer"] for row in rows] == [name(i) if right(i) else "Nix" for i in range(12)]
    assert [row["correct"] for row in rows] == [True if right(i) else None for i in range(12)]
    assert {row["system"] for row in rows} == {f"m {method}"}
    assert len(chat.requests) == 12 * calls + 1  # and the probe
    printed = capsys.readouterr()
    assert "12 questions: 12 answers, 0 errors, 0 not asked" in printed.out
    assert "450 question texts are not those of the curation" in printed.err
    assert main(command(chat, source, out, method, "--limit", "12")) == 0
    assert len(chat.requests) == 12 * calls + 1


@pytest.mark.parametrize("method", ["sequence_posterior", "is_true", "verbalized"])
def test_every_confidence_can_be_computed_again_from_the_file(chat, source, tmp_path, method):
    out = tmp_path / "run.jsonl"
    main(command(chat, source, out, method, "--limit", "9"))
    run = read_run(out)
    assert run.facts[0]["versions"]["huggingface_hub"] == huggingface_hub.__version__
    assert run.facts[0]["prompts"][method][0]["content"] in chat.requests[-1]["messages"][0]["content"]
    for row in run.rows.values():
        replies = [read_reply(reply) for reply in row["replies"]]
        if method == "verbalized":
            assert parsing.verbalized(replies[0].text) == (row["answer"], row["confidence"])
        elif method == "sequence_posterior":
            logprobs = [token.logprob for token in first_line(replies[0].tokens)]
            assert confidences.sequence_posterior(logprobs) == row["confidence"]
        else:
            assert confidences.is_true(replies[1].tokens[0].top) == row["confidence"]


def read_reply(row):
    tokens = [Token(text, logprob, [tuple(pair) for pair in top]) for text, logprob, top in row["tokens"] or []]
    return body(Reply(row["text"], tokens, row["finish_reason"]), "Guess:")


def test_is_true_of_given_answers(chat, source, tmp_path, capsys):
    answers, out = tmp_path / "seq.jsonl", tmp_path / "true.jsonl"
    main(command(chat, source, answers, "sequence_posterior", "--limit", "4"))
    before = len(chat.requests)
    given = ["--answers", str(answers)]
    assert main(command(chat, source, out, "is_true", *given, "--limit", "6")) == 0
    assert len(chat.requests) == before + 1 + 4
    assert "6 questions: 4 answers, 0 errors, 2 not asked" in capsys.readouterr().out
    assert [row["answer"] for row in graded(out)] == [row["answer"] for row in graded(answers)]
    main(command(chat, source, answers, "sequence_posterior", "--limit", "6"))
    assert main(command(chat, source, out, "is_true", *given, "--limit", "6")) == 0
    assert len(graded(out)) == 6
    assert main(command(chat, source, tmp_path / "v.jsonl", "verbalized", *given)) == 2
    assert main(command(chat, source, tmp_path / "t.jsonl", "is_true", "--answers", str(out))) == 2
    assert f"--answers must be a run with method sequence_posterior; {out} has is_true" in capsys.readouterr().err


def test_mmlu(chat, mmlu, tmp_path, capsys):
    out = tmp_path / "run.jsonl"
    assert main(command(chat, mmlu, out, "verbalized", "--task", "mmlu")) == 0
    assert [row["correct"] for row in graded(out)] == [right(i) for i in range(9)]
    assert "graded by: letter 9\nwrong: 3 of 9 graded; unknown: 0" in capsys.readouterr().out


def test_a_judge_decides_the_rest_and_is_not_asked_twice(chat, source, tmp_path, capsys):
    out = tmp_path / "run.jsonl"
    judge = ["--judge", "j", "--limit", "6"]
    chat.say = lambda payload: "Hm." if payload["model"] == "j" and "thing 3" in str(payload) else said(payload)
    assert main(command(chat, source, out, "verbalized", *judge)) == 0
    assert [row["decided_by"] for row in graded(out)] == ["judge", "exact", "exact", "unjudged", "exact", "exact"]
    assert graded(out)[0]["correct"] is False
    assert "graded by: exact 4, judge 1, unjudged 1\nwrong: 1 of 5 graded; unknown: 1" in capsys.readouterr().out
    asked = len(chat.requests)
    assert main(command(chat, source, out, "verbalized", *judge)) == 0
    assert len(chat.requests) == asked
    assert main(command(chat, source, out, "verbalized", "--judge", "k")) == 2
    assert 'was made with judge "j", this start has "k"' in capsys.readouterr().err
    assert len(chat.requests) == asked


def test_a_key_reaches_no_server_that_it_is_not_meant_for(chat, source, tmp_path, monkeypatch):
    monkeypatch.setenv("ANSWER_KEY", "sesame")
    monkeypatch.setenv("JUDGE_KEY", "portcullis")

    def keys(server, *more):
        """The keys that the judge's server was sent, by this run; each has its own files."""
        before = len(server.requests)
        out = tmp_path / f"{keys.runs}.jsonl"
        keys.runs += 1
        judge = ["--judge", "j", "--limit", "3", "--api-key-env", "ANSWER_KEY", *more]
        assert main(command(chat, source, out, "verbalized", *judge)) == 0
        asked = zip(server.requests[before:], server.headers[before:], strict=True)
        return {headers["authorization"] for payload, headers in asked if payload["model"] == "j"}

    keys.runs = 0
    with serving() as other:
        away = ["--judge-base-url", other.url, "--extra-body", '{"for": "the answers"}']
        assert keys(other, *away) == {f"Bearer {NO_KEY}"}
        assert keys(other, *away, "--judge-api-key-env", "JUDGE_KEY") == {"Bearer portcullis"}
        assert not any("for" in payload for payload in other.requests)
    assert keys(chat) == keys(chat, "--judge-base-url", chat.url + "/") == {"Bearer sesame"}
    assert keys(chat, "--judge-api-key-env", "JUDGE_KEY") == {"Bearer portcullis"}


def test_replies_that_cannot_be_read_are_missing_confidences(chat, source, tmp_path, capsys):
    chat.say = lambda payload: (
        " Nobody knows" if "thing 4" in str(payload) else "" if "thing 5" in str(payload) else said(payload)
    )
    out = tmp_path / "run.jsonl"
    assert main(command(chat, source, out, "verbalized", "--limit", "6")) == 0
    rows = graded(out)
    assert (rows[4]["answer"], rows[4]["confidence"], rows[4]["decided_by"]) == ("Nobody knows", None, "unjudged")
    assert (rows[5]["answer"], rows[5]["confidence"], rows[5]["decided_by"]) == (None, None, "error")
    printed = capsys.readouterr().out
    assert "6 questions: 5 answers, 1 errors, 0 not asked\nanswers without a confidence: 1\n" in printed


def test_errors_are_kept_and_asked_again_on_demand(chat, source, tmp_path, capsys):
    chat.fault = lambda payload, number: "500" if "thing 2?" in str(payload) else None
    out = tmp_path / "run.jsonl"
    assert main(command(chat, source, out, "verbalized", "--limit", "4")) == 0
    assert "4 questions: 3 answers, 1 errors" in capsys.readouterr().out
    (error,) = [row["error"] for row in read_run(out).rows.values() if row["error"]]
    assert "500 Internal Server Error" in error
    assert "(4 attempts)" in error
    chat.fault = lambda payload, number: None
    asked = len(chat.requests)
    main(command(chat, source, out, "verbalized", "--limit", "4"))
    assert len(chat.requests) == asked
    main(command(chat, source, out, "verbalized", "--limit", "4", "--retry-errors"))
    assert len(chat.requests) == asked + 2
    assert "4 questions: 4 answers, 0 errors" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("method", "needs"),
    [("sequence_posterior", True), ("is_true", True), ("verbalized", False), ("semantic_confidence", False)],
)
def test_a_server_without_logprobs_is_found_out_before_the_run(chat, source, tmp_path, capsys, method, needs):
    chat.logprobs = False
    status = main(command(chat, source, tmp_path / "run.jsonl", method, "--limit", "2"))
    assert status == (2 if needs else 0)
    line = (
        f"elicitation: {chat.url} returns no log-probabilities for m, and {method} needs them: "
        f"use --method verbalized, or a server that returns them"
    )
    assert capsys.readouterr().err.splitlines()[-1].startswith(line) == needs
    assert (len(chat.requests) == 1) == needs


def test_a_server_without_the_likely_tokens_is_found_out_too(chat, source, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tests.chat_server.token", lambda text, *_: {"token": text, "logprob": -0.5})
    assert main(command(chat, source, tmp_path / "run.jsonl", "is_true")) == 2
    assert f"{chat.url} returns no top_logprobs for m, and is_true needs them" in capsys.readouterr().err


@pytest.mark.parametrize("fault", ["401", "500", "cut"])
def test_a_server_that_does_not_answer_is_one_line(chat, source, tmp_path, capsys, fault):
    chat.fault = lambda payload, number: fault
    assert main(command(chat, source, tmp_path / "run.jsonl")) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith(f"elicitation: {chat.url} does not answer a first question: ")


def test_what_keeps_a_run_from_starting(chat, source, tmp_path, capsys, monkeypatch):
    out = tmp_path / "run.jsonl"

    def refused(*more, given=source):
        assert main(command(chat, given, out, "verbalized", "--limit", "3", *more)) == 2
        return capsys.readouterr().err.splitlines()[-1]

    assert main(command(chat, source, out, "verbalized", "--limit", "3")) == 0
    assert refused("--temperature", "0.5") == (
        f"elicitation: {out} was made with temperature 0.0, this start has 0.5: use the same options, or another --out"
    )
    assert "prefill" in refused("--prefill", "none")
    assert "the environment variable NO_SUCH_KEY holds no key" in refused(
        "--api-key-env", "NO_SUCH_KEY", "--limit", "4"
    )
    assert "No such file" in refused(given=tmp_path / "nowhere.jsonl")
    other = write(
        tmp_path / "other.jsonl", [json.loads(line.replace("thing 1?", "thing 8?")) for line in source.open()]
    )
    assert "was made from other questions or answers; 1 of 3 differ, the first is" in refused(given=other)
    assert "a server's URL begins with http:// or https://; this one is localhost" in refused(
        "--base-url", "localhost", "--out", str(tmp_path / "new.jsonl")
    )


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--method", "guesswork", "invalid choice: 'guesswork'"),
        ("--limit", "0", "must be at least 1; it is 0"),
        ("--retries", "-1", "must be at least 0; it is -1"),
        ("--temperature", "nan", "must be at least 0; it is nan"),
        ("--timeout", "inf", "must be at least 0.1; it is inf"),
        ("--samples", "two", "invalid number value: 'two'"),
        ("--extra-body", "{", "must be JSON; it is {"),
        ("--extra-body", "[1]", "must be a JSON object; it is [1]"),
        ("--local", "--provider", "--provider: expected one argument"),
    ],
)
def test_options_that_cannot_be(option, value, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--model", "m", "--method", "verbalized", "--out", "nowhere.jsonl", option, value])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_without_question_texts_a_line_says_how_to_get_them(capsys, tmp_path):
    assert (
        main(["--model", "m", "--method", "verbalized", "--dataset", "triviaqa_subset", "--out", str(tmp_path / "a")])
        == 2
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert "has no question texts; build it with text first: python -m triviaqa_subset.build" in line


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
    assert "interrupted: the same command goes on from here" in first.errors
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
    assert third.end() == 0, third.errors
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
    assert score(["score", str(out.with_suffix(".graded.jsonl")), "--drop-unjudged", "--weight", "weight"]) == 0
    assert score(["score", str(out.with_suffix(".graded.jsonl")), "--drop-unjudged"]) == 0
    printed = capsys.readouterr().out
    last = printed[printed.rindex("system ") :]
    assert last.splitlines()[2].split()[:3] == ["m", "sequence_posterior", f"{wrong / 452:.3f}"]
    assert "3 unjudged answers left out" in last


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


def test_an_interrupted_judge_goes_on_where_it_ended(chat, source, tmp_path, online):
    out, verdicts = tmp_path / "run.jsonl", tmp_path / "run.judge.jsonl"
    arguments = command(chat, source, out, "verbalized", "--judge", "j")

    def slow_judge(payload, number):
        chat.delay = 0.2 if payload["model"] == "j" else 0.0

    chat.fault = slow_judge
    first = Process(arguments, online, verdicts)
    first.until(20)
    assert first.end(signal.SIGINT) == 130
    chat.fault, chat.delay = (lambda payload, number: None), 0.0
    known = read_run(verdicts, "messages_sha256").rows
    assert 19 <= len(known) < 152
    second = Process(arguments, online, verdicts)
    assert second.end() == 0, second.errors
    assert "455 questions: 455 answers, 0 errors, 0 not asked" in second.printed
    assert "graded by: exact 303, judge 152" in second.printed
    asked = sum(payload["model"] == "j" for payload in chat.requests)
    assert 152 <= asked <= 152 + 8  # what was under way when it was interrupted is written, or asked again


def commands(text):
    """The elicitation commands in a text that stand on lines of their own, as argument lists."""
    found = re.findall(r"^ *python -m triviaqa_subset\.elicitation ((?:[^\n]*\\\n)*[^\n]*)", text, flags=re.MULTILINE)
    return [shlex.split(line.replace("\\\n", " ")) for line in found]


def test_the_commands_in_the_help_and_the_readme_can_be_given(root):
    shown = commands(parser().epilog), commands((root / "triviaqa_subset/README.md").read_text())
    assert [len(found) for found in shown] == [6, 3]
    for words in (words for found in shown for words in found):
        assert parser().parse_args(words).method in METHODS


def test_the_help_is_printed():
    done = subprocess.run(
        [sys.executable, "-m", "triviaqa_subset.elicitation", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "120"},
    )
    for method in METHODS:
        assert re.search(rf"^  {method} +\w", done.stdout, flags=re.MULTILINE)

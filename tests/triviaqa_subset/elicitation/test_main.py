"""Runs of the command against a chat server: whole, resumed, refused, graded, computed again."""

import json
import math

import huggingface_hub
import pytest

from ecuas_metric.reporting.cli import main as score
from tests.triviaqa_subset.elicitation.chat_server import completion, name, question, right, said, serving
from tests.triviaqa_subset.elicitation.conftest import command, graded, write
from triviaqa_subset.elicitation import confidences, parsing
from triviaqa_subset.elicitation.__main__ import main
from triviaqa_subset.elicitation.chat import NO_KEY
from triviaqa_subset.elicitation.replies import UNSPELLED, Reply, Token, body, first_line
from triviaqa_subset.elicitation.runs import read_run
from triviaqa_subset.grading import answer_sha256, label_bank


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
    assert "449 question texts are not those of the curation" in printed.err
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
            assert parsing.answer_and_probability(replies[0].text) == (row["answer"], row["confidence"])
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
    assert f"--answers must be a run with method sequence_posterior; got is_true in {out}." in capsys.readouterr().err


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
    other = tmp_path / "other.jsonl"
    assert main(command(chat, source, other, "verbalized", *judge)) == 0  # its answers are judged already
    assert sum(payload["model"] == "j" for payload in chat.requests[asked:]) == 2  # the probe


@pytest.mark.parametrize(
    ("fault", "say", "message"),
    [
        ("404", None, "the judge j at {url} must answer as a judge; got 404 Not Found: no model (1 attempt)."),
        (None, "<think>Hm", "the judge j at {url} must judge with Yes or No; got '<think>Hm'. Turn its reasoning off"),
    ],
)
def test_a_judge_is_asked_before_anything_else(chat, source, tmp_path, capsys, fault, say, message):
    error = (404, '{"error": {"message": "no model"}}', {})
    chat.fault = lambda payload, number: error if payload["model"] == "j" and fault else None
    chat.say = lambda payload: say if payload["model"] == "j" else said(payload)
    assert main(command(chat, source, tmp_path / "run.jsonl", "verbalized", "--judge", "j")) == 2
    assert message.format(url=chat.url) in capsys.readouterr().err
    assert len(chat.requests) == 2
    assert not (tmp_path / "run.jsonl").exists()


def test_what_a_judge_fails_at_is_shown_and_asked_again(chat, source, tmp_path, capsys):
    again = command(chat, source, tmp_path / "run.jsonl", "verbalized", "--judge", "j", "--limit", "9")
    chat.fault = lambda payload, number: "500" if payload["model"] == "j" and "thing" in str(payload) else None
    assert main(again) == 0
    printed = capsys.readouterr().out
    assert "judge: 3 errors, which the same command asks again, e.g. 500 Internal Server Error" in printed
    chat.fault = lambda payload, number: None
    assert main(again) == 0
    assert "graded by: exact 6, judge 3\n" in capsys.readouterr().out


def test_the_judge_is_held_against_the_label_bank(chat, source, tmp_path, capsys, monkeypatch):
    ids = [json.loads(line)["question_id"] for line in source.open()]
    bank = {"question_id": ids[:4], "answer_sha256": [answer_sha256("Nix")] * 4, "correct": [True] + [False] * 3}
    monkeypatch.setattr("triviaqa_subset.grading._own_bank", lambda: label_bank(bank))
    assert main(command(chat, source, tmp_path / "run.jsonl", "verbalized", "--judge", "j", "--limit", "9")) == 0
    printed = capsys.readouterr().out
    assert "graded by: bank 2, exact 6, judge 1\n" in printed
    assert "judge: agrees with the label bank on 1 of 2 answers\n" in printed


def test_a_judge_has_its_own_parameters(chat, source, tmp_path):
    own = ["--judge-extra-body", '{"reasoning": "off"}', "--judge-max-tokens", "99", "--name", "mine"]
    assert main(command(chat, source, tmp_path / "run.jsonl", "verbalized", "--judge", "j", "--limit", "3", *own)) == 0
    judged = [payload for payload in chat.requests if payload["model"] == "j"]
    assert {(payload["reasoning"], payload["max_tokens"]) for payload in judged} == {("off", 99)}
    assert not any("reasoning" in payload for payload in chat.requests if payload["model"] == "m")
    assert {row["system"] for row in graded(tmp_path / "run.jsonl")} == {"mine"}


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
    assert main(command(chat, source, out, "verbalized", "--limit", "6")) == 1
    rows = graded(out)
    assert (rows[4]["answer"], rows[4]["confidence"], rows[4]["decided_by"]) == ("Nobody knows", None, "unjudged")
    assert (rows[5]["answer"], rows[5]["confidence"], rows[5]["decided_by"]) == (None, None, "error")
    printed = capsys.readouterr().out
    assert "6 questions: 5 answers, 1 errors, 0 not asked\nanswers without a confidence: 1\n" in printed


@pytest.mark.parametrize(("fault", "kind", "again"), [("500", "transport", True), ("400", "request", False)])
def test_errors_of_transport_are_asked_again_and_others_on_demand(chat, source, tmp_path, capsys, fault, kind, again):
    chat.fault = lambda payload, number: fault if "thing 2?" in str(payload) else None
    out = tmp_path / "run.jsonl"
    run_again = [*command(chat, source, out, "verbalized", "--limit", "4")]
    assert main(run_again) == 1
    printed = capsys.readouterr().out
    assert "4 questions: 3 answers, 1 errors" in printed
    assert f"errors: 1; --retry-errors asks all of them again\n  {kind} 1 (" in printed
    (row,) = [row for row in read_run(out).rows.values() if row["error"]]
    assert f": {row['error']}\n" in printed
    assert row["error"].startswith(f"{fault} ")
    chat.fault = lambda payload, number: None
    asked = len(chat.requests)
    assert main(run_again) == (0 if again else 1)
    assert len(chat.requests) == asked + (2 if again else 0)
    assert main([*run_again, "--retry-errors"]) == 0
    assert len(chat.requests) == asked + 2
    assert "4 questions: 4 answers, 0 errors" in capsys.readouterr().out


def test_a_run_whose_server_is_gone_gives_up_and_goes_on_later(chat, source, tmp_path, capsys):
    """The server answers 30 questions and no more: few errors, and the same command asks the rest."""
    out = tmp_path / "run.jsonl"
    chat.fault = lambda payload, number: "503" if number > 31 else None
    patience = ["--retries", "0", "--max-failures", "5", "--concurrency", "4"]
    assert main(command(chat, source, out, "verbalized", "--limit", "90", *patience)) == 1
    printed = capsys.readouterr()
    assert "giving up after 5 errors in a row, the last: 503 Service Unavailable: so it is (1 attempt)" in printed.err
    errors = sum(row["error"] is not None for row in read_run(out).rows.values())
    assert 5 <= errors <= 5 + 4
    assert f"90 questions: 30 answers, {errors} errors, {60 - errors} not asked" in printed.out
    chat.fault = lambda payload, number: None
    assert main(command(chat, source, out, "verbalized", "--limit", "90", *patience)) == 0
    assert "90 questions: 90 answers, 0 errors, 0 not asked" in capsys.readouterr().out


@pytest.mark.parametrize("fault", ["400", "500"])
def test_a_run_of_nothing_but_errors_does_not_bind_the_corrected_command(chat, source, tmp_path, capsys, fault):
    again = command(chat, source, tmp_path / "run.jsonl", "verbalized", "--limit", "3")
    chat.fault = lambda payload, number: fault if "thing" in str(payload) and payload["max_tokens"] == 64 else None
    assert main(again) == 1
    assert main([*again, "--max-tokens", "32"]) == 0
    assert main(again) == 2
    assert "max_tokens must be 32" in capsys.readouterr().err


def test_missing_confidences_are_counted_by_reason_and_asked_again_on_demand(chat, source, tmp_path, capsys):
    out = tmp_path / "run.jsonl"
    chat.complete = lambda payload: completion(payload, said(payload)) | {}
    made = chat.complete

    def ids(payload):
        reply = made(payload)
        for place, each in enumerate(reply["choices"][0].get("logprobs", {}).get("content", [])):
            each["token"] = f"token_id:{place}"
        return reply

    chat.complete = ids
    again = command(chat, source, out, "sequence_posterior", "--limit", "3")
    assert main(again) == 0
    assert f"confidences are missing since\n  3: {UNSPELLED}\n" in capsys.readouterr().out
    chat.complete = made
    assert main([*again, "--retry-missing"]) == 0
    assert "answers without a confidence: 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("method", "needs"),
    [("sequence_posterior", True), ("is_true", True), ("verbalized", False), ("semantic_confidence", False)],
)
def test_a_server_without_logprobs_is_found_out_before_the_run(chat, source, tmp_path, capsys, method, needs):
    chat.logprobs = False
    status = main(command(chat, source, tmp_path / "run.jsonl", method, "--limit", "2"))
    assert status == (2 if needs else 0)
    line = (
        f"elicitation: {chat.url} must return log-probabilities for --method {method}; got none for m. "
        f"Use --method verbalized, or a server that returns them."
    )
    assert capsys.readouterr().err.splitlines()[-1].startswith(line) == needs
    assert (len(chat.requests) == 1) == needs


def test_a_server_without_the_likely_tokens_is_found_out_too(chat, source, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "tests.triviaqa_subset.elicitation.chat_server.token", lambda text, *_: {"token": text, "logprob": -0.5}
    )
    assert main(command(chat, source, tmp_path / "run.jsonl", "is_true")) == 2
    assert f"{chat.url} must return top_logprobs for --method is_true; got none for m." in capsys.readouterr().err


@pytest.mark.parametrize("fault", ["401", "500", "cut"])
def test_a_server_that_does_not_answer_is_one_line(chat, source, tmp_path, capsys, fault):
    chat.fault = lambda payload, number: fault
    assert main(command(chat, source, tmp_path / "run.jsonl")) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith(f"elicitation: {chat.url} must answer a first question; got ")


def test_what_keeps_a_run_from_starting(chat, source, tmp_path, capsys, monkeypatch):
    out = tmp_path / "run.jsonl"

    def refused(*more, given=source):
        assert main(command(chat, given, out, "verbalized", "--limit", "3", *more)) == 2
        return capsys.readouterr().err.splitlines()[-1]

    assert main(command(chat, source, out, "verbalized", "--limit", "3")) == 0
    assert refused("--temperature", "0.5") == (
        f"elicitation: {out}: temperature must be 0.0, as when the run was started; got 0.5. "
        "Use the same options, or another --out."
    )
    assert 'prefill must be "message", as when the run was started; got "none".' in refused("--prefill", "none")
    assert "the environment variable NO_SUCH_KEY must hold a key; got nothing." in refused(
        "--api-key-env", "NO_SUCH_KEY", "--limit", "4"
    )
    assert "No such file" in refused(given=tmp_path / "nowhere.jsonl")
    other = write(
        tmp_path / "other.jsonl", [json.loads(line.replace("thing 1?", "thing 8?")) for line in source.open()]
    )
    assert f"questions and answers must be those that {out} was made from; got another text for" in refused(given=other)
    assert "base_url must begin with http:// or https://; got localhost." in refused(
        "--base-url", "localhost", "--out", str(tmp_path / "new.jsonl")
    )


def test_without_question_texts_a_line_says_how_to_get_them(capsys, tmp_path):
    assert (
        main(["--model", "m", "--method", "verbalized", "--dataset", "triviaqa_subset", "--out", str(tmp_path / "a")])
        == 2
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert (
        "must have the texts of its questions; got triviaqa_subset without. Build it with text first, `python -m"
        in line
    )


def test_several_methods_in_one_command_share_their_answers(chat, source, tmp_path, capsys):
    """One folder, a file per method, and one table of them all."""
    three = command(chat, source, tmp_path / "runs", "verbalized", "--limit", "6", "--judge", "j", "--name", "mine")
    three[three.index("--method") : three.index("--method") + 2] = [
        "--methods",
        "verbalized,is_true,sequence_posterior",
    ]
    assert main(three) == 0
    runs = {
        path.name: graded(path.with_name(path.name.replace(".graded", "")))
        for path in (tmp_path / "runs").glob("*.graded.jsonl")
    }
    assert set(runs) == {f"{name}.graded.jsonl" for name in ("sequence_posterior", "is_true", "verbalized")}
    assert len({tuple(row["answer"] for row in rows) for rows in runs.values()}) == 1
    assert {row["system"] for rows in runs.values() for row in rows} == {
        "mine sequence_posterior", "mine is_true", "mine verbalized"
    }  # fmt: skip
    probes, judged = 3 + 3 * 2, 2
    assert len(chat.requests) == 3 * 6 + probes + judged  # and no answer asked for twice
    assert score(["score", *[str(path) for path in (tmp_path / "runs").glob("*.graded.jsonl")]]) == 0
    assert "mine is_true" in capsys.readouterr().out


def test_a_dry_run_prints_the_prompts_and_asks_nothing(chat, source, tmp_path, capsys):
    assert main(command(chat, source, tmp_path / "run.jsonl", "is_true", "--dry-run")) == 0
    printed = capsys.readouterr().out
    assert "[user] Question: Which name was invented for thing 1?\nProposed Answer: (the answer)\n" in printed
    assert printed.count("--- is_true, ") == 2
    assert chat.requests == []
    assert not list(tmp_path.iterdir())


def test_what_the_server_counts_is_summed(chat, source, tmp_path, capsys):
    made = chat.complete
    usage = {"prompt_tokens": 50, "completion_tokens": 4, "details": None}
    chat.complete = lambda payload: made(payload) | {"usage": usage, "model": "m-2026"}
    assert main(command(chat, source, tmp_path / "run.jsonl", "verbalized", "--limit", "3")) == 0
    assert "3 replies, 150 tokens read and 12 written, served by m-2026; " in capsys.readouterr().out


def test_questions_of_ones_own(chat, tmp_path, capsys):
    rows = [{"question": question(i), "answer": [name(i), "Zarq"] if i else name(i)} for i in range(4)]
    file, out = write(tmp_path / "own.jsonl", rows), tmp_path / "run.jsonl"
    own = command(chat, file, out, "verbalized")
    own[own.index("--source") : own.index("--source") + 2] = ["--task", str(file)]
    assert main(own) == 0
    assert [row["correct"] for row in graded(out)] == [True if right(i) else None for i in range(4)]
    assert [row["question_id"] for row in graded(out)] == ["q0", "q1", "q2", "q3"]
    for wrong, message in (
        ([], "must have a row for each question; got none."),
        ([{"question": "?"}], "row 0 must have a question (text) and an answer (a text or several); got question."),
        ([{"question": "?", "answer": [1]}], "row 0: answer must be a text or several; got [1]."),
        ([{"question": "?", "answer": "a", "question_id": 1}] * 2, "row 1: question_id must be unique; got 1 again."),
    ):
        write(file, wrong)
        assert main(own) == 2
        assert message in capsys.readouterr().err
    write(file, [{"question": "?", "choices": ["a", "b"], "answer": "B"}])
    assert main([*own, "--out", str(tmp_path / "mc.jsonl")]) == 0

"""Settings from arguments: defaults, what does not go together, and what a run records."""

import re

import pytest

from triviaqa_subset.elicitation.chat import Endpoint
from triviaqa_subset.elicitation.command import parser
from triviaqa_subset.elicitation.local import LocalModel
from triviaqa_subset.elicitation.methods import DIALOGUES, Setup
from triviaqa_subset.elicitation.prompts import json_sha256, task_prompts
from triviaqa_subset.elicitation.settings import recorded_parameters, run_settings, versions

URL = "http://localhost:1/v1"


def settings(*more, method="verbalized"):
    return run_settings(parser().parse_args(["--model", "m", "--method", method, "--out", "run.jsonl", *more]))


def test_the_defaults_are_those_of_the_classes():
    made = settings()
    assert made.backend == Endpoint("m", extra_body={})
    assert made.setup == Setup()
    assert (made.judge, made.concurrency, made.batch_size, made.retry_errors) == (None, 8, 8, False)


@pytest.mark.parametrize("method", DIALOGUES)
def test_samples_are_drawn_at_temperature_1_and_answers_at_0(method):
    assert settings(method=method).setup.temperature == (1.0 if method == "semantic_confidence" else 0.0)
    assert settings("--temperature", "0.5", method=method).setup.temperature == 0.5


def test_a_local_model_takes_the_extra_body_for_its_template():
    made = settings("--local", "--device", "cpu", "--extra-body", '{"enable_thinking": false}', "--prefill", "none")
    assert made.backend == LocalModel("m", "cpu", {"enable_thinking": False}, "none")
    assert made.setup.prefill is False


# Runs that were begun by an earlier version are resumed as long as these stay as they are.
COMMON = {
    "task": "triviaqa", "model": "m", "backend": "chat", "base_url": None, "provider": None, "max_tokens": 64,
    "seed": None, "extra_body": {}, "prefill": "message", "temperature": 0.0, "answers_given": False,
    "prompts_sha256": json_sha256(task_prompts("triviaqa")),
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "more", "recorded"),
    [
        ("verbalized", [], {}),
        ("verbalized", ["--top-logprobs", "5", "--samples", "3", "--concurrency", "2", "--timeout", "9"], {}),
        ("sequence_posterior", ["--base-url", URL, "--seed", "3"], {"base_url": URL, "seed": 3}),
        ("is_true", ["--top-logprobs", "5"], {"top_logprobs": 5}),
        ("semantic_confidence", [], {"samples": 10, "weights": "uniform", "same": "equality", "temperature": 1.0}),
        ("verbalized", ["--local", "--extra-body", '{"a": 1}'], {"backend": "local", "extra_body": {"a": 1}}),
        ("verbalized", ["--provider", "p", "--prefill", "prefix"], {"provider": "p", "prefill": "prefix"}),
        (
            "verbalized",
            ["--task", "mmlu", "--max-tokens", "9"],
            {"task": "mmlu", "max_tokens": 9, "prompts_sha256": json_sha256(task_prompts("mmlu"))},
        ),
    ],
)
def test_a_run_records_what_its_answers_depend_on(method, more, recorded):
    assert recorded_parameters(settings(*more, method=method)) == COMMON | {"method": method} | recorded


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--answers", "x.jsonl"], "--answers must be given with --method is_true only; got verbalized. The other"),
        (["--local", "--api-key-env", "KEY"], "--api-key-env must not be given with --local, which sends no key; got"),
        (["--api-key-env", "NO_SUCH_KEY"], "the environment variable NO_SUCH_KEY must hold a key; got nothing."),
        (["--base-url", "ftp://a"], "base_url must begin with http:// or https://; got ftp://a."),
        (["--judge", "j", "--judge-base-url", "a"], "base_url must begin with http:// or https://; got a."),
    ],
)
def test_what_does_not_go_together(more, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        settings(*more)


@pytest.mark.parametrize(
    ("more", "key"),
    [
        (["--base-url", URL], "sesame"),
        (["--base-url", URL, "--judge-base-url", URL + "/"], "sesame"),
        (["--provider", "p"], "sesame"),
        (["--base-url", URL, "--judge-base-url", "http://localhost:2/v1"], None),
        (["--base-url", URL, "--judge-base-url", "https://localhost:1/v1"], None),
        (["--judge-base-url", URL], None),
        (["--base-url", URL, "--judge-base-url", URL, "--judge-api-key-env", "JUDGE_KEY"], "portcullis"),
        (["--judge-base-url", URL, "--judge-api-key-env", "JUDGE_KEY"], "portcullis"),
    ],
)
def test_a_judge_shares_the_key_of_the_very_same_server_only(more, key, monkeypatch):
    monkeypatch.setenv("ANSWER_KEY", "sesame")
    monkeypatch.setenv("JUDGE_KEY", "portcullis")
    made = settings("--judge", "j", "--api-key-env", "ANSWER_KEY", *more)
    assert (made.backend.api_key, made.judge.api_key, made.judge.model) == ("sesame", key, "j")


def test_a_key_is_not_shown():
    assert "sesame" not in repr(Endpoint("m", URL, api_key="sesame"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "sequences"}, "weights must be one of uniform, sequence; got 'sequences'."),
        ({"same": "Judge"}, "same must be one of equality, judge; got 'Judge'."),
    ],
)
def test_an_unknown_way_is_refused(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Setup(**options)


def test_versions_name_what_the_answers_pass_through():
    assert {"python", "ecuas-metric", "huggingface_hub"} == set(versions(local=False))
    assert {"torch", "transformers"} <= set(versions(local=True))

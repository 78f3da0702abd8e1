"""Several runs from one command: a file of models, what it may say, and the table at the end."""

import shlex

import pytest

from ecuas_metric.reporting.cli import main as score
from tests.triviaqa_subset.elicitation.conftest import graded
from triviaqa_subset.elicitation.__main__ import main
from triviaqa_subset.elicitation.command import EPILOG
from triviaqa_subset.elicitation.several import runs_of
from triviaqa_subset.elicitation.summaries import run_line, summarize_usage


def config(tmp_path, text):
    file = tmp_path / "models.yaml"
    file.write_text(text)
    return file


def runs(file, *more):
    return runs_of(["--config", str(file), "--out", "runs", *more])


def test_each_model_has_its_own_options_and_those_of_all(tmp_path):
    file = config(
        tmp_path,
        """
        methods: [verbalized, sequence_posterior]
        base_url: http://localhost:1/v1
        extra-body: {chat_template_kwargs: {enable_thinking: false}}
        models:
          - {model: a/b, name: "one: a", seed: 3, temperature: 0.5}
          - {model: c, method: is_true, local: true, retry_errors: false, limit: null, prices: [0.1, 2]}
        """,
    )
    one, other, last = runs(file, "--limit", "7")
    assert [run.method for run in (one, other, last)] == ["sequence_posterior", "verbalized", "is_true"]
    assert [run.name for run in (one, other, last)] == ["one: a sequence_posterior", "one: a verbalized", None]
    assert [run.out for run in (one, last)] == ["runs/one-a/sequence_posterior.jsonl", "runs/c/is_true.jsonl"]
    assert (one.model, one.seed, one.temperature, one.limit) == ("a/b", 3, 0.5, 7)
    assert one.extra_body == last.extra_body == {"chat_template_kwargs": {"enable_thinking": False}}
    assert (one.base_url, one.local, one.prices) == ("http://localhost:1/v1", False, None)
    assert (last.base_url, last.local, last.prices, last.retry_errors) == (None, True, (0.1, 2.0), False)


def test_the_example_of_the_help_is_a_file_of_models(tmp_path):
    example = EPILOG[EPILOG.index("  methods: [") : EPILOG.index("examples\n")]
    made = runs(config(tmp_path, example))
    assert [(run.model, run.method) for run in made] == [
        ("Qwen/Qwen3-8B", "sequence_posterior"),
        ("Qwen/Qwen3-8B", "verbalized"),
        ("mistral-small-latest", "verbalized"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- model: m", "must have a list `models`, each with a `model`; got [{'model': 'm'}]."),
        ("models: []", "must have a list `models`, each with a `model`; got {'models': []}."),
        ("models: [m]", "models.yaml, model 1 must be a mapping of options to values; got m."),
        ("models: [{model: m, method: verbalized, tempurature: 1}]", "model 1: there is no option --tempurature=1"),
        ("models: [{model: m, method: verbalized, out: here}]", "model 1: out is given on the command line, once"),
        ("method: verbalized\nmodels: [{model: a/b}, {model: a-b}]", "the names of models must differ; got a-b twice."),
        ("models: [", "models.yaml must be YAML; got while parsing a flow node"),
    ],
)
def test_files_that_cannot_be(tmp_path, capsys, text, message):
    file = config(tmp_path, text)
    assert main(["--config", str(file), "--out", str(tmp_path / "runs")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("elicitation: ")
    assert message in line
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: [{model: m}]", "one of the arguments --method --methods is required"),
        ("models: [{method: verbalized}]", "the following arguments are required: --model"),
        ("method: guess\nmodels: [{model: m}]", "argument --method: invalid choice: 'guess'"),
        ("method: verbalized\nmodels: [{model: m, prices: 3}]", "must be two numbers, e.g. 0.15,0.6; got 3"),
        ("method: verbalized\nmodels: [{model: m, prices: [-1, 2]}]", "must be at least 0; got -1"),
    ],
)
def test_values_that_cannot_be_are_refused_of_their_model(tmp_path, capsys, text, message):
    with pytest.raises(SystemExit) as stopped:
        runs(config(tmp_path, text))
    assert stopped.value.code == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"models.yaml, model 1): error: {message}" in line or message in line


def test_models_of_a_file_end_in_one_table_whatever_becomes_of_one(chat, source, tmp_path, capsys):
    made = chat.complete
    chat.complete = lambda payload: made(payload) | {"usage": {"prompt_tokens": 50, "completion_tokens": 4}}
    chat.fault = lambda payload, number: "401" if payload["model"] == "locked" else None
    file = config(
        tmp_path,
        f"""
        base_url: {chat.url}
        source: {source}
        methods: [verbalized, sequence_posterior]
        models:
          - {{model: m, name: mine, prices: [1000, 10000]}}
          - {{model: locked}}
          - {{model: k, method: verbalized}}
        """,
    )
    again = ["--config", str(file), "--out", str(tmp_path / "runs"), "--limit", "3"]
    assert main(again) == 2
    printed = capsys.readouterr()
    refused = [line for line in printed.err.splitlines() if line.startswith("elicitation: ")]
    assert [line[: line.index(": http")] for line in refused] == [
        "elicitation: locked sequence_posterior",
        "elicitation: locked verbalized",
    ]
    table = printed.out[printed.out.rindex("system") :].splitlines()
    assert [" ".join(line.split()) for line in table[:4]] == [
        "system asked answers errors no confidence wrong right unknown read written cost",
        "mine sequence_posterior 3 3 0 0 0 2 1 150 12 0.2700",
        "mine verbalized 3 3 0 0 0 2 1 150 12 0.2700",
        "k verbalized 3 3 0 0 0 2 1 150 12 -",
    ]
    assert printed.err.count("question texts are not those of the curation") == 1  # loaded once
    command = shlex.split(table[-1].partition("the metrics: ecuas ")[2])
    assert len(command) == 1 + 3
    assert score([*command, "--drop-unjudged"]) == 0
    asked = len(chat.requests)
    chat.fault = lambda payload, number: None
    assert main(again) == 0  # the rest only
    assert len(chat.requests) == asked + 2 * (1 + 3)
    assert {row["system"] for row in graded(tmp_path / "runs" / "locked" / "verbalized.jsonl")} == {"locked verbalized"}


def test_a_dry_run_of_a_file_asks_nothing(chat, source, tmp_path, capsys):
    file = config(tmp_path, "models: [{model: a, method: is_true}, {model: b, methods: [verbalized, is_true]}]")
    more = ["--base-url", chat.url, "--source", str(source), "--out", str(tmp_path / "runs"), "--dry-run"]
    assert main(["--config", str(file), *more]) == 0
    assert capsys.readouterr().out.count("--- ") == 3 * 2
    assert chat.requests == []


def test_costs_are_those_of_the_tokens_that_are_known():
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 500_000}
    rows = [{"replies": [{"usage": usage}, {"usage": usage}, {}]}]
    assert summarize_usage(rows, 1.0, (0.5, 2.0))[1] == (
        "cost: 3.0000 at 0.5 and 2 per million tokens, without the 1 replies whose tokens are not known"
    )
    assert run_line("s", [], rows, 0, (0.5, 2.0)).cost == 3.0

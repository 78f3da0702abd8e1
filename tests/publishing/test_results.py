"""Results of a model go to its repository as the Hub's own parser takes them, by a pull request that is asked for."""

import json

import numpy as np
import pytest
from huggingface_hub import parse_eval_result_entries
from yaml import safe_load

from ecuas_metric import (
    confidence_system,
    prepare_submissions,
    read_submissions,
    score_confidences,
)
from ecuas_metric.errors import InputError
from ecuas_metric.hub.eval_results import eval_result_entries
from ecuas_metric.hub.every_eval_ever import make_evaluation_files
from ecuas_metric.metric import Key
from ecuas_metric.reporting import cli
from ecuas_metric.results import compute_results
from tests.ecuas_metric.files.test_runs import eval_ever, eval_ever_row
from tests.ecuas_metric.integrations.live import run

CSV = "confidence,correct\n" + "0.9,1\n0.8,0\n0.4,1\n0.7,1\n" * 30
MODEL, BENCHMARK = "me/model", "me/questions"


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "model.csv"
    path.write_text(CSV)
    return path


@pytest.fixture
def model(hub, online, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    return hub.put("models", MODEL, {})


def entry_in(text):
    (entry,) = parse_eval_result_entries(safe_load(text))
    return entry


def values_of_csv():
    rows = [line.split(",") for line in CSV.splitlines()[1:]]
    confidence, correct = zip(*((float(q), int(y)) for q, y in rows), strict=True)
    return score_confidences(correct, confidence, confidence_level=0.95)


@pytest.mark.e2e
def test_nothing_is_sent_unless_it_is_asked_for(model, answers, capsys):
    call = ["publish-results", MODEL, str(answers), "--benchmark", BENCHMARK]
    assert cli.main(call) == 0
    printed = capsys.readouterr().out
    assert model.pulls == []
    assert cli.main([*call, "--pull-request"]) == 0
    (files,) = model.pulls
    ((path, content),) = files.items()
    assert path in printed
    assert path.startswith(".eval_results/")
    entry = entry_in(content)
    values = values_of_csv()
    assert (entry.dataset_id, entry.task_id) == (BENCHMARK, "ecuas_1")
    assert entry.value == pytest.approx(1 - values["ecuas_1"], abs=1e-15)
    low, high = 1 - values["ecuas_1_high"], 1 - values["ecuas_1_low"]
    assert f"[{low:.4g}, {high:.4g}], N = 120" in entry.notes


@pytest.mark.e2e
def test_who_may_not_write_is_told(model, hub, answers, monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    call = ["publish-results", MODEL, str(answers), "--benchmark", BENCHMARK, "--pull-request"]
    assert cli.main(call) == 2
    error = capsys.readouterr().err
    assert "hf_other" not in error
    assert model.pulls == []


@pytest.mark.e2e
def test_a_hub_that_breaks_off_is_one_line(model, hub, answers, capsys):
    hub.misbehave("/api/models", "cut")
    call = ["publish-results", MODEL, str(answers), "--benchmark", BENCHMARK, "--pull-request"]
    assert cli.main(call) == 2
    assert f"ecuas: {MODEL}: " in capsys.readouterr().err
    assert model.pulls == []


def test_what_cannot_be_sent_is_not_printed_either(answers, capsys):
    assert cli.main(["publish-results", "model", str(answers), "--benchmark", BENCHMARK]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "MODEL must be NAMESPACE/NAME; got 'model'" in printed.err


def test_several_tasks_of_a_run_have_a_way_on(tmp_path, capsys):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(CSV)
    files = [str(tmp_path / f"{name}.csv") for name in "ab"]
    assert cli.main(["publish-results", MODEL, *files, "--benchmark", BENCHMARK]) == 2
    said = capsys.readouterr().err
    assert "got a, b. " in said
    assert "--tasks" in said


def test_a_metric_without_direction_has_no_entry():
    system = confidence_system([1, 0], [0.9, 0.2], reject_costs=0.5)
    coverage = Key("coverage", 0.5)
    results = compute_results(system)
    assert coverage in results.estimates
    tasks = [entry.task_id for entry in eval_result_entries(results, benchmark=BENCHMARK)]
    assert str(coverage) not in tasks
    with pytest.raises(InputError, match="direction"):
        eval_result_entries(results, benchmark=BENCHMARK, only=[coverage])


@pytest.mark.parametrize("name", ["questions", "a/b/c", "a /b", ""])
def test_a_benchmark_is_the_name_of_a_repository(name):
    results = compute_results(confidence_system([1, 0], [0.9, 0.2]))
    with pytest.raises(InputError):
        eval_result_entries(results, benchmark=name)


def records_of(system, folder):
    """Return the record of the metrics and those of the samples, as they are written."""
    files = make_evaluation_files(
        system,
        compute_results(system),
        model=MODEL,
        benchmark=BENCHMARK,
        organization="us",
        date="2026-11-28",
    )
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    aggregate, samples = files.values()
    return json.loads(aggregate), [json.loads(line) for line in samples.splitlines()]


def test_records_of_every_eval_ever_hold_the_numbers_and_which_way_is_better(tmp_path):
    confidence, correct = [0.9, 0.25, 0.4, 0.8], [1, 0, 1, 1]
    system = confidence_system(correct, confidence, ids="abcd", confidence_level=0.9)
    aggregate, samples = records_of(system, tmp_path)
    values = score_confidences(correct, confidence, confidence_level=0.9)
    for result in aggregate["evaluation_results"]:
        config, details = result["metric_config"], result["score_details"]
        name = config["metric_id"]
        assert details["score"] == values[name]
        assert config["lower_is_better"] == (name not in ("auroc", "auarc"))
        interval = details.get("uncertainty", {}).get("confidence_interval")
        if interval:
            limits = interval["lower"], interval["upper"], interval["confidence_level"]
            assert limits == (values[f"{name}_low"], values[f"{name}_high"], 0.9)
    assert [one["sample_id"] for one in samples] == list("abcd")
    assert [float(one["metadata"]["confidence"]) for one in samples] == pytest.approx(confidence)
    assert [one["evaluation"]["is_correct"] for one in samples] == [bool(one) for one in correct]


def test_a_metric_without_a_value_has_no_entry():
    results = compute_results(confidence_system([1, 1], [0.9, 0.2]))
    tasks = [entry.task_id for entry in eval_result_entries(results, benchmark=BENCHMARK)]
    assert "auroc" not in tasks
    with pytest.raises(InputError, match="not defined"):
        eval_result_entries(results, benchmark=BENCHMARK, only=[Key("auroc")])


@pytest.mark.e2e
@pytest.mark.integrations
def test_the_formats_own_validator_takes_the_records(tmp_path):
    rows = np.random.default_rng(0).random((50, 2))
    design = {"sample_weight": 1 + rows[:, 0], "groups": np.arange(50) // 2}
    correct = rows[:, 1] < rows[:, 0]
    system = confidence_system(correct, rows[:, 0], confidence_level=0.95, **design)
    records_of(system, tmp_path)
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.json*")]
    run("every-eval-ever", tmp_path, "validate", *files, program="bin/every_eval_ever")


def test_a_weight_that_is_no_number_is_named(tmp_path, capsys):
    row = eval_ever_row("q1", confidence=0.5)
    row["metadata"]["weight"] = "heavy"
    assert cli.main(["score", str(eval_ever(tmp_path, [row]))]) == 2
    assert "must hold numbers; got 'heavy' in row 1" in capsys.readouterr().err


@pytest.mark.parametrize("is_designed", [False, True])
def test_records_of_every_eval_ever_are_read_as_what_they_were_written_of(
    is_designed, rng, tmp_path
):
    confidence, chance, weight = rng.random((3, 60))
    design = {"ids": [f"q{place}" for place in range(60)], "abstained": rng.random(60) < 0.1}
    if is_designed:
        design = {
            "sample_weight": weight,
            "groups": np.arange(60) // 2 * 3,
            "strata": np.arange(60) // 30,
        }
    system = confidence_system(chance < confidence, confidence, confidence_level=0.9, **design)
    records_of(system, tmp_path)
    again = prepare_submissions(read_submissions(tmp_path / "data"), confidence_level=0.9)
    assert compute_results(again[MODEL]).flat() == pytest.approx(
        compute_results(system).flat(), nan_ok=True
    )

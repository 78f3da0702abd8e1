"""A metric is one entry of the registry: with it alone it goes through every path."""

import dataclasses
import json
import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from ecuas_metric import (
    InputError,
    Metric,
    add_metric,
    compare_systems,
    confidence_system,
    make_report,
    remove_metric,
    score_confidences,
)
from ecuas_metric.comparison.planning import plan_of_systems
from ecuas_metric.metric import Key
from ecuas_metric.metrics import METRICS
from ecuas_metric.reporting import cli
from ecuas_metric.results import compute_results

SIZE = 100


def missed(data):
    """Return which right answers are less sure than 1/2."""
    return (data.confidence < 0.5) & (data.decisions.candidate_cost == 0)


def half_risk(data):
    """Return the risk of the surer half of the answers: a function of the groups that has no line of its own."""
    groups = data.groups
    half = np.clip(
        groups.weight.sum() / 2 - (np.cumsum(groups.weight) - groups.weight), 0.0, groups.weight
    )
    share = half / np.where(groups.weight > 0, groups.weight, 1.0)
    return (groups.cost * share).sum() / half.sum()


TEXTS = {"description": "Made up", "assesses": "both", "higher_is_better": False}
ENTRIES = {
    "mean": Metric(
        name="missed", title="Missed", needs="confidences", cost=missed, range=(0.0, 1.0), **TEXTS
    ),
    "value": Metric(name="half_risk", title="Half", value=half_risk, range=(0.0, 1.0), **TEXTS),
}


@pytest.mark.parametrize(
    "field, value",
    [("ratio", ("none", "risk")), *((name, "none") for name in ("needs", "parameter", "when"))],
)
def test_it_names_nothing_that_is_not_there(field, value):
    own = {"cost": None if field == "ratio" else missed, field: value}
    with pytest.raises(InputError, match=f"{field} must be one of .*; got 'none'"):
        add_metric(Metric(name="new", title="New", **own, **TEXTS))


def test_a_quotient_is_there_where_both_its_parts_are():
    entry = Metric(name="new", title="New", ratio=("risk", "error_rate"), **TEXTS)
    add_metric(entry)
    assert "new" not in score_confidences([1, 0], [0.9, 0.2])
    remove_metric(entry)


TAKEN = ["ecuas", "ecuas_3", "risk_low", "error_rate_standard_error", "expected_cost_1"]
TAKEN += ["ecuas_1_low", "ecuas_1_recalibrated", "expected_cost_1_low", "N", "system", "part"]
NO_NAMES = ["a,b", "", "3", "_", "two words", "normalized_mine", "größe", "ecuas_0.5"]


@pytest.mark.parametrize("name", [*TAKEN, *NO_NAMES])
def test_no_name_is_one_that_a_number_has_or_that_cannot_be_asked_for(name):
    before = score_confidences([1, 0], [0.9, 0.2], n=3)
    with pytest.raises(InputError, match="^metric (has the name of|must have a name of)"):
        add_metric(Metric(name=name, title="New", cost=missed, **TEXTS))
    assert score_confidences([1, 0], [0.9, 0.2], n=3) == before


@pytest.mark.parametrize("title", ["ECE", "ER", "n", "ecuas"])
def test_no_title_is_one_that_a_column_has(title):
    with pytest.raises(InputError, match="^metric has the name of another one"):
        add_metric(Metric(name="mine", title=title, cost=missed, **TEXTS))


@pytest.mark.parametrize("own, other", [("mine", "mine_low"), ("mine_3", "mine")])
def test_two_added_metrics_share_no_key(own, other):
    entry = add_metric(Metric(name=own, title="New", cost=missed, **TEXTS))
    with pytest.raises(InputError, match="^metric has the name of another one"):
        add_metric(Metric(name=other, title="Other", cost=missed, **TEXTS))
    remove_metric(entry)


def test_only_what_was_added_is_removed():
    entry = ENTRIES["mean"]
    for one in (METRICS["ecuas"], entry, dataclasses.replace(METRICS["risk"], title="Mine")):
        with pytest.raises(InputError, match="^metric must be one that was added"):
            remove_metric(one)
    assert remove_metric(add_metric(entry)) is entry


@pytest.fixture(params=ENTRIES)
def metric(request):
    entry = add_metric(ENTRIES[request.param])
    yield entry
    remove_metric(entry)


@pytest.fixture
def outputs(rng):
    hardness = rng.random(SIZE)
    outputs = {}
    for name, skill in (("good", 0.9), ("bad", 0.6)):
        confidence = np.clip(skill - 0.3 * hardness + rng.normal(0, 0.15, SIZE), 0.01, 0.99).round(
            2
        )
        outputs[name] = (rng.random(SIZE) < confidence).astype(int), confidence
    return outputs


def systems_of(outputs, **options):
    ids = [str(k) for k in range(SIZE)]
    return {
        name: confidence_system(*output, ids=ids, **options) for name, output in outputs.items()
    }


def test_it_has_a_value_a_column_an_interval_a_test_and_a_plan(metric, outputs):
    key = Key(metric.name)
    systems = systems_of(outputs, confidence_level=0.95)
    report = make_report(systems, only=[key])
    (row,) = compare_systems(systems, only=[key])
    (plan,) = plan_of_systems(systems, only=[key])
    estimates = [report.results[name].estimates[key] for name in ("good", "bad")]
    assert report.keys == [key]
    assert metric.title in str(report)
    for estimate in estimates:
        assert 0 <= estimate.low < estimate.value < estimate.high <= 1
    assert row.difference == pytest.approx(estimates[0].value - estimates[1].value)
    assert row.low < row.difference < row.high
    assert 0 < row.p <= 1
    assert (plan.difference, plan.samples) == (row.difference, SIZE)
    assert 0 < plan.detectable < 1


@pytest.fixture
def files(outputs, tmp_path):
    paths = []
    for name, (correct, confidence) in outputs.items():
        table = pa.table(
            {"id": list(map(str, range(SIZE))), "confidence": confidence, "correct": correct}
        )
        paths.append(str(tmp_path / f"{name}.parquet"))
        parquet.write_table(table, paths[-1])
    return paths


@pytest.mark.parametrize("flags", [[], ["--out-of-core"]])
def test_the_command_knows_it_by_key_and_title(metric, outputs, files, flags, tmp_path, capsys):
    key = Key(metric.name)
    good = compute_results(confidence_system(*outputs["good"]), only=[key])
    written = tmp_path / "out.json"
    for name in (metric.title, metric.name):
        assert not cli.main(["score", *files, *flags, "--metrics", name, "--output", str(written)])
        assert metric.title in capsys.readouterr().out
        rows = {row["system"]: row for row in json.loads(written.read_text())["rows"]}
        assert rows["good"][metric.name] == pytest.approx(good.estimates[key].value, rel=1e-9)


def test_what_has_no_bounds_is_named_where_answers_are_unlabelled(
    metric, outputs, tmp_path, capsys
):
    correct, confidence = outputs["good"]
    table = pa.table({"confidence": confidence, "correct": [None, *correct.tolist()[1:]]})
    parquet.write_table(table, tmp_path / "open.parquet")
    assert not cli.main(["score", str(tmp_path / "open.parquet"), "--metrics", metric.name])
    said = re.search(rf"No bounds are known of these, .*: {metric.name}", capsys.readouterr().err)
    assert bool(said) == (metric.cost is None)


def test_what_is_not_smooth_has_no_interval_where_it_is_of_samples(rng):
    """A quantile, whose derivative by one answer says nothing of others."""

    def median_of_right(data):
        return np.median(data.confidence[data.decisions.candidate_cost == 0])

    entry = Metric(name="middle", title="Middle", value=median_of_right, of_samples=True, **TEXTS)
    add_metric(entry)
    try:
        system = confidence_system(rng.integers(0, 2, 90), rng.random(90), confidence_level=0.95)
        results = compute_results(system, only=[Key("middle")])
    finally:
        remove_metric(entry)
    assert 0 < results.estimates[Key("middle")].value < 1
    assert np.isnan(results.estimates[Key("middle")].low)
    assert [note.id for note in results.notes] == ["no_interval_known"]

"""Metrics that peers print: their numbers, their definitions averaged over orders of ties, their derivatives."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ecuas_metric import confidence_system, peer_metrics, posterior_system
from ecuas_metric.groups import Groups
from ecuas_metric.metric import METRICS, Key
from ecuas_metric.order import aurc, aurc_line
from ecuas_metric.peer_metrics import (
    auarc,
    coverage_at_risk,
    e_aurc,
    ece_equal_mass,
    error_average_precision,
    fpr_at_tpr,
    mce,
    prr,
    risk_at_coverage,
    smooth_ece,
)
from ecuas_metric.reporting.cli import main
from ecuas_metric.results import compute_results
from ecuas_metric.summary import compute_summary_results, summarize_system
from tests.conftest import ROOT
from tests.ecuas_metric.held_out import answers
from tests.ecuas_metric.registry import REGISTRY, row_of
from tests.ecuas_metric.systems import groups_of, inferred

CONFIDENCE = np.array([0.97, 0.93, 0.88, 0.85, 0.79, 0.74, 0.66, 0.61, 0.52, 0.43, 0.31, 0.12])
CORRECT = np.array([1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0])
# What other tools print for these twelve answers: where that is meant to be another number than ours, and where not.
DIFFERENT = {"prr": 0.5470909490814418, "smooth_ece": 0.0973076508441185}
PRINTED = [
    (auarc, {}, 0.7444985569985572),  # MAPIE 1.6.0, auarc
    # lm-polygraph 0.7.0: its prr and prr_0.5 (0.7444985569985572 and 0.6710798460798461), and its score of the best
    # order, with the accuracy 7/12 in place of its mean of 1000 shuffles, by which it prints 0.5470909490814418 and
    # 0.5149975726408067.
    (prr, {}, 0.5413565723172001),
    (prr, {"max_rejection": 0.5}, 0.5134380571159471),
    (e_aurc, {}, 0.1358882906510658),  # fd-shifts c4467ae, e-aurc / 1000
    (error_average_precision, {}, 0.7642857142857142),  # fd-shifts, failap_err
    (fpr_at_tpr, {}, 0.6),  # fd-shifts, fpr@95tpr; torch-uncertainty 0.13.0, FPR95(pos_label=1)
    (risk_at_coverage, {"coverage": 0.5}, 0.3333333333333333),  # torch-uncertainty, RiskAtxCov
    (risk_at_coverage, {"coverage": 0.8}, 0.3),
    (risk_at_coverage, {"coverage": 0.9}, 0.36363636363636365),
    # torch-uncertainty, CovAtxRisk, in float32, which has seven digits
    (coverage_at_risk, {"risk": 0.05}, 0.1666666716337204),
    (coverage_at_risk, {"risk": 0.2}, 0.4166666567325592),
    (coverage_at_risk, {"risk": 0.3}, 0.8333333134651184),
    (mce, {}, 0.57),  # netcal 1.4.0, MCE(10); fd-shifts, mce
    (ece_equal_mass, {}, 0.3608333333333334),  # netcal, ECE(10, equal_intervals=False)
    (ece_equal_mass, {"n_bins": 5}, 0.1508333333333333),
    (ece_equal_mass, {"n_bins": 3}, 0.10083333333333333),
    # relplot 1.0.3, smECE: on a mesh of 200, by ten halvings
    (smooth_ece, {}, DIFFERENT["smooth_ece"]),
]
DIFFERENCE = re.compile(r"prints (\S+) where `(\w+)` is (\d\.\d+)")
ANSWERS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.5, 0.9, 1.0]), st.integers(0, 1)), min_size=1, max_size=6
)


def columns_of(answers):
    return map(np.array, zip(*answers, strict=True))


def same(value):
    return pytest.approx(value, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("metric, options, printed", PRINTED)
def test_the_numbers_that_other_tools_print(metric, options, printed):
    value = metric(groups_of(CONFIDENCE, CORRECT), **options)
    assert value == pytest.approx(printed, abs=1e-3 if metric is smooth_ece else 1e-7)


def test_the_page_says_where_numbers_differ():
    page = (ROOT / "docs" / "peer_metrics.md").read_text()
    said = {name: (theirs, ours) for theirs, name, ours in DIFFERENCE.findall(page)}
    answers = groups_of(CONFIDENCE, CORRECT)
    assert said == {
        name: (f"{printed:.4f}", f"{getattr(peer_metrics, name)(answers):.4f}")
        for name, printed in DIFFERENT.items()
    }


# The definitions for costs in one order, the most confident first.


def risks_of(costs):
    return np.cumsum(costs) / np.arange(1, len(costs) + 1)


def accuracy_of(costs):
    return 1 - np.mean(risks_of(costs))


def area_of(costs):
    risks = risks_of(costs)
    accuracy = 1 - risks[-1]
    best = 1 - accuracy
    if accuracy:
        best += accuracy * np.log(accuracy)
    trapezoids = (risks[1:] + risks[:-1]) / 2
    return (risks[0] + trapezoids.sum()) / len(costs) - best


def ratio_of(costs, max_rejection=1.0):
    rejected = int(max_rejection * len(costs))

    def score(ordered):
        return np.mean(1 - risks_of(ordered)[len(ordered) - rejected :])

    by_chance = 1 - np.mean(costs)
    gain = score(sorted(costs)) - by_chance if rejected else 0
    return (score(costs) - by_chance) / gain if gain > 1e-12 else np.nan


def precision_of(costs):
    precision = risks_of(costs[::-1])
    return np.mean(precision[costs[::-1] == 1]) if costs.any() else np.nan


def false_positives_of(costs, tpr=0.95):
    if costs.all() or not costs.any():
        return np.nan
    correct = np.flatnonzero(costs == 0)
    last = correct[int(np.ceil(tpr * len(correct) - 1e-9)) - 1]
    return costs[:last].sum() / costs.sum()


def risk_of(costs, coverage):
    return np.mean(costs[: int(np.ceil(coverage * len(costs) - 1e-9))])


IN_ONE_ORDER = [
    (auarc, accuracy_of, {}),
    (e_aurc, area_of, {}),
    (prr, ratio_of, {}),
    (prr, ratio_of, {"max_rejection": 0.5}),
    (error_average_precision, precision_of, {}),
    (fpr_at_tpr, false_positives_of, {"tpr": 0.4}),
    (fpr_at_tpr, false_positives_of, {}),
    (risk_at_coverage, risk_of, {"coverage": 0.5}),
    (risk_at_coverage, risk_of, {"coverage": 0.9}),
]


def orders_of(confidence, correct):
    """Return the costs of tied answers in every order, (orders, N)."""
    tied = [1.0 - correct[confidence == value] for value in np.unique(confidence)[::-1]]
    every = itertools.product(*map(itertools.permutations, tied))
    return np.array([list(itertools.chain(*order)) for order in every])


@pytest.mark.parametrize("metric, define, options", IN_ONE_ORDER)
@given(ANSWERS)
@example([(0.5, 1)] * 4)
@example([(0.5, 0)] * 4)
@example([(0.9, 0), (0.5, 1)])
@example([(0.5, 1), (0.9, 0)])
def test_ties_are_in_expectation_over_their_orders(metric, define, options, answers):
    confidence, correct = columns_of(answers)
    expected = np.mean([define(costs, **options) for costs in orders_of(confidence, correct)])
    assert metric(groups_of(confidence, correct), **options) == same(expected)


@given(ANSWERS, st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0]))
@example([(0.9, 1)] * 2 + [(0.5, 1)] * 2 + [(0.5, 0)] * 2, 0.2)
def test_coverage_at_risk_is_that_of_the_curve_in_expectation(answers, risk):
    confidence, correct = columns_of(answers)
    curve = np.cumsum(orders_of(confidence, correct), axis=1).mean(axis=0)
    counts = np.arange(1, len(curve) + 1)
    covered = counts[curve <= risk * counts + 1e-9].max(initial=0)
    assert coverage_at_risk(groups_of(confidence, correct), risk) == same(covered / len(curve))


@pytest.mark.parametrize("metric", [aurc, auarc, e_aurc, prr, error_average_precision])
@given(ANSWERS, st.data())
def test_continuous_in_the_weights(metric, answers, data):
    """Also where the weight of a group is 0 or 1, but not where the last answer of a kind vanishes."""
    confidence, correct = columns_of([*answers, (0.5, 1), (0.5, 0)])
    sizes = st.lists(
        st.sampled_from([0.0, 0.5, 1.0, 2.3]), min_size=len(answers), max_size=len(answers)
    )
    weight = np.array([*data.draw(sizes), 1.5, 0.5])
    value = metric(groups_of(confidence, correct, weight))
    for step in (1e-7, 2e-4):
        moved = weight + step * (np.arange(len(weight)) % 3)
        assert metric(groups_of(confidence, correct, moved)) == pytest.approx(value, abs=100 * step)


@given(st.lists(st.tuples(st.floats(0.02, 0.98), st.integers(0, 1)), min_size=5, max_size=20))
def test_smooth_ece_is_its_own_bandwidth(answers):
    confidence, correct = columns_of(answers)
    value = float(smooth_ece(groups_of(confidence, correct)))
    assume(value > 0.01)
    place = (np.arange(4000) + 0.5) / 4000
    smoothed = np.zeros(4000)
    for shift, sign in itertools.product(range(-4, 5), (1, -1)):
        distance = (place[:, None] - (sign * confidence + 2 * shift)) / value
        smoothed += np.exp(-(distance**2) / 2) @ (confidence - correct)
    density = np.abs(smoothed).mean() / (value * np.sqrt(2 * np.pi))
    assert density / len(correct) == pytest.approx(value, abs=1e-5)


LINES = {
    auarc: lambda groups: aurc_line(groups).times(-1),
    e_aurc: peer_metrics.e_aurc_line,
    prr: peer_metrics.prr_line,
    error_average_precision: peer_metrics.error_average_precision_line,
}


@pytest.mark.parametrize("metric", LINES)
@pytest.mark.parametrize("decimals", [1, 3])
def test_lines_are_the_derivatives_by_a_sample(metric, decimals, rng):
    """Of infinitely many answers, of which one more changes nothing but the shares."""
    confidence = rng.random(40).round(decimals)
    groups = groups_of(confidence, rng.random(40) < confidence, np.full(40, 1e7))
    line = LINES[metric](groups)
    mean = np.average(line.influence(groups.mean_cost), weights=groups.weight)
    step = 1e-4 * groups.weight.sum()

    def value(place, wrong, change):
        added = change * (np.arange(len(groups.rank)) == place)
        return metric(Groups(groups.weight + added, groups.cost + wrong * added, groups.rank))

    for place, wrong in itertools.product(range(len(groups.rank)), (0, 1)):
        derivative = (value(place, wrong, step) - value(place, wrong, -step)) / 2e-4
        influence = line.intercept[place] + wrong * line.slope[place]
        assert derivative == pytest.approx(influence - mean, abs=1e-4)


AT = [
    (risk_at_coverage, peer_metrics.risk_at_coverage_line, 0.6),
    (fpr_at_tpr, peer_metrics.fpr_at_tpr_line, 0.8),
]


@pytest.mark.parametrize("metric, line, at", AT)
def test_a_line_has_the_standard_error_of_new_samples(metric, line, at, rng):
    values = []
    errors = []
    for _ in range(400):
        confidence = rng.random(500)
        groups = groups_of(confidence, rng.random(500) < confidence)
        values.append(metric(groups, at))
        errors.append(np.std(line(groups, at).influence(groups.cost)) / np.sqrt(500))
    # two standard errors of that of 400
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.08)


NAMED = {
    "prr": prr,
    "prr_0.5": lambda groups: prr(groups, 0.5),
    "auarc": auarc,
    "e_aurc": e_aurc,
    "error_average_precision": error_average_precision,
    "fpr_at_95_tpr": fpr_at_tpr,
    "risk_at_coverage_0.9": lambda groups: risk_at_coverage(groups, 0.9),
    "coverage_at_risk_0.2": lambda groups: coverage_at_risk(groups, 0.2),
    "mce": mce,
    "ece_equal_mass": ece_equal_mass,
    "smooth_ece": smooth_ece,
}
WITHOUT_INTERVALS = {"coverage_at_risk_0.2", "mce", "ece_equal_mass", "smooth_ece"}


def test_every_metric_that_is_shown_when_named_is_here():
    named = {row.name for row in REGISTRY.values() if row.when == "named"}
    missing = named - {row_of(key).name for key in NAMED}
    assert not missing, f"NAMED of tests/ecuas_metric/test_peer_metrics.py has no {missing}"


@pytest.fixture
def tables(tmp_path, rng, monkeypatch):
    """Write two systems with the same ids, as CSV and Parquet, and return the groups of their answers."""
    monkeypatch.chdir(tmp_path)
    groups = {}
    for name in ("a", "b"):
        confidence = rng.random(160).round(1)
        correct = answers(rng, confidence)
        frame = pd.DataFrame({"id": range(160), "confidence": confidence, "correct": correct})
        frame.to_csv(f"{name}.csv", index=False)
        frame.to_parquet(f"{name}.parquet", index=False)
        groups[name] = groups_of(confidence, correct)
    return groups


def rows_of(*arguments, by):
    assert main([*arguments, "--metrics", ",".join(NAMED), "--output", "out.json"]) == 0
    return {row[by]: row for row in json.loads(Path("out.json").read_text())["rows"]}


@pytest.mark.long
def test_each_is_a_column_and_a_difference_when_it_is_named(tables):
    inputs = ["a.csv", "b.csv"], ["a.parquet", "b.parquet", "--out-of-core"]
    scores = [rows_of("score", *flags, "--interval", "0.9", by="system") for flags in inputs]
    differences = rows_of("compare", "a.csv", "b.csv", by="key")
    for key, metric in NAMED.items():
        values = {name: float(metric(groups)) for name, groups in tables.items()}
        assert differences[key]["difference"] == same(values["a"] - values["b"]), key
        for rows, (name, value) in itertools.product(scores, values.items()):
            assert rows[name][key] == same(value), key
            low = rows[name].get(f"{key}_low")
            assert (low is None) == (key in WITHOUT_INTERVALS), key
            assert low is None or low <= value <= rows[name][f"{key}_high"]


@pytest.mark.long
def test_what_has_an_interval_is_planned(tables):
    assert rows_of("plan", "a.csv", "b.csv", by="key").keys() == NAMED.keys() - WITHOUT_INTERVALS


@pytest.mark.parametrize("key", ["error_average_precision", "fpr_at_95_tpr"])
@pytest.mark.parametrize("weights_are", ["counts", "importance"])
def test_few_wrong_or_right_answers_have_no_interval(key, weights_are, rng):
    """Of equal weights: those that are as many answers are, those that say how much each counts are none."""
    fewest_wrong, fewest_right = METRICS[key].fewest
    unit = 2 if weights_are == "counts" else 1
    for wrong, right in ((0, 0), (-1, 0), (0, -1), (-1, -1)):
        counts = fewest_wrong + unit * wrong, fewest_right + unit * right
        correct = np.repeat([0, 1], np.maximum(counts, unit))[::unit]
        options = {"sample_weight": np.full(len(correct), 2), "weights_are": weights_are}
        confidence = rng.random(len(correct))
        found, notes = inferred(confidence, correct, only=[Key(key)], **options)
        are_enough = wrong == 0 and (right == 0 or not fewest_right)
        assert np.isfinite(found[key].low) == are_enough
        assert are_enough or "no_interval_known" in {note.id for note in notes}


REFUSED = {
    "risk_at_coverage": "Name it with its number, as in risk_at_coverage_0.1.",
    "risk_at_coverage_1.5": "coverage must lie in [0, 1]; got 1.5",
    "coverage_at_risk_-1": "risk must be >= 0; got -1",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_number_is_needed_and_checked(tables, name, capsys):
    assert main(["score", "a.csv", "--metrics", name]) == 2
    assert REFUSED[name] in capsys.readouterr().err


@pytest.mark.parametrize("name", ["ece", "mce", "ece_equal_mass", "smooth_ece", "prr"])
@pytest.mark.parametrize("in_twentieths", [False, True])
def test_confidences_of_posteriors_are_their_largest_probabilities(name, in_twentieths, rng):
    """Also at the edges of bins, where 1 - 0.8 is less than 0.2."""
    posteriors = rng.dirichlet(np.ones(10), 60)
    if in_twentieths:
        posteriors = rng.multinomial(20, np.full(10, 0.1), 60) / 20
    correct = posteriors.max(axis=1) > 0.2
    labels = (posteriors.argmax(axis=1) + ~correct) % 10
    system = posterior_system(labels, posteriors, labels=range(10))
    of_confidences = confidence_system(correct.astype(int), posteriors.max(axis=1))
    expected = compute_results(of_confidences, only=[Key(name)]).flat()[name]
    assert compute_results(system, only=[Key(name)]).flat()[name] == same(expected)
    assert compute_summary_results(summarize_system(system), only=[Key(name)]).flat()[name] == same(
        expected
    )

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ecuas_metric import confidence_system, peer_metrics, posterior_system
from ecuas_metric.calibration import ece
from ecuas_metric.metric import Key
from ecuas_metric.peer_metrics import (
    auarc,
    coverage_at_risk,
    e_aurc,
    ece_equal_mass,
    error_average_precision,
    fpr_at_tpr,
    mce,
    mean_selective_risk,
    prr,
    risk_at_coverage,
    smooth_ece,
)
from ecuas_metric.ranking import TieGroups, tie_groups
from ecuas_metric.reporting.cli import main
from ecuas_metric.results import compute_results, value_keys
from tests.ecuas_metric.systems import UNIT

CONFIDENCE = np.array([0.97, 0.93, 0.88, 0.85, 0.79, 0.74, 0.66, 0.61, 0.52, 0.43, 0.31, 0.12])
CORRECT = np.array([1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0])
# What other tools print for these twelve answers.
PRINTED = [
    (auarc, {}, 0.7444985569985572, 1e-12),  # MAPIE 1.6.0, auarc
    # lm-polygraph 0.7.0: its prr and prr_0.5 (0.7444985569985572 and 0.6710798460798461), and its score of the best
    # order, with the accuracy 7/12 in place of its mean of 1000 shuffles, by which it prints 0.5470909490814418 and
    # 0.5149975726408067.
    (prr, {}, 0.5413565723172001, 1e-12),
    (prr, {"max_rejection": 0.5}, 0.5134380571159471, 1e-12),
    (e_aurc, {}, 0.1358882906510658, 1e-12),  # fd-shifts c4467ae, e-aurc / 1000
    (error_average_precision, {}, 0.7642857142857142, 1e-12),  # fd-shifts, failap_err
    (fpr_at_tpr, {}, 0.6, 1e-12),  # fd-shifts, fpr@95tpr; torch-uncertainty 0.13.0, FPR95(pos_label=1), in float32
    (risk_at_coverage, {"coverage": 0.5}, 0.3333333333333333, 1e-12),  # torch-uncertainty, RiskAtxCov
    (risk_at_coverage, {"coverage": 0.8}, 0.3, 1e-12),
    (risk_at_coverage, {"coverage": 0.9}, 0.36363636363636365, 1e-12),
    (coverage_at_risk, {"risk": 0.05}, 0.1666666716337204, 1e-7),  # torch-uncertainty, CovAtxRisk, in float32
    (coverage_at_risk, {"risk": 0.2}, 0.4166666567325592, 1e-7),
    (coverage_at_risk, {"risk": 0.3}, 0.8333333134651184, 1e-7),
    (mce, {}, 0.57, 1e-12),  # netcal 1.4.0, MCE(10); fd-shifts, mce
    (ece_equal_mass, {}, 0.3608333333333334, 1e-12),  # netcal, ECE(10, equal_intervals=False)
    (ece_equal_mass, {"n_bins": 5}, 0.1508333333333333, 1e-12),
    (ece_equal_mass, {"n_bins": 3}, 0.10083333333333333, 1e-12),
    (smooth_ece, {}, 0.0973076508441185, 1e-3),  # relplot 1.0.3, smECE: on a mesh of 200, by ten halvings
]
OF_THE_ORDER = [
    (auarc, {}),
    (prr, {}),
    (prr, {"max_rejection": 0.5}),
    (e_aurc, {}),
    (error_average_precision, {}),
    (fpr_at_tpr, {}),
    (fpr_at_tpr, {"tpr": 0.5}),
    (risk_at_coverage, {"coverage": 0.4}),
    (coverage_at_risk, {"risk": 0.3}),
]
OF_CONFIDENCES = [(mce, {}), (ece_equal_mass, {"n_bins": 3}), (smooth_ece, {})]
EVERY = OF_THE_ORDER + OF_CONFIDENCES
ANSWERS = st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9, 1.0]), st.integers(0, 1)), min_size=1, max_size=6)
SAMPLES = st.lists(st.tuples(UNIT, st.integers(0, 1)), min_size=1, max_size=30)
SIZES = st.sampled_from([0.0, 1e-3, 0.3, 0.5, 1.0, 1.7, 40.0])


def groups_of(confidence, correct, sample_weight=None):
    weight = None if sample_weight is None else np.asarray(sample_weight, float)
    return tie_groups(-np.asarray(confidence, float), 1.0 - np.asarray(correct), sample_weight=weight)


def same(value):
    return pytest.approx(value, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(("metric", "options", "printed", "tolerance"), PRINTED)
def test_the_numbers_that_other_tools_print(metric, options, printed, tolerance):
    assert metric(groups_of(CONFIDENCE, CORRECT), **options) == pytest.approx(printed, abs=tolerance)


# The definitions for costs in one order, the most confident first.


def area_of(costs):
    risks = np.cumsum(costs) / np.arange(1, len(costs) + 1)
    accuracy = 1 - np.mean(costs)
    best = 1 - accuracy + (accuracy * np.log(accuracy) if accuracy else 0.0)
    return (risks[0] + (risks[1:] + risks[:-1]).sum() / 2) / len(costs) - best


def ratio_of(costs, max_rejection=1.0):
    rejected = int(max_rejection * len(costs))

    def score(ordered):
        accuracies = 1 - np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
        return np.mean(accuracies[len(ordered) - rejected :]) if rejected else np.nan

    by_chance = 1 - np.mean(costs)
    gain = score(sorted(costs)) - by_chance
    return (score(costs) - by_chance) / gain if gain > 1e-12 else np.nan


def precision_of(costs):
    precision = np.cumsum(costs[::-1]) / np.arange(1, len(costs) + 1)
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
    (auarc, lambda costs: 1 - np.mean(np.cumsum(costs) / np.arange(1, len(costs) + 1)), {}),
    (e_aurc, area_of, {}),
    (prr, ratio_of, {}),
    (prr, ratio_of, {"max_rejection": 0.5}),
    (error_average_precision, precision_of, {}),
    (fpr_at_tpr, false_positives_of, {}),
    (fpr_at_tpr, false_positives_of, {"tpr": 0.4}),
    (risk_at_coverage, risk_of, {"coverage": 0.5}),
    (risk_at_coverage, risk_of, {"coverage": 0.9}),
]


def orders_of(confidence, correct):
    """Return the costs of tied answers in every order, (orders, N)."""
    tied = [1.0 - correct[confidence == value] for value in np.unique(confidence)[::-1]]
    every = itertools.product(*(itertools.permutations(costs) for costs in tied))
    return np.array([list(itertools.chain(*order)) for order in every])


@pytest.mark.parametrize(("metric", "define", "options"), IN_ONE_ORDER)
@given(ANSWERS)
def test_ties_are_in_expectation_over_their_orders(metric, define, options, answers):
    confidence, correct = map(np.array, zip(*answers, strict=True))
    expected = np.mean([define(costs, **options) for costs in orders_of(confidence, correct)])
    assert metric(groups_of(confidence, correct), **options) == same(expected)


@given(ANSWERS, st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0]))
def test_coverage_at_risk_is_that_of_the_curve_in_expectation(answers, risk):
    confidence, correct = map(np.array, zip(*answers, strict=True))
    curve = np.cumsum(orders_of(confidence, correct), axis=1).mean(axis=0)
    counts = np.arange(1, len(curve) + 1)
    covered = counts[curve <= risk * counts + 1e-9].max(initial=0)
    assert coverage_at_risk(groups_of(confidence, correct), risk) == same(covered / len(curve))


@pytest.mark.parametrize(("metric", "options"), EVERY)
@given(SAMPLES, st.data())
def test_a_whole_weight_is_as_many_equal_answers(metric, options, answers, data):
    confidence, correct = map(np.array, zip(*answers, strict=True))
    size = st.lists(st.integers(0, 4), min_size=len(correct), max_size=len(correct))
    rows = np.array([data.draw(size), data.draw(size)])
    assume((rows.sum(axis=1) > 0).all())
    expected = [metric(groups_of(np.repeat(confidence, row), np.repeat(correct, row)), **options) for row in rows]
    np.testing.assert_allclose(metric(groups_of(confidence, correct, rows), **options), expected, atol=1e-9)


@pytest.mark.parametrize(("metric", "options"), EVERY)
@given(SAMPLES, st.randoms())
def test_the_order_of_the_rows_does_not_matter(metric, options, answers, random):
    value = metric(groups_of(*zip(*answers, strict=True)), **options)
    random.shuffle(answers)
    assert metric(groups_of(*zip(*answers, strict=True)), **options) == same(value)


@pytest.mark.parametrize(("metric", "options"), OF_THE_ORDER)
@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 1)), min_size=1, max_size=20))
def test_the_order_is_all_that_counts(metric, options, answers):
    confidence, correct = map(np.array, zip(*answers, strict=True))
    value = metric(groups_of(confidence / 10, correct), **options)
    assert metric(groups_of(confidence**3 - 5.0, correct), **options) == same(value)


@pytest.mark.parametrize(("metric", "options"), EVERY)
@given(SAMPLES, st.data())
def test_values_lie_in_their_range_whatever_the_weights(metric, options, answers, data):
    weight = data.draw(st.lists(SIZES, min_size=len(answers), max_size=len(answers)))
    assume(sum(weight) > 0)
    value = metric(groups_of(*zip(*answers, strict=True), weight), **options)
    low = {prr: -np.inf, e_aurc: -1.0}.get(metric, 0.0)
    assert np.isnan(value) or low - 1e-9 <= value <= 1 + 1e-9


@pytest.mark.parametrize(("metric", "options"), [(auarc, {}), (e_aurc, {}), (prr, {}), (error_average_precision, {})])
@given(ANSWERS, st.data())
def test_continuous_in_the_weights(metric, options, answers, data):
    """Also where the weight of a group is 0 or 1, but not where the last answer of a kind vanishes."""
    confidence, correct = map(np.array, zip(*answers, (0.5, 1), (0.5, 0), strict=True))
    drawn = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.3]), min_size=len(answers), max_size=len(answers)))
    weight = np.array([*drawn, 1.5, 0.5])
    value = metric(groups_of(confidence, correct, weight), **options)
    for step in (1e-7, 2e-4):
        moved = weight + step * (np.arange(len(weight)) % 3)
        assert metric(groups_of(confidence, correct, moved), **options) == pytest.approx(value, abs=100 * step)


LIMITS = {  # of one right answer, of one wrong one; many of a kind are the same
    auarc: (1, 0),
    e_aurc: (0, 0),
    prr: (np.nan, np.nan),
    error_average_precision: (np.nan, 1),
    fpr_at_tpr: (np.nan, np.nan),
    risk_at_coverage: (0, 1),
    coverage_at_risk: (1, 0),
}


@pytest.mark.parametrize(("metric", "options"), OF_THE_ORDER)
@pytest.mark.parametrize("confidence", [[0.7], [0.3] * 5, [0.1, 0.2, 0.5, 0.9]])
@pytest.mark.parametrize("correct", [0, 1])
def test_limits(metric, options, confidence, correct):
    groups = groups_of(confidence, np.full(len(confidence), correct))
    assert metric(groups, **options) == same(LIMITS[metric][1 - correct])


@pytest.mark.parametrize("metric", [mce, ece_equal_mass, smooth_ece])
@given(UNIT, st.integers(0, 1), st.integers(1, 5))
def test_answers_of_one_confidence_have_the_gap_between_it_and_their_accuracy(metric, confidence, correct, count):
    groups = groups_of([confidence] * count, [correct] * count)
    assert metric(groups) == same(abs(confidence - correct))


@given(SAMPLES)
def test_the_best_order_has_all_of_the_ratio_and_no_order_none(answers):
    _, correct = map(np.array, zip(*answers, strict=True))
    assume(0 < correct.sum() < len(correct))
    for share in (0.5, 1.0):
        assume(share * len(correct) >= 2)
        assert prr(groups_of(correct, correct), share) == pytest.approx(1)
        assert prr(groups_of(np.ones(len(correct)), correct), share) == same(0)


@given(SAMPLES, st.floats(0.01, 1))
def test_coverage_at_the_risk_at_a_coverage_is_at_least_that_coverage(answers, coverage):
    groups = groups_of(*zip(*answers, strict=True))
    assert coverage_at_risk(groups, float(risk_at_coverage(groups, coverage))) >= coverage - 1e-9


@given(st.lists(st.tuples(UNIT, st.floats(0, 3)), min_size=1, max_size=12))
def test_risks_of_any_cost_are_means_of_what_is_accepted(answers):
    uncertainty, cost = map(np.array, zip(*answers, strict=True))
    groups = tie_groups(uncertainty, cost)
    assert risk_at_coverage(groups, 1.0) == pytest.approx(cost.mean())
    assert coverage_at_risk(groups, float(cost.max())) == 1
    assert mean_selective_risk(groups) <= cost.max() + 1e-12


@pytest.mark.parametrize(("count", "n_bins"), [(30, 7), (100, 10), (50, 3), (4, 10)])
def test_bins_of_equal_mass_start_at_quantiles(count, n_bins, rng):
    confidence = rng.random(count)
    correct = rng.integers(0, 2, count)
    edges = np.quantile(confidence, np.arange(1, n_bins) / n_bins)
    gaps = np.bincount(np.searchsorted(edges, confidence, side="right"), confidence - correct)
    assert ece_equal_mass(groups_of(confidence, correct), n_bins) == pytest.approx(np.abs(gaps).sum() / count)


@given(SAMPLES)
def test_the_largest_gap_is_no_smaller_than_the_mean_and_one_bin_is_one_gap(answers):
    confidence, correct = map(np.array, zip(*answers, strict=True))
    groups = groups_of(confidence, correct)
    gap = abs(np.mean(confidence - correct))
    assert mce(groups, 4) >= ece(confidence, 1.0 - correct, n_bins=4) - 1e-12
    assert mce(groups, 1) == ece_equal_mass(groups, 1) == same(gap)
    assert gap - 1e-9 <= smooth_ece(groups) <= np.abs(confidence - correct).mean() + 1e-9


@given(st.lists(st.tuples(st.floats(0.02, 0.98), st.integers(0, 1)), min_size=5, max_size=20))
def test_smooth_ece_is_its_own_bandwidth(answers):
    confidence, correct = map(np.array, zip(*answers, strict=True))
    value = float(smooth_ece(groups_of(confidence, correct)))
    assume(value > 0.01)
    place = (np.arange(20_000) + 0.5) / 20_000
    images = [sign * confidence + 2 * k for k in range(-4, 5) for sign in (1, -1)]
    kernel = sum(np.exp(-(((place[:, None] - image) / value) ** 2) / 2) for image in images)
    smoothed = kernel @ (confidence - correct) / (value * np.sqrt(2 * np.pi))
    assert np.abs(smoothed).mean() / len(correct) == pytest.approx(value, abs=1e-5)


LINES = {
    auarc: peer_metrics.auarc_line,
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
    mean = np.average(line.at(groups.mean_cost), weights=groups.weight)
    step = 1e-4 * groups.weight.sum()

    def value(place, wrong, change):
        added = change * (np.arange(len(groups.rank)) == place)
        return metric(TieGroups(groups.weight + added, groups.cost + wrong * added, groups.rank))

    for place, wrong in itertools.product(range(len(groups.rank)), (0, 1)):
        derivative = (value(place, wrong, step) - value(place, wrong, -step)) / 2e-4
        assert derivative == pytest.approx(line.intercept[place] + wrong * line.slope[place] - mean, abs=1e-4)


@pytest.mark.parametrize(
    ("metric", "line", "at"),
    [
        (risk_at_coverage, peer_metrics.risk_at_coverage_line, 0.6),
        (fpr_at_tpr, peer_metrics.fpr_at_tpr_line, 0.8),
    ],
)
def test_a_line_has_the_standard_error_of_new_samples(metric, line, at, rng):
    values, errors = [], []
    for _ in range(400):
        confidence = rng.random(500)
        groups = groups_of(confidence, rng.random(500) < confidence)
        values.append(metric(groups, at))
        errors.append(np.std(line(groups, at).at(groups.cost)) / np.sqrt(500))
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.08)  # two standard errors of that of 400


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


@pytest.fixture
def files(tmp_path, rng, monkeypatch):
    """Return the names of two files, as CSV and Parquet, and the groups of their answers; they share the ids."""
    monkeypatch.chdir(tmp_path)
    groups = {}
    for name in ("a", "b"):
        confidence = rng.random(90).round(2)
        correct = (rng.random(90) < confidence).astype(int)
        frame = pd.DataFrame({"id": range(90), "confidence": confidence, "correct": correct})
        frame.to_csv(f"{name}.csv", index=False)
        frame.to_parquet(f"{name}.parquet", index=False)
        groups[name] = groups_of(confidence, correct)
    return groups


def run(capsys, *arguments):
    assert main([*arguments, "--metrics", ",".join(NAMED), "--output", "out.json"]) == 0
    capsys.readouterr()
    return json.loads(Path("out.json").read_text())["rows"]


@pytest.mark.parametrize("arguments", [["a.csv", "b.csv"], ["a.parquet", "b.parquet", "--out-of-core"]])
def test_each_is_a_column_when_it_is_named(files, arguments, capsys):
    rows = {row["system"]: row for row in run(capsys, "score", *arguments, "--interval", "0.9")}
    for name, groups in files.items():
        for key, metric in NAMED.items():
            assert rows[name][key] == same(metric(groups)), key
            low, high = rows[name].get(f"{key}_low"), rows[name].get(f"{key}_high")
            assert low is None or low <= rows[name][key] <= high


@pytest.mark.parametrize("arguments", [["a.csv", "b.csv"], ["a.parquet", "b.parquet", "--out-of-core"]])
def test_systems_differ_by_each_when_it_is_named(files, arguments, capsys):
    rows = {row["key"]: row for row in run(capsys, "compare", *arguments)}
    for key, metric in NAMED.items():
        assert rows[key]["difference"] == same(metric(files["a"]) - metric(files["b"])), key


def test_what_has_an_interval_is_planned(files, capsys):
    planned = {row["key"] for row in run(capsys, "plan", "a.csv", "b.csv")}
    assert planned == set(NAMED) - {"coverage_at_risk_0.2", "mce", "ece_equal_mass", "smooth_ece"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("risk_at_coverage", "Name it with its number, as in risk_at_coverage_0.1."),
        ("risk_at_coverage_1.5", "coverage must lie in [0, 1]; got 1.5"),
        ("coverage_at_risk_-1", "risk must be >= 0; got -1"),
    ],
)
def test_a_number_is_needed_and_checked(files, name, message, capsys):
    assert main(["score", "a.csv", "--metrics", name]) == 2
    assert message in capsys.readouterr().err


def test_none_is_there_unless_it_is_named(rng):
    system = confidence_system(rng.integers(0, 2, 20), rng.random(20))
    assert not {key.metric for key in value_keys(system)} & {name.partition("_0.")[0] for name in NAMED}


@pytest.mark.parametrize("key", [Key("mce"), Key("ece_equal_mass"), Key("smooth_ece"), Key("prr")], ids=str)
def test_confidences_of_posteriors_are_their_largest_probabilities(key, rng):
    posteriors = rng.dirichlet(np.ones(3), 60)
    labels = rng.integers(0, 3, 60)
    confidences = confidence_system((posteriors.argmax(axis=1) == labels).astype(int), posteriors.max(axis=1))
    systems = [posterior_system(labels, posteriors), confidences]
    one, other = (compute_results(system, only=[key]).estimates[key].value for system in systems)
    assert one == same(other)

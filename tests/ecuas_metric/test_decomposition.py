import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from ecuas_metric.decisions import confidence_decisions, cost_decisions
from ecuas_metric.metrics import mean_costs, recalibrated_values
from ecuas_metric.options import checked_options
from ecuas_metric.ranking import tie_groups
from tests.ecuas_metric.systems import compute, confidence_systems

ORDERS = (0.0, 0.5, 1.0, 7.0, np.inf)


def best_of(decisions, sample_weight=None, n=ORDERS):
    ties = tie_groups(decisions.rank_by, decisions.candidate_cost, sample_weight=sample_weight)
    best = recalibrated_values(ties, checked_options(n=n), max_uncertainty=decisions.max_uncertainty)
    return {str(key): value for key, value in best.items()}


def value_of(decisions, n=ORDERS):
    return {str(key): value for key, value in mean_costs(decisions, checked_options(n=n)).items()}


def loss_of(confidence, correct):
    decisions = confidence_decisions(confidence, correct)
    best, value = best_of(decisions), value_of(decisions)
    return {n: value[f"ecuas_{n:g}"] - best[f"ecuas_{n:g}_recalibrated"] for n in ORDERS}


@given(confidence_systems())
def test_calibration_loss_is_never_negative(system):
    for n, loss in loss_of(*system).items():
        assert loss >= -1e-12, n


@given(confidence_systems())
def test_calibration_loss_of_recalibrated_confidences_is_0(system):
    confidence, correct = system
    fitted = IsotonicRegression(y_min=0, y_max=1).fit_transform(confidence.round(6), correct)
    for n, loss in loss_of(np.clip(fitted, 0, 1), correct).items():
        assert loss == pytest.approx(0, abs=1e-9), n


@given(confidence_systems(), st.sampled_from([np.sqrt, np.square, np.expm1, lambda q: 1e-9 * q]))
def test_recalibrated_is_the_same_for_every_strictly_increasing_map(system, increasing):
    confidence, correct = system
    mapped = np.clip(increasing(confidence) / max(increasing(np.ones(1))[0], 1), 0, 1)
    assume(len(np.unique(mapped)) == len(np.unique(confidence)))
    ours, expected = (best_of(confidence_decisions(q, correct)) for q in (mapped, confidence))
    assert ours == pytest.approx(expected, rel=1e-9)


@given(confidence_systems(max_size=6), st.data())
def test_no_other_monotone_map_is_better(system, data):
    confidence, correct = system
    levels = np.unique(confidence)
    other = np.sort(data.draw(st.lists(st.floats(0, 1), min_size=len(levels), max_size=len(levels))))
    mapped = other[np.searchsorted(levels, confidence)]
    best = best_of(confidence_decisions(confidence, correct))
    value = value_of(confidence_decisions(mapped, correct))
    for n in ORDERS:
        assert best[f"ecuas_{n:g}_recalibrated"] <= value[f"ecuas_{n:g}"] + 1e-5  # epsilon, at n = 0


@given(confidence_systems(), st.data())
def test_whole_weights_are_repetition(system, data):
    confidence, correct = system
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(correct), max_size=len(correct))))
    assume(weights.any())
    repeated = confidence_decisions(np.repeat(confidence, weights), np.repeat(correct, weights))
    ours = best_of(confidence_decisions(confidence, correct), weights.astype(float))
    assert ours == pytest.approx(best_of(repeated), rel=1e-9)


def test_any_cost_can_be_recalibrated():
    decisions = cost_decisions(np.array([0.1, 0.2, 0.9]), np.array([2.0, 0.0, 1.0]), max_uncertainty=1.5)
    # Pooled: 1 for the first two, then 1, all below 1.5.
    expected = value_of(cost_decisions(np.ones(3), np.array([2.0, 0.0, 1.0]), max_uncertainty=1.5))["ecuas_1"]
    assert best_of(decisions)["ecuas_1_recalibrated"] == pytest.approx(expected)


def test_the_metric_adds_both_keys_for_each_n():
    values = compute("confidences", np.array([0.9, 0.8]), np.array([0, 1]), checked_options(n=(0, 2), decompose=True))
    for key in ("ecuas_0", "ecuas_2"):
        assert values[key] == pytest.approx(values[f"{key}_recalibrated"] + values[f"{key}_calibration_loss"])

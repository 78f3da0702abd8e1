from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecuas_metric.options import checked_options
from ecuas_metric.results import compute_results, prepare
from tests.ecuas_metric.systems import compute, posterior_systems

pytestmark = pytest.mark.filterwarnings("ignore")


def score(form, predictions, references, **options):
    return compute(form, predictions, references, checked_options(normalize=True, **options))


def constant(labels, num_classes, weights=None):
    frequencies = np.bincount(labels, weights, minlength=num_classes)
    return np.tile(frequencies / frequencies.sum(), (len(labels), 1))


@given(posterior_systems(), st.sampled_from(["zero_one", "log", "matrix"]), st.booleans())
def test_the_naive_system_itself_is_1_at_everything(system, cost, weigh):
    posteriors, labels = system
    cost = 1 - 0.9 * np.eye(posteriors.shape[1]) if cost == "matrix" else cost
    weights = 0.5 + np.arange(len(labels)) if weigh else None
    naive = constant(labels, posteriors.shape[1], weights)
    values = score("posteriors", naive, labels, cost=cost, sample_weight=weights, reject_costs=0.2)
    for key, value in values.items():
        if key.startswith("normalized_") and not np.isnan(value):
            assert value == pytest.approx(1), key


def test_the_constant_confidence_is_1_at_both_confidence_metrics():
    values = score("confidences", np.full(4, 0.75), np.array([1, 1, 1, 0]))
    assert values["normalized_confidence_cross_entropy"] == pytest.approx(1)
    assert values["normalized_confidence_brier_score"] == pytest.approx(1)
    assert sum(key.startswith("normalized_") for key in values) == 2


def test_nothing_to_divide_by_is_nan_and_noted():
    system = prepare("confidences", np.array([0.5, 0.9]), np.array([1, 1]), checked_options(normalize=True))
    results = compute_results(system)
    values = results.flat()
    assert [str(note) for note in results.notes][1:] == [
        "The naive system costs nothing, so these are nan when normalized: confidence_cross_entropy, "
        "confidence_brier_score."
    ]
    assert np.isnan(values["normalized_confidence_brier_score"])


@pytest.mark.parametrize("correct", [0, 1])
@pytest.mark.parametrize("unit", [1.0, 1e5, 1e-300])
def test_nothing_to_divide_by_is_nan_also_where_fractional_weights_do_not_add_up(correct, unit):
    for seed in range(20):
        weights = unit * (np.random.default_rng(seed).random(10) + 0.01)
        values = score("confidences", np.full(10, 0.5), np.full(10, correct), sample_weight=weights)
        assert np.isnan(values["normalized_confidence_brier_score"])
        assert np.isnan(values["normalized_confidence_cross_entropy"])


def test_normalised_confidence_scores_are_those_of_fractions():
    confidence, correct, weights = np.array([0.5, 0.75, 1.0]), np.array([1, 0, 1]), np.array([0.5, 0.25, 3.0])
    values = score("confidences", confidence, correct, sample_weight=weights)
    brier = sum(
        Fraction(w) * (Fraction(q) - y) ** 2 for w, q, y in zip(weights, confidence, map(int, correct), strict=True)
    )
    p = Fraction(0.25) / Fraction(3.75)
    assert values["normalized_confidence_brier_score"] == pytest.approx(float(brier / Fraction(3.75) / p / (1 - p)))


def test_resamples_without_any_weight_have_no_value():
    options = {"sample_weight": [0.0, 1.0], "confidence_level": 0.9, "n_resamples": 50}
    options["interval_method"] = "percentile"
    values = score("posteriors", np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 1]), **options)
    assert values["error_rate_low"] == values["error_rate_high"] == 0

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from ecuas_metric.baselines import (
    augrc,
    aurc,
    auroc,
    confidence_bins,
    confidence_brier_cost,
    confidence_cross_entropy_cost,
    ece,
    harmonic_numbers,
)
from ecuas_metric.options import checked_options
from ecuas_metric.ranking import tie_groups
from ecuas_metric.results import compute_results, prepare
from tests.ecuas_metric.systems import confidence_systems


def groups_of(confidence, correct, sample_weight=None):
    return tie_groups(-confidence, 1.0 - correct, sample_weight=sample_weight)


def trapezoid(values, step):
    return (values[:-1] + values[1:]).sum() * step / 2


def aurc_in_order(costs):
    """Straight from the definition, for samples that stand in order."""
    num = len(costs)
    risks = np.cumsum(costs) / np.arange(1, num + 1)
    return trapezoid(risks, 1 / num) / (1 - 1 / num) if num > 1 else risks[0]


def augrc_in_order(costs):
    return trapezoid(np.cumsum([0, *costs]) / len(costs), 1 / len(costs))


@given(confidence_systems(min_size=2))
def test_auroc_is_scikit_learns(system):
    confidence, correct = system
    if 0 < correct.sum() < len(correct):
        assert auroc(groups_of(confidence, correct)) == pytest.approx(roc_auc_score(correct, confidence))


@given(confidence_systems())
def test_confidence_scores_are_scikit_learns(system):
    confidence, correct = system
    clipped = np.clip(confidence, 1e-7, 1 - 1e-7)
    ce = confidence_cross_entropy_cost(1 - confidence, 1.0 - correct).mean()
    assert ce == pytest.approx(log_loss(correct, clipped, labels=[0, 1]), rel=1e-6)
    brier = confidence_brier_cost(1 - confidence, 1.0 - correct).mean()
    assert brier == pytest.approx(brier_score_loss(correct, confidence, pos_label=1))


@pytest.mark.parametrize(("ours", "definition"), [(aurc, aurc_in_order), (augrc, augrc_in_order)])
@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.sampled_from([0.0, 1.0, 2.5])), min_size=1, max_size=6))
def test_areas_are_the_mean_over_all_orders_of_tied_samples(ours, definition, samples):
    uncertainty, cost = np.array(samples).T
    values = [
        definition(cost[list(order)])
        for order in itertools.permutations(range(len(cost)))
        if (np.diff(uncertainty[list(order)]) >= 0).all()
    ]
    assert ours(tie_groups(uncertainty, cost)) == pytest.approx(np.mean(values))


@given(confidence_systems(min_size=2))
def test_augrc_is_a_function_of_auroc_and_accuracy(system):
    groups = groups_of(*system)
    accuracy = system[1].mean()
    if 0 < accuracy < 1:
        expected = (1 - auroc(groups)) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
        assert augrc(groups) == pytest.approx(expected)


def test_auroc_of_one_class_is_nan_and_noted():
    for correct in ([1, 1], [0, 0]):
        assert np.isnan(auroc(groups_of(np.array([0.9, 0.8]), np.array(correct))))
        system = prepare("confidences", np.array([0.9, 0.8]), np.array(correct), checked_options())
        assert [str(note) for note in compute_results(system).notes] == [
            "auroc is nan: it needs both correct and incorrect samples."
        ]


def test_small_confidences_that_1_minus_q_merges_stay_apart():
    confidence, correct = np.array([1e-20, 1e-30, 1e-25]), np.array([1, 0, 0])
    assert auroc(groups_of(confidence, correct)) == 1


def test_aurc_by_hand():
    # Risks 0, 1/2, 1/3 at coverages 1/3, 2/3, 1: area (1/4 + 5/12) / 3, divided by 2/3.
    groups = groups_of(np.array([0.9, 0.8, 0.4]), np.array([1, 0, 1]))
    assert aurc(groups) == pytest.approx(((0 + 1 / 2) / 2 + (1 / 2 + 1 / 3) / 2) / 3 / (2 / 3))


def test_real_weights_interpolate_smoothly_between_whole_ones():
    confidence, correct = np.array([0.9, 0.8, 0.4, 0.3]), np.array([1, 0, 1, 0])

    def at(weight):
        return aurc(groups_of(confidence, correct, np.array([2.0, weight, 1.0, 1.0])))

    for whole in (1.0, 2.0, 3.0):
        assert at(whole + 1e-7) == pytest.approx(at(whole), abs=1e-6)
    assert at(1) < at(1.5) < at(2)


def test_harmonic_numbers_continue_to_real_numbers():
    x = np.array([0.0, 0.3, 1.0, 2.5, 10.0, 1e3, 1e7, 1e12])
    np.testing.assert_allclose(harmonic_numbers(x), digamma(x + 1) + np.euler_gamma, rtol=1e-14, atol=1e-15)


def test_ece_by_hand():
    confidence, incorrect = np.array([0.95, 0.9, 0.15, 1.0]), np.array([0.0, 1.0, 1.0, 0.0])
    last_bin = abs(np.mean([0.95, 0.9, 1.0]) - 2 / 3) * 3 / 4
    assert ece(confidence, incorrect) == pytest.approx(last_bin + 0.15 / 4)


def test_ece_of_all_wrong_at_one_decimal_is_that_decimal():
    for decimal in (0.1, 0.3, 0.6, 0.7, 0.9, 1.0):
        assert ece(np.full(7, decimal), np.ones(7)) == pytest.approx(decimal)


@pytest.mark.parametrize("n_bins", [1, 7, 10, 15, 100, 1000])
def test_each_edge_opens_its_bin(n_bins):
    edges = np.arange(n_bins) / n_bins
    assert confidence_bins(edges, n_bins=n_bins).tolist() == list(range(n_bins))
    below = np.nextafter(edges[1:], 0)
    assert confidence_bins(below, n_bins=n_bins).tolist() == list(range(n_bins - 1))


def test_several_sets_of_weights_give_what_each_gives_alone(rng):
    confidence, correct = rng.random(50).round(1), rng.integers(0, 2, 50)
    weights = rng.multinomial(50, np.full(50, 0.02), size=(2, 3)).astype(float)
    together = groups_of(confidence, correct, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (auroc, aurc, augrc):
            values = function(together)
            assert values.shape == (2, 3)
            assert values[1, 2] == pytest.approx(function(groups_of(confidence, correct, weights[1, 2])))
    assert ece(confidence, 1.0 - correct, sample_weight=weights).shape == (2, 3)

"""AUROC, AURC, AUGRC and ECE against outside witnesses, where the samples of the oracle are too few or too plain."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from scipy.integrate import quad
from scipy.special import digamma
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from ecuas_metric import confidence_ecuas_score, score_confidences
from ecuas_metric.calibration import confidence_bins
from ecuas_metric.groups import harmonic_numbers, tie_groups
from ecuas_metric.metric import Data
from ecuas_metric.order import AUGRC, augrc, aurc, auroc
from tests.ecuas_metric.systems import confidence_systems, groups_of


@given(confidence_systems())
def test_auroc_and_scores_of_confidences_are_scikit_learns(system):
    confidence, correct = system
    if 0 < correct.sum() < len(correct):
        assert auroc(groups_of(confidence, correct)) == pytest.approx(
            roc_auc_score(correct, confidence)
        )
    clipped = np.clip(confidence, 1e-7, 1 - 1e-7)
    values = score_confidences(correct, confidence)
    assert values["confidence_cross_entropy"] == pytest.approx(
        log_loss(correct, clipped, labels=[0, 1]), rel=1e-6, abs=2e-7
    )
    assert values["confidence_brier_score"] == pytest.approx(
        brier_score_loss(correct, confidence, pos_label=1)
    )


@pytest.mark.parametrize("share", [1e-10, 1e-17, 1e-300])
@pytest.mark.parametrize("rare", [0, 1])
def test_auroc_of_a_class_that_weighs_next_to_nothing(share, rare, rng):
    confidence = rng.integers(0, 10, 60) / 10
    correct = rng.integers(0, 2, 60)
    weights = np.where(correct == rare, share, 1.0) * rng.random(60)
    won = Fraction(0)
    total = Fraction(0)
    for i, j in itertools.product(np.flatnonzero(correct), np.flatnonzero(correct == 0)):
        product = Fraction(weights[i]) * Fraction(weights[j])
        total += product
        won += product * Fraction(int(np.sign(confidence[i] - confidence[j])) + 1, 2)
    ours = auroc(groups_of(confidence, correct, weights))
    assert ours == pytest.approx(float(won / total), rel=1e-13)


def test_the_bias_of_augrc_is_that_of_all_samples():
    u = np.array([0.1, 0.2, 0.2, 0.4])
    c = np.array([0.0, 1.0, 0.0, 1.0])
    groups = tie_groups(u, c)
    samples = map(list, itertools.product(range(4), repeat=3))
    mean = np.mean([augrc(tie_groups(u[rows], c[rows])) for rows in samples])
    bias = AUGRC.bias(Data(None, None, grouped=groups), augrc(groups), 3)
    assert mean - augrc(groups) == pytest.approx(bias)


def test_small_confidences_that_1_minus_q_merges_stay_apart():
    confidence = np.array([1e-20, 1e-30, 1e-25])
    assert auroc(groups_of(confidence, np.array([1, 0, 0]))) == 1


@pytest.mark.parametrize("size", [10.0, 1e3, 1e7, 1e15])
def test_large_counts_are_not_counted_one_by_one(size):
    """Of infinitely many: the integral of the risk, log 5/3 of it in the second group, by hand."""
    groups = tie_groups(
        np.array([0.1, 0.2, 0.3]),
        np.array([0.0, 1.0, 0.5]),
        sample_weight=np.array([3.0, 2.0, 1.0]) * size,
    )
    second = 2 - 3 * np.log(5 / 3)
    third = 0.5 - 2.5 * np.log(6 / 5) + 2 * np.log(6 / 5)
    assert aurc(groups) == pytest.approx((second + third) / 6, rel=1 / size + 1e-9)


def test_harmonic_numbers_of_few_and_of_many():
    counts = np.array([0.0, 1.0, 2.0, 10.0, 1e3, 1e7, 1e12])
    expected = digamma(counts + 1) + np.euler_gamma
    np.testing.assert_allclose(harmonic_numbers(counts), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("n_bins", [1, 7, 10, 15, 100, 1000])
def test_each_edge_opens_its_bin(n_bins):
    edges = np.arange(n_bins) / n_bins
    below = np.nextafter(edges[1:], 0)
    assert confidence_bins(edges, n_bins=n_bins).tolist() == list(range(n_bins))
    assert confidence_bins(below, n_bins=n_bins).tolist() == list(range(n_bins - 1))
    assert confidence_bins(np.ones(1), n_bins=n_bins).tolist() == [n_bins - 1]


def test_utility_over_risk_thresholds_is_1_minus_ecuas_0(rng):
    """1 for a correct answer, 0 for abstaining, -t / (1 - t) for a wrong one; who has threshold t answers if q >= t.

    The metric card says so of a measure that is not computed here.
    """
    correct = rng.integers(0, 2, 30)
    confidence = rng.random(30).round(2) * 0.98
    utility = [
        q if is_correct else quad(lambda t: -t / (1 - t), 0, q, epsabs=1e-13)[0]
        for is_correct, q in zip(correct, confidence, strict=True)
    ]
    score = confidence_ecuas_score(correct, confidence, n=0)
    assert 1 - score == pytest.approx(np.mean(utility), abs=1e-10)

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import digamma
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from ecuas_metric import confidence_ecuas_score
from ecuas_metric.calibration import confidence_bins, confidence_brier_cost, confidence_cross_entropy_cost, ece
from ecuas_metric.metric import Data
from ecuas_metric.options import checked_options
from ecuas_metric.order import AUGRC, augrc, aurc, auroc
from ecuas_metric.ranking import harmonic_numbers, tie_groups
from tests.ecuas_metric.systems import confidence_systems


def groups_of(confidence, correct, sample_weight=None):
    return tie_groups(-confidence, 1.0 - correct, sample_weight=sample_weight)


@given(confidence_systems())
def test_auroc_and_scores_of_confidences_are_scikit_learns(system):
    confidence, correct = system
    if 0 < correct.sum() < len(correct):
        assert auroc(groups_of(confidence, correct)) == pytest.approx(roc_auc_score(correct, confidence))
    clipped = np.clip(confidence, 1e-7, 1 - 1e-7)
    ce = confidence_cross_entropy_cost(1 - confidence, 1.0 - correct).mean()
    assert ce == pytest.approx(log_loss(correct, clipped, labels=[0, 1]), rel=1e-6)
    brier = confidence_brier_cost(1 - confidence, 1.0 - correct).mean()
    assert brier == pytest.approx(brier_score_loss(correct, confidence, pos_label=1))


@pytest.mark.parametrize("share", [1e-10, 1e-14, 1e-17, 1e-300])
@pytest.mark.parametrize("rare", [0, 1])
def test_auroc_of_a_class_that_weighs_next_to_nothing(share, rare, rng):
    confidence, correct = rng.integers(0, 10, 100) / 10, rng.integers(0, 2, 100)
    weights = np.where(correct == rare, share, 1.0) * rng.random(100)
    pairs = [(i, j) for i in np.flatnonzero(correct) for j in np.flatnonzero(correct == 0)]
    products = [Fraction(weights[i]) * Fraction(weights[j]) for i, j in pairs]
    wins = [Fraction(int(np.sign(confidence[i] - confidence[j])) + 1, 2) for i, j in pairs]
    expected = float(sum(p * win for p, win in zip(products, wins, strict=True)) / sum(products))
    assert auroc(groups_of(confidence, correct, weights)) == pytest.approx(expected, rel=1e-13)
    assert auroc(groups_of(np.full(100, 0.5), correct, weights)) == 0.5


@given(confidence_systems(min_size=2))
def test_augrc_is_a_function_of_auroc_and_accuracy(system):
    groups = groups_of(*system)
    accuracy = system[1].mean()
    if 0 < accuracy < 1:
        expected = (1 - auroc(groups)) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
        assert augrc(groups) == pytest.approx(expected)


def test_the_bias_of_augrc_is_that_of_all_samples():
    u, c = np.array([0.1, 0.2, 0.2, 0.4]), np.array([0.0, 1.0, 0.0, 1.0])
    whole, samples = tie_groups(u, c), map(list, itertools.product(range(4), repeat=3))
    mean = np.mean([augrc(tie_groups(u[rows], c[rows])) for rows in samples])
    assert mean - augrc(whole) == pytest.approx(AUGRC.bias(Data(None, None, grouped=whole), augrc(whole), 3))


def test_small_confidences_that_1_minus_q_merges_stay_apart():
    confidence, correct = np.array([1e-20, 1e-30, 1e-25]), np.array([1, 0, 0])
    assert auroc(groups_of(confidence, correct)) == 1


def test_large_counts_are_not_counted_one_by_one():
    uncertainty, cost = np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 0.5])
    for size in (10.0, 1e3, 1e7, 1e15):
        ours = aurc(tie_groups(uncertainty, cost, sample_weight=np.array([3.0, 2.0, 1.0]) * size))
        # Of infinitely many: the integral of the risk, log 5/3 of it in the second group, by hand.
        limit = (2 - 3 * np.log(5 / 3) + 0.5 * (1 - 5 * np.log(6 / 5)) + 2 * np.log(6 / 5)) / 6
        assert ours == pytest.approx(limit, rel=1 / size + 1e-9)


def test_the_unit_of_importance_does_not_matter_and_that_of_counts_does():
    confidence, correct = np.array([0.9, 0.8, 0.7, 0.6]), np.array([0, 1, 1, 1])
    one = [groups_of(confidence, correct, _weights([unit] * 4)) for unit in (1, 100, 100.5, 1e-300)]
    assert len({float(aurc(groups)) for groups in (*one, groups_of(confidence, correct))}) == 1
    many = aurc(groups_of(np.repeat(confidence, 100), np.repeat(correct, 100)))
    assert aurc(groups_of(confidence, correct, _weights([100] * 4, weights_are="counts"))) == pytest.approx(many)
    assert many == pytest.approx(0.596, abs=5e-4)


@given(st.permutations([0.0, 1e-9, 0.4, 1.0, 1.0, 2.3]))
def test_aurc_is_continuous_in_the_weights_also_at_0(weights):
    confidence, correct = np.array([0.9, 0.8, 0.8, 0.5, 0.3, 0.3]), np.array([0, 1, 0, 1, 1, 0])

    def at(change):
        return aurc(groups_of(confidence, correct, _weights(np.array(weights) + change)))

    for step in (1e-7, 1e-9):
        assert at(np.full(6, step)) == pytest.approx(at(0), abs=10 * step)
        assert at(step * np.arange(6) % 2) == pytest.approx(at(0), abs=10 * step)


def _weights(values, **options):
    return checked_options(sample_weight=values, **options).sample_weight


def test_harmonic_numbers_of_few_and_of_many():
    counts = np.array([0.0, 1.0, 2.0, 10.0, 1e3, 1e7, 1e12])
    np.testing.assert_allclose(harmonic_numbers(counts), digamma(counts + 1) + np.euler_gamma, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(harmonic_numbers(counts[:3]), [0, 1, 1.5], atol=1e-15)


def test_ece_of_all_wrong_at_one_decimal_is_that_decimal():
    for decimal in (0.1, 0.3, 0.6, 0.7, 0.9, 1.0):
        assert ece(np.full(7, decimal), np.ones(7)) == pytest.approx(decimal)


@pytest.mark.parametrize("n_bins", [1, 7, 10, 15, 100, 1000])
def test_each_edge_opens_its_bin(n_bins):
    edges = np.arange(n_bins) / n_bins
    assert confidence_bins(edges, n_bins=n_bins).tolist() == list(range(n_bins))
    below = np.nextafter(edges[1:], 0)
    assert confidence_bins(below, n_bins=n_bins).tolist() == list(range(n_bins - 1))


# What the metric card says of measures that are not computed here.


@pytest.fixture
def answers(rng):
    return rng.integers(0, 2, 60), rng.random(60).round(2) * 0.98


def test_utility_over_risk_thresholds_is_1_minus_ecuas_0(answers):
    """1 for a correct answer, 0 for abstaining, -t / (1 - t) for a wrong one; who has threshold t answers if q >= t."""

    def utility(correct, confidence):
        return quad(lambda t: 1.0 if correct else -t / (1 - t), 0, confidence, epsabs=1e-13)[0]

    mean = np.mean([utility(*answer) for answer in zip(*answers, strict=True)])
    assert 1 - confidence_ecuas_score(*answers, n=0) == pytest.approx(mean, abs=1e-10)
    assert 1 - confidence_ecuas_score(*answers, n=0, num_classes=4) != pytest.approx(mean, abs=1e-3)

"""What the metric card says of measures that are not computed here."""

import numpy as np
import pytest
from scipy.integrate import quad

from ecuas_metric import aurc_score, auroc_score, confidence_ecuas_score, ece_score


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


def test_area_under_accuracy_is_1_minus_aurc(rng):
    correct, confidence = rng.integers(0, 2, 50), rng.permutation(50) / 50
    accuracy = np.cumsum(correct[np.argsort(-confidence)]) / np.arange(1, 51)
    area = np.trapezoid(accuracy, np.arange(1, 51) / 50) / (1 - 1 / 50)
    assert 1 - aurc_score(correct, confidence) == pytest.approx(area, abs=1e-12)


def test_excess_aurc_is_0_in_the_best_order_whatever_the_errors(answers):
    correct, confidence = answers
    best = aurc_score(correct, 0.5 + 0.4 * correct)
    assert aurc_score(correct, confidence) > best
    assert auroc_score(correct, 0.5 + 0.4 * correct) == 1
    assert best > aurc_score(np.ones_like(correct), confidence) == 0  # which the answers alone decide


def test_debiased_ece_is_the_rms_calibration_error_without_its_bias(answers):
    correct, confidence = answers
    bins = np.minimum((confidence * 10 + 1e-9).astype(int), 9)
    gaps = [(confidence - correct)[bins == b].mean() ** 2 * (bins == b).mean() for b in np.unique(bins)]
    assert ece_score(correct, confidence, debiased=True) < np.sqrt(sum(gaps))

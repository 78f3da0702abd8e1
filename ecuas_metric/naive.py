"""The naive system, which ignores its input: the denominator of the normalised metrics."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .decisions import Graded, grade_posteriors
from .inputs import Floats, Ints
from .metrics import means

CONFIDENCE_KEYS = ("confidence_cross_entropy", "confidence_brier_score")


def naive_confidence_scores(graded: Graded, *, sample_weight: Floats | None = None) -> dict[str, float]:
    """Return the two confidence metrics of the constant confidence p = accuracy: H(p) (nats) and p (1 - p).

    References
    ----------
    Estienne et al., section "Analysis on UA classification systems" (normalisation).
    """
    error_rate = float(np.average(graded.candidate_cost, weights=sample_weight))
    p = 1 - error_rate
    entropy = 0.0 if p in (0, 1) else -p * math.log(p) - error_rate * math.log(error_rate)
    return dict(zip(CONFIDENCE_KEYS, (entropy, p * error_rate), strict=True))


def naive_posterior_scores(
    labels: Ints,
    *,
    num_classes: int,
    cost: Any,
    n: tuple[float, ...],
    reject_costs: tuple[float, ...],
    epsilon: float,
    sample_weight: Floats | None = None,
) -> dict[str, float]:
    """Return the metrics of the system that always outputs the class frequencies of `labels` (N,).

    Its candidate is the Bayes decision for these, the most frequent class under the 0-1 cost (lowest index on
    ties).

    Returns
    -------
    dict
        ``ecuas_{n:g}``, ``error_rate`` or ``risk``, ``cross_entropy``, ``brier_score``, ``expected_cost_{g:g}``.

    References
    ----------
    Estienne et al., section "Analysis on UA classification systems" (normalisation).
    """
    frequencies = np.bincount(labels, sample_weight, minlength=num_classes)
    frequencies = frequencies / frequencies.sum()
    present = np.flatnonzero(frequencies)
    graded = grade_posteriors(
        np.broadcast_to(frequencies, (len(present), num_classes)), present, cost=cost, epsilon=epsilon
    )
    values = means(graded, n=n, reject_costs=reject_costs, epsilon=epsilon, sample_weight=frequencies[present])
    return {
        key: float(value)
        for key, value in values.items()
        if not key.startswith(("confidence_", "coverage_", "selective_risk_"))
    }


def normalized_scores(scores: dict[str, float], naive_scores: dict[str, float]) -> dict[str, float]:
    """Divide each score by the naive system's; 0 there gives nan, with a warning."""
    zeros = [key for key, value in naive_scores.items() if value == 0]
    if zeros:
        warnings.warn(f"The naive system costs nothing, so that these are nan: {', '.join(zeros)}.", stacklevel=2)
    return {f"normalized_{key}": scores[key] / value if value else math.nan for key, value in naive_scores.items()}

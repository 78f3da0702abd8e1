"""The naive system, which ignores its input: the denominator of the normalised metrics.

It outputs the class frequencies q_0 of the very data it is judged on. All its samples share one uncertainty
u_0 = min_d q_0.C[:, d], which is also their mean cost, and every cost is affine in the candidate cost: so each of its
metrics is a closed form of q_0.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .baselines import sums_in_bins
from .costs import accepted, ecuas_cost
from .inputs import FloatOrFloats, Floats, Ints


def naive_confidence_scores(error_rate: FloatOrFloats) -> dict[str, FloatOrFloats]:
    """Return the two confidence metrics of the constant confidence p = accuracy: H(p) (nats) and p (1 - p).

    References
    ----------
    Estienne et al., section "Analysis on UA classification systems" (normalisation).
    """
    p = np.stack([error_rate, 1 - np.asarray(error_rate)], axis=-1)
    return {"confidence_cross_entropy": _entropy(p), "confidence_brier_score": p.prod(axis=-1)}


def naive_posterior_scores(
    labels: Ints,
    *,
    num_classes: int,
    cost: Any,
    max_uncertainty: float,
    n: tuple[float, ...],
    reject_costs: tuple[float, ...] = (),
    epsilon: float = 1e-7,
    sample_weight: Floats | None = None,
) -> dict[str, FloatOrFloats]:
    """Return the metrics of the system that always outputs the class frequencies of `labels` (N,).

    Its candidate is the Bayes decision for these, the most frequent class under the 0-1 cost.

    Parameters
    ----------
    labels : ndarray, shape (N,)
        In [0, `num_classes`).
    cost, max_uncertainty, n, reject_costs, epsilon
        As of `decisions.grade_posteriors`, `Graded` and `metrics.scores`.
    sample_weight : ndarray, shape (..., N), optional
        The frequencies are weighted too.

    Returns
    -------
    dict
        ``ecuas_{n:g}``, ``error_rate`` or ``risk``, ``cross_entropy``, ``brier_score``, ``expected_cost_{g:g}``, each
        a float, or an array of shape (...).

    References
    ----------
    Estienne et al., section "Analysis on UA classification systems" (normalisation).
    """
    counts = sums_in_bins(np.ones(len(labels)), labels, n_bins=num_classes, sample_weight=sample_weight)
    q = counts / counts.sum(axis=-1, keepdims=True)
    u = np.minimum(_uncertainty(q, cost), max_uncertainty)
    limits = {"max_uncertainty": max_uncertainty, "epsilon": epsilon}
    is_zero_one = isinstance(cost, str) and cost == "zero_one"
    return {
        **{f"ecuas_{order:g}": ecuas_cost(u, u, n=order, **limits) for order in n},
        "error_rate" if is_zero_one else "risk": u,
        "cross_entropy": _entropy(q),
        "brier_score": 1 - np.square(q).sum(axis=-1),
        **{
            f"expected_cost_{g:g}": np.where(accepted(u, reject_cost=g, max_uncertainty=max_uncertainty), u, g)
            for g in reject_costs
        },
    }


def normalized_scores(
    scores: dict[str, FloatOrFloats], naive_scores: dict[str, FloatOrFloats]
) -> dict[str, FloatOrFloats]:
    """Divide each score by the naive system's; 0 there gives nan, with a warning if there is one set of weights."""
    zeros = [key for key, value in naive_scores.items() if np.ndim(value) == 0 and value == 0]
    if zeros:
        warnings.warn(f"The naive system costs nothing, so that these are nan: {', '.join(zeros)}.", stacklevel=2)
    return {
        f"normalized_{key}": scores[key] / np.where(np.asarray(value) > 0, value, np.nan)
        for key, value in naive_scores.items()
    }


def _uncertainty(q: Floats, cost: Any) -> FloatOrFloats:
    if not isinstance(cost, str):
        return (q @ np.asarray(cost, np.float64)).min(axis=-1)
    return _entropy(q) if cost == "log" else 1 - q.max(axis=-1)


def _entropy(q: Floats) -> FloatOrFloats:
    return -(q * np.log(np.where(q > 0, q, 1.0))).sum(axis=-1)

"""What a metric is set beside: the value of the naive system, which normalises it, and that after recalibration.

The naive system ignores its input and outputs the class frequencies q_0 of the very data it is evaluated on. All its
samples share one uncertainty u_0 = min_d q_0.C[:, d], which is also their mean cost, and every cost is affine in the
candidate cost: so each of its metrics is a closed form of q_0. Recalibration keeps the order of the uncertainties: how
much of an ECUAS_n it alone would save is the calibration loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .baselines import sums_in_bins
from .costs import accepted, ecuas_cost
from .decisions import Decisions
from .inputs import FloatOrFloats, Floats, Ints
from .metrics import Key, Ties, Weights
from .options import Options
from .ranking import ResampledTies, Resamples, TieGroups

Isotonic = Callable[[Floats, Floats], Floats]  # values and weights, (G,) each -> their isotonic regression


def naive_values(
    decisions: Decisions, options: Options, *, sample_weight: Weights | None = None
) -> dict[Key, FloatOrFloats]:
    """Return the naive system's value of every metric that has one for this form of input.

    Parameters
    ----------
    decisions : Decisions
        Of the system to be compared with it.
    options : Options
        With the number K of classes.
    sample_weight : ndarray, shape (..., N), or Resamples, optional
        The frequencies are weighted too.

    Returns
    -------
    dict of Key to float, or to ndarray of shape (...)

    References
    ----------
    Estienne et al., section "Analysis on UA classification systems" (normalisation).
    """
    if isinstance(sample_weight, Resamples):
        return sample_weight.each(lambda weight: naive_values(decisions, options, sample_weight=weight))
    values: dict[Key, FloatOrFloats] = {}
    if decisions.confidence is not None:
        values |= _of_confidences(decisions.candidate_cost, sample_weight)
    if decisions.labels is not None:
        u_max = decisions.max_uncertainty
        values |= _of_posteriors(decisions.labels, options, max_uncertainty=u_max, sample_weight=sample_weight)
    return values


def normalized_values(
    values: Mapping[Key, FloatOrFloats], naive: Mapping[Key, FloatOrFloats]
) -> dict[Key, FloatOrFloats]:
    """Divide each value by the naive system's; nan where that is 0."""
    return {
        key._replace(variant="normalized"): values[key] / np.where(np.asarray(value) > 0, value, np.nan)
        for key, value in naive.items()
    }


def recalibrated_values(ties: Ties, options: Options, *, max_uncertainty: float) -> dict[Key, FloatOrFloats]:
    """Return each ECUAS_n after the best monotone recalibration of the uncertainties, fitted on the same data.

    The uncertainties are replaced by the isotonic regression of the candidate costs on them: among all maps that
    preserve their order, the pool-adjacent-violators solution is optimal for every proper score at once. The metric
    minus this value is its calibration loss; the rest is due to the decisions and to the order.

    Parameters
    ----------
    ties : TieGroups or ResampledTies
    options : Options
        Of which n and epsilon are used.
    max_uncertainty : float
        u_M of the decisions.

    Returns
    -------
    dict of Key to float, or to ndarray of shape (...)
        At most the ECUAS_n itself, and the same for any strictly increasing map of the uncertainties. (The
        floor `epsilon` can undercut it by about as much.)

    References
    ----------
    Brummer and du Preez 2013, "The PAV algorithm optimizes binary proper scoring rules".
    """
    if isinstance(ties, ResampledTies):
        return ties.each(lambda groups: recalibrated_values(groups, options, max_uncertainty=max_uncertainty))
    regression, shape = _isotonic_regression(), ties.weight.shape[:-1]
    rows = [
        _best_values(weight, cost, regression, options, max_uncertainty)
        for weight, cost in zip(*(a.reshape(-1, a.shape[-1]) for a in (ties.weight, ties.cost)), strict=True)
    ]
    columns = np.array(rows).T.reshape(len(options.n), *shape)
    return {Key("ecuas", n, "recalibrated"): column[()] for n, column in zip(options.n, columns, strict=True)}


def recalibrated_uncertainty(ties: TieGroups, *, max_uncertainty: float) -> Floats:
    """Return the uncertainty of each tie group, shape (G,), after the best monotone recalibration.

    Parameters
    ----------
    ties : TieGroups
        With one set of weights. A group without weight has the uncertainty of the one before it.
    max_uncertainty : float
    """
    held = ties.weight > 0
    u = _best_uncertainty(ties.weight[held], ties.cost[held], _isotonic_regression(), max_uncertainty)
    return np.asarray(u[np.maximum(np.cumsum(held) - 1, 0)])


def _of_confidences(incorrect: Floats, sample_weight: Floats | None) -> dict[Key, FloatOrFloats]:
    """Return the two confidence metrics of the constant confidence p = accuracy: H(p) (nats) and p (1 - p)."""
    both = np.stack([incorrect, 1 - incorrect], axis=-1)  # each summed for itself: one that is missing is exactly 0
    p = _shares(both.sum(axis=0) if sample_weight is None else sample_weight @ both)
    return {Key("confidence_cross_entropy"): _entropy(p), Key("confidence_brier_score"): p.prod(axis=-1)}


def _of_posteriors(
    labels: Ints, options: Options, *, max_uncertainty: float, sample_weight: Floats | None
) -> dict[Key, FloatOrFloats]:
    """Return the metrics of the system that always outputs the class frequencies of `labels`.

    Its candidate is the Bayes decision for these, the most frequent class under the 0-1 cost.
    """
    num_classes = int(options.num_classes or 0)
    q = _shares(sums_in_bins(np.ones(len(labels)), labels, n_bins=num_classes, sample_weight=sample_weight))
    u = np.minimum(_uncertainty(q, options.cost), max_uncertainty)
    is_zero_one = isinstance(options.cost, str) and options.cost == "zero_one"
    values = {
        Key("ecuas", n): ecuas_cost(u, u, n=n, max_uncertainty=max_uncertainty, epsilon=options.epsilon)
        for n in options.n
    }
    values[Key("error_rate" if is_zero_one else "risk")] = u
    values[Key("cross_entropy")] = _entropy(q)
    values[Key("brier_score")] = 1 - np.square(q).sum(axis=-1)
    for g in options.reject_costs:
        accepts = accepted(u, reject_cost=g, max_uncertainty=max_uncertainty)
        values[Key("expected_cost", g)] = np.where(accepts, u, g)
    return values


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(counts / np.where(total > 0, total, 1.0))  # a resample may hold nothing that weighs: all is nan


def _uncertainty(q: Floats, cost: str | Floats) -> FloatOrFloats:
    if not isinstance(cost, str):
        return (q @ cost).min(axis=-1)
    return _entropy(q) if cost == "log" else 1 - q.max(axis=-1)


def _entropy(q: Floats) -> FloatOrFloats:
    return -(q * np.log(np.where(q > 0, q, 1.0))).sum(axis=-1)


def _best_values(
    weight: Floats, cost: Floats, regression: Isotonic, options: Options, max_uncertainty: float
) -> list[float]:
    """Return each ECUAS_n of tie groups, shape (G,), whose uncertainties are the isotonic regression of their costs."""
    weight, cost = weight[weight > 0], cost[weight > 0]
    u = _best_uncertainty(weight, cost, regression, max_uncertainty)
    # The cost of a sample is affine in its candidate cost: a group costs what its mean would.
    mean_cost = cost / weight
    costs = (ecuas_cost(u, mean_cost, n=n, max_uncertainty=max_uncertainty, epsilon=options.epsilon) for n in options.n)
    return [float(weight @ cost / weight.sum()) for cost in costs]


def _best_uncertainty(weight: Floats, cost: Floats, regression: Isotonic, max_uncertainty: float) -> Floats:
    return np.asarray(np.clip(regression(cost / weight, weight), 0.0, max_uncertainty))


def _isotonic_regression() -> Isotonic:
    from scipy.optimize import isotonic_regression

    return lambda values, weights: np.asarray(isotonic_regression(values, weights=weights).x)

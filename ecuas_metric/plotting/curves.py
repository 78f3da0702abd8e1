"""What plots need, as plain arrays: one small named tuple a curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..baselines import confidence_bins, sums_in_bins
from ..costs import ROUNDING, above, ecuas_cost
from ..decisions import Graded
from ..inputs import Floats, Ints
from ..ranking import tie_groups


class RiskCoverage(NamedTuple):
    """Mean cost of the accepted samples, shape (G,), at each coverage in (0, 1] that a threshold can reach."""

    coverage: Floats
    risk: Floats


class RejectCostCurve(NamedTuple):
    """For each reject cost, shape (M,): the mean cost and coverage, and the mean costs of two trivial systems.

    `accept_all` and `reject_all` ignore the uncertainties; a system is of use where it costs less than both.
    """

    reject_cost: Floats
    expected_cost: Floats
    coverage: Floats
    accept_all: Floats
    reject_all: Floats


class Reliability(NamedTuple):
    """For each bin of confidences, shape (n_bins,): edges, mean confidence, accuracy (nan if empty), size, share."""

    low: Floats
    high: Floats
    confidence: Floats
    accuracy: Floats
    counts: Ints
    shares: Floats


class ConfidenceCost(NamedTuple):
    """The ECUAS_n cost of a correct and of an incorrect answer at each confidence, shape (M,)."""

    confidence: Floats
    correct: Floats
    incorrect: Floats


class OrderCurve(NamedTuple):
    """ECUAS_n at each n, shape (M,)."""

    n: Floats
    ecuas: Floats


def risk_coverage(graded: Graded, *, sample_weight: Floats | None = None) -> RiskCoverage:
    """Return the risk at each coverage a threshold on the uncertainty can reach: one point a tie group.

    References
    ----------
    El-Yaniv and Wiener 2010; Estienne et al., Equation ecuas_gamma for coverage and selective risk.

    Examples
    --------
    >>> from ecuas_metric.decisions import grade_confidences
    >>> risk_coverage(grade_confidences(np.array([0.9, 0.5, 0.5, 0.2]), np.array([1, 1, 0, 0]))).risk.round(2).tolist()
    [0.0, 0.33, 0.5]
    """
    groups = tie_groups(graded.rank_by, graded.candidate_cost, sample_weight=sample_weight)
    some = groups.weight_until > 0
    until = groups.weight_until[some]
    return RiskCoverage(until / until[-1], groups.cost_until[some] / until)


def reject_cost_curve(graded: Graded, *, num_points: int = 201, sample_weight: Floats | None = None) -> RejectCostCurve:
    """Return expected cost and coverage against the reject cost, from 0 to the largest uncertainty.

    Parameters
    ----------
    graded : Graded
    num_points : int
        Number of reject costs, evenly spaced.

    References
    ----------
    Estienne et al., Equation ecuas_gamma.
    """
    u_max = graded.max_uncertainty
    reject_cost = np.linspace(0, u_max, num_points)
    groups = tie_groups(graded.uncertainty, graded.candidate_cost, sample_weight=sample_weight)
    values = np.unique(graded.uncertainty)
    acceptable = np.searchsorted(values, reject_cost + ROUNDING * u_max, side="right")
    acceptable = np.minimum(acceptable, np.count_nonzero(~above(values, u_max)))  # never above u_M, as costs.accepted
    num = groups.weight_until[-1]
    count = np.concatenate([[0.0], groups.weight_until])[acceptable]
    cost = np.concatenate([[0.0], groups.cost_until])[acceptable]
    risk = groups.cost_until[-1] / num
    return RejectCostCurve(
        reject_cost,
        expected_cost=(cost + reject_cost * (num - count)) / num,
        coverage=count / num,
        accept_all=np.full(num_points, risk),
        reject_all=reject_cost,
    )


def reliability(graded: Graded, *, n_bins: int = 10, sample_weight: Floats | None = None) -> Reliability:
    """Return accuracy against mean confidence in the bins of ECE.

    Raises
    ------
    ValueError
        If the system was not graded by the 0-1 cost, and so has no confidences.
    """
    if graded.confidence is None:
        raise ValueError("reliability needs confidences: a system graded by the 0-1 cost.")
    bins = confidence_bins(graded.confidence, n_bins=n_bins)
    sums: dict[str, Any] = {"n_bins": n_bins, "sample_weight": sample_weight}
    weight = sums_in_bins(np.ones(len(bins)), bins, **sums)
    some = np.where(weight > 0, weight, np.nan)
    edges = np.arange(n_bins + 1) / n_bins
    return Reliability(
        edges[:-1],
        edges[1:],
        confidence=sums_in_bins(graded.confidence, bins, **sums) / some,
        accuracy=sums_in_bins(1 - graded.candidate_cost, bins, **sums) / some,
        counts=np.bincount(bins, minlength=n_bins),
        shares=weight / weight.sum(),
    )


def confidence_cost(
    *, n: float, num_classes: float | None = None, epsilon: float = 1e-7, num_points: int = 201
) -> ConfidenceCost:
    """Return what a correct and an incorrect answer cost at each confidence from 1/K to 1.

    References
    ----------
    Estienne et al., Figure "C_n as a function of the confidence".

    Examples
    --------
    >>> curve = confidence_cost(n=1, num_classes=2, num_points=3)
    >>> curve.confidence.tolist(), curve.correct.tolist(), curve.incorrect.tolist()
    ([0.5, 0.75, 1.0], [1.0, 0.25, 0.0], [1.0, 2.25, 4.0])
    """
    u_max = 1.0 if num_classes is None else 1 - 1 / num_classes
    uncertainty = np.linspace(u_max, 0, num_points)
    right, wrong = (
        ecuas_cost(uncertainty, np.full(num_points, cost), n=n, max_uncertainty=u_max, epsilon=epsilon)
        for cost in (0.0, 1.0)
    )
    return ConfidenceCost(1 - uncertainty, right, wrong)


def order_curve(
    graded: Graded, *, n: ArrayLike | None = None, epsilon: float = 1e-7, sample_weight: Floats | None = None
) -> OrderCurve:
    """Return ECUAS_n against n, by default at 0 and at 60 values from 0.01 to 1000, evenly spaced in logarithm."""
    orders = np.r_[0.0, np.geomspace(0.01, 1000, 60)] if n is None else np.asarray(n, np.float64)
    limits = {"max_uncertainty": graded.max_uncertainty, "epsilon": epsilon}
    uncertainty = np.minimum(graded.uncertainty, graded.max_uncertainty)
    costs = (ecuas_cost(uncertainty, graded.candidate_cost, n=order, **limits) for order in orders)
    return OrderCurve(orders, np.array([np.average(cost, weights=sample_weight) for cost in costs]))

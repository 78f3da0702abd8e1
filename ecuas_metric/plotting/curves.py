"""What plots need, as plain arrays: one small named tuple per curve, from the one sort of a system."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..calibration import confidence_bins, sums_in_bins
from ..costs import ROUNDING, above, ecuas_cost
from ..errors import InputError
from ..inputs import Floats, Ints
from ..results import System


class RiskCoverage(NamedTuple):
    """Mean cost of the accepted samples, shape (G,), at each coverage in (0, 1] that a threshold can reach."""

    coverage: Floats
    risk: Floats


class RejectCostCurve(NamedTuple):
    """Mean cost and coverage at each reject cost (M,), and the mean cost of accepting all and of rejecting all."""

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


def risk_coverage(system: System) -> RiskCoverage:
    """Return the risk at each (increasing) coverage that a threshold on the uncertainty reaches: one per group."""
    ties = system.ties
    some = ties.weight_until > 0
    until = ties.weight_until[some]
    return RiskCoverage(until / until[-1], ties.cost_until[some] / until)


def reject_cost_curve(
    system: System, *, num_points: int = 201, reject_cost: ArrayLike | None = None
) -> RejectCostCurve:
    """Return expected cost and coverage against the reject cost: the M given, or `num_points` from 0 to u_M."""
    u_max, ties = system.decisions.max_uncertainty, system.ties
    at = np.linspace(0, u_max, num_points) if reject_cost is None else np.asarray(reject_cost, np.float64)
    values = system.decisions.uncertainty_at(ties.rank)
    acceptable = np.searchsorted(values, at + ROUNDING * u_max, side="right")
    acceptable = np.minimum(acceptable, np.count_nonzero(~above(values, u_max)))  # never above u_M, as costs.accepted
    num = ties.weight_until[-1]
    count = np.concatenate([[0.0], ties.weight_until])[acceptable]
    cost = np.concatenate([[0.0], ties.cost_until])[acceptable]
    return RejectCostCurve(
        at,
        expected_cost=(cost + at * (num - count)) / num,
        coverage=count / num,
        accept_all=np.full(len(at), ties.cost_until[-1] / num),
        reject_all=at,
    )


def reliability(system: System) -> Reliability:
    """Return accuracy against mean confidence in the bins of ECE; raises InputError without confidences."""
    decisions, weights, n_bins = system.decisions, system.options.sample_weight, system.options.n_bins
    if decisions.confidence is None:
        raise InputError("a reliability diagram", "needs_confidences")
    bins = confidence_bins(decisions.confidence, n_bins=n_bins)
    correct = 1 - decisions.candidate_cost
    weight, confidence, accuracy = (
        sums_in_bins(values, bins, n_bins=n_bins, sample_weight=weights)
        for values in (np.ones(len(bins)), decisions.confidence, correct)
    )
    some = np.where(weight > 0, weight, np.nan)
    edges = np.arange(n_bins + 1) / n_bins
    counts = np.bincount(bins, minlength=n_bins)
    return Reliability(edges[:-1], edges[1:], confidence / some, accuracy / some, counts, weight / weight.sum())


def confidence_cost(
    *, n: float, num_classes: float | None = None, epsilon: float = 1e-7, num_points: int = 201
) -> ConfidenceCost:
    """Return the ECUAS_n costs of a correct (0 at 1) and a wrong answer at confidences from 1/K (1 for both) to 1."""
    u_max = 1.0 if num_classes is None else 1 - 1 / num_classes
    uncertainty = np.linspace(u_max, 0, num_points)
    costs = partial(ecuas_cost, uncertainty=uncertainty, n=n, max_uncertainty=u_max, epsilon=epsilon)
    right, wrong = (costs(candidate_cost=np.full(num_points, cost)) for cost in (0.0, 1.0))
    return ConfidenceCost(1 - uncertainty, right, wrong)


def order_curve(system: System, *, n: ArrayLike | None = None) -> OrderCurve:
    """Return ECUAS_n against n: the M values given, or 0 and 60 from 0.01 to 1000, evenly spaced in logarithm."""
    orders = np.r_[0.0, np.geomspace(0.01, 1000, 60)] if n is None else np.asarray(n, np.float64)
    decisions, options = system.decisions, system.options
    u_max, weights = decisions.max_uncertainty, options.sample_weight
    u = np.minimum(decisions.uncertainty, u_max)
    costs = partial(ecuas_cost, uncertainty=u, candidate_cost=decisions.candidate_cost, max_uncertainty=u_max)
    costs = partial(costs, epsilon=options.floor)
    return OrderCurve(orders, np.array([np.average(costs(n=order), weights=weights) for order in orders]))

"""What plots need, as plain arrays: one small record per curve, from the one sort of a system, and intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..abstentions import select_answered_samples
from ..audit import refuse_audit
from ..calibration import confidence_bins
from ..costs import ECUAS_N, EXPECTED_COST, ROUNDING, are_above_maximum, ecuas_cost
from ..errors import InputError
from ..groups import sum_parts
from ..inputs import NO_LIMITS, Floats, Ints, Limits, parse_numbers
from ..intervals import analytic_intervals, limit_selected_mean, merge_to_limit
from ..metric import Key, Metric
from ..metrics import metric_values
from ..results import System, compute_results, make_answers


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Mean cost of the accepted samples, shape (G,), at each coverage in (0, 1] that a threshold can reach."""

    coverage: Floats
    risk: Floats


@dataclass(frozen=True, slots=True)
class RejectCostCurve:
    """Mean cost and coverage at each reject cost (M,), and the mean cost of accepting all and of rejecting all."""

    reject_cost: Floats
    expected_cost: Floats
    coverage: Floats
    accept_all: Floats
    reject_all: Floats


@dataclass(frozen=True, slots=True)
class Reliability:
    """For each bin of confidences, shape (n_bins,): edges, mean confidence, accuracy (nan if empty), size, share."""

    low: Floats
    high: Floats
    confidence: Floats
    accuracy: Floats
    counts: Ints
    shares: Floats


@dataclass(frozen=True, slots=True)
class ConfidenceCost:
    """The ECUAS_n cost of a correct and of an incorrect answer at each confidence, shape (M,)."""

    confidence: Floats
    correct: Floats
    incorrect: Floats


@dataclass(frozen=True, slots=True)
class OrderCurve:
    """ECUAS_n at each n, shape (M,)."""

    n: Floats
    ecuas: Floats


def risk_coverage(system: System) -> RiskCoverage:
    """Return the risk at each (increasing) coverage that a threshold on the uncertainty reaches: one per group."""
    ties = system.ties
    has_weight = ties.weight_until > 0
    until = ties.weight_until[has_weight]
    return RiskCoverage(until / until[-1], ties.cost_until[has_weight] / until)


def reject_cost_curve(
    system: System, *, num_points: int = 201, reject_cost: ArrayLike | None = None
) -> RejectCostCurve:
    """Return expected cost and coverage against the reject cost: the M given, or `num_points` from 0 to u_M."""
    u_max = system.decisions.max_uncertainty
    if reject_cost is None:
        reject_cost = np.linspace(0, u_max, num_points)
    at = parse_numbers(reject_cost, "reject_cost").astype(np.float64, copy=False)
    ties = system.ties
    uncertainty = system.decisions.uncertainty_from_rank(ties.rank)
    acceptable = np.count_nonzero(
        ~are_above_maximum(uncertainty, u_max)
    )  # never above u_M, as costs.are_accepted
    last = np.minimum(np.searchsorted(uncertainty, at + ROUNDING * u_max, side="right"), acceptable)
    total = ties.weight_until[-1]
    count = np.append(0.0, ties.weight_until)[last]
    cost = np.append(0.0, ties.cost_until)[last]
    return RejectCostCurve(
        at,
        expected_cost=(cost + at * (total - count)) / total,
        coverage=count / total,
        accept_all=np.full(len(at), ties.cost_until[-1] / total),
        reject_all=at,
    )


def reliability(system: System) -> Reliability:
    """Return accuracy against mean confidence in the bins of ECE; raises InputError without confidences."""
    refuse_audit(system, "a reliability diagram")
    decisions, options = select_answered_samples(system.decisions, system.options)
    confidence = decisions.confidence
    n_bins = options.n_bins
    if confidence is None:
        raise InputError("a reliability diagram", "needs confidences: a system under the 0-1 cost")
    bins = confidence_bins(confidence, n_bins=n_bins)

    each = options.weights(len(bins))

    def sums(values: Floats) -> Floats:
        return sum_parts(bins, each * values, n_bins)

    weight = sums(np.ones(len(bins)))
    divisor = np.where(weight > 0, weight, np.nan)
    edges = np.arange(n_bins + 1) / n_bins
    return Reliability(
        edges[:-1],
        edges[1:],
        confidence=sums(confidence) / divisor,
        accuracy=sums(1 - decisions.candidate_cost) / divisor,
        counts=np.bincount(bins, minlength=n_bins),
        shares=weight / weight.sum(),
    )


def confidence_cost(*, n: float, num_classes: float | None = None) -> ConfidenceCost:
    """Return the ECUAS_n costs of a correct (0 at 1) and a wrong answer at confidences from 1/K (1 for both) to 1."""
    u_max = 1.0 if num_classes is None else 1 - 1 / num_classes
    u = np.linspace(u_max, 0, 201)
    correct, incorrect = (
        ecuas_cost(candidate_cost=np.full(len(u), cost), uncertainty=u, n=n, max_uncertainty=u_max)
        for cost in (0.0, 1.0)
    )
    return ConfidenceCost(1 - u, correct, incorrect)


def order_curve(system: System, *, n: ArrayLike | None = None) -> OrderCurve:
    """Return ECUAS_n against n: the M values given, or 0 and 60 from 0.01 to 1000, evenly spaced in logarithm."""
    if n is None:
        n = np.append(0.0, np.geomspace(0.01, 1000, 60))
    orders = parse_numbers(n, "n").astype(np.float64, copy=False)
    keys = [Key(ECUAS_N.name, order) for order in orders.tolist()]
    values = metric_values(system.decisions, system.ties, system.options, keys=keys)
    return OrderCurve(orders, np.array([values[key] for key in keys]))


# ---- intervals, point by point, from the influences of the samples: no resampling -----------------------------------


_ROUNDING = 1e-12  # of a coverage, relative


@dataclass(frozen=True, slots=True)
class Band:
    """The limits of the intervals at each point of a curve, shape (M,); nan where there is none."""

    low: Floats
    high: Floats


def risk_band(system: System, coverage: Floats) -> Band:
    """Return the intervals of the risk at increasing coverages (M,) in (0, 1], at the thresholds that reach them."""
    if system.audit is not None:
        return _band([NO_LIMITS] * len(coverage))
    answers = merge_to_limit(make_answers(system))
    coverage = parse_numbers(coverage, "coverage")
    until = np.cumsum(answers.groups.weight) / answers.groups.total
    last = np.searchsorted(until, coverage * (1 - _ROUNDING))
    groups = np.arange(len(until))
    return _band([limit_selected_mean(answers, groups <= group) for group in last])


def reject_cost_band(system: System, reject_cost: Floats) -> Band:
    """Return the intervals of the expected cost at reject costs (M,)."""
    return _mean_band(system, EXPECTED_COST, reject_cost)


def order_band(system: System, n: Floats) -> Band:
    """Return the intervals of ECUAS_n at each n (M,)."""
    return _mean_band(system, ECUAS_N, n)


def _mean_band(system: System, metric: Metric, parameters: Floats) -> Band:
    """Return the analytic intervals of a metric that is a mean, at each parameter (M,)."""
    keys = [
        Key(metric.name, value) for value in parse_numbers(parameters, metric.parameter).tolist()
    ]
    if system.audit is not None:
        found = compute_results(system, only=keys).estimates
        return _band([found[key].limits for key in keys])
    values = metric_values(system.decisions, system.ties, system.options, keys=keys)
    limits = analytic_intervals(make_answers(system), values).limits
    return _band([limits[key] for key in keys])


def accuracy_band(system: System) -> Band:
    """Return the intervals of the accuracy in each bin of ECE; nan if it is empty."""
    answers = make_answers(system)
    confidence = answers.template.confidence
    assert confidence is not None
    assert answers.rows is not None
    n_bins = system.options.n_bins
    bins = np.empty(len(answers.groups.weight), np.int64)
    bins[answers.rows().group] = confidence_bins(confidence, n_bins=n_bins)
    risks = [limit_selected_mean(answers, bins == i) for i in range(n_bins)]
    return _band([(1 - high, 1 - low) for low, high in risks])


def _band(limits: list[Limits]) -> Band:
    low, high = np.array(limits).reshape(-1, 2).T
    return Band(low, high)

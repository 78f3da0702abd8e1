"""Intervals of curves, point by point, from the influences of the samples: no resampling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..calibration import confidence_bins
from ..costs import ecuas_of_checked, fixed_of_checked
from ..expected_costs import ECUAS_N, EXPECTED_COST
from ..inputs import Bools, Floats, Limits
from ..intervals import analytic_intervals, limits_on_log_scale, share_limits
from ..metric import Key
from ..results import System, without_weight_0
from ..sampling import NONE, Design, design_of, effective_size, quantile_of, standard_error

_ROUNDING = 1e-12  # of a coverage, relative


@dataclass(frozen=True, slots=True)
class Band:
    """The limits of the intervals at each point of a curve, shape (M,); nan where there is none."""

    low: Floats
    high: Floats


def risk_band(system: System, coverage: Floats) -> Band:
    """Return the intervals of the risk at increasing coverages (M,) in (0, 1], at the thresholds that reach them."""
    cost = system.decisions.candidate_cost
    rank_by = system.decisions.rank_by
    design = _design(system)
    until = np.cumsum(design.weight)
    last = np.searchsorted(until, coverage * (1 - _ROUNDING))
    thresholds = rank_by[np.minimum(last, len(until) - 1)]
    return _band([_of_chosen(system, design, cost, rank_by <= threshold) for threshold in thresholds])


def reject_cost_band(system: System, reject_cost: Floats) -> Band:
    """Return the intervals of the expected cost at reject costs (M,)."""
    decisions = system.decisions
    costs = (
        fixed_of_checked(
            decisions.uncertainty,
            decisions.candidate_cost,
            reject_cost=value,
            max_uncertainty=decisions.max_uncertainty,
        )
        for value in reject_cost
    )
    return _mean_band(system, [Key(EXPECTED_COST.name, value) for value in reject_cost.tolist()], costs)


def order_band(system: System, n: Floats) -> Band:
    """Return the intervals of ECUAS_n at each n (M,)."""
    decisions = system.decisions
    u_max = decisions.max_uncertainty
    u = np.minimum(decisions.uncertainty, u_max)
    epsilon = system.options.floor
    costs = (
        ecuas_of_checked(u, decisions.candidate_cost, n=order, max_uncertainty=u_max, epsilon=epsilon) for order in n
    )
    return _mean_band(system, [Key(ECUAS_N.name, order) for order in n.tolist()], costs)


def accuracy_band(system: System) -> Band:
    """Return Wilson's intervals of the accuracy in each bin of ECE, with effective numbers of samples; nan if empty."""
    confidence = system.decisions.confidence
    assert confidence is not None
    n_bins = system.options.n_bins
    bins = confidence_bins(confidence, n_bins=n_bins)
    correct = 1 - system.decisions.candidate_cost
    design = _design(system)
    return _band([_of_chosen(system, design, correct, bins == index) for index in range(n_bins)])


def _mean_band(system: System, keys: Iterable[Key], costs: Iterable[Floats]) -> Band:
    """Return the analytic intervals of means of costs (N,)."""
    weight = system.options.sample_weight
    values = {key: float(np.average(cost, weights=weight)) for key, cost in zip(keys, costs, strict=True)}
    limits = analytic_intervals(*without_weight_0(system), values).limits
    return _band([limits[key] for key in values])


def _of_chosen(system: System, design: Design, values: Floats, chosen: Bools) -> Limits:
    """Return the limits of the mean of the chosen values (N,): Wilson's where costs are 0 and 1."""
    level = system.options.confidence_level or 0.0
    share = float(design.weight @ chosen)
    if not share:
        return NONE
    mean = float(design.weight @ (values * chosen)) / share
    error = standard_error(chosen * (values - mean) / share, design)
    if system.decisions.confidence is None:
        return limits_on_log_scale(mean, quantile_of(design, level) * error)
    rarer = chosen * (values if mean < 0.5 else 1 - values)
    if not rarer.any():  # it is 0 or 1, whatever rounding made of a sum of weights
        mean = float(round(mean))
        error = 0.0
    size = mean * (1 - mean) / error**2 if error > 0 else effective_size(design.weight[chosen])
    return share_limits(mean, size, quantile_of(design, level, rarer))


def _band(limits: list[Limits]) -> Band:
    low, high = np.array(limits).reshape(-1, 2).T
    return Band(low, high)


def _design(system: System) -> Design:
    """Return how the samples were drawn."""
    return design_of(system.options, len(system.decisions.uncertainty))

"""Intervals of curves, point by point, from the influences of the samples: no resampling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..calibration import confidence_bins
from ..costs import ecuas_of_checked, fixed_of_checked
from ..expected_costs import ECUAS_N, EXPECTED_COST
from ..inputs import Bools, Floats, Limits
from ..intervals import analytic_intervals, limits_on_log_scale, share_limits
from ..metric import Key
from ..results import System, without_weight_0
from ..sampling import NONE, Design, design_of, effective_size, quantile_of, standard_error


class Band(NamedTuple):
    """The limits of the intervals at each point of a curve, shape (M,); nan where there is none."""

    low: Floats
    high: Floats


def risk_band(system: System, coverage: Floats) -> Band:
    """Return the intervals of the risk at increasing coverages (M,) in (0, 1], at the thresholds that reach them."""
    decisions = system.decisions
    design, level = _design(system)
    cost, rank_by, is_share = decisions.candidate_cost, decisions.rank_by, decisions.confidence is not None
    until = np.cumsum(design.weight)
    last = np.minimum(np.searchsorted(until, coverage * (1 - 1e-12)), len(until) - 1)
    return _band([_of_chosen(cost, rank_by <= rank, design, level, is_share=is_share) for rank in rank_by[last]])


def reject_cost_band(system: System, reject_cost: Floats) -> Band:
    """Return the intervals of the expected cost at reject costs (M,)."""
    u, c = system.decisions.uncertainty, system.decisions.candidate_cost
    u_max = system.decisions.max_uncertainty
    costs = (fixed_of_checked(u, c, reject_cost=value, max_uncertainty=u_max) for value in reject_cost)
    return _mean_band(system, [Key(EXPECTED_COST.name, value) for value in reject_cost.tolist()], costs)


def order_band(system: System, n: Floats) -> Band:
    """Return the intervals of ECUAS_n at each n (M,)."""
    u_max = system.decisions.max_uncertainty
    u = np.minimum(system.decisions.uncertainty, u_max)
    c = system.decisions.candidate_cost
    epsilon = system.options.floor
    costs = (ecuas_of_checked(u, c, n=order, max_uncertainty=u_max, epsilon=epsilon) for order in n)
    return _mean_band(system, [Key(ECUAS_N.name, order) for order in n.tolist()], costs)


def accuracy_band(system: System) -> Band:
    """Return Wilson's intervals of the accuracy in each bin of ECE, with effective numbers of samples; nan if empty."""
    confidence, n_bins = system.decisions.confidence, system.options.n_bins
    design, level = _design(system)
    assert confidence is not None
    bins = confidence_bins(confidence, n_bins=n_bins)
    correct = 1 - system.decisions.candidate_cost
    return _band([_of_chosen(correct, bins == i, design, level, is_share=True) for i in range(n_bins)])


def _mean_band(system: System, keys: Iterable[Key], costs: Iterable[Floats]) -> Band:
    """Return the analytic intervals of means of costs (N,)."""
    weight = system.options.sample_weight
    values = {key: float(np.average(cost, weights=weight)) for key, cost in zip(keys, costs, strict=True)}
    limits = analytic_intervals(*without_weight_0(system), values).limits
    return _band([limits[key] for key in values])


def _of_chosen(values: Floats, chosen: Bools, design: Design, level: float, *, is_share: bool) -> Limits:
    """Return the limits of the mean of the chosen values: Wilson's for values of 0 and 1."""
    share = float(design.weight @ chosen)
    if not share:
        return NONE
    mean = float(design.weight @ (values * chosen)) / share
    error = standard_error(chosen * (values - mean) / share, design)
    if not is_share:
        return limits_on_log_scale(mean, quantile_of(design, level) * error)
    weight, rarer = design.weight[chosen], chosen * (values if mean < 0.5 else 1 - values)
    if not rarer.any():  # it is 0 or 1, whatever rounding made of a sum of weights
        mean, error = float(round(mean)), 0.0
    size = mean * (1 - mean) / error**2 if error > 0 else effective_size(weight)
    return share_limits(mean, size, quantile_of(design, level, rarer))


def _band(limits: list[Limits]) -> Band:
    low, high = np.array(limits).reshape(-1, 2).T
    return Band(low, high)


def _design(system: System) -> tuple[Design, float]:
    """Return how the samples were drawn, and the level of the intervals."""
    return design_of(system.options, len(system.decisions.uncertainty)), system.options.confidence_level or 0.0

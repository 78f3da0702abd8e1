"""Intervals of curves, point by point, from the influences of the samples: no resampling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..calibration import confidence_bins
from ..costs import ecuas_of_checked, fixed_of_checked
from ..expected_costs import ECUAS_N, EXPECTED_COST
from ..inputs import Floats, Limits
from ..intervals import analytic_intervals, in_few_groups, limits_of_selected
from ..metric import Key
from ..ranking import run_starts
from ..results import System, answers_drawn

_ROUNDING = 1e-12  # of a coverage, relative


@dataclass(frozen=True, slots=True)
class Band:
    """The limits of the intervals at each point of a curve, shape (M,); nan where there is none."""

    low: Floats
    high: Floats


def risk_band(system: System, coverage: Floats) -> Band:
    """Return the intervals of the risk at increasing coverages (M,) in (0, 1], at the thresholds that reach them."""
    answers = in_few_groups(answers_drawn(system))
    until = np.cumsum(answers.groups.weight) / answers.groups.total
    last = np.searchsorted(until, coverage * (1 - _ROUNDING))
    groups = np.arange(len(until))
    return _band([limits_of_selected(answers, groups <= group) for group in last])


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
    return _mean_band(
        system, [Key(EXPECTED_COST.name, value) for value in reject_cost.tolist()], costs
    )


def order_band(system: System, n: Floats) -> Band:
    """Return the intervals of ECUAS_n at each n (M,)."""
    decisions = system.decisions
    u_max = decisions.max_uncertainty
    u = np.minimum(decisions.uncertainty, u_max)
    epsilon = system.options.floor
    costs = (
        ecuas_of_checked(
            u, decisions.candidate_cost, n=order, max_uncertainty=u_max, epsilon=epsilon
        )
        for order in n
    )
    return _mean_band(system, [Key(ECUAS_N.name, order) for order in n.tolist()], costs)


def accuracy_band(system: System) -> Band:
    """Return the intervals of the accuracy in each bin of ECE; nan if it is empty."""
    answers = answers_drawn(system)
    decisions = answers.form
    assert decisions.confidence is not None
    n_bins = system.options.n_bins
    bins = confidence_bins(decisions.confidence[run_starts(decisions.rank_by)], n_bins=n_bins)
    return _band([limits_of_selected(answers, bins == i, of_right=True) for i in range(n_bins)])


def _mean_band(
    system: System,
    keys: Iterable[Key],
    costs: Iterable[Floats],
) -> Band:
    """Return the analytic intervals of means of costs (N,)."""
    weight = system.options.sample_weight
    values = {
        key: float(np.average(cost, weights=weight)) for key, cost in zip(keys, costs, strict=True)
    }
    limits = analytic_intervals(answers_drawn(system), values).limits
    return _band([limits[key] for key in values])


def _band(limits: list[Limits]) -> Band:
    low, high = np.array(limits).reshape(-1, 2).T
    return Band(low, high)

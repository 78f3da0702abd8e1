"""Intervals of curves, point by point, from the influences of the samples: no resampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..calibration import confidence_bins
from ..costs import ECUAS_N, EXPECTED_COST
from ..inputs import Floats, Limits
from ..intervals import analytic_intervals, in_few_groups, limits_of_selected
from ..metric import Key, Metric
from ..metrics import metric_values
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
    return _mean_band(system, EXPECTED_COST, reject_cost)


def order_band(system: System, n: Floats) -> Band:
    """Return the intervals of ECUAS_n at each n (M,)."""
    return _mean_band(system, ECUAS_N, n)


def _mean_band(system: System, metric: Metric, parameters: Floats) -> Band:
    """Return the analytic intervals of a metric that is a mean, at each parameter (M,)."""
    keys = [Key(metric.name, parameter) for parameter in parameters.tolist()]
    values = metric_values(system.decisions, system.ties, system.options, keys=keys)
    limits = analytic_intervals(answers_drawn(system), values).limits
    return _band([limits[key] for key in keys])


def accuracy_band(system: System) -> Band:
    """Return the intervals of the accuracy in each bin of ECE; nan if it is empty."""
    answers = answers_drawn(system)
    confidence = answers.form.confidence
    assert confidence is not None
    assert answers.rows is not None
    n_bins = system.options.n_bins
    bins = np.empty(len(answers.groups.weight), np.int64)
    bins[answers.rows().group] = confidence_bins(confidence, n_bins=n_bins)
    risks = [limits_of_selected(answers, bins == i) for i in range(n_bins)]
    return _band([(1 - high, 1 - low) for low, high in risks])


def _band(limits: list[Limits]) -> Band:
    low, high = np.array(limits).reshape(-1, 2).T
    return Band(low, high)

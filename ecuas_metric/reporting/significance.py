"""From the differences of systems after swaps to p-values and intervals: of one test, and of all together.

The two say the same: an interval leaves out 0 if and only if its p-value is at most alpha = 1 - its level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..inputs import Floats
from ..intervals import Resampling, units
from ..options import Options

ROUNDING = 1e-7  # statistics, in standard deviations, that are as close are the same
RESOLUTION = 20  # swaps in the tail that a p-value at the level is estimated from
Limits = tuple[float, float]


def swaps_needed(options: Options) -> int:
    """Return how many swaps a test at the level of the options needs: as many as ask for, or 20 / alpha - 1.

    With B swaps no p-value is below 1 / (B + 1), and one of alpha is the share of alpha (B + 1) of them.

    Examples
    --------
    >>> swaps_needed(Options(confidence_level=0.95)), swaps_needed(Options(confidence_level=0.999))
    (1000, 19999)
    """
    alpha = 1 - (options.confidence_level or 0.0)
    return max(options.n_resamples, math.ceil(round(RESOLUTION / alpha, 6)) - 1)


def number_of_units(num_samples: int, options: Options) -> float:
    """Return the effective number of samples, or groups, that are swapped: that of as many of equal weight.

    Examples
    --------
    >>> number_of_units(3, Options()), number_of_units(3, Options(sample_weight=np.array([1.0, 1.0, 0.0])))
    (3.0, 2.0)
    """
    unit, stratum = units(num_samples, Resampling(groups=options.groups))
    weight = np.bincount(unit, options.sample_weight, minlength=len(stratum))
    return float(weight.sum() ** 2 / (weight @ weight))


def swap_p_value(difference: float, swapped: Floats, *, rounding: float = 0.0) -> float:
    """Return the two-sided p-value of a difference: the share of swaps, itself counted, that differ as much.

    Parameters
    ----------
    difference : float
        Of the data.
    swapped : ndarray, shape (B,)
        Of `swap_differences`. Those that are nan count as larger, which can only raise the p-value.
    rounding : float
        How much of a difference is rounding.

    Returns
    -------
    float
        In (0, 1], at least 1 / (B + 1); nan if the difference is.

    References
    ----------
    Fisher 1935, "The design of experiments"; Phipson and Smyth 2010, "Permutation p-values should never be zero".

    Examples
    --------
    >>> swap_p_value(0.3, np.array([0.1, -0.3, 0.2, np.nan]))
    0.6
    """
    if np.isnan(difference):
        return float("nan")
    smaller = int(np.count_nonzero(np.abs(swapped) < abs(difference) - rounding))
    return (1 + len(swapped) - smaller) / (1 + len(swapped))


def swap_limits(difference: float, swapped: Floats, *, level: float, num_units: float, rounding: float = 0.0) -> Limits:
    r"""Return the interval of a difference that leaves out 0 if and only if `swap_p_value` is at most 1 - level.

    With q the quantile of \|swapped\| at the level, V their mean square and D the difference of K units

    .. math:: D \pm q \sqrt{\frac{V - D^2 / K}{V - q^2 / K}}

    are the differences that the same test would not reject: for a mean, its swaps change the signs of the samples'
    differences less the supposed one, which has V - D^2 / K + (D - supposed)^2 / K in the place of V.

    Parameters
    ----------
    difference : float
    swapped : ndarray, shape (B,)
        Of `swapping.swap_differences`. Those that are nan count as larger.
    level : float
        In (0, 1).
    num_units : float
        See `number_of_units`.
    rounding : float
        How much of a difference is rounding.

    Returns
    -------
    low, high : float
        nan where the difference is, or where no difference would be rejected.

    References
    ----------
    Tritchler 1984, "On inverting permutation tests"; Garthwaite 1996, "Confidence intervals from randomization tests".

    Examples
    --------
    >>> swapped = np.array([0.1, -0.3, 0.2, -0.1, 0.2, 0.1, -0.2, 0.1, -0.1])
    >>> [round(limit, 3) for limit in swap_limits(0.4, swapped, level=0.8, num_units=100)]
    [0.204, 0.596]
    """
    if not swapped.any():  # whatever is swapped
        return difference, difference
    return _limits(difference, _quantile(np.abs(swapped), level) + rounding, spread_of(swapped), num_units)


def step_down(differences: Floats, swapped: Sequence[Floats], p_values: Floats) -> Floats:
    """Return p-values that hold for all M tests together: the largest statistic of each swap, step by step down.

    Each difference is divided by its standard deviation over the swaps. The adjusted p-value of the largest is the
    share of swaps whose largest is as large; the next one is compared with the largest of the others; and so on.

    Parameters
    ----------
    differences : ndarray, shape (M,)
        nan where there is no test.
    swapped : sequence of M ndarrays, shape (B,)
        By the same swaps.
    p_values : ndarray, shape (M,)
        Of each test alone; no adjusted one is smaller.

    Returns
    -------
    ndarray, shape (M,)
        The chance of one false alarm or more is at most alpha where those at or below alpha are called significant. It
        is exact for pairs of systems that have none in common; for pairs that share one, in large samples.

    References
    ----------
    Westfall and Young 1993, "Resampling-based multiple testing", Algorithm 4.1; Ge, Dudoit and Speed 2003,
    "Resampling-based multiple testing for microarray data analysis", for the statement with the maximum.

    Examples
    --------
    >>> swapped = [np.array([1.0, -1.0, 0.9, -0.8]), np.array([-0.2, 0.1, 0.2, -0.1])]
    >>> step_down(np.array([3.0, 0.1]), swapped, np.array([0.2, 1.0])).tolist()
    [0.2, 1.0]
    """
    spread = np.array([spread_of(values) for values in swapped])
    observed = np.abs(differences) / spread
    order = np.argsort(observed)[: np.count_nonzero(~np.isnan(observed))]
    adjusted = np.array(p_values, np.float64)
    largest = np.zeros(len(swapped[0]))
    for index in order:  # from the smallest up: `largest` is that of all that are no larger
        np.maximum(largest, np.nan_to_num(np.abs(swapped[index]) / spread[index]), out=largest)
        adjusted[index] = max(swap_p_value(observed[index], largest, rounding=ROUNDING), adjusted[index])
    ranked = order[::-1]
    adjusted[ranked] = np.maximum.accumulate(adjusted[ranked])
    return adjusted


def simultaneous_limits(
    differences: Floats, swapped: Sequence[Floats], *, level: float, num_units: float
) -> list[Limits]:
    """Return intervals that hold for all M differences together, by the largest statistic of each swap.

    Parameters
    ----------
    differences : ndarray, shape (M,)
        nan where there is no test.
    swapped : sequence of M ndarrays, shape (B,)
        By the same swaps.
    level, num_units : float
        See `swap_limits`.

    Returns
    -------
    list of (low, high)
        An interval that leaves out 0 has an adjusted p-value of at most 1 - level. `step_down` may find more: it asks
        less of a difference once larger ones are significant, for which there are no intervals.

    References
    ----------
    Westfall and Young 1993, "Resampling-based multiple testing", section 2.2 (single-step maximum).

    Examples
    --------
    >>> swapped = [np.linspace(-1, 1, 99), np.linspace(-0.2, 0.2, 99)]
    >>> limits = simultaneous_limits(np.array([3.0, 0.1]), swapped, level=0.9, num_units=1000)
    >>> [(round(low, 1), round(high, 1)) for low, high in limits]
    [(2.1, 3.9), (-0.1, 0.3)]
    """
    spread = [spread_of(values) for values in swapped]
    sizes = [np.abs(values) / one for values, one in zip(swapped, spread, strict=True)]
    tested = [size for size, difference in zip(sizes, differences, strict=True) if not math.isnan(difference)]
    together = _quantile(np.nan_to_num(np.fmax.reduce(tested)), level) if tested else math.inf
    quantiles = [max(together, _quantile(size, level)) + ROUNDING for size in sizes]
    return [
        _limits(float(difference), quantile * one, one, num_units) if size.any() else (difference, difference)
        for difference, quantile, one, size in zip(differences, quantiles, spread, sizes, strict=True)
    ]


def spread_of(values: Floats) -> float:
    """Return the root mean square of differences; 1 where all are 0."""
    finite = values[np.isfinite(values)]
    return float(np.sqrt(np.square(finite).mean())) or 1.0 if len(finite) else 1.0


def _quantile(sizes: Floats, level: float) -> float:
    """Return the size that a statistic must exceed for a p-value of at most 1 - level."""
    rank = math.floor(round((1 - level) * (len(sizes) + 1), 6))
    return math.inf if rank < 1 else float(np.sort(np.where(np.isnan(sizes), np.inf, sizes))[-rank])


def _limits(difference: float, quantile: float, spread: float, num_units: float) -> Limits:
    if math.isnan(difference) or math.isinf(quantile):
        return math.nan, math.nan
    left, taken = spread**2 - difference**2 / num_units, spread**2 - quantile**2 / num_units
    if taken <= 0:  # so few units that all changes of their signs are likely
        return math.nan, math.nan
    half = quantile * math.sqrt(max(left, 0.0) / taken)
    return difference - half, difference + half

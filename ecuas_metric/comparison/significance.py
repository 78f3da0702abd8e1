"""From the differences of systems after swaps to p-values and intervals: of one test, and of all together.

The two say the same: an interval leaves out 0 if and only if its p-value is at most alpha = 1 - its level.
"""

from __future__ import annotations

import math

import numpy as np

from ..inputs import FloatOrFloats, Floats
from ..intervals import Resampling, units
from ..options import Options

ROUNDING = 1e-7  # statistics, in standard deviations, that are as close are the same
RESOLUTION = 20  # swaps in the tail that a p-value at the level is estimated from


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


def swap_p_values(differences: FloatOrFloats, swapped: Floats, *, rounding: FloatOrFloats = 0.0) -> Floats:
    """Return the two-sided p-value of each difference: the share of swaps, itself counted, that differ as much.

    Parameters
    ----------
    differences : float or ndarray, shape (...)
        Of the data.
    swapped : ndarray, shape (..., B)
        Of `swapping.swap_differences`. Those that are nan count as larger, which can only raise a p-value.
    rounding : float or ndarray, shape (...)
        How much of a difference is rounding.

    Returns
    -------
    ndarray, shape (...)
        In (0, 1], at least 1 / (B + 1); nan where the difference is.

    References
    ----------
    Fisher 1935, "The design of experiments"; Phipson and Smyth 2010, "Permutation p-values should never be zero".

    Examples
    --------
    >>> swap_p_values(0.3, np.array([0.1, -0.3, 0.2, np.nan]))
    array(0.6)
    """
    least = np.asarray(np.abs(differences) - rounding)[..., None]
    smaller = np.count_nonzero(np.abs(swapped) < least, axis=-1)
    count = 1 + swapped.shape[-1]
    return np.where(np.isnan(least[..., 0]), np.nan, (count - smaller) / count)


def swap_limits(
    differences: FloatOrFloats,
    swapped: Floats,
    *,
    level: float,
    num_units: float,
    rounding: FloatOrFloats = 0.0,
    quantile: FloatOrFloats = 0.0,
) -> tuple[Floats, Floats]:
    r"""Return intervals of differences that leave out 0 if and only if `swap_p_values` is at most 1 - level.

    With q the quantile of \|swapped\| at the level, V the mean square of these and of the difference D of K units,

    .. math:: D \pm q \sqrt{\frac{V - D^2 / K}{V - q^2 / K}}

    are the differences that the same test would not reject: for a mean, its swaps change the signs of the samples'
    differences less the supposed one, which has V - D^2 / K + (D - supposed)^2 / K in the place of V.

    Parameters
    ----------
    differences : float or ndarray, shape (...)
    swapped : ndarray, shape (..., B)
        Of `swapping.swap_differences`. Those that are nan count as larger.
    level : float
        In (0, 1).
    num_units : float
        See `number_of_units`.
    rounding : float or ndarray, shape (...)
        How much of a difference is rounding.
    quantile : float or ndarray, shape (...)
        A lower bound of q.

    Returns
    -------
    low, high : ndarray, shape (...)
        nan where the difference is, or where none would be rejected.

    References
    ----------
    Tritchler 1984, "On inverting permutation tests"; Garthwaite 1996, "Confidence intervals from randomization tests".

    Examples
    --------
    >>> swapped = np.array([0.1, -0.3, 0.2, -0.1, 0.2, 0.1, -0.2, 0.1, -0.1])
    >>> [round(float(limit), 3) for limit in swap_limits(0.4, swapped, level=0.8, num_units=100)]
    [0.203, 0.597]
    """
    q = np.maximum(_quantile(np.abs(swapped), level), quantile) + rounding
    square = np.square(spread_of(swapped, differences))
    left = np.maximum(square - np.square(differences) / num_units, 0.0)
    with np.errstate(invalid="ignore"):
        taken = square - np.square(q) / num_units
        # Not where units are so few that all changes of their signs are likely.
        half = q * np.sqrt(left / np.where(taken > 0, taken, np.nan))
    half = np.where(swapped.any(axis=-1), half, 0.0)  # where a swap changes nothing
    return differences - half, differences + half


def step_down(differences: Floats, swapped: Floats, p_values: Floats) -> Floats:
    """Return p-values that hold for all M tests together: the largest statistic of each swap, step by step down.

    Each difference is divided by its standard deviation over the swaps and the data. The adjusted p-value of the
    largest is the share of swaps whose largest is as large; the next one is compared with the largest of the others;
    and so on.

    Parameters
    ----------
    differences : ndarray, shape (M,)
        nan where there is no test.
    swapped : ndarray, shape (M, B)
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
    >>> swapped = np.array([[1.0, -1.0, 0.9, -0.8], [-0.2, 0.1, 0.2, -0.1]])
    >>> step_down(np.array([3.0, 0.1]), swapped, np.array([0.2, 1.0])).tolist()
    [0.2, 1.0]
    """
    spread = spread_of(swapped, differences)
    observed = np.abs(differences) / spread
    order = np.argsort(observed)[: np.count_nonzero(~np.isnan(observed))]
    adjusted, count = np.array(p_values, np.float64), 1 + swapped.shape[-1]
    largest = np.zeros(swapped.shape[-1])
    for index in order:  # from the smallest up: `largest` is that of all that are no larger
        np.fmax(largest, np.abs(swapped[index]) / spread[index], out=largest)
        smaller = np.count_nonzero(largest < observed[index] - ROUNDING)
        adjusted[index] = max((count - smaller) / count, adjusted[index])
    ranked = order[::-1]
    adjusted[ranked] = np.maximum.accumulate(adjusted[ranked])
    return adjusted


def simultaneous_limits(
    differences: Floats, swapped: Floats, *, level: float, num_units: float
) -> tuple[Floats, Floats]:
    """Return intervals that hold for all M differences together, by the largest statistic of each swap.

    Parameters
    ----------
    differences : ndarray, shape (M,)
        nan where there is no test.
    swapped : ndarray, shape (M, B)
        By the same swaps.
    level, num_units : float
        See `swap_limits`.

    Returns
    -------
    low, high : ndarray, shape (M,)
        An interval that leaves out 0 has an adjusted p-value of at most 1 - level. `step_down` may find more: it asks
        less of a difference once larger ones are significant, for which there are no intervals.

    References
    ----------
    Westfall and Young 1993, "Resampling-based multiple testing", section 2.2 (single-step maximum).

    Examples
    --------
    >>> swapped = np.outer([1.0, 0.2], np.linspace(-1, 1, 99))
    >>> low, high = simultaneous_limits(np.array([3.0, 0.1]), swapped, level=0.9, num_units=1000)
    >>> low.round(1).tolist(), high.round(1).tolist()
    ([2.0, -0.1], [4.0, 0.3])
    """
    spread = spread_of(swapped, differences)
    largest = np.zeros(swapped.shape[-1])
    for index in np.flatnonzero(~np.isnan(differences)):
        np.fmax(largest, np.abs(swapped[index]) / spread[index], out=largest)
    return swap_limits(
        differences,
        swapped,
        level=level,
        num_units=num_units,
        rounding=ROUNDING * spread,
        quantile=_quantile(largest, level) * spread,
    )


def spread_of(swapped: Floats, differences: FloatOrFloats) -> Floats:
    """Return the root mean square of differences after swaps (..., B) and of the data's (...); 1 where all are 0.

    The data are one of the swaps that were as likely. Without them each swap would count in what it is divided by, and
    the data not: the largest of many statistics would be too large for the swaps.
    """
    squares, counts = np.square(differences), np.count_nonzero(~np.isnan(swapped), axis=-1)
    known = np.where(np.isnan(swapped), 0.0, swapped) if (counts < swapped.shape[-1]).any() else swapped
    spread = np.sqrt((np.einsum("...b,...b->...", known, known) + squares) / (counts + 1))
    return np.where(spread > 0, spread, 1.0)


def _quantile(sizes: Floats, level: float) -> Floats:
    """Return the size (...) that a statistic must exceed for a p-value of at most 1 - level; nan counts as larger."""
    rank = math.floor(round((1 - level) * (sizes.shape[-1] + 1), 6))
    if rank < 1:
        return np.full(sizes.shape[:-1], np.inf)
    return np.partition(np.where(np.isnan(sizes), np.inf, sizes), -rank, axis=-1)[..., -rank]

"""From differences after permutations to p-values, intervals and sets of best systems: of one test, and of all.

They say the same: an interval leaves out 0 if and only if its p-value is at most alpha = 1 - its level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..inputs import Array, FloatOrFloats, Floats
from ..options import Options
from ..sampling import Resampling, effective_size, units

_ROUNDING = 1e-7  # statistics, in standard deviations, that are as close are the same
RESOLUTION = 20  # permutations in the tail that a p-value at the level is estimated from


def permutations_needed(options: Options) -> int:
    """Return the number of permutations for the options' level: as asked for, or 20 / alpha - 1 if that is more.

    With B permutations no p-value is below 1 / (B + 1).
    """
    alpha = 1 - (options.confidence_level or 0.0)
    return max(options.n_resamples, math.ceil(round(RESOLUTION / alpha, 6)) - 1)


def least_p_value(num_samples: int, options: Options) -> float:
    """Return 2^(1 - U) of U samples or groups with a weight: exchanges are as likely, half of them the other way."""
    return 2.0 ** (1 - int(np.count_nonzero(_weight_of_units(num_samples, options))))


def number_of_units(num_samples: int, options: Options) -> float:
    """Return the effective number of samples or groups that are exchanged."""
    return effective_size(_weight_of_units(num_samples, options))


def _weight_of_units(num_samples: int, options: Options) -> Array:
    unit, stratum = units(num_samples, Resampling(groups=options.groups))
    return np.bincount(unit, options.sample_weight, minlength=len(stratum))


def permutation_p_values(differences: FloatOrFloats, permuted: Floats, *, rounding: FloatOrFloats = 0.0) -> Floats:
    """Return two-sided p-values (...): the share of permutations (..., B), with the data, that differ at least as much.

    In [1 / (B + 1), 1]; nan where the difference is. Permutations that are nan count as larger, which is conservative;
    `rounding` is the tolerance. Source: Phipson and Smyth 2010, "Permutation p-values should never be zero".
    """
    least = np.asarray(np.abs(differences) - rounding)[..., None]
    smaller = np.count_nonzero(np.abs(permuted) < least, axis=-1)
    count = 1 + permuted.shape[-1]
    return np.where(np.isnan(least[..., 0]), np.nan, (count - smaller) / count)


def permutation_limits(
    differences: FloatOrFloats,
    permuted: Floats,
    *,
    level: float,
    num_units: float,
    rounding: FloatOrFloats = 0.0,
    quantile: FloatOrFloats = 0.0,
) -> tuple[Floats, Floats]:
    r"""Return intervals (...) that exclude 0 if and only if `permutation_p_values` is at most 1 - level.

    With q the quantile of the sizes of permuted differences (..., B) at the level, or `quantile` if larger, and V the
    mean square of these and of the difference D of K units,

    .. math:: D \pm q \sqrt{\frac{V - D^2 / K}{V - q^2 / K}}

    are the differences that the same test would not reject: for a mean, permutations change the signs of the samples'
    differences minus the hypothetical one d, and V becomes V - D^2 / K + (D - d)^2 / K. nan where none would be
    rejected. Source: Tritchler 1984, "On inverting permutation tests". B permutations tell V - D^2 / K only from more
    than twice its own error, sqrt(2 / B) V, which it is here at least.
    """
    q = np.maximum(_quantile(np.abs(permuted), level), quantile) + rounding
    square = np.square(spread_of(permuted, differences))
    error = math.sqrt(2 / max(permuted.shape[-1], 1)) * square
    left = np.maximum(square - np.square(differences) / num_units, 2 * error)
    with np.errstate(invalid="ignore"):
        rest = square - np.square(q) / num_units
        # Not where units are so few that all changes of their signs are likely.
        half = q * np.sqrt(left / np.where(rest > 0, rest, np.nan))
    half = np.where(permuted.any(axis=-1), half, 0.0)  # where a permutation changes nothing
    return differences - half, differences + half


def adjusted_p_values(differences: Floats, permuted: Floats, p_values: Floats) -> Floats:
    """Return p-values for all M tests together: step-down, by the largest statistic of each permutation.

    Each difference (M,) is divided by its standard deviation over the permutations (M, B) and the data. The adjusted
    p-value of the largest is the share of permutations whose largest is as large; the next one is compared with the
    largest of the others; and so on. None is below that of the test alone; nan where there is no test. At a level of
    alpha, the chance of any false alarm is at most alpha: exactly for disjoint pairs of systems, in large samples for
    pairs that share one.

    References
    ----------
    Westfall and Young 1993, "Resampling-based multiple testing", Algorithm 4.1; Ge, Dudoit and Speed 2003,
    "Resampling-based multiple testing for microarray data analysis", for the statement with the maximum.
    """
    spread = spread_of(permuted, differences)
    observed = np.abs(differences) / spread
    order = np.argsort(observed)[: np.count_nonzero(~np.isnan(observed))]
    adjusted, count = np.array(p_values, np.float64), 1 + permuted.shape[-1]
    largest = np.zeros(permuted.shape[-1])
    for index in order:  # from the smallest up: `largest` is that of all that are no larger
        np.fmax(largest, np.abs(permuted[index]) / spread[index], out=largest)
        smaller = np.count_nonzero(largest < observed[index] - _ROUNDING)
        adjusted[index] = max((count - smaller) / count, adjusted[index])
    ranked = order[::-1]
    adjusted[ranked] = np.maximum.accumulate(adjusted[ranked])
    return adjusted


def simultaneous_limits(
    differences: Floats, permuted: Floats, *, level: float, num_units: float
) -> tuple[Floats, Floats]:
    """Return intervals (M,) that hold for all M differences together, by the largest statistic of each permutation.

    An interval that excludes 0 has an adjusted p-value of at most 1 - level. `adjusted_p_values` may find more, since
    its later steps, which have no intervals, compare with fewer differences (Westfall and Young 1993, section 2.2).
    """
    spread = spread_of(permuted, differences)
    largest = np.zeros(permuted.shape[-1])
    for index in np.flatnonzero(~np.isnan(differences)):
        np.fmax(largest, np.abs(permuted[index]) / spread[index], out=largest)
    rounding, quantile = _ROUNDING * spread, _quantile(largest, level) * spread
    return permutation_limits(
        differences, permuted, level=level, num_units=num_units, rounding=rounding, quantile=quantile
    )


def p_values_of_best(
    pairs: Sequence[tuple[str, str]], differences: Floats, permuted: Floats, *, higher_is_better: bool
) -> dict[str, float]:
    """Return each system's p-value of "no other system is better than this one", by one metric.

    `pairs` are all P pairs of names, with differences (P,), first minus second, and permuted ones (P, B). A system's
    statistic is the largest of its differences to the others, each divided by its standard deviation over the
    permutations, and is compared with that in the same permutations. The best system has a p-value of at most alpha
    with a chance of at most alpha: those above alpha are a confidence set for it.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks with applications to mobility across neighbourhoods
    and academic achievement across countries" (confidence sets for a rank from pairwise differences; here rank 1 of one
    system); Gupta 1965, "On some multiple decision (selection and ranking) rules".
    """
    spread = spread_of(permuted, differences) * (-1 if higher_is_better else 1)
    seen, after = differences / spread, permuted / spread[:, None]
    found = {}
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        signs = np.array([(name == first) - (name == second) for first, second in pairs])
        rows, count = np.flatnonzero((signs != 0) & ~np.isnan(seen)), 1 + permuted.shape[-1]
        found[name] = math.nan
        if len(rows):
            largest = (signs[rows, None] * after[rows]).max(axis=0)
            smaller = int(np.count_nonzero(largest < (signs[rows] * seen[rows]).max() - _ROUNDING))
            found[name] = (count - smaller) / count
    return found


def spread_of(permuted: Floats, differences: FloatOrFloats) -> Floats:
    """Return the root mean square (...) of permuted differences (..., B) and the data's (...); 1 where all are 0."""
    # The data are one of the equally likely permutations, and are part of their own scale as these are.
    squares, counts = np.square(differences), np.count_nonzero(~np.isnan(permuted), axis=-1)
    known = np.where(np.isnan(permuted), 0.0, permuted) if (counts < permuted.shape[-1]).any() else permuted
    spread = np.sqrt((np.einsum("...b,...b->...", known, known) + squares) / (counts + 1))
    return np.where(spread > 0, spread, 1.0)


def _quantile(sizes: Floats, level: float) -> Floats:
    """Return the size (...) that a statistic must exceed for a p-value of at most 1 - level; nan counts as larger."""
    rank = math.floor(round((1 - level) * (sizes.shape[-1] + 1), 6))
    if rank < 1:
        return np.full(sizes.shape[:-1], np.inf)
    return np.partition(np.where(np.isnan(sizes), np.inf, sizes), -rank, axis=-1)[..., -rank]

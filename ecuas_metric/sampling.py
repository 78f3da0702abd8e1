"""How samples were drawn, and drawing them again: designs, their standard errors, and the bootstrap.

A *statistic* is a function of counts, shape (B, N), that returns a mapping of keys to arrays of shape (B,): all
resamples are weights on one sorted data set, which is never copied or sorted again. Methods: docs/statistics.md.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from statistics import NormalDist
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from .errors import InputError, Note
from .inputs import Array, Bools, FloatOrFloats, Floats, Ints, Limits, chunks
from .options import LEVEL, Options

_K = TypeVar("_K", bound=Hashable)
Counts = npt.NDArray[np.uint16]  # more draws of one unit than that do not happen
Statistic = Callable[[Array], Mapping[_K, FloatOrFloats]]
NONE = (math.nan, math.nan)
DRAWN_TOGETHER = 2**13  # units; where there are more, each part of so many is counted in the cache
JACKKNIFE_BLOCKS = 1000
_LEFT_OUT_NOTE = 0.01  # share of the resamples in which a metric has no value
_NORMAL = NormalDist()


class Resampling(NamedTuple):
    """How resamples are drawn: how many, their seed, the group (N,) and the stratum (N,) of each sample, or None."""

    n_resamples: int = 1000
    random_state: int = 0
    groups: Ints | None = None
    strata: Ints | None = None


class Design(NamedTuple):
    """The sampling design of N samples in U units (samples or groups)."""

    weight: Floats  # (N,), sums to 1
    unit: Ints | None  # (N,), the group of each sample; None without groups
    stratum: Ints  # (U,), that of each unit
    freedom: float  # units (effective, for groups) minus strata; 0 if a stratum has one unit only


def intervals(
    statistic: Statistic[_K],
    num_samples: int,
    *,
    resampling: Resampling,
    confidence_level: float = LEVEL,
    method: str = "percentile",
    progress: bool = False,
) -> tuple[dict[_K, Limits], tuple[Note, ...]]:
    """Return the interval of each key of a statistic, "percentile" or "bca", and a note if resamples were left out."""
    replicates = bootstrap(statistic, num_samples, resampling=resampling, progress=progress)
    estimates, without = dict[_K, FloatOrFloats](), dict[_K, Floats]()
    if method == "bca":
        estimates |= statistic(np.ones((1, num_samples), np.uint16))
        without = jackknife(statistic, num_samples, resampling=resampling)
    limits = {}
    for key, values in replicates.items():
        of_key = float(np.asarray(estimates.get(key, [math.nan]))[0]), without.get(key)
        limits[key] = interval(values, confidence_level=confidence_level, estimate=of_key[0], jackknife=of_key[1])
    return limits, _note_left_out(replicates)


def bootstrap(
    statistic: Statistic[_K], num_samples: int, *, resampling: Resampling, progress: bool = False
) -> dict[_K, Floats]:
    """Return the statistic of each resample, shape (`n_resamples`,) for each key (Efron and Tibshirani 1993)."""
    return _collect(statistic, bootstrap_weights(num_samples, resampling), resampling.n_resamples, progress)


def interval(
    replicates: Floats, *, confidence_level: float = LEVEL, estimate: float = math.nan, jackknife: Floats | None = None
) -> Limits:
    """Return the percentile interval of finite replicates (B,); with a `jackknife` (J,), the BCa one (Efron 1987)."""
    finite = replicates[np.isfinite(replicates)]
    if not len(finite):
        return NONE
    tails = np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    if jackknife is not None:
        tails = _bca_tails(tails, finite, estimate, jackknife[np.isfinite(jackknife)])
    low, high = np.quantile(finite, tails)
    return float(low), float(high)


def bootstrap_weights(num_samples: int, resampling: Resampling) -> Iterator[Counts]:
    """Yield how often each sample is drawn, shape (b, N), in chunks that add up to `n_resamples` rows."""
    generator = np.random.default_rng(resampling.random_state)
    unit, unit_strata = units(num_samples, resampling)
    members = [np.flatnonzero(unit_strata == stratum) for stratum in range(unit_strata.max() + 1)]
    for rows in chunks(resampling.n_resamples, num_samples, item_size=2):
        counts = _drawn(generator, rows, len(members[0]))
        if len(members) > 1:
            parts = [counts, *(_drawn(generator, rows, len(others)) for others in members[1:])]
            counts = np.concatenate(parts, axis=1)[:, np.argsort(np.concatenate(members))]
        yield counts if resampling.groups is None else counts[:, unit]


def jackknife(statistic: Statistic[_K], num_samples: int, *, resampling: Resampling) -> dict[_K, Floats]:
    """Return the statistic with each sample or group left out, or each of 1000 blocks of them if there are more."""
    unit, unit_strata = units(num_samples, resampling)
    count = min(len(unit_strata), JACKKNIFE_BLOCKS)
    # At random: neighbours are alike where the samples stand in the order of their uncertainties.
    shuffled = np.random.default_rng(resampling.random_state).permutation(len(unit_strata))
    block = (np.argsort(shuffled) * count // len(unit_strata))[unit]
    parts = np.split(np.arange(count), np.cumsum(list(chunks(count, num_samples)))[:-1])
    weights = ((block != part[:, None]).astype(np.uint16) for part in parts)
    return _collect(statistic, weights, count, False)


def units(num_samples: int, resampling: Resampling) -> tuple[Ints, Ints]:
    """Return the unit (sample or group) of each sample, shape (N,), and the stratum of each unit, shape (U,)."""
    strata = np.zeros(num_samples, np.int64)
    if resampling.strata is not None:
        strata = np.unique(resampling.strata, return_inverse=True)[1]
    if resampling.groups is None:
        return np.arange(num_samples), strata
    _, first, unit = np.unique(resampling.groups, return_index=True, return_inverse=True)
    split = np.flatnonzero(strata != strata[first][unit])
    if len(split):
        raise InputError("groups", "group_in_two_strata", got=f"one in two, at sample {split[0]}")
    return unit, strata[first]


def design_of(options: Options, num_samples: int) -> Design:
    """Return the sampling design that the options describe."""
    weight = options.sample_weight
    unit, stratum = units(num_samples, Resampling(groups=options.groups, strata=options.strata))
    sizes = np.array([len(stratum)]) if options.strata is None else np.bincount(stratum)
    share = np.broadcast_to(1 / num_samples, num_samples) if weight is None else weight / weight.sum()
    freedom = (len(stratum) if weight is None else effective_size(share)) - len(sizes)
    if options.groups is not None:
        # Satterthwaite's number for variances between those of answers that are independent, w, and all alike, w^2.
        freedom = effective_size(np.bincount(unit, share) ** 1.5) - len(sizes)
    return Design(
        share, None if options.groups is None else unit, stratum, max(freedom, 1.0) if sizes.min() > 1 else 0.0
    )


def standard_error(influence: Floats, design: Design) -> float:
    """Return the standard error of a number from the influences (N,), whose weighted mean is 0; nan if it has none."""
    if not design.freedom:
        return math.nan
    sizes = np.bincount(design.stratum)
    moved = _sums_of_units(design.weight * influence, design)
    if len(sizes) == 1 and design.unit is not None:
        return float(np.linalg.norm(moved / np.sqrt(1 - _sums_of_units(design.weight, design))))
    moved = moved - (np.bincount(design.stratum, moved) / sizes)[design.stratum]
    return math.sqrt(np.square(moved) @ (sizes / (sizes - 1))[design.stratum])


def quantile_of(design: Design, level: float, events: Floats | None = None) -> float:
    """Return Student's quantile; with groups, only those that hold events (N,) count (Korn and Graubard 1999)."""
    freedom = freedom_of(design, events)
    return student_quantile((1 + level) / 2, freedom) if freedom else math.nan


@functools.cache
def student_quantile(level: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution at `level` in (0, 1): the normal one for infinite freedom."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(level) if math.isinf(freedom) else stdtrit(freedom, level))


def effective_size(weight: Array) -> float:
    """Return Kish's effective number of samples of weights (N,): (sum of w)^2 / sum of w^2."""
    weight = weight / weight.max()  # first: squares of very small ones would vanish
    return float(weight.sum()) ** 2 / dot(weight, weight)


def _drawn(generator: np.random.Generator, rows: int, size: int) -> Counts:
    """Return how often each of `size` units is drawn in `size` draws, (rows, size); of many, by parts in the cache."""
    if size <= DRAWN_TOGETHER:
        draws = generator.integers(0, size, (rows, size), dtype=np.int32)
        draws += np.arange(rows, dtype=np.int32)[:, None] * size
        return np.bincount(draws.ravel(), minlength=draws.size).reshape(draws.shape).astype(np.uint16)
    counts = np.empty((rows, size), np.uint16)
    starts = np.arange(0, size, DRAWN_TOGETHER)
    sizes = np.diff(starts, append=size)
    for row in counts:
        totals = generator.multinomial(size, sizes / size)
        for start, part, total in zip(starts.tolist(), sizes.tolist(), totals.tolist(), strict=True):
            row[start : start + part] = np.bincount(_uniform(generator, part, total), minlength=part)
    return counts


def _uniform(generator: np.random.Generator, below: int, count: int) -> Array:
    """Return `count` random integers in [0, `below`); raw bits where that is a power of two."""
    if below & (below - 1):
        return generator.integers(0, below, count)
    bits = generator.bit_generator.random_raw(count // 4 + 1).astype("<u8").view("<u2")
    return bits[:count] & np.uint16(below - 1)


def _collect(statistic: Statistic[_K], weights: Iterator[Counts], total: int, progress: bool) -> dict[_K, Floats]:
    from tqdm.auto import tqdm

    parts: dict[_K, list[Floats]] = {}
    with tqdm(total=total, desc="bootstrap", unit="resample", delay=1, disable=not progress) as bar:
        for chunk in weights:
            with np.errstate(divide="ignore", invalid="ignore"):  # a resample may have no sample of some kind
                values_of_chunk = statistic(chunk)
            for key, values in values_of_chunk.items():
                parts.setdefault(key, []).append(values)
            bar.update(len(chunk))
    return {key: np.concatenate(values) for key, values in parts.items()}


def _bca_tails(tails: Floats, replicates: Floats, estimate: float, without: Floats) -> Floats:
    if not math.isfinite(estimate):
        raise InputError("estimate", "estimate_not_finite", value=estimate)
    below = (np.count_nonzero(replicates < estimate) + np.count_nonzero(replicates <= estimate)) / 2
    share = min(max(below / len(replicates), 0.5 / len(replicates)), 1 - 0.5 / len(replicates))
    bias = _NORMAL.inv_cdf(share)
    deviations = without.mean() - without if len(without) else np.zeros(1)
    spread = np.square(deviations).sum() ** 1.5
    acceleration = np.power(deviations, 3).sum() / (6 * spread) if spread > 0 else 0.0
    shifted = [bias + _NORMAL.inv_cdf(tail) for tail in tails]
    return np.array([_NORMAL.cdf(bias + z / (1 - acceleration * z)) for z in shifted])


def _note_left_out(replicates: Mapping[_K, Floats]) -> tuple[Note, ...]:
    """Return a note if some metric has no value in more than 1 % of the resamples, but not in all."""
    shares = {key: np.mean(~np.isfinite(values)) for key, values in replicates.items()}
    listed = [f"{key} {share:.1%}" for key, share in shares.items() if _LEFT_OUT_NOTE < share < 1]
    return (Note("resamples_left_out", {"metrics": listed}),) if listed else ()


def freedom_of(design: Design, events: Floats | Bools | None) -> float:
    """Return the degrees of freedom of a design; those of the groups that hold events (N,), if there are any."""
    held = None if events is None or design.unit is None else _sums_of_units(design.weight * events, design)
    if held is None or not held.any():
        return design.freedom
    return min(design.freedom, max(round(effective_size(held), 9) - 1, 1.0))


def _sums_of_units(values: Floats, design: Design) -> Floats:
    """Sum values (N,) over the samples of each unit, shape (U,)."""
    if design.unit is None:
        return values
    return np.asarray(np.bincount(design.unit, values, minlength=len(design.stratum)), np.float64)


def dot(one: Array, other: Array) -> float:
    """Return the sum of products of arrays (N,), by one thread: for `@`, BLAS wakes all, at several times the CPU."""
    return float(np.einsum("n,n->", one, other))

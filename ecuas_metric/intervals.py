"""Bootstrap intervals of any statistic that takes sample weights, and the closed forms of analytic ones.

A *statistic* is a function of counts, shape (B, N), that returns a mapping of keys to arrays of shape (B,): all
resamples are weights on one sorted data set, which is never copied or sorted again.
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
from .inputs import Array, FloatOrFloats, Floats, Ints, chunks

K = TypeVar("K", bound=Hashable)
Counts = npt.NDArray[np.uint16]  # more draws of one unit than that do not happen
Statistic = Callable[[Array], Mapping[K, FloatOrFloats]]
DRAWN_TOGETHER = 2**13  # units; where there are more, each part of so many is counted in the cache
JACKKNIFE_BLOCKS = 1000
LEFT_OUT_NOTE = 0.01


class Resampling(NamedTuple):
    """How resamples are drawn.

    Attributes
    ----------
    n_resamples : int
    random_state : int
        Seed of a `numpy.random.Generator`: the same seed gives the same numbers.
    groups : ndarray of int, shape (N,), or None
        Samples of one group, as the questions of one document, are drawn together.
    strata : ndarray of int, shape (N,), or None
        Each stratum keeps its number of samples (or groups).
    """

    n_resamples: int = 1000
    random_state: int = 0
    groups: Ints | None = None
    strata: Ints | None = None


def bootstrap(
    statistic: Statistic[K], num_samples: int, *, resampling: Resampling, progress: bool = False
) -> dict[K, Floats]:
    """Return the statistic of each resample, shape (`n_resamples`,) for each key.

    References
    ----------
    Efron and Tibshirani 1993, "An introduction to the bootstrap".

    Examples
    --------
    >>> data = np.array([1.0, 2.0, 6.0])
    >>> means = bootstrap(lambda w: {"mean": w @ data / 3}, 3, resampling=Resampling(500))["mean"]
    >>> bool(abs(means.mean() - 3) < 0.2), means.shape
    (True, (500,))
    """
    return _collect(statistic, bootstrap_weights(num_samples, resampling), resampling.n_resamples, progress)


def bootstrap_weights(num_samples: int, resampling: Resampling) -> Iterator[Counts]:
    """Yield how often each sample is drawn, shape (b, N), in chunks that add up to `n_resamples` rows."""
    generator = np.random.default_rng(resampling.random_state)
    unit, unit_strata = units(num_samples, resampling)
    members = [np.flatnonzero(unit_strata == stratum) for stratum in range(unit_strata.max() + 1)]
    for rows in chunks(resampling.n_resamples, num_samples, item_size=2):
        if len(members) == 1:
            counts = _drawn(generator, rows, len(unit_strata))
        else:
            counts = np.empty((rows, len(unit_strata)), np.uint16)
            for of_stratum in members:
                counts[:, of_stratum] = _drawn(generator, rows, len(of_stratum))
        yield counts if resampling.groups is None else counts[:, unit]


def _drawn(generator: np.random.Generator, rows: int, size: int) -> Counts:
    """Return how often each of `size` units comes up in as many draws, shape (rows, size).

    Of many, first how often each part of them is drawn, which is multinomial, then the units inside each: the same
    distribution, from memory that stays in the cache.
    """
    counts = np.empty((rows, size), np.uint16)
    if size <= DRAWN_TOGETHER:
        draws = generator.integers(0, size, (rows, size), dtype=np.int32)
        draws += np.arange(rows, dtype=np.int32)[:, None] * size
        counts[...] = np.bincount(draws.ravel(), minlength=draws.size).reshape(draws.shape)
        return counts
    starts = np.arange(0, size, DRAWN_TOGETHER)
    sizes = np.diff(starts, append=size)
    for row in counts:
        totals = generator.multinomial(size, sizes / size)
        for start, part, total in zip(starts.tolist(), sizes.tolist(), totals.tolist(), strict=True):
            row[start : start + part] = np.bincount(_uniform(generator, part, total), minlength=part)
    return counts


def _uniform(generator: np.random.Generator, below: int, count: int) -> Array:
    """Return `count` whole numbers from 0 to `below` - 1; where that is a power of two, bits as they come."""
    if below & (below - 1):
        return generator.integers(0, below, count)
    bits = generator.bit_generator.random_raw(count // 4 + 1).astype("<u8").view("<u2")
    return bits[:count] & np.uint16(below - 1)


def interval(
    replicates: Floats,
    *,
    confidence_level: float = 0.95,
    estimate: float | None = None,
    jackknife: Floats | None = None,
) -> tuple[float, float]:
    """Return the percentile interval of bootstrap replicates, or the BCa interval where `jackknife` is given.

    Parameters
    ----------
    replicates : ndarray, shape (B,)
        Those that are nan, as an AUROC without an incorrect sample, are left out.
    confidence_level : float
        In (0, 1).
    estimate : float
        The statistic of the data itself; for BCa.
    jackknife : ndarray, shape (J,)
        The statistic with each sample (or block of them) left out, see `jackknife`; for BCa.

    Returns
    -------
    low, high : float
        nan if no replicate is left.

    References
    ----------
    Efron 1987, "Better bootstrap confidence intervals" (BCa).
    """
    finite = replicates[np.isfinite(replicates)]
    if not len(finite):
        return math.nan, math.nan
    tails = np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    if jackknife is not None:
        tails = _bca_tails(tails, finite, estimate, jackknife[np.isfinite(jackknife)])
    low, high = np.quantile(finite, tails)
    return float(low), float(high)


def intervals(
    statistic: Statistic[K],
    num_samples: int,
    *,
    resampling: Resampling,
    confidence_level: float = 0.95,
    method: str = "percentile",
    progress: bool = False,
) -> tuple[dict[K, tuple[float, float]], tuple[Note, ...]]:
    """Return the interval of each key of a statistic, and a note if resamples were left out.

    Parameters
    ----------
    statistic : callable
        Weights (B, N) to a mapping of keys to arrays (B,).
    num_samples : int
        N.
    resampling : Resampling
    confidence_level : float
        In (0, 1).
    method : {"percentile", "bca"}
        BCa also corrects for bias and skewness, for the price of a jackknife (of at most 1000 blocks).

    Returns
    -------
    limits : dict of key to (low, high)
    notes : tuple of Note
        One if a key is nan in more than 1 % of the resamples, which are left out.
    """
    replicates = bootstrap(statistic, num_samples, resampling=resampling, progress=progress)
    notes = note_left_out(replicates)
    if method == "percentile":
        return {key: interval(values, confidence_level=confidence_level) for key, values in replicates.items()}, notes
    estimate = {
        key: float(np.asarray(value)[0]) for key, value in statistic(np.ones((1, num_samples), np.uint16)).items()
    }
    without = jackknife(statistic, num_samples, resampling=resampling)
    limits = {
        key: interval(values, confidence_level=confidence_level, estimate=estimate[key], jackknife=without[key])
        for key, values in replicates.items()
    }
    return limits, notes


def jackknife(statistic: Statistic[K], num_samples: int, *, resampling: Resampling) -> dict[K, Floats]:
    """Return the statistic with each sample or group left out, or each of 1000 blocks of them if there are more."""
    unit, unit_strata = units(num_samples, resampling)
    num_units = len(unit_strata)
    num_blocks = min(num_units, JACKKNIFE_BLOCKS)
    # At random: neighbours are alike where the samples stand in the order of their uncertainties.
    shuffled = np.random.default_rng(resampling.random_state).permutation(num_units)
    block = np.empty(num_units, np.int64)
    block[shuffled] = np.arange(num_units) * num_blocks // num_units
    block = block[unit]

    def weights() -> Iterator[Counts]:
        first = 0
        for rows in chunks(num_blocks, num_samples):
            yield (block != np.arange(first, first + rows)[:, None]).astype(np.uint16)
            first += rows

    return _collect(statistic, weights(), num_blocks, False)


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
        raise InputError("groups", "must each lie in one stratum", got=f"one in two, at sample {split[0]}")
    return unit, strata[first]


def _collect(statistic: Statistic[K], weights: Iterator[Counts], total: int, progress: bool) -> dict[K, Floats]:
    from tqdm.auto import tqdm

    parts: dict[K, list[Floats]] = {}
    with tqdm(total=total, desc="bootstrap", unit="resample", delay=1, disable=not progress) as bar:
        for chunk in weights:
            with np.errstate(divide="ignore", invalid="ignore"):  # a resample may have no sample of some kind
                values_of_chunk = statistic(chunk)
            for key, values in values_of_chunk.items():
                parts.setdefault(key, []).append(values)
            bar.update(len(chunk))
    return {key: np.concatenate(values) for key, values in parts.items()}


def _bca_tails(tails: Floats, replicates: Floats, estimate: float | None, without: Floats) -> Floats:
    if estimate is None or not math.isfinite(estimate):
        raise InputError("estimate", "must be finite for a BCa interval", value=estimate)
    normal = NormalDist()
    below = (np.count_nonzero(replicates < estimate) + np.count_nonzero(replicates <= estimate)) / 2
    share = min(max(below / len(replicates), 0.5 / len(replicates)), 1 - 0.5 / len(replicates))
    bias = normal.inv_cdf(share)
    deviations = without.mean() - without if len(without) else np.zeros(1)
    spread = np.square(deviations).sum() ** 1.5
    acceleration = np.power(deviations, 3).sum() / (6 * spread) if spread > 0 else 0.0
    shifted = [bias + normal.inv_cdf(tail) for tail in tails]
    return np.array([normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted])


def note_left_out(replicates: Mapping[K, Floats]) -> tuple[Note, ...]:
    """Return a note if some metric has no value in more than 1 % of the resamples, but not in all."""
    shares = {key: np.mean(~np.isfinite(values)) for key, values in replicates.items()}
    listed = ", ".join(f"{key} {share:.1%}" for key, share in shares.items() if LEFT_OUT_NOTE < share < 1)
    if not listed:
        return ()
    fact = (
        f"Resamples in which a metric has no value are left out of its interval: {listed}. "
        "AUROC needs both correct and incorrect samples; with few of one kind its interval is too narrow."
    )
    return (Note("resamples_left_out", fact),)


@functools.cache
def student_quantile(level: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution at `level` in (0, 1), for whole degrees of freedom >= 1.

    References
    ----------
    Abramowitz and Stegun 1964, 26.7.3 and 26.7.4 (the distribution, a finite sum), 26.7.5 (many degrees of freedom).

    Examples
    --------
    >>> round(student_quantile(0.975, 4), 6), round(student_quantile(0.975, 1000), 6)
    (2.776445, 1.962339)
    """
    z = NormalDist().inv_cdf(level)
    if freedom > 100:
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        )
        return z + sum(term / freedom**power for power, term in enumerate(terms, start=1))
    # In the angle, t = sqrt(freedom) tan(angle), the distribution is an elementary function.
    (angle,) = _bisect(lambda x: _student_share(x, int(freedom)), np.array([level]), -math.pi / 2, math.pi / 2)
    return float(math.sqrt(freedom) * np.tan(angle))


def wilson_limits(share: float, size: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of `size` samples, `z` the quantile; `size` may be an effective number.

    References
    ----------
    Wilson 1927, "Probable inference, the law of succession, and statistical inference"; Korn and Graubard 1998,
    "Confidence intervals for proportions with small expected number of positive counts", for the effective number.

    Examples
    --------
    >>> [round(limit, 4) for limit in wilson_limits(0.0, 100, 1.96)]
    [0.0, 0.037]
    """
    if math.isnan(z):
        return math.nan, math.nan
    shrunk = 1 + z * z / size
    centre = (share + z * z / (2 * size)) / shrunk
    half = z / shrunk * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return (max(centre - half, 0.0) if share > 0 else 0.0), (min(centre + half, 1.0) if share < 1 else 1.0)


def gamma_limits(total: float, variance: float, next_event: float, confidence_level: float) -> tuple[float, float]:
    """Return the mid-p gamma interval of a sum of few independent events of different sizes.

    Parameters
    ----------
    total, variance : float
        The sum of the sizes of the events seen, and of their squares.
    next_event : float
        The size of one more event, > 0.
    confidence_level : float

    Returns
    -------
    low, high : float
        Quantiles of an equal mixture of two gamma distributions: one with mean `total` and variance `variance`, the
        other with one more event. For equal sizes it is the mid-p interval of a Poisson count.

    References
    ----------
    Fay and Feuer 1997, "Confidence intervals for directly standardized rates: a method based on the gamma
    distribution"; Tiwari, Clegg and Zou 2006, "Efficient interval estimation for age-adjusted cancer rates" (an event
    of mean size); Fay and Kim 2017, "Confidence intervals for directly standardized rates using mid-p gamma intervals".

    Examples
    --------
    >>> [round(limit, 3) for limit in gamma_limits(0.0, 0.0, 1.0, 0.95)]
    [0.0, 2.996]
    """
    tails = np.array([1 - confidence_level, 1 + confidence_level]) / 2

    def share(x: Floats) -> Floats:
        shares = np.ones_like(x)
        if total > 0:
            shares = _gamma_share(total**2 / variance, x * total / variance)
        mean, spread = total + next_event, variance + next_event**2
        return (shares + _gamma_share(mean**2 / spread, x * mean / spread)) / 2

    low, high = _bisect(share, tails, 0.0, total + 20 * math.sqrt(variance) + 40 * next_event)
    return float(low), float(high)


def newcombe_limits(area: float, positives: float, negatives: float, z: float) -> tuple[float, float]:
    """Return Newcombe's interval of an AUROC of few samples of one kind: its variance is that at the limit itself.

    Method 5: all areas from which the one seen is at most z standard errors away, as in Wilson's interval; the
    variance is Hanley and McNeil's with equal numbers of both kinds in its two correlations.

    References
    ----------
    Newcombe 2006, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2".

    Examples
    --------
    >>> [round(limit, 3) for limit in newcombe_limits(0.8, 1, 99, 1.96)]
    [0.291, 0.971]
    """
    areas = np.linspace(0.0, 1.0, 4097)
    pairs = (positives + negatives) / 2 - 1
    inflation = 1 + pairs * ((1 - areas) / (2 - areas) + areas / (1 + areas))
    variance = areas * (1 - areas) * inflation / (positives * negatives)
    excess = np.square(areas - area) - z * z * variance
    (inside,) = np.nonzero(excess <= 0)
    if not len(inside):
        return area, area
    return _crossing(areas, excess, inside[0], -1), _crossing(areas, excess, inside[-1], 1)


def _crossing(areas: Floats, excess: Floats, inside: int, step: int) -> float:
    """Return where `excess` passes 0 between a point of the grid and its neighbour, by a line."""
    outside = inside + step
    if not 0 <= outside < len(areas):
        return float(areas[inside])
    share = excess[inside] / (excess[inside] - excess[outside])
    return float(areas[inside] + share * (areas[outside] - areas[inside]))


def _student_share(angle: Floats, freedom: int) -> Floats:
    """Return the share of Student's distribution below sqrt(freedom) tan(angle)."""
    sine, cosine = np.sin(angle), np.cos(angle)
    odd = freedom % 2
    term = cosine if odd else np.ones_like(angle)
    total = np.zeros_like(angle)
    for k in range(2 + odd, freedom + 1, 2):  # A(t) = sin (1 + cos^2 / 2 + ..), with cos + 2/3 cos^3 + .. if odd
        total = total + term
        term = term * np.square(cosine) * (k - 1) / k
    inside = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return np.asarray((1 + inside) / 2)


def _gamma_share(shape: float, x: Floats) -> Floats:
    """Return the share below x of the gamma distribution of scale 1, by its power series."""
    x = np.minimum(x, shape + 40 * math.sqrt(shape) + 100)  # beyond, it is 1 to the last digit
    terms = np.arange(int(60 + 2 * (shape + x.max(initial=0.0))))
    log_x = np.log(np.maximum(x, 1e-300))
    first = shape * log_x - x - math.lgamma(shape + 1)
    logs = np.cumsum(log_x[:, None] - np.log(shape + 1 + terms), axis=1) + first[:, None]
    return np.asarray(np.minimum(np.exp(first) + np.exp(logs).sum(axis=1), 1.0))


def _bisect(share: Callable[[Floats], Floats], level: Floats, low: float, high: float) -> Floats:
    """Return where an increasing function of arrays reaches each level."""
    lows, highs = np.full(level.shape, low), np.full(level.shape, high)
    for _ in range(8):
        middle = (lows + highs) / 2
        below = share(middle) < level
        lows, highs = np.where(below, middle, lows), np.where(below, highs, middle)
    under, over, was_below = share(lows) - level, share(highs) - level, below
    for _ in range(40):  # the rule of false position, as Illinois mends it: an end that stays counts half
        middle = np.where(over > under, (lows * over - highs * under) / np.where(over > under, over - under, 1.0), lows)
        value = share(middle) - level
        if (np.abs(value) < 1e-12).all() or (np.abs(highs - lows) <= 1e-13 * np.abs(highs)).all():
            break
        below, again = value < 0, (value < 0) == was_below
        was_below = below
        under, over = (
            np.where(below, value, np.where(again, under / 2, under)),
            np.where(below, np.where(again, over / 2, over), value),
        )
        lows, highs = np.where(below, middle, lows), np.where(below, highs, middle)
    return np.asarray(middle)

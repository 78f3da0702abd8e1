"""Intervals: of any statistic by the bootstrap, and analytic ones of every metric from the influences of the samples.

A *statistic* is a function of counts, shape (B, N), that returns a mapping of keys to arrays of shape (B,): all
resamples are weights on one sorted data set, which is never copied or sorted again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from .calibration import confidence_bins, ece_influence, squared_gap
from .costs import ecuas_cost
from .decisions import Decisions, select
from .errors import InputError, Note
from .inputs import PER_SAMPLE, Array, FloatOrFloats, Floats, Ints, blocks, chunks
from .metrics import METRICS, Key, naive_values, recalibrated_uncertainty, sample_costs
from .options import Options
from .ranking import TieGroups
from .selective import LINES

K = TypeVar("K", bound=Hashable)
Counts = npt.NDArray[np.uint16]  # more draws of one unit than that do not happen
Statistic = Callable[[Array], Mapping[K, FloatOrFloats]]
DRAWN_TOGETHER = 2**13  # units; where there are more, each part of so many is counted in the cache
JACKKNIFE_BLOCKS = 1000
LEFT_OUT_NOTE = 0.01
_Influences = Iterator[tuple[Key, Floats]]
FEW = 10  # effective events below which first-order theory does not hold
ENOUGH = 25  # errors from which on the plug-in interval of a recalibrated value is near its level
FEW_GROUPS = 30  # below which intervals were simulated to hold the true value more or less often than they say
MANY = 2000  # errors from which only numbers of accepted samples can have few
SHARES = ("error_rate", "coverage")
OF_ACCEPTED = ("expected_cost", "accepted_cost")
NO_EVENTS = ("coverage", "cross_entropy", "brier_score")  # not a base plus what the errors cost
Limits = tuple[float, float]
NONE = (math.nan, math.nan)
STEP = 1e-5  # of the logarithm of a class's weight, for derivatives of the naive system
BLOCK = 2**22


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


class Design(NamedTuple):
    """How the samples were drawn.

    Attributes
    ----------
    weight : ndarray, shape (N,)
        Of each sample; they sum to 1.
    unit : ndarray of int, shape (N,)
        What was drawn: a sample, or a group of them.
    stratum : ndarray of int, shape (U,)
        Of each unit.
    freedom : int
        Units minus strata; 0 if a stratum has but one.
    """

    weight: Floats
    unit: Ints | None
    stratum: Ints
    freedom: int


def design_of(options: Options, num_samples: int) -> Design:
    """Return how the samples were drawn, as the options say it."""
    weight = options.sample_weight
    unit, stratum = units(num_samples, Resampling(groups=options.groups, strata=options.strata))
    sizes = np.array([len(stratum)]) if options.strata is None else np.bincount(stratum)
    freedom = len(stratum) - len(sizes) if sizes.min() > 1 else 0
    grouped = None if options.groups is None else unit
    share = np.broadcast_to(1 / num_samples, num_samples) if weight is None else weight / weight.sum()
    return Design(share, grouped, stratum, freedom)


def standard_error(influence: Floats, design: Design) -> float:
    """Return the standard error of a number from the influences (N,) of the samples: the infinitesimal jackknife.

    The influences of a group are added up first, their mean over each stratum is taken off, and a stratum of k units
    counts k / (k - 1). nan if a stratum has but one unit.

    References
    ----------
    Efron 1982, "The jackknife, the bootstrap and other resampling plans", chapter 6; Binder 1983, "On the variances of
    asymptotically normal estimators from complex surveys".
    """
    if not design.freedom:
        return math.nan
    count = len(design.stratum)
    if design.freedom == count - 1:  # one stratum
        total, squares = _moments(influence, design)
        return math.sqrt(max(squares - total**2 / count, 0.0) * (count / design.freedom))
    moved = sums_of_units(design.weight * influence, design)
    sizes = np.bincount(design.stratum)
    moved = moved - (np.bincount(design.stratum, moved) / sizes)[design.stratum]
    return math.sqrt(np.square(moved) @ (sizes / (sizes - 1))[design.stratum])


def sums_of_units(values: Floats, design: Design) -> Floats:
    """Sum values (N,) over the samples of each unit, shape (U,)."""
    if design.unit is None:
        return values
    return np.asarray(np.bincount(design.unit, values, minlength=len(design.stratum)), np.float64)


def _moments(values: Floats, design: Design) -> tuple[float, float]:
    """Return the sum, and the sum of squares, of what the values (N,) and their weights are in each unit."""
    if design.unit is not None:
        sums = sums_of_units(design.weight * values, design)
        return float(sums.sum()), float(np.square(sums).sum())
    are_equal, total, squares = not any(design.weight.strides), 0.0, 0.0
    for rows in blocks(len(values), row_size=PER_SAMPLE):
        part = values[rows] if are_equal else values[rows] * design.weight[rows]
        total += part.sum()
        squares += np.vecdot(part, part)
    unit = design.weight[0] if are_equal else 1.0
    return float(total * unit), float(squares * unit**2)


class Moments(NamedTuple):
    """What an interval is computed from, in memory and from a state alike: sums over groups of equal uncertainty.

    Attributes
    ----------
    uncertainty : ndarray, shape (G,)
        u of each group, increasing.
    weight, cost : ndarray, shape (G,)
        Sums of w and w c over the samples of a group, c the candidate cost: the weight and cost of `TieGroups`.
    weight2, weight2_cost, weight2_cost2 : ndarray, shape (G,)
        Sums of w^2, w^2 c and w^2 c^2, in the same unit of w. Without weights and for the 0-1 cost these are the number
        of samples, that of the wrong ones, and once more that.
    count : int
        Number of samples; those of weight 0 are none.
    """

    uncertainty: Floats
    weight: Floats
    cost: Floats
    weight2: Floats
    weight2_cost: Floats
    weight2_cost2: Floats
    count: int

    @property
    def ties(self) -> TieGroups:
        """The tie groups, as which the metrics of the order take them."""
        return TieGroups(self.weight, self.cost, self.uncertainty)


class Line(NamedTuple):
    """The influence on a number of a sample of cost c, but for a constant: intercept + slope c, (G,) each."""

    intercept: Floats
    slope: Floats


class Intervals(NamedTuple):
    """Limits (nan where there are none) and standard errors of numbers, and what a reader must know of them."""

    limits: dict[Key, Limits]
    standard_errors: dict[Key, float]
    notes: tuple[Note, ...]


def moments_of(decisions: Decisions, sample_weight: Floats | None = None) -> Moments:
    """Return the moments of samples from the least to the most uncertain, none of weight 0."""
    rank, cost = decisions.rank_by, decisions.candidate_cost
    starts = np.flatnonzero(np.append(True, rank[1:] != rank[:-1]))
    weight = np.broadcast_to(1.0, cost.shape) if sample_weight is None else sample_weight / sample_weight.max()
    of_samples = (weight, weight * cost, weight**2, weight**2 * cost, weight**2 * cost**2)
    sums = of_samples if len(starts) == len(rank) else [np.add.reduceat(values, starts) for values in of_samples]
    return Moments(decisions.uncertainty_at(rank[starts]), *sums, len(rank))


def line_of(
    key: Key, moments: Moments, form: Decisions, options: Options, values: Mapping[Key, FloatOrFloats]
) -> Line | None:
    """Return how a number moves with the samples; None if that is no function of their uncertainties and costs.

    Parameters
    ----------
    key : Key
    moments : Moments
    form : Decisions
        Of any number of rows, even none: which arrays there are, and u_M.
    options : Options
    values : mapping of Key to float
        With the number itself, and the parts of a ratio.
    """
    raise NotImplementedError


def analytic_limits(
    moments: Moments,
    form: Decisions,
    options: Options,
    values: Mapping[Key, FloatOrFloats],
    *,
    own: Mapping[Key, float] | None = None,
    spread: Callable[[Key, Line], tuple[float, float]] | None = None,
) -> Intervals:
    """Return the interval of each number: the one function for samples in memory, with and without groups, and states.

    Parameters
    ----------
    moments : Moments
    form : Decisions
        Of any number of rows, even none: which arrays there are, and u_M.
    options : Options
        With the confidence level; n, reject costs, epsilon, and of posteriors K and the cost.
    values : mapping of Key to float
        The numbers, with the parts of those that are ratios.
    own : mapping of Key to float, optional
        Standard errors of the numbers that are no functions of the groups: cross-entropy and Brier score of posteriors,
        and their normalised values. Without one there is no interval of these.
    spread : callable, optional
        Where samples are in groups or strata: from a key and its line, how many times as large the variance is as that
        of independent samples, and the degrees of freedom.
    """
    raise NotImplementedError


def analytic_intervals(
    decisions: Decisions,
    ties: TieGroups,
    options: Options,
    values: Mapping[Key, FloatOrFloats],
    *,
    only: Collection[Key] | None = None,
) -> tuple[dict[Key, Limits], tuple[Note, ...]]:
    """Return the interval of each number, and notes on those that have none.

    Parameters
    ----------
    decisions : Decisions
        From the least to the most uncertain sample.
    ties : TieGroups
    options : Options
        With a confidence level.
    values : mapping of Key to float
        Those of `results.all_values`, with all that those wanted are made of.
    only : collection of Key, optional
        Those whose interval is wanted; by default all.

    Returns
    -------
    limits : dict of Key to (low, high)
        nan where there is none.
    notes : tuple of Note

    References
    ----------
    Those of the functions in `intervals` and `influence`.
    """
    design = design_of(options, len(decisions.uncertainty))
    wanted = values if only is None else {key: values[key] for key in only}
    if not design.freedom:
        fact = "There are no intervals: each stratum needs at least two samples, or two groups where there are groups."
        return dict.fromkeys(wanted, NONE), (Note("no_interval", fact),)
    level, errors = options.confidence_level or 0.0, _errors(decisions, ties, options, values)
    number = _effective_number(decisions.candidate_cost, design)
    # Where half of the units have errors these are not rare, and theirs is the t interval of few units.
    few = min(FEW, _effective_units(design) / 2)
    limits: dict[Key, Limits] = dict.fromkeys(wanted, NONE)
    possible: dict[Key, Floats] = {}
    few_errors: list[Key] = []
    for key, influence in influences(decisions, ties, options, values, only=_with_influence(wanted)):
        value, added = float(values[key]), errors.get(key)
        if added is not None and _are_few(key, added, design, few):
            few_errors.append(key)
            possible = possible or _errors(decisions, ties, options, values, hypothetical=True)
            limits[key] = _of_few_errors(value, influence, added, possible[key], design, level)
        elif added is not None or _is_of_counts(key) or number >= (ENOUGH if key.variant == "recalibrated" else few):
            limits[key] = _of_many(key, value, influence, added, decisions, design, level)
    return limits, _notes(wanted, limits, few_errors, design)


def _with_influence(values: Mapping[Key, FloatOrFloats]) -> list[Key]:
    """Return the keys of the numbers that exist, are not biased, and whose interval comes from their influence."""
    return [key for key, value in values.items() if math.isfinite(float(value)) and not is_biased(key)]


def is_biased(key: Key) -> bool:
    """Return whether a number is biased upwards by more than an interval around it is wide."""
    return key.metric == "ece" or key.variant == "calibration_loss"


def note_biased(keys: Sequence[Key]) -> tuple[Note, ...]:
    """Return a note that names the numbers that have no interval since they are biased."""
    listed = ", ".join(map(str, keys))
    fact = f"These metrics are biased upwards, so no valid interval is known: {listed}."
    return (Note("biased", fact),) if keys else ()


def limits_of_gap(decisions: Decisions, options: Options) -> Limits:
    """Return the limits of `ece_debiased`: all values whose square is at most some standard errors away.

    The variance of E is a E + b, b that of the pairs of a calibrated system, a from that of the bins' gaps: of what is
    left of each sample's gap, and no less than that of answers drawn by their confidences.
    """
    design = design_of(options, len(decisions.uncertainty))
    if decisions.confidence is None or not design.freedom:
        return NONE
    quantile = quantile_of(design, options.confidence_level or 0.0)
    square = squared_gap(
        decisions.confidence,
        decisions.candidate_cost,
        n_bins=options.n_bins,
        sample_weight=options.sample_weight,
        copies=options.weights_are == "counts",
        groups=options.groups,
    )
    share, mean, covariance = _gaps_of_bins(decisions.confidence, decisions.candidate_cost, options.n_bins, design)
    if not len(share):
        return NONE
    spread = share * mean
    slope = 4 * float(spread @ covariance @ spread) / max(float(spread @ mean), 1e-300)
    start = 2 * float(share @ np.square(covariance) @ share)
    middle = float(square) + quantile**2 * slope / 2
    half = quantile * math.sqrt(max(quantile**2 * slope**2 / 4 + slope * float(square) + start, 0.0))
    return math.sqrt(max(middle - half, 0.0)), math.sqrt(max(middle + half, 0.0))


def _gaps_of_bins(q: Floats, incorrect: Floats, n_bins: int, design: Design) -> tuple[Floats, Floats, Floats]:
    """Return the share of each bin that holds two units or more, its mean gap, and the covariances of these."""
    _, bins = np.unique(confidence_bins(q, n_bins=n_bins), return_inverse=True)
    gap, weight = q - (1 - incorrect), design.weight
    share = np.asarray(np.bincount(bins, weight), np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):  # bins without weight
        mean = np.bincount(bins, weight * gap) / share
        covariance = _covariance_of_bins(gap - mean[bins], bins, share, design)
        least = np.bincount(bins, np.square(weight) * q * (1 - q)) / np.square(share)
    np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), least))
    (held,) = np.nonzero(np.isfinite(np.diagonal(covariance)))
    return share[held] / share[held].sum(), mean[held], covariance[np.ix_(held, held)]


def _covariance_of_bins(rest: Floats, bins: Ints, share: Floats, design: Design) -> Floats:
    """Return the covariances (B, B) of the mean gaps of bins, from what they leave of each sample's (N,).

    nan for a bin that holds but one unit.
    """
    count = len(share)
    if design.unit is None:
        covariance = np.diag(np.bincount(bins, np.square(design.weight * rest)) / np.square(share))
        alone = np.bincount(bins, np.square(design.weight)) / np.square(share)
    else:
        cell, cells = design.unit * count + bins, len(design.stratum) * count
        moved, size = (
            np.bincount(cell, values, minlength=cells).reshape(-1, count) / share
            for values in (design.weight * rest, design.weight)
        )
        covariance, alone = moved.T @ moved, np.square(size).sum(axis=0)
    rooted = np.sqrt(np.where(alone < 1 - 1e-9, 1 - alone, np.nan))  # k - 1 of k equal units
    return np.asarray(covariance / np.outer(rooted, rooted))


def limits_on_log_scale(value: float, half: float) -> Limits:
    """Return the limits of a number that is not negative; of 0 there are none."""
    if not (value > 0 and math.isfinite(half)):
        return NONE
    factor = math.exp(min(half / value, 700.0))
    return value / factor, value * factor


def limits_of_auroc(value: float, error: float, wrong: float, right: float, quantile: float) -> Limits:
    """Return DeLong's limits on the logit scale; Newcombe's where wrong or right answers are few, or at 0 and 1."""
    if min(wrong, right) < FEW or not (error > 0 and 0 < value < 1):
        return newcombe_limits(value, wrong, right, quantile)
    logit, half = math.log(value / (1 - value)), quantile * error / (value * (1 - value))
    return 1 / (1 + math.exp(min(half - logit, 700.0))), 1 / (1 + math.exp(min(-half - logit, 700.0)))


def _of_share(value: float, influence: Floats, design: Design, level: float) -> Limits:
    """Return Wilson's limits of a share."""
    counts = influence + value > 0.5
    rarer = np.where(counts == (value < 0.5), 1.0, 0.0)
    if not rarer.any():  # it is 0 or 1, whatever rounding made of a sum of weights
        return wilson_limits(float(round(value)), _effective_units(design), quantile_of(design, level))
    return wilson_limits(value, _effective_size(value, influence, design), quantile_of(design, level, rarer))


def quantile_of(design: Design, level: float, events: Floats | None = None) -> float:
    """Return Student's quantile: of groups, which estimate the variance, only as many count as hold the events.

    References
    ----------
    Korn and Graubard 1999, "Analysis of health surveys" (degrees of freedom of a subpopulation).
    """
    freedom = design.freedom
    if events is not None and design.unit is not None and events.any():
        freedom = min(freedom, max(int(_effective_number(events, design)) - 1, 1))
    return student_quantile((1 + level) / 2, freedom) if freedom else math.nan


def _is_of_counts(key: Key) -> bool:
    """Return whether a number has an interval of its own, however few its errors."""
    return key.metric == "auroc" or (key.metric in SHARES and not key.variant)


def _are_few(key: Key, errors: Floats, design: Design, few: float) -> bool:
    if _is_of_counts(key) or _are_many_in_few_groups(key, errors, design):
        return False
    return _effective_number(errors, design) < few


def _are_many_in_few_groups(key: Key, errors: Floats, design: Design) -> bool:
    """Return whether the errors that a selective risk is made of are not few but for the groups they are in."""
    if key.metric != "selective_risk" or design.unit is None:
        return False
    return _effective_number(errors, design) < FEW <= _effective_number(errors, design._replace(unit=None))


def _of_many(
    key: Key,
    value: float,
    influence: Floats,
    errors: Floats | None,
    decisions: Decisions,
    design: Design,
    level: float,
) -> Limits:
    """Return the limits by first-order theory."""
    if key.metric in SHARES and not key.variant:
        return _of_share(value, influence, design, level)
    error, quantile = standard_error(influence, design), quantile_of(design, level)
    if key.metric == "auroc":
        cost = decisions.candidate_cost
        wrong, right = _effective_number(cost, design), _effective_number(1 - cost, design)
        return limits_of_auroc(value, error, wrong, right, quantile)
    if errors is not None and _are_many_in_few_groups(key, errors, design):
        quantile = quantile_of(design, level, errors)
    return limits_on_log_scale(value, quantile * error)


def _of_few_errors(
    value: float, influence: Floats, errors: Floats, possible: Floats, design: Design, level: float
) -> Limits:
    """Return the limits of a base, first-order theory for it, plus what few errors cost, a sum of rare events.

    The two are put together as if they were independent, each side by its own distance (Zou and Donner 2008,
    "Construction of confidence limits about effect measures").
    """
    rest = influence - errors
    base = quantile_of(design, level) * standard_error(rest - design.weight @ rest, design)
    below, above = base**2, base**2
    for sign in (1, -1):  # an error costs less than a right answer where a confidence is below one half
        seen = sums_of_units(np.maximum(sign * errors, 0.0) * design.weight, design)
        next_size = _next_size(seen, np.maximum(sign * possible, 0.0) * design.weight, design)
        if next_size > 0:
            total = float(seen.sum())
            low, high = gamma_limits(total, float(seen @ seen), next_size, level)
            less, more = (total - low, high - total) if sign > 0 else (high - total, total - low)
            below, above = below + less**2, above + more**2
    return max(value - math.sqrt(below), 0.0), value + math.sqrt(above)


def _next_size(seen: Floats, possible: Floats, design: Design) -> float:
    """Return the size of one more error: of those seen, or of these and `FEW` possible ones, if that is more."""
    if not possible.any():
        return 0.0
    if not seen.any():
        possible = sums_of_units(possible, design)
        return float(possible.sum() / np.count_nonzero(possible))
    of_seen, of_possible = seen @ seen / seen.sum(), possible.sum() / np.count_nonzero(possible)
    count = np.count_nonzero(seen)
    return float(max(of_seen, (count * of_seen + FEW * of_possible) / (count + FEW)))


def _errors(
    decisions: Decisions,
    ties: TieGroups,
    options: Options,
    values: Mapping[Key, FloatOrFloats],
    *,
    hypothetical: bool = False,
) -> dict[Key, Floats]:
    """Return what the candidate cost of each sample adds to each number (N,); or, hypothetically, would at most add."""
    cost = decisions.candidate_cost
    if hypothetical:
        cost = np.full_like(cost, 1.0 if decisions.confidence is not None else decisions.max_uncertainty)
    few = hypothetical or np.count_nonzero(cost) <= MANY
    if not (few or options.reject_costs):
        return {}
    rows = np.flatnonzero(cost)
    chosen = select(decisions._replace(candidate_cost=cost), rows)
    asked = {name for key in values for name in (key.metric, *(METRICS[key.metric].ratio or ()))}
    names = [
        name for name in asked if METRICS[name].sample_cost and name not in NO_EVENTS and (few or name in OF_ACCEPTED)
    ]
    added: dict[Key, Floats] = {}
    if names:
        right = chosen._replace(candidate_cost=np.zeros(len(rows)))
        added = dict(sample_costs(chosen, options, only=names))
        added |= {key: added[key] - without for key, without in sample_costs(right, options, only=names)}
    for key in [key for key in added if key.metric == "accepted_cost"]:
        accepted_cost, coverage = added.pop(key), values[key._replace(metric="coverage")]
        added[key._replace(metric="selective_risk")] = accepted_cost / (coverage or math.nan)
    if few:
        added |= {key: slope[rows] * cost[rows] for key, slope in cost_slopes(decisions, ties) if key in values}
    return {key: _scattered(rows, sizes, len(cost)) for key, sizes in added.items() if key in values}


def _scattered(rows: Ints, values: Floats, num_samples: int) -> Floats:
    full = np.zeros(num_samples)
    full[rows] = values
    return full


def _effective_number(sizes: Floats, design: Design) -> float:
    """Return how many events of equal size are as variable as these, each unit's taken together."""
    total, squares = _moments(sizes if sizes.min() >= 0 else np.abs(sizes), design)
    return round(total**2 / squares, 9) if squares > 0 else 0.0  # else rounding decides whether 10 are fewer than 10


def _effective_size(share: float, influence: Floats, design: Design) -> float:
    """Return the number of independent samples whose share is as uncertain; of a share of 0 or 1, that of the units."""
    error = standard_error(influence, design)
    if error > 0:
        return share * (1 - share) / error**2
    return _effective_units(design)


def _effective_units(design: Design) -> float:
    """Return how many units of equal weight are as variable as these."""
    if design.unit is None and not any(design.weight.strides):
        return len(design.weight)
    return _effective_number(np.ones(len(design.weight)), design)


def _notes(
    values: Mapping[Key, FloatOrFloats], limits: Mapping[Key, Limits], few: Collection[Key], design: Design
) -> tuple[Note, ...]:
    bare = [key for key, (low, _) in limits.items() if math.isnan(low) and math.isfinite(float(values[key]))]
    biased = [key for key in bare if is_biased(key)]
    facts = {
        "There are too few errors for an interval of": [key for key in bare if key not in biased],
        "These intervals do not account for fitting the recalibration on the same samples": [
            key for key in values if key.variant == "recalibrated" and key not in bare
        ],
        f"With fewer than {FEW} errors these intervals are wider than they would have to be": few,
    }
    listed = {fact: ", ".join(map(str, keys)) for fact, keys in facts.items() if keys}
    of_groups = _note_few_groups(design)
    return (
        note_biased(biased)
        + tuple(Note("no_interval", f"{fact}: {keys}.") for fact, keys in listed.items())
        + of_groups
    )


def _note_few_groups(design: Design) -> tuple[Note, ...]:
    count = len(design.stratum)
    if design.unit is None or count >= FEW_GROUPS:
        return ()
    return (Note("few_groups", f"With {count} groups all intervals are approximate: fewer than {FEW_GROUPS}."),)


def influences(
    decisions: Decisions,
    ties: TieGroups,
    options: Options,
    values: Mapping[Key, FloatOrFloats],
    *,
    only: Collection[Key] | None = None,
) -> Iterator[tuple[Key, Floats]]:
    r"""Yield the influence (N,) of each sample on each number, one number at a time; its weighted mean is 0.

    A mean of costs has :math:`\psi = c - \theta`; a ratio, a normalised value and a difference follow by the chain
    rule. With F the share of the weight that is less uncertain (half of the ties counted), L = -log F averaged over
    the ties, p the mean cost, C the cost share of what is less uncertain, and G and H the shares of correct and
    incorrect samples that are:

    - AUGRC: :math:`\psi = c (1 - F) + C - 2 \theta`;
    - AURC, as an integral over coverage: :math:`\psi = c L + p - \theta - \int_F^1 C(s) / s^2 ds`, which is what
      the derivative of E[c L] leaves;
    - AUROC: :math:`\psi = c (G - \theta) / p + (1 - c) (1 - H - \theta) / (1 - p)`;
    - ECE: the sign of the bin's gap times the sample's, minus :math:`\theta`;
    - a recalibrated ECUAS_n: as a mean, for what a new fit changes is of second order.

    Parameters
    ----------
    decisions : Decisions
        From the least to the most uncertain sample.
    ties : TieGroups
        Of the same samples and weights.
    options : Options
    values : mapping of Key to float
        `results.all_values` of them.
    only : collection of Key, optional
        Those whose influences are wanted; by default all.

    Yields
    ------
    key : Key
    influence : ndarray, shape (N,)

    References
    ----------
    Hampel 1974, "The influence curve and its role in robust estimation"; DeLong, DeLong and Clarke-Pearson 1988
    (AUROC); Zhou et al. 2024, "A novel characterization of the population area under the risk coverage curve" (AURC
    as a weighted mean of costs).
    """
    wanted = values if only is None else only
    yield from _of_means(decisions, options, values, wanted)
    yield from _of_order(decisions, ties, options, wanted)
    if any(key.variant == "normalized" for key in wanted):
        yield from _of_normalized(decisions, options, values, wanted)
    if any(key.variant in ("recalibrated", "calibration_loss") for key in wanted):
        yield from _of_recalibrated(decisions, ties, options, values, wanted)


def cost_slopes(decisions: Decisions, ties: TieGroups) -> _Influences:
    """Yield, for AURC and AUGRC, how much more each sample (N,) adds to the number, times N, per unit of its cost."""
    sizes = _sizes(decisions.rank_by)
    for name, lines in (("aurc", LINES["aurc"]), ("augrc", LINES["augrc"])):
        yield Key(name), np.repeat(lines(ties)[1], sizes)


def _of_means(
    decisions: Decisions, options: Options, values: Mapping[Key, FloatOrFloats], wanted: Collection[Key]
) -> _Influences:
    names = {key.metric for key in wanted if not key.variant}
    for key, cost in sample_costs(decisions, options, only=names) if names else ():
        if key in wanted:
            yield key, cost - values[key]
        risk = Key("selective_risk", key.parameter)
        if key.metric == "coverage" and risk in wanted:
            share = np.average(cost, weights=options.sample_weight)
            yield risk, cost * (decisions.candidate_cost - values[risk]) / (share or np.nan)


def _of_order(decisions: Decisions, ties: TieGroups, options: Options, wanted: Collection[Key]) -> _Influences:
    """Yield those of AUROC, AURC, AUGRC, which are affine in the cost with one line for each tie group, and of ECE."""
    cost, sizes = decisions.candidate_cost, None
    for key in wanted:
        if key == Key("ece"):
            assert decisions.confidence is not None
            weight = options.sample_weight
            yield key, ece_influence(decisions.confidence, cost, n_bins=options.n_bins, sample_weight=weight)
        elif key.metric in LINES and not key.variant:
            intercept, influence = LINES[key.metric](ties)
            if len(influence) < len(cost):
                sizes = _sizes(decisions.rank_by) if sizes is None else sizes
                intercept, influence = np.repeat(intercept, sizes), np.repeat(influence, sizes)
            for rows in blocks(len(cost), row_size=PER_SAMPLE):
                influence[rows] *= cost[rows]
                influence[rows] += intercept[rows]
            influence -= np.average(influence, weights=options.sample_weight)
            yield key, influence


def _of_normalized(
    decisions: Decisions, options: Options, values: Mapping[Key, FloatOrFloats], wanted: Collection[Key]
) -> _Influences:
    """Divide by the naive system's value, which moves too: psi = (psi_value - normalised * psi_naive) / naive."""
    naive = naive_values(decisions, options, sample_weight=options.sample_weight)
    naive = {key: value for key, value in naive.items() if key._replace(variant="normalized") in wanted}
    moved = _of_naive(decisions, options)
    of_means = dict(_of_means(decisions, options, values, naive))
    for key, value in naive.items():
        normalized = key._replace(variant="normalized")
        with np.errstate(divide="ignore", invalid="ignore"):
            yield normalized, (of_means[key] - values[normalized] * moved[key]) / value


def _of_naive(decisions: Decisions, options: Options) -> dict[Key, Floats]:
    """Return the influences on the naive system's values: those of the classes, by central differences."""
    found: dict[Key, Floats] = {}
    if decisions.confidence is not None:
        one_each = Decisions(np.zeros(2), np.array([0.0, 1.0]), decisions.max_uncertainty, confidence=np.zeros(2))
        found |= _by_class(one_each, (decisions.candidate_cost > 0).astype(np.int64), options)
    if decisions.labels is not None:
        num_classes = int(options.num_classes or 0)
        zeros = np.zeros(num_classes)
        one_each = Decisions(zeros, zeros, decisions.max_uncertainty, labels=np.arange(num_classes))
        found |= _by_class(one_each, decisions.labels, options)
    return found


def _by_class(one_each: Decisions, of_sample: Ints, options: Options) -> dict[Key, Floats]:
    count = len(one_each.uncertainty)
    shares = np.bincount(of_sample, options.sample_weight, minlength=count) / 1.0
    shares /= shares.sum()
    parts: dict[Key, list[Floats]] = {}
    for start in range(0, count, rows := max(1, BLOCK // count)):
        moved = np.arange(start, min(start + rows, count))
        weights = np.tile(shares, (2, len(moved), 1))
        weights[0, np.arange(len(moved)), moved] *= 1 + STEP
        weights[1, np.arange(len(moved)), moved] *= 1 - STEP
        for key, (up, down) in naive_values(one_each, options, sample_weight=weights).items():
            slope = (up - down) / (2 * STEP * np.where(shares[moved] > 0, shares[moved], 1.0))
            parts.setdefault(key, []).append(slope)
    return {key: np.concatenate(slopes)[of_sample] for key, slopes in parts.items()}


def _of_recalibrated(
    decisions: Decisions,
    ties: TieGroups,
    options: Options,
    values: Mapping[Key, FloatOrFloats],
    wanted: Collection[Key],
) -> _Influences:
    u_max, cost = decisions.max_uncertainty, decisions.candidate_cost
    u = np.repeat(recalibrated_uncertainty(ties, max_uncertainty=u_max), _sizes(decisions.rank_by))
    for key, old in sample_costs(decisions, options, only=("ecuas",)):
        n = key.parameter or 0.0
        new = ecuas_cost(u, cost, n=n, max_uncertainty=u_max, epsilon=options.epsilon)
        best, loss = key._replace(variant="recalibrated"), key._replace(variant="calibration_loss")
        if best in wanted:
            yield best, new - values[best]
        if loss in wanted:
            yield loss, old - new - values[loss]


def _sizes(ranked: Floats) -> Ints:
    """Return the number of samples of each tie group."""
    return np.diff(np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1], [True]])))

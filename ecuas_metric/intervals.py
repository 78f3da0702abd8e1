"""Intervals: of any statistic by the bootstrap, and analytic ones of every metric from the samples' influences.

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

from .calibration import ece_influence
from .decisions import Decisions
from .errors import InputError, Note
from .inputs import SAMPLE_SIZE, Array, Bools, FloatOrFloats, Floats, Ints, blocks, chunks
from .metrics import METRICS, Key, naive_slopes, naive_values, recalibrated_uncertainty
from .options import Options
from .ranking import TieGroups
from .selective import LINES, finite_sample_bias

K = TypeVar("K", bound=Hashable)
Counts = npt.NDArray[np.uint16]  # more draws of one unit than that do not happen
Statistic = Callable[[Array], Mapping[K, FloatOrFloats]]
DRAWN_TOGETHER = 2**13  # units; where there are more, each part of so many is counted in the cache
JACKKNIFE_BLOCKS = 1000
LEFT_OUT_NOTE = 0.01
Limits = tuple[float, float]
NONE = (math.nan, math.nan)
FEW = 10  # effective wrong, or right, answers below which first-order theory does not hold
ENOUGH = 25  # of them, above which the plug-in interval of a recalibrated value is near its nominal level
FEW_EVENTS = 30  # equal influences below which Newcombe's limits bound DeLong's
FEW_GROUPS = 5  # effective groups, below which a note calls all intervals approximate
SHARES = ("error_rate", "coverage")
CONFIDENCE_SCORES = ("confidence_cross_entropy", "confidence_brier_score")  # normalised by a function of the error rate
MOST_GROUPS = 2**16  # of equal uncertainty, used for an interval
CELLS = 12  # of confidence, at most
PER_CELL = 5  # incorrect or correct answers, whichever are fewer, per cell
LEAST_CELLS = 3
BELIEF = 3.0  # prior samples, anywhere in a cell, on the cost of a mistake there
MOST_SKEW = 0.7  # of half an interval
UNSEEN = 0.5  # reported share of the squared distance to a limit without a mistake seen; twice that with ten
ROUNDING = 1e-9


class Resampling(NamedTuple):
    """How resamples are drawn: how many, their seed, the group (N,) and the stratum (N,) of each sample, or None."""

    n_resamples: int = 1000
    random_state: int = 0
    groups: Ints | None = None
    strata: Ints | None = None


def bootstrap(
    statistic: Statistic[K], num_samples: int, *, resampling: Resampling, progress: bool = False
) -> dict[K, Floats]:
    """Return the statistic of each resample, shape (`n_resamples`,) for each key (Efron and Tibshirani 1993)."""
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
    """Return how often each of `size` units is drawn in `size` draws, (rows, size); of many, by parts in the cache."""
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
    """Return `count` random integers in [0, `below`); raw bits where that is a power of two."""
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
    """Return the percentile interval of finite replicates (B,); with a `jackknife` (J,), the BCa one (Efron 1987)."""
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
    """Return the interval of each key of a statistic, "percentile" or "bca", and a note if resamples were left out."""
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
    """Return the quantile of Student's t distribution at `level` in (0, 1): the normal one for infinite freedom."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(level) if math.isinf(freedom) else stdtrit(freedom, level))


def wilson_limits(share: float, size: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of `size` samples, which may be an effective number; `z` is the quantile."""
    if math.isnan(z):
        return math.nan, math.nan
    shrunk = 1 + z * z / size
    centre = (share + z * z / (2 * size)) / shrunk
    half = z / shrunk * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return (max(centre - half, 0.0) if share > 0 else 0.0), (min(centre + half, 1.0) if share < 1 else 1.0)


def share_limits(share: float, size: float, z: float) -> tuple[float, float]:
    """Return the wider of Wilson's and Jeffreys' limits of a share of `size` samples, each side by itself."""
    low, high = jeffreys_limits(np.array([share * size]), np.array([(1 - share) * size]), z)
    wilson = wilson_limits(share, size, z)
    return min(wilson[0], float(low[0])), max(wilson[1], float(high[0]))


def jeffreys_limits(count: Floats, rest: Floats, z: float) -> tuple[Floats, Floats]:
    """Return Jeffreys' limits of shares of `count` and `rest` samples, any numbers, (K,) each (Brown et al. 2001)."""
    from scipy.special import betaincinv, ndtr

    low, high = (betaincinv(count + 0.5, rest + 0.5, ndtr(sign * z)) for sign in (-1, 1))
    return np.where(count > ROUNDING, low, 0.0), np.where(rest > ROUNDING, high, 1.0)


def newcombe_limits(area: float, positives: float, negatives: float, z: float) -> tuple[float, float]:
    """Return Newcombe's interval of an AUROC with few samples of one kind: all areas within z standard errors.

    Method 5: each area has its own variance, as in Wilson's interval: Hanley and McNeil's, with equal numbers of both
    kinds in its two correlations.

    References
    ----------
    Newcombe 2006, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2".

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
    """Return where `excess` crosses 0 between a grid point and its neighbour, by linear interpolation."""
    outside = inside + step
    if not 0 <= outside < len(areas):
        return float(areas[inside])
    share = excess[inside] / (excess[inside] - excess[outside])
    return float(areas[inside] + share * (areas[outside] - areas[inside]))


class Design(NamedTuple):
    """The sampling design of N samples in U units (samples or groups)."""

    weight: Floats  # (N,), sums to 1
    unit: Ints | None  # (N,), the group of each sample; None without groups
    stratum: Ints  # (U,), that of each unit
    freedom: float  # units (effective, for groups) minus strata; 0 if a stratum has one unit only


def design_of(options: Options, num_samples: int) -> Design:
    """Return the sampling design that the options describe."""
    weight = options.sample_weight
    unit, stratum = units(num_samples, Resampling(groups=options.groups, strata=options.strata))
    sizes = np.array([len(stratum)]) if options.strata is None else np.bincount(stratum)
    share = np.broadcast_to(1 / num_samples, num_samples) if weight is None else weight / weight.sum()
    freedom = (len(stratum) if weight is None else 1 / float(share @ share)) - len(sizes)
    if options.groups is not None:
        # Satterthwaite's number for variances between those of answers that are independent, w, and all alike, w^2.
        variance = np.bincount(unit, share) ** 1.5
        freedom = float(variance.sum() ** 2 / (variance @ variance)) - len(sizes)
    return Design(
        share, None if options.groups is None else unit, stratum, max(freedom, 1.0) if sizes.min() > 1 else 0.0
    )


def standard_error(influence: Floats, design: Design) -> float:
    """Return the standard error of a number from the influences (N,) of the samples, whose weighted mean is 0.

    Influences are summed over each group, and a group of weight w counts 1 / (1 - w), which is k / (k - 1) for k equal
    ones; with strata, they are centred in each, and k units count k / (k - 1). nan if a stratum has one unit only.

    References
    ----------
    Efron 1982, "The jackknife, the bootstrap and other resampling plans", chapter 6; Binder 1983, "On the variances of
    asymptotically normal estimators from complex surveys"; Bell and McCaffrey 2002, "Bias reduction in standard errors
    for linear regression with multi-stage samples" (groups of different weights).
    """
    if not design.freedom:
        return math.nan
    count, sizes = len(design.stratum), np.bincount(design.stratum)
    if len(sizes) == 1 and design.unit is None:
        total, squares = _moments(influence, design)
        return math.sqrt(max(squares - total**2 / count, 0.0) * (count / (count - 1)))
    moved = sums_of_units(design.weight * influence, design)
    if len(sizes) == 1:
        return float(np.linalg.norm(moved / np.sqrt(1 - sums_of_units(design.weight, design))))
    moved = moved - (np.bincount(design.stratum, moved) / sizes)[design.stratum]
    return math.sqrt(np.square(moved) @ (sizes / (sizes - 1))[design.stratum])


def sums_of_units(values: Floats, design: Design) -> Floats:
    """Sum values (N,) over the samples of each unit, shape (U,)."""
    if design.unit is None:
        return values
    return np.asarray(np.bincount(design.unit, values, minlength=len(design.stratum)), np.float64)


def _moments(values: Floats, design: Design) -> tuple[float, float]:
    """Return the sum, and the sum of squares, of the weighted values (N,) summed over each unit."""
    if design.unit is not None:
        sums = sums_of_units(design.weight * values, design)
        return float(sums.sum()), float(np.square(sums).sum())
    are_equal, total, squares = not any(design.weight.strides), 0.0, 0.0
    for rows in blocks(len(values), row_size=SAMPLE_SIZE):
        part = values[rows] if are_equal else values[rows] * design.weight[rows]
        total += part.sum()
        squares += np.vecdot(part, part)
    unit = design.weight[0] if are_equal else 1.0
    return float(total * unit), float(squares * unit**2)


def quantile_of(design: Design, level: float, events: Floats | None = None) -> float:
    """Return Student's quantile; with groups, only those that hold events count (Korn and Graubard 1999)."""
    freedom = _freedom_of(design, events)
    return student_quantile((1 + level) / 2, freedom) if freedom else math.nan


def _freedom_of(design: Design, events: Floats | None) -> float:
    if events is None or design.unit is None or not events.any():
        return design.freedom
    total, squares = _moments(events, design)
    return min(design.freedom, max(round(total**2 / squares, 9) - 1, 1.0))


class Moments(NamedTuple):
    """Sums over groups of equal uncertainty (G,), in memory and from a state: all that an interval is computed from.

    w is the weight of a sample, c its candidate cost. Without weights and for the 0-1 cost, `weight2` is the number of
    samples, and `weight2_cost` and `weight2_cost2` that of the incorrect ones.
    """

    uncertainty: Floats  # increasing
    weight: Floats  # sum of w, as in `TieGroups`
    cost: Floats  # sum of w c, as in `TieGroups`
    weight2: Floats  # sum of w^2, in the unit of `weight`
    weight2_cost: Floats  # sum of w^2 c
    weight2_cost2: Floats  # sum of w^2 c^2
    num_samples: int  # without those of weight 0

    @property
    def ties(self) -> TieGroups:
        """The same groups as `TieGroups`, for the metrics of the order."""
        return TieGroups(self.weight, self.cost, self.uncertainty)

    @property
    def effective_count(self) -> float:
        """The effective number of samples, (sum w)^2 / sum w^2 (Kish)."""
        return float(self.weight.sum() ** 2 / self.weight2.sum())

    @property
    def wrong(self) -> float:
        """The effective number of incorrect answers, or of costs."""
        squares = float(self.weight2_cost2.sum())
        return round(float(self.cost.sum()) ** 2 / squares, 9) if squares else 0.0

    @property
    def right(self) -> float:
        """The effective number of correct answers, for the 0-1 cost."""
        squares = float((self.weight2 - 2 * self.weight2_cost + self.weight2_cost2).sum())
        return round(float((self.weight - self.cost).sum()) ** 2 / squares, 9) if squares > 0 else 0.0


class Line(NamedTuple):
    """The influence of a sample of cost c on a number, up to a constant: intercept + slope c, (G,) each."""

    intercept: Floats
    slope: Floats


class Intervals(NamedTuple):
    """Limits (nan where there are none) and standard errors of numbers, and the notes that belong to them."""

    limits: dict[Key, Limits]
    standard_errors: dict[Key, float]
    notes: tuple[Note, ...]


def moments_of(decisions: Decisions, sample_weight: Floats | None = None) -> Moments:
    """Return the moments of samples sorted by increasing uncertainty, none of weight 0."""
    rank, cost = decisions.rank_by, decisions.candidate_cost
    starts = _starts(rank)
    weight = np.broadcast_to(1.0, cost.shape) if sample_weight is None else sample_weight / sample_weight.max()
    square = weight if sample_weight is None else np.square(weight)
    cost2 = cost if decisions.confidence is not None else np.square(cost)
    if sample_weight is None:
        sums = [weight, cost, weight, cost, cost2]
    else:
        sums = [weight, weight * cost, square, square * cost, square * cost2]
    if len(starts) < len(rank):
        sums = [np.add.reduceat(values, starts) for values in sums]
    w, wc, w2, w2c, w2c2 = sums
    return Moments(decisions.uncertainty_at(rank[starts]), w, wc, w2, w2c, w2c2, len(rank))


def _starts(values: Floats) -> Ints:
    """Return the index at which each run of equal neighbours starts."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))


def line_of(
    key: Key, moments: Moments, form: Decisions, options: Options, values: Mapping[Key, FloatOrFloats]
) -> Line | None:
    r"""Return the influence of the samples on a number; None if it is no function of their uncertainties and costs.

    The influence of a sample is the derivative of a number with respect to the sample's share of the weight. A mean of
    costs has :math:`\psi = c - \theta`; ratios and normalised values follow by the chain rule; a recalibrated ECUAS_n
    has that of a mean, since the effect of a new fit is of second order; for metrics of the order see
    `selective.LINES`. `values` hold the number itself; `form` tells u_M and which arrays there are, and may have no
    rows.

    References
    ----------
    Hampel 1974, "The influence curve and its role in robust estimation".
    """
    metric, u = METRICS[key.metric], moments.uncertainty
    if metric.assesses == "posteriors" or not (metric.sample_cost or metric.of_ties or metric.ratio):
        return None
    if key.variant == "normalized":
        return _normalized_line(key, moments, form, options, float(values[key]))
    if key.variant:
        best = recalibrated_uncertainty(moments.ties, max_uncertainty=form.max_uncertainty)
        line = _line_of_mean(key, best, form, options)
        if key.variant == "recalibrated":
            return line
        intercept, slope = _line_of_mean(key, u, form, options)
        return Line(intercept - line.intercept, slope - line.slope)
    if metric.of_ties is not None:
        return Line(*LINES[key.metric](moments.ties))
    if metric.ratio is not None:
        above, below = (_line_of_mean(key._replace(metric=name), u, form, options) for name in metric.ratio)
        return _ratio(above, below, float(values[key]), _mean(below, moments))
    return _line_of_mean(key, u, form, options)


def _line_of_mean(key: Key, u: Floats, form: Decisions, options: Options) -> Line:
    """Return the cost at uncertainties u (G,) of correct samples, and its increase per unit of candidate cost."""
    compute = METRICS[key.metric].sample_cost
    assert compute is not None
    form = form._replace(uncertainty=u, confidence=None if form.confidence is None else 1 - u)
    free, one = (
        compute(form._replace(candidate_cost=np.full(len(u), c)), key.parameter or 0.0, options, None)
        for c in (0.0, 1.0)
    )
    return Line(free, one - free)


def _ratio(above: Line, below: Line, value: float, mean: float) -> Line:
    mean = mean or math.nan
    return Line((above.intercept - value * below.intercept) / mean, (above.slope - value * below.slope) / mean)


def _mean(line: Line, moments: Moments) -> float:
    """Return the mean of a line over the samples."""
    return float((moments.weight @ line.intercept + moments.cost @ line.slope) / moments.weight.sum())


def _normalized_line(key: Key, moments: Moments, form: Decisions, options: Options, value: float) -> Line | None:
    """Divide by the naive system's value, which depends on the error rate; None where it depends on the labels."""
    plain = key._replace(variant="")
    if form.confidence is None or plain.metric not in CONFIDENCE_SCORES:
        return None
    shares = np.array([float((moments.weight - moments.cost).sum()), float(moments.cost.sum())])
    one_each = Decisions(np.zeros(2), np.array([0.0, 1.0]), form.max_uncertainty, confidence=np.zeros(2))
    naive = float(naive_values(one_each, options, sample_weight=shares)[plain])
    right, wrong = naive_slopes(one_each, shares / shares.sum(), options)[plain]
    size = len(moments.uncertainty)
    below = Line(np.full(size, right), np.full(size, wrong - right))
    return _ratio(_line_of_mean(plain, moments.uncertainty, form, options), below, value, naive)


def influences(
    decisions: Decisions,
    options: Options,
    values: Mapping[Key, FloatOrFloats],
    *,
    only: Collection[Key] | None = None,
) -> Iterator[tuple[Key, Floats]]:
    """Yield the influence (N,) of each sorted sample on each number (those in `only`); its weighted mean is 0."""
    moments = moments_of(decisions, options.sample_weight)
    sizes = np.diff(_starts(decisions.rank_by), append=len(decisions.rank_by))
    for key in values if only is None else only:
        line = line_of(key, moments, decisions, options, values)
        own = _of_line(line, sizes, decisions) if line else _of_own(key, decisions, options, float(values[key]))
        yield key, own - np.average(own, weights=options.sample_weight)


def _of_line(line: Line, sizes: Ints, decisions: Decisions) -> Floats:
    """Expand a line over groups of these sizes to influences (N,), up to a constant."""
    if len(sizes) < len(decisions.candidate_cost):
        line = Line(*(np.repeat(values, sizes) for values in line))
    return line.intercept + line.slope * decisions.candidate_cost


def _of_own(key: Key, decisions: Decisions, options: Options, value: float) -> Floats:
    """Return the influences (N,) on a number that is no function of uncertainties and costs, up to a constant."""
    weight = options.sample_weight
    if key.metric == "ece":
        assert decisions.confidence is not None
        q, cost = decisions.confidence, decisions.candidate_cost
        return ece_influence(q, cost, n_bins=options.n_bins, sample_weight=weight)
    plain = key._replace(variant="")
    compute = METRICS[key.metric].sample_cost
    assert compute is not None
    cost = compute(decisions, key.parameter or 0.0, options, None)
    if not key.variant:
        return cost
    classes = np.zeros(int(options.num_classes or 0))
    assert decisions.labels is not None
    shares = np.bincount(decisions.labels, weight, minlength=len(classes)) / 1.0
    one_each = Decisions(classes, classes, decisions.max_uncertainty, labels=np.arange(len(classes)))
    naive = float(naive_values(one_each, options, sample_weight=shares)[plain])
    moved = naive_slopes(one_each, shares / shares.sum(), options)[plain][decisions.labels]
    return (cost - value * moved) / (naive or math.nan)


def analytic_intervals(decisions: Decisions, options: Options, values: Mapping[Key, FloatOrFloats]) -> Intervals:
    """Return the intervals of numbers of samples sorted by increasing uncertainty, none of weight 0."""
    design = design_of(options, len(decisions.uncertainty))
    if not design.freedom:
        fact = "There are no intervals: each stratum needs at least two samples, or two groups where there are groups."
        return Intervals(dict.fromkeys(values, NONE), {}, (Note("no_interval", fact),))
    moments = moments_of(decisions, options.sample_weight)
    is_plain = design.unit is None and options.strata is None
    own = {
        key: standard_error(influence, design)
        for key, influence in influences(decisions, options, values, only=_without_line(values, decisions))
    }
    spread = None if is_plain else _spread(decisions, design)
    found = analytic_limits(moments, decisions, options, values, own=own, spread=spread)
    return found._replace(notes=found.notes + _note_few_groups(design))


def _without_line(values: Mapping[Key, FloatOrFloats], form: Decisions) -> list[Key]:
    """Return the keys of the losses of whole posteriors, and of values normalised by their classes."""
    return [
        key
        for key in values
        if METRICS[key.metric].assesses == "posteriors"
        or (key.variant == "normalized" and not (form.confidence is not None and key.metric in CONFIDENCE_SCORES))
    ]


def _spread(decisions: Decisions, design: Design) -> Callable[[Key, Line | None], tuple[float, float]]:
    """Return a function of a key and line: the design effect on a number's variance, and its degrees of freedom."""
    alone = design._replace(unit=None, stratum=np.zeros(len(design.weight), np.int64))
    sizes = np.diff(_starts(decisions.rank_by), append=len(decisions.rank_by))

    def spread(key: Key, line: Line | None) -> tuple[float, float]:
        if line is None:
            return 1.0, design.freedom
        influence = _of_line(line, sizes, decisions)
        mean = float(design.weight @ influence)
        independent = standard_error(influence - mean, alone)
        effect = (standard_error(influence - mean, design) / independent) ** 2 if independent > 0 else 1.0
        effect = effect if effect > ROUNDING else 1.0  # that few units happen to agree is no certainty
        rarer = (influence > 0.5) == (mean < 0.5) if _is_share(key) else None
        freedom = _freedom_of(design, None if rarer is None else rarer.astype(np.float64))
        return effect if design.unit is None or rarer is not None else max(effect, 1.0), freedom

    return spread


def analytic_limits(
    moments: Moments,
    form: Decisions,
    options: Options,
    values: Mapping[Key, FloatOrFloats],
    *,
    own: Mapping[Key, float] | None = None,
    spread: Callable[[Key, Line | None], tuple[float, float]] | None = None,
) -> Intervals:
    """Return the interval of each number in `values`: the one function for samples in memory, with groups, and states.

    The kind of interval was chosen by simulation (tests/ecuas_metric/test_coverage.py):

    - a share of samples (error rate, coverage): Wilson's, with the effective number of samples;
    - AUROC: DeLong's on the logit scale, and Newcombe's where one kind of sample is rare;
    - what is linear in the costs: that of `_limits_by_cells`;
    - normalised values, and losses of whole posteriors: Student's t on the log scale, since costs are skewed; none if
      correct or incorrect answers are few;
    - ECE and calibration losses: none, since their upward bias exceeds the width of an interval.

    `form` tells u_M and which arrays there are, and may have no rows. `own` are standard errors of the numbers that are
    no functions of the groups: losses of posteriors, which have no interval without. `spread`, for groups or strata,
    gives the design effect and the degrees of freedom of a key and its line, if it has one.
    """
    level = options.confidence_level or 0.0
    moments = moments if spread else _coarse(moments)
    limits, errors = dict.fromkeys(values, NONE), dict[Key, float]()
    unseen, cells = dict[Key, _Unseen](), dict[float, _Cells]()
    few = min(FEW, moments.effective_count / 2)  # half of the samples are never rare
    for key in [key for key, value in values.items() if math.isfinite(float(value)) and not is_biased(key)]:
        value, line = float(values[key]), line_of(key, moments, form, options, values)
        effect, freedom = spread(key, line) if spread else (1.0, moments.effective_count - 1)
        errors[key] = (own or {}).get(key, math.nan)
        if line is not None:
            errors[key] = math.sqrt(_variance(line, moments) * effect)
        if not freedom > 0 or math.isnan(errors[key]):
            continue
        t = student_quantile((1 + level) / 2, freedom)
        if key.metric == "auroc":
            assert line is not None
            wrong, right, events = moments.wrong / effect, moments.right / effect, _events_of(line, moments) / effect
            limits[key] = limits_of_auroc(value, errors[key], wrong, right, t, max(events, 1.0))
        elif _is_share(key):
            limits[key] = _limits_of_share(value, errors[key], moments.effective_count / effect, t)
        elif line is None:
            if _rarer(key, moments, form, options) >= few:
                limits[key] = limits_on_log_scale(value, t * errors[key])
        elif key.variant != "recalibrated" or _rarer(key, moments, form, options) >= ENOUGH:
            scale = effect * (t / student_quantile((1 + level) / 2, math.inf)) ** 2
            if scale not in cells:
                cells[scale] = _cells(moments, form, scale, level)
            low, high, blame = _limits_by_cells(key, value, line, moments, form, cells[scale])
            if key.variant == "normalized":  # by a number that is as uncertain where few answers are right
                by_logarithm = limits_on_log_scale(value, t * errors[key])
                low, high = min(low, by_logarithm[0]), max(high, by_logarithm[1])
            limits[key] = _within(_range_of(key, form, options), value, low, high, moments.effective_count / scale)
            unseen |= {key: blame} if blame else {}
    return Intervals(limits, errors, _notes(values, limits, unseen, moments, form))


def _coarse(moments: Moments) -> Moments:
    """Merge neighbouring groups where there are more than `MOST_GROUPS`."""
    if (size := len(moments.weight)) <= MOST_GROUPS:
        return moments
    starts = np.arange(MOST_GROUPS) * size // MOST_GROUPS
    weight, cost, weight2, weight2_cost, weight2_cost2 = (np.add.reduceat(sums, starts) for sums in moments[1:6])
    u = np.add.reduceat(moments.uncertainty * moments.weight, starts) / weight
    return Moments(u, weight, cost, weight2, weight2_cost, weight2_cost2, moments.num_samples)


def _rarer(key: Key, moments: Moments, form: Decisions, options: Options) -> float:
    """Return the effective number of incorrect or of correct answers, whichever is smaller; for costs, of costs."""
    if key.metric == "expected_cost":
        line = _line_of_mean(key, moments.uncertainty, form, options)
        accepts = line.slope > 0
        moments = moments._replace(cost=moments.cost * accepts, weight2_cost2=moments.weight2_cost2 * accepts)
    return min(moments.wrong, moments.right) if form.confidence is not None else moments.wrong


class _Unseen(NamedTuple):
    """A cell with few mistakes (or few correct answers), which an interval mostly depends on: `seen` of `answers`."""

    seen: int
    answers: int
    first: float
    last: float
    are_wrong: bool
    size: float


class _Cells(NamedTuple):
    """Cells of neighbouring tie groups (K,), and what they imply for the groups (G,)."""

    starts: Ints  # (K,), first group of each cell
    wrong: Floats  # (K,), effective number of incorrect answers
    right: Floats  # (K,), effective number of correct answers
    below: Floats  # (K,), squared distance of a cell's part of the mean cost to its lower limit
    above: Floats  # (K,), the same to its upper limit
    rare: Floats  # (G,), weight by the number of incorrect or correct answers, whichever is smaller
    rate: Floats  # (G,), smoothed mean cost
    scale: float
    z: float


def _cells(moments: Moments, form: Decisions, scale: float, level: float) -> _Cells:
    """Cut the samples into cells of neighbouring uncertainties, few where incorrect or correct answers are few.

    A cell's error rate has Jeffreys' limits. A cost other than 0 and 1 counts as events of one size, which have the
    mean and mean square of the costs. Counts are divided by `scale`, the variance inflation by groups and few degrees
    of freedom.
    """
    is_binary, total = form.confidence is not None, float(moments.weight.sum())
    rarer = min(moments.wrong, moments.right) if is_binary else moments.wrong
    starts = _cut(moments.weight, min(max(rarer / scale / PER_CELL, LEAST_CELLS), CELLS))
    weight, cost, weight2, _, square = (np.add.reduceat(sums, starts) for sums in moments[1:6])
    event = np.ones(len(starts)) if is_binary else _events(weight, cost, weight2, square, form.max_uncertainty)
    rate, size = cost / weight / event, np.square(weight) / weight2 / scale
    wrong, right = rate * size, (1 - rate) * size
    z = student_quantile((1 + level) / 2, math.inf)
    low, high = jeffreys_limits(wrong, right, z)
    factor, sizes = np.square(weight / total * event), np.diff(starts, append=len(moments.weight))

    def of_groups(values: Floats) -> Floats:
        return np.repeat(values, sizes)

    of_wrong = moments.weight2_cost2 / of_groups(np.square(event))
    of_right = np.maximum(moments.weight2 - of_wrong, 0.0)
    rare = of_groups(np.square(1 - rate)) * of_wrong + of_groups(np.square(rate)) * of_right
    rare += of_groups(BELIEF / (size * scale)) * moments.weight2
    fine = _cut(moments.weight, CELLS)
    weight, cost, weight2 = (np.add.reduceat(sums, fine) for sums in moments[1:4])
    held = np.square(weight) / weight2 / scale
    seen, share = (np.repeat(values, np.diff(fine, append=len(moments.weight))) for values in (cost / weight, held))
    smooth = (seen * share + of_groups((wrong + 0.5) / (wrong + right + 1) * event)) / (share + 1)
    below, above = factor * np.square(rate - low), factor * np.square(high - rate)
    return _Cells(starts, wrong, right, below, above, rare, smooth, scale, z)


def _cut(weight: Floats, count: float) -> Ints:
    """Return where cells of about equal weight start; tie groups of 1/12 of the weight are cells of their own."""
    if len(weight) <= CELLS:
        return np.arange(len(weight))
    until, total = np.cumsum(weight), float(weight.sum())
    # Rounded, so that the unit of the weights does not decide where a cell ends.
    place = np.floor(np.round((until - weight / 2) / total * int(count), 9))
    large = weight >= total / CELLS * (1 - ROUNDING)
    is_new = (place[1:] != place[:-1]) | large[1:] | large[:-1]
    return np.flatnonzero(np.append(True, is_new))


def _events(weight: Floats, cost: Floats, weight2: Floats, square: Floats, max_uncertainty: float) -> Floats:
    """Return the size of an event in each cell (K,); without any, that over all cells, or the largest uncertainty."""
    mean = cost / weight
    everywhere = square.sum() / weight2.sum() / (cost.sum() / weight.sum()) if cost.sum() else max_uncertainty
    return np.maximum(np.where(cost > 0, square / weight2 / np.where(mean > 0, mean, 1.0), everywhere), mean)


def _limits_by_cells(
    key: Key, value: float, line: Line, moments: Moments, form: Decisions, cells: _Cells
) -> tuple[float, float, _Unseen | None]:
    """Return the limits of a number that is linear in the costs, and the rare answers they mostly depend on, if any.

    Two parts are uncertain: which answers of a cell are incorrect, and which confidences occur. The distances of each
    cell's error rate to its own limits and that of the mean over confidences are added as squares of independent parts,
    each side by itself. So mistakes that were not seen count, and few correct answers mirror few incorrect ones. The
    mean is corrected for skewness where that makes the interval longer.

    References
    ----------
    Zou and Donner 2008, "Construction of confidence limits about effect measures: a general approach"; Brown, Cai and
    DasGupta 2001, "Interval estimation for a binomial proportion" (Jeffreys' interval); Hall 1992, "On the removal of
    skewness by transformation".
    """
    if key.metric == "expected_cost":
        return *_limits_of_expected_cost(key, value, line.slope > 0, moments, form, cells), None
    if key.metric in LINES:
        smooth = TieGroups(moments.weight, moments.weight * cells.rate, moments.uncertainty)
        line = Line(*LINES[key.metric](smooth))
    total, squares = float(moments.weight.sum()), cells.rare * np.square(line.slope)
    rising = np.add.reduceat(np.where(line.slope > 0, squares, 0.0), cells.starts)
    size = np.add.reduceat(cells.rare, cells.starts)
    rising, falling = rising / size, (np.add.reduceat(squares, cells.starts) - rising) / size
    less, more = rising * cells.below + falling * cells.above, rising * cells.above + falling * cells.below
    rest = line.intercept + cells.rate * line.slope
    rest = rest - moments.weight @ rest / total
    grown = cells.scale * moments.num_samples / (moments.num_samples - 1)
    half = cells.z * math.sqrt(float(moments.weight2 @ np.square(rest)) * grown) / total
    third = float((np.square(moments.weight2) / moments.weight) @ (rest * np.square(rest))) / total**3 * cells.scale**2
    skew = (2 * cells.z**2 + 1) / 6 * third / (half / cells.z) ** 2 if half > 0 else 0.0
    skew = min(max(skew, -MOST_SKEW * half), MOST_SKEW * half)
    centre = value - finite_sample_bias(key.metric, value, moments.ties, moments.effective_count)
    low = centre - math.sqrt(less.sum() + (half + max(-skew, 0.0)) ** 2)
    high = centre + math.sqrt(more.sum() + (half + max(skew, 0.0)) ** 2)
    return low, high, _unseen(line, less, more, (centre - low) ** 2, (high - centre) ** 2, moments, form, cells)


def _limits_of_expected_cost(
    key: Key, value: float, accepts: Bools, moments: Moments, form: Decisions, cells: _Cells
) -> Limits:
    """Return limits from those of two shares of samples: accepted and incorrect, and accepted and correct."""
    total, count, gamma = float(moments.weight.sum()), moments.effective_count / cells.scale, key.parameter or 0.0
    accepted, cost = float(moments.weight[accepts].sum()) / total, float(moments.cost[accepts].sum()) / total
    if form.confidence is not None:
        shares, sizes = np.array([cost, accepted - cost]), np.array([1 - gamma, gamma])
        odds = shares / np.maximum(1 - shares, ROUNDING)
        together = math.sqrt(min(max(float(odds.prod()), 0.0), 1.0))  # minus the correlation of two shares of one whole
    else:
        squares = float(moments.weight2_cost2[accepts].sum()) / float(moments.weight2.sum())
        event = max(squares / cost if cost else form.max_uncertainty, cost)
        shares, sizes, together = np.array([cost / event, accepted]), np.array([event, gamma]), 0.0
    low, high = np.array([share_limits(float(share), count, cells.z) for share in shares]).T
    (wrong_below, right_below), (wrong_above, right_above) = sizes * (shares - low), sizes * (high - shares)
    low_half = wrong_below**2 + right_above**2 + 2 * together * wrong_below * right_above
    high_half = wrong_above**2 + right_below**2 + 2 * together * wrong_above * right_below
    return value - math.sqrt(low_half), value + math.sqrt(high_half)


def _range_of(key: Key, form: Decisions, options: Options) -> Limits:
    """Return the smallest and largest possible value of a number that is linear in the costs."""
    largest = 1.0
    if form.confidence is None:
        largest = math.inf
        if form.labels is not None:
            largest = -math.log(options.epsilon) if isinstance(options.cost, str) else float(options.cost.max())
    if key.variant == "normalized":
        return 0.0, math.inf
    if key.metric in ("aurc", "augrc", "selective_risk"):
        return 0.0, largest / 2 if key.metric == "augrc" else largest
    line = _line_of_mean(key, np.array([0.0, form.max_uncertainty]), form, options)
    dearest = np.where(line.slope == 0, 0.0, line.slope * largest)
    least, most = line.intercept + np.minimum(dearest, 0.0), line.intercept + np.maximum(dearest, 0.0)
    return float(least.min()), float(most.max())


def _within(bounds: Limits, value: float, low: float, high: float, count: float) -> Limits:
    """Clip limits to a range; if they coincide, allow for unseen samples of any cost."""
    least, most = bounds
    if high - low <= ROUNDING * abs(value) and math.isfinite(most):
        _, share = wilson_limits(0.0, count, student_quantile(0.975, math.inf))
        low, high = value - share * (value - least), value + share * (most - value)
    value = min(value, most)  # which rounding may pass
    return min(max(low, least), value), max(min(high, most), value)


def _unseen(
    line: Line,
    less: Floats,
    more: Floats,
    below: float,
    above: float,
    moments: Moments,
    form: Decisions,
    cells: _Cells,
) -> _Unseen | None:
    """Return the cell with few incorrect or correct answers that determines most of one side of an interval, if any."""
    wrong, right = cells.wrong * cells.scale, cells.right * cells.scale
    rare, parts = np.minimum(wrong, right), np.maximum(less / (below or 1.0), more / (above or 1.0))
    k = int(np.where(rare < FEW, parts, 0.0).argmax())
    rows = slice(cells.starts[k], [*cells.starts[1:], len(moments.weight)][k])
    are_few = min(wrong.sum(), right.sum()) < FEW
    least = UNSEEN * (1 + (2 * rare[k] / FEW if rows.stop - rows.start > 1 else 0.0))  # less of several confidences
    if not (are_few or parts[k] > least) or rare[k] >= FEW:
        return None
    ends = moments.uncertainty[rows][[0, -1]].tolist()
    first, last = [1 - u for u in ends[::-1]] if form.confidence is not None else ends
    answers = float(moments.weight[rows].sum() ** 2 / moments.weight2[rows].sum())
    seen = round(float(rare[k] / (wrong[k] + right[k])) * answers)
    return _Unseen(
        seen, round(answers), first, last, cells.wrong[k] <= cells.right[k], float(np.abs(line.slope[rows]).max())
    )


def _variance(line: Line, moments: Moments) -> float:
    """Return the variance of a number whose samples are independent: the infinitesimal jackknife."""
    if moments.num_samples < 2:
        return math.nan
    centred = line.intercept - _mean(line, moments)
    squares = moments.weight2 @ np.square(centred) + 2 * (moments.weight2_cost @ (centred * line.slope))
    squares += moments.weight2_cost2 @ np.square(line.slope)
    return max(float(squares), 0.0) / float(moments.weight.sum()) ** 2 * moments.num_samples / (moments.num_samples - 1)


def _is_share(key: Key) -> bool:
    return key.metric in SHARES and not key.variant


def is_biased(key: Key) -> bool:
    """Return whether a number's upward bias exceeds the width of an interval."""
    return key.metric == "ece" or key.variant == "calibration_loss"


def note_biased(keys: Sequence[Key]) -> tuple[Note, ...]:
    """Return a note that names the numbers without interval because they are biased."""
    listed = ", ".join(map(str, keys))
    fact = f"These metrics are biased upwards, so no valid interval is known: {listed}."
    return (Note("biased", fact),) if keys else ()


def limits_on_log_scale(value: float, half: float) -> Limits:
    """Return the limits of a positive number on the log scale; none of 0."""
    if not (value > 0 and math.isfinite(half)):
        return NONE
    factor = math.exp(min(half / value, 700.0))
    return value / factor, value * factor


def limits_of_auroc(
    value: float, error: float, wrong: float, right: float, quantile: float, events: float = math.inf
) -> Limits:
    """Return DeLong's limits on the logit scale; Newcombe's where one kind of answer is rare, or at 0 and 1.

    `events` are the degrees of freedom of DeLong's variance; with few of them, Newcombe's limits bound the interval.
    """
    rarer, newcombe = min(wrong, right), newcombe_limits(value, wrong, right, quantile)
    if rarer < FEW or not (error > 0 and 0 < value < 1):
        return newcombe
    wider = student_quantile(NormalDist().cdf(quantile), events) * math.sqrt(rarer / (rarer - 1))
    logit, half = math.log(value / (1 - value)), max(wider, quantile) * error / (value * (1 - value))
    low, high = 1 / (1 + math.exp(min(half - logit, 700.0))), 1 / (1 + math.exp(min(-half - logit, 700.0)))
    return (low, high) if events >= FEW_EVENTS else (max(low, newcombe[0]), min(high, newcombe[1]))


def _events_of(line: Line, moments: Moments) -> float:
    """Return the effective number of equal influences, by kurtosis: (sum of squares)^2 / sum of fourth powers."""
    right, wrong = moments.weight2 - moments.weight2_cost, moments.weight2_cost
    squares = np.square(line.intercept - _mean(line, moments))
    squares_of_wrong = np.square(line.intercept + line.slope - _mean(line, moments))
    fourth = np.square(moments.weight2 / moments.weight) @ (right * squares**2 + wrong * squares_of_wrong**2)
    return max(float(right @ squares + wrong @ squares_of_wrong) ** 2 / float(fourth), 1.0) if fourth > 0 else 1.0


def _limits_of_share(value: float, error: float, units: float, quantile: float) -> Limits:
    """Return the limits of a share; one within rounding of 0 or 1 is that of all units."""
    if min(value, 1 - value) < ROUNDING or not error > 0:
        return share_limits(float(round(value)), units, quantile)
    return share_limits(value, value * (1 - value) / error**2, quantile)


def _notes(
    values: Mapping[Key, FloatOrFloats],
    limits: Mapping[Key, Limits],
    unseen: Mapping[Key, _Unseen],
    moments: Moments,
    form: Decisions,
) -> tuple[Note, ...]:
    bare = [key for key, (low, _) in limits.items() if math.isnan(low) and math.isfinite(float(values[key]))]
    biased = [key for key in bare if is_biased(key)]
    facts = {
        "There are too few wrong or right answers for an interval of": [key for key in bare if key not in biased],
        "These intervals do not account for fitting the recalibration on the same samples": [
            key for key in values if key.variant == "recalibrated" and key not in bare
        ],
    }
    listed = {fact: ", ".join(map(str, keys)) for fact, keys in facts.items() if keys}
    notes = note_biased(biased) + tuple(Note("no_interval", f"{fact}: {keys}.") for fact, keys in listed.items())
    return notes + _note_unseen(unseen, form)


def _note_unseen(unseen: Mapping[Key, _Unseen], form: Decisions) -> tuple[Note, ...]:
    """Return one note per cell of rarely seen answers, with the intervals that depend on it."""
    found: dict[_Unseen, list[Key]] = {}
    for key, blame in unseen.items():
        found.setdefault(blame._replace(size=0.0), []).append(key)
    notes, what = [], "confidence" if form.confidence is not None else "uncertainty"
    for (seen, answers, first, last, are_wrong, _), keys in found.items():
        where = f"{what} {first:.3g}" if first == last else f"{what} {first:.3g} to {last:.3g}"
        kind = ("mistake" if are_wrong else "right answer") + ("s" if seen > 1 else "")
        verb, size = "were" if seen > 1 else "was", max(unseen[key].size for key in keys)
        fact = f"{seen if seen else 'No'} {kind} {verb} seen among {answers} answers with {where}; at up to {size:.2g} "
        fact += f"each, these intervals mostly rest on {'so few' if seen else 'what was not seen'}: "
        notes.append(Note("unseen", f"{fact}{', '.join(map(str, keys))}."))
    return tuple(notes)


def _note_few_groups(design: Design) -> tuple[Note, ...]:
    if design.unit is None or design.freedom + 1 >= FEW_GROUPS:
        return ()
    fact = f"All intervals are approximate: these groups are worth {design.freedom + 1:.0f} equal ones, fewer than "
    return (Note("few_groups", f"{fact}{FEW_GROUPS}."),)

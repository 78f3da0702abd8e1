"""Metrics of calibration: ECE, debiased ECE, and a test whether confidences are the shares of correct answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .decisions import confidence_from_uncertainty
from .groups import Groups, run_starts, sum_parts
from .inputs import Floats, Ints, Limits
from .metric import Data, Metric, PartialLabels, attainable_sums
from .options import Options
from .sampling import design_effect, effective_size

_ROUNDING = 1e-12  # a sum that is smaller, relative to its terms, counts as 0
# distinct confidences up to which answers are drawn; of more, sums over neighbours are drawn from a normal distribution
_MAX_EXACT = 2**15
_NORMAL_VARIANCE = 1000.0  # least variance of the number of errors for that
_BLOCK_SIZE = 2**20  # numbers drawn at a time
_SMALLEST_SQUARE = 1e-300  # of the mean square gap, a divisor
_ONE_UNIT = 1e-9  # distance from 1 of a share of a bin up to which one unit is the whole bin


def confidence_bins(confidence: Floats, *, n_bins: int = 10) -> Ints:
    """Return the bin (N,) of each confidence: k for [k / n_bins, (k + 1) / n_bins) exactly, the last one closed."""
    bins = (confidence * n_bins).astype(np.int64)
    bins += confidence >= (bins + 1) / n_bins
    bins -= confidence < bins / n_bins
    return np.minimum(bins, n_bins - 1)


def _compute_ece(groups: Groups, n_bins: int) -> float:
    """Return the ECE of groups of equal confidence q_e, sorted by the rank -q_e, so that bins are slices."""
    edges = -np.arange(n_bins - 1, 0, -1) / n_bins
    inner = np.searchsorted(groups.rank, edges, side="right")
    # np.unique would import numpy.ma
    first = sorted({0, *inner.tolist()} - {len(groups.rank)})
    gaps = np.add.reduceat(signed_gaps(groups), first)
    return float(np.abs(gaps).sum() / groups.weight.sum())


def signed_gaps(groups: Groups) -> Floats:
    """Return the weighted sum (G,) of confidence minus correctness over each group; ranks are -q_e."""
    gaps = 1 + groups.rank  # one array at a time: it may be as large as the input
    np.multiply(groups.weight, gaps, out=gaps)
    return np.subtract(groups.cost, gaps, out=gaps)


def ece_debiased(data: Data) -> float:
    r"""Return the root mean square gap between confidence and accuracy over bins, without bias, in [0, 1].

    .. math:: \sqrt{\max(0, E)}, \qquad E = \sum_b \frac{N_b}{N} \frac{1}{N_b (N_b - 1)} \sum_{i \ne j} g_i g_j

    where :math:`g_i` is the confidence of sample i minus its correctness, and i and j are in bin b: the mean of the
    product over pairs of different samples is the squared gap of the bin (Ferro and Fricker 2012; Kumar, Liang and Ma
    2019). A pair weighs the product of its weights; a weight that counts samples makes pairs among these; samples of
    one group depend on each other and make none. nan if there is no pair.
    """
    return float(np.sqrt(np.maximum(squared_gap(data), 0.0)))


def squared_gap(data: Data) -> float:
    """Return E of `ece_debiased`, which is unbiased and may be negative; nan if no bin has a pair of samples."""
    bins = _occupied_bins(data)
    counts = _sum_pairs(np.ones(len(bins)), bins, data)
    gaps = _sum_pairs(_sample_gaps(data), bins, data)
    pairs = counts.every - counts.alone
    has_pairs = pairs > _ROUNDING * counts.every
    if not has_pairs.any():
        return math.nan
    weight = np.sqrt(counts.every[has_pairs])
    scale = weight / pairs[has_pairs]
    square = scale @ (gaps.every - gaps.alone)[has_pairs]
    rounding = _ROUNDING * (scale @ (gaps.every + gaps.alone)[has_pairs])
    return float(square / weight.sum()) if abs(square) > rounding else 0.0


def _occupied_bins(data: Data) -> Ints:
    """Return the bin (N,) of each sample, numbered from 0 without empty bins."""
    bins = confidence_bins(data.confidence, n_bins=data.options.n_bins)
    return np.unique(bins, return_inverse=True)[1]


def _sample_gaps(data: Data) -> Floats:
    """Return the confidence of each sample (N,) minus its correctness."""
    return data.confidence - (1 - data.decisions.candidate_cost)


def squared_weights(weight: Floats, options: Options) -> Floats:
    """Return the sum of squares (N,) of each weight w: w^2, or w where it counts w samples of weight 1."""
    return weight if options.weights_are == "counts" else np.square(weight)


@dataclass(frozen=True, slots=True, eq=False)
class _PairSums:
    """Sums (B,) of products of two values: over all pairs in a bin, and over pairs within one sample, or group."""

    every: Floats
    alone: Floats


def _sum_pairs(values: Floats, bins: Ints, data: Data) -> _PairSums:
    options = data.options
    weight = data.options.weights(len(data.confidence))
    every = np.square(sum_parts(bins, weight * values))
    if options.groups is None:
        squares = squared_weights(weight, options)
        return _PairSums(every, sum_parts(bins, squares * np.square(values)))
    of_groups = _group_bin_sums(weight * values, bins, options.groups)
    return _PairSums(every, np.square(of_groups).sum(axis=0))


def debiased_ece_limits(data: Data, freedom: float) -> Limits:
    """Return the limits of `ece_debiased`, those of E by its standard error, at the level of the options.

    The number of standard errors is a quantile of Student's t distribution with so many degrees of freedom; the
    variance is that at the limit, not at the estimate. nan if no bin has two units.
    """
    from scipy.special import stdtrit

    level = data.options.confidence_level or 0.0
    quantile = float(stdtrit(freedom, (1 + level) / 2))
    square = squared_gap(data)
    bins = _bin_gaps(data)
    if not len(bins.share):
        return math.nan, math.nan
    spread = bins.share * bins.mean
    # The variance of E is slope E + start: that of the bins' gaps, and that of the pairs of a calibrated system.
    of_gaps = float(spread @ bins.covariance @ spread)
    slope = 4 * of_gaps / max(float(spread @ bins.mean), _SMALLEST_SQUARE)
    start = 2 * float(bins.share @ np.square(bins.covariance) @ bins.share)
    middle = square + quantile**2 * slope / 2
    variance = quantile**2 * slope**2 / 4 + slope * square + start
    half = quantile * math.sqrt(max(variance, 0.0))
    low = max(middle - half, 0.0)
    high = max(middle + half, 0.0)
    low, high = np.minimum(np.sqrt([low, high]), 1.0).tolist()
    return low, high


@dataclass(frozen=True, slots=True, eq=False)
class _BinGaps:
    """For bins of at least two units: shares of weight (B,), mean gaps (B,), and the covariances of these (B, B)."""

    share: Floats
    mean: Floats
    covariance: Floats


def _bin_gaps(data: Data) -> _BinGaps:
    confidence = data.confidence
    weight = data.options.weights(len(data.confidence))
    weight = weight / weight.sum()
    bins = _occupied_bins(data)
    gap = _sample_gaps(data)
    share = sum_parts(bins, weight)
    # that of an answer with this chance, kept away from 0 and 1 by Laplace's rule of succession
    rare = 1 / (effective_size(weight) + 2)
    variance = np.maximum(confidence * (1 - confidence), rare * (1 - rare))
    with np.errstate(invalid="ignore", divide="ignore"):  # bins without weight
        mean = np.bincount(bins, weight * gap) / share
        residual = gap - mean[bins]
        covariance = _bin_covariance(residual, bins, share, weight, data.options.groups)
        least = np.bincount(bins, np.square(weight) * variance) / np.square(share)
    np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), least))
    known = np.flatnonzero(np.isfinite(np.diagonal(covariance)))
    known_share = share[known]
    return _BinGaps(
        share=known_share / known_share.sum(),
        mean=mean[known],
        covariance=covariance[np.ix_(known, known)],
    )


def _bin_covariance(
    residual: Floats,
    bins: Ints,
    share: Floats,
    weight: Floats,
    groups: Ints | None,
) -> Floats:
    """Return the covariances (B, B) of the bins' mean gaps; nan for bins of one unit.

    `residual` (N,) is the gap of each sample minus that of its bin, `share` (B,) the weight of each bin; units are
    samples, or groups.
    """
    if groups is None:
        squared_share = np.square(share)
        alone = np.bincount(bins, np.square(weight)) / squared_share
        variance = np.bincount(bins, np.square(weight * residual)) / squared_share
        covariance = np.diag(variance)
    else:
        moved = _group_bin_sums(weight * residual, bins, groups) / share
        size = _group_bin_sums(weight, bins, groups) / share
        alone = np.square(size).sum(axis=0)
        covariance = moved.T @ moved
    apart = np.where(alone < 1 - _ONE_UNIT, 1 - alone, np.nan)  # (k - 1) / k of k equal units
    rooted = np.sqrt(apart)
    return np.asarray(covariance / np.outer(rooted, rooted))


def _group_bin_sums(values: Floats, bins: Ints, groups: Ints) -> Floats:
    """Return the sums of values (N,) in each group and bin, of shape (groups, bins)."""
    num_groups = int(groups.max()) + 1
    num_bins = int(bins.max()) + 1
    cells = groups * num_bins + bins
    sums = sum_parts(cells, values, num_groups * num_bins)
    return sums.reshape(num_groups, num_bins)


def calibration_test(data: Data) -> float:
    """Return the p-value of `api.calibration_p_value`."""
    options = data.options
    confidence = data.confidence
    incorrect = data.decisions.candidate_cost
    weight = data.options.weights(len(data.confidence))
    order = np.lexsort((incorrect, weight, confidence))
    order = order[weight[order] > 0]
    q = confidence[order]
    correct = 1 - incorrect[order]
    weight = weight[order]
    effect = 1.0
    if options.groups is not None:
        squares = squared_weights(weight, options)
        effect = _residual_design_effect(q, correct, weight, squares, options.groups[order])
    if math.isnan(effect):
        return math.nan
    generator = np.random.default_rng(options.random_state)
    chance = _make_null_distribution(q, correct, weight, options.weights_are == "counts", generator)
    # draws are of independent answers: their sums are too small by the root of the design effect
    statistic = float(_partial_sum_range(chance.observed)) / math.sqrt(effect)
    least = statistic * (1 - _ROUNDING) - _ROUNDING * weight.max()
    rows = max(1, _BLOCK_SIZE // chance.observed.size)
    as_large = 0
    for start in range(0, options.n_resamples, rows):
        drawn = _partial_sum_range(chance.draw(min(rows, options.n_resamples - start)))
        as_large += int(np.count_nonzero(drawn >= least))
    return (1 + as_large) / (1 + options.n_resamples)


@dataclass(frozen=True, slots=True, eq=False)
class _NullDistribution:
    """The cumulative sums of correctness - confidence: those observed, and a function that draws them if calibrated."""

    observed: Floats  # (M,), up to each confidence
    draw: Callable[[int], Floats]  # number of draws B -> (B, M)


def _make_null_distribution(
    q: Floats,
    correct: Floats,
    weight: Floats,
    copies: bool,
    generator: np.random.Generator,
) -> _NullDistribution:
    """Return the null distribution for samples sorted by confidence; `copies` says whether weights count samples."""
    one = np.ones(len(q))
    unit = one if copies else weight
    size = weight if copies else one
    starts = run_starts(q, unit)
    right = np.add.reduceat(size * correct, starts)
    size = np.add.reduceat(size, starts)
    q = q[starts]
    unit = unit[starts]
    last = np.flatnonzero(np.append(q[1:] != q[:-1], True))  # of each confidence
    variance = size * q * (1 - q)
    if len(q) > _MAX_EXACT and variance.sum() > _NORMAL_VARIANCE:
        places = np.linspace(0, len(last) - 1, _MAX_EXACT // 2).astype(np.int64)
        last = last[places]
        variance_until = np.cumsum(np.square(unit) * variance)[last]
        spread = np.sqrt(np.diff(variance_until, prepend=0.0))
        seen = np.cumsum(unit * (right - size * q))[last]

        def draw_normal(rows: int) -> Floats:
            steps = spread * generator.standard_normal((rows, len(spread)))
            return np.cumsum(steps, axis=-1)

        return _NullDistribution(seen, draw_normal)

    def sums(right: Floats) -> Floats:
        differences = unit * (right - size * q)
        return np.asarray(np.cumsum(differences, axis=-1)[..., last])

    def draw(rows: int) -> Floats:
        shape = (rows, len(q))
        if (size == 1).all():
            is_right = generator.random(shape) < q
            return sums(is_right.astype(np.float64))
        drawn = generator.binomial(size.astype(np.int64), q, shape)
        return sums(drawn.astype(np.float64))

    return _NullDistribution(sums(right), draw)


def _partial_sum_range(sums: Floats) -> Floats:
    """Return the largest minus the smallest partial sum (B,) of each row (B, M), 0 included."""
    largest = np.maximum(sums.max(axis=-1), 0.0)
    smallest = np.minimum(sums.min(axis=-1), 0.0)
    return np.asarray(largest - smallest)


def _residual_design_effect(
    q: Floats,
    correct: Floats,
    weight: Floats,
    squares: Floats,
    groups: Ints,
) -> float:
    """Return the design effect of groups, at least 1, on correct - q; nan for fewer than three groups.

    A line in q is fitted first, so that miscalibration does not count as dependence. `squares` are `squared_weights`.
    """
    count = len(np.unique(groups))
    if count < 3:
        return math.nan
    residual = correct - q
    centred = q - np.average(q, weights=weight)
    for line in (np.ones(len(q)), centred):
        square = weight @ np.square(line)
        slope = (weight * line) @ residual / square if square > 0 else 0.0
        residual = residual - line * slope
    alone = squares @ np.square(residual)
    together = np.square(np.bincount(groups, weight * residual)).sum()
    size = np.square(np.bincount(groups, weight)).sum() / squares.sum()
    unit = squares.sum() / weight.sum()
    one_more = np.square(unit) * np.average(q * (1 - q), weights=weight)
    if not one_more > 0:
        return 1.0
    effect = design_effect(together, alone, one_more, size)
    return max(1.0, float(effect) * count / (count - 2))


def _ece(data: Data) -> float:
    groups = data.groups
    if data.decisions.labels is not None:  # ranked by uncertainties
        groups = replace(groups, rank=-confidence_from_uncertainty(groups.rank))
    return _compute_ece(groups, data.options.n_bins)


@dataclass(frozen=True, slots=True)
class GapBounds:
    """The least and the largest absolute gap (B,) of each bin over all labels of unlabelled answers, and its weight."""

    low: Floats
    high: Floats
    weight: Floats


def gap_bounds(answers: PartialLabels, bins: Ints) -> GapBounds:
    """Return the bounds of each bin's absolute gap |S - Y|, for the bins (N,) of the samples.

    S is the weighted sum of confidence minus known correctness, and Y the weight of unlabelled answers that are
    correct. The gap is largest at the least or the largest Y, and smallest at the Y closest to S.
    """
    is_known = ~np.isnan(answers.correct)
    gaps = answers.weight * (answers.confidence - np.where(is_known, answers.correct, 0.0))
    bounds = []
    for index in np.unique(bins):
        inside = bins == index
        gap = float(gaps[inside].sum())
        unknown = answers.weight[inside & ~is_known]
        total = float(unknown.sum())
        sums = attainable_sums(unknown)
        closest = np.clip(gap, 0, total) if sums is None else sums
        low = np.abs(gap - closest).min()
        high = max(abs(gap), abs(gap - total))
        bounds.append((low, high, answers.weight[inside].sum()))
    return GapBounds(*np.array(bounds).T)


def ece_bounds(answers: PartialLabels, bins: Ints) -> Limits:
    """Return the least and the largest ECE over all labels of unlabelled answers, for the bins (N,) of the samples."""
    bounds = gap_bounds(answers, bins)
    weight = float(bounds.weight.sum())
    low = float(bounds.low.sum())
    high = float(bounds.high.sum())
    return low / weight, high / weight


def _ece_bounds(answers: PartialLabels) -> Limits:
    n_bins = answers.all_right.options.n_bins
    return ece_bounds(answers, confidence_bins(answers.confidence, n_bins=n_bins))


ECE = Metric(
    name="ece",
    title="ECE",
    description="Gap between confidence and accuracy, averaged over bins",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    options=("n_bins",),
    value=_ece,
    of_samples=True,
    range=(0.0, 1.0),
    is_biased=True,
    unjudged=_ece_bounds,
    column=3,
)
ECE_DEBIASED = Metric(
    name="ece_debiased",
    title="ECE deb.",
    description="Root mean square gap between confidence and accuracy over bins, without the bias of a finite sample",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    options=("n_bins",),
    value=ece_debiased,
    of_samples=True,
    range=(0.0, 1.0),
    when="calibration",
    column=16,
)
CALIBRATION_P = Metric(
    name="calibration_p",
    title="p cal.",
    description="Chance of gaps between confidence and accuracy as large as these if the system were calibrated",
    assesses="confidences",
    higher_is_better=None,
    needs="confidences",
    value=calibration_test,
    of_samples=True,
    range=(0.0, 1.0),
    has_average=False,  # the mean of p-values has no meaning
    when="calibration",
    column=17,
)
CALIBRATION_METRICS = (ECE, ECE_DEBIASED, CALIBRATION_P)

"""AUROC, AURC and AUGRC: metrics that depend on the order of the samples by uncertainty, computed from tie groups."""

import math
from collections.abc import Callable

import numpy as np

from .groups import Groups, Line, replace_zeros, sum_parts
from .inputs import NUMBERS_PER_SAMPLE, Floats, Ints, Limits, blocks
from .metric import Data, Metric, PartialLabels, attainable_sums

_FIRST_PART = 12  # the first 1/12 of the samples stand for the most confident one
# weight of a group relative to that before it, up to which two terms of a series replace a difference
_FLAT = 0.01
_ROUNDING = 1e-12


def auroc(groups: Groups) -> float:
    """Return the probability that a correct sample is less uncertain than an incorrect one, ties 1/2."""
    areas = groups.areas
    pairs = areas.correct * areas.cost
    if not pairs > 0:
        return math.nan
    return min(max(1 - areas.lost_pairs / pairs, 0.0), 1.0)


def aurc(groups: Groups) -> float:
    r"""Return the area under the risk-coverage curve, from low to high uncertainty, in [0, max c].

    .. math:: \frac{1}{N - 1} \sum_{k=2}^{N} \frac{R_{k-1} + R_k}{2}, \qquad R_k = E_k / k

    :math:`E_k` is the total cost of the first k samples, in expectation over the orders of tied samples. With weights
    k is the cumulative weight: 1, 2, .. and last the total W, maybe after a shorter step, and the sum is divided by
    W - 1. That is continuous in the weights, and a whole weight counts as so many equal samples. For W <= 1 it is the
    risk. The unit of weights matters: `options.checked_options` scales importance weights to their effective number.
    """
    areas = groups.areas
    total = areas.weight
    last_risk = areas.cost / total
    if total <= 1:
        return last_risk
    whole = math.floor(total)  # the last whole point
    whole_risk = (areas.cost - areas.last_cost) / whole
    area = areas.risks - areas.first_cost / 2 - whole_risk / 2
    area += (total - whole) * (whole_risk + last_risk) / 2
    return area / (total - 1)


def augrc(groups: Groups) -> float:
    """Return the area under the generalized risk-coverage curve of accepted cost / N by trapezoids; ties as `aurc`."""
    return groups.areas.accepted_cost / groups.areas.weight**2


def _augrc_bias(data: Data, value: float, count: float) -> float:
    """Return the bias of AUGRC, to order 1 / N for N = `count` samples: each sample is tied with itself."""
    groups = data.groups
    mean = float(groups.cost.sum()) / float(groups.weight.sum())
    return (mean / 2 - value) / count


def _aurc_bias(data: Data, value: float, count: float) -> float:
    """Return the bias of AURC, to order 1 / N for N = `count` samples.

    In expectation, a sample of rank k counts 1/k + .. + 1/(N - 1), about -log of the share of samples before it. So
    the sum of the risks at coverages 1/N, .., 1 is N times the area, plus the risk of all, minus the risk of the most
    confident sample.
    """
    if count <= 2:
        return 0.0
    groups = data.groups
    total = float(groups.weight.sum())
    mean = float(groups.cost.sum()) / total
    until = np.cumsum(groups.weight)
    first = 1 + int(np.searchsorted(until, total / _FIRST_PART * (1 - 1e-9)))
    cost = groups.cost[:first].sum()
    risk = float(cost / groups.weight[:first].sum())
    return (value + mean / 2 - 1.5 * risk) / (count - 1)


def _auroc_line(data: Data) -> Line:
    """Return the influence function of AUROC, up to a constant (DeLong et al. 1988)."""
    groups = data.groups
    areas = groups.areas
    pairs = areas.correct * areas.cost or math.nan  # nan if all are correct or all incorrect
    theta = 1 - areas.lost_pairs / pairs
    scale = (areas.correct + areas.cost) / pairs
    constant = scale * (theta * areas.correct + (1 - theta) * areas.cost)
    slope = groups.weight_middle * scale - constant
    # if all are tied, it depends on no answer; rounding would let it depend on some
    slope[np.abs(slope) <= _ROUNDING * constant] = 0.0
    return Line(groups.cost_middle * -scale, slope)


def _augrc_line(data: Data) -> Line:
    groups = data.groups
    total = groups.areas.weight
    return Line(groups.cost_middle / total, 1 - groups.weight_middle / total)


def aurc_line(ties: Groups) -> Line:
    """Return the influence function of AURC, up to a constant.

    The slope of each group is the mean over it of -log of the coverage, called L. Blocks of groups stay in the cache.
    """
    total = ties.weight.sum()
    tiny = np.finfo(np.float64).tiny
    intercept = np.empty(len(ties.cost))
    slope = np.empty(len(ties.cost))
    until = passed = np.zeros(1)
    for rows in blocks(len(ties.cost), row_size=NUMBERS_PER_SAMPLE):
        w = ties.weight[rows] / total
        c = ties.cost[rows] / total
        until = np.cumsum(ties.weight[rows]) + until[-1]
        b = until / total
        middle = np.maximum(b - w / 2, tiny)
        relative = np.square(w / middle)
        log_mean = relative / 24 - np.log(middle)  # L of a group
        rise = (1 + relative / 12 + np.square(relative) / 80) / middle  # log(b / a) / w, a = b - w
        wide = np.flatnonzero(relative > _FLAT**2)
        _fill_wide_groups(log_mean, rise, wide, w[wide], b[wide])
        # the total minus `passed` is the sum over later groups; the total is a constant
        passed = np.cumsum(c * rise) + passed[-1]
        mean_cost = ties.cost[rows] if ties.are_samples else c / replace_zeros(w)
        intercept[rows] = passed - mean_cost * (np.log(np.maximum(b, tiny)) + log_mean)
        slope[rows] = log_mean
    return Line(intercept, slope)


def _fill_wide_groups(
    slope: Floats,
    rise: Floats,
    wide: Ints,
    w: Floats,
    b: Floats,
) -> None:
    """Write L to `slope`, and log(b / a) / w to `rise`, where a series of two terms is not enough: at indices `wide`.

    A group covers the coverages from a = b - w to b; in the first one a = 0 and L = 1 - log(b).
    """
    a = np.where(w < b * (1 - 1e-12), b - w, 0.0)
    log_ratio = np.log(b / np.where(a > 0, a, b))
    slope[wide] = 1 - np.log(b) - a * log_ratio / w
    rise[wide] = log_ratio / w


def _auroc_quadratics(right: Floats, wrong: Floats, unknown: Floats) -> tuple[Floats, Floats]:
    """Return the numerator and the denominator of AUROC for L labellings: coefficients (L, 3) of quadratics in Y.

    Arguments are the weights (L,) of right, wrong and unlabelled answers at each confidence, from the lowest. Each
    confidence in turn is a threshold: unlabelled answers below it are wrong, those above it right, and of those at it
    the weight Y is right.
    """
    wrong_below = _sums_before(wrong)
    unknown_below = _sums_before(unknown)
    lost_to = wrong_below + unknown_below + (wrong + unknown) / 2
    linear = lost_to - _sums_after(right + unknown) - right / 2
    all_right = ((right + unknown) * (wrong_below + wrong / 2)).sum()
    none_right = all_right - np.cumsum(unknown * (linear - unknown / 2))
    correct = right.sum() + _sums_after(unknown)
    incorrect = wrong.sum() + unknown_below + unknown
    one = np.ones(len(right))
    won = np.stack([-one / 2, linear, none_right], axis=1)
    pairs = np.stack([-one, incorrect - correct, correct * incorrect], axis=1)
    return won, pairs


def _largest_auroc(confidence: Floats, correct: Floats, weight: Floats) -> float:
    """Return the largest AUROC over all labels of the answers without one, where `correct` is nan.

    The best labels are right above a threshold and wrong below. nan if right or wrong answers cannot occur.
    """
    values, level = np.unique(confidence, return_inverse=True)
    is_unknown = np.isnan(correct)
    right, wrong, unknown = (
        sum_parts(level[rows], weight[rows], len(values))
        for rows in (correct == 1, correct == 0, is_unknown)
    )
    by_level = np.flatnonzero(is_unknown)[np.argsort(level[is_unknown], kind="stable")]
    ends = np.cumsum(np.bincount(level[by_level], minlength=len(values)))
    best = -np.inf
    quadratics = _auroc_quadratics(right, wrong, unknown)
    for won, pairs, weights in zip(*quadratics, np.split(weight[by_level], ends[:-1]), strict=True):
        if len(weights) or not len(by_level):
            best = max(best, _largest_ratio(won, pairs, weights))
    return float(np.clip(best, 0.0, 1.0)) if best > -np.inf else np.nan


def _largest_ratio(won: Floats, pairs: Floats, weights: Floats) -> float:
    """Return the largest won / pairs, two quadratics, over the sums of all subsets of weights; -inf without pairs.

    If these sums are too many, the largest over an interval that contains them.
    """
    sums = attainable_sums(weights)
    if sums is None:
        rising = np.polymul(np.polyder(won), pairs)
        falling = np.polymul(won, np.polyder(pairs))
        stationary = np.roots(np.polysub(rising, falling))
        total = weights.sum()
        least = weights.min()  # the smallest positive sum
        inside = np.r_[0.0, total, stationary.real[np.isreal(stationary)]]
        sums = np.r_[0.0, np.clip(inside, least, total - least), total]
    numerator = np.polyval(won, sums)
    denominator = np.polyval(pairs, sums)
    defined = denominator > 1e-12 * max(1.0, abs(pairs[2]))
    ratios = numerator[defined] / denominator[defined]
    return float(ratios.max(initial=-np.inf))


def _sums_before(values: Floats) -> Floats:
    """Return the sum of the values before each (N,)."""
    return np.cumsum(values) - values


def _sums_after(values: Floats) -> Floats:
    """Return the sum of the values after each (N,)."""
    return np.asarray(values.sum() - np.cumsum(values))


def _auroc_bounds(answers: PartialLabels) -> Limits:
    """Return the least and the largest AUROC over all labels; the least is 1 - the largest of negated confidences."""
    highest = _largest_auroc(answers.confidence, answers.correct, answers.weight)
    lowest = 1 - _largest_auroc(-answers.confidence, answers.correct, answers.weight)
    return lowest, highest


def make_monotone_bounds(value: Callable[[Data], float]) -> Callable[[PartialLabels], Limits]:
    """Return `Metric.unjudged` for a value that is monotone in each label: its bounds are all right and all wrong."""

    def bounds(answers: PartialLabels) -> Limits:
        ends = [float(value(answers.all_right)), float(value(answers.all_wrong))]
        return min(ends), max(ends)

    return bounds


def _aurc(data: Data) -> float:
    return aurc(data.groups)


def _augrc(data: Data) -> float:
    return augrc(data.groups)


def mean_cost_range(data: Data) -> Limits:
    """Return `Metric.range` of a mean cost: from 0 to the largest cost."""
    return 0.0, data.largest_cost


AUROC = Metric(
    name="auroc",
    title="AUROC",
    description="Probability that a correct answer has a higher confidence than an incorrect one",
    assesses="confidences",
    higher_is_better=True,
    needs="confidences",
    value=lambda data: auroc(data.groups),
    line=_auroc_line,
    range=(0.0, 1.0),
    unjudged=_auroc_bounds,
    has_order_bounds=True,
    has_audit=True,
    column=4,
)
AURC = Metric(
    name="aurc",
    title="AURC",
    description="Area under risk against coverage; blind to calibration",
    assesses="both",
    higher_is_better=False,
    value=_aurc,
    line=lambda data: aurc_line(data.groups),
    range=mean_cost_range,
    bias=_aurc_bias,
    unjudged=make_monotone_bounds(_aurc),
    has_order_bounds=True,
    has_audit=True,
    column=9,
)
AUGRC = Metric(
    name="augrc",
    title="AUGRC",
    description="Area under accepted cost against coverage; blind to calibration",
    assesses="both",
    higher_is_better=False,
    value=_augrc,
    line=_augrc_line,
    range=lambda data: (0.0, data.largest_cost / 2),
    bias=_augrc_bias,
    unjudged=make_monotone_bounds(_augrc),
    has_order_bounds=True,
    has_audit=True,
    only_in_full=True,
    column=10,
)
ORDER_METRICS = (AUROC, AURC, AUGRC)

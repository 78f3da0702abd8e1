"""The metrics of the order of the samples by their uncertainty: AUROC, AURC and AUGRC, from tie groups."""

import math
from collections.abc import Callable

import numpy as np

from .groups import Groups, Line, or_1, totals
from .inputs import NUMBERS_PER_SAMPLE, Floats, Ints, Limits, blocks
from .metric import Data, Metric, Unjudged, attainable_sums

_FIRST = 12  # part of the samples whose risk is that of the most confident
# weight relative to all before, below which two terms of a series replace a difference
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
    r"""Return the area under risk against coverage, from low to high uncertainty, in [0, max c].

    .. math:: \frac{1}{N - 1} \sum_{k=2}^{N} \frac{R_{k-1} + R_k}{2}, \qquad R_k = E_k / k

    :math:`E_k` is the expected cost of the first k samples over the orders of tied samples. With weights, k is the
    cumulative weight, 1, 2 .. and last the total W, possibly a shorter step, divided by W - 1: a mean of risks,
    continuous in the weights (the risk itself where W <= 1), in which a whole weight is a number of equal samples. So
    the unit of the weights matters: `options.checked_options` scales importance weights to their effective number.
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
    """Return the area under accepted cost / N against coverage, by trapezoids; ties as in `aurc`."""
    return groups.areas.accepted_cost / groups.areas.weight**2


def _augrc_bias(data: Data, value: float, count: float) -> float:
    """Return the bias to the order 1 / N, N = `count`: ties of a sample with itself."""
    groups = data.groups
    mean = float(groups.cost.sum()) / float(groups.weight.sum())
    return (mean / 2 - value) / count


def _aurc_bias(data: Data, value: float, count: float) -> float:
    """Return the bias to the order 1 / N, N = `count`.

    For N samples the mean of 1/k + .. + 1/(N - 1), k a sample's rank, is -log of the share of samples before it: the
    sum of the risks at 1/N, .., 1 is N times the area, plus the error rate, minus the risk of the most confident.
    """
    if count <= 2:
        return 0.0
    groups = data.groups
    total = float(groups.weight.sum())
    mean = float(groups.cost.sum()) / total
    until = np.cumsum(groups.weight)
    first = 1 + int(np.searchsorted(until, total / _FIRST * (1 - 1e-9)))
    cost = groups.cost[:first].sum()
    risk = float(cost / groups.weight[:first].sum())
    return (value + mean / 2 - 1.5 * risk) / (count - 1)


def _auroc_line(data: Data) -> Line:
    """Return intercept and slope in the cost, up to a constant: G and H are linear in F and C (DeLong et al. 1988)."""
    groups = data.groups
    areas = groups.areas
    pairs = areas.correct * areas.cost or math.nan  # without one of the two
    theta = 1 - areas.lost_pairs / pairs
    scale = (areas.correct + areas.cost) / pairs
    constant = scale * (theta * areas.correct + (1 - theta) * areas.cost)
    slope = groups.weight_middle * scale - constant
    # else rounding would decide on which answers it depends: on none if all are tied
    slope[np.abs(slope) <= _ROUNDING * constant] = 0.0
    return Line(groups.cost_middle * -scale, slope)


def _augrc_line(data: Data) -> Line:
    groups = data.groups
    total = groups.areas.weight
    return Line(groups.cost_middle / total, 1 - groups.weight_middle / total)


def aurc_line(ties: Groups) -> Line:
    """Return L of each group as the slope, and the intercept up to a constant, in blocks that stay in the cache."""
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
        # the sum of all less this is that over the groups after each
        passed = np.cumsum(c * rise) + passed[-1]
        mean_cost = ties.cost[rows] if ties.are_samples else c / or_1(w)
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
    """Fill in L and log(b / a) / w of wide tie groups, if two terms of the series are too few; first L: 1 - log b."""
    a = np.where(w < b * (1 - 1e-12), b - w, 0.0)
    log_ratio = np.log(b / np.where(a > 0, a, b))
    slope[wide] = 1 - np.log(b) - a * log_ratio / w
    rise[wide] = log_ratio / w


def _quadratics(right: Floats, wrong: Floats, unknown: Floats) -> tuple[Floats, Floats]:
    """Return pairs won and all pairs as quadratics (L, 3) in the weight Y that is correct at a level, the threshold.

    Of weights (L,) at each confidence, from the lowest: known to be right, to be wrong, and unlabelled. Below the
    threshold all unlabelled answers are incorrect, above it all are correct.
    """
    wrong_below = _before(wrong)
    unknown_below = _before(unknown)
    lost_to = wrong_below + unknown_below + (wrong + unknown) / 2
    linear = lost_to - _after(right + unknown) - right / 2
    all_right = ((right + unknown) * (wrong_below + wrong / 2)).sum()
    none_right = all_right - np.cumsum(unknown * (linear - unknown / 2))
    correct = right.sum() + _after(unknown)
    incorrect = wrong.sum() + unknown_below + unknown
    one = np.ones(len(right))
    won = np.stack([-one / 2, linear, none_right], axis=1)
    pairs = np.stack([-one, incorrect - correct, correct * incorrect], axis=1)
    return won, pairs


def _largest_auroc(confidence: Floats, correct: Floats, weight: Floats) -> float:
    """Return the largest AUROC over all thresholds, and over all weights of correct answers at each."""
    values, level = np.unique(confidence, return_inverse=True)
    is_unknown = np.isnan(correct)
    right, wrong, unknown = (
        totals(level[rows], weight[rows], len(values))
        for rows in (correct == 1, correct == 0, is_unknown)
    )
    by_level = np.flatnonzero(is_unknown)[np.argsort(level[is_unknown], kind="stable")]
    ends = np.cumsum(np.bincount(level[by_level], minlength=len(values)))
    best = -np.inf
    quadratics = _quadratics(right, wrong, unknown)
    for won, pairs, weights in zip(*quadratics, np.split(weight[by_level], ends[:-1]), strict=True):
        if len(weights) or not len(by_level):
            best = max(best, _largest_ratio(won, pairs, weights))
    return float(np.clip(best, 0.0, 1.0)) if best > -np.inf else np.nan


def _largest_ratio(won: Floats, pairs: Floats, weights: Floats) -> float:
    """Return the largest ratio of two quadratics over the sums of some of the weights; -inf if there are no pairs."""
    sums = attainable_sums(weights)
    if sums is None:
        rising = np.polymul(np.polyder(won), pairs)
        falling = np.polymul(won, np.polyder(pairs))
        stationary = np.roots(np.polysub(rising, falling))
        total = weights.sum()
        least = weights.min()  # of a sum that is not 0
        inside = np.r_[0.0, total, stationary.real[np.isreal(stationary)]]
        sums = np.r_[0.0, np.clip(inside, least, total - least), total]
    numerator = np.polyval(won, sums)
    denominator = np.polyval(pairs, sums)
    defined = denominator > 1e-12 * max(1.0, abs(pairs[2]))
    ratios = numerator[defined] / denominator[defined]
    return float(ratios.max(initial=-np.inf))


def _before(values: Floats) -> Floats:
    return np.cumsum(values) - values


def _after(values: Floats) -> Floats:
    return np.asarray(values.sum() - np.cumsum(values))


def _auroc_of_unjudged(unjudged: Unjudged) -> Limits:
    """Return the bounds of AUROC: the smallest value is that of reversed confidences."""
    highest = _largest_auroc(unjudged.confidence, unjudged.correct, unjudged.weight)
    lowest = 1 - _largest_auroc(-unjudged.confidence, unjudged.correct, unjudged.weight)
    return lowest, highest


def bounds_by_answers(value: Callable[[Data], float]) -> Callable[[Unjudged], Limits]:
    """Return the bounds of what moves one way with each answer: all right and all wrong are its ends."""

    def bounds(unjudged: Unjudged) -> Limits:
        ends = [float(value(unjudged.all_right)), float(value(unjudged.all_wrong))]
        return min(ends), max(ends)

    return bounds


def _aurc(data: Data) -> float:
    return aurc(data.groups)


def _augrc(data: Data) -> float:
    return augrc(data.groups)


def range_of_risk(data: Data) -> Limits:
    """Return the range of a mean of costs."""
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
    unjudged=_auroc_of_unjudged,
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
    range=range_of_risk,
    bias=_aurc_bias,
    unjudged=bounds_by_answers(_aurc),
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
    unjudged=bounds_by_answers(_augrc),
    has_order_bounds=True,
    has_audit=True,
    only_in_full=True,
    column=10,
)
ORDER_METRICS = (AUROC, AURC, AUGRC)

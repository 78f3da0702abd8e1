"""The metrics of the order of the samples by their uncertainty: AUROC, AURC and AUGRC, from tie groups."""

from collections.abc import Callable

import numpy as np

from .inputs import SAMPLE_SIZE, Bools, FloatOrFloats, Floats, Ints, Limits, blocks
from .metric import Data, Line, Metric, Ties, Unjudged, attainable_sums
from .ranking import TieGroups

_FIRST = 12  # part of the samples whose risk is that of the most confident
_FLAT = 0.01  # weight relative to all before, below which two terms of a series replace a difference


def auroc(groups: Ties) -> FloatOrFloats:
    """Return the probability (...) that a correct sample is less uncertain than an incorrect one, ties 1/2."""
    areas = groups.areas
    pairs = areas.correct * areas.cost
    share = 1 - areas.lost_pairs / np.where(pairs > 0, pairs, np.nan)
    return np.minimum(np.maximum(share, 0.0), 1.0)[()]


def aurc(groups: Ties) -> FloatOrFloats:
    r"""Return the area (...) under risk against coverage, from low to high uncertainty, in [0, max c].

    .. math:: \frac{1}{N - 1} \sum_{k=2}^{N} \frac{R_{k-1} + R_k}{2}, \qquad R_k = E_k / k

    :math:`E_k` is the expected cost of the first k samples over the orders of tied samples. With weights, k is the
    cumulative weight, 1, 2 .. and last the total W, possibly a shorter step, divided by W - 1: a mean of risks,
    continuous in the weights (the risk itself where W <= 1), in which a whole weight is a number of equal samples. So
    the unit of the weights matters: `options.checked_options` scales importance weights to their effective number.
    """
    areas, total = groups.areas, groups.areas.weight
    whole = np.maximum(np.floor(total), 1.0)  # the last whole point
    whole_risk, last_risk = (areas.cost - areas.last_cost) / whole, areas.cost / total
    area = areas.risks - areas.first_cost / np.minimum(total, 1.0) / 2 - whole_risk / 2
    area = area + (total - whole) * (whole_risk + last_risk) / 2
    return np.where(total > 1, area / np.where(total > 1, total - 1, 1.0), last_risk)[()]


def augrc(groups: Ties) -> FloatOrFloats:
    """Return the area (...) under accepted cost / N against coverage, by trapezoids; ties as in `aurc`."""
    return groups.areas.accepted_cost / np.square(groups.areas.weight)


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
    first = 1 + int(np.searchsorted(np.cumsum(groups.weight), total / _FIRST * (1 - 1e-9)))
    risk = float(groups.cost[:first].sum() / groups.weight[:first].sum())
    return (value + mean / 2 - 1.5 * risk) / (count - 1)


def _auroc_line(data: Data) -> Line:
    """Return intercept and slope in the cost, up to a constant: G and H are linear in F and C (DeLong et al. 1988)."""
    ties = data.groups
    areas = ties.areas
    correct = areas.correct
    incorrect = areas.cost
    total = correct + incorrect
    with np.errstate(divide="ignore", invalid="ignore"):  # only one of the two: nan
        scale = total / (correct * incorrect)
        theta = 1 - areas.lost_pairs / (correct * incorrect)
        constant = theta * total / incorrect + (1 - theta) * total / correct
        slope = ties.weight_middle * scale
        slope -= constant
        return Line(ties.cost_middle * -scale, slope)


def _augrc_line(data: Data) -> Line:
    ties = data.groups
    slope = ties.weight_middle / -ties.areas.weight
    slope += 1.0
    return Line(ties.cost_middle / ties.areas.weight, slope)


def aurc_line(ties: TieGroups) -> Line:
    """Return L of each group as the slope, and the intercept up to a constant, in blocks that stay in the cache."""
    total = ties.weight.sum()
    tiny = np.finfo(np.float64).tiny
    intercept = np.empty(len(ties.cost))
    slope = np.empty(len(ties.cost))
    until = passed = np.zeros(1)
    for rows in blocks(len(ties.cost), row_size=SAMPLE_SIZE):
        w = ties.weight[rows] / total
        c = ties.cost[rows] / total
        until = np.cumsum(ties.weight[rows]) + until[-1]
        b = until / total
        middle = np.maximum(b - w / 2, tiny)
        relative = np.square(w / middle)
        log_mean = relative / 24 - np.log(middle)  # L of a group
        rise = (1 + relative / 12 + np.square(relative) / 80) / middle  # log(b / a) / w, a = b - w
        wide = np.flatnonzero(relative > _FLAT**2)
        _in_full(log_mean, rise, wide, w[wide], b[wide])
        passed = np.cumsum(c * rise) + passed[-1]  # the sum of all less this is that over the groups after each
        mean_cost = ties.cost[rows] if ties.are_samples else c / np.where(w > 0, w, 1.0)
        intercept[rows] = passed - mean_cost * (np.log(np.maximum(b, tiny)) + log_mean)
        slope[rows] = log_mean
    return Line(intercept, slope)


def _in_full(
    slope: Floats,
    rise: Floats,
    wide: Ints,
    w: Floats,
    b: Floats,
) -> None:
    """Fill in L and log(b / a) / w of wide tie groups, if two terms of the series are too few; first L: 1 - log b."""
    a = np.where(
        w < b * (1 - 1e-12),
        b - w,
        0.0,
    )
    log_ratio = np.log(b / np.where(a > 0, a, b))
    slope[wide] = 1 - np.log(b) - a * log_ratio / w
    rise[wide] = log_ratio / w


def _largest_auroc(confidence: Floats, correct: Floats, weight: Floats) -> float:
    """Return the largest AUROC over all thresholds, and over all weights of correct answers at each."""
    levels, level = np.unique(confidence, return_inverse=True)
    is_unknown = np.isnan(correct)

    def total(rows: Bools) -> Floats:
        return np.asarray(
            np.bincount(level[rows], weight[rows], minlength=len(levels)),
            np.float64,
        )

    known_right, known_wrong, unknown = total(correct == 1), total(correct == 0), total(is_unknown)
    wrong_below, unknown_below = np.cumsum(known_wrong) - known_wrong, np.cumsum(unknown) - unknown
    # Below the threshold level all unlabelled answers are incorrect, above it all are correct.
    of_level = known_right * (wrong_below + unknown_below + (known_wrong + unknown) / 2)
    won_below = np.cumsum(of_level) - of_level
    right_above = _after(known_right + unknown)
    won_above = _after((known_right + unknown) * (wrong_below + known_wrong / 2))
    right_all, wrong_all, unknown_above = known_right.sum(), known_wrong.sum(), _after(unknown)
    by_level = np.flatnonzero(is_unknown)[np.argsort(level[is_unknown], kind="stable")]
    groups = np.split(
        weight[by_level],
        np.flatnonzero(np.diff(level[by_level])) + 1,
    )
    best = -np.inf
    for t, weights in zip(np.unique(level[is_unknown]) if is_unknown.any() else [0], groups, strict=True):
        # Y of the weight U at the threshold is correct: pairs won, and correct times incorrect, are quadratics in Y.
        wrong = wrong_below[t] + unknown_below[t] + (known_wrong[t] + unknown[t]) / 2
        won = [
            -0.5,
            wrong - right_above[t] - known_right[t] / 2,
            won_below[t] + known_right[t] * wrong + won_above[t] + right_above[t] * (unknown_below[t] + unknown[t]),
        ]
        right, incorrect = right_all + unknown_above[t], wrong_all + unknown_below[t] + unknown[t]
        pairs = [-1.0, incorrect - right, right * incorrect]
        best = max(best, _largest_ratio(won, pairs, weights))
    return best if best > -np.inf else np.nan


def _largest_ratio(
    won: list[float],
    pairs: list[float],
    weights: Floats,
) -> float:
    """Return the largest ratio of two quadratics over the sums of some of the weights; -inf if there are no pairs."""
    sums = attainable_sums(weights)
    if sums is None:
        stationary = np.roots(np.polysub(np.polymul(np.polyder(won), pairs), np.polymul(won, np.polyder(pairs))))
        inside = np.r_[0.0, weights.sum(), stationary.real[np.isreal(stationary)]]
        least = weights.min()  # of a sum that is not 0
        sums = np.r_[0.0, np.clip(inside, least, weights.sum() - least), weights.sum()]
    numerator, denominator = np.polyval(won, sums), np.polyval(pairs, sums)
    defined = denominator > 1e-12 * max(1.0, abs(pairs[2]))
    return float((numerator[defined] / denominator[defined]).max(initial=-np.inf))


def _after(values: Floats) -> Floats:
    return np.asarray(values.sum() - np.cumsum(values))


def _auroc_of_unjudged(unjudged: Unjudged) -> Limits:
    """Return the bounds of AUROC: the smallest value is that of reversed confidences."""
    highest = _largest_auroc(unjudged.confidence, unjudged.correct, unjudged.weight)
    lowest = 1 - _largest_auroc(-unjudged.confidence, unjudged.correct, unjudged.weight)
    return lowest, highest


def _of_ties(area: Callable[[Ties], FloatOrFloats]) -> Callable[[Data], FloatOrFloats]:
    """Return a function of tie groups as one of data."""
    return lambda data: area(data.ties)


def _if_all_right_or_wrong(area: Callable[[Ties], FloatOrFloats]) -> Callable[[Unjudged], Limits]:
    """Return the bounds of an area: an error counts in every later risk, so all right is best and all wrong worst."""
    return lambda unjudged: (
        float(area(unjudged.all_right.ties)),
        float(area(unjudged.all_wrong.ties)),
    )


def _range_of_aurc(data: Data) -> Limits:
    return 0.0, data.largest_cost


def _range_of_augrc(data: Data) -> Limits:
    return 0.0, data.largest_cost / 2


AUROC = Metric(
    name="auroc",
    title="AUROC",
    description="Probability that a correct answer has a higher confidence than an incorrect one",
    assesses="confidences",
    higher_is_better=True,
    needs="confidences",
    value=_of_ties(auroc),
    line=_auroc_line,
    range=(0.0, 1.0),
    unjudged=_auroc_of_unjudged,
    has_order_bounds=True,
    takes_resamples=True,
    column=4,
)
AURC = Metric(
    name="aurc",
    title="AURC",
    description="Area under risk against coverage; blind to calibration",
    assesses="both",
    higher_is_better=False,
    value=_of_ties(aurc),
    line=lambda data: aurc_line(data.groups),
    range=_range_of_aurc,
    bias=_aurc_bias,
    unjudged=_if_all_right_or_wrong(aurc),
    has_order_bounds=True,
    takes_resamples=True,
    column=9,
)
AUGRC = Metric(
    name="augrc",
    title="AUGRC",
    description="Area under accepted cost against coverage; blind to calibration",
    assesses="both",
    higher_is_better=False,
    value=_of_ties(augrc),
    line=_augrc_line,
    range=_range_of_augrc,
    bias=_augrc_bias,
    unjudged=_if_all_right_or_wrong(augrc),
    has_order_bounds=True,
    takes_resamples=True,
    only_in_full=True,
    column=10,
)
ORDER_METRICS = (AUROC, AURC, AUGRC)

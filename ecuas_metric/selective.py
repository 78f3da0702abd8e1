"""AUROC, AURC and AUGRC of tie groups, and the influence of each sample on them."""

from __future__ import annotations

import numpy as np

from .inputs import SAMPLE_SIZE, FloatOrFloats, Floats, Ints, blocks
from .ranking import ResampledTies, TieGroups

FIRST = 12  # part of the samples whose risk is that of the most confident
FLAT = 0.01  # weight relative to all before, below which two terms of a series replace a difference


def auroc(groups: TieGroups | ResampledTies) -> FloatOrFloats:
    """Return the probability (...) that a correct sample is less uncertain than an incorrect one, ties 1/2."""
    areas = groups.areas
    pairs = areas.correct * areas.cost
    return np.clip(1 - areas.lost_pairs / np.where(pairs > 0, pairs, np.nan), 0.0, 1.0)[()]


def aurc(groups: TieGroups | ResampledTies) -> FloatOrFloats:
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


def augrc(groups: TieGroups | ResampledTies) -> FloatOrFloats:
    """Return the area (...) under accepted cost / N against coverage, by trapezoids; ties as in `aurc`."""
    return groups.areas.accepted_cost / np.square(groups.areas.weight)


def finite_sample_bias(metric: str, value: float, groups: TieGroups, count: float) -> float:
    """Return the bias of AURC and AUGRC for a sample of this effective size, to the order 1 / N.

    For N samples the mean of 1/k + .. + 1/(N - 1), k a sample's rank, is -log of the share of samples before it: the
    sum of the risks at 1/N, .., 1 is N times the area, plus the error rate, minus the risk of the most confident.
    """
    total = float(groups.weight.sum())
    mean = float(groups.cost.sum()) / total
    if metric == "augrc":
        return (mean / 2 - value) / count
    if metric != "aurc" or count <= 2:
        return 0.0
    first = 1 + int(np.searchsorted(np.cumsum(groups.weight), total / FIRST))
    risk = float(groups.cost[:first].sum() / groups.weight[:first].sum())
    return (value + mean / 2 - 1.5 * risk) / (count - 1)


def _auroc_lines(ties: TieGroups) -> tuple[Floats, Floats]:
    """Return intercept and slope in the cost, up to a constant: G and H are linear in F and C."""
    areas = ties.areas
    correct, incorrect, total = areas.correct, areas.cost, areas.correct + areas.cost
    with np.errstate(divide="ignore", invalid="ignore"):  # only one of the two: nan
        scale = total / (correct * incorrect)
        theta = 1 - areas.lost_pairs / (correct * incorrect)
        constant = theta * total / incorrect + (1 - theta) * total / correct
        slope = ties.weight_middle * scale
        slope -= constant
        return ties.cost_middle * -scale, slope


def _augrc_lines(ties: TieGroups) -> tuple[Floats, Floats]:
    slope = ties.weight_middle / -ties.areas.weight
    slope += 1.0
    return ties.cost_middle / ties.areas.weight, slope


def _aurc_lines(ties: TieGroups) -> tuple[Floats, Floats]:
    """Return L of each group as the slope, and the intercept up to a constant, in blocks that stay in the cache."""
    total, tiny = ties.weight.sum(), np.finfo(np.float64).tiny
    intercept, slope = np.empty((2, len(ties.cost)))
    until = passed = np.zeros(1)
    for rows in blocks(len(ties.cost), row_size=SAMPLE_SIZE):
        w, c = ties.weight[rows] / total, ties.cost[rows] / total
        until = np.cumsum(ties.weight[rows]) + until[-1]
        b = until / total
        middle = np.maximum(b - w / 2, tiny)
        relative = np.square(w / middle)
        log_mean = relative / 24 - np.log(middle)  # L of a group
        rise = (1 + relative / 12 + np.square(relative) / 80) / middle  # log(b / a) / w, a = b - w
        wide = np.flatnonzero(relative > FLAT**2)
        _in_full(log_mean, rise, wide, w[wide], b[wide])
        passed = np.cumsum(c * rise) + passed[-1]  # the sum of all less this is that over the groups after each
        mean_cost = ties.cost[rows] if ties.are_samples else c / np.where(w > 0, w, 1.0)
        intercept[rows] = passed - mean_cost * (np.log(np.maximum(b, tiny)) + log_mean)
        slope[rows] = log_mean
    return intercept, slope


def _in_full(slope: Floats, rise: Floats, wide: Ints, w: Floats, b: Floats) -> None:
    """Fill in L and log(b / a) / w of wide tie groups, if two terms of the series are too few; first L: 1 - log b."""
    a = np.where(w < b * (1 - 1e-12), b - w, 0.0)
    log_ratio = np.log(b / np.where(a > 0, a, b))
    slope[wide] = 1 - np.log(b) - a * log_ratio / w
    rise[wide] = log_ratio / w


# Intercept and slope of a sample's influence in its cost, (G,) each, but for a constant: see `intervals.influences`.
LINES = {"auroc": _auroc_lines, "aurc": _aurc_lines, "augrc": _augrc_lines}

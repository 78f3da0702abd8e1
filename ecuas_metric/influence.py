"""How much each sample moves each number: standard errors of all metrics from the one sort, without resampling.

The influence of a sample is the derivative of a number with respect to the sample's share of the weight; the number's
error is, to first order, the weighted mean of the influences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from .baselines import confidence_bins, sums_in_bins
from .costs import ecuas_cost
from .decisions import Decisions
from .inputs import FloatOrFloats, Floats, Ints
from .metrics import METRICS, Key, keys, sample_costs
from .options import Options
from .ranking import TieGroups
from .variants import naive_values, recalibrated_uncertainty

STEP = 1e-5  # of the logarithm of a class's weight, for derivatives of the naive system
FLAT = 0.01  # tie groups whose share of what lies before them is smaller: two terms of a series replace a difference
BLOCK = 2**22


def influences(
    decisions: Decisions, ties: TieGroups, options: Options, values: Mapping[Key, FloatOrFloats]
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
    yield from _of_means(decisions, options, values)
    yield from _of_order(decisions, ties, options, values)
    if options.normalize:
        yield from _of_normalized(decisions, options, values)
    if options.decompose:
        yield from _of_recalibrated(decisions, ties, options, values)


def cost_slopes(decisions: Decisions, ties: TieGroups) -> _Influences:
    """Yield, for AURC and AUGRC, how much more each sample (N,) adds to the number, times N, per unit of its cost."""
    sizes = _sizes(decisions.rank_by)
    for name, lines in (("aurc", _aurc_lines), ("augrc", _augrc_lines)):
        yield Key(name), np.repeat(lines(ties)[1], sizes)


def _of_means(decisions: Decisions, options: Options, values: Mapping[Key, FloatOrFloats]) -> _Influences:
    weight, coverages = options.sample_weight, dict[float | None, Floats]()
    for key, cost in sample_costs(decisions, options):
        if METRICS[key.metric].is_shown:
            yield key, cost - values[key]
        if key.metric == "coverage":
            coverages[key.parameter] = cost
    for parameter, accepts in coverages.items():
        key = Key("selective_risk", parameter)
        share = np.average(accepts, weights=weight)
        yield key, accepts * (decisions.candidate_cost - values[key]) / (share or np.nan)


def _of_order(
    decisions: Decisions, ties: TieGroups, options: Options, values: Mapping[Key, FloatOrFloats]
) -> _Influences:
    """Yield those of AUROC, AURC, AUGRC, which are affine in the cost with one line for each tie group, and of ECE."""
    lines = {"auroc": _auroc_lines, "aurc": _aurc_lines, "augrc": _augrc_lines}
    cost, sizes = decisions.candidate_cost, _sizes(decisions.rank_by)
    for key in keys(decisions, options):
        if key.metric == "ece":
            yield key, _ece(decisions, options, float(values[key]))
        elif key.metric in lines:
            intercept, slope = lines[key.metric](ties)
            if len(slope) < len(cost):
                intercept, slope = np.repeat(intercept, sizes), np.repeat(slope, sizes)
            influence = slope * cost
            influence += intercept
            influence -= np.average(influence, weights=options.sample_weight)
            yield key, influence


def _auroc_lines(ties: TieGroups) -> tuple[Floats, Floats]:
    """Return intercept and slope in the cost, but for a constant: where correct, and the difference to incorrect."""
    correct = ties.weight - ties.cost
    incorrect_total, correct_total = ties.cost_until[-1], correct.sum()
    with np.errstate(divide="ignore", invalid="ignore"):  # only one of the two: nan
        before = (np.cumsum(correct) - correct / 2) / correct_total  # G
        above = 1 - (ties.cost_until - ties.cost / 2) / incorrect_total  # 1 - H
        theta = correct @ above / correct_total
        total = incorrect_total + correct_total
        intercept = (above - theta) * (total / correct_total)
        return intercept, (before - theta) * (total / incorrect_total) - intercept


def _augrc_lines(ties: TieGroups) -> tuple[Floats, Floats]:
    total = ties.weight_until[-1]
    return (ties.cost_until - ties.cost / 2) / total, 1 - (ties.weight_until - ties.weight / 2) / total


def _aurc_lines(ties: TieGroups) -> tuple[Floats, Floats]:
    total = ties.weight_until[-1]
    w, c, b = ties.weight / total, ties.cost / total, ties.weight_until / total
    middle = np.maximum(b - w / 2, np.finfo(np.float64).tiny)
    relative = np.square(w / middle)
    slope = relative / 24 - np.log(middle)  # L of a group
    rise = (1 + relative / 12 + np.square(relative) / 80) / middle  # log(b / a) / w, a = b - w
    mean_cost = c / np.where(w > 0, w, 1.0)
    wide = np.flatnonzero(relative > FLAT**2)
    _in_full(slope, rise, wide, w[wide], b[wide])
    later = c * rise
    later = later.sum() - np.cumsum(later)  # of the groups after each
    return -mean_cost * (np.log(np.maximum(b, np.finfo(np.float64).tiny)) + slope) - later, slope


def _in_full(slope: Floats, rise: Floats, wide: Ints, w: Floats, b: Floats) -> None:
    """Fill in L and log(b / a) / w of wide tie groups, where two terms of their series are not enough.

    Of the first group, with nothing before it, L is 1 - log b; its rise matters to no other group.
    """
    a = np.where(w < b * (1 - 1e-12), b - w, 0.0)
    log_ratio = np.log(b / np.where(a > 0, a, b))
    slope[wide] = 1 - np.log(b) - a * log_ratio / w
    rise[wide] = log_ratio / w


def _ece(decisions: Decisions, options: Options, value: float) -> Floats:
    assert decisions.confidence is not None
    gap = decisions.confidence - (1 - decisions.candidate_cost)
    bins = confidence_bins(decisions.confidence, n_bins=options.n_bins)
    signs = np.sign(sums_in_bins(gap, bins, n_bins=options.n_bins, sample_weight=options.sample_weight))
    return gap * signs[bins] - value


def _of_normalized(decisions: Decisions, options: Options, values: Mapping[Key, FloatOrFloats]) -> _Influences:
    """Divide by the naive system's value, which moves too: psi = (psi_value - normalised * psi_naive) / naive."""
    naive = naive_values(decisions, options, sample_weight=options.sample_weight)
    moved = _of_naive(decisions, options)
    of_means = {key: influence for key, influence in _of_means(decisions, options, values) if key in naive}
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
    decisions: Decisions, ties: TieGroups, options: Options, values: Mapping[Key, FloatOrFloats]
) -> _Influences:
    u_max, cost = decisions.max_uncertainty, decisions.candidate_cost
    u = np.repeat(recalibrated_uncertainty(ties, max_uncertainty=u_max), _sizes(decisions.rank_by))
    before = dict(sample_costs(decisions, options, only=("ecuas",)))
    for key, old in before.items():
        n = key.parameter or 0.0
        new = ecuas_cost(u, cost, n=n, max_uncertainty=u_max, epsilon=options.epsilon)
        best, loss = key._replace(variant="recalibrated"), key._replace(variant="calibration_loss")
        yield best, new - values[best]
        yield loss, old - new - values[loss]


def _sizes(ranked: Floats) -> Ints:
    """Return the number of samples of each tie group."""
    return np.diff(np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1], [True]])))


_Influences = Iterator[tuple[Key, Floats]]

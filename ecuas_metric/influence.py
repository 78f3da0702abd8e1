"""How much each sample moves each number: standard errors of all metrics from the one sort, without resampling.

The influence of a sample is the derivative of a number with respect to the sample's share of the weight; the number's
error is, to first order, the weighted mean of the influences.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from .baselines import confidence_bins, sums_in_bins
from .costs import ecuas_cost
from .decisions import Decisions
from .inputs import PER_SAMPLE, FloatOrFloats, Floats, Ints, blocks
from .metrics import Key, sample_costs
from .options import Options
from .ranking import TieGroups
from .variants import naive_values, recalibrated_uncertainty

STEP = 1e-5  # of the logarithm of a class's weight, for derivatives of the naive system
FLAT = 0.01  # tie groups whose share of what lies before them is smaller: two terms of a series replace a difference
BLOCK = 2**22


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
    for name, lines in (("aurc", _aurc_lines), ("augrc", _augrc_lines)):
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
            yield key, _ece(decisions, options)
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


def _auroc_lines(ties: TieGroups) -> tuple[Floats, Floats]:
    """Return intercept and slope in the cost, but for a constant: G and H written out, they are lines in F and C."""
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
    """Return L of each group as the slope, and the rest but for a constant, in blocks that stay in the cache."""
    total, tiny = ties.weight.sum(), np.finfo(np.float64).tiny
    intercept, slope = np.empty((2, len(ties.cost)))
    until = passed = np.zeros(1)
    for rows in blocks(len(ties.cost), row_size=PER_SAMPLE):
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
    """Fill in L and log(b / a) / w of wide tie groups, where two terms of their series are not enough.

    Of the first group, with nothing before it, L is 1 - log b; its rise matters to no other group.
    """
    a = np.where(w < b * (1 - 1e-12), b - w, 0.0)
    log_ratio = np.log(b / np.where(a > 0, a, b))
    slope[wide] = 1 - np.log(b) - a * log_ratio / w
    rise[wide] = log_ratio / w


def _ece(decisions: Decisions, options: Options) -> Floats:
    assert decisions.confidence is not None
    gap = decisions.confidence - (1 - decisions.candidate_cost)
    bins = confidence_bins(decisions.confidence, n_bins=options.n_bins)
    signs = np.sign(sums_in_bins(gap, bins, n_bins=options.n_bins, sample_weight=options.sample_weight))
    influence = gap * signs[bins]
    return np.asarray(influence - np.average(influence, weights=options.sample_weight))


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


# Intercept and slope of the influence in the cost, (G,) each, but for a constant: see `influences`.
LINES = {"auroc": _auroc_lines, "aurc": _aurc_lines, "augrc": _augrc_lines}
_Influences = Iterator[tuple[Key, Floats]]

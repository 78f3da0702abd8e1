r"""What a result can be while the correctness of some answers is unknown: tight bounds, metric by metric.

A completion assigns each unlabelled answer its correctness. The bounds of a metric are its smallest and largest value
over all completions for which it is defined. They are no confidence interval: they concern these samples only.

- **Means of per-sample costs** (error rate, ECUAS_n, expected cost, accepted cost, cross-entropy and Brier score of the
  confidences): the answers do not interact, so that each takes the smaller, or the larger, of its two costs. For
  cross-entropy and Brier score neither "all right" nor "all wrong" does that: a confident answer is best right, a
  diffident one best wrong. Coverage does not depend on correctness, so that selective risk is a mean too.
- **AURC and AUGRC** are sums of candidate costs with coefficients >= 0 that depend on the ranking alone: an error
  early in the order is counted in every later risk. They are best with all right and worst with all wrong.
- **ECE**: the bins do not interact. A bin's gap is abs(S - Y), with S the sum of its confidences less the correct
  answers known, and Y the weight of those unlabelled answers that are correct. It is largest at one end of what Y can
  be, and smallest where Y comes closest to S: best inside, worst at the ends.
- **AUROC** is a ratio of which both parts change. The largest is among the completions with a threshold: unlabelled
  answers with a higher confidence are correct, those with a lower one incorrect. For let v be the largest value; then
  it maximises F = (pairs won) - v (pairs), over all completions. Let i be more confident than j, with i incorrect
  and j correct. Seen from the other answers, the gain h of being correct, per weight, is not smaller for i than for
  j. If h(j) <= v w_i, making j incorrect does not lower F; otherwise making i correct does not. Where that leaves no
  pairs, exchanging the two does not. So an inversion is never needed. At the threshold itself, among equal
  confidences, every attainable weight Y is tried. The smallest value is that of reversed confidences.

Y is a sum of some of the weights of a bin or tie group. Where there are more than `MAX_SUMS` such sums, every real
number up to the total is allowed: the bounds still hold, but may not be tight. Normalised and recalibrated metrics
divide by, or are fitted to, the unknown, and have no bounds here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..calibration import confidence_bins
from ..decisions import Decisions, confidence_decisions
from ..files.submissions import Unlabelled
from ..inputs import Bools, Floats, require, same_length
from ..metrics import METRICS, Key, metric_values, sample_costs
from ..options import Options
from ..ranking import tie_groups
from ..results import System, as_given

MAX_SUMS = 20_000  # of a group: 80 answers of one weight with 240 of another


class ValueBounds(NamedTuple):
    """The smallest and the largest value of a metric; nan if no completion defines it."""

    low: float
    high: float


def bounds_of(system: System, unlabelled: Unlabelled) -> Mapping[Key, ValueBounds]:
    """Return the bounds of a system's metrics, in which unlabelled answers count as wrong; see `unlabelled_bounds`."""
    decisions, options = as_given(system)
    if decisions.confidence is None or not unlabelled.rows.any():
        return {}
    correct = np.where(unlabelled.rows, np.nan, 1.0 - decisions.candidate_cost)
    return unlabelled_bounds(decisions.confidence, correct, options)


def unlabelled_bounds(confidence: Floats, correct: Floats, options: Options) -> dict[Key, ValueBounds]:
    """Return the bounds of every metric of confidences (N,) whose correctness (N,) is 1, 0, or nan where unlabelled."""
    same_length(predictions=confidence, references=correct)
    require((confidence >= 0) & (confidence <= 1), confidence, "predictions", "out_of_unit_interval")
    labelled = ~np.isnan(correct)
    ok = ~labelled | (correct == 0) | (correct == 1)
    require(ok, correct, "references", "not_0_or_1_or_unlabelled")
    right, wrong = (
        confidence_decisions(confidence, np.where(labelled, correct, fill).astype(int), num_classes=options.num_classes)
        for fill in (1, 0)
    )
    worst = _values(wrong, options)
    bounds = {key: ValueBounds(*sorted((value, worst[key]))) for key, value in _values(right, options).items()}
    bounds |= _of_means(right, wrong, options)
    weight = np.ones(len(correct)) if options.sample_weight is None else options.sample_weight
    bounds[Key("ece")] = _of_ece(confidence, correct, weight, n_bins=options.n_bins)
    highest = _largest_auroc(confidence, correct, weight), _largest_auroc(-confidence, correct, weight)
    bounds[Key("auroc")] = ValueBounds(1 - highest[1], highest[0])
    return {key: bounds[key] for key in worst}


def _values(decisions: Decisions, options: Options) -> dict[Key, float]:
    weight = options.sample_weight
    ties = tie_groups(decisions.rank_by, decisions.candidate_cost, sample_weight=weight)
    values = metric_values(decisions, ties, options, sample_weight=weight)
    return {key: float(value) for key, value in values.items()}


def _of_means(right: Decisions, wrong: Decisions, options: Options) -> dict[Key, ValueBounds]:
    bounds = {}
    for (key, one), (_, other) in zip(sample_costs(right, options), sample_costs(wrong, options), strict=True):
        ends = (np.average(end(one, other), weights=options.sample_weight) for end in (np.minimum, np.maximum))
        if METRICS[key.metric].is_shown:
            bounds[key] = ValueBounds(*map(float, ends))
    return bounds


def _of_ece(confidence: Floats, correct: Floats, weight: Floats, *, n_bins: int) -> ValueBounds:
    bins, labelled = confidence_bins(confidence, n_bins=n_bins), ~np.isnan(correct)
    low = high = 0.0
    for index in np.unique(bins):
        inside = bins == index
        gap = float(weight[inside] @ (confidence - np.where(labelled, correct, 0.0))[inside])
        unknown = weight[inside & ~labelled]
        total, sums = float(unknown.sum()), _attainable_sums(unknown)
        low += np.abs(gap - (np.clip(gap, 0, total) if sums is None else sums)).min()
        high += max(abs(gap), abs(gap - total))
    return ValueBounds(low / float(weight.sum()), high / float(weight.sum()))


def _largest_auroc(confidence: Floats, correct: Floats, weight: Floats) -> float:
    """Return the largest AUROC over all thresholds, and over all weights of correct answers at each."""
    levels, level = np.unique(confidence, return_inverse=True)
    is_unknown = np.isnan(correct)

    def total(rows: Bools) -> Floats:
        return np.asarray(np.bincount(level[rows], weight[rows], minlength=len(levels)), np.float64)

    known_right, known_wrong, unknown = total(correct == 1), total(correct == 0), total(is_unknown)
    wrong_below, unknown_below = np.cumsum(known_wrong) - known_wrong, np.cumsum(unknown) - unknown
    # Below the threshold level all unlabelled answers are incorrect, above it all are correct.
    of_level = known_right * (wrong_below + unknown_below + (known_wrong + unknown) / 2)
    won_below = np.cumsum(of_level) - of_level
    right_above = _after(known_right + unknown)
    won_above = _after((known_right + unknown) * (wrong_below + known_wrong / 2))
    right_all, wrong_all, unknown_above = known_right.sum(), known_wrong.sum(), _after(unknown)
    by_level = np.flatnonzero(is_unknown)[np.argsort(level[is_unknown], kind="stable")]
    groups = np.split(weight[by_level], np.flatnonzero(np.diff(level[by_level])) + 1)
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


def _largest_ratio(won: list[float], pairs: list[float], weights: Floats) -> float:
    """Return the largest ratio of two quadratics over the sums of some of the weights; -inf if there are no pairs."""
    sums = _attainable_sums(weights)
    if sums is None:
        stationary = np.roots(np.polysub(np.polymul(np.polyder(won), pairs), np.polymul(won, np.polyder(pairs))))
        inside = np.r_[0.0, weights.sum(), stationary.real[np.isreal(stationary)]]
        least = weights.min()  # of a sum that is not 0
        sums = np.r_[0.0, np.clip(inside, least, weights.sum() - least), weights.sum()]
    numerator, denominator = np.polyval(won, sums), np.polyval(pairs, sums)
    defined = denominator > 1e-12 * max(1.0, abs(pairs[2]))
    return float((numerator[defined] / denominator[defined]).max(initial=-np.inf))


def _attainable_sums(weights: Floats) -> Floats | None:
    """Return the sums of all subsets of the weights, or None if these are more than `MAX_SUMS`."""
    sums = np.zeros(1)
    for value, count in zip(*np.unique(weights, return_counts=True), strict=True):
        if len(sums) * (count + 1) > MAX_SUMS:
            return None
        sums = (sums[:, None] + value * np.arange(count + 1)).ravel()
    return sums


def _after(values: Floats) -> Floats:
    return np.asarray(values.sum() - np.cumsum(values))

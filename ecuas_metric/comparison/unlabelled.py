r"""What a result can be while the correctness of some answers is unknown: tight bounds, metric by metric.

A completion assigns each unlabelled answer its correctness. The bounds of a metric are its smallest and largest value
over all completions for which it is defined. They are no confidence interval: they concern these samples only.

The bounds of a metric are part of its entry in the registry, `Metric.unjudged`; those of a mean are computed here.

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

Y is a sum of some of the weights of a bin or tie group. Where there are more than `metric.MAX_SUMS` such sums, every
real number up to the total is allowed: the bounds still hold, but may not be tight.

An answer without a confidence has any in [0, 1]. Of a mean of per-sample costs, which are monotone in the confidence of
a right and of a wrong answer, each such answer takes the least or the largest of its costs at 0 and 1. Other metrics
have no bounds then. Normalised and recalibrated metrics
divide by, or are fitted to, the unknown, and have no bounds here; nor has a metric whose entry has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..decisions import ABSTAINS, confidence_decisions
from ..files.submissions import Unlabelled
from ..groups import tie_groups
from ..inputs import Floats, Ints, Limits, require, require_same_length
from ..metric import Data, Key, PartialLabels, set_parameter
from ..metrics import defined_keys, sample_costs
from ..options import Options, select_options
from ..results import System


@dataclass(frozen=True, slots=True)
class ValueBounds:
    """The smallest and the largest value of a metric; nan if no completion defines it."""

    low: float
    high: float


def bound_system(
    system: System, unlabelled: Unlabelled, *, only: Iterable[Key] | None = None
) -> Mapping[Key, ValueBounds]:
    """Return the `unlabelled_bounds` of a system in which unlabelled answers count as wrong."""
    decisions = system.decisions
    confidence = decisions.confidence
    missing = unlabelled.missing
    if confidence is None or (missing is None and not unlabelled.rows.any()):
        return {}
    if missing is not None:
        confidence = np.where(missing, np.nan, confidence)
    correct = np.where(unlabelled.rows, np.nan, 1.0 - decisions.candidate_cost)
    return unlabelled_bounds(confidence, correct, system.options, only=only)


def unlabelled_bounds(
    confidence: Floats, correct: Floats, options: Options, *, only: Iterable[Key] | None = None
) -> dict[Key, ValueBounds]:
    """Return the bounds of every metric (or those in `only`) of confidences (N,), nan where they are missing.

    Their correctness (N,) is 1, 0, or nan where unlabelled.
    """
    _check_arrays(confidence, correct)
    answered = np.flatnonzero(confidence != ABSTAINS)
    if len(answered) < len(confidence):
        return _bounds_with_abstentions(confidence, correct, options, answered, only)
    return _bounds(confidence, correct, options, only)


def _bounds_with_abstentions(
    confidence: Floats,
    correct: Floats,
    options: Options,
    answered: Ints,
    only: Iterable[Key] | None,
) -> dict[Key, ValueBounds]:
    """Return the bounds over all samples, or over answered ones for metrics that skip abstentions."""
    of_all = _bounds(confidence, correct, options, only)
    of_answers = [key for key in of_all if key.entry.skips_abstentions]
    theirs = select_options(options, answered)
    return of_all | _bounds(confidence[answered], correct[answered], theirs, of_answers)


def _bounds(
    confidence: Floats, correct: Floats, options: Options, only: Iterable[Key] | None
) -> dict[Key, ValueBounds]:
    completions = _make_completions(confidence, correct, options)
    decisions = completions[0].decisions
    weight = options.weights(len(correct))
    bounds = {}
    keys = defined_keys(decisions, options) if only is None else only
    for key in [key for key in keys if not key.variant and key.entry.applies(decisions)]:
        of_key = [set_parameter(one, key) for one in completions]
        answers = PartialLabels(confidence, correct, weight, of_key[0], of_key[1])
        limits = _bound_number(key, answers, of_key)
        if limits is not None:
            low, high = limits
            bounds[key] = ValueBounds(float(low), float(high))
    return bounds


def _check_arrays(confidence: Floats, correct: Floats) -> None:
    """Raise InputError unless confidences (N,) lie in [0, 1], and correctness (N,) is 0 or 1, or they are nan."""
    require_same_length(predictions=confidence, references=correct)
    is_share = (confidence >= 0) & (confidence <= 1)
    is_share |= np.isnan(confidence) | (confidence == ABSTAINS)
    require(is_share, confidence, "predictions", "out_of_unit_interval")
    is_verdict = (correct == 0) | (correct == 1)
    require(
        np.isnan(correct) | is_verdict,
        correct,
        "references",
        "must be 0 or 1, or nan where unlabelled",
    )


def _make_completions(confidence: Floats, correct: Floats, options: Options) -> list[Data]:
    """Return the extreme completions: unlabelled answers all right or all wrong, missing confidences all 0 or 1."""
    missing = np.isnan(confidence)
    completions = []
    for end in (0.0, 1.0) if missing.any() else (0.0,):
        filled = np.where(missing, end, confidence)
        for label in (1.0, 0.0):
            answers = np.where(np.isnan(correct), label, correct).astype(int)
            decisions = confidence_decisions(filled, answers, num_classes=options.num_classes)
            rank = decisions.rank
            cost = decisions.candidate_cost
            ties = tie_groups(rank, cost, sample_weight=options.sample_weight)
            completions.append(Data(decisions, options, grouped=ties))
    return completions


def _bound_number(key: Key, answers: PartialLabels, completions: Iterable[Data]) -> Limits | None:
    """Return the bounds of a number; None if none are known.

    Of a mean, each answer has the least or the largest of its costs in the completions.
    """
    metric = key.entry
    if metric.unjudged is not None and not np.isnan(answers.confidence).any():
        return metric.unjudged(answers)
    if metric.cost is None:
        return None
    costs = [sample_costs(key, data.decisions, data.options) for data in completions]
    low = np.minimum.reduce(costs)
    high = np.maximum.reduce(costs)
    weight = answers.weight
    return np.average(low, weights=weight), np.average(high, weights=weight)

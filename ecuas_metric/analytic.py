"""Intervals of every metric without resampling, from the influences of the samples; none where none would hold.

Which kind of interval a number gets was chosen by simulation (tests/ecuas_metric/test_coverage.py):

- a share of samples (error rate, coverage): Wilson's, with the effective number of samples;
- AUROC: DeLong's on the logit scale, and Newcombe's where one kind of sample is rare;
- ECE without its bias: Wilson's idea once more, with the variance that its square has at the limit itself;
- any other number: the t interval on the scale of its logarithm, for costs are skewed; and where its errors are few,
  the gamma interval of a sum of rare events, which is also there when none was seen;
- ECE and calibration losses: none, since they are biased upwards by more than an interval is wide.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .baselines import confidence_bins, squared_gap
from .decisions import Decisions, select
from .errors import Note
from .influence import cost_slopes, influences
from .inputs import PER_SAMPLE, FloatOrFloats, Floats, Ints, blocks
from .intervals import Resampling, gamma_limits, newcombe_limits, student_quantile, units, wilson_limits
from .metrics import METRICS, Key, sample_costs
from .options import Options
from .ranking import TieGroups

FEW = 10  # effective events below which first-order theory does not hold
ENOUGH = 25  # errors from which on the plug-in interval of a recalibrated value is near its level
FEW_GROUPS = 30  # below which intervals were simulated to hold the true value more or less often than they say
MANY = 2000  # errors from which only numbers of accepted samples can have few
SHARES = ("error_rate", "coverage")
OF_ACCEPTED = ("expected_cost", "accepted_cost")
NO_EVENTS = ("coverage", "cross_entropy", "brier_score")  # not a base plus what the errors cost
Limits = tuple[float, float]
NONE = (math.nan, math.nan)


class Design(NamedTuple):
    """How the samples were drawn.

    Attributes
    ----------
    weight : ndarray, shape (N,)
        Of each sample; they sum to 1.
    unit : ndarray of int, shape (N,)
        What was drawn: a sample, or a group of them.
    stratum : ndarray of int, shape (U,)
        Of each unit.
    freedom : int
        Units minus strata; 0 if a stratum has but one.
    """

    weight: Floats
    unit: Ints | None
    stratum: Ints
    freedom: int


def design_of(options: Options, num_samples: int) -> Design:
    """Return how the samples were drawn, as the options say it."""
    weight = options.sample_weight
    unit, stratum = units(num_samples, Resampling(groups=options.groups, strata=options.strata))
    sizes = np.array([len(stratum)]) if options.strata is None else np.bincount(stratum)
    freedom = len(stratum) - len(sizes) if sizes.min() > 1 else 0
    grouped = None if options.groups is None else unit
    share = np.broadcast_to(1 / num_samples, num_samples) if weight is None else weight / weight.sum()
    return Design(share, grouped, stratum, freedom)


def standard_error(influence: Floats, design: Design) -> float:
    """Return the standard error of a number from the influences (N,) of the samples: the infinitesimal jackknife.

    The influences of a group are added up first, their mean over each stratum is taken off, and a stratum of k units
    counts k / (k - 1). nan if a stratum has but one unit.

    References
    ----------
    Efron 1982, "The jackknife, the bootstrap and other resampling plans", chapter 6; Binder 1983, "On the variances of
    asymptotically normal estimators from complex surveys".
    """
    if not design.freedom:
        return math.nan
    count = len(design.stratum)
    if design.freedom == count - 1:  # one stratum
        total, squares = _moments(influence, design)
        return math.sqrt(max(squares - total**2 / count, 0.0) * (count / design.freedom))
    moved = sums_of_units(design.weight * influence, design)
    sizes = np.bincount(design.stratum)
    moved = moved - (np.bincount(design.stratum, moved) / sizes)[design.stratum]
    return math.sqrt(np.square(moved) @ (sizes / (sizes - 1))[design.stratum])


def sums_of_units(values: Floats, design: Design) -> Floats:
    """Sum values (N,) over the samples of each unit, shape (U,)."""
    if design.unit is None:
        return values
    return np.asarray(np.bincount(design.unit, values, minlength=len(design.stratum)), np.float64)


def _moments(values: Floats, design: Design) -> tuple[float, float]:
    """Return the sum, and the sum of squares, of what the values (N,) and their weights are in each unit."""
    if design.unit is not None:
        sums = sums_of_units(design.weight * values, design)
        return float(sums.sum()), float(np.square(sums).sum())
    are_equal, total, squares = not any(design.weight.strides), 0.0, 0.0
    for rows in blocks(len(values), row_size=PER_SAMPLE):
        part = values[rows] if are_equal else values[rows] * design.weight[rows]
        total += part.sum()
        squares += np.vecdot(part, part)
    unit = design.weight[0] if are_equal else 1.0
    return float(total * unit), float(squares * unit**2)


def analytic_intervals(
    decisions: Decisions,
    ties: TieGroups,
    options: Options,
    values: Mapping[Key, FloatOrFloats],
    *,
    only: Collection[Key] | None = None,
) -> tuple[dict[Key, Limits], tuple[Note, ...]]:
    """Return the interval of each number, and notes on those that have none.

    Parameters
    ----------
    decisions : Decisions
        From the least to the most uncertain sample.
    ties : TieGroups
    options : Options
        With a confidence level.
    values : mapping of Key to float
        Those of `results.all_values`, with all that those wanted are made of.
    only : collection of Key, optional
        Those whose interval is wanted; by default all.

    Returns
    -------
    limits : dict of Key to (low, high)
        nan where there is none.
    notes : tuple of Note

    References
    ----------
    Those of the functions in `intervals` and `influence`.
    """
    design = design_of(options, len(decisions.uncertainty))
    wanted = values if only is None else {key: values[key] for key in only}
    if not design.freedom:
        fact = "There are no intervals: each stratum needs at least two samples, or two groups where there are groups."
        return dict.fromkeys(wanted, NONE), (Note("no_interval", fact),)
    level, errors = options.confidence_level or 0.0, _errors(decisions, ties, options, values)
    number = _effective_number(decisions.candidate_cost, design)
    # Where half of the units have errors these are not rare, and theirs is the t interval of few units.
    few = min(FEW, _effective_units(design) / 2)
    limits: dict[Key, Limits] = dict.fromkeys(wanted, NONE)
    possible: dict[Key, Floats] = {}
    few_errors: list[Key] = []
    for key, influence in influences(decisions, ties, options, values, only=_with_influence(wanted)):
        value, added = float(values[key]), errors.get(key)
        if added is not None and _are_few(key, added, design, few):
            few_errors.append(key)
            possible = possible or _errors(decisions, ties, options, values, hypothetical=True)
            limits[key] = _of_few_errors(value, influence, added, possible[key], design, level)
        elif added is not None or _is_of_counts(key) or number >= (ENOUGH if key.variant == "recalibrated" else few):
            limits[key] = _of_many(key, value, influence, added, decisions, design, level)
    return limits, _notes(wanted, limits, few_errors, design)


def _with_influence(values: Mapping[Key, FloatOrFloats]) -> list[Key]:
    """Return the keys of the numbers that exist, are not biased, and whose interval comes from their influence."""
    return [key for key, value in values.items() if math.isfinite(float(value)) and not is_biased(key)]


def is_biased(key: Key) -> bool:
    """Return whether a number is biased upwards by more than an interval around it is wide."""
    return key.metric == "ece" or key.variant == "calibration_loss"


def note_biased(keys: Sequence[Key]) -> tuple[Note, ...]:
    """Return a note that names the numbers that have no interval since they are biased."""
    listed = ", ".join(map(str, keys))
    fact = f"These metrics are biased upwards, so no valid interval is known: {listed}."
    return (Note("biased", fact),) if keys else ()


def limits_of_gap(decisions: Decisions, options: Options) -> Limits:
    """Return the limits of `ece_debiased`: all values whose square is at most some standard errors away.

    The variance of E is a E + b, b that of the pairs of a calibrated system, a from that of the bins' gaps: of what is
    left of each sample's gap, and no less than that of answers drawn by their confidences.
    """
    design = design_of(options, len(decisions.uncertainty))
    if decisions.confidence is None or not design.freedom:
        return NONE
    quantile = quantile_of(design, options.confidence_level or 0.0)
    square = squared_gap(
        decisions.confidence,
        decisions.candidate_cost,
        n_bins=options.n_bins,
        sample_weight=options.sample_weight,
        copies=options.weights_are == "counts",
        groups=options.groups,
    )
    share, mean, covariance = _gaps_of_bins(decisions.confidence, decisions.candidate_cost, options.n_bins, design)
    if not len(share):
        return NONE
    spread = share * mean
    slope = 4 * float(spread @ covariance @ spread) / max(float(spread @ mean), 1e-300)
    start = 2 * float(share @ np.square(covariance) @ share)
    middle = float(square) + quantile**2 * slope / 2
    half = quantile * math.sqrt(max(quantile**2 * slope**2 / 4 + slope * float(square) + start, 0.0))
    return math.sqrt(max(middle - half, 0.0)), math.sqrt(max(middle + half, 0.0))


def _gaps_of_bins(q: Floats, incorrect: Floats, n_bins: int, design: Design) -> tuple[Floats, Floats, Floats]:
    """Return the share of each bin that holds two units or more, its mean gap, and the covariances of these."""
    _, bins = np.unique(confidence_bins(q, n_bins=n_bins), return_inverse=True)
    gap, weight = q - (1 - incorrect), design.weight
    share = np.asarray(np.bincount(bins, weight), np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):  # bins without weight
        mean = np.bincount(bins, weight * gap) / share
        covariance = _covariance_of_bins(gap - mean[bins], bins, share, design)
        least = np.bincount(bins, np.square(weight) * q * (1 - q)) / np.square(share)
    np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), least))
    (held,) = np.nonzero(np.isfinite(np.diagonal(covariance)))
    return share[held] / share[held].sum(), mean[held], covariance[np.ix_(held, held)]


def _covariance_of_bins(rest: Floats, bins: Ints, share: Floats, design: Design) -> Floats:
    """Return the covariances (B, B) of the mean gaps of bins, from what they leave of each sample's (N,).

    nan for a bin that holds but one unit.
    """
    count = len(share)
    if design.unit is None:
        covariance = np.diag(np.bincount(bins, np.square(design.weight * rest)) / np.square(share))
        alone = np.bincount(bins, np.square(design.weight)) / np.square(share)
    else:
        cell, cells = design.unit * count + bins, len(design.stratum) * count
        moved, size = (
            np.bincount(cell, values, minlength=cells).reshape(-1, count) / share
            for values in (design.weight * rest, design.weight)
        )
        covariance, alone = moved.T @ moved, np.square(size).sum(axis=0)
    rooted = np.sqrt(np.where(alone < 1 - 1e-9, 1 - alone, np.nan))  # k - 1 of k equal units
    return np.asarray(covariance / np.outer(rooted, rooted))


def limits_on_log_scale(value: float, half: float) -> Limits:
    """Return the limits of a number that is not negative; of 0 there are none."""
    if not (value > 0 and math.isfinite(half)):
        return NONE
    factor = math.exp(min(half / value, 700.0))
    return value / factor, value * factor


def limits_of_auroc(value: float, error: float, wrong: float, right: float, quantile: float) -> Limits:
    """Return DeLong's limits on the logit scale; Newcombe's where wrong or right answers are few, or at 0 and 1."""
    if min(wrong, right) < FEW or not (error > 0 and 0 < value < 1):
        return newcombe_limits(value, wrong, right, quantile)
    logit, half = math.log(value / (1 - value)), quantile * error / (value * (1 - value))
    return 1 / (1 + math.exp(min(half - logit, 700.0))), 1 / (1 + math.exp(min(-half - logit, 700.0)))


def _of_share(value: float, influence: Floats, design: Design, level: float) -> Limits:
    """Return Wilson's limits of a share."""
    counts = influence + value > 0.5
    rarer = np.where(counts == (value < 0.5), 1.0, 0.0)
    if not rarer.any():  # it is 0 or 1, whatever rounding made of a sum of weights
        return wilson_limits(float(round(value)), _effective_units(design), quantile_of(design, level))
    return wilson_limits(value, _effective_size(value, influence, design), quantile_of(design, level, rarer))


def quantile_of(design: Design, level: float, events: Floats | None = None) -> float:
    """Return Student's quantile: of groups, which estimate the variance, only as many count as hold the events.

    References
    ----------
    Korn and Graubard 1999, "Analysis of health surveys" (degrees of freedom of a subpopulation).
    """
    freedom = design.freedom
    if events is not None and design.unit is not None and events.any():
        freedom = min(freedom, max(int(_effective_number(events, design)) - 1, 1))
    return student_quantile((1 + level) / 2, freedom) if freedom else math.nan


def _is_of_counts(key: Key) -> bool:
    """Return whether a number has an interval of its own, however few its errors."""
    return key.metric == "auroc" or (key.metric in SHARES and not key.variant)


def _are_few(key: Key, errors: Floats, design: Design, few: float) -> bool:
    if _is_of_counts(key) or _are_many_in_few_groups(key, errors, design):
        return False
    return _effective_number(errors, design) < few


def _are_many_in_few_groups(key: Key, errors: Floats, design: Design) -> bool:
    """Return whether the errors that a selective risk is made of are not few but for the groups they are in."""
    if key.metric != "selective_risk" or design.unit is None:
        return False
    return _effective_number(errors, design) < FEW <= _effective_number(errors, design._replace(unit=None))


def _of_many(
    key: Key,
    value: float,
    influence: Floats,
    errors: Floats | None,
    decisions: Decisions,
    design: Design,
    level: float,
) -> Limits:
    """Return the limits by first-order theory."""
    if key.metric in SHARES and not key.variant:
        return _of_share(value, influence, design, level)
    error, quantile = standard_error(influence, design), quantile_of(design, level)
    if key.metric == "auroc":
        cost = decisions.candidate_cost
        wrong, right = _effective_number(cost, design), _effective_number(1 - cost, design)
        return limits_of_auroc(value, error, wrong, right, quantile)
    if errors is not None and _are_many_in_few_groups(key, errors, design):
        quantile = quantile_of(design, level, errors)
    return limits_on_log_scale(value, quantile * error)


def _of_few_errors(
    value: float, influence: Floats, errors: Floats, possible: Floats, design: Design, level: float
) -> Limits:
    """Return the limits of a base, first-order theory for it, plus what few errors cost, a sum of rare events.

    The two are put together as if they were independent, each side by its own distance (Zou and Donner 2008,
    "Construction of confidence limits about effect measures").
    """
    rest = influence - errors
    base = quantile_of(design, level) * standard_error(rest - design.weight @ rest, design)
    below, above = base**2, base**2
    for sign in (1, -1):  # an error costs less than a right answer where a confidence is below one half
        seen = sums_of_units(np.maximum(sign * errors, 0.0) * design.weight, design)
        next_size = _next_size(seen, np.maximum(sign * possible, 0.0) * design.weight, design)
        if next_size > 0:
            total = float(seen.sum())
            low, high = gamma_limits(total, float(seen @ seen), next_size, level)
            less, more = (total - low, high - total) if sign > 0 else (high - total, total - low)
            below, above = below + less**2, above + more**2
    return max(value - math.sqrt(below), 0.0), value + math.sqrt(above)


def _next_size(seen: Floats, possible: Floats, design: Design) -> float:
    """Return the size of one more error: of those seen, or of these and `FEW` possible ones, if that is more."""
    if not possible.any():
        return 0.0
    if not seen.any():
        possible = sums_of_units(possible, design)
        return float(possible.sum() / np.count_nonzero(possible))
    of_seen, of_possible = seen @ seen / seen.sum(), possible.sum() / np.count_nonzero(possible)
    count = np.count_nonzero(seen)
    return float(max(of_seen, (count * of_seen + FEW * of_possible) / (count + FEW)))


def _errors(
    decisions: Decisions,
    ties: TieGroups,
    options: Options,
    values: Mapping[Key, FloatOrFloats],
    *,
    hypothetical: bool = False,
) -> dict[Key, Floats]:
    """Return what the candidate cost of each sample adds to each number (N,); or, hypothetically, would at most add."""
    cost = decisions.candidate_cost
    if hypothetical:
        cost = np.full_like(cost, 1.0 if decisions.confidence is not None else decisions.max_uncertainty)
    few = hypothetical or np.count_nonzero(cost) <= MANY
    if not (few or options.reject_costs):
        return {}
    rows = np.flatnonzero(cost)
    chosen = select(decisions._replace(candidate_cost=cost), rows)
    asked = {name for key in values for name in (key.metric, *(METRICS[key.metric].ratio or ()))}
    names = [
        name for name in asked if METRICS[name].sample_cost and name not in NO_EVENTS and (few or name in OF_ACCEPTED)
    ]
    added: dict[Key, Floats] = {}
    if names:
        right = chosen._replace(candidate_cost=np.zeros(len(rows)))
        added = dict(sample_costs(chosen, options, only=names))
        added |= {key: added[key] - without for key, without in sample_costs(right, options, only=names)}
    for key in [key for key in added if key.metric == "accepted_cost"]:
        accepted_cost, coverage = added.pop(key), values[key._replace(metric="coverage")]
        added[key._replace(metric="selective_risk")] = accepted_cost / (coverage or math.nan)
    if few:
        added |= {key: slope[rows] * cost[rows] for key, slope in cost_slopes(decisions, ties) if key in values}
    return {key: _scattered(rows, sizes, len(cost)) for key, sizes in added.items() if key in values}


def _scattered(rows: Ints, values: Floats, num_samples: int) -> Floats:
    full = np.zeros(num_samples)
    full[rows] = values
    return full


def _effective_number(sizes: Floats, design: Design) -> float:
    """Return how many events of equal size are as variable as these, each unit's taken together."""
    total, squares = _moments(sizes if sizes.min() >= 0 else np.abs(sizes), design)
    return round(total**2 / squares, 9) if squares > 0 else 0.0  # else rounding decides whether 10 are fewer than 10


def _effective_size(share: float, influence: Floats, design: Design) -> float:
    """Return the number of independent samples whose share is as uncertain; of a share of 0 or 1, that of the units."""
    error = standard_error(influence, design)
    if error > 0:
        return share * (1 - share) / error**2
    return _effective_units(design)


def _effective_units(design: Design) -> float:
    """Return how many units of equal weight are as variable as these."""
    if design.unit is None and not any(design.weight.strides):
        return len(design.weight)
    return _effective_number(np.ones(len(design.weight)), design)


def _notes(
    values: Mapping[Key, FloatOrFloats], limits: Mapping[Key, Limits], few: Collection[Key], design: Design
) -> tuple[Note, ...]:
    bare = [key for key, (low, _) in limits.items() if math.isnan(low) and math.isfinite(float(values[key]))]
    biased = [key for key in bare if is_biased(key)]
    facts = {
        "There are too few errors for an interval of": [key for key in bare if key not in biased],
        "These intervals do not account for fitting the recalibration on the same samples": [
            key for key in values if key.variant == "recalibrated" and key not in bare
        ],
        f"With fewer than {FEW} errors these intervals are wider than they would have to be": few,
    }
    listed = {fact: ", ".join(map(str, keys)) for fact, keys in facts.items() if keys}
    of_groups = _note_few_groups(design)
    return (
        note_biased(biased)
        + tuple(Note("no_interval", f"{fact}: {keys}.") for fact, keys in listed.items())
        + of_groups
    )


def _note_few_groups(design: Design) -> tuple[Note, ...]:
    count = len(design.stratum)
    if design.unit is None or count >= FEW_GROUPS:
        return ()
    return (Note("few_groups", f"With {count} groups all intervals are approximate: fewer than {FEW_GROUPS}."),)

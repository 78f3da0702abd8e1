"""The intervals of a system's numbers: each as the engine of `inference` sees it, and the notes. docs/statistics.md."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .decisions import Decisions, one_of_each_class, right_and_wrong
from .designs import SIMPLE, Design, design_of_options
from .errors import Note
from .inference import HALF, Groups, Inference, Number, Rows, Statistic, Unseen, infer, standard_error, unseen
from .inputs import Bools, Floats, Ints, Limits
from .metric import Data, Key, Line, bias_of
from .metrics import (
    Values,
    cost_of,
    line_of_mean,
    line_of_value,
    naive_slopes,
    naive_values,
    quotient,
    ratio_keys,
    recalibrated_uncertainty,
    recalibrated_values,
)
from .options import Options
from .ranking import TieGroups, run_starts
from .sampling import NONE

NO_UNITS = Note("too_few_units")
FEW_GROUPS = 5  # equal groups, below which their own variance says little: four degrees of freedom or fewer
_MOST_GROUPS = 2**13  # of equal uncertainty, for speed: neighbours that are merged differ by 1e-4 of the ranks
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Intervals:
    """Limits (nan where there are none) and standard errors of numbers, and the notes that belong to them."""

    limits: dict[Key, Limits]
    standard_errors: dict[Key, float]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers of a system in groups of equal uncertainty, as samples or as sums only."""

    groups: Groups
    form: Decisions  # which arrays there are, and u_M; the sorted samples, if `rows` is known
    options: Options
    own: Callable[[Key], Groups | None]  # the sums of a number's own losses, as one group
    rows: Callable[[], Rows] | None = None

    @property
    def is_binary(self) -> bool:
        """Whether costs are 0 or 1, as those of confidences are."""
        return self.form.confidence is not None

    def data(self, key: Key, groups: Groups) -> Data:
        """Return what a metric is computed from."""
        ties = TieGroups(groups.weight, groups.cost, self.form.rank_at(groups.uncertainty))
        return Data(self.form, self.options, parameter=key.parameter or 0.0, grouped=ties)

    def dearest(self, seen: float) -> float:
        """Return the most that one more answer costs if the dearest yet costs `seen`: the next entry of a cost matrix.

        Where costs are given as numbers it is that itself, or the least that any answer cost.
        """
        if self.is_binary:
            return 1.0
        if self.form.labels is not None and not isinstance(self.options.cost, str):
            cost = self.options.cost
            return float(cost.min(initial=cost.max(), where=cost > seen * (1 + _ROUNDING)))
        events = self.groups.atoms.event
        return seen or float(events.min(initial=self.form.max_uncertainty, where=events > 0))


def answers_of(decisions: Decisions, options: Options) -> Answers:
    """Return the answers of samples sorted by increasing uncertainty, none of weight 0."""
    starts = run_starts(decisions.rank_by)

    def own(key: Key) -> Groups:
        loss = cost_of(key, decisions, options)
        return grouped(loss, options, np.zeros(len(loss), np.int64))

    @functools.cache
    def rows() -> Rows:
        sizes = np.diff(starts, append=len(decisions.rank_by))
        return Rows(np.repeat(np.arange(len(starts)), sizes), decisions.candidate_cost)

    return Answers(_groups_of(decisions, options, starts), decisions, options, own, rows)


def _groups_of(decisions: Decisions, options: Options, starts: Ints) -> Groups:
    """Return the sums over samples of equal uncertainty."""
    cost = decisions.candidate_cost
    cost2 = cost if decisions.confidence is not None else np.square(cost)
    sums = [np.broadcast_to(1.0, cost.shape), cost, np.broadcast_to(1.0, cost.shape), cost, cost2]
    if options.sample_weight is not None:
        weight = options.sample_weight
        weight2 = np.square(weight)
        sums = [weight, weight * cost, weight2, weight2 * cost, weight2 * cost2]
    if len(starts) < len(cost):
        sums = [np.add.reduceat(values, starts) for values in sums]
    return Groups(decisions.uncertainty_at(decisions.rank_by[starts]), *sums)


def grouped(loss: Floats, options: Options, part: Ints) -> Groups:
    """Return the sums of losses (N,) over parts, numbered from 0."""
    weight = np.ones(len(loss)) if options.sample_weight is None else options.sample_weight
    weight2 = np.square(weight)
    sums = [weight, weight * loss, weight2, weight2 * loss, weight2 * np.square(loss)]
    of_parts = [np.asarray(np.bincount(part, values), np.float64) for values in sums]
    return Groups(np.zeros(len(of_parts[0])), *of_parts)


# ---- numbers as statistics of groups ---------------------------------------------------------------------------------


def number_of(key: Key, answers: Answers, value: float) -> Number | None:
    """Return a number as the engine sees it; None where no interval is known."""
    metric = key.entry
    if key.is_biased or not math.isfinite(value):
        return None
    if key.variant == "normalized":
        is_of_answers = answers.is_binary and metric.naive_confidence is not None
        return _normalized(key, answers, value) if is_of_answers else _normalized_by_classes(key, answers, value)
    if metric.is_own_loss:
        return _own_loss(key, answers, value)
    if metric.of_samples and metric.line is None:
        return None
    least, most = _range_of(key, answers)
    bias = 0.0
    if metric.bias is not None and not key.variant:
        count = answers.groups.total / answers.groups.unit
        bias = bias_of(key, answers.data(key, answers.groups), value, count)
    value_at, line_at = _functions(key, answers)
    statistic = Statistic(value_at, line_at, least, most, answers.dearest, bias)
    return Number(value, statistic, answers.groups, answers.rows)


def _functions(key: Key, answers: Answers) -> tuple[Callable[[Groups], float], Callable[[Groups], Line]]:
    """Return the value and the line of a number that is a function of the groups."""
    metric = key.entry
    form = answers.form
    options = answers.options
    if key.variant == "recalibrated":

        def best(groups: Groups) -> float:
            return float(recalibrated_values(groups.ties, form, options)[key])

        def fitted(groups: Groups) -> Line:  # the effect of a new fit is of second order
            u = recalibrated_uncertainty(groups.ties, max_uncertainty=form.max_uncertainty)
            return line_of_mean(key, u, form, options)

        return best, fitted
    if metric.value is not None:
        compute = metric.value
        return (
            lambda groups: float(compute(answers.data(key, groups))),
            lambda groups: line_of_value(metric, answers.data(key, groups)),
        )
    u = answers.groups.uncertainty
    if metric.ratio is not None:
        above, below = (line_of_mean(part, u, form, options) for part in ratio_keys(key))
        return (
            lambda groups: float(quotient(groups.mean(above), groups.mean(below))),
            lambda groups: _ratio(above, below, groups.mean(above), groups.mean(below)),
        )
    line = line_of_mean(key, u, form, options)
    return lambda groups: groups.mean(line), lambda groups: line


def _ratio(above: Line, below: Line, numerator: float, denominator: float) -> Line:
    """Return the line of a quotient of means."""
    value = numerator / (denominator or math.nan)
    intercept = above.intercept - value * below.intercept
    return Line(intercept / (denominator or math.nan), (above.slope - value * below.slope) / (denominator or math.nan))


def _own_loss(key: Key, answers: Answers, value: float) -> Number | None:
    """Return the mean of a loss that is no function of uncertainty and cost; of two classes it is, of confidences."""
    two = key.entry.two_classes
    if two is not None and answers.options.num_classes == 2 and answers.is_binary:
        name, factor = two
        plain = line_of_mean(Key(name), answers.groups.uncertainty, answers.form, answers.options)
        line = Line(factor * plain.intercept, factor * plain.slope)
        statistic = Statistic(lambda groups: groups.mean(line), lambda groups: line, *_range_of(key, answers), _one)
        return Number(value, statistic, answers.groups, answers.rows)
    groups = answers.own(key)
    if groups is None:
        return None
    line = Line(np.zeros(1), np.ones(1))
    least, most = _range_of(key, answers)
    statistic = Statistic(lambda groups: groups.mean(line), lambda groups: line, least, most, _half_of(most))

    def rows() -> Rows:
        loss = cost_of(key, answers.form, answers.options)
        return Rows(np.zeros(len(loss), np.int64), loss)

    return Number(value, statistic, groups, rows if answers.rows else None)


def _one(seen: float) -> float:
    """Return the cost of a wrong answer."""
    return 1.0


def _half_of(most: float) -> Callable[[float], float]:
    """Return what one more answer loses by a posterior: half of what it can, which is the root of a probability."""
    return lambda seen: max(seen, HALF * most)


def _normalized(key: Key, answers: Answers, value: float) -> Number:
    """Return a number divided by that of a naive system, which depends on the error rate."""
    line = line_of_mean(key, answers.groups.uncertainty, answers.form, answers.options)
    one_each = right_and_wrong(answers.form.max_uncertainty)
    ones = np.ones(len(line.slope))

    def shares(groups: Groups) -> Floats:
        wrong = float(groups.cost.sum())
        return np.array([groups.total - wrong, wrong])

    def value_at(groups: Groups) -> float:
        return float(quotient(groups.mean(line), _naive_value(key, one_each, shares(groups), answers.options)))

    def line_at(groups: Groups) -> Line:
        right, wrong = _naive_slope(key, one_each, shares(groups), answers.options)
        naive = _naive_value(key, one_each, shares(groups), answers.options)
        return _ratio(line, Line(right * ones, (wrong - right) * ones), groups.mean(line), naive)

    return Number(value, Statistic(value_at, line_at, 0.0, dearest=_one), answers.groups, answers.rows)


def _normalized_by_classes(key: Key, answers: Answers, value: float) -> Number | None:
    """Return a number divided by that of a naive system that knows how frequent the classes are: groups are classes.

    None where the naive system's decision is uncertain: the frequency of the most frequent class, a maximum, is then
    biased upwards.
    """
    labels = answers.form.labels
    options = answers.options
    is_known = answers.is_binary or key.entry.is_own_loss
    # A frequency that enters by its logarithm or a maximum is known to first order if K is small against root N.
    if labels is None or answers.rows is None or not is_known or (options.num_classes or 0) ** 2 > len(labels):
        return None
    loss = cost_of(key.of(""), answers.form, options)
    classes, part = np.unique(labels, return_inverse=True)
    groups = grouped(loss, options, part)
    one_each = one_of_each_class(int(options.num_classes or 0), answers.form.max_uncertainty)

    def shares(groups: Groups) -> Floats:
        share = np.zeros(int(options.num_classes or 0))
        share[classes] = groups.weight
        return share

    def line_at(groups: Groups) -> Line:
        naive = _naive_value(key, one_each, shares(groups), options) or math.nan
        slopes = _naive_slope(key, one_each, shares(groups), options)[classes]
        mean = groups.cost.sum() / groups.total
        return Line(-mean / naive**2 * slopes, np.full(len(classes), 1 / naive))

    def value_at(groups: Groups) -> float:
        mean = float(groups.cost.sum()) / groups.total
        return float(quotient(mean, _naive_value(key, one_each, shares(groups), options)))

    if _has_kink(lambda share: _naive_value(key, one_each, share, options), shares(groups), groups):
        return None
    _, most = _range_of(key.of(""), answers)
    return Number(value, Statistic(value_at, line_at, 0.0, dearest=_half_of(most)), groups, lambda: Rows(part, loss))


def _has_kink(naive: Callable[[Floats], float], share: Floats, groups: Groups) -> bool:
    """Return whether the classes' frequencies, within two standard errors, decide what a naive system decides.

    There the second difference of its value grows as the step; where the value is smooth, as the square of the step.
    """
    first, second = np.argsort(-share, kind="stable")[:2]
    share = share / share.sum()
    deviation = math.sqrt((share[first] + share[second]) * groups.unit / groups.total)
    middle = (share[first] - share[second]) / 2
    if middle > deviation:
        return False
    share[[first, second]] = (share[first] + share[second]) / 2

    def bend(step: float) -> float:
        move = np.zeros(len(share))
        move[first] = step
        move[second] = -step
        return abs(naive(share + move) + naive(share - move) - 2 * naive(share))

    step = min(deviation, share[first]) / 2
    return bend(step / 2) > bend(step) / 3  # between a half and a quarter


def _naive_value(key: Key, one_each: Decisions, shares: Floats, options: Options) -> float:
    return float(naive_values(one_each, options, sample_weight=shares)[key.of("")])


def _naive_slope(key: Key, one_each: Decisions, shares: Floats, options: Options) -> Floats:
    """Return the slope of the naive system's value in the share of each kind of sample, (K,)."""
    rounded = np.round(shares / shares.sum(), 12)  # the slopes, differences, would show how the shares were summed
    return naive_slopes(one_each, rounded, options)[key.of("")]


def _range_of(key: Key, answers: Answers) -> Limits:
    """Return the smallest and largest possible value of a number."""
    metric = key.entry
    data = answers.data(key, answers.groups)
    if metric.range is not None:
        return metric.range if isinstance(metric.range, tuple) else metric.range(data)
    if metric.ratio is not None:
        return 0.0, data.largest_cost
    if metric.value is not None:
        return -math.inf, math.inf
    line = line_of_mean(key, np.array([0.0, answers.form.max_uncertainty]), answers.form, answers.options)
    dearest = np.array([slope and slope * data.largest_cost for slope in line.slope.tolist()])  # not 0 times infinity
    ends = np.stack([line.intercept, line.intercept + dearest])
    return float(ends.min()), float(ends.max())


# ---- intervals -------------------------------------------------------------------------------------------------------


def analytic_intervals(decisions: Decisions, options: Options, values: Values) -> Intervals:
    """Return the intervals of numbers of samples sorted by increasing uncertainty, none of weight 0."""
    design = design_of_options(options, len(decisions.uncertainty))
    if not design.tells_errors:
        return Intervals(dict.fromkeys(values, NONE), {}, (NO_UNITS,))
    found = limits_of_answers(answers_of(decisions, options), values, design)
    return dataclasses.replace(found, notes=found.notes + _note_few_groups(design))


def limits_of_answers(answers: Answers, values: Values, design: Design = SIMPLE) -> Intervals:
    """Return the interval of each number in `values`: the one function for samples in memory and for states.

    Without a confidence level there are standard errors only.
    """
    if design.is_simple and len(answers.groups.weight) > _MOST_GROUPS:
        starts = np.arange(_MOST_GROUPS) * len(answers.groups.weight) // _MOST_GROUPS
        answers = dataclasses.replace(answers, groups=answers.groups.merged(starts))
    level = answers.options.confidence_level
    limits = dict.fromkeys(values, NONE)
    if answers.groups.total < (2 - _ROUNDING) * answers.groups.unit:
        return Intervals(limits, {}, () if level is None else (NO_UNITS,))
    errors = {}
    rests = {}
    for key, value in values.items():
        number = number_of(key, answers, float(value))
        if number is None:
            continue
        if answers.rows is None:  # of sums, which are all that a reader has
            errors[key] = standard_error(number, design)
        if level is None:
            continue
        inference = infer(number, design)
        if inference is None:
            continue
        limits[key] = _limits(key, number, inference, design, level)
        rest = unseen(number, inference, level)
        if rest is not None and number.groups is answers.groups:
            rests[key] = rest
    if level is None:
        return Intervals({}, errors, ())
    return Intervals(limits, errors, _notes(answers, values, limits) + _notes_unseen(answers, rests))


def _limits(key: Key, number: Number, inference: Inference, design: Design, level: float) -> Limits:
    """Return limits; those of what is divided by a function of the error rate contain its value at that one's limits.

    Where its influences on both nearly cancel, only the second order remains. None where the rarer of wrong and right
    answers are not known within a factor of two: the divisor is not known then.
    """
    ends = [*inference.limits(level)]
    if key.variant != "normalized" or key.entry.naive_confidence is None:
        return ends[0], ends[1]
    groups = number.groups
    line = Line(np.zeros(len(groups.cost)), np.ones(len(groups.cost)))
    share = groups.mean(line)
    statistic = Statistic(lambda groups: groups.mean(line), lambda groups: line, 0.0, 1.0, _one)
    rate = infer(Number(share, statistic, groups, number.rows), design)
    limits = NONE if rate is None else rate.limits(level)
    low, high = limits if share < HALF else (1 - limits[1], 1 - limits[0])
    rarer = min(share, 1 - share)
    if not (low >= HALF * rarer and high * HALF <= rarer):
        return NONE
    for limit in limits:
        wrong = groups.cost * (limit / share)
        right = (groups.weight - groups.cost) * ((1 - limit) / (1 - share))
        ends.append(number.statistic.value(dataclasses.replace(groups, weight=right + wrong, cost=wrong)))
    return min(ends), max(ends)


def numbers_of(
    decisions: Decisions, options: Options, values: Values, order: Ints | None = None
) -> Iterator[tuple[Key, Number]]:
    """Yield the numbers of sorted samples, as the engine sees them, of which errors are known; rows in this order."""
    answers = answers_of(decisions, options)
    for key, value in values.items():
        number = number_of(key, answers, float(value))
        if number is not None:
            yield key, number if order is None else number.reordered(order)


def limits_of_selected(loss: Floats, selected: Bools, options: Options, *, dearest: float | None = None) -> Limits:
    """Return the limits of the mean loss (N,) of selected samples (N,); `dearest` is the largest, if it is known."""
    design = design_of_options(options, len(loss))
    if not (selected.any() and design.tells_errors):
        return NONE
    part = selected.astype(np.int64) - int(selected.all())  # the selected ones are the last
    groups = grouped(loss, options, part)
    is_in = np.eye(len(groups.weight))[-1]

    def value_at(groups: Groups) -> float:
        return float(groups.cost[-1] / groups.weight[-1])

    def line_at(groups: Groups) -> Line:
        share = float(groups.weight[-1]) / groups.total
        return Line(-value_at(groups) / share * is_in, is_in / share)

    statistic = Statistic(value_at, line_at, 0.0, dearest or math.inf, lambda seen: dearest or seen)
    number = Number(value_at(groups), statistic, groups, lambda: Rows(part, loss))
    inference = infer(number, design)
    return NONE if inference is None else inference.limits(options.confidence_level or 0.0)


# ---- notes -----------------------------------------------------------------------------------------------------------


def _notes(answers: Answers, values: Values, limits: Mapping[Key, Limits]) -> tuple[Note, ...]:
    """Return why numbers have no interval, and what intervals assume or leave out."""
    valued = [key for key in limits if math.isfinite(float(values[key]))]
    bare = [key for key in valued if math.isnan(limits[key][0])]
    bounded = [key for key in valued if key not in bare]
    notes = note_biased([key for key in bare if key.is_biased])
    notes += note_on("no_interval_known", [key for key in bare if not key.is_biased])
    if not answers.is_binary:
        largest = answers.dearest(float(answers.groups.atoms.event.max()))
        notes += note_on("assumed", [key for key in bounded if not key.is_plain_share], largest=largest)
    fitted = [key for key in bounded if key.variant == "recalibrated"]
    return notes + note_on("recalibration_taken_as_given", fitted)


def note_biased(keys: Sequence[Key]) -> tuple[Note, ...]:
    """Return a note that names the numbers without interval because they are biased."""
    return note_on("biased", keys)


def note_on(identifier: str, keys: Sequence[Key], **fields: object) -> tuple[Note, ...]:
    """Return a note that names some numbers, if there are any."""
    return (Note(identifier, {**fields, "metrics": list(keys)}),) if keys else ()


def _notes_unseen(answers: Answers, rests: Mapping[Key, Unseen]) -> tuple[Note, ...]:
    """Return one note for each stretch of answers among which a kind was not seen, on the intervals that rest on it."""
    sizes: dict[tuple[str, int, str], dict[Key, float]] = {}
    for key, rest in rests.items():
        sizes.setdefault(_words_of(answers, rest), {})[key] = rest.size
    notes = []
    for (kind, count, where), of_keys in sizes.items():
        largest = max(of_keys.values())
        fields = {"kind": kind, "count": count, "where": where, "largest": largest, "metrics": list(of_keys)}
        notes.append(Note("unseen", fields))
    return tuple(notes)


def _words_of(answers: Answers, rest: Unseen) -> tuple[str, int, str]:
    """Return the kind that was not seen, among how many answers, and where these lie."""
    groups = answers.groups
    rows = slice(rest.first, rest.last + 1)
    ends = groups.uncertainty[[rest.first, rest.last]]
    first, last = sorted((1 - ends if answers.is_binary else ends).tolist())
    name = "confidence" if answers.is_binary else "uncertainty"
    count = float(groups.weight[rows].sum()) ** 2 / float(groups.weight2[rows].sum())
    where = f"{name} {first:.3g}" if f"{first:.3g}" == f"{last:.3g}" else f"{name} {first:.3g} to {last:.3g}"
    return "mistake" if rest.cost else "right answer", round(count), where


def _note_few_groups(design: Design) -> tuple[Note, ...]:
    if design.group is None or design.num_units >= FEW_GROUPS:
        return ()
    return (Note("few_groups", {"count": design.num_units, "needed": FEW_GROUPS}),)

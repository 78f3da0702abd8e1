"""The intervals of a system's numbers: each number for the engine of `inference`, and notes. See docs/statistics.md."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .abstentions import count_answered_groups
from .costs import EXPECTED_COST, largest_log_cost
from .decisions import Decisions, one_right_one_wrong, one_sample_per_class
from .errors import Note
from .groups import Groups, Line, Rows, make_rows, run_starts, sum_parts, sum_samples
from .inference import (
    HALF,
    Number,
    Unseen,
    all_limits,
    find_unseen,
    infer,
    infer_all,
    standard_errors,
)
from .inputs import NO_LIMITS, Bools, Floats, Ints, Limits, grouped
from .metric import Data, Key, Metric, Point, set_parameter
from .metrics import (
    Values,
    mean_line,
    naive_slopes,
    naive_values,
    ratio_keys,
    recalibrated_uncertainty,
    recalibrated_values,
    right_and_wrong_samples,
    sample_costs,
    value_line,
)
from .options import Options
from .sampling import SIMPLE, Design, make_design

NO_UNITS = Note("too_few_units")
# equal groups or weights, below which their own variance says little: of ten groups of twenty answers whose error rates
# have the distribution Beta(0.2, 1.8), 95 % intervals held in 91 % of 500 samples
FEW_UNITS = 10
# of equal uncertainty, for speed: neighbours that are merged differ by 1e-4 of the ranks
_MOST_GROUPS = 2**13
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Intervals:
    """Limits (nan where there are none) and standard errors of numbers, and the notes that belong to them."""

    limits: dict[Key, Limits]
    standard_errors: dict[Key, float]
    notes: tuple[Note, ...]


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a system in tie groups; with `rows` also one by one, else as sums only."""

    groups: Groups
    template: Decisions  # which arrays there are, and u_M; the samples, if `rows` is known
    options: Options
    rows: Callable[[], Rows] | None = None
    # without rows, of losses of whole posteriors
    losses: Mapping[Key, Groups] = field(default_factory=dict)
    design: Design = SIMPLE
    recalibration: str | None = None  # which these answers fitted

    @property
    def tells_errors(self) -> bool:
        """Whether the error of a number can be estimated: whether there are two units or more."""
        groups = self.groups
        are_two = groups.total >= (2 - _ROUNDING) * groups.unit
        return are_two and (self.rows is None or self.design.tells_errors)

    @functools.cached_property
    def num_answered(self) -> int:
        """The number of groups of answers, which come before those of abstentions."""
        size = len(self.groups.rank)
        return (
            count_answered_groups(self.groups.rank) if self.template.has_only_confidences else size
        )

    @property
    def answered(self) -> Answers:
        """These without abstentions, as groups only; itself if there are none."""
        if self.num_answered == len(self.groups.rank):
            return self
        return dataclasses.replace(self, groups=self.groups.first(self.num_answered))

    @property
    def cheapest(self) -> Floats | float:
        """The least cost of one more answer in each group (G,), or in all: 0, but 1 of an abstention."""
        if self.answered is self:
            return 0.0
        return (np.arange(len(self.groups.rank)) >= self.num_answered).astype(np.float64)

    @property
    def is_binary(self) -> bool:
        """Whether costs are 0 or 1, as those of confidences are."""
        return self.template.confidence is not None

    def data(self, key: Key, groups: Groups) -> Data:
        """Return the arguments of a metric for other groups."""
        return Data(self.template, self.options, key.parameter or 0.0, groups)

    @property
    def uncertainty(self) -> Floats:
        """The uncertainty of each group (G,)."""
        return self.template.uncertainty_from_rank(self.groups.rank)

    @functools.cached_property
    def right_and_wrong(self) -> Decisions:
        """2 G answers: a right one at the uncertainty of each group, then a wrong one of each."""
        return right_and_wrong_samples(self.uncertainty, self.template)

    @functools.cached_property
    def extremes(self) -> Decisions:
        """Right and then wrong answers, at the uncertainties where a mean cost can be least or most."""
        most = self.template.max_uncertainty
        u = self.uncertainty
        above = float(u.max(initial=most))  # which is rejected at every cost
        answers_some = np.isfinite(u).any()
        # what rejects all rejects the next answer too
        least = 0.0 if answers_some else math.inf
        return right_and_wrong_samples(np.maximum([0.0, most, above], least), self.template)

    def line(self, key: Key) -> Line:
        """Return the line of a metric that is a mean: what it adds for a sample of cost c in each group (G,)."""
        return mean_line(key, self.right_and_wrong, self.options)

    @functools.cached_property
    def largest(self) -> float:
        """The largest cost that one more answer anywhere may have."""
        return self.dearest(np.ones(len(self.groups.rank), np.bool_))

    def dearest(self, matters: Bools) -> float:
        """Return the largest cost that one more answer may have in the groups that matter (G,).

        By a cost matrix it is known. Otherwise it is the largest observed there, or half of the largest anywhere.
        """
        next_cost = self.groups.next_cost
        dearest = float(next_cost.max(initial=0.0, where=matters))
        if find_cost_matrix(self.template, self.options) is not None:
            return dearest
        anywhere = float(next_cost.max())
        if self.options.cost == "log":
            anywhere = max(anywhere, largest_log_cost(self.options))
        return max(dearest, HALF * anywhere) or self.template.max_uncertainty


def find_cost_matrix(decisions: Decisions, options: Options) -> Floats | None:
    """Return the cost matrix of a system of posteriors, None if its cost is another."""
    if decisions.labels is None or isinstance(options.cost, str):
        return None
    return options.cost


def next_costs(
    decisions: Decisions,
    options: Options,
    order: Ints,
    starts: Ints,
) -> Floats:
    """Return the largest cost (G,) of one more answer in each group: answers in `order` (N,), from each start on.

    An answer allows its own cost or, with a cost matrix, the next larger entry in the column of its decision.
    """
    if decisions.confidence is not None:
        return np.ones(len(starts))
    cost = decisions.candidate_cost
    matrix = find_cost_matrix(decisions, options)
    if matrix is not None:
        following = np.stack([_next_larger(column) for column in matrix.T], axis=1)
        cost = following[decisions.labels, decisions.decision]
    return np.asarray(np.maximum.reduceat(cost[order], starts))


def _next_larger(costs: Floats) -> Floats:
    """Return for each cost (K,) the next larger one of them, or the largest one itself."""
    entries = np.unique(costs)
    place = np.searchsorted(entries, costs * (1 + _ROUNDING), side="right")
    return entries[np.minimum(place, len(entries) - 1)]


def has_binary_sums(decisions: Decisions, options: Options) -> bool:
    """Return whether all samples weigh 1 and cost 0 or 1, so that all sums follow from two."""
    cost = decisions.candidate_cost
    if options.sample_weight is not None or decisions.confidence is None:
        return False
    return bool(((cost == 0) | (cost == 1)).all())


def group_answers(
    decisions: Decisions, options: Options, ties: Groups | None, recalibration: str | None = None
) -> Answers:
    """Return the answers of samples, none of which may have a weight of 0; `ties` are their tie groups, if known."""
    design = make_design(len(decisions.candidate_cost), options)

    @functools.cache
    def rows() -> Rows:
        rank = decisions.sorted_rank
        is_start = np.ones(len(rank), np.bool_)
        np.not_equal(rank[1:], rank[:-1], out=is_start[1:])
        group = np.empty(len(rank), np.int64)
        group[decisions.order] = np.cumsum(is_start) - 1
        return make_rows(group, decisions.candidate_cost, design.weight)

    if ties is not None and has_binary_sums(decisions, options):
        groups = ties.with_binary_sums
    else:
        groups = _sum_groups(decisions, options)
    return Answers(groups, decisions, options, rows, design=design, recalibration=recalibration)


def _sum_groups(decisions: Decisions, options: Options) -> Groups:
    """Return samples summed over groups of equal uncertainty."""
    order = decisions.order
    rank = decisions.sorted_rank
    starts = run_starts(rank)
    weight = options.sample_weight
    w = np.broadcast_to(1.0, rank.shape) if weight is None else weight[order]

    def add(values: Floats) -> Floats:
        return np.add.reduceat(values, starts) if len(starts) < len(rank) else values

    return dataclasses.replace(
        sum_samples(rank[starts], w, decisions.candidate_cost[order], add),
        next_cost=next_costs(decisions, options, order, starts),
    )


# ---- numbers as functions of groups ----------------------------------------------------------------------------------


def make_number(key: Key, answers: Answers, value: float) -> Number | None:
    """Return a number for the engine; None if no interval is known for it."""
    metric = key.entry
    if metric.skips_abstentions and answers.answered is not answers:
        return _extend_to_abstentions(make_number(key, answers.answered, value), answers)
    if not math.isfinite(value) or why_no_inference(key, answers.recalibration):
        return None
    if key.variant == "normalized":
        by_confidence = answers.is_binary and metric.naive_confidence is not None
        normalized = _normalize_by_errors if by_confidence else _normalize_by_classes
        return normalized(key, answers, value)
    if metric.is_posterior_loss:
        return _make_loss_number(key, answers, value)
    if not _is_inferable(metric, answers.groups):
        return None
    return _make_group_number(
        key, answers, value, _point_function(key, answers), _bias(key, answers, value)
    )


def _extend_to_abstentions(number: Number | None, answers: Answers) -> Number | None:
    """Return a number of the answers alone as one of all samples, on which abstentions have no influence."""
    if number is None:
        return None
    groups = answers.groups
    count = len(number.point.line.slope)
    none = np.zeros(len(groups.weight) - count)

    def padded(values: Floats | float) -> Floats | float:
        return values if np.ndim(values) == 0 else np.append(values, none)

    def evaluate(groups: Groups) -> Point:
        answered = groups.first(count)
        point = number.evaluate(answered)
        line = answered.centred(point.line).times(groups.total / answered.total)
        return Point(
            point.value, Line(np.append(line.intercept, none), np.append(line.slope, none))
        )

    return dataclasses.replace(
        number,
        groups=groups,
        evaluate=evaluate,
        point=evaluate(groups),
        cheapest=padded(number.cheapest),
        dearest=padded(number.dearest),
    )


def _is_inferable(metric: Metric, groups: Groups) -> bool:
    """Return whether a metric has an influence function, and wrong and right answers suffice for its interval."""
    if metric.of_samples and metric.line is None:
        return False
    fewest = (1 - _ROUNDING) * np.array(metric.fewest)
    return bool((groups.effective_counts >= fewest).all())


def why_no_inference(key: Key, recalibration: str | None) -> str | None:
    """Return the id of the note that says why a number has neither interval nor test for any data; None if it may.

    After a recalibration, its fit decides what is accepted at a reject cost. The expected cost is least at the best
    fit, so that to first order the error of a smooth fit does not matter; an isotonic fit has steps.
    """
    if key.is_biased:
        return "biased"
    if not recalibration or key.entry.parameter != "reject_costs":
        return None
    is_smooth = not recalibration.startswith("isotonic")
    return None if is_smooth and key.entry is EXPECTED_COST else "decided_by_fit"


def _bias(key: Key, answers: Answers, value: float) -> float:
    """Return the bias of a number, to order 1 / N."""
    bias = key.entry.bias
    if bias is None or key.variant:
        return 0.0
    groups = answers.groups
    return bias(answers.data(key, groups), value, groups.total / groups.unit)


def _make_group_number(
    key: Key,
    answers: Answers,
    value: float,
    evaluate: Callable[[Groups], Point],
    bias: float = 0.0,
) -> Number:
    """Return the number that `evaluate` computes from the groups of answers."""
    groups = answers.groups
    point = evaluate(groups)
    least, most = possible_range(key, answers)
    matters = np.not_equal(point.line.slope, 0)
    number = Number(
        value,
        groups,
        evaluate,
        point,
        least,
        most,
        answers.cheapest,
        answers.dearest(matters),
        bias,
        answers.rows,
    )
    return number if matters.any() else _ignore_costs(number)


def _ignore_costs(number: Number) -> Number:
    """Return a number that depends on no cost, as a coverage, with answers that cost nothing.

    One more answer then moves it towards an end of its range, if that is finite.
    """
    groups = number.groups
    none = np.zeros(len(groups.weight))
    influence = groups.centred(number.point.line).intercept + number.value
    line = Line(influence, none + 1)
    ends = [
        end - influence if math.isfinite(end) else none + math.nan
        for end in (number.least, number.most)
    ]

    def rows() -> Rows:
        answers = number.samples
        return dataclasses.replace(answers, cost=np.zeros(len(answers.cost)))

    return dataclasses.replace(
        number,
        groups=groups.costless,
        evaluate=_mean_function(line),
        point=Point(number.value, line),
        cheapest=ends[0],
        dearest=ends[1],
        rows=rows if number.rows else None,
    )


def _point_function(
    key: Key,
    answers: Answers,
) -> Callable[[Groups], Point]:
    """Return the function from groups to the value and the line of a number."""
    metric = key.entry
    if key.variant == "recalibrated":
        return _recalibrated_function(key, answers)
    if metric.ratio is not None:
        above, below = map(answers.line, ratio_keys(key))
        return _ratio_function(above, below)
    compute = metric.value
    if compute is None:
        return _mean_function(answers.line(key))

    def evaluate(groups: Groups) -> Point:
        data = answers.data(key, groups)
        return Point(float(compute(data)), value_line(metric, data))

    return evaluate


def _mean_function(line: Line) -> Callable[[Groups], Point]:
    return lambda groups: Point(groups.mean(line), line)


def _ratio_function(
    above: Line,
    below: Line,
) -> Callable[[Groups], Point]:
    return lambda groups: _ratio_point(
        above,
        below,
        groups.mean(above),
        groups.mean(below),
    )


def _ratio_point(
    above: Line,
    below: Line,
    numerator: float,
    denominator: float,
) -> Point:
    """Return the ratio of two numbers, with its line, from their lines and values; nan if the denominator is 0."""
    divisor = denominator or math.nan
    value = numerator / divisor
    intercept = above.intercept - value * below.intercept
    slope = above.slope - value * below.slope
    return Point(value, Line(intercept / divisor, slope / divisor))


def _recalibrated_function(
    key: Key,
    answers: Answers,
) -> Callable[[Groups], Point]:
    """Return the function from groups to a number after the best recalibration.

    Its line is that of a fixed fit: the effect of a new one is of second order.
    """
    template = answers.template

    def evaluate(groups: Groups) -> Point:
        ties = answers.data(key, groups).groups
        value = recalibrated_values(ties, template, answers.options)[key]
        u = recalibrated_uncertainty(ties, max_uncertainty=template.max_uncertainty)
        return Point(
            float(value),
            mean_line(key, right_and_wrong_samples(u, template), answers.options),
        )

    return evaluate


def _make_loss_number(key: Key, answers: Answers, value: float) -> Number | None:
    """Return the mean of a loss of whole posteriors; for two classes it may be a function of uncertainty and cost."""
    groups = answers.losses.get(key)
    rows = None
    if answers.rows is not None:
        loss = sample_costs(key, answers.template, answers.options)
        one_part = np.zeros(len(loss), np.int64)
        groups = _group_losses(loss, one_part, answers)
        rows = functools.partial(make_rows, one_part, loss, answers.design.weight)
    if groups is None:
        return None
    line = _two_class_line(key, answers)
    if line is not None:
        return _make_group_number(key, answers, value, _mean_function(line))
    evaluate = _mean_function(_identity_line(groups))
    least, most = possible_range(key, answers)
    dearest = _dearest_loss(groups, most, answers.options)
    point = evaluate(groups)
    return Number(value, groups, evaluate, point, least, most, dearest=dearest, rows=rows)


def _two_class_line(key: Key, answers: Answers) -> Line | None:
    """Return the line of a loss of posteriors of two classes, by its metric of confidences; None if it has none."""
    two = key.entry.two_classes
    if two is None or answers.options.num_classes != 2 or not answers.is_binary:
        return None
    name, factor = two
    return answers.line(Key(name)).times(factor)


def _group_losses(cost: Floats, part: Ints, answers: Answers) -> Groups:
    """Return the sums of samples of this cost (N,) over parts, by the part (N,) of each."""
    none = np.zeros(part.max() + 1)
    weight = answers.options.weights(len(cost))
    return sum_samples(none, weight, cost, functools.partial(sum_parts, part))


def _identity_line(groups: Groups) -> Line:
    """Return the line whose value is the cost itself."""
    none = np.zeros(len(groups.cost))
    return Line(none, none + 1)


def _dearest_loss(groups: Groups, most: float, options: Options) -> float:
    """Return the largest loss of one more answer: the largest one observed, or half of the largest possible."""
    if math.isinf(most):
        most = largest_log_cost(options)
    return max(float(groups.positive_cost.max()), HALF * most)


@dataclass(frozen=True, slots=True, eq=False)
class _Naive:
    """The naive system's value of a number, as a function of the shares (K,) of kinds of samples."""

    key: Key  # of the plain number
    one_each: Decisions  # a sample of each kind
    options: Options

    def value(self, share: Floats) -> float:
        values = naive_values(self.one_each, self.options, share)
        return float(values[self.key])

    def slope(self, share: Floats) -> Floats:
        """Return the derivatives (K,) of the value by the share of each kind."""
        # the slopes, differences, would show how the shares were summed
        rounded = np.round(share / share.sum(), 12)
        return naive_slopes(self.one_each, rounded, self.options)[self.key]


def _normalize_by_errors(key: Key, answers: Answers, value: float) -> Number:
    """Return a number divided by that of the naive system of confidences, which depends on the error rate."""
    line = answers.line(key)
    ones = np.ones(len(line.slope))
    one_each = one_right_one_wrong(answers.template.max_uncertainty)
    naive = _Naive(key.as_variant(""), one_each, answers.options)

    def evaluate(groups: Groups) -> Point:
        wrong = float(groups.cost.sum())
        share = np.array([groups.total - wrong, wrong])
        at_right, at_wrong = naive.slope(share)
        below = Line(at_right * ones, (at_wrong - at_right) * ones)
        return _ratio_point(line, below, groups.mean(line), naive.value(share))

    groups = answers.groups
    return Number(value, groups, evaluate, evaluate(groups), 0.0, rows=answers.rows)


def _normalize_by_classes(key: Key, answers: Answers, value: float) -> Number | None:
    """Return a number divided by that of the naive system of posteriors, which knows the shares of the classes.

    Its groups are the classes. None where the naive decision is uncertain: the largest share is then biased upwards.
    """
    labels = answers.template.labels
    options = answers.options
    size = int(options.num_classes or 0)
    is_known = answers.is_binary or key.entry.is_posterior_loss
    # A frequency that enters by its logarithm or a maximum is known to first order if K is small against root N.
    if labels is None or answers.rows is None or not is_known or size**2 > len(labels):
        return None
    plain = key.as_variant("")
    loss = sample_costs(plain, answers.template, options)
    classes, part = np.unique(labels, return_inverse=True)
    groups = _group_losses(loss, part, answers)
    naive = _Naive(plain, one_sample_per_class(size, answers.template.max_uncertainty), options)
    line = _identity_line(groups)

    def shares(groups: Groups) -> Floats:
        share = np.zeros(size)
        share[classes] = groups.weight
        return share

    def evaluate(groups: Groups) -> Point:
        share = shares(groups)
        below = Line(naive.slope(share)[classes], np.zeros(len(classes)))
        return _ratio_point(line, below, groups.mean(line), naive.value(share))

    if _has_kink(naive, shares(groups), groups):
        return None
    _, most = possible_range(plain, answers)
    dearest = _dearest_loss(groups, most, options)
    return Number(
        value,
        groups,
        evaluate,
        evaluate(groups),
        0.0,
        dearest=dearest,
        rows=functools.partial(make_rows, part, loss, answers.design.weight),
    )


def _has_kink(naive: _Naive, share: Floats, groups: Groups) -> bool:
    """Return whether the naive value has a kink within two standard errors of the shares (K,): its decision may change.

    At a kink the second difference grows as the step; where the value is smooth, as the square of the step.
    """
    first, second = np.argsort(-share, kind="stable")[:2]
    share = share / share.sum()
    middle = (share[first] + share[second]) / 2
    deviation = math.sqrt(2 * middle * groups.unit / groups.total)
    if (share[first] - share[second]) / 2 > deviation:
        return False
    share[[first, second]] = middle

    def bend(step: float) -> float:
        move = np.zeros(len(share))
        move[first] = step
        move[second] = -step
        ends = naive.value(share + move) + naive.value(share - move)
        return abs(ends - 2 * naive.value(share))

    step = min(deviation, middle) / 2
    return bend(step / 2) > bend(step) / 3  # between a half and a quarter


def possible_range(key: Key, answers: Answers) -> Limits:
    """Return the smallest and largest possible value of a number."""
    metric = key.entry
    if isinstance(metric.range, tuple):
        return metric.range
    largest = answers.largest
    if metric.range is not None:
        data = Data(answers.template, answers.options, largest_cost=largest)
        return metric.range(set_parameter(data, key))
    if metric.ratio is not None:
        return 0.0, largest
    if metric.value is not None:
        return -math.inf, math.inf
    line = mean_line(key, answers.extremes, answers.options)
    ends = np.stack([line.intercept, line.influence(largest)])
    return float(ends.min()), float(ends.max())


# ---- intervals -------------------------------------------------------------------------------------------------------


def merge_to_limit(answers: Answers) -> Answers:
    """Return answers with neighbouring groups merged to at most `_MOST_GROUPS`, unless the design needs each answer."""
    size = len(answers.groups.weight)
    if size <= _MOST_GROUPS or not answers.design.is_simple:
        return answers
    starts = np.arange(_MOST_GROUPS) * size // _MOST_GROUPS
    if answers.answered is not answers:  # abstentions are no neighbours
        starts = np.unique(np.append(starts, size - 1))
    return dataclasses.replace(answers, groups=answers.groups.merged(starts))


def analytic_intervals(answers: Answers, values: Values) -> Intervals:
    """Return the interval of each number in `values`, of samples in memory or of sums.

    For sums there are standard errors, too; without a confidence level only these.
    """
    level = answers.options.confidence_level
    limits = dict.fromkeys(values, NO_LIMITS)
    if not answers.tells_errors:
        return Intervals(limits, {}, () if level is None else (NO_UNITS,))
    answers = merge_to_limit(answers)
    numbers = make_numbers(answers, values)
    design = answers.design
    tests = [[number] for number in numbers.values()]
    errors = {}
    if answers.rows is None:
        errors = dict(zip(numbers, standard_errors(tests, design), strict=True))
    if level is None:
        return Intervals({}, errors, ())
    found = zip(numbers, infer_all(tests, design), strict=True)
    known = {key: inference for key, inference in found if inference is not None}
    inferences = list(known.values())
    for key, of_number in zip(known, all_limits(inferences, level), strict=True):
        limits[key] = _limits(key, numbers[key], of_number, answers)
    tests = [[numbers[key]] for key in known]
    hidden = dict(zip(known, find_unseen(tests, inferences, level, design), strict=True))
    notes = _notes(answers, values, limits) + notes_unseen(answers, hidden)
    return Intervals(limits, errors, notes + note_few_units(answers))


def _limits(key: Key, number: Number, limits: Limits, answers: Answers) -> Limits:
    """Return the limits of a number; those of a normalised one also cover its values at the limits of the error rate.

    There the influences on numerator and divisor may nearly cancel, so that the second order counts. nan where the
    divisor is not known: unless the share of the rarer of wrong and right answers, or of all classes but the most
    frequent one, is known within a factor of two.
    """
    if key.variant != "normalized":
        return limits
    if key.entry.naive_confidence is None:
        return limits if _is_known(*_rarer_classes(number, answers)) else NO_LIMITS
    groups = answers.groups
    are_answers = np.arange(len(groups.cost)) < len(answers.answered.groups.cost)
    low, high = limit_selected_mean(answers, are_answers)
    share = float(answers.answered.groups.cost.sum()) / answers.answered.groups.total
    fewest, most = (low, high) if share < 0.5 else (1 - high, 1 - low)
    if not _is_known(min(share, 1 - share), (fewest, most)):
        return NO_LIMITS
    values = [*limits]
    for limit in (low, high):
        wrong = groups.cost * (limit / share)
        right = (groups.weight - groups.cost) * ((1 - limit) / (1 - share))
        at_limit = dataclasses.replace(groups, weight=right + wrong, cost=wrong)
        values.append(number.evaluate(at_limit).value)
    return min(values), max(values)


def _is_known(share: float, limits: Limits) -> bool:
    """Return whether a share is known within a factor of two."""
    low, high = limits
    return 2 * low >= share and high <= 2 * share


def _rarer_classes(number: Number, answers: Answers) -> tuple[float, Limits]:
    """Return the share of all but the most frequent class, and its limits, of a number whose groups are classes."""
    groups = number.groups
    is_rarer = np.ones(len(groups.weight))
    is_rarer[groups.weight.argmax()] = 0.0
    evaluate = _mean_function(Line(is_rarer, 0 * is_rarer))
    point = evaluate(groups)
    share = Number(point.value, groups, evaluate, point, 0.0, 1.0, rows=number.rows)
    return point.value, _limits_at_level(_ignore_costs(share), answers)


def _limits_at_level(number: Number, answers: Answers) -> Limits:
    """Return the limits of a number at the level of the options."""
    inference = infer([number], answers.design)
    if inference is None:
        return NO_LIMITS
    return inference.limits(answers.options.confidence_level or 0.0)


def make_numbers(answers: Answers, values: Values) -> dict[Key, Number]:
    """Return the numbers, of those in `values`, whose error is known, for the engine."""
    numbers = {}
    for key, value in values.items():
        number = make_number(key, answers, float(value))
        if number is not None:
            numbers[key] = number
    return numbers


def limit_selected_mean(answers: Answers, selected: Bools) -> Limits:
    """Return the limits of the mean cost of the answers in selected groups, booleans (G,)."""
    if not (selected.any() and answers.tells_errors):
        return NO_LIMITS
    groups = answers.groups
    is_in = selected.astype(np.float64)
    evaluate = _ratio_function(Line(0 * is_in, is_in), Line(is_in, 0 * is_in))
    point = evaluate(groups)
    number = Number(
        point.value,
        groups,
        evaluate,
        point,
        0.0,
        answers.largest,
        dearest=answers.dearest(selected),
        rows=answers.rows,
    )
    return _limits_at_level(number, answers)


# ---- notes -----------------------------------------------------------------------------------------------------------


def _notes(
    answers: Answers,
    values: Values,
    limits: Mapping[Key, Limits],
) -> tuple[Note, ...]:
    """Return the notes on numbers without interval, and on what intervals assume or leave out."""
    bounded = [key for key, (low, _) in limits.items() if math.isfinite(low)]
    without_limits = {key: values[key] for key in limits if key not in bounded}
    notes = notes_without_interval(without_limits, answers.recalibration)
    if not answers.is_binary:
        assuming = [key for key in bounded if _assumes_costs(key)]
        notes += note_keys("assumed", assuming, largest=answers.largest)
    fitted = [key for key in bounded if key.variant == "recalibrated"]
    return notes + note_keys("recalibration_taken_as_given", fitted)


def _assumes_costs(key: Key) -> bool:
    """Return whether the interval of a number depends on what one more answer is taken to cost."""
    return not (key.is_plain_share or key.entry.is_posterior_loss)


def notes_without_interval(values: Values, recalibration: str | None) -> tuple[Note, ...]:
    """Return notes that say why defined numbers have no interval."""
    defined = [key for key, value in values.items() if math.isfinite(float(value))]
    by_reason = grouped(
        defined, lambda key: why_no_inference(key, recalibration) or "no_interval_known"
    )
    return tuple(note for reason, keys in by_reason.items() for note in note_keys(reason, keys))


def note_keys(
    identifier: str,
    keys: Sequence[Key],
    **fields: object,
) -> tuple[Note, ...]:
    """Return a note with the keys in its fields; nothing without keys."""
    if not keys:
        return ()
    return (Note(identifier, fields | {"metrics": list(keys)}),)


def notes_unseen(
    answers: Answers,
    hidden: Mapping[Key, Unseen | None],
) -> tuple[Note, ...]:
    """Return one note for each stretch of answers without some kind, on the intervals that rest on this kind."""
    sizes: dict[tuple[str, str, str], dict[Key, float]] = {}
    for key, kind in hidden.items():
        if kind is not None and kind.groups is answers.groups:
            sizes.setdefault(_describe_stretch(answers, kind), {})[key] = kind.size
    notes = []
    for (kind_of_answer, among, where), of_keys in sizes.items():
        stretch = {"kind": kind_of_answer, "among": among, "where": where}
        numbers = {"largest": max(of_keys.values()), "metrics": list(of_keys)}
        notes.append(Note("unseen", stretch | numbers))
    return tuple(notes)


def _describe_stretch(answers: Answers, hidden: Unseen) -> tuple[str, str, str]:
    """Return, in words, the kind of answers that was not seen, among how many answers, and where these lie."""
    ends = answers.template.uncertainty_from_rank(np.array(hidden.ends))
    name = "uncertainty"
    kind = f"answer that costs {hidden.cost:.3g}"
    if answers.is_binary:
        name = "confidence"
        ends = 1 - ends[::-1]
        kind = "mistake"
    first, last = (f"{end:.3g}" for end in ends.tolist())
    where = f"{name} {first}" if first == last else f"{name} {first} to {last}"
    if hidden.stratum is not None:
        where += f" in stratum {hidden.stratum + 1} of {answers.design.num_strata}"
    count = round(hidden.count)
    among = f"{count} answer" if count == 1 else f"{count} answers"
    return kind if hidden.cost else "right answer", among, where


def note_few_units(answers: Answers) -> tuple[Note, ...]:
    """Return a note if groups, or weights, leave so few units that their own variance says little."""
    groups = answers.groups
    count = groups.total / groups.unit if answers.rows is None else len(answers.design.weight)
    if answers.design.group is None:
        units = float(groups.weight2.sum()) ** 2 / float(groups.weight4.sum())
    else:
        units = answers.design.num_units
    # as many as there are if all weights are equal
    if units >= min(FEW_UNITS, (1 - _ROUNDING) * count):
        return ()
    return (Note("few_groups", {"count": units, "needed": FEW_UNITS}),)

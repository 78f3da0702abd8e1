"""One engine of inference, for one number and for a difference: one more answer, the one that hurts most.

How surely is a number known that n answers gave? As if one more answer could have been seen, the one that moves it
most: for a share these are the limits of Clopper and Pearson, for the mean of bounded costs those of Gaffke (2005;
Learned-Miller and Thomas 2020), for frequencies Walley's imprecise Dirichlet model (1996) with s = 1. The weights of
all answers then have a Dirichlet distribution (Rubin 1981), under which a number that is linear in them has known
moments; the limit is the quantile of the gamma distribution with three of these. Method: docs/statistics.md.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .designs import INDEPENDENT, Design, Effect, Extremes, effective_size
from .inputs import Floats, Ints, Limits
from .metric import Line
from .ranking import TieGroups

ADDED = 1.0  # answers that could have been seen besides: one, as in the limits of Clopper and Pearson
DRAWS = 10_000  # of the largest of many deviates: a standard error of 0.002 at a level of 0.05
HALF = 0.5  # an interval of which more would go without the added answer rests on what was not seen
_ROUNDING = 1e-9  # relative; what is no larger is 0
_LEAST = float(np.finfo(np.float64).tiny)  # of p-values, where a gamma distribution ends
_NORMAL = 1e-3  # a skewness below which the first term of Cornish and Fisher is exact to 1e-7


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """What groups of answers consist of (G,): sums of w^2 and w^3 of those that cost nothing, and of those that do."""

    event: Floats  # what an answer costs that costs anything: mean square over mean
    free: Floats
    costly: Floats
    free3: Floats
    costly3: Floats


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """Sums over groups of answers (G,), by increasing uncertainty, of weights w and costs c."""

    uncertainty: Floats
    weight: Floats  # of w
    cost: Floats  # of w c
    weight2: Floats  # of w^2
    weight2_cost: Floats  # of w^2 c
    weight2_cost2: Floats  # of w^2 c^2

    @property
    def ties(self) -> TieGroups:
        """The same groups, for the metrics of the order."""
        return TieGroups(self.weight, self.cost, self.uncertainty)

    @functools.cached_property
    def total(self) -> float:
        """The weight of all answers."""
        return float(self.weight.sum())

    @functools.cached_property
    def unit(self) -> float:
        """The weight of one answer of as many equal ones as these are worth (Kish): sum of w^2 / sum of w."""
        return float(self.weight2.sum()) / self.total

    @functools.cached_property
    def atoms(self) -> Atoms:
        """The answers as two atoms in each group."""
        has_cost = self.weight2_cost > 0
        none = np.zeros(len(self.cost))
        event = np.divide(self.weight2_cost2, self.weight2_cost, out=none, where=has_cost)
        costly = np.divide(self.weight2_cost, event, out=np.zeros(len(self.cost)), where=has_cost)
        free = np.maximum(self.weight2 - costly, 0.0)
        each = self.weight2 / self.weight
        return Atoms(event, free, costly, each * free, each * costly)

    def mean(self, line: Line) -> float:
        """Return the mean of a line over all answers."""
        return float(np.vecdot(self.weight, line.intercept) + np.vecdot(self.cost, line.slope)) / self.total

    def enlarged(self, mass: Floats, cost: Floats) -> Groups:
        """Return the groups with a weight (G,) of answers of these costs (G,) added."""
        return dataclasses.replace(self, weight=self.weight + mass, cost=self.cost + mass * cost)

    def merged(self, starts: Ints) -> Groups:
        """Return neighbours added up, from each start (K,) to the next, at their mean uncertainty."""
        sums = [self.weight, self.cost, self.weight2, self.weight2_cost, self.weight2_cost2]
        weight, *others = (np.add.reduceat(values, starts) for values in sums)
        uncertainty = np.add.reduceat(self.uncertainty * self.weight, starts) / weight
        return Groups(uncertainty, weight, *others)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """A number as the engine sees it: functions of groups of answers, and what it and a cost can be."""

    value: Callable[[Groups], float]
    line: Callable[[Groups], Line]
    least: float = -math.inf
    most: float = math.inf
    dearest: Callable[[float], float] = lambda seen: seen  # the most that one more answer costs, where `seen` was
    bias: float = 0.0  # of order 1 / N


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The answers (N,) one by one: their group and their cost."""

    group: Ints
    cost: Floats

    def expanded(self, line: Line) -> Floats:
        """Return the influence (N,) of each answer on a number."""
        return np.asarray(line.intercept[self.group] + line.slope[self.group] * self.cost)

    def taken(self, order: Ints) -> Rows:
        """Return these rows, in this order."""
        return Rows(self.group[order], self.cost[order])


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number with the answers that it was computed from; without rows where only their sums are known."""

    value: float
    statistic: Statistic
    groups: Groups
    rows: Callable[[], Rows] | None = None

    def reordered(self, order: Ints) -> Number:
        """Return the number with its rows in another order."""
        rows = self.rows
        assert rows is not None
        return dataclasses.replace(self, rows=functools.cache(lambda: rows().taken(order)))


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """The distribution of which one limit is a quantile: Pearson's type III, with Student's tails for few units."""

    centre: float
    deviation: float
    skewness: float
    freedom: float = math.inf

    def limit(self, tail: float) -> float:
        """Return the quantile at a level in (0, 1)."""
        return self.centre + self.deviation * pearson_quantile(self.skewness, _normal_tail(tail, self.freedom))

    def mirrored(self) -> Side:
        """Return the distribution of minus the number."""
        return Side(-self.centre, self.deviation, -self.skewness, self.freedom)

    def tail(self, limit: float) -> float:
        """Return the level whose quantile is `limit`."""
        if not self.deviation:
            return float(np.heaviside(limit - self.centre, 0.5))
        return _student_tail(pearson_tail(self.skewness, (limit - self.centre) / self.deviation), self.freedom)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """A number with one more answer, in the direction that moves it most."""

    value: float  # less its bias
    line: Line  # of the enlarged groups, of mean 0
    mass: Floats  # (G,), the weight of what is added
    cost: Floats  # (G,), what that costs
    extreme: Floats  # (G,), the influence of that


@dataclasses.dataclass(frozen=True, slots=True)
class Inference:
    """What answers tell of a number: its limits at every level, and the p-value of every hypothesis."""

    value: float
    lower: Side
    upper: Side
    least: float = -math.inf
    most: float = math.inf
    seen: tuple[Side, Side] | None = None  # without the added answer
    reaches: tuple[Reach, Reach] | None = None

    def limits(self, level: float) -> Limits:
        """Return the interval at a level in (0, 1); it contains the value, and lies in its range."""
        tail = (1 - level) / 2
        low = max(self.lower.limit(tail), self.least)
        high = min(-self.upper.mirrored().limit(tail), self.most)  # as `tail` does, to agree with it to the last digit
        value = min(max(self.value, self.least), self.most)  # which rounding may pass
        return min(low, value), max(high, value)

    def tail(self, hypothesis: float = 0.0) -> float:
        """Return the p-value of the hypothesis that the number lies on its other side; 1/2 if it is the value."""
        if self.value == hypothesis:
            return 0.5
        # The mirror image, since the difference of a tail from 1 would lose what is small.
        tail = self.lower.tail(hypothesis) if self.value > hypothesis else self.upper.mirrored().tail(-hypothesis)
        return min(max(tail, _LEAST), 0.5)

    def p_value(self, hypothesis: float = 0.0) -> float:
        """Return 1 minus the level at which the interval just touches the hypothesis."""
        return 2 * self.tail(hypothesis)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """What an interval mostly rests on: answers of a kind that was not seen in some neighbouring groups."""

    first: int  # of the groups
    last: int
    cost: float  # of such an answer
    size: float  # what one adds to the number, times all answers


def infer(number: Number, design: Design) -> Inference | None:
    """Return what the answers tell of a number, or None if nothing is known of its error."""
    groups = number.groups
    line = number.statistic.line(groups)
    start = number.statistic.value(groups)
    ends = (number.statistic.least, number.statistic.most)
    if not line.slope.any() and not all(map(math.isfinite, ends)):  # one more answer could be anything
        return None
    below, lower, bare_lower = _towards(number, line, start, -1, design)
    above, upper, bare_upper = _towards(number, line, start, 1, design)
    inference = _inference(number.value, lower, upper, number.statistic.least, number.statistic.most)
    if inference is None:
        return None
    return dataclasses.replace(inference, seen=(bare_lower, bare_upper), reaches=(below, above))


def _towards(number: Number, line: Line, start: float, sign: int, design: Design) -> tuple[Reach, Side, Side]:
    """Return one more answer, and the distribution of a limit with it and without it."""
    groups = number.groups
    effect = _effect(number, line, sign, design)
    reach = reach_of(number, line, start, sign, effect.added)
    none = np.zeros(1)
    centred = Line(line.intercept - groups.mean(line), line.slope)
    bare = Reach(number.value - number.statistic.bias, centred, none, none, none)
    return reach, _side_of_groups(reach, groups, effect), _side_of_groups(bare, groups, effect)


def _effect(number: Number, line: Line, sign: int, design: Design) -> Effect:
    if design.is_simple or number.rows is None:
        return INDEPENDENT
    return design.effect(_extremes(number, line, sign))


def difference(first: Number, second: Number, design: Design) -> Inference | None:
    """Return what the same answers (N,) of two systems tell of the difference of a number, the first minus the second.

    One more answer is added to both: one that moves the first up and the second down, and its mirror image.
    """
    lines = [number.statistic.line(number.groups) for number in (first, second)]
    starts = [number.statistic.value(number.groups) for number in (first, second)]

    def side(sign: int) -> Side:
        one = _extremes(first, lines[0], sign)
        effect = design.effect(one.minus(_extremes(second, lines[1], -sign)))
        up = reach_of(first, lines[0], starts[0], sign, effect.added)
        down = reach_of(second, lines[1], starts[1], -sign, effect.added)
        return _side_of_rows((first, second), (up, down), design.weight, effect)

    least = first.statistic.least - second.statistic.most
    most = first.statistic.most - second.statistic.least
    return _inference(first.value - second.value, side(-1), side(1), least, most)


def _inference(value: float, lower: Side, upper: Side, least: float, most: float) -> Inference | None:
    is_known = math.isfinite(lower.centre + lower.deviation + upper.centre + upper.deviation)
    return Inference(value, lower, upper, least, most) if is_known else None


def average(parts: Sequence[Inference]) -> Inference:
    """Return what is known of the mean of numbers of independent parts."""
    count = len(parts)
    lower = _average_side([(part.lower, part.seen[0] if part.seen else part.lower) for part in parts])
    upper = _average_side([(part.upper, part.seen[1] if part.seen else part.upper) for part in parts])
    mean = math.fsum(part.value for part in parts) / count
    least = math.fsum(part.least for part in parts) / count
    most = math.fsum(part.most for part in parts) / count
    return Inference(mean, lower, upper, least, most)


def _average_side(parts: Sequence[tuple[Side, Side]]) -> Side:
    """Return the distribution of a mean of independent parts, each with and without the added answer."""
    deviation = math.hypot(*(side.deviation for side, _ in parts))
    # Shifts of independent parts are recovered variances (Zou and Donner 2008): each counts as it adds to the root.
    shifts = math.fsum((side.centre - bare.centre) * side.deviation for side, bare in parts) / (deviation or 1.0)
    centre = (math.fsum(bare.centre for _, bare in parts) + shifts) / len(parts)
    third = math.fsum(side.skewness * side.deviation**3 for side, _ in parts)
    squares = math.fsum(side.deviation**4 / side.freedom for side, _ in parts)
    skewness = third / deviation**3 if deviation else 0.0
    return Side(centre, deviation / len(parts), skewness, deviation**4 / squares if squares else math.inf)


def unseen(number: Number, inference: Inference, level: float) -> Unseen | None:
    """Return what was not seen, if the interval would lose more than half of a side without the added answer."""
    tail = (1 - level) / 2
    assert inference.seen is not None
    assert inference.reaches is not None
    for side, bare, reach, at in zip(
        (inference.lower, inference.upper), inference.seen, inference.reaches, (tail, 1 - tail), strict=True
    ):
        distance = abs(side.limit(at) - number.value)
        if abs(bare.limit(at) - number.value) < HALF * distance:
            return _unseen_groups(number.groups, reach)
    return None


def _unseen_groups(groups: Groups, reach: Reach) -> Unseen:
    """Return the neighbours without an answer like the one that is added, among which that adds most."""
    is_costly = reach.cost > 0
    seen = np.where(is_costly, groups.cost, groups.weight - groups.cost)
    is_new = seen <= _ROUNDING * groups.weight
    share = reach.mass * np.square(reach.extreme) * np.where(is_new.any(), is_new, True)
    worst = int(share.argmax())
    is_like = is_new & (is_costly == is_costly[worst])
    is_like[worst] = True
    ends = np.flatnonzero(~is_like)
    first = int(ends[ends < worst].max(initial=-1)) + 1
    last = int(ends[ends > worst].min(initial=len(is_like))) - 1
    sizes = np.abs(reach.line.slope[first : last + 1])
    return Unseen(first, last, float(reach.cost[worst]), float(sizes.max()) * float(reach.cost.max()))


def reach_of(number: Number, line: Line, start: float, sign: int, added: float) -> Reach:
    """Return where one more answer takes a number: up for `sign` 1, down for -1; `added` is how many it counts as.

    `line` and `start` are the number's influence and value, as functions of the groups.
    It is spread over the confidences as the answers are, where the number depends on the answer. If that is nowhere,
    as for a share of accepted answers, its influence is the end of the range.
    """
    groups = number.groups
    statistic = number.statistic
    unit = ADDED * groups.unit * added
    matters = line.slope != 0
    if not matters.any():
        end = (statistic.most if sign > 0 else statistic.least) - number.value
        shift = end * unit / (groups.total + unit)
        flat = Line(line.intercept - (groups.mean(line) + shift), line.slope)
        mass = groups.weight * (unit / groups.total)
        return Reach(number.value + shift, flat, mass, line.slope, np.full(len(mass), end - shift))
    cost = _dearest(number, line, sign)
    mass = np.where(matters, groups.weight, 0.0)
    mass *= unit / float(mass.sum())
    enlarged = groups.enlarged(mass, cost)
    value = number.value + statistic.value(enlarged) - start - statistic.bias
    line = statistic.line(enlarged)
    line = Line(line.intercept - enlarged.mean(line), line.slope)
    return Reach(value, line, mass, cost, line.intercept + line.slope * cost)


def _dearest(number: Number, line: Line, sign: int) -> Floats:
    """Return what one more answer costs (G,) that moves a number most: nothing, or the most that it can."""
    seen = float(number.groups.atoms.event.max(initial=0.0, where=line.slope != 0))
    return np.where(sign * line.slope > 0, number.statistic.dearest(seen), 0.0)


def _extremes(number: Number, line: Line, sign: int) -> Extremes:
    """Return the influence of each answer, and the most that it could have had."""
    assert number.rows is not None
    rows = number.rows()
    influence = rows.expanded(line)
    matters = line.slope != 0
    if matters.any():
        cost = _dearest(number, line, sign)
        extreme = (line.intercept + line.slope * cost)[rows.group]
        return Extremes(influence, extreme, matters[rows.group])
    end = number.statistic.most if sign > 0 else number.statistic.least
    extreme = np.full(len(influence), end - number.value + number.groups.mean(line))
    return Extremes(influence, extreme, np.ones(len(influence), np.bool_))


def _side_of_groups(reach: Reach, groups: Groups, effect: Effect) -> Side:
    """Return the distribution of a number from groups, in each of which answers cost nothing or `event`."""
    atoms = groups.atoms
    low = reach.line.intercept
    high = low + reach.line.slope * atoms.event
    low2 = np.square(low)
    high2 = np.square(high)
    squares = np.vecdot(atoms.free, low2) + np.vecdot(atoms.costly, high2)
    cubes = np.vecdot(atoms.free3, low2 * low) + np.vecdot(atoms.costly3, high2 * high)
    return _pearson(reach.value, (squares, cubes), groups, reach.mass, reach.extreme, effect)


def _side_of_rows(numbers: tuple[Number, Number], reaches: tuple[Reach, Reach], weight: Floats, effect: Effect) -> Side:
    """Return the distribution of a difference from the influences (N,) of the answers of two systems."""
    influence = np.zeros(len(weight))
    moved = np.zeros(len(weight))
    mass = np.zeros(len(weight))
    for number, reach, sign in zip(numbers, reaches, (1, -1), strict=True):
        assert number.rows is not None
        rows = number.rows()
        influence += sign * rows.expanded(reach.line)
        added = (reach.mass / number.groups.weight)[rows.group] * weight
        moved += sign * added * reach.extreme[rows.group]
        mass = np.maximum(mass, added)
    extreme = np.divide(moved, mass, out=np.zeros(len(weight)), where=mass > 0)
    moved = weight * influence
    moved2 = np.square(moved)
    moments = float(moved2.sum()), float(np.vecdot(moved2, moved))
    centre = reaches[0].value - reaches[1].value
    return _pearson(centre, moments, numbers[0].groups, mass, extreme, effect)


def _pearson(
    centre: float, moments: tuple[float, float], groups: Groups, mass: Floats, extreme: Floats, effect: Effect
) -> Side:
    """Return the side of sums of (w d)^2 and (w d)^3 over answers: the moments of a Dirichlet mean, times a design's.

    What is added (of weight `mass` and influence `extreme`) is spread over many answers, each as a part of one.
    """
    unit = groups.unit
    extreme2 = np.square(extreme)
    squares = moments[0] + unit * np.vecdot(mass, extreme2)
    cubes = moments[1] + unit**2 * np.vecdot(mass, extreme2 * extreme)
    total = groups.total + float(mass.sum())
    count = total / (unit * effect.variance)
    variance = float(squares) / total**2 * count / (count + 1) * effect.variance
    third = 2 * float(cubes) / total**3 * count**2 / ((count + 1) * (count + 2)) * effect.variance**2
    deviation = math.sqrt(max(variance, 0.0))
    return Side(centre, deviation, third / deviation**3 if deviation**3 else 0.0, effect.freedom)


def standard_error(number: Number, design: Design) -> float:
    """Return the standard error of a number: the infinitesimal jackknife, times k / (k - 1) for k answers."""
    groups = number.groups
    line = number.statistic.line(groups)
    centred = line.intercept - groups.mean(line)
    squares = np.vecdot(groups.weight2, centred**2) + np.vecdot(groups.weight2_cost2, line.slope**2)
    squares += 2 * np.vecdot(groups.weight2_cost, centred * line.slope)
    count = groups.total / groups.unit
    effect = 1.0 if design.is_simple or number.rows is None else design.effect(_extremes(number, line, 1)).variance
    return math.sqrt(max(float(squares), 0.0) * effect * count / (count - 1)) / groups.total if count > 1 else math.nan


def pearson_quantile(skewness: float, tail: float) -> float:
    """Return the quantile of the gamma distribution of mean 0, variance 1 and this skewness."""
    from scipy.special import gammainccinv, gammaincinv, ndtri

    if abs(skewness) < _NORMAL:
        z = float(ndtri(tail))
        return z + skewness / 6 * (z * z - 1)
    shape = 4 / skewness**2
    inverse = gammaincinv if skewness > 0 else gammainccinv
    return float(inverse(shape, tail) - shape) * skewness / 2


def pearson_tail(skewness: float, deviate: float) -> float:
    """Return the level of a quantile of `pearson_quantile`."""
    from scipy.special import gammainc, gammaincc, ndtr

    if abs(skewness) < _NORMAL:
        return float(ndtr(deviate - skewness / 6 * (deviate * deviate - 1)))
    shape = 4 / skewness**2
    cumulative = gammainc if skewness > 0 else gammaincc
    return float(cumulative(shape, max(shape + deviate * 2 / skewness, 0.0)))


@functools.cache
def _normal_tail(tail: float, freedom: float) -> float:
    """Return the normal level whose quantile is Student's at `tail`."""
    from scipy.special import ndtr, stdtrit

    return tail if math.isinf(freedom) else float(ndtr(stdtrit(freedom, tail)))


def _student_tail(tail: float, freedom: float) -> float:
    from scipy.special import ndtri, stdtr

    return tail if math.isinf(freedom) else float(stdtr(freedom, ndtri(tail)))


# ---- several numbers together ----------------------------------------------------------------------------------------


def influence_of(number: Number) -> Floats:
    """Return the influence (N,) of each answer on a number."""
    assert number.rows is not None
    return number.rows().expanded(number.statistic.line(number.groups))


def deviates(influences: Floats, design: Design, seed: int = 0) -> Floats:
    """Return random errors (DRAWS, M) of numbers with the covariances that influences (N, M) imply."""
    moved = design.moved(influences)
    values, vectors = np.linalg.eigh(moved.T @ moved)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(seed).standard_normal((DRAWS, len(values)))
    return np.asarray(draws @ root.T)


def standardized(errors: Floats, generator: np.random.Generator) -> Floats:
    """Return errors (DRAWS,) in units of their root mean square; what varies not is drawn by itself."""
    deviation = math.sqrt(float(np.vecdot(errors, errors)) / len(errors))
    return errors / deviation if deviation > 0 else generator.standard_normal(len(errors))


def adjusted_p_values(p_values: Floats, errors: Sequence[Callable[[], Floats]]) -> Floats:
    """Return p-values for all M tests together: step-down, by the largest of correlated normal deviates.

    Each p-value (M,) is turned into its normal deviate; that of the largest is the share of draws whose largest is as
    large, the next one is compared with the largest of the others, and so on (Westfall and Young 1993, Algorithm 4.1;
    Hothorn, Bretz and Westfall 2008). No more than Holm's; nan where there is no test.
    """
    from scipy.special import ndtri

    sizes = -ndtri(p_values / 2)
    order = np.argsort(sizes)[: np.count_nonzero(~np.isnan(sizes))]
    adjusted = np.array(p_values, np.float64)
    largest = np.zeros(DRAWS)
    for count, index in enumerate(order, 1):  # from the smallest up: `largest` is that of all that are no larger
        np.maximum(largest, np.abs(errors[index]()), out=largest)
        share = (1 + np.count_nonzero(largest >= sizes[index])) / (1 + DRAWS)
        adjusted[index] = max(min(share, count * p_values[index]), p_values[index])
    ranked = order[::-1]
    adjusted[ranked] = np.maximum.accumulate(adjusted[ranked])
    return adjusted


def simultaneous_level(level: float, errors: Iterable[Floats]) -> float:
    """Return the level of one interval at which all hold together, by the largest of correlated normal deviates."""
    from scipy.special import ndtr

    largest = np.zeros(DRAWS)
    for drawn in errors:
        np.maximum(largest, np.abs(drawn), out=largest)
    return max(1 - 2 * float(ndtr(-np.quantile(largest, level))), level)


def p_value_of_best(tails: Floats, errors: Floats) -> float:
    """Return the p-value of "no other system is better" from those (M,) of "this one is not better", and draws (M, B).

    The systems above alpha hold the best one with a probability of 1 - alpha (Gupta 1965; Mogstad et al. 2024).
    """
    from scipy.special import ndtri

    largest = errors.max(axis=0)
    return float(1 + np.count_nonzero(largest >= float(ndtri(1 - tails).max()))) / (1 + DRAWS)


def deviation_of_one(first: Number, second: Number, design: Design) -> float:
    """Return the standard deviation of one sample's difference: the standard error of all, times the root of N."""
    lines = [number.statistic.line(number.groups) for number in (first, second)]
    extremes = _extremes(first, lines[0], 1).minus(_extremes(second, lines[1], -1))
    weight = design.weight
    moved = weight * (extremes.influence - np.average(extremes.influence, weights=weight))
    count = effective_size(weight)
    variance = float(np.vecdot(moved, moved)) * design.effect(extremes).variance * count / (count - 1)
    return math.sqrt(variance * len(weight)) / float(weight.sum())

"""One engine of inference, for one number and for a difference: one more answer, the one that hurts most.

How surely is a number known that n answers gave? As if one more answer could have been seen, the one that moves it
most (Clopper and Pearson 1934, Gaffke 2005, Walley 1996). The weights of all answers then have a Dirichlet distribution
(Rubin 1981), under which a number that is linear in them has known moments; the limit is the quantile of the gamma
distribution with three of these, shifted as its skewness asks (Johnson 1978). Method: docs/statistics.md.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from .designs import INDEPENDENT, Design, Effect, Extremes, third_factor, variance_factor
from .inputs import Bools, Floats, Ints, Limits
from .metric import Line, Point
from .ranking import TieGroups

# answers that could have been seen besides: one, as in the limits of Clopper and Pearson
ADDED = 1.0
HALF = 0.5  # an interval of which a larger part would go without the added answer rests on what was not seen
_ROUNDING = 1e-9  # relative; what is no larger is 0
_LEAST = float(np.finfo(np.float64).tiny)  # of p-values, where a gamma distribution ends
_NORMAL = 1e-3  # a skewness below which the first term of Cornish and Fisher is exact to 1e-7


# ---- answers ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """What groups of answers consist of (G,): those that cost nothing, and those that cost `event` each."""

    event: Floats  # mean square over mean of the costs
    free: Floats  # sum of w^2 of those that cost nothing
    costly: Floats  # sum of w^2 of those that do not


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """Sums over groups of answers (G,), by increasing uncertainty, of weights w and costs c."""

    uncertainty: Floats
    weight: Floats  # of w
    cost: Floats  # of w c
    weight2: Floats  # of w^2
    weight2_cost: Floats  # of w^2 c
    weight2_cost2: Floats  # of w^2 c^2
    weight4: Floats  # of w^4

    @property
    def ties(self) -> TieGroups:
        """The same groups, for the metrics of the order."""
        return TieGroups(self.weight, self.cost, self.uncertainty)

    @functools.cached_property
    def total(self) -> float:
        """The weight W of all answers."""
        return float(self.weight.sum())

    @functools.cached_property
    def unit(self) -> float:
        """The weight of one answer of as many equal ones as these are worth (Kish): sum of w^2 / W."""
        return float(self.weight2.sum()) / self.total

    @property
    def units(self) -> float:
        """The number of equal answers that would tell as much of a variance: (sum of w^2)^2 / sum of w^4."""
        return float(self.weight2.sum()) ** 2 / float(self.weight4.sum())

    @functools.cached_property
    def atoms(self) -> Atoms:
        """The answers as two atoms in each group."""
        has_cost = self.weight2_cost > 0
        event = np.zeros(len(self.cost))
        np.divide(self.weight2_cost2, self.weight2_cost, out=event, where=has_cost)
        costly = np.zeros(len(self.cost))
        np.divide(self.weight2_cost, event, out=costly, where=has_cost)
        return Atoms(event, np.maximum(self.weight2 - costly, 0.0), costly)

    def mean(self, line: Line) -> float:
        """Return the mean of a line over all answers."""
        total = np.vecdot(self.weight, line.intercept) + np.vecdot(self.cost, line.slope)
        return float(total) / self.total

    def centred(self, line: Line) -> Line:
        """Return a line less its mean over all answers."""
        return Line(line.intercept - self.mean(line), line.slope)

    def moments(self, line: Line) -> tuple[float, float]:
        """Return the sums of (w d)^2 and of (w d)^3 over all answers, d the line at an answer's cost."""
        atoms = self.atoms
        deviation = line.at(atoms.event)
        free = atoms.free * np.square(line.intercept)
        costly = atoms.costly * np.square(deviation)
        weight = self.weight2 / self.weight
        cubes = np.vecdot(weight * free, line.intercept) + np.vecdot(weight * costly, deviation)
        return float(free.sum() + costly.sum()), float(cubes)

    def enlarged(self, mass: Floats, cost: Floats) -> Groups:
        """Return the groups with a weight (G,) of answers of these costs (G,) added."""
        return Groups(
            self.uncertainty,
            self.weight + mass,
            self.cost + mass * cost,
            self.weight2,
            self.weight2_cost,
            self.weight2_cost2,
            self.weight4,
        )

    def merged(self, starts: Ints) -> Groups:
        """Return neighbours added up, from each start (K,) to the next, at their mean uncertainty."""
        sums = (
            self.weight,
            self.cost,
            self.weight2,
            self.weight2_cost,
            self.weight2_cost2,
            self.weight4,
        )
        weight, *others = (np.add.reduceat(values, starts) for values in sums)
        uncertainty = np.add.reduceat(self.uncertainty * self.weight, starts) / weight
        return Groups(uncertainty, weight, *others)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The answers (N,) one by one: their group and their cost."""

    group: Ints
    cost: Floats

    def influence(self, line: Line) -> Floats:
        """Return the influence (N,) of each answer on a number."""
        return np.asarray(line.intercept[self.group] + line.slope[self.group] * self.cost)

    def ordered(self, order: Ints) -> Rows:
        """Return these rows, in this order."""
        return Rows(self.group[order], self.cost[order])


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number with the answers that it was computed from; without rows where only their sums are known."""

    value: float
    groups: Groups
    at: Callable[[Groups], Point]  # its value and its line for any groups
    seen: Point  # these for `groups`; merged groups give nearly `value`
    least: float = -math.inf
    most: float = math.inf
    cheapest: Floats | float = 0.0  # (G,) or for all, the least that one more answer costs
    dearest: Floats | float = 1.0  # and the most
    bias: float = 0.0  # of order 1 / N
    rows: Callable[[], Rows] | None = None

    @property
    def matters(self) -> Bools:
        """Whether the number depends on the answers of each group (G,)."""
        return np.not_equal(self.seen.line.slope, 0)

    @property
    def worst(self) -> Floats:
        """What one more answer costs (G,) that makes the number smallest."""
        return np.where(self.seen.line.slope < 0, self.dearest, self.cheapest)

    def negated(self) -> Number:
        """Return minus the number, of which lower limits are minus the upper ones of the number."""
        return dataclasses.replace(
            self,
            value=-self.value,
            at=lambda groups: _negated(self.at(groups)),
            seen=_negated(self.seen),
            least=-self.most,
            most=-self.least,
            bias=-self.bias,
        )

    def by_row(self) -> Rows:
        """Return the answers one by one."""
        assert self.rows is not None
        return self.rows()

    def reordered(self, order: Ints) -> Number:
        """Return the number with its rows in another order."""
        return dataclasses.replace(
            self,
            rows=functools.cache(lambda: self.by_row().ordered(order)),
        )


def _negated(point: Point) -> Point:
    return Point(-point.value, Line(-point.line.intercept, -point.line.slope))


# ---- one limit -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The distribution whose lower quantile is a limit: Pearson's type III, with Student's tails for few units.

    An upper limit is minus the lower one of minus the number.
    """

    centre: float
    deviation: float
    skewness: float
    freedom: float = math.inf
    seen: Side | None = None  # without the added answer
    reaches: Sequence[Reach] = ()  # where that takes the number, or the two of a difference
    moments: Moments | None = None

    def limit(self, tail: float) -> float:
        """Return the quantile at a level in (0, 1)."""
        return self.centre + self.deviation * pearson_quantile(
            self.skewness, _normal_tail(tail, self.freedom)
        )

    def tail(self, limit: float) -> float:
        """Return the level whose quantile is `limit`."""
        if not self.deviation:
            return float(np.heaviside(limit - self.centre, 0.5))
        return _student_tail(
            pearson_tail(self.skewness, (limit - self.centre) / self.deviation),
            self.freedom,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Moments:
    """Sums over answers, of weights w and deviations d of their influences, and over what is added, of m and e."""

    total: float  # of w
    unit: float  # the weight of one answer
    units: float  # the number of equal answers that would tell as much of a variance
    squares: float  # of (w d)^2
    cubes: float  # of (w d)^3
    mass: float = 0.0  # of m, which is spread over many answers, each as a part of one
    added: float = 0.0  # of m e
    added_squares: float = 0.0  # of unit m e^2
    added_cubes: float = 0.0  # of unit^2 m e^3
    effect: Effect = INDEPENDENT

    def scaled(self, factor: float) -> Moments:
        """Return the moments of so many times as many answers, with the same added."""
        return dataclasses.replace(
            self,
            total=self.total * factor,
            units=self.units * factor,
            squares=self.squares * factor,
            cubes=self.cubes * factor,
            effect=self.effect.scaled(factor),
        )

    @property
    def freedom(self) -> float:
        """The degrees of freedom of Student's tails: those of the design, or of answers less one."""
        freedom = self.effect.freedom
        return max(self.units - 1 if math.isinf(freedom) else freedom, 1.0)

    @property
    def count(self) -> float:
        """The number of equal independent answers, with what is added."""
        return (self.total + self.mass) / (self.unit * self.effect.variance)

    @property
    def deviation(self) -> float:
        """The standard deviation of the number: that of a Dirichlet mean, or of the design."""
        if self.effect.deviation is not None:
            return self.effect.deviation
        squares = (self.squares + self.added_squares) * self.effect.variance
        return math.sqrt(squares * variance_factor(self.count)) / (self.total + self.mass)

    @property
    def skewness(self) -> float:
        """The skewness of the number, by the same."""
        if self.effect.deviation is not None:
            return self.effect.skewness
        deviation = self.deviation
        if not deviation:
            return 0.0
        cubes = (self.cubes + self.added_cubes) * self.effect.variance**2
        third = cubes * third_factor(self.count)
        return third / (deviation * (self.total + self.mass)) ** 3

    def side(
        self,
        centre: float,
        seen: Side | None = None,
        reaches: Sequence[Reach] = (),
    ) -> Side:
        """Return the distribution of a number about a centre."""
        return Side(
            centre,
            self.deviation,
            self.skewness,
            self.freedom,
            seen,
            reaches,
            self,
        )

    @property
    def share(self) -> float:
        """The part of the added answer's shift that makes a skewed mean right to second order (Johnson 1978)."""
        if not self.added:
            return 0.0
        shift = self.skewness * self.deviation * (self.total + self.mass) / 4
        return min(max(shift / self.added, 0.0), 1.0)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """A number, or minus it, with one more answer that makes it as small as it can."""

    value: float  # less its bias
    line: Line  # of the enlarged groups, of mean 0
    mass: Floats  # (G,), the weight of what is added
    cost: Floats  # (G,), what that costs
    extreme: Floats  # (G,), the influence of that


def _reach(number: Number, added: float) -> Reach:
    """Return where one more answer, which counts as `added`, takes a number.

    It is spread over the confidences as the answers are, where the number depends on the answer.
    """
    groups = number.groups
    cost = number.worst
    mass = np.where(number.matters, groups.weight, 0.0)
    mass *= ADDED * groups.unit * added / float(mass.sum())
    enlarged = groups.enlarged(mass, cost)
    point = number.at(enlarged)
    line = enlarged.centred(point.line)
    value = number.value + point.value - number.seen.value - number.bias
    return Reach(value, line, mass, cost, line.at(cost))


def _unmoved(number: Number) -> Reach:
    """Return a number with no answer added."""
    none = np.zeros(len(number.groups.weight))
    line = number.groups.centred(number.seen.line)
    return Reach(number.value - number.bias, line, none, none, none)


def _effect(numbers: Sequence[Number], design: Design) -> Effect:
    """Return what the design does to a sum of numbers."""
    if design.is_simple or any(number.rows is None for number in numbers):
        return INDEPENDENT
    return design.effect(functools.reduce(Extremes.plus, map(_extremes, numbers)))


def _extremes(number: Number) -> Extremes:
    """Return the influence of each answer (N,), and the most that it could have had."""
    rows = number.by_row()
    line = number.seen.line
    return Extremes(
        rows.influence(line),
        line.at(number.worst)[rows.group],
        number.matters[rows.group],
    )


def _moments(
    numbers: Sequence[Number],
    reaches: Sequence[Reach],
    design: Design,
    effect: Effect = INDEPENDENT,
) -> Moments:
    """Return the moments of a sum of numbers."""
    groups = numbers[0].groups
    if len(numbers) == 1:
        mass = reaches[0].mass
        extreme = reaches[0].extreme
        squares, cubes = groups.moments(reaches[0].line)
    else:
        moved, mass, extreme = _sum_of_rows(numbers, reaches, design.weight)
        square = np.square(moved)
        squares = float(square.sum())
        cubes = float(np.vecdot(square, moved))
    first = mass * extreme
    second = first * extreme
    return Moments(
        groups.total,
        groups.unit,
        groups.units,
        squares,
        cubes,
        float(mass.sum()),
        float(first.sum()),
        groups.unit * float(second.sum()),
        groups.unit**2 * float(np.vecdot(second, extreme)),
        effect,
    )


def _sum_of_rows(
    numbers: Sequence[Number],
    reaches: Sequence[Reach],
    weight: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return w d of the answers (N,) for the sum of numbers, the weight added to each, and the influence of that."""
    influence = np.zeros(len(weight))
    moved = np.zeros(len(weight))
    mass = np.zeros(len(weight))
    for number, reach in zip(numbers, reaches, strict=True):
        rows = number.by_row()
        influence += rows.influence(reach.line)
        if reach.mass.any():
            share = reach.mass / number.groups.weight
            added = share[rows.group] * weight
            moved += added * reach.extreme[rows.group]
            np.maximum(mass, added, out=mass)
    extreme = np.divide(moved, mass, out=moved, where=mass > 0)
    return weight * influence, mass, extreme


def _seen(numbers: Sequence[Number], design: Design) -> Moments:
    """Return the moments of a sum of numbers with no answer added."""
    return _moments(numbers, list(map(_unmoved, numbers)), design)


def _side(
    numbers: Sequence[Number],
    design: Design,
    seen: Moments,
) -> Side:
    """Return the distribution of a sum of numbers with one more answer that makes it smallest."""
    effect = _effect(numbers, design)
    reaches = [_reach(number, effect.added) for number in numbers]
    moments = _moments(numbers, reaches, design, effect)
    still = math.fsum(number.value - number.bias for number in numbers)
    shift = math.fsum(reach.value for reach in reaches) - still
    plain = dataclasses.replace(effect, deviation=None)
    without = dataclasses.replace(seen, effect=plain).side(still)
    return moments.side(still + moments.share * shift, without, reaches)


# ---- both limits -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Inference:
    """What answers tell of a number: its limits at every level, and the p-value of every hypothesis."""

    value: float
    lower: Side
    upper: Side  # of minus the number
    least: float = -math.inf
    most: float = math.inf

    def limits(self, level: float) -> Limits:
        """Return the interval at a level in (0, 1); it contains the value, and lies in its range."""
        tail = (1 - level) / 2
        low = max(self.lower.limit(tail), self.least)
        high = min(-self.upper.limit(tail), self.most)
        value = min(max(self.value, self.least), self.most)  # which rounding may pass
        return min(low, value), max(high, value)

    def tail(self, hypothesis: float = 0.0) -> float:
        """Return the p-value of the hypothesis that the number lies on its other side; 1/2 if it is the value."""
        if self.value == hypothesis:
            return 0.5
        tail = (
            self.lower.tail(hypothesis) if self.value > hypothesis else self.upper.tail(-hypothesis)
        )
        return min(max(tail, _LEAST), 0.5)

    def p_value(self, hypothesis: float = 0.0) -> float:
        """Return 1 minus the level at which the interval just touches the hypothesis."""
        return 2 * self.tail(hypothesis)


def infer(numbers: Sequence[Number], design: Design) -> Inference | None:
    """Return what the answers tell of a sum of numbers: of one alone, or of a difference, one and another negated.

    One more answer moves the first up and the second down, or the reverse. None if nothing is known of the error.
    """
    seen = _seen(numbers, design)
    lower = _side(numbers, design, seen)
    mirrored = dataclasses.replace(seen, cubes=-seen.cubes)
    upper = _side([number.negated() for number in numbers], design, mirrored)
    if not math.isfinite(lower.centre + lower.deviation + upper.centre + upper.deviation):
        return None
    return Inference(
        math.fsum(number.value for number in numbers),
        lower,
        upper,
        sum(number.least for number in numbers),
        sum(number.most for number in numbers),
    )


def standard_error(numbers: Sequence[Number], design: Design) -> float:
    """Return the standard error of a sum of numbers: the infinitesimal jackknife, times k / (k - 1)."""
    moments = _seen(numbers, design)
    count = moments.total / moments.unit
    if count <= 1:
        return math.nan
    effect = _effect(numbers, design).variance
    return math.sqrt(moments.squares * effect * count / (count - 1)) / moments.total


# ---- averages, and what was not seen ---------------------------------------------------------------------------------


def average(parts: Sequence[Inference]) -> Inference:
    """Return what is known of the mean of numbers of independent parts."""
    return Inference(
        _mean([part.value for part in parts]),
        _average_side([part.lower for part in parts]),
        _average_side([part.upper for part in parts]),
        _mean([part.least for part in parts]),
        _mean([part.most for part in parts]),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _average_side(sides: Sequence[Side]) -> Side:
    """Return the distribution of a mean of independent parts."""
    deviation = math.hypot(*(side.deviation for side in sides))
    seen = [side.seen.centre if side.seen else side.centre for side in sides]
    # Shifts of independent parts are recovered variances (Zou and Donner 2008): each counts as it adds to the root.
    shifts = [
        (side.centre - centre) * side.deviation for side, centre in zip(sides, seen, strict=True)
    ]
    third = math.fsum(side.skewness * side.deviation**3 for side in sides)
    squares = math.fsum(side.deviation**4 / side.freedom for side in sides)
    return Side(
        _mean(seen) + _mean(shifts) / (deviation or 1.0),
        deviation / len(sides),
        third / deviation**3 if deviation else 0.0,
        deviation**4 / squares if squares else math.inf,
    )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """What an interval mostly rests on: answers of a kind that was not seen in neighbouring groups."""

    number: int  # 0, or 1 for the second of a difference
    first: int  # of the groups
    last: int
    cost: float  # of such an answer
    size: float  # what one adds to the number, times all answers


def unseen(
    numbers: Sequence[Number],
    inference: Inference,
    level: float,
) -> Unseen | None:
    """Return what was not seen, if the interval would lose more than half of a side without the added answer."""
    tail = (1 - level) / 2
    hidden = 0.0
    reaches: Sequence[Reach] = ()
    for side, value in ((inference.lower, inference.value), (inference.upper, -inference.value)):
        assert side.seen is not None
        limit = side.limit(tail)
        seen = side.seen.limit(tail)
        if abs(seen - value) < HALF * abs(limit - value) and abs(seen - limit) > hidden:
            hidden = abs(seen - limit)
            reaches = side.reaches
    if not reaches:
        return None
    moved = [float(np.max(reach.mass * np.square(reach.extreme))) for reach in reaches]
    index = int(np.argmax(moved))
    return _unseen_groups(index, numbers[index].groups, reaches[index])


def _unseen_groups(number: int, groups: Groups, reach: Reach) -> Unseen:
    """Return the neighbours without an answer like the one that is added, among which that adds most."""
    is_costly = reach.cost > 0
    atoms = groups.atoms
    is_new = np.where(
        is_costly,
        atoms.event < reach.cost * (1 - _ROUNDING),
        atoms.free <= _ROUNDING * groups.weight2,
    )
    share = reach.mass * np.square(reach.extreme) * np.where(is_new.any(), is_new, True)
    worst = int(share.argmax())
    is_like = is_new & (is_costly == is_costly[worst])
    is_like[worst] = True
    ends = np.flatnonzero(~is_like)
    first = int(ends[ends < worst].max(initial=-1)) + 1
    last = int(ends[ends > worst].min(initial=len(is_like))) - 1
    sizes = np.abs(reach.line.slope[first : last + 1])
    return Unseen(
        number,
        first,
        last,
        float(reach.cost[worst]),
        float(sizes.max()) * float(reach.cost.max() or atoms.event.max()),
    )


# ---- the distributions -----------------------------------------------------------------------------------------------


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


def _normal_tail(tail: float, freedom: float) -> float:
    """Return the normal level whose quantile is Student's at `tail`."""
    from scipy.special import ndtr, stdtrit

    return tail if math.isinf(freedom) else max(float(ndtr(stdtrit(freedom, tail))), _LEAST)


def _student_tail(tail: float, freedom: float) -> float:
    """Return the level of Student's distribution whose quantile is the normal one at `tail`."""
    from scipy.special import ndtri, stdtr

    return tail if math.isinf(freedom) else float(stdtr(freedom, ndtri(tail)))

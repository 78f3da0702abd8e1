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

from .groups import Groups, Line, ratio, sum_samples, totals
from .inputs import Bools, Floats, Ints, Limits, inner
from .metric import Point
from .sampling import INDEPENDENT, Clusters, Design

# answers that could have been seen besides: one, as in the limits of Clopper and Pearson
ADDED = 1.0
# an interval that would lose more of a side without the added answer rests on what was not seen; and what is taken
# for the dearest possible answer where nothing else bounds it, as a part of that anywhere
HALF = 0.5
_ROUNDING = 1e-9  # relative; what is no larger is 0
# relative, of an influence that may be a quotient of differences; what is no larger is 0
_DIFFERENCE = 1e-7
_LEAST = float(np.finfo(np.float64).tiny)  # of p-values, where a gamma distribution ends
_NORMAL = 1e-3  # a skewness below which the first term of Cornish and Fisher is exact to 1e-7


# ---- answers ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Answers (N,): their groups, costs and weights w; or kinds of answers, with their sums of w, w^2, w^3 and w^4."""

    group: Ints
    cost: Floats
    weight: Floats
    square: Floats
    cube: Floats
    fourth: Floats

    def influence(self, line: Line) -> Floats:
        """Return the influence (N,) of each answer on a number."""
        slope = line.slope[self.group]
        return np.asarray(line.intercept[self.group] + slope * self.cost)


def weighted_rows(group: Ints, cost: Floats, weight: Floats) -> Rows:
    """Return answers one by one."""
    square = np.square(weight)
    return Rows(group, cost, weight, square, weight * square, np.square(square))


def split_kinds(groups: Groups) -> Rows:
    """Return two kinds of answers for each group, first all that cost nothing, then all that cost `event`."""
    index = np.arange(len(groups.cost))
    costly = ratio(groups.cost, groups.event)
    square = np.append(groups.free, groups.costly)
    weight = np.append(groups.weight - costly, costly)
    mean_weight = groups.weight2 / groups.weight
    mean_square = groups.weight4 / groups.weight2
    are_there = (weight != 0) | (square > 0)
    rows = (
        np.append(index, index),
        np.append(0 * groups.event, groups.event),
        weight,
        square,
        square * np.append(mean_weight, mean_weight),
        square * np.append(mean_square, mean_square),
    )
    return Rows(*(values[are_there] for values in rows))


@dataclasses.dataclass(frozen=True, eq=False)
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

    @functools.cached_property
    def line(self) -> Line:
        """Its line for the answers that were seen, of mean 0."""
        return self.groups.centred(self.seen.line)

    @functools.cached_property
    def matters(self) -> Bools:
        """Whether the number depends on the answers of each group (G,)."""
        return np.not_equal(self.seen.line.slope, 0)

    @functools.cached_property
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

    def answers(self, *, one_by_one: bool = True) -> Rows:
        """Return the answers, one by one or as kinds."""
        return self.rows() if one_by_one and self.rows else split_kinds(self.groups)


def _negated(point: Point) -> Point:
    return Point(-point.value, point.line.times(-1))


# ---- three moments ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class Moments:
    """Sums over the answers of each stratum (H,): of weights w and deviations d, and over what is added, of m and e."""

    total: Floats  # of w
    unit: Floats  # the weight of one answer
    units: Floats  # the number of equal answers that would tell as much of a variance
    squares: Floats  # of (w d)^2
    cubes: Floats  # of (w d)^3
    mass: Floats  # of m, which is spread over many answers, each as a part of one
    added: Floats  # of m e
    added_squares: Floats  # of unit m e^2
    added_cubes: Floats  # of unit^2 m e^3
    clusters: Clusters = INDEPENDENT
    is_difference: bool = False

    def scaled(self, factor: float) -> Moments:
        """Return the moments of so many times as many answers, with the same added."""
        return dataclasses.replace(
            self,
            total=self.total * factor,
            units=self.units * factor,
            squares=self.squares * factor,
            cubes=self.cubes * factor,
            clusters=self.clusters.scaled(factor),
        )

    @functools.cached_property
    def count(self) -> Floats:
        """The number of equal independent answers (H,), with what is added."""
        return (self.total + self.mass) / (self.unit * self.clusters.factor)

    @functools.cached_property
    def variance(self) -> Floats:
        """The variance (H,) of the mean of each stratum, times its weight: that of a Dirichlet mean."""
        share = self.total / (self.total + self.mass)
        squares = (self.squares + self.added_squares) * self.clusters.factor
        factor = self.count / (self.count + 1)
        return np.asarray(squares * np.square(share) * factor)

    @functools.cached_property
    def deviation(self) -> float:
        """The standard deviation of the number."""
        variance = float(self.variance.sum())
        return math.sqrt(variance) / float(self.total.sum())

    @functools.cached_property
    def skewness(self) -> float:
        """The skewness of the number, by the same; of a difference only what makes the lower tail longer.

        Of systems that are equal the mistakes of one are as likely those of the other: that one has seen more of them
        makes no tail of their difference shorter.
        """
        variance = float(self.variance.sum())
        if not variance > 0:
            return 0.0
        share = self.total / (self.total + self.mass)
        cubes = self.cubes + self.added_cubes
        cubes *= np.square(self.clusters.factor)
        factor = 2 * self.count**2 / (self.count + 1)
        third = cubes * share**3 * factor / (self.count + 2)
        skewness = float(third.sum()) / variance / math.sqrt(variance)
        return min(skewness, 0.0) if self.is_difference else skewness

    @property
    def recovered(self) -> Floats:
        """The contribution of each stratum (H,) to the shift by the added answers, up to a common factor.

        They are recovered variances (Zou and Donner 2008): each counts as it adds to the root.
        """
        return np.asarray(self.added * np.sqrt(self.variance))

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the variance: of answers, and of what only groups tell (Satterthwaite 1946).

        Those of a difference are of groups: it is significant by chance where these happen to look independent.
        """
        variance = float(self.variance.sum())
        if not variance > 0:
            return math.inf
        share = self.variance / variance  # whatever the unit of the costs
        if self.is_difference:
            units = np.minimum(self.units, self.clusters.units)
            squares = np.square(share) / np.maximum(units - 1, 1.0)
        else:
            excess = share * (1 - 1 / self.clusters.factor)
            of_groups = np.maximum(self.clusters.number - 1, 1.0)
            squares = np.square(share) / np.maximum(self.units - 1, 1.0)
            squares += np.square(excess) / of_groups
        total = float(squares.sum())
        return max(1 / total, 1.0) if total > 0 else math.inf

    @property
    def shift(self) -> float:
        """What the added answers move the number by, times its weight, as a skewed mean needs it (Johnson 1978)."""
        deviation = math.sqrt(float(self.variance.sum()))
        if not deviation > 0:
            return 0.0
        most = float(self.recovered.sum()) / deviation
        total = float((self.total + self.mass).sum())
        needed = self.skewness * self.deviation * total / 4
        if not needed * most > 0:
            return 0.0
        return math.copysign(min(abs(most), abs(needed)), most)

    def side(
        self,
        centre: float,
        shift: float = 0.0,
        reaches: Sequence[Reach] = (),
    ) -> Side:
        """Return the distribution of the number, whose added answers shift the centre."""
        return Side(
            centre + shift,
            self.deviation,
            self.skewness,
            self.freedom,
            shift,
            self,
            reaches,
        )

    @property
    def standard_error(self) -> float:
        """The standard error of the number, with nothing added: the infinitesimal jackknife, times k / (k - 1)."""
        total = float(self.total.sum())
        count = total**2 / inner(self.unit, self.total)
        if count <= 1:
            return math.nan
        squares = float((self.squares * self.clusters.factor).sum())
        return math.sqrt(squares * count / (count - 1)) / total


def moments(
    numbers: Sequence[Number],
    lines: Sequence[Line],
    design: Design,
    seen: Moments | None = None,
) -> Moments:
    """Return the moments of a sum of numbers with these lines: of what was seen, or with one more answer beside it.

    That one, in each stratum, is spread over the answers on which a number depends.
    """
    one_by_one = len(numbers) > 1 or not design.is_simple
    rows = [number.answers(one_by_one=one_by_one) for number in numbers]
    weight = rows[0].weight
    total = design.totals
    whole = total(weight)
    square = total(rows[0].square)
    unit = square / whole
    influences = [one.influence(line) for one, line in zip(rows, lines, strict=True)]
    influence = np.sum(influences, axis=0)
    mass = np.zeros(len(weight))
    moved = np.zeros(len(weight))
    if seen is None:
        clusters = _clusters(numbers, lines, rows, influence, design)
    else:
        clusters = seen.clusters
        for number, line, one in zip(numbers, lines, rows, strict=True):
            relevant = weight * number.matters[one.group]
            share = ratio(ADDED * unit * clusters.factor, total(relevant))
            added = relevant * design.of_samples(share)
            moved += added * line.at(number.worst)[one.group]
            # sums of weighted costs can make a kind less than nothing
            is_more = np.abs(added) > np.abs(mass)
            mass = np.where(is_more, added, mass)
    sums = total(weight * influence) + total(moved)
    mean = sums / (whole + total(mass))
    mean = design.of_samples(mean)
    deviation = influence - mean
    squares = np.square(deviation)
    none = np.zeros(len(mass))
    extreme = np.divide(moved, mass, out=none, where=mass != 0)
    extreme -= mean
    first = mass * extreme
    second = first * extreme
    return Moments(
        total=whole,
        unit=unit,
        units=np.square(square) / total(rows[0].fourth),
        squares=total(rows[0].square * squares),
        cubes=total(rows[0].cube * squares * deviation),
        mass=total(mass),
        added=total(first),
        added_squares=unit * total(second),
        added_cubes=np.square(unit) * total(second * extreme),
        clusters=clusters,
        is_difference=len(numbers) > 1,
    )


def _clusters(
    numbers: Sequence[Number],
    lines: Sequence[Line],
    rows: Sequence[Rows],
    influence: Floats,
    design: Design,
) -> Clusters:
    """Return what groups do to a sum of numbers with this influence of each answer (N,).

    One more answer is taken to be the farther one from the mean, up or down.
    """
    if design.group is None:
        return INDEPENDENT
    low = high = design.centred(influence) - influence
    matters = np.zeros(len(influence), np.bool_)
    for number, line, one in zip(numbers, lines, rows, strict=True):
        cheap = np.nan_to_num(line.at(number.cheapest))[one.group]
        dear = np.nan_to_num(line.at(number.dearest))[one.group]
        low = low + np.minimum(cheap, dear)
        high = high + np.maximum(cheap, dear)
        matters |= number.matters[one.group]
    farthest = np.maximum(np.square(low), np.square(high))
    return design.clusters(influence, matters, farthest)


def moments_seen(numbers: Sequence[Number], design: Design) -> Moments:
    """Return the moments of a sum of numbers with no answer added."""
    return moments(numbers, [number.line for number in numbers], design)


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
    shift: float = 0.0  # of the centre, by the added answer
    moments: Moments | None = None
    reaches: Sequence[Reach] = ()  # where that takes the number, or the two of a difference

    def limit(self, tail: float) -> float:
        """Return the quantile at a level in (0, 1)."""
        return self.centre + self.deviation * pearson_quantile(
            self.skewness, _normal_tail(tail, self.freedom)
        )

    def mirrored(self) -> Side:
        """Return the distribution of minus the number."""
        return dataclasses.replace(self, centre=-self.centre, skewness=-self.skewness)

    def tail(self, limit: float) -> float:
        """Return the level whose quantile is `limit`."""
        if not self.deviation:
            return float(np.heaviside(limit - self.centre, 0.5))
        return _student_tail(
            pearson_tail(self.skewness, (limit - self.centre) / self.deviation),
            self.freedom,
        )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """A number, or minus it, with one more answer that makes it as small as it can."""

    moved: float  # by that answer
    line: Line  # of the enlarged groups, of mean 0
    mass: Floats  # (G,), the weight of what is added
    cost: Floats  # (G,), what that costs
    extreme: Floats  # (G,), the influence of that

    @property
    def terms(self) -> Floats:
        """The size (G,) of the terms of which that influence is the sum."""
        of_cost = self.line.slope * self.cost
        return np.asarray(np.abs(self.line.intercept) + np.abs(of_cost))


def _reach(number: Number, added: float) -> Reach:
    """Return where one more answer, which counts as `added`, takes a number.

    It is spread over the confidences as the answers are, where the number depends on the answer.
    """
    groups = number.groups
    cost = number.worst
    mass = np.where(number.matters, groups.weight, 0.0)
    mass *= ADDED * groups.unit * added / (float(mass.sum()) or 1.0)  # 0 if on none
    enlarged = groups.enlarged(mass, cost)
    point = number.at(enlarged)
    line = enlarged.centred(point.line)
    moved = point.value - number.seen.value
    return Reach(moved, line, mass, cost, line.at(cost))


def _side(
    numbers: Sequence[Number],
    design: Design,
    seen: Moments,
) -> Side:
    """Return the distribution of a sum of numbers with one more answer that makes it smallest."""
    reaches = [_reach(number, design.added(seen.clusters)) for number in numbers]
    enlarged = moments(numbers, [reach.line for reach in reaches], design, seen)
    moved = math.fsum(reach.moved for reach in reaches)
    linear = math.fsum(inner(reach.mass, reach.extreme) for reach in reaches)
    terms = math.fsum(inner(reach.mass, reach.terms) for reach in reaches)
    # all of the move where the added answer has no influence on what it has moved
    part = enlarged.shift / linear if abs(linear) > _DIFFERENCE * terms else 1.0
    return enlarged.side(
        math.fsum(number.value - number.bias for number in numbers),
        moved * part,
        reaches,
    )


# ---- both limits -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Inference:
    """What answers tell of a number: its limits at every level, and the p-value of every hypothesis."""

    value: float
    lower: Side
    upper: Side  # of minus the number
    least: float = -math.inf
    most: float = math.inf
    seen: Moments | None = None  # without the added answer

    def limits(self, level: float) -> Limits:
        """Return the interval at a level in (0, 1); it contains the value, and lies in its range."""
        tail = (1 - level) / 2
        low = max(self.lower.limit(tail), self.least)
        high = min(-self.upper.limit(tail), self.most)
        value = min(max(self.value, self.least), self.most)  # which rounding may pass
        return min(low, value), max(high, value)

    def tail(self, hypothesis: float = 0.0) -> float:
        """Return the one-sided p-value of a hypothetical number against the estimate; 1/2 if they are equal."""
        if self.value == hypothesis:
            return 0.5
        is_above = self.value > hypothesis
        tail = self.lower.tail(hypothesis) if is_above else self.upper.tail(-hypothesis)
        return min(max(tail, _LEAST), 0.5)

    def p_value(self, hypothesis: float = 0.0) -> float:
        """Return 1 minus the level at which the interval just touches the hypothesis."""
        return 2 * self.tail(hypothesis)


def infer(numbers: Sequence[Number], design: Design) -> Inference | None:
    """Return what the answers tell of a sum of numbers: of one alone, or of a difference, one and another negated.

    One more answer moves the first up and the second down, or the reverse. None if nothing is known of the error.
    """
    seen = moments_seen(numbers, design)
    lower = _side(numbers, design, seen)
    upper = _side([number.negated() for number in numbers], design, seen)
    ends = [lower.centre, lower.deviation, upper.centre, upper.deviation]
    if not all(map(math.isfinite, ends)):
        return None
    return Inference(
        math.fsum(number.value for number in numbers),
        lower,
        upper,
        sum(number.least for number in numbers),
        sum(number.most for number in numbers),
        seen,
    )


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
    # Shifts of independent parts are recovered variances (Zou and Donner 2008): each counts as it adds to the root.
    shift = _mean([side.shift * side.deviation for side in sides]) / (deviation or 1.0)
    third = math.fsum(side.skewness * side.deviation**3 for side in sides)
    squares = math.fsum(side.deviation**4 / side.freedom for side in sides)
    return Side(
        _mean([side.centre - side.shift for side in sides]) + shift,
        deviation / len(sides),
        third / deviation**3 if deviation else 0.0,
        deviation**4 / squares if squares else math.inf,
    )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """What an interval mostly rests on: answers of a kind that was not seen in neighbouring groups of a stratum."""

    number: int  # 0, or 1 for the second of a difference
    groups: Groups  # of that number
    ends: Limits  # the ranks between which these neighbours lie
    count: float  # of equal answers that theirs are worth
    stratum: int | None  # from 0
    cost: float  # of such an answer
    size: float  # what one adds to the number


def unseen(
    numbers: Sequence[Number],
    inference: Inference,
    level: float,
    design: Design,
) -> Unseen | None:
    """Return what was not seen, if the interval would lose more than half of a side without the added answer."""
    side = _side_on_the_added(inference, level)
    if side is None:
        return None
    squares = (reach.mass * np.square(reach.extreme) for reach in side.reaches)
    influences = [float(values.max()) for values in squares]
    index = int(np.argmax(influences))
    number = numbers[index]
    reach = side.reaches[index]
    stratum = _find_stratum(side, design)
    part = number.groups if stratum is None else _select_stratum(number, design, stratum)
    worst, stretch = _unseen_places(number.matters, part, reach)
    low, high = part.rank[stretch[[0, -1]]].tolist()
    steepest = float(np.abs(reach.line.slope[stretch]).max())
    largest_cost = float(reach.cost.max() or number.groups.event.max())
    weight = float(part.weight[stretch].sum())
    return Unseen(
        index,
        number.groups,
        (low, high),
        weight**2 / float(part.weight2[stretch].sum()),
        stratum,
        float(reach.cost[worst]),
        steepest * largest_cost * part.unit / number.groups.total,
    )


def _find_stratum(side: Side, design: Design) -> int | None:
    """Return the stratum whose added answer moves the limit most, if there are strata."""
    if design.stratum is None or side.moments is None:
        return None
    return int(np.abs(side.moments.recovered).argmax())


def _select_stratum(number: Number, design: Design, stratum: int) -> Groups:
    """Return the groups of a number with the answers of one stratum only."""
    rows = number.answers()
    inside = np.flatnonzero(design.stratum == stratum)
    add = functools.partial(totals, rows.group[inside], count=len(number.groups.weight))
    return sum_samples(number.groups.rank, rows.weight[inside], rows.cost[inside], add)


def _unseen_places(matters: Bools, groups: Groups, reach: Reach) -> tuple[int, Ints]:
    """Return where an answer like none there adds most, and the neighbours that have none like it."""
    places = np.flatnonzero(groups.weight)
    is_costly = reach.cost > 0
    is_new = np.where(
        is_costly,
        groups.event < reach.cost * (1 - _ROUNDING),
        groups.free <= _ROUNDING * groups.weight2,
    )[places]
    is_candidate = is_new if is_new.any() else True
    added = (matters * groups.weight * np.square(reach.extreme))[places] * is_candidate
    worst = int(added.argmax())
    is_like = is_new & (is_costly[places] == is_costly[places[worst]])
    ends = np.flatnonzero(~is_like)
    first = int(ends[ends < worst].max(initial=-1)) + 1
    last = int(ends[ends > worst].min(initial=len(is_like))) - 1
    return int(places[worst]), places[first : last + 1]


def _side_on_the_added(inference: Inference, level: float) -> Side | None:
    """Return the side that would lose more than half without the added answer, and most of both."""
    assert inference.seen is not None
    tail = (1 - level) / 2
    seen = inference.seen.side(inference.lower.centre - inference.lower.shift)
    most = 0.0
    resting = None
    for side, still, value in (
        (inference.lower, seen, inference.value),
        (inference.upper, seen.mirrored(), -inference.value),
    ):
        limit = side.limit(tail)
        remaining = still.limit(tail)
        lost = abs(remaining - limit)
        rests_on_it = abs(remaining - value) < HALF * abs(limit - value)
        if rests_on_it and lost > most * (1 + _ROUNDING):  # the first of equal sides
            most = lost
            resting = side
    return resting


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

    if math.isinf(freedom):
        return tail
    return max(float(ndtr(stdtrit(freedom, tail))), _LEAST)


def _student_tail(tail: float, freedom: float) -> float:
    """Return the level of Student's distribution whose quantile is the normal one at `tail`."""
    from scipy.special import ndtri, stdtr

    if math.isinf(freedom):
        return tail
    return float(stdtr(freedom, ndtri(tail)))

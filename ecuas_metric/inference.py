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
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .groups import Groups, Line, Rows, divide, heavy_weight, replace_zeros, sum_parts, sum_samples
from .inputs import (
    NUMBERS_PER_SAMPLE,
    Bools,
    FloatOrFloats,
    Floats,
    Ints,
    Limits,
    blocks,
    grouped,
    inner_product,
)
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


@dataclasses.dataclass(frozen=True, eq=False)
class Number:
    """A number, and the answers that it was computed from: in groups, and one by one unless only sums are known."""

    value: float
    groups: Groups
    evaluate: Callable[[Groups], Point]  # its value and its line for any groups
    point: Point  # these for `groups`; merged groups give nearly `value`
    least: float = -math.inf
    most: float = math.inf
    cheapest: Floats | float = 0.0  # (G,) or for all, the least that one more answer costs
    dearest: Floats | float = 1.0  # and the most
    bias: float = 0.0  # of order 1 / N
    rows: Callable[[], Rows] | None = None

    @functools.cached_property
    def line(self) -> Line:
        """Its influence function for the observed answers, of mean 0."""
        return self.groups.centred(self.point.line)

    @functools.cached_property
    def matters(self) -> Bools:
        """Whether the number depends on the costs in each group (G,)."""
        return np.not_equal(self.point.line.slope, 0)

    @functools.cached_property
    def samples(self) -> Rows:
        """The answers (N,), or kinds of answers where only sums are known."""
        return self.rows() if self.rows else self.groups.kinds

    def worst(self, sign: int) -> Floats:
        """Return the cost (G,) of one more answer that makes `sign` times the number smallest, for `sign` 1 or -1."""
        is_right = sign * self.point.line.slope < 0
        return np.where(is_right, self.dearest, self.cheapest)


# ---- three moments ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class Moments:
    """Sums over each stratum (H,), from which the first three moments of a number follow.

    Over answers, of their weights w and deviations d from the mean; and over what is added, of masses m and deviations
    e. Sums that depend on the number may be of M numbers at once, (M, H), and the moments then are (M,).
    """

    total: Floats  # of w
    unit: Floats  # the weight of one answer
    units: Floats  # the number of equal answers that would tell as much of a variance
    squares: Floats  # of (w d)^2
    cubes: Floats  # of (w d)^3
    mass: Floats  # of m, which is spread over many answers, each as a part of one
    added: Floats  # of m e
    added_squares: Floats  # of v m e^2, v the weight of the added answer
    added_cubes: Floats  # of v^2 m e^3
    clusters: Clusters = INDEPENDENT
    is_difference: bool = False

    def select(self, index: int) -> Moments:
        """Return the moments of the number at this index of several."""
        return Moments(
            self.total,
            self.unit,
            self.units,
            self.squares[index],
            self.cubes[index],
            self.mass[index],
            self.added[index],
            self.added_squares[index],
            self.added_cubes[index],
            self.clusters.select(index),
            self.is_difference,
        )

    def scaled(self, factor: float) -> Moments:
        """Return the moments of a sample `factor` times as large, with the same answer added."""
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
        """The effective number of answers (.., H), with what is added."""
        return (self.total + self.mass) / (self.unit * self.clusters.factor)

    @functools.cached_property
    def share(self) -> Floats:
        """The share (.., H) of observed answers in the weight of each stratum."""
        return np.asarray(self.total / (self.total + self.mass))

    @functools.cached_property
    def variances(self) -> Floats:
        """The variance (.., H) of each stratum's weight times its mean: that of a Dirichlet mean."""
        squares = (self.squares + self.added_squares) * self.clusters.factor
        factor = self.count / (self.count + 1)
        return np.asarray(squares * np.square(self.share) * factor)

    @functools.cached_property
    def variance(self) -> Floats:
        """The sum (..) of `variances` over strata."""
        return np.asarray(self.variances.sum(axis=-1))

    @functools.cached_property
    def deviation(self) -> Floats:
        """The standard deviation (..) of the number."""
        return np.asarray(np.sqrt(self.variance) / self.total.sum())

    @functools.cached_property
    def skewness(self) -> Floats:
        """The skewness (..) of the number, that of Dirichlet means; of a difference at most 0.

        A positive one would make the lower tail of a difference shorter. Of equal systems the mistakes of one are as
        likely those of the other, so that more of them in one sample say nothing about the tail.
        """
        cubes = self.cubes + self.added_cubes
        cubes *= np.square(self.clusters.factor)
        factor = 2 * self.count**2 / (self.count + 1)
        third = cubes * self.share**3 * factor / (self.count + 2)
        skewness = divide(divide(third.sum(axis=-1), self.variance), np.sqrt(self.variance))
        return np.minimum(skewness, 0.0) if self.is_difference else skewness

    @property
    def shift_parts(self) -> Floats:
        """The part of each stratum (.., H) in the shift by the added answers, up to a common factor.

        They are recovered variances (Zou and Donner 2008): each counts as it adds to the root.
        """
        return np.asarray(self.added * np.sqrt(self.variances))

    @property
    def freedom(self) -> Floats:
        """The degrees of freedom (..) of the variance: of answers, and of what groups add to it (Satterthwaite 1946).

        For a difference those of groups alone: groups that look independent by chance would make it significant.
        """
        whole = np.where(self.variance > 0, self.variance, math.inf)
        share = self.variances / whole[..., None]  # whatever the unit of the costs
        if self.is_difference:
            units = np.minimum(self.units, self.clusters.units)
            squares = np.square(share) / np.maximum(units - 1, 1.0)
        else:
            excess = share * (1 - 1 / self.clusters.factor)
            of_groups = np.maximum(self.clusters.number - 1, 1.0)
            squares = np.square(share) / np.maximum(self.units - 1, 1.0)
            squares += np.square(excess) / of_groups
        total = squares.sum(axis=-1)
        return np.maximum(divide(np.ones(total.shape), total, math.inf), 1.0)

    @property
    def shift(self) -> Floats:
        """The shift (..) by added answers, times the total weight: at most what skewness needs (Johnson 1978)."""
        most = divide(self.shift_parts.sum(axis=-1), np.sqrt(self.variance))
        total = (self.total + self.mass).sum(axis=-1)
        needed = self.skewness * self.deviation * total / 4
        shift = np.copysign(np.minimum(np.abs(most), np.abs(needed)), most)
        return np.where(needed * most > 0, shift, 0.0)

    def side(self, centre: float, shift: float = 0.0) -> Side:
        """Return the distribution of the number about a centre, which added answers shift."""
        return Side(
            centre + shift,
            float(self.deviation),
            float(self.skewness),
            float(self.freedom),
            shift,
            self,
        )

    @property
    def standard_error(self) -> Floats:
        """The standard error (..) of the number, with nothing added: the infinitesimal jackknife, times k / (k - 1)."""
        total = float(self.total.sum())
        count = total**2 / inner_product(self.unit, self.total)
        factor = count / (count - 1) if count > 1 else math.nan
        squares = (self.squares * self.clusters.factor).sum(axis=-1)
        return np.asarray(np.sqrt(squares * factor) / total)


# one number, or two of which the second is subtracted from the first: a difference
Test = Sequence["Number"]
_SIGNS = (1, -1)


def _list_rows(tests: Sequence[Test], design: Design) -> list[list[Rows]]:
    """Return the answers of each number of each test: as kinds for single numbers of a simple design."""
    are_kinds = len(tests[0]) == 1 and design.is_simple
    return [
        [number.groups.kinds if are_kinds else number.samples for number in test] for test in tests
    ]


def _influences(rows: Sequence[Sequence[Rows]], lines: Sequence[Sequence[Line]]) -> Floats:
    """Return the influence (M, N) of each answer on each difference."""
    influences = []
    for of_test, of_numbers in zip(rows, lines, strict=True):
        influences.append(sum(map(Rows.influence, of_test, of_numbers)))
    return np.stack(influences)


def _moments(
    tests: Sequence[Test],
    lines: Sequence[Sequence[Line]],
    design: Design,
    clusters: Clusters | None = None,
    extremes: Sequence[Sequence[Floats]] = (),
) -> Moments:
    """Return the moments (M, H) of M differences with these lines.

    Without `clusters` they are those of the observed answers. With these, one more answer is added to each stratum,
    spread over the answers on which a number depends; its influence on each number is in `extremes` (G,).
    """
    rows = _list_rows(tests, design)
    one = rows[0][0]
    total = design.sum_strata
    whole = total(one.weight)
    square = total(one.square)
    unit = square / whole
    influence = _influences(rows, lines)
    none = np.zeros(influence.shape)
    mass, moved, heavy = none, none, np.zeros(1)
    if clusters is None:
        clusters = _clusters(tests, lines, rows, influence, design)
    else:
        mass, moved, heavy = _spread_answer(tests, rows, extremes, clusters, design)
    sums = total(one.weight * influence) + total(moved)
    mean = sums / (whole + total(mass))
    mean = design.broadcast_strata(mean)
    deviation = influence - mean
    squares = np.square(deviation)
    extreme = np.divide(moved, mass, out=np.zeros(mass.shape), where=mass != 0)
    extreme -= mean
    first = mass * extreme
    second = first * extreme
    return Moments(
        total=whole,
        unit=unit,
        units=np.square(square) / total(one.fourth),
        squares=total(one.square * squares),
        cubes=total(one.cube * squares * deviation),
        mass=total(mass),
        added=total(first),
        added_squares=heavy * total(second),
        added_cubes=np.square(heavy) * total(second * extreme),
        clusters=clusters,
        is_difference=len(rows[0]) > 1,
    )


def _spread_answer(
    tests: Sequence[Test],
    rows: Sequence[Sequence[Rows]],
    extremes: Sequence[Sequence[Floats]],
    clusters: Clusters,
    design: Design,
) -> tuple[Floats, Floats, Floats]:
    """Return what one more answer in each stratum adds to the observed answers.

    These are the weight that it adds to each (M, N), that times its influence there (M, N), and its own weight (M, H).
    """
    one = rows[0][0]
    total = design.sum_strata
    mass = moved = heavy = np.zeros(1)
    for place, _ in enumerate(rows[0]):
        matters = _expand_groups(rows, place, [test[place].matters for test in tests])
        extreme = _expand_groups(rows, place, [of_test[place] for of_test in extremes])
        relevant = one.weight * matters
        weight = heavy_weight(total(one.square * matters), total(one.fourth * matters))
        heavy = np.maximum(heavy, weight)
        share = divide(ADDED * weight * clusters.factor, total(relevant))
        added = relevant * design.broadcast_strata(share)
        moved = moved + added * extreme
        # sums of weighted costs can make a kind less than nothing
        mass = np.where(np.abs(added) > np.abs(mass), added, mass)
    return mass, moved, heavy


def _expand_groups(
    rows: Sequence[Sequence[Rows]], place: int, values: Sequence[Floats | Bools]
) -> Floats:
    """Return values (G,) of groups for each answer in them (M, N): those of one number, at `place`, of each test."""
    return np.stack([one[of_test[place].group] for of_test, one in zip(rows, values, strict=True)])


def _clusters(
    tests: Sequence[Test],
    lines: Sequence[Sequence[Line]],
    rows: Sequence[Sequence[Rows]],
    influence: Floats,
    design: Design,
) -> Clusters:
    """Return the design effects of groups on differences, from the influence (M, N) of each answer.

    One more answer is taken to be as far from the mean as any can be, up or down.
    """
    if design.group is None:
        return INDEPENDENT
    low = high = design.centred(influence) - influence
    matters = np.zeros(influence.shape, np.bool_)
    for place, _ in enumerate(rows[0]):
        ends = []
        for test, of_test in zip(tests, lines, strict=True):
            line = of_test[place]
            number = test[place]
            ends.append([line.influence(number.cheapest), line.influence(number.dearest)])
        cheap, dear = (
            _expand_groups(rows, place, [np.nan_to_num(end) for end in of_end])
            for of_end in zip(*ends, strict=True)
        )
        low = low + np.minimum(cheap, dear)
        high = high + np.maximum(cheap, dear)
        relevant = _expand_groups(rows, place, [test[place].matters for test in tests])
        matters |= relevant > 0
    farthest = np.maximum(np.square(low), np.square(high))
    return design.measure_clusters(influence, matters, farthest)


def _observed_moments(tests: Sequence[Test], design: Design) -> Moments:
    """Return the moments of differences for the observed answers, with none added."""
    lines = [
        [number.line.times(sign) for number, sign in zip(test, _SIGNS, strict=False)]
        for test in tests
    ]
    return _moments(tests, lines, design)


def _split_tests(tests: Sequence[Test], design: Design) -> Iterator[list[int]]:
    """Yield the indices of tests whose answers have the same weights, as many as fit into the processor's cache."""

    def weight(place: int) -> Floats:
        return _list_rows([tests[place]], design)[0][0].weight

    for alike in grouped(range(len(tests)), lambda place: id(weight(place))).values():
        row_size = NUMBERS_PER_SAMPLE * len(weight(alike[0]))
        for part in blocks(len(alike), row_size=row_size):
            yield alike[part]


# ---- one limit -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A distribution whose lower quantile is a limit: Pearson's type III, with Student's tails for few units.

    The upper limit of a number is minus the lower limit of minus the number.
    """

    centre: float
    deviation: float
    skewness: float
    freedom: float = math.inf
    shift: float = 0.0  # of the centre, by the added answer
    moments: Moments | None = None
    reaches: Sequence[Reach] = ()  # where that takes the number, or the two of a difference

    def limit(self, tail: float) -> float:
        """Return the quantile at the level `tail` in (0, 1)."""
        return float(_quantiles([self], tail)[0])

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
    """What one more answer, which makes a number or minus it as small as it can, does to it."""

    moved: float  # by that answer
    line: Line  # of the enlarged groups, of mean 0
    mass: Floats  # (G,), the weight of what is added
    cost: Floats  # (G,), what that costs
    extreme: Floats  # (G,), the influence of that
    linear: float  # what the added answer moves the number by, to first order
    terms: float  # the size of the terms of which that is the sum


class _Push(NamedTuple):
    """The addition of an answer that makes `sign` times a number as small as possible; it counts as `added` answers."""

    number: Number
    sign: int
    added: float


def _compute_reaches(pushes: Sequence[_Push]) -> list[Reach]:
    """Return the reach of each push of numbers that have the same groups."""
    groups = pushes[0].number.groups
    sign = np.array([[push.sign] for push in pushes])
    cost = np.stack([push.number.worst(push.sign) for push in pushes])
    mass = _added_mass(pushes)
    weight = groups.weight + mass
    whole_cost = groups.cost + mass * cost
    points = _points(pushes, weight, whole_cost)
    intercept = np.stack([point.line.intercept for point in points])
    slope = np.stack([point.line.slope for point in points])
    line = Line(intercept, slope).times(sign).less_mean(weight, whole_cost)
    of_cost = line.slope * cost
    extreme = line.intercept + of_cost
    linear = (mass * extreme).sum(axis=-1)
    terms = (mass * (np.abs(line.intercept) + np.abs(of_cost))).sum(axis=-1)
    moved = [
        push.sign * (point.value - push.number.point.value)
        for push, point in zip(pushes, points, strict=True)
    ]
    lines = map(Line, line.intercept, line.slope)
    return list(map(Reach, moved, lines, mass, cost, extreme, linear.tolist(), terms.tolist()))


def _added_mass(pushes: Sequence[_Push]) -> Floats:
    """Return the weight (M, G) of one more answer in each group.

    It is spread as the answers are over the groups on which a number depends; 0 if there is none.
    """
    groups = pushes[0].number.groups
    matters = np.stack([push.number.matters for push in pushes])
    added = np.array([[push.added] for push in pushes])
    squares = (matters * groups.weight2).sum(axis=-1, keepdims=True)
    fourths = (matters * groups.weight4).sum(axis=-1, keepdims=True)
    mass = matters * groups.weight
    mass *= (
        ADDED
        * heavy_weight(squares, fourths)
        * added
        / replace_zeros(mass.sum(axis=-1, keepdims=True))
    )
    return mass


def _points(pushes: Sequence[_Push], weight: Floats, cost: Floats) -> list[Point]:
    """Return each number evaluated with other weights and costs (M, G) of its groups."""
    points = []
    enlarged: dict[tuple[bytes, bytes], Groups] = {}  # whose areas several numbers have in common
    for push, its_weight, its_cost in zip(pushes, weight, cost, strict=True):
        identity = its_weight.tobytes(), its_cost.tobytes()
        if identity not in enlarged:
            enlarged[identity] = Groups(its_weight, its_cost, push.number.groups.rank)
        points.append(push.number.evaluate(enlarged[identity]))
    return points


def _find_reaches(pushes: Iterable[_Push]) -> dict[_Push, Reach]:
    """Return the reach of each push, computed once: differences of one number to many have pushes in common."""
    found: dict[_Push, Reach] = {}
    by_groups = grouped(dict.fromkeys(pushes), lambda push: id(push.number.groups))
    for alike in by_groups.values():
        row_size = NUMBERS_PER_SAMPLE * len(alike[0].number.groups.weight)
        for part in blocks(len(alike), row_size=row_size):
            found |= zip(alike[part], _compute_reaches(alike[part]), strict=True)
    return found


def _sides(
    tests: Sequence[Test],
    reaches: Sequence[Sequence[Reach]],
    design: Design,
    clusters: Clusters,
) -> list[Side]:
    """Return the distributions of M differences, then of minus each, with the answer added that makes it smallest."""
    lines = [[reach.line for reach in of_test] for of_test in reaches]
    extremes = [[reach.extreme for reach in of_test] for of_test in reaches]
    estimates = list(map(_remove_bias, tests))
    estimates += [-estimate for estimate in estimates]
    twice = clusters.select(np.tile(np.arange(len(tests)), 2))
    enlarged = _moments([*tests, *tests], lines, design, twice, extremes)
    columns = (enlarged.shift, enlarged.deviation, enlarged.skewness, enlarged.freedom)
    sides = []
    found = zip(*map(np.ndarray.tolist, columns), strict=True)
    for place, (needed, deviation, skewness, freedom) in enumerate(found):
        shift = _choose_shift(reaches[place], needed)
        centre = estimates[place] + shift
        moments = enlarged.select(place)
        sides.append(Side(centre, deviation, skewness, freedom, shift, moments, reaches[place]))
    return sides


def _choose_shift(reaches: Sequence[Reach], needed: float) -> float:
    """Return the part of the whole move by an added answer that skewness needs, `needed` to first order.

    All of it if the first order, a sum of terms, is only their rounding.
    """
    moved = math.fsum(reach.moved for reach in reaches)
    linear = math.fsum(reach.linear for reach in reaches)
    terms = math.fsum(reach.terms for reach in reaches)
    return moved * (needed / linear) if abs(linear) > _DIFFERENCE * terms else moved


def _remove_bias(test: Test) -> float:
    """Return the estimate of a number, or of a difference: its value less its bias."""
    return difference([number.value - number.bias for number in test])


def difference(values: Sequence[float]) -> float:
    """Return a value, or the first of two less the second."""
    return math.fsum(map(operator.mul, values, _SIGNS))


# ---- both limits -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Inference:
    """The inference about a number: its limits at every level, and the p-value of every hypothesis."""

    value: float
    lower: Side
    upper: Side  # of minus the number
    least: float = -math.inf
    most: float = math.inf
    observed: Side | None = None  # of the number, without the added answer

    def limits(self, level: float) -> Limits:
        """Return the interval at a level in (0, 1); it contains the value, and lies in its range."""
        return all_limits([self], level)[0]

    def negated(self) -> Inference:
        """Return the inference about minus the number."""
        return Inference(
            -self.value,
            self.upper,
            self.lower,
            -self.most,
            -self.least,
            self.observed and self.observed.mirrored(),
        )

    def tail(self, hypothesis: float = 0.0) -> float:
        """Return the one-sided p-value of a hypothetical value, in (0, 1/2]: 1/2 if it equals the estimate."""
        if self.value == hypothesis:
            return 0.5
        is_above = self.value > hypothesis
        tail = self.lower.tail(hypothesis) if is_above else self.upper.tail(-hypothesis)
        return min(max(tail, _LEAST), 0.5)

    def p_value(self, hypothesis: float = 0.0) -> float:
        """Return the two-sided p-value: 1 minus the level at which the interval just touches the hypothesis."""
        return 2 * self.tail(hypothesis)


def infer(numbers: Test, design: Design) -> Inference | None:
    """Return the inference about a number, or about the first of two less the second; None if its error is unknown.

    One more answer moves the first up and the second down, or the reverse.
    """
    return infer_all([numbers], design)[0]


def infer_all(tests: Sequence[Test], design: Design) -> list[Inference | None]:
    """Return `infer` of each test, computed at once."""
    batches = [_make_batch(tests, places, design) for places in _split_tests(tests, design)]
    reaches = _find_reaches(push for batch in batches for side in batch.pushes for push in side)
    found: dict[int, Inference | None] = {}
    for batch in batches:
        found |= zip(batch.places, _infer_batch(batch, reaches, design), strict=True)
    return [found[place] for place in range(len(tests))]


class _Batch(NamedTuple):
    """Tests whose answers have the same weights, with their indices among all, moments and pushes."""

    places: list[int]
    tests: list[Test]
    observed: Moments
    pushes: list[list[_Push]]  # that make each smallest, then that make minus each smallest


def _make_batch(tests: Sequence[Test], places: list[int], design: Design) -> _Batch:
    """Return the batch of the tests at these indices."""
    chosen = [tests[place] for place in places]
    observed = _observed_moments(chosen, design)
    return _Batch(places, chosen, observed, _make_pushes(chosen, observed, design))


def standard_errors(tests: Sequence[Test], design: Design) -> list[float]:
    """Return the standard error of each test, with no answer added."""
    found: dict[int, float] = {}
    for places in _split_tests(tests, design):
        observed = _observed_moments([tests[place] for place in places], design)
        found |= zip(places, observed.standard_error.tolist(), strict=True)
    return [found[place] for place in range(len(tests))]


def _make_pushes(tests: Sequence[Test], observed: Moments, design: Design) -> list[list[_Push]]:
    """Return the pushes (one for each number) that make each difference smallest, then those that make minus it so."""
    added = np.broadcast_to(design.count_added(observed.clusters), len(tests)).tolist()
    pushes = []
    for up in _SIGNS:
        for test, count in zip(tests, added, strict=True):
            signs = [up * sign for sign in _SIGNS[: len(test)]]
            pushes.append(list(map(_Push, test, signs, [count] * len(test))))
    return pushes


def _infer_batch(
    batch: _Batch, reaches: Mapping[_Push, Reach], design: Design
) -> list[Inference | None]:
    """Return the inference about each difference of a batch, from the reaches of its pushes."""
    observed = batch.observed
    reached = [[reaches[push] for push in side] for side in batch.pushes]
    sides = _sides(batch.tests, reached, design, observed.clusters)
    columns = (observed.deviation, observed.skewness, observed.freedom)
    stills = []
    for place, column in enumerate(zip(*map(np.ndarray.tolist, columns), strict=True)):
        deviation, skewness, freedom = column
        centre = _remove_bias(batch.tests[place])
        stills.append(Side(centre, deviation, skewness, freedom, moments=observed.select(place)))
    count = len(batch.tests)
    return list(map(_make_inference, batch.tests, sides[:count], sides[count:], stills))


def _make_inference(test: Test, lower: Side, upper: Side, observed: Side) -> Inference | None:
    """Return the inference about a difference from its distributions; None if one is not finite."""
    ends = [lower.centre, lower.deviation, upper.centre, upper.deviation]
    if not all(map(math.isfinite, ends)):
        return None
    first, *second = test
    return Inference(
        difference([number.value for number in test]),
        lower,
        upper,
        first.least - sum(number.most for number in second),
        first.most - sum(number.least for number in second),
        observed,
    )


def all_limits(inferences: Sequence[Inference], level: FloatOrFloats) -> list[Limits]:
    """Return the interval of each inference at a level in (0, 1), or at one level for each; nan at a level of nan."""
    if not inferences:
        return []
    tail = (1 - np.asarray(level)) / 2
    least, most, value = np.array([(one.least, one.most, one.value) for one in inferences]).T
    low = np.maximum(_quantiles([one.lower for one in inferences], tail), least)
    high = np.minimum(-_quantiles([one.upper for one in inferences], tail), most)
    value = np.clip(value, least, most)  # which rounding may pass
    ends = np.minimum(low, value).tolist(), np.maximum(high, value).tolist()
    return list(zip(*ends, strict=True))


# ---- averages, and what was not seen ---------------------------------------------------------------------------------


def average(parts: Sequence[Inference]) -> Inference:
    """Return the inference about the mean of numbers of independent parts."""
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
    """Return the distribution of the mean of numbers of independent parts."""
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
    """The kind of answers that an interval mostly rests on, though none was seen in a stretch of groups."""

    number: int  # 0, or 1 for the second of a difference
    groups: Groups  # of that number
    ends: Limits  # the ranks between which these neighbours lie
    count: float  # of equal answers that theirs are worth
    stratum: int | None  # from 0
    cost: float  # of such an answer
    size: float  # what one adds to the number


def find_unseen(
    tests: Sequence[Test], inferences: Sequence[Inference], level: float, design: Design
) -> list[Unseen | None]:
    """Return for each test the unseen kind of answers that its interval mostly rests on, see `HALF`; else None."""
    sides = _find_unsupported_sides(inferences, level)
    return [
        None if side is None else _describe_unseen(test, side, design)
        for test, side in zip(tests, sides, strict=True)
    ]


def _describe_unseen(numbers: Test, side: Side, design: Design) -> Unseen:
    """Return the unseen kind of answers that a side rests on."""
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
    largest_cost = float(reach.cost.max() or number.groups.positive_cost.max())
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
    return int(np.abs(side.moments.shift_parts).argmax())


def _select_stratum(number: Number, design: Design, stratum: int) -> Groups:
    """Return the groups of a number with the answers of one stratum only."""
    rows = number.samples
    inside = np.flatnonzero(design.stratum == stratum)
    add = functools.partial(sum_parts, rows.group[inside], count=len(number.groups.weight))
    return sum_samples(number.groups.rank, rows.weight[inside], rows.cost[inside], add)


def _unseen_places(matters: Bools, groups: Groups, reach: Reach) -> tuple[int, Ints]:
    """Return the group where an answer of an unseen kind adds most, and the stretch of groups without this kind."""
    places = np.flatnonzero(groups.weight)
    is_costly = reach.cost > 0
    is_new = np.where(
        is_costly,
        groups.positive_cost < reach.cost * (1 - _ROUNDING),
        groups.weight2_free <= _ROUNDING * groups.weight2,
    )[places]
    is_candidate = is_new if is_new.any() else True
    added = (matters * groups.weight * np.square(reach.extreme))[places] * is_candidate
    worst = int(added.argmax())
    is_like = is_new & (is_costly[places] == is_costly[places[worst]])
    ends = np.flatnonzero(~is_like)
    first = int(ends[ends < worst].max(initial=-1)) + 1
    last = int(ends[ends > worst].min(initial=len(is_like))) - 1
    return int(places[worst]), places[first : last + 1]


def _find_unsupported_sides(inferences: Sequence[Inference], level: float) -> list[Side | None]:
    """Return for each number the side that loses most, and more than half, without the added answer; else None."""
    sides = []
    stills = []
    values = []
    for one in inferences:
        assert one.observed is not None
        sides += [one.lower, one.upper]
        stills += [one.observed, one.observed.mirrored()]
        values += [one.value, -one.value]
    if not sides:
        return []
    tail = (1 - level) / 2
    limit = _quantiles(sides, tail)
    remaining = _quantiles(stills, tail)
    rests_on_it = np.abs(remaining - values) < HALF * np.abs(limit - values)
    lost = np.where(rests_on_it, np.abs(remaining - limit), 0.0).reshape(-1, 2)
    # the first of equal sides
    is_second = lost[:, 1] > lost[:, 0] * (1 + _ROUNDING)
    resting = []
    for place, (second, most) in enumerate(
        zip(is_second.tolist(), lost.max(axis=1).tolist(), strict=True)
    ):
        resting.append(sides[2 * place + second] if most > 0 else None)
    return resting


# ---- the distributions -----------------------------------------------------------------------------------------------


def _quantiles(sides: Sequence[Side], tail: FloatOrFloats) -> Floats:
    """Return the quantile (M,) of each distribution at a level in (0, 1), or at one for each."""
    columns = [(side.centre, side.deviation, side.skewness, side.freedom) for side in sides]
    centre, deviation, skewness, freedom = np.array(columns).T
    deviate = pearson_quantile(skewness, _normal_tail(tail, freedom))
    return np.asarray(centre + deviation * deviate)


def pearson_quantile(skewness: Floats, tail: FloatOrFloats) -> Floats:
    """Return the quantiles (..) of gamma distributions of mean 0, variance 1 and this skewness."""
    from scipy.special import gammainccinv, gammaincinv, ndtri

    z = ndtri(tail)
    is_normal = np.abs(skewness) < _NORMAL
    shape = 4 / np.square(np.where(is_normal, 1.0, skewness))
    gamma = np.where(skewness > 0, gammaincinv(shape, tail), gammainccinv(shape, tail))
    normal = z + skewness / 6 * (z * z - 1)
    return np.asarray(np.where(is_normal, normal, (gamma - shape) * skewness / 2))


def pearson_tail(skewness: float, deviate: float) -> float:
    """Return the level of a quantile of `pearson_quantile`."""
    from scipy.special import gammainc, gammaincc, ndtr

    if abs(skewness) < _NORMAL:
        return float(ndtr(deviate - skewness / 6 * (deviate * deviate - 1)))
    shape = 4 / skewness**2
    cumulative = gammainc if skewness > 0 else gammaincc
    return float(cumulative(shape, max(shape + deviate * 2 / skewness, 0.0)))


def _normal_tail(tail: FloatOrFloats, freedom: Floats) -> Floats:
    """Return the normal levels (M,) whose quantiles are Student's at `tail`."""
    from scipy.special import ndtr, stdtrit

    is_few = np.isfinite(freedom)
    of_students = np.maximum(ndtr(stdtrit(np.where(is_few, freedom, 1.0), tail)), _LEAST)
    return np.asarray(np.where(is_few, of_students, tail))


def _student_tail(tail: float, freedom: float) -> float:
    """Return the level of Student's distribution whose quantile is the normal one at `tail`."""
    from scipy.special import ndtri, stdtr

    if math.isinf(freedom):
        return tail
    return float(stdtr(freedom, ndtri(tail)))

"""One engine of inference, for one number and for a difference: one more answer, the one that hurts most.

How surely is a number known that n answers gave? As if one more answer could have been seen, the one that moves it
most (Clopper and Pearson 1934, Gaffke 2005, Walley 1996). The weights of all answers then have a Dirichlet distribution
(Rubin 1981), under which a number that is linear in them has known moments; the limit is the quantile of the gamma
distribution with three of these, shifted as its skewness asks (Johnson 1978). Method: docs/statistics.md.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

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

_T = TypeVar("_T")
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

    def select(self, index: Ints) -> Moments:
        """Return the moments of the numbers at these indices (M,) of several."""
        return dataclasses.replace(
            self,
            squares=self.squares[index],
            cubes=self.cubes[index],
            mass=self.mass[index],
            added=self.added[index],
            added_squares=self.added_squares[index],
            added_cubes=self.added_cubes[index],
            clusters=self.clusters.select(index),
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

    def sides(
        self, centre: Floats, shift: Floats, reaches: Sequence[Sequence[Reach]]
    ) -> list[Side]:
        """Return the distributions of M numbers about their centres (M,), which added answers shift."""
        columns = (centre + shift, self.deviation, self.skewness, self.freedom, shift)
        batch = itertools.repeat(self)
        return list(map(Side, *map(np.ndarray.tolist, columns), batch, itertools.count(), reaches))

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


class _Push(NamedTuple):
    """The addition of an answer that makes `sign` times a number as small as possible; it counts as `added` answers."""

    number: Number
    sign: int
    added: float


def _make_pushes(tests: Sequence[Test], up: int, added: Sequence[float]) -> list[list[_Push]]:
    """Return the pushes (one for each number) that make each difference, times `up`, smallest."""
    return [
        [_Push(number, up * sign, count) for number, sign in zip(test, _SIGNS, strict=False)]
        for test, count in zip(tests, added, strict=True)
    ]


@dataclasses.dataclass(frozen=True, eq=False)
class _Terms:
    """The terms of M differences of one or two numbers: those that differ (U,), and which (M, P) each adds up."""

    pushes: list[_Push]
    places: Ints
    rows: list[Rows]  # the answers of each term, all of the same weights
    design: Design

    def expand(self, values: Iterable[Floats | Bools]) -> Floats:
        """Return values (G,) of the groups of each term for each answer in them (U, N)."""
        return np.stack([one[rows.group] for rows, one in zip(self.rows, values, strict=True)])

    def add(self, values: Floats) -> Floats:
        """Return the sums (M, ..) over the terms of each difference of values (U, ..)."""
        return functools.reduce(np.add, (values[places] for places in self.places.T))


def _find_answers(numbers: Sequence[object], number: Number, design: Design) -> Rows:
    """Return the answers of one of a test's numbers: as kinds for single numbers of a simple design."""
    return number.groups.kinds if len(numbers) == 1 and design.is_simple else number.samples


def _make_terms(pushes: Sequence[Sequence[_Push]], design: Design) -> _Terms:
    """Return the terms of differences, each once: those of one number from many have some in common."""
    distinct = list(dict.fromkeys(itertools.chain(*pushes)))
    place = {push: index for index, push in enumerate(distinct)}
    places = np.array([[place[push] for push in of_test] for of_test in pushes])
    rows = [_find_answers(pushes[0], push.number, design) for push in distinct]
    return _Terms(distinct, places, rows, design)


def _moments(
    terms: _Terms,
    lines: Sequence[Line],
    clusters: Clusters | None = None,
    extremes: Sequence[Floats] = (),
) -> Moments:
    """Return the moments (M, H) of M differences of terms with these lines.

    Without `clusters` they are those of the observed answers. With these, one more answer is added to each stratum,
    spread over the answers on which a number depends; its influence on each term is in `extremes` (G,).
    """
    design = terms.design
    one = terms.rows[0]
    total = design.sum_strata
    whole = total(one.weight)
    square = total(one.square)
    unit = square / whole
    influence = terms.add(np.stack(list(map(Rows.influence, terms.rows, lines))))
    none = np.zeros(influence.shape)
    mass, moved, heavy = none, none, np.zeros(1)
    if clusters is None:
        clusters = _clusters(terms, lines, influence)
    else:
        mass, moved, heavy = _spread_answer(terms, extremes)
    factor = clusters.factor  # the added answer counts as so many
    total_mass = factor * total(mass)
    sums = total(one.weight * influence) + factor * total(moved)
    mean = design.broadcast_strata(sums / (whole + total_mass))
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
        mass=total_mass,
        added=factor * total(first),
        added_squares=factor * heavy * total(second),
        added_cubes=factor * np.square(heavy) * total(second * extreme),
        clusters=clusters,
        is_difference=terms.places.shape[1] > 1,
    )


def _spread_answer(terms: _Terms, extremes: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
    """Return what one more answer in each stratum adds to the observed answers, where none depends on others.

    These are the weight that it adds to each (M, N), that times its influence there (M, N), and its own weight (M, H).
    """
    one = terms.rows[0]
    total = terms.design.sum_strata
    matters = terms.expand([push.number.matters for push in terms.pushes])
    relevant = one.weight * matters
    weight = heavy_weight(total(one.square * matters), total(one.fourth * matters))
    share = divide(ADDED * weight, total(relevant))
    added = relevant * terms.design.broadcast_strata(share)
    moved = terms.add(added * terms.expand(extremes))
    heavy = weight[terms.places].max(axis=1)
    mass = functools.reduce(_choose_farther, (added[places] for places in terms.places.T))
    return mass, moved, heavy


def _choose_farther(first: Floats, second: Floats) -> Floats:
    """Return the values that are farther from 0: sums of weighted costs can make a kind less than nothing."""
    return np.where(np.abs(second) > np.abs(first), second, first)


def _clusters(terms: _Terms, lines: Sequence[Line], influence: Floats) -> Clusters:
    """Return the design effects of groups on differences, from the influence (M, N) of each answer.

    One more answer is taken to be as far from the mean as any can be, up or down.
    """
    design = terms.design
    if design.group is None:
        return INDEPENDENT
    numbers = [push.number for push in terms.pushes]
    ends = []
    for line, number in zip(lines, numbers, strict=True):
        both = [line.influence(number.cheapest), line.influence(number.dearest)]
        ends.append(np.nan_to_num(both))
    mean = design.centred(influence) - influence
    low = mean + terms.add(terms.expand([end.min(axis=0) for end in ends]))
    high = mean + terms.add(terms.expand([end.max(axis=0) for end in ends]))
    farthest = np.maximum(np.square(low), np.square(high))
    matters = terms.add(terms.expand([one.matters for one in numbers]))
    return design.measure_clusters(influence, matters > 0, farthest)


def _observed_moments(tests: Sequence[Test], design: Design) -> Moments:
    """Return the moments of differences for the observed answers, with none added."""
    terms = _make_terms(_make_pushes(tests, 1, [1.0] * len(tests)), design)
    return _moments(terms, [push.number.line.times(push.sign) for push in terms.pushes])


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
    batch: Moments | None = None  # of several numbers, of which it is at this place
    place: int = 0
    reaches: Sequence[Reach] = ()  # where that takes the number, or the two of a difference

    @property
    def moments(self) -> Moments | None:
        """The moments of the number, where they are known."""
        return self.batch and self.batch.select(np.array([self.place]))

    def limit(self, tail: float) -> float:
        """Return the quantile at the level `tail` in (0, 1)."""
        return float(_quantiles([self], tail)[0])

    def mirrored(self) -> Side:
        """Return the distribution of minus the number."""
        return dataclasses.replace(self, centre=-self.centre, skewness=-self.skewness)


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
    """Return the reach of each push."""
    found: dict[_Push, Reach] = {}
    for alike in grouped(pushes, lambda push: id(push.number.groups)).values():
        row_size = NUMBERS_PER_SAMPLE * len(alike[0].number.groups.weight)
        for part in blocks(len(alike), row_size=row_size):
            found |= zip(alike[part], _compute_reaches(alike[part]), strict=True)
    return found


def _sides(
    terms: _Terms, reaches: Sequence[Reach], estimates: Floats, clusters: Clusters
) -> list[Side]:
    """Return the distributions of M differences, then of minus each, with the answer added that makes it smallest."""
    twice = clusters.select(np.tile(np.arange(len(estimates)), 2))
    extremes = [reach.extreme for reach in reaches]
    moments = _moments(terms, [reach.line for reach in reaches], twice, extremes)
    shift = _choose_shifts(terms, reaches, moments.shift)
    of_tests = [[reaches[term] for term in places] for places in terms.places]
    return moments.sides(np.append(estimates, -estimates), shift, of_tests)


def _choose_shifts(terms: _Terms, reaches: Sequence[Reach], needed: Floats) -> Floats:
    """Return the part (M,) of the whole move by an added answer that skewness needs, `needed` to first order.

    All of it if the first order, a sum of terms, is only their rounding.
    """
    moved, linear, size = (
        terms.add(np.array(of_terms))
        for of_terms in zip(*((one.moved, one.linear, one.terms) for one in reaches), strict=True)
    )
    is_sure = np.abs(linear) > _DIFFERENCE * size
    return np.where(is_sure, moved * (needed / np.where(is_sure, linear, 1.0)), moved)


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

    def p_value(self, hypothesis: float = 0.0) -> float:
        """Return the two-sided p-value: 1 minus the level at which the interval just touches the hypothesis."""
        return float(all_p_values([self], hypothesis)[0])


def infer(numbers: Test, design: Design) -> Inference | None:
    """Return the inference about a number, or about the first of two less the second; None if its error is unknown.

    One more answer moves the first up and the second down, or the reverse.
    """
    return infer_all([numbers], design)[0]


def infer_all(tests: Sequence[Test], design: Design) -> list[Inference | None]:
    """Return `infer` of each test, computed at once."""
    reaches: dict[_Push, Reach] = {}  # differences of one number to many have pushes in common
    return _in_batches(tests, design, functools.partial(_infer_batch, reaches=reaches))


def standard_errors(tests: Sequence[Test], design: Design) -> list[float]:
    """Return the standard error of each test, with no answer added."""
    return _in_batches(
        tests, design, lambda *batch: _observed_moments(*batch).standard_error.tolist()
    )


def _in_batches(
    tests: Sequence[Test], design: Design, compute: Callable[[Sequence[Test], Design], list[_T]]
) -> list[_T]:
    """Return what is computed of tests, at once of those whose answers have the same weights and fit into the cache."""

    def weight(place: int) -> Floats:
        return _find_answers(tests[place], tests[place][0], design).weight

    found: dict[int, _T] = {}
    for alike in grouped(range(len(tests)), lambda place: id(weight(place))).values():
        for part in blocks(len(alike), row_size=NUMBERS_PER_SAMPLE * len(weight(alike[0]))):
            batch = [tests[place] for place in alike[part]]
            found |= zip(alike[part], compute(batch, design), strict=True)
    return [found[place] for place in range(len(tests))]


def _infer_batch(
    tests: Sequence[Test], design: Design, reaches: dict[_Push, Reach]
) -> list[Inference | None]:
    """Return the inference about each difference of a batch; `reaches` are those known, to which others are added."""
    observed = _observed_moments(tests, design)
    added = np.broadcast_to(design.count_added(observed.clusters), len(tests)).tolist()
    pushes = [push for up in _SIGNS for push in _make_pushes(tests, up, added)]
    terms = _make_terms(pushes, design)
    reaches |= _find_reaches(push for push in terms.pushes if push not in reaches)
    estimates = np.array(list(map(_remove_bias, tests)))
    count = len(tests)
    sides = _sides(terms, [reaches[push] for push in terms.pushes], estimates, observed.clusters)
    stills = observed.sides(estimates, np.zeros(count), [()] * count)
    return list(map(_make_inference, tests, sides[:count], sides[count:], stills))


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


def all_p_values(inferences: Sequence[Inference], hypothesis: float = 0.0) -> Floats:
    """Return the two-sided p-value (M,) of a hypothetical value of each number, in (0, 1]: 1 if it is the estimate."""
    if not inferences:
        return np.zeros(0)
    value = np.array([one.value for one in inferences])
    sides = [one.lower if one.value > hypothesis else one.upper for one in inferences]
    tail = _tails(sides, np.where(value > hypothesis, hypothesis, -hypothesis))
    return 2 * np.where(value == hypothesis, 0.5, np.clip(tail, _LEAST, 0.5))


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


def _columns(sides: Sequence[Side]) -> Floats:
    """Return the centres, deviations, skewnesses and freedoms (4, M) of distributions."""
    return np.array([(one.centre, one.deviation, one.skewness, one.freedom) for one in sides]).T


def _quantiles(sides: Sequence[Side], tail: FloatOrFloats) -> Floats:
    """Return the quantile (M,) of each distribution at a level in (0, 1), or at one for each."""
    centre, deviation, skewness, freedom = _columns(sides)
    deviate = pearson_quantile(skewness, _normal_tail(tail, freedom))
    return np.asarray(centre + deviation * deviate)


def _tails(sides: Sequence[Side], limit: Floats) -> Floats:
    """Return the level of each distribution whose quantile is `limit` (M,)."""
    centre, deviation, skewness, freedom = _columns(sides)
    distance = limit - centre
    tail = _student_tail(pearson_tail(skewness, distance / replace_zeros(deviation)), freedom)
    return np.where(deviation == 0, np.heaviside(distance, 0.5), tail)


def pearson_quantile(skewness: Floats, tail: FloatOrFloats) -> Floats:
    """Return the quantiles (..) of gamma distributions of mean 0, variance 1 and this skewness."""
    from scipy.special import gammainccinv, gammaincinv, ndtri

    z = ndtri(tail)
    is_normal = np.abs(skewness) < _NORMAL
    shape = 4 / np.square(np.where(is_normal, 1.0, skewness))
    gamma = np.where(skewness > 0, gammaincinv(shape, tail), gammainccinv(shape, tail))
    normal = z + skewness / 6 * (z * z - 1)
    return np.asarray(np.where(is_normal, normal, (gamma - shape) * skewness / 2))


def pearson_tail(skewness: Floats, deviate: Floats) -> Floats:
    """Return the levels (..) of quantiles of `pearson_quantile`."""
    from scipy.special import gammainc, gammaincc, ndtr

    is_normal = np.abs(skewness) < _NORMAL
    steep = np.where(is_normal, 1.0, skewness)
    shape = 4 / np.square(steep)
    place = np.maximum(shape + deviate * 2 / steep, 0.0)
    gamma = np.where(skewness > 0, gammainc(shape, place), gammaincc(shape, place))
    normal = ndtr(deviate - skewness / 6 * (deviate * deviate - 1))
    return np.asarray(np.where(is_normal, normal, gamma))


def _normal_tail(tail: FloatOrFloats, freedom: Floats) -> Floats:
    """Return the normal levels (M,) whose quantiles are Student's at `tail`."""
    from scipy.special import ndtr, stdtrit

    is_few = np.isfinite(freedom)
    of_students = np.maximum(ndtr(stdtrit(np.where(is_few, freedom, 1.0), tail)), _LEAST)
    return np.asarray(np.where(is_few, of_students, tail))


def _student_tail(tail: Floats, freedom: Floats) -> Floats:
    """Return the levels (M,) of Student's distributions whose quantiles are the normal ones at `tail`."""
    from scipy.special import ndtri, stdtr

    is_few = np.isfinite(freedom)
    of_students = stdtr(np.where(is_few, freedom, 1.0), ndtri(tail))
    return np.where(is_few, of_students, tail)

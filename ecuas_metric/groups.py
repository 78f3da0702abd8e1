"""Tie groups: samples sorted by uncertainty once, and the sums over those of equal uncertainty."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from .inputs import (
    NUMBERS_PER_SAMPLE,
    Array,
    Bools,
    FloatOrFloats,
    Floats,
    Ints,
    blocks,
    is_broadcast,
)

# sums over the samples of a group, of weights w and candidate costs c, and the power of w in each
POWERS = {
    "weight": 1,  # w
    "cost": 1,  # w c
    "weight2": 2,  # w^2
    "weight2_cost": 2,  # w^2 c
    "weight2_cost2": 2,  # w^2 c^2
    "weight4": 4,  # w^4
}
_ROUNDING = 1e-12  # of a mean, relative to the mean size of its terms
SUMS = (*POWERS, "uncertainty", "cost_uncertainty")  # of states, also w u and w c u


def _empty() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Groups:
    """Sums over tie groups, samples of equal uncertainty: arrays (G,), from the least to the most uncertain group.

    Values of metrics need the first three arrays, intervals also the sums of `POWERS`, and summaries all of them. A
    group of a summary may be a bin: several neighbouring tie groups. Arrays that are not needed are empty.
    """

    weight: Floats
    cost: Floats
    rank: Floats  # increasing, `Decisions.rank`; of a bin the lowest
    # exact weight of the correct ones, where `weight - cost` would round
    correct: Floats | None = None
    weight2: Floats = field(default_factory=_empty)
    weight2_cost: Floats = field(default_factory=_empty)
    weight2_cost2: Floats = field(default_factory=_empty)
    weight4: Floats = field(default_factory=_empty)
    # what one more sample may cost, see `intervals.next_costs`
    next_cost: Floats = field(default_factory=_empty)
    high: Floats = field(default_factory=_empty)  # the highest rank
    uncertainty: Floats = field(default_factory=_empty)
    cost_uncertainty: Floats = field(default_factory=_empty)

    # ---- the order of the samples

    @cached_property
    def weight_until(self) -> Floats:
        """The cumulative weight (G,), including each group."""
        if self.are_samples:
            return np.arange(1.0, len(self.weight) + 1)
        return np.cumsum(self.weight)

    @cached_property
    def cost_until(self) -> Floats:
        """The cumulative cost (G,), including each group."""
        return np.cumsum(self.cost)

    @cached_property
    def weight_middle(self) -> Floats:
        """The cumulative weight (G,), with half of each group."""
        return self.weight_until - self.weight / 2

    @cached_property
    def cost_middle(self) -> Floats:
        """The cumulative cost (G,), with half of each group."""
        return self.cost_until - self.cost / 2

    @property
    def are_samples(self) -> bool:
        """Whether each group is one sample of weight 1."""
        return is_broadcast(self.weight) and bool((self.weight[:1] == 1).all())

    @property
    def right(self) -> Floats:
        """The weight (G,) of the correct samples of each group, for the 0-1 cost."""
        return self.weight - self.cost if self.correct is None else self.correct

    @property
    def mean_cost(self) -> Floats:
        """The mean candidate cost (G,) of each group, 0 where it has no weight."""
        return self.cost if self.are_samples else self.cost / replace_zeros(self.weight)

    @cached_property
    def areas(self) -> Areas:
        """The areas from which AUROC, AURC and AUGRC follow, by one pass over the groups."""
        return _sample_areas(self) if self.are_samples else _group_areas(self)

    # ---- the spread of the samples

    @cached_property
    def total(self) -> float:
        """The weight W of all samples."""
        return float(self.weight.sum())

    @cached_property
    def unit(self) -> float:
        """The sum of w^2 / W: total weight over `unit` is the effective number of samples (Kish)."""
        return float(self.weight2.sum()) / self.total

    @cached_property
    def positive_cost(self) -> Floats:
        """The one cost (G,) that stands for all positive ones of a group: sum of w^2 c^2 / sum of w^2 c."""
        return divide(self.weight2_cost2, self.weight2_cost)

    @cached_property
    def weight2_costly(self) -> Floats:
        """The sum of w^2 (G,) over samples of positive cost, each of which is taken to cost `positive_cost`."""
        return divide(self.weight2_cost, self.positive_cost)

    @cached_property
    def weight2_free(self) -> Floats:
        """The sum of w^2 (G,) over samples that cost nothing."""
        return np.maximum(self.weight2 - self.weight2_costly, 0.0)

    @cached_property
    def effective_counts(self) -> Floats:
        """The effective numbers (2,) of wrong and of right samples (Kish), for the 0-1 cost."""
        wrong = np.array([self.cost.sum(), self.weight2_cost.sum()])
        right = np.array([self.total, self.weight2.sum()]) - wrong
        weight, square = np.array([wrong, right]).T
        return divide(np.square(weight), square)

    @cached_property
    def kinds(self) -> Rows:
        """Up to 2 G kinds of samples: in each group those that cost nothing, then those that cost `positive_cost`."""
        index = np.arange(len(self.cost))
        costly = divide(self.cost, self.positive_cost)
        square = np.append(self.weight2_free, self.weight2_costly)
        weight = np.append(self.weight - costly, costly)
        mean_weight = self.weight2 / self.weight
        mean_square = self.weight4 / self.weight2
        are_there = (weight != 0) | (square > 0)
        rows = (
            np.append(index, index),
            np.append(0 * self.positive_cost, self.positive_cost),
            weight,
            square,
            square * np.append(mean_weight, mean_weight),
            square * np.append(mean_square, mean_square),
        )
        return Rows(*(values[are_there] for values in rows))

    @property
    def with_binary_sums(self) -> Groups:
        """These groups with the sums of `POWERS` filled in, for samples of weight 1 that cost 0 or 1."""
        sums = {name: self.cost if "cost" in name else self.weight for name in POWERS}
        next_cost = np.ones(len(self.weight))
        return replace(self, correct=None, next_cost=next_cost, **sums)

    @cached_property
    def costless(self) -> Groups:
        """These groups as if all samples cost nothing."""
        none = np.zeros(len(self.weight))
        return replace(self, cost=none, weight2_cost=none, weight2_cost2=none)

    def mean(self, line: Line) -> float:
        """Return the mean influence of all samples on the number that a line is of."""
        sums = self.weight * line.intercept + self.cost * line.slope
        return float(sums.sum()) / self.total

    def centred(self, line: Line) -> Line:
        """Return a line less its mean over all samples, so that `mean` of it is 0."""
        return line.less_mean(self.weight, self.cost)

    # ---- other groups

    @property
    def are_tied(self) -> Bools:
        """Whether each group (G,) is a tie group, of one rank, and no bin."""
        return np.asarray(self.rank == self.high)

    def enlarged(self, mass: Floats, cost: FloatOrFloats) -> Groups:
        """Return the groups, for values and lines only, with samples of weight `mass` (G,) and this cost added."""
        return Groups(self.weight + mass, self.cost + mass * cost, self.rank)

    def scaled(self, unit: float) -> Groups:
        """Return the groups with all weights multiplied by `unit`."""
        powers = {name: unit**power * getattr(self, name) for name, power in POWERS.items()}
        return replace(
            self,
            **powers,
            uncertainty=unit * self.uncertainty,
            cost_uncertainty=unit * self.cost_uncertainty,
        )

    def first(self, count: int) -> Groups:
        """Return the first `count` groups; itself, with its cached sums, if these are all."""
        if count == len(self.rank):
            return self
        arrays = {one.name: getattr(self, one.name) for one in fields(self)}
        parts = {name: array[:count] for name, array in arrays.items() if array is not None}
        return replace(self, **parts)

    def merged(self, starts: Ints) -> Groups:
        """Return K groups, the sums over the groups from each start (K,) to the next, at their mean rank."""
        arrays = {name: getattr(self, name) for name in SUMS}
        distinct = {id(one): one for one in arrays.values() if len(one)}
        added = {place: np.add.reduceat(one, starts) for place, one in distinct.items()}
        sums = {name: added[id(one)] for name, one in arrays.items() if len(one)}
        rank = np.add.reduceat(self.rank * self.weight, starts) / sums["weight"]
        next_cost = np.maximum.reduceat(self.next_cost, starts)
        return replace(self, rank=rank, next_cost=next_cost, correct=None, **sums)

    def binned(self, starts: Ints) -> Groups:
        """Return K bins, as `merged` groups, with their lowest and highest rank."""
        if len(starts) == len(self.rank):
            return self
        high = np.maximum.reduceat(self.high, starts)
        return replace(self.merged(starts), rank=self.rank[starts], high=high)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The influence function of a number, up to a constant: intercept + slope c, (G,) each, for a sample of cost c."""

    intercept: Floats
    slope: Floats

    def influence(self, cost: FloatOrFloats) -> Floats:
        """Return the influence (G,) of one sample in each group, of these costs (G,) or of one cost."""
        return np.asarray(self.intercept + self.slope * cost)

    def times(self, factor: FloatOrFloats) -> Line:
        """Return the line of the number times a factor."""
        return Line(factor * self.intercept, factor * self.slope)

    def less_mean(self, weight: Floats, cost: Floats) -> Line:
        """Return the line less its mean over samples with these sums of w and w c (G,), or (M, G) of M numbers."""
        constant = weight * self.intercept
        varying = cost * self.slope
        total = weight.sum(axis=-1, keepdims=True)
        mean = (constant + varying).sum(axis=-1, keepdims=True) / total
        size = (np.abs(constant) + np.abs(varying)).sum(axis=-1, keepdims=True) / total
        return Line(subtract_mean(self.intercept, mean, size), self.slope)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Samples (N,) with their groups, costs, and weights w to w^4; or kinds of samples, with the sums of these."""

    group: Ints
    cost: Floats
    weight: Floats
    square: Floats
    cube: Floats
    fourth: Floats

    def influence(self, line: Line) -> Floats:
        """Return the influence (N,) of each sample on the number that a line is of."""
        slope = line.slope[self.group]
        return np.asarray(line.intercept[self.group] + slope * self.cost)


def make_rows(group: Ints, cost: Floats, weight: Floats) -> Rows:
    """Return samples (N,) with the powers of their weights."""
    square = np.square(weight)
    return Rows(group, cost, weight, square, weight * square, np.square(square))


# ---- samples -> groups -----------------------------------------------------------------------------------------------


def tie_groups(
    rank: Floats,
    candidate_cost: Floats,
    *,
    sample_weight: Floats | None = None,
) -> Groups:
    """Return samples (N,) sorted by `rank`, low to high, with weights and costs summed over ties."""
    ranked = rank
    cost = candidate_cost
    if not all_neighbours(np.less_equal, rank):
        together = None if sample_weight is not None else _sort_with_cost(rank, candidate_cost)
        if together is not None:
            ranked, cost = together
        else:
            order, ranked = sort_stably(rank)
            cost = candidate_cost.take(order)
        if sample_weight is not None:
            sample_weight = sample_weight.take(order)
    if all_neighbours(np.not_equal, ranked):
        if sample_weight is None:
            return Groups(np.broadcast_to(1.0, cost.shape), cost, ranked)
        return Groups(sample_weight, sample_weight * cost, ranked)
    starts = run_starts(ranked)
    if sample_weight is None:
        size = np.diff(starts, append=len(cost)).astype(np.float64)
        return Groups(size, np.add.reduceat(cost, starts), ranked[starts])
    weighted = sample_weight * cost
    return Groups(
        np.add.reduceat(sample_weight, starts),
        np.add.reduceat(weighted, starts),
        ranked[starts],
        correct=np.add.reduceat(sample_weight - weighted, starts),
    )


def sum_samples(
    rank: Floats,
    weight: Floats,
    cost: Floats,
    add: Callable[[Floats], Floats],
    copies: Floats | float = 1.0,
) -> Groups:
    """Return groups with the sums of `POWERS`, where `add` sums an array (N,) of samples over groups (G,).

    `rank` is (G,), `weight` and `cost` are (N,); a weight is that of all `copies` of a sample.
    """
    w = weight
    c = cost
    w2 = w * w / copies
    terms = (w, w * c, w2, w2 * c, w2 * c * c, w2 * w2 / copies)
    return Groups(rank=rank, **dict(zip(POWERS, map(add, terms), strict=True)))


def join_groups(parts: Sequence[Groups]) -> Groups:
    """Return the groups of several summaries, sorted; those whose ranges of ranks overlap become one bin."""
    low = np.concatenate([part.rank for part in parts])
    order = np.argsort(low, kind="stable")
    low = low[order]
    names = ("high", *SUMS, "next_cost")
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])[order] for name in names
    }
    is_new = np.ones(len(low), np.bool_)
    is_new[1:] = low[1:] > np.maximum.accumulate(arrays["high"])[:-1]
    return Groups(rank=low, **arrays).binned(np.flatnonzero(is_new))


def divide(above: Floats, below: Floats, otherwise: float = 0.0) -> Floats:
    """Return quotients of arrays of one shape, `otherwise` where the divisor is not positive."""
    quotient = np.full(below.shape, otherwise)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def heavy_weight(square: Floats, fourth: Floats) -> Floats:
    """Return the weight of a typical answer in a variance, root(sum of w^4 / sum of w^2); 0 if there are none."""
    return np.sqrt(divide(fourth, square))


def subtract_mean(values: Floats, mean: Floats, size: Floats) -> Floats:
    """Return values less their mean, exactly 0 where the difference is rounding: below 1e-12 of the mean size of terms.

    Others test the result for 0: whether a number depends on an answer, and whether answers of a group err together.
    """
    rest = values - mean
    return np.where(np.abs(rest) > _ROUNDING * size, rest, 0.0)


def sum_parts(part: Ints, values: Floats, count: int = 0) -> Floats:
    """Return the sums (.., H) of values (.., N) over parts, by the number (N,) of each part, H at least `count`."""
    if values.ndim == 1:
        return np.asarray(np.bincount(part, values, count), np.float64)
    return np.stack([sum_parts(part, row, count) for row in values])


# ---- areas -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Areas:
    """Sums from the least to the most uncertain sample; E_k is the cost of the first samples, of total weight k."""

    weight: float  # total
    cost: float  # total
    correct: float  # weight minus cost
    lost_pairs: float  # for the 0-1 cost: weight of pairs whose incorrect sample is less uncertain, ties 1/2
    accepted_cost: float  # area under accepted cost against accepted weight, by trapezoids
    risks: float  # sum of E_k / k over the whole numbers k up to the total weight
    first_cost: float  # E_1, or of the total weight if that is less
    last_cost: float  # cost beyond the last whole number


def _sample_areas(groups: Groups) -> Areas:
    """Return the areas of groups that are samples of weight 1, in blocks that stay in the cache."""
    lost = accepted = risks = before = 0.0
    for rows in blocks(len(groups.cost), row_size=NUMBERS_PER_SAMPLE):
        cost = groups.cost[rows]
        cost_until = np.cumsum(cost)
        cost_until += before
        last = float(cost_until[-1])
        area = cost_until.sum() - (last - before) / 2
        lost += area - np.vecdot(cost, cost_until) + np.vecdot(cost, cost) / 2
        accepted += area
        risks += np.vecdot(cost_until, 1 / np.arange(rows.start + 1.0, rows.stop + 1.0))
        before = last
    total = float(len(groups.cost))
    return Areas(
        weight=total,
        cost=before,
        correct=total - before,
        lost_pairs=lost,
        accepted_cost=accepted,
        risks=risks,
        first_cost=float(groups.cost[0]),
        last_cost=0.0,
    )


def _group_areas(groups: Groups) -> Areas:
    """Return the areas of groups of any weights, in blocks that stay in the cache."""
    lost = accepted = risks = correct = weight_before = cost_before = 0.0
    for rows in blocks(len(groups.cost), row_size=NUMBERS_PER_SAMPLE):
        weight = groups.weight[rows]
        cost = groups.cost[rows]
        right = weight - cost if groups.correct is None else groups.correct[rows]
        until = _cumulative_sum(weight, weight_before)
        cost_until = _cumulative_sum(cost, cost_before)
        # Over a group of weight w and cost c from a on, E_k = E_a + (k - a) c / w: sum E_k / k by sums of 1 / k.
        whole = np.floor(np.append(weight_before, until))
        inverse_sums = _harmonic_sums(whole)
        inside = np.diff(whole) - (until - weight) * inverse_sums
        risks += np.vecdot(cost_until - cost, inverse_sums) + np.vecdot(
            inside, cost / replace_zeros(weight)
        )
        middle = cost_until - cost / 2
        lost += np.vecdot(right, middle)
        accepted += np.vecdot(weight, middle)
        correct += right.sum()
        weight_before = float(until[-1])
        cost_before = float(cost_until[-1])
    total = weight_before
    beyond = max(total - max(math.floor(total), 1), 0.0)
    return Areas(
        weight=total,
        cost=cost_before,
        correct=float(correct),
        lost_pairs=float(lost),
        accepted_cost=float(accepted),
        risks=float(risks),
        first_cost=_leading_cost(groups.weight, groups.cost, min(total, 1.0)),
        last_cost=_leading_cost(groups.weight[::-1], groups.cost[::-1], beyond),
    )


def _cumulative_sum(values: Floats, before: float) -> Floats:
    """Return `before` plus the cumulative sums of values, rounded as if the values before were summed with them."""
    sums = values.copy()
    sums[0] += before
    return np.cumsum(sums, out=sums)


def _leading_cost(weight: Floats, cost: Floats, amount: float) -> float:
    """Return the cost of the first groups, of total weight `amount`, of the last one its share."""
    size = 64
    while size < len(weight) and weight[:size].sum() < amount:
        size *= 4
    until = np.cumsum(weight[:size])
    last = min(int(np.searchsorted(until, amount)), len(until) - 1)
    # part of the group that is not taken
    beyond = (until[last] - amount) / (weight[last] or 1.0)
    return float(np.cumsum(cost[: last + 1])[-1] - cost[last] * beyond)


def replace_zeros(values: Floats) -> Floats:
    """Return values >= 0 with 1 in place of 0, as divisors."""
    return values if values.min() > 0 else np.where(values > 0, values, 1.0)


def positive_or_nan(value: float) -> float:
    """Return a divisor if it is positive, else nan, so that the quotient is nan."""
    return value if value > 0 else math.nan


def _harmonic_sums(whole: Floats) -> Floats:
    """Return 1/(a + 1) + .. + 1/b (G,) for neighbours a and b of increasing whole numbers (G + 1,)."""
    first = whole[0]
    if whole[-1] - first > 2 * len(whole):
        return np.diff(harmonic_numbers(whole))
    terms = 1 / np.arange(first + 1, whole[-1] + 1)
    sums = np.append(0.0, np.cumsum(terms))
    return np.diff(sums[(whole - first).astype(np.int64)])


def harmonic_numbers(count: Floats) -> Floats:
    """Return 1 + 1/2 + .. + 1/k for each whole number k >= 0 in `count`."""
    y = count + 20.0  # where four terms of the asymptotic series are exact to float64
    z = 1 / np.square(y)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z / 240)))
    first_terms = np.reciprocal(np.add.outer(np.arange(1.0, 21), count)).sum(axis=0)
    return np.asarray(np.euler_gamma + np.log(y) + 0.5 / y - series - first_terms)


# ---- the sort --------------------------------------------------------------------------------------------------------


def run_starts(*keys: Array) -> Ints:
    """Return the index at which each run of samples starts whose keys (N,) are all equal."""
    differ = [key[1:] != key[:-1] for key in keys]
    is_start = np.append(True, np.logical_or.reduce(differ))
    return np.flatnonzero(is_start[: len(keys[0])])


def all_neighbours(relation: np.ufunc, values: Floats) -> bool:
    """Return whether a relation holds between each value and the next, `np.less_equal` where they are sorted."""
    return all(
        relation(values[rows], values[rows.start + 1 : rows.stop + 1]).all()
        for rows in blocks(len(values) - 1, row_size=NUMBERS_PER_SAMPLE)
    )


def sort_stably(values: Floats) -> tuple[Ints, Floats]:
    """Return the stable sorting permutation of values (N,), and the sorted values.

    As an argsort in half the time: the bits of floats of one sign are ordered as the floats. Where the last bits are
    replaced by the position of the value, a plain sort orders all values but those that differ in these bits only.
    """
    order = _approximate_order(values)
    ordered = values.take(order)
    if all_neighbours(np.less_equal, ordered):
        return order, ordered
    last = np.argsort(ordered, kind="stable")
    return order.take(last), ordered.take(last)


def _approximate_order(values: Floats) -> Ints:
    """Return an order (N,) that sorts values of one sign by all but their last bits; of two signs, no order."""
    size = len(values)
    lowest = values.min(initial=0.0)
    if lowest < 0 < values.max(initial=0.0):
        return np.arange(size)
    position = np.uint64((1 << max(size - 1, 1).bit_length()) - 1)
    keys = values.view(np.uint64) << np.uint64(1)
    if lowest < 0:
        np.invert(keys, out=keys)
    keys &= ~position
    keys |= np.arange(size, dtype=np.uint64)
    keys.sort()
    keys &= position
    return keys.view(np.int64)


def _sort_with_cost(
    values: Floats,
    cost: Floats,
) -> tuple[Floats, Floats] | None:
    """Return sorted values (N,) and their costs (N,); None unless values have one sign and costs are 0 or 1.

    One plain sort, without a permutation: the cost takes the place of the sign bit.
    """
    is_negative = bool(values.min() < 0)
    if is_negative and values.max() > 0:
        return None
    ranked = np.empty(len(values))
    ranked_cost = np.empty(len(values))
    keys = ranked.view(np.uint64)
    one = np.uint64(1)
    parts = list(blocks(len(keys), row_size=NUMBERS_PER_SAMPLE))
    for rows in parts:
        bits = _as_bits(cost[rows])
        if bits is None:
            return None
        np.left_shift(values[rows].view(np.uint64), one, out=keys[rows])
        keys[rows] |= bits
        if is_negative:  # the larger such a number, the lower it ranks
            np.invert(keys[rows], out=keys[rows])
    keys.sort()
    for rows in parts:
        if is_negative:
            np.invert(keys[rows], out=keys[rows])
        np.bitwise_and(keys[rows], one, out=ranked_cost[rows], casting="unsafe")
        keys[rows] >>= one
        if is_negative:
            np.negative(ranked[rows], out=ranked[rows])
    return ranked, ranked_cost


def _as_bits(cost: Floats) -> Array | None:
    """Return costs (N,) as integers, None unless all are 0 or 1."""
    if cost.min() < 0 or cost.max() > 1:
        return None
    bits = cost.astype(np.uint64)
    return bits if (bits == cost).all() else None

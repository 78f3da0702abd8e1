"""Samples by uncertainty: the one sort, sums over groups of equal uncertainty, and how these add up."""

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
    is_one_repeated,
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
    """Samples summed over groups of equal uncertainty (G,), from the least to the most uncertain.

    Values need the first three arrays, intervals also the sums of `POWERS`, and states all of them: a group of a state
    may be a bin of neighbours. What was not asked for is empty.
    """

    weight: Floats
    cost: Floats
    rank: Floats  # increasing `Decisions.rank`; of a bin the lowest
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
        """The cumulative weight, including each group."""
        if self.are_samples:
            return np.arange(1.0, len(self.weight) + 1)
        return np.cumsum(self.weight)

    @cached_property
    def cost_until(self) -> Floats:
        """The cumulative cost, including each group."""
        return np.cumsum(self.cost)

    @cached_property
    def weight_middle(self) -> Floats:
        """The total weight up to the middle of each group."""
        return self.weight_until - self.weight / 2

    @cached_property
    def cost_middle(self) -> Floats:
        """The total cost up to the middle of each group."""
        return self.cost_until - self.cost / 2

    @property
    def are_samples(self) -> bool:
        """Whether each group is one sample of weight 1."""
        return is_one_repeated(self.weight) and bool((self.weight[:1] == 1).all())

    @property
    def right(self) -> Floats:
        """The weight of the correct samples of each group, for the 0-1 cost."""
        return self.weight - self.cost if self.correct is None else self.correct

    @property
    def mean_cost(self) -> Floats:
        """The mean candidate cost of each group, 0 where it has no weight."""
        return self.cost if self.are_samples else self.cost / replace_zeros(self.weight)

    @cached_property
    def areas(self) -> Areas:
        """The areas of which AUROC, AURC and AUGRC are made, from one pass over the groups."""
        return _sample_areas(self) if self.are_samples else _group_areas(self)

    # ---- the spread of the samples

    @cached_property
    def total(self) -> float:
        """The weight W of all samples."""
        return float(self.weight.sum())

    @cached_property
    def unit(self) -> float:
        """The weight of one sample of as many equal ones as these are worth (Kish): sum of w^2 / W."""
        return float(self.weight2.sum()) / self.total

    @cached_property
    def positive_cost(self) -> Floats:
        """What a sample costs (G,) of those that cost anything: the mean square over the mean of their costs."""
        return divide(self.weight2_cost2, self.weight2_cost)

    @cached_property
    def weight2_costly(self) -> Floats:
        """The sum of w^2 (G,) of the samples that cost `event` each, as all that cost anything are taken to."""
        return divide(self.weight2_cost, self.positive_cost)

    @cached_property
    def weight2_free(self) -> Floats:
        """The sum of w^2 (G,) of the samples that cost nothing."""
        return np.maximum(self.weight2 - self.weight2_costly, 0.0)

    @cached_property
    def effective_counts(self) -> Floats:
        """The numbers of equal wrong, and of equal right, samples that tell as much as those of the 0-1 cost."""
        wrong = np.array([self.cost.sum(), self.weight2_cost.sum()])
        right = np.array([self.total, self.weight2.sum()]) - wrong
        weight, square = np.array([wrong, right]).T
        return divide(np.square(weight), square)

    @cached_property
    def kinds(self) -> Rows:
        """Two kinds of samples for each group, first all that cost nothing, then all that cost `event`."""
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
        """The groups with the sums of `POWERS`, of samples of weight 1 that cost 0 or 1."""
        sums = {name: self.cost if "cost" in name else self.weight for name in POWERS}
        next_cost = np.ones(len(self.weight))
        return replace(self, correct=None, next_cost=next_cost, **sums)

    @cached_property
    def costless(self) -> Groups:
        """The groups with samples that cost nothing."""
        none = np.zeros(len(self.weight))
        return replace(self, cost=none, weight2_cost=none, weight2_cost2=none)

    def mean(self, line: Line) -> float:
        """Return the mean of a line over all samples."""
        sums = self.weight * line.intercept + self.cost * line.slope
        return float(sums.sum()) / self.total

    def centred(self, line: Line) -> Line:
        """Return a line less its mean over all samples."""
        return line.less_mean(self.weight, self.cost)

    # ---- other groups

    @property
    def are_tied(self) -> Bools:
        """Which groups (G,) are samples of one rank, and no bins of neighbours."""
        return np.asarray(self.rank == self.high)

    def enlarged(self, mass: Floats, cost: FloatOrFloats) -> Groups:
        """Return the groups with a weight (G,) of samples of these costs (G,) added, for values and lines."""
        return Groups(self.weight + mass, self.cost + mass * cost, self.rank)

    def scaled(self, unit: float) -> Groups:
        """Return the groups with weights in another unit, at the same ranks."""
        powers = {name: unit**power * getattr(self, name) for name, power in POWERS.items()}
        return replace(
            self,
            **powers,
            uncertainty=unit * self.uncertainty,
            cost_uncertainty=unit * self.cost_uncertainty,
        )

    def first(self, count: int) -> Groups:
        """Return the first of them; themselves, with what is known of them, if these are all."""
        if count == len(self.rank):
            return self
        arrays = {one.name: getattr(self, one.name) for one in fields(self)}
        parts = {name: array[:count] for name, array in arrays.items() if array is not None}
        return replace(self, **parts)

    def merged(self, starts: Ints) -> Groups:
        """Return neighbours added up, from each start (K,) to the next, at their mean rank."""
        arrays = {name: getattr(self, name) for name in SUMS}
        distinct = {id(one): one for one in arrays.values() if len(one)}
        added = {place: np.add.reduceat(one, starts) for place, one in distinct.items()}
        sums = {name: added[id(one)] for name, one in arrays.items() if len(one)}
        rank = np.add.reduceat(self.rank * self.weight, starts) / sums["weight"]
        next_cost = np.maximum.reduceat(self.next_cost, starts)
        return replace(self, rank=rank, next_cost=next_cost, correct=None, **sums)

    def binned(self, starts: Ints) -> Groups:
        """Return neighbours added up, from each start (K,) to the next, with the lowest and the highest rank."""
        if len(starts) == len(self.rank):
            return self
        high = np.maximum.reduceat(self.high, starts)
        return replace(self.merged(starts), rank=self.rank[starts], high=high)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The influence of a sample of cost c on a number, up to a constant: intercept + slope c, (G,) each."""

    intercept: Floats
    slope: Floats

    def influence(self, cost: FloatOrFloats) -> Floats:
        """Return the influence (G,) of samples of these costs (G,), or of one cost."""
        return np.asarray(self.intercept + self.slope * cost)

    def times(self, factor: FloatOrFloats) -> Line:
        """Return the influence on so many times the number."""
        return Line(factor * self.intercept, factor * self.slope)

    def less_mean(self, weight: Floats, cost: Floats) -> Line:
        """Return it less its mean over samples with these sums (.., G); it may be of several numbers (M, G)."""
        constant = weight * self.intercept
        varying = cost * self.slope
        total = weight.sum(axis=-1, keepdims=True)
        mean = (constant + varying).sum(axis=-1, keepdims=True) / total
        size = (np.abs(constant) + np.abs(varying)).sum(axis=-1, keepdims=True) / total
        return Line(subtract_mean(self.intercept, mean, size), self.slope)


@dataclass(frozen=True, slots=True, eq=False)
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


def make_rows(group: Ints, cost: Floats, weight: Floats) -> Rows:
    """Return answers one by one."""
    square = np.square(weight)
    return Rows(group, cost, weight, square, weight * square, np.square(square))


# ---- samples -> groups -----------------------------------------------------------------------------------------------


def tie_groups(
    rank: Floats,
    candidate_cost: Floats,
    *,
    sample_weight: Floats | None = None,
) -> Groups:
    """Sort samples (N,) by `rank`, low to high, and sum their weights and costs over groups of ties."""
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
    """Return groups of these ranks (G,) with the sums of `POWERS` that `add` makes of samples (N,).

    A weight is that of all `copies` of a sample.
    """
    w = weight
    c = cost
    w2 = w * w / copies
    terms = (w, w * c, w2, w2 * c, w2 * c * c, w2 * w2 / copies)
    return Groups(rank=rank, **dict(zip(POWERS, map(add, terms), strict=True)))


def join_groups(parts: Sequence[Groups]) -> Groups:
    """Return the groups of several states, those of overlapping ranks as one."""
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
    """Return a quotient, and something else where the divisor is not positive."""
    quotient = np.full(below.shape, otherwise)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def heavy_weight(square: Floats, fourth: Floats) -> Floats:
    """Return the weight of the answers on which a variance rests, from sums of w^2 and w^4; 0 if there are none.

    It is the root of the mean of w^2, each answer counted by w^2, as a variance counts it.
    """
    return np.sqrt(divide(fourth, square))


def subtract_mean(values: Floats, mean: Floats, size: Floats) -> Floats:
    """Return values less the mean of terms of this mean size; 0 where that is no more than their rounding.

    Whether a number depends on an answer, and whether answers of a group err together, is asked of what remains.
    """
    rest = values - mean
    return np.where(np.abs(rest) > _ROUNDING * size, rest, 0.0)


def sum_parts(part: Ints, values: Floats, count: int = 0) -> Floats:
    """Return the sums (.., H) of values (.., N) over parts, of which there are at least `count`."""
    if values.ndim == 1:
        return np.asarray(np.bincount(part, values, count), np.float64)
    return np.stack([sum_parts(part, row, count) for row in values])


# ---- areas -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Areas:
    """Sums over groups from the least to the most uncertain; E_k is the cost of the first k of weight."""

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
    """Return the cumulative sums of values that follow others of this sum, as if all were added in a row."""
    sums = values.copy()
    sums[0] += before
    return np.cumsum(sums, out=sums)


def _leading_cost(weight: Floats, cost: Floats, amount: float) -> float:
    """Return the cost of the first `amount` of weight of groups; few groups hold it."""
    size = 64
    while size < len(weight) and weight[:size].sum() < amount:
        size *= 4
    until = np.cumsum(weight[:size])
    last = min(int(np.searchsorted(until, amount)), len(until) - 1)
    # part of the group that is not taken
    beyond = (until[last] - amount) / (weight[last] or 1.0)
    return float(np.cumsum(cost[: last + 1])[-1] - cost[last] * beyond)


def replace_zeros(values: Floats) -> Floats:
    """Return values, and 1 in place of 0: what 0 is divided by."""
    return values if values.min() > 0 else np.where(values > 0, values, 1.0)


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
    """Return the index at which each run of neighbours that are equal in all keys (N,) starts."""
    differ = [key[1:] != key[:-1] for key in keys]
    is_start = np.append(True, np.logical_or.reduce(differ))
    return np.flatnonzero(is_start[: len(keys[0])])


def all_neighbours(relation: np.ufunc, values: Floats) -> bool:
    """Return whether each value has a relation to the next one, as `np.less_equal` in a sorted array."""
    return all(
        relation(values[rows], values[rows.start + 1 : rows.stop + 1]).all()
        for rows in blocks(len(values) - 1, row_size=NUMBERS_PER_SAMPLE)
    )


def sort_stably(values: Floats) -> tuple[Ints, Floats]:
    """Return the stable sorting permutation of values (N,), and the sorted values.

    The bits of floats of one sign are ordered as the floats. The last ones make place for the position of each value:
    one plain sort of them takes half the time of an argsort. What differs in the last ones only is then
    almost in order.
    """
    order = _approximate_order(values)
    ordered = values.take(order)
    if all_neighbours(np.less_equal, ordered):
        return order, ordered
    last = np.argsort(ordered, kind="stable")
    return order.take(last), ordered.take(last)


def _approximate_order(values: Floats) -> Ints:
    """Return the order of values (N,) by as many of their bits as leave place for the position of each."""
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
    """Return values (N,) of one sign, sorted, and their costs of 0 or 1; None of others.

    The sign bit has place for the cost: one plain sort, no permutation.
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
    """Return costs (N,) of 0 and 1 as integers; None of others."""
    if cost.min() < 0 or cost.max() > 1:
        return None
    bits = cost.astype(np.uint64)
    return bits if (bits == cost).all() else None

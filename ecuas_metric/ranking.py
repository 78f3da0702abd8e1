"""The one sort by uncertainty: tie groups, resamples of them, and the areas that metrics of the order are made of."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar

import numpy as np

from .inputs import SAMPLE_SIZE, Array, FloatOrFloats, Floats, Ints, blocks, chunks

_K = TypeVar("_K", bound=Hashable)


@dataclasses.dataclass(frozen=True, eq=False)
class TieGroups:
    """Samples summed over groups of equal uncertainty (G,), from the least to the most uncertain, for weights (...)."""

    weight: Floats  # (..., G), total weight
    cost: Floats  # (..., G), weighted candidate cost
    rank: Floats  # (G,), increasing `Decisions.rank_by`
    # (..., G), exact weight of the correct ones, where `weight - cost` would round
    correct: Floats | None = None

    @cached_property
    def weight_until(self) -> Floats:
        """The cumulative weight, including each group."""
        if self.are_samples:
            return np.broadcast_to(np.arange(1.0, self.weight.shape[-1] + 1), self.weight.shape)
        return np.cumsum(self.weight, axis=-1)

    @cached_property
    def cost_until(self) -> Floats:
        """The cumulative cost, including each group."""
        return np.cumsum(self.cost, axis=-1)

    @cached_property
    def weight_middle(self) -> Floats:
        """The total weight up to the middle of each group."""
        if self.are_samples:
            return np.broadcast_to(np.arange(0.5, self.weight.shape[-1]), self.weight.shape)
        return self.weight_until - self.weight / 2

    @cached_property
    def cost_middle(self) -> Floats:
        """The total cost up to the middle of each group."""
        return self.cost_until - self.cost / 2

    @property
    def are_samples(self) -> bool:
        """Whether each group is one sample of weight 1."""
        return not any(self.weight.strides) and bool((self.weight[..., :1] == 1).all())

    @property
    def mean_cost(self) -> Floats:
        """The mean candidate cost of each group, 0 where it has no weight."""
        return self.cost if self.are_samples else self.cost / _divisor(self.weight)

    @cached_property
    def areas(self) -> Areas:
        """The areas of which AUROC, AURC and AUGRC are made, from one pass over the groups."""
        return _areas(self)


@dataclasses.dataclass(frozen=True, eq=False)
class Resamples:
    """Resamples of the same samples, as weights."""

    counts: Array  # (B, N), how often each resample holds each sample; any dtype
    sample_weight: Floats | None = None  # (N,), of each draw

    @cached_property
    def total(self) -> Floats:
        """The total weight of each resample, shape (B,)."""
        if self.sample_weight is None:
            return np.asarray(self.counts.sum(axis=-1, dtype=np.float64))
        return sum((weight.sum(axis=-1) for _, weight in self.blocks()), np.zeros(len(self.counts)))

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of samples that fit in the cache, and their weights (B, n), valid until the next."""
        count, size = self.counts.shape
        parts = list(blocks(size, row_size=max(SAMPLE_SIZE, count // 4)))
        scratch = np.empty((count, parts[0].stop))
        for rows in parts:
            weight = scratch[:, : rows.stop - rows.start]
            np.copyto(weight, self.counts[:, rows])
            if self.sample_weight is not None:
                weight *= self.sample_weight[rows]
            yield rows, weight

    def each(
        self,
        statistic: Callable[[Floats], Mapping[_K, FloatOrFloats]],
    ) -> dict[_K, Floats]:
        """Return the values of a statistic of weights (b, N) for all resamples, a few at a time."""
        parts = []
        first = 0
        for size in chunks(*self.counts.shape):
            weight = self.counts[first : first + size].astype(np.float64)
            if self.sample_weight is not None:
                weight *= self.sample_weight
            parts.append(statistic(weight))
            first += size
        return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


@dataclasses.dataclass(frozen=True, eq=False)
class ResampledTies:
    """Tie groups of bootstrap resamples, evaluated lazily; `rank_by` and `cost` (N,) are best sorted by `rank_by`."""

    rank_by: Floats
    cost: Floats
    resamples: Resamples

    @cached_property
    def areas(self) -> Areas:
        """The areas of which AUROC, AURC and AUGRC are made, (B,) each."""
        return Areas(**self.each(lambda groups: vars(groups.areas)))

    def of_rows(self, rows: Ints, weight: Floats) -> TieGroups:
        """Return the tie groups of some samples with these weights, (n,) each."""
        return tie_groups(self.rank_by[rows], self.cost[rows], sample_weight=weight)

    def each(
        self,
        statistic: Callable[[TieGroups], Mapping[_K, FloatOrFloats]],
    ) -> dict[_K, Floats]:
        """Return the values of a statistic of tie groups for all resamples, a few at a time."""

        def of_weights(weight: Floats) -> Mapping[_K, FloatOrFloats]:
            return statistic(
                tie_groups(self.rank_by, self.cost, sample_weight=weight, merge_equal_costs=True)
            )

        return self.resamples.each(of_weights)


@dataclasses.dataclass(frozen=True, eq=False)
class Areas:
    """Sums over groups from the least to the most uncertain, (...) each; E_k is the cost of the first k of weight."""

    weight: FloatOrFloats  # total
    cost: FloatOrFloats  # total
    correct: FloatOrFloats  # weight minus cost
    lost_pairs: FloatOrFloats  # for the 0-1 cost: weight of pairs whose incorrect sample is less uncertain, ties 1/2
    accepted_cost: FloatOrFloats  # area under accepted cost against accepted weight, by trapezoids
    risks: FloatOrFloats  # sum of E_k / k over the whole numbers k up to the total weight
    first_cost: FloatOrFloats  # E_1, or of the total weight if that is less
    last_cost: FloatOrFloats  # cost beyond the last whole number


def tie_groups(
    rank_by: Floats,
    candidate_cost: Floats,
    *,
    sample_weight: Floats | None = None,
    merge_equal_costs: bool = False,
) -> TieGroups:
    """Sort samples (N,) by `rank_by`, low to high, and sum their weights (..., N) and costs over groups of ties."""
    ranked = rank_by
    cost = candidate_cost
    if not holds_of_neighbours(np.less_equal, rank_by):
        together = None if sample_weight is not None else _sorted_together(rank_by, candidate_cost)
        if together is not None:
            ranked, cost = together
        else:
            order, ranked = sorted_by(rank_by)
            cost = candidate_cost.take(order)
        if sample_weight is not None:
            sample_weight = sample_weight.take(order, axis=-1)
    # merging changes no metric of the order alone
    starts, are_equal = _starts(ranked, cost, merge_equal_costs)
    if sample_weight is None:
        return _groups_of_samples(ranked, cost, starts)
    if starts is None:
        return TieGroups(sample_weight, sample_weight * cost, ranked)
    weight = np.add.reduceat(sample_weight, starts, axis=-1)
    if are_equal:
        return TieGroups(weight, weight * cost[starts], ranked[starts])
    weighted = sample_weight * cost
    correct = np.add.reduceat(sample_weight - weighted, starts, axis=-1)
    return TieGroups(weight, np.add.reduceat(weighted, starts, axis=-1), ranked[starts], correct)


def _groups_of_samples(ranked: Floats, cost: Floats, starts: Ints | None) -> TieGroups:
    """Return the tie groups of sorted samples (N,) of weight 1; each is one if there are no starts."""
    if starts is None:
        return TieGroups(np.broadcast_to(1.0, cost.shape), cost, ranked)
    weight = np.diff(starts, append=len(cost)).astype(np.float64)
    return TieGroups(weight, np.add.reduceat(cost, starts), ranked[starts])


def _areas_of_samples(groups: TieGroups) -> Areas:
    """Return the areas of groups that are samples of weight 1, in blocks that stay in the cache."""
    shape = groups.cost.shape[:-1]
    lost = np.zeros(shape)
    accepted = np.zeros(shape)
    risks = np.zeros(shape)
    cost_until = np.zeros((*shape, 1))
    for rows in blocks(groups.cost.shape[-1], row_size=SAMPLE_SIZE * math.prod(shape)):
        cost = groups.cost[..., rows]
        before = cost_until[..., -1]
        cost_until = np.cumsum(cost, axis=-1)
        cost_until += before[..., None]
        area = cost_until.sum(axis=-1) - (cost_until[..., -1] - before) / 2
        of_incorrect = np.vecdot(cost, cost_until) - np.vecdot(cost, cost) / 2
        accepted += area
        lost += area - of_incorrect
        risks += np.vecdot(cost_until, 1 / np.arange(rows.start + 1.0, rows.stop + 1.0))
    total = np.full(shape, float(groups.cost.shape[-1]))
    cost_total = cost_until[..., -1]
    return Areas(
        weight=total,
        cost=cost_total,
        correct=total - cost_total,
        lost_pairs=lost,
        accepted_cost=accepted,
        risks=risks,
        first_cost=groups.cost[..., 0],
        last_cost=np.zeros(shape),
    )


def _areas(groups: TieGroups) -> Areas:
    """Return the areas, from blocks of groups that stay in the cache, with the sums before each."""
    if groups.are_samples:
        return _areas_of_samples(groups)
    shape = groups.cost.shape[:-1]
    correct_total = np.zeros(shape)
    lost = np.zeros(shape)
    accepted = np.zeros(shape)
    risks = np.zeros(shape)
    until = np.zeros((*shape, 1))
    cost_until = np.zeros((*shape, 1))
    harmonic = np.zeros((*shape, 1))
    table = harmonic_table(groups)
    for rows in blocks(groups.cost.shape[-1], row_size=SAMPLE_SIZE * math.prod(shape)):
        weight = groups.weight[..., rows]
        cost = groups.cost[..., rows]
        correct = weight - cost if groups.correct is None else groups.correct[..., rows]
        last = until[..., -1:]
        last_harmonic = harmonic[..., -1:]
        until = last + np.cumsum(weight, axis=-1)
        cost_until = cost_until[..., -1:] + np.cumsum(cost, axis=-1)
        middle = cost_until - cost / 2
        lost += np.vecdot(correct, middle)
        accepted += np.vecdot(weight, middle)
        correct_total += correct.sum(axis=-1)
        # Over a group of weight w and cost c from a on, E_k = E_a + (k - a) c / w: sum E_k / k by sums of 1 / k.
        whole = np.floor(until)
        harmonic = harmonic_numbers(whole, table)
        inverse_sums = _steps(harmonic, last_harmonic)
        inside = _steps(whole, np.floor(last)) - (until - weight) * inverse_sums
        risks += np.vecdot(cost_until - cost, inverse_sums) + (
            inside * cost / _divisor(weight)
        ).sum(axis=-1)
    total = until[..., -1] + np.zeros(shape)
    beyond = np.maximum(total - np.maximum(np.floor(total), 1.0), 0.0)
    return Areas(
        weight=total,
        cost=cost_until[..., -1],
        correct=correct_total,
        lost_pairs=lost,
        accepted_cost=accepted,
        risks=risks,
        first_cost=_cost_of_first(groups.weight, groups.cost, np.minimum(total, 1.0)),
        last_cost=_cost_of_first(groups.weight[..., ::-1], groups.cost[..., ::-1], beyond),
    )


def _cost_of_first(weight: Floats, cost: Floats, amount: FloatOrFloats) -> FloatOrFloats:
    """Return the cost of the first `amount` of weight, shape (...), of groups; few groups hold it."""
    amount = np.asarray(amount)[..., None]
    num_groups = weight.shape[-1]
    size = min(64, num_groups)
    while size < num_groups and (weight[..., :size].sum(axis=-1, keepdims=True) < amount).any():
        size = min(4 * size, num_groups)
    weight = weight[..., :size]
    cost = cost[..., :size]
    until = np.cumsum(weight, axis=-1)
    index = np.minimum(np.count_nonzero(until < amount, axis=-1, keepdims=True), size - 1)

    def at_index(values: Floats) -> Floats:
        return np.take_along_axis(values, index, axis=-1)

    # part of the group that is not taken
    beyond = (at_index(until) - amount) / _divisor(at_index(weight))
    return (at_index(np.cumsum(cost, axis=-1)) - at_index(cost) * beyond)[..., 0]


def _divisor(weight: Floats) -> Floats:
    """Return weights, but 1 in place of 0."""
    return weight if weight.min() > 0 else np.where(weight > 0, weight, 1.0)


def _steps(values: Floats, before: Floats) -> Floats:
    """Return the differences of consecutive values, of the first one to that before, shape (..., 1)."""
    return np.diff(values, prepend=before, axis=-1)


def harmonic_numbers(count: Floats, table: Floats | None = None) -> Floats:
    """Return 1 + 1/2 + .. + 1/k for each whole number k >= 0 in `count`, from a `harmonic_table` if given."""
    if table is not None:
        return np.asarray(table[count.astype(np.int64)])
    y = count + 20.0  # where four terms of the asymptotic series are exact to float64
    z = 1 / np.square(y)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z / 240)))
    return (
        np.euler_gamma + np.log(y) + 0.5 / y - series - sum(1 / (count + k) for k in range(1, 21))
    )


def harmonic_table(groups: TieGroups) -> Floats | None:
    """Return the harmonic numbers up to the total weight of groups, None where it is larger than their number."""
    total = float(groups.weight.sum(axis=-1).max())
    if total > groups.cost.size:
        return None
    return np.append(0.0, np.cumsum(1 / np.arange(1.0, int(total) + 2)))


def _starts(
    ranked: Floats,
    cost: Floats,
    merge: bool,
) -> tuple[Ints | None, bool]:
    """Return where groups start, None if everywhere, and whether the samples of each cost the same."""
    if holds_of_neighbours(np.not_equal, ranked):
        return (run_starts(cost) if merge else None), True
    starts = run_starts(ranked)
    if not merge:
        return starts, False
    low = np.minimum.reduceat(cost, starts)
    high = np.maximum.reduceat(cost, starts)
    are_equal = low == high
    is_merged = are_equal[1:] & are_equal[:-1] & (low[1:] == low[:-1])
    return starts[np.append(True, ~is_merged)], bool(are_equal.all())


def run_starts(*keys: Array) -> Ints:
    """Return the index at which each run of neighbours that are equal in all keys (N,) starts."""
    differ = [key[1:] != key[:-1] for key in keys]
    return np.flatnonzero(np.append(True, np.logical_or.reduce(differ)))


def holds_of_neighbours(relation: np.ufunc, values: Floats) -> bool:
    """Return whether each value has a relation to the next one, as `np.less_equal` in a sorted array."""
    return all(
        relation(values[rows], values[rows.start + 1 : rows.stop + 1]).all()
        for rows in blocks(len(values) - 1, row_size=SAMPLE_SIZE)
    )


def sorted_by(values: Floats) -> tuple[Ints, Floats]:
    """Return the stable sorting permutation of values (N,), and the sorted values.

    The bits of floats of one sign are ordered as the floats. The last ones make place for the position of each value:
    one plain sort of them takes half the time of an argsort. What differs in the last ones only is then
    almost in order.
    """
    order = _nearly_sorted(values)
    ordered = values.take(order)
    if holds_of_neighbours(np.less_equal, ordered):
        return order, ordered
    last = np.argsort(ordered, kind="stable")
    return order.take(last), ordered.take(last)


def _nearly_sorted(values: Floats) -> Ints:
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


def _sorted_together(
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
    parts = list(blocks(len(keys), row_size=SAMPLE_SIZE))
    for rows in parts:
        bit = cost[rows].astype(np.uint64)
        if bit.max() > 1 or (bit != cost[rows]).any():
            return None
        np.left_shift(values[rows].view(np.uint64), one, out=keys[rows])
        keys[rows] |= bit
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


def positions(order: Ints) -> Ints:
    """Return the inverse of a permutation."""
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position

"""The one sort by uncertainty, shared by AUROC, AURC, AUGRC, the curves, recalibration and the bootstrap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .inputs import Floats, Ints


class TieGroups(NamedTuple):
    """Samples from the least to the most uncertain, summed over groups that are equally uncertain.

    Attributes
    ----------
    weight, cost : ndarray of float64, shape (..., G)
        Total weight and weighted candidate cost of each group. Leading axes stand for several sets of weights,
        as those of a bootstrap.
    weight_until, cost_until : ndarray of float64, shape (..., G)
        Their cumulative sums.
    rank : ndarray of float64, shape (G,)
        What the samples of each group share, increasing: see `Decisions.rank_by`.
    rest : ndarray of float64, shape (..., G), or None
        Weight less cost, for the 0-1 cost that of the correct samples, where it is not `weight - cost` to the last
        digit: weights of one group may differ by more than float64 can add up.
    """

    weight: Floats
    cost: Floats
    weight_until: Floats
    cost_until: Floats
    rank: Floats
    rest: Floats | None = None


def tie_groups(rank_by: Floats, candidate_cost: Floats, *, sample_weight: Floats | None = None) -> TieGroups:
    """Sort samples by `rank_by`, low to high, and sum their weights and costs over groups of ties.

    Parameters
    ----------
    rank_by : ndarray, shape (N,)
        `Decisions.rank_by`. Samples in order already are not sorted again.
    candidate_cost : ndarray, shape (N,)
    sample_weight : ndarray, shape (..., N), optional
        None weighs every sample 1.

    Returns
    -------
    TieGroups

    Examples
    --------
    >>> groups = tie_groups(np.array([0.2, 0.1, 0.2]), np.array([1.0, 0.0, 0.0]))
    >>> groups.weight.tolist(), groups.cost.tolist()
    ([1.0, 2.0], [0.0, 1.0])
    """
    if (rank_by[1:] >= rank_by[:-1]).all():
        ranked, cost = rank_by, candidate_cost
    elif sample_weight is None and _is_binary(candidate_cost) and _is_of_one_sign(rank_by):
        ranked, cost = _sorted_together(rank_by, candidate_cost)
    else:
        order = np.argsort(rank_by)
        ranked, cost = rank_by[order], candidate_cost[order]
        sample_weight = None if sample_weight is None else sample_weight[..., order]
    weight = np.broadcast_to(1.0, cost.shape) if sample_weight is None else sample_weight
    cost = cost if sample_weight is None else weight * cost
    is_new, rest = ranked[1:] != ranked[:-1], None
    if not is_new.all():
        starts = np.concatenate([[0], np.flatnonzero(is_new) + 1])
        rest = None if sample_weight is None else np.add.reduceat(weight - cost, starts, axis=-1)
        weight, cost = (np.add.reduceat(values, starts, axis=-1) for values in (weight, cost))
        ranked = ranked[starts]
    until = np.arange(1.0, len(cost) + 1) if weight.strides == (0,) else np.cumsum(weight, axis=-1)
    return TieGroups(weight, cost, until, np.cumsum(cost, axis=-1), ranked, rest)


def positions(order: Ints) -> Ints:
    """Return where each sample is in an order of them, the inverse of the permutation.

    Examples
    --------
    >>> positions(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position


def _sorted_together(rank_by: Floats, binary_cost: Floats) -> tuple[Floats, Floats]:
    """Sort by `rank_by` and take the costs along without an index.

    The bits of non-negative floats order like the floats, and leave the sign bit free to carry the cost. One
    plain sort of them is half the price of an argsort and its look-ups.
    """
    keys = np.abs(rank_by).view(np.uint64)
    keys <<= np.uint64(1)
    keys |= binary_cost > 0
    flip = ~np.uint64(0) if rank_by.min() < 0 else np.uint64(0)  # the larger a negative number, the lower it ranks
    keys ^= flip
    keys.sort()
    keys ^= flip
    cost = (keys & np.uint64(1)).astype(np.float64)
    keys >>= np.uint64(1)
    ranked = keys.view(np.float64)
    return -ranked if flip else ranked, cost


def _is_binary(cost: Floats) -> bool:
    return bool(((cost == 0) | (cost == 1)).all())


def _is_of_one_sign(values: Floats) -> bool:
    return bool(values.min() >= 0 or values.max() <= 0)

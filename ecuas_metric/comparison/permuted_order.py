"""AUROC, AURC, AUGRC and the order itself of two systems after swaps, each one's samples placed by their ranks.

A system's samples lie on a line as long as their total weight, the most confident first, each tie group on a stretch of
its own. The stretches of two systems end at the same or at other places; between two ends lies a *cell*, which belongs
to one tie group of either. A sample that was swapped lies where its own system put it, spread evenly over its stretch,
so that neither the scale of confidences nor how often each of them occurs sets two systems apart.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..inputs import Floats, Ints
from ..ranking import TieGroups
from ..results import System

SAME_PLACE = 1e-12  # ends of stretches that are as close, relative to the line, differ by rounding
ONE_KIND = 1e-14  # less of correct or incorrect samples is rounding
BY_ORDER = ("aurc", "augrc", "auroc")
Bits = npt.NDArray[np.int8]
Both = tuple[Floats, Floats]
Taken = tuple[Floats | Bits, Floats]  # weight and cost
_Weights = tuple[Floats | Bits, Floats | Bits]
_Areas = list[tuple[Floats, Floats, Floats]]


class Line(NamedTuple):
    """The samples of a system from the least to the most uncertain.

    Attributes
    ----------
    order : ndarray of int, shape (N,)
        Their positions in the order given.
    starts : ndarray of int, shape (G,), or None
        Where among them each tie group starts; None without ties.
    weight, cost : ndarray, shape (N,)
        Weight, and weight times candidate cost.
    group_weight, group_cost : ndarray, shape (G,)
    ends : ndarray, shape (G,)
        Cumulated weight.
    """

    order: Ints
    starts: Ints | None
    weight: Floats
    cost: Floats
    group_weight: Floats
    group_cost: Floats
    ends: Floats


class Cells(NamedTuple):
    """The cells of two lines.

    Attributes
    ----------
    group : tuple of two ndarrays of int, shape (C,), each or None
        The tie group of either system that each cell belongs to; None if cells are tie groups.
    share : tuple of two ndarrays, shape (C,)
        Which part of that group it is.
    cost : tuple of two ndarrays, shape (C,)
        Of either system's samples in it.
    width, until : ndarray, shape (C,)
        The weight of either system's samples in it, and its cumulative sum.
    costly : ndarray of int, shape (E,)
        The cells with a cost.
    are_samples : bool
        Whether each is one sample of either system, of weight 1.
    """

    group: tuple[Ints | None, Ints | None]
    share: Both
    cost: Both
    width: Floats
    until: Floats
    costly: Ints
    are_samples: bool


class Scores(NamedTuple):
    """What a unit of cost adds to the areas by its place on a line.

    Attributes
    ----------
    score, integral : ndarray
        To AURC, see `area_scores`.
    of_samples : tuple of ndarrays, shape (3 * (N + 1),)
        To AURC and to AUGRC, if it lies in a cell of 0, 1 or 2 samples that ends at 0, 1 .. N.
    """

    score: Floats
    integral: Floats
    of_samples: Both


def line_of(system: System) -> Line:
    """Return the line of a system whose samples are sorted; those without weight are left out."""
    decisions, weight = system.decisions, system.options.sample_weight
    size = len(decisions.uncertainty)
    weight = np.ones(size) if weight is None else weight
    kept = np.flatnonzero(weight > 0)
    order = kept if system.order is None else system.order[kept]
    ranked, weight, cost = decisions.rank_by[kept], weight[kept], (weight * decisions.candidate_cost)[kept]
    is_new = ranked[1:] != ranked[:-1]
    if is_new.all():
        return Line(order, None, weight, cost, weight, cost, np.cumsum(weight))
    starts = np.concatenate([[0], np.flatnonzero(is_new) + 1])
    group_weight, group_cost = np.add.reduceat(weight, starts), np.add.reduceat(cost, starts)
    return Line(order, starts, weight, cost, group_weight, group_cost, np.cumsum(group_weight))


def taken(line: Line, swaps: Bits) -> Taken:
    """Return the weight and the cost (b, G) that each swap, (b, N) of 0 and 1, takes from each tie group of a line."""
    of_line = swaps[:, line.order]
    cost = of_line * line.cost
    if line.starts is not None:
        return np.add.reduceat(of_line * line.weight, line.starts, axis=1), np.add.reduceat(cost, line.starts, axis=1)
    return (of_line, cost) if (line.weight == 1).all() else (of_line * line.weight, cost)


def cells_of(one: Line, other: Line) -> Cells:
    """Return the cells of two lines of equal length."""
    ends = np.sort(np.concatenate([one.ends, other.ends]))
    ends = ends[np.append(np.diff(ends) > SAME_PLACE * ends[-1], True)]
    width = np.diff(ends, prepend=0.0)
    (g, r), (h, s) = (_groups_of(line, ends, width) for line in (one, other))
    cost = one.group_cost[... if g is None else g] * r, other.group_cost[... if h is None else h] * s
    are_samples = g is None and h is None and bool((width == 1).all())
    return Cells((g, h), (r, s), cost, width, ends, np.flatnonzero(cost[0] + cost[1]), are_samples)


def order_differences(cells: Cells, ours: Taken, theirs: Taken, scores: Scores) -> dict[str, Floats]:
    """Return, for each of `BY_ORDER`, the first system's value minus the second's after swaps, shape (b,).

    Parameters
    ----------
    cells : Cells
    ours, theirs : tuple of ndarrays
        What the swaps take from the first system and from the second, see `taken`.
    scores : Scores
        Of the total weight.
    """
    at, total = cells.costly, float(cells.until[-1])
    cost = _after_swap(cells, cells.cost[0], ours[1], theirs[1], at)
    costs = cost, (cells.cost[0] + cells.cost[1])[at] - cost
    areas = _areas_of_samples if cells.are_samples else _areas_of_cells
    first, second = (_values(*found, total) for found in areas(cells, costs, (ours[0], theirs[0]), scores))
    return {name: a - b for name, a, b in zip(BY_ORDER, first, second, strict=True)}


def ties_after_swaps(cells: Cells, ours: Taken, theirs: Taken) -> tuple[TieGroups, TieGroups]:
    """Return the cells of both systems after swaps, shape (b, C), as tie groups."""
    weight = _after_swap(cells, cells.width, ours[0], theirs[0])
    cost = _after_swap(cells, cells.cost[0], ours[1], theirs[1])
    other = 2 * cells.width - weight, cells.cost[0] + cells.cost[1] - cost
    first, second = (TieGroups(w, c, cells.until) for w, c in ((weight, cost), other))
    return first, second


def area_scores(total: float) -> Both:
    r"""Return what a unit of cost adds to the AURC by its place on a line: the scores, and their integral.

    AURC is :math:`\sum_k \omega_k E_k / k` over the points k of its trapezoids, see `baselines.aurc`; a cost at place
    x counts in all :math:`E_k` with :math:`k \ge x`.

    Parameters
    ----------
    total : float
        The length of the line.

    Returns
    -------
    scores : ndarray, shape (floor(total) + 1,)
        Of the places from j to j + 1.
    integral : ndarray, of the same shape
        From 0 to j.

    Examples
    --------
    >>> scores, integral = area_scores(3.0)
    >>> scores.round(4).tolist(), integral.round(4).tolist()
    ([0.5833, 0.3333, 0.0833, 0.0], [0.0, 0.5833, 0.9167, 1.0])
    """
    if total <= 1:
        return np.full(2, 1 / total), np.array([0.0, 1 / total])
    whole = math.floor(total)
    points, rest = np.arange(1.0, whole + 1), total - whole
    trapezoids = np.ones(whole)
    trapezoids[0] -= 0.5
    trapezoids[-1] += rest / 2 - 0.5
    last = rest / 2 / total
    scores = np.append(np.cumsum((trapezoids / points)[::-1])[::-1] + last, last) / (total - 1)
    return scores, np.append(0.0, np.cumsum(scores[:-1]))


def scores_of(total: float) -> Scores:
    """Return the scores of lines of this length."""
    score, integral = area_scores(total)
    size = len(score) - 1
    end, weight = np.tile(np.arange(size + 1), 3), np.repeat(np.arange(3), size + 1)
    of_area = (integral[end] - integral[np.maximum(end - weight, 0)]) / np.maximum(weight, 1)
    past = np.append(score, score[-1]), np.append(integral, integral[-1])  # where rounding ends a line
    return Scores(*past, (of_area, (total - end + weight / 2) / total**2))


def _groups_of(line: Line, ends: Floats, width: Floats) -> tuple[Ints | None, Floats]:
    if len(ends) == len(line.ends):
        return None, np.ones_like(width)
    group = np.minimum(np.searchsorted(line.ends, ends - width / 2), len(line.ends) - 1)
    return group, width / line.group_weight[group]


def _after_swap(
    cells: Cells, before: Floats, ours: Floats | Bits, theirs: Floats | Bits, at: Ints | None = None
) -> Floats:
    """Return what the first system holds in each cell, or in the cells `at`: what it had, less ours, plus theirs."""
    held = before if at is None else before[at]
    for sign, values, group, share in zip((-1, 1), (ours, theirs), cells.group, cells.share, strict=True):
        columns = at if group is None else group if at is None else group[at]
        part = values if columns is None else values[:, columns]
        if group is not None:
            part = part * (share if at is None else share[at])
        held = held + part if sign > 0 else held - part
    return held


def _areas_of_cells(cells: Cells, costs: Both, weights: tuple[Floats | Bits, Floats | Bits], scores: Scores) -> _Areas:
    """Return cost, AURC and AUGRC of the first system and of the second after swaps."""
    at, total = cells.costly, cells.until[-1]
    weight = _after_swap(cells, cells.width, *weights)
    until = np.cumsum(weight, axis=1)[:, at]
    weight, found = weight[:, at], []
    for cost in costs:
        per_weight = np.divide(cost, weight, out=np.zeros_like(cost), where=weight > 0)
        area = np.einsum("bc,bc->b", per_weight, _integral(until, scores) - _integral(until - weight, scores))
        generalized = np.einsum("bc,bc->b", cost, total - until + weight / 2) / total**2
        found.append((cost.sum(axis=1), area, generalized))
        weight, until = 2 * cells.width[at] - weight, 2 * cells.until[at] - until
    return found


def _areas_of_samples(cells: Cells, costs: Both, swapped: _Weights, scores: Scores) -> _Areas:
    """Return the same where each cell is one sample of either system: all scores are in a table."""
    at, size = cells.costly, len(cells.width)
    weight = (1 - swapped[0] + swapped[1]).astype(np.int8, copy=False)
    row = np.cumsum(weight, axis=1, dtype=np.int32)[:, at]
    row += np.int32(size + 1) * weight[:, at]
    found = []
    for cost in costs:
        areas = (np.einsum("bc,bc->b", cost, table[row]) for table in scores.of_samples)
        found.append((cost.sum(axis=1), *areas))
        row = (2 * (at + 1) + 2 * (size + 1)).astype(np.int32) - row  # of the second system
    return found


def _values(cost: Floats, area: Floats, generalized: Floats, total: float) -> list[Floats]:
    """Return AURC, AUGRC and AUROC."""
    risk = cost / total
    pairs = risk * (1 - risk)
    # See `baselines.augrc` for what the two areas have to do with each other.
    roc = 1 - (generalized - risk**2 / 2) / np.where(pairs > ONE_KIND, pairs, np.nan)
    return [area, generalized, roc]


def _integral(place: Floats, scores: Scores) -> Floats:
    below = place.astype(np.int32)
    return scores.integral[below] + (place - below) * scores.score[below]

"""Tie groups that merge: all distinct uncertainties while they are few, and beyond that groups of neighbours.

A cell is a stretch of keys, whole numbers that order like the uncertainties. At level 0 it is a single key; at each
further level one in sixteen pairs of neighbouring cells become one, the same pairs for all data (`Ruler`). The level is
the lowest at which the cells are not too many: it depends on the set of keys alone, not on how the data was cut or in
which order its parts are merged. Cells of equal numbers of rows would bound the metrics best, but what the numbers of
rows will be is not known when two parts are merged, and a cell once joined cannot be divided again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inputs import Bools, Floats, Ints, blocks
from .sums import LIMBS, carried

HALF = int(np.float64(0.5).view(np.int64))
PLAIN_LIMIT, VALUED_LIMIT = 2**18, 2**15  # cells of a state: at most 5 MB packed


STEPS = 16  # levels in which all pairs of cells of one size become one
LINEAR = 6  # in the top octave cells are 2^(LINEAR - 2) times finer than in equal steps of the logarithm
DROPPED = 3  # bits, so that what is added to a key does not overflow


class Ruler(NamedTuple):
    """Where cells end: in steps of the logarithm close to 0, and in equal steps further up, where most rows lie.

    Attributes
    ----------
    mirrored : bool
        Whether keys are those of confidences, fine at both ends: see `keys_of`.
    top : float
        At least the largest uncertainty, or 1/2 where mirrored.
    """

    mirrored: bool
    top: float

    def distances(self, low: Ints) -> Ints:
        """Return the level from which on each key and the next one are in one cell, shape (G - 1,): 0 if equal."""
        distances = np.empty(max(len(low) - 1, 0), np.int64)
        for rows in blocks(len(distances), row_size=2):  # which stay in the cache
            keys = low[rows.start : rows.stop + 1]
            marks = self._marks(keys)
            bits = _bit_lengths(marks[1:] ^ marks[:-1])
            levels = ((marks[1:] >> bits) & (STEPS - 1)) + STEPS * bits + 1
            distances[rows] = np.where(keys[1:] == keys[:-1], 0, levels)
        return distances

    def are_apart(self, low: Ints, level: int) -> Bools:
        """Return which keys are in another cell than the one before, shape (G - 1,): `distances` above the level."""
        bits, step = divmod(level - 1, STEPS)
        if level == 0:
            return np.asarray(low[1:] != low[:-1])
        if bits == 0:
            return np.asarray(self.distances(low) > level)
        apart = np.empty(max(len(low) - 1, 0), np.bool_)
        for rows in blocks(len(apart), row_size=2):
            halves = self._marks(low[rows.start : rows.stop + 1]) >> (bits - 1)
            is_joined = (halves >> 1) & (STEPS - 1) <= step
            halves &= ~is_joined.astype(np.int64)  # both halves of what is one are the first
            apart[rows] = halves[1:] != halves[:-1]
        return apart

    def _marks(self, keys: Ints) -> Ints:
        """Return whole numbers that order like the keys: those of the logarithm and those of the number, added."""
        if not self.mirrored:
            return self._from_zero(keys)
        marks = self._from_zero(np.minimum(keys, 2 * HALF - keys))
        end = 2 * self._from_zero(np.array([HALF]))
        return np.asarray(np.where(keys <= HALF, marks, end - marks))

    def _from_zero(self, keys: Ints) -> Ints:
        share = np.minimum(keys.view(np.float64), self.top)
        share *= 2.0 ** (51 + LINEAR - DROPPED) / self.top
        marks = keys >> DROPPED
        marks += np.rint(share, out=share).astype(np.int64)
        return marks


class Cells(NamedTuple):
    """Rows from the least to the most uncertain, in cells.

    Attributes
    ----------
    level : int
        See `Ruler.distances`.
    low, high : ndarray of int64, shape (G,)
        The smallest and the largest key in each cell; if they are equal, its rows are tied.
    rows : ndarray of int64, shape (G,)
    sums : ndarray of int64, shape (1, G) or (5 * LIMBS, G)
        Incorrect rows; or, where rows have weights or costs, the digits of the sums of w, w c, w^2, w^2 c, w^2 c^2.
    """

    level: int
    low: Ints
    high: Ints
    rows: Ints
    sums: Ints


def keys_of(rank: Floats, *, mirrored: bool) -> Ints:
    """Return whole numbers in [0, 2^63) that order like `Decisions.rank_by`, one for each distinct value.

    The bits of a float64 order like it and are finest close to 0. Where `mirrored`, `rank` is minus a confidence, and
    the keys are finest at both ends: those of 1 - q (exact) down to confidence 1/2, then those of q in reverse.

    Examples
    --------
    >>> keys = keys_of(-np.array([1.0, 1 - 2**-53, 0.5, 1e-300, 0.0]), mirrored=True)
    >>> bool((np.diff(keys) > 0).all()), ranks_of(keys, mirrored=True)[[1, 3]].tolist()
    (True, [-0.9999999999999999, -1e-300])
    """
    if not mirrored:
        return (rank + 0.0).view(np.int64)  # minus 0 is 0
    keys = np.empty(len(rank), np.int64)
    for rows in blocks(len(rank)):
        confidence = 0.0 - rank[rows]
        near = np.minimum(confidence, 1 - confidence).view(np.int64)
        keys[rows] = np.where(confidence >= 0.5, near, 2 * HALF - near)
    return keys


def ranks_of(keys: Ints, *, mirrored: bool) -> Floats:
    """Return the values that have these keys, the inverse of `keys_of`."""
    if not mirrored:
        return keys.view(np.float64)
    is_high = keys <= HALF
    near = np.where(is_high, keys, 2 * HALF - keys).view(np.float64)
    return np.asarray(np.where(is_high, near - 1, 0.0 - near))


def join(parts: list[Cells], limit: int, ruler: Ruler, *, level: int = 0) -> Cells:
    """Return the cells of all rows, at the lowest level from `level` at which at most `limit`, in any order."""
    level = max(level, *(part.level for part in parts))
    if len(parts) == 1:
        return _coarsened(parts[0], level, limit, ruler)
    low = np.concatenate([part.low for part in parts])
    order = np.argsort(low, kind="stable")  # a merge, since each part is sorted
    high, rows = (np.concatenate([part[field] for part in parts])[order] for field in (2, 3))
    sums = np.concatenate([part.sums for part in parts], axis=1)[:, order]
    low = low[order]
    return _coarsened(Cells(-1, low, high, rows, sums), level, limit, ruler)


def is_exact(cells: Cells) -> bool:
    """Return whether all rows in each cell are tied, so that nothing is unknown of their order."""
    return bool((cells.low == cells.high).all())


def _coarsened(cells: Cells, level: int, limit: int, ruler: Ruler) -> Cells:
    """Return cells at a level or, where they are more than the limit, at the next one that fits."""
    if level == cells.level and len(cells.low) <= limit:
        return cells
    is_new = ruler.are_apart(cells.low, level)
    if np.count_nonzero(is_new) >= limit:
        distances = ruler.distances(cells.low)
        num_cells = 1 + np.cumsum(np.bincount(distances, minlength=64 * STEPS + 1)[::-1])[::-1]  # from level k - 1 up
        level += int(np.argmax(num_cells[level + 1 :] <= limit))
        is_new = distances > level
    return _grouped(cells._replace(level=level), is_new)


def _grouped(cells: Cells, is_new: Bools) -> Cells:
    """Add up neighbours, but where a new cell begins."""
    if is_new.all():
        return cells
    starts = np.concatenate([[0], np.flatnonzero(is_new) + 1])
    ends = np.append(starts[1:], len(cells.low)) - 1
    are_tied = cells.high is cells.low  # as those of rows are: the last key of a cell is its largest
    high = cells.high[ends] if are_tied else np.maximum.reduceat(cells.high, starts)
    sums = _differences(cells.sums, ends)
    if len(sums) > 1:
        sums = carried(sums.reshape(-1, LIMBS, len(starts))).reshape(sums.shape)
    return Cells(cells.level, cells.low[starts], high, _differences(cells.rows, ends), sums)


def _differences(columns: Ints, ends: Ints) -> Ints:
    """Return the sums of stretches, shape (..., G), faster than `add.reduceat`; what wraps around comes back."""
    return np.diff(np.cumsum(columns, axis=-1)[..., ends], axis=-1, prepend=0)


def _bit_lengths(numbers: Ints) -> Ints:
    """Return the number of bits of each whole number in [0, 2^63): what begins with 10 rounds down."""
    exponents = (numbers & ~(numbers >> 1)).astype(np.float64).view(np.int64) >> 52
    return np.asarray(np.maximum(exponents - 1022, 0))

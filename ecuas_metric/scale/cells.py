"""Tie groups that merge: all distinct uncertainties while they are few, and beyond that groups of neighbours.

A cell is a stretch of keys, whole numbers that order like the uncertainties. At level L it holds the keys that differ
in their L lowest bits only. The level is the lowest at which the cells are not too many: it depends on the set of keys
alone, not on how the data was cut or in which order its parts are merged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inputs import Bools, Floats, Ints
from .sums import LIMBS, carried

HALF = int(np.float64(0.5).view(np.int64))
PLAIN_LIMIT, VALUED_LIMIT = 2**18, 2**15  # cells of a state: at most 5 MB packed


class Cells(NamedTuple):
    """Rows from the least to the most uncertain, in cells.

    Attributes
    ----------
    level : int
        Bits of the keys that are not told apart.
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
    confidence = 0.0 - rank
    near = np.minimum(confidence, 1 - confidence).view(np.int64)
    return np.asarray(np.where(confidence >= 0.5, near, 2 * HALF - near))


def ranks_of(keys: Ints, *, mirrored: bool) -> Floats:
    """Return the values that have these keys, the inverse of `keys_of`."""
    if not mirrored:
        return keys.view(np.float64)
    is_high = keys <= HALF
    near = np.where(is_high, keys, 2 * HALF - keys).view(np.float64)
    return np.asarray(np.where(is_high, near - 1, 0.0 - near))


def join(parts: list[Cells], limit: int, *, level: int = 0) -> Cells:
    """Return the cells of all rows, at the lowest level from `level` at which at most `limit`, in any order."""
    level = max(level, *(part.level for part in parts))
    if len(parts) == 1:
        return _coarsened(_at_level(parts[0], level), limit)
    low = np.concatenate([part.low for part in parts])
    order = np.argsort(low, kind="stable")  # a merge, since each part is sorted
    high, rows = (np.concatenate([part[field] for part in parts])[order] for field in (2, 3))
    sums = np.concatenate([part.sums for part in parts], axis=1)[:, order]
    low = low[order]
    return _coarsened(_grouped(Cells(level, low, high, rows, sums), _are_apart(low, level)), limit)


def is_exact(cells: Cells) -> bool:
    """Return whether all rows in each cell are tied, so that nothing is unknown of their order."""
    return bool((cells.low == cells.high).all())


def _at_level(cells: Cells, level: int) -> Cells:
    return _grouped(cells._replace(level=level), _are_apart(cells.low, level)) if level > cells.level else cells


def _are_apart(low: Ints, level: int) -> Bools:
    """Return which keys are in another cell than those before them."""
    return np.asarray((low[1:] ^ low[:-1]) >> level > 0)


def _coarsened(cells: Cells, limit: int) -> Cells:
    if len(cells.low) <= limit:
        return cells
    apart = _bit_lengths(cells.low[1:] ^ cells.low[:-1])  # neighbours are one at this level and above
    num_cells = 1 + np.cumsum(np.bincount(apart, minlength=64)[::-1])[::-1]  # from level k - 1 up
    level = int(np.argmax(num_cells[1:] <= limit))
    return _grouped(cells._replace(level=level), apart > level)


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

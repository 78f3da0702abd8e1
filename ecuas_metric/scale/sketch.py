"""Tie groups that merge: all distinct uncertainties while they are few, and beyond that bins of neighbours.

A bin is a stretch of sort keys, whole numbers that order like the uncertainties. At level 0 it is a single key; at each
further level one in sixteen pairs of neighbouring bins become one, the same pairs for all data (`Resolution`). The
level is the lowest at which the bins are not too many: it depends on the set of keys alone, not on how the data was cut
or in which order its parts are merged.
"""

from typing import NamedTuple

import numpy as np

from ..inputs import Bools, Floats, Ints, blocks
from .exact_sum import DIGITS, carry

HALF_KEY = int(np.float64(0.5).view(np.int64))
PLAIN_LIMIT, WEIGHTED_LIMIT = 2**18, 2**15  # bins of a state: at most 4 MB in a file
STEPS = 16  # levels in which all pairs of bins of one size become one
LINEAR = 6  # in the top octave bins are 2^(LINEAR - 2) times finer than in equal steps of the logarithm
DROPPED = 3  # bits, so that what is added to a key does not overflow


class Resolution(NamedTuple):
    """Where bins end: in steps of the logarithm close to 0, and in equal steps further up, where most rows lie."""

    mirrored: bool  # keys of confidences, fine at both ends
    top: float  # at least the largest uncertainty, or 1/2 where mirrored

    def joining_levels(self, low: Ints) -> Ints:
        """Return the level from which on each key (G,) and the next one are in one bin, (G - 1,): 0 if equal."""
        levels = np.empty(max(len(low) - 1, 0), np.int64)
        for rows in blocks(len(levels), row_size=2):  # which stay in the cache
            keys = low[rows.start : rows.stop + 1]
            positions = self._positions(keys)
            bits = _bit_lengths(positions[1:] ^ positions[:-1])
            joined = ((positions[1:] >> bits) & (STEPS - 1)) + STEPS * bits + 1
            levels[rows] = np.where(keys[1:] == keys[:-1], 0, joined)
        return levels

    def are_apart(self, low: Ints, level: int) -> Bools:
        """Return which keys are in another bin than the one before, (G - 1,): `joining_levels` above the level."""
        bits, step = divmod(level - 1, STEPS)
        if level == 0:
            return np.asarray(low[1:] != low[:-1])
        if bits == 0:
            return np.asarray(self.joining_levels(low) > level)
        apart = np.empty(max(len(low) - 1, 0), np.bool_)
        for rows in blocks(len(apart), row_size=2):
            halves = self._positions(low[rows.start : rows.stop + 1]) >> (bits - 1)
            is_joined = (halves >> 1) & (STEPS - 1) <= step
            halves &= ~is_joined.astype(np.int64)  # both halves of what is one are the first
            apart[rows] = halves[1:] != halves[:-1]
        return apart

    def _positions(self, keys: Ints) -> Ints:
        """Return whole numbers that order like the keys: those of the logarithm and those of the number, added."""
        if not self.mirrored:
            return self._from_zero(keys)
        positions = self._from_zero(np.minimum(keys, 2 * HALF_KEY - keys))
        end = 2 * self._from_zero(np.array([HALF_KEY]))
        return np.asarray(np.where(keys <= HALF_KEY, positions, end - positions))

    def _from_zero(self, keys: Ints) -> Ints:
        share = np.minimum(keys.view(np.float64), self.top)
        share *= 2.0 ** (51 + LINEAR - DROPPED) / self.top
        positions = keys >> DROPPED
        positions += np.rint(share, out=share).astype(np.int64)
        return positions


class Sketch(NamedTuple):
    """Rows from the least to the most uncertain, in bins."""

    level: int
    low: Ints  # the smallest key in each bin (G,)
    high: Ints  # the largest one (G,): where they are equal, the rows are tied
    rows: Ints
    sums: Ints  # wrong rows (1, G); with weights or costs digits of w, w c, w^2, w^2 c, w^2 c^2 (5 * DIGITS, G)

    @property
    def is_exact(self) -> bool:
        """Whether all rows in each bin are tied, so that nothing is unknown of their order."""
        return bool((self.low == self.high).all())


def sort_keys(rank: Floats, *, mirrored: bool) -> Ints:
    """Return whole numbers in [0, 2^63) that order like `Decisions.rank_by` (N,), one for each distinct value."""
    if not mirrored:
        return (rank + 0.0).view(np.int64)  # minus 0 is 0
    keys = np.empty(len(rank), np.int64)
    for rows in blocks(len(rank)):
        confidence = 0.0 - rank[rows]
        near = np.minimum(confidence, 1 - confidence).view(np.int64)  # bits are finest close to 0, here at both ends
        keys[rows] = np.where(confidence >= 0.5, near, 2 * HALF_KEY - near)
    return keys


def ranks_of(keys: Ints, *, mirrored: bool) -> Floats:
    """Return the values (N,) that have these keys, the inverse of `sort_keys`."""
    if not mirrored:
        return keys.view(np.float64)
    is_high = keys <= HALF_KEY
    near = np.where(is_high, keys, 2 * HALF_KEY - keys).view(np.float64)
    return np.asarray(np.where(is_high, near - 1, 0.0 - near))


def join(parts: list[Sketch], limit: int, resolution: Resolution, *, level: int = 0) -> Sketch:
    """Return the sketch of all rows, at the lowest level from `level` at which at most `limit` bins are occupied."""
    level = max(level, *(part.level for part in parts))
    if len(parts) == 1:
        return _coarsen(parts[0], level, limit, resolution)
    low = np.concatenate([part.low for part in parts])
    order = np.argsort(low, kind="stable")  # a merge, since each part is sorted
    high, rows = (np.concatenate([part[field] for part in parts])[order] for field in (2, 3))
    sums = np.concatenate([part.sums for part in parts], axis=1)[:, order]
    return _coarsen(Sketch(-1, low[order], high, rows, sums), level, limit, resolution)


def _coarsen(sketch: Sketch, level: int, limit: int, resolution: Resolution) -> Sketch:
    """Return the sketch at a level or, where its bins are more than the limit, at the next one that fits."""
    if level == sketch.level and len(sketch.low) <= limit:
        return sketch
    is_new = resolution.are_apart(sketch.low, level)
    if np.count_nonzero(is_new) >= limit:
        levels = resolution.joining_levels(sketch.low)
        num_bins = 1 + np.cumsum(np.bincount(levels, minlength=64 * STEPS + 1)[::-1])[::-1]  # from level k - 1 up
        level += int(np.argmax(num_bins[level + 1 :] <= limit))
        is_new = levels > level
    return _group_rows(sketch._replace(level=level), is_new)


def _group_rows(sketch: Sketch, is_new: Bools) -> Sketch:
    """Add up neighbours, but where a new bin begins."""
    if is_new.all():
        return sketch
    starts = np.concatenate([[0], np.flatnonzero(is_new) + 1])
    ends = np.append(starts[1:], len(sketch.low)) - 1
    are_tied = sketch.high is sketch.low  # as those of rows are: the last key of a bin is its largest
    high = sketch.high[ends] if are_tied else np.maximum.reduceat(sketch.high, starts)
    sums = _stretch_sums(sketch.sums, ends)
    if len(sums) > 1:
        sums = carry(sums.reshape(-1, DIGITS, len(starts))).reshape(sums.shape)
    return Sketch(sketch.level, sketch.low[starts], high, _stretch_sums(sketch.rows, ends), sums)


def _stretch_sums(columns: Ints, ends: Ints) -> Ints:
    """Return the sums of stretches, shape (..., G), faster than `add.reduceat`; what wraps around comes back."""
    return np.diff(np.cumsum(columns, axis=-1)[..., ends], axis=-1, prepend=0)


def _bit_lengths(numbers: Ints) -> Ints:
    """Return the number of bits of each whole number in [0, 2^63): what begins with 10 rounds down."""
    exponents = (numbers & ~(numbers >> 1)).astype(np.float64).view(np.int64) >> 52
    return np.asarray(np.maximum(exponents - 1022, 0))

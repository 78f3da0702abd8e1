"""A state as bytes and back: versioned, checked, and the same bytes for the same rows on every machine.

``ECUAS state``, a byte of the version, the length of the header; the header as JSON; the columns of the cells, each as
numbers of 7 bits a byte (LEB128), keys as differences; and SHA-256 of all that.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..inputs import Ints
from .cells import Cells
from .settings import require_same_settings, settings_of
from .state import State, merge

MAGIC, VERSION = b"ECUAS state", 2  # to be raised whenever the cost of a row, what is summed of it or its key changes
START = struct.Struct("<11sBI")
DIGEST = 32
Bytes = NDArray[np.uint8]


def pack(state: State) -> bytes:
    """Return a state as bytes: equal where the rows are equal, however they were cut and merged.

    Parameters
    ----------
    state : State

    Returns
    -------
    bytes

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> from ecuas_metric.scale.state import state_of
    >>> state = state_of("confidences", [0.9, 0.4], [1, 0], checked_options())
    >>> pack(unpack(pack(state))) == pack(state)
    True
    """
    level, low, high, rows, sums = state.cells
    header = {
        "settings": state.settings,
        "sums": dict(state.sums),
        "largest_cost": state.largest_cost,
        "level": level,
        "cells": len(low),
        "columns": len(sums),
    }
    text = json.dumps(header, sort_keys=True).encode()
    columns = [np.diff(low, prepend=0), high - low, rows, *sums]
    body = START.pack(MAGIC, VERSION, len(text)) + text + b"".join(map(_varints, columns))
    return body + hashlib.sha256(body).digest()


def unpack(packed: bytes, *, settings: str | None = None, source: str = "a state") -> State:
    """Return the state that was packed.

    Parameters
    ----------
    packed : bytes
    settings : str, optional
        What its settings must be.
    source : str
        What to call it in errors.

    Returns
    -------
    State

    Raises
    ------
    InputError
        If it is no state, of another version, damaged, or has other settings.
    """
    if not packed.startswith(MAGIC) or len(packed) < START.size + DIGEST:
        raise InputError(source, "is not a state of ecuas")
    _, version, size = START.unpack_from(packed)
    if version != VERSION:
        raise InputError(source, f"must have version {VERSION}", value=version, advice="Score its rows again.")
    if hashlib.sha256(packed[:-DIGEST]).digest() != packed[-DIGEST:]:
        raise InputError(source, "is damaged: its checksum is another", advice="Score its rows again.")
    header = json.loads(packed[START.size : START.size + size])
    num_cells = header["cells"]
    numbers = _numbers(np.frombuffer(packed[START.size + size : -DIGEST], np.uint8))
    gaps, width, rows, *sums = numbers.reshape(3 + header["columns"], num_cells)
    low = np.cumsum(gaps)
    cells = Cells(header["level"], low, low + width, rows, np.array(sums))
    try:
        settings_of(header["settings"])
    except TypeError as error:
        raise InputError(source, f"was made with options that there are not any more: {error}") from None
    if settings is not None:
        require_same_settings(settings, header["settings"])
    return State(header["settings"], header["sums"], cells, header["largest_cost"])


def merge_packed(states: Iterable[bytes]) -> bytes:
    """Return the packed state of all rows of some packed states: what engines carry from task to task.

    Parameters
    ----------
    states : iterable of bytes
        At least one; they are taken one at a time.

    Returns
    -------
    bytes

    Raises
    ------
    InputError
        See `unpack` and `state.merge`.
    """
    found: State | None = None
    for packed in states:
        state = unpack(packed)
        found = state if found is None else merge([found, state])
    return pack(merge([] if found is None else [found]))


def _varints(values: Ints) -> bytes:
    """Return non-negative numbers in 7 bits a byte, from the lowest; all but a number's last byte have the high bit."""
    if not len(values):
        return b""
    rest = values.astype(np.uint64)
    sizes = np.ones(len(rest), np.int64)
    for count in range(1, 10):
        sizes += rest >> np.uint64(7 * count) > 0
    ends = np.cumsum(sizes)
    packed = np.empty(int(ends[-1]), np.uint8)
    for count in range(int(sizes.max())):
        some = np.flatnonzero(sizes > count)
        digit = (rest[some] >> np.uint64(7 * count)) & np.uint64(127)
        more = (sizes[some] > count + 1).astype(np.uint64) << np.uint64(7)
        packed[ends[some] - sizes[some] + count] = digit | more
    return packed.tobytes()


def _numbers(packed: Bytes) -> Ints:
    """Return the numbers that `_varints` wrote, one after the other."""
    if not len(packed):
        return np.empty(0, np.int64)
    is_last = packed < 128
    starts = np.concatenate([[0], np.flatnonzero(is_last)[:-1] + 1])
    place = np.arange(len(packed)) - np.repeat(starts, np.diff(np.append(starts, len(packed))))
    digits = (packed & 127).astype(np.uint64) << (7 * place).astype(np.uint64)
    return np.asarray(np.add.reduceat(digits, starts).astype(np.int64))

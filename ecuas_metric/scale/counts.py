"""A table of counts, one row for each confidence -> the very state of the rows that were counted."""

from __future__ import annotations

import numpy as np

from ..inputs import Array, finite, one_dimensional, require, same_length
from ..options import Options
from .state import State, merge, repeated, state_of

MOST = 2.0**53


def state_of_counts(confidence: object, count: object, wrong: object, options: Options) -> State:
    """Return the state of rows that were counted: ``SELECT confidence, COUNT(*), SUM(wrong) FROM logs GROUP BY 1``.

    Parameters
    ----------
    confidence : array_like, shape (G,)
        Distinct or not.
    count, wrong : array_like, shape (G,)
        How many rows have this confidence, and how many of them are incorrect.
    options : Options
        See `state.state_of`.

    Returns
    -------
    State
        Byte for byte that of the rows.

    Raises
    ------
    InputError
        If a count is not a whole number >= 0, or there are more incorrect rows than rows; or see `state.state_of`.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> state = state_of_counts([0.9, 0.4], [10_000_000_000, 2], [1_000_000_000, 1], checked_options())
    >>> state.rows, state.cells.sums.tolist()
    (10000000002, [[1000000000, 1]])
    """
    q = one_dimensional(np.asarray(confidence, np.float64), "predictions")
    rows, incorrect = _whole(count, "count"), _whole(wrong, "wrong")
    same_length(predictions=q, count=rows)
    same_length(count=rows, wrong=incorrect)
    require(incorrect <= rows, incorrect, "wrong", "must be at most the count")
    both = np.concatenate([q, q])
    correct = np.repeat([1, 0], len(q))
    copies = np.concatenate([rows - incorrect, incorrect])
    parts = []
    for power in range(int(copies.max()).bit_length()):
        some = (copies >> power) & 1 > 0
        if some.any():  # a number of copies is a sum of powers of 2
            parts.append(_repeated(state_of("confidences", both[some], correct[some], options), power))
    return merge(parts)


def _repeated(state: State, power: int) -> State:
    return repeated(state, power) if power <= 30 else _repeated(repeated(state, 30), power - 30)


def _whole(values: object, name: str) -> Array:
    array = one_dimensional(finite(values, name), name)
    require((array == np.floor(array)) & (array >= 0) & (array < MOST), array, name, "must be whole numbers >= 0")
    return array.astype(np.int64)

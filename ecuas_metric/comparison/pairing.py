"""Whether systems answered the same questions, and what is left of each where only the common ones are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileAdvice, InputError, Note
from ..files.submissions import Source, Submission
from ..inputs import Bools, Ints
from ..results import System

ABOUT: dict[str, Callable[[System], object]] = {
    "numbers of samples": lambda system: len(system.decisions.uncertainty),
    "numbers of classes K": lambda system: system.options.num_classes or math.inf,
    "largest uncertainties u_M": lambda system: system.decisions.max_uncertainty,
    "costs": lambda system: (
        system.options.cost if isinstance(system.options.cost, str) else system.options.cost.tobytes()
    ),
}


def unlike(systems: Mapping[str, System]) -> list[str]:
    """Return what must be the same for systems to be ranked by one number, and is not.

    Parameters
    ----------
    systems : mapping of name to System

    Returns
    -------
    list of str
        Of "numbers of samples", "numbers of classes K", "largest uncertainties u_M", "costs" and, by their ids,
        "questions".

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> unlike({"a": confidence_system([1, 0], [0.9, 0.4]), "b": confidence_system([1], [0.9])})
    ['numbers of samples']
    """
    found = [about for about, value in ABOUT.items() if len({value(system) for system in systems.values()}) > 1]
    ids = [system.ids for system in systems.values() if system.ids is not None]
    return found + ["questions"] * any(not _are_the_same(ids[0], other) for other in ids[1:])


def order_of(name: str, ids: Sequence[object], first: str, expected: Sequence[object]) -> Ints:
    """Return the positions of the expected ids of the first system among the ids of another one.

    Parameters
    ----------
    name : str
    ids : sequence
    first : str
    expected : sequence

    Returns
    -------
    ndarray of int

    Raises
    ------
    InputError
        If ids are repeated, or not the same.

    Examples
    --------
    >>> order_of("a", ["x", "7"], "b", [7, "x"]).tolist()
    [1, 0]
    """
    theirs, ours = _of_one_kind(pd.Index(ids), pd.Index(expected))
    for system, values in ((first, ours), (name, theirs)):
        if not values.is_unique:
            repeated = str(values[values.duplicated()][0])
            raise InputError(f"{system}: sample ids", "must be unique", value=repeated, got=f"{repeated!r} repeatedly")
    rows: Ints = theirs.get_indexer(ours)
    missing, extra = ours[rows < 0], theirs[~np.isin(np.arange(len(theirs)), rows)]
    if len(missing) or len(extra):
        offender = f"{str(missing[0])!r} is not in {name}" if len(missing) else f"{str(extra[0])!r} is not in {first}"
        rule = f"have different samples, and cannot be compared: {offender} "
        rule += f"({len(missing)} missing, {len(extra)} extra)"
        raise InputError(f"{first} and {name}", rule, advice=FileAdvice.COMMON)
    return rows


def whole_numbers(ids: pd.Index) -> pd.Index:
    """Return ids in the text of whole numbers as these, which are found faster; not 007, which is another than 7.

    Examples
    --------
    >>> whole_numbers(pd.Index(["7", "8"])).tolist(), whole_numbers(pd.Index(["007", "8"])).tolist()
    ([7, 8], ['007', '8'])
    """
    texts = pa.array(ids)
    try:
        numbers = pc.cast(texts, pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return ids
    return pd.Index(numbers.to_numpy()) if pc.cast(numbers, texts.type).equals(texts) else ids


def repeated_ids(ids: pd.Index | None, source: Source) -> tuple[Note, ...]:
    """Return a note if ids of one system are there more than once."""
    repeated = 0 if ids is None else len(ids) - pc.count_distinct(pa.array(ids)).as_py()
    if ids is None or not repeated:
        return ()
    fact = f"{repeated} of {len(ids)} ids in column {source.columns['ids']!r} occur more than once."
    return (Note("ids", fact),)


def in_common(submissions: Sequence[Submission]) -> list[Submission]:
    """Return submissions with the samples whose ids all of them have, and a note of how many were left out.

    Parameters
    ----------
    submissions : sequence of Submission

    Returns
    -------
    list of Submission

    Raises
    ------
    InputError
        If one has no ids, or none is common.
    """
    without = [submission.name for submission in submissions if submission.ids is None]
    if without:
        raise InputError("in_common", "needs a column of ids in every file", got=f"none for {without[0]}")
    ids = _of_one_kind(*(submission.ids for submission in submissions))
    shared = reduce(lambda one, other: one[one.isin(other)], ids)
    if not len(shared):
        raise InputError("in_common", "needs ids that all systems have; there is none")
    return [_keep(submission, own.isin(shared)) for submission, own in zip(submissions, ids, strict=True)]


def _are_the_same(ids: Sequence[object], others: Sequence[object]) -> bool:
    ours, theirs = (values.unique() for values in _of_one_kind(ids, others))
    return len(ours) == len(theirs) and bool((ours.get_indexer(theirs) >= 0).all())


def _of_one_kind(*ids: Sequence[object] | None) -> list[pd.Index]:
    """Return ids that can be joined: all whole numbers, or all text."""
    found = [pd.Index(values) for values in ids]
    are_alike = len({values.dtype for values in found}) == 1 and found[0].dtype != object  # which may hold both
    return found if are_alike else [values.astype(str) for values in found]


def _keep(submission: Submission, kept: Bools) -> Submission:
    if kept.all():
        return submission
    rows = np.flatnonzero(kept)
    fact = f"{len(kept) - len(rows)} of {len(kept)} samples left out, because other systems do not have them."
    return submission._replace(
        predictions=submission.predictions[rows],
        references=submission.references[rows],
        ids=None if submission.ids is None else submission.ids[kept],
        per_sample={name: [values[row] for row in rows] for name, values in submission.per_sample.items()},
        notes=(*submission.notes, Note("left_out", fact)),
        source=submission.source._replace(rows=submission.source.rows[rows]),
        unjudged=submission.unjudged and submission.unjudged._replace(rows=submission.unjudged.rows[rows]),
    )

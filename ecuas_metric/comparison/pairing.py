"""Whether systems answered the same questions, and their reduction to the common ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileAdvice, InputError, Note
from ..files.submissions import Source, Submission
from ..files.values import TEXT, from_numpy, from_values, positions_in, texts_in
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
    """Return the names of what must be, and is not, the same for systems to be ranked by one number.

    >>> from ecuas_metric import confidence_system
    >>> unlike({"a": confidence_system([1, 0], [0.9, 0.4]), "b": confidence_system([1], [0.9])})
    ['numbers of samples']
    """
    found = [about for about, value in ABOUT.items() if len({value(system) for system in systems.values()}) > 1]
    ids = [system.ids for system in systems.values() if system.ids is not None]
    return found + ["questions"] * any(not _are_the_same(ids[0], other) for other in ids[1:])


def order_of(name: str, ids: Sequence[object], first: str, expected: Sequence[object]) -> Ints:
    """Return the positions of the expected ids in `ids`; InputError if ids are repeated, or not the same.

    >>> order_of("a", ["x", "7"], "b", [7, "x"]).tolist()
    [1, 0]
    """
    theirs, ours = _of_one_kind(ids, expected)
    for system, values in ((first, ours), (name, theirs)):
        if (repeated := _first_repeated(values)) is not None:
            raise InputError(
                f"{system}: sample ids",
                "must be unique",
                value=repeated,
                got=f"{repeated!r} repeatedly",
                advice=FileAdvice.NAME_WHOLE_ID,
            )
    rows = positions_in(ours, theirs)
    missing, extra = ours.filter(from_numpy(rows < 0)), theirs.filter(from_numpy(positions_in(theirs, ours) < 0))
    if len(missing) or len(extra):
        offender = f"{str(missing[0])!r} is not in {name}" if len(missing) else f"{str(extra[0])!r} is not in {first}"
        rule = f"have different samples, and cannot be compared: {offender} "
        rule += f"({len(missing)} missing, {len(extra)} extra)"
        advice = FileAdvice.COMMON if (rows >= 0).any() else FileAdvice.OTHER_IDS
        raise InputError(f"{first} and {name}", rule, advice=advice)
    return rows


def whole_numbers(ids: pa.Array) -> pa.Array:
    """Return ids that are texts of whole numbers as integers, which compare faster; not 007, which differs from 7.

    >>> from ecuas_metric.files.values import from_texts
    >>> [whole_numbers(from_texts(ids)).to_pylist() for ids in (["7", "8"], ["007", "8"])]
    [[7, 8], ['007', '8']]
    """
    if len(ids) and not str(ids[0]).lstrip("-").isdecimal():  # casting visits all of them
        return ids
    try:
        numbers = ids.cast(pa.int64())
    except pa.ArrowInvalid:
        return ids
    return numbers if numbers.cast(ids.type).equals(ids) else ids


def repeated_ids(ids: pa.Array | None, source: Source) -> tuple[Note, ...]:
    """Return a note if ids of one system are there more than once."""
    repeated = 0 if ids is None else len(ids) - len(ids.unique())
    if ids is None or not repeated:
        return ()
    fact = f"{repeated} of {len(ids)} ids in column {source.columns['ids']!r} occur more than once."
    return (Note("ids", fact, "" if "groups" in source.columns else FileAdvice.GROUP_REPEATED),)


def in_common(submissions: Sequence[Submission]) -> list[Submission]:
    """Return submissions reduced to the ids that all have, with a note on those left out; InputError if none."""
    without = [submission.name for submission in submissions if submission.ids is None]
    if without:
        raise InputError("in_common", "needs a column of ids in every file", got=f"none for {without[0]}")
    ids = _of_one_kind(*(submission.ids for submission in submissions if submission.ids is not None))
    shared = reduce(lambda one, other: one.filter(from_numpy(positions_in(one, other) >= 0)), ids)
    if not len(shared):
        rule = "needs ids that all systems have; there is none"
        raise InputError("in_common", rule, advice=FileAdvice.OTHER_IDS)
    return [_keep(submission, positions_in(own, shared) >= 0) for submission, own in zip(submissions, ids, strict=True)]


def _are_the_same(ids: Sequence[object], others: Sequence[object]) -> bool:
    ours, theirs = (pc.unique(values) for values in _of_one_kind(ids, others))
    return len(ours) == len(theirs) and bool((positions_in(theirs, ours) >= 0).all())


def _of_one_kind(*ids: Sequence[object] | pa.Array) -> list[pa.Array]:
    """Return ids that can be joined: all whole numbers, or all text."""
    found = [values if isinstance(values, pa.Array) else from_values(list(values)) for values in ids]
    kinds = {values.type for values in found}
    return found if kinds in ({pa.int64()}, {TEXT}) else [texts_in(values) for values in found]


def _first_repeated(ids: pa.Array) -> str | None:
    """Return the first id that was there before, or None."""
    if len(ids.unique()) == len(ids):
        return None
    counts = Counter(ids.to_pylist())
    return next(str(value) for value, count in counts.items() if count > 1)


def _keep(submission: Submission, kept: Bools) -> Submission:
    if kept.all():
        return submission
    rows = np.flatnonzero(kept)
    fact = f"{len(kept) - len(rows)} of {len(kept)} samples left out, because other systems do not have them."
    return submission._replace(
        predictions=submission.predictions[rows],
        references=submission.references[rows],
        ids=None if submission.ids is None else submission.ids.filter(from_numpy(kept)),
        per_sample={name: [values[row] for row in rows] for name, values in submission.per_sample.items()},
        notes=(*submission.notes, Note("left_out", fact)),
        source=submission.source._replace(rows=submission.source.rows[rows]),
        unlabelled=submission.unlabelled and submission.unlabelled._replace(rows=submission.unlabelled.rows[rows]),
    )

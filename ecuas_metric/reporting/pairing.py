"""Whether systems answered the same questions, and what is left of each where only the common ones are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..errors import InputError, Note
from ..results import System
from .submissions import Submission

ABOUT: dict[str, Callable[[System], object]] = {
    "numbers of samples": lambda system: len(system.decisions.uncertainty),
    "questions": lambda system: None if system.ids is None else frozenset(system.ids),
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
        Of "numbers of samples", "questions" (by their ids), "numbers of classes K", "largest uncertainties u_M",
        "costs".

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> unlike({"a": confidence_system([1, 0], [0.9, 0.4]), "b": confidence_system([1], [0.9])})
    ['numbers of samples']
    """
    found = {about: {value(system) for system in systems.values()} for about, value in ABOUT.items()}
    return [about for about, values in found.items() if len(values - {None}) > 1]


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
        raise InputError("--common", "needs a column of ids in every file", got=f"none for {without[0]}")
    shared = set.intersection(*(set(submission.ids or ()) for submission in submissions)) if submissions else set()
    if not shared:
        raise InputError("--common", "needs ids that all systems have; there is none")
    return [_keep(submission, shared) for submission in submissions]


def _keep(submission: Submission, shared: set[str]) -> Submission:
    ids = submission.ids or []
    kept = np.array([value in shared for value in ids])
    if kept.all():
        return submission
    rows = np.flatnonzero(kept)
    fact = f"{len(ids) - len(rows)} of {len(ids)} samples left out, which other systems do not have."
    return submission._replace(
        predictions=submission.predictions[rows],
        references=submission.references[rows],
        ids=[ids[row] for row in rows],
        per_sample={name: [values[row] for row in rows] for name, values in submission.per_sample.items()},
        notes=(*submission.notes, Note("left_out", fact)),
        source=submission.source._replace(rows=submission.source.rows[rows]),
        unjudged=submission.unjudged and submission.unjudged._replace(rows=submission.unjudged.rows[rows]),
    )

"""Samples to which a system gives no answer, whose cost is the reject cost, whatever that is.

It is 1 in ECUAS_n for every n, as that of an answer of u = u_M. They count as wrong in the error rate, are accepted by
nobody, and are left out where confidences alone are assessed.
"""

from __future__ import annotations

import numpy as np

from .decisions import Decisions, select_rows
from .errors import Note
from .groups import Groups
from .inputs import Array, Bools, parse_numbers
from .options import Options, select_options


def where_answered(values: object, abstained: Bools | None, name: str) -> object:
    """Return values (N,) with 0 in place of what stands where a system abstains; others unchanged."""
    if abstained is None:
        return values
    array: Array = parse_numbers(values, name)
    return np.where(abstained, 0, array) if array.shape == abstained.shape else array


def answered_count(rank: Array) -> int:
    """Return how many groups of confidences (G,), by increasing rank, are of answers: abstentions are the last."""
    return int(np.searchsorted(rank, 0.0, side="right"))


def answered_groups(ties: Groups) -> Groups:
    """Return the groups of answers alone."""
    return ties.first(answered_count(ties.rank))


def answered_samples(decisions: Decisions, options: Options) -> tuple[Decisions, Options]:
    """Return the samples that a system answers, and their options."""
    rows = np.flatnonzero(~decisions.abstained)
    return select_rows(decisions, rows), select_options(options, rows)


def note_abstentions(
    ties: Groups, template: Decisions, count: int | None = None
) -> tuple[Note, ...]:
    """Return a note on abstentions, as many as `count`, with the error rate of the answers, if there are any."""
    if not template.has_only_confidences:
        return ()
    answered = answered_groups(ties)
    if len(answered.rank) == len(ties.rank):
        return ()
    weight = float(answered.weight.sum())
    share = 1 - weight / float(ties.weight.sum())
    risk = float(answered.cost.sum()) / weight if weight > 0 else 1.0
    unanswered = (
        f"{share:.1%} of the samples" if count is None else f"{count:,} samples ({share:.1%})"
    )
    fields = {"unanswered": unanswered, "share": share, "wrong": risk}
    return (Note("abstentions", fields),)

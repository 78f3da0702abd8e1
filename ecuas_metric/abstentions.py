"""Abstentions: samples to which a system gives no answer. Their cost is the reject cost, whatever that is.

In ECUAS_n it is 1 for every n, as for u = u_M. Abstentions count as wrong in the error rate, are rejected at every
reject cost, and are left out of metrics that assess confidences alone.
"""

from __future__ import annotations

import numpy as np

from .decisions import Decisions, select_rows
from .errors import Note
from .groups import Groups
from .inputs import Array, Bools, parse_numbers
from .options import Options, select_options


def zero_abstentions(values: object, abstained: Bools | None, name: str) -> object:
    """Return values (N,) with 0 for samples where a system abstains; values of another shape unchanged."""
    if abstained is None:
        return values
    array: Array = parse_numbers(values, name)
    return np.where(abstained, 0, array) if array.shape == abstained.shape else array


def count_answered_groups(rank: Array) -> int:
    """Return the number of groups of confidences that are answers, from ranks (G,): those above 0 are abstentions."""
    return int(np.searchsorted(rank, 0.0, side="right"))


def select_answered_groups(ties: Groups) -> Groups:
    """Return the groups of confidences without abstentions."""
    return ties.first(count_answered_groups(ties.rank))


def select_answered_samples(decisions: Decisions, options: Options) -> tuple[Decisions, Options]:
    """Return the decisions without abstentions, and the options for these samples."""
    rows = np.flatnonzero(~decisions.abstained)
    return select_rows(decisions, rows), select_options(options, rows)


def note_abstentions(
    ties: Groups, template: Decisions, count: int | None = None
) -> tuple[Note, ...]:
    """Return a note on abstentions, if there are any: `count` (if known), share, and error rate of the answers."""
    if not template.has_only_confidences:
        return ()
    answered = select_answered_groups(ties)
    if len(answered.rank) == len(ties.rank):
        return ()
    weight = float(answered.weight.sum())
    share = 1 - weight / float(ties.weight.sum())
    risk = float(answered.cost.sum()) / weight if weight > 0 else 1.0
    unanswered = (
        f"{share:.1%} of the samples"
        if count is None
        else f"{count:,} sample{'s' * (count != 1)} ({share:.1%})"
    )
    fields = {"unanswered": unanswered, "share": share, "wrong": risk}
    return (Note("abstentions", fields),)

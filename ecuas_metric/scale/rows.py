"""Arrays of rows -> their summary, in the unit of the weights that are given, so that summaries may be merged."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import inputs
from ..basis import UNKNOWN, Origin
from ..costs import above
from ..errors import InputError, Note
from ..inputs import Array, Floats, Ints, require, same_length
from ..options import PER_SAMPLE, Options, checked_options, is_set, require_counts
from ..results import System, prepare
from ..summary import Summary, summary_of

# The options that a state depends on; all others are for reading it.
OF_COSTS = (
    "n",
    "num_classes",
    "predictions_are",
    "renormalize",
    "cost",
    "max_uncertainty",
    "reject_costs",
)
# weights but 0 of a state, whose fourth powers are added up in the unit in which they come
LEAST_WEIGHT = 1e-70
LARGEST_WEIGHT = 1e70
STATE_OPTIONS = (*OF_COSTS, "missing_confidence", "n_bins", "epsilon", "weights_are")


def state_options(**given: object) -> Options:
    """Return checked options of a state; TypeError if it does not depend on one that is given."""
    for name in given:
        if name not in STATE_OPTIONS:
            raise TypeError(
                f"a state takes no option {name!r}; it takes {', '.join(STATE_OPTIONS)}"
            )
    return checked_options(**given)


def state_of(
    form: str,
    predictions: object,
    references: object,
    options: Options,
    *,
    sample_weight: object = None,
    copies: Floats | None = None,
    origin: Origin = UNKNOWN,
) -> Summary:
    """Return the summary of some rows.

    `form` and arrays are those of `evaluate`: confidences (N,) and 0 or 1; posteriors (N, K) and classes; or
    uncertainties (N,) and candidate costs. Options come from `options.checked_options`, with `decisions` of these rows,
    and without weights, groups and strata. Summaries that are to be merged have all weights (N,), or none. Each row
    stands for as many as `copies` (N,) says. InputError as by `evaluate`.
    """
    for name in PER_SAMPLE:
        if is_set(options, name):
            advice = "pass_weights_to_state" if name == "sample_weight" else "score_all_in_memory"
            raise InputError(name, "not_with_a_state", advice=advice)
    is_positive = options.predictions_are == "positive_probabilities"
    check = inputs.FORM_CHECKS["confidences" if is_positive else form]
    predictions, references = check(predictions, references)
    weight = None if sample_weight is None else _checked_weights(sample_weight, references, options)
    system = prepare(form, predictions, references, options, rank=False)
    notes = system.notes if copies is None else _recounted(system, predictions, copies)
    system = replace(system, notes=notes, origin=origin)
    return summary_of(system, sample_weight=weight, copies=copies)


def state_of_counts(
    confidence: object, count: object, wrong: object, options: Options, *, origin: Origin = UNKNOWN
) -> Summary:
    """Return the summary of counted rows: ``SELECT confidence, COUNT(*), SUM(wrong) FROM logs GROUP BY 1``."""
    q = inputs.one_dimensional(np.asarray(confidence, np.float64), "predictions")
    groups = groups_of_counts(count, wrong)
    same_length(predictions=q, count=np.asarray(count))
    places = groups.place
    try:
        return state_of(
            "confidences",
            q[places],
            groups.correct,
            options,
            copies=groups.copies,
            origin=origin,
        )
    except InputError as error:
        if isinstance(error.index, int) and error.argument == "predictions":
            error.index = int(places[error.index])
            error.count = error.total = None  # of groups
        raise


class CountedGroups(NamedTuple):
    """The right ones of counted rows, and the wrong ones: where they stand (G,), whether they are right, how many."""

    place: Ints
    correct: Ints
    copies: Floats


def groups_of_counts(count: object, wrong: object) -> CountedGroups:
    """Return the groups of rows that are counted (N,), those that are none left out; InputError if one is no count."""
    rows = _whole(count, "count")
    incorrect = _whole(wrong, "wrong")
    same_length(count=rows, wrong=incorrect)
    require(incorrect <= rows, incorrect, "wrong", "more_wrong_than_rows")
    copies = np.concatenate([rows - incorrect, incorrect])
    occur = np.flatnonzero(copies)
    is_right = occur < len(rows)
    return CountedGroups(
        np.where(is_right, occur, occur - len(rows)),
        is_right.astype(np.int64),
        copies[occur],
    )


def _recounted(
    system: System,
    predictions: Array,
    copies: Floats,
) -> tuple[Note, ...]:
    """Return the notes of a system of confidences (N,), each of which stands for several."""
    decisions = system.decisions
    noted = {
        "missing": np.isnan(predictions),
        "clipped": (predictions < 0) | (predictions > 1),
        "above_max_uncertainty": above(decisions.uncertainty, decisions.max_uncertainty),
    }
    total = int(copies.sum())
    notes = []
    for note in system.notes:
        fields = dict(note.fields)
        if note.id in noted:
            count = int(copies[noted[note.id]].sum())
            shares = {"share": count / total} if "share" in fields else {}
            fields |= {"count": count, "total": total, **shares}
        notes.append(replace(note, fields=fields))
    return tuple(notes)


def _checked_weights(sample_weight: object, references: Array, options: Options) -> Floats:
    name = "sample_weight"
    weight = inputs.non_negative(
        inputs.one_dimensional(inputs.numbers(sample_weight, name), name), name
    )
    same_length(predictions=references, sample_weight=weight)
    is_within = (weight >= LEAST_WEIGHT) & (weight <= LARGEST_WEIGHT)
    require(is_within | (weight == 0), weight, name, "weight_out_of_range")
    if options.weights_are == "counts":
        require_counts(weight)
    return weight


def _whole(values: object, name: str) -> Floats:
    numbers = inputs.one_dimensional(np.asarray(values, np.float64), name)
    is_count = (numbers >= 0) & (numbers == np.floor(numbers)) & (numbers < np.inf)
    require(is_count, numbers, name, "not_whole_and_non_negative")
    return numbers

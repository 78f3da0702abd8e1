"""Arrays of rows -> their summary, with weights in the user's unit, so that summaries can be merged."""

from __future__ import annotations

from dataclasses import replace

from .. import inputs
from ..basis import UNKNOWN, Origin
from ..classes import sort_columns
from ..errors import InputError
from ..inputs import Array, Floats, require, require_same_length, require_same_order
from ..options import PER_SAMPLE, Options, checked_options, is_set, require_counts
from ..results import prepare_system
from ..summary import Summary, summarize_system

# The options that a state depends on; all others are for reading it.
STATE_OPTIONS = (
    "n",
    "num_classes",
    "predictions_are",
    "renormalize",
    "cost",
    "max_uncertainty",
    "reject_costs",
    "missing_confidence",
    "n_bins",
    "epsilon",
    "weights_are",
)
# weights but 0 of a state, whose fourth powers are added up in the unit in which they come
LEAST_WEIGHT = 1e-70
LARGEST_WEIGHT = 1e70


def check_state_options(**raw: object) -> Options:
    """Return checked options; TypeError for one that is not of `STATE_OPTIONS`."""
    for name in raw:
        if name not in STATE_OPTIONS:
            raise TypeError(
                f"a state takes no option {name!r}; it takes {', '.join(STATE_OPTIONS)}"
            )
    return checked_options(**raw)


def state_of(
    form: str,
    predictions: object,
    references: object,
    options: Options,
    *,
    sample_weight: object = None,
    origin: Origin = UNKNOWN,
) -> Summary:
    """Return the summary of rows in arrays.

    `form` and arrays are those of `evaluate`: confidences (N,) and 0 or 1; posteriors (N, K) and classes; or
    uncertainties (N,) and candidate costs. Options come from `options.checked_options`, with `decisions` of these rows,
    and without weights, groups and strata. Summaries that are to be merged have all weights (N,), or none.
    InputError as by `evaluate`.
    """
    for name in PER_SAMPLE:
        if name != "abstained" and is_set(options, name):
            advice = "Pass weights to state_of." if name == "sample_weight" else "Score in memory."
            raise InputError(name, "cannot be used with a state", advice=advice)
    require_same_order(predictions=predictions, references=references, sample_weight=sample_weight)
    is_positive = options.predictions_are == "positive_probabilities"
    check = inputs.FORM_CHECKS["confidences" if is_positive else form]
    predictions, references = check(sort_columns(predictions), references)
    weight = None if sample_weight is None else _checked_weights(sample_weight, references, options)
    system = prepare_system(form, predictions, references, options, sort=False)
    return summarize_system(replace(system, origin=origin), sample_weight=weight)


def _checked_weights(sample_weight: object, references: Array, options: Options) -> Floats:
    name = "sample_weight"
    weight = inputs.check_non_negative(inputs.parse_vector(sample_weight, name), name)
    require_same_length(predictions=references, sample_weight=weight)
    is_within = (weight >= LEAST_WEIGHT) & (weight <= LARGEST_WEIGHT)
    require(
        is_within | (weight == 0),
        weight,
        name,
        "must be 0 or lie in [1e-70, 1e70], in any other unit",
    )
    if options.weights_are == "counts":
        require_counts(weight)
    return weight

"""Checked arrays and options -> every number under its key. What the adapter and the reports have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .decisions import Graded, grade_confidences, grade_costs, grade_posteriors, select
from .decomposition import recalibrated_scores
from .inputs import FloatOrFloats, Floats, check_posteriors, fill_missing, labels
from .intervals import Resampling, intervals
from .metrics import scores
from .naive import naive_confidence_scores, naive_posterior_scores, normalized_scores
from .options import checked_reject_costs, cost_matrix, memberships, refuse_options_of_other_forms, sample_weights
from .signature import signature


class System(NamedTuple):
    """A graded system, the options as its data resolve them (K, reject costs, weights, groups, strata), signature."""

    graded: Graded
    options: dict[str, Any]
    signature: str


def results(
    form: str, predictions: NDArray[Any], references: NDArray[Any], options: dict[str, Any]
) -> dict[str, float]:
    """Compute all metrics of a system, with intervals if there is a ``confidence_level``.

    Parameters
    ----------
    form, predictions, references, options
        As of `prepare`.

    Returns
    -------
    dict of str to float
    """
    return results_of(prepare(form, predictions, references, options))


def results_of(system: System, *, progress: bool = False) -> dict[str, float]:
    """Compute all metrics of a prepared system, with intervals if there is a ``confidence_level``."""
    values = {key: float(value) for key, value in values_of(system, system.options["sample_weight"]).items()}
    if system.options["confidence_level"] is None:
        return values
    limits = interval_of(system, progress=progress)
    return values | {f"{key}_{end}": limits[key][i] for key in values for i, end in enumerate(("low", "high"))}


def prepare(form: str, predictions: NDArray[Any], references: NDArray[Any], options: dict[str, Any]) -> System:
    """Grade a system's output and resolve the options that depend on the data.

    Parameters
    ----------
    form : {"confidences", "posteriors", "graded"}
        What the arrays are.
    predictions, references : ndarray
        As the function of `inputs` with the name of the form returns them.
    options : dict
        Of `options.checked_options`.
    """
    refuse_options_of_other_forms(form, options)
    graded, num = _grade(form, predictions, references, options), len(references)
    resolved = {
        "num_classes": predictions.shape[1] if form == "posteriors" else options["num_classes"],
        "reject_costs": checked_reject_costs(options["reject_costs"], max_uncertainty=graded.max_uncertainty),
        "sample_weight": sample_weights(options["sample_weight"], num_samples=num),
        "groups": memberships(options["groups"], "groups", num_samples=num),
        "strata": memberships(options["strata"], "strata", num_samples=num),
    }
    line = signature(options, num_classes=resolved["num_classes"])
    return System(graded, options | resolved, line)


def values_of(system: System, sample_weight: Floats | None) -> dict[str, FloatOrFloats]:
    """Compute every metric of a system, for each set of weights (..., N)."""
    graded, options, _ = system
    settings = {name: options[name] for name in ("n", "reject_costs", "epsilon")} | {"sample_weight": sample_weight}
    values = scores(graded, n_bins=options["n_bins"], **settings)
    if options["normalize"]:
        naive = naive_confidence_scores(values["error_rate"]) if graded.confidence is not None else {}
        if graded.labels is not None:
            classes = {name: options[name] for name in ("num_classes", "cost")}
            limit = graded.max_uncertainty
            naive |= naive_posterior_scores(graded.labels, max_uncertainty=limit, **classes, **settings)
        values |= normalized_scores(values, naive)
    if options["decompose"]:
        del settings["reject_costs"]
        for key, best in recalibrated_scores(graded, **settings).items():
            ecuas_key = key.removesuffix("_recalibrated")
            values |= {key: best, f"{ecuas_key}_calibration_loss": values[ecuas_key] - best}
    return values


def interval_of(system: System, *, progress: bool = False) -> dict[str, tuple[float, float]]:
    """Return the bootstrap interval of every metric of a system, as its options ask for."""
    system = take(system, by_uncertainty(system))
    weight, options = system.options["sample_weight"], system.options
    return intervals(
        lambda counts: values_of(system, counts if weight is None else counts * weight),
        len(system.graded.uncertainty),
        resampling=resampling_of(system),
        confidence_level=options["confidence_level"],
        method=options["interval_method"],
        progress=progress,
    )


def by_uncertainty(system: System) -> NDArray[np.int64]:
    """Return the order of the samples' uncertainties: of a system taken in it, no resample has to sort again."""
    return np.argsort(system.graded.rank_by, kind="stable")


def take(system: System, order: NDArray[np.int64]) -> System:
    """Return the samples of a system in another order."""
    per_sample = {name: system.options[name] for name in ("sample_weight", "groups", "strata")}
    reordered = {name: None if values is None else values[order] for name, values in per_sample.items()}
    return System(select(system.graded, order), system.options | reordered, system.signature)


def resampling_of(system: System) -> Resampling:
    """Return how the options of a system say to resample it."""
    return Resampling(*(system.options[name] for name in ("n_resamples", "random_state", "groups", "strata")))


def _grade(form: str, predictions: NDArray[Any], references: NDArray[Any], options: dict[str, Any]) -> Graded:
    if form == "confidences":
        confidence = fill_missing(predictions, missing_confidence=options["missing_confidence"])
        return grade_confidences(confidence, references, num_classes=options["num_classes"])
    if form == "graded":
        if options["max_uncertainty"] is None:
            raise ValueError("max_uncertainty is missing: the uncertainty of a system that knows nothing.")
        return grade_costs(predictions, references, max_uncertainty=options["max_uncertainty"])
    check_posteriors(predictions, predictions_are=options["predictions_are"])
    return grade_posteriors(
        predictions,
        references,
        predictions_are=options["predictions_are"],
        cost=options["cost"],
        decisions=_decisions(options["decisions"], options["cost"], predictions),
        epsilon=options["epsilon"],
    )


def _decisions(values: Any, cost: Any, predictions: NDArray[Any]) -> NDArray[Any] | None:
    if values is None:
        return None
    if isinstance(cost, str) and cost == "log":
        raise ValueError("decisions do not go with cost='log', where the decision is the posterior itself.")
    num_samples, num_classes = predictions.shape
    num_decisions = num_classes if isinstance(cost, str) else cost_matrix(cost, num_classes=num_classes).shape[1]
    return labels(values, "decisions", num_classes=num_decisions, num_samples=num_samples)

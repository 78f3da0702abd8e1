"""Checked arrays and options -> every number under its key. What the adapter and the reports have in common."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from .decisions import Graded, grade_confidences, grade_costs, grade_posteriors
from .inputs import check_posteriors, fill_missing, labels
from .metrics import scores
from .naive import naive_confidence_scores, naive_posterior_scores, normalized_scores
from .options import cost_matrix, refuse_options_of_other_forms, reject_costs, sample_weights
from .recalibration import recalibrated_scores


def results(
    form: str, predictions: NDArray[Any], references: NDArray[Any], options: dict[str, Any]
) -> dict[str, float]:
    """Compute all metrics of a system.

    Parameters
    ----------
    form : {"confidences", "posteriors", "graded"}
        What the arrays are.
    predictions, references : ndarray
        As the function of `inputs` with the name of the form returns them.
    options : dict
        Of `options.checked_options`.

    Returns
    -------
    dict of str to float
    """
    system = grade(form, predictions, references, options)
    weights = sample_weights(options["sample_weight"], num_samples=len(references))
    settings = {
        "n": options["n"],
        "reject_costs": reject_costs(options["reject_costs"], max_uncertainty=system.max_uncertainty),
        "epsilon": options["epsilon"],
        "sample_weight": weights,
    }
    values = scores(system, n_bins=options["n_bins"], **settings)
    if options["normalize"]:
        naive = naive_confidence_scores(system, sample_weight=weights) if system.confidence is not None else {}
        if form == "posteriors":
            num_classes = predictions.shape[1]
            naive |= naive_posterior_scores(references, num_classes=num_classes, cost=options["cost"], **settings)
        values |= normalized_scores(values, naive)
    if options["decompose"]:
        for key, best in recalibrated_scores(
            system, n=options["n"], epsilon=options["epsilon"], sample_weight=weights
        ).items():
            ecuas_key = key.removesuffix("_recalibrated")
            values |= {key: best, f"{ecuas_key}_calibration_loss": values[ecuas_key] - best}
    return {key: float(value) for key, value in values.items()}


def grade(form: str, predictions: NDArray[Any], references: NDArray[Any], options: dict[str, Any]) -> Graded:
    """Grade a system's output by the function of `decisions` for its form; parameters as of `results`."""
    refuse_options_of_other_forms(form, options)
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

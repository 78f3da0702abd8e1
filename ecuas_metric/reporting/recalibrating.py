"""Systems recalibrated by cross-validation, each beside its original: ranking and calibration are seen apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from ..audit import refuse_audit
from ..decisions import log_softmax
from ..errors import InputError, Note
from ..files.submissions import Submission, add_location
from ..files.systems import prepare_submission
from ..files.values import are_unique
from ..inputs import Array, Floats
from ..options import Options
from ..recalibration import FOLDS
from ..recalibration.maps import (
    FOLD_SEED,
    TWO_CLASS_METHODS,
    Recalibration,
    cross_validated,
    find_floor,
    fit_to_logs,
    raise_zeros,
    require_classes,
    stratified_folds,
    to_log_posteriors,
)
from ..results import System
from .report import Systems


def add_recalibrated(
    systems: Systems,
    submissions: Iterable[Submission],
    *,
    method: str,
    folds: int = FOLDS,
    **options: object,
) -> tuple[dict[str, System], list[Submission]]:
    """Add to each system its recalibrated version; every sample is recalibrated by a fit on the other folds.

    Confidences are recalibrated as log-posteriors of right and wrong, or like posteriors of two classes. Folds are
    stratified by the true class, or by correctness, and keep groups together, or else the samples of each id. The fits
    use the weights, and intervals do not include their uncertainty. `options` are those that `systems` were prepared
    with. Also return the submissions that all these are of, the recalibrated ones with the names of their systems.
    """
    if folds < 2:
        raise InputError("folds", "too_few_folds", value=folds)
    extended: dict[str, System] = {}
    sources: list[Submission] = []
    for submission in submissions:
        system = systems[submission.name]
        name = f"{submission.name}, {method}"
        changed = replace(submission, name=name, of=f"{submission.of}, {method}")
        if name in systems:
            raise InputError(name, "name_taken")
        try:
            groups = _kept_together(submission, system.options)
            values, notes = _recalibrate(submission, system, groups, method, folds)
        except InputError as error:
            raise add_location(error, submission.recipe, submission.file, submission.rows) from None
        again = with_log_posteriors(
            replace(changed, notes=()),
            system,
            values,
            f"{method}/{folds}/{FOLD_SEED}/{_said_folds(submission, system.options, groups)}",
            **options,
        )
        extended[submission.name] = system
        extended[name] = replace(again, notes=again.notes + notes)
        sources += [submission, changed]
    return extended, sources


def with_log_posteriors(
    submission: Submission, system: System, values: Floats, recalibration: str, **options: object
) -> System:
    """Return the system of recalibrated log-posteriors, of the classes or of wrong and right, in place of its own."""
    changes = {"predictions_are": "log_probabilities", "renormalize": None}
    if system.decisions.labels is None:
        values = np.exp(values[:, 1])
        changes["predictions_are"] = None
    changed = replace(submission, predictions=values, predictions_are=None)
    again = prepare_submission(changed, {**options, **changes})
    return replace(again, origin=replace(again.origin, recalibration=recalibration))


def _recalibrate(
    submission: Submission,
    system: System,
    groups: Array | None,
    method: str,
    folds: int,
) -> tuple[Floats, tuple[Note, ...]]:
    """Return log-posteriors, of the classes or of wrong and right, and notes."""
    decisions = system.decisions
    options = system.options
    scores, notes = _finite(log_posteriors_of(submission, system))
    if method in TWO_CLASS_METHODS and scores.shape[1] > 2:
        raise InputError("calibrate", "method_of_two_classes", method=method)
    truth = np.asarray(submission.references) if decisions.labels is None else decisions.labels
    weight = options.sample_weight
    if decisions.has_abstentions:  # nothing is learned of these
        weight = options.weights(len(truth)) * ~decisions.abstained
    require_classes(truth if weight is None else truth[weight > 0], folds)
    splitter = stratified_folds(folds, grouped=groups is not None)
    fit = partial(fit_to_logs, method=method)
    values = cross_validated(
        fit,
        Recalibration.apply_to_logs,
        scores,
        truth,
        sample_weight=weight,
        splitter=splitter,
        groups=groups,
        ids=_places(submission, scores, truth, options),
    )
    return values, notes


def _said_folds(submission: Submission, options: Options, groups: Array | None) -> str:
    """Return what folds depend on, as a signature has it, which has the groups that were named elsewhere."""
    by = ["values" if submission.ids is None else "ids"]
    if options.groups is None and groups is not None:
        by.append("together")
    if options.sample_weight is not None:
        by.append("weights")
    return "/".join(by)


def _kept_together(submission: Submission, options: Options) -> Array | None:
    """Return the groups (N,) that no fold splits: those that were named, or else ids that are repeated."""
    ids = submission.ids
    if options.groups is not None or ids is None or are_unique([ids]):
        return options.groups
    _, groups = np.unique(list(map(str, ids.to_pylist())), return_inverse=True)
    return groups


def _places(submission: Submission, scores: Floats, truth: Array, options: Options) -> Array:
    """Return the places of the samples in the order of ids and values, which does not depend on that of the rows."""
    of_equal_values = [key for key in (options.groups, options.sample_weight) if key is not None]
    keys = [*of_equal_values, truth, *log_softmax(scores).T]
    if submission.ids is not None:
        keys.append(np.array(list(map(str, submission.ids.to_pylist()))))
    return np.argsort(np.lexsort(keys))


def log_posteriors_of(submission: Submission, system: System) -> Floats:
    """Return log-posteriors (N, K) of the classes, or (N, 2) of wrong and right, -inf where a probability is 0."""
    refuse_audit(system, "a recalibration")
    decisions = system.decisions
    options = system.options
    if decisions.labels is None:
        assert decisions.confidence is not None  # files hold confidences or posteriors
        return to_log_posteriors(np.where(decisions.abstained, 0.5, decisions.confidence))
    predictions = submission.predictions
    if options.predictions_are in ("log_probabilities", "logits"):
        return log_softmax(predictions.astype(np.float64))
    return to_log_posteriors(predictions)


def _finite(scores: Floats) -> tuple[Floats, tuple[Note, ...]]:
    """Return log-posteriors whose zeros are `epsilon`, or the least other probability if that is less, and a note."""
    zero = np.isneginf(scores)
    if not zero.any():
        return scores, ()
    least = find_floor(scores)
    count = int(np.count_nonzero(zero.any(axis=1)))
    fields = {"least": least, "count": count, "total": len(scores)}
    return raise_zeros(scores, least), (Note("zeros_replaced", fields),)

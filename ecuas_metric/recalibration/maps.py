"""Recalibration: affine maps of log-posteriors, isotonic ones of confidences, to deploy or by cross-validation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..classes import column_classes, order_columns, reword_errors
from ..decisions import log_softmax
from ..errors import InputError, missing_package_error
from ..inputs import (
    Array,
    Floats,
    Ints,
    check_distributions,
    check_non_negative,
    check_one_dimensional,
    fill_masked,
    parse_confidences,
    parse_finite,
    parse_indices,
    parse_vector,
    posteriors_from_positive,
    require_not_missing,
    require_same_length,
    require_same_order,
)
from ..options import DEFAULTS, check_choice, code_memberships
from . import FOLDS, METHODS

if TYPE_CHECKING:
    from sklearn.model_selection import BaseCrossValidator

Fitted = TypeVar("Fitted")
# What `fit_affine` and `fit_isotonic` call the arguments that the core knows as predictions and references.
_AFFINE_WORDS = {"predictions and references": "log_posteriors and references"}
_ISOTONIC_WORDS = {
    "predictions": "confidence",
    "references": "correct",
    "predictions and references": "confidence and correct",
    "swap_arguments": "Swapped? confidence comes first.",
    "pass_posteriors": "Class labels? fit_affine takes log-posteriors of shape (N, K).",
}


_PROBABILITY_WORDS = {
    "log_posteriors": "probabilities",
    "log_posteriors and references": "probabilities and references",
}


class FitError(InputError):
    """Rows for which no map of scores is best: the fit has no minimum."""


class Affine(NamedTuple):
    """softmax(scale * log s + bias): `scale` is one number, `bias` has shape (K,)."""

    scale: float
    bias: Floats


class Isotonic(NamedTuple):
    """A non-decreasing map: values at thresholds, shape (T,) each, linear between them and constant outside."""

    confidence: Floats
    recalibrated: Floats


FOLD_SEED = 42  # as in the paper's table
_ADVICE_OF_LOGS = "A probability of 0? Its logarithm needs a floor."
# methods of probabilities of the second class; the others are of log-posteriors
TWO_CLASS_METHODS = ("isotonic",)


@dataclass(frozen=True, slots=True, eq=False)
class Recalibration:
    """A fitted recalibration, which new rows take and JSON keeps; made by `fit_recalibration`.

    What it does to a row depends on no other row.

    Attributes
    ----------
    method : {"affine", "temperature", "isotonic"}
        What was fitted.
    fitted : Affine or Isotonic
        The map.
    floor : float
        What a probability of 0 counts as.
    classes : tuple of str or None
        The names of the columns of a data frame that it was fitted on: those of another one must be the same.

    Examples
    --------
    >>> recalibration = Recalibration("temperature", Affine(0.5, np.zeros(2)), 1e-7)
    >>> recalibration.apply([[0.8, 0.2]]).round(4).tolist(), recalibration.apply([0.2]).round(4).tolist()
    ([[0.6667, 0.3333]], [0.3333])
    >>> Recalibration.from_json(recalibration.to_json()).apply([0.2]).round(4).tolist()
    [0.3333]
    """

    method: str
    fitted: Affine | Isotonic
    floor: float
    classes: tuple[str, ...] | None = None

    def apply(self, probabilities: ArrayLike) -> Floats:
        """Return recalibrated posteriors (N, K), or confidences (N,), from such probabilities.

        Of a data frame the columns are those of the sorted classes.
        """
        array, classes = _parse_probabilities(probabilities)
        if None not in (classes, self.classes) and classes != self.classes:
            raise InputError(
                "probabilities",
                "must have the classes of the fit, {classes}",
                value=classes,
                classes=self.classes,
            )
        with reword_errors(_PROBABILITY_WORDS):
            q = np.exp(self.apply_to_logs(to_log_posteriors(array)))
        return q if array.ndim == 2 else q[:, 1]

    def apply_to_logs(self, log_posteriors: Array) -> Floats:
        """Return recalibrated log-posteriors (N, K) from such, of which -inf counts as the logarithm of the floor."""
        scores = raise_zeros(log_posteriors, self.floor)
        if isinstance(self.fitted, Affine):
            return apply_affine(self.fitted, scores)
        if scores.shape[1] > 2:
            raise _shape_error(scores, "(N, 2), the classes of the fit")
        with np.errstate(divide="ignore"):
            return np.log(
                posteriors_from_positive(apply_isotonic(self.fitted, _second_probabilities(scores)))
            )

    def to_json(self) -> str:
        """Return the record as JSON."""
        parameters = self.fitted._asdict()
        fitted = {name: np.asarray(value).tolist() for name, value in parameters.items()}
        names = {} if self.classes is None else {"classes": self.classes}
        return json.dumps({"method": self.method, "floor": self.floor, **names, **fitted})

    @classmethod
    def from_json(cls, text: str) -> Recalibration:
        """Return the record of `to_json`; InputError if the text is no such record."""
        try:
            fields = json.loads(text)
            method = check_choice(fields.pop("method"), METHODS, "method")
            floor = float(fields.pop("floor"))
            names = fields.pop("classes", None)
            classes = None if names is None else tuple(map(str, names))
            numbers: Any = {name: np.float64(value) for name, value in fields.items()}
            fitted = Isotonic(**numbers) if method in TWO_CLASS_METHODS else Affine(**numbers)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputError("text", "not_a_recalibration") from None
        if not (0 < floor < 1 and _is_map(fitted, method)):
            raise InputError("text", "not_a_recalibration")
        return cls(method, fitted, floor, classes)


def _is_map(fitted: Affine | Isotonic, method: str) -> bool:
    """Return whether a map has a valid scale and bias for its method, or is non-decreasing from [0, 1] to [0, 1]."""
    if isinstance(fitted, Affine):
        scale = fitted.scale
        bias = fitted.bias
        return bool(
            (np.ndim(scale), np.ndim(bias)) == (0, 1)
            and (method == "affine" or (scale > 0 and not bias.any()))
            and np.isfinite([scale, *bias]).all()
        )
    x = fitted.confidence
    y = fitted.recalibrated
    if np.ndim(x) != 1 or x.size == 0 or x.shape != np.shape(y):
        return False
    is_rising = (np.diff(x) > 0).all()
    return bool(is_rising and (np.diff([0, *y, 1]) >= 0).all())


def _parse_probabilities(values: ArrayLike) -> tuple[Floats, tuple[str, ...] | None]:
    """Return posteriors (N, K) whose rows sum to 1, or confidences (N,), and the column names of a data frame."""
    classes = column_classes(values, "probabilities")
    ordered = values if classes is None else order_columns(values, classes, classes)
    array = parse_finite(ordered, "probabilities")
    words = {"predictions": "probabilities", "name_form": "", "choose_form": ""}
    with reword_errors(words):
        if array.ndim == 2:
            check_distributions(array)
        else:
            parse_confidences(array, np.zeros(array.shape))
    names = None if classes is None else tuple(map(str, classes))
    return np.clip(array, 0, 1), names  # from beyond by rounding


def fit_recalibration(
    probabilities: ArrayLike,
    references: ArrayLike,
    *,
    method: str = "affine",
    sample_weight: ArrayLike | None = None,
) -> Recalibration:
    r"""Fit a recalibration on labelled rows, to be applied to new ones.

    .. math:: \log \hat q = \log \mathrm{softmax}(\alpha \log q + \beta)

    for "affine", with :math:`\beta = 0` for "temperature"; "isotonic" is the non-decreasing map of the probability of
    the second class. What it gains on new data is what `cross_validated` gains, and not what it gains on these rows.

    Parameters
    ----------
    probabilities : array_like, shape (N, K) or (N,)
        Posteriors, the columns in the sorted order of the classes or named by them, or confidences. Those of 0 count as
        1e-7, or as the least other one if that is less.
    references : array_like, shape (N,)
        Classes in [0, K), or correctness.
    method : {"affine", "temperature", "isotonic"}, default "affine"
        Isotonic for confidences and two classes only.
    sample_weight : array_like, shape (N,), optional
        Finite and non-negative: a row of weight 2 counts as two, one of weight 0 as none.

    Returns
    -------
    Recalibration

    Raises
    ------
    InputError
        See `fit_affine` and `fit_isotonic`; also if the method is not for this many classes.

    References
    ----------
    Estienne et al., Equation affcal; Guo et al. 2017; Zadrozny and Elkan 2002.

    Examples
    --------
    >>> recalibration = fit_recalibration([0.9, 0.9, 0.9, 0.9, 0.6, 0.6], [1, 1, 1, 0, 1, 0], method="isotonic")
    >>> recalibration.apply([0.95, 0.6]).tolist()
    [0.75, 0.5]
    """
    require_same_order(
        probabilities=probabilities, references=references, sample_weight=sample_weight
    )
    array, classes = _parse_probabilities(probabilities)
    truth = np.asarray(fill_masked(references))
    with reword_errors(_PROBABILITY_WORDS):
        fitted = fit_to_logs(
            to_log_posteriors(array), truth, method=method, sample_weight=sample_weight
        )
    return replace(fitted, classes=classes)


def fit_to_logs(
    log_posteriors: Array,
    references: Array,
    *,
    method: str,
    sample_weight: ArrayLike | None = None,
) -> Recalibration:
    """Fit a recalibration to log-posteriors (N, K), -inf where a probability is 0."""
    floor = find_floor(log_posteriors)
    scores = raise_zeros(log_posteriors, floor)
    if check_choice(method, METHODS, "method") not in TWO_CLASS_METHODS:
        affine = fit_affine(
            scores, references, with_bias=method == "affine", sample_weight=sample_weight
        )
        return Recalibration(method, affine, floor)
    if scores.shape[1] > 2:
        raise InputError("calibrate", "method_of_two_classes", method=method)
    isotonic = fit_isotonic(_second_probabilities(scores), references, sample_weight=sample_weight)
    return Recalibration(method, isotonic, floor)


def find_floor(log_posteriors: Array) -> float:
    """Return what a probability of 0 counts as: the smaller one of epsilon and the smallest positive probability."""
    least = np.min(log_posteriors, where=log_posteriors > -np.inf, initial=0.0)
    return min(DEFAULTS.epsilon, float(np.exp(least)))


def raise_zeros(log_posteriors: Array, floor: float) -> Floats:
    """Return log-posteriors (N, K) with log(floor) in place of -inf."""
    return np.where(np.isneginf(log_posteriors), np.log(floor), log_posteriors)


def to_log_posteriors(array: Array) -> Floats:
    """Return log-posteriors (N, K) of probabilities (N, K), divided by their sums; (N, 2) of confidences (N,)."""
    shares = array if array.ndim == 2 else posteriors_from_positive(array)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(shares / shares.sum(axis=1, keepdims=True))
    return logs


def _second_probabilities(scores: Floats) -> Floats:
    """Return the probabilities (N,) of the second of two classes, from log-posteriors (N, 2)."""
    return np.exp(log_softmax(scores)[:, 1])


def fit_affine(
    log_posteriors: ArrayLike,
    references: ArrayLike,
    *,
    with_bias: bool = True,
    sample_weight: ArrayLike | None = None,
) -> Affine:
    r"""Fit the affine calibration of log-posteriors by minimising the cross-entropy.

    .. math:: \hat s = \mathrm{softmax}(\alpha \log s + \beta)

    with one scale :math:`\alpha` and one bias :math:`\beta_k` per class, by L-BFGS-B with the analytic gradient. A
    minimum exists unless the scores separate the classes, which is an error: the cross-entropy would fall for ever.

    Parameters
    ----------
    log_posteriors : array_like, shape (N, K)
        Finite; logits will do, since a constant per row changes nothing.
    references : array_like, shape (N,)
        True classes in [0, K), each at least once if there is a bias.
    with_bias : bool, default True
        False is temperature scaling.
    sample_weight
        See `fit_recalibration`.

    Returns
    -------
    Affine
        The scale, a float, and the bias, shape (K,).

    Raises
    ------
    InputError
        If a log-posterior is not finite, a reference is not a class, lengths differ, a class has no sample, or the
        scores separate the classes: where some scale and bias put every true class on top of its row. Of temperature
        scaling, also if the best scale is not positive, as of scores that fall with the truth.
    RuntimeError
        If the minimisation does not converge.

    References
    ----------
    Estienne et al., Equation affcal; Guo et al. 2017 for temperature scaling; Albert and Anderson 1984, "On the
    existence of maximum likelihood estimates in logistic regression models".

    Examples
    --------
    Twice the log-posteriors of a calibrated system are calibrated by a scale of one half:

    >>> log_q = 2 * np.log([[0.8, 0.2]] * 5 + [[0.2, 0.8]] * 5)
    >>> scale, bias = fit_affine(log_q, [0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    >>> round(scale, 6)
    0.5
    """
    require_same_order(
        log_posteriors=log_posteriors, references=references, sample_weight=sample_weight
    )
    scores = _parse_log_posteriors(log_posteriors)
    num_classes = scores.shape[1]
    with reword_errors(_AFFINE_WORDS):
        classes = parse_indices(
            references, "references", num_classes=num_classes, num_samples=len(scores)
        )
    weight = parse_weights(sample_weight, len(scores))
    seen = weight > 0
    scores = scores[seen]
    classes = classes[seen]
    share = weight[seen] / weight.sum()
    counts = np.bincount(classes, minlength=num_classes)
    if with_bias and not counts.all():
        empty = int(np.argmin(counts))
        raise InputError(
            "references",
            "must have a sample of each of the {num_classes} classes",
            value=empty,
            got=f"none of class {empty}",
            count=int(np.count_nonzero(counts == 0)),
            total=num_classes,
            advice="Drop these classes, or fit without a bias.",
            num_classes=num_classes,
        )
    centred, unit = _standardize(scores, share)
    _refuse_separable(centred, classes, counts, with_bias)
    objective = _make_cross_entropy(centred, classes, share, with_bias)
    parameters = _minimize(objective, np.r_[1.0, np.zeros(num_classes if with_bias else 0)])
    scale = float(parameters[0]) / unit
    if not with_bias and not scale > 0:
        got = f"a best scale of {scale:.3g}"
        raise FitError(
            "log_posteriors",
            "must rise with the true class",
            got=got,
            advice="Reversed scores? Change their sign.",
        )
    return Affine(scale, parameters[1:] if with_bias else np.zeros(num_classes))


def apply_affine(calibration: Affine, log_posteriors: ArrayLike) -> Floats:
    r"""Return calibrated log-posteriors.

    .. math:: \log \mathrm{softmax}(\alpha \log s + \beta)

    Parameters
    ----------
    calibration : Affine
        From `fit_affine` or `fit_temperature`.
    log_posteriors : array_like, shape (N, K)
        Finite; logits will do.

    Returns
    -------
    ndarray of float64, shape (N, K)
        Their exponentials sum to 1 in each row.

    Raises
    ------
    InputError
        If a log-posterior is not finite, or the number of classes is not that of the fit.

    References
    ----------
    Estienne et al., Equation affcal.

    Examples
    --------
    >>> np.exp(apply_affine(Affine(0.5, np.zeros(2)), np.log([[0.8, 0.2]]))).round(4).tolist()
    [[0.6667, 0.3333]]
    """
    scores = _parse_log_posteriors(log_posteriors)
    num_classes = len(calibration.bias)
    if scores.shape[1] != num_classes:
        raise _shape_error(scores, f"(N, {num_classes}), the classes of the fit")
    return log_softmax(calibration.scale * scores + calibration.bias)


def fit_temperature(
    log_posteriors: ArrayLike,
    references: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> Affine:
    """Fit temperature scaling, `fit_affine` without a bias; the temperature is 1 / scale, and positive.

    Parameters
    ----------
    log_posteriors, references, sample_weight
        See `fit_affine`.

    Returns
    -------
    Affine
        With a bias of zeros.

    Raises
    ------
    InputError, RuntimeError
        See `fit_affine`.

    References
    ----------
    Guo et al. 2017, "On calibration of modern neural networks".

    Examples
    --------
    >>> log_q = 2 * np.log([[0.8, 0.2]] * 5 + [[0.2, 0.8]] * 5)
    >>> round(1 / fit_temperature(log_q, [0, 0, 0, 0, 1, 1, 1, 1, 1, 0]).scale, 4)
    2.0
    """
    return fit_affine(log_posteriors, references, with_bias=False, sample_weight=sample_weight)


def fit_isotonic(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> Isotonic:
    """Fit the non-decreasing map of confidences with the least squared error, by scikit-learn.

    Parameters
    ----------
    confidence : array_like, shape (N,)
        In [0, 1].
    correct : array_like, shape (N,)
        0 or 1.
    sample_weight
        See `fit_recalibration`.

    Returns
    -------
    Isotonic
        Thresholds and the values there, shape (T,) each, in [0, 1].

    Raises
    ------
    InputError
        If a confidence lies outside [0, 1] or is NaN, `correct` is not 0 or 1, or always the same, or lengths differ.
    ImportError
        If scikit-learn is not installed.

    References
    ----------
    Zadrozny and Elkan 2002, "Transforming classifier scores into accurate multiclass probability estimates".

    Examples
    --------
    >>> fitted = fit_isotonic([0.6, 0.7, 0.8, 0.9], [0, 1, 0, 1])
    >>> apply_isotonic(fitted, [0.5, 0.75, 1.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    try:
        from sklearn.isotonic import IsotonicRegression
    except ImportError:
        raise missing_package_error("Isotonic recalibration needs", "scikit-learn") from None
    require_same_order(confidence=confidence, correct=correct, sample_weight=sample_weight)
    with reword_errors(_ISOTONIC_WORDS):
        q, truth = parse_confidences(parse_finite(confidence, "confidence"), correct)
        q = np.clip(q, 0, 1)  # from beyond by rounding
        weight = parse_weights(sample_weight, len(q))
        require_classes(truth[weight > 0], 1)  # a constant would call every answer certain
    fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(q, truth, weight)
    return Isotonic(np.asarray(fitted.X_thresholds_), np.asarray(fitted.y_thresholds_))


def apply_isotonic(calibration: Isotonic, confidence: ArrayLike) -> Floats:
    """Return recalibrated confidences: linear between the thresholds of the fit, constant outside them.

    Parameters
    ----------
    calibration : Isotonic
        From `fit_isotonic`.
    confidence : array_like, shape (N,)
        Finite.

    Returns
    -------
    ndarray of float64, shape (N,)
        In [0, 1].

    Raises
    ------
    InputError
        If a confidence is not finite.

    References
    ----------
    Zadrozny and Elkan 2002, "Transforming classifier scores into accurate multiclass probability estimates".

    Examples
    --------
    >>> apply_isotonic(Isotonic(np.array([0.5, 0.9]), np.array([0.4, 0.6])), [0.2, 0.7, 1.0]).tolist()
    [0.4, 0.5, 0.6]
    """
    return np.interp(
        parse_finite(confidence, "confidence"), calibration.confidence, calibration.recalibrated
    )


def cross_validated(
    fit: Callable[..., Fitted],
    apply: Callable[[Fitted, Array], Floats],
    scores: ArrayLike,
    references: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    splitter: BaseCrossValidator | None = None,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> Floats:
    """Recalibrate every sample with what was fitted on the other folds.

    Parameters
    ----------
    fit, apply : callable
        A pair of these functions or of your own: ``fit(scores, references)``, with weights
        ``fit(scores, references, sample_weight=..)``, and ``apply(fitted, scores)``.
    scores : array_like, shape (N, K) or (N,)
        Log-posteriors or confidences, finite.
    references : array_like, shape (N,)
        Classes, or correctness; the default folds are stratified by them.
    sample_weight : array_like, shape (N,), optional
        What the fits take, which see the weights of the other folds.
    splitter : optional
        A splitter of scikit-learn; by default ``StratifiedKFold(5, shuffle=True, random_state=42)``, as in the
        paper's table, or ``StratifiedGroupKFold`` with groups.
    groups : array_like, shape (N,), optional
        Which samples stay together in a fold.
    ids : array_like, shape (N,), optional
        What samples are sorted by before they are split: the folds then do not depend on the order of the rows.

    Returns
    -------
    ndarray of float64, of the shape of `scores`
        What `apply` returns for each sample.

    Raises
    ------
    InputError
        If a score is not finite, lengths differ, there are fewer samples than folds, a fold cannot be fitted (it is
        named), or a splitter leaves a sample out.
    ImportError
        If scikit-learn is not installed and there is no splitter.

    References
    ----------
    Estienne et al., section "Analysis on UA classification systems".

    Examples
    --------
    >>> from ecuas_metric import apply_isotonic, fit_isotonic
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.integers(0, 2, 100)
    >>> cross_validated(fit_isotonic, apply_isotonic, rng.random(100), correct).shape
    (100,)
    """
    paired = {"ids": ids, "groups": groups, "sample_weight": sample_weight}
    require_same_order(scores=scores, references=references, **paired)
    array = parse_finite(scores, "scores", _ADVICE_OF_LOGS)
    truth = np.asarray(fill_masked(references))
    require_same_length(scores=array, references=truth)
    weight = None if sample_weight is None else parse_weights(sample_weight, len(array))
    grouped = _code_groups(groups, len(array))
    order = np.arange(len(array))
    if ids is not None:
        order = _sort_ids(ids, [grouped, weight, truth, *np.atleast_2d(array.T)])
    if grouped is not None:
        grouped = grouped[order]
    if splitter is None:
        splitter = stratified_folds(FOLDS, grouped=groups is not None)
    num_folds = splitter.get_n_splits(array, truth, grouped)
    if len(array) < num_folds:
        raise InputError(
            "scores",
            "must have at least as many samples as folds, {folds}",
            value=len(array),
            folds=num_folds,
        )
    recalibrated = np.full(array.shape, np.nan)
    for fold, parts in enumerate(splitter.split(array[order], truth[order], grouped)):
        train, test = (order[part] for part in parts)
        weights = {} if weight is None else {"sample_weight": weight[train]}
        with _name_fold(f"fold {fold + 1} of {num_folds}"):
            fitted = fit(array[train], truth[train], **weights)
        recalibrated[test] = apply(fitted, array[test])
    _require_all(recalibrated)
    return recalibrated


@contextmanager
def _name_fold(fold: str) -> Iterator[None]:
    """Raise InputError with the name of a fold for a ValueError within."""
    try:
        yield
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise InputError(fold, "cannot be fitted: {reason}", reason=reason) from error


def _sort_ids(ids: ArrayLike, contents: Sequence[Array | None]) -> Ints:
    """Return the indices (N,) of ids in their order, equal ids by such contents (N,) as there are.

    InputError if an id is missing.
    """
    names = check_one_dimensional(np.asarray(fill_masked(ids)), "ids")
    known = [values for values in contents if values is not None]
    require_same_length(scores=known[-1], ids=names)
    require_not_missing(names, "ids")
    try:
        places = np.unique(names, return_inverse=True)[1]
    except TypeError:
        raise InputError("ids", "must be all strings or all numbers", value=names[0]) from None
    codes = [np.unique(values, return_inverse=True)[1] for values in known]
    return np.lexsort([*codes, places])


def _code_groups(groups: ArrayLike | None, size: int) -> Ints | None:
    """Return groups, if any, as numbers (N,), N = `size`; InputError if one is missing, or they have another length."""
    if groups is None:
        return None
    codes = code_memberships(groups, "groups")
    require_same_length(scores=range(size), groups=codes)
    return codes


def _require_all(recalibrated: Floats) -> None:
    """Raise InputError if a sample was in no test fold."""
    left_out = np.isnan(recalibrated).reshape(len(recalibrated), -1).any(axis=1)
    if left_out.any():
        raise InputError(
            "splitter",
            "must put every sample in a test fold",
            got=f"sample {int(np.argmax(left_out))} in none",
            count=int(np.count_nonzero(left_out)),
            total=len(recalibrated),
        )


def require_classes(truth: Array, folds: int) -> None:
    """Raise InputError unless each fold can have a sample of each class."""
    classes, counts = np.unique(truth, return_counts=True)
    if len(counts) < 2:
        raise InputError(
            "references", "must contain more than one class to recalibrate", value=classes[0]
        )
    if counts.min() < folds:
        least = int(np.argmin(counts))
        count = int(counts[least])
        got = f"{count} of {classes[least]}"
        raise InputError(
            "references",
            "must have at least {folds} samples of each class, to be recalibrated in folds",
            value=count,
            got=got,
            folds=folds,
        )


def parse_weights(sample_weight: ArrayLike | None, num_samples: int) -> Floats:
    """Return weights (N,), 1 if there are none, else divided by the largest; InputError if all are 0."""
    if sample_weight is None:
        return np.ones(num_samples)
    weight: Floats = check_non_negative(
        parse_vector(sample_weight, "sample_weight"), "sample_weight"
    )
    require_same_length(references=range(num_samples), sample_weight=weight)
    if not weight.any():
        raise InputError("sample_weight", "all_zero")
    weight = weight / weight.max()  # sums of very large ones would overflow
    return weight


def _standardize(scores: Floats, share: Floats) -> tuple[Floats, float]:
    """Return scores (N, K), less the mean of each row and divided by their spread; and the spread."""
    # first: the squares of very large or small ones would overflow or vanish
    size = float(np.abs(scores).max()) or 1.0
    centred = scores / size
    centred -= centred.mean(axis=1, keepdims=True)
    spread = float(np.sqrt(share @ np.mean(centred**2, axis=1))) or 1.0
    centred /= spread
    return centred, spread * size


def _refuse_separable(scores: Floats, classes: Ints, counts: Ints, with_bias: bool) -> None:
    """Raise InputError if the classes are separable, where the cross-entropy has no minimum.

    That is so if and only if some (a, b), b not constant where a = 0, has a (s_y - s_k) >= b_k - b_y for every sample
    of every class y and every k, not always with equality. For a = 1 or -1 only the least margins of each class matter.
    """
    order = np.argsort(classes, kind="stable")
    present = np.flatnonzero(counts)
    starts = np.cumsum(counts[present]) - counts[present]
    margins = scores[order, classes[order]][:, None] - scores[order]
    least = np.minimum.reduceat(margins, starts)
    most = np.maximum.reduceat(margins, starts)
    if with_bias:
        separated = _separates(least, most) or _separates(-most, -least)
    else:  # and a scale that is positive
        separated = least.min() >= 0 and most.max() > 0
    if separated:
        raise FitError(
            "references",
            "must not be told apart by the scores: the cross-entropy falls for ever as the scale "
            "grows",
            advice="Fit on more samples, or leave the scores as they are.",
        )


def _separates(least: Floats, most: Floats) -> bool:
    """Return whether some bias b separates classes: b_k - b_y <= least[y, k] for all y and k, not all with equality.

    Such differences exist if no cycle of classes has a negative sum (Bellman and Ford). `most` are the largest margins.
    """
    rounding = 1e-12 * float(np.abs(most).max())
    if (least + least.T < -rounding).any():
        return False
    bias = np.zeros(len(least))
    for _ in range(len(least) + 1):
        lower = (bias[:, None] + least).min(axis=0)
        if (lower >= bias - rounding).all():
            return bool((most - (bias - bias[:, None]) > rounding).any())
        bias = np.minimum(bias, lower)
    return False


def _make_cross_entropy(
    scores: Floats, classes: Ints, share: Floats, with_bias: bool
) -> Callable[[Floats], tuple[float, Floats]]:
    # One row per class: NumPy reduces over the long axis at full speed, over few classes it does not.
    order_columns = np.ascontiguousarray(scores.T)
    columns = np.arange(len(scores))

    def objective(parameters: Floats) -> tuple[float, Floats]:
        logits = parameters[0] * order_columns
        if with_bias:
            logits += parameters[1:, None]
        logits -= logits.max(axis=0)
        q = np.exp(logits)
        total = q.sum(axis=0)
        value = share @ (np.log(total) - logits[classes, columns])
        q /= total
        q[classes, columns] -= 1
        q *= share
        slope = np.einsum("kn,kn->", q, order_columns)
        gradient = np.append(slope, q.sum(axis=1) if with_bias else ())
        return float(value), gradient

    return objective


def _minimize(objective: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    from scipy.optimize import minimize

    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-13, "gtol": 1e-7}
    solution = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    if not (solution.success and np.isfinite(solution.x).all()):
        raise RuntimeError(
            f"the calibration did not converge in {solution.nit} iterations: {solution.message}"
        )
    return np.asarray(solution.x)


def _parse_log_posteriors(values: ArrayLike) -> Floats:
    scores = parse_finite(values, "log_posteriors", _ADVICE_OF_LOGS)
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise _shape_error(scores, "(N, K), K >= 2")
    return scores


def _shape_error(scores: Floats, expected: str) -> InputError:
    got = f"shape {scores.shape}"
    return InputError(
        "log_posteriors", "wrong_shape", value=scores.shape, got=got, expected=expected
    )


def stratified_folds(count: int, *, grouped: bool) -> BaseCrossValidator:
    """Return scikit-learn's splitter into folds with about the same classes, shuffled as in the paper's table."""
    try:
        from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
    except ImportError:
        raise missing_package_error("Recalibration in folds needs", "scikit-learn") from None
    return (StratifiedGroupKFold if grouped else StratifiedKFold)(
        count, shuffle=True, random_state=FOLD_SEED
    )

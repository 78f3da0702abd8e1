"""Recalibration of posteriors and confidences, fitted on other data or by cross-validation.

What is fitted is a small named tuple of numbers; `fit_*` makes it, `apply_*` uses it on any data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .decisions import log_softmax
from .errors import Advice, InputError
from .inputs import Array, Floats, Ints, confidences, labels, numbers, require, same_length

Fitted = TypeVar("Fitted")
INSTALL = "pip install 'ecuas-metric[recalibration]'"


class Affine(NamedTuple):
    """softmax(scale * log s + bias): `scale` is one number, `bias` has shape (K,)."""

    scale: float
    bias: Floats


class Isotonic(NamedTuple):
    """A non-decreasing map: values at thresholds, shape (T,) each, linear between them and constant outside."""

    confidence: Floats
    recalibrated: Floats


def fit_affine(log_posteriors: ArrayLike, references: ArrayLike, *, with_bias: bool = True) -> Affine:
    r"""Fit the affine calibration of log-posteriors by minimising the cross-entropy.

    .. math:: \hat s = \mathrm{softmax}(\alpha \log s + \beta)

    with one scale :math:`\alpha` and one bias :math:`\beta_k` per class, by L-BFGS-B with the analytic gradient.

    Parameters
    ----------
    log_posteriors : array_like, shape (N, K)
        Finite; up to a constant per row, so that logits will do.
    references : array_like, shape (N,)
        True classes in [0, K), each at least once.
    with_bias : bool
        False is temperature scaling.

    Returns
    -------
    Affine

    Raises
    ------
    InputError
        If a log-posterior is not finite, or a class has no sample.
    RuntimeError
        If the minimisation does not converge.

    References
    ----------
    Estienne et al., Equation affcal; Guo et al. 2017 for temperature scaling.

    Examples
    --------
    Twice the log-posteriors of a calibrated system are calibrated by a scale of one half:

    >>> log_q = 2 * np.log([[0.8, 0.2]] * 5 + [[0.2, 0.8]] * 5)
    >>> scale, bias = fit_affine(log_q, [0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    >>> round(scale, 6)
    0.5
    """
    scores, classes = _checked(log_posteriors, references)
    num_classes = scores.shape[1]
    counts = np.bincount(classes, minlength=num_classes)
    if with_bias and not counts.all():
        empty = int(np.argmin(counts))
        raise InputError(
            "references",
            f"must have a sample of each of the {num_classes} classes",
            value=empty,
            got=f"none of class {empty}",
            count=int(np.count_nonzero(counts == 0)),
            total=num_classes,
            advice="Drop these classes, or fit without bias.",
        )
    # In units of their spread around the mean of each row, which softmax does not see, scores of any size fit alike.
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = float(centred.std()) or 1.0
    objective = _cross_entropy_of_affine(centred / spread, classes, with_bias)
    parameters = _minimum(objective, np.r_[1.0, np.zeros(num_classes if with_bias else 0)])
    return Affine(float(parameters[0] / spread), parameters[1:] if with_bias else np.zeros(num_classes))


def apply_affine(calibration: Affine, log_posteriors: ArrayLike) -> Floats:
    """Return calibrated log-posteriors, shape (N, K), whose exponentials sum to 1."""
    return log_softmax(calibration.scale * _finite(log_posteriors) + calibration.bias)


def fit_temperature(log_posteriors: ArrayLike, references: ArrayLike) -> Affine:
    """Fit temperature scaling, `fit_affine` without a bias; the temperature is 1 / scale."""
    return fit_affine(log_posteriors, references, with_bias=False)


def fit_isotonic(confidence: ArrayLike, correct: ArrayLike) -> Isotonic:
    """Fit the non-decreasing map of confidences with the least squared error, by scikit-learn.

    Parameters
    ----------
    confidence : array_like, shape (N,)
        In [0, 1].
    correct : array_like, shape (N,)
        0 or 1.

    Returns
    -------
    Isotonic

    References
    ----------
    Zadrozny and Elkan 2002.

    Examples
    --------
    >>> fitted = fit_isotonic([0.6, 0.7, 0.8, 0.9], [0, 1, 0, 1])
    >>> apply_isotonic(fitted, [0.5, 0.75, 1.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    try:
        from sklearn.isotonic import IsotonicRegression
    except ImportError:
        raise ImportError(f"Isotonic recalibration needs scikit-learn: {INSTALL}") from None
    q, truth = confidences(_finite(confidence), correct)
    q = np.clip(q, 0, 1)  # from beyond by rounding
    fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(q, truth)
    return Isotonic(np.asarray(fitted.X_thresholds_), np.asarray(fitted.y_thresholds_))


def apply_isotonic(calibration: Isotonic, confidence: ArrayLike) -> Floats:
    """Return recalibrated confidences, shape (N,), in [0, 1]."""
    return np.interp(_finite(confidence), calibration.confidence, calibration.recalibrated)


def cross_validated(
    fit: Callable[[Array, Array], Fitted],
    apply: Callable[[Fitted, Array], Floats],
    scores: ArrayLike,
    references: ArrayLike,
    *,
    splitter: Any = None,
    groups: ArrayLike | None = None,
) -> Floats:
    """Recalibrate every sample with what was fitted on the other folds.

    Parameters
    ----------
    fit, apply : callable
        A pair of this module, or of your own: ``fit(scores, references)`` and ``apply(fitted, scores)``.
    scores : array_like, shape (N, K) or (N,)
    references : array_like, shape (N,)
        Classes, or correctness; the default folds are stratified by them.
    splitter : optional
        Any splitter of scikit-learn; by default ``StratifiedKFold(5, shuffle=True, random_state=42)``, that of
        the paper's table.
    groups : array_like, shape (N,), optional
        For splitters that keep groups together.

    Returns
    -------
    ndarray, of the shape of `scores`

    Raises
    ------
    InputError
        If there are fewer samples than folds, a fold cannot be fitted (it is named), or a splitter leaves a
        sample out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.integers(0, 2, 100)
    >>> cross_validated(fit_isotonic, apply_isotonic, rng.random(100), correct).shape
    (100,)
    """
    array, truth = _finite(scores), np.asarray(references)
    same_length(scores=array, references=truth)
    splitter = _default_splitter() if splitter is None else splitter
    num_folds = splitter.get_n_splits(array, truth, groups)
    if len(array) < num_folds:
        raise InputError("scores", f"must have at least as many samples as folds, {num_folds}", value=len(array))
    recalibrated = np.full(array.shape, np.nan)
    for fold, (train, test) in enumerate(splitter.split(array, truth, groups)):
        try:
            fitted = fit(array[train], truth[train])
        except ValueError as error:
            raise InputError(f"fold {fold + 1} of {num_folds}", f"cannot be fitted: {error}".rstrip(".")) from error
        recalibrated[test] = apply(fitted, array[test])
    left_out = np.isnan(recalibrated).reshape(len(array), -1).any(axis=1)
    if left_out.any():
        first, count = int(np.argmax(left_out)), int(np.count_nonzero(left_out))
        rule, got = "must put every sample in a test fold", f"sample {first} in none"
        raise InputError("splitter", rule, value=first, got=got, count=count, total=len(array))
    return recalibrated


def _cross_entropy_of_affine(
    scores: Floats, classes: Ints, with_bias: bool
) -> Callable[[Floats], tuple[float, Floats]]:
    # One row a class: NumPy reduces over the long axis at full speed, over few classes it does not.
    by_class, columns = np.ascontiguousarray(scores.T), np.arange(len(scores))

    def objective(parameters: Floats) -> tuple[float, Floats]:
        logits = parameters[0] * by_class
        if with_bias:
            logits += parameters[1:, None]
        logits -= logits.max(axis=0)
        q = np.exp(logits)
        total = q.sum(axis=0)
        value = np.mean(np.log(total) - logits[classes, columns])
        q /= total
        q[classes, columns] -= 1
        gradient = [np.einsum("kn,kn->", q, by_class), *(q.sum(axis=1) if with_bias else ())]
        return float(value), np.array(gradient) / len(classes)

    return objective


def _minimum(objective: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise ImportError(f"Affine calibration needs SciPy: {INSTALL}") from None
    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-13, "gtol": 1e-7}
    solution = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    if not (solution.success and np.isfinite(solution.x).all()):
        raise RuntimeError(f"the calibration did not converge in {solution.nit} iterations: {solution.message}")
    return np.asarray(solution.x)


def _checked(log_posteriors: ArrayLike, references: ArrayLike) -> tuple[Floats, Ints]:
    scores = _finite(log_posteriors)
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise InputError("scores", "must have shape (N, K), K >= 2", value=scores.shape, got=f"shape {scores.shape}")
    return scores, labels(references, "references", num_classes=scores.shape[1], num_samples=len(scores))


def _finite(values: ArrayLike) -> Floats:
    array = numbers(values, "scores")
    require(np.isfinite(array), array, "scores", "must be finite", Advice.FLOOR)
    return array.astype(np.float64, copy=False)


def _default_splitter() -> Any:
    try:
        from sklearn.model_selection import StratifiedKFold
    except ImportError:
        raise ImportError(f"Cross-validation needs scikit-learn: {INSTALL}") from None
    return StratifiedKFold(5, shuffle=True, random_state=42)

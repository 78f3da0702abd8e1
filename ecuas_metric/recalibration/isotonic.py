"""The isotonic calibration of confidences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Advice, InputError, missing_package
from ..inputs import Floats, confidences, finite

# What `fit_isotonic` calls the arguments that the core knows as predictions and references.
_WORDS = {
    "predictions": "confidence",
    "references": "correct",
    "predictions and references": "confidence and correct",
    Advice.SWAPPED: "Swapped? confidence comes first.",
    Advice.CLASS_LABELS: "Class labels? fit_affine takes log-posteriors of shape (N, K).",
}


class Isotonic(NamedTuple):
    """A non-decreasing map: values at thresholds, shape (T,) each, linear between them and constant outside."""

    confidence: Floats
    recalibrated: Floats


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
        Thresholds and the values there, shape (T,) each, in [0, 1].

    Raises
    ------
    InputError
        If a confidence lies outside [0, 1] or is NaN, `correct` is not 0 or 1, or lengths differ.
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
        raise missing_package("Isotonic recalibration needs", "scikit-learn") from None
    try:
        q, truth = confidences(finite(confidence, "confidence"), correct)
    except InputError as error:
        raise error.reword(_WORDS) from None
    q = np.clip(q, 0, 1)  # from beyond by rounding
    fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(q, truth)
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
    return np.interp(finite(confidence, "confidence"), calibration.confidence, calibration.recalibrated)

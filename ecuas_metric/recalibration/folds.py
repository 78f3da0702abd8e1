"""Recalibration by cross-validation: every sample by what was fitted on others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Advice, InputError, missing_package
from ..inputs import Array, Floats, finite, same_length

if TYPE_CHECKING:
    from sklearn.model_selection import BaseCrossValidator

Fitted = TypeVar("Fitted")


def cross_validated(
    fit: Callable[[Array, Array], Fitted],
    apply: Callable[[Fitted, Array], Floats],
    scores: ArrayLike,
    references: ArrayLike,
    *,
    splitter: BaseCrossValidator | None = None,
    groups: ArrayLike | None = None,
) -> Floats:
    """Recalibrate every sample with what was fitted on the other folds.

    Parameters
    ----------
    fit, apply : callable
        A pair of these functions or of your own: ``fit(scores, references)`` and ``apply(fitted, scores)``.
    scores : array_like, shape (N, K) or (N,)
        Log-posteriors or confidences, finite.
    references : array_like, shape (N,)
        Classes, or correctness; the default folds are stratified by them.
    splitter : optional
        A splitter of scikit-learn; by default ``StratifiedKFold(5, shuffle=True, random_state=42)``, as in the
        paper's table.
    groups : array_like, shape (N,), optional
        For splitters that keep groups together.

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
    array, truth = finite(scores, "scores", Advice.FLOOR), np.asarray(references)
    same_length(scores=array, references=truth)
    if splitter is None:
        try:
            from sklearn.model_selection import StratifiedKFold
        except ImportError:
            raise missing_package("Cross-validation needs", "scikit-learn") from None
        splitter = StratifiedKFold(5, shuffle=True, random_state=42)
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
        count, got = int(np.count_nonzero(left_out)), f"sample {int(np.argmax(left_out))} in none"
        raise InputError("splitter", "must put every sample in a test fold", got=got, count=count, total=len(array))
    return recalibrated

"""A scorer for scikit-learn's `cross_validate`, `GridSearchCV` and the like."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from ..api import ecuas_score


def ecuas_scorer(*, n: float = 1, cost: str | ArrayLike = "zero_one", normalize: bool = False) -> Callable[..., float]:
    """Return a scorer: minus ECUAS_n of a classifier's `predict_proba`, since scikit-learn maximises.

    The classes are those of the fitted classifier, so that a fold may lack one; they may be strings, and two or more.

    Parameters
    ----------
    n, cost, normalize
        See `ecuas_metric.ecuas_score`.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None) -> float``, which can be pickled.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = [[0.1], [0.4], [0.5], [0.9], [0.2], [0.8]], ["no", "no", "yes", "yes", "no", "yes"]
    >>> cross_val_score(LogisticRegression(), X, y, scoring=ecuas_scorer(n=0), cv=3).round(2).tolist()
    [-0.95, -0.94, -0.94]
    """
    return partial(_score, n=n, cost=cost, normalize=normalize)


def _score(estimator: Any, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None, **options: Any) -> float:
    probabilities, labels = estimator.predict_proba(X), estimator.classes_
    return -ecuas_score(y, probabilities, labels=labels, sample_weight=sample_weight, **options)

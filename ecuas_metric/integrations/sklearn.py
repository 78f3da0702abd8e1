"""A scorer for scikit-learn's `cross_validate`, `GridSearchCV` and the like."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.metrics import make_scorer

from ..api import ecuas_score


def _ecuas(
    y_true: ArrayLike, y_pred: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    n: float = 1, cost: str | ArrayLike = "zero_one", normalize: bool = False
) -> float:  # fmt: skip
    """Return ECUAS_n of posteriors (N, K) of the labels, or (N,) of the second, or of decisions (N,)."""
    found = np.asarray(y_pred)
    if labels is None:
        labels = np.unique(found)
        found = (found[:, None] == labels).astype(np.float64)  # certain decisions
    elif found.ndim == 1:
        found = np.column_stack([1 - found, found])
    every = np.union1d(labels, np.asarray(y_true))
    if len(every) == 1:
        return 0.0  # one class, decided for throughout
    posteriors = np.zeros((len(found), len(every)))
    posteriors[:, np.searchsorted(every, labels)] = found
    return ecuas_score(
        y_true, posteriors, labels=every, sample_weight=sample_weight, n=n, cost=cost, normalize=normalize
    )


class _Scorer(type(make_scorer(_ecuas))):  # type: ignore[misc]
    """A scorer of `make_scorer` that also passes on the classes of the fitted classifier."""

    def _score(
        self, caller: Callable[..., ArrayLike], estimator: ClassifierMixin, X: object, y: ArrayLike, **more: object
    ) -> float:
        found = caller(estimator, "predict_proba", X, pos_label=None)
        return float(self._sign * _ecuas(y, found, **{"labels": estimator.classes_, **self._kwargs, **more}))


def ecuas_scorer(*, n: float = 1, cost: str | ArrayLike = "zero_one", normalize: bool = False) -> _Scorer:
    """Return a scorer: minus `ecuas_metric.ecuas_score` of a classifier's `predict_proba`, as scikit-learn maximises.

    It is an object of `sklearn.metrics.make_scorer`: ``set_score_request(sample_weight=True)`` routes weights to it,
    and `TunedThresholdClassifierCV` takes it, whose decisions count as certain. The classes are those of the fitted
    classifier and of `y`, each of which may lack some, as in folds; one that was not seen has the probability 0.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = [[0.1], [0.4], [0.5], [0.9], [0.2], [0.8]], ["no", "no", "yes", "yes", "no", "yes"]
    >>> cross_val_score(LogisticRegression(), X, y, scoring=ecuas_scorer(n=0), cv=3).round(2).tolist()
    [-0.95, -0.94, -0.94]
    """
    options = {"n": n, "cost": cost, "normalize": normalize}
    scorer: _Scorer = make_scorer(_ecuas, response_method="predict_proba", greater_is_better=False, **options)
    scorer.__class__ = _Scorer
    return scorer

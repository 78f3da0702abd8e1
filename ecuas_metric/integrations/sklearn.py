"""For scikit-learn: a classifier that rejects, and a scorer for `cross_validate`, `GridSearchCV` and the like."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_predict
from sklearn.utils import Bunch, Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..api import compute_value, posterior_system
from ..classes import ClassCosts, check_classes, parse_classes, reword_errors
from ..costs import ECUAS_N, EXPECTED_COST
from ..errors import InputError, Note
from ..inputs import Array, Floats, Ints, fill_masked, parse_numbers, require_same_order
from ..options import check_number, cost_frame_to_mapping
from ..recalibration import FOLDS
from ..recalibration.maps import (
    TWO_CLASS_METHODS,
    FitError,
    Recalibration,
    fit_recalibration,
    parse_weights,
    require_classes,
    stratified_folds,
)
from ..rejection import RowDecisions, decide

Cost = str | ArrayLike | ClassCosts


class RejectingClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    r"""A classifier that decides at least expected cost, and rejects what is expected to cost more than rejecting.

    .. math:: \arg\min_d \sum_k q_k C_{kd} \quad \text{if } \min_d \sum_k q_k C_{kd} \le \gamma, \text{ else rejected}

    with the posteriors q of a classifier, if asked for recalibrated: see `ecuas_metric.decide`, which does it.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba`.
    cost : {"zero_one"}, array_like of shape (K, D) or mapping, default "zero_one"
        See `ecuas_metric.ecuas_score`.
    reject_cost : float, optional
        The reject cost, in [0, u_M]; by default nothing is rejected.
    calibration : {"affine", "temperature", "isotonic"}, optional
        Recalibrate by a map that is fitted on posteriors out of fold; the estimator is then fitted on all rows.
        Isotonic of two classes only.
    cv : int or splitter, optional
        Of the folds for `calibration`, by default 5: a number gives stratified ones, which depend on what the rows
        hold and not on their order.
    labels : array_like, shape (K,), optional
        All classes in sorted order, of which rows may lack some, as folds do. A `cost` by names has them.
    rejected_label : str or number, optional
        What `predict` gives for what is rejected: by default "rejected", or -1 where decisions are numbers. No
        decision and no class may be called so.

    Attributes
    ----------
    classes_ : ndarray
        Of the columns of `predict_proba`: those that were seen.
    estimator_ : classifier
        Fitted on all rows.
    recalibration_ : Recalibration or None
        See `ecuas_metric.fit_recalibration`; None with a warning where there is no best map, since the posteriors out
        of fold tell all classes apart, or fall with the truth.

    Raises
    ------
    InputError
        If the cost does not fit the classes, the reject cost lies outside [0, u_M], a class is the rejected label, or
        there is only one
        row of a class to recalibrate by.

    References
    ----------
    Chow 1970, "On optimum recognition error and reject tradeoff".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RejectingClassifier(RandomForestClassifier(random_state=0), cost={0: 10, 1: 1}, reject_cost=0.3)
    >>> model.fit(X[::2], y[::2]).predict(X[1:12:2]).tolist()
    [0, -1, -1, -1, -1, 0]
    >>> print(model.decision_costs(X[1::2], y[1::2]).mean().round(3))
    0.118
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cost: Cost = "zero_one",
        reject_cost: float | None = None,
        calibration: str | None = None,
        cv: Any = None,
        labels: ArrayLike | None = None,
        rejected_label: object = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.reject_cost = reject_cost
        self.calibration = calibration
        self.cv = cv
        self.labels = labels
        self.rejected_label = rejected_label

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> RejectingClassifier:
        """Fit the estimator, and the recalibration by cross-validation; both use the weights.

        Other parameters are the estimator's, or, by scikit-learn's metadata routing, the splitter's.
        """
        require_same_order(X=X, y=y, sample_weight=sample_weight)
        truth: Array = column_or_1d(fill_masked(y), warn=True)
        check_classification_targets(truth)
        self._require_options(np.unique(truth))
        routed = self._routed(sample_weight, params)
        self.estimator_ = clone(self.estimator).fit(X, truth, **routed.estimator.fit)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self.recalibration_ = None
        if self.calibration is not None:
            params = {**routed.estimator.fit, **routed.splitter.split}
            self.recalibration_ = self._fit_recalibration(X, truth, sample_weight, params)
        return self

    def _require_options(self, classes: Array) -> None:
        """Raise InputError unless rows of these classes can be recalibrated, and decided for."""
        if self.calibration in TWO_CLASS_METHODS and len(classes) > 2:
            raise InputError(
                "calibration",
                "method_of_two_classes",
                method=self.calibration,
                advice="Only binary classification is supported by it.",
            )
        every = _join_classes(self.cost, self.labels, classes)
        if len(every) < 2:
            raise InputError("y", "too_few_classes", got="one class")
        self._decided(np.full((1, len(every)), 1 / len(every)), every)

    def _routed(self, sample_weight: ArrayLike | None, params: dict[str, Any]) -> Bunch:
        """Return the arguments of the estimator's `fit` and of the splitter."""
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", sample_weight=sample_weight, **params)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        estimator = Bunch(fit={**params, **weights})
        return Bunch(estimator=estimator, splitter=Bunch(split={}))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which parameters of `fit` go where, as scikit-learn asks."""
        router = MetadataRouter(owner=self).add_self_request(self)
        fitting = MethodMapping().add(caller="fit", callee="fit")
        splitting = MethodMapping().add(caller="fit", callee="split")
        router.add(estimator=self.estimator, method_mapping=fitting)
        return router.add(splitter=self.cv, method_mapping=splitting)

    def _fit_recalibration(
        self, X: Any, y: Array, sample_weight: ArrayLike | None, params: dict[str, Any]
    ) -> Recalibration | None:
        """Fit a map of posteriors out of fold; None, with a warning, where no map is best."""
        cv = self._folds(X, y)
        out_of_fold = cross_val_predict(
            self.estimator, X, y, cv=cv, method="predict_proba", params=params
        )
        codes = np.searchsorted(self.classes_, y)
        method = str(self.calibration)
        try:
            return fit_recalibration(out_of_fold, codes, method=method, sample_weight=sample_weight)
        except FitError as error:
            warnings.warn(str(Note("not_recalibrated", {"reason": error})), stacklevel=3)
            return None

    def _folds(self, X: Any, y: Array) -> Any:
        """Return `cv` if it is a splitter, else the training and test rows (arrays) of each fold."""
        if not (self.cv is None or isinstance(self.cv, Integral)):
            return self.cv
        count = FOLDS if self.cv is None else int(self.cv)
        with reword_errors({"references": "y"}):
            require_classes(y, 2)  # one of which is in the rows that each fold leaves
        order = _content_order(X, y)
        splits = stratified_folds(count, grouped=False).split(order, y[order])
        return [(order[train], order[test]) for train, test in splits]

    def predict_proba(self, X: Any) -> Floats:
        """Return posteriors (N, K), recalibrated if asked for."""
        check_is_fitted(self)
        posteriors: Floats = self.estimator_.predict_proba(X)
        return posteriors if self.recalibration_ is None else self.recalibration_.apply(posteriors)

    def decide(self, X: Any) -> RowDecisions:
        """Return decisions, their uncertainties, and which are accepted."""
        return self._decided(*self._posteriors(X))

    def _posteriors(self, X: Any, *seen: ArrayLike) -> tuple[Floats, Array]:
        """Return posteriors (N, K) of all classes, also those `seen` elsewhere, and the classes."""
        posteriors = self.predict_proba(X)
        every = _join_classes(self.cost, self.labels, self.classes_, *seen)
        return _add_missing_classes(posteriors, self.classes_, every), every

    def _decided(self, posteriors: Floats, labels: Array) -> RowDecisions:
        """Return the decisions for posteriors (N, K) of the labels; without a reject cost all are accepted."""
        reject_cost = 0.0 if self.reject_cost is None else self.reject_cost
        rows = decide(posteriors, labels=labels, cost=self.cost, reject_cost=reject_cost)
        if self.reject_cost is not None:
            return rows
        return replace(rows, accepted=np.ones(len(posteriors), bool))

    def predict(self, X: Any) -> Array:
        """Return decisions (N,), or the rejected label."""
        rows = self.decide(X)
        assert rows.decision is not None
        if rows.accepted.all():
            return rows.decision
        are_numbers = rows.decision.dtype.kind in "iuf"
        label: Any = self.rejected_label
        if label is None:
            label = -1 if are_numbers else "rejected"
        if label in [*self.classes_.tolist(), *set(rows.decision.tolist())]:
            raise InputError(
                "rejected_label", "must be none of the classes and decisions", value=label
            )
        is_of_kind = are_numbers and np.asarray(label).dtype.kind in "iuf"
        decisions = rows.decision if is_of_kind else rows.decision.astype(object)
        return np.where(rows.accepted, decisions, label)

    def decision_costs(self, X: Any, y: ArrayLike) -> Floats:
        """Return what each row (N,) costs given its true class: its decision, or the reject cost."""
        posteriors, every = self._posteriors(X, y)
        accepts = self._decided(posteriors, every).accepted
        system = posterior_system(y, posteriors, labels=every, cost=self.cost)
        reject_cost = check_number(self.reject_cost or 0.0, "reject_cost", 0, math.inf)
        return np.where(accepts, system.decisions.candidate_cost, reject_cost)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return minus the mean cost, so that a search finds the cheapest."""
        require_same_order(X=X, y=y, sample_weight=sample_weight)
        costs = self.decision_costs(X, y)
        with reword_errors({"references and sample_weight": "y and sample_weight"}):
            weights = parse_weights(sample_weight, len(costs))
        return -float(np.average(costs, weights=weights))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self.estimator)
        is_of_two = self.calibration in TWO_CLASS_METHODS
        tags.classifier_tags.multi_class = (
            of_estimator.classifier_tags.multi_class and not is_of_two
        )
        tags.input_tags = of_estimator.input_tags
        return tags


def _content_order(X: Any, y: Array) -> Ints:
    """Return an order (N,) of rows by their content, which does not depend on the order they come in."""
    if issparse(X):
        by_row = X.tolil()
        X = [*zip(by_row.rows, by_row.data, strict=True)]
    features = np.asarray(X, dtype=object).tolist()
    rows = zip(features, y.tolist(), strict=True)
    contents = list(map(repr, rows))
    return np.array(sorted(range(len(y)), key=contents.__getitem__))


def _join_classes(
    cost: Cost,
    labels: ArrayLike | None,
    *seen: ArrayLike,
) -> Array:
    """Return the sorted classes: of `labels`, of the names in a cost, and those seen."""
    if labels is not None:
        classes = parse_classes(labels, "labels")
        check_classes(classes, labels, len(classes))  # a matrix has their order
    table = cost_frame_to_mapping(cost)
    named = list(table) if isinstance(table, Mapping) else []
    parts = [np.asarray(part) for part in (labels, named, *seen) if part is not None]
    every: Array = np.unique(np.concatenate([part for part in parts if part.size]))
    return every


def _add_missing_classes(posteriors: Floats, labels: ArrayLike, every: Array) -> Floats:
    """Return posteriors (N, K) of the classes `every`, 0 for those not among the labels."""
    wide = np.zeros((len(posteriors), len(every)))
    wide[:, np.searchsorted(every, labels)] = parse_numbers(posteriors, "posteriors")
    return wide


def _compute_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    all_labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    reject_cost: float | None = None,
    **options: Any,
) -> float:
    """Return ECUAS_n, or the expected cost, of posteriors (N, K), those of the second label (N,), or decisions (N,)."""
    posteriors = np.asarray(y_pred)
    if labels is None:
        labels = np.unique(posteriors)
        posteriors = (posteriors[:, None] == labels).astype(np.float64)  # certain decisions
    elif posteriors.ndim == 1:
        positive = parse_numbers(posteriors, "y_pred")
        posteriors = np.column_stack([1 - positive, positive])
    every = _join_classes(options["cost"], all_labels, labels, y_true)
    if len(every) == 1:
        return 0.0  # one class, decided for throughout
    wide = _add_missing_classes(posteriors, labels, every)
    options |= {"sample_weight": sample_weight, "reject_costs": reject_cost}
    system = posterior_system(y_true, wide, labels=every, **options)
    return compute_value(system, ECUAS_N if reject_cost is None else EXPECTED_COST)


class _Scorer(type(make_scorer(_compute_cost))):  # type: ignore[misc]
    """A scorer of `make_scorer` that also passes on the classes of the fitted classifier."""

    def _score(
        self,
        caller: Callable[..., ArrayLike],
        estimator: ClassifierMixin,
        X: object,
        y: ArrayLike,
        **more: object,
    ) -> float:
        posteriors = caller(estimator, "predict_proba", X, pos_label=None)
        options = {"labels": estimator.classes_, **self._kwargs, **more}
        return float(self._sign * _compute_cost(y, posteriors, **options))


def ecuas_scorer(
    *,
    n: float = 1,
    cost: Cost = "zero_one",
    normalize: bool = False,
    reject_cost: float | None = None,
    labels: ArrayLike | None = None,
) -> _Scorer:
    """Return a scorer: minus `ecuas_metric.ecuas_score` of a classifier's `predict_proba`, as scikit-learn maximises.

    With a reject cost, it is minus the expected cost of users with this one. It is an object of
    `sklearn.metrics.make_scorer`: ``set_score_request(sample_weight=True)`` routes weights to it, and
    `TunedThresholdClassifierCV` takes it, whose decisions count as certain. The classes are those of the fitted
    classifier, of `y`, each of which may lack some, as in folds, of a cost by their names, and `labels`; one that was
    not seen has the probability 0.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = [[0.1], [0.4], [0.5], [0.9], [0.2], [0.8]], ["no", "no", "yes", "yes", "no", "yes"]
    >>> cross_val_score(LogisticRegression(), X, y, scoring=ecuas_scorer(n=0), cv=3).round(2).tolist()
    [-0.95, -0.94, -0.94]
    >>> scoring = ecuas_scorer(cost={"no": 1, "yes": 5}, reject_cost=0.5)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=scoring, cv=3).round(2).tolist()
    [-0.5, -0.25, -0.25]
    """
    if reject_cost is not None and (n != 1 or normalize):
        raise InputError(
            "reject_cost",
            "cannot be used with n or normalize: the expected cost at it depends on neither",
        )
    options = {
        "n": n,
        "cost": cost,
        "normalize": normalize,
        "reject_cost": reject_cost,
        "all_labels": labels,
    }
    scorer: _Scorer = make_scorer(
        _compute_cost, response_method="predict_proba", greater_is_better=False, **options
    )
    scorer.__class__ = _Scorer
    return scorer

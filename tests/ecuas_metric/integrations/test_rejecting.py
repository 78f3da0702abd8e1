"""A classifier of scikit-learn that rejects: decisions and costs are those of `decide` and the scores."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from ecuas_metric import InputError, decide, fit_recalibration, score_posteriors
from ecuas_metric.integrations.sklearn import RejectingClassifier, ecuas_scorer
from tests.ecuas_metric.integrations.test_plugins import classified

pytestmark = pytest.mark.long  # it fits models

COST = {"bird": {"a": 0, "b": 4}, "cat": {"a": 1, "b": 0}, "dog": {"a": 2, "b": 1}}
MATRIX = np.array([[0, 4], [1, 0], [2, 1]])


def rejecting(**options):
    return RejectingClassifier(LogisticRegression(), **options)


# Scores of repeated rows may differ in the last digit, by which an isotonic map takes them for different ones.
FRAGILE = {
    "isotonic": dict.fromkeys(
        [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")],
        "last digits of scores",
    )
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "calibration",
    [
        None,
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("affine", "temperature")),
        "isotonic",
    ],
)
def test_scikit_learns_checks_pass(calibration):
    model = rejecting(calibration=calibration, cv=2)
    checks = check_estimator(model, expected_failed_checks=FRAGILE.get(calibration))
    assert all(check["status"] != "failed" for check in checks)


def test_where_no_map_is_best_posteriors_stay_with_a_warning():
    X = np.append(np.arange(20.0), np.arange(40.0, 60.0))[:, None]  # far apart, whatever the folds
    model = rejecting(calibration="affine")
    with pytest.warns(
        UserWarning, match=r"^Posteriors are left as they are: references must not be told apart"
    ):
        model.fit(X, X[:, 0] > 30)
    assert model.recalibration_ is None


FORMS = {
    "array": lambda X: X,
    "frame": lambda X: pd.DataFrame(X, columns=["a", "b"]),
    "sparse": csr_array,
    "rows": lambda X: X.tolist(),
    "texts": lambda X: [f"{a:.1f} {b:.1f}" for a, b in X],
}


@pytest.mark.parametrize(
    ("calibration", "form"),
    [("affine", "array"), ("temperature", "array"), *(("isotonic", form) for form in FORMS)],
)
def test_the_order_of_rows_does_not_matter(calibration, form, rng):
    X, y = classified(rng, ["no", "yes"])
    model = LogisticRegression(tol=1e-10)
    if form == "texts":
        model = make_pipeline(CountVectorizer(token_pattern=r"\S+"), model)
    model = RejectingClassifier(model, calibration=calibration, cv=3)
    order = rng.permutation(90)
    rows = FORMS[form]
    posteriors = model.fit(rows(X), y).predict_proba(rows(X))
    again = model.fit(rows(X[order]), y[order]).predict_proba(rows(X))
    np.testing.assert_allclose(again, posteriors, atol=1e-6)


@pytest.mark.parametrize("calibration", [None, "affine"])
def test_weights_are_routed_through_pipelines_and_searches(calibration, rng):
    """That they count rows is what `check_estimator` finds."""
    X, y = classified(rng, ["no", "yes"])
    weight = rng.integers(1, 4, 90).astype(float)
    model = rejecting(calibration=calibration, reject_cost=0.2)
    plain = model.fit(X, y, sample_weight=weight).predict_proba(X)
    assert np.abs(plain - model.fit(X, y).predict_proba(X)).max() > 1e-3
    with config_context(enable_metadata_routing=True):
        estimator = LogisticRegression().set_fit_request(sample_weight=True)
        routed = RejectingClassifier(estimator, calibration=calibration, reject_cost=0.2)
        routed.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), routed).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(pipeline.predict_proba(X), plain)
        grid = GridSearchCV(routed, {"estimator__C": [1.0]}, cv=KFold(3))
        found = grid.fit(X, y, sample_weight=weight).best_score_
        routed.set_params(cv=GroupKFold(3))
        routed.fit(X, y, sample_weight=weight, groups=np.arange(90) // 3)
    scores = []
    for train, test in KFold(3).split(X):
        model.fit(X[train], y[train], sample_weight=weight[train])
        scores.append(model.score(X[test], y[test], sample_weight=weight[test]))
    assert found == pytest.approx(np.mean(scores))


def test_weights_that_are_none_and_rows_in_another_order_are_refused(rng):
    X, y = classified(rng, ["no", "yes"])
    weight = np.ones(90)
    model = rejecting().fit(X, y)
    some = np.arange(90) < 3
    for wrong in (
        np.where(some, -1.0, weight),
        np.where(some, np.nan, weight),
        np.ma.masked_array(weight, some),
        weight[1:],
        0 * weight,
    ):
        with pytest.raises(InputError, match="sample_weight must"):
            model.score(X, y, sample_weight=wrong)
    frame = pd.DataFrame(X)
    turned = pd.Series(y)[::-1]
    for call in (model.fit, model.score):
        with pytest.raises(InputError, match="^X and y must have their rows in one order"):
            call(frame, turned)
    with pytest.raises(ValueError, match="type"):
        model.fit(X, np.ma.masked_array(np.arange(90) % 2, some))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": "log"}, "decide cannot be used with cost='log'"),
        ({"cost": "nil"}, "cost must be one of"),
        ({"cost": np.eye(3)}, r"cost must be 'zero_one', 'log' or have shape \(2, D\)"),
        ({"reject_cost": 0.6}, r"reject_cost must lie in \[0, 0.5\]"),
        ({"calibration": "platt"}, "method must be one of"),
        ({"calibration": "affine"}, "y must have at least 2 samples of each class"),
    ],
)
def test_what_cannot_decide_is_not_fitted(options, message, rng):
    X, y = classified(rng, ["no", "no"])
    y[0] = "yes"
    if options.get("calibration") != "affine":
        y[:9] = "yes"
    with pytest.raises(InputError, match=f"^{message}"):
        rejecting(**options).fit(X, y)
    model = rejecting().fit(X, y).set_params(cost="log")
    for call in (lambda: model.predict(X), lambda: model.decision_costs(X, y)):
        with pytest.raises(InputError, match="^decide cannot be used with cost='log'"):
            call()


@pytest.mark.parametrize("calibration", [None, "affine"])
def test_decisions_and_costs_are_those_of_the_functions(calibration, rng):
    X, y = classified(rng, ["bird", "cat", "dog"])
    forest = RandomForestClassifier(20, random_state=0)  # posteriors of 0
    folds = StratifiedKFold(4)
    options = {"calibration": calibration, "cv": folds}
    model = RejectingClassifier(forest, cost=COST, reject_cost=0.3, **options).fit(X[:60], y[:60])
    posteriors = forest.fit(X[:60], y[:60]).predict_proba(X[60:])
    if calibration:
        out_of_fold = cross_val_predict(forest, X[:60], y[:60], cv=folds, method="predict_proba")
        codes = np.unique(y[:60], return_inverse=True)[1]
        posteriors = fit_recalibration(out_of_fold, codes).apply(posteriors)
    rows = decide(posteriors, cost=COST, reject_cost=0.3)
    assert (
        model.predict(X[60:]).tolist()
        == np.where(rows.accepted, rows.decision.astype(object), "rejected").tolist()
    )
    scores = score_posteriors(y[60:], posteriors, cost=MATRIX, labels=list(COST), reject_costs=0.3)
    costs = model.decision_costs(X[60:], y[60:])
    assert costs.mean() == pytest.approx(scores["expected_cost_0.3"], abs=1e-12)
    assert model.score(X[60:], y[60:]) == -costs.mean()
    scorer = ecuas_scorer(cost=COST, reject_cost=0.3)
    assert scorer(model, X[60:], y[60:]) == pytest.approx(model.score(X[60:], y[60:]))


def test_pipelines_grids_and_folds_that_lack_a_class(rng):
    X, y = classified(rng, ["bird", "cat", "dog"])
    order = np.argsort(y, kind="stable")  # of three folds each lacks one in training
    X, y = X[order], y[order]
    options = {"cost": COST, "reject_cost": 0.3}
    model = RejectingClassifier(make_pipeline(StandardScaler(), LogisticRegression()), **options)
    matrix = {"cost": MATRIX, "labels": list(COST), "reject_cost": 0.3}
    settings = {"cv": KFold(3), "error_score": "raise"}
    ours = cross_val_score(model, X, y, **settings)
    for same in (
        cross_val_score(clone(model).set_params(**matrix), X, y, **settings),
        cross_val_score(model, X, y, scoring=ecuas_scorer(**options), **settings),
        cross_val_score(model, X, y, scoring=ecuas_scorer(**matrix), **settings),
    ):
        assert same == pytest.approx(ours)
    grid = GridSearchCV(
        model, {"estimator__logisticregression__C": [1e-6, 1.0], "calibration": [None, "affine"]}
    )
    assert grid.fit(X, y).best_params_["estimator__logisticregression__C"] == 1.0
    assert grid.best_score_ == pytest.approx(max(grid.cv_results_["mean_test_score"]))


def test_nothing_is_rejected_without_a_reject_cost_and_labels_of_rejection_are_no_classes(rng):
    X, y = classified(rng, ["no", "yes"])
    numbers = np.where(y == "no", -1, 1)
    plain = LogisticRegression().fit(X, numbers)
    model = rejecting().fit(X, numbers)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_array_equal(model.decision_costs(X, numbers), plain.predict(X) != numbers)
    model.set_params(reject_cost=0.0)
    with pytest.raises(
        InputError, match="rejected_label must be none of the classes and decisions; got -1"
    ):
        model.predict(X)
    assert (model.set_params(rejected_label=0).predict(X) == 0).all()
    with pytest.raises(InputError, match="reject_cost cannot be used with n or normalize"):
        ecuas_scorer(n=0, reject_cost=0.1)
    model.set_params(reject_cost=0.6)
    for refused in (model.predict, lambda X: model.decision_costs(X, numbers)):
        with pytest.raises(InputError, match=r"^reject_cost must lie in \[0, 0.5\]"):
            refused(X)
    model.set_params(reject_cost=0.1, cost=[[0, 5], [1, 0]], labels=[1, -1])
    with pytest.raises(InputError, match=r"^labels must be distinct and sorted"):
        model.score(X, numbers)


@pytest.mark.parametrize(
    ("classes", "options", "expected"),
    [
        ([False, True], {}, "rejected"),
        ([0, 1], {}, -1),
        ([0, 1], {"rejected_label": "human"}, "human"),
        ([0, 1], {"rejected_label": 0.5}, 0.5),
        (["no", "yes"], {}, "rejected"),
        (["no", "yes"], {"rejected_label": -1}, -1),
    ],
)
def test_what_is_rejected_has_its_label_whatever_the_classes_are(classes, options, expected, rng):
    X, y = classified(rng, classes)
    model = rejecting(reject_cost=0.1, **options).fit(X, y)
    rows = model.decide(X)
    assert 0 < rows.accepted.mean() < 1
    labels = [d if a else expected for d, a in zip(rows.decision, rows.accepted, strict=True)]
    assert model.predict(X).tolist() == labels


def test_no_decision_is_called_as_what_is_rejected(rng):
    X, y = classified(rng, ["no", "yes"])
    cost = {"no": {("a", 1): 1, None: 0}, "yes": {("a", 1): 0, None: 1}}
    model = rejecting(cost=cost, reject_cost=0.1).fit(X, y)
    assert set(model.predict(X)) == {("a", 1), None, "rejected"}
    cost = {"no": {"rejected": 1, "go": 0}, "yes": {"rejected": 0, "go": 1}}
    model = rejecting(cost=cost, reject_cost=0.1).fit(X, y)
    with pytest.raises(InputError, match="rejected_label must be none of the classes"):
        model.predict(X)

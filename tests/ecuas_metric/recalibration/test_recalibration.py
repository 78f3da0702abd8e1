import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.special import log_softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, KFold

from ecuas_metric import (
    InputError,
    Recalibration,
    apply_affine,
    apply_isotonic,
    cross_validated,
    fit_affine,
    fit_isotonic,
    fit_recalibration,
    fit_temperature,
)
from ecuas_metric.recalibration import METHODS
from ecuas_metric.recalibration.maps import Affine, Isotonic


def miscalibrated(rng, num_samples=4000, num_classes=4, scale=2.5, bias=(0.0, 1.0, -1.0, 0.5)):
    """Log-posteriors that softmax((log s - bias) / scale) would calibrate, and labels drawn accordingly."""
    log_q = log_softmax(rng.normal(size=(num_samples, num_classes)) * 1.5, axis=1)
    labels = (log_q + rng.gumbel(size=log_q.shape)).argmax(axis=1)
    return scale * log_q + np.array(bias[:num_classes]), labels


def test_the_fit_is_a_minimum_in_every_direction(rng):
    scores, labels = miscalibrated(rng, num_samples=500)
    fitted = fit_affine(scores, labels)

    def cross_entropy(scale, bias):
        return log_loss(labels, np.exp(log_softmax(scale * scores + bias, axis=1)))

    best = cross_entropy(*fitted)
    for step in np.vstack([np.eye(5), -np.eye(5)]) * 0.01:
        assert cross_entropy(fitted.scale + step[0], fitted.bias + step[1:]) >= best


@pytest.mark.parametrize("size", [1e-250, 1e-8, 1e-3, 1.0, 1e8, 1e250])
def test_scores_of_any_size_and_constants_per_row_are_calibrated_alike(size, rng):
    scores, labels = miscalibrated(rng, num_samples=500)
    given = (scores + rng.normal(size=(500, 1))) * size
    ours = apply_affine(fit_affine(given, labels), given)
    np.testing.assert_allclose(ours, apply_affine(fit_affine(scores, labels), scores), atol=1e-5)
    np.testing.assert_allclose(np.exp(ours).sum(axis=1), 1)


def is_separated(scores, labels):
    """By a linear programme: the largest sum of slacks a (s_y - s_k) - (b_k - b_y) >= 0 with |a| = 1 at most."""
    num, num_classes = scores.shape
    for sign in (1.0, -1.0):
        rows = []
        bounds = []
        for i, k in itertools.product(range(num), range(num_classes)):
            if k != labels[i]:
                row = np.zeros(num_classes)
                row[k] = 1.0
                row[labels[i]] = -1.0
                rows.append(row)
                bounds.append(sign * (scores[i, labels[i]] - scores[i, k]))
        solved = linprog(np.sum(rows, axis=0), rows, bounds, bounds=[(-100, 100)] * num_classes)
        if solved.status == 0 and np.sum(bounds) - solved.fun > 1e-6:
            return True
    return False


def separation_is_reported(fit, scores, labels):
    try:
        fit(scores, labels)
    except ValueError as error:
        return str(error).startswith(
            "references must not be told apart by the scores: the cross-entropy falls for"
        )
    return False


def test_separated_classes_are_reported_and_no_others(rng):
    found = []
    for _ in range(60):
        num_classes = rng.integers(2, 4)
        labels = np.r_[np.arange(num_classes), rng.integers(0, num_classes, rng.integers(0, 4))]
        scores = rng.integers(-2, 3, (len(labels), num_classes)).astype(float)
        expected = is_separated(scores, labels)
        assert separation_is_reported(fit_affine, scores, labels) == expected, (scores, labels)
        found.append(expected)
    assert 6 < sum(found) < 54


def test_a_temperature_exists_unless_every_answer_is_right_is_positive_and_has_no_bias(rng):
    scores = np.array([[1.0, 0.0, -1.0], [0.0, 2.0, 1.0], [0.5, 0.5, 0.0]])
    assert separation_is_reported(fit_temperature, scores, [0, 1, 0])
    assert not separation_is_reported(fit_temperature, scores, [0, 1, 2])
    assert fit_temperature(np.ones((3, 3)), [0, 1, 2]).scale > 0  # any will do
    scores, labels = miscalibrated(rng, num_samples=300)
    fitted = fit_temperature(scores, labels)
    assert fitted.scale > 0
    assert not fitted.bias.any()
    with pytest.raises(
        ValueError,
        match=r"^log_posteriors must rise with the true class; got a best scale of -.*Reversed",
    ):
        fit_temperature(-scores, labels)
    assert fit_affine(-scores, labels).scale < 0


def test_isotonic_is_scikit_learns(rng):
    confidence = rng.random(200)
    correct = rng.integers(0, 2, 200)
    new = rng.random(50)
    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    theirs = model.fit(confidence, correct).predict(new)
    np.testing.assert_allclose(apply_isotonic(fit_isotonic(confidence, correct), new), theirs)


def test_the_default_folds_keep_groups_together(rng):
    groups = np.repeat(np.arange(40), 5)
    folds = cross_validated(
        lambda scores, labels: set(scores[:, 0].tolist()),
        lambda seen, scores: np.full(scores.shape, not seen & set(scores[:, 0].tolist())),
        np.column_stack([groups, groups]),
        rng.integers(0, 2, 200),
        groups=groups,
    )
    assert folds.all()


@pytest.mark.parametrize("name", ["ids", "groups"])
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([None, *range(199)], "must name one for every sample; got None at index 0"),
        ([np.nan, *range(199)], "got nan at index 0"),
        (np.ma.masked_array(np.arange(200), np.arange(200) == 7), "got None at index 7"),
        (range(9), "must have the same length; got 200 and 9"),
        (np.ones((200, 2)), r"must be one-dimensional; got shape \(200, 2\)"),
    ],
)
def test_each_sample_has_an_id_and_a_group(name, values, said, rng):
    with pytest.raises(InputError, match=f"^(scores and )?{name} .*{said}"):
        cross_validated(
            fit_isotonic, apply_isotonic, rng.random(200), np.arange(200) % 2, **{name: values}
        )


@pytest.mark.parametrize(
    "splitter, groups", [(KFold(4), None), (GroupKFold(3), np.arange(200) // 6)]
)
def test_each_sample_is_recalibrated_by_the_other_folds(splitter, groups, rng):
    scores, labels = miscalibrated(rng, num_samples=200)
    ours = cross_validated(
        fit_affine, apply_affine, scores, labels, splitter=splitter, groups=groups
    )
    for train, test in splitter.split(scores, groups=groups):
        held_out = apply_affine(fit_affine(scores[train], labels[train]), scores[test])
        np.testing.assert_array_equal(ours[test], held_out)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: fit_affine([[0.0, np.nan]], [0]),
            "^log_posteriors must be finite; .* Its logarithm needs a floor",
        ),
        (
            lambda: fit_affine(np.eye(3), [0, 1, 0]),
            "^references must have a sample of each of the 3 classes; got none",
        ),
        (
            lambda: fit_affine([0.1, 0.2], [0, 1]),
            r"^log_posteriors must have shape \(N, K\), K >= 2; got shape \(2,\)",
        ),
        (lambda: fit_affine([[0.0, 1.0]], [2]), r"^references must be labels in \[0, 2\)"),
        (
            lambda: cross_validated(fit_isotonic, apply_isotonic, [0.1, 0.2], [0, 1]),
            "^scores must have at least as many samples as folds, 5; got 2",
        ),
        (
            lambda: cross_validated(
                fit_affine, apply_affine, np.eye(9, 2), [0] * 6 + [1] * 3, splitter=KFold(3)
            ),
            "^fold 3 of 3 cannot be fitted: references must have a sample of each",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_no_convergence_is_an_error(monkeypatch):
    import scipy.optimize

    def one_step(*arguments, options, **others):
        return original(*arguments, options=options | {"maxiter": 1}, **others)

    original = scipy.optimize.minimize
    monkeypatch.setattr(scipy.optimize, "minimize", one_step)
    with pytest.raises(RuntimeError, match="^the calibration did not converge in 1 iterations"):
        fit_affine(*miscalibrated(np.random.default_rng(0), num_samples=100))


@pytest.mark.parametrize("method", METHODS)
def test_what_is_deployed_is_the_fit_row_by_row_also_from_json(method, rng):
    """Confidences are posteriors of wrong and right; a probability of 0 has a floor; the order of rows is nothing."""
    scores, labels = miscalibrated(rng, num_samples=300, num_classes=2, bias=(0.0, 0.7))
    q = np.exp(log_softmax(scores, axis=1))
    q[:3, 1] = 0
    q /= q.sum(axis=1, keepdims=True)
    fitted = fit_recalibration(q, labels, method=method)
    ours = fitted.apply(q)
    logs = np.log(np.where(q == 0, fitted.floor, q))
    if method == "isotonic":
        theirs = apply_isotonic(fit_isotonic(q[:, 1], labels), q[:, 1])
    else:
        fit = fit_affine if method == "affine" else fit_temperature
        theirs = np.exp(apply_affine(fit(logs, labels), logs))[:, 1]
    np.testing.assert_allclose(ours[:, 1], theirs, atol=1e-7)
    again = Recalibration.from_json(fitted.to_json())
    np.testing.assert_array_equal(np.vstack([again.apply(row[None]) for row in q]), ours)
    np.testing.assert_allclose(
        fit_recalibration(q[:, 1], labels, method=method).apply(q[:, 1]), ours[:, 1], atol=1e-9
    )
    rows = rng.permutation(300)
    np.testing.assert_allclose(
        fit_recalibration(q[rows], labels[rows], method=method).apply(q), ours, atol=1e-6
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_weight_is_a_number_of_copies(method, rng):
    scores, labels = miscalibrated(rng, num_samples=200, num_classes=2, bias=(0.0, 0.7))
    q = np.exp(log_softmax(scores, axis=1))
    weight = rng.integers(0, 4, 200)
    fitted = fit_recalibration(q, labels, method=method, sample_weight=weight * 1e300)
    copies = np.repeat(np.arange(200), weight)
    repeated = fit_recalibration(q[copies], labels[copies], method=method)
    np.testing.assert_allclose(fitted.apply(q), repeated.apply(q), atol=1e-6)
    for wrong in (np.zeros(200), weight[1:], -weight, np.full(200, np.nan)):
        with pytest.raises(InputError, match="sample_weight must"):
            fit_recalibration(q, labels, method=method, sample_weight=wrong)


def test_columns_of_a_data_frame_are_of_the_classes_that_they_name(rng):
    q = rng.dirichlet(np.ones(3), 90)
    labels = np.arange(90) % 3
    fitted = fit_recalibration(q, labels)
    frame = pd.DataFrame(q, columns=["a", "b", "c"])[["c", "a", "b"]]
    named = Recalibration.from_json(fit_recalibration(frame, labels).to_json())
    for rows in (frame, frame[["b", "a", "c"]], q):
        np.testing.assert_array_equal(named.apply(rows), fitted.apply(q))
    with pytest.raises(InputError, match=r"^probabilities must have the classes of the fit, \('a'"):
        named.apply(frame.rename(columns={"a": "z"}))
    many = pd.DataFrame(np.full((22, 11), 1 / 11)).add_prefix("prob_")
    with pytest.raises(InputError, match="^probabilities must have columns in one order"):
        fit_recalibration(many, np.arange(22) % 11)


def test_a_recalibration_of_other_classes_or_another_method_is_refused(rng):
    two = fit_recalibration([0.5, 0.4], [0, 1], method="isotonic")
    with pytest.raises(InputError, match=r"^probabilities must have shape \(N, 2\), the classes"):
        two.apply([[0.2, 0.3, 0.5]])
    for truth, weight in (([1, 1], None), ([0, 1], [0, 1])):
        with pytest.raises(InputError, match="must contain more than one class to recalibrate"):
            fit_recalibration([0.5, 0.4], truth, method="isotonic", sample_weight=weight)
    with pytest.raises(
        InputError, match="must not be isotonic for posteriors of more than two classes"
    ):
        fit_recalibration(rng.dirichlet(np.ones(3), 9), np.arange(9) % 3, method="isotonic")
    with pytest.raises(InputError, match="must be one of 'affine', 'temperature', 'isotonic'"):
        fit_recalibration([0.5, 0.4], [0, 1], method="platt")


FITTED = {
    "affine": Affine(2.0, np.zeros(2)),
    "temperature": Affine(2.0, np.zeros(2)),
    "isotonic": Isotonic(np.array([0.2, 0.6]), np.array([0.1, 0.7])),
}
ALTERED = [  # of a record by a method, what is something else
    ("affine", {"method": "isotonic"}),
    ("affine", {"method": "platt"}),
    ("affine", {"floor": 0}),
    ("affine", {"scale": [1, 2]}),
    ("affine", {"scale": float("nan")}),
    ("affine", {"bias": [0, float("inf")]}),
    ("affine", {"bias": 1}),
    ("affine", {"temperature": 1}),
    ("affine", {"classes": 3}),
    ("temperature", {"scale": -1}),
    ("temperature", {"bias": [0, 1]}),
    ("isotonic", {"confidence": [0.5, 0.2]}),
    ("isotonic", {"confidence": [0.5]}),
    ("isotonic", {"recalibrated": [0.9, 0.2]}),
    ("isotonic", {"recalibrated": [0.9, 2.0]}),
    ("isotonic", {"confidence": [], "recalibrated": []}),
]


@pytest.mark.parametrize("method, changes", ALTERED)
def test_a_record_that_was_altered_is_refused(method, changes):
    record = json.loads(Recalibration(method, FITTED[method], 1e-7).to_json())
    assert Recalibration.from_json(json.dumps(record)).apply([0.5]) > 0
    for text in (json.dumps({**record, **changes}), "[1]", "3", "{", ""):
        with pytest.raises(InputError, match="text must be what `Recalibration.to_json` returns"):
            Recalibration.from_json(text)


@pytest.mark.parametrize("values", [[[3.0, -2.0]], [[0.7, 0.7]], [87.0], [-0.1], [[0.0, 0.0]]])
def test_what_is_no_probability_is_not_recalibrated(values):
    recalibration = Recalibration("affine", Affine(2.0, np.zeros(2)), 1e-7)
    for call in (recalibration.apply, lambda q: fit_recalibration(q, [1])):
        with pytest.raises(InputError, match="^probabilities must"):
            call(values)


@pytest.mark.parametrize("method", METHODS)
def test_a_masked_label_is_missing_and_not_what_is_below_the_mask(method, rng):
    q = rng.random(60)
    correct = np.ma.masked_array(np.arange(60) % 2, np.arange(60) == 7)
    with pytest.raises(InputError, match="got nan at index 7"):
        fit_recalibration(q, correct, method=method)
    with pytest.raises(InputError, match="fold 2 of 5 .* got nan at index 7"):
        cross_validated(fit_isotonic, apply_isotonic, q, correct, splitter=KFold(5))


def test_folds_of_repeated_ids_do_not_depend_on_the_order_of_the_rows(rng):
    q = rng.random(200)
    correct = rng.integers(0, 2, 200)
    ids = np.arange(200) // 4
    turned = rng.permutation(200)
    first = cross_validated(fit_isotonic, apply_isotonic, q, correct, ids=ids)
    again = cross_validated(
        fit_isotonic, apply_isotonic, q[turned], correct[turned], ids=ids[turned]
    )
    np.testing.assert_array_equal(first[turned], again)

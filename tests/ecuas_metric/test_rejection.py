"""What is decided for new rows is what is scored."""

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import (
    InputError,
    decide,
    decide_confidences,
    ecuas_score,
    score_posteriors,
)
from tests.conftest import seeds


def cost_of(rows, reject_cost, candidate_cost):
    return np.where(rows.accepted, candidate_cost, reject_cost).mean()


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_the_mean_cost_of_what_is_decided_is_the_expected_cost(seed):
    """Also equal to own arithmetic, for matrices of any shape, and reject costs that equal an uncertainty."""
    rng = np.random.default_rng(seed)
    num_classes = int(rng.integers(2, 21))
    q = rng.dirichlet(np.full(num_classes, 0.3), 60)
    labels = np.append(np.arange(num_classes), rng.integers(0, num_classes, 60 - num_classes))
    matrix = rng.exponential(size=(num_classes, int(rng.integers(1, 9))))
    expected = q @ matrix
    reject_cost = float(expected.min(axis=1)[seed % 60])
    rows = decide(q, cost=matrix, reject_cost=reject_cost)
    np.testing.assert_allclose(
        expected[np.arange(60), rows.decision], expected.min(axis=1), rtol=1e-12
    )
    np.testing.assert_allclose(rows.uncertainty, expected.min(axis=1), rtol=1e-12)
    assert rows.accepted[seed % 60]
    assert (rows.accepted == (rows.uncertainty <= reject_cost * (1 + 1e-12))).all()
    scores = score_posteriors(labels, q, cost=matrix, reject_costs=reject_cost)
    scored = scores[f"expected_cost_{reject_cost:g}"]
    assert cost_of(rows, reject_cost, matrix[labels, rows.decision]) == pytest.approx(
        scored, rel=1e-14
    )


def test_costs_and_decisions_by_name_are_those_of_the_matrix(rng):
    q = rng.dirichlet(np.ones(3), 50)
    classes = ["cat", "dog", "eel"]
    truth = np.array(classes)[rng.integers(0, 3, 50)]
    weights = {"eel": 4, "cat": 1, "dog": 2}
    matrix = np.array([1, 2, 4])[:, None] * (1 - np.eye(3))
    assert ecuas_score(truth, q, cost=weights) == ecuas_score(truth, q, cost=matrix)
    numbered = decide(q, cost=matrix, reject_cost=0.5)
    shuffled = pd.DataFrame(q, columns=classes)[["eel", "cat", "dog"]]
    for y_prob, options in (
        (q, {"cost": weights}),
        (q, {"cost": matrix, "labels": classes}),
        (shuffled, {"cost": matrix}),
    ):
        rows = decide(y_prob, reject_cost=0.5, **options)
        assert rows.decision.tolist() == np.array(classes)[numbered.decision].tolist()
        np.testing.assert_array_equal(rows.uncertainty, numbered.uncertainty)
    tables = {
        name: dict(zip("xy", row, strict=True))
        for name, row in zip(classes, matrix[:, :2], strict=True)
    }
    expected = np.array(["x", "y"])[decide(q, cost=matrix[:, :2], reject_cost=0.5).decision]
    assert decide(q, cost=tables, reject_cost=0.5).decision.tolist() == expected.tolist()
    two = pd.DataFrame({True: q[:, 0], False: 1 - q[:, 0]})
    rows = decide(two, reject_cost=0.5)
    assert rows.decision.tolist() == (two[True] > two[False]).tolist()  # as names, not as a mask


def test_a_data_frame_of_costs_says_which_class_and_which_decision_it_means(rng):
    q = rng.dirichlet(np.ones(3), 50)
    truth = np.array(["cat", "dog", "eel"])[rng.integers(0, 3, 50)]
    table = pd.DataFrame(rng.random((3, 3)), ["eel", "cat", "dog"], ["keep", "drop", "call"])
    matrix = table.loc[["cat", "dog", "eel"]].to_numpy()
    assert ecuas_score(truth, q, cost=table) == ecuas_score(truth, q, cost=matrix)
    rows = decide(q, cost=table, reject_cost=0.1)
    numbers = decide(q, cost=matrix, reject_cost=0.1)
    assert rows.decision.tolist() == table.columns[numbers.decision].tolist()
    np.testing.assert_array_equal(rows.uncertainty, numbers.uncertainty)
    negative = decide(pd.DataFrame(q, columns=[-2, -1, 0]), cost=matrix, reject_cost=0.1)
    np.testing.assert_array_equal(negative.decision, numbers.decision - 2)
    unnamed = decide(q, cost=pd.DataFrame(matrix), reject_cost=0.1)
    np.testing.assert_array_equal(unnamed.decision, numbers.decision)


@pytest.mark.parametrize("names", [("x", 1), ((1, 2), (3, 4)), (None, "x"), (True, False), (1, 2)])
def test_decisions_keep_the_names_that_they_have(names):
    cost = {"a": dict(zip(names, (0, 1), strict=True)), "b": dict(zip(names, (1, 0), strict=True))}
    rows = decide([[0.9, 0.1], [0.1, 0.9]], cost=cost, reject_cost=0.5)
    assert rows.decision.shape == (2,)
    assert rows.decision.tolist() == list(names)


FLAT = "predictions_are cannot be positive_probabilities here: y_prob of shape (N,) is"
UNORDERED = pd.DataFrame(np.eye(11)).add_prefix("")
REFUSED = [  # what is given to `decide` -> what it says
    ({"y_prob": [0.5], "predictions_are": "positive_probabilities"}, FLAT),
    ({"reject_cost": 10}, "reject_cost must lie in [0, 0.5]"),
    ({"y_prob": [[0.5, 0.6]]}, "y_prob must have rows that sum to 1"),
    ({"cost": "log"}, "decide cannot be used with cost='log'"),
    ({"labels": ["a"]}, "labels must have as many classes"),
    ({"cost": {"a": 1}, "labels": ["a", "b"]}, "cost must have the costs of each"),
    ({"cost": {"a": {"x": 1}, "b": 2}}, "cost must have the costs of the same"),
    ({"y_prob": UNORDERED, "cost": np.eye(11)}, "y_prob must have columns in one order, as text"),
]
REFUSED_CONFIDENCES = [
    ({"confidence": [87.0]}, "confidence must lie in [0, 1]"),
    ({"confidence": [np.nan]}, "confidence must not be NaN"),
    ({"reject_cost": 0.7, "num_classes": 2}, "reject_cost must lie in [0, 0.5]"),
]


@pytest.mark.parametrize(
    "function, arguments, message",
    [
        *((decide, {"y_prob": [[0.5, 0.5]]} | given, said) for given, said in REFUSED),
        *(
            (decide_confidences, {"confidence": [0.5]} | given, said)
            for given, said in REFUSED_CONFIDENCES
        ),
    ],
)
def test_what_cannot_be_decided_is_refused(function, arguments, message):
    with pytest.raises(InputError) as error:
        function(**{"reject_cost": 0.1} | arguments)
    assert str(error.value).startswith(message)

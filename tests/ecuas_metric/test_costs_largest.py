import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecuas_metric import costs as games
from ecuas_metric.costs import largest_uncertainty

COSTS = [0.0, 1e-3, 0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 10.0, 1e3, 1e5, 1e7]


def solution(rows):
    """Solve the square system rows @ x = 1 in fractions by Cramer's rule of Gauss; None if it is singular."""
    table = [[*row, Fraction(1)] for row in rows]
    for i in range(len(table)):
        pivot = next((k for k in range(i, len(table)) if table[k][i]), None)
        if pivot is None:
            return None
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [value / table[i][i] for value in table[i]]
        for k in range(len(table)):
            if k != i:
                table[k] = [a - table[k][i] * b for a, b in zip(table[k], table[i], strict=True)]
    return [row[-1] for row in table]


def value_of_game(matrix):
    """The value by Shapley and Snow 1950: some square part of the matrix solves the whole, all of them are tried."""
    exact = [[Fraction(float(cost)) + 1 for cost in row] for row in matrix]  # + 1: no part that matters is singular
    classes, decisions = range(len(exact)), range(len(exact[0]))
    for size in range(1, min(len(exact), len(exact[0])) + 1):
        for some, of in itertools.product(
            itertools.combinations(classes, size), itertools.combinations(decisions, size)
        ):
            y = solution([[exact[k][d] for d in of] for k in some])
            q = solution([[exact[k][d] for k in some] for d in of])
            if y is None or q is None or min(*y, *q) < 0:
                continue
            low = min(sum(p * exact[k][d] for p, k in zip(q, some, strict=True)) for d in decisions)
            high = max(sum(p * exact[k][d] for p, d in zip(y, of, strict=True)) for k in classes)
            if low == high == 1:
                return 1 / sum(q) - 1
    raise AssertionError("every game has a value")


def simple_matrices(count):
    rng = np.random.default_rng(0)
    while count:
        matrix = rng.choice(COSTS, rng.integers(2, 5, 2))
        if matrix.any(axis=0).all():
            count -= 1
            yield matrix


def test_the_value_of_simple_matrices_is_that_of_exact_fractions():
    for matrix in simple_matrices(400):
        assert largest_uncertainty(matrix) == float(value_of_game(matrix)), matrix


def test_large_matrices_agree_with_their_solution_in_integers(monkeypatch):
    matrices = list(simple_matrices(100))
    expected = [largest_uncertainty(matrix) for matrix in matrices]
    monkeypatch.setattr(games, "LARGEST_EXACT", 0)
    np.testing.assert_allclose([largest_uncertainty(matrix) for matrix in matrices], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("matrix", "value"),
    [
        ([[0, 1], [1e7, 0]], 1e7 / (1e7 + 1)),
        ([[0.01, 0.001], [0.001, 1e5]], (0.01 * 1e5 - 0.001**2) / (0.01 + 1e5 - 0.002)),
        ([[0, 1, 0.3], [1e7, 0, 0.3]], 0.3),
        ([[0, 1e300], [1e-300, 0]], 1e-300),
        ([[5.0]], 5.0),
    ],
)
def test_costs_of_any_span(matrix, value):
    assert largest_uncertainty(np.array(matrix, float)) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("num_classes", [2, 5, 10, 40])
def test_the_zero_one_cost(num_classes):
    cost = 1 - np.eye(num_classes)
    assert largest_uncertainty(cost) == pytest.approx(1 - 1 / num_classes, rel=1e-14)


@given(
    arrays(np.float64, (3, 4), elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])).filter(
        lambda matrix: matrix.max(axis=0).min() > 0
    )
)
def test_the_value_is_reached_on_a_fine_grid_of_the_simplex(matrix):
    a, b = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
    q = np.stack([a, b, 1 - a - b], axis=-1)[a + b <= 1]
    on_grid = (q @ matrix).min(axis=1).max()
    largest = largest_uncertainty(matrix)
    assert on_grid <= largest * (1 + 1e-9)
    assert largest <= on_grid + 0.01 * matrix.max()


def test_a_decision_that_never_costs_anything_is_refused_and_named():
    rule = "cost must make every decision cost something for some class; got decision 1, which costs nothing for any"
    with pytest.raises(ValueError, match=f"^{rule} "):
        largest_uncertainty(np.array([[1.0, 0.0], [2.0, 0.0]]))


def test_what_cannot_be_verified_is_refused_for_that_reason(monkeypatch):
    with pytest.raises(ValueError, match=r"^cost must have a largest uncertainty that can be verified; got one"):
        largest_uncertainty(np.array([[0, 5e-324], [5e-324, 0]]))
    with pytest.raises(ValueError, match=r"got one between 0 and 0\. Leave out"):
        largest_uncertainty(np.array([[0, 1e200, 0], [5e-324, 0, 0], [0, 0, 5e-324]]))
    monkeypatch.setattr(games, "LARGEST_EXACT", 0)
    monkeypatch.setattr(games, "_strategies", lambda matrix: (np.array([1.0, 0.0]), np.array([0.5, 0.5])))
    with pytest.raises(ValueError, match=r"got one between 0 and 5\. Leave out"):
        largest_uncertainty(np.array([[0.0, 1.0], [10.0, 0.0]]))

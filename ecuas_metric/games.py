"""The largest uncertainty u_M of a cost matrix: the value of the game of the classes against the decisions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .inputs import Array, Floats

Integers = NDArray[np.object_]  # Python's, of any size
LARGEST_EXACT = 40_000  # bits of all costs as whole numbers up to which the programme is solved in these
GAP = 1e-9  # between primal and dual, relative, up to which a larger programme counts as solved


def largest_uncertainty(matrix: Floats) -> float:
    r"""Return u_M of a cost matrix, the uncertainty of a system that knows nothing in the worst case.

    .. math:: u_M = \max_q \min_d \sum_k q_k C_{kd} = \min_y \max_k \sum_d C_{kd} y_d

    over the distributions q of classes and y of decisions, a linear programme and its dual. It is solved in integers,
    whatever the span of the costs: the two sides are equal, and u_M is their value rounded once. A large matrix, from
    about 20 classes and decisions on, is solved in float64, and the two sides must agree to 1e-9.

    Parameters
    ----------
    matrix : ndarray, shape (K, D)
        C[k, d] >= 0, finite.

    Returns
    -------
    float
        u_M > 0.

    Raises
    ------
    InputError
        If a decision costs nothing whatever the class, so that there is nothing to evaluate; or if the two sides
        do not agree.

    References
    ----------
    Estienne et al., Equation dB_final; von Neumann 1928, "Zur Theorie der Gesellschaftsspiele" (the two sides agree).

    Examples
    --------
    >>> largest_uncertainty(np.array([[0.0, 1.0], [1e7, 0.0]]))
    0.99999990000001
    """
    free = (matrix == 0).all(axis=0)
    if free.any():
        got, count = f"decision {free.argmax()}, which costs nothing for any", int(np.count_nonzero(free))
        rule = "must make every decision cost something for some class"
        raise InputError("cost", rule, value=int(free.argmax()), got=got, count=count, total=len(free))
    exponents = np.frexp(matrix[matrix > 0])[1]
    if matrix.size * (53 + int(np.ptp(exponents))) <= LARGEST_EXACT:
        costs, unit = _integers(matrix, int(exponents.min()) - 53)
        low, high = (bound * unit for bound in _bounds(costs, *_simplex(costs)))
    else:
        low, high = _bounds(matrix, *_strategies(matrix))
    largest = float(low)
    if high - low > GAP * high or largest < np.finfo(np.float64).tiny:
        got = f"one between {float(low):g} and {float(high):g}"
        advice = "Leave out costs that are too small to matter, or too large to happen."
        raise InputError("cost", "must have a largest uncertainty that can be verified", got=got, advice=advice)
    return largest


def _bounds(costs: Array, q: Array, y: Array) -> tuple[Any, Any]:
    """Return what the weights q of classes guarantee and what those of decisions y allow; u_M lies between."""
    low, high = (q @ costs).min(), (costs @ y).max()
    if costs.dtype == object:
        return Fraction(low, q.sum()), Fraction(high, y.sum())
    return low / q.sum(), high / y.sum()


def _integers(matrix: Floats, exponent: int) -> tuple[Integers, Fraction]:
    """Return whole numbers and the power of 2 by which they are the matrix, as all floats are such products."""
    unit = Fraction(2) ** exponent
    wholes = [int(Fraction(cost) / unit) for cost in matrix.ravel().tolist()]
    return np.array(wholes, object).reshape(matrix.shape), unit


def _simplex(costs: Integers) -> tuple[Integers, Integers]:
    """Return weights of classes and of decisions that solve the programme, in integers.

    Maximise the sum of y >= 0 where costs @ y <= 1, from y = 0. All entries share one denominator, the last pivot,
    and every division comes out even (Edmonds); the first index that can enter or leave does (Bland), so that it ends.
    """
    num_classes, num_decisions = costs.shape
    table = np.zeros((num_classes + 1, num_decisions + 1), object)
    table[:-1, :-1], table[:-1, -1], table[-1, :-1] = costs, 1, -1
    rows, columns = np.arange(num_classes) + num_decisions, np.arange(num_decisions)
    denominator = 1
    while (entering := np.flatnonzero(table[-1, :-1] < 0)).size:
        column = entering[columns[entering].argmin()]
        row = _leaving(table, rows, column)
        pivot = table[row, column]
        kept_row, kept_column = table[row].copy(), table[:, column].copy()
        table = (table * pivot - np.multiply.outer(kept_column, kept_row)) // denominator
        table[row], table[:, column], table[row, column] = kept_row, -kept_column, denominator
        rows[row], columns[column] = columns[column], rows[row]
        denominator = pivot
    solution = np.zeros(num_decisions + num_classes, object)
    solution[rows] = table[:-1, -1]
    prices = np.zeros(num_decisions + num_classes, object)
    prices[columns] = table[-1, :-1]
    return prices[num_decisions:], solution[:num_decisions]


def _leaving(table: Integers, rows: Array, column: int) -> int:
    """Return the row that limits the column most: the least ratio of the last column to it."""
    candidates = np.flatnonzero(table[:-1, column] > 0)
    return int(min(candidates, key=lambda row: (Fraction(table[row, -1], table[row, column]), rows[row])))


def _strategies(matrix: Floats) -> tuple[Floats, Floats]:
    """Return weights of classes and of decisions that solve the programme but for rounding."""
    from scipy.optimize import linprog

    of_class, of_decision = _scales(matrix)
    solution = linprog(
        c=-of_decision,  # maximise the sum of y = of_decision * z where matrix @ y <= 1
        A_ub=matrix * of_class[:, None] * of_decision,
        b_ub=of_class,
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.x is None:
        raise InputError("cost", "must have a largest uncertainty", got=str(solution.message))
    q, y = np.maximum(-solution.ineqlin.marginals, 0) * of_class, np.maximum(solution.x, 0) * of_decision
    return _polished(matrix, q, y)


def _scales(matrix: Floats) -> tuple[Floats, Floats]:
    """Return factors of rows and columns that bring the positive costs close to 1."""
    logs = np.log2(np.where(matrix > 0, matrix, np.nan))
    of_class, of_decision = np.zeros(len(matrix)), np.zeros(matrix.shape[1])
    for _ in range(4):
        of_class = -_centre(logs + of_decision, axis=1)
        of_decision = -_centre(logs + of_class[:, None], axis=0)
    return np.exp2(np.round(of_class)), np.exp2(np.round(of_decision))


def _centre(logs: Floats, axis: int) -> Floats:
    known = np.isfinite(logs)
    return np.asarray(np.where(known, logs, 0.0).sum(axis=axis) / np.maximum(known.sum(axis=axis), 1))


def _polished(matrix: Floats, q: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Solve again, as equations, for what is positive in a solution of the programme, if that is a square."""
    of_q, of_y = np.flatnonzero(q), np.flatnonzero(y)
    if len(of_q) != len(of_y):
        return q, y
    square, ones = matrix[np.ix_(of_q, of_y)], np.ones(len(of_q))
    try:
        exact_q, exact_y = np.linalg.solve(square.T, ones), np.linalg.solve(square, ones)
    except np.linalg.LinAlgError:
        return q, y
    if min(exact_q.min(), exact_y.min()) < 0:
        return q, y
    q, y = np.zeros_like(q), np.zeros_like(y)
    q[of_q], y[of_y] = exact_q, exact_y
    return q, y

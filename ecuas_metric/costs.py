"""Per-sample costs of a candidate decision that may be rejected. A metric is the mean of such an array."""

import itertools
import math
import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, Note, warn_of
from .inputs import Array, Bools, Floats, Ints, non_negative, require

# 1 - 0.7 is 0.30000000000000004: what is equal on paper must compare as equal. Uncertainties have 14 digits.
ROUNDING = 1e-13
SMALLEST_ORDER = 1e-300  # below it (n + 1) / n overflows, and ECUAS_n is ECUAS_0 to the last digit
LARGEST_SQUARED = 1024  # the largest n whose powers are taken by squaring, ten times
PARTS = 1000  # of [0, u_M] that are integrated apart, so that no peak of that width is missed
# an uncertainty from float32 posteriors may pass max_uncertainty by its own rounding
ABOVE_TOLERANCE = 1e-6
Integers = NDArray[np.object_]  # Python's, of any size
# bits of all costs as integers, up to which the programme is solved in integers
LARGEST_EXACT = 40_000
GAP = 1e-9  # between primal and dual, relative, up to which a larger programme counts as solved


def ecuas_cost(
    *,
    candidate_cost: ArrayLike,
    uncertainty: ArrayLike,
    n: float = 0,
    max_uncertainty: float = 1.0,
    epsilon: float = 1e-7,
) -> Floats:
    r"""Return the cost of each sample averaged over all reject costs, with a weight that grows as their (n-1)-th power.

    With :math:`r = u / u_M`:

    .. math::
        C_0 = r + c \frac{\log u_M - \log u}{u_M}, \qquad
        C_n = r\,r^n + c \frac{n+1}{n\,u_M} (1 - r^n) \quad (n > 0)

    and in the limit of infinite n, :math:`c / u_M` where :math:`u < u_M` and 1 where :math:`u = u_M`. In the logarithm
    and in the power :math:`r^n`, u is at least `epsilon`: the cost is finite, and continuous in n also at n = 0.

    Parameters
    ----------
    candidate_cost : array_like, shape (N,)
        c >= 0, the cost of the candidate decision given the truth; 0 or 1 for the 0-1 cost.
    uncertainty : array_like, shape (N,)
        u >= 0, in the unit of the cost. Above `max_uncertainty` the cost is 1 whatever c is, with a warning.
    n : float, default 0
        In [0, inf]. Small n punishes confident mistakes, large n tends to the mean candidate cost.
    max_uncertainty : float, default 1
        u_M > 0, the uncertainty of a system that knows nothing: 1 - 1/K for the 0-1 cost and K classes.
    epsilon : float, default 1e-7
        Floor of u inside the logarithm of n = 0 and the n-th power of other n, below `max_uncertainty`.

    Returns
    -------
    ndarray of float64, shape (N,)
        In [0, inf); 1 where the uncertainty is `max_uncertainty`.

    Raises
    ------
    InputError
        If n, an uncertainty or a cost is negative or nan, the shapes differ, or `max_uncertainty` or `epsilon` is out
        of range.

    References
    ----------
    Estienne et al., "ECUAS_n: A family of metrics for principled evaluation of uncertainty-augmented systems",
    Equation psr_integral_n and the safeguard of the section "C_n: a special case of C_w".

    Examples
    --------
    An answer given with confidence 0.9, right and wrong:

    >>> ecuas_cost(candidate_cost=[0, 1], uncertainty=[0.1, 0.1], n=1).round(4).tolist()
    [0.01, 1.81]
    """
    c, u = _check(candidate_cost, uncertainty, max_uncertainty)
    if not n >= 0:
        raise InputError("n", "negative_or_nan", value=n)
    return ecuas_of_checked(u, c, n=n, max_uncertainty=max_uncertainty, epsilon=epsilon)[()]


def ecuas_of_checked(
    u: Floats,
    c: Floats,
    *,
    n: float,
    max_uncertainty: float,
    epsilon: float,
) -> Floats:
    """Return `ecuas_cost` of checked arrays (N,)."""
    ratio = np.clip(u, 0.0, max_uncertainty)
    if max_uncertainty != 1:
        ratio = ratio / max_uncertainty
    if n == math.inf:
        return np.where(ratio < 1 - ROUNDING, c / max_uncertainty, 1.0)
    if not 0 < epsilon < max_uncertainty:
        raise InputError("epsilon", "epsilon_out_of_range", value=epsilon, largest=max_uncertainty)
    floored = np.maximum(ratio, epsilon / max_uncertainty)
    if n < SMALLEST_ORDER:
        return ratio - np.log(floored) * c * (1 / max_uncertainty)
    if 1 <= n <= LARGEST_SQUARED and n == int(n):
        power = _whole_power(floored, int(n))
        return ratio * power + (1 - power) * c * ((n + 1) / n / max_uncertainty)
    # exact also where 1 - r^n is small, as it is for small n
    with np.errstate(over="ignore"):  # n log r = -inf gives the right limit, 0
        exponent = np.log(floored) * n
    beyond = np.expm1(exponent) / n
    return ratio * np.exp(exponent) - beyond * c * ((n + 1) / max_uncertainty)


def fixed_reject_cost(
    *,
    candidate_cost: ArrayLike,
    uncertainty: ArrayLike,
    reject_cost: float,
    max_uncertainty: float = math.inf,
) -> Floats:
    """Return the cost of each sample where rejecting it costs `reject_cost`: c if accepted (u <= gamma), else gamma.

    Parameters
    ----------
    candidate_cost, uncertainty : array_like, shape (N,)
        c >= 0 and u >= 0, in the unit of the reject cost.
    reject_cost : float
        gamma >= 0.
    max_uncertainty : float, default infinity
        u_M; above it a sample is always rejected.

    Returns
    -------
    ndarray of float64, shape (N,)
        In [0, inf).

    Raises
    ------
    InputError
        If the reject cost, an uncertainty or a cost is negative or nan, or the shapes differ.

    References
    ----------
    Estienne et al., Equation psr_gamma_fixed; its mean is Equation ecuas_gamma.

    Examples
    --------
    >>> fixed_reject_cost(candidate_cost=[0, 1, 1], uncertainty=[0.1, 0.1, 0.6], reject_cost=0.25).tolist()
    [0.0, 1.0, 0.25]
    """
    if not reject_cost >= 0:
        raise InputError("reject_cost", "negative", value=reject_cost)
    if not max_uncertainty > 0:
        raise InputError("max_uncertainty", "not_positive", value=max_uncertainty)
    c, u = _arrays(candidate_cost, uncertainty)
    return fixed_of_checked(u, c, reject_cost=reject_cost, max_uncertainty=max_uncertainty)


def fixed_of_checked(
    u: Floats,
    c: Floats,
    *,
    reject_cost: float,
    max_uncertainty: float,
) -> Floats:
    """Return `fixed_reject_cost` of checked arrays (N,)."""
    return np.where(
        accepted(u, reject_cost=reject_cost, max_uncertainty=max_uncertainty), c, reject_cost
    )


def accepted(
    uncertainty: Floats,
    *,
    reject_cost: float,
    max_uncertainty: float = math.inf,
) -> Bools:
    """Return which samples a user with this reject cost accepts: u <= gamma, up to rounding, and u <= u_M."""
    rounding = ROUNDING * max(reject_cost, 1.0 if max_uncertainty == math.inf else max_uncertainty)
    return (uncertainty <= reject_cost + rounding) & ~above(uncertainty, max_uncertainty)


def weighted_cost(
    *,
    candidate_cost: ArrayLike,
    uncertainty: ArrayLike,
    weight_function: Callable[[float], float],
    max_uncertainty: float = 1.0,
    break_points: ArrayLike = (),
) -> Floats:
    r"""Return the cost of each sample integrated over reject costs with any weight function w on [0, u_M].

    .. math:: C_w = \int_0^u \gamma w(\gamma)\,d\gamma + c \int_u^{u_M} w(\gamma)\,d\gamma

    by adaptive quadrature between the uncertainties, the break points and 1,000 equal parts of [0, u_M]: a peak of
    1/1000 of u_M is found anywhere, a narrower one where break points enclose it.

    Parameters
    ----------
    candidate_cost, uncertainty : array_like, shape (N,)
        c >= 0 and u >= 0. Above `max_uncertainty` the second integral is 0, with a warning.
    weight_function : callable
        gamma in (0, u_M] to w(gamma) >= 0, finite; its integrals must exist.
    max_uncertainty : float, default 1
        u_M > 0.
    break_points : array_like, shape (P,), optional
        Reject costs in [0, u_M] where w jumps, or between which it has a narrow peak.

    Returns
    -------
    ndarray of float64, shape (N,)
        In [0, inf).

    Raises
    ------
    InputError
        If an uncertainty or a cost is negative or nan, the shapes differ, `max_uncertainty` is not positive, a
        weight is negative, infinite or nan, a break point is out of range, or an integral does not converge, e.g.
        that of w = 1 / gamma from an uncertainty of 0.

    References
    ----------
    Estienne et al., Equation psr_integral.

    Examples
    --------
    The constant weight 2 is ECUAS_1:

    >>> weighted_cost(candidate_cost=[1], uncertainty=[0.1], weight_function=lambda gamma: 2.0).round(4).tolist()
    [1.81]
    """
    c, u = _check(candidate_cost, uncertainty, max_uncertainty)
    u = np.minimum(u, max_uncertainty)
    breaks = np.asarray(break_points, np.float64).ravel()
    ok = (breaks >= 0) & (breaks <= max_uncertainty)
    require(ok, breaks, "break_points", "out_of_range", largest=max_uncertainty)
    parts = np.linspace(0, max_uncertainty, PARTS + 1)
    edges = np.unique(np.concatenate([u.ravel(), breaks, parts]))
    weight = _non_negative_weight(weight_function)
    reached = edges[edges <= u.max(initial=0.0)]
    moments = _integrals(lambda gamma: gamma * weight(gamma), reached)
    # Only samples that cost something look above their uncertainty: 1 / gamma may diverge at 0 unseen.
    seen = np.min(u, where=c > 0, initial=max_uncertainty)
    masses = _integrals(weight, edges[edges >= seen])
    below = np.append(0.0, np.cumsum(moments))
    beyond = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    index = np.searchsorted(edges, u)
    first_beyond = len(edges) - len(beyond)
    mass = beyond[np.maximum(index - first_beyond, 0)]
    return np.asarray(below[index] + c * mass)


def above(uncertainty: Floats, max_uncertainty: float) -> Bools:
    """Return which uncertainties exceed u_M by more than rounding."""
    return uncertainty > max_uncertainty * (1 + ABOVE_TOLERANCE)


def note_above(
    uncertainty: Floats, max_uncertainty: float, *, advice: str = "check_cost"
) -> tuple[Note, ...]:
    """Return a note if samples have uncertainties above u_M."""
    if not above(uncertainty.max(initial=0.0), max_uncertainty):
        return ()
    count = np.count_nonzero(above(uncertainty, max_uncertainty))
    total = uncertainty.size
    fields = {"count": count, "total": total, "share": count / total, "largest": max_uncertainty}
    return (Note("above_max_uncertainty", fields, advice),)


def _check(
    candidate_cost: ArrayLike,
    uncertainty: ArrayLike,
    max_uncertainty: float,
) -> tuple[Floats, Floats]:
    if not 0 < max_uncertainty < math.inf:
        raise InputError("max_uncertainty", "not_positive_and_finite", value=max_uncertainty)
    c, u = _arrays(candidate_cost, uncertainty)
    warn_of(note_above(u, max_uncertainty), stacklevel=3)
    return c, u


def _arrays(candidate_cost: ArrayLike, uncertainty: ArrayLike) -> tuple[Floats, Floats]:
    c = np.asarray(candidate_cost, np.float64)
    u = np.asarray(uncertainty, np.float64)
    for name, values in (("candidate_cost", c), ("uncertainty", u)):
        if not values.min(initial=0.0) >= 0:  # nan is not
            non_negative(np.atleast_1d(values), name)
    if c.shape != u.shape:
        got = f"{c.shape} and {u.shape}"
        raise InputError("candidate_cost and uncertainty", "shapes_differ", got=got)
    return c, u


def _whole_power(base: Floats, n: int) -> Floats:
    """Return base^n: squared for each binary digit of n after the first, and multiplied where the digit is 1."""
    power = base
    for digit in f"{n:b}"[1:]:
        power = np.square(power)
        if digit == "1":
            power *= base
    return power


def _non_negative_weight(
    function: Callable[[float], float],
) -> Callable[[float], float]:
    def checked(gamma: float) -> float:
        weight = float(function(gamma))
        if not 0 <= weight < math.inf:
            got = f"{weight} at a reject cost of {gamma:g}"
            raise InputError("weight_function", "negative_or_infinite", value=weight, got=got)
        return weight

    return checked


def _integrals(
    function: Callable[[float], float],
    edges: Floats,
) -> Floats:
    """Integrate over each interval between consecutive edges."""
    from scipy.integrate import IntegrationWarning, quad

    values = np.zeros(len(edges) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IntegrationWarning)
        for i, (low, high) in enumerate(itertools.pairwise(edges.tolist())):
            try:
                values[i] = quad(function, low, high, epsabs=1e-13, epsrel=1e-12)[0]
            except (IntegrationWarning, ZeroDivisionError) as error:
                raise InputError(
                    "weight_function", "no_integral", got=str(error), low=low, high=high
                ) from None
    return values


def largest_uncertainty(matrix: Floats) -> float:
    r"""Return u_M of a cost matrix (K, D) >= 0, the worst-case uncertainty of a system that knows nothing.

    .. math:: u_M = \max_q \min_d \sum_k q_k C_{kd} = \min_y \max_k \sum_d C_{kd} y_d

    over distributions q of classes and y of decisions (Equation dB_final; von Neumann 1928): a linear programme and its
    dual, solved in integers and rounded once. A float64 solver, even with scaled costs and verified duals, was up to
    92 % too low where costs span 1e24 (4 of 376 matrices); it serves matrices of more than about 20 classes and
    decisions only, and both sides must agree to 1e-9.
    """
    free = (matrix == 0).all(axis=0)
    if free.any():
        first = int(free.argmax())
        got = f"decision {first}, which costs nothing for any"
        count = int(np.count_nonzero(free))
        raise InputError(
            "cost", "decision_costs_nothing", value=first, got=got, count=count, total=len(free)
        )
    exponents = np.frexp(matrix[matrix > 0])[1]
    if matrix.size * (53 + int(np.ptp(exponents))) <= LARGEST_EXACT:
        costs, unit = _integers(matrix, int(exponents.min()) - 53)
        low, high = (bound * unit for bound in _bounds(costs, *_simplex(costs)))
    else:
        low, high = _bounds(matrix, *_strategies(matrix))
    largest = float(low)
    if high - low > GAP * high or largest < np.finfo(np.float64).tiny:
        got = f"one between {float(low):g} and {float(high):g}"
        raise InputError(
            "cost", "largest_uncertainty_unverified", got=got, advice="leave_extreme_costs_out"
        )
    return largest


def _bounds(
    costs: Array,
    q: Array,
    y: Array,
) -> tuple[Fraction | float, Fraction | float]:
    """Return the lower bound of u_M from class weights q and the upper bound from decision weights y."""
    low = (q @ costs).min()
    high = (costs @ y).max()
    if costs.dtype == object:
        return Fraction(low, q.sum()), Fraction(high, y.sum())
    return low / q.sum(), high / y.sum()


def _integers(matrix: Floats, exponent: int) -> tuple[Integers, Fraction]:
    """Return integers and the power of 2 whose product is the matrix, exactly."""
    unit = Fraction(2) ** exponent
    wholes = [int(Fraction(cost) / unit) for cost in matrix.ravel().tolist()]
    return np.array(wholes, object).reshape(matrix.shape), unit


def _simplex(costs: Integers) -> tuple[Integers, Integers]:
    """Return weights of classes and of decisions that solve the programme: the sum of y >= 0 where costs @ y <= 1."""
    num_classes, num_decisions = costs.shape
    table = np.zeros((num_classes + 1, num_decisions + 1), object)
    table[:-1, :-1] = costs
    table[:-1, -1] = 1
    table[-1, :-1] = -1
    rows = np.arange(num_classes) + num_decisions
    columns = np.arange(num_decisions)
    denominator = 1  # of all entries, the last pivot: every division is exact (Edmonds)
    entering = np.arange(num_decisions)
    while entering.size:
        column = entering[columns[entering].argmin()]  # the first, so that it ends (Bland)
        row = _leaving_row(table, column, rows)
        pivot = table[row, column]
        pivot_row = table[row].copy()
        pivot_column = table[:, column].copy()
        table = (table * pivot - np.multiply.outer(pivot_column, pivot_row)) // denominator
        table[row] = pivot_row
        table[:, column] = -pivot_column
        table[row, column] = denominator
        rows[row], columns[column] = columns[column], rows[row]
        denominator = pivot
        entering = np.flatnonzero(table[-1, :-1] < 0)
    solution = np.zeros(num_decisions + num_classes, object)
    solution[rows] = table[:-1, -1]
    prices = np.zeros(num_decisions + num_classes, object)
    prices[columns] = table[-1, :-1]
    return prices[num_decisions:], solution[:num_decisions]


def _leaving_row(table: Integers, column: int, rows: Ints) -> int:
    """Return the row whose ratio limits a column of the table most; of several, that of the first variable."""
    candidates = np.flatnonzero(table[:-1, column] > 0)
    return int(
        min(
            candidates,
            key=lambda row: (Fraction(table[row, -1], table[row, column]), rows[row]),
        )
    )


def _strategies(matrix: Floats) -> tuple[Floats, Floats]:
    """Return weights of classes and of decisions that solve the programme up to rounding."""
    from scipy.optimize import linprog

    num_classes, num_decisions = matrix.shape
    unit = np.exp2(np.log2(matrix[matrix > 0]).mean().round())  # the solver drops costs below 1e-9
    solution = linprog(
        c=np.full(num_decisions, -1.0),  # maximise the sum of y where matrix @ y <= 1
        A_ub=matrix / unit,
        b_ub=np.ones(num_classes),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.x is None:
        raise InputError("cost", "no_largest_uncertainty", got=str(solution.message))
    q = np.maximum(-solution.ineqlin.marginals, 0)
    y = np.maximum(solution.x, 0)
    return _polish(matrix, q, y)


def _polish(
    matrix: Floats,
    q: Floats,
    y: Floats,
) -> tuple[Floats, Floats]:
    """Solve the linear equations for the positive weights exactly, if there are as many of classes as of decisions."""
    classes = np.flatnonzero(q)
    decisions = np.flatnonzero(y)
    if len(classes) != len(decisions):
        return q, y
    square = matrix[np.ix_(classes, decisions)]
    ones = np.ones(len(classes))
    try:
        exact_q = np.linalg.solve(square.T, ones)
        exact_y = np.linalg.solve(square, ones)
    except np.linalg.LinAlgError:
        return q, y
    if min(exact_q.min(), exact_y.min()) >= 0:
        q[classes] = exact_q
        y[decisions] = exact_y
    return q, y

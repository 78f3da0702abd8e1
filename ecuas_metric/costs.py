"""Per-sample costs of a candidate decision that may be rejected. A metric is the mean of such an array.

All functions take `uncertainty` u and `candidate_cost` c, arrays of shape (N,), and return one cost per sample.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .errors import Advice, InputError, Note
from .inputs import Bools, Floats, non_negative

# 1 - 0.7 is 0.30000000000000004: decimals that are equal on paper must compare as equal.
ROUNDING = 4 * np.finfo(np.float64).eps
SMALLEST_ORDER = 1e-300  # below it (n + 1) / n overflows, and ECUAS_n is ECUAS_0 to the last digit
ABOVE_TOLERANCE = 1e-6  # an uncertainty from float32 posteriors may pass max_uncertainty by its own rounding


def ecuas_cost(
    uncertainty: ArrayLike,
    candidate_cost: ArrayLike,
    *,
    n: float = 0,
    max_uncertainty: float = 1.0,
    epsilon: float = 1e-7,
) -> Floats:
    r"""Cost of each sample averaged over all reject costs, with weight growing as their (n-1)-th power.

    With :math:`r = u / u_M`:

    .. math::
        C_0 = r + c \frac{\log u_M - \log u}{u_M}, \qquad
        C_n = r\,r^n + c \frac{n+1}{n\,u_M} (1 - r^n) \quad (n > 0)

    and in the limit of infinite n, :math:`c / u_M` where :math:`u < u_M` and 1 where :math:`u = u_M`. In the logarithm
    and in the power :math:`r^n`, u is at least `epsilon`: the cost is finite, and continuous in n also at n = 0.

    Parameters
    ----------
    uncertainty : array_like, shape (N,)
        u >= 0, in the unit of the cost. Above `max_uncertainty` the cost is 1 whatever c is, with a warning.
    candidate_cost : array_like, shape (N,)
        c >= 0, the cost of the candidate decision given the truth; 0 or 1 for the 0-1 cost.
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
        If n, an uncertainty or a cost is negative or nan, or `max_uncertainty` or `epsilon` is out of range.

    References
    ----------
    Estienne et al., "ECUAS_n: A family of metrics for principled evaluation of uncertainty-augmented systems",
    Equation psr_integral_n and the safeguard of the section "C_n: a special case of C_w".

    Examples
    --------
    An answer given with confidence 0.9, right and wrong:

    >>> ecuas_cost([0.1, 0.1], [0, 1], n=1).round(4).tolist()
    [0.01, 1.81]
    """
    u, c = _checked(uncertainty, candidate_cost, max_uncertainty)
    if not n >= 0:
        raise InputError("n", "must be >= 0 (inf allowed)", value=n)
    ratio = np.minimum(u / max_uncertainty, 1.0)
    if n == math.inf:
        return np.where(ratio < 1 - ROUNDING, c / max_uncertainty, 1.0)
    if not 0 < epsilon < max_uncertainty:
        raise InputError("epsilon", f"must lie in (0, max_uncertainty = {max_uncertainty:g})", value=epsilon)
    floored = np.maximum(ratio, epsilon / max_uncertainty)
    if n < SMALLEST_ORDER:
        return ratio - c * np.log(floored) / max_uncertainty
    if n == 1:  # the closed form, without logarithms
        return ratio * floored + c * ((1 - floored) * (2 / max_uncertainty))
    with np.errstate(over="ignore"):  # n log r = -inf gives the right limit, 0
        exponent = n * np.log(floored)
        return ratio * np.exp(exponent) - c * (np.expm1(exponent) / n * ((n + 1) / max_uncertainty))


def fixed_reject_cost(
    uncertainty: ArrayLike,
    candidate_cost: ArrayLike,
    *,
    reject_cost: float,
    max_uncertainty: float = math.inf,
) -> Floats:
    """Cost of each sample when rejecting it costs `reject_cost`: c where accepted (u <= gamma), else gamma.

    Parameters
    ----------
    uncertainty, candidate_cost : array_like, shape (N,)
        u >= 0 and c >= 0, in the unit of the reject cost.
    reject_cost : float
        gamma >= 0.
    max_uncertainty : float, default infinity
        Above it a sample is always rejected.

    Returns
    -------
    ndarray of float64, shape (N,)

    References
    ----------
    Estienne et al., Equation psr_gamma_fixed; its mean is Equation ecuas_gamma.

    Examples
    --------
    >>> fixed_reject_cost([0.1, 0.1, 0.6], [0, 1, 1], reject_cost=0.25).tolist()
    [0.0, 1.0, 0.25]
    """
    u, c = np.asarray(uncertainty, np.float64), np.asarray(candidate_cost, np.float64)
    return np.where(accepted(u, reject_cost=reject_cost, max_uncertainty=max_uncertainty), c, reject_cost)


def accepted(uncertainty: Floats, *, reject_cost: float, max_uncertainty: float = math.inf) -> Bools:
    """Return which samples a user with this reject cost accepts: u <= gamma, up to rounding, and u <= u_M."""
    rounding = ROUNDING * max(reject_cost, 1.0 if max_uncertainty == math.inf else max_uncertainty)
    return (uncertainty <= reject_cost + rounding) & ~above(uncertainty, max_uncertainty)


def weighted_cost(
    uncertainty: ArrayLike,
    candidate_cost: ArrayLike,
    *,
    weight_function: Callable[[float], float],
    max_uncertainty: float = 1.0,
) -> Floats:
    r"""Cost of each sample integrated over reject costs with any weight function w on [0, u_M].

    .. math:: C_w = \int_0^u \gamma w(\gamma)\,d\gamma + c \int_u^{u_M} w(\gamma)\,d\gamma

    Parameters
    ----------
    uncertainty, candidate_cost : array_like, shape (N,)
        u >= 0 and c >= 0. Above `max_uncertainty` the second integral is 0, with a warning.
    weight_function : callable
        gamma in (0, u_M] to w(gamma) >= 0; its integrals must exist.
    max_uncertainty : float, default 1
        u_M > 0.

    Returns
    -------
    ndarray of float64, shape (N,)

    Raises
    ------
    InputError
        If an integral does not converge, as that of w = 1 / gamma from an uncertainty of 0.

    References
    ----------
    Estienne et al., Equation psr_integral.

    Examples
    --------
    The constant weight 2 is ECUAS_1:

    >>> weighted_cost([0.1], [1], weight_function=lambda gamma: 2.0).round(4).tolist()
    [1.81]
    """
    u, c = _checked(uncertainty, candidate_cost, max_uncertainty)
    points, index = np.unique(np.minimum(u, max_uncertainty), return_inverse=True)
    edges = np.concatenate([[0.0], points, [max_uncertainty]])
    moments = _integrals(lambda gamma: gamma * weight_function(gamma), edges[:-1])
    # Only samples that cost something look above their uncertainty: 1 / gamma may diverge at 0 unseen.
    seen = np.concatenate([np.bincount(index, c) > 0, [True]])
    masses = _integrals(weight_function, edges[1:], first=int(np.argmax(seen)))
    below = np.cumsum(moments)
    beyond = np.cumsum(masses[::-1])[::-1]
    return np.asarray(below[index] + c * beyond[index])


def above(uncertainty: Floats, max_uncertainty: float) -> Bools:
    """Return which uncertainties are larger than any sensible system's, by more than rounding."""
    return uncertainty > max_uncertainty * (1 + ABOVE_TOLERANCE)


def note_above(uncertainty: Floats, max_uncertainty: float) -> tuple[Note, ...]:
    """Return a note if samples are more uncertain than a system that knows nothing."""
    count = np.count_nonzero(above(uncertainty, max_uncertainty))
    if not count:
        return ()
    fact = (
        f"{count} of {uncertainty.size} samples ({count / uncertainty.size:.1%}) have an uncertainty above "
        f"{max_uncertainty:g}, that of a system that knows nothing. They count as rejected at every reject "
        "cost, right or wrong."
    )
    return (Note("above_max_uncertainty", fact, Advice.WRONG_COST),)


def _checked(uncertainty: ArrayLike, candidate_cost: ArrayLike, max_uncertainty: float) -> tuple[Floats, Floats]:
    if not 0 < max_uncertainty < math.inf:
        raise InputError("max_uncertainty", "must be positive and finite", value=max_uncertainty)
    u, c = np.asarray(uncertainty, np.float64), np.asarray(candidate_cost, np.float64)
    for name, values in (("uncertainty", u), ("candidate_cost", c)):
        if not values.min(initial=0.0) >= 0:  # nan is not
            non_negative(np.atleast_1d(values), name)
    for note in note_above(u, max_uncertainty):
        warnings.warn(str(note), stacklevel=3)
    return u, c


def _integrals(function: Callable[[float], float], edges: Floats, *, first: int = 0) -> Floats:
    """Integrate over each interval between consecutive edges, from the `first` on; those before it are 0."""
    try:
        from scipy.integrate import IntegrationWarning, quad
    except ImportError:
        raise ImportError("weighted_cost needs SciPy: pip install 'ecuas-metric[costs]'") from None
    values = np.zeros(len(edges) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IntegrationWarning)
        for i in [i for i in range(first, len(values)) if edges[i] < edges[i + 1]]:
            try:
                values[i] = quad(function, edges[i], edges[i + 1], epsabs=1e-13, epsrel=1e-12)[0]
            except (IntegrationWarning, ZeroDivisionError) as error:
                interval = f"[{edges[i]:g}, {edges[i + 1]:g}]"
                raise InputError("weight_function", f"must have an integral over {interval}", got=str(error)) from None
    return values

"""Per-sample costs of a candidate decision that may be rejected, and the metrics that are their means."""

import itertools
import math
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError, Note, issue_warnings
from .inputs import (
    Bools,
    FloatOrFloats,
    Floats,
    Limits,
    check_non_negative,
    inner_product,
    parse_number,
    require,
    require_same_order,
    to_array,
)
from .metric import Data, Frequencies, Metric, PartialLabels
from .options import Options

# 1 - 0.7 is 0.30000000000000004: what is equal on paper must compare as equal. Uncertainties have 14 digits.
ROUNDING = 1e-13
SMALLEST_ORDER = 1e-300  # below it (n + 1) / n overflows, and ECUAS_n is ECUAS_0 to the last digit
# the largest whole n whose powers are computed by repeated squaring, which is faster
LARGEST_SQUARED = 1024
PARTS = 1000  # of [0, u_M], integrated one by one, so that no peak of that width is missed
# an uncertainty from float32 posteriors may pass max_uncertainty by its own rounding
ABOVE_TOLERANCE = 1e-6


def ecuas_cost(
    *,
    candidate_cost: ArrayLike,
    uncertainty: ArrayLike,
    n: float = 0,
    max_uncertainty: float = 1.0,
    epsilon: float = 1e-7,
) -> Floats:
    r"""Return C_n of each sample: its cost averaged over all reject costs, weighted by their (n-1)-th power.

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
    n = parse_number(n, "n")
    max_uncertainty = parse_number(max_uncertainty, "max_uncertainty")
    epsilon = parse_number(epsilon, "epsilon")
    c, u = _check_costs(candidate_cost, uncertainty, max_uncertainty)
    if not n >= 0:
        raise InputError("n", "negative_or_nan", value=n)
    return compute_ecuas_cost(u, c, n=n, max_uncertainty=max_uncertainty, epsilon=epsilon)[()]


def compute_ecuas_cost(
    u: Floats,
    c: Floats,
    *,
    n: float,
    max_uncertainty: float,
    epsilon: float,
) -> Floats:
    """Return `ecuas_cost` of checked arrays; InputError for an epsilon out of range."""
    ratio = np.minimum(u, max_uncertainty)
    if max_uncertainty != 1:
        ratio = ratio / max_uncertainty
    if n == math.inf:
        return np.where(ratio < 1 - ROUNDING, c / max_uncertainty, 1.0)
    if not 0 < epsilon < max_uncertainty:
        raise InputError(
            "epsilon",
            "must lie in (0, max_uncertainty = {largest:g})",
            value=epsilon,
            largest=max_uncertainty,
        )
    floored = np.maximum(ratio, epsilon / max_uncertainty)
    if n < SMALLEST_ORDER:
        return ratio - np.log(floored) * c * (1 / max_uncertainty)
    factor = (n + 1) / n / max_uncertainty
    if 1 <= n <= LARGEST_SQUARED and n == int(n):
        power = _integer_power(floored, int(n))
        return ratio * power + (1 - power) * c * factor
    # exact also where 1 - r^n is small, as it is for small n
    with np.errstate(over="ignore"):  # n log r = -inf gives the right limit, 0
        exponent = np.log(floored) * n
    return ratio * np.exp(exponent) - np.expm1(exponent) * c * factor


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
    reject_cost = parse_number(reject_cost, "reject_cost")
    max_uncertainty = parse_number(max_uncertainty, "max_uncertainty")
    if not reject_cost >= 0:
        raise InputError("reject_cost", "negative", value=reject_cost)
    if not max_uncertainty > 0:
        raise InputError("max_uncertainty", "must be positive (inf allowed)", value=max_uncertainty)
    c, u = _parse_costs(candidate_cost, uncertainty)
    accepts = are_accepted(u, reject_cost=reject_cost, max_uncertainty=max_uncertainty)
    return np.where(accepts, c, reject_cost)


def are_accepted(
    uncertainty: Floats,
    *,
    reject_cost: float,
    max_uncertainty: float = math.inf,
) -> Bools:
    """Return whether each sample is accepted at a reject cost: u <= gamma, up to rounding, and u <= u_M."""
    rounding = ROUNDING * max(reject_cost, 1.0 if max_uncertainty == math.inf else max_uncertainty)
    return (uncertainty <= reject_cost + rounding) & ~are_above_maximum(
        uncertainty, max_uncertainty
    )


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
    max_uncertainty = parse_number(max_uncertainty, "max_uncertainty")
    c, u = _check_costs(candidate_cost, uncertainty, max_uncertainty)
    u = np.minimum(u, max_uncertainty)
    breaks = to_array(break_points, "break_points").astype(np.float64).ravel()
    ok = (breaks >= 0) & (breaks <= max_uncertainty)
    require(ok, breaks, "break_points", "must lie in [0, {largest:g}]", largest=max_uncertainty)
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


def are_above_maximum(uncertainty: Floats, max_uncertainty: float) -> Bools:
    """Return whether each uncertainty exceeds u_M by more than rounding."""
    return uncertainty > max_uncertainty * (1 + ABOVE_TOLERANCE)


def note_above_maximum(
    uncertainty: Floats, max_uncertainty: float, *, advice: str = "check_cost"
) -> tuple[Note, ...]:
    """Return a note with the number of uncertainties above u_M, if there are any."""
    if not are_above_maximum(uncertainty.max(initial=0.0), max_uncertainty):
        return ()
    count = np.count_nonzero(are_above_maximum(uncertainty, max_uncertainty))
    total = uncertainty.size
    fields = {"count": count, "total": total, "share": count / total, "largest": max_uncertainty}
    return (Note("above_max_uncertainty", fields, advice),)


def _check_costs(
    candidate_cost: ArrayLike,
    uncertainty: ArrayLike,
    max_uncertainty: float,
) -> tuple[Floats, Floats]:
    if not 0 < max_uncertainty < math.inf:
        raise InputError("max_uncertainty", "must be positive and finite", value=max_uncertainty)
    c, u = _parse_costs(candidate_cost, uncertainty)
    issue_warnings(note_above_maximum(u, max_uncertainty), stacklevel=3)
    return c, u


def _parse_costs(candidate_cost: ArrayLike, uncertainty: ArrayLike) -> tuple[Floats, Floats]:
    require_same_order(candidate_cost=candidate_cost, uncertainty=uncertainty)
    c = to_array(candidate_cost, "candidate_cost").astype(np.float64, copy=False)
    u = to_array(uncertainty, "uncertainty").astype(np.float64, copy=False)
    for name, values in (("candidate_cost", c), ("uncertainty", u)):
        if not values.min(initial=0.0) >= 0:  # nan is not
            check_non_negative(np.atleast_1d(values), name)
    if c.shape != u.shape:
        got = f"{c.shape} and {u.shape}"
        raise InputError("candidate_cost and uncertainty", "must have the same shape", got=got)
    return c, u


def _integer_power(base: Floats, n: int) -> Floats:
    """Return base^n for whole n >= 1, by squaring once for each binary digit of n."""
    power = base
    for digit in f"{n:b}"[1:]:
        power = np.square(power)
        if digit == "1":
            power *= base
    return power


def _non_negative_weight(
    function: Callable[[float], float],
) -> Callable[[float], float]:
    """Return a weight function that raises InputError where the weight is negative, infinite or nan."""

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
    """Return the integrals over the intervals between consecutive edges; InputError where one does not converge."""
    from scipy.integrate import IntegrationWarning, quad

    values = np.zeros(len(edges) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IntegrationWarning)
        for i, (low, high) in enumerate(itertools.pairwise(edges.tolist())):
            try:
                values[i] = quad(function, low, high, epsabs=1e-13, epsrel=1e-12)[0]
            except (IntegrationWarning, ZeroDivisionError) as error:
                raise InputError(
                    "weight_function",
                    "must have an integral over [{low}, {high}]",
                    got=str(error),
                    low=low,
                    high=high,
                ) from None
    return values


# ---- the metrics that are means of costs ----------------------------------------------------------------------------


def _ecuas_cost(data: Data) -> Floats:
    decisions = data.decisions
    return compute_ecuas_cost(
        decisions.uncertainty,
        decisions.candidate_cost,
        n=data.parameter,
        max_uncertainty=decisions.max_uncertainty,
        epsilon=data.options.floor,
    )


def calibrated_ecuas(
    u: FloatOrFloats, *, n: float, max_uncertainty: float, epsilon: float
) -> FloatOrFloats:
    """Return ECUAS_n (...) of calibrated answers that all have uncertainty u (...), and so the mean cost u."""
    return compute_ecuas_cost(u, u, n=n, max_uncertainty=max_uncertainty, epsilon=epsilon)


def _naive_ecuas(naive: Frequencies) -> FloatOrFloats:
    return calibrated_ecuas(
        naive.uncertainty,
        n=naive.parameter,
        max_uncertainty=naive.max_uncertainty,
        epsilon=naive.options.floor,
    )


def _candidate_cost(data: Data) -> Floats:
    return data.decisions.candidate_cost


def _naive_uncertainty(naive: Frequencies) -> FloatOrFloats:
    return naive.uncertainty


def _accepts(data: Data) -> Bools:
    decisions = data.decisions
    return are_accepted(
        decisions.uncertainty, reject_cost=data.parameter, max_uncertainty=decisions.max_uncertainty
    )


def _expected_cost(data: Data) -> Floats:
    return np.where(_accepts(data), data.decisions.candidate_cost, data.parameter)


def _naive_expected_cost(naive: Frequencies) -> FloatOrFloats:
    u = naive.uncertainty
    accepts = are_accepted(u, reject_cost=naive.parameter, max_uncertainty=naive.max_uncertainty)
    return np.where(accepts, u, naive.parameter)


def _selective_risk_bounds(answers: PartialLabels) -> Limits:
    """Return the selective risk with all unlabelled answers right, and with all wrong: the same ones are accepted."""
    ends = []
    for data in (answers.all_right, answers.all_wrong):
        accepts = answers.weight * _accepts(data)
        share = float(accepts.sum())
        risk = inner_product(accepts, data.decisions.candidate_cost) / share if share else np.nan
        ends.append(risk)
    return ends[0], ends[1]


def _confidence_cross_entropy(data: Data) -> Floats:
    """Return -log q_e of correct samples and -log(1 - q_e) of others (N,), in nats; probabilities at least epsilon."""
    decisions = data.decisions
    epsilon = data.options.epsilon
    u = decisions.uncertainty
    if_right = np.abs(np.log(np.maximum(np.abs(1.0 - u), epsilon)))
    if_wrong = np.abs(np.log(np.maximum(u, epsilon)))
    wrong = decisions.candidate_cost
    return np.asarray((1.0 - wrong) * if_right + wrong * if_wrong)


def _confidence_brier_score(data: Data) -> Floats:
    """Return (q_e - correct)^2 of each sample (N,), in [0, 1] (Estienne et al., BS of q_e)."""
    wrong = data.decisions.candidate_cost
    # affine in a chance of being wrong, which adds its variance
    return np.asarray(np.square(data.decisions.uncertainty - wrong) + wrong * (1.0 - wrong))


def _cross_entropy(data: Data) -> Floats:
    assert data.decisions.cross_entropy is not None
    return data.decisions.cross_entropy


def _brier_score(data: Data) -> Floats:
    assert data.decisions.brier_score is not None
    return data.decisions.brier_score


def entropy(share: Floats) -> FloatOrFloats:
    """Return the entropy (...) of distributions (..., K), in nats."""
    return _share_cross_entropy(share, np.finfo(np.float64).tiny)


def _share_cross_entropy(share: Floats, least: float) -> FloatOrFloats:
    """Return the cross-entropy (...) in nats of shares (..., K), predicted as they are but for a least one."""
    return -(share * np.log(np.maximum(share, least))).sum(axis=-1)


def _naive_cross_entropy(naive: Frequencies) -> FloatOrFloats:
    return _share_cross_entropy(naive.share, naive.options.epsilon)


def largest_log_cost(options: Options) -> float:
    """Return the logarithmic cost of a probability of 0, the largest: -log epsilon."""
    return -math.log(options.epsilon)


def _cross_entropy_range(data: Data) -> Limits:
    return 0.0, largest_log_cost(data.options)


ECUAS_N = Metric(
    name="ecuas",
    title="ECUAS",
    description="Expected cost over all reject costs: 0 perfect, 1 as rejecting everything, more is worse; the smaller "
    "n, the dearer a confident mistake",
    assesses="both",
    higher_is_better=False,
    parameter="n",
    cost=_ecuas_cost,
    naive_posterior=_naive_ecuas,
    has_recalibrated=True,
    column=11,
)
ERROR_RATE = Metric(
    name="error_rate",
    title="ER",
    description="Share of incorrect decisions",
    assesses="decisions",
    higher_is_better=False,
    needs="confidences",
    cost=_candidate_cost,
    naive_posterior=_naive_uncertainty,
    is_share=True,
    column=1,
)
RISK = Metric(
    name="risk",
    title="Risk",
    description="Mean cost of the decisions",
    assesses="decisions",
    higher_is_better=False,
    needs="costs",
    cost=_candidate_cost,
    naive_posterior=_naive_uncertainty,
    column=2,
)
EXPECTED_COST = Metric(
    name="expected_cost",
    title="EC",
    description="Mean cost for a user with this reject cost",
    assesses="both",
    higher_is_better=False,
    parameter="reject_costs",
    cost=_expected_cost,
    naive_posterior=_naive_expected_cost,
    column=12,
)
COVERAGE = Metric(
    name="coverage",
    title="Cov",
    description="Share of samples that a user with this reject cost accepts",
    assesses="confidences",
    higher_is_better=None,
    parameter="reject_costs",
    cost=_accepts,
    is_share=True,
    column=13,
)
ACCEPTED_COST = Metric(
    name="accepted_cost",
    title="AC",
    description="Cost of what a user with this reject cost accepts, divided by the number of all samples",
    assesses="both",
    higher_is_better=False,
    parameter="reject_costs",
    cost=lambda data: _accepts(data) * data.decisions.candidate_cost,
    when="ratio",
    column=14,
)
SELECTIVE_RISK = Metric(
    name="selective_risk",
    title="SR",
    description="Mean cost of what a user with this reject cost accepts",
    assesses="both",
    # which is least where hardly anything is accepted
    higher_is_better=None,
    parameter="reject_costs",
    ratio=(ACCEPTED_COST.name, COVERAGE.name),
    unjudged=_selective_risk_bounds,
    column=15,
)
CONFIDENCE_CROSS_ENTROPY = Metric(
    name="confidence_cross_entropy",
    title="CE conf",
    description="Cross-entropy of the confidences (nats)",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    cost=_confidence_cross_entropy,
    naive_confidence=_naive_cross_entropy,
    only_in_full=True,
    column=5,
)
CONFIDENCE_BRIER_SCORE = Metric(
    name="confidence_brier_score",
    title="BS conf",
    description="Squared error of the confidences",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    cost=_confidence_brier_score,
    naive_confidence=lambda naive: naive.share.prod(axis=-1),  # p (1 - p)
    only_in_full=True,
    column=6,
)
CROSS_ENTROPY = Metric(
    name="cross_entropy",
    title="CE",
    description="Cross-entropy of the posteriors (nats)",
    assesses="posteriors",
    higher_is_better=False,
    needs="posteriors",
    cost=_cross_entropy,
    range=_cross_entropy_range,
    naive_posterior=_naive_cross_entropy,
    two_classes=(CONFIDENCE_CROSS_ENTROPY.name, 1.0),
    only_in_full=True,
    column=7,
)
BRIER_SCORE = Metric(
    name="brier_score",
    title="BS",
    description="Squared error of the posteriors",
    assesses="posteriors",
    higher_is_better=False,
    needs="posteriors",
    cost=_brier_score,
    range=(0.0, 2.0),
    naive_posterior=lambda naive: 1 - np.square(naive.share).sum(axis=-1),
    two_classes=(CONFIDENCE_BRIER_SCORE.name, 2.0),
    only_in_full=True,
    column=8,
)
COST_METRICS = (
    ECUAS_N,
    ERROR_RATE,
    RISK,
    EXPECTED_COST,
    COVERAGE,
    ACCEPTED_COST,
    SELECTIVE_RISK,
    CONFIDENCE_CROSS_ENTROPY,
    CONFIDENCE_BRIER_SCORE,
    CROSS_ENTROPY,
    BRIER_SCORE,
)

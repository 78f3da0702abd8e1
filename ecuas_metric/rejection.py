"""Decisions and rejections of new rows, by the rule that the metrics score, and the choice of the reject cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .audit import refuse_audit
from .classes import (
    COMPLETE_CONFIDENCE_WORDS,
    POSTERIOR_WORDS,
    ClassCosts,
    binary_posteriors,
    check_classes,
    column_classes,
    note_order,
    order_columns,
    parse_class_costs,
    parse_classes,
    reword_errors,
)
from .costs import COVERAGE, EXPECTED_COST, SELECTIVE_RISK, are_accepted
from .decisions import Decisions
from .display import Shown
from .errors import InputError, Note, issue_warnings
from .inputs import Array, Bools, Floats, parse_confidences, parse_numbers, parse_posteriors
from .metric import Key
from .options import (
    LEVEL,
    Options,
    check_level,
    check_number,
    checked_options,
    cost_frame_to_mapping,
)
from .results import Estimate, System, compute_results, name_systems, prepare_system

if TYPE_CHECKING:
    from pandas import DataFrame

REJECT_COST_WORDS = {"reject_costs": "reject_cost"}


@dataclass(frozen=True, slots=True, eq=False)
class RowDecisions(Shown):
    """The decision for each row of `decide` or `decide_confidences`.

    Attributes
    ----------
    decision : ndarray, shape (N,), or None
        The decision of least expected cost, by name or number; None for confidences, where it is the answer itself.
    uncertainty : ndarray of float64, shape (N,)
        The expected cost u >= 0 of the decision, in the unit of the cost.
    accepted : ndarray of bool, shape (N,)
        Whether u is at most the reject cost; other rows are rejected, e.g. left to a person.

    Examples
    --------
    >>> decide([[0.9, 0.1], [0.4, 0.6]], reject_cost=0.2)
    RowDecisions(decision=array([0, 1]), uncertainty=array([0.1, 0.4]), accepted=array([ True, False]))
    """

    decision: Array | None
    uncertainty: Floats
    accepted: Bools

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each row that was decided."""
        import pandas as pd

        columns = {"uncertainty": self.uncertainty, "accepted": self.accepted}
        return pd.DataFrame(
            columns if self.decision is None else {"decision": self.decision, **columns}
        )


def decide(
    y_prob: ArrayLike,
    *,
    reject_cost: float,
    cost: str | ArrayLike | ClassCosts = "zero_one",
    labels: ArrayLike | None = None,
    predictions_are: str = "probabilities",
    renormalize: bool = False,
) -> RowDecisions:
    r"""Decide for new rows, whose classes are unknown: the decision of least expected cost, and whether to reject it.

    .. math:: d = \arg\min_d \sum_k q_k C_{kd}, \qquad u = \sum_k q_k C_{kd}, \qquad
        \text{accepted where } u \le \gamma

    with the reject cost :math:`\gamma`, by the code that scores a system: on labelled rows the mean of the costs,
    C of the true class and the decision where it is accepted and :math:`\gamma` where not, is ``expected_cost_{gamma}``
    of `score_posteriors`. Of equal decisions the first is taken, and an uncertainty equal to the reject cost, up to
    rounding, is accepted.

    Parameters
    ----------
    y_prob : array_like, shape (N, K) or (N,)
        Posteriors as for `ecuas_score`, the columns in the sorted order of the classes or named by them.
    reject_cost : float
        In [0, u_M], in the unit of the cost.
    cost : {"zero_one"}, array_like of shape (K, D) or mapping, default "zero_one"
        As for `ecuas_score`, but for the logarithmic one, where nothing is decided.
    labels : array_like, shape (K,), optional
        The classes in sorted order, as `classes_`; decisions are then named after them, if they are as many.
    predictions_are, renormalize
        See `ecuas_score`.

    Returns
    -------
    RowDecisions
        Decisions have the names that the cost, the labels or the columns of a data frame give, else numbers from 0.

    Raises
    ------
    InputError
        If a row is not a distribution, the reject cost lies outside [0, u_M], or the cost does not fit the classes.

    References
    ----------
    Chow 1970, "On optimum recognition error and reject tradeoff"; Estienne et al., Equation psr_gamma_fixed.

    Examples
    --------
    To delete a good mail costs 5, to keep a bad one 1, to have a person look 0.3:

    >>> cost = {"ham": {"keep": 0, "delete": 5}, "spam": {"keep": 1, "delete": 0}}
    >>> rows = decide([[0.99, 0.01], [0.02, 0.98], [0.3, 0.7]], cost=cost, reject_cost=0.3)
    >>> rows.decision.tolist(), rows.accepted.tolist()
    (['keep', 'delete', 'keep'], [True, True, False])
    """
    names: Sequence[object] | None = None
    if isinstance(cost, str) and cost == "log":
        raise InputError("decide", "decisions_under_log_cost")
    table = cost_frame_to_mapping(cost)
    noted: tuple[Note, ...] = ()
    if isinstance(table, Mapping):
        are_named = labels is not None
        table, labels, names = parse_class_costs(table, labels)
        noted = () if are_named else note_order(labels, y_prob)
    options = checked_options(
        cost=table,
        predictions_are=predictions_are,
        renormalize=renormalize,
        reject_costs=check_number(reject_cost, "reject_cost", 0, math.inf),
    )
    if labels is None:
        labels = column_classes(y_prob, "y_prob", are_numbered=not isinstance(options.cost, str))
    with reword_errors({**POSTERIOR_WORDS, **REJECT_COST_WORDS}):
        system = _unlabelled_system(y_prob, labels, options)
    issue_warnings(noted + system.notes, stacklevel=2)
    return decide_system(system, names or _class_names(labels, options))


def _class_names(labels: ArrayLike | None, options: Options) -> list[object] | None:
    """Return the names of the classes, if they are known and decisions are classes; else None."""
    if labels is None:
        return None
    names: list[object] = parse_classes(labels, "labels").tolist()
    are_decided = isinstance(options.cost, str) or options.cost.shape[1] == len(names)
    return names if are_decided else None


def _unlabelled_system(y_prob: ArrayLike, labels: ArrayLike | None, options: Options) -> System:
    """Return the system of posteriors of new rows: class 0 stands for each true class, so that costs mean nothing."""
    ordered = y_prob if labels is None else order_columns(y_prob, labels, labels)
    array = binary_posteriors(parse_numbers(ordered, "predictions"), options)
    array, truth = parse_posteriors(array, np.zeros(array.shape[:1]))
    if labels is not None:
        check_classes(parse_classes(labels, "labels"), labels, array.shape[1])
    return prepare_system("posteriors", array, truth, options, sort=False)


def decide_system(system: System, names: Sequence[object] | None = None) -> RowDecisions:
    """Return the decisions on a system's rows at its one reject cost, by the `names` (D,) of decisions if known."""
    decisions = system.decisions
    (reject_cost,) = system.options.reject_costs
    decision = decisions.decision
    if decision is not None:
        decision = decision.astype(np.int64) if names is None else _to_name_array(names)[decision]
    accepts = are_accepted(
        decisions.uncertainty, reject_cost=reject_cost, max_uncertainty=decisions.max_uncertainty
    )
    return RowDecisions(decision, decisions.uncertainty, accepts)


def _to_name_array(names: Sequence[object]) -> Array:
    """Return names (D,) as an array: of numbers or strings if all are of one type, else of objects."""
    kinds = {type(name) for name in names}
    if len(kinds) == 1 and issubclass(kinds.pop(), (str, Real)):
        return np.array(names)
    return np.fromiter(names, object)


def decide_confidences(
    confidence: ArrayLike,
    reject_cost: float,
    *,
    num_classes: float | None = None,
    missing_confidence: float | None = None,
) -> RowDecisions:
    r"""Decide by their confidences which new answers of a system to accept, by the rule that the metrics score.

    .. math:: u = 1 - q, \qquad \text{accepted where } u \le \gamma

    with the reject cost :math:`\gamma`, as a share of the cost of a mistake: see `decide`. A confidence equal to 1
    minus the reject cost, up to rounding, is accepted.

    Parameters
    ----------
    confidence : array_like, shape (N,)
        The system's probability that its answer is correct, in [0, 1].
    reject_cost : float
        In [0, u_M].
    num_classes, missing_confidence
        As for `score_confidences`: K, which sets u_M = 1 - 1/K, and what replaces NaN.

    Returns
    -------
    RowDecisions
        Without decisions, which are the system's answers.

    Raises
    ------
    InputError
        If a confidence lies outside [0, 1] or is NaN, or the reject cost outside [0, u_M].

    References
    ----------
    Chow 1970, "On optimum recognition error and reject tradeoff".

    Examples
    --------
    >>> decide_confidences([0.95, 0.9, 0.4], 0.1).accepted.tolist()
    [True, True, False]
    """
    options = checked_options(
        num_classes=num_classes,
        missing_confidence=missing_confidence,
        reject_costs=check_number(reject_cost, "reject_cost", 0, math.inf),
    )
    with reword_errors({**COMPLETE_CONFIDENCE_WORDS, **REJECT_COST_WORDS}):
        values, unknown = parse_confidences(confidence, np.zeros(np.shape(confidence)))
        system = prepare_system("confidences", values, unknown, options, sort=False)
    issue_warnings(system.notes, stacklevel=2)
    return decide_system(system)


# ---- the choice of a reject cost ------------------------------------------------------------------------------------


STEPS = 20  # coverages at which the risk is tested: 1/20, 2/20, .., 1
SHARE_ROUNDING = 1e-12  # tolerance for shares, which are sums
# stakes, as shares of the largest possible one; the test takes the mean of their wealths
BETS = np.geomspace(1e-3, 0.99, 40)


@dataclass(frozen=True, slots=True)
class RejectCostChoice(Shown):
    """A reject cost, with coverage, risk and cost on the labelled answers that it was chosen on.

    Attributes
    ----------
    reject_cost : float
        The largest uncertainty that is accepted; nan where no risk can be certified.
    coverage, risk, expected_cost : Estimate
        The share that is accepted, its mean cost, and the mean cost of all answers; the intervals ignore that the
        reject cost was chosen on the same answers.
    num_samples_needed : int or None
        If no reject cost is certified, about how many labelled answers would suffice; None if more would not help.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> system = confidence_system([1, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5])
    >>> choice = choose_reject_cost(system, budget=0.4)
    >>> round(choice.reject_cost, 2), choice.coverage.value
    (0.3, 0.6)
    """

    reject_cost: float
    coverage: Estimate
    risk: Estimate
    expected_cost: Estimate
    num_samples_needed: int | None = None

    def to_frame(self) -> DataFrame:
        """Return a data frame of one row: the reject cost, and each estimate with its limits."""
        import pandas as pd

        row: dict[str, float | None] = {"reject_cost": self.reject_cost}
        for name in ("coverage", "risk", "expected_cost"):
            estimate = getattr(self, name)
            row |= {
                name: estimate.value,
                f"{name}_low": estimate.low,
                f"{name}_high": estimate.high,
            }
        return pd.DataFrame([{**row, "num_samples_needed": self.num_samples_needed}])


def choose_reject_cost(
    system: System,
    *,
    budget: float | None = None,
    max_risk: float | None = None,
    confidence_level: float = LEVEL,
) -> RejectCostChoice:
    r"""Choose the reject cost by a budget of rejections, or so that the risk of what is accepted is certified.

    With a `budget`, it is the smallest uncertainty :math:`t` that rejects at most this share of these answers. With
    `max_risk` :math:`\alpha`, it is the largest :math:`t` whose risk is certified:

    .. math:: P\left(E[c \mid u \le t] > \alpha\right) \le \delta

    with :math:`\delta` = 1 - `confidence_level`. At 20 coverages, :math:`j/20` from the smallest on, a test has to
    refute that the risk is above :math:`\alpha`. The levels of the tests sum to :math:`\delta`: all share one half,
    the other half goes to the first coverage with so many answers that its test may pass with one error, and a test
    that passes hands its level on to the next one (fallback procedure). Costs of 0 and 1 are tested by binomial tails,
    other bounded costs and groups by the mean wealth of bets against the promise.

    It assumes that answers, or groups, are independent draws from the population of use, in which no group is larger
    than the largest here: rare larger groups with more errors would not be seen. The certificate holds exactly where
    risk rises with uncertainty or there are few distinct uncertainties; elsewhere it held in simulations.

    Parameters
    ----------
    system : System
        Labelled answers, on which nothing was fitted, from `confidence_system` or `posterior_system`; its groups count
        as dependent.
    budget : float, optional
        In [0, 1]: the share of answers that can be rejected.
    max_risk : float, optional
        In (0, largest cost): the mean cost that accepted answers may have.
    confidence_level : float, default 0.95
        Level of the certificate and of the intervals.

    Returns
    -------
    RejectCostChoice

    Raises
    ------
    InputError
        Unless exactly one of budget and risk is given, in its range; or if a risk is to be certified of weighted
        answers or of costs without a bound.

    References
    ----------
    Geifman and El-Yaniv 2017, "Selective classification for deep neural networks"; Angelopoulos et al. 2021, "Learn
    then test"; Wiens 2003, "A fixed sequence Bonferroni procedure" (fallback); Waudby-Smith and Ramdas 2024,
    "Estimating means of bounded random variables by betting".

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.beta(4, 0.4, 1000)
    >>> system = confidence_system(rng.random(1000) < confidence, confidence)
    >>> choice = choose_reject_cost(system, max_risk=0.05)
    >>> round(choice.reject_cost, 3), round(choice.coverage.value, 3), round(choice.risk.value, 3)
    (0.099, 0.7, 0.031)
    """
    if (budget is None) == (max_risk is None):
        raise InputError("choose_reject_cost", "not_one_of_budget_and_risk")
    name_systems([system])
    level = check_level(confidence_level, "confidence_level")
    if budget is not None:
        share = check_number(budget, "budget", 0, 1)
        return _evaluate_reject_cost(system, _budget_cost(system, share), level)
    reject_cost, needed = _certified_cost(system, max_risk, 1 - level)
    if reject_cost is not None:
        return _evaluate_reject_cost(system, reject_cost, level)
    none = Estimate(math.nan)
    return RejectCostChoice(math.nan, Estimate(0.0), none, none, needed)


def _evaluate_reject_cost(system: System, reject_cost: float, level: float) -> RejectCostChoice:
    """Return the choice of a reject cost, with its coverage, risk and expected cost on the system's answers."""
    asked = system.options.replace(reject_costs=(reject_cost,), confidence_level=level)
    again = replace(system, options=asked)
    keys = [Key(metric.name, reject_cost) for metric in (COVERAGE, SELECTIVE_RISK, EXPECTED_COST)]
    estimates = compute_results(again, only=keys).estimates
    coverage, risk, expected_cost = (estimates[key] for key in keys)
    return RejectCostChoice(reject_cost, coverage, risk, expected_cost)


def _thresholds(system: System) -> tuple[Floats, Floats]:
    """Return the increasing distinct uncertainties (T,) up to u_M, and the share (T,) of answers accepted at each."""
    groups = system.ties
    largest = system.decisions.max_uncertainty
    uncertainty = system.decisions.uncertainty_from_rank(groups.rank)
    is_accepted = are_accepted(uncertainty, reject_cost=largest, max_uncertainty=largest)
    shares = groups.weight_until / groups.weight.sum()
    return np.minimum(uncertainty[is_accepted], largest), shares[is_accepted]


def _budget_cost(system: System, budget: float) -> float:
    """Return the smallest reject cost at which at most the share `budget` is rejected; InputError if there is none."""
    thresholds, shares = _thresholds(system)
    largest = shares.max(initial=0.0)
    if budget < 1 - largest - SHARE_ROUNDING:
        raise InputError(
            "budget",
            (
                "must be at least {share:g}, the share that is above u_M and rejected "
                "at every reject cost"
            ),
            value=budget,
            share=math.ceil(round(1e4 * (1 - largest), 6)) / 1e4,
        )
    if not len(shares):
        return 0.0
    return float(thresholds[np.searchsorted(shares, 1 - budget - SHARE_ROUNDING)])


def _certified_cost(
    system: System, max_risk: object, level: float
) -> tuple[float | None, int | None]:
    """Return the largest certified reject cost and None; or None and about how many answers would suffice.

    `level` is 1 minus the level of confidence. Both are None if no number of answers would suffice.
    """
    decisions = system.decisions
    refuse_audit(system, "max_risk")
    options = system.options
    largest = _largest_cost(decisions, options)
    risk = check_number(max_risk, "max_risk", 0, largest, inside=True)
    thresholds, shares = _thresholds(system)
    if not len(shares):
        return None, None
    steps = np.arange(1, STEPS + 1) / STEPS - SHARE_ROUNDING
    places = np.unique(np.searchsorted(shares, steps).clip(max=len(shares) - 1))
    accepts = [
        are_accepted(
            decisions.uncertainty, reject_cost=cost, max_uncertainty=decisions.max_uncertainty
        )
        for cost in thresholds[places]
    ]
    p_values = [
        _risk_p_value(decisions, options, rows, risk=risk, largest=largest) for rows in accepts
    ]
    sizes = np.array([np.count_nonzero(rows) for rows in accepts]) // _group_size(options)
    last = _find_last_passed(p_values, _test_levels(sizes, risk / largest, level))
    if last is not None:
        return float(thresholds[places[last]]), None
    costs = [decisions.candidate_cost[rows] / largest for rows in accepts]
    needed = _estimate_needed_samples(
        costs, shares[places], risk / largest, level / len(places), size=_group_size(options)
    )
    if needed == math.inf:
        return None, None
    return None, max(len(decisions.uncertainty) + 1, math.ceil(needed))


def _largest_cost(decisions: Decisions, options: Options) -> float:
    """Return the largest possible cost of an answer; InputError if costs have no bound, or answers have weights."""
    if options.sample_weight is not None:
        raise InputError("max_risk", "cannot be certified of weighted answers")
    if not isinstance(options.cost, str):
        return float(options.cost.max())
    if decisions.confidence is None:
        raise InputError("max_risk", "cannot be certified of costs that have no bound")
    return 1.0


def _test_levels(sizes: Floats, risk: float, level: float) -> Floats:
    """Return the levels (T,), with sum `level`, of the tests at coverages that accept `sizes` (T,) answers.

    All tests share one half of the level. The first one that can pass with one error, else the last, gets the other
    half. Levels may depend on how many answers are accepted, but not on which of them are right.
    """
    from scipy.special import bdtr

    can_pass = bdtr(1, sizes, risk) <= level / 2
    levels = np.full(len(sizes), level / 2 / len(sizes))
    first = min(int(np.count_nonzero(~can_pass)), len(sizes) - 1)
    levels[first] += level / 2
    return levels


def _find_last_passed(p_values: Sequence[float], levels: Floats) -> int | None:
    """Return the index of the last test that passes, or None; a test that passes hands its level on to the next."""
    available = 0.0
    last = None
    for number, (p_value, level) in enumerate(zip(p_values, levels, strict=True)):
        available += level
        if p_value <= available:
            last = number
        else:
            available = 0.0
    return last


def _estimate_needed_samples(
    costs: Sequence[Floats], shares: Floats, risk: float, level: float, *, size: int
) -> float:
    """Return about how many answers would certify a risk at the easiest threshold; inf if none can.

    Each threshold accepts a share of the answers, with costs in [0, 1]; a threshold whose mean cost is at least the
    risk cannot be certified. Groups, of `size` answers, are taken to be all alike. Half a group more is counted as
    wrong, for what chance hides, unless that alone exceeds the risk.
    """
    from scipy.special import rel_entr

    needed = math.inf
    for accepted_costs, share in zip(costs, shares, strict=True):
        mean = accepted_costs.mean()
        if mean >= risk:
            continue
        with_half = (accepted_costs.sum() + size / 2) / (len(accepted_costs) + size)
        chance = with_half if with_half < risk else mean
        divergence = float(rel_entr(chance, risk) + rel_entr(1 - chance, 1 - risk))
        needed = min(needed, -math.log(level) / divergence * size / share)
    return needed


def _risk_p_value(
    decisions: Decisions, options: Options, accepts: Bools, *, risk: float, largest: float
) -> float:
    """Return the p-value of the hypothesis that the mean cost of accepted answers (N,) exceeds the risk."""
    from scipy.special import bdtr

    costs = decisions.candidate_cost[accepts]
    are_binary = np.isin(costs, (0, largest)).all()
    if options.groups is None and are_binary:
        return float(bdtr(np.count_nonzero(costs), len(costs), risk / largest))
    group = np.arange(len(costs)) if options.groups is None else options.groups[accepts]
    excess = np.bincount(group, costs - risk)
    stakes = BETS / ((largest - risk) * _group_size(options))
    with np.errstate(over="ignore"):  # infinite wealth is a p-value of 0
        growth = np.log1p(-np.multiply.outer(stakes, excess))
        wealth = np.exp(growth.sum(axis=1))
    return 1 / float(wealth.mean())


def _group_size(options: Options) -> int:
    """Return the number of answers in the largest group."""
    return 1 if options.groups is None else int(np.bincount(options.groups).max())

"""Decisions on new rows by the rule that the metrics score: what to decide, at what risk, and whether to reject it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from .classes import (
    OF_GIVEN_CONFIDENCES,
    OF_POSTERIORS,
    ClassCosts,
    by_class,
    check_classes,
    classes_in,
    classes_of_columns,
    costs_by_class,
    in_words,
    matrix_of_classes,
    two_columns,
)
from .costs import accepted
from .errors import InputError, warn_of
from .inputs import Array, Bools, Floats, confidences, numbers, posteriors
from .options import Options, check_number, checked_options
from .results import System, prepare

OF_REJECT_COST = {"reject_costs": "reject_cost"}


@dataclass(frozen=True, slots=True, eq=False)
class RowDecisions:
    """What is decided for each row of `decide` or `decide_confidences`.

    Attributes
    ----------
    decision : ndarray, shape (N,), or None
        The decision of least expected cost, by name or number; None of confidences, where it is the answer itself.
    uncertainty : ndarray of float64, shape (N,)
        Its expected cost u >= 0 by the posteriors, in the unit of the cost.
    accepted : ndarray of bool, shape (N,)
        Whether u is at most the reject cost; other rows are rejected: left to a person, say.

    Examples
    --------
    >>> decide([[0.9, 0.1], [0.4, 0.6]], reject_cost=0.2)
    RowDecisions(decision=array([0, 1]), uncertainty=array([0.1, 0.4]), accepted=array([ True, False]))
    """

    decision: Array | None
    uncertainty: Floats
    accepted: Bools


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
    table = costs_by_class(cost)
    if isinstance(table, Mapping):
        table, labels, names = matrix_of_classes(table, labels)
    options = checked_options(
        cost=table,
        predictions_are=predictions_are,
        renormalize=renormalize,
        reject_costs=check_number(reject_cost, "reject_cost", 0, math.inf),
    )
    if labels is None:
        labels = classes_of_columns(
            y_prob, "y_prob", are_numbered=not isinstance(options.cost, str)
        )
    with in_words({**OF_POSTERIORS, **OF_REJECT_COST}):
        system = _system_of_rows(y_prob, labels, options)
    if names is None and labels is not None:
        names = classes_in(labels, "labels").tolist()
        if not isinstance(options.cost, str) and options.cost.shape[1] != len(names):
            names = None  # decisions are not these classes
    warn_of(system.notes, stacklevel=2)
    return decisions_on_rows(system, names)


def _system_of_rows(y_prob: ArrayLike, labels: ArrayLike | None, options: Options) -> System:
    """Return the system of posteriors of rows without a truth, of which the first class takes the place."""
    ordered = y_prob if labels is None else by_class(y_prob, labels, labels)
    array = two_columns(numbers(ordered, "predictions"), options)
    array, truth = posteriors(array, np.zeros(array.shape[:1]))
    if labels is not None:
        check_classes(classes_in(labels, "labels"), labels, array.shape[1])
    return prepare("posteriors", array, truth, options, rank=False)


def decisions_on_rows(system: System, names: Sequence[object] | None = None) -> RowDecisions:
    """Return what is decided for the rows of a system at its one reject cost, with the names of decisions."""
    decisions = system.decisions
    (reject_cost,) = system.options.reject_costs
    decision = decisions.decision
    if decision is not None:
        decision = decision.astype(np.int64) if names is None else _array_of(names)[decision]
    accepts = accepted(
        decisions.uncertainty, reject_cost=reject_cost, max_uncertainty=decisions.max_uncertainty
    )
    return RowDecisions(decision, decisions.uncertainty, accepts)


def _array_of(names: Sequence[object]) -> Array:
    """Return names (D,) as numbers or strings, or, where they are neither, as the objects that they are."""
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
    r"""Decide which new answers of a system to accept by their confidences, by the rule that the metrics score.

    .. math:: u = 1 - q, \qquad \text{accepted where } u \le \gamma

    with the reject cost :math:`\gamma`, in units of what a mistake costs: see `decide`. A confidence that is equal to
    1 minus the reject cost, up to rounding, is accepted.

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
    with in_words({**OF_GIVEN_CONFIDENCES, **OF_REJECT_COST}):
        values, unknown = confidences(confidence, np.zeros(np.shape(confidence)))
        system = prepare("confidences", values, unknown, options, rank=False)
    warn_of(system.notes, stacklevel=2)
    return decisions_on_rows(system)

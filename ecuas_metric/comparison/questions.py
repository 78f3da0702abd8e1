"""One system from the answers of a system to several questions about the same items, on one scale."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import InputError
from ..inputs import Floats, is_broadcast
from ..options import checked_options, is_set
from ..results import System, prepare_system

_COMMON_OPTIONS = (
    "n",
    "epsilon",
    "confidence_level",
    "interval_method",
    "n_resamples",
    "random_state",
)
_QUESTION_OPTIONS = (
    "judge",
    "reject_costs",
    "groups",
    "strata",
    "weights_are",
    "normalize",
    "decompose",
    "calibration",
)


def join_questions(questions: Mapping[str, System]) -> System:
    r"""Return one system with the answers to several questions, each of which counts the same.

    Uncertainties and costs are in units of the largest uncertainty of their question, :math:`u_i / u_M` and
    :math:`c_i / u_M`, and the weights of each question have the same sum: each ECUAS_n is the mean of those of the
    questions. The answers about one item are a group.

    Parameters
    ----------
    questions : mapping of name to System
        With ids, which name the items.

    Returns
    -------
    System
        Of costs, with a largest uncertainty of 1.

    Raises
    ------
    InputError
        If a question has no ids, or an option that is of one question, as reject costs, which are in its unit.

    Examples
    --------
    >>> from ecuas_metric import confidence_system, make_report
    >>> team = confidence_system([1, 0], [0.9, 0.4], num_classes=4, ids=["a", "b"], n=1)
    >>> urgent = confidence_system([1, 1], [0.8, 0.7], num_classes=2, ids=["a", "b"], n=1)
    >>> systems = {"team": team, "urgent": urgent}
    >>> both = make_report([join_questions(systems)]).results["system 1"].flat()
    >>> each = [results.flat() for results in make_report(systems).results.values()]
    >>> round(both["ecuas_1"], 4), [round(one["ecuas_1"], 4) for one in each]
    (0.4278, [0.5956, 0.26])
    """
    ids: list[str] = []
    items: list[str] = []
    columns: list[Floats] = []
    for name, system in questions.items():
        _refuse_question_options(system)
        if system.ids is None:
            raise InputError("questions", "no_ids", got=name)
        of_question = list(map(str, system.ids))
        ids += [f"{name} {item}" for item in of_question]
        items += of_question
        columns.append(_scale_columns(system))
    uncertainty, cost, weight = np.concatenate(columns, axis=1)
    first = next(iter(questions.values())).options
    options = checked_options(
        **{name: getattr(first, name) for name in _COMMON_OPTIONS},
        max_uncertainty=1.0,
        sample_weight=None if is_broadcast(weight) else weight,
        groups=items,
    )
    return prepare_system("costs", uncertainty, cost, options, ids=ids)


def _refuse_question_options(system: System) -> None:
    """Raise InputError if an option is set that makes sense for one question only."""
    for name in _QUESTION_OPTIONS:
        if is_set(system.options, name):
            raise InputError(name, "is of one question: take each by itself")


def _scale_columns(system: System) -> Floats:
    """Return the uncertainties, costs and weights (3, N) of a system, whose weights sum to 1.

    Where it gives no answer it is as uncertain as can be.
    """
    decisions = system.decisions
    weight = system.options.weights(system.num_samples)
    largest = decisions.max_uncertainty
    uncertainty = np.where(decisions.abstained, 1.0, decisions.uncertainty / largest)
    return np.stack([uncertainty, decisions.candidate_cost / largest, weight / weight.sum()])

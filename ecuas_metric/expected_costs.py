"""The metrics that are costs to a user: ECUAS_n, the cost at one reject cost and its parts, and the mean cost."""

import numpy as np

from .costs import accepted, ecuas_of_checked, fixed_of_checked
from .inputs import FloatOrFloats, Floats, Limits, inner
from .metric import Data, Frequencies, Metric, Unjudged


def _ecuas_cost(data: Data) -> Floats:
    decisions = data.decisions
    return ecuas_of_checked(
        decisions.uncertainty,
        decisions.candidate_cost,
        n=data.parameter,
        max_uncertainty=decisions.max_uncertainty,
        epsilon=data.options.floor,
    )


def ecuas_if_calibrated(
    u: FloatOrFloats, *, n: float, max_uncertainty: float, epsilon: float
) -> FloatOrFloats:
    """Return ECUAS_n of answers that all have one uncertainty u, which is their mean cost."""
    return ecuas_of_checked(u, u, n=n, max_uncertainty=max_uncertainty, epsilon=epsilon)


def _naive_ecuas(naive: Frequencies) -> FloatOrFloats:
    return ecuas_if_calibrated(
        naive.uncertainty,
        n=naive.parameter,
        max_uncertainty=naive.max_uncertainty,
        epsilon=naive.options.floor,
    )


def _candidate_cost(data: Data) -> Floats:
    return data.decisions.candidate_cost


def _naive_uncertainty(naive: Frequencies) -> FloatOrFloats:
    return naive.uncertainty


def _cost_at(data: Data) -> Floats:
    decisions = data.decisions
    return fixed_of_checked(
        decisions.uncertainty,
        decisions.candidate_cost,
        reject_cost=data.parameter,
        max_uncertainty=decisions.max_uncertainty,
    )


def _naive_cost_at(naive: Frequencies) -> FloatOrFloats:
    u = naive.uncertainty
    accepts = accepted(u, reject_cost=naive.parameter, max_uncertainty=naive.max_uncertainty)
    return np.where(accepts, u, naive.parameter)


def _is_accepted(data: Data) -> Floats:
    decisions = data.decisions
    accepts = accepted(
        decisions.uncertainty, reject_cost=data.parameter, max_uncertainty=decisions.max_uncertainty
    )
    return accepts.astype(np.float64)


def _risks_if_all_right_or_wrong(unjudged: Unjudged) -> Limits:
    """Return the bounds of the selective risk, a mean over accepted samples, which the answers do not decide."""
    ends = []
    for data in (unjudged.all_right, unjudged.all_wrong):
        accepts = unjudged.weight * _is_accepted(data)
        share = float(accepts.sum())
        risk = inner(accepts, data.decisions.candidate_cost) / share if share else np.nan
        ends.append(risk)
    return ends[0], ends[1]


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
    cost=_cost_at,
    naive_posterior=_naive_cost_at,
    column=12,
)
COVERAGE = Metric(
    name="coverage",
    title="Cov",
    description="Share of samples that a user with this reject cost accepts",
    assesses="confidences",
    higher_is_better=None,
    parameter="reject_costs",
    cost=_is_accepted,
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
    cost=lambda data: _is_accepted(data) * data.decisions.candidate_cost,
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
    unjudged=_risks_if_all_right_or_wrong,
    column=15,
)
COST_METRICS = (ECUAS_N, ERROR_RATE, RISK, EXPECTED_COST, COVERAGE, ACCEPTED_COST, SELECTIVE_RISK)

"""Posteriors in every form become decisions: against fractions, SciPy and the other forms."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import entropy

from ecuas_metric import score_posteriors
from ecuas_metric.costs import ecuas_cost
from ecuas_metric.decisions import posterior_decisions
from ecuas_metric.options import checked_options
from ecuas_metric.results import prepare_system
from tests.ecuas_metric.systems import distributions, posterior_systems

ORDERS = st.sampled_from([0.0, 0.5, 1.0, 3.0, np.inf])
COSTS = ["zero_one", "log", np.array([[0, 1, 0.4], [3, 0, 0.4]])]


def costs_of(decisions, n):
    return ecuas_cost(
        candidate_cost=decisions.candidate_cost,
        uncertainty=decisions.uncertainty,
        n=n,
        max_uncertainty=decisions.max_uncertainty,
    )


@given(posterior_systems())
def test_the_log_cost_is_entropy_and_cross_entropy(system):
    q, labels = system
    decisions = posterior_decisions(q, labels, cost="log")
    np.testing.assert_allclose(decisions.uncertainty, entropy(q, axis=1))
    np.testing.assert_allclose(decisions.candidate_cost, -np.log(q[np.arange(len(q)), labels]))
    assert decisions.max_uncertainty == math.log(q.shape[1])


@given(
    posterior_systems(),
    st.sampled_from(["zero_one", "log"]),
    st.sampled_from([0.9991, 1 - 1e-7, 1 + 1e-7, 1.0009]),
)
def test_the_three_forms_of_a_posterior_agree_and_rows_within_the_tolerance_are_divided(
    system, cost, factor
):
    q, labels = system
    gaps = np.diff(np.sort(q, axis=1))
    assume(((gaps == 0) | (gaps > 1e-9)).all())  # else the logarithm makes ties
    expected = posterior_decisions(q, labels, cost=cost)
    forms = [
        (np.log(q), "log_probabilities"),
        (np.log(q) + np.log(factor), "log_probabilities"),
        (np.log(q) + 700, "logits"),
        (q * factor, "probabilities"),
    ]
    for values, form in forms:
        if form == "logits" or values.max() <= 1:
            ours = posterior_decisions(values, labels, cost=cost, predictions_are=form)
            for name in ("uncertainty", "candidate_cost", "cross_entropy", "brier_score"):
                np.testing.assert_allclose(
                    getattr(ours, name), getattr(expected, name), rtol=1e-9, atol=1e-9
                )


def test_logits_keep_uncertainties_that_1_minus_q_loses():
    logits = np.array([[80.0, 0.0, -5.0], [0.0, 300.0, 0.0]])
    decisions = posterior_decisions(logits, np.array([0, 1]), predictions_are="logits")
    expected = [np.logaddexp(0, -5) - logsumexp(logits[0]), np.log(2) - 300]
    np.testing.assert_allclose(np.log(decisions.uncertainty), expected, rtol=1e-12)
    # -log(1 - u) = u for tiny u
    np.testing.assert_allclose(decisions.cross_entropy, decisions.uncertainty, rtol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_equal_expected_costs_go_to_the_first_decision(order, rng):
    """Of rows of decimals, full of ties, by the fractions that they stand for."""
    cuts = np.sort(rng.integers(0, 11, (1200, 4)), axis=1)
    tenths = np.diff(cuts, axis=1, prepend=0, append=10)
    hundredths = np.array(
        [[0, 100, 30, 70], [200, 0, 30, 10], [100, 100, 30, 20], [40, 300, 30, 0], [100, 50, 30, 0]]
    )
    expected = tenths @ hundredths
    labels = rng.integers(0, 5, 1200)
    ours = posterior_decisions(np.array(tenths / 10, order=order), labels, cost=hundredths / 100)
    first = expected.argmin(axis=1)
    is_tied = (expected == expected.min(axis=1, keepdims=True)).sum(axis=1) > 1
    assert is_tied.sum() > 15
    np.testing.assert_array_equal(ours.candidate_cost, hundredths[labels, first] / 100)
    # to the last digit, so that what is tied on paper is tied
    np.testing.assert_array_equal(ours.uncertainty, expected.min(axis=1) / 1000)


def test_equal_rows_have_equal_uncertainties_wherever_they_stand(rng):
    q = np.repeat(rng.dirichlet(np.ones(37), 1), 501, axis=0)
    decisions = posterior_decisions(q, np.zeros(501, int), cost=rng.random((37, 37)))
    assert len(np.unique(decisions.uncertainty)) == 1


def test_the_cross_entropy_of_rounded_rows_is_that_of_fractions():
    q = np.array([[0.333, 0.333, 0.333], [0.5005, 0.25, 0.25]])
    rows = [[Fraction(p) for p in row] for row in q.tolist()]
    expected = [-math.log(row[0] / sum(row)) for row in rows]
    ours = posterior_decisions(q, np.array([0, 0]))
    np.testing.assert_allclose(ours.cross_entropy, expected, rtol=1e-14)


@pytest.mark.parametrize("cost", COSTS, ids=str)
@given(distributions(2), distributions(2), ORDERS)
def test_proper_posteriors_other_than_the_true_ones_never_gain(cost, p, q, n):
    def expected(posterior):
        decisions = posterior_decisions(
            np.array([posterior, posterior]), np.array([0, 1]), cost=cost
        )
        return p @ costs_of(decisions, n)

    assert expected(p) <= expected(q) + 1e-9


def test_decisions_beyond_the_largest_uncertainty_are_called_so(recwarn):
    posteriors = [[0.8, 0.1, 0.1], [0.1, 0.5, 0.4], [0.1, 0.5, 0.4]]
    score_posteriors([0, 1, 2], posteriors, decisions=[1, 1, 2])
    (said,) = [str(one.message) for one in recwarn if "above" in str(one.message)]
    assert "1 of 3" in said
    assert "num_classes" not in said


@pytest.mark.parametrize("predictions_are", ["probabilities", "log_probabilities", "logits"])
@pytest.mark.parametrize("cost", ["zero_one", "log", np.ones((3, 2))])
def test_no_rows_are_no_decisions(predictions_are, cost):
    options = checked_options(predictions_are=predictions_are, cost=cost)
    none = np.empty((0, 3))
    system = prepare_system("posteriors", none, np.empty(0, np.int64), options, sort=False)
    assert system.decisions.uncertainty.shape == (0,)

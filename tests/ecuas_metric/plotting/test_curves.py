import dataclasses

import numpy as np
import pytest
from hypothesis import given

from ecuas_metric import ece_score
from ecuas_metric.costs import ecuas_cost, fixed_reject_cost
from ecuas_metric.decisions import Decisions, confidence_decisions, posterior_decisions
from ecuas_metric.errors import InputError
from ecuas_metric.options import checked_options
from ecuas_metric.plotting.curves import (
    confidence_cost,
    order_curve,
    reject_cost_curve,
    reliability,
    risk_coverage,
)
from ecuas_metric.results import make_system
from tests.ecuas_metric.systems import confidence_systems, values


def of_confidences(confidence, correct, **options):
    return make_system(confidence_decisions(confidence, correct), checked_options(**options))


@given(confidence_systems())
def test_risk_coverage_ends_at_the_error_rate_of_all(system):
    curve = risk_coverage(of_confidences(*system))
    assert curve.coverage[-1] == 1
    assert curve.risk[-1] == pytest.approx(1 - system[1].mean())
    assert len(curve.risk) == len(np.unique(system[0]))


@given(confidence_systems())
def test_each_point_of_the_reject_cost_curve_is_the_mean_fixed_cost(system):
    decisions = confidence_decisions(*system)
    curve = reject_cost_curve(make_system(decisions, checked_options()), num_points=21)
    for gamma, cost in zip(curve.reject_cost, curve.expected_cost, strict=True):
        costs = fixed_reject_cost(
            candidate_cost=decisions.candidate_cost,
            uncertainty=decisions.uncertainty,
            reject_cost=gamma,
            max_uncertainty=1,
        )
        assert cost == pytest.approx(costs.mean())
    assert curve.accept_all == pytest.approx(decisions.candidate_cost.mean())
    assert (curve.reject_all == curve.reject_cost).all()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_area_under_the_reject_cost_curve_is_ecuas(n, rng):
    """The paper's construction, on a fine grid: ECUAS_n is the curve's integral with weight w_n."""
    decisions = posterior_decisions(rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200))
    curve = reject_cost_curve(make_system(decisions, checked_options()), num_points=20_001)
    weight = (n + 1) / decisions.max_uncertainty ** (n + 1) * curve.reject_cost ** (n - 1)
    area = np.trapezoid(weight * curve.expected_cost, curve.reject_cost)
    assert area == pytest.approx(values(decisions, n=n)[f"ecuas_{n}"], rel=1e-3)


def test_whole_weights_are_repetition(rng):
    confidence = rng.random(40).round(1)
    correct = rng.integers(0, 2, 40)
    weights = rng.integers(0, 3, 40)
    weighted = of_confidences(confidence, correct, sample_weight=weights)
    repeated = of_confidences(np.repeat(confidence, weights), np.repeat(correct, weights))
    for curve in (risk_coverage, reject_cost_curve, reliability, order_curve):
        for name, ours in dataclasses.asdict(curve(weighted)).items():
            if name != "counts":
                np.testing.assert_allclose(
                    ours, getattr(curve(repeated), name), atol=1e-12, err_msg=name
                )


@given(confidence_systems())
def test_ece_is_the_gap_of_the_reliability_bins(system):
    confidence, correct = system
    decisions = confidence_decisions(confidence, correct)
    bins = reliability(make_system(decisions, checked_options(n_bins=7)))
    gap = np.nansum(bins.counts * np.abs(bins.confidence - bins.accuracy)) / bins.counts.sum()
    assert gap == pytest.approx(ece_score(correct, confidence, n_bins=7))
    assert ((bins.low <= bins.confidence + 1e-12) | (bins.counts == 0)).all()
    assert ((bins.confidence <= bins.high + 1e-12) | (bins.counts == 0)).all()


def test_reliability_needs_confidences():
    decisions = Decisions(np.array([0.2]), np.array([0.0]), max_uncertainty=1.0)
    with pytest.raises(
        InputError,
        match=r"^a reliability diagram needs confidences: a system under the 0-1 cost\.$",
    ):
        reliability(make_system(decisions, checked_options()))


@pytest.mark.parametrize("n, num_classes", [(0, 2), (1, None), (128, 10)])
def test_cost_against_confidence(n, num_classes):
    curve = confidence_cost(n=n, num_classes=num_classes)
    u_max = 1 if num_classes is None else 1 - 1 / num_classes
    assert curve.confidence[0] == pytest.approx(1 - u_max)
    assert curve.correct[0] == curve.incorrect[0] == 1
    assert (np.diff(curve.correct) <= 0).all()
    assert (np.diff(curve.incorrect) >= -1e-12).all()
    middle = ecuas_cost(
        candidate_cost=[1.0], uncertainty=1 - curve.confidence[[100]], n=n, max_uncertainty=u_max
    )
    assert curve.incorrect[100] == pytest.approx(middle[0])


def test_each_point_of_the_order_curve_is_ecuas_and_none_is_higher_than_the_one_before(rng):
    decisions = confidence_decisions(rng.uniform(0.1, 0.99, 90), rng.integers(0, 2, 90))
    curve = order_curve(make_system(decisions, checked_options()))
    expected = values(decisions, n=tuple(curve.n))
    assert curve.n[0] == 0
    assert curve.ecuas == pytest.approx([expected[f"ecuas_{n:g}"] for n in curve.n])
    assert (np.diff(curve.ecuas) <= 1e-9).all()

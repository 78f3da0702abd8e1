"""A reject cost by budget rejects what the budget allows; one that is certified keeps its promise."""

import csv
import itertools

import numpy as np
import pytest

from ecuas_metric import (
    InputError,
    choose_reject_cost,
    confidence_system,
    posterior_system,
    score_confidences,
)
from ecuas_metric.rejection import STEPS, _risk_p_value
from tests.conftest import ROOT
from tests.ecuas_metric.certificates import (
    KINDS,
    LEVEL,
    RISK,
    RUNS,
    RUNS_BESIDE,
    SIZES,
    times_broken,
)

RECORDED = ROOT / "docs" / "certificates.csv"


def recorded():
    with RECORDED.open() as file:
        return {(row["kind"], int(row["samples"])): row for row in csv.DictReader(file)}


def test_a_certified_risk_is_exceeded_in_at_most_5_percent_of_the_recorded_runs():
    rows = recorded()
    assert rows.keys() == set(itertools.product(KINDS, SIZES))
    assert max(int(row["broken"]) for row in rows.values()) <= 0.05 * RUNS
    page = (ROOT / "docs" / "deciding.md").read_text()
    for said in (
        f"tests {STEPS} coverages",
        f"at most {RISK:.0%} was".replace("%", " %"),
        f"at the level {LEVEL} in {RUNS:,} simulated",
        f"in {RUNS_BESIDE} other",
    ):
        assert said in page


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_recorded_of_certificates_is_what_they_do(kind, size):
    assert times_broken(kind, size) == int(recorded()[kind, size]["broken"])


@pytest.mark.parametrize("budget", [0.0, 0.1, 0.5, 0.93])
def test_a_budget_is_used_as_far_as_ties_let(budget, rng):
    confidence = rng.integers(0, 20, 300) / 20
    correct = rng.integers(0, 2, 300)
    choice = choose_reject_cost(confidence_system(correct, confidence), budget=budget)
    u = np.unique(1 - confidence)
    rejected = np.array([(1 - confidence > t + 1e-12).mean() for t in u])
    assert choice.reject_cost == pytest.approx(u[rejected <= budget].min())
    scores = score_confidences(
        correct, confidence, reject_costs=choice.reject_cost, confidence_level=0.95
    )
    key = f"{choice.reject_cost:g}"
    for name, estimate in (
        ("coverage", choice.coverage),
        ("selective_risk", choice.risk),
        ("expected_cost", choice.expected_cost),
    ):
        assert estimate.value == pytest.approx(scores[f"{name}_{key}"])
        assert estimate.low == pytest.approx(scores[f"{name}_{key}_low"], nan_ok=True)


def test_none_can_be_certified_and_about_how_many_answers_would_do(rng):
    confidence = np.full(40, 0.99)
    few = choose_reject_cost(confidence_system(np.ones(40, int), confidence), max_risk=RISK)
    assert np.isnan(few.reject_cost)
    needed = few.num_samples_needed
    assert 60 <= needed <= 200
    for confidence in (np.full(4 * needed, 0.99), rng.random(4 * needed)):
        enough = choose_reject_cost(
            confidence_system(np.ones(4 * needed, int), confidence), max_risk=RISK
        )
        assert enough.coverage.value == 1
    for size in (1, 5):  # also where half an answer, or half a group, is more than the risk
        groups = np.arange(10) // size
        system = confidence_system(np.ones(10), np.full(10, 0.99), groups=groups)
        assert choose_reject_cost(system, max_risk=RISK).num_samples_needed >= 50 * size
    never = choose_reject_cost(
        confidence_system(rng.integers(0, 2, 400), np.full(400, 0.9)), max_risk=RISK
    )
    assert never.num_samples_needed is None


def test_what_is_above_the_largest_uncertainty_is_rejected_at_every_reject_cost(rng):
    confidence = rng.random(400)
    system = confidence_system(rng.random(400) < confidence, confidence, num_classes=2)
    most = choose_reject_cost(system, budget=(confidence < 0.5).mean())
    assert most.reject_cost == pytest.approx(0.5, abs=0.01)
    assert most.coverage.low < most.coverage.value == (confidence >= 0.5).mean()
    none = confidence_system(np.ones(400), np.full(400, 0.4), num_classes=2)
    assert choose_reject_cost(none, max_risk=0.5).num_samples_needed is None
    assert choose_reject_cost(none, budget=1).coverage.value == 0
    thirds = confidence_system([1, 1, 1], [0.9, 0.9, 0.4], num_classes=2)
    with pytest.raises(InputError, match="must be at least 0.3334, the share"):
        choose_reject_cost(thirds, budget=0.3333)
    assert choose_reject_cost(thirds, budget=0.3334).coverage.value == pytest.approx(2 / 3)


@pytest.mark.filterwarnings("error")
def test_wealth_beyond_all_numbers_is_certain_and_said_without_a_warning():
    correct = np.arange(20_000) % 500 > 0
    options = {"groups": np.arange(20_000) // 2}
    choice = choose_reject_cost(
        confidence_system(correct, np.full(20_000, 0.9), **options), max_risk=0.3
    )
    assert choice.coverage.value == 1


@pytest.mark.long
def test_bets_of_costs_and_groups_are_valid_and_weaker_than_binomial_tails(rng):
    """The mean of 1 / p is at most 1 where the promise just fails: p is that of a test martingale."""
    wealth = []
    q = np.tile([0.5, 0.5], (50, 1))
    for _ in range(500):
        system = posterior_system(
            rng.random(50) < 0.1, q, cost=[[0, 2], [2, 0]], labels=[0, 1], groups=np.arange(50) // 2
        )
        p = _risk_p_value(
            system.decisions, system.options, np.ones(50, bool), risk=0.2, largest=2.0
        )
        wealth.append(1 / p)
    assert np.mean(wealth) < 1.3
    correct = np.arange(500) >= 10
    exact = confidence_system(correct, np.full(500, 0.9))
    grouped = confidence_system(correct, np.full(500, 0.9), groups=np.arange(500))
    p, weaker = (
        _risk_p_value(one.decisions, one.options, np.ones(500, bool), risk=RISK, largest=1.0)
        for one in (exact, grouped)
    )
    assert p < weaker < 0.05


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "choose_reject_cost takes one of budget and max_risk"),
        ({"budget": 0.1, "max_risk": 0.1}, "choose_reject_cost takes one of budget and max_risk"),
        ({"budget": 20}, r"budget must be a number in \[0, 1\]"),
        (
            {"budget": 0.4, "num_classes": 2},
            r"budget must be at least 0\.5, the share that is above",
        ),
        ({"max_risk": 1}, r"max_risk must be a number in \(0, 1\)"),
        ({"max_risk": 0.1, "weights": [1, 2]}, "max_risk cannot be certified of weighted answers"),
    ],
)
def test_what_cannot_be_chosen_is_refused(options, message):
    with pytest.raises(InputError, match="must be of confidence_system"):
        choose_reject_cost(([0, 1], [0.4, 0.6]), budget=0.1)
    weights = options.pop("weights", None)
    num_classes = options.pop("num_classes", None)
    system = confidence_system([0, 1], [0.4, 0.6], sample_weight=weights, num_classes=num_classes)
    with pytest.raises(InputError, match=message):
        choose_reject_cost(system, **options)

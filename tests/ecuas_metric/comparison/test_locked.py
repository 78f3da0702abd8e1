"""A new version is checked against locked answers: who passes, who fails, and which answers flipped."""

import json
import math

import numpy as np
import pytest

from ecuas_metric import (
    Lock,
    check_locked,
    confidence_system,
    lock_reject_cost,
)
from ecuas_metric.errors import InputError
from ecuas_metric.rejection import choose_reject_cost

SIZE = 300


def version(rng, hard, *, spoilt=0.0, **options):
    """Return answers to questions that are right with a chance (N,), a share of which are then spoilt."""
    confidence = np.clip(hard + rng.normal(0, 0.1, len(hard)), 0.02, 0.98)
    correct = (rng.random(len(hard)) < hard) & (rng.random(len(hard)) >= spoilt)
    ids = [f"q{i}" for i in range(len(hard))]
    return confidence_system(correct.astype(int), confidence, ids=ids, **options)


def lock_of(system, budget=0.3):
    choice = choose_reject_cost(system, budget=budget)
    return lock_reject_cost("old", system, choice.reject_cost)


def stored(lock):
    return Lock.from_json(json.loads(json.dumps(lock.to_json(), default=str)))


def permuted(rng, system):
    order = rng.permutation(system.num_samples)
    correct = 1 - system.decisions.candidate_cost[order].astype(int)
    ids = [system.ids[place] for place in order]
    return confidence_system(correct, system.decisions.confidence[order], ids=ids)


def test_flips_coverage_and_means_are_those_of_an_enumeration(rng):
    hard = rng.beta(4, 0.7, SIZE)
    old, new = version(rng, hard), version(rng, hard, spoilt=0.1)
    lock = lock_of(old)
    check = check_locked(stored(lock), "new", permuted(rng, new))
    accepted = [one.decisions.uncertainty <= lock.reject_cost + 1e-12 for one in (old, new)]
    costs = [one.decisions.candidate_cost for one in (old, new)]
    both = accepted[0] & accepted[1]
    flips = [np.count_nonzero(both & (costs[1] - costs[0] == change)) for change in (1, -1)]
    assert min(flips) > 0
    assert [check.both, check.dearer, check.cheaper] == [np.count_nonzero(both), *flips]
    shares = [check.locked_coverage, check.coverage]
    assert shares == pytest.approx([one.mean() for one in accepted])
    risk, cost = check.rows
    for side, is_accepted, paid in zip(("second", "first"), accepted, costs, strict=True):
        mean = np.where(is_accepted, paid, lock.reject_cost).mean()
        assert getattr(cost, f"{side}_value") == pytest.approx(mean)
        assert getattr(risk, f"{side}_value") == pytest.approx(paid[is_accepted].mean())


def test_what_was_locked_passes_and_flips_nothing(rng):
    old = version(rng, rng.beta(4, 0.7, SIZE))
    check = check_locked(stored(lock_of(old)), "new", permuted(rng, old))
    assert not check.failed
    assert [row.difference for row in check.rows] == [0, 0]
    assert not any(math.copysign(1, row.difference) < 0 for row in check.rows)  # as -0.000
    assert (check.dearer, check.cheaper, check.coverage) == (0, 0, check.locked_coverage)


def test_reject_costs_of_the_range_accept_the_same(rng):
    old = version(rng, rng.beta(4, 0.7, SIZE))
    lock = lock_of(old)
    low, high = lock.range
    u = old.decisions.uncertainty
    count = np.count_nonzero(u <= low + 1e-12)
    assert low == lock.reject_cost < high
    assert np.count_nonzero(u <= low + 0.999 * (high - low)) == count
    assert np.count_nonzero(u <= high + 1e-12) > count
    assert np.count_nonzero(u <= low - 1e-9) < count


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"num_classes": 4}, "numbers of classes K"),
        ({"sample_weight": np.arange(1, 41)}, "weights"),
        ({"groups": np.arange(40) // 2}, "groups"),
        ({"ids": range(1, 41)}, "have different samples"),
        ({"ids": None}, "need ids"),
        ({"judge": np.ones(40)}, "a check is not valid with the verdicts of a judge"),
    ],
)
def test_what_is_not_alike_is_refused(changed, said, rng):
    arrays = (rng.random(40) < 0.7).astype(int), 0.5 + rng.random(40) / 2
    lock = lock_of(confidence_system(*arrays, ids=range(40)))
    new = confidence_system(*arrays, **({"ids": range(40)} | changed))
    with pytest.raises(InputError, match=said):
        check_locked(lock, "new", new)


def test_only_a_reject_cost_of_answers_with_ids_is_locked(rng):
    arrays = (rng.random(40) < 0.7).astype(int), rng.random(40)
    for system, cost, said in (
        (confidence_system(*arrays), 0.1, "need ids"),
        (
            confidence_system(*arrays, ids=range(40)),
            math.nan,
            "^reject_cost must be a number in .*; got nan",
        ),
        (confidence_system(*arrays, ids=range(40)), -0.1, "^reject_cost must be a number in"),
        (
            confidence_system(*arrays, ids=range(40)),
            1.1,
            r"^reject_cost must be a number in \[0, 1\]",
        ),
        (confidence_system(*arrays, ids=range(40)), "low", "^reject_cost must be"),
        (confidence_system(*arrays, ids=[0] * 40), 0.1, "must be unique"),
        (confidence_system(*arrays, ids=range(40), judge=arrays[0]), 0.1, "verdicts of a judge"),
    ):
        with pytest.raises(InputError, match=said):
            lock_reject_cost("a", system, cost)


@pytest.mark.slow
@pytest.mark.parametrize("size", [120, 300])
def test_an_equal_version_passes_and_one_worse_by_the_planned_difference_fails(size):
    """In at least 94 % and 75 % of runs; the planned difference is the median of what equal versions say."""
    runs = 300
    budget = 0.3

    def checks(spoilt, seed):
        for run in range(runs):
            rng = np.random.default_rng((seed, run))
            hard = rng.beta(4, 0.7, size)
            lock = lock_of(version(rng, hard), budget)
            yield check_locked(lock, "new", version(rng, hard, spoilt=spoilt))

    equal = list(checks(0.0, 1))
    assert np.mean([not check.failed for check in equal]) >= 0.94
    planned = np.nanmedian([check.detectable for check in equal], axis=0)
    rng = np.random.default_rng(0)
    hard = rng.beta(4, 0.7, 100_000)
    lock = lock_of(version(rng, hard), budget)
    for place in range(2):
        low, high = 0.0, 0.6
        while high - low > 1e-3:  # the share that makes this difference
            middle = (low + high) / 2
            new = version(np.random.default_rng(1), hard, spoilt=middle)
            truth = check_locked(lock, "new", new).rows[place].difference
            low, high = (middle, high) if truth < planned[place] else (low, middle)
        assert np.mean([bool(check.failed) for check in checks(low, 2)]) >= 0.75

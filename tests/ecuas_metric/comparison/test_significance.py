import itertools

import numpy as np
import pytest

from ecuas_metric import InputError, compare_systems, confidence_system, posterior_system
from ecuas_metric.comparison.compare import best_systems
from ecuas_metric.comparison.significance import (
    adjusted_p_values,
    number_of_units,
    p_values_of_best,
    permutation_limits,
    permutation_p_values,
    permutations_needed,
    simultaneous_limits,
)
from ecuas_metric.metric import Key
from ecuas_metric.options import Options


def test_an_undefined_swap_counts_as_a_large_one():
    assert permutation_p_values(0.5, np.array([0.1, np.nan, -0.6])) == 0.75
    assert np.isnan(permutation_p_values(np.nan, np.zeros(3)))
    assert permutation_p_values(0.0, np.zeros(9)) == 1


def test_adjusted_p_values_by_definition(rng):
    swapped = rng.normal(size=(5, 400)) * np.array([1, 10, 0.1, 1, 3])[:, None]
    differences = np.array([2.5, 11.0, 0.3, -0.2, 9.5])
    p = permutation_p_values(differences, swapped)
    spread = np.sqrt(np.mean(np.column_stack([swapped, differences]) ** 2, axis=1))
    statistics, nulls = np.abs(differences) / spread, np.abs(swapped) / spread[:, None]
    expected, left, least = np.zeros(5), list(range(5)), 0.0
    for index in np.argsort(-statistics):
        share = (1 + np.sum(nulls[left].max(axis=0) >= statistics[index])) / 401
        least = expected[index] = max(least, share, p[index])
        left.remove(index)
    assert adjusted_p_values(differences, swapped, p) == pytest.approx(expected)


@pytest.mark.parametrize("discrete", [False, True])
def test_an_interval_leaves_out_0_if_and_only_if_its_p_value_is_at_most_alpha(rng, discrete):
    for level in (0.8, 0.95, 0.99):
        swapped = rng.normal(size=399)
        swapped = swapped.round(0) if discrete else swapped
        for difference in [*rng.normal(0, 2, 200).round(0 if discrete else 9), 0.0]:
            p = permutation_p_values(difference, swapped, rounding=1e-12)
            low, high = permutation_limits(difference, swapped, level=level, num_units=50, rounding=1e-12)
            assert (low > 0 or high < 0) == (p <= 1 - level + 1e-12), (difference, p)


def test_the_interval_of_a_mean_holds_what_sign_flips_do_not_reject(rng):
    """By definition: differences less the supposed one, their signs flipped."""
    differences = rng.normal(0.5, 1, 60)
    signs = rng.choice([-1.0, 1.0], (3999, 60))
    limits = permutation_limits(differences.mean(), signs @ differences / 60, level=0.95, num_units=60)
    for limit in limits:
        rest = differences - limit
        assert permutation_p_values(rest.mean(), signs @ rest / 60) == pytest.approx(0.05, abs=0.01)


def test_simultaneous_intervals_hold_less_often_0_where_adjusted_p_values_are_larger(rng):
    swapped = rng.normal(size=(6, 999)) * np.array([1, 10, 0.1, 1, 3, 1])[:, None]
    for _ in range(50):
        differences = rng.normal(0, 3, 6) * [1, 10, 0.1, 1, 3, 1]
        p = permutation_p_values(differences, swapped)
        adjusted = adjusted_p_values(differences, swapped, p)
        low, high = simultaneous_limits(differences, swapped, level=0.95, num_units=1000)
        excluded = (low > 0) | (high < 0)
        assert (adjusted[excluded] <= 0.05).all()
        assert excluded[np.argmin(p)] == (adjusted.min() <= 0.05)  # the first step is the same


def test_a_single_test_needs_no_correction_and_one_that_was_not_made_does_not_count(rng):
    differences, swapped = np.array([2.0, np.nan]), rng.normal(size=(2, 999))
    p = permutation_p_values(differences, swapped)
    np.testing.assert_array_equal(adjusted_p_values(differences, swapped, p), p)
    alone = permutation_limits(2.0, swapped[0], level=0.9, num_units=100)
    together = simultaneous_limits(differences[:1], swapped[:1], level=0.9, num_units=100)
    assert np.ravel(together) == pytest.approx(alone)


def test_there_is_no_interval_where_nothing_could_be_rejected():
    few, nine = (np.array([0.5, -0.5] * 50), 1), (np.arange(9.0), 100)  # units; permutations
    for difference, (swapped, units) in ((0.5, few), (0.5, nine), (np.nan, (np.zeros(99), 100))):
        assert np.isnan(permutation_limits(difference, swapped, level=0.95, num_units=units)).all()
    for count in (18, 19):  # 1 of 20 is 5 %
        limits = permutation_limits(1.0, np.linspace(-1, 1, count), level=0.95, num_units=100)
        assert np.isfinite(limits).all() == (count == 19)
    assert permutation_limits(0.0, np.zeros(99), level=0.95, num_units=100) == (0, 0)


def test_there_are_as_many_permutations_as_the_level_needs():
    for level in (0.5, 0.9, 0.95, 0.99, 0.9999):
        permutations = permutations_needed(Options(confidence_level=level, n_resamples=1))
        assert permutation_p_values(1.0, np.zeros(permutations)) <= (1 - level) / 20 + 1e-12
    assert permutations_needed(Options(confidence_level=0.95, n_resamples=5000)) == 5000


def test_units_are_what_is_swapped():
    groups, weight = np.array([0, 0, 1, 2]), np.array([1.0, 1.0, 2.0, 2.0])
    assert number_of_units(4, Options(groups=groups)) == pytest.approx(16 / 6)
    assert number_of_units(4, Options(groups=groups, sample_weight=weight)) == pytest.approx(3)


@pytest.fixture
def compared(rng):
    """Values of four systems, and their differences after sign flips of 80 samples."""
    costs = rng.normal(size=(80, 4)) + np.array([0.0, 0.1, 0.4, 3.0])
    signs = rng.choice([-1.0, 1.0], (399, 80))
    pairs = list(itertools.combinations("abcd", 2))
    differences = np.array([(costs[:, "abcd".index(a)] - costs[:, "abcd".index(b)]) for a, b in pairs])
    return pairs, differences.mean(axis=1), differences @ signs.T / 80


def test_the_best_that_is_seen_may_be_the_best_and_the_worst_may_not(compared):
    p = p_values_of_best(*compared, higher_is_better=False)
    assert p["a"] > 0.3
    assert p["d"] == 1 / 400
    higher = p_values_of_best(*compared, higher_is_better=True)
    assert higher["d"] > 0.3
    assert max(higher[name] for name in "abc") == 1 / 400
    pairs, *arrays = compared
    assert p_values_of_best(pairs, *(-array for array in arrays), higher_is_better=True) == p  # turned round


def test_of_two_systems_the_p_value_is_the_one_sided_one(compared):
    pairs, differences, swapped = (of[:1] for of in compared)
    p = p_values_of_best(pairs, differences, swapped, higher_is_better=False)
    assert p["a"] == np.mean([True, *(swapped[0] >= differences[0])])
    assert p["b"] == np.mean([True, *(-swapped[0] >= -differences[0])])


def test_a_pair_without_a_difference_is_left_out(compared):
    pairs, differences, swapped = compared
    missing = np.where([("d" in pair) for pair in pairs], np.nan, differences)
    p = p_values_of_best(pairs, missing, swapped, higher_is_better=False)
    assert np.isnan(p["d"])
    three = [index for index, pair in enumerate(pairs) if "d" not in pair]
    alone = p_values_of_best([pairs[i] for i in three], differences[three], swapped[three], higher_is_better=False)
    assert {name: p[name] for name in "abc"} == alone


def test_a_comparison_names_the_best(rng):
    p = rng.beta(4, 1.5, 200)
    correct = (rng.random(200) < p).astype(int)
    confidences = {"good": p, "same": p, "bad": 1 - p}
    options = {"confidence_level": 0.95, "n": 1, "reject_costs": 0.3}
    rows = compare_systems({name: confidence_system(correct, q, **options) for name, q in confidences.items()})
    sets = best_systems(rows, level=0.95)
    assert sets[Key("ecuas", 1.0)] == sets[Key("auroc")] == ["good", "same"]
    assert sets[Key("error_rate")] == ["good", "same", "bad"]
    assert Key("coverage", 0.3) not in sets  # neither more nor less is better
    answers = {"good": correct, "same": correct, "bad": 1 - correct}
    rows = compare_systems({name: confidence_system(answers[name], q, **options) for name, q in confidences.items()})
    assert Key("auroc") not in best_systems(rows, level=0.95)  # of different answers


def test_no_p_value_is_below_that_of_all_exchanges_and_then_there_is_no_interval():
    options = {"confidence_level": 0.95, "n_resamples": 99}
    right, wrong = (confidence_system([c] * 5, [0.9] * 5, **options) for c in (1, 0))
    for row in compare_systems({"right": right, "wrong": wrong}):
        assert not row.p < 2**-4
        assert not row.p_adjusted < 2**-4
        assert np.isnan(row.low)


def test_differences_that_are_all_the_same_have_an_interval_all_the_same():
    options = {"confidence_level": 0.95}
    right, wrong = (confidence_system([c] * 20, [0.9] * 20, **options) for c in (1, 0))
    (row,) = compare_systems({"right": right, "wrong": wrong}, only=[Key("error_rate")])
    assert -1.5 < row.low < row.difference < row.high < -0.5


@pytest.mark.parametrize("other", [{"n_bins": 3}, {"epsilon": 1e-3}, {"cost": [[0, 5], [1, 0]]}])
def test_systems_of_other_options_are_not_compared(other, rng):
    posteriors, labels = rng.dirichlet([1, 1], 30), rng.integers(0, 2, 30)
    given = {"confidence_level": 0.95, "cost": [[0, 1], [5, 0]]}
    systems = [posterior_system(labels, posteriors, **given | more) for more in ({}, other)]
    with pytest.raises(InputError, match="cannot be paired: these differ"):
        compare_systems(systems)

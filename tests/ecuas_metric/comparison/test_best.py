import itertools

import numpy as np
import pytest

from ecuas_metric import compare_systems, confidence_system
from ecuas_metric.comparison.compare import best_systems
from ecuas_metric.comparison.significance import p_values_of_best
from ecuas_metric.metrics import Key


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


def test_of_two_systems_the_p_value_is_the_one_sided_one(compared):
    pairs, differences, swapped = (of[:1] for of in compared)
    p = p_values_of_best(pairs, differences, swapped, higher_is_better=False)
    assert p["a"] == np.mean([True, *(swapped[0] >= differences[0])])
    assert p["b"] == np.mean([True, *(-swapped[0] >= -differences[0])])


def test_turning_a_metric_round_changes_nothing(compared):
    pairs, differences, swapped = compared
    assert p_values_of_best(pairs, differences, swapped, higher_is_better=False) == p_values_of_best(
        pairs, -differences, -swapped, higher_is_better=True
    )


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

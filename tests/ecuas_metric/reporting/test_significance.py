import itertools

import numpy as np
import pytest

from ecuas_metric.intervals import Resampling
from ecuas_metric.options import checked_options
from ecuas_metric.reporting.significance import step_down, swap_differences, swap_p_value
from ecuas_metric.results import all_values, prepare


def system(confidence, correct, **options):
    options = checked_options(confidence_level=0.95, n=1, **options)
    return prepare("confidences", np.asarray(confidence, float), np.asarray(correct), options)


def all_swaps(one, other):
    """Return the difference of every metric after each of the 2^N swaps, by taking the swapped systems as given."""
    (p, y), (q, z) = one, other
    for swaps in itertools.product([False, True], repeat=len(p)):
        first = system(np.where(swaps, q, p), np.where(swaps, z, y))
        second = system(np.where(swaps, p, q), np.where(swaps, y, z))
        a, b = all_values(first), all_values(second)
        yield {str(key): float(a[key] - b[key]) for key in a}


@pytest.mark.parametrize("tied", [False, True])
def test_the_p_value_is_the_exact_one_of_all_swaps(tied, rng):
    values = np.array([0.2, 0.2, 0.5, 0.9, 0.9, 0.9] if tied else [0.1, 0.25, 0.4, 0.6, 0.7, 0.95])
    p, q = rng.permutation(values), rng.permutation(values)  # of one scale: ranks are as good
    y, z = np.array([1, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 1, 0])
    exact = list(all_swaps((p, y), (q, z)))
    ours = swap_differences(system(p, y), system(q, z), resampling=Resampling(20_000))
    for key, swapped in ours.items():
        values = np.array([values[str(key)] for values in exact])
        difference = values[0]  # of no swap
        share = 1 - np.mean(np.abs(values) < abs(difference) - 1e-12)
        assert swap_p_value(difference, swapped, rounding=1e-12) == pytest.approx(share, abs=0.015), str(key)


def test_groups_are_swapped_whole(rng):
    p, q = rng.random((2, 8))
    groups = np.arange(8) // 4
    one, other = (system(c, rng.integers(0, 2, 8), groups=groups) for c in (p, q))
    swapped = swap_differences(one, other, resampling=Resampling(200, groups=groups))
    for values in swapped.values():
        assert len(np.unique(np.abs(values[np.isfinite(values)]).round(12))) <= 2  # of 4 swaps, 2 up to the sign


def test_an_undefined_swap_counts_as_a_large_one():
    assert swap_p_value(0.5, np.array([0.1, np.nan, -0.6])) == 0.75
    assert np.isnan(swap_p_value(np.nan, np.zeros(3)))
    assert swap_p_value(0.0, np.zeros(9)) == 1


def test_one_test_alone_needs_no_correction(rng):
    swapped = rng.normal(size=999)
    p = swap_p_value(2.0, swapped)
    assert step_down(np.array([2.0]), [swapped], np.array([p])) == pytest.approx([p])


def test_step_down_by_definition(rng):
    swapped = list(rng.normal(size=(5, 400)) * np.array([1, 10, 0.1, 1, 3])[:, None])
    differences = np.array([2.5, 11.0, 0.3, -0.2, 9.5])
    p = np.array([swap_p_value(d, s) for d, s in zip(differences, swapped, strict=True)])
    spread = np.array([np.sqrt(np.mean(s**2)) for s in swapped])
    statistics, nulls = np.abs(differences) / spread, np.abs(swapped) / spread[:, None]
    expected, left, least = np.zeros(5), list(range(5)), 0.0
    for index in np.argsort(-statistics):
        share = (1 + np.sum(nulls[left].max(axis=0) >= statistics[index])) / 401
        least = expected[index] = max(least, share, p[index])
        left.remove(index)
    assert step_down(differences, swapped, p) == pytest.approx(expected)


def test_tests_that_were_not_made_do_not_count(rng):
    swapped = list(rng.normal(size=(2, 100)))
    alone = step_down(np.array([2.0]), swapped[:1], np.array([0.05]))
    both = step_down(np.array([2.0, np.nan]), swapped, np.array([0.05, np.nan]))
    assert both[0] == alone[0]
    assert np.isnan(both[1])


def test_the_test_of_an_order_does_not_depend_on_the_scale_of_confidences(rng):
    p, q = rng.random((2, 60))
    y, z = rng.integers(0, 2, (2, 60))
    resampling = Resampling(50)
    one, other = (swap_differences(system(p, y), system(c, z), resampling=resampling) for c in (q, 0.01 * q**3))
    for key in one:
        if key.metric in ("auroc", "aurc", "augrc", "error_rate"):
            np.testing.assert_allclose(one[key], other[key])

import itertools

import numpy as np
import pytest

from ecuas_metric import confidence_system, posterior_system
from ecuas_metric.comparison.permutation import permuted_differences
from ecuas_metric.comparison.significance import permutation_p_values
from ecuas_metric.results import all_values
from ecuas_metric.sampling import Resampling


def system(confidence, correct, **options):
    return confidence_system(correct, confidence, confidence_level=0.95, n=1, **options)


def swapped(one, other, **resampling):
    systems = {"one": one, "other": other}
    keys = {name: list(all_values(each)) for name, each in systems.items()}
    return permuted_differences(systems, keys, resampling=Resampling(**resampling))["one", "other"]


def all_permutations(one, other):
    """Return the difference of every metric after each of 2^N permutations, by taking the swapped systems as given."""
    (p, y), (q, z) = one, other
    for permutations in itertools.product([False, True], repeat=len(p)):
        first = system(np.where(permutations, q, p), np.where(permutations, z, y))
        second = system(np.where(permutations, p, q), np.where(permutations, y, z))
        a, b = all_values(first), all_values(second)
        yield {str(key): float(a[key] - b[key]) for key in a}


@pytest.mark.parametrize("tied", [False, True])
def test_the_p_value_is_the_exact_one_of_all_permutations(tied, rng):
    values = np.array([0.2, 0.2, 0.5, 0.9, 0.9, 0.9] if tied else [0.1, 0.25, 0.4, 0.6, 0.7, 0.95])
    p, q = rng.permutation(values), rng.permutation(values)  # of one scale: ranks are as good
    y, z = np.array([1, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 1, 0])
    exact = list(all_permutations((p, y), (q, z)))
    ours = swapped(system(p, y), system(q, z), n_resamples=20_000)
    for key, after in ours.items():
        values = np.array([values[str(key)] for values in exact])
        seen = after[np.isfinite(after)]
        assert np.abs(seen[:, None] - values).min(axis=1, initial=np.inf, where=np.isfinite(values)).max() < 1e-9, str(
            key
        )
        difference = values[0]  # of no permutation
        share = 1 - np.mean(np.abs(values) < abs(difference) - 1e-12)
        assert permutation_p_values(difference, after, rounding=1e-12) == pytest.approx(share, abs=0.015), str(key)


def test_groups_are_swapped_whole(rng):
    p, q = rng.random((2, 8))
    groups = np.arange(8) // 4
    one, other = (system(c, rng.integers(0, 2, 8), groups=groups) for c in (p, q))
    for values in swapped(one, other, n_resamples=200, groups=groups).values():
        assert len(np.unique(np.abs(values[np.isfinite(values)]).round(12))) <= 2  # of 4 permutations, 2 up to the sign


@pytest.mark.parametrize("cost", [None, "zero_one", "log", [[0.0, 1.0, 2.0], [1.0, 0.0, 5.0], [1.0, 1.0, 0.0]]])
@pytest.mark.parametrize(("size", "is_weighted"), [(1, False), (2, True), (40, False), (40, True)])
def test_a_swap_of_nothing_is_the_data(cost, size, is_weighted, rng):
    """One group of all samples: swapped or not, the difference is that of the metrics, with either sign."""
    weight = rng.random(size) if is_weighted else None
    every = {"normalize": True, "groups": np.zeros(size, int), "sample_weight": weight}
    if cost is None:
        every |= {"decompose": True, "reject_costs": 0.3}
        one, other = (system(rng.random(size).round(d), rng.integers(0, 2, size), **every) for d in (1, 9))
    else:
        every |= {"confidence_level": 0.9, "n": 1, "cost": cost}
        labels, posteriors = rng.integers(0, 3, size), rng.dirichlet([1, 1, 1], (2, size))
        one, other = (posterior_system(labels, rows, labels=range(3), **every) for rows in posteriors)
    values = [all_values(each) for each in (one, other)]
    for key, after in swapped(one, other, n_resamples=20, groups=every["groups"]).items():
        difference = float(values[0][key] - values[1][key])
        np.testing.assert_allclose(np.abs(after), abs(difference), atol=1e-12, err_msg=str(key))
        signs = np.sign([difference, -difference])
        np.testing.assert_array_equal(np.unique(np.sign(after)), np.unique(signs), err_msg=str(key))


def test_the_test_of_an_order_does_not_depend_on_the_scale_of_confidences(rng):
    for decimals in (1, 9):  # with ties and without
        p, q = rng.random((2, 60)).round(decimals)
        y, z = rng.integers(0, 2, (2, 60))
        one, other = (swapped(system(p, y), system(c, z), n_resamples=50) for c in (q, 0.01 * q**3))
        for key in one:
            if key.metric in ("auroc", "aurc", "augrc", "error_rate"):
                np.testing.assert_allclose(one[key], other[key])

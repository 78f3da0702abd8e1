import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ecuas_metric.intervals import Resampling, interval
from ecuas_metric.reporting.significance import bootstrap_p_value, holm, sign_flip_p_values


def test_the_bootstrap_p_value_meets_the_interval(rng):
    replicates = rng.normal(0.5, 0.3, 4000)
    p = bootstrap_p_value(replicates)
    low, _ = interval(replicates, confidence_level=1 - p)
    assert low == pytest.approx(0, abs=0.01)
    assert bootstrap_p_value(np.zeros(100)) == 1
    assert np.isnan(bootstrap_p_value(np.full(3, np.nan)))


def test_the_sign_flip_p_value_is_the_exact_one_for_few_samples():
    differences = np.array([[0.3], [0.1], [0.4], [-0.2], [0.5], [0.25]])
    theirs = stats.permutation_test(
        (differences[:, 0], np.zeros(6)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    ours = sign_flip_p_values(differences, resampling=Resampling(20_000))[0]
    assert ours == pytest.approx(theirs, abs=0.01)


def test_sign_flips_of_no_difference_are_certain():
    assert sign_flip_p_values(np.zeros((5, 2)), resampling=Resampling(100)).tolist() == [1, 1]


def test_flipping_groups_is_flipping_their_sums(rng):
    differences, groups = rng.normal(0.2, 1, (40, 1)), np.arange(40) // 4
    sums = differences.reshape(10, 4).sum(axis=1)[:, None]
    ours = sign_flip_p_values(differences, resampling=Resampling(500, groups=groups))
    assert ours == pytest.approx(sign_flip_p_values(sums, resampling=Resampling(500)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_by_definition(p):
    adjusted = holm(p)
    order = np.argsort(p)
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p) - rank) * p[index]))
        assert adjusted[index] == pytest.approx(running)
    assert (adjusted >= np.array(p)).all()


def test_holm_counts_no_test_that_was_not_made():
    assert holm([0.01, np.nan, 0.02])[[0, 2]].tolist() == [0.02, 0.02]
    assert np.isnan(holm([0.01, np.nan])[1])

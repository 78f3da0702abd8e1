import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecuas_metric.ranking import tie_groups
from tests.ecuas_metric.systems import UNIT

SAMPLES = st.lists(st.tuples(UNIT, st.sampled_from([0.0, 1.0])), min_size=1, max_size=30)


@given(SAMPLES, st.sampled_from([1, -1]))
def test_the_packed_sort_of_binary_costs_is_the_sort_by_index(samples, sign):
    uncertainty, cost = np.array(samples).T
    packed = tie_groups(sign * uncertainty, cost)
    by_index = tie_groups(sign * uncertainty, cost, sample_weight=np.ones(len(cost)))
    for ours, expected in zip(packed[:5], by_index[:5], strict=True):
        np.testing.assert_array_equal(ours, expected)


@given(SAMPLES)
def test_groups_are_the_distinct_values_in_order(samples):
    uncertainty, cost = np.array(samples).T
    groups = tie_groups(uncertainty, cost)
    values = np.unique(uncertainty)
    assert groups.weight.tolist() == [(uncertainty == value).sum() for value in values]
    assert groups.cost.tolist() == [cost[uncertainty == value].sum() for value in values]
    assert groups.cost_until[-1] == cost.sum()


def test_zero_and_minus_zero_tie():
    assert tie_groups(np.array([0.0, -0.0]), np.array([0.0, 1.0])).weight.tolist() == [2.0]

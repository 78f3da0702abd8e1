"""The one sort, and the areas under the curves of the order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecuas_metric import inputs
from ecuas_metric.groups import sort_stably, tie_groups
from tests.ecuas_metric.systems import UNIT

SAMPLES = st.lists(st.tuples(UNIT, st.sampled_from([0.0, 1.0])), min_size=1, max_size=30)


@given(SAMPLES, st.sampled_from([1, -1]))
def test_the_packed_sort_of_binary_costs_is_the_sort_by_index(samples, sign):
    uncertainty, cost = np.array(samples).T
    packed = tie_groups(sign * uncertainty, cost)
    by_index = tie_groups(sign * uncertainty, cost, sample_weight=np.ones(len(cost)))
    for name in ("weight", "cost", "weight_until", "cost_until", "rank"):
        np.testing.assert_array_equal(getattr(packed, name), getattr(by_index, name))


@given(SAMPLES, st.sampled_from([1, 3, 8, 2**16]), st.booleans())
def test_areas_are_sums_over_the_curve_whatever_the_blocks(samples, size, weigh):
    uncertainty, cost = np.array(samples).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "BLOCK_SIZE", size)
        groups = tie_groups(uncertainty, cost, sample_weight=1.0 + cost if weigh else None)
        areas = groups.areas
    curve = np.append(0, groups.cost_until)
    whole = np.arange(1, int(areas.weight) + 1)
    risks = np.interp(whole, np.append(0, groups.weight_until), curve) / whole
    assert areas.cost == pytest.approx(groups.cost_until[-1])
    assert areas.weight == pytest.approx(groups.weight_until[-1])
    assert areas.accepted_cost == pytest.approx(groups.weight @ (curve[1:] + curve[:-1]) / 2)
    assert areas.risks == pytest.approx(risks.sum())


def test_zero_and_minus_zero_tie():
    groups = tie_groups(np.array([0.0, -0.0]), np.array([0.0, 1.0]))
    assert groups.weight.tolist() == [2.0]


KINDS = {
    "uniform": lambda rng: rng.random(5000),
    "tenths": lambda rng: rng.random(5000).round(1),
    "both signs": lambda rng: rng.normal(size=5000),
    "close": lambda rng: (
        1 - rng.random(5000) * 1e-12
    ),  # the same in all bits that leave place for a position
    "few close": lambda rng: np.append(rng.random(4990), 0.3 + rng.integers(0, 9, 10) * 1e-16),
    "zeros": lambda rng: np.copysign(rng.integers(0, 2, 5000) * 1e-300, rng.normal(size=5000)),
    "a column": lambda rng: rng.random((5000, 2))[:, 1],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_sort_is_a_sorting_permutation(rng, kind, sign):
    values = sign * KINDS[kind](rng)
    order, ordered = sort_stably(values)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(values)))
    np.testing.assert_array_equal(ordered, values[order])
    assert (np.diff(ordered) >= 0).all()

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ecuas_metric import inputs
from ecuas_metric.order import augrc, aurc, auroc
from ecuas_metric.ranking import sorted_by, tie_groups
from tests.ecuas_metric.systems import UNIT

SAMPLES = st.lists(st.tuples(UNIT, st.sampled_from([0.0, 1.0])), min_size=1, max_size=30)


@given(SAMPLES, st.sampled_from([1, -1]))
def test_the_packed_sort_of_binary_costs_is_the_sort_by_index(samples, sign):
    uncertainty, cost = np.array(samples).T
    packed = tie_groups(sign * uncertainty, cost)
    by_index = tie_groups(sign * uncertainty, cost, sample_weight=np.ones(len(cost)))
    for name in ("weight", "cost", "weight_until", "cost_until", "rank"):
        np.testing.assert_array_equal(getattr(packed, name), getattr(by_index, name))


@given(SAMPLES, st.sampled_from([None, "whole", "of any size", "several"]), st.data())
def test_neighbours_of_equal_cost_may_be_one_group(samples, way, data):
    uncertainty, cost = np.array(samples).T
    sizes = st.integers(0, 3) if way == "whole" else st.sampled_from([0.0, 0.3, 1.0, 40.0])
    rows = 1 if way in (None, "whole", "of any size") else 3
    drawn = [data.draw(st.lists(sizes, min_size=len(cost), max_size=len(cost))) for _ in range(rows)]
    weight = None if way is None else np.array(drawn, float)[0 if rows == 1 else slice(None)]
    assume(weight is None or (weight.sum(axis=-1) > 0).all())
    every, merged = (
        tie_groups(uncertainty, cost, sample_weight=weight, merge_equal_costs=merge) for merge in (False, True)
    )
    assert len(merged.rank) <= len(every.rank)
    for metric in (auroc, aurc, augrc):
        np.testing.assert_allclose(metric(merged), metric(every), rtol=1e-12, atol=1e-14)


@given(SAMPLES, st.sampled_from([1, 3, 8, 2**16]))
def test_areas_are_sums_over_the_curve_whatever_the_blocks(samples, size):
    uncertainty, cost = np.array(samples).T
    before, inputs.BLOCK_SIZE = inputs.BLOCK_SIZE, size
    try:
        groups = tie_groups(uncertainty, cost, sample_weight=1.0 + cost)
        areas = groups.areas
    finally:
        inputs.BLOCK_SIZE = before
    assert areas.cost == pytest.approx(groups.cost_until[-1])
    assert areas.weight == pytest.approx(groups.weight_until[-1])
    curve = np.concatenate([[0], groups.cost_until])
    assert areas.accepted_cost == pytest.approx(groups.weight @ (curve[1:] + curve[:-1]) / 2)
    whole = np.arange(1, int(areas.weight) + 1)
    risks = np.interp(whole, np.concatenate([[0], groups.weight_until]), curve) / whole
    assert areas.risks == pytest.approx(risks.sum())


def test_zero_and_minus_zero_tie():
    assert tie_groups(np.array([0.0, -0.0]), np.array([0.0, 1.0])).weight.tolist() == [2.0]


@pytest.mark.parametrize("kind", ["uniform", "tenths", "both signs", "close", "few close", "zeros", "a column"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_sort_is_a_sorting_permutation(rng, kind, sign):
    values = {
        "uniform": rng.random(5000),
        "tenths": rng.random(5000).round(1),
        "both signs": rng.normal(size=5000),
        "close": 1 - rng.random(5000) * 1e-12,  # the same in all bits that leave place for a position
        "few close": np.append(rng.random(4990), 0.3 + np.array([3, 1, 2, 1, 0, 0, 9, 8, 9, 8]) * 1e-16),
        "zeros": np.copysign(rng.integers(0, 2, 5000) * 1e-300, rng.normal(size=5000) if sign > 0 else -1),
        "a column": rng.random((5000, 2))[:, 1],
    }[kind]
    order, ordered = sorted_by(sign * values)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(values)))
    np.testing.assert_array_equal(ordered, sign * values[order])
    assert (np.diff(ordered) >= 0).all()

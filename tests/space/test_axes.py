import numpy as np
import pandas as pd
import pytest

from space import axes


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0.29), (0, 0.004), (0.25, 4), (0, 123_456), (0, 3e-9)])
def test_ticks_are_few_even_and_inside(low, high):
    ticks = axes.ticks(low, high, 6)
    assert 3 <= len(ticks) <= 7
    assert low <= ticks[0] <= ticks[-1] <= high * (1 + 1e-9)
    np.testing.assert_allclose(np.diff(ticks), ticks[1] - ticks[0])


def test_without_limits_an_axis_begins_at_0_and_ends_at_a_tick():
    axis = axes.make_axis("risk", pd.Series([0.1, 0.57]), None, 6)
    assert (axis.low, axis.high) == (0, pytest.approx(max(axis.ticks)))
    assert axis.high >= 0.57


def test_a_simplified_line_is_nowhere_far_from_the_whole_one(rng):
    x = np.sort(rng.random(300)) * 400
    places = np.stack([x, 100 + 80 * np.sin(x / 30)], axis=1)
    kept = axes.simplified(places, 0.1)
    assert 10 < len(kept) < 100
    far = np.abs(np.interp(x, *kept.T) - places[:, 1])
    assert far.max() < 0.1 * np.hypot(1, 80 / 30)  # the distance is across the line
    assert axes.simplified(np.repeat(places[:1], 5, axis=0)).shape == (2, 2)


def test_a_line_that_returns_to_its_start_is_kept():
    square = np.array([[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]], float)
    np.testing.assert_array_equal(axes.simplified(square), square)

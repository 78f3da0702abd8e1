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

"""The axes of a plot: their limits and ticks, and where points are drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ecuas_metric.inputs import Floats

TOLERANCE = 0.1  # of a drawing's units, of which a plot has hundreds: nothing that can be seen
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Axis(NamedTuple):
    """What an axis measures, its limits and ticks, and whether it has texts instead of numbers."""

    title: str
    low: float
    high: float
    ticks: dict[float, str]
    is_text: bool = False


def make_axis(title: str, values: pd.Series, limits: tuple[float, float] | None, num_ticks: int) -> Axis:
    """Return the axis of a column of numbers, or of texts that are spaced evenly in their order."""
    if not pd.api.types.is_numeric_dtype(values):
        texts = list(dict.fromkeys(values))
        return Axis(title, -0.5, len(texts) - 0.5, dict(enumerate(texts)), is_text=True)
    low, high = limits or (min(0.0, float(values.min())), float(values.max()))
    high = high if high > low else low + 1
    at = ticks(low, high, num_ticks)
    step = float(at[1] - at[0]) if len(at) > 1 else 1.0
    if limits is None:  # the last tick is at the end
        high = max(high, low + step * np.ceil((high - low) / step - 1e-9))
        at = ticks(low, high, num_ticks)
    return Axis(title, low, high, {float(tick): short(tick) for tick in at})


def ticks(low: float, high: float, num: int) -> Floats:
    """Return about `num` round numbers, evenly spaced, inside limits."""
    rough = (high - low) / num
    power = 10 ** np.floor(np.log10(rough))
    step = next(step for step in STEPS if step * power >= rough * (1 - 1e-9)) * power
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return np.asarray(np.round(np.arange(first, last + 1) * step, 12) + 0.0)  # never -0


def positions(values: pd.Series, axis: Axis) -> pd.Series:
    """Return where the values of a column are along its axis: the numbers themselves, or the ranks of texts."""
    places = {text: place for place, text in axis.ticks.items()}
    return values if pd.api.types.is_numeric_dtype(values) else values.map(places)


def short(value: float) -> str:
    """Return a number in three digits, or to the unit.

    >>> short(0.25), short(1 / 3), short(12345.0), short(0.00002)
    ('0.25', '0.333', '12,345', '2e-05')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{float(f'{value:.3g}'):g}"


def placed(points: Floats, axes: tuple[Axis, Axis], box: tuple[int, int]) -> Floats:
    """Return where points, shape (M, 2), are in a box whose origin is at the top left."""
    x, y = axes
    across = (points[:, 0] - x.low) / (x.high - x.low) * box[0]
    return np.stack([across, box[1] - (points[:, 1] - y.low) / (y.high - y.low) * box[1]], axis=1)


def simplified(places: Floats, tolerance: float = TOLERANCE) -> Floats:
    """Return those of the points of a line, shape (M, 2), that it needs to be drawn within a tolerance.

    Examples
    --------
    >>> simplified(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 0.0]])).tolist()
    [[0.0, 0.0], [2.0, 2.0], [3.0, 0.0]]
    """
    kept, parts = {0, len(places) - 1}, [(0, len(places) - 1)]
    while parts:  # as Douglas and Peucker do
        first, last = parts.pop()
        if last - first < 2:
            continue
        (x, y), (across, up) = places[first], places[last] - places[first]
        inside = places[first + 1 : last] - (x, y)
        distance = np.abs(inside @ [-up, across]) / (np.hypot(across, up) or 1.0)
        if not across and not up:
            distance = np.hypot(*inside.T)
        if distance.max() > tolerance:
            farthest = first + 1 + int(distance.argmax())
            kept.add(farthest)
            parts += [(first, farthest), (farthest, last)]
    return places[sorted(kept)]

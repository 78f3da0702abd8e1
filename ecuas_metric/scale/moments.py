"""What the sums of a state say: means, and the sums over rows of squares that standard errors are made of.

With w the weight of a row and x, y two of its costs (or 1, named "1"), a state holds the sum of w x under ``x`` and
that of w^2 x y under ``x*y``; without weights the sum of 1 x is that of x.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..errors import InputError
from ..inputs import Floats
from ..metrics import Key
from ..ranking import TieGroups
from .cells import ranks_of
from .reduction import COLUMNS, cost_unit
from .settings import bits_of, is_mirrored, is_plain, no_rows, settings_of
from .state import State
from .sums import LIMBS, exact, numbers_of


def first(state: State, name: str) -> Fraction:
    """Return the sum of w x over the rows, x the cost of a key, or 1."""
    settings = settings_of(state.settings)
    if name == "1" and not settings.is_weighted:
        return Fraction(state.rows)
    return exact(state.sums.get(name, 0), bits=bits_of(settings))


def second(state: State, one: str, two: str) -> Fraction:
    """Return the sum of w^2 x y over the rows."""
    settings = settings_of(state.settings)
    if not settings.is_weighted and "1" in (one, two):
        return first(state, two if one == "1" else one)
    return exact(state.sums.get(f"{one}*{two}", 0), bits=2 * bits_of(settings))


def mean(state: State, name: str) -> float:
    """Return the weighted mean of x.

    Raises
    ------
    InputError
        If all weights are 0.
    """
    weight = first(state, "1")
    if not weight:
        raise InputError("sample_weight", "must not be all zero", value=0.0, got=f"{state.rows} zeros")
    return float(first(state, name) / weight)


def error_of_ratio(state: State, top: str, bottom: str, value: float) -> float:
    """Return the standard error of the sum of w x over that of w y, `value`: the infinitesimal jackknife, exactly."""
    below, ratio = first(state, bottom), Fraction(value) if math.isfinite(value) else None
    if state.rows < 2 or not below or ratio is None:
        return math.nan
    squares = second(state, top, top) - 2 * ratio * second(state, *_ordered(top, bottom))
    squares += ratio**2 * second(state, bottom, bottom)
    moved = first(state, top) - ratio * below
    return _root((squares - moved**2 / state.rows) / below**2, state.rows)


def error_of_lines(state: State, intercept: Floats, slope: Floats) -> float:
    """Return the standard error of a number whose influence is affine in the cost within each cell, shape (G,) each."""
    if state.rows < 2:
        return math.nan
    w, wc, w2, w2c, w2c2 = cell_moments(state)
    centred = intercept - (w @ intercept + wc @ slope) / w.sum()
    squares = w2 @ centred**2 + 2 * (w2c @ (centred * slope)) + w2c2 @ slope**2
    moved = w @ centred + wc @ slope
    return _root((squares - moved**2 / state.rows) / w.sum() ** 2, state.rows)


def cell_moments(state: State) -> Floats:
    """Return the sums of w, w c, w^2, w^2 c and w^2 c^2 in each cell, shape (5, G)."""
    settings, cells = settings_of(state.settings), state.cells
    if is_plain(settings):
        rows, wrong = cells.rows.astype(np.float64), cells.sums[0].astype(np.float64)
        return np.stack([rows, wrong, rows, wrong, wrong])
    unit = cost_unit(no_rows(settings).max_uncertainty)
    sums = numbers_of(cells.sums.reshape(COLUMNS, LIMBS, -1))
    return np.asarray(sums * unit ** np.array([0, 1, 0, 1, 2])[:, None])


def ties_of(state: State) -> TieGroups:
    """Return the cells as tie groups, their weights in the unit that `options.checked_options` brings them to."""
    settings = settings_of(state.settings)
    weight, cost, *_ = cell_moments(state)
    if settings.is_weighted and settings.options.weights_are == "importance":
        scale = float(first(state, "1") / (second(state, "1", "1") or 1))
        weight, cost = weight * scale, cost * scale
    rank = ranks_of(state.cells.low, mirrored=is_mirrored(settings))
    return TieGroups(weight, cost, rank)


def effective_number(total: Fraction, squares: Fraction) -> float:
    """Return how many events of equal size are as variable as those of this sum and this sum of squares."""
    return float(total**2 / squares) if squares else 0.0


def name_of(key: Key) -> str:
    """Return the name of a mean cost in the sums of a state."""
    return str(key._replace(variant=""))


def _ordered(top: str, bottom: str) -> tuple[str, str]:
    return (bottom, top) if bottom == "1" else (top, bottom)


def _root(variance: Fraction | float, rows: int) -> float:
    return math.sqrt(max(float(variance), 0.0) * (rows / (rows - 1)))

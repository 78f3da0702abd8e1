"""Intervals from a state: those of `analytic_intervals`, as far as they need no rows.

A state of few rows whose tie groups are exact holds the rows themselves: their intervals are computed from these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..errors import Note
from ..intervals import (
    FEW,
    NONE,
    SHARES,
    Limits,
    analytic_intervals,
    limits_of_auroc,
    limits_on_log_scale,
    student_quantile,
    wilson_limits,
)
from ..metrics import Key
from ..results import prepare
from .cells import is_exact, ranks_of
from .moments import cell_moments, effective_number, first, name_of, second
from .settings import is_plain, settings_of
from .state import State

FEW_ROWS = 2**17


def limits_of(
    state: State, values: Mapping[Key, float], errors: Mapping[Key, float], level: float
) -> tuple[dict[Key, Limits], tuple[Note, ...]]:
    """Return the interval of each number, nan where none would hold, and notes.

    Parameters
    ----------
    state : State
    values, errors : mapping of Key to float
        The numbers and their standard errors.
    level : float
        In (0, 1).

    Returns
    -------
    limits : dict of Key to (low, high)
    notes : tuple of Note
    """
    settings = settings_of(state.settings)
    if settings.form == "confidences" and is_plain(settings) and is_exact(state.cells) and state.rows <= FEW_ROWS:
        return _from_rows(state, values, level)
    if state.rows < 2:
        return dict.fromkeys(values, NONE), ()
    quantile = student_quantile((1 + level) / 2, state.rows - 1)
    limits = {key: _limits(state, key, value, errors[key], quantile) for key, value in values.items()}
    bare = [str(key) for key, (low, _) in limits.items() if math.isnan(low) and math.isfinite(values[key])]
    notes = (Note("no_interval", f"No interval would hold, or none is read from a state: {', '.join(bare)}."),)
    return limits, notes if bare else ()


def _from_rows(state: State, values: Mapping[Key, float], level: float) -> tuple[dict[Key, Limits], tuple[Note, ...]]:
    settings, cells = settings_of(state.settings), state.cells
    confidence = np.repeat(-ranks_of(cells.low, mirrored=True), cells.rows)
    starts = np.cumsum(cells.rows) - cells.rows
    place = np.arange(len(confidence)) - np.repeat(starts, cells.rows)
    correct = (place >= np.repeat(cells.sums[0], cells.rows)).astype(np.int64)
    variants = {key.variant for key in values}
    options = settings.options.replace(
        missing_confidence=None,
        confidence_level=level,
        interval_method="analytic",
        normalize="normalized" in variants,
        decompose="recalibrated" in variants,
    )
    system = prepare("confidences", confidence, correct, options)
    found = analytic_intervals(system.decisions, system.options, values)
    return found.limits, found.notes


def _limits(state: State, key: Key, value: float, error: float, quantile: float) -> Limits:
    if not math.isfinite(value) or math.isnan(error):
        return NONE
    if key.metric == "auroc":
        return _of_auroc(state, value, error, quantile)
    if key.metric in SHARES:
        size = value * (1 - value) / error**2 if error > 0 else _all(state)
        return wilson_limits(value, size, quantile)
    if _errors(state, key) < min(FEW, _all(state) / 2):
        return NONE
    return limits_on_log_scale(value, quantile * error)


def _of_auroc(state: State, value: float, error: float, quantile: float) -> Limits:
    w, wc, w2, w2c, w2c2 = cell_moments(state).sum(axis=1)
    wrong, right = wc**2 / w2c2, (w - wc) ** 2 / (w2 - 2 * w2c + w2c2)
    return limits_of_auroc(value, error, wrong, right, quantile)


def _errors(state: State, key: Key) -> float:
    """Return the effective number of errors: for a user with a reject cost, of those that are accepted."""
    if key.metric in ("expected_cost", "selective_risk"):
        name = name_of(key._replace(metric="accepted_cost"))
        return effective_number(first(state, name), second(state, name, name))
    _, wc, _, _, w2c2 = cell_moments(state).sum(axis=1)
    return float(wc**2 / w2c2) if w2c2 else 0.0


def _all(state: State) -> float:
    return effective_number(first(state, "1"), second(state, "1", "1"))

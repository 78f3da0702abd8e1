"""The metrics of a state: exact, or with the bounds between which they lie, and with standard errors."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..errors import Advice, InputError, Note
from ..files.submissions import MEANING
from ..inputs import RANGE_TOLERANCE
from ..metrics import METRICS, Key, keys, normalized_values, recalibrated_values
from ..results import note_undefined
from .bins import naive_of, one_row_per_bin
from .bounds import Bounds, order_bounds, recalibrated_bounds
from .cells import is_exact, ranks_of
from .limits import limits_of
from .moments import first, mean, name_of, ties_of
from .settings import Settings, is_mirrored, no_rows, ratio_parts, settings_of
from .standard_errors import standard_errors
from .state import State

UNJUDGED = {
    "wrong": "They count as wrong: most metrics are at least as good as they are here.",
    "drop": MEANING["drop"],
}


class Reading(NamedTuple):
    """One number of a state.

    Attributes
    ----------
    value : float
    lower_bound, upper_bound : float or None
        What it is at least and at most, where the state does not tell it exactly; else None.
    standard_error : float
        nan where there is none: of ECE, calibration losses and normalised values.
    low, high : float or None
        The limits of its interval, which include the bounds; None without a confidence level, nan where none holds.
    """

    value: float
    lower_bound: float | None = None
    upper_bound: float | None = None
    standard_error: float = math.nan
    low: float | None = None
    high: float | None = None


class Readings(NamedTuple):
    """All numbers of a state, the number of its rows, and what a reader must know of them."""

    numbers: dict[Key, Reading]
    rows: int
    notes: tuple[Note, ...]

    def flat(self) -> dict[str, float]:
        """Return plain floats: ``key``, and what else there is as ``key_lower_bound``, ``key_standard_error``, .."""
        found: dict[str, float] = {}
        for key, reading in self.numbers.items():
            for field, value in reading._asdict().items():
                if value is not None and (field == "value" or not math.isnan(value)):
                    found[str(key) if field == "value" else f"{key}_{field}"] = value
        return found


def read(
    state: State, *, normalize: bool = False, decompose: bool = False, confidence_level: float | None = None
) -> Readings:
    """Return every metric of the rows of a state.

    Parameters
    ----------
    state : State
    normalize, decompose : bool
        As for `evaluate`.
    confidence_level : float, optional
        In (0, 1), for intervals: the analytic ones.

    Returns
    -------
    Readings
        In the order of the registry.

    Raises
    ------
    InputError
        If it has no rows, or if all their weights are 0.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> from ecuas_metric.scale.state import state_of
    >>> state = state_of("confidences", [0.9, 0.8, 0.4], [1, 0, 1], checked_options(n=1))
    >>> readings = read(state)
    >>> round(readings.flat()["ecuas_1"], 4), round(readings.flat()["ecuas_1_standard_error"], 4)
    (0.67, 0.4954)
    """
    if not state.rows:
        raise InputError("a state", "must have rows; nobody judged those that it is of")
    settings = settings_of(state.settings)
    values = _values(state)
    if normalize:
        naive = naive_of(state)
        values |= normalized_values(values, {key: value for key, value in naive.items() if key in values})
    bounds = order_bounds(state)
    if decompose:
        u_max = no_rows(settings).max_uncertainty
        for key, best in recalibrated_values(ties_of(state), settings.options, max_uncertainty=u_max).items():
            loss = values[key._replace(variant="")] - best
            values |= {key: float(best), key._replace(variant="calibration_loss"): float(loss)}
        bounds |= recalibrated_bounds(state, values)
    values = {key: float(value) for key, value in values.items()}
    errors = standard_errors(state, values)
    limits, notes = ({}, ()) if confidence_level is None else limits_of(state, values, errors, confidence_level)
    numbers = {key: _reading(value, bounds.get(key), errors[key], limits.get(key)) for key, value in values.items()}
    return Readings(numbers, state.rows, _notes(state, values, bounds) + notes)


def _values(state: State) -> dict[Key, float]:
    settings = settings_of(state.settings)
    ties, ratios, values = ties_of(state), ratio_parts(settings), dict[Key, float]()
    for key in keys(no_rows(settings), settings.options):
        metric = METRICS[key.metric]
        if metric.of_ties is not None:
            values[key] = float(metric.of_ties(ties))
        elif metric.of_samples is not None:
            decisions, options, weight = one_row_per_bin(state)
            values[key] = float(metric.of_samples(decisions, None, options, weight))
        elif key in ratios:
            top, bottom = (first(state, name_of(part)) for part in ratios[key])
            values[key] = float(top / bottom) if bottom else math.nan
        elif metric.is_shown:
            values[key] = mean(state, name_of(key))
    return values


def _reading(value: float, bounds: Bounds | None, error: float, limits: Bounds | None) -> Reading:
    least, most = bounds or (None, None)
    if limits is None:
        return Reading(value, least, most, error)
    below, above = (0.0, 0.0) if bounds is None else (value - bounds[0], bounds[1] - value)
    return Reading(value, least, most, error, limits[0] - below, limits[1] + above)


def _notes(state: State, values: dict[Key, float], bounds: dict[Key, Bounds]) -> tuple[Note, ...]:
    settings, rows = settings_of(state.settings), state.rows
    facts = {
        "missing": f"confidences are missing (NaN) and count as {settings.options.missing_confidence}",
        "clipped": f"rows have predictions outside [0, 1] by at most {RANGE_TOLERANCE:g}, which are clipped",
        "rounded": "rows do not sum to 1 and are divided by their sums",
        "renormalized": "rows do not sum to 1, but for at most 0.001, and are divided by their sums",
        "above_max_uncertainty": "rows have an uncertainty above that of a system that knows nothing, and count as "
        "rejected at every reject cost",
    }
    notes = [
        Note(kind, f"{state.sums[kind]} of {rows} {fact}.") for kind, fact in facts.items() if state.sums.get(kind)
    ]
    for rule, meaning in UNJUDGED.items():
        if count := state.sums.get(f"unjudged, {rule}"):
            total = rows + count if rule == "drop" else rows
            notes.append(Note("unjudged", f"{count} of {total} answers ({count / total:.1%}) are unjudged.", meaning))
    if settings.form == "confidences" and set(_confidences(state, settings)) == {0.0, 1.0}:
        notes.append(
            Note("hard_decisions", "All predictions are 0 or 1 and count as confidences.", Advice.HARD_DECISIONS)
        )
    if bounds and not is_exact(state.cells):
        widest = max(high - low for low, high in bounds.values())
        fact = f"Metrics of the order are read from {len(state.cells.low)} cells; each lies within its bounds, which "
        notes.append(Note("bounded", f"{fact}are at most {widest:.1e} apart: {', '.join(map(str, bounds))}."))
    return (*notes, *note_undefined(values))


def _confidences(state: State, settings: Settings) -> list[float]:
    return list(-ranks_of(state.cells.low[:3], mirrored=is_mirrored(settings)) + 0.0)

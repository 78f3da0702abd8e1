"""Standard errors from a state, by the influences of the rows: those of `intervals`, without the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..costs import ecuas_cost
from ..metrics import METRICS, Key, recalibrated_uncertainty
from ..selective import LINES
from .moments import error_of_lines, error_of_ratio, name_of, ties_of
from .settings import no_rows, ratio_parts, settings_of
from .state import State


def standard_errors(state: State, values: Mapping[Key, float]) -> dict[Key, float]:
    """Return the standard error of each number of a state.

    Those of means and ratios are exact. Those of the order are as exact as the cells: with 2^18 of them a few
    millionths of themselves off.

    Parameters
    ----------
    state : State
    values : mapping of Key to float
        Of `reading.read`.

    Returns
    -------
    dict of Key to float
        nan for ECE and calibration losses, which are biased by more than that, and for normalised values.
    """
    settings = settings_of(state.settings)
    ties, ratios, found = ties_of(state), ratio_parts(settings), dict[Key, float]()
    for key, value in values.items():
        metric = METRICS[key.metric]
        if key.variant == "recalibrated":
            found[key] = _of_recalibrated(state, key)
        elif key.variant:
            found[key] = math.nan
        elif key in ratios:
            top, bottom = map(name_of, ratios[key])
            found[key] = error_of_ratio(state, top, bottom, value)
        elif metric.sample_cost is not None:
            found[key] = error_of_ratio(state, name_of(key), "1", value)
        elif key.metric in LINES and math.isfinite(value):
            found[key] = error_of_lines(state, *LINES[key.metric](ties))
        else:
            found[key] = math.nan
    return found


def _of_recalibrated(state: State, key: Key) -> float:
    """Take the costs of right and wrong answers at the uncertainties that recalibration gives the cells."""
    settings, ties = settings_of(state.settings), ties_of(state)
    u_max = no_rows(settings).max_uncertainty
    u = recalibrated_uncertainty(ties, max_uncertainty=u_max)
    free, one = (
        ecuas_cost(u, np.full(len(u), c), n=key.parameter or 0.0, max_uncertainty=u_max, epsilon=settings.options.floor)
        for c in (0.0, 1.0)
    )
    return error_of_lines(state, free, one - free)

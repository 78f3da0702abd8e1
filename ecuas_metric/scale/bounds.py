"""What the order of the rows can be where a state does not tell it, and so what the metrics of the order can be.

Within a cell of several uncertainties, costs are accumulated least where all that costs nothing comes first, and most
where it comes last. Each metric of the order is monotone in the accumulated costs, so that these two orders bound it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..decisions import Decisions
from ..inputs import Floats
from ..metrics import METRICS, Key, keys, recalibrated_values
from ..ranking import TieGroups
from .cells import is_exact
from .moments import ties_of
from .settings import no_rows, settings_of
from .state import State

Bounds = tuple[float, float]


def order_bounds(state: State) -> dict[Key, Bounds]:
    """Return the lowest and the highest value of each metric of the order; nothing where the cells are exact.

    Parameters
    ----------
    state : State

    Returns
    -------
    dict of Key to (low, high)
    """
    if is_exact(state.cells):
        return {}
    settings = settings_of(state.settings)
    best, worst = extreme_orders(state)
    found: dict[Key, Bounds] = {}
    for key in keys(no_rows(settings), settings.options):
        of_ties: Callable[[TieGroups], Floats] | None = METRICS[key.metric].of_ties
        if of_ties is not None:
            low, high = sorted((float(of_ties(best)), float(of_ties(worst))))
            found[key] = low, high
    return found


def recalibrated_bounds(state: State, values: dict[Key, float]) -> dict[Key, Bounds]:
    """Return bounds of recalibrated values and calibration losses.

    One uncertainty for all rows of a cell is among the maps that recalibration chooses from, so that the value read
    from the cells is the highest; no order within a cell lets it save more than the best one.

    Parameters
    ----------
    state : State
    values : dict of Key to float
        What was read from the cells.

    Returns
    -------
    dict of Key to (low, high)
        Nothing where the cells are exact.
    """
    if is_exact(state.cells):
        return {}
    settings = settings_of(state.settings)
    decisions: Decisions = no_rows(settings)
    best, _ = extreme_orders(state)
    found: dict[Key, Bounds] = {}
    for key, low in recalibrated_values(best, settings.options, max_uncertainty=decisions.max_uncertainty).items():
        loss = key._replace(variant="calibration_loss")
        found[key] = min(float(low), values[key]), values[key]
        found[loss] = values[loss], max(values[key._replace(variant="")] - float(low), values[loss])
    return found


def extreme_orders(state: State) -> tuple[TieGroups, TieGroups]:
    """Return the tie groups with the costs of each inexact cell as late as they can be, and as early."""
    ties, cells = ties_of(state), state.cells
    is_tied = cells.low == cells.high
    dearest = state.largest_cost or 1.0
    heavy = np.where(is_tied, 0.0, np.minimum(ties.cost / dearest, ties.weight))
    light, light_cost = ties.weight - heavy, np.where(is_tied, ties.cost, 0.0)
    cheap, dear = (light, light_cost), (heavy, ties.cost - light_cost)
    return _interleaved(cheap, dear, ties.rank), _interleaved(dear, cheap, ties.rank)


def _interleaved(first: tuple[Floats, Floats], then: tuple[Floats, Floats], rank: Floats) -> TieGroups:
    weight, cost = (np.stack(pair, axis=1).ravel() for pair in zip(first, then, strict=True))
    some = weight > 0
    weight, cost = weight[some], cost[some]
    return TieGroups(weight, cost, np.repeat(rank, 2)[some])

"""Results with systems -> their curves, in a figure of their own or in axes of the caller's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..options import check_choice
from ..plotting.figures import (
    order_figure,
    reject_cost_figure,
    reliability_figure,
    risk_coverage_figure,
)
from ..results import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOTS = {
    "reject_cost": reject_cost_figure,
    "order": order_figure,
    "risk_coverage": risk_coverage_figure,
    "reliability": reliability_figure,
}


def plot_result(result: Any, kind: str, ax: Axes | None) -> Figure | Axes:
    """Draw the curves of one kind of a result's systems; return the figure, or the axes that were given."""
    check_choice(kind, tuple(PLOTS), "kind")
    systems: Mapping[str, System] = (
        {"system": result} if isinstance(result, System) else result.systems
    )
    if not systems:
        rule = "needs the rows of systems, and of these results there are only sums"
        raise InputError("a figure", rule, advice="Make the report of the systems or the frame.")
    figure = PLOTS[kind](systems, ax=ax)
    return figure if ax is None else ax

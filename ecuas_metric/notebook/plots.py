"""Results with systems -> their curves, in a figure of their own or in axes of the caller's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..comparison.planning import Plans
from ..errors import InputError
from ..options import check_choice
from ..plotting.figures import (
    Bar,
    needed_figure,
    order_figure,
    reject_cost_figure,
    reliability_figure,
    risk_coverage_figure,
)
from ..reporting.report import short_title
from ..results import Results, System
from ..summary import SummaryResults, SystemResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Draw = Callable[..., "Figure"]
PLOTS: dict[str, Draw] = {
    "reject_cost": reject_cost_figure,
    "order": order_figure,
    "risk_coverage": risk_coverage_figure,
    "reliability": reliability_figure,
}


def plot_result(result: Any, kind: str | None, ax: Axes | None) -> Figure | Axes:
    """Draw a result in one of its kinds, by default the first; return the figure, or the axes that were given."""
    plots = {"samples": _plan_figure} if isinstance(result, Plans) else PLOTS
    chosen = next(iter(plots)) if kind is None else kind
    check_choice(chosen, tuple(plots), "kind")
    drawn: Any = result if isinstance(result, Plans) else _drawn_systems(result, chosen)
    figure = plots[chosen](drawn, ax=ax)
    return figure if ax is None else ax


def _drawn_systems(result: Any, kind: str) -> Mapping[str, System]:
    """Return the systems of a result whose curves of a kind are known; InputError if there are none."""
    systems: Mapping[str, System]
    if isinstance(result, System):
        systems = {"system": result}
    elif isinstance(result, Results):
        systems = {} if result.system is None else {"system": result.system}
    else:
        systems = result.systems
    are_sums = isinstance(result, SummaryResults | SystemResults)
    if not systems or (are_sums and kind == "reliability"):
        rule = "needs the rows of systems, and of these results there are only sums"
        raise InputError("a figure", rule, advice="Make the report of the systems or the frame.")
    return systems


def _plan_figure(plans: Plans, *, ax: Axes | None) -> Figure:
    """Draw how many samples the difference of each metric takes that may rank; InputError if none differs."""
    bars = []
    for plan in plans:
        if plan.needed is not None and plan.comparable:
            name = f"{short_title(plan.key)}: {plan.difference:+.3g}"
            low, high = (plan.needed_low or plan.needed, plan.needed_high or plan.needed)
            bars.append(Bar(name, plan.needed, low, high))
    if not bars:
        raise InputError(
            "a figure", "needs a difference that some number of samples finds", got="none"
        )
    return needed_figure(bars, plans[0].samples, ax=ax)

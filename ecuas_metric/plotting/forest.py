"""A forest plot: differences with their intervals, a panel per metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..options import LEVEL
from .figures import COLORS, REFERENCE, label, legend_below, panels
from .names import short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OPEN = "0.45"
_MAX_COLUMNS = 3
_LONGEST = 44  # characters of a name: two names of systems, or one


@dataclass(frozen=True, slots=True)
class Bar:
    """A difference: what of, its value, and its simultaneous interval, nan where there is none."""

    name: str
    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval does: the difference is more than chance, beside all others that are drawn."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Panel:
    """The differences of one metric, and what they are differences from."""

    title: str
    xlabel: str
    bars: Sequence[Bar]


def forest_figure(
    drawn: Sequence[Panel],
    *,
    level: float = LEVEL,
    caption: str = "",
) -> Figure:
    """Draw differences with simultaneous intervals, filled where these exclude 0, and a caption above the panels."""
    columns = 2 if len(drawn) == 4 else min(_MAX_COLUMNS, len(drawn))
    height = 1.2 + 0.2 * max(len(panel.bars) for panel in drawn)
    alike = len({tuple(bar.name for bar in panel.bars) for panel in drawn}) == 1
    width = 3.6 if alike else 4.4
    figure, grid = panels(len(drawn), columns, width=width, height=height, margin=0.9)
    for i, (axes, panel) in enumerate(zip(grid, drawn, strict=True)):
        _draw(axes, panel, are_named=not alike or i % columns == 0)
    lines = f"{100 * level:.10g}% intervals that hold for all differences together"
    first = grid[0]
    first.plot([], [], "o", color=COLORS[0], label="excludes 0: significant")
    first.plot([], [], "o", color=OPEN, markerfacecolor="white", label="may be due to chance")
    first.plot([], [], "-", color=OPEN, label=lines)
    legend_below(figure, first.get_legend_handles_labels()[0])
    if caption:
        figure.suptitle(label(caption), fontsize="x-small", color="0.3")
    return figure


def _draw(axes: Axes, panel: Panel, *, are_named: bool) -> None:
    by_name = short_names((bar.name for bar in panel.bars), longest=_LONGEST)
    names = list(by_name.values())
    axes.axvline(0, linestyle="--", **REFERENCE)
    for place, bar in enumerate(panel.bars):
        color = COLORS[0] if bar.excludes_zero else OPEN
        if np.isfinite([bar.low, bar.high]).all():
            interval = [bar.low, bar.high]
            axes.plot(interval, [place, place], color=color, linewidth=1.4)
        filling = color if bar.excludes_zero else "white"
        axes.plot(bar.value, place, "o", color=color, markersize=4.5, markerfacecolor=filling)
    axes.set_yticks(
        range(len(panel.bars)),
        [label(name) if are_named else "" for name in names],
        fontsize="x-small",
    )
    axes.set_ylim(len(panel.bars) - 0.4, -0.6)  # the first at the top
    axes.locator_params(axis="x", nbins=5)
    axes.tick_params(axis="x", labelsize="small")
    axes.grid(visible=False, axis="y")
    axes.set_title(label(panel.title), fontsize="small")
    axes.set_xlabel(label(panel.xlabel), fontsize="x-small")

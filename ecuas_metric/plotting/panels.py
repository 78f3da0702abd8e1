"""The paper on which figures are drawn: panels, colours, legends, files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import missing_package

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which colour-blind readers tell apart; black is kept for references.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MAX_TOGETHER = len(COLORS)  # lines in one panel; more have a panel each
_MAX_COLUMNS = 5
Panels = tuple["Figure", list["Axes"]]
Style = dict[str, Any]  # what matplotlib takes
REFERENCE: Style = {"color": "black", "linewidth": 0.9, "alpha": 0.7}
CONTEXT: Style = {"color": "0.8", "linewidth": 0.6, "zorder": 1}


def panels(
    columns: int, *, rows: int = 1, width: float = 5.5, height: float = 3.6, ratios: Sequence[float] = ()
) -> Panels:
    """Return an empty figure and its panels, row by row; `width` is that of a panel, `height` of all rows (inches)."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_package("Figures need", "matplotlib") from None
    figure = Figure(figsize=(width * columns + 0.4, height), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, height_ratios=ratios or [1] * rows).ravel().tolist()
    for axes in grid:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    return figure, grid


def columns_for(count: int) -> int:
    """Return the number of columns for a number of panels."""
    return count if count <= 4 else min(_MAX_COLUMNS, max(4, math.ceil(math.sqrt(count))))


def tiles(names: Sequence[str], *, width: float = 2.6, height: float = 2.1) -> Panels:
    """Return an empty figure with a small panel (`width` by `height` inches) titled by each name."""
    columns = columns_for(len(names))
    rows = -(-len(names) // columns)
    figure, grid = panels(columns, rows=rows, width=width, height=height * rows + 0.6)
    for axes in grid[len(names) :]:
        axes.remove()
    for axes, name in zip(grid, names, strict=False):
        axes.set_title(label(name), fontsize="small")
        axes.tick_params(labelsize="small")
    return figure, grid[: len(names)]


def outer_labels(grid: Sequence[Axes], xlabel: str, ylabel: str) -> None:
    """Label the axes of panels from `tiles` that are leftmost or have none below."""
    columns = columns_for(len(grid))
    for i, axes in enumerate(grid):
        if i % columns == 0:
            axes.set_ylabel(ylabel, fontsize="small")
        if i + columns >= len(grid):
            axes.set_xlabel(xlabel, fontsize="small")


def styles(count: int) -> list[Style]:
    """Return a colour and a dash for each of some lines."""
    dashes = ("-", "-.", (0, (1, 1)))
    return [{"color": COLORS[i % len(COLORS)], "linestyle": dashes[i // len(COLORS) % 3]} for i in range(count)]


def label(name: str) -> str:
    """Return a name as matplotlib shows it: $ would start a formula, and a leading underscore would hide it."""
    return ("\u200b" if name.startswith("_") else "") + name.replace("$", r"\$")


def draw_legend(figure: Figure, axes: Axes) -> None:
    """Show the legend in its panel, or beside it if it is long."""
    handles, names = axes.get_legend_handles_labels()
    if len(names) <= len(COLORS):
        axes.legend(frameon=False, fontsize="small")
    else:
        figure.set_figwidth(figure.get_figwidth() + 2.4)
        figure.legend(handles, names, loc="outside right center", frameon=False, fontsize="small")


def legend_below(figure: Figure, handles: Iterable[Artist]) -> None:
    """Show one legend for all panels, below them."""
    listed = list(handles)
    figure.legend(handles=listed, loc="outside lower center", ncols=len(listed), frameon=False, fontsize="small")


def save(figure: Figure, path: str | Path) -> list[Path]:
    """Write a figure as PNG and SVG, reproducible byte for byte, to `path` without suffix, and return both paths."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    written = []
    import matplotlib

    for suffix, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
        target = path.with_name(path.name + suffix)
        with matplotlib.rc_context({"svg.hashsalt": path.name}):
            figure.savefig(target, dpi=150, metadata=metadata)
        written.append(target)
    return written

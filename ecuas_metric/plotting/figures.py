"""The curves drawn with matplotlib: each function makes a figure of one or several systems, by name.

Up to six systems share a panel; more have one each, with the others in grey. Where systems have a confidence level,
bands show the intervals.
"""

from __future__ import annotations

import functools
import io
import math
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InputError, missing_package_error
from ..files.write import write_whole
from ..inputs import Bools, Floats
from ..options import LEVEL
from ..results import System
from .curves import (
    Band,
    Reliability,
    accuracy_band,
    confidence_cost,
    order_band,
    order_curve,
    reject_cost_band,
    reject_cost_curve,
    reliability,
    risk_band,
    risk_coverage,
)
from .names import short_names

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
_LEGEND: Style = {"frameon": False, "fontsize": "small"}
LETTERS = 17  # of a legend, in an inch
MARK_LETTERS = 8  # the room of a mark beside its name
LEGEND_LINE = 0.2  # inches
TITLE_LETTERS = 32  # in a line of the title of a small panel
_ALONE: Style = {"color": COLORS[0], "linewidth": 1.6}
_SHADE: Style = {"alpha": 0.18, "linewidth": 0}
FEW_SAMPLES = 5  # samples of a bin, below which its accuracy is hardly informative
MAX_COUNTS = 20  # bins above which there is no room for numbers
BAND_POINTS = 41
SCREEN_DPI = 100  # at which a notebook shows a figure, whose file has more
CONTEXT_POINTS = 60
_ORDERS = (0, 0.1, 1, 10, 100, 1000)  # ticks of n
MARK: Style = {"marker": "o", "markersize": 4, "clip_on": False}
HOLLOW: Style = MARK | {"linestyle": "", "markerfacecolor": "white", "zorder": 3}


@dataclass(frozen=True, slots=True)
class _Line:
    """A curve of a system: its points, its intervals at some of them, and how it is drawn."""

    x: Floats
    y: Floats
    at: Floats
    band: Band | None
    is_step: bool = False
    level: float = math.nan  # of a dotted line beside it

    @property
    def top(self) -> float:
        """The largest value of the curve and of its intervals."""
        high = self.y if self.band is None else self.band.high
        return float(np.nanmax([*self.y, *high, self.level]))


def risk_coverage_figure(systems: Mapping[str, System], *, ax: Axes | None = None) -> Figure:
    """Draw risk against coverage; equally uncertain samples are accepted together, in steps."""
    lines = {name: _risk_line(system) for name, system in systems.items()}
    are_answers = all(system.decisions.confidence is not None for system in systems.values())
    quantity = "error rate" if are_answers else "mean cost"
    figure, grid = _draw_lines(
        lines, "coverage", f"{quantity} of accepted answers\n(selective risk)", ax
    )
    # first steps are wild
    settled = [line.y[line.x > 0.05] for line in lines.values()]
    top = 1.1 * max(float(y.max(initial=0.0)) for y in settled)
    for axes in grid:
        axes.set(xlim=(0, 1), ylim=(0, top or 1))
    _legend(grid[0], systems, is_ours=ax is None)
    return figure


def reject_cost_figure(systems: Mapping[str, System], *, ax: Axes | None = None) -> Figure:
    """Draw expected cost against reject cost, with accepting all (dotted, one line per system) and rejecting all."""
    lines = {name: _cost_line(system) for name, system in systems.items()}
    end = max(float(line.x[-1]) for line in lines.values())
    xlabel = f"reject cost\n(above {end:.3g} nothing is rejected)"
    figure, grid = _draw_lines(lines, xlabel, "expected cost", ax)
    top = max(line.top for line in lines.values())
    for axes in grid:
        axes.plot(
            [0, end], [0, end], linestyle="--", label="reject all: the reject cost", **REFERENCE
        )
        axes.plot([], [], linestyle=":", label="accept all", **REFERENCE)
        axes.set(xlim=(0, end), ylim=(0, 1.04 * top))
    _legend(grid[0], systems, is_ours=ax is None)
    return figure


def order_figure(systems: Mapping[str, System], *, ax: Axes | None = None) -> Figure:
    """Draw ECUAS_n against n, from the cost of confident mistakes on the left to the mean cost on the right."""
    lines = {name: _order_line(system) for name, system in systems.items()}
    xlabel = "n\n(the smaller, the more low reject costs count)"
    figure, grid = _draw_lines(lines, xlabel, "ECUAS$_n$", ax)
    top = 1.1 * max(line.top for line in lines.values())
    last = next(iter(lines.values())).x[-1]
    for axes in grid:
        axes.set_xscale("asinh", linear_width=0.05)
        axes.set(xlim=(0, last), ylim=(0, top))
        axes.set_xticks(_ORDERS, [f"{order:g}" for order in _ORDERS])
        axes.xaxis.minorticks_off()
    _legend(grid[0], systems, is_ours=ax is None)
    return figure


def reliability_figure(systems: Mapping[str, System], *, ax: Axes | None = None) -> Figure:
    """Draw accuracy against confidence in bins, above their numbers of samples, one column per system.

    Bins of fewer than five samples have hollow marks, and the line skips them. In axes of the caller's, all systems are
    together, without the numbers of samples.
    """
    binned = [reliability(system) for system in systems.values()]
    if ax is None:
        figure, upper = _draw_reliability_panels(systems, binned)
    else:
        _require_few(systems)
        figure, upper = figure_of(ax), [ax] * len(systems)
        for name, color in zip(short_names(systems).values(), COLORS, strict=False):
            ax.plot([], [], color=color, label=label(name), **MARK)
        ax.set(xlabel="confidence", ylabel="accuracy")
    upper[0].plot([], [], linestyle="--", label="calibrated", **REFERENCE)
    for i, system in enumerate(systems.values()):
        band = _limits(accuracy_band, system)
        _draw_accuracy(upper[i], binned[i], band, COLORS[i % len(COLORS)])
    if any(_has_few(bins).any() for bins in binned):
        hollow = HOLLOW | {"clip_on": True}
        upper[0].plot([], [], color="0.3", label=f"fewer than {FEW_SAMPLES} samples", **hollow)
    _legend(upper[0], systems, is_ours=ax is None)
    return figure


def _draw_reliability_panels(systems: Collection[str], binned: Sequence[Reliability]) -> Panels:
    """Draw the numbers of samples of each system, below panels for their accuracies, which are returned."""
    columns = columns_for(len(systems))
    rows = -(-len(systems) // columns)
    width = 3.2 if len(systems) == columns else 2.6
    count = 2 * rows * columns
    ratios = (3, 1) * rows
    figure, grid = panels(count, columns, width=width, height=1.8, margin=0.4, ratios=ratios)
    places = np.reshape(np.array(grid), (rows, 2, columns))
    upper, lower = places.swapaxes(0, 1).reshape(2, -1).tolist()
    for axes in (*upper[len(systems) :], *lower[len(systems) :]):
        axes.remove()
    _entitle(upper, systems)
    for i, bins in enumerate(binned):
        _draw_counts(lower[i], bins, COLORS[i % len(COLORS)])
        upper[i].set_xticklabels([])
        if i % columns == 0:
            upper[i].set_ylabel("accuracy", fontsize="small")
            lower[i].set_ylabel("samples", fontsize="small")
    return figure, upper


def confidence_cost_figure(
    orders: Iterable[float] = (0, 1, 4, 128),
    classes: Iterable[float | None] = (2, 4, 16, None),
) -> Figure:
    """Draw the costs of correct (solid) and incorrect (dashed) answers against confidence, one panel per n.

    `classes` are at most six numbers K; None is infinitely many (Estienne et al., Figure "C_n as a function of the
    confidence").
    """
    orders = list(orders)
    figure, grid = panels(len(orders), width=2.8)
    for axes, n in zip(grid, orders, strict=True):
        for num_classes, color in zip(classes, COLORS, strict=False):
            curve = confidence_cost(n=n, num_classes=num_classes)
            axes.plot(
                curve.confidence, curve.correct, color=color, label=f"K = {num_classes or '∞'}"
            )
            axes.plot(curve.confidence, curve.incorrect, color=color, linestyle="--")
        axes.set(title=f"n = {n:g}", xlabel="confidence", xlim=(0, 1), ylim=(0, 5))
    grid[0].set_ylabel("cost")
    grid[0].plot([], [], linestyle="-", label="correct", **REFERENCE)
    grid[0].plot([], [], linestyle="--", label="incorrect", **REFERENCE)
    grid[0].legend(**_LEGEND)
    return figure


def _limits(
    band: Callable[..., Band],
    system: System,
    *at: Floats,
) -> Band | None:
    """Return the intervals of a curve, if the system has a level."""
    return None if system.options.confidence_level is None else band(system, *at)


def _risk_line(system: System) -> _Line:
    curve = risk_coverage(system)
    points = np.searchsorted(curve.coverage, np.linspace(0, 1, BAND_POINTS))
    at = curve.coverage[np.unique(points.clip(0, len(curve.coverage) - 1))]
    return _Line(curve.coverage, curve.risk, at, _limits(risk_band, system, at), is_step=True)


def _cost_line(system: System) -> _Line:
    curve = reject_cost_curve(system)
    at = np.linspace(0, curve.reject_cost[-1], BAND_POINTS)
    band = _limits(reject_cost_band, system, at)
    level = float(curve.accept_all[0])
    return _Line(curve.reject_cost, curve.expected_cost, at, band, level=level)


def _order_line(system: System) -> _Line:
    curve = order_curve(system)
    at = curve.n[::2]
    return _Line(curve.n, curve.ecuas, at, _limits(order_band, system, at))


def _draw_lines(
    lines: Mapping[str, _Line],
    xlabel: str,
    ylabel: str,
    ax: Axes | None,
) -> Panels:
    """Draw lines into one panel; or where they are many, each into one of its own, with the others in grey."""
    curves = list(lines.values())
    if ax is not None:
        _require_few(lines)
    if len(curves) > MAX_TOGETHER:
        return _draw_tiles(lines, xlabel, ylabel)
    if ax is None:  # the legend stands below, where a line is as wide as the figure
        figure, (axes,) = panels(1)
        names = short_names(lines, longest=_letters(figure))
    else:
        figure, axes = figure_of(ax), ax
        names = short_names(lines)
    for name, line, color in zip(names.values(), curves, COLORS, strict=False):
        _draw(axes, line, {"color": color, "label": label(name)})
    axes.set(xlabel=xlabel, ylabel=ylabel)
    return figure, [axes]


def _draw_tiles(lines: Mapping[str, _Line], xlabel: str, ylabel: str) -> Panels:
    """Draw each line into a small panel; those that are leftmost or have none below have labels."""
    columns = columns_for(len(lines))
    figure, grid = panels(len(lines), columns, width=2.6, height=2.1, margin=0.4)
    _entitle(grid, lines)
    curves = list(lines.values())
    for i, axes in enumerate(grid):
        for line in curves[:i] + curves[i + 1 :]:
            _draw(axes, _thin(line), CONTEXT)
        _draw(axes, curves[i], _ALONE)
        axes.tick_params(labelsize="small")
        if i % columns == 0:
            axes.set_ylabel(ylabel, fontsize="small")
        if i + columns >= len(lines):
            axes.set_xlabel(xlabel, fontsize="small")
    grid[0].plot([], [], label="the other systems", **CONTEXT)
    return figure, grid


def _entitle(grid: Sequence[Axes], names: Iterable[str]) -> None:
    """Give each panel a name as its title, of two lines where it is long."""
    short = short_names(names, longest=2 * TITLE_LETTERS)
    for axes, name in zip(grid, short.values(), strict=False):
        axes.set_title(label("\n".join(wrap(name, TITLE_LETTERS))), fontsize="small")


def _require_few(systems: Collection[str]) -> None:
    """Raise InputError for more systems than share axes."""
    if len(systems) > MAX_TOGETHER:
        rule = "takes at most {most} systems"
        advice = "Leave ax out: each system then has axes of its own."
        raise InputError("ax", rule, value=len(systems), advice=advice, most=MAX_TOGETHER)


def figure_of(ax: Axes) -> Figure:
    """Return the whole figure that axes are in."""
    # the second one is that of a part, and the figure itself of a whole
    figure: Figure = ax.figure.figure
    return figure


def _thin(line: _Line) -> _Line:
    """Return a line of few points and nothing beside it, to be drawn into many panels."""
    spaced = np.linspace(0, len(line.x) - 1, CONTEXT_POINTS)
    rows = np.unique(spaced.astype(int))
    return replace(line, x=line.x[rows], y=line.y[rows], band=None, level=math.nan)


def _draw(axes: Axes, line: _Line, style: Style) -> None:
    step: Literal["post"] | None = "post" if line.is_step else None
    axes.plot(line.x, line.y, drawstyle="steps-post" if step else "default", **style)
    color = style["color"]
    if line.band is not None:
        axes.fill_between(line.at, line.band.low, line.band.high, color=color, step=step, **_SHADE)
    if not math.isnan(line.level):
        axes.axhline(line.level, color=color, linestyle=":", linewidth=1)


def _legend(axes: Axes, systems: Mapping[str, System] = {}, *, is_ours: bool = True) -> None:
    """Label what axes show, and the bands of systems: below all panels of a figure of ours, else within the axes."""
    level = next((one.options.confidence_level for one in systems.values()), None)
    if level is not None:
        text = f"{100 * level:.10g}% interval at each point"
        axes.fill_between([], [], color="0.4", alpha=0.25, linewidth=0, label=text)
    if is_ours:
        _legend_below(figure_of(axes), axes.get_legend_handles_labels()[0])
    else:
        axes.legend(**_LEGEND)


def _has_few(bins: Reliability) -> Bools:
    """Return which bins (n_bins,) have samples, but few."""
    return (bins.counts > 0) & (bins.counts < FEW_SAMPLES)


def _draw_accuracy(
    axes: Axes,
    bins: Reliability,
    band: Band | None,
    color: str,
) -> None:
    axes.plot([0, 1], [0, 1], linestyle="--", **REFERENCE)
    few = _has_few(bins)
    many = bins.counts >= FEW_SAMPLES
    if band is not None:
        alone = few if many.sum() > 1 else few | many
        axes.vlines(
            bins.confidence[alone],
            band.low[alone],
            band.high[alone],
            color=color,
            alpha=0.3,
        )
        axes.fill_between(
            bins.confidence[many], band.low[many], band.high[many], color=color, **_SHADE
        )
    for chosen, style in ((many, MARK), (few, HOLLOW)):
        if chosen.any():  # a line without points that is not clipped confuses the layout
            axes.plot(bins.confidence[chosen], bins.accuracy[chosen], color=color, **style)
    axes.set(xlim=(0, 1), ylim=(0, 1.02))


def _draw_counts(axes: Axes, bins: Reliability, color: str) -> None:
    """Draw how many samples are in each bin, as numbers too where there is room."""
    bars = axes.bar(
        bins.low, bins.shares, bins.high - bins.low, align="edge", color=color, alpha=0.6
    )
    top = float(bins.shares.max())
    if len(bins.counts) <= MAX_COUNTS:
        axes.bar_label(
            bars, [_short_count(count) for count in bins.counts.tolist()], padding=1, fontsize=5.5
        )
    axes.set(xlim=(0, 1), ylim=(0, 1.35 * top), yticks=[])
    axes.set_xlabel("confidence", fontsize="small")


def _short_count(count: int) -> str:
    """Return a count in at most four characters: 9999, 12k, 1.2M; nothing for 0."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= max(unit, 10_000):
            scaled = count / unit
            return f"{scaled:.0f}{letter}" if scaled >= 10 else f"{scaled:.1f}{letter}"
    return str(count) if count else ""


# ---- panels, colours, legends and files -----------------------------------------------------------------------------


def panels(
    count: int,
    columns: int | None = None,
    *,
    width: float = 5.5,
    height: float = 3.6,
    margin: float = 0.0,
    ratios: Sequence[float] = (),
) -> Panels:
    """Return an empty figure and its panels, in one row or row by row: inches of each, and of the height beside all."""
    columns = columns or count
    rows = -(-count // columns)
    size = (width * columns + 0.4, height * rows + margin)
    figure = _notebook_figure()(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, height_ratios=ratios or [1] * rows)
    used, unused = np.split(grid.ravel(), [count])
    for axes in unused:
        axes.remove()
    for axes in used:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    return figure, used.tolist()


@functools.cache
def _notebook_figure() -> type[Figure]:
    """Return the class of figures that notebooks show, with and without one of matplotlib's backends."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_package_error("Figures need", "matplotlib") from None

    class NotebookFigure(Figure):
        def _repr_png_(self) -> tuple[bytes, dict[str, float]]:
            content = drawn(self, ".png", salt="")
            inches = self.get_size_inches()
            width, height = (round(SCREEN_DPI * length) for length in inches.tolist())
            return content, {"width": width, "height": height}

    return NotebookFigure


def columns_for(count: int) -> int:
    """Return the number of columns for a number of panels."""
    if count <= 4:
        return count
    return min(_MAX_COLUMNS, max(4, math.ceil(math.sqrt(count))))


def label(name: str) -> str:
    """Return a name as matplotlib shows it: $ would start a formula, and a leading underscore would hide it."""
    return ("\u200b" if name.startswith("_") else "") + name.replace("$", r"\$")


def _legend_below(figure: Figure, handles: Sequence[Artist]) -> None:
    """Show one legend for all panels, below them, for which the figure grows."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    most = max(1, _letters(figure, marks=0) // (longest + MARK_LETTERS))
    rows = -(-len(handles) // most)
    figure.set_figheight(figure.get_figheight() + LEGEND_LINE * rows)
    columns = -(-len(handles) // rows)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, **_LEGEND)


def _letters(figure: Figure, *, marks: int = 1) -> int:
    """Return how many letters a line of a figure's legend has room for, beside so many marks."""
    return int(LETTERS * figure.get_figwidth()) - MARK_LETTERS * marks


def save(
    figure: Figure, path: str | Path, *, suffixes: Sequence[str] = (".png", ".svg")
) -> list[Path]:
    """Write a figure as PNG, SVG or PDF, reproducible byte for byte, to `path` without suffix; return the paths."""
    path = Path(path)
    files = []
    for suffix in suffixes:
        files.append(path.with_name(f"{path.name}{suffix}"))
        write_whole(files[-1], drawn(figure, suffix, salt=path.name))
    return files


def drawn(figure: Figure, suffix: str, *, salt: str) -> bytes:
    """Return a figure as the content of a file with a suffix; the salt makes the ids within an SVG."""
    import matplotlib

    _with_all_letters(figure)
    content = io.BytesIO()
    date = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}[suffix]
    with matplotlib.rc_context({"svg.hashsalt": salt}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # of each letter of each text
        figure.savefig(content, format=suffix[1:], dpi=150, metadata={date: None})
    return content.getvalue()


def _with_all_letters(figure: Figure) -> None:
    """Let texts fall back on an installed font, if the usual one lacks letters of theirs, as of a name in Chinese."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.text import Text

    texts = figure.findobj(Text)
    letters = {letter for text in texts for letter in text.get_text() if letter.isprintable()}
    family = list(rcParams["font.family"])
    missing = letters - _letters_of(findfont(FontProperties(family=family)))
    if not missing:
        return
    fallback = _font_with("".join(sorted(missing)))
    for text in texts:
        text.set_fontfamily([*family, *fallback])


@functools.cache
def _font_with(letters: str) -> list[str]:
    """Return the name of a font that has all letters; warn, once, if there is none."""
    from matplotlib.font_manager import findfont, fontManager

    for font in fontManager.ttflist:
        if font.name.startswith("Last Resort") or not _letters_of(font.fname).issuperset(letters):
            continue
        # a bold or an italic face may have letters that the upright one of its name lacks
        if _letters_of(findfont(font.name)).issuperset(letters):
            return [font.name]
    message = f"Figures show boxes for {letters}: no installed font has all of these letters."
    warnings.warn(message, stacklevel=4)
    return []


@functools.cache
def _letters_of(path: str) -> frozenset[str]:
    """Return the letters that a font has."""
    from matplotlib.font_manager import get_font

    return frozenset(map(chr, get_font(path).get_charmap()))


# ---- differences with their intervals, a panel per metric -----------------------------------------------------------


OPEN = "0.45"
_FOREST_COLUMNS = 3
_LONGEST = 44  # characters of a line of a name: of two systems, or one


@dataclass(frozen=True, slots=True)
class Bar:
    """A difference: what of, its value, its simultaneous interval, nan where there is none, and whether it is clear."""

    name: str
    value: float
    low: float
    high: float
    is_clear: bool = False  # more than chance, beside all others that are drawn


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
    """Draw differences with simultaneous intervals, filled where they are clear, and a caption above the panels."""
    columns = 2 if len(drawn) == 4 else min(_FOREST_COLUMNS, len(drawn))
    height = 1.2 + 0.2 * max(len(panel.bars) for panel in drawn)
    alike = len({tuple(bar.name for bar in panel.bars) for panel in drawn}) == 1
    width = 3.6 if alike else 4.4
    figure, grid = panels(len(drawn), columns, width=width, height=height, margin=0.7)
    for i, (axes, panel) in enumerate(zip(grid, drawn, strict=True)):
        _draw_panel(axes, panel)
        if alike and i % columns:
            axes.set_yticklabels([])
    _label_differences(grid[0], drawn, level)
    if caption:
        figure.suptitle(label(caption), fontsize="x-small", color="0.3")
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    """Draw the differences of one metric."""
    axes.axvline(0, linestyle="--", **REFERENCE)
    _draw_bars(axes, panel.bars, [bar.is_clear for bar in panel.bars])
    axes.locator_params(axis="x", nbins=5)
    axes.tick_params(axis="x", labelsize="small")
    axes.grid(visible=False, axis="y")
    axes.set_title(label(panel.title), fontsize="small")
    axes.set_xlabel(label(panel.xlabel), fontsize="x-small")


def _label_differences(axes: Axes, drawn: Sequence[Panel], level: float) -> None:
    """Write the legend of differences: what their marks and lines mean."""
    lines = f"{100 * level:.10g}% intervals that hold for all differences together"
    bars = chain.from_iterable(panel.bars for panel in drawn)
    if any(bar.is_clear and bar.low <= 0 <= bar.high for bar in bars):
        lines += "; tests, which go step by step, find more"
    axes.plot([], [], "o", color=COLORS[0], label="more than chance")
    axes.plot([], [], "o", color=OPEN, markerfacecolor="white", label="may be due to chance")
    axes.plot([], [], "-", color=OPEN, label=lines)
    _legend(axes)


def needed_figure(bars: Sequence[Bar], samples: int, *, ax: Axes | None = None) -> Figure:
    """Draw how many samples each difference takes, filled where there are as many, with the range of this number."""
    from matplotlib.ticker import LogFormatter

    height = 0.9 + 0.25 * len(bars)
    figure, (axes,) = panels(1, height=height) if ax is None else (figure_of(ax), [ax])
    _draw_bars(axes, bars, [bar.value <= samples for bar in bars])
    axes.axvline(samples, linestyle="--", label=f"{samples:,} samples", **REFERENCE)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")  # no powers of ten
    axes.xaxis.set_minor_formatter(LogFormatter())
    axes.set_xlabel("samples that find the difference, and their 95% range")
    _legend(axes, is_ours=ax is None)
    return figure


def _draw_bars(axes: Axes, bars: Sequence[Bar], are_filled: Sequence[bool]) -> None:
    """Draw values with their intervals and names, the first at the top."""
    names = []
    for place, (bar, is_filled) in enumerate(zip(bars, are_filled, strict=True)):
        color = COLORS[0] if is_filled else OPEN
        if np.isfinite([bar.low, bar.high]).all():
            axes.plot([bar.low, bar.high], [place, place], color=color, linewidth=1.4)
        filling = color if is_filled else "white"
        axes.plot(bar.value, place, "o", color=color, markersize=4.5, markerfacecolor=filling)
        lines = wrap(bar.name, _LONGEST, break_on_hyphens=False)
        names.append(label("\n".join(lines)))
    axes.set_yticks(range(len(bars)), names, fontsize="x-small")
    axes.set_ylim(len(bars) - 0.4, -0.6)

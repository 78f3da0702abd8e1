"""The curves drawn with matplotlib: each function makes a figure of one or several systems, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..results import System
from .curves import confidence_cost, order_curve, reject_cost_curve, reliability, risk_coverage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which colour-blind readers tell apart; black is kept for references.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
Panels = tuple["Figure", list["Axes"]]
REFERENCE: dict[str, Any] = {"color": "black", "linewidth": 0.9, "alpha": 0.7}


def risk_coverage_figure(systems: Mapping[str, System]) -> Figure:
    """Draw risk against coverage; equally uncertain samples are accepted together, in steps.

    Parameters
    ----------
    systems : mapping of name to System

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        If matplotlib is not installed; so do all functions here that draw.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> figure = risk_coverage_figure({"model": confidence_system([1, 0, 1], [0.9, 0.8, 0.4])})
    >>> figure.axes[0].get_xlabel()
    'coverage'
    """
    figure, (axes,) = panels(1)
    for name, system, style in _styled(systems):
        curve = risk_coverage(system)
        axes.step(curve.coverage, curve.risk, where="post", label=_label(name), **style)
    axes.set(xlabel="coverage", ylabel="mean cost of the accepted", xlim=(0, 1))
    axes.set_ylim(bottom=0)
    _legend(figure, axes)
    return figure


def reject_cost_figure(systems: Mapping[str, System]) -> Figure:
    """Draw expected cost against reject cost, with accepting all (dotted, one line per system) and rejecting all.

    Parameters
    ----------
    systems : mapping of name to System

    Returns
    -------
    matplotlib.figure.Figure

    See Also
    --------
    ecuas_metric.plotting.curves.reject_cost_curve
    """
    figure, (axes,) = panels(1)
    curves = {name: reject_cost_curve(system) for name, system in systems.items()}
    for name, _, style in _styled(systems):
        curve = curves[name]
        axes.plot(curve.reject_cost, curve.expected_cost, label=_label(name), **style)
        axes.plot(curve.reject_cost, curve.accept_all, **style | {"linestyle": ":", "linewidth": 1})
    widest = max(curves.values(), key=lambda curve: curve.reject_cost[-1])
    axes.plot(widest.reject_cost, widest.reject_all, linestyle="--", label="reject all", **REFERENCE)
    axes.plot([], [], linestyle=":", label="accept all", **REFERENCE)
    top = max(max(curve.expected_cost.max(), curve.accept_all.max()) for curve in curves.values())
    axes.set(xlabel="reject cost", ylabel="expected cost", xlim=(0, widest.reject_cost[-1]), ylim=(0, 1.15 * top))
    _legend(figure, axes)
    return figure


def reliability_figure(systems: Mapping[str, System]) -> Figure:
    """Draw accuracy against confidence in bins, the share of samples in each bin below, one column per system.

    Parameters
    ----------
    systems : mapping of name to System

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If a system has no confidences, because its cost is not the 0-1 cost.

    See Also
    --------
    ecuas_metric.plotting.curves.reliability
    """
    figure, grid = panels(len(systems), rows=2, height_ratios=(3, 1), width=3.2)
    for column, (name, system, style) in enumerate(_styled(systems)):
        bins, axes, shares = reliability(system), grid[column], grid[len(systems) + column]
        axes.plot([0, 1], [0, 1], linestyle="--", **REFERENCE)
        axes.plot(bins.confidence, bins.accuracy, marker="o", markersize=4, **style)
        axes.set(title=_label(name), xlim=(0, 1), ylim=(0, 1.02), xticklabels=[])
        shares.bar(bins.low, bins.shares, 1 / system.options.n_bins, align="edge", color=style["color"], alpha=0.6)
        shares.set(xlabel="confidence", xlim=(0, 1), ylim=(0, 1))
    grid[0].set_ylabel("accuracy")
    grid[len(systems)].set_ylabel("share")
    return figure


def confidence_cost_figure(
    orders: Iterable[float] = (0, 1, 4, 128), classes: Iterable[float | None] = (2, 4, 16, None)
) -> Figure:
    """Draw what correct (solid) and incorrect (dashed) answers cost at each confidence, a panel for each n.

    Parameters
    ----------
    orders : iterable of float
        Values of n.
    classes : iterable of int or None
        Numbers K of classes, at most six; None is infinitely many.

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    Estienne et al., Figure "C_n as a function of the confidence".
    """
    orders = list(orders)
    figure, grid = panels(len(orders), width=2.8)
    for axes, n in zip(grid, orders, strict=True):
        for num_classes, color in zip(classes, COLORS, strict=False):
            curve = confidence_cost(n=n, num_classes=num_classes)
            axes.plot(curve.confidence, curve.correct, color=color, label=f"K = {num_classes or '∞'}")
            axes.plot(curve.confidence, curve.incorrect, color=color, linestyle="--")
        axes.set(title=f"n = {n:g}", xlabel="confidence", xlim=(0, 1), ylim=(0, 5))
    grid[0].set_ylabel("cost")
    grid[0].plot([], [], linestyle="-", label="correct", **REFERENCE)
    grid[0].plot([], [], linestyle="--", label="incorrect", **REFERENCE)
    _legend(figure, grid[0])
    return figure


def order_figure(systems: Mapping[str, System]) -> Figure:
    """Draw ECUAS_n against n, from the cost of confident mistakes on the left to the mean cost on the right.

    Parameters
    ----------
    systems : mapping of name to System

    Returns
    -------
    matplotlib.figure.Figure

    See Also
    --------
    ecuas_metric.plotting.curves.order_curve
    """
    figure, (axes,) = panels(1)
    for name, system, style in _styled(systems):
        curve = order_curve(system)
        axes.plot(curve.n, curve.ecuas, label=_label(name), **style)
    axes.set_xscale("symlog", linthresh=0.01)
    axes.set(xlabel="n", ylabel="ECUAS$_n$", xlim=(0, curve.n[-1]))
    axes.set_ylim(bottom=0)
    _legend(figure, axes)
    return figure


def panels(columns: int, *, rows: int = 1, width: float = 5.5, height_ratios: tuple[float, ...] = (1,)) -> Panels:
    """Return an empty figure and its panels.

    Parameters
    ----------
    columns, rows : int
        How many panels.
    width : float
        Of a panel, in inches.
    height_ratios : tuple of float
        Relative heights of the rows.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of matplotlib.axes.Axes
        Row by row.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("Figures need matplotlib: pip install 'ecuas-metric[report]'") from None
    figure = Figure(figsize=(width * columns + 0.4, 3.6 if rows == 1 else 4.2), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, height_ratios=height_ratios).ravel().tolist()
    for axes in grid:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    return figure, grid


def save(figure: Figure, path: str | Path) -> list[Path]:
    """Write a figure as PNG and SVG, the same bytes every time.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : path
        Without a suffix; its folder is created.

    Returns
    -------
    list of Path
        The two files.
    """
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


def _styled(systems: Mapping[str, System]) -> Iterable[tuple[str, System, dict[str, Any]]]:
    for index, (name, system) in enumerate(systems.items()):
        round_ = index // len(COLORS)
        yield name, system, {"color": COLORS[index % len(COLORS)], "linestyle": ("-", "-.", (0, (1, 1)))[round_ % 3]}


def _label(name: str) -> str:
    """Return a name as matplotlib shows it: $ would start a formula, and a leading underscore would hide it."""
    return ("\u200b" if name.startswith("_") else "") + name.replace("$", r"\$")


def _legend(figure: Figure, axes: Axes) -> None:
    handles, names = axes.get_legend_handles_labels()
    if len(names) <= len(COLORS):
        axes.legend(frameon=False, fontsize="small")
    else:
        figure.set_figwidth(figure.get_figwidth() + 2.4)
        figure.legend(handles, names, loc="outside right center", frameon=False, fontsize="small")

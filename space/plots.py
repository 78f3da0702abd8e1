"""Curves of systems -> SVG that the page shows as it is, with a legend and intervals; `page.js` shows values on demand.

The page's style sheet colours the lines by class, for light and dark; `slot-1` to `slot-6` have different dashes too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple

import numpy as np

from ecuas_metric.inputs import Bools, Floats, Ints
from ecuas_metric.plotting.bands import Band, accuracy_band, order_band, reject_cost_band, risk_band
from ecuas_metric.plotting.curves import order_curve, reject_cost_curve, reliability, risk_coverage
from ecuas_metric.plotting.names import short_names
from ecuas_metric.results import System

NUM_SLOTS = 6
NUM_POINTS = 200  # of a line
NUM_LIMITS = 25  # points of a line that have an interval
LEFT, TOP, WIDTH, HEIGHT = 56, 26, 412, 220
SIZE = (480, 290)
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
REST, REFERENCE = "rest", "reference"
ORDERS = (0, *(2.0**power for power in range(-3, 8)), math.inf)
FEW = 5  # samples of a bin below which its mark is hollow
REJECT, CALIBRATED = "(reject all)", "(calibrated)"  # unlikely names of systems


class Axis(NamedTuple):
    """What an axis measures, its limits and ticks."""

    title: str
    low: float
    high: float
    ticks: Mapping[float, str]


class Line(NamedTuple):
    """A curve: its points, shape (M,), its class, its intervals at some x, and which of its marks are hollow."""

    style: str
    x: Floats
    y: Floats
    at: Floats | None = None
    band: Band | None = None
    marks: bool = False
    few: Bools | None = None


def slots(names: Iterable[str]) -> dict[str, str]:
    """Return a class for each name: the first six have their own, the others share `rest`.

    >>> slots("abcdefg")["g"]
    'rest'
    """
    return {name: f"slot-{i}" if i <= NUM_SLOTS else REST for i, name in enumerate(dict.fromkeys(names), 1)}


def figures(systems: Mapping[str, System]) -> str:
    """Draw cost against reject cost, ECUAS_n against n, risk against coverage, reliability, and the confidences."""
    styles = slots(systems)
    drawn = [_reject_costs(systems, styles), _orders(systems, styles), _risks(systems, styles)]
    if all(system.decisions.confidence is not None for system in systems.values()):
        drawn += [reliability_figure(systems), _confidences(systems, styles)]
    return f'<div class="plots">{"".join(drawn)}</div>'


def reliability_figure(systems: Mapping[str, System]) -> str:
    """Draw accuracy against mean confidence in the bins of ECE."""
    lines = {}
    for name, style in slots(systems).items():
        bins = reliability(systems[name])
        some, band = bins.counts > 0, accuracy_band(systems[name]) if _has_band(systems[name], style) else None
        band = band and Band(band.low[some], band.high[some])
        few, at = bins.counts[some] < FEW, bins.confidence[some]
        lines[name] = Line(style, at, bins.accuracy[some], at, band, marks=True, few=few)
    hint = f"Hollow: fewer than {FEW} samples." if any(np.any(line.few) for line in lines.values()) else ""
    ends = np.array([0.0, 1.0])
    axes = axis("confidence", 1), axis("accuracy", 1)
    return figure("Are the confidences true?", lines | {CALIBRATED: Line(REFERENCE, ends, ends)}, axes, hint=hint)


def figure(title: str, lines: Mapping[str, Line], axes: tuple[Axis, Axis], *, hint: str = "") -> str:
    """Draw lines by name as HTML of one figure; the values of those with a class of their own are shown on demand."""
    named = {name: line for name, line in lines.items() if line.style != REST and " " not in line.style}
    description = f"{title} {axes[1].title} against {axes[0].title} of {', '.join(named)}"
    drawn = "".join(_curve(name, line, axes) for name, line in reversed(list(lines.items())))
    hint = f'<p class="hint">{hint}</p>' if hint else ""
    limits = escape(json.dumps([*axes[0][:3], *axes[1][:3], axes[0].ticks if axes[0].low == -0.5 else {}]))
    return (
        f'<figure class="plot"><figcaption><h3>{escape(title)}</h3></figcaption>{_legend(lines, named)}{hint}'
        f'<svg viewBox="0 0 {SIZE[0]} {SIZE[1]}" role="img" aria-label="{escape(description)}">{_frame(*axes)}'
        f'<svg class="curves" x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" data-axes="{limits}">{drawn}</svg>'
        "</svg></figure>"
    )


def axis(title: str, high: float, *, low: float = 0.0) -> Axis:
    """Return an axis with about six round ticks, up to `high`."""
    high = high if high > low else low + 1
    rough = (high - low) / 6
    power = 10 ** np.floor(np.log10(rough))
    step = next(step for step in STEPS if step * power >= rough * (1 - 1e-9)) * power
    at = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    ticks = np.round(at, 12) + 0.0  # never -0
    return Axis(title, low, high, {float(tick): short(tick) for tick in ticks})


def short(value: float) -> str:
    """Return a number in three digits, or to the unit.

    >>> short(0.25), short(1 / 3), short(12345.0), short(0.00002)
    ('0.25', '0.333', '12,345', '2e-05')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{float(f'{value:.3g}'):g}"


def order_name(order: float) -> str:
    """Return an n as people write it, e.g. 1/8, 4 or ∞."""
    if 0 < order < 1:
        return f"1/{1 / order:g}"
    return "∞" if order == math.inf else f"{order:g}"


def placed(x: Floats, y: Floats, axes: tuple[Axis, Axis]) -> Floats:
    """Return where points are in a box whose origin is at the top left, shape (M, 2)."""
    across, up = (
        (values - of.low) / (of.high - of.low) for values, of in zip((np.asarray(x), np.asarray(y)), axes, strict=True)
    )
    return np.stack([across * WIDTH, HEIGHT - up * HEIGHT], axis=1)


def _reject_costs(systems: Mapping[str, System], styles: Mapping[str, str]) -> str:
    curves = {name: reject_cost_curve(system, num_points=NUM_POINTS + 1) for name, system in systems.items()}
    lines = {}
    for name, curve in curves.items():
        at = curve.reject_cost[:: (NUM_POINTS // NUM_LIMITS)]
        band = reject_cost_band(systems[name], at) if _has_band(systems[name], styles[name]) else None
        lines[name] = Line(styles[name], curve.reject_cost, curve.expected_cost, at, band)
    for name, curve in curves.items():
        lines[f"(accept all) {name}"] = Line(f"{styles[name]} faint", curve.reject_cost[[0, -1]], curve.accept_all[:2])
    widest = max((curve.reject_cost for curve in curves.values()), key=lambda at: float(at[-1]))[[0, -1]]
    top = 1.25 * max(float(line.y.max()) for line in lines.values())
    axes = axis("reject cost", float(widest[-1])), axis("cost per question", top)
    return figure("What does it cost its users?", lines | {REJECT: Line(REFERENCE, widest, widest)}, axes)


def _orders(systems: Mapping[str, System], styles: Mapping[str, str]) -> str:
    places, orders, lines = np.arange(len(ORDERS), dtype=float), np.array(ORDERS), {}
    for name, system in systems.items():
        band = order_band(system, orders) if _has_band(system, styles[name]) else None
        lines[name] = Line(styles[name], places, order_curve(system, n=orders).ecuas, places, band, marks=True)
    top = max(float(line.y.max()) for line in lines.values())
    tops = [float(line.band.high.max()) for line in lines.values() if line.band is not None]
    x = Axis("n", -0.5, len(ORDERS) - 0.5, {i: order_name(order) for i, order in enumerate(ORDERS)})
    return figure("ECUAS_n for every n", lines, (x, axis("ECUAS_n", 1.05 * np.nanmax([top, *tops]))))


def _risks(systems: Mapping[str, System], styles: Mapping[str, str]) -> str:
    lines = {}
    for name, system in systems.items():
        curve = risk_coverage(system)
        rows, few = (_thinned(curve.coverage, number) for number in (NUM_POINTS, NUM_LIMITS))
        band = risk_band(system, curve.coverage[few]) if _has_band(system, styles[name]) else None
        lines[name] = Line(styles[name], curve.coverage[rows], curve.risk[rows], curve.coverage[few], band)
    top = 1.1 * max(float(line.y[line.x > 0.05].max(initial=0.0)) for line in lines.values())  # first steps are wild
    return figure("Risk of the answers used", lines, (axis("coverage", 1), axis("risk", top)))


def _confidences(systems: Mapping[str, System], styles: Mapping[str, str]) -> str:
    binned = {name: reliability(system) for name, system in systems.items()}
    lines = {
        name: Line(styles[name], (bins.low + bins.high) / 2, bins.shares, marks=True) for name, bins in binned.items()
    }
    top = 1.1 * max(float(line.y.max()) for line in lines.values())
    return figure("How confident is it?", lines, (axis("confidence", 1), axis("share of answers", top)))


def _has_band(system: System, style: str) -> bool:
    return style != REST and system.options.confidence_level is not None


def _thinned(along: Floats, number: int) -> Ints:
    """Return the rows whose values of `along`, increasing, are nearest above evenly spaced ones, and first and last."""
    if len(along) <= number:
        return np.arange(len(along))
    return np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], number)))


def _curve(name: str, line: Line, axes: tuple[Axis, Axis]) -> str:
    places = placed(line.x, line.y, axes)
    kind = "marks" if line.marks else "line"
    drawn = f'<path d="M{_path(places)}"/>{_interval(line, axes)}'
    if line.marks and line.style != REST:
        few = np.zeros(len(places), bool) if line.few is None else line.few
        drawn += "".join(_mark(x, y, is_few) for (x, y), is_few in zip(places, few, strict=True))
    return f'<g class="{kind} {line.style}" data-name="{escape(name)}">{drawn}</g>'


def _interval(line: Line, axes: tuple[Axis, Axis]) -> str:
    """Draw the intervals of a line as a band, those of marks as bars."""
    if line.band is None or line.at is None:
        return ""
    some = np.isfinite(line.band.low)
    low, high = (placed(line.at[some], limit[some], axes) for limit in line.band)
    if not line.marks:
        return f'<polygon class="band" points="{_path(np.concatenate([low, high[::-1]]))}"/>' if some.any() else ""
    bars = "".join(f"M{x:.2f},{bottom:.2f}V{top:.2f}" for (x, bottom), (_, top) in zip(low, high, strict=True))
    return f'<path class="bars" d="{bars}"/>' if bars else ""


def _path(places: Floats) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in places)


def _mark(x: float, y: float, is_few: bool) -> str:
    return f'<circle{" class=few" if is_few else ""} cx="{x:.2f}" cy="{y:.2f}" r="4"/>'


def _legend(lines: Mapping[str, Line], named: Mapping[str, Line]) -> str:
    """List the names that have their own style, the faint lines once, and how many have no style."""
    shown = {line.style: name for name, line in named.items()}
    if any(line.style.endswith(" faint") for line in lines.values()):
        shown["accepting"] = "accepting all"
    if rest := sum(line.style == REST for line in lines.values()):
        shown[REST] = f"{rest} more"
    brief = short_names(shown.values())
    items = "".join(
        f'<li class="line {style}" title="{escape(name)}"><svg viewBox="0 0 28 8"><path d="M1,4 L27,4"/></svg>'
        f"<bdi>{escape(brief[name])}</bdi></li>"
        for style, name in shown.items()
    )
    return f'<ul class="legend">{items}</ul>' if len(shown) > 1 else ""


def _frame(x: Axis, y: Axis) -> str:
    """Draw grid, ticks and titles."""
    bottom, parts = TOP + HEIGHT, []
    for value, text in y.ticks.items():
        at = bottom - (value - y.low) / (y.high - y.low) * HEIGHT
        parts.append(f'<path class="grid" d="M{LEFT},{at:.2f} h{WIDTH}"/>')
        parts.append(f'<text class="y tick" x="{LEFT - 6}" y="{at:.2f}" dy="0.35em">{text}</text>')
    for value, text in x.ticks.items():
        at = LEFT + (value - x.low) / (x.high - x.low) * WIDTH
        parts.append(f'<text class="x tick" x="{at:.2f}" y="{bottom}" dy="1.3em">{text}</text>')
    parts.append(f'<text class="title" x="4" y="14">{escape(y.title)}</text>')
    parts.append(f'<text class="x title" x="{LEFT + WIDTH / 2}" y="{SIZE[1] - 6}">{escape(x.title)}</text>')
    return "".join(parts)

"""Curves of systems as SVG: what is drawn are the arrays of `plotting`, placed in a box."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from markupsafe import Markup

from ecuas_metric.comparison.rows import REJECTING
from ecuas_metric.inputs import Floats, Ints
from ecuas_metric.plotting.curves import (
    Band,
    accuracy_band,
    order_band,
    order_curve,
    reject_cost_band,
    reject_cost_curve,
    reliability,
    risk_band,
    risk_coverage,
)
from ecuas_metric.results import System

from .markup import html

NUM_SLOTS = 6  # colours that are told apart, see style.css
NUM_POINTS = 200  # of a line
NUM_LIMITS = 25  # points of a line that have an interval
LEFT = 56  # of the box of the curves, in the units of the drawing
TOP = 26
WIDTH = 412
HEIGHT = 220
SIZE = (480, 290)  # of the drawing
DECADES = [10.0**power for power in range(-12, 3)]
STEPS = [step * decade for decade in DECADES for step in (1.0, 2.0, 2.5, 5.0)]  # of ticks
NUM_TICKS = 6
REST = "rest"  # the class of the systems after the sixth
REFERENCE = "reference"  # the class of lines to compare with
DRAWN_ORDERS = (0, *(2.0**power for power in range(-3, 8)), math.inf)
HEADROOM = 1.1
WILD = 0.05  # of the coverage: the risks of the first few answers are 0 or 1
CALIBRATED = "(calibrated)\u2060"


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis measures, its limits, and its ticks."""

    title: str
    low: float
    high: float
    ticks: Mapping[float, str]

    def share(self, value: float) -> float:
        """Return where a value is, from 0 at the low end to 1 at the high one."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Line:
    """A curve: its points (M,), where its band is (L,), intervals as x, low, high (L, 3), and its class."""

    x: Floats
    y: Floats
    at: Floats = field(default_factory=lambda: np.zeros(0))
    has_marks: bool = False
    limits: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    style: str = REFERENCE

    def points(self) -> Iterable[tuple[float, float]]:
        """Return x and y of each point."""
        return zip(self.x.tolist(), self.y.tolist(), strict=True)


Systems = Mapping[str, System]
Lines = dict[str, Line]


def slots(names: Iterable[str]) -> dict[str, str]:
    """Return a class for each name: the first six have their own, the others share `rest`.

    >>> slots("abcdefg")["g"]
    'rest'
    """
    numbered = enumerate(dict.fromkeys(names), 1)
    return {name: f"slot-{i}" if i <= NUM_SLOTS else REST for i, name in numbered}


def figures(systems: Systems) -> Markup:
    """Draw cost against reject cost, ECUAS_n against n, risk against coverage, and reliability."""
    drawn = [_reject_costs(systems), _orders(systems), _risks(systems)]
    if all(system.decisions.confidence is not None for system in systems.values()):
        drawn.append(_reliability(systems))
    return html("plots", drawn=drawn)


def figure(
    title: str,
    lines: Lines,
    x: Axis,
    y: Axis,
) -> Markup:
    """Draw lines by name as HTML of one figure; the values of those with a class of their own are shown on demand."""
    return html(
        "figure",
        title=title,
        x=x,
        y=y,
        named={name: line.style for name, line in lines.items() if line.style != REST},
        lines=lines,
        rest=REST,
        box=(LEFT, TOP, WIDTH, HEIGHT),
        size=SIZE,
    )


def axis(title: str, high: float = 1.0) -> Axis:
    """Return an axis from 0 with about six round ticks, up to `high`."""
    high = high if high > 0 else 1.0
    step = next(step for step in STEPS if high / step <= NUM_TICKS * (1 + 1e-9))
    count = math.floor(high / step + 1e-9) + 1
    ticks = [round(i * step, 12) for i in range(count)]
    return Axis(title, 0.0, high, {tick: f"{tick:g}" for tick in ticks})


def order_name(order: float) -> str:
    """Return an n as people write it, e.g. 1/8, 4 or ∞."""
    if 0 < order < 1:
        return f"1/{1 / order:g}"
    return "∞" if order == math.inf else f"{order:g}"


def _reject_costs(systems: Systems) -> Markup:
    def line(system: System) -> Line:
        curve = reject_cost_curve(system, num_points=NUM_POINTS + 1)
        at = curve.reject_cost[:: NUM_POINTS // NUM_LIMITS]
        return Line(curve.reject_cost, curve.expected_cost, at)

    lines = _lines(systems, line, reject_cost_band)
    end = max(curve.x[-1] for curve in lines.values())
    ends = np.array([0.0, end])
    y = axis("cost per question", 1.25 * _highest(lines))
    lines[REJECTING] = Line(ends, ends)
    return figure("What does it cost its users?", lines, axis("reject cost", ends[-1]), y)


def _orders(systems: Systems) -> Markup:
    orders = np.array(DRAWN_ORDERS)
    places = np.arange(len(orders), dtype=float)

    def line(system: System) -> Line:
        values = order_curve(system, n=orders).ecuas
        return Line(places, values, places, has_marks=True)

    lines = _lines(systems, line, lambda system, _: order_band(system, orders))
    highest = max(curve.limits[:, 2].max(initial=0.0) for curve in lines.values())
    names = map(order_name, DRAWN_ORDERS)
    ticks = dict(zip(places.tolist(), names, strict=True))
    x = Axis("n", -0.5, len(orders) - 0.5, ticks)
    return figure(
        "ECUAS_n for every n",
        lines,
        x,
        axis("ECUAS_n", 1.05 * max(_highest(lines), highest)),
    )


def _risks(systems: Systems) -> Markup:
    def line(system: System) -> Line:
        curve = risk_coverage(system)
        rows = _thin(curve.coverage, NUM_POINTS)
        at = curve.coverage[_thin(curve.coverage, NUM_LIMITS)]
        return Line(curve.coverage[rows], curve.risk[rows], at)

    lines = _lines(systems, line, risk_band)
    top = max(curve.y[curve.x > WILD].max(initial=0.0) for curve in lines.values())
    return figure("Risk of the answers used", lines, axis("coverage"), axis("risk", HEADROOM * top))


def _reliability(systems: Systems) -> Markup:
    """Draw accuracy against mean confidence in the bins of ECE."""

    def line(system: System) -> Line:
        bins = reliability(system)
        filled = bins.counts > 0
        at = bins.confidence
        return Line(at[filled], bins.accuracy[filled], at, has_marks=True)

    lines = _lines(systems, line, lambda system, _: accuracy_band(system))
    ends = np.array([0.0, 1.0])
    lines[CALIBRATED] = Line(ends, ends)
    return figure("Are the confidences true?", lines, axis("confidence"), axis("accuracy"))


def _lines(
    systems: Systems,
    line: Callable[[System], Line],
    band: Callable[[System, Floats], Band],
) -> Lines:
    """Return the line of each system in its class, with intervals if this is one of its own and they have a level."""
    lines = {}
    for name, style in slots(systems).items():
        system = systems[name]
        drawn = line(system)
        if style != REST and system.options.confidence_level is not None:
            ends = band(system, drawn.at)
            limits = np.column_stack([drawn.at, ends.low, ends.high])
            drawn = replace(drawn, limits=limits[np.isfinite(limits).all(axis=1)])
        lines[name] = replace(drawn, style=style)
    return lines


def _highest(lines: Lines) -> float:
    return max(float(line.y.max()) for line in lines.values())


def _thin(along: Floats, number: int) -> Ints:
    """Return the rows whose values of `along`, increasing, are nearest above evenly spaced ones, and first and last."""
    if len(along) <= number:
        return np.arange(len(along))
    even = np.linspace(along[0], along[-1], number)
    return np.unique(np.searchsorted(along, even))

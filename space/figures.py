"""Curves of systems as SVG: what is drawn are the arrays of `plotting`, placed in a box."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ecuas_metric.inputs import Floats, Ints
from ecuas_metric.plotting.bands import Band, accuracy_band, order_band, reject_cost_band, risk_band
from ecuas_metric.plotting.curves import order_curve, reject_cost_curve, reliability, risk_coverage
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
STEPS = [step * 10.0**power for power in range(-12, 3) for step in (1.0, 2.0, 2.5, 5.0)]  # of ticks
NUM_TICKS = 6
REST = "rest"  # the class of the systems after the sixth
REFERENCE = "reference"  # the class of lines to compare with
DRAWN_ORDERS = (0, *(2.0**power for power in range(-3, 8)), math.inf)
HEADROOM = 1.1
WILD = 0.05  # of the coverage: the risks of the first few answers are 0 or 1
REJECT = "(reject all)\u2060"  # the mark is in no name of an upload
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
    """A curve: its points (M,), intervals as x, low, high (L, 3), its class, and whether it has marks."""

    x: Floats
    y: Floats
    limits: Floats
    style: str
    has_marks: bool = False


Systems = Mapping[str, System]
Lines = dict[str, Line]
Points = tuple[Floats, Floats, Floats]  # x and y of a line, and the x of its intervals


def slots(names: Iterable[str]) -> dict[str, str]:
    """Return a class for each name: the first six have their own, the others share `rest`.

    >>> slots("abcdefg")["g"]
    'rest'
    """
    numbered = enumerate(dict.fromkeys(names), 1)
    return {name: f"slot-{i}" if i <= NUM_SLOTS else REST for i, name in numbered}


def figures(systems: Systems) -> str:
    """Draw cost against reject cost, ECUAS_n against n, risk against coverage, and reliability."""
    drawn = [_reject_costs(systems), _orders(systems), _risks(systems)]
    if all(system.decisions.confidence is not None for system in systems.values()):
        drawn.append(_reliability(systems))
    return f'<div class="plots">{"".join(drawn)}</div>'


def figure(
    title: str,
    lines: Lines,
    x: Axis,
    y: Axis,
) -> str:
    """Draw lines by name as HTML of one figure; the values of those with a class of their own are shown on demand."""
    return html(
        "figure",
        title=title,
        x=x,
        y=y,
        lines=lines,
        rest=REST,
        box=(LEFT, TOP, WIDTH, HEIGHT),
        size=SIZE,
    )


def axis(title: str, high: float = 1.0) -> Axis:
    """Return an axis from 0 with about six round ticks, up to `high`."""
    high = high if high > 0 else 1.0
    step = next(step for step in STEPS if high / step <= NUM_TICKS * (1 + 1e-9))
    ticks = [round(i * step, 12) for i in range(math.floor(high / step + 1e-9) + 1)]
    return Axis(title, 0.0, high, {tick: f"{tick:g}" for tick in ticks})


def order_name(order: float) -> str:
    """Return an n as people write it, e.g. 1/8, 4 or ∞."""
    if 0 < order < 1:
        return f"1/{1 / order:g}"
    return "∞" if order == math.inf else f"{order:g}"


def _reject_costs(systems: Systems) -> str:
    def points(system: System) -> Points:
        curve = reject_cost_curve(system, num_points=NUM_POINTS + 1)
        at = curve.reject_cost[:: NUM_POINTS // NUM_LIMITS]
        return curve.reject_cost, curve.expected_cost, at

    lines = _lines(systems, points, reject_cost_band)
    most = max(curve.x[-1] for curve in lines.values())
    y = axis("cost per question", 1.25 * _highest(lines))
    lines[REJECT] = _diagonal(most)
    return figure("What does it cost its users?", lines, axis("reject cost", most), y)


def _orders(systems: Systems) -> str:
    orders = np.array(DRAWN_ORDERS)
    places = np.arange(len(orders), dtype=float)

    def points(system: System) -> Points:
        return places, order_curve(system, n=orders).ecuas, places

    lines = _lines(systems, points, lambda system, _: order_band(system, orders), has_marks=True)
    highest = max(line.limits[:, 2].max(initial=0.0) for line in lines.values())
    names = map(order_name, DRAWN_ORDERS)
    ticks = dict(zip(places.tolist(), names, strict=True))
    x = Axis("n", -0.5, len(orders) - 0.5, ticks)
    y = axis("ECUAS_n", 1.05 * max(_highest(lines), highest))
    return figure("ECUAS_n for every n", lines, x, y)


def _risks(systems: Systems) -> str:
    def points(system: System) -> Points:
        curve = risk_coverage(system)
        rows = _thin(curve.coverage, NUM_POINTS)
        at = curve.coverage[_thin(curve.coverage, NUM_LIMITS)]
        return curve.coverage[rows], curve.risk[rows], at

    lines = _lines(systems, points, risk_band)
    top = max(line.y[line.x > WILD].max(initial=0.0) for line in lines.values())
    return figure("Risk of the answers used", lines, axis("coverage"), axis("risk", HEADROOM * top))


def _reliability(systems: Systems) -> str:
    """Draw accuracy against mean confidence in the bins of ECE."""

    def points(system: System) -> Points:
        bins = reliability(system)
        filled = bins.counts > 0
        return bins.confidence[filled], bins.accuracy[filled], bins.confidence

    lines = _lines(systems, points, lambda system, _: accuracy_band(system), has_marks=True)
    lines[CALIBRATED] = _diagonal(1.0)
    return figure("Are the confidences true?", lines, axis("confidence"), axis("accuracy"))


def _lines(
    systems: Systems,
    points: Callable[[System], Points],
    band: Callable[[System, Floats], Band],
    *,
    has_marks: bool = False,
) -> Lines:
    """Return the line of each system in its class, with intervals if this is one of its own and they have a level."""
    lines = {}
    for name, style in slots(systems).items():
        system = systems[name]
        x, y, at = points(system)
        limits = np.zeros((0, 3))
        if style != REST and system.options.confidence_level is not None:
            ends = band(system, at)
            limits = np.column_stack([at, ends.low, ends.high])
        is_known = np.isfinite(limits).all(axis=1)
        lines[name] = Line(x, y, limits[is_known], style, has_marks)
    return lines


def _diagonal(end: float) -> Line:
    """Return a line of equal x and y to compare with."""
    ends = np.array([0.0, end])
    return Line(ends, ends, np.zeros((0, 3)), REFERENCE)


def _highest(lines: Lines) -> float:
    return max(float(line.y.max()) for line in lines.values())


def _thin(along: Floats, number: int) -> Ints:
    """Return the rows whose values of `along`, increasing, are nearest above evenly spaced ones, and first and last."""
    if len(along) <= number:
        return np.arange(len(along))
    even = np.linspace(along[0], along[-1], number)
    return np.unique(np.searchsorted(along, even))

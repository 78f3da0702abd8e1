"""Data frames of curves -> SVG that the page shows as it is: a legend, and values under the mouse or a finger.

The page's style sheet colours the lines by class, for light and dark; `slot-1` to `slot-6` have different dashes too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd

from ecuas_metric.inputs import Bools, Floats
from ecuas_metric.plotting.names import short_names

from .axes import Axis, make_axis, placed, positions, short, simplified

NUM_SLOTS = 6
NUM_STRIPS = 32  # across a plot, each with the values of the points below it
NUM_TICKS = 6
LONGEST = 28  # characters of a name beside its value
CHARACTER = 7.5  # width of one under the mouse, as wide as it is on a phone
LEFT, RIGHT, TOP, BOTTOM, SLANTED = 56, 12, 26, 44, 104
SMALL = (300, 190)
REST = "rest"
SAMPLES, FEW = "samples", 5  # a column, and what it says that little is known of a point


def plot(
    frame: pd.DataFrame,
    styles: Mapping[str, str],
    *,
    title: str,
    names: str = "system",
    kind: str = "line",
    x_lim: tuple[float, float] | None = None,
    y_lim: tuple[float, float] | None = None,
    y_title: str | None = None,
    size: tuple[int, int] = (480, 290),
) -> str:
    """Draw the second column of a data frame against its first.

    Parameters
    ----------
    frame : DataFrame
        The first column has numbers, or text that is spaced evenly in its order.
    styles : mapping of str to str
        Names of the lines, in the column `names`, to their classes. Lines with more than one class, or `rest`, have
        no name of their own in legend and description.
    title : str
    names : str
    kind : {"line", "marks", "points", "bars"}
        Lines, lines with marks, marks alone, or bars. Marks are hollow where a further column `samples` is below 5.
    x_lim, y_lim : pair of float, optional
        The data's own limits where not given, 0 included.
    y_title : str, optional
    size : pair of int
        Of the drawing's own units.

    Returns
    -------
    str
        HTML of one figure; names are escaped.
    """
    first, second = frame.columns[:2]
    x = make_axis(first.replace("_", " "), frame[first], x_lim, NUM_TICKS)
    y = make_axis(y_title or second.replace("_", " "), frame[second], y_lim, 3 if size == SMALL else NUM_TICKS)
    numbers = frame.assign(**{first: positions(frame[first], x)})
    slanted = _is_slanted(x, size[0])
    box = (size[0] - LEFT - RIGHT, size[1] - TOP - (SLANTED if slanted else BOTTOM))
    curves = {str(name): part[[first, second]].to_numpy(float) for name, part in numbers.groupby(names, sort=False)}
    styles = {name: styles[name] for name in curves}
    few = _few(frame, names) if kind in ("marks", "points") else {}
    drawn = "".join(
        _curve(name, styles[name], points, (x, y), box, kind, few.get(name)) for name, points in curves.items()
    )
    is_any_few = any(hollow.any() for name, hollow in few.items() if styles[name] != "reference")
    hint = f'<p class="hint">Hollow: fewer than {FEW} samples.</p>' if is_any_few else ""
    labelled = {name: points for name, points in curves.items() if styles[name] in _own(styles)}
    return (
        f'<figure class="plot"><figcaption>{escape(title)}</figcaption>{_legend(styles, kind)}{hint}'
        f'<svg viewBox="0 0 {size[0]} {size[1]}" role="img" aria-label="{escape(_description(title, x, y, labelled))}">'
        f"{_frame(x, y, size, box, slanted=slanted)}"
        f'<svg x="{LEFT}" y="{TOP}" width="{box[0]}" height="{box[1]}">{drawn}</svg>'
        f"{_strips(labelled, (x, y), box)}</svg></figure>"
    )


def multiples(frame: pd.DataFrame, styles: Mapping[str, str], *, title: str, names: str = "system") -> str:
    """Draw bars for each line that has a slot, side by side on one scale; arguments as in `plot`."""
    own = [name for name in styles if styles[name] != REST]
    limit = (0.0, 1.05 * float(frame[frame.columns[1]].max()))
    small = [
        plot(part, {str(name): styles[str(name)]}, title=str(name), names=names, kind="bars", y_lim=limit, size=SMALL)
        for name, part in frame.groupby(names, sort=False)
        if name in own
    ]
    more = f"<p>{len(styles) - len(own)} more are not drawn.</p>" if len(own) < len(styles) else ""
    return f'<section class="multiples"><h2>{escape(title)}</h2><div>{"".join(small)}</div>{more}</section>'


def slots(names: Iterable[str]) -> dict[str, str]:
    """Return a class for each name: the first six have their own, the others share `rest`.

    >>> slots("abcdefg")["g"]
    'rest'
    """
    unique = dict.fromkeys(names)
    return {name: f"slot-{i}" if i <= NUM_SLOTS else REST for i, name in enumerate(unique, 1)}


def _own(styles: Mapping[str, str]) -> set[str]:
    return {style for style in styles.values() if style != REST and " " not in style}


def _is_slanted(x: Axis, width: int) -> bool:
    """Return whether the texts along an axis are too long to be side by side."""
    return width > SMALL[0] and x.is_text and len(x.ticks) * max(map(len, x.ticks.values())) * 5 > width


def _few(frame: pd.DataFrame, names: str) -> dict[str, Bools]:
    """Return which points of each line stand for few samples, if the data frame says it."""
    if SAMPLES not in frame.columns[2:]:
        return {}
    return {str(name): part[SAMPLES].to_numpy() < FEW for name, part in frame.groupby(names)}


def _curve(
    name: str,
    style: str,
    points: Floats,
    axes: tuple[Axis, Axis],
    box: tuple[int, int],
    kind: str,
    few: Bools | None = None,
) -> str:
    places = placed(points, axes, box)
    attributes = f'class="{kind} {style}" data-name="{escape(name)}"'
    if kind == "bars":
        wide = 0.8 * box[0] / len(points)
        bars = "".join(_rect(x - wide / 2, y, wide, box[1] - y) for x, y in places)
        return f"<g {attributes}>{bars}</g>"
    line = "" if kind == "points" else f'<path d="{_path(places)}"/>'
    marked = kind != "line" and style not in ("reference", REST)
    hollow = np.zeros(len(places), bool) if few is None else few
    marks = "".join(_mark(x, y, is_hollow) for (x, y), is_hollow in zip(places, hollow, strict=True) if marked)
    return f"<g {attributes}>{line}{marks}</g>"


def _path(places: Floats) -> str:
    """Return a line as the data of a path; Gradio sends it as it is, to every visitor."""
    return "M" + " ".join(f"{x:.1f},{y:.1f}" for x, y in simplified(places))


def _mark(x: float, y: float, is_hollow: bool) -> str:
    style = ' class="few"' if is_hollow else ""
    return f'<circle{style} cx="{x:.2f}" cy="{y:.2f}" r="4"/>'


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"/>'


def _legend(styles: Mapping[str, str], kind: str) -> str:
    """List the names that have their own style, the faint lines once, and how many have no style."""
    shown = {style: name for name, style in styles.items() if style in _own(styles)}
    shown |= {"accepting": "accepting all"} if any(style.endswith(" faint") for style in styles.values()) else {}
    if rest := sum(style == REST for style in styles.values()):
        shown |= {REST: f"{rest} more"}
    mark = '<circle cx="14" cy="4" r="4"/>' if kind == "points" else '<path d="M1,4 L27,4"/>'
    key = f'<svg viewBox="0 0 28 8">{mark}</svg>'
    short = short_names(shown.values())
    items = "".join(
        f'<li class="line {style}" title="{escape(name)}">{key}<span>{escape(short[name])}</span></li>'
        for style, name in shown.items()
    )
    return f'<ul class="legend">{items}</ul>' if len(shown) > 1 else ""


def _description(title: str, x: Axis, y: Axis, names: Iterable[str]) -> str:
    return f"{title}: {y.title} against {x.title} of {', '.join(names)}"


def _frame(x: Axis, y: Axis, size: tuple[int, int], box: tuple[int, int], *, slanted: bool) -> str:
    """Draw grid, ticks and titles."""
    bottom, parts = TOP + box[1], []
    for value, text in y.ticks.items():
        at = bottom - (value - y.low) / (y.high - y.low) * box[1]
        parts.append(f'<path class="grid" d="M{LEFT},{at:.2f} h{box[0]}"/>')
        parts.append(f'<text class="y tick" x="{LEFT - 6}" y="{at:.2f}" dy="0.35em">{text}</text>')
    every = -(-len(x.ticks) // 4) if size[0] == SMALL[0] else 1
    for index, (value, text) in enumerate(x.ticks.items()):
        at = LEFT + (value - x.low) / (x.high - x.low) * box[0]
        if index % every == 0:
            turned = f'transform="rotate(-35,{at:.2f},{bottom})"' if slanted else ""
            place = f'x="{at:.2f}" y="{bottom}" dy="{"1em" if slanted else "1.3em"}"'
            parts.append(f'<text class="x tick{" slanted" if slanted else ""}" {place} {turned}>{escape(text)}</text>')
    parts.append(f'<text class="title" x="4" y="14">{escape(y.title)}</text>')
    parts.append(f'<text class="x title" x="{LEFT + box[0] / 2}" y="{size[1] - 6}">{escape(x.title)}</text>')
    return "".join(parts)


def _strips(curves: Mapping[str, Floats], axes: tuple[Axis, Axis], box: tuple[int, int]) -> str:
    """Cover a plot with strips; each shows, while it is pointed at, the points of all curves in it."""
    x = axes[0]
    places = {name: placed(points, axes, box) for name, points in curves.items()}
    num = len(x.ticks) if x.is_text else NUM_STRIPS
    wide, strips = box[0] / num, []
    for i in range(num):
        rows: list[tuple[float, str, float]] = []
        for name, points in curves.items():
            inside = points[np.minimum(places[name][:, 0] // wide, num - 1) == i]
            if len(inside):
                at, value = inside[len(inside) // 2]
                rows.append((at, name, value))
        if rows:
            strips.append(_strip(rows, x, i * wide, wide, box))
    return f'<g transform="translate({LEFT},{TOP})">{"".join(strips)}</g>'


def _strip(rows: Sequence[tuple[float, str, float]], x: Axis, left: float, wide: float, box: tuple[int, int]) -> str:
    right = left > box[0] / 2
    places = [x.ticks.get(at, short(at)) if x.is_text else short(at) for at, *_ in rows]
    one = len(set(places)) == 1
    lines = [f"{x.title} {places[0]}"] if one else []
    lines += [
        f"{_short(name)} {short(value)}" + ("" if one else f" at {at}")
        for (_, name, value), at in zip(rows, places, strict=True)
    ]
    length = CHARACTER * max(map(len, lines))  # a text that does not fit beside its strip covers it
    at = max(left - 6, min(length, box[0])) if right else min(left + wide + 6, max(0, box[0] - length))
    spans = "".join(f'<tspan x="{at:.1f}" dy="1.25em">{escape(line)}</tspan>' for line in lines)
    return (
        f'<g class="strip">{_rect(left, 0, wide, box[1])}'
        f'<text class="tip{" end" if right else ""}" y="0">{spans}</text></g>'
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"

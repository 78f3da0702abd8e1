"""A table with sentences above and remarks below it -> HTML without script, that is read on light and dark pages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from ..inputs import Floats
from ..reporting.tables import COMMANDS_NAMED, IN_BOLD, SUBSCRIPT, Grid, one_line

# Text has the colour of the page; lines have one that is at least 3 times as light or dark as white and as #111.
INKS = ("#0a6db5", "#c24a00", "#00784f", "#a8488a", "#8a6d00", "#5f63c9")
REST = "#777777"  # of the systems after the sixth
WIDTH, HEIGHT, MARGIN = 144, 32, 2  # of a curve
IN_ONE_LINE = 34  # characters of a name in one line
TAG = re.compile("<[^>]*>")
NO_FORMULAS = "tex2jax_ignore mathjax_ignore"  # in the names of systems
STYLE = """
.ecuas-c { font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; overflow-x: auto;
  color: var(--jp-content-font-color1, inherit) }
.ecuas-c p { margin: 0 0 8px; max-width: 76ch }
.ecuas-c table { border-collapse: collapse; margin: 0; font-size: 14px; font-variant-numeric: tabular-nums }
.ecuas-c.ecuas-c tr:nth-child(n) { background: none }
.ecuas-c.ecuas-c td, .ecuas-c.ecuas-c th { padding: 3px 14px 3px 0; text-align: right; font-weight: 400;
  vertical-align: middle; white-space: nowrap; border: 0; background: none; color: inherit }
.ecuas-c.ecuas-c td:last-child, .ecuas-c.ecuas-c th:last-child { padding-right: 0 }
.ecuas-c.ecuas-c td.l, .ecuas-c.ecuas-c th.l { text-align: left }
.ecuas-c.ecuas-c .w { white-space: normal; overflow-wrap: anywhere; min-width: 30ch; max-width: 34ch }
.ecuas-c.ecuas-c .w:not(:first-child) { max-width: 62ch }
.ecuas-c .w i { float: left; margin-top: 6px }
.ecuas-c.ecuas-c th { font-size: 12px; opacity: .75; vertical-align: bottom; border-bottom: 1px solid #8888 }
.ecuas-c.ecuas-c .s { opacity: .75 }
.ecuas-c b, .ecuas-c summary { font-weight: 650 }
.ecuas-c.ecuas-c b.m { display: inline-block; width: .9em; text-align: center; font-weight: 400 }
.ecuas-c i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 7px }
.ecuas-c svg { display: block }
.ecuas-c .n, .ecuas-c details { font-size: 12.5px; opacity: .8; margin-top: 8px; max-width: 100ch }
.ecuas-c summary { cursor: pointer; font-weight: 400 }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is shown of a result, as HTML but for what `page` says.

    Attributes
    ----------
    sentences : sequence of str
        Above the table.
    header : sequence of str
        The names of the columns.
    rows : sequence of sequences of str
        Cells, of which the first is a name.
    left : collection of int
        The columns that are aligned to the left, beside the first.
    last : tuple of str
        A cell across all columns but the last, and one below that.
    below : sequence of str
        Remarks in small print.
    folded : mapping of str to sequence of str
        Further remarks by what they are about, which a click shows.
    """

    sentences: Sequence[str] = ()
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    left: Sequence[int] = ()
    last: Sequence[str] = ()
    below: Sequence[str] = ()
    folded: Mapping[str, Sequence[str]] = field(default_factory=dict)


def page(view: View) -> str:
    """Return a view as one element of HTML, with its style."""
    parts = [f"<p>{sentence}</p>" for sentence in view.sentences]
    if view.rows:
        parts.append(_table(view))
    if view.below:
        parts.append(f'<p class="n">{" &nbsp; ".join(view.below)}</p>')
    for what, lines in view.folded.items():
        if lines:
            items = "".join(f"<p>{line}</p>" for line in lines)
            parts.append(f"<details><summary>{what}</summary>{items}</details>")
    body = "\n".join(parts)
    return f'<div class="ecuas-c {NO_FORMULAS}">\n<style>{STYLE}</style>\n{body}\n</div>'


def _table(view: View) -> str:
    left = {0, *view.left}
    lines = [_line(row, "td", left) for row in view.rows]
    if view.last:
        label, cell = view.last
        columns = len(view.header) - 1
        lines.append(
            f'<tr><td class="s" colspan="{columns}">{label}</td><td class="l">{cell}</td></tr>'
        )
    body = "\n".join(lines)
    return f"<table><thead>{_line(view.header, 'th', left)}</thead>\n<tbody>{body}</tbody></table>"


def _line(cells: Iterable[str], tag: str, left: Collection[int]) -> str:
    """Return a row of a table; texts that are long may be broken."""
    row = []
    for i, cell in enumerate(cells):
        classes = ["l"] if i in left else []
        if i in left and tag == "td" and len(TAG.sub("", cell)) > IN_ONE_LINE:
            classes.append("w")
        names = f' class="{" ".join(classes)}"' if classes else ""
        row.append(f"<{tag}{names}>{cell}</{tag}>")
    return f"<tr>{''.join(row)}</tr>"


def text(plain: str) -> str:
    """Return text as HTML: what it holds is no markup, and n of ECUAS_n a subscript."""
    safe = escape(one_line(plain))
    return SUBSCRIPT.sub(r"\1<sub>\2</sub>", safe)


def name(plain: str, color: str = "") -> str:
    """Return the name of a system as HTML, as it is, behind the colour of its lines."""
    mark = f'<i style="background:{color}"></i>' if color else ""
    return mark + escape(one_line(plain))


def colors(names: Collection[str], first: Iterable[str] = ()) -> dict[str, str]:
    """Return the colour of the lines of each system; of more than there are colours, the `first` have one."""
    ordered = dict.fromkeys([*first, *names]) if len(names) > len(INKS) else names
    return {one: INKS[i] if i < len(INKS) else REST for i, one in enumerate(ordered)}


def view_of_grid(grid: Grid, *, sentences: Sequence[str] = (), left: Sequence[int] = ()) -> View:
    """Return a grid as a view; what is best is bold."""
    rows = []
    for row in grid.rows:
        cells = [f"<b>{text(cell.text)}</b>" if cell.is_best else text(cell.text) for cell in row]
        rows.append([name(row[0].text), *cells[1:]])
    best = [text(COMMANDS_NAMED.sub("", f"{IN_BOLD} {grid.best}"))] if grid.marks_best else []
    return View(
        sentences=[*map(text, grid.above), *sentences],
        header=list(map(text, grid.header)),
        rows=rows,
        left=left,
        below=[*best, *map(text, grid.notes)],
        folded={"what the columns mean": list(map(text, grid.legend))},
    )


# ---- curves ---------------------------------------------------------------------------------------------------------


def curve(x: Floats, y: Floats, *, end: float, top: float, color: str, label: str) -> str:
    """Return costs (M,) at reject costs (M,) as a curve, up to `top` and `end`; dashed: rejecting everything."""
    points = zip(_across(x, end), _upward(y, top), strict=True)
    line = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    reach = min(end, top)
    reject = (*_across([0.0, reach], end), *_upward([0.0, reach], top))
    x1, x2, y1, y2 = (f"{place:.1f}" for place in reject)
    base = HEIGHT - 0.5
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(label)}">'
        f'<line x1="{MARGIN}" y1="{base}" x2="{WIDTH - MARGIN}" y2="{base}" stroke="currentColor" stroke-opacity=".3"/>'
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" stroke-opacity=".45" '
        'stroke-dasharray="2 2"/>'
        f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.8"/></svg>'
    )


def strip(regions: Iterable[tuple[float, float, str, str]], *, end: float) -> str:
    """Return the reject costs up to `end`: in the colour of who is clearly cheapest, with the name; else grey."""
    bars = []
    for low, high, color, winner in regions:
        left, right = _across([low, high], end)
        width = max(right - left, 2.0)
        where = escape(f"{winner}, from {low:g} to {high:g}")
        bars.append(
            f'<rect x="{left:.1f}" y="2" width="{width:.1f}" height="9" fill="{color}"><title>{where}</title></rect>'
        )
    grey = f'<rect x="{MARGIN}" y="2" width="{WIDTH - 2 * MARGIN}" height="9" fill="#999" fill-opacity=".45"/>'
    return (
        f'<svg width="{WIDTH}" height="13" role="img" aria-label="the reject costs at which one is clearly cheapest">'
        f"{grey}{''.join(bars)}</svg>"
    )


def _across(x: Iterable[float], end: float) -> list[float]:
    return [MARGIN + (WIDTH - 2 * MARGIN) * float(value) / end for value in x]


def _upward(y: Iterable[float], top: float) -> list[float]:
    height = HEIGHT - 3
    return [HEIGHT - 1 - height * float(value) / (top or 1.0) for value in y]

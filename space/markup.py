"""Reports, messages and sentences -> HTML. All text is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from ecuas_metric.metrics import METRICS, Key
from ecuas_metric.reporting.report import Report
from ecuas_metric.reporting.tables import Cell, Grid

from .plots import slots

ASSESSES = {"both": "answers and confidences", "decisions": "answers", "confidences": "confidences only"}
BETTER = {True: "higher is better", False: "lower is better", None: "neither is better"}
VARIANTS = {
    "": "",
    "normalized": " Divided by the value of a system that ignores its input.",
    "recalibrated": " After the best recalibration.",
    "calibration_loss": " What the best recalibration saves.",
}


def folded_table(report: Report, grid: Grid) -> str:
    """Return what the page is about, ECUAS_n of each system with N and signature, and folded below it `report_table`.

    Arguments as there.
    """
    plain = len(grid.header) - len(report.keys)
    first = [plain + i for i, key in enumerate(report.keys) if key.metric == "ecuas"]
    sizes = sorted(set(report.sizes.values()))
    num = f"N = {sizes[0]:,}" if len(sizes) == 1 else f"N = {sizes[0]:,} to {sizes[-1]:,}"
    keys = [report.keys[column - plain] for column in first]
    return (
        f"{_table(report, grid, first, keys)}"
        f'<p class="caption">{num}. Lower is better, ★ is best; the smaller n, the more a confident mistake counts. '
        f'Signature <span class="signature">{escape(report.signature)}</span></p>'
        f'<details class="fold"><summary>All metrics</summary>{report_table(report, grid)}</details>'
    )


def report_table(report: Report, grid: Grid) -> str:
    """Return a report as an HTML table: the best marked, a tooltip per metric, the colour of the plots per system.

    Parameters
    ----------
    report : Report
    grid : Grid
        The same report, laid out.
    """
    plain = len(grid.header) - len(report.keys)  # the system, and N where it is shown
    described = [(title, describe(key)) for key, title in zip(report.keys, grid.header[plain:], strict=True)]
    notes = "".join(f"<p>{escape(note)}</p>" for note in (*grid.above, *grid.notes))
    glossary = "".join(f"<dt>{escape(title)}</dt><dd>{escape(text)}</dd>" for title, text in described)
    return (
        f"{_table(report, grid, list(range(1, len(grid.header))), report.keys, style='report all')}{notes}"
        f"<details><summary>What each metric measures</summary><dl>{glossary}</dl></details>"
    )


def describe(key: Key) -> str:
    """Return in one line what a number measures, what it assesses, and which direction is better."""
    metric = METRICS[key.metric]
    assesses = ASSESSES.get(key.assesses, key.assesses)
    return f"{metric.description}. Assesses {assesses}; {BETTER[metric.higher_is_better]}.{VARIANTS[key.variant]}"


def message(text: str, *, kind: str = "note") -> str:
    """Return a box of text; nothing for no text. Kinds: error, note."""
    role = "alert" if kind == "error" else "status"
    return f'<div class="message {kind}" role="{role}">{_escaped(text)}</div>' if text else ""


def bullets(sentences: Iterable[str]) -> str:
    """Return sentences as an HTML list."""
    return "<ul class='sentences'>" + "".join(f"<li>{_escaped(text)}</li>" for text in sentences) + "</ul>"


def plain_table(header: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> str:
    """Return texts as an HTML table, which the keyboard can scroll."""
    top = "".join(f'<th scope="col">{escape(title)}</th>' for title in header)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(text)}</td>" for text in rest)}</tr>'
        for first, *rest in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table class="report plain">'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def folded_json(record: Mapping[str, object], title: str) -> str:
    """Return a record as JSON that is shown on demand."""
    text = escape(json.dumps(record, indent=1, ensure_ascii=False))
    return f'<details class="fold record"><summary>{escape(title)}</summary><pre>{text}</pre></details>'


def link(address: str, text: str) -> str:
    """Return a link that opens a window of its own."""
    return f'<a href="{escape(address)}" target="_blank" rel="noopener">{escape(text)}</a>'


def _table(report: Report, grid: Grid, columns: Sequence[int], keys: Sequence[Key], style: str = "report") -> str:
    """Lay out some columns of a report beside the names of its systems; the last of them are the metrics `keys`."""
    tips = ["", *[""] * (len(columns) - len(keys)), *map(describe, keys)]
    header = "".join(_head(grid.header[column], tip) for column, tip in zip((0, *columns), tips, strict=True))
    swatches = slots(report.results)
    body = "".join(
        f"<tr>{_name(row[0].text, swatches[row[0].text])}{''.join(_cell(row[column]) for column in columns)}</tr>"
        for row in grid.rows
    )
    label = "Metrics" if len(columns) == len(grid.header) - 1 else "ECUAS_n"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label} of each system">'
        f'<table class="{style}"><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _head(title: str, tip: str) -> str:
    text = f'<abbr title="{escape(tip)}">{escape(title)}</abbr>' if tip else escape(title)
    return f'<th scope="col">{text}</th>'


def _escaped(text: str) -> str:
    """Escape a text, but mark what is between backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _name(name: str, style: str) -> str:
    text = escape(name)
    shown = text.replace("_", "_<wbr>")  # where a long name may go on in the next line
    return f'<th scope="row"><span class="name" title="{text}"><i class="swatch {style}"></i>{shown}</span></th>'


def _cell(cell: Cell) -> str:
    value, _, limits = cell.text.partition(" ")
    interval = f"<small>{escape(limits)}</small>" if limits else ""
    best = ' class="best"' if cell.is_best else ""
    return f"<td{best}>{value}{' ★' if cell.is_best else ''}{interval}</td>"

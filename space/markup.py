"""Reports, messages and sentences -> HTML. All text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from ecuas_metric.metrics import METRICS, Key
from ecuas_metric.reporting.grids import Cell, Grid
from ecuas_metric.reporting.report import Report

from .plots import slots

ASSESSES = {"both": "answers and confidences", "decisions": "answers", "confidences": "confidences only"}
BETTER = {True: "higher is better", False: "lower is better", None: "neither is better"}
VARIANTS = {
    "": "",
    "normalized": " Divided by the value of a system that ignores its input.",
    "recalibrated": " After the best recalibration.",
    "calibration_loss": " What the best recalibration saves.",
}


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
    header = "".join(f'<th scope="col">{escape(title)}</th>' for title in grid.header[:plain]) + "".join(
        f'<th scope="col"><abbr title="{escape(text)}">{escape(title)}</abbr></th>' for title, text in described
    )
    swatches = slots(report.results)
    body = "".join(
        f"<tr>{_name(row[0].text, swatches[row[0].text])}{''.join(map(_cell, row[1:]))}</tr>" for row in grid.rows
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in (*grid.above, *grid.notes))
    glossary = "".join(f"<dt>{escape(title)}</dt><dd>{escape(text)}</dd>" for title, text in described)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Metrics of each system"><table class="report">'
        f"<thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>{notes}"
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

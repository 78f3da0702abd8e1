"""Tables and the page's options -> systems, their report, and files to download."""

from __future__ import annotations

import json
import math
import re
import threading
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from ecuas_metric.reporting.export import to_json, write
from ecuas_metric.reporting.report import Report, make_report, prepare_tables, report_grid, report_records
from ecuas_metric.reporting.submissions import Table
from ecuas_metric.results import System

LEVEL = 0.95
MAX_NUMBERS = 20
MAX_RESAMPLED = 100_000  # samples of all systems: some seconds of resampling
ENDINGS = ("csv", "md", "tex")
WARNINGS = threading.Lock()  # Python records warnings for the whole process: without it, those of another visitor too


class Scored(NamedTuple):
    """Graded systems, their metrics, and what a reader must know besides."""

    systems: dict[str, System]
    report: Report
    notes: list[str]


def score(tables: list[Table], *, intervals: bool, **options: Any) -> Scored:
    """Score the systems of all tables as the command `ecuas score` does.

    Parameters
    ----------
    tables : list of Table
    intervals : bool
        Add bootstrap intervals, unless there are too many samples; then a note says so.
    options
        As of the metric's `compute`.

    Raises
    ------
    ValueError
        Options out of range, or tables that do not go together.
    """
    num_samples = sum(len(table.references) for table in tables)
    resampled = intervals and num_samples <= MAX_RESAMPLED
    with WARNINGS, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        systems = prepare_tables(tables, confidence_level=LEVEL if resampled else None, **options)
        report = make_report(systems, tables)
    notes = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    if intervals and not resampled:
        notes.append(
            f"No intervals: {num_samples:,} samples are more than {MAX_RESAMPLED:,}. "
            "`ecuas score --interval 0.95` computes them on your machine."
        )
    return Scored(systems, report, list(dict.fromkeys(notes)))


def numbers(text: str, name: str) -> list[float]:
    """Return the numbers of a box, separated by commas or blanks; inf and ∞ are infinity.

    >>> numbers("0, 1 ∞", "n")
    [0.0, 1.0, inf]
    """
    parts = [part for part in re.split(r"[,;\s]+", text.strip()) if part]
    if not 0 < len(parts) <= MAX_NUMBERS:
        raise ValueError(f"{name} takes 1 to {MAX_NUMBERS} numbers, separated by commas; got {len(parts)}.")
    try:
        return [math.inf if part == "∞" else float(part) for part in parts]
    except ValueError:
        raise ValueError(f"{name} takes numbers, separated by commas; got {text.strip()[:60]!r}.") from None


def number(text: str, name: str) -> float | None:
    """Return the number in a box, None where it is empty; infinitely many is None too."""
    if not text.strip():
        return None
    (value, *more) = numbers(text, name)
    if more:
        raise ValueError(f"{name} must be one number; got {text.strip()[:60]!r}.")
    return None if value == math.inf else value


def write_tables(report: Report, folder: Path) -> list[str]:
    """Write a report as `ecuas score --output` does; return the paths, one for each of `ENDINGS`."""
    paths = [folder / f"ecuas.{ending}" for ending in ENDINGS]
    for path in paths:
        write(path, report_grid(report), report_records(report))
    return [str(path) for path in paths]


def as_json(report: Report) -> dict[str, Any]:
    """Return signature, notes and one row a system; what is not a number is None."""
    result: dict[str, Any] = json.loads(to_json(report_records(report), report.signature, report_grid(report).notes))
    return result

"""Submissions and the page's options -> everything that the page shows of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ecuas_metric.errors import InputError
from ecuas_metric.files.submissions import Submission
from ecuas_metric.options import Options, checked_options, is_set
from ecuas_metric.reporting.report import BELOW, Report, make_report, prepare_open, report_grid, report_records
from ecuas_metric.reporting.tables import Grid, Record, to_json, write
from ecuas_metric.reporting.text import explain
from ecuas_metric.results import System

from .deployment import costs_of
from .drawings import figures
from .markup import bullets, folded_table, message
from .uploads import COLUMNS, read_uploads
from .words import LABELS, LABELS_OF_READING, WORDS

LEVEL = 0.95
MAX_NUMBERS = 20
DOWNLOADS = ("csv", "markdown", "latex")  # of `Shown`: paths
READING = ("unjudged", *LABELS_OF_READING)
OPEN = "The plots count answers without correctness as wrong. No best system is named while there are any."
Progress = Callable[[float, str], object]


@dataclass(frozen=True)
class Shown:
    """What the page shows of scored systems, in the order of its components: HTML, paths of files, and values."""

    message: str
    table: str
    explanation: str
    csv: str
    markdown: str
    latex: str
    reject_costs: str
    orders: str
    risk_coverage: str
    reliability: str
    confidences: str
    costs: dict[str, dict[str, list[float]]]
    signature: str
    record: dict[str, object]


class Evaluated(NamedTuple):
    """Systems, every number of theirs, and whether some are bounds, since not all answers are judged."""

    systems: dict[str, System]
    report: Report
    is_open: bool

    @property
    def can_be_ranked(self) -> bool:
        """Whether they answered the same questions, and all are judged."""
        unfair = any(key.metric == "ecuas" for key in self.report.unfair)
        return not (self.is_open or self.report.unlike or unfair)


def page_options(
    *,
    n: str = "",
    num_classes: str = "",
    predictions_are: str = "",
    reject_costs: str = "",
    missing_confidence: str = "",
    normalize: bool = False,
    decompose: bool = False,
    calibration: bool = False,
    intervals: bool = True,
) -> Options:
    """Return the options that the controls of the page ask for; an empty box asks for the default.

    Raises
    ------
    InputError
        If a value is out of its range.
    """
    return checked_options(
        n=numbers(n, LABELS["n"]) or None,
        num_classes=number(num_classes, LABELS["num_classes"]),
        predictions_are=predictions_are or None,
        reject_costs=numbers(reject_costs, LABELS["reject_costs"]) or None,
        missing_confidence=number(missing_confidence, LABELS["missing_confidence"]),
        normalize=normalize,
        decompose=decompose,
        calibration=calibration,
        confidence_level=LEVEL if intervals else None,
    )


def requested(files: Sequence[str], given: Mapping[str, str | bool]) -> tuple[list[Submission], Options]:
    """Read files, and check options, as controls ask for.

    Parameters
    ----------
    files : sequence of str
        Paths.
    given : mapping
        Roles of `uploads.COLUMNS`, `READING` and arguments of `page_options` to what the controls hold.

    Raises
    ------
    InputError
        If an option is out of its range, or a file cannot be read.
    """
    others = {name: value for name, value in given.items() if name not in (*COLUMNS, *READING)}
    options = page_options(**others)  # type: ignore[arg-type]
    columns = {role: str(given[role]) for role in COLUMNS if given.get(role)}
    scale, correct_from = (number(str(given.get(name) or ""), LABELS_OF_READING[name]) for name in READING[1:])
    reading = {
        "unjudged": given.get(READING[0]),
        "scale": 1.0 if scale is None else scale,
        "correct_from": correct_from,
    }
    return read_uploads(files, columns=columns, **reading), options  # type: ignore[arg-type]


def evaluated(submissions: Sequence[Submission], options: Options) -> Evaluated:
    """Evaluate systems as the command `ecuas score` does.

    Raises
    ------
    InputError
        If options are out of range, or submissions do not go together.
    """
    given = {name: getattr(options, name) for name in LABELS if is_set(options, name)}
    systems, unjudged = prepare_open(submissions, **given)
    report = make_report(systems, unjudged=unjudged)
    return Evaluated(systems, report, any(found.rule == "bounds" for found in unjudged.values()))


def score(
    submissions: Sequence[Submission],
    options: Options,
    folder: Path,
    *,
    remarks: Sequence[str] = (),
    progress: Progress = lambda share, stage: None,
) -> Shown:
    """Evaluate systems, and lay out the result.

    Parameters
    ----------
    submissions : sequence of Submission
    options : Options
        Of `page_options`.
    folder : path
        Where the files to download are written.
    remarks : sequence of str
        What the message says besides.
    progress : callable
        Called with the share that is done and what is next.

    Raises
    ------
    InputError
        See `evaluated`.
    """
    progress(0.3, "Scoring")
    found = evaluated(submissions, options)
    grid, records = report_grid(found.report, sizes=True), report_records(found.report)
    progress(0.7, "Comparing")
    sentences = sentences_of(found)
    progress(0.9, "Drawing")
    return Shown(
        message(" ".join([*remarks, *notes(found.report)])),
        folded_table(found.report, grid),
        bullets(sentences),
        *_write_tables(grid, records, folder),
        *figures(found.systems),
        costs_of(found.systems) if found.can_be_ranked else {},
        found.report.signature,
        as_json(grid, records),
    )


def sentences_of(found: Evaluated) -> list[str]:
    """Return what the numbers say, in plain words."""
    return [OPEN] if found.is_open else explain(found.systems)


def notes(report: Report) -> list[str]:
    """Return what a reader must know beside the numbers, in the words of the page; the table has unjudged answers."""
    found: dict[str, dict[str, None]] = {}
    for name, note in report.notes():
        if note.kind not in BELOW:
            found.setdefault(note.render(WORDS), {})[name] = None
    return [f"{', '.join(names)}: {text}" for text, names in found.items()]


def numbers(text: str | None, name: str) -> list[float]:
    """Return the numbers in a box, separated by commas or blanks; inf and ∞ are infinity.

    >>> numbers("0, 1 ∞", "n")
    [0.0, 1.0, inf]
    """
    parts = [part for part in re.split(r"[,;\s]+", text or "") if part]
    if len(parts) > MAX_NUMBERS:
        raise InputError(name, f"must be at most {MAX_NUMBERS} numbers", value=len(parts))
    try:
        return [math.inf if part == "∞" else float(part) for part in parts]
    except ValueError:
        raise InputError(name, "must be numbers, separated by commas", value=(text or "").strip()[:60]) from None


def number(text: str | None, name: str) -> float | None:
    """Return the number in a box, None if it is empty; infinity is None too."""
    found = numbers(text, name)
    if len(found) > 1:
        raise InputError(name, "must be one number", value=(text or "").strip()[:60])
    return None if not found or found[0] == math.inf else found[0]


def as_json(grid: Grid, records: Sequence[Record]) -> dict[str, object]:
    """Return signature, notes and one row per system; what is not a number is None."""
    result: dict[str, object] = json.loads(to_json(records, grid.signature, grid.notes))
    return result


def _write_tables(grid: Grid, records: list[Record], folder: Path) -> tuple[str, str, str]:
    """Write a table as `ecuas score --output` does; return the paths of CSV, Markdown and LaTeX."""
    csv, markdown, latex = (folder / f"ecuas.{suffix}" for suffix in ("csv", "md", "tex"))
    for path in (csv, markdown, latex):
        write(path, grid, records)
    return str(csv), str(markdown), str(latex)

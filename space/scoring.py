"""Files and what is asked of them -> every number of their systems, in JSON, files, tables and sentences."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ecuas_metric.comparison.verdict import HEADLINE
from ecuas_metric.costs import ECUAS_N
from ecuas_metric.errors import InputError
from ecuas_metric.files.recipe import ColumnNames, Reading, describe_recipes, parse_pairs
from ecuas_metric.files.submissions import Submission
from ecuas_metric.files.systems import prepare_submissions
from ecuas_metric.options import LEVEL, checked_options, is_set
from ecuas_metric.reporting import thresholds
from ecuas_metric.reporting.report import (
    Report,
    make_report,
    not_below,
    prepare_open,
    report_grid,
    report_records,
    short_title,
)
from ecuas_metric.reporting.sentences import sentence_by_metric
from ecuas_metric.reporting.tables import Grid, Record, to_json, write
from ecuas_metric.reporting.text import explain
from ecuas_metric.results import System

from .figures import NUM_SLOTS, REST, draw, opening_html, slots
from .markup import html, report_tables
from .uploads import read_uploads
from .verdict import UNDECIDED, Decision, by_importance, decide, sentences
from .words import CONTROLS, PAGE_WORDS

SUFFIXES_OF = {"CSV": "csv", "Markdown": "md", "LaTeX": "tex"}
GAPS = {  # by the control that fills them
    "unlabelled": "that are not known to be right or wrong",
    "missing_confidence": "without a confidence",
}
BOUNDS = (
    "there are answers of {parts}. Their numbers are bounds, and their curves are not drawn. What they count as is "
    "chosen under Options of the tab Compare, {controls}."
)
MAX_NUMBERS = 20  # of a control
MAX_EXPLAINED = 10  # systems
LONGEST = 60  # characters of a value in an error
Json = dict[str, object]
Given = Mapping[str, Any]  # values of `CONTROLS`


def as_json(
    records: Sequence[Record], signature: str, notes: Sequence[str], **fields: object
) -> Json:
    """Return what files of JSON hold: rows, signature, notes and further fields; what is not a number is None."""
    result: Json = json.loads(to_json(records, signature, notes, fields))
    return result


@dataclass(frozen=True)
class Scored:
    """Systems and every number of theirs, and how their files were read."""

    systems: dict[str, System]
    report: Report
    reading: Sequence[str] = ()

    @property
    def unlabelled(self) -> list[str]:
        """The systems of which some answers are unlabelled, so that their numbers are bounds."""
        return [
            name for name, answers in self.report.unlabelled.items() if answers.rule == "bounds"
        ]

    @cached_property
    def decision(self) -> Decision | str:
        """Who is cheapest, or why these systems cannot be compared."""
        if self.unlabelled:
            return f"{UNDECIDED} {self._gaps()}"
        return decide(self.systems)

    @property
    def styles(self) -> dict[str, str]:
        """The class of each system: where there are more than colours, those that matter most have one."""
        names = sorted(self.systems, key=self.unlabelled.__contains__)
        if len(names) > NUM_SLOTS and isinstance(self.decision, Decision):
            names = by_importance(self.decision)
        return slots(names)

    def draw(self, folder: Path) -> Markup:
        """Draw the curves of systems of which every answer is known; of many, of those that have colours."""
        styles = self.styles.items()
        known = [name for name, one in styles if one != REST and name not in self.unlabelled]
        if not known:
            return html("message", text=f"Nothing is drawn: {self._gaps()}")
        figures = draw({name: self.systems[name] for name in known}, folder)
        return html("pictures", figures=figures, names=known)

    def _gaps(self) -> str:
        """Say what is missing, of which systems, what therefore is not shown, and which controls change that."""
        rows = {name: self.report.unlabelled[name] for name in self.unlabelled}
        lacking = {
            "unlabelled": [name for name, one in rows.items() if one.rows.any()],
            "missing_confidence": [name for name, one in rows.items() if one.missing is not None],
        }
        found = {control: names for control, names in lacking.items() if names}
        parts = [f"{' and '.join(names)} {GAPS[control]}" for control, names in found.items()]
        labels = [f"“{CONTROLS[control].label}”" for control in found]
        return BOUNDS.format(parts=", and answers of ".join(parts), controls=" and ".join(labels))

    def sentences_alone(self) -> list[str]:
        """Return the sentences about each system alone."""
        if self.unlabelled or len(self.systems) > MAX_EXPLAINED:
            return []
        return [
            sentence
            for name, system in self.systems.items()
            for sentence in explain({name: system})
        ]

    def notes(self) -> list[str]:
        """Return the notes beside the numbers; the table has answers without correctness."""
        names: dict[str, list[str]] = {}
        for name, note in not_below(self.report.notes()):
            names.setdefault(note.render(PAGE_WORDS), []).append(name)
        return [f"{', '.join(dict.fromkeys(noted))}: {text}" for text, noted in names.items()]

    def json(self, *, explained: bool = False) -> Json:
        """Return one row per system, signature and notes; what is not a number is None."""
        notes = [*self.grid.above, *self.grid.below(), *self.notes()]
        records = report_records(self.report)
        result = as_json(records, self.grid.signature, notes, read=self.reading)
        if explained:
            result["in_words"] = [*sentences(self.decision), *self.sentences_alone()]
            if isinstance(self.decision, Decision):
                result["verdict"] = self.decision.verdict.to_json()
        return result

    def opening(self, **parts: object) -> Markup:
        """Lay out who is cheapest, with what `parts.html` needs besides."""
        decision = opening_html(self.decision, self.styles)
        return html("result", **parts, scored=self, decision=decision)

    def averages(self) -> Markup:
        """Lay out one ECUAS_n of each system, that of the verdict's headline if there is one, and who is best by it."""
        keys = self.report.keys
        orders = [key for key in keys if key.entry is ECUAS_N and not key.variant]
        if not orders:
            return Markup()
        key = min(orders, key=HEADLINE.__ne__)
        decision = self.decision
        ranking = decision.verdict.ranking(key) if isinstance(decision, Decision) else None
        column = keys.index(key) - len(keys)
        texts = {row[0].text: row[column].text for row in self.grid.rows}
        names = dict.fromkeys([*(ranking.values if ranking else ()), *texts])
        return html(
            "averages",
            title=short_title(key),
            cells=[(name, texts[name]) for name in names],
            most=NUM_SLOTS,
            slots=self.styles,
            sentence=sentence_by_metric(ranking, scaled=False) if ranking else "",
        )

    def details(self, files: Mapping[str, str]) -> Markup:
        """Lay out every number, what is said of it, and links to files."""
        return html(
            "more",
            files=files,
            scored=self,
            tables=report_tables(self.report, self.grid, self.styles),
            sentences=sentences(self.decision),
        )

    @cached_property
    def grid(self) -> Grid:
        """The table for people."""
        return report_grid(self.report)

    def write(self, folder: Path) -> dict[str, str]:
        """Write the table as `ecuas score --output` does; return the paths of CSV, Markdown and LaTeX."""
        paths = {name: folder / f"ecuas.{suffix}" for name, suffix in SUFFIXES_OF.items()}
        for path in paths.values():
            write(path, self.grid, report_records(self.report), read=self.reading)
        return {name: str(path) for name, path in paths.items()}


def score_files(files: Sequence[str], given: Given) -> Scored:
    """Read and score files as `CONTROLS` ask for."""
    options = options_of(given)
    return score_submissions(_read(files, given), options)


def score_submissions(submissions: Sequence[Submission], options: Json) -> Scored:
    """Evaluate systems as the command `ecuas score` does, and compare their costs."""
    systems, unlabelled = prepare_open(submissions, **options, confidence_level=LEVEL)
    reading = describe_recipes(submission.recipe for submission in submissions)
    return Scored(systems, make_report(systems, unlabelled=unlabelled), reading)


def choose(files: Sequence[str], given: Given, targets: Mapping[str, Any]) -> Json:
    """Choose reject costs as the command `ecuas threshold` does, by a budget or a largest risk."""
    options = options_of(given)
    rule = given.get("unlabelled")
    submissions = _read(files, {**given, "unlabelled": None if rule == "bounds" else rule})
    systems = prepare_submissions(submissions, **options)
    grid, records = thresholds.chosen_costs(systems, **targets, level=LEVEL)
    notes = [*grid.above, *grid.notes]
    return as_json(records, grid.signature, notes, in_words=thresholds.sentences(grid))


def _read(files: Sequence[str], given: Given) -> list[Submission]:
    scale = number(given, "scale")
    reading = Reading(
        given.get("unlabelled") or None,
        correct_from=number(given, "correct_from"),
        scale=1.0 if scale is None else scale,
    )
    return read_uploads(files, reading.with_columns(columns_of(given.get("columns") or "")))


def columns_of(text: str) -> ColumnNames:
    """Return the columns by their roles, or by system and role, of a text such as "confidence=p, system=llm+method"."""
    columns: dict[str, Any] = {}
    unquoted = text.strip().strip("\"'")  # as errors print it for a shell
    for system, role, column in parse_pairs(unquoted, CONTROLS["columns"].label):
        of_system = columns.setdefault(system, {}) if system else columns
        of_system[role] = column
    return columns


def options_of(given: Given) -> Json:
    """Return the options that controls ask for; what is empty or missing asks for the default."""
    asked: dict[str, Any] = {
        "n": numbers(given, "n") or None,
        "reject_costs": numbers(given, "reject_costs") or None,
        "num_classes": number(given, "num_classes"),
        "missing_confidence": number(given, "missing_confidence"),
        "predictions_are": given.get("predictions_are") or None,
    }
    options = checked_options(**asked)
    return {name: getattr(options, name) for name in asked if is_set(options, name)}


def numbers(
    given: Given, name: str, rule: str = "not_listed_numbers", most: int = MAX_NUMBERS
) -> list[float]:
    """Return the numbers of a control, of a text those separated by commas or blanks; inf and ∞ are infinity.

    >>> numbers({"n": "0, 1 ∞"}, "n"), numbers({"n": 5}, "n")
    ([0.0, 1.0, inf], [5.0])
    """
    value = given.get(name)
    text = "" if value is None else str(value)
    parts = re.findall(r"[^][,;\s]+", text.replace("∞", "inf"))
    error = InputError(CONTROLS[name].label, rule, value=shorten(value), most=most)
    if len(parts) > most:
        raise error
    try:
        return list(map(float, parts))
    except ValueError:
        raise error from None


def number(given: Given, name: str) -> float | None:
    """Return the number of a control, None if it is empty."""
    return next(iter(numbers(given, name, "several_numbers", 1)), None)


def shorten(value: object) -> object:
    """Return a value of a visitor as an error shows it: cut if it is long."""
    is_long = isinstance(value, (str, list, dict)) and len(str(value)) > LONGEST
    return f"{str(value)[:LONGEST]}…" if is_long else value

"""Files or submissions, and what the controls of the page or a program ask for -> numbers, words, HTML and JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ecuas_metric.errors import InputError
from ecuas_metric.files.submissions import Submission
from ecuas_metric.inputs import POSTERIOR_FORMS
from ecuas_metric.options import DEFAULTS, OPTIONS, Options, checked_options, is_set
from ecuas_metric.reporting.report import BELOW, Report, make_report, prepare_open, report_grid, report_records
from ecuas_metric.reporting.tables import Grid, Record, to_json, write
from ecuas_metric.reporting.text import explain
from ecuas_metric.results import System

from . import verdict
from .markup import LABELS, LABELS_OF_READING, UNLABELLED, WORDS, bullets, isolated, main_table, message
from .plots import figures, slots
from .uploads import COLUMNS, read_uploads

LEVEL = 0.95
MAX_NUMBERS = 20
MAX_EXPLAINED = 10  # systems
RULES = {  # the treatment of answers without correctness, in words -> the rule
    "show best and worst case": "bounds",
    "count as wrong": "wrong",
    "leave out (makes systems look better)": "drop",
}
OPEN = "The plots count answers without correctness as wrong. No best system is named while there are any."
DEFAULT_N = ", ".join(f"{n:g}" for n in DEFAULTS.n)
Json = dict[str, Any]
Number = float | None


class Control(NamedTuple):
    """An argument of `score`, for programs and on the page: its type, default, label, and what it means."""

    kind: Any
    default: Any
    label: str
    help: str


def _option(name: str, kind: Any, default: Any, more: str = "") -> Control:
    return Control(kind, default, LABELS[name], f"{OPTIONS[name].help}{more}")


CONTROLS = {
    **{role: Control(str, "", role, f"Column: {content}") for role, content in COLUMNS.items()},
    "n": _option("n", str | float | list[float], DEFAULT_N),
    "num_classes": _option("num_classes", Number, None),
    "predictions_are": _option("predictions_are", Literal[POSTERIOR_FORMS], DEFAULTS.predictions_are),
    "reject_costs": _option("reject_costs", str | float | list[float], "", ", e.g. 0.1, 0.3"),
    "missing_confidence": _option("missing_confidence", Number, None),
    "normalize": _option("normalize", bool, False),
    "decompose": _option("decompose", bool, False),
    "calibration": _option("calibration", bool, False),
    "intervals": Control(bool, True, LABELS["confidence_level"], f"{LEVEL:.0%}"),
    "unlabelled": Control(
        Literal[tuple(RULES.values())], "bounds", UNLABELLED, "bounds: best and worst case; wrong; drop: left out"
    ),
    "scale": Control(
        Number, None, LABELS_OF_READING["scale"], "What a confidence of 1 is in the files, e.g. 100 for percentages"
    ),
    "correct_from": Control(
        Number, None, LABELS_OF_READING["correct_from"], "Lowest grade that counts as correct, e.g. 0.5"
    ),
}


@dataclass(frozen=True)
class Scored:
    """Systems, every number of theirs, and whether some are bounds, since not all answers have correctness."""

    systems: dict[str, System]
    report: Report
    is_open: bool

    @cached_property
    def decision(self) -> verdict.Decision:
        """Who is cheapest, if these systems can be compared."""
        not_comparable = any(key.metric == "ecuas" and not key.variant for key in self.report.not_comparable)
        if self.is_open or self.report.differing or not_comparable:
            return verdict.undecided(verdict.NOT_SAID)
        return verdict.decide(self.systems)

    def sentences(self, name: verdict.Namer = str) -> list[str]:
        """Return an interpretation of the numbers: who is cheapest, and what each system's confidences are worth."""
        if self.is_open:
            return [OPEN]
        found = [verdict.summary(self.decision, name), *verdict.sentences(self.decision, name)]
        return found if not self.decision.remark else [self.decision.remark]

    def about_each(self) -> list[str]:
        """Return the sentences about each system alone."""
        systems = {} if self.is_open or len(self.systems) > MAX_EXPLAINED else self.systems
        return [sentence for name, system in systems.items() for sentence in explain({name: system})]

    def notes(self) -> list[str]:
        """Return the notes beside the numbers; the table has answers without correctness."""
        found: dict[str, dict[str, None]] = {}
        for name, note in self.report.notes():
            if note.kind not in BELOW:
                found.setdefault(note.render(WORDS), {})[name] = None
        return [f"{', '.join(names)}: {text}" for text, names in found.items()]

    def json(self, *, explained: bool = False) -> Json:
        """Return one row per system, signature and notes; what is not a number is None."""
        grid, records = self.tables()
        result: Json = as_json(grid, records)
        result["notes"] = [*grid.above, *grid.below(), *self.notes()]
        if explained:
            result["in_words"] = [*self.sentences(), *self.about_each()]
        return result

    def html(self, *, title: str, remarks: Sequence[str] = ()) -> str:
        """Lay out everything but the plots: it is one piece, so that no part is of another result."""
        styles, (grid, _) = slots(self.systems), self.tables()
        words = bullets([] if self.is_open else verdict.sentences(self.decision, isolated))
        more = bullets(map(escape, self.about_each()))
        folded = f'<details class="fold"><summary>About each system</summary>{more}</details>' if more else ""
        notes = message(" ".join([*remarks, *self.notes()])) + message(OPEN if self.is_open else "")
        return (
            f'<h2>{isolated(title)}</h2><a class="jump" href="#yours">Score your own ↓</a>{notes}'
            f"{verdict.as_html(self.decision, styles)}"
            f"<h3>Averaged over all reject costs: ECUAS_n</h3>{main_table(self.report, grid)}{words}{folded}"
        )

    def plots(self) -> str:
        """Draw the curves."""
        return f"<h2>The curves behind the numbers</h2>{figures(self.systems)}"

    def tables(self) -> tuple[Grid, list[Record]]:
        """Return the table for people and that for programs."""
        return report_grid(self.report, sizes=True), report_records(self.report)

    def write(self, folder: Path) -> list[str]:
        """Write the table as `ecuas score --output` does; return the paths of CSV, Markdown and LaTeX."""
        paths = [folder / f"ecuas.{suffix}" for suffix in ("csv", "md", "tex")]
        for path in paths:
            write(path, *self.tables())
        return list(map(str, paths))


def score_files(files: Sequence[str], given: Mapping[str, Any]) -> Scored:
    """Read and score files as `CONTROLS` ask for."""
    options = options_of(given)
    columns = {role: given[role] for role in COLUMNS if given.get(role)}
    scale, correct_from = (number(given.get(name), LABELS_OF_READING[name]) for name in ("scale", "correct_from"))
    submissions = read_uploads(
        files,
        columns=columns,
        unlabelled=given.get("unlabelled"),
        scale=1.0 if scale is None else scale,
        correct_from=correct_from,
    )
    return score_submissions(submissions, options)


def score_submissions(submissions: Sequence[Submission], options: Options) -> Scored:
    """Evaluate systems as the command `ecuas score` does, and compare their costs."""
    given = {name: getattr(options, name) for name in LABELS if is_set(options, name)}
    systems, unlabelled = prepare_open(submissions, **given)
    report = make_report(systems, unlabelled=unlabelled)
    return Scored(systems, report, any(found.rule == "bounds" for found in unlabelled.values()))


def options_of(given: Mapping[str, Any]) -> Options:
    """Return the options that controls ask for; what is empty or missing asks for the default."""
    return checked_options(
        n=numbers(given.get("n"), LABELS["n"]) or None,
        num_classes=number(given.get("num_classes"), LABELS["num_classes"]),
        predictions_are=given.get("predictions_are") or None,
        reject_costs=numbers(given.get("reject_costs"), LABELS["reject_costs"]) or None,
        missing_confidence=number(given.get("missing_confidence"), LABELS["missing_confidence"]),
        normalize=bool(given.get("normalize")),
        decompose=bool(given.get("decompose")),
        calibration=bool(given.get("calibration")),
        confidence_level=LEVEL if given.get("intervals", True) else None,
    )


def numbers(given: str | float | Sequence[float] | None, name: str) -> list[float]:
    """Return numbers, of a text those separated by commas or blanks; inf and ∞ are infinity.

    >>> numbers("0, 1 ∞", "n"), numbers(5, "n")
    ([0.0, 1.0, inf], [5.0])
    """
    parts: Sequence[str | float]
    if isinstance(given, str):
        parts = [part for part in re.split(r"[,;\s]+", given) if part]
    else:
        parts = [] if given is None else [given] if isinstance(given, (int, float)) else given
    if len(parts) > MAX_NUMBERS:
        raise InputError(name, f"must be at most {MAX_NUMBERS} numbers", value=len(parts))
    try:
        return [math.inf if part == "∞" else float(part) for part in parts]
    except (ValueError, TypeError):
        raise InputError(name, "must be numbers, separated by commas", value=str(given).strip()[:60]) from None


def number(given: str | float | None, name: str) -> float | None:
    """Return a number, None if a text is empty; infinity is None too."""
    found = numbers(given, name)
    if len(found) > 1:
        raise InputError(name, "must be one number", value=str(given).strip()[:60])
    return None if not found or found[0] == math.inf else found[0]


def as_json(grid: Grid, records: Sequence[Record]) -> Json:
    """Return signature, notes and one row per system; what is not a number is None."""
    result: Json = json.loads(to_json(records, grid.signature, grid.below()))
    return result

"""The command `ecuas`: score files of confidences or posteriors, and compare the systems in them."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import Advice, InputError
from ..inputs import POSTERIOR_FORMS
from ..metrics import Key
from ..options import DEFAULTS, INTERVAL_METHODS, OPTIONS
from ..results import signature_of
from ..signature import VERSION
from .comparison import compare_systems
from .explanation import explain
from .export import check_suffix, write
from .files import FileAdvice, FileError
from .grids import Grid, Record, to_text
from .report import (
    comparison_grid,
    comparison_records,
    make_report,
    prepare_submissions,
    report_grid,
    report_records,
    write_figures,
)
from .submissions import NAMES, Submission, read_submissions

FLAGS = {  # an option of the metric -> its flag
    "n": "--n",
    "num_classes": "--num-classes",
    "predictions_are": "--predictions-are",
    "reject_costs": "--reject-costs",
    "normalize": "--normalize",
    "decompose": "--decompose",
    "missing_confidence": "--missing-confidence",
    "n_bins": "--bins",
    "n_resamples": "--resamples",
    "interval_method": "--interval-method",
    "random_state": "--seed",
}
WORDS = {  # arguments and advice of the metric -> the command's own words
    **FLAGS,
    "confidence_level": "the level of intervals",
    "columns": "--columns",
    Advice.MISSING_CONFIDENCES: "Missing confidences? --missing-confidence says what they count as.",
    Advice.PREDICTIONS_ARE: "Logits or log-probabilities? Say so with --predictions-are.",
    Advice.LOGITS: "Logits? --predictions-are logits takes rows of any sum.",
    Advice.EXPONENTIALS: "Logits? These are the exponentials: --predictions-are logits takes rows of any sum.",
    Advice.CLASS_LABELS: "Class labels? Then the predictions must be posteriors, one column per class.",
    Advice.CONFIDENCES: "Confidences? Name their column with --columns confidence=NAME.",
    Advice.WRONG_COST: "The uncertainties do not fit this cost, or --num-classes is too small.",
    FileAdvice.DROP_UNJUDGED: "Leave such answers out with --drop-unjudged.",
    FileAdvice.NAME_COLUMNS: "Name them with --columns, e.g. confidence=NAME,correct=NAME.",
    FileAdvice.SAY_WHICH: "Say which with --columns ROLE=NAME.",
}
FILES = """\
A file holds one system, named after it, or several if it has a column `system` (or `model`). Its columns are found by
their names: confidence and correct (0 or 1) for a system with confidences; label (from 0) and prob_0, prob_1, .. (or
one column of lists, `posteriors`) for a classifier; id, if there is one, pairs the samples of different systems.
"""
SCORE_EXAMPLES = """\
examples
  ecuas score gpt.csv llama.jsonl
      one row per system, one column per metric, the best of each column marked
  ecuas score runs.parquet --columns confidence=p_true,correct=grade,system=llm+method --interval 0.95
      columns of other names, one system for each LLM and method, bootstrap intervals
  ecuas score logits.csv --predictions-are logits --normalize --output table.tex --output table.csv --figures plots
      a classifier's logits, also relative to a system that ignores its input; written for a paper, with figures
"""
COMPARE_EXAMPLES = """\
examples
  ecuas compare gpt.csv llama.jsonl
      every metric's difference with its 95 % interval and p-values
  ecuas compare runs.csv --groups document --metrics ecuas_0,error_rate
      several questions of a document are resampled together; two metrics only
"""


def parser() -> argparse.ArgumentParser:
    """Make the command line."""
    command = argparse.ArgumentParser(
        prog="ecuas",
        description="Evaluate systems that answer and say how sure they are: ECUAS_n and the usual metrics.",
        epilog="`ecuas score --help` and `ecuas compare --help` show examples.",
    )
    command.add_argument("--version", action="version", version=f"ecuas {VERSION}")
    parts = command.add_subparsers(dest="command", required=True, metavar="COMMAND")
    raw = argparse.RawDescriptionHelpFormatter
    score = parts.add_parser(
        "score", help="one table of all systems", description=FILES, epilog=SCORE_EXAMPLES, formatter_class=raw
    )
    compare = parts.add_parser(
        "compare", help="the differences of all pairs", description=FILES, epilog=COMPARE_EXAMPLES, formatter_class=raw
    )
    for part in (score, compare):
        _add_common(part)
    help_ = "bootstrap intervals at this level, e.g. 0.95"
    score.add_argument("--interval", dest="confidence_level", type=float, metavar="LEVEL", help=help_)
    score.add_argument("--figures", metavar="DIR", help="draw risk-coverage, cost, reliability and ECUAS_n curves")
    score.add_argument("--explain", action="store_true", help="say below the table what it means, in plain words")
    help_ = "level of the intervals (default 0.95)"
    compare.add_argument("--level", dest="confidence_level", type=float, metavar="LEVEL", default=0.95, help=help_)
    return command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 2 and one line on stderr where the input cannot be used."""
    arguments = parser().parse_args(argv)
    run = {"score": _score, "compare": _compare}[arguments.command]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no arrows shows question marks
    try:
        notes = run(arguments)
    except InputError as error:
        return _fail(error.render(WORDS))
    except (ValueError, TypeError, ImportError, OSError) as error:
        return _fail(str(error))
    for note in dict.fromkeys(notes):
        print(f"note: {note}", file=sys.stderr)
    return 0


def _score(arguments: argparse.Namespace) -> list[str]:
    systems = prepare_submissions(_read(arguments), **_options(arguments))
    report = make_report(systems, progress=True)
    keys = _chosen(arguments, report.keys)
    _emit(arguments, report_grid(report, digits=arguments.digits, keys=keys), report_records(report, keys=keys))
    if arguments.explain:
        print("", *(f"- {sentence}" for sentence in explain(systems)), sep="\n")
    if arguments.figures:
        for path in write_figures(systems, arguments.figures):
            print(path)
    return [f"{name}: {note.render(WORDS)}" for name, note in report.notes() if note.kind != "unjudged"]


def _compare(arguments: argparse.Namespace) -> list[str]:
    systems = prepare_submissions(_read(arguments), **_options(arguments))
    rows = compare_systems(systems, progress=True)
    keys = _chosen(arguments, list(dict.fromkeys(row.key for row in rows)))
    rows = [row for row in rows if row.key in keys]
    first = next(iter(systems.values()))
    notes = [] if first.ids is not None else ["There is no column of ids: samples are paired by their rows."]
    grid = comparison_grid(
        rows, signature_of(first), level=arguments.confidence_level, digits=arguments.digits, notes=notes
    )
    _emit(arguments, grid, comparison_records(rows))
    return [
        f"{name}: {note.render(WORDS)}"
        for name, system in systems.items()
        for note in system.notes
        if note.kind != "unjudged"
    ]


def _add_common(part: argparse.ArgumentParser) -> None:
    add = part.add_argument
    add("files", nargs="+", metavar="FILE", help="CSV (commas, semicolons, tabs), JSON lines, JSON or Parquet")
    add("--columns", default="", metavar="ROLE=COLUMN,..", help=f"what is in which column; roles: {', '.join(NAMES)}")
    _add_option(part, "n", default="0,1,128", metavar="N,..")
    _add_option(part, "num_classes", type=float, metavar="K")
    _add_option(part, "predictions_are", choices=POSTERIOR_FORMS, default=DEFAULTS.predictions_are)
    _add_option(part, "reject_costs", metavar="COST,..")
    _add_option(part, "normalize", action="store_true")
    _add_option(part, "decompose", action="store_true")
    _add_option(part, "missing_confidence", type=float, metavar="Q")
    add("--drop-unjudged", action="store_true", help="leave out answers with an empty column `correct`")
    add("--weight", metavar="COLUMN", help="column of sample weights")
    add("--groups", metavar="COLUMN", help="column of groups that are resampled together")
    _add_option(part, "n_bins", type=int, default=DEFAULTS.n_bins, metavar="BINS")
    _add_option(part, "n_resamples", type=int, default=DEFAULTS.n_resamples, metavar="B")
    _add_option(part, "interval_method", choices=INTERVAL_METHODS, default=DEFAULTS.interval_method)
    _add_option(part, "random_state", type=int, default=DEFAULTS.random_state, metavar="SEED")
    add("--metrics", metavar="KEY,..", help="show these metrics only, e.g. ecuas_0,error_rate")
    add("--digits", type=int, choices=range(16), default=3, metavar="N", help="digits after the point (default 3)")
    add("--output", action="append", default=[], metavar="FILE", help="also write .md, .tex, .csv, .json; repeatable")


def _add_option(part: argparse.ArgumentParser, option: str, **settings: Any) -> None:
    """Add the flag of an option of the metric, with the help of the table of options."""
    default = " (default %(default)s)" if settings.get("default") is not None else ""
    text = OPTIONS[option].help
    part.add_argument(FLAGS[option], dest=option, help=f"{text[0].lower()}{text[1:]}{default}", **settings)


def _read(arguments: argparse.Namespace) -> list[Submission]:
    columns = dict(_pair(part) for part in arguments.columns.split(",") if part)
    columns |= {name: value for name, value in (("weight", arguments.weight), ("group", arguments.groups)) if value}
    for path in arguments.output:
        check_suffix(path)
        _refuse_to_overwrite(path, arguments.files)
    submissions = [
        submission
        for path in arguments.files
        for submission in read_submissions(path, columns=columns, drop_unjudged=arguments.drop_unjudged)
    ]
    names = [submission.name for submission in submissions]
    # Files of one name in different folders are told apart by their folders.
    return [
        submission._replace(name=str(Path(submission.source.file).with_suffix("")))
        if names.count(submission.name) > 1 and submission.name == Path(submission.source.file).stem
        else submission
        for submission in submissions
    ]


def _refuse_to_overwrite(path: str, files: Sequence[str]) -> None:
    for file in files:
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file):
            rule = "this file is read, and would be overwritten"
            raise FileError(path, rule, advice="Name another one with --output.")


def _options(arguments: argparse.Namespace) -> dict[str, object]:
    options = {name: getattr(arguments, name) for name in (*FLAGS, "confidence_level")}
    for name in ("n", "reject_costs"):
        options[name] = None if options[name] is None else _numbers(options[name], FLAGS[name])
    return options


def _emit(arguments: argparse.Namespace, grid: Grid, records: list[Record]) -> None:
    print(to_text(grid), end="")
    for path in arguments.output:
        write(path, grid, records)


def _chosen(arguments: argparse.Namespace, keys: list[Key]) -> list[Key]:
    if arguments.metrics is None:
        return keys
    by_name = {str(key): key for key in keys}
    chosen = arguments.metrics.split(",")
    unknown = [name for name in chosen if name not in by_name]
    if unknown:
        raise InputError("--metrics", f"must be among {', '.join(by_name)}", value=unknown[0])
    return [by_name[name] for name in chosen]


def _fail(text: str) -> int:
    print(f"ecuas: {' '.join(text.split())}", file=sys.stderr)
    return 2


def _pair(part: str) -> tuple[str, str]:
    role, equals, column = part.partition("=")
    if not equals:
        raise InputError("--columns", "takes ROLE=COLUMN pairs", value=part)
    return role.strip(), column.strip()


def _numbers(text: str, name: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(name, "takes numbers, separated by commas", value=text) from None


if __name__ == "__main__":
    sys.exit(main())

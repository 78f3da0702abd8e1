"""The command `ecuas`: score files of confidences or posteriors, and compare the systems in them."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..inputs import POSTERIOR_FORMS
from ..signature import VERSION
from .export import check_ending, write
from .grids import Grid, to_text
from .report import (
    compare_tables,
    comparison_grid,
    make_report,
    prepare_tables,
    report_grid,
    report_records,
    write_figures,
)
from .submissions import NAMES, Table, read_tables

FLAGS = {  # an option of the metric -> its flag
    "n_bins": "--bins",
    "n_resamples": "--resamples",
    "random_state": "--seed",
    "confidence_level": "the level of intervals",
    "num_classes": "--num-classes",
    "predictions_are": "--predictions-are",
    "reject_costs": "--reject-costs",
    "missing_confidence": "--missing-confidence",
}
FILES = """\
A file holds one system, named after it, or several if it has a column `system` (or `model`). Its columns are found by
their names: confidence and correct (0 or 1) for a system with confidences; label (from 0) and prob_0, prob_1, .. (or
one column of lists, `posteriors`) for a classifier; id, if there is one, pairs the samples of different systems.
"""
SCORE_EXAMPLES = """\
examples
  ecuas score gpt.csv llama.jsonl
      one row a system, one column a metric, the best of each column marked
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
    score.add_argument("--interval", type=float, metavar="LEVEL", help="bootstrap intervals at this level, as 0.95")
    score.add_argument("--figures", metavar="DIR", help="draw risk-coverage, cost, reliability and ECUAS_n curves")
    compare.add_argument("--level", type=float, default=0.95, help="level of the intervals (default 0.95)")
    return command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 2 and one line on stderr where the input cannot be used."""
    arguments = parser().parse_args(argv)
    run = {"score": _score, "compare": _compare}[arguments.command]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no arrows shows question marks
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            run(arguments)
    except (ValueError, TypeError, ImportError, OSError) as error:
        print(f"ecuas: {_in_flags(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    for message in dict.fromkeys(
        str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)
    ):
        print(f"note: {_in_flags(message)}", file=sys.stderr)
    return 0


def _score(arguments: argparse.Namespace) -> None:
    tables = _read(arguments)
    systems = prepare_tables(tables, **_options(arguments, confidence_level=arguments.interval))
    report = make_report(systems, tables, progress=True)
    keys = _chosen(arguments, report.keys)
    _emit(arguments, report_grid(report, digits=arguments.digits, keys=keys), report_records(report, keys=keys))
    if arguments.figures:
        for path in write_figures(systems, arguments.figures):
            print(path)


def _compare(arguments: argparse.Namespace) -> None:
    tables = _read(arguments)
    systems = prepare_tables(tables, **_options(arguments, confidence_level=arguments.level))
    rows = compare_tables(systems, tables, progress=True)
    keys = _chosen(arguments, list(dict.fromkeys(row.key for row in rows)))
    rows = [row for row in rows if row.key in keys]
    line = next(iter(systems.values())).signature
    notes = [] if tables[0].ids is not None else ["There is no column of ids: samples are paired by their rows."]
    grid = comparison_grid(rows, line, level=arguments.level, digits=arguments.digits, notes=notes)
    _emit(arguments, grid, [row._asdict() for row in rows])


def _add_common(part: argparse.ArgumentParser) -> None:
    add = part.add_argument
    add("files", nargs="+", metavar="FILE", help="CSV (commas, semicolons, tabs), JSON lines, JSON or Parquet")
    add("--columns", default="", metavar="NAME=COLUMN,..", help=f"what is in which column; names: {', '.join(NAMES)}")
    add("--n", default="0,1,128", help="parameter of ECUAS_n, one or several, as 0,1,inf (default 0,1,128)")
    add("--num-classes", type=float, metavar="K", help="number of possible answers (default: infinitely many)")
    add(
        "--predictions-are",
        choices=POSTERIOR_FORMS,
        default="probabilities",
        help="of posteriors (default %(default)s)",
    )
    add("--reject-costs", metavar="COST,..", help="add cost, coverage and risk for users with these reject costs")
    add("--normalize", action="store_true", help="add values relative to a system that ignores its input")
    add("--decompose", action="store_true", help="add what the best recalibration would save")
    add("--missing-confidence", type=float, metavar="Q", help="what an empty confidence counts as (default: an error)")
    add("--drop-unjudged", action="store_true", help="leave out answers with an empty column `correct`")
    add("--weight", metavar="COLUMN", help="column of sample weights")
    add("--groups", metavar="COLUMN", help="column of groups that are resampled together")
    add("--bins", type=int, default=10, help="number of bins of ECE (default 10)")
    add("--resamples", type=int, default=1000, help="number of bootstrap resamples (default 1000)")
    add("--interval-method", choices=("percentile", "bca"), default="percentile", help="(default %(default)s)")
    add("--seed", type=int, default=0, help="seed of the bootstrap (default 0)")
    add("--metrics", metavar="KEY,..", help="show these metrics only, as ecuas_0,error_rate")
    add("--digits", type=int, choices=range(16), default=3, metavar="N", help="digits after the point (default 3)")
    add("--output", action="append", default=[], metavar="FILE", help="also write .md, .tex, .csv, .json; repeatable")


def _read(arguments: argparse.Namespace) -> list[Table]:
    columns = dict(_pair(part) for part in arguments.columns.split(",") if part)
    columns |= {name: value for name, value in (("weight", arguments.weight), ("group", arguments.groups)) if value}
    for path in arguments.output:
        check_ending(path)
        _refuse_to_overwrite(path, arguments.files)
    tables = [
        table
        for path in arguments.files
        for table in read_tables(path, columns=columns, drop_unjudged=arguments.drop_unjudged)
    ]
    names = [table.name for table in tables]
    # Files of one name in different folders are told apart by their folders.
    return [
        table._replace(name=str(Path(table.where.file).with_suffix("")))
        if names.count(table.name) > 1 and table.name == Path(table.where.file).stem
        else table
        for table in tables
    ]


def _refuse_to_overwrite(path: str, files: Sequence[str]) -> None:
    for file in files:
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file):
            raise ValueError(f"{path}: this file is read, and would be overwritten. Name another one with --output.")


def _options(arguments: argparse.Namespace, **others: Any) -> dict[str, Any]:
    return {
        "n": _numbers(arguments.n, "--n"),
        "num_classes": arguments.num_classes,
        "predictions_are": arguments.predictions_are,
        "reject_costs": None if arguments.reject_costs is None else _numbers(arguments.reject_costs, "--reject-costs"),
        "normalize": arguments.normalize,
        "decompose": arguments.decompose,
        "missing_confidence": arguments.missing_confidence,
        "n_bins": arguments.bins,
        "n_resamples": arguments.resamples,
        "random_state": arguments.seed,
        "interval_method": arguments.interval_method,
        **others,
    }


def _emit(arguments: argparse.Namespace, grid: Grid, records: list[dict[str, Any]]) -> None:
    print(to_text(grid), end="")
    for path in arguments.output:
        write(path, grid, records)


def _chosen(arguments: argparse.Namespace, keys: list[str]) -> list[str]:
    if arguments.metrics is None:
        return keys
    chosen = arguments.metrics.split(",")
    unknown = [key for key in chosen if key not in keys]
    if unknown:
        raise ValueError(f"--metrics must be among {', '.join(keys)}; got {unknown[0]!r}.")
    return chosen


def _in_flags(text: str) -> str:
    """Name the command's flags where a message names the options of the metric."""
    for option, flag in FLAGS.items():
        text = re.sub(rf"\b{option}\b", flag, text)
    return text


def _pair(part: str) -> tuple[str, str]:
    name, equals, column = part.partition("=")
    if not equals:
        raise ValueError(f"--columns takes NAME=COLUMN pairs; got {part!r}.")
    return name.strip(), column.strip()


def _numbers(text: str, name: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} takes numbers, separated by commas; got {text!r}.") from None


if __name__ == "__main__":
    sys.exit(main())

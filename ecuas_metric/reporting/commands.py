"""What the command `ecuas` does once its arguments are parsed: files -> systems -> tables, figures and notes."""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..comparison.compare import compare_systems, fields_of, in_common
from ..comparison.planning import plan_of_rates, plan_of_systems
from ..comparison.significance import permutations_needed
from ..errors import FileError, InputError, Note
from ..files.columns import NAMES
from ..files.read import STANDARD_INPUT, distinct_names, stem
from ..files.runs import RunOptions
from ..files.submissions import Submission, read_submissions
from ..metrics import Key, place
from ..options import OPTIONS, PER_SAMPLE
from ..results import System, signature_of, value_keys
from .averages import macro_averages
from .differences import comparison_grid, is_significant, num_tests, plan_grid, sort_rows, write_differences
from .recalibrating import add_recalibrated
from .report import (
    BELOW,
    Report,
    chosen_keys,
    make_report,
    prepare_open,
    prepare_submissions,
    report_grid,
    report_records,
    write_figures,
)
from .tables import Grid, Record, check_suffix, screen_of, to_text, write
from .text import explain, how_to_read, introduction, overview

if TYPE_CHECKING:
    from .out_of_core import Patterns

ROLES = re.compile(rf",(?=\s*(?:[^,=]*:)?\s*(?:{'|'.join(NAMES)})\s*=)")  # the commas that are in no column's name
Notes = list[tuple[str, Note]]  # each of a system, or of none: ""


def run(arguments: argparse.Namespace) -> Notes:
    """Run a command, print and write its results, and return the notes on them."""
    for path in arguments.output:
        check_suffix(path)
    return {"score": _score, "compare": _compare, "plan": _plan, "merge": _merge}[arguments.command](arguments)


def _score(arguments: argparse.Namespace) -> Notes:
    if arguments.out_of_core:
        from .out_of_core import score_out_of_core

        return _emit_table(arguments, *score_out_of_core(arguments, _patterns(arguments)))
    _refuse_without(arguments)
    submissions, options = submissions_of_files(arguments, unlabelled="bounds"), options_of(arguments)
    systems, unlabelled = prepare_open(submissions, **options)
    is_bounded = any(answers.rule == "bounds" for answers in unlabelled.values())
    for name in [name for name in ("explain", "calibrate") if is_bounded and getattr(arguments, name)]:
        rule = "needs a label for every answer, and some have none"
        raise InputError(f"--{name}", rule, advice="label_or_bound")
    if arguments.calibrate is not None:
        systems = add_recalibrated(systems, submissions, method=arguments.calibrate, folds=arguments.folds, **options)
    keys = metrics_of(arguments, systems)
    report = make_report(systems, progress=True, only=keys, unlabelled=unlabelled)
    keys = report.keys if keys is None else keys
    grid = report_grid(report, digits=arguments.digits, keys=keys, sizes=True)
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, report_records(report, keys=keys))
    notes = [*report.notes(), *_averages(arguments, report, submissions, systems, keys)]
    if arguments.explain:
        _bullets(explain(systems, only=keys))
    notes = [(name, note) for name, note in notes if note.kind not in BELOW]
    if arguments.figures and is_bounded:
        fact = "No figures are drawn while answers are unlabelled."
        notes.append(("", Note("undefined", fact, "label_or_bound")))
    elif arguments.figures:
        _say_paths(write_figures(systems, arguments.figures))
    return notes


def _averages(
    arguments: argparse.Namespace,
    report: Report,
    submissions: Sequence[Submission],
    systems: Mapping[str, System],
    keys: Sequence[Key],
) -> Notes:
    """Print the macro-averages over the parts of `--by`, and write them beside the files of the table."""
    averages = macro_averages(report, submissions, systems) if arguments.by else None
    if averages is None:
        return []
    shown = [key for key in keys if key in averages.keys]
    grid = report_grid(averages, digits=arguments.digits, keys=shown, sizes=True)
    above = [f"Macro-averages over {arguments.by}; N counts its values.", *grid.above]
    grid = grid._replace(above=above, legend=(), signature="")  # the legend stands below the table of the parts
    print("", to_text(grid, screen_of(sys.stdout)), sep="\n", end="")
    for path in map(Path, arguments.output):
        grid = grid._replace(signature=averages.signature)
        write(path.with_stem(f"{path.stem}_macro"), grid, report_records(averages, keys=shown))
    return averages.notes()


def _merge(arguments: argparse.Namespace) -> Notes:
    from .out_of_core import merge_files

    return _emit_table(arguments, *merge_files(arguments))


def _emit_table(
    arguments: argparse.Namespace, grid: Grid, records: list[Record], notes: Notes, systems: Mapping[str, System]
) -> Notes:
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, records)
    if arguments.figures:
        _say_paths(write_figures(systems, arguments.figures))
    return notes


def _compare(arguments: argparse.Namespace) -> Notes:
    if arguments.out_of_core:
        from .out_of_core import compare_out_of_core

        return _emit_table(arguments, *compare_out_of_core(arguments, _patterns(arguments)))
    _refuse_without(arguments)
    submissions, options = submissions_of_files(arguments), options_of(arguments)
    parts = list(dict.fromkeys(one.part for one in submissions if one.part))
    if arguments.by is None and len(parts) > 1:  # of runs; a comparison needs the same questions of all systems
        advice = "Choose one with --tasks, or pool them with --by model."
        raise InputError("a comparison", "takes one task of each model", got="; ".join(parts[:9]), advice=advice)
    systems = prepare_submissions(submissions, **options)
    if arguments.calibrate is not None:
        systems = add_recalibrated(systems, submissions, method=arguments.calibrate, folds=arguments.folds, **options)
    keys = metrics_of(arguments, systems)
    compared = compare_systems(systems, progress=True, only=keys)
    rows = compared if keys is not None else sorted(compared, key=lambda row: place(row.key))
    alpha = round(1 - arguments.confidence_level, 12)
    shown = [row for row in sort_rows(rows, order=arguments.sort) if not arguments.only or is_significant(row, alpha)]
    first = next(iter(systems.values()))
    above = introduction(systems, rows, alpha=alpha, digits=arguments.digits, by_position=arguments.by_position)
    lines = (signature_of(one, permutations=permutations_needed(one.options)) for one in systems.values())
    line, tests = " ; ".join(dict.fromkeys(lines)), num_tests(rows)
    grid = comparison_grid(shown, line, options=first.options, tests=tests, digits=arguments.digits, above=above)
    if arguments.only:
        grid = grid._replace(notes=[f"{len(shown)} of {len(rows)} differences are significant and shown.", *grid.notes])
    text = overview(grid, rows, screen_of(sys.stdout), alpha=alpha, full=arguments.full)
    _emit(arguments, text, grid, [fields_of(row) for row in shown])
    if arguments.explain:
        _bullets(how_to_read(first.options, tests=tests, by_row=first.ids is None))
    if arguments.figures:
        _say_paths(write_differences(rows, arguments.figures, alpha=alpha))
    return [(name, note) for name, system in systems.items() for note in system.notes]


def _plan(arguments: argparse.Namespace) -> Notes:
    if (arguments.error_rates is None) == (not arguments.files):
        raise InputError("a plan", "needs two files, or --error-rates")
    levels = {"power": arguments.power, "alpha": arguments.alpha}
    asked = {"samples": arguments.samples, "difference": arguments.difference, **levels}
    model = {name: value for name in ("auroc", "correlation") if (value := getattr(arguments, name)) is not None}
    if arguments.files:
        systems = prepare_submissions(submissions_of_files(arguments), **options_of(arguments))
        for name in model:
            raise InputError(name, "is for plans without files: the files say what it is")
        line = signature_of(next(iter(systems.values())))
        plans = plan_of_systems(systems, only=metrics_of(arguments, systems), **asked)
    else:
        line, rates = "", numbers_of(arguments.error_rates, "error_rates")
        keys = [Key("error_rate"), *(Key("ecuas", n) for n in numbers_of(arguments.n, "n"))]
        plans = [plan_of_rates(key, rates, **model, **asked) for key in chosen_keys(arguments.metrics, keys)]
    is_planned = arguments.difference is not None
    grid = plan_grid(plans, planned=is_planned, digits=arguments.digits, signature=line, **levels)
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, [fields_of(plan) for plan in plans])
    return []


def _emit(arguments: argparse.Namespace, text: str, grid: Grid, records: Sequence[Record]) -> None:
    print(text, end="")
    for path in arguments.output:
        write(path, grid, records)


def _bullets(sentences: Iterable[str]) -> None:
    print("", *screen_of(sys.stdout).wrap(f"- {sentence}" for sentence in sentences), sep="\n")


def _say_paths(paths: Iterable[Path]) -> None:
    for path in paths:
        print(path)


# ---- what the arguments name -------------------------------------------------------------------------------------


def submissions_of_files(arguments: argparse.Namespace, *, unlabelled: str | None = None) -> list[Submission]:
    """Read all files that the arguments name; `unlabelled` is the rule where they give none."""
    files = [parse_file(text) for text in arguments.files]
    for path in filter(os.path.exists, arguments.output):
        if any(os.path.exists(file.path) and os.path.samefile(path, file.path) for file in files):
            rule = "this file is read, and would be overwritten"
            raise FileError(path, rule, advice="Name another one with --output.")
    labels = None if arguments.labels is None else next(csv.reader([arguments.labels], skipinitialspace=True))
    flags = {"weight": arguments.weight, "group": arguments.groups, "part": arguments.by}
    common = {name: value for name, value in flags.items() if value}
    tasks = None if arguments.tasks is None else [task.strip() for task in arguments.tasks.split(",")]
    run = RunOptions(tasks, arguments.filter, arguments.choice_length, partial=arguments.partial)
    values = {name: getattr(arguments, name) for name in ("correct_from", "scale", "predictions_are")}
    values["unlabelled"] = arguments.unlabelled or unlabelled
    submissions, named = [], []
    for file, columns in zip(files, columns_of_files(arguments.columns, files), strict=True):
        found = read_submissions(file.path, columns={**common, **columns}, labels=labels, run=run, **values)
        submissions += [_rename(submission, file, found) for submission in found]
        named += [file.name is not None] * len(found)
    parts = {submission.part for submission in submissions}
    missing = {task for task in tasks or () if not any(f"{part}, ".startswith(f"{task}, ") for part in parts)}
    if missing and arguments.by != "model" and parts != {""}:  # of runs that are not pooled
        raise InputError("--tasks", "names a task that is not there", value=min(missing))
    if arguments.by and len({submission.of for submission in submissions}) == 1:
        submissions = [submission._replace(name=submission.part or submission.of) for submission in submissions]
    paths = [submission.source.file for submission in submissions]
    stems = ["" if is_named else stem(path) for path, is_named in zip(paths, named, strict=True)]
    names = distinct_names([submission.name for submission in submissions], paths, stems)
    for name, path in zip(names, paths, strict=True):
        if names.count(name) > 1:
            raise FileError(path, f"holds a system {name!r} as another file does", advice="Name them: NAME=FILE.")
    if arguments.by_position:
        submissions = [submission._replace(ids=None) for submission in submissions]
    if arguments.common:
        submissions = in_common(submissions)
    return [submission._replace(name=name) for submission, name in zip(submissions, names, strict=True)]


def _patterns(arguments: argparse.Namespace) -> Patterns:
    """Return the files of --out-of-core, their columns, and the options."""
    from .out_of_core import Patterns

    files = [parse_file(text) for text in arguments.files]
    columns, *others = columns_of_files(arguments.columns, files)
    if any(of_file != columns for of_file in others):
        raise InputError("--columns", "must be the same for all files with --out-of-core")
    patterns = [file.path if file.name is None else (file.name, file.path) for file in files]
    return Patterns(patterns, columns, options_of(arguments))


def _refuse_without(arguments: argparse.Namespace) -> None:
    """Raise InputError if flags are given that mean something with --out-of-core only."""
    if getattr(arguments, "state", None):
        raise InputError("--state", "requires --out-of-core")
    if getattr(arguments, "engine", "local") != "local":
        raise InputError("--engine", "requires --out-of-core")


def _rename(submission: Submission, file: FileArgument, found: Sequence[Submission]) -> Submission:
    """Return a system of a file, one of those found in it, by the name that was given to the file, if one was."""
    if file.name is None:
        return submission
    of = file.name if len({one.of for one in found}) == 1 else f"{file.name} {submission.of}"
    name = f"{of} {submission.part}" if submission.part and len(found) > 1 else of
    return submission._replace(name=name, of=of)


def options_of(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the options of the metric."""
    names = OPTIONS.keys() - set(PER_SAMPLE)
    options = {name: value for name, value in vars(arguments).items() if name in names}
    for name in ("n", "reject_costs"):
        options[name] = None if options[name] is None else numbers_of(options[name], name)
    return options


def metrics_of(arguments: argparse.Namespace, systems: Mapping[str, System]) -> list[Key] | None:
    """Return the requested metrics; None is all."""
    if arguments.metrics is None:
        return None
    return chosen_keys(arguments.metrics, sorted(value_keys(next(iter(systems.values()))), key=place))


def numbers_of(text: str, name: str) -> list[float]:
    """Return numbers separated by commas, the value of the argument `name`."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(name, "takes numbers, separated by commas", value=text) from None


class FileArgument(NamedTuple):
    """A file of the command line, with the name that was given to its system, if one was."""

    name: str | None
    path: str


def parse_file(text: str) -> FileArgument:
    """Return the file of NAME=FILE, or of FILE."""
    name, equals, path = text.partition("=")
    if not equals or not name or "/" in name or "\\" in name or (text != STANDARD_INPUT and Path(text).exists()):
        return FileArgument(None, text)
    return FileArgument(name, path)


def columns_of_files(texts: Iterable[str], files: Sequence[FileArgument]) -> list[dict[str, str]]:
    """Return the columns of each file by role, from texts of ROLE=COLUMN, FILE:ROLE=COLUMN or NAME:ROLE=COLUMN."""
    common: dict[str, str] = {}
    special: list[dict[str, str]] = [{} for _ in files]
    for part in (part for text in texts for part in ROLES.split(text) if part.strip()):
        role, equals, column = part.partition("=")
        if not equals:
            raise InputError("--columns", "takes ROLE=COLUMN pairs", value=part)
        file, colon, role = role.strip().rpartition(":")
        if not colon:
            common[role] = column.strip()
            continue
        meant = [i for i, one in enumerate(files) if file in (one.name, one.path, Path(one.path).name)]
        if not meant:
            raise InputError("--columns", "names a file or system that is not there", value=file)
        for i in meant:
            special[i][role] = column.strip()
    return [common | own for own in special]

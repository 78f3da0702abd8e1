"""What the command `ecuas` does once its arguments are parsed: files -> systems -> tables, figures and notes."""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..comparison.compare import compare_systems
from ..comparison.pairing import in_common
from ..comparison.planning import plan_of_rates, plan_of_systems
from ..comparison.significance import permutations_needed
from ..errors import FileAdvice, FileError, InputError, Note
from ..files.columns import NAMES
from ..files.read import STANDARD_INPUT, stem
from ..files.runs import RunOptions
from ..files.submissions import Submission, Unjudged, read_submissions
from ..metrics import METRICS, Key, place, values_of_calibration
from ..options import DEFAULTS
from ..results import System, all_values, signature_of
from .averages import macro_averages
from .differences import (
    arranged,
    comparison_grid,
    comparison_records,
    num_tests,
    plan_grid,
    plan_records,
    write_differences,
)
from .flags import DEFAULTED, FLAGS, PLANNED, WORDS, refuse_without
from .recalibrating import with_recalibrated
from .report import (
    BELOW,
    Report,
    legend,
    make_report,
    prepare_open,
    prepare_submissions,
    report_grid,
    report_records,
    title,
    write_figures,
)
from .tables import Grid, Record, check_suffix, screen_of, to_text, write
from .text import explain, how_to_read, introduction, overview

PAIRS = re.compile(rf",(?=\s*(?:[^,=]*:)?\s*(?:{'|'.join(NAMES)})\s*=)")  # the commas that are in no column's name


def run(arguments: argparse.Namespace) -> list[str]:
    """Run a command, print and write what it gives, and return what a reader must know beside it."""
    for name in DEFAULTED:
        if getattr(arguments, name, "") is None:
            setattr(arguments, name, getattr(DEFAULTS, name))
    for path in arguments.output:
        check_suffix(path)
    return {"score": _score, "compare": _compare, "plan": _plan, "merge": _merge}[arguments.command](arguments)


def _score(arguments: argparse.Namespace) -> list[str]:
    if arguments.out_of_core:
        from .out_of_core import score_out_of_core

        return _emit_table(arguments, *score_out_of_core(arguments, options_of(arguments)))
    refuse_without(arguments)
    submissions, options = submissions_of_files(arguments, unjudged="bounds"), options_of(arguments)
    systems, unjudged = prepare_open(submissions, **options)
    _refuse_open(arguments, unjudged)
    systems = _recalibrated(arguments, systems, submissions, options)
    keys = metrics_of(arguments, systems)
    report = make_report(systems, progress=True, only=keys, unjudged=unjudged)
    keys = report.keys if keys is None else keys
    grid = report_grid(report, digits=arguments.digits, keys=keys, sizes=True)
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, report_records(report, keys=keys))
    notes = [*report.notes(), *_averages(arguments, report, submissions, systems, keys)]
    if arguments.explain:
        _bullets(explain(systems, only=keys))
    if arguments.figures:
        _say_paths(write_figures(systems, arguments.figures))
    return [f"{name}: {note.render(WORDS)}" for name, note in notes if note.kind not in BELOW]


def _averages(
    arguments: argparse.Namespace,
    report: Report,
    submissions: Sequence[Submission],
    systems: Mapping[str, System],
    keys: Sequence[Key],
) -> list[tuple[str, Note]]:
    """Print the macro-averages over the parts of `--by`, and write them beside the files of the table."""
    averages = macro_averages(report, submissions, systems) if arguments.by else None
    if averages is None:
        return []
    shown = [key for key in keys if key in averages.keys]
    grid = report_grid(averages, digits=arguments.digits, keys=shown, sizes=True)
    above = [f"Macro-averages over {arguments.by}; N counts its values.", *grid.above]
    notes = [note for note in grid.notes if note not in legend(shown)]  # it stands below the table of the parts
    grid = grid._replace(above=above, notes=notes, signature="")
    print("", to_text(grid, screen_of(sys.stdout)), sep="\n", end="")
    for path in map(Path, arguments.output):
        grid = grid._replace(signature=averages.signature)
        write(path.with_stem(f"{path.stem}_macro"), grid, report_records(averages, keys=shown))
    return averages.notes()


def _merge(arguments: argparse.Namespace) -> list[str]:
    from .out_of_core import merge_files

    return _emit_table(arguments, *merge_files(arguments))


def _emit_table(
    arguments: argparse.Namespace,
    grid: Grid,
    records: list[Record],
    notes: list[str],
    systems: Mapping[str, System],
) -> list[str]:
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, records)
    if arguments.figures:
        _say_paths(write_figures(systems, arguments.figures))
    return notes


def _compare(arguments: argparse.Namespace) -> list[str]:
    if arguments.out_of_core:
        from .out_of_core_compare import compare_out_of_core

        return _emit_table(arguments, *compare_out_of_core(arguments, options_of(arguments)))
    refuse_without(arguments)
    submissions, options = submissions_of_files(arguments), options_of(arguments)
    _refuse_several_tasks(submissions, arguments.by)
    systems = _recalibrated(arguments, prepare_submissions(submissions, **options), submissions, options)
    keys = metrics_of(arguments, systems)
    rows = compare_systems(systems, progress=True, only=keys)
    rows = rows if keys is not None else sorted(rows, key=lambda row: place(row.key))
    alpha = round(1 - arguments.confidence_level, 12)
    shown = arranged(rows, order=arguments.sort, significant_at=alpha if arguments.only else None)
    first = next(iter(systems.values()))
    above = introduction(systems, rows, alpha=alpha, digits=arguments.digits, by_position=arguments.by_position)
    grid = comparison_grid(
        shown,
        signature_of(first, swaps=permutations_needed(first.options)),
        options=first.options,
        tests=num_tests(rows),
        digits=arguments.digits,
        above=above,
    )
    if arguments.only:
        grid = grid._replace(notes=[f"{len(shown)} of {len(rows)} differences are significant and shown.", *grid.notes])
    text = overview(grid, rows, screen_of(sys.stdout), alpha=alpha, full=arguments.full)
    _emit(arguments, text, grid, comparison_records(shown))
    if arguments.explain:
        _bullets(how_to_read(first.options, tests=num_tests(rows), by_row=first.ids is None))
    if arguments.figures:
        _say_paths(write_differences(rows, arguments.figures, alpha=alpha))
    return [f"{name}: {note.render(WORDS)}" for name, system in systems.items() for note in system.notes]


def _refuse_several_tasks(submissions: Sequence[Submission], by: str | None) -> None:
    """Raise InputError if there are several tasks of runs: a comparison needs the same questions of all systems."""
    parts = list(dict.fromkeys(one.part for one in submissions if one.part))
    if by is None and len(parts) > 1:
        advice = "Choose one with --tasks, or pool them with --by model."
        raise InputError("a comparison", "takes one task of each model", got="; ".join(parts[:9]), advice=advice)


def _recalibrated(
    arguments: argparse.Namespace,
    systems: dict[str, System],
    submissions: Sequence[Submission],
    options: Mapping[str, object],
) -> dict[str, System]:
    if arguments.calibrate is None:
        return systems
    return with_recalibrated(systems, submissions, method=arguments.calibrate, folds=arguments.folds, **options)


def _refuse_open(arguments: argparse.Namespace, unjudged: Mapping[str, Unjudged]) -> None:
    if not any(found.rule == "bounds" for found in unjudged.values()):
        return
    for name in ("explain", "figures", "calibrate"):
        if getattr(arguments, name):
            rule = "needs a verdict on every answer, and some are unjudged"
            raise InputError(f"--{name}", rule, advice=FileAdvice.UNJUDGED)


def _plan(arguments: argparse.Namespace) -> list[str]:
    asked: dict[str, Any] = {name: value for name in PLANNED if (value := getattr(arguments, name)) is not None}
    rates = asked.pop("error_rates", None)
    if (rates is None) == (not arguments.files):
        raise InputError("a plan", "needs two files, or --error-rates")
    if rates is not None:
        line, names = "", [Key("error_rate"), *(Key("ecuas", n) for n in numbers_of(arguments.n, FLAGS["n"]))]
        error_rates = numbers_of(rates, PLANNED["error_rates"])
        plans = [plan_of_rates(key, error_rates, **asked) for key in chosen_keys(arguments.metrics, names)]
    else:
        systems = prepare_submissions(submissions_of_files(arguments), **options_of(arguments))
        line = signature_of(next(iter(systems.values())))
        _refuse_expectations(asked)
        plans = plan_of_systems(systems, only=metrics_of(arguments, systems), **asked)
    levels = {name: value for name, value in asked.items() if name in ("power", "alpha")}
    grid = plan_grid(plans, planned="difference" in asked, digits=arguments.digits, signature=line, **levels)
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, plan_records(plans))
    return []


def _refuse_expectations(asked: Mapping[str, object]) -> None:
    for name in ("auroc", "correlation"):
        if name in asked:
            raise InputError(name, "is for plans without files: the files say what it is")


def _emit(arguments: argparse.Namespace, text: str, grid: Grid, records: list[Record]) -> None:
    print(text, end="")
    for path in arguments.output:
        write(path, grid, records)


def _bullets(sentences: Iterable[str]) -> None:
    print("", *screen_of(sys.stdout).wrapped(f"- {sentence}" for sentence in sentences), sep="\n")


def _say_paths(paths: Iterable[Path]) -> None:
    for path in paths:
        print(path)


def submissions_of_files(arguments: argparse.Namespace, *, unjudged: str | None = None) -> list[Submission]:
    """Read all files that the arguments name; `unjudged` is the rule where they give none."""
    files = [named_file(text) for text in arguments.files]
    for path in arguments.output:
        _refuse_to_overwrite(path, [file.path for file in files])
    labels = None if arguments.labels is None else next(csv.reader([arguments.labels], skipinitialspace=True))
    flags = {"weight": arguments.weight, "group": arguments.groups, "part": arguments.by}
    common = {name: value for name, value in flags.items() if value}
    tasks = None if arguments.tasks is None else arguments.tasks.split(",")
    run = RunOptions(tasks=tasks, filter=arguments.filter, length=arguments.choice_length)
    submissions, named = [], []
    for file, columns in zip(files, columns_of_files(arguments.columns, files), strict=True):
        given = {**common, **columns}
        told = {
            "correct_from": arguments.correct_from,
            "scale": arguments.scale,
            "unjudged": arguments.unjudged or unjudged,
        }
        found = read_submissions(file.path, columns=given, labels=labels, run=run, **told)
        submissions += [_called(submission, file, found) for submission in found]
        named += [file.name is not None] * len(found)
    if arguments.by and len({submission.of for submission in submissions}) == 1:
        submissions = [submission._replace(name=submission.part or submission.of) for submission in submissions]
    paths = [submission.source.file for submission in submissions]
    stems = ["" if is_named else stem(path) for path, is_named in zip(paths, named, strict=True)]
    names = told_apart([submission.name for submission in submissions], paths, stems)
    refuse_clashes(names, paths)
    if arguments.by_position:
        submissions = [submission._replace(ids=None) for submission in submissions]
    if arguments.common:
        submissions = in_common(submissions)
    return [submission._replace(name=name) for submission, name in zip(submissions, names, strict=True)]


def _called(submission: Submission, file: Named, found: Sequence[Submission]) -> Submission:
    """Return a system of a file that may have been given a name, called by it."""
    if file.name is None:
        return submission
    of = file.name if len({one.of for one in found}) == 1 else f"{file.name} {submission.of}"
    name = f"{of} {submission.part}" if submission.part and len(found) > 1 else of
    return submission._replace(name=name, of=of)


def _refuse_to_overwrite(path: str, files: Sequence[str]) -> None:
    for file in files:
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file):
            rule = "this file is read, and would be overwritten"
            raise FileError(path, rule, advice="Name another one with --output.")


def options_of(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the options of the metric."""
    names = (*FLAGS, "confidence_level", "calibration")  # the last one of `score` alone
    options = {name: value for name, value in vars(arguments).items() if name in names}
    for name in ("n", "reject_costs"):
        options[name] = None if options[name] is None else numbers_of(options[name], FLAGS[name])
    return options


def metrics_of(arguments: argparse.Namespace, systems: Mapping[str, System]) -> list[Key] | None:
    """Return the metrics that were asked for; None is all."""
    if arguments.metrics is None:
        return None
    first = next(iter(systems.values()))
    of_calibration = values_of_calibration(first.decisions, first.options.replace(n_resamples=1))
    return chosen_keys(arguments.metrics, sorted([*all_values(first), *of_calibration], key=place))


def numbers_of(text: str, name: str) -> list[float]:
    """Return numbers separated by commas, the value of the flag `name`."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(name, "takes numbers, separated by commas", value=text) from None


class Named(NamedTuple):
    """A file of the command line, with the name that was given to its system, if one was."""

    name: str | None
    path: str


def named_file(text: str) -> Named:
    """Return the file of NAME=FILE, or of FILE.

    Examples
    --------
    >>> named_file("GPT-4=runs/a.csv"), named_file("runs/a.csv")
    (Named(name='GPT-4', path='runs/a.csv'), Named(name=None, path='runs/a.csv'))
    """
    name, equals, path = text.partition("=")
    if not equals or not name or "/" in name or "\\" in name or (text != STANDARD_INPUT and Path(text).exists()):
        return Named(None, text)
    return Named(name, path)


def columns_of_files(texts: Iterable[str], files: Sequence[Named]) -> list[dict[str, str]]:
    """Return the columns of each file by their roles.

    Parameters
    ----------
    texts : iterable of str
        ROLE=COLUMN, several of them joined by commas; for one file FILE:ROLE=COLUMN or NAME:ROLE=COLUMN.
    files : sequence of Named

    Returns
    -------
    list of dict of str to str

    Examples
    --------
    >>> columns_of_files(["confidence=p(a, b),b.csv:confidence=q"], [Named(None, "a.csv"), Named(None, "b.csv")])
    [{'confidence': 'p(a, b)'}, {'confidence': 'q'}]
    """
    common: dict[str, str] = {}
    special: list[dict[str, str]] = [{} for _ in files]
    for part in (part for text in texts for part in PAIRS.split(text) if part.strip()):
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


def chosen_keys(text: str | None, keys: Sequence[Key]) -> list[Key]:
    """Return the metrics that a text names: by their keys or as tables show them, in any case.

    Parameters
    ----------
    text : str or None
        Names joined by commas, or spaces between those without; None is all.
    keys : sequence of Key

    Returns
    -------
    list of Key

    Raises
    ------
    InputError
        If there is no such metric; it lists them.

    Examples
    --------
    >>> [str(key) for key in chosen_keys("ECUAS_0, er", [Key("error_rate"), Key("ecuas", 0.0)])]
    ['ecuas_0', 'error_rate']
    """
    if text is None:
        return list(keys)
    names = {name: key for key in keys for name in (_simple(title(key)), _simple(METRICS[key.metric].title), str(key))}
    names |= {str(key): key for key in keys}
    names |= {_simple(title(key)): key for key in keys}
    parts = [part.strip() for part in text.split(",") if part.strip()]
    parts = [word for part in parts for word in ([part] if _simple(part) in names else part.split())]
    unknown = [part for part in parts if _simple(part) not in names]
    if unknown or not parts:
        known = ", ".join(str(key) for key in keys)
        raise InputError("--metrics", f"must be among {known}", value=unknown[0] if unknown else text)
    return list(dict.fromkeys(names[_simple(part)] for part in parts))


def refuse_clashes(names: Sequence[str], paths: Sequence[str]) -> None:
    """Raise FileError if two systems have the same name.

    Parameters
    ----------
    names, paths : sequence of str
        Of each system.
    """
    for name, path in zip(names, paths, strict=True):
        if names.count(name) > 1:
            rule = f"holds a system {name!r} as another file does"
            raise FileError(path, rule, advice="Name them: NAME=FILE.")


def told_apart(names: Sequence[str], paths: Sequence[str], stems: Sequence[str]) -> list[str]:
    """Return names that differ where files did: with their folders, or else with their suffixes.

    Examples
    --------
    >>> told_apart(["a", "a", "b"], ["x/a.csv", "y/a.csv", "b.csv"], ["a", "a", "b"])
    ['x/a', 'y/a', 'b']
    >>> told_apart(["a", "a"], ["a.csv", "a.jsonl"], ["a", "a"])
    ['a.csv', 'a.jsonl']
    """
    with_folders = [str(Path(path).with_name(stem)) if stem else path for path, stem in zip(paths, stems, strict=True)]
    told = list(names)
    for longer in (with_folders, paths):
        repeated = {name for name in told if told.count(name) > 1}
        told = [
            longer[i] if name in repeated and names[i] == stems[i] else name  # not one that was given
            for i, name in enumerate(told)
        ]
    return told


def _simple(text: str) -> str:
    return re.sub(r"[\s↑↓†]+", " ", text).strip().lower().replace("∞", "inf")

"""The command `ecuas`: score files of confidences or posteriors, and compare the systems in them."""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..integrations.runs import RunOptions
from ..metrics import Key, place, values_of_calibration
from ..results import System, all_values, signature_of
from .arguments import Named, chosen_keys, columns_of_files, named_file, refuse_clashes, told_apart
from .comparison import compare_systems
from .differences import arranged, comparison_grid, comparison_records, explanation, num_tests, write_differences
from .explanation import explain
from .export import check_suffix, write
from .files import FileAdvice, FileError
from .flags import FLAGS, PLANNED, WORDS, parser, refuse_without
from .grids import Grid, Record, to_text
from .overview import introduction, overview
from .pairing import in_common
from .planning import plan_grid, plan_of_rates, plan_of_systems, plan_records
from .recalibrating import with_recalibrated
from .report import make_report, prepare_open, prepare_submissions, report_grid, report_records, write_figures
from .significance import swaps_needed
from .sources import stem
from .submissions import Submission, read_submissions
from .terminal import screen_of
from .unjudged import Unjudged


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0; or 2, after one line on stderr, where the input cannot be used; or 130 after Ctrl-C.

    Raises
    ------
    SystemExit
        Where the arguments themselves cannot be parsed, and after `--help` and `--version`.
    """
    arguments = parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal has no letters for
    try:
        return _run(arguments)
    except BrokenPipeError:  # who read the output has enough of it, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes at its end
        return 0
    except KeyboardInterrupt:
        print("ecuas: interrupted", file=sys.stderr)
        return 130


def _run(arguments: argparse.Namespace) -> int:
    try:
        run = {"score": _score, "compare": _compare, "plan": _plan, "merge": _merge}[arguments.command]
        notes = run(arguments)
        for note in dict.fromkeys(notes):
            print(f"note: {note}", file=sys.stderr)
        sys.stdout.flush()
    except InputError as error:
        return _fail(error.render(WORDS))
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}." if error.filename and error.strerror else str(error))
    except (ValueError, TypeError, ImportError) as error:
        return _fail(str(error))
    return 0


def _score(arguments: argparse.Namespace) -> list[str]:
    if arguments.out_of_core:
        from ..scale.command import score_out_of_core

        return _emit_table(arguments, *score_out_of_core(arguments, _options(arguments)))
    refuse_without(arguments)
    submissions, options = _read(arguments, unjudged="bounds"), _options(arguments)
    systems, unjudged = prepare_open(submissions, **options)
    _refuse_open(arguments, unjudged)
    systems = _recalibrated(arguments, systems, submissions, options)
    keys = _chosen(arguments, systems)
    report = make_report(systems, progress=True, only=keys, unjudged=unjudged)
    keys = report.keys if keys is None else keys
    grid = report_grid(report, digits=arguments.digits, keys=keys, sizes=True)
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, report_records(report, keys=keys))
    if arguments.explain:
        _bullets(explain(systems))
    if arguments.figures:
        _say_paths(write_figures(systems, arguments.figures))
    return [f"{name}: {note.render(WORDS)}" for name, note in report.notes() if note.kind != "unjudged"]


def _merge(arguments: argparse.Namespace) -> list[str]:
    from ..scale.command import merge_files

    return _emit_table(arguments, *merge_files(arguments))


def _emit_table(arguments: argparse.Namespace, grid: Grid, records: list[Record], notes: list[str]) -> list[str]:
    for path in arguments.output:
        check_suffix(path)
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, records)
    return notes


def _compare(arguments: argparse.Namespace) -> list[str]:
    submissions, options = _read(arguments), _options(arguments)
    systems = _recalibrated(arguments, prepare_submissions(submissions, **options), submissions, options)
    keys = _chosen(arguments, systems)
    rows = compare_systems(systems, progress=True, only=keys)
    rows = rows if keys is not None else sorted(rows, key=lambda row: place(row.key))
    alpha = round(1 - arguments.confidence_level, 12)
    shown = arranged(rows, order=arguments.sort, significant_at=alpha if arguments.only else None)
    first = next(iter(systems.values()))
    above = introduction(systems, rows, alpha=alpha, digits=arguments.digits, by_position=arguments.by_position)
    grid = comparison_grid(
        shown,
        signature_of(first, swaps=swaps_needed(first.options)),
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
        _bullets(explanation(first.options, tests=num_tests(rows), by_row=first.ids is None))
    if arguments.figures:
        _say_paths(write_differences(rows, arguments.figures, alpha=alpha))
    return [f"{name}: {note.render(WORDS)}" for name, system in systems.items() for note in system.notes]


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
        line, names = "", [Key("error_rate"), *(Key("ecuas", n) for n in _numbers(arguments.n, FLAGS["n"]))]
        error_rates = _numbers(rates, PLANNED["error_rates"])
        plans = [plan_of_rates(key, error_rates, **asked) for key in chosen_keys(arguments.metrics, names)]
    else:
        systems = prepare_submissions(_read(arguments), **_options(arguments))
        line = signature_of(next(iter(systems.values())))
        _refuse_expectations(asked)
        plans = plan_of_systems(systems, only=_chosen(arguments, systems), **asked)
    levels = {name: value for name, value in asked.items() if name in ("power", "alpha")}
    grid = plan_grid(plans, planned="difference" in asked, digits=arguments.digits, signature=line, **levels)
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, plan_records(plans))
    return []


def _refuse_expectations(asked: Mapping[str, object]) -> None:
    for name in ("auroc", "correlation"):
        if name in asked:
            raise InputError(name, "is for plans without files: the files say what it is")


def _read(arguments: argparse.Namespace, *, unjudged: str | None = None) -> list[Submission]:
    files = [named_file(text) for text in arguments.files]
    for path in arguments.output:
        check_suffix(path)
        _refuse_to_overwrite(path, [file.path for file in files])
    labels = None if arguments.labels is None else next(csv.reader([arguments.labels], skipinitialspace=True))
    common = {name: value for name, value in (("weight", arguments.weight), ("group", arguments.groups)) if value}
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
        submissions += [submission._replace(name=_called(submission.name, file, found)) for submission in found]
        named += [file.name is not None] * len(found)
    paths = [submission.source.file for submission in submissions]
    stems = ["" if is_named else stem(path) for path, is_named in zip(paths, named, strict=True)]
    names = told_apart([submission.name for submission in submissions], paths, stems)
    refuse_clashes(names, paths)
    if arguments.by_position:
        submissions = [submission._replace(ids=None) for submission in submissions]
    if arguments.common:
        submissions = in_common(submissions)
    return [submission._replace(name=name) for submission, name in zip(submissions, names, strict=True)]


def _called(name: str, file: Named, found: Sequence[Submission]) -> str:
    """Return the name of a system of a file that may have been given one."""
    if file.name is None:
        return name
    return file.name if len(found) == 1 else f"{file.name} {name}"


def _refuse_to_overwrite(path: str, files: Sequence[str]) -> None:
    for file in files:
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file):
            rule = "this file is read, and would be overwritten"
            raise FileError(path, rule, advice="Name another one with --output.")


def _options(arguments: argparse.Namespace) -> dict[str, object]:
    names = (*FLAGS, "confidence_level", "calibration")  # the last one of `score` alone
    options = {name: value for name, value in vars(arguments).items() if name in names}
    for name in ("n", "reject_costs"):
        options[name] = None if options[name] is None else _numbers(options[name], FLAGS[name])
    return options


def _emit(arguments: argparse.Namespace, text: str, grid: Grid, records: list[Record]) -> None:
    print(text, end="")
    for path in arguments.output:
        write(path, grid, records)


def _bullets(sentences: Iterable[str]) -> None:
    print("", *screen_of(sys.stdout).wrapped(f"- {sentence}" for sentence in sentences), sep="\n")


def _say_paths(paths: Iterable[Path]) -> None:
    for path in paths:
        print(path)


def _chosen(arguments: argparse.Namespace, systems: Mapping[str, System]) -> list[Key] | None:
    if arguments.metrics is None:
        return None
    first = next(iter(systems.values()))
    of_calibration = values_of_calibration(first.decisions, first.options.replace(n_resamples=1))
    return chosen_keys(arguments.metrics, sorted([*all_values(first), *of_calibration], key=place))


def _fail(text: str) -> int:
    print(f"ecuas: {' '.join(text.split())}", file=sys.stderr)
    return 2


def _numbers(text: str, name: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(name, "takes numbers, separated by commas", value=text) from None


if __name__ == "__main__":
    sys.exit(main())

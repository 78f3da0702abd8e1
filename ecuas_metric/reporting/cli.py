"""The command `ecuas`: score files of confidences or posteriors, and compare the systems in them."""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
from collections.abc import Mapping, Sequence

from ..errors import InputError
from ..metrics import Key, place, values_of_calibration
from ..results import System, all_values, signature_of
from .arguments import Named, chosen_keys, columns_of_files, named_file, refuse_clashes, told_apart
from .comparison import compare_systems
from .explanation import explain
from .export import check_suffix, write
from .files import FileError
from .flags import FLAGS, WORDS, parser
from .grids import Grid, Record, to_text
from .pairing import in_common
from .report import (
    comparison_grid,
    comparison_records,
    make_report,
    prepare_submissions,
    report_grid,
    report_records,
    write_figures,
)
from .sources import stem
from .submissions import Submission, read_submissions

BY_ROW = "samples are paired by their rows."


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
            stream.reconfigure(errors="replace")  # a terminal that has no arrows shows question marks
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
        notes = {"score": _score, "compare": _compare}[arguments.command](arguments)
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
    systems = prepare_submissions(_read(arguments), **_options(arguments))
    keys = _chosen(arguments, systems)
    report = make_report(systems, progress=True, only=keys)
    keys = report.keys if keys is None else keys
    grid = report_grid(report, digits=arguments.digits, keys=keys, sizes=True)
    _emit(arguments, grid, report_records(report, keys=keys))
    if arguments.explain:
        print("", *(f"- {sentence}" for sentence in explain(systems)), sep="\n")
    if arguments.figures:
        for path in write_figures(systems, arguments.figures):
            print(path)
    return [f"{name}: {note.render(WORDS)}" for name, note in report.notes() if note.kind != "unjudged"]


def _compare(arguments: argparse.Namespace) -> list[str]:
    systems = prepare_submissions(_read(arguments), **_options(arguments))
    keys = _chosen(arguments, systems)
    rows = compare_systems(systems, progress=True, only=keys)
    first = next(iter(systems.values()))
    above = (
        [] if first.ids is not None else [BY_ROW if arguments.by_position else f"There is no column of ids: {BY_ROW}"]
    )
    grid = comparison_grid(
        rows, signature_of(first), level=arguments.confidence_level, digits=arguments.digits, above=above
    )
    _emit(arguments, grid, comparison_records(rows))
    return [
        f"{name}: {note.render(WORDS)}"
        for name, system in systems.items()
        for note in system.notes
        if note.kind != "unjudged"
    ]


def _read(arguments: argparse.Namespace) -> list[Submission]:
    files = [named_file(text) for text in arguments.files]
    for path in arguments.output:
        check_suffix(path)
        _refuse_to_overwrite(path, [file.path for file in files])
    labels = None if arguments.labels is None else next(csv.reader([arguments.labels], skipinitialspace=True))
    common = {name: value for name, value in (("weight", arguments.weight), ("group", arguments.groups)) if value}
    submissions, named = [], []
    for file, columns in zip(files, columns_of_files(arguments.columns, files), strict=True):
        given = {**common, **columns}
        found = read_submissions(file.path, columns=given, drop_unjudged=arguments.drop_unjudged, labels=labels)
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


def _emit(arguments: argparse.Namespace, grid: Grid, records: list[Record]) -> None:
    print(to_text(grid), end="")
    for path in arguments.output:
        write(path, grid, records)


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

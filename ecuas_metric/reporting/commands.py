"""What the command `ecuas` does once its arguments are parsed: files -> systems -> tables, figures and notes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..comparison.compare import compare_systems
from ..comparison.planning import plan_of_rates, plan_of_systems
from ..comparison.significance import permutations_needed
from ..errors import FileAdvice, InputError, Note
from ..files.submissions import Submission, Unlabelled
from ..metrics import Key, place
from ..options import DEFAULTS
from ..results import System, signature_of
from .arguments import chosen_keys, metrics_of, numbers_of, options_of, submissions_of_files
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
    make_report,
    prepare_open,
    prepare_submissions,
    report_grid,
    report_records,
    write_figures,
)
from .tables import Grid, Record, check_suffix, screen_of, to_text, write
from .text import explain, how_to_read, introduction, overview


def run(arguments: argparse.Namespace) -> list[str]:
    """Run a command, print and write its results, and return the notes on them."""
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
    submissions, options = submissions_of_files(arguments, unlabelled="bounds"), options_of(arguments)
    systems, unlabelled = prepare_open(submissions, **options)
    _refuse_open(arguments, unlabelled)
    systems = _recalibrated(arguments, systems, submissions, options)
    keys = metrics_of(arguments, systems)
    report = make_report(systems, progress=True, only=keys, unlabelled=unlabelled)
    keys = report.keys if keys is None else keys
    grid = report_grid(report, digits=arguments.digits, keys=keys, sizes=True)
    _emit(arguments, to_text(grid, screen_of(sys.stdout)), grid, report_records(report, keys=keys))
    notes = [*report.notes(), *_averages(arguments, report, submissions, systems, keys)]
    if arguments.explain:
        _bullets(explain(systems, only=keys))
    remarks = []
    if arguments.figures and _are_bounded(unlabelled):
        remarks = [
            Note("undefined", "No figures are drawn while answers are unlabelled.", FileAdvice.UNLABELLED).render(WORDS)
        ]
    elif arguments.figures:
        _say_paths(write_figures(systems, arguments.figures))
    return [*(f"{name}: {note.render(WORDS)}" for name, note in notes if note.kind not in BELOW), *remarks]


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
    grid = grid._replace(above=above, legend=(), signature="")  # the legend stands below the table of the parts
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
        from .out_of_core import compare_out_of_core

        return _emit_table(arguments, *compare_out_of_core(arguments, options_of(arguments)))
    refuse_without(arguments)
    submissions, options = submissions_of_files(arguments), options_of(arguments)
    _refuse_several_tasks(submissions, arguments.by)
    systems = _recalibrated(arguments, prepare_submissions(submissions, **options), submissions, options)
    keys = metrics_of(arguments, systems)
    compared = compare_systems(systems, progress=True, only=keys)
    rows = compared if keys is not None else sorted(compared, key=lambda row: place(row.key))
    alpha = round(1 - arguments.confidence_level, 12)
    shown = arranged(rows, order=arguments.sort, significant_at=alpha if arguments.only else None)
    first = next(iter(systems.values()))
    above = introduction(systems, rows, alpha=alpha, digits=arguments.digits, by_position=arguments.by_position)
    grid = comparison_grid(
        shown,
        signature_of(first, permutations=permutations_needed(first.options)),
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


def _refuse_open(arguments: argparse.Namespace, unlabelled: Mapping[str, Unlabelled]) -> None:
    for name in ("explain", "calibrate"):
        if getattr(arguments, name) and _are_bounded(unlabelled):
            rule = "needs a label for every answer, and some have none"
            raise InputError(f"--{name}", rule, advice=FileAdvice.UNLABELLED)


def _are_bounded(unlabelled: Mapping[str, Unlabelled]) -> bool:
    return any(found.rule == "bounds" for found in unlabelled.values())


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

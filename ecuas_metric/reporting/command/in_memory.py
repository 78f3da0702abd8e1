"""`ecuas score` in memory: files -> systems -> one table, figures and notes."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Annotated

import numpy as np

from ...errors import InputError, Note, quote_for_shell
from ...metric import Key
from ...options import DEFAULTS, INTERVAL_METHODS
from ...recalibration import FOLDS
from ..report import (
    Notes,
    Report,
    Systems,
    is_bounded,
    make_report,
    not_beaten,
    not_below,
    prepare_open,
    report_grid,
    report_records,
    write_figures,
)
from ..tables import screen_width, wrapped
from .flags import Flag, flag_name
from .parameters import (
    MACRO,
    BinnedOptions,
    By,
    Figures,
    Files,
    Interval,
    PairFlags,
    ReportOutput,
    Seed,
    list_set_options,
    option,
    select_metrics,
)
from .reading import SystemFlags, list_recipes, next_lines, read_files, set_cost

NOTHING_DRAWN = "has no effect without --interval-method percentile, --calibration or --explain: nothing is drawn"


def score_in_memory(
    *,
    files: Files,
    rows: PairFlags,
    by: By = None,
    made: SystemFlags,
    metric: BinnedOptions,
    calibration: Annotated[bool, option("calibration")] = False,
    interval: Interval = None,
    interval_method: Annotated[
        str, option("interval_method", choices=INTERVAL_METHODS, needs=("interval",))
    ] = DEFAULTS.interval_method,
    resamples: Annotated[int, option("n_resamples", "B")] = DEFAULTS.n_resamples,
    seed: Seed = DEFAULTS.random_state,
    output: ReportOutput,
    figures: Figures = None,
    explain: Annotated[bool, Flag("explain the results in plain words below the table")] = False,
) -> Notes:
    """Print the metrics of all systems in one table."""
    draws = {"n_resamples": resamples, "random_state": seed}
    _refuse_draws(draws, [calibration, explain, interval_method != DEFAULTS.interval_method])
    options = metric.options() | draws
    options |= {
        "calibration": calibration,
        "confidence_level": interval,
        "interval_method": interval_method,
    }
    read = read_files(
        files,
        rows,
        part=by,
        metric=metric,
        unlabelled="bounds",
        beside=[made.cost],
    )
    submissions = set_cost(made.cost, read)
    systems, unlabelled = prepare_open(submissions, **options)
    if is_bounded(unlabelled):
        _require_labels({"explain": explain, "calibrate": made.calibrate})
    systems, submissions = made.with_recalibrated(systems, submissions, options)
    asked = select_metrics(
        output.metrics, systems, list_set_options(options, is_binned=figures is not None)
    )
    report = make_report(systems, only=asked, unlabelled=unlabelled)
    keys = report.keys if asked is None else asked
    has_hints = not is_bounded(unlabelled) and "-" not in files
    steps = _next_steps(report, by) if has_hints else ()
    hints = next_lines(files, [rows, metric, made], steps)
    output.show_report(report, keys, hints=hints, recipes=list_recipes(submissions))
    notes = report.notes()
    if by:
        from ..averages import macro_averages

        notes += _show_averages(macro_averages(report, submissions), keys, by, output)
    if explain:
        from ..text import explain as sentences_of

        lines = map("- {}".format, sentences_of(systems, only=asked))
        print("", *wrapped(lines, screen_width(sys.stdout)), sep="\n")
    if figures is not None and is_bounded(unlabelled):
        fact = "No figures are drawn while labels or confidences are unknown."
        notes.append(("", Note(fact, advice="label_or_bound")))
    elif figures is not None:
        print(*write_figures(systems, figures), sep="\n")
    return not_below(notes)


def _next_steps(report: Report, by: str | None) -> Iterator[tuple[str, list[str], str]]:
    """Yield which commands take these same files next, with which flags, and why."""
    systems = report.systems
    are_audited = any(system.audit for system in systems.values())
    gains_by_recalibration = bool(not_beaten(report.results, report.keys))
    if gains_by_recalibration and _can_be_recalibrated(systems):
        yield "score", ["--calibrate affine"], "what recalibration gains"
    if by is None and report.is_ranked:
        are_paired = all(system.ids is not None for system in systems.values())
        how = [] if are_paired else ["--by-position"]
        yield "compare", how, "which differences are more than chance"
    if not are_audited:
        parts = [] if by is None else [f"--by {quote_for_shell(by)}"]
        yield "threshold", [*parts, "--budget 0.2"], "the reject cost that rejects 20%"


def _can_be_recalibrated(systems: Systems) -> bool:
    """Return whether scikit-learn is there, and each fold can have each class of answers that are as they were read."""
    if find_spec("sklearn") is None or any(system.audit for system in systems.values()):
        return False
    for system in systems.values():
        decisions = system.decisions
        classes = decisions.candidate_cost if decisions.labels is None else decisions.labels
        num_classes = system.options.num_classes if decisions.labels is not None else 2
        counts = np.bincount(classes.astype(int), minlength=int(num_classes or 2))
        if system.basis.recalibration or counts.min() < FOLDS:
            return False
    return True


def _refuse_draws(
    options: Mapping[str, object],
    drawing: Iterable[bool],
) -> None:
    """Raise InputError for an option of random draws where nothing that is asked for draws."""
    is_idle = not any(drawing)
    for name, value in options.items():
        if is_idle and value != getattr(DEFAULTS, name):
            raise InputError(name, NOTHING_DRAWN)


def _require_labels(flags: Mapping[str, object]) -> None:
    """Raise InputError for a flag that is set and needs the correctness of all answers."""
    for name, value in flags.items():
        if value:
            rule = "needs a label for every answer, and some have none"
            raise InputError(flag_name(name), rule, advice="label_or_bound")


def _show_averages(
    averages: Report | None, keys: Iterable[Key], by: str, output: ReportOutput
) -> Notes:
    """Print the macro-averages over parts, write them beside the files of the table, and return their notes."""
    if averages is None:
        return []
    chosen = [key for key in keys if key in averages.keys]
    grid = report_grid(averages, digits=output.digits, keys=output.table_keys(chosen))
    above = [f"Macro-averages over {by}; N counts its values.", *grid.above]
    # which stands below the table of the parts
    grid = replace(grid, above=above, legend=(), hints=())
    output.show_below(grid, report_records(averages, keys=chosen), MACRO)
    return averages.notes()

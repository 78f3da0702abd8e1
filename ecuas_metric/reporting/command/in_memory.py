"""`ecuas score` in memory: files -> systems -> one table, figures and notes; and what other commands share with it."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Annotated, Any

import numpy as np

from ...errors import InputError, Note
from ...files.evidence import require_ids
from ...files.submissions import Submission
from ...metric import Key
from ...options import DEFAULTS, INTERVAL_METHODS
from ...recalibration import FOLDS, METHODS
from ...results import System
from ..report import (
    Report,
    is_bounded,
    make_report,
    not_beaten,
    not_below,
    prepare_open,
    prepare_submissions,
    report_grid,
    report_records,
    without_bounds,
    write_figures,
)
from ..text import explain as sentences_of
from ..text import least_costs
from .choice import asked_keys
from .costs import cost_of_all, require_one_order
from .flags import Flag, flag_of
from .parameters import (
    BinnedOptions,
    By,
    CostFlag,
    Figures,
    Files,
    Interval,
    MetricOutput,
    Notes,
    PairFlags,
    ReportOutput,
    Seed,
    option,
    options_set,
    print_bullets,
    print_paths,
)
from .reading import Said, read_files, recipes_of

MACRO = "macro"  # the suffix of the files of averages


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFlags:
    """What systems are made of besides their rows."""

    cost: CostFlag = None
    calibrate: Annotated[
        str | None, Flag("add each system after cross-validated recalibration", choices=METHODS)
    ] = None
    folds: Annotated[int, Flag("number of folds for --calibrate", "K", needs=("calibrate",))] = (
        FOLDS
    )

    def systems(
        self, submissions: Sequence[Submission], options: Mapping[str, object]
    ) -> dict[str, System]:
        """Prepare systems of which all answers are labelled, and recalibrate them if that is asked for."""
        options = {**options, **cost_of_all(self.cost, submissions)}
        systems = prepare_submissions(submissions, **options)
        systems, _ = self.with_recalibrated(systems, submissions, options)
        return systems

    def with_recalibrated(
        self,
        systems: dict[str, System],
        submissions: Sequence[Submission],
        options: Mapping[str, object],
    ) -> tuple[dict[str, System], Sequence[Submission]]:
        """Return the systems, each with its recalibrated version if that is asked for, and what they are of."""
        if self.calibrate is None:
            return systems, submissions
        from ..recalibrating import add_recalibrated

        return add_recalibrated(
            systems, submissions, method=self.calibrate, folds=self.folds, **options
        )


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
    submissions: Sequence[Submission] = read_files(
        files,
        rows,
        part=by,
        metric=metric,
        unlabelled="bounds",
        outputs=[*output.output, *(output.beside(MACRO) if by else [])],
        beside=[made.cost],
    )
    _refuse_pairing(submissions, rows)
    options |= cost_of_all(made.cost, submissions)
    systems, unlabelled = prepare_open(submissions, **options)
    if is_bounded(unlabelled):
        _require_labels({"explain": explain, "calibrate": made.calibrate})
    systems, submissions = made.with_recalibrated(systems, submissions, options)
    asked = metrics_of(output, systems, options_set(options, is_binned=figures is not None))
    report = make_report(systems, progress=sys.stderr.isatty(), only=asked, unlabelled=unlabelled)
    keys = report.keys if asked is None else asked
    said = Said(files, [rows, metric, made])
    hints = _hints(report, systems, said, by) if not is_bounded(unlabelled) else []
    output.show_report(report, keys, hints=hints, recipes=recipes_of(submissions))
    notes = report.notes()
    if by:
        from ..averages import macro_averages

        notes += _show_averages(macro_averages(report, submissions, systems), keys, by, output)
    if explain:
        print_bullets(sentences_of(systems, only=asked))
    if figures is not None and is_bounded(unlabelled):
        notes.append(("", Note("no_figures", advice="label_or_bound")))
    elif figures is not None:
        print_paths(write_figures(systems, figures))
    return not_below(notes)


def _hints(report: Report, systems: Mapping[str, System], said: Said, by: str | None) -> list[str]:
    """Return who costs least, if all are of one task, and what to do next."""
    are_one_task = by is None
    comparable = are_one_task and not report.differing
    least = [least_costs(systems)] if comparable else []
    return [*least, *_next_steps(report, systems, said, are_one_task=are_one_task)]


def _next_steps(
    report: Report, systems: Mapping[str, System], said: Said, *, are_one_task: bool
) -> Iterator[str]:
    """Yield which commands take these same files next."""
    if "-" in said.files:
        return
    if not_beaten(report.results, report.keys) and _can_be_recalibrated(systems):
        yield said.next_step("score", "--calibrate affine", why="what recalibration gains")
    if report.is_ranked and are_one_task:
        are_paired = all(system.ids is not None for system in systems.values())
        how = [] if are_paired else ["--by-position"]
        yield said.next_step("compare", *how, why="which differences are more than chance")
    yield said.next_step("threshold", "--budget 0.2", why="the reject cost that rejects 20%")


def _can_be_recalibrated(systems: Mapping[str, System]) -> bool:
    """Return whether scikit-learn is there, and each fold can have each class of answers that are as they were read."""
    if find_spec("sklearn") is None:
        return False
    for system in systems.values():
        decisions = system.decisions
        classes = decisions.candidate_cost if decisions.labels is None else decisions.labels
        num_classes = system.options.num_classes if decisions.labels is not None else 2
        counts = np.bincount(classes.astype(int), minlength=int(num_classes or 2))
        if system.basis.recalibration or counts.min() < FOLDS:
            return False
    return True


def metrics_of(
    output: MetricOutput, systems: Mapping[str, System], options: Sequence[str]
) -> list[Key] | None:
    """Return the requested metrics, on which options that are set must have an effect; None is all."""
    first = next(iter(systems.values()))
    return asked_keys(output.metrics, first.decisions, first.options, options)


def notes_of(systems: Mapping[str, System]) -> Notes:
    """Return what is noted of systems; of unlabelled answers without bounds, which no difference and no plan has."""
    return [
        (name, without_bounds(note)) for name, system in systems.items() for note in system.notes
    ]


def require_pairs(submissions: Sequence[Submission], rows: PairFlags) -> None:
    """Raise InputError if systems have parts, or if there is nothing to pair them by."""
    _require_one_task(submissions)
    classes = {frozenset(one.recipe.classes or ()) for one in submissions}
    if len(classes) == 1 and submissions[0].recipe.classes:
        require_one_order("a comparison", submissions)
    if len(submissions) == 1:
        _require_systems(submissions[0])
    has_ids = any(one.ids is not None for one in submissions)
    if len(submissions) > 1 and not has_ids and not rows.by_position:
        require_ids(recipes_of(submissions))


def _refuse_pairing(submissions: Sequence[Submission], rows: PairFlags) -> None:
    """Raise InputError about flags that pair samples if there is a single system."""
    if len(submissions) == 1 and (rows.common or rows.by_position):
        raise InputError("--common" if rows.common else "--by-position", "idle_of_one_system")


def _require_one_task(submissions: Iterable[Submission]) -> None:
    """Raise InputError if systems have parts: a comparison needs the same questions of all systems."""
    parts = list(dict.fromkeys(one.part for one in submissions if one.part))
    if len(parts) > 1:
        raise InputError(
            "a comparison", "several_tasks", got="; ".join(parts[:9]), advice="choose_task"
        )


def _require_systems(submission: Submission) -> None:
    """Raise InputError if a column seems to name several systems, of which all rows were taken for one."""
    for note in submission.notes:
        if note.advice == "name_system":
            said: dict[str, Any] = {name: note.fields[name] for name in ("columns", "pairs")}
            raise InputError(
                "a comparison", "needs_two_systems", value=1, advice=note.advice, **said
            )


def _refuse_draws(
    options: Mapping[str, object],
    drawing: Iterable[bool],
) -> None:
    """Raise InputError for an option of random draws where nothing that is asked for draws."""
    is_idle = not any(drawing)
    for name, value in options.items():
        if is_idle and value != getattr(DEFAULTS, name):
            raise InputError(name, "idle_without_draws")


def _require_labels(flags: Mapping[str, object]) -> None:
    """Raise InputError for a flag that is set and needs the correctness of all answers."""
    for name, value in flags.items():
        if value:
            raise InputError(flag_of(name), "needs_all_labels", advice="label_or_bound")


def _show_averages(
    averages: Report | None, keys: Iterable[Key], by: str, output: ReportOutput
) -> Notes:
    """Print the macro-averages over parts, write them beside the files of the table, and return their notes."""
    if averages is None:
        return []
    chosen = [key for key in keys if key in averages.keys]
    grid = report_grid(averages, digits=output.digits, keys=output.columns_of(chosen))
    above = [f"Macro-averages over {by}; N counts its values.", *grid.above]
    # which stands below the table of the parts
    grid = replace(grid, above=above, legend=(), hints=())
    output.show_below(grid, report_records(averages, keys=chosen), MACRO)
    return averages.notes()

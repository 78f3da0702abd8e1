"""What the command `ecuas` does in memory: files -> systems -> tables, figures and notes. Flags are parameters."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated

from ...basis import Basis, signature_of
from ...comparison.compare import (
    Comparison,
    basis_of_comparison,
    compare_systems,
    compare_within,
    fields_of,
)
from ...comparison.planning import CORRELATION, EXPECTED_AUROC, Plan, plan_of_rates, plan_of_systems
from ...errors import InputError, Note
from ...expected_costs import ECUAS_N, ERROR_RATE
from ...files.evidence import require_ids
from ...files.recipe import Recipe, lines_of
from ...files.submissions import MEANING, Submission
from ...metric import Key
from ...metrics import place
from ...options import DEFAULTS, INTERVAL_METHODS, LEVEL, checked_options
from ...results import System, as_given, value_keys
from ..averages import macro_averages
from ..differences import (
    comparison_grid,
    introduction,
    is_significant,
    num_tests,
    overview,
    pairs_by_key,
    plan_grid,
    within_grid,
    write_differences,
)
from ..paper import write_paper
from ..recalibrating import FOLDS, add_recalibrated
from ..report import (
    Report,
    is_bounded,
    make_report,
    not_below,
    prepare_open,
    prepare_submissions,
    report_grid,
    report_records,
    write_figures,
)
from ..tables import Record, screen_of
from ..text import explain as sentences_of
from .choice import chosen_keys, named_keys
from .deciding import CostFlag, cost_of_flag
from .flags import Flag, flag_of
from .parameters import (
    GROUPS,
    BinnedOptions,
    By,
    Calibrate,
    Figures,
    Files,
    Folds,
    GroupColumn,
    Interval,
    MetricOptions,
    Notes,
    NumResamples,
    OrdersN,
    Output,
    PoolTasks,
    ReportOutput,
    RowFlags,
    Seed,
    Target,
    option,
    options_set,
    print_bullets,
    print_paths,
)
from .reading import read_files, recipes_of

# what groups of samples matter for in `score`
_DEPENDENT = ("interval", "calibration", "calibrate", "explain")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFlags:
    """What systems are made of besides their rows."""

    cost: CostFlag = None
    calibrate: Calibrate = None
    folds: Folds = FOLDS

    def options(self, submissions: Sequence[Submission]) -> dict[str, object]:
        """Return the cost, if there is one."""
        return {} if self.cost is None else {"cost": cost_of_flag(self.cost, submissions)[0]}

    def systems(
        self, submissions: Sequence[Submission], options: Mapping[str, object]
    ) -> dict[str, System]:
        """Prepare systems of which all answers are labelled, and recalibrate them if that is asked for."""
        systems = prepare_submissions(submissions, **options)
        return self.with_recalibrated(systems, submissions, options)

    def with_recalibrated(
        self,
        systems: dict[str, System],
        submissions: Sequence[Submission],
        options: Mapping[str, object],
    ) -> dict[str, System]:
        """Return the systems, each with its recalibrated version if that is asked for."""
        if self.calibrate is None:
            return systems
        return add_recalibrated(
            systems, submissions, method=self.calibrate, folds=self.folds, **options
        )


def score_in_memory(
    *,
    files: Files,
    rows: RowFlags,
    groups: Annotated[str | None, Flag(GROUPS, "COLUMN", needs=_DEPENDENT)] = None,
    by: By = None,
    made: SystemFlags,
    metric: BinnedOptions,
    calibration: Annotated[bool, option("calibration")] = False,
    interval: Interval = None,
    interval_method: Annotated[
        str, option("interval_method", choices=INTERVAL_METHODS, needs=("interval",))
    ] = DEFAULTS.interval_method,
    resamples: NumResamples = DEFAULTS.n_resamples,
    seed: Seed = DEFAULTS.random_state,
    output: ReportOutput,
    figures: Figures = None,
    explain: Annotated[bool, Flag("explain the results in plain words below the table")] = False,
) -> Notes:
    """Print the metrics of all systems in one table."""
    output.check()
    draws = {"n_resamples": resamples, "random_state": seed}
    _refuse_draws(draws, [calibration, explain, interval_method != DEFAULTS.interval_method])
    options = metric.options(rows) | draws
    options |= {
        "calibration": calibration,
        "confidence_level": interval,
        "interval_method": interval_method,
    }
    submissions = read_files(
        files,
        rows,
        groups=groups,
        part=by,
        metric=metric,
        unlabelled="bounds",
        outputs=output.output,
    )
    options |= made.options(submissions)
    systems, unlabelled = prepare_open(submissions, **options)
    if is_bounded(unlabelled):
        _require_labels({"explain": explain, "calibrate": made.calibrate})
    systems = made.with_recalibrated(systems, submissions, options)
    asked = _metrics_of(output, systems, options_set(options, is_binned=figures is not None))
    report = make_report(systems, progress=True, only=asked, unlabelled=unlabelled)
    keys = report.keys if asked is None else asked
    output.show_report(report, keys, recipes=recipes_of(submissions))
    notes = report.notes()
    if by:
        notes += _show_averages(macro_averages(report, submissions, systems), keys, by, output)
    if explain:
        print_bullets(sentences_of(systems, only=asked))
    if figures is not None and is_bounded(unlabelled):
        notes.append(("", Note("no_figures", advice="label_or_bound")))
    elif figures is not None:
        print_paths(write_figures(systems, figures))
    return not_below(notes)


def compare_in_memory(
    *,
    files: Files,
    rows: RowFlags,
    groups: GroupColumn = None,
    within: Annotated[
        str | None,
        Flag(
            "also the differences within each value of this column, whose numbers of samples count as fixed; for runs: "
            "task, which pools the tasks of each model",
            "COLUMN",
        ),
    ] = None,
    pool_tasks: PoolTasks = False,
    made: SystemFlags,
    metric: BinnedOptions,
    interval: Annotated[
        float,
        Flag(
            "level of the intervals of differences; p-values up to 1 - LEVEL are significant",
            "LEVEL",
        ),
    ] = LEVEL,
    seed: Seed = DEFAULTS.random_state,
    only: Annotated[
        str | None, Flag("show only significant differences", choices=("significant",))
    ] = None,
    output: Output,
    figures: Annotated[
        str | None, Flag("draw the differences with their intervals, a panel per metric", "DIR")
    ] = None,
) -> Notes:
    """Print the differences between all pairs of systems, with intervals and tests."""
    output.check()
    options = metric.options(rows) | {"confidence_level": interval, "random_state": seed}
    submissions = read_files(
        files,
        rows,
        groups=groups,
        stratum=within,
        pool_tasks=pool_tasks,
        metric=metric,
        outputs=output.output,
    )
    _require_pairs(submissions, rows)
    options |= made.options(submissions)
    systems = made.systems(submissions, options)
    keys = _metrics_of(output, systems, options_set(options))
    compared = compare_systems(systems, only=keys)
    differences = _in_order(compared, keys)
    alpha = round(1 - interval, 12)
    digits = output.digits_of((row.low, row.high) for row in differences)
    above = introduction(
        systems, differences, alpha=alpha, digits=digits, by_position=rows.by_position
    )
    shown = differences
    if only is not None:
        shown = [row for row in differences if is_significant(row, alpha)]
        above.append(f"{len(shown)} of {len(differences)} differences are significant and shown.")
    bases = {name: basis_of_comparison(system) for name, system in systems.items()}
    line = signature_of(bases.values())
    grid = comparison_grid(
        shown, line, level=interval, tests=num_tests(differences), digits=digits, above=above
    )
    text = overview(grid, differences, screen_of(sys.stdout), alpha=alpha)
    output.show(grid, [fields_of(row) for row in shown], text, recipes_of(submissions), bases)
    if within is not None:
        names = _names_of_strata(systems, submissions)
        by_part = {
            names[stratum]: rows for stratum, rows in compare_within(systems, only=keys).items()
        }
        grid = within_grid(by_part, within, line, level=interval, digits=digits)
        output.show_below(grid, _records_within(by_part), "within")
    if figures:
        print_paths(write_differences(differences, figures, alpha=alpha))
    return _notes_of(systems) + list(compared.notes)


def _records_within(by_part: Mapping[str, Iterable[Comparison]]) -> list[Record]:
    """Return the fields of the comparisons within each part."""
    return [{"within": part, **fields_of(row)} for part, rows in by_part.items() for row in rows]


def _names_of_strata(
    systems: Mapping[str, System], submissions: Sequence[Submission]
) -> dict[int, str]:
    """Return what the files call the number of each stratum."""
    first = submissions[0]
    _, options = as_given(systems[first.name])
    numbers = [] if options.strata is None else options.strata.tolist()
    return dict(zip(numbers, map(str, first.per_sample["strata"]), strict=True))


def _in_order(rows: Iterable[Comparison], keys: Sequence[Key] | None) -> list[Comparison]:
    """Return differences metric by metric: as these are asked for, or else in the order of tables."""
    by_key = pairs_by_key(rows)
    order = sorted(by_key, key=place) if keys is None else keys
    return [row for key in order for row in by_key.get(key, [])]


def plan_of_files(
    *,
    files: Files,
    rows: RowFlags,
    groups: GroupColumn = None,
    pool_tasks: PoolTasks = False,
    metric: MetricOptions,
    target: Target,
    output: Output,
) -> Notes:
    """Print how many samples a comparison like that of two systems needs."""
    output.check()
    # which no number of a plan depends on
    options = metric.options(rows) | {"confidence_level": LEVEL}
    submissions = read_files(
        files, rows, groups=groups, pool_tasks=pool_tasks, metric=metric, outputs=output.output
    )
    _require_one_task(submissions)
    systems = prepare_submissions(submissions, **options)
    keys = _metrics_of(output, systems, options_set(options))
    plans = plan_of_systems(systems, only=keys, **asdict(target))
    bases = {name: system.basis for name, system in systems.items()}
    _show_plans(plans, target, output, recipes_of(submissions), bases)
    return _notes_of(systems)


def plan_of_error_rates(
    *,
    error_rates: Annotated[
        tuple[float, ...], Flag("expected error rates of two systems, instead of files", "A,B")
    ] = (),
    correlation: Annotated[
        float, Flag("expected correlation of their costs on the same sample", "R")
    ] = CORRELATION,
    auroc: Annotated[float, Flag("expected AUROC of their confidences", "AUROC")] = EXPECTED_AUROC,
    n: OrdersN = DEFAULTS.n,
    target: Target,
    output: Output,
) -> Notes:
    """Print how many samples a comparison of systems with some error rates needs."""
    output.check()
    keys = [Key(ERROR_RATE.name), *(Key(ECUAS_N.name, order) for order in checked_options(n=n).n)]
    options = [*options_set({"n": n}), *(["auroc"] if auroc != EXPECTED_AUROC else [])]
    chosen = chosen_keys(output.metrics, keys, options)
    plans = [
        plan_of_rates(key, error_rates, correlation=correlation, auroc=auroc, **asdict(target))
        for key in chosen
    ]
    _show_plans(plans, target, output)
    return []


def write_for_paper(
    *,
    files: Files,
    rows: RowFlags,
    groups: GroupColumn = None,
    pool_tasks: PoolTasks = False,
    made: SystemFlags,
    metric: BinnedOptions,
    interval: Annotated[
        float, Flag("level of the intervals; p-values up to 1 - LEVEL are significant", "LEVEL")
    ] = LEVEL,
    output: Annotated[str, Flag("the folder", "DIR")] = "paper",
) -> Notes:
    """Write what a paper needs: table, figures, a paragraph on methods, and all numbers."""
    submissions = read_files(
        files, rows, groups=groups, pool_tasks=pool_tasks, metric=metric, outputs=[]
    )
    _require_pairs(submissions, rows)
    options = metric.options(rows) | {"confidence_level": interval} | made.options(submissions)
    systems = made.systems(submissions, options)
    print(*lines_of(recipes_of(submissions)), sep="\n")
    print_paths(write_paper(systems, output))
    return _notes_of(systems)


def _metrics_of(
    output: Output, systems: Mapping[str, System], options: Sequence[str]
) -> list[Key] | None:
    """Return the requested metrics, on which options that are set must have an effect; None is all."""
    if output.metrics is None:
        return None
    first = next(iter(systems.values()))
    keys = value_keys(first) + named_keys(output.metrics, first.decisions)
    return chosen_keys(output.metrics, sorted(keys, key=place), options)


def _notes_of(systems: Mapping[str, System]) -> Notes:
    """Return what is noted of systems; of unlabelled answers without bounds, which no difference and no plan has."""
    notes = []
    for name, system in systems.items():
        for note in system.notes:
            has_bounds = note.advice == MEANING["wrong"]
            notes.append(
                (name, replace(note, advice="unlabelled_without_bounds") if has_bounds else note)
            )
    return notes


def _refuse_draws(options: Mapping[str, object], drawing: Iterable[bool]) -> None:
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


def _require_pairs(submissions: Sequence[Submission], rows: RowFlags) -> None:
    """Raise InputError if systems have parts, and FileError if there is nothing to pair them by."""
    _require_one_task(submissions)
    has_ids = any(one.ids is not None for one in submissions)
    if len(submissions) > 1 and not has_ids and not rows.by_position:
        require_ids(recipes_of(submissions))


def _require_one_task(submissions: Iterable[Submission]) -> None:
    """Raise InputError if systems have parts: a comparison needs the same questions of all systems."""
    parts = list(dict.fromkeys(one.part for one in submissions if one.part))
    if len(parts) > 1:
        raise InputError(
            "a comparison", "several_tasks", got="; ".join(parts[:9]), advice="choose_task"
        )


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
    grid = replace(grid, above=above, legend=(), hint="")
    output.show_below(grid, report_records(averages, keys=chosen), "macro")
    return averages.notes()


def _show_plans(
    plans: Sequence[Plan],
    target: Target,
    output: Output,
    recipes: Iterable[Recipe | None] = (),
    bases: Mapping[str, Basis] | None = None,
) -> None:
    if not plans:
        raise InputError("--metrics", "nothing_to_plan", got=output.metrics or "none")
    is_planned = target.difference is not None
    levels = {"power": target.power, "alpha": target.alpha}
    line = str(next(iter((bases or {}).values()), ""))
    grid = plan_grid(
        plans, planned=is_planned, digits=output.digits_of(()), signature=line, **levels
    )
    output.show(grid, [fields_of(one) for one in plans], recipes=recipes, bases=bases)

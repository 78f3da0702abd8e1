"""`ecuas compare` and `ecuas report`: systems in memory -> their differences, and what a paper needs."""

import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Annotated

from ...basis import signature_of
from ...comparison.compare import (
    Comparison,
    basis_of_comparison,
    compare_systems,
    compare_within,
    fields_of,
)
from ...costs import ECUAS_N, ERROR_RATE, EXPECTED_COST
from ...files.recipe import lines_of
from ...files.submissions import Submission
from ...metric import Key
from ...metrics import place
from ...options import DEFAULTS, LEVEL
from ...results import compute_results
from ..differences import (
    comparison_grid,
    introduction,
    is_significant,
    num_tests,
    overview,
    pairs_by_key,
    within_grid,
    write_differences,
)
from ..paper import TEXTS, write_paper
from ..report import Notes, Systems, digits_for, not_beaten
from ..tables import screen_width
from ..text import least_costs
from .flags import Flag
from .parameters import (
    FIGURES,
    BinnedOptions,
    Files,
    MetricOutput,
    PairFlags,
    PoolTasks,
    Seed,
    metrics_of,
    options_set,
)
from .reading import Said, SystemFlags, notes_of, read_files, recipes_of, require_pairs

WITHIN = "within"  # the suffix of the files of differences within strata


def compare_in_memory(
    *,
    files: Files,
    rows: PairFlags,
    within: Annotated[
        str | None,
        Flag(
            "also the differences within each value of this column, whose numbers of samples count as fixed; for runs: "
            "task, which pools the tasks of each model",
            "COLUMN",
            beside=WITHIN,
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
    output: MetricOutput,
    figures: Annotated[
        str | None,
        Flag(
            "draw the differences with their intervals, a panel per metric", "DIR", writes=FIGURES
        ),
    ] = None,
) -> Notes:
    """Print the differences between all pairs of systems, with intervals and tests."""
    options = metric.options() | {"confidence_level": interval, "random_state": seed}
    submissions = read_files(
        files,
        rows,
        stratum=within,
        pool_tasks=pool_tasks,
        metric=metric,
        beside=[made.cost],
    )
    require_pairs(submissions, rows)
    systems = made.systems(submissions, options)
    keys = metrics_of(output, systems, options_set(options))
    compared = compare_systems(systems, only=keys)
    differences = _in_order(compared, keys)
    alpha = round(1 - interval, 12)
    digits = digits_for(differences) if output.digits is None else output.digits
    above = introduction(
        systems, differences, alpha=alpha, digits=digits, by_position=rows.by_position
    )
    shown = differences
    tests = num_tests(differences)
    if only is not None:
        shown = [row for row in differences if is_significant(row, alpha)]
        above.append(
            f"Of {tests} differences that are tested, {len(shown)} are significant and shown."
        )
    bases = {name: basis_of_comparison(system) for name, system in systems.items()}
    line = signature_of(bases.values())
    grid = comparison_grid(
        shown,
        line,
        level=interval,
        tests=tests,
        digits=digits,
        above=above,
        hints=_hints(systems, pairs_by_key(differences), Said(files, [rows, metric, made])),
    )
    text = overview(grid, differences, screen_width(sys.stdout), alpha=alpha)
    output.show(grid, [fields_of(row) for row in shown], text, recipes_of(submissions), bases)
    if within is not None:
        by_part = _differences_within(systems, submissions[0], keys)
        grid, records = within_grid(by_part, within, line, level=interval, digits=digits)
        output.show_below(grid, records, WITHIN)
    if figures:
        print(*write_differences(differences, figures, alpha=alpha), sep="\n")
    return notes_of(systems) + list(compared.notes)


def _differences_within(
    systems: Systems, first: Submission, keys: Iterable[Key] | None
) -> dict[str, Sequence[Comparison]]:
    """Return the differences within each stratum, by the name that it has in the file of the first system."""
    strata = systems[first.name].options.strata
    numbers = [] if strata is None else strata.tolist()
    names = dict(zip(numbers, map(str, first.per_sample["strata"]), strict=True))
    within = compare_within(systems, only=keys)
    return {names[stratum]: rows for stratum, rows in within.items()}


def write_for_paper(
    *,
    files: Files,
    rows: PairFlags,
    pool_tasks: PoolTasks = False,
    made: SystemFlags,
    metric: BinnedOptions,
    interval: Annotated[
        float, Flag("level of the intervals; p-values up to 1 - LEVEL are significant", "LEVEL")
    ] = LEVEL,
    output: Annotated[str, Flag("the folder", "DIR", writes=(*TEXTS, "*.pdf", "*.png"))] = "paper",
) -> Notes:
    """Write what a paper needs: table, figures, a paragraph on methods, and all numbers."""
    submissions = read_files(files, rows, pool_tasks=pool_tasks, metric=metric)
    require_pairs(submissions, rows)
    systems = made.systems(submissions, metric.options() | {"confidence_level": interval})
    print(*lines_of(recipes_of(submissions)), sep="\n")
    print(*write_paper(systems, output), sep="\n")
    return notes_of(systems)


def _hints(systems: Systems, keys: Collection[Key], said: Said) -> list[str]:
    """Say which confidences are worth nothing, who costs least where, and how to compare at one reject cost."""
    asked = [key for key in keys if key.entry is ECUAS_N]
    asked.append(Key(ERROR_RATE.name))
    results = {}
    for name, system in systems.items():
        plain = replace(system, options=system.options.replace(confidence_level=None))
        results[name] = compute_results(plain, only=asked)
    hints = [not_beaten(results, keys), least_costs(systems)]
    if not any(key.entry is EXPECTED_COST for key in keys) and "-" not in said.files:
        flags = "--reject-costs 0.2 --metrics expected_cost_0.2"
        hints.append(said.next_step("compare", flags, why="costs where rejecting costs 0.2"))
    return list(filter(None, hints))


def _in_order(
    rows: Iterable[Comparison],
    keys: Sequence[Key] | None,
) -> list[Comparison]:
    """Return differences metric by metric: as these are asked for, or else in the order of tables."""
    by_key = pairs_by_key(rows)
    order = sorted(by_key, key=place) if keys is None else keys
    return [row for key in order for row in by_key.get(key, [])]

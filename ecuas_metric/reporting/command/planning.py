"""`ecuas plan` and `ecuas audit`: how many samples a comparison needs, and which answers people are to label."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

from ...basis import Basis
from ...comparison.compare import make_pairing_basis
from ...comparison.labels import draw_questions, list_answers_to_label
from ...comparison.planning import (
    CORRELATION,
    EXPECTED_AUROC,
    POWER,
    Plans,
    plan_from_rates,
    plan_labels,
    plan_of_systems,
)
from ...comparison.rows import list_fields
from ...costs import ECUAS_N, ERROR_RATE
from ...errors import InputError, Note
from ...files.recipe import Recipe, describe_recipes
from ...files.write import write_whole
from ...metric import Key
from ...options import ALPHA, DEFAULTS, LEVEL, checked_options
from ..differences import label_grid, plan_grid
from ..report import Notes
from ..tables import neutral
from .flags import Flag, flag_name
from .parameters import (
    Files,
    MetricOptions,
    MetricOutput,
    OrdersN,
    PairFlags,
    PoolTasks,
    RowFlags,
    list_set_options,
    match_keys,
)
from .reading import Compared, list_notes, list_recipes, read_compared, read_files

NOTHING_TO_PLAN = "must name a metric that can be planned"
_FEW_ROWS = 500  # answers, and labels, fewer of which promise little
_FEW_LABELS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a planned comparison is to find."""

    GROUP: ClassVar[str] = "what is planned"

    samples: Annotated[
        int | None, Flag("number of samples (default: as in the files, or 1000)", "N")
    ] = None
    difference: Annotated[
        float | None, Flag("difference to be detected (default: the observed or expected one)", "D")
    ] = None
    power: Annotated[float, Flag("probability of detecting it", "POWER")] = POWER
    alpha: Annotated[float, Flag("the level of the test", "ALPHA")] = ALPHA


def plan_of_files(
    *,
    files: Files,
    rows: PairFlags,
    pool_tasks: PoolTasks = False,
    metric: MetricOptions,
    target: Target,
    output: MetricOutput,
) -> Notes:
    """Print how many samples a comparison like that of two systems needs, or how many labels beside a judge."""
    # which no number of a plan depends on
    options = metric.options() | {"confidence_level": LEVEL}
    compared = read_compared(files, rows, metric, options, output.metrics, pool_tasks=pool_tasks)
    systems = compared.systems
    if rows.audit is not None:
        _show_label_plans(compared, target, output)
        return list_notes(systems)
    compared.require_two()
    plans = plan_of_systems(systems, only=compared.keys, by_position=True, **asdict(target))
    bases = {name: make_pairing_basis(system) for name, system in systems.items()}
    _show_plans(plans, output, compared.recipes, bases)
    return list_notes(systems)


def _show_label_plans(compared: Compared, target: Target, output: MetricOutput) -> None:
    systems = compared.systems
    for name, value in asdict(target).items():
        if value != getattr(Target(), name):
            raise InputError(flag_name(name), "is of comparisons, not of labels for --audit")
    plans = {name: plan_labels(system, compared.keys) for name, system in systems.items()}
    if not any(plans.values()):
        raise InputError("--metrics", NOTHING_TO_PLAN, got=output.metrics or "none")
    records = [
        {"system": name, **list_fields(plan)}
        for name, of_system in plans.items()
        for plan in of_system
    ]
    bases = {name: system.basis for name, system in systems.items()}
    line = str(next(iter(bases.values())))
    grid = label_grid(plans, digits=output.digits, signature=line)
    output.show(grid, records, recipes=compared.recipes, bases=bases)


def plan_of_error_rates(
    *,
    error_rates: Annotated[
        tuple[float, ...], Flag("expected error rates of two systems, instead of files", "A,B")
    ] = (),
    correlation: Annotated[
        float,
        Flag(
            "expected correlation of their costs on the same sample, as far as the rates let it be",
            "R",
        ),
    ] = CORRELATION,
    auroc: Annotated[float, Flag("expected AUROC of their confidences", "AUROC")] = EXPECTED_AUROC,
    n: OrdersN = DEFAULTS.n,
    target: Target,
    output: MetricOutput,
) -> Notes:
    """Print how many samples a comparison of systems with some error rates needs."""
    orders = checked_options(n=n).n
    keys = [Key(ERROR_RATE.name), *(Key(ECUAS_N.name, order) for order in orders)]
    with_auroc = ["auroc"] if auroc != EXPECTED_AUROC else []
    options = [*list_set_options({"n": n}), *with_auroc]
    chosen = match_keys(output.metrics, keys, options)
    plans = [
        plan_from_rates(key, error_rates, correlation=correlation, auroc=auroc, **asdict(target))
        for key in chosen
    ]
    is_planned = target.difference is not None
    _show_plans(Plans(plans, power=target.power, alpha=target.alpha, planned=is_planned), output)
    return []


def _show_plans(
    plans: Plans,
    output: MetricOutput,
    recipes: Sequence[Recipe] = (),
    bases: Mapping[str, Basis] | None = None,
) -> None:
    if not plans:
        raise InputError("--metrics", NOTHING_TO_PLAN, got=output.metrics or "none")
    line = str(next(iter((bases or {}).values()), ""))
    grid = plan_grid(plans, digits=output.digits, signature=line)
    output.show(grid, [list_fields(one) for one in plans], recipes=recipes, bases=bases)


def draw_audit(
    *,
    files: Files,
    rows: RowFlags,
    answers: Annotated[int, Flag("how many questions people are to label", "M")] = 100,
    seed: Annotated[int, Flag("seed of the draw", "SEED")] = 0,
    output: Annotated[
        str, Flag("the file that people fill in, .csv", "FILE", writes=("",))
    ] = "to_label.csv",
) -> Notes:
    """Draw answers for people to label, so that `ecuas score --audit` can correct a judge's verdicts on all of them."""
    submissions = read_files(files, rows, metric=MetricOptions(), are_verdicts=True)
    chosen, total = draw_questions(submissions, answers, seed)
    lines = [line for one in submissions for line in list_answers_to_label(one, chosen)]
    # neither verdicts nor confidences, which lead people
    beside = {"correct": "", "drawn": 1, "audit_probability": answers / total}
    write_whole(output, _table_to_label(lines, beside).encode())
    print(*describe_recipes(list_recipes(submissions)), sep="\n")
    print(f"{output}: {len(lines):,} answers to {answers:,} of {total:,} questions, seed {seed}")
    if answers < _FEW_LABELS or total < _FEW_ROWS:
        return [("", Note("few_to_label", {"count": answers, "total": total}))]
    return []


def _table_to_label(lines: Sequence[Mapping[str, object]], beside: Mapping[str, object]) -> str:
    """Return lines as CSV, with what stands beside each, and no formulas."""
    names = list(dict.fromkeys(name for line in lines for name in line))
    text = io.StringIO()
    table = csv.DictWriter(text, [*names, *beside], restval="", lineterminator="\n")
    table.writeheader()
    for line in lines:
        cells = {name: neutral(str(cell)) for name, cell in line.items()}
        table.writerow({**cells, **beside})
    return text.getvalue()

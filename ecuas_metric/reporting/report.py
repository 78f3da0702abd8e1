"""Several systems -> one table in the paper's layout, and the pairs compared."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..metrics import METRICS, metric_of, name_and_parameter
from ..options import checked_options
from ..results import System, prepare, results_of
from .comparison import UNFAIR, Comparison, align, base_key, compare, judges_confidences_only, same_answers
from .grids import Cell, Grid
from .submissions import Table

# The columns of the paper's tables, from what judges the decisions to what judges them with the confidences.
LAYOUT = (
    *("error_rate", "risk", "ece", "auroc", "confidence_cross_entropy", "confidence_brier_score"),
    *("cross_entropy", "brier_score", "aurc", "augrc", "ecuas", "expected_cost", "coverage", "selective_risk"),
)
ARROWS = {True: " ↑", False: " ↓", None: ""}


class Report(NamedTuple):
    """The metrics of several systems.

    Attributes
    ----------
    values : dict of name to dict of key to float
        With ``{key}_low`` and ``{key}_high`` where intervals were asked for.
    keys : list of str
        The metrics, in the order of the columns.
    unfair : list of str
        Those that must not rank these systems, see `comparison.judges_confidences_only`.
    signature : str
        Of all systems, or of each where they differ.
    notes : list of str
        What else a reader must know.
    """

    values: dict[str, dict[str, float]]
    keys: list[str]
    unfair: list[str]
    signature: str
    notes: list[str]


def prepare_tables(tables: Iterable[Table], **options: Any) -> dict[str, System]:
    """Grade every table with the same options; their columns of weights, groups and strata are used.

    Raises
    ------
    ValueError
        In the words of the file, with row and column; or if two systems share a name, or their forms differ.
    """
    tables = list(tables)
    names = [table.name for table in tables]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"systems must have different names; {name!r} is repeated.")
    forms = {table.form: table for table in tables}
    if len(forms) > 1:
        first, second = (f"{table.where.file} holds {form}" for form, table in forms.items())
        raise ValueError(f"systems of one table must have one form; {first}, {second}.")
    return {table.name: _prepare(table, options) for table in tables}


def make_report(systems: Mapping[str, System], tables: Iterable[Table] = (), *, progress: bool = False) -> Report:
    """Compute every metric of every system.

    Parameters
    ----------
    systems : mapping of name to System
        Of `prepare_tables`.
    tables : iterable of Table, optional
        Where they come from: for pairing by ids, and for the count of answers that were left out.
    progress : bool
        Show a bar on long work.
    """
    tables = list(tables)
    values = {}
    for name, system in systems.items():
        with _naming(name):
            values[name] = results_of(system, progress=progress)
    keys = [key for key in next(iter(values.values())) if not key.endswith(("_low", "_high"))]
    keys.sort(key=_place)
    alike = len(systems) < 2 or _same_answers(systems, tables)
    unfair = [] if alike else [key for key in keys if judges_confidences_only(key)]
    signatures = dict.fromkeys(system.signature for system in systems.values())
    return Report(values, keys, unfair, " ; ".join(signatures), _notes(tables))


def report_grid(report: Report, *, digits: int = 3, keys: Iterable[str] | None = None) -> Grid:
    """Lay a report out: a row a system, a column a metric with its arrow, † on those that must not rank."""
    shown = list(report.keys if keys is None else keys)
    best = {key: _best(report, key) for key in shown}
    head = ["system", *(title(key) + ("†" if key in report.unfair else "") for key in shown)]
    rows = [
        [Cell(name), *(Cell(_number(values, key, digits), values[key] == best[key]) for key in shown)]
        for name, values in report.values.items()
    ]
    marked = [f"† {UNFAIR}"] if set(shown) & set(report.unfair) else []
    return Grid(head, rows, [*marked, *report.notes], report.signature)


def comparison_grid(
    rows: list[Comparison], line: str, *, level: float, digits: int = 3, notes: Iterable[str] = ()
) -> Grid:
    """Lay comparisons out: a row a pair and metric, † on those that must not be compared."""
    head = [
        "first",
        "second",
        "metric",
        "difference",
        f"{level:.0%} interval",
        "p (bootstrap)",
        "p (sign flip)",
        "p (Holm)",
    ]
    cells = [
        [
            *(Cell(text) for text in (row.first, row.second, title(row.key) + ("" if row.fair else "†"))),
            Cell(f"{row.difference:+.{digits}f}"),
            Cell(f"[{row.low:+.{digits}f}, {row.high:+.{digits}f}]"),
            *(Cell(_p(value)) for value in (row.p_bootstrap, row.p_sign_flip, row.p_holm)),
        ]
        for row in rows
    ]
    unfair = [] if all(row.fair for row in rows) else [f"† {UNFAIR}"]
    return Grid(head, cells, [*unfair, *notes], line, labels=3)


def compare_tables(
    systems: Mapping[str, System], tables: Iterable[Table], *, progress: bool = False
) -> list[Comparison]:
    """Compare every pair of systems, aligned by the ids in their tables."""
    return compare(systems, ids={table.name: table.ids for table in tables}, progress=progress)


def report_records(report: Report, *, keys: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return a dict a system, with its name, its values, and the keys by which systems must not be ranked."""
    shown = list(report.keys if keys is None else keys)
    columns = [f"{key}{end}" for key in shown for end in ("", "_low", "_high")]
    unfair = " ".join(key for key in shown if key in report.unfair)
    return [
        {"system": name, **{key: values[key] for key in columns if key in values}, "must_not_rank": unfair}
        for name, values in report.values.items()
    ]


def write_figures(systems: Mapping[str, System], folder: str | Path) -> list[Path]:
    """Draw all curves of the systems into a folder, as PNG and SVG."""
    from ..plotting import figures

    graded = {name: system.graded for name, system in systems.items()}
    weights = {name: system.options["sample_weight"] for name, system in systems.items()}
    drawings: dict[str, Callable[..., Any]] = {
        "risk_coverage": figures.risk_coverage_figure,
        "reject_cost": figures.reject_cost_figure,
        "ecuas_against_n": figures.order_figure,
    }
    if all(system.confidence is not None for system in graded.values()):
        n_bins = next(iter(systems.values())).options["n_bins"]
        drawings["reliability"] = partial(figures.reliability_figure, n_bins=n_bins)
    return [
        path
        for name, draw in drawings.items()
        for path in figures.save(draw(graded, weights=weights), Path(folder) / name)
    ]


def title(key: str) -> str:
    """Return the head of a metric's column with its arrow, as ``N-ECUAS_0 ↓``."""
    name, parameter = name_and_parameter(base_key(key))
    metric = METRICS[name]
    subscript = f"_{parameter.replace('inf', '∞')}" if parameter else ""
    prefix = "N-" if key.startswith("normalized_") else ""
    ending = {"_recalibrated": " recal.", "_calibration_loss": " cal. loss"}
    suffix = next((text for end, text in ending.items() if key.endswith(end)), "")
    return f"{prefix}{metric.title}{subscript}{suffix}{ARROWS[metric.higher_is_better]}"


def _prepare(table: Table, options: dict[str, Any]) -> System:
    columns: dict[str, Any] = {"sample_weight": table.weight, "groups": table.group, "strata": table.stratum}
    checked = checked_options(**options | {name: values for name, values in columns.items() if values is not None})
    try:
        with _naming(table.name):
            return prepare(table.form, table.predictions, table.references, checked)
    except ValueError as error:
        raise table.where.error(error) from None


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Put the system's name before what is warned of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        warnings.warn(f"{name}: {warning.message}", warning.category, stacklevel=3)


def _same_answers(systems: Mapping[str, System], tables: list[Table]) -> bool:
    try:
        aligned = align(systems, {table.name: table.ids for table in tables} or dict.fromkeys(systems))
    except ValueError:
        return False  # not even the same samples
    first, *others = aligned.values()
    return all(same_answers(first, other) for other in others)


def _notes(tables: list[Table]) -> list[str]:
    return [f"{table.name}: {table.unjudged} unjudged answers left out." for table in tables if table.unjudged]


def _place(key: str) -> tuple[bool, int]:
    return key.startswith("normalized_"), LAYOUT.index(name_and_parameter(base_key(key))[0])


def _best(report: Report, key: str) -> float | None:
    better = metric_of(base_key(key)).higher_is_better
    if key in report.unfair or len(report.values) < 2 or better is None:
        return None
    column = [values[key] for values in report.values.values() if not math.isnan(values[key])]
    choose = max if better else min
    return choose(column) if column else None


def _number(values: dict[str, float], key: str, digits: int) -> str:
    text = f"{values[key]:.{digits}f}"
    if f"{key}_low" not in values:
        return text
    return f"{text} [{values[f'{key}_low']:.{digits}f}, {values[f'{key}_high']:.{digits}f}]"


def _p(value: float) -> str:
    return "" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"

"""`ecuas score --out-of-core`, `ecuas merge` and `ecuas compare --out-of-core`: states -> tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...comparison.compare import Comparison, fields_of
from ...errors import FileError, InputError, Note
from ...files.recipe import Recipe, scale_of
from ...metric import Key
from ...metrics import place
from ...options import LEVEL, checked_options
from ...plotting.names import percent
from ..differences import differences_grid
from ..report import BELOW, report_of, report_records, write_figures
from ..tables import Record
from .choice import chosen_keys, named_keys, options_set
from .flags import Flag
from .parameters import (
    BinnedOptions,
    By,
    Columns,
    Decompose,
    Figures,
    Files,
    Interval,
    Normalize,
    Notes,
    Output,
    ReportOutput,
    print_paths,
)
from .reading import columns_of_files, parse_file

if TYPE_CHECKING:  # they take a tenth of a second to import, which commands in memory do not need
    from ...scale.storage import Collection
    from ...summary import Summary, SummaryResults

WRITTEN = ("key", "first", "second", "difference", "low", "high")
UNPAIRED = (
    "The systems are not paired by sample. Intervals are conservative: they hold however the errors of the systems "
    "coincide. Without --out-of-core, samples are paired by id, and intervals are narrower."
)
StateFile = Annotated[
    str | None, Flag("with --out-of-core: save the state in this file, and skip files that it already includes", "FILE")
]
Engine = Annotated[
    str,
    Flag(
        "what reads the files out of core: this process, or Spark (pip install 'pyspark[connect]')",
        choices=("local", "spark"),
    ),
]
SWITCH = Flag(
    "read Parquet files of any size in constant memory; FILE may be a folder or a quoted pattern such as 'a/*'"
)


def score_out_of_core(
    *,
    files: Files,
    columns: Columns,
    by: By = None,
    metric: BinnedOptions,
    interval: Interval = None,
    output: ReportOutput,
    figures: Figures = None,
    state: StateFile = None,
    engine: Engine = "local",
) -> Notes:
    """Print the metrics of systems whose rows are never all in memory."""
    output.check()
    notes: Notes = []
    recipes: list[Recipe] = []
    if engine == "spark":
        from ...scale.spark import score_files_on_spark

        _require_new(state)
        collection = _collect(score_files_on_spark, files, columns, by, metric, recipes=recipes)
        _save(state, collection)
    else:
        from ...scale.local import score_files
        from ...scale.storage import read_collection

        before = read_collection(state).files if state and Path(state).exists() else {}
        collection = _collect(score_files, files, columns, by, metric, state_file=state, progress=True, recipes=recipes)
        if before:
            notes.append(("", Note("rows_in_state", {"count": len(before), "file": state})))
    reading = {"normalize": metric.normalize, "decompose": metric.decompose, "confidence_level": interval}
    added = options_set(metric.options(columns), is_binned=bool(figures or state))
    return _show(collection, reading, added, output, figures, recipes) + notes


def merge_states(
    *,
    files: Annotated[list[str], Flag("written by `ecuas score --out-of-core --state FILE`", "FILE")],
    state: Annotated[str | None, Flag("write the merged states to this file", "FILE")] = None,
    interval: Interval = None,
    normalize: Normalize = False,
    decompose: Decompose = False,
    output: ReportOutput,
    figures: Figures = None,
) -> Notes:
    """Merge files of states, write them into one if it is named, and print their numbers."""
    from ...scale.storage import merge_collections, read_collection

    output.check()
    _require_new(state)
    collection = merge_collections(map(read_collection, files), names=files)
    _save(state, collection)
    reading = {"normalize": normalize, "decompose": decompose}
    added = options_set(reading)
    return _show(collection, {**reading, "confidence_level": interval}, added, output, figures)


def compare_out_of_core(
    *,
    files: Files,
    columns: Columns,
    metric: BinnedOptions,
    interval: Annotated[float, Flag("level of the intervals of differences", "LEVEL")] = LEVEL,
    output: Output,
) -> Notes:
    """Print the differences of all pairs of systems, whose rows are never all in memory."""
    from ...basis import differing
    from ...scale.local import score_files

    output.check()
    recipes: list[Recipe] = []
    states = _collect(score_files, files, columns, None, metric, progress=True, recipes=recipes).states
    if len(states) < 2:
        raise InputError("a comparison", "needs_two_systems", got=", ".join(states) or "none")
    reading = {"normalize": metric.normalize, "decompose": metric.decompose, "confidence_level": interval}
    results = _results(states, reading, output.metrics, with_errors=True)
    reasons = differing(one.basis for one in results.values())
    if reasons:
        raise InputError("states that are compared", "not_mergeable", reasons=reasons)
    known = sorted(next(iter(results.values())).estimates, key=place)
    keys = chosen_keys(output.metrics, known, options_set(metric.options(columns)))
    differences = [_difference(key, *pair, results) for key in keys for pair in itertools.combinations(results, 2)]
    records: list[Record] = []
    for row, error in differences:
        fields = fields_of(row)
        written = {name: fields[name] for name in WRITTEN}
        records.append({**written, "standard_error_at_most": error, "is_paired": False})
    line = " ; ".join(dict.fromkeys(str(one.basis) for one in results.values()))
    rows = [row for row, _ in differences]
    title = f"{percent(interval)} interval, not paired"
    digits = output.digits_of((row.low, row.high) for row in rows)
    grid = differences_grid(rows, line, title, digits=digits, above=[UNPAIRED])
    output.show(grid, records, recipes=recipes, bases={name: one.basis for name, one in results.items()})
    return []


def _require_new(path: str | None) -> None:
    """Raise FileError if a file is there that is to be written."""
    if path and Path(path).exists():
        raise FileError(path, "file_is_there", advice="name_another")


def _save(path: str | None, collection: Collection) -> None:
    from ...scale.storage import write_collection

    if path:
        write_collection(path, collection)


def _difference(key: Key, one: str, two: str, results: Mapping[str, SummaryResults]) -> tuple[Comparison, float]:
    """Return the difference of systems whose rows are not paired, without a test, and its largest standard error."""
    first = results[one].estimates[key]
    second = results[two].estimates[key]
    low, high = _distance(first.low, second.high), _distance(first.high, second.low)
    tests, comparable = (math.nan, math.nan), key.assesses != "confidences"
    row = Comparison(one, two, key, first.value - second.value, low, high, *tests, comparable)
    return row, first.standard_error + second.standard_error


def _distance(limit: float | None, other: float | None) -> float:
    return math.nan if limit is None or other is None else limit - other


def _collect(
    engine: Callable[..., Collection],
    texts: Sequence[str],
    columns: Columns,
    by: str | None,
    metric: BinnedOptions,
    **settings: object,
) -> Collection:
    """Return the states of all systems in the files that are named, which an engine reads."""
    from ...scale.rows import STATE_OPTIONS

    files = [parse_file(text) for text in texts]
    of_files = columns_of_files(columns.columns, files)
    if any(one != of_files[0] for one in of_files):
        raise InputError("--columns", "different_columns")
    roles = {"weight": columns.weight, "part": by}
    given = {role: name for role, name in roles.items() if name}
    options = {name: value for name, value in metric.options(columns).items() if name in STATE_OPTIONS}
    return engine(
        [file.path if file.name is None else (file.name, file.path) for file in files],
        checked_options(**options),
        columns={**of_files[0], **given},
        unlabelled=columns.unlabelled,
        scale=scale_of(columns.scale),
        correct_from=columns.correct_from,
        **settings,
    )


def _results(
    states: Mapping[str, Summary], reading: Mapping[str, Any], metrics: str | None, *, with_errors: bool
) -> dict[str, SummaryResults]:
    from ...summary import results_of

    results = {}
    for name, state in sorted(states.items()):
        named = named_keys(metrics, state.none)
        results[name] = results_of(state, **reading, with_errors=with_errors, named=named)
    return results


def _show(
    collection: Collection,
    reading: Mapping[str, Any],
    added: Iterable[str],
    output: ReportOutput,
    figures: str | None,
    recipes: Iterable[Recipe] = (),
) -> Notes:
    """Print the table of all systems of a collection, with the bounds of what is not exact, and draw its figures."""
    from ...summary import system_of

    if not collection.states:
        raise InputError("the files", "rows_missing")
    results = _results(collection.states, reading, output.metrics, with_errors=bool(output.output))
    report = report_of(results, {name: collection.states[name].rows for name in results})
    keys = chosen_keys(output.metrics, report.keys, list(added))
    records: list[Record] = []
    for record in report_records(report, keys=keys):
        records.append({**record, **_bounds(results[str(record["system"])], keys)})
    output.show_report(report, keys, records, notes=_bounds_lines(results, output.columns_of(keys)), recipes=recipes)
    if figures:
        print_paths(write_figures({name: system_of(collection.states[name]) for name in results}, figures))
    return [(name, note) for name, note in report.notes() if note.id not in (*BELOW, "bounded")]


def _bounds_lines(results: Mapping[str, SummaryResults], keys: Iterable[Key]) -> Iterator[str]:
    """Yield a line for each system with what its inexact numbers are at least and at most."""
    shown = list(keys)
    for name, one in results.items():
        bounds = {key: (one.estimates[key].lower_bound, one.estimates[key].upper_bound) for key in shown}
        texts = [f"{key} in [{_digits(*pair)}]" for key, pair in bounds.items() if pair[0] is not None]
        if texts:
            yield f"{name}: bounds, since not all uncertainties are told apart: {', '.join(texts)}."


def _digits(low: float | None, high: float | None) -> str:
    """Return bounds with as many digits as tell them apart, rounded outwards."""
    assert low is not None
    assert high is not None
    digits = min(15, max(3, 1 - math.floor(math.log10(high - low)))) if high > low else 15
    unit = 10.0**-digits
    return f"{math.floor(low / unit) * unit:.{digits}f}, {math.ceil(high / unit) * unit:.{digits}f}"


def _bounds(results: SummaryResults, keys: Iterable[Key]) -> dict[str, float]:
    flat = results.flat()
    ends = ("lower_bound", "upper_bound", "standard_error")
    return {f"{key}_{end}": flat[f"{key}_{end}"] for key in keys for end in ends if f"{key}_{end}" in flat}

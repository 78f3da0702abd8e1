"""`ecuas score --out-of-core`, `ecuas merge` and `ecuas compare --out-of-core`: states -> tables."""

from __future__ import annotations

import itertools
import math
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ..comparison.compare import Comparison, fields_of, is_comparable
from ..errors import FileError, InputError, Note
from ..metrics import Key, place
from ..options import checked_options, signature
from ..plotting.names import percent
from ..results import Estimate, Results, System
from ..scale.batches import RowOptions
from ..scale.local import score_files
from ..scale.reading import StateResults, read, system_of
from ..scale.settings import STATE_OPTIONS, parse_settings, require_same_settings
from ..scale.state import State
from ..scale.storage import Collection, merge_collections, read_collection, write_collection
from .differences import differences_grid
from .report import Report, chosen_keys, keys_of_table, report_grid, report_records
from .tables import Grid, Record

NEEDS_ROWS = ("groups", "common", "by_position", "calibrate", "explain", "calibration")
NOT_READ = {"tasks": None, "filter": None, "choice_length": "none", "partial": False, "labels": None}  # and defaults
NOT_COMPARED = {"figures": None, "only": None, "sort": "systems"}
_IN_MEMORY = "Leave --out-of-core out: files are then read with all rows in memory, or a random sample of them."
WRITTEN = ("key", "first", "second", "difference", "low", "high")
UNPAIRED = (
    "The systems are not paired by sample. Intervals are conservative: they hold however the errors of the systems "
    "coincide. Without --out-of-core, samples are paired by id, and intervals are narrower."
)
Table = tuple[Grid, list[Record], list[tuple[str, Note]], Mapping[str, System]]  # shown, written, notes, for figures


class Patterns(NamedTuple):
    """The files that a command names."""

    patterns: list[str | tuple[str, str]]  # a tuple is the name of a system, and its pattern
    columns: Mapping[str, str]  # by their roles
    options: Mapping[str, object]


def score_out_of_core(arguments: Namespace, source: Patterns) -> Table:
    """Score files without having their rows in memory: grid, records, notes, and the systems of which figures are."""
    if arguments.engine == "local":
        score = partial(score_files, state_file=arguments.state, progress=True)
        before = read_collection(arguments.state).files if arguments.state and Path(arguments.state).exists() else {}
        grid, records, notes, systems = _table(_collection(arguments, source, score), arguments)
        fact = f"The rows of {len(before)} file(s) are in {arguments.state} already, read as they were then."
        return grid, records, [*notes, *[("", Note("state", fact))] * bool(before)], systems
    from ..scale.spark import score_files_on_spark

    return _table_of_new(lambda: _collection(arguments, source, score_files_on_spark), arguments)


def merge_files(arguments: Namespace) -> Table:
    """Merge files of states, write them into one if it is named, and show their numbers."""
    collections = map(read_collection, arguments.files)
    return _table_of_new(lambda: merge_collections(collections, names=arguments.files), arguments)


def _table_of_new(collect: Callable[[], Collection], arguments: Namespace) -> Table:
    """Return the table of states, and write these to the file that is named, which must not exist."""
    path = arguments.state
    if path and Path(path).exists():
        raise FileError(path, "is there already, and would be overwritten", advice="Name another one.")
    collection = collect()
    if path:
        write_collection(path, collection)
    return _table(collection, arguments)


def compare_out_of_core(arguments: Namespace, source: Patterns) -> Table:
    """Subtract the numbers of all pairs of systems, whose rows are never all in memory."""
    _refuse(arguments, NOT_COMPARED)
    states = _collection(arguments, source, partial(score_files, progress=True)).states
    if len(states) < 2:
        raise InputError("a comparison", "needs at least two systems", got=", ".join(states) or "none")
    for state in states.values():
        require_same_settings(next(iter(states.values())).settings, state.settings)
    level = float(arguments.confidence_level)
    results = _results(states, arguments, with_errors=True)
    keys = chosen_keys(arguments.metrics, sorted(next(iter(results.values())).estimates, key=place))
    found = [_difference(key, *pair, results) for key in keys for pair in itertools.combinations(results, 2)]
    line = " ; ".join(dict.fromkeys(_signature(state, level) for state in states.values()))
    records: list[Record] = [
        {**{name: fields_of(row)[name] for name in WRITTEN}, "standard_error_at_most": error, "is_paired": False}
        for row, error in found
    ]
    interval, rows = f"{percent(level)} interval, not paired", [row for row, _ in found]
    return differences_grid(rows, line, interval, digits=arguments.digits, above=[UNPAIRED]), records, [], {}


def _difference(key: Key, one: str, two: str, results: Mapping[str, StateResults]) -> tuple[Comparison, float]:
    """Return the difference of systems whose rows are not paired, without a test, and its largest standard error."""
    first, second = results[one].estimates[key], results[two].estimates[key]
    low, high = _distance(first.low, second.high), _distance(first.high, second.low)
    tests, comparable = (math.nan, math.nan), is_comparable(key, have_same_answers=False)
    row = Comparison(one, two, key, first.value - second.value, low, high, *tests, comparable)
    return row, first.standard_error + second.standard_error


def _distance(limit: float | None, other: float | None) -> float:
    return math.nan if limit is None or other is None else limit - other


def _collection(arguments: Namespace, source: Patterns, score: Callable[..., Collection]) -> Collection:
    """Return the states of all systems in the files that are named."""
    _refuse(arguments)
    roles = {"weight": arguments.weight, "part": arguments.by}
    reading: RowOptions = {
        "columns": {**source.columns, **{role: value for role, value in roles.items() if value}},
        "unlabelled": arguments.unlabelled,
        "scale": arguments.scale,
        "correct_from": arguments.correct_from,
    }
    options = checked_options(**{name: value for name, value in source.options.items() if name in STATE_OPTIONS})
    return score(source.patterns, options, **reading)


def _refuse(arguments: Namespace, more: Mapping[str, object] = MappingProxyType({})) -> None:
    """Raise InputError if flags are given that mean nothing out of core; `more` has others with their defaults."""
    not_read = {**dict.fromkeys(NEEDS_ROWS), **NOT_READ, **more}
    for name, default in not_read.items():
        if getattr(arguments, name, default) not in (default, False):
            flag = f"--{name.replace('_', '-')}"
            raise InputError(flag, "cannot be used with --out-of-core", advice=_IN_MEMORY)
    if arguments.confidence_level is not None and arguments.interval_method not in (None, "analytic"):
        rule = "must be analytic with --out-of-core: resampling needs all rows at once"
        raise InputError("interval_method", rule, value=arguments.interval_method)


def _results(states: Mapping[str, State], arguments: Namespace, *, with_errors: bool) -> dict[str, StateResults]:
    wanted = {name: getattr(arguments, name) for name in ("normalize", "decompose", "confidence_level")}
    return {name: read(state, **wanted, with_errors=with_errors) for name, state in sorted(states.items())}


def _table(collection: Collection, arguments: Namespace) -> Table:
    """Return the table of all systems of a collection, with the bounds of what is not exact."""
    if not collection.states:
        raise InputError("the files", "have no rows")
    results = _results(collection.states, arguments, with_errors=bool(arguments.output))
    report = _report(collection.states, results, arguments.confidence_level)
    keys = chosen_keys(arguments.metrics, report.keys)
    grid = report_grid(report, digits=arguments.digits, keys=keys, sizes=True)
    found = report_records(report, keys=keys)
    records: list[Record] = [{**record, **_bounds(results[str(record["system"])], keys)} for record in found]
    grid = grid._replace(notes=[*grid.notes, *_bounds_lines(results, keys)])
    notes = [(name, note) for name, note in report.notes() if note.kind not in ("unlabelled", "bounded")]
    systems = {name: system_of(collection.states[name]) for name in results} if arguments.figures else {}
    return grid, records, notes, systems


def _report(states: Mapping[str, State], results: Mapping[str, StateResults], level: float | None) -> Report:
    found = {}
    for name, of_state in results.items():
        estimates = {key: Estimate(one.value, one.low, one.high) for key, one in of_state.estimates.items()}
        found[name] = Results(estimates, of_state.notes)
    keys = keys_of_table(found)
    not_comparable = [key for key in keys if not is_comparable(key, have_same_answers=len(states) < 2)]
    sizes = {name: one.rows for name, one in results.items()}
    differ = ["numbers of samples"] if len(set(sizes.values())) > 1 else []
    lines = dict.fromkeys(_signature(states[name], level) for name in results)
    return Report(found, keys, not_comparable, " ; ".join(lines), sizes, differ)


def _signature(state: State, level: float | None) -> str:
    """Return the line that says what the numbers of a state depend on."""
    _, options, is_weighted = parse_settings(state.settings)
    method = {"interval_method": "analytic"} if level is not None else {}
    line = signature(options.replace(confidence_level=level, **method), num_classes=options.num_classes)
    weighted = "|weights:column" if is_weighted else ""
    return f"{line}{weighted}|state:{len(state.sketch.low)} bins"


def _bounds_lines(results: Mapping[str, StateResults], keys: Iterable[Key]) -> Iterator[str]:
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


def _bounds(results: StateResults, keys: Iterable[Key]) -> dict[str, float]:
    flat = results.flat()
    ends = ("lower_bound", "upper_bound", "standard_error")
    return {f"{key}_{end}": flat[f"{key}_{end}"] for key in keys for end in ends if f"{key}_{end}" in flat}

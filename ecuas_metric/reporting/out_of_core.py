"""`ecuas score --out-of-core` and `ecuas merge`: files of states -> the table of all systems."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from ..comparison.compare import is_fair
from ..errors import FileError, InputError
from ..metrics import Key, place
from ..options import checked_options, signature
from ..results import Estimate, Results, System
from ..scale.collection import Collection, merge_collections, read_collection, write_collection
from ..scale.curves import system_of
from ..scale.local import score_files
from ..scale.reading import Readings, read
from ..scale.settings import SHAPING, settings_of
from ..scale.state import State
from .arguments import chosen_keys, columns_of_files, named_file
from .report import Report, report_grid, report_records
from .tables import Grid, Record

# What is not read from files out of core, and what it is where it was not asked for.
NOT_READ = {"tasks": None, "filter": None, "choice_length": "none", "labels": None, "scale": 1.0, "correct_from": None}
NOT_WITHOUT_ROWS = ("groups", "common", "by_position", "calibrate", "explain")
Table = tuple[Grid, list[Record], list[str], Mapping[str, System]]  # shown, written, notes, and what figures show


def score_out_of_core(arguments: Namespace, options: Mapping[str, object]) -> Table:
    """Score files without having their rows in memory.

    Parameters
    ----------
    arguments : argparse.Namespace
        Of `flags.parser`.
    options : mapping
        Of the metric, as the flags say.

    Returns
    -------
    grid : Grid
    records : list of dict
    notes : list of str
    systems : mapping of name to System
        Whose curves are those of the rows, if figures are asked for.
    """
    refuse(arguments)
    patterns, columns = inputs_of(arguments)
    shaping = {name: value for name, value in options.items() if name in SHAPING}
    collection = _engine(arguments.engine)(
        patterns,
        checked_options(**shaping),
        columns=columns,
        unjudged=arguments.unjudged,
        state_file=arguments.state,
    )
    return _table(collection, options, arguments)


def inputs_of(arguments: Namespace) -> tuple[list[str | tuple[str, str]], dict[str, str]]:
    """Return the patterns of files that are named, and the roles of columns."""
    files = [named_file(text) for text in arguments.files]
    columns = columns_of_files(arguments.columns, files)
    if any(of_file != columns[0] for of_file in columns):
        raise InputError("--columns", "must be the same for all files with --out-of-core")
    roles = {"weight": arguments.weight, "part": arguments.by}
    given = {**columns[0], **{role: value for role, value in roles.items() if value}}
    return [file.path if file.name is None else (file.name, file.path) for file in files], given


def refuse(arguments: Namespace, more: Mapping[str, object] = MappingProxyType({})) -> None:
    """Raise InputError if flags are given that mean nothing out of core; `more` has others with their defaults."""
    for name in NOT_WITHOUT_ROWS:
        if getattr(arguments, name):
            rule = "cannot be used with --out-of-core: it needs all rows at once"
            raise InputError(_flag(name), rule, advice="Use it in memory, with all rows or a random sample of them.")
    for name, default in {**NOT_READ, **more}.items():
        if getattr(arguments, name) != default:
            raise InputError(
                _flag(name),
                "cannot be used with --out-of-core",
                advice="Prepare the columns first, or score in memory.",
            )
    if arguments.confidence_level is not None and arguments.interval_method != "analytic":
        rule = "must be analytic with --out-of-core: resampling needs all rows at once"
        raise InputError("interval_method", rule, value=arguments.interval_method)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _engine(name: str) -> Callable[..., Collection]:
    if name == "local":
        return partial(score_files, progress=True)
    from ..scale.spark import score_files as score_on_spark

    return score_on_spark


def merge_files(arguments: Namespace) -> Table:
    """Merge files of states, write them into one if it is named, and show their numbers.

    Parameters
    ----------
    arguments : argparse.Namespace

    Returns
    -------
    grid : Grid
    records : list of dict
    notes : list of str
    systems : mapping of name to System
        Whose curves are those of the rows, if figures are asked for.
    """
    collection = merge_collections(map(read_collection, arguments.files), names=arguments.files)
    if arguments.state:
        if Path(arguments.state).exists():
            raise FileError(arguments.state, "is there already, and would be overwritten", advice="Name another one.")
        write_collection(arguments.state, collection)
    options = {name: getattr(arguments, name) for name in ("normalize", "decompose", "confidence_level")}
    return _table(collection, options, arguments)


def _table(collection: Collection, options: Mapping[str, object], arguments: Namespace) -> Table:
    """Return the table of all systems of a collection, with the bounds of what is not exact."""
    if not collection.states:
        raise InputError("the files", "have no rows")
    states = dict(sorted(collection.states.items()))
    level = checked_options(confidence_level=options.get("confidence_level")).confidence_level
    wanted = {"normalize": bool(options.get("normalize")), "decompose": bool(options.get("decompose"))}
    readings = {name: read(state, **wanted, confidence_level=level) for name, state in states.items()}
    report = _report(states, readings, level)
    keys = chosen_keys(arguments.metrics, report.keys)
    grid = report_grid(report, digits=arguments.digits, keys=keys, sizes=True)
    records: list[Record] = [
        {**record, **_bounds(readings[str(record["system"])], keys)} for record in report_records(report, keys=keys)
    ]
    grid = grid._replace(notes=[*grid.notes, *_bounded(readings, keys)])
    notes = [f"{name}: {note}" for name, note in report.notes() if note.kind not in ("unjudged", "bounded")]
    systems = {name: system_of(state) for name, state in states.items()} if arguments.figures else {}
    return grid, records, notes, systems


def _report(states: Mapping[str, State], readings: Mapping[str, Readings], level: float | None) -> Report:
    results = {
        name: Results({key: Estimate(r.value, r.low, r.high) for key, r in one.numbers.items()}, one.notes)
        for name, one in readings.items()
    }
    keys = sorted(next(iter(results.values())).estimates, key=place)
    for name, one in results.items():
        if one.estimates.keys() != set(keys):
            raise InputError("systems of one table", f"must have the same options; those of {name!r} differ")
    unfair = [key for key in keys if not is_fair(key, have_same_answers=len(states) < 2)]
    sizes = {name: one.rows for name, one in readings.items()}
    differ = ["numbers of samples"] if len(set(sizes.values())) > 1 else []
    lines = dict.fromkeys(signature_of_state(state, level) for state in states.values())
    return Report(results, keys, unfair, " ; ".join(lines), sizes, differ)


def signature_of_state(state: State, level: float | None) -> str:
    """Return the line that says what the numbers of a state depend on."""
    _, options, is_weighted = settings_of(state.settings)
    method = {"interval_method": "analytic"} if level is not None else {}
    line = signature(options.replace(confidence_level=level, **method), num_classes=options.num_classes)
    weighted = "|weights:column" if is_weighted else ""
    return f"{line}{weighted}|state:{len(state.cells.low)} cells"


def _bounded(readings: Mapping[str, Readings], keys: Iterable[Key]) -> list[str]:
    """Return a line for each system with what its inexact numbers are at least and at most."""
    lines = []
    shown = list(keys)
    for name, one in readings.items():
        bounds = {key: (one.numbers[key].lower_bound, one.numbers[key].upper_bound) for key in shown}
        texts = [f"{key} in [{_digits(*pair)}]" for key, pair in bounds.items() if pair[0] is not None]
        if texts:
            lines.append(f"{name}: bounds, since not all uncertainties are told apart: {', '.join(texts)}.")
    return lines


def _digits(low: float | None, high: float | None) -> str:
    """Return bounds with as many digits as tell them apart, rounded outwards."""
    assert low is not None
    assert high is not None
    digits = min(15, max(3, 1 - math.floor(math.log10(high - low)))) if high > low else 15
    unit = 10.0**-digits
    return f"{math.floor(low / unit) * unit:.{digits}f}, {math.ceil(high / unit) * unit:.{digits}f}"


def _bounds(readings: Readings, keys: Iterable[Key]) -> dict[str, float]:
    flat = readings.flat()
    ends = ("lower_bound", "upper_bound", "standard_error")
    return {f"{key}_{end}": flat[f"{key}_{end}"] for key in keys for end in ends if f"{key}_{end}" in flat}

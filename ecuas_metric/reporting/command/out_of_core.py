"""`ecuas score --out-of-core` and `ecuas merge`: states -> tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...classes import reword_errors
from ...errors import FileError, InputError
from ...files.recipe import Recipe
from ...metric import Key
from ...options import checked_options
from ..report import Notes, not_below, report_of, write_figures
from .flags import Flag
from .parameters import (
    BinnedOptions,
    By,
    Decompose,
    Figures,
    Files,
    Interval,
    Normalize,
    ReadingFlags,
    ReportOutput,
    list_set_options,
    select_keys,
)
from .reading import make_readings, parse_file, refuse_idle_flags

if TYPE_CHECKING:  # they take a tenth of a second to import, which commands in memory do not need
    from ...scale.storage import Collection
    from ...summary import SummaryResults


def score_out_of_core(
    *,
    files: Files,
    columns: ReadingFlags,
    by: By = None,
    metric: BinnedOptions,
    interval: Interval = None,
    output: ReportOutput,
    figures: Figures = None,
    state: Annotated[
        str | None,
        Flag(
            "with --out-of-core: write what `ecuas merge` adds up to this file",
            "FILE",
            writes=("",),
        ),
    ] = None,
    engine: Annotated[
        str,
        Flag(
            "what reads the files out of core: this process, or Spark (pip install 'pyspark[connect]')",
            choices=("local", "spark"),
        ),
    ] = "local",
    out_of_core: Annotated[
        bool,
        Flag(
            "read Parquet files of any size in constant memory; FILE may be a folder or a quoted pattern such as 'a/*'"
        ),
    ] = False,
) -> Notes:
    """Print the metrics of systems whose rows are never all in memory; `out_of_core` chooses this function."""
    from ...scale.batches import note_wrong_classes

    _require_new(state)
    reading = {
        "normalize": metric.normalize,
        "decompose": metric.decompose,
        "confidence_level": interval,
    }
    checked_options(**reading)
    collection, recipes = _collect(files, columns, by, metric, engine=engine)
    _write(state, collection)
    added = list_set_options(metric.options(), is_binned=bool(figures or state))
    notes = _show(collection, reading, added, output, figures, recipes)
    read = {recipe.digest(): recipe for recipe in recipes}
    for name, summary in collection.states.items():
        recipe = read[str(summary.basis.recipe)]
        notes += [(name, note) for note in (*recipe.notes, *note_wrong_classes(summary, recipe))]
    return notes


def merge_states(
    *,
    files: Annotated[
        list[str], Flag("written by `ecuas score --out-of-core --state FILE`", "FILE", reads=True)
    ],
    state: Annotated[
        str | None, Flag("write the merged states to this file", "FILE", writes=("",))
    ] = None,
    interval: Interval = None,
    normalize: Normalize = False,
    decompose: Decompose = False,
    output: ReportOutput,
    figures: Figures = None,
) -> Notes:
    """Merge files of states, write them into one if it is named, and print their numbers."""
    from ...scale.storage import merge_collections, read_collection

    _require_new(state)
    reading = {
        "normalize": normalize,
        "decompose": decompose,
        "confidence_level": interval,
    }
    checked_options(**reading)
    collection = merge_collections(map(read_collection, files), names=files)
    _write(state, collection)
    return _show(collection, reading, list_set_options(reading), output, figures)


def _require_new(state: str | None) -> None:
    """Raise FileError if a file of states is there: its rows are kept."""
    if state and Path(state).exists():
        advice = "Name another one: `ecuas merge` adds several up."
        raise FileError(state, "file_is_there", advice=advice)


def _write(state: str | None, collection: Collection) -> None:
    from ...scale.storage import write_collection

    if not collection.states:
        raise InputError("the files", "have no rows")
    if state:
        write_collection(state, collection)


def _collect(
    texts: Sequence[str],
    columns: ReadingFlags,
    by: str | None,
    metric: BinnedOptions,
    *,
    engine: str,
) -> tuple[Collection, list[Recipe]]:
    """Return the states of all systems in the files that are named, which an engine reads, and how it reads them."""
    from ...scale.local import score_files
    from ...scale.rows import STATE_OPTIONS

    files = [parse_file(text) for text in texts]
    reading, *others = make_readings(columns, metric, files, roles={"part": by})
    if any(other != reading for other in others):
        raise InputError("--columns", "must be the same for all files with --out-of-core")
    options = {name: value for name, value in metric.options().items() if name in STATE_OPTIONS}
    recipes: list[Recipe] = []
    collection = score_files(
        [file.path if file.name is None else (file.name, file.path) for file in files],
        checked_options(**options),
        reading=reading,
        recipes=recipes,
        engine=engine,
    )
    refuse_idle_flags([columns, metric], recipes)
    return collection, recipes


def _show(
    collection: Collection,
    reading: Mapping[str, Any],
    added: Sequence[str],
    output: ReportOutput,
    figures: str | None,
    recipes: Sequence[Recipe] = (),
) -> Notes:
    """Print the table of all systems of a collection, with the bounds of what is not exact, and draw its figures."""
    from ...summary import compute_summary_results, make_equivalent_system

    first = next(iter(collection.states.values()))
    options = first.options.replace(normalize=reading["normalize"], decompose=reading["decompose"])
    keys = select_keys(output.metrics, first.template, options, added)
    results = {}
    for name, state in collection.states.items():
        with reword_errors({"a state": f"the state of {name!r}"}):
            results[name] = compute_summary_results(
                state, **reading, with_errors=bool(output.output), only=keys
            )
    report = report_of(results)
    if keys is None:
        keys = report.keys
    output.show_report(
        report,
        keys,
        notes=_bounds_lines(results, output.table_keys(keys)),
        recipes=recipes,
    )
    if figures:
        systems = {name: make_equivalent_system(state) for name, state in collection.states.items()}
        print(*write_figures(systems, figures), sep="\n")
    return not_below(report.notes())


def _bounds_lines(
    results: Mapping[str, SummaryResults],
    keys: Iterable[Key],
) -> Iterator[str]:
    """Yield a line for each system with what its inexact numbers are at least and at most."""
    shown = list(keys)
    for name, one in results.items():
        texts = []
        for key in shown:
            low = one.estimates[key].lower_bound
            high = one.estimates[key].upper_bound
            if low is not None and high is not None:
                texts.append(f"{key} in [{_digits(low, high)}]")
        if texts:
            yield f"{name}: near uncertainties are counted as one, so that {' and '.join(texts)}."


def _digits(low: float, high: float) -> str:
    """Return bounds with as many digits as tell them apart, rounded outwards."""
    digits = 15
    if high > low:
        digits = min(digits, max(3, 1 - math.floor(math.log10(high - low))))
    unit = 10.0**-digits
    return f"{math.floor(low / unit) * unit:.{digits}f}, {math.ceil(high / unit) * unit:.{digits}f}"

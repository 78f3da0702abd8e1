"""Any frame that narwhals takes, eager or lazy -> the numbers of each system: its own engine adds up the rows.

Of confidences only a table of groups leaves the engine: the rows of each distinct confidence or, of many rows, of bins
of neighbours, with their sums. Posteriors and costs leave it as Arrow batches, a few of which are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..classes import reword_errors
from ..errors import FileError, InputError, missing_package_error
from ..files.recipe import HEAD, Reading, Recipe
from ..files.systems import make_reading
from ..files.values import Sheet, from_values
from ..groups import SUMS, Groups
from ..options import Options, checked_options, is_set
from ..summary import (
    LINEAR,
    ROOT,
    Summary,
    SummaryResults,
    SystemResults,
    compute_summary_results,
    replace_groups,
)
from .batches import (
    DEFAULT_READING,
    GROUP,
    Score,
    describe_origin,
    infer_recipe,
    list_needed_columns,
    note_wrong_classes,
    run_engine,
    set_part,
    split_systems,
    states_of_batches,
)
from .rows import check_state_options, state_of
from .spark import quote_name, summarize_partitions

FEW_ROWS = 2**20  # of which each distinct confidence is a group
GROUP_COLUMNS = ("y", "low", "high", "count", "uncertainty")  # columns of groups, after `GROUP`
SOURCE = "the frame"


def score_frame(
    frame: Any,
    columns: Mapping[str, str] | None = None,
    *,
    by: str | None = None,
    unlabelled: str | None = None,
    scale: float | str = 1,
    correct_from: float | None = None,
    normalize: bool = False,
    decompose: bool = False,
    confidence_level: float | None = None,
    **options: object,
) -> SummaryResults | SystemResults:
    """Return every metric of the rows of a frame of pandas, Polars, PyArrow, DuckDB, Ibis or Spark.

    The frame may be lazy, and larger than memory: its own engine adds up the rows.

    Parameters
    ----------
    frame : object
        A frame or relation that narwhals takes, with columns as files have them.
    columns : mapping of str to str, optional
        A role to the column that has it, where its name does not tell, e.g. ``{"confidence": "p", "weight": "w"}``.
    by : str, optional
        A column whose values name systems, or parts of the data.
    unlabelled : {"wrong", "drop"}, optional
        What becomes of rows without a label, which are an error otherwise.
    scale : float or str, default=1
        What a confidence of 1 is in the frame, e.g. 100, or "LOW:HIGH" for what 0 and 1 are; "log" for
        log-probabilities, "nll" for negative ones.
    correct_from : float, optional
        The lowest grade that counts as right.
    normalize, decompose : bool, default=False
        Also compute values divided by those of a system that ignores its input, and the loss by bad calibration.
    confidence_level : float, optional
        Also compute analytic intervals.
    **options
        Options of `score_confidences` and its like that a sum over rows depends on: n, num_classes, reject_costs, ..

    Returns
    -------
    SummaryResults or SystemResults
        The numbers, with standard errors, bounds and notes; ``.flat()`` gives plain floats by key. Where columns name
        systems or parts, a mapping of each by its name.

    Raises
    ------
    InputError
        If columns or their values cannot be read so.
    TypeError
        If there is no such option.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"confidence": [0.9, 0.8, 0.4], "correct": [1, 0, 1]})
    >>> round(score_frame(frame, n=1).flat()["ecuas_1"], 4)
    0.67
    """
    reading = make_reading(columns, unlabelled=unlabelled, scale=scale, correct_from=correct_from)
    if by is not None:
        if not isinstance(by, str):
            raise InputError("by", "must be the name of a column", value=by)
        if reading.columns.get("part", by) != by:
            raise InputError(
                "by", "cannot be used with a column of the role part: they are one", value=by
            )
        reading = replace(reading, columns={**reading.columns, "part": by})
    settings = check_state_options(**options)
    asked: dict[str, Any] = {
        "normalize": normalize,
        "decompose": decompose,
        "confidence_level": confidence_level,
    }
    checked_options(**asked)  # before any row is read
    rows = lazy_rows(frame)
    recipe = _infer_frame_recipe(rows, reading, SOURCE)
    if is_set(settings, "weights_are") and not recipe.of("weight"):
        needed = "a column of weights"
        raise InputError("weights_are", "changes nothing without {needed}", needed=needed)
    states = states_of_frame(rows, settings, recipe=recipe)
    results = {}
    for name, state in sorted(states.items()):
        with reword_errors({"a state": f"the state of {name!r}"} if name else {}):
            of_state = compute_summary_results(state, **asked)
        notes = (*of_state.notes, *recipe.notes, *note_wrong_classes(state, recipe))
        results[name] = replace(of_state, notes=notes)
    return results[""] if results.keys() == {""} else SystemResults(results)


def states_of_frame(
    frame: Any,
    options: Options,
    *,
    name: str = "",
    prefix: str = "",
    source: str = SOURCE,
    recipe: Recipe | None = None,
) -> dict[str, Summary]:
    """Return the summary of each system in a frame; arguments are those of `states_of_batches`."""
    rows = lazy_rows(frame)
    recipe = recipe or _infer_frame_recipe(rows, DEFAULT_READING, source)
    names: dict[str, Any] = {"name": name, "prefix": prefix, "source": source}
    if _can_aggregate(recipe, rows.collect_schema()):
        # what the engine cannot add up, and what is to be repaired, refused or noted, the rows decide
        with suppress(FileError):
            groups = _aggregate_confidences(rows, recipe, options, source)
            if _are_clean(groups, options):
                return _summarize_groups(groups, options, recipe, **names)
    score = partial(states_of_batches, options=options, recipe=recipe, **names)
    return _summarize_rows(rows, recipe, score, source)


def lazy_rows(frame: Any) -> Any:
    """Return a frame as a lazy frame of narwhals; InputError if narwhals does not know its type."""
    try:
        import narwhals as nw
    except ImportError:
        raise missing_package_error("Frames need", "narwhals") from None
    try:
        return nw.from_native(_index_to_columns(frame)).lazy()
    except TypeError as error:
        raise InputError(
            "frame", "must be a frame or relation that narwhals takes", value=type(frame).__name__
        ) from error
    except nw.exceptions.DuplicateError as error:
        names = list(map(str, frame.columns))
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError("frame", "must have columns of different names", value=repeated) from error


def _index_to_columns(frame: Any) -> Any:
    """Return a pandas frame with a named index as columns, which Arrow has in memory; other frames unchanged."""
    names = getattr(getattr(frame, "index", None), "names", ())
    is_named = any(isinstance(name, str) and name not in frame.columns for name in names)
    return frame.reset_index() if is_named else frame


def _infer_frame_recipe(rows: Any, reading: Reading, source: str) -> Recipe:
    """Return the recipe that fits the first rows of a frame."""
    head = _head_table(run_engine(lambda: rows.head(HEAD).collect(), source))
    if not head.num_rows:
        raise InputError("frame", "empty")
    return infer_recipe(head, reading, source=source)


def _head_table(rows: Any) -> pa.Table:
    """Return rows as Arrow; pandas columns of mixed types, which Arrow refuses, become texts."""
    try:
        return rows.to_arrow()
    except (pa.ArrowException, TypeError, OverflowError):
        return pa.table({name: from_values(rows[name].to_list()) for name in rows.columns})


# ---- rows that leave their engine ----------------------------------------------------------------------------------


def _summarize_rows(rows: Any, recipe: Recipe, score: Score, source: str) -> dict[str, Summary]:
    """Return the summary of each system, computed by `score` from Arrow batches of the columns that are read."""
    read = list_needed_columns(recipe, rows.collect_schema().names())
    rows = rows.select(*(_input_column(name, rows) for name in read))
    native = rows.to_native()
    if _is_spark(rows):
        return summarize_partitions(native, score)
    if _is_stream(rows):
        return score(_iterate_batches(native, source))
    return score([run_engine(lambda: rows.collect().to_arrow(), source)])


def _iterate_batches(native: Any, source: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a frame whose engine gives one after the other."""
    batches = run_engine(lambda: pa.RecordBatchReader.from_stream(native), source)
    while (batch := run_engine(lambda: next(batches, None), source)) is not None:
        yield batch


def _is_spark(rows: Any) -> bool:
    return bool(rows.implementation.is_pyspark() or rows.implementation.is_pyspark_connect())


def _is_stream(rows: Any) -> bool:
    """Return whether the engine of a frame streams Arrow batches to this process."""
    return hasattr(rows.to_native(), "__arrow_c_stream__") and not _is_spark(rows)


# ---- rows that their engine adds up --------------------------------------------------------------------------------


def _can_aggregate(recipe: Recipe, types: Mapping[str, Any]) -> bool:
    """Return whether the engine can sum the rows: numeric confidences and correctness as they are, without weights."""
    are_numbers = all(_is_numeric(types.get(name)) for name in (*recipe.predictions, recipe.truth))
    rules = (recipe.correct_from, recipe.right, recipe.abstained)
    is_plain = recipe.scale == 1 and rules == (None, None, None)
    columns = recipe.of("weight") or recipe.of("abstained")
    return recipe.form == "confidences" and is_plain and are_numbers and not columns


def _is_numeric(kind: Any) -> bool:
    # an engine computes 16 bits as 32: as Arrow batches they are those of memory
    if kind is None or str(kind) == "Float16":
        return False
    return bool(kind.is_numeric()) or str(kind) == "Boolean"


def _are_clean(groups: pa.Table, options: Options) -> bool:
    """Return whether all groups have confidences in [0, 1], or [1 / K, 1], and a correctness of 0 or 1."""
    least = 1 / options.num_classes if options.num_classes else 0.0
    low, high, correct = (groups[GROUP + name].to_numpy() for name in ("low", "high", "y"))
    are_within = (low >= least) & (high <= 1)
    return len(groups) > 0 and bool((are_within & np.isin(correct, (0, 1))).all())


def _summarize_groups(
    groups: pa.Table, options: Options, recipe: Recipe, *, name: str, prefix: str, source: str
) -> dict[str, Summary]:
    """Return the summary of each system from groups that are clean, see `_are_clean`."""
    sheet = Sheet(groups, np.arange(1, 1 + len(groups)), source=source)
    states = {}
    for system, rows in split_systems(sheet, recipe, name, prefix):
        column = {one: rows.table[GROUP + one].to_numpy() for one in GROUP_COLUMNS}
        low, high, count = column["low"], column["high"], column["count"].astype(np.float64)
        wrong = 1.0 - column["y"]
        # that of one row of each
        state = state_of("confidences", low, column["y"], options, origin=describe_origin(recipe))
        uncertainty = np.where(low == high, count * (1 - low), column["uncertainty"])
        sums = dict.fromkeys(SUMS, count)
        sums |= dict.fromkeys(("cost", "weight2_cost", "weight2_cost2"), count * wrong)
        sums |= {"uncertainty": uncertainty, "cost_uncertainty": uncertainty * wrong}
        ends = {"rank": 0.0 - high, "high": 0.0 - low, "next_cost": np.ones(len(count))}
        size = int(count.sum())
        state = replace(
            state,
            basis=replace(state.basis, num_samples=size),
            rows=size,
            samples=size,
            wrong=int((count * wrong).sum()),
        )
        states[system] = set_part(replace_groups(state, Groups(**sums, **ends)), rows, recipe)
    return dict(sorted(states.items()))  # engines group in any order, and not in the same one twice


def _aggregate_confidences(rows: Any, recipe: Recipe, options: Options, source: str) -> pa.Table:
    """Return the sums over groups: of equal confidence, or of one bin if there are many rows."""
    table = _aggregate_rows(rows, recipe, options, source, key="bin")
    low, high, count = (table[GROUP + name].to_numpy() for name in ("low", "high", "count"))
    if count.sum() <= FEW_ROWS and (low < high).any():
        return _aggregate_rows(rows, recipe, options, source, key="q")
    return table


def _aggregate_rows(
    rows: Any, recipe: Recipe, options: Options, source: str, *, key: str
) -> pa.Table:
    """Return a row for each group of rows of equal `key`, "q" (confidence) or "bin", with the sums of the group."""
    import narwhals as nw

    systems = {f"system {place}": name for place, name in enumerate(recipe.systems)}
    cells = {"q": recipe.predictions[0], "y": recipe.truth}
    types = rows.collect_schema()
    cells_of = {
        ours: _numeric_column(_input_column(name, rows), types[name])
        for ours, name in cells.items()
    }
    names = {ours: _input_column(name, rows) for ours, name in systems.items()}
    aggregates = {
        "count": nw.len(),
        "low": nw.col("q").min(),
        "high": nw.col("q").max(),
        "uncertainty": nw.col("u").sum(),
    }

    def added_up() -> pa.Table:
        columns = rows.select(**names, **cells_of)
        # Each in a column of its own: engines compute an expression as often as it is written.
        for further in _bin_steps(options):
            columns = columns.with_columns(**further)
        keyed = columns.group_by(key, "y", *systems)
        return keyed.agg(**aggregates).collect().to_arrow()

    table = run_engine(added_up, source)
    return table.rename_columns([systems.get(name, GROUP + name) for name in table.column_names])


def _bin_steps(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the columns of expressions, each computed from those before, that lead to the bin of a confidence."""
    import narwhals as nw

    q = nw.col("q")
    root = nw.col("root")
    yield {"u": 1 - q, "within": q.clip(-1, 2)}  # what is far outside has no whole number of steps
    within = nw.col("within")
    yield {"near": nw.when(within >= 0.5).then(1 - within).otherwise(within)}
    yield {"root": nw.col("near").clip(0), "place": (within * options.n_bins).floor()}
    for _ in range(3):  # the eighth root
        yield {"root": root.sqrt()}
    yield {"bin": _bin_number(options)}


def _bin_number(options: Options) -> Any:
    """Return an expression: the number of the bin of each confidence.

    Bins end at the edges of the bins of ECE and at reject costs.
    """
    import narwhals as nw

    q = nw.col("within")
    place = nw.col("place")
    thresholds = [1 - cost for cost in options.reject_costs]
    # A product may round up to the next edge, or down from it.
    edges = [_divide_column(place, options.n_bins), _divide_column(place + 1, options.n_bins), 0.5]
    is_beyond = [q >= edge for edge in (*edges, *thresholds)]
    is_beyond += [q > threshold for threshold in thresholds]
    for one in is_beyond:
        place = place + one.cast(nw.Float64)
    steps = (LINEAR * nw.col("near") + ROOT * nw.col("root")).floor()
    return steps * (options.n_bins + len(is_beyond) + 1) + place


def _divide_column(column: Any, divisor: float) -> Any:
    """Return a column divided by a number, rounded as in memory: by a constant Polars multiplies with its inverse."""
    return column / (column * 0 + divisor)


def _numeric_column(column: Any, dtype: Any) -> Any:
    """Return a column as float64, null where it is nan; 0.9 in float32 is 0.9, as in memory."""
    import narwhals as nw

    is_narrow = dtype == nw.Float32
    written = column.cast(nw.String) if is_narrow else column
    number = written.cast(nw.Float64)
    return nw.when(~number.is_nan()).then(number)


def _input_column(name: str, rows: Any) -> Any:
    """Return the expression of a column of the frame, quoted for Spark, where a dot in a name would mean a field."""
    import narwhals as nw

    return nw.col(quote_name(name)).alias(name) if _is_spark(rows) else nw.col(name)

"""Any frame that narwhals takes, eager or lazy -> the numbers of each system: its own engine adds up the rows.

Of confidences only a table of groups leaves the engine: the rows of each distinct confidence or, of many rows, of bins
of neighbours, with their sums. Posteriors and costs leave it as Arrow batches, a few of which are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError, missing_package
from ..files.evidence import scale_counts
from ..files.recipe import HEAD, Reading, Recipe, limits_of, on_unit_scale
from ..files.submissions import advised, located, systems_in
from ..files.values import Sheet, floats_in, plain
from ..inputs import Floats, clip, fill_missing
from ..options import Options
from ..summary import (
    LINEAR,
    ROOT,
    SUMS,
    GroupSums,
    Summary,
    SummaryResults,
    results_of,
    with_groups,
)
from .batches import (
    AS_SAID,
    check_reading,
    collected,
    columns_read,
    empty_of,
    kept_rows,
    note_on_class,
    origin_of,
    recipe_of_rows,
    require_one_scale,
    states_of_batches,
)
from .rows import LARGEST_WEIGHT, LEAST_WEIGHT, state_of, state_options

FEW_ROWS = 2**20  # of which each distinct confidence is a group
SOURCE = "the frame"
_OURS = "ecuas "  # before the names of our columns
_NO_BIN = -1e15  # of rows without a confidence
_OUTSIDE = -2e15  # of confidences that are none


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
) -> SummaryResults | dict[str, SummaryResults]:
    """Return every metric of the rows of a frame of pandas, Polars, PyArrow, DuckDB, Ibis, Dask or Spark.

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
        What a confidence of 1 is in the frame, e.g. 100, or "LOW:HIGH" for what 0 and 1 are.
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
    SummaryResults or dict of str to SummaryResults
        The numbers, with standard errors, bounds and notes; ``.flat()`` gives plain floats by key. Where columns name
        systems or parts, those of each by its name.

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
    parts = {} if by is None else {"part": by}
    roles = {**(columns or {}), **parts}
    reading = Reading(unlabelled=unlabelled, scale=scale, correct_from=correct_from, columns=roles)
    settings = state_options(**options)
    rows = lazy_rows(frame)
    recipe = _recipe_of(rows, reading, SOURCE)
    states = states_of_frame(rows, settings, recipe=recipe)
    results = {}
    for name, state in sorted(states.items()):
        numbers = results_of(
            state, normalize=normalize, decompose=decompose, confidence_level=confidence_level
        )
        notes = (*numbers.notes, *recipe.notes, *note_on_class(state, recipe))
        results[name] = replace(numbers, notes=notes)
    return results[""] if results.keys() == {""} else results


def states_of_frame(
    frame: Any,
    options: Options,
    *,
    name: str = "",
    prefix: str = "",
    source: str = SOURCE,
    recipe: Recipe | None = None,
    reading: Reading = AS_SAID,
) -> dict[str, Summary]:
    """Return the summary of each system in a frame; arguments are those of `states_of_batches`."""
    rows = lazy_rows(frame)
    recipe = recipe or _recipe_of(rows, reading, source)
    if not _is_counted(recipe, rows.collect_schema()):
        return _by_batches(
            rows,
            options,
            recipe,
            name=name,
            prefix=prefix,
            source=source,
        )
    table = _added_up(rows, recipe, options, source)
    try:
        return _summaries(
            table,
            recipe,
            options,
            name=name,
            prefix=prefix,
            source=source,
        )
    except InputError:
        # where one goes through the rows, the error names the first that is wrong
        if _is_stream(rows):
            _by_batches(rows, options, recipe, name=name, prefix=prefix, source=source)
        raise


def lazy_rows(frame: Any) -> Any:
    """Return the lazy frame of narwhals; InputError if it takes none such."""
    try:
        import narwhals as nw
    except ImportError:
        raise missing_package("Frames need", "narwhals") from None
    try:
        return nw.from_native(frame).lazy()
    except TypeError as error:
        raise InputError("frame", "not_a_frame", value=type(frame).__name__) from error


def _recipe_of(rows: Any, reading: Reading, source: str) -> Recipe:
    """Return how the rows of a frame are read, by the first of them."""
    check_reading(reading)
    head = collected(lambda: rows.head(HEAD).collect().to_arrow(), source)
    if not head.num_rows:
        raise InputError("frame", "empty")
    return recipe_of_rows(head, reading, source=source)


# ---- rows that leave their engine ----------------------------------------------------------------------------------


def _by_batches(
    rows: Any, options: Options, recipe: Recipe, *, name: str, prefix: str, source: str
) -> dict[str, Summary]:
    """Return the summary of each system by Arrow batches of the columns that are read."""
    rows = rows.select(*columns_read(recipe, rows.collect_schema().names()))
    if _is_of_spark(rows):
        from .partitions import states_of_rows

        return states_of_rows(
            rows.to_native(),
            recipe,
            options,
            name=name,
            prefix=prefix,
        )
    native = rows.to_native()
    batches: Iterable[pa.RecordBatch | pa.Table]
    batches = (
        pa.RecordBatchReader.from_stream(native)
        if _is_stream(rows)
        else [rows.collect().to_arrow()]
    )
    return states_of_batches(
        batches,
        options,
        name=name,
        prefix=prefix,
        source=source,
        recipe=recipe,
    )


def _is_of_spark(rows: Any) -> bool:
    return bool(rows.implementation.is_pyspark() or rows.implementation.is_pyspark_connect())


def _is_stream(rows: Any) -> bool:
    """Return whether the engine of a frame gives its rows one batch after the other, here."""
    return hasattr(rows.to_native(), "__arrow_c_stream__") and not _is_of_spark(rows)


# ---- rows that their engine adds up --------------------------------------------------------------------------------


def _is_counted(recipe: Recipe, types: Mapping[str, Any]) -> bool:
    """Return whether an expression takes the rows: confidences, correctness and weights that are numbers."""
    names = [*recipe.predictions, recipe.truth, *recipe.of("weight")]
    kinds = [types.get(name) for name in names]
    are_numbers = all(
        kind is not None and (kind.is_numeric() or str(kind) == "Boolean") for kind in kinds
    )
    return recipe.form == "confidences" and recipe.right is None and are_numbers


def _added_up(
    rows: Any,
    recipe: Recipe,
    options: Options,
    source: str,
) -> pa.Table:
    """Return the groups of rows: of equal confidences or, of many rows with different ones, of those in a bin."""
    columns = _columns(rows, recipe, options)
    table = _grouped(columns, "bin", recipe, source)
    is_tied = pc.equal(table[_OURS + "low"], table[_OURS + "high"])
    count = pc.sum(table[_OURS + "count"], min_count=0).as_py()
    if count <= FEW_ROWS and not pc.all(is_tied, min_count=0).as_py():
        return _grouped(columns, "q", recipe, source)
    return table


def _columns(rows: Any, recipe: Recipe, options: Options) -> Any:
    """Return rows of systems, confidence q, correctness y and weight w, and what they are added up by."""
    import narwhals as nw

    types = rows.collect_schema()
    q = _number(recipe.predictions[0], types)
    if recipe.scale != 1:
        q = on_unit_scale(q, recipe.scale)
    y = _number(recipe.truth, types)
    if recipe.correct_from is not None:
        y = nw.when(~y.is_null()).then((y >= recipe.correct_from).cast(nw.Float64))
    weights = {}
    if recipe.of("weight"):
        weights["w"] = _number(recipe.of("weight")[0], types)
    rows = rows.select(
        *map(nw.col, recipe.systems),
        **_ours(
            q=q,
            y=y,
            **weights,
        ),
    )
    # Each in a column of its own: engines compute an expression as often as it is written.
    q = nw.col(_OURS + "q")
    y = nw.col(_OURS + "y")
    rows = rows.with_columns(**_ours(near=nw.when(q >= 0.5).then(1 - q).otherwise(q)))
    near = nw.col(_OURS + "near")
    rows = rows.with_columns(**_ours(root=nw.when(near > 0).then(near).otherwise(nw.lit(0.0))))
    root = nw.col(_OURS + "root")
    for _ in range(3):  # the eighth root
        rows = rows.with_columns(**_ours(root=root.sqrt()))
    rows = rows.with_columns(**_ours(place=(q * options.n_bins).floor()))
    _, high = limits_of(recipe.scale)
    bins = nw.when((q > -1) & (q < 2)).then(_bin(options, high)).otherwise(nw.lit(_OUTSIDE))
    columns = {
        "bin": nw.when(~q.is_null()).then(bins).otherwise(nw.lit(_NO_BIN)).cast(nw.Int64),
        "is_judged": ~y.is_null(),
        "y": y.fill_null(0.0),
        "low": q,
        "high": q,
        "wu": 1 - q,
    }
    if weights:
        columns |= _columns_of_weights(nw.col(_OURS + "w"), 1 - q, options)
    return rows.with_columns(**_ours(**columns))


def _columns_of_weights(
    w: Any,
    u: Any,
    options: Options,
) -> dict[str, Any]:
    """Return what is added up of weights, and what tells those that are none apart."""
    are_counts = options.weights_are == "counts"
    is_whole = w == w.floor() if are_counts else w == w
    is_within = (w == 0) | ((w >= LEAST_WEIGHT) & (w <= LARGEST_WEIGHT))
    is_weight = ~w.is_null() & is_within & is_whole
    is_positive = ~w.is_null() & (w > 0)
    return {
        "is_weight": is_weight,
        "is_positive": is_positive,
        "w2": w if are_counts else w * w,
        "w4": w if are_counts else w * w * w * w,
        "lightest": w,
        "wu": w * u,
    }


def _bin(options: Options, high: float) -> Any:
    """Return a whole number for each confidence, equal for neighbours that may share a group.

    Groups end where bins of ECE and reject costs do, and at what notes and refusals count: 1 of a scale, and 1 / K.
    """
    import narwhals as nw

    q = nw.col(_OURS + "q")
    place = nw.col(_OURS + "place")
    thresholds = [1 - cost for cost in options.reject_costs]
    thresholds += [1 / high] if high > 1 else []
    thresholds += [1 / options.num_classes] if options.num_classes else []
    # A product may round up to the next edge, or down from it.
    is_beyond = [
        q >= place / options.n_bins,
        q >= (place + 1) / options.n_bins,
        q >= 0.5,
    ]
    is_beyond += [q >= threshold for threshold in thresholds]
    is_beyond += [q > threshold for threshold in thresholds]
    for one in is_beyond:
        place = place + one.cast(nw.Float64)
    steps = (LINEAR * nw.col(_OURS + "near") + ROOT * nw.col(_OURS + "root")).floor()
    return steps * (options.n_bins + len(is_beyond) + 1) + place


def _number(name: str, types: Mapping[str, Any]) -> Any:
    """Return a column as numbers, nothing where it is not a number."""
    import narwhals as nw

    column = nw.col(name).cast(nw.Float64)
    return nw.when(~column.is_nan()).then(column) if types[name].is_float() else column


def _ours(**columns: Any) -> dict[str, Any]:
    return {_OURS + name: column for name, column in columns.items()}


def _grouped(
    columns: Any,
    key: str,
    recipe: Recipe,
    source: str,
) -> pa.Table:
    """Return the groups of rows of an equal key, with their counts and sums."""
    import narwhals as nw

    keys = [key, "y", "is_judged"]
    sums = ["wu"]
    smallest = ["low"]
    if recipe.of("weight"):
        keys += ["is_weight", "is_positive"]
        sums += ["w", "w2", "w4"]
        smallest += ["lightest"]
    aggregates = [nw.len().alias(_OURS + "count"), nw.col(_OURS + "high").max()]
    aggregates += [nw.col(_OURS + name).sum() for name in sums]
    aggregates += [nw.col(_OURS + name).min() for name in smallest]
    groups = columns.group_by(*recipe.systems, *(_OURS + name for name in keys)).agg(*aggregates)
    return collected(lambda: groups.collect().to_arrow(), source)


# ---- groups -> summaries -------------------------------------------------------------------------------------------


def _summaries(
    table: pa.Table, recipe: Recipe, options: Options, *, name: str, prefix: str, source: str
) -> dict[str, Summary]:
    """Return the summary of each system in a table of groups."""
    if not len(table):
        return {}
    if not recipe.systems:
        return {name: _summary(table, recipe, options, source)}
    systems, codes = systems_in(
        Sheet(
            table,
            np.arange(len(table)),
            source=source,
        ),
        recipe.systems,
    )
    tables = [table.filter(pa.array(codes == code)) for code in range(len(systems))]
    summaries = [_summary(part, recipe, options, source) for part in tables]
    # engines group in any order, and not in the same one twice
    by_name = sorted(zip(systems, summaries, strict=True), key=lambda pair: pair[0])
    return {f"{prefix}{system}": one for system, one in by_name}


def _summary(
    table: pa.Table,
    recipe: Recipe,
    options: Options,
    file: str,
) -> Summary:
    """Return the summary of the groups of one system."""
    rows = np.zeros(len(table), np.int64)  # whose numbers are not known
    column = {name.removeprefix(_OURS): floats_in(plain(table[name])) for name in _our_names(table)}
    _, high = limits_of(recipe.scale)
    require_one_scale(
        scale_counts(column["high"] * high, column["count"]),
        recipe,
        file,
    )
    truth = np.where(column["is_judged"] == 1, column["y"], np.nan)
    kept, notes = kept_rows(truth, recipe, file, rows, column["count"])
    column = {name: values[kept] for name, values in column.items()}
    if not kept.any():
        return replace(empty_of(recipe, options), notes=notes)
    # one of each group, for checks and notes
    shown = np.where(column["high"] > 1, column["high"], column["low"])
    weight = column.get("lightest")
    copies = column["count"]
    origin = origin_of(recipe)
    try:
        summary = state_of(
            "confidences",
            shown,
            column["y"],
            options,
            sample_weight=weight,
            copies=copies,
            origin=origin,
        )
    except InputError as error:
        error.index = error.count = error.total = None  # those of groups are not those of rows
        raise advised(
            located(error, recipe, file, rows),
            shown,
            column["y"],
            "confidences",
        ) from None
    summary = replace(summary, notes=(*notes, *summary.notes))
    return with_groups(summary, _groups(column, options))


def _our_names(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name.startswith(_OURS)]


def _groups(column: Mapping[str, Floats], options: Options) -> GroupSums:
    """Return the groups as those of a summary; costs are 0 or 1."""
    low = _repaired(column["low"], options)
    high = _repaired(column["high"], options)
    wrong = 1 - column["y"]
    w = column.get("w", column["count"])
    w2 = column.get("w2", w)
    w4 = column.get("w4", w)
    wu = np.where(low == high, w * (1 - low), column["wu"])
    sums = dict(
        zip(
            SUMS,
            (w, w * wrong, w2, w2 * wrong, w2 * wrong, w4, wu, wu * wrong),
            strict=True,
        )
    )
    counted = w > 0
    ranks = (0.0 - high[counted], 0.0 - low[counted])
    return GroupSums(*ranks, {name: values[counted] for name, values in sums.items()})


def _repaired(confidence: Floats, options: Options) -> Floats:
    clipped, _ = clip(confidence)
    return fill_missing(clipped, missing_confidence=options.missing_confidence)[0]

"""Any frame that narwhals takes, eager or lazy -> the numbers of each system: its own engine adds up the rows.

Of confidences only a table of groups leaves the engine: the rows of each distinct confidence or, of many rows, of bins
of neighbours, with their sums. Posteriors and costs leave it as Arrow batches, a few of which are in memory at a time.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, InputError, missing_package
from ..files.evidence import are_mixed
from ..files.recipe import HEAD, Recipe, limits_of
from ..files.submissions import Source, advised, systems_in
from ..files.values import Sheet, floats_in, plain
from ..inputs import Floats, clip, fill_missing
from ..options import Options
from ..summary import LINEAR, ROOT, SUMS, GroupSums, Summary, SummaryResults, results_of, with_groups
from .batches import (
    RowOptions,
    check_reading,
    collected,
    columns_read,
    note_unlabelled,
    origin_of,
    recipe_of_rows,
    require_labelled,
    states_of_batches,
    words_of,
)
from .rows import empty_state, state_of, state_options

FEW_ROWS = 2**20  # of which each distinct confidence is a group
SOURCE = "the frame"
_OURS = "ecuas "  # before the names of our columns


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
    said = dict(columns or {})
    if by is not None:
        said["part"] = by
    states = states_of_frame(
        frame,
        state_options(**options),
        columns=said,
        unlabelled=unlabelled,
        scale=scale,
        correct_from=correct_from,
    )
    results = {
        name: results_of(state, normalize=normalize, decompose=decompose, confidence_level=confidence_level)
        for name, state in sorted(states.items())
    }
    return results[""] if results.keys() == {""} else results


def states_of_frame(
    frame: Any,
    options: Options,
    *,
    name: str = "",
    prefix: str = "",
    source: str = SOURCE,
    recipe: Recipe | None = None,
    **reading: Unpack[RowOptions],
) -> dict[str, Summary]:
    """Return the summary of each system in a frame; `name`, `prefix` and `source` are those of `states_of_batches`."""
    check_reading(reading)
    rows = lazy_rows(frame)
    if recipe is None:
        sample = collected(lambda: rows.head(HEAD).collect().to_arrow(), source)
        if not sample.num_rows:
            raise InputError("frame", "empty")
        recipe = recipe_of_rows(sample, reading, source=source)
    if recipe.form == "confidences":
        return _Counting(rows, recipe, options, source).states(name, prefix)
    rows = rows.select(*columns_read(recipe))
    if rows.implementation.is_pyspark() or rows.implementation.is_pyspark_connect():
        from .partitions import states_of_rows

        return states_of_rows(rows.to_native(), recipe, options, name=name, prefix=prefix, **reading)
    return states_of_batches(_batches(rows), options, name=name, prefix=prefix, source=source, recipe=recipe, **reading)


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


def _batches(rows: Any) -> Iterable[pa.RecordBatch | pa.Table]:
    """Return Arrow batches of a lazy frame, a stream of them where its engine has one."""
    native = rows.to_native()
    if hasattr(native, "__arrow_c_stream__"):
        reader: Iterable[pa.RecordBatch] = pa.RecordBatchReader.from_stream(native)
        return reader
    return [rows.collect().to_arrow()]


class _Counting:
    """The rows of confidences in a frame, whose engine adds up those of equal confidence, or of a bin."""

    def __init__(self, rows: Any, recipe: Recipe, options: Options, source: str) -> None:
        self.recipe = recipe
        self.options = options
        self.source = Source(source, words_of(recipe), np.zeros(0, np.int64))
        self.is_weighted = bool(recipe.of("weight"))
        self.low, self.high = limits_of(recipe.scale)
        self.rows = self._prepared(rows)

    def states(self, name: str, prefix: str) -> dict[str, Summary]:
        """Return the summary of each system."""
        table = self._added_up("bin")
        is_tied = pc.equal(table[_OURS + "low"], table[_OURS + "high"])
        if pc.sum(table[_OURS + "one"]).as_py() <= FEW_ROWS and not pc.all(is_tied).as_py():
            table = self._added_up("q")
        if not self.recipe.systems:
            return {name: self._summary(table)}
        sheet = Sheet(table, np.arange(len(table)), source=self.source.file)
        systems, codes = systems_in(sheet, self.recipe.systems)
        tables = [table.filter(pa.array(codes == code)) for code in range(len(systems))]
        return {f"{prefix}{system}": self._summary(part) for system, part in zip(systems, tables, strict=True)}

    def _prepared(self, rows: Any) -> Any:
        """Return rows of systems, confidence q, correctness y and weight w, and what they are added up by."""
        import narwhals as nw

        types = rows.collect_schema()
        q = _number(self.recipe.predictions[0], types)
        if self.recipe.scale != 1:
            q = (q - self.low) / (self.high - self.low)
        y = _number(self.recipe.truth, types)
        if self.recipe.correct_from is not None:
            y = nw.when(~y.is_null()).then((y >= self.recipe.correct_from).cast(nw.Float64))
        w = _number(self.recipe.of("weight")[0], types) if self.is_weighted else nw.lit(1.0)
        rows = rows.select(*map(nw.col, self.recipe.systems), **_ours(q=q, y=y, w=w))
        q, y, w = (nw.col(_OURS + name) for name in "qyw")
        # Each in a column of its own: engines compute an expression as often as it is written.
        near = nw.when(q >= 0.5).then(1 - q).otherwise(q)
        rows = rows.with_columns(**_ours(near=nw.when(near > 0).then(near).otherwise(nw.lit(0.0))))
        root = nw.col(_OURS + "near")
        for _ in range(3):  # the eighth root
            rows = rows.with_columns(**_ours(root=root.sqrt()))
            root = nw.col(_OURS + "root")
        columns = {
            "bin": nw.when(q.is_null()).then(-1).otherwise(self._bin(q)),
            "is_judged": ~y.is_null(),
            "y": y.fill_null(0.0),
            "low": q,
            "high": q,
            "one": nw.lit(1),
            "wu": w * (1 - q) if self.is_weighted else 1 - q,
        }
        if self.is_weighted:
            is_whole = w == w.floor() if self.options.weights_are == "counts" else w == w
            is_weight = ~w.is_null() & (w >= 0) & (w < math.inf) & is_whole
            columns |= {"is_weight": is_weight, "is_positive": ~w.is_null() & (w > 0), "w2": w * w, "lightest": w}
        return rows.with_columns(**_ours(**columns))

    def _bin(self, q: Any) -> Any:
        """Return a whole number for each confidence, equal for neighbours that may share a group."""
        import narwhals as nw

        # Groups end where confidences are clipped or reject costs and bins of ECE end, and for `scale_counts`.
        firsts = [0.0, 0.5, 1 / self.high, *(np.arange(1, self.options.n_bins) / self.options.n_bins)]
        accepted = 1 - np.array([*self.options.reject_costs, 1 - 1 / (self.options.num_classes or math.inf)])
        is_beyond = [q >= end for end in np.unique([*firsts, *accepted]).tolist()]
        is_beyond += [q > end for end in np.unique([1.0, *accepted]).tolist()]
        steps = (LINEAR * nw.col(_OURS + "near") + ROOT * nw.col(_OURS + "root")).floor().cast(nw.Int64)
        places = functools.reduce(operator.add, (one.cast(nw.Int64) for one in is_beyond))
        return steps * (len(is_beyond) + 1) + places

    def _added_up(self, key: str) -> pa.Table:
        """Return the groups of rows of an equal key, with their counts and sums."""
        import narwhals as nw

        keys = [key, "y", "is_judged", *(("is_weight", "is_positive") if self.is_weighted else ())]
        sums = ["one", "wu", *(("w", "w2") if self.is_weighted else ())]
        columns = [nw.col(_OURS + name).sum() for name in sums]
        columns += [nw.col(_OURS + "low").min(), nw.col(_OURS + "high").max()]
        if self.is_weighted:
            columns.append(nw.col(_OURS + "lightest").min())
        names = [*self.recipe.systems, *(_OURS + name for name in keys)]
        groups = self.rows.group_by(*names).agg(*columns)
        return collected(lambda: groups.collect().to_arrow(), self.source.file)

    def _summary(self, table: pa.Table) -> Summary:
        """Return the summary of the groups of one system."""
        count = _column(table, "one")
        self._require_one_scale(table, count)
        is_open = _column(table, "is_judged") == 0
        require_labelled(is_open, self.recipe, self.source, self.recipe.unlabelled, count)
        notes = note_unlabelled(float(count[is_open].sum()), float(count.sum()), self.recipe.unlabelled)
        if self.recipe.unlabelled == "drop":
            table = table.filter(pa.array(~is_open))
            count = count[~is_open]
        low = _column(table, "low")
        high = _column(table, "high")
        correct = _column(table, "y")
        weight = _column(table, "lightest") if self.is_weighted else None
        origin = origin_of(self.recipe)
        if not len(table):
            return replace(
                empty_state("confidences", self.options, is_weighted=self.is_weighted, origin=origin), notes=notes
            )
        shown = np.where(high > 1, high, low)  # one confidence of each group, for checks and notes
        try:
            summary = state_of(
                "confidences", shown, correct, self.options, sample_weight=weight, copies=count, origin=origin
            )
        except InputError as error:
            error.index = error.count = error.total = None  # those of groups are not those of rows
            raise advised(self.source.error(error), shown, correct, "confidences") from None
        summary = replace(summary, notes=(*notes, *summary.notes))
        return with_groups(summary, self._groups(table, low, high, 1 - correct))

    def _require_one_scale(self, table: pa.Table, count: Floats) -> None:
        if self.low != 0 or self.high <= 1:
            return
        low = _column(table, "low")
        high = _column(table, "high")
        one = 1 / self.high
        counts = [count[which].sum() for which in (high <= one, (low > 0) & (high < one), low > 0)]
        if are_mixed(np.array([count.sum(), *counts]), self.high):
            raise FileError(
                self.source.file,
                "several_scales",
                column=self.recipe.predictions[0],
                advice="write_in_one_scale",
                within=int(counts[0]),
                size=int(count.sum()),
            )

    def _groups(self, table: pa.Table, low: Floats, high: Floats, wrong: Floats) -> GroupSums:
        """Return the groups as those of a summary; costs are 0 or 1."""
        edges = []
        for edge in (low, high):
            edges.append(fill_missing(clip(edge)[0], missing_confidence=self.options.missing_confidence)[0])
        low, high = edges
        w = _column(table, "w") if self.is_weighted else _column(table, "one")
        w2 = _column(table, "w2") if self.is_weighted else w
        wu = np.where(low == high, w * (1 - low), _column(table, "wu"))
        sums = dict(zip(SUMS, (w, w * wrong, w2, w2 * wrong, w2 * wrong, wu, wu * wrong), strict=True))
        counted = w > 0
        return GroupSums(
            0.0 - high[counted], 0.0 - low[counted], {name: values[counted] for name, values in sums.items()}
        )


def _number(name: str, types: Mapping[str, Any]) -> Any:
    """Return a column as numbers, nothing where it is not a number."""
    import narwhals as nw

    column = nw.col(name).cast(nw.Float64)
    return nw.when(~column.is_nan()).then(column) if types[name].is_float() else column


def _ours(**columns: Any) -> dict[str, Any]:
    return {_OURS + name: column for name, column in columns.items()}


def _column(table: pa.Table, name: str) -> Floats:
    return floats_in(plain(table[_OURS + name]))

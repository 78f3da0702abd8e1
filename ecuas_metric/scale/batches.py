"""Arrow batches of rows -> one state per system: what every engine calls on the part of the data that it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import InputError
from ..inputs import Floats
from ..options import Options
from ..reporting.columns import find_columns, form_of
from ..reporting.files import FileAdvice, FileError
from ..reporting.submissions import MAX_SYSTEMS, Source
from .counts import state_of_counts
from .state import State, merge, state_of

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 2**22  # bytes of rows that are scored together
WAITING = 4
GIVEN_ONLY = ("count", "wrong", "uncertainty", "cost")  # roles of columns that no name tells


class Layout(NamedTuple):
    """Which columns of a table are read, and as what.

    Attributes
    ----------
    form : {"confidences", "posteriors", "positive", "costs", "counts"}
    predictions : tuple of str
        One column, or those of all classes.
    references : str
    systems : tuple of str
        Columns whose values name the system of a row, joined by a space; none if all rows are of one.
    weight : str or None
    copies : str or None
        How many rows a row stands for.
    """

    form: str
    predictions: tuple[str, ...]
    references: str
    systems: tuple[str, ...] = ()
    weight: str | None = None
    copies: str | None = None

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        named = [*self.predictions, self.references, *self.systems, self.weight, self.copies]
        return list(dict.fromkeys(name for name in named if name is not None))


def layout_of(schema: pa.Schema, columns: Mapping[str, str] | None = None, *, source: str = "batches") -> Layout:
    """Return which columns are read of tables with a schema, found by their names as in files.

    Parameters
    ----------
    schema : pyarrow.Schema
    columns : mapping, optional
        The role of a column to its name, as for `read_submissions`. Besides, ``uncertainty`` and ``cost`` name the
        columns of costs; and ``count`` and ``wrong`` those of ``SELECT confidence, COUNT(*), SUM(wrong) GROUP BY 1``.
    source : str
        What to call the rows in errors.

    Returns
    -------
    Layout

    Raises
    ------
    FileError
        If there is no such column, or none that tells what the rows are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> layout_of(pa.schema({"q": pa.float64(), "correct": pa.bool_()}), {"confidence": "q"}).columns
    ['q', 'correct']
    """
    given = dict(columns or {})
    own = {role: _present(given.pop(role), schema, source) for role in GIVEN_ONLY if role in given}
    frame = schema.empty_table().to_pandas()
    used = find_columns(frame, given, source)
    systems, weight = tuple(used["system"]), next(iter(used["weight"]), None)
    if "uncertainty" in own:
        return Layout("costs", (own["uncertainty"],), own["cost"], systems, weight)
    if "count" in own:
        return Layout("counts", tuple(used["confidence"][:1]), own["wrong"], systems, None, own["count"])
    form = form_of(frame, used, given, source)
    if form == "predicted":
        raise FileError(source, "a predicted and a true class are not compared out of core; write a column correct")
    roles = {"confidences": ("confidence", "correct"), "positive": ("positive", "label")}
    predictions, references = (used[role] for role in roles.get(form, ("posteriors", "label")))
    if form != "posteriors" and len(predictions) > 1:
        rule = f"there must be one column of {form}; found {', '.join(predictions)}"
        raise FileError(source, rule, advice=FileAdvice.SAY_WHICH)
    return Layout(form, tuple(predictions), references[0], systems, weight)


def states_of_batches(
    batches: Iterable[pa.RecordBatch],
    options: Options,
    *,
    columns: Mapping[str, str] | None = None,
    drop_unjudged: bool = False,
    name: str = "system",
    source: str = "batches",
) -> dict[str, State]:
    """Return the state of each system in batches of rows, a few of which are in memory at a time.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch or Table
        Of a Parquet file, a DuckDB reader, a stream of `datasets` ...
    options : Options
        See `state.state_of`.
    columns : mapping, optional
        See `layout_of`.
    drop_unjudged : bool
        Leave out rows whose correctness is missing, and count them, instead of raising an error.
    name : str
        Of the system, if there is no column of systems.
    source : str
        What to call the batches in errors.

    Returns
    -------
    dict of str to State
        Empty if there are no rows.

    Raises
    ------
    FileError
        Names the source, the column, the row (from 1) and the value.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ecuas_metric.options import checked_options
    >>> batch = pa.record_batch({"confidence": [0.9, 0.4], "correct": [1, 0], "model": ["a", "b"]})
    >>> states = states_of_batches([batch, batch], checked_options())
    >>> {name: state.rows for name, state in states.items()}
    {'a': 2, 'b': 2}
    """
    found: dict[str, State] = {}
    waiting: dict[str, list[State]] = {}
    start = 1
    for table in _chunks(batches):
        layout = layout_of(table.schema, columns, source=source)
        for system, rows in _systems(table, layout, name, source, start):
            part = table if rows is None else table.take(rows)
            numbers = np.arange(start, start + len(table)) if rows is None else rows + start
            level = found[system].cells.level if system in found else 0
            state = _state_of_table(part, layout, options, drop_unjudged, (source, numbers, level))
            if state is not None:
                found[system] = _joined(found.get(system), state, waiting.setdefault(system, []))
        if len(found) > MAX_SYSTEMS:
            rule = f"must name at most {MAX_SYSTEMS:,} systems"
            raise FileError(source, rule, column="+".join(layout.systems), value=len(found), got=f"{len(found):,}")
        start += len(table)
    return {system: merge([state, *waiting[system]]) for system, state in found.items()}


def _joined(state: State | None, more: State, waiting: list[State]) -> State:
    """Return the state, merged with those that wait once they are several: each merge goes through all cells."""
    if state is None:
        return more
    waiting.append(more)
    if len(waiting) < WAITING:
        return state
    merged = merge([state, *waiting])
    waiting.clear()
    return merged


def _chunks(batches: Iterable[pa.RecordBatch | pa.Table]) -> Iterator[pa.Table]:
    """Yield tables of about CHUNK bytes."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    for batch in batches:
        if len(batch):
            waiting.append(pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch)
        if sum(table.nbytes for table in waiting) >= CHUNK:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _systems(
    table: pa.Table, layout: Layout, name: str, source: str, start: int
) -> Iterator[tuple[str, np.ndarray | None]]:
    """Yield the name of each system and its rows; None is all."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not layout.systems:
        yield name, None
        return
    for column in layout.systems:
        missing = table[column].is_null().to_numpy()
        if missing.any():
            row = int(np.argmax(missing)) + start
            raise FileError(source, "must name a system; it is empty", column=column, row=row)
    texts = [table[column].cast(pa.string()) for column in layout.systems]
    joined = texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, " ")
    encoded = joined.combine_chunks().dictionary_encode()
    codes = encoded.indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    yield from zip(encoded.dictionary.to_pylist(), parts, strict=True)


def _state_of_table(
    table: pa.Table, layout: Layout, options: Options, drop_unjudged: bool, place: tuple[str, np.ndarray, int]
) -> State | None:
    source = Source(place[0], _words(layout), place[1])
    references = _numbers(table, layout.references, source)
    kept = ~np.isnan(references) if drop_unjudged else np.ones(len(references), np.bool_)
    unjudged = int(np.count_nonzero(~kept))
    if not kept.any():
        return None
    _require_judged(references, layout, source, drop_unjudged)
    predictions = _predictions(table, layout, source)
    weight = None if layout.weight is None else _numbers(table, layout.weight, source)[kept]
    source = source._replace(rows=source.rows[kept])
    try:
        if layout.copies is not None:
            copies = _numbers(table, layout.copies, source)
            return state_of_counts(predictions[kept], copies[kept], references[kept], options)
        form = "posteriors" if layout.form == "positive" else layout.form
        if layout.form == "positive":
            options = options.replace(predictions_are="positive_probabilities")
        state = state_of(form, predictions[kept], references[kept], options, sample_weight=weight, level=place[2])
    except InputError as error:
        raise source.error(error) from None
    return state._replace(sums={**state.sums, "unjudged": unjudged}) if unjudged else state


def _words(layout: Layout) -> dict[str, str]:
    """Return which column each argument of `state_of` is."""
    words = {"predictions": "+".join(layout.predictions), "references": layout.references}
    return words | {"sample_weight": layout.weight or "", "count": layout.copies or "", "wrong": layout.references}


def _require_judged(references: Floats, layout: Layout, source: Source, drop_unjudged: bool) -> None:
    missing = np.isnan(references)
    if missing.any() and not drop_unjudged:
        raise FileError(
            source.file,
            "has no value",
            column=layout.references,
            row=int(source.rows[np.argmax(missing)]),
            count=int(missing.sum()),
            total=len(missing),
            advice=FileAdvice.UNJUDGED,
        )


def _predictions(table: pa.Table, layout: Layout, source: Source) -> Floats:
    import pyarrow.types as types

    if len(layout.predictions) > 1:
        return np.stack([_numbers(table, name, source) for name in layout.predictions], axis=1)
    name = layout.predictions[0]
    kind = table.schema.field(name).type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return _numbers(table, name, source)
    sizes = np.array([-1 if row is None else len(row) for row in table[name]])
    if (sizes != sizes[0]).any() or sizes[0] < 0:
        row = int(source.rows[np.argmax((sizes != sizes[0]) | (sizes < 0))])
        raise FileError(source.file, "must hold lists of one length", column=name, row=row)
    flat = table[name].combine_chunks().flatten()
    return np.asarray(flat.to_numpy(zero_copy_only=False), np.float64).reshape(len(table), -1)


def _numbers(table: pa.Table, name: str, source: Source) -> Floats:
    """Return a column of numbers or truths, NaN where there is none."""
    import pyarrow as pa
    import pyarrow.types as types

    column, kind = table[name], table.schema.field(name).type
    if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
        advice = "Convert it, or score in memory, where words and percentages are understood."
        raise FileError(source.file, f"must hold numbers; it holds {kind}", column=name, advice=advice)
    column = column.cast(pa.uint8()) if types.is_boolean(kind) else column
    return np.asarray(column.cast(pa.float64()).to_numpy(), np.float64)


def _present(name: str, schema: pa.Schema, source: str) -> str:
    if name not in schema.names:
        raise FileError(source, f"there is no column {name!r}; found {', '.join(schema.names[:20])}")
    return name

"""Arrow batches of rows -> one state per system: what every engine calls on the part of the data that it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..errors import FileAdvice, FileError, InputError
from ..files.submissions import MAX_SYSTEMS, Source
from ..inputs import Bools, Floats
from ..options import Options
from .counts import state_of_counts
from .layout import Layout, layout_of, numbers_of_column, predictions_of, rows_of_systems, words_of
from .state import State, merge, no_state, state_of

if TYPE_CHECKING:
    import pyarrow as pa

UNJUDGED = ("wrong", "drop")
CHUNK = 2**22  # bytes of rows that are scored together
WAITING = 4


def states_of_batches(
    batches: Iterable[pa.RecordBatch],
    options: Options,
    *,
    columns: Mapping[str, str] | None = None,
    unjudged: str | None = None,
    name: str = "system",
    source: str = "batches",
    first: int = 1,
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
    unjudged : {"wrong", "drop"}, optional
        What becomes of rows whose correctness is missing, instead of an error: they count as wrong, or they are left
        out, which flatters nearly every system. Either way they are counted.
    name : str
        Of the system, if there is no column of systems.
    source : str
        What to call the batches in errors.
    first : int
        The number of the first row in errors.

    Returns
    -------
    dict of str to State
        Empty if there are no rows.

    Raises
    ------
    FileError
        Names the source, the column, the row and the value.
    InputError
        If `unjudged` is no rule.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ecuas_metric.options import checked_options
    >>> batch = pa.record_batch({"confidence": [0.9, 0.4], "correct": [1, 0], "model": ["a", "b"]})
    >>> states = states_of_batches([batch, batch], checked_options())
    >>> {name: state.rows for name, state in states.items()}
    {'a': 2, 'b': 2}
    """
    require_rule(unjudged)
    found: dict[str, State] = {}
    waiting: dict[str, list[State]] = {}
    start = first
    for table in _chunks(batches):
        layout = layout_of(table.schema, columns, source=source)
        for system, rows in rows_of_systems(table, layout, name, source, start):
            part = table if rows is None else table.drop_columns(list(layout.systems)).take(rows)
            numbers = np.arange(start, start + len(table)) if rows is None else rows + start
            level = found[system].cells.level if system in found else 0
            state = _state_of_table(part, layout, options, unjudged, (source, numbers, level))
            try:
                found[system] = _joined(found.get(system), state, waiting.setdefault(system, []))
            except InputError as error:
                rule = f"rows {start} to {start + len(table) - 1} do not fit to those before: {error}"
                raise FileError(source, rule.rstrip(".")) from None
        if len(found) > MAX_SYSTEMS:
            rule = f"must name at most {MAX_SYSTEMS:,} systems"
            raise FileError(source, rule, column="+".join(layout.systems), value=len(found), got=f"{len(found):,}")
        start += len(table)
    return {system: merge([state, *waiting[system]]) for system, state in found.items()}


def require_rule(unjudged: str | None) -> None:
    """Raise InputError if rows without a verdict cannot be treated so."""
    if unjudged == "bounds":
        advice = "Their bounds need all rows at once: score in memory, or in two runs, without them and as wrong."
        raise InputError("unjudged", f"of a state must be {' or '.join(UNJUDGED)}", value=unjudged, advice=advice)
    if unjudged is not None and unjudged not in UNJUDGED:
        raise InputError("unjudged", f"must be one of {', '.join(UNJUDGED)}", value=unjudged)


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


def _state_of_table(
    table: pa.Table, layout: Layout, options: Options, unjudged: str | None, place: tuple[str, np.ndarray, int]
) -> State:
    source = Source(place[0], words_of(layout), place[1])
    references = numbers_of_column(table, layout.references, source)
    is_open = np.isnan(references)
    _require_judged(is_open, layout, source, unjudged)
    kept = ~is_open if unjudged == "drop" else np.ones(len(references), np.bool_)
    references = np.where(is_open, 0.0, references) if unjudged == "wrong" else references
    predictions = predictions_of(table, layout, source)
    weight = None if layout.weight is None else numbers_of_column(table, layout.weight, source)[kept]
    source = source._replace(rows=source.rows[kept])
    form = "posteriors" if layout.form == "positive" else layout.form
    if layout.form == "positive":
        options = options.replace(predictions_are="positive_probabilities")
    try:
        if layout.copies is not None:
            copies = numbers_of_column(table, layout.copies, source)
            return state_of_counts(predictions[kept], copies[kept], references[kept], options)
        if not kept.any():
            state = _no_state(form, predictions, options, layout)
        else:
            state = state_of(form, predictions[kept], references[kept], options, sample_weight=weight, level=place[2])
    except InputError as error:
        raise source.error(error) from None
    count = int(np.count_nonzero(is_open))
    return state._replace(sums={**state.sums, f"unjudged, {unjudged}": count}) if count else state


def _no_state(form: str, predictions: Floats, options: Options, layout: Layout) -> State:
    """Return the state of rows nobody judged, so that their number does not depend on which rows lie beside them."""
    if form == "posteriors":
        options = options.replace(num_classes=predictions.shape[1] if predictions.ndim > 1 else 2)
    return no_state(form, options, is_weighted=layout.weight is not None)


def _require_judged(is_open: Bools, layout: Layout, source: Source, unjudged: str | None) -> None:
    """Raise FileError for rows without a verdict; a class that is not known is not a wrong one."""
    has_classes = layout.form in ("posteriors", "positive", "counts")
    if is_open.any() and (unjudged is None or (has_classes and unjudged != "drop")):
        raise FileError(
            source.file,
            "has no value",
            column=layout.references,
            row=int(source.rows[np.argmax(is_open)]),
            count=int(is_open.sum()),
            total=len(is_open),
            advice="" if has_classes else FileAdvice.COUNT_AS_WRONG,
        )

"""Two systems in a table of rows with ids -> their pair: the ids are joined in the part of the data where both lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..errors import FileError, InputError
from ..files.columns import match_columns
from ..files.submissions import Source
from ..options import Options
from .layout import Layout, layout_of, numbers_of_column, predictions_of, rows_of_systems, words_of
from .pairs import Pair, pair_of
from .parquet import ParquetPart, columns_of, schema_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ..inputs import Floats


def pair_of_table(
    table: pa.Table,
    systems: tuple[str, str],
    options: Options,
    *,
    columns: Mapping[str, str] | None = None,
    source: str = "table",
) -> Pair:
    """Return the pair of two systems in a part of the data, whose rows are of the same questions.

    A part is e.g. a file, or what an engine has brought together by the id: both systems' rows of a question must be
    in the same one.

    Parameters
    ----------
    table : pyarrow.Table
        With a column of ids and one that names the systems.
    systems : tuple of two str
    options : Options
        See `pairs.pair_of`.
    columns : mapping, optional
        See `layout.layout_of`.
    source : str
        What to call the part in errors.

    Returns
    -------
    Pair
        Without weights.

    Raises
    ------
    FileError
        If an id is there twice for a system, or for one of them only; or see `batches.states_of_batches`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ecuas_metric.options import checked_options
    >>> from ecuas_metric.metrics import Key
    >>> from ecuas_metric.scale.pairs import differences
    >>> rows = {"id": [1, 2, 2, 1], "model": ["a", "a", "b", "b"], "confidence": [0.9, 0.4, 0.6, 0.5]}
    >>> table = pa.table({**rows, "correct": [1, 0, 1, 1]})
    >>> pair = pair_of_table(table, ("a", "b"), checked_options(n=1))
    >>> differences(pair)[Key("error_rate")].value
    0.5
    """
    layout = layout_of(table.schema, columns, source=source)
    name = _ids(table.schema, columns, source)
    if name is None:
        raise FileError(source, "there must be a column of ids and one that names the systems")
    rows = {system: indices for system, indices in rows_of_systems(table, layout, "", source, 1) if indices is not None}
    for system in systems:
        if system not in rows:
            raise FileError(source, f"has no rows of {system!r}")
    parts = [_in_order(table.take(rows[system]), name, system, source) for system in systems]
    _require_same_ids(parts[0][name], parts[1][name], name, source)
    one, two = (_columns_of(part, layout, source) for part in parts)
    try:
        form = "posteriors" if layout.form == "positive" else layout.form
        if layout.form == "positive":
            options = options.replace(predictions_are="positive_probabilities")
        return pair_of(form, one[0], two[0], (one[1], two[1]), options)
    except InputError as error:
        error.index = None  # which of the two systems' rows it is of is not known
        raise Source(source, words_of(layout), np.arange(len(parts[0]))).error(error) from None


def column_of_ids(part: ParquetPart, columns: Mapping[str, str] | None) -> str | None:
    """Return the column of ids of a file that has one and a column of systems, else None."""
    schema = schema_of(part)
    systems = layout_of(schema, columns, source=part.address).systems
    return _ids(schema, columns, part.address) if {*systems} <= {*columns_of(part)} else None


def systems_of(table: pa.Table, columns: Mapping[str, str] | None, source: str) -> list[str]:
    """Return the names of the systems in a table."""
    layout = layout_of(table.schema, columns, source=source)
    return [name for name, _ in rows_of_systems(table, layout, "", source, 1)]


def _ids(schema: pa.Schema, columns: Mapping[str, str] | None, source: str) -> str | None:
    used = match_columns(schema, columns, source=source, out_of_core=True).used
    return next(iter(used["id"]), None) if used["system"] else None


def _require_same_ids(one: pa.ChunkedArray, two: pa.ChunkedArray, name: str, source: str) -> None:
    import pyarrow.compute as pc

    if len(one) == len(two) and pc.all(pc.equal(one, two)).as_py() is not False:
        return
    both = ((one, two), (two, one))
    alone = [ids.filter(pc.invert(pc.is_in(ids, value_set=others.combine_chunks()))) for ids, others in both]
    first = next(str(ids[0].as_py()) for ids in alone if len(ids))
    rule = f"must have the rows of both systems for each id; {first!r} has one"
    count, total = sum(map(len, alone)), len(one) + len(two)
    advice = "Write all rows of an id into the same file first."
    raise FileError(source, rule, column=name, count=count, total=total, advice=advice)


def _in_order(part: pa.Table, name: str, system: str, source: str) -> pa.Table:
    """Return the rows of a system in the order of their ids, each of which is there once."""
    import pyarrow.compute as pc

    if part[name].null_count:
        raise FileError(source, "must not be empty", column=name, count=part[name].null_count, total=len(part))
    part = part.sort_by(name)
    ids = part[name]
    repeated = ids[1:].filter(pc.equal(ids[1:], ids[:-1]))
    if len(repeated):
        rule = f"must have one row of {system!r} for each id; {repeated[0].as_py()!r} has several"
        raise FileError(source, rule, column=name)
    return part


def _columns_of(part: pa.Table, layout: Layout, source: str) -> tuple[Floats, Floats]:
    place = Source(source, words_of(layout), np.arange(len(part)))
    return predictions_of(part, layout, place), numbers_of_column(part, layout.references, place)

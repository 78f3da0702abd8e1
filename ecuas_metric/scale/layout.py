"""Which columns of an Arrow table are read, as what, and their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import FileError
from ..files.columns import match_columns
from ..files.submissions import Source
from ..inputs import Floats

if TYPE_CHECKING:
    import pyarrow as pa


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
    roles = match_columns(schema, columns, source=source, out_of_core=True)
    weight, copies = (next(iter(roles.used[role]), None) for role in ("weight", "count"))
    if roles.form != "counts":
        return Layout(roles.form, roles.predictions, roles.references[0], roles.systems, weight)
    return Layout("counts", roles.predictions, roles.references[0], roles.systems, None, copies)


def rows_of_systems(
    table: pa.Table, layout: Layout, name: str, source: str, start: int
) -> Iterator[tuple[str, np.ndarray | None]]:
    """Yield the name of each system in a table and its rows, or one name and None, which is all rows.

    Parameters
    ----------
    table : pyarrow.Table
    layout : Layout
    name : str
        Of the system, if no column names it.
    source : str
    start : int
        The number of the first row, for errors.

    Yields
    ------
    name : str
    rows : ndarray of int, or None
    """
    import pyarrow.compute as pc

    if not layout.systems:
        yield name, None
        return
    texts = [_as_text(table[column], column, source) for column in layout.systems]
    for column, names in zip(layout.systems, texts, strict=True):
        missing = names.is_null().to_numpy()  # of the text: to older pyarrow an index of null is a value
        if missing.any():
            row = int(np.argmax(missing)) + start
            raise FileError(source, "must name a system; it is empty", column=column, row=row)
    joined = texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, " ")
    encoded = joined.combine_chunks().dictionary_encode()
    codes = encoded.indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    yield from zip(encoded.dictionary.to_pylist(), parts, strict=True)


def _as_text(names: pa.ChunkedArray, column: str, source: str) -> pa.ChunkedArray:
    import pyarrow as pa

    try:
        return names.cast(pa.string())
    except pa.ArrowException:
        raise FileError(source, f"must name systems; it holds {names.type}", column=column) from None


def words_of(layout: Layout) -> dict[str, str]:
    """Return which column each argument of `state_of` is, for errors."""
    words = {"predictions": "+".join(layout.predictions), "references": layout.references}
    return words | {"sample_weight": layout.weight or "", "count": layout.copies or "", "wrong": layout.references}


def predictions_of(table: pa.Table, layout: Layout, source: Source) -> Floats:
    """Return predictions (N,), or (N, K) of columns of classes or of lists."""
    import pyarrow.compute as pc
    import pyarrow.types as types

    if len(layout.predictions) > 1:
        return np.stack([numbers_of_column(table, name, source) for name in layout.predictions], axis=1)
    name = layout.predictions[0]
    kind = table.schema.field(name).type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return numbers_of_column(table, name, source)
    sizes = pc.fill_null(pc.list_value_length(table[name]), -1).to_numpy()
    if (sizes != sizes[0]).any() or sizes[0] < 0:
        row = int(source.rows[np.argmax((sizes != sizes[0]) | (sizes < 0))])
        raise FileError(source.file, "must hold lists of one length", column=name, row=row)
    flat = pc.list_flatten(table[name])
    return _as_numbers(flat, name, source).reshape(len(table), -1)


def numbers_of_column(table: pa.Table, name: str, source: Source) -> Floats:
    """Return a column of numbers or truths, NaN where there is none."""
    return _as_numbers(table[name], name, source)


def _as_numbers(column: pa.ChunkedArray, name: str, source: Source) -> Floats:
    import pyarrow as pa
    import pyarrow.types as types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
        advice = "Convert it, or score in memory, where words and percentages are understood."
        raise FileError(source.file, f"must hold numbers; it holds {kind}", column=name, advice=advice)
    column = column.cast(kind).cast(pa.uint8()) if types.is_boolean(kind) else column
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), np.float64)

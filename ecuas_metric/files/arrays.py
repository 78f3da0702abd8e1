"""Arrow arrays from Python's and NumPy's values and back: without pandas, which pyarrow's own conversions import."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from ..inputs import Array, Bools, Floats, Ints

MOST_FIELDS = 1000  # of a nested cell; more are data, not names
TEXT = pa.large_string()


class Sheet(NamedTuple):
    """What a file holds: its rows without blank ones, and the number of each row in an editor or a spreadsheet."""

    table: pa.Table
    rows: Ints
    decimal_comma: bool = False  # semicolons separate, so that a comma in a number may be its decimal point

    def column(self, name: str) -> pa.Array:
        """Return a column (N,) in one piece."""
        return plain(self.table[name])

    def select(self, rows: Bools) -> Sheet:
        """Return the rows where it is true."""
        return self._replace(table=select(self.table, rows), rows=self.rows[rows])


def as_text(value: object) -> str:
    """Return an id or a class as the text that any kind of file has for it: 7 and 7.0 are "7"."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return json.dumps(value, default=str) if isinstance(value, dict | list) else str(value).strip()


def from_numpy(values: Array, valid: Bools | None = None) -> pa.Array:
    """Return an array (N,) of numbers, truths or text as Arrow's; null where it is not `valid`."""
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        return from_texts([as_text(value.decode() if isinstance(value, bytes) else value) for value in values.tolist()])
    is_truth, values = values.dtype.kind == "b", np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")))
    values = values.astype(np.uint8) if is_truth else values
    bits = None if valid is None or valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    array = pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [bits, pa.py_buffer(values)])
    return array.cast(pa.bool_()) if is_truth else array


def from_texts(texts: Sequence[str | None]) -> pa.Array:
    """Return texts as an Arrow array, null where there is none."""
    encoded = [None if text is None else text.encode("utf-8", "replace") for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text or b"") for text in encoded], out=offsets[1:])
    valid = np.array([text is not None for text in encoded], np.bool_)
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    content = b"".join(text for text in encoded if text is not None)
    return pa.Array.from_buffers(TEXT, len(texts), [bits, pa.py_buffer(offsets), pa.py_buffer(content)])


def from_values(values: Sequence[Any]) -> pa.Array:
    """Return Python values as an Arrow array of one type; mixed values, as numbers beside words, become text."""
    kinds = {type(value) for value in values if value is not None}
    valid = np.array([value is not None for value in values], np.bool_)
    if not kinds:
        return from_texts(values)
    if kinds <= {bool, int, float}:
        try:
            dtype = np.float64 if float in kinds else np.bool_ if kinds == {bool} else np.int64
            return from_numpy(np.array([0 if value is None else value for value in values], dtype), valid)
        except OverflowError:
            pass
    if kinds <= {list, tuple}:
        offsets = np.cumsum([0, *(len(value or ()) for value in values)]).astype(np.int64)
        flat = [part for value in values for part in value or ()]
        return pa.LargeListArray.from_arrays(from_numpy(offsets), from_values(flat), mask=from_numpy(~valid))
    if kinds == {dict}:
        names = list(dict.fromkeys(str(name) for value in values for name in value or ()))
        if 0 < len(names) <= MOST_FIELDS:
            rows = [{str(name): part for name, part in (value or {}).items()} for value in values]
            fields = [from_values([row.get(name) for row in rows]) for name in names]
            return pa.StructArray.from_arrays(fields, names, mask=from_numpy(~valid))
    return from_texts([_cell(value) for value in values])


def _cell(value: object) -> str | None:
    """Return a value beside others of other types as text."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, str) else as_text(value)


def plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column in one piece, and without dictionaries, views and extensions, which only concern storage."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    kind = array.type
    if types.is_dictionary(kind):
        return plain(array.dictionary.take(array.indices))
    if types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if types.is_string(kind) or types.is_string_view(kind):
        return array.cast(TEXT)
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return from_texts([None if value is None else value.decode("utf-8", "replace") for value in array.to_pylist()])
    return array


def is_number(kind: pa.DataType) -> bool:
    """Return whether a type is one of numbers, truths included."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def floats_in(array: pa.Array) -> Floats:
    """Return an Arrow array (N,) of numbers as float64, NaN where it is null."""
    array = array.cast(pa.uint8()) if types.is_boolean(array.type) else array
    numbers = array.cast(pa.float64(), safe=False)
    return np.where(nulls_in(numbers), np.nan, _stored(numbers)) if numbers.null_count else _stored(numbers)


def nulls_in(array: pa.Array) -> Bools:
    """Return where an Arrow array (N,) is null."""
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    return np.asarray(_stored(array.is_null().cast(pa.uint8())), np.bool_)


def encode(array: pa.Array) -> tuple[list[object], Ints]:
    """Return the distinct values of an array (N,), and which of them each is; -1 where it is null."""
    try:
        encoded = array.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return array.to_pylist(), np.where(nulls_in(array), -1, np.arange(len(array)))
    codes = _stored(encoded.indices).astype(np.int64)
    return encoded.dictionary.to_pylist(), np.where(nulls_in(encoded.indices), -1, codes)


def positions_in(values: pa.Array, known: pa.Array) -> Ints:
    """Return where each value (N,) is among known ones of the same type; -1 where it is not."""
    found = pc.index_in(values, value_set=known)
    return np.where(nulls_in(found), -1, _stored(found).astype(np.int64))


def texts_in(array: pa.Array) -> pa.Array:
    """Return ids, names or classes as text, see `as_text`; null where they are."""
    if array.type == TEXT:
        return pc.utf8_trim_whitespace(array)
    values, codes = encode(array)
    return from_texts([as_text(value) for value in values]).take(from_numpy(codes, codes >= 0))


def joined(arrays: Sequence[pa.Array], separator: str) -> pa.Array:
    """Return the text of several columns joined; null where one is."""
    texts = [texts_in(array) for array in arrays]
    if len(texts) == 1:
        return texts[0]
    between = from_texts([separator]).take(from_numpy(np.zeros(len(texts[0]), np.int64)))
    return pc.binary_join_element_wise(*texts, between)


def select(table: pa.Table, rows: Bools) -> pa.Table:
    """Return the rows of a table where it is true."""
    return table.filter(from_numpy(rows))


def first_of(table: pa.Table | None, name: str) -> object:
    """Return the first value of a column, or None."""
    if table is None or not len(table):
        return None
    value = plain(table[name].slice(0, 1)).to_pylist()[0]
    return dict(value) if isinstance(value, Mapping) else value


def _stored(array: pa.Array) -> Array:
    """Return the stored numbers of an array, also those under nulls, without a copy."""
    whole = pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    return np.from_dlpack(whole) if len(array) else np.zeros(0)

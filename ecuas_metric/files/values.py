"""Arrow arrays <-> NumPy arrays and Python values, without pandas, which `pyarrow.array` would import."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from ..errors import FileError, Way
from ..inputs import Array, Bools, Floats, Ints
from ..precision import widen
from .recipe import column_in

TEXT = pa.large_string()
UNNAMED = "Unnamed: "  # before the number of a column without a name, as in pandas
_FLOAT = pa.float64()
_NARROW = (pa.float16(), pa.float32())
_ARE_LISTS = (types.is_list, types.is_large_list, types.is_fixed_size_list)
_BYTES = (pa.binary(), pa.large_binary(), pa.binary_view())
MOST_SKIPPED = 5  # rows that an error lists
MOST_FIELDS = 1000  # of a nested cell; more are data, not names


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a file holds: its rows without blank ones, and the number of each row in an editor or a spreadsheet."""

    table: pa.Table
    rows: Ints
    decimal_comma: bool = False  # semicolons separate its cells, and commas are decimal points
    source: str = ""  # what errors call it
    format: str = ""  # "csv", "parquet", ..
    path: str = ""  # of the list of rows in a JSON document
    header: int = 0  # the number of the row of names, if it is one
    skipped: str = ""  # the numbers of rows that were left out, or COLUMN=VALUE, joined by +
    # what else the file has, and is not read: names, and what they hold
    beside: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    def stored(self, name: str) -> str:
        """Return the column that a name is of: of "1-NAME", if none is called so, it is NAME."""
        is_there = self.table.schema.get_field_index(name) >= 0  # a list of names would be long
        return name if is_there else column_in(name)

    def column(self, name: str) -> pa.Array:
        """Return a column (N,) in one piece; for "1-NAME" that of NAME."""
        return plain(self.table[self.stored(name)])

    def select(self, rows: Bools) -> Sheet:
        """Return the rows where it is true."""
        table = self.table.filter(from_numpy(rows))
        return replace(self, table=table, rows=self.rows[rows])

    def head(self, count: int) -> Sheet:
        """Return the first rows."""
        table = self.table.slice(0, count)
        return replace(self, table=table, rows=self.rows[:count])

    def error_of_rows(self, column: str, rule: str, wrong: Bools, **fields: Any) -> FileError:
        """Return an error about rows (N,) that may be no samples, and are left out then, if they are few."""
        rows = self.rows[wrong].tolist()
        if len(rows) <= min(MOST_SKIPPED, len(wrong) / 4) and self.format not in ("", "run"):
            skip = "+".join(map(str, filter(None, [self.skipped, *rows])))
            file = re.split(r"[/\\]", self.source)[-1]
            fields.setdefault("ways", [Way("these rows are no samples", {"skip": skip}, file=file)])
        return self.error(column, rule, wrong, **fields)

    def error(
        self,
        column: str,
        rule: str,
        wrong: Bools | None = None,
        **fields: Any,
    ) -> FileError:
        """Return an error about a column: the first cell (N,) where something is wrong, its row, and how many are."""
        if wrong is not None:
            fields["row"] = int(self.rows[wrong][0])
            fields["count"] = int(np.count_nonzero(wrong))
            fields["total"] = len(wrong)
        if wrong is not None and column in self.names:
            first = int(np.argmax(wrong))
            cell = self.column(column)[first].as_py()
            fields = fields if cell is None else {"value": cell, **fields}
        return FileError(self.source, rule, column=column, **fields)


def as_text(value: object) -> str:
    """Return an id or a class as the text that any kind of file has for it: 7 and 7.0 are "7"."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, dict | list):
        return json.dumps(value, default=str)
    return str(value).strip()


def from_numpy(values: Array, valid: Bools | None = None) -> pa.Array:
    """Return an array (N,) of numbers, truths or text as Arrow's; null where it is not `valid`."""
    dtype = values.dtype
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        return from_texts(map(as_text, values.astype(str).tolist()))
    is_truth = dtype.kind == "b"
    stored = np.ascontiguousarray(values, np.uint8 if is_truth else dtype.newbyteorder("="))
    bits = None
    if valid is not None and not valid.all():
        bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
    kind = pa.from_numpy_dtype(stored.dtype)
    array = pa.Array.from_buffers(kind, len(stored), [bits, pa.py_buffer(stored)])
    return array.cast(pa.bool_()) if is_truth else array


def from_texts(texts: Iterable[str | None]) -> pa.Array:
    """Return texts as an Arrow array, null where there is none."""
    builder = pa.lib.StringBuilder()
    builder.append_values(
        [None if text is None else text.encode("utf-8", "replace") for text in texts]
    )
    return builder.finish().cast(TEXT)


def constant(text: str | None, count: int) -> pa.Array:
    """Return an array (count,) of one text."""
    places = from_numpy(np.zeros(count, np.int64))
    return from_texts([text]).take(places)


def from_values(values: Sequence[object]) -> pa.Array:
    """Return Python values as an Arrow array of one type; mixed values, as numbers beside words, become text."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds and kinds <= {bool, int, float}:
        return _from_numbers(values, kinds)
    if kinds and kinds <= {list, tuple}:
        return _from_lists(values)
    if kinds == {dict}:
        return _from_objects(values)
    return _as_texts(values)


def fields_of_objects(rows: Sequence[Mapping[str, object]]) -> dict[str, pa.Array]:
    """Return the fields of objects (N,) as columns (N,), null where one has not that field."""
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: from_values([row.get(name) for row in rows]) for name in names}


def plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column in one piece, and without what only concerns storage.

    That is dictionaries, views and extensions, and floats of fewer than 64 bits: see `precision.widen`.
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    if types.is_dictionary(kind):
        return plain(array.dictionary.take(array.indices))
    if types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if kind in (pa.string(), pa.string_view()):
        return array.cast(TEXT)
    if kind in _BYTES:
        values = array.to_pylist()
        return from_texts(
            None if value is None else value.decode("utf-8", "replace") for value in values
        )
    return _widened(array)


def _widened(array: pa.Array) -> pa.Array:
    """Return an array whose floats of fewer than 64 bits, also in its lists and objects, are float64."""
    kind = array.type
    if kind in _NARROW:
        return from_numpy(widen(_buffer_of(array)), ~nulls_in(array))
    if types.is_struct(kind):
        fields = [_widened(part) for part in array.flatten()]
        names = [part.name for part in kind]
        return pa.StructArray.from_arrays(fields, names, mask=array.is_null())
    if not any(is_list(kind) for is_list in _ARE_LISTS):
        return array
    values = _widened(array.values)
    list_type = pa.large_list if types.is_large_list(kind) else pa.list_
    size = (kind.list_size,) if types.is_fixed_size_list(kind) else ()
    own = array.buffers()[: kind.num_buffers]
    return pa.Array.from_buffers(
        list_type(values.type, *size), len(array), own, offset=array.offset, children=[values]
    )


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether a type is one of numbers, truths included."""
    return any(
        is_kind(kind)
        for is_kind in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    )


def floats_in(array: pa.Array) -> Floats:
    """Return an Arrow array (N,) of numbers as float64, NaN where it is null."""
    if types.is_decimal(array.type):  # which Arrow divides, and rounds twice
        array = array.cast(pa.string())
    numbers = array if array.type == _FLOAT else array.cast(_FLOAT, safe=False)
    values = _buffer_of(numbers)
    return np.where(nulls_in(numbers), np.nan, values) if numbers.null_count else values


def lists_in(array: pa.Array) -> Floats | None:
    """Return lists (N,) of K numbers each as an array (N, K); None of other cells, also if lengths differ."""
    kind = array.type
    is_list = any(is_list(kind) for is_list in _ARE_LISTS)
    if not is_list or array.null_count or not is_numeric(kind.value_type):
        return None
    lengths = pc.list_value_length(array).unique()
    if len(lengths) > 1:
        return None
    flat = floats_in(plain(pc.list_flatten(array)))
    return flat.reshape(len(array), lengths[0].as_py())


def nulls_in(array: pa.Array) -> Bools:
    """Return where an Arrow array (N,) is null."""
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    return _truths_in(array.is_null())


def _truths_in(array: pa.Array) -> Bools:
    """Return an Arrow array (N,) of truths, none of them null."""
    return np.asarray(_buffer_of(array.cast(pa.uint8())), np.bool_)


def emptied(texts: pa.Array, where: Bools) -> pa.Array:
    """Return texts (N,) that are null where it is true."""
    if not where.any():
        return texts
    nothing = pa.nulls(len(texts), TEXT)
    return pc.if_else(from_numpy(where), nothing, texts)


def encode(array: pa.Array) -> tuple[list[object], Ints]:
    """Return the distinct values of an array (N,), and which of them each is; -1 where it is null."""
    try:
        encoded = array.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # of lists and the like
        each = np.arange(len(array))
        return array.to_pylist(), np.where(nulls_in(array), -1, each)
    return encoded.dictionary.to_pylist(), _places_in(encoded.indices)


def count_distinct(array: pa.Array) -> int:
    """Return how many values of an array (N,) differ; lists and objects by their text."""
    if types.is_nested(array.type):  # which Arrow does not compare
        array = texts_in(array)
    earlier = array.slice(0, max(0, len(array) - 1))
    later = array.slice(1)
    rising = pc.less(earlier, later)
    if array.type == TEXT:  # or are longer, as of ids in order: q9, q10
        before = pc.binary_length(earlier)
        after = pc.binary_length(later)
        is_as_long = pc.equal(before, after)
        rising = pc.or_(pc.less(before, after), pc.and_(is_as_long, rising))
    if pc.all(rising, skip_nulls=False).as_py():
        return len(array)
    return len(array.unique())  # twice as fast as pc.count_distinct


def count_distinct_rows(columns: Sequence[pa.Array]) -> int:
    """Return how many rows of columns (N,) differ, as text; what is missing is a text of its own."""
    if len(columns) == 1 and types.is_integer(columns[0].type):
        return count_distinct(columns[0])
    return count_distinct(join_texts(columns, "\0", missing="\1"))


def are_unique(columns: Sequence[pa.Array]) -> bool:
    """Return whether no two rows are the same in all columns (N,), as text."""
    return count_distinct_rows(columns) == len(columns[0])


def positions_in(values: pa.Array, known: pa.Array) -> Ints:
    """Return where each value (N,) is among known ones of the same type; -1 where it is not."""
    return _places_in(pc.index_in(values, value_set=known))


def _places_in(places: pa.Array) -> Ints:
    return np.where(nulls_in(places), -1, _buffer_of(places).astype(np.int64))


def texts_in(array: pa.Array) -> pa.Array:
    """Return ids, names or classes as text, see `as_text`; null where they are."""
    if array.type == TEXT:
        return pc.utf8_trim_whitespace(array)
    values, codes = encode(array)
    texts = from_texts(map(as_text, values))
    return texts.take(from_numpy(codes, codes >= 0))


def join_texts(
    arrays: Sequence[pa.Array], separator: str, *, missing: str | None = None
) -> pa.Array:
    """Return the text of several columns joined; null where one is, unless a text stands for what is missing."""
    texts = [texts_in(array) for array in arrays]
    if missing is not None:
        texts = [pc.fill_null(one, missing) if one.null_count else one for one in texts]
    if len(texts) == 1:
        return texts[0]
    return pc.binary_join_element_wise(*texts, constant(separator, len(texts[0])))


def is_in(texts: pa.Array, known: Sequence[str]) -> Bools:
    """Return which texts (N,) are among known ones."""
    return _truths_in(pc.is_in(texts, value_set=from_texts(known)))


def first_of(column: pa.ChunkedArray | pa.Array) -> object:
    """Return the first value of a column that is not null, or None."""
    if column.null_count == len(column):
        return None
    present = column if column[0].is_valid else column.drop_null()
    return plain(present.slice(0, 1)).to_pylist()[0]


def as_ids(array: pa.Array) -> pa.Array:
    """Return ids as whole numbers, or as text: 7 and 7.0 and "7" are the same, and "007" is another."""
    if is_numeric(array.type) and not types.is_boolean(array.type):
        numbers = floats_in(array)
        is_whole = numbers == np.floor(numbers)
        if (is_whole & (np.abs(numbers) < 2**53)).all():
            return from_numpy(numbers.astype(np.int64))
    return texts_in(array)


def value_at(value: object, path: str) -> object:
    """Return the value at a dotted path in nested objects and lists, or in their JSON text, or None.

    A step is a key of an object, a position in a list, or the name of an object in it.
    """
    for step in path.split("."):
        value = parsed_json(value)
        parts = value if isinstance(value, list | tuple) else []
        if isinstance(value, Mapping):
            value = value.get(step)
        elif step.isdecimal():
            value = parts[int(step)] if int(step) < len(parts) else None
        else:
            value = parts_by_name(parts).get(step)
    return value


def with_fields(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """Return a table with further columns of the fields within its cells that dotted names are of, if any has them."""
    for name in names:
        outer, _, inner = name.partition(".")
        if inner and name not in table.column_names and outer in table.column_names:
            values = [value_at(value, inner) for value in plain(table[outer]).to_pylist()]
            is_there = any(value is not None for value in values)
            table = table.append_column(name, from_values(values)) if is_there else table
    return table


def parts_by_name(parts: Sequence[object]) -> dict[str, object]:
    """Return the objects of a list by their fields `name`, if each has another one; nothing of other lists."""
    by_name: dict[str, object] = {}
    for part in parts:
        name = part.get("name") if isinstance(part, dict) else None
        name = name.get("name") if isinstance(name, dict) else name  # as HELM writes it
        if name:
            by_name[str(name)] = part
    return by_name if len(by_name) == len(parts) else {}


def parsed_json(value: object) -> object:
    """Return what the text of a JSON object or list stands for; any other value unchanged, and None if it is broken."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _from_numbers(values: Sequence[object], kinds: set[type]) -> pa.Array:
    dtype = np.float64 if float in kinds else np.int64
    numbers = [0 if value is None else value for value in values]
    try:
        array = np.array(numbers, np.bool_ if kinds == {bool} else dtype)
    except OverflowError:  # a whole number of more than 64 bits
        return _as_texts(values)
    return from_numpy(array, _valid(values))


def _from_lists(values: Sequence[Any]) -> pa.Array:
    lists = [value or () for value in values]
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    flat = from_values([part for cells in lists for part in cells])
    return pa.LargeListArray.from_arrays(
        from_numpy(offsets), flat, mask=from_numpy(~_valid(values))
    )


def _from_objects(values: Sequence[Any]) -> pa.Array:
    objects = [value or {} for value in values]
    rows = [{str(name): part for name, part in value.items()} for value in objects]
    if not 0 < len(set(chain.from_iterable(rows))) <= MOST_FIELDS:
        return _as_texts(values)
    fields = fields_of_objects(rows)
    mask = from_numpy(~_valid(values))
    return pa.StructArray.from_arrays(list(fields.values()), list(fields), mask=mask)


def _as_texts(values: Sequence[object]) -> pa.Array:
    return from_texts(
        None if value is None or value != value else as_text(value) for value in values
    )


def _valid(values: Sequence[object]) -> Bools:
    return np.array([value is not None for value in values], np.bool_)


def _buffer_of(array: pa.Array) -> Array:
    """Return the stored numbers of an array, also those under nulls, without a copy."""
    whole = pa.Array.from_buffers(
        array.type, len(array), [None, array.buffers()[1]], offset=array.offset
    )
    return np.from_dlpack(whole) if len(array) else np.zeros(0)

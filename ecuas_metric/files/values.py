"""Arrow arrays <-> NumPy arrays and Python values, without pandas, which `pyarrow.array` would import."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
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
from .recipe import source_column

TEXT = pa.large_string()
JOINT = " | "  # between the parts of an id
UNNAMED = "Unnamed: "  # before the number of a column without a name, as in pandas
_FLOAT = pa.float64()
_NARROW = (pa.float16(), pa.float32())
_ARE_LISTS = (types.is_list, types.is_large_list, types.is_fixed_size_list)
_CAST_TO_TEXT = (pa.null(), pa.string(), pa.string_view())  # an empty column is one of texts
_BYTES = (pa.binary(), pa.large_binary(), pa.binary_view())
MOST_SKIPPED = 5  # most rows that an error offers to skip
MOST_FIELDS = 1000  # of objects in cells; more names are data


@dataclass(frozen=True, slots=True)
class Sheet:
    """The table in a file: its rows without blank ones, and the number of each row in an editor or a spreadsheet."""

    table: pa.Table
    rows: Ints
    decimal_comma: bool = False  # semicolons separate its cells, and commas are decimal points
    source: str = ""  # what errors call it
    format: str = ""  # "csv", "parquet", ..
    path: str = ""  # of the list of rows in a JSON document
    header: int = 0  # the number of the row of names, if it is one
    skipped: str = ""  # the rows that were left out, see `read.read_sheet`
    # what else the file has, and is not read: names, and what they hold
    beside: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    def stored(self, name: str) -> str:
        """Return the name of the column that a name refers to: NAME for "1-NAME", unless a column is called so."""
        is_there = self.table.schema.get_field_index(name) >= 0  # quicker than a list of names
        return name if is_there else source_column(name)

    def column(self, name: str) -> pa.Array:
        """Return a column (N,), see `plain`; for "1-NAME" that of NAME."""
        return plain(self.table[self.stored(name)])

    def combine(self, others: Collection[str]) -> Sheet:
        """Return the sheet with all columns but `others` as `column` has them, which would else be made at each use."""
        table = self.table
        for place, name in enumerate(self.names):
            if name not in others:
                table = table.set_column(place, name, plain(table[name]))
        return replace(self, table=table)

    def select(self, rows: Bools) -> Sheet:
        """Return the sheet with the rows (N,) that are true."""
        table = self.table.filter(from_numpy(rows))
        return replace(self, table=table, rows=self.rows[rows])

    def head(self, count: int) -> Sheet:
        """Return the sheet with its first `count` rows."""
        table = self.table.slice(0, count)
        return replace(self, table=table, rows=self.rows[:count])

    def rows_error(self, column: str, rule: str, wrong: Bools, **fields: Any) -> FileError:
        """Return `error` about the rows (N,) that are `wrong`; if they are few, with the way to skip them."""
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
        """Return an error about a column, with the first cell that is `wrong` (N,), its row, and how many are."""
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
    """Return an id or a class as text, the same from all formats of files: 7 and 7.0 are "7"."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, dict | list):
        return json.dumps(value, default=str)
    return str(value).strip()


def from_numpy(values: Array, valid: Bools | None = None) -> pa.Array:
    """Return an array (N,) of numbers, booleans or text as an Arrow array, null where it is not `valid` (N,)."""
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
    """Return texts as an Arrow array, null for None."""
    builder = pa.lib.StringBuilder()
    builder.append_values(
        [None if text is None else text.encode("utf-8", "replace") for text in texts]
    )
    return builder.finish().cast(TEXT)


def repeat_text(text: str | None, count: int) -> pa.Array:
    """Return an Arrow array (count,) that repeats one text."""
    places = from_numpy(np.zeros(count, np.int64))
    return from_texts([text]).take(places)


def from_values(values: Sequence[object]) -> pa.Array:
    """Return Python values as an Arrow array of one type; values of different types become text."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds and kinds <= {bool, int, float}:
        return _from_numbers(values, kinds)
    if kinds and kinds <= {list, tuple}:
        return _from_lists(values)
    if kinds == {dict}:
        return _from_objects(values)
    return _as_texts(values)


def fields_of_objects(rows: Sequence[Mapping[str, object]]) -> dict[str, pa.Array]:
    """Return the fields of N objects as columns (N,), null where an object lacks the field."""
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: from_values([row.get(name) for row in rows]) for name in names}


def plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one Arrow array of a plain type.

    Dictionaries, views, extensions and bytes are resolved; floats of fewer than 64 bits are widened, see
    `precision.widen`.
    """
    array = column if isinstance(column, pa.Array) else _join_chunks(column)
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    if types.is_dictionary(kind):
        return plain(array.dictionary).take(array.indices)
    if types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if kind in _CAST_TO_TEXT:
        return array.cast(TEXT)
    if kind in _BYTES:
        values = array.to_pylist()
        return from_texts(
            None if value is None else value.decode("utf-8", "replace") for value in values
        )
    return _widened(array)


def make_selectable(table: pa.Table) -> pa.Table:
    """Return a table with columns of types among whose rows PyArrow cannot select resolved, see `plain`."""
    for place, field in enumerate(table.schema):
        if types.is_run_end_encoded(field.type) or field.type == pa.string_view():
            table = table.set_column(place, field.name, plain(table[place]))
    return table


def _join_chunks(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; its only chunk is not copied."""
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def _widened(array: pa.Array) -> pa.Array:
    """Return an array with floats of fewer than 64 bits, also those in lists and objects, widened to float64."""
    kind = array.type
    if kind in _NARROW:
        return from_numpy(widen(_stored_values(array)), ~are_null(array))
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
    """Return whether an Arrow type is one of numbers or booleans."""
    return any(
        is_kind(kind)
        for is_kind in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    )


def to_floats(array: pa.Array) -> Floats:
    """Return an Arrow array (N,) of numbers as float64, NaN for null."""
    if types.is_decimal(array.type):  # Arrow would divide, and round twice
        array = array.cast(pa.string())
    numbers = array if array.type == _FLOAT else array.cast(_FLOAT, safe=False)
    values = _stored_values(numbers)
    return np.where(are_null(numbers), np.nan, values) if numbers.null_count else values


def to_matrix(array: pa.Array) -> Floats | None:
    """Return an Arrow array (N,) of lists of K numbers as (N, K); None for other cells, or if lengths differ."""
    kind = array.type
    is_list = any(is_list(kind) for is_list in _ARE_LISTS)
    if not is_list or array.null_count or not is_numeric(kind.value_type):
        return None
    lengths = pc.list_value_length(array).unique()
    if len(lengths) > 1:
        return None
    flat = to_floats(plain(pc.list_flatten(array)))
    return flat.reshape(len(array), lengths[0].as_py())


def are_null(array: pa.Array) -> Bools:
    """Return whether each value of an Arrow array (N,) is null."""
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    return _to_bools(array.is_null())


def _to_bools(array: pa.Array) -> Bools:
    """Return an Arrow array (N,) of booleans without nulls as a NumPy array."""
    return np.asarray(_stored_values(array.cast(pa.uint8())), np.bool_)


def clear_texts(texts: pa.Array, where: Bools) -> pa.Array:
    """Return texts (N,) with null where `where` (N,) is true."""
    if not where.any():
        return texts
    nothing = pa.nulls(len(texts), TEXT)
    return pc.if_else(from_numpy(where), nothing, texts)


def encode(array: pa.Array) -> tuple[list[object], Ints]:
    """Return the distinct values of an array (N,), and the index (N,) of each value among them, -1 for null."""
    try:
        encoded = array.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # of lists and the like
        each = np.arange(len(array))
        return array.to_pylist(), np.where(are_null(array), -1, each)
    return encoded.dictionary.to_pylist(), _to_positions(encoded.indices)


def distinct_texts(array: pa.Array) -> list[str]:
    """Return the distinct texts of an array (N,) of texts."""
    return list(map(str, encode(array)[0]))


def count_distinct(array: pa.Array) -> int:
    """Return the number of distinct values of an array (N,); lists and objects are compared by their text."""
    if types.is_nested(array.type):  # Arrow does not compare these
        array = to_texts(array)
    earlier = array.slice(0, max(0, len(array) - 1))
    later = array.slice(1)
    rising = pc.less(earlier, later)
    if array.type == TEXT:  # longer texts come later, as for ids in order: q9, q10
        before = pc.binary_length(earlier)
        after = pc.binary_length(later)
        is_as_long = pc.equal(before, after)
        rising = pc.or_(pc.less(before, after), pc.and_(is_as_long, rising))
    if pc.all(rising, skip_nulls=False).as_py():
        return len(array)
    return len(array.unique())  # twice as fast as pc.count_distinct


def count_distinct_rows(columns: Sequence[pa.Array]) -> int:
    """Return the number of distinct rows of columns (N,), compared as text; a missing value is a text of its own."""
    if len(columns) == 1 and types.is_integer(columns[0].type):
        return count_distinct(columns[0])
    return count_distinct(join_rows(columns))


def join_rows(columns: Sequence[pa.Array]) -> pa.Array:
    """Return a text (N,) for each row of columns, equal for rows that are; a missing value is a text of its own."""
    return join_texts(columns, "\0", missing="\1")


def are_unique(columns: Sequence[pa.Array]) -> bool:
    """Return whether no row of columns (N,) repeats another one, compared as text."""
    return count_distinct_rows(columns) == len(columns[0])


def find_positions(values: pa.Array, known: pa.Array) -> Ints:
    """Return the index (N,) of each value among `known` ones of the same type, -1 if it is not there."""
    return _to_positions(pc.index_in(values, value_set=known))


def _to_positions(places: pa.Array) -> Ints:
    """Return an Arrow array of indices as whole numbers, -1 for null."""
    return np.where(are_null(places), -1, _stored_values(places).astype(np.int64))


def to_texts(array: pa.Array) -> pa.Array:
    """Return ids, names or classes (N,) as text, see `as_text`; null stays null."""
    if array.type == TEXT:
        return pc.utf8_trim_whitespace(array)
    values, codes = encode(array)
    texts = from_texts(map(as_text, values))
    return texts.take(from_numpy(codes, codes >= 0))


def join_texts(
    arrays: Sequence[pa.Array], separator: str, *, missing: str | None = None
) -> pa.Array:
    """Return the texts of several columns joined (N,); null where one is null, unless `missing` stands for it."""
    texts = [to_texts(array) for array in arrays]
    if missing is not None:
        texts = [pc.fill_null(one, missing) if one.null_count else one for one in texts]
    if len(texts) == 1:
        return texts[0]
    return pc.binary_join_element_wise(*texts, repeat_text(separator, len(texts[0])))


def match_any(texts: pa.Array, known: Sequence[str]) -> Bools:
    """Return whether each text (N,) is one of the `known` ones."""
    return _to_bools(pc.is_in(texts, value_set=from_texts(known)))


def first_value(column: pa.ChunkedArray | pa.Array) -> object:
    """Return the first value of a column that is not null; None if all are."""
    if column.null_count == len(column):
        return None
    present = column if column[0].is_valid else column.drop_null()
    return plain(present.slice(0, 1)).to_pylist()[0]


def to_ids(array: pa.Array) -> pa.Array:
    """Return ids as whole numbers if all are, else as text: 7, 7.0 and "7" agree, "007" is another one."""
    if is_numeric(array.type) and not (types.is_boolean(array.type) or array.null_count):
        with suppress(pa.ArrowInvalid):  # a fraction, or nan
            whole = array.cast(pa.int64())
            values = _stored_values(whole)
            if values.min(initial=0) > -(2**53) and values.max(initial=0) < 2**53:
                return whole
    return to_texts(array)


def value_by_path(value: object, path: str) -> object:
    """Return the value at a dotted path in nested objects and lists, or in their JSON text; None if there is none.

    A step is a key of an object, a position in a list, or the name of an object in it.
    """
    for step in path.split("."):
        value = parse_json(value)
        parts = value if isinstance(value, list | tuple) else []
        if isinstance(value, Mapping):
            value = value.get(step)
        elif step.isdecimal():
            value = parts[int(step)] if int(step) < len(parts) else None
        else:
            value = parts_by_name(parts).get(step)
    return value


def add_nested_columns(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """Return a table with a further column for each dotted name whose field some cell has, e.g. "doc.id" of "doc"."""
    for name in names:
        outer, _, inner = name.partition(".")
        if inner and name not in table.column_names and outer in table.column_names:
            values = [value_by_path(value, inner) for value in plain(table[outer]).to_pylist()]
            is_there = any(value is not None for value in values)
            table = table.append_column(name, from_values(values)) if is_there else table
    return table


def parts_by_name(parts: Sequence[object]) -> dict[str, object]:
    """Return the objects of a list by their field `name`, if all have one and none is repeated; else nothing."""
    by_name: dict[str, object] = {}
    for part in parts:
        name = part.get("name") if isinstance(part, dict) else None
        name = name.get("name") if isinstance(name, dict) else name  # as HELM writes it
        if name:
            by_name[str(name)] = part
    return by_name if len(by_name) == len(parts) else {}


def parse_json(value: object) -> object:
    """Return the object or list in a JSON text, None if it is broken; any other value unchanged."""
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


def _stored_values(array: pa.Array) -> Array:
    """Return the stored values of an array, arbitrary ones where it is null, without a copy."""
    whole = pa.Array.from_buffers(
        array.type, len(array), [None, array.buffers()[1]], offset=array.offset
    )
    return np.from_dlpack(whole) if len(array) else np.zeros(0)

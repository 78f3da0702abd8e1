"""Cells as people and tools write them -> numbers, truths, classes and ids, as Arrow arrays, without pandas."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from ..errors import FileError
from ..inputs import Array, Bools, Floats, Ints

TEXT = pa.large_string()
MOST_FIELDS = 1000  # of a nested cell; more are data, not names
TRUTH_WORDS = {  # pairs of words, the first for an answer that is correct
    word: 1.0 - place
    for pair in (
        *("true false", "t f", "yes no", "y n", "correct incorrect", "c i", "right wrong", "pass fail"),
        *("passed failed", "wahr falsch", "vrai faux"),
    )
    for place, word in enumerate(pair.split())
}
TRUE_FALSE = {"true": 1.0, "false": 0.0}  # what a column of truths is written as
NO_ANSWER = {"c", "i"}  # beside these, "n" may be "no answer"
MISSING = ["", "\\N", "-", "--", "\N{EN DASH}", "\N{EM DASH}", "na", "n/a", "nan", "null", "none", "#n/a"]
MISSING += [text.upper() for text in MISSING[6:]] + ["NaN", "None", "Null"]


class Sheet(NamedTuple):
    """What a file holds: its rows without blank ones, and the number of each row in an editor or a spreadsheet."""

    table: pa.Table
    rows: Ints
    decimal_comma: bool = False  # semicolons separate, so that a comma in a number may be its decimal point
    source: str = ""  # what errors call it

    def column(self, name: str) -> pa.Array:
        """Return a column (N,) in one piece."""
        return plain(self.table[name])

    def select(self, rows: Bools) -> Sheet:
        """Return the rows where it is true."""
        return self._replace(table=self.table.filter(from_numpy(rows)), rows=self.rows[rows])

    def error(self, column: str, rule: str, wrong: Bools | None = None, **fields: Any) -> FileError:
        """Return an error about a column: in its first row (N,) where something is wrong, and how many are."""
        if wrong is not None:
            fields |= {"row": int(self.rows[wrong][0]), "count": int(np.count_nonzero(wrong)), "total": len(wrong)}
        return FileError(self.source, rule, column=column, **fields)

    def first(self, column: str, wrong: Bools) -> object:
        """Return the first cell of a column (N,) where something is wrong."""
        return self.column(column)[int(np.argmax(wrong))].as_py()


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
    bits = None if valid is None else _bits(valid)
    array = pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [bits, pa.py_buffer(values)])
    return array.cast(pa.bool_()) if is_truth else array


def from_texts(texts: Sequence[str | None]) -> pa.Array:
    """Return texts as an Arrow array, null where there is none."""
    encoded = [None if text is None else text.encode("utf-8", "replace") for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text or b"") for text in encoded], out=offsets[1:])
    bits = _bits(np.array([text is not None for text in encoded], np.bool_))
    content = b"".join(text for text in encoded if text is not None)
    return pa.Array.from_buffers(TEXT, len(texts), [bits, pa.py_buffer(offsets), pa.py_buffer(content)])


def constant(text: str | None, count: int) -> pa.Array:
    """Return an array (count,) of one text."""
    return from_texts([text]).take(from_numpy(np.zeros(count, np.int64)))


def from_values(values: Sequence[object]) -> pa.Array:
    """Return Python values as an Arrow array of one type; mixed values, as numbers beside words, become text."""
    kinds = {type(value) for value in values if value is not None}
    valid = np.array([value is not None for value in values], np.bool_)
    if kinds and kinds <= {bool, int, float}:
        dtype = np.float64 if float in kinds else np.bool_ if kinds == {bool} else np.int64
        try:
            return from_numpy(np.array([0 if value is None else value for value in values], dtype), valid)
        except OverflowError:
            pass
    lists = [value if isinstance(value, list | tuple) else () for value in values]
    if kinds and kinds <= {list, tuple}:
        offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        flat = from_values([part for cells in lists for part in cells])
        return pa.LargeListArray.from_arrays(from_numpy(offsets), flat, mask=from_numpy(~valid))
    rows = [{str(name): part for name, part in value.items()} if isinstance(value, dict) else {} for value in values]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if kinds == {dict} and 0 < len(names) <= MOST_FIELDS:
        fields = [from_values([row.get(name) for row in rows]) for name in names]
        return pa.StructArray.from_arrays(fields, names, mask=from_numpy(~valid))
    empty = [value is None or (isinstance(value, float) and value != value) for value in values]
    texts = (value if isinstance(value, str) else as_text(value) for value in values)
    return from_texts([None if is_empty else text for is_empty, text in zip(empty, texts, strict=True)])


def plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column in one piece, and without dictionaries, views and extensions, which only concern storage."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    if types.is_dictionary(kind):
        return plain(array.dictionary.take(array.indices))
    if types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if types.is_string(kind) or types.is_string_view(kind):
        return array.cast(TEXT)
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return from_texts([None if value is None else value.decode("utf-8", "replace") for value in array.to_pylist()])
    return array


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether a type is one of numbers, truths included."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def floats_in(array: pa.Array) -> Floats:
    """Return an Arrow array (N,) of numbers as float64, NaN where it is null."""
    array = array.cast(pa.uint8()) if types.is_boolean(array.type) else array
    array = array.cast(pa.string()) if types.is_decimal(array.type) else array  # Arrow divides, and rounds twice
    numbers = array.cast(pa.float64(), safe=False)
    return np.where(nulls_in(numbers), np.nan, _buffer_of(numbers)) if numbers.null_count else _buffer_of(numbers)


def nulls_in(array: pa.Array) -> Bools:
    """Return where an Arrow array (N,) is null."""
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    return np.asarray(_buffer_of(array.is_null().cast(pa.uint8())), np.bool_)


def encode(array: pa.Array) -> tuple[list[object], Ints]:
    """Return the distinct values of an array (N,), and which of them each is; -1 where it is null."""
    try:
        encoded = array.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return array.to_pylist(), np.where(nulls_in(array), -1, np.arange(len(array)))
    codes = _buffer_of(encoded.indices).astype(np.int64)
    return encoded.dictionary.to_pylist(), np.where(nulls_in(encoded.indices), -1, codes)


def positions_in(values: pa.Array, known: pa.Array) -> Ints:
    """Return where each value (N,) is among known ones of the same type; -1 where it is not."""
    found = pc.index_in(values, value_set=known)
    return np.where(nulls_in(found), -1, _buffer_of(found).astype(np.int64))


def texts_in(array: pa.Array) -> pa.Array:
    """Return ids, names or classes as text, see `as_text`; null where they are."""
    if array.type == TEXT:
        return pc.utf8_trim_whitespace(array)
    values, codes = encode(array)
    return from_texts([as_text(value) for value in values]).take(from_numpy(codes, codes >= 0))


def join_texts(arrays: Sequence[pa.Array], separator: str) -> pa.Array:
    """Return the text of several columns joined; null where one is."""
    texts = [texts_in(array) for array in arrays]
    return texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, constant(separator, len(texts[0])))


def is_in(texts: pa.Array, known: Sequence[str]) -> Bools:
    """Return which texts (N,) are among known ones."""
    return np.asarray(floats_in(pc.is_in(texts, value_set=from_texts(known))), np.bool_)


def first_of(table: pa.Table | None, name: str) -> object:
    """Return the first value of a column that is not null, or None."""
    if table is None or table[name].null_count == len(table):
        return None
    column = table[name] if table[name][0].is_valid else table[name].drop_null()
    value = plain(column.slice(0, 1)).to_pylist()[0]
    return dict(value) if isinstance(value, Mapping) else value


def parse_cells(array: pa.Array) -> pa.Array:
    """Return a column of text (N,) as numbers or truths if all its cells are such, else as text; null where empty."""
    if array.type != TEXT:
        return array
    cells, is_whole = array, len(array) and str(array[0]).strip().lstrip("-").isdecimal()
    for _ in range(2):
        for kind in (pa.int64(), pa.float64()) if is_whole or cells is not array else (pa.float64(),):
            try:
                return cells.cast(kind)
            except pa.ArrowInvalid:
                pass
        if cells is array:
            cells = pc.utf8_trim_whitespace(array)
            empty = nulls_in(array) | is_in(cells, MISSING)
            cells = cells.take(from_numpy(np.arange(len(cells)), ~empty)) if empty.any() else cells
    words = encode(pc.utf8_lower(cells.slice(0, 100)))[0]
    if words and set(words) <= set(TRUE_FALSE) and set(encode(pc.utf8_lower(cells))[0]) <= set(TRUE_FALSE):
        return from_numpy(is_in(pc.utf8_lower(cells), ["true"]), ~nulls_in(cells))
    return cells


def is_missing(array: pa.Array) -> Bools:
    """Return which cells (N,) hold nothing: null, NaN, or a word for it."""
    return np.isnan(floats_in(array)) if is_numeric(array.type) else nulls_in(parse_cells(array))


def as_ids(array: pa.Array) -> pa.Array:
    """Return ids as whole numbers, or as text: 7 and 7.0 and "7" are the same, and "007" is another."""
    if is_numeric(array.type) and not types.is_boolean(array.type):
        numbers = floats_in(array)
        if (np.abs(numbers) < 2**53).all() and (numbers == np.floor(numbers)).all():
            return from_numpy(numbers.astype(np.int64))
    texts = texts_in(array)
    return pc.coalesce(texts, constant("None", len(texts)))


def numbers_in(sheet: Sheet, column: str, *, words: Mapping[str, float] | None = None, share: bool = False) -> Floats:
    """Return a column (N,) as float64, NaN where empty; `words` stand for numbers, and a `share` may be 85% or 0,85."""
    cells = sheet.column(column)
    array = parse_cells(cells)
    if is_numeric(array.type):
        return floats_in(array)
    (values, codes), words, comma = encode(cells), words or TRUE_FALSE, sheet.decimal_comma or share
    if "n" in words and NO_ANSWER & {str(value).strip().lower() for value in values}:
        words = {word: number for word, number in words.items() if word != "n"}
    found = [number_in(value, comma=comma, words=words, share=share) for value in values]
    wrong = np.array([*(value is None for value in found), False])[codes]
    if wrong.any():
        raise _no_number(sheet, column, wrong, share=share, words=words)
    return np.array([*found, np.nan], np.float64)[codes]


def number_in(
    value: object, *, comma: bool = False, words: Mapping[str, float] = TRUE_FALSE, share: bool = False
) -> float | None:
    """Return the number that a cell stands for: NaN if it is empty, None if it is no number."""
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        return float(value) if isinstance(value, int | float) else np.nan if value is None else None
    text = value.strip().lower()
    if text in words:
        return words[text]
    if is_word_for_nothing(text):
        return np.nan
    if comma and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    divisor = 100 if share and re.fullmatch(r"[\d.]+(e-?\d+)?\s*%", text) else 1
    try:
        return None if "_" in text else float(text.rstrip("% ") if divisor > 1 else text) / divisor
    except ValueError:
        return None


def is_word_for_nothing(text: str) -> bool:
    """Return whether a cell is left empty, in words: n/a, null, a dash."""
    return text.lower() in _NOTHING


def is_number_text(text: str) -> bool:
    """Return whether text is a number, in ASCII and without underscores."""
    return "_" not in text and text.isascii() and isinstance(_float_if_any(text), float)


def row_of_numbers(value: object) -> object:
    """Return a cell that holds several numbers as a list, and any other cell unchanged.

    It may be a list or its text, a mapping of classes to numbers, or a list of (number, anything) or of
    ``{"label": ..., "score": ...}``, as tools for language models write them.
    """
    if isinstance(value, str) and (match := re.fullmatch(r"\s*[\[(](.*)[\])]\s*", value, flags=re.DOTALL)):
        if any(bracket in match[1] for bracket in "{[("):
            return value if (literal := _literal(value)) is value else row_of_numbers(literal)
        return [_float_if_any(part) for part in re.split(r"[\s,;]+", match[1].strip()) if part]
    by_class = classes_of(value)
    if by_class is not None:
        return [_float_if_any(part) for part in by_class.values()]
    if isinstance(value, list | tuple):
        return [_float_if_any(part[0] if isinstance(part, list | tuple) and len(part) == 2 else part) for part in value]
    return value


def classes_of(value: object) -> dict[str, object] | None:
    """Return the numbers of a cell by the names of their classes, or None if it does not name them."""
    if isinstance(value, str) and value.strip().startswith("{"):
        value = _literal(value)
    if isinstance(value, dict):
        return {as_text(name): part for name, part in value.items()}
    parts = value if isinstance(value, list) and all(isinstance(part, dict) for part in value) else []
    if not parts or not all({"label", "score"} <= set(part) for part in parts):
        return None
    return {as_text(part["label"]): part["score"] for part in parts}


def _buffer_of(array: pa.Array) -> Array:
    """Return the stored numbers of an array, also those under nulls, without a copy."""
    whole = pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    return np.from_dlpack(whole) if len(array) else np.zeros(0)


def _bits(valid: Bools) -> pa.Buffer | None:
    return None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())


def _no_number(sheet: Sheet, column: str, wrong: Bools, *, share: bool, words: Mapping[str, float]) -> FileError:
    value = sheet.first(column, wrong)
    rule, advice = "must hold numbers", "pass_flat_list" if share and not isinstance(value, str) else ""
    if isinstance(value, str):
        advice = "leave_cell_empty" if share else "write_1_or_0" if words is not TRUE_FALSE else ""
        if value.strip() == column.strip():
            rule, advice = "must hold numbers; a row repeats the header", "leave_rows_out"
    return sheet.error(column, rule, wrong, value=value, advice=advice)


def _literal(text: str) -> object:
    """Return what the text of a Python value stands for, or the text."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _float_if_any(part: object) -> object:
    try:
        return float(part) if isinstance(part, str) else part
    except ValueError:
        return part


_NOTHING = {text.lower() for text in MISSING}

"""Cells as people and tools write them -> numbers, rows of numbers, truths, classes and ids."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import Advice, FileAdvice, FileError
from ..inputs import Bools, Floats
from .arrays import TEXT, Sheet, as_text, encode, floats_in, from_numpy, from_texts, is_number, nulls_in, texts_in

TRUTH = {  # pairs of words, the first for an answer that is correct
    word: 1.0 - place
    for pair in (
        ("true", "false"),
        ("t", "f"),
        ("yes", "no"),
        ("y", "n"),
        ("correct", "incorrect"),
        ("c", "i"),
        ("right", "wrong"),
        ("pass", "fail"),
        ("passed", "failed"),
        ("wahr", "falsch"),
        ("vrai", "faux"),
    )
    for place, word in enumerate(pair)
}
TRUTHS = {"true": 1.0, "false": 0.0}  # what a column of truths is written as
NO_ANSWER = {"c", "i"}  # beside these, "n" may be "no answer"
MISSING = ["", "\\N", "-", "--", "\N{EN DASH}", "\N{EM DASH}", "na", "n/a", "nan", "null", "none", "#n/a"]
MISSING += [text.upper() for text in MISSING[6:]] + ["NaN", "None", "Null"]
NO_VALUE = {text.lower() for text in MISSING}


def typed(array: pa.Array) -> pa.Array:
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
            trimmed = pc.utf8_trim_whitespace(array)
            empty = nulls_in(array) | _is_in(trimmed, MISSING)
            cells = _without(trimmed, empty)
    words = encode(pc.utf8_lower(cells.slice(0, 100)))[0]
    if words and set(words) <= set(TRUTHS) and set(encode(pc.utf8_lower(cells))[0]) <= set(TRUTHS):
        return from_numpy(_is_in(pc.utf8_lower(cells), ["true"]), ~nulls_in(cells))
    return cells


def is_missing(array: pa.Array) -> Bools:
    """Return which cells (N,) hold nothing: null, NaN, or a word for it."""
    return np.isnan(floats_in(array)) if is_number(array.type) else nulls_in(typed(array))


def as_ids(array: pa.Array) -> pa.Array:
    """Return ids as whole numbers, or as text: 7 and 7.0 and "7" are the same, and "007" is another.

    >>> from .arrays import from_values
    >>> as_ids(from_values([7.0, 8.0])).to_pylist(), as_ids(from_values(["7", "007"])).to_pylist()
    ([7, 8], ['7', '007'])
    """
    if is_number(array.type) and not pa.types.is_boolean(array.type):
        numbers = floats_in(array)
        if (np.abs(numbers) < 2**53).all() and (numbers == np.floor(numbers)).all():
            return from_numpy(numbers.astype(np.int64))
    texts = texts_in(array)
    return pc.coalesce(texts, from_texts(["None"]).take(from_numpy(np.zeros(len(texts), np.int64))))


def numbers_in(
    sheet: Sheet, column: str, path: str, *, words: Mapping[str, float] | None = None, share: bool = False
) -> Floats:
    """Return a column (N,) as float64, NaN where empty; `words` stand for numbers, and a `share` may be 85% or 0,85."""
    cells = sheet.column(column)
    array = typed(cells)
    if is_number(array.type):
        return floats_in(array)
    values, codes = encode(cells)
    words = _unambiguous(words or TRUTHS, values)
    comma = sheet.decimal_comma or share
    found = [number(value, comma=comma, words=words, share=share) for value in values]
    numbers = np.array([*(np.inf if value is None else value for value in found), np.nan])[codes]
    wrong = np.array([*(value is None for value in found), False])[codes]
    if wrong.any():
        raise _no_number(sheet, column, path, wrong, share=share, words=words)
    return numbers


def number(value: object, *, comma: bool, words: Mapping[str, float], share: bool = False) -> float | None:
    """Return the number that a cell stands for: NaN if it is empty, None if it is no number.

    >>> number(" 85 %", comma=False, words={}, share=True), number("0,5", comma=True, words={})
    (0.85, 0.5)
    >>> [number(text, comma=False, words=TRUTH) for text in ("C", "n/a", "much")]
    [1.0, nan, None]
    """
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        return float(value) if isinstance(value, int | float) else np.nan if value is None else None
    text = value.strip().lower()
    if text in words:
        return words[text]
    if text in NO_VALUE:
        return np.nan
    if comma and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    divisor = 100 if share and re.fullmatch(r"[\d.]+(e-?\d+)?\s*%", text) else 1
    try:
        return None if "_" in text else float(text.rstrip("% ") if divisor > 1 else text) / divisor
    except ValueError:
        return None


def row_of_numbers(value: object) -> object:
    """Return a cell that holds several numbers as a list, and any other cell unchanged.

    It may be a list or its text, a mapping of classes to numbers, or a list of (number, anything) or of
    ``{"label": ..., "score": ...}``, as tools for language models write them.

    >>> row_of_numbers("[0.25 0.75]"), row_of_numbers({"cat": 0.5, "dog": 0.5}), row_of_numbers([["-1.5", "False"]])
    ([0.25, 0.75], [0.5, 0.5], [-1.5])
    """
    if isinstance(value, str) and (match := re.fullmatch(r"\s*[\[(](.*)[\])]\s*", value, flags=re.DOTALL)):
        if "{" in match[1] or "[" in match[1] or "(" in match[1]:
            return _parsed(value)
        return [_cell(part) for part in re.split(r"[\s,;]+", match[1].strip()) if part]
    by_class = classes_of(value)
    if by_class is not None:
        return [_cell(part) for part in by_class.values()]
    if isinstance(value, list | tuple):
        return [_cell(part[0] if isinstance(part, list | tuple) and len(part) == 2 else part) for part in value]
    return value


def classes_of(value: object) -> dict[str, object] | None:
    """Return the numbers of a cell by the names of their classes, or None if it does not name them."""
    if isinstance(value, str) and value.strip().startswith("{"):
        value = _parsed(value)
    if isinstance(value, dict):
        return {as_text(name): part for name, part in value.items()}
    parts = value if isinstance(value, list) and all(isinstance(part, dict) for part in value) else []
    if not parts or not all({"label", "score"} <= set(part) for part in parts):
        return None
    return {as_text(part["label"]): part["score"] for part in parts}


def _is_in(texts: pa.Array, known: Sequence[str]) -> Bools:
    return np.asarray(floats_in(pc.is_in(texts, value_set=from_texts(known))), np.bool_)


def _without(texts: pa.Array, empty: Bools) -> pa.Array:
    """Return texts with null where it is empty."""
    return texts.take(from_numpy(np.arange(len(texts)), ~empty)) if empty.any() else texts


def _no_number(
    sheet: Sheet, column: str, path: str, wrong: Bools, *, share: bool, words: Mapping[str, float]
) -> FileError:
    first = int(np.argmax(wrong))
    value = sheet.column(column)[first].as_py()
    rule, advice = "must hold numbers", Advice.CONFIDENCES if share and not isinstance(value, str) else ""
    if isinstance(value, str):
        advice = FileAdvice.EMPTY_CELL if share else FileAdvice.WORDS_OF_TRUTH if words is not TRUTHS else ""
    if isinstance(value, str) and value.strip() == column.strip():
        rule, advice = "must hold numbers; a row repeats the header", FileAdvice.LEAVE_ROWS_OUT
    return FileError(
        path,
        rule,
        column=column,
        row=int(sheet.rows[first]),
        value=value,
        count=int(np.count_nonzero(wrong)),
        total=len(wrong),
        advice=advice,
    )


def _parsed(text: str) -> object:
    try:
        return row_of_numbers(ast.literal_eval(text.strip())) if text.strip()[:1] in "[(" else ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _cell(part: object) -> object:
    """Return one of several numbers of a cell as float, or as it is."""
    try:
        return float(part) if isinstance(part, str) else part
    except ValueError:
        return part


def _unambiguous(words: Mapping[str, float], values: Sequence[object]) -> Mapping[str, float]:
    if "n" not in words:
        return words
    present = {value.strip().lower() for value in values if isinstance(value, str)}
    return {word: value for word, value in words.items() if word != "n"} if present & NO_ANSWER else words

"""Cells of text as people and tools write them -> numbers, truths and classes; how is decided per column, not per cell.

A column holds numbers in one way only: with decimal points, with decimal commas, or with per cent signs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError
from ..inputs import Floats, Ints
from .values import TEXT, Sheet, as_text, encode, floats_in, from_numpy, is_in, is_numeric, nulls_in

PAIRS = ("true false", "yes no", "correct incorrect", "right wrong", "pass fail", "passed failed", "t f", "y n", "c i")
TRUTHS = [dict(zip(pair.split(), (1.0, 0.0), strict=True)) for pair in PAIRS]  # words for right, and for wrong
NOTHING = {"", "\\n", "-", "--", "\N{EN DASH}", "\N{EM DASH}", "na", "n/a", "nan", "null", "none", "#n/a"}
_EMPTY = [*NOTHING, "\\N", "NA", "N/A", "NaN", "NAN", "NULL", "Null", "None", "NONE", "#N/A"]
_POINT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?")  # 1.234,5 too
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")  # 1.234 may be 1234 where commas are decimal points
_UNIT_COMMA = re.compile(r"[01](,\d+)?")  # a number from 0 to 1, which no separator of thousands is in


def parse_cells(array: pa.Array) -> pa.Array:
    """Return a column of text (N,) as numbers or truths if all its cells are such, else as text; null where empty."""
    if array.type != TEXT:
        return array
    number = _as_numbers(array)
    if number is not None:
        return number
    trimmed = pc.utf8_trim_whitespace(array)
    empty = nulls_in(array) | is_in(trimmed, _EMPTY)
    cells = trimmed.take(from_numpy(np.arange(len(trimmed)), ~empty)) if empty.any() else trimmed
    number = _as_numbers(cells)
    if number is not None:
        return number
    words = _words(cells.slice(0, 100))
    if words and words <= set(TRUTHS[0]) and _words(cells) <= set(TRUTHS[0]):
        return from_numpy(is_in(pc.utf8_lower(cells), ["true"]), ~nulls_in(cells))
    return cells


def numbers_in(sheet: Sheet, column: str, *, share: bool = False) -> Floats:
    """Return a column (N,) as float64, NaN where empty; of a `share`, cells may also be 85% or 0,85."""
    cells = sheet.column(column)
    parsed = parse_cells(cells)
    if is_numeric(parsed.type):
        if sheet.decimal_comma and cells.type == TEXT:
            _refuse_thousands(sheet, column)
        return floats_in(parsed)
    if parsed.type != TEXT:
        wrong = ~nulls_in(cells)
        if not wrong.any():
            return np.full(len(cells), np.nan)
        raise sheet.error(column, "no_numbers", wrong, value=sheet.first(column, wrong))
    values, codes = encode(parsed)
    texts = [str(value).strip() for value in values]
    numbers = _numbers_of(texts, decimal_comma=sheet.decimal_comma, share=share)
    if numbers is None:
        raise _no_number(sheet, column, texts, codes)
    return np.append(numbers, np.nan)[codes]


def truths_in(sheet: Sheet, column: str, right: str | None = None) -> Floats:
    """Return 1, 0 or grades of a column (N,), NaN where empty; `right` is the word for 1, or that and the one for 0."""
    parsed = parse_cells(sheet.column(column))
    values, codes = encode(parsed)
    words = [as_text(value).lower() for value in values]
    pair: Mapping[str, float] | None
    if right is not None:
        pair = _pair_of(sheet, column, right, words, codes)
    elif is_numeric(parsed.type):
        return floats_in(parsed)
    else:
        pair = next((known for known in TRUTHS if set(words) <= set(known)), None)
    if pair is None:
        _refuse_two_words(sheet, column, words)
        _refuse_odd_words(sheet, column, words, codes)
        return numbers_in(sheet, column)
    return np.array([*(pair[word] for word in words), np.nan])[codes]


def is_number(text: str) -> bool:
    """Return whether text is a number, in ASCII and without underscores."""
    return _POINT.fullmatch(text.strip()) is not None


def row_of_numbers(value: object) -> object:
    """Return a cell that holds several numbers as a list, and any other cell unchanged.

    It may be a list or its text, as NumPy or JSON print it, or what `classes_of` takes.
    """
    by_class = classes_of(value)
    if by_class is not None:
        return [_float_if_any(part) for part in by_class.values()]
    if isinstance(value, str):
        inside = re.fullmatch(r"\s*[\[(]([^\[\](){}]*)[\])]\s*", value)
        value = re.split(r"[\s,;]+", inside[1].strip(" ,")) if inside else value
    if isinstance(value, list | tuple):
        return [_float_if_any(part) for part in value]
    return value


def classes_of(value: object) -> dict[str, object] | None:
    """Return the numbers of a cell by the names of their classes, or None if it does not name them.

    It may be a mapping, or a list of ``{"label": ..., "score": ...}``, as pipelines of transformers return it.
    """
    if isinstance(value, str) and value.strip().startswith(("{", "[{")):
        value = _literal(value)
    if isinstance(value, dict):
        return {as_text(name): part for name, part in value.items()}
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(part, dict) and {"label", "score"} <= set(part) for part in value):
        return None
    return {as_text(part["label"]): part["score"] for part in value}


def _as_numbers(array: pa.Array) -> pa.Array | None:
    """Return text as whole numbers or as float64, or None where a cell is none."""
    filled = array if len(array) and array[0].is_valid else array.drop_null()
    first = str(filled[0]).strip() if len(filled) else "0"
    try:
        float(first)  # Arrow would go through all cells
    except ValueError:
        return None
    is_whole = first.lstrip("-").isdecimal()
    for kind in (pa.int64(), pa.float64()) if is_whole else (pa.float64(),):
        try:
            return array.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _words(cells: pa.Array) -> set[str]:
    return {str(word) for word in encode(pc.utf8_lower(cells))[0]}


def _numbers_of(texts: Sequence[str], *, decimal_comma: bool, share: bool) -> Floats | None:
    """Return texts as numbers, if all are written in one way."""
    divisor = 1
    if share and texts and all(text.endswith("%") for text in texts):
        texts = [text.rstrip("% ") for text in texts]
        divisor = 100
    pattern = _COMMA if decimal_comma or divisor == 100 else _UNIT_COMMA
    if all(_POINT.fullmatch(text) for text in texts):
        numbers = [float(text) for text in texts]
    elif (decimal_comma or share) and all(pattern.fullmatch(text) for text in texts):
        numbers = [float(text.replace(".", "").replace(",", ".")) for text in texts]
    else:
        return None
    return np.array(numbers, np.float64) / divisor


def _refuse_thousands(sheet: Sheet, column: str) -> None:
    """Raise FileError if numbers such as 1.234 are in a file whose decimal points are commas."""
    values, codes = encode(sheet.column(column))
    pointed = [text for text in map(str, values) if "." in text]
    if pointed and all(_THOUSANDS.fullmatch(text.strip()) for text in pointed):
        wrong = np.isin(codes, [values.index(text) for text in pointed])
        raise sheet.error(column, "points_between_thousands", wrong, value=pointed[0], advice="leave_points_out")


def _pair_of(sheet: Sheet, column: str, right: str, words: Sequence[str], codes: Ints) -> Mapping[str, float]:
    """Return what each word counts as where the user named that for right, or both as RIGHT/WRONG."""
    first, _, second = right.lower().partition("/")
    others = [word for word in words if word != first]
    pair = {first.strip(): 1.0, (second.strip() or "".join(others[:1])): 0.0}
    if first.strip() not in words:
        raise sheet.error(column, "word_missing", got=", ".join(words[:5]), word=first.strip())
    strange = [word for word in words if word not in pair]
    if strange:
        wrong = np.isin(codes, [words.index(word) for word in strange])
        raise sheet.error(column, "neither_word", wrong, value=strange[0], words=list(pair))
    return pair


def _refuse_two_words(sheet: Sheet, column: str, words: Sequence[str]) -> None:
    """Raise FileError if there are two words, of which only the user knows which is right."""
    pair = list(dict.fromkeys(words))
    if len(pair) == 2 and not any(map(is_number, pair)):
        raise sheet.error(column, "two_codes", advice="say_right", low=pair[0], high=pair[1])


def _refuse_odd_words(sheet: Sheet, column: str, words: Sequence[str], codes: Ints) -> None:
    """Raise FileError if some words are a pair for right and wrong, and others are none of it."""
    pair = max(TRUTHS, key=lambda known: len(set(known) & set(words)))
    odd = [word for word in words if word not in pair]
    if len(odd) < len(words):
        wrong = np.isin(codes, [words.index(word) for word in odd])
        value = sheet.first(column, wrong)
        raise sheet.error(column, "neither_word", wrong, value=value, words=list(pair), advice="empty_if_not_judged")


def _no_number(sheet: Sheet, column: str, texts: Sequence[str], codes: Ints) -> FileError:
    """Return the error about the first cell that is written as the fewest are."""
    ways = [_way_of(text) for text in texts]
    numbers = [way for way in ways if way != "words"]
    usual = max(numbers, key=numbers.count, default="")
    odd = [k for k, way in enumerate(ways) if way != usual]
    wrong = np.isin(codes, odd) if odd else codes >= 0
    value = sheet.first(column, wrong)
    if str(value).strip() == column.strip():
        return sheet.error(column, "header_repeated", wrong, value=value, advice="leave_rows_out")
    if "words" in ways or not odd:
        return sheet.error(column, "no_numbers", wrong, value=value, advice="leave_cell_empty")
    return sheet.error(column, "written_in_several_ways", wrong, value=value, usual=usual)


def _way_of(text: str) -> str:
    if text.endswith("%"):
        return "per cent"
    if _POINT.fullmatch(text):
        return "with decimal points"
    return "with decimal commas" if _COMMA.fullmatch(text) else "words"


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

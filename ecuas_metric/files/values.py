"""Cells as people and tools write them -> numbers, rows of numbers, and the text of ids and classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..errors import Advice, FileAdvice, FileError
from ..inputs import Floats
from .csv_tables import MISSING
from .read import Sheet

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
    )
    for place, word in enumerate(pair)
}
NO_ANSWER = {"c", "i"}  # beside these, "n" may be "no answer"
NO_VALUE = {text.lower() for text in MISSING}


def column_of_numbers(
    sheet: Sheet, column: str, path: str, *, words: Mapping[str, float] | None = None, share: bool = False
) -> Floats:
    """Return a column as float64, nan where empty.

    Parameters
    ----------
    sheet : Sheet
    column : str
    path : str
        For errors.
    words : mapping, optional
        Words, in lower case, that stand for numbers.
    share : bool
        Whether the numbers are shares of 1: then 85% is 0.85, and 0,85 as well.

    Returns
    -------
    ndarray of float

    Raises
    ------
    FileError
        Names the first cell that is not a number.
    """
    values = sheet.frame[column]
    if values.dtype.kind in "biuf":
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if values.dtype == object or isinstance(values.dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(values):
        words = _unambiguous(words or {}, values)
        comma = sheet.decimal_comma or share
        values = values.astype(object).map(lambda value: number(value, comma=comma, words=words, share=share))
    numbers: Floats = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.isnan(numbers) & values.notna().to_numpy()
    if wrong.any():
        first = int(np.argmax(wrong))
        value = sheet.frame[column].iloc[first]
        raise FileError(
            path,
            "must hold numbers",
            column=column,
            row=int(sheet.rows[first]),
            value=value,
            count=int(np.count_nonzero(wrong)),
            total=len(wrong),
            advice=_advice(value, share=share, words=words or {}),
        )
    return numbers


def number(value: object, *, comma: bool, words: Mapping[str, float], share: bool = False) -> object:
    """Return what a cell stands for: a number, nan, or text that is no number.

    Examples
    --------
    >>> number(" 85 %", comma=False, words={}, share=True), number("0,5", comma=True, words={})
    (0.85, '0.5')
    >>> number("C", comma=False, words=TRUTH), number("n/a", comma=False, words={})
    (1.0, nan)
    """
    if not isinstance(value, str):
        return value if isinstance(value, int | float | np.number | np.bool_) or value is None else _single(value)
    text = value.strip().lower()
    if text in words:
        return words[text]
    if text in NO_VALUE:
        return np.nan
    if comma and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    if share and re.fullmatch(r"[\d.]+(e-?\d+)?\s*%", text):
        try:
            return float(text.rstrip("% ")) / 100
        except ValueError:
            return text
    return text


def row_of_numbers(value: object) -> object:
    """Return a cell that holds several numbers as a list; what is none is returned as it is.

    Lists, their text in a cell, mappings of classes to numbers, and lists of (number, anything) or of
    ``{"label": ..., "score": ...}``, as tools for language models write them.

    Examples
    --------
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
    if isinstance(value, list | tuple | np.ndarray):
        return [
            _cell(part[0] if isinstance(part, list | tuple | np.ndarray) and len(part) == 2 else part) for part in value
        ]
    return value


def classes_of(value: object) -> dict[str, object] | None:
    """Return the numbers of a cell by the names of their classes, or None if it does not name them."""
    if isinstance(value, str) and value.strip().startswith("{"):
        value = _parsed(value)
    if isinstance(value, dict):
        return {as_text(name): part for name, part in value.items()}
    if (
        isinstance(value, list | np.ndarray)
        and len(value)
        and all(isinstance(part, dict) and {"label", "score"} <= set(part) for part in value)
    ):
        return {as_text(part["label"]): part["score"] for part in value}
    return None


def as_text(value: object) -> str:
    """Return an id or a class as the text that any kind of file has for it: 7 and 7.0 are "7"."""
    if isinstance(value, bool | np.bool_):
        return str(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def as_ids(values: pd.Series) -> pd.Index:
    """Return ids as whole numbers, or as text: 7 and 7.0 and "7" are the same, and "007" is another.

    Examples
    --------
    >>> as_ids(pd.Series([7.0, 8.0])).tolist(), as_ids(pd.Series(["7", "007"])).tolist()
    ([7, 8], ['7', '007'])
    """
    kind = values.dtype.kind
    if kind in "iuf":
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        if (np.abs(numbers) < 2**53).all() and (kind != "f" or (numbers == np.floor(numbers)).all()):
            return pd.Index(values.to_numpy(dtype=np.int64))
    if pd.api.types.is_string_dtype(values) and values.dtype != object and not values.isna().any():
        return pd.Index(values)
    return pd.Index([value if type(value) is str else as_text(value) for value in values.tolist()], dtype=object)


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


def _single(value: object) -> object:
    """Return the number of a list of one, or text that is no number."""
    if isinstance(value, list | np.ndarray) and np.size(value) == 1:
        return np.asarray(value, dtype=object).ravel()[0]
    return value if pd.api.types.is_scalar(value) else repr(value)


def _unambiguous(words: Mapping[str, float], values: pd.Series) -> Mapping[str, float]:
    if "n" not in words:
        return words
    present = {value.strip().lower() for value in values if isinstance(value, str)}
    return {word: value for word, value in words.items() if word != "n"} if present & NO_ANSWER else words


def _advice(value: object, *, share: bool, words: Mapping[str, float]) -> str:
    if not isinstance(value, str):
        return Advice.CONFIDENCES if share else ""
    if share and not words:
        return FileAdvice.EMPTY_CELL
    return FileAdvice.WORDS_OF_TRUTH if words else ""

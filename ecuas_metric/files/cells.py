"""Cells of text as people and tools write them -> numbers, correctness and classes, by one rule for a whole column.

A column holds numbers in one way only: with decimal points, with decimal commas, or with per cent signs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, InputError, Way
from ..inputs import Bools, Floats, Ints, complement
from .values import (
    TEXT,
    Sheet,
    are_null,
    as_text,
    clear_texts,
    distinct_texts,
    encode,
    first_value,
    from_numpy,
    from_values,
    is_numeric,
    match_any,
    parse_json,
    to_floats,
    to_matrix,
    to_texts,
)

_WORDS = (
    "true/false yes/no correct/incorrect right/wrong correct/wrong right/incorrect"
    " pass/fail passed/failed success/failure t/f y/n c/i ✓/✗ ✔/✘ ✅/❌"
)
_PAIRS = _WORDS.split()
# pairs of words for right (1) and wrong (0)
TRUTHS = [dict(zip(pair.split("/"), (1.0, 0.0), strict=True)) for pair in _PAIRS]
_DASHES = ("-", "--", "\N{EN DASH}", "\N{EM DASH}")
_WORDS_OF_NOTHING = ("\\n", "na", "n/a", "nan", "null", "none", "#n/a")
NOTHING = ("", ".", *_DASHES, *_WORDS_OF_NOTHING)  # a point as in Stata and SAS
# typographic signs -> those of keyboards
_TYPED = str.maketrans(
    {"\N{MINUS SIGN}": "-", "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " "}
)
_EXPONENT = r"[eE][-+]?\d+"
_POINT = re.compile(rf"[-+]?(\d+\.?\d*|\.\d+)({_EXPONENT})?")
_COMMA = re.compile(rf"[-+]?(\d+(,\d+)?|,\d+)({_EXPONENT})?")
# a comma that cannot separate thousands: after 0 or nothing, of a share (True) also after 1, before an exponent, or not
# before three digits
_NO_THOUSANDS = {
    share: re.compile(rf"[{whole}]?,\d+|\d,\d+{_EXPONENT}|\d+(,\d{{1,2}}|,\d{{4,}})?")
    for share, whole in ((True, "01"), (False, "0"))
}
_SPACE = r"[\s\x{a0}\x{202f}]*"
# points that may separate thousands, in the syntax of pyarrow
_THOUSANDS = rf"^{_SPACE}[-+\x{{2212}}]?[1-9]\d{{0,2}}(\.\d{{3}})+{_SPACE}$"
_PER_CENT = re.compile(r"[-+]?\d+([.,]\d+)? ?%")
_WORDS_SHOWN = 5
# words for no answer, which are no slips
_NO_ANSWER = {
    "not attempted",
    "abstained",
    "abstain",
    "abstention",
    "no answer",
    "refused",
    "refusal",
}
_OFTEN = 5  # rows from which a word is no slip
MOST_LEVELS = 11  # of a rating, e.g. from 0 to 10
_WAYS = {
    "whole or with decimal points": _POINT,
    "with decimal commas": _COMMA,
    "with commas between thousands": re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?"),
    "per cent": _PER_CENT,
}


def parse_cells(array: pa.Array) -> pa.Array:
    """Return a column of text (N,) as numbers or booleans if all cells are, else as text; null where empty."""
    if array.type != TEXT:
        return array
    number = _cast_numbers(array)
    if number is not None:
        return number
    cells = pc.utf8_trim_whitespace(array)
    words = pc.utf8_lower(cells)
    cells = clear_texts(cells, match_any(words, NOTHING))
    number = _cast_numbers(cells)
    if number is not None:
        return number
    if str(first_value(cells)).lower() not in TRUTHS[0]:
        return cells
    missing = are_null(cells)
    is_known = missing | match_any(words, list(TRUTHS[0]))
    return from_numpy(match_any(words, ["true"]), ~missing) if is_known.all() else cells


def read_numbers(
    sheet: Sheet,
    name: str,
    *,
    share: bool = False,
    whole: float = 1,
) -> Floats:
    """Return a column (N,) as float64, NaN where empty; FileError for other cells.

    "1-NAME" gives `whole` minus the column NAME. Cells of a `share` may also be written 85% or 0,85.
    """
    column = sheet.stored(name)
    if column != name:
        return complement(read_numbers(sheet, column, share=share), whole)
    cells = sheet.column(column)
    if sheet.decimal_comma and cells.type == TEXT:
        _refuse_points(sheet, column)
    parsed = parse_cells(cells)
    if is_numeric(parsed.type):
        return to_floats(parsed)
    if parsed.null_count == len(parsed):
        return np.full(len(parsed), np.nan)
    if parsed.type != TEXT:
        raise sheet.rows_error(column, "no_numbers", ~are_null(cells))
    values, codes = encode(parsed)
    texts = [str(value).translate(_TYPED) for value in values]
    way = _find_common_style(texts, decimal_comma=sheet.decimal_comma, share=share)
    if way is None:
        raise _not_numbers_error(sheet, column, texts, codes)
    distinct = np.array([*map(_parse_number, texts), np.nan])
    numbers = distinct[codes]
    return numbers / 100 if way is _PER_CENT else numbers


def numbers_if_any(sheet: Sheet, name: str) -> Floats:
    """Return a column (N,) as float64, also from 85% and 0,85; all NaN if a cell is no number."""
    try:
        return read_numbers(sheet, name, share=True)
    except FileError:
        return np.full(len(sheet.rows), np.nan)


def read_truths(
    sheet: Sheet,
    name: str,
    right: str | None = None,
) -> Floats:
    """Return the correctness in a column (N,), 1, 0 or a grade, NaN where empty; FileError for other cells.

    `right` is the word for right, or RIGHT/WRONG; by default the pairs of `TRUTHS` are known.
    """
    column = sheet.stored(name)
    if column != name:
        return complement(read_truths(sheet, column, right))
    cells = sheet.column(column)
    parsed = parse_cells(cells)
    if right is None and is_numeric(parsed.type):
        return to_floats(parsed)
    words, codes = _read_words(cells, right)
    pair = (
        _find_known_pair(sheet, column, words, codes)
        if right is None
        else _parse_right_words(words, right)
    )
    if pair is not None:
        _refuse_other_words(sheet, column, codes, words, pair)
        distinct = np.array([*map(pair.get, words), np.nan], np.float64)
        return distinct[codes]
    are_words = np.array([not _detect_style(word) for word in words])
    if parsed.type == TEXT and are_words.any():
        advice = "say_right_word" if are_words.all() else "empty_if_not_judged"
        wrong = np.isin(codes, np.flatnonzero(are_words))
        raise sheet.rows_error(column, "no_truths", wrong, advice=advice)
    return read_numbers(sheet, column)


def _parse_number(text: str) -> float:
    """Return the number in a text of one of the styles; of 85% it is 85."""
    return float(text.rstrip("% ").replace(",", "."))


def is_number(text: str) -> bool:
    """Return whether text is a number in decimal points, without underscores."""
    return _POINT.fullmatch(text.strip()) is not None


def parse_number_list(value: object) -> object:
    """Return a cell with several numbers as a list; any other cell unchanged.

    The cell is a list, its text as NumPy or JSON print it, or one that `parse_class_scores` takes.
    """
    by_class = parse_class_scores(value)
    value = value if by_class is None else list(by_class.values())
    if isinstance(value, str):
        inside = re.fullmatch(r"\s*[\[(]([^\[\](){}]*)[\])]\s*", value)
        value = re.split(r"[\s,;]+", inside[1].strip(" ,")) if inside else value
    if isinstance(value, list | tuple):
        return [_float_if_any(part) for part in value]
    return value


def are_numbers(row: Iterable[object]) -> bool:
    """Return whether all parts of a cell are numbers."""
    return all(isinstance(part, float | int) for part in row)


def read_number_lists(sheet: Sheet, name: str) -> Floats | None:
    """Return a column of lists of K numbers, see `parse_number_list`, as an array (N, K); None for other cells."""
    rows = list(map(parse_number_list, sheet.column(name).to_pylist()))
    return to_matrix(from_values(rows))


def parse_class_scores(value: object) -> dict[str, object] | None:
    """Return the numbers in a cell by the names of their classes, None if it has no names.

    The cell, or its JSON text, is a mapping {class: number}; a list of objects {"label": class, "score": number}, as
    pipelines of transformers return it; or an object of two lists, of classes and of numbers.
    """
    if isinstance(value, str) and value.strip().startswith(("{", "[{")):
        value = parse_json(value)
    if isinstance(value, list):
        value = _parse_scores(value)
    if not isinstance(value, dict):
        return None
    named = _zip_two_lists(value) or value
    return {as_text(name): part for name, part in named.items() if part is not None}


def _parse_scores(parts: Sequence[object]) -> dict[str, object] | None:
    """Return the numbers by class in a list of objects of a class and a number; None for other lists."""
    scores = [score for score in map(_parse_score, parts) if score is not None]
    return dict(scores) if parts and len(scores) == len(parts) else None


def _parse_score(part: object) -> tuple[str, object] | None:
    """Return class and number in an object, by the names of their fields, or as its only text and its only number."""
    if not isinstance(part, dict):
        return None
    names = _select_parts(part, ("label",), str)
    scores = _select_parts(part, ("score", "prob", "probability"), (float, int))
    return (as_text(names[0]), scores[0]) if len(names) == len(scores) == 1 else None


def _select_parts(part: Mapping[str, object], names: Iterable[str], kinds: Any) -> list[object]:
    """Return the fields of an object with one of these names, or else all of these types."""
    named = [part[name] for name in names if name in part]
    return named or [value for value in part.values() if isinstance(value, kinds)]


def _zip_two_lists(value: Mapping[str, object]) -> dict[object, object]:
    """Return numbers by class in an object of two lists, of classes and of numbers; nothing for other objects."""
    lists = [part for part in map(parse_json, value.values()) if isinstance(part, list)]
    if not len(lists) == len(value) == 2 or len(lists[0]) != len(lists[1]):
        return {}
    names, values = sorted(lists, key=are_numbers)
    are_named = all(isinstance(name, str) for name in names) and are_numbers(values)
    return dict(zip(names, values, strict=True)) if are_named else {}


def _cast_numbers(array: pa.Array) -> pa.Array | None:
    """Return text (N,) as whole numbers or float64; None if a cell is no number."""
    first = str(first_value(array) or "0").strip()
    try:
        float(first)  # quick: Arrow would parse cells up to the first that is no number
    except ValueError:
        return None
    kinds = [pa.float64()]
    if first.lstrip("-").isdecimal():
        kinds.insert(0, pa.int64())
    for kind in kinds:
        try:
            return array.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _find_common_style(
    texts: Sequence[str], *, decimal_comma: bool, share: bool
) -> re.Pattern[str] | None:
    """Return the style in which all texts are written as numbers, None if there is none."""
    ways = [_POINT, _COMMA if decimal_comma else _NO_THOUSANDS[share], *[_PER_CENT] * share]
    return next((way for way in ways if all(map(way.fullmatch, texts))), None)


def _refuse_points(sheet: Sheet, column: str) -> None:
    """Raise FileError if all points of a column may separate thousands in a file with decimal commas.

    1.234 may be 1234, but not beside 0.850 or 40.5.
    """
    cells = sheet.column(column)
    are_pointed = to_floats(pc.match_substring(cells, ".")) == 1
    may_be_thousands = to_floats(pc.match_substring_regex(cells, _THOUSANDS)) == 1
    if are_pointed.any() and (may_be_thousands == are_pointed).all():
        rule = "points_between_thousands"
        raise sheet.error(column, rule, are_pointed, advice="leave_points_out")


def _refuse_other_words(
    sheet: Sheet,
    column: str,
    codes: Ints,
    words: Sequence[str],
    pair: Mapping[str, float],
) -> None:
    """Raise FileError if a column has words besides those for right and wrong, with the ways to count them.

    Words in a few rows may be slips, for which no way is offered.
    """
    further = [word for word in words if word not in pair]
    if not further:
        return
    are_others = np.isin(codes, [words.index(word) for word in further])
    counts = dict(zip(words, np.bincount(codes[codes >= 0]).tolist(), strict=True))
    fields: dict[str, Any] = {"words": list(pair), "advice": "empty_if_not_judged"}
    are_slips = any(counts[word] < _OFTEN and not _is_no_answer(word) for word in further)
    if len(words) <= _WORDS_SHOWN and not are_slips:
        width = max(map(len, words))
        listed = [f"{word.ljust(width)}   {number} rows" for word, number in counts.items()]
        fields |= {"listed": listed, "ways": [*_list_count_ways(words, pair, further)]}
    raise sheet.rows_error(column, "neither_word", are_others, **fields)


def _is_no_answer(word: str) -> bool:
    return re.sub(r"[\s_-]+", " ", word) in _NO_ANSWER


def _list_count_ways(
    words: Sequence[str], pair: Mapping[str, float], further: Sequence[str]
) -> Iterator[Way]:
    """Yield the ways to count further words: as wrong, as right, and a single one as no answer.

    None if a word has a comma or slash, which separate words in a flag.
    """
    if re.search("[/,]", "".join(words)):
        return
    others = ", ".join(further)
    for what, number in (("wrong", 0.0), ("right", 1.0)):
        numbers = {**pair, **dict.fromkeys(further, number)}
        known_first = sorted(words, key=further.__contains__)
        sides = [[word for word in known_first if numbers[word] == side] for side in (1, 0)]
        if all(sides):
            yield Way(f"{others}: {what}", {}, {"right": "/".join(map(",".join, sides))})
    if len(further) == 1:
        yield Way(f"{others}: no answer was given", {}, {"abstained": others})


def complete_right_words(
    sheet: Sheet,
    column: str,
    right: str,
    *,
    is_whole: bool,
) -> str:
    """Return the user's word for right with the one for wrong, RIGHT/WRONG, if the column has just these two.

    FileError if the column has more words, or, if `is_whole`, lacks the user's: of a column that is not whole, further
    rows may have it.
    """
    if "/" in right:
        return right
    words, codes = _read_words(sheet.column(column), right)
    word = right.strip().lower()
    if word not in words:
        if is_whole:
            got = ", ".join(words[:_WORDS_SHOWN])
            raise sheet.error(column, "word_missing", got=got, word=word)
        return right
    pair = _parse_right_words(words, right)
    _refuse_other_words(sheet, column, codes, words, pair)
    return "/".join([right, *list(pair)[1:]])


def read_names(
    cells: pa.Array,
    known: Collection[str],
) -> pa.Array:
    """Return the names in a column as text (N,); null where empty or a word for nothing that is no `known` name."""
    parsed = parse_cells(cells)
    are_numbers = is_numeric(parsed.type) and not (cells.type == TEXT and _are_names(cells, known))
    texts = to_texts(parsed if are_numbers else cells)
    words = distinct_texts(texts)
    nothing = [word for word in words if word.lower() in NOTHING and word not in known]
    return clear_texts(texts, match_any(texts, nothing))


def _are_names(cells: pa.Array, known: Collection[str]) -> bool:
    """Return whether two texts, or two known names, are equal only as numbers, as are 1E2 and 100, or 1.1 and 1.10."""
    for texts in (distinct_texts(to_texts(cells)), known):
        names = {re.sub(r"\.0*$", "", text) for text in texts if is_number(text)}
        if len(names) > len(set(map(float, names))):
            return True
    return False


def _read_words(
    cells: pa.Array,
    right: str | None,
) -> tuple[list[str], Ints]:
    """Return the distinct words of a column in lower case, and the index (N,) of each row's word."""
    texts = read_names(cells, re.split("[/,]", right) if right else ())
    values, codes = encode(pc.utf8_lower(texts))
    return list(map(str, values)), codes


def _parse_right_words(
    words: Sequence[str],
    right: str,
) -> Mapping[str, float]:
    """Return 1 or 0 by word from the user's RIGHT, RIGHT/WRONG or RIGHT,RIGHT/WRONG,WRONG.

    After RIGHT alone, the first other word of the column is wrong. A text with a comma may be one word of the column.
    """
    first, slash, second = (part.strip() for part in right.lower().partition("/"))
    of_right = _split_words(first, words)
    others = [word for word in words if word not in of_right]
    wrong = _split_words(second, words) if slash else others[:1]
    if not set(of_right).isdisjoint(wrong):
        raise InputError("right", "must have each word on one side of the stroke", value=right)
    return dict.fromkeys(of_right, 1.0) | dict.fromkeys(wrong, 0.0)


def _split_words(text: str, words: Sequence[str]) -> list[str]:
    """Return the words of a text, separated by commas; a text that is a word of the column is not split."""
    return [text] if text in words else list(map(str.strip, text.split(",")))


def _find_known_pair(
    sheet: Sheet,
    column: str,
    words: Sequence[str],
    codes: Ints,
) -> Mapping[str, float] | None:
    """Return the known pair that most words of a column are of, or None; FileError if it has two unknown words."""
    known = max(TRUTHS, key=lambda pair: len(pair.keys() & {*words}))
    common = len(known.keys() & {*words})
    if len(words) == 2 > common and not any(map(is_number, words)):
        raise two_codes_error(sheet, column, words[0], words[1], codes[codes >= 0] == 1)
    return known if common > len(words) - common else None


def are_known_pair(first: str, second: str) -> bool:
    """Return whether two words are a known pair for right and wrong, or 1 and 0."""
    words = {first.lower(), second.lower()}
    return words == {"0", "1"} or any(words == pair.keys() for pair in TRUTHS)


def two_codes_error(sheet: Sheet, column: str, low: str, high: str, is_high: Bools) -> FileError:
    """Return the error about two codes, one of which means right; `is_high` says which rows have the second."""
    codes: dict[str, Any] = {"low": low, "high": high}
    if "/" in low + high:  # which separates the words in a flag
        return sheet.error(column, "two_codes", advice="write_1_for_right", **codes)
    share = np.mean(is_high)
    ways = [
        Way(f"{right} is right: {part:.1%} of the answers", {}, {"right": f"{right}/{wrong}"})
        for right, wrong, part in ((high, low, share), (low, high, 1 - share))
    ]
    return sheet.error(column, "two_codes", ways=ways, **codes)


def _not_numbers_error(
    sheet: Sheet,
    column: str,
    texts: Sequence[str],
    codes: Ints,
) -> FileError:
    """Return the error about a column that is not all numbers in one style, at the first cell of an unusual style."""
    ways = list(map(_detect_style, texts))
    usual = max(_WAYS, key=ways.count)
    odd = [k for k, way in enumerate(ways) if way != usual]
    wrong = np.isin(codes, odd) if odd else codes >= 0
    if "" in ways:
        advice = "leave_cell_empty" if len(odd) < len(texts) else ""
        return sheet.rows_error(column, "no_numbers", wrong, advice=advice)
    rule = "written_in_several_ways" if odd else "no_numbers"
    has_commas = any("," in text for text in texts) and not sheet.decimal_comma
    advice = "write_points" if has_commas else ""
    return sheet.error(column, rule, wrong, usual=usual, advice=advice)


def _detect_style(text: str) -> str:
    """Return the name of the style of a number; nothing if a text is no number."""
    ways = (way for way, pattern in _WAYS.items() if pattern.fullmatch(text))
    return next(ways, "")


def _float_if_any(part: object) -> object:
    try:
        return float(part) if isinstance(part, str) else part
    except ValueError:
        return part

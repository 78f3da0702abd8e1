"""Cells of text as people and tools write them -> numbers, truths and classes; how is decided per column, not per cell.

A column holds numbers in one way only: with decimal points, with decimal commas, or with per cent signs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, Way
from ..inputs import Bools, Floats, Ints, complement
from .values import (
    TEXT,
    Sheet,
    as_text,
    emptied,
    encode,
    first_of,
    floats_in,
    from_numpy,
    from_values,
    is_in,
    is_numeric,
    lists_in,
    nulls_in,
    parsed_json,
    texts_in,
)

_WORDS = (
    "true/false yes/no correct/incorrect right/wrong correct/wrong right/incorrect"
    " pass/fail passed/failed success/failure t/f y/n c/i ✓/✗ ✔/✘ ✅/❌"
)
_PAIRS = _WORDS.split()
# words for right, and for wrong
TRUTHS = [dict(zip(pair.split("/"), (1.0, 0.0), strict=True)) for pair in _PAIRS]
_DASHES = ("-", "--", "\N{EN DASH}", "\N{EM DASH}")
_NAMES_OF_NOTHING = ("\\n", "na", "n/a", "nan", "null", "none", "#n/a")
NOTHING = ("", ".", *_DASHES, *_NAMES_OF_NOTHING)  # a point as Stata and SAS write it
# signs of typesetting -> those of keyboards
_TYPED = str.maketrans(
    {"\N{MINUS SIGN}": "-", "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " "}
)
_EXPONENT = r"[eE][-+]?\d+"
_POINT = re.compile(rf"[-+]?(\d+\.?\d*|\.\d+)({_EXPONENT})?")
_COMMA = re.compile(rf"[-+]?(\d+(,\d+)?|,\d+)({_EXPONENT})?")
# from 0 to 1, before an exponent, or not three digits behind it: a comma that separates no thousands
_NO_THOUSANDS = re.compile(rf"[01]?,\d+|\d,\d+{_EXPONENT}|\d+(,\d{{1,2}}|,\d{{4,}})?")
_PER_CENT = re.compile(r"[-+]?\d+([.,]\d+)? ?%")
# numbers and truths as NumPy and PyTorch print them: np.float64(0.5), tensor([0.1, 0.9], device='cuda:0'), [0.5]
# the fields of a vector of Spark ML, of which JSON leaves out those that a dense one does not need
_WORDS_SHOWN = 5
# words that are no slips
_NO_ANSWER = {
    "not attempted",
    "abstained",
    "abstain",
    "abstention",
    "no answer",
    "refused",
    "refusal",
}
_OFTEN = 5  # rows of a word that is no slip
MOST_LEVELS = 11  # of a rating, as from 0 to 10, or words for them
_WAYS = {
    "whole or with decimal points": _POINT,
    "with decimal commas": _COMMA,
    "per cent": _PER_CENT,
}


def parse_cells(array: pa.Array) -> pa.Array:
    """Return a column of text (N,) as numbers or truths if all its cells are such, else as text; null where empty."""
    if array.type != TEXT:
        return array
    number = _as_numbers(array)
    if number is not None:
        return number
    cells = pc.utf8_trim_whitespace(array)
    words = pc.utf8_lower(cells)
    cells = emptied(cells, is_in(words, NOTHING))
    number = _as_numbers(cells)
    if number is not None:
        return number
    if str(first_of(cells)).lower() not in TRUTHS[0]:
        return cells
    missing = nulls_in(cells)
    is_known = missing | is_in(words, list(TRUTHS[0]))
    return from_numpy(is_in(words, ["true"]), ~missing) if is_known.all() else cells


def numbers_in(
    sheet: Sheet,
    name: str,
    *,
    share: bool = False,
    whole: float = 1,
) -> Floats:
    """Return a column (N,) as float64, NaN where empty; of "1-NAME" what is missing to the whole.

    Of a `share`, cells may also be 85% or 0,85.
    """
    column = sheet.stored(name)
    if column != name:
        return complement(numbers_in(sheet, column, share=share), whole)
    cells = sheet.column(column)
    parsed = parse_cells(cells)
    if is_numeric(parsed.type):
        if sheet.decimal_comma and cells.type == TEXT:
            _refuse_points(sheet, column)
        return floats_in(parsed)
    if parsed.null_count == len(parsed):
        return np.full(len(cells), np.nan)
    if parsed.type != TEXT:
        raise sheet.error_of_rows(column, "no_numbers", ~nulls_in(cells))
    values, codes = encode(parsed)
    texts = [str(value).translate(_TYPED) for value in values]
    way = _common_way(texts, decimal_comma=sheet.decimal_comma, share=share)
    if way is None:
        raise _no_number(sheet, column, texts, codes)
    distinct = np.array([*map(_number_in, texts), np.nan])
    numbers = distinct[codes]
    return numbers / 100 if way is _PER_CENT else numbers


def numbers_if_any(sheet: Sheet, name: str) -> Floats:
    """Return a column (N,) as float64, also of shares, see `numbers_in`; all NaN where others are in it."""
    try:
        return numbers_in(sheet, name, share=True)
    except FileError:
        return np.full(len(sheet.rows), np.nan)


def columns_in(
    sheet: Sheet,
    names: Sequence[str],
    *,
    share: bool = False,
    whole: float = 1,
) -> Floats:
    """Return columns as float64 (N, K), see `numbers_in`."""
    if len(sheet.rows) and set(names).issubset(sheet.names):
        table = sheet.table.select(names).combine_chunks()
        if set(table.schema.types) == {pa.float64()}:  # at once, since there may be thousands
            (batch,) = table.to_batches()
            return np.asarray(batch.to_tensor(null_to_nan=True))
    columns = [numbers_in(sheet, name, share=share, whole=whole) for name in names]
    return np.stack(columns, axis=1)


def truths_in(
    sheet: Sheet,
    name: str,
    right: str | None = None,
) -> Floats:
    """Return 1, 0 or grades of a column (N,), NaN where empty; `right` is the word for 1, or that and the one for 0."""
    column = sheet.stored(name)
    if column != name:
        return complement(truths_in(sheet, column, right))
    cells = sheet.column(column)
    parsed = parse_cells(cells)
    if right is None and is_numeric(parsed.type):
        return floats_in(parsed)
    words, codes = _words_in(cells, right)
    pair = _known_pair(sheet, column, words, codes) if right is None else _said_pair(words, right)
    if pair is not None:
        _refuse_others(sheet, column, codes, words, pair)
        distinct = np.array([*map(pair.get, words), np.nan], np.float64)
        return distinct[codes]
    are_words = np.array([not _way_of(word) for word in words])
    if parsed.type == TEXT and are_words.any():
        advice = "say_right_word" if are_words.all() else "empty_if_not_judged"
        wrong = np.isin(codes, np.flatnonzero(are_words))
        raise sheet.error_of_rows(column, "no_truths", wrong, advice=advice)
    return numbers_in(sheet, column)


def _number_in(text: str) -> float:
    """Return the number of a text that is written in one of the ways, per cent as they are."""
    return float(text.rstrip("% ").replace(",", "."))


def is_number(text: str) -> bool:
    """Return whether text is a number, in ASCII and without underscores."""
    return _POINT.fullmatch(text.strip()) is not None


def row_of_numbers(value: object) -> object:
    """Return a cell that holds several numbers as a list, and any other cell unchanged.

    It may be a list or its text, as NumPy or JSON print it, or what `classes_of` takes.
    """
    by_class = classes_of(value)
    value = value if by_class is None else list(by_class.values())
    if isinstance(value, str):
        inside = re.fullmatch(r"\s*[\[(]([^\[\](){}]*)[\])]\s*", value)
        value = re.split(r"[\s,;]+", inside[1].strip(" ,")) if inside else value
    if isinstance(value, list | tuple):
        return [_float_if_any(part) for part in value]
    return value


def are_numbers(row: Iterable[object]) -> bool:
    """Return whether the parts of a cell are all numbers."""
    return all(isinstance(part, float | int) for part in row)


def lists_of_numbers(sheet: Sheet, name: str) -> Floats | None:
    """Return the lists of K numbers in the cells of a column, see `row_of_numbers`, as (N, K); None of others."""
    rows = list(map(row_of_numbers, sheet.column(name).to_pylist()))
    return lists_in(from_values(rows))


def classes_of(value: object) -> dict[str, object] | None:
    """Return the numbers of a cell by the names of the classes that have one, or None if it does not name them.

    It may be a mapping, a list of objects as ``{"label": ..., "score": ...}``, as pipelines of transformers return it,
    or a list of names and one of numbers.
    """
    if isinstance(value, str) and value.strip().startswith(("{", "[{")):
        value = parsed_json(value)
    if isinstance(value, list):
        value = _scores_in(value)
    if not isinstance(value, dict):
        return None
    named = _of_two_lists(value) or value
    return {as_text(name): part for name, part in named.items() if part is not None}


def _scores_in(parts: Sequence[object]) -> dict[str, object] | None:
    """Return the numbers of classes in a list of such, or None of others."""
    scores = [score for score in map(_score_in, parts) if score is not None]
    return dict(scores) if parts and len(scores) == len(parts) else None


def _score_in(part: object) -> tuple[str, object] | None:
    """Return the name of a class and its number: of certain names, or the only text and the only number there are."""
    if not isinstance(part, dict):
        return None
    for name in ("score", "prob", "probability"):
        if {"label", name} <= part.keys():
            return as_text(part["label"]), part[name]
    values = part.values()
    names = [value for value in values if isinstance(value, str)]
    scores = [value for value in values if isinstance(value, float | int)]
    if len(names) != 1 or len(scores) != 1:
        return None
    return as_text(names[0]), scores[0]


def _of_two_lists(value: Mapping[str, object]) -> dict[object, object]:
    """Return the numbers of one list by the names in the other, if a cell has just these two; nothing of others."""
    parts = list(map(parsed_json, value.values()))
    lists = [part for part in parts if isinstance(part, list)]
    sizes = set(map(len, lists))
    if not len(lists) == len(parts) == 2 or len(sizes) > 1:
        return {}
    names, values = sorted(lists, key=are_numbers)
    are_named = all(isinstance(name, str) for name in names)
    if not are_named or not are_numbers(values):
        return {}
    return dict(zip(names, values, strict=True))


def _as_numbers(array: pa.Array) -> pa.Array | None:
    """Return text as whole numbers or as float64, or None where a cell is none."""
    first = str(first_of(array) or "0").strip()
    try:
        float(first)  # Arrow would go through all cells
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


def _common_way(
    texts: Sequence[str],
    *,
    decimal_comma: bool,
    share: bool,
) -> re.Pattern[str] | None:
    """Return the way in which all texts are written as numbers, if there is one."""
    ways = [_POINT, _COMMA if decimal_comma else _NO_THOUSANDS]
    if share:
        ways.append(_PER_CENT)
    return next((way for way in ways if all(map(way.fullmatch, texts))), None)


def _refuse_points(sheet: Sheet, column: str) -> None:
    """Raise FileError if numbers have points in a file whose decimal points are commas: 1.234 may be 1234."""
    are_pointed = floats_in(pc.match_substring(sheet.column(column), ".")) == 1
    if are_pointed.any():
        rule = "points_between_thousands"
        raise sheet.error(column, rule, are_pointed, advice="leave_points_out")


def _refuse_others(
    sheet: Sheet,
    column: str,
    codes: Ints,
    words: Sequence[str],
    pair: Mapping[str, float],
) -> None:
    """Raise FileError if a column has words besides those for right and wrong, with the flag that counts them as wrong.

    Words of a few rows may be slips, which no flag should count.
    """
    further = [word for word in words if word not in pair]
    if not further:
        return
    numbers = [words.index(word) for word in further]
    are_others = np.isin(codes, numbers)
    fields: dict[str, Any] = {"words": list(pair), "advice": "empty_if_not_judged"}
    are_slips = np.bincount(codes[are_others])[numbers] < _OFTEN
    is_known = all(_plain_word(word) in _NO_ANSWER for word in further)
    if len(words) <= _WORDS_SHOWN and (is_known or not are_slips.any()):
        right, wrong = ([word for word in words if pair.get(word) == one] for one in (1, 0))
        ways = _ways_beside(right, wrong, further)
        fields |= {"listed": _list_words(words, codes), "ways": ways}
    raise sheet.error_of_rows(column, "neither_word", are_others, **fields)


def _plain_word(word: str) -> str:
    return re.sub(r"[\s_-]+", " ", word.strip().lower())


def _list_words(words: Sequence[str], codes: Ints) -> list[str]:
    """Return a line for each word, with the number of rows (N,) that have it."""
    width = max(map(len, words))
    counts = np.bincount(codes[codes >= 0], minlength=len(words)).tolist()
    return [f"{word.ljust(width)}   {n} rows" for word, n in zip(words, counts, strict=True)]


def _ways_beside(right: Sequence[str], wrong: Sequence[str], further: Sequence[str]) -> list[Way]:
    """Return the ways to count further words, as wrong or as right; none of words with signs that separate them."""
    if not right or re.search("[/,]", "".join([*right, *wrong, *further])):
        return []
    said = (
        ("wrong", f"{','.join(right)}/{','.join([*wrong, *further])}"),
        ("right", f"{','.join([*right, *further])}/{','.join(wrong)}"),
    )
    others = ", ".join(further)
    ways = [
        Way(f"{others}: {what}", {}, {"right": words}) for what, words in said if words[-1] != "/"
    ]
    if len(further) == 1:
        ways.append(Way(f"{others}: no answer was given", {}, {"abstained": others}))
    return ways


def said_words(
    sheet: Sheet,
    column: str,
    right: str,
    *,
    is_whole: bool,
) -> str:
    """Return the words for right and wrong as RIGHT/WRONG where the user named the first, and a column has just two.

    FileError if it has more; or not the one that is named, if it is whole: further rows may have it.
    """
    if "/" in right:
        return right
    words, codes = _words_in(sheet.column(column), right)
    word = right.strip().lower()
    if word not in words:
        if is_whole:
            got = ", ".join(words[:_WORDS_SHOWN])
            raise sheet.error(column, "word_missing", got=got, word=word)
        return right
    pair = _said_pair(words, right)
    _refuse_others(sheet, column, codes, words, pair)
    return "/".join([right, *list(pair)[1:]])


def texts_of_names(
    cells: pa.Array,
    known: Collection[str],
) -> pa.Array:
    """Return names in a column as text (N,); null where empty, unless a known name is written so."""
    parsed = parse_cells(cells)
    are_numbers = is_numeric(parsed.type) and not (cells.type == TEXT and _are_names(cells, known))
    texts = texts_in(parsed if are_numbers else cells)
    words = map(str, encode(texts)[0])
    nothing = [word for word in words if word.lower() in NOTHING]
    return emptied(texts, is_in(texts, [word for word in nothing if word not in known]))


def _are_names(cells: pa.Array, known: Collection[str]) -> bool:
    """Return whether texts (N,), or known names, are names as 1E2 and 100 or 1.1 and 1.10: equal only as numbers."""
    for texts in (map(str, encode(texts_in(cells))[0]), known):
        names = {re.sub(r"\.0*$", "", text) for text in texts if is_number(text)}
        if len(names) > len(set(map(float, names))):
            return True
    return False


def _words_in(
    cells: pa.Array,
    right: str | None,
) -> tuple[list[str], Ints]:
    """Return the distinct words of a column in lower case, and which of them each row (N,) has."""
    texts = texts_of_names(cells, re.split("[/,]", right or ""))
    values, codes = encode(pc.utf8_lower(texts))
    return list(map(str, values)), codes


def _said_pair(
    words: Sequence[str],
    right: str,
) -> Mapping[str, float]:
    """Return what words count as where the user named that for right, or all as RIGHT/WRONG or RIGHT,RIGHT/WRONG,WRONG.

    A word with a comma is one word, if the column has it.
    """
    first, slash, second = (part.strip() for part in right.lower().partition("/"))
    wrong = _words_of(second, words) if slash else [word for word in words if word != first][:1]
    return dict.fromkeys(_words_of(first, words), 1.0) | dict.fromkeys(wrong, 0.0)


def _words_of(text: str, words: Sequence[str]) -> list[str]:
    """Return the words that commas separate; one that the column has is whole."""
    return [text] if text in words else list(map(str.strip, text.split(",")))


def _known_pair(
    sheet: Sheet,
    column: str,
    words: Sequence[str],
    codes: Ints,
) -> Mapping[str, float] | None:
    """Return the words for right and wrong that a column has, or None; FileError if only the user can know them."""
    known = max(TRUTHS, key=lambda pair: len(pair.keys() & {*words}))
    common = len(known.keys() & {*words})
    if len(words) == 2 > common and not any(map(is_number, words)):
        raise two_codes(sheet, column, words[0], words[1], codes[codes >= 0] == 1)
    return known if common > len(words) - common else None


def are_known_pair(first: str, second: str) -> bool:
    """Return whether two words are a known pair for right and wrong, or 1 and 0."""
    words = {first.lower(), second.lower()}
    return words == {"0", "1"} or any(words == pair.keys() for pair in TRUTHS)


def two_codes(sheet: Sheet, column: str, low: str, high: str, is_high: Bools) -> FileError:
    """Return the error about two codes, one of which is right; known rows (N,) that are true have the second."""
    codes: dict[str, Any] = {"low": low, "high": high}
    if "/" in low + high:  # no flag says words with the sign that separates them
        return sheet.error(column, "two_codes", advice="write_1_for_right", **codes)
    share = np.mean(is_high)
    ways = [
        Way(f"{right} is right: {part:.1%} of the answers", {}, {"right": f"{right}/{wrong}"})
        for right, wrong, part in ((high, low, share), (low, high, 1 - share))
    ]
    return sheet.error(column, "two_codes", ways=ways, **codes)


def _no_number(
    sheet: Sheet,
    column: str,
    texts: Sequence[str],
    codes: Ints,
) -> FileError:
    """Return the error about the first cell that is written as the fewest are."""
    ways = list(map(_way_of, texts))
    usual = max(_WAYS, key=ways.count)
    odd = [k for k, way in enumerate(ways) if way != usual]
    wrong = np.isin(codes, odd) if odd else codes >= 0
    if odd and "" not in ways:
        return sheet.error(column, "written_in_several_ways", wrong, usual=usual)
    advice = "leave_cell_empty" if 0 < len(odd) < len(texts) else ""
    if not odd and usual == "per cent":
        advice = "leave_scale_out"
    elif len(odd) == len(texts) <= MOST_LEVELS:
        advice = "number_words"
    return sheet.error_of_rows(column, "no_numbers", wrong, advice=advice)


def _way_of(text: str) -> str:
    """Return how a number is written, or nothing if a text is none."""
    ways = (way for way, pattern in _WAYS.items() if pattern.fullmatch(text))
    return next(ways, "")


def _float_if_any(part: object) -> object:
    try:
        return float(part) if isinstance(part, str) else part
    except ValueError:
        return part

"""Signs in the rows that columns are not what they are read as: each is refused with what to say instead."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import FileError, InputError, Note
from ..inputs import Array, Bools, Floats, Ints
from ..results import note_perfect
from .cells import numbers_in, parse_cells
from .recipe import DIFFERENT, NAMES, Recipe, complement_of
from .values import TEXT, Sheet, as_text, count_distinct, encode, floats_in, is_numeric, join_texts, plain, texts_in

MAX_SYSTEMS = 1000  # more is a column of something else
_ENOUGH = 10  # rows from which what they have in common is no chance: 2 ** -10 for a coin
_FOOTERS = 5  # rows below a table that may be sums and the like
_SHAPES = 1000  # rows that say what ids look like
_MOST_LEVELS = 11  # of a rating, as from 0 to 10
_MOST_CROSSED = 100_000  # rows; of more, to tell their values apart takes as long as to score them
_MIXED = 0.05  # the share of numbers below 1 from which, and twice that of even ones, others are on another scale
_SPREAD = 2


def check_columns(sheet: Sheet, recipe: Recipe, said: Collection[str]) -> tuple[Note, ...]:
    """Raise FileError if columns that the user did not name cannot be what their names say; return notes on ids."""
    if len(sheet.rows) == recipe.rows:
        _refuse_footer(sheet, recipe)
    if "correct" not in said and recipe.right is None and recipe.form == "confidences":
        _refuse_answers(sheet, recipe)
    if recipe.form in ("confidences", "predicted"):
        _refuse_numbers(sheet, recipe)
    if "positive" not in said and recipe.form == "positive":
        _refuse_confidences(sheet, recipe)
    return _check_ids(sheet, recipe)


def require_ids(recipes: Iterable[Recipe | None]) -> None:
    """Raise InputError, since systems whose rows may be in different orders have no ids; name what may be ids."""
    candidates = [name for recipe in recipes if recipe for name, what in recipe.unused if what.endswith(DIFFERENT)]
    got = ", ".join(dict.fromkeys(candidates)) or "no column with another value in each row"
    raise InputError("systems", "no_ids", got=got, advice="name_ids")


def refuse_rating(sheet: Sheet, column: str, values: Floats) -> None:
    """Raise FileError if confidences (N,) are a few whole numbers, as from 1 to 5."""
    if not np.nanmax(values, initial=0) > 1:
        return
    levels = np.unique(values[~np.isnan(values)])
    if len(levels) <= _MOST_LEVELS and np.abs(levels).max() < _MOST_LEVELS and (levels % 1 == 0).all():
        limits: dict[str, Any] = {"low": levels[0], "high": levels[-1]}
        raise sheet.error(column, "rating", values > 1, advice="map_rating", **limits)


def refuse_codes(sheet: Sheet, column: str, grades: Floats) -> None:
    """Raise FileError if grades (N,) are not all 0 or 1, with what they seem to be."""
    if ((grades == 0) | (grades == 1) | np.isnan(grades)).all():
        return
    levels = np.unique(grades[~np.isnan(grades)])
    is_strange = ~np.isin(levels, (0, 1))
    strange = levels[is_strange]
    wrong = np.isin(grades, strange)
    rule = "not_0_or_1"
    advice = ""
    if strange[0] > 0 and strange[-1] < 1:
        if np.count_nonzero(wrong) == 1 and len(grades) > _ENOUGH:
            raise sheet.error(column, "one_row_unlike_others", wrong, value=strange[0], advice="leave_rows_out")
        advice = "set_correct_from"
    elif len(levels) == 2:
        rule = "two_codes"
        advice = "say_right"
    elif len(levels) - len(strange) == 2 and len(strange) <= 2:
        advice = "empty_if_not_judged"
    elif levels[0] >= 0 and levels[-1] < _MOST_LEVELS:
        advice = "set_correct_from"
    ends = {"low": f"{levels[0]:g}", "high": f"{levels[-1]:g}"}
    raise sheet.error(column, rule, wrong, value=grades[wrong][0], advice=advice, **ends)


def note_separated(confidence: Floats, correct: Ints) -> tuple[Note, ...]:
    """Return a note if confidences (N,) tell right from wrong answers without a mistake."""
    right = confidence[correct == 1]
    wrong = confidence[correct == 0]
    is_separated = right.min(initial=np.inf) > wrong.max(initial=-np.inf)
    return note_perfect(len(wrong), len(right)) if is_separated else ()


def scale_counts(values: Array) -> Ints:
    """Return how many confidences (N,) there are, are at most 1, between 0 and 1, and above 0; none of posteriors."""
    if values.ndim > 1:
        return np.zeros(4, np.int64)
    counts = (np.count_nonzero(which) for which in (values <= 1, (values > 0) & (values < 1), values > 0))
    return np.array([len(values), *counts])


def are_mixed(counts: Ints, scale: float) -> bool:
    """Return whether more numbers are below 1 than expected on a scale from 0 to `scale`: some are on another."""
    return bool(counts[2] > min(0.5, _MIXED + _SPREAD / scale) * counts[3])


def refuse_positive(sheet: Sheet, recipe: Recipe, codes: Ints, classes: list[str], values: Floats) -> None:
    """Raise FileError if a confidence in the class that was chosen, one of two, is the probability of one of them."""
    if len(classes) != 2 or not (values < 0.5).any():
        return
    of_class = [values[(codes == code) & ~np.isnan(values)] for code in range(2)]
    if not all(map(len, of_class)):
        return
    for low, high in ((0, 1), (1, 0)):
        if of_class[low].max() <= of_class[high].min():
            columns = {"label": recipe.truth, "positive": recipe.predictions[0]}
            chosen: dict[str, Any] = {"low": classes[low], "high": classes[high]}
            raise sheet.error(
                recipe.predictions[0], "probability_of_one", advice="name_positive_class", columns=columns, **chosen
            )


def _refuse_numbers(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError if columns of numbers hold ratings, or codes for right and wrong."""
    confidence = recipe.predictions[0]
    numeric = [name for name in sheet.names if is_numeric(sheet.table[name].type)]
    has_codes = recipe.form == "confidences" and recipe.right is None and recipe.correct_from is None
    if recipe.scale == 1 and confidence in numeric:
        refuse_rating(sheet, confidence, floats_in(sheet.column(confidence)))
    if has_codes and recipe.truth in numeric:
        refuse_codes(sheet, recipe.truth, floats_in(sheet.column(recipe.truth)))


def _refuse_answers(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError if a column of correctness has the words of another: it holds the right answers."""
    words = _words(sheet, recipe.truth)
    if len(words) != 2 or words == {"true", "false"}:
        return
    for name, _ in recipe.unused:
        if _words(sheet, name) == words:
            columns = {"label": recipe.truth, "predicted": name}
            fields: dict[str, Any] = {"other": name, "words": "/".join(sorted(words, reverse=True))}
            raise sheet.error(recipe.truth, "words_of_other", advice="name_right_answers", columns=columns, **fields)


def _words(sheet: Sheet, name: str) -> set[str]:
    cells = parse_cells(plain(sheet.table[name].slice(0, _SHAPES)))
    return set() if cells.type != TEXT else {str(value).lower() for value in encode(cells)[0]}


def _refuse_confidences(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError if what seems the probability of class 1 is the confidence in the class that was chosen."""
    name = recipe.predictions[0]
    values = numbers_in(sheet, name, share=recipe.scale == 1)
    predicted = [other for other, _ in recipe.unused if other.strip().lower() in NAMES["predicted"]]
    is_high = bool(len(values) >= _ENOUGH and np.nanmin(values) >= 0.5)
    for other in predicted:
        wrong = _contradicts(sheet, other, values)
        if wrong.any():
            columns = {"confidence": name, "predicted": other} if is_high else {"positive": name}
            advice = "name_chosen_class" if is_high else "name_positive"
            raise sheet.error(name, "contradicted", wrong, advice=advice, columns=columns, other=other)
    if is_high and not predicted:
        raise sheet.error(name, "never_below_half", advice="name_positive", columns={"positive": name})


def _contradicts(sheet: Sheet, predicted: str, values: Floats) -> Bools:
    """Return where a predicted class is not the likelier one by the probabilities (N,) of class 1."""
    cells = parse_cells(sheet.column(predicted))
    if not is_numeric(cells.type):
        return np.zeros(len(values), np.bool_)
    chosen = numbers_in(sheet, predicted)
    return np.asarray(((chosen > 0.5) != (values > 0.5)) & (values != 0.5))


def _refuse_footer(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError if the ids of the last rows do not look like those of all others: means and sums."""
    if len(sheet.rows) < _ENOUGH + _FOOTERS:
        return
    for name in recipe.of("id")[:1] or sheet.names[:1]:
        if complement_of(name) or name not in sheet.names:
            continue
        body = len(sheet.rows) - _FOOTERS
        cells = sheet.column(name)
        near = cells.slice(max(0, body - _SHAPES), min(_SHAPES, body))
        usual = {_shape(value) for value in (*cells.slice(0, min(_SHAPES, body)).to_pylist(), *near.to_pylist())}
        last = cells.slice(body).to_pylist()
        strange = np.array([_shape(value) not in usual for value in last])
        if len(usual) == 1 and strange[-1] and not strange.all():
            wrong = np.concatenate([np.zeros(body, np.bool_), strange])
            raise sheet.error(name, "footer", wrong, value=sheet.first(name, wrong), advice="leave_rows_out")


def _shape(value: object) -> str:
    """Return what a text looks like: "a9" for "q001", "9" for "12"; numbers look alike."""
    if isinstance(value, float | int):
        return "9"
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "9", "" if value is None else as_text(value)))


def _check_ids(sheet: Sheet, recipe: Recipe) -> tuple[Note, ...]:
    """Return a note if ids occur more than once in a system; raise FileError if another column tells them apart."""
    names = recipe.of("id")
    if not names:
        _refuse_crossed(sheet, recipe)
        return ()
    columns = [sheet.column(name) for name in (*recipe.systems, *names)]
    is_number = len(columns) == 1 and pa.types.is_integer(columns[0].type)
    keys = columns[0] if is_number else join_texts(columns, "\0")
    distinct = count_distinct(keys)
    repeated = len(keys) - distinct
    if not repeated:
        return ()
    if not recipe.of("group"):
        _refuse_pooled(sheet, recipe, keys, distinct)
    fields: dict[str, Any] = {"count": repeated, "total": len(keys), "column": "+".join(names)}
    return (Note("repeated_ids", fields, "" if recipe.of("group") else "group_repeated_ids"),)


def _refuse_pooled(sheet: Sheet, recipe: Recipe, keys: pa.Array, distinct: int) -> None:
    """Raise FileError if a column tells the rows of one id (N,) apart: it names systems, or answers of a group."""
    for name, _ in recipe.unused:
        texts = texts_in(sheet.column(name))
        count = count_distinct(texts)
        if not 2 <= count <= min(MAX_SYSTEMS, distinct) or count == len(texts):
            continue
        if count_distinct(join_texts([keys, texts], "\0")) == len(texts):
            ids = "+".join(recipe.of("id"))
            columns = {"system": "+".join([*recipe.of("system"), name])}
            raise _told_apart(sheet, ids, name, count, columns)


def _refuse_crossed(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError if each value of a column that is not used stands once beside each of another one."""
    if recipe.systems or len(sheet.rows) > _MOST_CROSSED:
        return
    columns = {name: texts_in(sheet.column(name)) for name, _ in recipe.unused}
    counts = {name: count_distinct(texts) for name, texts in columns.items()}
    for ids, other in permutations(columns, 2):
        is_crossed = counts[ids] * counts[other] == len(sheet.rows) and _ENOUGH <= counts[ids] > counts[other] > 1
        if is_crossed and count_distinct(join_texts([columns[ids], columns[other]], "\0")) == len(sheet.rows):
            raise _told_apart(sheet, ids, other, counts[other], {"system": other})


def _told_apart(sheet: Sheet, ids: str, other: str, values: int, columns: dict[str, str]) -> FileError:
    fields: dict[str, Any] = {"other": other, "values": values, "ids": ids}
    return sheet.error(ids, "ids_of_other", advice="name_systems_or_groups", columns=columns, **fields)

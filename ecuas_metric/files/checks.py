"""What rows must not be, whatever their columns are called: each check refuses, and says what there is and what to do.

`check_rows` looks at all rows that are in memory, or at the first ones of those that are not; what stands below it is
called where values are read, of all rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, InputError, Note, Way
from ..inputs import RANGE_TOLERANCE, ROUNDED_SUM_TOLERANCE, Array, Bools, Floats, Ints, count_up
from ..results import note_one_confidence, note_perfect
from .asking import list_columns, with_leaves
from .cells import (
    MOST_LEVELS,
    NOTHING,
    are_numbers,
    columns_in,
    lists_of_numbers,
    numbers_if_any,
    parse_cells,
    row_of_numbers,
    truths_in,
    two_codes,
)
from .recipe import (
    HEAD,
    LOGARITHMS,
    NAMES,
    Reading,
    Recipe,
    complement_of,
    limits_of,
    name_of,
    on_unit_scale,
)
from .values import (
    TEXT,
    Sheet,
    are_unique,
    as_text,
    count_distinct,
    count_distinct_rows,
    encode,
    floats_in,
    from_numpy,
    is_in,
    join_texts,
    nulls_in,
    texts_in,
)

MAX_SYSTEMS = 1000  # more is a column of something else
_SAMPLES_PER_CLASS = 5  # from which texts are classes, and not answers
_ENOUGH = 10  # rows from which what they have in common is no chance: 2 ** -10 for a coin
_FOOTERS = 5  # rows below a table that may be sums and the like
_OFTEN = 1.5  # rows of an id, on average, from which they are of several systems
_MIXED = 0.05  # the share of numbers below 1 from which, and twice that of even ones, others are on another scale
_FEW_CLASSES = 3  # from which probabilities that are sorted in each row are no chance
_MOST_CROSSED = 100_000  # rows; of more, to tell their values apart takes as long as to score them
_MOST_POOLED = 20  # systems of a file without ids
_OF_COSINE = 2  # the range of similarities from -1 to 1, which are no margins
_WITH_POSTERIORS = ("posteriors", "positive")  # forms
_NAMES_OF_SUMS = (
    "total totals subtotal sum summe gesamt mean average avg mittelwert moyenne overall median "
    "min max count std"
)
_SUMS = _NAMES_OF_SUMS.split()
_NO_IDS = [word for word in NOTHING if not word or re.search(r"[a-z]", word)]  # but dashes
_LONGEST_NO_ID = max(map(len, _NO_IDS))
_COUNTS = {"count", "counts", "freq", "frequency", "n"}
_ANSWERS = {*NAMES["predicted"], "answer", "response", "output"}
_NAMES_NEAR_SYSTEM = "method provider prompt_id promptidx prompt_idx variant strategy config run"
_MAY_BE_SYSTEMS = _NAMES_NEAR_SYSTEM.split()


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows, all or the first ones, how they are read, and the roles whose columns the user named."""

    sheet: Sheet
    recipe: Recipe
    reading: Reading

    @property
    def said(self) -> set[str]:
        return set(self.reading.columns)

    @property
    def is_whole(self) -> bool:
        return len(self.sheet.rows) == self.recipe.rows

    @property
    def unused(self) -> list[str]:
        """The columns that have no role."""
        names = {name for name, _ in self.recipe.unused}
        return [name for name in self.sheet.names if name in names]

    def named(self, role: str) -> list[str]:
        """Return the columns without a role that have a name of one."""
        return [name for name in self.unused if name.strip().lower() in NAMES[role]]

    def texts(self, name: str) -> Array:
        """Return a column as texts (N,) in lower case, nothing where it is empty; truths are 1 and 0."""
        values, codes = encode(parse_cells(self.sheet.column(name)))
        words = [
            f"{value:g}" if isinstance(value, float | int) else as_text(value).lower()
            for value in values
        ]
        return np.array([*words, ""])[codes]

    def shares(self) -> Floats:
        """Return the first column of predictions (N,) from 0 to 1; nan where it has others than numbers."""
        values = numbers_if_any(self.sheet, self.recipe.predictions[0])
        shares: Floats = on_unit_scale(values, self.recipe.scale)
        return shares

    def posteriors(self) -> Floats | None:
        """Return the posteriors (N, K): in columns, in lists, or of two classes; None of mappings, and of others."""
        names = self.recipe.predictions
        if self.reading.predictions_are == "logits" and self.recipe.form == "positive":
            return None
        if self.recipe.form == "posteriors" and len(names) == 1:
            return lists_of_numbers(self.sheet, names[0]) if self.recipe.classes is None else None
        try:
            columns = columns_in(self.sheet, names, share=self.recipe.scale == 1)
        except FileError:
            return None
        values = on_unit_scale(columns, self.recipe.scale)
        return values if len(names) > 1 else np.hstack([1 - values, values])


def check_rows(sheet: Sheet, recipe: Recipe, reading: Reading) -> tuple[Note, ...]:
    """Raise FileError if rows, all or the first ones, are not what their columns are called; return notes on them."""
    rows = _Rows(sheet, recipe, reading)
    if not len(sheet.rows):
        return ()
    if rows.is_whole:
        for check in _OF_ALL_ROWS:
            check(rows)
    head = replace(rows, sheet=sheet.head(HEAD))
    _refuse_row_per_class(head)
    for form, role, check in _CHECKS:
        if recipe.form == form and role not in rows.said:
            check(head)
    return tuple(_check_systems(rows))


# ---- rows that are none of samples ----------------------------------------------------------------------------------


def _refuse_short_rows(rows: _Rows) -> None:
    """Refuse rows that end before a column that is used, which is not the same as an empty cell."""
    sheet = rows.sheet
    used = map(sheet.stored, chain.from_iterable(rows.recipe.columns.values()))
    last = max(map(sheet.names.index, used)) if sheet.short else 0
    short = [row for row, size in sheet.short.items() if size <= last]
    are_short = np.isin(sheet.rows, short)
    if are_short.any():
        size = sheet.short[int(sheet.rows[are_short][0])]
        got = f"{size} of {len(sheet.names)} cells"
        raise sheet.error_of_rows(sheet.names[size], "row_ends_before", are_short, got=got)


def _refuse_sums(rows: _Rows) -> None:
    """Refuse last rows that are called as sums are, in the column of ids or in the first one."""
    sheet = rows.sheet
    for name in dict.fromkeys([*rows.recipe.of("id")[:1], sheet.names[0]]):
        cells = sheet.column(name)
        if cells.type == TEXT and as_text(cells[-1].as_py()).lower() in _SUMS:
            are_sums = is_in(pc.utf8_lower(texts_in(cells)), _SUMS)
            if np.count_nonzero(are_sums) <= _FOOTERS:
                raise sheet.error_of_rows(name, "footer", are_sums)


def _refuse_empty_rows(rows: _Rows) -> None:
    """Refuse rows without a value in any column that is used, if no column has one in all rows, as samples have."""
    sheet = rows.sheet
    if not all(column.null_count for column in sheet.table.columns):
        return
    used = list(map(sheet.stored, chain.from_iterable(rows.recipe.columns.values())))
    are_empty = np.all([nulls_in(sheet.column(name)) for name in used], axis=0)
    if are_empty.any() and not are_empty.all():
        raise sheet.error_of_rows(used[0], "no_value_in_any", are_empty)


def refuse_without_id(sheet: Sheet, name: str) -> None:
    """Refuse rows without an id, which would be paired with each other.

    A word for nothing, such as N/A, is an id only among others that are words.
    """
    cells = sheet.column(name)
    is_floating = pa.types.is_floating(cells.type)
    are_empty = np.isnan(floats_in(cells)) if is_floating else nulls_in(cells)
    if cells.type == TEXT:
        texts = texts_in(cells)
        are_short = floats_in(pc.binary_length(texts)) <= _LONGEST_NO_ID
        of_nothing = are_short.copy()  # of many ids few are as short
        of_nothing[are_short] = is_in(pc.utf8_lower(texts.filter(from_numpy(are_short))), _NO_IDS)
        are_words = of_nothing.any() and pc.all(pc.utf8_is_alpha(texts)).as_py()
        are_empty |= of_nothing & (not are_words)
    if are_empty.any():
        raise sheet.error(name, "no_value", are_empty, advice="fill_ids")


# ---- columns that are not what they are called ----------------------------------------------------------------------


def _refuse_counts(rows: _Rows) -> None:
    """Refuse rows that a column counts samples of: it is called so, and without it no two rows are the same."""
    sheet = rows.sheet
    used = [sheet.column(one) for one in chain.from_iterable(rows.recipe.columns.values())]
    named = [name for name in rows.unused if name.strip().lower() in _COUNTS]
    if rows.recipe.of("id") or rows.recipe.of("weight") or not named or not are_unique(used):
        return
    if _are_counts(numbers_if_any(sheet, named[0])):
        options = {"weights_are": "counts"}
        ways = [
            Way("each row is of so many samples", {"weight": named[0]}, options),
            Way("each row is one sample", {"correct": rows.recipe.truth}),
        ]
        raise sheet.error(named[0], "counts_of_rows", ways=ways)


def _are_counts(values: Floats) -> bool:
    """Return whether numbers (N,) are whole, some above 1, and do not count the rows."""
    are_whole = bool(((values >= 0) & (values % 1 == 0)).all())
    return are_whole and values.max() > 1 and not count_up(values)


def _refuse_right_answers(rows: _Rows) -> None:
    """Refuse verdicts in the words of another column, or in 0 and 1 as one of answers: they may be the right ones."""
    truth = rows.recipe.truth
    words = set(rows.texts(truth)) - {""}
    if len(words) < 2 or rows.recipe.right is not None or rows.named("label"):
        return
    are_codes = words == {"0", "1"}
    for name in rows.unused:
        may_be_answers = not are_codes or name.strip().lower() in _ANSWERS
        if may_be_answers and set(rows.texts(name)) - {""} == words:
            ways = [
                Way(
                    f"{truth}: the right answers; {name}: those of the system",
                    {"label": truth, "predicted": name},
                ),
                Way(f"{truth}: whether the answers are right", {"correct": truth}),
            ]
            raise rows.sheet.error(truth, "words_of_other", other=name, ways=ways)


def _refuse_other_confidence(rows: _Rows) -> None:
    """Refuse a confidence beside the probabilities of all options that is not the largest of these."""
    confidence = rows.recipe.predictions[0]
    for name in rows.named("posteriors"):
        largest = np.array([_largest_in(cell) for cell in rows.sheet.column(name).to_pylist()])
        differ = np.abs(largest - rows.shares()) > ROUNDED_SUM_TOLERANCE
        if differ.any():
            ways = [Way(f"{confidence}: how sure each answer was", {"confidence": confidence})]
            fields: dict[str, Any] = {"other": name, "ways": ways}
            raise rows.sheet.error(confidence, "not_the_largest", differ, **fields)


def _largest_in(cell: object) -> float:
    """Return the largest of the probabilities in a cell, nan of anything else."""
    row = row_of_numbers(cell)
    if not isinstance(row, list) or not row or not are_numbers(row) or not are_near(sum(row)):
        return math.nan
    return float(max(row))


def _refuse_other_decision(rows: _Rows) -> None:
    """Refuse posteriors whose likeliest class is not the predicted one beside them, or right where a verdict says."""
    values = rows.posteriors()
    if values is None or rows.recipe.scale in LOGARITHMS:
        return
    is_one = np.count_nonzero(values.max(axis=1) == values.T, axis=0) == 1
    likeliest = values.argmax(axis=1)
    names = rows.recipe.classes or map(str, range(values.shape[1]))
    places = {name.lower(): place for place, name in enumerate(names)}
    right = _places_of(rows, rows.recipe.truth, places) == likeliest
    for name in rows.named("predicted")[:1]:
        differ = is_one & (_places_of(rows, name, places) != likeliest)
        if differ.any():
            raise _contradicted(rows, name, "predicted", differ)
    for name in rows.named("correct")[:1]:
        differ = is_one & (np.abs(_verdicts_of(rows, name) - right) == 1)
        if differ.any():
            raise _contradicted(rows, name, "correct", differ)


def _places_of(rows: _Rows, name: str, places: dict[str, int]) -> Ints:
    """Return the places (N,) of the classes in a column, -1 where it has none of them."""
    return np.array([places.get(word, -1) for word in rows.texts(name).tolist()])


def _verdicts_of(rows: _Rows, name: str) -> Floats:
    """Return what a column says of answers (N,): 1, 0, or nan, also where that is refused."""
    try:
        return truths_in(rows.sheet, name, rows.reading.right)
    except FileError:
        return np.full(len(rows.sheet.rows), np.nan)


def _contradicted(rows: _Rows, name: str, role: str, differ: Bools) -> FileError:
    form = rows.recipe.form
    share = rows.recipe.predictions
    ways = [Way(f"{name} does not count", {form: "+".join(share)})]
    if form == "positive":
        meaning = f"{share[0]}: how sure it was of the class that was chosen, or of the answer"
        ways.insert(0, Way(meaning, {"confidence": share[0], role: name}))
    return rows.sheet.error(name, "not_the_likeliest", differ, other=name_of(share), ways=ways)


def _refuse_never_below_half(rows: _Rows) -> None:
    """Refuse probabilities of class 1 that are never below 1/2, as those of the likelier of two classes."""
    values = rows.shares()
    is_margin = rows.reading.predictions_are == "logits"
    is_high = len(values) >= _ENOUGH and bool((values >= 0.5).all() and (values <= 1).all())
    is_open = rows.recipe.form == "positive" and "positive" not in rows.said
    if is_open and is_high and not is_margin and not rows.named("predicted"):
        share = rows.recipe.predictions[0]
        label = rows.recipe.truth
        ways = [Way(f"{share}: the probability of class 1 all the same", {"positive": share})]
        if set(rows.texts(label)) <= {"0", "1", ""}:
            meaning = f"{share}: how sure each answer was; {label}: was it right"
            ways.insert(0, Way(meaning, {"confidence": share, "correct": label}))
        raise rows.sheet.error(share, "never_below_half", ways=ways)


def _refuse_row_per_class(rows: _Rows) -> None:
    """Refuse rows of which several together have probabilities that sum to 1, and one that is true."""
    recipe = rows.recipe
    is_true = rows.texts(recipe.truth) == "1"
    is_open = recipe.form in ("confidences", "positive") and "group" not in rows.said
    if not is_open or not is_true.any() or len(is_true) < _ENOUGH:
        return
    shares = rows.shares()
    for name in [*recipe.of("id"), *rows.unused]:
        samples, codes = encode(rows.sheet.column(name))
        size = len(samples) - (not rows.is_whole)  # of the last, rows may follow
        if _are_classes(codes, size, shares, is_true):
            ways = [Way("each row is an answer of its own", {"group": name})]
            fields: dict[str, Any] = {"advice": "widen_classes", "other": name, "ways": ways}
            raise rows.sheet.error(recipe.predictions[0], "row_per_class", **fields)


def _are_classes(codes: Ints, size: int, shares: Floats, is_true: Bools) -> bool:
    """Return whether rows (N,) of each of so many samples, by their codes, sum to 1, and one of them is true."""
    if codes.min() < 0 or not 1 < size <= len(codes) / 2:
        return False
    sums, trues = (np.bincount(codes, one)[:size] for one in (shares, is_true))
    return are_near(sums) and bool((trues == 1).all())


def _refuse_sorted(rows: _Rows) -> None:
    """Refuse probabilities of numbered classes that are sorted in each row: of the likeliest, whichever it is."""
    columns = rows.recipe.predictions
    values = None if rows.recipe.classes else rows.posteriors()
    if values is None or len(values) < _ENOUGH or values.shape[1] < _FEW_CLASSES:
        return
    steps = np.diff(values, axis=1)
    if ((steps <= 0).all() or (steps >= 0).all()) and np.diff(values, axis=0).any():
        way = Way("column k is class k in each row all the same", {"posteriors": "+".join(columns)})
        raise rows.sheet.error(columns[0], "sorted", ways=[way])


# ---- systems that are taken for one ---------------------------------------------------------------------------------


def _check_systems(rows: _Rows) -> Iterator[Note]:
    """Yield notes on ids that repeat, and on columns that are called as those of systems may be.

    FileError if rows are copies of others, or of several systems.
    """
    ids = [rows.sheet.column(name) for name in rows.recipe.of("id")]
    if ids and not any(column.null_count for column in ids):
        yield from _check_ids(rows, ids)
    if not rows.recipe.systems:
        is_small = len(rows.sheet.rows) <= _MOST_CROSSED
        if is_small and not rows.recipe.of("group") and _count_rows(rows):
            _refuse_crossed(rows)
        yield from _note_systems(rows)


def _note_systems(rows: _Rows) -> Iterator[Note]:
    """Yield notes on columns of a few values that are called as those of systems may be."""
    for name in (name for name in rows.unused if name.strip().lower() in _MAY_BE_SYSTEMS):
        count = len(encode(rows.sheet.head(MAX_SYSTEMS).column(name))[0])
        if 2 <= count <= _MOST_POOLED:
            fields = {"column": name, "values": count, "columns": {"system": name}}
            yield Note("like_systems", fields | {"pairs": f"system={name}"}, "name_system")


def _count_rows(rows: _Rows) -> bool:
    """Return whether ids, if there are any, count the rows, and nobody named them."""
    ids = [numbers_if_any(rows.sheet, name) for name in rows.recipe.of("id")]
    return "id" not in rows.said and all(map(count_up, ids))


def _check_ids(rows: _Rows, ids: Sequence[pa.Array]) -> Iterator[Note]:
    """Yield a note on ids that occur more than once in a system; FileError if these are of copies, or of systems."""
    systems = [rows.sheet.column(name) for name in rows.recipe.systems]
    columns = [*(column for column in systems if count_distinct(column) > 1), *ids]
    total = len(rows.sheet.rows)
    repeated = total - count_distinct_rows(columns)
    if not repeated:
        return
    is_grouped = bool(rows.recipe.of("group"))
    if not is_grouped:
        _refuse_copies(rows, repeated)
        _refuse_pooled(rows, join_texts(columns, "\0"))
    fields = {"count": repeated, "total": total, "column": "+".join(rows.recipe.of("id"))}
    yield Note("repeated_ids", fields, "" if is_grouped else "group_repeated_ids")


def _refuse_copies(rows: _Rows, repeated: int) -> None:
    """Refuse ids whose rows are the same in all columns: of a merge, a padded batch, or a file appended twice."""
    columns = [rows.sheet.column(name) for name in rows.sheet.names]
    kept = len(rows.sheet.rows) - repeated
    if "weight" in rows.said or count_distinct_rows(columns) != kept:
        return
    ids = rows.recipe.of("id")
    skip = "+".join(filter(None, [rows.sheet.skipped, "copies"]))
    ways = [
        Way("a merge, a padded batch, a file appended twice: leave the copies out", {"skip": skip}),
        Way("answers to one question that are the same", {"group": "+".join(ids)}),
    ]
    fields: dict[str, Any] = {"copies": repeated, "all_rows": len(rows.sheet.rows), "ways": ways}
    raise rows.sheet.error("+".join(ids), "rows_are_copies", **fields)


def _refuse_pooled(rows: _Rows, keys: pa.Array) -> None:
    """Refuse ids (N,) that stand in several rows, which a column tells apart: it names systems, or answers of a group.

    Of few repeated ids, nearly any column does. Also rows without prediction and truth, if each of their ids stands in
    another row too.
    """
    num_ids = count_distinct(keys)
    if len(keys) < _OFTEN * num_ids:
        return
    used = (rows.recipe.truth, *rows.recipe.predictions)
    are_empty = np.all([nulls_in(rows.sheet.column(name)) for name in used], axis=0)
    if are_empty.any() and count_distinct(keys.filter(from_numpy(~are_empty))) == num_ids:
        raise rows.sheet.error_of_rows(used[0], "value_in_other_row", are_empty)
    sheet = with_leaves(rows.sheet)
    for name in [*rows.unused, *sheet.names[len(rows.sheet.names) :]]:
        texts = texts_in(sheet.column(name))
        count = count_distinct(texts)
        if 2 <= count <= min(MAX_SYSTEMS, num_ids, len(texts) - 1) and are_unique([keys, texts]):
            _refuse_row_per_class(rows)
            raise _told_apart(rows, "+".join(rows.recipe.of("id")), name, count)


def _refuse_crossed(rows: _Rows) -> None:
    """Refuse rows if each value of a column stands once beside each of another, as questions of systems do.

    Numbers may count rows within another thing, unless these have one truth each.
    """
    sheet = rows.sheet
    total = len(sheet.rows)
    columns = {name: texts_in(sheet.column(name)) for name in rows.unused}
    sizes = {name: count_distinct(texts) for name, texts in columns.items()}
    few = [name for name, size in sizes.items() if 2 <= size <= _MOST_POOLED]
    for name, question in product(few, sizes):
        is_larger = sizes[question] > max(sizes[name], _ENOUGH)
        is_grid = is_larger and sizes[name] * sizes[question] == total
        pair = [columns[name], columns[question]]
        if is_grid and are_unique(pair) and _may_be_systems(rows, name, columns[question]):
            raise _told_apart(rows, question, name, sizes[name])


def _may_be_systems(rows: _Rows, name: str, questions: pa.Array) -> bool:
    """Return whether a column has words, or numbers beside questions (N,) that have one truth each."""
    truths = [questions, rows.sheet.column(rows.recipe.truth)]
    is_word = parse_cells(rows.sheet.column(name)).type == TEXT
    return is_word or count_distinct_rows(truths) == count_distinct(questions)


def _told_apart(rows: _Rows, ids: str, name: str, count: int) -> FileError:
    """Return what says that a column tells the rows of one id apart."""
    systems = "+".join([*rows.recipe.of("system"), name])
    ways = [
        Way(f"{name}: {count} systems to compare", {"system": systems}),
        Way("several answers of one system to each question", {"id": "+".join([ids, name])}),
    ]
    listed = list_columns(rows.sheet.table)
    fields: dict[str, Any] = {"other": name, "values": count, "listed": listed, "ways": ways}
    return rows.sheet.error(ids, "ids_of_other", **fields)


def require_ids(recipes: Iterable[Recipe]) -> None:
    """Raise InputError, since systems whose rows may be in different orders have no ids, with the unused columns."""
    unused = [{name for name, _ in recipe.unused} for recipe in recipes]
    names = ", ".join(sorted(set.intersection(*unused)))
    got = f"columns that are not used: {names}" if names else ""
    raise InputError("systems", "no_ids", got=got, advice="name_ids")


_OF_ALL_ROWS: tuple[Callable[[_Rows], None], ...] = (
    _refuse_short_rows,
    _refuse_sums,
    _refuse_empty_rows,
    _refuse_never_below_half,
)
_CHECKS: tuple[tuple[str, str, Callable[[_Rows], None]], ...] = (
    # a form of input, a role that the user has not named, and the check
    ("confidences", "correct", _refuse_counts),
    ("confidences", "correct", _refuse_right_answers),
    ("confidences", "confidence", _refuse_other_confidence),
    ("posteriors", "posteriors", _refuse_sorted),
    ("posteriors", "posteriors", _refuse_other_decision),
    ("positive", "positive", _refuse_other_decision),
)


# ---- values, wherever they are read ---------------------------------------------------------------------------------


def check_confidences(sheet: Sheet, recipe: Recipe, values: Floats) -> None:
    """Refuse confidences (N,), as the file has them, that are ratings, codes, on two scales, or beyond theirs."""
    low, high = limits_of(recipe.scale)
    name = recipe.predictions[0]
    tolerance = RANGE_TOLERANCE * (high - low)
    is_off = (values < low - tolerance) | (values > high + tolerance)
    if recipe.scale in LOGARITHMS or not is_off.any():
        return
    code = code_for_missing(values)
    if code is not None:
        fields: dict[str, Any] = {"advice": "empty_if_missing", "code": code}
        raise sheet.error(name, "out_of_unit_interval", is_off, **fields)
    if recipe.scale != 1:
        raise sheet.error(name, "beyond_scale", is_off, scale=as_text(recipe.scale))
    _refuse_rating(sheet, recipe, values)
    _refuse_mixed(sheet, recipe, values, is_off)


def _refuse_mixed(sheet: Sheet, recipe: Recipe, values: Floats, is_off: Bools) -> None:
    """Refuse confidences (N,) of which many are in [0, 1], and others are not, or of both signs, as margins are."""
    name = recipe.predictions[0]
    least, largest = float(np.nanmin(values)), float(np.nanmax(values))
    marks = scale_marks(values).sum(axis=1)
    if least >= 0 and largest <= 100 and are_mixed(marks, largest):
        fields = {"within": marks[1], "size": marks[0], "advice": "write_in_unit_interval"}
        raise sheet.error(name, "several_scales", is_off, **fields)
    if recipe.form == "positive" and least < 0 < largest and largest - least > _OF_COSINE:
        raise sheet.error(name, "out_of_unit_interval", is_off, advice="margins_are_logits")


def _refuse_rating(sheet: Sheet, recipe: Recipe, values: Floats) -> None:
    """Refuse confidences (N,) that are a few whole or half numbers, as from 1 to 5."""
    levels = np.unique(values[~np.isnan(values)])
    is_small = len(levels) <= MOST_LEVELS and np.abs(levels).max() < MOST_LEVELS
    step = 0.5 if len(levels) > 2 else 1
    if levels[-1] > 1 and is_small and (levels % step == 0).all():
        limits: dict[str, Any] = {"low": levels[0], "high": levels[-1]}
        name = recipe.predictions[0]
        raise sheet.error(name, "rating", values > 1, advice="map_rating", **limits)


def scale_marks(values: Array) -> Bools:
    """Return where confidences (N,) are there, at most 1, between 0 and 1, above 0 (4, N); nowhere of posteriors."""
    if values.ndim > 1:
        return np.zeros((4, len(values)), np.bool_)
    is_above_0 = values > 0
    return np.array(
        [np.ones(len(values), np.bool_), values <= 1, is_above_0 & (values < 1), is_above_0]
    )


def are_mixed(counts: Ints, scale: float | str) -> bool:
    """Return whether more numbers, by the sums of `scale_marks`, are below 1 than expected on a scale above it."""
    low, high = limits_of(scale)
    if low != 0 or high <= 1:
        return False
    usual = min(0.5, _MIXED + 2 / high)
    return bool(counts[0] > 1 and counts[2] > usual * counts[3])


def refuse_two_scales(counts: Ints, recipe: Recipe, source: str) -> None:
    """Refuse confidences of a scale above 1, by the sums of `scale_marks`, some of which look divided already."""
    if recipe.scale != 1 and are_mixed(counts, recipe.scale):
        raise FileError(
            source,
            "several_scales",
            column=name_of(recipe.predictions),
            advice="write_in_one_scale",
            within=int(counts[1]),
            size=int(counts[0]),
        )


def code_for_missing(values: Array) -> float | None:
    """Return the one number that a few confidences or grades (N,) are, if all others are from 0 to 1, or to 100."""
    for highest in (1, 100):
        is_off = (values < 0) | (values > highest)
        codes = np.unique(values[is_off])
        if len(codes) == 1 and 1 < np.count_nonzero(is_off) < len(values) / 2:
            return float(codes[0])
    return None


def check_grades(sheet: Sheet, recipe: Recipe, grades: Floats) -> None:
    """Refuse grades (N,) that are not 0 or 1, or a code for none that a lowest right grade would count as right."""
    known = grades[~np.isnan(grades)]
    if recipe.correct_from is not None:
        code = code_for_missing(known)
        if code is not None and abs(code) >= MOST_LEVELS:
            is_code = grades == code
            raise sheet.error(recipe.truth, "grade_apart", is_code, advice="empty_if_not_judged")
        return
    wrong = ~np.isnan(grades) & (grades != 0) & (grades != 1)
    if not wrong.any():
        return
    levels = np.unique(known)
    if len(levels) == 2:
        raise two_codes(sheet, recipe.truth, f"{levels[0]:g}", f"{levels[1]:g}", known == levels[1])
    is_code = len(levels) == 3 and abs(levels[levels * (levels - 1) != 0][0]) > 2
    advice = "empty_if_not_judged" if is_code else "grade_or_empty"
    raise sheet.error_of_rows(
        recipe.truth, "not_0_or_1", wrong, value=grades[wrong][0], advice=advice
    )


def refuse_positive(sheet: Sheet, name: str, chosen: pa.Array, values: Floats, label: str) -> None:
    """Refuse confidences (N,) in one of two classes that are below 1/2 where the first was chosen, and else above."""
    classes, codes = encode(chosen)
    below = np.unique(codes[values < 0.5])
    above = np.unique(codes[values > 0.5])
    if len(below) != 1 or len(above) != 1 or below[0] == above[0]:
        return
    low, high = (as_text(classes[one[0]]) for one in (below, above))
    labels = {} if (low, high) == ("0", "1") else {"labels": [low, high]}
    way = Way(f"{name}: the probability of {high}", {"label": label, "positive": name}, labels)
    raise sheet.error(name, "probability_of_one", low=low, high=high, ways=[way])


# ---- notes on what is read ------------------------------------------------------------------------------------------


def note_separated(confidence: Floats, correct: Ints) -> tuple[Note, ...]:
    """Return a note if confidences (N,) tell right from wrong answers without a mistake, or not at all."""
    if len(confidence) and np.ptp(confidence) == 0:
        return note_one_confidence(len(confidence), float(confidence[0]))
    right = confidence[correct == 1]
    wrong = confidence[correct == 0]
    is_above = bool(right.size and wrong.size and right.min() > wrong.max())
    return note_perfect(len(wrong), len(right)) if is_above else ()


def note_other_class(
    wrong: float, total: int, recipe: Recipe, num_classes: int
) -> tuple[Note, ...]:
    """Return a note if classes are never wrong, or more often than chance explains."""
    if not wrong and total >= _ENOUGH:
        return (Note("never_wrong", {"total": total, "label": recipe.truth}),)
    chance = 1 - 1 / num_classes
    if wrong <= total * chance + 2 * math.sqrt(total * chance / num_classes):
        return ()
    fields: dict[str, Any] = {"column": name_of(recipe.predictions), "share": wrong / total}
    columns = _of_classes_swapped(recipe)
    if columns:
        ((role, names),) = columns.items()
        fields |= {"columns": columns, "pairs": f"{role}={names}"}
        return (Note("of_other_class", fields, "name_complement"),)
    has_order = len(recipe.predictions) > 1 or num_classes > 2
    return (Note("of_other_order", fields),) if has_order else ()


def _of_classes_swapped(recipe: Recipe) -> dict[str, str]:
    """Return the columns of probabilities if they are of the other of two classes, or nothing if that is known."""
    first = recipe.predictions[0]
    if recipe.form == "positive":
        return {"positive": complement_of(first) or f"1-{first}"}
    if recipe.form == "posteriors" and len(recipe.predictions) == 2 and recipe.are_by_place:
        return {"posteriors": "+".join(reversed(recipe.predictions))}
    return {}


def do_recur(num_classes: int, num_samples: int) -> bool:
    """Return whether so many different texts are classes, which recur, and not answers."""
    return 2 <= num_classes <= num_samples / _SAMPLES_PER_CLASS


def are_near(sums: Array | float, whole: int = 1) -> bool:
    """Return whether sums (N,), or one, are the whole, but for what rounding each term explains."""
    errors = np.abs(np.subtract(sums, whole))
    return bool(np.all(errors <= whole * ROUNDED_SUM_TOLERANCE))

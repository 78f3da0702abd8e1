"""Checks that columns hold what their names say: each refuses values that contradict it, with the ways to read them.

`check_rows` checks the rows of a table in memory, or the first ones of a larger table. The functions at the end check
the values of all rows, wherever they are read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, InputError, Note, Way
from ..inputs import (
    RANGE_TOLERANCE,
    ROUNDED_SUM_TOLERANCE,
    Array,
    Bools,
    Floats,
    Ints,
    are_consecutive,
    blocks,
    parse_numbers,
)
from ..results import note_one_confidence, note_perfect
from .arrays import read_predictions
from .asking import are_near, are_within, expand_objects, list_columns
from .cells import (
    MOST_LEVELS,
    NOTHING,
    numbers_if_any,
    parse_cells,
    parse_class_scores,
    parse_number_list,
    read_truths,
    two_codes_error,
)
from .read import COPIES
from .recipe import (
    HEAD,
    LOGARITHMS,
    NAMES,
    Reading,
    Recipe,
    complemented_column,
    format_names,
    on_unit_scale,
    scale_limits,
)
from .values import (
    TEXT,
    Sheet,
    are_null,
    are_unique,
    as_text,
    count_distinct,
    count_distinct_rows,
    encode,
    find_positions,
    first_value,
    from_numpy,
    from_texts,
    join_texts,
    match_any,
    to_floats,
    to_texts,
)

MAX_SYSTEMS = 1000  # a column of more values does not name systems
_ENOUGH = 10  # rows: what so many have in common is no chance, 2 ** -10 for a coin
_FOOTERS = 5  # most rows below a table that may be sums and the like
_OFTEN = 1.5  # rows of an id, on average, from which they may be of several systems
_MIXED = (
    0.05  # share of numbers between 0 and 1, more than expected, from which a column has two scales
)
_FEW_CLASSES = 3  # from which probabilities that are sorted in each row are no chance
_MOST_CROSSED = 100_000  # rows; for more, comparing all columns takes as long as scoring
_MOST_POOLED = 20  # most systems in a file without ids
_NAMES_OF_SUMS = (
    "total totals subtotal sum summe gesamt mean average avg mittelwert moyenne overall median "
    "min max count std"
)
_SUMS = _NAMES_OF_SUMS.split()
_NO_IDS = [word for word in NOTHING if not word or re.search(r"[a-z]", word)]  # dashes may be ids
_LONGEST_NO_ID = max(map(len, _NO_IDS))
_COUNTS = {"count", "counts", "freq", "frequency", "n"}
_ANSWERS = {*NAMES["predicted"], "answer", "response", "output"}
_NAMES_NEAR_SYSTEM = "method provider prompt_id promptidx prompt_idx variant strategy config run"
_NAMES_OF_YES = {"probability", "noul", "p_yes"}
_ADVICE_OF_LARGEST = (
    "Write the largest one in its place, or what is true as label: then they are read."
)
_MAY_BE_SYSTEMS = _NAMES_NEAR_SYSTEM.split()


@dataclass(frozen=True, slots=True)
class _Rows:
    """A table, its first rows, how they are read, and the predictions (N, K) of the first rows."""

    whole: Sheet  # all rows in memory
    sheet: Sheet  # the first ones
    recipe: Recipe
    reading: Reading
    values: Floats  # in [0, 1]; of confidences (N, 1), of positive probabilities (N, 2)

    @property
    def columns(self) -> str:
        """The columns of predictions in the syntax of `--columns`: joined by +."""
        return "+".join(self.recipe.predictions)

    def unused(self, names: Iterable[str] = ()) -> list[str]:
        """Return the columns without a role; with `names`, those that have one of these names."""
        known = set(names)
        free = {name for name, _ in self.recipe.unused}
        named = (name for name in self.sheet.names if name in free)
        return [name for name in named if not known or name.strip().lower() in known]

    def texts(self, name: str) -> pa.Array:
        """Return a column as text (N,) in lower case, booleans as 1 and 0; null where empty."""
        cells = parse_cells(self.sheet.column(name))
        return pc.utf8_lower(to_texts(cells.cast(pa.int8()) if cells.type == pa.bool_() else cells))

    def words(self, name: str) -> set[object]:
        """Return the distinct `texts` of a column."""
        return {*encode(self.texts(name))[0]}


def check_rows(sheet: Sheet, recipe: Recipe, reading: Reading) -> tuple[Note, ...]:
    """Raise FileError if rows, all or the first ones, contradict the names of their columns; return notes on them.

    A role that the user named is not checked.
    """
    if not len(sheet.rows):
        return ()
    if len(sheet.rows) == recipe.rows:
        _refuse_sums(sheet, recipe)
    head = sheet.head(HEAD)
    rows = _Rows(sheet, head, recipe, reading, _probabilities(head, recipe, reading))
    first, *further = recipe.predictions
    is_named = (
        bool(further) or parse_class_scores(first_value(head.table[head.stored(first)])) is not None
    )
    are_classes_known = recipe.form == "posteriors" and is_named and recipe.classes is not None
    for role, check in () if are_classes_known or not rows.values.size else _CHECKS[recipe.form]:
        if role not in reading.columns:
            check(rows)
    return tuple(_check_systems(rows))


def _probabilities(sheet: Sheet, recipe: Recipe, reading: Reading) -> Floats:
    """Return predictions in [0, 1]: posteriors (N, K), (N, 2) of positive ones, confidences (N, 1); else (0, 0)."""
    is_margin = recipe.form == "positive" and reading.predictions_are == "logits"
    if not is_margin and recipe.form in _CHECKS:
        with suppress(InputError):
            values = parse_numbers(read_predictions(sheet, recipe), "predictions")
            shares = on_unit_scale(values, recipe.scale).reshape(len(values), -1)
            return np.hstack([1 - shares, shares]) if recipe.form == "positive" else shares
    return np.zeros((0, 0))


# ---- rows that are none of samples ----------------------------------------------------------------------------------


def _refuse_sums(sheet: Sheet, recipe: Recipe) -> None:
    """Refuse last rows that are sums, by their words in the column of ids or in the first one."""
    for name in dict.fromkeys([*recipe.of("id")[:1], sheet.names[0]]):
        cells = sheet.column(name)
        if cells.type == TEXT and as_text(cells[-1].as_py()).lower() in _SUMS:
            are_sums = match_any(pc.utf8_lower(to_texts(cells)), _SUMS)
            if np.count_nonzero(are_sums) <= _FOOTERS:
                raise sheet.rows_error(name, "footer", are_sums)


# ---- columns that are not what they are called ----------------------------------------------------------------------


def _refuse_counts(rows: _Rows) -> None:
    """Refuse rows without ids beside a column with a name such as count: each may stand for several samples."""
    is_known = rows.recipe.of("id") or rows.recipe.of("weight")
    for name in () if is_known else rows.unused(_COUNTS)[:1]:
        values = numbers_if_any(rows.sheet, name)
        are_whole = bool(((values >= 0) & (values % 1 == 0)).all())
        if are_whole and values.max() > 1 and not are_consecutive(values):
            options = {"weights_are": "counts"}
            ways = [
                Way("each row is of so many samples", {"weight": name}, options),
                Way("each row is one sample", {"correct": rows.recipe.truth}),
            ]
            raise rows.sheet.error(name, "counts_of_rows", ways=ways)


def _refuse_right_answers(rows: _Rows) -> None:
    """Refuse correctness labels with the same 0 and 1 as a column of answers: they may be the right answers."""
    truth = rows.recipe.truth
    words = rows.words(truth)
    if len(words) < 2 or rows.recipe.right is not None or rows.unused(NAMES["label"]):
        return
    for name in rows.unused(_ANSWERS if words == {"0", "1"} else ()):
        if rows.words(name) == words:
            meaning = f"{truth}: the right answers; {name}: those of the system"
            ways = [
                Way(meaning, {"label": truth, "predicted": name}),
                Way(f"{truth}: whether the answers are right", {"correct": truth}),
            ]
            raise rows.sheet.error(truth, "words_of_other", other=name, ways=ways)


def _refuse_other_decision(rows: _Rows) -> None:
    """Refuse posteriors whose likeliest class contradicts a predicted class, or a correctness label, beside them."""
    values = rows.values
    is_one = np.count_nonzero(values == values.max(axis=1, keepdims=True), axis=1) == 1
    classes = rows.recipe.classes or map(str, range(values.shape[1]))
    known = pc.utf8_lower(from_texts(classes))
    likeliest = values.argmax(axis=1)
    for name in rows.unused(NAMES["predicted"])[:1]:
        differ = is_one & (find_positions(rows.texts(name), known) != likeliest)
        _refuse_contradiction(rows, name, "predicted", differ)
    for name in rows.unused(NAMES["correct"])[:1]:
        is_right = find_positions(rows.texts(rows.recipe.truth), known) == likeliest
        verdicts = np.full(len(values), np.nan)
        with suppress(FileError):
            verdicts = read_truths(rows.sheet, name)
        differ = is_one & (np.abs(verdicts - is_right) == 1)
        _refuse_contradiction(rows, name, "correct", differ)


def _refuse_contradiction(rows: _Rows, name: str, role: str, differ: Bools) -> None:
    """Refuse posteriors where rows `differ` (N,) from the column `name`, which may have this role."""
    ways = [Way(f"{name} does not count", {rows.recipe.form: rows.columns})]
    if rows.recipe.form == "positive":
        meaning = f"{rows.columns}: how sure it was of the class that was chosen, or of the answer"
        ways.insert(0, Way(meaning, {"confidence": rows.columns, role: name}))
    if differ.any():
        other = format_names(rows.recipe.predictions)
        raise rows.sheet.error(name, "not_the_likeliest", differ, other=other, ways=ways)


def _refuse_never_below_half(rows: _Rows) -> None:
    """Refuse probabilities of class 1 that are never below 1/2: they may be of the predicted class."""
    is_high = len(rows.values) >= _ENOUGH and (rows.values[:, 0] <= 0.5).all()
    if not is_high or len(rows.whole.rows) < rows.recipe.rows or rows.unused(NAMES["predicted"]):
        return
    if (_probabilities(rows.whole, rows.recipe, rows.reading)[:, 0] <= 0.5).all():
        share, label = rows.columns, rows.recipe.truth
        ways = [Way(f"{share}: the probability of class 1 all the same", {"positive": share})]
        if rows.words(label) <= {"0", "1"}:
            meaning = f"{share}: how sure each answer was; {label}: was it right"
            ways.insert(0, Way(meaning, {"confidence": share, "correct": label}))
        raise rows.sheet.error(share, "never_below_half", ways=ways)


def _refuse_positive(rows: _Rows) -> None:
    """Refuse confidences below 1/2 where one of two classes was predicted, and above for the other: of that one."""
    (chosen,) = rows.recipe.of("predicted")
    classes, codes = encode(to_texts(rows.sheet.column(chosen)))
    are_two = len(rows.words(chosen) | rows.words(rows.recipe.truth)) == 2
    below, above = (
        np.unique(codes[one]) for one in (rows.values[:, 0] < 0.5, rows.values[:, 0] > 0.5)
    )
    if are_two and len(below) == len(above) == 1 and below[0] != above[0]:
        low, high = (str(classes[one[0]]) for one in (below, above))
        columns = {"label": rows.recipe.truth, "positive": rows.columns}
        meaning = f"{rows.columns}: the probability of {high}"
        way = Way(meaning, columns, {"labels": [low, high]})
        raise rows.sheet.error(rows.columns, "probability_of_one", low=low, high=high, ways=[way])


def _refuse_row_per_class(rows: _Rows) -> None:
    """Refuse rows that a column groups so that probabilities sum to 1 and one row is true: a row for each class."""
    is_true = match_any(rows.texts(rows.recipe.truth), ["1"])
    if not is_true.any() or len(is_true) < _ENOUGH:
        return
    for name in [*rows.recipe.of("id"), *rows.unused()]:
        samples, codes = encode(rows.sheet.column(name))
        size = len(samples) - (len(codes) < rows.recipe.rows)  # further rows may follow of the last
        if codes.min() < 0 or not 1 < size <= len(codes) / 2:
            continue
        sums, trues = (np.bincount(codes, one)[:size] for one in (rows.values[:, -1], is_true))
        if are_near(sums) and (trues == 1).all():
            ways = [Way("each row is an answer of its own", {"group": name})]
            raise rows.sheet.error(
                rows.columns, "row_per_class", advice="widen_classes", other=name, ways=ways
            )


def _refuse_lists_of_names(rows: _Rows) -> None:
    """Refuse posteriors in lists beside lists of as many names: of the classes, in an order that may change by row."""
    for name in rows.unused():
        names = parse_number_list(first_value(rows.sheet.table[name]))
        parts = names if isinstance(names, list) else []
        if len(parts) == rows.values.shape[1] and {type(one) for one in parts} == {str}:
            columns = {"posteriors": "+".join([name, rows.columns])}
            way = Way(f"{name}: the classes of {rows.columns}", columns)
            raise rows.sheet.error(name, "lists_of_classes", other=rows.columns, ways=[way])


def _refuse_sorted(rows: _Rows) -> None:
    """Refuse probabilities that are sorted in each row: of the likeliest class, the second likeliest, and so on."""
    steps = np.diff(rows.values, axis=1)
    are_sorted = len(steps) >= _ENOUGH and ((steps <= 0).all() or (steps >= 0).all())
    if are_sorted and steps.shape[1] + 1 >= _FEW_CLASSES and np.diff(rows.values, axis=0).any():
        way = Way("column k is class k in each row all the same", {"posteriors": rows.columns})
        raise rows.sheet.error(rows.recipe.predictions[0], "sorted", ways=[way])


def _refuse_not_largest(rows: _Rows) -> None:
    """Refuse confidences that are not the largest of the probabilities of all options beside them."""
    for names, largest in _distributions(rows):
        differ = np.abs(largest - rows.values[:, 0]) > ROUNDED_SUM_TOLERANCE
        if differ.any():
            meaning = f"{rows.columns}: the chance of being right all the same"
            way = Way(meaning, {"confidence": rows.columns})
            fields: dict[str, Any] = {"other": names, "advice": _ADVICE_OF_LARGEST, "ways": [way]}
            raise rows.sheet.error(rows.columns, "not_the_largest", differ, **fields)


def _distributions(rows: _Rows) -> Iterator[tuple[str, Floats]]:
    """Yield columns without a role that have distributions, joined by +, and the largest number of each row (N,).

    These are numbered columns, all columns of shares, or one of lists; an option that a row does not have is empty.
    """
    numbered: dict[str, list[str]] = {}
    shares = []
    for name in rows.unused():
        numbered.setdefault(re.sub(r"[\W_]*\d+$", "", name), []).append(name)
        if are_within(numbers_if_any(rows.sheet, name), 1):
            shares.append(name)
    for names in filter(None, (*numbered.values(), shares)):
        with suppress(ValueError, TypeError):
            cells = _read_distributions(rows.sheet, names)
            if max(map(len, cells)) > 1 and are_near(
                np.array([sum(one or [1.0]) for one in cells])
            ):
                yield "+".join(names), np.array([max(one, default=np.nan) for one in cells])


def _read_distributions(sheet: Sheet, names: Sequence[str]) -> list[list[float]]:
    """Return the numbers of each row in K columns, or in one of lists; ValueError or TypeError for other cells."""
    if len(names) > 1:
        columns = [numbers_if_any(sheet, name) for name in names]
        return list(map(list, np.nan_to_num(np.stack(columns, axis=1))))
    lists: Iterable[Any] = map(parse_number_list, sheet.column(names[0]).to_pylist())
    return [[float(value) for value in one or ()] for one in lists]


# a form of input -> its checks, each with the role that the user may name to switch it off
_CHECKS: dict[str, Sequence[tuple[str, Callable[[_Rows], None]]]] = {
    "confidences": (
        ("group", _refuse_row_per_class),
        ("correct", _refuse_counts),
        ("correct", _refuse_right_answers),
        ("confidence", _refuse_not_largest),
    ),
    "posteriors": (
        ("", _refuse_lists_of_names),
        ("posteriors", _refuse_sorted),
        ("posteriors", _refuse_other_decision),
    ),
    "positive": (
        ("group", _refuse_row_per_class),
        ("positive", _refuse_never_below_half),
        ("positive", _refuse_other_decision),
    ),
    "predicted": (("", _refuse_positive),),
}


# ---- systems that are taken for one ---------------------------------------------------------------------------------


def _check_systems(rows: _Rows) -> Iterator[Note]:
    """Yield notes on repeated ids, and on columns whose names and few values suggest that they name systems.

    FileError if rows repeat others, or seem to be of several systems.
    """
    if rows.recipe.has_mappings and not rows.values.size:
        return  # which name other classes in other rows: refused where they are read
    if rows.recipe.of("id"):
        yield from _check_ids(rows)
    if rows.recipe.systems:
        return
    is_small = len(rows.whole.rows) <= _MOST_CROSSED
    if is_small and not rows.recipe.of("group") and _count_rows(rows):
        _refuse_pooled(rows, {})
    for name in rows.unused(_MAY_BE_SYSTEMS):
        count = count_distinct(rows.sheet.column(name).drop_null())
        if 2 <= count <= _MOST_POOLED:
            fields = {"column": name, "values": count, "columns": {"system": name}}
            yield Note("like_systems", fields | {"pairs": f"system={name}"}, "name_system")


def _count_rows(rows: _Rows) -> bool:
    """Return whether there are no ids, or only numbers of rows that the user did not name."""
    ids = [numbers_if_any(rows.whole, name) for name in rows.recipe.of("id")]
    return "id" not in rows.reading.columns and all(map(are_consecutive, ids))


def _check_ids(rows: _Rows) -> Iterator[Note]:
    """Yield a note on ids that repeat within a system; FileError if rows are copies, or of several systems."""
    names = rows.recipe.of("id")
    for name in names:
        _refuse_without_id(rows.whole, name)
    systems = [rows.whole.column(name) for name in rows.recipe.systems]
    keys = [one for one in systems if count_distinct(one) > 1]
    keys += [rows.whole.column(name) for name in names]
    total = len(rows.whole.rows)
    repeated = total - count_distinct_rows(keys)
    if not repeated:
        return
    is_grouped = bool(rows.recipe.of("group"))
    if not is_grouped:
        _refuse_copies(rows, repeated)
        if total >= _OFTEN * (
            total - repeated
        ):  # if few ids repeat, nearly any column is different in their rows
            _refuse_pooled(rows, {"+".join(names): join_texts(keys, "\0")})
    fields = {"count": repeated, "total": total, "column": "+".join(names)}
    yield Note("repeated_ids", fields, "" if is_grouped else "group_repeated_ids")


def _refuse_without_id(sheet: Sheet, name: str) -> None:
    """Refuse rows without an id, which would be paired with each other.

    A word for nothing, such as N/A, may be an id if all ids are words.
    """
    cells = sheet.column(name)
    is_floating = pa.types.is_floating(cells.type)
    are_empty = np.isnan(to_floats(cells)) if is_floating else are_null(cells)
    if cells.type == TEXT:
        texts = to_texts(cells)
        of_nothing = (
            to_floats(pc.binary_length(texts)) <= _LONGEST_NO_ID
        )  # mostly few, so that little is compared
        short = pc.utf8_lower(texts.filter(from_numpy(of_nothing)))
        of_nothing[of_nothing] = match_any(short, _NO_IDS)
        are_words = of_nothing.any() and pc.all(pc.utf8_is_alpha(texts)).as_py()
        are_empty |= of_nothing & (not are_words)
    if are_empty.any():
        raise sheet.error(name, "no_value", are_empty, advice="fill_ids")


def _refuse_copies(rows: _Rows, repeated: int) -> None:
    """Refuse repeated ids with rows that are equal in all columns, as after a merge, or in a padded batch."""
    columns = [rows.whole.column(name) for name in rows.whole.names]
    total = len(rows.whole.rows)
    if "weight" in rows.reading.columns or count_distinct_rows(columns) != total - repeated:
        return
    ids = "+".join(rows.recipe.of("id"))
    skip = "+".join(filter(None, [rows.whole.skipped, COPIES]))
    ways = [
        Way("a merge, a padded batch, a file appended twice: leave the copies out", {"skip": skip}),
        Way("answers to one question that are the same", {"group": ids}),
    ]
    raise rows.whole.error(ids, "rows_are_copies", copies=repeated, all_rows=total, ways=ways)


def _refuse_pooled(rows: _Rows, ids: dict[str, pa.Array]) -> None:
    """Refuse rows with a column that differs between the rows of each id (N,): systems, or a part of the id.

    Without `ids`, two columns whose values form a full grid, as questions and systems do, see `_may_be_systems`.
    """
    sheet = expand_objects(rows.whole)
    free = [*rows.unused(), *sheet.names[len(rows.whole.names) :]]
    texts = {name: to_texts(sheet.column(name)) for name in free}
    questions = ids or texts
    sizes = {name: count_distinct(one) for name, one in (texts | questions).items()}
    for name, question in product(texts, questions):
        count, most = sizes[name], sizes[question]
        pair = [texts[name], questions[question]]
        may_be = ids or (count * most == len(pair[0]) and _may_be_systems(rows, *pair))
        if 2 <= count <= min(MAX_SYSTEMS, most) and may_be and are_unique(pair):
            systems = "+".join([*rows.recipe.of("system"), name])
            several = "several answers of one system to each question"
            ways = [
                Way(f"{name}: {count} systems to compare", {"system": systems}),
                Way(several, {"id": "+".join([question, name])}),
            ]
            listed = list_columns(rows.whole.table)
            raise rows.whole.error(
                question, "ids_of_other", other=name, values=count, listed=listed, ways=ways
            )


def _may_be_systems(rows: _Rows, names: pa.Array, questions: pa.Array) -> bool:
    """Return whether a column may name systems: it has words, or each of the questions (N,) has one truth."""
    most = count_distinct(questions)
    truths = [questions, rows.whole.column(rows.recipe.truth)]
    is_word = parse_cells(names).type == TEXT
    return most > _ENOUGH and (is_word or count_distinct_rows(truths) == most)


# ---- values, wherever they are read ---------------------------------------------------------------------------------


def check_confidences(sheet: Sheet, recipe: Recipe, values: Floats) -> None:
    """Refuse confidences (N,), on the scale of the file, that are codes, beyond the scale, or on two scales."""
    low, high = scale_limits(recipe.scale)
    name = recipe.predictions[0]
    tolerance = RANGE_TOLERANCE * (high - low)
    is_off = (values < low - tolerance) | (values > high + tolerance)
    if recipe.scale in LOGARITHMS or not is_off.any():
        return
    code = code_for_missing(values)
    if code is not None:
        raise sheet.error(
            name, "out_of_unit_interval", is_off, advice="empty_if_missing", code=code
        )
    if recipe.scale != 1:
        raise sheet.error(name, "beyond_scale", is_off, scale=as_text(recipe.scale))
    largest = float(np.nanmax(values))
    marks = scale_marks(values).sum(axis=1)
    if np.nanmin(values) >= 0 and largest <= 100 and _are_mixed(marks, largest):
        fields = {"within": marks[1], "size": marks[0], "advice": "write_in_unit_interval"}
        raise sheet.error(name, "several_scales", is_off, **fields)


def scale_marks(values: Array) -> Bools:
    """Return, for confidences (N,), four marks (4, N) whose sums `_are_mixed` takes; all false for posteriors.

    There is a row; the confidence is at most 1; strictly between 0 and 1; above 0.
    """
    if values.ndim > 1:
        return np.zeros((4, len(values)), np.bool_)
    is_above_0 = values > 0
    return np.array(
        [np.ones(len(values), np.bool_), values <= 1, is_above_0 & (values < 1), is_above_0]
    )


def _are_mixed(counts: Ints, scale: float | str) -> bool:
    """Return whether more numbers lie between 0 and 1, by the sums (4,) of `scale_marks`, than this scale explains."""
    low, high = scale_limits(scale)
    usual = min(0.5, _MIXED + 2 / high) if low == 0 and high > 1 else 1.0
    return bool(counts[0] > 1 and counts[2] > usual * counts[3])


def refuse_two_scales(counts: Ints, recipe: Recipe, source: str) -> None:
    """Refuse confidences on a scale above 1 of which, by the sums (4,) of `scale_marks`, some seem to be in [0, 1]."""
    if recipe.scale != 1 and _are_mixed(counts, recipe.scale):
        raise FileError(
            source,
            "several_scales",
            column=format_names(recipe.predictions),
            advice="write_in_one_scale",
            within=int(counts[1]),
            size=int(counts[0]),
        )


def code_for_missing(values: Array) -> float | None:
    """Return the only number outside [0, 1], or [0, 100], if it occurs at least twice, in fewer than half of values."""
    for highest in (1, 100):
        is_off = (values < 0) | (values > highest)
        codes = np.unique(values[is_off])
        if len(codes) == 1 and 1 < np.count_nonzero(is_off) < len(values) / 2:
            return float(codes[0])
    return None


def check_grades(sheet: Sheet, recipe: Recipe, grades: Floats) -> None:
    """Refuse grades (N,) other than 0 and 1; with `correct_from`, only a code far from all grades."""
    wrong = ~np.isnan(grades) & (grades != 0) & (grades != 1)
    if recipe.correct_from is None and not wrong.any():
        return
    known = grades[~np.isnan(grades)]
    if recipe.correct_from is not None:
        code = code_for_missing(known)
        if code is not None and abs(code) >= MOST_LEVELS:
            is_code = grades == code
            raise sheet.error(recipe.truth, "grade_apart", is_code, advice="empty_if_not_judged")
        return
    levels = np.unique(known)
    if len(levels) == 2:
        raise two_codes_error(
            sheet, recipe.truth, f"{levels[0]:g}", f"{levels[1]:g}", known == levels[1]
        )
    raise sheet.rows_error(
        recipe.truth, "not_0_or_1", wrong, value=grades[wrong][0], advice="grade_or_empty"
    )


# ---- notes on what is read ------------------------------------------------------------------------------------------


def note_separated(confidence: Floats, correct: Ints) -> tuple[Note, ...]:
    """Return a note if confidences (N,) separate right from wrong answers perfectly, or all have one value."""
    if len(confidence) and np.ptp(confidence) == 0:
        return note_one_confidence(len(confidence), float(confidence[0]))
    lowest = math.inf
    highest = -math.inf
    for rows in blocks(len(confidence)):  # mostly the first one tells
        lowest = confidence[rows][correct[rows] == 1].min(initial=lowest)
        highest = confidence[rows][correct[rows] == 0].max(initial=highest)
        if not lowest > highest:
            return ()
    return note_perfect(int((correct == 0).sum()), int((correct == 1).sum()))


def note_probability_of_yes(confidence: Floats, correct: Ints, recipe: Recipe) -> tuple[Note, ...]:
    """Return a note if right answers have low confidences (N,) in a column with a name such as p_yes."""
    called = recipe.predictions[0].rpartition(".")[2].lower()
    count = int(np.count_nonzero((confidence < 0.5) & (correct == 1)))
    if called not in _NAMES_OF_YES or not count:
        return ()
    return (Note("like_yes", {"count": count, "column": recipe.predictions[0]}),)


def note_other_class(
    wrong: float, total: int, recipe: Recipe, num_classes: int
) -> tuple[Note, ...]:
    """Return a note if predicted classes are never wrong, or (`wrong` of `total`) more often than chance explains."""
    if not wrong and total >= _ENOUGH:
        return (Note("never_wrong", {"total": total, "label": recipe.truth}),)
    chance = 1 - 1 / num_classes
    if wrong <= total * chance + 2 * math.sqrt(total * chance / num_classes):
        return ()
    fields: dict[str, Any] = {"column": format_names(recipe.predictions), "share": wrong / total}
    columns = _swap_columns(recipe)
    if columns:
        ((role, names),) = columns.items()
        fields |= {"columns": columns, "pairs": f"{role}={names}"}
        return (Note("of_other_class", fields, "name_complement"),)
    has_order = len(recipe.predictions) > 1 or num_classes > 2
    return (Note("of_other_order", fields),) if has_order else ()


def _swap_columns(recipe: Recipe) -> dict[str, str]:
    """Return columns by role for two classes swapped; nothing if the recipe says which class is which."""
    first = recipe.predictions[0]
    if recipe.form == "positive":
        return {"positive": complemented_column(first) or f"1-{first}"}
    if recipe.form == "posteriors" and len(recipe.predictions) == 2 and recipe.are_by_place:
        return {"posteriors": "+".join(reversed(recipe.predictions))}
    return {}

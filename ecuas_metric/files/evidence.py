"""Signs in the rows that columns are not what they are read as: each is refused, or noted, with what to say instead."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, InputError, Note
from ..inputs import Array, Bools, Floats, Ints, are_swapped
from ..results import note_perfect
from .cells import numbers_in, parse_cells, row_of_numbers, said_words
from .recipe import NAMES, Reading, Recipe, column_in, complement_of, limits_of, on_unit_scale
from .roles import DIFFERENT, resolve
from .values import (
    TEXT,
    Sheet,
    as_text,
    count_distinct,
    encode,
    floats_in,
    from_values,
    is_in,
    is_numeric,
    join_texts,
    lists_in,
    nulls_in,
    texts_in,
)

MAX_SYSTEMS = 1000  # more is a column of something else
_ENOUGH = 10  # rows from which what they have in common is no chance: 2 ** -10 for a coin
_FOOTERS = 5  # rows below a table that may be sums and the like
_SHAPES = 1000  # rows that say what ids look like
_MOST_LEVELS = 11  # of a rating, as from 0 to 10
_MOST_CROSSED = 100_000  # rows; of more, to tell their values apart takes as long as to score them
_MOST_PARTS = 20  # systems of a file that are noted, where only their numbers of rows tell
_NEARLY = 0.9  # of the rows of one system that another one has, where rows of each are together
_MIXED = 0.05  # the share of numbers below 1 from which, and twice that of even ones, others are on another scale
_SPREAD = 2
_FEW_CLASSES = 3  # from which probabilities that are sorted in each row are no chance
_SURELY = 3  # deviations of a correlation that are no chance
_CODES = {"0", "1"}
_SUMS = (
    *("total", "totals", "subtotal", "sum", "mean", "average", "avg", "overall"),
    *("median", "min", "max", "count", "std"),
)
_COUNTS = {"count", "counts", "freq", "frequency", "n"}


def recipe_of(sheet: Sheet, reading: Reading, *, rows: int) -> Recipe:
    """Return how `rows` rows are read, by those of a sheet, all or the first, which must not contradict it.

    It has both words of correctness, one pair for all systems, where the user named one, and notes on other columns.
    """
    recipe = resolve(sheet, reading, rows=rows)
    if recipe.right is not None:
        column = sheet.stored(recipe.truth)
        right = said_words(sheet, column, recipe.right, is_whole=_is_whole(sheet, recipe))
        recipe = replace(recipe, right=right)
    notes = _notes_on(sheet, recipe, reading)
    return replace(recipe, unused=(*recipe.unused, *sheet.beside), notes=notes)


def _notes_on(
    sheet: Sheet,
    recipe: Recipe,
    reading: Reading,
) -> tuple[Note, ...]:
    """Raise FileError if columns that the user did not name cannot be what their names say; return notes on others."""
    counts = _distinct_values(sheet.head(_SHAPES), recipe)
    few = [name for name, count in counts.items() if count <= _MOST_PARTS]
    if _is_whole(sheet, recipe):
        _refuse_comments(sheet)
        _refuse_footer(sheet, recipe)
    notes: tuple[Note, ...] = ()
    if recipe.form == "confidences":
        notes += _check_confidences(sheet, recipe, reading, few)
    else:
        _check_probabilities(sheet, recipe, reading)
    return notes + _check_ids(sheet, recipe, counts) + _note_parts(sheet, recipe, few)


def _check_confidences(
    sheet: Sheet, recipe: Recipe, reading: Reading, few: Sequence[str]
) -> tuple[Note, ...]:
    """Raise FileError if other columns, some of `few` values, say that these are no confidences; or return notes."""
    said = reading.columns
    if "confidence" not in said:
        _refuse_positive_beside(sheet, recipe, few)
    if "correct" in said:
        return ()
    _refuse_counts(sheet, recipe)
    return _check_answers(sheet, recipe, few) if recipe.right is None else ()


def _check_probabilities(sheet: Sheet, recipe: Recipe, reading: Reading) -> None:
    """Raise FileError if probabilities that the user did not name cannot be what their names say."""
    said = reading.columns
    if recipe.form == "posteriors" and "posteriors" not in said and recipe.classes is None:
        _refuse_sorted(sheet, recipe)
    are_margins = reading.predictions_are == "logits"
    if recipe.form == "positive" and "positive" not in said and not are_margins:
        _refuse_confidences(sheet, recipe)


def _distinct_values(sheet: Sheet, recipe: Recipe) -> dict[str, int]:
    """Return how many values each column has that is not used."""
    counts = {}
    for name, _ in recipe.unused:
        try:
            counts[name] = len(sheet.table[name].unique())
        except pa.ArrowNotImplementedError:  # of lists and the like
            counts[name] = len(sheet.rows)
    return counts


def _is_whole(sheet: Sheet, recipe: Recipe) -> bool:
    """Return whether a sheet has all rows that are read, not only the first."""
    return len(sheet.rows) == recipe.rows


def require_ids(recipes: Iterable[Recipe]) -> None:
    """Raise InputError, since systems whose rows may be in different orders have no ids; name what may be ids."""
    candidates = [
        name for recipe in recipes for name, what in recipe.unused if what.endswith(DIFFERENT)
    ]
    got = ", ".join(dict.fromkeys(candidates)) or "no column with another value in each row"
    raise InputError("systems", "no_ids", got=got, advice="name_ids")


def refuse_rating(sheet: Sheet, recipe: Recipe, values: Floats) -> None:
    """Raise FileError if confidences (N,) are a few whole or half numbers, as from 1 to 5."""
    if recipe.scale != 1 or not np.nanmax(values, initial=0) > 1:
        return
    levels = np.unique(values[~np.isnan(values)])
    is_small = len(levels) <= _MOST_LEVELS and np.abs(levels).max() < _MOST_LEVELS
    are_most_above = len(levels) > 2 and np.count_nonzero(values > 1) > len(values) / 2
    step = 0.5 if are_most_above else 1
    if is_small and (levels % step == 0).all():
        limits: dict[str, Any] = {"low": levels[0], "high": levels[-1]}
        raise sheet.error(
            recipe.predictions[0], "rating", values > 1, advice="map_rating", **limits
        )


def refuse_codes(sheet: Sheet, recipe: Recipe, grades: Floats) -> None:
    """Raise FileError if grades (N,) are not all 0 or 1, with what they seem to be."""
    if ((grades == 0) | (grades == 1) | np.isnan(grades)).all():
        return
    column = recipe.truth
    levels = np.unique(grades[~np.isnan(grades)])
    strange = levels[(levels != 0) & (levels != 1)]
    wrong = np.isin(grades, strange)
    are_shares = strange[0] > 0 and strange[-1] < 1
    if are_shares and np.count_nonzero(wrong) == 1 and len(grades) > _ENOUGH:
        raise sheet.error_of_rows(column, "one_row_unlike_others", wrong, value=strange[0])
    if are_shares and are_swapped(grades, _numbers_of(sheet, recipe.predictions[0])):
        columns = {"confidence": column, "correct": recipe.predictions[0]}
        raise sheet.error(column, "not_0_or_1", wrong, advice="name_swapped", columns=columns)
    advice = "set_correct_from" if are_shares else _advice_on_codes(levels, strange)
    rule = "two_codes" if advice == "say_right" else "not_0_or_1"
    ends: dict[str, Any] = {"low": f"{levels[0]:g}", "high": f"{levels[-1]:g}"}
    ends["share"] = np.mean(grades[~np.isnan(grades)] == levels[-1])
    raise sheet.error(column, rule, wrong, value=grades[wrong][0], advice=advice, **ends)


def note_separated(confidence: Floats, correct: Ints) -> tuple[Note, ...]:
    """Return a note if confidences (N,) tell right from wrong answers without a mistake."""
    right = confidence[correct == 1]
    wrong = confidence[correct == 0]
    is_separated = right.min(initial=np.inf) > wrong.max(initial=-np.inf)
    return note_perfect(len(wrong), len(right)) if is_separated else ()


def note_other_class(
    wrong: float,
    total: int,
    recipe: Recipe,
) -> tuple[Note, ...]:
    """Return a note if probabilities of one class are wrong more often than a coin is, by more than chance explains."""
    if recipe.form != "positive" or wrong <= total / 2 + np.sqrt(total):  # two deviations of a coin
        return ()
    name = recipe.predictions[0]
    complement = complement_of(name) or f"1-{name}"
    fields: dict[str, Any] = {"column": name, "share": wrong / total}
    fields |= {"columns": {"positive": complement}, "pairs": f"positive={complement}"}
    return (Note("of_other_class", fields, "name_complement"),)


def scale_counts(values: Array, copies: Floats | None = None) -> Ints:
    """Return how many confidences (N,) there are, are at most 1, between 0 and 1, and above 0; none of posteriors.

    Each stands for as many as `copies` (N,) says.
    """
    if values.ndim > 1:
        return np.zeros(4, np.int64)
    counts = np.ones(len(values)) if copies is None else copies
    marks = (np.ones(len(values)), values <= 1, (values > 0) & (values < 1), values > 0)
    return np.array([counts @ mark for mark in marks]).astype(np.int64)


def are_mixed(counts: Ints, scale: float | str) -> bool:
    """Return whether more numbers are below 1 than expected on a scale above it: not of a single one."""
    low, high = limits_of(scale)
    if low != 0 or high <= 1:
        return False
    return bool(counts[0] > 1 and counts[2] > min(0.5, _MIXED + _SPREAD / high) * counts[3])


def refuse_positive(
    sheet: Sheet,
    recipe: Recipe,
    chosen: pa.Array,
    values: Floats,
) -> None:
    """Raise FileError if a confidence in the class that was chosen, one of two, is the probability of one of them."""
    classes, codes = encode(chosen)
    name = recipe.predictions[0]
    if len(classes) != 2 or not (values < 0.5).any():
        return
    for low, high in ((0, 1), (1, 0)):
        highest = np.nanmax(values[codes == low], initial=-np.inf)
        lowest = np.nanmin(values[codes == high], initial=np.inf)
        if -np.inf < highest <= lowest < np.inf:
            columns = {"label": recipe.truth, "positive": name}
            pair: dict[str, Any] = {"low": classes[low], "high": classes[high]}
            raise sheet.error(
                name, "probability_of_one", advice="name_positive_class", columns=columns, **pair
            )


def refuse_likeliest(sheet: Sheet, recipe: Recipe, posteriors: Floats, truth: Ints) -> None:
    """Raise FileError if the likeliest class is the label in all rows (N,), but not that of another column."""
    if not _are_likeliest(posteriors, truth):
        return
    column = texts_in(sheet.column(recipe.truth))
    classes = set(column.unique().to_pylist())
    labels = np.array(column.to_pylist())
    others = [name for name, _ in recipe.unused if name in sheet.names]
    for other in (name for name in others if not _is_named(name, "predicted")):
        texts = texts_in(sheet.column(other))
        if set(texts.unique().to_pylist()) != classes:
            continue
        differ = np.array(texts.to_pylist()) != labels
        if differ.any():
            fields: dict[str, Any] = {"other": other, "labels": recipe.truth}
            fields["columns"] = {"label": other}
            raise sheet.error(
                recipe.truth, "label_is_likeliest", differ, advice="name_label", **fields
            )


def _are_likeliest(posteriors: Floats, truth: Ints) -> bool:
    """Return whether the likeliest class (N, K) is the true one in all of enough rows; mostly the first ones tell."""
    first = slice(_ENOUGH)
    if len(truth) < _ENOUGH or (posteriors[first].argmax(axis=1) != truth[first]).any():
        return False
    return bool((posteriors.argmax(axis=1) == truth).all())


def _numbers_of(sheet: Sheet, name: str) -> Floats:
    """Return the numbers (N,) of a column, or nan where it has none."""
    cells = parse_cells(sheet.column(name)) if name in sheet.names else None
    is_number = cells is not None and is_numeric(cells.type)
    return floats_in(cells) if is_number else np.full(len(sheet.rows), np.nan)


def _advice_on_codes(levels: Floats, strange: Floats) -> str:
    """Return what to do about levels of correctness, some of which are neither 0 nor 1."""
    if len(levels) == 2:
        return "say_right"
    if len(levels) - len(strange) == 2 and len(strange) <= 2:
        return "empty_if_not_judged"
    return "set_correct_from" if levels[0] >= 0 and levels[-1] < _MOST_LEVELS else ""


def _check_answers(sheet: Sheet, recipe: Recipe, others: Sequence[str]) -> tuple[Note, ...]:
    """Raise FileError if correctness has the words of one of the others: it holds the right answers; or return a note.

    Any column of truths or codes has the words of another one, of which only names and what they agree on tell.
    """
    name = recipe.truth
    head = sheet.head(_SHAPES)
    cells = parse_cells(head.column(name))
    words = _words(cells)
    if len(words) != 2:
        return ()
    truth = _texts(cells)
    alike = _columns_of_words(head, others, words)
    confidence = _numbers_of(head, recipe.predictions[0])
    pair = _judged(truth == "1", alike) if words == _CODES else ()
    if pair:
        truths = {one: alike[one] == "1" for one in pair}
        _refuse_rivals(sheet, name, truths, truth == "1", confidence)
        return ()
    for other, texts in alike.items():
        columns = {"label": name, "predicted": other}
        fields: dict[str, Any] = {"other": other, "verdicts": name, "columns": columns}
        likeness = _likeness(truth, texts, confidence, is_named=_is_named(other, "predicted"))
        if words != _CODES or likeness.is_of_answers:
            raise sheet.error(name, "words_of_other", advice="name_right_answers", **fields)
        if likeness.agree:
            fields |= {"column": name, "pairs": f"label={name},predicted={other}"}
            return (Note("like_right_answers", fields, "name_right_answers"),)
    return ()


def _is_named(name: str, role: str) -> bool:
    """Return whether a column has one of the names of a role."""
    return name.strip().lower() in NAMES[role]


def _refuse_positive_beside(sheet: Sheet, recipe: Recipe, few: Sequence[str]) -> None:
    """Raise FileError if confidences are above 1/2 in just the rows of one of two answers, beside the verdicts."""
    head = sheet.head(_SHAPES)
    name = recipe.predictions[0]
    if len(head.rows) < _ENOUGH:
        return
    values = on_unit_scale(_numbers_of(head, name), recipe.scale)
    columns = {one: texts_in(head.column(one)) for one in few}
    pairs = {
        one: np.array(list(map(str, texts.to_pylist())))
        for one, texts in columns.items()
        if count_distinct(texts) == 2
    }
    chosen = [one for one, texts in pairs.items() if _tell_apart(texts, values > 0.5)]
    truth = recipe.truth if recipe.truth in sheet.names else column_in(recipe.truth)
    verdicts = _texts(parse_cells(head.column(truth)))
    for one, other in product(chosen, pairs):
        if _tell_apart(pairs[one] == pairs[other], verdicts):
            low = str(pairs[one][values <= 0.5][0])
            high = str(pairs[one][values > 0.5][0])
            named = {"label": other, "positive": name}
            fields: dict[str, Any] = {"columns": named, "low": low, "high": high}
            raise sheet.error(name, "probability_of_one", advice="name_positive_class", **fields)


def _tell_apart(first: Array, second: Array) -> bool:
    """Return whether two columns (N,) of two values each have one with the other in all rows."""
    both = set(zip(first.tolist(), second.tolist(), strict=True))
    return len(both) == len(np.unique(first)) == len(np.unique(second)) == 2


def _refuse_counts(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError if a column is named as counts are, and no two rows are the same in the columns that are used."""
    if recipe.of("id") or recipe.of("weight"):
        return
    names = [name for name, _ in recipe.unused if name.strip().lower() in _COUNTS]
    names = [name for name in names if _may_be_counts(_numbers_of(sheet, name))]
    if names and _are_all_different(sheet, recipe):
        fields: dict[str, Any] = {"columns": {"weight": names[0]}, "verdicts": recipe.truth}
        raise sheet.error(names[0], "counts_of_rows", advice="weigh_by_counts", **fields)


def _are_all_different(sheet: Sheet, recipe: Recipe) -> bool:
    """Return whether no two rows are the same in the columns that are used."""
    used = chain.from_iterable(recipe.columns.values())
    columns = [sheet.column(name if name in sheet.names else column_in(name)) for name in used]
    return count_distinct(join_texts(columns, "\0")) == len(sheet.rows)


def _may_be_counts(values: Floats) -> bool:
    """Return whether numbers (N,) are whole, at least 0, some above 1, and do not number the rows."""
    are_whole = (values >= 0).all() and (values % 1 == 0).all()
    return bool(are_whole and (values > 1).any() and not (np.diff(values) == 1).all())


def _columns_of_words(head: Sheet, names: Sequence[str], words: set[str]) -> dict[str, Array]:
    """Return the columns that have just these words, as texts (N,)."""
    columns = {}
    for name in names:
        cells = head.column(name)
        if _may_be_words(cells) and _words(parse_cells(cells)) == words:
            columns[name] = _texts(parse_cells(cells))
    return columns


def _judged(verdicts: Bools, columns: Mapping[str, Array]) -> tuple[str, ...]:
    """Return two columns of words (N,) that are the same in just the rows where verdicts (N,) are true, or nothing.

    Only columns that are the same in all those rows are paired: of all pairs of many columns there are too many.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, texts in columns.items():
        alike.setdefault(tuple(texts[verdicts]), []).append(name)
    for pair in chain.from_iterable(combinations(names, 2) for names in alike.values()):
        one, two = (columns[name][~verdicts] for name in pair)
        if (one != two).all():
            return pair
    return ()


def _refuse_rivals(
    sheet: Sheet, name: str, pair: Mapping[str, Bools], verdicts: Bools, confidence: Floats
) -> None:
    """Raise FileError if one of two columns (N,) that are the same where verdicts (N,) are true may hold the verdicts.

    Of three such columns of 0 and 1 each is true where the others are the same: names tell, or confidences.
    """
    if any(_is_named(one, "label") for one in pair):
        return
    least = max(_correlation(confidence, verdicts), 0.0) - 1 / math.sqrt(len(verdicts))
    rivals = [
        one
        for one, truths in pair.items()
        if not _is_named(one, "predicted") and _correlation(confidence, truths) >= least
    ]
    if rivals:
        others = " and ".join(map(repr, pair))
        choices = [name, *rivals]
        fields: dict[str, Any] = {"others": others, "names": " or correct=".join(choices)}
        raise sheet.error(name, "one_of_three", advice="choose_correct", **fields)


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How alike two columns of the same words are, as answers and the right ones."""

    agree: bool  # they are the same in more rows than by chance
    lead: float  # the correlation of confidences with that, less that with the first column
    chance: float  # of a correlation
    is_named: bool  # the second has a name of predicted classes

    @property
    def is_of_answers(self) -> bool:
        """Whether they may be answers and the right ones: nothing says otherwise, or confidences say so."""
        is_open = self.lead >= -self.chance and (self.agree or self.is_named)
        return is_open or self.lead > _SURELY * self.chance


def _likeness(first: Array, second: Array, confidence: Floats, *, is_named: bool) -> _Likeness:
    """Compare words of two columns (N,) with each other, and with confidences (N,)."""
    same = first == second
    words = np.unique(first)
    expected = sum(np.mean(first == word) * np.mean(second == word) for word in words)
    alone = max(_correlation(confidence, first == words[-1]), 0.0)
    chance = 1 / math.sqrt(len(first))
    return _Likeness(
        bool(same.mean() > expected + chance),
        _correlation(confidence, same) - alone,
        chance,
        is_named,
    )


def _correlation(first: Array, second: Array) -> float:
    """Return the correlation of numbers (N,) where both are known, or 0 if one of them does not vary."""
    is_known = ~np.isnan(first) & ~np.isnan(second)
    known = np.array([first[is_known], second[is_known]], np.float64)
    varies = known.shape[1] > 1 and np.ptp(known, axis=1).all()
    return float(np.asarray(np.corrcoef(known))[0, 1]) if varies else 0.0


def _refuse_sorted(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError if the probabilities of numbered classes are sorted in each row: the likeliest of each."""
    head = sheet.head(_SHAPES)
    columns = recipe.predictions
    if len(columns) > 1:
        values = np.stack([numbers_in(head, name) for name in columns], axis=1)
    else:
        cells = head.column(columns[0])
        lists = lists_in(cells)
        if lists is None:  # as text, or mappings
            lists = lists_in(from_values(list(map(row_of_numbers, cells.to_pylist()))))
        values = np.zeros((0, 0)) if lists is None else lists
    if len(values) < _ENOUGH or values.shape[1] < _FEW_CLASSES:
        return
    steps = np.diff(values, axis=1)
    is_sorted = (steps <= 0).all() or (steps >= 0).all()
    if is_sorted and np.diff(values, axis=0).any():
        named = {"posteriors": "+".join(columns)}
        raise sheet.error(columns[0], "sorted", advice="name_by_class", columns=named)


def _words(cells: pa.Array) -> set[str]:
    """Return the words in parsed cells (N,), or 0 and 1 of truths, or nothing if they have other numbers."""
    if not _may_be_words(cells):
        return set()
    words = set(map(_word, encode(cells)[0]))
    return words if cells.type == TEXT or words <= _CODES else set()


def _may_be_words(cells: pa.Array) -> bool:
    """Return whether cells (N,) are no numbers, or 0 and 1."""
    if not is_numeric(cells.type):
        return True
    values = floats_in(cells)
    return bool(((values == 0) | (values == 1) | np.isnan(values)).all())


def _word(value: object) -> str:
    """Return a word in lower case; 0 and 1 alike, however they are written, and of truths."""
    return f"{value:g}" if isinstance(value, float | int) else as_text(value).lower()


def _texts(cells: pa.Array) -> Array:
    return np.array(list(map(_word, cells.to_pylist())))


def _refuse_confidences(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError if what seems the probability of class 1 is the confidence in the class that was chosen."""
    name = recipe.predictions[0]
    values = on_unit_scale(numbers_in(sheet, name, share=recipe.scale == 1), recipe.scale)
    is_high = _are_never_low(values)
    predicted = [other for other, _ in recipe.unused if _is_named(other, "predicted")]
    advice: dict[str, Any] = {"advice": "name_positive", "columns": {"positive": name}}
    for other in predicted:
        wrong = _contradicts(sheet, recipe, other, values)
        if is_high or count_distinct(texts_in(sheet.column(other))) > 2:
            columns = {"confidence": name, "predicted": other}
            advice = {"advice": "name_chosen_class", "columns": columns}
        if wrong.any():
            raise sheet.error(name, "contradicted", wrong, other=other, **advice)
    # below the first rows lower ones may follow
    if is_high and not predicted and _is_whole(sheet, recipe):
        raise sheet.error(name, "never_below_half", **advice)


def _are_never_low(values: Floats) -> bool:
    """Return whether numbers (N,) are all at least 1/2, as those of the likelier of two classes, and not by chance."""
    return bool(len(values) >= _ENOUGH and np.nanmin(values) >= 0.5)


def _contradicts(sheet: Sheet, recipe: Recipe, predicted: str, values: Floats) -> Bools:
    """Return where a predicted class is not the likelier one by the probabilities (N,) of class 1.

    Texts are compared where they are names of the two classes; what else they say is not known.
    """
    cells = parse_cells(sheet.column(predicted))
    if is_numeric(cells.type):
        is_known = np.ones(len(values), np.bool_)
        is_second = numbers_in(sheet, predicted) > 0.5
    else:
        texts = texts_in(sheet.column(predicted))
        classes = recipe.classes or ()
        is_known = is_in(texts, classes)
        is_second = is_in(texts, classes[1:])
    differ = is_second != (values > 0.5)
    return np.asarray(is_known & differ & (values != 0.5))


def _refuse_footer(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError if the ids of the last rows do not look like those of all others: means and sums."""
    body = len(sheet.rows) - _FOOTERS
    ids = recipe.of("id")[:1] or sheet.names[:1]
    if body < _ENOUGH or ids[0] not in sheet.names:
        return
    _refuse_sums(sheet, dict.fromkeys([*ids, sheet.names[0]]))
    cells = sheet.column(ids[0])
    last = [_shape(value) for value in cells.slice(body).to_pylist()]
    if last[-1] == _shape(cells[0].as_py()):  # what has no footer mostly ends here
        return
    size = min(_SHAPES, body)
    others = cells.slice(0, size).to_pylist() + cells.slice(body - size, size).to_pylist()
    usual = set(map(_shape, others))
    strange = np.array([shape not in usual for shape in last])
    if len(usual) == 1 and strange[-1] and not strange.all():
        wrong = np.concatenate([np.zeros(body, np.bool_), strange])
        raise sheet.error_of_rows(ids[0], "footer", wrong)


def _refuse_comments(sheet: Sheet) -> None:
    """Raise FileError if rows have nothing but a text that begins with #."""
    name = sheet.names[0]
    cells = sheet.column(name)
    if cells.type != TEXT:
        return
    are_comments = floats_in(pc.starts_with(cells, "#")) > 0  # not where it is null
    for other in sheet.names[1:] if are_comments.any() else ():
        are_comments &= nulls_in(sheet.column(other))
    if are_comments.any():
        raise sheet.error_of_rows(name, "comments", are_comments)


def _refuse_sums(sheet: Sheet, names: Iterable[str]) -> None:
    """Raise FileError if a column that names rows ends in a word for sums, which no more than a few rows have."""
    for name in names:
        cells = sheet.column(name)
        if is_numeric(cells.type) or as_text(cells[-1].as_py()).lower() not in _SUMS:
            continue
        are_sums = is_in(pc.utf8_lower(texts_in(cells)), _SUMS)
        if np.count_nonzero(are_sums) <= _FOOTERS:
            raise sheet.error_of_rows(name, "footer", are_sums)


def _shape(value: object) -> str:
    """Return what a text looks like: "a9" for "q001", "9" for "12"; numbers look alike."""
    if isinstance(value, float | int):
        return "9"
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "9", "" if value is None else as_text(value)))


def _check_ids(sheet: Sheet, recipe: Recipe, counts: Mapping[str, int]) -> tuple[Note, ...]:
    """Return a note if ids occur more than once in a system; raise FileError if another column tells them apart.

    `counts` are those of `_distinct_values` in the first rows.
    """
    names = recipe.of("id")
    if not names:
        _refuse_crossed(sheet, recipe, counts)
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
    note = Note("repeated_ids", fields, "" if recipe.of("group") else "group_repeated_ids")
    return (note, *_note_copies(sheet))


def _note_copies(sheet: Sheet) -> tuple[Note, ...]:
    """Return a note if rows are the same in all columns, which are no lists and the like."""
    try:
        distinct = len(sheet.table.group_by(sheet.names).aggregate([]))
    except pa.ArrowNotImplementedError:
        return ()
    total = len(sheet.rows)
    fields = {"count": total - distinct, "total": total}
    return (Note("repeated_rows", fields, "leave_copies_out"),) if distinct < total else ()


def _refuse_pooled(
    sheet: Sheet,
    recipe: Recipe,
    keys: pa.Array,
    distinct: int,
) -> None:
    """Raise FileError if a column tells the rows of one id (N,) apart: it names systems, or answers of a group."""
    for name, _ in recipe.unused:
        texts = texts_in(sheet.column(name))
        count = count_distinct(texts)
        is_part = 2 <= count <= min(MAX_SYSTEMS, distinct) and count < len(texts)
        if is_part and count_distinct(join_texts([keys, texts], "\0")) == len(texts):
            columns = {"system": "+".join([*recipe.of("system"), name])}
            raise _told_apart(sheet, "+".join(recipe.of("id")), name, count, columns)


def _refuse_crossed(sheet: Sheet, recipe: Recipe, counts: Mapping[str, int]) -> None:
    """Raise FileError if each value of a column that is not used stands once beside each of another one."""
    size = len(sheet.rows)
    if recipe.systems or size > _MOST_CROSSED:
        return
    if size > _SHAPES:
        counts = _distinct_values(sheet, recipe)
    for ids, other in _pairs_of_product(counts, size):
        if count_distinct(join_texts([sheet.column(ids), sheet.column(other)], "\0")) == size:
            raise _told_apart(sheet, ids, other, counts[other], {"system": other})


def _pairs_of_product(counts: Mapping[str, int], size: int) -> Iterator[tuple[str, str]]:
    """Yield two columns whose numbers of values have a product, that of more values first."""
    names_by_count: dict[int, list[str]] = {}
    for name, count in counts.items():
        names_by_count.setdefault(count, []).append(name)
    for count, names in names_by_count.items():
        values = size // count if count >= _ENOUGH else 0
        if values * count == size and 1 < values < count:
            yield from product(names, names_by_count.get(values, ()))


def _told_apart(
    sheet: Sheet, ids: str, other: str, values: int, columns: dict[str, str]
) -> FileError:
    fields: dict[str, Any] = {"other": other, "values": values, "ids": ids}
    return sheet.error(
        ids, "ids_of_other", advice="name_systems_or_groups", columns=columns, **fields
    )


def _note_parts(sheet: Sheet, recipe: Recipe, names: Sequence[str]) -> tuple[Note, ...]:
    """Return notes on columns with as many rows of each value, as of systems that answered the same questions.

    Ids that only count the rows tell nothing; others, none of which is repeated, are of as many questions.
    """
    if recipe.systems or any(not _counts_rows(sheet, name) for name in recipe.of("id")):
        return ()
    notes = []
    for name in names:
        sizes = _sizes_of_parts(sheet, name)
        if sizes.size:
            fields: dict[str, Any] = {
                "column": name,
                "values": len(sizes),
                "size": int(sizes.min()),
            }
            fields |= {"columns": {"system": name}, "pairs": f"system={name}"}
            notes.append(Note("like_systems", fields, "name_system"))
    return tuple(notes)


def _sizes_of_parts(sheet: Sheet, name: str) -> Ints:
    """Return the numbers of rows of each value of a column, if they are as alike as those of systems, or nothing."""
    values, codes = encode(texts_in(sheet.column(name)))
    is_part = 2 <= len(values) <= _MOST_PARTS and codes.min(initial=0) >= 0
    sizes = np.bincount(codes) if is_part else np.zeros(0, np.int64)
    if not is_part or sizes.min() < _ENOUGH:
        return sizes[:0]
    is_together = np.count_nonzero(np.diff(codes)) == len(values) - 1
    least = _NEARLY if is_together else 1
    return sizes if sizes.min() >= least * sizes.max() else sizes[:0]


def _counts_rows(sheet: Sheet, name: str) -> bool:
    """Return whether a column numbers the rows of the file."""
    ids = parse_cells(sheet.head(_SHAPES).column(name)) if name in sheet.names else None
    return ids is not None and is_numeric(ids.type) and bool((np.diff(floats_in(ids)) == 1).all())

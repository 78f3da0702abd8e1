"""Signs in the rows that columns are not what they are read as: each is refused, or noted, with what to say instead."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, InputError, Note, pairs_of
from ..inputs import Array, Bools, Floats, Ints, are_swapped, count_up
from ..results import note_one_confidence, note_perfect
from .candidates import (
    MOST_PARTS,
    are_above,
    are_near,
    are_within,
    beyond_chance,
    classes_among,
    deviations,
    distinct_texts,
    paths_of,
    rows_of_systems,
)
from .cells import (
    MOST_LEVELS,
    NOTHING,
    codes_of_two,
    columns_in,
    is_sum,
    lists_of_numbers,
    numbers_if_any,
    numbers_in,
    parse_cells,
    said_words,
    truths_in,
)
from .proposals import Proposal, propose
from .recipe import (
    HEAD,
    NAMES,
    Reading,
    Recipe,
    column_in,
    complement_of,
    limits_of,
    name_of,
    on_unit_scale,
)
from .roles import DIFFERENT, resolve
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
    from_texts,
    is_in,
    is_numeric,
    join_texts,
    nulls_in,
    positions_in,
    texts_in,
    value_at,
    with_fields,
)

_SAMPLES_PER_CLASS = 5  # from which texts are classes, and not answers
MAX_SYSTEMS = 1000  # more is a column of something else
_ENOUGH = 10  # rows from which what they have in common is no chance: 2 ** -10 for a coin
_FOOTERS = 5  # rows below a table that may be sums and the like
_HEAD = 1000  # rows that tell what columns are of
_MOST_CROSSED = 100_000  # rows; of more, to tell their values apart takes as long as to score them
_OFTEN = 1.5  # rows of an id, on average, from which they are of several systems
_MIXED = 0.05  # the share of numbers below 1 from which, and twice that of even ones, others are on another scale
_SPREAD = 2
_FEW_CLASSES = 3  # from which probabilities that are sorted in each row are no chance
_CHANCE = 1  # deviation of a correlation that often is chance
_SURELY = 3  # deviations of a correlation that are no chance
_CODES = ["0", "1"]
_WITH_POSTERIORS = ("posteriors", "positive")  # forms
_GAP = 0.2  # between an end of the scale and all other confidences
_OF_PER_CENT = 0.01  # the highest of fractions that were divided by 100
_NOT_LIKELIEST = {"predicted": "not_the_likeliest", "correct": "verdicts_not_used"}  # notes
_NAMES_OF_SUMS = (
    "total totals subtotal sum summe gesamt mean average avg mittelwert moyenne overall median "
    "min max count std"
)
_SUMS = _NAMES_OF_SUMS.split()
_NO_IDS = [word for word in NOTHING if not word or re.search(r"[a-z]", word)]  # but dashes
_LONGEST_NO_ID = max(map(len, _NO_IDS))
OF_SYSTEMS = ("name_system", "name_systems_or_groups")  # advice
_COUNTS = {"count", "counts", "freq", "frequency", "n"}


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows, how they are read, and how many values each column has in the first of them that is not used."""

    sheet: Sheet
    head: Sheet  # the first rows
    recipe: Recipe
    reading: Reading
    counts: Mapping[str, int]
    # (N, K) of the first rows; None of mappings, and of what is refused later
    posteriors: Floats | None

    @property
    def few(self) -> list[str]:
        """The columns that are not used and have few values."""
        return [name for name, count in self.counts.items() if count <= MOST_PARTS]

    def texts(self, name: str) -> pa.Array:
        """Return a column of the first rows as text, numbers in one form."""
        return texts_in(parse_cells(self.head.column(name)))

    def words(self, name: str) -> Array:
        """Return a column of the first rows as words (N,), see `_words_in`."""
        return _words_in(self.head, name)

    def named(self, role: str) -> list[str]:
        """Return the columns that are not used and have a name of a role."""
        return [name for name in self.counts if _is_named(name, role)]

    @property
    def classes(self) -> dict[str, str]:
        """The columns that are not used and have names of true and of predicted classes, if there are both."""
        columns = {role: name for role in ("label", "predicted") for name in self.named(role)[:1]}
        return columns if len(columns) == 2 else {}

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows that are read, not only the first."""
        return len(self.sheet.rows) == self.recipe.rows


def recipe_of(sheet: Sheet, reading: Reading, *, rows: int) -> Recipe:
    """Return how `rows` rows are read, by those of a sheet, all or the first, which must not contradict it.

    It has both words of correctness, one pair for all systems, where the user named one, and notes on other columns.
    """
    return _with_evidence(sheet, resolve(sheet, reading, rows=rows), reading)


def recipes_side_by_side(sheets: Sequence[Sheet], readings: Sequence[Reading]) -> Iterator[Recipe]:
    """Yield how all rows of each system are read, of several in one table: see `recipe_of`.

    The columns of one are none that another does not use.
    """
    pairs = list(zip(sheets, readings, strict=True))
    resolved = [resolve(sheet, reading, rows=len(sheet.rows)) for sheet, reading in pairs]
    columns = [
        _columns_of_system(sheet, recipe, reading)
        for (sheet, reading), recipe in zip(pairs, resolved, strict=True)
    ]
    every = set(chain.from_iterable(columns))
    for (sheet, reading), recipe, of_system in zip(pairs, resolved, columns, strict=True):
        yield _with_evidence(sheet, recipe.without(every - of_system), reading)


def _with_evidence(sheet: Sheet, recipe: Recipe, reading: Reading) -> Recipe:
    """Return a recipe with what the rows of a sheet say for it; FileError if they contradict it."""
    rows = recipe.rows
    if recipe.right is not None:
        column = sheet.stored(recipe.truth)
        right = said_words(sheet, column, recipe.right, is_whole=len(sheet.rows) == rows)
        recipe = replace(recipe, right=right)
    notes = _notes_on(_rows_of(sheet, recipe, reading))
    num_told = min(len(sheet.rows), HEAD)
    return replace(
        recipe,
        unused=(*sheet.beside, *recipe.unused),  # of which a line shows no more than some
        head=num_told if num_told < rows else 0,
        skip=sheet.skipped,
        notes=notes,
    )


def _columns_of_system(sheet: Sheet, recipe: Recipe, reading: Reading) -> set[str]:
    """Return the columns that a system uses, and those of its likeliest class, which is no other system's."""
    used = set(chain.from_iterable(recipe.columns.values()))
    if recipe.form not in _WITH_POSTERIORS:
        return used
    rows = _rows_of(sheet, recipe, reading)
    values = rows.posteriors
    if values is None:
        return used
    likeliest = values.argmax(axis=1)
    return used.union(
        name for name in rows.few if (_classes_in(rows, name, values.shape[1]) == likeliest).all()
    )


def _rows_of(sheet: Sheet, recipe: Recipe, reading: Reading) -> _Rows:
    unused = {name for name, _ in recipe.unused}
    names = [name for name in sheet.names if name in unused]
    nested = [path for name in names for path in paths_of(sheet, name)]
    head = sheet.head(_HEAD)
    head = replace(head, table=with_fields(head.table, nested))
    nested = head.names[len(sheet.names) :]  # that are there
    counts = {name: len(encode(head.column(name))[0]) for name in [*names, *nested]}
    few = [path for path in nested if 1 < counts[path] <= MOST_PARTS]
    sheet = replace(sheet, table=with_fields(sheet.table, few))
    counts = {name: counts[name] for name in [*names, *few]}
    return _Rows(sheet, head, recipe, reading, counts, _posteriors_of(head, recipe))


def _posteriors_of(head: Sheet, recipe: Recipe) -> Floats | None:
    """Return the posteriors (N, K) of the first rows: in columns, in lists, or of two classes; None of others."""
    names = recipe.predictions
    if recipe.form not in _WITH_POSTERIORS:
        return None
    if recipe.form == "posteriors" and len(names) == 1:
        return lists_of_numbers(head, names[0]) if recipe.classes is None else None
    try:
        columns = columns_in(head, names, share=recipe.scale == 1)
    except FileError:
        return None
    values = on_unit_scale(columns, recipe.scale)
    return values if len(names) > 1 else np.hstack([1 - values, values])


def _note_of(error: FileError, note: str, **fields: Any) -> Note:
    """Return a note that says of a column what an error would say."""
    fields = {**error.fields_of_sentences(), "column": error.column, **fields}
    return Note(note, fields, error.advice)


def _notes_on(rows: _Rows) -> tuple[Note, ...]:
    """Raise FileError if columns that the user did not name cannot be what their names say; return notes on others."""
    on_rows = None
    if rows.is_whole:
        _refuse_short_rows(rows.sheet, rows.recipe)
        on_rows = _check_other_rows(rows.sheet, rows.recipe)
        names_of_rows = [*rows.recipe.of("id")[:1], rows.sheet.names[0]]
        for name in dict.fromkeys(names_of_rows):
            _refuse_sums(rows.sheet, name)
    notes = [
        rule(rows)
        for form, role, rule in _RULES
        if rows.recipe.form == form and role not in rows.reading.columns
    ]
    on_lists = _note_longer_lists(rows)
    return (*filter(None, [on_rows, on_lists, *notes]), *_check_systems(rows))


def require_ids(recipes: Iterable[Recipe]) -> None:
    """Raise InputError, since systems whose rows may be in different orders have no ids; name what may be ids."""
    candidates = [
        {name for name, what in recipe.unused if what.endswith(DIFFERENT)} for recipe in recipes
    ]
    common = set.intersection(*candidates)
    if len(common) == 1:
        proposal = Proposal("name_seeming", {"id": common.pop()})
        raise InputError("systems", "no_ids", **proposal.to_fields({}))
    names = ", ".join(sorted(set.union(*candidates)))
    got = f"columns with another value in each row: {names}" if names else ""
    raise InputError("systems", "no_ids", got=got, advice="name_ids")


def refuse_without_id(sheet: Sheet, name: str) -> None:
    """Raise FileError about rows without an id, which would be paired with each other.

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


def refuse_rating(sheet: Sheet, recipe: Recipe, values: Floats) -> None:
    """Raise FileError if confidences (N,) are a few whole or half numbers, as from 1 to 5."""
    largest = np.nanmax(values, initial=0)
    if recipe.scale != 1 or not largest > 1:
        return
    levels = np.unique(values[~np.isnan(values)])
    is_small = len(levels) <= MOST_LEVELS and np.abs(levels).max() < MOST_LEVELS
    step = 0.5 if len(levels) > 2 else 1
    if is_small and (levels % step == 0).all():
        name = recipe.predictions[0]
        limits: dict[str, Any] = {"low": levels[0], "high": levels[-1]}
        raise sheet.error(name, "rating", values > 1, advice="map_rating", **limits)


def refuse_codes(sheet: Sheet, recipe: Recipe, grades: Floats) -> None:
    """Raise FileError if grades (N,) are not all 0 or 1, with what they seem to be."""
    is_known = ~np.isnan(grades)
    wrong = is_known & (grades != 0) & (grades != 1)
    if not wrong.any():
        return
    column = recipe.truth
    levels = np.unique(grades[is_known])
    first = grades[wrong][0]
    are_shares = _are_shares(grades[wrong])
    is_alone = np.count_nonzero(wrong) == 1 and len(grades) > _ENOUGH
    total = np.nansum(grades[:-1])
    is_total = is_sum(sheet, wrong).any() or grades[-1] == total
    if is_alone and (are_shares or is_total):
        raise sheet.error_of_rows(column, "one_row_unlike_others", wrong, value=first)
    if are_shares:
        confidence = recipe.predictions[0]
        if are_swapped(grades, numbers_if_any(sheet, confidence)):
            columns = {"confidence": column, "correct": confidence}
            raise sheet.error(column, "not_0_or_1", wrong, advice="name_swapped", columns=columns)
    advice = _advice_on_codes(levels)
    raise sheet.error(
        column,
        "two_codes" if advice == "say_right" else "not_0_or_1",
        wrong,
        value=first,
        advice=advice,
        **codes_of_two(f"{levels[0]:g}", f"{levels[-1]:g}"),
        share=np.mean(grades[is_known] == levels[-1]),
    )


def _are_shares(values: Floats) -> bool:
    return bool(values.min() > 0 and values.max() < 1)


def code_for_missing(values: Array, copies: Floats | None = None) -> float | None:
    """Return the one number that a few confidences or grades (N,) are, if all others are from 0 to 1, or to 100."""
    if values.ndim > 1:
        return None
    counts = np.ones(len(values)) if copies is None else copies
    for highest in (1, 100):
        is_off = (values < 0) | (values > highest)
        codes = np.unique(values[is_off])
        if len(codes) == 1 and 1 < counts[is_off].sum() < counts.sum() / 2:
            return float(codes[0])
    return None


def _advice_on_codes(levels: Floats) -> str:
    """Return what to do about levels of correctness, some of which are neither 0 nor 1."""
    strange = levels[(levels != 0) & (levels != 1)]
    if _are_shares(strange):
        return "set_correct_from"
    if len(levels) == 2:
        return "say_right"
    if len(levels) - len(strange) == 2 and len(strange) <= 2:
        are_in_order = levels[-1] < len(levels)
        return "grade_or_empty" if are_in_order else "empty_if_not_judged"
    return "set_correct_from" if levels[0] >= 0 and levels[-1] < MOST_LEVELS else ""


def note_separated(confidence: Floats, correct: Ints) -> tuple[Note, ...]:
    """Return a note if confidences (N,) tell right from wrong answers without a mistake, or not at all."""
    if len(confidence) and np.ptp(confidence) == 0:
        return note_one_confidence(len(confidence), float(confidence[0]))
    right = confidence[correct == 1]
    wrong = confidence[correct == 0]
    return note_perfect(len(wrong), len(right)) if are_above(right, wrong) else ()


def note_other_class(
    wrong: float, total: int, recipe: Recipe, num_classes: int
) -> tuple[Note, ...]:
    """Return a note if classes are never wrong, or more often than chance explains."""
    if not wrong and total >= _ENOUGH:
        return (Note("never_wrong", {"total": total, "label": recipe.truth}),)
    if not _is_beyond(wrong, total, num_classes):
        return ()
    fields: dict[str, Any] = {"column": name_of(recipe.predictions), "share": wrong / total}
    columns = _of_classes_swapped(recipe)
    if columns:
        fields |= {"columns": columns, "pairs": pairs_of(columns)}
        return (Note("of_other_class", fields, "name_complement"),)
    has_order = len(recipe.predictions) > 1 or num_classes > 2
    return (Note("of_other_order", fields),) if has_order else ()


def _is_beyond(wrong: float, total: int, num_classes: int) -> bool:
    """Return whether classes are wrong more often than chance explains."""
    chance = 1 - 1 / num_classes
    deviation = math.sqrt(total * chance / num_classes)
    return wrong > total * chance + 2 * deviation


def _of_classes_swapped(recipe: Recipe) -> dict[str, str]:
    """Return the columns of probabilities if they are of the other of two classes, or nothing if that is known."""
    first = recipe.predictions[0]
    if recipe.form == "positive":
        return {"positive": complement_of(first) or f"1-{first}"}
    if recipe.form == "posteriors" and len(recipe.predictions) == 2 and recipe.are_by_place:
        return {"posteriors": "+".join(reversed(recipe.predictions))}
    return {}


def scale_counts(values: Array, copies: Floats | None = None) -> Ints:
    """Return how many confidences (N,) there are, are at most 1, between 0 and 1, and above 0; none of posteriors.

    Each stands for as many as `copies` (N,) says.
    """
    if values.ndim > 1:
        return np.zeros(4, np.int64)
    counts = np.ones(len(values)) if copies is None else copies
    is_above_0 = values > 0
    is_between = is_above_0 & (values < 1)
    marks = np.array([np.ones(len(values)), values <= 1, is_between, is_above_0])
    return (marks @ counts).astype(np.int64)


def are_mixed(counts: Ints, scale: float | str) -> bool:
    """Return whether more numbers are below 1 than expected on a scale above it: not of a single one."""
    low, high = limits_of(scale)
    if low != 0 or high <= 1:
        return False
    usual = min(0.5, _MIXED + _SPREAD / high)
    return bool(counts[0] > 1 and counts[2] > usual * counts[3])


def refuse_positive(
    sheet: Sheet,
    name: str,
    chosen: pa.Array,
    values: Floats,
    label: str,
) -> None:
    """Raise FileError if a confidence in the class that was chosen, one of two, is the probability of one of them."""
    pair = _classes_apart(chosen, values)
    if pair is not None:
        raise _probability_of_one(sheet, name, pair, label)


def _probability_of_one(sheet: Sheet, name: str, pair: tuple[Any, Any], label: str) -> FileError:
    columns = {"label": label, "positive": name}
    low, high = pair
    proposal = Proposal("name_positive_class", columns, (as_text(low), as_text(high)))
    fields = {"low": low, "high": high, **proposal.to_fields({})}
    return sheet.error(name, "probability_of_one", **fields)


def _classes_apart(chosen: pa.Array, values: Floats) -> tuple[Any, Any] | None:
    """Return the two classes that were chosen, if numbers (N,) are below 1/2 in rows of the first alone."""
    classes, codes = encode(chosen)
    low = np.unique(codes[values < 0.5])
    high = np.unique(codes[values > 0.5])
    if len(low) != 1 or len(high) != 1 or low[0] == high[0]:
        return None
    return classes[low[0]], classes[high[0]]


def _shares_in(sheet: Sheet, recipe: Recipe) -> Floats:
    """Return the first column of predictions (N,) from 0 to 1; all nan where it has others than numbers."""
    shares: Floats = on_unit_scale(numbers_if_any(sheet, recipe.predictions[0]), recipe.scale)
    return shares


def _is_named(name: str, role: str) -> bool:
    """Return whether a column has one of the names of a role."""
    return name.strip().lower() in NAMES[role]


# ---- what columns are of -------------------------------------------------------------------------------------------


def _refuse_counts(rows: _Rows) -> None:
    """Raise FileError if a column is named as counts are, and no two rows are the same in the columns that are used."""
    sheet = rows.sheet
    recipe = rows.recipe
    if recipe.of("id") or recipe.of("weight"):
        return
    for name in rows.counts:
        if name.strip().lower() not in _COUNTS:
            continue
        values = numbers_if_any(sheet, name)
        are_whole = ((values >= 0) & (values % 1 == 0)).all()
        if are_whole and values.max() > 1 and not count_up(values):
            used = chain.from_iterable(recipe.columns.values())
            if are_unique([sheet.column(one) for one in used]):
                fields: dict[str, Any] = {"columns": {"weight": name}, "verdicts": recipe.truth}
                raise sheet.error(name, "counts_of_rows", advice="weigh_by_counts", **fields)


def _check_answers(rows: _Rows) -> Note | None:
    """Raise FileError if correctness has the words of another column: it holds the right answers; or return a note."""
    name = rows.recipe.truth
    truth = rows.words(name)
    words = distinct_texts(truth)
    if rows.recipe.right is not None or len(words) < 2 or rows.classes:  # see `_check_classes`
        return None
    alike = [other for other in rows.few if distinct_texts(rows.words(other)) == words]
    if words == _CODES:
        others = {other: rows.words(other) == "1" for other in alike}
        return _check_codes(rows, truth == "1", others)
    if alike and parse_cells(rows.head.column(name)).type == TEXT:
        raise _words_of_other(rows.sheet, name, alike[0])
    return None


def _check_codes(rows: _Rows, truth: Bools, others: Mapping[str, Bools]) -> Note | None:
    """Do so for 0 and 1 (N,), which any such column has: what they agree on tells, names, and confidences.

    Which answers are right if one column has these and the other one the right ones may be said by a third one.
    """
    name = rows.recipe.truth
    confidence = numbers_if_any(rows.head, rows.recipe.predictions[0])
    of_truth = max(deviations(confidence, truth), 0.0)
    notes = []
    columns = np.array(list(others.values()))
    for other, answers in others.items():
        right = truth == answers
        lead = deviations(confidence, right) - of_truth
        is_said = (right == columns).all(axis=1).any()
        agree = not is_said and beyond_chance(truth, answers) * math.sqrt(len(truth)) > _CHANCE
        error = _words_of_other(rows.sheet, name, other)
        least = -_CHANCE if agree or _is_named(other, "predicted") else _SURELY
        if lead >= (min(least, _CHANCE) if is_said else least):
            raise error
        if agree or (is_said and lead >= -_CHANCE):
            notes.append(_note_of(error, "like_right_answers"))
    return next(iter(notes), None)


def _check_classes(rows: _Rows) -> Note | None:
    """Raise FileError if verdicts contradict true and predicted classes beside them, or return a note on these.

    What is predicted are classes if they recur and are all among the true ones; others may be judged by their meaning.
    """
    recipe = rows.recipe
    columns = rows.classes
    if recipe.right is not None or recipe.correct_from is not None or not columns:
        return None
    true, chosen = map(rows.texts, columns.values())
    classes = set(true.drop_null().to_pylist())
    count = len(classes)
    if not do_recur(count, len(true)) or not classes.issuperset(chosen.to_pylist()):
        return None
    verdicts = truths_in(rows.head, recipe.truth)
    are_alike = floats_in(pc.equal(true, chosen))
    differ = np.abs(verdicts - are_alike) > 0  # not where one of them is unknown
    fields: dict[str, Any] = {**columns, "count": count, "columns": columns}
    if differ.any():
        fields["verdicts"] = recipe.truth
        raise rows.sheet.error(
            recipe.truth, "contradicts_classes", differ, advice="choose_truth", **fields
        )
    return Note("classes_not_used", {**fields, "pairs": pairs_of(columns)}, "name_classes")


def do_recur(num_classes: int, num_samples: int) -> bool:
    """Return whether so many different texts are classes, which recur, and not answers."""
    return 2 <= num_classes <= num_samples / _SAMPLES_PER_CLASS


def _words_of_other(sheet: Sheet, name: str, other: str) -> FileError:
    return sheet.error(
        name,
        "words_of_other",
        advice="name_right_answers",
        other=other,
        verdicts=name,
        columns={"label": name, "predicted": other},
    )


def _words_in(sheet: Sheet, name: str) -> Array:
    """Return a column as words (N,) in lower case, nothing where it is empty; 0 and 1 alike, also of truths."""
    values, codes = encode(parse_cells(sheet.column(name)))
    words = [
        f"{value:g}" if isinstance(value, float | int) else as_text(value).lower()
        for value in values
    ]
    return np.array([*words, ""])[codes]


def _note_unlike(rows: _Rows) -> Note | None:
    """Return a note if confidences are far below the share of right answers, or 0 or 1 in rows like all others."""
    values = _shares_in(rows.head, rows.recipe)
    right = _right_in(rows)
    is_known = ~np.isnan(values + right)
    values = values[is_known]
    right = right[is_known]
    if len(values) < _ENOUGH or not np.ptp(values):
        return None
    share = right.mean()
    highest = values.max()
    if values.min() >= 0 and highest <= _OF_PER_CENT and share > _ENOUGH * highest:
        return Note("divided_by_100", {"highest": highest, "share": share})
    for end in (0.0, 1.0):
        if _is_apart(values, right, end):
            code = limits_of(rows.recipe.scale)[int(end)]
            fields = {"count": np.count_nonzero(values == end), "code": code}
            return Note("apart_from_others", fields, "empty_if_missing")
    return None


def _note_cut(rows: _Rows) -> Note | None:
    """Return a note if all grades are on one side of the lowest right one, or a few are a code far from all others."""
    cut = rows.recipe.correct_from
    if cut is None:
        return None
    grades = truths_in(rows.sheet, rows.recipe.truth, rows.recipe.right)
    grades = grades[~np.isnan(grades)]
    fields: dict[str, Any] = {"cut": cut}
    code = code_for_missing(grades)
    if code is not None and abs(code) >= MOST_LEVELS:
        fields |= {"code": code, "count": np.count_nonzero(grades == code)}
        return Note("grade_apart", fields, "empty_if_not_judged")
    are_right = grades >= cut
    if len(grades) < _ENOUGH or are_right.any() != are_right.all():
        return None
    fields |= {"count": len(grades), "low": grades.min(), "high": grades.max()}
    return Note("grades_all_right" if are_right[0] else "grades_all_wrong", fields)


def _note_rating(rows: _Rows) -> Note | None:
    """Return a note if whole numbers on a scale from 0 are never below 1, as ratings whose scale begins there."""
    low, high = limits_of(rows.recipe.scale)
    if low or not 1 < high < MOST_LEVELS:
        return None
    values = numbers_in(rows.sheet, rows.recipe.predictions[0], whole=high)
    values = values[~np.isnan(values)]
    if len(values) < _ENOUGH or values.min() != 1 or (values % 1).any():
        return None
    fields = {"low": 1.0, "high": high, "share": 1 / high}
    return Note("rating_above_0", fields, "map_rating")


def _right_in(rows: _Rows) -> Floats:
    """Return which answers of the first rows are right (N,): 1, 0, or nan."""
    recipe = rows.recipe
    if recipe.form == "confidences":
        verdicts = _verdicts_in(rows, recipe.truth)
        if recipe.correct_from is None:
            return verdicts
        return np.where(np.isnan(verdicts), np.nan, verdicts >= recipe.correct_from)
    (predicted,) = recipe.of("predicted")
    return floats_in(pc.equal(rows.texts(recipe.truth), rows.texts(predicted)))


def _is_apart(values: Floats, right: Floats, end: float) -> bool:
    """Return whether many numbers (N,) are an end of the scale, far from all others, but right about as often."""
    is_end = values == end
    if np.count_nonzero(is_end) < _ENOUGH:
        return False
    others = np.unique(values[~is_end])
    if len(others) < _ENOUGH:
        return False
    gap = np.abs(others - end).min()
    share = right[is_end].mean()
    from_others = abs(share - right[~is_end].mean())
    is_off = abs(share - end) > max(_GAP, 2 * from_others)
    widest = float(np.diff(others).max())
    return bool(is_off and gap > max(_GAP, widest))


def _note_class_of_words(rows: _Rows) -> Note | None:
    """Return a note if a column of two texts has one of them where confidences are below 1/2, the other one above."""
    name = rows.recipe.predictions[0]
    values = _shares_in(rows.head, rows.recipe)
    texts = _columns_of_two_texts(rows) if len(values) >= _ENOUGH else {}
    for other, cells in texts.items():
        pair = _classes_apart(cells, values)
        if pair is not None:
            alike = [one for one in texts if one != other and is_in(texts[one], pair).all()]
            error = _probability_of_one(rows.sheet, name, pair, "".join(alike[:1]))
            error.advice = error.advice if len(alike) == 1 else ""
            return _note_of(error, "of_one_class", other=other)
    return None


def _columns_of_two_texts(rows: _Rows) -> dict[str, pa.Array]:
    """Return the columns that are not used and have one of two texts in each of the first rows."""
    pairs = [name for name, count in rows.counts.items() if count == 2]
    columns = {name: parse_cells(rows.head.column(name)) for name in pairs}
    return {
        name: cells
        for name, cells in columns.items()
        if cells.type == TEXT and not cells.null_count
    }


def _refuse_many_classes(rows: _Rows) -> None:
    """Raise FileError if labels have more than two classes, and another column may judge what has a probability."""
    if rows.reading.labels is not None:
        return
    label = rows.recipe.truth
    share = rows.recipe.predictions[0]
    words = distinct_texts(rows.words(label))
    count = sum(not word.startswith("-") for word in words)  # as of rows that are ignored
    roles = {role: names for role, names in rows.recipe.columns.items() if role != "positive"}
    said = {role: name for role, name in rows.reading.columns.items() if role != "positive"}
    for proposal in propose(rows.sheet, roles, said.keys()) if count > 2 else ():
        if share in proposal.columns.values():
            fields = proposal.to_fields(said) | {"values": count, "other": share}
            raise rows.sheet.error(label, "more_than_two", **fields)


def _refuse_rows_of_classes(rows: _Rows) -> None:
    """Raise FileError if the first rows are of classes, several of one sample, the last of which may go on below."""
    _refuse_row_per_class(rows, rows.head, [*rows.recipe.of("id"), *rows.counts])


def _refuse_row_per_class(rows: _Rows, sheet: Sheet, names: Sequence[str]) -> None:
    """Raise FileError if rows with one value of a column have probabilities that sum to 1, and one that is true."""
    recipe = rows.recipe
    is_true = _words_in(sheet, recipe.truth) == "1"
    if not is_true.any() or len(is_true) < _ENOUGH or "group" in rows.reading.columns:
        return
    shares = _shares_in(sheet, recipe)
    for name in names:
        samples, codes = encode(sheet.column(name))
        size = len(samples) if len(sheet.rows) == recipe.rows else len(samples) - 1
        if codes.min() < 0 or not 1 < size <= len(codes) / 2:
            continue
        sums = np.bincount(codes, shares)[:size]
        trues = np.bincount(codes, is_true)[:size]
        if are_near(sums) and (trues == 1).all():
            column = recipe.predictions[0]
            raise sheet.error(column, "row_per_class", advice="widen_classes", other=name)


def _refuse_sorted(rows: _Rows) -> None:
    """Raise FileError if the probabilities of numbered classes are sorted in each row: the likeliest of each."""
    columns = rows.recipe.predictions
    if rows.recipe.classes is not None:
        return
    values = rows.posteriors
    if values is None or len(values) < _ENOUGH or values.shape[1] < _FEW_CLASSES:
        return
    steps = np.diff(values, axis=1)
    are_sorted = (steps <= 0).all() or (steps >= 0).all()
    if are_sorted and np.diff(values, axis=0).any():
        likeliest = columns[0] if values[:, 0].sum() > values[:, -1].sum() else columns[-1]
        raise rows.sheet.error(columns[0], "sorted", **_advice_on_sorted(rows, likeliest))


def _advice_on_sorted(rows: _Rows, likeliest: str) -> dict[str, Any]:
    """Return the fields of an error on which column may have the likeliest class, if one has, or what else they are."""
    by_class = {"posteriors": "+".join(rows.recipe.predictions)}
    known = {"label": rows.recipe.truth, "confidence": likeliest}
    roles = {role: [name] for role, name in known.items()}
    proposal = next(propose(rows.sheet, roles, known.keys()), None)
    if proposal is None or proposal.columns.keys() != {"predicted"}:
        return {"advice": "name_by_class", "columns": by_class}
    fields = {"other_pairs": pairs_of(by_class), "other_arguments": f"columns={by_class}"}
    return {**proposal.to_fields(known), **fields, "advice": "name_likeliest"}


def _check_likeliest(rows: _Rows) -> Note | None:
    """Return a note if predicted classes or verdicts, by the names of columns, contradict the likeliest: it is scored.

    FileError beside the probability of class 1, which may be the confidence in the class that was chosen.
    """
    is_margin = rows.reading.predictions_are == "logits" and rows.recipe.form == "positive"
    values = rows.posteriors
    if values is None or is_margin:
        return None
    for role, name in _on_likeliest(rows, values):
        differ = _differ(rows, role, name, values)
        if not differ.any():
            continue
        if rows.recipe.form == "positive" and _is_named(name, role):
            share = rows.recipe.predictions[0]
            columns = {"confidence": share, role: name}
            fields: dict[str, Any] = {"other": name, "of_column": share, "columns": columns}
            advice = "name_chosen_class"
            raise rows.head.error(share, "contradicted", differ, advice=advice, **fields)
        fields = {"column": name, "count": np.count_nonzero(differ), "total": len(differ)}
        return Note(_NOT_LIKELIEST[role], fields)
    return None


def _on_likeliest(rows: _Rows, values: Floats) -> Iterator[tuple[str, str]]:
    """Yield columns of predicted classes or verdicts by their names, with their roles, and others of the first.

    These are the likeliest classes by posteriors (N, K) in more rows than the true ones.
    """
    for role in _NOT_LIKELIEST:
        yield from product([role], rows.named(role)[:1])
    count = values.shape[1]
    true = _classes_in(rows, rows.recipe.truth, count)
    for name in rows.few:
        classes = _classes_in(rows, name, count)
        are_likeliest = classes == values.argmax(axis=1)
        least = max(np.sum(classes == true), len(classes) / 2)
        if (classes >= 0).all() and are_likeliest.sum() > least:
            yield "predicted", name


def _differ(rows: _Rows, role: str, name: str, values: Floats) -> Bools:
    """Return where predicted classes, or verdicts on the likeliest (N,), are surely not those by posteriors (N, K)."""
    highest = values.max(axis=1)
    if role == "predicted":
        chosen, of_chosen = _of_classes(rows, name, values)
        return np.asarray((chosen >= 0) & (of_chosen < highest))
    true, of_true = _of_classes(rows, rows.recipe.truth, values)
    is_one = np.count_nonzero(highest == values.T, axis=0) == 1
    is_wrong = np.abs(_verdicts_in(rows, name) - (of_true == highest)) == 1
    return np.asarray((true >= 0) & is_one & is_wrong)


def _of_classes(rows: _Rows, column: str, values: Floats) -> tuple[Ints, Floats]:
    """Return the numbers (N,) of the classes in a column, and their posteriors, of all (N, K)."""
    classes = _classes_in(rows, column, values.shape[1])
    return classes, np.take_along_axis(values, classes[:, None], axis=1)[:, 0]


def _verdicts_in(rows: _Rows, name: str) -> Floats:
    """Return what a column of the first rows says of answers (N,): 1, 0, or nan, also where that is refused."""
    try:
        return truths_in(rows.head, name, rows.reading.right)
    except FileError:
        return np.full(len(rows.head.rows), np.nan)


def _check_numbers(rows: _Rows) -> Note | None:
    """Return a note if classes numbered or ordered otherwise would surely be right more often, beyond chance.

    Of classes that are wrong more often than by chance all rows tell, see `note_other_class`.
    """
    true, chosen, count = _classes_of_both(rows)
    is_known = (true >= 0) & (chosen >= 0)
    total = int(np.count_nonzero(is_known))
    if not 2 < count <= len(rows.head.rows) or not total:
        return None
    cells = np.bincount(true[is_known] * count + chosen[is_known], minlength=count * count)
    table = cells.reshape(count, count)
    by_chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    beyond = table - by_chance
    wrong = total - np.trace(table)
    places = np.arange(count)
    steps = np.bincount((true[is_known] - chosen[is_known]) % count)
    shifted = (places + steps.argmax()) % count
    orders = [places[::-1], shifted, beyond.argmax(axis=0)]
    whole = [order for order in orders if len(np.unique(order)) == count]
    best = max(whole, key=lambda order: table[order, places].sum())
    lead = beyond[best, places].sum() - np.trace(beyond)
    moved = best != places
    either = table[best, places] + np.diag(table)
    num_apart = either[moved].sum()
    deviations_needed = math.sqrt(_SURELY**2 + 2 * math.log(count))  # of the best of so many
    is_sure = lead > deviations_needed * math.sqrt(num_apart)
    if not is_sure or _is_beyond(wrong, total, count):
        return None
    other = 1 - table[best, places].sum() / total
    return Note("of_other_numbers", {"share": wrong / total, "other": other, "total": total})


def _note_class_within(rows: _Rows) -> Note | None:
    """Return a note if predicted texts have the true one as words within them, and so count as wrong."""
    (predicted,) = rows.recipe.of("predicted")
    columns = [rows.texts(name).to_pylist() for name in (predicted, rows.recipe.truth)]
    pairs = list(zip(*columns, strict=True))
    different = [(answer, true) for answer, true in pairs if answer and true and answer != true]
    within = []
    for answer, true in different:
        if re.search(rf"(?<!\w){re.escape(true)}(?!\w)", answer, re.IGNORECASE):
            within.append({"answer": answer, "true": true})
    if not within:
        return None
    return Note("class_within", {"count": len(within), "total": len(pairs), **within[0]})


def _classes_of_both(rows: _Rows) -> tuple[Ints, Ints, int]:
    """Return the numbers (N,) of true and of chosen or likeliest classes, -1 where unknown, and how many there are."""
    truth = rows.recipe.truth
    if rows.recipe.form == "predicted":
        used = (truth, *rows.recipe.of("predicted"))
        columns = [rows.texts(name) for name in used]
        texts = chain.from_iterable(column.to_pylist() for column in columns)
        names = classes_among(np.array([text or "" for text in texts]))
        places = from_texts(names)
        true, chosen = (positions_in(one, places) for one in columns)
        return true, chosen, len(names) if do_recur(len(names), len(true)) else 0
    values = rows.posteriors
    if values is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), 0
    count = values.shape[1]
    return _classes_in(rows, truth, count), values.argmax(axis=1), count


def _refuse_confidences(rows: _Rows) -> None:
    """Raise FileError if probabilities of class 1 are never below 1/2, as of the likelier of two, and not by chance."""
    recipe = rows.recipe
    is_told = rows.reading.predictions_are == "logits" or rows.named("predicted")
    if is_told or not rows.is_whole or len(rows.sheet.rows) < _ENOUGH:
        return
    name = recipe.predictions[0]
    if are_within(_shares_in(rows.sheet, recipe), 0.5, 1):
        if _has_codes(rows):
            raise _judged_or_class(rows, name, "never_below_half")
        columns = {"positive": name}
        raise rows.sheet.error(name, "never_below_half", advice="name_positive", columns=columns)


def _classes_in(rows: _Rows, column: str, count: int) -> Ints:
    """Return the numbers (N,) of the classes in the first rows of a column, -1 where it has none of them."""
    names = rows.recipe.classes or map(str, range(count))
    places = {name.lower(): place for place, name in enumerate(names)}
    return np.array([places.get(word, -1) for word in rows.words(column).tolist()])


def _check_label(rows: _Rows) -> Note | None:
    """Return a note if labels may be verdicts on the texts of another column.

    Who says which column is the probability of class 1 knows.
    """
    label = rows.recipe.truth
    is_said = "positive" in rows.reading.columns or rows.recipe.predictions[0].endswith("1")
    for name, count in rows.counts.items() if not is_said and _has_codes(rows) else ():
        is_answer = _is_named(name, "predicted") or count > len(rows.head.rows) / 2
        if is_answer and parse_cells(rows.head.column(name)).type == TEXT:
            error = _judged_or_class(rows, label, "label_of_answers", other=name)
            return _note_of(error, error.rule)
    return None


def _has_codes(rows: _Rows) -> bool:
    """Return whether labels are 0 and 1."""
    return distinct_texts(rows.words(rows.recipe.truth)) == _CODES


def _judged_or_class(rows: _Rows, column: str, rule: str, **fields: Any) -> FileError:
    """Return what says that labels may be verdicts on answers."""
    share = rows.recipe.predictions[0]
    label = rows.recipe.truth
    proposal = Proposal(
        "name_judged_or_class",
        {"confidence": share, "correct": label},
        alternative=Proposal("", {"positive": share, "label": label}),
        fields={"truth": label, "of_column": share, "high": "class 1"},
    )
    return rows.sheet.error(column, rule, **fields, **proposal.to_fields({}))


# ---- rows that are none of samples ---------------------------------------------------------------------------------


def _refuse_short_rows(sheet: Sheet, recipe: Recipe) -> None:
    """Raise FileError about rows that end before a column that is used, which is not the same as an empty cell."""
    if not sheet.short:
        return
    used = map(sheet.stored, chain.from_iterable(recipe.columns.values()))
    last = max(map(sheet.names.index, used))
    short = [row for row, size in sheet.short.items() if size <= last]
    are_short = np.isin(sheet.rows, short)
    if are_short.any():
        size = sheet.short[int(sheet.rows[are_short][0])]
        got = f"{size} of {len(sheet.names)} cells"
        raise sheet.error_of_rows(sheet.names[size], "row_ends_before", are_short, got=got)


def _check_other_rows(sheet: Sheet, recipe: Recipe) -> Note | None:
    """Return a note on rows without a value in any column that is used; FileError if no column has one in all rows.

    A log has such rows beside samples; where samples are counted or named, they may be answers that failed.
    """
    used = list(map(sheet.stored, chain.from_iterable(recipe.columns.values())))
    are_others = _are_empty(sheet, used)
    if not are_others.any() or are_others.all():
        return None
    error = sheet.error_of_rows(used[0], "no_value_in_any", are_others)
    if all(column.null_count for column in sheet.table.columns):
        raise error
    return _note_of(error, "rows_without_values", row=error.row, count=error.count)


def _are_empty(sheet: Sheet, names: Sequence[str]) -> Bools:
    """Return the rows (N,) that have no value in any of these columns."""
    if not all(sheet.column(name).null_count for name in names):
        return np.zeros(len(sheet.rows), np.bool_)
    are_empty: Bools = np.all([nulls_in(sheet.column(name)) for name in names], axis=0)
    return are_empty


def _note_longer_lists(rows: _Rows) -> Note | None:
    """Return a note if lists, a part of which is read, have others in some rows only."""
    paths: dict[str, str] = {}
    for column in map(column_in, chain.from_iterable(rows.recipe.columns.values())):
        for step in re.finditer(r"\.\d+(?![^.])", column):
            paths.setdefault(column[: step.start()], column)
    for path, column in paths.items():
        outer, _, _ = path.partition(".")
        cells = rows.sheet.column(outer).to_pylist() if outer in rows.sheet.names else ()
        lists = [value_at({outer: cell}, path) for cell in cells]
        sizes = [len(one) for one in lists if isinstance(one, list)]
        shortest = min(filter(None, sizes), default=0)
        count = sum(size > shortest for size in sizes)
        if count:
            fields = {"path": path, "column": column, "count": count, "total": len(lists)}
            return Note("longer_lists", fields)
    return None


def _refuse_sums(sheet: Sheet, name: str) -> None:
    """Raise FileError if a column that names rows ends in a word for sums, which no more than a few rows have."""
    cells = sheet.column(name)
    if is_numeric(cells.type) or not len(cells):
        return
    if as_text(cells[-1].as_py()).lower() not in _SUMS:
        return
    are_sums = is_in(pc.utf8_lower(texts_in(cells)), _SUMS)
    if np.count_nonzero(are_sums) <= _FOOTERS:
        raise sheet.error_of_rows(name, "footer", are_sums)


# ---- systems that are taken for one --------------------------------------------------------------------------------


def _check_systems(rows: _Rows) -> tuple[Note, ...]:
    """Return notes on ids, and on columns with as many rows of each value, as of systems with the same questions.

    FileError if another column has the questions: each of its values stands once beside each of theirs; a note if ids
    that do not count the rows have other values in each. Ids that the user named, if none repeats, tell enough.
    """
    on_ids = _check_ids(rows)
    if on_ids is None and "id" in rows.reading.columns:
        return ()
    error = None if rows.recipe.of("group") else _pooled_questions(rows)
    ids = [numbers_if_any(rows.head, name) for name in rows.recipe.of("id")]
    if on_ids is None and not all(map(count_up, ids)):
        return () if error is None else (_note_of(error, "like_questions"),)
    if error is not None:
        raise error
    on_parts = () if rows.recipe.systems else _like_systems(rows)
    return tuple(filter(None, [on_ids, *on_parts]))


def _check_ids(rows: _Rows) -> Note | None:
    """Return a note if ids occur more than once in a system; raise FileError if another column tells them apart."""
    names = rows.recipe.of("id")
    columns = [rows.sheet.column(name) for name in (*rows.recipe.systems, *names)]
    if not names or any(column.null_count for column in columns):  # see `refuse_without_id`
        return None
    total = len(rows.sheet.rows)
    repeated = total - count_distinct_rows(columns)
    if not repeated:
        return None
    advice = ""
    if not rows.recipe.of("group"):
        _refuse_pooled(rows, join_texts(columns, "\0"))
        advice = "group_repeated_ids"
    fields = {"count": repeated, "total": total, "column": "+".join(names)}
    return Note("repeated_ids", fields, advice)


def _refuse_pooled(rows: _Rows, keys: pa.Array) -> None:
    """Raise FileError if a column tells the rows of one id (N,) apart: it names systems, or answers of a group.

    Of few repeated ids, nearly any column does. Also about rows without prediction and truth, if each of their ids
    stands in another row too.
    """
    num_ids = count_distinct(keys)
    if len(keys) < _OFTEN * num_ids:
        return
    used = (rows.recipe.truth, *rows.recipe.predictions)
    are_empty = _are_empty(rows.sheet, used)
    if are_empty.any() and count_distinct(keys.filter(from_numpy(~are_empty))) == num_ids:
        raise rows.sheet.error_of_rows(used[0], "value_in_other_row", are_empty)
    most = min(MAX_SYSTEMS, num_ids)
    ids = "+".join(rows.recipe.of("id"))
    for name in rows.counts:
        texts = texts_in(rows.sheet.column(name))
        count = count_distinct(texts)
        is_part = 2 <= count <= most and count < len(texts)
        if is_part and are_unique([keys, texts]):
            if rows.recipe.form in ("confidences", "positive"):
                _refuse_row_per_class(rows, rows.sheet, rows.recipe.of("id"))
            raise _told_apart(rows, ids, [name], count)


def _told_apart(rows: _Rows, ids: str, names: Sequence[str], values: int) -> FileError:
    """Return what says that columns tell rows of one id apart."""
    several = {"id": "+".join([ids, *names])}
    return rows.sheet.error(
        ids,
        "ids_of_other",
        advice="name_systems_or_groups",
        columns={"system": "+".join([*rows.recipe.of("system"), *names])},
        other_arguments=f"columns={several}",
        other_pairs=pairs_of(several),
        other="+".join(names),
        values=values,
        ids=ids,
    )


def _pooled_questions(rows: _Rows) -> FileError | None:
    """Return what says that a column has more values than one of few, and most of them once beside each of its values.

    Or beside each pair of values of two such columns, as cases do that are read by several readers in several ways.
    """
    total = len(rows.sheet.rows)
    if total > _MOST_CROSSED or not rows.few:
        return None
    repeated = [name for name, count in rows.counts.items() if 1 < count < total]
    columns = {name: texts_in(rows.sheet.column(name)) for name in repeated}
    for names, question, values in _grids(rows, columns):
        if _are_questions(rows, columns, names, question):
            return _told_apart(rows, question, names, values)
    return None


def _grids(
    rows: _Rows, columns: Mapping[str, pa.Array]
) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """Yield one or two columns (N,) of few values, another one, and how many values the few have, if rows may be pairs.

    Beside systems that are named, others must have answered all questions.
    """
    sizes = {name: count_distinct(texts) for name, texts in columns.items()}
    systems = [rows.sheet.column(name) for name in rows.recipe.systems]
    num_systems = count_distinct_rows(systems) if systems else 1
    few = list(filter(columns.__contains__, rows.few))
    crossed = [*combinations(few, 1), *combinations(few, 2)]
    for names, question in product(crossed, columns):
        values = math.prod(sizes[name] for name in names)
        count = sizes[question]
        pairs = num_systems * values * count
        least = pairs if systems else max(pairs / 2, _OFTEN * count)
        are_more = max(num_systems * values + 1, _ENOUGH) <= count
        if are_more and least <= len(rows.sheet.rows) <= pairs and question not in names:
            yield names, question, values


def _are_questions(
    rows: _Rows, columns: Mapping[str, pa.Array], systems: Sequence[str], question: str
) -> bool:
    """Return whether each value (N,) of a column stands once beside each of others, as questions of systems do.

    Numbers may count rows within another thing, unless these have one true class each, as samples of several systems.
    """
    sheet = rows.sheet
    known = [columns[question], *(sheet.column(name) for name in rows.recipe.systems)]
    if are_unique(known) or not are_unique([*known, *(columns[name] for name in systems)]):
        return False
    are_numbers = [is_numeric(parse_cells(sheet.column(name)).type) for name in systems]
    if not any(are_numbers) or rows.recipe.form == "confidences":
        return True
    truth = texts_in(sheet.column(rows.recipe.truth))
    with_truth = count_distinct(join_texts([columns[question], truth], "\0"))
    return with_truth == count_distinct(columns[question])


def _like_systems(rows: _Rows) -> Iterator[Note]:
    """Yield notes on columns if the numbers of rows of each value are as alike as those of systems."""
    for name in rows.few:
        sizes = rows_of_systems(rows.sheet, name)
        if sizes:
            columns = {"system": name}
            counts = {"values": len(sizes), "size": min(sizes)}
            names = {"column": name, "other": name, "columns": columns, "pairs": pairs_of(columns)}
            yield Note("like_systems", {**counts, **names}, "name_system")


_RULES: tuple[tuple[str, str, Callable[[_Rows], Note | None]], ...] = (
    # a form of input, a role that the user has not named, and what rows may say against its column
    ("confidences", "correct", _refuse_counts),
    ("confidences", "", _refuse_rows_of_classes),  # whoever named the columns
    ("confidences", "correct", _check_answers),
    ("confidences", "correct", _check_classes),
    ("confidences", "confidence", _note_class_of_words),
    ("confidences", "", _note_unlike),
    ("confidences", "", _note_cut),
    ("confidences", "", _note_rating),
    ("predicted", "", _note_unlike),
    ("predicted", "", _note_rating),
    ("predicted", "", _check_numbers),
    ("predicted", "", _note_class_within),
    ("posteriors", "posteriors", _refuse_sorted),
    ("posteriors", "predicted", _check_likeliest),
    ("posteriors", "", _check_numbers),
    ("positive", "", _refuse_rows_of_classes),
    ("positive", "label", _refuse_many_classes),
    ("positive", "positive", _check_likeliest),
    ("positive", "positive", _refuse_confidences),
    ("positive", "label", _check_label),
)

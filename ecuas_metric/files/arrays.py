"""The cells in the columns of a recipe -> predictions as the file has them, true classes, and who does not answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..basis import numbers_of_texts
from ..errors import FileError, Way
from ..inputs import Array, Bools, Floats
from .cells import classes_of, numbers_in, parse_cells, row_of_numbers, texts_of_names, truths_in
from .recipe import FORMS, LOGARITHMS, Recipe, complement_of, limits_of
from .values import (
    Sheet,
    encode,
    first_of,
    floats_in,
    from_numpy,
    from_texts,
    from_values,
    is_in,
    is_numeric,
    lists_in,
    nulls_in,
    positions_in,
    texts_in,
)

_WHOLE_NUMBER = re.compile(r"[$€£]? ?(\d{1,3}(?:,\d{3})+|\d+)(?:\.0*)?")
_CLASSES_SHOWN = 5
_MOST_CLASSES_SHOWN = 20
_SAMPLES_PER_CLASS = 5  # from which texts are classes, and not answers
OF_FORMS = ("confidences", "predicted")  # in which a system may abstain
ABSTENTIONS = "ecuas abstained"  # the column that says which rows do
_CELLS = ("confidence", "correct", "predicted")  # roles whose cells say nothing in these


def values_in(sheet: Sheet, recipe: Recipe) -> Array | list[object]:
    """Return the numbers of one column or of several, in cells or in lists within them, in the order of classes."""
    names = recipe.predictions
    if recipe.form == "posteriors" and len(names) == 1:
        return _lists_of(sheet, recipe)
    if recipe.scale in LOGARITHMS and any(map(complement_of, names)):
        raise sheet.error(names[0], "complement_of_logarithms")
    whole = sum(limits_of(recipe.scale))
    columns = [numbers_in(sheet, name, share=recipe.scale == 1, whole=whole) for name in names]
    return np.stack(columns, axis=1) if len(columns) > 1 else columns[0]


def _lists_of(sheet: Sheet, recipe: Recipe) -> Array | list[object]:
    """Return the lists of numbers in the cells of a column, or those of mappings in the order of the classes."""
    (name,) = recipe.predictions
    cells = sheet.column(name)
    missing = nulls_in(cells)
    if missing.any():
        raise sheet.error(name, "no_value", missing)
    lists = lists_in(cells)
    if lists is not None:
        return lists
    values = cells.to_pylist()
    if classes_of(values[0]) is None:
        return list(map(row_of_numbers, values))
    return _numbers_by_class(sheet, recipe, values)


def _numbers_by_class(sheet: Sheet, recipe: Recipe, cells: Sequence[object]) -> list[object]:
    """Return the numbers of mappings (N,) in the order of the classes."""
    classes = recipe.classes or ()
    known = set(classes)
    rows: list[object] = []
    for number, cell in zip(sheet.rows.tolist(), cells, strict=True):
        by_class = classes_of(cell) or {}
        others = by_class.keys() ^ known
        if others:
            raise sheet.error(
                recipe.predictions[0],
                "classes_differ_between_rows",
                row=number,
                classes=list(classes[:_MOST_CLASSES_SHOWN]),
                others=sorted(others)[:_CLASSES_SHOWN],
                ways=_ways_to_part(sheet, recipe, cells),
            )
        rows.append(row_of_numbers([by_class[one] for one in classes]))
    return rows


def _ways_to_part(sheet: Sheet, recipe: Recipe, cells: Sequence[object]) -> list[Way]:
    """Return the columns in each of whose values mappings (N,) name the same classes, as those of questions do."""
    sets, of_rows = np.unique(
        ["\0".join(sorted(classes_of(cell) or {})) for cell in cells], return_inverse=True
    )
    ways = []
    for name, _ in recipe.unused:
        values, codes = encode(texts_in(sheet.column(name)))
        pairs = set(zip(codes.tolist(), of_rows.tolist(), strict=True))
        if len(sets) <= len(values) == len(pairs) <= len(cells) / 2:
            ways.append(Way(f"{name}: questions with classes of their own", {"part": name}))
    return ways


def class_numbers(sheet: Sheet, recipe: Recipe) -> Floats:
    """Return the numbers of the true classes (N,), NaN where missing."""
    name = recipe.truth
    if recipe.classes is None:
        labels = parse_cells(sheet.column(name))
        if not is_numeric(labels.type):
            raise _unnumbered(sheet, recipe, _classes_in(texts_in(labels)))
        return numbers_in(sheet, name)
    texts = texts_of_names(sheet.column(name), recipe.classes)
    numbers_of_classes = positions_in(texts, from_texts(recipe.classes))
    missing = nulls_in(texts)
    wrong = (numbers_of_classes < 0) & ~missing
    if wrong.any():
        are_lists = recipe.form == "posteriors" and len(recipe.predictions) == 1
        advice = "" if are_lists else "pass_labels"
        classes = list(recipe.classes[:20])
        raise sheet.error(name, "not_among_classes", wrong, advice=advice, classes=classes)
    return np.where(missing, np.nan, numbers_of_classes)


def _unnumbered(sheet: Sheet, recipe: Recipe, classes: Sequence[str]) -> FileError:
    """Return the error about labels that are names of classes; of two, one column has the probability of either."""
    got = ", ".join(classes[:_CLASSES_SHOWN])
    ways = []
    if recipe.form == "positive" and len(classes) == 2:
        share = recipe.predictions[0]
        ways = [
            Way(f"{share}: the probability of {high}", {}, {"labels": [low, high]})
            for low, high in (sorted(classes), sorted(classes, reverse=True))
        ]
    advice = "" if ways else "pass_labels"
    return sheet.error(recipe.truth, "labels_are_text", got=got, advice=advice, ways=ways)


def hits_in(
    sheet: Sheet,
    recipe: Recipe,
) -> tuple[Floats, int | None, Floats | None]:
    """Return 1 where the predicted class is the true one, else 0, nan without a true one.

    Of classes that recur also how many there are, and numbers for the true ones (N,).
    """
    label = recipe.truth
    (name,) = recipe.of("predicted")
    predicted = texts_of_names(sheet.column(name), _classes_in(texts_in(sheet.column(label))))
    true = texts_of_names(sheet.column(label), _classes_in(texts_in(sheet.column(name))))
    if predicted.null_count:
        raise sheet.error_of_rows(name, "no_value", nulls_in(predicted), advice="say_abstained")
    known = _classes_in(predicted)
    classes = {*known, *_classes_in(true)}
    if len(set(map(_plain_name, classes))) < len(classes):
        raise sheet.error(label, "classes_differ_in_case", other=name, advice="write_in_one_case")
    if not is_in(true, known).any():
        first = first_of(sheet.table[label])
        some = known[:_CLASSES_SHOWN]
        raise sheet.error(label, "no_common_class", value=first, other=name, classes=some)
    hits = floats_in(pc.equal(predicted, true))
    if not 2 <= len(classes) <= len(hits) / _SAMPLES_PER_CLASS:  # answers
        return hits, None, None
    names, codes = encode(true)
    numbers_of_names = numbers_of_texts([*map(_plain_name, map(str, names)), ""])
    return hits, len(classes), numbers_of_names[codes]


def _classes_in(texts: pa.Array) -> list[str]:
    return list(map(str, encode(texts)[0]))


def _plain_name(text: str) -> str:
    """Return a class without what a reader does not see: case, kinds of spaces and quotes, forms of letters.

    A whole number is without a currency, commas between thousands, and zeros after the point.
    """
    name = unicodedata.normalize("NFKC", text).casefold()
    name = " ".join(name.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    number = _WHOLE_NUMBER.fullmatch(name)
    return name if number is None else number[1].replace(",", "")


# ---- rows without an answer -----------------------------------------------------------------------------------------


def with_abstentions(sheet: Sheet, recipe: Recipe) -> Sheet:
    """Return rows with a column of those that abstain, and in these the cells of a row that answers."""
    abstained = _abstained(sheet, recipe)
    if abstained is None or ABSTENTIONS in sheet.names:
        return sheet
    names = {
        role: sheet.stored(name)
        for role in _CELLS
        if role in FORMS[recipe.form]
        for name in recipe.of(role)
    }
    are_whole = [~nulls_in(sheet.column(name)) for name in names.values()]
    answered = np.flatnonzero(np.all([*are_whole, ~abstained], axis=0))
    table = sheet.table
    for role, name in names.items():
        if len(answered):
            rows = np.where(abstained, answered[0], np.arange(len(abstained)))
            cells = sheet.column(name).take(from_numpy(rows))
        else:
            cells = _stand_ins(role, sheet, recipe)
        table = table.set_column(table.column_names.index(name), name, cells)
    marked = table.append_column(ABSTENTIONS, from_numpy(abstained.astype(np.float64)))
    return replace(sheet, table=marked)


def abstained_in(sheet: Sheet) -> Bools | None:
    """Return which rows (N,) abstain, None if none of them do."""
    if ABSTENTIONS not in sheet.names:
        return None
    abstained = floats_in(sheet.column(ABSTENTIONS)) == 1
    return abstained if abstained.any() else None


def _abstained(sheet: Sheet, recipe: Recipe) -> Bools | None:
    """Return which rows (N,) abstain, None if nothing says so."""
    if recipe.form not in OF_FORMS:
        return None
    marks: list[Array] = [truths_in(sheet, name) == 1 for name in recipe.of("abstained")]
    if recipe.abstained is not None:
        (name,) = recipe.of("predicted") or (recipe.truth,)
        marks.append(_are_word(sheet.column(sheet.stored(name)), recipe.abstained.strip()))
    return np.any(marks, axis=0) if marks else None


def _are_word(cells: pa.Array, word: str) -> Bools:
    """Return which cells (N,) are a word or a number; of no word, which are empty."""
    parsed = parse_cells(cells)
    if word and is_numeric(parsed.type):
        try:
            return np.asarray(floats_in(parsed) == float(word))
        except ValueError:
            return np.zeros(len(cells), np.bool_)
    texts = texts_in(cells).to_pylist()
    return np.array([(text or "").strip().lower() == word.lower() for text in texts], np.bool_)


def _stand_ins(role: str, sheet: Sheet, recipe: Recipe) -> pa.Array:
    """Return cells (N,) that can be read, where no row answers."""
    if role == "predicted":
        return sheet.column(recipe.truth)
    cell: object = limits_of(recipe.scale)[0] if role == "confidence" else 0
    if role == "correct" and recipe.right is not None:
        cell = re.split("[/,]", recipe.right)[0]
    return from_values([cell] * len(sheet.rows))

"""The columns of a recipe -> predictions as in the file, true classes, hits of predicted classes, and abstentions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..basis import encode_texts_as_numbers
from ..errors import FileError, Way
from ..inputs import Array, Bools, Floats
from .cells import (
    parse_cells,
    parse_class_scores,
    parse_number_list,
    read_names,
    read_numbers,
    read_truths,
)
from .recipe import FORMS, LOGARITHMS, Recipe, complemented_column, scale_limits
from .values import (
    Sheet,
    are_null,
    distinct_texts,
    encode,
    find_positions,
    first_value,
    from_numpy,
    from_texts,
    from_values,
    is_numeric,
    match_any,
    to_floats,
    to_matrix,
    to_texts,
)

_WHOLE_NUMBER = re.compile(r"[$€£]? ?(\d{1,3}(?:,\d{3})+|\d+)(?:\.0*)?")
_CLASSES_SHOWN = 5
_MOST_CLASSES_SHOWN = 20
_SAMPLES_PER_CLASS = 5  # least average for texts to be classes, and not answers
ABSTAINING_FORMS = ("confidences", "predicted")  # forms of input in which a system may abstain
ABSTENTIONS = "ecuas abstained"  # name of the column of abstentions that `fill_abstentions` adds
# roles whose cells mean nothing where a system abstains; a true class stays if there is one
_CELLS = ("confidence", "correct", "label", "predicted")


def read_predictions(sheet: Sheet, recipe: Recipe) -> Array | list[object]:
    """Return predictions (N,) or (N, K), in the order of the classes, on the scale of the file."""
    names = recipe.predictions
    if recipe.form == "posteriors" and len(names) == 1:
        return _read_lists(sheet, recipe)
    if recipe.scale in LOGARITHMS and any(map(complemented_column, names)):
        raise sheet.error(names[0], "complement_of_logarithms")
    whole = sum(scale_limits(recipe.scale))
    columns = [read_numbers(sheet, name, share=recipe.scale == 1, whole=whole) for name in names]
    return np.stack(columns, axis=1) if len(columns) > 1 else columns[0]


def _read_lists(sheet: Sheet, recipe: Recipe) -> Array | list[object]:
    """Return the posteriors in a column of lists, or of mappings, then in the order of the classes."""
    (name,) = recipe.predictions
    cells = sheet.column(name)
    missing = are_null(cells)
    if missing.any():
        raise sheet.error(name, "no_value", missing)
    lists = to_matrix(cells)
    if lists is not None:
        return lists
    values = cells.to_pylist()
    if parse_class_scores(values[0]) is None:
        return list(map(parse_number_list, values))
    return _order_by_class(sheet, recipe, values)


def _order_by_class(sheet: Sheet, recipe: Recipe, cells: Sequence[object]) -> list[object]:
    """Return N mappings of classes to numbers as lists in the order of the classes; FileError if one has others."""
    classes = recipe.classes or ()
    known = set(classes)
    rows: list[object] = []
    for number, cell in zip(sheet.rows.tolist(), cells, strict=True):
        by_class = parse_class_scores(cell) or {}
        others = by_class.keys() ^ known
        if others:
            raise sheet.error(
                recipe.predictions[0],
                "classes_differ_between_rows",
                row=number,
                classes=list(classes[:_MOST_CLASSES_SHOWN]),
                others=sorted(others)[:_CLASSES_SHOWN],
                ways=_list_part_ways(sheet, recipe, cells),
            )
        rows.append(parse_number_list([by_class[one] for one in classes]))
    return rows


def _list_part_ways(sheet: Sheet, recipe: Recipe, cells: Sequence[object]) -> list[Way]:
    """Return the ways to split rows by a column, such as the question, in whose values mappings have equal classes."""
    sets, of_rows = np.unique(
        ["\0".join(sorted(parse_class_scores(cell) or {})) for cell in cells], return_inverse=True
    )
    ways = []
    for name, _ in recipe.unused:
        values, codes = encode(to_texts(sheet.column(name)))
        pairs = set(zip(codes.tolist(), of_rows.tolist(), strict=True))
        if len(sets) <= len(values) == len(pairs) <= len(cells) / 2:
            ways.append(Way(f"{name}: questions with classes of their own", {"part": name}))
    return ways


def read_class_numbers(sheet: Sheet, recipe: Recipe) -> Floats:
    """Return the numbers (N,) of the true classes, NaN where missing; FileError for other labels."""
    name = recipe.truth
    if recipe.classes is None:
        labels = parse_cells(sheet.column(name))
        if not is_numeric(labels.type):
            raise _unnumbered(sheet, recipe, distinct_texts(to_texts(labels)))
        return read_numbers(sheet, name)
    texts = read_names(sheet.column(name), recipe.classes)
    numbers_of_classes = find_positions(texts, from_texts(recipe.classes))
    missing = are_null(texts)
    wrong = (numbers_of_classes < 0) & ~missing
    if wrong.any():
        are_lists = recipe.form == "posteriors" and len(recipe.predictions) == 1
        advice = "" if are_lists else "pass_labels"
        classes = list(recipe.classes[:20])
        raise sheet.error(name, "not_among_classes", wrong, advice=advice, classes=classes)
    return np.where(missing, np.nan, numbers_of_classes)


def _unnumbered(sheet: Sheet, recipe: Recipe, classes: Sequence[str]) -> FileError:
    """Return the error about labels that are no numbers; of two, with the ways to say which one is the second."""
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


def read_hits(
    sheet: Sheet,
    recipe: Recipe,
) -> tuple[Floats, int | None, Floats | None]:
    """Return whether each predicted class is the true one (N,), 1 or 0, NaN without a true one.

    Also the number of classes and a number (N,) for each true class; both None if the texts are answers, not classes.
    """
    label = recipe.truth
    (name,) = recipe.of("predicted")
    predicted = read_names(sheet.column(name), distinct_texts(to_texts(sheet.column(label))))
    true = read_names(sheet.column(label), distinct_texts(to_texts(sheet.column(name))))
    if predicted.null_count:
        raise sheet.rows_error(name, "no_value", are_null(predicted), advice="say_abstained")
    known = distinct_texts(predicted)
    classes = {*known, *distinct_texts(true)}
    if len(set(map(_normalize_name, classes))) < len(classes):
        raise sheet.error(label, "classes_differ_in_case", other=name, advice="write_in_one_case")
    if not match_any(true, known).any():
        first = first_value(sheet.table[label])
        some = known[:_CLASSES_SHOWN]
        raise sheet.error(label, "no_common_class", value=first, other=name, classes=some)
    hits = to_floats(pc.equal(predicted, true))
    if not 2 <= len(classes) <= len(hits) / _SAMPLES_PER_CLASS:  # answers
        return hits, None, None
    names, codes = encode(true)
    numbers_of_names = encode_texts_as_numbers([*map(_normalize_name, map(str, names)), ""])
    return hits, len(classes), numbers_of_names[codes]


def _normalize_name(text: str) -> str:
    """Return a class without differences that a reader overlooks: case, kinds of spaces and quotes, forms of letters.

    A whole number loses its currency, commas between thousands, and zeros after the point.
    """
    name = unicodedata.normalize("NFKC", text).casefold()
    name = " ".join(name.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    number = _WHOLE_NUMBER.fullmatch(name)
    return name if number is None else number[1].replace(",", "")


# ---- rows without an answer -----------------------------------------------------------------------------------------


def fill_abstentions(sheet: Sheet, recipe: Recipe) -> Sheet:
    """Return a sheet with the column `ABSTENTIONS`, and cells that can be read where it abstains.

    Unchanged if the recipe knows of no abstentions.
    """
    abstained = _are_abstentions(sheet, recipe)
    if abstained is None or ABSTENTIONS in sheet.names:
        return sheet
    filled = sheet
    for role in (role for role in _CELLS if role in FORMS[recipe.form]):
        (name,) = map(sheet.stored, recipe.of(role))
        cells = _fill_cells(role, name, abstained, filled, recipe)
        place = sheet.table.column_names.index(name)
        filled = replace(filled, table=filled.table.set_column(place, name, cells))
    marked = filled.table.append_column(ABSTENTIONS, from_numpy(abstained.astype(np.float64)))
    return replace(filled, table=marked)


def _fill_cells(role: str, name: str, abstained: Bools, sheet: Sheet, recipe: Recipe) -> pa.Array:
    """Return the cells (N,) of a role, those of an answered row where the system `abstained`, else ones like them."""
    cells = sheet.column(name)
    are_empty = are_null(parse_cells(cells))
    answered = np.flatnonzero(~abstained & ~are_empty)
    if len(answered):
        is_replaced = abstained & are_empty if role == "label" else abstained
        rows = np.where(is_replaced, answered[0], np.arange(len(abstained)))
        return cells.take(from_numpy(rows))
    if role == "label":
        return cells
    if role == "predicted":
        true = sheet.column(recipe.truth)
        return true.take(from_numpy(np.arange(len(true)), abstained))
    cell: object = scale_limits(recipe.scale)[0] if role == "confidence" else 0
    if role == "correct" and recipe.right is not None:
        cell = re.split("[/,]", recipe.right)[0]
    return from_values([cell if is_silent else None for is_silent in abstained])


def find_abstentions(sheet: Sheet) -> Bools | None:
    """Return whether each row (N,) of a sheet of `fill_abstentions` abstains; None if none does."""
    if ABSTENTIONS not in sheet.names:
        return None
    abstained = to_floats(sheet.column(ABSTENTIONS)) == 1
    return abstained if abstained.any() else None


def _are_abstentions(sheet: Sheet, recipe: Recipe) -> Bools | None:
    """Return whether each row (N,) abstains by the recipe; None if it knows of no abstentions."""
    if recipe.form not in ABSTAINING_FORMS:
        return None
    marks: list[Array] = [_read_marks(sheet, name) for name in recipe.of("abstained")]
    if recipe.abstained is not None:
        (name,) = recipe.of("predicted") or (recipe.truth,)
        marks.append(_are_word(sheet.column(sheet.stored(name)), recipe.abstained.strip()))
    return np.any(marks, axis=0) if marks else None


def _read_marks(sheet: Sheet, name: str) -> Bools:
    """Return whether each cell (N,) is 1, or a word for it; FileError unless all others are 0 or empty."""
    marks = read_truths(sheet, name)
    wrong = (marks != 0) & (marks != 1) & ~np.isnan(marks)
    if wrong.any():
        raise sheet.error(name, "must be 0 or 1", wrong)
    return np.asarray(marks == 1)


def _are_word(cells: pa.Array, word: str) -> Bools:
    """Return whether each cell (N,) is this word or number; whether it is empty, if the word is."""
    parsed = parse_cells(cells)
    if word and is_numeric(parsed.type):
        try:
            return np.asarray(to_floats(parsed) == float(word))
        except ValueError:
            return np.zeros(len(cells), np.bool_)
    texts = to_texts(cells).to_pylist()
    return np.array([(text or "").strip().lower() == word.lower() for text in texts], np.bool_)

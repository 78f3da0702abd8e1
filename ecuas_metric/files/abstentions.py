"""The rows in which a system gives no answer: by a column of their own, or by a word in place of one."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..inputs import Array, Bools
from .cells import parse_cells, truths_in
from .recipe import FORMS, Recipe, limits_of
from .values import Sheet, floats_in, from_numpy, from_values, is_numeric, nulls_in, texts_in

OF_FORMS = ("confidences", "predicted")  # in which a system may abstain
ABSTENTIONS = "ecuas abstained"  # the column that says which rows do
_CELLS = ("confidence", "correct", "predicted")  # roles whose cells say nothing in these


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
    return np.array([(text or "").strip() == word for text in texts], np.bool_)


def _stand_ins(role: str, sheet: Sheet, recipe: Recipe) -> pa.Array:
    """Return cells (N,) that can be read, where no row answers."""
    if role == "predicted":
        return sheet.column(recipe.truth)
    cell: object = limits_of(recipe.scale)[0] if role == "confidence" else 0
    if role == "correct" and recipe.right is not None:
        cell = re.split("[/,]", recipe.right)[0]
    return from_values([cell] * len(sheet.rows))

"""The cells that hold confidences or posteriors -> arrays as the metric takes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..errors import FileError, Note
from ..inputs import ROUNDED_SUM_TOLERANCE, Array, blocks, confidences, stacked
from ..results import note_hard
from .columns import class_of, class_told
from .read import Sheet
from .values import TRUTH, classes_of, column_of_numbers, row_of_numbers


def in_order(prediction: list[str], labels: Sequence[str] | None) -> list[str]:
    """Return columns that are named by classes in the order of the labels that were given."""
    by_class = {class_of(name): name for name in prediction}
    if labels is None or len(prediction) < 2 or set(by_class) != {label.strip() for label in labels}:
        return prediction
    return [by_class[label.strip()] for label in labels]


def predictions_in(sheet: Sheet, columns: Sequence[str], path: str, *, share: bool) -> Array | list[object]:
    """Return the numbers of one column or of several, in cells or in lists within them."""
    if len(columns) > 1:
        parts = [column_of_numbers(sheet, name, path, share=share) for name in columns]
        array = np.empty((len(sheet.frame), len(columns)))
        for rows in blocks(len(array), row_size=len(columns)):  # a third faster than all rows at once
            for k, part in enumerate(parts):
                array[rows, k] = part[rows]
        return array
    values = sheet.frame[columns[0]]
    by_class = classes_of(values.iloc[0])
    if by_class is not None:
        return _of_classes(sheet, columns[0], sorted(by_class), path)
    first = row_of_numbers(values.iloc[0])
    if isinstance(first, list):
        return [row_of_numbers(value) for value in values]
    return column_of_numbers(sheet, columns[0], path, share=share)


def _of_classes(sheet: Sheet, column: str, classes: Sequence[str], path: str) -> list[object]:
    rows: list[object] = []
    for number, value in zip(sheet.rows, sheet.frame[column], strict=True):
        row = classes_of(value)
        if row is None or sorted(row) != list(classes):
            rule = f"must name the classes of the first row, {', '.join(classes[:20])}"
            raise FileError(path, rule, column=column, row=int(number))
        rows.append(row_of_numbers({name: row[name] for name in classes}))
    return rows


def of_both_classes(
    values: Array | list[object], column: str, reference: str, classes: Sequence[str] | None, cells: pd.Series
) -> tuple[Array, tuple[Note, ...]]:
    """Return posteriors (N, 2) of the probabilities of one class, which must lie in [0, 1], and a note of which."""
    q = stacked(confidences(values, np.zeros(len(values)))[0])
    told, names = class_told(column), list(classes or ["class 0", "class 1"])
    if classes is None:  # numbers, or words for them
        words = {} if pd.api.types.is_numeric_dtype(cells) else TRUTH
        first = told == "0" or words.get(told.lower()) == 0
    else:
        names, first = [f"class {name}" for name in classes], told == classes[0]
    of = names[0 if first else 1]
    fact = f"Column {column!r} is read as the probability of {of}, column {reference!r} as the class."
    return q[:, ::-1] if first else q, (Note("positive", fact), *note_hard(q[:, 1], "probabilities"))


def told_logits(columns: Sequence[str], reference: str, values: Array) -> tuple[str | None, tuple[Note, ...]]:
    """Return that posteriors are logits where their name says so and they are no probabilities, and a note."""
    name = columns[0].strip().lower()
    if not (name.startswith("logit") or (name.startswith("predictions") and reference == "label_ids")):
        return None, ()
    in_range = ((values >= 0) & (values <= 1)).all()
    if in_range and (np.abs(values.sum(axis=1) - 1) <= ROUNDED_SUM_TOLERANCE).all():
        return None, ()
    fact = f"Column {name_of(columns)!r} is read as logits."
    return "logits", (Note("logits", fact),)


def name_of(columns: Sequence[str]) -> str:
    """Return columns in the words of an error, e.g. ``prob_0..prob_9``."""
    return f"{columns[0]}..{columns[-1]}" if len(columns) > 1 else columns[0]

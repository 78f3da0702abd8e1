"""The cells that say what is true -> labels or correctness, with what nobody judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..errors import FileAdvice, FileError, Note
from ..inputs import Bools, Floats, Ints
from .columns import are_numbered, class_of
from .csv_tables import is_number
from .read import Sheet
from .values import TRUTH, as_text, classes_of, column_of_numbers

RULES = ("bounds", "wrong", "drop")
MEANING = {  # what a reader must know of each rule; the figures are those of the TriviaQA subset's card
    "bounds": "Values are the smallest and the largest possible ones; they are not confidence intervals.",
    "wrong": "They count as wrong, which added up to 0.036 to the error rates of seven language models on TriviaQA. "
    "The smallest and the largest possible value are in brackets.",
    "drop": "They are left out, although most such answers are wrong: this reduced the error rates of seven language "
    "models on TriviaQA to 0.29 to 0.70 of their values.",
}


class Unjudged(NamedTuple):
    """The answers of a submission on whose correctness there is no verdict.

    Attributes
    ----------
    rule : {"bounds", "wrong", "drop"}
        What is done with them.
    rows : ndarray of bool, shape (N,)
        Which of the submission's answers they are; none where they were dropped.
    share : float
        Of the (weighted) answers, before any were dropped.
    """

    rule: str
    rows: Bools
    share: float

    def note(self, count: int, total: int) -> Note:
        """Return what a reader must know: how many there are, and what the rule does to the numbers."""
        fact = f"{count} of {total} answers ({self.share:.1%} by weight) are unjudged."
        if abs(self.share - count / total) < 5e-4:
            fact = f"{count} of {total} answers ({self.share:.1%}) are unjudged."
        return Note("unjudged", fact, MEANING[self.rule])


def classes_in(
    sheet: Sheet, prediction: Sequence[str], reference: str, labels: Sequence[str] | None, path: str
) -> list[str] | None:
    """Return the names of the classes in the order of the posteriors, or None where labels are their numbers."""
    if labels is not None:
        return [label.strip() for label in labels]
    if len(prediction) > 1:
        return None if are_numbered(prediction) else [class_of(name) for name in prediction]
    column = sheet.frame[prediction[0]]
    by_class = classes_of(column.iloc[0])
    if by_class is not None:
        return sorted(by_class)
    cells = sheet.frame[reference]
    is_numeric = pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_bool_dtype(cells)
    if is_numeric or not pd.api.types.is_numeric_dtype(column):
        return None
    texts = sorted({as_text(value) for value in cells.dropna()})
    words = all(text.lower() in TRUTH for text in texts)
    return texts if len(texts) == 2 and not words and not all(map(is_number, texts)) else None


def hits(sheet: Sheet, label: str, predicted: str, path: str) -> tuple[Floats, tuple[Note, ...]]:
    """Return 1 where the predicted class is the true one and 0 where it is not, and nan without a true one; a note."""
    missing = sheet.frame[predicted].isna().to_numpy()
    if missing.any():
        row = int(sheet.rows[int(np.argmax(missing))])
        raise FileError(path, "has no value", column=predicted, row=row, count=int(missing.sum()), total=len(missing))
    cells = pd.concat([sheet.frame[label].astype(object), sheet.frame[predicted].astype(object)], ignore_index=True)
    codes, uniques = pd.factorize(cells)
    texts, _ = pd.factorize(np.array([as_text(value) for value in uniques], dtype=object))
    true, answer = np.split(np.append(texts, -1)[codes], 2)
    if not np.isin(true, answer).any():
        rule = f"has no class in common with column {predicted!r}"
        raise FileError(path, rule, column=label, value=sheet.frame[label].iloc[0])
    fact = f"An answer counts as correct where column {predicted!r} equals column {label!r}."
    return np.where(true < 0, np.nan, (true == answer).astype(np.float64)), (Note("predicted", fact),)


def unjudged_in(
    sheet: Sheet,
    truth: Floats,
    reference: str,
    weights: Sequence[str],
    path: str,
    rule: str | None,
    *,
    has_classes: bool,
) -> tuple[Unjudged | None, tuple[Note, ...]]:
    """Return which answers have no verdict and what is done with them, and a note that says so."""
    rows = np.isnan(truth)
    count = int(np.count_nonzero(rows))
    if not count:
        return None, ()
    if count == len(rows):
        raise FileError(path, "has no value at all", column=reference)
    if rule is None or (has_classes and rule != "drop"):
        first, advice = int(sheet.rows[rows][0]), "" if has_classes else FileAdvice.UNJUDGED
        raise FileError(path, "has no value", column=reference, row=first, count=count, total=len(rows), advice=advice)
    weight = column_of_numbers(sheet, weights[0], path) if weights else np.ones(len(rows))
    share = float(weight[rows].sum() / total) if (total := weight.sum()) > 0 else count / len(rows)
    unjudged = Unjudged(rule, rows if rule != "drop" else np.zeros(len(rows) - count, dtype=bool), share)
    return unjudged, (unjudged.note(count, len(rows)),)


def settled(sheet: Sheet, truth: Floats, rule: str) -> tuple[Sheet, Floats]:
    """Return the rows with the answers that have no verdict left out, or counted as wrong."""
    judged = ~np.isnan(truth)
    return (sheet.select(judged), truth[judged]) if rule == "drop" else (sheet, np.where(judged, truth, 0.0))


def truth_in(
    sheet: Sheet, reference: str, path: str, classes: Sequence[str] | None, correct_from: float | None
) -> Floats:
    """Return correctness, or numbers of classes if these are given; nan where there is none."""
    if classes is None:
        try:
            grades = column_of_numbers(sheet, reference, path, words=TRUTH)
            if correct_from is None:
                return grades
            return np.where(np.isnan(grades), np.nan, (grades >= correct_from).astype(np.float64))
        except FileError as error:
            if error.column == reference and reference.strip().lower() not in ("correct", "is_correct", "correctness"):
                error.advice = FileAdvice.SAY_LABELS
            raise
    values = sheet.frame[reference]
    codes, uniques = pd.factorize(values)
    index = {name: float(k) for k, name in enumerate(classes)}
    numbers: Floats = np.array([index.get(as_text(value), -1.0) for value in uniques] + [np.nan])[codes]
    wrong = numbers == -1
    if wrong.any():
        first = int(np.argmax(wrong))
        raise FileError(
            path,
            f"must be among the classes {', '.join(classes[:20])}",
            column=reference,
            row=int(sheet.rows[first]),
            value=values.iloc[first],
            count=int(np.count_nonzero(wrong)),
            total=len(wrong),
            advice=FileAdvice.SAY_LABELS,
        )
    return numbers


def note_first_class(labels: Ints, num_classes: int) -> tuple[Note, ...]:
    """Return a note if the labels may have been counted from 1 where the last class is never true."""
    occurs = np.bincount(labels, minlength=num_classes) > 0
    if num_classes < 3 or occurs[0] or not occurs[1:].all():
        return ()
    fact = f"Class 0 never occurs, and all other classes up to {num_classes - 1} do: are labels counted from 0?"
    return (Note("labels", fact),)

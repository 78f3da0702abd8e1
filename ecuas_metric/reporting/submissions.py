"""A file of confidences or posteriors -> submissions, one per system; columns are found by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..errors import Advice, InputError, Note
from ..inputs import (
    ROUNDED_SUM_TOLERANCE,
    Array,
    Bools,
    Floats,
    Ints,
    blocks,
    confidences,
    numbers,
    posteriors,
    stacked,
)
from ..integrations.runs import Part, RunOptions, columns_of, names_of, pooled, read_parts
from ..options import OPTIONS
from ..results import note_hard
from .columns import (
    FORMS,
    Columns,
    are_numbered,
    class_of,
    class_told,
    find_columns,
    form_of,
    system_of,
    text_columns,
    with_nested,
)
from .files import FileAdvice, FileError, Sheet, read_sheet
from .sources import stem
from .unjudged import RULES, Unjudged
from .values import TRUTH, as_ids, as_text, classes_of, column_of_numbers, row_of_numbers

OPTION_OF_ROLE = {"weight": "sample_weight", "group": "groups", "stratum": "strata"}
PARTLY = {Advice.PARTLY_CORRECT: FileAdvice.PARTLY_CORRECT, Advice.PERCENTAGES: FileAdvice.PERCENTAGES}
PARTLY[Advice.OTHER_SCALE] = FileAdvice.OTHER_SCALE  # what reading a file can do
MAX_SYSTEMS = 1000  # more is a column of something else


class Source(NamedTuple):
    """Where values come from: translates an error of the metric into the words of the file.

    Attributes
    ----------
    file : str
    columns : dict of str to str
        An argument or option of the metric, e.g. "predictions", to its column in the file.
    rows : ndarray of int
        The number of each row in the file.
    """

    file: str
    columns: Mapping[str, str]
    rows: Ints

    def error(self, error: InputError) -> FileError:
        """Return the error with file, column and row, as far as it is about them.

        Parameters
        ----------
        error : InputError

        Returns
        -------
        FileError
        """
        column, row = self.columns.get(error.argument), None
        if column is not None and error.index is not None:
            row = int(self.rows[error.index if isinstance(error.index, int) else error.index[0]])
        located = FileError(self.file, error.rule, column=column, row=row)
        vars(located).update(vars(error))
        located.advice = PARTLY.get(error.advice, error.advice)  # type: ignore[call-overload]
        return located


class Reading(NamedTuple):
    """How to read what is in the columns of a file, as `read_submissions` was told."""

    unjudged: str | None = None
    labels: Sequence[str] | None = None
    correct_from: float | None = None
    scale: float = 1


class Submission(NamedTuple):
    """The output of one system, as a file has it.

    Attributes
    ----------
    name, form : str
        The system's name; "confidences" or "posteriors".
    predictions, references : ndarray
        Checked by `inputs`, except for what depends on options.
    ids : pandas.Index or None
        What pairs its samples with those of other systems: whole numbers or text.
    per_sample : dict of str to list
        Columns of weights, groups and strata, under the names of the metric's options.
    notes : tuple of Note
        E.g. how many answers are unjudged.
    source : Source
        For errors.
    predictions_are : str or None
        What the names of its columns say they are, if they say it.
    unjudged : Unjudged or None
        Which answers nobody judged, if there are any; `references` has 0 there.
    of, part : str
        Where the role `part` or the tasks of a run make several of a system: the system's name, and the part's.
    """

    name: str
    form: str
    predictions: Array
    references: Array
    ids: pd.Index | None
    per_sample: Mapping[str, list[object]]
    notes: tuple[Note, ...]
    source: Source
    predictions_are: str | None = None
    unjudged: Unjudged | None = None
    of: str = ""
    part: str = ""


def read_submissions(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    unjudged: str | None = None,
    labels: Sequence[str] | None = None,
    run: RunOptions | None = None,
    correct_from: float | None = None,
    scale: float = 1,
) -> list[Submission]:
    """Read the systems of a file, or of a run of lm-eval, lighteval, Inspect, HELM or callm.

    Parameters
    ----------
    path : path
        CSV with commas, semicolons (decimal commas too) or tabs, JSON lines, JSON, Parquet, Arrow, .npz, .npy or Excel;
        also compressed, at an address that fsspec knows, or ``-`` for standard input. A run is a file or a folder, and
        recognised by its content.
    columns : mapping, optional
        The role of a column (a key of `NAMES`) to its name in the file, where its name does not say: a dotted name
        for what is nested. Several are joined by ``+``: names of systems, the posteriors of all classes, or the
        confidences of several systems.
    unjudged : {"bounds", "wrong", "drop"}, optional
        What becomes of answers whose correctness is missing, instead of an error: `make_report` bounds what depends
        on them, they count as wrong, or they are left out, which flatters nearly every system.
    labels : sequence of str, optional
        The names of all classes, in the order of the posteriors, where the columns do not have them.
    run : RunOptions, optional
        What a run leaves open: tasks, filter, the lengths that log-likelihoods are divided by.
    correct_from : float, optional
        Answers with this grade or a higher one are correct, others not; by default only 0 and 1 are taken.
    scale : float
        What confidences or probabilities of 1 are in the file, e.g. 100 for percentages without a sign.

    Returns
    -------
    list of Submission
        One for each model and task of a run; of another file one, named after it, or one for each value of the column
        of systems.

    Raises
    ------
    InputError
        If `columns` has an unknown role, or `unjudged` is no rule.
    FileError
        Names file, row and column of what cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.json")
    >>> _ = path.write_text('[{"confidence": 0.9, "correct": 1}, {"confidence": 0.4, "correct": 0}]')
    >>> [submission] = read_submissions(path)
    >>> submission.name, submission.form, submission.predictions.tolist()
    ('model', 'confidences', [0.9, 0.4])
    """
    told = Reading(unjudged, labels, correct_from, scale)
    of_run = read_run(path, columns=columns, run=run, told=told)
    if of_run is not None:
        return of_run
    sheet = read_sheet(path, text=text_columns(columns))
    return submissions_of(sheet, path, columns=columns, **told._asdict())


def read_run(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    run: RunOptions | None = None,
    told: Reading | None = None,
) -> list[Submission] | None:
    """Return the systems of a run, or None if it is none; see `read_submissions`."""
    given = columns or {}
    parts = read_parts(path, (run or RunOptions())._replace(confidence=given.get("confidence")))
    if parts is None:
        return None
    parts = _by(parts, given.get("part"), path)
    return [_of_part(part, name, told or Reading()) for part, name in zip(parts, names_of(parts), strict=True)]


def _by(parts: list[Part], by: str | None, path: str | Path) -> list[Part]:
    """Return the parts of a run as they are, one per task, or with the tasks of each model pooled."""
    if by not in (None, "task", "model"):
        raise FileError(path, "is a run, which has parts by task or by model", value=by, got=repr(by))
    return pooled(parts) if by == "model" else parts


def _of_part(part: Part, name: str, reading: Reading) -> Submission:
    """Return the system of a part of a run."""
    sheet = Sheet(part.frame.reset_index(drop=True), part.frame.index.to_numpy() + 1)
    columns = columns_of(part.frame)
    if "correct" not in columns:
        reading = reading._replace(correct_from=None, scale=1)
    (submission,) = submissions_of(sheet, part.path, columns=columns, **reading._replace(labels=None)._asdict())
    told = "log_probabilities" if submission.form == "posteriors" else None
    of_task = part.task if part.num_classes is None else f"{part.task}, {part.num_classes} choices"
    notes = (part.note, *submission.notes)
    return submission._replace(name=name, notes=notes, predictions_are=told, of=part.model, part=of_task)


def submissions_of(
    sheet: Sheet,
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    unjudged: str | None = None,
    labels: Sequence[str] | None = None,
    correct_from: float | None = None,
    scale: float = 1,
) -> list[Submission]:
    """Return the systems of a sheet.

    Parameters
    ----------
    sheet : Sheet
        Of `read_sheet`.
    path : path
        What it was read from: names a single system, and is named by errors.
    columns, unjudged, labels, correct_from, scale
        See `read_submissions`.

    Returns
    -------
    list of Submission

    Raises
    ------
    FileError
        See `read_submissions`.
    """
    given = columns or {}
    if unjudged is not None and unjudged not in RULES:
        raise InputError("unjudged", f"must be one of {', '.join(RULES)}", value=unjudged)
    if sheet.frame.empty:
        raise FileError(path, "the file has no rows")
    sheet = sheet._replace(frame=with_nested(sheet.frame, given))
    used = find_columns(sheet.frame, given, str(path))
    form = form_of(sheet.frame, used, given, str(path))
    if not scale > 0 or (correct_from is not None and form != "confidences"):
        name, rule = ("correct_from", "requires confidences") if scale > 0 else ("scale", "must be positive")
        raise InputError(name, rule, value=correct_from if scale > 0 else scale)
    told = Reading(unjudged, labels, correct_from, scale)
    systems = [name for name in used["system"] if name not in used["part"]]
    return [
        _submission(f"{of} {part}" if part else of, of_part, of_one, form, str(path), told)._replace(of=of, part=part)
        for name, of_system in _parts(sheet, systems, path)
        for of, of_one in _wide(name, used, form, str(path))
        for part, of_part in (_parts(of_system, used["part"], path) if used["part"] else [("", of_system)])
    ]


def _parts(sheet: Sheet, names: Sequence[str], path: str | Path) -> list[tuple[str, Sheet]]:
    """Return the rows of each system, by the columns of their names."""
    if not names:
        return [(stem(path), sheet)]
    systems = _systems(sheet, names, path)
    return [(name, _select(sheet, (systems == name).to_numpy())) for name in dict.fromkeys(systems)]


def _wide(name: str, used: Columns, form: str, path: str) -> list[tuple[str, Columns]]:
    """Return the columns of each system where several have columns of their own."""
    role, truth, *_ = FORMS[form]
    if len(used[role]) == 1 or form == "posteriors":
        return [(name, used)]
    truths = list(used[truth]) * (len(used[role]) if len(used[truth]) == 1 else 1)
    if len(truths) != len(used[role]):
        rule = f"there must be one column {truth} or as many as columns {role}"
        raise FileError(path, rule, value=len(truths), got=f"{len(truths)} and {len(used[role])}")
    prefix = f"{name} " if used["system"] else ""
    return [
        (prefix + system_of(column), {**used, role: [column], truth: [true]})
        for column, true in zip(used[role], truths, strict=True)
    ]


def _systems(sheet: Sheet, names: Sequence[str], path: str | Path) -> pd.Series:
    frame = sheet.frame
    for name in names:
        blank = (frame[name].isna() | (frame[name].astype(str).str.strip() == "")).to_numpy()
        if blank.any():
            row = int(sheet.rows[blank][0])
            raise FileError(path, "must name a system; it is empty", column=name, row=row)
    parts = frame[list(names)].astype(str)
    systems = parts.iloc[:, 0] if len(names) == 1 else parts.agg(" ".join, axis=1)
    if (count := systems.nunique()) > MAX_SYSTEMS:
        rule = f"must name at most {MAX_SYSTEMS:,} systems"
        raise FileError(path, rule, column="+".join(names), value=count, got=f"{count:,}")
    return systems


def _submission(name: str, sheet: Sheet, used: Columns, form: str, path: str, told: Reading) -> Submission:
    role, truth_role, *_ = FORMS[form]
    prediction, reference = _in_order(list(used[role]), told.labels), used[truth_role][0]
    has_classes = form in ("posteriors", "positive")
    classes = classes_in(sheet, prediction, reference, told.labels, path) if has_classes else None
    if form == "predicted":
        truth, notes = hits(sheet, reference, used["predicted"][0], path)
    else:
        truth, notes = _truth(sheet, reference, path, classes, told.correct_from), ()
    unjudged, noted = _unjudged(sheet, truth, reference, used["weight"], path, told.unjudged, has_classes=has_classes)
    if unjudged is not None:
        sheet, truth = _settled(sheet, truth, unjudged.rule)
    columns = {"predictions": _column_name(prediction), "references": reference}
    columns |= {"ids": used["id"][0]} if used["id"] else {}
    columns |= {option: used[role][0] for role, option in OPTION_OF_ROLE.items() if used[role]}
    source, notes = Source(path, columns, sheet.rows), notes + noted
    values = _predictions(sheet, prediction, path, share=told.scale == 1)
    try:
        values = values if told.scale == 1 else numbers(values, "predictions") / told.scale
    except InputError as error:
        raise source.error(error) from None
    if form == "positive":
        values, noted = _both_classes(values, prediction[0], source, classes, sheet.frame[reference])
        notes += noted
    try:
        predictions, references = (posteriors if has_classes else confidences)(values, truth)
    except InputError as error:
        raise source.error(error) from None
    ids = as_ids(sheet.frame[used["id"][0]]) if used["id"] else None
    per_sample = {option: sheet.frame[column].tolist() for option, column in columns.items() if option in OPTIONS}
    if used["weight"]:
        per_sample["sample_weight"] = column_of_numbers(sheet, used["weight"][0], path).tolist()
    are, said = _form_told(prediction, reference, predictions) if form == "posteriors" else (None, ())
    notes += said + (_note_first_class(references, predictions.shape[1]) if has_classes else ())
    kind = "posteriors" if has_classes else "confidences"
    return Submission(name, kind, predictions, references, ids, per_sample, notes, source, are, unjudged)


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
    is_number = pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_bool_dtype(cells)
    if is_number or not pd.api.types.is_numeric_dtype(column):
        return None
    texts = sorted({as_text(value) for value in cells.dropna()})
    words = all(text.lower() in TRUTH for text in texts)
    return texts if len(texts) == 2 and not words and not all(map(_is_number, texts)) else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _in_order(prediction: list[str], labels: Sequence[str] | None) -> list[str]:
    """Return columns that are named by classes in the order of the labels that were given."""
    by_class = {class_of(name): name for name in prediction}
    if labels is None or len(prediction) < 2 or set(by_class) != {label.strip() for label in labels}:
        return prediction
    return [by_class[label.strip()] for label in labels]


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


def _unjudged(
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


def _settled(sheet: Sheet, truth: Floats, rule: str) -> tuple[Sheet, Floats]:
    """Return the rows with the answers that have no verdict left out, or counted as wrong."""
    judged = ~np.isnan(truth)
    return (_select(sheet, judged), truth[judged]) if rule == "drop" else (sheet, np.where(judged, truth, 0.0))


def _truth(
    sheet: Sheet, reference: str, path: str, classes: Sequence[str] | None, correct_from: float | None
) -> Floats:
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


def _both_classes(
    values: Array | list[object], column: str, source: Source, classes: Sequence[str] | None, cells: pd.Series
) -> tuple[Array, tuple[Note, ...]]:
    """Return posteriors (N, 2) of the probabilities of one class, which must lie in [0, 1], and a note of which."""
    try:
        q = stacked(confidences(values, np.zeros(len(values)))[0])
    except InputError as error:
        raise source.error(error) from None
    told, names = class_told(column), list(classes or ["class 0", "class 1"])
    if classes is None:  # numbers, or words for them
        words = {} if pd.api.types.is_numeric_dtype(cells) else TRUTH
        first = told == "0" or words.get(told.lower()) == 0
    else:
        names, first = [f"class {name}" for name in classes], told == classes[0]
    of, reference = names[0 if first else 1], source.columns["references"]
    fact = f"Column {column!r} is read as the probability of {of}, column {reference!r} as the class."
    return q[:, ::-1] if first else q, (Note("positive", fact), *note_hard(q[:, 1], "probabilities"))


def _form_told(columns: Sequence[str], reference: str, values: Array) -> tuple[str | None, tuple[Note, ...]]:
    """Return that posteriors are logits where their name says so and they are no probabilities, and a note."""
    name = columns[0].strip().lower()
    if not (name.startswith("logit") or (name.startswith("predictions") and reference == "label_ids")):
        return None, ()
    in_range = ((values >= 0) & (values <= 1)).all()
    if in_range and (np.abs(values.sum(axis=1) - 1) <= ROUNDED_SUM_TOLERANCE).all():
        return None, ()
    fact = f"Column {_column_name(columns)!r} is read as logits."
    return "logits", (Note("logits", fact),)


def _note_first_class(labels: Ints, num_classes: int) -> tuple[Note, ...]:
    """Return a note if the labels may have been counted from 1 where the last class is never true."""
    occurs = np.bincount(labels, minlength=num_classes) > 0
    if num_classes < 3 or occurs[0] or not occurs[1:].all():
        return ()
    fact = f"Class 0 never occurs, and all other classes up to {num_classes - 1} do: are labels counted from 0?"
    return (Note("labels", fact),)


def _select(sheet: Sheet, rows: Bools) -> Sheet:
    return sheet._replace(frame=sheet.frame[rows], rows=sheet.rows[rows])


def _predictions(sheet: Sheet, columns: Sequence[str], path: str, *, share: bool) -> Array | list[object]:
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


def _column_name(columns: Sequence[str]) -> str:
    return f"{columns[0]}..{columns[-1]}" if len(columns) > 1 else columns[0]

"""A file of confidences or posteriors -> submissions, one per system; columns are found by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..errors import InputError, Note
from ..inputs import Array, Bools, Floats, Ints, confidences, posteriors
from ..options import OPTIONS
from .columns import Columns, find_columns, require_form, text_columns
from .files import FileAdvice, FileError, Sheet, read_sheet

OPTION_OF_ROLE = {"weight": "sample_weight", "group": "groups", "stratum": "strata"}
MAX_SYSTEMS = 1000  # more is a column of something else
TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "correct": 1.0, "incorrect": 0.0}


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
        return located


class Submission(NamedTuple):
    """The output of one system, as a file has it.

    Attributes
    ----------
    name, form : str
        The system's name; "confidences" or "posteriors".
    predictions, references : ndarray
        Checked by `inputs`, except for what depends on options.
    ids : list of str or None
        What pairs its samples with those of other systems.
    per_sample : dict of str to list
        Columns of weights, groups and strata, under the names of the metric's options.
    notes : tuple of Note
        E.g. how many answers without correctness were left out.
    source : Source
        For errors.
    """

    name: str
    form: str
    predictions: Array
    references: Array
    ids: list[str] | None
    per_sample: Mapping[str, list[object]]
    notes: tuple[Note, ...]
    source: Source


def read_submissions(
    path: str | Path, *, columns: Mapping[str, str] | None = None, drop_unjudged: bool = False
) -> list[Submission]:
    """Read the systems of a file.

    Parameters
    ----------
    path : path
        CSV with commas, semicolons (decimal commas too) or tabs, JSON lines, JSON or Parquet.
    columns : mapping, optional
        The role of a column (a key of `NAMES`) to its name in the file, where its name does not say. The column
        "system" may be several, joined by ``+``.
    drop_unjudged : bool
        Leave out answers whose correctness is missing, and count them, instead of raising an error.

    Returns
    -------
    list of Submission
        One, named after the file, or one for each value of the column of systems.

    Raises
    ------
    InputError
        If `columns` has an unknown role.
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
    sheet = read_sheet(path, text=text_columns(columns))
    return submissions_of(sheet, path, columns=columns, drop_unjudged=drop_unjudged)


def submissions_of(
    sheet: Sheet, path: str | Path, *, columns: Mapping[str, str] | None = None, drop_unjudged: bool = False
) -> list[Submission]:
    """Return the systems of a sheet.

    Parameters
    ----------
    sheet : Sheet
        Of `read_sheet`.
    path : path
        What it was read from: names a single system, and is named by errors.
    columns, drop_unjudged
        See `read_submissions`.

    Returns
    -------
    list of Submission

    Raises
    ------
    FileError
        See `read_submissions`.
    """
    path = Path(path)
    if sheet.frame.empty:
        raise FileError(path, "the file has no rows")
    used = find_columns(sheet.frame, columns or {}, str(path))
    require_form(sheet.frame, used, str(path))
    systems = _systems(sheet, used["system"], path)
    return [
        _submission(name, _select(sheet, (systems == name).to_numpy()), used, str(path), drop_unjudged)
        for name in dict.fromkeys(systems)
    ]


def _systems(sheet: Sheet, names: Sequence[str], path: Path) -> pd.Series:
    frame = sheet.frame
    if not names:
        return pd.Series(path.stem, index=frame.index)
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


def _submission(name: str, sheet: Sheet, used: Columns, path: str, drop_unjudged: bool) -> Submission:
    form = "confidences" if used["confidence"] and used["correct"] else "posteriors"
    roles = ("confidence", "correct") if form == "confidences" else ("posteriors", "label")
    prediction, (reference,) = used[roles[0]], used[roles[1]]
    sheet, truth, notes = _judged(sheet, reference, path, drop_unjudged)
    columns = {"predictions": _column_name(prediction), "references": reference}
    columns |= {option: used[role][0] for role, option in OPTION_OF_ROLE.items() if used[role]}
    source = Source(path, columns, sheet.rows)
    values = _predictions(sheet, prediction, path)
    try:
        predictions, references = (confidences if form == "confidences" else posteriors)(values, truth)
    except InputError as error:
        raise source.error(error) from None
    ids = [_as_text(value) for value in sheet.frame[used["id"][0]]] if used["id"] else None
    per_sample = {option: sheet.frame[column].tolist() for option, column in columns.items() if option in OPTIONS}
    if used["weight"]:
        per_sample["sample_weight"] = _numbers(sheet, used["weight"][0], path).tolist()
    return Submission(name, form, predictions, references, ids, per_sample, notes, source)


def _judged(sheet: Sheet, reference: str, path: str, drop_unjudged: bool) -> tuple[Sheet, Floats, tuple[Note, ...]]:
    """Return the rows that have a truth, the truths, and a note that counts the others."""
    truth = _numbers(sheet, reference, path, words=TRUTH)
    judged = ~np.isnan(truth)
    unjudged = int(np.count_nonzero(~judged))
    if unjudged and not drop_unjudged:
        raise FileError(
            path,
            "has no value",
            column=reference,
            row=int(sheet.rows[~judged][0]),
            count=unjudged,
            total=len(judged),
            advice=FileAdvice.DROP_UNJUDGED,
        )
    if not judged.any():
        raise FileError(path, "has no value at all", column=reference)
    notes = (Note("unjudged", f"{unjudged} unjudged answers left out."),) if unjudged else ()
    return _select(sheet, judged), truth[judged], notes


def _select(sheet: Sheet, rows: Bools) -> Sheet:
    return sheet._replace(frame=sheet.frame[rows], rows=sheet.rows[rows])


def _predictions(sheet: Sheet, columns: Sequence[str], path: str) -> Array | list[list[object]]:
    if len(columns) > 1:
        return np.column_stack([_numbers(sheet, name, path) for name in columns])
    values = sheet.frame[columns[0]]
    if isinstance(values.iloc[0], list | np.ndarray):
        return [list(np.atleast_1d(value)) for value in values]
    return _numbers(sheet, columns[0], path)


def _numbers(sheet: Sheet, column: str, path: str, *, words: Mapping[str, float] | None = None) -> Floats:
    """Return a column as float64, nan where empty; the given words stand for numbers."""
    values = sheet.frame[column]
    if values.dtype == object or pd.api.types.is_string_dtype(values):
        values = values.map(lambda value: _number(value, sheet.decimal_comma, words or {}))
    numbers: Floats = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.isnan(numbers) & values.notna().to_numpy()
    if wrong.any():
        first = int(np.argmax(wrong))
        raise FileError(
            path,
            "must hold numbers",
            column=column,
            row=int(sheet.rows[first]),
            value=sheet.frame[column].iloc[first],
            count=int(np.count_nonzero(wrong)),
            total=len(wrong),
        )
    return numbers


def _number(value: object, decimal_comma: bool, words: Mapping[str, float]) -> object:
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    return words.get(text, text.replace(",", ".") if decimal_comma else text)


def _as_text(value: object) -> str:
    """Return an id as the text that any kind of file has for it: 7 and 7.0 are "7"."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _column_name(columns: Sequence[str]) -> str:
    return f"{columns[0]}..{columns[-1]}" if len(columns) > 1 else columns[0]

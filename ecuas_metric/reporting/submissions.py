"""A file of confidences or posteriors -> checked arrays, one set a system; columns are found by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..inputs import Ints, confidences, posteriors
from .files import ENDINGS, File, read_frame

__all__ = ["ENDINGS", "NAMES", "Place", "Table", "find_columns", "read_frame", "read_tables"]

NAMES = {  # what a column is for -> the names it is known by, lower case
    "confidence": ("confidence", "confidences", "conf", "q_e"),
    "correct": ("correct", "is_correct", "correctness"),
    "label": ("label", "labels", "target", "true_label"),
    "posteriors": ("posteriors", "probabilities", "probs", "logits", "log_probabilities", "scores"),
    "system": ("system", "model"),
    "id": ("id", "question_id", "sample_id"),
    "weight": (),
    "group": (),
    "stratum": (),
}
ARE_TEXT = ("system", "id", "group", "stratum")
POSTERIOR_COLUMN = re.compile(r"(prob|p|probability|posterior|logit|score)_?(\d+)")
MAX_SYSTEMS = 1000  # more is a column of something else
TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "correct": 1.0, "incorrect": 0.0}


class Place(NamedTuple):
    """Where a table's values stand: translates an error of the metric into the words of the file.

    Attributes
    ----------
    file : str
    columns : dict of str to str
        What the metric calls a column, as "predictions", to its name in the file.
    rows : ndarray of int
        The number of each row in the file.
    """

    file: str
    columns: dict[str, str]
    rows: Ints

    def error(self, error: Exception) -> ValueError:
        """Return the error with column names for arguments and file rows for indices, if it is about a column."""
        text = str(error)
        names = "|".join(map(re.escape, self.columns))
        if match := re.match(rf"((?:each row of |rows of )?)({names})\b", text):
            fact, count, advice = text.partition(").")
            fact = f"{match[1]}column {self.columns[match[2]]!r}{fact[match.end() :]}"
            fact = re.sub(
                r"at index (?:\((\d+), \d+\)|(\d+))",
                lambda found: f"in row {self.rows[int(found[1] or found[2])]}",
                fact,
            )
            text = f"{fact}{count}{advice}"
        return ValueError(f"{self.file}: {text}")


class Table(NamedTuple):
    """The output of one system, as a file has it.

    Attributes
    ----------
    name, form : str
        The system's name; "confidences" or "posteriors".
    predictions, references : ndarray
        Checked by `inputs`, but for what depends on options.
    ids, weight, group, stratum : list or None
        Columns by name, one value a sample; ids are text.
    unjudged : int
        Answers without a verdict that were left out.
    where : Place
        Names file and columns in errors.
    """

    name: str
    form: str
    predictions: np.ndarray
    references: np.ndarray
    ids: list | None
    weight: list | None
    group: list | None
    stratum: list | None
    unjudged: int
    where: Place


def read_tables(
    path: str | Path, *, columns: Mapping[str, str] | None = None, drop_unjudged: bool = False
) -> list[Table]:
    """Read the systems of a file.

    Parameters
    ----------
    path : path
        CSV with commas, semicolons (decimal commas too) or tabs, JSON lines, JSON or Parquet.
    columns : mapping, optional
        What a column is for (a key of `NAMES`) to its name in the file, where `NAMES` does not tell. The column
        "system" may be several, joined by ``+``.
    drop_unjudged : bool
        Leave out answers whose correctness is missing, and count them, in place of an error.

    Returns
    -------
    list of Table
        One, named after the file, or one for each value of the column of systems.

    Raises
    ------
    ValueError
        Names file, row and column of what cannot be read.
    """
    path, given = Path(path), dict(columns or {})
    text = {name for key in ARE_TEXT for name in (*NAMES[key], *given.get(key, "").strip().lower().split("+"))}
    file = read_frame(path, text=text)
    if file.frame.empty:
        raise ValueError(f"{path}: the file has no rows.")
    used = find_columns(file.frame, given, str(path))
    _require_form(file.frame, used, str(path))
    systems = _systems(file, used["system"], path)
    return [
        _table(name, File(file.frame[mask], file.rows[mask], file.decimal_comma), used, str(path), drop_unjudged)
        for name, mask in ((name, (systems == name).to_numpy()) for name in dict.fromkeys(systems))
    ]


def find_columns(frame: pd.DataFrame, given: Mapping[str, str], file: str) -> dict[str, Any]:
    """Return for each key of `NAMES` the file's column, or None; for posteriors in columns their list.

    Raises
    ------
    ValueError
        If `given` (see `read_tables`) has an unknown key or a column that the frame does not have; if two columns
        are known by the name of one key; if columns of posteriors are not numbered from 0 without a gap.
    """
    unknown = [key for key in given if key not in NAMES]
    if unknown:
        raise ValueError(f"columns must be among {', '.join(NAMES)}; got {unknown[0]!r}.")
    by_name: dict[str, list[Any]] = {}
    for name in frame.columns:
        by_name.setdefault(str(name).strip().lower(), []).append(name)
    used: dict[str, Any] = {}
    for key, names in NAMES.items():
        if key in given:
            parts = given[key].split("+") if key == "system" else [given[key]]
            chosen = [_named(part, by_name, frame, file) for part in parts]
            used[key] = chosen if key == "system" else chosen[0]
        else:
            used[key] = _only([name for known in names for name in by_name.get(known, [])], key, file)
    if used["posteriors"] is None:
        used["posteriors"] = _posterior_columns(by_name, file)
    return used


def _named(part: str, by_name: Mapping[str, list[Any]], frame: pd.DataFrame, file: str) -> Any:
    if part in frame.columns:
        return part
    found = by_name.get(part.strip().lower(), [])
    if not found:
        raise ValueError(f"{file}: there is no column {part!r}; found {_listed(frame)}.")
    return _only(found, part, file)


def _only(found: list[Any], key: str, file: str) -> Any:
    if len(found) > 1:
        raise ValueError(
            f"{file}: columns {found[0]!r} and {found[1]!r} may both be the {key}. Say which with --columns, as "
            f"{key}={found[0]}."
        )
    return found[0] if found else None


def _posterior_columns(by_name: Mapping[str, list[Any]], file: str) -> list[Any] | None:
    numbered: dict[str, dict[int, Any]] = {}
    for name, columns in by_name.items():
        if match := POSTERIOR_COLUMN.fullmatch(name):
            numbered.setdefault(match[1], {})[int(match[2])] = columns[0]
    if len(numbered) > 1:
        both = [f"{prefix}_.." for prefix in numbered]
        raise ValueError(f"{file}: columns {both[0]} and {both[1]} may both be the posteriors. Keep one kind.")
    for prefix, by_number in numbered.items():
        ordered = [by_number[k] for k in sorted(by_number)]
        if sorted(by_number) != list(range(len(by_number))):
            raise ValueError(
                f"{file}: columns of posteriors must be numbered from 0 without a gap, {prefix}_0 to "
                f"{prefix}_{len(by_number) - 1}; found {', '.join(map(str, ordered[:20]))}."
            )
        return ordered
    return None


def _require_form(frame: pd.DataFrame, used: Mapping[str, Any], file: str) -> None:
    if (used["confidence"] is None or used["correct"] is None) and (
        used["label"] is None or used["posteriors"] is None
    ):
        raise ValueError(
            f"{file}: there must be columns confidence and correct, or label and prob_0, prob_1, ..; found "
            f"{_listed(frame)}. Name them with --columns, as confidence=NAME,correct=NAME."
        )


def _listed(frame: pd.DataFrame) -> str:
    names = [str(name) for name in frame.columns[:20]]
    return ", ".join(names) + (", .." if len(frame.columns) > 20 else "")


def _systems(file: File, column: Any, path: Path) -> pd.Series:
    frame = file.frame
    if column is None:
        return pd.Series(path.stem, index=frame.index)
    names = column if isinstance(column, list) else [column]
    for name in names:
        blank = (frame[name].isna() | (frame[name].astype(str).str.strip() == "")).to_numpy()
        if blank.any():
            raise ValueError(f"{path}: column {name!r} must name a system; it is empty in row {file.rows[blank][0]}.")
    parts = frame[names].astype(str)
    systems = parts.iloc[:, 0] if len(names) == 1 else parts.agg(" ".join, axis=1)
    if (count := systems.nunique()) > MAX_SYSTEMS:
        raise ValueError(f"{path}: column {column!r} must name at most {MAX_SYSTEMS:,} systems; got {count:,}.")
    return systems


def _table(name: str, file: File, used: dict[str, Any], path: str, drop_unjudged: bool) -> Table:
    form = "confidences" if used["confidence"] is not None and used["correct"] is not None else "posteriors"
    prediction, reference = (
        (used["confidence"], used["correct"]) if form == "confidences" else (used["posteriors"], used["label"])
    )
    truth = _numbers(file, reference, path, words=TRUTH)
    judged = ~np.isnan(truth)
    if not judged.all() and not drop_unjudged:
        raise ValueError(
            f"{path}: column {reference!r} has no value in row {file.rows[np.argmin(judged)]} "
            f"({np.count_nonzero(~judged)} of {len(judged)}). Leave such answers out with --drop-unjudged."
        )
    if not judged.any():
        raise ValueError(f"{path}: column {reference!r} has no value at all.")
    kept = File(file.frame[judged], file.rows[judged], file.decimal_comma)
    columns = {"predictions": _column_name(prediction), "references": str(reference)}
    options = {"sample_weight": "weight", "groups": "group", "strata": "stratum"}
    columns |= {argument: str(used[key]) for argument, key in options.items() if used[key] is not None}
    where = Place(path, columns, kept.rows)
    values = _predictions(kept, prediction, path)
    try:
        predictions, references = (confidences if form == "confidences" else posteriors)(values, truth[judged])
    except ValueError as error:
        raise where.error(error) from None
    ids = None if used["id"] is None else [_as_text(value) for value in kept.frame[used["id"]]]
    weight = None if used["weight"] is None else _numbers(kept, used["weight"], path).tolist()
    group, stratum = (None if used[key] is None else kept.frame[used[key]].tolist() for key in ("group", "stratum"))
    unjudged = int(np.count_nonzero(~judged))
    return Table(name, form, predictions, references, ids, weight, group, stratum, unjudged, where)


def _predictions(file: File, column: Any, path: str) -> Any:
    if isinstance(column, list):
        return np.column_stack([_numbers(file, name, path) for name in column])
    if isinstance(file.frame[column].iloc[0], list | np.ndarray):
        return [list(np.atleast_1d(value)) for value in file.frame[column]]
    return _numbers(file, column, path)


def _numbers(file: File, column: Any, path: str, *, words: Mapping[str, float] | None = None) -> np.ndarray:
    """Return a column as float64, nan where empty; the given words stand for numbers."""
    values = file.frame[column]
    if values.dtype == object or pd.api.types.is_string_dtype(values):
        values = values.map(lambda value: _number(value, file.decimal_comma, words or {}))
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.isnan(numbers) & values.notna().to_numpy()
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"{path}: column {str(column)!r} must hold numbers; got {file.frame[column].iloc[first]!r} in row "
            f"{file.rows[first]} ({np.count_nonzero(wrong)} of {len(wrong)})."
        )
    return numbers


def _number(value: Any, decimal_comma: bool, words: Mapping[str, float]) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    return words.get(text, text.replace(",", ".") if decimal_comma else text)


def _as_text(value: Any) -> str:
    """Return an id as the text that any kind of file has for it: 7 and 7.0 are "7"."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _column_name(column: Any) -> str:
    return f"{column[0]}..{column[-1]}" if isinstance(column, list) else str(column)

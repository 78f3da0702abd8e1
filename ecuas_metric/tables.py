"""A file of confidences or posteriors -> checked arrays, one set a system; columns are found by their names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .inputs import confidences, posteriors

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
POSTERIOR_COLUMN = re.compile(r"(?:prob|p|probability|posterior|logit|score)_?(\d+)")
TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "correct": 1.0, "incorrect": 0.0}
ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet")


class Table(NamedTuple):
    """The output of one system, as a file has it.

    Attributes
    ----------
    name, form : str
        The system's name; "confidences" or "posteriors".
    predictions, references : ndarray
        Checked by `inputs`, but for what depends on options.
    ids, weight, group, stratum : list or None
        Columns by name, one value a sample.
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


class Place(NamedTuple):
    """Where a table's values stand: translates an error of the metric into the words of the file."""

    file: str
    predictions: str
    references: str
    rows: list[int]

    def error(self, error: Exception) -> ValueError:
        """Return the error with column names for arguments and file rows for indices."""
        text = str(error)
        for argument, column in (("predictions", self.predictions), ("references", self.references)):
            text = re.sub(rf"\b{argument}\b(?!_)", f"column {column!r}", text)
        text = re.sub(r"at index \(?(\d+)(?:, \d+\))?", lambda match: f"in row {self.rows[int(match[1])]}", text)
        return ValueError(f"{self.file}: {text}")


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
    path = Path(path)
    frame, first_row = read_frame(path)
    frame = frame.reset_index(drop=True).dropna(how="all")  # blank lines; the others keep their numbers
    if frame.empty:
        raise ValueError(f"{path}: the file has no rows.")
    used = _find_columns(frame, columns or {}, str(path))
    rows = frame.index.to_numpy() + first_row
    systems = _systems(frame, used["system"], path.stem)
    return [
        _table(name, frame[mask], rows[mask], used, str(path), drop_unjudged)
        for name, mask in ((name, (systems == name).to_numpy()) for name in dict.fromkeys(systems))
    ]


def read_frame(path: Path) -> tuple[pd.DataFrame, int]:
    """Read a file as it is, and return the number its first row bears in an editor or a spreadsheet."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path}: the file must end in one of {', '.join(ENDINGS)}.")
    try:
        if ending == ".parquet":
            return pd.read_parquet(path), 1
        if ending in (".jsonl", ".ndjson"):
            return _read_json_lines(path), 1
        if ending == ".json":
            return pd.DataFrame(json.loads(_text(path))), 1
        return _read_csv(path), 2
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file.") from None
    except (ValueError, TypeError, OSError) as error:  # pandas, pyarrow and json raise these on malformed content
        reason = str(error).removeprefix(f"{path}: ").strip().split("\n")[0]
        raise ValueError(f"{path}: cannot be read as {ending[1:]}: {reason}") from None


def _read_csv(path: Path) -> pd.DataFrame:
    with path.open("rb") as file:
        head = file.readline().decode("utf-8-sig", errors="replace")
        second = file.readline().decode("utf-8", errors="replace")
    separator = max(";\t,", key=head.count)
    decimal = "," if separator == ";" and re.search(r"\d,\d", second) else "."
    return pd.read_csv(
        path,
        sep=separator,
        decimal=decimal,
        encoding="utf-8-sig",
        skipinitialspace=True,
        skip_blank_lines=False,
    )


def _read_json_lines(path: Path) -> pd.DataFrame:
    rows = []
    for number, line in enumerate(_text(path).splitlines(), 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"row {number} is not JSON: {error.msg}") from None
        if not isinstance(row, dict):
            raise ValueError(f"row {number} must be a JSON object; got {line[:40]}")
        rows.append(row)
    return pd.DataFrame(rows)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig")


def _find_columns(frame: pd.DataFrame, given: Mapping[str, str], file: str) -> dict[str, Any]:
    """Return for each key of `NAMES` the file's column, or None; for posteriors in columns their list."""
    unknown = [key for key in given if key not in NAMES]
    if unknown:
        raise ValueError(f"columns must be among {', '.join(NAMES)}; got {unknown[0]!r}.")
    by_name = {str(name).strip().lower(): name for name in frame.columns}
    used: dict[str, Any] = {
        key: next((by_name[name] for name in names if name in by_name), None) for key, names in NAMES.items()
    }
    for key, name in given.items():
        parts = name.split("+") if key == "system" else [name]
        for part in parts:
            if part.strip().lower() not in by_name:
                raise ValueError(f"{file}: there is no column {part!r}; found {_listed(frame)}.")
        used[key] = (
            [by_name[part.strip().lower()] for part in parts] if key == "system" else by_name[name.strip().lower()]
        )
    if used["posteriors"] is None:
        numbered = {int(match[1]): name for key, name in by_name.items() if (match := POSTERIOR_COLUMN.fullmatch(key))}
        used["posteriors"] = [numbered[k] for k in sorted(numbered)] or None
    if (used["confidence"] is None or used["correct"] is None) and (
        used["label"] is None or used["posteriors"] is None
    ):
        raise ValueError(
            f"{file}: there must be columns confidence and correct, or label and prob_0, prob_1, ..; found "
            f"{_listed(frame)}. Name them with --columns, as confidence=NAME,correct=NAME."
        )
    return used


def _listed(frame: pd.DataFrame) -> str:
    names = [str(name) for name in frame.columns[:20]]
    return ", ".join(names) + (", .." if len(frame.columns) > 20 else "")


def _systems(frame: pd.DataFrame, column: Any, stem: str) -> pd.Series:
    if column is None:
        return pd.Series(stem, index=frame.index)
    parts = frame[column if isinstance(column, list) else [column]].astype(str)
    return parts.iloc[:, 0] if parts.shape[1] == 1 else parts.agg(" ".join, axis=1)


def _table(
    name: str, frame: pd.DataFrame, rows: np.ndarray, used: dict[str, Any], file: str, drop_unjudged: bool
) -> Table:
    form = "confidences" if used["confidence"] is not None and used["correct"] is not None else "posteriors"
    prediction, reference = (
        (used["confidence"], used["correct"]) if form == "confidences" else (used["posteriors"], used["label"])
    )
    truth = _numbers(frame[reference], rows, file)
    judged = ~np.isnan(truth)
    if not judged.all() and not drop_unjudged:
        raise ValueError(
            f"{file}: column {reference!r} has no value in row {rows[np.argmin(judged)]} "
            f"({np.count_nonzero(~judged)} of {len(judged)}). Leave such answers out with --drop-unjudged."
        )
    if not judged.any():
        raise ValueError(f"{file}: column {reference!r} has no value at all.")
    kept, kept_rows = frame[judged], rows[judged]
    where = Place(file, _column_name(prediction), str(reference), kept_rows.tolist())
    check = confidences if form == "confidences" else posteriors
    try:
        predictions, references = check(_predictions(kept, prediction, kept_rows, file), truth[judged])
    except ValueError as error:
        raise (error if str(error).startswith(file) else where.error(error)) from None
    ids, weight, group, stratum = (_values(kept, used[key]) for key in ("id", "weight", "group", "stratum"))
    unjudged = int(np.count_nonzero(~judged))
    return Table(name, form, predictions, references, ids, weight, group, stratum, unjudged, where)


def _predictions(frame: pd.DataFrame, column: Any, rows: np.ndarray, file: str) -> Any:
    if isinstance(column, list):
        return np.column_stack([_numbers(frame[name], rows, file) for name in column])
    if frame[column].map(lambda value: isinstance(value, list | np.ndarray)).any():
        return [list(np.atleast_1d(value)) for value in frame[column]]
    return _numbers(frame[column], rows, file)


def _numbers(column: pd.Series, rows: np.ndarray, file: str) -> np.ndarray:
    """Return a column as float64, nan where empty; words for true and false are taken."""
    if column.dtype == object or pd.api.types.is_string_dtype(column):
        column = column.map(lambda value: TRUTH.get(value.strip().lower(), value) if isinstance(value, str) else value)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.isnan(values) & column.notna().to_numpy()
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"{file}: column {str(column.name)!r} must hold numbers; got {column.iloc[first]!r} in row {rows[first]} "
            f"({np.count_nonzero(wrong)} of {len(wrong)})."
        )
    return values


def _values(frame: pd.DataFrame, column: Any) -> list | None:
    return None if column is None else frame[column].tolist()


def _column_name(column: Any) -> str:
    return f"{column[0]}..{column[-1]}" if isinstance(column, list) else str(column)

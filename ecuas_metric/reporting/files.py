"""A file as spreadsheets, scripts and data frames write it -> a sheet whose rows know their place in the file."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..errors import InputError, Words
from ..inputs import Ints

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet")
MISSING = ["", "na", "n/a", "nan", "null", "none", "#n/a"]
MISSING += [text.upper() for text in MISSING[1:]] + ["NaN", "None", "Null"]


class FileAdvice(StrEnum):
    """What to do about an error in a file, in the words of Python; the command and the page have their own."""

    DROP_UNJUDGED = "Leave such answers out with drop_unjudged=True."
    NAME_COLUMNS = "Name them with columns, e.g. {'confidence': NAME, 'correct': NAME}."
    SAY_WHICH = "Say which with columns, e.g. {ROLE: NAME}."
    KEEP_ONE = "Keep one kind."
    SAVE_AS_UTF_8 = "Save it as UTF-8."


class FileError(InputError):
    """An input that cannot be used, in a file: the fields of `InputError`, and where it is there.

    Attributes
    ----------
    file : str
    column : str or None
        The column it is about, instead of the argument.
    row : int or None
        The row, instead of the index, as an editor or a spreadsheet numbers it.

    Examples
    --------
    >>> error = FileError("a.csv", "must hold numbers", column="p", row=3, value="much", count=1, total=2)
    >>> str(error)
    "a.csv: column 'p' must hold numbers; got 'much' in row 3 (1 of 2)."
    """

    def __init__(
        self,
        file: object,
        rule: str,
        *,
        argument: str = "",
        column: str | None = None,
        row: int | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(argument, rule, **fields)
        self.args = (str(file), rule)  # what pickle calls this with; the fields follow
        self.file, self.column, self.row = str(file), column, row

    def subject(self, words: Words) -> str:
        """Return file and column, or what else the error is about."""
        what = super().subject(words) if self.column is None else f"column {self.column!r}"
        return f"{self.file}: {what}" if what else f"{self.file}:"

    def place(self) -> str:
        """Return the row, with a leading space, or nothing."""
        return super().place() if self.row is None else f" in row {self.row}"


class Sheet(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    frame : DataFrame
        Its rows, except blank ones.
    rows : ndarray of int
        The number of each row in an editor or a spreadsheet.
    decimal_comma : bool
        Whether a comma in a number may be its decimal point, as where semicolons separate.
    """

    frame: pd.DataFrame
    rows: Ints
    decimal_comma: bool = False


def read_sheet(path: str | Path, *, text: Collection[str] = ()) -> Sheet:
    r"""Read a CSV (commas, semicolons, tabs), JSON lines, JSON or Parquet file.

    Parameters
    ----------
    path : path
    text : collection of str
        Names, in lower case, of columns that are kept as text, so that the id 001 does not become 1.

    Returns
    -------
    Sheet

    Raises
    ------
    FileError
        Names the file, and the row where there is one.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a.csv")
    >>> _ = path.write_text("confidence;correct\n0,9;1\n\n0,4;0\n")
    >>> sheet = read_sheet(path)
    >>> sheet.rows.tolist(), sheet.decimal_comma
    ([2, 4], True)
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FileError(path, f"the suffix must be one of {', '.join(SUFFIXES)}")
    try:
        if suffix == ".parquet":
            return _numbered(pd.read_parquet(path))
        if suffix in (".jsonl", ".ndjson"):
            return _read_json_lines(path)
        if suffix == ".json":
            return _numbered(_read_json(path))
        return _read_csv(path, text)
    except FileNotFoundError:
        raise FileError(path, "there is no such file") from None
    except UnicodeDecodeError:
        rule = f"cannot be read as {suffix[1:]}: it is not UTF-8 text"
        raise FileError(path, rule, advice=FileAdvice.SAVE_AS_UTF_8) from None
    except (ValueError, TypeError, OSError) as error:  # pandas, pyarrow and json raise these on malformed content
        reason = str(error).removeprefix(f"{path}: ").strip().split("\n")[0].rstrip(".")
        raise FileError(path, f"cannot be read as {suffix[1:]}: {reason}") from None


def _read_csv(path: Path, text: Collection[str]) -> Sheet:
    encoding = _encoding(path)
    with path.open(encoding=encoding, newline="") as file:
        header = file.readline()
        declared = re.fullmatch(r"sep=(.)\s*", header)  # a spreadsheet's own line
        header = file.readline() if declared else header
    separator = declared[1] if declared else max(";\t,", key=header.count)
    names = next(csv.reader([header], delimiter=separator, skipinitialspace=True), [])
    repeated = [name for name in names if name.strip() and names.count(name) > 1]
    if repeated:
        raise ValueError(f"columns must have different names; {repeated[0]!r} is repeated")
    # A column without a name, such as the index that pandas writes by default, is called "Unnamed: 0" by pandas.
    as_text = [name for name in names if name.strip() and name.strip().lower() in text]
    frame = pd.read_csv(
        path,
        sep=separator,
        encoding=encoding,
        skipinitialspace=True,
        skiprows=1 if declared else 0,
        skip_blank_lines=False,
        dtype=dict.fromkeys(as_text, str),
        keep_default_na=False,
        na_values={name: MISSING for name in names if name not in as_text},
    )
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes the first columns for an index
        raise ValueError("the rows have more cells than the header has names")
    first = 3 if declared else 2
    blank = frame.drop(columns=as_text).isna().all(axis=1)
    for name in as_text:
        blank &= frame[name].isna() | (frame[name] == "")
    rows = np.arange(len(frame)) + first
    return Sheet(frame[~blank].reset_index(drop=True), rows[~blank.to_numpy()], separator == ";")


def _read_json(path: Path) -> pd.DataFrame:
    value = json.loads(path.read_text(encoding=_encoding(path)))
    has_columns = isinstance(value, dict) and all(isinstance(column, list | dict) for column in value.values())
    has_rows = isinstance(value, list) and all(isinstance(row, dict) for row in value)
    if not has_columns and not has_rows:
        raise ValueError("it must be a list of objects, or an object of columns")
    return pd.DataFrame(value)


def _read_json_lines(path: Path) -> Sheet:
    rows, numbers = [], []
    # Not splitlines: the text of a language model may hold other characters that end lines.
    for number, line in enumerate(path.read_text(encoding=_encoding(path)).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"row {number} is not JSON: {error.msg}") from None
        if not isinstance(row, dict):
            raise ValueError(f"row {number} must be a JSON object; got {line[:40]}")
        rows.append(row)
        numbers.append(number)
    return Sheet(pd.DataFrame(rows), np.array(numbers, dtype=np.int64))


def _numbered(frame: pd.DataFrame) -> Sheet:
    return Sheet(frame.reset_index(drop=True).rename(columns=str), np.arange(len(frame)) + 1)


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"

"""A file as spreadsheets, scripts and data frames write it -> a data frame whose rows know their place in the file."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..inputs import Ints

ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet")
MISSING = ["", "na", "n/a", "nan", "null", "none", "#n/a"]
MISSING += [text.upper() for text in MISSING[1:]] + ["NaN", "None", "Null"]


class File(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    frame : DataFrame
        Its rows but for blank ones.
    rows : ndarray of int
        The number that each row bears in an editor or a spreadsheet.
    decimal_comma : bool
        Whether a comma in a number may be its decimal point, as where semicolons separate.
    """

    frame: pd.DataFrame
    rows: Ints
    decimal_comma: bool = False


def read_frame(path: str | Path, *, text: Collection[str] = ()) -> File:
    """Read a CSV (commas, semicolons, tabs), JSON lines, JSON or Parquet file.

    Parameters
    ----------
    path : path
    text : collection of str
        Names, in lower case, of columns that are kept as text, so that the id 001 does not become 1.

    Raises
    ------
    ValueError
        Names the file, and the row where there is one.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path}: the file must end in one of {', '.join(ENDINGS)}.")
    try:
        if ending == ".parquet":
            return _numbered(pd.read_parquet(path), 1)
        if ending in (".jsonl", ".ndjson"):
            return _read_json_lines(path)
        if ending == ".json":
            return _numbered(_read_json(path), 1)
        return _read_csv(path, text)
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: cannot be read as {ending[1:]}: it is not UTF-8 text. Save it as UTF-8.") from None
    except (ValueError, TypeError, OSError) as error:  # pandas, pyarrow and json raise these on malformed content
        reason = str(error).removeprefix(f"{path}: ").strip().split("\n")[0]
        raise ValueError(f"{path}: cannot be read as {ending[1:]}: {reason}") from None


def _read_csv(path: Path, text: Collection[str]) -> File:
    encoding = _encoding(path)
    with path.open(encoding=encoding, newline="") as file:
        head = file.readline()
        told = re.fullmatch(r"sep=(.)\s*", head)  # a spreadsheet's own line
        head = file.readline() if told else head
    separator = told[1] if told else max(";\t,", key=head.count)
    names = next(csv.reader([head], delimiter=separator, skipinitialspace=True), [])
    repeated = [name for name in names if name.strip() and names.count(name) > 1]
    if repeated:
        raise ValueError(f"columns must have different names; {repeated[0]!r} is repeated")
    # A column without a name, as the index that pandas writes by default, is called "Unnamed: 0" by pandas.
    as_text = [name for name in names if name.strip() and name.strip().lower() in text]
    frame = pd.read_csv(
        path,
        sep=separator,
        encoding=encoding,
        skipinitialspace=True,
        skiprows=1 if told else 0,
        skip_blank_lines=False,
        dtype=dict.fromkeys(as_text, str),
        keep_default_na=False,
        na_values={name: MISSING for name in names if name not in as_text},
    )
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes the first columns for an index
        raise ValueError("the rows have more cells than the head has names")
    first = 3 if told else 2
    blank = frame.drop(columns=as_text).isna().all(axis=1)
    for name in as_text:
        blank &= frame[name].isna() | (frame[name] == "")
    rows = np.arange(len(frame)) + first
    return File(frame[~blank].reset_index(drop=True), rows[~blank.to_numpy()], separator == ";")


def _read_json(path: Path) -> pd.DataFrame:
    value = json.loads(path.read_text(encoding=_encoding(path)))
    has_columns = isinstance(value, dict) and all(isinstance(column, list | dict) for column in value.values())
    has_rows = isinstance(value, list) and all(isinstance(row, dict) for row in value)
    if not has_columns and not has_rows:
        raise ValueError("it must be a list of objects, or an object of columns")
    return pd.DataFrame(value)


def _read_json_lines(path: Path) -> File:
    rows, numbers = [], []
    # Not splitlines: a language model's text may hold other characters that end lines.
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
    return File(pd.DataFrame(rows), np.array(numbers, dtype=np.int64))


def _numbered(frame: pd.DataFrame, first: int) -> File:
    return File(frame.reset_index(drop=True), np.arange(len(frame)) + first)


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"

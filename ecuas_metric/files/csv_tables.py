"""CSV as spreadsheets, scripts and R write it -> a data frame and the line of each row."""

from __future__ import annotations

import csv
import io
import mmap
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..inputs import Ints
from .sources import Readable, encoding_of, opened

SEPARATORS = ";\t,|"
MORE_CELLS = "the rows have more cells than the header has names"
MISSING = ["", "\\N", "-", "--", "\N{EN DASH}", "\N{EM DASH}", "na", "n/a", "nan", "null", "none", "#n/a"]
MISSING += [text.upper() for text in MISSING[6:]] + ["NaN", "None", "Null"]


def table_of_csv(source: Readable, text: Collection[str]) -> tuple[pd.DataFrame, Ints, bool]:
    """Return the rows, except blank ones, their line numbers, and whether numbers may have a decimal comma.

    Parameters
    ----------
    source : path or BytesIO
    text : collection of str
        Names, in lower case, of columns that are kept as text.

    Returns
    -------
    tuple of DataFrame, ndarray of int, bool

    Raises
    ------
    ValueError
        If names of columns repeat, or rows have more cells than the header.
    UnicodeDecodeError
        If it is neither UTF-8 nor UTF-16.
    """
    encoding = encoding_of(source)
    names, before, separator, is_told = _header(source, encoding)
    if not names:
        return pd.DataFrame(), np.arange(0), False
    require_distinct(names)  # pandas would number them
    # A column without a name, such as the index that pandas writes by default, is called "Unnamed: 0" by pandas.
    as_text = [name for name in names if name.strip() and name.strip().lower() in text]
    with (
        nullcontext(source) if isinstance(source, Path) else opened(source) as file,
        warnings.catch_warnings(action="error", category=pd.errors.ParserWarning),
    ):
        try:
            frame = pd.read_csv(
                file,
                sep=separator,
                encoding="utf-8" if encoding == "utf-8-sig" else encoding,  # the parser skips the mark, and faster
                index_col=False,  # else pandas takes the first of too many cells for an index
                skipinitialspace=_holds_spaces(source),  # which costs a third more
                skiprows=before if is_told else before - 1,
                skip_blank_lines=False,
                dtype=dict.fromkeys(as_text, pd.ArrowDtype(pa.string())),  # five times faster than str
                keep_default_na=False,
                na_values={name: MISSING for name in names if name not in as_text},
                **({"header": None, "names": names} if is_told else {}),
            )
        except pd.errors.ParserWarning:
            raise ValueError(MORE_CELLS) from None
    rows, blank = np.arange(before + 1, before + 1 + len(frame)), np.ones(len(frame), dtype=np.bool_)
    for name in sorted(frame.columns, key=as_text.__contains__):  # text takes longer
        cells = frame[name]
        blank &= np.asarray(cells.isna() | (cells == "") if name in as_text else cells.isna(), dtype=np.bool_)
        if not blank.any():
            break
    if blank.any():
        frame, rows = frame[~blank].reset_index(drop=True), rows[~blank]
    return frame, rows, separator == ";"


def require_distinct(names: Iterable[str]) -> None:
    """Raise ValueError if columns have the same name.

    Parameters
    ----------
    names : iterable of str
        A column without a name may occur several times.

    Raises
    ------
    ValueError
        Names the first.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if repeated:
        raise ValueError(f"columns must have different names; {repeated[0]!r} is repeated")


def _holds_spaces(source: Readable) -> bool:
    if isinstance(source, io.BytesIO):
        return b" " in source.getvalue()
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b" ") >= 0


class Header(NamedTuple):
    """The names of columns, how many lines are before the rows, the separator, and whether to tell pandas the names."""

    names: list[str]
    before: int
    separator: str
    is_told: bool = False


def _header(source: Readable, encoding: str) -> Header:
    with opened(source) as file:
        lines = io.TextIOWrapper(file, encoding=encoding, newline="")
        line, before = lines.readline(), 1
        while line and not line.strip():
            line, before = lines.readline(), before + 1
        declared = re.fullmatch(r"sep=(.)\s*", line)  # a spreadsheet's own line
        if declared:
            line, before = lines.readline(), before + 1
        while line.startswith("#"):
            following = lines.readline()
            separator = _separator(following)
            names, cells = _cells(line[1:], separator), _cells(following, separator)
            if len(names) == len(cells) > 1 and any(map(is_number, cells)):  # names, as NumPy's savetxt writes them
                lines.detach()
                return Header(names, before, separator, is_told=True)
            if not following:
                break
            line, before = following, before + 1  # a comment
        following = lines.readline()
        lines.detach()
    separator = declared[1] if declared else _separator(line)
    names, cells = _cells(line, separator), _cells(following, separator)
    if len(cells) <= len(names):
        return Header(names, before, separator)
    if len(cells) == len(names) + 1 and separator in ("\t", r"\s+") and cells[-1]:  # names of rows, as R writes them
        return Header(["Unnamed: 0", *names], before, separator, is_told=True)
    raise ValueError(MORE_CELLS)


def _separator(line: str) -> str:
    if any(separator in line for separator in SEPARATORS):
        return max(SEPARATORS, key=line.count)
    return r"\s+" if len(line.split()) > 1 else ","


def _cells(line: str, separator: str) -> list[str]:
    line, delimiter = (line.strip(), " ") if separator == r"\s+" else (line, separator)
    return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])


def is_number(text: str) -> bool:
    """Return whether Python reads the text as a number.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool
    """
    try:
        float(text)
    except ValueError:
        return False
    return True

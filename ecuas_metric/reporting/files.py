"""A file as spreadsheets, scripts and data frames write it -> a sheet whose rows know their place in the file."""

from __future__ import annotations

import csv
import io
import json
import mmap
import re
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..errors import InputError, Words
from ..inputs import Array, Ints
from .sources import DECOMPRESSORS, TEXT, content_of, opened

SUFFIXES = (*TEXT, ".parquet")  # what a page may take; `READERS` has all
SEPARATORS = ";\t,"
Source = Path | io.BytesIO
MISSING = ["", "-", "--", "\N{EN DASH}", "\N{EM DASH}", "na", "n/a", "nan", "null", "none", "#n/a"]
MISSING += [text.upper() for text in MISSING[5:]] + ["NaN", "None", "Null"]


class FileAdvice(StrEnum):
    """What to do about an error in a file, in the words of Python; the command and the page have their own."""

    UNJUDGED = "Judge them, count them as wrong with unjudged='wrong', or get bounds with unjudged='bounds'."
    NAME_COLUMNS = (
        "Name them with columns: {'confidence': NAME, 'correct': NAME}, {'label': NAME, 'posteriors': 'A+B'} with all "
        "classes, or {'label': NAME, 'positive': NAME} with the probability of class 1."
    )
    COMMON = "Keep the common ones with in_common."
    BY_POSITION = "Give ids to all, or to none to pair them by their rows."
    NAME_HEADER = "The first row must be names of columns, e.g. confidence,correct."
    NAME_FILE = "Name it by what it holds: .csv, .jsonl, .."
    SAY_WHICH = "Say which with columns, e.g. {ROLE: NAME}."
    SAY_LABELS = "Names of classes? Pass labels, a list of all in the order of the posteriors."
    EMPTY_CELL = "No number? Leave the cell empty."
    WORDS_OF_TRUTH = "Correct or not? Write 1 or 0, and leave the cell empty where nobody judged."
    NO_POSTERIORS = "Keep the columns of all classes, or name what there is: {'posteriors': 'A+B'}, {'positive': NAME}."
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
    r"""Read a CSV (commas, semicolons, tabs), JSON lines, JSON, Parquet, Arrow, NumPy or Excel file.

    Parameters
    ----------
    path : path
        Also compressed by gzip, bzip2, xz or zstd; an address that fsspec knows; or ``-``, standard input.
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
    try:
        source, suffix = content_of(path)
        if suffix not in READERS:
            raise FileError(path, f"the suffix must be one of {', '.join(READERS)}")
        sheet = READERS[suffix](source, text)
        _require_distinct(sheet.frame)
        return sheet
    except (FileError, MemoryError):
        raise
    except FileNotFoundError:
        raise FileError(path, "there is no such file") from None
    except RecursionError:
        raise FileError(path, f"cannot be read as {suffix_of(path)}: the JSON is nested too deeply") from None
    except IsADirectoryError:
        raise FileError(path, "is a folder, not a file") from None
    except UnicodeDecodeError:
        rule = f"cannot be read as {suffix_of(path)}: it is not UTF-8 text"
        raise FileError(path, rule, advice=FileAdvice.SAVE_AS_UTF_8) from None
    except ImportError as error:
        raise FileError(path, f"cannot be read: {str(error).rstrip('.')}") from None
    except Exception as error:  # what parsers raise on broken content is beyond listing
        reason = str(error).removeprefix(f"{path}: ").strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise FileError(path, f"cannot be read as {suffix_of(path)}: {reason}") from None


def suffix_of(path: str | Path) -> str:
    """Return the format that a name says, for errors: "csv" of "a.csv.gz"."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix.lower() not in DECOMPRESSORS]
    return suffixes[-1][1:].lower() if suffixes else "a table"


def _require_distinct(frame: pd.DataFrame) -> None:
    names = [str(name) for name in frame.columns]
    repeated = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if repeated:
        raise ValueError(f"columns must have different names; {repeated[0]!r} is repeated")


def _read_csv(source: Source, text: Collection[str]) -> Sheet:
    encoding = _encoding(source)
    header, skipped, separator = _header(source, encoding)
    if not header:
        return Sheet(pd.DataFrame(), np.arange(0))
    names = next(csv.reader([header], delimiter=separator, skipinitialspace=True), [])
    repeated = [name for name in names if name.strip() and names.count(name) > 1]
    if repeated:
        raise ValueError(f"columns must have different names; {repeated[0]!r} is repeated")
    # A column without a name, such as the index that pandas writes by default, is called "Unnamed: 0" by pandas.
    as_text = [name for name in names if name.strip() and name.strip().lower() in text]
    with nullcontext(source) if isinstance(source, Path) else opened(source) as file:
        frame = pd.read_csv(
            file,
            sep=separator,
            encoding="utf-8" if encoding == "utf-8-sig" else encoding,  # the parser itself skips the mark, and faster
            skipinitialspace=_holds_spaces(source),  # which costs a third more
            skiprows=skipped,
            skip_blank_lines=False,
            dtype=dict.fromkeys(as_text, pd.ArrowDtype(pa.string())),  # five times faster than str
            keep_default_na=False,
            na_values={name: MISSING for name in names if name not in as_text},
        )
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes the first columns for an index
        raise ValueError("the rows have more cells than the header has names")
    first = skipped + 2
    rows = np.arange(len(frame)) + first
    blank = pd.Series(True, index=frame.index)
    for name in sorted(frame.columns, key=as_text.__contains__):  # text takes longer
        blank &= frame[name].isna() | (frame[name] == "") if name in as_text else frame[name].isna()
        if not blank.any():
            break
    if blank.any():
        frame, rows = frame[~blank].reset_index(drop=True), rows[~blank.to_numpy()]
    return Sheet(frame, rows, separator == ";")


def _holds_spaces(source: Source) -> bool:
    if isinstance(source, io.BytesIO):
        return b" " in source.getvalue()
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b" ") >= 0


def _header(source: Source, encoding: str) -> tuple[str, int, str]:
    """Return the line of names, how many lines are before it, and the separator."""
    with opened(source) as file:
        lines = io.TextIOWrapper(file, encoding=encoding, newline="")
        header, skipped = lines.readline(), 0
        declared = re.fullmatch(r"sep=(.)\s*", header)  # a spreadsheet's own line
        if declared:
            header, skipped = lines.readline(), 1
        while header.startswith("#") and not any(separator in header for separator in SEPARATORS):  # a comment
            header, skipped = lines.readline(), skipped + 1
        lines.detach()
    return header, skipped, declared[1] if declared else max(SEPARATORS, key=header.count)


def _read_json(source: Source, text: Collection[str]) -> Sheet:
    value = json.loads(_text(source))
    has_columns = isinstance(value, dict) and all(isinstance(column, list | dict) for column in value.values())
    has_rows = isinstance(value, list) and all(isinstance(row, dict) for row in value)
    if not has_columns and not has_rows:
        raise ValueError("it must be a list of objects, or an object of columns")
    if has_columns and len({len(column) for column in value.values()}) > 1:
        raise ValueError("its columns must have the same length")
    return _numbered(pd.DataFrame(value))


def _read_json_lines(source: Source, text: Collection[str]) -> Sheet:
    rows: list[dict[str, object]] = []
    numbers = []
    content = _text(source)
    # Not splitlines: the text of a language model may hold other characters that end lines.
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            if not rows and (objects := _json_rows(content)) is not None:  # JSON that was called JSON lines
                return objects
            raise ValueError(f"row {number} is not JSON: {error.msg}") from None
        if not isinstance(row, dict):
            raise ValueError(f"row {number} must be a JSON object; got {line[:40]}")
        rows.append(row)
        numbers.append(number)
    return Sheet(pd.DataFrame(rows), np.array(numbers, dtype=np.int64))


def _json_rows(content: str) -> Sheet | None:
    """Return the objects of a JSON list, or of objects that span several lines each."""
    decoder, position = json.JSONDecoder(), 0
    rows: list[object] = []
    try:
        while position < len(content.rstrip()):
            value, position = decoder.raw_decode(content, position)
            rows += value if isinstance(value, list) else [value]
            while position < len(content) and content[position].isspace():
                position += 1
    except ValueError:
        return None
    return _numbered(pd.DataFrame(rows)) if rows and all(isinstance(row, dict) for row in rows) else None


def _read_numpy(source: Source, text: Collection[str]) -> Sheet:
    with opened(source) as file:
        loaded = np.load(file, allow_pickle=False)
        arrays = dict(loaded) if isinstance(loaded, np.lib.npyio.NpzFile) else {"": loaded}
    if "" in arrays and arrays[""].dtype.names is None:
        raise ValueError("one array has no labels; save both with numpy.savez(FILE, y_true=..., y_prob=...)")
    if "" in arrays:
        arrays = {name: arrays[""][name] for name in arrays[""].dtype.names or ()}
    columns: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.ndim == 1:
            columns[name] = array
        elif array.ndim == 2:
            columns |= {f"{name}_{k}": array[:, k] for k in range(array.shape[1])}
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError("its arrays must have the same length")
    return _numbered(pd.DataFrame(columns))


def _read_parquet(source: Source, text: Collection[str]) -> Sheet:
    with opened(source) as file:
        return _numbered(pd.read_parquet(file))


def _read_arrow(source: Source, text: Collection[str]) -> Sheet:
    with opened(source) as file:
        try:
            table = pa.ipc.open_file(file).read_all()
        except pa.ArrowInvalid:  # a stream, as `datasets` writes it
            file.seek(0)
            table = pa.ipc.open_stream(file).read_all()
        return _numbered(table.to_pandas())


def _read_excel(source: Source, text: Collection[str]) -> Sheet:
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise ImportError("Excel files need openpyxl: pip install 'ecuas-metric[excel]'") from None
    with opened(source) as file:
        frame = pd.read_excel(file, engine="openpyxl").rename(columns=str)
    sheet = _numbered(frame)
    return sheet._replace(rows=sheet.rows + 1)


def _numbered(frame: pd.DataFrame) -> Sheet:
    return Sheet(frame.reset_index(drop=True).rename(columns=str), np.arange(len(frame)) + 1)


def _text(source: Source) -> str:
    with opened(source) as file:
        return file.read().decode(_encoding(source))


def _encoding(source: Source) -> str:
    with opened(source) as file:
        encoding = "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        file.seek(0)
        return encoding


READERS: dict[str, Callable[[Source, Collection[str]], Sheet]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), _read_csv),
    **dict.fromkeys((".jsonl", ".ndjson"), _read_json_lines),
    ".json": _read_json,
    ".parquet": _read_parquet,
    **dict.fromkeys((".npz", ".npy"), _read_numpy),
    **dict.fromkeys((".arrow", ".feather"), _read_arrow),
    ".xlsx": _read_excel,
}

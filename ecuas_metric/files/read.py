"""A file as spreadsheets, scripts and data frames write it -> a sheet whose rows know their place in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..errors import FileAdvice, FileError, missing_package
from ..inputs import Array, Bools, Ints
from .csv_tables import require_distinct, table_of_csv
from .json_tables import rows_of_lines, table_of_json
from .sources import DECOMPRESSORS, TEXT, Readable, content_of, encoding_of, opened, sniffed

SUFFIXES = (*TEXT, ".parquet")  # what a page may take; `READERS` has all
PART = re.compile(r"(part-\d{5}.*|data-\d{5}-of-\d{5}.*|data_\d+.*)")  # of Spark, `datasets` and DuckDB


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

    def select(self, rows: Bools) -> Sheet:
        """Return the rows where it is true.

        Parameters
        ----------
        rows : ndarray of bool

        Returns
        -------
        Sheet
        """
        return self._replace(frame=self.frame[rows], rows=self.rows[rows])


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
    if Path(path).is_dir():
        return _read_parts(Path(path), text)
    suffix = ""
    try:
        source, suffix = content_of(path)
        with opened(source) as file:
            if not file.read(1):
                return Sheet(pd.DataFrame(), np.arange(0))
        if suffix not in READERS:
            raise FileError(path, f"the suffix must be one of {', '.join(READERS)}")
        sheet = READERS[suffix](source, text)
        require_distinct(map(str, sheet.frame.columns))
        return sheet
    except (FileError, MemoryError):
        raise
    except FileNotFoundError:
        raise FileError(path, "there is no such file") from None
    except RecursionError:
        raise FileError(path, f"cannot be read as {suffix_of(path)}: the JSON is nested too deeply") from None
    except UnicodeDecodeError:
        rule = f"cannot be read as {suffix_of(path)}: it is not UTF-8 text"
        raise FileError(path, rule, advice=FileAdvice.SAVE_AS_UTF_8) from None
    except ImportError as error:
        raise FileError(path, f"cannot be read: {str(error).rstrip('.')}") from None
    except Exception as error:  # what parsers raise on broken content is beyond listing
        reason = str(error).removeprefix(f"{path}: ").strip().split("\n")[0].rstrip(".") or type(error).__name__
        is_text = "json" in suffix and sniffed(source) == ".csv"
        advice = FileAdvice.NAME_FILE if is_text else ""
        raise FileError(path, f"cannot be read as {suffix_of(path)}: {reason}", advice=advice) from None


def suffix_of(path: str | Path) -> str:
    """Return the format that a name says, for errors: "csv" of "a.csv.gz"."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix.lower() not in DECOMPRESSORS]
    return suffixes[-1][1:].lower() if suffixes else "a table"


def _read_parts(folder: Path, text: Collection[str]) -> Sheet:
    """Read the files that together are one table; rows are counted through all of them."""
    parts = sorted(path for path in folder.iterdir() if PART.fullmatch(path.name))
    if not parts:
        raise FileError(folder, "is a folder, and not of the parts of one table", advice=FileAdvice.NAME_ITS_FILES)
    frames = [frame for frame in (read_sheet(part, text=text).frame for part in parts) if not frame.empty]
    for part, frame in zip(parts, frames, strict=False):
        if list(frame.columns) != list(frames[0].columns):
            raise FileError(folder, f"its parts must have the same columns; {part.name} has others")
    return _numbered(pd.concat(frames, ignore_index=True) if frames else pd.DataFrame())


def _read_csv(source: Readable, text: Collection[str]) -> Sheet:
    return Sheet(*table_of_csv(source, text))


def _read_json(source: Readable, text: Collection[str]) -> Sheet:
    return _numbered(table_of_json(_text(source)))


def _read_json_lines(source: Readable, text: Collection[str]) -> Sheet:
    return Sheet(*rows_of_lines(_text(source)))


def _read_numpy(source: Readable, text: Collection[str]) -> Sheet:
    with opened(source) as file:
        loaded = np.load(file, allow_pickle=False)
        arrays = dict(loaded) if isinstance(loaded, np.lib.npyio.NpzFile) else {"": loaded}
    if "" in arrays and arrays[""].dtype.names is None:
        raise ValueError("one array has no labels; save both with numpy.savez(FILE, y_true=..., y_prob=...)")
    if "" in arrays:
        arrays = {name: arrays[""][name] for name in arrays[""].dtype.names or ()}
    columns: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
            columns[name] = array.ravel()
        elif array.ndim == 2:
            columns |= {f"{name}_{k}": array[:, k] for k in range(array.shape[1])}
    if len(lengths := {len(column): name for name, column in columns.items()}) > 1:
        (size, name), (other_size, other), *_ = lengths.items()
        raise ValueError(f"its arrays must have the same length; {name} has {size} and {other} has {other_size}")
    return _numbered(pd.DataFrame(columns))


def _read_parquet(source: Readable, text: Collection[str]) -> Sheet:
    with opened(source) as file:
        return _numbered(pd.read_parquet(file))


def _read_arrow(source: Readable, text: Collection[str]) -> Sheet:
    with opened(source) as file:
        try:
            table = pa.ipc.open_file(file).read_all()
        except pa.ArrowInvalid:  # a stream, as `datasets` writes it
            file.seek(0)
            table = pa.ipc.open_stream(file).read_all()
        return _numbered(table.to_pandas())


def _read_excel(source: Readable, text: Collection[str]) -> Sheet:
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise missing_package("Excel files need", "openpyxl") from None
    with opened(source) as file:
        sheets = pd.read_excel(file, engine="openpyxl", sheet_name=None)
    filled = {name: frame for name, frame in sheets.items() if not frame.empty}
    if len(filled) > 1:
        raise ValueError(f"it has several sheets: {', '.join(filled)}; save the one that you mean as a file of its own")
    sheet = _numbered(next(iter(filled.values()), pd.DataFrame()))
    return sheet._replace(rows=sheet.rows + 1)


def _numbered(frame: pd.DataFrame) -> Sheet:
    return Sheet(frame.reset_index(drop=True).rename(columns=str), np.arange(len(frame)) + 1)


def _text(source: Readable) -> str:
    with opened(source) as file:
        return file.read().decode(encoding_of(source))


READERS: dict[str, Callable[[Readable, Collection[str]], Sheet]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), _read_csv),
    **dict.fromkeys((".jsonl", ".ndjson"), _read_json_lines),
    ".json": _read_json,
    ".parquet": _read_parquet,
    **dict.fromkeys((".npz", ".npy"), _read_numpy),
    **dict.fromkeys((".arrow", ".feather"), _read_arrow),
    ".xlsx": _read_excel,
}

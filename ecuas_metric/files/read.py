"""A path, an address or standard input -> a sheet, which keeps the number of each row in the file. Without pandas."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import stat
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, zip_longest
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, InputError, missing_package_error
from ..inputs import Array, Bools, Ints, blocks
from .values import (
    TEXT,
    UNNAMED,
    Sheet,
    are_null,
    as_text,
    encode,
    fields_of_objects,
    from_numpy,
    from_texts,
    from_values,
    is_numeric,
    join_rows,
    make_selectable,
    plain,
    to_floats,
)

STANDARD_INPUT = "-"
COPIES = "copies"  # in the place of row numbers to skip: all rows that repeat an earlier one
_TEXTS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")
TABLE_SUFFIXES = (*_TEXTS, ".parquet")  # formats that a page offers; `_READERS` has all
_COMPRESSED = (".gz", ".zst", ".zip")
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # by how a file begins
_MAGIC = 4  # bytes that tell a compression
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_FORMATS = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrow"}
_OTHER_ENCODING = "cp1252"  # of Windows in western Europe and America
_READ_AS_OTHER = ("letters beyond ASCII", "read as Windows-1252")
_REASONS = {
    RecursionError: "the JSON is nested too deeply",
    UnicodeDecodeError: "it is not UTF-8 text",
}
# names of the numbered parts of a table, as Spark, Dask, PyArrow, DuckDB, `datasets` and BigQuery write them
_PART = re.compile(r"(part[-._]?|data_|.*-(?=\d{5}-of-\d{5})|(?=\d{12}))\d+.*")
_IN_NO_TABLE = re.compile(
    r"/$|(^|/)(\.|__MACOSX/)"
)  # entries of an archive: folders, and what macOS adds
_BEGINNING = 4096  # bytes by which the format of a file is recognised
# error pages that servers send instead of a file
_MARKUP = re.compile(
    rb"(\xef\xbb\xbf)?\s*<(!doctype|!--|html|head|body|table|\?xml)\b", re.IGNORECASE
)
_POINTER = b"version https://git-lfs.github.com"
_NAMES_SHOWN = 5
_SECONDS_FRESH = 1.0
_SEPARATORS = ";\t,|"
_LONGEST_NAME = 100_000  # of a column
_TITLES = 10  # most lines with titles above a table
_BLOCK = 2**24  # bytes of CSV parsed at a time, and the longest row
_CUT = re.compile(
    rb"[,;\t|]-?\d+\.$"
)  # a last cell such as "0.", of a file that was not written to its end
_DECIMAL_COMMA = re.compile(rb'[;\n]"?-?\d*,\d+ ?%?"?[;\r\n]')  # a cell with a decimal comma


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a CSV file: their names, the number of lines before the rows, and the separator of cells."""

    names: list[str]
    before: int
    separator: str


def read_sheet(
    path: str | Path,
    *,
    rows: str | None = None,
    skip: str | None = None,
) -> Sheet:
    """Read a CSV (commas, semicolons, tabs), JSON lines, JSON, Parquet, Arrow, NumPy or Excel file.

    Parameters
    ----------
    path : path
        A file, which may be compressed by gzip, zstd or zip; an address that fsspec knows; "-" for standard input; or a
        folder with the parts of one table.
    rows : str, optional
        Dotted path of the list of rows in a JSON document that has several.
    skip : str, optional
        Numbers of rows to leave out, or "copies" of earlier rows, joined by +.

    Returns
    -------
    Sheet
        FileError if the file cannot be read.
    """
    place = Path(path)
    try:
        sheet = _read_parts(place) if place.is_dir() else _read_file(path, rows)
        return sheet if skip is None else _skip_rows(sheet, skip, path)
    except (FileError, MemoryError):
        raise
    except InputError as error:
        raise error.in_file(path) from None
    except (FileNotFoundError, ImportError) as error:
        raise unreached_error(path, error) from None
    except Exception as error:  # what parsers raise on broken content is beyond listing
        raise _unreadable_error(path, error) from None


def _skip_rows(sheet: Sheet, skip: str, path: str | Path) -> Sheet:
    """Return a sheet without the rows of `read_sheet`'s `skip`; FileError if it lacks one of them.

    If the row of names is left out, such as a title, the next row has the names.
    """
    parts = [part.strip() for part in skip.split("+")]
    header = str(sheet.header or "")
    known = {header, *map(str, sheet.rows.tolist())} - {""}
    are_copies = _find_copies(sheet) & (COPIES in parts)
    known |= {COPIES} if are_copies.any() else set()
    for part in sorted({*parts} - known):
        raise FileError(path, "no_such_rows", value=part)
    are_skipped = are_copies | np.isin(sheet.rows, list(map(int, {*parts} - {COPIES})))
    left = sheet.select(~are_skipped)
    is_named_below = header in parts and len(left.rows)
    return replace(_promote_first_row(left) if is_named_below else left, skipped=skip)


def _find_copies(sheet: Sheet) -> Bools:
    """Return whether each row (N,) repeats an earlier one in all columns."""
    _, codes = encode(join_rows([sheet.column(name) for name in sheet.names]))
    are_copies = np.ones(len(codes), np.bool_)
    are_copies[np.unique(codes, return_index=True)[1]] = False
    return are_copies


def _promote_first_row(sheet: Sheet) -> Sheet:
    """Return a sheet with its first row as the names of its columns; ValueError if a name is repeated."""
    cells = [sheet.column(name)[0].as_py() for name in sheet.names]
    names = list(map(_column_name, cells, count()))
    body = sheet.select(np.arange(len(sheet.rows)) > 0)
    require_distinct(names)
    return replace(body, table=body.table.rename_columns(names))


def _read_file(path: str | Path, rows: str | None) -> Sheet:
    content, suffix = read_content(path)
    if not content.size:
        return _make_sheet(pa.table({}))
    head = content[:_BEGINNING].to_pybytes()
    if head.startswith(_POINTER):
        raise FileError(path, "pointer")
    if _MARKUP.match(head):
        raise FileError(path, "markup")
    if suffix not in _READERS:
        raise FileError(path, "unknown_suffix", suffixes=[*_READERS, *_COMPRESSED])
    reader = _READERS[suffix]
    if rows and reader not in (_read_json, _read_excel):
        raise FileError(path, "rows_of_no_json", value=rows)
    sheet = reader(content, rows) if rows else reader(content)
    require_distinct(sheet.names)
    return replace(sheet, format=suffix.removeprefix("."))


def stem(path: str | Path) -> str:
    """Return the name of a file without its folder and the suffixes of its format and compression."""
    if str(path) == STANDARD_INPUT:
        return "stdin"
    name = Path(without_query(path))
    for known in (_COMPRESSED, _READERS):
        name = name.with_suffix("") if name.suffix.lower() in known else name
    return name.name


def distinct_names(
    names: Sequence[str],
    paths: Sequence[str],
    stems: Sequence[str],
) -> list[str]:
    """Return names of files, those that are equal replaced by folder/stem, or else by the path, without a query.

    A name that is not the stem of its path was chosen by the user, and stays.
    """
    paths = list(map(without_query, paths))
    with_folders = [str(Path(path).parent / stem) for path, stem in zip(paths, stems, strict=True)]
    distinct = list(names)
    for longer in (with_folders, paths):
        counts = Counter(distinct)
        known = zip(distinct, names, stems, longer, strict=True)
        distinct = [
            long if counts[name] > 1 and given == stem else name
            for name, given, stem, long in known
        ]
    return distinct


def _column_name(cell: object, place: int) -> str:
    """Return the name of a column from its cell in the header; of an empty cell "Unnamed: " and its place."""
    name = cell if isinstance(cell, str) else as_text("" if cell is None else cell)
    return name if name.strip() else f"{UNNAMED}{place}"


def require_distinct(names: Iterable[str]) -> None:
    """Raise ValueError if two columns have the same name, an empty one excepted."""
    counts = Counter(filter(str.strip, names))
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"columns must have different names; {repeated[0]!r} is repeated")


def read_content(path: str | Path) -> tuple[pa.Buffer, str]:
    """Return the decompressed bytes of a file, and its format as a suffix; empty if unknown."""
    content = _read_bytes(str(path))
    compression = _find_compression(content[:_MAGIC].to_pybytes())
    content = pa.input_stream(content, compression).read_buffer()
    name = Path(without_query(path))
    if name.suffix.lower() == ".zip":
        content = _unzip(content)
    if name.suffix.lower() in _COMPRESSED:
        name = name.with_suffix("")
    return content, _detect_format(content, name.suffix.lower())


def open_content(file: Path) -> io.BufferedReader:
    """Return the decompressed bytes of a file as a stream."""
    with file.open("rb") as packed:
        compression = _find_compression(packed.read(_MAGIC))
    return io.BufferedReader(pa.input_stream(file, compression))


def _find_compression(head: bytes) -> str | None:
    return next((name for magic, name in _COMPRESSIONS.items() if head.startswith(magic)), None)


def _unreadable_error(path: str | Path, error: Exception) -> FileError:
    suffixes = [
        suffix for suffix in Path(without_query(path)).suffixes if suffix.lower() not in _COMPRESSED
    ]
    format = suffixes[-1][1:].lower() if suffixes else "a table"
    reason = _REASONS.get(type(error), _reason(path, error))
    advice = "save_as_utf_8" if isinstance(error, UnicodeDecodeError) else ""
    return FileError(path, "unreadable_as", advice=advice, format=format, reason=reason)


def unreached_error(path: str | Path, error: Exception) -> FileError:
    """Return the error of a file that is not there, or that a client of its address cannot reach."""
    reason = _reason(path, error)
    is_absent = isinstance(error, FileNotFoundError) and (error.errno or str(path).endswith(reason))
    return FileError(path, "no_such_file" if is_absent else "unreadable", reason=reason)


def _reason(path: str | Path, error: Exception) -> str:
    if hasattr(error, "status") and hasattr(error, "message"):  # of a client of the web
        return f"the server answers {error.status} {error.message}"
    whole = str(error).removeprefix(f"{path}: ").strip()
    return whole.split("\n")[0].rstrip(". ") or type(error).__name__


def _detect_format(content: pa.Buffer, suffix: str) -> str:
    """Return the format of a file as a suffix: its own if it is of a binary format, else by the first bytes, or ""."""
    if suffix in _READERS and suffix not in _TEXTS:
        return suffix
    head = content[:_BEGINNING].to_pybytes()
    for signature, format in _FORMATS.items():
        if head.startswith(signature):
            return format
    if head.startswith(b"PK\3\4"):
        return ".npz" if b".npy" in head else ".xlsx"
    if suffix in _TEXTS:
        return suffix
    if b"\0" in head and not head.startswith(tuple(_MARKS)):
        return ""
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    return {b"[": ".json", b"{": ".jsonl"}.get(start, ".csv")


def is_address(path: str | Path) -> bool:
    """Return whether a path is an address that fsspec may know."""
    return "://" in str(path)


def without_query(path: str | Path) -> str:
    """Return a path, of an address on the web without what follows a question mark."""
    text = str(path)
    return text.partition("?")[0] if text.startswith(("http://", "https://")) else text


def _read_bytes(path: str) -> pa.Buffer:
    """Return the bytes at a path; FileError if the file changes meanwhile."""
    if is_address(path):
        return pa.py_buffer(_fetch(path))
    # not memory-mapped: if a mapped file is truncated, the process is killed
    with refuse_changes([path]):
        if path == STANDARD_INPUT:
            return pa.py_buffer(sys.stdin.buffer.read())
        place = Path(path)
        content = place.read_bytes()
        # a change that began just before the first look, on a coarse clock, shows no new time
        if _is_fresh(place) and place.read_bytes() != content:
            raise _changed_error(path)
    return pa.py_buffer(content)


def _fetch(address: str) -> bytes:
    from fsspec.core import url_to_fs

    try:
        system, path = url_to_fs(address)
        # opened as a file, what a server refuses is said to be missing
        content: bytes = system.cat_file(path)
    except Exception as error:  # each client has its own
        raise unreached_error(address, error) from None
    return content


def _is_fresh(place: Path) -> bool:
    return place.is_file() and time.time() - place.stat().st_mtime < _SECONDS_FRESH


@contextmanager
def refuse_changes(paths: Iterable[str]) -> Iterator[None]:
    """Raise FileError if one of the files changes within this block, in place of any error that came of it."""
    versions = {path: _version(path) for path in paths}
    try:
        yield
    except Exception:
        _require_versions(versions)
        raise
    _require_versions(versions)


def _require_versions(versions: Mapping[str, object]) -> None:
    for path, version in versions.items():
        if _version(path) != version:
            raise _changed_error(path)


def _changed_error(path: str) -> FileError:
    return FileError(path, "changed_while_read", advice="read_again")


def _version(path: str) -> object:
    """Return what changes when a file or its content does; None if it is no file, e.g. a pipe."""
    try:
        status = os.stat(0 if path == STANDARD_INPUT else path)
    except (OSError, ValueError):
        return None
    is_file = stat.S_ISREG(status.st_mode)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns) if is_file else None


def _unzip(content: pa.Buffer) -> pa.Buffer:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if not _IN_NO_TABLE.search(name)]
        if len(names) != 1:
            listed = ", ".join(names[:_NAMES_SHOWN]) or "none"
            way_out = "; unpack it, and name these files" if names else ""
            raise ValueError(
                f"the archive must hold one file; it holds {len(names)}: {listed}{way_out}"
            )
        return pa.py_buffer(archive.read(names[0]))


def _to_utf_8(content: pa.Buffer) -> pa.Buffer:
    """Return text with a byte order mark as UTF-8 without one; other bytes unchanged."""
    head = content[:4].to_pybytes()
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return pa.py_buffer(content.to_pybytes().decode(encoding).encode())
    return content


def _decode(content: pa.Buffer, read: Callable[[pa.Buffer], Sheet]) -> Sheet:
    """Return what `read` makes of text in UTF-8, or else of the text decoded as Windows-1252, which the sheet notes."""
    content = _to_utf_8(content)
    try:
        return read(content)
    except UnicodeDecodeError:
        text = content.to_pybytes().decode(_OTHER_ENCODING)
    sheet = read(pa.py_buffer(text.encode()))
    return replace(sheet, beside=(_READ_AS_OTHER, *sheet.beside))


def _make_sheet(table: pa.Table, rows: Ints | None = None) -> Sheet:
    return Sheet(table, np.arange(len(table)) + 1 if rows is None else rows)


# ---- folders -----------------------------------------------------------------------------------------------------


def _read_parts(folder: Path) -> Sheet:
    """Read the parts of one table in a folder; rows are numbered through all parts."""
    parts = {name: read_sheet(folder / name) for name in list_parts(folder)}
    tables = {name: part.table for name, part in parts.items() if len(part.rows)}
    first, *others = tables.values() or [pa.table({})]
    for name, table in tables.items():
        if table.column_names != first.column_names:
            raise FileError(folder, "parts_differ", part=name)
    are_other = any(_READ_AS_OTHER in part.beside for part in parts.values())
    return replace(
        _make_sheet(pa.concat_tables([first, *others], promote_options="permissive")),
        decimal_comma=any(part.decimal_comma for part in parts.values()),
        format=f"{len(parts)} parts",
        beside=(_READ_AS_OTHER,) if are_other else (),
    )


def list_parts(folder: Path) -> list[str]:
    """Return the names of the numbered files in a folder that are parts of one table; FileError if there are none."""
    matches = {path.name: _PART.fullmatch(path.name) for path in sorted(folder.iterdir())}
    beginnings = {name: match[1] for name, match in matches.items() if match}
    if len(set(beginnings.values())) != 1:
        raise FileError(folder, "folder_of_no_table", advice="name_its_files")
    return list(beginnings)


# ---- CSV ---------------------------------------------------------------------------------------------------------


def _read_csv(content: pa.Buffer) -> Sheet:
    return _decode(content, _parse_csv)


def _parse_csv(content: pa.Buffer) -> Sheet:
    is_cut = _CUT.search(content[-40:].to_pybytes())
    if is_cut and re.search(rb"\d\.[\r\n]", content) is None:
        raise ValueError(
            "the file ends within the number in its last row; leave that row out, or write it whole"
        )
    header = _read_header(content)
    if not header.names:
        return _make_sheet(pa.table({}))
    table = _regular_csv(content, header)
    if table is None:
        table = _irregular_csv(content, header)
    data = np.frombuffer(content, np.uint8)
    breaks = sum(np.count_nonzero(data[part] == ord("\n")) for part in blocks(len(data)))
    if breaks > len(table) + header.before:
        _refuse_open_quote(content, header)
    has_comma = header.separator == ";" and _DECIMAL_COMMA.search(content[:_BLOCK]) is not None
    rows = np.arange(len(table)) + header.before + 1
    sheet = Sheet(table, rows, has_comma, header=header.before)
    return _drop_blank_rows(sheet)


def _regular_csv(content: pa.Buffer, header: Header) -> pa.Table | None:
    """Return the table as Arrow reads it; None if rows lack cells, or the file is written in a way it does not read."""
    from pyarrow import csv as arrow

    has_quotes = re.search(rb'"', content) is not None
    separator = re.escape(header.separator.encode())
    if has_quotes and re.search(separator + rb' +"', content):
        return None
    names = header.names
    reading = arrow.ReadOptions(skip_rows=header.before, column_names=names, block_size=_BLOCK)
    parsing = arrow.ParseOptions(
        delimiter=header.separator, newlines_in_values=has_quotes, ignore_empty_lines=False
    )
    converting = arrow.ConvertOptions(
        column_types=dict.fromkeys(names, TEXT), null_values=[""], strings_can_be_null=True
    )
    try:
        return arrow.read_csv(pa.BufferReader(content), reading, parsing, converting)
    except pa.ArrowInvalid:
        return None


def _irregular_csv(content: pa.Buffer, header: Header) -> pa.Table:
    """Return the table with empty cells where rows end early; ValueError if a row has more cells than the header."""
    lines = io.StringIO(str(content, "utf-8"), newline="")
    for _ in range(header.before):
        lines.readline()
    rows = list(csv.reader(lines, delimiter=header.separator, skipinitialspace=True))
    names = header.names
    if len(names) == 1:  # the header is a title above the table
        widest = max(rows, key=len, default=names)
        names = names + [_column_name("", k) for k in range(1, len(widest))]
    _refuse_ragged(content, header.before + 1, [*map(len, rows)], len(names))
    columns = []
    for _, *cells in zip_longest(names, *rows):
        columns.append(from_texts(cell or None for cell in cells))
    return pa.table(columns, names)


def _refuse_open_quote(content: pa.Buffer, header: Header) -> None:
    """Raise ValueError if a quote that is never closed makes several lines one cell."""
    lines = io.TextIOWrapper(pa.BufferReader(content), encoding="utf-8", newline="")
    for _ in range(header.before):
        lines.readline()
    end = re.compile(
        rf'" +(?={re.escape(header.separator)}|[\r\n]*$)'
    )  # spaces after a closing quote, which a strict reader refuses
    texts = (end.sub('"', line) if '" ' in line else line for line in lines)
    rows = csv.reader(texts, delimiter=header.separator, skipinitialspace=True, strict=True)
    last = 0
    try:
        for _ in rows:
            last = rows.line_num
    except csv.Error:
        if rows.line_num > last + 1:
            raise ValueError(
                f"nothing closes the quote of a cell that begins in line {header.before + last + 1} and holds those "
                "below; close it there, or double it if the text has it"
            ) from None


def _refuse_ragged(content: pa.Buffer, first: int, sizes: Sequence[int], width: int) -> None:
    """Raise ValueError if a row has more cells than the header, or the last line has fewer and no line break."""
    has_end = content[-1:].to_pybytes() in (b"\n", b"\r")
    if sizes and not has_end and 0 < sizes[-1] < min(width, max(sizes)):
        raise ValueError(
            "the file ends within its last row, which has fewer cells than others; write it whole, or leave it out"
        )
    for number, size in enumerate(sizes, first):
        if size > width:
            raise ValueError(
                f"row {number} has more cells than the header has names; put texts with separators in quotes, or "
                "end the header in a separator if all rows do, or begin it with one if they begin with names, as R "
                "writes them"
            )


def _drop_blank_rows(sheet: Sheet) -> Sheet:
    blank = np.ones(len(sheet.rows), np.bool_)
    for column in sheet.table.columns:
        if not column.null_count:
            return sheet
        blank &= are_null(plain(column))
    return sheet.select(~blank)


def _read_header(content: pa.Buffer) -> Header:
    lines = io.TextIOWrapper(pa.BufferReader(content), encoding="utf-8", newline="")
    before = 1
    separator = ""
    csv.field_size_limit(2**31 - 1)  # of cells, such as prompts
    line, *below = (lines.readline() for _ in range(1 + _TITLES))
    while line and _is_preamble(line):
        separator = line[4] if line.startswith("sep=") and len(line) > 4 else separator
        line, *below = (*below, lines.readline())
        before += 1
    if "\0" in line:
        raise ValueError("it is UTF-16 without a mark, or no text")
    separator = separator or _find_separator(line) or _find_separator("".join(below)) or ","
    return Header(_parse_names(line, below, separator), before, separator)


def _is_preamble(line: str) -> bool:
    """Return whether a line above the names is empty, a comment, or Excel's sep=; not names that begin with #."""
    if line.startswith("#"):
        return line[1:2] not in tuple(_SEPARATORS)
    return not line.strip() or line.startswith("sep=")


def _parse_names(line: str, below: Sequence[str], separator: str) -> list[str]:
    """Return the names of the columns from the line of names and those below it."""
    cells, *_ = _split_cells([line, *below], separator) or [[]]  # a name may have several lines
    if max(map(len, cells), default=0) > _LONGEST_NAME:
        raise ValueError(f"names of columns have at most {_LONGEST_NAME:,} letters")
    return list(map(_column_name, cells, count()))


def _find_separator(text: str) -> str:
    """Return the most frequent separator in a text, or nothing."""
    separator = max(_SEPARATORS, key=text.count)
    return separator if separator in text else ""


def _split_cells(lines: Iterable[str], separator: str) -> list[list[str]]:
    """Return the cells of each line that is not empty."""
    trimmed = (re.sub(r"^ +| +(?=[\r\n]*$)", "", line) for line in lines)
    rows = csv.reader(trimmed, delimiter=separator, skipinitialspace=True)
    return list(filter(None, rows))


# ---- other formats -----------------------------------------------------------------------------------------------


def _read_json(content: pa.Buffer, path: str = "") -> Sheet:
    return _decode(content, lambda text: _parse_json_table(text, path))


def _parse_json_table(content: pa.Buffer, path: str) -> Sheet:
    from .documents import parse_rows

    table = None if path else _regular_json(content)
    if table is not None:
        return _make_sheet(table)
    rows = parse_rows(str(content, "utf-8"), path)
    lines = None if rows.lines is None else np.array(rows.lines)
    sheet = _make_sheet(pa.table(fields_of_objects(rows.objects)), lines)
    return replace(sheet, path=rows.path, beside=rows.beside)


def _regular_json(content: pa.Buffer) -> pa.Table | None:
    """Return the table of lines that are each an object, as Arrow reads it; None of other documents."""
    if content[:1].to_pybytes() != b"{":
        return None
    try:
        table = _read_objects(content)
    except pa.ArrowInvalid:
        return None
    text = content.to_pybytes()
    num_breaks = text.count(b"}\n{") or text.count(b"}\r\n{")
    if not 1 < len(table) == num_breaks + 1:
        return None
    columns = [_like_values(column.combine_chunks()) for column in table.columns]
    are_alike = all(column is not None for column in columns)
    return pa.table(columns, table.column_names) if are_alike else None


def _read_objects(content: pa.Buffer) -> pa.Table:
    """Return the table of lines of JSON, dates as texts."""
    from pyarrow import json as arrow

    reading = arrow.ReadOptions(block_size=_BLOCK // 4)  # which Arrow reads fastest
    table = arrow.read_json(pa.BufferReader(content), reading)
    dates = [part.name for part in table.schema if pa.types.is_timestamp(part.type)]
    if not dates:
        return table
    parsing = arrow.ParseOptions(explicit_schema=pa.schema(dict.fromkeys(dates, pa.string())))
    again = arrow.read_json(pa.BufferReader(content), reading, parsing)
    return again.select(table.column_names)


def _like_values(column: pa.Array) -> pa.Array | None:
    """Return a column of JSON lines as `from_values` makes it of Python's values; None where these may differ."""
    kind = column.type
    if kind in (pa.null(), pa.string()):
        return pc.utf8_trim_whitespace(column.cast(TEXT))
    if pa.types.is_list(kind):
        values = _like_values(column.flatten())
        are_numbers = values is not None and is_numeric(values.type)
        return column.cast(pa.large_list(kind.value_type)) if are_numbers else None
    # whole numbers of more than 64 bits are texts
    is_exact = is_numeric(kind) and not (np.abs(to_floats(column)) >= 2.0**63).any()
    return column if is_exact else None


def _read_numpy(content: pa.Buffer) -> Sheet:
    from .documents import format_count, require_one_size, select_common_size

    try:
        arrays = dict(np.load(io.BytesIO(content), allow_pickle=False))
    except ValueError as error:
        raise ValueError(
            f"{str(error).rstrip('.')}; text must be saved as array.astype(str)"
        ) from None
    tables = {name: array for name, array in arrays.items() if array.ndim in (1, 2)}
    alike = select_common_size(tables)
    columns = _split_arrays(alike)
    require_one_size(columns, "arrays")
    beside = []
    for name in (name for name in arrays if name not in alike):
        size = "x".join(map(str, arrays[name].shape))
        beside.append((name, format_count(size or 1, "value")))
    table = pa.table({name: from_numpy(column) for name, column in columns.items()})
    return replace(_make_sheet(table), beside=tuple(beside))


def _split_arrays(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays (N,) as columns, and the columns of arrays (N, K) under numbered names."""
    columns: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.ndim == 2 and array.shape[1] > 1:
            columns |= {f"{name}_{k}": column for k, column in enumerate(array.T)}
        else:
            columns[name] = array.ravel()
    return columns


def _read_parquet(content: pa.Buffer) -> Sheet:
    from pyarrow import parquet

    return _make_sheet(make_selectable(parquet.ParquetFile(pa.BufferReader(content)).read()))


def _read_arrow(content: pa.Buffer) -> Sheet:
    try:
        table = pa.ipc.open_file(content).read_all()
    except pa.ArrowInvalid:  # a stream, as `datasets` writes it
        table = pa.ipc.open_stream(content).read_all()
    return _make_sheet(make_selectable(table))


def _read_excel(content: pa.Buffer, title: str = "") -> Sheet:
    """Read the only sheet with rows, or the one with this title."""
    from .documents import several_lists_error

    filled = _filled_sheets(content)
    wanted = [name for name in filled if title in ("", name)]
    sizes = {name: len(rows) - 1 for name, rows in filled.items()}
    if title and not wanted:
        raise ValueError(f"it has no sheet {title!r}")
    if len(wanted) > 1:
        raise several_lists_error(sizes)
    if not wanted:
        return _make_sheet(pa.table({}))
    sizes.pop(wanted[0])
    beside = tuple((name, f"{size} rows") for name, size in sizes.items())
    rows = filled[wanted[0]]
    header, *numbers = rows
    cells = list(zip_longest(*rows.values()))
    names = list(map(_column_name, next(zip(*cells, strict=True)), count()))
    table = pa.table([from_values(column[1:]) for column in cells], names)
    sheet = _make_sheet(table, np.array(numbers))
    return replace(sheet, path=title, beside=beside, header=header)


def _filled_sheets(content: pa.Buffer) -> dict[str, dict[int, Sequence[object]]]:
    """Return the sheets of a workbook with at least two rows by title: their rows by number, without blank ones."""
    try:
        import openpyxl
    except ImportError:
        raise missing_package_error("Excel files need", "openpyxl") from None
    filled = {}
    file = io.BytesIO(content)
    for sheet in openpyxl.load_workbook(file, read_only=True, data_only=True):
        sheet.reset_dimensions()  # some programs write wrong ones
        numbered = enumerate(sheet.iter_rows(values_only=True), 1)
        rows = {number: row for number, row in numbered if set(row) - {None, ""}}
        if len(rows) > 1:
            filled[sheet.title] = rows
    return filled


_READERS: dict[
    str, Callable[..., Sheet]
] = {  # by suffix, of bytes; of JSON and Excel also the path of the rows
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".txt": _read_csv,
    ".jsonl": _read_json,
    ".ndjson": _read_json,
    ".json": _read_json,
    ".parquet": _read_parquet,
    ".npz": _read_numpy,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
    ".xlsx": _read_excel,
}

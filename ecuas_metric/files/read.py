"""A path, an address or standard input -> a sheet, whose rows know their place. Without pandas."""

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

from ..errors import FileError, InputError, missing_package
from ..inputs import Array, Bools, Ints
from .recipe import holds_numbers
from .values import (
    TEXT,
    UNNAMED,
    Sheet,
    as_text,
    encode,
    fields_of_objects,
    from_numpy,
    from_texts,
    from_values,
    join_texts,
    nulls_in,
    plain,
)

STANDARD_INPUT = "-"
COPIES = "copies"  # rows to skip
_TEXTS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")
TABLE_SUFFIXES = (*_TEXTS, ".parquet")  # what a page may take; `_READERS` has all
_COMPRESSED = (".gz", ".zst", ".zip")
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # by how a file begins
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_FORMATS = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrow"}
_OTHER_ENCODING = "cp1252"  # that of Windows in the west of Europe and America
_READ_AS_OTHER = ("letters beyond ASCII", "read as Windows-1252")
_REASONS = {
    RecursionError: "the JSON is nested too deeply",
    UnicodeDecodeError: "it is not UTF-8 text",
}
# before a number in the name of a part, as Spark, Dask, PyArrow, DuckDB, `datasets` and BigQuery write it
_PART = re.compile(r"(part[-._]?|data_|.*-(?=\d{5}-of-\d{5})|(?=\d{12}))\d+.*")
_IN_NO_TABLE = re.compile(r"/$|(^|/)(\.|__MACOSX/)")  # folders, and what macOS adds
_BEGINNING = 4096  # bytes that tell what a file is
# pages that servers send instead of a file
_MARKUP = re.compile(
    rb"(\xef\xbb\xbf)?\s*<(!doctype|!--|html|head|body|table|\?xml)\b", re.IGNORECASE
)
_POINTER = b"version https://git-lfs.github.com"
_NAMES_SHOWN = 5
_SECONDS_FRESH = 1.0
_SEPARATORS = ";\t,|"
_LONGEST_NAME = 100_000  # of a column
_TITLES = 10  # lines of titles above a table, in which nothing separates cells
_BLOCK = 2**24  # bytes of CSV parsed together, of which a row may not be longer
_CUT = re.compile(rb"[,;\t|]-?\d+\.$")  # a last cell, as of a file that was not written to its end
_DECIMAL_COMMA = re.compile(rb'[;\n]"?-?\d*,\d+ ?%?"?[;\r\n]')  # a cell with one


@dataclass(frozen=True, slots=True)
class Header:
    """The names of the columns of CSV, how many lines are before its rows, and what separates cells."""

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

    It may be compressed by gzip, zstd or zip. The path may be an address that fsspec knows, "-" for standard input, or
    a folder with the parts of one table; `rows` is the dotted path to the list of rows in a JSON document that has
    several, `skip` has the numbers of rows that are none of samples, or "copies", joined by +.
    """
    place = Path(path)
    try:
        sheet = _read_parts(place) if place.is_dir() else _read_file(path, rows)
        return sheet if skip is None else _without(sheet, skip, path)
    except (FileError, MemoryError):
        raise
    except InputError as error:
        fields = {"got": error.got, "advice": error.advice, **error.fields}
        raise FileError(path, error.rule, **fields) from None
    except FileNotFoundError:
        raise FileError(path, "no_such_file") from None
    except ImportError as error:
        raise FileError(path, "unreadable", reason=str(error).rstrip(".")) from None
    except Exception as error:  # what parsers raise on broken content is beyond listing
        raise _unreadable(path, error) from None


def _without(sheet: Sheet, skip: str, path: str | Path) -> Sheet:
    """Return a sheet without some rows, by their numbers, or copies; FileError if it has not all of them.

    Without the row of names, such as a title, the first row that is left has them.
    """
    parts = [part.strip() for part in skip.split("+")]
    header = str(sheet.header or "")
    known = {header, *map(str, sheet.rows.tolist())} - {""}
    are_copies = _are_copies(sheet) & (COPIES in parts)
    known |= {COPIES} if are_copies.any() else set()
    for part in sorted({*parts} - known):
        raise FileError(path, "no_such_rows", value=part)
    are_skipped = are_copies | np.isin(sheet.rows, list(map(int, {*parts} - {COPIES})))
    left = sheet.select(~are_skipped)
    is_named_below = header in parts and len(left.rows)
    return replace(_named_by_first_row(left) if is_named_below else left, skipped=skip)


def _are_copies(sheet: Sheet) -> Bools:
    """Return the rows (N,) that are the same as an earlier one in all columns."""
    _, codes = encode(join_texts([sheet.column(name) for name in sheet.names], "\0", missing=""))
    are_copies = np.ones(len(codes), np.bool_)
    are_copies[np.unique(codes, return_index=True)[1]] = False
    return are_copies


def _named_by_first_row(sheet: Sheet) -> Sheet:
    """Return a table whose names of columns are in its first row; ValueError if some are the same."""
    cells = [sheet.column(name)[0].as_py() for name in sheet.names]
    names = list(map(_column_name, cells, count()))
    body = sheet.select(np.arange(len(sheet.rows)) > 0)
    require_distinct(names)
    return replace(body, table=body.table.rename_columns(names))


def _read_file(path: str | Path, rows: str | None) -> Sheet:
    content, suffix = content_of(path)
    if not content.size:
        return _sheet(pa.table({}))
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
    name = Path(path)
    for known in (_COMPRESSED, _READERS):
        name = name.with_suffix("") if name.suffix.lower() in known else name
    return name.name


def distinct_names(
    names: Sequence[str],
    paths: Sequence[str],
    stems: Sequence[str],
) -> list[str]:
    """Return names that differ where files do: with their folders, or else with their suffixes; not those given."""
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
    """Return the name of a column as a cell has it, or by its place."""
    name = cell if isinstance(cell, str) else as_text("" if cell is None else cell)
    return name if name.strip() else f"{UNNAMED}{place}"


def require_distinct(names: Iterable[str]) -> None:
    """Raise ValueError if columns have the same name; one without a name may occur several times."""
    counts = Counter(filter(str.strip, names))
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"columns must have different names; {repeated[0]!r} is repeated")


def content_of(path: str | Path) -> tuple[pa.Buffer, str]:
    """Return the bytes of a file, decompressed, and its format as a suffix; empty where it is unknown."""
    content = _bytes_of(str(path))
    head = content[:4].to_pybytes()
    for magic, compression in _COMPRESSIONS.items():
        if head.startswith(magic):
            content = pa.input_stream(content, compression).read_buffer()
    name = Path(path)
    if name.suffix.lower() == ".zip":
        content = _unzip(content)
    if name.suffix.lower() in _COMPRESSED:
        name = name.with_suffix("")
    return content, _format_of(content, name.suffix.lower())


def _unreadable(path: str | Path, error: Exception) -> FileError:
    suffixes = [suffix for suffix in Path(path).suffixes if suffix.lower() not in _COMPRESSED]
    format = suffixes[-1][1:].lower() if suffixes else "a table"
    whole = str(error).removeprefix(f"{path}: ").strip()
    said = whole.split("\n")[0].rstrip(".")
    reason = _REASONS.get(type(error), said or type(error).__name__)
    advice = "save_as_utf_8" if isinstance(error, UnicodeDecodeError) else ""
    return FileError(path, "unreadable_as", advice=advice, format=format, reason=reason)


def _format_of(content: pa.Buffer, suffix: str) -> str:
    """Return the format of a file as a suffix, by how it begins if its own is of text or unknown; or nothing."""
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


def _bytes_of(path: str) -> pa.Buffer:
    if is_address(path):
        import fsspec

        with fsspec.open(path, "rb") as file:
            return pa.py_buffer(file.read())
    # nothing is mapped: where a mapped file becomes shorter, the process ends
    with unchanged([path]):
        if path == STANDARD_INPUT:
            return pa.py_buffer(sys.stdin.buffer.read())
        place = Path(path)
        content = place.read_bytes()
        # the time of a change is that of its beginning, on a coarse clock
        if _is_fresh(place) and place.read_bytes() != content:
            raise _changed(path)
    return pa.py_buffer(content)


def _is_fresh(place: Path) -> bool:
    return place.is_file() and time.time() - place.stat().st_mtime < _SECONDS_FRESH


@contextmanager
def unchanged(paths: Iterable[str]) -> Iterator[None]:
    """Raise FileError if a file is changed while it is read within this, whatever else that led to."""
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
            raise _changed(path)


def _changed(path: str) -> FileError:
    return FileError(path, "changed_while_read", advice="read_again")


def _version(path: str) -> object:
    """Return what is another where a file or its content is; None of what is no file, such as a pipe."""
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


def _utf_8(content: pa.Buffer) -> pa.Buffer:
    """Return text in UTF-8 without a mark; other encodings are known by theirs."""
    head = content[:4].to_pybytes()
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return pa.py_buffer(content.to_pybytes().decode(encoding).encode())
    return content


def _decoded(content: pa.Buffer, read: Callable[[pa.Buffer], Sheet]) -> Sheet:
    """Return what is read of text in UTF-8, or else in an encoding in which texts are equal where their bytes are."""
    content = _utf_8(content)
    try:
        return read(content)
    except UnicodeDecodeError:
        text = content.to_pybytes().decode(_OTHER_ENCODING)
    sheet = read(pa.py_buffer(text.encode()))
    return replace(sheet, beside=(_READ_AS_OTHER, *sheet.beside))


def _sheet(table: pa.Table, rows: Ints | None = None) -> Sheet:
    return Sheet(table, np.arange(len(table)) + 1 if rows is None else rows)


# ---- folders -----------------------------------------------------------------------------------------------------


def _read_parts(folder: Path) -> Sheet:
    """Read the files that together are one table; rows are counted through all of them."""
    parts = {name: read_sheet(folder / name) for name in parts_in(folder)}
    tables = {name: part.table for name, part in parts.items() if len(part.rows)}
    first, *others = tables.values() or [pa.table({})]
    for name, table in tables.items():
        if table.column_names != first.column_names:
            raise FileError(folder, "parts_differ", part=name)
    are_other = any(_READ_AS_OTHER in part.beside for part in parts.values())
    return replace(
        _sheet(pa.concat_tables([first, *others], promote_options="permissive")),
        decimal_comma=any(part.decimal_comma for part in parts.values()),
        format=f"{len(parts)} parts",
        beside=(_READ_AS_OTHER,) if are_other else (),
    )


def parts_in(folder: Path) -> list[str]:
    """Return the names of the numbered files in a folder that are one table; FileError if there is none."""
    matches = {path.name: _PART.fullmatch(path.name) for path in sorted(folder.iterdir())}
    beginnings = {name: match[1] for name, match in matches.items() if match}
    if len(set(beginnings.values())) != 1:
        raise FileError(folder, "folder_of_no_table", advice="name_its_files")
    return list(beginnings)


# ---- CSV ---------------------------------------------------------------------------------------------------------


def _read_csv(content: pa.Buffer) -> Sheet:
    return _decoded(content, _csv_of)


def _csv_of(content: pa.Buffer) -> Sheet:
    is_cut = _CUT.search(content[-40:].to_pybytes())
    if is_cut and re.search(rb"\d\.[\r\n]", content) is None:
        raise ValueError(
            "the file ends within the number in its last row; leave that row out, or write it whole"
        )
    header = _header(content)
    if not header.names:
        return _sheet(pa.table({}))
    table = _regular_csv(content, header)
    if table is None:
        table = _irregular_csv(content, header)
    if np.count_nonzero(np.frombuffer(content, np.uint8) == ord("\n")) > len(table) + header.before:
        _refuse_open_quote(content, header)
    has_comma = header.separator == ";" and _DECIMAL_COMMA.search(content[:_BLOCK]) is not None
    rows = np.arange(len(table)) + header.before + 1
    sheet = Sheet(table, rows, has_comma, header=header.before)
    return _without_blank_rows(sheet)


def _regular_csv(content: pa.Buffer, header: Header) -> pa.Table | None:
    """Return the cells, or None where rows lack cells, or it is written as Arrow does not read it."""
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
    texts = dict.fromkeys(names, TEXT)
    numbers = dict.fromkeys(filter(holds_numbers, names), pa.float64())
    # as numbers, unless a cell is none
    for types in (texts | numbers, texts):
        converting = arrow.ConvertOptions(
            column_types=types, null_values=[""], strings_can_be_null=True
        )
        try:
            return arrow.read_csv(pa.BufferReader(content), reading, parsing, converting)
        except pa.ArrowInvalid:
            continue
    return None


def _irregular_csv(content: pa.Buffer, header: Header) -> pa.Table:
    """Return the cells, empty ones where rows end early; ValueError if one has more than the header."""
    lines = io.StringIO(str(content, "utf-8"), newline="")
    for _ in range(header.before):
        lines.readline()
    rows = list(csv.reader(lines, delimiter=header.separator, skipinitialspace=True))
    names = header.names
    if len(names) == 1:  # a title above the table
        widest = max(rows, key=len, default=names)
        names = names + [_column_name("", k) for k in range(1, len(widest))]
    _refuse_ragged(content, header.before + 1, [*map(len, rows)], len(names))
    columns = []
    for _, *cells in zip_longest(names, *rows):
        columns.append(from_texts(cell or None for cell in cells))
    return pa.table(columns, names)


def _refuse_open_quote(content: pa.Buffer, header: Header) -> None:
    """Raise ValueError if a quote that nothing closes makes one cell of several lines."""
    lines = io.TextIOWrapper(pa.BufferReader(content), encoding="utf-8", newline="")
    for _ in range(header.before):
        lines.readline()
    end = re.compile(
        rf'" +(?={re.escape(header.separator)}|[\r\n]*$)'
    )  # with spaces, which are taken
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
    """Raise ValueError if a row has more cells than the header, or the last one fewer than others and no end."""
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


def _without_blank_rows(sheet: Sheet) -> Sheet:
    blank = np.ones(len(sheet.rows), np.bool_)
    for column in sheet.table.columns:
        if not column.null_count:
            return sheet
        blank &= nulls_in(plain(column))
    return sheet.select(~blank)


def _header(content: pa.Buffer) -> Header:
    lines = io.TextIOWrapper(pa.BufferReader(content), encoding="utf-8", newline="")
    before = 1
    separator = ""
    csv.field_size_limit(2**31 - 1)  # of cells, such as prompts
    line, *below = (lines.readline() for _ in range(1 + _TITLES))
    while line and _is_above_names(line):
        separator = line[4] if line.startswith("sep=") and len(line) > 4 else separator
        line, *below = (*below, lines.readline())
        before += 1
    if "\0" in line:
        raise ValueError("it is UTF-16 without a mark, or no text")
    separator = separator or _separator_in(line) or _separator_in("".join(below)) or ","
    return Header(_names_in(line, below, separator), before, separator)


def _is_above_names(line: str) -> bool:
    """Return whether a line is empty, a comment, or Excel's separator, and not names, the first of which is #."""
    if line.startswith("#"):
        return line[1:2] not in tuple(_SEPARATORS)
    return not line.strip() or line.startswith("sep=")


def _names_in(line: str, below: Sequence[str], separator: str) -> list[str]:
    """Return the names of the columns."""
    cells, *_ = _cells_of([line, *below], separator) or [[]]  # a name may have several lines
    if max(map(len, cells), default=0) > _LONGEST_NAME:
        raise ValueError(f"names of columns have at most {_LONGEST_NAME:,} letters")
    return list(map(_column_name, cells, count()))


def _separator_in(text: str) -> str:
    """Return the separator that a text has most often, if it has one."""
    separator = max(_SEPARATORS, key=text.count)
    return separator if separator in text else ""


def _cells_of(lines: Iterable[str], separator: str) -> list[list[str]]:
    """Return the cells of lines that have any."""
    trimmed = (re.sub(r"^ +| +(?=[\r\n]*$)", "", line) for line in lines)
    rows = csv.reader(trimmed, delimiter=separator, skipinitialspace=True)
    return list(filter(None, rows))


# ---- other formats -----------------------------------------------------------------------------------------------


def _read_json(content: pa.Buffer, path: str = "") -> Sheet:
    return _decoded(content, lambda text: _json_of(text, path))


def _json_of(content: pa.Buffer, path: str) -> Sheet:
    from .documents import rows_in

    rows = rows_in(str(content, "utf-8"), path)
    lines = None if rows.lines is None else np.array(rows.lines)
    sheet = _sheet(pa.table(fields_of_objects(rows.objects)), lines)
    return replace(sheet, path=rows.path, beside=rows.beside)


def _read_numpy(content: pa.Buffer) -> Sheet:
    from .documents import counted, of_common_size, require_one_size

    try:
        arrays = dict(np.load(io.BytesIO(content), allow_pickle=False))
    except ValueError as error:
        raise ValueError(
            f"{str(error).rstrip('.')}; text must be saved as array.astype(str)"
        ) from None
    tables = {name: array for name, array in arrays.items() if array.ndim in (1, 2)}
    alike = of_common_size(tables)
    columns = _columns_of(alike)
    require_one_size(columns, "arrays")
    beside = []
    for name in (name for name in arrays if name not in alike):
        size = "x".join(map(str, arrays[name].shape))
        beside.append((name, counted(size or 1, "value")))
    table = pa.table({name: from_numpy(column) for name, column in columns.items()})
    return replace(_sheet(table), beside=tuple(beside))


def _columns_of(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the columns of arrays (N,) or (N, K), numbered."""
    columns: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.ndim == 2 and array.shape[1] > 1:
            columns |= {f"{name}_{k}": column for k, column in enumerate(array.T)}
        else:
            columns[name] = array.ravel()
    return columns


def _read_parquet(content: pa.Buffer) -> Sheet:
    from pyarrow import parquet

    return _sheet_of_table(parquet.ParquetFile(pa.BufferReader(content)).read())


def _read_arrow(content: pa.Buffer) -> Sheet:
    try:
        return _sheet_of_table(pa.ipc.open_file(content).read_all())
    except pa.ArrowInvalid:  # a stream, as `datasets` writes it
        return _sheet_of_table(pa.ipc.open_stream(content).read_all())


def _sheet_of_table(table: pa.Table) -> Sheet:
    # of which pyarrow selects no rows
    if any(pa.types.is_run_end_encoded(kind) for kind in table.schema.types):
        table = pa.Table.from_arrays([plain(column) for column in table], table.column_names)
    return _sheet(table)


def _read_excel(content: pa.Buffer, title: str = "") -> Sheet:
    """Read the only sheet that has rows, or that of a title."""
    from .documents import several_lists

    filled = _filled_sheets(content)
    wanted = [name for name in filled if title in ("", name)]
    sizes = {name: len(rows) - 1 for name, rows in filled.items()}
    if title and not wanted:
        raise ValueError(f"it has no sheet {title!r}")
    if len(wanted) > 1:
        raise several_lists(sizes)
    if not wanted:
        return _sheet(pa.table({}))
    sizes.pop(wanted[0])
    beside = tuple((name, f"{size} rows") for name, size in sizes.items())
    rows = filled[wanted[0]]
    header, *numbers = rows
    cells = list(zip_longest(*rows.values()))
    names = list(map(_column_name, next(zip(*cells, strict=True)), count()))
    table = pa.table([from_values(column[1:]) for column in cells], names)
    sheet = _sheet(table, np.array(numbers))
    return replace(sheet, path=title, beside=beside, header=header)


def _filled_sheets(content: pa.Buffer) -> dict[str, dict[int, Sequence[object]]]:
    """Return the sheets of a workbook that have rows below the first: their rows by number, without blank ones."""
    try:
        import openpyxl
    except ImportError:
        raise missing_package("Excel files need", "openpyxl") from None
    filled = {}
    file = io.BytesIO(content)
    for sheet in openpyxl.load_workbook(file, read_only=True, data_only=True):
        sheet.reset_dimensions()  # which some programs write as they are not
        numbered = enumerate(sheet.iter_rows(values_only=True), 1)
        rows = {number: row for number, row in numbered if set(row) - {None, ""}}
        if len(rows) > 1:
            filled[sheet.title] = rows
    return filled


_READERS: dict[str, Callable[..., Sheet]] = {  # of bytes; some also of which rows
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

"""A path, an address or standard input -> a sheet, whose rows know their place in the file. Without pandas."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, missing_package
from ..inputs import Array, Bools, Ints
from .cells import number_text, parse_cells
from .recipe import NAMES, holds_numbers
from .values import TEXT, Sheet, constant, floats_in, from_numpy, from_texts, from_values, nulls_in, plain, value_at

if TYPE_CHECKING:
    import pandas as pd

STANDARD_INPUT = "-"
_TEXTS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")
_BINARY = (".parquet", ".npz", ".npy", ".arrow", ".feather", ".xlsx")
TABLE_SUFFIXES = (*_TEXTS, ".parquet")  # what a page may take; `_READERS` has all
_SIGNATURES = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrow"}
_MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
_PART = re.compile(r"(part-\d{5}.*|data-\d{5}-of-\d{5}.*|data_\d+.*)")  # of Spark, `datasets` and DuckDB
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_SEPARATORS = ";\t,|"
_BLOCK = 2**24  # bytes of CSV parsed together, of which a row may not be longer
_DECIMAL_COMMA = re.compile(rb'[;\n]"?-?\d+,\d+ ?%?"?[;\r\n]')  # a cell with one
_MORE_CELLS = "the rows have more cells than the header has names"
_DEEPEST = 4  # levels of objects in which lists of rows are sought
Object = dict[str, object]  # of JSON


@dataclass(frozen=True, slots=True)
class Header:
    """The names of the columns of CSV, how many lines are before its rows, what separates cells, and its first row."""

    names: list[str]
    before: int
    separator: str
    cells: list[str]


def frame_of(sheet: Sheet, *, text: Collection[str] = ()) -> pd.DataFrame:
    """Return the rows of a sheet as a data frame; columns of numbers are numbers, but for those that are text."""
    columns = {name: sheet.column(name) for name in sheet.names}
    return pa.table({name: one if name in text else parse_cells(one) for name, one in columns.items()}).to_pandas()


def sheet_of(frame: pd.DataFrame, rows: Ints | None = None) -> Sheet:
    """Return the rows of a data frame as a sheet, numbered from 1 if they are not."""
    names = [str(name) for name in frame.columns]
    arrays = [_from_series(frame.iloc[:, k]) for k in range(len(names))]
    numbers = np.arange(len(frame)) + 1 if rows is None else rows
    return Sheet(pa.Table.from_arrays(arrays, names), numbers, format="data frame")


def read_sheet(path: str | Path, *, rows: str | None = None) -> Sheet:
    """Read a CSV (commas, semicolons, tabs), JSON lines, JSON, Parquet, Arrow, NumPy or Excel file, also compressed.

    The path may be an address that fsspec knows, "-" for standard input, or a folder with the parts of one table;
    `rows` is the dotted path to the list of rows in a JSON document that has several.
    """
    if Path(path).is_dir():
        return _read_parts(Path(path))
    content = pa.py_buffer(b"")
    suffix = ""
    try:
        content, suffix = content_of(path)
        if not content.size:
            return _sheet_of_columns([], [])
        if suffix not in _READERS:
            raise FileError(path, "unknown_suffix", suffixes=list(_READERS))
        sheet = _read_json(content, rows) if suffix == ".json" and rows else _READERS[suffix](content)
        require_distinct(sheet.names)
        return replace(sheet, format=suffix.removeprefix("."))
    except (FileError, MemoryError):
        raise
    except FileNotFoundError:
        raise FileError(path, "no_such_file") from None
    except RecursionError:
        reason = "the JSON is nested too deeply"
        raise FileError(path, "unreadable_as", format=suffix_of(path), reason=reason) from None
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
        raise FileError(path, "unreadable_as", format=suffix_of(path), reason=reason, advice="save_as_utf_8") from None
    except ImportError as error:
        raise FileError(path, "unreadable", reason=str(error).rstrip(".")) from None
    except Exception as error:  # what parsers raise on broken content is beyond listing
        raise _unreadable(path, error, content, suffix) from None


def suffix_of(path: str | Path) -> str:
    """Return the format in a file's name, for errors: "csv" of "a.csv.gz"."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix.lower() not in _DECOMPRESSORS]
    return suffixes[-1][1:].lower() if suffixes else "a table"


def stem(path: str | Path) -> str:
    """Return the name of a file without its folder and the suffixes of its format and compression."""
    if str(path) == STANDARD_INPUT:
        return "stdin"
    name = Path(path).name
    for known in (tuple(_DECOMPRESSORS), (*_TEXTS, *_BINARY)):
        name = Path(name).stem if Path(name).suffix.lower() in known else name
    return name


def distinct_names(names: Sequence[str], paths: Sequence[str], stems: Sequence[str]) -> list[str]:
    """Return names that differ where files do: with their folders, or else with their suffixes; not those given."""
    with_folders = [str(Path(path).with_name(stem)) if stem else path for path, stem in zip(paths, stems, strict=True)]
    is_stem = [name == stem for name, stem in zip(names, stems, strict=True)]
    distinct = list(names)
    for longer in (with_folders, paths):
        repeated = [is_stem[i] and distinct.count(name) > 1 for i, name in enumerate(distinct)]
        distinct = [longer[i] if repeated[i] else name for i, name in enumerate(distinct)]
    return distinct


def require_distinct(names: Iterable[str]) -> None:
    """Raise ValueError if columns have the same name; one without a name may occur several times."""
    repeated = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if repeated:
        raise ValueError(f"columns must have different names; {repeated[0]!r} is repeated")


def content_of(path: str | Path) -> tuple[pa.Buffer, str]:
    """Return the bytes of a file, decompressed, and its format as a suffix; empty where it is unknown."""
    name = str(path)
    content = _bytes_of(name)
    compression = Path(name).suffix.lower()
    if compression not in _DECOMPRESSORS:
        head = content[:6].to_pybytes()
        compression = next((suffix for magic, suffix in _MAGIC.items() if head.startswith(magic)), "")
        compression = "" if Path(name).is_file() else compression
    if compression:
        content = pa.py_buffer(_DECOMPRESSORS[compression](content.to_pybytes()))
        name = name.removesuffix(Path(name).suffix)
    suffix = Path(name).suffix.lower()
    return content, suffix if suffix in (*_TEXTS, *_BINARY) else _sniff(content)


def named_by_folders(folders: Iterable[str]) -> dict[str, str | None]:
    """Return the columns in the names of folders, e.g. model=a, as Hive and Spark write them."""
    named = (name.partition("=") for name in folders if "=" in name)
    return {key: None if value == _NO_VALUE else unquote(value) for key, _, value in named if key}


def _unreadable(path: str | Path, error: Exception, content: pa.Buffer, suffix: str) -> FileError:
    reason = str(error).removeprefix(f"{path}: ").strip().split("\n")[0].rstrip(".") or type(error).__name__
    advice = "give_suffix" if "json" in suffix and _sniff(content) == ".csv" else ""
    return FileError(path, "unreadable_as", advice=advice, format=suffix_of(path), reason=reason)


def _sniff(content: pa.Buffer) -> str:
    """Return the format that the beginning of a file has, as a suffix, or nothing."""
    head = content[:4096].to_pybytes()
    for signature, suffix in _SIGNATURES.items():
        if head.startswith(signature):
            return suffix
    if head.startswith(b"PK"):
        return ".xlsx" if b"[Content_Types]" in head else ".npz" if b".npy" in head else ""
    if b"\0" in head and _encoding(head) == "utf-8":
        return ""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return {b"<": "", b"[": ".json", b"{": ".jsonl"}.get(start, ".csv")  # < begins HTML or XML


def _bytes_of(path: str) -> pa.Buffer:
    if path == STANDARD_INPUT:
        return pa.py_buffer(sys.stdin.buffer.read())
    if "://" in path:
        import fsspec

        with fsspec.open(path, "rb") as file:
            return pa.py_buffer(file.read())
    if Path(path).is_file() and Path(path).stat().st_size:
        with pa.memory_map(path) as file:
            return file.read_buffer()
    return pa.py_buffer(Path(path).read_bytes())  # of a pipe, such as /dev/stdin


def _unzip(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise ValueError(f"the archive must hold one file; it holds {len(names)}")
        return archive.read(names[0])


def _unzstd(content: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as stream:
        return bytes(stream.read())


def _encoding(head: bytes) -> str:
    """Return the encoding of text by its mark, or by the zeros of UTF-16 and UTF-32 without one."""
    encoding = json.detect_encoding(head[:4])
    zeros = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 3, "utf-32-be": 3}.get(encoding)
    return encoding if zeros in (None, head[:4].count(0)) else "utf-8"


def _utf_8(content: pa.Buffer) -> pa.Buffer:
    """Return text in UTF-8 without a mark."""
    encoding = _encoding(content[:4].to_pybytes())
    if encoding == "utf-8-sig":
        return content[3:]
    return content if encoding == "utf-8" else pa.py_buffer(content.to_pybytes().decode(encoding).encode())


def _text(content: pa.Buffer) -> str:
    return str(_utf_8(content).to_pybytes(), "utf-8")


def _sheet_of_columns(names: Sequence[str], columns: Sequence[pa.Array], rows: Ints | None = None) -> Sheet:
    table = pa.Table.from_arrays(list(columns), [str(name) for name in names])
    return Sheet(table, np.arange(len(table)) + 1 if rows is None else rows)


# ---- folders -----------------------------------------------------------------------------------------------------


def _read_parts(folder: Path) -> Sheet:
    """Read the files that together are one table; rows are counted through all of them."""
    parts = _parts_in(folder)
    sheets = [read_sheet(folder / part) for part in parts]
    tables: list[pa.Table] = []
    for part, sheet in zip(parts, sheets, strict=True):
        table = sheet.table
        for name, value in named_by_folders(part.parts[:-1]).items():
            if name not in table.column_names:
                table = table.append_column(name, constant(value, len(table)))
        if tables and len(table) and table.column_names != tables[0].column_names:
            raise FileError(folder, "parts_differ", part=part.name)
        if len(table):
            tables.append(table)
    joined = _sheet_of_columns(tables[0].column_names if tables else [], _concatenate(tables))
    has_comma = any(sheet.decimal_comma for sheet in sheets)
    return replace(joined, decimal_comma=has_comma, format=f"{len(parts)} parts")


def _parts_in(folder: Path) -> list[Path]:
    """Return the files in a folder that are one table: numbered, or in folders as Hive names them."""
    inside = [path.relative_to(folder) for path in folder.rglob("*")]
    numbered = sorted(path for path in inside if path.parent == Path() and _PART.fullmatch(path.name))
    data = [path for path in inside if path.suffix.lower() in _READERS and not path.name.startswith(("_", "."))]
    below = [path for path in data if path.parent != Path()]
    hive = sorted(path for path in below if all("=" in name for name in path.parts[:-1]))  # model=a/part.csv
    if not numbered and not hive:
        raise FileError(folder, "folder_of_no_table", advice="name_its_files")
    return numbered or hive


def _concatenate(tables: Sequence[pa.Table]) -> list[pa.Array]:
    columns = range(tables[0].num_columns if tables else 0)
    try:
        whole = pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers in one part, words in another
        return [from_values([value for table in tables for value in table[k].to_pylist()]) for k in columns]
    return [plain(whole[k]) for k in columns]


# ---- CSV ---------------------------------------------------------------------------------------------------------


def _read_csv(content: pa.Buffer) -> Sheet:
    content = _utf_8(content)
    header = _header(content)
    if not header.names:
        return _sheet_of_columns([], [])
    require_distinct(header.names)
    names = [name if name.strip() else f"Unnamed: {k}" for k, name in enumerate(header.names)]
    table = _regular_csv(content, header, names)
    if table is None:
        table = _irregular_csv(content, header, names)
    has_comma = header.separator == ";" and _DECIMAL_COMMA.search(content[:_BLOCK]) is not None
    sheet = Sheet(table, np.arange(len(table)) + header.before + 1, has_comma)
    blank = _blank_rows(table)
    return sheet.select(~blank) if blank.any() else sheet


def _regular_csv(content: pa.Buffer, header: Header, names: list[str]) -> pa.Table | None:
    """Return the cells, or None where rows lack cells, or it is written as Arrow does not read it."""
    from pyarrow import csv as arrow

    has_quotes = re.search(rb'"', content) is not None
    if has_quotes and re.search(re.escape(header.separator.encode()) + rb' +"', content):
        return None
    reading = arrow.ReadOptions(skip_rows=header.before, column_names=names, block_size=_BLOCK)
    parsing = arrow.ParseOptions(delimiter=header.separator, newlines_in_values=has_quotes, ignore_empty_lines=False)
    texts = dict.fromkeys(names, TEXT)
    kinds = texts | {name: _kind_of(name, cell) for name, cell in zip(names, header.cells, strict=False)}
    for types in (kinds, texts) if kinds != texts else (texts,):  # as numbers, unless a cell is none
        converting = arrow.ConvertOptions(column_types=types, null_values=[""])
        try:
            return arrow.read_csv(pa.BufferReader(content), reading, parsing, converting)
        except pa.ArrowInvalid:
            continue
    return None


def _kind_of(name: str, cell: str) -> pa.DataType:
    """Return the type to try for a column of CSV."""
    if not number_text(cell):
        return TEXT
    if name.strip().lower() in NAMES["correct"] and cell.isdecimal():
        return pa.int64()
    return pa.float64() if holds_numbers(name) else TEXT


def _irregular_csv(content: pa.Buffer, header: Header, names: list[str]) -> pa.Table:
    lines = io.StringIO(_text(content), newline="")
    for _ in range(header.before):
        lines.readline()
    csv.field_size_limit(2**31 - 1)
    rows = list(csv.reader(lines, delimiter=header.separator, skipinitialspace=True))
    for number, row in enumerate(rows, header.before + 1):
        if len(row) > len(names):
            raise ValueError(f"row {number} has more cells than the header has names")
    columns = ([row[k] if k < len(row) else None for row in rows] for k in range(len(names)))
    return pa.Table.from_arrays([from_texts(column) for column in columns], names)


def _blank_rows(table: pa.Table) -> Bools:
    """Return which rows have no text in any cell."""
    blank = np.ones(len(table), np.bool_)
    for k in range(table.num_columns):
        cells = plain(table[k].filter(from_numpy(blank)))
        if cells.type == TEXT:
            blank[blank] = ~(floats_in(pc.utf8_length(pc.utf8_trim_whitespace(cells))) > 0)
        else:
            blank[blank] = nulls_in(cells)
        if not blank.any():
            break
    return blank


def _header(content: pa.Buffer) -> Header:
    lines = io.TextIOWrapper(pa.BufferReader(content), encoding="utf-8", newline="")
    before = 0
    separator = ""
    line = "\n"
    while line and (not line.strip() or line.startswith(("#", "sep="))):  # nothing, a comment, or Excel's separator
        separator = line[4] if line.startswith("sep=") and len(line) > 4 else separator
        line = lines.readline()
        before += 1
    separator = separator or max(_SEPARATORS, key=line.count)
    separator = separator if separator in line else ","
    names = _cells(line, separator)
    cells = _cells(lines.readline(), separator)
    if len(cells) <= len(names):
        return Header(names, before, separator, cells)
    raise ValueError(_MORE_CELLS)


def _cells(line: str, separator: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])


# ---- JSON --------------------------------------------------------------------------------------------------------


def _read_json(content: pa.Buffer, path: str | None = None) -> Sheet:
    text = _text(content)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        rows = _objects(text) if error.msg == "Extra data" else None  # JSON lines, by many tools
        if rows is None:
            raise
        return _sheet_of_objects(rows)
    if path is not None:
        return replace(_sheet_of_value(value_at(value, path)), path=path)
    return _sheet_of_value(value)


def _read_json_lines(content: pa.Buffer) -> Sheet:
    text = _text(content)
    # Not splitlines: the text of a language model may hold other characters that end lines.
    lines = {number: line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    rows: list[Object] = []
    for number, line in lines.items():
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            objects = None if rows else _objects(text)
            if objects is None:
                raise ValueError(f"row {number} is not JSON: {error.msg}") from None
            return _sheet_of_objects(objects)
        if not isinstance(row, dict):
            raise ValueError(f"row {number} must be a JSON object; got {line[:40]}")
        rows.append(row)
    if len(rows) == 1 and any(isinstance(part, dict | list) for part in rows[0].values()):  # one document on one line
        return _sheet_of_value(rows[0])
    return replace(_sheet_of_objects(rows), rows=np.array(list(lines), dtype=np.int64))


def _sheet_of_value(value: object) -> Sheet:
    """Return the table that a document holds: rows, columns, or one list of rows within it."""
    if value == []:
        return _sheet_of_columns([], [])
    if _are_objects(value):
        return _sheet_of_objects(value)
    if not isinstance(value, dict) or not value:
        raise ValueError("it must be a list of objects, or an object of columns or with one list of objects")
    names = value.get("columns")
    data = value.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return _sheet_of_rows(names, data)
    if all(isinstance(part, dict) for part in value.values()) and not _lists_in(value):
        return _sheet_of_named(value)
    if all(isinstance(part, list) for part in value.values()) and not _lists_in(value):
        return _sheet_of_lists(value)
    return _nested_rows(value)


def _sheet_of_objects(rows: Sequence[Object]) -> Sheet:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return _sheet_of_columns(names, [from_values([row.get(name) for row in rows]) for name in names])


def _sheet_of_rows(names: Sequence[str], data: Sequence[Sequence[object]]) -> Sheet:
    """Return the table of names and rows, as pandas, MLflow and W&B write it."""
    if any(len(row) != len(names) for row in data):
        raise ValueError("its rows must have as many values as there are columns")
    return _sheet_of_columns(names, [from_values([row[k] for row in data]) for k in range(len(names))])


def _sheet_of_lists(columns: Object) -> Sheet:
    lists = [list(part) for part in columns.values() if isinstance(part, list)]
    if len({len(part) for part in lists}) > 1:
        raise ValueError("its columns must have the same length")
    return _sheet_of_columns(list(columns), [from_values(part) for part in lists])


def _sheet_of_named(value: Object) -> Sheet:
    """Return the table of objects by the numbers or ids of rows; by the names of columns, if rows are numbered."""
    parts = {name: part for name, part in value.items() if isinstance(part, dict)}
    first = next(iter(parts.values()))
    if all(map(str.isdecimal, first)) and not all(map(str.isdecimal, parts)):
        index = list(dict.fromkeys(name for part in parts.values() for name in part))
        columns = [from_values([part.get(name) for name in index]) for part in parts.values()]
        return _sheet_of_columns(list(parts), columns)
    if all(map(str.isdecimal, parts)) or "id" in first:
        return _sheet_of_objects(list(parts.values()))
    return _sheet_of_objects([{"id": name, **row} for name, row in parts.items()])


def _nested_rows(value: Object) -> Sheet:
    """Return the one list of objects within a document."""
    paths = dict(_lists_in(value))
    if len(paths) > 1:
        reason = f"it must have one list of objects; it has {', '.join(paths)}"
        raise ValueError(
            f"{reason}. Say which with the role rows: rows={max(paths, key=lambda path: len(paths[path]))}"
        )
    for path, rows in paths.items():
        return replace(_sheet_of_objects(rows), path=path)
    raise ValueError("it must be a list of objects, or an object of columns or with one list of objects")


def _lists_in(value: Object, depth: int = 1) -> list[tuple[str, list[Object]]]:
    """Return the lists of objects in nested objects, with their dotted paths."""
    lists: list[tuple[str, list[Object]]] = []
    for name, part in value.items():
        if _are_objects(part):
            lists.append((name, part))
        elif isinstance(part, dict) and depth < _DEEPEST:
            lists += [(f"{name}.{path}", rows) for path, rows in _lists_in(part, depth + 1)]
    return lists


def _are_objects(part: object) -> TypeGuard[list[Object]]:
    return isinstance(part, list) and len(part) > 0 and all(isinstance(row, dict) for row in part)


def _objects(content: str) -> list[Object] | None:
    """Return the objects of a JSON list, or of objects one after the other."""
    try:
        rows = list(_documents(content))
    except ValueError:
        return None
    return rows if _are_objects(rows) else None


def _documents(content: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    position = 0
    while position < len(content.rstrip()):
        value, position = decoder.raw_decode(content, position)
        yield from value if isinstance(value, list) else [value]
        while position < len(content) and content[position].isspace():
            position += 1


# ---- binary formats ----------------------------------------------------------------------------------------------


def _read_numpy(content: pa.Buffer) -> Sheet:
    try:
        loaded = np.load(io.BytesIO(content), allow_pickle=False)
        arrays = dict(loaded) if isinstance(loaded, np.lib.npyio.NpzFile) else {"": loaded}
    except ValueError as error:
        raise ValueError(f"{str(error).rstrip('.')}; text must be saved as array.astype(str)") from None
    if "" in arrays and arrays[""].dtype.names is None:
        raise ValueError("one array has no labels; save both with numpy.savez(FILE, y_true=..., y_prob=...)")
    if "" in arrays:
        arrays = {name: arrays[""][name] for name in arrays[""].dtype.names or ()}
    columns: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.ndim == 2 and array.shape[1] > 1:
            columns |= {f"{name}_{k}": array[:, k] for k in range(array.shape[1])}
        elif array.ndim in (1, 2):
            columns[name] = array.ravel()
    lengths = {len(column): name for name, column in columns.items()}
    if len(lengths) > 1:
        sizes = " and ".join(f"{name} has {size}" for size, name in list(lengths.items())[:2])
        raise ValueError(f"its arrays must have the same length; {sizes}")
    return _sheet_of_columns(list(columns), [from_numpy(column) for column in columns.values()])


def _read_parquet(content: pa.Buffer) -> Sheet:
    from pyarrow import parquet

    return _sheet_of_table(parquet.ParquetFile(pa.BufferReader(content)).read())


def _read_arrow(content: pa.Buffer) -> Sheet:
    try:
        return _sheet_of_table(pa.ipc.open_file(content).read_all())
    except pa.ArrowInvalid:  # a stream, as `datasets` writes it
        return _sheet_of_table(pa.ipc.open_stream(content).read_all())


def _sheet_of_table(table: pa.Table) -> Sheet:
    if any(pa.types.is_run_end_encoded(kind) for kind in table.schema.types):  # of which pyarrow selects no rows
        table = pa.Table.from_arrays([plain(column) for column in table], table.column_names)
    return Sheet(table, np.arange(len(table)) + 1)


def _read_excel(content: pa.Buffer) -> Sheet:
    try:
        import openpyxl
    except ImportError:
        raise missing_package("Excel files need", "openpyxl") from None
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    filled: dict[str, list[tuple[int, Sequence[object]]]] = {}
    for sheet in book.worksheets:
        numbered = enumerate(sheet.iter_rows(values_only=True), 1)
        rows = [(number, row) for number, row in numbered if any(cell is not None for cell in row)]
        if len(rows) > 1:
            filled[sheet.title] = rows
    if len(filled) > 1:
        raise ValueError(f"it has several sheets: {', '.join(filled)}; save the one that you mean as a file of its own")
    if not filled:
        return _sheet_of_columns([], [])
    (_, header), *body = next(iter(filled.values()))
    names = [f"Unnamed: {k}" if name is None else str(name) for k, name in enumerate(header)]
    columns = [from_values([row[k] if k < len(row) else None for _, row in body]) for k in range(len(names))]
    return _sheet_of_columns(names, columns, np.array([number for number, _ in body], np.int64))


def _from_series(column: pd.Series) -> pa.Array:
    try:
        return plain(pa.Array.from_pandas(column))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return from_values([None if value is None or value != value else value for value in column.tolist()])


_DECOMPRESSORS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".zst": _unzstd, ".zip": _unzip}
_READERS: dict[str, Callable[[pa.Buffer], Sheet]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".txt": _read_csv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
    ".parquet": _read_parquet,
    ".npz": _read_numpy,
    ".npy": _read_numpy,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
    ".xlsx": _read_excel,
}

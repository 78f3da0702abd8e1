"""A path, an address or standard input -> a sheet, whose rows know their place in the file. Without pandas."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeGuard
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, missing_package
from ..inputs import Array, Bools, Ints
from .columns import NAMES, is_known, is_of_numbers
from .values import (
    TEXT,
    Sheet,
    constant,
    floats_in,
    from_numpy,
    from_texts,
    from_values,
    is_number_text,
    nulls_in,
    parse_cells,
    plain,
)

if TYPE_CHECKING:
    import pandas as pd

STANDARD_INPUT = "-"
_TEXTS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")
_BINARY = (".parquet", ".npz", ".npy", ".arrow", ".feather", ".xlsx")
TABLE_SUFFIXES = (*_TEXTS, ".parquet")  # what a page may take; `_READERS` has all
_SIGNATURES = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrow"}
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_PART = re.compile(r"(part-\d{5}.*|data-\d{5}-of-\d{5}.*|data_\d+.*)")  # of Spark, `datasets` and DuckDB
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_SEPARATORS = ";\t,|"
_SPACES = r"\s+"
_BLOCK = 2**24  # bytes of CSV parsed together, of which a row may not be longer
_MORE_CELLS = "the rows have more cells than the header has names"
_ROWS = ("samples", "results", "test_cases", "testCases", "rows", "data")  # where several lists hold objects
_DEEPEST = 4
Object = dict[str, object]  # of JSON


def frame_of(sheet: Sheet, *, text: Collection[str] = ()) -> pd.DataFrame:
    """Return the rows of a sheet as a data frame; columns of numbers are numbers, but for those that are text."""
    columns = {name: sheet.column(name) for name in sheet.table.column_names}
    return pa.table({name: one if name in text else parse_cells(one) for name, one in columns.items()}).to_pandas()


def sheet_of(frame: pd.DataFrame, rows: Ints | None = None) -> Sheet:
    """Return the rows of a data frame as a sheet, numbered from 1 if they are not."""
    names = [str(name) for name in frame.columns]
    columns = [frame.iloc[:, k] for k in range(len(names))]
    arrays = [_from_series(column) for column in columns]
    return Sheet(pa.Table.from_arrays(arrays, names), np.arange(len(frame)) + 1 if rows is None else rows)


def read_sheet(path: str | Path, *, rows: str | None = None) -> Sheet:
    """Read a CSV (commas, semicolons, tabs), JSON lines, JSON, Parquet, Arrow, NumPy or Excel file, also compressed.

    The path may be an address that fsspec knows, "-" for standard input, or a folder with the parts of one table;
    `rows` is the dotted path to the list of rows in a JSON document that has several.
    """
    if Path(path).is_dir():
        return _read_parts(Path(path))
    content, suffix = pa.py_buffer(b""), ""
    try:
        content, suffix = content_of(path)
        if not content.size:
            return _sheet_of_columns([], [])
        if suffix not in _READERS:
            raise FileError(path, f"the suffix must be one of {', '.join(_READERS)}")
        sheet = _read_json(content, rows) if suffix == ".json" and rows else _READERS[suffix](content)
        require_distinct(sheet.table.column_names)
        return sheet
    except (FileError, MemoryError):
        raise
    except FileNotFoundError:
        raise FileError(path, "there is no such file") from None
    except RecursionError:
        raise FileError(path, f"cannot be read as {suffix_of(path)}: the JSON is nested too deeply") from None
    except UnicodeDecodeError:
        rule = f"cannot be read as {suffix_of(path)}: it is not UTF-8 text"
        raise FileError(path, rule, advice="save_as_utf_8") from None
    except ImportError as error:
        raise FileError(path, f"cannot be read: {str(error).rstrip('.')}") from None
    except Exception as error:  # what parsers raise on broken content is beyond listing
        reason = str(error).removeprefix(f"{path}: ").strip().split("\n")[0].rstrip(".") or type(error).__name__
        advice = "give_suffix" if "json" in suffix and _sniff(content) == ".csv" else ""
        raise FileError(path, f"cannot be read as {suffix_of(path)}: {reason}", advice=advice) from None


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
    found, is_stem = list(names), [name == stem for name, stem in zip(names, stems, strict=True)]
    for longer in (with_folders, paths):
        found = [longer[i] if is_stem[i] and found.count(name) > 1 else name for i, name in enumerate(found)]
    return found


def require_distinct(names: Iterable[str]) -> None:
    """Raise ValueError if columns have the same name; one without a name may occur several times."""
    repeated = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if repeated:
        raise ValueError(f"columns must have different names; {repeated[0]!r} is repeated")


def content_of(path: str | Path) -> tuple[pa.Buffer, str]:
    """Return the bytes of a file, decompressed, and its format as a suffix; empty where it is unknown."""
    name, content = str(path), _bytes_of(str(path))
    compression, head = Path(name).suffix.lower(), content[:6].to_pybytes()
    if compression not in _DECOMPRESSORS:
        found = [suffix for magic, suffix in _MAGIC.items() if head.startswith(magic) and not Path(name).is_file()]
        compression = found[0] if found else ""
    if compression:
        content = pa.py_buffer(_DECOMPRESSORS[compression](content.to_pybytes()))
        name = name.removesuffix(Path(name).suffix)
    suffix = Path(name).suffix.lower()
    return content, suffix if suffix in (*_TEXTS, *_BINARY) else _sniff(content)


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
    found = json.detect_encoding(head[:4])
    zeros = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 3, "utf-32-be": 3}.get(found)
    return found if zeros in (None, head[:4].count(0)) else "utf-8"


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


def _read_parts(folder: Path) -> Sheet:
    """Read the files that together are one table; rows are counted through all of them."""
    inside = [path.relative_to(folder) for path in folder.rglob("*")]
    parts = sorted(path for path in inside if path.parent == Path() and _PART.fullmatch(path.name))
    data = [path for path in inside if path.suffix.lower() in _READERS and not path.name.startswith(("_", "."))]
    below = [path for path in data if path.parent != Path()]
    hive = sorted(path for path in below if all("=" in name for name in path.parts[:-1]))  # model=a/part.csv
    if not parts and not hive:
        raise FileError(folder, "is a folder, and not of the parts of one table", advice="name_its_files")
    tables, decimal_comma = list[pa.Table](), False
    for part in parts or hive:
        table, rows, has_comma, _ = read_sheet(folder / part)
        for name, value in named_by_folders(part.parts[:-1]).items():
            if name not in table.column_names:
                table = table.append_column(name, constant(value, len(table)))
        if not len(rows):
            continue
        if tables and table.column_names != tables[0].column_names:
            raise FileError(folder, f"its parts must have the same columns; {part.name} has others")
        tables, decimal_comma = [*tables, table], decimal_comma or has_comma
    joined = _sheet_of_columns(tables[0].column_names if tables else [], _concatenate(tables))
    return joined._replace(decimal_comma=decimal_comma)


def _concatenate(tables: Sequence[pa.Table]) -> list[pa.Array]:
    columns = range(tables[0].num_columns if tables else 0)
    try:
        whole = pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers in one part, words in another
        return [from_values([value for table in tables for value in table[k].to_pylist()]) for k in columns]
    return [plain(whole[k]) for k in columns]


def named_by_folders(folders: Iterable[str]) -> dict[str, str | None]:
    """Return the columns in the names of folders, e.g. model=a, as Hive and Spark write them."""
    named = (name.partition("=") for name in folders if "=" in name)
    return {key: None if value == _NO_VALUE else unquote(value) for key, _, value in named if key}


class Header(NamedTuple):
    """The names of the columns of CSV, how many lines are before its rows, what separates cells, and its first row."""

    names: list[str]
    before: int
    separator: str
    cells: list[str]


def _read_csv(content: pa.Buffer) -> Sheet:
    content = _utf_8(content)
    header = _header(content)
    if not header.names:
        return _sheet_of_columns([], [])
    require_distinct(header.names)
    names = [name if name.strip() else f"Unnamed: {k}" for k, name in enumerate(header.names)]
    table = _regular_csv(content, header, names)
    table = _irregular_csv(content, header, names) if table is None else table
    rows = np.arange(len(table)) + header.before + 1
    sheet = Sheet(table, rows, header.separator == ";")
    blank = _blank_rows(table)
    return sheet.select(~blank) if blank.any() else sheet


def _regular_csv(content: pa.Buffer, header: Header, names: list[str]) -> pa.Table | None:
    """Return the cells, or None where rows lack cells, or it is written as Arrow does not read it."""
    from pyarrow import csv as arrow

    has_quotes = re.search(rb'"', content) is not None
    separator = re.escape(header.separator.encode())
    if header.separator == _SPACES or (has_quotes and re.search(separator + rb' +"', content)):
        return None
    reading = arrow.ReadOptions(skip_rows=header.before, column_names=names, block_size=_BLOCK)
    parsing = {"delimiter": header.separator, "newlines_in_values": has_quotes, "ignore_empty_lines": False}
    texts = dict.fromkeys(names, TEXT)
    kinds = texts | {name: _kind_of(name, cell) for name, cell in zip(names, header.cells, strict=False)}
    for types in (kinds, texts) if kinds != texts else (texts,):  # as numbers, unless a cell is none
        converting = arrow.ConvertOptions(column_types=types, null_values=[""])
        try:
            return arrow.read_csv(pa.BufferReader(content), reading, arrow.ParseOptions(**parsing), converting)
        except pa.ArrowInvalid:
            continue
    return None


def _kind_of(name: str, cell: str) -> pa.DataType:
    """Return the type to try for a column of CSV."""
    is_number = is_number_text(cell)
    if is_number and name.strip().lower() in NAMES["correct"] and cell.isdecimal():
        return pa.int64()
    return pa.float64() if is_number and is_of_numbers(name) else TEXT


def _irregular_csv(content: pa.Buffer, header: Header, names: list[str]) -> pa.Table:
    lines = io.StringIO(_text(content), newline="")
    for _ in range(header.before):
        lines.readline()
    is_spaced = header.separator == _SPACES
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(
        (line.strip(" \t") for line in lines) if is_spaced else lines,
        delimiter=" " if is_spaced else header.separator,
        skipinitialspace=True,
    )
    rows = list(reader)
    longer = next((k for k, row in enumerate(rows, header.before + 1) if len(row) > len(names)), None)
    if longer is not None:
        raise ValueError(f"row {longer} has more cells than the header has names")
    cells = ([row[k] if k < len(row) else None for row in rows] for k in range(len(names)))
    return pa.Table.from_arrays([from_texts(column) for column in cells], names)


def _blank_rows(table: pa.Table) -> Bools:
    """Return which rows have no text in any cell."""
    blank = np.ones(len(table), np.bool_)
    for k in range(table.num_columns):
        cells = plain(table[k].filter(from_numpy(blank)))
        lengths = floats_in(pc.utf8_length(pc.utf8_trim_whitespace(cells))) if cells.type == TEXT else ~nulls_in(cells)
        blank[blank] = ~(lengths > 0)
        if not blank.any():
            break
    return blank


def _header(content: pa.Buffer) -> Header:
    lines = io.TextIOWrapper(pa.BufferReader(content), encoding="utf-8", newline="")
    line, before = lines.readline(), 1
    while line and not line.strip():
        line, before = lines.readline(), before + 1
    declared = re.fullmatch(r"sep=(.)\s*", line)  # the line by which Excel names its separator
    if declared:
        line, before = lines.readline(), before + 1
    while line.startswith("#"):
        following = lines.readline()
        separator = _separator(following)
        names, cells = _cells(line[1:], separator), _cells(following, separator)
        if len(names) == len(cells) > 1 and any(map(is_number_text, cells)):  # names, as NumPy's savetxt writes them
            return Header(names, before, separator, cells)
        if not following:
            break
        line, before = following, before + 1  # a comment
    following = lines.readline()
    separator = declared[1] if declared else _separator(line)
    names, cells = _cells(line, separator), _cells(following, separator)
    if separator == "|" and re.fullmatch(r"[\s|:-]*-[\s|:-]*", following):  # the rule below the header in Markdown
        before, cells = before + 1, cells[: len(names)]
    if len(cells) <= len(names):
        return Header(names, before, separator, cells)
    if len(cells) == len(names) + 1 and separator in ("\t", _SPACES) and cells[-1]:  # names of rows, as R writes them
        return Header(["", *names], before, separator, cells)
    raise ValueError(_MORE_CELLS)


def _separator(line: str) -> str:
    if any(separator in line for separator in _SEPARATORS):
        return max(_SEPARATORS, key=line.count)
    return _SPACES if len(line.split()) > 1 else ","


def _cells(line: str, separator: str) -> list[str]:
    line, delimiter = (line.strip(), " ") if separator == _SPACES else (line, separator)
    return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])


def _read_json(content: pa.Buffer, path: str | None = None) -> Sheet:
    text = _text(content)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and (rows := _objects(text)) is not None:  # JSON lines, by many tools
            return _sheet_of_objects(rows)
        raise
    if path is not None:
        value = value_at(value, path)
    if _are_objects(value):
        return _sheet_of_objects(value)
    sheet = _sheet_of_object(value) if isinstance(value, dict) else None
    if sheet is None and value != []:
        raise ValueError("it must be a list of objects, or an object of columns or with one list of objects")
    return sheet or _sheet_of_columns([], [])


def _read_json_lines(content: pa.Buffer) -> Sheet:
    text = _text(content)
    # Not splitlines: the text of a language model may hold other characters that end lines.
    lines = {number: line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    rows: list[Object] = []
    for number, line in lines.items():
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            if not rows and (objects := _objects(text)) is not None:
                return _sheet_of_objects(objects)
            raise ValueError(f"row {number} is not JSON: {error.msg}") from None
        if not isinstance(row, dict):
            raise ValueError(f"row {number} must be a JSON object; got {line[:40]}")
        rows.append(row)
    if len(rows) == 1 and (sheet := _sheet_of_object(rows[0])) is not None and len(sheet.rows) > 1:
        return sheet  # one document on one line
    return _sheet_of_objects(rows)._replace(rows=np.array(list(lines), dtype=np.int64))


def _sheet_of_objects(rows: Sequence[Object]) -> Sheet:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return _sheet_of_columns(names, [from_values([row.get(name) for row in rows]) for name in names])


def _sheet_of_object(value: Object) -> Sheet | None:
    """Return the table of an object of rows or columns as pandas, MLflow and W&B write it, or of a list within it."""
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        if any(len(row) != len(names) for row in data):
            raise ValueError("its rows must have as many values as there are columns")
        return _sheet_of_columns(names, [from_values([row[k] for row in data]) for k in range(len(names))])
    objects = {name: part for name, part in value.items() if isinstance(part, dict)}
    if value and len(objects) == len(value) and (sheet := _of_objects(objects)) is not None:
        return sheet
    lists = [part for part in value.values() if isinstance(part, list)]
    if value and len(lists) == len(value) and (len(value) > 1 or not _are_objects(lists[0])):
        if len({len(part) for part in lists}) > 1:
            if (rows := _nested_rows(value)) is not None:
                return rows
            raise ValueError("its columns must have the same length")
        return _sheet_of_columns(list(value), [from_values(part) for part in lists])
    return _nested_rows(value)


def _of_objects(value: Mapping[str, Object]) -> Sheet | None:
    """Return the table of objects by the numbers or ids of rows, or by the names of columns."""
    first = next(iter(value.values()))
    if any(isinstance(cell, dict | list) for cell in first.values()) and not all(map(str.isdecimal, value)):
        return None
    has_numbers = all(map(str.isdecimal, value)) and not any(map(str.isdecimal, first))
    if has_numbers or (any(map(is_known, first)) and not any(map(is_known, value))):
        rows = [dict(row) for row in value.values()]
        has_ids = has_numbers or "id" in first
        return _sheet_of_objects(rows if has_ids else [{"id": name, **row} for name, row in value.items()])
    index = list(dict.fromkeys(name for part in value.values() for name in part))
    return _sheet_of_columns(list(value), [from_values([part.get(name) for name in index]) for part in value.values()])


def _nested_rows(value: Object) -> Sheet | None:
    """Return the one list of objects that is nearest to the top of a document."""
    level: Object = dict(value)
    for _ in range(_DEEPEST):
        found = {name: part for name, part in level.items() if _are_objects(part)}
        wanted = [name for known in _ROWS for name in found if name.rpartition(".")[2] == known][:1]
        if len(found) > 1 and not wanted:
            rule = f"it must have one list of objects; it has {', '.join(found)}"
            raise ValueError(f"{rule}. Say which with the role rows: rows=PATH")
        if found:
            return _sheet_of_objects(found[(wanted or list(found))[0]])
        objects = {name: part for name, part in level.items() if isinstance(part, dict)}
        level = {f"{name}.{key}": inner for name, part in objects.items() for key, inner in part.items()}
    return None


def _are_objects(part: object) -> TypeGuard[list[Object]]:
    return isinstance(part, list) and len(part) > 0 and all(isinstance(row, dict) for row in part)


def _objects(content: str) -> list[Object] | None:
    """Return the objects of a JSON list, or of objects one after the other."""
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
    return rows if _are_objects(rows) else None


def value_at(value: object, path: str) -> object:
    """Return the value at a dotted path in nested objects and lists, or in their JSON text, or None."""
    for step in path.split("."):
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            try:
                value = json.loads(value)
            except ValueError:
                return None
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list | tuple) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


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
        if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
            columns[name] = array.ravel()
        elif array.ndim == 2:
            is_one_hot = np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all()
            is_label = is_one_hot and name.lower() in NAMES["label"]
            parts = {f"{name}_{k}": array[:, k] for k in range(array.shape[1])}
            columns |= {name: array.argmax(axis=1)} if is_label else parts
    if len(lengths := {len(column): name for name, column in columns.items()}) > 1:
        (size, name), (other_size, other), *_ = lengths.items()
        raise ValueError(f"its arrays must have the same length; {name} has {size} and {other} has {other_size}")
    return _sheet_of_columns(list(columns), [from_numpy(column) for column in columns.values()])


def _read_parquet(content: pa.Buffer) -> Sheet:
    from pyarrow import parquet

    return _of_table(parquet.ParquetFile(pa.BufferReader(content)).read())


def _read_arrow(content: pa.Buffer) -> Sheet:
    try:
        return _of_table(pa.ipc.open_file(content).read_all())
    except pa.ArrowInvalid:  # a stream, as `datasets` writes it
        return _of_table(pa.ipc.open_stream(content).read_all())


def _of_table(table: pa.Table) -> Sheet:
    encoded = [pa.types.is_run_end_encoded(kind) for kind in table.schema.types]
    if any(encoded):  # of which pyarrow selects no rows
        columns = [plain(column) if is_encoded else column for column, is_encoded in zip(table, encoded, strict=True)]
        table = pa.Table.from_arrays(columns, table.column_names)
    return Sheet(table, np.arange(len(table)) + 1)


def _read_excel(content: pa.Buffer) -> Sheet:
    try:
        import openpyxl
    except ImportError:
        raise missing_package("Excel files need", "openpyxl") from None
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    numbered = {sheet.title: enumerate(sheet.iter_rows(values_only=True), 1) for sheet in book.worksheets}
    sheets = {name: [(k, row) for k, row in rows if any(c is not None for c in row)] for name, rows in numbered.items()}
    filled = {name: rows for name, rows in sheets.items() if len(rows) > 1}
    if len(filled) > 1:
        raise ValueError(f"it has several sheets: {', '.join(filled)}; save the one that you mean as a file of its own")
    if not filled:
        return _sheet_of_columns([], [])
    (_, header), *body = next(iter(filled.values()))
    names = [f"Unnamed: {k}" if name is None else str(name) for k, name in enumerate(header)]
    columns = [from_values([row[k] if k < len(row) else None for _, row in body]) for k in range(len(names))]
    return _sheet_of_columns(names, columns, np.array([k for k, _ in body], np.int64))


def _from_series(column: pd.Series) -> pa.Array:
    try:
        return plain(pa.Array.from_pandas(column))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return from_values([None if value is None or value != value else value for value in column.tolist()])


_DECOMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": _unzstd,
    ".zip": _unzip,
}
_READERS: dict[str, Callable[[pa.Buffer], Sheet]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), _read_csv),
    **dict.fromkeys((".jsonl", ".ndjson"), _read_json_lines),
    ".json": _read_json,
    ".parquet": _read_parquet,
    **dict.fromkeys((".npz", ".npy"), _read_numpy),
    **dict.fromkeys((".arrow", ".feather"), _read_arrow),
    ".xlsx": _read_excel,
}

"""Files of visitors -> tables, or an error in words of the page. What no table of this page can be is refused early."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ecuas_metric.reporting.submissions import ENDINGS, Table, find_columns, read_frame, read_tables

MAX_BYTES = 20_000_000
MAX_BYTES_OF_ALL = 60_000_000
MAX_COLUMNS = 25_000
MAX_CELLS = 25_000_000
MAX_UNFOLDED = 500_000_000
MAX_SYSTEMS = 50
COLUMNS = {  # what the page lets visitors choose a column for -> what to choose
    "confidence": "Numbers in [0, 1]",
    "correct": "0 or 1, true or false",
    "label": "The true class, from 0",
    "posteriors": "A column of lists; prob_0, prob_1, .. are found by themselves",
    "system": "Names of systems; several columns as llm+method",
    "id": "Pairs the samples of different systems",
    "weight": "How much each sample counts",
    "group": "Samples that are resampled together",
}
HELP = (
    "CSV, JSON lines or Parquet with columns `confidence` and `correct` (0 or 1), or `label`, `prob_0`, `prob_1`, .. "
    "Several systems in one file need a column `system`; a column `id` pairs their samples."
)
WORDS = {  # how the command line says what to do, a pattern -> how the page does
    r" Name them with --columns, as .*": " Choose them under Columns.",
    r" Say which with --columns, as .*": " Choose it under Columns.",
    r"Leave such answers out with --drop-unjudged\.": "Tick “Leave out answers without a verdict” to go on.",
    r"Set missing_confidence to a number in \[0, 1\] to count them as that\.": "Say under Options what they count as.",
    r"Say so with predictions_are\.": "Say so under Options.",
    r"predictions_are='logits' takes rows of any sum\.": "Under Options, logits may have rows of any sum.",
    "num_classes goes with": "The number of possible answers goes with",
    "missing_confidence goes with": "What missing confidences count as goes with",
    "predictions_are goes with": "What posteriors are goes with",
}


def read_uploads(
    paths: Sequence[str], *, columns: Mapping[str, str | None] | None = None, drop_unjudged: bool = False
) -> list[Table]:
    """Read the systems of all files.

    Parameters
    ----------
    paths : sequence of str
        As `tables.read_tables` takes them.
    columns : mapping, optional
        What a column is for to its name, for those files that have a column of that name; nothing where it is empty.
    drop_unjudged : bool
        Leave out answers whose correctness is missing, and count them.

    Raises
    ------
    ValueError
        In the words of the page, with file name, row and column.
    """
    if not paths:
        raise ValueError("There is no file yet: upload one, or load an example.")
    if (size := sum(path.stat().st_size for path in map(Path, paths) if path.exists())) > MAX_BYTES_OF_ALL:
        raise ValueError(f"The page takes at most {MAX_BYTES_OF_ALL:,} bytes in all; got {size:,}.")
    chosen = {name: column for name, column in (columns or {}).items() if column}
    known: set[str] = set()
    tables: list[Table] = []
    for path in map(Path, paths):
        found = set(column_names(path))
        known |= found
        present = {name: column for name, column in chosen.items() if _parts(name, column) <= found}
        tables += _told(read_tables, path, columns=present, drop_unjudged=drop_unjudged)
    for name, column in chosen.items():
        if not _parts(name, column) <= known:
            raise ValueError(f"There is no column {column!r} in any file. Choose another under Columns.")
    if len(tables) > MAX_SYSTEMS:
        raise ValueError(f"The page shows at most {MAX_SYSTEMS} systems; got {len(tables)}. Use the command `ecuas`.")
    return [table._replace(where=table.where._replace(file=Path(table.where.file).name)) for table in tables]


def column_names(path: str | Path) -> list[str]:
    """Return the names of a file's columns, after a check of its size."""
    return [str(name) for name in frame_of(path).columns]


def frame_of(path: str | Path, *, text: Collection[str] = ()) -> Any:
    """Read a file as it is, after a check of its size; the columns `text` stay text."""
    path = Path(path)
    _told(check_size, path)
    return _told(read_frame, path, text=text).frame


def detect(path: str | Path) -> tuple[list[str], dict[str, str | None]]:
    """Return the names of a file's columns, and which of them is used for what (None: none, or several)."""
    frame = frame_of(path)
    try:
        used = find_columns(frame, {}, Path(path).name)
    except ValueError:  # as two that may be meant: to be chosen
        used = {}
    names = {name: used.get(name) if isinstance(used.get(name), str) else None for name in COLUMNS}
    return [str(name) for name in frame.columns], names


def check_size(path: Path) -> None:
    """Refuse a file that would grow beyond all measure when read: look at its bytes first.

    Raises
    ------
    ValueError
        An unknown ending, an empty file, too many bytes, columns or cells, or JSON nested too deeply.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path}: the file must end in one of {', '.join(ENDINGS)}.")
    size = path.stat().st_size
    if not size:
        raise ValueError(f"{path}: the file is empty.")
    _at_most(size, MAX_BYTES, "bytes", path)
    if ending == ".parquet":
        columns, cells = _parquet_size(path)
    elif "json" in ending:
        columns, cells = _json_size(path.read_bytes(), lines=ending != ".json")
    else:
        columns, cells = _csv_size(path.read_bytes())
    _at_most(columns, MAX_COLUMNS, "columns", path)
    _at_most(cells, MAX_CELLS, "cells", path)


def in_words_of_the_page(error: Exception | str, path: Path | None = None) -> str:
    """Return an error's text with file names for paths, and boxes of the page for options of the command line."""
    text = " ".join(str(error).split())
    if path is not None:
        text = text.replace(str(path), path.name)
    for there, here in WORDS.items():
        text = re.sub(there, here, text)
    return text[:600]


def _parts(name: str, column: str) -> set[str]:
    return set(column.split("+")) if name == "system" else {column}


def _told(function: Callable[..., Any], path: Path, **options: Any) -> Any:
    try:
        return function(path, **options)
    except (ValueError, TypeError, LookupError, OSError, RuntimeError, OverflowError, MemoryError) as error:
        text = in_words_of_the_page(error, path)
        raise ValueError(text if text.startswith(path.name) else f"{path.name}: {text}") from None


def _at_most(count: int, limit: int, what: str, path: Path) -> None:
    if count > limit:
        raise ValueError(f"{path}: the page takes at most {limit:,} {what}; got {count:,}. Use the command `ecuas`.")


def _csv_size(content: bytes) -> tuple[int, int]:
    """Return columns and columns times lines, as a reader that fills short lines would make of it."""
    lines = max(content.count(b"\n"), content.count(b"\r")) + 1
    heads = re.split(rb"\r\n|\r|\n", content, maxsplit=2)[:2]  # the first may only name the separator
    columns = max(head.count(separator) for head in heads for separator in (b",", b";", b"\t")) + 1
    return columns, columns * lines


def _json_size(content: bytes, *, lines: bool) -> tuple[int, int]:
    """Return the number of keys, and that times the number of objects; malformed text is left to the reader."""
    try:
        rows = [json.loads(line) for line in content.splitlines()] if lines else json.loads(content)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply.") from None
    except ValueError:
        return 0, 0
    if isinstance(rows, dict):
        lengths = [len(column) for column in rows.values() if isinstance(column, list | dict)]
        return len(rows), len(rows) * max(lengths, default=1)
    rows = rows if isinstance(rows, list) else [rows]
    keys = {key for row in rows if isinstance(row, dict) for key in row}
    return len(keys), max(1, len(keys)) * len(rows)


def _parquet_size(path: Path) -> tuple[int, int]:
    """Return the number of columns and of cells, after a check of the bytes that these would unfold to."""
    with pq.ParquetFile(path) as file:
        metadata, schema = file.metadata, file.schema
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        cells = sum(group.column(i).num_values for group in groups for i in range(group.num_columns))
        texts = [schema.column(i).path for i in range(len(schema)) if schema.column(i).physical_type == "BYTE_ARRAY"]
    _at_most(sum(group.total_byte_size for group in groups), MAX_UNFOLDED, "bytes when unfolded", path)
    if cells <= MAX_CELLS and texts:  # a text that is repeated stands in the file once
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            unfolded = sum(_text_bytes(column) for batch in file.iter_batches() for column in batch.columns)
        _at_most(unfolded, MAX_UNFOLDED, "bytes when unfolded", path)
    return metadata.num_columns, cells


def _text_bytes(column: Any) -> int:
    if not pa.types.is_dictionary(column.type):
        return 0
    return pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0

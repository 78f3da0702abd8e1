"""Parquet files, here or at an address that fsspec knows -> batches of the columns that are read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import numpy as np

from ..errors import FileError
from .layout import layout_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import fs
    from pyarrow import parquet as pq

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
BATCH_BYTES, MOST_ROWS = 2**21, 2**17


class ParquetPart(NamedTuple):
    """A file: its address, its path on its file system, its size in bytes."""

    address: str
    path: str
    size: int
    filesystem: fs.FileSystem


def parts_of(pattern: str) -> list[ParquetPart]:
    """Return the files that a path, a folder or a pattern names, in order.

    Parameters
    ----------
    pattern : str
        E.g. ``logs/*.parquet``, ``logs``, ``hf://datasets/user/logs/data/*.parquet``, ``s3://bucket/logs``.

    Returns
    -------
    list of ParquetPart

    Raises
    ------
    FileError
        If there is none.
    """
    filesystem, paths = _paths_of(pattern)
    if not paths:
        raise FileError(pattern, "there is no such Parquet file")
    is_here = "://" not in pattern
    return [
        ParquetPart(
            os.path.abspath(path) if is_here else filesystem.unstrip_protocol(path),
            path,
            int(filesystem.size(path) or 0),
            filesystem,
        )
        for path in sorted(paths)
    ]


class Groups(NamedTuple):
    """Row groups of a file that are read together, and the number of their first row, from 1."""

    address: str
    groups: tuple[int, ...]
    first: int


def table_of(part: ParquetPart, columns: Mapping[str, str] | None, *, more: Sequence[str]) -> pa.Table:
    """Return a whole file, as far as its columns are read, with some more of them."""
    with _opened(part) as file:
        layout = layout_of(file.schema_arrow, columns, source=part.address)
        return file.read(list(dict.fromkeys([*layout.columns, *more])), use_threads=False)


def schema_of(part: ParquetPart) -> pa.Schema:
    """Return the Arrow schema of a file, with what the names of its folders say."""
    with _opened(part) as file:
        return _with_path(file.schema_arrow, part)


def columns_of(part: ParquetPart) -> list[str]:
    """Return the names of a file's columns."""
    with _opened(part) as file:
        return list(file.schema_arrow.names)


def groups_of(part: ParquetPart, num_rows: int) -> list[Groups]:
    """Return the row groups of a file in parts of about `num_rows` rows.

    Parameters
    ----------
    part : ParquetPart
    num_rows : int

    Returns
    -------
    list of Groups
        None of a file without rows.

    Raises
    ------
    FileError
        If it is not Parquet.
    """
    found: list[Groups] = []
    waiting: list[int] = []
    first = end = 1
    with _opened(part) as file:
        for group in range(file.num_row_groups):
            waiting.append(group)
            end += file.metadata.row_group(group).num_rows
            if end - first >= num_rows or (group == file.num_row_groups - 1 and end > first):
                found.append(Groups(part.address, tuple(waiting), first))
                waiting, first = [], end
    return found


def batches_of(
    part: ParquetPart, columns: Mapping[str, str] | None = None, *, groups: Sequence[int] | None = None
) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Yield batches of the columns that are read, and the share of the file that each is.

    Threads and read-ahead are off: the memory that they take grows with the file.

    Parameters
    ----------
    part : ParquetPart
    columns : mapping, optional
        See `layout.layout_of`.
    groups : sequence of int, optional
        The row groups to read; by default all.

    Yields
    ------
    batch : pyarrow.RecordBatch
    share : float

    Raises
    ------
    FileError
        If it is not Parquet, or see `layout.layout_of`.
    """
    with _opened(part) as file:
        schema = _with_path(file.schema_arrow, part)
        layout = layout_of(schema, columns, source=part.address)
        own = [name for name in layout.columns if name in file.schema_arrow.names]
        told = {name: value for name, value in _in_path(part).items() if name in layout.columns and name not in own}
        size = _batch_size(file, own)
        for batch in file.iter_batches(size, row_groups=groups, columns=own, use_threads=False):
            for name, value in told.items():
                batch = batch.append_column(name, _repeated(value, len(batch)))
            yield batch, len(batch) / file.metadata.num_rows


@contextmanager
def _opened(part: ParquetPart) -> Iterator[pq.ParquetFile]:
    import pyarrow as pa
    from pyarrow import parquet as pq

    with ExitStack() as stack:
        try:
            opened = part.path
            if "://" in part.address:  # each column of a row group is one request, and nothing is read ahead of it
                opened = stack.enter_context(part.filesystem.open(part.path, "rb", cache_type="none"))
            yield stack.enter_context(pq.ParquetFile(opened, pre_buffer=False))
        except (pa.ArrowException, OSError) as error:
            reason = str(error).split("\n")[0].rstrip(".")
            raise FileError(part.address, f"cannot be read as Parquet: {reason}") from None


def _paths_of(pattern: str) -> tuple[fs.FileSystem, list[str]]:
    """Return a file system and the paths there that a pattern names."""
    import fsspec

    try:
        filesystem, path = fsspec.core.url_to_fs(pattern)
        if any(character in path for character in "*?["):
            return filesystem, filesystem.glob(path)
        if filesystem.isdir(path):
            return filesystem, [name for name in filesystem.find(path) if _is_data(name.removeprefix(path))]
        return filesystem, [path] if filesystem.exists(path) else []
    except (ImportError, ValueError, OSError) as error:  # an unknown protocol, a missing package, no access
        raise FileError(pattern, f"cannot be read: {str(error).split(chr(10))[0].rstrip('.')}") from None


def _with_path(schema: pa.Schema, part: ParquetPart) -> pa.Schema:
    import pyarrow as pa

    for name, value in _in_path(part).items():
        if name not in schema.names:
            schema = schema.append(pa.field(name, _repeated(value, 0).type))
    return schema


def _repeated(value: str | None, count: int) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([value], pa.string()))


def _is_data(path: str) -> bool:
    """Return whether a file in a folder holds rows; Spark keeps others beside, as in _temporary."""
    return path.endswith(".parquet") and not any(name.startswith(("_", ".")) for name in path.split("/"))


def _in_path(part: ParquetPart) -> dict[str, str | None]:
    """Return what the names of a file's folders say of its rows, e.g. model=a, as Hive and Spark write them."""
    named = (name.partition("=") for name in part.path.split("/")[:-1] if "=" in name)
    return {key: None if value == NO_VALUE else unquote(value) for key, _, value in named if key}


def _batch_size(file: pq.ParquetFile, columns: list[str]) -> int:
    """Return how many rows of the columns take about BATCH_BYTES."""
    metadata = file.metadata
    if not metadata.num_rows:
        return MOST_ROWS
    total = 0
    for group in range(metadata.num_row_groups):
        chunks = (metadata.row_group(group).column(i) for i in range(metadata.num_columns))
        total += sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] in columns)
    return int(min(max(BATCH_BYTES * metadata.num_rows // max(total, 1), 64), MOST_ROWS))

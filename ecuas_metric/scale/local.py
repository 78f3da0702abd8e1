"""The engine on this machine: Parquet files of any size, here or at an address of fsspec, one after the other."""

import hashlib
import itertools
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import partial
from glob import has_magic
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple, Unpack

import fsspec
import numpy as np
import pyarrow as pa
from fsspec import AbstractFileSystem
from pyarrow import parquet as pq
from tqdm.auto import tqdm

from ..basis import Purpose, why_not_comparable
from ..errors import FileError, InputError
from ..files.read import distinct_names, named_by_folders, stem
from ..files.recipe import HEAD, Recipe
from ..files.values import constant
from ..options import Options
from ..summary import Summary
from .batches import RowOptions, check_reading, columns_read, recipe_of_rows, states_of_batches
from .frames import FEW_ROWS, lazy_rows, states_of_frame
from .storage import Collection, merge_collections, read_collection, write_collection

SECONDS_BETWEEN_SAVES = 30.0
BATCH_BYTES, MOST_ROWS = 2**21, 2**17
_SECONDS_BETWEEN_LOOKS = 0.5
_DUCKDB: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "256MB",  # beyond it groups go to disk
    "preserve_insertion_order": False,
}


class ParquetPart(NamedTuple):
    """A file: its address, its path on its file system, its size in bytes."""

    address: str
    path: str
    size: int
    filesystem: AbstractFileSystem


def score_files(
    patterns: Sequence[str | tuple[str, str]],
    options: Options,
    *,
    state_file: str | Path | None = None,
    progress: bool = False,
    recipes: list[Recipe] | None = None,
    **reading: Unpack[RowOptions],
) -> Collection:
    """Return the states of all systems in Parquet files.

    Where no column names the systems, all files of a pattern (see `parts_of`) are one, with the name that is given or
    that of the pattern. States are kept in `state_file`: what they are of already is skipped, so that an interrupted
    run goes on, and next month's files are added to this month's. How each file was read is added to `recipes`. For
    `reading` see `batches.RowOptions`. FileError names file, column, row and value; the files before it are in
    `state_file`.
    """
    check_reading(reading)
    done = read_collection(state_file) if state_file and Path(state_file).exists() else Collection()
    files = parts_of_patterns(patterns)
    saved = time.monotonic()
    is_looked_at = False
    size = sum(part.size for *_, part in files)
    try:
        with tqdm(total=size, unit="B", unit_scale=True, delay=1, disable=not progress) as bar:
            for name, prefix, part in files:
                bar.set_postfix_str(stem(part.path), refresh=False)
                recipe = recipe_of_part(part, reading)
                if recipes is not None:
                    recipes.append(recipe)
                score = partial(states_of_batches, name=name, prefix=prefix, source=part.address, recipe=recipe)
                content = digest_of_file(name, prefix, part, recipe)
                if _is_done(part, content, done):
                    bar.update(part.size)
                    if not is_looked_at:  # whether rows are read now as they were then
                        first = itertools.islice((batch for batch, _ in batches_of(part, recipe)), 1)
                        _require_one_basis(part, score(first, options, **reading), done)
                        is_looked_at = True
                    continue
                states = _added_up(name, prefix, part, recipe, options, bar)
                if states is None:
                    states = score(_watch(part, recipe, bar), options, **reading)
                _require_one_basis(part, states, done)
                done = merge_collections([done, Collection(states, {part.address: content})], names=["", part.address])
                if state_file and time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                    write_collection(state_file, done)
                    saved = time.monotonic()
    finally:
        if state_file and done.files:
            write_collection(state_file, done)
    return done


def parts_of_patterns(patterns: Sequence[str | tuple[str, str]]) -> list[tuple[str, str, ParquetPart]]:
    """Return all files, with the name of their rows where no column has one, and what stands before where one has."""
    found: dict[str, tuple[str, str, ParquetPart]] = {}
    given = [one if isinstance(one, tuple) else ("", one) for one in patterns]
    stems = ["" if name or has_magic(path) else stem(path.rstrip("/")) for name, path in given]
    names = [name or own or path for (name, path), own in zip(given, stems, strict=True)]
    paths = [path for _, path in given]
    are_several = len({name for name, _ in given if name}) > 1
    for name, (own, pattern) in zip(distinct_names(names, paths, stems), given, strict=True):
        for part in parts_of(pattern):
            prefix = f"{own} " if own and are_several else ""
            if found.setdefault(part.address, (name, prefix, part))[-1] is not part:
                raise FileError(part.address, "named_twice")
    return list(found.values())


def parts_of(pattern: str) -> list[ParquetPart]:
    """Return the files that a path, a folder, a pattern or an address such as ``hf://..`` names, in order."""
    filesystem, paths = _paths_of(pattern)
    if not paths:
        raise FileError(pattern, "no_such_parquet_file")
    parts = []
    for path in sorted(paths):
        address = filesystem.unstrip_protocol(path) if "://" in pattern else os.path.abspath(path)
        parts.append(ParquetPart(address, path, int(filesystem.size(path) or 0), filesystem))
    return parts


def recipe_of_part(part: ParquetPart, reading: RowOptions) -> Recipe:
    """Return how the rows of a file are read, by the first of them."""
    with _open(part) as file:
        # Of all columns, also those that are not used, which the recipe names: so of the first row group only.
        batches = file.iter_batches(HEAD, row_groups=[0] if file.num_row_groups else [], use_threads=False)
        head = pa.Table.from_batches([next(batches, [])] if file.metadata.num_rows else [], file.schema_arrow)
        for name, value in _columns_in_path(part, file.schema_arrow).items():
            head = head.append_column(name, value.take(np.zeros(len(head), np.int64)))
        return recipe_of_rows(head, reading, source=part.address, rows=file.metadata.num_rows)


def batches_of(part: ParquetPart, recipe: Recipe) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Yield batches of the columns that are read, and the share of the file that each is."""
    with _open(part) as file:
        in_path = _columns_in_path(part, file.schema_arrow)
        read = columns_read(recipe)
        own = [name for name in read if name not in in_path]
        size = _batch_size(file, own)  # and no threads, which take memory that grows with the file
        for batch in file.iter_batches(size, columns=own, use_threads=False):
            for name in (name for name in read if name in in_path):
                batch = batch.append_column(name, in_path[name].take(np.zeros(len(batch), np.int64)))
            yield batch, len(batch) / file.metadata.num_rows


def _added_up(
    name: str, prefix: str, part: ParquetPart, recipe: Recipe, options: Options, bar: tqdm
) -> dict[str, Summary] | None:
    """Return the states of a file of many confidences, which DuckDB adds up if it is installed; None of others.

    None also if it does not read them, since batches say in which row an error is.
    """
    is_plain = "://" not in part.address and not has_magic(part.path)
    is_installed = all(map(find_spec, ("duckdb", "narwhals")))
    if recipe.form != "confidences" or recipe.rows <= FEW_ROWS or not is_plain or not is_installed:
        return None
    import duckdb
    import narwhals as nw

    start = bar.n
    with duckdb.connect(config=_DUCKDB | {"temp_directory": gettempdir()}) as connection, ThreadPoolExecutor(1) as pool:
        connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        try:
            rows = lazy_rows(connection.read_parquet(part.path, hive_partitioning=False))
            for column, value in _columns_in_path(part, pq.read_schema(part.path)).items():
                rows = rows.with_columns(nw.lit(value[0].as_py()).alias(column))
            score = partial(states_of_frame, rows, options, name=name, prefix=prefix)
            job = pool.submit(score, source=part.address, recipe=recipe)
            while not wait([job], timeout=_SECONDS_BETWEEN_LOOKS).done:
                share = max(connection.query_progress(), 0.0) / 100
                bar.update(start + int(share * part.size) - bar.n)
            states = job.result()
        except (InputError, duckdb.Error):
            bar.update(start - bar.n)
            return None
        except KeyboardInterrupt:
            connection.interrupt()
            raise
        bar.update(start + part.size - bar.n)
        return states


def _columns_in_path(part: ParquetPart, schema: pa.Schema) -> dict[str, pa.Array]:
    """Return the columns that only the names of folders have, each as an array of one value."""
    folders = named_by_folders(part.path.split("/")[:-1])
    return {name: constant(value, 1) for name, value in folders.items() if name not in schema.names}


def _watch(part: ParquetPart, recipe: Recipe, bar: tqdm) -> Iterator[pa.RecordBatch]:
    start = bar.n
    for batch, share in batches_of(part, recipe):
        yield batch
        bar.update(int(share * part.size))
    bar.update(start + part.size - bar.n)


def digest_of_file(name: str, prefix: str, part: ParquetPart, recipe: Recipe) -> str:
    """Return a digest of a file's content, its own name, and the names that its rows have.

    A file is known by it wherever it is; at an address by what the file system says of it.
    """
    folders = [folder for folder in part.path.split("/")[:-1] if "=" in folder]
    own = prefix if recipe.systems else name
    digest = hashlib.blake2b(json.dumps([own, *folders, stem(part.path)]).encode(), digest_size=16)
    if "://" in part.address:
        digest.update(str(part.filesystem.ukey(part.path)).encode())
        return digest.hexdigest()
    with open(part.path, "rb") as content:
        digest.update(hashlib.file_digest(content, "blake2b").digest())
    return digest.hexdigest()


def _is_done(part: ParquetPart, content: str, done: Collection) -> bool:
    before = done.files.get(part.address)
    if before is not None and before != content:
        raise FileError(part.address, "file_changed", advice="score_into_new_state")
    return content in done.files.values()


def _require_one_basis(part: ParquetPart, states: Mapping[str, Summary], done: Collection) -> None:
    """Raise FileError unless rows as they are read now may be merged with what is known of those of before."""
    for name, state in states.items():
        basis = done.states[name].basis if name in done.states else state.basis
        reasons = why_not_comparable(basis, state.basis, purpose=Purpose.MERGE)
        if reasons:
            reason = str(InputError("they", "not_mergeable", reasons=reasons)).rstrip(".")
            raise FileError(part.address, "file_does_not_fit", reason=reason)


@contextmanager
def _open(part: ParquetPart) -> Iterator[pq.ParquetFile]:
    with ExitStack() as stack:
        try:
            opened = part.path
            if "://" in part.address:  # each column of a row group is one request, and nothing is read ahead of it
                opened = stack.enter_context(part.filesystem.open(part.path, "rb", cache_type="none"))
            yield stack.enter_context(pq.ParquetFile(opened, pre_buffer=False))
        except (pa.ArrowException, OSError) as error:
            reason = str(error).split("\n")[0].rstrip(".")
            raise FileError(part.address, "unreadable_as", format="Parquet", reason=reason) from None


def _paths_of(pattern: str) -> tuple[AbstractFileSystem, list[str]]:
    """Return a file system and the paths there that a pattern names."""
    try:
        filesystem, path = fsspec.core.url_to_fs(pattern)
        if has_magic(path):
            return filesystem, filesystem.glob(path)
        if filesystem.isdir(path):
            return filesystem, [name for name in filesystem.find(path) if _is_data(name.removeprefix(path))]
        return filesystem, [path] if filesystem.exists(path) else []
    except (ImportError, ValueError, OSError) as error:  # an unknown protocol, a missing package, no access
        reason = str(error).split("\n")[0].rstrip(".")
        raise FileError(pattern, "unreadable", reason=reason) from None


def _is_data(path: str) -> bool:
    """Return whether a file in a folder holds rows; Spark keeps others beside, as in _temporary."""
    return path.endswith(".parquet") and not any(name.startswith(("_", ".")) for name in path.split("/"))


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

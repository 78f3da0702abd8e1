"""Parquet files of any size, here or at an address of fsspec -> states.

DuckDB adds up one file after the other, or Spark all files of a name.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import fsspec
import pyarrow as pa
from pyarrow import dataset
from tqdm.auto import tqdm

from ..errors import FileError, missing_package
from ..files.read import distinct_names, named_by_folders, stem
from ..files.recipe import HEAD, Reading, Recipe
from ..files.values import constant
from ..options import Options
from .batches import AS_SAID, check_reading, collected, first_line, recipe_of_rows
from .frames import lazy_rows, states_of_frame
from .storage import (
    Collection,
    fitting,
    merge_collections,
    read_collection,
    write_collection,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SECONDS_BETWEEN_SAVES = 30.0
# beyond it groups go to disk
_DUCKDB: dict[str, str | bool | int | float | list[str]] = {"memory_limit": "256MB"}


@dataclass(frozen=True)
class Part:
    """A file, and the names of its rows: that of the system if no column has one, and what stands before those."""

    address: str  # by which states know it
    source: str  # what errors and recipes call it: as it was given
    path: str  # on its file system
    size: int  # bytes
    filesystem: fsspec.AbstractFileSystem
    name: str = ""
    prefix: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return "://" not in self.address

    @cached_property
    def rows(self) -> dataset.Dataset:
        """Its rows, of which nothing is read yet; of an address each column of a row group is one request."""
        options = dataset.ParquetFragmentScanOptions(pre_buffer=not self.is_local)
        format = dataset.ParquetFileFormat(default_fragment_scan_options=options)
        return dataset.dataset(
            [self.path],
            filesystem=self.filesystem,
            format=format,
        )

    def columns_in_path(self) -> dict[str, str | None]:
        """Return the columns that only the names of folders have, as model=a, and their values."""
        folders = named_by_folders(self.path.split("/")[:-1])
        names = self.rows.schema.names
        return {name: value for name, value in folders.items() if name not in names}


FrameOf = Callable[[Sequence[Part]], Any]


def score_files(
    patterns: Sequence[str | tuple[str, str]],
    options: Options,
    *,
    engine: str = "local",
    state_file: str | Path | None = None,
    progress: bool = False,
    recipes: list[Recipe] | None = None,
    reading: Reading = AS_SAID,
) -> Collection:
    """Return the states of all systems in Parquet files, by the engine "local" or "spark".

    Where no column names the systems, all files of a pattern (see `parts_of`) are one, with the name that is given or
    that of the pattern. States are kept in `state_file`: what they are of already is skipped, so that an interrupted
    run goes on, and next month's files are added to this month's. How each file was read is added to `recipes`.
    FileError names file, column, row and value; the files before it are in `state_file`. All files of one name are one
    frame of Spark, for which they must be read in the same way.
    """
    check_reading(reading)
    done = read_collection(state_file) if state_file and Path(state_file).exists() else Collection()
    parts = parts_of_patterns(patterns)
    frames: dict[object, list[Part]] = {}
    for part in parts:
        key = part.address if engine == "local" else (part.name, part.prefix)
        frames.setdefault(key, []).append(part)
    size = sum(part.size for part in parts)
    bar = tqdm(total=size, unit="B", unit_scale=True, delay=1, disable=not progress)
    saved = time.monotonic()
    try:
        with _engine(engine) as frame_of, bar:
            for together in frames.values():
                read = [recipe_of_part(part, reading) for part in together]
                _require_one_recipe(read)
                if recipes is not None:
                    recipes += read
                done = _with_parts(together, read[0], frame_of, options, done)
                bar.update(sum(part.size for part in together))
                if time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                    _save(state_file, done)
                    saved = time.monotonic()
    finally:
        _save(state_file, done)
    return done


def _require_one_recipe(recipes: Sequence[Recipe]) -> None:
    first = recipes[0]
    for recipe in recipes:
        if recipe.digest() != first.digest():
            reason = f"{recipe.said()}, and of {first.source} {first.said()}"
            raise FileError(recipe.source, "file_does_not_fit", reason=reason)


def _save(path: str | Path | None, states: Collection) -> None:
    if path and states.files:
        write_collection(path, states)


def parts_of_patterns(patterns: Sequence[str | tuple[str, str]]) -> list[Part]:
    """Return all files that paths or patterns name, each of which may be (name, pattern)."""
    pairs = [one if isinstance(one, tuple) else ("", one) for one in patterns]
    are_several = len({name for name, _ in pairs if name}) > 1
    parts: dict[str, Part] = {}
    for name, (said, pattern) in zip(
        _names_of(pairs),
        pairs,
        strict=True,
    ):
        for part in parts_of(pattern, name, f"{said} " if said and are_several else ""):
            if part.address in parts:
                raise FileError(part.source, "named_twice")
            parts[part.address] = part
    return list(parts.values())


def _names_of(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return the name of the rows of each (name, pattern) where no column has one."""
    paths = [path for _, path in pairs]
    stems = ["" if name or glob.has_magic(path) else stem(path.rstrip("/")) for name, path in pairs]
    names = [name or own or path for (name, path), own in zip(pairs, stems, strict=True)]
    return distinct_names(names, paths, stems)


def parts_of(
    pattern: str,
    name: str = "",
    prefix: str = "",
) -> list[Part]:
    """Return the files that a path, a folder, a pattern or an address such as ``hf://..`` names, in order."""
    try:
        filesystem, path = fsspec.core.url_to_fs(pattern, skip_instance_cache=True)
        paths = _paths_of(filesystem, path)
    # an unknown protocol, a missing package, no access
    except (ImportError, ValueError, OSError) as error:
        raise FileError(pattern, "unreadable", reason=first_line(error)) from None
    if not paths:
        raise FileError(pattern, "no_such_parquet_file")
    is_local = "://" not in pattern
    if not is_local:
        # nothing is read ahead of what is asked for
        filesystem.open = partial(filesystem.open, cache_type="none")
    is_relative = is_local and not os.path.isabs(pattern)
    parts = []
    for path in sorted(paths):
        address = os.path.abspath(path) if is_local else filesystem.unstrip_protocol(path)
        parts.append(
            Part(
                address,
                os.path.relpath(path) if is_relative else address,
                path,
                int(filesystem.size(path) or 0),
                filesystem,
                name,
                prefix,
            )
        )
    return parts


def _paths_of(filesystem: fsspec.AbstractFileSystem, path: str) -> list[str]:
    """Return what a path, a folder or a pattern names."""
    if glob.has_magic(path):
        return list(filesystem.glob(path))
    if filesystem.isdir(path):
        return [name for name in filesystem.find(path) if _is_data(name.removeprefix(path))]
    return [path] if filesystem.exists(path) else []


def _is_data(path: str) -> bool:
    """Return whether a file in a folder holds rows; Spark keeps others beside, as in _temporary."""
    return path.endswith(".parquet") and not any(
        name.startswith(("_", ".")) for name in path.split("/")
    )


def recipe_of_part(part: Part, reading: Reading) -> Recipe:
    """Return how the rows of a file are read, by the first of them."""
    with _readable(part.source):
        rows = part.rows
        # Of all columns, also those that are not used, which the recipe names: so of the first row group only.
        groups = next(iter(rows.get_fragments())).split_by_row_group()[:1]
        head = groups[0].head(HEAD, use_threads=False) if groups else rows.schema.empty_table()
        for name, value in part.columns_in_path().items():
            head = head.append_column(name, constant(value, len(head)))
        count = rows.count_rows()
    return recipe_of_rows(head, reading, source=part.source, rows=count)


def digest_of_part(part: Part, recipe: Recipe) -> str:
    """Return a digest of a file's content, its own name, and the names that its rows have.

    A file is known by it wherever it is; at an address by what the file system says of it.
    """
    folders = [folder for folder in part.path.split("/")[:-1] if "=" in folder]
    own = part.prefix if recipe.systems else part.name
    digest = hashlib.blake2b(
        json.dumps(
            [
                own,
                *folders,
                stem(part.path),
            ]
        ).encode(),
        digest_size=16,
    )
    if part.is_local:
        with open(part.path, "rb") as content:
            digest.update(hashlib.file_digest(content, "blake2b").digest())
    else:
        digest.update(str(part.filesystem.ukey(part.path)).encode())
    return digest.hexdigest()


@contextmanager
def _engine(name: str) -> Iterator[FrameOf]:
    """Yield what makes one frame of files."""
    if name == "spark":
        from .spark import frame_of_files, session

        yield partial(frame_of_files, session())
        return
    try:
        import duckdb
    except ImportError:
        raise missing_package("Files out of core need", "duckdb", "narwhals") from None
    with duckdb.connect(config=_DUCKDB | {"temp_directory": gettempdir()}) as connection:
        # which is written where the table is
        connection.execute("SET enable_progress_bar = false")
        yield partial(_relation, connection)


def _with_parts(
    parts: Sequence[Part], recipe: Recipe, frame_of: FrameOf, options: Options, done: Collection
) -> Collection:
    """Return states with the rows of files, once; FileError if they do not fit to those before."""
    new: dict[str, str] = {}
    for part in parts:
        content = digest_of_part(part, recipe)
        if done.files.get(part.address, content) != content:
            raise FileError(part.source, "file_changed", advice="score_into_new_state")
        if content not in done.files.values():
            new[part.address] = content
    source = parts[0].source if len(parts) == 1 else "the files"
    with _readable(source):
        if new:
            rows = frame_of([part for part in parts if part.address in new])
        else:
            rows = lazy_rows(frame_of(parts[:1])).head(1)  # whether it is read as it was then
        states = states_of_frame(
            rows,
            options,
            name=parts[0].name,
            prefix=parts[0].prefix,
            source=source,
            recipe=recipe,
        )
    if not new and not states.keys() <= done.states.keys():
        raise FileError(source, "file_changed", advice="score_into_new_state")
    with fitting(source, "file_does_not_fit"):
        merged = merge_collections([done, Collection(states, new)], names=["", source])
    return merged if new else done


def _relation(connection: DuckDBPyConnection, parts: Sequence[Part]) -> Any:
    """Return the rows of a file as a lazy frame, with the columns in its path."""
    import narwhals as nw

    (part,) = parts
    if part.is_local:  # its own reader takes less memory
        path = glob.escape(part.path)
        relation = collected(
            lambda: connection.read_parquet(path, hive_partitioning=False), part.source
        )
    else:
        relation = connection.from_arrow(part.rows)
    rows = lazy_rows(relation)
    for name, value in part.columns_in_path().items():
        rows = rows.with_columns(nw.lit(value, nw.String).alias(name))
    return rows


@contextmanager
def _readable(source: str) -> Iterator[None]:
    """Raise FileError if a file cannot be read."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        *_, reason = first_line(error).split(": ")
        raise FileError(
            source,
            "unreadable_as",
            format="Parquet",
            reason=reason,
            advice="convert_to_parquet",
        ) from None

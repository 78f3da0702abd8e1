"""Parquet files of any size -> states: frames of DuckDB, one file after the other, or of Spark, all of one name."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

from ..errors import FileError, missing_package
from ..files.read import unchanged
from ..files.recipe import Reading, Recipe
from ..inputs import grouped
from ..options import Options
from .batches import AS_SAID, collected, columns_read
from .frames import lazy_rows, states_of_frame
from .parts import Part, digest_of_part, parts_of, parts_of_patterns, readable, recipe_of_part
from .storage import (
    Collection,
    fitting,
    locked,
    merge_collections,
    read_collection,
    write_collection,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SECONDS_BETWEEN_SAVES = 30.0
MEMORY_LIMIT = "256MB"  # beyond it groups go to disk
FrameOf = Callable[[Sequence[Part], Recipe], Any]


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
    run goes on, and next month's files are added to this month's; another process that does the same waits. How each
    file was read is added to `recipes`.
    FileError names file, column, row and value; the files before it are in `state_file`. All files of one name are one
    frame of Spark, for which they must be read in the same way.
    """
    parts = parts_of_patterns(patterns)
    addresses = {part.address for part in parts}
    read = [] if recipes is None else recipes
    frames = tqdm(_files_of_frames(parts, engine), unit="file", delay=1, disable=not progress)
    with locked(state_file), _engine(engine) as frame_of:
        done = _states_before(state_file)
        saved = time.monotonic()
        try:
            for together in frames:
                with unchanged([part.path for part in together]):
                    recipe = _one_recipe(together, reading, read)
                    new = _find_new(together, recipe, done, addresses)
                    with_new = _with_parts(together, new, recipe, frame_of, options, done)
                done = with_new
                if time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                    _save(state_file, done)
                    saved = time.monotonic()
        finally:
            _save(state_file, done)
    return done


def _files_of_frames(parts: Sequence[Part], engine: str) -> list[list[Part]]:
    """Return the files that are one frame: for Spark all of one name and folder, or else each by itself."""
    if engine != "spark":
        return [[part] for part in parts]
    alike = grouped(parts, lambda part: (part.name, part.prefix, *part.folder_columns.items()))
    return [*alike.values()]


def _one_recipe(parts: Iterable[Part], reading: Reading, recipes: list[Recipe]) -> Recipe:
    """Return how all files of a frame are read, and add how each is; FileError if they are read in several ways."""
    read = [recipe_of_part(part, reading) for part in parts]
    recipes += read
    first = read[0]
    for recipe in read:
        if recipe.digest() != first.digest():
            reason = f"{recipe.said()}, and of {first.source} {first.said()}"
            raise FileError(recipe.source, "file_does_not_fit", reason=reason)
    return first


def _states_before(path: str | Path | None) -> Collection:
    return read_collection(path) if path and Path(path).exists() else Collection()


def _save(path: str | Path | None, states: Collection) -> None:
    if path and states.files:
        write_collection(path, states)


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
    config: dict[str, Any] = {"memory_limit": MEMORY_LIMIT, "temp_directory": gettempdir()}
    with duckdb.connect(config=config) as connection:
        # which is written where the table is
        connection.execute("SET enable_progress_bar = false")
        yield partial(_relation, connection)


def _with_parts(
    parts: Sequence[Part],
    new: Mapping[str, str],
    recipe: Recipe,
    frame_of: FrameOf,
    options: Options,
    done: Collection,
) -> Collection:
    """Return the states with the rows of new files added; FileError if these do not fit the states."""
    source = parts[0].source if len(parts) == 1 else "the files"
    with readable(source):
        if new:
            rows = _rows(frame_of, [part for part in parts if part.address in new], recipe)
        else:
            # whether it is read as it was then
            rows = _rows(frame_of, parts[:1], recipe).head(1)
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


def _find_new(
    parts: Iterable[Part], recipe: Recipe, done: Collection, addresses: Container[str]
) -> dict[str, str]:
    """Return address and content of files whose rows are not in states.

    FileError if one has changed since, or is a copy of another one that is read too or still there.
    """
    known = {content: address for address, content in done.files.items()}
    new = {}
    for part in parts:
        content = digest_of_part(part, recipe)
        if done.files.get(part.address, content) != content:
            raise FileError(part.source, "file_changed", advice="score_into_new_state")
        address = known.get(content)
        if address is None:
            new[part.address] = content
            known[content] = part.address
        elif (
            address != part.address
            and (address in addresses or _is_copy(part, address, content, recipe))
            and part.rows.count_rows()
        ):
            raise FileError(part.source, "rows_held_twice", address=address)
    return new


def _is_copy(part: Part, address: str, content: str, recipe: Recipe) -> bool:
    """Return whether another file still has the content of this one, which then was not moved."""
    if os.path.realpath(address) == os.path.realpath(part.path):
        return False
    try:
        others = parts_of(address, part.name, part.prefix)
        return any(digest_of_part(other, recipe) == content for other in others)
    except (FileError, OSError):
        return False


def _rows(frame_of: FrameOf, parts: Sequence[Part], recipe: Recipe) -> Any:
    """Return the rows of files, with the columns of their folders that are read."""
    import narwhals as nw

    rows = lazy_rows(frame_of(parts, recipe))
    columns = parts[0].folder_columns
    for name in columns.keys() & set(columns_read(recipe, columns)):
        rows = rows.with_columns(nw.lit(columns[name], nw.String).alias(name))
    return rows


def _relation(connection: DuckDBPyConnection, parts: Sequence[Part], recipe: Recipe) -> Any:
    """Return the rows of a file."""
    (part,) = parts
    if not part.is_local:
        return connection.from_arrow(part.rows)
    path = glob.escape(part.path)  # its own reader takes less memory
    return collected(lambda: connection.read_parquet(path, hive_partitioning=False), part.source)

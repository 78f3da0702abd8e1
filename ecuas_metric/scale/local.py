"""Parquet files of any size -> states: frames of DuckDB, one file after the other, or of Spark, all of one name."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from ..display import is_watched
from ..errors import FileError, missing_package_error
from ..files.read import refuse_changes
from ..files.recipe import Reading, Recipe
from ..inputs import grouped
from ..options import Options
from .batches import AS_SAID, collected, columns_read
from .frames import lazy_rows, states_of_frame
from .parts import Part, digest_of_part, parts_of_patterns, readable, recipe_of_part
from .storage import Collection, fitting, merge_collections

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_LIMIT = "256MB"  # beyond it groups go to disk
FrameOf = Callable[[Sequence[Part], Recipe], Any]


def score_files(
    patterns: Sequence[str | tuple[str, str]],
    options: Options,
    *,
    engine: str = "local",
    progress: bool | None = None,
    recipes: list[Recipe] | None = None,
    reading: Reading = AS_SAID,
) -> Collection:
    """Return the states of all systems in Parquet files, by the engine "local" or "spark".

    Where no column names the systems, all files of a pattern (see `parts_of`) are one, with the name that is given or
    that of the pattern. How each file was read is added to `recipes`. A bar counts the files, by default where a person
    sees it. FileError names file, column, row and value.
    """
    frames = _files_of_frames(parts_of_patterns(patterns), engine)
    has_bar = engine == "local" and (is_watched() if progress is None else progress)
    done = Collection()
    with _engine(engine) as frame_of:
        for parts in tqdm(frames, unit="file", delay=1, disable=not has_bar):
            with refuse_changes([part.path for part in parts]):
                read = [recipe_of_part(part, reading) for part in parts]
                done = _with_files(done, parts, read)
                done = _with_rows(done, parts, _one_recipe(read), frame_of, options)
            if recipes is not None:
                recipes += read
    return done


def _files_of_frames(parts: Sequence[Part], engine: str) -> list[list[Part]]:
    """Return the files that are one frame: for Spark all of one name and folder, or else each by itself."""
    if engine != "spark":
        return [[part] for part in parts]
    alike = grouped(parts, lambda part: (part.name, part.prefix, *part.folder_columns.items()))
    return [*alike.values()]


def _one_recipe(recipes: Sequence[Recipe]) -> Recipe:
    """Return how all files of a frame are read; FileError if they are read in several ways."""
    first = recipes[0]
    for recipe in recipes:
        if recipe.digest() != first.digest():
            reason = f"{recipe.describe()}, and of {first.source} {first.describe()}"
            raise FileError(recipe.source, "file_does_not_fit", reason=reason)
    return first


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
        raise missing_package_error("Files out of core need", "duckdb", "narwhals") from None
    config: dict[str, Any] = {"memory_limit": MEMORY_LIMIT, "temp_directory": gettempdir()}
    with duckdb.connect(config=config) as connection:
        # which is written where the table is
        connection.execute("SET enable_progress_bar = false")
        yield partial(_relation, connection)


def _with_files(done: Collection, parts: Sequence[Part], recipes: Sequence[Recipe]) -> Collection:
    """Return states that know further files; FileError if one that has rows is a copy of another."""
    for part, recipe in zip(parts, recipes, strict=True):
        if recipe.rows:
            file = Collection(files={part.address: digest_of_part(part, recipe)})
            done = merge_collections([done, file], names=["", part.source])
    return done


def _with_rows(
    done: Collection,
    parts: Sequence[Part],
    recipe: Recipe,
    frame_of: FrameOf,
    options: Options,
) -> Collection:
    """Return states with the rows of a frame of files added; FileError if these do not fit the states."""
    source = parts[0].source if len(parts) == 1 else "the files"
    with readable(source), fitting(source, "file_does_not_fit"):
        states = states_of_frame(
            _rows(frame_of, parts, recipe),
            options,
            name=parts[0].name,
            prefix=parts[0].prefix,
            source=source,
            recipe=recipe,
        )
        return merge_collections([done, Collection(states)])


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

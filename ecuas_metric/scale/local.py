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
from .batches import DEFAULT_READING, list_needed_columns, run_engine
from .frames import lazy_rows, states_of_frame
from .parts import InputFile, digest_file, find_files, infer_file_recipe, reword_read_errors
from .storage import Collection, merge_collections, reword_merge_errors

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_LIMIT = "256MB"  # beyond it groups go to disk
FrameReader = Callable[[Sequence[InputFile], Recipe], Any]


def score_files(
    patterns: Sequence[str | tuple[str, str]],
    options: Options,
    *,
    engine: str = "local",
    recipes: list[Recipe] | None = None,
    reading: Reading = DEFAULT_READING,
) -> Collection:
    """Return the states of all systems in Parquet files, by the engine "local" or "spark".

    Where no column names the systems, all files of a pattern (see `find_pattern_files`) are one system, named as the
    pattern if it has no name. How each file was read is added to `recipes`. A bar counts the files where a person sees
    it. FileError names file, column, row and value.
    """
    frames = _group_files(find_files(patterns), engine)
    has_bar = engine == "local" and is_watched()
    done = Collection()
    with _open_engine(engine) as read_frame:
        for parts in tqdm(frames, unit="file", delay=1, disable=not has_bar):
            with refuse_changes([part.path for part in parts]):
                read = [infer_file_recipe(part, reading) for part in parts]
                done = _add_files(done, parts, read)
                done = _add_rows(done, parts, _require_one_recipe(read), read_frame, options)
            if recipes is not None:
                recipes += read
    return done


def _group_files(parts: Sequence[InputFile], engine: str) -> list[list[InputFile]]:
    """Return the files of each frame: for Spark all with the same name, prefix and folders, else one file."""
    if engine != "spark":
        return [[part] for part in parts]
    alike = grouped(parts, lambda part: (part.name, part.prefix, *part.folder_columns.items()))
    return [*alike.values()]


def _require_one_recipe(recipes: Sequence[Recipe]) -> Recipe:
    """Return the one recipe of all files of a frame; FileError if they have several."""
    first = recipes[0]
    for recipe in recipes:
        if recipe.digest() != first.digest():
            reason = f"{recipe.describe()}, and of {first.source} {first.describe()}"
            raise FileError(recipe.source, "file_does_not_fit", reason=reason)
    return first


@contextmanager
def _open_engine(name: str) -> Iterator[FrameReader]:
    """Yield the function of an engine, "local" or "spark", that returns the rows of files as one frame."""
    if name == "spark":
        from .spark import get_session, read_parquet_files

        yield partial(read_parquet_files, get_session())
        return
    try:
        import duckdb
    except ImportError:
        raise missing_package_error("Files out of core need", "duckdb", "narwhals") from None
    config: dict[str, Any] = {"memory_limit": MEMORY_LIMIT, "temp_directory": gettempdir()}
    with duckdb.connect(config=config) as connection:
        # which is written where the table is
        connection.execute("SET enable_progress_bar = false")
        yield partial(_read_relation, connection)


def _add_files(
    done: Collection, parts: Sequence[InputFile], recipes: Sequence[Recipe]
) -> Collection:
    """Return a collection that also lists these files; FileError if one with rows is a copy of another."""
    for part, recipe in zip(parts, recipes, strict=True):
        if recipe.rows:
            file = Collection(files={part.address: digest_file(part, recipe)})
            done = merge_collections([done, file], names=["", part.source])
    return done


def _add_rows(
    done: Collection,
    parts: Sequence[InputFile],
    recipe: Recipe,
    read_frame: FrameReader,
    options: Options,
) -> Collection:
    """Return a collection with the rows of these files added; FileError if they do not fit its states."""
    source = parts[0].source if len(parts) == 1 else "the files"
    with reword_read_errors(source), reword_merge_errors(source, "file_does_not_fit"):
        states = states_of_frame(
            _read_rows(read_frame, parts, recipe),
            options,
            name=parts[0].name,
            prefix=parts[0].prefix,
            source=source,
            recipe=recipe,
        )
        return merge_collections([done, Collection(states)])


def _read_rows(read_frame: FrameReader, parts: Sequence[InputFile], recipe: Recipe) -> Any:
    """Return the rows of files as a lazy frame, with those columns in names of folders that a recipe needs."""
    import narwhals as nw

    rows = lazy_rows(read_frame(parts, recipe))
    columns = parts[0].folder_columns
    for name in columns.keys() & set(list_needed_columns(recipe, columns)):
        rows = rows.with_columns(nw.lit(columns[name], nw.String).alias(name))
    return rows


def _read_relation(
    connection: DuckDBPyConnection, parts: Sequence[InputFile], recipe: Recipe
) -> Any:
    """Return the rows of one file as a relation of DuckDB."""
    (part,) = parts
    if not part.is_local:
        return connection.from_arrow(part.rows)
    path = glob.escape(part.path)  # its own reader takes less memory
    return run_engine(lambda: connection.read_parquet(path, hive_partitioning=False), part.source)

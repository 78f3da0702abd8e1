"""Parquet files -> states, by Spark: all files of one name are one frame of it."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import FileError, missing_package
from ..files.recipe import Reading, Recipe
from ..options import Options
from .batches import AS_SAID, check_reading, first_line
from .frames import states_of_frame
from .local import Part, digest_of_part, parts_of_patterns, recipe_of_part
from .storage import Collection, merge_collections

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"


def score_files_on_spark(
    patterns: Sequence[str | tuple[str, str]],
    options: Options,
    *,
    recipes: list[Recipe] | None = None,
    reading: Reading = AS_SAID,
) -> Collection:
    """Return the states of all systems in Parquet files that Spark and this process can read, see `local.score_files`.

    All files of one name are one data frame, for which they must be read in the same way.
    """
    check_reading(reading)
    session = _session()
    by_name: dict[tuple[str, str], list[Part]] = {}
    for part in parts_of_patterns(patterns):
        by_name.setdefault((part.name, part.prefix), []).append(part)
    collections = []
    for (name, prefix), parts in by_name.items():
        read = [recipe_of_part(part, reading) for part in parts]
        _require_one_recipe(read)
        if recipes is not None:
            recipes += read
        source = parts[0].source if len(parts) == 1 else "the files"
        frame = _frame(session, parts)
        states = states_of_frame(
            frame,
            options,
            name=name,
            prefix=prefix,
            source=source,
            recipe=read[0],
        )
        digests = [digest_of_part(part, read[0]) for part in parts]
        files = {part.address: digest for part, digest in zip(parts, digests, strict=True)}
        collections.append(Collection(states, files))
    return merge_collections(collections)


def _frame(session: SparkSession, parts: Sequence[Part]) -> DataFrame:
    """Return the rows of files; what folders are called is text, also 007."""
    inferred = session.conf.get(_INFERENCE)
    session.conf.set(_INFERENCE, "false")
    try:
        reader = session.read.option("basePath", _folder_above(parts))
        return reader.parquet(*(part.address for part in parts))
    finally:
        session.conf.set(_INFERENCE, inferred)


def _require_one_recipe(recipes: Sequence[Recipe]) -> None:
    first = recipes[0]
    for recipe in recipes:
        if recipe.digest() != first.digest():
            reason = f"{recipe.said()}, and of {first.source} {first.said()}"
            raise FileError(recipe.source, "file_does_not_fit", reason=reason)


def _folder_above(parts: Sequence[Part]) -> str:
    """Return the folder below which folders are called ``NAME=VALUE``."""
    address = parts[0].address
    folders = address.split("/")[:-1]
    named = [place for place, folder in enumerate(folders) if "=" in folder]
    return "/".join(folders[: named[0]] if named else folders)


def _session() -> SparkSession:
    """Return the running session, or a new one: quiet, and with workers of the running Python unless told otherwise."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise missing_package("Spark needs", "pyspark[connect]") from None
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    if (running := SparkSession.getActiveSession()) is not None:
        return running
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Spark Connect, or begun by spark-submit
    if {"SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"} & {*os.environ}:
        return SparkSession.builder.getOrCreate()
    try:
        with _no_error_stream():
            return SparkSession.builder.config("spark.log.level", "OFF").getOrCreate()
    except PySparkException as error:
        raise FileError(
            "Spark", "does_not_start", advice="install_java", reason=first_line(error)
        ) from None


@contextmanager
def _no_error_stream() -> Iterator[None]:
    """Keep what processes say that are started meanwhile, as the Java machine does, from the error stream."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)

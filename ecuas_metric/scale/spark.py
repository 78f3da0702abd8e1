"""Parquet files -> states, by Spark: all files of one name are one frame of it."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Unpack

from ..errors import FileError, missing_package
from ..files.recipe import Recipe
from ..options import Options
from .batches import RowOptions, check_reading, first_line
from .frames import states_of_frame
from .local import ParquetPart, digest_of_file, parts_of_patterns, recipe_of_part
from .storage import Collection, merge_collections

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"


def score_files_on_spark(
    patterns: Sequence[str | tuple[str, str]],
    options: Options,
    *,
    recipes: list[Recipe] | None = None,
    **reading: Unpack[RowOptions],
) -> Collection:
    """Return the states of all systems in Parquet files that Spark and this process can read, see `local.score_files`.

    All files of one name are one data frame, for which they must be read in the same way.
    """
    check_reading(reading)
    session = _session()
    parts: dict[tuple[str, str], list[ParquetPart]] = {}
    for name, prefix, part in parts_of_patterns(patterns):
        parts.setdefault((name, prefix), []).append(part)
    collections = []
    for (name, prefix), of_name in parts.items():
        of_parts = [recipe_of_part(part, reading) for part in of_name]
        _require_one_recipe(of_parts)
        if recipes is not None:
            recipes += of_parts
        frame = _frame(session, of_name)
        source = of_name[0].address if len(of_name) == 1 else "the files"
        states = states_of_frame(frame, options, name=name, prefix=prefix, source=source, recipe=of_parts[0], **reading)
        files = {}
        for part, recipe in zip(of_name, of_parts, strict=True):
            files[part.address] = digest_of_file(name, prefix, part, recipe)
        collections.append(Collection(states, files))
    return merge_collections(collections)


def _frame(session: SparkSession, parts: Sequence[ParquetPart]) -> DataFrame:
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


def _folder_above(parts: Sequence[ParquetPart]) -> str:
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
    if {"SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"} & {*os.environ}:  # Spark Connect, or begun by spark-submit
        return SparkSession.builder.getOrCreate()
    try:
        with _no_error_stream():
            return SparkSession.builder.config("spark.log.level", "OFF").getOrCreate()
    except PySparkException as error:
        raise FileError("Spark", "does_not_start", advice="install_java", reason=first_line(error)) from None


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

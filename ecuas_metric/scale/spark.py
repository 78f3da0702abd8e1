"""Parquet files that Spark and this process can read -> a frame of Spark; and its session."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING

from ..errors import FileError, missing_package
from ..inputs import grouped
from .batches import collected, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .parts import Part

_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"


def frame_of_files(session: SparkSession, parts: Sequence[Part]) -> DataFrame:
    """Return the rows of files; FileError if Spark does not read them, as numbers of 16 bits."""
    return collected(lambda: _frame(session, parts), "Spark")


def _frame(session: SparkSession, parts: Sequence[Part]) -> DataFrame:
    """Return the rows of files; a column that they have counts, and not that of a folder, which Spark prefers."""
    if all(part.columns_in_path() == part.folders for part in parts):
        return _with_folders(session, parts)
    from pyspark.sql.functions import lit

    frames = []
    for columns, alike in grouped(
        parts, lambda part: tuple(part.columns_in_path().items())
    ).items():
        frame = session.read.parquet(*map(_escaped, alike))
        for name, value in columns:
            frame = frame.withColumn(name, lit(value).cast("string"))
        frames.append(frame)
    return reduce(lambda one, other: one.unionByName(other), frames)


def _with_folders(session: SparkSession, parts: Sequence[Part]) -> DataFrame:
    """Return the rows of files with the columns of their folders; what these are called is text, also 007."""
    inferred = session.conf.get(_INFERENCE)
    session.conf.set(_INFERENCE, "false")
    try:
        reader = session.read.option("basePath", _folder_above(parts))
        return reader.parquet(*map(_escaped, parts))
    finally:
        session.conf.set(_INFERENCE, inferred)


def _escaped(part: Part) -> str:
    """Return the address of a file as Spark takes it, which would read [..] as a pattern."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", part.address)


def _folder_above(parts: Sequence[Part]) -> str:
    """Return the folder below which folders are called ``NAME=VALUE``."""
    address = parts[0].address
    folders = address.split("/")[:-1]
    named = [place for place, folder in enumerate(folders) if "=" in folder]
    return "/".join(folders[: named[0]] if named else folders)


def session() -> SparkSession:
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

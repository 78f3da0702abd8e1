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

import pyarrow as pa

from ..errors import FileError, missing_package
from ..files.recipe import Recipe
from ..inputs import grouped
from .batches import collected, columns_read, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from .parts import Part

# of a session that is started here: its jobs are short, so Java compiles well only what runs very often
_ENVIRONMENT = {
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "SPARK_SUBMIT_OPTS": "-XX:+IgnoreUnrecognizedVMOptions -XX:Tier4InvocationThreshold=50000"
    " -XX:Tier4MinInvocationThreshold=20000 -XX:Tier4CompileThreshold=100000",
}
_CONFIGURATION = {"spark.log.level": "OFF", "spark.ui.enabled": "false"}
# Spark has no numbers without a sign: what holds them all
_SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20),
}


def frame_of_files(session: SparkSession, parts: Sequence[Part], recipe: Recipe) -> DataFrame:
    """Return the rows of files; FileError if Spark does not read them, as numbers of 16 bits."""
    return collected(lambda: _frame(session, parts, recipe), "Spark")


def _frame(session: SparkSession, parts: Sequence[Part], recipe: Recipe) -> DataFrame:
    """Return the columns that are read; one that rows have counts, and not that of a folder, which Spark prefers."""
    if all(part.columns_in_path() == part.folders for part in parts):
        reader = session.read.option("basePath", _folder_above(parts))
        return reader.schema(_schema(parts[0], recipe)).parquet(*map(_escaped, parts))
    from pyspark.sql.functions import lit

    frames = []
    for columns, alike in grouped(
        parts, lambda part: tuple(part.columns_in_path().items())
    ).items():
        schema = _schema(alike[0], recipe)
        frame = session.read.schema(schema).parquet(*map(_escaped, alike))
        for name, value in columns:
            if name in schema.names:
                frame = frame.withColumn(name, lit(value).cast("string"))
        frames.append(frame)
    return reduce(lambda one, other: one.unionByName(other), frames)


def _schema(part: Part, recipe: Recipe) -> StructType:
    """Return the types of the columns of a file that are read, for which Spark would start a job; folders are texts."""
    from pyspark.sql.pandas.types import from_arrow_schema

    fragment = next(iter(part.rows.get_fragments()))
    types = {
        field.name: _SIGNED.get(field.type, field.type)
        for field in fragment.metadata.schema.to_arrow_schema()
    }
    types |= dict.fromkeys(part.columns_in_path(), pa.string())
    read = columns_read(recipe, types)
    return from_arrow_schema(pa.schema({name: types[name] for name in read}))


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
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    # Spark Connect, or begun by spark-submit
    if {"SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"} & {*os.environ}:
        return SparkSession.builder.getOrCreate()
    try:
        with _no_streams():
            return SparkSession.builder.config(map=_CONFIGURATION).getOrCreate()
    except PySparkException as error:
        raise FileError(
            "Spark",
            "does not start: {reason}",
            advice="It needs Java 17.",
            reason=first_line(error),
        ) from None


@contextmanager
def _no_streams() -> Iterator[None]:
    """Keep processes that are started meanwhile, as Java, from output and errors: what reads them need not wait."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    kept = {stream: os.dup(stream) for stream in (1, 2)}
    for stream in kept:
        os.dup2(nowhere, stream)
    try:
        yield
    finally:
        for stream, copy in kept.items():
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)

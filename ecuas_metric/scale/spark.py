"""The engine on a cluster: a Spark data frame, or Parquet files -> one state per system; workers need this package."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from ..errors import FileError, InputError, missing_package
from ..files.recipe import Recipe
from ..options import Options
from ..summary import Summary, merge
from .batches import RowOptions, check_reading, columns_read, states_of_batches
from .frames import collected, first_line, states_of_frame
from .local import ParquetPart, digest_of_file, parts_of_patterns, recipe_of_part
from .storage import Collection, from_bytes, merge_collections, to_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FAN_IN = 64  # tasks that merge the states of a system before one task merges theirs
_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"
_SCHEMA = "system string, slot int, part int, state binary, error binary"
ARROW = pa.schema(
    {"system": pa.string(), "slot": pa.int32(), "part": pa.int32(), "state": pa.binary(), "error": pa.binary()}
)
_Row = dict[str, Any]  # of _SCHEMA
Batches = Iterator[pa.RecordBatch]


def states_of_rows(
    df: DataFrame, recipe: Recipe, options: Options, *, name: str = "", prefix: str = "", **reading: Unpack[RowOptions]
) -> dict[str, Summary]:
    """Return the summary of each system in a data frame of a classic session or of Spark Connect.

    The workers send a summary of each partition. FileError names partition, column, row in it (from 1) and value.
    """
    from pyspark import TaskContext

    names = columns_read(recipe)

    def states(batches: Batches) -> Batches:
        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        renamed = (batch.rename_columns(names) for batch in batches)
        score = partial(states_of_batches, renamed, options, name=name, prefix=prefix, recipe=recipe)
        yield from _rows(part, partial(score, source=f"partition {part}", **reading))

    # A column whose name has a dot does not go through mapInArrow: numbered here, and called by its name there.
    quoted = ["`" + column.replace("`", "``") + "`" for column in names]
    numbered = df.selectExpr(*[f"{column} AS c{i}" for i, column in enumerate(quoted)])
    return _merge(numbered.mapInArrow(states, _SCHEMA))


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


def merged_rows(table: pa.Table) -> pa.Table:
    """Return one row with the merged state of all rows of a table of states, or with the first error among them."""
    first, *others = sorted(table.to_pylist(), key=lambda row: (row["error"] is None, row["system"], row["part"]))
    if others and first["error"] is None:
        state, row = _state(first), first
        try:
            for row in others:
                state = merge([state, _state(row)])
            first["state"] = to_bytes(Collection({first["system"]: state}))
        except InputError as error:
            parts = f"partitions {first['part']} and {row['part']}"
            first |= {
                "state": None,
                "error": pickle.dumps(FileError(parts, "recorded_reason", why=str(error).rstrip("."))),
            }
    return pa.Table.from_pylist([first], ARROW)


def _rows(part: int, states: Callable[[], Mapping[str, Summary]]) -> Batches:
    """Yield a batch for the state of each system, which one of `FAN_IN` tasks is to merge, or one for an error."""
    row: _Row = {"system": "", "slot": part % FAN_IN, "part": part, "state": None, "error": None}
    try:
        rows = [{**row, "system": name, "state": to_bytes(Collection({name: one}))} for name, one in states().items()]
    except InputError as error:
        rows = [{**row, "error": pickle.dumps(error)}]
    yield from (pa.RecordBatch.from_pylist([row], ARROW) for row in rows)


def _state(row: _Row) -> Summary:
    (state,) = from_bytes(row["state"]).states.values()
    return state


def _merge(states: DataFrame) -> dict[str, Summary]:
    """Run the job, and return the one state of each system that is left of those of all parts, or raise their error."""
    for keys in (("system", "slot"), ("system",)):
        states = states.groupBy(*keys).applyInArrow(merged_rows, _SCHEMA)
    merged = collected(states.toArrow, "Spark").to_pylist()
    rows = sorted(merged, key=lambda row: (row["error"] is None, row["system"], row["part"]))
    if rows and rows[0]["error"] is not None:
        raise pickle.loads(rows[0]["error"])
    return {row["system"]: _state(row) for row in rows}


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

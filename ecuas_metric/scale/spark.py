"""Spark: Parquet files as its frames; and frames whose rows its workers, which need this package, make states of."""

from __future__ import annotations

import os
import pickle
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..errors import FileError, InputError, missing_package_error
from ..files.recipe import Recipe
from ..summary import Summary, merge
from .batches import Score, first_line, list_needed_columns, run_engine
from .storage import pack, unpack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .parts import InputFile

FAN_IN = 64  # tasks that merge the states of a system before one task merges theirs
# of a state, or of an error instead
_SCHEMA = "system string, slot bigint, part bigint, state binary, error binary"
_CONFIGURATION = {"spark.log.level": "OFF", "spark.ui.enabled": "false"}
# Spark has no numbers without a sign: what holds them all
_SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20),
}
Batches = Iterator[pa.RecordBatch]


def get_session() -> SparkSession:
    """Return the running session, or a new one: quiet, and with workers of the running Python unless told otherwise."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise missing_package_error("Spark needs", "pyspark[connect]") from None
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    if (running := SparkSession.getActiveSession()) is not None:
        return running
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Spark Connect, or begun by spark-submit
    is_configured = {"SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"} & {*os.environ}
    try:
        return SparkSession.builder.config(
            map={} if is_configured else _CONFIGURATION
        ).getOrCreate()
    except PySparkException as error:
        raise FileError(
            "Spark",
            "does not start: {reason}",
            advice="It needs Java 17.",
            reason=first_line(error),
        ) from None


def read_parquet_files(
    session: SparkSession, parts: Sequence[InputFile], recipe: Recipe
) -> DataFrame:
    """Return the columns of Parquet files that a recipe needs, as a frame.

    Types come from the file: Spark would start a job for them, and fail at some types of other columns.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    fragment = next(iter(parts[0].rows.get_fragments()))
    stored = {field.name: field.type for field in fragment.metadata.schema.to_arrow_schema()}
    names = stored.keys() & set(list_needed_columns(recipe, stored))
    types = {name: _SIGNED.get(stored[name], stored[name]) for name in names}
    reader = session.read.schema(from_arrow_schema(pa.schema(types)))
    # Spark would read [..] as a pattern
    paths = [re.sub(r"([\[\]{}*?\\])", r"\\\1", part.address) for part in parts]
    return run_engine(lambda: reader.parquet(*paths), "Spark")


def summarize_partitions(df: DataFrame, score: Score) -> dict[str, Summary]:
    """Return the summary of each system in a data frame of a classic session or of Spark Connect.

    The workers send a summary of each partition. FileError names partition, column, row in it (from 1) and value.
    """
    from pyspark import TaskContext

    names = list(df.columns)

    def states(batches: Batches) -> Batches:
        part = TaskContext.get().partitionId()
        row = {"system": "", "slot": part % FAN_IN, "part": part, "state": b"", "error": b""}
        renamed = (batch.rename_columns(names) for batch in batches)
        try:
            systems = score(renamed, source=f"partition {part}")
            rows = [{**row, "system": name, "state": pack(systems[name])} for name in systems]
        except InputError as error:
            rows = [{**row, "error": pickle.dumps(error)}]
        for one in rows:
            yield pa.RecordBatch.from_pylist([one])

    # A column whose name has a dot does not go through mapInArrow: numbered here, and called by its name there.
    quoted = [f"{quote_name(name)} AS c{place}" for place, name in enumerate(names)]
    numbered = df.selectExpr(*quoted)
    merged = numbered.mapInArrow(states, _SCHEMA)
    for keys in (("system", "slot"), ("system",)):
        merged = merged.groupBy(*keys).applyInArrow(merge_rows, _SCHEMA)
    rows = _sort_rows(run_engine(merged.toArrow, "Spark"))
    if rows and rows[0]["error"]:
        raise pickle.loads(rows[0]["error"])
    return {row["system"]: unpack(row["state"]) for row in rows}


def quote_name(name: str) -> str:
    """Return the name of a column quoted for Spark."""
    return "`" + name.replace("`", "``") + "`"


def merge_rows(table: pa.Table) -> pa.Table:
    """Return one row: the merged state of a table of states, or the first error in it."""
    first, *others = _sort_rows(table)
    if others and not first["error"]:
        state = unpack(first["state"])
        row = first
        try:
            for row in others:
                state = merge([state, unpack(row["state"])])
            first["state"] = pack(state)
        except InputError as error:
            parts = f"partitions {first['part']} and {row['part']}"
            why = str(error).rstrip(".")
            first["error"] = pickle.dumps(FileError(parts, "recorded_reason", why=why))
    return pa.Table.from_pylist([first])


def _sort_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of a table of states as dicts sorted by system and partition, errors first."""
    return sorted(
        table.to_pylist(),
        key=lambda row: (not row["error"], row["system"], row["part"]),
    )

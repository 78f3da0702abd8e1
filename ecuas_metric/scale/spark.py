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
from pyarrow.types import is_nested

from ..errors import FileError, InputError, missing_package
from ..files.recipe import HEAD
from ..options import Options
from ..summary import Summary, SummaryResults, merge, results_of
from .batches import RowOptions, check_reading, columns_read, recipe_of_rows, states_of_batches
from .local import batches_of, digest_of_file, parts_of_patterns, recipe_of_part, row_groups_of
from .rows import state_options
from .storage import Collection, from_bytes, to_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_OF_TASK = 2**23
FAN_IN = 64  # tasks that merge the states of a system before one task merges theirs
BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
USUAL_BATCH, LARGE_BATCH = "10000", str(2**17)  # rows
_SCHEMA = "system string, slot int, part int, state binary, error binary"
ARROW = pa.schema(
    {"system": pa.string(), "slot": pa.int32(), "part": pa.int32(), "state": pa.binary(), "error": pa.binary()}
)
_Row = dict[str, Any]  # of _SCHEMA
Batches = Iterator[pa.RecordBatch]


def score(
    df: DataFrame,
    *,
    confidence: str | None = None,
    correct: str | None = None,
    by: str | None = None,
    unlabelled: str | None = None,
    normalize: bool = False,
    decompose: bool = False,
    confidence_level: float | None = None,
    **options: object,
) -> dict[str, SummaryResults]:
    """Return every metric of each system in a data frame of a classic session or of Spark Connect.

    `confidence`, `correct` and `by` (of the systems) are columns whose names do not tell; for `unlabelled` and options
    see `RowOptions`, `STATE_OPTIONS` and `results_of`. FileError names partition, column, row in it (from 1) and value.
    """
    roles = {"confidence": confidence, "correct": correct, "system": by}
    columns = {role: name for role, name in roles.items() if name is not None}
    states = states_of_frame(df, state_options(**options), columns=columns, unlabelled=unlabelled)
    wanted = partial(results_of, normalize=normalize, decompose=decompose, confidence_level=confidence_level)
    return {name: wanted(state) for name, state in states.items()}


def states_of_frame(
    df: DataFrame, options: Options, *, name: str = "system", **reading: Unpack[RowOptions]
) -> dict[str, Summary]:
    """Return the state of each system in a data frame, that of `states_of_batches` of its rows."""
    from pyspark import TaskContext
    from pyspark.sql.pandas.types import to_arrow_schema

    check_reading(reading)
    schema = to_arrow_schema(df.schema)
    recipe = recipe_of_rows(_collected(df.limit(HEAD)), reading, source="the data frame")
    names = columns_read(recipe)

    def states(batches: Batches) -> Batches:
        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        renamed, source = (batch.rename_columns(names) for batch in batches), f"partition {part}"
        found = partial(states_of_batches, renamed, options, name=name, source=source, recipe=recipe)
        yield from _rows(part, partial(found, **reading))

    # A column whose name has a dot does not go through mapInArrow: numbered here, and called by its name there.
    quoted = ["`" + column.replace("`", "``") + "`" for column in names]
    rows = df.selectExpr(*[f"{column} AS c{i}" for i, column in enumerate(quoted)])
    conf, is_wide = df.sparkSession.conf, any(is_nested(schema.field(column).type) for column in names)
    before = conf.get(BATCH)
    if before == USUAL_BATCH and not is_wide:  # larger batches are less work on both sides
        conf.set(BATCH, LARGE_BATCH)
    try:
        return _merge(rows.mapInArrow(states, _SCHEMA))
    finally:
        conf.set(BATCH, before)


def score_files_on_spark(
    patterns: Sequence[str | tuple[str, str]], options: Options, **reading: Unpack[RowOptions]
) -> Collection:
    """Return the states of all systems in Parquet files that this process and the workers can read, by `batches_of`."""
    check_reading(reading)
    files = parts_of_patterns(patterns)
    tasks = [(*names, part, *task) for *names, part in files for task in row_groups_of(part, ROWS_OF_TASK)]

    def states(batches: Batches) -> Batches:
        for place in (place for batch in batches for place in batch["id"].to_pylist()):
            name, prefix, part, groups, first = tasks[place]
            recipe = recipe_of_part(part, reading)
            rows = (batch for batch, _ in batches_of(part, recipe, groups=groups))
            found = partial(states_of_batches, rows, options, name=name, prefix=prefix, source=part.address)
            yield from _rows(place, partial(found, first=first, recipe=recipe, **reading))

    found = _merge(_session().range(0, len(tasks), 1, len(tasks)).mapInArrow(states, _SCHEMA)) if tasks else {}
    contents = {}
    for name, prefix, part in files:
        contents[part.address] = digest_of_file(name, prefix, part, recipe_of_part(part, reading))
    return Collection(found, contents)


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


def _collected(df: DataFrame) -> pa.Table:
    """Run the job of a data frame and return its rows, or raise its error."""
    from pyspark.errors import PySparkException

    try:
        return df.toArrow()
    except PySparkException as error:
        raise FileError("Spark", "job_failed", reason=_first_line(error)) from None


def _merge(states: DataFrame) -> dict[str, Summary]:
    """Run the job, and return the one state of each system that is left of those of all parts, or raise their error."""
    for keys in (("system", "slot"), ("system",)):
        states = states.groupBy(*keys).applyInArrow(merged_rows, _SCHEMA)
    merged = _collected(states).to_pylist()
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
        raise FileError("Spark", "does_not_start", advice="install_java", reason=_first_line(error)) from None


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


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0].rstrip(".")

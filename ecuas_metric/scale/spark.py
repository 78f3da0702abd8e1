"""The engine on a cluster: a Spark data frame -> one state per system; packed states are all that is shuffled.

The functions that Spark's workers run are found there by their names: this package must be installed on them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..errors import FileError, InputError, missing_package
from ..options import Options, checked_options
from .batches import require_rule, states_of_batches
from .collection import Collection, merge_collections, write_collection
from .layout import layout_of
from .local import name_of
from .packing import unpack
from .reading import Readings, read
from .settings import SHAPING
from .state import State
from .workers import SCHEMA, MapBatches, merged_table, packed_rows, reading_of, tasks_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
USUAL_BATCH, LARGE_BATCH = "10000", str(2**17)  # rows
FAN_IN = 64  # tasks that merge the states of a system before one task merges theirs
TOLD = tuple(f"{error.__module__}.{error.__qualname__}: " for error in (FileError, InputError))


def score(
    df: DataFrame,
    *,
    confidence: str | None = None,
    correct: str | None = None,
    by: str | None = None,
    columns: Mapping[str, str] | None = None,
    unjudged: str | None = None,
    normalize: bool = False,
    decompose: bool = False,
    confidence_level: float | None = None,
    **options: object,
) -> dict[str, Readings]:
    """Return every metric of each system in a Spark data frame.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of a classic session or of Spark Connect.
    confidence, correct, by : str, optional
        The columns, where their names do not tell: `by` that of the systems.
    columns : mapping, optional
        Further roles of columns, see `batches.layout_of`.
    unjudged : {"wrong", "drop"}, optional
        See `batches.states_of_batches`.
    normalize, decompose, confidence_level
        See `reading.read`.
    **options
        Those that a state depends on: ``n``, ``reject_costs``, ``n_bins``, ``predictions_are``, ..

    Returns
    -------
    dict of str to Readings
        By the names of the systems; the same as of the states of `local.score_files`.

    Raises
    ------
    FileError
        Names the partition, the column, the row in the partition (from 1) and the value; the Spark job has failed.
    InputError
        If an option means nothing for a state.
    """
    for name in options:
        if name not in SHAPING:
            raise InputError(name, f"does not go with a state; the options are {', '.join(SHAPING)}")
    roles = {"confidence": confidence, "correct": correct, "system": by}
    given = {**(columns or {}), **{role: name for role, name in roles.items() if name is not None}}
    states = states_of_frame(df, checked_options(**options), columns=given, unjudged=unjudged)
    level = checked_options(confidence_level=confidence_level).confidence_level
    return {
        name: read(state, normalize=normalize, decompose=decompose, confidence_level=level)
        for name, state in sorted(states.items())
    }


def states_of_frame(
    df: DataFrame,
    options: Options,
    *,
    columns: Mapping[str, str] | None = None,
    unjudged: str | None = None,
    name: str = "system",
    fan_in: int = FAN_IN,
) -> dict[str, State]:
    """Return the state of each system in a Spark data frame, to the byte that of `states_of_batches` of its rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    options, columns, unjudged, name
        See `batches.states_of_batches`.
    fan_in : int
        How many tasks merge the states of the partitions of a system before one merges theirs. About the root of the
        number of partitions: each holds the states that it merges in memory.

    Returns
    -------
    dict of str to State

    Raises
    ------
    FileError
        See `score`.
    """
    from pyarrow.types import is_primitive
    from pyspark.sql.pandas.types import to_arrow_schema

    require_rule(unjudged)
    schema = to_arrow_schema(df.schema)
    layout = layout_of(schema, columns, source="the data frame")
    told = {"columns": columns, "unjudged": unjudged, "name": name}
    # A column whose name has a dot does not go through mapInArrow: numbered here, and called by its name there.
    rows = df.selectExpr(*[f"{_quoted(column)} AS c{i}" for i, column in enumerate(layout.columns)])
    states = rows.mapInArrow(_scoring(layout.columns, options, told, fan_in), SCHEMA)
    are_few = len(layout.predictions) == 1 and is_primitive(schema.field(layout.predictions[0]).type)
    with _large_batches(df.sparkSession) if are_few else nullcontext():
        return _merged(states)


@contextmanager
def _large_batches(session: SparkSession) -> Iterator[None]:
    """Let Spark hand out more rows at a time while a job runs: less work on both sides, unless a number was set."""
    before = session.conf.get(BATCH)
    if before != USUAL_BATCH:
        yield
        return
    session.conf.set(BATCH, LARGE_BATCH)
    try:
        yield
    finally:
        session.conf.set(BATCH, before)


def _states_of_files(
    df: DataFrame, options: Options, *, columns: Mapping[str, str] | None, unjudged: str | None, name: str
) -> dict[str, State]:
    """Return the states of a data frame that is nothing but files, which tasks read themselves where they can."""
    from pyspark.sql.pandas.types import to_arrow_schema

    is_elsewhere = type(df).__module__.startswith("pyspark.sql.connect")  # paths there are not paths here
    addresses = [] if is_elsewhere else [unquote(address) for address in df.inputFiles()]
    tasks = tasks_of(addresses, to_arrow_schema(df.schema).names)
    if not tasks:
        return states_of_frame(df, options, columns=columns, unjudged=unjudged, name=name)
    told = {"columns": columns, "unjudged": unjudged, "name": name}
    places = df.sparkSession.range(0, len(tasks), 1, len(tasks))
    fan_in = math.isqrt(len(tasks))
    return _merged(places.mapInArrow(reading_of(tasks, options, told, fan_in), SCHEMA))


def _merged(states: DataFrame) -> dict[str, State]:
    """Run the job, and return the one state of each system that is left of those of all partitions."""
    from pyspark.errors import PySparkException

    for keys in (("system", "slot"), ("system",)):
        states = states.groupBy(*keys).applyInArrow(merged_table, SCHEMA)
    try:
        table = states.toArrow()
    except PySparkException as error:
        raise _told(error) or error from None
    packed = zip(table["system"].to_pylist(), table["state"].to_pylist(), strict=True)
    return {system: unpack(state) for system, state in sorted(packed)}


def score_files(
    patterns: Sequence[str | tuple[str, str]],
    options: Options,
    *,
    columns: Mapping[str, str] | None = None,
    unjudged: str | None = None,
    state_file: str | Path | None = None,
) -> Collection:
    """Return the states of all systems in Parquet files that Spark reads, as `local.score_files` does.

    Parameters
    ----------
    patterns : sequence of str or (name, str)
        Paths, folders or patterns that Spark's workers can read.
    options, columns, unjudged
        See `local.score_files`.
    state_file : path, optional
        Where the states are written, at the end and as a whole. It does not say which files they are of.

    Returns
    -------
    Collection

    Raises
    ------
    FileError
        If a path cannot be read, if `state_file` is there already, or see `score`.
    """
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise missing_package("Spark needs", "pyspark[connect]") from None
    if state_file and Path(state_file).exists():
        raise FileError(state_file, "is there already, and would be overwritten", advice="Name another one.")
    session = SparkSession.builder.getOrCreate()
    parts = []
    for given in patterns:
        name, pattern = given if isinstance(given, tuple) else (name_of(given), given)
        try:
            df = session.read.parquet(pattern)
        except PySparkException as error:
            raise FileError(pattern, f"Spark cannot read it: {_first_line(error)}") from None
        parts.append(Collection(_states_of_files(df, options, columns=columns, unjudged=unjudged, name=name)))
    collection = merge_collections(parts)
    if state_file:
        write_collection(state_file, collection)
    return collection


def _scoring(names: list[str], options: Options, told: Mapping[str, Any], fan_in: int) -> MapBatches:
    def states(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        renamed = (batch.rename_columns(names) for batch in batches)
        yield from packed_rows(states_of_batches(renamed, options, **told, source=f"partition {part}"), part, fan_in)

    return states


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _told(error: Exception) -> FileError | None:
    """Return the error of a worker, of which nothing but the traceback as text comes back, or None."""
    for line in map(str.strip, str(error).splitlines()):
        for start in TOLD:
            if line.startswith(start):
                source, _, rule = line.removeprefix(start).rstrip(".").partition(": ")
                return FileError(source, rule) if rule else FileError("the data frame", source)
    return None


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0].rstrip(".")

"""Frames of Spark whose rows its workers make states of, which need this package: one state per system comes back."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..errors import FileError, InputError
from ..summary import Summary, merge
from .batches import collected
from .frames import Score
from .storage import Collection, from_bytes, to_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FAN_IN = 64  # tasks that merge the states of a system before one task merges theirs
_SCHEMA = "system string, slot int, part int, state binary, error binary"
ARROW = pa.schema(
    {
        "system": pa.string(),
        "slot": pa.int32(),
        "part": pa.int32(),
        "state": pa.binary(),
        "error": pa.binary(),
    }
)
_Row = dict[str, Any]  # of _SCHEMA
Batches = Iterator[pa.RecordBatch]


def states_of_rows(df: DataFrame, score: Score) -> dict[str, Summary]:
    """Return the summary of each system in a data frame of a classic session or of Spark Connect.

    The workers send a summary of each partition. FileError names partition, column, row in it (from 1) and value.
    """
    from pyspark import TaskContext

    names = list(df.columns)

    def states(batches: Batches) -> Batches:
        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        renamed = (batch.rename_columns(names) for batch in batches)
        yield from _rows(part, partial(score, renamed, source=f"partition {part}"))

    # A column whose name has a dot does not go through mapInArrow: numbered here, and called by its name there.
    quoted = ["`" + column.replace("`", "``") + "`" for column in names]
    numbered = df.selectExpr(*[f"{column} AS c{i}" for i, column in enumerate(quoted)])
    return _merge(numbered.mapInArrow(states, _SCHEMA))


def merged_rows(table: pa.Table) -> pa.Table:
    """Return one row with the merged state of all rows of a table of states, or with the first error among them."""
    first, *others = sorted(
        table.to_pylist(), key=lambda row: (row["error"] is None, row["system"], row["part"])
    )
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
                "error": pickle.dumps(
                    FileError(
                        parts,
                        "recorded_reason",
                        why=str(error).rstrip("."),
                    )
                ),
            }
    return pa.Table.from_pylist([first], ARROW)


def _rows(
    part: int,
    states: Callable[[], Mapping[str, Summary]],
) -> Batches:
    """Yield a batch for the state of each system, which one of `FAN_IN` tasks is to merge, or one for an error."""
    row: _Row = {
        "system": "",
        "slot": part % FAN_IN,
        "part": part,
        "state": None,
        "error": None,
    }
    try:
        rows = [
            {
                **row,
                "system": name,
                "state": to_bytes(Collection({name: one})),
            }
            for name, one in states().items()
        ]
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

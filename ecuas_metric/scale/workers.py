"""What a cluster's workers run: files or rows -> packed states in Arrow batches, and these -> merged ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..errors import FileError, InputError
from ..options import Options
from .batches import states_of_batches
from .packing import pack, unpack
from .parquet import Groups, batches_of, columns_of, groups_of, parts_of
from .state import State, merge

ROWS_OF_TASK = 2**23
SCHEMA = "system string, slot int, part int, state binary"
ARROW = pa.schema({"system": pa.string(), "slot": pa.int32(), "part": pa.int32(), "state": pa.binary()})
MapBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def tasks_of(addresses: Sequence[str], names: Sequence[str]) -> list[Groups]:
    """Return what each task is to read of some files; nothing if these are left to the engine.

    Where a path is the same on all machines, tasks read files as `local.score_files` does. Spark would turn their
    columns into rows, and these into columns again, which takes several times as long as all the rest.

    Parameters
    ----------
    addresses : sequence of str
    names : sequence of str
        Of the columns that the engine sees, some of which may be in the names of folders.

    Returns
    -------
    list of Groups
    """
    files = [address.removeprefix("file://") for address in addresses]
    if not files or not all(file.startswith("/") for file in files):
        return []
    parts = [part for file in sorted(files) for part in parts_of(file)]
    if columns_of(parts[0]) != list(names):
        return []
    return [groups for part in parts for groups in groups_of(part, ROWS_OF_TASK)]


def reading_of(tasks: Sequence[Groups], options: Options, told: Mapping[str, Any], fan_in: int) -> MapBatches:
    """Return a function from batches with the places of tasks to the packed states of what these read."""

    def states(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place in itertools.chain.from_iterable(batch["id"].to_pylist() for batch in batches):
            address, groups, first = tasks[place]
            (part,) = parts_of(address)
            rows = (batch for batch, _ in batches_of(part, told["columns"], groups=groups))
            found = states_of_batches(rows, options, **told, source=address, first=first)
            yield from packed_rows(found, place, fan_in)

    return states


def packed_rows(states: Mapping[str, State], part: int, fan_in: int) -> Iterator[pa.RecordBatch]:
    """Yield a batch for each system's state, which one of `fan_in` tasks is to merge."""
    for system, state in states.items():
        row = {"system": system, "slot": part % fan_in, "part": part, "state": pack(state)}
        yield pa.RecordBatch.from_pylist([row], ARROW)


def merged_table(table: pa.Table) -> pa.Table:
    """Return one row with the merged state of all rows of a table of packed states: what Spark's workers run.

    Parameters
    ----------
    table : pyarrow.Table
        With the columns of SCHEMA.

    Returns
    -------
    pyarrow.Table
    """
    first, *others = table.to_pylist()
    merged = unpack(first["state"])
    for row in others:
        try:
            merged = merge([merged, unpack(row["state"])])
        except InputError as error:
            rule = str(error).rstrip(".")
            raise FileError(f"partitions {first['part']} and {row['part']}", rule) from None
    return pa.Table.from_pylist([{**first, "state": pack(merged)}], ARROW)

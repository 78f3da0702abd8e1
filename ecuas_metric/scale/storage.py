"""States as one Parquet file, of as many systems as there are, which also knows the files that their rows are from.

Its rows are the bins of the sketches: ``system``; ``first`` and ``last``, the confidences (of posteriors and costs the
uncertainties) between which a bin lies; ``rows``; and ``wrong``, or, with weights or costs, ``digits``: see `Sketch`.
The metadata ``ecuas`` is JSON: version, settings and sums of each system, files, and the SHA-256 of all that.
"""

import hashlib
import io
import itertools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from ..errors import FileError
from ..files.write import write_whole
from .exact_sum import DIGITS
from .settings import Settings, parse_settings
from .sketch import Sketch, ranks_of, sort_keys
from .state import COLUMNS, State, merge

_VERSION = 4  # to be raised whenever the cost of a row, what is summed of it or its key changes
METADATA = b"ecuas"
_SCHEMA = pa.schema(
    {
        "system": pa.dictionary(pa.int32(), pa.string()),
        "first": pa.float64(),
        "last": pa.float64(),
        "rows": pa.int64(),
        "wrong": pa.int64(),
        "digits": pa.list_(pa.int64()),
    }
)
COLUMNS_OF_NUMBERS = ["first", "last", "rows", "wrong", "digits.list.element"]


class Collection(NamedTuple):
    """States by the names of their systems, and the files they are of by their addresses, with their sizes."""

    states: Mapping[str, State] = {}
    files: Mapping[str, int] = {}


def to_bytes(collection: Collection) -> bytes:
    """Return states as the bytes of a Parquet file: the same for the same rows, however they were cut and merged."""
    states = sorted(collection.states.items())
    systems = [
        {"name": name, "settings": one.settings, "sums": dict(one.sums), "largest_cost": one.largest_cost}
        | {"level": one.sketch.level, "bins": len(one.sketch.low)}
        for name, one in states
    ]
    header = {"version": _VERSION, "systems": systems, "files": dict(collection.files)}
    table = pa.concat_tables([_SCHEMA.empty_table(), *(_table_of(name, state) for name, state in states)])
    header["sha256"] = _digest(header, table)
    table = table.replace_schema_metadata({METADATA: json.dumps(header, sort_keys=True)})
    sink, encoding = io.BytesIO(), {"use_dictionary": ["system"], "use_byte_stream_split": COLUMNS_OF_NUMBERS}
    parquet.write_table(table, sink, compression="zstd", write_statistics=False, row_group_size=2**24, **encoding)
    return sink.getvalue()


def from_bytes(content: bytes, *, source: str = "a state") -> Collection:
    """Return the states that `to_bytes` wrote; FileError, about `source`, if they are none, old or damaged."""
    if content.startswith((b"ECUAS state", b"ECUAS collection")):
        raise FileError(source, "states_of_old_version", advice="score_rows_again")
    if not content.startswith(b"PAR1"):
        raise FileError(source, "no_file_of_states", advice="write_state")
    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        metadata = (file.schema_arrow.metadata or {}).get(METADATA)
        if metadata is None:
            raise FileError(source, "parquet_without_states", advice="score_it")
        header = json.loads(metadata)
        if header["version"] != _VERSION:
            value = header["version"]
            raise FileError(source, "wrong_version", value=value, advice="score_rows_again", version=_VERSION)
        table, digest = file.read(use_threads=False), header.pop("sha256")
        if digest != _digest(header, table):
            raise FileError(source, "checksum_differs", advice="score_rows_again")
    except FileError:
        raise
    except (pa.ArrowException, OSError, LookupError, ValueError, TypeError) as error:
        raise FileError(source, "damaged", advice="score_rows_again") from error
    return Collection(_states_of(table, header["systems"], source), header["files"])


def read_collection(path: str | Path) -> Collection:
    """Return the states of a file that `write_collection` wrote; FileError if there are none, see `from_bytes`."""
    try:
        return from_bytes(Path(path).read_bytes(), source=str(path))
    except OSError as error:
        raise FileError(path, "unreadable", reason=error.strerror) from None


def write_collection(path: str | Path, collection: Collection) -> None:
    """Write states into one file: at once, so that no half of it is ever there; FileError if it cannot be written."""
    try:
        write_whole(Path(path), to_bytes(collection))
    except OSError as error:
        raise FileError(path, "unwritable", reason=error.strerror) from None


def merge_collections(collections: Iterable[Collection], *, names: Iterable[str] = ()) -> Collection:
    """Return all states, those of one system merged; FileError, about one of `names`, if two are of the same file."""
    states: dict[str, State] = {}
    files: dict[str, int] = {}
    for (more, read), name in zip(collections, itertools.chain(names, itertools.repeat("a collection")), strict=False):
        for address in read:
            if address in files:
                raise FileError(name, "rows_held_twice", address=address)
        files |= read
        for system, state in more.items():
            states[system] = state if system not in states else merge([states[system], state])
    return Collection(states, files)


def _table_of(name: str, state: State) -> pa.Table:
    """Return the bins of a state as rows of the file."""
    settings, sketch = parse_settings(state.settings), state.sketch
    size = len(sketch.low)
    edges = (_sign(ranks_of(keys, mirrored=settings.is_mirrored), settings) for keys in (sketch.low, sketch.high))
    system = pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array([name], pa.string()))
    wrong, digits = pa.array(sketch.sums[0]), pa.nulls(size, pa.list_(pa.int64()))
    if not settings.is_plain:
        starts = pa.array(np.arange(size + 1, dtype=np.int32) * np.int32(COLUMNS * DIGITS))
        wrong, digits = pa.nulls(size, pa.int64()), pa.ListArray.from_arrays(starts, pa.array(sketch.sums.T.ravel()))
    return pa.Table.from_arrays([system, *map(pa.array, edges), pa.array(sketch.rows), wrong, digits], schema=_SCHEMA)


def _states_of(table: pa.Table, systems: list[dict[str, Any]], source: str) -> dict[str, State]:
    states, start = {}, 0
    for system in systems:
        rows = table.slice(start, system["bins"])
        start += system["bins"]
        try:
            settings = parse_settings(system["settings"])
        except TypeError as error:
            raise FileError(source, "unknown_settings", reason=str(error)) from None
        sketch = _sketch_of(rows, settings, system["level"])
        states[system["name"]] = State(system["settings"], system["sums"], sketch, system["largest_cost"])
    return states


def _sketch_of(rows: pa.Table, settings: Settings, level: int) -> Sketch:
    edges = (_sign(rows[name].to_numpy(), settings) for name in ("first", "last"))
    low, high = (sort_keys(edge, mirrored=settings.is_mirrored) for edge in edges)
    if settings.is_plain:
        sums = rows["wrong"].to_numpy()[None, :]
    else:
        sums = pc.list_flatten(rows["digits"]).to_numpy().reshape(-1, COLUMNS * DIGITS).T
    return Sketch(level, low, high, rows["rows"].to_numpy(), np.ascontiguousarray(sums))


def _sign(ranks: np.ndarray, settings: Settings) -> np.ndarray:
    """Return confidences of ranks, and ranks of confidences; uncertainties are their own."""
    return 0.0 - ranks if settings.is_mirrored else ranks


def _digest(header: Mapping[str, object], table: pa.Table) -> str:
    """Return the SHA-256 of all that is in a file but itself."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    columns = [table[name].fill_null(0) for name in ("first", "last", "rows", "wrong")]
    for column in (*columns, pc.list_flatten(table["digits"])):
        digest.update(column.to_numpy().tobytes())
    return digest.hexdigest()

"""States as one Parquet file, of as many systems as there are, which also knows the files that their rows are from.

Its rows are the groups of the summaries: ``system``; ``first`` and ``last``, the confidences (of posteriors and costs
the uncertainties) between which a group lies; its sums, see `groups.Groups`; and ``next_cost``, what one more row
there may cost. The metadata ``ecuas`` is JSON: version, the other fields of each `Summary`, files, and the SHA-256 of
all that.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from ..basis import Basis
from ..errors import FileError, Note
from ..files.write import write_whole
from ..groups import SUMS, Groups
from ..metric import Key
from ..metrics import defined_keys
from ..options import checked_options, is_set
from ..results import require_same_keys
from ..summary import LossSums, MergeError, Summary, merge
from .rows import STATE_OPTIONS

_VERSION = 8  # to be raised whenever the cost of a row, what is summed of it or its group changes
METADATA = b"ecuas"
_NUMBERS = ("first", "last", *SUMS, "next_cost")
_SCHEMA = pa.schema(
    [
        ("system", pa.dictionary(pa.int32(), pa.string())),
        *((name, pa.float64()) for name in _NUMBERS),
    ]
)
_COUNTS = ("rows", "samples", "wrong", "largest_cost")  # fields of `Summary` that are numbers


class Collection(NamedTuple):
    """States by the names of their systems, and digests of the files that their rows are from, by address."""

    states: Mapping[str, Summary] = {}
    files: Mapping[str, str] = {}


def to_bytes(collection: Collection) -> bytes:
    """Return states as the bytes of a Parquet file."""
    systems = []
    tables = [_SCHEMA.empty_table()]
    for name, state in sorted(collection.states.items()):
        table = _group_table(name, state)
        systems.append({"name": name, "groups": len(table), **_make_header(state)})
        tables.append(table)
    header = {"version": _VERSION, "systems": systems, "files": dict(collection.files)}
    table = pa.concat_tables(tables)
    header["sha256"] = _digest(header, table)
    table = table.replace_schema_metadata({METADATA: _dump_json(header)})
    sink = io.BytesIO()
    parquet.write_table(
        table,
        sink,
        compression="zstd",
        write_statistics=False,
        row_group_size=2**24,
        use_dictionary=["system"],
        use_byte_stream_split=list(_NUMBERS),
    )
    return sink.getvalue()


def pack(state: Summary) -> bytes:
    """Return one state, without the name of a system, as bytes."""
    return to_bytes(Collection({"": state}))


def unpack(content: bytes) -> Summary:
    """Return the state that `pack` was given."""
    return from_bytes(content).states[""]


def from_bytes(content: bytes, *, source: str = "a state") -> Collection:
    """Return the states that `to_bytes` wrote; FileError, about `source`, if they are none, old or damaged."""
    if not content.startswith(b"PAR1"):
        raise FileError(
            source, "is not a file of states", advice="`ecuas score --state FILE` writes one."
        )
    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        metadata = (file.schema_arrow.metadata or {}).get(METADATA)
        if metadata is None:
            raise FileError(source, "is a Parquet file, but not one of states", advice="Score it.")
        header = json.loads(metadata)
        if header["version"] != _VERSION:
            value = header["version"]
            raise FileError(
                source,
                "must have version {version}",
                value=value,
                advice="score_rows_again",
                version=_VERSION,
            )
        table = file.read(use_threads=False)
        if header.pop("sha256") != _digest(header, table):
            raise FileError(
                source, "is damaged: its checksum is another", advice="score_rows_again"
            )
    except FileError:
        raise
    except (pa.ArrowException, OSError, LookupError, ValueError, TypeError) as error:
        raise FileError(
            source, "is damaged: it cannot be read to its end", advice="score_rows_again"
        ) from error
    return Collection(_read_states(table, header["systems"], source), header["files"])


def read_collection(path: str | Path) -> Collection:
    """Return the states of a file that `write_collection` wrote; FileError if there are none, see `from_bytes`."""
    try:
        return from_bytes(Path(path).read_bytes(), source=str(path))
    except OSError as error:
        raise FileError(path, "unreadable", reason=error.strerror) from None


def write_collection(path: str | Path, collection: Collection) -> None:
    """Write states into one file: at once, so that no half of it is ever there; FileError if it cannot be written."""
    write_whole(path, to_bytes(collection))


def merge_collections(
    collections: Iterable[Collection],
    *,
    names: Sequence[str] = (),
) -> Collection:
    """Return all states, those of one system merged; FileError, about one of `names`, if two are of the same file.

    InputError if no table can hold all of them, since their metrics differ.
    """
    states: Mapping[str, Summary] = {}
    files: dict[str, str] = {}
    for place, collection in enumerate(collections):
        for address, content in collection.files.items():
            if address in files or content in files.values():
                name = names[place] if names else "a collection"
                raise FileError(name, "rows_held_twice", address=address)
        files |= collection.files
        states = combine_states(states, collection.states)
    require_same_keys(
        {system: defined_keys(state.template, state.options) for system, state in states.items()}
    )
    return Collection(states, files)


def combine_states(
    states: Mapping[str, Summary],
    others: Mapping[str, Summary],
) -> dict[str, Summary]:
    """Return the states of both mappings; those of one system are merged."""
    total = dict(states)
    for system, state in others.items():
        total[system] = merge([total[system], state]) if system in total else state
    return total


@contextmanager
def reword_merge_errors(source: str, rule: str, **fields: Any) -> Iterator[None]:
    """Raise FileError with this source, rule and the reason for each MergeError raised within."""
    try:
        yield
    except MergeError as error:
        reason = str(error.reword({error.argument: "they"})).rstrip(".")
        raise FileError(source, rule, reason=reason, **fields) from None


def _make_header(state: Summary) -> dict[str, object]:
    """Return the fields of a summary but its groups, for JSON."""
    set_options = [name for name in STATE_OPTIONS if is_set(state.options, name)]
    return {
        **{name: getattr(state, name) for name in _COUNTS},
        "basis": state.basis.to_json(),
        "options": {name: getattr(state.options, name) for name in set_options},
        "own": [[key.metric, *astuple(sums)] for key, sums in state.losses.items()],
        "classes": state.classes,
        "notes": [[note.id, note.fields, note.advice] for note in state.notes],
    }


def _dump_json(header: Mapping[str, object]) -> str:
    """Return a header as text, arrays as lists."""
    return json.dumps(header, sort_keys=True, default=lambda value: value.tolist())


def _group_table(name: str, state: Summary) -> pa.Table:
    """Return the groups of a state as rows of the file."""
    groups = state.groups
    indices = pa.array(np.zeros(len(groups.rank), np.int32))
    columns = {
        "system": pa.DictionaryArray.from_arrays(indices, pa.array([name], pa.string())),
        "first": _flip_confidences(groups.rank, state.basis),
        "last": _flip_confidences(groups.high, state.basis),
        **{name: getattr(groups, name) for name in (*SUMS, "next_cost")},
    }
    return pa.table(columns, schema=_SCHEMA)


def _read_states(
    table: pa.Table,
    systems: list[dict[str, Any]],
    source: str,
) -> dict[str, Summary]:
    states = {}
    start = 0
    for system in systems:
        groups = table.slice(start, system["groups"])
        start += system["groups"]
        try:
            states[system["name"]] = _read_state(system, groups)
        except TypeError as error:
            raise FileError(
                source,
                "was made with options that there are not any more: {reason}",
                reason=str(error),
            ) from None
    return states


def _read_state(system: Mapping[str, Any], groups: pa.Table) -> Summary:
    """Return the summary of a header, and of groups as rows of the file."""
    basis = Basis.from_json(system["basis"])
    column = {name: groups[name].to_numpy() for name in _NUMBERS}
    low = _flip_confidences(column.pop("first"), basis)
    high = _flip_confidences(column.pop("last"), basis)
    classes = system["classes"]
    return Summary(
        basis=basis,
        options=checked_options(**system["options"]),
        groups=Groups(rank=low, high=high, **column),
        losses={Key(metric): LossSums(*sums) for metric, *sums in system["own"]},
        classes=None if classes is None else np.array(classes),
        notes=tuple(Note(*note) for note in system["notes"]),
        **{name: system[name] for name in _COUNTS},
    )


def _flip_confidences(ranks: np.ndarray, basis: Basis) -> np.ndarray:
    """Return ranks as confidences, or confidences as ranks; those of other forms, uncertainties, unchanged."""
    return 0.0 - ranks if basis.form == "confidences" else ranks


def _digest(
    header: Mapping[str, object],
    table: pa.Table,
) -> str:
    """Return the SHA-256 of a header and of the numbers of its table."""
    digest = hashlib.sha256(_dump_json(header).encode())
    for name in _NUMBERS:
        digest.update(table[name].to_numpy().tobytes())
    return digest.hexdigest()

"""The engine on this machine: files of any size, one after the other, in constant memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm.auto import tqdm

from ..errors import FileError, InputError
from ..files.read import stem
from ..options import Options
from .batches import require_rule, states_of_batches
from .collection import Collection, merge_collections, read_collection, write_collection
from .parquet import ParquetPart, batches_of, parts_of
from .settings import require_options
from .state import State

if TYPE_CHECKING:
    import pyarrow as pa

SECONDS_BETWEEN_SAVES = 30.0


def score_files(
    patterns: Sequence[str | tuple[str, str]],
    options: Options,
    *,
    columns: Mapping[str, str] | None = None,
    unjudged: str | None = None,
    state_file: str | Path | None = None,
    progress: bool = False,
) -> Collection:
    """Return the states of all systems in Parquet files.

    Parameters
    ----------
    patterns : sequence of str or (name, str)
        See `parquet.parts_of`. Where no column names the systems, all files of a pattern are one, with this name.
    options : Options
        See `state.state_of`.
    columns, unjudged
        See `batches.states_of_batches`.
    state_file : path, optional
        Where the states are kept. What they are of already is skipped, so that an interrupted run goes on, and next
        month's files are added to this month's.
    progress : bool
        Show a bar.

    Returns
    -------
    Collection

    Raises
    ------
    FileError
        Names file, column, row and value; the files before it are in `state_file`.
    """
    require_rule(unjudged)
    done = read_collection(state_file) if state_file and Path(state_file).exists() else Collection()
    for state in done.states.values():
        require_options(state.settings, options)
    waiting = _waiting(patterns, done)
    saved, is_saved = time.monotonic(), True
    try:
        with tqdm(
            total=sum(part.size for _, part in waiting), unit="B", unit_scale=True, delay=1, disable=not progress
        ) as bar:
            for name, part in waiting:
                bar.set_postfix_str(stem(part.path), refresh=False)
                batches = _watched(part, columns, bar)
                states = states_of_batches(
                    batches, options, columns=columns, unjudged=unjudged, name=name, source=part.address
                )
                done = _with_part(done, states, part)
                is_saved = False
                if state_file and time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                    write_collection(state_file, done)
                    saved, is_saved = time.monotonic(), True
    finally:
        if state_file and not is_saved:
            write_collection(state_file, done)
    return done


def _with_part(done: Collection, states: Mapping[str, State], part: ParquetPart) -> Collection:
    try:
        return merge_collections([done, Collection(states, {part.address: part.size})])
    except FileError:
        raise
    except InputError as error:
        raise FileError(part.address, f"does not fit to the files before: {str(error).rstrip('.')}") from None


def _waiting(patterns: Sequence[str | tuple[str, str]], done: Collection) -> list[tuple[str, ParquetPart]]:
    """Return the files that are to be scored, each with the name of its rows."""
    named = [pattern if isinstance(pattern, tuple) else (name_of(pattern), pattern) for pattern in patterns]
    return [(name, part) for name, pattern in named for part in parts_of(pattern) if not _is_done(part, done)]


def _watched(part: ParquetPart, columns: Mapping[str, str] | None, bar: tqdm) -> Iterator[pa.RecordBatch]:
    start = bar.n
    for batch, share in batches_of(part, columns):
        yield batch
        bar.update(int(share * part.size))
    bar.update(start + part.size - bar.n)


def _is_done(part: ParquetPart, done: Collection) -> bool:
    size = done.files.get(part.address)
    if size is not None and size != part.size:
        rule = f"has {part.size} bytes, and had {size} when its rows were scored"
        raise FileError(part.address, rule, advice="Score all files again, into a new state.")
    return size is not None


def name_of(pattern: str) -> str:
    """Return the name of the system in files that have no column of systems: the pattern, or the file's stem."""
    return pattern if any(character in pattern for character in "*?[") else stem(pattern.rstrip("/"))

"""A file of states, one per system, which also knows the files that they are of: what is scored already is skipped."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..errors import FileError
from .packing import DIGEST, pack, unpack
from .state import State, merge

MAGIC, VERSION = b"ECUAS collection", 1
START = struct.Struct("<16sBI")


class Collection(NamedTuple):
    """States by the names of their systems, and the files they are of by their addresses, with their sizes."""

    states: Mapping[str, State] = {}
    files: Mapping[str, int] = {}


def read_collection(path: str | Path) -> Collection:
    """Return what `write_collection` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    Collection

    Raises
    ------
    FileError
        If it is no such file, damaged, or of another version.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(path, "there is no such file") from None
    if not content.startswith(MAGIC) or len(content) < START.size + DIGEST:
        raise FileError(path, "is not a file of states", advice="`ecuas score --state FILE` writes one.")
    _, version, size = START.unpack_from(content)
    if version != VERSION:
        raise FileError(path, f"must have version {VERSION}", value=version, advice="Score the rows again.")
    if hashlib.sha256(content[:-DIGEST]).digest() != content[-DIGEST:]:
        raise FileError(path, "is damaged: its checksum is another", advice="Score the rows again.")
    header = json.loads(content[START.size : START.size + size])
    states, position = {}, START.size + size
    for name, length in header["systems"]:
        states[name] = unpack(content[position : position + length], source=f"{path}: the state of {name!r}")
        position += length
    return Collection(states, header["files"])


def write_collection(path: str | Path, collection: Collection) -> None:
    """Write states into one file: at once, so that no half of it is ever there.

    Parameters
    ----------
    path : path
    collection : Collection

    Raises
    ------
    FileError
        If there is no room or no such folder; what was there before is there still.
    """
    packed = {name: pack(state) for name, state in sorted(collection.states.items())}
    header = {"systems": [[name, len(state)] for name, state in packed.items()], "files": dict(collection.files)}
    text = json.dumps(header, sort_keys=True).encode()
    body = START.pack(MAGIC, VERSION, len(text)) + text + b"".join(packed.values())
    beside = Path(f"{path}.part")
    try:
        beside.write_bytes(body + hashlib.sha256(body).digest())
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise FileError(path, f"cannot be written: {error.strerror}") from None


def merge_collections(collections: Iterable[Collection], *, names: Iterable[str] = ()) -> Collection:
    """Return all states, those of one system merged.

    Parameters
    ----------
    collections : iterable of Collection
    names : iterable of str
        What to call them in errors.

    Returns
    -------
    Collection

    Raises
    ------
    FileError
        If two of them are of the same file, whose rows would count twice.
    InputError
        If the options of two states of a system differ.
    """
    states: dict[str, State] = {}
    files: dict[str, int] = {}
    called = [*names]
    for place, (more, read) in enumerate(collections):
        for address in read:
            if address in files:
                name = called[place] if called else "a collection"
                raise FileError(name, f"holds the rows of {address}, as another does: they would count twice")
        files |= read
        for system, state in more.items():
            states[system] = state if system not in states else merge([states[system], state])
    return Collection(states, files)

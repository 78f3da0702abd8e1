"""Runs at an address that fsspec knows: copied to a folder for as long as they are read.

Files of repositories on the Hub come from huggingface_hub's cache, which fetches what is not there, and goes on where
it was interrupted; others, as those of buckets, are fetched each time.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import FileError
from ..read import unreached_error, without_query
from . import has_name_of_tool

_HEAD = 100_000  # bytes of lines that tell whether they are a tool's
_BESIDE = r"results_.*\.json"  # totals of lm-eval, which name the model


@dataclass(frozen=True, slots=True)
class Copy:
    """A local copy of what is at an address, in folders as there."""

    address: str
    folder: str
    place: Path

    def address_of(self, file: str) -> str:
        """Return the address of a file that was copied; any other file unchanged."""
        protocol = self.address.partition("://")[0]
        inside = file.removeprefix(self.folder)
        return file if inside == file else f"{protocol}://{inside.lstrip('/')}"


@contextmanager
def copied(address: str) -> Iterator[Copy | None]:
    """Give a copy of the files at an address that have names of a tool's, while it is needed; None without one.

    Of lines that are not a tool's only the first are copied. An error of a file names the address.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="ecuas-") as folder:
        place = _copy(address, Path(folder))
        copy = None if place is None else Copy(address, folder, place)
        try:
            yield copy
        except FileError as error:
            if copy is not None:
                error.file = copy.address_of(error.file)
            raise


def _copy(address: str, folder: Path) -> Path | None:
    from fsspec.core import url_to_fs

    try:
        system, path = url_to_fs(address)
        root = str(path)
        is_folder = system.isdir(root)
        paths = system.find(root) if is_folder else [root]
        wanted = [path for path in paths if has_name_of_tool(path)]
        if not wanted or not (is_folder or _may_be_of_tool(system, root)):
            return None
        beside = [] if is_folder else _files_beside(system, root)
        for path in [*wanted, *beside]:
            _fetch(system, path, folder)
    except FileError:
        raise
    except Exception as error:  # each client has its own
        raise unreached_error(address, error) from None
    return folder / _inside(root)


def _inside(path: str) -> str:
    """Return a path without the protocol and the query, which those of servers have."""
    return without_query(path).rpartition("://")[2].lstrip("/")


def _is_beside(path: str) -> bool:
    return re.fullmatch(_BESIDE, PurePosixPath(path).name) is not None


def _may_be_of_tool(system: Any, path: str) -> bool:
    """Return whether the first lines of a file are those of a tool's; other formats need the whole file."""
    from tempfile import TemporaryDirectory

    from .tools import is_of_tool

    name = PurePosixPath(_inside(path)).name
    if not name.endswith(".jsonl"):
        return True
    with TemporaryDirectory() as folder:
        head = Path(folder, name)
        content: bytes = system.cat_file(path, start=0, end=_HEAD)
        lines = content if len(content) < _HEAD else content[: content.rfind(b"\n") + 1]
        head.write_bytes(lines)
        return is_of_tool(head)


def _files_beside(system: Any, path: str) -> list[str]:
    parent, _, _ = without_query(path).rpartition("/")
    try:
        listed: list[str] = system.ls(parent, detail=False)
    except Exception:  # of a server that lists nothing; each client has its own
        return []
    return list(filter(_is_beside, listed))


def _fetch(system: Any, path: str, folder: Path) -> None:
    from fsspec.callbacks import NoOpCallback, TqdmCallback

    local = folder / _inside(path)
    local.parent.mkdir(parents=True, exist_ok=True)
    place: Any = system.resolve_path(path) if "hf" in system.protocol else None
    if hasattr(place, "repo_id"):
        from huggingface_hub import hf_hub_download

        cached = hf_hub_download(
            place.repo_id,
            place.path_in_repo,
            repo_type=place.repo_type,
            revision=place.revision,
            endpoint=system.endpoint,
            token=system.token,
        )
        shutil.copyfile(cached, local)
        return
    shown = {"desc": local.name, "unit": "B", "unit_scale": True, "leave": False}
    callback = TqdmCallback(shown) if sys.stderr.isatty() else NoOpCallback()
    system.get_file(path, str(local), callback=callback)

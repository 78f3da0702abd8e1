"""Runs at an address that fsspec knows: copied to a folder for as long as they are read.

Files of repositories on the Hub come from huggingface_hub's cache, which fetches what is not there, and goes on where
it was interrupted; others, as those of buckets, are fetched each time.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import FileError
from ..read import unreached_error, without_query
from ..submissions import Submission
from . import TOTALS_BESIDE, has_name_of_tool

_HEAD = 100_000  # bytes of lines that tell whether they are a tool's


def read_copy(
    address: str, read: Callable[[Path], list[Submission] | None]
) -> list[Submission] | None:
    """Return what `read` returns of a copy of the files at an address that have names of a tool's; None without one.

    Of lines that are not a tool's only the first are copied. Errors and recipes name the address.
    """
    from tempfile import TemporaryDirectory

    protocol = address.partition("://")[0]
    with TemporaryDirectory(prefix="ecuas-") as folder:

        def address_of(file: str) -> str:
            inside = file.removeprefix(folder)
            return file if inside == file else f"{protocol}://{inside.lstrip('/')}"

        place = _copy(address, Path(folder))
        try:
            systems = (place and read(place)) or []
        except FileError as error:
            error.file = address_of(error.file)
            raise
    renamed = [replace(one.recipe, source=address_of(one.recipe.source)) for one in systems]
    return [replace(one, recipe=own) for one, own in zip(systems, renamed, strict=True)] or None


def _copy(address: str, folder: Path) -> Path | None:
    from fsspec.core import url_to_fs

    try:
        system, root = url_to_fs(address)
        place = folder / _inside(root)
        paths = _paths_of_tool(system, root, place)
        for path in paths:
            _fetch(system, path, folder / _inside(path))
    except Exception as error:  # each client has its own
        raise unreached_error(address, error) from None
    return place if paths else None


def _paths_of_tool(system: Any, root: str, place: Path) -> list[str]:
    """Return the files of a tool's in a folder; or a file, whose head is copied to `place`, and those beside it."""
    if system.isdir(root):
        return list(filter(has_name_of_tool, system.find(root)))
    if not has_name_of_tool(root) or not _may_be_of_tool(system, root, place):
        return []
    return [root, *_files_beside(system, root)]


def _inside(path: str) -> str:
    """Return a path without the protocol and the query, which those of servers have."""
    return without_query(path).rpartition("://")[2].lstrip("/")


def _may_be_of_tool(system: Any, path: str, place: Path) -> bool:
    """Return whether the first lines of a file are those of a tool's; other formats need the whole file."""
    from .tools import is_of_tool

    if place.suffix != ".jsonl":
        return True
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(system.cat_file(path, start=0, end=_HEAD))
    return is_of_tool(place)


def _files_beside(system: Any, path: str) -> list[str]:
    """Return the totals of lm-eval beside a file, which name the model."""
    parent, _, _ = without_query(path).rpartition("/")
    try:
        listed: list[str] = system.ls(parent, detail=False)
    except Exception:  # of a server that lists nothing; each client has its own
        return []
    return [one for one in listed if PurePosixPath(one).match(TOTALS_BESIDE)]


def _fetch(system: Any, path: str, local: Path) -> None:
    from fsspec.callbacks import NoOpCallback, TqdmCallback

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

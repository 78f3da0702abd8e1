"""Files that are there whole, or not at all."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from ..errors import FileError

_PART = ".ecuas-"  # how the names of files begin that are not yet whole
_SECONDS_LEFT = 3600.0  # after which nobody writes them any more


def write_whole(path: str | Path, content: bytes) -> None:
    """Put content in the place of a file at once, in a folder that is made if need be.

    A link stays one to the file, and what is no file, such as a pipe, is written to. FileError if that fails: what had
    the name is there as it was.
    """
    target = Path(os.path.realpath(path))
    try:
        if not target.parent.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise FileError(path, "unwritable", reason=error.strerror or error) from None


def _replace(target: Path, content: bytes) -> None:
    _remove_left_parts(target.parent)
    part = target.with_name(f"{_PART}{token_hex(8)}")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # or after a power cut the name may be that of an empty file
        if target.exists():
            shutil.copymode(target, part)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _remove_left_parts(folder: Path) -> None:
    """Remove what commands that were killed have left in a folder."""
    for part in folder.glob(f"{_PART}*"):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime > _SECONDS_LEFT:
                part.unlink()

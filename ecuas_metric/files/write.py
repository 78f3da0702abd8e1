"""Files that are there whole, or not at all."""

import os
import shutil
from pathlib import Path
from secrets import token_hex

from ..errors import FileError


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
    part = target.with_name(f".ecuas-{token_hex(8)}")
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

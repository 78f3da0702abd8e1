"""Files that are there whole, or not at all."""

import glob
import os
import shutil
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file at once: what had its name is there until then, and a link stays one to the file."""
    path = Path(os.path.realpath(path))
    _remove_left(path)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(content)
        if path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _remove_left(path: Path) -> None:
    """Remove what processes that were killed left of this file."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*"):
        process = part.suffix[1:]
        if process.isdecimal() and not _is_running(int(process)):
            part.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name != "posix":  # elsewhere the question ends the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # it is of another user
    return True

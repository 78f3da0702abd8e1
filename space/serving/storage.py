"""What is uploaded and written for visitors: how much at once, where, and until when."""

import secrets
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread

from ecuas_metric.errors import InputError

from .. import uploads

OFTEN, OLD = 600, 1800  # seconds: how often files of visitors are deleted, and after which time
SMALLEST = 4096  # bytes that a file takes
_kept: set[Path] = set()
_COUNTING = Lock()
_used = [0]  # bytes, as last looked at, and what arrived since


def cache() -> Path:
    """Return the folder in which Gradio puts uploads."""
    from gradio.utils import get_upload_folder

    return Path(get_upload_folder())


def own_folder() -> Path:
    """Make a folder in Gradio's cache, emptied with it, at an address that cannot be guessed."""
    folder = cache() / secrets.token_hex(16)
    folder.mkdir(parents=True)
    return folder


def require_room(arriving: int = 0) -> None:
    """Raise an InputError if visitors have no room, also for bytes of a body that is on its way to the disk."""
    with _COUNTING:
        _used[0] += arriving
        if not arriving or _used[0] > uploads.LIMITS.disk_bytes:
            _used[0] = _bytes_on_disk() + arriving
        if _used[0] > uploads.LIMITS.disk_bytes:
            raise InputError("The disk of this page", "disk_full", advice="try_later")


def _bytes_on_disk() -> int:
    used = 0
    for path in cache().rglob("*"):
        with suppress(OSError):  # it is deleted just now
            used += max(path.stat().st_size, SMALLEST)
    return used


def keep(path: Path) -> None:
    """Never delete a file or an empty folder."""
    _kept.update((path, path.parent))


def sweep(folder: Path, age: float = OLD) -> None:
    """Delete what is old, also files of aborted uploads and folders that are empty."""
    before = time.time() - age
    # what is in a folder comes before it
    for path in sorted(folder.rglob("*"), reverse=True):
        with suppress(OSError):  # it is not empty, or somebody else was first
            if path not in _kept and path.lstat().st_ctime < before:
                remove = path.rmdir if path.is_dir() else path.unlink
                remove()


def sweep_always() -> None:
    """Begin to delete what is old, as long as this process lives."""

    def repeat() -> None:
        while True:
            time.sleep(OFTEN)
            sweep(cache())

    Thread(target=repeat, daemon=True).start()

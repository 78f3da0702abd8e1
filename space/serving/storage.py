"""What is uploaded and written for visitors: how much at once, where, and until when."""

import secrets
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

from anyio.to_thread import run_sync
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ecuas_metric.errors import InputError

from .. import uploads
from ..markup import in_words

OFTEN, OLD = 600, 1800  # seconds: how often files of visitors are deleted, and after which time
SMALLEST = 4096  # bytes that a file takes
_kept: set[Path] = set()


class UploadLimits:
    """Limits of bodies: uploads go to the disk, as long as it has room; all others stay in memory, and are small."""

    def __init__(self, app: ASGIApp) -> None:
        self.files = RequestBodyLimitMiddleware(app, uploads.LIMITS.all_bytes)
        self.others = RequestBodyLimitMiddleware(app, uploads.LIMITS.call_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope.get("path", "") != "/gradio_api/upload":
            return await self.others(scope, receive, send)
        if await run_sync(is_full):
            full = in_words(InputError("The disk of this page", "disk_full", advice="try_later"))
            return await PlainTextResponse(full, 507)(scope, receive, send)
        return await self.files(scope, receive, send)


def cache() -> Path:
    """Return the folder in which Gradio puts uploads."""
    from gradio.utils import get_upload_folder

    return Path(get_upload_folder())


def own_folder() -> Path:
    """Make a folder in Gradio's cache, emptied with it, at an address that cannot be guessed."""
    folder = cache() / secrets.token_hex(16)
    folder.mkdir(parents=True)
    return folder


def is_full() -> bool:
    """Return whether visitors have no room left."""
    used = 0
    for path in cache().rglob("*"):
        with suppress(OSError):  # it is deleted just now
            used += max(path.stat().st_size, SMALLEST)
    return used > uploads.LIMITS.disk_bytes


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

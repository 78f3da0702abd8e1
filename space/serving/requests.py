"""Which requests are answered, and how much they may bring."""

import re

from anyio.to_thread import run_sync
from starlette.datastructures import QueryParams
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ecuas_metric.errors import InputError

from .. import uploads
from ..markup import in_words
from . import storage
from .memory import LONGEST_ID

_NAME = rf"[\w-]{{1,{LONGEST_ID}}}"
_FILES = "/gradio_api/upload"
# what the page, its functions and agents use of what Gradio has
_SERVED = re.compile(
    "|".join(
        (
            "/",
            r"/(config|theme\.css|favicon\.ico|robots\.txt|manifest\.json|pwa_icon(/\d+)?)",
            r"/(assets|static|svelte)/.+",
            r"/gradio_api/(info|openapi\.json|app_id|startup-events|theme\.css)/?",
            rf"{_FILES}(_progress)?",
            r"/gradio_api/file=/.+",  # of a path: of an address Gradio would fetch it
            r"/gradio_api/(queue/join|queue/data|cancel|reset)",
            rf"/gradio_api/(heartbeat|run|call|call/v2)/{_NAME}(/{_NAME})?/?",
            r"/gradio_api/mcp(/.*)?",
        )
    ),
    re.DOTALL,
)
_KEPT = {"session_hash", "upload_id"}  # what the server keeps of a query, which is short
NO_SUCH = {"detail": "There is no such function: see gradio_api/info."}


class Door:
    """Lets in what is served, with bodies that have limits: uploads go to the disk, others stay in memory."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.files = RequestBodyLimitMiddleware(app, uploads.LIMITS.all_bytes)
        self.others = RequestBodyLimitMiddleware(app, uploads.LIMITS.call_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        path = scope["path"]
        query = QueryParams(scope["query_string"]).multi_items()
        longest = max((len(value) for name, value in query if name in _KEPT), default=0)
        if not _SERVED.fullmatch(path) or longest > LONGEST_ID:
            return await JSONResponse(NO_SUCH, 404)(scope, receive, send)
        if path != _FILES:
            return await self.others(scope, receive, send)

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                await run_sync(storage.require_room, len(message.get("body", b"")))
            return message

        try:
            await run_sync(storage.require_room)
            await self.files(scope, received, send)
        except InputError as full:
            await PlainTextResponse(in_words(full), 507)(scope, receive, send)

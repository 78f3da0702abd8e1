"""Which requests are answered, and how much they may bring."""

import re

from anyio.to_thread import run_sync
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ecuas_metric.errors import InputError

from .. import uploads
from ..markup import in_words
from . import storage

_ID = r"[\w-]{1,100}"
_FILES = "/gradio_api/upload"
# what the page, its functions and agents use of what Gradio has, with the query that it may have
_SERVED = re.compile(
    "|".join(
        (
            r"/(\?.*)?",
            r"/(config|theme\.css|favicon\.ico|robots\.txt|manifest\.json|pwa_icon(/\d+)?)(\?.*)?",
            r"/(assets|static|svelte)/.+",
            r"/gradio_api/(info|openapi\.json|app_id|startup-events|theme\.css)/?(\?.*)?",
            rf"{_FILES}(_progress)?(\?upload_id={_ID})?",
            r"/gradio_api/file=/.+",  # of a path: of an address Gradio would fetch it
            rf"/gradio_api/heartbeat/{_ID}",
            rf"/gradio_api/run/{_ID}/?(\?.*)?",
            r"/gradio_api/(queue/join|cancel|reset)(\?.*)?",
            rf"/gradio_api/queue/data\?session_hash={_ID}",
            rf"/gradio_api/call/{_ID}(/{_ID}){{0,2}}/?(\?.*)?",
            r"/gradio_api/mcp(/.*)?",
        )
    ),
    re.DOTALL,
)
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
        path, query = scope["path"], scope["query_string"].decode("latin-1")
        if not _SERVED.fullmatch(f"{path}?{query}" if query else path):
            return await JSONResponse(NO_SUCH, 404)(scope, receive, send)
        if path != _FILES:
            return await self.others(scope, receive, send)

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                await run_sync(storage.require_room, len(message["body"]))
            return message

        try:
            await run_sync(storage.require_room)
            await self.files(scope, received, send)
        except InputError as full:
            await PlainTextResponse(in_words(full), 507)(scope, receive, send)

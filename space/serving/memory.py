"""What Gradio keeps of visitors in the server's memory: little, and not for long; and fetches for them: nothing."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from ecuas_metric.errors import InputError

from .. import uploads
from ..markup import in_words

if TYPE_CHECKING:
    from gradio.blocks import Blocks
    from gradio.queueing import Queue

LONGEST_ID = 100  # characters
NO_FIELDS = "An upload must hold files alone."
LONG_ID = "The session's name is too long."


def bound(demo: Blocks) -> None:
    """Let a page forget what Gradio would keep of each visitor, and fetch no addresses, also of anybody's host."""
    from gradio import Error, processing_utils
    from gradio.route_utils import GradioMultiPartParser
    from gradio.state_holder import SessionState
    from starlette.formparsers import MultiPartException

    # what was last given to and shown in each session, for links that are not used here
    SessionState._update_value_in_config = lambda *_: None  # type: ignore[method-assign]
    read_headers = GradioMultiPartParser.on_headers_finished
    push = demo._queue.push

    @wraps(read_headers)
    def read(parser: GradioMultiPartParser) -> None:
        parser.max_files = uploads.LIMITS.files  # each takes a block of the disk
        read_headers(parser)
        if parser._current_part.file is None:  # such fields stay in memory, of any size
            raise MultiPartException(NO_FIELDS)

    @wraps(push)
    async def pushed(body: Any, *others: Any, **named: Any) -> Any:
        if len(body.session_hash or "") > LONGEST_ID:
            return False, LONG_ID, "error"
        forget_unread(demo._queue)
        return await push(body, *others, **named)

    async def refuse(url: str, **_: str) -> str:
        error = InputError("A file", "no_upload", value=url, advice="give_upload")
        raise Error(in_words(error), print_exception=False)

    processing_utils.async_ssrf_protected_download = refuse
    GradioMultiPartParser.on_headers_finished = read  # type: ignore[method-assign,assignment]
    demo._queue.push = pushed  # type: ignore[method-assign]


def forget_unread(queue: Queue) -> None:
    """Forget the messages that nobody fetched, the oldest sessions' first, but for as many as may be unread."""
    sessions = queue.pending_messages_per_session
    excess = sum(messages.qsize() for messages in sessions.values()) - uploads.LIMITS.unread
    for messages in sessions.values():
        while excess > 0 and not messages.empty():
            messages.get_nowait()
            excess -= 1
    for session in queue.pending_event_ids_session.keys() - sessions.keys():
        del queue.pending_event_ids_session[session]

"""What Gradio keeps of visitors in the server's memory: little, and not for long; and fetches for them: nothing."""

from __future__ import annotations

from collections import deque
from functools import wraps
from typing import TYPE_CHECKING, Any
from weakref import ref

from ecuas_metric.errors import InputError

from .. import uploads
from ..markup import in_words

if TYPE_CHECKING:
    from gradio.blocks import Blocks
    from gradio.queueing import Queue

LONGEST_ID = 100  # characters
NO_FIELDS = "An upload must hold files alone."
LONG_ID = "The session's name is too long."
PROGRESS = 10  # unread messages of a session, beyond which it gets results alone
UNREAD = "Read the results of earlier calls first."
FORGOTTEN = "This result was not fetched while it was kept: call again."


def bound(demo: Blocks) -> None:
    """Let a page forget what Gradio would keep of each visitor, and fetch no addresses, also of anybody's host."""
    from gradio import Error, processing_utils
    from gradio.route_utils import GradioMultiPartParser
    from gradio.state_holder import SessionState
    from starlette.formparsers import MultiPartException

    # what was last given to and shown in each session, for links that are not used here
    SessionState._update_value_in_config = lambda *_: None  # type: ignore[method-assign]
    read_headers = GradioMultiPartParser.on_headers_finished

    @wraps(read_headers)
    def read(parser: GradioMultiPartParser) -> None:
        parser.max_files = uploads.LIMITS.files  # each takes a block of the disk
        read_headers(parser)
        if parser._current_part.file is None:  # such fields stay in memory, of any size
            raise MultiPartException(NO_FIELDS)

    async def refuse(url: str, cache_dir: str) -> str:
        error = InputError("A file", "no_upload", value=url, advice="give_upload")
        raise Error(in_words(error), print_exception=False)

    processing_utils.async_ssrf_protected_download = refuse
    GradioMultiPartParser.on_headers_finished = read  # type: ignore[method-assign,assignment]
    _bound_results(demo._queue)


def _bound_results(queue: Queue) -> None:
    """Let a queue take no calls of sessions with long names or many unread messages, and keep the newest results."""
    from gradio.server_messages import ProcessCompletedMessage

    sessions = queue.pending_messages_per_session
    push, send = queue.push, queue.send_message
    results: deque[ref[Any]] = deque()  # those that are read are gone

    @wraps(push)
    async def pushed(body: Any, *others: Any, **named: Any) -> Any:
        name = body.session_hash or ""
        if len(name) > LONGEST_ID:
            return False, LONG_ID, "error"
        if name in sessions and sessions[name].qsize() > uploads.LIMITS.unread:
            return False, UNREAD, "queue_full"
        for session in queue.pending_event_ids_session.keys() - sessions.keys():
            del queue.pending_event_ids_session[session]
        return await push(body, *others, **named)

    @wraps(send)
    def sent(event: Any, message: Any) -> None:
        if isinstance(message, ProcessCompletedMessage):
            results.append(ref(message))
            _forget(results)
        elif event.session_hash in sessions and sessions[event.session_hash].qsize() >= PROGRESS:
            return
        send(event, message)

    queue.push = pushed  # type: ignore[method-assign]
    queue.send_message = sent  # type: ignore[method-assign,assignment]


def _forget(results: deque[ref[Any]]) -> None:
    """Put a sentence in the place of the oldest results, if there are too many."""
    there = [message for one in results if (message := one()) is not None]
    most = uploads.LIMITS.unread
    for message in there[:-most]:
        message.success, message.output = False, {"error": FORGOTTEN}
    results.clear()
    results.extend(map(ref, there[-most:]))

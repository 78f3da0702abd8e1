"""The backend for chat endpoints: Hub providers, or any server that speaks the chat-completions protocol."""

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event
from typing import Any, NamedTuple

from huggingface_hub import InferenceClient
from huggingface_hub.errors import HTTPError

from .confidences import ROUNDING
from .replies import Ask, Failure, Reply, Request, Token

LONGEST_WAIT = 60.0  # s, between two attempts, when the server does not say
LONGEST_RETRY_AFTER = 600.0  # s; a server that asks for more is taken not to answer today
TRANSIENT = (408, 409, 425, 429)  # beside all of 5xx
NO_KEY = "none"
PREFILLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # added to the request, and to its last message
    "message": ({}, {}),
    "continue": ({"continue_final_message": True, "add_generation_prompt": False}, {}),
    "prefix": ({}, {"prefix": True}),
    "none": ({}, {}),
}


class Endpoint(NamedTuple):
    """Where to ask, and how patiently.

    Parameters
    ----------
    model : str
        Its name at the server or on the Hub.
    base_url : str, optional
        Of a server, to which `/chat/completions` is added. None: a provider of the Hub.
    provider : str, optional
        Of the Hub; None: the first one in the user's settings that has the model.
    api_key : str, optional
        None: the Hub's token for providers, and none at all for a `base_url`, so that no token reaches a
        server it is not meant for.
    extra_body : dict, optional
        More parameters of the request.
    prefill : {"message", "continue", "prefix", "none"}
        How the server is told to go on from a last message of the assistant, see `PREFILLS`.
    timeout : float
        Longest wait for a server that sends nothing, s.
    retries : int
        Attempts after the first one.
    retry_wait : float
        Before the first of them, s; doubled each time, up to 60. The server's Retry-After comes first.
    """

    model: str
    base_url: str | None = None
    provider: str | None = None
    api_key: str | None = None
    extra_body: dict[str, Any] | None = None
    prefill: str = "message"
    timeout: float = 60.0
    retries: int = 5
    retry_wait: float = 1.0


class Stopped(Exception):
    """The run is to stop: what was being asked is not recorded."""


class Malformed(Exception):
    """A reply that does not follow the protocol."""


def chat_backend(endpoint: Endpoint, stop: Event) -> Ask:
    """Make the function that asks an endpoint; it may be called from several threads.

    Parameters
    ----------
    endpoint : Endpoint
    stop : Event
        Once set, nothing is tried again: the function raises `Stopped` in place of waiting.

    Returns
    -------
    callable
        list of Request -> list of Reply or Failure, asked one after the other.
    """
    server: dict[str, Any] = {"base_url": endpoint.base_url, "api_key": endpoint.api_key or NO_KEY}
    provider: dict[str, Any] = {"provider": endpoint.provider, "api_key": endpoint.api_key}
    client = InferenceClient(**(server if endpoint.base_url else provider), timeout=endpoint.timeout)

    def ask_one(request: Request) -> Reply | Failure:
        try:
            return _patiently(lambda: _complete(client, endpoint, request), endpoint, stop)
        except Failure as failure:
            return failure

    return lambda requests: [ask_one(request) for request in requests]


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks to wait: a number, or a date; None if it is neither.

    Parameters
    ----------
    value : str or None
    now : datetime, optional
        With time zone; by default the present.

    Returns
    -------
    float or None
        At least 0.

    Examples
    --------
    >>> retry_after("1.5"), retry_after("soon"), retry_after(None)
    (1.5, None, None)
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - (now or datetime.now(UTC))).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _patiently(call: Callable[[], Reply], endpoint: Endpoint, stop: Event) -> Reply:
    for attempt in range(endpoint.retries + 1):
        try:
            return call()
        except (HTTPError, json.JSONDecodeError, UnicodeDecodeError, Malformed) as error:
            wait = _wait(error, endpoint.retry_wait * 2**attempt)
            if wait is None or attempt == endpoint.retries:
                raise Failure(_in_a_line(error, attempt + 1)) from error
        except (ValueError, OSError) as error:  # nothing that time would heal: no token, no such provider
            raise Failure(_in_a_line(error, attempt + 1)) from error
        if stop.wait(wait):
            raise Stopped
    raise AssertionError("the last attempt returns or raises")


def _complete(client: InferenceClient, endpoint: Endpoint, request: Request) -> Reply:
    *before, last = request.messages
    body, mark = PREFILLS[endpoint.prefill] if last["role"] == "assistant" else ({}, {})
    try:
        output = client.chat_completion(
            [*before, last | mark],  # type: ignore[list-item]
            model=endpoint.model,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            seed=request.seed,
            logprobs=None if request.top_logprobs is None else True,
            top_logprobs=request.top_logprobs or None,
            extra_body=(endpoint.extra_body or {}) | body,
        )
        choice = output.choices[0]
        content = choice.logprobs.content if choice.logprobs else None
        tokens = [_token(token) for token in content] if content else None
        return Reply(_text(choice.message.content), tokens, choice.finish_reason)
    except (LookupError, TypeError, AttributeError, RecursionError) as error:  # the client recurses on a NaN
        raise Malformed(f"a reply that is no chat completion: {error}") from error


def _token(token: Any) -> Token:
    top = [(_text(other.token), float(other.logprob)) for other in token.top_logprobs or []]
    if not token.logprob <= ROUNDING or any(math.isnan(logprob) or logprob > ROUNDING for _, logprob in top):
        raise Malformed(f"log-probabilities must be at most 0; {token.token!r} has {token.logprob}, among {top}")
    if token.logprob == -math.inf:
        raise Malformed(f"a generated token cannot have probability 0; {token.token!r} has")
    return Token(_text(token.token), float(token.logprob), [pair for pair in top if pair[1] > -math.inf])


def _text(content: Any) -> str:
    if not isinstance(content, str | None):
        raise Malformed(f"text expected, found {content!r}")
    return content or ""


def _wait(error: Exception, backoff: float) -> float | None:
    """Seconds until the next attempt; None: no use."""
    response = getattr(error, "response", None)
    if response is None:
        return min(backoff, LONGEST_WAIT)
    if response.status_code < 500 and response.status_code not in TRANSIENT:
        return None
    asked = retry_after(response.headers.get("Retry-After"))
    if asked is not None:
        return asked if asked <= LONGEST_RETRY_AFTER else None
    return min(backoff, LONGEST_WAIT)


def _in_a_line(error: Exception, attempts: int) -> str:
    said = " ".join(str(error).split())[:400] or type(error).__name__
    return f"{said} ({attempts} attempt{'s' * (attempts > 1)})"

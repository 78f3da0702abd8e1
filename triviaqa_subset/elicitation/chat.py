"""The backend for chat endpoints: the Hub's providers, or any server with the chat-completions protocol."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event
from typing import Any

from huggingface_hub import InferenceClient
from huggingface_hub.errors import HTTPError  # of the library that it asks with

from .confidences import ROUNDING
from .replies import Ask, Failure, Reply, Request, Token

LONGEST_WAIT = 60.0  # s, between two attempts, unless the server says how long
LONGEST_RETRY_AFTER = 600.0  # s; a server that asks for more is not asked again
TRANSIENT = (408, 409, 425, 429)  # besides all of 5xx
NO_KEY = "none"
PREFILLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # added to the request, and to its last message
    "message": ({}, {}),
    "continue": ({"continue_final_message": True, "add_generation_prompt": False}, {}),
    "prefix": ({}, {"prefix": True}),
    "none": ({}, {}),
}


@dataclass(frozen=True)
class Endpoint:
    """A model behind an endpoint, and how patiently it is asked.

    Parameters
    ----------
    model : str
        The model's name at the server or on the Hub.
    base_url : str, optional
        The URL of a server, without `/chat/completions`. None: a provider of the Hub.
    provider : str, optional
        A provider of the Hub. None: the first one in the user's settings that has the model.
    api_key : str, optional
        None: the Hub's token for a provider, and none at all for a `base_url`, so that no token reaches a
        server that it is not meant for.
    extra_body : dict, optional
        More parameters of each request.
    prefill : {"message", "continue", "prefix", "none"}
        How the server is told to continue a last message of the assistant, see `PREFILLS`.
    timeout : float
        Longest silence of the server, in seconds.
    retries : int
        Attempts after the first one.
    retry_wait : float
        Seconds before the second attempt; doubled before each further one, up to 60. The server's
        Retry-After takes precedence.

    Raises
    ------
    ValueError
        If `base_url` is not a URL, or `prefill` is unknown.
    """

    model: str
    base_url: str | None = None
    provider: str | None = None
    api_key: str | None = field(default=None, repr=False)
    extra_body: dict[str, Any] | None = None
    prefill: str = "message"
    timeout: float = 60.0
    retries: int = 5
    retry_wait: float = 1.0

    def __post_init__(self) -> None:
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise ValueError(f"base_url must begin with http:// or https://; got {self.base_url}.")
        if self.prefill not in PREFILLS:
            raise ValueError(f"prefill must be one of {', '.join(PREFILLS)}; got {self.prefill!r}.")


class Stopped(Exception):
    """The run is being stopped: what was being asked is not recorded."""


class Malformed(Exception):
    """A reply that does not follow the protocol."""


def chat_backend(endpoint: Endpoint, stop: Event | None = None) -> Ask:
    """Return a function that asks an endpoint; it may be called from several threads.

    Parameters
    ----------
    endpoint : Endpoint
    stop : Event, optional
        Once set, nothing is tried again: the function raises `Stopped` instead of waiting.

    Returns
    -------
    callable
        list of Request -> list of Reply or Failure, asked one after the other.

    Examples
    --------
    >>> ask = chat_backend(Endpoint("qwen3:8b", "http://localhost:11434/v1"))
    >>> ask([])
    []
    """
    stop = stop or Event()
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
    """Return the seconds that a Retry-After header, a number or a date, asks to wait; None if it is neither.

    Parameters
    ----------
    value : str or None
    now : datetime, optional
        With a time zone; by default the present.

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
        except (ValueError, OSError) as error:  # waiting would not help: no token, no such provider
            raise Failure(_in_a_line(error, attempt + 1)) from error
        if stop.wait(wait):
            raise Stopped
    raise AssertionError("the last attempt returns or raises")


def _complete(client: InferenceClient, endpoint: Endpoint, request: Request) -> Reply:
    *before, last = request.messages
    body, mark = PREFILLS[endpoint.prefill] if last["role"] == "assistant" else ({}, {})
    try:
        output = client.chat_completion(
            [*before, last | mark],
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
        raise Malformed(f"the reply must be a chat completion; got {error}.") from error


def _token(token: Any) -> Token:
    top = [(_text(other.token), float(other.logprob)) for other in token.top_logprobs or []]
    if not token.logprob <= ROUNDING or any(math.isnan(logprob) or logprob > ROUNDING for _, logprob in top):
        raise Malformed(f"log-probabilities must be at most 0; got {token.logprob} for {token.token!r}, among {top}.")
    if token.logprob == -math.inf:
        raise Malformed(f"the probability of a generated token must be positive; got 0 for {token.token!r}.")
    return Token(_text(token.token), float(token.logprob), [pair for pair in top if pair[1] > -math.inf])


def _text(content: object) -> str:
    if not isinstance(content, str | None):
        raise Malformed(f"the content of a reply must be text; got {content!r}.")
    return content or ""


def _wait(error: Exception, backoff: float) -> float | None:
    """Return the seconds until the next attempt, or None if there is to be none."""
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
    text = " ".join(str(error).split())[:400] or type(error).__name__
    return f"{text} ({attempts} attempt{'s' * (attempts > 1)})"

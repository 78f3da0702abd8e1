"""The backend for chat endpoints: the Hub's providers, or any server with the chat-completions protocol."""

import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from huggingface_hub import get_token

from . import wire
from .replies import Ask, Failure, Reply, Request
from .wire import PREFILLS, Malformed

HUB = "https://router.huggingface.co/v1"
LONGEST_WAIT = 60.0  # s, between two attempts, unless the server says how long
LONGEST_RETRY_AFTER = 600.0  # s; a server that asks for more is not asked again
LONGEST_LIMIT = 1200.0  # s that a request waits for a rate limit to pass
TRANSIENT = (408, 409, 425, 429)  # besides all of 5xx
LIMITED = (429, 529)  # the server is busy: all requests pause
ACCOUNT = (401, 402, 403)  # mended outside of the request, which is then worth asking again
NO_KEY = "none"
RETRY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"([\d.]+)s"')  # Gemini's Retry-After


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
        A provider of the Hub. None: the one that the Hub's router chooses.
    api_key : str, optional
        None: the Hub's token for a provider, and none at all for a `base_url`, so that no token reaches a
        server that it is not meant for.
    extra_body : dict, optional
        More parameters of each request; None takes one away, e.g. {"max_tokens": None}.
    prefill : {"message", "continue", "prefix", "none"}
        How the server is told to continue a last message of the assistant, see `PREFILLS`.
    timeout : float
        Longest silence of the server, in seconds.
    retries : int
        Attempts after the first one. That a server is busy (429, 529) does not count as one.
    retry_wait : float
        Seconds before the second attempt; doubled before each further one, up to 60. When the server is
        busy, all requests pause together, as long as its Retry-After says, else likewise.

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


class Refused(Exception):
    """A status that is no success."""

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        message = wire.error_message(response.data)
        super().__init__(f"{response.status} {response.reason or ''}".rstrip() + (f": {message}" if message else ""))
        self.status = response.status
        delay = RETRY_DELAY.search(response.data)
        self.asked = retry_after(response.headers.get("Retry-After") or (delay[1].decode() if delay else None))


class Pace:
    """A pause that all workers share, which grows while the server says that it is busy and shrinks as it answers."""

    def __init__(self, least: float) -> None:
        self._least, self._pause, self._until, self._lock = least, least, 0.0, Lock()

    def left(self) -> float:
        """Return the seconds until the next request may be sent."""
        return max(0.0, self._until - monotonic())

    def busy(self, asked: float | None, sent: float) -> None:
        """Pause for as long as the server asks; else longer than before, once for all sent before the pause."""
        with self._lock:
            if asked is not None:
                self._until = max(self._until, monotonic() + asked)
            elif sent >= self._until:
                self._until = monotonic() + self._pause
                self._pause = min(2 * self._pause, LONGEST_WAIT)

    def answered(self) -> None:
        """Shorten the next pause a little."""
        with self._lock:
            self._pause = max(self._least, 0.9 * self._pause)


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
    stop, pace = stop or Event(), Pace(endpoint.retry_wait)
    post = _poster(endpoint)

    def ask_one(request: Request) -> Reply | Failure:
        try:
            return _patiently(lambda: post(request), endpoint, pace, stop)
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


def _patiently(call: Callable[[], Reply], endpoint: Endpoint, pace: Pace, stop: Event) -> Reply:
    """Call until there is a reply; faults count as attempts, and a server that is busy costs time only."""
    faults, attempts, waited, wait = 0, 0, 0.0, 0.0
    while True:
        wait = max(wait, pace.left())
        if wait and stop.wait(wait):
            raise Stopped
        sent, attempts, waited = monotonic(), attempts + 1, waited + wait
        try:
            found = call()
            pace.answered()
            return found
        except (urllib3.exceptions.HTTPError, Malformed, Refused) as error:
            limited = isinstance(error, Refused) and error.status in LIMITED
            faults += not limited
            if not _may_pass(error) or faults > endpoint.retries or (limited and _is_over(waited, attempts, endpoint)):
                raise Failure(_in_a_line(error, attempts), _kind(error)) from error
            wait = 0.0 if limited else min(endpoint.retry_wait * 2 ** (faults - 1), LONGEST_WAIT)
            if isinstance(error, Refused) and (limited or error.asked is not None):
                pace.busy(error.asked, sent)
        if stop.is_set():
            raise Stopped


def _is_over(waited: float, attempts: int, endpoint: Endpoint) -> bool:
    """Return whether a busy server is given up: after so many seconds of waiting, or if they are none, attempts."""
    return endpoint.retries == 0 or waited >= LONGEST_LIMIT or attempts > 100 * endpoint.retries


def _may_pass(error: Exception) -> bool:
    if not isinstance(error, Refused):
        return True
    return (error.status >= 500 or error.status in TRANSIENT) and (error.asked or 0) <= LONGEST_RETRY_AFTER


def _kind(error: Exception) -> str:
    if isinstance(error, Refused) and not (error.status >= 500 or error.status in (*TRANSIENT, *ACCOUNT)):
        return "request"
    return "transport"


def _poster(endpoint: Endpoint) -> Callable[[Request], Reply]:
    """Return a function that sends one request."""
    url, key = (endpoint.base_url or HUB).rstrip("/") + "/chat/completions", endpoint.api_key
    if not endpoint.base_url:
        key = key or get_token()
        if not key:
            raise ValueError("a provider of the Hub must be given a token; got none. Log in: hf auth login.")
    name = f"{endpoint.model}:{endpoint.provider}" if endpoint.provider else endpoint.model
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key or NO_KEY}"}
    pool = _pool(url, endpoint.timeout)

    def post(request: Request) -> Reply:
        body = wire.payload(request, name, endpoint.prefill, endpoint.extra_body or {})
        response = pool.request("POST", url, body=json.dumps(body).encode(), headers=headers, redirect=False)
        if not 200 <= response.status < 300:
            raise Refused(response)
        return wire.reply(response.data)

    return post


def _pool(url: str, timeout: float) -> urllib3.PoolManager:
    """Return connections that are kept open, through the proxy of the environment if there is one for this host."""
    where = urlsplit(url)
    proxy = None if proxy_bypass(where.netloc) else getproxies().get(where.scheme)
    options: dict[str, Any] = {"retries": False, "timeout": timeout, "maxsize": 256}
    certificates = os.environ.get("SSL_CERT_FILE") or os.environ.get("REQUESTS_CA_BUNDLE")
    if certificates:
        options["ca_certs"] = certificates
    return urllib3.ProxyManager(proxy, **options) if proxy else urllib3.PoolManager(**options)


def _in_a_line(error: Exception, attempts: int) -> str:
    said = error.args[0] if isinstance(error, urllib3.exceptions.ProtocolError) else error
    text = " ".join(str(said).split()) or type(error).__name__
    return f"{text} ({attempts} attempt{'s' * (attempts > 1)})"

"""The wire format of chat completions: a request as JSON, and what servers answer as a reply or an error in a line."""

import json
import math
from collections.abc import Mapping
from typing import Any

from .confidences import ROUNDING
from .replies import Failure, Reply, Request, Token
from .spelling import decoded

PREFILLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # added to the request, and to its last message
    "message": ({}, {}),
    "continue": ({"continue_final_message": True, "add_generation_prompt": False}, {}),
    "prefix": ({}, {"prefix": True}),
    "none": ({}, {}),
}
REASONING = ("reasoning_content", "reasoning", "thinking")
REFUSED = ("content_filter", "safety", "refusal")
LONGEST_ERROR = 2000  # characters of a server's message


class Malformed(Exception):
    """A reply that does not follow the protocol."""


def payload(request: Request, model: str, prefill: str, extra_body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of a request; `None` in the extra body takes a parameter away.

    Examples
    --------
    >>> payload(Request([{"role": "user", "content": "?"}], 5), "m", "message", {"temperature": None, "top_k": 1})
    {'messages': [{'role': 'user', 'content': '?'}], 'model': 'm', 'stream': False, 'max_tokens': 5, 'top_k': 1}
    """
    *before, last = request.messages
    body, mark = PREFILLS[prefill] if last["role"] == "assistant" else ({}, {})
    made: dict[str, Any] = {
        "messages": [*before, last | mark],
        "model": model,
        "stream": False,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "logprobs": None if request.top_logprobs is None else True,
        "top_logprobs": request.top_logprobs or None,
    }
    merged = made | body | dict(extra_body)
    return {name: value for name, value in merged.items() if value is not None}


def reply(content: bytes) -> Reply:
    """Return the reply of a chat completion.

    Raises
    ------
    Malformed
        Anything that is no chat completion.
    Failure
        A refusal.
    """
    try:
        completion = json.loads(content)
        if "choices" not in completion and error_message(content):
            raise Malformed(f"the reply must be a chat completion; got {error_message(content)}.")
        choice = completion["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        content_tokens = (choice.get("logprobs") or {}).get("content")
        text, thoughts = _text(message.get("content"))
        thoughts += "".join(str(message.get(name) or "") for name in REASONING)
        _check_not_refused(message, finish, text)
        usage, served = completion.get("usage"), completion.get("model")
        counts = {name: n for name, n in (usage or {}).items() if name in COUNTED and isinstance(n, int)}
        tokens = _tokens(content_tokens) if content_tokens else None
        return Reply(text, tokens, finish, thoughts, counts or None, served if isinstance(served, str) else None)
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise Malformed(f"the reply must be a chat completion; got {_named(error)}.") from error


COUNTED = ("prompt_tokens", "completion_tokens")


def error_message(content: bytes) -> str:
    """Return the message in the body of an error, in the shape of any server, else the body itself.

    Examples
    --------
    >>> error_message(b'[{"error": {"code": 429, "message": "Quota exceeded"}}]')
    'Quota exceeded'
    >>> error_message(b'{"object": "error", "message": "top_logprobs is not supported"}')
    'top_logprobs is not supported'
    >>> error_message(b'{"detail": [{"loc": ["body", "x"], "msg": "Extra inputs are not permitted"}]}')
    'x: Extra inputs are not permitted'
    """
    text = content.decode(errors="replace")
    try:
        found = _message(json.loads(text))
    except (ValueError, RecursionError):
        found = None
    return " ".join((found or text).split())[:LONGEST_ERROR]


def _message(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    if isinstance(value, list):
        return "; ".join(filter(None, map(_message, value))) or None
    if not isinstance(value, dict):
        return None
    if "msg" in value:  # FastAPI's
        where = [str(part) for part in value.get("loc", []) if part != "body"]
        return ": ".join([*([".".join(where)] if where else []), str(value["msg"])])
    return next(filter(None, (_message(value.get(name)) for name in ("message", "error", "detail", "errors"))), None)


def _check_not_refused(message: Mapping[str, Any], finish: object, text: str) -> None:
    if message.get("refusal"):
        raise Failure(f"the model refused: {' '.join(str(message['refusal']).split())}", "refusal")
    if str(finish).lower() in REFUSED:
        raise Failure(f"the server withheld the reply: finish_reason {finish}, {text[:60]!r}", "refusal")


def _text(content: object) -> tuple[str, str]:
    """Return the text of a message and the reasoning in it; Mistral sends both as parts."""
    if isinstance(content, str | None):
        return content or "", ""
    if not isinstance(content, list):
        raise Malformed(f"the content of a reply must be text; got {content!r}.")
    spoken = "".join(part["text"] for part in content if part.get("type") == "text")
    thoughts = [part.get("thinking") for part in content if part.get("type") == "thinking"]
    return spoken, "".join(thought if isinstance(thought, str) else _text(thought)[0] for thought in thoughts)


def _tokens(given: list[dict[str, Any]]) -> list[Token]:
    """Return the tokens; where each has its bytes, with the text that these make."""
    tokens = [_token(token) for token in given]
    in_bytes = [token.get("bytes") for token in given]
    if not all(isinstance(piece, list) for piece in in_bytes) or not any(in_bytes):
        return tokens
    texts = decoded([bytes(piece or []) for piece in in_bytes])
    # A token that ends the turn is written, but has no bytes.
    named = [text or ("" if piece else token.text) for text, piece, token in zip(texts, in_bytes, tokens, strict=True)]
    return [token._replace(text=text) for token, text in zip(tokens, named, strict=True)]


def _token(token: dict[str, Any]) -> Token:
    top = [(str(other["token"] or ""), _number(other["logprob"])) for other in token.get("top_logprobs") or []]
    logprob = _number(token["logprob"])
    if not logprob <= ROUNDING or any(math.isnan(p) or p > ROUNDING for _, p in top):
        raise Malformed(f"log-probabilities must be at most 0; got {logprob} for {token['token']!r}, among {top}.")
    if logprob == -math.inf:
        raise Malformed(f"the probability of a generated token must be positive; got 0 for {token['token']!r}.")
    if not isinstance(token["token"], str | None):
        raise Malformed(f"a token must be text; got {token['token']!r}.")
    return Token(token["token"] or "", logprob, [pair for pair in top if pair[1] > -math.inf])


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Malformed(f"a log-probability must be a number; got {value!r}.")
    return float(value)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if isinstance(error, LookupError) else str(error) or type(error).__name__

"""Requests and replies, the same for every backend, and the part of a reply that is the answer."""

import re
from collections.abc import Callable
from typing import NamedTuple

from .prompts import Messages

END_OF_TURN = re.compile(r"(?!<0x)<[^<>\s]+>|\[/?[A-Z_]+\]|")


class Request(NamedTuple):
    """One call of the model.

    `top_logprobs` None asks for no log-probabilities, 0 for those of the chosen tokens alone, k for the
    k most likely tokens of each place too. `temperature` 0 takes the most likely token each time.
    """

    messages: Messages
    max_tokens: int
    temperature: float = 0.0
    top_logprobs: int | None = None
    seed: int | None = None


class Token(NamedTuple):
    """A generated token: its text, its log-probability, the most likely ones there with theirs."""

    text: str
    logprob: float
    top: list[tuple[str, float]]


class Reply(NamedTuple):
    """What the model said. `tokens` is None where the backend gave no log-probabilities."""

    text: str
    tokens: list[Token] | None
    finish_reason: str | None


class Failure(Exception):
    """No usable reply: the question is recorded with this error."""


Ask = Callable[[list[Request]], list[Reply | Failure]]


def body(reply: Reply, prefill: str = "") -> Reply:
    """Take the reply without what is no part of it: reasoning, the echo of the prefill, the end of turn.

    Servers differ in all three: whether they repeat the given start of the reply, whether reasoning comes
    in the text, whether the log-probabilities have a last entry for the end-of-turn token.

    Parameters
    ----------
    reply : Reply
    prefill : str
        The start of the reply that the request gave away.

    Returns
    -------
    Reply
        `text` stripped; `tokens` those that make it up.

    Examples
    --------
    >>> tokens = [Token("Guess", -0.1, []), Token(":", -0.1, []), Token(" Rome", -0.3, []), Token("</s>", 0.0, [])]
    >>> body(Reply("Guess: Rome", tokens, "stop"), "Guess:")
    Reply(text='Rome', tokens=[Token(text=' Rome', logprob=-0.3, top=[])], finish_reason='stop')
    """
    text = reply.text[_lead(reply.text, prefill) :].strip()
    if reply.tokens is None:
        return reply._replace(text=text)
    tokens = _without_end(reply.tokens, reply.text)
    lead = _lead("".join(token.text for token in tokens), prefill)
    return reply._replace(text=text, tokens=_after(tokens, lead))


def first_line(tokens: list[Token]) -> list[Token]:
    r"""Take the tokens of the first line with something on it: the answer, without what follows it.

    Parameters
    ----------
    tokens : list of Token
        Of a `body`.

    Returns
    -------
    list of Token
        With blank ones before the line; a token that holds the end of the line is in, one that begins
        with it is not.

    Examples
    --------
    >>> [token.text for token in first_line([Token(text, -1.0, []) for text in (" Ro", "me", "\n", "Why")])]
    [' Ro', 'me']
    """
    line, taken = "", []
    for token in tokens:
        before, newline, _ = (token.text if line.strip() else token.text.lstrip()).partition("\n")
        if line.strip() and newline and not before.strip():
            break
        taken.append(token)
        line += token.text
        if newline:
            break
    return taken


def _lead(text: str, prefill: str) -> int:
    """Return the length of what comes before the reply proper, a block of reasoning and the echo of the prefill."""
    reasoning = re.match(r"\s*<think>.*?(</think>|\Z)", text, flags=re.DOTALL)
    start = reasoning.end() if reasoning else 0
    echo = (
        re.compile(rf"[\s*]*{re.escape(prefill)}(\*\*)?", flags=re.IGNORECASE).match(text, start) if prefill else None
    )
    return echo.end() if echo else start


def _after(tokens: list[Token], length: int) -> list[Token]:
    """Drop the tokens of the first `length` characters; one that goes on beyond them stays."""
    start = 0
    for place, token in enumerate(tokens):
        if start >= length or start + len(token.text) > length:
            return tokens[place:]
        start += len(token.text)
    return []


def _without_end(tokens: list[Token], text: str) -> list[Token]:
    """Drop special tokens at the end that are not in the text; an empty one is an end of turn too."""
    kept = list(tokens)
    while kept and END_OF_TURN.fullmatch(kept[-1].text) and not (kept[-1].text and text.endswith(kept[-1].text)):
        kept.pop()
    return kept

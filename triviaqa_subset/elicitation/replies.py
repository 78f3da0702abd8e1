"""Requests and replies, the same for every backend, and which part of a reply is the answer."""

import re
from collections.abc import Callable
from typing import NamedTuple

from .prompts import Messages

END_OF_TURN = re.compile(r"(?!<0x)<[^<>\s]+>|\[/?[A-Z_]+\]|")


class Request(NamedTuple):
    """One call of the model.

    Attributes
    ----------
    messages : list of {role, content}
    max_tokens : int
        Longest reply.
    temperature : float
        0 takes the most likely token each time.
    top_logprobs : int or None
        None asks for no log-probabilities, 0 for those of the chosen tokens only, k also for those of the
        k most likely tokens at each position.
    seed : int or None
    """

    messages: Messages
    max_tokens: int
    temperature: float = 0.0
    top_logprobs: int | None = None
    seed: int | None = None


class Token(NamedTuple):
    """A generated token: its text, its log-probability, and the most likely tokens at its position with theirs."""

    text: str
    logprob: float
    top: list[tuple[str, float]]


class Reply(NamedTuple):
    """What the model said. `tokens` is None where the backend gave no log-probabilities."""

    text: str
    tokens: list[Token] | None
    finish_reason: str | None


class Failure(Exception):
    """There is no usable reply: the question is recorded with this error."""


Ask = Callable[[list[Request]], list[Reply | Failure]]


def body(reply: Reply, prefill: str = "") -> Reply:
    """Return a reply without reasoning, without the repeated prefill and without the end-of-turn token.

    Servers differ in all three: whether the text contains the reasoning, whether it repeats the given
    start of the reply, and whether the log-probabilities have a last entry for the end of the turn.

    Parameters
    ----------
    reply : Reply
    prefill : str
        The start of the reply that was in the request.

    Returns
    -------
    Reply
        With `text` stripped, and the `tokens` that make it up.

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
    r"""Return the tokens of the first line that is not blank: the answer, without what follows it.

    Parameters
    ----------
    tokens : list of Token
        From `body`.

    Returns
    -------
    list of Token
        With the blank ones before the line. A token that contains the end of the line is included, one
        that begins with it is not.

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
    """Return the length of what comes before the reply proper: a block of reasoning and the repeated prefill."""
    reasoning = re.match(r"\s*<think>.*?(</think>|\Z)", text, flags=re.DOTALL)
    start = reasoning.end() if reasoning else 0
    echo = (
        re.compile(rf"[\s*]*{re.escape(prefill)}(\*\*)?", flags=re.IGNORECASE).match(text, start) if prefill else None
    )
    return echo.end() if echo else start


def _after(tokens: list[Token], length: int) -> list[Token]:
    """Drop the tokens of the first `length` characters; one that extends beyond them is kept."""
    start = 0
    for place, token in enumerate(tokens):
        if start >= length or start + len(token.text) > length:
            return tokens[place:]
        start += len(token.text)
    return []


def _without_end(tokens: list[Token], text: str) -> list[Token]:
    """Drop special tokens at the end that are not in the text; an empty token is an end of turn too."""
    kept = list(tokens)
    while kept and END_OF_TURN.fullmatch(kept[-1].text) and not (kept[-1].text and text.endswith(kept[-1].text)):
        kept.pop()
    return kept

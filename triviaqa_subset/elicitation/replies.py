"""Requests and replies, the same for every backend, and which part of a reply is the answer."""

import re
from collections.abc import Callable
from typing import NamedTuple

from .prompts import Messages
from .spelling import respelled

END_OF_TURN = re.compile(r"(?!<0x)<[^<>\s]+>|\[/?[A-Z_]+\]|")
END_OF_REASONING = re.compile(
    r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]|<\|channel\|>final(?:\s[^<]*)?<\|message\|>"
    r"|(?<=[.?!\"')\]])assistantfinal",  # the channels of gpt-oss, where a server drops its special tokens
    re.IGNORECASE,
)
REASONING = re.compile(
    r"\s*(?:<(?:think|thinking|thought|reasoning)>|\[THINK\]|<\|channel\|>(?:analysis|commentary)|(?-i:analysis(?=[A-Z])))",
    re.IGNORECASE,
)
PREAMBLE = r"(?:(?:Sure|Certainly|Of course|Okay|Here)\b[^\n]{0,80}|[^\n]{0,80}:)[ \t]*\n\s*"
FENCE = r"\s*```\w*\n"
LABEL = r"(?:(?:my|the)\s+)?(?:(?:best|final)\s+)?(?:guess|answer)\s*:"
NO_TOKENS = "the reply has no log-probabilities"
UNSPELLED = "the tokens do not spell the text of the reply"


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
    """What the model said.

    Attributes
    ----------
    text : str
    tokens : list of Token or None
        None where the backend gave no log-probabilities.
    finish_reason : str or None
        "length" of a reply that was cut.
    reasoning : str
        What the server took out of the text; its tokens may be among `tokens`.
    usage : dict of str to int, optional
        Tokens of the prompt and of the reply, as the server counts them.
    model : str, optional
        The model that answered, as the server calls it.
    """

    text: str
    tokens: list[Token] | None
    finish_reason: str | None
    reasoning: str = ""
    usage: dict[str, int] | None = None
    model: str | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the reply ended because it was too long."""
        return self.finish_reason == "length"


class Failure(Exception):
    """There is no usable reply: the question is recorded with this error.

    Parameters
    ----------
    message : str
    kind : {"reply", "refusal", "request", "transport"}
        What is at fault: what the model said, that it refused, what was asked, or the way to the server and back.
    """

    def __init__(self, message: str, kind: str = "reply") -> None:
        super().__init__(message)
        self.kind = kind


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
        With `text` stripped, and the `tokens` that spell it: None if there are none, or if those of the reply spell
        anything else.

    Examples
    --------
    >>> tokens = [Token("Guess", -0.1, []), Token(":", -0.1, []), Token(" Rome", -0.3, []), Token("</s>", 0.0, [])]
    >>> rome = body(Reply("Guess: Rome", tokens, "stop"), "Guess:")
    >>> rome.text, rome.tokens
    ('Rome', [Token(text=' Rome', logprob=-0.3, top=[])])
    >>> body(Reply("Rome", [Token("token_id:17", -0.3, [])], "stop")).tokens is None
    True
    """
    said = reply.text[_reasoning(reply.text) :]
    text = said[_echo(said, prefill) :].strip()
    return reply._replace(text=text, tokens=_proven(reply, text, prefill))


def missing_tokens(reply: Reply) -> str:
    """Return why the body of a reply has no tokens, given the reply as it came."""
    return NO_TOKENS if not reply.tokens else UNSPELLED


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


def _reasoning(text: str) -> int:
    """Return the length of the reasoning at the start: up to its last end, or all of it if it does not end."""
    ends = [found.end() for found in END_OF_REASONING.finditer(text)]
    if ends:
        return ends[-1]
    return len(text) if REASONING.match(text) else 0


def _echo(text: str, prefill: str) -> int:
    """Return the length of what comes before the answer: a fence, a preamble, and the prefill or a label like it."""
    if not prefill:
        return 0
    label = rf"(?:{re.escape(prefill)}|{LABEL})(?:\*\*)?"
    found = re.match(rf"(?:{FENCE})?(?:{PREAMBLE}(?:{FENCE})?)?[\s*]*{label}", text, re.IGNORECASE)
    found = found or re.match(FENCE, text)
    return found.end() if found else 0


def _proven(reply: Reply, text: str, prefill: str) -> list[Token] | None:
    """Return the tokens that spell the text of the body, or None."""
    if reply.tokens is None:
        return None
    tokens = _without_end(reply.tokens, reply.text)
    for candidate in (tokens, *_after_reasoning(tokens, reply)):
        for said in (reply.text[_reasoning(reply.text) :], text):  # with and without the repeated prefill
            spoken = _spelling(candidate, said)
            if spoken is not None:
                return _after(spoken, _echo("".join(token.text for token in spoken), prefill))
    return None


def _after_reasoning(tokens: list[Token], reply: Reply) -> list[list[Token]]:
    """Return the tokens after the reasoning, where it is among them, with or without a mark of its end."""
    joined = "".join(token.text for token in tokens)
    found = [_after(tokens, _reasoning(joined))]
    if reply.reasoning and joined.endswith(reply.text):
        found.append(_after(tokens, len(joined) - len(reply.text)))
    return found


def _spelling(tokens: list[Token], text: str) -> list[Token] | None:
    pieces = respelled([token.text for token in tokens], text)
    if pieces is None:
        return None
    return [token._replace(text=piece) for token, piece in zip(tokens, pieces, strict=True)]


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

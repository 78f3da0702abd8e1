"""Which part of a reply is the answer, and which of its tokens spell it."""

import codecs
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .confidences import ROUNDING

if TYPE_CHECKING:
    from inspect_ai.model import Logprob, ModelOutput

END_OF_TURN = re.compile(r"(?!<0x)<[^<>\s]+>|\[/?[A-Z_]+\]|")
# A closing tag ends a reasoning that the template may have opened; of rarer names only if it stands at an end of line.
END_OF_REASONING = re.compile(
    r"</think>|</(?:thinking|thought|reasoning)>(?=\s*(?:\n|\Z))|\[/THINK\]"
    r"|<\|channel\|>final(?:\s[^<]*)?<\|message\|>"
    r"|(?<=[.?!\"')\]])assistantfinal",  # the channels of gpt-oss, where a server drops its special tokens
    re.IGNORECASE,
)
REASONING = re.compile(
    r"\s*(?:<(think|thinking|thought|reasoning)>|\[THINK\]|<\|channel\|>(?:analysis|commentary)|(?-i:analysis(?=[A-Z])))",
    re.IGNORECASE,
)
PREAMBLE = r"(?:(?:Sure|Certainly|Of course|Okay|Here)\b[^\n]{0,80}|[^\n]{0,80}:)[ \t]*\n\s*"
FENCE = r"\s*```\w*\n"
LABEL = r"(?:(?:my|the)\s+)?(?:(?:best|final)\s+)?(?:guess|answer)\s*:"
CUT = ("max_tokens", "model_length")
BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
ESCAPES = re.compile(r"bytes:((?:\\x[0-9a-fA-F]{2})+)")
MARKS = {"\u0120": b" ", "\u010a": b"\n", "\u0109": b"\t", "\u2581": b" "}  # Ġ Ċ ĉ ▁


class Unusable(Exception):
    """There is no usable reply, and why."""


class Token(NamedTuple):
    """A generated token: its text, its log-probability, and the most likely tokens at its position with theirs."""

    text: str
    logprob: float
    top: list[tuple[str, float]]


class Reply(NamedTuple):
    """What the model said; where its tokens are not known, `missing` says why."""

    text: str
    tokens: list[Token] | None = None
    is_cut: bool = False
    reasoning: str = ""
    missing: str = "the reply has no log-probabilities"


def read_reply(output: "ModelOutput") -> Reply:
    """Return the first choice of what Inspect got; raise `Unusable` if there is none, or a refusal."""
    if output.empty:
        raise Unusable("the reply must have a choice; got none")
    choice, content = output.choices[0], output.choices[0].message.content
    parts = [] if isinstance(content, str) else content
    text, explanation = choice.message.text, getattr(choice.stop_details, "explanation", None)
    if any(getattr(part, "refusal", None) for part in parts):
        raise Unusable(f"the model refused: {' '.join(text.split())}")
    if choice.stop_reason == "content_filter" or output.error:
        raise Unusable(f"the server withheld the reply: {output.error or explanation or text[:60]!r}")
    reasoning = "".join(part.reasoning for part in parts if part.type == "reasoning")
    reply = Reply(text, None, choice.stop_reason in CUT, reasoning)
    if not choice.logprobs or not choice.logprobs.content:
        return reply
    tokens, usage = _tokens(choice.logprobs.content), output.usage
    if not all(_is_valid(token) for token in tokens):
        return reply._replace(missing="the log-probabilities must be numbers of at most 0")
    # All but the token that ends the turn must be listed; servers count those of a reasoning in several ways.
    if usage and usage.output_tokens > len(tokens) + 1 and not reasoning and not _reasoning(text):
        return reply._replace(missing=f"only {len(tokens)} of the {usage.output_tokens} tokens are listed")
    return reply._replace(tokens=tokens)


def body(reply: Reply, prefill: str = "") -> Reply:
    """Return a reply without reasoning, without the repeated prefill and without the end-of-turn token.

    Servers differ in all three. `tokens` are those that spell the text; None if those of the reply do not.

    Examples
    --------
    >>> tokens = [Token("Guess", -0.1, []), Token(":", -0.1, []), Token(" Rome", -0.3, []), Token("</s>", 0.0, [])]
    >>> rome = body(Reply("Guess: Rome", tokens), "Guess:")
    >>> rome.text, rome.tokens
    ('Rome', [Token(text=' Rome', logprob=-0.3, top=[])])
    >>> body(Reply("Rome", [Token("token_id:17", -0.3, [])])).missing
    'the tokens do not spell the text of the reply'
    """
    said = reply.text[_reasoning(reply.text) :]
    text = said[_echo(said, prefill) :].strip()
    tokens = _proven(reply, text, prefill)
    missing = reply.missing if reply.tokens is None else "the tokens do not spell the text of the reply"
    return reply._replace(text=text, tokens=tokens, missing=missing)


def first_line(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens of the first line that is not blank; one that also contains its end is included.

    Examples
    --------
    >>> [token.text for token in first_line([Token(text, -1.0, []) for text in (" Ro", "me", "\n", "Why")])]
    [' Ro', 'me']
    """
    line, found = "", []
    for token in tokens:
        before, newline, _ = (token.text if line.strip() else token.text.lstrip()).partition("\n")
        if line.strip() and newline and not before.strip():
            break
        found.append(token)
        line += token.text
        if newline:
            break
    return found


def _tokens(listed: "list[Logprob]") -> list[Token]:
    """Return the tokens; where each has its bytes, with the text that these make."""
    tops = [[(other.token, other.logprob) for other in one.top_logprobs or ()] for one in listed]
    tokens = [
        Token(one.token, one.logprob, [pair for pair in top if pair[1] != -math.inf])
        for one, top in zip(listed, tops, strict=True)
    ]
    in_bytes = [one.bytes for one in listed]
    codes = [list(map(ord, one.token)) for one in listed]  # which some providers of Inspect give as the bytes
    if None in in_bytes or in_bytes == codes or not any(in_bytes):
        return tokens
    texts = decoded([bytes(piece or ()) for piece in in_bytes])
    # A token that ends the turn is written, but has no bytes.
    named = [text or ("" if piece else token.text) for text, piece, token in zip(texts, in_bytes, tokens, strict=True)]
    return [token._replace(text=text) for token, text in zip(tokens, named, strict=True)]


def _is_valid(token: Token) -> bool:
    return -math.inf < token.logprob <= ROUNDING and all(p <= ROUNDING for _, p in token.top)


def _reasoning(text: str) -> int:
    """Return the length of the reasoning at the start: up to its last end, or all of it if it does not end."""
    opened = REASONING.match(text)
    ends = [found.end() for found in END_OF_REASONING.finditer(text)]
    if opened and opened[1]:
        ends += [found.end() for found in re.finditer(f"</{opened[1]}>", text, re.IGNORECASE)]
    return max(ends, default=len(text) if opened else 0)


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
    joined = "".join(token.text for token in tokens)
    candidates = [tokens, _after(tokens, _reasoning(joined))]
    if reply.reasoning and joined.endswith(reply.text):  # taken out of the text, with no mark of its end
        candidates.append(_after(tokens, len(joined) - len(reply.text)))
    for candidate in candidates:
        for said in (reply.text[_reasoning(reply.text) :], text):  # with and without the repeated prefill
            pieces = respelled([token.text for token in candidate], said)
            if pieces is not None:
                spoken = [token._replace(text=piece) for token, piece in zip(candidate, pieces, strict=True)]
                return _after(spoken, _echo("".join(pieces), prefill))
    return None


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


def decoded(pieces: Sequence[bytes]) -> list[str]:
    r"""Return the text of each piece of a sequence of UTF-8 bytes; a character belongs to the piece that ends it.

    Examples
    --------
    >>> decoded([b"\xe6\x9d", b"\xb1 3"])
    ['', '東 3']
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts = [decoder.decode(piece) for piece in pieces]
    return [*texts[:-1], texts[-1] + decoder.decode(b"", final=True)] if texts else []


def respelled(pieces: Sequence[str], text: str) -> list[str] | None:
    r"""Return the pieces as they stand in the text, or None if they do not spell it.

    Servers write tokens as text, with byte tokens such as <0xE6>, with "bytes:\xe6", as a byte-level vocabulary has
    them (Ġ, Ċ), or as SentencePiece has them (▁). Blank space around the text does not count.

    Examples
    --------
    >>> respelled(["ĠNew", "ĠYork"], "New York"), respelled(["token_id:17"], "Rome") is None
    ([' New', ' York'], True)
    """
    for reading in (str.encode, _bytes_in_text, _vocabulary_bytes):
        read = _read(pieces, reading)
        if "".join(read).strip() == text.strip():
            return read
    return None


def _read(pieces: Sequence[str], reading: Callable[[str], bytes]) -> list[str]:
    try:
        return decoded([reading(piece) for piece in pieces])
    except UnicodeEncodeError:  # a lone surrogate
        return list(pieces)


def _bytes_in_text(piece: str) -> bytes:
    byte, escapes = BYTE.fullmatch(piece), ESCAPES.fullmatch(piece)
    if byte:
        return bytes.fromhex(byte[1])
    return bytes.fromhex(escapes[1].replace("\\x", "")) if escapes else piece.encode()


def _vocabulary_bytes(piece: str) -> bytes:
    if BYTE.fullmatch(piece):
        return _bytes_in_text(piece)
    if "\u2581" in piece or not all(character in _ALPHABET for character in piece):
        return b"".join(MARKS.get(character, character.encode()) for character in piece)
    return bytes(_ALPHABET[character] for character in piece)


def _alphabet() -> dict[str, int]:
    """Return the characters that a byte-level vocabulary writes for the 256 bytes, as GPT-2's does."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


_ALPHABET = _alphabet()

"""Which part of a reply is the answer, and which of its tokens spell it."""

import codecs
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .confidences import ROUNDING

if TYPE_CHECKING:
    from inspect_ai.model import Logprob, ModelOutput

END_OF_TURN = re.compile(r"(?!<0x)<[^<>\s]+>|\[/?[A-Z_]+\]|")
# A closing tag ends a reasoning that the template may have opened; of rarer names only if it stands at an end of line.
END_OF_REASONING = re.compile(
    r"(?i)</think>|</(?:thinking|thought|reasoning)>(?=\s*(?:\n|\Z))|\[/THINK\]"
    r"|<\|channel\|>final(?:\s[^<]*)?<\|message\|>"
    r"|(?<=[.?!\"')\]])assistantfinal"  # the channels of gpt-oss, where a server drops its special tokens
)
REASONING = re.compile(
    r"(?i)\s*(?:<(think|thinking|thought|reasoning)>|\[THINK\]|<\|channel\|>(?:analysis|commentary)"
    r"|(?-i:analysis(?=[A-Z])))"
)
PREAMBLE = r"(?:(?:Sure|Certainly|Of course|Okay|Here)\b[^\n]{0,80}|[^\n]{0,80}:)[ \t]*\n\s*"
FENCE = r"\s*```\w*\n"
LABEL = r"(?:(?:my|the)\s+)?(?:(?:best|final)\s+)?(?:guess|answer)\s*:"
_CUT = ("max_tokens", "model_length")
ESCAPED = re.compile(r"<0x[0-9A-Fa-f]{2}>|bytes:(?:\\x[0-9a-fA-F]{2})+")
# The characters that a byte-level vocabulary, such as GPT-2's, writes for the 256 bytes.
PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
OTHERS = [byte for byte in range(0x100) if byte not in PRINTABLE]
ALPHABET = {chr(byte): byte for byte in PRINTABLE} | {chr(0x100 + place): byte for place, byte in enumerate(OTHERS)}
MARKS = {"\u0120": b" ", "\u010a": b"\n", "\u0109": b"\t", "\u2581": b" "}  # Ġ Ċ ĉ ▁


class Unusable(Exception):
    """There is no usable reply, and why."""


class Token(NamedTuple):
    """A generated token: its text, its log-probability, and the most likely tokens at its position with theirs."""

    text: str
    logprob: float
    top: list[tuple[str, float]]


class Reply(NamedTuple):
    """The text of a model and its tokens; `missing` is the reason where these are unknown."""

    text: str
    tokens: list[Token] | None = None
    is_cut: bool = False
    reasoning: str = ""
    missing: str = "the reply has no log-probabilities"


def read_reply(output: "ModelOutput") -> Reply:
    """Return the first choice of Inspect's output; raise `Unusable` if there is none, or a refusal."""
    if output.empty:
        raise Unusable("the reply must have a choice; got none")
    choice, content = output.choices[0], output.choices[0].message.content
    parts = [] if isinstance(content, str) else content
    text = choice.message.text
    if any(getattr(part, "refusal", None) for part in parts):
        raise Unusable(f"the model refused: {' '.join(text.split())}")
    if choice.stop_reason == "content_filter" or output.error:
        raise Unusable(f"the server withheld the reply: {output.error or text[:60]!r}")
    reasoning = "".join(part.reasoning for part in parts if part.type == "reasoning")
    reply = Reply(text, None, choice.stop_reason in _CUT, reasoning)
    if not choice.logprobs or not choice.logprobs.content:
        return reply
    tokens, usage = _tokens(choice.logprobs.content), output.usage
    if not all(-math.inf < p <= ROUNDING for _, p, _ in tokens):
        return reply._replace(missing="the log-probabilities must be numbers of at most 0")
    # All but the token that ends the turn must be listed; servers count those of a reasoning in several ways.
    if usage and usage.output_tokens > len(tokens) + 1 and not reasoning and not _reasoning(text):
        return reply._replace(missing=f"only {len(tokens)} of the {usage.output_tokens} tokens are listed")
    return reply._replace(tokens=tokens)


def body(reply: Reply, prefill: str = "") -> Reply:
    """Return a reply without reasoning, repeated prefill and end of turn, and the tokens that spell it, if any do."""
    said = reply.text[_reasoning(reply.text) :]
    text = said[_echo(said, prefill) :].strip()
    tokens = _spelling_tokens(reply, text, prefill)
    missing = reply.missing if reply.tokens is None else "the tokens do not spell the text of the reply"
    return reply._replace(text=text, tokens=tokens, missing=missing)


def first_line(tokens: list[Token]) -> list[Token]:
    """Return the tokens of the first line that is not blank; one that also contains its end is included."""
    line = ""
    for place, token in enumerate(tokens):
        before, newline, _ = (token.text if line.strip() else token.text.lstrip()).partition("\n")
        if newline:
            return tokens[: place + bool(before.strip() or not line.strip())]
        line += token.text
    return tokens


def _tokens(listed: "list[Logprob]") -> list[Token]:
    """Return the tokens; where each has its bytes, with the text that these make."""
    tops = [[(top.token, top.logprob) for top in one.top_logprobs or () if top.logprob > -math.inf] for one in listed]
    tokens = [Token(one.token, one.logprob, top) for one, top in zip(listed, tops, strict=True)]
    in_bytes = [one.bytes for one in listed]
    codes = [list(map(ord, one.token)) for one in listed]  # which some providers of Inspect give as the bytes
    if None in in_bytes or in_bytes == codes or not any(in_bytes):
        return tokens
    texts = decode([bytes(piece or ()) for piece in in_bytes])
    # A token that ends the turn is written, but has no bytes.
    named = [text or ("" if piece else token.text) for text, piece, token in zip(texts, in_bytes, tokens, strict=True)]
    return [token._replace(text=text) for token, text in zip(tokens, named, strict=True)]


def _reasoning(text: str) -> int:
    """Return the length of the reasoning at the start: up to its last end, or all of it if it does not end."""
    opened = REASONING.match(text)
    ends = [found.end() for found in END_OF_REASONING.finditer(text)]
    if opened and opened[1]:
        ends += [found.end() for found in re.finditer(f"</{opened[1]}>", text, re.IGNORECASE)]
    return max(ends, default=len(text) if opened else 0)


def _echo(text: str, prefill: str) -> int:
    """Return the length of the text before the answer: a fence, a preamble, and the prefill or a label like it."""
    if not prefill:
        return 0
    label = rf"(?:{re.escape(prefill)}|{LABEL})(?:\*\*)?"
    labelled = rf"(?:{FENCE})?(?:{PREAMBLE}(?:{FENCE})?)?[\s*]*{label}"
    found = re.match(labelled, text, re.IGNORECASE) or re.match(FENCE, text)
    return found.end() if found else 0


def _spelling_tokens(reply: Reply, text: str, prefill: str) -> list[Token] | None:
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
            pieces = respell([token.text for token in candidate], said)
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


def decode(pieces: Sequence[bytes]) -> list[str]:
    """Return the text of each piece of a sequence of UTF-8 bytes; a character belongs to the piece that ends it."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts = [decoder.decode(piece) for piece in pieces]
    return [*texts[:-1], texts[-1] + decoder.decode(b"", final=True)] if texts else []


def respell(pieces: Sequence[str], text: str) -> list[str] | None:
    """Return the pieces as they stand in the text, or None if they do not spell it; space around does not count."""
    # Servers write tokens as text, with byte tokens (<0xE6>), as a byte-level vocabulary (Ġ), or as SentencePiece (▁).
    for alphabet in ({}, ALPHABET):
        try:
            read = decode([_bytes(piece, alphabet) for piece in pieces])
        except UnicodeEncodeError:  # a lone surrogate
            read = list(pieces)
        if "".join(read).strip() == text.strip():
            return read
    return None


def _bytes(piece: str, alphabet: Mapping[str, int]) -> bytes:
    escaped = ESCAPED.fullmatch(piece)
    if escaped:
        return bytes.fromhex(re.sub(r"\\x|<0x|>|bytes:", "", piece))
    if alphabet and "\u2581" not in piece and all(character in alphabet for character in piece):
        return bytes(alphabet[character] for character in piece)
    return b"".join(MARKS.get(character, character.encode()) if alphabet else character.encode() for character in piece)

"""Which part of a reply is the answer, and which of its tokens spell it."""

import codecs
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..readings import reasoning_length
from .confidences import ROUNDING

if TYPE_CHECKING:
    from inspect_ai.model import Logprob, ModelOutput

END_OF_TURN = re.compile(r"(?!<0x)<[^<>\s]+>|\[/?[A-Z_]+\]|")
PREAMBLE = r"(?:(?:Sure|Certainly|Of course|Okay|Here)\b[^\n]{0,80}|[^\n]{0,80}:)[ \t]*\n\s*"
FENCE = r"\s*```\w*\n"
LABEL = r"(?:(?:my|the)\s+)?(?:(?:best|final)\s+)?(?:guess|answer)\s*:"
CUT = ("max_tokens", "model_length")
NO_DISTRIBUTION = (
    "the log-probabilities are all 0 and no other token has any: they are not those of the model"
)
ABOVE_ONE = "the listed tokens have more than the whole probability: these are not natural logarithms, as of base 10"
ROUNDED = 0.02  # above 1, of twenty log-probabilities with two digits
ESCAPED = re.compile(r"<0x[0-9A-Fa-f]{2}>|bytes:(?:\\x[0-9a-fA-F]{2})+")
# The characters that a byte-level vocabulary, such as GPT-2's, writes for the 256 bytes.
PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
OTHERS = [byte for byte in range(0x100) if byte not in PRINTABLE]
ALPHABET = {chr(byte): byte for byte in PRINTABLE} | {
    chr(0x100 + place): byte for place, byte in enumerate(OTHERS)
}
MARKS = {"\u0120": b" ", "\u010a": b"\n", "\u0109": b"\t", "\u2581": b" "}  # Ġ Ċ ĉ ▁


class Unusable(Exception):
    """There is no usable reply, and why."""


@dataclass(frozen=True, slots=True)
class Token:
    """A generated token: its text, its log-probability, and the most likely tokens at its position with theirs."""

    text: str
    logprob: float
    top: list[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Reply:
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
    _require_no_refusal(output)
    choice = output.choices[0]
    text = choice.message.text
    content = choice.message.content
    parts = [] if isinstance(content, str) else content
    thoughts = [part.reasoning for part in parts if part.type == "reasoning"]
    reply = Reply(
        text,
        None,
        choice.stop_reason in CUT,
        "".join(thoughts),
    )
    count = output.usage.output_tokens if output.usage else 0
    return _with_tokens(reply, choice.logprobs.content, count) if choice.logprobs else reply


def _require_no_refusal(output: "ModelOutput") -> None:
    """Raise `Unusable` if the model refused, or the server withheld the reply."""
    choice = output.choices[0]
    text = choice.message.text
    content = choice.message.content
    if not isinstance(content, str) and any(getattr(part, "refusal", None) for part in content):
        raise Unusable(f"the model refused: {' '.join(text.split())}")
    if choice.stop_reason == "content_filter" or output.error:
        raise Unusable(f"the server withheld the reply: {output.error or text[:60]!r}")


def body(reply: Reply, prefill: str = "") -> Reply:
    """Return a reply without reasoning, repeated prefill and end of turn, and the tokens that spell it, if any do."""
    answer = reply.text[reasoning_length(reply.text) :]
    text = answer[_echo(answer, prefill) :].strip()
    if reply.tokens is None:
        return replace(reply, text=text)
    tokens = _spelling_tokens(reply.tokens, reply, [answer, text], prefill)
    return replace(
        reply, text=text, tokens=tokens, missing="the tokens do not spell the text of the reply"
    )


def first_line(tokens: list[Token]) -> list[Token]:
    """Return the tokens of the first line that is not blank; one that also contains its end is included."""
    line = ""
    for place, token in enumerate(tokens):
        text = token.text if line.strip() else token.text.lstrip()
        before, newline, _ = text.partition("\n")
        if newline:
            belongs = before.strip() or not line.strip()
            return tokens[: place + 1] if belongs else tokens[:place]
        line += token.text
    return tokens


def _with_tokens(reply: Reply, entries: "list[Logprob]", count: int) -> Reply:
    """Return the reply with its tokens, of which a server counts so many, or with the reason why not."""
    if not entries:
        return reply
    tokens = _tokens(entries)
    if not all(-math.inf < token.logprob <= ROUNDING for token in tokens):
        return replace(reply, missing="the log-probabilities must be numbers of at most 0")
    if all(map(_is_certain, tokens)):
        return replace(reply, missing=NO_DISTRIBUTION)
    if max(map(_sum_of_likely, tokens)) > 1 + ROUNDED:
        return replace(reply, missing=ABOVE_ONE)
    # All but the token that ends the turn must be listed; servers count those of a reasoning in several ways.
    if count > len(tokens) + 1 and not reply.reasoning and not reasoning_length(reply.text):
        return replace(reply, missing=f"only {len(tokens)} of the {count} tokens are listed")
    return replace(reply, tokens=tokens)


def _sum_of_likely(token: Token) -> float:
    """Return the sum of the probabilities of the likely tokens in its place."""
    return math.fsum(map(math.exp, dict(token.top).values()))


def _is_certain(token: Token) -> bool:
    """Return whether nothing else was possible; servers write that as -inf or -9999, logarithms of no number but 0."""
    others = [math.exp(logprob) for text, logprob in token.top if text != token.text]
    return token.logprob >= 0 and not any(others)


def _tokens(entries: "list[Logprob]") -> list[Token]:
    """Return the tokens; where each has its bytes, with the text that these make."""
    tokens = []
    for entry, text in zip(entries, _texts(entries), strict=True):
        top = [
            (other.token, other.logprob)
            for other in entry.top_logprobs or ()
            if other.logprob > -math.inf
        ]
        tokens.append(Token(text, entry.logprob, top))
    return tokens


def _texts(entries: "list[Logprob]") -> list[str]:
    names = [entry.token for entry in entries]
    pieces = [entry.bytes for entry in entries]
    # which some providers of Inspect give as the bytes
    codes = [list(map(ord, name)) for name in names]
    if None in pieces or pieces == codes or not any(pieces):
        return names
    # the token that ends the turn is written, but has no bytes
    named = [name.encode(errors="replace") for name in names]
    return decode([bytes(piece or name) for piece, name in zip(pieces, named, strict=True)])


def _echo(text: str, prefill: str) -> int:
    """Return the length of the text before the answer: a fence, a preamble, and the prefill or a label like it."""
    if not prefill:
        return 0
    label = rf"(?:{re.escape(prefill)}|{LABEL})(?:\*\*)?"
    labelled = rf"(?:{FENCE})?(?:{PREAMBLE}(?:{FENCE})?)?[\s*]*{label}"
    start = re.match(labelled, text, re.IGNORECASE)
    if not start:
        start = re.match(FENCE, text)
    return start.end() if start else 0


def _spelling_tokens(
    listed: list[Token],
    reply: Reply,
    texts: Sequence[str],
    prefill: str,
) -> list[Token] | None:
    """Return the tokens that spell one of the texts, with and without the repeated prefill, or None."""
    tokens = _without_end(listed, reply.text)
    joined = "".join(token.text for token in tokens)
    starts = [0, reasoning_length(joined)]
    # taken out of the text, with no mark of its end
    if reply.reasoning and joined.endswith(reply.text):
        starts.append(len(joined) - len(reply.text))
    for start in starts:
        candidate = _after(tokens, start)
        for text in texts:
            pieces = respell([token.text for token in candidate], text)
            if pieces is not None:
                respelt = [
                    replace(token, text=piece)
                    for token, piece in zip(candidate, pieces, strict=True)
                ]
                return _after(respelt, _echo("".join(pieces), prefill))
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
    while (
        kept
        and END_OF_TURN.fullmatch(kept[-1].text)
        and not (kept[-1].text and text.endswith(kept[-1].text))
    ):
        kept.pop()
    return kept


def decode(pieces: Sequence[bytes]) -> list[str]:
    """Return the text of each piece of a sequence of UTF-8 bytes; a character belongs to the piece that ends it."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts = [decoder.decode(piece) for piece in pieces]
    if texts:
        texts[-1] += decoder.decode(b"", final=True)
    return texts


def respell(
    pieces: Sequence[str],
    text: str,
) -> list[str] | None:
    """Return the pieces as they stand in the text, or None if they do not spell it; space around does not count."""
    # Servers write tokens as text, with byte tokens (<0xE6>), as a byte-level vocabulary (Ġ), or as SentencePiece (▁).
    for alphabet in ({}, ALPHABET):
        try:
            texts = decode([_bytes(piece, alphabet) for piece in pieces])
        except UnicodeEncodeError:  # a lone surrogate
            texts = list(pieces)
        if "".join(texts).strip() == text.strip():
            return texts
    return None


def _bytes(piece: str, alphabet: Mapping[str, int]) -> bytes:
    if ESCAPED.fullmatch(piece):
        return bytes.fromhex(re.sub(r"\\x|<0x|>|bytes:", "", piece))
    if not alphabet:
        return piece.encode()
    if "\u2581" not in piece and all(character in alphabet for character in piece):
        return bytes(alphabet[character] for character in piece)
    return b"".join(MARKS.get(character, character.encode()) for character in piece)

"""Whether the tokens of a reply spell its text, in the ways in which servers write tokens."""

import codecs
import re
from collections.abc import Callable, Sequence

BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
ESCAPES = re.compile(r"bytes:((?:\\x[0-9a-fA-F]{2})+)")
MARKS = {"\u0120": b" ", "\u010a": b"\n", "\u0109": b"\t", "\u2581": b" "}  # Ġ Ċ ĉ ▁


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

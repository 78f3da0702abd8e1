"""What a stream can show: how wide it is, whether in colours, and which characters it has."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterable
from typing import NamedTuple, TextIO

ASCII = {"↑": "^", "↓": "v", "†": "#", "∞": "inf", "…": "..."}  # what tables contain
CODES = {"best": "1;32", "header": "1", "faint": "2"}
MIN_WIDTH = 40  # narrower ones are not followed: no number would fit beside its system


class Screen(NamedTuple):
    """What is known of a stream; by default that of a file, which holds everything.

    Attributes
    ----------
    width : int or None
        In characters; None has no end.
    is_coloured : bool
    encoding : str
    """

    width: int | None = None
    is_coloured: bool = False
    encoding: str = "utf-8"

    def plain(self, text: str) -> str:
        """Return text with ASCII in the place of what the stream cannot encode.

        Examples
        --------
        >>> Screen(encoding="ascii").plain("ECUAS_∞ ↓"), Screen().plain("ECUAS_∞ ↓")
        ('ECUAS_inf v', 'ECUAS_∞ ↓')
        """
        if not _encodes(self.encoding, "".join(ASCII)):  # all signs or none: a mark and its note must be the same
            text = "".join(ASCII.get(character, character) for character in text)
        return text.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def painted(self, text: str, style: str) -> str:
        """Return text in one of the styles of `CODES`, if the stream has colours."""
        return f"\033[{CODES[style]}m{text}\033[0m" if self.is_coloured and text.strip() else text

    def wrapped(self, lines: Iterable[str]) -> list[str]:
        """Return lines broken where the screen ends, the rest of each indented under what comes first in it."""
        broken: list[str] = []
        for line in map(self.plain, lines):
            hang = " " * (len(line) - len(line.lstrip()) + 2)
            parts = [] if self.width is None else _broken(line, self.width, hang)
            broken += parts or [line]
        return broken


def _encodes(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _broken(line: str, width: int, hang: str) -> list[str]:
    """Break a line between its words; signatures and long names stay whole."""
    return textwrap.wrap(line, width, subsequent_indent=hang, break_on_hyphens=False, break_long_words=False)


def screen_of(stream: TextIO) -> Screen:
    """Return what a stream can show: a terminal has its width, a pipe or a file no end.

    Parameters
    ----------
    stream : text stream

    Returns
    -------
    Screen

    References
    ----------
    https://no-color.org and https://force-color.org; where both are set there are no colours.
    """
    is_terminal = stream.isatty()
    width = max(shutil.get_terminal_size().columns, MIN_WIDTH) if is_terminal else None
    return Screen(width, _is_coloured(is_terminal), getattr(stream, "encoding", None) or "utf-8")


def _is_coloured(is_terminal: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb")

"""Names of systems -> names short enough for a figure or a narrow table."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from os.path import commonprefix

_SEPARATORS = "_-./:| ,"
_LONGEST = 32


def short_names(
    names: Iterable[str],
    *,
    longest: int = _LONGEST,
) -> dict[str, str]:
    """Map names to distinct short forms if one exceeds `longest` characters: "…" replaces shared ends, then middles."""
    unique = list(dict.fromkeys(names))
    cut = (
        _without_common_ends(unique, longest)
        if max(map(len, unique), default=0) > longest
        else unique
    )
    elided = [_elide(name, longest) for name in cut]
    shown = elided if len(set(elided)) == len(unique) else cut
    return dict(zip(unique, shown, strict=True))


def _without_common_ends(names: list[str], longest: int) -> list[str]:
    """Return names without words that all begin or end with: as few as make the names short enough, or all."""
    if len(names) < 2:
        return names
    room = min(map(len, names))
    first = _ends_of_words(commonprefix(names))  # noqa: RUF071
    last = _ends_of_words(commonprefix([name[::-1] for name in names]))  # noqa: RUF071
    pairs = product(first, last)
    cuts = sorted((pair for pair in pairs if sum(pair) < room), key=sum)
    for i, j in cuts:
        cut = [f"{'…' * bool(i)}{name[i : len(name) - j]}{'…' * bool(j)}" for name in names]
        if max(map(len, cut)) <= longest:
            break
    return cut


def _ends_of_words(text: str) -> list[int]:
    """Return how many characters of a beginning can be cut without cutting a word."""
    return [0, *(i for i, character in enumerate(text, 1) if character in _SEPARATORS)]


def _elide(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    tail = (longest - 1) * 2 // 5
    return f"{name[: longest - 1 - tail]}…{name[len(name) - tail :]}"

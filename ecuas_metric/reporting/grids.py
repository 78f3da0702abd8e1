"""A grid of cells -> text, Markdown, LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..plotting.names import short_names
from .terminal import Screen

FILE = Screen()
MIN_NAME = 12  # characters that a narrow screen leaves of a name
LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"}
LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "|": r"$|$"}
LATEX |= {"↑": r"$\uparrow$", "↓": r"$\downarrow$", "†": r"$^\dagger$", "∞": r"$\infty$"}


Record = Mapping[str, object]  # one row of numbers with all their digits, under the names of its columns


class Cell(NamedTuple):
    """Text of a cell, and whether it is the best of its column."""

    text: str
    is_best: bool = False


class Grid(NamedTuple):
    """Remarks, a header, rows of as many cells, notes and signature below.

    The first `labels` columns are names; where they are `grouped`, a name of the first is shown once for all its rows.
    """

    header: list[str]
    rows: list[list[Cell]]
    notes: list[str]
    signature: str
    labels: int = 1
    above: Sequence[str] = ()
    grouped: bool = False


def to_text(grid: Grid, screen: Screen = FILE) -> str:
    """Return aligned plain text; the best of a column is marked with a star.

    Parameters
    ----------
    grid : Grid
    screen : Screen
        Where it is shown: a table that is wider goes on below itself, with the names of its rows again.

    Returns
    -------
    str

    Examples
    --------
    >>> print(to_text(Grid(["system", "ER"], [[Cell("a"), Cell("0.1", True)], [Cell("b"), Cell("0.2")]], [], "ecuas")))
    system    ER
    -------------
    a        0.1*
    b        0.2
    <BLANKLINE>
    ecuas
    <BLANKLINE>
    """
    star = " " * any(cell.is_best for row in grid.rows for cell in row)
    rows = _grouped(_fitted(grid, screen.width, 2 + len(star)))
    cells = [[screen.plain(cell.text) + ("*" if cell.is_best else star) for cell in row] for row in rows]
    header = [screen.plain(name) + star for name in grid.header]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    lines: list[str] = []
    for columns in _blocks(widths, grid.labels, screen.width):
        aligned = [_aligned(row, widths, grid.labels, columns) for row in (header, *cells)]
        rule = "-" * max(len("  ".join(row).rstrip()) for row in aligned)
        styles = [["best" if row[i].is_best else "" for i in columns] for row in rows]
        lines += [""] * bool(lines) + [screen.painted("  ".join(aligned[0]).rstrip(), "header")]
        lines += [screen.painted(rule, "faint")]
        lines += [_painted(row, style, screen) for row, style in zip(aligned[1:], styles, strict=True)]
    below = [*screen.wrapped(grid.notes), *screen.wrapped([grid.signature] if grid.signature else [])]
    return "\n".join([*screen.wrapped(grid.above), *lines, *([""] * bool(below)), *below]) + "\n"


def to_markdown(grid: Grid) -> str:
    """Return a Markdown table; the best of a column is bold.

    Parameters
    ----------
    grid : Grid

    Returns
    -------
    str
    """
    header = [_markdown(name) for name in grid.header]
    rules = ["---"] * grid.labels + ["---:"] * (len(header) - grid.labels)
    rows = [
        [f"**{_markdown(cell.text)}**" if cell.is_best else _markdown(cell.text) for cell in row]
        for row in _grouped(grid)
    ]
    lines = [f"| {' | '.join(line)} |" for line in (header, rules, *rows)]
    below = [*map(_note, grid.notes), f"`{grid.signature}`"]
    above = [line for note in grid.above for line in (_note(note), "")]
    return "\n".join([*above, *lines, *(line for note in below for line in ("", note))]) + "\n"


def to_latex(grid: Grid) -> str:
    """Return a tabular for the package booktabs; the best of a column is bold.

    Parameters
    ----------
    grid : Grid

    Returns
    -------
    str
        Notes and signature are comments below it.
    """
    columns = "l" * grid.labels + "r" * (len(grid.header) - grid.labels)
    rows = [
        [rf"\textbf{{{_latex(cell.text)}}}" if cell.is_best else _latex(cell.text) for cell in row]
        for row in _grouped(grid)
    ]
    body = [_latex_row(row) for row in rows]
    header = _latex_row([_latex(name) for name in grid.header])
    notes = [f"% {note}" for note in (*grid.above, *grid.notes, grid.signature)]
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header, r"\midrule", *body, r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}", *notes]) + "\n"


def _fitted(grid: Grid, width: int | None, between: int) -> Grid:
    """Return a grid with shorter names where it is too wide for a screen, and its names have a large part in that."""
    columns = [[name, *(row[i].text for row in grid.rows)] for i, name in enumerate(grid.header)]
    needs = [max(map(len, column)) + between for column in columns]
    if width is None or sum(needs) - between <= width:
        return grid
    room, spare = width * (grid.labels + 1) // (grid.labels + 4), width - sum(needs[grid.labels :])
    room = min(room, spare) if spare >= grid.labels * (MIN_NAME + between) else room
    shown: list[dict[str, str]] = []
    for need, column in sorted(zip(needs, columns[: grid.labels], strict=False), key=lambda pair: pair[0]):
        longest = max(MIN_NAME, room // (grid.labels - len(shown)) - between)
        shown.append(short_names(column[1:], longest=longest) if need - between > longest else {})
        room -= min(need, longest + between)
    short = {name: text for names in shown for name, text in names.items()}
    rows = [
        [*(Cell(short.get(cell.text, cell.text)) for cell in row[: grid.labels]), *row[grid.labels :]]
        for row in grid.rows
    ]
    return grid._replace(rows=rows)


def _grouped(grid: Grid) -> list[list[Cell]]:
    """Return the rows, without the first name of those that have it from the row above."""
    firsts = [""] + [row[0].text for row in grid.rows[:-1]]
    repeats = [grid.grouped and row[0].text == first for row, first in zip(grid.rows, firsts, strict=False)]
    return [[Cell(""), *row[1:]] if is_repeat else row for row, is_repeat in zip(grid.rows, repeats, strict=True)]


def _blocks(widths: Sequence[int], labels: int, width: int | None) -> list[list[int]]:
    """Return the columns that fit beside each other, the names first in each; at least one other."""
    names = list(range(labels))
    blocks, used = [list(names)], sum(widths[:labels])
    for column in range(labels, len(widths)):
        last = blocks[-1]
        if width is not None and len(last) > labels and used + widths[column] + 2 * len(last) > width:
            blocks.append(list(names))
            used = sum(widths[:labels])
        blocks[-1].append(column)
        used += widths[column]
    return blocks


def _aligned(row: list[str], widths: Sequence[int], labels: int, columns: Iterable[int]) -> list[str]:
    return [row[i].ljust(widths[i]) if i < labels else row[i].rjust(widths[i]) for i in columns]


def _painted(texts: list[str], styles: list[str], screen: Screen) -> str:
    parts = [screen.painted(text, style) if style else text for text, style in zip(texts, styles, strict=True)]
    return "  ".join(parts).rstrip()


def _note(text: str) -> str:
    return text.replace("*", r"\*").replace("<", "&lt;")


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;").replace("\n", " ")


def _latex(text: str) -> str:
    """Escape text; n of ECUAS_n becomes a subscript, and a hyphen before a digit a minus sign."""
    if match := re.search(r"\b(ECUAS|EC|Cov|SR)_([\d.e+∞-]+)", text):
        subscript = rf"{match[1]}$_{{{match[2].replace('∞', LATEX['∞'].strip('$'))}}}$"
        return _latex(text[: match.start()]) + subscript + _latex(text[match.end() :])
    escaped = "".join(LATEX.get(character, character) for character in text)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", escaped)


def _latex_row(cells: list[str]) -> str:
    first = f"{{}}{cells[0]}" if cells[0].startswith(("[", "*")) else cells[0]  # TeX would take it for an option of \\
    return rf"{' & '.join([first, *cells[1:]])} \\"

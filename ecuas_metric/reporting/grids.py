"""A grid of cells -> text, Markdown, LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"}
LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "|": r"$|$"}
LATEX |= {"↑": r"$\uparrow$", "↓": r"$\downarrow$", "†": r"$^\dagger$", "∞": r"$\infty$"}


Record = Mapping[str, object]  # one row of numbers with all their digits, under the names of its columns


class Cell(NamedTuple):
    """Text of a cell, and whether it is the best of its column."""

    text: str
    is_best: bool = False


class Grid(NamedTuple):
    """Remarks, a header, rows of as many cells, notes and signature below. The first `labels` columns are names."""

    header: list[str]
    rows: list[list[Cell]]
    notes: list[str]
    signature: str
    labels: int = 1
    above: Sequence[str] = ()


def to_text(grid: Grid) -> str:
    """Return aligned plain text; the best of a column is marked with a star.

    Parameters
    ----------
    grid : Grid

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
    cells = [[cell.text + ("*" if cell.is_best else " ") for cell in row] for row in grid.rows]
    header = [name + " " for name in grid.header]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    lines = ["  ".join(_aligned(row, widths, grid.labels)).rstrip() for row in (header, *cells)]
    return (
        "\n".join([*grid.above, lines[0], "-" * max(map(len, lines)), *lines[1:], "", *grid.notes, grid.signature])
        + "\n"
    )


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
        [f"**{_markdown(cell.text)}**" if cell.is_best else _markdown(cell.text) for cell in row] for row in grid.rows
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
        [rf"\textbf{{{_latex(cell.text)}}}" if cell.is_best else _latex(cell.text) for cell in row] for row in grid.rows
    ]
    body = [_latex_row(row) for row in rows]
    header = _latex_row([_latex(name) for name in grid.header])
    notes = [f"% {note}" for note in (*grid.above, *grid.notes, grid.signature)]
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header, r"\midrule", *body, r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}", *notes]) + "\n"


def _aligned(row: list[str], widths: list[int], labels: int) -> list[str]:
    return [
        text.ljust(width) if i < labels else text.rjust(width)
        for i, (text, width) in enumerate(zip(row, widths, strict=True))
    ]


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

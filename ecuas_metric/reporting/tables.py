"""Tables: a grid of cells -> text for a screen, Markdown or LaTeX; records -> CSV or JSON; each written to a file."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from ..errors import FileError
from ..files.write import write_whole
from ..plotting.names import short_names

BEST = "●"  # behind the best value of a column; * would be read as p < 0.05
IN_BOLD = "Bold:"  # the mark of formats that have bold text
ASCII = {"↑": "^", "↓": "v", "†": "#", "∞": "inf", "…": "...", BEST: "+", "≤": "<="}  # what tables contain
CODES = {"best": "1;32", "header": "1", "faint": "2"}
MIN_WIDTH = 40  # narrower terminals are not followed: no number would fit beside its system
MIN_NAME = 12  # characters that a narrow screen leaves of a name
SUFFIXES = (".md", ".tex", ".txt", ".csv", ".json")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"}
LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "|": r"$|$"}
LATEX |= {"↑": r"$\uparrow$", "↓": r"$\downarrow$", "†": r"$^\dagger$", "∞": r"$\infty$", "≤": r"$\leq$"}
SUBSCRIPT = re.compile(r"\b(ECUAS|EC|Cov|SR)_([\d.e+∞-]+|[nr]\b)")

Record = Mapping[str, object]  # one row of numbers with all their digits, under the names of its columns


class Screen(NamedTuple):
    """What a stream can show: its width in characters (None has no end), colours, encoding; by default a file's."""

    width: int | None = None
    is_coloured: bool = False
    encoding: str = "utf-8"

    def plain(self, text: str) -> str:
        """Return text with ASCII in the place of what the stream cannot encode."""
        signs = "".join(ASCII)  # all or none: a mark and its note must be the same
        if signs.encode(self.encoding, "replace").decode(self.encoding) != signs:
            text = "".join(ASCII.get(character, character) for character in text)
        return text.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def paint(self, text: str, style: str) -> str:
        """Return text in one of the styles of `CODES`, if the stream has colours."""
        return f"\033[{CODES[style]}m{text}\033[0m" if self.is_coloured and text.strip() else text

    def wrap(self, lines: Iterable[str]) -> list[str]:
        """Return lines broken between words where the screen ends, the rest of each indented below its first word."""
        found: list[str] = []
        for line in map(self.plain, lines):
            hang = " " * (len(line) - len(line.lstrip()) + 2)
            parts = [] if self.width is None else textwrap.wrap(
                line, self.width, subsequent_indent=hang, break_on_hyphens=False, break_long_words=False
            )  # fmt: skip
            found += parts or [line]
        return found


FILE = Screen()


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
    legend: Sequence[str] = ()  # what each metric means
    best: str = ""  # what the mark of the best value means

    def below(self, mark: str = BEST) -> list[str]:
        """Return the lines between table and signature, with the mark of the best value."""
        return [*([f"{mark} {self.best}"] if self.best else []), *self.notes, *self.legend]


def screen_of(stream: TextIO) -> Screen:
    """Return what a stream can show, by https://no-color.org and https://force-color.org; a pipe or file has no end."""
    is_terminal = stream.isatty()
    width = max(shutil.get_terminal_size().columns, MIN_WIDTH) if is_terminal else None
    has_colours = bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb")
    return Screen(width, has_colours and not os.environ.get("NO_COLOR"), getattr(stream, "encoding", None) or "utf-8")


def to_text(grid: Grid, screen: Screen = FILE) -> str:
    """Return aligned plain text with a mark at the best of each column; a wide table goes on below itself."""
    gap = " " * any(cell.is_best for row in grid.rows for cell in row)
    rows = _group_rows(_shorten_names(grid, screen.width, 2 + len(gap)))
    cells = [[screen.plain(cell.text + (BEST if cell.is_best else gap)) for cell in row] for row in rows]
    header = [screen.plain(name) + gap for name in grid.header]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    lines: list[str] = []
    for columns in _blocks(widths, grid.labels, screen.width):
        aligned = [
            [row[i].ljust(widths[i]) if i < grid.labels else row[i].rjust(widths[i]) for i in columns]
            for row in (header, *cells)
        ]
        rule = "-" * max(len("  ".join(row).rstrip()) for row in aligned)
        lines += [""] * bool(lines) + [screen.paint("  ".join(aligned[0]).rstrip(), "header")]
        lines += [screen.paint(rule, "faint")]
        for texts, row in zip(aligned[1:], rows, strict=True):
            marks = zip(texts, (row[i].is_best for i in columns), strict=True)
            lines.append("  ".join(screen.paint(text, "best") if is_best else text for text, is_best in marks).rstrip())
    below = screen.wrap([*grid.below(), *[grid.signature] * bool(grid.signature)])
    return "\n".join([*screen.wrap(grid.above), *lines, *[""] * bool(below), *below]) + "\n"


def to_markdown(grid: Grid) -> str:
    """Return a Markdown table; the best of a column is bold."""
    header = [_markdown(name) for name in grid.header]
    rules = ["---"] * grid.labels + ["---:"] * (len(header) - grid.labels)
    rows = _mark_up(grid, _markdown, "**{}**")
    lines = [f"| {' | '.join(line)} |" for line in (header, rules, *rows)]
    below = [*map(_note, grid.below(IN_BOLD)), f"`{grid.signature}`"]
    above = [line for note in grid.above for line in (_note(note), "")]
    return "\n".join([*above, *lines, *(line for note in below for line in ("", note))]) + "\n"


def to_latex(grid: Grid) -> str:
    """Return a tabular for the package booktabs, its notes below it; the best of a column is bold."""
    columns = "l" * grid.labels + "r" * (len(grid.header) - grid.labels)
    body = [_latex_row(row) for row in _mark_up(grid, _latex, r"\textbf{{{}}}")]
    header, span = _latex_row([_latex(name) for name in grid.header]), rf"\multicolumn{{{len(grid.header)}}}"
    notes = [rf"{span}{{p{{\linewidth}}}}{{\footnotesize {_latex(note)}}} \\" for note in grid.below(IN_BOLD)]
    comments = [f"% {note}" for note in ("Needs \\usepackage{booktabs}.", *grid.above, grid.signature) if note]
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header, r"\midrule", *body, r"\bottomrule", *notes]
    return "\n".join([*lines, r"\end{tabular}", *comments]) + "\n"


def to_html(grid: Grid) -> str:
    """Return an HTML table, as notebooks show it; the best of a column is bold."""
    from html import escape

    def row(cells: Iterable[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"

    body = "".join(row(line, "td") for line in _mark_up(grid, escape, "<b>{}</b>"))
    notes = "<br>".join(map(escape, [*grid.above, *grid.below(IN_BOLD), grid.signature]))
    return f"<table>{row(map(escape, grid.header), 'th')}{body}</table><small>{notes}</small>"


def write(path: str | Path, grid: Grid, records: Sequence[Record]) -> None:
    """Write a table in the format of the suffix; .csv and .json hold the records with all digits."""
    path = Path(path)
    writers: dict[str, Callable[[], str]] = {
        ".md": lambda: to_markdown(grid),
        ".tex": lambda: to_latex(grid),
        ".txt": lambda: to_text(grid),
        ".csv": lambda: to_csv(records, grid.signature),
        ".json": lambda: to_json(records, grid.signature, [*grid.above, *grid.below()]),
    }
    check_suffix(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, writers[path.suffix.lower()]().encode())


def check_suffix(path: str | Path) -> None:
    """Raise FileError if there is no format for the suffix of the path."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise FileError(path, "unknown_suffix_of_table", suffixes=list(SUFFIXES))


def to_csv(records: Sequence[Record], line: str) -> str:
    """Return CSV with the signature in a column of its own; names that look like formulas are neutralised."""
    buffer, columns = io.StringIO(), list(dict.fromkeys(key for record in records for key in record))
    writer = csv.DictWriter(buffer, [*columns, "signature"], lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({key: _csv_cell(value) for key, value in {**record, "signature": line}.items()})
    return buffer.getvalue()


def to_json(records: Sequence[Record], line: str, notes: Iterable[str] = ()) -> str:
    """Return JSON of records, signature and notes; what is not a finite number is null."""

    def finite(value: object) -> object:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    rows = [{key: finite(value) for key, value in record.items()} for record in records]
    return json.dumps({"signature": line, "notes": list(notes), "rows": rows}, indent=2, ensure_ascii=False) + "\n"


def neutral(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: an apostrophe goes before = + - @ (OWASP, CSV injection)."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _csv_cell(value: object) -> object:
    if isinstance(value, str):
        return neutral(value)
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _shorten_names(grid: Grid, width: int | None, between: int) -> Grid:
    """Return a grid with system names shortened if it does not fit the screen mainly because of them."""
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
    short, labels = {name: text for names in shown for name, text in names.items()}, grid.labels
    rows = [[*(Cell(short.get(text, text)) for text, _ in row[:labels]), *row[labels:]] for row in grid.rows]
    return grid._replace(rows=rows)


def _mark_up(grid: Grid, escape: Callable[[str], str], bold: str) -> list[list[str]]:
    """Return the texts of all cells, escaped, the best of each column in a template of bold text."""
    template = {True: bold, False: "{}"}
    return [[template[is_best].format(escape(text)) for text, is_best in row] for row in _group_rows(grid)]


def _group_rows(grid: Grid) -> list[list[Cell]]:
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


def _note(text: str) -> str:
    return text.replace("*", r"\*").replace("<", "&lt;")


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;").replace("\n", " ")


def _latex(text: str) -> str:
    """Escape text; n of ECUAS_n becomes a subscript, and a hyphen before a digit a minus sign."""
    if match := SUBSCRIPT.search(text):
        subscript = rf"{match[1]}$_{{{match[2].replace('∞', LATEX['∞'].strip('$'))}}}$"
        return _latex(text[: match.start()]) + subscript + _latex(text[match.end() :])
    escaped = "".join(LATEX.get(character, character) for character in text)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", escaped)


def _latex_row(cells: list[str]) -> str:
    first = f"{{}}{cells[0]}" if cells[0].startswith(("[", "*")) else cells[0]  # TeX would take it for an option of \\
    return rf"{' & '.join([first, *cells[1:]])} \\"

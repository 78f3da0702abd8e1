"""Tables: a grid of cells -> text for a screen, Markdown or LaTeX; records -> CSV or JSON; each written to a file."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO
from unicodedata import combining, east_asian_width

from ..errors import FileError
from ..files.write import write_whole
from ..plotting.names import short_names

BEST = "●"  # behind the best value of a column; * would be read as p < 0.05
_NOT_TESTED = "not necessarily significantly better (see ecuas compare)"
BEST_VALUE = f"best value, {_NOT_TESTED}"
BEST_OF_PART = f"best value of a part of the data, {_NOT_TESTED}"
IN_BOLD = "Bold:"  # the mark of formats that have bold text
MIN_WIDTH = 40  # narrower terminals are not followed: no number would fit beside its system
COLUMN_GAP = 2  # blanks between columns, in which a mark stands
MIN_NAME = 12  # characters that a narrow screen leaves of a name
SUFFIXES = (".md", ".tex", ".txt", ".csv", ".json")
# where a cell begins, or one where semicolons or tabs separate them
FORMULA = re.compile(r"(^|[;\t])(?=[=+\-@\t\r])")
LATEX = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    **{character: f"${character}$" for character in "<>|"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "†": r"$^\dagger$",
    "∞": r"$\infty$",
    "≤": r"$\leq$",
}
# lines, or their direction
BREAKING = (*range(32), *range(127, 160), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_BLANKS = dict.fromkeys(BREAKING, " ")
COMMANDS_NAMED = re.compile(r" \(see ecuas \w+\)")  # what a paper does not name
# what begins a tag, a character by its name, or an address, also without markup
MARKUP = re.compile(r"<(?=[A-Za-z/!?])|&(?=[#\w])|:(?=//)|(?<=www)\.")
MARKDOWN = re.compile(r"[\\|*`$~]|\](?=[(\[:])|(?<!\w)_|_(?!\w)")
SUBSCRIPT = re.compile(r"\b(ECUAS|EC|Cov|SR)_(\d+(?:\.\d+)?(?:e[+-]\d+)?|∞|[nr]\b)")

# one row of numbers with all their digits, under the names of its columns
Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Cell:
    """Text of a cell, whether it is the best of its column, and how plain text marks that."""

    text: str
    is_best: bool = False
    mark: str = BEST


@dataclass(frozen=True, slots=True)
class Grid:
    """Remarks, a header, rows of as many cells, notes and signature below.

    The first `labels` columns are names; where they are `grouped`, a name of the first is shown once for all its rows.
    """

    header: list[str]
    rows: list[list[Cell]]
    notes: list[str]
    signature: str
    labels: int = 1
    above: Sequence[str] = ()
    best: str = BEST_VALUE  # what a mark means
    marks: str = ""  # what the marks of plain text mean, unless each is that of the best value
    grouped: bool = False
    legend: Sequence[str] = ()  # what each metric means
    hints: Sequence[str] = ()  # for readers of the text only
    ruled: bool = True  # whether a line stands below the header of the text

    @property
    def marks_best(self) -> bool:
        """Whether a cell is the best of its column."""
        return any(cell.is_best for row in self.rows for cell in row)

    def below(self, mark: str = BEST) -> list[str]:
        """Return the lines between table and signature, with the mark of the best value."""
        meaning = self.marks if self.marks and mark == BEST else f"{mark} {self.best}"
        lines = [meaning] if self.marks_best else []
        return [*lines, *self.notes, *self.legend]


def screen_width(stream: TextIO) -> int | None:
    """Return how many characters wide a stream is; a pipe or file has no end."""
    return max(shutil.get_terminal_size().columns, MIN_WIDTH) if stream.isatty() else None


def wrapped(lines: Iterable[str], width: int | None) -> list[str]:
    """Return lines broken between words where the screen ends, the rest of each indented below its first word."""
    parts = []
    for line in map(one_line, lines):
        if width is None or not line.strip():
            parts.append(line)
        else:
            hang = " " * (len(line) - len(line.lstrip()) + 2)
            wrapper = textwrap.TextWrapper(
                width, subsequent_indent=hang, break_on_hyphens=False, break_long_words=False
            )
            parts += wrapper.wrap(line)
    return parts


def to_text(grid: Grid, width: int | None = None) -> str:
    """Return aligned plain text with a mark at the best of each column; a wide table goes on below itself."""
    lines_below = filter(None, [*grid.below(), *grid.hints, grid.signature])
    below = wrapped(lines_below, width)
    parts = [*wrapped(grid.above, width), table_lines(grid, width)]
    if below:
        parts += ["", *below]
    return "\n".join(parts) + "\n"


def table_lines(grid: Grid, width: int | None) -> str:
    """Return header and rows as aligned plain text, in as many blocks as the width needs."""
    grid = _fitted(grid, width)
    lines = _lines_of(grid)
    widths = _widths_of(lines)
    blocks = _columns_of_blocks(widths, grid.labels, width)
    texts = [_block(lines, columns, widths, grid.labels, is_ruled=grid.ruled) for columns in blocks]
    return "\n\n".join(texts)


def one_line(text: str) -> str:
    """Return text with blanks in the place of what would break a line, or turn its direction."""
    return text.translate(_BLANKS)


def _room(text: str) -> int:
    """Return how many columns of a screen a text takes: two for a wide letter, none for an accent of its own."""
    wide = sum(east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(combining, text)))


def _lines_of(grid: Grid) -> list[list[tuple[str, str]]]:
    """Return the texts of header and rows, each with the mark that stands in the gap behind it."""
    lines = [[(one_line(name), "") for name in grid.header]]
    for row in _group_rows(grid):
        lines.append([(one_line(cell.text), cell.mark if cell.is_best else "") for cell in row])
    return lines


def _widths_of(lines: Iterable[Sequence[tuple[str, str]]]) -> list[int]:
    return [max(_room(text) for text, _ in column) for column in zip(*lines, strict=True)]


def _block(
    lines: Iterable[Sequence[tuple[str, str]]],
    columns: Iterable[int],
    widths: Sequence[int],
    labels: int,
    *,
    is_ruled: bool,
) -> str:
    """Return some columns, the names to the left and the numbers to the right, with a rule below the header."""
    texts = []
    for line in lines:
        parts = []
        for i in columns:
            text, mark = line[i]
            blanks = " " * (widths[i] - _room(text))
            parts.append((text + blanks if i < labels else blanks + text) + mark.ljust(COLUMN_GAP))
        texts.append("".join(parts).rstrip())
    rules = ["-" * max(map(_room, texts))] if is_ruled else []
    return "\n".join([texts[0], *rules, *texts[1:]])


def to_markdown(grid: Grid) -> str:
    """Return a Markdown table; the best of a column is bold."""
    numbers = len(grid.header) - grid.labels
    header = [_markdown(name) for name in grid.header]
    rules = ["---"] * grid.labels + ["---:"] * numbers
    rows = _mark_up(grid, _markdown, "**{}**")
    table = "\n".join(f"| {' | '.join(line)} |" for line in (header, rules, *rows))
    above = map(_markdown, grid.above)
    below = map(_markdown, grid.below(IN_BOLD))
    return "\n\n".join([*above, table, *below, _code(grid.signature)]) + "\n"


def _code(text: str) -> str:
    """Return text as Markdown's code, between more backticks than it has in a row."""
    plain = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", plain)), default=0))
    space = " " if plain.strip("`") != plain else ""
    return f"{fence}{space}{plain}{space}{fence}"


def to_latex(grid: Grid) -> str:
    """Return a tabular for the package booktabs, its notes below it; the best of a column is bold."""
    numbers = len(grid.header) - grid.labels
    columns = "l" * grid.labels + "r" * numbers
    header = _latex_row([latex_text(name) for name in grid.header])
    body = [_latex_row(row) for row in _mark_up(grid, latex_text, r"\textbf{{{}}}")]
    notes = [
        rf"\item{{}} {latex_text(COMMANDS_NAMED.sub('', note))}" for note in grid.below(IN_BOLD)
    ]
    lines = [r"\begin{threeparttable}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header]
    lines += [r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    if notes:
        lines += [r"\begin{tablenotes}\footnotesize", *notes, r"\end{tablenotes}"]
    lines.append(r"\end{threeparttable}")
    needed = "Needs \\usepackage{booktabs,threeparttable}, and graphicx if resized."
    comments = filter(None, [needed, *grid.above, grid.signature])
    lines += [f"% {one_line(comment)}" for comment in comments]
    return "\n".join(lines) + "\n"


def write(
    path: str | Path,
    grid: Grid,
    records: Sequence[Record],
    *,
    read: Sequence[str] = (),
    fields: Mapping[str, object] | None = None,
) -> None:
    """Write a table in the format of the suffix; .csv and .json hold the records with all digits.

    `read` are lines on how files were read, `fields` those of JSON besides.
    """
    check_suffix(path)
    text = table_text(Path(path).suffix.lower(), grid, records, read=read, fields=fields)
    write_whole(Path(path), text.encode())


def table_text(
    suffix: str,
    grid: Grid,
    records: Sequence[Record],
    *,
    read: Sequence[str],
    fields: Mapping[str, object] | None,
) -> str:
    """Return a table in the format of a suffix, see `write`."""
    if suffix == ".csv":
        return to_csv(records, grid.signature, "; ".join(read))
    if suffix == ".json":
        notes = [*grid.above, *grid.below()]
        return to_json(records, grid.signature, notes, fields)
    to_form = {".md": to_markdown, ".tex": to_latex, ".txt": to_text}[suffix]
    return to_form(replace(grid, above=[*grid.above, *read]))


def check_suffix(
    path: str | Path,
    suffixes: Sequence[str] = SUFFIXES,
) -> None:
    """Raise FileError if there is no format for the suffix of the path."""
    if Path(path).suffix.lower() not in suffixes:
        raise FileError(path, "unknown_suffix_of_table", suffixes=list(suffixes))


def to_csv(
    records: Sequence[Record],
    line: str,
    read: str = "",
) -> str:
    """Return CSV; names that look like formulas are neutralised.

    The signature has a column of its own, and so has how the files were read: readers of CSV expect no other lines.
    """
    buffer = io.StringIO()
    last = {"signature": line} | ({"recipe": read} if read else {})
    columns = dict.fromkeys(key for record in records for key in record)
    writer = csv.DictWriter(buffer, [*columns, *last], lineterminator="\n")
    writer.writeheader()
    for record in records:
        signed = {**record, **last}
        writer.writerow({key: _csv_cell(value) for key, value in signed.items()})
    return buffer.getvalue()


def to_json(
    records: Sequence[Record],
    line: str,
    notes: Iterable[str] = (),
    fields: Mapping[str, object] | None = None,
) -> str:
    """Return JSON of records, signature, notes and further fields; what is not a finite number is null."""
    document = {"signature": line, "notes": list(notes), **(fields or {}), "rows": records}
    return json.dumps(with_nulls(document), indent=2, ensure_ascii=False) + "\n"


def with_nulls(value: object) -> object:
    """Return a document with None in the place of numbers that JSON has not."""
    if isinstance(value, Mapping):
        return {key: with_nulls(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [with_nulls(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def neutral(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: an apostrophe goes before = + - @ (OWASP, CSV injection)."""
    return FORMULA.sub(r"\1'", text)


def _csv_cell(value: object) -> object:
    if isinstance(value, str):
        return neutral(value)
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _fitted(grid: Grid, width: int | None) -> Grid:
    """Return a grid with names as short as the screen needs; where that does not help, they have a share of it."""
    if width is None:
        return grid
    names = [cell.text for row in grid.rows for cell in row[: grid.labels]]
    for longest in range(max(map(len, names), default=0), MIN_NAME - 1, -1):
        fitted = _with_names(grid, short_names(names, longest=longest))
        widths = _widths_of(_lines_of(fitted))
        if sum(widths) + COLUMN_GAP * (len(widths) - 1) <= width:
            return fitted
    share = max(MIN_NAME, width // (grid.labels + 2))
    return _with_names(grid, short_names(names, longest=share))


def _with_names(grid: Grid, names: Mapping[str, str]) -> Grid:
    rows = []
    for row in grid.rows:
        labels = [Cell(names[cell.text]) for cell in row[: grid.labels]]
        rows.append([*labels, *row[grid.labels :]])
    return replace(grid, rows=rows)


def _mark_up(
    grid: Grid,
    escape: Callable[[str], str],
    bold: str,
) -> list[list[str]]:
    """Return the texts of all cells, escaped, the best of each column in a template of bold text."""
    templates = {True: bold, False: "{}"}
    return [
        [templates[cell.is_best].format(escape(cell.text)) for cell in row]
        for row in _group_rows(grid)
    ]


def _group_rows(grid: Grid) -> list[list[Cell]]:
    """Return the rows, without the first name of those that have it from the row above."""
    rows = []
    above = None
    for row in grid.rows:
        is_repeated = grid.grouped and row[0] == above
        rows.append([Cell(""), *row[1:]] if is_repeated else row)
        above = row[0]
    return rows


def _columns_of_blocks(
    widths: Sequence[int],
    labels: int,
    width: int | None,
) -> list[list[int]]:
    """Return the columns that fit beside each other, the names first in each; at least one other."""
    names = list(range(labels))
    blocks = [names]
    for column in range(labels, len(widths)):
        wider = [*blocks[-1], column]
        total = sum(widths[i] + COLUMN_GAP for i in wider) - COLUMN_GAP
        if width is None or len(wider) == labels + 1 or total <= width:
            blocks[-1] = wider
        else:
            blocks.append([*names, column])
    return blocks


def _markdown(text: str) -> str:
    """Escape text: no markup, formula, link or address of a name is one in Markdown."""
    escaped = MARKUP.sub(lambda mark: f"&#{ord(mark[0])};", one_line(text))
    return MARKDOWN.sub(r"\\\g<0>", escaped)


def latex_text(text: str) -> str:
    """Escape text; n of ECUAS_n becomes a subscript, and a hyphen before a digit a minus sign."""
    if match := SUBSCRIPT.search(text):
        subscript = rf"{match[1]}$_{{{match[2].replace('∞', LATEX['∞'].strip('$'))}}}$"
        before = latex_text(text[: match.start()])
        return before + subscript + latex_text(text[match.end() :])
    escaped = "".join(LATEX.get(character, character) for character in one_line(text))
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", escaped)


def _latex_row(cells: list[str]) -> str:
    # TeX would take it for an option of \\
    first = f"{{}}{cells[0]}" if cells[0].startswith(("[", "*")) else cells[0]
    return rf"{' & '.join([first, *cells[1:]])} \\"

"""What is shown follows the terminal: its width, its colours, its characters; files have everything and no colour."""

import io
import re

import pytest

from ecuas_metric.reporting.export import write
from ecuas_metric.reporting.grids import Cell, Grid, to_text
from ecuas_metric.reporting.terminal import Screen, screen_of

NAMES = [f"runs_of_a_model_with_a_name_{i}_that_is_long" for i in range(12)]
GRID = Grid(
    ["system", *(f"ECUAS_{n} ↓" for n in range(8))],
    [[Cell(name), *(Cell(f"{i}.{n}23", n == i) for n in range(8))] for i, name in enumerate(NAMES)],
    ["† a note that is " + "very " * 30 + "long"],
    "ecuas|n:0",
)
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_table_is_as_wide_as_its_screen_and_leaves_nothing_out(width):
    text = to_text(GRID, Screen(width))
    assert max(map(len, text.splitlines())) <= width
    for row in GRID.rows:
        assert all(cell.text in text for cell in row[1:])
    blocks = text.split("\n\n")[:-1]
    assert [len(block.splitlines()) for block in blocks] == [14] * len(blocks)
    assert (len(blocks) > 1) == (width < 120)


def test_a_pipe_has_no_end_and_no_colour():
    lines = to_text(GRID, screen_of(io.StringIO())).splitlines()
    assert len(lines) == 17
    assert all(name in line for name, line in zip(NAMES, lines[2:], strict=False))
    assert not COLOUR.search("".join(lines))


def test_names_stay_whole_where_there_is_room():
    assert NAMES[0] in to_text(GRID, Screen(200))


@pytest.mark.parametrize(
    ("variables", "on_terminal", "in_pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_colours_follow_terminal_and_environment(variables, on_terminal, in_pipe, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (screen_of(Terminal()).is_coloured, screen_of(io.StringIO()).is_coloured) == (on_terminal, in_pipe)


def test_colours_change_nothing_else_and_never_reach_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = to_text(GRID, screen_of(io.StringIO()))
    assert COLOUR.search(shown)
    assert COLOUR.sub("", shown) == to_text(GRID)
    for suffix in (".txt", ".md", ".tex", ".csv", ".json"):
        write(tmp_path / f"table{suffix}", GRID, [])
        assert "\x1b" not in (tmp_path / f"table{suffix}").read_text()


def test_the_width_is_the_terminals(monkeypatch):
    monkeypatch.setenv("COLUMNS", "72")
    assert (screen_of(Terminal()).width, screen_of(io.StringIO()).width) == (72, None)
    monkeypatch.setenv("COLUMNS", "3")
    assert screen_of(Terminal()).width == 40


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_every_line_can_be_encoded(encoding):
    grid = GRID._replace(rows=[[Cell("λ"), *GRID.rows[0][1:]]])
    text = to_text(grid, Screen(encoding=encoding))
    assert text.encode(encoding).decode(encoding) == text
    assert ("ECUAS_0 ↓" in text) == (encoding == "utf-8")
    assert (r"\u03bb" in text) == (encoding != "utf-8")
    assert len({len(line) for line in text.splitlines()[:1]}) == 1


def test_a_name_of_grouped_rows_is_shown_once():
    rows = [[Cell(metric), Cell(pair)] for metric in ("ER", "ECE") for pair in ("a b", "a c")]
    lines = to_text(Grid(["metric", "pair"], rows, [], "", labels=2, grouped=True)).splitlines()[2:]
    assert [line[:4].strip() for line in lines] == ["ER", "", "ECE", ""]

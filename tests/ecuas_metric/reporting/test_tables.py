import csv
import io
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ecuas_metric.files.systems import prepare_submissions
from ecuas_metric.metric import Key
from ecuas_metric.reporting import cli, tables
from ecuas_metric.reporting.report import make_report, report_records, short_title
from ecuas_metric.reporting.tables import (
    BEST,
    Cell,
    Grid,
    latex_text,
    screen_width,
    to_latex,
    to_markdown,
    to_text,
)
from tests import markup
from tests.ecuas_metric.files.submitted import submission

SMALL = Grid(
    ["system", "ER ↓", "ECUAS_0 ↓†"],
    [
        [Cell("a|b & 100%_x"), Cell("0.100", True), Cell("0.500")],
        [Cell("c"), Cell("0.250"), Cell("0.400", True)],
    ],
    ["† a note"],
    "ecuas|n:0|v:1",
)
NAMES = [f"runs_of_a_model_with_a_name_{i}_that_is_long" for i in range(12)]
GRID = Grid(
    ["system", *(f"ECUAS_{n} ↓" for n in range(8))],
    [[Cell(name), *(Cell(f"{i}.{n}23", n == i) for n in range(8))] for i, name in enumerate(NAMES)],
    ["† a note that is " + "very " * 30 + "long"],
    "ecuas|n:0",
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_table_is_as_wide_as_its_screen_and_leaves_nothing_out(width):
    text = to_text(GRID, width)
    assert max(map(len, text.splitlines())) <= width
    for row in GRID.rows:
        assert all(cell.text in text for cell in row[1:])
    blocks = text.split("\n\n")[:-1]
    assert [len(block.splitlines()) for block in blocks] == [14] * len(blocks)
    assert (len(blocks) > 1) == (width < 120)
    for _, rule, *lines in map(str.splitlines, blocks):
        assert rule == "-" * max(map(len, lines))


def test_the_width_is_the_terminals(monkeypatch):
    monkeypatch.setenv("COLUMNS", "72")
    assert (screen_width(Terminal()), screen_width(io.StringIO())) == (72, None)
    monkeypatch.setenv("COLUMNS", "3")
    assert screen_width(Terminal()) == 40


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_every_line_can_be_encoded(encoding):
    shown = "ECUAS_0 ↓ λ".encode(encoding, cli.IN_ASCII).decode(encoding)
    assert shown == ("ECUAS_0 ↓ λ" if encoding == "utf-8" else r"ECUAS_0 v \u03bb")


def test_markdown_has_as_many_cells_in_every_row():
    lines = to_markdown(SMALL).splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines[:4]} == {4}
    assert "**0.100**" in lines[2]
    assert lines[-1] == "`ecuas|n:0|v:1`"
    assert r"\* is &#60;b>" in to_markdown(replace(SMALL, notes=["* is <b>"]))


def test_latex_escapes_names_and_sets_subscripts():
    text = to_latex(SMALL)
    assert r"a$|$b \& 100\%\_x & \textbf{0.100} & 0.500 \\" in text
    assert r"ECUAS$_{0}$ $\downarrow$$^\dagger$" in text
    assert "[$-$0.5, +0.1]" in to_latex(
        replace(SMALL, rows=[[Cell("GPT-2"), Cell("[-0.5, +0.1]"), Cell("")]])
    )
    assert "\n{}[base] &" in to_latex(replace(SMALL, rows=[[Cell("[base]"), Cell("1"), Cell("2")]]))
    assert r"\item{} $^\dagger$ a note" in text
    assert "see ecuas" not in text
    assert "Bold: best value" in text
    assert BEST not in text
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")


@pytest.mark.parametrize("parameter", [0.0, 0.1, 1e-5, 1e20, 128.0, math.inf])
def test_a_sentence_may_end_in_a_subscript(parameter):
    text = latex_text(f"by {short_title(Key('ecuas', parameter))}.")
    number = f"{parameter:g}".replace("inf", r"\infty")
    assert text == f"by ECUAS$_{{{number}}}$."


def has_package(name):
    """Return whether LaTeX has a package."""
    find = shutil.which("kpsewhich")
    return find is not None and any(Path("/usr/share").glob(f"texlive/texmf-dist/tex/*/{name}"))


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.skipif(not has_package("threeparttable"), reason="it is of texlive-latex-extra")
def test_latex_compiles(tmp_path):
    document = (
        r"\documentclass{article}\usepackage{booktabs,threeparttable}\begin{document}"
        + to_latex(SMALL)
        + r"\end{document}"
    )
    (tmp_path / "a.tex").write_text(document)
    subprocess.run(
        ["pdflatex", "-halt-on-error", "a.tex"], cwd=tmp_path, check=True, capture_output=True
    )


def test_csv_and_json_hold_all_digits_and_no_formula(rng):
    names = ["two", "a=-+@", "=a()", "+a()", "-a()", "@a()", "a;=b", "a;b", "a\t+b"]
    report = make_report(prepare_submissions(submission(name, rng) for name in names))
    rows = list(
        csv.DictReader(io.StringIO(tables.to_csv(report_records(report), report.signature)))
    )
    expected = [*names[:2], *(f"'{name}" for name in names[2:6]), "a;'=b", "a;b", "a\t'+b"]
    assert [row["system"] for row in rows] == expected
    assert float(rows[0]["ecuas_0"]) == report.results["two"].flat()["ecuas_0"]
    assert rows[0]["signature"] == report.signature
    content = json.loads(tables.to_json([{"a": math.nan, "b": 0.1}], "line", ["note"]))
    assert content == {"signature": "line", "notes": ["note"], "rows": [{"a": None, "b": 0.1}]}


def test_names_with_markup_are_text_in_every_format():
    names = [Cell(name) for name in markup.NAMES]
    grid = Grid(["system", "ER"], [[name, Cell("0.1")] for name in names], [], "s")
    elements, texts = markup.rendered(to_markdown(replace(grid, notes=list(markup.NAMES))))
    assert elements == {"p", "code", *markup.OF_TABLES}
    assert all(texts.count(name) >= 2 for name in markup.NAMES)
    assert not re.search(r"https://x|www\.", to_markdown(grid))  # which some renderers make a link
    body = to_latex(grid).split(r"\midrule")[1].split(r"\bottomrule")[0]
    for line in body.strip().splitlines():
        cell = line.removeprefix("{}").removesuffix(r" & 0.1 \\")
        words = re.sub(r"\\(textbackslash|textasciitilde|textasciicircum)\{\}", "", cell)
        assert not re.search(r"(?<!\\)[%#_{}]|\\(?![&%$#_{}])", words), line
    records = [{"system": name, "er": 0.1} for name in markup.NAMES]
    rows = list(csv.DictReader(io.StringIO(tables.to_csv(records, ""))))
    assert [row["system"].removeprefix("'") for row in rows] == list(markup.NAMES)
    cells = [cell for row in rows for cell in re.split("[;\t]", row["system"])]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


@pytest.mark.parametrize("line", ["a`b<b>x</b>", "`", "``a``", "a ``` b ` c", "a\n\n<b>x</b>"])
def test_a_signature_is_code_whatever_is_in_it(line):
    text = to_markdown(replace(SMALL, signature=line)).splitlines()[-1]
    elements, read = markup.rendered(text)
    assert elements == {"p", "code"}
    assert read.strip() == tables.one_line(line)


@pytest.mark.parametrize(
    "name", ["new\nline", "tab\there", "\u202eturned", "漢字🙂", "e\u0301", "`|*<b>"]
)
def test_odd_names_break_no_row_and_no_column(name):
    grid = Grid(
        ["system", "ER"], [[Cell(name), Cell("0.1")], [Cell("b" * 20), Cell("0.2")]], [], ""
    )
    plain = replace(grid, rows=[[Cell("a"), Cell("0.1")], grid.rows[1]])
    for form in (to_text, to_markdown, to_latex):
        assert len(form(grid).splitlines()) == len(form(plain).splitlines())
    first, second = to_text(grid).splitlines()[2:]
    assert len(first) + 3 * (name == "漢字🙂") - (name == "e\u0301") == len(second)

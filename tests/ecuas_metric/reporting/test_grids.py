import re
import shutil
import subprocess

import pytest

from ecuas_metric.reporting.grids import Cell, Grid, to_latex, to_markdown, to_text

GRID = Grid(
    ["system", "ER ↓", "ECUAS_0 ↓†"],
    [[Cell("a|b & 100%_x"), Cell("0.100", True), Cell("0.500")], [Cell("c"), Cell("0.250"), Cell("0.400", True)]],
    ["† a note"],
    "ecuas|n:0|v:1",
)


def test_text_is_aligned_and_stars_the_best():
    lines = to_text(GRID).splitlines()
    assert len({line.index("0.") for line in lines[2:4]}) == 1
    assert lines[2].split()[-2:] == ["0.100*", "0.500"]
    assert lines[-2:] == ["† a note", "ecuas|n:0|v:1"]


def test_markdown_has_as_many_cells_in_every_row():
    lines = to_markdown(GRID).splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines[:4]} == {4}
    assert "**0.100**" in lines[2]
    assert lines[-1] == "`ecuas|n:0|v:1`"


def test_latex_escapes_names_and_sets_subscripts():
    text = to_latex(GRID)
    assert r"a$|$b \& 100\%\_x & \textbf{0.100} & 0.500 \\" in text
    assert r"ECUAS$_{0}$ $\downarrow$$^\dagger$" in text
    assert "[$-$0.5, +0.1]" in to_latex(GRID._replace(rows=[[Cell("GPT-2"), Cell("[-0.5, +0.1]"), Cell("")]]))
    assert "\n{}[base] &" in to_latex(GRID._replace(rows=[[Cell("[base]"), Cell("1"), Cell("2")]]))
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path):
    document = r"\documentclass{article}\usepackage{booktabs}\begin{document}" + to_latex(GRID) + r"\end{document}"
    (tmp_path / "a.tex").write_text(document)
    subprocess.run(["pdflatex", "-halt-on-error", "a.tex"], cwd=tmp_path, check=True, capture_output=True)

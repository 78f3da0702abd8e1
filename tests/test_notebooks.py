"""The gallery's pages as notebooks, run by Jupyter's own client."""

import doctest
import os
import re
import sys
from pathlib import Path

import pytest

from docs import blocks
from tests.conftest import ROOT

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
notebooks = pytest.importorskip("docs.notebooks")
FOR_A_CLASS = ("fifteen_minutes", "lesson")
PAGES = pytest.mark.parametrize("example", blocks.EXAMPLES, ids=lambda example: example.stem)


@PAGES
def test_a_notebook_has_the_text_the_code_and_the_pictures_of_its_page(example):
    text = example.read_text()
    notebook = notebooks.notebook_of(text)
    nbformat.validate(notebook)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    shown = re.findall(r'Image\("(.*)"\)', "\n".join(code))
    assert sorted(shown) == sorted({*notebooks.PICTURE.findall(text)})
    code = [cell for cell in code if "import Image" not in cell]
    sessions = re.findall(r"(?s)```python\n(>>> .*?)```", text)
    commands = re.findall(r"```console\n\$ (.*)\n", text)
    assert [cell[1:] for cell in code if cell.startswith("!")] == commands
    expected = [
        "".join(example.source for example in doctest.DocTestParser().get_examples(session))
        for session in sessions
    ]
    assert [cell for cell in code if not cell.startswith("!")] == list(map(str.rstrip, expected))
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert prose.startswith(text.partition("\n")[0])
    assert ">>>" not in prose
    assert "](" not in re.sub(r"\]\(https?:", "", prose)


@pytest.mark.e2e
@PAGES
def test_a_notebook_runs_and_shows_its_pictures_before_a_class_without_a_warning(
    example, tmp_path, monkeypatch
):
    """In an empty folder, as one that was downloaded."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "triviaqa_subset").symlink_to(ROOT / "triviaqa_subset")
    notebook = notebooks.notebook_of(example.read_text())
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    written = [one.text for one in outputs if one.output_type == "stream" and one.name == "stderr"]
    if example.stem in FOR_A_CLASS:
        assert written == []
    pictures = [one for one in outputs if "image/png" in one.get("data", {})]
    assert len(pictures) == len({*notebooks.PICTURE.findall(example.read_text())})

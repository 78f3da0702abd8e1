"""The pages of docs/: what they print is what happens, the notebook runs, and every link leads somewhere."""

import contextlib
import doctest
import json
import re
import shlex

import pytest

from docs import options
from ecuas_metric.reporting import cli
from tests.conftest import ROOT

LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#([^)]*))?\)")
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")})


def doctests(page):
    return "\n".join(re.findall(r"```python\n(>>>.*?)```", (ROOT / page).read_text(), flags=re.DOTALL))


@pytest.mark.e2e
@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/gallery.md"])
def test_the_code_of_a_page_gives_what_it_shows(page, tmp_path, capsys):
    test = doctest.DocTestParser().get_doctest(doctests(page), {}, page, page, 0)
    runner = doctest.DocTestRunner()
    with contextlib.chdir(tmp_path):
        runner.run(test)
        for command, shown in re.findall(r"```console\n\$ ecuas (.*)\n([^`]*)```", (ROOT / page).read_text()):
            capsys.readouterr()
            assert cli.main(shlex.split(command)) == 0
            assert capsys.readouterr().out.rstrip() == shown.rstrip()
    assert test.examples
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.e2e
def test_the_notebook_runs_and_ends_with_a_figure(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    cells = json.loads((ROOT / "docs/notebook.ipynb").read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert "load_dataset" in sources[0]
    names = {}
    with contextlib.chdir(ROOT / "docs"):
        for source in sources[:-1]:
            exec(source, names)
        *before, last = sources[-1].splitlines()
        exec("\n".join(before), names)
        figure = eval(last, names)
    assert figure.axes[0].get_xlabel() == "reject cost"
    values = {name: results.flat() for name, results in names["report"].results.items()}
    assert values["constant"]["error_rate"] == pytest.approx(values["agreement"]["error_rate"])
    assert values["agreement"]["ecuas_1"] < values["constant"]["ecuas_1"]


def test_the_table_of_layouts_is_up_to_date():
    """If not: make reference."""
    assert (ROOT / "docs/files.md").read_text() == options.files()


def slugs(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target, anchor in LINK.findall(text):
        file = (page.parent / target).resolve()
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in slugs(file), f"{target}#{anchor}"


def test_every_page_of_docs_is_in_the_index():
    listed = re.findall(r"^(\w+)$", (ROOT / "docs/index.md").read_text(), flags=re.MULTILINE)
    pages = {path.stem for path in (ROOT / "docs").iterdir() if path.suffix in (".md", ".ipynb")} - {"index"}
    assert pages <= set(listed)

"""READMEs and cards run as written, and the Hub can read their front matter."""

import contextlib
import doctest
import io
import json
import re
import shlex
import warnings

import numpy as np
import pytest
import yaml

import examples.demo
from ecuas_metric import __version__, score_confidences
from ecuas_metric.metrics import METRICS
from ecuas_metric.options import OPTIONS
from ecuas_metric.reporting import cli
from tests.conftest import ROOT

PAGES = ["README.md", "docs/python.md", "ecuas_metric/README.md"]
NUMBER = r"\d+\.\d+"


def python_blocks(page):
    return "\n".join(re.findall(r"```python\n(>>>.*?)```", (ROOT / page).read_text(), flags=re.DOTALL))


@pytest.mark.parametrize("page", PAGES)
def test_examples_give_what_is_written(page):
    test = doctest.DocTestParser().get_doctest(python_blocks(page), {}, page, page, 0)
    assert test.examples
    runner = doctest.DocTestRunner()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some examples show what is warned of
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_every_option_is_in_the_cards_table_and_in_an_example():
    card = (ROOT / "ecuas_metric/README.md").read_text()
    examples = python_blocks("ecuas_metric/README.md")
    for option in OPTIONS:
        assert f"| `{option}` |" in card, option
        assert re.search(rf'\b{option}=|"{option}":', examples), option


def test_every_key_is_in_the_cards_table():
    card = (ROOT / "ecuas_metric/README.md").read_text()
    for key in (name for name, metric in METRICS.items() if metric.is_shown):
        assert re.search(rf"`{key}[_`]", card), key


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Run the demo once; return its folder and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        examples.demo.main([])
    return folder, printed.getvalue()


def same_but_for_small_numbers(shown, printed):
    assert re.sub(NUMBER, "#", shown).split() == re.sub(NUMBER, "#", printed).split()
    # Another version of scikit-learn may fit a little differently.
    numbers = [[float(number) for number in re.findall(NUMBER, text)] for text in (shown, printed)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=0.001)


@pytest.mark.e2e
def test_the_readme_chooses_as_the_metrics_do(demo, monkeypatch, tmp_path):
    """Its first table: which system each metric chooses, and what that costs a user."""
    monkeypatch.chdir(demo[0] / "demo")
    files = ["random_forest.csv", "logistic_regression.csv", "gaussian_naive_bayes_calibrated.csv"]
    assert (
        cli.main(["score", *files, "--reject-costs", "0.1", "--digits", "4", "--output", str(tmp_path / "t.json")]) == 0
    )
    rows = json.loads((tmp_path / "t.json").read_text())["rows"]
    table = re.findall(
        r"^\| (AUROC|AURC|ECE|ECUAS_0) . \|(.*)\|$", (ROOT / "README.md").read_text(), flags=re.MULTILINE
    )
    assert len(table) == 4
    for name, line in table:
        *shown, chosen, cost = (cell.strip(" *") for cell in line.split("|"))
        values = [row[name.lower()] for row in rows]
        assert [float(value) for value in shown] == pytest.approx(values, rel=0.03, abs=0.001)
        best = values.index((max if name == "AUROC" else min)(values))
        assert chosen.split(",")[0] == ["random forest", "logistic regression", "naive Bayes"][best]
        assert float(cost) == pytest.approx(rows[best]["expected_cost_0.1"], abs=0.002)


def test_the_readmes_two_aurcs():
    """Of six answers, the fifth is wrong: ours by trapezoids, and the mean of the risks."""
    correct = np.array([1, 1, 1, 1, 0, 1])
    risks = np.cumsum(1 - correct) / np.arange(1, 7)
    ours = score_confidences(correct, np.linspace(0.9, 0.4, 6))["aurc"]
    assert f"{ours:.3f} against {risks.mean():.3f}" in (ROOT / "README.md").read_text()


@pytest.mark.e2e
def test_the_demo_leaves_the_files_it_names(demo):
    folder, printed = demo
    named = set(re.findall(r"^demo/.*$", printed, flags=re.MULTILINE))
    assert {path for line in named for path in line.split()} == {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.e2e
def test_the_readme_shows_what_the_command_prints(demo, capsys, monkeypatch):
    """Its examples score the files that the demo leaves in demo/."""
    blocks = re.findall(r"```console\n(\$ ecuas.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(blocks) == 2
    monkeypatch.chdir(demo[0])
    for block in blocks:
        command, shown = block.split("\n", 1)
        assert cli.main(shlex.split(command)[2:]) == 0
        same_but_for_small_numbers(shown, capsys.readouterr().out)


def test_the_citation_names_the_version_and_the_paper():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == __version__
    assert cited["preferred-citation"]["url"] == "https://arxiv.org/abs/2605.20490"

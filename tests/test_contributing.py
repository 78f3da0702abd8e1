"""The guide for contributors, followed in a copy of the project."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.conftest import COMMIT

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
RECIPE = GUIDE.partition("## Add a metric")[2].partition("\n## ")[0]
STEP = re.compile(
    r"In `(?P<file>[^`]+)`[^`]* before (`+) ?(?P<place>[^\n]+?)\2"
    r"(?:, with `(?P<word>[^`]+)` first in this \w+)?:\n\n```(?P<language>\w+)\n(?P<block>.*?)```",
    re.DOTALL,
)
USES_THE_REGISTRY = re.compile(r"\bMETRICS\b|registry|import oracle")
SIZE = 200
RUN = "import sys; from ecuas_metric.reporting.cli import main; sys.exit(main(sys.argv[1:]))"


def pasted(text, step):
    """Return a text with the block of a step before the one line that begins as the guide says."""
    if step["block"] in text:
        return text
    lines = text.splitlines(keepends=True)
    (number,) = (at for at, line in enumerate(lines) if line.startswith(step["place"]))
    word = step["word"] or ""
    if word and lines[number].strip() == step["place"]:  # a table with a line for each entry
        word = f"\n    {word.strip()}"
    lines[number] = lines[number].replace(step["place"], step["place"] + word)
    before = "".join(lines[:number])
    after = "".join(lines[number:])
    if step["language"] == "python":
        return f"{before.rstrip()}\n\n\n{step['block']}\n\n{after}"
    return before + step["block"] + after


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the project in which each file that the guide names has what it says."""
    copy = tmp_path_factory.mktemp("copy") / "project"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "demo", "*.egg-info")
    shutil.copytree(ROOT, copy, ignore=ignored)
    for command in ("init", "add --all", COMMIT):
        subprocess.run(["git", *command.split()], cwd=copy, check=True, capture_output=True)
    steps = list(STEP.finditer(RECIPE))
    assert len(steps) == RECIPE.count("```") / 2
    for step in steps:
        file = copy / step["file"]
        file.write_text(pasted(file.read_text("utf-8"), step), encoding="utf-8")
    return copy


def ran(copy, *arguments):
    """Run Python in the copy, and return what it prints."""
    environment = {name: one for name, one in os.environ.items() if not name.startswith("PYTEST_")}
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-4000:] + process.stderr
    return process.stdout


def ecuas(copy, *arguments):
    return ran(copy, "-c", RUN, *arguments)


@pytest.mark.e2e
def test_a_metric_added_as_the_guide_says_goes_through_every_path(copy, rng):
    expected = {}
    for name in "ab":
        confidence = rng.permutation(SIZE) / SIZE
        correct = (rng.random(SIZE) < confidence).astype(int)
        columns = {
            "id": [str(k) for k in range(SIZE)],
            "confidence": confidence,
            "correct": correct,
        }
        parquet.write_table(pa.table(columns), copy / f"{name}.parquet")
        expected[name] = np.mean((confidence >= 0.9) & (correct == 0))
    files = ["a.parquet", "b.parquet"]
    for number, flags in enumerate(([], ["--interval", "0.95"], ["--out-of-core"])):
        written = copy / f"{number}.json"
        assert "Sure mistakes ↓" in ecuas(copy, "score", *files, *flags, "--output", str(written))
        rows = json.loads(written.read_text())["rows"]
        assert {row["system"]: row["sure_mistakes"] for row in rows} == pytest.approx(expected)
    for command in ("compare", "plan"):
        assert "Sure mistakes" in ecuas(copy, command, *files, "--metrics", "sure_mistakes,ER")
    assert "sure_mistakes" in ecuas(copy, "score", "--help")


@pytest.mark.e2e
def test_the_tests_pass_where_a_metric_is_added_as_the_guide_says(copy):
    """Those that use the registry; `make check` has the others."""
    files = []
    for file in sorted((copy / "tests").rglob("test_*.py")):
        if file.name != Path(__file__).name and USES_THE_REGISTRY.search(file.read_text("utf-8")):
            files.append(str(file))
    marks = ["-m", "not e2e and not slow and not long and not integrations"]
    ran(copy, "-m", "pytest", "-q", *marks, "-p", "no:xdist", "-p", "no:cacheprovider", *files)


@pytest.mark.e2e
def test_what_the_guide_prints_is_formatted(copy):
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("needs the extra `lint`")
    files = {step["file"] for step in STEP.finditer(RECIPE) if step["language"] == "python"}
    settings = ["--no-cache", "--config", str(ROOT / "pyproject.toml")]
    ran(copy, "-m", "ruff", "format", "--check", *settings, *sorted(files))
    ran(copy, "-m", "ruff", "check", *settings, *sorted(files))


def test_the_guide_names_files_that_are_there():
    named = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|md|toml|txt|json))`", GUIDE))
    homes = [ROOT, ROOT / "ecuas_metric"]
    assert not [name for name in named if not any((home / name).exists() for home in homes)]

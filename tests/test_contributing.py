"""The guide for contributors, followed in a copy of the package."""

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

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SIZE = 200
RUN = "import sys; from ecuas_metric.reporting.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def copy(tmp_path):
    """A copy of the package in which one file has the metric of the guide."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ecuas_metric", tmp_path / "ecuas_metric", ignore=ignored)
    file = tmp_path / "ecuas_metric" / "order.py"
    (entry,) = re.findall(
        r"```python\n(.*?)```",
        GUIDE.partition("**Add a metric.**")[2].partition("**Add a reader")[0],
        re.S,
    )
    before, name, after = file.read_text(encoding="utf-8").partition("ORDER_METRICS = (")
    assert name
    file.write_text(f"{before}{entry}\n\n{name}BEST_HALF, {after}", encoding="utf-8")
    return tmp_path


def ecuas(copy, *arguments):
    """Run the command of the copy, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    call = [sys.executable, "-c", RUN, *arguments]
    ran = subprocess.run(
        call, cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


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
        expected[name] = 1 - correct[np.argsort(-confidence)][: SIZE // 2].mean()
    files = ["a.parquet", "b.parquet"]
    for number, flags in enumerate(([], ["--interval", "0.95"], ["--out-of-core"])):
        written = copy / f"{number}.json"
        assert "Half ↓" in ecuas(copy, "score", *files, *flags, "--output", str(written))
        rows = {row["system"]: row["best_half"] for row in json.loads(written.read_text())["rows"]}
        assert rows == pytest.approx(expected)
    for command in ("compare", "plan"):
        assert "Half" in ecuas(copy, command, *files, "--metrics", "best_half,ER")
    assert "best_half" in ecuas(copy, "score", "--help")


def test_the_guide_names_files_that_are_there():
    named = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|md|toml|txt|json))`", GUIDE))
    homes = [ROOT, ROOT / "ecuas_metric"]
    assert not [name for name in named if not any((home / name).exists() for home in homes)]

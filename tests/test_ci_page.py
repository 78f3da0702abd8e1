"""The page on builds: its workflow runs as it is printed, and its schema is that of what the command writes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from tests.ecuas_metric.reporting.commanded import answers, content, saved

PAGE = ROOT / "docs" / "ci.md"
SCHEMA = json.loads((ROOT / "docs" / "compare.schema.json").read_text())


@pytest.fixture
def builds(tmp_path, monkeypatch, rng):
    """Write answers of an old build, of a worse one, and of one that is as good."""
    monkeypatch.chdir(tmp_path)
    old = answers(rng, 300)
    old.to_csv("old.csv", index=False)
    old.assign(confidence=1 - (1 - old["confidence"]) ** 4).to_csv("worse.csv", index=False)
    other = rng.random(300)
    right = (rng.random(300) < other).astype(int)
    pd.DataFrame({"id": range(300), "confidence": other, "correct": right}).to_csv(
        "third.csv", index=False
    )
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        "old.csv third.csv",
        "old.csv worse.csv third.csv --reject-costs 0.1,0.3",
        "old.csv worse.csv --metrics auroc,ece",
        "old.csv third.csv --fail-unless=within@5",
        "old.csv worse.csv --full --normalize --decompose",
    ],
)
def test_what_is_written_has_the_keys_of_the_schema(arguments, builds):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    document = saved("compare", *(word.replace("@", " ") for word in arguments.split()))
    jsonschema.validate(document, SCHEMA)


@pytest.mark.long
def test_a_report_has_the_same_keys(builds, monkeypatch):
    from ecuas_metric.reporting import paper
    from ecuas_metric.reporting.cli import main

    monkeypatch.setattr(paper, "draw_figures", lambda *_: {})
    assert main(["report", "old.csv", "third.csv", "worse.csv"]) == 0
    jsonschema.validate(content("paper/results.json"), SCHEMA)


def test_every_key_is_explained_or_explains_itself():
    named = {"old_value", "new_value", "first_value", "second_value", "state", "best", "verdict"}

    def unexplained(node):
        for name, part in node.get("properties", {}).items():
            if not part.get("description") and name not in named:
                yield name
            yield from unexplained(part)
        for part in node.get("$defs", {}).values():
            yield from unexplained(part)

    assert not [*unexplained(SCHEMA)]


def steps_of_the_page():
    (workflow,) = re.findall(r"(?s)```yaml\n(.*?)```", PAGE.read_text("utf-8"))
    (job,) = yaml.safe_load(workflow)["jobs"].values()
    return {step["name"]: step["run"] for step in job["steps"] if "run" in step}


@pytest.mark.e2e
@pytest.mark.parametrize(("build", "status"), [("old.csv", 0), ("worse.csv", 1)])
def test_the_workflow_runs_as_it_is_printed(build, status, builds):
    """But for the installation: the command is that of this clone."""
    steps = steps_of_the_page()
    assert [*steps] == ["Install", "Ask the new build", "Compare it with the last release"]
    del steps["Install"]
    Path("run.py").write_text(
        f"import shutil, sys\nshutil.copy({build!r}, sys.argv[1])\n", encoding="utf-8"
    )
    summary = builds / "summary.md"
    scripts = Path(sys.executable).parent
    environment = os.environ | {
        "GITHUB_STEP_SUMMARY": str(summary),
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    codes = [
        subprocess.run(["bash", "-eo", "pipefail", "-c", script], env=environment).returncode
        for script in steps.values()
    ]
    assert codes == [0, status]
    word = "FAIL" if status else "PASS"
    text = summary.read_text("utf-8")
    assert text.startswith(f"{word} ")
    assert "| ECUAS\\_1 ↓ |" in text or "| ECUAS_1 ↓ |" in text
    assert text.count("PASS") + text.count("FAIL") == 1

"""The workflow does what it says with no more rights than it needs; that it runs is for the forge to show."""

import importlib.util
import os
import re
import subprocess
import tomllib

import pytest
import yaml

from ecuas_metric import __version__


@pytest.fixture
def workflow(root):
    return yaml.safe_load((root / ".github/workflows/ci.yml").read_text())


@pytest.fixture
def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_it_publishes_a_tag_only_and_only_after_every_test(workflow):
    jobs = workflow["jobs"]
    assert set(jobs["publish"]["needs"]) == set(jobs) - {"publish"}
    assert "startsWith(github.ref, 'refs/tags/v')" in jobs["publish"]["if"]


def test_it_tests_every_python_from_the_lowest_on_and_its_lowest_versions(workflow, root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    jobs = workflow["jobs"]
    (lowest,) = {step["with"]["python-version"] for job in ("test", "lowest") for step in jobs[job]["steps"][1:2]}
    assert project["requires-python"] == f">={lowest}"
    newer = [int(python.removeprefix("3.")) for python in jobs["newer"]["strategy"]["matrix"]["python-version"]]
    assert newer == list(range(int(lowest.removeprefix("3.")) + 1, newer[-1] + 1))
    assert {"run": "make check-lowest"} in jobs["lowest"]["steps"]


def test_it_may_read_and_nothing_else(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    assert all("permissions" not in job and "timeout-minutes" in job for job in workflow["jobs"].values())


def test_every_action_is_pinned_to_a_commit(steps):
    """A tag can be moved to other code; dependabot renews the commits."""
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action) for action in used)


def test_only_the_step_that_publishes_sees_the_token(steps, root):
    text = (root / ".github/workflows/ci.yml").read_text()
    (step,) = [step for step in steps if "secrets" in str(step)]
    assert text.count("secrets.") == 1
    assert step["env"]["HF_TOKEN"] == "${{ secrets.HF_TOKEN }}"
    assert step["run"].startswith("make publish ")


@pytest.mark.e2e
def test_the_commands_exist(steps, root):
    commands = [step["run"].split() for step in steps if "run" in step]
    for program, first, *_ in [[*command, ""] for command in commands if command[0] != "test"]:
        if program == "make":
            subprocess.run(["make", "-n", first], cwd=root, check=True, capture_output=True)
        elif program.startswith(".ci/"):
            assert os.access(root / program, os.X_OK)
        else:
            assert program == ".venv/bin/python"
    assert importlib.util.find_spec("triviaqa_subset.build")


def test_the_citation_names_the_version_and_the_paper(root):
    cited = yaml.safe_load((root / "CITATION.cff").read_text())
    assert cited["version"] == __version__
    assert cited["preferred-citation"]["url"] == "https://arxiv.org/abs/2605.20490"

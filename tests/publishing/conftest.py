"""A Hub on loopback in a process of its own, what is staged for it, and clients in this process and in others."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from datasets import Dataset

from publishing import __main__ as command
from publishing import staging
from publishing.staging import PARTS
from tests.conftest import BARE, ROOT
from tests.publishing.server import TOKEN
from tests.publishing.store import Store
from triviaqa_subset.build import write

CONFIGURATIONS = ["curated", "kept", "pool", "systems", "answers", "published"]
SPACE = {
    "README.md": """---
title: ECUAS demo
emoji: ⚖️
colorFrom: blue
colorTo: green
sdk: gradio
sdk_version: 6.31.0
python_version: "3.11"
app_file: app.py
pinned: false
---
The metric is <namespace>/ecuas.
""",
    "app.py": "from . import views\nfrom triviaqa_subset.grading import grade\ndemo, LAUNCH = None, {}\n",
    "views.py": "from ecuas_metric.api import score_confidences\n",
    "requirements.txt": "evaluate>=0.4.6\n",
}


class Hub:
    """A running Hub: its URL, what it keeps, and the environment of its clients."""

    def __init__(self, folder: Path):
        self.store = Store(folder)
        self.start()

    def start(self, port: str = "0") -> None:
        command = [sys.executable, "-m", "tests.publishing.server", str(self.store.folder), port]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def restart(self) -> None:
        """Come back after dying, at the same address, with what was kept."""
        self.process.wait(10)
        self.process.stdout.close()
        self.start(self.url.rpartition(":")[2])

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Result(NamedTuple):
    status: int
    out: str
    error: str


def environment(home: Path, url: str, **more: str) -> dict[str, str]:
    """Make the environment of a client that knows nothing but the address of the Hub."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON"))}
    quiet = {"HF_UPDATE_DOWNLOAD_COUNTS": "0", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    clean |= BARE | {"PYTHONDONTWRITEBYTECODE": "1"}
    return clean | quiet | {"HF_ENDPOINT": url, "HF_HOME": str(home)} | more


CLIENT = """
import contextlib, io, json, os, sys, traceback
for line in sys.stdin:
    asked, out, status = json.loads(line), io.StringIO(), 0
    os.environ |= asked["env"]
    with contextlib.redirect_stdout(out):
        try:
            exec(asked["code"], {})
        except Exception:
            status = 1
            traceback.print_exc()
    print(json.dumps([status, out.getvalue()]), flush=True)
"""


class Client:
    """A process of its own that imports the libraries once, and runs one piece of code after the other."""

    def __init__(self, folder: Path, url: str):
        self.home = folder / "hf"
        call, pipes = [sys.executable, "-c", CLIENT], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        env = environment(self.home, url)
        with open(folder / "errors", "w") as errors:
            self.process = subprocess.Popen(call, cwd=folder, env=env, stderr=errors, text=True, **pipes)
        self.errors = open(folder / "errors")  # noqa: SIM115

    def run(self, code: str, **env: str) -> Result:
        self.process.stdin.write(json.dumps({"code": code, "env": env}) + "\n")
        self.process.stdin.flush()
        status, out = json.loads(self.process.stdout.readline() or "[1, '']")
        return Result(status, out, self.errors.read())

    def stop(self) -> None:
        self.process.communicate()
        self.errors.close()


@pytest.fixture(scope="session")
def client(shared_hub, tmp_path_factory):
    """Return a process that knows the shared Hub and has an empty cache."""
    started = Client(tmp_path_factory.mktemp("client"), shared_hub.url)
    yield started
    started.stop()


def run(*command: str | Path, cwd: Path, env: dict[str, str]) -> Result:
    done = subprocess.run([sys.executable, *command], cwd=cwd, env=env, capture_output=True, text=True, timeout=120)
    return Result(done.returncode, done.stdout, done.stderr)


def build_with_text(built, committed):
    """Do as `python -m triviaqa_subset.build` does, with texts of our own."""
    tables = {}
    for name in CONFIGURATIONS:
        table = Dataset.from_parquet(str(committed / "data" / f"{name}.parquet"), keep_in_memory=True)
        if name in ("curated", "kept", "pool"):
            table = table.add_column("question", [f"What is {id}?" for id in table["question_id"]])
        tables[name] = table
    write(tables, built)


@pytest.fixture(autouse=True)
def released(tmp_path, monkeypatch):
    """Let every change have a version, whatever CHANGELOG.md says today."""
    monkeypatch.setattr("publishing.__main__.CHANGELOG", tmp_path / "CHANGELOG.md")
    return tmp_path / "CHANGELOG.md"


@pytest.fixture(scope="session")
def start_hub(tmp_path_factory):
    started = []

    def start() -> Hub:
        started.append(Hub(tmp_path_factory.mktemp("hub")))
        return started[-1]

    yield start
    for hub in started:
        hub.stop()


@pytest.fixture(scope="session")
def shared_hub(start_hub):
    """Return a Hub that all tests of a run share; each has repositories of its own."""
    return start_hub()


@pytest.fixture
def hub(shared_hub):
    yield shared_hub
    shared_hub.store.behave()


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """Copy what publish.py reads, with a small demo instead of ours."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("publish.py", "LICENSE"):  # and no CHANGELOG.md: nothing is unreleased there
        shutil.copy(ROOT / name, folder)
    for name in ("publishing", "ecuas_metric", "triviaqa_subset", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "space").mkdir()
    for name, text in SPACE.items():
        (folder / "space" / name).write_text(text)
    return folder


@pytest.fixture(scope="session")
def staged(tmp_path_factory):
    """Stage the metric and the dataset once; tests that change files copy them first."""
    folder = tmp_path_factory.mktemp("staged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "BUILT", folder / "nothing")  # a dataset with text may have been built in this tree
        for name in ("metric", "dataset"):
            staging.stage(PARTS[name], folder / name, "NAME")
    return folder


@pytest.fixture
def metric(staged, tmp_path):
    return shutil.copytree(staged / "metric", tmp_path / "metric")


@pytest.fixture
def dataset(staged, tmp_path):
    return shutil.copytree(staged / "dataset", tmp_path / "dataset")


@pytest.fixture
def online(monkeypatch):
    """Let this process reach the Hub on loopback, with a token that may write there."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", TOKEN)


@pytest.fixture
def send(staged, hub, online):
    """Return a function that sends the staged dataset from this process, as `publish.py dataset` does."""

    def send(namespace, *, endpoint=hub.url, folder=staged, parts=("dataset",), private=False):
        command.send([PARTS[name] for name in parts], folder, namespace, endpoint=endpoint, private=private)

    return send


def dataset_of(namespace):
    return "datasets", f"{namespace}/triviaqa-curated"


@pytest.fixture
def home(tmp_path):
    return tmp_path / "hf"

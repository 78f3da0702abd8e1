"""A Hub on loopback, what is staged for it, and a client in a process of its own."""

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
from tests.conftest import BARE
from tests.publishing.hub import TOKEN
from tests.publishing.hub import hub as running
from triviaqa_subset import folders
from triviaqa_subset.build import write

CONFIGURATIONS = ["curated", "kept", "pool", "systems", "answers", "gold", "published", "scores"]
TAG = "v9.0.0"
DATASET = "triviaqa-curated"


class Result(NamedTuple):
    status: int
    out: str
    error: str


CLIENT = """
import contextlib, io, json, sys, traceback
for line in sys.stdin:
    out, error = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(json.loads(line), {})
        except Exception:
            error = traceback.format_exc()
    print(json.dumps([bool(error), out.getvalue(), error]), flush=True)
"""


class Client(NamedTuple):
    """A process that imports the libraries once, and runs one piece of code after the other."""

    home: Path
    process: subprocess.Popen

    def run(self, code: str) -> Result:
        self.process.stdin.write(json.dumps(code) + "\n")
        self.process.stdin.flush()
        return Result(*json.loads(self.process.stdout.readline()))


@pytest.fixture(scope="session")
def client(shared_hub, tmp_path_factory):
    """Return a client that knows nothing but the address of the Hub, and has an empty cache."""
    home = tmp_path_factory.mktemp("client")
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON"))
    }
    quiet = {
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    env = (
        clean
        | quiet
        | BARE
        | {"PYTHONDONTWRITEBYTECODE": "1", "HF_ENDPOINT": shared_hub.url, "HF_HOME": str(home)}
    )
    call, pipe = [sys.executable, "-c", CLIENT], subprocess.PIPE
    with subprocess.Popen(call, cwd=home, env=env, stdin=pipe, stdout=pipe, text=True) as process:
        yield Client(home, process)
        process.stdin.close()


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def build_with_text(built, committed):
    """Do as `python -m triviaqa_subset.build` does, with texts of our own."""
    files = {name: str(committed / "data" / f"{name}.parquet") for name in CONFIGURATIONS}
    tables = {name: Dataset.from_parquet(file, keep_in_memory=True) for name, file in files.items()}
    for name in ("curated", "kept", "pool"):
        tables[name] = tables[name].add_column(
            "question", [f"What is {id}?" for id in tables[name]["question_id"]]
        )
    write(tables, built)


@pytest.fixture(scope="session")
def shared_hub():
    """Return a Hub that all tests of a run share; each has repositories of its own."""
    running.start()
    return running


@pytest.fixture
def hub(shared_hub):
    shared_hub.fault = None
    return shared_hub


@pytest.fixture(scope="session")
def staged(tmp_path_factory):
    """Stage the three parts once, without text; tests that change files copy them first."""
    folder = tmp_path_factory.mktemp("staged")
    with pytest.MonkeyPatch.context() as patch:
        # a dataset with text may have been built in this tree
        patch.setattr(folders, "BUILT", folder / "nothing")
        for name, part in PARTS.items():
            staging.stage(part, folder / name, "NAME")
    return folder


@pytest.fixture
def online(monkeypatch):
    """Let this process reach the Hub on loopback, with a token that may write there, and a version to tag."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(command, "TAG", TAG)
    # who develops has changed files
    monkeypatch.setattr(command, "require_committed", lambda: None)


@pytest.fixture
def publish(staged, hub, online, monkeypatch, capsys):
    """Return a function that runs the command on parts that are staged already, and checked."""
    monkeypatch.setattr(
        command, "stage", lambda part, out, _: shutil.copytree(staged / part.name, out)
    )
    monkeypatch.setattr(command, "check", lambda *_: None)

    def publish(namespace, part="dataset", *flags, url=hub.url):
        capsys.readouterr()
        monkeypatch.setattr(command.constants, "ENDPOINT", url)
        status = command.main([part, "--namespace", namespace, *flags])
        out, error = capsys.readouterr()
        return Result(status, "\n".join(line for line in out.splitlines() if "://" in line), error)

    return publish

"""What all tests share: no network, a cache of their own, and systems to score."""

import os
import tempfile
from pathlib import Path

# Set before evaluate, datasets or gradio is imported anywhere.
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="ecuas-tests-")
os.environ |= {"GRADIO_TEMP_DIR": tempfile.mkdtemp(prefix="gradio-tests-"), "GRADIO_ANALYTICS_ENABLED": "False"}
os.environ |= {"HF_EVALUATE_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The paper's score files and printed tables, which are not part of the project."""
    folder = Path(os.environ.get("ECUAS_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"the paper's files are not at {folder} (set ECUAS_SHARED)")
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture
def offline(tmp_path: Path) -> dict[str, str]:
    """Environment of a process of its own, with empty caches and out of reach of the network."""
    return os.environ | {"HF_HOME": str(tmp_path / "hf"), "PYTHONPATH": str(ROOT)}


def read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array

"""What all tests share: no network, a cache of their own, and systems to score."""

import ast
import functools
import gc
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# As many processes run tests as there are cores: more threads would wait for each other. Set before NumPy is imported.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# Set before evaluate, datasets or gradio is imported anywhere.
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="ecuas-tests-")
os.environ |= {
    "GRADIO_TEMP_DIR": os.path.join(os.environ["HF_HOME"], "gradio"),
    "GRADIO_ANALYTICS_ENABLED": "False",
}
os.environ |= {"HF_EVALUATE_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
os.environ |= {
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",
}

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

settings.register_profile("quick", deadline=None, derandomize=True, max_examples=5)
# make test-slow
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=200)
settings.load_profile("quick")

ROOT = Path(__file__).resolve().parent.parent
COMMIT = "-c user.name=tests -c user.email=tests commit --quiet --message=all"  # with git
SCRATCH = Path(os.environ["HF_HOME"])
OWNER = os.getpid()  # of the scratch folder, which it removes
# Evaluate imports it where it is installed, for seconds and for what is not used here: without it in processes of this
# environment.
WITHOUT = SCRATCH / "without"
WITHOUT.mkdir()
(WITHOUT / "transformers.py").write_text("raise ModuleNotFoundError\n")
BARE = {"PYTHONPATH": str(WITHOUT)}
START = subprocess.Popen.__init__
STARTS_A_PROCESS = {"offline", "page", "shared_hub"}  # or a server with a page


def pytest_configure(config):
    gc.disable()
    # not where tests are only dealt
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        sys.modules["transformers"] = None
        importlib.import_module("evaluate")
        del sys.modules["transformers"]


def pytest_unconfigure():
    if os.getpid() == OWNER:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def pytest_collection_modifyitems(config, items):
    for item in items:
        if STARTS_A_PROCESS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.e2e)
    # files that take long first, so that no process idles in the end
    if hasattr(config, "workerinput"):
        long = {item.path for item in items if item.get_closest_marker("e2e")}
        items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish():
    gc.freeze()  # what was imported stays: no need to look at it again and again
    gc.enable()


def pytest_runtest_setup(item):
    os.chdir(ROOT)
    subprocess.Popen.__init__ = START if any(item.iter_markers("e2e")) else start_fonts_or_git


def start_fonts_or_git(process, args, *more, **options):
    # matplotlib lists the fonts the first time that it is used on a machine; git says what it tracks
    if args[0] not in ("fc-list", "git"):
        pytest.fail("a test that starts a process is marked: @pytest.mark.e2e")
    START(process, args, *more, **options)


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_in_the_work_tree():
    def visible():
        return {
            path
            for path in (*ROOT.glob("[!.]*"), *ROOT.glob("build/*"))
            if path.name != "__pycache__"
        }

    before = visible()
    yield
    assert visible() <= before


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def files(tmp_path, rng):
    """Two systems with ids, the second one in another order and more often right."""
    paths = [tmp_path / "first.csv", tmp_path / "second.csv"]
    for path, accuracy in zip(paths, (0.6, 0.8), strict=True):
        correct = rng.random(120) < accuracy
        confidence = np.clip(0.3 + 0.4 * correct + 0.3 * rng.random(120), 0, 1).round(3)
        frame = pd.DataFrame({"confidence": confidence, "correct": correct.astype(int)})
        frame.sample(frac=1, random_state=int(10 * accuracy)).to_csv(path, index_label="id")
    return paths


@pytest.fixture(scope="session")
def shared():
    """The paper's score files and printed tables, which are not part of the project."""
    if "ECUAS_SHARED" not in os.environ:
        pytest.skip("ECUAS_SHARED does not name the folder of the paper's files")
    return Path(os.environ["ECUAS_SHARED"])


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture
def offline(tmp_path):
    """Environment of a process of its own, with empty caches and out of reach of the network."""
    return os.environ | {"HF_HOME": str(tmp_path / "hf"), "PYTHONPATH": str(ROOT)}


def seeds(few, many):
    """Return the seeds of a test: `few`, and the others in `make test-slow`."""
    return [*range(few), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, many))]


@functools.cache
def parsed(path):
    """Return the syntax tree of a file, which several tests look at."""
    return ast.parse(path.read_text("utf-8"))


def read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array

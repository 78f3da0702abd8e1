"""The demo Space, started once on loopback, and files to upload."""

import numpy as np
import pandas as pd
import pytest
from gradio_client import Client

from space import app


def pytest_configure(config):
    config.addinivalue_line("markers", "e2e: starts a server, a browser or a process")


@pytest.fixture(scope="session")
def page():
    """The address of the running page."""
    app.demo.launch(**app.LAUNCH, server_name="127.0.0.1", prevent_thread_lock=True, quiet=True)
    yield app.demo.local_url
    app.demo.close()


@pytest.fixture
def client(page, tmp_path):
    return Client(page, verbose=False, download_files=tmp_path / "downloads")


@pytest.fixture
def files(tmp_path, rng):
    """Two systems with ids, the second one in another order and more often right."""
    ids = [f"q{i}" for i in range(120)]
    paths = []
    for name, accuracy in (("first", 0.6), ("second", 0.8)):
        correct = rng.random(120) < accuracy
        confidence = np.clip(0.3 + 0.4 * correct + 0.3 * rng.random(120), 0, 1).round(3)
        frame = pd.DataFrame({"id": ids, "confidence": confidence, "correct": correct.astype(int)})
        paths.append(tmp_path / f"{name}.csv")
        frame.sample(frac=1, random_state=len(paths)).to_csv(paths[-1], index=False)
    return paths

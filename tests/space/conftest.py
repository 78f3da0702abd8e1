"""The demo Space, started once on loopback, and files to upload."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest

from space import subset
from tests.conftest import ROOT


@pytest.fixture(scope="session")
def app():
    """The module of the page, which imports Gradio for seconds: not in processes that do not test it."""
    from space import app

    return app


@pytest.fixture(scope="session")
def page(app):
    """The address of the running page."""
    app.launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True)
    yield app.demo.local_url
    app.demo.close()


@pytest.fixture
def with_text(tmp_path, monkeypatch):
    """A copy of the data with texts of our own."""
    shutil.copytree(ROOT / "triviaqa_subset" / "data", tmp_path / "data")
    path = tmp_path / "data" / "curated.parquet"
    frame = pd.read_parquet(path)
    ids = frame["question_id"]
    answer = [{"value": f"<{i}>", "aliases": [f"<{i}>", f"alias {i}"], "normalized_aliases": []} for i in ids]
    frame.assign(question=[f"What is <{i}>?" for i in ids], answer=answer).to_parquet(path)
    monkeypatch.setattr(subset, "BUILT", tmp_path)
    subset.tables.cache_clear()
    yield
    subset.tables.cache_clear()


def contrast(first, second):
    """Return the contrast of two colours, rgb(..) or #rrggbb, as WCAG defines it."""

    def luminance(color):
        parts = re.findall(r"[\d.]+", color)[:3] if "(" in color else bytes.fromhex(color[1:])
        channels = np.array([float(part) for part in parts]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    dark, light = sorted([luminance(first), luminance(second)])
    return (light + 0.05) / (dark + 0.05)

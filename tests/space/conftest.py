"""The demo Space, started once on loopback."""

import re

import numpy as np
import pytest

from ecuas_metric import read_submissions
from ecuas_metric.comparison import compare
from ecuas_metric.files.systems import prepare_submissions
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


@pytest.fixture(scope="session")
def examples():
    """The systems of the three files that the page opens with."""
    paths = [
        ROOT / f"space/examples/{name}_model.csv"
        for name in ("calibrated", "overconfident", "verbal")
    ]
    submissions = [one for path in paths for one in read_submissions(path)]
    return prepare_submissions(submissions, confidence_level=0.95)


@pytest.fixture
def few_reject_costs(monkeypatch):
    """Test few reject costs, which is quick."""
    monkeypatch.setattr(compare, "GRIDS", (10,))


def contrast(first, second):
    """Return the contrast of two colours, rgb(..) or #rrggbb, as WCAG defines it."""

    def luminance(color):
        parts = re.findall(r"[\d.]+", color)[:3] if "(" in color else bytes.fromhex(color[1:])
        channels = np.array([float(part) for part in parts]) / 255
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        return linear @ [0.2126, 0.7152, 0.0722]

    dark, light = sorted([luminance(first), luminance(second)])
    return (light + 0.05) / (dark + 0.05)

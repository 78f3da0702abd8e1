"""The demo Space, started once on loopback."""

import re

import numpy as np
import pytest


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

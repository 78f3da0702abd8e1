"""Runs tools in environments of their own, and computes metrics by definitions that share nothing with the product."""

import io
import json
import os
import subprocess
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

from ecuas_metric.reporting.cli import main
from tests.conftest import ROOT
from tests.ecuas_metric.oracle import ecuas


def run(tool, folder, *arguments, code=0, program="bin/python", **variables):
    """Run a tool's Python, or another program of it, in a folder without a network; a code of None is any."""
    command = ROOT / ".venv-integrations" / tool / program
    if not command.exists():
        pytest.skip(f"{tool} is not installed: make test-integrations")
    env = (
        os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "COLUMNS": "1000"} | variables
    )
    env["HF_HOME"] = str(folder / "home")
    done = subprocess.run(
        [command, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert code in (None, done.returncode), (done.stdout + done.stderr)[-3000:]
    return done


def arithmetic(correct, confidence, largest=1.0, weights=None):
    """Return error rate, ECUAS_0 and ECUAS_1, sample by sample."""
    uncertainty, wrong = 1 - np.array(confidence), 1 - np.array(correct)
    samples = list(zip(uncertainty.tolist(), wrong.tolist(), strict=True))
    values = {
        f"ecuas_{n}": [float(ecuas(*sample, n, largest)) for sample in samples] for n in (0, 1)
    }
    return {
        name: np.average(costs, weights=weights)
        for name, costs in (values | {"error_rate": wrong}).items()
    }


def score(path, *flags):
    """Return what `ecuas score` says of a run: the rows of its table by system, and all that it prints."""
    said = io.StringIO()
    table = path.with_name(f"{path.name}.table.json")
    table.unlink(missing_ok=True)
    with redirect_stderr(said), redirect_stdout(said):
        code = main(["score", str(path), "--n", "0,1", "--output", str(table), *flags])
    rows = [] if code else json.loads(table.read_text())["rows"]
    return {row["system"]: row for row in rows}, said.getvalue()


def close(found, expected):
    """Return whether numbers agree to 1e-12."""
    return {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)

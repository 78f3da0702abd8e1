"""Runs tools in environments of their own, and computes metrics by arithmetic that shares nothing with the product."""

import io
import json
import math
import os
import subprocess
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

from ecuas_metric.reporting.cli import main
from tests.conftest import ROOT


def run(tool, folder, *arguments, code=0):
    """Run a tool's Python in a folder, without a network."""
    python = ROOT / ".venv-integrations" / tool / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{tool} is not installed: make test-integrations")
    env = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "COLUMNS": "1000"}
    env["HF_HOME"] = str(folder / "home")
    done = subprocess.run([python, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == code, (done.stdout + done.stderr)[-3000:]
    return done


def questions():
    """Return samples with fields that tasks take for the truth: index of three, or of two."""
    colours = ["red", "deep blue", "green"]
    return [
        {
            "question": f"What colour is thing {i}?",
            "choices": colours,
            "uneven": colours[: 2 + i % 2],
            "label": i * 7 % 3,
            "noisy": i * 5 % 3,
            "never_last": i % 2,
            "golds": [i % 3, (i + 1) % 3],
            "flag": i * 3 % 2,
            "not_flag": 1 - i * 3 % 2,
            "weight": 1 + i % 4,
        }
        for i in range(40)
    ]


def arithmetic(correct, confidence, u_max=1.0, weights=None):
    """Return error rate, ECUAS_0 and ECUAS_1, sample by sample."""
    weights = [1.0] * len(correct) if weights is None else weights
    sums = dict.fromkeys(("error_rate", "ecuas_0", "ecuas_1"), 0.0)
    for right, q, weight in zip(correct, confidence, weights, strict=True):
        wrong, r = 1 - right, (1 - q) / u_max
        sums["error_rate"] += weight * wrong
        sums["ecuas_0"] += weight * (r - wrong * (math.log(r) if r else -math.inf) / u_max if wrong else r)
        sums["ecuas_1"] += weight * (r**2 + wrong * 2 / u_max * (1 - r))
    return {name: value / sum(weights) for name, value in sums.items()}


def of_choices(truth, log_likelihoods, weights=None):
    """Return the same of multiple choice."""
    correct, confidence = [], []
    for label, scores in zip(truth, log_likelihoods, strict=True):
        shares = np.exp(np.array(scores) - max(scores))
        confidence.append(shares.max() / shares.sum())
        correct.append(float(shares.argmax() == label))
    return arithmetic(correct, confidence, 1 - 1 / len(log_likelihoods[0]), weights)


def score(path, *flags):
    """Return what `ecuas score` says of a run: the rows of its table by system, and what it notes or refuses."""
    said = io.StringIO()
    table = path.with_name(f"{path.name}.table.json")
    table.unlink(missing_ok=True)
    with redirect_stderr(said), redirect_stdout(io.StringIO()):
        code = main(["score", str(path), "--n", "0,1", "--output", str(table), *flags])
    if code:
        return {}, said.getvalue()
    return {row["system"]: row for row in json.loads(table.read_text())["rows"]}, said.getvalue()


def close(found, expected):
    """Return whether numbers agree to 1e-12."""
    return {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)

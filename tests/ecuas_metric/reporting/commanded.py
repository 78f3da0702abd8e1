"""What tests of the command share: answers to score, and what a command writes in the working directory."""

import json
import shlex
from pathlib import Path

import pandas as pd

from ecuas_metric.reporting.cli import main


def answers(rng, size, **columns):
    """Return answers that are right as often as their confidence says."""
    confidence = rng.random(size)
    correct = (rng.random(size) < confidence).astype(int)
    return pd.DataFrame(
        {"id": range(size), "confidence": confidence, "correct": correct, **columns}
    )


def content(name):
    return json.loads(Path(name).read_text())


def saved(line, *more):
    """Run a command line that works, with more arguments, and return the JSON that it writes."""
    assert main([*shlex.split(line), *map(str, more), "--output", "out.json"]) == 0
    return content("out.json")


def by_name(document):
    return {row["system"]: row for row in document["rows"]}

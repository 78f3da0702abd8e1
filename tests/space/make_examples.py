"""The four files of space/examples, written again by `python -m tests.space.make_examples`."""

from pathlib import Path

import numpy as np
import pandas as pd

from space.illustrations import simulate
from tests.conftest import ROOT

EXAMPLES = ROOT / "space" / "examples"


def examples(size: int = 600) -> dict[str, pd.DataFrame]:
    """Simulate the systems of the page's examples.

    Returns
    -------
    dict of str to DataFrame
        With columns id, confidence, correct: `calibrated_model`, `overconfident_model` (more often right), and
        `verbal_model`, which names only a few confidences. With posteriors and labels: `classifier`.
    """
    settings = {"calibrated_model": (0.78, 2.4, 1.0), "overconfident_model": (0.88, 1.2, 3.5)}
    settings["verbal_model"] = (0.75, 1.4, 1.2)
    order = np.random.default_rng(7)
    frames = {}
    for name, (accuracy, separation, factor) in settings.items():
        decisions = simulate(accuracy=accuracy, separation=separation, overconfidence=factor, size=size)
        rows = order.permutation(size)
        q, correct = 1 - decisions.uncertainty, 1 - decisions.candidate_cost
        shown = np.round(20 * q) / 20 if name == "verbal_model" else np.round(q, 4)
        columns = {"id": np.arange(size), "confidence": shown[rows], "correct": correct[rows].astype(int)}
        frames[name] = pd.DataFrame(columns)
    return frames | {"classifier": _classifier(size)}


def _classifier(size: int, num_classes: int = 3) -> pd.DataFrame:
    random = np.random.default_rng(8)
    label = random.integers(0, num_classes, size)
    logits = 2 * (random.normal(size=(size, num_classes)) + 1.5 * np.eye(num_classes)[label])
    posteriors = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return pd.DataFrame(posteriors.round(5), columns=[f"prob_{k}" for k in range(num_classes)]).assign(label=label)


def write_examples(folder: Path = EXAMPLES) -> list[Path]:
    """Write `examples` as CSV files, one per system."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{name}.csv" for name in examples()]
    for path, frame in zip(paths, examples().values(), strict=True):
        frame.to_csv(path, index=False, lineterminator="\n")
    return paths


if __name__ == "__main__":
    print(*write_examples(), sep="\n")

"""The four files of space/examples, written again by `python -m tests.space.make_examples`."""

from statistics import NormalDist

import numpy as np
import pandas as pd

from tests.conftest import ROOT

SIZE, CLASSES = 600, 3
SETTINGS = {  # accuracy, separation d, and the factor of the log-odds, above 1 if overconfident
    "calibrated_model": (0.78, 2.4, 1.0),
    "overconfident_model": (0.88, 1.2, 3.5),  # more often right
    "verbal_model": (0.75, 1.4, 1.2),  # which names only a few confidences
}


def simulated(name: str, order: np.random.Generator) -> pd.DataFrame:
    """Return a system whose evidence is normal, of evenly spaced quantiles: around d/2 if it is right, else -d/2.

    The log-odds of being right are then logit(accuracy) + d x evidence exactly, and calibrated.
    """
    accuracy, separation, factor = SETTINGS[name]
    sizes = right, wrong = round(accuracy * SIZE), SIZE - round(accuracy * SIZE)
    quantiles = [[NormalDist().inv_cdf((i + 0.5) / size) for i in range(size)] for size in sizes]
    evidence = np.concatenate([np.add(quantiles[0], separation / 2), np.subtract(quantiles[1], separation / 2)])
    q = 1 - 1 / (1 + np.exp(factor * (np.log(right / wrong) + separation * evidence)))
    shown = np.round(20 * q) / 20 if name == "verbal_model" else np.round(q, 4)
    rows, correct = order.permutation(SIZE), np.repeat([1, 0], sizes)
    return pd.DataFrame({"id": np.arange(SIZE), "confidence": shown[rows], "correct": correct[rows]})


def classifier() -> pd.DataFrame:
    """Return posteriors of a classifier, and labels."""
    random = np.random.default_rng(8)
    label = random.integers(0, CLASSES, SIZE)
    logits = 2 * (random.normal(size=(SIZE, CLASSES)) + 1.5 * np.eye(CLASSES)[label])
    posteriors = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return pd.DataFrame(posteriors.round(5), columns=[f"prob_{k}" for k in range(CLASSES)]).assign(label=label)


if __name__ == "__main__":
    order = np.random.default_rng(7)
    frames = {name: simulated(name, order) for name in SETTINGS}
    for name, frame in (frames | {"classifier": classifier()}).items():
        frame.to_csv(ROOT / "space" / "examples" / f"{name}.csv", index=False, lineterminator="\n")

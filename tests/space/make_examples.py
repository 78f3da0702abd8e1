"""Writes the four files of space/examples: `python -m tests.space.make_examples`."""

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri, softmax

from tests.conftest import ROOT

SIZE = 600
SYSTEMS = {  # accuracy, separation d, and the factor of the log-odds, above 1 if overconfident
    "calibrated_model": (0.78, 2.4, 1.0),
    "overconfident_model": (0.88, 1.2, 3.5),  # more often right
    "verbal_model": (0.75, 1.4, 1.2),  # which names only a few confidences
}


def simulated(accuracy: float, separation: float, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return confidence and correctness, of evenly spaced quantiles of normal evidence: around d/2 if right, else -d/2.

    The log-odds of being right are then logit(accuracy) + d x evidence exactly, and calibrated.
    """
    sizes = right, wrong = round(accuracy * SIZE), SIZE - round(accuracy * SIZE)
    correct = np.repeat([1, 0], sizes)
    shares = np.concatenate([(np.arange(size) + 0.5) / size for size in (right, wrong)])
    evidence = ndtri(shares) + separation * (correct - 0.5)
    return expit(factor * (logit(right / SIZE) + separation * evidence)), correct


if __name__ == "__main__":
    random, order, frames = np.random.default_rng(8), np.random.default_rng(7), {}
    for name, settings in SYSTEMS.items():
        rows, (q, correct) = order.permutation(SIZE), simulated(*settings)
        shown = np.round(20 * q) / 20 if name == "verbal_model" else np.round(q, 4)
        frames[name] = pd.DataFrame({"id": np.arange(SIZE), "confidence": shown[rows], "correct": correct[rows]})
    label = random.integers(0, 3, SIZE)
    posteriors = softmax(2 * (random.normal(size=(SIZE, 3)) + 1.5 * np.eye(3)[label]), axis=1).round(5)
    frames["classifier"] = pd.DataFrame(posteriors, columns=["prob_0", "prob_1", "prob_2"]).assign(label=label)
    for name, frame in frames.items():
        frame.to_csv(ROOT / "space" / "examples" / f"{name}.csv", index=False, lineterminator="\n")

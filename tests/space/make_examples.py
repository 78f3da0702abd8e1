"""The four files of space/examples, written again by `python -m tests.space.make_examples`."""

from statistics import NormalDist

import numpy as np
import pandas as pd

from tests.conftest import ROOT

EXAMPLES = ROOT / "space" / "examples"
SETTINGS = {  # accuracy, separation, and the factor of the log-odds, above 1 if overconfident
    "calibrated_model": (0.78, 2.4, 1.0),
    "overconfident_model": (0.88, 1.2, 3.5),  # more often right
    "verbal_model": (0.75, 1.4, 1.2),  # which names only a few confidences
}


def simulated(accuracy: float, separation: float, factor: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return confidences and correctness of a system by evenly spaced quantiles, without randomness.

    The evidence x for an answer is normal around +d/2 if it is right and -d/2 if it is wrong; d is the separation. The
    log-odds of being right are then logit(accuracy) + d x exactly, and calibrated.
    """
    right = round(accuracy * size)
    evidence = np.concatenate([_quantiles(right) + separation / 2, _quantiles(size - right) - separation / 2])
    log_odds = factor * (np.log(right / (size - right)) + separation * evidence)
    return 1 - 1 / (1 + np.exp(log_odds)), np.repeat([1, 0], [right, size - right])


def examples(size: int = 600) -> dict[str, pd.DataFrame]:
    """Simulate the systems of the page's examples: id, confidence, correct; of `classifier` posteriors and labels."""
    order = np.random.default_rng(7)
    frames = {}
    for name, settings in SETTINGS.items():
        q, correct = simulated(*settings, size)
        rows = order.permutation(size)
        shown = np.round(20 * q) / 20 if name == "verbal_model" else np.round(q, 4)
        frames[name] = pd.DataFrame({"id": np.arange(size), "confidence": shown[rows], "correct": correct[rows]})
    return frames | {"classifier": _classifier(size)}


def _classifier(size: int, num_classes: int = 3) -> pd.DataFrame:
    random = np.random.default_rng(8)
    label = random.integers(0, num_classes, size)
    logits = 2 * (random.normal(size=(size, num_classes)) + 1.5 * np.eye(num_classes)[label])
    posteriors = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return pd.DataFrame(posteriors.round(5), columns=[f"prob_{k}" for k in range(num_classes)]).assign(label=label)


def _quantiles(size: int) -> np.ndarray:
    return np.array([NormalDist().inv_cdf((i + 0.5) / size) for i in range(size)])


if __name__ == "__main__":
    for name, frame in examples().items():
        frame.to_csv(EXAMPLES / f"{name}.csv", index=False, lineterminator="\n")

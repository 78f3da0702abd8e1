"""A simulated system: how often it is right, how well its confidences tell right from wrong, how sure it is.

The evidence x for an answer is normal around +d/2 where it is right and -d/2 where it is wrong, d the separation. The
log-odds of being right are then logit(accuracy) + d x exactly: reported as they are, confidences are calibrated.
Multiplied by a factor above 1 (a temperature below 1) they are overconfident, in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

from ecuas_metric.decisions import Graded
from ecuas_metric.metrics import scores
from ecuas_metric.options import checked_options
from ecuas_metric.results import System
from ecuas_metric.signature import signature

SIZE = 2000
FACTORS = np.geomspace(0.25, 4, 33)
KEYS = {"ecuas_0": "ECUAS_0", "ecuas_1": "ECUAS_1", "ece": "ECE", "aurc": "AURC"}
CALIBRATED, SET = "calibrated (factor 1)", "as set"
EXAMPLES = Path(__file__).resolve().parent / "examples"


def simulate(*, accuracy: float, separation: float, overconfidence: float, size: int = SIZE) -> Graded:
    """Simulate a system by evenly spaced quantiles: no chance is involved.

    Parameters
    ----------
    accuracy : float
        Share of right answers, in (0, 1).
    separation : float
        d >= 0, distance of the evidence for right and wrong answers in standard deviations.
    overconfidence : float
        Factor > 0 of the log-odds; 1 is calibrated. The temperature is its inverse.
    size : int
        Number of answers.

    Returns
    -------
    Graded
        Ranked by the log-odds themselves, so that confidences which round to 1 do not become ties.
    """
    right = min(max(round(accuracy * size), 1), size - 1)
    evidence = np.concatenate([_quantiles(right) + separation / 2, _quantiles(size - right) - separation / 2])
    log_odds = overconfidence * (np.log(right / (size - right)) + separation * evidence)
    incorrect = np.repeat([0.0, 1.0], [right, size - right])
    uncertainty, confidence = 1 / (1 + np.exp(log_odds)), 1 / (1 + np.exp(-log_odds))
    return Graded(uncertainty, incorrect, 1.0, rank_by=-log_odds, confidence=confidence)


def beside_calibrated(*, accuracy: float, separation: float, overconfidence: float) -> dict[str, System]:
    """Return the system as it is set, and as it were if it was calibrated, ready for a report."""
    options = checked_options() | {"reject_costs": ()}
    factors = {CALIBRATED: 1.0, SET: overconfidence}
    return {
        name: System(
            simulate(accuracy=accuracy, separation=separation, overconfidence=factor), options, signature(options)
        )
        for name, factor in factors.items()
    }


def metrics_frame(*, accuracy: float, separation: float) -> pd.DataFrame:
    """Return columns factor, value, metric: each metric along overconfidence, all else as it is."""
    rows = []
    for factor in FACTORS:
        values = scores(simulate(accuracy=accuracy, separation=separation, overconfidence=factor), n=(0, 1))
        rows += [(round(factor, 3), round(float(values[key]), 5), name) for key, name in KEYS.items()]
    return pd.DataFrame(rows, columns=["factor", "value", "metric"])


def reading(values: Mapping[str, Mapping[str, float]]) -> str:
    """Say what overconfidence does to ECUAS_0, and what AURC sees of it."""
    (before, after), (_, same) = ([row[key] for row in values.values()] for key in ("ecuas_0", "aurc"))
    if abs(after - before) < 5e-4:
        return "These confidences mean what they say. The third slider changes that, and neither answers nor order."
    return (
        f"The answers and their order are the same: AURC stays at {same:.3f}. "
        f"ECUAS_0 moves from {before:.3f} to {after:.3f}, because users who take the confidences at their word "
        "accept or reject the wrong answers."
    )


def examples(size: int = 300) -> dict[str, pd.DataFrame]:
    """Simulate the systems of the page's examples.

    Returns
    -------
    dict of str to DataFrame
        With columns id, confidence, correct: `calibrated_model`, `overconfident_model` (more often right), and
        `verbal_model`, which names only a few confidences. With posteriors and labels: `classifier`.
    """
    settings = {"calibrated_model": (0.78, 1.8, 1.0), "overconfident_model": (0.83, 1.3, 3.0)}
    settings["verbal_model"] = (0.75, 1.6, 1.2)
    order = np.random.default_rng(7)
    frames = {}
    for name, (accuracy, separation, factor) in settings.items():
        graded = simulate(accuracy=accuracy, separation=separation, overconfidence=factor, size=size)
        rows = order.permutation(size)
        q, correct = 1 - graded.uncertainty, 1 - graded.candidate_cost
        said = np.round(20 * q) / 20 if name == "verbal_model" else np.round(q, 4)
        columns = {"id": np.arange(size), "confidence": said[rows], "correct": correct[rows].astype(int)}
        frames[name] = pd.DataFrame(columns)
    return frames | {"classifier": _classifier(size)}


def _classifier(size: int, num_classes: int = 3) -> pd.DataFrame:
    random = np.random.default_rng(8)
    label = random.integers(0, num_classes, size)
    logits = 2 * (random.normal(size=(size, num_classes)) + 1.5 * np.eye(num_classes)[label])
    posteriors = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return pd.DataFrame(posteriors.round(5), columns=[f"prob_{k}" for k in range(num_classes)]).assign(label=label)


def write_examples(folder: Path = EXAMPLES) -> list[Path]:
    """Write `examples` as CSV files, a system each."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{name}.csv" for name in examples()]
    for path, frame in zip(paths, examples().values(), strict=True):
        frame.to_csv(path, index=False, lineterminator="\n")
    return paths


def _quantiles(size: int) -> np.ndarray:
    normal = NormalDist()
    return np.array([normal.inv_cdf((i + 0.5) / size) for i in range(size)])


if __name__ == "__main__":
    print(*write_examples(), sep="\n")

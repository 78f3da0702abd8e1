"""A simulated system: how often it is right, how well its confidences tell right from wrong, how sure it is.

The evidence x for an answer is normal around +d/2 where it is right and -d/2 where it is wrong, d the separation. The
log-odds of being right are then logit(accuracy) + d x exactly: reported as they are, confidences are calibrated.
Multiplied by a factor above 1 (a temperature below 1) they are overconfident, in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    if all(abs(row["auroc"] - 0.5) + abs(row["error_rate"] - 0.5) < 1e-9 for row in values.values()):
        return "Every confidence is 1/2, which the third slider cannot change: raise the accuracy or the separation."
    if abs(after - before) < 5e-4:
        return "These confidences mean what they say. The third slider changes that, and neither answers nor order."
    return (
        f"The answers and their order are the same: AURC stays at {same:.3f}. "
        f"ECUAS_0 moves from {before:.3f} to {after:.3f}, because users who take the confidences at their word "
        "accept or reject the wrong answers."
    )


def _quantiles(size: int) -> np.ndarray:
    normal = NormalDist()
    return np.array([normal.inv_cdf((i + 0.5) / size) for i in range(size)])

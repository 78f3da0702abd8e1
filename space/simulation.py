"""A simulated system: how often it is right, how well its confidences separate right from wrong, how sure it is.

The evidence x for an answer is normal around +d/2 if it is right and -d/2 if it is wrong; d is the separation. The
log-odds of being right are then logit(accuracy) + d x exactly: reported as they are, confidences are calibrated.
Multiplied by a factor above 1 (a temperature below 1) they are overconfident, in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist

import numpy as np
import pandas as pd

from ecuas_metric.decisions import Decisions
from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats
from ecuas_metric.metrics import Key, metric_values
from ecuas_metric.options import Options
from ecuas_metric.ranking import tie_groups
from ecuas_metric.results import Estimate, Results, System, ranked

from .plots import plot, slots

SIZE = 2000
FACTORS = np.geomspace(0.25, 4, 33)
DRAWN = {Key("ecuas", 0.0): "ECUAS_0", Key("ecuas", 1.0): "ECUAS_1", Key("ece"): "ECE", Key("aurc"): "AURC"}
OPTIONS = Options(n=(0.0, 1.0))
CALIBRATED, SET = "calibrated (factor 1)", "as set"


def simulate(*, accuracy: float, separation: float, overconfidence: float, size: int = SIZE) -> Decisions:
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
    Decisions
        Confidences close to 1 may become ties, of right answers only: that changes no metric of the order.
    """
    right = min(max(round(accuracy * size), 1), size - 1)
    evidence = np.concatenate([_quantiles(right) + separation / 2, _quantiles(size - right) - separation / 2])
    log_odds = overconfidence * (np.log(right / (size - right)) + separation * evidence)
    incorrect = np.repeat([0.0, 1.0], [right, size - right])
    uncertainty, confidence = 1 / (1 + np.exp(log_odds)), 1 / (1 + np.exp(-log_odds))
    return Decisions(uncertainty, incorrect, 1.0, confidence=confidence)


def check(*, accuracy: float, separation: float, overconfidence: float) -> None:
    """Raise InputError if a setting is out of range."""
    for name, value, low, high in (
        ("accuracy", accuracy, 0, 1),
        ("separation", separation, -1e-9, 100),
        ("overconfidence", overconfidence, 0, 100),
    ):
        if not low < value < high:
            raise InputError(name, f"must lie between {max(low, 0):g} and {high:g}", value=value)


def beside_calibrated(*, accuracy: float, separation: float, overconfidence: float) -> dict[str, System]:
    """Return the system with these settings, and the same one calibrated, ready for a report."""
    factors = {CALIBRATED: 1.0, SET: overconfidence}
    return {
        name: ranked(simulate(accuracy=accuracy, separation=separation, overconfidence=factor), Options())
        for name, factor in factors.items()
    }


def metrics_frame(*, accuracy: float, separation: float) -> pd.DataFrame:
    """Return columns factor, value, metric: each metric against overconfidence, all else unchanged."""
    rows = []
    for factor in FACTORS:
        decisions = simulate(accuracy=accuracy, separation=separation, overconfidence=factor)
        ties = tie_groups(decisions.rank_by, decisions.candidate_cost)
        values = metric_values(decisions, ties, OPTIONS, only={key.metric for key in DRAWN})
        rows += [(round(factor, 3), round(float(values[key]), 5), name) for key, name in DRAWN.items()]
    return pd.DataFrame(rows, columns=["factor", "value", "metric"])


def metrics_figure(frame: pd.DataFrame) -> str:
    """Draw `metrics_frame`."""
    return plot(frame, slots(frame["metric"]), title="Metrics against overconfidence", names="metric")


def interpret(results: Mapping[str, Results]) -> str:
    """Say what overconfidence does to ECUAS_0, and what AURC sees of it."""
    calibrated, as_set = (one.estimates for one in results.values())
    before, after = (one[Key("ecuas", 0.0)].value for one in (calibrated, as_set))
    if _is_coin(calibrated) and _is_coin(as_set):
        return "Every confidence is 1/2, which the third slider cannot change: raise the accuracy or the separation."
    if abs(after - before) < 5e-4:
        return (
            "These confidences are calibrated. The third slider changes that, but neither the answers nor their order."
        )
    return (
        f"The answers and their order are the same: AURC stays at {as_set[Key('aurc')].value:.3f}. "
        f"ECUAS_0 moves from {before:.3f} to {after:.3f}, because users who take the confidences at their word "
        "accept or reject the wrong answers."
    )


def _is_coin(estimates: Mapping[Key, Estimate]) -> bool:
    return all(abs(estimates[Key(name)].value - 0.5) < 1e-9 for name in ("auroc", "error_rate"))


def _quantiles(size: int) -> Floats:
    normal = NormalDist()
    return np.array([normal.inv_cdf((i + 0.5) / size) for i in range(size)])

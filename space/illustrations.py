"""What one answer costs under ECUAS_n, and what overconfidence does to a simulated system."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist

import numpy as np

from ecuas_metric.costs import ecuas_cost
from ecuas_metric.decisions import Decisions
from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats
from ecuas_metric.metrics import Key
from ecuas_metric.options import Options
from ecuas_metric.plotting.curves import confidence_cost
from ecuas_metric.results import System, all_values, ranked

from .plots import REFERENCE, Line, axis, figure

COST_LIMIT = 5.0  # of the plot: at n = 0 a confident mistake costs 16
CORRECT, INCORRECT, CHOSEN = "correct answer", "incorrect answer", "your confidence"
SIZE = 2000
FACTORS = np.geomspace(0.25, 4, 33)
DRAWN = {Key("ecuas", 0.0): "ECUAS_0", Key("ecuas", 1.0): "ECUAS_1", Key("ece"): "ECE", Key("aurc"): "AURC"}
CALIBRATED, SET = "calibrated (factor 1)", "as set"


def answer_costs(n: float, num_classes: float | None, confidence: float) -> tuple[float, float]:
    """Return what an answer among K (None: infinitely many) costs if it is correct, and if it is incorrect."""
    if num_classes is not None and not 2 <= num_classes < math.inf:
        raise InputError("num_classes", "must be >= 2", value=num_classes)
    if not 0 <= confidence <= 1:
        raise InputError("confidence", "must lie in [0, 1]", value=confidence)
    u_max = 1 - lowest_confidence(num_classes)
    uncertainty = min(1 - confidence, u_max)
    correct, incorrect = ecuas_cost(candidate_cost=[0, 1], uncertainty=[uncertainty] * 2, n=n, max_uncertainty=u_max)
    return float(correct), float(incorrect)


def lowest_confidence(num_classes: float | None) -> float:
    """Return the confidence below which an answer counts as rejected: that of a system that knows nothing."""
    return 0.0 if num_classes is None else 1 / num_classes


def cost_figure(n: float, num_classes: float | None, confidence: float) -> str:
    """Draw the costs of correct and incorrect answers over their confidence, and a line between them at one."""
    curve = confidence_cost(n=n, num_classes=num_classes)
    at, costs = np.full(2, confidence), np.array(answer_costs(n, num_classes, confidence))
    lines = {
        CORRECT: Line("slot-1", curve.confidence, curve.correct),
        INCORRECT: Line("slot-2", curve.confidence, curve.incorrect),
        CHOSEN: Line("slot-3", at, costs),
    }
    return figure("Cost of an answer", lines, (axis("confidence", 1), axis("cost", COST_LIMIT)))


def simulate(*, accuracy: float, separation: float, overconfidence: float, size: int = SIZE) -> Decisions:
    """Simulate a system by evenly spaced quantiles, without randomness.

    The evidence x for an answer is normal around +d/2 if it is right and -d/2 if it is wrong; d is the separation. The
    log-odds of being right are then logit(accuracy) + d x exactly, and calibrated. A factor above 1 (a temperature
    below 1) makes them overconfident in the same order; ties close to 1 are of right answers only, and change no metric
    of the order.
    """
    for name, value, low, high in (
        ("accuracy", accuracy, 0, 1),
        ("separation", separation, -1e-9, 100),
        ("overconfidence", overconfidence, 0, 100),
    ):
        if not low < value < high:
            raise InputError(name, f"must lie between {max(low, 0):g} and {high:g}", value=value)
    right = min(max(round(accuracy * size), 1), size - 1)
    evidence = np.concatenate([_quantiles(right) + separation / 2, _quantiles(size - right) - separation / 2])
    log_odds = overconfidence * (np.log(right / (size - right)) + separation * evidence)
    incorrect = np.repeat([0.0, 1.0], [right, size - right])
    return Decisions(1 / (1 + np.exp(log_odds)), incorrect, 1.0, confidence=1 / (1 + np.exp(-log_odds)))


def beside_calibrated(*, accuracy: float, separation: float, overconfidence: float) -> dict[str, System]:
    """Return the system with these settings, and the same one calibrated, ready for a report."""
    factors = {CALIBRATED: 1.0, SET: overconfidence}
    return {
        name: ranked(simulate(accuracy=accuracy, separation=separation, overconfidence=factor), Options())
        for name, factor in factors.items()
    }


def metrics_figure(*, accuracy: float, separation: float) -> str:
    """Draw each metric against overconfidence, all else unchanged."""
    values: dict[Key, list[float]] = {key: [] for key in DRAWN}
    for factor in FACTORS:
        decisions = simulate(accuracy=accuracy, separation=separation, overconfidence=factor)
        found = all_values(ranked(decisions, Options(n=(0.0, 1.0))), only=list(DRAWN))
        for key, of_key in values.items():
            of_key.append(float(found[key]))
    lines = {name: Line(f"slot-{i}", FACTORS, np.array(values[key])) for i, (key, name) in enumerate(DRAWN.items(), 1)}
    lines["factor 1"] = Line(REFERENCE, np.ones(2), np.array([0.0, 10.0]))
    top = 1.05 * max(map(max, values.values()))
    return figure("Metrics against overconfidence", lines, (axis("overconfidence", 4), axis("value", top)))


def interpret(calibrated: Mapping[Key, float], as_set: Mapping[Key, float]) -> str:
    """Say what overconfidence does to ECUAS_0, and what AURC sees of it."""
    before, after = (values[Key("ecuas", 0.0)] for values in (calibrated, as_set))
    if _is_coin(calibrated) and _is_coin(as_set):
        return "Every confidence is 1/2, which the third slider cannot change: raise the accuracy or the separation."
    if abs(after - before) < 5e-4:
        return (
            "These confidences are calibrated. The third slider changes that, but neither the answers nor their order."
        )
    return (
        f"The answers and their order are the same: AURC stays at {as_set[Key('aurc')]:.3f}. "
        f"ECUAS_0 moves from {before:.3f} to {after:.3f}, because users who take the confidences at their word "
        "accept or reject the wrong answers."
    )


def _is_coin(values: Mapping[Key, float]) -> bool:
    return all(abs(values[Key(name)] - 0.5) < 1e-9 for name in ("auroc", "error_rate"))


def _quantiles(size: int) -> Floats:
    normal = NormalDist()
    return np.array([normal.inv_cdf((i + 0.5) / size) for i in range(size)])

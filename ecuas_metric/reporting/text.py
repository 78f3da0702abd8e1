"""A system in plain words: what its confidences are worth to its users, and what recalibration would gain."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ..abstentions import select_answered_samples
from ..calibration import CALIBRATION_P
from ..costs import ECUAS_N
from ..metric import Key
from ..options import LEVEL
from ..plotting.curves import reject_cost_curve
from ..results import System, compute_results, compute_values
from .report import Systems, p_text, short_title, texts_apart

COST_DIGITS = 2  # of a reject cost, at least
WORTH_SAYING = 0.01  # the share of its cost that a recalibration saves at least


def explain(
    systems: Systems,
    *,
    only: Collection[Key] | None = None,
) -> list[str]:
    """Return sentences on each system: to which users its confidences are worth something, and how calibrated they are.

    What recalibration would gain is said of the least order of ECUAS_n that is asked for.
    """
    sentences = []
    for name, system in systems.items():
        sentences.append(_useful_range(name, system))
        if system.audit is not None:  # what of it is calibrated is not known
            continue
        sentences.append(_calibration(name, system))
        keys = [Key(ECUAS_N.name, n) for n in sorted(system.options.n)]
        asked = [key for key in keys if only is None or key in only]
        if asked:
            sentences.append(_recalibration(name, system, asked[0]))
    return [sentence for sentence in sentences if sentence]


def _useful_range(name: str, system: System) -> str:
    """Say between which reject costs users do better by the confidences than by treating all answers alike."""
    curve = reject_cost_curve(system)
    useful = curve.expected_cost < np.minimum(curve.accept_all, curve.reject_all) - 1e-12
    if not useful.any():
        tried = len(curve.reject_cost)
        return f"At none of {tried} reject costs do users of {name} do better than by accepting all or rejecting all."
    low, high = curve.reject_cost[useful][[0, -1]]
    costs = f"about {low:.2f}"
    if low < high:
        costs = f"between {' and '.join(texts_apart([low, high], COST_DIGITS))}"
    span = np.ptp(np.flatnonzero(useful)) + 1
    missing = 1 - useful.sum() / span
    gaps = f" (but for {missing:.1%} of the costs in between)" if missing else ""
    return (
        f"Users of {name} to whom a rejection costs {costs} of a mistake{gaps} do better by using its confidences than "
        "by accepting or rejecting everything."
    )


def _calibration(name: str, system: System) -> str:
    """Say whether confidences are off by more than chance explains, by the test of calibration."""
    alpha = round(1 - (system.options.confidence_level or LEVEL), 12)
    key = Key(CALIBRATION_P.name)
    alone = replace(system, options=system.options.replace(confidence_level=None))
    estimate = compute_results(alone, only=(key,)).estimates.get(key)
    if estimate is None or math.isnan(estimate.value):
        return ""
    p = estimate.value
    if p > alpha:
        return f"{name}: no evidence of miscalibration ({p_text(p)}), which does not prove calibration."
    decisions, options = select_answered_samples(system.decisions, system.options)
    gaps = decisions.candidate_cost - decisions.uncertainty
    gap = float(np.average(gaps, weights=options.sample_weight))
    side = "high" if gap > 0 else "low"
    return f"{name} is miscalibrated by more than chance explains: {abs(gap):.2f} too {side} on average ({p_text(p)})."


def _recalibration(name: str, system: System, key: Key) -> str:
    """Say what the best recalibration would gain at most."""
    after = key.as_variant("recalibrated")
    options = system.options.replace(n=(key.parameter,), decompose=True)
    decomposed = replace(system, options=options)
    values = compute_values(decomposed, only=(key, after))
    gain = float(values[key] - values[after])
    if gain < WORTH_SAYING * values[key] or not gain:
        return f"Recalibration alone would gain less than {WORTH_SAYING:.0%} of {short_title(key)} of {name}."
    return (
        f"Recalibration alone, with the same answers in the same order of confidence, would take {short_title(key)} "
        f"of {name} from {values[key]:.3f} to {values[after]:.3f} at best, {gain / values[key]:.0%} less. "
        "It is fitted on these same samples, so the gain on new ones would be smaller."
    )

"""A report in plain words: which system is best for which use, and what each one's confidences are worth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..basis import differing
from ..calibration import CALIBRATION_P
from ..comparison.compare import compare_systems
from ..errors import InputError
from ..expected_costs import ECUAS_N
from ..metric import Key
from ..options import LEVEL, Options
from ..plotting.curves import reject_cost_curve
from ..results import System, all_values, compute_results, ranked
from .differences import num_tests, pairs_by_key, verdict
from .report import p_text, short_title

WORTH_SAYING = 0.01  # the share of its cost that a recalibration saves at least
USES = {  # the n from which on -> whose costs ECUAS_n weighs most
    0.0: "to whom a mistake is much worse than a rejection",
    1.0: "with reject costs of all sizes",
    8.0: "to whom a rejection is nearly as bad as a mistake",
}


def explain(
    systems: Mapping[str, System],
    *,
    only: Iterable[Key] | None = None,
) -> list[str]:
    """Return sentences on a report: which system is best for which use, and what each one's confidences are worth."""
    asked = None if only is None else list(only)
    first = next(iter(systems.values()))
    keys = _extreme_orders(first.options, asked)
    alpha = round(1 - (first.options.confidence_level or LEVEL), 12)
    sentences = [] if len(systems) == 1 else _comparison(systems, keys, asked, alpha)
    for name, system in systems.items():
        sentences += [_useful_range(name, system), _calibration(name, system, alpha)]
        if keys:
            sentences.append(_recalibration(name, system, keys[0]))
    return [sentence for sentence in sentences if sentence]


def _extreme_orders(
    options: Options,
    asked: Sequence[Key] | None,
) -> list[Key]:
    """Return the least and the largest order of ECUAS_n that is asked for."""
    keys = [Key(ECUAS_N.name, n) for n in sorted(options.n)]
    if asked is not None:
        keys = [key for key in keys if key in asked]
    return list(dict.fromkeys([*keys[:1], *keys[-1:]]))


def _comparison(
    systems: Mapping[str, System], keys: Sequence[Key], only: Sequence[Key] | None, alpha: float
) -> list[str]:
    """Say which system costs those users least whom an order of ECUAS_n weighs most, as `ecuas compare` finds."""
    reasons = differing(system.basis for system in systems.values())
    if reasons:
        return [f"Not ranked, since they differ: {', '.join(reasons)}."]
    if not keys:
        return []
    with_level = dict(systems)
    for name, system in systems.items():
        if system.options.confidence_level is None:  # then its samples are not sorted yet
            with_level[name] = ranked(
                system.decisions, system.options.replace(confidence_level=LEVEL), ids=system.ids
            )
    try:
        rows = compare_systems(with_level, only=only)
    except InputError as error:
        return [
            f"These systems cannot be compared sample by sample, so no difference is tested: {error}"
        ]
    by_key = pairs_by_key(rows)
    sentences = [
        f"{_users(key)}, by {short_title(key)}: {verdict(by_key[key], alpha)}" for key in keys
    ]
    are_paired = next(iter(systems.values())).ids is not None
    return [*sentences, _how_tested(num_tests(rows), are_all=only is None, are_paired=are_paired)]


def _how_tested(tests: int, *, are_all: bool, are_paired: bool) -> str:
    """Say for how many tests p-values are adjusted, and by what samples were paired."""
    metrics = "the metrics shown"
    if are_all:
        metrics = "all metrics of ecuas compare, also those that the table leaves out"
    how = f"p-values are adjusted for {tests} tests: of all pairs by {metrics}."
    if tests == 1:
        how = "There is one test."
    if are_paired:
        return how
    return f"{how} There is no column of ids: the tests assume that the same row of each file is the same sample."


def _users(key: Key) -> str:
    order = key.parameter or 0.0
    whom = next(words for start, words in reversed(USES.items()) if order >= start)
    return f"For users {whom}"


def _useful_range(name: str, system: System) -> str:
    """Say between which reject costs users do better by the confidences than by treating all answers alike."""
    curve = reject_cost_curve(system)
    useful = curve.expected_cost < np.minimum(curve.accept_all, curve.reject_all) - 1e-12
    if not useful.any():
        return f"Whatever the cost of a rejection, users of {name} do better by accepting all or rejecting all."
    low, high = curve.reject_cost[useful][[0, -1]]
    is_range = np.ptp(np.flatnonzero(useful)) + 1 == useful.sum()
    gaps = "" if is_range else " (but for some costs in between)"
    return (
        f"Users of {name} to whom a rejection costs {_between(low, high)} of a mistake{gaps} do better by using its "
        "confidences than by accepting or rejecting everything."
    )


def _between(low: float, high: float) -> str:
    """Return a range with as few digits as distinguish its limits."""
    for digits in (2, 3, 4):
        if f"{low:.{digits}f}" != f"{high:.{digits}f}":
            return f"between {low:.{digits}f} and {high:.{digits}f}"
    return f"about {low:.2f}"


def _calibration(name: str, system: System, alpha: float) -> str:
    """Say whether confidences are off by more than chance explains, by the test of calibration."""
    key = Key(CALIBRATION_P.name)
    alone = replace(system, options=system.options.replace(confidence_level=None))
    estimate = compute_results(alone, only=(key,)).estimates.get(key)
    if estimate is None or math.isnan(estimate.value):
        return ""
    p = estimate.value
    if p > alpha:
        return f"{name}: no evidence of miscalibration ({p_text(p)}), which does not prove calibration."
    decisions = system.decisions
    gap = float(
        np.average(
            decisions.candidate_cost - decisions.uncertainty, weights=system.options.sample_weight
        )
    )
    side = "high" if gap > 0 else "low"
    return f"{name} is miscalibrated by more than chance explains: {abs(gap):.2f} too {side} on average ({p_text(p)})."


def _recalibration(name: str, system: System, key: Key) -> str:
    """Say what the best recalibration would gain at most."""
    after = key.of("recalibrated")
    decomposed = replace(system, options=system.options.replace(n=(key.parameter,), decompose=True))
    values = all_values(decomposed, only=(key, after))
    gain = float(values[key] - values[after])
    if gain < WORTH_SAYING * values[key] or not gain:
        return f"Recalibration alone would gain less than {WORTH_SAYING:.0%} of {short_title(key)} of {name}."
    return (
        f"Recalibration alone, with the same answers in the same order of confidence, would take {short_title(key)} "
        f"of {name} from {values[key]:.3f} to {values[after]:.3f} at best, {gain / values[key]:.0%} less. "
        "It is fitted on these same samples, so the gain on new ones would be smaller."
    )

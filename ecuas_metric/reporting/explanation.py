"""What a report means, in plain words: which system is best for whom, by how much, and what recalibration gains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

import numpy as np

from ..comparison.compare import Comparison, compare_systems
from ..errors import InputError
from ..inputs import Floats
from ..metrics import Key, metric_values, values_of_calibration
from ..plotting.curves import RejectCostCurve, reject_cost_curve
from ..results import System, ranked
from ..variants import recalibrated_values
from .report import title

LEVEL = 0.95
SIGNIFICANT = 0.05
MAX_PAIRED_ROWS = 100_000  # samples times pairs: some seconds of resampling
MAX_RANGES = 3
WORTH_SAYING = 0.01  # the share of its cost that a recalibration saves at least
USES = {  # the n from which on -> whose costs ECUAS_n weighs most
    0.0: "to whom a mistake is much worse than a rejection",
    1.0: "with reject costs of all sizes",
    8.0: "to whom a rejection is nearly as bad as a mistake",
}


def explain(systems: Mapping[str, System]) -> list[str]:
    """Explain a report: which system is best for which use, if by more than chance, and what recalibration would gain.

    Parameters
    ----------
    systems : mapping of name to System
        Of `prepare_submissions`. Their ids pair the samples. Those prepared with a confidence level are not sorted
        again, and their level is that of the intervals; it is 0.95 otherwise.

    Returns
    -------
    list of str
        At least one sentence each.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> correct, confidence = [1, 1, 1, 0, 1, 0, 0, 0], [0.75] * 4 + [0.25] * 4
    >>> explain({"model": confidence_system(correct, confidence)})[-1]
    'Recalibration alone would gain less than 1% of ECUAS_0.'
    """
    first = next(iter(systems))
    n = systems[first].options.n
    orders = tuple(sorted({min(n), max(n)}))
    systems = {name: _reduced(system, orders) for name, system in systems.items()}
    values = {name: _ecuas(system) for name, system in systems.items()}
    by_reject_cost = _best_by_reject_cost({name: reject_cost_curve(system) for name, system in systems.items()})
    recalibration = _recalibration(systems, values, orders[0])
    calibration = _calibration(systems)
    if len(systems) == 1:
        return [*by_reject_cost, *calibration, recalibration]
    pairs, remark = _paired(systems)
    best = [_best(order, values, pairs, level=_level(systems[first])) for order in orders]
    return [*best, *([remark] if remark else []), *by_reject_cost, *calibration, recalibration]


def best_systems(rows: Iterable[Comparison], *, level: float) -> dict[Key, list[str]]:
    """Return the confidence set for the best system by each metric that ranks systems.

    Parameters
    ----------
    rows : iterable of Comparison
        Of `comparison.compare_systems`.
    level : float
        In (0, 1): the chance that a set holds the best system.

    Returns
    -------
    dict of Key to list of str

    Examples
    --------
    >>> from ecuas_metric import compare_systems, confidence_system
    >>> correct, options = [1, 1, 0, 1, 0, 1] * 9, {"confidence_level": 0.95, "n": 1}
    >>> systems = {
    ...     "sharp": confidence_system(correct, [0.9, 0.8, 0.2, 0.9, 0.1, 0.7] * 9, **options),
    ...     "vague": confidence_system(correct, [0.5, 0.6, 0.5, 0.5, 0.4, 0.5] * 9, **options),
    ... }
    >>> sets = best_systems(compare_systems(systems), level=0.95)
    >>> sets[Key("ecuas", 1.0)], sets[Key("error_rate")]
    (['sharp'], ['sharp', 'vague'])
    """
    found: dict[Key, dict[str, float]] = {}
    for row in rows:
        if not np.isnan(row.p_first_best):
            found.setdefault(row.key, {}).update({row.first: row.p_first_best, row.second: row.p_second_best})
    return {key: [name for name, p in of_key.items() if p > 1 - level] for key, of_key in found.items()}


def _best(order: float, values: Mapping[str, Mapping[float, float]], pairs: list[Comparison], *, level: float) -> str:
    best, second = sorted(values, key=lambda name: values[name][order])[:2]
    users = next(words for start, words in reversed(USES.items()) if order >= start)
    claim = (
        f"For users {users} (n = {order:g}), {best} is best: {_name(order)} {values[best][order]:.3f} against "
        f"{values[second][order]:.3f} for {second}, the next best."
    )
    key = Key("ecuas", order)
    row = next((row for row in pairs if row.key == key and {row.first, row.second} == {best, second}), None)
    return f"{claim} {_lead(row, best, level)}" if row else f"{claim} Whether this is significant was not tested."


def _lead(row: Comparison, best: str, level: float) -> str:
    sign = -1 if row.first == best else 1
    low, high = sorted((sign * row.low, sign * row.high))
    p = _p(row.p_adjusted)
    verdict = "is significant" if row.p_adjusted <= SIGNIFICANT else "may be due to chance"
    return (
        f"The lead of {abs(row.difference):.3f} ({level:.0%} interval {low:.3f} to {high:.3f}) {verdict}: {p}, "
        "paired by sample, corrected for all pairs and metrics."
    )


def _paired(systems: Mapping[str, System]) -> tuple[list[Comparison], str]:
    """Compare all pairs; the second value says why not, or how they were paired."""
    first = next(iter(systems.values()))
    if len(first.decisions.uncertainty) * len(systems) * (len(systems) - 1) / 2 > MAX_PAIRED_ROWS:
        return [], "There are too many samples and pairs to test differences here: use `ecuas compare`."
    try:
        rows = compare_systems({name: _resampled(system) for name, system in systems.items()})
    except InputError as error:
        return [], f"These systems cannot be compared sample by sample, so no difference is tested: {error}"
    if first.ids is not None:
        return rows, ""
    return rows, "There is no column of ids: the tests assume that the same row of each file is the same sample."


def _best_by_reject_cost(curves: Mapping[str, RejectCostCurve]) -> list[str]:
    """Say between which reject costs which system costs least, or where a single one costs less than no system."""
    name, curve = next(iter(curves.items()))
    if len(curves) == 1:
        return [_useful_range(name, curve)]
    if len({curve.reject_cost[-1] for curve in curves.values()}) > 1:
        return []
    names = list(curves)
    lowest = np.argmin([curve.expected_cost for curve in curves.values()], axis=0)[1:]  # at 0 nothing costs anything
    ranges = [(names[i], list(group)) for i, group in groupby(range(len(lowest)), key=lambda at: lowest[at])]
    if len(ranges) == 1:
        return [f"Whatever the cost of a rejection, {ranges[0][0]} has the lowest cost for its users here."]
    if len(ranges) > MAX_RANGES:
        where = "see the plot of cost against reject cost"
        return [f"Which system has the lowest cost for its users changes often with the reject cost: {where}."]
    grid = curve.reject_cost[1:]
    parts = [f"{name} up to a reject cost of {grid[group[-1]]:.2f}" for name, group in ranges[:-1]]
    return [f"The system with the lowest cost is {', then '.join(parts)}, then {ranges[-1][0]}."]


def _useful_range(name: str, curve: RejectCostCurve) -> str:
    useful = curve.expected_cost < np.minimum(curve.accept_all, curve.reject_all) - 1e-12
    if not useful.any():
        return f"Whatever the cost of a rejection, users of {name} do better by accepting all or rejecting all."
    low, high = curve.reject_cost[useful][[0, -1]]
    return (
        f"Users of {name} to whom a rejection costs {_between(low, high)} of a mistake do better by using its "
        "confidences than by accepting or rejecting everything."
    )


def _between(low: float, high: float) -> str:
    """Return a range with as few digits as distinguish its limits."""
    for digits in (2, 3, 4):
        first, last = f"{low:.{digits}f}", f"{high:.{digits}f}"
        if first != last:
            return f"between {first} and {last}"
    return f"about {low:.2f}"


def _calibration(systems: Mapping[str, System]) -> list[str]:
    """Say whose confidences are off by more than chance explains, by the test of calibration of each."""
    off, rest = [], []
    for name, system in systems.items():
        options, key = system.options.replace(calibration=True), Key("calibration_p")
        for p in values_of_calibration(system.decisions, options, only=(key,)).values():
            if p <= SIGNIFICANT:
                off.append(f"{name} ({_p(p)}; {_mean_gap(system)})")
            elif p > SIGNIFICANT:  # not nan
                rest.append(f"{name} ({_p(p)})")
    sentences = []
    if off:
        sentences.append(f"Miscalibrated by more than chance explains: {', '.join(off)}.")
    if rest:
        sentences.append(f"No evidence of miscalibration, which does not prove calibration: {', '.join(rest)}.")
    return sentences


def _mean_gap(system: System) -> str:
    """Say how far uncertainties lie from costs on average: the 0-1 cost's, so confidences from correctness."""
    decisions = system.decisions
    gap = float(np.average(decisions.candidate_cost - decisions.uncertainty, weights=system.options.sample_weight))
    return (
        "about right on average"
        if abs(gap) < 0.005
        else f"{abs(gap):.2f} too {'high' if gap > 0 else 'low'} on average"
    )


def _recalibration(systems: Mapping[str, System], values: Mapping[str, Mapping[float, float]], order: float) -> str:
    """Say what the best recalibration would gain at most, for the system that it changes most."""
    gains = {name: values[name][order] - _best_recalibrated(system, order) for name, system in systems.items()}
    name = max(gains, key=lambda name: gains[name])
    before = values[name][order]
    if gains[name] < WORTH_SAYING * before or not before:
        return f"Recalibration alone would gain less than {WORTH_SAYING:.0%} of {_name(order)}."
    return (
        f"Recalibration alone, with the same answers in the same order of confidence, would take {_name(order)} "
        f"of {name} from {before:.3f} to {before - gains[name]:.3f} at best, {gains[name] / before:.0%} less. "
        "It is fitted on these same samples, so the gain on new ones would be smaller."
    )


def _best_recalibrated(system: System, order: float) -> float:
    options = system.options.replace(n=(order,))
    best = recalibrated_values(system.ties, options, max_uncertainty=system.decisions.max_uncertainty)
    return float(np.asarray(best[Key("ecuas", order, "recalibrated")]))


def _ecuas(system: System) -> dict[float, float]:
    weight: Floats | None = system.options.sample_weight
    values = metric_values(system.decisions, system.ties, system.options, sample_weight=weight, only=("ecuas",))
    return {order: float(values[Key("ecuas", order)]) for order in system.options.n}


def _reduced(system: System, orders: tuple[float, ...]) -> System:
    """Return a system of which only the ECUAS_n at these n are of interest, for quick comparisons."""
    options = system.options.replace(normalize=False, decompose=False, reject_costs=(), n=orders)
    return system._replace(options=options)


def _resampled(system: System) -> System:
    """Return a system with a confidence level; its samples are sorted if they are not yet."""
    options = system.options.replace(confidence_level=_level(system))
    if system.order is not None:
        return system._replace(options=options)
    return ranked(system.decisions, options, ids=system.ids)


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _level(system: System) -> float:
    return system.options.confidence_level or LEVEL


def _name(order: float) -> str:
    """Return the name of ECUAS_n, e.g. ECUAS_128."""
    return title(Key("ecuas", order)).partition(" ")[0]

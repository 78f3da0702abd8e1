"""What a table of systems means, in plain words: which is best for whom, by how much, and what recalibration gains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

import numpy as np

from ecuas_metric.decomposition import recalibrated_scores
from ecuas_metric.inputs import Floats
from ecuas_metric.plotting.curves import RejectCostCurve, reject_cost_curve
from ecuas_metric.reporting.comparison import Comparison, compare
from ecuas_metric.reporting.submissions import Table
from ecuas_metric.results import System, values_of

LEVEL = 0.95
SIGNIFICANT = 0.05
MAX_PAIRED_ROWS = 100_000  # samples times pairs: some seconds of resampling
MAX_RANGES = 3
CLAIMED = 0.01  # a recalibration that gains less is not worth a sentence
USES = {  # n from which on -> whose costs ECUAS_n weighs most
    0.0: "to whom a mistake is much worse than a rejection",
    1.0: "with reject costs of all sizes",
    8.0: "to whom a rejection is nearly as bad as a mistake",
}


def sentences(systems: Mapping[str, System], tables: Iterable[Table]) -> list[str]:
    """Say which system is best under which use, whether that is more than chance, and what recalibration would gain.

    Parameters
    ----------
    systems : mapping of name to System
        Of `report.prepare_tables`.
    tables : iterable of Table
        Where they come from: their ids pair the samples.

    Returns
    -------
    list of str
        At least one.
    """
    tables = list(tables)
    orders = sorted({min(_orders(systems)), max(_orders(systems))})
    systems = {name: _reduced(system, orders) for name, system in systems.items()}
    values = {name: values_of(system, weight_of(system)) for name, system in systems.items()}
    curves = {
        name: reject_cost_curve(system.graded, sample_weight=weight_of(system)) for name, system in systems.items()
    }
    said = _best_by_reject_cost(curves)
    if len(systems) > 1:
        pairs, problem = _paired(systems, tables)
        said = [*(_best(order, values, pairs) for order in orders), *([problem] if problem else []), *said]
    return [*said, *_recalibration(systems, values, orders[0])] or ["There is nothing to be gained by recalibration."]


def _best(order: float, values: Mapping[str, Mapping[str, float]], pairs: list[Comparison]) -> str:
    key = f"ecuas_{order:g}"
    ranked = sorted(values, key=lambda name: values[name][key])
    best, second = ranked[:2]
    scores = f"{title(order)} {values[best][key]:.3f} against {values[second][key]:.3f} of {second}, the next"
    users = next(words for start, words in reversed(USES.items()) if order >= start)
    head = f"For users {users} (n = {order:g}), {best} is best: {scores}."
    row = next((row for row in pairs if row.key == key and {row.first, row.second} == {best, second}), None)
    if row is None:
        return f"{head} Whether that is more than chance is not tested."
    sign = -1 if row.first == best else 1
    low, high = sorted((sign * row.low, sign * row.high))
    p = "p < 0.001" if row.p_adjusted < 0.001 else f"p = {row.p_adjusted:.3f}"
    verdict = "is significant" if row.p_adjusted < SIGNIFICANT else "may well be chance"
    return (
        f"{head} The lead of {abs(row.difference):.3f} ({LEVEL:.0%} interval {low:.3f} to {high:.3f}) {verdict}: {p}, "
        "paired by sample, corrected for the number of pairs."
    )


def title(order: float) -> str:
    """Return the name of ECUAS_n."""
    return f"ECUAS_{order:g}"


def _paired(systems: Mapping[str, System], tables: list[Table]) -> tuple[list[Comparison], str]:
    """Compare all pairs, or say why not."""
    size = len(next(iter(systems.values())).graded.uncertainty)
    if size * len(systems) * (len(systems) - 1) / 2 > MAX_PAIRED_ROWS:
        return [], "There are too many samples and pairs to test differences here: use `ecuas compare`."
    ids = {table.name: table.ids for table in tables}
    try:
        rows = compare(systems, ids=ids)
    except ValueError as error:
        return [], f"These systems cannot be compared sample by sample, so that no difference is tested: {error}"
    if any(values is not None for values in ids.values()):
        return rows, ""
    return rows, "There is no column of ids: the tests take the same row of each file for the same sample."


def _best_by_reject_cost(curves: Mapping[str, RejectCostCurve]) -> list[str]:
    """Say between which reject costs which system costs least, and where one costs less than no system at all."""
    name, curve = next(iter(curves.items()))
    if len(curves) == 1:
        useful = curve.expected_cost < np.minimum(curve.accept_all, curve.reject_all) - 1e-12
        if not useful.any():
            return [f"Whatever a rejection costs, users of {name} had better accept everything or reject everything."]
        low, high = curve.reject_cost[useful][[0, -1]]
        return [
            f"Users of {name} to whom a rejection costs {_between(low, high)} of a mistake do better by "
            "heeding its confidences than by accepting or rejecting everything."
        ]
    if len({curve.reject_cost[-1] for curve in curves.values()}) > 1:
        return []
    names = list(curves)
    lowest = np.argmin([curve.expected_cost for curve in curves.values()], axis=0)[1:]  # at 0 nobody costs anything
    ranges = [(names[i], list(group)) for i, group in groupby(range(len(lowest)), key=lambda at: lowest[at])]
    if len(ranges) == 1:
        return [f"Whatever a rejection costs, {ranges[0][0]} costs its users least here."]
    if len(ranges) > MAX_RANGES:
        where = "see the plot of cost against reject cost"
        return [f"Which system costs its users least changes often with what a rejection costs: {where}."]
    grid = curve.reject_cost[1:]
    parts = [f"{name} up to a reject cost of {grid[group[-1]]:.2f}" for name, group in ranges[:-1]]
    return [f"By what a rejection costs its users, the cheapest is {', then '.join(parts)}, then {ranges[-1][0]}."]


def _between(low: float, high: float) -> str:
    """Return a range in as few digits as tell its limits apart."""
    for digits in (2, 3, 4):
        first, last = f"{low:.{digits}f}", f"{high:.{digits}f}"
        if first != last:
            return f"between {first} and {last}"
    return f"about {low:.2f}"


def _recalibration(systems: Mapping[str, System], values: Mapping[str, Mapping[str, float]], order: float) -> list[str]:
    """Say what the best recalibration would gain at most, of the systems it changes most."""
    key, gains = f"ecuas_{order:g}", {}
    for name, system in systems.items():
        settings = {"epsilon": system.options["epsilon"], "sample_weight": weight_of(system)}
        best = recalibrated_scores(system.graded, n=(order,), **settings)
        gains[name] = float(values[name][key] - best[f"{key}_recalibrated"])
    name = max(gains, key=lambda name: gains[name])
    before = float(values[name][key])
    if gains[name] < CLAIMED * before:
        return [f"Recalibration alone would gain less than {CLAIMED:.0%} of {title(order)}."]
    return [
        f"Recalibration alone, with the same answers in the same order of confidence, would take {title(order)} "
        f"of {name} from {before:.3f} to {before - gains[name]:.3f} at best, {gains[name] / before:.0%} less. "
        "It is fitted on these very samples: new ones gain less."
    ]


def _reduced(system: System, orders: list[float]) -> System:
    """Return a system of which only the ECUAS_n at these n are of interest, for quick comparisons."""
    plain = {"normalize": False, "decompose": False, "reject_costs": (), "confidence_level": LEVEL}
    return system._replace(options=system.options | plain | {"n": tuple(orders)})


def _orders(systems: Mapping[str, System]) -> tuple[float, ...]:
    return tuple(next(iter(systems.values())).options["n"])


def weight_of(system: System) -> Floats | None:
    """Return the weights of a system's samples."""
    weight: Floats | None = system.options["sample_weight"]
    return weight

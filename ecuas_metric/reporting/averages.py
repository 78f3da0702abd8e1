"""Macro-averages: the mean of a metric over the parts of a system, such as tasks, in which each counts the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ..basis import differing
from ..errors import Note
from ..files.submissions import Submission
from ..intervals import moments_of
from ..metric import Data, Key, bias_of
from ..results import Estimate, Results, System, without_weight_0
from .report import Report


def macro_averages(report: Report, submissions: Sequence[Submission], systems: Mapping[str, System]) -> Report | None:
    """Return the averages over the parts that `--by` made of each system, or None without several or with bounds.

    Limits of intervals are combined as those of independent parts (Zou and Donner, "Construction of confidence limits
    about effect measures: a general approach", 2008): the distance from the average to a limit is the root of the sum
    of squares of the parts' distances, divided by their number. AURC and AUGRC of small parts are biased, which
    averaging does not lessen: their bias is subtracted first. The sizes are numbers of parts.
    """
    names: dict[str, dict[str, str]] = {}  # system -> part -> name of the row
    for one in submissions:
        names.setdefault(one.of, {})[one.part] = one.name
    if report.bounds or max(map(len, names.values())) < 2:
        return None
    keys = [key for key in report.keys if key.entry.has_average]
    results = {}
    for system, parts in names.items():
        of_parts = [(report.results[name], systems[name]) for name in parts.values()]
        averages = _averages(of_parts, keys)
        has_limits = _are_independent(part for _, part in of_parts)
        results[system] = averages if has_limits else _without_limits(averages)
    return Report(
        results=results,
        keys=keys,
        not_comparable=[key for key in report.not_comparable if key in keys],
        signature=report.signature,
        sizes={system: len(parts) for system, parts in names.items()},
        differing=_reasons(names, systems),
    )


def _are_independent(parts: Iterable[System]) -> bool:
    """Return whether no group has samples in several parts."""
    seen: set[int] = set()
    for part in parts:
        groups = part.options.groups
        members = set() if groups is None else set(groups.tolist())
        if seen & members:
            return False
        seen |= members
    return True


def _reasons(names: Mapping[str, Mapping[str, str]], systems: Mapping[str, System]) -> list[str]:
    """Return what forbids to rank the systems: other parts, or what differs in any of their parts."""
    first, *others = names.values()
    if any(other.keys() != first.keys() for other in others):
        return ["parts"]
    reasons: list[str] = []
    for part in first:
        reasons += differing(systems[parts[part]].basis for parts in names.values())
    return list(dict.fromkeys(reasons))


def _averages(parts: Sequence[tuple[Results, System]], keys: Iterable[Key]) -> Results:
    averages = {}
    notes = []
    for key in keys:
        estimates = [results.estimates[key] for results, _ in parts]
        biases = [_bias(key, results, system) for results, system in parts]
        averages[key] = _average(estimates, biases)
        missing = sum(math.isnan(estimate.value) for estimate in estimates)
        if missing:
            fields = {"metric": key, "count": missing, "total": len(estimates)}
            notes.append(Note("average_undefined", fields))
    return Results(averages, tuple(notes), parts[0][0].basis)


def _bias(key: Key, results: Results, system: System) -> float:
    """Return the bias that an analytic interval subtracts: averaging narrows intervals, but lessens no bias."""
    if system.options.confidence_level is None or system.options.interval_method != "analytic":
        return 0.0
    decisions, options = without_weight_0(system)
    moments = moments_of(decisions, options.sample_weight)
    data = Data(decisions, options, parameter=key.parameter or 0.0, grouped=moments.ties)
    return bias_of(key, data, results.estimates[key].value, moments.effective_count)


def _average(estimates: Sequence[Estimate], biases: Sequence[float]) -> Estimate:
    mean = math.fsum(estimate.value for estimate in estimates) / len(estimates)
    if any(estimate.low is None or estimate.high is None for estimate in estimates):
        return Estimate(mean)
    centres = [estimate.value - bias for estimate, bias in zip(estimates, biases, strict=True)]
    centre = math.fsum(centres) / len(centres)
    below = _distance([estimate.low for estimate in estimates], centres)
    above = _distance([estimate.high for estimate in estimates], centres)
    return Estimate(mean, min(centre - below, mean), max(centre + above, mean))


def _distance(limits: Sequence[float | None], centres: Sequence[float]) -> float:
    """Return how far the limit of an average lies from its centre, from the limits (P,) and centres (P,) of parts."""
    squares = []
    for limit, centre in zip(limits, centres, strict=True):
        assert limit is not None
        squares.append((limit - centre) ** 2)
    return math.sqrt(math.fsum(squares)) / len(centres)


def _without_limits(results: Results) -> Results:
    estimates = {}
    for key, estimate in results.estimates.items():
        has_limits = estimate.low is not None
        estimates[key] = Estimate(estimate.value, math.nan, math.nan) if has_limits else estimate
    return Results(estimates, (*results.notes, Note("groups_in_several_parts")), results.basis)

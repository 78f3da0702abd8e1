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
    parts: dict[str, dict[str, str]] = {}
    for one in submissions:
        parts.setdefault(one.of, {})[one.part] = one.name
    if all(len(names) < 2 for names in parts.values()) or report.bounds:
        return None
    keys = [key for key in report.keys if key.entry.has_average]
    results = {}
    for of, names in parts.items():
        results[of] = _averages([(report.results[name], systems[name]) for name in names.values()], keys)
        options = [systems[name].options for name in names.values()]
        groups = [set(one.groups.tolist()) for one in options if one.groups is not None]
        if sum(map(len, groups)) > len(set().union(*groups)):  # a group has samples in several parts
            results[of] = _without_limits(results[of])
    differ = ["parts"] if len({frozenset(names) for names in parts.values()}) > 1 else []
    for part in () if differ else next(iter(parts.values())):  # what forbids to rank the systems by any of their parts
        found = differing(systems[names[part]].basis for names in parts.values())
        differ += [reason for reason in found if reason not in differ]
    return Report(
        results=results,
        keys=keys,
        not_comparable=[key for key in report.not_comparable if key in keys],
        signature=report.signature,
        sizes={of: len(names) for of, names in parts.items()},
        differing=differ,
    )


def _averages(parts: Sequence[tuple[Results, System]], keys: Iterable[Key]) -> Results:
    averages, notes = {}, []
    for key in keys:
        estimates = [results.estimates[key] for results, _ in parts]
        averages[key] = _average(estimates, [_bias(key, results, system) for results, system in parts])
        missing = sum(math.isnan(estimate.value) for estimate in estimates)
        if missing:
            fields = {"metric": key, "count": missing, "total": len(estimates)}
            notes.append(Note("average_undefined", fields))
    return Results(averages, tuple(notes), parts[0][0].basis)


def _bias(key: Key, results: Results, system: System) -> float:
    """Return the bias that an analytic interval subtracts: averaging narrows intervals, but lessens no bias."""
    value, (decisions, options) = results.estimates[key].value, without_weight_0(system)
    if system.options.confidence_level is None or system.options.interval_method != "analytic":
        return 0.0
    moments = moments_of(decisions, options.sample_weight)
    data = Data(decisions, options, parameter=key.parameter or 0.0, grouped=moments.ties)
    return bias_of(key, data, value, moments.effective_count)


def _average(estimates: Sequence[Estimate], biases: Sequence[float]) -> Estimate:
    mean = math.fsum(estimate.value for estimate in estimates) / len(estimates)
    centre, ends = mean - math.fsum(biases) / len(biases), []
    for end in ("low", "high"):
        limits = [getattr(estimate, end) for estimate in estimates]
        if None in limits:
            return Estimate(mean)
        of_parts = zip(limits, estimates, biases, strict=True)
        distances = [limit - (estimate.value - bias) for limit, estimate, bias in of_parts]
        ends.append(math.sqrt(math.fsum(distance**2 for distance in distances)) / len(estimates))
    return Estimate(mean, min(centre - ends[0], mean), max(centre + ends[1], mean))


def _without_limits(results: Results) -> Results:
    none = {}
    for key, estimate in results.estimates.items():
        none[key] = estimate if estimate.low is None else Estimate(estimate.value, math.nan, math.nan)
    return Results(none, (*results.notes, Note("groups_in_several_parts")), results.basis)

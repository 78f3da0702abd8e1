"""Macro-averages: the mean of a metric over the parts of a system, such as tasks, in which each counts the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..basis import why_not_rankable
from ..errors import Note
from ..files.submissions import Submission
from ..inference import Inference, average, infer_all
from ..inputs import NO_LIMITS, grouped
from ..intervals import make_numbers
from ..metric import Key
from ..results import Estimate, Results, System, make_answers
from .report import Report, Systems, is_bounded


def macro_averages(report: Report, submissions: Sequence[Submission]) -> Report | None:
    """Return the averages over the parts that `--by` made of each system, or None without several or of bounds only.

    Limits of intervals are combined as those of independent parts (Zou and Donner, "Construction of confidence limits
    about effect measures: a general approach", 2008): the distance from the average to a limit is the root of the sum
    of squares of the parts' distances, divided by their number. AURC and AUGRC of small parts are biased, which
    averaging does not lessen: their bias is subtracted first. N is the number of parts.
    """
    by_system = grouped(submissions, lambda one: one.of)
    if is_bounded(report.unlabelled) or max(map(len, by_system.values())) < 2:
        return None
    keys = [key for key in report.keys if key.entry.has_average]
    results = {}
    for system, parts in by_system.items():
        of_parts = [(report.results[one.name], report.systems[one.name]) for one in parts]
        results[system] = _averages(of_parts, keys, are_independent=_share_no_group(parts))
    return Report(
        results=results,
        keys=keys,
        not_comparable=[key for key in report.not_comparable if key in keys],
        signature=report.signature,
        differing=_reasons(submissions, report.systems),
    )


def _share_no_group(parts: Iterable[Submission]) -> bool:
    groups = [set(map(str, one.per_sample.get("groups", ()))) for one in parts]
    distinct = set().union(*groups)
    return len(distinct) == sum(map(len, groups))


def _reasons(submissions: Sequence[Submission], systems: Systems) -> list[str]:
    """Return what forbids to rank the systems: other parts, or what differs in any of their parts."""
    count = len({one.of for one in submissions})
    reasons: list[str] = []
    for of_part in grouped(submissions, lambda one: one.part).values():
        if len(of_part) < count:
            return ["parts"]
        reasons += why_not_rankable(systems[one.name].basis for one in of_part)
    return list(dict.fromkeys(reasons))


def _averages(
    parts: Sequence[tuple[Results, System]], keys: Iterable[Key], *, are_independent: bool
) -> Results:
    """Return the means of the parts' values, with limits if the parts have them and are independent."""
    results, first = parts[0]
    level = first.options.confidence_level
    notes = []
    inferences = []
    if level is not None:
        if are_independent:
            inferences = [_inferences(*part) for part in parts]
        else:
            notes.append(Note("groups_in_several_parts"))
    averages = {}
    for key in keys:
        values = [of_part.estimates[key].value for of_part, _ in parts]
        known = [inference[key] for inference in inferences if key in inference]
        limits = _limits(known, len(parts), level)
        averages[key] = Estimate(math.fsum(values) / len(values), *limits)
        missing = sum(map(math.isnan, values))
        if missing:
            fields = {"metric": key, "count": missing, "total": len(values)}
            notes.append(Note("average_undefined", fields))
    basis = replace(results.basis, num_samples=len(parts), part=None)
    return Results(averages, tuple(notes), basis)


def _limits(
    known: Sequence[Inference],
    count: int,
    level: float | None,
) -> tuple[float, ...]:
    """Return the limits of a mean of so many parts, if limits are asked for; none that are known of fewer."""
    if level is None:
        return ()
    return average(known).limits(level) if len(known) == count else NO_LIMITS


def _inferences(results: Results, system: System) -> dict[Key, Inference]:
    """Return what is known of each number with an interval of its own."""
    answers = make_answers(system)
    known = {
        key: estimate.value
        for key, estimate in results.estimates.items()
        if math.isfinite(estimate.low or 0.0)
    }
    numbers = make_numbers(answers, known)
    inferred = infer_all([[number] for number in numbers.values()], answers.design)
    return {
        key: inference
        for key, inference in zip(numbers, inferred, strict=True)
        if inference is not None
    }

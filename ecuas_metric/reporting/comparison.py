"""Fair comparisons of systems on the same samples: differences, intervals, paired tests, and what not to compare."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..inputs import Array, FloatOrFloats, Floats, Ints
from ..metrics import METRICS, Key
from ..results import System, all_values, as_given, reordered, resampling_of
from .best import p_values_of_best
from .files import FileAdvice
from .significance import number_of_units, simultaneous_limits, step_down, swap_limits, swap_p_value, swaps_needed
from .swapping import Pair, swap_differences

Values = Mapping[str, Mapping[Key, FloatOrFloats]]
ROUNDING = 1e-12  # differences that are as small, relative to the numbers, are 0
NONE = (math.nan, math.nan)

UNFAIR = (
    "These metrics assess the confidences only, and the systems' answers differ: the confidences are about different "
    "things, and a system can gain by answering worse. Do not rank systems by them."
)


class Comparison(NamedTuple):
    """The difference of one metric between two systems, the first minus the second.

    Attributes
    ----------
    first, second : str
        The systems.
    key : Key
        The metric.
    difference, low, high : float
        With its interval, see `significance.swap_limits`; nan where there is none that would hold.
    p : float
        Two-sided p-value of the swap test of "the systems' outputs are exchangeable", see `swapping.swap_differences`;
        nan where the metric has no value.
    p_adjusted : float
        The same for all pairs and metrics together, see `significance.step_down`.
    fair : bool
        False if the metric assesses the confidences only and the systems' answers differ.
    low_all, high_all : float
        Intervals that hold for all pairs and metrics together, see `significance.simultaneous_limits`.
    p_first_best, p_second_best : float
        The p-value of "by this metric no other system is better than this one", see `best.p_values_of_best`: those
        above alpha are the confidence set for the best system. nan where systems are not ranked by the metric.
    """

    first: str
    second: str
    key: Key
    difference: float
    low: float
    high: float
    p: float
    p_adjusted: float
    fair: bool
    low_all: float = math.nan
    high_all: float = math.nan
    p_first_best: float = math.nan
    p_second_best: float = math.nan


def compare_systems(
    systems: Mapping[str, System], *, progress: bool = False, only: Iterable[Key] | None = None
) -> list[Comparison]:
    """Compare every pair of systems by every metric that both have.

    All numbers are those of one test, the same for every metric: the outputs of the two systems are swapped sample by
    sample. An interval leaves out 0 if and only if its p-value is at most 1 minus its level; there is none of what is
    biased, as ECE is. `docs/statistics.md` says what was simulated, and where the limits are.

    Parameters
    ----------
    systems : mapping of name to System
        Of `confidence_system`, `posterior_system` or `prepare_submissions`, with one ``confidence_level``. They are
        aligned by their ids; where no system has any, samples are paired by their position. The level, the groups
        and the seed are those of the first; there are `n_resamples` swaps, or more if the level needs them, see
        `significance.swaps_needed`.
    progress : bool
        Show a bar on long work.
    only : iterable of Key, optional
        The metrics to compare; by default all.

    Returns
    -------
    list of Comparison
        Pair by pair, in the order of the systems and of their metrics.

    Raises
    ------
    InputError
        If there are fewer than two systems, they have no confidence level, or their samples are not the same.

    References
    ----------
    Those of `swapping`, `significance` and `best`; Estienne et al., section "Empirical analysis", on why metrics of the
    confidences alone do not rank systems.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> correct, options = [1, 1, 0, 1, 0, 1], {"confidence_level": 0.95, "n_resamples": 100}
    >>> systems = {
    ...     "sharp": confidence_system(correct, [0.9, 0.8, 0.2, 0.9, 0.1, 0.7], **options),
    ...     "vague": confidence_system(correct, [0.5, 0.6, 0.5, 0.5, 0.4, 0.5], **options),
    ... }
    >>> row = next(row for row in compare_systems(systems) if str(row.key) == "ecuas_1")
    >>> round(row.difference, 4), row.high < 0, row.fair
    (-0.1867, True, True)
    """
    if len(systems) < 2:
        raise InputError("a comparison", "needs at least two systems", value=len(systems))
    if any(system.options.confidence_level is None for system in systems.values()):
        raise InputError("confidence_level", "is missing: the level of the intervals of differences")
    aligned, asked = align(systems), None if only is None else list(only)
    values = {name: all_values(system, only=asked) for name, system in aligned.items()}
    reference = next(iter(aligned.values()))
    resampling = resampling_of(as_given(reference)[1])._replace(n_resamples=swaps_needed(reference.options))
    swapped = {
        pair: {key: _without_rounding(after, *(values[name][key] for name in pair)) for key, after in found.items()}
        for pair, found in swap_differences(aligned, values, resampling=resampling, progress=progress).items()
    }
    rows = [row for pair, found in swapped.items() for row in _compare_pair(pair, aligned, values, found)]
    after = [swapped[row.first, row.second][row.key] for row in rows]
    rows = _all_together(rows, after, reference.options.confidence_level or 0.0, _units(reference))
    return _with_best(rows, swapped)


def align(systems: Mapping[str, System]) -> dict[str, System]:
    """Put the samples of all systems in the order in which the first system's were given.

    Parameters
    ----------
    systems : mapping of name to System

    Returns
    -------
    dict of name to System
        As if the samples had been given in that order.

    Raises
    ------
    InputError
        If ids are missing for some systems only, repeated, or not the same; or without ids, if the numbers of
        samples or the true classes differ.
    """
    (first, reference), *others = systems.items()
    aligned = {first: reference}
    for name, system in others:
        if (system.ids is None) != (reference.ids is None):
            raise InputError(
                f"{first} and {name}",
                "cannot be paired: only one of them has sample ids",
                advice=FileAdvice.BY_POSITION,
            )
        if system.ids is not None and reference.ids is not None:
            rows = _order_of(name, system.ids, first, reference.ids)
            system = reordered(system, rows) if (rows[1:] < rows[:-1]).any() else system
        _same_samples(first, reference, name, system)
        aligned[name] = system
    return aligned


def same_answers(systems: Mapping[str, System]) -> bool:
    """Return whether the answers of all systems have the same costs, sample by sample.

    Parameters
    ----------
    systems : mapping of name to System
        Not empty; aligned by `align`.

    Returns
    -------
    bool
        False also where their samples are not the same.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> correct = [1, 0]
    >>> same_answers({"a": confidence_system(correct, [0.9, 0.1]), "b": confidence_system(correct, [0.6, 0.5])})
    True
    """
    try:
        first, *others = (as_given(system)[0].candidate_cost for system in align(systems).values())
    except InputError:
        return False  # not even the same samples
    return all(np.array_equal(first, other) for other in others)


def is_fair(key: Key, *, have_same_answers: bool) -> bool:
    """Return whether systems may be ranked by a number: not if it says nothing of answers that differ.

    Parameters
    ----------
    key : Key
    have_same_answers : bool
        See `same_answers`.

    Returns
    -------
    bool

    References
    ----------
    Estienne et al., section "Empirical analysis".

    Examples
    --------
    >>> is_fair(Key("ece"), have_same_answers=False), is_fair(Key("ecuas", 1.0), have_same_answers=False)
    (False, True)
    """
    return have_same_answers or key.assesses != "confidences"


def is_biased(key: Key) -> bool:
    """Return whether a number is biased by more than an interval is wide: ECE, and calibration losses."""
    return key.metric == "ece" or key.variant == "calibration_loss"


def _compare_pair(
    pair: Pair, systems: Mapping[str, System], values: Values, swapped: Mapping[Key, Floats]
) -> list[Comparison]:
    """Return the comparisons of a pair; the p-value and the interval of each on its own."""
    first, second = pair
    options = systems[first].options
    design = {"level": options.confidence_level or 0.0, "num_units": _units(systems[first])}
    alike = same_answers({name: systems[name]._replace(ids=None) for name in pair})
    rows = []
    for key, after in swapped.items():
        a, b = float(values[first][key]), float(values[second][key])
        difference, rounding = _difference(a, b), ROUNDING * (abs(a) + abs(b))
        p = swap_p_value(difference, after, rounding=rounding)
        limits = NONE if is_biased(key) else swap_limits(difference, after, rounding=rounding, **design)
        rows.append(Comparison(*pair, key, difference, *limits, p, p, is_fair(key, have_same_answers=alike)))
    return rows


def _all_together(
    rows: list[Comparison], swapped: Sequence[Floats], level: float, num_units: float
) -> list[Comparison]:
    """Return the comparisons with the p-values and the intervals that hold for all of them."""
    differences = np.array([row.difference for row in rows])
    adjusted = step_down(differences, swapped, np.array([row.p for row in rows]))
    limits = simultaneous_limits(differences, swapped, level=level, num_units=num_units)
    limits = [NONE if is_biased(row.key) else of_row for row, of_row in zip(rows, limits, strict=True)]
    return [
        row._replace(p_adjusted=float(p), low_all=low, high_all=high)
        for row, p, (low, high) in zip(rows, adjusted, limits, strict=True)
    ]


def _with_best(rows: list[Comparison], swapped: Mapping[Pair, Mapping[Key, Floats]]) -> list[Comparison]:
    """Return the comparisons with the p-values of their systems to be the best of all, where the metric ranks them."""
    found: dict[Key, dict[str, float]] = {}
    for key in dict.fromkeys(row.key for row in rows):
        of_key = [row for row in rows if row.key == key]
        better = METRICS[key.metric].higher_is_better
        if better is not None and all(row.fair for row in of_key):
            differences = {(row.first, row.second): row.difference for row in of_key}
            after = {pair: swapped[pair][key] for pair in differences}
            found[key] = p_values_of_best(differences, after, higher_is_better=better)
    none: dict[str, float] = {}
    return [
        row._replace(
            p_first_best=found.get(row.key, none).get(row.first, math.nan),
            p_second_best=found.get(row.key, none).get(row.second, math.nan),
        )
        for row in rows
    ]


def _units(system: System) -> float:
    options = as_given(system)[1]
    return number_of_units(len(system.decisions.uncertainty), options)


def _without_rounding(after: Floats, a: FloatOrFloats, b: FloatOrFloats) -> Floats:
    """Return differences of a metric after swaps, and exactly 0 where they are rounding of its values a and b."""
    return np.where(np.abs(after) <= ROUNDING * (abs(a) + abs(b)), 0.0, after)


def _difference(a: float, b: float) -> float:
    """Return a - b, and exactly 0 where they differ by rounding only."""
    return 0.0 if math.isclose(a, b, rel_tol=ROUNDING) else a - b


def _order_of(name: str, ids: Sequence[str], first: str, expected: Sequence[str]) -> Ints:
    for system, values in ((first, expected), (name, ids)):
        if len(set(values)) < len(values):
            repeated = Counter(values).most_common(1)[0][0]
            raise InputError(f"{system}: sample ids", "must be unique", value=repeated, got=f"{repeated!r} repeatedly")
    where = {value: position for position, value in enumerate(ids)}
    missing = [value for value in expected if value not in where]
    extra = set(ids) - set(expected)
    if missing or extra:
        offender = f"{missing[0]!r} is not in {name}" if missing else f"{min(map(repr, extra))} is not in {first}"
        rule = (
            f"have different samples, and cannot be compared: {offender} ({len(missing)} missing, {len(extra)} extra)"
        )
        raise InputError(f"{first} and {name}", rule, advice=FileAdvice.COMMON)
    return np.array([where[value] for value in expected])


def _same_samples(first: str, reference: System, name: str, system: System) -> None:
    both = f"{first} and {name}"
    (ours, our_options), (theirs, their_options) = as_given(reference), as_given(system)
    sizes = len(ours.uncertainty), len(theirs.uncertainty)
    if sizes[0] != sizes[1]:
        raise InputError(both, f"cannot be paired: they have {sizes[0]} and {sizes[1]} samples")
    if ours.max_uncertainty != theirs.max_uncertainty:
        raise InputError(both, "cannot be compared: they have different numbers of classes or costs")
    for what, one, other in (
        ("true classes", ours.labels, theirs.labels),
        ("weights", our_options.sample_weight, their_options.sample_weight),
        ("groups", our_options.groups, their_options.groups),
        ("strata", our_options.strata, their_options.strata),
    ):
        _same_values(both, what, one, other)


def _same_values(both: str, what: str, one: Array | None, other: Array | None) -> None:
    if (one is None) != (other is None):
        raise InputError(both, f"cannot be paired: only one of them has {what}")
    if one is not None and other is not None:
        same = np.isclose(one, other, rtol=1e-12, atol=0)  # the scale of weights rounds by the order of the rows
        if not same.all():
            raise InputError(both, f"cannot be paired: their {what} differ, first at sample {int(np.argmin(same))}")

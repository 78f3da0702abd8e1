"""Fair comparisons of systems on the same samples: differences, intervals, paired tests, and what not to compare."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..analytic import design_of, limits_of_difference
from ..errors import InputError
from ..influence import influences
from ..inputs import Array, FloatOrFloats, Floats, Ints
from ..intervals import bootstrap, interval
from ..metrics import Key
from ..ranking import positions
from ..results import System, all_values, as_given, reordered, resampling_of
from .files import FileAdvice
from .significance import step_down, swap_differences, swap_p_value

Values = Mapping[str, Mapping[Key, FloatOrFloats]]
LimitsOf = Callable[[str, str], dict[Key, tuple[float, float]]]

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
        With its interval; nan where there is none that would hold.
    p : float
        Two-sided p-value of the swap test of "the systems' outputs are exchangeable", see
        `significance.swap_differences`; nan where the metric has no value.
    p_adjusted : float
        The same for all pairs and metrics together, see `significance.step_down`.
    fair : bool
        False if the metric assesses the confidences only and the systems' answers differ.
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


def compare_systems(
    systems: Mapping[str, System], *, progress: bool = False, only: Iterable[Key] | None = None
) -> list[Comparison]:
    """Compare every pair of systems by every metric that both have.

    The p-values are those of one test, the same for every metric: the outputs of the two systems are swapped sample by
    sample. The intervals are of the size of the difference, and come from resampling the samples (or from theory). So
    the two may disagree about 0 where a p-value is near the level, and where errors are few: then the p-value is right,
    whatever their number, and the interval too narrow.

    Parameters
    ----------
    systems : mapping of name to System
        Of `confidence_system`, `posterior_system` or `prepare_submissions`, with one ``confidence_level``. They are
        aligned by their ids; where no system has any, samples are paired by their position. The kind of interval, the
        resamples and the number of swaps are those of the first. The least p-value is 1 / (n_resamples + 1), adjusted
        or not.
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
    Estienne et al., section "Empirical analysis", on why metrics of the confidences alone do not rank systems.

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
    from tqdm.auto import tqdm

    aligned, asked = align(systems), None if only is None else list(only)
    values = {name: all_values(system, only=asked) for name, system in aligned.items()}
    limits = _limits_of_differences(aligned, values, progress, asked)
    rows, swapped = [], []
    for first, second in tqdm(list(itertools.combinations(aligned, 2)), desc="pairs", delay=1, disable=not progress):
        of_pair, of_swaps = _compare_pair(first, second, aligned, values, limits)
        rows += of_pair
        swapped += of_swaps
    adjusted = step_down(np.array([row.difference for row in rows]), swapped, np.array([row.p for row in rows]))
    return [row._replace(p_adjusted=float(p)) for row, p in zip(rows, adjusted, strict=True)]


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


def _compare_pair(
    first: str, second: str, systems: Mapping[str, System], values: Values, limits: LimitsOf
) -> tuple[list[Comparison], list[Floats]]:
    """Return the comparisons of a pair, and the differences after swaps of each."""
    one, other = systems[first], systems[second]
    both = [key for key in values[first] if key in values[second]]
    swapped = swap_differences(one, other, resampling=resampling_of(one.options), only=both)
    between = limits(first, second)
    alike = same_answers({first: one._replace(ids=None), second: other._replace(ids=None)})
    rows, differences = [], []
    for key in both:
        a, b = float(values[first][key]), float(values[second][key])
        difference, rounding = float(_difference(a, b)), 1e-12 * (abs(a) + abs(b))
        differences.append(np.where(np.abs(swapped[key]) <= rounding, 0.0, swapped[key]))
        p = swap_p_value(difference, differences[-1], rounding=rounding)
        fair = is_fair(key, have_same_answers=alike)
        rows.append(Comparison(first, second, key, difference, *between[key], p, p, fair))
    return rows, differences


def _limits_of_differences(
    systems: Mapping[str, System], values: Values, progress: bool, only: Sequence[Key] | None
) -> LimitsOf:
    """Return what gives the limits of the difference of each metric between two systems."""
    reference = next(iter(systems.values()))
    level = reference.options.confidence_level or 0.0
    if reference.options.interval_method == "analytic":
        everything = values if only is None else {name: all_values(system) for name, system in systems.items()}
        return _analytic_limits(systems, everything)
    replicates = _replicates(systems, progress, only)

    def limits(first: str, second: str) -> dict[Key, tuple[float, float]]:
        ours, theirs = replicates[first], replicates[second]
        both = {key: _difference(ours[key], theirs[key]) for key in ours if key in theirs}
        return {key: interval(difference, confidence_level=level) for key, difference in both.items()}

    return limits


def _replicates(
    systems: Mapping[str, System], progress: bool, only: Sequence[Key] | None
) -> dict[str, dict[Key, Floats]]:
    """Return every metric of every system in the same resamples, drawn of the first one's samples in its order."""
    reference = next(iter(systems.values()))
    drawn = _position(reference)
    position = {name: drawn[_order(system)] for name, system in systems.items()}
    flat = bootstrap(
        lambda resamples: {
            (name, key): np.asarray(value)
            for name, system in systems.items()
            for key, value in all_values(system, resamples[:, position[name]], only).items()
        },
        len(reference.decisions.uncertainty),
        resampling=resampling_of(reference.options),
        progress=progress,
    )
    found: dict[str, dict[Key, Floats]] = {name: {} for name in systems}
    for (name, key), replicates in flat.items():
        found[name][key] = replicates
    return found


def _analytic_limits(systems: Mapping[str, System], values: Values) -> LimitsOf:
    """Return the t interval of a difference from the difference of the influences of each sample."""
    found = {name: _influences_as_given(system, values[name]) for name, system in systems.items()}
    options = as_given(next(iter(systems.values())))[1]
    design = design_of(options, len(next(iter(systems.values())).decisions.uncertainty))
    level = options.confidence_level or 0.0

    def limits(first: str, second: str) -> dict[Key, tuple[float, float]]:
        both = {}
        for key in (key for key in found[first] if key in found[second]):
            difference = float(_difference(values[first][key], values[second][key]))
            changed = found[first][key] - found[second][key]
            both[key] = limits_of_difference(key, difference, changed, design, level)
        return both

    return limits


def _influences_as_given(system: System, values: Mapping[Key, FloatOrFloats]) -> dict[Key, Floats]:
    position = _position(system)
    found = influences(system.decisions, system.ties, system.options, values)
    return {key: influence[position] for key, influence in found}


def _difference(a: FloatOrFloats, b: FloatOrFloats) -> Floats:
    """Return a - b, and exactly 0 where they differ by rounding only: a test counts what lies at or beyond 0."""
    return np.where(np.isclose(a, b, rtol=1e-12, atol=0), 0.0, np.asarray(a) - b)


def _order(system: System) -> Ints:
    return np.arange(len(system.decisions.uncertainty)) if system.order is None else system.order


def _position(system: System) -> Ints:
    """Return where each sample, in the order given, is among the system's own."""
    return positions(_order(system))


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

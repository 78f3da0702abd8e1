"""Fair comparisons of systems on the same samples: differences, intervals, paired tests, and what not to compare."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..inputs import Array, Floats, Ints
from ..intervals import bootstrap, interval
from ..metrics import METRICS, Key, sample_costs
from ..results import System, all_values, as_given, reordered, resampling_of
from .files import FileAdvice
from .significance import bootstrap_p_value, holm, sign_flip_p_values

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
        With its bootstrap interval.
    p_bootstrap, p_sign_flip : float
        Two-sided p-values of "no difference"; the second one is nan except for metrics that are means.
    p_holm : float
        The sign-flip p-value, or else the bootstrap's, corrected for the number of pairs.
    fair : bool
        False if the metric assesses the confidences only and the systems' answers differ.
    """

    first: str
    second: str
    key: Key
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_sign_flip: float
    p_holm: float
    fair: bool


def compare_systems(
    systems: Mapping[str, System], *, progress: bool = False, only: Iterable[Key] | None = None
) -> list[Comparison]:
    """Compare every pair of systems by every metric that both have.

    Parameters
    ----------
    systems : mapping of name to System
        Of `confidence_system`, `posterior_system` or `prepare_submissions`, with one ``confidence_level``. They are
        aligned by their ids; where no system has any, samples are paired by their position. The resampling is that of
        the first.
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
    aligned, asked = align(systems), None if only is None else list(only)
    rows = [
        row
        for first, second in itertools.combinations(aligned, 2)
        for row in _compare_pair(first, aligned[first], second, aligned[second], progress, asked)
    ]
    return _corrected(rows)


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
    first: str, one: System, second: str, other: System, progress: bool, only: Sequence[Key] | None
) -> list[Comparison]:
    # Resamples are drawn of the first system's samples in its own order; `position` is where the other's are there.
    position = _position(one)[_order(other)]
    ones = np.ones((1, len(position)))

    def differences(resamples: Floats) -> dict[Key, Floats]:
        a, b = all_values(one, resamples, only), all_values(other, resamples[:, position], only)
        return {key: _difference(a[key], b[key]) for key in a if key in b}

    replicates = bootstrap(differences, ones.shape[1], resampling=resampling_of(one.options), progress=progress)
    observed = {key: float(value[0]) for key, value in differences(ones).items()}
    flips = _sign_flips(one, other)
    level = one.options.confidence_level or 0.0
    alike = same_answers({first: one._replace(ids=None), second: other._replace(ids=None)})
    return [
        Comparison(
            first,
            second,
            key,
            observed[key],
            *interval(values, confidence_level=level),
            bootstrap_p_value(values),
            flips.get(key, math.nan),
            math.nan,
            is_fair(key, have_same_answers=alike),
        )
        for key, values in replicates.items()
    ]


def _difference(a: Floats, b: Floats) -> Floats:
    """Return a - b, and exactly 0 where they differ by rounding only: a test counts what lies at or beyond 0."""
    return np.where(np.isclose(a, b, rtol=1e-12, atol=0), 0.0, a - b)


def _sign_flips(one: System, other: System) -> dict[Key, float]:
    """Return the sign-flip p-value of every metric that is a plain mean of a per-sample cost."""
    first, options = as_given(one)
    ours, theirs = (dict(sample_costs(decisions, options)) for decisions in (first, as_given(other)[0]))
    keys = [key for key in ours if key in theirs and METRICS[key.metric].is_shown]
    differences = np.stack([ours[key] - theirs[key] for key in keys], axis=-1)
    if options.sample_weight is not None:
        differences *= options.sample_weight[:, None]
    p_values = sign_flip_p_values(differences, resampling=resampling_of(options))
    return dict(zip(keys, p_values.tolist(), strict=True))


def _corrected(rows: list[Comparison]) -> list[Comparison]:
    """Correct the p-values of each metric for the number of pairs it is compared in."""
    corrected: dict[int, float] = {}
    for key in dict.fromkeys(row.key for row in rows):
        of_key = [(i, row) for i, row in enumerate(rows) if row.key == key]
        p = [row.p_bootstrap if math.isnan(row.p_sign_flip) else row.p_sign_flip for _, row in of_key]
        corrected |= {i: float(value) for (i, _), value in zip(of_key, holm(p), strict=True)}
    return [row._replace(p_holm=corrected[i]) for i, row in enumerate(rows)]


def _order(system: System) -> Ints:
    return np.arange(len(system.decisions.uncertainty)) if system.order is None else system.order


def _position(system: System) -> Ints:
    """Return where each sample, in the order given, is among the system's own."""
    order = _order(system)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position


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

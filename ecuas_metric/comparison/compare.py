"""Comparisons of systems on the same samples: differences, intervals, paired tests, and what not to compare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import FileAdvice, InputError
from ..inputs import Array, FloatOrFloats, Floats
from ..intervals import is_biased
from ..metrics import METRICS, Key
from ..results import System, all_values, as_given, named_systems, reordered, resampling_of
from .pairing import order_of
from .permutation import Pair, permuted_differences
from .significance import (
    adjusted_p_values,
    number_of_units,
    p_values_of_best,
    permutation_limits,
    permutation_p_values,
    permutations_needed,
    simultaneous_limits,
)

if TYPE_CHECKING:
    from pandas import DataFrame

Values = Mapping[str, Mapping[Key, FloatOrFloats]]
ROUNDING = 1e-12  # differences that are as small, relative to the numbers, are 0

NOT_COMPARABLE = (
    "These metrics assess the confidences only, and the systems' answers differ: the confidences are about different "
    "things, and a system can gain by answering worse. Do not rank systems by them."
)


class Comparison(NamedTuple):
    """The difference of one metric between two systems, the first minus the second."""

    first: str
    second: str
    key: Key
    difference: float
    low: float  # see `significance.permutation_limits`; nan where no interval is valid
    high: float
    p: float  # two-sided, of the paired permutation test, see `permutation.permuted_differences`; nan without a value
    p_adjusted: float  # for all pairs and metrics together, see `significance.adjusted_p_values`
    comparable: bool  # False if the metric assesses the confidences only and the systems' answers differ
    low_all: float = math.nan  # simultaneous for all pairs and metrics, see `significance.simultaneous_limits`
    high_all: float = math.nan
    p_first_best: float = math.nan  # see `significance.p_values_of_best`; nan if not ranked by this metric
    p_second_best: float = math.nan
    first_value: float = math.nan
    second_value: float = math.nan

    @property
    def values(self) -> tuple[float, float]:
        """The metric of the first system and of the second."""
        return self.first_value, self.second_value

    def turned(self) -> Comparison:
        """Return the same comparison, the second minus the first."""
        return self._replace(
            first=self.second,
            second=self.first,
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
            low_all=-self.high_all,
            high_all=-self.low_all,
            p_first_best=self.p_second_best,
            p_second_best=self.p_first_best,
            first_value=self.second_value,
            second_value=self.first_value,
        )

    def __str__(self) -> str:
        """Return one line: the metric, the difference with its interval, and its adjusted p-value."""
        numbers = f"{self.difference:+.4g} [{self.low:+.4g}, {self.high:+.4g}], adjusted p = {self.p_adjusted:.3g}"
        return f"{self.key}: {self.first} - {self.second} = {numbers}"


class Comparisons(list[Comparison]):
    """Comparisons of pairs of systems, metric by metric, that print as lines and show as a table in notebooks."""

    def __repr__(self) -> str:
        """Return one line for each comparison."""
        return "\n".join(map(str, self))

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each comparison, the metric as text."""
        import pandas as pd

        return pd.DataFrame([{**row._asdict(), "key": str(row.key)} for row in self])

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False))


def compare_systems(
    systems: Mapping[str, System] | Iterable[System],
    *,
    progress: bool = False,
    only: Iterable[Key] | None = None,
    by_metric: bool = False,
) -> Comparisons:
    """Compare every pair of systems by every metric that both have.

    All numbers are those of one test, the same for every metric: the outputs of the two systems are exchanged sample
    by sample at random. An interval leaves out 0 if and only if its p-value is at most 1 minus its level; there is none
    of what is biased, as ECE is. `docs/statistics.md` says what was simulated, and where the limits are.

    Parameters
    ----------
    systems : mapping of name to System, or iterable of System
        Of `confidence_system`, `posterior_system` or `prepare_submissions`, with one ``confidence_level``. They are
        aligned by their ids; where no system has any, samples are paired by their position. The level, the groups
        and the seed are those of the first; there are `n_resamples` permutations, or more if the level needs them, see
        `significance.permutations_needed`.
    progress : bool
        Show a bar on long work.
    only : iterable of Key, optional
        The metrics to compare; by default all.
    by_metric : bool
        Whether `p_adjusted` holds for all pairs by each metric alone, for who asks about one of many metrics; by
        default it holds for all pairs and metrics together.

    Returns
    -------
    Comparisons
        A list of Comparison, pair by pair, in the order of the systems and of their metrics.

    Raises
    ------
    InputError
        If there are fewer than two systems, they have no confidence level, or their samples are not the same.

    References
    ----------
    Those of `permutation` and `significance`; Estienne et al., section "Empirical analysis", on why metrics of the
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
    >>> round(row.difference, 4), row.high < 0, row.comparable
    (-0.1867, True, True)
    """
    systems = named_systems(systems)
    if len(systems) < 2:
        raise InputError("a comparison", "needs at least two systems", value=len(systems))
    if any(system.options.confidence_level is None for system in systems.values()):
        raise InputError("confidence_level", "is missing: the level of the intervals of differences")
    aligned, asked = align(systems), None if only is None else list(only)
    values = {name: all_values(system, only=asked) for name, system in aligned.items()}
    reference = next(iter(aligned.values()))
    resampling = resampling_of(as_given(reference)[1])._replace(n_resamples=permutations_needed(reference.options))
    permuted = permuted_differences(aligned, values, resampling=resampling, progress=progress)
    return Comparisons(_tested(permuted, values, aligned, by_metric=by_metric))


def best_systems(rows: Iterable[Comparison], *, level: float) -> dict[Key, list[str]]:
    """Return the confidence set for the best system, by each metric that ranks systems, from all pairs' comparisons.

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
        if not math.isnan(row.p_first_best):
            found.setdefault(row.key, {}).update({row.first: row.p_first_best, row.second: row.p_second_best})
    return {key: [name for name, p in of_key.items() if p > 1 - level] for key, of_key in found.items()}


def align(systems: Mapping[str, System]) -> dict[str, System]:
    """Return the systems with their samples in the input order of the first system's, matched by id, else by position.

    Raises InputError if ids are repeated, differ or exist for some systems only; or, without ids, if the numbers of
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
            rows = order_of(name, system.ids, first, reference.ids)
            if (rows[1:] < rows[:-1]).any():
                system = reordered(system._replace(ids=None), rows)._replace(ids=reference.ids)
        _same_samples(first, reference, name, system)
        aligned[name] = system
    return aligned


def same_answers(systems: Mapping[str, System]) -> bool:
    """Return whether the answers of all systems, aligned by `align`, have the same costs; False for different samples.

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


def is_comparable(key: Key, *, have_same_answers: bool) -> bool:
    """Return whether a number may rank systems: not if it ignores answers that differ.

    Estienne et al., section "Empirical analysis".

    >>> is_comparable(Key("ece"), have_same_answers=False), is_comparable(Key("ecuas", 1.0), have_same_answers=False)
    (False, True)
    """
    return have_same_answers or key.assesses != "confidences"


def _tested(
    permuted: Mapping[Pair, Mapping[Key, Floats]], values: Values, systems: Mapping[str, System], *, by_metric: bool
) -> list[Comparison]:
    """Return the comparisons with p-values and intervals: of each alone, and of all together."""
    which = [(pair, key) for pair, found in permuted.items() for key in found]
    ours, theirs = np.array([[float(values[name][key]) for name in pair] for pair, key in which]).reshape(-1, 2).T
    rounding = ROUNDING * (np.abs(ours) + np.abs(theirs))
    differences = _unless_rounding(ours - theirs, rounding)
    after = _unless_rounding(np.array([permuted[pair][key] for pair, key in which]), rounding[:, None])
    costs = {name: as_given(system)[0].candidate_cost for name, system in systems.items()}
    alike = {(first, second): np.array_equal(costs[first], costs[second]) for first, second in permuted}
    comparable = [is_comparable(key, have_same_answers=alike[pair]) for pair, key in which]
    best = _best(which, differences, after, comparable)
    numbers = _numbers(which, differences, after, rounding, next(iter(systems.values())), by_metric=by_metric)
    rows = []
    of_systems = zip(ours.tolist(), theirs.tolist(), strict=True)
    for (pair, key), is_row_comparable, row, both in zip(which, comparable, numbers.tolist(), of_systems, strict=True):
        # nan is one object here, so that equal comparisons are equal.
        difference, low, high, p, adjusted, *together = (math.nan if math.isnan(number) else number for number in row)
        places = (best[key].get(name, math.nan) for name in pair)
        row_of = Comparison(*pair, key, difference, low, high, p, adjusted, is_row_comparable, *together, *places)
        rows.append(row_of._replace(first_value=both[0], second_value=both[1]))
    return rows


def _numbers(
    which: Sequence[tuple[Pair, Key]],
    differences: Floats,
    after: Floats,
    rounding: Floats,
    system: System,
    *,
    by_metric: bool,
) -> Floats:
    """Return difference, low, high, p, p_adjusted, low_all and high_all of each row."""
    options = as_given(system)[1]
    level, units = options.confidence_level or 0.0, number_of_units(len(system.decisions.uncertainty), options)
    # Ranks and confidences permuted together reject 10 % of equal calibration losses where errors are rare: no test.
    tested = np.where([key.variant == "calibration_loss" for _, key in which], np.nan, differences)
    p = permutation_p_values(tested, after, rounding=rounding)
    alone = permutation_limits(differences, after, level=level, num_units=units, rounding=rounding)
    together = simultaneous_limits(tested, after, level=level, num_units=units)
    biased = [is_biased(key) for _, key in which]
    limits = np.where(biased, np.nan, np.stack([*alone, *together]))
    adjusted = p.copy()
    for rows in _rows_of(which).values() if by_metric else [list(range(len(which)))]:
        adjusted[rows] = adjusted_p_values(tested[rows], after[rows], p[rows])
    return np.stack([differences, *limits[:2], p, adjusted, *limits[2:]], axis=-1)


def _best(
    which: Sequence[tuple[Pair, Key]], differences: Floats, permuted: Floats, comparable: Sequence[bool]
) -> dict[Key, dict[str, float]]:
    """Return the p-values of the systems to be the best of all, by each metric that ranks them."""
    rows = _rows_of(which)
    found: dict[Key, dict[str, float]] = {key: {} for key in rows}
    for key, indices in rows.items():
        better = METRICS[key.metric].higher_is_better
        if better is not None and all(comparable[index] for index in indices):
            pairs = [which[index][0] for index in indices]
            found[key] = p_values_of_best(pairs, differences[indices], permuted[indices], higher_is_better=better)
    return found


def _rows_of(which: Sequence[tuple[Pair, Key]]) -> dict[Key, list[int]]:
    """Return the rows of each metric."""
    rows: dict[Key, list[int]] = {}
    for index, (_, key) in enumerate(which):
        rows.setdefault(key, []).append(index)
    return rows


def _unless_rounding(differences: Floats, rounding: Floats) -> Floats:
    """Return differences, and exactly 0 where they are no more than rounding."""
    return np.where(np.abs(differences) <= rounding, 0.0, differences)


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

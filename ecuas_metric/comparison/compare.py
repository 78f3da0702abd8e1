"""Comparisons of systems on the same samples: differences, intervals, paired tests, and what not to compare."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..basis import Basis, Purpose, may_rank, why_not_comparable
from ..designs import Design, design_of_options
from ..errors import InputError, Note
from ..files.submissions import Submission
from ..files.values import TEXT, from_numpy, from_values, positions_in, texts_in
from ..inference import (
    DRAWS,
    Inference,
    Number,
    adjusted_p_values,
    deviates,
    difference,
    influence_of,
    p_value_of_best,
    simultaneous_level,
    standardized,
)
from ..inputs import Bools, Floats, Ints
from ..intervals import numbers_of
from ..metric import Key
from ..metrics import Values
from ..ranking import positions
from ..results import System, all_values, as_given, named_systems, reordered, select_options, without_weight_0
from ..sampling import NONE

if TYPE_CHECKING:
    from pandas import DataFrame

_ROUNDING = 1e-12  # differences that are as small, relative to the numbers, are 0
NOT_COMPARABLE = (
    "These metrics assess the confidences only, and the systems' answers differ: the confidences are about different "
    "things, and a system can gain by answering worse. Do not rank systems by them."
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of one metric between two systems, the first minus the second."""

    first: str
    second: str
    key: Key
    difference: float
    low: float  # see `inference.difference`; nan where no interval is valid
    high: float
    p: float  # two-sided: 1 minus the level at which the interval touches 0; nan without one
    p_adjusted: float  # for all pairs and metrics together, see `inference.adjusted_p_values`
    comparable: bool  # False if the metric assesses the confidences only and the systems' answers differ
    low_all: float = math.nan  # simultaneous for all pairs and metrics, see `inference.simultaneous_level`
    high_all: float = math.nan
    p_first_best: float = math.nan  # see `inference.p_value_of_best`; nan if not ranked by this metric
    p_second_best: float = math.nan
    first_value: float = math.nan
    second_value: float = math.nan

    def turned(self) -> Comparison:
        """Return the same comparison, second minus first."""
        return replace(
            self,
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


def fields_of(row: Any) -> dict[str, object]:
    """Return the fields of a comparison or a plan, with the key of its metric as text."""
    return {field.name: getattr(row, field.name) for field in fields(row)} | {"key": str(row.key)}


class Comparisons(list[Comparison]):
    """Comparisons of pairs of systems, metric by metric, that print as lines and show as a table in notebooks."""

    def __repr__(self) -> str:
        """Return one line for each comparison."""
        return "\n".join(map(str, self))

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each comparison, the metric as text."""
        import pandas as pd

        return pd.DataFrame([fields_of(row) for row in self])

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False))


def compare_systems(
    systems: Mapping[str, System] | Iterable[System],
    *,
    only: Iterable[Key] | None = None,
    by_metric: bool = False,
) -> Comparisons:
    """Compare every pair of systems by every metric that both have.

    A difference is inferred as a number of one system is, from the differences of the influences of the samples, as if
    one more sample had been seen. An interval leaves out 0 if and only if its p-value is less than 1 minus its level;
    there is neither of what is biased, as ECE is. `docs/statistics.md` says what was simulated.

    Parameters
    ----------
    systems : mapping of name to System, or iterable of System
        Of `confidence_system`, `posterior_system` or `prepare_submissions`, with one ``confidence_level``. They are
        aligned by their ids; where no system has any, samples are paired by their position. The level, the groups
        and the seed are those of the first.
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
    Those of `inference`; Estienne et al., section "Empirical analysis", on why metrics of the
    confidences alone do not rank systems.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> correct, options = [1, 1, 0, 1, 0, 1], {"confidence_level": 0.95}
    >>> systems = {
    ...     "sharp": confidence_system(correct, [0.9, 0.8, 0.2, 0.9, 0.1, 0.7], **options),
    ...     "vague": confidence_system(correct, [0.5, 0.6, 0.5, 0.5, 0.4, 0.5], **options),
    ... }
    >>> row = next(row for row in compare_systems(systems) if str(row.key) == "ecuas_1")
    >>> round(row.difference, 4), row.low < row.difference < row.high, row.comparable
    (-0.1867, True, True)
    """
    systems = named_systems(systems)
    if len(systems) < 2:
        raise InputError("a comparison", "needs_two_systems", value=len(systems))
    if any(system.options.confidence_level is None for system in systems.values()):
        raise InputError("confidence_level", "level_missing")
    aligned = align(systems)
    asked = None if only is None else list(only)
    values = {name: all_values(system, only=asked) for name, system in aligned.items()}
    return Comparisons(_Family(aligned, values).comparisons(by_metric=by_metric))


def basis_of_comparison(system: System) -> Basis:
    """Return what the differences of a system to others depend on: draws that all metrics share."""
    return replace(
        system.basis, interval_method=None, draws=None, permutations=f"{DRAWS}/{system.options.random_state}"
    )


def align(systems: Mapping[str, System]) -> dict[str, System]:
    """Return the systems with their samples in the input order of the first's, matched by id, else by position."""
    (first, reference), *others = systems.items()
    aligned = {first: reference}
    for name, system in others:
        if (system.ids is None) != (reference.ids is None):
            raise InputError(f"{first} and {name}", "only_one_has", advice="add_ids", what="sample ids")
        if system.ids is not None and reference.ids is not None:
            rows = order_of(name, system.ids, first, reference.ids)
            if (rows[1:] < rows[:-1]).any():
                system = replace(reordered(replace(system, ids=None), rows), ids=reference.ids)
        _require_same_samples(f"{first} and {name}", reference, system)
        aligned[name] = system
    return aligned


def order_of(name: str, ids: Sequence[object], first: str, expected: Sequence[object]) -> Ints:
    """Return the positions of the expected ids in `ids`; InputError if ids are repeated, or not the same."""
    theirs, ours = _of_one_kind(ids, expected)
    for system, values in ((first, ours), (name, theirs)):
        if len(values.unique()) < len(values):
            repeated = next(str(value) for value, count in Counter(values.to_pylist()).items() if count > 1)
            got, advice = f"{repeated!r} repeatedly", "name_whole_id"
            raise InputError(f"{system}: sample ids", "ids_repeated", value=repeated, got=got, advice=advice)
    rows = positions_in(ours, theirs)
    missing, extra = ours.filter(from_numpy(rows < 0)), theirs.filter(from_numpy(positions_in(theirs, ours) < 0))
    if len(missing) or len(extra):
        offender = f"{str(missing[0])!r} is not in {name}" if len(missing) else f"{str(extra[0])!r} is not in {first}"
        advice = "keep_common" if (rows >= 0).any() else "name_ids"
        raise InputError(
            f"{first} and {name}",
            "samples_differ",
            advice=advice,
            offender=offender,
            missing=len(missing),
            extra=len(extra),
        )
    return rows


def in_common(submissions: Sequence[Submission]) -> list[Submission]:
    """Return submissions reduced to the ids that all have, with a note on those left out; InputError if none."""
    without = [submission.name for submission in submissions if submission.ids is None]
    if without:
        raise InputError("in_common", "needs_ids", got=f"none for {without[0]}")
    ids = _of_one_kind(*(submission.ids for submission in submissions if submission.ids is not None))
    shared = reduce(lambda one, other: one.filter(from_numpy(positions_in(one, other) >= 0)), ids)
    if not len(shared):
        raise InputError("in_common", "no_common_id", advice="name_ids")
    return [_keep(submission, positions_in(own, shared) >= 0) for submission, own in zip(submissions, ids, strict=True)]


class _Family:
    """All differences of aligned systems, with the correlations of their errors."""

    def __init__(self, systems: Mapping[str, System], values: Mapping[str, Values]) -> None:
        self.systems = systems
        self.values = values
        self.options = next(iter(systems.values())).options
        self.design = design_of_systems(systems)
        self.numbers = {name: dict(paired_numbers(system, values[name])) for name, system in systems.items()}
        self.rows = [
            (first, second, key)
            for first, second in itertools.combinations(systems, 2)
            for key in values[first]
            if key in values[second]
        ]
        self.inferences = [self._inference(*row) for row in self.rows]
        columns = [(name, key) for name, numbers in self.numbers.items() for key in numbers]
        self.column = {column: index for index, column in enumerate(columns)}
        self.draws = self._draws(columns)

    def comparisons(self, *, by_metric: bool) -> list[Comparison]:
        """Return the comparisons with p-values and intervals: of each alone, and of all together."""
        level = self.options.confidence_level or 0.0
        tested = [index for index, inference in enumerate(self.inferences) if inference is not None]
        p_values = np.array([math.nan if one is None else one.p_value() for one in self.inferences])
        adjusted = p_values.copy()
        for rows in self._rows_of_metrics().values() if by_metric else [np.arange(len(self.rows))]:
            adjusted[rows] = adjusted_p_values(p_values[rows], [partial(self._errors, row) for row in rows.tolist()])
        together = simultaneous_level(level, map(self._errors, tested))
        best = self._best()
        return [self._comparison(index, level, together, p_values, adjusted, best) for index in range(len(self.rows))]

    def _comparison(
        self, index: int, level: float, together: float, p_values: Floats, adjusted: Floats, best: _Best
    ) -> Comparison:
        first, second, key = self.rows[index]
        inference = self.inferences[index]
        ours = float(self.values[first][key])
        theirs = float(self.values[second][key])
        low, high = NONE if inference is None else inference.limits(level)
        low_all, high_all = NONE if inference is None else inference.limits(together)
        return Comparison(
            first=first,
            second=second,
            key=key,
            difference=_one_nan(ours - theirs if inference is None else inference.value),
            low=low,
            high=high,
            p=_one_nan(p_values[index]),
            p_adjusted=_one_nan(adjusted[index]),
            comparable=self._may_rank(first, second, key),
            low_all=low_all,
            high_all=high_all,
            p_first_best=best.get((first, key), math.nan),
            p_second_best=best.get((second, key), math.nan),
            first_value=_one_nan(ours),
            second_value=_one_nan(theirs),
        )

    def _inference(self, first: str, second: str, key: Key) -> Inference | None:
        """Return what is known of a difference; exactly 0 where it is no more than rounding."""
        if not (self.design.tells_errors and key in self.numbers[first] and key in self.numbers[second]):
            return None
        inference = difference(self.numbers[first][key], self.numbers[second][key], self.design)
        sizes = abs(float(self.values[first][key])) + abs(float(self.values[second][key]))
        if inference is None or abs(inference.value) > _ROUNDING * sizes:
            return inference
        return replace(inference, value=0.0)

    def _draws(self, columns: Sequence[tuple[str, Key]]) -> Floats:
        """Return random errors (M, B) of all numbers of all systems."""
        if not columns:
            return np.zeros((0, DRAWS))
        influences = np.stack([influence_of(self.numbers[name][key]) for name, key in columns], axis=1)
        return deviates(influences, self.design, self.options.random_state).T

    def _errors(self, row: int) -> Floats:
        """Return random errors (B,) of a difference, in units of their root mean square."""
        first, second, key = self.rows[row]
        errors = self.draws[self.column[first, key]] - self.draws[self.column[second, key]]
        return standardized(errors, np.random.default_rng((self.options.random_state, row)))

    def _may_rank(self, first: str, second: str, key: Key) -> bool:
        return may_rank(key, [self.systems[first].basis, self.systems[second].basis])

    def _rows_of_metrics(self) -> dict[Key, Ints]:
        """Return the rows of each metric."""
        keys = dict.fromkeys(key for _, _, key in self.rows)
        return {key: np.flatnonzero([key == of_row for _, _, of_row in self.rows]) for key in keys}

    def _best(self) -> _Best:
        """Return the p-value of each system to be the best, by each metric that ranks all of them."""
        found = {}
        for key, rows in self._rows_of_metrics().items():
            sign = {True: 1, False: -1, None: 0}[key.entry.higher_is_better]
            if sign and all(self._may_rank(*self.rows[row]) for row in rows):
                known = [row for row in rows.tolist() if self.inferences[row] is not None]
                for name in self.systems:
                    if any(name in self.rows[row][:2] for row in known):
                        found[name, key] = self._p_of_best(name, known, sign)
        return found

    def _p_of_best(self, name: str, rows: Sequence[int], sign: int) -> float:
        """Return the p-value of "no other system is better than this one"."""
        tails = []
        errors = []
        for row in rows:
            first, second, _ = self.rows[row]
            inference = self.inferences[row]
            if name in (first, second) and inference is not None:
                other_is_first = 1 if name == second else -1
                tail = inference.tail()
                is_better = inference.value * sign * other_is_first > 0
                tails.append(tail if is_better else 1 - tail)
                errors.append(sign * other_is_first * self._errors(row))
        return p_value_of_best(np.array(tails), np.array(errors))


_Best = dict[tuple[str, Key], float]


def paired_numbers(system: System, values: Values) -> Iterator[tuple[Key, Number]]:
    """Yield the numbers of a system, with rows in the order in which its samples were given."""
    decisions, options = without_weight_0(system)
    size = len(system.decisions.uncertainty)
    rows = np.arange(size) if system.order is None else positions(system.order)
    if system.options.sample_weight is not None:
        has_weight = system.options.sample_weight > 0
        rows = (np.cumsum(has_weight) - 1)[rows[has_weight[rows]]]
    return numbers_of(decisions, options, values, rows)


def design_of_systems(systems: Mapping[str, System]) -> Design:
    """Return the design of the samples of aligned systems, in the order in which these were given."""
    _, options = as_given(next(iter(systems.values())))
    size = len(next(iter(systems.values())).decisions.uncertainty)
    rows = np.arange(size) if options.sample_weight is None else np.flatnonzero(options.sample_weight)
    return design_of_options(select_options(options, rows), len(rows))


def _one_nan(value: float) -> float:
    """Return a number, or the one nan, so that equal comparisons are equal."""
    return math.nan if math.isnan(value) else float(value)


def _require_same_samples(both: str, reference: System, system: System) -> None:
    """Raise InputError unless two systems, aligned, may be paired."""
    reasons = why_not_comparable(reference.basis, system.basis, purpose=Purpose.PAIR)
    if reasons:
        raise InputError(both, "not_paired", reasons=reasons)


def _of_one_kind(*ids: Sequence[object] | pa.Array) -> list[pa.Array]:
    """Return ids that can be joined: all whole numbers, or all text."""
    found = [values if isinstance(values, pa.Array) else from_values(list(values)) for values in ids]
    kinds = {values.type for values in found}
    return found if kinds in ({pa.int64()}, {TEXT}) else [texts_in(values) for values in found]


def _keep(submission: Submission, kept: Bools) -> Submission:
    if kept.all():
        return submission
    rows = np.flatnonzero(kept)
    left_out = Note("left_out", {"count": len(kept) - len(rows), "total": len(kept)})
    return submission._replace(
        predictions=submission.predictions[rows],
        references=submission.references[rows],
        ids=None if submission.ids is None else submission.ids.filter(from_numpy(kept)),
        per_sample={name: [values[row] for row in rows] for name, values in submission.per_sample.items()},
        notes=(*submission.notes, left_out),
        source=submission.source._replace(rows=submission.source.rows[rows]),
        unlabelled=submission.unlabelled and submission.unlabelled._replace(rows=submission.unlabelled.rows[rows]),
    )

"""Comparisons of systems on the same samples: differences, intervals, paired tests, and what not to compare.

Of all differences together, each p-value becomes its normal deviate, and is compared with the largest of correlated
normal deviates, whose correlations are those of the influences of the samples. Method: docs/statistics.md.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..basis import FACTS, Basis, Purpose, may_rank, why_not_comparable
from ..errors import InputError, Note
from ..files.submissions import Submission
from ..files.values import TEXT, from_numpy, from_values, positions_in, texts_in
from ..inference import Inference, Number, Unseen, infer, unseen
from ..inputs import NO_LIMITS, Bools, Floats, Ints, Limits, count_up, grouped
from ..intervals import (
    NO_UNITS,
    make_numbers,
    note_few_units,
    note_on,
    notes_unseen,
    why_no_inference,
)
from ..metric import Key
from ..options import effective_weights
from ..results import System, all_values, answers_drawn, named_systems, ranked, reordered

if TYPE_CHECKING:
    from pandas import DataFrame


DRAWS = 10_000  # of the largest of many deviates: a standard error of 0.002 at a level of 0.05
_DEFINITE = 1e-9  # of each variance, added so that rounded covariances of numbers that move together have a factor
_ROUNDING = 1e-12  # differences that are as small, relative to the numbers, are 0


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """The difference of one metric between two systems, the first minus the second, if its error is known."""

    first: str
    second: str
    key: Key
    numbers: Sequence[Number]  # of which it is the sum
    inference: Inference | None

    @property
    def p_value(self) -> float:
        """Its p-value; nan where its error is not known."""
        return math.nan if self.inference is None else self.inference.p_value()


@dataclass(frozen=True, slots=True)
class BestTest:
    """The test of a system to be the best: its p-value, and the level of intervals that tell who is better.

    Where such an interval of its difference to a better one leaves out 0, it is not the best. The level is at least
    that of an interval alone, so that one of two equal systems is best by chance no more often than 1 minus the level.
    """

    p_value: float
    level: float


class Family:
    """All tests of aligned systems, with the correlations of their errors."""

    def __init__(
        self,
        systems: Mapping[str, System],
        only: Iterable[Key] | None = None,
    ) -> None:
        asked = None if only is None else list(only)
        values = {name: all_values(system, only=asked) for name, system in systems.items()}
        self.systems = systems
        self.values = values
        self.options = next(iter(systems.values())).options
        self.answers = {name: answers_drawn(system) for name, system in systems.items()}
        self.design = next(iter(self.answers.values())).design
        self.numbers = {
            name: make_numbers(answers, values[name]) for name, answers in self.answers.items()
        }
        self.tests = [
            self._test(first, second, key)
            for first, second in itertools.combinations(systems, 2)
            for key in values[first]
            if key in values[second]
        ]

    def _test(self, first: str, second: str, key: Key) -> Difference:
        """Return a difference with what is known of it; exactly 0 where it is no more than rounding."""
        one = self.numbers[first].get(key)
        other = self.numbers[second].get(key)
        if one is None or other is None or not self.design.tells_errors:
            return Difference(first, second, key, (), None)
        numbers = [one, other.negated()]
        inference = infer(numbers, self.design)
        size = abs(one.value) + abs(other.value)
        if inference and abs(inference.value) <= _ROUNDING * size:
            inference = replace(inference, value=0.0)
        return Difference(first, second, key, numbers, inference)

    def why_untested(self, test: Difference) -> str | None:
        """Return why there is no test of two numbers, as the id of a note; None if there is one, or a number is nan."""
        names = (test.first, test.second)
        if test.inference or any(math.isnan(self.values[name][test.key]) for name in names):
            return None
        if not self.design.tells_errors:
            return NO_UNITS.id
        reasons = [why_no_inference(test.key, self.answers[name].recalibration) for name in names]
        return next(filter(None, reasons), "no_interval_known")

    @cached_property
    def _draws(self) -> dict[tuple[str, Key], Floats]:
        """Random errors (DRAWS,) of each number of each system, with the covariances that influences imply.

        They are those of normal deviates times the Cholesky factor of the correlations.
        """
        numbers = {
            (name, key): number
            for name, of_system in self.numbers.items()
            for key, number in of_system.items()
        }
        if not numbers:
            return {}
        influences = []
        for number in numbers.values():
            influences.append(number.answers().influence(number.seen.line))
        moved = self.design.moved(np.stack(influences, axis=1))
        size = np.sqrt(np.square(moved).sum(axis=0))
        moved /= np.where(size > 0, size, 1.0)
        correlations = moved.T @ moved + _DEFINITE * np.eye(len(size))
        normal = np.random.default_rng(self.options.random_state).standard_normal(
            (len(size), DRAWS)
        )
        draws = size[:, None] * (np.linalg.cholesky(correlations) @ normal)
        return dict(zip(numbers, draws, strict=True))

    def errors(self, index: int) -> Floats:
        """Return random errors (DRAWS,) of a difference, in units of their root mean square."""
        test = self.tests[index]
        errors = self._draws[test.first, test.key] - self._draws[test.second, test.key]
        deviation = math.sqrt(float(np.vecdot(errors, errors)) / DRAWS)
        if deviation > 0:
            return np.asarray(errors / deviation)
        # what varies not is drawn by itself
        generator = np.random.default_rng((self.options.random_state, index))
        return generator.standard_normal(DRAWS)

    def notes(self, level: float) -> list[tuple[str, Note]]:
        """Return what intervals rest on that was not seen, and why there are none, by the system, and few groups."""
        if not self.design.tells_errors:
            return [("", NO_UNITS)]
        first = next(iter(self.answers.values()))
        notes = [("", note) for note in note_few_units(first)]
        for name, kinds in self._unseen_kinds(level).items():
            answers = self.answers[name]
            fit = answers.recalibration
            decided = [
                key for key in self.values[name] if why_no_inference(key, fit) == "decided_by_fit"
            ]
            of_system = notes_unseen(answers, kinds) + note_on("decided_by_fit", decided)
            notes += [(name, note) for note in of_system]
        return notes

    def _unseen_kinds(self, level: float) -> dict[str, dict[Key, Unseen]]:
        """Return, by system and number, what the intervals of differences rest on that was not seen."""
        hidden: dict[str, dict[Key, Unseen]] = {name: {} for name in self.systems}
        for test in self.tests:
            if test.inference is None:
                continue
            kind = unseen(test.numbers, test.inference, level, self.design)
            if kind is not None:
                name = (test.first, test.second)[kind.number]
                hidden[name].setdefault(test.key, kind)
        return hidden

    def may_rank(self, test: Difference) -> bool:
        """Return whether a metric may rank two systems."""
        return may_rank(
            test.key,
            [self.systems[test.first].basis, self.systems[test.second].basis],
        )

    def adjusted_p_values(self) -> Floats:
        """Return p-values for all M tests together: step-down, by the largest of correlated normal deviates.

        Each p-value (M,) is turned into its normal deviate; that of the largest is the share of draws whose largest is
        as large, the next one is compared with the largest of the others, and so on (Westfall and Young 1993, Algorithm
        4.1; Hothorn, Bretz and Westfall 2008). No more than Holm's; nan where there is no test.
        """
        adjusted, _ = self._step_down
        return adjusted

    def simultaneous_level(self, level: float) -> float:
        """Return the level of one interval at which all hold together: that of the largest of the deviates."""
        from scipy.special import ndtr

        _, largest = self._step_down
        tail = float(ndtr(-np.quantile(largest, level)))
        return max(1 - 2 * tail, level)

    @cached_property
    def _step_down(self) -> tuple[Floats, Floats]:
        """Return the adjusted p-values (M,), and random draws (DRAWS,) of the largest of all deviates."""
        from scipy.special import ndtri

        p_values = np.array([test.p_value for test in self.tests])
        sizes = -ndtri(p_values / 2)
        order = np.argsort(sizes)[: np.count_nonzero(~np.isnan(sizes))]
        adjusted = p_values.copy()
        largest = np.zeros(DRAWS)
        # from the smallest up: `largest` is that of all that are no larger
        for count, index in enumerate(order.tolist(), 1):
            np.maximum(
                largest,
                np.abs(self.errors(index)),
                out=largest,
            )
            share = (1 + np.count_nonzero(largest >= sizes[index])) / (1 + DRAWS)
            holm = min(share, count * p_values[index])
            adjusted[index] = max(holm, p_values[index])
        ranked = order[::-1]
        adjusted[ranked] = np.maximum.accumulate(adjusted[ranked])
        return adjusted, largest

    def best_tests(self, level: float) -> dict[tuple[str, Key], BestTest]:
        """Return the test of each system to be the best, by each metric that ranks all of them.

        Its p-value is that of "no other system is better than this one", from those of "that one is not better". The
        systems above alpha hold the best one with a probability of 1 - alpha (Gupta 1965; Mogstad et al. 2024).
        """
        tests = {}
        for key in dict.fromkeys(test.key for test in self.tests):
            rows = [row for row, test in enumerate(self.tests) if test.key == key]
            if key.entry.higher_is_better is None or not all(
                self.may_rank(self.tests[row]) for row in rows
            ):
                continue
            for name, test in self._best_tests(rows, level).items():
                tests[name, key] = test
        return tests

    def _best_tests(self, rows: Sequence[int], level: float) -> dict[str, BestTest]:
        """Return the test of each system to be the best by the metric of these rows; without systems that have none."""
        from scipy.special import ndtr, ndtri

        least_tail: dict[str, float] = {}
        largest_gain: dict[str, Floats] = {}
        for row in rows:
            test = self.tests[row]
            inference = test.inference
            if inference is None:
                continue
            tail = inference.tail()
            errors = self.errors(row)
            sign = 1 if test.key.entry.higher_is_better else -1
            for name, gain in ((test.first, -sign), (test.second, sign)):  # of the other system
                of_other = tail if inference.value * gain > 0 else 1 - tail
                least_tail[name] = min(of_other, least_tail.get(name, 1.0))
                largest_gain[name] = np.maximum(gain * errors, largest_gain.get(name, -np.inf))
        tests = {}
        place = min(math.ceil(level * DRAWS), DRAWS - 1)
        for name, gains in largest_gain.items():
            count = np.count_nonzero(gains >= ndtri(1 - least_tail[name]))
            tail = float(ndtr(-np.partition(gains, place)[place]))
            p_value = (1 + count) / (1 + DRAWS)
            tests[name] = BestTest(p_value, max(1 - 2 * tail, level))
        return tests


COMMON = "in common"  # the selection of questions that all systems have


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of one metric between two systems, the first minus the second."""

    first: str
    second: str
    key: Key
    difference: float
    low: float  # see `inference.infer`; nan where no interval is valid
    high: float
    p: float  # two-sided: 1 minus the level at which the interval touches 0; nan without one
    p_adjusted: float  # for all pairs and metrics together, see `compare.adjusted_p_values`
    # False if the metric assesses the confidences only and the systems' answers differ
    comparable: bool
    # simultaneous for all pairs and metrics, see `compare.simultaneous_level`
    low_all: float = math.nan
    high_all: float = math.nan
    p_first_best: float = math.nan  # see `compare.BestTest`; nan if not ranked by this metric
    p_second_best: float = math.nan
    # leaves out 0 if the worse of the two is not the best, since the other is better: see `compare.BestTest`
    low_best: float = math.nan
    high_best: float = math.nan
    first_value: float = math.nan
    second_value: float = math.nan
    untested: str | None = None  # why there is no interval and no test: the id of a note

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
            low_best=-self.high_best,
            high_best=-self.low_best,
            first_value=self.second_value,
            second_value=self.first_value,
        )

    def __str__(self) -> str:
        """Return one line: the metric, the difference with its interval, and its adjusted p-value."""
        numbers = f"{self.difference:+.4g} [{self.low:+.4g}, {self.high:+.4g}], adjusted p = {self.p_adjusted:.3g}"
        return f"{self.key}: {self.first} - {self.second} = {numbers}"


def fields_of(row: Any) -> dict[str, object]:
    """Return the fields of a comparison or a plan, with the key of its metric as text."""
    return asdict(row) | {"key": str(row.key)}


class Comparisons(list[Comparison]):
    """Comparisons of pairs of systems, metric by metric, that print as lines and show as a table in notebooks."""

    def __init__(
        self, rows: Iterable[Comparison] = (), notes: Iterable[tuple[str, Note]] = ()
    ) -> None:
        super().__init__(rows)
        self.notes = tuple(notes)  # with the system whose answers each is about, or ""

    def __repr__(self) -> str:
        """Return one line for each comparison, then the notes."""
        notes = (f"{name}: {note}" if name else str(note) for name, note in self.notes)
        return "\n".join([*map(str, self), *notes])

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each comparison, the metric as text."""
        import pandas as pd

        return pd.DataFrame([fields_of(row) for row in self])

    def _repr_html_(self) -> str:
        no_formulas = "tex2jax_ignore mathjax_ignore"  # in the names of systems
        return str(self.to_frame().to_html(index=False, classes=no_formulas))


def compare_systems(
    systems: Mapping[str, System] | Iterable[System],
    *,
    only: Iterable[Key] | None = None,
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
        The metrics to compare; by default all. `p_adjusted` holds for all pairs and these metrics together.

    Returns
    -------
    Comparisons
        A list of Comparison, pair by pair, in the order of the systems and of their metrics. Its `notes` say, with the
        name of the system, which intervals mostly rest on answers of a kind that was not seen.

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
        raise InputError(
            "confidence_level", "is missing: the level of the intervals of differences"
        )
    family = Family(align(systems), only)
    notes = family.notes(family.options.confidence_level or 0.0)
    return Comparisons(_comparisons(family), notes)


def compare_within(
    systems: Mapping[str, System], *, only: Iterable[Key] | None = None
) -> dict[int, Comparisons]:
    """Compare systems within each of their strata, by the number of the stratum.

    An adjusted p-value holds for all k strata if it is multiplied by k (Bonferroni).
    """
    aligned = align(named_systems(systems))
    options = next(iter(aligned.values())).options
    if options.strata is None:
        raise InputError("strata", "are missing: the parts within which systems are compared")
    asked = None if only is None else list(only)
    weight = options.sample_weight
    counted = options.strata if weight is None else options.strata[weight > 0]
    strata = np.unique(counted).tolist()
    within = {}
    for stratum in strata:
        rows = np.flatnonzero(options.strata == stratum)
        parts = {name: _select_samples(system, rows) for name, system in aligned.items()}
        compared = compare_systems(parts, only=asked)
        adjusted = [
            replace(row, p_adjusted=min(len(strata) * row.p_adjusted, 1.0)) for row in compared
        ]
        within[stratum] = Comparisons(adjusted, compared.notes)
    return within


def _select_samples(system: System, rows: Ints) -> System:
    """Return a system of these samples alone, given by their place in the input."""
    part = reordered(system, rows)
    options = part.options.replace(strata=None)
    if options.sample_weight is not None and options.weights_are == "importance":
        options = options.replace(sample_weight=effective_weights(options.sample_weight))
    return replace(ranked(part.decisions, options), origin=system.origin)


def basis_of_comparison(system: System) -> Basis:
    """Return the basis of the differences of a system to others: that of the system, and the shared draws."""
    return replace(
        basis_of_pairs(system),
        interval_method=None,
        draws=None,
        deviates=f"{DRAWS}/{system.options.random_state}",
    )


def basis_of_pairs(system: System) -> Basis:
    """Return what the numbers of a system depend on where its samples are paired with those of others, see `align`."""
    return replace(system.basis, pairing="rows" if system.ids is None else None)


def align(systems: Mapping[str, System]) -> dict[str, System]:
    """Return the systems with their samples in the input order of the first's, matched by id, else by position."""
    (first, reference), *others = systems.items()
    aligned = {first: reference}
    for name, system in others:
        if (system.ids is None) != (reference.ids is None):
            raise InputError(
                f"{first} and {name}",
                "cannot be paired: only one of them has {what}",
                advice="add_ids",
                what="sample ids",
            )
        if system.ids is not None and reference.ids is not None:
            rows = match_ids(name, system.ids, first, reference.ids)
            if (rows[1:] < rows[:-1]).any():
                system = replace(reordered(replace(system, ids=None), rows), ids=reference.ids)
        _require_same_samples(f"{first} and {name}", reference, system)
        aligned[name] = system
    return aligned


def match_ids(
    name: str,
    ids: Sequence[object],
    first: str,
    expected: Sequence[object],
) -> Ints:
    """Return the positions of the expected ids in `ids`; InputError if ids are repeated, or not the same."""
    theirs, ours = _arrow_ids(ids, expected)
    for system, values in ((first, ours), (name, theirs)):
        if len(values.unique()) < len(values):
            repeated = next(
                str(value) for value, count in Counter(values.to_pylist()).items() if count > 1
            )
            got, advice = f"{repeated!r} repeatedly", "name_whole_id"
            raise InputError(
                f"{system}: sample ids", "must be unique", value=repeated, got=got, advice=advice
            )
    rows = positions_in(ours, theirs)
    missing = ours.filter(from_numpy(rows < 0))
    extra = theirs.filter(from_numpy(positions_in(theirs, ours) < 0))
    if len(missing) or len(extra):
        id_, where = (missing[0], name) if len(missing) else (extra[0], first)
        raise InputError(
            f"{first} and {name}",
            (
                "have different samples, and cannot be compared: {offender} "
                "({missing} missing, {extra} extra)"
            ),
            advice=_advice_on_ids(ours, theirs, rows),
            offender=f"{str(id_)!r} is not in {where}",
            missing=len(missing),
            extra=len(extra),
        )
    return rows


def _advice_on_ids(ours: pa.Array, theirs: pa.Array, rows: Ints) -> str:
    """Return what to do about ids of two systems that are not the same; those in `rows` >= 0 are common."""
    alike = set(map(_plain_id, ours.to_pylist())) & set(map(_plain_id, theirs.to_pylist()))
    if len(alike) > np.count_nonzero(rows >= 0):
        return "They are the same but for leading zeros, .0 or case: write them alike."
    if len(ours) == len(theirs) and _count_rows(ours) and _count_rows(theirs):
        return "pair_by_row"
    return "keep_common" if (rows >= 0).any() else "name_other_ids"


def _plain_id(id_: object) -> str:
    """Return an id without what programs add or take away: leading zeros, .0, and case."""
    return re.sub(r"\b0+(?=\d)|\.0+$", "", str(id_).casefold())


def _count_rows(ids: pa.Array) -> bool:
    """Return whether ids (N,) are whole numbers, each one more than that before it."""
    texts = ids.cast(pa.string()).to_pylist()
    if not all(map(str.isdecimal, texts)):
        return False
    return count_up(np.array(list(map(int, texts)), dtype=object))


def note_on_order(first: Submission, second: Submission) -> Note | None:
    """Return a note if rows paired by position have ids that differ and are more than row numbers."""
    if first.ids is None or second.ids is None or len(first.ids) != len(second.ids):
        return None
    ours, theirs = _arrow_ids(first.ids, second.ids)
    if _count_rows(ours) and _count_rows(theirs):
        return None
    differ = pc.not_equal(ours, theirs)
    fields = {"count": pc.sum(differ).as_py(), "total": len(differ), "other": first.name}
    return Note("ids_not_used", fields) if fields["count"] else None


def in_common(submissions: Sequence[Submission]) -> list[Submission]:
    """Return submissions reduced to the ids that all systems have, in each part of these; InputError if none.

    A note counts those left out.
    """
    without = [submission.name for submission in submissions if submission.ids is None]
    if without:
        raise InputError(
            "in_common", "needs a column of ids in every file", got=f"none for {without[0]}"
        )
    ids = _arrow_ids(*(submission.ids for submission in submissions if submission.ids is not None))
    shared = _shared_by_part(submissions, ids)
    are_kept = [
        positions_in(of_system, shared[submission.part]) >= 0
        for submission, of_system in zip(submissions, ids, strict=True)
    ]
    population = "" if all(map(np.all, are_kept)) else COMMON
    return [
        replace(_keep(submission, kept), population=population)
        for submission, kept in zip(submissions, are_kept, strict=True)
    ]


def _shared_by_part(
    submissions: Sequence[Submission], ids: Sequence[pa.Array]
) -> dict[str, pa.Array]:
    """Return the ids that all systems have, by part; InputError if there is none in a part."""
    pairs = zip(submissions, ids, strict=True)
    by_part = grouped(pairs, lambda pair: pair[0].part)
    num_systems = max(map(len, by_part.values()))
    shared = {}
    for part, of_part in by_part.items():
        (_, common), *following = of_part
        for _, of_system in following:
            common = common.filter(from_numpy(positions_in(common, of_system) >= 0))
        shared[part] = common
        if len(of_part) < num_systems or not len(common):
            got = f"none in {part}" if part else "none"
            raise InputError(
                "in_common", "needs ids that all systems have", got=got, advice="name_other_ids"
            )
    return shared


def _comparisons(family: Family) -> list[Comparison]:
    """Return the comparisons with p-values and intervals: of each alone, and of all together."""
    level = family.options.confidence_level or 0.0
    together = family.simultaneous_level(level)
    adjusted = family.adjusted_p_values()
    best = family.best_tests(level)
    none = BestTest(math.nan, math.nan)
    comparisons = []
    for test, p_adjusted in zip(family.tests, adjusted.tolist(), strict=True):
        first = family.values[test.first][test.key]
        second = family.values[test.second][test.key]
        inference = test.inference
        low, high = _limits(inference, level)
        low_all, high_all = _limits(inference, together)
        first_best = best.get((test.first, test.key), none)
        second_best = best.get((test.second, test.key), none)
        is_first_worse = (first > second) != bool(test.key.entry.higher_is_better)
        worse = first_best if is_first_worse else second_best
        low_best, high_best = _limits(inference, worse.level)
        row = Comparison(
            first=test.first,
            second=test.second,
            key=test.key,
            difference=first - second if inference is None else inference.value,
            low=low,
            high=high,
            p=test.p_value,
            p_adjusted=p_adjusted,
            comparable=family.may_rank(test),
            low_all=low_all,
            high_all=high_all,
            p_first_best=first_best.p_value,
            p_second_best=second_best.p_value,
            low_best=low_best,
            high_best=high_best,
            first_value=first,
            second_value=second,
            untested=family.why_untested(test),
        )
        comparisons.append(row)
    return comparisons


def _limits(inference: Inference | None, level: float) -> Limits:
    """Return the interval of a difference; nan where none, or no level, is known."""
    return NO_LIMITS if inference is None or math.isnan(level) else inference.limits(level)


def _require_same_samples(both: str, reference: System, system: System) -> None:
    """Raise InputError unless two systems, aligned, may be paired."""
    reasons = why_not_comparable(reference.basis, system.basis, purpose=Purpose.PAIR)
    if reasons:
        places = {FACTS["labels"].reason: _where_classes_differ(reference, system)}
        said = [reason + places.get(reason, "") for reason in reasons]
        raise InputError(both, "cannot be paired: these differ: {reasons}", reasons=said)


def _where_classes_differ(one: System, other: System) -> str:
    """Return in how many samples the true classes of two systems, aligned, differ, and in which first; or nothing."""
    if one.num_samples != other.num_samples:
        return ""
    are_other = np.asarray(one.true_classes != other.true_classes)
    if not are_other.any():
        return ""
    row = int(np.argmax(are_other))
    first = f"at index {row}" if one.ids is None else f"with id {str(one.ids[row])!r}"
    return f" of {np.count_nonzero(are_other)} of {one.num_samples} samples, the first {first}"


def _arrow_ids(*ids: Sequence[object] | pa.Array) -> list[pa.Array]:
    """Return ids that can be joined: all whole numbers, or all text."""
    arrays = [
        values if isinstance(values, pa.Array) else from_values(list(values)) for values in ids
    ]
    kinds = {array.type for array in arrays}
    if kinds in ({pa.int64()}, {TEXT}):
        return arrays
    return [texts_in(array) for array in arrays]


def _keep(submission: Submission, kept: Bools) -> Submission:
    if kept.all():
        return submission
    rows = np.flatnonzero(kept)
    num_left_out = len(kept) - len(rows)
    left_out = Note("left_out", {"count": num_left_out, "total": len(kept)})
    part = submission.of_rows(rows)
    return replace(part, notes=(*part.notes, left_out))

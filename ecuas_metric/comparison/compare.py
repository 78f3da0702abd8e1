"""Comparisons of systems on the same samples: differences, intervals, paired tests, and the pairing of samples.

P-values are adjusted for all tests together by the maximum of correlated normal deviates, whose correlations are those
of the influences of the samples. Method: docs/statistics.md.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..audit import AuditedNumber, infer_audits, known_numbers
from ..basis import FACTS, Basis, Purpose, may_rank, why_not_comparable
from ..costs import ECUAS_N, ERROR_RATE, EXPECTED_COST, RISK
from ..display import Drawn
from ..errors import InputError, Note
from ..files.submissions import Submission
from ..files.systems import collect_systems
from ..files.values import TEXT, find_positions, from_numpy, from_values, to_texts
from ..inference import Inference, Number, Unseen, all_limits, all_p_values, find_unseen
from ..inputs import NO_LIMITS, Bools, Floats, Ints, Limits, are_consecutive, grouped
from ..intervals import (
    NO_UNITS,
    note_few_units,
    note_keys,
    notes_unseen,
    why_no_inference,
)
from ..metric import Key, Keys, checked_keys
from ..options import LEVEL, scale_to_effective_size
from ..results import (
    System,
    compute_values,
    make_answers,
    make_system,
    name_systems,
    select_samples,
)
from ..sampling import Design
from .rows import REJECTING, Comparison, choose_verdict, significance_level
from .verdict import Verdict, make_verdict

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
    numbers: Sequence[Number]  # of which it is the first minus the second
    inference: Inference | None

    def influence(self, design: Design) -> Floats:
        """Return the weighted influence (U,) of each unit, a sample or a group of samples, on the difference."""
        lines = [number.samples.influence(number.point.line) for number in self.numbers]
        return np.asarray(design.unit_influences(np.subtract(*lines)[None])[0])


class Family:
    """The differences of all pairs of aligned systems; a family of them is tested together."""

    def __init__(
        self,
        systems: Mapping[str, System],
        only: Keys | None = None,
        *,
        tested: Iterable[Key] | None = None,
        strip: Sequence[Key] = (),
    ) -> None:
        """Take systems, the keys to compare (`only`, by default all), and which of these are `tested`, by default all.

        Keys of the `strip`, expected costs, are tested, too, also against the system that rejects everything.
        """
        asked = None if only is None else checked_keys(only)
        # what is not of the strip alone
        self.shown = {name: compute_values(system, only=asked) for name, system in systems.items()}
        values: dict[str, dict[Key, float]] = dict(self.shown)
        if strip:
            for name, system in systems.items():
                values[name] = self.shown[name] | compute_values(system, only=strip)
            nothing = rejecting_system(next(iter(systems.values())))
            systems = {**systems, REJECTING: nothing}
            values[REJECTING] = compute_values(nothing, only=strip)
        self.tested = None if tested is None else {*tested, *strip}
        self.systems = systems
        self.values = values
        self.options = next(iter(systems.values())).options
        self.answers = {name: make_answers(system) for name, system in systems.items()}
        self.design = next(iter(self.answers.values())).design
        self.numbers = {
            name: known_numbers(systems[name], answers, values[name])
            for name, answers in self.answers.items()
        }
        self.tests = self._make_tests()
        self.in_family = [self._is_tested(test) for test in self.tests]
        self.p_values = np.full(len(self.tests), math.nan)
        inferred = [test.inference for test in itertools.compress(self.tests, self.in_family)]
        self.p_values[self.in_family] = all_p_values(list(filter(None, inferred)))

    def _is_tested(self, test: Difference) -> bool:
        """Return whether a difference belongs to the family: its metric does, and may rank these two."""
        is_asked = self.tested is None or test.key in self.tested
        return is_asked and test.inference is not None and self.may_rank(test)

    def _make_tests(self) -> list[Difference]:
        """Return the difference of each pair of systems in each number that both have."""
        pairs = [
            (first, second, key)
            for first, second in itertools.combinations(self.systems, 2)
            for key in self.values[first]
            if key in self.values[second]
        ]
        # differences by one metric are inferred together, since each number is in many of them
        by_key = grouped(pairs, lambda pair: pair[2]).values()
        numbers = {pair: self._both_numbers(*pair) for pair in itertools.chain(*by_key)}
        known = {pair: both for pair, both in numbers.items() if both}
        inferred = dict(zip(known, infer_audits(list(known.values()), self.design), strict=True))
        return [_make_difference(pair, numbers[pair], inferred.get(pair)) for pair in pairs]

    def _both_numbers(
        self, first: str, second: str, key: Key
    ) -> tuple[AuditedNumber | Number, ...]:
        """Return the numbers of two systems; none unless both errors are known."""
        one = self.numbers[first].get(key)
        other = self.numbers[second].get(key)
        return (one, other) if one and other and self.design.tells_errors else ()

    def why_untested(self, index: int) -> str | None:
        """Return why two numbers are not tested, as the id of a note; None if they are, or a number is nan."""
        test = self.tests[index]
        names = (test.first, test.second)
        if test.inference:
            return None if self.in_family[index] else OUTSIDE
        if any(math.isnan(self.values[name][test.key]) for name in names):
            return None
        if not self.design.tells_errors:
            return NO_UNITS.id
        reasons = [why_no_inference(test.key, self.answers[name].recalibration) for name in names]
        return next(filter(None, reasons), "no_interval_known")

    @cached_property
    def _draws(self) -> dict[tuple[str, Key], Floats]:
        """Random errors (DRAWS,) by system and number, with the covariances of the influences; only those that vary.

        They are independent normal deviates times the Cholesky factor of the correlations.
        """
        tests = itertools.compress(self.tests, self.in_family)
        used = {(name, test.key) for test in tests for name in (test.first, test.second)}
        numbers = {
            (name, key): number
            for name, of_system in self.numbers.items()
            for key, number in of_system.items()
            if (name, key) in used
        }
        if not numbers:
            return {}
        influences = [one.samples.influence(one.point.line) for one in numbers.values()]
        moved = self.design.unit_influences(np.stack(influences))
        size = np.sqrt(np.square(moved).sum(axis=1))
        has_error = size > 0
        size = size[has_error]
        moved = moved[has_error] / size[:, None]
        correlations = moved @ moved.T + _DEFINITE * np.eye(len(size))
        normal = np.random.default_rng(self.options.random_state).standard_normal(
            (len(size), DRAWS)
        )
        draws = (size[:, None] * np.linalg.cholesky(correlations)) @ normal
        return dict(zip(itertools.compress(numbers, has_error), draws, strict=True))

    def errors(self, index: int) -> Floats:
        """Return random errors (DRAWS,) of a difference, divided by their root mean square."""
        test = self.tests[index]
        none = np.zeros(DRAWS)
        first = self._draws.get((test.first, test.key), none)
        errors = first - self._draws.get((test.second, test.key), none)
        deviation = math.sqrt(float(np.vecdot(errors, errors)) / DRAWS)
        if deviation > 0:
            return errors / deviation
        # what varies not is drawn by itself
        generator = np.random.default_rng((self.options.random_state, index))
        return generator.standard_normal(DRAWS)

    def notes(self, level: float) -> list[tuple[str, Note]]:
        """Return notes, each with the name of a system or "": unseen answers, missing intervals, and few groups."""
        if not self.design.tells_errors:
            return [("", NO_UNITS)]
        first = next(iter(self.answers.values()))
        notes = [("", note) for note in note_few_units(first)]
        for name, kinds in self._unseen_kinds(level).items():
            answers = self.answers[name]
            fit = answers.recalibration
            decided = [
                key
                for key in self.shown.get(name, ())
                if why_no_inference(key, fit) == "decided_by_fit"
            ]
            of_system = notes_unseen(answers, kinds) + note_keys("decided_by_fit", decided)
            notes += [(name, note) for note in of_system]
        return notes

    def _unseen_kinds(self, level: float) -> dict[str, dict[Key, Unseen]]:
        """Return, by system and number, the unseen kind of answers that an interval of a difference mostly rests on."""
        hidden: dict[str, dict[Key, Unseen]] = {name: {} for name in self.systems}
        tests = [test for test in self.tests if self._is_noted(test)]
        inferences = [test.inference for test in tests if test.inference is not None]
        numbers = [test.numbers for test in tests]
        kinds = find_unseen(numbers, inferences, level, self.design)
        for test, kind in zip(tests, kinds, strict=True):
            if kind is not None:
                name = (test.first, test.second)[kind.number]
                hidden[name].setdefault(test.key, kind)
        return hidden

    def _is_noted(self, test: Difference) -> bool:
        """Return whether notes are made on a difference: one that is shown, of two systems and no audit."""
        is_shown = test.key in self.shown.get(test.first, ())
        is_known = test.inference is not None and bool(test.numbers)
        return is_known and is_shown and REJECTING not in (test.first, test.second)

    def may_rank(self, test: Difference) -> bool:
        """Return whether a metric may rank two systems."""
        return may_rank(
            test.key,
            [self.systems[test.first].basis, self.systems[test.second].basis],
        )

    def simultaneous_level(self, level: float) -> float:
        """Return the level of each interval at which all hold together, by the distribution of the largest deviate.

        No more than Bonferroni's.
        """
        from scipy.special import ndtr

        _, largest = self.step_down
        tail = float(ndtr(-np.quantile(largest, level)))
        return min(max(1 - 2 * tail, level), 1 - (1 - level) / max(sum(self.in_family), 1))

    @cached_property
    def step_down(self) -> tuple[Floats, Floats]:
        """The p-values for all M tests together, and draws (DRAWS,) of the largest of all correlated normal deviates.

        Each p-value (M,) of the family is turned into its normal deviate; that of the largest is the share of draws
        whose largest is as large, the next one is compared with the largest of the others, and so on (Westfall and
        Young 1993, Algorithm 4.1; Hothorn, Bretz and Westfall 2008). No more than Holm's; nan where there is no test.
        """
        from scipy.special import ndtri

        adjusted = self.p_values.copy()
        sizes = -ndtri(adjusted / 2)
        order = np.argsort(sizes)[: sum(self.in_family)]  # nan is last
        largest = np.zeros(DRAWS)
        # from the smallest up: `largest` is that of all that are no larger
        for count, index in enumerate(order.tolist(), 1):
            np.maximum(largest, np.abs(self.errors(index)), out=largest)
            share = (1 + np.count_nonzero(largest >= sizes[index])) / (1 + DRAWS)
            holm = min(share, count * adjusted[index])
            adjusted[index] = max(holm, adjusted[index])
        ranked = order[::-1]
        adjusted[ranked] = np.maximum.accumulate(adjusted[ranked])
        return adjusted, largest


def _make_difference(
    pair: tuple[str, str, Key],
    numbers: Sequence[AuditedNumber | Number],
    inference: Inference | None,
) -> Difference:
    """Return the difference of two numbers; exactly 0 where it is no more than rounding."""
    size = sum(abs(number.value) for number in numbers)
    if inference and abs(inference.value) <= _ROUNDING * size:
        inference = replace(inference, value=0.0)
    plain = [number for number in numbers if isinstance(number, Number)]
    return Difference(*pair, plain if len(plain) == len(numbers) else [], inference)


OUTSIDE = "outside_family"  # the metric is not of the tested ones
COMMON = "in common"  # the selection of questions that all systems have


class Comparisons(list[Comparison], Drawn):
    """Comparisons of pairs of systems, metric by metric, that print as lines and show as a verdict in notebooks.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> systems = [confidence_system([1, 1, 0], q, confidence_level=0.95) for q in ([0.9, 0.8, 0.2], [0.5, 0.6, 0.5])]
    >>> rows = compare_systems(systems, only=["er"], by_position=True)
    >>> rows.verdict.rankings[rows[0].key].state, rows.to_frame().verdict.tolist()
    ('equal', ['equal'])
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.rows)
        self.verdict = verdict  # who is best by what, how surely, and at which reject costs
        self.notes = verdict.notes
        self.systems = verdict.systems

    def __repr__(self) -> str:
        """Return one line for each comparison, then the notes."""
        notes = (f"{name}: {note}" if name else str(note) for name, note in self.notes)
        return "\n".join([*map(str, self), *notes])

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each comparison, the metric as text."""
        return self.verdict.to_frame()


def compare_systems(
    systems: Any,
    *,
    only: Keys | None = None,
    by_position: bool = False,
    **options: object,
) -> Comparisons:
    """Compare every pair of systems by every metric that both have, and test them by one family of metrics.

    A difference is inferred as a number of one system is, from the differences of the influences of the samples, as if
    one more sample had been seen. An interval leaves out 0 if and only if its p-value is less than 1 minus its level;
    there is neither of what is biased, as ECE is. `docs/statistics.md` says what was simulated.

    Parameters
    ----------
    systems : mapping of name to System or frame, frame, iterable of System, or list of Submission
        Systems of `confidence_system`, `posterior_system` or `prepare_submissions`, with one ``confidence_level``; or
        data frames, with columns as files have them, and what `read_submissions` returns. They are aligned by their
        ids. The level, the groups and the seed are those of the first.
    only : iterable of str or Key, optional
        The metrics to compare, as ``["ecuas_1", "er"]``; all of them that may rank two systems are tested. By default
        all metrics are compared, and the family of tests is the error rate, each ECUAS_n, and the expected cost over
        reject costs. `p_adjusted` holds for all pairs and the whole family together.
    by_position : bool, default False
        Pair the samples of systems without ids by their position.
    **options
        Of frames and submissions: every option of `compute` for their form; of frames also ``columns``, ``right``,
        ``abstained``, ``scale``, ``correct_from`` and ``labels`` of `read_submissions`.

    Returns
    -------
    Comparisons
        A list of Comparison, pair by pair, in the order of the systems and of their metrics. Its `verdict` says who is
        best, how surely, and at which reject costs; its `notes`, with the name of the system, which intervals mostly
        rest on answers of a kind that was not seen, and how samples were paired unless by ids.

    Raises
    ------
    InputError
        If there are fewer than two systems, they have no confidence level, their samples are not the same, or they
        have no ids and are not to be paired by position.

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
    >>> rows = compare_systems(systems, by_position=True)
    >>> row = next(row for row in rows if str(row.key) == "ecuas_1")
    >>> round(row.difference, 4), row.low < row.difference < row.high, row.verdict
    (-0.1867, True, 'close')
    """
    named = collect_systems(systems, **options)
    if len(named) < 2:
        got = len(named)
        raise InputError("a comparison", "needs_two_systems", value=got, advice="add_system")
    aligned = align(named, by_position=by_position)
    return Comparisons(compare_aligned(aligned, only=only))


def compare_pairable(
    systems: Mapping[str, System] | Iterable[System],
    *,
    only: Keys | None = None,
) -> Verdict:
    """Return the verdict on systems, see `compare_systems`; those that cannot be paired are left out.

    Those without ids are paired by their position. A single system is compared with rejecting everything. InputError
    if no two can be paired.
    """
    named = name_systems(systems)
    largest = max(_list_pairable_sets(named), key=len)
    left_out: dict[str, InputError] = {}
    for name in [name for name in named if name not in largest]:
        try:
            _add_pair(largest, name, named[name])
        except InputError as error:
            left_out[name] = error
    if left_out and len(largest) == 1:
        raise next(iter(left_out.values()))
    return replace(compare_aligned(largest, only=only), left_out=left_out)


def _list_pairable_sets(systems: Mapping[str, System]) -> list[dict[str, System]]:
    """Return sets of systems: each can be paired with the first of its set, and is aligned with it."""
    sets: list[dict[str, System]] = []
    for name, system in systems.items():
        for one in sets:
            with suppress(InputError):
                _add_pair(one, name, system)
                break
        else:
            sets.append({name: system})
    return sets


def _add_pair(systems: dict[str, System], name: str, system: System) -> None:
    """Add a system to a set, aligned with its first one; InputError if they cannot be paired."""
    first = next(iter(systems))
    systems |= align({first: systems[first], name: system}, by_position=True)


def compare_aligned(systems: Mapping[str, System], *, only: Keys | None) -> Verdict:
    """Return the verdict on systems whose samples are in one order; on a single one only with rejecting everything."""
    first = next(iter(systems.values()))
    levels = [system.options.confidence_level for system in systems.values()]
    if None in levels:
        raise InputError(
            "confidence_level", "is missing: the level of the intervals of differences"
        )
    shown = None if only is None else checked_keys(only)
    strip = strip_keys(systems) if shown is None else []
    if len(systems) == 1:
        shown = []
    tested = default_family(first) if shown is None else shown
    family = Family(systems, shown, tested=tested, strip=strip)
    main, of_strip = _split_rows(family, strip)
    asked = shown or [Key(EXPECTED_COST.name, cost) for cost in first.options.reject_costs]
    return make_verdict(
        main,
        of_strip,
        notes=[*family.notes(levels[0] or LEVEL), *_note_pairing(systems)],
        asked=asked,
        alpha=significance_level(first.options),
        systems=systems,
    )


def _split_rows(
    family: Family, strip: Iterable[Key]
) -> tuple[list[Comparison], dict[Key, list[Comparison]]]:
    """Return the comparisons that are shown, and by key those of the strip, which include rejecting everything."""
    rows = _make_comparisons(family)
    of_strip: dict[Key, list[Comparison]] = {key: [] for key in strip}
    main = []
    for row in rows:
        if row.key in of_strip:
            of_strip[row.key].append(row)
        if row.key in family.shown.get(row.first, ()) and row.second in family.shown:
            main.append(row)
    return main, of_strip


def _note_pairing(systems: Mapping[str, System]) -> list[tuple[str, Note]]:
    """Return a note where the samples of several systems are paired by position."""
    first = next(iter(systems.values()))
    if first.ids is not None or len(systems) == 1:
        return []
    return [("", Note("paired_by_position", {"count": first.num_samples}))]


def default_family(system: System) -> list[Key]:
    """Return the metrics that are tested unless others are asked for: error rate or risk, and each ECUAS_n."""
    keys = [Key(metric.name) for metric in (ERROR_RATE, RISK) if metric.applies(system.decisions)]
    return keys + [Key(ECUAS_N.name, order) for order in system.options.n]


GRIDS = (
    100,
    50,
    20,
    10,
)  # numbers of reject costs up to 1, or to the largest uncertainty above that
MAX_WORK = 1_200_000  # pairs of systems times samples times reject costs: a second or two
LEAST_SAMPLES = 300  # with fewer, tests take as long


def strip_keys(systems: Mapping[str, System]) -> list[Key]:
    """Return the keys of the strip: expected costs at a grid of up to 100 reject costs, and at those asked for.

    The grid is coarser for many samples or systems, or left out.
    """
    first = next(iter(systems.values()))
    samples = max(LEAST_SAMPLES, first.num_samples)
    pairs = math.comb(len(systems) + 1, 2)
    points = next((points for points in GRIDS if pairs * samples * points <= MAX_WORK), 0)
    largest = first.decisions.max_uncertainty
    grid = np.arange(1, points + 1) / max(points, 1) * max(largest, 1.0)
    costs = {*grid[grid <= largest * (1 + 1e-12)].tolist(), *first.options.reject_costs}
    return [Key(EXPECTED_COST.name, cost) for cost in sorted(costs)]


def rejecting_system(system: System) -> System:
    """Return a system on the same samples that rejects all of them."""
    decisions = system.decisions
    never = np.full(len(decisions.uncertainty), math.inf)
    nothing = replace(
        decisions,
        uncertainty=never,
        candidate_cost=np.full(len(never), decisions.max_uncertainty),
        confidence=None if decisions.confidence is None else 1 - never,
    )
    return make_system(nothing, system.options, ids=system.ids)


def compare_strata(
    systems: Mapping[str, System],
    only: Keys | None,
) -> dict[int, list[Comparison]]:
    """Compare systems within each stratum; by default by `default_family`. Return comparisons by number of the stratum.

    Adjusted p-values are multiplied by the number of strata (Bonferroni).
    """
    aligned = align(name_systems(systems), by_position=True)
    first = next(iter(aligned.values()))
    options = first.options
    if options.strata is None:
        raise InputError("strata", "are missing: the parts within which systems are compared")
    asked = default_family(first) if only is None else checked_keys(only)
    alpha = significance_level(options)
    weight = options.sample_weight
    counted = options.strata if weight is None else options.strata[weight > 0]
    strata = np.unique(counted).tolist()
    within = {}
    for stratum in strata:
        rows = np.flatnonzero(options.strata == stratum)
        parts = {name: _make_part(system, rows) for name, system in aligned.items()}
        adjusted = [
            replace(row, p_adjusted=min(len(strata) * row.p_adjusted, 1.0))
            for row in compare_aligned(parts, only=asked).rows
        ]
        within[stratum] = [replace(row, verdict=choose_verdict(row, alpha)) for row in adjusted]
    return within


def _make_part(system: System, rows: Ints) -> System:
    """Return the system of the samples `rows` as one of its own: without strata, its weights scaled anew."""
    part = select_samples(system, rows)
    options = part.options.replace(strata=None)
    if options.sample_weight is not None and options.weights_are == "importance":
        options = options.replace(sample_weight=scale_to_effective_size(options.sample_weight))
    return replace(make_system(part.decisions, options), origin=system.origin)


def make_comparison_basis(system: System) -> Basis:
    """Return the basis of comparisons with a system: that of its pairing, and of the draws for adjusted p-values."""
    return replace(
        make_pairing_basis(system),
        interval_method=None,
        draws=None,
        deviates=f"{DRAWS}/{system.options.random_state}",
    )


def make_pairing_basis(system: System) -> Basis:
    """Return the basis of a system whose samples are paired with those of others, see `align`."""
    return replace(system.basis, pairing="rows" if system.ids is None else None)


def align(systems: Mapping[str, System], *, by_position: bool = False) -> dict[str, System]:
    """Return the systems with their samples in the input order of the first's, matched by id.

    Systems without ids are matched by position if that is asked for; else InputError.
    """
    (first, reference), *others = systems.items()
    if not by_position and len(systems) > 1 and all(one.ids is None for one in systems.values()):
        raise InputError(
            "ids",
            "are missing: samples of different systems are paired by them",
            advice="say_by_position",
        )
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
                system = replace(select_samples(replace(system, ids=None), rows), ids=reference.ids)
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
    rows = find_positions(ours, theirs)
    missing = ours.filter(from_numpy(rows < 0))
    extra = theirs.filter(from_numpy(find_positions(theirs, ours) < 0))
    if len(missing) or len(extra):
        id_, where = (missing[0], name) if len(missing) else (extra[0], first)
        raise InputError(
            f"{first} and {name}",
            (
                "have different samples, and cannot be compared: {offender} "
                "({missing} missing, {extra} extra)"
            ),
            advice=_choose_id_advice(ours, theirs, rows),
            offender=f"{str(id_)!r} is not in {where}",
            missing=len(missing),
            extra=len(extra),
        )
    return rows


def _choose_id_advice(ours: pa.Array, theirs: pa.Array, rows: Ints) -> str:
    """Return the advice on ids of two systems that differ; `rows` are the positions of ours in theirs, or -1."""
    alike = set(map(_plain_id, ours.to_pylist())) & set(map(_plain_id, theirs.to_pylist()))
    if len(alike) > np.count_nonzero(rows >= 0):
        return "They are the same but for leading zeros, .0 or case: write them alike."
    if len(ours) == len(theirs) and _are_row_numbers(ours) and _are_row_numbers(theirs):
        return "pair_by_row"
    return "keep_common" if (rows >= 0).any() else "name_other_ids"


def _plain_id(id_: object) -> str:
    """Return an id without what programs may change: leading zeros, .0, and case."""
    return re.sub(r"\b0+(?=\d)|\.0+$", "", str(id_).casefold())


def _are_row_numbers(ids: pa.Array) -> bool:
    """Return whether ids (N,) are whole numbers, each one more than that before it."""
    texts = ids.cast(pa.string()).to_pylist()
    if not all(map(str.isdecimal, texts)):
        return False
    return are_consecutive(np.array(list(map(int, texts)), dtype=object))


def note_unused_ids(first: Submission, second: Submission) -> Note | None:
    """Return a note if rows paired by position have ids that differ and are more than row numbers."""
    if first.ids is None or second.ids is None or len(first.ids) != len(second.ids):
        return None
    ours, theirs = _arrow_ids(first.ids, second.ids)
    if _are_row_numbers(ours) and _are_row_numbers(theirs):
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
    shared = _find_shared_ids(submissions, ids)
    are_kept = [
        find_positions(of_system, shared[submission.part]) >= 0
        for submission, of_system in zip(submissions, ids, strict=True)
    ]
    population = "" if all(map(np.all, are_kept)) else COMMON
    return [
        replace(_keep_rows(submission, kept), population=population)
        for submission, kept in zip(submissions, are_kept, strict=True)
    ]


def _find_shared_ids(
    submissions: Sequence[Submission], ids: Sequence[pa.Array]
) -> dict[str, pa.Array]:
    """Return by part the ids that all systems have; InputError if a part has none."""
    pairs = zip(submissions, ids, strict=True)
    by_part = grouped(pairs, lambda pair: pair[0].part)
    num_systems = max(map(len, by_part.values()))
    shared = {}
    for part, of_part in by_part.items():
        (_, common), *following = of_part
        for _, of_system in following:
            common = common.filter(from_numpy(find_positions(common, of_system) >= 0))
        shared[part] = common
        if len(of_part) < num_systems or not len(common):
            got = f"none in {part}" if part else "none"
            raise InputError(
                "in_common", "needs ids that all systems have", got=got, advice="name_other_ids"
            )
    return shared


def _make_comparisons(family: Family) -> list[Comparison]:
    """Return the comparisons of a family: p-values and intervals of each alone, and of all together."""
    level = family.options.confidence_level or LEVEL
    alpha = significance_level(family.options)
    together = family.simultaneous_level(level)
    p_values = family.p_values.tolist()
    adjusted = family.step_down[0].tolist()
    limits = _limits(family, level)
    limits_of_all = _limits(family, together)
    comparisons = []
    for index, test in enumerate(family.tests):
        first = family.values[test.first][test.key]
        second = family.values[test.second][test.key]
        inference = test.inference
        is_tested = family.in_family[index]
        low, high = limits[index]
        low_all, high_all = limits_of_all[index] if is_tested else NO_LIMITS
        row = Comparison(
            first=test.first,
            second=test.second,
            key=test.key,
            difference=first - second if inference is None else inference.value,
            low=low,
            high=high,
            p=p_values[index],
            p_adjusted=adjusted[index],
            comparable=family.may_rank(test),
            low_all=low_all,
            high_all=high_all,
            first_value=first,
            second_value=second,
            untested=family.why_untested(index),
            family=is_tested,
        )
        comparisons.append(replace(row, verdict=choose_verdict(row, alpha)))
    return comparisons


def _limits(family: Family, level: float) -> list[Limits]:
    """Return the interval of each difference at a level; nan where its error is unknown."""
    inferences = [test.inference for test in family.tests]
    known = iter(all_limits(list(filter(None, inferences)), level))
    return [NO_LIMITS if inference is None else next(known) for inference in inferences]


def _require_same_samples(both: str, reference: System, system: System) -> None:
    """Raise InputError unless two systems, aligned, may be paired."""
    reasons = why_not_comparable(reference.basis, system.basis, purpose=Purpose.PAIR)
    if reasons:
        places = {FACTS["labels"].reason: _describe_class_difference(reference, system)}
        differences = [reason + places.get(reason, "") for reason in reasons]
        raise InputError(both, "cannot be paired: these differ: {reasons}", reasons=differences)


def _describe_class_difference(one: System, other: System) -> str:
    """Return, in words, in how many samples the true classes of two aligned systems differ, or nothing."""
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
    return [to_texts(array) for array in arrays]


def _keep_rows(submission: Submission, kept: Bools) -> Submission:
    if kept.all():
        return submission
    rows = np.flatnonzero(kept)
    num_left_out = len(kept) - len(rows)
    left_out = Note("left_out", {"count": num_left_out, "total": len(kept)})
    part = submission.of_rows(rows)
    return replace(part, notes=(*part.notes, left_out))

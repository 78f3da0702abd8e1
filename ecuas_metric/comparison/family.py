"""All differences of systems on the same samples, and what holds of them together.

Each p-value becomes its normal deviate, and is compared with the largest of correlated normal deviates, whose
correlations are those of the influences of the samples. Method: docs/statistics.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..basis import may_rank
from ..errors import Note
from ..inference import Inference, Number, Unseen, infer, unseen
from ..inputs import Floats
from ..intervals import (
    NO_UNITS,
    note_few_units,
    note_on,
    notes_unseen,
    numbers_of,
    why_no_inference,
)
from ..metric import Key
from ..results import System, all_values, answers_drawn

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
            name: numbers_of(answers, values[name]) for name, answers in self.answers.items()
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

    def among_others(self, test: Difference) -> Difference:
        """Return a difference as it is known as one of several, whose smallest p-values are looked at.

        They are small where groups seem to matter less than they do: so tails have the degrees of freedom of the units.
        """
        if test.inference is None or len(self.tests) == 1:
            return test
        return replace(test, inference=test.inference.with_freedom(self.design.freedom))

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
        hidden: dict[str, dict[Key, Unseen]] = {name: {} for name in self.systems}
        for test in self.tests:
            kind = self._unseen(test, level)
            if kind is not None:
                name = (test.first, test.second)[kind.number]
                hidden[name].setdefault(test.key, kind)
        first = next(iter(self.answers.values()))
        notes = [("", note) for note in note_few_units(first)]
        for name, kinds in hidden.items():
            of_system = notes_unseen(self.answers[name], kinds) + self._note_on_fit(name)
            notes += [(name, note) for note in of_system]
        return notes

    def _unseen(self, test: Difference, level: float) -> Unseen | None:
        """Return what the interval of a difference rests on that was not seen."""
        if test.inference is None:
            return None
        return unseen(test.numbers, test.inference, level, self.design)

    def _note_on_fit(self, name: str) -> tuple[Note, ...]:
        """Return a note on what the fit of a system's recalibration decides, if there is anything."""
        fit = self.answers[name].recalibration
        keys = [key for key in self.values[name] if why_no_inference(key, fit) == "decided_by_fit"]
        return note_on("decided_by_fit", keys)

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

        p_values = np.array([self.among_others(test).p_value for test in self.tests])
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
        """Return these tests by one metric, of all its differences: none of systems without any."""
        from scipy.special import ndtr, ndtri

        least_tail: dict[str, float] = {}
        largest_gain: dict[str, Floats] = {}
        for row in rows:
            test = self.tests[row]
            inference = self.among_others(test).inference
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

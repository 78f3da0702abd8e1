"""All differences of systems on the same samples, and what holds of them together.

Each p-value becomes its normal deviate, and is compared with the largest of correlated normal deviates, whose
correlations are those of the influences of the samples. Method: docs/statistics.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ..basis import may_rank
from ..designs import Design, design_of_options
from ..errors import Note
from ..inference import Inference, Number, Unseen, infer, unseen
from ..inputs import Floats, Ints
from ..intervals import NO_UNITS, answers_of, note_few_units, notes_unseen, numbers_of
from ..metric import Key
from ..metrics import Values
from ..ranking import positions
from ..results import System, as_given, drawn

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


class Family:
    """All tests of aligned systems, with the correlations of their errors."""

    def __init__(
        self,
        systems: Mapping[str, System],
        values: Mapping[str, Values],
    ) -> None:
        self.systems = systems
        self.values = values
        self.options = next(iter(systems.values())).options
        samples = {name: drawn(system) for name, system in systems.items()}
        self.design = design_of_systems(samples)
        self.answers = {
            name: answers_of(system.decisions, system.options, paired_rows(system))
            for name, system in samples.items()
        }
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
        if inference and abs(inference.value) <= _ROUNDING * (abs(one.value) + abs(other.value)):
            inference = replace(inference, value=0.0)
        return Difference(first, second, key, numbers, inference)

    @cached_property
    def _draws(self) -> dict[tuple[str, Key], Floats]:
        """Random errors (DRAWS,) of each number of each system."""
        columns = [(name, key) for name, numbers in self.numbers.items() for key in numbers]
        if not columns:
            return {}
        influences = np.stack(
            [influence_of(self.numbers[name][key]) for name, key in columns],
            axis=1,
        )
        draws = deviates(influences, self.design, self.options.random_state)
        return dict(zip(columns, draws, strict=True))

    def errors(self, index: int) -> Floats:
        """Return random errors (DRAWS,) of a difference, in units of their root mean square."""
        test = self.tests[index]
        errors = self._draws[test.first, test.key] - self._draws[test.second, test.key]
        return standardized(
            errors,
            np.random.default_rng((self.options.random_state, index)),
        )

    def notes(self, level: float) -> list[tuple[str, Note]]:
        """Return what intervals of differences rest on that was not seen, by the system of which, and few groups."""
        if not self.design.tells_errors:
            return [("", NO_UNITS)]
        hidden: dict[str, dict[Key, Unseen]] = {name: {} for name in self.systems}
        for test in self.tests:
            name, kind = self._unseen(test, level)
            if kind is not None:
                hidden[name].setdefault(test.key, kind)
        notes = [("", note) for note in note_few_units(self.design)]
        for name, kinds in hidden.items():
            notes += [(name, note) for note in notes_unseen(self.answers[name], kinds)]
        return notes

    def _unseen(
        self,
        test: Difference,
        level: float,
    ) -> tuple[str, Unseen | None]:
        """Return what a difference mostly rests on that was not seen, and of which system."""
        if test.inference is None:
            return "", None
        kind = unseen(test.numbers, test.inference, level)
        if kind is None:
            return "", None
        name = (test.first, test.second)[kind.number]
        is_of_answers = test.numbers[kind.number].groups is self.answers[name].groups
        return name, kind if is_of_answers else None

    def may_rank(self, test: Difference) -> bool:
        """Return whether a metric may rank two systems."""
        return may_rank(
            test.key,
            [self.systems[test.first].basis, self.systems[test.second].basis],
        )

    def adjusted_p_values(self, *, by_metric: bool) -> Floats:
        """Return the p-value of each test for all together, or for all of its metric."""
        p_values = np.array([test.p_value for test in self.tests])
        adjusted = p_values.copy()
        for rows in self._rows_of_metrics().values() if by_metric else [np.arange(len(self.tests))]:
            adjusted[rows] = adjusted_p_values(
                p_values[rows],
                [partial(self.errors, row) for row in rows.tolist()],
            )
        return adjusted

    def simultaneous_level(self, level: float) -> float:
        """Return the level of one interval at which all hold together: that of the largest of the deviates."""
        from scipy.special import ndtr

        largest = np.zeros(DRAWS)
        for index, test in enumerate(self.tests):
            if test.inference is not None:
                np.maximum(
                    largest,
                    np.abs(self.errors(index)),
                    out=largest,
                )
        return max(
            1 - 2 * float(ndtr(-np.quantile(largest, level))),
            level,
        )

    def p_values_of_best(self) -> dict[tuple[str, Key], float]:
        """Return the p-value of each system to be the best, by each metric that ranks all of them."""
        p_values = {}
        for key, rows in self._rows_of_metrics().items():
            if key.entry.higher_is_better is None or not all(
                self.may_rank(self.tests[row]) for row in rows
            ):
                continue
            for name in self.systems:
                tests = [row for row in rows.tolist() if self._is_test_of(row, name)]
                if tests:
                    p_values[name, key] = self._p_value_of_best(name, tests)
        return p_values

    def _is_test_of(self, row: int, name: str) -> bool:
        test = self.tests[row]
        return test.inference is not None and name in (test.first, test.second)

    def _p_value_of_best(self, name: str, rows: Sequence[int]) -> float:
        """Return the p-value of "no other system is better than this one"."""
        tails = []
        errors = []
        for row in rows:
            test = self.tests[row]
            assert test.inference is not None
            # 1: a gain of the other
            sign = 1 if (name == test.second) == test.key.entry.higher_is_better else -1
            tail = test.inference.tail()
            tails.append(tail if test.inference.value * sign > 0 else 1 - tail)
            errors.append(sign * self.errors(row))
        return p_value_of_best(np.array(tails), np.array(errors))

    def _rows_of_metrics(self) -> dict[Key, Ints]:
        """Return the tests of each metric."""
        keys = [test.key for test in self.tests]
        return {
            key: np.flatnonzero([key == other for other in keys]) for key in dict.fromkeys(keys)
        }


def paired_rows(system: System) -> Ints:
    """Return the place of each sample, in the order in which they were given, among the sorted ones."""
    return np.arange(system.num_samples) if system.order is None else positions(system.order)


def design_of_systems(systems: Mapping[str, System]) -> Design:
    """Return the design of the samples of aligned systems, in the order in which these were given."""
    first = next(iter(systems.values()))
    _, options = as_given(first)
    return design_of_options(options, first.num_samples)


def influence_of(number: Number) -> Floats:
    """Return the influence (N,) of each answer on a number."""
    return number.answers().influence(number.seen.line)


def deviates(influences: Floats, design: Design, seed: int = 0) -> Floats:
    """Return random errors (M, DRAWS) of numbers with the covariances that influences (N, M) imply.

    They are those of normal deviates times the Cholesky factor of the correlations.
    """
    moved = design.moved(influences)
    size = np.sqrt(np.square(moved).sum(axis=0))
    moved /= np.where(size > 0, size, 1.0)
    correlations = moved.T @ moved + _DEFINITE * np.eye(len(size))
    draws = np.random.default_rng(seed).standard_normal((len(size), DRAWS))
    return np.asarray(size[:, None] * (np.linalg.cholesky(correlations) @ draws))


def standardized(errors: Floats, generator: np.random.Generator) -> Floats:
    """Return errors (DRAWS,) in units of their root mean square; what varies not is drawn by itself."""
    deviation = math.sqrt(float(np.vecdot(errors, errors)) / len(errors))
    return errors / deviation if deviation > 0 else generator.standard_normal(len(errors))


def adjusted_p_values(
    p_values: Floats,
    errors: Sequence[Callable[[], Floats]],
) -> Floats:
    """Return p-values for all M tests together: step-down, by the largest of correlated normal deviates.

    Each p-value (M,) is turned into its normal deviate; that of the largest is the share of draws whose largest is as
    large, the next one is compared with the largest of the others, and so on (Westfall and Young 1993, Algorithm 4.1;
    Hothorn, Bretz and Westfall 2008). No more than Holm's; nan where there is no test.
    """
    from scipy.special import ndtri

    sizes = -ndtri(p_values / 2)
    order = np.argsort(sizes)[: np.count_nonzero(~np.isnan(sizes))]
    adjusted = np.array(p_values, np.float64)
    largest = np.zeros(DRAWS)
    # from the smallest up: `largest` is that of all that are no larger
    for count, index in enumerate(order, 1):
        np.maximum(
            largest,
            np.abs(errors[index]()),
            out=largest,
        )
        share = (1 + np.count_nonzero(largest >= sizes[index])) / (1 + DRAWS)
        adjusted[index] = max(
            min(share, count * p_values[index]),
            p_values[index],
        )
    ranked = order[::-1]
    adjusted[ranked] = np.maximum.accumulate(adjusted[ranked])
    return adjusted


def p_value_of_best(tails: Floats, errors: Floats) -> float:
    """Return the p-value of "no other system is better" from those (M,) of "this one is not better", and draws (M, B).

    The systems above alpha hold the best one with a probability of 1 - alpha (Gupta 1965; Mogstad et al. 2024).
    """
    from scipy.special import ndtri

    largest = errors.max(axis=0)
    return float(1 + np.count_nonzero(largest >= float(ndtri(1 - tails).max()))) / (1 + DRAWS)

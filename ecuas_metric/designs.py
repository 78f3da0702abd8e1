"""How samples were drawn: weights, groups and strata, and what these do to the variance of a number."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TypeVar

import numpy as np

from .errors import InputError
from .inputs import Bools, Floats, Ints
from .options import Options


@dataclasses.dataclass(frozen=True, slots=True)
class Effect:
    """What a design does to a number, against samples drawn independently."""

    variance: float = 1.0  # factor
    added: float = 1.0  # one more answer counts as so many
    freedom: float = math.inf  # degrees of freedom of Student's t
    # of the number, with one more answer in each stratum; None where there are no strata
    deviation: float | None = None
    skewness: float = 0.0

    def scaled(self, factor: float) -> Effect:
        """Return the effect on so many times as many samples."""
        if self.deviation is None:
            return self
        root = math.sqrt(factor)
        return dataclasses.replace(
            self,
            deviation=self.deviation / root,
            skewness=self.skewness / root,
        )


INDEPENDENT = Effect()
_ROUNDING = 1e-9
_Number = TypeVar("_Number", float, Floats)


@dataclasses.dataclass(frozen=True, slots=True)
class Extremes:
    """Influences (N,) of samples, the most that each could have had, and on which samples the number depends."""

    influence: Floats
    extreme: Floats
    matters: Bools

    def plus(self, other: Extremes) -> Extremes:
        """Return those of a sum."""
        return Extremes(
            self.influence + other.influence,
            self.extreme + other.extreme,
            self.matters | other.matters,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Design:
    """The sampling design of N samples."""

    weight: Floats  # (N,)
    group: Ints | None = None  # (N,), of samples that depend on each other
    stratum: Ints | None = None  # (N,), parts with sizes fixed in advance

    @property
    def is_simple(self) -> bool:
        """Whether all samples were drawn independently, from one population."""
        return self.group is None and self.stratum is None

    @property
    def units(self) -> tuple[Floats, Ints]:
        """The weight of each unit, group or sample, and its stratum (U,)."""
        stratum = self._strata
        if self.group is None:
            return self.weight, stratum
        home = np.zeros(
            int(self.group.max()) + 1,
            np.int64,
        )
        home[self.group] = stratum
        return np.asarray(np.bincount(self.group, self.weight), np.float64), home

    @property
    def num_units(self) -> float:
        """The number of equal units that would tell as much of a variance."""
        return effective_size(self._spread(self.weight))

    @property
    def freedom(self) -> float:
        """The degrees of freedom of a variance: units less strata, at least 1."""
        return max(
            self.num_units - (int(self._strata.max()) + 1),
            1.0,
        )

    @property
    def tells_errors(self) -> bool:
        """Whether there are two units in each stratum, and all are worth two: otherwise no error is known."""
        weight, stratum = self.units
        return int(np.bincount(stratum).min()) > 1 and effective_size(weight) > 2 - _ROUNDING

    @property
    def _strata(self) -> Ints:
        return np.zeros(len(self.weight), np.int64) if self.stratum is None else self.stratum

    def _spread(self, weight: Floats) -> Floats:
        """Return the variance of each unit (U,), but for a factor, from weights (N,).

        That of a group is between those of answers that are independent, sum of w^2, and all alike, (sum of w)^2.
        """
        square = np.square(weight)
        if self.group is None:
            return square
        alike = np.bincount(self.group, weight)
        return np.asarray(alike * np.sqrt(np.bincount(self.group, square)))

    def moved(self, influences: Floats) -> Floats:
        """Return what each unit (U, M) moves numbers by, about the mean of its stratum; influences are (N, M)."""
        stratum = self._strata
        weight = self.weight[:, None]
        total = _sums(weight * influences, stratum)
        mean = total / _sums(weight, stratum)
        moved = weight * (influences - mean[stratum])
        return moved if self.group is None else _sums(moved, self.group)

    def effect(self, extremes: Extremes) -> Effect:
        """Return what groups and strata do to a number with these influences."""
        if self.is_simple:
            return INDEPENDENT
        clustering, freedom = self._clustering(extremes)
        most = float(clustering.max())
        parts = _parts(self.weight, self._strata, extremes, clustering)
        total = float(parts.variance.sum())
        if not total > 0:
            return Effect(most, most, float(freedom.min()))
        # of what the answers of each stratum tell, and of what only its groups do (Satterthwaite 1946)
        excess = parts.variance * (1 - 1 / clustering)
        squares = np.square(parts.variance) / parts.freedom + np.square(excess) / freedom
        effect = Effect(most, most, total**2 / float(squares.sum()))
        if self.stratum is None:
            return effect
        whole = _parts(
            self.weight,
            np.zeros(len(self.weight), np.int64),
            extremes,
            np.ones(1),
        )
        # Shifts of independent parts are recovered variances (Zou and Donner 2008): each counts as it adds to the root.
        shift = float(parts.shift @ np.sqrt(parts.variance / total))
        return dataclasses.replace(
            effect,
            variance=total / float(whole.variance[0]),
            added=shift / float(whole.shift[0]) if whole.shift[0] else 1.0,
            deviation=math.sqrt(total) / float(self.weight.sum()),
            skewness=float(parts.third.sum()) / total**1.5,
        )

    def _clustering(self, extremes: Extremes) -> tuple[Floats, Floats]:
        """Return by how much groups increase the variance of each stratum (H,), and the degrees of freedom of that."""
        stratum = self._strata
        size = int(stratum.max()) + 1
        if self.group is None:
            return np.ones(size), np.full(size, math.inf)
        weight = np.bincount(stratum, self.weight)
        mean = np.bincount(stratum, self.weight * extremes.influence) / weight
        moved = self.weight * (extremes.influence - mean[stratum])
        weight_of_unit, home = self.units
        share = weight_of_unit / weight[home]
        # k / (k - 1) for k equal groups (Bell and McCaffrey 2002)
        squares = np.square(np.bincount(self.group, moved)) / np.maximum(1 - share, _ROUNDING)
        together = np.bincount(home, squares, minlength=size)
        alone = np.bincount(stratum, np.square(moved))
        effect = np.maximum(
            np.divide(together, alone, out=np.ones(size), where=alone > 0),
            1.0,
        )
        spread = self._spread(self.weight * extremes.matters)
        square = np.square(np.bincount(home, spread, minlength=size))
        fourth = np.bincount(home, np.square(spread), minlength=size)
        number = np.divide(
            square,
            fourth,
            out=np.ones(size),
            where=fourth > 0,
        )
        return effect, np.maximum(number - 1, 1.0)


def _sums(values: Floats, part: Ints) -> Floats:
    """Return the sums (H, M) of values (N, M) over parts."""
    return np.stack(
        [np.bincount(part, column) for column in values.T],
        axis=1,
    )


SIMPLE = Design(np.ones(0))  # samples of which only sums are known, drawn independently


@dataclasses.dataclass(frozen=True, slots=True)
class _Parts:
    """Of each part (H,), times its weight: moments of its mean with one more answer, and what that one shifts."""

    variance: Floats
    third: Floats
    shift: Floats
    freedom: Floats  # the degrees of freedom of that variance


def variance_factor(count: _Number) -> _Number:
    """Return the variance of a Dirichlet mean over the second moment of its parts, of so many equal answers."""
    return count / (count + 1)


def third_factor(count: _Number) -> _Number:
    """Return its third central moment over that of its parts."""
    return 2 * count**2 / ((count + 1) * (count + 2))


def _parts(
    weight: Floats,
    part: Ints,
    extremes: Extremes,
    clustering: Floats,
) -> _Parts:
    """Return the moments of parts, in which so many answers (H,) tell as much as one."""

    def total(values: Floats) -> Floats:
        return np.asarray(np.bincount(part, values), np.float64)

    whole = total(weight)
    squared = total(np.square(weight))
    unit = squared / whole
    relevant = np.where(extremes.matters, weight, 0.0)
    of_part = total(relevant)
    one = np.divide(unit * clustering, of_part, out=np.zeros_like(unit), where=of_part > 0)
    mass = relevant * one[part]
    added = whole + total(mass)
    mean = total(weight * extremes.influence) / whole
    moved = (total(weight * extremes.influence) + total(mass * extremes.extreme)) / added
    seen = weight * (extremes.influence - moved[part])
    unseen = extremes.extreme - moved[part]
    squares = total(np.square(seen)) + unit * total(mass * np.square(unseen))
    cubes = total(seen**3) + np.square(unit) * total(mass * unseen**3)
    shrunk = whole / added
    count = added / (unit * clustering)
    return _Parts(
        squares * clustering * np.square(shrunk) * variance_factor(count),
        cubes * np.square(clustering) * shrunk**3 * third_factor(count),
        whole * np.abs(moved - mean),
        np.maximum(np.square(squared) / total(weight**4) - 1, 1.0),
    )


def design_of(
    num_samples: int,
    *,
    weight: Floats | None = None,
    groups: Ints | None = None,
    strata: Ints | None = None,
) -> Design:
    """Return the design of samples; InputError if a group lies in two strata."""
    stratum = None if strata is None else np.unique(strata, return_inverse=True)[1]
    weight = np.ones(num_samples) if weight is None else weight
    if groups is None:
        return Design(weight, None, stratum)
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    if stratum is not None:
        split = np.flatnonzero(stratum != stratum[first][group])
        if len(split):
            raise InputError(
                "groups", "group_in_two_strata", got=f"one in two, at sample {split[0]}"
            )
    return Design(weight, group, stratum)


def design_of_options(options: Options, num_samples: int) -> Design:
    """Return the design that the options describe."""
    return design_of(
        num_samples,
        weight=options.sample_weight,
        groups=options.groups,
        strata=options.strata,
    )


@functools.cache
def student_quantile(level: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution at `level` in (0, 1): the normal one for infinite freedom."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(level) if math.isinf(freedom) else stdtrit(freedom, level))


def effective_size(weight: Floats) -> float:
    """Return Kish's effective number of samples of weights (N,): (sum of w)^2 / sum of w^2."""
    weight = weight / weight.max()  # first: squares of very small ones would vanish
    return float(weight.sum()) ** 2 / float(np.vecdot(weight, weight))

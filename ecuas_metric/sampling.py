"""The sampling design, of weights, groups and strata: its effect on variances, and the bootstrap.

A *statistic* is a function of counts, shape (B, N), that returns a mapping of keys to arrays of shape (B,): resamples
are weights on one sorted data set, which is never sorted again. Methods: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .errors import InputError, Note
from .groups import divide, subtract_mean, sum_parts
from .inputs import (
    NO_LIMITS,
    Array,
    Bools,
    FloatOrFloats,
    Floats,
    Ints,
    Limits,
    blocks,
    inner_product,
    is_broadcast,
)
from .options import Options

if TYPE_CHECKING:
    from .metric import Key

_ROUNDING = 1e-9
Counts = npt.NDArray[np.uint16]  # no unit is drawn more often than this holds
_LEFT_OUT_NOTE = 0.01  # share of the resamples in which a metric has no value


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The design effects of groups on a number, or on several (M, ..), in each stratum (.., H) or everywhere."""

    # the design effect, on the variance and on the weight of one more answer
    factor: Floats | float = 1.0
    # the effective number of groups, for what they add to the variance
    number: Floats | float = math.inf
    units: Floats | float = math.inf  # the same for all of the variance

    def select(self, index: int | Ints) -> Clusters:
        """Return the design effects on the number, or numbers, at this index."""
        if self is INDEPENDENT:
            return self
        columns = (self.factor, self.number, self.units)
        return Clusters(*(np.asarray(column)[index] for column in columns))

    def scaled(self, factor: float) -> Clusters:
        """Return the clusters of a sample `factor` times as large."""
        return Clusters(self.factor, self.number * factor, self.units * factor)


INDEPENDENT = Clusters()


@dataclass(frozen=True, slots=True)
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
        size = len(self.weight)
        stratum = np.zeros(size, np.int64) if self.stratum is None else self.stratum
        if self.group is None:
            return self.weight, stratum
        weight = sum_parts(self.group, self.weight)
        home = np.zeros(len(weight), np.int64)
        home[self.group] = stratum
        return weight, home

    @property
    def num_units(self) -> float:
        """The effective number of units for the estimate of a variance."""
        return effective_size(self._spread(self.weight))

    @property
    def num_strata(self) -> int:
        """The number of strata, 1 if there are none."""
        return len(self.sum_strata(self.weight))

    @property
    def freedom(self) -> float:
        """The degrees of freedom of a variance: units less strata, at least 1."""
        return max(self.num_units - self.num_strata, 1.0)

    @property
    def tells_errors(self) -> bool:
        """Whether there are two units in each stratum, and all are worth two: otherwise no error is known."""
        weight, stratum = self.units
        fewest = len(weight) if self.stratum is None else np.bincount(stratum).min()
        return bool(fewest > 1) and effective_size(weight) > 2 - _ROUNDING

    def sum_strata(self, values: Floats) -> Floats:
        """Return the sums (.., H) of values (.., N) over strata."""
        if self.stratum is None:
            return np.asarray(values.sum(axis=-1, keepdims=True))
        return sum_parts(self.stratum, values)

    def broadcast_strata(self, values: Floats) -> Floats:
        """Return values (.., H) of strata for each sample (.., N); without strata they stay (.., 1)."""
        return values if self.stratum is None else values[..., self.stratum]

    def centred(self, values: Floats) -> Floats:
        """Return values (.., N) less the weighted mean of their stratum."""
        weighted = self.weight * values
        whole = self.sum_strata(self.weight)
        mean = self.sum_strata(weighted) / whole
        size = self.sum_strata(np.abs(weighted)) / whole
        return subtract_mean(values, self.broadcast_strata(mean), self.broadcast_strata(size))

    def _spread(self, weight: Floats) -> Floats:
        """Return the variance (U,) of each unit, up to a common factor, from weights (N,).

        Of a group it is the geometric mean of sum of w^2, for independent answers, and (sum of w)^2, for equal ones.
        """
        square = np.square(weight)
        if self.group is None:
            return square
        return sum_parts(self.group, weight) * np.sqrt(sum_parts(self.group, square))

    def unit_influences(self, influences: Floats) -> Floats:
        """Return the weighted influence (M, U) of units, about the mean of strata, from that of samples (M, N)."""
        moved = self.weight * self.centred(influences)
        return moved if self.group is None else sum_parts(self.group, moved)

    def measure_clusters(self, influence: Floats, matters: Bools, farthest: Floats) -> Clusters:
        """Return the design effects of groups on M numbers.

        Arguments are (M, N): the influence of each sample, whether the number depends on its cost, and the square of
        the largest deviation that one more answer there may have, see `design_effect`.
        """
        if self.group is None:
            return INDEPENDENT
        weight, home = self.units
        share = weight / sum_parts(home, weight)[home]
        deviations = self.weight * self.centred(influence)
        # the jackknife: k / (k - 1) for k equal groups, and more where one has much of the weight
        count = np.bincount(home)[home]
        squares = np.square(sum_parts(self.group, deviations) / np.maximum(1 - share, _ROUNDING))
        squares *= (count - 1) / count
        relevant = self.weight * matters
        apart = sum_parts(self.group, np.square(relevant))
        independent = sum_parts(home, apart)
        alike = sum_parts(home, np.square(sum_parts(self.group, relevant)))
        size = divide(alike, independent, 1.0)
        unit = self.sum_strata(np.square(self.weight)) / self.sum_strata(self.weight)
        mean_square = divide(self.sum_strata(relevant * farthest), self.sum_strata(relevant))
        one_more = np.square(unit) * mean_square
        alone = self.sum_strata(np.square(deviations))
        effect = design_effect(sum_parts(home, squares), alone, one_more, size)
        factor = np.maximum(effect, 1.0)
        # the part of each group (M, U) in what groups add to the variance, and in all of it
        spread = self._spread(relevant)
        added = divide(spread, sum_parts(home, spread)[..., home])
        excess = 1 - 1 / factor[..., home]
        whole = divide(apart, independent[..., home]) / factor[..., home] + added * excess
        number, units = (
            divide(np.ones(factor.shape), sum_parts(home, np.square(part)), 1.0)
            for part in (added, whole)
        )
        return Clusters(factor, number, units)

    def count_added(self, clusters: Clusters) -> FloatOrFloats:
        """Return as how many answers one more in each stratum counts: for each number (M,), or one for all.

        Shifts of independent parts are recovered variances (Zou and Donner 2008): each counts as it adds to the root.
        """
        if self.is_simple:
            return 1.0
        weight = self.sum_strata(self.weight)
        square = self.sum_strata(np.square(self.weight))
        variance = square * clusters.factor
        whole = variance.sum(axis=-1, keepdims=True)
        shift = np.vecdot(variance / weight, np.sqrt(variance / whole))
        return np.asarray(shift * float(weight.sum() / square.sum()))


SIMPLE = Design(np.ones(0))  # samples of which only sums are known, drawn independently


def design_effect(together: Floats, alone: Floats, one_more: Floats, size: Floats) -> Floats:
    """Return the design effect (H,): the variance of sums of groups over that of independent answers.

    `together` and `alone` are these two; to both, one more answer with the variance `one_more` is added, in a group of
    this size whose answers are all alike. It counts by its share in all variance: where hardly any answer deviates,
    nothing else tells whether those of a group do so together.
    """
    one_more = one_more * divide(one_more, one_more + alone)
    return divide(together + size * one_more, alone + one_more, 1.0)


def make_design(num_samples: int, options: Options) -> Design:
    """Return the design that the options describe; InputError if a group lies in two strata."""
    weight = options.weights(num_samples)
    stratum = None
    if options.strata is not None:
        stratum = np.unique(options.strata, return_inverse=True)[1]
    if options.groups is None:
        return Design(weight, None, stratum)
    _, first, group = np.unique(options.groups, return_index=True, return_inverse=True)
    if stratum is not None:
        split = np.flatnonzero(stratum != stratum[first][group])
        if len(split):
            raise InputError(
                "groups", "must each lie in one stratum", got=f"one in two, at sample {split[0]}"
            )
    return Design(weight, group, stratum)


def effective_size(weight: Floats) -> float:
    """Return Kish's effective number of samples of weights (N,): (sum of w)^2 / sum of w^2."""
    if is_broadcast(weight):
        return float(len(weight))
    weight = weight / weight.max()  # first: squares of very small ones would vanish
    return float(weight.sum()) ** 2 / inner_product(weight, weight)


# ---- the bootstrap ---------------------------------------------------------------------------------------------------


def bootstrap_intervals(
    statistic: Callable[[Array], Mapping[Key, Floats]],
    design: Design,
    options: Options,
    *,
    progress: bool = False,
) -> tuple[dict[Key, Limits], tuple[Note, ...]]:
    """Return the percentile interval of each key of a statistic, and a note if resamples were left out.

    Efron and Tibshirani, "An Introduction to the Bootstrap" (1993).
    """
    replicates = _compute_replicates(statistic, design, options, progress)
    level = options.confidence_level or 0.0
    limits = {key: percentile_interval(values, level) for key, values in replicates.items()}
    return limits, _note_left_out(replicates)


def percentile_interval(replicates: Floats, level: float) -> Limits:
    """Return the percentile interval of finite replicates (B,)."""
    finite = replicates[np.isfinite(replicates)]
    if not len(finite):
        return NO_LIMITS
    tail = (1 - level) / 2
    low, high = np.quantile(finite, [tail, 1 - tail])
    return float(low), float(high)


def bootstrap_counts(design: Design, options: Options) -> Iterator[Counts]:
    """Yield how often each sample is drawn, shape (b, N), in chunks that add up to `n_resamples` rows."""
    generator = np.random.default_rng(options.random_state)
    weight, stratum = design.units
    members = [np.flatnonzero(stratum == one) for one in range(stratum.max() + 1)]
    for part in blocks(options.n_resamples, row_size=len(design.weight)):
        counts = np.empty((part.stop - part.start, len(weight)), np.uint16)
        for of_stratum in members:
            counts[:, of_stratum] = _draw_counts(generator, len(counts), len(of_stratum))
        yield counts if design.group is None else counts[:, design.group]


def _draw_counts(
    generator: np.random.Generator,
    rows: int,
    size: int,
) -> Counts:
    """Return how often each of `size` units is drawn in `size` draws, for each of some rows: (rows, size)."""
    draws = generator.integers(0, size, (rows, size), dtype=np.int32)
    cells = draws + np.arange(rows)[:, None] * size
    counts = np.bincount(cells.ravel(), minlength=draws.size)
    return counts.reshape(draws.shape).astype(np.uint16)


def _compute_replicates(
    statistic: Callable[[Array], Mapping[Key, Floats]],
    design: Design,
    options: Options,
    progress: bool,
) -> dict[Key, Floats]:
    from tqdm import tqdm

    parts: dict[Key, list[Floats]] = {}
    total = options.n_resamples
    with tqdm(total=total, desc="bootstrap", unit="resample", delay=1, disable=not progress) as bar:
        for chunk in bootstrap_counts(design, options):
            # a resample may have no sample of some kind
            with np.errstate(divide="ignore", invalid="ignore"):
                values_of_chunk = statistic(chunk)
            for key, values in values_of_chunk.items():
                parts.setdefault(key, []).append(values)
            bar.update(len(chunk))
    return {key: np.concatenate(values) for key, values in parts.items()}


def _note_left_out(replicates: Mapping[Key, Floats]) -> tuple[Note, ...]:
    """Return a note if some metric has no value in more than 1 % of the resamples, but not in all."""
    listed = []
    for key, values in replicates.items():
        share = np.mean(~np.isfinite(values))
        if _LEFT_OUT_NOTE < share < 1:
            listed.append(f"{key} {share:.1%}")
    return (Note("resamples_left_out", {"metrics": listed}),) if listed else ()

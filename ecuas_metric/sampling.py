"""Drawing samples again: the bootstrap.

A *statistic* is a function of counts, shape (B, N), that returns a mapping of keys to arrays of shape (B,): resamples
are weights on one sorted data set, which is never sorted again. Methods: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from .designs import design_of
from .errors import Note
from .inputs import Array, Floats, Ints, Limits, blocks
from .options import LEVEL

_K = TypeVar("_K", bound=Hashable)
Counts = npt.NDArray[np.uint16]  # more draws of one unit than that do not happen
ResampledStatistic = Callable[[Array], Mapping[_K, Floats]]
NONE = (math.nan, math.nan)
_LEFT_OUT_NOTE = 0.01  # share of the resamples in which a metric has no value


class Resampling(NamedTuple):
    """How resamples are drawn: how many, their seed, the group (N,) and the stratum (N,) of each sample, or None."""

    n_resamples: int = 1000
    random_state: int = 0
    groups: Ints | None = None
    strata: Ints | None = None


def intervals(
    statistic: ResampledStatistic[_K],
    num_samples: int,
    *,
    resampling: Resampling,
    confidence_level: float = LEVEL,
    progress: bool = False,
) -> tuple[dict[_K, Limits], tuple[Note, ...]]:
    """Return the percentile interval of each key of a statistic, and a note if resamples were left out.

    Efron and Tibshirani, "An Introduction to the Bootstrap" (1993).
    """
    weights = bootstrap_weights(num_samples, resampling)
    replicates = _collect(statistic, weights, resampling.n_resamples, progress)
    limits = {
        key: interval(values, confidence_level=confidence_level)
        for key, values in replicates.items()
    }
    return limits, _note_left_out(replicates)


def interval(replicates: Floats, *, confidence_level: float = LEVEL) -> Limits:
    """Return the percentile interval of finite replicates (B,)."""
    finite = replicates[np.isfinite(replicates)]
    if not len(finite):
        return NONE
    low, high = np.quantile(
        finite,
        [(1 - confidence_level) / 2, (1 + confidence_level) / 2],
    )
    return float(low), float(high)


def bootstrap_weights(num_samples: int, resampling: Resampling) -> Iterator[Counts]:
    """Yield how often each sample is drawn, shape (b, N), in chunks that add up to `n_resamples` rows."""
    generator = np.random.default_rng(resampling.random_state)
    design = design_of(num_samples, groups=resampling.groups, strata=resampling.strata)
    _, unit_strata = design.units
    members = [np.flatnonzero(unit_strata == stratum) for stratum in range(unit_strata.max() + 1)]
    for part in blocks(resampling.n_resamples, row_size=num_samples):
        rows = part.stop - part.start
        counts = _drawn(generator, rows, len(members[0]))
        if len(members) > 1:
            parts = [counts, *(_drawn(generator, rows, len(others)) for others in members[1:])]
            counts = np.concatenate(parts, axis=1)[:, np.argsort(np.concatenate(members))]
        yield counts if design.group is None else counts[:, design.group]


def _drawn(
    generator: np.random.Generator,
    rows: int,
    size: int,
) -> Counts:
    """Return how often each of `size` units is drawn in `size` draws, (rows, size)."""
    draws = generator.integers(0, size, (rows, size), dtype=np.int32)
    cells = draws + np.arange(rows)[:, None] * size
    counts = np.bincount(cells.ravel(), minlength=draws.size)
    return counts.reshape(draws.shape).astype(np.uint16)


def _collect(
    statistic: ResampledStatistic[_K], weights: Iterator[Counts], total: int, progress: bool
) -> dict[_K, Floats]:
    from tqdm.auto import tqdm

    parts: dict[_K, list[Floats]] = {}
    with tqdm(total=total, desc="bootstrap", unit="resample", delay=1, disable=not progress) as bar:
        for chunk in weights:
            # a resample may have no sample of some kind
            with np.errstate(divide="ignore", invalid="ignore"):
                values_of_chunk = statistic(chunk)
            for key, values in values_of_chunk.items():
                parts.setdefault(key, []).append(values)
            bar.update(len(chunk))
    return {key: np.concatenate(values) for key, values in parts.items()}


def _note_left_out(replicates: Mapping[_K, Floats]) -> tuple[Note, ...]:
    """Return a note if some metric has no value in more than 1 % of the resamples, but not in all."""
    shares = {key: np.mean(~np.isfinite(values)) for key, values in replicates.items()}
    listed = [f"{key} {share:.1%}" for key, share in shares.items() if _LEFT_OUT_NOTE < share < 1]
    return (Note("resamples_left_out", {"metrics": listed}),) if listed else ()

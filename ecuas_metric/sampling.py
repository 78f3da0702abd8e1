"""Drawing samples again: the bootstrap.

A *statistic* is a function of counts, shape (B, N), that returns a mapping of keys to arrays of shape (B,): resamples
are weights on one sorted data set, which is never sorted again. Methods: docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from .designs import Design
from .errors import Note
from .inputs import NO_LIMITS, Array, Floats, Limits, blocks
from .metric import Key
from .options import Options

Counts = npt.NDArray[np.uint16]  # no unit is drawn more often than this holds
ResampledStatistic = Callable[[Array], Mapping[Key, Floats]]
_LEFT_OUT_NOTE = 0.01  # share of the resamples in which a metric has no value


def intervals(
    statistic: ResampledStatistic,
    design: Design,
    options: Options,
    *,
    progress: bool = False,
) -> tuple[dict[Key, Limits], tuple[Note, ...]]:
    """Return the percentile interval of each key of a statistic, and a note if resamples were left out.

    Efron and Tibshirani, "An Introduction to the Bootstrap" (1993).
    """
    replicates = _collect(statistic, design, options, progress)
    level = options.confidence_level or 0.0
    limits = {key: interval(values, level) for key, values in replicates.items()}
    return limits, _note_left_out(replicates)


def interval(replicates: Floats, level: float) -> Limits:
    """Return the percentile interval of finite replicates (B,)."""
    finite = replicates[np.isfinite(replicates)]
    if not len(finite):
        return NO_LIMITS
    tail = (1 - level) / 2
    low, high = np.quantile(finite, [tail, 1 - tail])
    return float(low), float(high)


def bootstrap_weights(design: Design, options: Options) -> Iterator[Counts]:
    """Yield how often each sample is drawn, shape (b, N), in chunks that add up to `n_resamples` rows."""
    generator = np.random.default_rng(options.random_state)
    weight, stratum = design.units
    members = [np.flatnonzero(stratum == one) for one in range(stratum.max() + 1)]
    for part in blocks(options.n_resamples, row_size=len(design.weight)):
        counts = np.empty((part.stop - part.start, len(weight)), np.uint16)
        for of_stratum in members:
            counts[:, of_stratum] = _drawn(generator, len(counts), len(of_stratum))
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
    statistic: ResampledStatistic, design: Design, options: Options, progress: bool
) -> dict[Key, Floats]:
    from tqdm.auto import tqdm

    parts: dict[Key, list[Floats]] = {}
    total = options.n_resamples
    with tqdm(total=total, desc="bootstrap", unit="resample", delay=1, disable=not progress) as bar:
        for chunk in bootstrap_weights(design, options):
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

"""Bootstrap intervals of any statistic that takes sample weights.

A *statistic* is a function of weights, shape (B, N), that returns a mapping of keys to arrays of shape (B,): all
resamples are weights on one sorted data set, which is never copied or sorted again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from statistics import NormalDist
from typing import NamedTuple, TypeVar

import numpy as np

from .errors import InputError, Note
from .inputs import FloatOrFloats, Floats, Ints

K = TypeVar("K", bound=Hashable)
Statistic = Callable[[Floats], Mapping[K, FloatOrFloats]]
CHUNK_SIZE = 2**17  # weights at a time: one megabyte, so that the passes over them stay in the cache
JACKKNIFE_BLOCKS = 1000
LEFT_OUT_NOTE = 0.01


class Resampling(NamedTuple):
    """How resamples are drawn.

    Attributes
    ----------
    n_resamples : int
    random_state : int
        Seed of a `numpy.random.Generator`: the same seed gives the same numbers.
    groups : ndarray of int, shape (N,), or None
        Samples of one group, as the questions of one document, are drawn together.
    strata : ndarray of int, shape (N,), or None
        Each stratum keeps its number of samples (or groups).
    """

    n_resamples: int = 1000
    random_state: int = 0
    groups: Ints | None = None
    strata: Ints | None = None


def bootstrap(
    statistic: Statistic[K], num_samples: int, *, resampling: Resampling, progress: bool = False
) -> dict[K, Floats]:
    """Return the statistic of each resample, shape (`n_resamples`,) for each key.

    References
    ----------
    Efron and Tibshirani 1993, "An introduction to the bootstrap".

    Examples
    --------
    >>> data = np.array([1.0, 2.0, 6.0])
    >>> means = bootstrap(lambda w: {"mean": w @ data / 3}, 3, resampling=Resampling(500))["mean"]
    >>> bool(abs(means.mean() - 3) < 0.2), means.shape
    (True, (500,))
    """
    return _collect(statistic, bootstrap_weights(num_samples, resampling), resampling.n_resamples, progress)


def bootstrap_weights(num_samples: int, resampling: Resampling) -> Iterator[Floats]:
    """Yield how often each sample is drawn, shape (b, N), in chunks that add up to `n_resamples` rows."""
    generator = np.random.default_rng(resampling.random_state)
    unit, unit_strata = units(num_samples, resampling)
    members = [np.flatnonzero(unit_strata == stratum) for stratum in range(unit_strata.max() + 1)]
    for rows in chunks(resampling.n_resamples, num_samples):
        counts = np.empty((rows, len(unit_strata)))
        for of_stratum in members:
            draws = generator.integers(0, len(of_stratum), (rows, len(of_stratum)), dtype=np.int32)
            draws += np.arange(rows, dtype=np.int32)[:, None] * len(of_stratum)
            counts[:, of_stratum] = np.bincount(draws.ravel(), minlength=draws.size).reshape(draws.shape)
        yield counts if resampling.groups is None else counts[:, unit]


def interval(
    replicates: Floats,
    *,
    confidence_level: float = 0.95,
    estimate: float | None = None,
    jackknife: Floats | None = None,
) -> tuple[float, float]:
    """Return the percentile interval of bootstrap replicates, or the BCa interval where `jackknife` is given.

    Parameters
    ----------
    replicates : ndarray, shape (B,)
        Those that are nan, as an AUROC without an incorrect sample, are left out.
    confidence_level : float
        In (0, 1).
    estimate : float
        The statistic of the data itself; for BCa.
    jackknife : ndarray, shape (J,)
        The statistic with each sample (or block of them) left out, see `jackknife`; for BCa.

    Returns
    -------
    low, high : float
        nan if no replicate is left.

    References
    ----------
    Efron 1987, "Better bootstrap confidence intervals" (BCa).
    """
    finite = replicates[np.isfinite(replicates)]
    if not len(finite):
        return math.nan, math.nan
    tails = np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    if jackknife is not None:
        tails = _bca_tails(tails, finite, estimate, jackknife[np.isfinite(jackknife)])
    low, high = np.quantile(finite, tails)
    return float(low), float(high)


def intervals(
    statistic: Statistic[K],
    num_samples: int,
    *,
    resampling: Resampling,
    confidence_level: float = 0.95,
    method: str = "percentile",
    progress: bool = False,
) -> tuple[dict[K, tuple[float, float]], tuple[Note, ...]]:
    """Return the interval of each key of a statistic, and a note if resamples were left out.

    Parameters
    ----------
    statistic : callable
        Weights (B, N) to a mapping of keys to arrays (B,).
    num_samples : int
        N.
    resampling : Resampling
    confidence_level : float
        In (0, 1).
    method : {"percentile", "bca"}
        BCa also corrects for bias and skewness, for the price of a jackknife (of at most 1000 blocks).

    Returns
    -------
    limits : dict of key to (low, high)
    notes : tuple of Note
        One if a key is nan in more than 1 % of the resamples, which are left out.
    """
    replicates = bootstrap(statistic, num_samples, resampling=resampling, progress=progress)
    notes = note_left_out(replicates)
    if method == "percentile":
        return {key: interval(values, confidence_level=confidence_level) for key, values in replicates.items()}, notes
    estimate = {key: float(np.asarray(value)[0]) for key, value in statistic(np.ones((1, num_samples))).items()}
    without = jackknife(statistic, num_samples, resampling=resampling)
    limits = {
        key: interval(values, confidence_level=confidence_level, estimate=estimate[key], jackknife=without[key])
        for key, values in replicates.items()
    }
    return limits, notes


def jackknife(statistic: Statistic[K], num_samples: int, *, resampling: Resampling) -> dict[K, Floats]:
    """Return the statistic with each sample or group left out, or each of 1000 blocks of them if there are more."""
    unit, unit_strata = units(num_samples, resampling)
    num_units = len(unit_strata)
    num_blocks = min(num_units, JACKKNIFE_BLOCKS)
    # At random: neighbours are alike where the samples stand in the order of their uncertainties.
    shuffled = np.random.default_rng(resampling.random_state).permutation(num_units)
    block = np.empty(num_units, np.int64)
    block[shuffled] = np.arange(num_units) * num_blocks // num_units
    block = block[unit]

    def weights() -> Iterator[Floats]:
        first = 0
        for rows in chunks(num_blocks, num_samples):
            yield (block != np.arange(first, first + rows)[:, None]).astype(np.float64)
            first += rows

    return _collect(statistic, weights(), num_blocks, False)


def units(num_samples: int, resampling: Resampling) -> tuple[Ints, Ints]:
    """Return the unit (sample or group) of each sample, shape (N,), and the stratum of each unit, shape (U,)."""
    strata = np.zeros(num_samples, np.int64)
    if resampling.strata is not None:
        strata = np.unique(resampling.strata, return_inverse=True)[1]
    if resampling.groups is None:
        return np.arange(num_samples), strata
    _, first, unit = np.unique(resampling.groups, return_index=True, return_inverse=True)
    split = np.flatnonzero(strata != strata[first][unit])
    if len(split):
        raise InputError("groups", "must each lie in one stratum", got=f"one in two, at sample {split[0]}")
    return unit, strata[first]


def chunks(total: int, num_samples: int) -> Iterator[int]:
    """Yield how many rows of `num_samples` numbers to hold at a time, adding up to `total`."""
    rows = max(1, CHUNK_SIZE // num_samples)
    for first in range(0, total, rows):
        yield min(rows, total - first)


def _collect(statistic: Statistic[K], weights: Iterator[Floats], total: int, progress: bool) -> dict[K, Floats]:
    from tqdm.auto import tqdm

    parts: dict[K, list[Floats]] = {}
    with tqdm(total=total, desc="bootstrap", unit="resample", delay=1, disable=not progress) as bar:
        for chunk in weights:
            with np.errstate(divide="ignore", invalid="ignore"):  # a resample may have no sample of some kind
                values_of_chunk = statistic(chunk)
            for key, values in values_of_chunk.items():
                parts.setdefault(key, []).append(values)
            bar.update(len(chunk))
    return {key: np.concatenate(values) for key, values in parts.items()}


def _bca_tails(tails: Floats, replicates: Floats, estimate: float | None, without: Floats) -> Floats:
    if estimate is None or not math.isfinite(estimate):
        raise InputError("estimate", "must be finite for a BCa interval", value=estimate)
    normal = NormalDist()
    below = (np.count_nonzero(replicates < estimate) + np.count_nonzero(replicates <= estimate)) / 2
    share = min(max(below / len(replicates), 0.5 / len(replicates)), 1 - 0.5 / len(replicates))
    bias = normal.inv_cdf(share)
    deviations = without.mean() - without if len(without) else np.zeros(1)
    spread = np.square(deviations).sum() ** 1.5
    acceleration = np.power(deviations, 3).sum() / (6 * spread) if spread > 0 else 0.0
    shifted = [bias + normal.inv_cdf(tail) for tail in tails]
    return np.array([normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted])


def note_left_out(replicates: Mapping[K, Floats]) -> tuple[Note, ...]:
    """Return a note if some metric has no value in more than 1 % of the resamples, but not in all."""
    shares = {key: np.mean(~np.isfinite(values)) for key, values in replicates.items()}
    listed = ", ".join(f"{key} {share:.1%}" for key, share in shares.items() if LEFT_OUT_NOTE < share < 1)
    if not listed:
        return ()
    fact = (
        f"Resamples in which a metric has no value are left out of its interval: {listed}. "
        "AUROC needs both correct and incorrect samples; with few of one kind its interval is too narrow."
    )
    return (Note("resamples_left_out", fact),)

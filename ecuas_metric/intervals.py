"""Bootstrap intervals, paired tests and Holm's correction, for any statistic that takes sample weights.

A *statistic* is a function of weights, shape (B, N), that returns a dict of key to array of shape (B,): all resamples
are weights on one sorted data set, which is never copied or sorted again.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .inputs import Floats, Ints

Statistic = Callable[[Floats], dict[str, Any]]
CHUNK_SIZE = 2**18  # weights at a time: two megabytes, so that the passes over them stay in the cache
JACKKNIFE_BLOCKS = 1000
LEFT_OUT_WARNING = 0.01


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
    statistic: Statistic, num_samples: int, *, resampling: Resampling, progress: bool = False
) -> dict[str, Floats]:
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
    unit, unit_strata = _units(num_samples, resampling)
    members = [np.flatnonzero(unit_strata == stratum) for stratum in range(unit_strata.max() + 1)]
    for rows in _chunks(resampling.n_resamples, num_samples):
        counts = np.empty((rows, len(unit_strata)))
        for units in members:
            draws = generator.integers(0, len(units), (rows, len(units)), dtype=np.int32)
            draws += np.arange(rows, dtype=np.int32)[:, None] * len(units)
            counts[:, units] = np.bincount(draws.ravel(), minlength=draws.size).reshape(draws.shape)
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
    statistic: Statistic,
    num_samples: int,
    *,
    resampling: Resampling,
    confidence_level: float = 0.95,
    method: str = "percentile",
    progress: bool = False,
) -> dict[str, tuple[float, float]]:
    """Return the interval of each key of a statistic.

    Parameters
    ----------
    statistic, num_samples, resampling
        As of `bootstrap`.
    method : {"percentile", "bca"}
        BCa also corrects for bias and skewness, for the price of a jackknife (of at most 1000 blocks).

    Returns
    -------
    dict of str to (low, high)

    Warns
    -----
    UserWarning
        If a key is nan in more than 1 % of the resamples, which are left out.
    """
    replicates = bootstrap(statistic, num_samples, resampling=resampling, progress=progress)
    _warn_left_out(replicates)
    if method == "percentile":
        return {key: interval(values, confidence_level=confidence_level) for key, values in replicates.items()}
    estimate = {key: float(np.asarray(value)[0]) for key, value in statistic(np.ones((1, num_samples))).items()}
    without = jackknife(statistic, num_samples, resampling=resampling)
    return {
        key: interval(values, confidence_level=confidence_level, estimate=estimate[key], jackknife=without[key])
        for key, values in replicates.items()
    }


def jackknife(statistic: Statistic, num_samples: int, *, resampling: Resampling) -> dict[str, Floats]:
    """Return the statistic with each sample or group left out, or each of 1000 blocks of them if there are more."""
    unit, unit_strata = _units(num_samples, resampling)
    num_units = len(unit_strata)
    num_blocks = min(num_units, JACKKNIFE_BLOCKS)
    block = (np.arange(num_units) * num_blocks // num_units)[unit]

    def weights() -> Iterator[Floats]:
        first = 0
        for rows in _chunks(num_blocks, num_samples):
            yield (block != np.arange(first, first + rows)[:, None]).astype(np.float64)
            first += rows

    return _collect(statistic, weights(), num_blocks, False)


def bootstrap_p_value(replicates: Floats) -> float:
    """Return the two-sided p-value of "the difference is 0" from its bootstrap replicates.

    Twice the smaller of the shares at or beyond 0 on either side, the data counted among the resamples: the level at
    which the percentile interval just excludes 0.
    """
    finite = replicates[np.isfinite(replicates)]
    if not len(finite):
        return math.nan
    tail = min(np.count_nonzero(finite <= 0), np.count_nonzero(finite >= 0))
    return min(1.0, 2 * (1 + tail) / (1 + len(finite)))


def sign_flip_p_values(differences: Floats, *, resampling: Resampling) -> Floats:
    """Return two-sided p-values of "the mean difference is 0", by flipping the signs of samples (or groups) at random.

    Parameters
    ----------
    differences : ndarray, shape (N, M)
        Per-sample (weighted) differences of M costs. If the systems were exchangeable, each sign would be as likely.
    resampling : Resampling
        Its `groups` flip together; `n_resamples` sets the resolution, 1 / (n_resamples + 1).

    Returns
    -------
    ndarray, shape (M,)
        In (0, 1].

    References
    ----------
    Good 2005, "Permutation, parametric and bootstrap tests of hypotheses".
    """
    if resampling.groups is not None:
        unit, unit_strata = _units(len(differences), resampling)
        sums = np.zeros((len(unit_strata), differences.shape[1]))
        np.add.at(sums, unit, differences)
        differences = sums
    generator = np.random.default_rng(resampling.random_state)
    observed = np.abs(differences.sum(axis=0))
    tolerance = 1e-12 * np.abs(differences).sum(axis=0)
    extreme = np.zeros(differences.shape[1])
    for rows in _chunks(resampling.n_resamples, len(differences)):
        signs = generator.integers(0, 2, (rows, len(differences)), dtype=np.int8) * 2.0 - 1.0
        extreme += (np.abs(signs @ differences) >= observed - tolerance).sum(axis=0)
    return (1 + extreme) / (1 + resampling.n_resamples)


def holm(p_values: ArrayLike) -> Floats:
    """Return Holm's adjusted p-values, shape (M,), valid for all M tests together; nan stays nan and counts for none.

    References
    ----------
    Holm 1979, "A simple sequentially rejective multiple test procedure".

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    adjusted = np.full(p.shape, math.nan)
    order = np.argsort(p)[: np.count_nonzero(np.isfinite(p))]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted


def _collect(statistic: Statistic, weights: Iterator[Floats], total: int, progress: bool) -> dict[str, Floats]:
    from tqdm.auto import tqdm

    parts: dict[str, list[Floats]] = {}
    with tqdm(total=total, desc="bootstrap", unit="resample", delay=1, disable=not progress) as bar:
        for chunk in weights:
            for key, values in statistic(chunk).items():
                parts.setdefault(key, []).append(values)
            bar.update(len(chunk))
    return {key: np.concatenate(values) for key, values in parts.items()}


def _units(num_samples: int, resampling: Resampling) -> tuple[Ints, Ints]:
    """Return the unit (sample or group) of each sample, shape (N,), and the stratum of each unit, shape (U,)."""
    strata = np.zeros(num_samples, np.int64) if resampling.strata is None else resampling.strata
    strata = np.unique(strata, return_inverse=True)[1]
    if resampling.groups is None:
        return np.arange(num_samples), strata
    _, first, unit = np.unique(resampling.groups, return_index=True, return_inverse=True)
    split = np.flatnonzero(strata != strata[first][unit])
    if len(split):
        raise ValueError(f"each group must lie in one stratum; that of sample {split[0]} lies in two.")
    return unit, strata[first]


def _chunks(total: int, num_samples: int) -> Iterator[int]:
    rows = max(1, CHUNK_SIZE // num_samples)
    for first in range(0, total, rows):
        yield min(rows, total - first)


def _bca_tails(tails: Floats, replicates: Floats, estimate: float | None, without: Floats) -> Floats:
    if estimate is None or not math.isfinite(estimate):
        raise ValueError("a BCa interval needs a finite estimate.")
    normal = NormalDist()
    below = (np.count_nonzero(replicates < estimate) + np.count_nonzero(replicates <= estimate)) / 2
    share = min(max(below / len(replicates), 0.5 / len(replicates)), 1 - 0.5 / len(replicates))
    bias = normal.inv_cdf(share)
    deviations = without.mean() - without
    spread = np.square(deviations).sum() ** 1.5
    acceleration = np.power(deviations, 3).sum() / (6 * spread) if spread > 0 else 0.0
    shifted = [bias + normal.inv_cdf(tail) for tail in tails]
    return np.array([normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted])


def _warn_left_out(replicates: dict[str, Floats]) -> None:
    shares = {key: np.mean(~np.isfinite(values)) for key, values in replicates.items()}
    many = {key: share for key, share in shares.items() if LEFT_OUT_WARNING < share < 1}
    if many:
        listed = ", ".join(f"{key} {share:.1%}" for key, share in many.items())
        warnings.warn(
            f"Resamples in which a metric has no value are left out of its interval: {listed}. "
            "AUROC needs both correct and incorrect samples; with few of one kind its interval is too narrow.",
            stacklevel=3,
        )

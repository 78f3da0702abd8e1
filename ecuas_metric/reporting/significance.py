"""Paired tests of a difference between two systems, and Holm's correction for several of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..inputs import Floats
from ..intervals import Resampling, chunks, units


def bootstrap_p_value(replicates: Floats) -> float:
    """Return the two-sided p-value of "the difference is 0" from its bootstrap replicates.

    Twice the smaller of the shares at or beyond 0 on either side, the data counted among the resamples: the level at
    which the percentile interval just excludes 0.

    Parameters
    ----------
    replicates : ndarray, shape (B,)
        Those that are nan are left out.

    Returns
    -------
    float
        In (0, 1]; nan if no replicate is left.

    References
    ----------
    Davison and Hinkley 1997, "Bootstrap methods and their application", on counting the data.

    Examples
    --------
    >>> bootstrap_p_value(np.array([0.1, 0.2, 0.3, -0.1]))
    0.8
    """
    finite = replicates[np.isfinite(replicates)]
    if not len(finite):
        return math.nan
    tail = min(np.count_nonzero(finite <= 0), np.count_nonzero(finite >= 0))
    return min(1.0, 2.0 * (1 + int(tail)) / (1 + len(finite)))


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

    Examples
    --------
    >>> sign_flip_p_values(np.zeros((5, 1)), resampling=Resampling(99)).tolist()
    [1.0]
    """
    if resampling.groups is not None:
        unit, unit_strata = units(len(differences), resampling)
        sums = np.zeros((len(unit_strata), differences.shape[1]))
        np.add.at(sums, unit, differences)
        differences = sums
    generator = np.random.default_rng(resampling.random_state)
    observed = np.abs(differences.sum(axis=0))
    tolerance = 1e-12 * np.abs(differences).sum(axis=0)
    extreme = np.zeros(differences.shape[1])
    for rows in chunks(resampling.n_resamples, len(differences)):
        signs = generator.integers(0, 2, (rows, len(differences)), dtype=np.int8) * 2.0 - 1.0
        extreme += (np.abs(signs @ differences) >= observed - tolerance).sum(axis=0)
    return (1 + extreme) / (1 + resampling.n_resamples)


def holm(p_values: ArrayLike) -> Floats:
    """Return Holm's adjusted p-values, valid for all M tests together.

    Parameters
    ----------
    p_values : array_like, shape (M,)
        In [0, 1], or nan where no test was made.

    Returns
    -------
    ndarray, shape (M,)
        nan stays nan, and does not count as a test.

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

"""How much of an ECUAS_n recalibration alone would save: its calibration loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from .costs import ecuas_cost
from .decisions import Graded
from .inputs import FloatOrFloats, Floats
from .ranking import tie_groups


def recalibrated_scores(
    graded: Graded, *, n: tuple[float, ...], epsilon: float = 1e-7, sample_weight: Floats | None = None
) -> dict[str, FloatOrFloats]:
    """Return each ECUAS_n after the best monotone recalibration of the uncertainties, fitted on the same data.

    Replaced are the uncertainties by the isotonic regression of the candidate costs on them: of all maps that keep
    their order, the pool-adjacent-violators solution is the best for every proper score at once. The metric
    less this value is its calibration loss; what is left is due to the decisions and to the order.

    Parameters
    ----------
    graded : Graded
    n, epsilon, sample_weight
        As of `metrics.scores`.

    Returns
    -------
    dict
        ``ecuas_{n:g}_recalibrated`` to float, at most ``ecuas_{n:g}`` and the same for any strictly increasing
        map of the uncertainties. (At n = 0 the floor `epsilon` can undercut it by about as much.)

    References
    ----------
    Brummer and du Preez 2013, "The PAV algorithm optimizes binary proper scoring rules".
    """
    try:
        from scipy.optimize import isotonic_regression
    except ImportError:
        raise ImportError("decompose needs SciPy: pip install 'ecuas-metric[recalibration]'") from None
    groups = tie_groups(graded.rank_by, graded.candidate_cost, sample_weight=sample_weight)
    shape = groups.weight.shape[:-1]
    rows = [
        _best_scores(weight, cost, isotonic_regression, n, graded.max_uncertainty, epsilon)
        for weight, cost in zip(*(np.atleast_2d(a.reshape(-1, a.shape[-1])) for a in groups[:2]), strict=True)
    ]
    columns = np.array(rows).T.reshape(len(n), *shape)
    return {f"ecuas_{order:g}_recalibrated": column[()] for order, column in zip(n, columns, strict=True)}


def _best_scores(
    weight: Floats, cost: Floats, isotonic_regression: Any, n: tuple[float, ...], max_uncertainty: float, epsilon: float
) -> list[float]:
    """Return each ECUAS_n of tie groups, shape (G,), whose uncertainties are the isotonic regression of their costs."""
    weight, cost = weight[weight > 0], cost[weight > 0]
    mean_cost = cost / weight
    uncertainty = np.clip(isotonic_regression(mean_cost, weights=weight).x, 0.0, max_uncertainty)
    limits = {"max_uncertainty": max_uncertainty, "epsilon": epsilon}
    # The cost of a sample is affine in its candidate cost: a group costs what its mean would.
    return [weight @ ecuas_cost(uncertainty, mean_cost, n=order, **limits) / weight.sum() for order in n]

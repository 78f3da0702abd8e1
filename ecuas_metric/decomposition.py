"""How much of an ECUAS_n recalibration alone would save: its calibration loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .costs import ecuas_cost
from .inputs import FloatOrFloats, Floats
from .metrics import Key
from .options import Options
from .ranking import TieGroups

Isotonic = Callable[[Floats, Floats], Floats]  # values and weights, (G,) each -> their isotonic regression


def recalibrated_values(ties: TieGroups, options: Options, *, max_uncertainty: float) -> dict[Key, FloatOrFloats]:
    """Return each ECUAS_n after the best monotone recalibration of the uncertainties, fitted on the same data.

    The uncertainties are replaced by the isotonic regression of the candidate costs on them: among all maps that
    preserve their order, the pool-adjacent-violators solution is optimal for every proper score at once. The metric
    minus this value is its calibration loss; the rest is due to the decisions and to the order.

    Parameters
    ----------
    ties : TieGroups
    options : Options
        Of which n and epsilon are used.
    max_uncertainty : float
        u_M of the decisions.

    Returns
    -------
    dict of Key to float, or to ndarray of shape (...)
        At most the ECUAS_n itself, and the same for any strictly increasing map of the uncertainties. (The
        floor `epsilon` can undercut it by about as much.)

    Raises
    ------
    ImportError
        If SciPy is not installed.

    References
    ----------
    Brummer and du Preez 2013, "The PAV algorithm optimizes binary proper scoring rules".
    """
    regression, shape = _isotonic_regression(), ties.weight.shape[:-1]
    rows = [
        _best_values(weight, cost, regression, options, max_uncertainty)
        for weight, cost in zip(*(a.reshape(-1, a.shape[-1]) for a in ties[:2]), strict=True)
    ]
    columns = np.array(rows).T.reshape(len(options.n), *shape)
    return {Key("ecuas", n, "recalibrated"): column[()] for n, column in zip(options.n, columns, strict=True)}


def recalibrated_uncertainty(ties: TieGroups, *, max_uncertainty: float) -> Floats:
    """Return the uncertainty of each tie group, shape (G,), after the best monotone recalibration.

    Parameters
    ----------
    ties : TieGroups
        With one set of weights. A group without weight has the uncertainty of the one before it.
    max_uncertainty : float
    """
    held = ties.weight > 0
    u = _best_uncertainty(ties.weight[held], ties.cost[held], _isotonic_regression(), max_uncertainty)
    return np.asarray(u[np.maximum(np.cumsum(held) - 1, 0)])


def _best_values(
    weight: Floats, cost: Floats, regression: Isotonic, options: Options, max_uncertainty: float
) -> list[float]:
    """Return each ECUAS_n of tie groups, shape (G,), whose uncertainties are the isotonic regression of their costs."""
    weight, cost = weight[weight > 0], cost[weight > 0]
    u = _best_uncertainty(weight, cost, regression, max_uncertainty)
    # The cost of a sample is affine in its candidate cost: a group costs what its mean would.
    mean_cost = cost / weight
    costs = (ecuas_cost(u, mean_cost, n=n, max_uncertainty=max_uncertainty, epsilon=options.epsilon) for n in options.n)
    return [float(weight @ cost / weight.sum()) for cost in costs]


def _best_uncertainty(weight: Floats, cost: Floats, regression: Isotonic, max_uncertainty: float) -> Floats:
    return np.asarray(np.clip(regression(cost / weight, weight), 0.0, max_uncertainty))


def _isotonic_regression() -> Isotonic:
    try:
        from scipy.optimize import isotonic_regression
    except ImportError:
        raise ImportError("decompose needs SciPy: pip install 'ecuas-metric[recalibration]'") from None
    return lambda values, weights: np.asarray(isotonic_regression(values, weights=weights).x)

"""What others report of such systems: ECE, AUROC, AURC, AUGRC, and the per-sample scores of the confidence.

The error rate, the cross-entropy and the Brier score are means of per-sample costs, see `metrics`.
"""

from __future__ import annotations

import numpy as np

from .inputs import FloatOrFloats, Floats, Ints, blocks
from .ranking import TieGroups


def confidence_cross_entropy_cost(uncertainty: Floats, incorrect: Floats, *, epsilon: float = 1e-7) -> Floats:
    """Return -log q_e of correct and -log(1 - q_e) of incorrect samples (nats), q_e in [epsilon, 1 - epsilon].

    Parameters
    ----------
    uncertainty : ndarray, shape (N,)
        1 - q_e in [0, 1].
    incorrect : ndarray, shape (N,)
        0 or 1.
    epsilon : float
        In (0, 0.5).

    Returns
    -------
    ndarray, shape (N,)

    References
    ----------
    Estienne et al., section "Empirical analysis", CE of q_e.

    Examples
    --------
    >>> confidence_cross_entropy_cost(np.array([0.25, 0.25]), np.array([0, 1])).round(4).tolist()
    [0.2877, 1.3863]
    """
    clipped = np.clip(uncertainty, epsilon, 1 - epsilon)
    return -np.log(np.abs(1 - incorrect - clipped))  # of the complement where correct, of itself where incorrect


def confidence_brier_cost(uncertainty: Floats, incorrect: Floats) -> Floats:
    """Return (q_e - correct)^2 = (u - incorrect)^2 of each sample, in [0, 1].

    References
    ----------
    Estienne et al., section "Empirical analysis", BS of q_e.

    Examples
    --------
    >>> confidence_brier_cost(np.array([0.25, 0.25]), np.array([0, 1])).tolist()
    [0.0625, 0.5625]
    """
    return np.square(uncertainty - incorrect)


def confidence_bins(confidence: Floats, *, n_bins: int = 10) -> Ints:
    """Return the index of each confidence's bin [k / n_bins, (k + 1) / n_bins), the last one closed.

    Examples
    --------
    The edges are the decimals one writes, not products that miss them:

    >>> confidence_bins(np.array([0.0, 0.29, 0.57, 1.0]), n_bins=100).tolist()
    [0, 29, 57, 99]
    """
    bins = (confidence * n_bins).astype(np.int64)
    bins += confidence >= (bins + 1) / n_bins
    bins -= confidence < bins / n_bins
    return np.minimum(bins, n_bins - 1)


def ece(
    confidence: Floats, incorrect: Floats, *, n_bins: int = 10, sample_weight: Floats | None = None
) -> FloatOrFloats:
    """Return the expected calibration error: sum over bins of share * abs(mean confidence - accuracy).

    Parameters
    ----------
    confidence : ndarray, shape (N,)
        q_e in [0, 1].
    incorrect : ndarray, shape (N,)
        0 or 1.
    n_bins : int
        Number of bins of equal width, see `confidence_bins`.
    sample_weight : ndarray, shape (..., N), optional

    Returns
    -------
    float or ndarray, shape (...)
        In [0, 1]; 0 is calibrated on average within each bin.

    References
    ----------
    Naeini et al. 2015; Estienne et al., section "Empirical analysis".

    Examples
    --------
    >>> ece(np.array([0.9, 0.9, 0.9, 0.9]), np.array([0, 0, 0, 1])).round(4)
    np.float64(0.15)
    """
    gaps: FloatOrFloats = 0.0
    for rows in blocks(len(confidence)):
        bins = confidence_bins(confidence[rows], n_bins=n_bins)
        gap = confidence[rows] - (1 - incorrect[rows])
        weight = None if sample_weight is None else sample_weight[..., rows]
        gaps = gaps + sums_in_bins(gap, bins, n_bins=n_bins, sample_weight=weight)
    total = len(confidence) if sample_weight is None else sample_weight.sum(axis=-1)
    return np.abs(gaps).sum(axis=-1) / total


def sums_in_bins(values: Floats, bins: Ints, *, n_bins: int, sample_weight: Floats | None = None) -> Floats:
    """Sum (weighted) values (N,) over bins: shape (..., n_bins)."""
    if sample_weight is None:
        return np.asarray(np.bincount(bins, values, minlength=n_bins), np.float64)
    rows = sample_weight.reshape(-1, len(values))
    sums = [np.bincount(bins, row * values, minlength=n_bins) for row in rows]
    return np.reshape(np.array(sums), (*sample_weight.shape[:-1], n_bins))


def auroc(groups: TieGroups) -> FloatOrFloats:
    """Return the probability that a correct sample is less uncertain than an incorrect one, ties counting 1/2.

    Parameters
    ----------
    groups : TieGroups
        Of `ranking.tie_groups` with the 0-1 cost: ``cost`` is the weight of the incorrect samples.

    Returns
    -------
    float or ndarray, shape (...)
        In [0, 1]; 1 separates correct from incorrect, 0.5 is chance; nan if there is only one of the two.

    References
    ----------
    Hanley and McNeil 1982; Estienne et al., section "Empirical analysis".
    """
    total, cost = groups.weight_until[..., -1], groups.cost_until[..., -1]
    pairs = (total - cost) * cost
    # Pairs won and lost are what is left of all pairs after those of two incorrect samples.
    wins = np.maximum(total * cost - _cost_area(groups) - np.square(cost) / 2, 0.0)  # not -1e-17
    return wins / np.where(pairs > 0, pairs, np.nan)


def aurc(groups: TieGroups) -> FloatOrFloats:
    r"""Return the area under risk against coverage, samples taken from low to high uncertainty.

    .. math:: \frac{1}{N - 1} \sum_{k=2}^{N} \frac{R_{k-1} + R_k}{2}, \qquad R_k = E_k / k

    the trapezoid rule over coverages 1/N, 2/N .. 1, divided by 1 - 1/N. :math:`E_k` is the cost of the first k
    samples, in expectation over the orders of tied samples: it grows linearly inside a tie group, and the
    value does not depend on the order of the rows. A weight counts as so many equal samples, also where it is
    no whole number: the sum over k of a tie group's :math:`1/k` is a difference of harmonic numbers, which
    exist for real k.

    Parameters
    ----------
    groups : TieGroups
        Of `ranking.tie_groups`, with total weight N >= 1.

    Returns
    -------
    float or ndarray, shape (...)
        In [0, max c]; the risk itself where N = 1.

    References
    ----------
    Geifman, Uziel and El-Yaniv 2019; Estienne et al., section "Empirical analysis".
    """
    weight, cost, until, cost_until, _ = groups
    total = until[..., -1]
    last_risk = cost_until[..., -1] / total
    # Over a group of weight w and cost c that starts at a, E_k = E_a + (k - a) c / w: sum E_k / k by the sum of 1 / k.
    inverse_sums = _inverse_sums(groups)
    inside = weight - (until - weight) * inverse_sums
    inside *= cost
    inside /= weight if weight.all() else np.where(weight > 0, weight, 1.0)
    before = np.einsum("...g,...g->...", cost_until, inverse_sums) - np.einsum("...g,...g->...", cost, inverse_sums)
    risks = before + inside.sum(axis=-1)
    first_risk = _first_risk(groups)
    area = (risks - (first_risk + last_risk) / 2) / np.where(total > 1, total - 1, np.nan)
    return np.where(total > 1, area, last_risk)[()]


def augrc(groups: TieGroups) -> FloatOrFloats:
    """Return the area under generalised risk, the accepted cost / N, against coverage from 0 to 1.

    Trapezoid rule, ties as in `aurc`. For the 0-1 cost and accuracy a it equals
    (1 - AUROC) a (1 - a) + (1 - a)^2 / 2.

    Parameters
    ----------
    groups : TieGroups
        Of `ranking.tie_groups`.

    Returns
    -------
    float or ndarray, shape (...)
        In [0, max c / 2].

    References
    ----------
    Traub et al. 2024, "Overcoming common flaws in the evaluation of selective classification systems".
    """
    return _cost_area(groups) / np.square(groups.weight_until[..., -1])


def harmonic_numbers(x: Floats) -> Floats:
    """Return 1 + 1/2 + .. + 1/x, continued to real x >= 0 as digamma(x + 1) + Euler's constant.

    Examples
    --------
    >>> harmonic_numbers(np.array([0.0, 1.0, 2.0, 0.5])).round(9).tolist()  # the last one is 2 - 2 log 2
    [0.0, 1.0, 1.5, 0.613705639]
    """
    top = x.max(initial=0.0)
    if top <= x.size and (x == np.floor(x)).all():
        table = np.zeros(int(top) + 1)
        np.cumsum(1 / np.arange(1, len(table)), out=table[1:])
        return np.asarray(table[x.astype(np.int64)])
    y = x + 20.0  # where four terms of the asymptotic series are exact to float64
    z = 1 / np.square(y)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z / 240)))
    return np.euler_gamma + np.log(y) + 0.5 / y - series - sum(1 / (x + k) for k in range(1, 21))


def _inverse_sums(groups: TieGroups) -> Floats:
    """Return for each tie group the sum of 1 / k over its samples k, counted from the least uncertain one."""
    if (groups.weight == 1).all():
        return 1 / groups.weight_until
    return np.diff(harmonic_numbers(groups.weight_until), axis=-1, prepend=0.0)


def _first_risk(groups: TieGroups) -> FloatOrFloats:
    """Return the cost of the first unit of weight."""
    until = groups.weight_until
    index = np.argmax(until >= np.minimum(1.0, until[..., -1:]), axis=-1)[..., None]
    end, cost_end, weight, cost = (
        np.take_along_axis(array, index, axis=-1)[..., 0]
        for array in (until, groups.cost_until, groups.weight, groups.cost)
    )
    return cost_end - cost / weight * (end - 1.0)


def _cost_area(groups: TieGroups) -> FloatOrFloats:
    """Return the area under accepted cost against accepted weight, by trapezoids."""
    whole = np.einsum("...g,...g->...", groups.cost_until, groups.weight)
    return whole - np.einsum("...g,...g->...", groups.cost, groups.weight) / 2

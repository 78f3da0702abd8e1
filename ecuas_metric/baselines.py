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
    cost, cost_until = groups.cost, groups.cost_until
    correct = groups.weight - cost  # of each group: a difference of totals would lose what weighs little
    incorrect = cost_until[..., -1]
    lost = np.einsum("...g,...g->...", correct, cost_until) - np.einsum("...g,...g->...", correct, cost) / 2
    pairs = correct.sum(axis=-1) * incorrect
    return np.clip(1 - lost / np.where(pairs > 0, pairs, np.nan), 0.0, 1.0)


def aurc(groups: TieGroups) -> FloatOrFloats:
    r"""Return the area under risk against coverage, samples taken from low to high uncertainty.

    .. math:: \frac{1}{N - 1} \sum_{k=2}^{N} \frac{R_{k-1} + R_k}{2}, \qquad R_k = E_k / k

    the trapezoid rule over coverages 1/N, 2/N .. 1, divided by 1 - 1/N. :math:`E_k` is the cost of the first k
    samples, in expectation over the orders of tied samples: it grows linearly inside a tie group, and the
    value does not depend on the order of the rows. With weights, k is the weight taken: 1, 2 .. and at last the total
    weight W, in a step that may be shorter than 1, divided by W - 1. The value is a mean of risks, continuous in
    the weights, and a weight that is a whole number is so many equal samples.

    The unit of the weights matters, for N samples taken twice have an area of their own: that of 2 N points. See
    `options.checked_options`: weights that count samples are in the unit of one sample, all others are brought to the
    unit in which their total is their effective number of samples, N where they are equal.

    Parameters
    ----------
    groups : TieGroups
        Of `ranking.tie_groups`, with total weight W.

    Returns
    -------
    float or ndarray, shape (...)
        In [0, max c]; the risk itself where W <= 1.

    References
    ----------
    Geifman, Uziel and El-Yaniv 2019; Estienne et al., section "Empirical analysis"; Kish 1965, "Survey sampling",
    for the effective number of samples.
    """
    total = groups.weight_until[..., -1]
    whole = np.maximum(np.floor(total), 1.0)  # the last whole point
    first_risk, last_risk = _risk_at(groups, np.minimum(total, 1.0)), groups.cost_until[..., -1] / total
    area = _sum_of_risks(groups) - first_risk / 2
    if (whole == total).all():
        area = area - last_risk / 2
    else:
        whole_risk = _risk_at(groups, np.minimum(whole, total))
        area = area - whole_risk / 2 + (total - whole) * (whole_risk + last_risk) / 2
    return np.where(total > 1, area / np.where(total > 1, total - 1, 1.0), last_risk)[()]


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


def harmonic_numbers(count: Floats) -> Floats:
    """Return 1 + 1/2 + .. + 1/k for each k in `count`, whole numbers >= 0.

    Examples
    --------
    >>> harmonic_numbers(np.array([0.0, 1.0, 2.0, 4.0])).round(9).tolist()
    [0.0, 1.0, 1.5, 2.083333333]
    """
    top = count.max(initial=0.0)
    if top <= count.size:
        table = np.zeros(int(top) + 1)
        np.cumsum(1 / np.arange(1, len(table)), out=table[1:])
        return np.asarray(table[count.astype(np.int64)])
    y = count + 20.0  # where four terms of the asymptotic series are exact to float64
    z = 1 / np.square(y)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z / 240)))
    return np.euler_gamma + np.log(y) + 0.5 / y - series - sum(1 / (count + k) for k in range(1, 21))


def _sum_of_risks(groups: TieGroups) -> FloatOrFloats:
    """Return the sum of E_k / k over the whole numbers k up to the total weight."""
    weight, cost, until, cost_until, _ = groups
    if (weight == 1).all():
        return np.einsum("...g,...g->...", cost_until, 1 / until)
    # Over a group of weight w and cost c that starts at a, E_k = E_a + (k - a) c / w: sum E_k / k by the sum of 1 / k.
    whole = np.floor(until)
    inverse_sums = np.diff(harmonic_numbers(whole), axis=-1, prepend=0.0)
    inside = np.diff(whole, axis=-1, prepend=0.0) - (until - weight) * inverse_sums
    inside *= cost
    inside /= weight if weight.all() else np.where(weight > 0, weight, 1.0)
    before = np.einsum("...g,...g->...", cost_until, inverse_sums) - np.einsum("...g,...g->...", cost, inverse_sums)
    return before + inside.sum(axis=-1)


def _risk_at(groups: TieGroups, weight: FloatOrFloats) -> FloatOrFloats:
    """Return the mean cost of the first `weight` of weight, shape (...)."""
    index = np.argmax(groups.weight_until >= np.asarray(weight)[..., None], axis=-1)[..., None]
    end, cost_end, group_weight, cost = (
        np.take_along_axis(array, index, axis=-1)[..., 0]
        for array in (groups.weight_until, groups.cost_until, groups.weight, groups.cost)
    )
    return (cost_end - cost / group_weight * (end - weight)) / weight


def _cost_area(groups: TieGroups) -> FloatOrFloats:
    """Return the area under accepted cost against accepted weight, by trapezoids."""
    whole = np.einsum("...g,...g->...", groups.cost_until, groups.weight)
    return whole - np.einsum("...g,...g->...", groups.cost, groups.weight) / 2

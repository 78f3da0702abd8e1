"""Every number of the metric once more, in decimals of 28 digits, from the paper's definitions alone.

Ties are averaged over all orders. Nothing of the package is imported.
"""

import itertools
import math
from decimal import Decimal
from typing import NamedTuple

EPSILON = Decimal("1e-7")


class Oracle(NamedTuple):
    """The decisions of a system: u, c, q_e (None unless 0-1), u_M, weights, whether they are counts, unit of costs."""

    uncertainty: list[Decimal]
    cost: list[Decimal]
    confidence: list[Decimal] | None
    largest: Decimal
    weight: list[Decimal]
    counts: bool
    unit: Decimal = Decimal(1)


def numbers_of(system, *, orders, reject_costs):
    """Return every metric of decisions by its key."""
    pairs = list(zip(system.uncertainty, system.cost, strict=True))
    weight = system.weight
    values = {"error_rate" if system.confidence else "risk": mean(weight, system.cost)}
    if system.confidence:
        for name, value in OF_CONFIDENCES.items():
            values[name] = value(system.confidence, system.cost, weight)
    # each of the pieces (length, cost per length) of one order
    values |= {name: _over_orders(system, area) for name, area in OF_ONE_ORDER.items()}
    for g in reject_costs:
        accepts = [int(u <= min(g, system.largest)) for u, _ in pairs]
        accepted_weight = [w * a for w, a in zip(weight, accepts, strict=True)]
        paid = [c if a else g for a, c in zip(accepts, system.cost, strict=True)]
        values[f"expected_cost_{g:g}"] = mean(weight, paid)
        values[f"coverage_{g:g}"] = mean(weight, accepts)
        values[f"selective_risk_{g:g}"] = mean(accepted_weight, system.cost)
    for n in orders:
        value = mean(weight, [ecuas(u, c, n, system.largest, system.unit) for u, c in pairs])
        best = _recalibrated(system, n)
        values[f"ecuas_{n:g}"] = value
        values[f"ecuas_{n:g}_recalibrated"] = best
        values[f"ecuas_{n:g}_calibration_loss"] = value - best
    return values


def normalized(values, naive):
    """Return the normalised values, from those of the naive system."""
    return {f"normalized_{key}": ratio(values[key], value) for key, value in naive.items()}


def naive_of_confidences(system):
    """Return what the constant confidence p = accuracy scores."""
    p = mean(system.weight, system.cost)
    return {"confidence_cross_entropy": entropy([p, 1 - p]), "confidence_brier_score": p * (1 - p)}


def naive_of_classes(
    labels, weight, uncertainty_of, largest, unit, *, name, num_classes, orders, reject_costs
):
    """Return what the class frequencies score, as a posterior of every sample."""
    q = [mean(weight, [int(label == k) for label in labels]) for k in range(num_classes)]
    u = uncertainty_of(q)
    values = {name: u, "cross_entropy": entropy(q), "brier_score": 1 - sum(p * p for p in q)}
    values |= {f"ecuas_{n:g}": ecuas(u, u, n, largest, unit) for n in orders}
    return values | {f"expected_cost_{g:g}": min(u, g) for g in reject_costs}


def ecuas(u, c, n, largest, unit=1):
    """Return the cost of one sample, Equation psr_integral_n with the floor, in units of costs, and the safeguard."""
    u, c, largest = map(Decimal, (u, c, largest))
    if u >= largest:
        return Decimal(1)
    if n == math.inf:
        return c / largest
    log_ratio = (max(u, EPSILON * unit) / largest).ln()
    if n == 0:
        return u / largest - c * log_ratio / largest
    n = Decimal(n)
    power = (n * log_ratio).exp()
    return u / largest * power + c * (n + 1) / (n * largest) * (1 - power)


def entropy(q):
    """Return the entropy of a distribution in nats; 0 log 0 is 0."""
    return -sum(p * p.ln() for p in q if p)


def cross_entropy(q):
    """Return -log q, where q is at least epsilon."""
    return -max(q, EPSILON).ln()


def ratio(numerator, denominator):
    """Return a ratio, nan where there is nothing to divide by."""
    return numerator / denominator if denominator > 0 else math.nan


def mean(weight, values):
    return ratio(sum(w * x for w, x in zip(weight, values, strict=True)), sum(weight))


def _confidences_in_truth(q, wrong):
    return [1 - p if x else p for p, x in zip(q, wrong, strict=True)]


def _cross_entropy(q, wrong, weight):
    return mean(weight, map(cross_entropy, _confidences_in_truth(q, wrong)))


def _brier_score(q, wrong, weight):
    return mean(weight, [(1 - p) ** 2 for p in _confidences_in_truth(q, wrong)])


def _ece(q, wrong, weight, n_bins=10):
    gaps = [0] * n_bins
    for p, x, w in zip(q, wrong, weight, strict=True):
        gaps[min(int(p * n_bins), n_bins - 1)] += w * (p - (1 - x))
    return sum(map(abs, gaps)) / sum(weight)


def _auroc(q, wrong, weight):
    samples = list(zip(q, wrong, weight, strict=True))
    weights = []
    wins = []
    for (p, is_wrong, w), (other, other_is_wrong, v) in itertools.product(samples, samples):
        if other_is_wrong and not is_wrong:
            weights.append(w * v)
            wins.append(Decimal((p > other) + (p >= other)) / 2)
    return mean(weights, wins)


def _tied(system):
    """Return the (cost, weight) of the samples of each uncertainty that have a weight, in order."""
    samples = list(zip(system.uncertainty, system.cost, system.weight, strict=True))
    values = sorted({u for u, _, w in samples if w})
    return [[(c, w) for u, c, w in samples if u == value and w] for value in values]


def _over_orders(system, area):
    """Return the mean of an area over all orders of tied samples; of weights, see `_in_pieces`."""
    if not system.counts and len(set(system.weight) - {0}) > 1:
        return area(_in_pieces(_tied(system), system.weight))
    orders_of_ties = []
    for group in _tied(system):
        costs = []
        for c, w in group:
            costs += [c] * (int(w) if system.counts else 1)
        orders_of_ties.append({*itertools.permutations(costs)})
    areas = []
    for order in itertools.product(*orders_of_ties):
        areas.append(area([(1, c) for c in itertools.chain(*order)]))
    return sum(areas) / len(areas)


def _in_pieces(tied, weight):
    """Return tie groups as (length, mean cost) where the length of all is the effective number of samples."""
    unit = sum(weight) / sum(w**2 for w in weight)
    pieces = []
    for group in tied:
        costs, weights = zip(*group, strict=True)
        pieces.append((sum(weights) * unit, mean(weights, costs)))
    return pieces


def _accepted(pieces, until):
    """Return the cost of the first `until` of a list of (length, cost per length)."""
    cost = Decimal(0)
    start = Decimal(0)
    for length, c in pieces:
        cost += max(min(until - start, length), 0) * c
        start += length
    return cost


def _aurc(pieces):
    end = sum(length for length, _ in pieces)
    points = [*range(1, math.ceil(end)), end]
    risks = [_accepted(pieces, point) / point for point in points]
    if end <= 1:
        return risks[-1]
    return _trapezoids(points, risks) / (end - 1)


def _augrc(pieces):
    ends = [*itertools.accumulate((length for length, _ in pieces), initial=0)]
    accepted = [_accepted(pieces, end) for end in ends]
    return _trapezoids(ends, accepted) / ends[-1] ** 2


def _trapezoids(points, values):
    area = 0
    for i in range(1, len(points)):
        area += (points[i] - points[i - 1]) * (values[i] + values[i - 1]) / 2
    return area


def _recalibrated(system, n):
    """Return ECUAS_n of the isotonic regression, each value the largest of the least means of stretches around it."""
    groups = _in_pieces(_tied(system), system.weight)
    lengths, costs = map(list, zip(*groups, strict=True))
    ends = range(len(groups))
    means = [[mean(lengths[i : j + 1], costs[i : j + 1]) for j in ends] for i in ends]
    fitted = [max(min(means[i][k:]) for i in ends[: k + 1]) for k in ends]
    paid = [ecuas(u, c, n, system.largest, system.unit) for u, c in zip(fitted, costs, strict=True)]
    return mean(lengths, paid)


OF_CONFIDENCES = {
    "ece": _ece,
    "auroc": _auroc,
    "confidence_cross_entropy": _cross_entropy,
    "confidence_brier_score": _brier_score,
}
OF_ONE_ORDER = {"aurc": _aurc, "augrc": _augrc}

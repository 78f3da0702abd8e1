"""Every number of the metric once more, in fractions and decimals of 40 digits, from the paper's definitions alone.

Ties are averaged over all orders. Nothing of the package is imported.
"""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

DIGITS = 40
EPSILON = Fraction("1e-7")
NAN = Decimal("nan")


class Oracle(NamedTuple):
    """The decisions of a system: u, c, q_e (None unless 0-1), u_M, weights, whether they are counts, unit of costs."""

    uncertainty: list
    cost: list
    confidence: list | None
    largest: Fraction | Decimal
    weight: list
    counts: bool
    unit: Fraction = Fraction(1)


def numbers_of(system, *, orders, reject_costs):
    """Return every metric of decisions by its key."""
    with localcontext(prec=DIGITS):
        u, c, confidence, largest, weight, _, unit = system

        def mean(values):
            return ratio(total(weight, values), sum(weight))

        values = {"error_rate" if confidence else "risk": mean(c)}
        if confidence:
            values |= _of_confidences(system, mean)
        values |= {"aurc": _over_orders(system, _aurc), "augrc": _over_orders(system, _augrc)}
        values |= {
            f"ecuas_{n:g}": mean([ecuas(*pair, n, largest, unit) for pair in zip(u, c, strict=True)]) for n in orders
        }
        for g in reject_costs:
            accepts = [value <= g and value <= largest for value in u]
            key = f"{float(g):g}"
            values[f"expected_cost_{key}"] = mean([x if taken else g for taken, x in zip(accepts, c, strict=True)])
            values[f"coverage_{key}"] = mean([int(taken) for taken in accepts])
            taken_cost = [x * int(taken) for taken, x in zip(accepts, c, strict=True)]
            values[f"selective_risk_{key}"] = ratio(mean(taken_cost), values[f"coverage_{key}"])
        for n in orders:
            values[f"ecuas_{n:g}_recalibrated"] = best = _recalibrated(system, n)
            values[f"ecuas_{n:g}_calibration_loss"] = decimal(values[f"ecuas_{n:g}"]) - best
        return values


def normalized(values, naive):
    """Return the normalised values, from those of the naive system."""
    with localcontext(prec=DIGITS):
        return {f"normalized_{key}": ratio(values[key], value) for key, value in naive.items()}


def naive_of_confidences(system):
    """Return what the constant confidence p = accuracy scores."""
    with localcontext(prec=DIGITS):
        p = Fraction(total(system.weight, system.cost)) / sum(system.weight)
        return {"confidence_cross_entropy": entropy([p, 1 - p]), "confidence_brier_score": p * (1 - p)}


def naive_of_classes(labels, weight, uncertainty_of, largest, unit, *, name, num_classes, orders, reject_costs):
    """Return what the class frequencies score, as a posterior of every sample."""
    with localcontext(prec=DIGITS):
        counts = [sum(w for w, label in zip(weight, labels, strict=True) if label == k) for k in range(num_classes)]
        q = [Fraction(count) / sum(counts) for count in counts]
        u = uncertainty_of(q)
        values = {name: u, "cross_entropy": entropy(q), "brier_score": 1 - sum(p * p for p in q)}
        values |= {f"ecuas_{n:g}": ecuas(u, u, n, largest, unit) for n in orders}
        return values | {f"expected_cost_{float(g):g}": u if u <= g else g for g in reject_costs}


def ecuas(u, c, n, largest, unit=1):
    """Return the cost of one sample, Equation psr_integral_n with the floor, in units of costs, and the safeguard."""
    with localcontext(prec=DIGITS):
        u, c, largest = decimal(u), decimal(c), decimal(largest)
        if u >= largest:
            return Decimal(1)
        if n == math.inf:
            return c / largest
        log_ratio = (max(u, decimal(EPSILON * unit)) / largest).ln()
        n = Decimal(n)
        if n == 0:
            return u / largest - c * log_ratio / largest
        power = (n * log_ratio).exp()
        return u / largest * power + c * (n + 1) / (n * largest) * (1 - power)


def entropy(q):
    """Return the entropy of a distribution in nats; 0 log 0 is 0."""
    with localcontext(prec=DIGITS):
        return -sum((decimal(p) * decimal(p).ln() for p in q if p), Decimal(0))


def cross_entropy(q):
    """Return -log q, where a q of exactly 0 is read as epsilon."""
    with localcontext(prec=DIGITS):
        return -decimal(q or EPSILON).ln()


def decimal(value):
    """Return a fraction, or whatever else is a number, as a decimal."""
    return Decimal(value.numerator) / value.denominator if isinstance(value, Fraction) else Decimal(value)


def ratio(numerator, denominator):
    """Return a ratio as a decimal, nan where there is nothing to divide by."""
    denominator = decimal(denominator)
    return decimal(numerator) / denominator if denominator > 0 else NAN


def total(weight, values):
    """Return the weighted sum of fractions or decimals."""
    if any(isinstance(value, Decimal) for value in values):
        return sum((decimal(w) * decimal(x) for w, x in zip(weight, values, strict=True)), Decimal(0))
    return sum(Fraction(w) * x for w, x in zip(weight, values, strict=True))


def _of_confidences(system, mean):
    wrong, q, weight = system.cost, system.confidence, system.weight
    clipped = [min(max(p, EPSILON), 1 - EPSILON) for p in q]
    truth = list(zip(clipped, wrong, strict=True))
    return {
        "ece": _ece(q, wrong, weight),
        "auroc": _auroc(q, wrong, weight),
        "confidence_cross_entropy": mean([-decimal(1 - p if x else p).ln() for p, x in truth]),
        "confidence_brier_score": mean([(p - (1 - x)) ** 2 for p, x in zip(q, wrong, strict=True)]),
    }


def _ece(q, wrong, weight, n_bins=10):
    gaps = [Fraction(0)] * n_bins
    for p, x, w in zip(q, wrong, weight, strict=True):
        gaps[min(int(p * n_bins), n_bins - 1)] += Fraction(w) * (p - (1 - x))
    return ratio(sum(map(abs, gaps)), sum(weight))


def _auroc(q, wrong, weight):
    won = pairs = Fraction(0)
    samples = list(zip(q, wrong, weight, strict=True))
    for (p, right, w), (other, error, v) in itertools.product(samples, samples):
        if error and not right:
            pairs += Fraction(w) * Fraction(v)
            won += Fraction(w) * Fraction(v) * (Fraction(p > other) + Fraction(p == other, 2))
    return ratio(won, pairs)


def _over_orders(system, area):
    """Return the mean of an area over all orders of tied samples; of weights, see `_in_pieces`."""
    values = sorted(set(system.uncertainty))
    samples = list(zip(system.uncertainty, system.cost, system.weight, strict=True))
    tied = [[(c, w) for u, c, w in samples if u == value and w] for value in values]
    if not system.counts and len(set(system.weight) - {0}) > 1:
        return area(_in_pieces([group for group in tied if group], system.weight))
    ones = [[c for c, w in group for _ in range(int(w) if system.counts else 1)] for group in tied]
    orders = list(itertools.product(*({*itertools.permutations(group)} for group in ones)))
    areas = [area([(Fraction(1), c) for c in itertools.chain(*order)]) for order in orders]
    return sum(map(decimal, areas)) / len(areas)


def _in_pieces(tied, weight):
    """Return tie groups as (length, mean cost) where the length of all is the effective number of samples."""
    unit = Fraction(sum(map(Fraction, weight))) / sum(Fraction(w) ** 2 for w in weight)
    sums = [(sum(Fraction(w) for _, w in group), total([w for _, w in group], [c for c, _ in group])) for group in tied]
    return [(w * unit, decimal(c) / decimal(w) if isinstance(c, Decimal) else c / w) for w, c in sums]


def _accepted(pieces, until):
    """Return the cost of the first `until` of a list of (length, cost per length)."""
    found, start = Decimal(0), Fraction(0)
    for length, c in pieces:
        found += decimal(max(min(until - start, length), Fraction(0))) * decimal(c)
        start += length
    return found


def _aurc(pieces):
    end = sum(length for length, _ in pieces)
    points = [*map(Fraction, range(1, int(end) + 1)), *([end] if end != int(end) or end < 1 else [])]
    risks = [_accepted(pieces, point) / decimal(point) for point in points]
    if end <= 1:
        return risks[-1]
    steps = zip(itertools.pairwise(points), itertools.pairwise(risks), strict=True)
    return sum(decimal(b - a) * (one + other) / 2 for (a, b), (one, other) in steps) / decimal(end - 1)


def _augrc(pieces):
    area, start = Decimal(0), Fraction(0)
    for length, _ in pieces:
        area += decimal(length) * (_accepted(pieces, start) + _accepted(pieces, start + length)) / 2
        start += length
    return area / decimal(start) ** 2


def _recalibrated(system, n):
    """Return ECUAS_n of the isotonic regression, the greatest convex minorant of accepted cost against weight."""
    u, c, _, largest, weight, _, unit = system
    groups = []
    for value in sorted(set(u)):
        rows = [i for i in range(len(u)) if u[i] == value and weight[i]]
        if rows:
            w = [weight[i] for i in rows]
            groups.append([sum(map(Fraction, w)), total(w, [c[i] for i in rows])])
    means = [decimal(cost) / decimal(w) for w, cost in groups]
    pooled = []
    for k, (w, cost) in enumerate(groups):
        pooled.append([decimal(w), decimal(cost), [k]])
        while len(pooled) > 1 and pooled[-2][1] * pooled[-1][0] >= pooled[-1][1] * pooled[-2][0]:
            after = pooled.pop()
            pooled[-1] = [one + other for one, other in zip(pooled[-1], after, strict=True)]
    costs = Decimal(0)
    for w, cost, members in pooled:
        for k in members:
            costs += decimal(groups[k][0]) * ecuas(cost / w, means[k], n, largest, unit)
    return costs / decimal(sum(w for w, _ in groups))

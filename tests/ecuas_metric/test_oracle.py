import math
from decimal import Decimal

import numpy as np
import pytest

from ecuas_metric import score_confidences
from ecuas_metric.options import checked_options
from tests.ecuas_metric import oracle
from tests.ecuas_metric.systems import compute

ORDERS = (0, 0.5, 1, 3, 128, math.inf)
REJECT_COSTS = (Decimal("0.1"), Decimal("0.25"))
OPTIONS = {"n": ORDERS, "reject_costs": [float(g) for g in REJECT_COSTS], "decompose": True}
ARGUMENTS = {"orders": ORDERS, "reject_costs": REJECT_COSTS}
DATA_SETS = 24


def decimals(values, per=1):
    return [Decimal(value) / per for value in np.asarray(values).tolist()]


def same(expected, *data, **options):
    ours = compute(*data, checked_options(**OPTIONS, **options))
    missing = ours.keys() - expected.keys()
    assert not missing, f"tests/ecuas_metric/oracle.py does not define {', '.join(sorted(missing))}"
    assert set(ours) == set(expected)
    for key, value in ours.items():
        assert value == pytest.approx(float(expected[key]), rel=1e-11, abs=1e-13, nan_ok=True), key


WEIGHTS = {"none": [1], "counts": [0, 1, 2], "importance": [0, 0.25, 1, 2.5, 40]}
WAYS = pytest.mark.parametrize("way", WEIGHTS)


def weights_of(rng, size, way):
    """Return weights and the options that say so: none, counts, or of importance, these with zeros."""
    weight = rng.choice(WEIGHTS[way], size).tolist()
    weight[0] = weight[0] or 1
    options = {} if way == "none" else {"sample_weight": weight, "weights_are": way}
    return decimals(weight), options


@WAYS
def test_confidences(way, rng):
    for _ in range(DATA_SETS):
        size = int(rng.integers(1, 6))
        num_classes = rng.choice([0, 2, 4])
        hundredths = rng.choice([0, 7, 25, 50, 57, 70, 90, 99, 100], size)
        correct = rng.integers(0, 2, size)
        weight, options = weights_of(rng, size, way)
        largest = 1 - 1 / Decimal(int(num_classes)) if num_classes else Decimal(1)
        system = oracle.Oracle(
            uncertainty=decimals(100 - hundredths, 100),
            cost=decimals(1 - correct),
            confidence=decimals(hundredths, 100),
            largest=largest,
            weight=weight,
            counts=way == "counts",
        )
        expected = oracle.numbers_of(system, **ARGUMENTS)
        expected |= oracle.normalized(expected, oracle.naive_of_confidences(system))
        options |= {"num_classes": num_classes or None, "normalize": True}
        same(expected, "confidences", hundredths / 100, correct, **options)


@pytest.mark.parametrize("runs", [30, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_numbers_of_short_floats_are_those_of_what_is_printed(dtype, runs, rng):
    """In decimals: of data sets of any digits, and of hundredths."""
    for run in range(runs):
        size = int(rng.integers(1, 6))
        confidence = rng.random(size) if run % 2 else rng.integers(0, 101, size) / 100
        confidence = confidence.astype(dtype)
        printed = [Decimal(str(value)) for value in confidence]
        correct = rng.integers(0, 2, size)
        system = oracle.Oracle(
            uncertainty=[1 - value for value in printed],
            cost=decimals(1 - correct),
            confidence=printed,
            largest=Decimal(1),
            weight=decimals(np.ones(size)),
            counts=False,
        )
        expected = oracle.numbers_of(system, **ARGUMENTS)
        ours = score_confidences(correct, confidence, **OPTIONS)
        assert set(ours) == set(expected)
        for key, value in ours.items():
            assert value == pytest.approx(float(expected[key]), abs=1e-11, nan_ok=True), key


@WAYS
def test_costs(way, rng):
    for _ in range(DATA_SETS):
        size = int(rng.integers(1, 6))
        eighths = rng.integers(0, 13, size)
        costs = rng.choice([0.0, 0.5, 1.0, 3.0], size)
        weight, options = weights_of(rng, size, way)
        largest = Decimal("1.25")
        system = oracle.Oracle(
            uncertainty=decimals(eighths, 8),
            cost=decimals(costs),
            confidence=None,
            largest=largest,
            weight=weight,
            counts=way == "counts",
            unit=largest,
        )
        expected = oracle.numbers_of(system, **ARGUMENTS)
        same(expected, "costs", eighths / 8, costs, max_uncertainty=1.25, **options)


MATRIX = [[0, 1, 0.5], [4, 0, 0.5], [1, 2, 0.5]]
LARGEST = {
    "zero_one": lambda num_classes: 1 - 1 / Decimal(num_classes),
    "log": lambda num_classes: oracle.entropy([1 / Decimal(num_classes)] * num_classes),
    "matrix": lambda num_classes: Decimal(
        "0.5"
    ),  # of the last decision, to which the others can be made as dear
}


def expected_costs(q, cost):
    if cost == "zero_one":
        return [1 - p for p in q]
    if cost == "log":
        return [oracle.entropy(q)]
    return [sum(p * Decimal(row[d]) for p, row in zip(q, MATRIX, strict=True)) for d in range(3)]


def decided(q, label, own, cost):
    """Return u, c and q_e of the decision given, or of the Bayes decision, the first one of several."""
    costs = expected_costs(q, cost)
    decision = costs.index(min(costs)) if own is None else own
    if cost == "log":
        return costs[0], oracle.cross_entropy(q[label]), None
    if cost == "zero_one":
        return costs[decision], int(decision != label), q[decision]
    return costs[decision], Decimal(MATRIX[label][decision]), None


def random_posteriors(rng, size, num_classes):
    cuts = np.sort(rng.integers(0, 9, (size, num_classes - 1)), axis=1)
    return np.diff(cuts, axis=1, prepend=0, append=8) / 8


@pytest.mark.parametrize("cost", LARGEST)
@WAYS
def test_posteriors(cost, way, rng):
    for _ in range(DATA_SETS // 2):
        size = int(rng.integers(1, 6))
        # of 2, equal entropies tie
        num_classes = {"zero_one": int(rng.integers(2, 5)), "log": 2, "matrix": 3}[cost]
        q = random_posteriors(rng, size, num_classes)
        labels = rng.integers(0, num_classes, size)
        weight, options = weights_of(rng, size, way)
        decisions = [None] * size
        if cost != "log" and rng.random() < 0.3:
            decisions = rng.integers(0, num_classes, size).tolist()
            options["decisions"] = decisions
        rows = list(map(decimals, q))
        made = map(decided, rows, labels, decisions, [cost] * size)
        u, c, confidence = map(list, zip(*made, strict=True))
        largest = LARGEST[cost](num_classes)
        unit = Decimal(4 if cost == "matrix" else 1)  # the largest cost
        is_zero_one = cost == "zero_one"
        system = oracle.Oracle(
            u, c, confidence if is_zero_one else None, largest, weight, way == "counts", unit
        )
        expected = oracle.numbers_of(system, **ARGUMENTS)
        truth = np.eye(num_classes, dtype=int)[labels].tolist()
        log_scores = [oracle.cross_entropy(row[k]) for row, k in zip(rows, labels, strict=True)]
        square_scores = [
            sum((p - x) ** 2 for p, x in zip(*pair, strict=True))
            for pair in zip(rows, truth, strict=True)
        ]
        expected["cross_entropy"] = oracle.mean(weight, log_scores)
        expected["brier_score"] = oracle.mean(weight, square_scores)
        naive = oracle.naive_of_confidences(system) if is_zero_one else {}
        naive |= oracle.naive_of_classes(
            labels,
            weight,
            lambda q: min(expected_costs(q, cost)),
            largest,
            unit,
            name="error_rate" if is_zero_one else "risk",
            num_classes=num_classes,
            **ARGUMENTS,
        )
        expected |= oracle.normalized(expected, naive)
        options |= {"cost": MATRIX if cost == "matrix" else cost, "normalize": True}
        same(expected, "posteriors", q, labels, **options)

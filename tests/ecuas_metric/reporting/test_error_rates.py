"""How often does the swap test see a difference where there is none? Simulated systems that are exchangeable."""

import numpy as np
import pytest

from ecuas_metric.options import checked_options
from ecuas_metric.reporting.comparison import compare_systems
from ecuas_metric.results import prepare
from tests.ecuas_metric.simulated import GROUP_SIZE

RUNS, SWAPS, LEVEL = 3000, 399, 0.05
MOST = 5.8  # %, three standard deviations of 3,000 runs above 5 but for a little


def alike(rng, size, rounded=None):
    """Return a system that is right as often as it says, of a difficulty common to all."""
    difficulty = rng.beta(4, 1.5, size)

    def one():
        p = np.clip(difficulty + 0.1 * rng.normal(size=size), 0.01, 0.99)
        return p if rounded is None else p.round(rounded), (rng.random(size) < p).astype(int)

    return one, {}


def tenths(rng, size):
    return alike(rng, size, rounded=1)


def rare(rng, size):
    def one():
        sure = rng.random(size) < 0.8
        return np.where(sure, 1.0, 0.95), (rng.random(size) >= np.where(sure, 0.005, 0.03)).astype(int)

    return one, {}


def weighted(rng, size):
    return alike(rng, size)[0], {"sample_weight": np.exp(rng.normal(0, 0.7, size))}


def grouped(rng, size):
    groups = np.arange(size) // GROUP_SIZE
    difficulty = rng.beta(4, 1.5, groups[-1] + 1)[groups]

    def one():
        p = np.clip(difficulty + 0.1 * rng.normal(size=groups[-1] + 1)[groups], 0.01, 0.99)
        return p, (rng.random(size) < p).astype(int)

    return one, {"groups": groups}


def rejections(kind, size, num_systems, *, runs=RUNS):
    """Return, in %, how often each metric of two systems is significant, and how often any adjusted one is."""
    alone, together = {}, 0
    for run in range(runs):
        one, options = kind(np.random.default_rng(run), size)
        checked = checked_options(
            confidence_level=0.95, interval_method="analytic", n_resamples=SWAPS, random_state=run, n=(0, 1), **options
        )
        rows = compare_systems({str(i): prepare("confidences", *one(), checked) for i in range(num_systems)})
        together += any(row.p_adjusted <= LEVEL for row in rows)
        for row in rows[: len(rows) * 2 // (num_systems * (num_systems - 1))]:  # those of the first pair
            alone[str(row.key)] = alone.get(str(row.key), 0) + (row.p <= LEVEL)
    return {key: 100 * count / runs for key, count in alone.items()}, 100 * together / runs


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 455])
@pytest.mark.parametrize("kind", [alike, tenths, rare, weighted, grouped])
def test_a_pair_that_is_alike_is_rarely_significant(kind, size):
    alone, together = rejections(kind, size, 2)
    print(f"\n| {kind.__name__} | {size} | " + " | ".join(f"{share:.1f}" for share in (*alone.values(), together)), "|")
    assert max(alone.values()) <= MOST, alone
    assert together <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("kind", [alike, rare])
def test_many_systems_that_are_alike_are_rarely_significant_anywhere(kind):
    _, together = rejections(kind, 100, 5, runs=RUNS // 3)
    print(f"\n| {kind.__name__} | 5 systems | {together:.1f} |")
    assert together <= MOST + 1  # fewer runs

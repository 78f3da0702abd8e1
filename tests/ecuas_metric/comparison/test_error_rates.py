import numpy as np
import pytest
from scipy.special import expit, logit

from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.metric import Key
from ecuas_metric.options import checked_options
from ecuas_metric.results import prepare
from tests.ecuas_metric import simulated

RUNS, LEVEL = 3000, 0.05
MOST = 5.8  # %, two standard deviations of 3,000 runs above 5
MOST_OUTSIDE = 7.0  # %: differences to one system are skewed together, those after permutations are not
NUM_GROUPS = 20
ORDERS = [Key("auroc"), Key("aurc"), Key("augrc")]


def alike(rng, size, *, decimals=15, groups=None):
    """Return what draws systems that are right as often as they say, of difficulties common to all."""
    groups = np.arange(size) if groups is None else groups
    difficulty = logit(rng.beta(4, 1.5, groups[-1] + 1))

    def one():
        p = expit(difficulty + 0.5 * rng.normal(size=len(difficulty)))[groups]
        return p.round(decimals), (rng.random(size) < p).astype(int)

    return one, {}


def tenths(rng, size):
    return alike(rng, size, decimals=1)


def rare(rng, size):
    """1 % errors, and two confidences."""
    return lambda: simulated.rare(rng, size)[:2], {}


def rare_at_random(rng, size):
    """1 % errors, and confidences that say nothing of them."""
    return lambda: (rng.random(size), (rng.random(size) >= 0.01).astype(int)), {}


def weighted(rng, size):
    return alike(rng, size)[0], {"sample_weight": np.exp(rng.normal(0, 0.7, size))}


def grouped(rng, size):
    groups = np.arange(size) * NUM_GROUPS // size
    return alike(rng, size, groups=groups)[0], {"groups": groups}


def two_scales(rng, size):
    """Equally good orders of confidences that the second system says on a scale of its own."""
    one, options = tenths(rng, size)
    scales = iter([(1.0, 0.0), (0.4, 0.05)])

    def scaled():
        (factor, shift), (p, correct) = next(scales), one()
        return factor * p + shift, correct

    return scaled, options


def rejections(kind, size, num_systems, *, runs=RUNS, permutations=199, **options):
    """Return, in %, how often each metric of two systems is significant, any adjusted one, and how often the first
    system is outside each confidence set for the best, which all are."""
    alone, outside, together = {}, {}, 0
    level = 1 - 20 / (permutations + 1)  # with which no more permutations are made than these
    for data, seed in simulated.independent_seeds(runs):
        one, of_kind = kind(np.random.default_rng(data), size)
        checked = checked_options(
            confidence_level=level, n_resamples=permutations, random_state=seed, n=(0, 1), **options, **of_kind
        )
        rows = compare_systems({str(i): prepare("confidences", *one(), checked) for i in range(num_systems)})
        together += any(row.p_adjusted <= LEVEL for row in rows)
        for row in rows:
            if (row.first, row.second) == ("0", "1"):
                alone[row.key] = alone.get(row.key, 0) + (row.p <= LEVEL)
                outside[row.key] = outside.get(row.key, 0) + (row.p_first_best <= LEVEL)
    alone, outside = ({key: 100 * count / runs for key, count in found.items()} for found in (alone, outside))
    print(f"\n{kind.__name__}, N = {size}, {num_systems} systems: any p_adjusted {100 * together / runs:.1f}", end="")
    for key in alone:
        print(f"; {key} {alone[key]:.1f}, outside {outside[key]:.1f}", end="", flush=True)
    return alone, outside, 100 * together / runs


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 455])
@pytest.mark.parametrize("kind", [alike, tenths, rare, rare_at_random, weighted, grouped, two_scales])
def test_a_pair_that_is_alike_is_rarely_significant(kind, size):
    alone, _, together = rejections(kind, size, 2, normalize=kind is not two_scales)
    if kind is two_scales:
        alone, together = {key: alone[key] for key in ORDERS}, 0
    assert max(alone.values()) <= MOST, alone
    assert together <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("kind", [tenths, rare])
def test_recalibrated_values_that_are_alike_are_rarely_significant(kind):
    alone, *_ = rejections(kind, 100, 2, permutations=99, decompose=True)
    assert max(alone.values()) <= MOST, alone


@pytest.mark.slow
@pytest.mark.parametrize("kind", [tenths, rare])
def test_21_systems_that_are_alike_are_rarely_significant_anywhere(kind):
    _, outside, together = rejections(kind, 100, 21, permutations=99)
    assert together <= MOST
    assert max(outside.values()) <= MOST_OUTSIDE, outside

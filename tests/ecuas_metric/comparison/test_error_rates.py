"""False alarms among systems that are alike: by one metric, by any of all, and of being left out of the best."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.model_selection import PredefinedSplit

from ecuas_metric import compare_systems, confidence_system
from ecuas_metric.basis import Origin
from ecuas_metric.recalibration import METHODS
from ecuas_metric.recalibration.maps import (
    Recalibration,
    cross_validated,
    fit_to_logs,
    to_log_posteriors,
)
from ecuas_metric.results import value_keys
from tests.ecuas_metric import simulated

RUNS = 1000
ALPHA = 0.05
MOST = 7.0  # %: two standard deviations of 1,000 runs above 5, and a little
ORDERS = {"auroc", "aurc", "augrc"}


def alike(rng, size, *, decimals=15, groups=None):
    """Return what draws systems that are right as often as they say, of difficulties common to all."""
    groups = np.arange(size) if groups is None else groups
    difficulty = logit(rng.beta(4, 1.5, groups[-1] + 1))

    def one():
        p = expit(difficulty + 0.5 * rng.normal(size=len(difficulty)))[groups]
        return (rng.random(size) < p).astype(int), p.round(decimals)

    return one, {}


def tenths(rng, size):
    return alike(rng, size, decimals=1)


def rare(rng, size):
    """1 % errors, and two confidences."""
    return lambda: simulated.SYSTEMS["rare"](rng, size)[1::-1], {}


def rare_at_random(rng, size):
    """1 % errors, and confidences that say nothing of them."""
    return lambda: ((rng.random(size) >= 0.01).astype(int), rng.random(size)), {}


def weighted(rng, size):
    return alike(rng, size)[0], {"sample_weight": np.exp(rng.normal(0, 0.7, size))}


def grouped(rng, size):
    groups = np.arange(size) * 20 // size
    return alike(rng, size, groups=groups)[0], {"groups": groups}


def two_scales(rng, size):
    """Equally good orders of confidences that the second system says on a scale of its own."""
    one, options = tenths(rng, size)
    scales = iter([(1.0, 0.0), (0.4, 0.05)])

    def scaled():
        (factor, shift) = next(scales)
        (correct, p) = one()
        return correct, factor * p + shift

    return scaled, options


def recalibrated(rng, size, *, method):
    """Overconfident systems, recalibrated out of fold."""
    one, options = alike(rng, size)
    folds = np.arange(size) % 5

    def fitted():
        correct, p = one()
        logs = to_log_posteriors(expit(3 * logit(p)))
        fit = partial(fit_to_logs, method=method)
        splitter = PredefinedSplit(folds)
        values = cross_validated(fit, Recalibration.apply_to_logs, logs, correct, splitter=splitter)
        return correct, np.exp(values[:, 1])

    return fitted, options | {"reject_costs": (0.1, 0.2), "recalibration": method}


def false_alarms(kind, size, num_systems, *, runs=RUNS, **options):
    """Return, in %, how often each metric of two systems is significant, and any adjusted one, under ""; and how often
    the first system is not among those that may be the best."""
    alone = Counter()
    outside = Counter()
    for data, seed in simulated.independent_seeds(runs):
        one, of_kind = kind(np.random.default_rng(data), size)
        origin = Origin(recalibration=of_kind.pop("recalibration", None))
        common = {"confidence_level": 0.95, "random_state": seed, "n": (0, 1)} | of_kind | options
        systems = [confidence_system(*one(), **common) for _ in range(num_systems)]
        named = {str(i): replace(system, origin=origin) for i, system in enumerate(systems)}
        keys = value_keys(systems[0].decisions, systems[0].options)
        rows = compare_systems(named, only=keys, by_position=True)
        alone[""] += any(row.p_adjusted <= ALPHA for row in rows)
        for row in rows:
            if (row.first, row.second) == ("0", "1"):
                alone[str(row.key)] += row.p <= ALPHA
        for key, ranking in rows.verdict.rankings.items():
            outside[str(key)] += ranking.state in ("clear", "close") and "0" not in ranking.best
    return [
        {key: 100 * count / runs for key, count in counts.items()} for counts in (alone, outside)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 455])
@pytest.mark.parametrize(
    "kind", [alike, tenths, rare, rare_at_random, weighted, grouped, two_scales]
)
def test_a_pair_that_is_alike_is_rarely_significant(kind, size):
    alone, _ = false_alarms(kind, size, 2, normalize=kind is not two_scales)
    alone = {key: share for key, share in alone.items() if kind is not two_scales or key in ORDERS}
    assert max(alone.values()) <= MOST, alone


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_pair_that_was_recalibrated_alike_is_rarely_significant(method):
    alone, _ = false_alarms(partial(recalibrated, method=method), 455, 2)
    assert max(alone.values()) <= MOST, alone


@pytest.mark.slow
@pytest.mark.parametrize("kind", [tenths, rare])
def test_21_systems_that_are_alike_are_rarely_significant_anywhere(kind):
    alone, outside = false_alarms(kind, 100, 21, runs=200)
    assert alone[""] <= MOST
    assert max(outside.values()) <= MOST, outside

"""Systems whose true values are known, and how often intervals hold them."""

import functools
import math

import numpy as np
from scipy import stats

from ecuas_metric.calibration import squared_gap
from ecuas_metric.metrics import Key
from ecuas_metric.options import checked_options
from ecuas_metric.results import all_values, compute_results, prepare

TRUTH_SIZE = 2_000_000
GROUP_SIZE = 5
OPTIONS = {"reject_costs": 0.1, "normalize": True, "decompose": True, "calibration": True, "n": (0, 1, 128)}


def calibrated(rng, size, a=4, b=1.5):
    p = rng.beta(a, b, size)
    return p, (rng.random(size) < p).astype(int), {}


def overconfident(rng, size):
    p, correct, _ = calibrated(rng, size)
    return 1 / (1 + ((1 - p) / p) ** 3), correct, {}


def verbalized(rng, size):
    """Tenths, and one too high, as language models say them."""
    p, correct, _ = calibrated(rng, size)
    return np.clip(p.round(1) + 0.1, 0, 0.99).round(2), correct, {}


def accurate(rng, size):
    """8 % errors."""
    return calibrated(rng, size, 12, 1)


def rare(rng, size):
    """1 % errors, and two confidences."""
    sure = rng.random(size) < 0.8
    wrong = rng.random(size) < np.where(sure, 0.005, 0.03)
    return np.where(sure, 1.0, 0.95), (~wrong).astype(int), {}


def weighted(rng, size):
    p, correct, _ = calibrated(rng, size)
    return p, correct, {"sample_weight": np.exp(rng.normal(0, 0.7, size))}


def grouped(rng, size, count=None):
    """Groups of five whose confidences and answers are alike: correlations of one half."""
    groups = np.arange(size) * (count or max(size // GROUP_SIZE, 1)) // size
    shared, answer_shared = rng.normal(size=(2, groups[-1] + 1))[:, groups]
    own, answer_own = rng.normal(size=(2, size))
    p = stats.beta(4, 1.5).ppf(stats.norm.cdf((shared + own) / np.sqrt(2)))
    return p, (stats.norm.cdf((answer_shared + answer_own) / np.sqrt(2)) < p).astype(int), {"groups": groups}


def in_20_groups(rng, size):
    return grouped(rng, size, 20)


def stratified(rng, size):
    """Half of the samples easy, half of them hard."""
    strata = np.arange(size) % 2
    p = np.where(strata, rng.beta(12, 1, size), rng.beta(2, 1.5, size))
    return p, (rng.random(size) < p).astype(int), {"strata": strata}


SYSTEMS = (calibrated, overconfident, verbalized, accurate, rare, weighted, stratified, grouped, in_20_groups)


def independent_seeds(runs, entropy=0):
    """Yield, for each run, the seed of its data and that of its swaps or draws: no two of them share a stream."""
    for data, drawn in (seed.spawn(2) for seed in np.random.SeedSequence(entropy).spawn(runs)):
        yield data, int(drawn.generate_state(1)[0])


@functools.cache
def true_values(system):
    """Return the values of so large a sample that its error does not count."""
    system = grouped if system is in_20_groups else system  # as many groups as there may be
    confidence, correct, options = system(np.random.default_rng(99), TRUTH_SIZE)
    kept = {name: values for name, values in options.items() if name == "sample_weight"}
    large = prepare("confidences", confidence, correct, checked_options(**OPTIONS, **kept))
    values = {key: float(value) for key, value in all_values(large).items()}
    square = squared_gap(confidence, 1 - correct, n_bins=10, sample_weight=options.get("sample_weight"))
    values[Key("ece_debiased")] = (
        0.0 if square < 1e-5 else math.sqrt(square)
    )  # 3 standard errors of a calibrated system
    return values


def coverage(system, size, runs, *, method="analytic", resamples=1):
    """Return, for each key, the share (%) of intervals that hold the true value and that of samples without one."""
    truth = true_values(system)
    held, given = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
    for run in range(runs):
        confidence, correct, options = system(np.random.default_rng(run), size)
        checked = checked_options(
            confidence_level=0.95, interval_method=method, n_resamples=resamples, **OPTIONS, **options
        )
        found = compute_results(prepare("confidences", confidence, correct, checked)).estimates
        for key, (_, low, high) in found.items():
            if key in truth and not np.isnan(low):
                given[key] += 1
                held[key] += low - 1e-12 <= truth[key] <= high + 1e-12
    return {
        str(key): (100 * held[key] / given[key] if given[key] else np.nan, 100 - 100 * given[key] / runs)
        for key in truth
    }

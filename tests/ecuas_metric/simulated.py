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


def two_point(rng, size):
    """As a language model says it: 60 % of answers at 1.0, of which 1 % are wrong."""
    sure = rng.random(size) < 0.6
    return np.where(sure, 1.0, 0.5), (rng.random(size) >= np.where(sure, 0.01, 0.3)).astype(int), {}


def three_point(rng, size):
    q = rng.choice([0.9, 0.95, 1.0], size, p=[0.3, 0.3, 0.4])
    return q, (rng.random(size) < np.select([q == 0.9, q == 0.95], [0.75, 0.85], 0.97)).astype(int), {}


def one_percent_wrong(rng, size):
    return calibrated(rng, size, 19.8, 0.2)


def few_right(rng, size):
    """4 % right."""
    q = rng.beta(1, 9, size)
    return q, (rng.random(size) < 0.4 * q).astype(int), {}


def near_perfect_order(rng, size):
    right = rng.random(size) < 0.7
    z = rng.normal(0, 1, size) + np.where(right, 4.5, 0)
    return 1 / (1 + np.exp(-2 * (z - 2.2))), right.astype(int), {}


def pareto_weights(rng, size):
    q, correct, _ = calibrated(rng, size)
    return q, correct, {"sample_weight": rng.pareto(2, size) + 1}


def alike(rng, groups, correlation):
    """Return confidences and answers that are alike in groups."""
    shared, answer_shared = rng.normal(size=(2, groups.max() + 1))[:, groups]
    own, answer_own = rng.normal(size=(2, len(groups)))
    p = stats.norm.cdf(shared * np.sqrt(correlation) + own * np.sqrt(1 - correlation))
    answer = stats.norm.cdf(answer_shared * np.sqrt(correlation) + answer_own * np.sqrt(1 - correlation))
    q = stats.beta(4, 1.5).ppf(p)
    return q, (answer < q).astype(int)


def zipf_groups(rng, size):
    """Groups, every fifth sample one, whose sizes fall as 1, 1/2, 1/3 .."""
    count = max(size // 5, 10)
    shares = 1 / np.arange(1, count + 1)
    groups = np.concatenate([np.arange(count), rng.choice(count, size - count, p=shares / shares.sum())])
    return *alike(rng, groups, 0.5), {"groups": groups}


def weighted_groups(rng, size):
    """40 groups of different weights."""
    groups = np.arange(size) * 40 // size
    return *alike(rng, groups, 0.3), {"groups": groups, "sample_weight": np.exp(rng.normal(0, 0.6, 40))[groups]}


SYSTEMS = (calibrated, overconfident, verbalized, accurate, rare, weighted, stratified, grouped, in_20_groups)
HARD_SYSTEMS = (
    two_point,
    three_point,
    one_percent_wrong,
    few_right,
    near_perfect_order,
    pareto_weights,
    zipf_groups,
    weighted_groups,
)


def independent_seeds(runs, entropy=0):
    """Yield, for each run, the seed of its data and that of its draws: no two share a stream."""
    for data, drawn in (seed.spawn(2) for seed in np.random.SeedSequence(entropy).spawn(runs)):
        yield data, int(drawn.generate_state(1)[0])


@functools.cache
def true_values(system):
    """Return the values of so large a sample that its error does not count."""
    dependent = (in_20_groups, grouped, zipf_groups, weighted_groups)
    system = calibrated if system in dependent else system  # which each sample is by itself
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
    """Return, for each key, how many samples have an interval, how many of these hold the true value, and the same two
    of samples without a note on this interval.
    """
    truth = true_values(system)
    counts = {key: np.zeros(4, int) for key in truth}
    for run in range(runs):
        confidence, correct, options = system(np.random.default_rng(run), size)
        checked = checked_options(
            confidence_level=0.95, interval_method=method, n_resamples=resamples, **OPTIONS, **options
        )
        found = compute_results(prepare("confidences", confidence, correct, checked))
        told = [note.fact for note in found.notes if note.kind in ("unseen", "few_groups")]
        for key, (_, low, high) in found.estimates.items():
            if key in truth and not np.isnan(low):
                is_noted = any("All intervals" in fact or str(key) in fact for fact in told)
                holds = low - 1e-12 <= truth[key] <= high + 1e-12
                counts[key] += (1, holds, not is_noted, holds and not is_noted)
    return {str(key): tuple(map(int, count)) for key, count in counts.items()}

"""Systems whose true values are known, and how often intervals hold them."""

import functools
import math

import numpy as np
from scipy import stats

from ecuas_metric.calibration import squared_gap
from ecuas_metric.metrics import Key
from ecuas_metric.options import checked_options
from ecuas_metric.recalibration.maps import apply_isotonic, fit_isotonic
from ecuas_metric.reporting.averages import _averages
from ecuas_metric.results import all_values, compute_results, prepare

TRUTH_SIZE = 2_000_000
GROUP_SIZE, FOLDS, PARTS = 5, 5, 57
OPTIONS = {"reject_costs": 0.1, "normalize": True, "decompose": True, "calibration": True, "n": (0, 1, 128)}
AVERAGED = [Key("ecuas", 0), Key("ecuas", 1), Key("error_rate"), Key("aurc"), Key("augrc")]


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


def two_percent_wrong(rng, size):
    return calibrated(rng, size, 19.6, 0.4)


def four_percent_wrong(rng, size):
    return calibrated(rng, size, 19.2, 0.8)


def few_right(rng, size, slope=0.4):
    """4 % right."""
    q = rng.beta(1, 9, size)
    return q, (rng.random(size) < slope * q).astype(int), {}


def two_percent_right(rng, size):
    return few_right(rng, size, 0.2)


def eight_percent_right(rng, size):
    return few_right(rng, size, 0.8)


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


def isotonic(rng, size):
    """An overconfident system, recalibrated out of fold."""
    q, correct, _ = overconfident(rng, size)
    fold, out = rng.permutation(size) % FOLDS, q
    for k in range(FOLDS):
        fitted = fit_isotonic(q[fold != k], correct[fold != k])
        out = np.where(fold == k, apply_isotonic(fitted, q), out)
    return out, correct, {}


def thousand_classes(rng, size):
    """Posteriors that are a little too extreme."""
    logits = 2 * rng.standard_normal((size, 1000))
    logits[:, 0] += 4 * rng.standard_normal(size) + 8
    posterior = np.exp(logits - logits.max(axis=1, keepdims=True))
    until = np.cumsum(posterior, axis=1)
    label = (until < rng.random((size, 1)) * until[:, -1:]).sum(axis=1)
    sharp = posterior**1.2
    return sharp / sharp.sum(axis=1, keepdims=True), label, {}


def ordinal_costs(rng, size):
    """Five grades, and the cost of a mistake is its distance; one in fifty is a rare grade that is far off."""
    grades = np.arange(5)
    place = rng.normal(1.5, 1, size)
    posterior = np.exp(-np.square(place[:, None] - grades) / 1.2)
    until = np.cumsum(posterior, axis=1)
    label = (until < rng.random((size, 1)) * until[:, -1:]).sum(axis=1)
    label[rng.random(size) < 0.02] = 4
    return posterior / until[:, -1:], label, {"cost": np.abs(grades[:, None] - grades).astype(float)}


def rare_tenfold(rng, size):
    """A mistake costs 1, but one label in a hundred is of a class that nobody expects: to miss it costs 10."""
    p, correct, _ = calibrated(rng, size)
    posterior = np.stack([p, 0.998 * (1 - p), 0.002 * (1 - p)], axis=1)
    label = np.where(rng.random(size) < 0.01, 2, 1 - correct)
    return posterior, label, {"cost": np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [10.0, 10.0, 0.0]])}


def asymmetric_costs(rng, size):
    """Posteriors of two classes that are too extreme; one of the two mistakes costs 20."""
    z = rng.normal(1, 2, size)
    label = (rng.random(size) < 1 / (1 + np.exp(-z))).astype(int)
    q = 1 / (1 + np.exp(-1.7 * z))
    return np.stack([1 - q, q], axis=1), label, {"cost": np.array([[0.0, 1.0], [20.0, 0.0]])}


def partial_grades(rng, size):
    """Four points an answer, and what is lost of them is the cost."""
    p = rng.beta(4, 1.5, size)
    return 1 - p, 1 - rng.binomial(4, p) / 4, {"max_uncertainty": 1.0}


def refusals(rng, size):
    """40 % of the answers have confidence 0, of which 5 % are right."""
    p, correct, _ = calibrated(rng, size)
    refused = rng.random(size) < 0.4
    return np.where(refused, 0.0, p), np.where(refused, rng.random(size) < 0.05, correct).astype(int), {}


def two_point_weighted(rng, size):
    return *two_point(rng, size)[:2], {"sample_weight": np.exp(rng.normal(0, 0.7, size))}


def giant_group(rng, size):
    """One group has a quarter of the samples, and fives are the rest."""
    groups = np.maximum(np.arange(size) - size // 4, 0) // GROUP_SIZE
    return *alike(rng, groups, 0.2), {"groups": groups}


SYSTEMS = (calibrated, overconfident, verbalized, accurate, rare, weighted, stratified, grouped, in_20_groups)
HARD_SYSTEMS = (
    two_point,
    three_point,
    one_percent_wrong,
    two_percent_wrong,
    four_percent_wrong,
    two_percent_right,
    few_right,
    eight_percent_right,
    near_perfect_order,
    pareto_weights,
    zipf_groups,
    weighted_groups,
    thousand_classes,
    isotonic,
    refusals,
    two_point_weighted,
    giant_group,
    ordinal_costs,
    rare_tenfold,
    asymmetric_costs,
    partial_grades,
)
DEPENDENT = (in_20_groups, grouped, zipf_groups, weighted_groups, giant_group)  # each sample as `calibrated`
IN_PARTS = {thousand_classes: (40, 10_000), ordinal_costs: (40, 50_000), isotonic: (2000, None)}
REWEIGHTED = {weighted: calibrated, pareto_weights: calibrated, two_point_weighted: two_point}


def independent_seeds(runs, entropy=0):
    """Yield, for each run, the seed of its data and that of its draws: no two share a stream."""
    for data, drawn in (seed.spawn(2) for seed in np.random.SeedSequence(entropy).spawn(runs)):
        yield data, int(drawn.generate_state(1)[0])


@functools.cache
def true_values(system, size=None):
    """Return the values of so large a sample that its error does not count; what is fitted, its mean at this size."""
    rng = np.random.default_rng(99)
    system = calibrated if system in DEPENDENT else REWEIGHTED.get(system, system)
    if system not in IN_PARTS:
        return _values(*system(rng, TRUTH_SIZE))
    count, of_each = IN_PARTS[system]
    parts = [_values(*system(rng, of_each or size)) for _ in range(count)]
    return {key: np.nanmean([part[key] for part in parts]) for key in parts[0]}


def _values(predictions, references, options):
    form, options = _form_and_options(predictions, options)
    large = prepare(form, predictions, references, checked_options(**options))
    values = {key: float(value) for key, value in all_values(large).items()}
    if form == "confidences":
        weight = options.get("sample_weight")
        square = squared_gap(predictions, 1 - references, n_bins=10, sample_weight=weight)
        # 3 standard errors of a calibrated system
        values[Key("ece_debiased")] = 0.0 if square < 1e-5 else math.sqrt(square)
    return values


def _form_and_options(predictions, options):
    form = "posteriors" if predictions.ndim > 1 else "costs" if "max_uncertainty" in options else "confidences"
    added = {"calibration": form == "confidences", "normalize": form != "costs"}
    return form, OPTIONS | added | options


def estimates(system, size, seed, *, method="analytic", resamples=1, keys=None):
    """Return the results of one simulated sample, its system, and the true values."""
    predictions, references, options = system(np.random.default_rng(seed), size)
    truth = true_values(system, size if system is isotonic else None)
    form, chosen = _form_and_options(predictions, options)
    checked = checked_options(confidence_level=0.95, interval_method=method, n_resamples=resamples, **chosen)
    prepared = prepare(form, predictions, references, checked)
    return compute_results(prepared, only=[*truth] if keys is None else keys), prepared, truth


def coverage(system, size, seeds, **options):
    """Return, for each key, how many samples have an interval, how many of these hold the true value, and the same two
    of samples without a note on this interval.
    """
    counts = {}
    for seed in seeds:
        found, _, truth = estimates(system, size, seed, **options)
        told = [note.fact for note in found.notes if note.kind in ("unseen", "few_groups")]
        for key, (_, low, high) in found.estimates.items():
            is_noted = any(
                "All intervals" in fact or str(key) in fact.split(": ")[-1].rstrip(".").split(", ") for fact in told
            )
            _count(counts, key, truth[key], low, high, is_noted)
    return {str(key): tuple(map(int, count)) for key, count in counts.items()}


def coverage_of_averages(systems, size, seeds):
    """Return the same of macro-averages over parts that are of these systems in turn."""
    counts, of_parts = {}, [systems[k % len(systems)] for k in range(PARTS)]
    truth = {key: math.fsum(true_values(system)[key] for system in of_parts) / PARTS for key in AVERAGED}
    for seed in seeds:
        parts = [estimates(system, size, (seed, k), keys=AVERAGED)[:2] for k, system in enumerate(of_parts)]
        for key, (_, low, high) in _averages(parts, AVERAGED).estimates.items():
            _count(counts, key, truth[key], low, high, False)
    return {str(key): tuple(map(int, count)) for key, count in counts.items()}


def _count(counts, key, truth, low, high, is_noted):
    if not np.isnan(low):
        holds = low - 1e-12 <= truth <= high + 1e-12
        counts.setdefault(key, np.zeros(4, int))
        counts[key] += (1, holds, not is_noted, holds and not is_noted)

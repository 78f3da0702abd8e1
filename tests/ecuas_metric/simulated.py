"""Systems whose true values are known: functions of a generator and a size that return predictions, references and
options.
"""

from functools import partial

import numpy as np
from scipy import stats

from ecuas_metric.recalibration.maps import apply_isotonic, fit_isotonic
from tests.ecuas_metric.held_out import answers

COSTLY_MISSES = np.array([[0.0, 1.0], [20.0, 0.0]])
GROUP_SIZE = 5
FOLDS = 5


def calibrated(rng, size, a=4, b=1.5):
    p = rng.beta(a, b, size)
    return p, answers(rng, p), {}


def overconfident(rng, size):
    p, correct, _ = calibrated(rng, size)
    return 1 / (1 + ((1 - p) / p) ** 3), correct, {}


def verbalized(rng, size):
    """Tenths, and one too high, as language models say them."""
    p, correct, _ = calibrated(rng, size)
    return np.clip(p.round(1) + 0.1, 0, 0.99).round(2), correct, {}


def two_point(rng, size, share=0.6, confidences=(1.0, 0.5), errors=(0.01, 0.3)):
    """As a language model says it: this share of the answers with the first confidence, all others with the second."""
    sure = rng.random(size) < share
    return (
        np.where(sure, *confidences),
        (rng.random(size) >= np.where(sure, *errors)).astype(int),
        {},
    )


def three_point(rng, size):
    q = rng.choice([0.9, 0.95, 1.0], size, p=[0.3, 0.3, 0.4])
    return (
        q,
        (rng.random(size) < np.select([q == 0.9, q == 0.95], [0.75, 0.85], 0.97)).astype(int),
        {},
    )


def near_perfect_order(rng, size):
    right = rng.random(size) < 0.7
    z = rng.normal(0, 1, size) + np.where(right, 4.5, 0)
    return 1 / (1 + np.exp(-2 * (z - 2.2))), right.astype(int), {}


def few_right(rng, size, slope=0.4):
    q = rng.beta(1, 9, size)
    return q, answers(rng, slope * q), {}


def refusals(rng, size):
    """40 % of the answers have confidence 0, of which 5 % are right."""
    p, correct, _ = calibrated(rng, size)
    refused = rng.random(size) < 0.4
    return (
        np.where(refused, 0.0, p),
        np.where(refused, rng.random(size) < 0.05, correct).astype(int),
        {},
    )


def isotonic(rng, size):
    """An overconfident system, recalibrated out of fold."""
    q, correct, _ = overconfident(rng, size)
    fold = rng.permutation(size) % FOLDS
    out = q
    for k in range(FOLDS):
        fitted = fit_isotonic(q[fold != k], correct[fold != k])
        out = np.where(fold == k, apply_isotonic(fitted, q), out)
    return out, correct, {}


def stratified(rng, size):
    """Half of the samples easy, half of them hard."""
    strata = np.arange(size) % 2
    p = np.where(strata, rng.beta(12, 1, size), rng.beta(2, 1.5, size))
    return p, answers(rng, p), {"strata": strata}


def reweighted(rng, size, system=calibrated):
    return *system(rng, size)[:2], {"sample_weight": np.exp(rng.normal(0, 0.7, size))}


def pareto_weights(rng, size):
    return *calibrated(rng, size)[:2], {"sample_weight": rng.pareto(2, size) + 1}


def alike(rng, groups, correlation):
    """Groups whose confidences and answers are alike."""
    normal = np.sqrt(correlation) * rng.normal(size=(2, groups.max() + 1))[:, groups]
    p, answer = stats.norm.cdf(
        normal + np.sqrt(1 - correlation) * rng.normal(size=(2, len(groups)))
    )
    q = stats.beta(4, 1.5).ppf(p)
    return q, (answer < q).astype(int), {"groups": groups}


def in_groups(rng, size, count=None):
    return alike(rng, np.arange(size) * (count or size // GROUP_SIZE) // size, 0.5)


def zipf_groups(rng, size):
    """Groups, every fifth sample one, whose sizes fall as 1, 1/2, 1/3 .."""
    count = max(size // 5, 10)
    shares = 1 / np.arange(1, count + 1)
    return alike(
        rng,
        np.concatenate(
            [np.arange(count), rng.choice(count, size - count, p=shares / shares.sum())]
        ),
        0.5,
    )


def weighted_groups(rng, size):
    """40 groups of different weights."""
    q, correct, options = alike(rng, np.arange(size) * 40 // size, 0.3)
    return (
        q,
        correct,
        options | {"sample_weight": np.exp(rng.normal(0, 0.6, 40))[options["groups"]]},
    )


def giant_group(rng, size):
    """One group has a quarter of the samples, and fives are the rest."""
    return alike(rng, np.maximum(np.arange(size) - size // 4, 0) // GROUP_SIZE, 0.2)


def unequal_groups(rng, size):
    """Groups of 1 to 80 samples by Pareto's law, in which a shift of the log-odds moves answers and confidences."""
    sizes = np.minimum(rng.pareto(1.2, size) + 1, 80).astype(int)
    group = np.repeat(np.arange(size), sizes)[:size]
    shift = rng.normal(0, 1.2, size)[group]
    z = 1 + shift + rng.normal(0, 1, size)
    return 1 / (1 + np.exp(0.3 * shift - z)), answers(rng, 1 / (1 + np.exp(-z))), {"groups": group}


def heavy_and_wrong(rng, size):
    """Weights of Pareto's law; the heavier a question, the more often it is answered wrongly."""
    weight = rng.pareto(2.2, size) + 1
    p = rng.beta(4, 2, size)
    right = answers(rng, np.clip(p - np.log(weight) / 4, 0.05, 0.98))
    return p, right, {"sample_weight": weight}


def labels_of(rng, posterior):
    until = np.cumsum(posterior, axis=1)
    return (until < rng.random((len(posterior), 1)) * until[:, -1:]).sum(axis=1)


def thousand_classes(rng, size):
    """Posteriors that are a little too extreme."""
    logits = 2 * rng.standard_normal((size, 1000))
    logits[:, 0] += 4 * rng.standard_normal(size) + 8
    posterior = np.exp(logits - logits.max(axis=1, keepdims=True))
    label = labels_of(rng, posterior)
    sharp = posterior**1.2
    return sharp / sharp.sum(axis=1, keepdims=True), label, {}


def ordinal_costs(rng, size):
    """Five grades, and the cost of a mistake is its distance; one in fifty is a rare grade that is far off."""
    grades = np.arange(5)
    posterior = np.exp(-np.square(rng.normal(1.5, 1, size)[:, None] - grades) / 1.2)
    label = labels_of(rng, posterior)
    label[rng.random(size) < 0.02] = 4
    posterior /= np.cumsum(posterior, axis=1)[:, -1:]
    return posterior, label, {"cost": np.abs(grades[:, None] - grades).astype(float)}


def rare_tenfold(rng, size):
    """A mistake costs 1, but one label in a hundred is of a class that nobody expects: to miss it costs 10."""
    p, correct, _ = calibrated(rng, size)
    posterior = np.stack([p, 0.998 * (1 - p), 0.002 * (1 - p)], axis=1)
    label = np.where(rng.random(size) < 0.01, 2, 1 - correct)
    return (
        posterior,
        label,
        {"cost": np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [10.0, 10.0, 0.0]])},
    )


def asymmetric_costs(rng, size):
    """Posteriors of two classes that are too extreme; one of the two mistakes costs 20."""
    z = rng.normal(1, 2, size)
    label = (rng.random(size) < 1 / (1 + np.exp(-z))).astype(int)
    q = 1 / (1 + np.exp(-1.7 * z))
    return np.stack([1 - q, q], axis=1), label, {"cost": COSTLY_MISSES}


def costly_misses(rng, size, power=1):
    """Posteriors of a rare class, with odds to this power; to miss it costs 20, a false alarm 1."""
    p = rng.beta(0.6, 2, size)
    label = answers(rng, p)
    return of_a_rare_class(p, power), label, {"cost": COSTLY_MISSES}


def of_a_rare_class(p, power):
    odds = (p / (1 - p)) ** power
    return np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)


def partial_grades(rng, size):
    """Four points an answer, and what is lost of them is the cost."""
    p = rng.beta(4, 1.5, size)
    return 1 - p, 1 - rng.binomial(4, p) / 4, {"max_uncertainty": 1.0}


SYSTEMS = {
    "calibrated": calibrated,
    "overconfident": overconfident,
    "verbalized": verbalized,
    "accurate": partial(calibrated, a=12, b=1),  # 8 % errors
    "rare": partial(two_point, share=0.8, confidences=(1.0, 0.95), errors=(0.005, 0.03)),
    "weighted": reweighted,
    "stratified": stratified,
    "grouped": in_groups,
    "in_20_groups": partial(in_groups, count=20),
    "two_point": two_point,
    "three_point": three_point,
    "one_percent_wrong": partial(calibrated, a=19.8, b=0.2),
    "two_percent_wrong": partial(calibrated, a=19.6, b=0.4),
    "four_percent_wrong": partial(calibrated, a=19.2, b=0.8),
    "two_percent_right": partial(few_right, slope=0.2),
    "few_right": few_right,  # 4 %
    "eight_percent_right": partial(few_right, slope=0.8),
    "near_perfect_order": near_perfect_order,
    "pareto_weights": pareto_weights,
    "zipf_groups": zipf_groups,
    "weighted_groups": weighted_groups,
    "thousand_classes": thousand_classes,
    "isotonic": isotonic,
    "refusals": refusals,
    "two_point_weighted": partial(reweighted, system=two_point),
    "giant_group": giant_group,
    "unequal_groups": unequal_groups,
    "heavy_and_wrong": heavy_and_wrong,
    "ordinal_costs": ordinal_costs,
    "rare_tenfold": rare_tenfold,
    "asymmetric_costs": asymmetric_costs,
    "partial_grades": partial_grades,
    "costly_misses": costly_misses,
    "costly_misses_bold": partial(costly_misses, power=1.6),
}


def independent_seeds(runs, entropy=0):
    """Yield, for each run, the seed of its data and that of its draws: no two share a stream."""
    for data, drawn in (seed.spawn(2) for seed in np.random.SeedSequence(entropy).spawn(runs)):
        yield data, int(drawn.generate_state(1)[0])

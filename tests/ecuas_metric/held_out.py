"""Held-out systems whose true values are known: nothing in `ecuas_metric.inference` was or may be chosen by them."""

import numpy as np


def answers(rng, p):
    """Return which answers are right, 1 or 0, each with its probability."""
    return (rng.random(len(p)) < p).astype(int)


def by_name(*functions):
    return {function.__name__: function for function in functions}


def drifting_atoms(rng, size):
    """A fifth says 0, a fifth says 1, both often wrongly; the others drift from honest to bold."""
    kind = rng.random(size)
    q = rng.beta(3, 2, size)
    bold = np.clip(q + 0.2 * q, 0, 1)
    confidence = np.select([kind < 0.2, kind < 0.4], [0.0, 1.0], bold)
    return confidence, answers(rng, np.select([kind < 0.2, kind < 0.4], [0.15, 0.9], q)), {}


def mostly_sure(rng, size):
    """Tenths, of which 45 % say 1.0 and are right in 85 %."""
    sure = rng.random(size) < 0.45
    q = rng.choice(np.arange(4, 10) / 10, size)
    return np.where(sure, 1.0, q), answers(rng, np.where(sure, 0.85, q - 0.1)), {}


def tiny_uncertainties(rng, size):
    """u = 10^-U(0, 6), and twice as many wrong answers as these say."""
    u = 10 ** -rng.uniform(0, 6, size)
    return 1 - u, answers(rng, 1 - np.minimum(2 * u, 0.9)), {}


def bimodal(rng, size):
    hard = rng.random(size) < 0.3
    p = np.where(hard, rng.beta(4, 6, size), rng.beta(40, 1.5, size))
    return p, answers(rng, p**0.8), {}


def one_confidence(rng, size):
    return np.full(size, 0.8), answers(rng, np.full(size, 0.72)), {}


def backwards(rng, size):
    """The surer, the worse."""
    p = rng.beta(3, 2, size)
    return p, answers(rng, 1 - 0.7 * p), {}


def logit_normal(rng, size):
    z = rng.normal(1.5, 2, size)
    return 1 / (1 + np.exp(-2 * z)), answers(rng, 1 / (1 + np.exp(-z))), {}


def seven_percent_right(rng, size):
    q = rng.uniform(0.2, 1.0, size)
    return q, answers(rng, 0.02 + 0.1 * q**2), {}


def documents(rng, size):
    """Groups of log-normal sizes, in which a common shift of the log-odds moves answers and confidences."""
    count = max(size // 6, 8)
    share = np.exp(rng.normal(0, 0.8, count))
    group = rng.choice(count, size, p=share / share.sum())
    shift = rng.normal(0, 0.8, count)[group]
    z = 1 + shift + rng.normal(0, 1.2, size)
    return 1 / (1 + np.exp(-z)), answers(rng, 1 / (1 + np.exp(-0.8 * z))), {"groups": group}


def heavy_where_unsure(rng, size):
    """Weights fall with the confidence, and vary tenfold."""
    p = rng.beta(4, 2, size)
    return p, answers(rng, p), {"sample_weight": (1.2 - p) * np.exp(rng.normal(0, 0.5, size))}


def small_stratum(rng, size):
    """A stratum of 8 answers that has 20 % of the weight, half of them wrong."""
    rare = np.arange(size) < 8
    p = np.where(rare, rng.beta(3, 3, size), rng.beta(8, 1.5, size))
    weight = np.where(rare, 0.2 / 8, 0.8 / (size - 8))
    return p, answers(rng, p), {"strata": rare.astype(int), "sample_weight": weight}


def twenty_one_grades(rng, size):
    p = rng.beta(2, 5, size)
    return p, np.round(rng.beta(1 + 4 * p, 5 - 4 * p) * 20) / 20, {"max_uncertainty": 1.0}


def skewed_grades(rng, size):
    """Costs of a gamma distribution with shape 1/2, cut at 5."""
    u = rng.uniform(0.05, 1, size)
    return u, np.minimum(rng.gamma(0.5, 2 * u, size), 5.0), {"max_uncertainty": 1.5}


def zipf_classes(rng, size):
    """Twenty classes with frequencies 1, 1/2, 1/3 .. and posteriors that are too flat."""
    prior = 1 / np.arange(1, 21)
    label = rng.choice(20, size, p=prior / prior.sum())
    logits = np.log(prior) + rng.normal(0, 1, (size, 20))
    logits[np.arange(size), label] += 2.5
    logits *= 0.7
    posterior = np.exp(logits - logits.max(axis=1, keepdims=True))
    return posterior / posterior.sum(axis=1, keepdims=True), label, {}


def squared_distance(rng, size):
    grades = np.arange(8)
    truth = rng.integers(0, 8, size)
    seen = truth + rng.normal(0, 1.3, size)
    posterior = np.exp(-np.square(seen[:, None] - grades) / 2 / 1.1**2)
    return (
        posterior / posterior.sum(axis=1, keepdims=True),
        truth,
        {"cost": np.square(grades[:, None] - grades) / 1.0},
    )


def small_stratum_truth(rng, size):
    """The population of `small_stratum`, in which both strata are large."""
    rare = np.arange(size) < size // 2
    p = np.where(rare, rng.beta(3, 3, size), rng.beta(8, 1.5, size))
    return p, answers(rng, p), {"sample_weight": np.where(rare, 0.2, 0.8)}


HELD_OUT = by_name(
    drifting_atoms,
    mostly_sure,
    tiny_uncertainties,
    bimodal,
    one_confidence,
    backwards,
    logit_normal,
    seven_percent_right,
    documents,
    heavy_where_unsure,
    small_stratum,
    twenty_one_grades,
    skewed_grades,
    zipf_classes,
    squared_distance,
)

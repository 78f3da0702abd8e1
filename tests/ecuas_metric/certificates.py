"""How often a certified reject cost breaks its promise, and how much it accepts beside MAPIE, by simulation.

`python -m tests.ecuas_metric.certificates` writes docs/certificates.csv. MAPIE 1.6.0 must be installed.
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np

from ecuas_metric import choose_reject_cost, confidence_system

RISK = 0.05
LEVEL = 0.95
SIZES = (300, 1000)
RUNS = 1000  # in which promises are counted
RUNS_BESIDE = 100  # in which the share that is accepted is compared
POPULATION = 2_000_000
FIELDS = ("kind", "samples", "broken", "accepted", "mapie", "mapie_fixed_sequence")
STEPS = np.array([0.01, 0.05, 0.1, 0.2, 0.5])
THRESHOLDS = np.arange(100) / 100  # MAPIE's default


def beta(rng, size):
    return rng.beta(0.6, 3, size)


KINDS = {  # uncertainties, and the chance that an answer with each is wrong
    "calibrated": (beta, lambda u: u),
    "overconfident": (lambda rng, size: beta(rng, size) ** 2, lambda u: 0.7 * np.sqrt(u)),
    "few errors": (lambda rng, size: rng.random(size), lambda u: 0.06 * u),
    "just above everywhere": (lambda rng, size: rng.random(size), lambda u: 0.055 + 0 * u),
    "ties": (lambda rng, size: rng.choice(STEPS, size), lambda u: 1.2 * u),
    "wrong where sure": (
        lambda rng, size: rng.random(size),
        lambda u: np.where(u < 0.1, 0.2, np.where(u < 0.6, 0.02, 0.5)),
    ),
    "good": (lambda rng, size: rng.beta(0.3, 4, size), lambda u: u),
    "crosses at the end": (lambda rng, size: rng.random(size), lambda u: 0.11 * u),
    "three values": (
        lambda rng, size: rng.choice([0.1, 0.3, 0.6], size),
        lambda u: np.where(u < 0.2, 0.051, 0.5 * u),
    ),
    "groups": (lambda rng, size: np.repeat(rng.random(size // 5), 5), lambda u: 0.12 * u),
}


def drawn(kind, rng, size):
    """Return uncertainties, correctness, and groups, all of whose answers are right or wrong together."""
    sample, chance = KINDS[kind]
    u = sample(rng, size)
    if kind != "groups":
        return u, rng.random(size) >= chance(u), None
    return u, np.repeat(rng.random(size // 5), 5) >= chance(u), np.arange(size) // 5


def times_broken(kind, size):
    """Return in how many samples the risk of what is accepted is larger than promised."""
    many, correct, _ = drawn(kind, np.random.default_rng(1), POPULATION)
    order = np.argsort(many, kind="stable")
    risks = np.cumsum(~correct[order]) / np.arange(1, len(many) + 1)
    broken = 0
    for seed in range(RUNS):
        u, right, groups = drawn(kind, np.random.default_rng([seed, size]), size)
        choice = choose_reject_cost(confidence_system(right, 1 - u, groups=groups), max_risk=RISK)
        count = np.searchsorted(many[order], choice.reject_cost + 1e-12, side="right")
        is_chosen = not np.isnan(choice.reject_cost) and count > 0
        broken += is_chosen and risks[count - 1] > RISK + 3e-4  # what so large a sample may be off
    return int(broken)


def accepted(kind, size):
    """Return the median shares that are accepted here and by two methods of MAPIE, of one answer of each group."""
    shares = []
    for seed in range(RUNS_BESIDE):
        u, right, groups = drawn(kind, np.random.default_rng([seed, size, 2]), size)
        if groups is not None:
            u, right = u[::5], right[::5]
        choice = choose_reject_cost(confidence_system(right, 1 - u), max_risk=RISK)
        ours = 0.0 if np.isnan(choice.reject_cost) else choice.coverage.value
        shares.append((ours, _by_mapie(u, right), _by_mapie(u, right, "fixed_sequence")))
    return np.median(shares, axis=0)


def _by_mapie(u, right, method="bonferroni_holm"):
    """Return the share that MAPIE accepts with the same promise; in a fixed sequence, from the surest answers on."""
    from mapie.risk_control import BinaryClassificationController

    confidence = 1 - u
    thresholds = THRESHOLDS[::-1] if method == "fixed_sequence" else THRESHOLDS
    controller = BinaryClassificationController(
        lambda q: np.stack([1 - q, q], axis=1),
        "precision",
        1 - RISK,
        confidence_level=LEVEL,
        list_predict_params=thresholds,
        fwer_method=method,
    )
    controller.calibrate(confidence, right.astype(int))
    chosen = controller.best_predict_param
    return 0.0 if chosen is None else float(np.mean(confidence >= chosen))


def main():
    """Write a row for each kind and number of samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=Path("docs/certificates.csv"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # MAPIE's, where no threshold is certified
    with arguments.file.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for kind in KINDS:
            for size in SIZES:
                shares = (round(float(share), 4) for share in accepted(kind, size))
                writer.writerow([kind, size, times_broken(kind, size), *shares])
                file.flush()


if __name__ == "__main__":
    main()

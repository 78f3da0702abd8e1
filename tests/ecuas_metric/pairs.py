"""By simulation: how often intervals of differences hold, false winners, power, plans, strips, calibration.

`python -m tests.ecuas_metric.pairs SUBJECT FILE` appends lines of CSV; SUBJECT is a function of this module. What was
simulated for docs/statistics.md is in docs/differences.csv (`differences`) and docs/checks.csv (all others).
"""

import argparse
import functools
import math
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from scipy import stats

from ecuas_metric import (
    compare_systems,
    confidence_system,
    ecuas_cost,
    posterior_system,
    score_confidences,
)
from ecuas_metric.comparison.compare import Family
from ecuas_metric.comparison.planning import plan_of_systems
from ecuas_metric.groups import tie_groups
from ecuas_metric.metric import Key
from ecuas_metric.order import aurc, auroc
from ecuas_metric.results import compute_values, value_keys
from tests.ecuas_metric.coverage import append, held
from tests.ecuas_metric.held_out import answers, by_name
from tests.ecuas_metric.simulated import COSTLY_MISSES, of_a_rare_class

OPTIONS = {"confidence_level": 0.95, "normalize": True, "reject_costs": [0.2], "n": (0, 1)}
TRUTH_SIZE = 2_000_000


def alike(rng, size, correlation=0.6, first=(4, 1.5), second=(4, 1.5)):
    """Return two confidences of each question, which is as hard for both, from beta distributions."""
    normal = rng.normal(size=(3, size))
    both = np.sqrt(correlation) * normal[0] + np.sqrt(1 - correlation) * normal[1:]
    return [
        stats.beta(*shape).ppf(stats.norm.cdf(z))
        for z, shape in zip(both, (first, second), strict=True)
    ]


def sharper(p, power):
    return 1 / (1 + ((1 - p) / p) ** power)


def honest(rng, confidences):
    """Return answers that are right as often as their confidences say, with these."""
    return [(answers(rng, p), p) for p in confidences]


def exchangeable(rng, size):
    return honest(rng, alike(rng, size))


def accurate(rng, size):
    return honest(rng, alike(rng, size, first=(12, 1), second=(12, 1)))


def other_confidences(rng, size):
    """Equal error rates; the second is overconfident."""
    first, (correct, q) = honest(rng, alike(rng, size))
    return first, (correct, sharper(q, 3))


def equal_selective_risk(rng, size):
    """Both are right in 90 % of what they accept at a reject cost of 0.2: 60 % of all, and 8 %."""
    systems = []
    for share in (0.6, 0.08):
        accepted = rng.random(size) < share
        q = np.where(accepted, rng.uniform(0.8, 1, size), rng.uniform(0.3, 0.8, size))
        systems.append((answers(rng, np.where(accepted, 0.9, 0.6)), q))
    return systems


def normalised(rng, size):
    """Both calibrated, with 10 and 50 % errors."""
    return honest(rng, [rng.beta(9, 1, size), rng.beta(5, 5, size)])


def overconfident(rng, size):
    """13 and 17 % errors."""
    pair = honest(rng, alike(rng, size, first=(8.7, 1.3), second=(8.3, 1.7)))
    return [(correct, sharper(p, 3)) for correct, p in pair]


def rare_and_dear(rng, size):
    """One mistake in 100 of what is sure, and many moderate ones, against mistakes that are all alike."""
    sure = rng.random(size) < 0.5
    first = answers(rng, np.where(sure, 0.99, 0.8)), np.where(sure, 1.0, 0.8)
    return first, (answers(rng, np.full(size, 0.895)), np.full(size, 0.9))


def same_answers(rng, size):
    p = rng.beta(4, 1.5, size)
    correct = answers(rng, p)
    return (correct, sharper(p, 2.5)), (correct, p)


def tenths(rng, size):
    pair = honest(rng, alike(rng, size))
    return [(correct, np.clip(p.round(1) + 0.1, 0, 0.99)) for correct, p in pair]


def noisy(rng, size):
    first, (correct, q) = honest(rng, alike(rng, size, 0.9))
    return first, (correct, np.clip(q + rng.normal(0, 0.2, size), 0.01, 0.99))


def better(rng, size):
    return honest(rng, alike(rng, size, first=(6, 1.5)))


def ties_and_none(rng, size):
    (correct, p), second = honest(rng, alike(rng, size))
    return (correct, p.round(1)), second


def costly_misses(rng, size):
    """Posteriors of a rare class that costs 20 to miss: too extreme ones, and honest ones."""
    p = rng.beta(0.6, 2, size)
    label = answers(rng, p)
    return (label, of_a_rare_class(p, 1.6)), (label, of_a_rare_class(p, 1))


KINDS = by_name(
    exchangeable,
    accurate,
    other_confidences,
    equal_selective_risk,
    normalised,
    overconfident,
    rare_and_dear,
    same_answers,
    tenths,
    noisy,
    better,
    ties_and_none,
    costly_misses,
)
EQUAL = {  # what is equal in expectation
    "exchangeable": None,
    "accurate": None,
    "tenths": None,
    "ties_and_none": ("error_rate",),
    "other_confidences": ("error_rate", "auroc", "aurc", "augrc"),
    "equal_selective_risk": ("selective_risk_0.2",),
    "same_answers": ("error_rate", "auroc", "aurc", "augrc"),
}


def systems_of(pair, **options):
    options = OPTIONS | options
    return {name: system_of(*one, options) for name, one in zip("abcdefgh", pair, strict=False)}


def system_of(references, predictions, options):
    if predictions.ndim == 1:
        return confidence_system(references, predictions, **options)
    options = options | {"labels": range(2), "cost": COSTLY_MISSES}
    return posterior_system(references, predictions, **options)


@functools.cache
def truth_of(kind):
    """Return the true difference of each number, from four large samples."""
    samples = defaultdict(list)
    for part in range(4):
        pair = KINDS[kind](np.random.default_rng((9, part)), TRUTH_SIZE // 4)
        first, second = (
            compute_values(system) for system in systems_of(pair, confidence_level=None).values()
        )
        for key, value in first.items():
            samples[str(key)].append(float(value - second[key]))
    return {key: np.mean(values) for key, values in samples.items()}


def compare_every(systems):
    """Return all comparisons, of one family of tests."""
    first = next(iter(systems.values()))
    keys = value_keys(first.decisions, first.options)
    return compare_systems(systems, only=keys, by_position=True)


def differences(size, runs):
    """Yield how often the intervals of each kind hold the truth, and how often a true equality is denied."""
    for kind in KINDS:
        truth = truth_of(kind)
        rows = defaultdict(list)
        false = 0
        for run in range(runs):
            pair = KINDS[kind](np.random.default_rng((13, run)), size)
            compared = compare_every(systems_of(pair))
            for row in compared:
                rows[str(row.key)].append(row)
            equal = EQUAL.get(kind, ())
            false += any(
                row.p_adjusted <= 0.05 for row in compared if equal is None or str(row.key) in equal
            )
        for key, of_key in rows.items():
            known = [row for row in of_key if not math.isnan(row.low)]
            if not known:
                continue
            spread = np.ptp(np.nanquantile([row.difference for row in of_key], [0.025, 0.975]))
            yield {
                "pair": kind,
                "samples": size,
                "metric": key,
                **held([(row.low, row.high) for row in known], truth[key], spread),
                "significant": round(100 * float(np.mean([row.p <= 0.05 for row in known])), 2),
                "false_in_family": round(100 * false / runs, 2) if kind in EQUAL else math.nan,
            }


def check(name, subject, size, runs, percent):
    """Return a line of docs/checks.csv."""
    return {
        "check": name,
        "subject": subject,
        "samples": size,
        "runs": runs,
        "percent": round(percent, 2),
    }


def strips(size, runs):
    """Yield how often a winner is named anywhere among 100 reject costs, of two equal systems."""
    keys = [Key("expected_cost", cost) for cost in np.linspace(0.005, 0.995, 100).round(4).tolist()]
    for kind in ("exchangeable", "accurate"):
        false = 0
        for run in range(runs):
            systems = systems_of(
                KINDS[kind](np.random.default_rng((17, run)), size),
                reject_costs=[key.parameter for key in keys],
            )
            false += any(
                row.p_adjusted <= 0.05
                for row in compare_systems(systems, only=keys, by_position=True)
            )
        yield check("winner on a strip of 100 reject costs", kind, size, runs, 100 * false / runs)


def families(size, runs):
    """Yield how often any of equal systems is named better, and how often the first is not among the best."""
    for num_systems in (2, 3, 5, 6):
        named = 0
        lost = Counter()
        for run in range(runs):
            rng = np.random.default_rng((19, run))
            normal = rng.normal(size=(num_systems + 1, size))
            z = np.sqrt(0.6) * normal[0] + np.sqrt(0.4) * normal[1:]
            p = stats.beta(4, 1.5).ppf(stats.norm.cdf(z))
            compared = compare_every(systems_of(honest(rng, p)))
            named += any(row.p_adjusted <= 0.05 for row in compared)
            lost.update(
                str(key)
                for key, ranking in compared.verdict.rankings.items()
                if ranking.best and "a" not in ranking.best
            )
        subject = f"{num_systems} equal systems"
        yield check("any difference by any metric", subject, size, runs, 100 * named / runs)
        for key in ("error_rate", "ecuas_1"):
            name = f"the first is not among the best by {key}"
            yield check(name, subject, size, runs, 100 * lost[key] / runs)


def swapped_p_value(first, second, value, rng, draws=499):
    """Return the p-value of exchanging the outputs of two systems on random samples; `value` takes arrays (B, N)."""
    swapped = rng.random((draws, len(first[0]))) < 0.5
    swapped[0] = False
    one = [np.where(swapped, b, a) for a, b in zip(first, second, strict=True)]
    other = [np.where(swapped, a, b) for a, b in zip(first, second, strict=True)]
    sizes = np.abs(value(*one) - value(*other))
    return np.mean(sizes >= sizes[0] - 1e-12)


def of_order(metric):
    return lambda correct, q: np.array(
        [metric(tie_groups(1 - one, 1.0 - right)) for right, one in zip(correct, q, strict=True)]
    )


VALUES = {
    Key("error_rate"): lambda correct, q: 1 - correct.mean(axis=1),
    Key("ecuas", 1.0): lambda correct, q: ecuas_cost(
        candidate_cost=1.0 - correct, uncertainty=1 - q, n=1
    ).mean(axis=1),
    Key("auroc"): of_order(auroc),
    Key("aurc"): of_order(aurc),
}


def powers(size, runs):
    """Yield the power of the engine and of a permutation test: means of a better system, order of a noisier one."""
    counts = Counter()
    for run in range(runs):
        rng = np.random.default_rng((23, run))
        normal = rng.normal(size=(4, size))
        z = np.sqrt(0.6) * normal[0] + np.sqrt(0.4) * normal[1:3]
        p, q, worse = (
            stats.beta(4, 1.5).ppf(stats.norm.cdf(one)) for one in (*z, z[1] - 5 / math.sqrt(size))
        )
        blurred = 1 / (1 + np.exp(-np.log(q / (1 - q)) - 22 / math.sqrt(size) * normal[3]))
        first = answers(rng, p), p
        second = {"means": (answers(rng, worse), worse), "order": (answers(rng, q), blurred)}
        for key, value in VALUES.items():
            other = second["means" if key.entry.cost else "order"]
            (test,) = Family(systems_of((first, other)), [key]).tests
            counts[f"power for {key}, engine"] += test.inference.p_value() <= 0.05
            swapped = swapped_p_value(first, other, value, rng)
            counts[f"power for {key}, permutations"] += swapped <= 0.05
    for name, count in counts.items():
        yield check(*name.split(", "), size, runs, 100 * count / runs)


def planned(size, runs):
    """Yield how often a difference is significant with the number of samples that was planned for 80 %."""
    keys = [Key("error_rate"), Key("ecuas", 0.0), Key("ecuas", 1.0), Key("auroc"), Key("aurc")]
    keys.append(Key("selective_risk", 0.2))
    for kind in ("better", "overconfident"):
        pilot = systems_of(KINDS[kind](np.random.default_rng((29, 0)), 60_000))
        for key in keys:
            (plan,) = plan_of_systems(
                pilot, by_position=True, only=[key], difference=truth_of(kind)[str(key)]
            )
            needed = plan.needed
            if needed is None or needed > size:
                continue
            count = 0
            for run in range(runs):
                systems = systems_of(KINDS[kind](np.random.default_rng((31, run)), needed))
                (test,) = Family(systems, [key]).tests
                count += test.inference.p_value() <= 0.05
            yield check("planned power of 80 %", f"{key}, {kind}", needed, runs, 100 * count / runs)


def confidences_of(rng, size):
    """Return answers, their confidences and groups by what is to be tested; the first three are calibrated."""
    p = rng.beta(4, 1.5, size)
    tenths = p.round(1)
    few = rng.beta(4, 1.5, size // 5)
    return {
        "calibrated": (answers(rng, p), p, None),
        "calibrated tenths": (answers(rng, tenths), tenths, None),
        "1 % errors": (answers(rng, np.full(size, 0.99)), np.full(size, 0.99), None),
        "groups of five that are alike": (
            np.repeat(answers(rng, few), 5),
            np.repeat(few, 5),
            np.repeat(np.arange(size // 5), 5),
        ),
        "slightly too sure": (answers(rng, 0.92 * p), np.clip(0.92 * p + 0.08, 0, 1), None),
        "log-odds doubled": (answers(rng, p), sharper(p, 2), None),
    }


def calibration(size, runs):
    """Yield how often confidences are called miscalibrated, and the mean of ECE and its debiased form, in percent."""
    totals = defaultdict(Counter)
    for run in range(runs):
        rng = np.random.default_rng((37, run))
        for subject, (correct, q, groups) in confidences_of(rng, size).items():
            values = score_confidences(
                correct, q, groups=groups, calibration=True, random_state=run
            )
            totals["called miscalibrated"][subject] += values["calibration_p"] <= 0.05
            totals["mean of ece"][subject] += values["ece"]
            totals["mean of ece_debiased"][subject] += values["ece_debiased"]
    for name, of_subjects in totals.items():
        for subject, total in of_subjects.items():
            yield check(name, subject, size, runs, 100 * total / runs)


SUBJECTS = by_name(differences, strips, families, powers, planned, calibration)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subject", choices=[*SUBJECTS])
    parser.add_argument("file", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200])
    parser.add_argument("--runs", type=int, default=200)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for size in arguments.sizes:
        for line in SUBJECTS[arguments.subject](size, arguments.runs):
            append(arguments.file, [line])

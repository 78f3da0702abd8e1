"""How often intervals hold the true value, how wide they are, and on which side they miss, by simulation.

`python -m tests.ecuas_metric.coverage FILE` appends one line of CSV for each system, number of samples, metric and
level that the file does not have yet. Width is the median one over that of the central interval of the estimates
themselves, from as many other samples.
"""

import argparse
import csv
import dataclasses
import functools
import math
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

from ecuas_metric.options import checked_options
from ecuas_metric.results import compute_results, compute_values, prepare_system
from tests.ecuas_metric.held_out import HELD_OUT, small_stratum_truth
from tests.ecuas_metric.simulated import SYSTEMS

SIZES = (50, 100, 200, 455, 2000)
OPTIONS = {"reject_costs": 0.1, "normalize": True, "n": (0, 1, 128)}
ALL = SYSTEMS | HELD_OUT
TRUTH_SIZE = 2_000_000
IN_PARTS = {
    "thousand_classes": (40, 10_000),
    "ordinal_costs": (40, 50_000),
    "zipf_classes": (10, 50_000),
    "squared_distance": (10, 50_000),
    "isotonic": (2000, None),
}
GROUPED = ("grouped", "in_20_groups", "zipf_groups", "weighted_groups", "giant_group")
POPULATION = dict.fromkeys((*GROUPED, "weighted", "pareto_weights"), SYSTEMS["calibrated"])
POPULATION |= {"two_point_weighted": SYSTEMS["two_point"], "small_stratum": small_stratum_truth}


@functools.cache
def true_values(name, size=None):
    """Return the values of so large a sample that its error does not count; what is fitted, its mean at this size."""
    system = POPULATION.get(name, ALL[name])
    rng = np.random.default_rng(99)
    if name not in IN_PARTS:
        return _values(*system(rng, TRUTH_SIZE))
    count, of_each = IN_PARTS[name]
    parts = [_values(*system(rng, of_each or size)) for _ in range(count)]
    return {key: np.nanmean([part[key] for part in parts]) for key in parts[0]}


def _values(predictions, references, options):
    return compute_values(_prepared(predictions, references, options))


def _prepared(predictions, references, options, **more):
    form = "posteriors" if predictions.ndim > 1 else "confidences"
    if "max_uncertainty" in options:
        form = "costs"
        options = options | {"normalize": False}
    checked = checked_options(**OPTIONS | options | more)
    return prepare_system(form, predictions, references, checked)


def estimates(name, size, runs):
    """Return the values of each metric over samples of this size."""
    samples = defaultdict(list)
    for run in range(runs):
        for key, value in _values(*ALL[name](np.random.default_rng((77, run)), size)).items():
            samples[key].append(value)
    return samples


def _noted(results):
    """Return the keys of the numbers of which a note says what was not seen."""
    return {
        str(key) for note in results.notes if note.id == "unseen" for key in note.fields["metrics"]
    }


def held(limits, truth, spread):
    """Return how many intervals there are, which percents of them lie beside the truth, and how wide they are."""
    low, high = np.array(limits).T
    return {
        "intervals": len(limits),
        "truth_below": round(100 * float(np.mean(truth < low - 1e-12)), 2),
        "truth_above": round(100 * float(np.mean(truth > high + 1e-12)), 2),
        "width": round(float(np.median(high - low) / spread), 3) if spread else math.nan,
    }


def cells(name, size, runs, levels=(0.95,)):
    """Yield a row of coverage.csv for each level and metric of a system."""
    truth = true_values(name, size if name == "isotonic" else None)
    samples = estimates(name, size, runs)
    ends = defaultdict(list)
    noted = defaultdict(int)
    for run in range(runs):
        system = _prepared(
            *ALL[name](np.random.default_rng((5, run)), size), confidence_level=levels[0]
        )
        for level in levels:
            at_level = dataclasses.replace(
                system, options=system.options.replace(confidence_level=level)
            )
            results = compute_results(at_level)
            marked = _noted(results)
            for key, estimate in results.estimates.items():
                if key in truth and not math.isnan(estimate.low):
                    ends[level, key].append((estimate.low, estimate.high))
                    noted[level, key] += str(key) in marked
    for (level, key), pairs in sorted(ends.items(), key=lambda item: item[0][0]):
        spread = np.ptp(np.nanquantile(samples[key], [(1 - level) / 2, (1 + level) / 2]))
        share = round(100 * noted[level, key] / len(pairs), 1)
        cell = {"system": name, "samples": size, "metric": str(key), "level": level}
        yield cell | held(pairs, truth[key], spread) | {"noted": share}


def append(path, lines):
    """Append lines to a file of CSV, whose header is their names."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, [*lines[0]], lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(lines)


def simulate(path, names, sizes, runs, levels):
    """Append the cells that a file does not have."""
    done = set()
    if path.exists():
        with path.open() as file:
            done = {
                (row["system"], int(row["samples"]), float(row["level"]))
                for row in csv.DictReader(file)
            }
    for size in sizes:
        for name in names:
            missing = [level for level in levels if (name, size, level) not in done]
            if missing:
                append(path, list(cells(name, size, runs, missing)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--levels", type=float, nargs="+", default=[0.95])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--systems", nargs="+", choices=[*ALL], default=[*ALL])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    simulate(arguments.file, arguments.systems, arguments.sizes, arguments.runs, arguments.levels)

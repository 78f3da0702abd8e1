"""How often 95 % intervals hold the true value, by simulation: write the tables of docs/statistics.md.

Each cell, a system of `tests.ecuas_metric.simulated` and a number of samples, is one line of JSON; what a file has of
it already is not simulated again, so that an interrupted run goes on.
"""

import argparse
import functools
import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ecuas_metric.calibration import Weighting, squared_gap
from ecuas_metric.metric import Key
from ecuas_metric.options import checked_options
from ecuas_metric.reporting.averages import _averages
from ecuas_metric.results import all_values, compute_results, prepare
from tests.ecuas_metric.simulated import SYSTEMS

SIZES = (50, 100, 200, 455, 2000)
OPTIONS = {"reject_costs": 0.1, "normalize": True, "decompose": True, "calibration": True, "n": (0, 1, 128)}
MACROS = {  # averages over parts that are of these systems in turn
    "macro_calibrated": ("calibrated", "accurate", "verbalized"),
    "macro_hard": ("two_point", "few_right", "overconfident"),
}
PARTS, LARGEST_PART = 57, 455
AVERAGED = [Key("ecuas", 0), Key("ecuas", 1), Key("error_rate"), Key("aurc"), Key("augrc")]
ORDER = "error_rate auroc aurc augrc ecuas_0 ecuas_1"
OF_ANSWERS = "confidence_cross_entropy confidence_brier_score expected_cost_0.1 selective_risk_0.1 coverage_0.1"
OF_CLASSES = "risk cross_entropy brier_score normalized_ecuas_1 normalized_brier_score"
LEAST = 75  # samples with an interval, below which a share is not shown
NAMES = [*SYSTEMS, *MACROS]
TRUTH_SIZE = 2_000_000
IN_PARTS = {"thousand_classes": (40, 10_000), "ordinal_costs": (40, 50_000), "isotonic": (2000, None)}
GROUPED = ("grouped", "in_20_groups", "zipf_groups", "weighted_groups", "giant_group")
SAME_TRUTH = dict.fromkeys((*GROUPED, "weighted", "pareto_weights"), "calibrated") | {"two_point_weighted": "two_point"}


@functools.cache
def true_values(name, size=None):
    """Return the values of so large a sample that its error does not count; what is fitted, its mean at this size."""
    system, rng = SYSTEMS[SAME_TRUTH.get(name, name)], np.random.default_rng(99)
    if name not in IN_PARTS:
        return _values(*system(rng, TRUTH_SIZE))
    count, of_each = IN_PARTS[name]
    parts = [_values(*system(rng, of_each or size)) for _ in range(count)]
    return {key: np.nanmean([part[key] for part in parts]) for key in parts[0]}


def _values(predictions, references, options):
    prepared = _prepared(predictions, references, options)
    values = {key: float(value) for key, value in all_values(prepared).items()}
    if prepared.options.calibration:
        square = squared_gap(predictions, 1 - references, n_bins=10, weighting=Weighting(options.get("sample_weight")))
        # 3 standard errors of a calibrated system
        values[Key("ece_debiased")] = 0.0 if square < 1e-5 else math.sqrt(square)
    return values


def _prepared(predictions, references, options, **more):
    form = "posteriors" if predictions.ndim > 1 else "costs" if "max_uncertainty" in options else "confidences"
    added = {"calibration": form == "confidences", "normalize": form != "costs"}
    return prepare(form, predictions, references, checked_options(**OPTIONS | added | options | more))


def of_system(name, size, seed, only=None):
    """Return the results of one simulated sample, its system, and the true values."""
    sample = SYSTEMS[name](np.random.default_rng(seed), size)
    truth = true_values(name, size if name == "isotonic" else None)
    prepared = _prepared(*sample, confidence_level=0.95, n_resamples=1)
    return compute_results(prepared, only=only or [*truth]), prepared, truth


def of_average(name, size, seed):
    """Return the same of a macro-average, which is no system."""
    parts = [of_system(part, size, (seed, k), AVERAGED) for k, part in zip(range(PARTS), itertools.cycle(MACROS[name]))]
    truth = {key: math.fsum(of_part[key] for _, _, of_part in parts) / PARTS for key in AVERAGED}
    return _averages([part[:2] for part in parts], AVERAGED), None, truth


def coverage(name, size, seeds):
    """Return, for each key, how many samples have an interval, how many of these hold the true value, and the same two
    of samples without a note on this interval.
    """
    counts = defaultdict(lambda: np.zeros(4, int))
    for seed in seeds:
        found, _, truth = (of_average if name in MACROS else of_system)(name, size, seed)
        told = [note.fact for note in found.notes if note.id in ("unseen", "few_groups")]
        noted = {key for fact in told for key in fact.split(": ")[-1].rstrip(".").split(", ")}
        for key, estimate in found.estimates.items():
            low, high = estimate.low, estimate.high
            if not math.isnan(low):
                holds = low - 1e-12 <= truth[key] <= high + 1e-12
                plain = str(key) not in noted and not any("All intervals" in fact for fact in told)
                counts[str(key)] += (1, holds, plain, holds and plain)
    return {key: count.tolist() for key, count in counts.items()}


def simulate(path: Path, names: list[str], sizes: list[int], runs: int) -> None:
    """Bring each cell to so many samples."""
    done = Counter()
    for record in _records(path):
        done[record["system"], record["size"]] += record["runs"]
    for size, name in itertools.product(sizes, names):
        seeds = range(done[name, size], runs)
        if seeds and (name in SYSTEMS or size <= LARGEST_PART):
            record = {"system": name, "size": size, "runs": len(seeds), "keys": coverage(name, size, seeds)}
            with path.open("a") as file:
                print(json.dumps(record), file=file)


def _records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tables(path: Path) -> Iterator[str]:
    """Yield tables of the share of intervals that hold the true value, of all samples and of those without a note."""
    counts = defaultdict(lambda: np.zeros(4, int))
    for record in _records(path):
        for key, found in record["keys"].items():
            counts[record["system"], record["size"], key] += found
    for title, at in (("All samples", 0), ("Samples without a note on the interval", 2)):
        for keys in (ORDER.split(), OF_ANSWERS.split(), OF_CLASSES.split()):
            yield f"\n{title}:\n\n| system | {' | '.join(keys)} |\n|{'---|' * (len(keys) + 1)}"
            for name in NAMES:
                cells = [" / ".join(_share(*counts[name, size, key][at : at + 2]) for size in SIZES) for key in keys]
                if any(cell.strip("-/ ") for cell in cells):
                    yield f"| {name} | {' | '.join(cells)} |"


def _share(count: int, held: int) -> str:
    return "-" if count < LEAST else f"{100 * held / count:.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--systems", nargs="+", choices=NAMES, default=NAMES)
    given = parser.parse_args()
    simulate(given.file, given.systems, given.sizes, given.runs)
    print("\n".join(tables(given.file)))

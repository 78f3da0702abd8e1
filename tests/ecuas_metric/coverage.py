"""How often 95 % intervals hold the true value, by simulation: write the tables of docs/statistics.md.

Each cell, a system of `tests.ecuas_metric.simulated` and a number of samples, is one line of JSON; what a file has of
it already is not simulated again, so that an interrupted run goes on.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.ecuas_metric import simulated

SIZES = (50, 100, 200, 455, 2000)
MACROS = {
    "macro_calibrated": (simulated.calibrated, simulated.accurate, simulated.verbalized),
    "macro_hard": (simulated.two_point, simulated.few_right, simulated.overconfident),
}
ORDER = "error_rate auroc aurc augrc ecuas_0 ecuas_1"
OF_ANSWERS = "confidence_cross_entropy confidence_brier_score expected_cost_0.1 selective_risk_0.1 coverage_0.1"
OF_CLASSES = "risk cross_entropy brier_score normalized_ecuas_1 normalized_brier_score"
LEAST = 75  # samples with an interval, below which a share is not shown
NAMES = [system.__name__ for system in (*simulated.SYSTEMS, *simulated.HARD_SYSTEMS)] + [*MACROS]


def simulate(path: Path, names: list[str], sizes: list[int], runs: int, step: int) -> None:
    """Bring each cell to so many samples, all cells `step` samples at a time."""
    done = Counter()
    for record in _records(path):
        done[record["system"], record["size"]] += record["runs"]
    for until in range(step, runs + step, step):
        for size in sizes:
            for name in names:
                first, end = done[name, size], min(until, runs)
                if first >= end or (name in MACROS and size > 455):
                    continue
                seeds = range(first, end)
                found = (
                    simulated.coverage_of_averages(MACROS[name], size, seeds)
                    if name in MACROS
                    else simulated.coverage(getattr(simulated, name), size, seeds)
                )
                with path.open("a") as file:
                    print(json.dumps({"system": name, "size": size, "runs": end - first, "keys": found}), file=file)
                done[name, size] = end


def _records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tables(path: Path) -> Iterator[str]:
    """Yield tables of the share of intervals that hold the true value, of all samples and of those without a note."""
    counts = defaultdict(lambda: [0, 0, 0, 0])
    for record in _records(path):
        for key, found in record["keys"].items():
            of_cell = counts[record["system"], record["size"], key]
            of_cell[:] = [one + other for one, other in zip(of_cell, found, strict=True)]
    for title, at in (("All samples", 0), ("Samples without a note on the interval", 2)):
        for keys in (ORDER.split(), OF_ANSWERS.split(), OF_CLASSES.split()):
            yield f"\n{title}:\n\n| system | {' | '.join(keys)} |\n|{'---|' * (len(keys) + 1)}"
            for name in NAMES:
                cells = [[counts[name, size, key][at : at + 2] for size in SIZES] for key in keys]
                if any(count >= LEAST for row in cells for count, _ in row):
                    shown = (" / ".join(_share(*cell) for cell in row) for row in cells)
                    yield f"| {name} | {' | '.join(shown)} |"


def _share(count: int, held: int) -> str:
    return "-" if count < LEAST else f"{100 * held / count:.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--step", type=int, default=300)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--systems", nargs="+", choices=NAMES, default=NAMES)
    given = parser.parse_args()
    simulate(given.file, given.systems, given.sizes, given.runs, given.step)
    print("\n".join(tables(given.file)))

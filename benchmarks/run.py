"""Measure ours against NumPy's sort and peers that do the same work; write tables of two pages.

Times are medians of processor time, and the two sides of each ratio take turns: other programs change the clock's.
Memory is the peak of a process of its own that makes the input and computes, less that of one that only imports.
"""

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow.csv
import pyarrow.parquet

from ecuas_metric import (
    compare_systems,
    confidence_system,
    read_submissions,
    score_confidences,
    score_posteriors,
)
from ecuas_metric.metric import Key
from ecuas_metric.results import compute_results
from examples.logs import write_logs

ROOT = Path(__file__).resolve().parent.parent
SPEED = ROOT / "docs" / "speed.md"
SCALE = ROOT / "docs" / "scale.md"
Call = Callable[[], object]
_START = "<!-- benchmarks: written by make bench -->"
_END = "<!-- end of benchmarks -->"

# What is usually done with a file of answers: all rows in memory.
_USUAL = """
import sys
import pandas as pd
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
rows = pd.read_parquet(sys.argv[1])
confidence, correct = rows["confidence"], rows["correct"].astype(int)
print(roc_auc_score(correct, confidence), brier_score_loss(correct, confidence), log_loss(correct, confidence))
"""

# A process of little memory starts the one that is measured: what its parent held would count.
_MEASURE = """
import os, subprocess, sys
process = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Cost(NamedTuple):
    """What a process took: seconds of the processor, and bytes at its peak."""

    seconds: float
    memory: int


def cost_of(*command: str) -> Cost:
    """Run a program of Python and return what it took, start and imports included."""
    run = [sys.executable, "-c", _MEASURE, *command]
    seconds, memory = subprocess.run(
        run, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()
    return Cost(float(seconds), int(memory))


class Line(NamedTuple):
    """A row of the table: what was measured, the figures, and their ratio if there is one."""

    what: str
    ours: str
    other: str
    ratio: str


def cpu_times(calls: Sequence[Call], repeats: int) -> list[float]:
    """Return the median time of the processor of each call, in seconds, taking turns; the first of several warms up."""
    times: list[list[float]] = [[] for _ in calls]
    for turn in range(repeats + 1):
        for call, of_call in zip(calls, times, strict=True):
            start = time.process_time()
            call()
            if turn or not repeats:
                of_call.append(time.process_time() - start)
    return [statistics.median(of_call) for of_call in times]


def against(what: str, ours: Call, other: Call, name: str, repeats: int) -> Line:
    """Measure two calls that do the same, or one that the other is a multiple of."""
    mine, theirs = cpu_times([ours, other], repeats)
    return Line(what, _seconds(mine), f"{name}, {_seconds(theirs)}", f"{mine / theirs:.2f}")


def simulated(num_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return confidences without ties, and correctness drawn by them."""
    rng = np.random.default_rng(0)
    confidence = rng.random(num_samples)
    return confidence, (rng.random(num_samples) < confidence).astype(np.int64)


def scalar_line(num_samples: int, repeats: int) -> Line:
    """Ten scalars against one sort of the same array."""
    q, y = simulated(num_samples)
    what, name = f"ten metrics, N = {num_samples:,}", "`numpy.sort` of the confidences"
    return against(what, lambda: score_confidences(y, q), lambda: np.sort(q), name, repeats)


def option_lines(num_samples: int, repeats: int) -> list[Line]:
    """Ten scalars with weights, with analytic intervals and through Evaluate, against the same without."""
    import evaluate

    q, y = simulated(num_samples)
    weights = np.random.default_rng(1).random(num_samples)
    analytic: dict[str, Any] = {"confidence_level": 0.95, "interval_method": "analytic"}
    module = evaluate.load(str(ROOT / "ecuas_metric" / "ecuas.py"))
    calls = {
        "with weights": lambda: score_confidences(y, q, sample_weight=weights),
        "with analytic intervals": lambda: score_confidences(y, q, **analytic),
        "through `evaluate`": lambda: module.compute(predictions=q, references=y),
    }
    return [
        against(
            f"ten metrics {what}, N = {num_samples:,}",
            call,
            lambda: score_confidences(y, q),
            "without",
            repeats,
        )
        for what, call in calls.items()
    ]


def small_line(repeats: int) -> Line:
    """Ten scalars with analytic intervals of as many samples as most have, against the same without."""
    q, y = simulated(455)
    ours = partial(score_confidences, y, q, confidence_level=0.95)
    what = "ten metrics with analytic intervals, N = 455"
    return against(what, ours, partial(score_confidences, y, q), "without", 10 * repeats)


def peer_line(num_samples: int, repeats: int) -> Line:
    """Compute the same metrics on both sides, there by the calls one would otherwise make."""
    import torch
    from sklearn.metrics import auc, brier_score_loss, log_loss, roc_auc_score
    from torchmetrics.functional.classification import binary_calibration_error

    confidence, correct = simulated(num_samples)
    q, y = torch.from_numpy(confidence), torch.from_numpy(correct)

    def theirs() -> None:
        roc_auc_score(correct, confidence)
        binary_calibration_error(q, y, n_bins=10, norm="l1")
        risk = np.cumsum(1 - correct[np.argsort(-confidence)]) / np.arange(1, num_samples + 1)
        auc(np.arange(1, num_samples + 1) / num_samples, risk)
        brier_score_loss(correct, confidence)
        log_loss(correct, confidence)

    def ours() -> None:
        compute_results(confidence_system(correct, confidence), only=keys)

    keys = [
        Key(name)
        for name in ("auroc", "ece", "aurc", "confidence_brier_score", "confidence_cross_entropy")
    ]
    what = f"AUROC, ECE, AURC, Brier score, log loss, N = {num_samples:,}"
    return against(what, ours, theirs, "scikit-learn, torchmetrics", repeats)


def posterior_line(repeats: int) -> Line:
    """Posteriors of 1,000 classes, against scikit-learn's cross-entropy alone."""
    from sklearn.metrics import log_loss

    rng, classes = np.random.default_rng(0), np.arange(1000)
    posteriors = rng.dirichlet(np.full(1000, 0.05), 10_000)
    labels = (posteriors.cumsum(axis=1) < rng.random((10_000, 1))).sum(axis=1).clip(0, 999)
    ours, theirs = (
        partial(call, labels, posteriors, labels=classes) for call in (score_posteriors, log_loss)
    )
    return against(
        "twelve metrics of posteriors 10,000 x 1,000",
        ours,
        theirs,
        "scikit-learn's `log_loss`",
        repeats,
    )


def author_lines(num_samples: int, repeats: int) -> list[Line]:
    """Nine of the ten metrics by the authors' package, where it is installed; it computes in float32."""
    if importlib.util.find_spec("ecuas") is None:
        return []
    import torch
    from ecuas import confidences as theirs

    confidence, correct = simulated(num_samples)
    q, y = torch.from_numpy(confidence), torch.from_numpy(correct)
    metrics = [
        theirs.ConfidenceErrorRate,
        theirs.ExpectedCalibrationError,
        theirs.ConfidenceAUCScore,
        theirs.ConfidenceCrossEntropy,
        theirs.ConfidenceBrierScore,
        theirs.ConfidenceAURC,
        *(partial(theirs.ConfidenceECUAS, n=n) for n in (0, 1, 128)),
    ]

    def compute() -> None:
        for make in metrics:
            metric = make()
            metric.update(q, y)
            metric.compute()

    name = f"`ecuas` {importlib.metadata.version('ecuas')}, nine of them"
    what = f"ten metrics, N = {num_samples:,}"
    return [against(what, lambda: score_confidences(correct, confidence), compute, name, repeats)]


def file_lines(num_rows: int, repeats: int) -> list[Line]:
    """Read files of three formats to systems, against the library that reads a table of each fastest."""
    import polars

    confidence, correct = simulated(num_rows)
    frame = pd.DataFrame({"id": range(num_rows), "confidence": confidence, "correct": correct})
    with tempfile.TemporaryDirectory() as folder:
        lines, csv, parquet = (
            Path(folder) / f"scores.{end}" for end in ("jsonl", "csv", "parquet")
        )
        frame.to_json(lines, orient="records", lines=True)
        frame.to_csv(csv, index=False)
        frame.to_parquet(parquet, index=False)
        readers: list[tuple[str, str, Path, Callable[[Path], object]]] = [
            ("JSON lines", "`polars.read_ndjson`", lines, polars.read_ndjson),
            ("CSV", "`pyarrow.csv.read_csv`", csv, pyarrow.csv.read_csv),
            ("Parquet", "`pyarrow.parquet.read_table`", parquet, pyarrow.parquet.read_table),
        ]
        return [
            against(
                f"read {num_rows:,} rows of {form}",
                partial(read_submissions, path),
                partial(read, path),
                name,
                min(repeats, 3),
            )
            for form, name, path, read in readers
        ]


def start_line(repeats: int) -> Line:
    """Run the command on a small file, its start included, against importing what it reads with."""
    confidence, correct = simulated(200)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        pd.DataFrame({"confidence": confidence, "correct": correct}).to_csv(path, index=False)
        programs = [
            ("-m", "ecuas_metric.reporting", "score", str(path)),
            ("-c", "import numpy, pyarrow"),
        ]
        times: list[list[float]] = [[], []]
        for _ in range(repeats):
            for program, of_program in zip(programs, times, strict=True):
                of_program.append(cost_of(*program).seconds)
    ours, other = map(statistics.median, times)
    name = f"importing NumPy and pyarrow, {_seconds(other)}"
    return Line("`ecuas score` of 200 rows", _seconds(ours), name, f"{ours / other:.2f}")


def compare_line(num_systems: int, repeats: int) -> Line:
    """Compare all pairs of systems by ten metrics and on a strip of reject costs, against scoring each."""
    rng = np.random.default_rng(0)
    systems = {}
    for name in range(num_systems):
        confidence = rng.random(455)
        correct = rng.random(455) < confidence
        systems[str(name)] = confidence_system(correct, confidence, confidence_level=0.95)
    what = f"{num_systems} systems compared, N = 455"
    ours = partial(compare_systems, systems, by_position=True)
    alone = lambda: [compute_results(system) for system in systems.values()]  # noqa: E731
    return against(what, ours, alone, "scored, with intervals", repeats)


def bootstrap_line(repeats: int) -> Line:
    """Resamples of all metrics; the other side is scikit-learn's AUROC alone, of as many resamples."""
    from sklearn.metrics import roc_auc_score

    q, y = simulated(455)
    rng = np.random.default_rng(0)

    def loop() -> None:
        for _ in range(1000):
            index = rng.integers(0, 455, 455)
            roc_auc_score(y[index], q[index])

    ours = partial(score_confidences, y, q, confidence_level=0.95, interval_method="percentile")
    what, name = "1000 resamples of ten metrics, N = 455", "a loop over scikit-learn's AUROC alone"
    return against(what, ours, loop, name, min(repeats, 3))


def memory_line(what: str, size: int, make: str, call: str) -> Line:
    """Peak memory over the input's size in bytes."""
    imports = "import evaluate, numpy as np; from ecuas_metric import score_confidences"
    peak = cost_of("-c", f"{imports}; {make}; {call}").memory - cost_of("-c", imports).memory
    of_input = f"the input, {size / 2**20:.0f} MiB"
    return Line(
        f"peak memory, {what}, input included",
        f"{peak / 2**20:.0f} MiB",
        of_input,
        f"{peak / size:.1f}",
    )


def scale_table(num_rows: int) -> str:
    """Return what files of answers with distinct confidences take out of core and in memory, as a table."""
    score = ("-m", "ecuas_metric.reporting", "score")
    with tempfile.TemporaryDirectory() as folder:
        some, many, state = (str(Path(folder) / name) for name in ("a.parquet", "b.parquet", "s"))
        write_logs(Path(some), num_rows)
        write_logs(Path(many), 10 * num_rows)
        ours = "`ecuas score --out-of-core`: ten metrics, with bounds"
        lines = [
            _scale_line(10 * num_rows, ours, *score, many, "--out-of-core"),
            _scale_line(num_rows, ours, *score, some, "--out-of-core", "--state", state),
            _scale_line(num_rows, "`ecuas score`, all rows in memory: ten metrics", *score, some),
            _scale_line(
                num_rows, "pandas; AUROC, Brier score, log loss by scikit-learn", "-c", _USUAL, some
            ),
        ]
        size = Path(state).stat().st_size
    rows = ["| rows | what | CPU | peak memory |", "|---:|---|---:|---:|", *lines]
    of_state = f"The state of the {num_rows:,} rows takes {size / 1e6:.1f} MB."
    return "\n".join([*rows, "", f"{of_state} {_machine()}."])


def _scale_line(num_rows: int, what: str, *command: str) -> str:
    """Return a row of the table: what a program took with a file of so many rows."""
    cost = cost_of(*command)
    return f"| {num_rows:,} | {what} | {cost.seconds:.1f} s | {cost.memory / 2**20:.0f} MiB |"


def to_markdown(lines: list[Line]) -> str:
    """Return the table, with the machine named."""
    rows = ["| what | ours | against | ours / other |", "|---|---:|---|---:|"]
    rows += [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([*rows, "", f"{_machine()}. Medians of the processor's time."])


def _machine() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    simd: Any = np.show_config(mode="dicts")
    path = [*simd["SIMD Extensions"]["baseline"], *simd["SIMD Extensions"]["found"]][-1]
    versions = f"Python {platform.python_version()}, NumPy {np.__version__} by its path {path}"
    return f"{platform.machine()}, {cores} cores, {versions}"


def main() -> None:
    """Measure everything and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="print the table only")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    repeats = arguments.repeats
    lines = [
        scalar_line(1_000_000, repeats),
        scalar_line(10_000_000, min(repeats, 3)),
        *option_lines(1_000_000, repeats),
        small_line(repeats),
        peer_line(1_000_000, repeats),
        *author_lines(1_000_000, repeats),
        bootstrap_line(repeats),
        posterior_line(repeats),
        *file_lines(1_000_000, repeats),
        start_line(repeats),
        *(compare_line(num_systems, min(repeats, 3)) for num_systems in (2, 12, 42)),
        memory_line(
            "ten metrics, N = 10,000,000",
            16 * 10**7,
            "rng = np.random.default_rng(0); q = rng.random(10**7); y = (rng.random(10**7) < q).astype(np.int64)",
            "score_confidences(y, q)",
        ),
        memory_line(
            "posteriors 50,000 x 1,000 through `evaluate`",
            8 * 1001 * 50_000,
            "rng = np.random.default_rng(0); q = np.full((50_000, 1000), 1e-3); y = rng.integers(0, 1000, 50_000)",
            "evaluate.load('ecuas_metric/ecuas.py').compute(predictions=q, references=y)",
        ),
    ]
    for page, table in ((SPEED, to_markdown(lines)), (SCALE, scale_table(10_000_000))):
        print(table)
        if not arguments.no_write:
            page.write_text(_with_table(page.read_text(), table))


def _with_table(text: str, table: str) -> str:
    """Return the text of a page with a table between its marks."""
    before, _, rest = text.partition(f"{_START}\n")
    return f"{before}{_START}\n{table}\n{_END}{rest.partition(_END)[2]}"


def _seconds(value: float) -> str:
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1000:.{1 if value < 0.01 else 0}f} ms"


if __name__ == "__main__":
    main()

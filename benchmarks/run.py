"""Measure ours against NumPy's sort and peers that do the same work; write docs/speed.md's table.

Times are medians of processor time, and the two sides of each ratio take turns: other programs change the clock's.
"""

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ecuas_metric import compare_systems, confidence_system, read_submissions, score_confidences, score_posteriors
from ecuas_metric.metrics import Key
from ecuas_metric.results import all_values, compute_results

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "speed.md"
Call = Callable[[], object]
MARKS = ("<!-- benchmarks: written by make bench -->", "<!-- end of benchmarks -->")


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
    analytic = {"confidence_level": 0.95, "interval_method": "analytic"}
    module = evaluate.load(str(ROOT / "ecuas_metric" / "ecuas.py"))
    calls = {
        "with weights": lambda: score_confidences(y, q, sample_weight=weights),
        "with analytic intervals": lambda: score_confidences(y, q, **analytic),
        "through `evaluate`": lambda: module.compute(predictions=q, references=y),
    }
    return [
        against(f"ten metrics {what}, N = {num_samples:,}", call, lambda: score_confidences(y, q), "without", repeats)
        for what, call in calls.items()
    ]


def peer_lines(num_samples: int, repeats: int) -> list[Line]:
    """Compute the same metrics on both sides, there by the calls one would otherwise make."""
    import torch
    from sklearn.metrics import auc, brier_score_loss, log_loss, roc_auc_score
    from torchmetrics.functional.classification import binary_auroc, binary_calibration_error

    confidence, correct = simulated(num_samples)
    q, y = torch.from_numpy(confidence), torch.from_numpy(correct)

    def five() -> None:
        roc_auc_score(correct, confidence)
        binary_calibration_error(q, y, n_bins=10, norm="l1")
        risk = np.cumsum(1 - correct[np.argsort(-confidence)]) / np.arange(1, num_samples + 1)
        auc(np.arange(1, num_samples + 1) / num_samples, risk)
        brier_score_loss(correct, confidence)
        log_loss(correct, confidence)

    def two() -> None:
        binary_auroc(q, y)
        binary_calibration_error(q, y, n_bins=10)

    def line(title: str, names: Sequence[str], theirs: Call, peers: str) -> Line:
        keys = [Key(name) for name in names]
        ours = lambda: compute_results(confidence_system(correct, confidence), only=keys)  # noqa: E731
        return against(f"{title}, N = {num_samples:,}", ours, theirs, peers, repeats)

    names = ("auroc", "ece", "aurc", "confidence_brier_score", "confidence_cross_entropy")
    return [
        line("AUROC, ECE, AURC, Brier score, log loss", names, five, "scikit-learn, torchmetrics"),
        line("AUROC, ECE", names[:2], two, "torchmetrics"),
    ]


def posterior_line(repeats: int) -> Line:
    """Posteriors of 1,000 classes, against scikit-learn's cross-entropy alone."""
    from sklearn.metrics import log_loss

    rng = np.random.default_rng(0)
    posteriors = rng.dirichlet(np.full(1000, 0.05), 10_000)
    labels = (posteriors.cumsum(axis=1) < rng.random((10_000, 1))).sum(axis=1).clip(0, 999)
    classes = np.arange(1000)
    ours = partial(score_posteriors, labels, posteriors, labels=classes)
    theirs = partial(log_loss, labels, posteriors, labels=classes)
    return against("twelve metrics of posteriors 10,000 x 1,000", ours, theirs, "scikit-learn's `log_loss`", repeats)


def file_lines(repeats: int) -> list[Line]:
    """Read a CSV file with ids, and run the command on it, its start included, against pandas reading it."""
    confidence, correct = simulated(100_000)
    frame = pd.DataFrame({"id": range(len(correct)), "confidence": confidence, "correct": correct})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        frame.to_csv(path, index=False)
        read, theirs = cpu_times([lambda: read_submissions(path), lambda: pd.read_csv(path)], repeats)
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "ecuas_metric.reporting", "score", str(path)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
    name = f"`pandas.read_csv`, {_seconds(theirs)}"
    return [
        Line("read a CSV file of 100,000 rows", _seconds(read), name, f"{read / theirs:.2f}"),
        Line("`ecuas score` of it, start included", _seconds(run), name, f"{run / theirs:.2f}"),
    ]


def compare_line() -> Line:
    """Compare all pairs of 21 systems by all metrics, against computing their metrics alone."""
    rng, systems = np.random.default_rng(0), {}
    for name in range(21):
        confidence = rng.random(455)
        correct = rng.random(455) < confidence
        systems[str(name)] = confidence_system(correct, confidence, confidence_level=0.95, n=(0, 1, 128))
    what = "21 systems compared by ten metrics, 1000 permutations, N = 455"
    alone = lambda: [all_values(system) for system in systems.values()]  # noqa: E731
    return against(what, partial(compare_systems, systems), alone, "their metrics alone", 0)


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


def memory_lines() -> list[Line]:
    """Peak memory of a process of its own, less that of one that only imports, over the input's size."""
    imports = "import evaluate, numpy as np; from benchmarks.run import peak_memory, score_confidences"
    end = "print(peak_memory(), size)"
    bare, _ = _child(f"{imports}; size = 0; {end}")
    lines = []
    for what, make, call in (
        (
            "ten metrics, N = 10,000,000",
            "rng = np.random.default_rng(0); q = rng.random(10**7); y = (rng.random(10**7) < q).astype(np.int64)",
            "score_confidences(y, q)",
        ),
        (
            "posteriors 50,000 x 1,000 through `evaluate`",
            "rng = np.random.default_rng(0); q = np.full((50_000, 1000), 1e-3); y = rng.integers(0, 1000, 50_000)",
            "evaluate.load('ecuas_metric/ecuas.py').compute(predictions=q, references=y)",
        ),
    ):
        peak, size = _child(f"{imports}; {make}; size = q.nbytes + y.nbytes; {call}; {end}")
        ours, ratio = f"{(peak - bare) / 2**20:.0f} MiB", f"{(peak - bare) / size:.1f}"
        what = f"peak memory, {what}, input included"
        lines.append(Line(what, ours, f"the input, {size / 2**20:.0f} MiB", ratio))
    return lines


def peak_memory() -> int:
    """Return the most memory this process has held, in bytes; what its parent held does not count."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def load_line() -> Line:
    """Load the script in a fresh process that has imported Evaluate, with nothing in its cache."""
    code = (
        "import evaluate, time; start = time.perf_counter(); "
        "evaluate.load('ecuas_metric/ecuas.py'); print(time.perf_counter() - start, 0)"
    )
    times = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as home:
            times.append(_child(code, HF_HOME=home)[0])
    return Line("`evaluate.load` of the script, first time", _seconds(statistics.median(times)), "", "")


def to_markdown(lines: list[Line]) -> str:
    """Return the table, with the machine named."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    machine = f"{processor()}, {cores} cores, Python {platform.python_version()}, NumPy {np.__version__}"
    rows = [f"| {' | '.join(line)} |" for line in lines]
    header = ["| what | ours | against | ours / other |", "|---|---:|---|---:|"]
    return "\n".join([*header, *rows, "", f"{machine}. Medians of the processor's time."])


def main() -> int:
    """Measure everything and write docs/speed.md's table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--no-write", action="store_true", help="print the table only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    repeats = arguments.repeats
    lines = [
        scalar_line(1_000_000, repeats),
        scalar_line(10_000_000, min(repeats, 3)),
        *option_lines(1_000_000, repeats),
        *peer_lines(1_000_000, repeats),
        bootstrap_line(repeats),
        posterior_line(repeats),
        *file_lines(repeats),
        compare_line(),
        load_line(),
        *memory_lines(),
    ]
    table = to_markdown(lines)
    print(table)
    if not arguments.no_write:
        before, rest = PAGE.read_text().split(MARKS[0])
        PAGE.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
    print(f"peak memory of this process: {peak_memory() / 2**20:.0f} MiB")
    return 0


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def _child(code: str, **environment: str) -> tuple[float, float]:
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | environment, check=True, capture_output=True, text=True
    )
    first, second = run.stdout.split()
    return float(first), float(second)


def processor() -> str:
    """Return the name of the machine's processor."""
    try:
        text = Path("/proc/cpuinfo").read_text()
        return next(line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())

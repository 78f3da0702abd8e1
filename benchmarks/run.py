"""Measure ours against NumPy's sort, scikit-learn and torchmetrics, and write the table into the README.

Times are medians; what counts are the ratios, since both sides of each are measured in this one run.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ecuas_metric import compare_systems, confidence_system, read_submissions, score_confidences
from ecuas_metric.results import all_values, signature_of

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MARKS = ("<!-- benchmarks: written by make bench -->", "<!-- end of benchmarks -->")


class Line(NamedTuple):
    """A row of the table: what was measured, the figures, and their ratio if there is one."""

    what: str
    ours: str
    other: str
    ratio: str


def median_time(call: Callable[[], Any], repeats: int, *, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the median of `repeats` timings of a call, in seconds, after one that warms up."""
    call()
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return statistics.median(times)


def simulated(num_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return confidences without ties, and correctness drawn by them."""
    rng = np.random.default_rng(0)
    confidence = rng.random(num_samples)
    return confidence, (rng.random(num_samples) < confidence).astype(np.int64)


def scalar_line(num_samples: int, repeats: int) -> Line:
    """Ten scalars against one sort of the same array."""
    confidence, correct = simulated(num_samples)
    sort = median_time(lambda: np.sort(confidence), repeats)
    ours = median_time(lambda: score_confidences(correct, confidence), repeats)
    return _line(f"ten metrics, N = {num_samples:,}", ours, sort, "`numpy.sort` of the confidences")


def weighted_line(num_samples: int, repeats: int) -> Line:
    """Ten scalars with weights against the same without."""
    confidence, correct = simulated(num_samples)
    weights = np.random.default_rng(1).random(num_samples)
    ours = median_time(lambda: score_confidences(correct, confidence, sample_weight=weights), repeats)
    without = median_time(lambda: score_confidences(correct, confidence), repeats)
    return _line(f"ten metrics with weights, N = {num_samples:,}", ours, without, "without weights")


def signature_line(num_samples: int, repeats: int) -> Line:
    """Name everything that ten scalars with weights depend on, against computing them."""
    confidence, correct = simulated(num_samples)
    weights = np.random.default_rng(1).random(num_samples)
    system = confidence_system(correct, confidence, sample_weight=weights)
    ours = median_time(lambda: signature_of(system), repeats)
    compute = median_time(lambda: score_confidences(correct, confidence, sample_weight=weights), repeats)
    return _line(f"signature with weights, N = {num_samples:,}", ours, compute, "the ten metrics it is printed beside")


def compute_line(num_samples: int, repeats: int) -> Line:
    """Measure the same through Evaluate."""
    import evaluate

    confidence, correct = simulated(num_samples)
    module = evaluate.load(str(ROOT / "ecuas_metric" / "ecuas.py"))
    ours = median_time(lambda: module.compute(predictions=confidence, references=correct), repeats)
    without = median_time(lambda: score_confidences(correct, confidence), repeats)
    return _line(f"the same through `evaluate`, N = {num_samples:,}", ours, without, "called directly")


def csv_line(num_samples: int, repeats: int) -> Line:
    """Read a file with ids against pandas reading it, both by the processor's time, since pandas has threads."""
    confidence, correct = simulated(num_samples)
    frame = pd.DataFrame({"id": range(num_samples), "confidence": confidence, "correct": correct})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "system.csv")
        frame.to_csv(path, index=False)
        ours = median_time(lambda: read_submissions(path), repeats, clock=time.process_time)
        pandas = median_time(lambda: pd.read_csv(path), repeats, clock=time.process_time)
    return _line(f"read a CSV file, N = {num_samples:,}", ours, pandas, "`pandas.read_csv`")


def peer_line(num_samples: int, repeats: int) -> Line:
    """Five metrics by the calls one would otherwise make."""
    import torch
    from sklearn.metrics import auc, brier_score_loss, log_loss, roc_auc_score
    from torchmetrics.functional.classification import binary_calibration_error

    confidence, correct = simulated(num_samples)
    q, y = torch.from_numpy(confidence), torch.from_numpy(correct)

    def peers() -> None:
        roc_auc_score(correct, confidence)
        binary_calibration_error(q, y, n_bins=10, norm="l1")
        risk = np.cumsum(1 - correct[np.argsort(-confidence)]) / np.arange(1, num_samples + 1)
        auc(np.arange(1, num_samples + 1) / num_samples, risk)
        brier_score_loss(correct, confidence)
        log_loss(correct, confidence)

    ours = median_time(lambda: score_confidences(correct, confidence), repeats)
    theirs = median_time(peers, repeats)
    what = "AUROC + ECE + AURC + Brier + log loss by scikit-learn and torchmetrics"
    return _line(f"ten metrics, N = {num_samples:,}", ours, theirs, what)


def torchmetrics_line(num_samples: int, repeats: int) -> Line:
    """AUROC and ECE alone, by torchmetrics."""
    import torch
    from torchmetrics.functional.classification import binary_auroc, binary_calibration_error

    confidence, correct = simulated(num_samples)
    q, y = torch.from_numpy(confidence), torch.from_numpy(correct)
    ours = median_time(lambda: score_confidences(correct, confidence), repeats)
    theirs = median_time(lambda: (binary_auroc(q, y), binary_calibration_error(q, y, n_bins=10)), repeats)
    return _line(f"ten metrics, N = {num_samples:,}", ours, theirs, "AUROC + ECE by torchmetrics")


def bootstrap_lines(repeats: int) -> list[Line]:
    """Resamples of all metrics; the other side is a loop over scikit-learn's AUROC alone, timed on 20 resamples."""
    from sklearn.metrics import roc_auc_score

    lines = []
    for num_samples, num_resamples in ((455, 1000), (10_000, 1000), (1_000_000, 100)):
        confidence, correct = simulated(num_samples)
        ours = median_time(
            lambda: score_confidences(correct, confidence, confidence_level=0.95, n_resamples=num_resamples),  # noqa: B023
            repeats if num_samples < 1_000_000 else 1,
        )
        rng = np.random.default_rng(0)

        def resample() -> None:
            index = rng.integers(0, num_samples, num_samples)  # noqa: B023
            roc_auc_score(correct[index], confidence[index])  # noqa: B023

        loop = median_time(resample, 20 if num_samples < 1_000_000 else 3) * num_resamples
        what = f"{num_resamples} resamples of ten metrics, N = {num_samples:,}"
        lines.append(_line(what, ours, loop, "a loop over scikit-learn's AUROC alone"))
    return lines


def compare_line() -> Line:
    """Compare all pairs of 21 systems by all metrics, against computing their metrics alone."""
    options: dict[str, Any] = {"confidence_level": 0.95, "n": (0, 1, 128)}
    rng, systems = np.random.default_rng(0), {}
    for name in range(21):
        confidence = rng.random(455)
        systems[str(name)] = confidence_system(rng.random(455) < confidence, confidence, **options)
    start = time.process_time()
    compare_systems(systems)
    cpu = time.process_time() - start
    ours = median_time(lambda: compare_systems(systems), 1)
    values = median_time(lambda: [all_values(system) for system in systems.values()], 3)
    what = f"21 systems compared by ten metrics, 1000 swaps, N = 455 ({cpu:.1f} s of CPU)"
    return _line(what, ours, values, "their metrics alone")


def calibration_lines(repeats: int) -> list[Line]:
    """Affine calibration in five folds."""
    from ecuas_metric import apply_affine, cross_validated, fit_affine

    lines = []
    for num_classes in (10, 100):
        rng = np.random.default_rng(0)
        scores = rng.normal(size=(10_000, num_classes)) * 2
        labels = (scores + 1.5 * rng.gumbel(size=scores.shape)).argmax(axis=1)
        ours = median_time(lambda: cross_validated(fit_affine, apply_affine, scores, labels), repeats)  # noqa: B023
        lines.append(Line(f"affine calibration, five folds, 10,000 x {num_classes}", _seconds(ours), "", ""))
    return lines


def memory_lines() -> list[Line]:
    """Peak memory of a process of its own, less that of one that only imports, over the input's size."""
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
        imports = "import evaluate, numpy as np; from benchmarks.run import peak_memory, score_confidences"
        start = f"{imports}; {make}; size = q.nbytes + y.nbytes"
        end = "print(peak_memory(), size)"
        bare, _ = _child(f"{imports}; size = 0; {end}")
        peak, size = _child(f"{start}; {call}; {end}")
        ratio = (peak - bare) / size
        lines.append(
            Line(
                f"peak memory, {what}, input included",
                f"{(peak - bare) / 2**20:.0f} MiB",
                f"the input, {size / 2**20:.0f} MiB",
                f"{ratio:.1f}",
            )
        )
    return lines


def out_of_core_lines(num_rows: int) -> list[Line]:
    """Rows in Parquet files: states of their parts against reading all, then scikit-learn and torchmetrics."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ours = "from ecuas_metric.scale import checked_options, read, score_files; "
    ours += "[state] = score_files([FOLDER], checked_options()).states.values(); read(state, confidence_level=0.95)"
    theirs = "import pandas as pd, torch; from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score; "
    theirs += "from torchmetrics.functional.classification import binary_calibration_error; "
    theirs += "frame = pd.read_parquet(FOLDER); q, y = frame.confidence.to_numpy(), frame.correct.to_numpy(); "
    theirs += "roc_auc_score(y, q); brier_score_loss(y, q); log_loss(y, q); "
    theirs += "binary_calibration_error(torch.from_numpy(q), torch.from_numpy(y.astype('int64')), n_bins=10, norm='l1')"
    with tempfile.TemporaryDirectory() as folder:
        for part in range(num_rows // 10**6):
            rng = np.random.default_rng(part)
            confidence = rng.random(10**6)
            correct = (rng.random(10**6) < confidence).astype(np.int8)
            table = pa.table({"confidence": confidence, "correct": correct})
            pq.write_table(table, f"{folder}/{part}.parquet", compression="zstd")
        end = "import time; from benchmarks.run import peak_memory; print(time.process_time(), peak_memory())"
        mine, other = (_child(f"FOLDER = {folder!r}; {code}; {end}") for code in (ours, theirs))
    what = f"`--out-of-core`, {num_rows:,} rows of Parquet, ten metrics with intervals"
    name = "all read, AUROC + Brier + log loss by scikit-learn, ECE by torchmetrics"
    memory = f"{mine[1] / 2**20:.0f} MiB", f"the same, {other[1] / 2**20:.0f} MiB", f"{mine[1] / other[1]:.2f}"
    return [_line(f"{what}, CPU", mine[0], other[0], name), Line(f"{what}, peak memory of the process", *memory)]


def peak_memory() -> int:
    """Return the most memory this process has held, in bytes; what its parent held does not count."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def load_line() -> Line:
    """Load the script in a fresh process that has imported Evaluate, with nothing in its cache."""
    times = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as home:
            code = (
                "import evaluate, time; start = time.perf_counter(); "
                "evaluate.load('ecuas_metric/ecuas.py'); print(time.perf_counter() - start, 0)"
            )
            times.append(_child(code, HF_HOME=home)[0])
    return Line("`evaluate.load` of the script, first time", _seconds(statistics.median(times)), "", "")


def to_markdown(lines: list[Line]) -> str:
    """Return the table, with the machine named."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    machine = f"{_processor()}, {cores} cores, Python {platform.python_version()}, NumPy {np.__version__}"
    rows = [f"| {line.what} | {line.ours} | {line.other} | {line.ratio} |" for line in lines]
    return "\n".join(
        ["| what | ours | against | ours / other |", "|---|---:|---|---:|", *rows, "", f"{machine}. Medians."]
    )


def main() -> int:
    """Measure everything and write the README's table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--no-write", action="store_true", help="print the table only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    repeats = arguments.repeats
    lines = [
        scalar_line(1_000_000, repeats),
        scalar_line(10_000_000, 3),
        weighted_line(1_000_000, repeats),
        signature_line(1_000_000, repeats),
        compute_line(1_000_000, repeats),
        csv_line(2_000_000, repeats),
        peer_line(1_000_000, repeats),
        torchmetrics_line(1_000_000, repeats),
        *bootstrap_lines(repeats),
        compare_line(),
        *calibration_lines(repeats),
        load_line(),
        *memory_lines(),
        *out_of_core_lines(20_000_000),
    ]
    table = to_markdown(lines)
    print(table)
    if not arguments.no_write:
        before, rest = README.read_text().split(MARKS[0])
        README.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
    print(f"peak memory of this process: {peak_memory() / 2**20:.0f} MiB")
    return 0


def _line(what: str, ours: float, other: float, name: str) -> Line:
    return Line(what, _seconds(ours), f"{name}, {_seconds(other)}", f"{ours / other:.2f}")


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def _child(code: str, **environment: str) -> tuple[float, float]:
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | environment, check=True, capture_output=True, text=True
    )
    first, second = run.stdout.split()
    return float(first), float(second)


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
        return next(line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())

"""Measure `ecuas score --out-of-core` against all rows in memory; write the table of docs/scale.md.

Each side is a process of its own, start and imports included: its processor time, and the most memory that it held.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.run import ROOT, processor

PAGE = ROOT / "docs" / "scale.md"
MARKS = ("<!-- benchmarks: written by make bench -->", "<!-- end of benchmarks -->")
COLLECT = """
import sys
import pandas as pd
import torch
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from torchmetrics.functional.classification import binary_calibration_error

rows = pd.read_parquet(sys.argv[1], columns=["confidence", "correct"])
confidence, correct = rows["confidence"].to_numpy(), rows["correct"].to_numpy().astype(int)
print(roc_auc_score(correct, confidence), brier_score_loss(correct, confidence), log_loss(correct, confidence))
print(binary_calibration_error(torch.from_numpy(confidence), torch.from_numpy(correct), n_bins=10))
"""


class Cost(NamedTuple):
    """What a process took: seconds of the processor, and bytes at its peak."""

    seconds: float
    memory: int


def cost_of(*command: str) -> Cost:
    """Run a program of Python and return what it took."""
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def table(num_rows: int) -> str:
    """Measure both at some rows, and return the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "logs.parquet")
        cost_of("-m", "examples.logs", path, "--rows", str(num_rows))
        score = "-m", "ecuas_metric.reporting", "score", path, "--out-of-core"
        sides = {
            "`ecuas score --out-of-core`: ten metrics, with bounds": cost_of(*score),
            "pandas, then AUROC, Brier score and log loss by scikit-learn, ECE by torchmetrics": cost_of(
                "-c", COLLECT, path
            ),
        }
    rows = [f"| {what} | {cost.seconds:.1f} s | {cost.memory / 2**20:.0f} MiB |" for what, cost in sides.items()]
    header = [f"| {num_rows:,} rows, all confidences distinct | CPU | peak memory |", "|---|---:|---:|"]
    return "\n".join([*header, *rows, "", f"{processor()}, Python {platform.python_version()}; imports included."])


def main() -> int:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--no-write", action="store_true", help="print the table only")
    arguments = parser.parse_args()
    text = table(arguments.rows)
    print(text)
    if not arguments.no_write:
        before, rest = PAGE.read_text().split(MARKS[0])
        PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

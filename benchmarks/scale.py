"""Measure `ecuas score --out-of-core` against all rows in memory; write the table of docs/scale.md.

Each side is a process of its own, start and imports included: its processor time, and the most memory that it held.
"""

import platform
import tempfile
from pathlib import Path

from benchmarks.run import ROOT, argument_parser, cost_of, processor, show

PAGE = ROOT / "docs" / "scale.md"
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


def main() -> None:
    """Measure, and write the table."""
    parser = argument_parser("scale", __doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    arguments = parser.parse_args()
    show(table(arguments.rows), None if arguments.no_write else PAGE)


if __name__ == "__main__":
    main()

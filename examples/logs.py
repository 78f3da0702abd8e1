"""Write simulated logs of any size as Parquet: the answers of a model, each with a confidence, most of them right."""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP = 2**20
SCHEMA = pa.schema({"id": pa.int64(), "confidence": pa.float64(), "correct": pa.bool_()})


def write_logs(path: Path, num_rows: int) -> None:
    """Write a file of rows, a group at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for first in range(0, num_rows, GROUP):
            rng = np.random.default_rng(first)
            size = min(GROUP, num_rows - first)
            confidence = rng.beta(3, 1.2, size)
            correct = rng.random(size) < confidence**1.3
            columns = [np.arange(first, first + size), confidence, correct]
            writer.write_table(pa.table(columns, SCHEMA), row_group_size=GROUP)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m examples.logs", description=__doc__)
    parser.add_argument("path", type=Path, help="FILE.parquet")
    parser.add_argument("--rows", type=int, default=50_000_000)
    options = parser.parse_args()
    write_logs(options.path, options.rows)

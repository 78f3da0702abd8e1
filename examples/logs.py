"""Write simulated logs of any size as Parquet: the answers of a model, each with a confidence, most of them right."""

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP = 2**20
SCHEMA = pa.schema({"id": pa.int64(), "confidence": pa.float64(), "correct": pa.bool_()})


def write_logs(path: Path, num_rows: int, *, digits: int | None = None, start: int = 0) -> None:
    """Write a file of rows, a group at a time; those from `start` on of the same endless log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for first in range(start, start + num_rows, GROUP):
            rng = np.random.default_rng(first)
            size = min(GROUP, start + num_rows - first)
            confidence = rng.beta(3, 1.2, size)
            correct = rng.random(size) < confidence**1.3
            confidence = confidence if digits is None else confidence.round(digits)
            ids = np.arange(first, first + size)
            writer.write_table(pa.table([ids, confidence, correct], SCHEMA), row_group_size=GROUP)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write one file, or several into a folder."""
    parser = argparse.ArgumentParser(prog="python -m examples.logs", description=__doc__)
    parser.add_argument("path", type=Path, help="FILE.parquet; with --files a folder")
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--digits", type=int, help="of the confidences; by default all are distinct")
    given = parser.parse_args(arguments)
    cuts = [given.rows * i // given.files for i in range(given.files + 1)]
    for i, (start, end) in enumerate(itertools.pairwise(cuts)):
        path = given.path if given.files == 1 else given.path / f"{i}.parquet"
        write_logs(path, end - start, digits=given.digits, start=start)


if __name__ == "__main__":
    main()

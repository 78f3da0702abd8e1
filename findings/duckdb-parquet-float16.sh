#!/usr/bin/env bash
# DuckDB reads a Parquet column of 16-bit floats as FLOAT without a word: what was written as 0.9 prints as 0.89990234,
# and the type no longer tells that the file held three digits. PyArrow keeps halffloat.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check duckdb==1.5.6 pyarrow==24.0.0 numpy==2.4.0
cd "$folder"
"$folder/venv/bin/python" - <<'PY' | tee seen.txt
import duckdb, numpy as np, pyarrow as pa
from pyarrow import parquet
parquet.write_table(pa.table({"confidence": np.array([0.9, 0.8], np.float16)}), "half.parquet")
print("duckdb", duckdb.__version__, "pyarrow", pa.__version__)
print("pyarrow:", parquet.read_table("half.parquet").schema.field("confidence").type)
print("duckdb:", duckdb.sql("SELECT typeof(confidence), confidence::VARCHAR FROM 'half.parquet'").fetchall())
PY
grep -qx "pyarrow: halffloat" seen.txt
grep -qx "duckdb: \[('FLOAT', '0.89990234'), ('FLOAT', '0.7998047')\]" seen.txt

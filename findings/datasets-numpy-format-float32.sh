#!/usr/bin/env bash
# datasets: with_format("numpy") gives a float64 column as float32, though neither the column's feature nor NumPy asks for
# it; the same column without a format, or as pandas, is float64. A confidence of 0.9 is then below 0.9.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check datasets==5.2.0
cd "$folder"
HF_HOME="$folder" HF_HUB_OFFLINE=1 "$folder/venv/bin/python" - <<'PY' | tee seen.txt
import datasets
rows = datasets.Dataset.from_dict({"confidence": [0.9, 0.8]})
print("datasets", datasets.__version__, rows.features["confidence"])
column = rows.with_format("numpy")[:]["confidence"]
print("numpy:", column.dtype, float(column[0]) >= 0.9)
print("pandas:", rows.to_pandas()["confidence"].dtype)
PY
grep -qx "numpy: float32 False" seen.txt
grep -qx "pandas: float64" seen.txt

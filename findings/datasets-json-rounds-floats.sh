#!/usr/bin/env bash
# datasets: to_json writes floats with ten digits, so that a probability of 1e-12 becomes 0.0 and one of 1 - 1e-12 becomes
# 1.0, of which the logarithms of other answers are infinite; to_csv and to_parquet of the same rows keep all digits.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check datasets==5.2.0
cd "$folder"
HF_HOME="$folder" HF_HUB_OFFLINE=1 HF_DATASETS_DISABLE_PROGRESS_BARS=1 "$folder/venv/bin/python" - <<'PY' | tee seen.txt
import csv
import json

import datasets

values = [1e-12, 1 - 1e-12, 0.1234567890123456]
rows = datasets.Dataset.from_dict({"p": values})
rows.to_json("rows.jsonl")
rows.to_csv("rows.csv")
print("datasets", datasets.__version__, rows.features["p"])
print("json:", [json.loads(line)["p"] for line in open("rows.jsonl")])
print("csv is exact:", [float(row["p"]) for row in csv.DictReader(open("rows.csv"))] == values)
PY
grep -qxF "json: [0.0, 1.0, 0.123456789]" seen.txt
grep -qx "csv is exact: True" seen.txt

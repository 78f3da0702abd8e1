#!/usr/bin/env bash
# ppi-python: people find 50 of 50 answers right, a judge calls 100 of 500 others wrong; the interval of the accuracy, tuned
# as by default, is [1, 1], without a warning. Without tuning it is [0.76, 0.84], and does not hold the other.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check ppi-python==0.2.3
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from ppi_py import ppi_mean_ci

print("ppi-python", version("ppi-python"))
people = judge = np.ones(50)
others = np.repeat([1.0, 0.0], [400, 100])
for name, options in {"tuned": {}, "lam=1": {"lam": 1}}.items():
    low, high = ppi_mean_ci(people, judge, others, alpha=0.05, **options)
    print(f"{name}: [{low[0]:.2f}, {high[0]:.2f}]")
PY
grep -qxF "tuned: [1.00, 1.00]" "$folder/seen.txt"
grep -qxF "lam=1: [0.76, 0.84]" "$folder/seen.txt"

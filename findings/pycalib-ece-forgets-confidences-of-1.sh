#!/usr/bin/env bash
# pycalib: of ten wrong answers, each with a confidence of 1, the ECE is 1 with 15 bins and 0 with 14: the bounds of the
# bins are added up, the last one is 0.9999999999999998, and what lies above it is in no bin.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check pycalib==0.1.0.dev6 "numpy<2"
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from pycalib.metrics import conf_ECE

print("pycalib", version("pycalib"))
posteriors = np.tile([1.0, 0.0], (10, 1))
for bins in (15, 14, 6):
    print(bins, "bins:", float(conf_ECE(np.ones(10, int), posteriors, bins=bins)))
PY
grep -qxF "15 bins: 1.0" "$folder/seen.txt"
grep -qxF "14 bins: 0.0" "$folder/seen.txt"
grep -qxF "6 bins: 0.0" "$folder/seen.txt"

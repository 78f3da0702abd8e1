#!/usr/bin/env bash
# calzone-tool: the slope of Cox's regression, 1 of a calibrated classifier, is about -1 with class_to_calculate=0: the
# labels are turned to those of class 0, and the probabilities stay those of class 1. (The tests beside it turn both.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check calzone-tool==0.1.0 "numpy<2"
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from calzone.metrics import cox_regression_analysis, spiegelhalter_z_test

rng = np.random.default_rng(0)
p = rng.beta(2, 2, 10_000)
label = (rng.random(10_000) < p).astype(int)  # calibrated, by construction
posteriors = np.column_stack([1 - p, p])
print("calzone-tool", version("calzone-tool"))
for k in (0, 1):
    slope, *_ = cox_regression_analysis(label, posteriors, class_to_calculate=k)
    z, _ = spiegelhalter_z_test(label, posteriors, class_to_calculate=k)
    print(f"class {k}: slope {slope:.1f}, Spiegelhalter's z {z:.2f}")
PY
grep -q "^class 0: slope -1.0, " "$folder/seen.txt"
grep -q "^class 1: slope 1.0, " "$folder/seen.txt"
test "$(grep -o "z .*" "$folder/seen.txt" | sort -u | wc -l)" = 1

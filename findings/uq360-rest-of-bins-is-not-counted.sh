#!/usr/bin/env bash
# uq360: of 19 answers, of which the ten most confident are right and the other nine wrong, the area under the risk-rejection curve is
# 0, the best there is: with ten bins, a bin has 19 // 10 = 1 answer, the curve ends after ten answers, and the least confident nine
# are at no rejection rate. Of 20, the last of which is wrong too, it is 0.18. Nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy==1.26.4 pandas==2.3.3 scipy==1.12.0 scikit-learn==1.5.2 \
    matplotlib==3.9.4
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps uq360==0.2  # what it needs beside is for models
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from uq360.metrics.classification_metrics import area_under_risk_rejection_rate_curve

print("uq360", version("uq360"))
for count in (19, 20):
    confidence = np.linspace(0.99, 0.6, count)
    wrong = (np.arange(count) >= 10).astype(int)
    probabilities = np.column_stack([confidence, 1 - confidence])
    area, rejected, _, _ = area_under_risk_rejection_rate_curve(wrong, probabilities, return_counts=True)
    print(f"{count} answers: {area:.2f}, of rejection rates from {max(rejected):.2f} to {min(rejected):.2f}")
PY
grep -qxF "19 answers: 0.00, of rejection rates from 0.95 to 0.47" "$folder/seen.txt"
grep -qxF "20 answers: 0.18, of rejection rates from 0.90 to 0.00" "$folder/seen.txt"

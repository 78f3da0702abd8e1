#!/usr/bin/env bash
# lm-polygraph: of ten wrong answers with an uncertainty of 0.1 each, that is a confidence of 0.9, the ECE is 0, the best there is,
# and so it is of any uncertainties between 0 and 1: the confidence is taken to be minus the uncertainty, which lies in no bin
# from 0 to 1, and what is in no bin counts for nothing. Nothing warns. Of minus the confidence, -0.9, it is 0.9.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" lm-polygraph==0.7.0 torch==2.13.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from lm_polygraph.ue_metrics import ECE

print("lm-polygraph", version("lm-polygraph"))
wrong = np.zeros(10)
for uncertainty in (0.1, 0.5, 0.9):
    print(f"uncertainty {uncertainty}: {ECE()(np.full(10, uncertainty), wrong):.2f}")
print(f"minus the confidence 0.9: {ECE()(np.full(10, -0.9), wrong):.2f}")
PY
grep -qxF "uncertainty 0.1: 0.00" "$folder/seen.txt"
grep -qxF "uncertainty 0.9: 0.00" "$folder/seen.txt"
grep -qxF "minus the confidence 0.9: 0.90" "$folder/seen.txt"

#!/usr/bin/env bash
# netcal: histogram binning, fitted to answers whose confidences are 0.5, 0.8 and 0.9, of which 0, 80 and 90 % are right, gives 0.45,
# 0.75 and 0.8 to the very answers it was fitted to, and their ECE rises from 0.17 to 0.20: it fits a confidence on a bound in the bin
# above, and looks it up in the bin below, and with ten bins, as by default, these are all tenths. Nothing warns. Those of 0.55, 0.85
# and 0.95 get 0, 0.8 and 0.9.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" netcal==1.4.0 torch==2.13.0 numpy==2.4.1 scipy==1.17.0 \
    scikit-learn==1.8.0 pandas==2.3.3
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from netcal.binning import HistogramBinning
from netcal.metrics import ECE

print("netcal", version("netcal"))
right = np.concatenate([np.arange(100) < share for share in (0, 80, 90)]).astype(int)
for name, confidences in (("on bounds", (0.5, 0.8, 0.9)), ("within bins", (0.55, 0.85, 0.95))):
    stated = np.repeat(confidences, 100)
    calibrated = HistogramBinning().fit(stated, right).transform(stated)
    print(f"{name}: {calibrated[::100].round(2)}, ECE {ECE().measure(stated, right):.2f} to {ECE().measure(calibrated, right):.2f}")
PY
grep -qxF "on bounds: [0.45 0.75 0.8 ], ECE 0.17 to 0.20" "$folder/seen.txt"
grep -qF "within bins: [0.  0.8 0.9], " "$folder/seen.txt"

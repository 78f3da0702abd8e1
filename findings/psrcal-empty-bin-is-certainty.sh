#!/usr/bin/env bash
# psrcal: calibrated by histogram binning on answers whose confidences are 0.35 (all wrong) and 0.85 (all right), one of 0.95
# becomes the probability 0 of being right, with a logarithm of -inf, as does one of 0.55: a bin in which no answer was has 0.
# Nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check psrcal==1.0.0
"$folder/venv/bin/python" -W error - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import torch
from psrcal.calibration import HistogramBinningCal, calibrate

print("psrcal", version("psrcal"))
confidence = torch.tensor([0.35] * 50 + [0.85] * 50, dtype=torch.float64)
right = torch.tensor([0] * 50 + [1] * 50)
others = torch.tensor([0.36, 0.55, 0.84, 0.95], dtype=torch.float64)
calibrated, _ = calibrate(torch.log(confidence), right, torch.log(others), HistogramBinningCal)
for before, after in zip(others.tolist(), calibrated.tolist()):
    print(f"{before}: {torch.tensor(after).exp():.2f}, logarithm {after}")
PY
grep -qxF "0.36: 0.00, logarithm -inf" "$folder/seen.txt"
grep -qxF "0.55: 0.00, logarithm -inf" "$folder/seen.txt"
grep -qxF "0.84: 1.00, logarithm 0.0" "$folder/seen.txt"
grep -qxF "0.95: 0.00, logarithm -inf" "$folder/seen.txt"

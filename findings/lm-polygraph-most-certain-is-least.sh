#!/usr/bin/env bash
# lm-polygraph: fitted to answers of which those with an uncertainty of 0 are all right and those near 1 all wrong, its calibration
# by bins gives the probability 0 to an uncertainty of 0, and 1 to one of 0.1: what is not above the lowest bound is looked up
# at index -1, in the last bin. So the most certain answers, here 30 of the 100 it was fitted to, rank last. Nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" lm-polygraph==0.7.0 torch==2.13.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from lm_polygraph.normalizers.binned_pcc import BinnedPCCNormalizer

print("lm-polygraph", version("lm-polygraph"))
uncertainty = np.concatenate([np.zeros(30), np.linspace(0.1, 1, 70)])
right = np.concatenate([np.ones(60), np.zeros(40)])
calibration = BinnedPCCNormalizer()
calibration.fit(right, uncertainty, num_bins=5)
for value in (0.0, 0.1, 0.2, 0.9, 1.0):
    print(f"uncertainty {value}: {calibration.transform(np.array([value]))[0]:.2f}")
PY
grep -qxF "uncertainty 0.0: 0.00" "$folder/seen.txt"
grep -qxF "uncertainty 0.1: 1.00" "$folder/seen.txt"
grep -qxF "uncertainty 1.0: 0.00" "$folder/seen.txt"

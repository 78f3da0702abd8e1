#!/usr/bin/env bash
# uncertainty-toolbox: standard deviations that are ten times too large get the factor 100 as that which recalibrates them best,
# after which they are calibrated worse; 0.1 lies within its bounds. Nothing warns. Four times too large they get 0.24, and
# ten times too small 9.7, as they should.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check uncertainty-toolbox==0.1.1 numpy==1.26.4 scipy==1.12.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from uncertainty_toolbox.metrics_calibration import miscalibration_area
from uncertainty_toolbox.recalibration import optimize_recalibration_ratio

print("uncertainty-toolbox", version("uncertainty-toolbox"))
rng = np.random.default_rng(0)
true = rng.normal(size=1000)
mean = np.zeros(1000)
for error in (0.1, 4, 10):
    deviation = np.full(1000, error)
    ratio = optimize_recalibration_ratio(mean, deviation, true)
    before = miscalibration_area(mean, deviation, true)
    after = miscalibration_area(mean, ratio * deviation, true)
    print(f"{error} for 1: factor {ratio:.2g}, miscalibration {before:.2f} -> {after:.2f}")
PY
grep -qxF "0.1 for 1: factor 9.7, miscalibration 0.43 -> 0.01" "$folder/seen.txt"
grep -qxF "4 for 1: factor 0.24, miscalibration 0.35 -> 0.01" "$folder/seen.txt"
grep -qxF "10 for 1: factor 1e+02, miscalibration 0.44 -> 0.49" "$folder/seen.txt"

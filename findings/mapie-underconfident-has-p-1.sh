#!/usr/bin/env bash
# MAPIE: of probabilities far nearer to 0.5 than they should be, Spiegelhalter's z is -19, and the p-value of their calibration
# is 1: the test has one side, which only those too far from 0.5 are on, and nothing tells so. calzone-tool, of the same z, has
# 0, as has MAPIE's own test by Kuiper's statistic.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check mapie==1.6.0 calzone-tool==0.1.0 "numpy<2"
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from calzone.metrics import spiegelhalter_z_test
from mapie.metrics.calibration import kuiper_p_value, spiegelhalter_p_value, spiegelhalter_statistic

print("MAPIE", version("mapie"), "calzone-tool", version("calzone-tool"))
rng = np.random.default_rng(0)
true = rng.random(2000)
label = (rng.random(2000) < true).astype(int)
stretched = np.clip(0.5 + 1.5 * (true - 0.5), 0.01, 0.99)
for name, p in {"true": true, "near 0.5": 0.5 + 0.3 * (true - 0.5), "far from 0.5": stretched}.items():
    z, other = spiegelhalter_z_test(label, np.column_stack([1 - p, p]))
    print(f"{name}: z {spiegelhalter_statistic(label, p):.1f} and {z:.1f},", end=" ")
    print(f"p-value {spiegelhalter_p_value(label, p):.2f}, calzone's {other:.2f}, Kuiper's {kuiper_p_value(label, p):.2f}")
PY
grep -qxF "true: z -0.5 and -0.5, p-value 0.71, calzone's 0.59, Kuiper's 0.84" "$folder/seen.txt"
grep -qxF "near 0.5: z -19.1 and -19.1, p-value 1.00, calzone's 0.00, Kuiper's 0.00" "$folder/seen.txt"
grep -qxF "far from 0.5: z 16.5 and 16.5, p-value 0.00, calzone's 0.00, Kuiper's 0.00" "$folder/seen.txt"

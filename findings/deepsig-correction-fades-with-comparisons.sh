#!/usr/bin/env bash
# deepsig: its bound eps_min of how far one system falls short of being better is 0.67; corrected for 2 comparisons it is 0.76, for 10
# only 0.68, and for 10,000 again 0.67. The correction is Bonferroni's by its documentation, but the level rises by a share of its
# distance from 1 that falls with their number: to 0.955 for 10 instead of 0.995, of which the bound is 0.94. Nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check deepsig==1.2.8 numpy==1.26.4 scipy==1.12.0 pandas==2.3.3
"$folder/venv/bin/python" -W error - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from deepsig import aso

print("deepsig", version("deepsig"))
rng = np.random.default_rng(6)
first, second = rng.normal(0.88, 0.03, 10), rng.normal(0.87, 0.03, 10)
options = {"seed": 1, "show_progress": False, "num_bootstrap_iterations": 100}
for count in (1, 2, 10, 10_000):
    print(f"{count} comparisons: {aso(first, second, num_comparisons=count, **options):.2f}")
print(f"level 0.995: {aso(first, second, confidence_level=1 - 0.05 / 10, **options):.2f}")
PY
grep -qxF "1 comparisons: 0.67" "$folder/seen.txt"
grep -qxF "2 comparisons: 0.76" "$folder/seen.txt"
grep -qxF "10 comparisons: 0.68" "$folder/seen.txt"
grep -qxF "10000 comparisons: 0.67" "$folder/seen.txt"
grep -qxF "level 0.995: 0.94" "$folder/seen.txt"

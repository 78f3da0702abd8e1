#!/usr/bin/env bash
# irrCAC: of two judges that agree on eight of ten answers, half of them right, Gwet's AC1, Fleiss' kappa and Brennan and Prediger's
# coefficient are 0.6 with the same standard error and the same 95 % interval, which holds 0. The p-value of the first two is 0.05, and
# that of the third 0.03, half of it, as it is at -0.6: the others have two sides, and nothing tells that this has one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check irrCAC==0.4.4 numpy==1.26.4 pandas==2.3.3 scipy==1.12.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import pandas as pd
from irrCAC.raw import CAC
from scipy import stats

print("irrCAC", version("irrCAC"))
ratings = pd.DataFrame({"first": [1, 0] * 5, "second": [0, 1] + [1, 0] * 4})
for name in ("gwet", "fleiss", "bp"):
    found = getattr(CAC(ratings), name)()["est"]
    print(f"{name}: {found['coefficient_value']} +- {found['se']}, from {found['confidence_interval'][0]}, p {found['p_value']:.4f}")
print(f"SciPy, two sides: p {2 * stats.t.sf(0.6 / 0.26667, 9):.4f}")
PY
grep -qxF "gwet: 0.6 +- 0.26667, from -0.00324, p 0.0510" "$folder/seen.txt"
grep -qxF "fleiss: 0.6 +- 0.26667, from -0.00324, p 0.0510" "$folder/seen.txt"
grep -qxF "bp: 0.6 +- 0.26667, from -0.00324, p 0.0255" "$folder/seen.txt"
grep -qxF "SciPy, two sides: p 0.0510" "$folder/seen.txt"

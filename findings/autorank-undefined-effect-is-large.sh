#!/usr/bin/env bash
# autorank: of two systems that are right in 160 and 159 of the same 200 answers, the effect is nan, since the median absolute
# deviation of either is 0, and its magnitude is "large", as is that of the first row against itself; what is below no bound
# counts as above the last. NumPy warns of a division, autorank of nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check autorank==1.3.0 numpy==1.26.4 pandas==2.3.3 scipy==1.17.1
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
import pandas as pd
from autorank import autorank

print("autorank", version("autorank"))
first = np.repeat([1.0, 0.0], [160, 40])
second = np.repeat([1.0, 0.0], [159, 41])
found = autorank(pd.DataFrame({"first": first, "second": second}))
print(f"p-value {found.pvalue:.2f}")
for name, row in found.rankdf.sort_index().iterrows():
    print(f"{name}: effect {row.effect_size}, magnitude {row.magnitude}")
PY
grep -qxF "p-value 0.16" "$folder/seen.txt"
grep -qxF "first: effect nan, magnitude large" "$folder/seen.txt"
grep -qxF "second: effect nan, magnitude large" "$folder/seen.txt"

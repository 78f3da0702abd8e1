#!/usr/bin/env bash
# MLstatkit: DeLong's test of scores against themselves gives z = 0 with a p-value of 0, which reads as a certain difference:
# without a variance it falls back on a bootstrap, in which no difference is above 0. So do scores with the same order.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check MLstatkit==0.1.91
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from MLstatkit import Delong_test

rng = np.random.default_rng(0)
p = rng.beta(2, 2, 400)
right = (rng.random(400) < p).astype(int)
print("MLstatkit", version("MLstatkit"))
for name, other in {"itself": p, "its cube": p**3}.items():
    z, p_value, *_ = Delong_test(right, p, other, random_state=0)
    print(f"{name}: z {z:.2f}, p-value {p_value:.2f}")
PY
grep -qxF "itself: z 0.00, p-value 0.00" "$folder/seen.txt"
grep -qxF "its cube: z 0.00, p-value 0.00" "$folder/seen.txt"

#!/usr/bin/env bash
# empulse: where a right call earns 1 and a wrong one costs 1, and eight of ten cases are positive, to call all of them, the baseline,
# earns 6. The savings score of calling the right eight, which earns 8, is -0.33, and of calling none, which earns 0, it is 1: the
# costs of both are negative, and the sign of their ratio is lost. By its documentation, which has negative costs as benefits, below 0
# is worse than the baseline, and 1 is perfect. Nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check empulse==0.13.1 numpy==2.4.1 scipy==1.17.0 \
    scikit-learn==1.8.0
"$folder/venv/bin/python" - <<'PY' 2>&1 | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from empulse.metrics import cost_loss, savings_score

print("empulse", version("empulse"))
positive = np.array([1] * 8 + [0] * 2)
costs = {"tp_cost": -1, "fp_cost": 1}
for name, called in (("all", np.ones(10)), ("the right ones", positive), ("none", np.zeros(10))):
    found = savings_score(positive, called, **costs)
    print(f"call {name}: cost {cost_loss(positive, called, **costs):.0f}, savings {found:.2f}")
PY
grep -qxF "call all: cost -6, savings 0.00" "$folder/seen.txt"
grep -qxF "call the right ones: cost -8, savings -0.33" "$folder/seen.txt"
grep -qxF "call none: cost 0, savings 1.00" "$folder/seen.txt"
! grep -qi "warning" "$folder/seen.txt"

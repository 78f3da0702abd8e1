#!/usr/bin/env bash
# baycomp: of two systems with the same scores on ten data sets, the first is better with a probability of 0.68, and the second with
# 0.32, by two_on_multiple with its default of no rope: the halves of 0.5 differ by their rounding, or are a tie, which is the
# first's. Nothing warns. By its test on a single data set either has 0.5.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check baycomp==1.0.3 numpy==2.4.1 scipy==1.17.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from baycomp import two_on_multiple, two_on_single

print("baycomp", version("baycomp"))
scores = np.linspace(0.6, 0.9, 10)
first, _, second = two_on_multiple(scores, scores.copy(), random_state=0)
print(f"multiple: {first:.2f} {second:.2f}")
print("first above second by more than 0.2:", first - second > 0.2)
first, second = two_on_single(scores, scores.copy())
print(f"single: {first:.2f} {second:.2f}")
PY
grep -qxF "first above second by more than 0.2: True" "$folder/seen.txt"
grep -qxF "single: 0.50 0.50" "$folder/seen.txt"

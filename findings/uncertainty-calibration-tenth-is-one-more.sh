#!/usr/bin/env bash
# uncertainty-calibration: its accuracy of the 10 % most confident answers, which HELM reports, is that of one answer more: of ten,
# where the most confident is right and the second wrong, it is 0.5, and of twenty, where the first two are right and the third is
# wrong, 0.67. Of a hundred it is that of eleven. Nothing tells so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check uncertainty-calibration==0.1.4 numpy==1.26.4 scipy==1.12.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from calibration import get_selective_stats

print("uncertainty-calibration", version("uncertainty-calibration"))
for count in (10, 20, 100):
    tenth = count // 10
    right = np.repeat([1, 0], [tenth, count - tenth])
    _, accuracy = get_selective_stats(np.linspace(0.99, 0.01, count), right)
    print(f"{count} answers, of which the first {tenth} are right: {accuracy:.2f}")
PY
grep -qxF "10 answers, of which the first 1 are right: 0.50" "$folder/seen.txt"
grep -qxF "20 answers, of which the first 2 are right: 0.67" "$folder/seen.txt"
grep -qxF "100 answers, of which the first 10 are right: 0.91" "$folder/seen.txt"

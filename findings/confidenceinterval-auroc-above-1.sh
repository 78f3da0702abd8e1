#!/usr/bin/env bash
# confidenceinterval: the 95 % interval of an AUROC of 0.95 ends at 1.05, and that of a perfect one is the single number
# 0.99999994, which is below it: ranks are kept in 32 bits. (Its intervals of accuracies are Wilson's, within [0, 1].)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check confidenceinterval==1.0.5
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from confidenceinterval import accuracy_score, roc_auc_score

print("confidenceinterval", version("confidenceinterval"))
right = [0] * 10 + [1] * 10
confidence = [0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40, 0.45, 0.50, 0.80]
confidence += [0.60, 0.64, 0.68, 0.72, 0.76, 0.81, 0.85, 0.89, 0.93, 0.97]
for name, values in {"nearly": confidence, "perfect": right}.items():
    value, (low, high) = roc_auc_score(right, values)
    print(f"{name}: {value:.8f} [{low:.8f}, {high:.8f}]")
value, (low, high) = accuracy_score(right, right)
print(f"accuracy: {value:.2f} [{low:.2f}, {high:.2f}]")
PY
grep -qE "^nearly: 0\.9[0-9]+ \[0\.8[0-9]+, 1\.0[1-9][0-9]+\]$" "$folder/seen.txt"
grep -qxF "perfect: 0.99999994 [0.99999994, 0.99999994]" "$folder/seen.txt"
grep -qxF "accuracy: 1.00 [0.84, 1.00]" "$folder/seen.txt"

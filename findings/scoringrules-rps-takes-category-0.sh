#!/usr/bin/env bash
# scoringrules: rps_score counts categories from 1, and takes labels from 0, as scikit-learn has them, as well: of three
# classes certainty of the true one, which scores 0, scores 3 for class 0, more than any forecast can, and 1 for the
# others. The Brier score beside it refuses what is no label.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check scoringrules==0.10.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
import scoringrules

print("scoringrules", version("scoringrules"))
certain = np.eye(3)  # of the true class
print("labels from 1:", scoringrules.rps_score([1, 2, 3], certain).tolist())
print("labels from 0:", scoringrules.rps_score([0, 1, 2], certain).tolist())
try:
    scoringrules.brier_score(2, 0.9)
except ValueError as error:
    print("Brier score:", error)
PY
grep -qxF "labels from 1: [0.0, 0.0, 0.0]" "$folder/seen.txt"
grep -qxF "labels from 0: [3.0, 1.0, 1.0]" "$folder/seen.txt"
grep -q "^Brier score: " "$folder/seen.txt"

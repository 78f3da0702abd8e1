#!/usr/bin/env bash
# calikit: answers with the confidences 0.5, 0.7 and 0.9, of which 50 %, 70 % and 90 % are right, are calibrated, and its isotonic
# map makes 0, 0.875 and 1 of them, on the very answers it was fitted to: among equal confidences it puts the wrong answers
# first, so that a tie never is one block. Nothing warns. scikit-learn leaves 0.5, 0.7 and 0.9.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check calikit==0.1.0 scikit-learn==1.9.1
"$folder/venv/bin/python" -W error - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from calikit.fit import fit_isotonic
from sklearn.isotonic import IsotonicRegression

print("calikit", version("calikit"))
confidences = [0.5] * 10 + [0.7] * 10 + [0.9] * 10
right = [1] * 5 + [0] * 5 + [1] * 7 + [0] * 3 + [1] * 9 + [0]
print("calikit", fit_isotonic(confidences, right).apply([0.5, 0.7, 0.9]))
print("scikit-learn", IsotonicRegression().fit(confidences, right).predict([0.5, 0.7, 0.9]).round(9).tolist())
PY
grep -qxF "calikit [0.0, 0.875, 1.0]" "$folder/seen.txt"
grep -qxF "scikit-learn [0.5, 0.7, 0.9]" "$folder/seen.txt"

#!/usr/bin/env bash
# MAPIE: of 100 answers, 99 of which say A, with a confidence of 10 / 11, and are right in 90, and one says B, with 0.95, and is
# wrong, the top_label_ece is 0.475: half of it is the error of the one answer, since each class that is predicted counts the same.
# By its documentation, and the paper it names, an answer does: that is 0.0095. Nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check mapie==1.6.0 scikit-learn==1.8.0 numpy==2.4.1
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from mapie.metrics.calibration import top_label_ece

print("MAPIE", version("mapie"))
said = np.array([0] * 99 + [1])
true = np.array([0] * 90 + [1] * 9 + [0])
confidence = np.where(said == 0, 10 / 11, 0.95)
probabilities = np.where(np.arange(2) == said[:, None], confidence[:, None], 1 - confidence[:, None])
print(f"MAPIE: {top_label_ece(true, probabilities):.4f}")
gaps = [abs(np.mean((true == said)[said == label] - confidence[said == label])) for label in (0, 1)]
print(f"by answers: {np.average(gaps, weights=np.bincount(said)):.4f}")
PY
grep -qxF "MAPIE: 0.4750" "$folder/seen.txt"
grep -qxF "by answers: 0.0095" "$folder/seen.txt"

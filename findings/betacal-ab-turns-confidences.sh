#!/usr/bin/env bash
# betacal: the map of parameters "ab", fitted to confidences that rank well and are too low, rises and then falls: 0.1 becomes
# 0.49, and 0.99 becomes 0.05, without a warning. That of "abm", beside it, rises throughout.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check betacal==1.1.0 scikit-learn==1.9.1
"$folder/venv/bin/python" -W error - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from betacal import BetaCalibration
from sklearn.metrics import roc_auc_score

print("betacal", version("betacal"))
rng = np.random.default_rng(0)
p = rng.beta(2, 2, 2000)
right = (rng.random(2000) < p).astype(int)
confidence = p[:, None] ** 4  # of the same order as p, which is calibrated
print("AUROC before:", round(roc_auc_score(right, confidence), 2))
for parameters in ("ab", "abm"):
    calibrator = BetaCalibration(parameters).fit(confidence, right)
    low, high = calibrator.predict(np.array([[0.1], [0.99]]))
    after = roc_auc_score(right, calibrator.predict(confidence))
    print(f"{parameters}: 0.1 -> {low:.2f}, 0.99 -> {high:.2f}, AUROC after: {after:.2f}")
PY
grep -qxF "AUROC before: 0.75" "$folder/seen.txt"
grep -qxF "ab: 0.1 -> 0.49, 0.99 -> 0.05, AUROC after: 0.70" "$folder/seen.txt"
grep -qxF "abm: 0.1 -> 0.55, 0.99 -> 1.00, AUROC after: 0.75" "$folder/seen.txt"

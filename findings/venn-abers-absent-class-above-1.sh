#!/usr/bin/env bash
# venn-abers: of probabilities of three classes, calibrated on answers of which none is of class 1, it returns two columns with
# probabilities of -0.10 and 1.10, without a warning: the first two columns are read as those of two classes, and the label 2 as
# the number 2. With one answer of class 1 there are three columns, and most of the answers have their class.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check venn-abers==1.5.4 "numpy<2" "scipy<1.13"
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
import warnings
from importlib.metadata import version

import numpy as np
from venn_abers import VennAbersCalibrator

print("venn-abers", version("venn-abers"))
rng = np.random.default_rng(0)
n = 400
label = rng.choice([0, 2], n)
p = np.full((n, 3), 0.05)
p[np.arange(n), np.where(rng.random(n) < 0.1, 2 - label, label)] = 0.9  # right in nine of ten
p[:, 1] = rng.uniform(0.02, 0.08, n)
p /= p.sum(axis=1, keepdims=True)
with_one = np.r_[1, label[1:]]
for name, known in {"none": label, "one": with_one}.items():
    with warnings.catch_warnings(record=True) as caught:
        found = VennAbersCalibrator().predict_proba(p_cal=p[:300], y_cal=known[:300], p_test=p[300:])
    print(f"{name} of class 1: columns {found.shape[1]}, from {found.min():.2f} to {found.max():.2f}")
    if name == "none":
        print("beyond [0, 1]:", bool(np.mean(found.max(axis=1) > 1) > 0.8), "warnings:", len(caught))
    else:
        print("of the true class:", bool(np.mean(found.argmax(axis=1) == label[300:]) > 0.8))
PY
grep -qxF "none of class 1: columns 2, from -0.10 to 1.10" "$folder/seen.txt"
grep -qxF "beyond [0, 1]: True warnings: 0" "$folder/seen.txt"
grep -qE "^one of class 1: columns 3, from 0\.[0-9]+ to 0\.[0-9]+$" "$folder/seen.txt"
grep -qxF "of the true class: True" "$folder/seen.txt"

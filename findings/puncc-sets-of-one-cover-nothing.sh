#!/usr/bin/env bash
# puncc: of prediction sets that hold one label each, the true one, the mean coverage is 0 where they are NumPy arrays, which its
# documentation asks for, and 1 where they are lists; its classwise coverage is, too. It asks whether a set differs from [], and an array
# of one element compared with one of none is an array of none, which is false. Python shows no warning, its filter hides it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check puncc==0.9.3 numpy==1.26.4 scikit-learn==1.5.2 pandas==2.3.3 \
    scipy==1.12.0
"$folder/venv/bin/python" - <<'PY' 2>&1 | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from deel.puncc.metrics import classification_classwise_coverage, classification_mean_coverage

print("puncc", version("puncc"))
truth = np.array([0, 1, 2, 1])
for kind, make in (("arrays", np.array), ("lists", list)):
    sets = tuple(make([label]) for label in truth)
    print(f"{kind}: mean {classification_mean_coverage(truth, sets)}, classwise {classification_classwise_coverage(truth, sets, 3)}")
PY
grep -qxF "arrays: mean 0.0, classwise [0. 0. 0.]" "$folder/seen.txt"
grep -qxF "lists: mean 1.0, classwise [1. 1. 1.]" "$folder/seen.txt"
! grep -qi "warning" "$folder/seen.txt"

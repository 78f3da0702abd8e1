#!/usr/bin/env bash
# girth: by the model with two parameters, a question that everyone answers right has the difficulty 6, the largest there is;
# nothing marks it. By the models with one, of the same answers, it has -6, the least.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check girth==0.8.0 numpy==1.26.4 scipy==1.12.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from girth import onepl_mml, rasch_mml, twopl_mml

print("girth", version("girth"))
rng = np.random.default_rng(0)
ability = rng.normal(size=300)
difficulty = np.linspace(-2, 2, 9)
right = (rng.logistic(size=(9, 300)) < 1.5 * (ability - difficulty[:, None])).astype(int)  # questions x models
right[0] = 1
for fit in (rasch_mml, onepl_mml, twopl_mml):
    found = np.round(fit(right)["Difficulty"], 1)
    rising = bool(np.all(np.diff(found[1:]) > 0))
    print(f"{fit.__name__}: answered by all {found[0]}, the others rise: {rising}")
PY
grep -qxF "rasch_mml: answered by all -6.0, the others rise: True" "$folder/seen.txt"
grep -qxF "onepl_mml: answered by all -6.0, the others rise: True" "$folder/seen.txt"
grep -qxF "twopl_mml: answered by all 6.0, the others rise: True" "$folder/seen.txt"

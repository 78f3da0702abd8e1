#!/usr/bin/env bash
# arch: of a system and three that are worse, the test of superior ability has p = 0.51 that none is better; with a copy of the system
# itself among them it has 0, in either order. The copy differs by 0 with a variance of 0, and 0 / 0 is above nothing that is drawn.
# Nothing warns. StepM, the test of each by the same statistic, has none as better.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check arch==8.0.0 numpy==2.4.1 scipy==1.17.0 pandas==2.3.3 \
    statsmodels==0.14.6
"$folder/venv/bin/python" - <<'PY' 2>&1 | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from arch.bootstrap import SPA, StepM

print("arch", version("arch"))
wrong = (np.random.default_rng(0).random((200, 4)) < [0.1, 0.3, 0.5, 0.4]).astype(float)
print("share of wrong answers:", wrong.mean(axis=0))
for name, others in (("three worse", wrong[:, 1:]), ("a copy first", wrong), ("a copy last", wrong[:, [1, 2, 3, 0]])):
    test = SPA(wrong[:, 0], others, seed=1)
    test.compute()
    steps = StepM(wrong[:, 0], others, seed=1)
    steps.compute()
    print(f"{name}: p {test.pvalues['consistent']:.2f}, better ones {len(steps.superior_models)}")
PY
grep -qE "^three worse: p 0\.[4-6].*, better ones 0$" "$folder/seen.txt"
grep -qxF "a copy first: p 0.00, better ones 0" "$folder/seen.txt"
grep -qxF "a copy last: p 0.00, better ones 0" "$folder/seen.txt"
! grep -qi "warning" "$folder/seen.txt"

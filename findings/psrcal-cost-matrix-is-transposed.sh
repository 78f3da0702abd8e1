#!/usr/bin/env bash
# psrcal, and expected-cost, which calibrates with it, read one matrix of costs in two ways: a row is a decision to the first,
# and a true class to the second. Where calling a 1 a 0 costs 10, and the reverse 1, the first decides 0 for a probability of
# 0.3 of class 1, and finds a cost of 0.3 per answer; the second decides 1, and finds 0.7. Neither warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 scikit-learn==1.5.2
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check psrcal==1.0.0 expected-cost==1.0
"$folder/venv/bin/python" -W error - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
import torch
from expected_cost.ec import CostMatrix, average_cost_for_bayes_decisions
from psrcal.losses import CostFunction

print("psrcal", version("psrcal"), "expected-cost", version("expected-cost"))
label = np.array([1] * 3 + [0] * 7)
p = np.tile([0.7, 0.3], (10, 1))
costs = np.array([[0.0, 1.0], [10.0, 0.0]])
for name, matrix in {"as it is": costs, "transposed": costs.T.copy()}.items():
    first = CostFunction(torch.log(torch.tensor(p)), torch.tensor(label), C=matrix.copy(), norm=False)
    second, _ = average_cost_for_bayes_decisions(label, p.copy(), CostMatrix(matrix), score_type="posteriors")
    print(f"{name}: psrcal {float(first):.1f}, expected-cost {second:.1f}")
PY
grep -qxF "as it is: psrcal 0.3, expected-cost 0.7" "$folder/seen.txt"
grep -qxF "transposed: psrcal 0.7, expected-cost 0.3" "$folder/seen.txt"

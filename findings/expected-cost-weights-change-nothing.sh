#!/usr/bin/env bash
# expected-cost: the average cost with sample_weight is that without, 0.25, where the answers of class 1, all right, weigh ten
# times as much as those of class 0, of which half are wrong; weighted, it is 1 / 22. The weights reach the rates of errors
# within each class, and not the frequencies of the classes, by which these are weighed. scikit-learn has 1 / 22.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check expected-cost==1.0 scikit-learn==1.5.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from expected_cost.ec import CostMatrix, average_cost
from sklearn.metrics import zero_one_loss

print("expected-cost", version("expected-cost"))
label = [0, 0, 1, 1]
decision = [0, 1, 1, 1]
costs = CostMatrix.zero_one_costs(2)
for weight in ([1, 1, 1, 1], [1, 1, 10, 10], [1, 10, 1, 1]):
    cost = average_cost(label, decision, costs, sample_weight=weight)
    print(f"{weight}: {cost:.3f}, by scikit-learn {zero_one_loss(label, decision, sample_weight=weight):.3f}")
PY
grep -qxF "[1, 1, 1, 1]: 0.250, by scikit-learn 0.250" "$folder/seen.txt"
grep -qxF "[1, 1, 10, 10]: 0.250, by scikit-learn 0.045" "$folder/seen.txt"
grep -qxF "[1, 10, 1, 1]: 0.455, by scikit-learn 0.769" "$folder/seen.txt"

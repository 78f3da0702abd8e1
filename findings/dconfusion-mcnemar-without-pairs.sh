#!/usr/bin/env bash
# dconfusion: of 1,000 cases one model has 512 right and another 500, and they differ on 400, 206 for the first. McNemar's test has
# p = 0.58, and its mcnemar_test 0.0015, "Model 1 is significantly better": it gets two confusion matrices, which do not hold the pairs,
# and takes the 12 for all disagreements. Its documentation has it account for the pairs. Two that have 500 right each, and are never
# right together, "make identical predictions".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check dconfusion==1.1.1 numpy==2.4.1 scipy==1.17.0
"$folder/venv/bin/python" - <<'PY' 2>&1 | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from dconfusion import DConfusion
from scipy.stats import binomtest

print("dconfusion", version("dconfusion"))
case = np.arange(1000)
truth = case % 2
for name, first, second in (
    ("differ on 400", case < 512, (case < 306) | (case >= 806)),
    ("differ on all", case < 500, case >= 500),
):
    models = []
    for right in (first, second):
        positive, negative = int(np.sum(right & (truth == 1))), int(np.sum(right & (truth == 0)))
        models.append(
            DConfusion(true_positive=positive, false_negative=500 - positive, true_negative=negative, false_positive=500 - negative)
        )
    better, worse = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    found = models[0].mcnemar_test(models[1])
    exact = binomtest(better, better + worse).pvalue
    print(f"{name}: right {first.sum()} and {second.sum()}, alone {better} and {worse}, SciPy {exact:.2f}")
    print(f"{name}: dconfusion {found['p_value']:.3f}, {found['interpretation']}")
PY
grep -qxF "differ on 400: right 512 and 500, alone 206 and 194, SciPy 0.58" "$folder/seen.txt"
grep -qF "differ on 400: dconfusion 0.001, Model 1 is significantly better" "$folder/seen.txt"
grep -qF "differ on all: dconfusion 1.000, The classifiers make identical predictions." "$folder/seen.txt"
! grep -qi "warning" "$folder/seen.txt"

#!/usr/bin/env bash
# mlxtend: of accuracies of 0.9 and 0.8 on 200 answers each, z is 2.8, and the p-value of their difference 0.998; in the other
# order it is 0.002. Its guide has both accuracies equal refuted where z is above 1.96, or where the p-value is small: that is of
# the first being smaller alone, which nothing tells, and no option turns. statsmodels has 0.005 in either order.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check mlxtend==0.25.0 statsmodels==0.15.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from mlxtend.evaluate import proportion_difference
from statsmodels.stats.proportion import proportions_ztest

print("mlxtend", version("mlxtend"))
for first, second in ((0.9, 0.8), (0.8, 0.9), (0.8, 0.8)):
    z, found = proportion_difference(first, second, 200)
    _, both = proportions_ztest([round(200 * first), round(200 * second)], [200, 200])
    print(f"{first} and {second}: mlxtend z {z:.1f}, p {found:.3f}, statsmodels {both:.3f}")
PY
grep -qxF "0.9 and 0.8: mlxtend z 2.8, p 0.998, statsmodels 0.005" "$folder/seen.txt"
grep -qxF "0.8 and 0.9: mlxtend z -2.8, p 0.002, statsmodels 0.005" "$folder/seen.txt"
grep -qxF "0.8 and 0.8: mlxtend z 0.0, p 0.500, statsmodels 1.000" "$folder/seen.txt"

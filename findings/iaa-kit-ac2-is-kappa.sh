#!/usr/bin/env bash
# iaa-kit: of two judges that agree on 96 of 100 answers, nearly all of which are right, its ac1 is 0.96, and its ac2, which of two
# categories is the same coefficient, -0.02: it is Cohen's weighted kappa by another name, and has the paradox for which AC2
# is taken instead. Nothing tells so. irrCAC has 0.96 by either.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check iaa-kit==0.1.2 irrCAC==0.4.4 \
    numpy==1.26.4 pandas==2.3.3 scipy==1.12.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import pandas as pd
from iaa_kit import ac1, ac2, weighted_kappa
from irrCAC.raw import CAC

print("iaa-kit", version("iaa-kit"))
first = [1] * 96 + [0, 0, 1, 1]
second = [1] * 96 + [1, 1, 0, 0]
for coefficient in (ac1, ac2, weighted_kappa):
    print(f"iaa-kit {coefficient.__name__}: {coefficient(first, second):.2f}")
for weights in ("identity", "linear"):
    found = CAC(pd.DataFrame({"first": first, "second": second}), weights=weights).gwet()["est"]["coefficient_value"]
    print(f"irrCAC {weights}: {found:.2f}")
PY
grep -qxF "iaa-kit ac1: 0.96" "$folder/seen.txt"
grep -qxF "iaa-kit ac2: -0.02" "$folder/seen.txt"
grep -qxF "iaa-kit weighted_kappa: -0.02" "$folder/seen.txt"
grep -qxF "irrCAC linear: 0.96" "$folder/seen.txt"

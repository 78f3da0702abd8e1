#!/usr/bin/env bash
# model-diagnostics: of ten answers that all are forecast with certainty, as they turn out, the bias is 0 with a p-value of 0 that it
# is; and of five right answers with a confidence of 0.9 each, which chance has in 59 of 100 cases, -0.1 with 0: where the standard
# error is 0, the p-value is, too. Nothing warns. SciPy has nan for the first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check model-diagnostics==1.5.0 numpy==2.4.1 scipy==1.17.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from model_diagnostics.calibration import compute_bias
from scipy import stats

print("model-diagnostics", version("model-diagnostics"))
outcomes = np.array([1.0] * 6 + [0.0] * 4)
for name, observed, forecast in (("certain", outcomes, outcomes), ("0.9", np.ones(5), np.full(5, 0.9))):
    found = compute_bias(observed, forecast)
    print(f"{name}: bias {found['bias_mean'][0]:.2f}, p {found['p_value'][0]:.2f}")
with np.errstate(invalid="ignore"):
    print(f"SciPy, certain: {stats.ttest_1samp(outcomes - outcomes, 0).pvalue:.2f}")
print(f"chance of five at 0.9: {0.9**5:.2f}")
PY
grep -qxF "certain: bias 0.00, p 0.00" "$folder/seen.txt"
grep -qxF "0.9: bias -0.10, p 0.00" "$folder/seen.txt"
grep -qxF "SciPy, certain: nan" "$folder/seen.txt"

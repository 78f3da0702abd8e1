#!/usr/bin/env bash
# cleanlab: by its "confidence_weighted_entropy", a label of which the classifier is certain, with a probability of 1, has the
# quality 0, that of an error, and at 1 - 1e-12 a wrong one has 1, the best. At 0.999, and by its other two methods, the right
# one has the better quality.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check cleanlab==2.9.0
"$folder/venv/bin/python" -W error - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import numpy as np
from cleanlab.rank import get_label_quality_scores

print("cleanlab", version("cleanlab"))
labels = np.array([0, 1])  # of which the classifier prefers the first, twice
for top in (0.999, 1 - 1e-12, 1.0):
    p = np.array([[top, 1 - top]] * 2)
    for method in ("self_confidence", "normalized_margin", "confidence_weighted_entropy"):
        right, wrong = get_label_quality_scores(labels, p, method=method)
        print(f"{top}, {method}: right {right:.2f}, wrong {wrong:.2f}")
PY
for top in 0.999 0.999999999999 1.0; do
    grep -qx "$top, self_confidence: right 1.00, wrong 0.00" "$folder/seen.txt"
    grep -qx "$top, normalized_margin: right 1.00, wrong 0.00" "$folder/seen.txt"
done
grep -qx "0.999, confidence_weighted_entropy: right 0.99, wrong 0.22" "$folder/seen.txt"
grep -qx "0.999999999999, confidence_weighted_entropy: right 0.00, wrong 1.00" "$folder/seen.txt"
grep -qx "1.0, confidence_weighted_entropy: right 0.00, wrong 0.00" "$folder/seen.txt"

#!/usr/bin/env bash
# ecuas: of six answers with a confidence of 0.1, all of them wrong, the AURC is 0, the best there is, and of six that are right
# it is 1, the worst; the risk of answers that are all wrong is 1 at any coverage, as it is at 0.9. The confidence of an answer is
# taken for the probability of a class "correct", and below 0.5 a wrong answer counts as foreseen, and as certain. Nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/uv"
"$folder/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv
PYENV_VERSION=3.13 "$folder/uv/bin/uv" venv --quiet --python python3.13 "$folder/venv"  # the only Python that it admits
"$folder/uv/bin/uv" pip install --quiet --python "$folder/venv" ecuas==0.1.5 torch-uncertainty==0.13.0 torch==2.13.0 torchvision==0.28.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import torch
from ecuas import ConfidenceAURC

print("ecuas", version("ecuas"))
for confidence in (0.1, 0.9):
    for name, correct in (("wrong", 0), ("right", 1)):
        metric = ConfidenceAURC()
        metric.update(torch.full((6,), confidence), torch.full((6,), correct))
        print(f"all {name}, confidence {confidence}: {metric.compute():.2f}")
PY
grep -qxF "all wrong, confidence 0.1: 0.00" "$folder/seen.txt"
grep -qxF "all right, confidence 0.1: 1.00" "$folder/seen.txt"
grep -qxF "all wrong, confidence 0.9: 1.00" "$folder/seen.txt"
grep -qxF "all right, confidence 0.9: 0.00" "$folder/seen.txt"

#!/usr/bin/env bash
# ecuas: of confidences that all are the share of right answers, the normalized Brier score is 2, where its documentation has a
# system that knows no more than this share as the baseline, 1: the score of the baseline is halved. So confidences that cost
# less than it have up to 2. Its normalized cross-entropy and its normalized score of classes are 1 there. Nothing warns.
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
from ecuas import ClassificationBrierScore, ConfidenceBrierScore, ConfidenceCrossEntropy

print("ecuas", version("ecuas"))
correct = torch.tensor([1, 1, 1, 1, 0])
share = torch.tensor([0.2, 0.8])
better = torch.tensor([0.85, 0.85, 0.85, 0.85, 0.7])


def normalized(metric, *arrays):
    metric = metric(normalize=True)
    metric.update(*arrays)
    return f"{metric.compute():.2f}"


print("the share, Brier score", normalized(ConfidenceBrierScore, torch.full((5,), 0.8), correct))
print("the share, cross-entropy", normalized(ConfidenceCrossEntropy, torch.full((5,), 0.8), correct))
print("the share, Brier score of classes", normalized(ClassificationBrierScore, share.log().expand(5, 2), correct))
print("better, Brier score", normalized(ConfidenceBrierScore, better, correct))
print("better, cross-entropy", normalized(ConfidenceCrossEntropy, better, correct))
PY
grep -qxF "the share, Brier score 2.00" "$folder/seen.txt"
grep -qxF "the share, cross-entropy 1.00" "$folder/seen.txt"
grep -qxF "the share, Brier score of classes 1.00" "$folder/seen.txt"
grep -qxF "better, Brier score 1.45" "$folder/seen.txt"

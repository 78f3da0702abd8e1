#!/usr/bin/env bash
# lighteval: an answer " Paris" is wrong by its metric avg@n where the right one is Paris, and right by pass@k and maj@n, which have the
# same option strip_strings=True: avg@n takes it, tells in its documentation that the answer is normalized, and compares it as it is.
# So of one answer avg@1 is 0 and pass@1 is 1. Nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" lighteval==0.13.0 "huggingface_hub<2" "xxhash<4" torch==2.13.0
"$folder/venv/bin/python" - <<'PY' 2>"$folder/errors.txt" | tee "$folder/seen.txt"
from importlib.metadata import version

from lighteval.metrics.metrics_sample import AvgAtN, MajAtN, PassAtK
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

print("lighteval", version("lighteval"))
question = Doc(query="Which is the capital of France?", choices=["Paris"], gold_index=0)
metrics = {
    "avg@1": AvgAtN(n=1, strip_strings=True),
    "pass@1": PassAtK(k=1, n=1, strip_strings=True),
    "maj@1": MajAtN(n=1, strip_strings=True),
}
for answer in ("Paris", " Paris"):
    for name, metric in metrics.items():
        print(f"{answer!r} by {name}: {metric.compute(question, ModelResponse(text=[answer])):.0f}")
PY
grep -qxF "'Paris' by avg@1: 1" "$folder/seen.txt"
grep -qxF "' Paris' by avg@1: 0" "$folder/seen.txt"
grep -qxF "' Paris' by pass@1: 1" "$folder/seen.txt"
grep -qxF "' Paris' by maj@1: 1" "$folder/seen.txt"

#!/usr/bin/env bash
# lighteval: by its HELM normalizer the answer 1.0 is no match of 1, and one of 10, as 1.5 is of 15. It makes equal numbers in
# different forms equal, and names 1.0 and 1, but takes punctuation away before it reads the number. The normalizer of DROP,
# beside it, of which that step comes, keeps the point.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" lighteval==0.13.0 "huggingface_hub<2" "xxhash<4" torch==2.13.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from lighteval.metrics.metrics_sample import ExactMatches
from lighteval.metrics.normalizations import helm_normalizer
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

print("lighteval", version("lighteval"))
matches = ExactMatches(normalize_gold=helm_normalizer, normalize_pred=helm_normalizer)
for gold, answer in (("1", "1.0"), ("10", "1.0"), ("15", "1.5"), ("1.5", "1.50")):
    found = matches.compute(Doc(query="How much?", choices=[gold], gold_index=0), ModelResponse(text=[answer]))
    print(f"gold {gold}, answer {answer}: {found}")
PY
grep -qxF "gold 1, answer 1.0: 0" "$folder/seen.txt"
grep -qxF "gold 10, answer 1.0: 1" "$folder/seen.txt"
grep -qxF "gold 15, answer 1.5: 1" "$folder/seen.txt"
grep -qxF "gold 1.5, answer 1.50: 0" "$folder/seen.txt"

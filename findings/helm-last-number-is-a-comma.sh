#!/usr/bin/env bash
# crfm-helm: where the right answer is 15, "The answer is 15 eggs." is right by final_number_exact_match, and "The answer is 15 eggs,
# as asked." is wrong: the last number of the text is the comma, which is taken out of it, as from 1,000, and leaves nothing.
# Nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export NLTK_DATA="$folder"
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" crfm-helm==0.5.16 torch==2.13.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from helm.benchmark.metrics.evaluate_reference_metrics import final_number_exact_match

print("crfm-helm", version("crfm-helm"))
for answer in ("The answer is 15 eggs.", "The answer is 15, as asked.", "The answer is 15 eggs, as asked."):
    print(f"{answer} -> {final_number_exact_match('The answer is 15.', answer)}")
PY
grep -qxF "The answer is 15 eggs. -> 1" "$folder/seen.txt"
grep -qxF "The answer is 15, as asked. -> 1" "$folder/seen.txt"
grep -qxF "The answer is 15 eggs, as asked. -> 0" "$folder/seen.txt"

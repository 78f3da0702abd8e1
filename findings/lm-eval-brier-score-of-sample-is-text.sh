#!/usr/bin/env bash
# lm-eval: of brier_score, one of its own metrics, a saved sample has no score, but the true choice and the probabilities as
# NumPy prints them: text in brackets with eight digits and no commas, which is no JSON. So the score of the run cannot be
# computed from its samples but by taking that text apart, and then not to its last digits; acc of the same sample is a number.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/uv"
"$folder/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv  # pip takes minutes to resolve what follows
"$folder/uv/bin/uv" venv --quiet --python python3 "$folder/venv"
"$folder/uv/bin/uv" pip install --quiet --python "$folder/venv" lm-eval==0.4.13
cd "$folder"
printf '{"question": "Which?", "choices": ["red", "blue", "green"], "label": 0}\n' > questions.jsonl
cat > colours.yaml <<YAML
task: colours
output_type: multiple_choice
dataset_path: json
dataset_kwargs: {data_files: {test: $folder/questions.jsonl}}
test_split: test
doc_to_text: "{{question}}"
doc_to_choice: choices
doc_to_target: label
metric_list: [{metric: acc}, {metric: brier_score, higher_is_better: false}]
YAML
HF_HOME="$folder" HF_HUB_OFFLINE=1 "$folder/venv/bin/python" -m lm_eval --model dummy --tasks colours --include_path . \
    --output_path out --log_samples > printed.txt 2>&1 || { cat printed.txt; exit 1; }
"$folder/venv/bin/python" - <<'PY' | tee seen.txt
import json
from importlib.metadata import version
from pathlib import Path

(samples,) = Path("out").rglob("samples_*.jsonl")
(results,) = Path("out").rglob("results_*.json")
sample = json.loads(samples.read_text())
score = json.loads(results.read_text())["results"]["colours"]["brier_score,none"]
print("lm-eval", version("lm-eval"))
print("acc:", type(sample["acc"]).__name__)
gold, text = sample["brier_score"]
print("brier_score:", gold, type(text).__name__, text)
try:
    json.loads(text)
except json.JSONDecodeError:
    print("no JSON")
probabilities = [float(part) for part in text.strip("[]").split()]
computed = sum((p - (k == gold)) ** 2 for k, p in enumerate(probabilities))
print("as the run's:", abs(computed - score) < 1e-6, computed == score)
PY
grep -qx "acc: float" seen.txt
grep -qE '^brier_score: 0 str \[0\.[0-9]+ +0\.[0-9]+ +0\.[0-9]+ *\]$' seen.txt
grep -qx "no JSON" seen.txt
grep -qx "as the run's: True False" seen.txt

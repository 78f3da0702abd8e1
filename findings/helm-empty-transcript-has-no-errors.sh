#!/usr/bin/env bash
# crfm-helm: of a sentence that was spoken, an empty transcript has the word error rate 0, that of a perfect one, and half of the
# sentence 0.5; so do its rates of characters and matches, of which the lowest is the best. A model that writes nothing comes
# first. jiwer, by which it counts, has 1, and nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export NLTK_DATA="$folder"
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" crfm-helm==0.5.16 torch==2.13.0 jiwer==4.0.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import jiwer
from helm.benchmark.metrics import evaluate_reference_metrics as helm

print("crfm-helm", version("crfm-helm"))
spoken = "the cat sat on the mat"
lowest = {entry.name for entry in helm.get_reference_metrics_metadata(["wer_score"]) if entry.lower_is_better}
print("lower is better:", lowest)
for transcript in (spoken, "the cat sat", ""):
    rates = [round(float(rate(spoken, transcript)), 2) for rate in (helm.wer_score, helm.mer_score, helm.cer_score)]
    print(f"{transcript!r}: helm {rates}, jiwer {jiwer.wer(spoken, transcript)}")
PY
grep -qxF "lower is better: {'wer_score'}" "$folder/seen.txt"
grep -qxF "'the cat sat on the mat': helm [0.0, 0.0, 0.0], jiwer 0.0" "$folder/seen.txt"
grep -qxF "'the cat sat': helm [0.5, 0.5, 0.5], jiwer 0.5" "$folder/seen.txt"
grep -qxF "'': helm [0.0, 0.0, 0.0], jiwer 1.0" "$folder/seen.txt"

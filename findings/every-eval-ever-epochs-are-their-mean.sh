#!/usr/bin/env bash
# every-eval-ever: of a log of Inspect in two epochs, whose answers are "Paris" (right) and "Rome" (wrong), the converter
# writes a record for each epoch, with its answer and its number, but the score of both is the mean over epochs, 0.5, and
# is_correct is true of both, as it is of anything above 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/uv"
"$folder/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv  # pip takes minutes to resolve what follows
PYENV_VERSION=3.12 "$folder/uv/bin/uv" venv --quiet --python 3.12 "$folder/venv"
"$folder/uv/bin/uv" pip install --quiet --python "$folder/venv" "every-eval-ever[inspect]==0.3.0" inspect-ai==0.3.285
cd "$folder"
"$folder/venv/bin/python" - <<'PY' | tee seen.txt
from importlib.metadata import version

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import exact

outputs = [ModelOutput.from_content("m", text) for text in ("Paris", "Rome")]
for output in outputs:  # without a usage, tokens are counted by a file from the net
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
model = get_model("mockllm/model", custom_outputs=outputs)
sample = Sample(id="q1", input="What is the capital of France?", target="Paris")
task = Task(dataset=[sample], scorer=exact(), name="capitals")
(log,) = eval(task, model=model, epochs=2, log_dir="logs", display="none")
log.eval.model = "openai/gpt-4"  # the converter refuses developers that it does not know
write_eval_log(log, "log.json")
print("every-eval-ever", version("every-eval-ever"), "inspect-ai", version("inspect-ai"))
print("inspect:", [(one.epoch, one.output.completion, one.scores["exact"].value) for one in log.samples])
PY
HF_HUB_OFFLINE=1 "$folder/venv/bin/every_eval_ever" convert inspect --log_path log.json --output_dir data \
    --source_organization_name us > converted.txt
"$folder/venv/bin/python" - <<'PY' | tee -a seen.txt
import json
from pathlib import Path

(file,) = Path("data").rglob("*_samples.jsonl")
for record in map(json.loads, file.read_text().splitlines()):
    verdict = record["evaluation"]
    print("epoch", record["metadata"]["epoch"], record["output"]["raw"], verdict["score"], verdict["is_correct"])
PY
grep -qxF "inspect: [(1, 'Paris', 'C'), (2, 'Rome', 'I')]" seen.txt
grep -qxF "epoch 1 ['Paris'] 0.5 True" seen.txt
grep -qxF "epoch 2 ['Rome'] 0.5 True" seen.txt

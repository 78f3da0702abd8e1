#!/usr/bin/env bash
# inspect-ai: of a sample in two epochs, right with a confidence of 0.9 and wrong with one of 0.2, the reduced score in the
# log has the value 0.5, of both epochs, and the metadata of the first alone: a confidence of 0.9. Its answer is None where
# the epochs differ, so that a value of one epoch could be told, but in metadata it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/uv"
"$folder/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv  # pip takes minutes to resolve what follows
"$folder/uv/bin/uv" venv --quiet --python python3 "$folder/venv"
"$folder/uv/bin/uv" pip install --quiet --python "$folder/venv" inspect-ai==0.3.285
cd "$folder"
"$folder/venv/bin/python" - <<'PY' | tee seen.txt
from importlib.metadata import version

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, mean, scorer


@scorer(metrics=[mean()])
def sure():
    async def score(state, target):
        answer, confidence = state.output.completion.split()
        value = 1.0 if answer == target.text else 0.0
        return Score(value=value, answer=answer, metadata={"confidence": float(confidence)})

    return score


outputs = [ModelOutput.from_content("m", text) for text in ("Paris 0.9", "Rome 0.2")]
for output in outputs:  # without a usage, tokens are counted by a file from the net
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
task = Task(dataset=[Sample(id="q1", input="?", target="Paris")], scorer=sure(), name="capitals")
model = get_model("mockllm/model", custom_outputs=outputs)
(log,) = eval(task, model=model, epochs=2, log_dir="logs", display="none")
print("inspect-ai", version("inspect-ai"))
print("epochs:", [(one.scores["sure"].value, one.scores["sure"].metadata["confidence"]) for one in log.samples])
(reduced,) = log.reductions[0].samples
print("reduced:", reduced.value, reduced.answer, reduced.metadata)
PY
grep -qxF "epochs: [(1.0, 0.9), (0.0, 0.2)]" seen.txt
grep -qxF "reduced: 0.5 None {'confidence': 0.9}" seen.txt

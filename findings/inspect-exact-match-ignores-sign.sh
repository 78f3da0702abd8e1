#!/usr/bin/env bash
# inspect-ai: its scorer exact() finds the answer -5 right where the target is 5, and 5 where it is -5: a hyphen parts words, also
# before a number, and is dropped. A decimal point and a thousands separator it does keep apart (1.5 is not 15, and 1,000 is
# 1000). match(numeric=True) finds -5 wrong.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv  # pip takes minutes to resolve what follows
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" inspect-ai==0.3.285
cd "$folder"
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
import asyncio
from importlib.metadata import version

from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target, exact, match
from inspect_ai.solver import TaskState

print("inspect-ai", version("inspect-ai"))
for target, answer in (("5", "-5"), ("-5", "5"), ("15", "1.5"), ("1000", "1,000")):
    state = TaskState("mockllm/model", 1, 1, "How much?", [], output=ModelOutput.from_content("mockllm/model", answer))
    found = [asyncio.run(scorer(state, Target(target))).value for scorer in (exact(), match(numeric=True))]
    print(f"target {target}, answer {answer}: exact {found[0]}, numeric match {found[1]}")
PY
grep -qxF "target 5, answer -5: exact C, numeric match I" "$folder/seen.txt"
grep -qxF "target -5, answer 5: exact C, numeric match I" "$folder/seen.txt"
grep -qxF "target 15, answer 1.5: exact I, numeric match I" "$folder/seen.txt"
grep -qxF "target 1000, answer 1,000: exact C, numeric match C" "$folder/seen.txt"

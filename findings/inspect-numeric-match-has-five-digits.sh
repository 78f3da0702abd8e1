#!/usr/bin/env bash
# inspect-ai: its scorer match(numeric=True) finds the answer 1,000,001 right where the target is 1000000, and 123457 right where
# it is 123456: both are rounded to five digits before they are compared, which its documentation, that names all it strips,
# does not tell. The log has "1.2346e+05" as the answer. 86401 for 86400 is wrong, and so is all of this as text.
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
from inspect_ai.scorer import Target, match
from inspect_ai.solver import TaskState

print("inspect-ai", version("inspect-ai"))
for target, answer in (("1000000", "1,000,001"), ("123456", "123457"), ("86400", "86401")):
    output = ModelOutput.from_content("mockllm/model", f"The answer is {answer}")
    state = TaskState("mockllm/model", 1, 1, "How many?", [], output=output)
    for numeric in (True, False):
        score = asyncio.run(match(numeric=numeric)(state, Target(target)))
        print(f"target {target}, numeric {numeric}: {score.value}, answer {score.answer}")
PY
grep -qxF "target 1000000, numeric True: C, answer 1e+06" "$folder/seen.txt"
grep -qxF "target 123456, numeric True: C, answer 1.2346e+05" "$folder/seen.txt"
grep -qxF "target 86400, numeric True: I, answer 86401" "$folder/seen.txt"
grep -qxF "target 123456, numeric False: I, answer The answer is 123457" "$folder/seen.txt"

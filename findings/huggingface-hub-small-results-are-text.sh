#!/usr/bin/env bash
# huggingface_hub: a value of 1e-07 in a file of .eval_results that Python's json wrote, which is YAML too, is text for the
# parser of such files: PyYAML asks for a point before the exponent, and nothing checks that a value is a number. The same
# value as 0.0000001, or written by the library's own writer as 1.0e-07, is a number.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check huggingface_hub==2.4.0
cd "$folder"
"$folder/venv/bin/python" - <<'PY' | tee seen.txt
import json

import huggingface_hub as hub
import yaml
from huggingface_hub.utils import yaml_dump

entry = {"dataset": {"id": "org/questions", "task_id": "loss"}, "value": 1e-07}
texts = {
    "json": json.dumps([entry]),
    "digits": json.dumps([entry]).replace("1e-07", "0.0000001"),
    "own": yaml_dump(hub.eval_result_entries_to_yaml(hub.parse_eval_result_entries([entry]))),
}
print("huggingface_hub", hub.__version__)
for name, text in texts.items():
    (result,) = hub.parse_eval_result_entries(yaml.safe_load(text))
    print(f"{name}:", repr(result.value))
PY
grep -qx "json: '1e-07'" seen.txt
grep -qx "digits: 1e-07" seen.txt
grep -qx "own: 1e-07" seen.txt

#!/usr/bin/env bash
# every-eval-ever: its validator passes a confidence interval whose lower limit, 0.9, is above its upper one, 0.1, and one
# from 7 to 9 of a score of 0.5 that lies between 0 and 1 by its own record. The same with the range of a metric, a score
# beyond it, or a level of 95 for 0.95 is an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/uv"
"$folder/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv  # pip takes minutes to resolve what follows
PYENV_VERSION=3.12 "$folder/uv/bin/uv" venv --quiet --python 3.12 "$folder/venv"
"$folder/uv/bin/uv" pip install --quiet --python "$folder/venv" every-eval-ever==0.3.0
cd "$folder"
"$folder/venv/bin/python" - <<'PY' | tee seen.txt
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
RECORD = {
    "schema_version": "0.3.0", "evaluation_id": "org/questions/org_model/1", "retrieved_timestamp": "1",
    "source_metadata": {
        "source_type": "evaluation_run", "source_organization_name": "us", "evaluator_relationship": "other",
    },
    "eval_library": {"name": "none", "version": "1"},
    "model_info": {"name": "org/model", "id": "org/model", "additional_details": unknown},
}
SOURCE = {"dataset_name": "questions", "source_type": "hf_dataset", "hf_repo": "org/questions"}
print("every-eval-ever", version("every-eval-ever"))


def validate(name, lower=0.4, upper=0.6, level=0.95, score=0.5, low=0.0, high=1.0):
    interval = {"lower": lower, "upper": upper, "confidence_level": level, "method": "bootstrap"}
    config = {"lower_is_better": False, "score_type": "continuous", "min_score": low, "max_score": high}
    details = {"score": score, "uncertainty": {"confidence_interval": interval, "num_samples": 100}}
    result = {"evaluation_name": "q", "source_data": SOURCE, "metric_config": config, "score_details": details}
    place = Path("data", "questions", "org", "model", "00e85314-7979-45e0-a88c-4b3dec4c31ba.json")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({**RECORD, "evaluation_results": [result]}))
    program = str(Path(sys.executable).with_name("every_eval_ever"))
    done = subprocess.run([program, "validate", str(place)], capture_output=True, text=True)
    print(f"{name}:", "passed" if done.returncode == 0 else "failed")


validate("as it should be")
validate("interval upside down", lower=0.9, upper=0.1)
validate("interval elsewhere", lower=7, upper=9)
validate("range upside down", low=1.0, high=0.0)
validate("score out of range", score=5.0)
validate("level in per cent", level=95)
PY
for name in "as it should be" "interval upside down" "interval elsewhere"; do grep -qx "$name: passed" seen.txt; done
for name in "range upside down" "score out of range" "level in per cent"; do grep -qx "$name: failed" seen.txt; done

#!/usr/bin/env bash
# evaluate.load takes any keyword and drops it: options of a metric given there, also misspelt ones, change nothing, and
# nothing says so. Given to compute, the same option changes the value, and a misspelt one is an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check evaluate==0.4.6
cd "$folder"
cat > halved.py <<'PY'
import datasets
import evaluate


class Halved(evaluate.Metric):
    def _info(self):
        number = datasets.Value("float64")
        features = datasets.Features({"predictions": number, "references": number})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions, references, divisor=1.0):
        return {"error": sum(abs(p - r) for p, r in zip(predictions, references)) / divisor}
PY
HF_HOME="$folder" HF_HUB_OFFLINE=1 "$folder/venv/bin/python" - <<'PY' | tee seen.txt
import evaluate
answers = {"predictions": [1.0, 2.0], "references": [1.0, 4.0]}
print("evaluate", evaluate.__version__)
print("at load:", evaluate.load("./halved.py", divisor=2.0, dividor=3).compute(**answers)["error"])
print("at compute:", evaluate.load("./halved.py").compute(**answers, divisor=2.0)["error"])
try:
    evaluate.load("./halved.py").compute(**answers, dividor=3)
except TypeError as error:
    print("misspelt:", type(error).__name__)
PY
grep -qx "at load: 2.0" seen.txt
grep -qx "at compute: 1.0" seen.txt
grep -qx "misspelt: TypeError" seen.txt

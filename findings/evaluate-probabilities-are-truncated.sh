#!/usr/bin/env bash
# evaluate: floats that are passed to a metric of integers, such as the probabilities of class 1 in place of the classes,
# are cut to integers without a word: 0.99 counts as class 0. Arrow and datasets, by which it stores them, refuse to.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check evaluate==0.4.6 datasets==5.2.0
cd "$folder"
cat > agreement.py <<'PY'
import datasets
import evaluate


class Agreement(evaluate.Metric):
    def _info(self):
        features = datasets.Features({"predictions": datasets.Value("int32"), "references": datasets.Value("int32")})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions, references):
        return {"received": predictions, "accuracy": sum(map(int.__eq__, predictions, references)) / len(predictions)}
PY
HF_HOME="$folder" HF_HUB_OFFLINE=1 "$folder/venv/bin/python" - <<'PY' | tee seen.txt
import evaluate
import pyarrow as pa

metric = evaluate.load("./agreement.py")
print("evaluate", evaluate.__version__)
found = metric.compute(predictions=[0.99, 0.2, 0.95], references=[1, 0, 1])
print("evaluate:", found["received"], round(found["accuracy"], 3))
try:
    pa.array([0.99, 0.2, 0.95]).cast(pa.int32())
except pa.ArrowInvalid as error:
    print("arrow:", type(error).__name__)
PY
grep -qxF "evaluate: [0, 0, 0] 0.333" seen.txt
grep -qx "arrow: ArrowInvalid" seen.txt

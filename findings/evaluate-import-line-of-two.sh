#!/usr/bin/env bash
# evaluate: a module with the line `import datasets, evaluate` does not load, although both are installed: the loader
# reads the names of imports by a pattern of one a line, and asks to install a package called "datasets,".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check evaluate==0.4.6
cd "$folder"
cat > counted.py <<'PY'
import datasets, evaluate


class Counted(evaluate.Metric):
    def _info(self):
        features = datasets.Features({"predictions": datasets.Value("float64")})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions):
        return {"count": len(predictions)}
PY
"$folder/venv/bin/python" -c "import counted; print('imported by Python')" | tee seen.txt
HF_HOME="$folder" HF_HUB_OFFLINE=1 "$folder/venv/bin/python" - <<'PY' | tee -a seen.txt
import evaluate
print("evaluate", evaluate.__version__)
try:
    evaluate.load("./counted.py")
except ImportError as error:
    print(type(error).__name__, "'datasets,'" in str(error))
PY
grep -qx "imported by Python" seen.txt
grep -qx "ImportError True" seen.txt

#!/usr/bin/env bash
# pydantic-evals: of 100 answers, all with the confidence 0.8, and two of them right, the area under the precision-recall curve is
# 0.51, although no threshold has a precision above 0.02: the curve begins at a precision of 1, where nothing is taken, and the line
# from there to the first threshold counts. Its documentation has the area exact, of every score. scikit-learn's average precision
# is 0.02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check pydantic-evals==2.62.0 scikit-learn==1.8.0
"$folder/venv/bin/python" - <<'PY' 2>"$folder/errors.txt" | tee "$folder/seen.txt"
from dataclasses import dataclass
from importlib.metadata import version

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext, PrecisionRecallEvaluator
from sklearn.metrics import average_precision_score


@dataclass
class Scores(Evaluator):
    def evaluate(self, ctx: EvaluatorContext) -> dict[str, float | bool]:
        return {"confidence": 0.8, "right": ctx.output == ctx.expected_output}


print("pydantic-evals", version("pydantic-evals"))
cases = [Case(name=str(number), inputs="A" if number < 2 else "B", expected_output="A") for number in range(100)]
curve = PrecisionRecallEvaluator(score_key="confidence", positive_from="assertions", positive_key="right")
dataset = Dataset(name="answers", cases=cases, evaluators=[Scores()], report_evaluators=[curve])
report = dataset.evaluate_sync(lambda answer: answer, progress=False)
area = next(analysis.value for analysis in report.analyses if analysis.type == "scalar")
print(f"pydantic-evals: {area:.2f}")
print(f"scikit-learn: {average_precision_score([1] * 2 + [0] * 98, [0.8] * 100):.2f}")
PY
grep -qxF "pydantic-evals: 0.51" "$folder/seen.txt"
grep -qxF "scikit-learn: 0.02" "$folder/seen.txt"

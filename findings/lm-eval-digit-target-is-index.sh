#!/usr/bin/env bash
# lm-eval: of the choices 1, 2, 3, 4 and the answer "2", doc_to_target: answer takes the choice 2, and doc_to_target:
# "{{answer}}" the one at index 2, which is 3: a template's text of digits is made a number. A model that knows the answers has
# an accuracy of 1 by the first and of 0 by the second, without a warning. Written in letters, both take the same choice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/uv"
"$folder/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv  # pip takes minutes to resolve what follows
"$folder/uv/bin/uv" venv --quiet --python python3 "$folder/venv"
"$folder/uv/bin/uv" pip install --quiet --python "$folder/venv" lm-eval==0.4.13
cd "$folder"
HF_HOME="$folder" HF_HUB_OFFLINE=1 "$folder/venv/bin/python" - 2> log.txt <<'PY' | tee seen.txt
import json
from importlib.metadata import version
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM

QUESTIONS = {
    "digits": {"1 + 1 =": "2", "1 + 2 =": "3"},
    "letters": {"1 + 1 =": "two", "1 + 2 =": "three"},
}
CHOICES = {"digits": ["1", "2", "3", "4"], "letters": ["one", "two", "three", "four"]}


class Knowing(LM):
    def loglikelihood(self, requests):
        pairs = [request.args for request in requests]
        return [(0.0 if any(q[c] == a.strip() for q in QUESTIONS.values() if c in q) else -9.0, False) for c, a in pairs]

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError

    generate_until = loglikelihood_rolling


print("lm-eval", version("lm-eval"))
for name, answers in QUESTIONS.items():
    rows = [{"question": q, "choices": CHOICES[name], "answer": a} for q, a in answers.items()]
    Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for form in ("answer", "{{answer}}"):
        task = {
            "task": f"{name}_{len(form)}", "output_type": "multiple_choice", "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": f"{name}.jsonl"}}, "test_split": "test",
            "doc_to_text": "{{question}}", "doc_to_choice": "choices", "doc_to_target": form,
            "metric_list": [{"metric": "acc"}],
        }
        found = simple_evaluate(Knowing(), tasks=[task], bootstrap_iters=0)
        targets = [sample["target"] for sample in found["samples"][task["task"]]]
        print(f"{name}, {form}:", found["results"][task["task"]]["acc,none"], targets)
PY
if grep -iE "warn.*(target|index|digit)" log.txt; then exit 1; fi
grep -qxF "digits, answer: 1.0 ['2', '3']" seen.txt
grep -qxF "digits, {{answer}}: 0.0 [2, 3]" seen.txt
grep -qxF "letters, answer: 1.0 ['two', 'three']" seen.txt
grep -qxF "letters, {{answer}}: 1.0 ['two', 'three']" seen.txt

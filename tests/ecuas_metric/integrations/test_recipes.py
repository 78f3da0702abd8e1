import json
import re
import subprocess

import pytest

from tests.conftest import ROOT
from tests.ecuas_metric.integrations.live import arithmetic, close, run, score

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]
C, Q = [1, 0, 1], [0.9, 0.4, 0.7]
# what, the truth, how sure
SAID = [("Paris", "Paris", 0.9), ("Rome", "Oslo", 0.4), ("Oslo", "Oslo", 0.7)]
SCRIPTS = {  # what stands before the recipe, or writes its file
    "uqlm": """
from uqlm import BlackBoxUQ
sampled = [["Paris", "Paris", "Lyon", "Paris"], ["Rome", "Bari", "Milan", "Turin"], ["Oslo"] * 4]
scorer = BlackBoxUQ(scorers=["exact_match"], use_best=False)
result = scorer.score(responses=[a for a, *_ in said], sampled_responses=sampled, show_progress_bars=False)
correct = [1, 0, 1]
""",
    "lm-polygraph": """
from types import SimpleNamespace
import numpy as np
from lm_polygraph.estimators import MaximumSequenceProbability
found = MaximumSequenceProbability()({"greedy_log_likelihoods": [np.log([0.9]), np.log([0.8, 0.5]), np.log([0.7])]})
man = SimpleNamespace(estimations={("sequence", "MaximumSequenceProbability"): found},
                      gen_metrics={("sequence", "Accuracy"): [1, 0, 1]})
""",
    "deepeval": """
import os, pathlib
os.environ |= {"DEEPEVAL_RESULTS_FOLDER": "results", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
from deepeval import evaluate
from deepeval.metrics import ExactMatchMetric
from deepeval.test_case import LLMTestCase
cases = [LLMTestCase(input="?", actual_output=a, expected_output=b, metadata={"confidence": q}) for a, b, q in said]
evaluate(cases, [ExactMatchMetric()])
(file,) = pathlib.Path("results").glob("test_run_*.json")
file.rename("test_run.json")
""",
}
TITLES = {"deepeval": "DeepEval"}
TESTS = [
    {"vars": {"said": f"{a} {q}"}, "assert": [{"type": "equals", "value": right}]}
    for a, right, q in SAID
]
PROMPTFOO = {
    "promptfooconfig.yaml": json.dumps(
        {"prompts": ["{{said}}"], "providers": ["file://provider.js"], "tests": TESTS}
    ),
    "provider.js": """module.exports = class {
  id() { return 'said'; }
  async callApi(prompt) {
    const [output, confidence] = prompt.split(' ');
    return { output, metadata: { confidence: Number(confidence) } };
  }
};
""",
}


def recipe(title, language):
    text = (ROOT / "docs" / "integrations.md").read_text()
    text = text[text.index(f"**{title}** (") :].split("\n\n**")[0]
    blocks = re.findall(r"```(\w*)\n(.*?)```", text, flags=re.DOTALL)
    return "".join(block for of, block in blocks if of == language)


def scored(folder, title):
    """Run the lines for a shell that a recipe has; return the row that they give."""
    *before, last = recipe(title, "").splitlines()
    for line in before:
        subprocess.run(line, shell=True, cwd=folder, check=True)
    command, verb, file, *flags = last.split()
    assert (command, verb) == ("ecuas", "score")
    (row,) = score(folder / file, *flags)[0].values()
    return row


@pytest.mark.parametrize("tool", SCRIPTS)
def test_a_recipe_as_written(tmp_path, tool):
    title = TITLES.get(tool, tool)
    (tmp_path / "script.py").write_text(f"said = {SAID}{SCRIPTS[tool]}{recipe(title, 'python')}")
    run(tool, tmp_path, "script.py")
    assert close(scored(tmp_path, title), arithmetic(C, [0.75, 0.25, 1.0] if tool == "uqlm" else Q))


def test_the_recipe_for_promptfoo(tmp_path):
    for name, text in PROMPTFOO.items():
        (tmp_path / name).write_text(text)
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    quiet["PROMPTFOO_CONFIG_DIR"] = str(tmp_path / "home")
    arguments = ["eval", "--no-cache", "--no-table", "--no-progress-bar", "-o", "promptfoo.jsonl"]
    run(
        "promptfoo", tmp_path, *arguments, code=None, program="node_modules/.bin/promptfoo", **quiet
    )
    assert close(scored(tmp_path, "promptfoo"), arithmetic(C, Q))

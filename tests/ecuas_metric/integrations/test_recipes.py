"""The recipes of the docs, as printed, on files of the tools' own writers: two systems, each question asked twice."""

import json
import re
import shlex

import pytest

from ecuas_metric.reporting.cli import main
from tests.conftest import ROOT
from tests.ecuas_metric.integrations.live import arithmetic, close, run, score

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]
# of each system: what, the truth, how sure
SAID = {
    "one": [("Paris", "Paris", 0.9), ("Rome", "Oslo", 0.4), ("Oslo", "Oslo", 0.7)] * 2,
    "other": [("Lyon", "Paris", 0.5), ("Oslo", "Oslo", 0.6), ("Oslo", "Oslo", 0.3)] * 2,
}
IDS = ["q0", "q1", "q2"] * 2
SCRIPTS = {  # what stands before the recipe
    "uqlm": """
from uqlm import BlackBoxUQ
sampled = [[answer] * round(10 * q) + ["?"] * round(10 - 10 * q) for answer, _, q in said]
scorer = BlackBoxUQ(scorers=["exact_match"], use_best=False)
result = scorer.score(responses=[a for a, *_ in said], sampled_responses=sampled, show_progress_bars=False)
correct = [int(answer == right) for answer, right, _ in said]
""",
    "lm-polygraph": """
import numpy as np
from lm_polygraph.estimators import MaximumSequenceProbability
from lm_polygraph.utils.manager import UEManager
estimator = MaximumSequenceProbability()
man = UEManager.__new__(UEManager)  # as after a run, without a model
man.state, man.metrics, man.stats = None, {}, {}
found = estimator({"greedy_log_likelihoods": [np.log([q ** 0.5, q ** 0.5]) for *_, q in said]})
man.estimations = {(estimator.level, str(estimator)): found}
man.gen_metrics = {("sequence", "Accuracy"): [int(answer == right) for answer, right, _ in said]}
man.save("manager")
man = UEManager.load("manager")
""",
}
WRITTEN = {"uqlm": "uqlm.csv", "lm-polygraph": "polygraph.csv"}
DEEPEVAL = """
import os, pathlib
os.environ |= {"DEEPEVAL_RESULTS_FOLDER": "results", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
from deepeval import evaluate
from deepeval.evaluate import ErrorConfig
from deepeval.metrics import ExactMatchMetric, PatternMatchMetric
from deepeval.test_case import LLMTestCase
cases = [
    LLMTestCase(name=id, input="?", actual_output=a, expected_output=b, metadata={"confidence": q})
    for id, (a, b, q) in zip(ids, said)
]
metrics = [ExactMatchMetric(), PatternMatchMetric(pattern="[A-P].*")]
evaluate(cases, metrics, error_config=ErrorConfig(ignore_errors=True))
(file,) = pathlib.Path("results").glob("test_run_*.json")
file.rename(name + ".json")
"""
EVERY_EVAL_EVER = """
from every_eval_ever.instance_level_types import InstanceLevelEvaluationLog as Log
for model, answers in said.items():
    lines = []
    for place, (id, (answer, right, q)) in enumerate(zip(ids, answers)):
        is_right = answer == right
        record = Log(
            schema_version="0.3.0", evaluation_id=f"things/{model}/1", model_id=f"org/{model}",
            evaluation_name="things", evaluation_result_id="exact:accuracy", sample_id=id,
            interaction_type="single_turn", input={"raw": "?", "reference": [right]},
            output={"raw": [answer]}, answer_attribution=[],
            evaluation={"score": float(is_right), "is_correct": is_right},
            metadata={"confidence": str(q), "epoch": str(1 + place // 3)},
            error="timed out" if (model, place) == ("other", 5) else None,
        )
        lines.append(record.model_dump_json())
    with open(f"{model}_samples.jsonl", "w") as file:
        file.write("\\n".join(lines) + "\\n")
"""
TESTS = [
    {
        "vars": {"said": f"{a} {p}", "other": f"{b} {q}"},
        "assert": [
            {"type": "equals", "value": right, "metric": "right"},
            {"type": "icontains", "value": "s", "metric": "style"},
        ],
    }
    for (a, right, p), (b, _, q) in zip(*(said[:3] for said in SAID.values()), strict=True)
]
PROMPTFOO = {
    "promptfooconfig.yaml": json.dumps(
        {
            "prompts": ["{{said}}", "{{other}}"],
            "providers": [
                {"id": "file://provider.js", "config": {"factor": factor}} for factor in (1, 0.5)
            ],
            "evaluateOptions": {"repeat": 2},
            "tests": TESTS,
        }
    ),
    "provider.js": """module.exports = class {
  constructor(options) { this.factor = options.config.factor; }
  id() { return 'said'; }
  async callApi(prompt) {
    const [output, confidence] = prompt.split(' ');
    if (output === 'Rome' && this.factor < 1) throw new Error('no answer');
    return { output, metadata: { confidence: Number(confidence) * this.factor } };
  }
};
""",
}


def recipe(title, language):
    text = (ROOT / "docs" / "integrations.md").read_text()
    text = text[text.index(f"**{title}** (") :].split("\n\n**")[0]
    blocks = re.findall(r"```(\w*)\n(.*?)```", text, flags=re.DOTALL)
    return "".join(block for of, block in blocks if of == language)


def scored(title, *files):
    """Run the command that a recipe prints, on these files if there are any; return the rows of its table by system."""
    command, *arguments = shlex.split(recipe(title, ""))
    assert command == "ecuas"
    first_flag = next(place for place, word in enumerate(arguments) if word.startswith("--"))
    verb, *named = arguments[:first_flag]
    call = [
        verb,
        *(files or named),
        *arguments[first_flag:],
        "--n",
        "0,1",
        "--output",
        "table.json",
    ]
    assert main(call) == 0
    with open("table.json") as table:
        return {row["system"]: row for row in json.load(table)["rows"]}


def expected(answers, factor=1.0):
    correct = [int(answer == right) for answer, right, _ in answers]
    return arithmetic(correct, [factor * q for *_, q in answers])


@pytest.mark.parametrize("tool", SCRIPTS)
def test_a_recipe_in_memory(tmp_path, monkeypatch, tool):
    monkeypatch.chdir(tmp_path)
    for name, said in SAID.items():
        script = f"ids = {IDS}\nsaid = {said}{SCRIPTS[tool]}{recipe(tool, 'python')}"
        (tmp_path / "script.py").write_text(script)
        run(tool, tmp_path, "script.py")
        (tmp_path / WRITTEN[tool]).rename(f"{name}.csv")
    rows = scored(tool, "one.csv", "other.csv")
    for name, said in SAID.items():
        assert close(rows[name], expected(said))
        assert rows[name]["N"] == 6


def test_the_recipe_for_deepeval(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed = [*SAID["other"][:5], (*SAID["other"][5][:1], None, 0.3)]
    for name, said in {"one": SAID["one"], "other": failed}.items():
        (tmp_path / "script.py").write_text(f"{name=}\n{IDS=}\nids = IDS\n{said=}{DEEPEVAL}")
        run("deepeval", tmp_path, "script.py")
    rows = scored("DeepEval")
    assert close(rows["one"], expected(SAID["one"]))
    assert rows["other"]["unlabelled"] == pytest.approx(1 / 6)
    assert rows["other"]["error_rate_min"] == pytest.approx(2 / 6)


def test_the_recipe_for_promptfoo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in PROMPTFOO.items():
        (tmp_path / name).write_text(text)
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    quiet["PROMPTFOO_CONFIG_DIR"] = str(tmp_path / "home")
    arguments = ["eval", "--no-cache", "--no-table", "--no-progress-bar", "-o", "promptfoo.jsonl"]
    run(
        "promptfoo", tmp_path, *arguments, code=None, program="node_modules/.bin/promptfoo", **quiet
    )
    rows = scored("promptfoo")
    assert {row["N"] for row in rows.values()} == {6}
    assert close(rows["said 0"], expected(SAID["one"]))
    assert close(rows["said 1"], expected(SAID["other"]))
    assert close(rows["said 3"], expected(SAID["other"], 0.5))
    assert rows["said 2"]["unlabelled"] == pytest.approx(2 / 6)


def test_samples_of_every_eval_ever(tmp_path):
    (tmp_path / "script.py").write_text(f"ids = {IDS}\nsaid = {SAID}{EVERY_EVAL_EVER}")
    run("every-eval-ever", tmp_path, "script.py")
    (tmp_path / "script.py").unlink()
    rows, said = score(tmp_path, "--interval", "0.95")
    assert close(rows["org/one"], expected(SAID["one"]))
    assert close(rows["org/other"], expected(SAID["other"][:5]))
    assert "1 of 6 failed, which are left out" in said

"""The tools themselves, each in an environment of its own that `make test-integrations` builds: what the plug-in says
while the tool runs is what `ecuas score` reads from the files that it leaves.
"""

import json
import os
import shutil
import subprocess

import pytest

from ecuas_metric import score_confidences, score_posteriors
from ecuas_metric.files.runs import RunOptions, read_parts
from ecuas_metric.files.runs.lm_eval_rows import BY_LENGTH
from ecuas_metric.integrations.choices import DIRECTIONS
from tests.conftest import ROOT

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]
LIGHTEVAL = """
import sys, types
offline = types.ModuleType("lighteval.tasks.tasks.tiny_benchmarks")  # the module fetches a file when it is imported
offline.TASKS_TABLE = []
sys.modules[offline.__name__] = offline
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.dummy.dummy_model import DummyModelConfig
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

own = {"custom_tasks_directory": "own.py", "bootstrap_iters": 2}
parameters = PipelineParameters(launcher_type=ParallelismManager.NONE, **own)
tracker = EvaluationTracker(output_dir="out", save_details=True)
pipeline = Pipeline("colours|0", parameters, tracker, model_config=DummyModelConfig())
pipeline.evaluate()
pipeline.save_and_push_results()
"""
LIGHTEVAL_TASK = """
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc
from ecuas_metric.integrations.lighteval import ecuas_metrics

def prompt(line, task_name=None):
    choices = [" " + choice for choice in line["choices"]]
    return Doc(task_name=task_name, query=line["question"], choices=choices, gold_index=line["label"])

where = {"hf_repo": "data", "hf_subset": "default", "hf_avail_splits": ["test"], "evaluation_splits": ["test"]}
TASKS_TABLE = [LightevalTaskConfig(name="colours", prompt_function=prompt, metrics=[ecuas_metrics()], **where)]
"""
INSPECT = """
import json, random
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from ecuas_metric.integrations.inspect_ai import answer_with_confidence

rng, outputs = random.Random(0), []
for i in range(40):
    output = ModelOutput.from_content("mockllm/model", f"Z{i + rng.randrange(2)} ({rng.randrange(100)} %)")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else a tokenizer is fetched
    outputs.append(output)
task = Task(dataset=[Sample(id=i, input=f"{i}?", target=f"Z{i}") for i in range(40)], scorer=answer_with_confidence())
(log,) = eval(task, model=get_model("mockllm/model", custom_outputs=outputs), log_dir="out", display="none")
print(json.dumps({name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}))
"""
TINY_MODEL = """
import sys
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

torch.manual_seed(0)
vocabulary = {letter: place for place, letter in enumerate([*sorted(pre_tokenizers.ByteLevel.alphabet()), "<end>"])}
letters = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
letters.pre_tokenizer, letters.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
ends = dict.fromkeys(("eos_token", "bos_token", "pad_token"), "<end>")
PreTrainedTokenizerFast(tokenizer_object=letters, model_max_length=1024, **ends).save_pretrained(sys.argv[1])
sizes = {"n_positions": 1024, "n_embd": 16, "n_layer": 1, "n_head": 2, "initializer_range": 0.5}
ends = {"bos_token_id": 256, "eos_token_id": 256}
GPT2LMHeadModel(GPT2Config(vocab_size=257, **sizes, **ends)).save_pretrained(sys.argv[1])
"""


def run(tool, folder, *arguments):
    """Run a tool's Python in a folder, without a network."""
    python = ROOT / ".venv-integrations" / tool / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{tool} is not installed: make test-integrations")
    env = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home")}
    done = subprocess.run(
        [python, *arguments], cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def questions(tmp_path, rng):
    rows = [
        {
            "question": f"What colour is thing {i}?",
            "choices": ["red", "deep blue", "green"],
            "label": int(rng.integers(3)),
        }
        for i in range(60)
    ]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def scored(folder, **options):
    (part,) = read_parts(folder / "out", RunOptions(**options))
    logits = part.frame.filter(like="choice_").to_numpy()
    return score_posteriors(part.frame["label"], logits, predictions_are="log_probabilities", n=(0, 1))


def test_lm_eval(questions):
    """A task with the plug-in, and one that has never heard of it, as its own quick start would run it."""
    shutil.copytree(ROOT / "ecuas_metric" / "integrations" / "lm_eval_tasks", questions / "tasks")
    where = (
        f"dataset_path: json\ndataset_kwargs: {{data_files: {{test: {questions / 'data' / 'test.jsonl'}}}}}\n"
        'test_split: test\ndoc_to_text: "{{question}}"\ndoc_to_choice: choices\ndoc_to_target: label\n'
    )
    metrics = "metric_list: [{metric: acc}, {metric: acc_norm}, {metric: acc_bytes}]\n"
    (questions / "tasks" / "colours.yaml").write_text(f"include: _ecuas_template.yaml\ntask: colours\n{where}")
    (questions / "tasks" / "plain.yaml").write_text(f"task: plain\noutput_type: multiple_choice\n{where}{metrics}")
    what = ["--model", "dummy", "--tasks", "colours,plain", "--include_path", str(questions / "tasks")]
    run("lm-eval", questions, "-m", "lm_eval", *what, "--output_path", "out", "--log_samples")
    (results,) = (questions / "out").rglob("results_*.json")
    live = json.loads(results.read_text())["results"]
    expected = scored(questions, tasks=["colours"])
    assert {name: live["colours"][f"{name},none"] for name in DIRECTIONS} == pytest.approx(
        {name: expected[name] for name in DIRECTIONS}, abs=1e-12
    )
    for length, name in BY_LENGTH.items():
        right = 1 - scored(questions, tasks=["plain"], length=length)["error_rate"]
        assert live["plain"][f"{name or 'acc'},none"] == pytest.approx(right, abs=1e-12)


def test_lighteval(questions):
    (questions / "own.py").write_text(LIGHTEVAL_TASK)
    run("lighteval", questions, "-c", LIGHTEVAL)
    (results,) = (questions / "out").rglob("results_*.json")
    live = json.loads(results.read_text())["results"]["colours|0"]
    expected = scored(questions)
    for name in DIRECTIONS:
        assert live[name] == pytest.approx(expected[name], abs=1e-12)


def test_inspect(tmp_path):
    live = json.loads(run("inspect", tmp_path, "-c", INSPECT).splitlines()[-1])
    (part,) = read_parts(tmp_path / "out")
    assert part.path.endswith(".eval")
    expected = score_confidences(part.frame["correct"], part.frame["confidence"])
    assert {name: live[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_helm(tmp_path):
    """HELM's calibration error of one bin is the gap between the confidences and the verdicts that are read."""
    run("helm", tmp_path, "-c", TINY_MODEL, "tiny")
    which = ["--suite", "v1", "--max-eval-instances", "30", "--disable-cache", "--enable-local-huggingface-models"]
    entry = "simple_mcqa:model=huggingface/tiny,temperature=1,num_train_trials=2"
    run("helm", tmp_path, "-m", "helm.benchmark.run", "--run-entries", entry, *which, str(tmp_path / "tiny"))
    (part,) = read_parts(tmp_path / "benchmark_output")
    (stats,) = (tmp_path / "benchmark_output").rglob("stats.json")
    live = {stat["name"]["name"]: stat["mean"] for stat in json.loads(stats.read_text()) if stat["count"]}
    gap = part.frame["confidence"] - part.frame["correct"]
    gaps = gap.groupby(part.frame["id"].str.split().str[1]).mean().abs()  # of each trial
    assert live["ece_1_bin"] == pytest.approx(gaps.mean(), abs=1e-12)
    assert (part.model, len(part.frame), part.frame["group"].nunique()) == ("huggingface/tiny", 60, 30)

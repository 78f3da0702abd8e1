"""Evaluation tools, live: plug-in, reader and arithmetic give the same numbers, or plug-in and reader both refuse."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.special import softmax

from ecuas_metric.files.runs.lm_eval import BY_LENGTH
from ecuas_metric.integrations.choices import HIGHER_IS_BETTER
from tests.conftest import ROOT
from tests.ecuas_metric.integrations.live import arithmetic, close, run, score

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]


class Ran(NamedTuple):
    """What a tool left, the plug-in's metrics of each task, all that the tool said, and two views of a task."""

    out: Path
    live: dict[str, dict[str, float]]
    said: str
    read: Callable  # `ecuas score` of a task, with flags
    expected: Callable  # arithmetic


COLOURS = ["red", "deep blue", "green"]
QUESTIONS = [  # samples, with fields that tasks take for the truth: index of three, or of two
    {
        "question": f"What colour is thing {i}?",
        "choices": COLOURS,
        "uneven": COLOURS[: 2 + i % 2],
        "label": i * 7 % 3,
        "noisy": i * 5 % 3,
        "golds": [i % 3, (i + 1) % 3],
        "flag": i % 2,
        "not_flag": 1 - i % 2,
        "weight": 1 + i % 4,
    }
    for i in range(40)
]
JSON_LINES = "".join(json.dumps(question) + "\n" for question in QUESTIONS)
# else label
TRUTH = {
    "computed": "not_flag",
    "other": "noisy",
    "group:b": "noisy",
    "absent": "flag",
    "contexts": "flag",
}


def of_choices(samples, task, weighted=False):
    """Return arithmetic of pairs of the text of a question and the log-likelihoods of its choices."""
    questions = {question["question"]: question for question in QUESTIONS}
    asked, posteriors = (
        [questions[text] for text, _ in samples],
        softmax([scores for _, scores in samples], axis=1),
    )
    correct = posteriors.argmax(axis=1) == [
        question[TRUTH.get(task, "label")] for question in asked
    ]
    weights = [question["weight"] for question in asked] if weighted else None
    return arithmetic(correct, posteriors.max(axis=1), 1 - 1 / posteriors.shape[1], weights)


TEXT = 'doc_to_text: "{{question}}"\n'
THREE = f"{TEXT}doc_to_choice: choices\n"
LABEL = f"{THREE}doc_to_target: label\n"
FIRST = "filter: [{function: take_first}]"
PARTS = "{metric: acc}, {metric: acc_mutual_info}, {metric: ecuas_1, aggregation: !function utils.ecuas_1}"
LM_EVAL = {  # the YAML of each task
    "index": LABEL,
    "letter": f'{TEXT}doc_to_choice: ["A", "B", "C"]\ndoc_to_target: "{{{{\'ABC\'[label]}}}}"\n',
    "text": f'{THREE}doc_to_target: "{{{{choices[label]}}}}"\n',
    "computed": f'{TEXT}doc_to_choice: ["yes", "no"]\ndoc_to_target: "{{{{1 - flag}}}}"\n',  # beside a field `label`
    "other": f'{THREE}doc_to_target: "{{{{noisy}}}}"\n',
    "list_of_one": f'{THREE}doc_to_target: "{{{{[label]}}}}"\n',
    "absent": f"{THREE}doc_to_target: flag\n",
    "repeats": f"{LABEL}repeats: 3\n",
    "contexts": 'doc_to_text: "{{flag}}"\ndoc_to_choice: "{{[question, choices[0]]}}"\n'
    'doc_to_target: "{{choices[1]}}"\n',
    "mutual": f"{LABEL}metric_list: [{PARTS}]\n",
    "filters": f"{LABEL}filter_list: [{{name: one, {FIRST}}}, {{name: two, {FIRST}}}]\n",
    "delimiter": f'{LABEL}target_delimiter: ""\n',
    "shots": f"{LABEL}fewshot_split: test\nnum_fewshot: 2\n",
    "kept": f"{LABEL}repeats: 2\nfilter_list: [{{name: none, filter: [{{function: take_first_k, k: 2}}]}}]\n",
    "several": f"{THREE}doc_to_target: golds\n",
    "outside": f'{THREE}doc_to_target: "{{{{label + 7 * flag}}}}"\n',
    "unnamed": f'{THREE}doc_to_target: "of no choice"\n',
    "uneven": f"{TEXT}doc_to_choice: uneven\ndoc_to_target: flag\n",
}


@pytest.fixture(scope="module")
def lm_eval(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lm_eval")
    (folder / "docs.jsonl").write_text(JSON_LINES)
    shutil.copytree(ROOT / "ecuas_metric" / "integrations" / "lm_eval_tasks", folder / "tasks")
    data = f"dataset_path: json\ndataset_kwargs: {{data_files: {{test: {folder / 'docs.jsonl'}}}}}\ntest_split: test\n"
    tasks = {
        name: f"include: _ecuas_template.yaml\ntask: {name}\n{data}{text}"
        for name, text in LM_EVAL.items()
    }
    plain = "metric_list: [{metric: acc}, {metric: acc_norm}, {metric: acc_bytes}]\n"
    tasks["plain"] = f"task: plain\noutput_type: multiple_choice\n{data}{LABEL}{plain}"
    mean = "aggregate_metric_list: [{metric: ecuas_1, aggregation: mean, weight_by_size: true}]\n"
    tasks["group"] = f"group: together\ntask: [index, computed]\n{mean}"
    for name, text in tasks.items():
        (folder / "tasks" / f"{name}.yaml").write_text(text)
    names = ",".join(["together", "plain", *LM_EVAL.keys() - {"index", "computed"}])
    arguments = [
        "--model",
        "dummy",
        "--tasks",
        names,
        "--include_path",
        "tasks",
        "--output_path",
        "out",
    ]
    said = run("lm-eval", folder, "-m", "lm_eval", *arguments, "--log_samples").stderr
    (results,) = (folder / "out").rglob("results_*.json")
    live = {}
    for task, values in json.loads(results.read_text())["results"].items():
        for key, value in values.items():
            metric, _, chosen = key.partition(",")
            live.setdefault(f"{task} {chosen}".removesuffix(" none"), {})[metric] = value

    def read(task, *flags):
        return score(folder / "out", "--tasks", task.split()[0], *flags)

    def expected(task, **options):
        name, _, chosen = task.partition(" ")
        (file,) = (folder / "out").rglob(f"samples_{name}_*.jsonl")
        lines = [
            line
            for line in map(json.loads, file.read_text().splitlines())
            if line["filter"] in (chosen, "none")
        ]
        number = 2 if task in ("computed", "contexts") else 3  # others come after them
        scores = [[float(pair[0]) for pair in line["filtered_resps"]][:number] for line in lines]
        return of_choices(
            [(line["doc"]["question"], of) for line, of in zip(lines, scores, strict=True)],
            task,
            **options,
        )

    return Ran(folder / "out", live, said, read, expected)


LIGHTEVAL_RUN = """
import sys, types
offline = types.ModuleType("lighteval.tasks.tasks.tiny_benchmarks")  # the module fetches a file when it is imported
offline.TASKS_TABLE = []
sys.modules[offline.__name__] = offline
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.dummy.dummy_model import DummyModelConfig
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

own = {"custom_tasks_directory": "own.py", "bootstrap_iters": 2}
def ran(tasks, folder, **more):
    parameters = PipelineParameters(launcher_type=ParallelismManager.NONE, **own, **more)
    tracker = EvaluationTracker(output_dir=folder, save_details=True)
    pipeline = Pipeline(tasks, parameters, tracker, model_config=DummyModelConfig())
    pipeline.evaluate()
    pipeline.save_and_push_results()

ran(",".join(f"{name}|0" for name in sys.argv[1:]), "out")
ran("index|0", "limited", max_samples=10)
"""
LIGHTEVAL_TASKS = """
from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc
from ecuas_metric.integrations.lighteval import ecuas_metrics

def made(name, gold):
    def prompt(line, task_name=None):
        choices = {"computed": ["yes", "no"], "uneven": line["uneven"]}.get(name, line["choices"])
        texts, of = [" " + text for text in choices], {"weight": line["weight"]}
        return Doc(task_name=task_name, query=line["question"], choices=texts, gold_index=gold(line), specific=of)
    return prompt

where = {"hf_repo": "data", "hf_subset": "default", "hf_avail_splits": ["test"], "evaluation_splits": ["test"]}
TASKS_TABLE = [
    LightevalTaskConfig(
        name=name,
        prompt_function=made(name, eval(f"lambda line: {gold}")),
        metrics=[ecuas_metrics(), *([Metrics.loglikelihood_acc] if name == "stock" else [])],
        **where,
    )
    for name, gold in GOLD.items()
]
"""
LIGHTEVAL = {  # what the prompt function of each task takes for the right choice
    **dict.fromkeys(("index", "group:a", "stock"), 'line["label"]'),
    **dict.fromkeys(("other", "group:b"), 'line["noisy"]'),
    **dict.fromkeys(("absent", "uneven"), 'line["flag"]'),
    "list_of_one": '[line["label"]]',
    "computed": '1 - line["flag"]',
    "several": 'line["golds"]',
    "sometimes": '[0, 1] if line["flag"] else [line["label"]]',
}


@pytest.fixture(scope="module")
def lighteval(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lighteval")
    (folder / "data").mkdir()
    for name, text in (
        ("data/test.jsonl", JSON_LINES),
        ("own.py", f"GOLD = {LIGHTEVAL}{LIGHTEVAL_TASKS}"),
        ("run.py", LIGHTEVAL_RUN),
    ):
        (folder / name).write_text(text)
    done = run("lighteval", folder, "run.py", *LIGHTEVAL)
    (results,) = (folder / "out").rglob("results_*.json")
    live = {
        name.removesuffix("|0"): of
        for name, of in json.loads(results.read_text())["results"].items()
    }

    def read(task, *flags):
        return score(folder / "out", "--tasks", f"{task}|0", *flags)

    def expected(task, out="out", **options):
        (file,) = (folder / out).rglob(f"details_{task}|0_*.parquet")
        rows = pq.read_table(file, columns=["doc", "model_response"]).to_pylist()
        return of_choices(
            [(row["doc"]["query"], row["model_response"]["logprobs"]) for row in rows],
            task,
            **options,
        )

    return Ran(folder / "out", live, done.stdout + done.stderr, read, expected)


# what the reader must be told
FLAGS = {"filters one": ("--filter", "one"), "filters two": ("--filter", "two")}
SEVERAL_RIGHT = "must have one right choice in each sample"
REFUSED = {
    **dict.fromkeys(
        (("lm_eval", task) for task in ("several", "outside", "unnamed")), SEVERAL_RIGHT
    ),
    ("lm_eval", "kept"): "must have one log-likelihood of each choice",
    **dict.fromkeys((("lighteval", task) for task in ("several", "sometimes")), SEVERAL_RIGHT),
}
TASKS = {"lm_eval": [*LM_EVAL, "filters one", "filters two"], "lighteval": LIGHTEVAL}
AGREE = [
    (tool, task)
    for tool, tasks in TASKS.items()
    for task in tasks
    if task not in ("filters", "uneven")
]


@pytest.mark.parametrize(("tool", "task"), [case for case in AGREE if case not in REFUSED])
def test_plug_in_reader_and_arithmetic_agree(request, tool, task):
    ran = request.getfixturevalue(tool)
    expected, (rows, said) = ran.expected(task), ran.read(task, *FLAGS.get(task, ()))
    ((row,), live) = rows.values(), ran.live[task]
    assert close(row, expected), said
    assert close(
        row, {name: live[name] for name in (["ecuas_1"] if task == "mutual" else HIGHER_IS_BETTER)}
    )
    if task in ("mutual", "stock"):  # beside the tool's own metrics
        assert live["acc"] == pytest.approx(1 - row["error_rate"])


@pytest.mark.parametrize(("tool", "task"), REFUSED)
def test_what_the_reader_refuses_is_nan_for_the_same_reason_and_ends_nothing(request, tool, task):
    ran = request.getfixturevalue(tool)
    live, (rows, refused), why = ran.live[task], ran.read(task), REFUSED[tool, task]
    assert all(math.isnan(live[name]) for name in HIGHER_IS_BETTER)
    assert (rows, why in refused, why in ran.said) == ({}, True, True)


@pytest.mark.parametrize(
    ("tool", "weight", "group", "members"),
    [
        ("lm_eval", "doc.weight", "together", ("index", "computed")),
        ("lighteval", "doc.specific.weight", "group:_average", ("group:a", "group:b")),
    ],
)
def test_questions_have_weights_and_any_number_of_choices_and_tasks_have_groups(
    request, tool, weight, group, members
):
    ran = request.getfixturevalue(tool)
    rows, said = ran.read("index", "--weight", weight)
    assert close(*rows.values(), ran.expected("index", weighted=True))
    assert "40 samples with weights that add up to 100" in said
    assert math.isnan(ran.live["uneven"]["ecuas_1"])
    assert "must be as many in every question" in ran.said
    assert sorted(name.rpartition(", ")[2] for name in ran.read("uneven")[0]) == [
        "2 choices",
        "3 choices",
    ]
    mean = np.mean([ran.live[task]["ecuas_1"] for task in members])
    assert ran.live[group]["ecuas_1"] == pytest.approx(mean, abs=1e-12)


def test_lm_evals_filters_are_asked_for_and_its_own_tasks_are_read(lm_eval):
    assert "has several filters" in lm_eval.read("filters")[1]
    for length, name in BY_LENGTH.items():
        (row,) = lm_eval.read("plain", "--choice-length", length)[0].values()
        assert lm_eval.live["plain"][name or "acc"] == pytest.approx(
            1 - row["error_rate"], abs=1e-12
        )


def test_fewer_samples_of_lighteval_are_those_that_were_run(lighteval):
    rows, said = score(lighteval.out.with_name("limited"))
    assert close(*rows.values(), lighteval.expected("index", "limited"))
    assert "10 questions" in said

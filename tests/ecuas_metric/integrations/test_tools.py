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
TRUTH = {
    "computed": "not_flag",
    "other": "noisy",
    "group:b": "noisy",
    "absent": "flag",
    "contexts": "flag",
}  # else label


def of_choices(samples, task, weighted=False):
    """Return arithmetic of pairs of the text of a question and the log-likelihoods of its choices."""
    questions = {question["question"]: question for question in QUESTIONS}
    asked, posteriors = [questions[text] for text, _ in samples], softmax([scores for _, scores in samples], axis=1)
    correct = posteriors.argmax(axis=1) == [question[TRUTH.get(task, "label")] for question in asked]
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
    tasks = {name: f"include: _ecuas_template.yaml\ntask: {name}\n{data}{text}" for name, text in LM_EVAL.items()}
    plain = "metric_list: [{metric: acc}, {metric: acc_norm}, {metric: acc_bytes}]\n"
    tasks["plain"] = f"task: plain\noutput_type: multiple_choice\n{data}{LABEL}{plain}"
    mean = "aggregate_metric_list: [{metric: ecuas_1, aggregation: mean, weight_by_size: true}]\n"
    tasks["group"] = f"group: together\ntask: [index, computed]\n{mean}"
    for name, text in tasks.items():
        (folder / "tasks" / f"{name}.yaml").write_text(text)
    names = ",".join(["together", "plain", *LM_EVAL.keys() - {"index", "computed"}])
    arguments = ["--model", "dummy", "--tasks", names, "--include_path", "tasks", "--output_path", "out"]
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
        lines = [line for line in map(json.loads, file.read_text().splitlines()) if line["filter"] in (chosen, "none")]
        number = 2 if task in ("computed", "contexts") else 3  # others come after them
        scores = [[float(pair[0]) for pair in line["filtered_resps"]][:number] for line in lines]
        return of_choices(
            [(line["doc"]["question"], of) for line, of in zip(lines, scores, strict=True)], task, **options
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
    live = {name.removesuffix("|0"): of for name, of in json.loads(results.read_text())["results"].items()}

    def read(task, *flags):
        return score(folder / "out", "--tasks", f"{task}|0", *flags)

    def expected(task, out="out", **options):
        (file,) = (folder / out).rglob(f"details_{task}|0_*.parquet")
        rows = pq.read_table(file, columns=["doc", "model_response"]).to_pylist()
        return of_choices([(row["doc"]["query"], row["model_response"]["logprobs"]) for row in rows], task, **options)

    return Ran(folder / "out", live, done.stdout + done.stderr, read, expected)


INSPECT_RUN = """
import json, os, sys
from inspect_ai import Epochs, Task, eval, eval_set, task
from inspect_ai.dataset import Sample
from inspect_ai.log import write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, grouped, includes, scorer
from ecuas_metric.integrations.inspect_ai import answer_with_confidence, ecuas

def model(replies):
    outputs = [ModelOutput.from_content("mockllm/model", reply) for reply in replies]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else a tokenizer is fetched
    return get_model("mockllm/model", custom_outputs=outputs)

def scores(values, metadata=False, **options):  # a scorer with given values and confidences, and samples for it
    colours = [grouped(ecuas(only="ecuas_1"), "colour")] if metadata else []  # needs one number
    @scorer(metrics=[accuracy(), ecuas(**options), *colours])
    def given():
        async def score(state, target):
            value, confidence = values[(int(state.sample_id) + 2 * (state.epoch - 1)) % len(values)]
            if value == "raise":
                raise ValueError("this sample fails")
            if value == "exit":
                os._exit(3)
            return Score(value=value, metadata={"confidence": confidence})
        return score
    return given()

def samples(count, weighted=False):
    more = [{"metadata": {"weight": 1.0 + i, "colour": "ab"[i % 2]}} if weighted else {} for i in range(count)]
    return [Sample(id=i, input="?", target="x", **more[i]) for i in range(count)]

def ran(name, replies, scorer, dataset=None, **settings):
    dataset = samples(len(replies)) if dataset is None else dataset
    more = {"model": model(replies), "log_dir": f"out/{name}", "display": "log", "max_samples": 1, **settings}
    (log,) = eval(Task(scorer=scorer, dataset=dataset, name=name), **more)
    found = [] if log.results is None else log.results.scores
    live = [{key: metric.value for key, metric in each.metrics.items() if metric.group == "ecuas"} for each in found]
    print(json.dumps({"task": name, "status": log.status, "live": [one for one in live if one]}), flush=True)
    return log

pairs = [("Paris", ["Lutetia", "Paris"]), ("100", "10"), ("not Oslo", "Oslo"), ("10", ["10"]), ("paris.", "Paris")]
dataset = [Sample(id=i, input="?", target=target) for i, (_, target) in enumerate(pairs)]
stated = ["(85 %)", "(90%)", "(99 percent)", ", 0.5", "(confidence: 0.25)"]
answers = [f"{answer} {confidence}" for (answer, _), confidence in zip(pairs, stated)]
ran("graded", answers, answer_with_confidence(), dataset)
ran("included", answers, answer_with_confidence(grader=includes()), dataset)
replies = ["Lutetia (85)", "10 (100)", "Oslo (0)", "10 (50)", "Rome (25)"]
ran("scaled", replies, answer_with_confidence(scale=100), dataset)
replies = ["Paris", "10 (20 %)", "1", "10 (50 %)", "Rome (30 %)"]
ran("missing", replies, answer_with_confidence(), dataset)
ran("replaced", replies, answer_with_confidence(missing_confidence=0.5), dataset)

CI = [("C", 0.9), ("I", 0.6), ("C", 0.3), ("I", 0.2), ("I", 0.7)]
ran("text", "abcde", scores([("C", "0.9"), ("I", "60%"), (1, "0.3"), (False, "20 %"), ("no", 0.7)]))
ran("partial_grade", "abcde", scores([("P", 0.9), *CI[1:]]))
ran("from_half", "abcde", scores([("P", 0.9), *CI[1:]], correct_from=0.5))
ran("weighted", "abcde", scores(CI, metadata=True), samples(5, weighted=True))
ran("right", "abc", scores([("C", 0.9), ("C", 0.6), ("C", 0.7)]))
ran("limited", "ab", scores(CI), samples(5), limit=2)
ran("unscored", "abcde", scores([(float("nan"), 0.9), *CI[1:]]))
ran("one_raised", "abcde", scores([*CI[:4], ("raise", 0.7)]), fail_on_error=False)
ran("stopped", "abcde", scores([*CI[:4], ("raise", 0.7)]))
ran("json", "abcde", scores(CI), log_format="json")
ran("two", ["a (50 %)", *"bcde"], [scores(CI), answer_with_confidence(missing_confidence=0.5)])
ran("lopsided", "abcde", scores([("C", 1.5), *CI[1:]]))
ran("odd", "abcde", scores([("X", 0.9), *CI[1:]]))
ran("retried", "abcde", scores([*CI[:4], ("raise", 0)]), samples(5), retry_on_error=1, fail_on_error=0.5)
for name, reducer in {"": None, "mode": "mode", "pass_at_2": "pass_at_2", "two": ["mean", "at_least_2"]}.items():
    ran(f"epochs{name}", "abcdef", scores(CI), samples(2), epochs=Epochs(3, reducer))
log = ran("cancelled", "abcde", scores(CI))
log.status, log.samples = "cancelled", log.samples[:3]
write_eval_log(log, log.location)

@task
def one():
    return Task(dataset=samples(5), scorer=scores(CI))
eval_set([one()], log_dir="out/set", model=model("abcde"), display="none")
ran("killed", "abcde", scores([*CI[:3], ("exit", 0), ("C", 0)]), log_buffer=1)
"""
C, Q = [1, 0, 1, 0, 0], [0.9, 0.6, 0.3, 0.2, 0.7]
STATED = [0.85, 0.9, 0.99, 0.5, 0.25]
INSPECT = {  # correct, confidences and perhaps weights of tasks
    "graded": ([1, 0, 0, 1, 1], STATED),
    "included": ([1, 1, 1, 1, 1], STATED),
    "scaled": ([1, 1, 1, 1, 0], [0.85, 1.0, 0.0, 0.5, 0.25]),
    "replaced": ([1, 1, 0, 1, 0], [0.5, 0.2, 0.5, 0.5, 0.3]),
    "weighted": (C, Q, 1.0, [1, 2, 3, 4, 5]),
    "right": ([1, 1, 1], [0.9, 0.6, 0.7]),
    "limited": (C[:2], Q[:2]),
    "unscored": (C[1:], Q[1:]),
    **dict.fromkeys(("text", "from_half", "json", "two"), (C, Q)),
    **dict.fromkeys(("one_raised", "retried"), (C[:4], Q[:4])),
    **dict.fromkeys(("epochs", "epochsmode", "epochspass_at_2", "epochstwo"), ([1, 0, 1, 0, 0, 1], [*Q, 0.9])),
}


@pytest.fixture(scope="module")
def inspect(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    (folder / "script.py").write_text(INSPECT_RUN)
    done = run("inspect", folder, "script.py", code=3)  # the last task kills the process
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"task"')]
    assert [line["task"] for line in lines if line["status"] != "success"] == ["stopped"]
    live = {line["task"]: line["live"][0] for line in lines if line["live"]}

    def read(task, *flags):
        return score(folder / "out" / task, *flags)

    return Ran(folder / "out", live, done.stdout + done.stderr, read, lambda task: arithmetic(*INSPECT[task]))


FLAGS = {  # what the reader must be told
    "filters one": ("--filter", "one"),
    "filters two": ("--filter", "two"),
    "replaced": ("--missing-confidence", "0.5"),
    "from_half": ("--correct-from", "0.5"),
    "unscored": ("--unlabelled", "drop"),
    "two": ("--filter", "given"),
}
NOTES = {
    "weighted": "5 samples with weights that add up to 15",
    **dict.fromkeys(("one_raised", "retried"), "4 of 5 planned samples are scored"),
}
SEVERAL_RIGHT = "must have one right choice in each sample"
REFUSED = {
    **dict.fromkeys((("lm_eval", task) for task in ("several", "outside", "unnamed")), SEVERAL_RIGHT),
    ("lm_eval", "kept"): "must have one log-likelihood of each choice",
    **dict.fromkeys((("lighteval", task) for task in ("several", "sometimes")), SEVERAL_RIGHT),
    ("inspect", "missing"): "must not be NaN",
    ("inspect", "partial_grade"): "must be 0 (incorrect) or 1 (correct); got 0.5",
    ("inspect", "lopsided"): "must lie on one scale; 4 of 5 lie in [0, 1]; got 1.5",
    ("inspect", "odd"): "must be scored as right or wrong: C, I, P, N, or a number; got 'X'",
}
TASKS = {"lm_eval": [*LM_EVAL, "filters one", "filters two"], "lighteval": LIGHTEVAL, "inspect": INSPECT}
AGREE = [(tool, task) for tool, tasks in TASKS.items() for task in tasks if task not in ("filters", "uneven")]


@pytest.mark.parametrize(("tool", "task"), [case for case in AGREE if case not in REFUSED])
def test_plug_in_reader_and_arithmetic_agree(request, tool, task):
    ran = request.getfixturevalue(tool)
    expected, (rows, said) = ran.expected(task), ran.read(task, *FLAGS.get(task, ()))
    ((row,), live) = rows.values(), ran.live[task]
    assert close(row, expected), said
    names = ["ecuas_1"] if task == "mutual" else expected if tool == "inspect" else HIGHER_IS_BETTER
    assert close(row, {name: live[name] for name in names})
    assert NOTES.get(task, "") in said
    if tool == "inspect":
        assert live["samples"] == len(INSPECT[task][0])
    if task in ("mutual", "stock"):  # beside the tool's own metrics
        assert live["acc"] == pytest.approx(1 - row["error_rate"])


@pytest.mark.parametrize(("tool", "task"), REFUSED)
def test_what_the_reader_refuses_is_nan_for_the_same_reason_and_ends_nothing(request, tool, task):
    ran = request.getfixturevalue(tool)
    live, (rows, refused), why = ran.live[task], ran.read(task), REFUSED[tool, task]
    assert all(math.isnan(live[name]) for name in (HIGHER_IS_BETTER if tool != "inspect" else ["ecuas_0", "ecuas_1"]))
    assert live.get("missing_confidences", 0) == (2 if task == "missing" else 0)
    assert (rows, why in refused, why in ran.said) == ({}, True, True)


@pytest.mark.parametrize(
    ("tool", "weight", "group", "members"),
    [
        ("lm_eval", "doc.weight", "together", ("index", "computed")),
        ("lighteval", "doc.specific.weight", "group:_average", ("group:a", "group:b")),
    ],
)
def test_questions_have_weights_and_any_number_of_choices_and_tasks_have_groups(request, tool, weight, group, members):
    ran = request.getfixturevalue(tool)
    rows, said = ran.read("index", "--weight", weight)
    assert close(*rows.values(), ran.expected("index", weighted=True))
    assert "40 samples with weights that add up to 100" in said
    assert math.isnan(ran.live["uneven"]["ecuas_1"])
    assert "must be as many in every question" in ran.said
    assert sorted(name.rpartition(", ")[2] for name in ran.read("uneven")[0]) == ["2 choices", "3 choices"]
    mean = np.mean([ran.live[task]["ecuas_1"] for task in members])
    assert ran.live[group]["ecuas_1"] == pytest.approx(mean, abs=1e-12)


def test_lm_evals_filters_are_asked_for_and_its_own_tasks_are_read(lm_eval):
    assert "has several filters" in lm_eval.read("filters")[1]
    for length, name in BY_LENGTH.items():
        (row,) = lm_eval.read("plain", "--choice-length", length)[0].values()
        assert lm_eval.live["plain"][name or "acc"] == pytest.approx(1 - row["error_rate"], abs=1e-12)


def test_fewer_samples_of_lighteval_are_those_that_were_run(lighteval):
    rows, said = score(lighteval.out.with_name("limited"))
    assert close(*rows.values(), lighteval.expected("index", "limited"))
    assert "10 questions" in said


@pytest.mark.parametrize(
    ("task", "status", "scored"), [("stopped", "error", 4), ("cancelled", "cancelled", 3), ("killed", "started", 3)]
)
def test_runs_of_inspect_that_did_not_end_are_named_and_read_only_if_asked_for(inspect, task, status, scored):
    rows, said = inspect.read(task)
    assert rows == {}
    assert f"status {status}, {scored} of 5 planned samples scored. --partial" in said
    rows, said = inspect.read(task, "--partial")
    assert f"partial: {scored} of 5 planned samples are scored, status {status}" in said
    assert close(*rows.values(), arithmetic(C[:scored], Q[:scored]))


def test_unlabelled_answers_are_bounded_scorers_are_systems_and_eval_sets_are_read(inspect):
    (row,) = inspect.read("unscored")[0].values()
    bounds = [arithmetic([c, *C[1:]], Q)["ecuas_1"] for c in (1, 0)]
    assert [row["ecuas_1_min"], row["ecuas_1_max"]] == pytest.approx(bounds, abs=1e-12)
    rows, _ = inspect.read("two", "--missing-confidence", "0.5")
    assert sorted(rows) == ["mockllm/model answer_with_confidence", "mockllm/model given"]
    assert close(rows["mockllm/model given"], arithmetic(C, Q))
    assert (inspect.out / "set" / "eval-set.json").exists()
    assert close(*inspect.read("set")[0].values(), arithmetic(C, Q))

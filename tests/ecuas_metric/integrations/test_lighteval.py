import json
import math

import pyarrow.parquet as pq
import pytest

from ecuas_metric.integrations.choices import HIGHER_IS_BETTER
from tests.ecuas_metric.integrations.live import close, of_choices, questions, run, score

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]
RUN = """
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
OWN = """
from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc
from ecuas_metric.integrations.lighteval import ecuas_metrics

def made(choices, gold):
    def prompt(line, task_name=None):
        texts = [" " + text for text in choices(line)]
        specific = {"weight": line["weight"]}
        return Doc(task_name=task_name, query=line["question"], choices=texts, gold_index=gold(line), specific=specific)
    return prompt

three, two = lambda line: line["choices"], lambda line: ["yes", "no"]
OWN = {
    "index": (three, lambda line: line["label"]),
    "list_of_one": (three, lambda line: [line["label"]]),
    "computed": (two, lambda line: 1 - line["flag"]),
    "other": (three, lambda line: line["noisy"]),
    "absent": (three, lambda line: line["flag"]),
    "group:a": (three, lambda line: line["label"]),
    "group:b": (three, lambda line: line["noisy"]),
    "several": (three, lambda line: [line["label"], (line["label"] + 1) % 3]),
    "sometimes": (three, lambda line: [0, 1] if line["flag"] else [line["label"]]),
    "uneven": (lambda line: line["choices"][: 2 + line["flag"]], lambda line: line["flag"]),
    "stock": (three, lambda line: line["label"]),
}
where = {"hf_repo": "data", "hf_subset": "default", "hf_avail_splits": ["test"], "evaluation_splits": ["test"]}
TASKS_TABLE = [
    LightevalTaskConfig(
        name=name,
        prompt_function=made(*how),
        metrics=[ecuas_metrics(), *([Metrics.loglikelihood_acc] if name == "stock" else [])],
        **where,
    )
    for name, how in OWN.items()
]
"""
TRUTH = {  # the field of ours that has the truth; None where no choice is the right one in some sample
    **dict.fromkeys(("index", "list_of_one", "group:a", "stock"), "label"),
    **{"computed": "not_flag", "other": "noisy", "group:b": "noisy", "absent": "flag"},
    **dict.fromkeys(("several", "sometimes", "uneven")),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lighteval")
    docs = questions()
    (folder / "data").mkdir()
    (folder / "data" / "test.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (folder / "own.py").write_text(OWN)
    (folder / "run.py").write_text(RUN)
    done = run("lighteval", folder, "run.py", *TRUTH)
    (results,) = (folder / "out").rglob("results_*.json")
    found = {doc["question"]: doc for doc in docs}
    return found, folder, json.loads(results.read_text())["results"], done.stdout + done.stderr


def expected(docs, out, task, field, weight=False):
    (file,) = out.rglob(f"details_{task}|0_*.parquet")
    rows = pq.read_table(file, columns=["doc", "model_response"]).to_pylist()
    of = [docs[row["doc"]["query"]] for row in rows]
    weights = [doc["weight"] for doc in of] if weight else None
    return of_choices([doc[field] for doc in of], [row["model_response"]["logprobs"] for row in rows], weights)


@pytest.mark.parametrize("task", [task for task, field in TRUTH.items() if field])
def test_plug_in_reader_and_arithmetic_agree(ran, task):
    docs, folder, live, _ = ran
    rows, said = score(folder / "out", "--tasks", f"{task}|0")
    (row,) = rows.values()
    assert close(row, expected(docs, folder / "out", task, TRUTH[task])), said
    assert close(row, {name: live[f"{task}|0"][name] for name in HIGHER_IS_BETTER})
    if task == "stock":
        assert live[f"{task}|0"]["acc"] == pytest.approx(1 - row["error_rate"])


@pytest.mark.parametrize("task", ["several", "sometimes"])
def test_several_right_choices_are_refused_by_the_reader_and_nan_in_the_plug_in(ran, task):
    _, folder, live, logged = ran
    assert all(math.isnan(live[f"{task}|0"][name]) for name in HIGHER_IS_BETTER)
    rows, said = score(folder / "out", "--tasks", f"{task}|0")
    rule = "must have one right choice in each sample"
    assert (rows, rule in said, rule in logged) == ({}, True, True)


def test_differing_numbers_of_choices_groups_weights_and_fewer_samples(ran):
    docs, folder, live, logged = ran
    assert math.isnan(live["uneven|0"]["ecuas_1"])
    assert "must be as many in every question" in logged
    assert sorted(score(folder / "out", "--tasks", "uneven|0")[0]) == [f"dummy uneven|0, {k} choices" for k in (2, 3)]
    parts = [live[f"group:{name}|0"]["ecuas_1"] for name in "ab"]
    assert live["group:_average|0"]["ecuas_1"] == pytest.approx(sum(parts) / 2)
    rows, said = score(folder / "out", "--tasks", "index|0", "--weight", "doc.specific.weight")
    assert close(next(iter(rows.values())), expected(docs, folder / "out", "index", "label", weight=True))
    assert "40 samples with weights that add up to 100" in said
    rows, said = score(folder / "limited")
    assert close(next(iter(rows.values())), expected(docs, folder / "limited", "index", "label"))
    assert "10 questions" in said

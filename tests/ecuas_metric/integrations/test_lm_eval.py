import json
import math
import shutil

import pytest

from ecuas_metric.files.runs.lm_eval import BY_LENGTH
from ecuas_metric.integrations.choices import HIGHER_IS_BETTER
from tests.conftest import ROOT
from tests.ecuas_metric.integrations.live import close, of_choices, questions, run, score

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]
TEXT = 'doc_to_text: "{{question}}"\n'
THREE = f"{TEXT}doc_to_choice: choices\n"
TWO = f'{TEXT}doc_to_choice: ["yes", "no"]\n'
FIRST = "filter: [{function: take_first}]"
BOTH = f"filter_list: [{{name: one, {FIRST}}}, {{name: two, {FIRST}}}]\n"
ALL = "filter_list: [{name: none, filter: [{function: take_first_k, k: 2}]}]\n"
OURS = "{metric: ecuas_1, aggregation: !function utils.ecuas_1}"
PARTS = f"metric_list: [{{metric: acc}}, {{metric: acc_mutual_info}}, {OURS}]\n"
TASKS = {  # the YAML of a task, and which field of our own has the truth
    "index": (f"{THREE}doc_to_target: label\n", "label"),
    "letter": (f'{TEXT}doc_to_choice: ["A", "B", "C"]\ndoc_to_target: "{{{{\'ABC\'[label]}}}}"\n', "label"),
    "text": (f'{THREE}doc_to_target: "{{{{choices[label]}}}}"\n', "label"),
    "computed": (f'{TWO}doc_to_target: "{{{{1 - flag}}}}"\n', "not_flag"),  # beside a field `label`
    "other": (f'{THREE}doc_to_target: "{{{{noisy}}}}"\n', "noisy"),
    "list_of_one": (f'{THREE}doc_to_target: "{{{{[label]}}}}"\n', "label"),
    "absent": (f"{THREE}doc_to_target: never_last\n", "never_last"),
    "repeats": (f"{THREE}doc_to_target: label\nrepeats: 3\n", "label"),
    "contexts": (
        'doc_to_text: "{{flag}}"\ndoc_to_choice: "{{[question, choices[0]]}}"\ndoc_to_target: "{{choices[1]}}"\n',
        "flag",
    ),
    "mutual": (f"{THREE}doc_to_target: label\n{PARTS}", "label"),
    "filters": (f"{THREE}doc_to_target: label\n{BOTH}", "label"),
    "delimiter": (f'{THREE}doc_to_target: label\ntarget_delimiter: ""\n', "label"),
    "shots": (f"{THREE}doc_to_target: label\nfewshot_split: test\nnum_fewshot: 2\n", "label"),
    "kept": (f"{THREE}doc_to_target: label\nrepeats: 2\n{ALL}", None),
    "several": (f"{THREE}doc_to_target: golds\n", None),
    "outside": (f'{THREE}doc_to_target: "{{{{label + 7 * flag}}}}"\n', None),
    "unnamed": (f'{THREE}doc_to_target: "of no choice"\n', None),
    "uneven": ('doc_to_text: "{{question}}"\ndoc_to_choice: uneven\ndoc_to_target: flag\n', None),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run all tasks at once: samples and results of each."""
    folder = tmp_path_factory.mktemp("lm_eval")
    docs = questions()
    (folder / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    shutil.copytree(ROOT / "ecuas_metric" / "integrations" / "lm_eval_tasks", folder / "tasks")
    data = f"dataset_path: json\ndataset_kwargs: {{data_files: {{test: {folder / 'docs.jsonl'}}}}}\ntest_split: test\n"
    for name, (text, _) in TASKS.items():
        (folder / "tasks" / f"{name}.yaml").write_text(f"include: _ecuas_template.yaml\ntask: {name}\n{data}{text}")
    plain = "metric_list: [{metric: acc}, {metric: acc_norm}, {metric: acc_bytes}]\n"
    text = f"task: plain\noutput_type: multiple_choice\n{data}{THREE}doc_to_target: label\n{plain}"
    (folder / "tasks" / "plain.yaml").write_text(text)
    mean = "aggregate_metric_list: [{metric: ecuas_1, aggregation: mean, weight_by_size: true}]\n"
    (folder / "tasks" / "group.yaml").write_text(f"group: together\ntask: [index, computed]\n{mean}")
    names = ",".join(["together", "plain", *TASKS.keys() - {"index", "computed"}])
    arguments = ["--model", "dummy", "--tasks", names, "--include_path", "tasks", "--output_path", "out"]
    said = run("lm-eval", folder, "-m", "lm_eval", *arguments, "--log_samples").stderr
    (results,) = (folder / "out").rglob("results_*.json")
    return docs, folder / "out", json.loads(results.read_text()), said


def expected(docs, out, field, chosen="none", weight=False):
    (file,) = out.rglob(f"samples_{chosen[0]}_*.jsonl") if isinstance(chosen, tuple) else ()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines = [line for line in lines if line["filter"] == chosen[1]]
    truth = [docs[line["doc_id"]][field] for line in lines]
    weights = [docs[line["doc_id"]]["weight"] for line in lines] if weight else None
    number = len(lines[0]["doc"]["choices"]) if field in ("label", "noisy", "never_last") else 2
    return of_choices(truth, [[float(pair[0]) for pair in line["filtered_resps"]][:number] for line in lines], weights)


@pytest.mark.parametrize("task", [name for name, (_, field) in TASKS.items() if field])
def test_plug_in_reader_and_arithmetic_agree(ran, task):
    docs, out, results, _ = ran
    for chosen in ("one", "two") if task == "filters" else ("none",):
        live = {name: results["results"][task].get(f"{name},{chosen}") for name in HIGHER_IS_BETTER}
        truth = expected(docs, out, TASKS[task][1], (task, chosen))
        rows, said = score(out, "--tasks", task, *(["--filter", chosen] if task == "filters" else []))
        (row,) = rows.values()
        assert close(row, truth), said
        shown = {name: value for name, value in live.items() if value is not None}
        assert close(row, shown)
        assert len(shown) == (1 if task == "mutual" else len(HIGHER_IS_BETTER))
        if task == "mutual":
            assert results["results"][task]["acc,none"] == pytest.approx(1 - truth["error_rate"])
    if task == "filters":
        assert "has several filters" in score(out, "--tasks", task)[1]


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ("several", "must have one right choice in each sample"),
        ("outside", "must have one right choice in each sample"),
        ("unnamed", "must have one right choice in each sample"),
        ("kept", "must have one log-likelihood of each choice"),
    ],
)
def test_what_the_reader_refuses_is_nan_for_the_same_reason(ran, task, why):
    _, out, results, said = ran
    assert all(math.isnan(results["results"][task][f"{name},none"]) for name in HIGHER_IS_BETTER)
    assert why in said
    rows, refused = score(out, "--tasks", task)
    assert (rows, why in refused) == ({}, True)


def test_questions_with_differing_numbers_of_choices(ran):
    _, out, results, said = ran
    assert math.isnan(results["results"]["uneven"]["ecuas_1,none"])
    assert "must be as many in every question" in said
    systems = sorted(score(out, "--tasks", "uneven")[0])
    assert [name.rpartition(" uneven, ")[2] for name in systems] == ["2 choices", "3 choices"]


def test_groups_weights_and_tasks_without_the_plug_in(ran):
    docs, out, results, _ = ran
    parts = [results["results"][task]["ecuas_1,none"] for task in ("index", "computed")]
    assert results["results"]["together"]["ecuas_1,none"] == pytest.approx(sum(parts) / 2, abs=1e-12)
    rows, said = score(out, "--tasks", "index", "--weight", "doc.weight")
    assert close(next(iter(rows.values())), expected(docs, out, "label", ("index", "none"), weight=True))
    assert "40 samples with weights that add up to 100" in said
    for length, name in BY_LENGTH.items():
        rows, _ = score(out, "--tasks", "plain", "--choice-length", length)
        right = 1 - next(iter(rows.values()))["error_rate"]
        assert results["results"]["plain"][f"{name or 'acc'},none"] == pytest.approx(right, abs=1e-12)

import json
import math

import pytest

from tests.ecuas_metric.integrations.live import arithmetic, close, run, score

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]
PREPARED = """
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

def ran(name, replies, **settings):
    what = {"scorer": settings.pop("scorer"), "dataset": settings.pop("dataset")}
    more = {"model": model(replies), "log_dir": f"out/{name}", "display": "log", "max_samples": 1, **settings}
    (log,) = eval(Task(**what, name=name), **more)
    found = [] if log.results is None else log.results.scores
    live = [{key: metric.value for key, metric in each.metrics.items() if metric.group == "ecuas"} for each in found]
    print(json.dumps({"task": name, "status": log.status, "live": [one for one in live if one]}), flush=True)
    return log
"""
GRADED = """
pairs = [("Paris", ["Lutetia", "Paris"]), ("100", "10"), ("not Oslo", "Oslo"), ("10", ["10"]), ("paris.", "Paris")]
dataset = [Sample(id=i, input="?", target=target) for i, (_, target) in enumerate(pairs)]
stated = ["(85 %)", "(90%)", "(99 percent)", ", 0.5", "(confidence: 0.25)"]
ran("graded", [f"{a} {c}" for (a, _), c in zip(pairs, stated)], dataset=dataset, scorer=answer_with_confidence())
ran("included", [f"{a} {c}" for (a, _), c in zip(pairs, stated)], dataset=dataset,
    scorer=answer_with_confidence(grader=includes()))
ran("scaled", ["Lutetia (85)", "10 (100)", "Oslo (0)", "10 (50)", "Rome (25)"], dataset=dataset,
    scorer=answer_with_confidence(scale=100))
replies = ["Paris", "10 (20 %)", "1", "10 (50 %)", "Rome (30 %)"]
ran("missing", replies, dataset=dataset, scorer=answer_with_confidence())
ran("replaced", replies, dataset=dataset, scorer=answer_with_confidence(missing_confidence=0.5))

CI = [("C", 0.9), ("I", 0.6), ("C", 0.3), ("I", 0.2), ("I", 0.7)]
words = [("C", "0.9"), ("I", "60%"), (1, "0.3"), (False, "20 %"), ("no", 0.7)]
ran("text", "abcde", dataset=samples(5), scorer=scores(words))
ran("partial_grade", "abcde", dataset=samples(5), scorer=scores([("P", 0.9), *CI[1:]]))
ran("from_half", "abcde", dataset=samples(5), scorer=scores([("P", 0.9), *CI[1:]], correct_from=0.5))
ran("weighted", "abcde", dataset=samples(5, weighted=True), scorer=scores(CI, metadata=True))
ran("right", "abc", dataset=samples(3), scorer=scores([("C", 0.9), ("C", 0.6), ("C", 0.7)]))
ran("limited", "ab", dataset=samples(5), scorer=scores(CI), limit=2)
ran("unscored", "abcde", dataset=samples(5), scorer=scores([(float("nan"), 0.9), *CI[1:]]))
ran("one_raised", "abcde", dataset=samples(5), scorer=scores([*CI[:4], ("raise", 0.7)]), fail_on_error=False)
ran("stopped", "abcde", dataset=samples(5), scorer=scores([*CI[:4], ("raise", 0.7)]))
ran("json", "abcde", dataset=samples(5), scorer=scores(CI), log_format="json")
both = [scores(CI), answer_with_confidence(missing_confidence=0.5)]
ran("two", ["a (50 %)", *"bcde"], dataset=samples(5), scorer=both)
ran("lopsided", "abcde", dataset=samples(5), scorer=scores([("C", 1.5), *CI[1:]]))
ran("odd", "abcde", dataset=samples(5), scorer=scores([("X", 0.9), *CI[1:]]))
ran("retried", "abcde", dataset=samples(5), scorer=scores([*CI[:4], ("raise", 0)]), retry_on_error=1, fail_on_error=0.5)
for reducer in (None, "mode", "pass_at_2", ["mean", "at_least_2"]):
    name = "epochs" + "_".join(["", *reducer] if isinstance(reducer, list) else [reducer or ""])
    ran(name, "abcdef", dataset=samples(2), scorer=scores(CI), epochs=Epochs(3, reducer))
log = ran("cancelled", "abcde", dataset=samples(5), scorer=scores(CI))
log.status, log.samples = "cancelled", log.samples[:3]
write_eval_log(log, log.location)

@task
def one():
    return Task(dataset=samples(5), scorer=scores(CI))
eval_set([one()], log_dir="out/set", model=model("abcde"), display="none")
ran("killed", "abcde", dataset=samples(5), scorer=scores([*CI[:3], ("exit", 0), ("C", 0)]), log_buffer=1)
"""
C, Q = [1, 0, 1, 0, 0], [0.9, 0.6, 0.3, 0.2, 0.7]
ALL = {  # correct, confidences, weights of tasks that plug-in and reader give numbers for, and flags of the reader
    "graded": ([1, 0, 0, 1, 1], [0.85, 0.9, 0.99, 0.5, 0.25]),
    "included": ([1, 1, 1, 1, 1], [0.85, 0.9, 0.99, 0.5, 0.25]),
    "scaled": ([1, 1, 1, 1, 0], [0.85, 1.0, 0.0, 0.5, 0.25]),
    "replaced": ([1, 1, 0, 1, 0], [0.5, 0.2, 0.5, 0.5, 0.3], None, "--missing-confidence", "0.5"),
    "text": (C, Q),
    "from_half": (C, Q, None, "--correct-from", "0.5"),
    "weighted": (C, Q, [1, 2, 3, 4, 5]),
    "right": ([1, 1, 1], [0.9, 0.6, 0.7]),
    "limited": (C[:2], Q[:2]),
    "unscored": (C[1:], Q[1:], None, "--unlabelled", "drop"),
    "one_raised": (C[:4], Q[:4]),
    "json": (C, Q),
    "epochs": ([1, 0, 1, 0, 0, 1], [*Q, 0.9]),
    "retried": (C[:4], Q[:4]),
    "epochspass_at_2": ([1, 0, 1, 0, 0, 1], [*Q, 0.9]),
    "epochsmode": ([1, 0, 1, 0, 0, 1], [*Q, 0.9]),
    "epochs_mean_at_least_2": ([1, 0, 1, 0, 0, 1], [*Q, 0.9]),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    (folder / "script.py").write_text(PREPARED + GRADED)
    done = run("inspect", folder, "script.py", code=3)  # the last task kills the process
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"task"')]
    return folder / "out", {line["task"]: line for line in lines}, done.stdout + done.stderr


@pytest.mark.parametrize("task", ALL)
def test_plug_in_reader_and_arithmetic_agree(ran, task):
    out, live, _ = ran
    correct, confidence, *more = ALL[task]
    weights, *flags = more or [None]
    expected = arithmetic(correct, confidence, weights=weights)
    ((row,), said) = (list(score(out / task, *flags)[0].values()), score(out / task, *flags)[1])
    assert close(row, expected), said
    assert close(live[task]["live"][0], expected)
    assert live[task]["status"] == "success"
    assert live[task]["live"][0]["samples"] == len(correct)
    assert ("5 samples with weights that add up to 15" in said) == (task == "weighted")
    assert ("4 of 5 planned samples are scored" in said) == (task in ("one_raised", "retried"))


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ("missing", "must not be NaN"),
        ("partial_grade", "must be 0 (incorrect) or 1 (correct); got 0.5"),
        ("lopsided", "must lie on one scale; 4 of 5 lie in [0, 1]; got 1.5"),
        ("odd", "must be scored as right or wrong: C, I, P, N, or a number; got 'X'"),
    ],
)
def test_what_the_reader_refuses_is_nan_for_the_same_reason_and_ends_nothing(ran, task, why):
    out, live, logged = ran
    assert live[task]["status"] == "success"
    assert math.isnan(live[task]["live"][0]["ecuas_1"])
    assert live[task]["live"][0]["missing_confidences"] == (2 if task == "missing" else 0)
    rows, refused = score(out / task)
    assert (rows, why in refused, why in logged) == ({}, True, True)


@pytest.mark.parametrize(("task", "scored"), [("stopped", 4), ("cancelled", 3), ("killed", 3)])
def test_runs_that_did_not_end_are_named_and_read_only_if_asked_for(ran, task, scored):
    out, _, _ = ran
    status = {"stopped": "error", "killed": "started"}.get(task, task)
    rows, said = score(out / task)
    assert rows == {}
    assert f"status {status}, {scored} of 5 planned samples scored. --partial" in said
    rows, said = score(out / task, "--partial")
    assert f"partial: {scored} of 5 planned samples are scored, status {status}" in said
    assert close(next(iter(rows.values())), arithmetic(C[:scored], Q[:scored]))


def test_unlabelled_answers_are_bounded_scorers_are_systems_and_eval_sets_are_read(ran):
    out, live, _ = ran
    (row,) = score(out / "unscored")[0].values()
    bounds = [arithmetic([c, *C[1:]], Q)["ecuas_1"] for c in (1, 0)]
    assert [row["ecuas_1_min"], row["ecuas_1_max"]] == pytest.approx(bounds, abs=1e-12)
    rows, _ = score(out / "two", "--missing-confidence", "0.5")
    assert sorted(rows) == ["mockllm/model answer_with_confidence", "mockllm/model given"]
    assert close(rows["mockllm/model given"], arithmetic(C, Q))
    assert close(live["two"]["live"][0], arithmetic(C, Q))
    assert close(score(out / "two", "--filter", "given")[0]["mockllm/model"], arithmetic(C, Q))
    assert (out / "set" / "eval-set.json").exists()
    assert close(next(iter(score(out / "set")[0].values())), arithmetic(C, Q))

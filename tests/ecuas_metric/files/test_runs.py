"""What evaluation tools leave on disk, in the forms that lm-eval 0.4.13, lighteval 0.13.0 and inspect-ai 0.3 write."""

import gzip
import itertools
import json
import os
import re
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import log_softmax

from ecuas_metric import prepare_submissions, read_submissions, score_confidences
from ecuas_metric.errors import InputError
from ecuas_metric.files.runs import RunOptions
from ecuas_metric.files.runs.lm_eval import record_of_sample
from ecuas_metric.files.runs.tools import read_parts
from ecuas_metric.reporting.cli import main

CHOICES = ["red", "deep blue", "green", "a kind of yellow"]
TIME = "2026-11-21T15-19-06.756603"


def lm_eval_row(number, label, scores, *, target=None, choices=CHOICES, **more):
    best = int(np.argmax(scores))
    return {
        "doc_id": number,
        "doc": {"question": f"What colour is thing {number}?", "choices": choices, "label": label},
        "target": str(label) if target is None else target,
        "arguments": {
            f"gen_args_{k}": {"arg_0": "What?", "arg_1": f" {text}"}
            for k, text in enumerate(choices)
        },
        "resps": [[[str(score), "False"]] for score in scores],
        "filtered_resps": [[str(score), "False"] for score in scores],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"hash-{number}",
        "acc": float(best == label),
    } | more


LINE = lm_eval_row(0, 1, [-1.0, -2.0, -3.0, -4.0])


def lighteval_row(number, label, scores):
    about = {"id": f"hash-{number}", "gold_index": int(label), "task_name": "colors|0"}
    return {
        "doc": {"choices": [f" {text}" for text in CHOICES], **about},
        "metric": {"acc": int(np.argmax(scores) == label)},
        "model_response": {"logprobs": scores, "text": []},
    }


def written(folder, rows, task="colors", time=TIME):
    folder.mkdir(exist_ok=True)
    file = folder / f"samples_{task}_{time}.jsonl"
    file.write_text(
        rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    )
    return file


def of_results(folder, text, rows=(LINE,)):
    """A run with a text in place of its results."""
    file = written(folder, rows)
    file.with_name(f"results_{TIME}.json").write_text(text)
    return file


def totals(folder, keys):
    file = of_results(folder, json.dumps(dict.fromkeys(keys.split(), 0)))
    file.unlink()
    return file.with_name(f"results_{TIME}.json")


def cut(folder, size):
    path = eval_file(folder, inspect_log([inspect_sample(1, "C", 0.5)]))
    path.write_bytes(path.read_bytes()[:size])
    return path


def inspect_log(samples):
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "things", "model": "org/model"},
        "samples": samples,
    }


def inspect_sample(number, value, confidence, epoch=1):
    metadata = {} if confidence is None else {"confidence": confidence}
    return {
        "id": number,
        "epoch": epoch,
        "scores": {"match": {"value": value, "metadata": metadata}},
    }


def json_file(folder, samples, **more):
    folder.mkdir(exist_ok=True)
    (folder / "log.json").write_text(json.dumps(inspect_log(samples) | more))
    return folder / "log.json"


def eval_file(folder, log):
    folder.mkdir(exist_ok=True)
    path = folder / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "header.json",
            json.dumps({key: value for key, value in log.items() if key != "samples"}),
        )
        for sample in log["samples"]:
            archive.writestr(
                f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample)
            )
    return path


def only(path, columns=None, **options):
    (submission,) = read_submissions(path, columns=columns, run=RunOptions(**options))
    return submission


def refuses(why, path, columns=None, **options):
    with pytest.raises(InputError, match=why):
        read_submissions(path, columns=columns, run=RunOptions(**options))


@pytest.fixture
def lines(tmp_path):
    """Return what writes lines of lm-eval."""
    return partial(written, tmp_path / "m")


@pytest.fixture
def scores(rng):
    return rng.normal(-3, 1, size=(30, 4)), rng.integers(0, 4, 30)


def rows_of(scores, targets="0123", **more):
    """Lines of lm-eval of log-likelihoods (N, 4) and true choices (N,), whose texts targets are."""
    pairs = enumerate(zip(*scores, strict=True))
    return [lm_eval_row(i, int(k), list(row), target=targets[k], **more) for i, (row, k) in pairs]


@pytest.fixture
def lm_eval(tmp_path, scores):
    return of_results(tmp_path / "org__model", '{"model_name": "org/model"}', rows_of(scores))


@pytest.fixture
def lighteval(tmp_path, scores):
    pairs = enumerate(zip(*scores, strict=True))
    rows = [lighteval_row(i, label, list(row)) for i, (row, label) in pairs]
    file = tmp_path / "details" / "org" / "model" / TIME / f"details_colors|0_{TIME}.parquet"
    file.parent.mkdir(parents=True)
    pd.DataFrame(rows).to_parquet(file)
    return file


@pytest.mark.parametrize(
    ("tool", "begin"),
    [
        ("lm_eval", "lm-eval samples, task colors,"),
        ("lighteval", "lighteval details, task colors|0,"),
    ],
)
def test_choices_are_posteriors(tool, begin, request, tmp_path, scores):
    file = request.getfixturevalue(tool)
    for path in (file, file.parent, tmp_path):
        submission = only(path)
        assert (submission.name, submission.predictions_are) == ("org/model", "log_probabilities")
        assert submission.predictions == pytest.approx(log_softmax(scores[0], axis=1), abs=1e-12)
        assert submission.references.tolist() == scores[1].tolist()
        assert submission.ids.tolist() == [f"hash-{i}" for i in range(30)]
        assert submission.notes[0].fact == f"{begin} 30 questions, 4 choices."


IN_WORDS = {"filtered_resps": ["Paris"], "exact_match": 1.0}
UNUSABLE = [  # what writes a run, its samples, and the error
    (written, "", "holds no samples. Was the run interrupted?"),
    (written, json.dumps(LINE) + "\n{}\n", "must hold samples of lm-eval in each line"),
    (written, json.dumps(LINE) + "\n" + json.dumps(LINE)[:30], "the file ends within what begins in row 2"),
    *((written, [LINE | change, LINE], error) for change, error in (
        ({"filtered_resps": [*[["-1", "False"]] * 3, ["nan", "False"]]}, "but not for all in row 1."),
        ({"filtered_resps": [[["-1", "False"]] * 2] * 4}, "must have one log-likelihood of each choice; got [['-1'"),
        ({"arguments": [["What?", " red"]] * 4}, "it is not as its tool writes it (list indices must be integers"),
        ({"acc": 0.63}, "must have one right choice in each sample; acc is a share of the probability, as in"),
        ({"target": "5"}, "targets must be the index or the text of a choice, and agree with acc; got '5' in row 1"),
        ({"target": "[1, 2]"}, "targets must be the index or the text of a choice, and agree with acc; got"),
        (IN_WORDS, "has log-likelihoods of choices for some samples only"),
        ({"filter": "strict-match"}, "has several filters; got strict-match, none. Specify which with run="),
    )),
    (written, [LINE | IN_WORDS],
        "holds answers in words, and log-likelihoods only with output_type: multiple_choice in the task. Name the"),
    (json_file, [{"id": 1, "scores": {}}], "holds no scores; got status success, 0 of 1 planned samples scored"),
    (json_file, [{"id": 1, "scores": {}, "invalidation": {"author": "me"}}],
        "holds no scores; got status success, 0 of 0 planned samples scored, 1 invalidated"),
    (lambda folder, log: json_file(folder, [], **log), {"eval": "", "task": 0, "model": 0},
        "must be a log of Inspect; got 'str' object has no attribute"),
    (cut, 200, "a.eval: must be a log of Inspect; got File is not a zip file"),
    (totals, "results configs versions n-shot",
        f"results_{TIME}.json: holds results of lm-eval without samples. Run it again with --log_samples"),
    (totals, "config_general results config_tasks",
        f"results_{TIME}.json: holds results of lighteval without samples. Run it again with --save-details"),
    (of_results, "[1]", f"results_{TIME}.json: must be results of lm-eval."),
    (of_results, '{"model_name"', f"results_{TIME}.json: must be results of lm-eval."),
    *((json_file, [{"id": 1, "scores": {name: {"value": value, "metadata": metadata} for name in names}}], error)
      for names, value, metadata, error in (
        (["a"], "C", {}, "scorer a keeps no confidence, as Score(value=.., metadata={'confidence': "),
        (["a", "b"], "C", {}, "scorer a, b keeps no confidence, as Score("),
        (["a"], "A", {"confidence": 1}, "must be scored as right or wrong: C, I, P, N, or a number; got 'A' in row 1"),
        (["a"], "P", {"confidence": 0.5}, "column 'correct' must be 0 (incorrect) or 1 (correct); got 0.5 in row 1"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("write", "samples", "error"), UNUSABLE)
def test_runs_that_cannot_be_used(write, samples, error, tmp_path):
    file = write(tmp_path / "run", samples)
    for path in (file, tmp_path):
        refuses(re.escape(error), path)


def test_lm_eval_scores_by_length_decide_as_acc_norm_does(lines, rng):
    """lm-eval divides by the lengths of the choices, which do not begin with the space before each, unless they do."""
    values = rng.normal(-3, 1, size=(100, 4))
    labels = rng.integers(0, 4, 100)
    choices = [*CHOICES[:3], "Gelb wie Öl"]
    sizes = {"chars": ("acc_norm", len), "bytes": ("acc_bytes", lambda text: len(text.encode()))}
    for (length, (name, size)), space in itertools.product(sizes.items(), ("", " ")):
        scaled = values / np.array([size(space + text) for text in choices])
        rows = rows_of((values, labels), choices=choices)
        for row, label, best in zip(rows, labels, scaled.argmax(axis=1), strict=True):
            row[name] = float(best == label)
        submission = only(lines(rows), length=length)
        assert submission.predictions == pytest.approx(log_softmax(scaled, axis=1), abs=1e-12)


@pytest.mark.parametrize(
    ("choices", "targets"),
    [
        (CHOICES, "0123"),
        (CHOICES, CHOICES),
        ([*"1230"], "0123"),  # an index, though it is the text of another choice
        ([*"1230"], "1230"),
    ],
)
def test_lm_eval_targets_are_what_acc_says_they_are(lines, scores, choices, targets):
    rows = rows_of(scores, targets, choices=choices)
    assert only(lines(rows)).references.tolist() == scores[1].tolist()
    place = scores[1].tolist().index(1)
    unknown = [*rows[:place], rows[place] | {"target": "of none"}, *rows[place + 1 :]]
    for wrong in (unknown, [row | {"acc": 1 - row["acc"]} for row in rows]):
        refuses("targets must be the index or the text of a choice, and agree", lines(wrong))


def test_lm_eval_choices_of_differing_number_are_systems_of_their_own(lines):
    rows = []
    for i in range(8):
        size = 2 + i % 2
        scores = [-1.0, -2.0, -3.0][:size]
        rows.append(lm_eval_row(i, i % 2, scores, choices=CHOICES[:size]))
    two, three = read_submissions(lines(rows))
    assert (two.predictions.shape, three.predictions.shape) == ((4, 2), (4, 3))
    assert (two.name, three.name) == ("m colors, 2 choices", "m colors, 3 choices")


def test_lm_eval_runs_of_one_task_and_tasks_are_chosen(lm_eval, tmp_path, scores):
    refuses(r"has no such task; got 'x', not colors\.", tmp_path, tasks=["x"])
    rows = rows_of(scores)
    written(lm_eval.parent, rows, task="other")
    assert [part.task for part in read_parts(tmp_path)] == ["colors", "other"]
    assert [s.name for s in read_submissions(tmp_path)] == ["org/model colors", "org/model other"]
    assert only(tmp_path, tasks=["other"]).name == "org/model"
    refuses(r"has no such task; got 'x', not colors, other\.", tmp_path, tasks=["x"])
    written(lm_eval.parent, rows, time="2027-01-01T00-00-00.000000")
    refuses(r"has more than one run of task colors by org/model.*Give the file of one", tmp_path)
    (lm_eval.parent / "results_2027-01-01T00-00-00.000000.json").write_text(
        json.dumps({"model_name": "org/other"})
    )
    assert [part.model for part in read_parts(tmp_path, RunOptions(tasks=["colors"]))] == [
        "org/model",
        "org/other",
    ]


def test_lm_eval_tasks_whose_samples_are_unlike_others(lines):
    """As lm-eval 0.4.13 writes winogrande, tasks with acc_mutual_info, which has the choices twice."""
    pairs = [(0, [-1.0, -2.0]), (1, [-1.0, -2.0]), (1, [-3.0, -2.0]), (0, [-3.0, -2.0])]
    same = {"target": " was late.", "choices": ["was late."] * 2}
    rows = [lm_eval_row(i, label, scores, **same) for i, (label, scores) in enumerate(pairs)]
    submission = only(lines(rows))
    assert submission.references.tolist() == [0, 1, 1, 0]
    assert submission.notes[0].fact.endswith(
        "4 questions, 2 choices; which is right follows from acc."
    )
    doubled = lm_eval_row(
        0, 2, [-4.0, -3.0, -2.0, -9.0, -1.0, -1.0, -1.0, 0.0], choices=CHOICES * 2
    )
    doubled |= {"acc_mutual_info": 1.0, "acc": 1.0}
    assert only(lines([doubled])).predictions.shape == (1, 4)


@pytest.mark.parametrize("as_list", [True, False])
def test_older_samples_of_lm_eval_are_read_as_lines_are(tmp_path, lm_eval, as_list):
    older = tmp_path / "older" / lm_eval.name.replace(".jsonl", ".json")
    older.parent.mkdir()
    rows = [json.loads(line) for line in lm_eval.read_text().splitlines()]
    older.write_text(json.dumps(rows) if as_list else lm_eval.read_text())
    assert (only(older).predictions == only(lm_eval).predictions).all()
    assert only(older).part == only(lm_eval).part


def test_lm_eval_lines_end_where_newlines_are(tmp_path, lm_eval):
    """Prompts hold other separators of lines; a compressed file is read as it is."""
    text = lm_eval.read_text().replace("What?", "What?\u2028\x85").encode()
    packed = {"": text, ".gz": gzip.compress(text), ".zst": pa.compress(text, "zstd", asbytes=True)}
    for suffix, content in packed.items():
        file = tmp_path / f"run{suffix}" / f"{lm_eval.name}{suffix}"
        file.parent.mkdir()
        file.write_bytes(content)
        read = only(file)
        assert read.references.tolist() == only(lm_eval).references.tolist()
        assert read.recipe.tasks == only(lm_eval).recipe.tasks


def test_answers_in_words_have_the_confidence_that_is_named(lines):
    rows = [
        {"doc_id": i, "target": "x", "filtered_resps": ["a"], "arguments": {}} for i in range(6)
    ]
    for grades in (lambda grade: {"acc": 0.0, "exact_match": grade}, lambda grade: {"f1": grade}):
        graded = [row | grades(i / 5) | {"doc": {"sure": 10 * i + 5}} for i, row in enumerate(rows)]
        file = lines(graded)
        (submission,) = read_submissions(
            file, columns={"confidence": "doc.sure"}, correct_from=0.6, scale=100
        )
        assert submission.predictions == pytest.approx([0.05, 0.15, 0.25, 0.35, 0.45, 0.55])
        assert submission.references.tolist() == [0, 0, 0, 1, 1, 1]
    refuses(r"has no field doc\.surely\.$", file, {"confidence": "doc.surely"})


def test_lighteval_details_that_cannot_be_used(lighteval):
    """There are no filters; a task in words has no log-probabilities; an interrupted run has no rows."""
    refuses("has no filter 'strict'", lighteval, filter="strict")
    frame = pd.read_parquet(lighteval)
    for response in ({"text": ["red"], "logprobs": [-0.5]}, {"text": ["red"]}):
        frame["model_response"] = [response] * len(frame)
        frame.to_parquet(lighteval)
        refuses("answers in words, without log-probabilities of choices. Name the", lighteval)
    frame["doc"] = [doc | {"specific": {"p": 0.25}} for doc in frame["doc"]]
    frame.to_parquet(lighteval)
    columns = {"confidence": "doc.specific.p"}
    assert only(lighteval, columns).predictions.tolist() == [0.25] * 30
    for doc in (None, {"task_name": "shapes|0"}):
        mixed = frame.assign(doc=[doc, *frame["doc"][1:]])
        mixed.to_parquet(lighteval)
        refuses("must hold samples of one task; got", lighteval)
    frame[:0].to_parquet(lighteval)
    refuses("holds no samples. Was the run interrupted", lighteval)


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_inspect_scores_with_a_confidence(tmp_path, suffix, rng):
    values = ["C", "I", "N", 1, 0.0, True]
    q = rng.random(12)
    samples = [
        inspect_sample(i, values[i % 6], float(q[i + 6 * (e - 1)]), e)
        for e in (1, 2)
        for i in range(6)
    ]
    path = (
        json_file(tmp_path, samples)
        if suffix == ".json"
        else eval_file(tmp_path, inspect_log(samples))
    )
    submission = only(path)
    fact = "Inspect log, task things, scorer match, 6 samples in 2 epochs, which are groups."
    assert submission.notes[0].fact == fact
    assert sorted(submission.per_sample["groups"]) == [i for i in range(6) for _ in range(2)]
    truth = [1, 0, 0, 1, 0, 1] * 2
    silent = [value == "N" for value in values] * 2
    abstained = submission.per_sample["abstained"]
    found = score_confidences(submission.references, submission.predictions, abstained=abstained)
    assert found == pytest.approx(score_confidences(truth, q, abstained=silent))
    for sample in samples:  # of two scorers none has it: the field is what is wrong, not the choice
        sample["scores"]["other"] = sample["scores"]["match"]
    file = json_file(tmp_path / "two", samples)
    refuses(r"has no field metadata\.surely", file, {"confidence": "metadata.surely"})


def test_several_tasks_are_not_compared_unless_pooled(scores, tmp_path, capsys):
    for model, task in itertools.product("ab", "xy"):
        written(tmp_path / model, rows_of(scores), task=task)
    assert main(["compare", str(tmp_path)]) == 2
    why = "takes one task of each model; got x, 4 choices; y, 4 choices. Choose one with --tasks"
    assert why in capsys.readouterr().err
    for chosen in (["--tasks", "x"], ["--pool-tasks"], ["--pool-tasks", "--tasks", "x, y"]):
        assert main(["compare", str(tmp_path), "--metrics", "error_rate", *chosen]) == 0
    assert main(["score", str(tmp_path), "--tasks", "x,z"]) == 2
    assert "--tasks names a task that is not there; got 'z'." in capsys.readouterr().err


def test_numbers_of_questions_of_two_tasks_are_others(scores, tmp_path):
    rows = rows_of(scores)
    for row in rows:
        del row["doc_hash"]
    for task in "xy":
        written(tmp_path / "a", rows, task=task)
    first, second = (set(one.ids.to_pylist()) for one in read_submissions(tmp_path))
    assert len(first) == len(second) == len(scores[1])
    assert not first & second


def test_inspect_runs_that_did_not_end_are_read_only_if_asked_for(tmp_path, capsys):
    samples = [inspect_sample(i, "CI"[i % 2], 0.5) for i in range(3)]
    planned = inspect_log([])["eval"] | {
        "dataset": {"sample_ids": [*range(4)]},
        "config": {"epochs": 2},
    }
    for status in ("error", "cancelled", "started"):
        path = json_file(tmp_path, samples, eval=planned, status=status)
        refuses(f"did not end; got status {status}, 3 of 8 planned samples scored. Read ", path)
        fact = only(path, partial=True).notes[0].fact
        assert fact.endswith(
            f"3 samples; partial: 3 of 8 planned samples are scored, status {status}."
        )
        assert main(["score", str(path)]) == 2
        assert "--partial reads what there is." in capsys.readouterr().err
        assert main(["score", str(path), "--partial"]) == 0
    # some of a run may fail
    path = json_file(tmp_path, [*samples, {"id": 9, "epoch": 1, "scores": {}, "error": {}}])
    assert (
        only(path).notes[0].fact.endswith("3 samples; partial: 3 of 4 planned samples are scored.")
    )


@pytest.mark.parametrize("first", ["log.json", "log-scored.json"])
def test_inspect_logs_of_one_run_whose_scores_differ_are_not_told_apart_by_times_of_files(
    first, tmp_path
):
    """Attempts of a run say when they began."""
    samples = [inspect_sample(i, "CI"[i % 2], 0.5) for i in range(4)]
    scored_again = [inspect_sample(i, "C", 0.5) for i in range(4)]
    run = inspect_log([])["eval"] | {"task_id": "x", "created": "2026-01-01"}
    later = run | {"created": "2026-01-02"}
    scored = tmp_path / "log-scored.json"

    def write(content, of_run):
        json_file(tmp_path, content, eval=of_run).rename(scored)
        json_file(tmp_path, samples, eval=run)
        os.utime(tmp_path / first, (1, 1))

    write(scored_again, run)
    refuses("whose scores differ, and only times of files", tmp_path)
    later_file = "log.json" if first == "log-scored.json" else "log-scored.json"
    refuses(f"{later_file}: .*{first} and {later_file}", tmp_path)
    assert only(scored).references.tolist() == [1] * 4
    write(scored_again, later)
    assert only(tmp_path).references.tolist() == [1] * 4
    write(samples, run)
    assert only(tmp_path).references.tolist() == [1, 0, 1, 0]


def test_inspect_scorers_are_systems_weights_are_used_and_unscored_answers_unlabelled(tmp_path):
    samples = [
        inspect_sample(i, value, 0.5) for i, value in enumerate(["C", "I", float("nan"), "C"])
    ]
    for weight, sample in enumerate(samples, 1):
        sample["metadata"] = {"weight": weight, "stratum": "ab"[weight % 2]}
        sample["scores"]["said"] = {
            "value": "C",
            "metadata": {"confidence": None if weight > 2 else "80 %"},
        }
        sample["scores"]["other"] = {"value": "C", "metadata": {}}
    json_file(tmp_path / "set", samples)
    (tmp_path / "set" / "logs.json").write_text(
        '{"a.eval": {"eval": {"task": "", "model": ""}, "version": 2}}'
    )
    match, said = read_submissions(tmp_path / "set", unlabelled="bounds")
    assert (match.name, said.name) == ("org/model match", "org/model said")
    assert match.unlabelled.rows.tolist() == [False, False, True, False]
    assert said.predictions == pytest.approx([0.8, 0.8, np.nan, np.nan], nan_ok=True)
    for submission in (match, said):
        assert submission.per_sample == {
            "sample_weight": [1.0, 2.0, 3.0, 4.0],
            "strata": ["b", "a", "b", "a"],
        }
    total = "; 2 of 4 without a confidence; weighted: 4 samples with weights that add up to 10."
    assert said.notes[0].fact.endswith(total)
    del samples[1]["metadata"]["weight"]
    refuses(
        r"column 'metadata\.weight' has no value.* in row 2", json_file(tmp_path / "set", samples)
    )


def test_lm_eval_targets_are_those_that_the_plug_in_recorded(lines, scores):
    """They are not what `doc` or the text of the target says; where there is none, the reason is the reader's."""
    rows = rows_of(scores, "2222", metrics=["ecuas_1"])
    for row, values, label in zip(rows, *scores, strict=True):
        row["ecuas_1"] = record_of_sample(int(label), CHOICES, values[:, None])
        del row["acc"], row["doc"]["label"]
    assert only(lines(rows)).references.tolist() == scores[1].tolist()
    columns = {"weight": "doc_id", "group": "doc.question"}
    submission = only(lines(rows), columns)
    assert submission.per_sample["sample_weight"] == [float(i) for i in range(30)]
    rows[3]["ecuas_1"] = record_of_sample([0, 1], CHOICES, scores[0][3][:, None])
    refuses("must have one right choice in each sample; got '2' in row 4", lines(rows))


def test_results_of_the_authors_code_are_a_table(tmp_path):
    """As `callm.models.evaluator` writes them: newlines in questions are escaped, no confidence is `nan`."""
    rows = ['"Q1, ""quoted""\\n","[\'a\', \'b\']",x,0.844422,No,,r\n', "Q2,['a'],x,nan,Yes,,r\n"]
    file = tmp_path / "evaluation_results.csv"
    header = (
        "Question,Gold Answers,Predicted Answer,Confidence,Correct,Evaluator Response,Raw Output\n"
    )
    file.write_text(header + "".join(rows))
    submission = only(file)
    assert submission.predictions == pytest.approx([0.844422, np.nan], nan_ok=True)
    assert submission.references.tolist() == [0, 1]
    assert submission.ids.tolist() == ['Q1, "quoted"\\n', "Q2"]


def test_one_of_several_filters_is_chosen(lines):
    rows = [
        LINE,
        LINE | {"filter": "strict", "filtered_resps": LINE["filtered_resps"][::-1], "acc": None},
    ]
    file = lines(rows)
    assert [only(file, filter=name).predictions.argmax() for name in ("none", "strict")] == [0, 3]
    refuses("has no filter 'c'; got 'c', not none, strict", file, filter="c")


def test_a_role_of_a_run_is_that_of_its_recipe_or_refused(lines):
    file = lines([lm_eval_row(k, k % 3, [0, -1, -2]) for k in range(12)])
    submission = only(file)
    (again,) = read_submissions(file, recipe=submission.recipe)
    assert again.recipe == submission.recipe
    for role in ("confidence", "correct"):
        why = f"is a run, which says itself what has the role '{role}'"
        refuses(why, file, {role: "doc.question"})
    refuses("must be among .*; got 'ids'", file, {"ids": "doc.question"})


def test_the_id_of_a_run_can_be_said(lines, scores):
    one = only(lines(rows_of(scores)), columns={"id": "doc_hash+doc_id"})
    assert one.ids.to_pylist()[:2] == ["hash-0 | 0", "hash-1 | 1"]
    assert one.recipe.of("id") == ("doc_hash+doc_id",)


def eval_ever_row(sample, *, confidence=0.5, correct=True, epoch=1, model="org/model", **more):
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"things/{model}/1",
        "model_id": model,
        "evaluation_name": "things",
        "evaluation_result_id": "exact:accuracy",
        "sample_id": sample,
        "evaluation": {"score": float(correct), "is_correct": correct},
        "metadata": {"confidence": str(confidence), "epoch": str(epoch)},
    } | more


def eval_ever(folder, rows, name="a_samples.jsonl"):
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_every_eval_ever_has_the_confidences_of_its_metadata_by_model_and_epoch(tmp_path, rng):
    confidence = rng.random((2, 20))
    correct = rng.random((2, 20)) < confidence
    for model, change in (("org/a", 0), ("org/b", 0.01)):
        rows = [
            eval_ever_row(
                f"q{place}",
                confidence=confidence[epoch, place] * (1 - change),
                correct=bool(correct[epoch, place]),
                epoch=epoch + 1,
                model=model,
            )
            for epoch in (0, 1)
            for place in rng.permutation(20)
        ]
        failed = eval_ever_row("q20", model=model, error="timed out", evaluation_result_id=None)
        eval_ever(tmp_path / "data", [*rows, failed], f"{model[-1]}_samples.jsonl")
    first, second = read_submissions(tmp_path / "data")
    assert (first.name, second.name) == ("org/a", "org/b")
    assert len(set(first.per_sample["groups"])) == 20
    assert sorted(first.ids.to_pylist()) == sorted(second.ids.to_pylist())
    ids = [f"q{place}" + " (epoch 2)" * epoch for epoch in (0, 1) for place in range(20)]
    expected = dict(zip(ids, confidence.ravel(), strict=True))
    assert dict(zip(first.ids.to_pylist(), first.predictions, strict=True)) == expected
    assert first.references.sum() == correct.sum()
    assert "1 of 41 failed, which are left out" in first.notes[0].fact


@pytest.mark.parametrize("first", [0, 1])
def test_epochs_are_groups_from_whichever_number_they_are_counted(tmp_path, first):
    rows = [
        eval_ever_row(f"q{i}", epoch=first + e, correct=i > 3) for e in (0, 1) for i in range(9)
    ]
    assert len(set(only(eval_ever(tmp_path, rows)).per_sample["groups"])) == 9


@pytest.mark.parametrize("said", [True, "true", "True"])
def test_every_eval_ever_abstains_in_any_way_to_write_it(tmp_path, said):
    rows = [eval_ever_row("q0"), eval_ever_row("q1") | {"metadata": {"abstained": said}}]
    assert list(only(eval_ever(tmp_path, rows)).per_sample["abstained"]) == [False, True]


def test_every_eval_ever_asks_for_one_of_several_results(tmp_path):
    others = {"evaluation_result_id": "style:mean", "evaluation": {"score": 1, "is_correct": True}}
    rows = [eval_ever_row(f"q{i}", correct=i > 3) for i in range(9)]
    file = eval_ever(tmp_path, [*rows, *(row | others for row in rows)])
    refuses("several evaluation_result_ids; got exact:accuracy, style:mean. Specify", file)
    assert only(file, filter="exact:accuracy").references.tolist() == [0] * 4 + [1] * 5
    assert only(file, filter="style:mean").references.tolist() == [1] * 9


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            {"metadata": {"epoch": "1"}},
            "keeps no confidence, as metadata.confidence would be. Name",
        ),
        ({"metadata": None}, "keeps no confidence"),
        (
            {"evaluation": {"score": 0.5, "is_correct": True}},
            "must be 0 or 1, as evaluation.is_correct: .*; got 0.5",
        ),
        ({"evaluation": {"score": 1, "is_correct": False}}, "as evaluation.is_correct: .*; got 1"),
        ({"error": "timed out"}, "holds no scores; got 1 samples that failed"),
    ],
)
def test_every_eval_ever_without_a_verdict_or_a_confidence_is_refused(tmp_path, change, why):
    refuses(why, eval_ever(tmp_path, [eval_ever_row("q0") | change]))


def changes(value):
    """Yield JSON values in each of which one part is something else, or nothing."""
    yield from (None, "text", 7, [[1]], {"a": 1})
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            for other in changes(part):
                changed = value.copy()
                changed[name] = other
                yield changed


DECISION = {"type": "choice", "name": "q", "probabilities": [{"value": "a", "probability": 0.6}]}
DECISION["probabilities"].append({"value": "b", "probability": 0.4})
WRITTEN = {  # what writes a file of a tool, and its records
    "lm-eval": (written, [lm_eval_row(0, 1, [-1.0, -2.0], choices=CHOICES[:2]), LINE]),
    "Every Eval Ever": (eval_ever, [eval_ever_row("q0"), eval_ever_row("q1")]),
    "decisions": (eval_ever, [{"id": i, "label": "a", "response": {"answers": [DECISION]}} for i in (1, 2)]),
    "Inspect": (json_file, [inspect_sample(1, "C", 0.5), inspect_sample(2, "I", 0.5)]),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tool", WRITTEN)
def test_a_record_with_anything_in_a_field_is_read_or_refused_in_a_line(tool, tmp_path):
    write, (first, second) = WRITTEN[tool]
    errors = []
    for changed in changes(first):
        file = write(tmp_path, [changed, second])
        try:
            prepare_submissions(read_submissions(file, unlabelled="bounds"))
        except InputError as error:
            errors.append(str(error))
    assert errors
    assert [error for error in errors if not error.startswith(f"{file}: ")] == []


def test_documents_that_a_task_has_twice_are_numbered_and_a_group_whatever_their_order(
    lines, scores
):
    """A run on two devices has the documents of one after those of the other."""
    rows = rows_of(scores)
    rows[7]["doc_hash"] = rows[4]["doc_hash"]
    one = only(lines(rows))
    assert [str(id_) for id_ in one.ids.to_pylist()][4:8:3] == ["hash-4", "hash-4 (2)"]
    assert one.per_sample["groups"][4] == one.per_sample["groups"][7] == "hash-4"
    (again,) = read_submissions(one.file, recipe=one.recipe)
    assert again.ids.equals(one.ids)
    other = only(lines(rows[1::2] + rows[::2]))
    by_id = dict(zip(one.ids.to_pylist(), one.predictions.tolist(), strict=True))
    assert by_id == dict(zip(other.ids.to_pylist(), other.predictions.tolist(), strict=True))

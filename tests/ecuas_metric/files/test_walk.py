import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from ecuas_metric.errors import FileError
from ecuas_metric.files.submissions import read_submissions
from ecuas_metric.reporting import cli

N = 200
CLASSES = ["cat", "dog", "horse", "ship"]
SPAM, FROM_1 = np.array(["ham", "spam"]), [f"p_{k}" for k in range(1, 5)]


def zero_one(u, wrong, max_uncertainty):
    """ECUAS_1 written out."""
    r = u / max_uncertainty
    return float(np.mean(r**2 + wrong * 2 / max_uncertainty * (1 - r)))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    confidence = rng.random(N).round(4)
    correct = (rng.random(N) < confidence).astype(int)
    posteriors = np.exp(rng.normal(size=(N, 4)) * 1.5)
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    label = np.array([rng.choice(4, p=row) for row in posteriors])
    positive = rng.random(N).round(4)
    y = (rng.random(N) < positive).astype(int)
    return {
        "frame": pd.DataFrame({"id": [f"q{i:03}" for i in range(N)], "confidence": confidence, "correct": correct}),
        "posteriors": posteriors,
        "label": label,
        "classes": pd.DataFrame(posteriors, columns=[f"prob_{k}" for k in range(4)]).assign(label=label),
        "binary": pd.DataFrame({"y_true": y, "y_prob": positive}),
    }


@pytest.fixture
def truth(data):
    """What scikit-learn and arithmetic say of the three systems."""
    frame, q, label, (y, p) = data["frame"], data["posteriors"], data["label"], data["binary"].to_numpy().T
    most, right, wrong = q.max(axis=1), q.argmax(axis=1) == label, (p > 0.5) != y
    scores = {"error_rate": np.mean(~right), "ecuas_1": zero_one(1 - most, ~right, 0.75)}
    return {
        "confidences": {
            "error_rate": 1 - frame["correct"].mean(),
            "confidence_brier_score": brier_score_loss(frame["correct"], frame["confidence"]),
            "ecuas_1": zero_one(1 - frame["confidence"], 1 - frame["correct"], 1),
        },
        "posteriors": scores | {"cross_entropy": log_loss(label, q)},
        "top": scores | {"confidence_brier_score": brier_score_loss(right, most)},  # whatever else there was
        "binary": {
            "error_rate": np.mean(wrong),
            "cross_entropy": log_loss(y, p),
            "ecuas_1": zero_one(np.minimum(p, 1 - p), wrong, 0.5),
        },
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(posteriors):
    return pd.DataFrame(posteriors, columns=CLASSES)


def text_of(label):
    return [CLASSES[k] for k in label]


def csv(**options):
    return lambda path, made: made.to_csv(path, **{"index": False} | options)


def lines(path, made):
    made.to_json(path, orient="records", lines=True)


def savez(path, made):
    np.savez(path, **made)


def confidences(data):
    return data["frame"]


def with_correct(words):
    return lambda data: data["frame"].assign(correct=[words[1 - c] for c in data["frame"]["correct"]])


def with_confidence(write):
    return lambda data: data["frame"].assign(confidence=data["frame"]["confidence"].map(write))


def lm_eval(data):
    responses = [[[str(x), "False"] for x in row] for row in np.log(data["posteriors"]).tolist()]
    return pd.DataFrame({"doc_id": range(N), "target": data["label"], "filtered_resps": responses, "acc": 1.0})


def pipeline(data):
    rows = [zip(CLASSES, row, strict=True) for row in data["posteriors"].tolist()]
    scores = [[{"label": c, "score": x} for c, x in row] for row in rows]
    return pd.DataFrame({"text": "?", "label": text_of(data["label"]), "scores": [s[::-1] for s in scores]})


def by_class(data):
    rows = [dict(zip(CLASSES, row, strict=True)) for row in data["posteriors"].tolist()]
    return pd.DataFrame({"label": text_of(data["label"]), "probs": rows})


def predicted(data):
    q, label = data["posteriors"], data["label"]
    return pd.DataFrame({"y_true": text_of(label), "y_pred": text_of(q.argmax(axis=1)), "confidence": q.max(axis=1)})


def to_json(path, value):
    Path(path).write_text(json.dumps(value))


def parts(folder, frame):
    """Write a table as Spark does."""
    Path(folder).mkdir()
    Path(folder, "_SUCCESS").touch()
    for number, part in enumerate((frame.head(150), frame.tail(50))):
        part.to_csv(Path(folder, f"part-{number:05}-1d0b-c000.csv"), index=False)


def trainer(data):
    return {"predictions": np.log(data["posteriors"]) + 3, "label_ids": data["label"]}


def named(data):
    return names(data["posteriors"]).assign(y_true=text_of(data["label"]))


WRITERS = {".csv": csv(), ".jsonl": lines}
# Every row of the audit: the command, what makes the table, whose numbers it has, and what writes it.
TAKEN = {
    "with pandas' index": ("a.csv", confidences, "confidences", csv(index=True)),
    "header with a trailing comma": ("a.csv", confidences, "confidences",
        lambda path, f: Path(path).write_text(f.to_csv(index=False).replace("\n", ",\n"))),
    "integer classes with the index": ("a.csv",
        lambda data: pd.DataFrame(data["posteriors"]).assign(label=data["label"]), "posteriors", csv(index=True)),
    "binary": ("a.csv", lambda data: data["binary"], "binary"),
    "binary label,prob": ("a.csv", lambda data: data["binary"].set_axis(["label", "prob"], axis=1), "binary"),
    "binary prob_1": ("a.csv", lambda data: data["binary"].set_axis(["label", "prob_1"], axis=1), "binary"),
    "zip": ("a.csv.zip", confidences, "confidences", csv()),
    "tabs": ("a.tsv", confidences, "confidences", csv(sep="\t")),
    "semicolons": ("a.csv", confidences, "confidences", csv(sep=";", decimal=",")),
    "bars": ("a.csv", confidences, "confidences", csv(sep="|")),
    "Excel's CSV": ("a.csv", confidences, "confidences",
        csv(sep=";", decimal=",", lineterminator="\r\n", encoding="utf-8-sig")),
    "UTF-16": ("a.csv", confidences, "confidences", csv(encoding="utf-16")),
    "CR": ("a.csv", confidences, "confidences", csv(lineterminator="\r")),
    "newlines in quotes": ("a.csv", lambda data: data["frame"].assign(id=[f'a\n"b", {i}' for i in range(N)])),
    "JSON lines called JSON": ("a.json", confidences, "confidences", lines),
    **{f"JSON of {orient}": ("a.json", confidences, "confidences", lambda path, f, o=orient: f.to_json(path, orient=o))
       for orient in ("records", "columns", "index", "split", "table")},
    "a table of Weights & Biases": ("a.table.json",
        lambda data: {"columns": list(data["frame"]), "data": data["frame"].to_numpy().tolist(), "ncols": 3},
        "confidences", to_json),
    "rows among other things": ("a.json", lambda data: {"model": "m", "results": data["frame"].to_dict("records")},
        "confidences", to_json),
    "a folder of Spark": ("out", confidences, "confidences", parts),
    "NumPy's savetxt": ("a.txt", confidences, "confidences",
        lambda path, f: np.savetxt(path, f[["confidence", "correct"]], header="confidence correct")),
    "R's write.csv": ("a.csv", with_correct(["TRUE", "FALSE"]), "confidences", csv(index=True, quoting=2)),
    "R's write.table": ("a.txt", with_correct(["TRUE", "FALSE"]), "confidences",
        lambda path, f: f.to_csv(path, sep=" ", index=True, index_label=False, quoting=2)),
    "MySQL's \\N": ("a.tsv", confidences, "confidences", csv(sep="\t", na_rep="\\N")),
    "yes/no": ("a.csv", with_correct(["yes", "no"])),
    "Correct/Incorrect": ("a.csv", with_correct(["Correct", "Incorrect"])),
    "wahr/falsch": ("a.csv", with_correct(["wahr", "falsch"])),
    "logits": ("a.csv",
        lambda data: pd.DataFrame(np.log(data["posteriors"]) + 1).add_prefix("logit_").assign(label=data["label"]),
        "posteriors"),
    "numbered from 1 with labels from 0": ("a.csv --columns label=y,posteriors=p_1+p_2+p_3+p_4 --labels 0,1,2,3",
        lambda data: pd.DataFrame(data["posteriors"], columns=FROM_1).assign(y=data["label"]), "posteriors"),
    "binary prob_0": ("a.csv",
        lambda data: pd.DataFrame({"label": data["binary"]["y_true"], "prob_0": 1 - data["binary"]["y_prob"]}),
        "binary"),
    "binary, named by its class": ("a.csv",
        lambda data: pd.DataFrame({"p_ham": 1 - data["binary"]["y_prob"], "label": SPAM[data["binary"]["y_true"]]}),
        "binary"),
    "binary with the predicted class": ("a.csv",
        lambda data: data["binary"].assign(y_pred=(data["binary"]["y_prob"] > 0.5).astype(int)), "binary"),
    "Keras": ("a.npz",
        lambda data: {"y_true": data["binary"]["y_true"], "y_prob": data["binary"]["y_prob"].to_numpy()[:, None]},
        "binary", savez),
    "predicted and true class": ("a.csv", predicted, "top"),
    "confidences beside several classes": ("a.csv",
        lambda data: data["frame"].assign(label="x", gold="y", prediction="z", predicted="x")),
    "confidences beside counts of classes": ("a.csv",
        lambda data: data["frame"].assign(label=["yes", "no"] * (N // 2), n_yes=3, n_no=4)),
    "posteriors beside several predicted classes": ("a.csv",
        lambda data: data["classes"].assign(prediction=1, predicted="x"), "posteriors"),
    "npz of Trainer.predict": ("a.npz", trainer, "posteriors", savez),
    "columns named by class": ("a.csv", named, "posteriors"),
    "columns named by class, one never true": ("a.csv",
        lambda data: named(data)[["ship", "cat", "horse", "dog", "y_true"]], "posteriors"),
    "prob_cat": ("a.csv", lambda data: named(data).rename(columns=lambda c: f"prob_{c}" if c in CLASSES else c),
        "posteriors"),
    "counted from 1": ("a.csv",
        lambda data: pd.DataFrame(data["posteriors"], columns=FROM_1).assign(label=data["label"] + 1), "posteriors"),
    "percent signs": ("a.csv", with_confidence(lambda x: f"{100 * x:.2f} %")),
    "decimal commas in quotes": ("a.csv", with_confidence(lambda x: f"{x}".replace(".", ","))),
    "decimal commas between tabs": ("a.tsv", confidences, "confidences", csv(sep="\t", decimal=",")),
    "C/I": ("a.csv", with_correct("CI")),
    "Y/N": ("a.csv", with_correct("YN")),
    "right/wrong": ("a.csv", with_correct(["right", "wrong"])),
    "pass/fail": ("a.csv", with_correct(["Pass", "FAIL"])),
    "a list as NumPy prints it": ("a.csv",
        lambda data: pd.DataFrame({"label": data["label"], "probabilities": [str(q) for q in data["posteriors"]]}),
        "posteriors"),
    "a list as JSON": ("a.csv",
        lambda data: pd.DataFrame({"label": data["label"], "probs": map(json.dumps, data["posteriors"].tolist())}),
        "posteriors"),
    "a mapping of classes": ("a.jsonl", by_class, "posteriors"),
    "a pipeline's scores": ("a.jsonl", pipeline, "posteriors"),
    "rounding beyond 0 and 1": ("a.csv", lambda data: data["classes"].assign(prob_0=data["classes"]["prob_0"] + 1e-9),
        "posteriors"),
    "lm-eval": ("a.jsonl --columns label=target,posteriors=filtered_resps --predictions-are logits", lm_eval,
        "posteriors"),
    "several columns named": (
        'a.csv --columns "label=truth of it,posteriors=cat of it+dog of it+horse of it+ship of it" --labels 0,1,2,3',
        lambda data: names(data["posteriors"]).assign(truth=data["label"]).rename(columns=lambda c: f"{c} of it"),
        "posteriors"),
    "upper case": ("a.csv", lambda data: data["frame"].rename(columns=str.upper)),
}  # fmt: skip
# And what is refused first: a part of the refusal, the command that it advises, what makes the table, whose numbers it
# has (None: those of the posteriors to two digits), what writes it, and what makes the table that was mended.
REFUSED = {
    "logarithms of confidences": ("Take their exponential", "a.csv", with_confidence(np.log), "confidences", None,
        with_confidence(lambda x: x)),
    "rounded to 2 digits": ("--renormalize", "a.csv --renormalize", lambda data: data["classes"].round(2), None, None,
        lambda data: data["classes"].round(2)),
    "posteriors in percent": ("Percentages? --scale 100", "a.csv --scale 100",
        lambda data: data["classes"] * [100, 100, 100, 100, 1], "posteriors"),
    "confidences from 0 to 10": ("--scale 10 for 0 to 10", "a.csv --scale 10", with_confidence(lambda x: 10 * x),
        "confidences"),
    "half correct": ("Partly correct? --correct-from GRADE", "a.csv --correct-from 0.5",
        lambda data: data["frame"].assign(correct=[0.5 if c else c / 2 for c in data["frame"]["correct"]]),
        "confidences"),
    "a pipeline's output": ("label=label or label=true. Specify which with --columns",
        "a.csv --columns label=true,predicted=label,confidence=score",
        lambda data: predicted(data).set_axis(["true", "label", "score"], axis=1), "top"),
    "a confidence and the true class": (
        "nothing says which answers are correct: neither correct, nor label and predicted",
        "a.csv --columns predicted=answer", lambda data: predicted(data).rename(columns={"y_pred": "answer"}), "top"),
    "a predicted class beside the true one": ("label=label or label=y_true. Specify which with --columns",
        "a.csv --columns label=y_true",
        lambda data: data["classes"].assign(y_true=data["label"], label=data["posteriors"].argmax(axis=1)),
        "posteriors"),
    "both forms": ("confidence=confidence or label=label. Specify which with --columns", "a.csv --columns label=label",
        lambda data: data["classes"].assign(confidence=0.5, correct=1), "posteriors"),
    "labels that are text": ("--labels A,B,..", f"a.csv --labels {','.join(CLASSES)}",
        lambda data: data["classes"].assign(label=text_of(data["label"])), "posteriors"),
    "no header": ("The first row must contain the names of the columns, e.g. confidence,correct", "b.csv",
        lambda data: data["frame"][["confidence", "correct"]], "confidences", csv(header=False),
        lambda data: data["frame"][["confidence", "correct"]]),
    "an older encoding": ("Save it as UTF-8", "b.csv", lambda data: data["frame"].assign(note="\u00e9"), "confidences",
        csv(encoding="cp1252")),
    "JSON lines called CSV": ("Give it the suffix of its format", "b.jsonl", confidences, "confidences", lines),
}  # fmt: skip


def numbers(command, capsys):
    """Return the rows that the command writes, by their systems."""
    assert cli.main(["score", *shlex.split(command), "--output", "table.json"]) == 0, capsys.readouterr().err
    capsys.readouterr()
    with open("table.json", encoding="utf-8") as file:
        return {row["system"]: row for row in json.load(file)["rows"]}


def with_defaults(case, defaults):
    return *case, *defaults[len(case) - 1 :]


@pytest.mark.parametrize("case", TAKEN)
def test_files_give_their_numbers(case, folder, data, truth, capsys):
    command, make, whose, write = with_defaults(TAKEN[case], (confidences, "confidences", None))
    path = command.split()[0]
    (write or WRITERS[Path(path).suffix])(path, make(data))
    (row,) = numbers(command, capsys).values()
    digits = 1e-4 if case == "a list as NumPy prints it" else 1e-6
    assert {key: row[key] for key in truth[whose]} == pytest.approx(truth[whose], rel=digits, abs=digits)


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_what_to_do_and_that_gives_the_numbers(case, folder, data, truth, capsys):
    defaults = ("", confidences, "confidences", None, None)
    advice, command, make, whose, write, mended = with_defaults(REFUSED[case], defaults)
    (write or WRITERS[".csv"])("a.csv", make(data))
    assert cli.main(["score", "a.csv"]) == 2
    assert advice in capsys.readouterr().err
    if mended is not None or "b." in command:
        path = command.split()[0]
        WRITERS[Path(path).suffix](path, (mended or make)(data))
    (row,) = numbers(command, capsys).values()
    if whose is None:  # to the digits that were left
        assert row["error_rate"] == pytest.approx(truth["posteriors"]["error_rate"], abs=0.02)
        assert row["ecuas_1"] == pytest.approx(truth["posteriors"]["ecuas_1"], rel=0.02)
    else:
        assert {key: row[key] for key in truth[whose]} == pytest.approx(truth[whose], rel=1e-9)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet", ".npz", ".arrow", ".xlsx", ".npy"])
def test_empty_files_have_no_rows(suffix, folder):
    Path(f"a{suffix}").touch()
    with pytest.raises(FileError, match="the file has no rows"):
        read_submissions(f"a{suffix}")


@pytest.mark.parametrize("name", ["gpt.csv", "part.csv"])
def test_a_folder_of_systems_is_not_one_table(name, folder, data):
    Path("runs").mkdir()
    data["frame"].to_csv(f"runs/{name}", index=False)
    with pytest.raises(FileError, match=r"is a folder, and not of the parts of one table\. Name its files\."):
        read_submissions("runs")


def test_wide_files_hold_several_systems(folder, data, truth, capsys):
    frame = data["frame"]
    frame.set_axis(["question", "GPT-4", "correct"], axis=1).assign(x=0.5).to_csv("one.csv", index=False)
    found = numbers('one.csv --columns "confidence=GPT-4+x,correct=correct"', capsys)
    assert list(found) == ["GPT-4", "x"]
    assert found["GPT-4"]["ecuas_1"] == pytest.approx(truth["confidences"]["ecuas_1"])
    pairs = pd.DataFrame({"id": frame["id"], "a b_confidence": frame["confidence"], "a b_correct": frame["correct"]})
    pairs.assign(c_confidence=0.5, c_correct=1).to_csv("two.csv", index=False)
    found = numbers("two.csv", capsys)
    assert list(found) == ["a b", "c"]
    assert found["a b"]["ecuas_1"] == pytest.approx(truth["confidences"]["ecuas_1"])
    assert cli.main(["compare", "two.csv", "--metrics", "ecuas_1", "--resamples", "20"]) == 0


@pytest.mark.parametrize("name", ["doc_id", "qid", "question", "index", "example_id"])
def test_ids_have_the_names_that_tools_give_them(name, folder, data, capsys):
    frame = data["frame"].rename(columns={"id": name})
    frame.to_csv("a.csv", index=False)
    frame.sample(frac=1, random_state=0).to_csv("b.csv", index=False)
    arguments = ["compare", "a.csv", "b.csv", "--metrics", "ecuas_1", "--resamples", "20", "--output", "out.json"]
    assert cli.main(arguments) == 0
    assert "paired by their rows" not in capsys.readouterr().out
    (row,) = json.loads((folder / "out.json").read_text())["rows"]
    assert (row["difference"], row["low"], row["high"]) == (0, 0, 0)


def test_what_is_seen_in_a_file_is_said(folder, data, capsys):
    np.savez("trainer.npz", **trainer(data))
    data["classes"].assign(label=np.maximum(data["label"], 1)).to_csv("lucky.csv", index=False)
    said = {
        "trainer.npz": "Column 'predictions_0..predictions_3' is read as logits.",
        "lucky.csv": "Class 0 never occurs, and all other classes up to 3 do: are labels counted from 0?",
    }
    for name, note in said.items():
        assert cli.main(["score", name]) == 0
        assert note in capsys.readouterr().err


def test_what_is_not_judged_bounds_the_numbers(folder, data, truth, capsys):
    frame = data["frame"]
    frame.assign(correct=frame["correct"].where(frame.index >= 20, "-").astype(str)).to_csv("a.csv", index=False)
    row = numbers("a.csv", capsys)["a"]
    assert row["unlabelled"] == 0.1
    assert row["error_rate"] is None
    known = truth["confidences"]["error_rate"]
    low, high = row["error_rate_min"], row["error_rate_max"]
    assert low < known < high
    assert high - low == pytest.approx(0.1)
    assert numbers("a.csv --unlabelled wrong", capsys)["a"]["error_rate"] == high
    left = numbers("a.csv --unlabelled drop", capsys)["a"]
    assert left["N"] == 180
    assert left["error_rate"] == pytest.approx(low / 0.9)
    assert cli.main(["compare", "a.csv", "a.csv"]) == 2
    assert cli.main(["score", "a.csv", "--explain"]) == 2
    err = capsys.readouterr().err
    assert "drop" not in err
    assert err.count("Label them, or count them as wrong with --unlabelled wrong.") == 2

"""Files as people and tools have them: each gives the right number, or a refusal whose advice gives it."""

import bz2
import gzip
import io
import json
import lzma
import re
import shlex
import sys
import zipfile
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from ecuas_metric.reporting import cli

N = 200
CLASSES = ["cat", "dog", "horse", "ship"]


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
    frame, q, label, binary = data["frame"], data["posteriors"], data["label"], data["binary"]
    both = np.column_stack([1 - binary["y_prob"], binary["y_prob"]])
    return {
        "confidences": {
            "error_rate": 1 - frame["correct"].mean(),
            "confidence_brier_score": brier_score_loss(frame["correct"], frame["confidence"]),
            "ecuas_1": zero_one(1 - frame["confidence"], 1 - frame["correct"], 1),
        },
        "posteriors": {
            "error_rate": np.mean(q.argmax(axis=1) != label),
            "cross_entropy": log_loss(label, q),
            "ecuas_1": zero_one(1 - q.max(axis=1), q.argmax(axis=1) != label, 0.75),
        },
        "binary": {
            "error_rate": np.mean((binary["y_prob"] > 0.5) != binary["y_true"]),
            "cross_entropy": log_loss(binary["y_true"], binary["y_prob"]),
            "ecuas_1": zero_one(1 - both.max(axis=1), both.argmax(axis=1) != binary["y_true"], 0.5),
        },
        "top": {  # the predicted class with its probability, whatever else there was
            "error_rate": np.mean(q.argmax(axis=1) != label),
            "confidence_brier_score": brier_score_loss(q.argmax(axis=1) == label, q.max(axis=1)),
            "ecuas_1": zero_one(1 - q.max(axis=1), q.argmax(axis=1) != label, 0.75),
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


# Every row of the audit: name, what writes the file, whose numbers it has, and arguments of the command.
# Where the file is refused first: a part of the refusal, then the arguments that it advises.
def csv(name, **options):
    return lambda data, make: make(data).to_csv(name, index=options.pop("index", False), **options)


def lines(name):
    return lambda data, make: make(data).to_json(name, orient="records", lines=True)


def confidences(data):
    return data["frame"]


def with_correct(words):
    return lambda data: data["frame"].assign(correct=[words[1 - c] for c in data["frame"]["correct"]])


def with_confidence(write):
    return lambda data: data["frame"].assign(confidence=data["frame"]["confidence"].map(write))


def with_nested(data):
    return data["frame"].assign(doc=[{"gold": {"index": i}} for i in range(N)])


def lm_eval(data):
    responses = [[[str(x), "False"] for x in row] for row in np.log(data["posteriors"]).tolist()]
    return pd.DataFrame({"doc_id": range(N), "target": data["label"], "filtered_resps": responses, "acc": 1.0})


def lighteval(data):
    doc = [{"gold_index": int(k), "query": "?"} for k in data["label"]]
    response = [{"logprobs": row} for row in np.log(data["posteriors"]).tolist()]
    return pd.DataFrame({"doc": doc, "model_response": response})


def pipeline(data):
    rows = [zip(CLASSES, row, strict=True) for row in data["posteriors"].tolist()]
    scores = [[{"label": c, "score": x} for c, x in row] for row in rows]
    return pd.DataFrame({"text": "?", "label": text_of(data["label"]), "scores": [s[::-1] for s in scores]})


def by_class(data):
    rows = [dict(zip(CLASSES, row, strict=True)) for row in data["posteriors"].tolist()]
    return pd.DataFrame({"label": text_of(data["label"]), "probs": rows})


def wide(data):
    frame = data["frame"]
    return pd.DataFrame({"question": frame["id"], "GPT-4": frame["confidence"], "x": 0.5, "correct": frame["correct"]})


def save(name, write):
    return lambda data, make: write(name, make(data))


def compressed(name, compress):
    def write(data, make):
        with open(name, "wb") as file:
            file.write(compress(make(data).to_csv(index=False).encode()))

    return write


def zstd(content):
    return pa.compress(content, "zstd", asbytes=True)


def bytes_of(make, name):
    """Return what writes the text of a table, as `make` makes it, to a file."""
    return save(name, lambda path, f: Path(path).write_bytes(make(f)))


def as_csv(frame, **options):
    return frame.to_csv(index=False, **options).encode()


def to_address(path, frame):
    with fsspec.open(path, "wb") as file:
        file.write(as_csv(frame))


def predicted(data):
    q, label = data["posteriors"], data["label"]
    return pd.DataFrame({"y_true": text_of(label), "y_pred": text_of(q.argmax(axis=1)), "confidence": q.max(axis=1)})


def pipeline_output(data):
    return predicted(data).set_axis(["true", "label", "score"], axis=1)


def inspect_log(data):
    samples = [
        {"id": i, "target": "A", "scores": {"choice": {"value": "CI"[1 - c]}}, "metadata": {"confidence": x}}
        for i, x, c in data["frame"].itertuples(index=False)
    ]
    return {"version": 2, "status": "success", "eval": {"task": "arc"}, "results": {"scores": []}, "samples": samples}


def to_eval(path, log):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({name: log[name] for name in ("status", "eval")}))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))


def helm(data):
    return [
        {"instance_id": i, "stats": [{"name": {"name": "exact_match"}, "mean": c}, {"name": "p", "mean": x}]}
        for i, x, c in data["frame"].itertuples(index=False)
    ]


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


TAKEN = {
    "with pandas' index": (csv("a.csv", index=True), confidences, "confidences", "a.csv"),
    "header with a trailing comma": (
        save("a.csv", lambda path, f: Path(path).write_text(f.to_csv(index=False).replace("\n", ",\n"))),
        confidences,
        "confidences",
        "a.csv",
    ),
    "integer classes with the index": (
        csv("a.csv", index=True),
        lambda data: pd.DataFrame(data["posteriors"]).assign(label=data["label"]),
        "posteriors",
        "a.csv",
    ),
    "binary": (csv("a.csv"), lambda data: data["binary"], "binary", "a.csv"),
    "binary label,prob": (
        csv("a.csv"),
        lambda data: data["binary"].set_axis(["label", "prob"], axis=1),
        "binary",
        "a.csv",
    ),
    "binary prob_1": (
        csv("a.csv"),
        lambda data: data["binary"].set_axis(["label", "prob_1"], axis=1),
        "binary",
        "a.csv",
    ),
    "gzip": (compressed("a.csv.gz", gzip.compress), confidences, "confidences", "a.csv.gz"),
    "xz": (compressed("a.csv.xz", lzma.compress), confidences, "confidences", "a.csv.xz"),
    "zst": (compressed("a.csv.zst", zstd), confidences, "confidences", "a.csv.zst"),
    "zip": (csv("a.csv.zip"), confidences, "confidences", "a.csv.zip"),
    "tabs": (csv("a.tsv", sep="\t"), confidences, "confidences", "a.tsv"),
    "semicolons": (csv("a.csv", sep=";", decimal=","), confidences, "confidences", "a.csv"),
    "bars": (csv("a.csv", sep="|"), confidences, "confidences", "a.csv"),
    "Excel's CSV": (
        bytes_of(lambda f: b"\xef\xbb\xbf" + as_csv(f, sep=";", decimal=",", lineterminator="\r\n"), "a.csv"),
        confidences,
        "confidences",
        "a.csv",
    ),
    "UTF-16": (csv("a.csv", encoding="utf-16"), confidences, "confidences", "a.csv"),
    "CR": (bytes_of(lambda f: as_csv(f, lineterminator="\r"), "a.csv"), confidences, "confidences", "a.csv"),
    "sep=": (bytes_of(lambda f: b"sep=;\n" + as_csv(f, sep=";"), "a.csv"), confidences, "confidences", "a.csv"),
    "newlines in quotes": (
        csv("a.csv"),
        lambda data: data["frame"].assign(id=[f'a\n"b", {i}' for i in range(N)]),
        "confidences",
        "a.csv",
    ),
    "JSON lines": (lines("a.jsonl"), confidences, "confidences", "a.jsonl"),
    "JSON lines called JSON": (lines("a.json"), confidences, "confidences", "a.json"),
    **{
        f"JSON of {orient}": (
            save("a.json", lambda path, f, orient=orient: f.to_json(path, orient=orient)),
            confidences,
            "confidences",
            "a.json",
        )
        for orient in ("records", "columns", "index", "split", "table")
    },
    "a table of Weights & Biases": (
        save("a.table.json", to_json),
        lambda data: {"columns": list(data["frame"]), "data": data["frame"].to_numpy().tolist(), "ncols": 3},
        "confidences",
        "a.table.json",
    ),
    "rows among other things": (
        save("a.json", to_json),
        lambda data: {"model": "m", "results": json.loads(data["frame"].to_json(orient="records"))},
        "confidences",
        "a.json",
    ),
    "Parquet": (save("a.parquet", lambda path, f: f.to_parquet(path)), confidences, "confidences", "a.parquet"),
    "Arrow": (save("a.arrow", lambda path, f: f.to_feather(path)), confidences, "confidences", "a.arrow"),
    "npy": (
        save("a.npy", lambda path, f: np.save(path, f[["confidence", "correct"]].to_records(index=False))),
        confidences,
        "confidences",
        "a.npy",
    ),
    "an address": (save("memory://walk/a.csv", to_address), confidences, "confidences", "memory://walk/a.csv"),
    "a folder of Spark": (save("out", parts), confidences, "confidences", "out"),
    "NumPy's savetxt": (
        save("a.txt", lambda path, f: np.savetxt(path, f[["confidence", "correct"]], header="confidence correct")),
        confidences,
        "confidences",
        "a.txt",
    ),
    "R's write.csv": (csv("a.csv", index=True, quoting=2), with_correct(["TRUE", "FALSE"]), "confidences", "a.csv"),
    "R's write.table": (
        save("a.txt", lambda path, f: f.to_csv(path, sep=" ", index=True, index_label=False, quoting=2)),
        with_correct(["TRUE", "FALSE"]),
        "confidences",
        "a.txt",
    ),
    "MySQL's \\N": (csv("a.tsv", sep="\t", na_rep="\\N"), confidences, "confidences", "a.tsv"),
    "yes/no": (csv("a.csv"), with_correct(["yes", "no"]), "confidences", "a.csv"),
    "TRUE/FALSE": (csv("a.csv"), with_correct(["TRUE", "FALSE"]), "confidences", "a.csv"),
    "Correct/Incorrect": (csv("a.csv"), with_correct(["Correct", "Incorrect"]), "confidences", "a.csv"),
    "wahr/falsch": (csv("a.csv"), with_correct(["wahr", "falsch"]), "confidences", "a.csv"),
    "shuffled": (csv("a.csv"), lambda data: data["frame"].sample(frac=1, random_state=1), "confidences", "a.csv"),
    "exponents": (csv("a.csv", float_format="%.6E"), confidences, "confidences", "a.csv"),
    "confidences beyond 1 by rounding": (
        csv("a.csv"),
        lambda data: data["frame"].assign(confidence=data["frame"]["confidence"] + 1e-9),
        "confidences",
        "a.csv",
    ),
    "percent signs in a part": (
        csv("a.csv"),
        lambda data: data["frame"].assign(
            confidence=[f"{100 * x:.2f}%" if i % 2 else x for i, x in enumerate(data["frame"]["confidence"])]
        ),
        "confidences",
        "a.csv",
    ),
    "percentages": (csv("a.csv"), with_confidence(lambda x: 100 * x), "confidences", "a.csv --scale 100"),
    "posteriors in percent, said": (
        csv("a.csv"),
        lambda data: data["classes"] * [100, 100, 100, 100, 1],
        "posteriors",
        "a.csv --scale 100",
    ),
    "logits": (
        csv("a.csv"),
        lambda data: pd.DataFrame(np.log(data["posteriors"]) + 1).add_prefix("logit_").assign(label=data["label"]),
        "posteriors",
        "a.csv",
    ),
    "numbered from 1 with labels from 0": (
        csv("a.csv"),
        lambda data: pd.DataFrame(data["posteriors"], columns=[f"p_{k}" for k in range(1, 5)]).assign(y=data["label"]),
        "posteriors",
        "a.csv --columns label=y,posteriors=p_1+p_2+p_3+p_4 --labels 0,1,2,3",
    ),
    "binary prob_0": (
        csv("a.csv"),
        lambda data: pd.DataFrame({"label": data["binary"]["y_true"], "prob_0": 1 - data["binary"]["y_prob"]}),
        "binary",
        "a.csv",
    ),
    "binary, named by its class": (
        csv("a.csv"),
        lambda data: pd.DataFrame(
            {"p_ham": 1 - data["binary"]["y_prob"], "label": np.where(data["binary"]["y_true"], "spam", "ham")}
        ),
        "binary",
        "a.csv",
    ),
    "binary with the predicted class": (
        csv("a.csv"),
        lambda data: data["binary"].assign(y_pred=(data["binary"]["y_prob"] > 0.5).astype(int)),
        "binary",
        "a.csv",
    ),
    "Keras": (
        save("a.npz", lambda path, x: np.savez(path, **x)),
        lambda data: {"y_true": data["binary"]["y_true"], "y_prob": data["binary"]["y_prob"].to_numpy()[:, None]},
        "binary",
        "a.npz",
    ),
    "Keras, several classes": (
        save("a.npz", lambda path, x: np.savez(path, **x)),
        lambda data: {"y_true": data["label"], "y_pred": data["posteriors"]},
        "posteriors",
        "a.npz --columns label=y_true,posteriors=y_pred",
    ),
    "predicted and true class": (csv("a.csv"), predicted, "top", "a.csv"),
    "confidences beside several classes": (
        csv("a.csv"),
        lambda data: data["frame"].assign(label="x", gold="y", prediction="z", predicted="x"),
        "confidences",
        "a.csv",
    ),
    "posteriors beside several predicted classes": (
        csv("a.csv"),
        lambda data: data["classes"].assign(prediction=1, predicted="x"),
        "posteriors",
        "a.csv",
    ),
    "a pipeline's output": (
        lines("a.jsonl"),
        pipeline_output,
        "top",
        "a.jsonl --columns label=true,predicted=label,confidence=score",
    ),
    "Inspect's JSON": (
        save("a.json", to_json),
        inspect_log,
        "confidences",
        "a.json --columns correct=scores.choice.value,confidence=metadata.confidence",
    ),
    "Inspect's log": (
        save("a.eval", to_eval),
        inspect_log,
        "confidences",
        "a.eval",
    ),
    "HELM": (
        save("a.json", to_json),
        helm,
        "confidences",
        "a.json --columns correct=stats.0.mean,confidence=stats.1.mean",
    ),
    "bzip2": (compressed("a.csv.bz2", bz2.compress), confidences, "confidences", "a.csv.bz2"),
    "npz of Trainer.predict": (save("a.npz", lambda path, x: np.savez(path, **x)), trainer, "posteriors", "a.npz"),
    "npz of scikit-learn": (
        save("a.npz", lambda path, x: np.savez(path, **x)),
        lambda data: {"y_true": data["label"], "y_prob": data["posteriors"]},
        "posteriors",
        "a.npz",
    ),
    "columns named by class": (csv("a.csv"), named, "posteriors", "a.csv"),
    "columns named by class, one never true": (
        csv("a.csv"),
        lambda data: named(data)[["ship", "cat", "horse", "dog", "y_true"]],
        "posteriors",
        "a.csv",
    ),
    "prob_cat": (
        csv("a.csv"),
        lambda data: named(data).rename(columns=lambda c: f"prob_{c}" if c in CLASSES else c),
        "posteriors",
        "a.csv",
    ),
    "counted from 1": (
        csv("a.csv"),
        lambda data: pd.DataFrame(data["posteriors"], columns=[f"prob_{k}" for k in range(1, 5)]).assign(
            label=data["label"] + 1
        ),
        "posteriors",
        "a.csv",
    ),
    "percent signs": (csv("a.csv"), with_confidence(lambda x: f"{100 * x:.2f} %"), "confidences", "a.csv"),
    "decimal commas in quotes": (
        csv("a.csv"),
        with_confidence(lambda x: f"{x}".replace(".", ",")),
        "confidences",
        "a.csv",
    ),
    "decimal commas between tabs": (csv("a.tsv", sep="\t", decimal=","), confidences, "confidences", "a.tsv"),
    "C/I": (csv("a.csv"), with_correct("CI"), "confidences", "a.csv"),
    "Y/N": (csv("a.csv"), with_correct("YN"), "confidences", "a.csv"),
    "t/f": (csv("a.csv"), with_correct("tf"), "confidences", "a.csv"),
    "right/wrong": (csv("a.csv"), with_correct(["right", "wrong"]), "confidences", "a.csv"),
    "pass/fail": (csv("a.csv"), with_correct(["Pass", "FAIL"]), "confidences", "a.csv"),
    "a list as NumPy prints it": (
        csv("a.csv"),
        lambda data: pd.DataFrame({"label": data["label"], "probabilities": [str(q) for q in data["posteriors"]]}),
        "posteriors",
        "a.csv",
    ),
    "a list as JSON": (
        csv("a.csv"),
        lambda data: pd.DataFrame({"label": data["label"], "probs": map(json.dumps, data["posteriors"].tolist())}),
        "posteriors",
        "a.csv",
    ),
    "a mapping of classes": (lines("a.jsonl"), by_class, "posteriors", "a.jsonl"),
    "a pipeline's scores": (lines("a.jsonl"), pipeline, "posteriors", "a.jsonl"),
    "rounding beyond 0 and 1": (
        csv("a.csv"),
        lambda data: data["classes"].assign(prob_0=data["classes"]["prob_0"] + 1e-9),
        "posteriors",
        "a.csv",
    ),
    "lm-eval": (
        lines("a.jsonl"),
        lm_eval,
        "posteriors",
        "a.jsonl --columns label=target,posteriors=filtered_resps --predictions-are logits",
    ),
    "lighteval": (
        save("a.parquet", lambda path, f: f.to_parquet(path)),
        lighteval,
        "posteriors",
        "a.parquet --columns label=doc.gold_index,posteriors=model_response.logprobs "
        "--predictions-are log_probabilities",
    ),
    "nested ids": (lines("a.jsonl"), with_nested, "confidences", "a.jsonl --columns id=doc.gold.index"),
    "a column name with a comma": (
        csv("a.csv"),
        lambda data: data["frame"].rename(columns={"confidence": "p(a, b)"}),
        "confidences",
        'a.csv --columns "confidence=p(a, b),correct=correct"',
    ),
    "several columns named": (
        csv("a.csv"),
        lambda data: names(data["posteriors"]).assign(truth=data["label"]).rename(columns=lambda c: f"{c} of it"),
        "posteriors",
        'a.csv --columns "label=truth of it,posteriors=cat of it+dog of it+horse of it+ship of it" --labels 0,1,2,3',
    ),
    "upper case": (csv("a.csv"), lambda data: data["frame"].rename(columns=str.upper), "confidences", "a.csv"),
    "comment": (
        save("a.csv", lambda path, f: Path(path).write_text("# produced by eval.py\n" + f.to_csv(index=False))),
        confidences,
        "confidences",
        "a.csv",
    ),
    "no suffix": (csv("noext"), confidences, "confidences", "noext"),
    "JSON called JSON lines": (
        save("a.jsonl", lambda path, f: f.to_json(path, orient="records", indent=1)),
        confidences,
        "confidences",
        "a.jsonl",
    ),
}
REFUSED = {
    "logarithms of confidences": (
        csv("a.csv"),
        with_confidence(np.log),
        "Take their exponential",
        with_confidence(lambda x: x),
        "confidences",
        "a.csv",
    ),
    "rounded to 2 digits": (
        csv("a.csv"),
        lambda data: data["classes"].round(2),
        "--renormalize",
        lambda data: data["classes"].round(2),
        None,
        "a.csv --renormalize",
    ),
    "posteriors in percent": (
        csv("a.csv"),
        lambda data: data["classes"] * [100, 100, 100, 100, 1],
        "Percentages? --scale 100",
        None,
        "posteriors",
        "a.csv --scale 100",
    ),
    "confidences in percent": (
        csv("a.csv"),
        with_confidence(lambda x: 100 * x),
        "Percentages? --scale 100",
        None,
        "confidences",
        "a.csv --scale 100",
    ),
    "confidences from 0 to 10": (
        csv("a.csv"),
        with_confidence(lambda x: 10 * x),
        "--scale 10 for 0 to 10",
        None,
        "confidences",
        "a.csv --scale 10",
    ),
    "half correct": (
        csv("a.csv"),
        lambda data: data["frame"].assign(correct=[0.5 if c else c / 2 for c in data["frame"]["correct"]]),
        "Partly correct? --correct-from GRADE",
        None,
        "confidences",
        "a.csv --correct-from 0.5",
    ),
    "a pipeline's output": (
        csv("a.csv"),
        pipeline_output,
        "label=label or label=true. Specify which with --columns",
        None,
        "top",
        "a.csv --columns label=true,predicted=label,confidence=score",
    ),
    "a confidence and the true class": (
        csv("a.csv"),
        lambda data: predicted(data).rename(columns={"y_pred": "answer"}),
        "nothing says which answers are correct: neither correct, nor label and predicted",
        None,
        "top",
        "a.csv --columns predicted=answer",
    ),
    "a cell too many": (
        bytes_of(lambda f: as_csv(f).replace(b"\n", b",1\n").replace(b"correct,1", b"correct"), "a.csv"),
        confidences,
        "the rows have more cells than the header has names",
        confidences,
        "confidences",
        "a.csv",
    ),
    "a predicted class beside the true one": (
        csv("a.csv"),
        lambda data: data["classes"].assign(y_true=data["label"], label=data["posteriors"].argmax(axis=1)),
        "label=label or label=y_true. Specify which with --columns",
        None,
        "posteriors",
        "a.csv --columns label=y_true",
    ),
    "both forms": (
        csv("a.csv"),
        lambda data: data["classes"].assign(confidence=0.5, correct=1),
        "confidence=confidence or label=label. Specify which with --columns",
        None,
        "posteriors",
        "a.csv --columns label=label",
    ),
    "labels counted from 1": (
        csv("a.csv"),
        lambda data: data["classes"].assign(label=data["label"] + 1),
        "Count from 0",
        lambda data: data["classes"],
        "posteriors",
        "a.csv",
    ),
    "labels that are text": (
        csv("a.csv"),
        lambda data: data["classes"].assign(label=text_of(data["label"])),
        "--labels A,B,..",
        None,
        "posteriors",
        f"a.csv --labels {','.join(CLASSES)}",
    ),
    "one column per system": (
        csv("a.csv"),
        wide,
        "--columns confidence=NAME",
        None,
        "confidences",
        'a.csv --columns "confidence=GPT-4,correct=correct"',
    ),
    "no header": (
        csv("a.csv", header=False),
        lambda data: data["frame"][["confidence", "correct"]],
        "The first row must contain the names of the columns, e.g. confidence,correct",
        lambda data: data["frame"][["confidence", "correct"]],
        "confidences",
        "b.csv",
    ),
    "an older encoding": (
        csv("a.csv", encoding="cp1252"),
        lambda data: data["frame"].assign(note="\u00e9"),
        "Save it as UTF-8",
        None,
        "confidences",
        "b.csv",
    ),
    "a confidence in words": (
        csv("a.csv"),
        with_confidence(lambda x: "I don't know" if x < 0.02 else x),
        "Leave the cell empty",
        confidences,
        "confidences",
        "a.csv",
    ),
    "NaN in a posterior": (
        csv("a.csv"),
        lambda data: data["classes"].assign(prob_1=[np.nan, *data["classes"]["prob_1"][1:]]),
        "must not be NaN",
        lambda data: data["classes"],
        "posteriors",
        "a.csv",
    ),
    "other names": (
        csv("a.csv"),
        lambda data: data["frame"].rename(columns={"confidence": "certainty", "correct": "ok"}),
        "Perhaps --columns confidence=certainty,correct=ok?",
        None,
        "confidences",
        "a.csv --columns confidence=certainty,correct=ok",
    ),
    "JSON lines called CSV": (
        save("a.csv", lambda path, f: f.to_json(path, orient="records", lines=True)),
        confidences,
        "Give it the suffix of its format",
        None,
        "confidences",
        "b.jsonl",
    ),
    "CSV called JSON lines": (
        csv("a.jsonl"),
        confidences,
        "row 1 is not JSON: Expecting value. Give it the suffix of its format: .csv, .jsonl, ..",
        None,
        "confidences",
        "b.csv",
    ),
}


def numbers(command, capsys):
    """Return the rows that the command writes, by their systems."""
    assert cli.main(["score", *shlex.split(command), "--output", "table.json"]) == 0, capsys.readouterr().err
    capsys.readouterr()
    with open("table.json", encoding="utf-8") as file:
        return {row["system"]: row for row in json.load(file)["rows"]}


@pytest.mark.parametrize("case", TAKEN)
def test_files_give_their_numbers(case, folder, data, truth, capsys):
    write, make, whose, command = TAKEN[case]
    write(data, make)
    (row,) = numbers(command, capsys).values()
    digits = 1e-4 if case == "a list as NumPy prints it" else 1e-6
    assert {key: row[key] for key in truth[whose]} == pytest.approx(truth[whose], rel=digits, abs=digits)


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_what_to_do_and_that_gives_the_numbers(case, folder, data, truth, capsys):
    write, make, advice, mended, whose, command = REFUSED[case]
    write(data, make)
    assert cli.main(["score", "a.jsonl" if case == "CSV called JSON lines" else "a.csv"]) == 2
    assert advice in capsys.readouterr().err
    if mended is not None or "b." in command:
        frame = (mended or make)(data)
        name = command.split()[0]
        frame.to_json(name, orient="records", lines=True) if name.endswith("jsonl") else frame.to_csv(name, index=False)
    (row,) = numbers(command, capsys).values()
    if whose is None:  # to the digits that were left
        assert row["error_rate"] == pytest.approx(truth["posteriors"]["error_rate"], abs=0.02)
        assert row["ecuas_1"] == pytest.approx(truth["posteriors"]["ecuas_1"], rel=0.02)
    else:
        assert {key: row[key] for key in truth[whose]} == pytest.approx(truth[whose], rel=1e-9)


def test_missing_confidences_count_as_what_is_said(folder, data, capsys):
    missing = data["frame"]["confidence"].sample(20, random_state=0).index
    for name, value in (("nothing.csv", None), ("zero.csv", 0.0)):
        frame = data["frame"].copy()
        frame.loc[missing, "confidence"] = value
        frame.to_csv(name, index=False)
    assert cli.main(["score", "nothing.csv"]) == 2
    assert "Set their value with --missing-confidence" in capsys.readouterr().err
    found = numbers("nothing.csv zero.csv --missing-confidence 0", capsys)
    assert found["nothing"] | {"system": ""} == found["zero"] | {"system": ""}


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet", ".npz", ".arrow", ".xlsx", ".npy"])
def test_empty_files_have_no_rows(suffix, folder, capsys):
    Path(f"a{suffix}").touch()
    assert cli.main(["score", f"a{suffix}"]) == 2
    assert capsys.readouterr().err == f"ecuas: a{suffix}: the file has no rows.\n"


@pytest.mark.parametrize("name", ["gpt.csv", "part.csv"])
def test_a_folder_of_systems_is_not_one_table(name, folder, data, capsys):
    Path("runs").mkdir()
    data["frame"].to_csv(f"runs/{name}", index=False)
    assert cli.main(["score", "runs"]) == 2
    assert "is a folder, and not of the parts of one table. Name its files." in capsys.readouterr().err


def test_standard_input(folder, data, truth, capsys, monkeypatch):
    content = gzip.compress(data["frame"].to_csv(index=False).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert numbers("-", capsys)["stdin"]["ecuas_1"] == pytest.approx(truth["confidences"]["ecuas_1"])


def test_wide_files_hold_several_systems(folder, data, truth, capsys):
    frame = data["frame"]
    wide(data).to_csv("one.csv", index=False)
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
    data["binary"].to_csv("binary.csv", index=False)
    np.savez("trainer.npz", **trainer(data))
    data["classes"].assign(label=np.maximum(data["label"], 1)).to_csv("lucky.csv", index=False)
    data["frame"].assign(id="q").to_csv("repeated.csv", index=False)
    data["frame"].assign(confidence=data["frame"]["correct"]).to_csv("classes.csv", index=False)
    said = {
        "binary.csv": "Column 'y_prob' is read as the probability of class 1, column 'y_true' as the class.",
        "trainer.npz": "Column 'predictions_0..predictions_3' is read as logits.",
        "lucky.csv": "Class 0 never occurs, and all other classes up to 3 do: are labels counted from 0?",
        "repeated.csv": "199 of 200 ids in column 'id' occur more than once.",
        "classes.csv": "All predictions are 0 or 1 and count as confidences. Are they class labels?",
    }
    for name, note in said.items():
        assert cli.main(["score", name]) == 0
        assert note in capsys.readouterr().err


def test_words_that_may_mean_two_things_are_refused(folder, capsys):
    (folder / "a.csv").write_text("confidence,correct\n0.9,C\n0.5,I\n0.4,N\n")  # no answer, or no
    assert cli.main(["score", "a.csv"]) == 2
    assert re.search(
        r"must hold numbers; got 'N' in row 4 \(1 of 3\)\. Correct or not\? Write 1 or 0", capsys.readouterr().err
    )


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

"""What is true of the items of decision models may stand in a table of its own, and gives the same numbers there."""

import json
from pathlib import Path

import pandas as pd
import pytest

from ecuas_metric import read_submissions
from ecuas_metric.errors import FileError, InputError
from ecuas_metric.files.runs import RunOptions
from ecuas_metric.files.runs.true_labels import read_labels
from ecuas_metric.reporting import cli
from tests.ecuas_metric.files.test_decision_models import (
    STORES,
    draw_questions,
    ecuas_values,
    labels_of,
    rows_in,
    write_lines,
    write_store,
)

ITEMS = 12
OWN = ("labels", "label", "gold")  # where stores have what is true


def without_labels(folder, store, questions):
    rows = rows_in(store, questions)
    bare = [{name: value for name, value in row.items() if name not in OWN} for row in rows]
    return write_lines(folder / "bare.jsonl", bare)


def write_labels(folder, kind, questions):
    labels = [labels_of(questions, item) for item in range(ITEMS)]
    wide = pd.DataFrame([{"id": item, **of_item} for item, of_item in enumerate(labels)])
    path = folder / f"labels{kind}"
    if kind == ".csv":
        wide.to_csv(path, index=False)
    elif kind == ".parquet":
        wide.to_parquet(path)
    elif kind == ".jsonl":
        rows = [{"id": item, "labels": of_item} for item, of_item in enumerate(labels)]
        write_lines(path, rows)
    else:
        long = wide.melt("id", var_name="question", value_name="label")
        long.sample(frac=1, random_state=0).rename(columns={"id": "item_id"}).to_csv(
            path, index=False
        )
    return path


def read_with(path, labels):
    return read_submissions(path, run=RunOptions(truth=labels and read_labels(labels)))


@pytest.mark.parametrize(
    ("store", "kind"),
    [
        *((store, ".csv") for store in STORES),
        *(("openai", kind) for kind in (".parquet", ".jsonl", "_long.csv")),
    ],
)
def test_labels_by_id_give_the_numbers_of_labels_beside(tmp_path, store, kind):
    questions = draw_questions(3, ITEMS)
    beside = ecuas_values(write_store(tmp_path, store, questions))
    run = RunOptions(truth=read_labels(write_labels(tmp_path, kind, questions)))
    assert ecuas_values(without_labels(tmp_path, store, questions), run=run) == beside


def answered(item, **fields):
    answer = {"type": "predicate", "probability": 0.9}
    response = {"model": "m", "answers": [{"name": name, **answer} for name in ("a", "b")]}
    return {"id": item, "response": response, **fields}


@pytest.mark.parametrize(
    ("rows", "labels", "what"),
    [
        ([answered(None)], [{"id": 1, "a": True, "b": True}], "has no id"),
        ([answered(1)], [{"id": 1, "label": True}], "one label for several questions, a, b"),
        ([answered(1)], [{"id": 2, "a": True}], "labels of items 2, and answers about 1"),
        ([answered(1)], [{"id": 1, "c": True}], "labels of c, and answers to a, b"),
        ([answered(1)], [{"id": 1, "a": True}, {"id": 1, "a": True}], "id of an earlier row"),
        ([answered(1)], [{"id": None, "a": True}, {"id": 1, "a": True}], "has no id"),
        ([answered(1)], [{"id": 1, "a": "maybe"}], "none of the options"),
        ([answered(1, labels=True)], None, "one label for several questions, a, b"),
        ([answered(1, labels={"a": 1}, gold={"a": 0})], None, "labels, labels, gold, which differ"),
        ([answered(1)], [{"id": 1, "a": 1, "label": 1, "gold": 0}], "label, gold, which differ"),
        ([answered(1, correct=1)], None, "one correct for several questions, a, b"),
    ],
)
def test_labels_of_nobody_or_of_several_are_refused(tmp_path, rows, labels, what):
    path = write_lines(tmp_path / "a.jsonl", rows)
    with pytest.raises((FileError, InputError), match=what):
        read_with(path, labels and write_lines(tmp_path / "labels.jsonl", labels))


def test_each_file_has_the_names_of_columns_that_are_said_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    questions = draw_questions(3, ITEMS)
    path = without_labels(tmp_path, "openai", questions)
    renamed = [json.loads(line) for line in path.read_text().splitlines()]
    write_lines(path, [{"ticket": row.pop("id"), **row} for row in renamed])
    table = pd.read_csv(write_labels(tmp_path, ".csv", questions))
    for name, flags in (("id", []), ("key", ["--columns", "own.csv:id=key"])):
        table.rename(columns={"id": name}).to_csv("own.csv", index=False)
        command = ["score", path.name, "--truth", "own.csv", "--columns", "id=ticket", *flags]
        assert cli.main([*command, "--columns", "label=mine"]) == 2
        assert cli.main([*command, "--output", "out.json"]) == 0
        rows = json.loads(Path("out.json").read_text())["rows"]
        assert [row["N"] for row in rows] == [ITEMS] * len(questions)

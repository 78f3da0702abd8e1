"""Questions with options of their own in one table: each has the numbers that it has alone, in every command."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import score_posteriors
from ecuas_metric.errors import InputError
from tests.ecuas_metric.reporting.commanded import by_name, content, saved

OPTIONS = {"two": "ab", "many": "cdefgh", "three": "abc"}


def rows_of(skill, *, items=90, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        for place, (question, options) in enumerate(OPTIONS.items()):
            true = (7 * item + place) % len(options)
            logits = rng.normal(size=len(options)) + skill * np.eye(len(options))[true]
            shares = (np.exp(logits) / np.exp(logits).sum()).tolist()
            posteriors = dict(zip(options, shares, strict=True))
            labels = {"label": options[true], "probabilities": posteriors}
            rows.append({"id": item, "question": question, **labels})
    return rows


def written(name, rows):
    Path(name).write_text("\n".join(map(json.dumps, rows)))
    return name


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Four tables of all questions, and each question of the first alone."""
    monkeypatch.chdir(tmp_path)
    for name, skill, seed in (("old", 2.5, 0), ("new", 2.5, 1), ("bad", 0.2, 2), ("mild", 1, 3)):
        rows = rows_of(skill, seed=seed)
        written(f"{name}.jsonl", rows)
        for question in OPTIONS:
            own = [row for row in rows if row["question"] == question]
            written(f"{name}_{question}.jsonl", own)


def alone(question, name="old"):
    (row,) = saved(f"score {name}_{question}.jsonl")["rows"]
    return row


def test_each_question_has_the_classes_and_the_numbers_that_it_has_alone():
    rows = by_name(saved("score old.jsonl --by question"))
    assert list(rows) == list(OPTIONS)
    for question, row in rows.items():
        numbers = {key: value for key, value in alone(question).items() if key.startswith("ecuas")}
        assert row.items() >= numbers.items()


@pytest.mark.parametrize("questions", [list(OPTIONS), ["two", "three"]])
def test_a_column_for_each_option_is_empty_where_a_question_does_not_have_it(ran, questions):
    """As in a mapping; zeros may also be of options that no answer takes, and are asked about."""
    rows = [{**row, **row.pop("probabilities")} for row in rows_of(2.5)]
    table = pd.DataFrame([row for row in rows if row["question"] in questions])
    table = table.dropna(axis="columns", how="all")
    table.to_csv("empty.csv", index=False)
    options = sorted({*"".join(OPTIONS[question] for question in questions)})
    logarithms = table.assign(**{option: np.log(table[option]) for option in options})
    logarithms.to_csv("logs.csv", index=False)
    for file in ("empty.csv", "logs.csv --scale log"):
        read = by_name(saved(f"score {file} --by question"))
        assert list(read) == questions
        for question, row in read.items():
            assert row["ecuas_1"] == pytest.approx(alone(question)["ecuas_1"], rel=1e-9)
    table.fillna(0).to_csv("zero.csv", index=False)
    said = ran("score zero.csv --columns part=question", 2).err
    assert "has zeros only in a part of the rows" in said
    (way,) = [line.strip() for line in said.splitlines() if "--columns" in line]
    assert way.endswith(f"--labels {','.join(options)}")
    read = saved(way.removeprefix("ecuas "))["rows"]
    assert len(read) == len(questions)


def test_a_table_of_several_questions_is_asked_about_and_read_by_what_is_printed(ran):
    said = ran("score old.jsonl", 2).err
    assert "must name the same classes in each row" in said
    (way,) = [line.strip() for line in said.splitlines() if "--columns" in line]
    assert way == "ecuas score old.jsonl --columns part=question"
    rows = by_name(saved(way.removeprefix("ecuas ")))
    assert rows["old many"]["ecuas_1"] == alone("many")["ecuas_1"]


def test_two_tables_are_compared_by_the_mean_of_their_questions(ran):
    ran("compare old.jsonl bad.jsonl --columns part=question --output out.json")
    verdict = content("out.json")["verdict"]
    assert verdict["best"] == ["old"]
    (row, *_) = content("out.json")["rows"]
    for name, side in (("old", "first"), ("bad", "second")):
        each = [alone(question, name)["ecuas_1"] for question in OPTIONS]
        assert row[f"{side}_value"] == pytest.approx(np.mean(each))
    gate = "--columns part=question --fail-if worse"
    assert ran(f"compare old.jsonl bad.jsonl {gate}", 1).out.startswith("FAIL  bad is worse")
    assert "mean of 3 questions" in ran(f"compare bad.jsonl old.jsonl {gate}").out


@pytest.mark.parametrize("tables", ["old.jsonl", "old.jsonl bad.jsonl"])
def test_a_report_is_of_the_mean_of_questions_and_names_them(tables, ran):
    ran(f"report {tables} --columns part=question --output paper")
    old, *_ = content("paper/results.json")["values"]
    each = [alone(question)["ecuas_1"] for question in OPTIONS]
    assert old["ecuas_1"] == pytest.approx(np.mean(each))
    assert f"({', '.join(OPTIONS)})" in Path("paper/methods.tex").read_text()
    numbers = [f"{question} {value:.3f}" for question, value in zip(OPTIONS, each, strict=True)]
    assert all(text in Path("paper/results.tex").read_text() for text in numbers)


@pytest.mark.parametrize(
    ("other", "flag"),
    [
        ("twin=mild.jsonl", "--reject-costs 0.1"),
        ("twin=mild.jsonl", "--normalize"),
        ("twin=mild.jsonl", "--calibrate affine"),
        ("bad_many.jsonl", ""),
    ],
)
def test_what_is_of_one_question_or_of_other_questions_is_refused(other, flag, ran):
    said = flag.split()[0] if flag else "two"
    assert said in ran(f"compare mild.jsonl {other} --columns part=question {flag}", 2).err


@pytest.mark.long
def test_each_question_is_locked_and_checked_by_itself(ran):
    ran("threshold old.jsonl --by question --budget 0.3 --lock lock.json --output all.json")
    chosen = by_name(content("all.json"))
    for question in OPTIONS:
        ran(f"threshold old_{question}.jsonl --budget 0.3 --output one.json")
        (own,) = content("one.json")["rows"]
        assert chosen[question] == {**own, "system": question}
    assert ran("check new.jsonl --against lock.json").out.startswith("PASS  ")
    rows = [
        bad if bad["question"] == "many" else new
        for bad, new in zip(rows_of(0.2, seed=2), rows_of(2.5, seed=1), strict=True)
    ]
    written("mixed.jsonl", rows)
    ran("check mixed.jsonl --against lock.json --output out.json", 1)
    passed = {row["system"]: row["passed"] for row in content("out.json")["rows"]}
    assert passed == {"mixed two": True, "mixed many": False, "mixed three": True}


@pytest.mark.parametrize("size", [3, 12])
def test_levels_that_are_numbers_are_in_their_order_and_names_are_said(size, ran):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(size), 40)
    true = rng.integers(size, size=40)
    expected = score_posteriors(true, shares, labels=range(size), cost="absolute", n=1)["ecuas_1"]
    for names in (list(map(str, range(size))), [f"level {k}" for k in rng.permutation(size)]):
        rows = [
            {"id": k, "label": names[true[k]], "probabilities": dict(zip(names, p, strict=True))}
            for k, p in enumerate(shares.tolist())
        ]
        written("levels.jsonl", rows)
        flags = "" if names[0] == "0" else f"--labels '{','.join(names)}'"
        (row,) = saved(f"score levels.jsonl --cost absolute {flags}")["rows"]
        assert row["ecuas_1"] == pytest.approx(expected)
    assert "The levels are level " in ran("score levels.jsonl --cost absolute").err


def test_levels_that_are_texts_are_refused_of_arrays():
    with pytest.raises(InputError, match="numbers of levels"):
        score_posteriors(["low", "high"], [[0.9, 0.1], [0.2, 0.8]], cost="absolute")


def test_a_plan_is_of_the_means_that_are_compared():
    tables = "old.jsonl new.jsonl --columns part=question"
    compared = saved(f"compare {tables}")["rows"]
    planned = saved(f"plan {tables}")["rows"]
    differences = {row["key"]: row["difference"] for row in compared}
    assert {row["key"]: row["difference"] for row in planned} == differences

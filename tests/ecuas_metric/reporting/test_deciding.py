"""`ecuas decide` and `ecuas threshold` print what the functions return, and costs of files are those of matrices."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import (
    choose_reject_cost,
    confidence_system,
    decide,
    decide_confidences,
    fit_recalibration,
)
from tests.ecuas_metric.reporting.commanded import content, saved

CLASSES = ["cat", "dog", "eel"]
BY_FIT = "--reject-cost 0.1 --calibrate-on"
MATRIX = np.array([[1, 0], [3, 0], [0, 2]])


TEXTS = {
    "cost.csv": "class,keep,drop\neel,0,2\ncat,1,0\ndog,3,0\n",
    "spaced.csv": "class, keep, drop\n\neel, 0, 2\ncat, 1, 0\ndog, 3, 0\n",
    "twice.csv": "class,keep,drop\neel,0,2\ncat,1,0\ndog,3,0\ncat,9,0\n",
    "cost.json": '{"eel": 4, "cat": 1, "dog": 2}',
    "twice.json": '{"eel": 4, "cat": 1, "cat": 9, "dog": 2}',
    "list.json": "[4, 1, 2]",
    "empty.csv": "",
    "unjudged.csv": "confidence,correct\n0.5,\n0.5,0\n",
    "lacking.csv": "confidence,correct\n,1\n0.5,0\n",
}


@pytest.fixture
def files(folder, rng):
    """Labelled and new rows of both forms, and costs by name, whose order is another one."""
    confidence = rng.beta(4, 1, 200).round(3)
    correct = rng.integers(0, 2, 200) | (confidence > 0.8)
    posteriors = rng.dirichlet(np.ones(3), 200)
    label = np.array(CLASSES)[rng.integers(0, 3, 200)]
    answers = pd.DataFrame({"id": np.arange(200), "confidence": confidence, "correct": correct})
    classes = pd.DataFrame({"label": label, **dict(zip(CLASSES, posteriors.T, strict=True))})
    tables = {
        "answers": answers,
        "classes": classes,
        "new_answers": answers.drop(columns="correct"),
        "new_classes": classes[CLASSES],
        "numbered": classes[CLASSES].set_axis(["p_0", "p_1", "p_2"], axis=1),
    }
    for name, table in tables.items():
        table.to_csv(f"{name}.csv", index=False)
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return answers, classes


def decided(line):
    return pd.DataFrame(saved(f"decide {line}")["rows"])


@pytest.mark.parametrize(
    ("name", "role", "flags"),
    [("new_answers.csv", "correct", ""), ("new_classes.csv", "label", "--labels cat,dog,eel")],
)
def test_new_rows_are_read_with_a_remark_that_they_have_no_labels(name, role, flags, files, ran):
    read, said = ran(f"read {name} {flags} --output recipe.json")
    assert (read.count(name), said.count("No column is read as the labels")) == (1, 1)
    assert role not in content("recipe.json")["columns"]
    out = ran(f"decide {name} {flags} --reject-cost 0.2 --output out.csv").out
    assert out.splitlines()[0] == read.splitlines()[0]
    refused = ran(f"read {name} answers.csv", 2).err  # which of them has none is an error
    assert refused.startswith(f"ecuas: {name}: ")


@pytest.mark.parametrize(
    ("calibrate", "is_weighted"),
    [(None, False), *((method, one) for method in ("affine", "isotonic") for one in (False, True))],
)
def test_answers_are_accepted_as_the_function_does(calibrate, is_weighted, files):
    answers, _ = files
    line = "new_answers.csv --reject-cost 0.15"
    if calibrate:
        line += f" --calibrate-on answers.csv --calibrate {calibrate}"
    confidence = answers["confidence"].to_numpy()
    weight = np.arange(200) % 4 if is_weighted else None
    if weight is not None:  # which new rows have not
        answers.assign(w=weight).to_csv("answers.csv", index=False)
        line += " --columns answers.csv:weight=w"
    if calibrate:
        fitted = fit_recalibration(
            confidence, answers["correct"], method=calibrate, sample_weight=weight
        )
        confidence = fitted.apply(confidence)
    rows = decided(line)
    expected = decide_confidences(confidence, 0.15)
    assert rows["id"].tolist() == answers["id"].astype(str).tolist()
    np.testing.assert_allclose(rows["uncertainty"], expected.uncertainty, atol=1e-12)
    assert rows["accepted"].tolist() == expected.accepted.tolist()


@pytest.mark.parametrize(
    ("text", "cost", "names"),
    [
        (None, "zero_one", CLASSES),
        ("cost.csv", MATRIX, ["keep", "drop"]),
        ("spaced.csv", MATRIX, ["keep", "drop"]),
        ("1,0;3,0;0,2", MATRIX, [0, 1]),
        ("cost.json", np.array([[1], [2], [4]]) * (1 - np.eye(3)), CLASSES),
    ],
)
@pytest.mark.parametrize("order", [CLASSES, ["eel", "cat", "dog"]])
def test_posteriors_are_decided_as_the_function_does_by_costs_in_every_form(
    text, cost, names, order, files
):
    _, classes = files
    place = [CLASSES.index(name) for name in order]
    if text == "1,0;3,0;0,2":
        text = ";".join(",".join(map(str, MATRIX[k])) for k in place)
    flags = f"--labels {','.join(order)}" + ("" if text is None else f" --cost '{text}'")
    rows = decided(f"new_classes.csv {flags} --reject-cost 0.4")
    expected = decide(classes[CLASSES].to_numpy(), cost=cost, reject_cost=0.4)
    assert rows["decision"].tolist() == [names[k] for k in expected.decision]
    np.testing.assert_allclose(rows["uncertainty"], expected.uncertainty, atol=1e-12)
    (scored,) = saved(f"score classes.csv {flags} --reject-costs 0.4")["rows"]
    codes = classes["label"].map(CLASSES.index)
    table = 1 - np.eye(3) if text is None else cost
    costs = np.where(expected.accepted, table[codes, expected.decision], 0.4)
    assert scored["expected_cost_0.4"] == pytest.approx(costs.mean(), abs=1e-12)


@pytest.mark.parametrize("command", ["score", "threshold --budget 0.2", "compare --metrics risk"])
def test_costs_of_classes_are_of_these_whatever_the_order_of_the_columns(command, files, ran):
    _, classes = files
    classes["id"] = range(200)
    classes.to_csv("classes.csv", index=False)
    classes[["id", "label", "eel", "cat", "dog"]].to_csv("turned.csv", index=False)
    arguments = f"{command} classes.csv turned.csv --cost cost.csv"
    said = "needs one order of the classes of all systems; cat,dog,eel in classes, eel,cat,dog in"
    refused = ran(arguments, 2).err
    assert said in refused
    flags = refused.partition("For one order: ")[2].strip().removesuffix(".")
    rows = pd.DataFrame(saved(f"{arguments} {flags}")["rows"])
    if command.startswith("compare"):
        assert rows["difference"].tolist() == [0]
    else:
        assert rows.drop(columns="system").nunique().max() == 1


def test_the_order_of_the_rows_of_a_matrix_is_said(files, ran):
    rows = "The rows of the cost are cat, dog, eel, in this order; --labels says another."
    assert rows in ran("score classes.csv --cost 1,0;3,0;0,2").err
    assert rows not in ran("score classes.csv --cost cost.csv").err


def test_what_is_decided_for_a_row_depends_on_no_other_row(files):
    """Also where it has probabilities of 0, which a fit puts a floor under."""
    _, classes = files
    more = "--reject-cost 0.5 --calibrate-on classes.csv"
    new = classes[CLASSES].copy()
    new.iloc[0] = [1.0, 0.0, 0.0]
    new.iloc[1] = [0.0, 1 - 1e-12, 1e-12]
    new.to_csv("all.csv", index=False)
    together = decided(f"all.csv {more}")["uncertainty"]
    for row in range(3):
        new.iloc[[row]].to_csv("one.csv", index=False)
        assert decided(f"one.csv {more}")["uncertainty"][0] == together[row]
    codes = classes["label"].map(CLASSES.index)
    recalibration = fit_recalibration(classes[CLASSES].to_numpy(), codes)
    np.testing.assert_allclose(
        together, decide(recalibration.apply(new), reject_cost=0.5).uncertainty, atol=1e-12
    )


def test_new_rows_are_read_by_the_recipe_of_labelled_ones(files, ran):
    answers, _ = files
    answers["ok"] = np.where(answers["correct"] == 1, "ja", "nein")
    answers["percent"] = 100 * answers["confidence"]
    answers[["percent", "ok"]].to_csv("graded.csv", index=False)
    answers[["percent"]].to_csv("new.csv", index=False)
    said = "--columns confidence=percent,correct=ok --scale 100 --right ja"
    ran(f"read graded.csv {said} --output recipe.json")
    rows = decided("new.csv --reject-cost 0.15 --calibrate-on graded.csv --recipe recipe.json")
    direct = decided("new_answers.csv --reject-cost 0.15 --calibrate-on answers.csv")
    np.testing.assert_allclose(rows["uncertainty"], direct["uncertainty"], atol=1e-9)
    for command in ("read", "threshold --budget 0.3"):
        out = ran(f"{command} graded.csv --recipe recipe.json").out
        assert "scale = 100, right = ja" in out.splitlines()[0]


@pytest.mark.parametrize(
    ("name", "value"), [("budget", 0.3), ("max_risk", 0.2), ("max_risk", 0.001)]
)
def test_a_threshold_is_that_of_the_function(name, value, files, capsys):
    answers, _ = files
    (row,) = saved("threshold answers.csv", f"--{name.replace('_', '-')}", value)["rows"]
    system = confidence_system(answers["correct"], answers["confidence"])
    choice = choose_reject_cost(system, **{name: value})
    printed = capsys.readouterr().out
    assert row["num_samples_needed"] == choice.num_samples_needed
    if np.isnan(choice.reject_cost):
        assert row["reject_cost"] is None
        assert ("none; about" if choice.num_samples_needed else "none; more of such") in printed
    else:
        expected = choice.reject_cost, choice.risk.low
        assert (row["reject_cost"], row["risk_low"]) == pytest.approx(expected)


def test_what_is_printed_accepts_what_was_chosen(files, ran):
    answers, _ = files
    for power in (0.5, 0.7, 1.3, 2.1):  # of many digits
        answers.assign(confidence=answers["confidence"] ** power).to_csv("answers.csv", index=False)
        out = ran("threshold answers.csv --budget 0.3").out
        cells = re.search(r"^answers +200 +(\S+) +(\S+)", out, re.M)
        rows = decided(f"answers.csv --reject-cost {cells[1]}")
        assert f"{rows['accepted'].mean():.3f}" == cells[2]
    out = ran(f"decide answers.csv --reject-cost {cells[1]} --output out.csv").out
    said = "read answers.csv: 200 rows; confidence = confidence, id = id; not used: correct (the truth)"
    assert out.splitlines()[0] == said


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1e-3, 1e6])
def test_the_unit_of_the_costs_changes_no_decision(unit, files, ran):
    cost = "--cost " + ";".join(",".join(map(repr, row)) for row in (MATRIX * unit).tolist())
    out = ran(f"threshold classes.csv --budget 0.3 {cost}").out
    reject_cost = re.search(r"^classes +200 +(\S+)", out, re.M)[1]
    new = "new_classes.csv --labels cat,dog,eel"
    rows = decided(f"{new} --reject-cost {reject_cost} {cost}")
    expected = decide(files[1][CLASSES], reject_cost=float(reject_cost), cost=MATRIX * unit)
    assert rows["accepted"].tolist() == expected.accepted.tolist()
    assert rows["accepted"].sum() == 140
    assert rows["uncertainty"].to_numpy() == pytest.approx(expected.uncertainty, rel=1e-9, abs=0)


@pytest.mark.parametrize("form", ["prob", "no,yes", "p_yes"])
def test_nothing_is_said_of_a_truth_that_is_unknown(form, files, ran):
    positive = np.where(np.arange(40) % 2, 0.1, 0.9)
    columns = dict(zip(form.split(","), (positive, 1 - positive), strict=False))
    silent = {} if "," in form else {"abstained": np.arange(40) == 3}
    pd.DataFrame({**columns, **silent}).to_csv("new.csv", index=False)
    flags = {"prob": "", "no,yes": "--labels no,yes", "p_yes": "--columns confidence=p_yes"}[form]
    assert ran(f"decide new.csv {flags} --reject-cost 0.2").err == ""
    assert "wrong" not in ran(f"read new.csv {flags}").err


def test_lists_of_new_rows_have_the_order_that_is_said_or_are_refused(files, folder, ran):
    line = "decide lists.jsonl --reject-cost 0.3 --calibrate-on classes.csv"
    rows = files[1][CLASSES].to_dict("records")
    direct = decided("new_classes.csv --reject-cost 0.3 --calibrate-on classes.csv")
    for cells in (rows, [list(row.values()) for row in rows]):
        text = "".join(json.dumps({"posteriors": cell}) + "\n" for cell in cells)
        (folder / "lists.jsonl").write_text(text)
        flags = "" if cells is rows else "--labels cat,dog,eel"
        same = decided(f"{line.removeprefix('decide ')} {flags}")
        assert same["decision"].tolist() == direct["decision"].tolist()
        assert same["uncertainty"].to_numpy() == pytest.approx(direct["uncertainty"].to_numpy())
    assert "the columns are not named after; cat, dog, eel; got posteriors" in ran(line, 2).err


def test_mappings_of_new_rows_name_their_classes(files, folder):
    rows = files[1][CLASSES].to_dict("records")
    text = "".join(json.dumps({"posteriors": row}) + "\n" for row in rows)
    (folder / "mappings.jsonl").write_text(text)
    direct = decided("new_classes.csv --labels cat,dog,eel --reject-cost 0.3 --cost cost.csv")
    same = decided("mappings.jsonl --reject-cost 0.3 --cost cost.csv")
    assert same.drop(columns=["system", "row"]).equals(direct.drop(columns=["system", "row"]))


def test_one_new_row_keeps_its_id(files):
    pd.DataFrame({"id": ["q7"], "confidence": [0.95]}).to_csv("one.csv", index=False)
    assert decided("one.csv --reject-cost 0.1")["id"].tolist() == ["q7"]


def test_a_threshold_promises_no_bounds_of_unlabelled_answers(files, ran):
    said = ran("threshold unjudged.csv --budget 1 --unlabelled wrong").err
    assert said.endswith("at least as good as they are here.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    {
        "decide new_answers.csv": "--reject-cost is missing: what it costs to reject a row.",
        "decide new_answers.csv --reject-cost 2": "--reject-cost must lie in [0, 1]",
        "decide new_answers.csv --reject-cost 0.1 --cost 0,1;1,0": "--cost requires posteriors",
        "decide new_classes.csv --labels cat,dog,eel --reject-cost 0.1 --cost x": "--cost must be numbers as 0,5;1,0",
        "decide cost.csv --reject-cost 0.1": "cost.csv",
        f"decide new_answers.csv {BY_FIT} classes.csv": "--calibrate-on must have one form; confidences",
        f"decide a=new_answers.csv b=new_answers.csv {BY_FIT} answers.csv": "has not this system; got 'a'",
        "decide new_answers.csv --reject-cost 0.1 --output a.tex": "can be written as .csv, .json",
        **{
            f"score classes.csv --cost {name}": f"{name}: must have distinct names of decisions"
            for name in ("twice.csv", "twice.json", "list.json", "empty.csv")
        },
        "decide new_classes.csv --reject-cost 0.1": "decide new_classes.csv --reject-cost 0.1 --labels A,B\n",
        **{
            command: "got nan in row 2 (1 of 2). Missing confidences? --missing-confidence 0 rejects"
            for command in (
                "decide lacking.csv --reject-cost 0.1",
                "threshold lacking.csv --budget 0.5",
                f"decide new_answers.csv {BY_FIT} lacking.csv",
            )
        },
        f"decide new_answers.csv {BY_FIT} unjudged.csv": "has no value in row 2 (1 of 2). Leave such rows out.",
        f"decide numbered.csv {BY_FIT} classes.csv": "not named after; cat, dog, eel; got p_0,p_1,p_2.",
        "threshold answers.csv": "ecuas threshold takes one of --budget and --max-risk",
        "score classes.csv answers.csv --cost cost.csv": "--cost requires posteriors",
        "score classes.csv --cost answers.csv": "--cost must have the costs of each class",
    }.items(),
)
def test_what_cannot_be_decided_is_refused_in_the_words_of_the_command(
    arguments, message, files, ran
):
    assert message in ran(arguments, 2).err

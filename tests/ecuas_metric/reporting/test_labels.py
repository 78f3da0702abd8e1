"""`ecuas audit` draws what people label, and `--audit` takes their labels beside a judge's verdicts."""

import re

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import confidence_system, read_submissions
from ecuas_metric.comparison.labels import add_labels
from ecuas_metric.errors import FileError
from ecuas_metric.files.systems import prepare_submissions
from ecuas_metric.results import compute_results
from tests.ecuas_metric.reporting.commanded import saved

SIZE = 600
DRAW = "audit run.csv --answers 90 --seed 7"
SCORE = "score run.csv --audit done.csv"


@pytest.fixture
def truth(rng, folder):
    """Return the correctness of answers whose verdicts by a judge are in run.csv."""
    confidence = rng.random(SIZE).round(2)
    correct = (rng.random(SIZE) < confidence).astype(int)
    run = pd.DataFrame(
        {
            "id": [f"q{k}" for k in range(SIZE)],
            "question": [f"=What is {k}?" for k in range(SIZE)],
            "judge_score": confidence.round(1).astype(str),
            "confidence": confidence,
            "correct": np.where(rng.random(SIZE) < 0.1, 1 - correct, correct),
        }
    )
    run.to_csv("run.csv", index=False)
    return pd.Series(correct, run["id"])


@pytest.fixture
def labelled(truth, ran):
    """Return a function that draws answers, writes done.csv with the truth of these, and returns both outputs."""

    def draw(flags=""):
        out = ran(f"{DRAW} {flags}").out
        table = pd.read_csv("to_label.csv")
        table = table.assign(correct=truth[table["id"]].to_numpy())
        table.to_csv("done.csv", index=False)
        return table, out

    return draw


def test_what_people_see_leads_them_to_no_label_and_is_drawn_by_the_seed(truth, ran):
    assert "seed 7" in ran(DRAW).out
    first = pd.read_csv("to_label.csv")
    ran(f"{DRAW} --output again.csv")
    assert first.equals(pd.read_csv("again.csv"))
    ran(f"{DRAW[:-1]}8 --output other.csv")
    assert not first.equals(pd.read_csv("other.csv"))
    columns = ["id", "system", "question", "correct", "drawn", "audit_probability"]
    assert first.columns.tolist() == columns
    assert first["correct"].isna().all()
    assert (first["audit_probability"] == 90 / SIZE).all()
    assert first["question"].str.startswith("'=What").all()  # no formula
    assert len(set(first["id"])) == 90


def test_of_each_stratum_its_share_is_drawn_and_of_no_answer_none(labelled, ran):
    stratum = np.repeat(["a", "b", "c"], [60, 300, 240])
    run = pd.read_csv("run.csv").assign(kind=stratum, abstained=0)
    run.loc[::10, "abstained"] = 1
    run.to_csv("run.csv", index=False)
    of_kind = "--columns stratum=kind"
    drawn, out = labelled(of_kind)
    assert "90 of 540 questions" in out
    assert not drawn["id"].isin(run["id"][::10]).any()
    kinds = drawn["id"].map(run.set_index("id")["kind"])
    assert kinds.value_counts().to_dict() == {"b": 45, "c": 36, "a": 9}
    assert np.allclose(drawn["audit_probability"], 90 / 540, rtol=1e-12)
    assert "|strata:" in ran(f"{SCORE} --interval 0.95 {of_kind}").out
    said = ran(f"audit run.csv --answers 19 {of_kind}", 2).err
    assert "--answers must be at least 20, so that people" in said


@pytest.mark.long
def test_labels_of_people_give_the_numbers_of_python(labelled, ran):
    labels, _ = labelled()
    labels.sample(frac=1, random_state=0).to_csv("done.csv", index=False)
    run = pd.read_csv("run.csv")
    known = run["id"].map(labels.set_index("id")["correct"])
    expected = compute_results(
        confidence_system(known, run["confidence"], judge=run["correct"], confidence_level=0.95)
    )
    beside = run.rename(columns={"correct": "judge"}).assign(correct=known)
    beside.to_csv("beside.csv", index=False)
    for read in (
        add_labels(read_submissions("run.csv"), "done.csv"),
        read_submissions("beside.csv"),
    ):
        (system,) = prepare_submissions(read, confidence_level=0.95).values()
        assert compute_results(system).flat() == pytest.approx(expected.flat())
    scored = ran(f"{SCORE} --interval 0.95")
    assert "|audit:90/600|" in scored.out
    assert "90 of 600 answers were labelled by people" in scored.err
    for refused in (
        "decide run.csv --reject-cost 0.2 --calibrate-on beside.csv",
        "score beside.csv --calibrate affine",
    ):
        said = ran(refused, 2).err
        assert "recalibration is not valid with the verdicts of a judge" in said
    beside.to_parquet("beside.parquet")
    assert "a judge's verdicts" in ran("score beside.parquet --out-of-core", 2).err


def test_verdicts_need_no_other_name_where_people_label_some(labelled, ran):
    run = pd.read_csv("run.csv").rename(columns={"correct": "judge"})
    run.loc[run.index % 10 == 0, "judge"] = np.nan
    run.to_csv("run.csv", index=False)
    _, out = labelled()
    assert "correct = judge" in out
    scored = ran(SCORE)
    assert "|audit:90/600|" in scored.out
    assert "taken for the truth" not in scored.err
    assert "without a label" not in scored.err
    ran("score run.csv", 2)  # of which nobody labelled any
    run.assign(correct=1).to_csv("run.csv", index=False)
    assert ran(SCORE).out.partition("\n")[2] == scored.out.partition("\n")[2]


def test_a_plan_says_how_far_more_labels_reach(labelled, ran, capsys):
    labelled()
    plan = "plan run.csv --audit done.csv --metrics ER,ECUAS_1"
    rows = saved(plan)["rows"]
    assert "± with 90 labels  ± with 180 labels  ± with 360 labels" in capsys.readouterr().out
    assert [row["labels"] for row in rows[:3]] == [90, 180, 360]
    assert "--power is of comparisons" in ran(f"{plan} --power 0.9", 2).err


def test_two_systems_are_compared_by_their_labels(labelled, ran):
    run = pd.read_csv("run.csv")
    pd.concat([run.assign(system=name) for name in "ab"]).to_csv("run.csv", index=False)
    labels, _ = labelled()
    assert labels["system"].value_counts().tolist() == [90, 90]
    assert "0.000" in ran("compare run.csv --audit done.csv --metrics ER").out
    labels.drop(labels.index[labels["system"] == "b"][:30]).to_csv("done.csv", index=False)
    plan = ran("plan run.csv --audit done.csv --metrics ER --output plan.csv").out
    assert re.findall(r"with (\d+) labels", plan) == ["60", "90", "120", "180", "240", "360"]
    by_labels = pd.read_csv("plan.csv").set_index(["system", "labels"])["half_width"].round(3)
    (row,) = (line.split() for line in plan.splitlines() if line.startswith("b "))
    assert [*map(float, row[3:])] == by_labels["b"][[60, 120, 240]].tolist()
    labels[labels["system"] == "a"].to_csv("done.csv", index=False)
    assert "has no labels of a system; got 'b'. Draw answers of all" in ran(SCORE, 2).err


def test_answers_are_not_drawn_that_labels_could_not_correct(ran):
    table = pd.DataFrame({"id": range(9), "label": 0, "prob_0": 0.5, "prob_1": 0.5})
    table.to_csv("run.csv", index=False)
    assert "an audit requires confidences; the input is posteriors" in ran(DRAW, 2).err
    answers = pd.DataFrame(
        {"id": [*range(9), 0], "confidence": 0.5, "correct": 1, "seed": range(10)}
    )
    answers.to_csv("run.csv", index=False)
    assert "sample ids must be unique; got '0' repeatedly" in ran(DRAW, 2).err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct": np.nan}, "must have a label in each row that was drawn"),
        ({"drawn": 0}, "has labels of rows that were not drawn"),
        ({"id": "q9999"}, "must be the ids of answers"),
        ({}, "must have each id once"),
    ],
)
def test_labels_that_were_not_drawn_are_refused(change, message, labelled):
    table, _ = labelled()
    table = table.astype({name: object for name in change})
    for name, value in change.items():
        table.loc[5, name] = value
    pd.concat([table] * (1 if change else 2)).to_csv("done.csv", index=False)
    with pytest.raises(FileError, match=message):
        add_labels(read_submissions("run.csv"), "done.csv")


def test_verdicts_that_are_taken_for_the_truth_are_noted(truth, ran):
    run = pd.read_csv("run.csv").rename(columns={"correct": "judge_correct"})
    run.to_csv("run.csv", index=False)
    said = ran("score run.csv --columns correct=judge_correct").err
    assert "The verdicts in 'judge_correct' are taken for the truth" in said
    assert "`ecuas audit` draws these" in said

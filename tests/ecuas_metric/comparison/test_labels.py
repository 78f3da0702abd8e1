"""`ecuas audit` draws what people label, and `--audit` takes their labels beside a judge's verdicts."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import confidence_system, read_submissions
from ecuas_metric.comparison.labels import add_labels
from ecuas_metric.errors import FileError
from ecuas_metric.files.systems import prepare_submissions
from ecuas_metric.reporting.cli import main
from ecuas_metric.results import compute_results

SIZE = 600
DRAW = ["audit", "run.csv", "--answers", "90", "--seed", "7"]


@pytest.fixture
def truth(rng, tmp_path, monkeypatch):
    """Return the correctness of answers whose verdicts by a judge are in run.csv."""
    monkeypatch.chdir(tmp_path)
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


def labelled(truth):
    table = pd.read_csv("to_label.csv")
    return table.assign(correct=truth[table["id"]].to_numpy())


def test_what_people_see_leads_them_to_no_label_and_is_drawn_by_the_seed(truth, capsys):
    assert main(DRAW) == 0
    first = pd.read_csv("to_label.csv")
    assert main([*DRAW, "--output", "again.csv"]) == 0
    assert first.equals(pd.read_csv("again.csv"))
    assert main([*DRAW[:-1], "8", "--output", "other.csv"]) == 0
    assert not first.equals(pd.read_csv("other.csv"))
    columns = ["id", "system", "question", "correct", "drawn", "audit_probability"]
    assert first.columns.tolist() == columns
    assert first["correct"].isna().all()
    assert (first["audit_probability"] == 90 / SIZE).all()
    assert first["question"].str.startswith("'=What").all()  # no formula
    assert len(set(first["id"])) == 90
    assert "seed 7" in capsys.readouterr().out


def test_of_each_stratum_its_share_is_drawn_and_of_no_answer_none(truth, capsys):
    stratum = np.repeat(["a", "b", "c"], [60, 300, 240])
    run = pd.read_csv("run.csv").assign(kind=stratum, abstained=0)
    run.loc[::10, "abstained"] = 1
    run.to_csv("run.csv", index=False)
    of_kind = ["--columns", "stratum=kind"]
    assert main([*DRAW, *of_kind]) == 0
    assert "90 of 540 questions" in capsys.readouterr().out
    drawn = pd.read_csv("to_label.csv")
    assert not drawn["id"].isin(run["id"][::10]).any()
    kinds = drawn["id"].map(run.set_index("id")["kind"])
    assert kinds.value_counts().to_dict() == {"b": 45, "c": 36, "a": 9}
    assert np.allclose(drawn["audit_probability"], 90 / 540, rtol=1e-12)
    labelled(truth).to_csv("done.csv", index=False)
    score = ["score", "run.csv", "--audit", "done.csv", "--interval", "0.95", *of_kind]
    assert main(score) == 0
    assert "|strata:" in capsys.readouterr().out
    assert main([*DRAW[:3], "19", *of_kind]) == 2
    assert "--answers must be at least 20, so that people" in capsys.readouterr().err


@pytest.mark.long
def test_labels_of_people_give_the_numbers_of_python(truth, capsys):
    assert main(DRAW) == 0
    labels = labelled(truth)
    labels.sample(frac=1, random_state=0).to_csv("done.csv", index=False)
    run = pd.read_csv("run.csv")
    known = run["id"].map(labels.set_index("id")["correct"])
    expected = compute_results(
        confidence_system(known, run["confidence"], judge=run["correct"], confidence_level=0.95)
    )
    (system,) = prepare_submissions(
        add_labels(read_submissions("run.csv"), "done.csv"), confidence_level=0.95
    ).values()
    found = compute_results(system)
    assert found.flat() == pytest.approx(expected.flat())
    beside = run.rename(columns={"correct": "judge"}).assign(correct=known)
    beside.to_csv("beside.csv", index=False)
    (system,) = prepare_submissions(read_submissions("beside.csv"), confidence_level=0.95).values()
    assert compute_results(system).flat() == pytest.approx(expected.flat())
    assert main(["score", "run.csv", "--audit", "done.csv", "--interval", "0.95"]) == 0
    captured = capsys.readouterr()
    assert "|audit:90/600|" in captured.out
    assert "90 of 600 answers were labelled by people" in captured.err
    for refused in (
        ["decide", "run.csv", "--reject-cost", "0.2", "--calibrate-on", "beside.csv"],
        ["score", "beside.csv", "--calibrate", "affine"],
    ):
        assert main(refused) == 2
        assert "recalibration is not valid with the verdicts of a judge" in capsys.readouterr().err
    beside.to_parquet("beside.parquet")
    assert main(["score", "beside.parquet", "--out-of-core"]) == 2
    assert "a judge's verdicts" in capsys.readouterr().err


def test_verdicts_need_no_other_name_where_people_label_some(truth, capsys):
    run = pd.read_csv("run.csv").rename(columns={"correct": "judge"})
    run.loc[run.index % 10 == 0, "judge"] = np.nan
    run.to_csv("run.csv", index=False)
    assert main(DRAW) == 0
    assert "correct = judge" in capsys.readouterr().out
    labelled(truth).to_csv("done.csv", index=False)
    assert main(["score", "run.csv", "--audit", "done.csv"]) == 0
    captured = capsys.readouterr()
    assert "|audit:90/600|" in captured.out
    assert "taken for the truth" not in captured.err
    assert "without a label" not in captured.err
    assert main(["score", "run.csv"]) == 2  # of which nobody labelled any
    run.assign(correct=1).to_csv("run.csv", index=False)
    assert main(["score", "run.csv", "--audit", "done.csv"]) == 0
    numbers = captured.out.partition("\n")[2]
    assert capsys.readouterr().out.partition("\n")[2] == numbers


def test_a_plan_says_how_far_more_labels_reach(truth, capsys):
    assert main(DRAW) == 0
    labelled(truth).to_csv("done.csv", index=False)
    plan = ["plan", "run.csv", "--audit", "done.csv", "--metrics", "ER,ECUAS_1"]
    capsys.readouterr()
    assert main([*plan, "--output", "plan.json"]) == 0
    assert "± with 90 labels  ± with 180 labels  ± with 360 labels" in capsys.readouterr().out
    assert [row["labels"] for row in json.loads(Path("plan.json").read_text())["rows"][:3]] == [
        90,
        180,
        360,
    ]
    assert main([*plan, "--power", "0.9"]) == 2
    assert "--power is of comparisons" in capsys.readouterr().err


def test_two_systems_are_compared_by_their_labels(truth, capsys):
    run = pd.read_csv("run.csv")
    both = pd.concat([run.assign(system=name) for name in "ab"])
    both.to_csv("run.csv", index=False)
    assert main(DRAW) == 0
    labels = labelled(truth)
    assert labels["system"].value_counts().tolist() == [90, 90]
    labels.to_csv("done.csv", index=False)
    assert main(["compare", "run.csv", "--audit", "done.csv", "--metrics", "ER"]) == 0
    assert "0.000" in capsys.readouterr().out
    labels[labels["system"] == "a"].to_csv("done.csv", index=False)
    assert main(["score", "run.csv", "--audit", "done.csv"]) == 2
    assert "has no labels of a system; got 'b'" in capsys.readouterr().err


def test_answers_are_not_drawn_that_labels_could_not_correct(truth, capsys):
    table = pd.DataFrame({"id": range(9), "label": 0, "prob_0": 0.5, "prob_1": 0.5})
    table.to_csv("run.csv", index=False)
    assert main(DRAW) == 2
    assert "an audit requires confidences; the input is posteriors" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct": np.nan}, "must have a label in each row that was drawn"),
        ({"drawn": 0}, "has labels of rows that were not drawn"),
        ({"id": "q9999"}, "must be the ids of answers"),
    ],
)
def test_labels_that_were_not_drawn_are_refused(change, message, truth):
    assert main(DRAW) == 0
    table = labelled(truth)
    for name, value in change.items():
        table[name] = table[name].astype(object)
        table.loc[5, name] = value
    table.to_csv("done.csv", index=False)
    with pytest.raises(FileError, match=message):
        add_labels(read_submissions("run.csv"), "done.csv")
    twice = pd.concat([labelled(truth)] * 2)
    twice.to_csv("done.csv", index=False)
    with pytest.raises(FileError, match="must have each id once"):
        add_labels(read_submissions("run.csv"), "done.csv")


def test_verdicts_that_are_taken_for_the_truth_are_noted(truth, capsys):
    run = pd.read_csv("run.csv").rename(columns={"correct": "judge_correct"})
    run.to_csv("run.csv", index=False)
    assert main(["score", "run.csv", "--columns", "correct=judge_correct"]) == 0
    said = capsys.readouterr().err
    assert "The verdicts in 'judge_correct' are taken for the truth" in said
    assert "`ecuas audit` draws these" in said

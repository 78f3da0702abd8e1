"""`ecuas threshold --lock` and `ecuas check`: the status is of the verdict alone, and files say how they are read."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.ecuas_metric.reporting.commanded import answers, content


def write_answers(rng, path, frame, *, spoilt=0.0):
    correct = frame["correct"] * (rng.random(len(frame)) >= spoilt)
    said = {"sure": 100 * frame["confidence"], "fine": np.where(correct, "yes", "no")}
    pd.DataFrame({"row": frame["id"], **said}).sample(frac=1, random_state=1).to_csv(
        path, index=False
    )


@pytest.fixture
def locked(folder, rng, ran):
    """A lock of a table whose columns have to be named, and new versions that are read by its recipe."""
    frame = answers(rng, 300)
    frame["confidence"] = frame["confidence"].round(3)
    write_answers(rng, "old.csv", frame)
    write_answers(rng, "same.csv", frame)
    write_answers(rng, "worse.csv", frame, spoilt=0.3)
    columns = "--columns id=row,confidence=sure,correct=fine --scale 100"
    ran(f"threshold old.csv {columns} --budget 0.3 --lock lock.json --output chosen.json")


@pytest.mark.parametrize(
    ("arguments", "status", "beginning"),
    [
        ("same.csv --against lock.json", 0, "PASS  Not clearly worse than what is locked: same."),
        ("worse.csv --against lock.json", 1, "FAIL  Worse than what is locked: worse by risk"),
        ("same.csv worse.csv --against lock.json", 1, "FAIL  Worse than what is locked: worse by"),
        ("none.csv --against lock.json", 2, ""),
        ("same.csv --against none.json", 2, ""),
        ("same.csv --against chosen.json", 2, ""),
        ("same.csv --against same.csv", 2, ""),
        ("same.csv", 2, ""),
        ("short.csv --against lock.json", 2, ""),
    ],
)
def test_the_status_is_1_for_the_verdict_alone(arguments, status, beginning, locked, ran):
    pd.read_csv("same.csv")[1:].to_csv("short.csv", index=False)
    out = ran(f"check {arguments}", status).out
    assert out.startswith(beginning)
    assert bool(out) == (status != 2)


def test_json_has_the_numbers_of_the_text(locked, ran):
    ran("check worse.csv --against lock.json --output out.json", 1)
    document = content("out.json")
    (row,) = document["rows"]
    (system,) = content("lock.json")["systems"]
    assert document["passed"] is row["passed"] is False
    assert document["sentences"][0].startswith("FAIL  ")
    assert row["risk_locked"] == pytest.approx(system["risk"])
    assert row["expected_cost_locked"] == pytest.approx(system["expected_cost"])
    assert row["risk_worse_by"] == pytest.approx(row["risk"] - row["risk_locked"])
    assert row["coverage"] == row["coverage_locked"] == pytest.approx(system["coverage"])
    # the same confidences, of answers that were right
    assert (row["both_accept"], row["cheaper"]) == (round(300 * system["coverage"]), 0)
    assert row["dearer"] == pytest.approx(row["risk_worse_by"] * row["both_accept"])


def write_decisions(path, model, skill, rng, true):
    with Path(path).open("w") as file:
        for item, (urgent, team) in enumerate(true):
            logits = rng.normal(size=3) + skill * np.eye(3)[team]
            shares = (np.exp(logits) / np.exp(logits).sum()).tolist()
            options = [
                {"value": name, "probability": p} for name, p in zip("abc", shares, strict=True)
            ]
            yes = 1 / (1 + np.exp(-rng.normal() - skill * (2 * urgent - 1)))
            choice = {"choice": "abc"[int(np.argmax(shares))], "probabilities": options}
            given = [
                {"type": "predicate", "name": "urgent", "probability": yes},
                {"type": "choice", "name": "team", "confidence": max(shares), **choice},
            ]
            if item == 5:
                given[1] = {"type": "refusal", "name": "team"}
            labels = {"urgent": bool(urgent), "team": "abc"[team]}
            response = {"model": model, "answers": given}
            print(json.dumps({"id": item, "labels": labels, "response": response}), file=file)


@pytest.mark.long
def test_each_question_of_a_decision_model_is_checked_by_its_own_lock(rng, ran):
    true = [(rng.integers(2), rng.integers(3)) for _ in range(150)]
    for path, model, skill in (("old", "m-1", 2.0), ("new", "m-2", 2.0), ("bad", "m-3", 0.3)):
        write_decisions(f"{path}.jsonl", model, skill, rng, true)
    ran("threshold old.jsonl --budget 0.3 --lock lock.json")
    assert ran("check old.jsonl --against lock.json").out.startswith("PASS  ")
    assert ran("check new.jsonl --against lock.json").out.startswith("PASS  ")
    ran("threshold old.jsonl --by question --budget 0.3 --lock short.json")
    for lock in ("lock", "short"):  # both versions are named
        said = ran(f"check new.jsonl --against {lock}.json").out
        (of_team,) = [line for line in said.splitlines() if line.startswith("m-2 team: ")]
        assert "is locked of m-1 team." in of_team
    ran("check bad.jsonl --against lock.json --output out.json", 1)
    rows = content("out.json")["rows"]
    assert [row["passed"] for row in rows] == [False, False]
    assert [row["locked"] for row in rows] == ["m-1 urgent", "m-1 team"]
    lines = [json.loads(line) for line in Path("new.jsonl").read_text().splitlines()]
    lines[3]["labels"]["urgent"] = not lines[3]["labels"]["urgent"]
    Path("other.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "these differ: true classes" in ran("check other.jsonl --against lock.json", 2).err
    assert "these differ: true classes" in ran("compare old.jsonl other.jsonl", 2).err
    for line in lines:
        line["response"]["answers"] = line["response"]["answers"][:1]
    Path("part.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert (
        "lacks questions that are locked: team"
        in ran("check part.jsonl --against lock.json", 2).err
    )
    ran("threshold old.jsonl bad.jsonl --budget 0.3 --lock both.json")
    said = ran("check new.jsonl --against both.json", 2).err
    assert "needs one system of each question, or one called" in said
    assert ran("check bad.jsonl --against both.json").out.startswith("PASS  ")
    assert ran("check m-1=new.jsonl --against both.json").out.startswith("PASS  ")


def test_new_answers_of_a_decision_model_are_decided_without_their_truth_as_they_were_chosen(
    rng, ran
):
    """As many are accepted as at the reject cost of a budget, each by the probability of its own question."""
    true = [(rng.integers(2), rng.integers(3)) for _ in range(60)]
    write_decisions("old.jsonl", "m", 2.0, rng, true)
    ran("threshold old.jsonl --budget 0.3 --lock lock.json")
    lines = [json.loads(line) for line in Path("old.jsonl").read_text().splitlines()]
    unlabelled = [{"id": line["id"], "response": line["response"]} for line in lines]
    Path("new.jsonl").write_text("\n".join(map(json.dumps, unlabelled)))
    for lock in content("lock.json")["systems"]:
        ran(f"decide new.jsonl --reject-cost {lock['reject_cost']!r} --output out.json")
        rows = [row for row in content("out.json")["rows"] if row["system"] == lock["system"]]
        assert [row["uncertainty"] for row in rows] == pytest.approx(lock["uncertainty"])
        assert np.mean([row["accepted"] for row in rows]) == lock["coverage"]


def test_a_lock_finds_its_files_from_its_own_folder(tmp_path, monkeypatch, rng, ran):
    """Wherever folder and working directory are: the true labels, and the costs of a table."""
    kept = tmp_path / "kept"
    kept.mkdir()
    true = [(rng.integers(2), rng.integers(3)) for _ in range(60)]
    write_decisions(kept / "run.jsonl", "m", 2.0, rng, true)
    lines = [json.loads(line) for line in (kept / "run.jsonl").read_text().splitlines()]
    labels = [{"row": line["id"], **line.pop("labels")} for line in lines]
    pd.DataFrame(labels).to_csv(kept / "labels.csv", index=False)
    (kept / "run.jsonl").write_text("\n".join(map(json.dumps, lines)))
    table = pd.DataFrame({"id": range(60), "label": [team for _, team in true]})
    table[["prob_0", "prob_1", "prob_2"]] = rng.dirichlet(np.ones(3), 60)
    table.to_csv(kept / "table.csv", index=False)
    (kept / "costs.csv").write_text("class,0,1,2\n0,0,1,3\n1,1,0,3\n2,1,2,0\n")
    truth = "--truth kept/labels.csv --columns kept/labels.csv:id=row"
    monkeypatch.chdir(tmp_path)
    ran(f"threshold kept/run.jsonl {truth} --budget 0.3 --lock kept/run.json")
    ran("threshold kept/table.csv --cost kept/costs.csv --budget 0.3 --lock kept/table.json")
    moved = kept.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path.parent)
    for file, lock in (("run.jsonl", "run.json"), ("table.csv", "table.json")):
        assert ran(f"check {moved / file} --against {moved / lock}").out.startswith("PASS  ")
    (moved / "labels.csv").unlink()
    said = ran(f"check {moved}/run.jsonl --against {moved}/run.json", 2).err
    assert f"{moved / 'labels.csv'}: there is no such file." in said

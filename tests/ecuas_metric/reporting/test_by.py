import json
import math

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import score_confidences
from ecuas_metric.files.runs import RunOptions
from ecuas_metric.files.submissions import read_submissions
from ecuas_metric.reporting.cli import main
from ecuas_metric.reporting.tables import BEST
from tests.ecuas_metric.files.test_runs import lm_eval_row, written

METRICS = ("ecuas_0", "error_rate", "auroc", "aurc")


@pytest.fixture
def frame(rng):
    q = rng.random(240)
    correct = (rng.random(240) < q).astype(int)
    subject = np.array(["law", "art", "law", "medicine"])[np.arange(240) % 4]
    return pd.DataFrame(
        {"id": np.arange(240), "subject": subject, "confidence": q, "correct": correct}
    )


def score(folder, *arguments):
    """Score files, and return the rows and the averages that are written, by system."""
    paths = folder / "t.json", folder / "t_macro.json"
    assert (
        main(
            [
                "score",
                *map(str, arguments),
                "--metrics",
                ",".join(METRICS),
                "--output",
                str(paths[0]),
            ]
        )
        == 0
    )
    written = (json.loads(path.read_text())["rows"] if path.exists() else [] for path in paths)
    return [{row["system"]: row for row in rows} for rows in written]


@pytest.mark.parametrize("flags", [[], ["--groups", "document"]])
def test_each_value_has_a_row_and_counts_the_same_in_the_averages(flags, frame, tmp_path, capsys):
    """Also where groups of samples depend on each other, if none of them has samples in several parts."""
    frame["document"] = frame["subject"] + (frame["id"] // 8).astype(str)
    frame.to_csv(tmp_path / "gpt.csv", index=False)
    found, averages = score(
        tmp_path, tmp_path / "gpt.csv", "--by", "subject", "--interval", 0.9, *flags
    )
    (average,) = averages.values()
    assert list(found) == ["law", "art", "medicine"]
    for subject, row in found.items():
        part = frame[frame["subject"] == subject]
        expected = score_confidences(
            part["correct"],
            part["confidence"],
            confidence_level=0.9,
            groups=part["document"] if flags else None,
        )
        shared = [key for key in row if key in expected]
        assert [row[key] for key in shared] == pytest.approx(
            [expected[key] for key in shared], abs=1e-12
        )
        assert row["N"] == len(part)
    for key in METRICS:
        values = [row[key] for row in found.values()]
        assert average[key] == pytest.approx(np.mean(values), abs=1e-12)
        if key != "aurc":  # whose bias is taken off
            half = math.sqrt(sum((row[f"{key}_low"] - row[key]) ** 2 for row in found.values())) / 3
            # to first order
            assert average[key] - average[f"{key}_low"] == pytest.approx(half, rel=0.1)
    assert (average["system"], average["N"]) == ("gpt", 3)
    assert "Macro-averages over subject; N counts its values." in capsys.readouterr().out


def test_averages_of_several_systems_are_ranked_by_the_values_they_share(frame, tmp_path, capsys):
    for name in ("a", "b"):
        frame.assign(confidence=frame["confidence"] ** (1 + (name == "b"))).to_csv(
            tmp_path / f"{name}.csv"
        )
    files = [tmp_path / "a.csv", f"B={tmp_path / 'b.csv'}"]
    rows, averages = score(tmp_path, *files, "--by", "subject")
    assert list(rows) == [
        f"{system} {subject}" for system in "aB" for subject in ("law", "art", "medicine")
    ]
    assert list(averages) == ["a", "B"]
    assert BEST in capsys.readouterr().out.split("Macro")[1]
    frame[frame["subject"] == "law"].to_csv(tmp_path / "b.csv")
    score(tmp_path, *files, "--by", "subject")
    assert "differ between the systems: parts." in capsys.readouterr().out.split("Macro")[1]


def test_recalibrated_systems_have_averages_of_their_own(frame, tmp_path):
    for name in ("a", "b"):
        frame.assign(confidence=frame["confidence"] ** 2).to_csv(tmp_path / f"{name}.csv")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    flags = ["--by", "subject", "--calibrate", "affine", "--interval", "0.9"]
    rows, averages = score(tmp_path, *files, *flags)
    assert list(averages) == ["a", "a, affine", "b", "b, affine"]
    for of, suffix in (("a", ""), ("a", ", affine"), ("b", ", affine")):
        values = [rows[f"{of} {part}{suffix}"]["ecuas_0"] for part in ("law", "art", "medicine")]
        assert averages[f"{of}{suffix}"]["ecuas_0"] == pytest.approx(np.mean(values))
    alone, averages = score(tmp_path, files[0], *flags)
    assert list(averages) == ["a", "a, affine"]
    assert list(alone) == [
        f"{part}{suffix}" for part in ("law", "art", "medicine") for suffix in ("", ", affine")
    ]


def test_the_column_of_systems_is_kept_and_files_out_of_core_have_the_same_rows(frame, tmp_path):
    both = pd.concat([frame.assign(model=name) for name in ("m1", "m2")])
    both.to_parquet(tmp_path / "runs.parquet")
    inside, _ = score(tmp_path, tmp_path / "runs.parquet", "--by", "subject")
    outside, _ = score(tmp_path, tmp_path / "runs.parquet", "--by", "subject", "--out-of-core")
    assert (
        inside.keys()
        == outside.keys()
        == {f"m{i} {part}" for i in (1, 2) for part in ("law", "art", "medicine")}
    )
    assert all(
        inside[name]["ecuas_0"] == pytest.approx(outside[name]["ecuas_0"], abs=1e-11)
        for name in inside
    )


def test_averages_that_do_not_exist(frame, tmp_path, capsys):
    frame.loc[frame["subject"] == "art", "correct"] = 1
    file = tmp_path / "a.csv"
    frame.assign(document=frame["id"] % 7).to_csv(file, index=False)
    _, averages = score(
        tmp_path, file, "--by", "subject", "--groups", "document", "--interval", 0.9
    )
    (row,) = averages.values()
    assert row["auroc"] is None
    assert row["error_rate_low"] is None
    err = capsys.readouterr().err
    assert "The average of auroc is nan: it does not exist in 1 of 3 parts." in err
    assert "Groups have samples in several parts, so there are no intervals of averages." in err
    frame["correct"] = frame["correct"].where(frame.index % 5 > 0)
    frame.to_csv(file, index=False)
    score(tmp_path, file, "--by", "subject")  # answers without a verdict: bounds of the rows only
    assert "Macro" not in capsys.readouterr().out
    assert main(["score", str(file), "--by", "topic"]) == 2


@pytest.mark.parametrize("rule", ["wrong", "drop"])
def test_answers_without_a_verdict_that_are_counted_or_dropped_have_averages(frame, tmp_path, rule):
    frame["correct"] = frame["correct"].where(frame.index % 5 > 0)
    frame.to_csv(tmp_path / "a.csv", index=False)
    rows, averages = score(tmp_path, tmp_path / "a.csv", "--by", "subject", "--unlabelled", rule)
    for key in set(METRICS) - {"aurc"}:
        mean = np.mean([row[key] for row in rows.values()])
        assert averages["a"][key] == pytest.approx(mean, abs=1e-12)


def test_tasks_of_a_run_are_rows_or_pooled(tmp_path, rng, capsys):
    for task, count, choices in (("law", 20, 4), ("art", 30, 4), ("truth", 12, 2)):
        names, right = list("wxyz")[:choices], rng.integers(choices, size=count).tolist()
        rows = [
            lm_eval_row(i, right[i], rng.normal(size=choices).tolist(), choices=names)
            for i in range(count)
        ]
        written(tmp_path / "run", rows, task=task)
    found, averages = score(tmp_path, tmp_path / "run", "--by", "task")
    assert list(found) == ["art, 4 choices", "law, 4 choices", "truth, 2 choices"]
    (average,) = averages.values()
    assert average["error_rate"] == pytest.approx(
        np.mean([row["error_rate"] for row in found.values()])
    )
    pools = read_submissions(tmp_path / "run", columns={"part": "model"}, run=RunOptions())
    assert [(len(one.references), one.notes[0].fact[:33]) for one in pools] == [
        (50, "2 tasks with 4 choices are pooled"), (12, "lm-eval samples, task truth, 12 q")
    ]  # fmt: skip
    assert len(set(pools[0].ids.tolist())) == len(pools[0].ids)
    pooled, _ = score(tmp_path, tmp_path / "run", "--by", "model")
    assert {name: row["N"] for name, row in pooled.items()} == {
        "4 choices": 50,
        "truth, 2 choices": 12,
    }
    pooled, _ = score(tmp_path, tmp_path / "run", "--by", "model", "--tasks", "law,art")
    assert {name: row["N"] for name, row in pooled.items()} == {"run": 50}
    assert main(["score", str(tmp_path / "run"), "--by", "subject"]) == 2
    assert "is a run, which has parts by task or by model; got 'subject'" in capsys.readouterr().err

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import read_submissions, score_confidences
from ecuas_metric.files.runs import RunOptions
from ecuas_metric.reporting.tables import BEST
from tests.ecuas_metric.files.test_runs import lm_eval_row, written
from tests.ecuas_metric.reporting.commanded import answers, by_name, content, saved

METRICS = ("ecuas_0", "error_rate", "auroc", "aurc")
PARTS = ["law", "art", "medicine"]


@pytest.fixture
def frame(rng):
    return answers(rng, 240, subject=np.array([*PARTS, "law"])[np.arange(240) % 4])


def score(line, by="subject"):
    """Score files, and return the rows and the averages that are written, by system."""
    Path("out_macro.json").unlink(missing_ok=True)
    rows = saved(f"score {line} --by {by} --metrics {','.join(METRICS)}")
    averages = content("out_macro.json") if Path("out_macro.json").exists() else {"rows": []}
    return by_name(rows), by_name(averages)


def test_averages_overwrite_no_input(frame, ran):
    frame.to_csv("gpt_macro.csv", index=False)
    refused = ran("score gpt_macro.csv --by subject --output gpt.csv", 2).err
    assert refused.startswith("ecuas: gpt_macro.csv: this file is read, and would be overwritten.")
    ran("score gpt_macro.csv --output gpt.csv")


@pytest.mark.parametrize("flags", ["", "--groups document"])
def test_each_value_has_a_row_and_counts_the_same_in_the_averages(flags, frame, capsys):
    """Also where groups of samples depend on each other, if none of them has samples in several parts."""
    frame["document"] = frame["subject"] + (frame["id"] // 8).astype(str)
    frame.to_csv("gpt.csv", index=False)
    rows, averages = score(f"gpt.csv --interval 0.9 {flags}")
    (average,) = averages.values()
    assert list(rows) == PARTS
    for subject, row in rows.items():
        part = frame[frame["subject"] == subject]
        groups = part["document"] if flags else None
        expected = score_confidences(
            part["correct"], part["confidence"], confidence_level=0.9, groups=groups
        )
        numbers = {key: row[key] for key in (*METRICS, "ecuas_0_low")}
        assert numbers == pytest.approx({key: expected[key] for key in numbers}, abs=1e-12)
        assert row["N"] == len(part)
    for key in METRICS:
        values = [row[key] for row in rows.values()]
        assert average[key] == pytest.approx(np.mean(values), abs=1e-12)
        if key != "aurc":  # whose bias is taken off
            half = math.hypot(*(row[f"{key}_low"] - row[key] for row in rows.values())) / 3
            # to first order
            assert average[key] - average[f"{key}_low"] == pytest.approx(half, rel=0.1)
    assert (average["system"], average["N"]) == ("gpt", 3)
    assert "Macro-averages over subject; N counts its values." in capsys.readouterr().out


def test_averages_of_several_systems_are_ranked_by_the_values_they_share(frame, capsys):
    for name, power in (("a", 1), ("b", 2)):
        frame.assign(confidence=frame["confidence"] ** power).to_csv(f"{name}.csv")
    rows, averages = score("a.csv B=b.csv")
    assert list(rows) == [f"{system} {part}" for system in "aB" for part in PARTS]
    assert list(averages) == ["a", "B"]
    assert BEST in capsys.readouterr().out.split("Macro")[1]
    frame[frame["subject"] == "law"].to_csv("b.csv")
    score("a.csv B=b.csv")
    assert "the systems differ in: parts." in capsys.readouterr().out.split("Macro")[1]


@pytest.mark.long
def test_the_column_of_systems_is_kept_and_files_out_of_core_have_the_same_rows(frame):
    pd.concat([frame.assign(model=name) for name in ("m1", "m2")]).to_parquet("runs.parquet")
    inside, _ = score("runs.parquet")
    outside, _ = score("runs.parquet --out-of-core")
    assert inside.keys() == outside.keys() == {f"m{i} {part}" for i in (1, 2) for part in PARTS}
    for name, row in inside.items():
        assert outside[name]["ecuas_0"] == pytest.approx(row["ecuas_0"], abs=1e-11)


@pytest.mark.long
@pytest.mark.parametrize("engine", ["", "--out-of-core"])
def test_systems_are_ranked_within_a_part_alone(engine, frame, ran):
    """Without ids, and of as many answers, nothing else tells the parts apart."""
    parts = frame.drop(columns="id").groupby("subject").head(60)
    for column, is_ranked in (("subject", False), ("model", True)):
        parts.rename(columns={"subject": column}).to_parquet("runs.parquet")
        out = ran(f"score runs.parquet --by {column} --metrics ER {engine}").out
        assert (BEST in out) == is_ranked
    parts["model"] = np.where(parts.index % 8 < 4, "m1", "m2")
    parts.to_parquet("runs.parquet")
    out = ran(f"score runs.parquet --by subject --metrics ER {engine}").out.split("Macro")[0]
    accuracies = parts.groupby(["subject", "model"])["correct"].mean()
    for (part, model), accuracy in accuracies.items():
        (line,) = re.findall(f"^{model} {part} .*", out, re.MULTILINE)
        assert (BEST in line) == (accuracy == accuracies[part].max())


def test_averages_that_do_not_exist(frame, capsys, ran):
    frame.loc[frame["subject"] == "art", "correct"] = 1
    frame.assign(document=frame["id"] % 7).to_csv("a.csv", index=False)
    _, averages = score("a.csv --groups document --interval 0.9")
    (row,) = averages.values()
    assert row["auroc"] is None
    assert row["error_rate_low"] is None
    err = capsys.readouterr().err
    assert "The average of auroc is nan: it does not exist in 1 of 3 parts." in err
    assert "Groups have samples in several parts, so there are no intervals of averages." in err
    ran("score a.csv --by topic", 2)


def test_tasks_of_a_run_are_rows_or_pooled(rng, ran):
    for task, count, choices in (("law", 20, 4), ("art", 30, 4), ("truth", 12, 2)):
        names = list("wxyz")[:choices]
        scores = rng.normal(size=(count, choices)).tolist()
        right = rng.integers(choices, size=count).tolist()
        rows = [lm_eval_row(i, right[i], scores[i], choices=names) for i in range(count)]
        written(Path("run"), rows, task=task)
    rows, averages = score("run", by="task")
    assert list(rows) == ["art, 4 choices", "law, 4 choices", "truth, 2 choices"]
    (average,) = averages.values()
    mean = np.mean([row["error_rate"] for row in rows.values()])
    assert average["error_rate"] == pytest.approx(mean)
    pools = read_submissions("run", columns={"part": "model"}, run=RunOptions())
    facts = [one.notes[0].fact for one in pools]
    assert facts[0].startswith("2 tasks with 4 choices are pooled")
    assert facts[1].startswith("lm-eval samples, task truth, 12 q")
    assert len(set(pools[0].ids.tolist())) == len(pools[0].ids)
    for flags, sizes in (
        ("", {"4 choices": 50, "truth, 2 choices": 12}),
        ("--tasks law,art", {"run": 50}),
    ):
        pooled, _ = score(f"run {flags}", by="model")
        assert {name: row["N"] for name, row in pooled.items()} == sizes
    refused = ran("score run --by subject", 2).err
    assert "is a run, which has parts by task or by model; got 'subject'" in refused

"""`ecuas compare --within`: the differences within each value of a column, or each task of a run, and over all."""

from pathlib import Path

import numpy as np
import pytest

from ecuas_metric import compare_systems, confidence_system
from tests.ecuas_metric.files.test_runs import lm_eval_row, written
from tests.ecuas_metric.reporting.commanded import answers, content, saved


def compared(line):
    """Compare files, and return the rows over all, and those within by value."""
    rows = saved(f"compare {line}")["rows"]
    within = {}
    for row in content("out_within.json")["rows"]:
        within.setdefault(row["within"], []).append(row)
    return rows, within


@pytest.mark.long
def test_each_value_is_compared_alone_and_all_as_strata(rng, capsys):
    subject = np.array(["law", "art", "law", "2"])[np.arange(240) % 4]
    frames = {name: answers(rng, 240, subject=subject) for name in "ab"}
    for name, frame in frames.items():
        frame.to_csv(f"{name}.csv", index=False)
    rows, within = compared("a.csv b.csv --within subject --metrics error_rate,aurc")
    assert within.keys() == {"law", "art", "2"}
    for part, (row, _) in [("", rows), *within.items()]:
        systems = {}
        for name, frame in frames.items():
            kept = frame[frame["subject"] == part] if part else frame
            systems[name] = confidence_system(
                kept["correct"],
                kept["confidence"],
                confidence_level=0.95,
                strata=None if part else subject,
            )
        (expected,) = (
            one for one in compare_systems(systems, by_position=True) if str(one.key) == row["key"]
        )
        assert (row["difference"], row["low"]) == pytest.approx((expected.difference, expected.low))
    said = "Within each subject; adjusted p holds for all 6 tests of this table."
    assert said in capsys.readouterr().out


def test_the_tasks_of_runs_are_pooled_and_compared_one_by_one(rng):
    for model in ("a", "b"):
        for task in ("x", "y"):
            rows = [lm_eval_row(i, i % 3, rng.normal(size=3).tolist()) for i in range(30)]
            written(Path(model), rows, task=task)
    _, within = compared("a b --within task --metrics error_rate")
    assert within.keys() == {"x", "y"}

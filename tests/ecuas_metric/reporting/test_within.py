"""`ecuas compare --within`: the differences within each value of a column, or each task of a run, and over all."""

import json

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import compare_systems, confidence_system
from ecuas_metric.reporting.cli import main
from tests.ecuas_metric.files.test_runs import lm_eval_row, written


def compared(folder, *arguments):
    """Compare files, and return the rows over all, and those within by value."""
    path = folder / "t.json"
    assert main(["compare", *map(str, arguments), "--output", str(path)]) == 0
    rows, within = (json.loads(one.read_text())["rows"] for one in (path, folder / "t_within.json"))
    return rows, {
        part: [row for row in within if row["within"] == part]
        for part in {row["within"] for row in within}
    }


def test_each_value_is_compared_alone_and_all_as_strata(tmp_path, rng, capsys):
    subject = np.array(["law", "art", "law", "2"])[np.arange(240) % 4]
    frames = {}
    for name in "ab":
        q = rng.random(240)
        frames[name] = pd.DataFrame(
            {"id": range(240), "q": q, "correct": (rng.random(240) < q).astype(int)}
        )
        frames[name].assign(subject=subject).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "a.csv", tmp_path / "b.csv", "--columns", "confidence=q"]
    rows, within = compared(tmp_path, *files, "--within", "subject", "--metrics", "error_rate,aurc")
    assert within.keys() == {"law", "art", "2"}
    for part, (row, _) in [("", rows), *within.items()]:
        kept = subject == part if part else np.ones(240, bool)
        strata = {} if part else {"strata": subject}
        systems = {
            name: confidence_system(
                one["correct"][kept], one["q"][kept], confidence_level=0.95, **strata
            )
            for name, one in frames.items()
        }
        (expected,) = (one for one in compare_systems(systems) if str(one.key) == row["key"])
        assert (row["difference"], row["low"]) == pytest.approx((expected.difference, expected.low))
    assert (
        "Within each subject; adjusted p holds for all 6 tests of this table."
        in capsys.readouterr().out
    )


def test_the_tasks_of_runs_are_pooled_and_compared_one_by_one(tmp_path, rng):
    for model in ("a", "b"):
        for task in ("x", "y"):
            rows = [
                lm_eval_row(number, number % 3, rng.normal(size=3).tolist()) for number in range(30)
            ]
            written(tmp_path / model, rows, task=task)
    _, within = compared(
        tmp_path, tmp_path / "a", tmp_path / "b", "--within", "task", "--metrics", "error_rate"
    )
    assert within.keys() == {"x", "y"}

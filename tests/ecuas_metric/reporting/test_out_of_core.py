"""`ecuas score --out-of-core` and `ecuas merge`: the table that the rows themselves would give."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest

from ecuas_metric.reporting.cli import main
from ecuas_metric.scale import reduction, state


@pytest.fixture
def logs(rng, tmp_path):
    confidence = rng.random((2, 300)).round(2)
    for i, q in enumerate(confidence):
        model = np.array(["a", "b"])[np.arange(300) % 2]
        table = pa.table({"model": model, "confidence": q, "correct": rng.random(300) < q})
        pq.write_table(table, tmp_path / f"{i}.parquet")
    pq.write_table(pq.read_table(tmp_path / "0.parquet"), tmp_path / "both")
    pq.write_table(pa.concat_tables(pq.read_table(tmp_path / f"{i}.parquet") for i in (0, 1)), tmp_path / "all.parquet")
    return tmp_path


def printed(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr()


def test_the_table_is_that_of_the_rows(logs, capsys):
    options = ("--reject-costs", "0.3", "--normalize", "--decompose", "--interval", "0.9")
    analytic = ("--interval-method", "analytic")
    rows = printed(capsys, "score", logs / "all.parquet", *options, *analytic, "--output", logs / "rows.json").out
    states = printed(
        capsys,
        "score",
        f"{logs}/[01].parquet",
        "--out-of-core",
        "--by",
        "model",
        *options,
        "--output",
        logs / "states.json",
    ).out
    first, second = (text.split("\n") for text in (rows, states))
    assert first[:2] == second[:2]
    for one, two in zip(
        *(json.loads((logs / name).read_text())["rows"] for name in ("rows.json", "states.json")), strict=True
    ):
        for key in one:
            if isinstance(one[key], float):
                assert two[key] == pytest.approx(one[key], rel=1e-9, abs=1e-12), key
        assert two["auroc_standard_error"] > 0
    assert "|state:" in states


def test_a_file_of_states_grows_and_merges(logs, capsys):
    for i in (0, 1):
        printed(capsys, "score", logs / f"{i}.parquet", "--out-of-core", "--state", logs / f"{i}.state")
    both = printed(capsys, "merge", logs / "0.state", logs / "1.state", "--state", logs / "both.state").out
    assert both == printed(capsys, "score", f"{logs}/[01].parquet", "--out-of-core").out
    assert both == printed(capsys, "merge", logs / "both.state").out
    printed(capsys, "score", logs / "1.parquet", "--out-of-core", "--state", logs / "0.state")
    assert (logs / "0.state").read_bytes() == (logs / "both.state").read_bytes()


def test_bounds_are_in_the_table_and_in_what_is_written(logs, capsys, monkeypatch):
    for module in (reduction, state):
        monkeypatch.setattr(module, "PLAIN_LIMIT", 20)
    out = printed(capsys, "score", logs / "all.parquet", "--out-of-core", "--output", logs / "t.json").out
    row = json.loads((logs / "t.json").read_text())["rows"][0]
    assert row["auroc_lower_bound"] < row["auroc"] < row["auroc_upper_bound"]
    assert "error_rate_lower_bound" not in row
    [line] = [line for line in out.split("\n") if line.startswith("a: bounds")]
    assert "auroc in [0." in line
    assert "augrc in [0." in line
    assert "error_rate" not in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "{0}/0.parquet", "--state", "a.state"), "--state requires --out-of-core"),
        (("score", "{0}/0.parquet", "--out-of-core", "--groups", "g"), "--groups cannot be used with --out-of-core"),
        (
            ("score", "{0}/0.parquet", "--out-of-core", "--unjudged", "bounds"),
            "--unjudged of a state must be wrong or drop",
        ),
        (("score", "{0}/0.parquet", "--out-of-core", "--explain"), "--explain cannot be used with --out-of-core"),
        (("score", "{0}/0.parquet", "--out-of-core", "--scale", "100"), "--scale cannot be used with --out-of-core"),
        (("score", "{0}/0.parquet", "--out-of-core", "--correct-from", "0.5"), "--correct-from cannot be used with"),
        (
            ("score", "{0}/0.parquet", "--out-of-core", "--interval", "0.9", "--interval-method", "bca"),
            "--interval-method must be analytic with --out-of-core",
        ),
        (("score", "{0}/none", "--out-of-core"), "none: there is no such Parquet file"),
        (("score", "{0}/0.parquet", "--out-of-core", "--by", "task"), "there is no column 'task'"),
        (("merge", "{0}/0.parquet"), "is not a file of states"),
        (("merge", "{0}/a.state", "--state", "{0}/a.state"), "is there already"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments, message, logs, capsys):
    printed(capsys, "score", logs / "0.parquet", "--out-of-core", "--state", logs / "a.state")
    assert main([argument.format(logs) for argument in arguments]) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")


@pytest.fixture
def paired(rng, tmp_path):
    for i in range(2):
        q = rng.random((2, 150)).round(2)
        correct = rng.random((2, 150)) < (q + q[0]) / 2
        ids = [f"question {j}" for j in range(i * 150, (i + 1) * 150)]
        columns = {
            "id": ids * 2,
            "model": np.repeat(["a", "b"], 150),
            "confidence": q.ravel(),
            "correct": correct.ravel(),
        }
        order = rng.permutation(300)
        pq.write_table(pa.table(columns).take(order), tmp_path / f"{i}.parquet")
    pq.write_table(pa.concat_tables(pq.read_table(tmp_path / f"{i}.parquet") for i in (0, 1)), tmp_path / "all.parquet")
    return tmp_path


def compared(capsys, folder, *arguments):
    out = printed(capsys, "compare", *arguments, "--output", folder / "table.json").out
    return out, {row["key"]: row for row in json.loads((folder / "table.json").read_text())["rows"]}


def test_systems_of_one_file_are_compared_by_id(paired, capsys):
    out, states = compared(capsys, paired, f"{paired}/[01].parquet", "--out-of-core", "--by", "model")
    _, rows = compared(capsys, paired, paired / "all.parquet", "--columns", "system=model")
    assert "300 samples of each system, paired by id." in out
    for metric, row in rows.items():
        assert states[metric]["difference"] == pytest.approx(row["difference"], abs=1e-12), metric
    for metric in ("ecuas_1", "error_rate", "confidence_brier_score"):
        assert states[metric]["is_paired"]
        assert (states[metric]["low"], states[metric]["high"]) == pytest.approx(
            (rows[metric]["low"], rows[metric]["high"]), abs=5e-3
        )
    assert not states["auroc"]["is_paired"]
    assert states["auroc"]["low"] <= rows["auroc"]["low"] < rows["auroc"]["high"] <= states["auroc"]["high"]


def test_systems_that_cannot_be_paired_have_intervals_that_are_wide_enough(paired, capsys):
    _, expected = compared(capsys, paired, paired / "all.parquet", "--columns", "system=model")
    table = pq.read_table(paired / "all.parquet")
    for name in "ab":
        rows = table.filter(pa.compute.equal(table["model"], name)).drop_columns(["model", "id"])
        pq.write_table(rows, paired / f"{name}.parquet")
    out, found = compared(capsys, paired, paired / "a.parquet", paired / "b.parquet", "--out-of-core")
    assert "Not paired by sample" in out.replace("\n", " ")
    for metric, row in expected.items():
        assert found[metric]["difference"] == pytest.approx(row["difference"], abs=1e-12), metric
        assert not found[metric]["is_paired"]
    assert found["error_rate"]["low"] < expected["error_rate"]["low"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{0}/all.parquet", "--out-of-core", "--figures", "{0}"), "--figures cannot be used with --out-of-core"),
        (("{0}/all.parquet", "--out-of-core", "--only", "significant"), "--only cannot be used with --out-of-core"),
        (("{0}/one.parquet", "--out-of-core"), "a comparison needs at least two systems; got a"),
        (("{0}/odd.parquet", "--out-of-core"), "column 'id' must have the rows of both systems for each id"),
        (("{0}/all.parquet", "--out-of-core", "--unjudged", "drop"), "--unjudged cannot be used in paired comparisons"),
    ],
)
def test_comparisons_that_cannot_be_made_are_one_line(arguments, message, paired, capsys):
    table = pq.read_table(paired / "all.parquet")
    pq.write_table(table.filter(pa.compute.equal(table["model"], "a")), paired / "one.parquet")
    pq.write_table(table[:-1], paired / "odd.parquet")
    assert main(["compare", *(argument.format(paired) for argument in arguments)]) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")

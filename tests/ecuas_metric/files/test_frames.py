"""Frames in memory: what a file of the same cells gives, by the same names."""

import json
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ecuas_metric import (
    InputError,
    Key,
    compare_systems,
    make_report,
    prepare_submissions,
    read_submissions,
    score_frame,
)
from ecuas_metric.reporting.cli import main
from ecuas_metric.results import compute_results

LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}
ECUAS_1 = Key("ecuas", 1.0)


def made(rng, size=60):
    """Return two systems' answers, in one frame."""
    parts = []
    for name in "ab":
        confidence = rng.random(size).round(3)
        correct = (rng.random(size) < confidence).astype(int)
        columns = {"system": name, "id": range(size), "confidence": confidence, "correct": correct}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_is_read_as_a_file_of_its_cells(rng, tmp_path, library):
    frame = made(rng)
    frame.to_csv(tmp_path / "both.csv", index=False)
    of_file = prepare_submissions(read_submissions(tmp_path / "both.csv"), confidence_level=0.95)
    native = LIBRARIES[library](frame)
    expected = make_report(of_file).to_frame()
    pd.testing.assert_frame_equal(make_report(native).to_frame(), expected)
    assert compare_systems(native, only="ecuas_1") == compare_systems(of_file, only=[ECUAS_1])


@pytest.mark.parametrize("scale", [1, 1.0, "1", np.float32(1)])
def test_a_reading_has_one_signature_however_it_is_said(rng, tmp_path, scale):
    frame = made(rng)
    frame.to_csv(tmp_path / "both.csv", index=False)
    assert main(["score", str(tmp_path / "both.csv"), "--output", str(tmp_path / "o.json")]) == 0
    (recipe,) = json.loads((tmp_path / "o.json").read_text())["recipes"]
    for given in (frame, tmp_path / "both.csv"):
        assert read_submissions(given, scale=scale)[0].recipe.digest() == recipe["digest"]


def test_frames_by_name_and_submissions_are_systems_too(rng):
    frame = made(rng)
    by_name = {name: rows.drop(columns="system") for name, rows in frame.groupby("system")}
    expected = compare_systems(frame, only=["er", "ECUAS_1"])
    for given in (by_name, read_submissions(frame)):
        assert compare_systems(given, only=["error_rate", ECUAS_1]) == expected
    shuffled = {name: one.sample(frac=1, random_state=0) for name, one in by_name.items()}
    rows = compare_systems(shuffled, only="ecuas_1")
    assert rows[0].difference == pytest.approx(expected[-1].difference)


def test_a_named_index_has_the_ids(rng):
    frame = made(rng)
    by_name = {name: rows.set_index("id") for name, rows in frame.groupby("system")}
    assert compare_systems(by_name, only="er") == compare_systems(frame, only="er")


def test_options_are_those_of_what_is_prepared_here(rng):
    frame = made(rng)
    rows = compare_systems(frame, reject_costs=[0.1], confidence_level=0.9)
    assert str(rows.verdict.headline) == "expected_cost_0.1"
    assert rows.verdict.alpha == pytest.approx(0.1)
    systems = prepare_submissions(read_submissions(frame), confidence_level=0.95)
    for function in (compare_systems, make_report):
        with pytest.raises(InputError, match=r"^reject_costs have no effect on systems"):
            function(systems, reject_costs=[0.1])


def test_what_the_error_of_a_frame_offers_is_taken_and_names_the_frame(rng):
    frame = made(rng)
    by_name = {name: rows.drop(columns="system") for name, rows in frame.groupby("system")}
    expected = compare_systems(by_name, only="er")
    others = {name: rows.rename(columns={"confidence": "p"}) for name, rows in by_name.items()}
    first = next(iter(others))
    with pytest.raises(InputError, match=f"^{first}: ") as raised:
        compare_systems(others)
    assert "columns={'confidence': 'p'}" in str(raised.value)
    assert compare_systems(others, only="er", columns={"confidence": "p"}) == expected
    words = {
        name: rows.assign(correct=rows["correct"].map({1: "good", 0: "bad"}))
        for name, rows in by_name.items()
    }
    assert compare_systems(words, only="er", right="good/bad") == expected


def test_results_of_score_frame_make_a_report(rng):
    frame = made(rng)
    scored = score_frame(frame)
    report = make_report(scored, only=["ecuas_1"])
    assert report.to_frame()["ecuas_1"].to_dict() == {
        name: results.estimates[ECUAS_1].value for name, results in scored.items()
    }
    assert make_report(scored["a"]).results["system 1"] is scored["a"]
    with pytest.raises(InputError, match=r"^only must be among the results of a; got 'ecuas_7'"):
        make_report(scored, only=["ecuas_7"])
    with pytest.raises(InputError, match=r"^systems must have rows to be paired"):
        compare_systems(scored)


@pytest.mark.parametrize(
    "columns, rule",
    [
        ({"confidence": [0.9, 87.0], "correct": [1, 0]}, "frame"),
        ({"confidence": [0.9, "high"], "correct": [1, 0]}, "frame"),
        ({"text": ["x", "y"]}, "frame"),
        ({"confidence": [], "correct": []}, "frame"),
    ],
)
def test_what_a_frame_lacks_is_told_of_the_frame(columns, rule):
    with pytest.raises(InputError, match=f"^{rule}") as raised:
        make_report(pd.DataFrame(columns))
    assert "file" not in str(raised.value).split(".")[0]


def test_columns_of_one_name_are_refused():
    frame = pd.DataFrame(np.ones((2, 2)), columns=["correct", "correct"])
    with pytest.raises(InputError, match="^frame must have columns of different names"):
        read_submissions(frame)


@pytest.mark.parametrize("only", ["ecuas", "no_such", "auroc_3", ["ecuas_1", 3]])
def test_a_name_that_no_number_has_is_refused(rng, only):
    with pytest.raises(InputError, match="^only "):
        make_report(made(rng), only=only)


def of_types():
    """Return a column of six rows of each of many types of Arrow, some of them empty."""
    numbers = pa.array(range(6))
    texts = pa.array(["a", "b"] * 3)
    return {
        "nothing": pa.nulls(6),
        "nothing of objects": pa.nulls(6, pa.struct([("a", pa.int64())])),
        "objects": pa.array([{"a": k} for k in range(6)]),
        "lists of nothing": pa.array([[]] * 6),
        "lists": pa.array([[1], [], None, [2, 3], [4], [5]]),
        "mappings": pa.array([[("k", k)] for k in range(6)], pa.map_(pa.string(), pa.int64())),
        "views of lists": pa.array([[1], [2]] * 3, pa.list_view(pa.int64())),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([3, 6], pa.int32()), texts[:2]),
        "bytes": pa.array([b"\xff\x00", None] * 3),
        "times": numbers.cast(pa.timestamp("us", "UTC")),
        "durations": numbers.cast(pa.duration("s")),
        "decimals": numbers.cast(pa.decimal256(50, 3)),
        "large numbers": pa.array([2**64 - 1] * 6, pa.uint64()),
        "intervals": pa.array([pa.MonthDayNano([1, 2, 3])] * 6),
        "blanks": pa.array(["", " "] * 3),
    }


@pytest.mark.parametrize("kind", of_types())
def test_a_column_of_any_type_is_left_alone_or_read_or_refused(kind, tmp_path):
    columns = {"confidence": [0.9, 0.8, 0.4, 0.3, 0.6, 0.7], "correct": [1, 0, 1, 0, 1, 0]}
    expected = score_frame(pa.table(columns)).flat()
    table = pa.table({**columns, "x": of_types()[kind]})
    (system,) = prepare_submissions(read_submissions(table)).values()
    assert compute_results(system).flat() == pytest.approx(
        {key: expected[key] for key in compute_results(system).flat()}
    )
    assert score_frame(table).flat() == expected
    for role in ("id", "group", "stratum", "system", "weight"):
        with suppress(InputError):
            prepare_submissions(read_submissions(table, columns={role: "x"}))


def test_categories_of_polars_are_names():
    columns = {"confidence": [0.9, 0.8, 0.4, 0.3], "correct": [1, 0, 1, 0]}
    names = pl.Series(["a", "b", "a", "b"], dtype=pl.Categorical)
    frame = pl.DataFrame(columns).with_columns(system=names)
    assert [one.name for one in read_submissions(frame)] == ["a", "b"]


def test_blanks_around_the_name_of_a_group_are_none_of_it():
    columns = {"confidence": [0.9, 0.8], "correct": [1, 0], "g": ["a", " a "]}
    (submission,) = read_submissions(pd.DataFrame(columns), columns={"group": "g"})
    assert submission.per_sample["groups"] == ["a", "a"]

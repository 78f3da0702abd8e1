"""The same rows by every engine that is installed: numbers, notes and refusals are those of memory."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric import InputError, read_submissions, score_frame
from ecuas_metric.calibration import confidence_bins
from ecuas_metric.errors import UNLABELLED
from ecuas_metric.inputs import FORM_CHECKS
from ecuas_metric.options import checked_options
from ecuas_metric.results import compute_results, prepare_system
from ecuas_metric.scale import frames
from tests.conftest import seeds
from tests.ecuas_metric.scale.sessions import session


def needs(name):
    return pytest.importorskip(name, reason=f"needs {name}")


def of_ibis(table):
    needs("duckdb")
    return needs("ibis").memtable(table)


ENGINES = {
    "pandas": lambda table: table.to_pandas(),
    "pyarrow": lambda table: table,
    "lazy polars": lambda table: needs("polars").from_arrow(table).lazy(),
    "duckdb": lambda table: needs("duckdb").from_arrow(table),
    "ibis": of_ibis,
    "spark": lambda table: session().createDataFrame(table),
}
# `make check` has the one that --out-of-core uses: that the others agree is a matter of narwhals.
MARKS = {"duckdb": [], "spark": [pytest.mark.e2e]}
EVERY = pytest.mark.parametrize(
    "engine",
    [
        pytest.param(make, id=name, marks=MARKS.get(name, [pytest.mark.long]))
        for name, make in ENGINES.items()
    ],
)
READING = ("columns", "scale", "correct_from")  # and all else are options


def confidences(q, y, *, shown=None, correct=None, weight=None, **given):
    """Return a data set of confidences, which columns may show otherwise."""
    columns = {
        "confidence": q if shown is None else shown,
        "correct": y if correct is None else correct,
    }
    if weight is not None:
        columns["w"] = weight
        given["columns"] = {"weight": "w"}
    return columns, given, "confidences", q, y


def data_sets(seed):
    """Return, by what they are: columns, arguments, and the form and arrays that memory is given."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(20, 300))
    q = rng.random(size).round(2)
    y = (rng.random(size) < q).astype(int)
    smooth = rng.random(size) ** 3
    weight = rng.integers(0, 3, size).astype(float)
    p = rng.dirichlet(np.ones(3), size)
    labels = rng.integers(0, 3, size)
    u, c = rng.exponential(size=(2, size))
    gaps = np.where(rng.random(size) < 0.1, np.nan, q)
    extreme = np.where(
        rng.random(size) < 0.4, np.round(q), np.where(rng.random(size) < 0.5, 1e-17, q)
    )
    columns = {f"prob_{k}": p[:, k] for k in range(3)} | {"label": labels}
    halves = 0.5 + smooth / 2
    of_two = np.stack([1 - q, q], axis=1)
    strange = {"a.b": q, "it`s": y}
    costs = {"uncertainty": "u", "cost": "c"}
    withheld = {"abstained": (rng.random(size) < 0.2).astype(int)}
    return {
        "confidences": confidences(q, y),
        "all different": confidences(smooth, y, correct=y == 1, reject_costs=[0.2]),
        "ties at 0 and 1": confidences(extreme, y, num_classes=4),
        "wrong way": confidences(1 - q, y),
        "withheld": (
            {"confidence": smooth, "correct": y, **withheld},
            {},
            "confidences",
            smooth,
            y,
        ),
        "missing": confidences(gaps, y, missing_confidence=0.5),
        "clipped": confidences(q + 2e-7, y),
        "clipped beside 0": confidences(np.where(q > 0.7, 1 + 2e-7, np.where(q < 0.3, 0.0, q)), y),
        "percentages": confidences(halves, y, shown=100 * halves, scale=100),
        "grades": confidences(q, 1 * (u >= 0.5), correct=u, correct_from=0.5),
        "weights": confidences(smooth, y, weight=weight + u, confidence_level=0.9),
        "copies": confidences(q, y, weight=weight, weights_are="counts", confidence_level=0.9),
        "posteriors": (columns, {"n": [0, 2]}, "posteriors", p, labels),
        "lists": ({"posteriors": list(p), "label": labels}, {}, "posteriors", p, labels),
        "two classes": ({"prob": q, "label": y}, {}, "posteriors", of_two, y),
        "costs": ({"u": u, "c": c}, {"columns": costs, "max_uncertainty": 2.0}, "costs", u, c),
        "any name": (
            strange,
            {"columns": {"confidence": "a.b", "correct": "it`s"}},
            "confidences",
            q,
            y,
        ),
        "two classes of any name": (
            strange,
            {"columns": {"positive": "a.b", "label": "it`s"}},
            "posteriors",
            of_two,
            y,
        ),
    }


@EVERY
@pytest.mark.parametrize("kind", data_sets(0))
@pytest.mark.parametrize("seed", seeds(1, 3))
def test_numbers_and_notes_are_those_of_memory(seed, engine, kind):
    if "any name" in kind and engine is ENGINES["duckdb"] and needs("duckdb").__version__ < "2":
        pytest.skip("DuckDB before 2 takes what is before a dot for a table")
    columns, given, form, predictions, references = data_sets(seed)[kind]
    options = {name: value for name, value in given.items() if name not in READING}
    options |= {"sample_weight": columns.get("w"), "abstained": columns.get("abstained")}
    system = prepare_system(
        form, *FORM_CHECKS[form](predictions, references), checked_options(**options)
    )
    expected = compute_results(system)
    results = score_frame(engine(pa.table(columns)), **given)
    for key, estimate in expected.estimates.items():
        result = results.estimates[key]
        value = pytest.approx(estimate.value, rel=1e-12, abs=1e-12, nan_ok=True)
        assert result.value == value, key
        if estimate.low is not None:
            limits = pytest.approx((estimate.low, estimate.high), rel=1e-9, abs=1e-9, nan_ok=True)
            assert (result.low, result.high) == limits, key
    assert sorted(map(str, results.notes)) == sorted(map(str, expected.notes))


@EVERY
def test_notes_on_columns_are_those_of_files(engine):
    q = np.linspace(0.01, 0.99, 60)
    columns = {"prob": q, "label": 1 * ((q < 0.5) | (q > 0.95)), "method": ["a", "b"] * 30}
    notes = [note.id for note in score_frame(engine(pa.table(columns))).notes]
    assert notes == ["like_systems", "of_other_class"]
    parts = score_frame(engine(pa.table(columns)), by="method")
    assert [note.id for part in parts.values() for note in part.notes] == ["of_other_class"] * 2


@EVERY
def test_systems_and_parts_have_results_of_their_own(engine):
    columns, _, form, q, y = data_sets(0)["all different"]
    task = np.where(np.arange(len(q)) % 2 == 0, "a", "b")
    model = ["m" if i < 5 else "n" for i in range(len(q))]
    rows = pa.table({**columns, "whose?": task, "model": model})
    results = score_frame(engine(rows), by="whose?")
    assert results.keys() == {"m a", "m b", "n a", "n b"}
    rows = (task == "a") & (np.array(model) == "n")
    expected = compute_results(prepare_system(form, q[rows], y[rows], checked_options())).estimates
    for key, estimate in expected.items():
        assert results["n a"].estimates[key].value == pytest.approx(estimate.value, rel=1e-12)


@EVERY
@pytest.mark.parametrize("given", [{}, {"reject_costs": [0.3], "n_bins": 7}])
def test_bins_of_many_rows_bound_the_numbers_of_memory(engine, given, monkeypatch):
    monkeypatch.setattr(frames, "FEW_ROWS", 0)
    monkeypatch.setattr(frames, "LINEAR", 32)
    monkeypatch.setattr(frames, "ROOT", 8)
    columns, _, form, q, y = data_sets(1)["all different"]
    results = score_frame(engine(pa.table(columns)), decompose=True, **given)
    expected = compute_results(prepare_system(form, q, y, checked_options(decompose=True, **given)))
    assert results.estimates.keys() == expected.estimates.keys()
    bounded = []
    for key, estimate in expected.estimates.items():
        one = results.estimates[key]
        if one.lower_bound is None or key.variant:
            # A bin of these few has one uncertainty, the mean of those of its rows.
            assert one.value == pytest.approx(estimate.value, abs=0.02), key
        else:
            bounded.append(key.metric)
            assert one.lower_bound - 1e-12 <= estimate.value <= one.upper_bound + 1e-12
    assert {"auroc", "aurc", "augrc"} <= {*bounded}


@EVERY
def test_bins_of_many_rows_end_where_those_of_memory_do(engine, monkeypatch):
    monkeypatch.setattr(frames, "FEW_ROWS", 0)
    for n_bins in range(2, 51) if engine is ENGINES["pyarrow"] else (7, 10, 49):
        edges = np.arange(1, n_bins) / n_bins
        around = [np.nextafter(edges, 0), edges, np.nextafter(edges, 1), np.linspace(0.01, 0.99, 9)]
        cells = np.concatenate(around)
        rows = engine(pa.table({"confidence": cells, "correct": np.ones(len(cells), int)}))
        options = checked_options(n_bins=n_bins)
        (state,) = frames.states_of_frame(rows, options).values()
        ends = np.stack([-state.groups.high, -state.groups.rank])
        low, high = confidence_bins(ends, n_bins=n_bins)
        np.testing.assert_array_equal(low, high)


REFUSED = [  # confidences, correctness, weights, scale, what is said
    ([0.5, 2.0], [1, 0], None, 1, r"'confidence' must lie in \[0, 1\]; got 2.0"),
    ([0.5, np.inf], [1, 0], None, 1, r"'confidence' must lie in \[0, 1\]; got inf"),
    ([0.5, -1e300], [1, 0], None, 1, r"'confidence' must lie in \[0, 1\]; got -1e\+300"),
    ([0, 2**62 + 1], [1, 0], None, 1, r"'confidence' must lie in \[0, 1\]; got 4.6\d*e\+18"),
    ([-0.5, 0.2], [1, 0], None, 1, r"'confidence' must lie in \[0, 1\]; got -0.5"),
    ([0.5, None], [1, 0], None, 1, "'confidence' must not be NaN"),
    ([0.5, 0.2, 0.2], [1, None, None], None, 1, "'correct' has no value .*2 of "),
    ([0.5, 0.2], [1, 3], None, 1, "'correct' has two codes, 1 and 3"),
    ([0.5, 0.2], [1, 0], [1.0, -1.0], 1, "'w' must be"),
    ([0.5, 0.2], [1, 0], [1.0, 1e-100], 1, "'w' must be 0 or lie in"),
    ([0.5, 0.9, 70.0], [1, 0, 1], None, 100, "must lie on one scale"),
    ([0.5] * 9 + [70.0], [1, 0] * 5, None, 1, "must lie on one scale; 9 of 10 lie in"),
]


@EVERY
@pytest.mark.parametrize(("confidence", "correct", "weight", "scale", "message"), REFUSED)
def test_refusals_are_those_of_memory(engine, confidence, correct, weight, scale, message):
    columns, *_ = confidences(confidence, correct, weight=weight)
    roles = {"weight": "w"} if weight else {}
    with pytest.raises(InputError, match=message):
        score_frame(engine(pa.table(columns)), roles, scale=scale)


@EVERY
@pytest.mark.parametrize(("rule", "error_rate"), [("wrong", 1), ("drop", 0)])
@pytest.mark.parametrize("weights", [[1, 1, 5, 2], None])
def test_unlabelled_rows_are_told_as_of_a_file_in_memory(
    engine, rule, error_rate, weights, tmp_path
):
    columns = {"confidence": [0.5, 0.2, 0.2, 0.9], "correct": [1, None, None, 1]}
    roles = {} if weights is None else {"weight": "w"}
    table = pa.table(columns if weights is None else {**columns, "w": weights})
    pq.write_table(table, tmp_path / "a.parquet")
    (expected,) = read_submissions(tmp_path / "a.parquet", columns=roles, unlabelled=rule)
    facts = [note.fact for note in expected.notes if note.id == UNLABELLED]
    found = score_frame(engine(table), roles, unlabelled=rule)
    assert [note.fact for note in found.notes if note.id == UNLABELLED] == facts
    share = np.average([0, 1, 1, 0], weights=weights)
    assert found.flat()["error_rate"] == pytest.approx(error_rate * share)
    nothing = table.set_column(1, "correct", pa.array([None] * 4, pa.int64()))
    with pytest.raises(InputError, match="must have rows that are judged|has no value at all"):
        score_frame(engine(nothing), roles, unlabelled=rule)


@pytest.mark.parametrize(
    "others", [[1, "a"], [2**70, 1], [b"a", "a"], [{"a": 1}, 2], [pd.Period("2025"), None]]
)
def test_a_column_that_is_not_used_may_hold_anything(others):
    columns = {"confidence": [0.9, 0.4], "correct": [1, 0]}
    expected = score_frame(pd.DataFrame(columns)).flat()
    frame = pd.DataFrame({**columns, "other": others})
    assert score_frame(frame).flat() == expected
    with pytest.raises(InputError, match="frame: (the job failed|column 'other')"):
        score_frame(frame, {"correct": "other"})


@pytest.mark.parametrize("read", [score_frame, read_submissions])
@pytest.mark.parametrize(
    "columns",
    [
        "confidences",
        "",
        [],
        0,
        {"confidence": 3},
        {"confidence": ["p"]},
        pd.Series({"confidence": "p"}),
    ],
)
def test_columns_that_are_no_mapping_are_refused(read, columns):
    frame = pd.DataFrame({"confidence": [0.9, 0.2], "correct": [1, 0]})
    with pytest.raises(InputError, match="columns must be a mapping of roles"):
        read(frame, columns=columns)


def test_systems_side_by_side_are_refused_as_of_a_file_out_of_core():
    frame = pd.DataFrame({"p": [0.9, 0.2], "correct": [1, 0]})
    with pytest.raises(InputError, match="cannot name systems side by side"):
        score_frame(frame, {"gpt": {"confidence": "p"}})


@pytest.mark.parametrize("name", ["ecuas q", "ecuas count"])
def test_a_column_called_as_one_of_ours_is_refused(name):
    frame = pd.DataFrame({"confidence": [0.9, 0.4], "correct": [1, 0], name: [5, 6]})
    with pytest.raises(InputError, match=f"has a column called '{name}'"):
        score_frame(frame)


def test_what_is_no_frame_is_an_error():
    with pytest.raises(InputError, match="frame must be a frame"):
        score_frame([1, 2])
    with pytest.raises(InputError, match="frame must not be empty"):
        score_frame(pd.DataFrame({"confidence": [], "correct": []}))
    with pytest.raises(TypeError, match="takes no option 'groups'"):
        score_frame(pd.DataFrame({"confidence": [0.5], "correct": [1]}), groups=[1])


@pytest.mark.e2e
@pytest.mark.slow
def test_spark_connect_gives_the_same():
    session()
    selected = ["-k", "spark and not connect", "-p", "no:cacheprovider", "-q", __file__]
    command = [sys.executable, "-m", "pytest", *selected]
    subprocess.run(command, env=os.environ | {"SPARK_REMOTE": "local[2]"}, check=True)


@pytest.mark.parametrize("index", ["model", "confidence", ["model", "correct"]])
def test_a_named_index_of_pandas_is_a_column_as_in_memory(index, rng):
    frame = pd.DataFrame(
        {
            "model": ["a", "b"] * 20,
            "confidence": rng.integers(0, 101, 40) / 100,
            "correct": rng.integers(0, 2, 40),
        }
    )
    expected = {name: one.flat() for name, one in score_frame(frame, n=1).items()}
    found = {name: one.flat() for name, one in score_frame(frame.set_index(index), n=1).items()}
    assert found == expected
    in_memory = read_submissions(frame.set_index(index))
    assert sorted(one.name for one in in_memory) == sorted(found)

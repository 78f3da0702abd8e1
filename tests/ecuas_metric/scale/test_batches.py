from decimal import Decimal
from errno import ENOSPC
from os import strerror
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric.errors import FileError, InputError
from ecuas_metric.options import checked_options
from ecuas_metric.scale import batches, local
from ecuas_metric.scale.batches import states_of_batches
from ecuas_metric.scale.local import batches_of, parts_of, row_groups_of, score_files
from ecuas_metric.scale.reading import read
from ecuas_metric.scale.state import merge, state_of
from ecuas_metric.scale.storage import read_collection
from tests.ecuas_metric.scale.parts import of_each, packed

OPTIONS = checked_options(n=[0, 1], reject_costs=[0.2])


@pytest.fixture
def table(rng):
    confidence = rng.random(600).round(2)
    correct = rng.random(600) < confidence
    model, text = rng.choice(["a", "b"], 600), ["x"] * 600
    return pa.table({"model": model, "confidence": confidence, "correct": correct, "text": text})


def of_systems(table):
    parts = table.to_pandas().groupby("model")
    return {name: packed(state_of("confidences", part["confidence"], part["correct"], OPTIONS)) for name, part in parts}


def test_batches_of_any_size_give_the_state_of_each_system(table, monkeypatch):
    monkeypatch.setattr(batches, "CHUNK", 2000)
    for size in (7, 70, 600):
        assert of_each(states_of_batches(table.to_batches(size), OPTIONS)) == of_systems(table)
    assert of_each(states_of_batches([table[:100], table[100:]], OPTIONS)) == of_systems(table)
    assert states_of_batches([table[:0]], OPTIONS) == {}


def test_two_columns_name_a_system_and_types_of_numbers_do_not_matter(table):
    halves = table.set_column(1, "confidence", pa.array(np.arange(600) % 9 / 8))
    other = halves.set_column(1, "q", halves["confidence"].cast(pa.float32()))
    other = other.set_column(2, "ok", other["correct"].cast(pa.int16())).append_column("task", pa.array(["t"] * 600))
    other = other.set_column(0, "model", other["model"].dictionary_encode())
    given = {"confidence": "q", "correct": "ok", "system": "model+task"}
    found = of_each(states_of_batches([other], OPTIONS, columns=given))
    assert found == {f"{name} t": state for name, state in of_systems(halves).items()}


def test_posteriors_lie_in_lists_or_in_columns(rng):
    posteriors, label = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50)
    expected = packed(state_of("posteriors", posteriors, label, OPTIONS))
    lists = pa.table({"posteriors": list(posteriors), "label": label})
    wide = pa.table({**{f"prob_{k}": posteriors[:, k] for k in range(3)}, "label": label})
    for one in (lists, wide):
        assert of_each(states_of_batches([one], OPTIONS)) == {"system": expected}
    two = pa.table({"prob": posteriors[:, 0], "label": label % 2})
    positive = OPTIONS.replace(predictions_are="positive_probabilities")
    expected = packed(state_of("posteriors", posteriors[:, 0], label % 2, positive))
    assert of_each(states_of_batches([two], OPTIONS)) == {"system": expected}


def test_costs_and_weights_are_read(rng):
    u, c, w = rng.exponential(size=(3, 40))
    table = pa.table({"u": u, "c": c, "w": w})
    options = OPTIONS.replace(max_uncertainty=3.0)
    given = {"uncertainty": "u", "cost": "c", "weight": "w"}
    expected = packed(state_of("costs", u, c, options, sample_weight=w))
    assert of_each(states_of_batches([table], options, columns=given)) == {"system": expected}


def test_counts_give_the_state_of_the_rows(table):
    frame = table.to_pandas()
    frame["wrong"] = ~frame["correct"]
    grouped = frame.groupby(["model", "confidence"])["wrong"].agg(["count", "sum"]).reset_index()
    given = {"count": "count", "wrong": "sum"}
    assert of_each(states_of_batches([pa.Table.from_pandas(grouped)], OPTIONS, columns=given)) == of_systems(table)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("confidence", 3.0, r"part 7: column 'confidence' must lie in \[0, 1\]; got 3.0 in row 451"),
        ("confidence", None, "part 7: column 'confidence' must not be NaN; got nan in row 451"),
        ("correct", 2, "part 7: column 'correct' must be 0 .* got 2.0 in row 451"),
        ("correct", None, "part 7: column 'correct' has no value in row 451"),
        ("model", None, "part 7: column 'model' must name a system; it is empty in row 451"),
    ],
)
def test_what_is_wrong_is_named_with_part_column_and_row(table, column, value, message, monkeypatch):
    monkeypatch.setattr(batches, "CHUNK", 2000)
    rows = table.set_column(2, "correct", table["correct"].cast(pa.int64())).to_pylist()
    rows[450][column] = value
    with pytest.raises(FileError, match=message):
        states_of_batches(pa.Table.from_pylist(rows).to_batches(100), OPTIONS, source="part 7")


def test_unlabelled_rows_are_left_out_and_counted_on_demand(table):
    rows = table.to_pylist()
    rows[3]["correct"] = rows[5]["correct"] = None
    states = states_of_batches([pa.Table.from_pylist(rows)], OPTIONS, unlabelled="drop")
    assert sum(state.rows for state in states.values()) == len(rows) - 2
    assert sum(state.sums.get("unlabelled, drop", 0) for state in states.values()) == 2
    facts = [note.fact for state in states.values() for note in read(state).notes if note.kind == "unlabelled"]
    assert sum(int(fact.split()[0]) for fact in facts) == 2


def test_unlabelled_rows_count_as_wrong_on_demand(table):
    rows = table.to_pylist()
    rows[3]["correct"] = None
    name = rows[3]["model"]
    (note,) = read(states_of_batches([pa.Table.from_pylist(rows)], OPTIONS, unlabelled="wrong")[name]).notes
    size = table["model"].to_pylist().count(name)
    assert note.fact == f"1 of {size} answers ({1 / size:.1%}) are unlabelled."
    rows[3]["correct"] = False
    expected = of_systems(pa.Table.from_pylist(rows))[name]
    found = states_of_batches([pa.Table.from_pylist(table.to_pylist()[:3] + rows[3:])], OPTIONS)[name]
    assert packed(found) == expected


@pytest.mark.parametrize("rule", ["bounds", "right"])
def test_rules_for_unlabelled_rows_that_a_state_does_not_know_are_refused(rule, table):
    for refuse, rows in ((states_of_batches, [table]), (score_files, [])):
        with pytest.raises(InputError, match=r"unlabelled .*must be .*wrong.*drop; got '"):
            refuse(rows, OPTIONS, unlabelled=rule)


def test_a_class_that_is_not_known_is_no_wrong_one(rng):
    table = pa.table({"posteriors": list(rng.dirichlet(np.ones(3), 4)), "label": [0, 1, None, 2]})
    with pytest.raises(FileError, match=r"'label' has no value in row 3 \(1 of 4\)"):
        states_of_batches([table], OPTIONS, unlabelled="wrong")
    assert states_of_batches([table], OPTIONS, unlabelled="drop")["system"].rows == 3
    with pytest.raises(FileError, match="nothing says which answers are correct"):
        states_of_batches([pa.table({"confidence": [0.5], "answer": ["a"]})], OPTIONS)


@pytest.mark.parametrize("form", ["confidences", "weighted", "posteriors", "positive"])
def test_parts_that_nobody_judged_do_not_show(form, rng):
    truth = np.where(np.arange(60) < 20, np.nan, rng.integers(0, 2, 60))
    columns = {
        "confidences": {"confidence": rng.random(60), "correct": truth},
        "weighted": {"confidence": rng.random(60), "correct": truth, "w": rng.random(60) + 0.5},
        "posteriors": {"posteriors": list(rng.dirichlet(np.ones(3), 60)), "label": truth},
        "positive": {"prob": rng.random(60), "label": truth},
    }[form]
    table = pa.table(columns)
    given = {"weight": "w"} if form == "weighted" else None
    parts = (table, *(table[i : i + 10] for i in range(0, 60, 10)))
    scored = [states_of_batches([part], OPTIONS, columns=given, unlabelled="drop")["system"] for part in parts]
    assert packed(merge(scored[1:])) == packed(scored[0])
    with pytest.raises(InputError, match="a state must have rows that are judged"):
        read(scored[1])


@pytest.fixture
def logs(table, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    for i in range(3):
        pq.write_table(table[i * 200 : (i + 1) * 200], folder / f"{i}.parquet", row_group_size=64)
    return folder


def test_files_folders_patterns_and_addresses_hold_the_same_rows(logs, table, tmp_path):
    for pattern in (str(logs), f"{logs}/*.parquet", f"file://{logs}/*.parquet", f"file://{logs}"):
        assert of_each(score_files([pattern], OPTIONS).states) == of_systems(table)
    with pytest.raises(FileError, match="0.parquet: is named twice"):
        score_files([str(logs), f"{logs}/0.parquet"], OPTIONS)
    singles = score_files([("one", f"{logs}/0.parquet"), f"{logs}/1.parquet"], OPTIONS)
    assert set(singles.states) == {"a", "b"}
    for place in (str(logs), f"file://{logs}"):
        assert [part.address for part in parts_of(place)] == [f"{place}/{i}.parquet" for i in range(3)]


@pytest.mark.parametrize(
    ("num_rows", "parts"), [(1, [[0], [1], [2], [3]]), (4, [[0, 1], [2, 3]]), (99, [[0, 1, 2, 3]])]
)
def test_row_groups_are_read_in_parts_and_none_is_left(num_rows, parts, table, tmp_path):
    pq.write_table(table[:10], tmp_path / "a.parquet", row_group_size=3)
    (part,) = parts_of(str(tmp_path / "a.parquet"))
    assert row_groups_of(part, num_rows) == [(groups, 1 + 3 * groups[0]) for groups in parts]


THREE = {"confidence": [0.9, 0.4, 0.5], "correct": [1, 0, 1]}


@pytest.mark.parametrize(
    "columns",
    [
        {"confidence": pa.array([Decimal("0.9"), Decimal("0.4"), Decimal("0.5")])},
        {"correct": pa.array([1, 0, 1]).dictionary_encode()},
        {"correct": pa.array([1, 0, 1], pa.uint64())},
        {"confidence": pa.array(THREE["confidence"]).dictionary_encode()},
        {"model": pa.array(["system"] * 3, pa.large_string())},
        {"model": pa.array(["system"] * 3, pa.string_view())},
        {"id": pa.array([{"part": 1}] * 3)},
    ],
)
def test_types_of_columns_that_hold_the_same_numbers(columns, tmp_path):
    try:
        pq.write_table(pa.table(THREE | columns), tmp_path / "a.parquet")
    except pa.ArrowNotImplementedError as error:
        pytest.skip(str(error))
    (found,) = score_files([("system", str(tmp_path))], OPTIONS).states.values()
    assert packed(found) == packed(state_of("confidences", *THREE.values(), OPTIONS))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"correct": ["true", "false", "true"]}, "'correct' must hold numbers; it holds string. Convert it, or"),
        ({"correct": [1, 0, 2**60]}, r"'correct' must be 0 .* got 1.15\d*e\+18 in row 3"),
        ({"confidence": pa.nulls(3)}, "'confidence' must hold numbers; it holds null"),
        ({"confidence": [0.9, float("inf"), 0.5]}, "'confidence' must lie in .* got inf in row 2"),
        ({"model": pa.array([{"name": "a"}] * 3)}, "'model' must name systems; it holds struct<name: string>"),
        ({"posteriors": [["a", "b"]] * 3, "label": [0, 1, 1]}, "'posteriors' must hold numbers; it holds string"),
        ({"posteriors": [[0.5, 0.5], None, [0.5, 0.5]], "label": [0, 1, 1]}, "must hold lists of one length in row 2"),
        ({"posteriors": [[0.5, 0.5], [0.5, None], [1, 0]], "label": [0, 1, 1]}, "'posteriors' must not be NaN.* row 2"),
    ],
)
def test_types_and_values_that_are_none_are_refused_with_their_column(columns, message, tmp_path):
    given = columns if "label" in columns else THREE | columns
    pq.write_table(pa.table(given), tmp_path / "a.parquet")
    with pytest.raises(FileError, match=f"a.parquet: column {message}" if message[0] == "'" else message):
        score_files([str(tmp_path)], OPTIONS)


def test_folders_named_for_a_column_are_that_column_of_their_files(tmp_path):
    systems = (("a b", 0.5), ("c", 0.25))
    for name, q in systems:
        folder = tmp_path / "logs" / "year=2026" / f"model={quote(name)}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"confidence": [q], "correct": [1]}), folder / "0.parquet")
    found = score_files([str(tmp_path / "logs")], OPTIONS).states
    assert of_each(found) == {n: packed(state_of("confidences", [q], [1], OPTIONS)) for n, q in systems}
    given = {"system": "year+model"}
    assert set(score_files([str(tmp_path / "logs")], OPTIONS, columns=given).states) == {"2026 a b", "2026 c"}
    other = tmp_path / "logs" / "model=__HIVE_DEFAULT_PARTITION__"
    other.mkdir()
    pq.write_table(pa.table({"confidence": [0.5], "correct": [1]}), other / "0.parquet")
    with pytest.raises(FileError, match="column 'model' must name a system; it is empty in row 1"):
        score_files([str(tmp_path / "logs")], OPTIONS)


def test_what_an_engine_leaves_beside_its_files_is_no_part_of_them(tmp_path):
    pq.write_table(pa.table(THREE), tmp_path / "0.parquet")
    pq.write_table(pa.table(THREE)[:0], tmp_path / "1.parquet")
    (tmp_path / "_temporary").mkdir()
    for name in ("_SUCCESS", ".0.parquet.crc", "_metadata.parquet", "_temporary/half.parquet"):
        (tmp_path / name).write_bytes(b"PAR1")
    (found,) = score_files([str(tmp_path)], OPTIONS).states.values()
    assert found.rows == 3


def test_files_and_batches_of_other_settings_are_named(tmp_path, monkeypatch):
    for name, row in (("0", [0.5, 0.5]), ("1", [0.5, 0.25, 0.25])):
        pq.write_table(pa.table({"posteriors": [row], "label": [0]}), tmp_path / f"{name}.parquet")
    with pytest.raises(FileError, match=r"1.parquet: does not fit to the files before: .* num_classes is 2 and 3"):
        score_files([str(tmp_path)], OPTIONS, state_file=tmp_path / "all.state")
    assert list(read_collection(tmp_path / "all.state").files) == [f"{tmp_path}/0.parquet"]
    monkeypatch.setattr(batches, "CHUNK", 1)
    tables = [pq.read_table(tmp_path / f"{name}.parquet") for name in "01"]
    with pytest.raises(FileError, match="part 3: rows 2 to 2 do not fit to those before: .* num_classes is 2 and 3"):
        states_of_batches(tables, OPTIONS, source="part 3")


def test_a_full_disk_leaves_the_state_as_it_was(logs, table, tmp_path, monkeypatch):
    state_file = tmp_path / "all.state"
    score_files([f"{logs}/0.parquet"], OPTIONS, state_file=state_file)
    before = state_file.read_bytes()
    write_bytes = Path.write_bytes

    def half(path, content):
        write_bytes(path, content[: len(content) // 2])
        raise OSError(ENOSPC, strerror(ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(FileError, match=r"all.state: cannot be written: No space left"):
        score_files([str(logs)], OPTIONS, state_file=state_file)
    monkeypatch.undo()
    assert state_file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["all.state"]
    assert of_each(score_files([str(logs)], OPTIONS, state_file=state_file).states) == of_systems(table)


def test_an_interrupted_run_keeps_the_files_that_it_scored(logs, table, tmp_path, monkeypatch):
    def interrupted(part, reading):
        if part.path.endswith("2.parquet"):
            raise KeyboardInterrupt
        return batches_of(part, reading)

    monkeypatch.setattr(local, "batches_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        score_files([str(logs)], OPTIONS, state_file=tmp_path / "all.state")
    monkeypatch.undo()
    assert len(read_collection(tmp_path / "all.state").files) == 2
    assert of_each(score_files([str(logs)], OPTIONS, state_file=tmp_path / "all.state").states) == of_systems(table)


def test_files_without_a_column_of_systems_are_named(logs, tmp_path):
    for path in logs.iterdir():
        pq.write_table(pq.read_table(path).drop_columns(["model"]), path)
    assert set(score_files([("mine", str(logs))], OPTIONS).states) == {"mine"}
    assert set(score_files([f"{logs}/0.parquet", f"{logs}/1.parquet"], OPTIONS).states) == {"0", "1"}
    assert set(score_files([f"{logs}/*.parquet"], OPTIONS).states) == {f"{logs}/*.parquet"}


def test_a_run_goes_on_where_it_stopped(logs, table, tmp_path, monkeypatch):
    state_file = tmp_path / "all.state"
    broken = logs / "1.parquet"
    content = broken.read_bytes()
    broken.write_bytes(b"PAR1 no more")
    with pytest.raises(FileError, match=r"1.parquet: cannot be read as Parquet"):
        score_files([str(logs)], OPTIONS, state_file=state_file)
    assert list(read_collection(state_file).files) == [f"{logs}/0.parquet"]
    broken.write_bytes(content)
    seen = []
    monkeypatch.setattr(local, "batches_of", lambda part, reading: seen.append(part.path) or batches_of(part, reading))
    assert of_each(score_files([str(logs)], OPTIONS, state_file=state_file).states) == of_systems(table)
    assert seen == [f"{logs}/1.parquet", f"{logs}/2.parquet"]
    assert of_each(read_collection(state_file).states) == of_systems(table)
    pq.write_table(table, broken)
    with pytest.raises(FileError, match="bytes, and had .* when its rows were scored"):
        score_files([str(logs)], OPTIONS, state_file=state_file)
    with pytest.raises(InputError, match="must have the same options; n is"):
        score_files([f"{logs}/0.parquet"], OPTIONS.replace(n=(5.0,)), state_file=state_file)


def test_nothing_there_is_an_error(tmp_path):
    for pattern in (f"{tmp_path}/*.parquet", f"{tmp_path}/none.parquet", str(tmp_path)):
        with pytest.raises(FileError, match="there is no such Parquet file"):
            parts_of(pattern)
    with pytest.raises(FileError, match="cannot be read: Protocol not known"):
        parts_of("nowhere://x")

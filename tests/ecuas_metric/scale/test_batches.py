from tempfile import gettempdir
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric.errors import FileError, InputError
from ecuas_metric.files.recipe import Reading
from ecuas_metric.options import checked_options
from ecuas_metric.scale import batches, local
from ecuas_metric.scale.batches import states_of_batches
from ecuas_metric.scale.local import score_files
from ecuas_metric.scale.parts import find_pattern_files
from ecuas_metric.scale.rows import state_of
from ecuas_metric.summary import compute_summary_results, merge
from tests.ecuas_metric.scale.parts import of_each, packed
from tests.ecuas_metric.scale.sessions import session

OPTIONS = checked_options(n=[0, 1], reject_costs=[0.2])


@pytest.fixture
def table(rng):
    confidence = rng.random(600).round(2)
    correct = rng.random(600) < confidence
    model = rng.choice(["a", "b"], 600)
    text = ["x"] * 600
    return pa.table({"model": model, "confidence": confidence, "correct": correct, "text": text})


def of_batches(*tables, options=OPTIONS, **said):
    return of_each(states_of_batches(tables, options, reading=Reading(**said)))


def scored(*patterns, options=OPTIONS, **settings):
    files = [one if isinstance(one, tuple) else str(one) for one in patterns]
    return of_each(score_files(files, options, **settings).states)


def of_systems(table):
    parts = table.to_pandas().groupby("model")
    return {
        name: packed(state_of("confidences", part["confidence"], part["correct"], OPTIONS))
        for name, part in parts
    }


def test_batches_of_any_size_give_the_state_of_each_system(table, monkeypatch):
    monkeypatch.setattr(batches, "CHUNK", 2000)
    expected = of_systems(table)
    for tables in ([table[:100], table[100:]], *(table.to_batches(size) for size in (7, 70, 600))):
        assert of_batches(*tables) == expected
    assert of_batches(table[:0]) == {}
    floats = table.set_column(2, "correct", table["correct"].cast(pa.int8()).cast(pa.float64()))
    assert of_batches(table[:90], floats[90:200], table[200:]) == expected


def test_two_columns_name_a_system_and_types_of_numbers_do_not_matter(table):
    halves = table.set_column(1, "confidence", pa.array(np.arange(600) % 9 / 8))
    other = halves.set_column(1, "q", halves["confidence"].cast(pa.float32()))
    other = other.set_column(2, "ok", other["correct"].cast(pa.int16())).append_column(
        "task", pa.array(["t"] * 600)
    )
    other = other.set_column(0, "model", other["model"].dictionary_encode())
    found = of_batches(other, columns={"confidence": "q", "correct": "ok", "system": "model+task"})
    assert found == {f"{name} t": state for name, state in of_systems(halves).items()}


def test_costs_have_no_scale_of_confidences():
    costs = pa.table({"u": [0.5, 0.2], "c": [1.0, 0.0]})
    with pytest.raises(InputError, match="scale requires confidences or posteriors"):
        of_batches(costs, columns={"uncertainty": "u", "cost": "c"}, scale=100)


THREE = {"confidence": [0.9, 0.4, 0.5], "correct": [1, 0, 1]}
OF_TWO = THREE | {"model": ["a", "b", "a"]}
HALVES = {"posteriors": [[0.5, 0.5]] * 3, "label": [0, 1, 1]}


NOT_READ = [  # columns, and what is said
    (OF_TWO | {"confidence": [0.9, 3.5, 0.5]}, "'confidence' must lie .* got 3.5 in row 2"),
    (OF_TWO | {"confidence": [0.9, 0.4, 3.5]}, "'confidence' must lie .* got 3.5 in row 3"),
    (THREE | {"confidence": [0.9, None, 0.5]}, "'confidence' must not be NaN; got nan in row 2"),
    (THREE | {"correct": [1, 0, 2**60]}, r"'correct' must be 0 .* got 1.15\d*e\+18 in row 3"),
    (OF_TWO | {"correct": [1, None, 1]}, "'correct' has no value in row 2"),
    (THREE | {"model": ["a", None, "a"]}, "'model' must name a system; it is empty in row 2"),
    (HALVES | {"posteriors": [["a", "b"]] * 3}, "'posteriors' must be numbers; got 'a' in row 1"),
    (HALVES | {"posteriors": [[0.5, 0.5], None, [1, 0]]}, "'posteriors' has no value in row 2"),
]


@pytest.mark.parametrize(("columns", "message"), NOT_READ)
def test_what_is_wrong_is_named_with_part_column_and_row(columns, message, monkeypatch):
    """Rows are scored together, one by one or two by two."""
    for chunk, size in ((batches.CHUNK, 1), (1, 1), (1, 2)):
        monkeypatch.setattr(batches, "CHUNK", chunk)
        with pytest.raises(FileError, match=f"part 7: column {message}"):
            states_of_batches(pa.table(columns).to_batches(size), OPTIONS, source="part 7")


def test_a_class_that_is_not_known_is_no_wrong_one(rng):
    table = pa.table({"posteriors": list(rng.dirichlet(np.ones(3), 4)), "label": [0, 1, None, 2]})
    with pytest.raises(FileError, match=r"'label' has no value in row 3 \(1 of 4\)"):
        states_of_batches([table], OPTIONS, reading=Reading(unlabelled="wrong"))
    assert (
        states_of_batches([table], OPTIONS, reading=Reading(unlabelled="drop"))["system"].rows == 3
    )
    with pytest.raises(FileError, match="has confidence = confidence, but no correct"):
        states_of_batches([pa.table({"confidence": [0.5], "answer": ["a"]})], OPTIONS)


@pytest.mark.parametrize(
    "columns",
    [
        lambda rng: {"confidence": rng.random(60)},
        lambda rng: {"confidence": rng.random(60), "weight": rng.random(60) + 0.5},
        lambda rng: {"posteriors": list(rng.dirichlet(np.ones(3), 60))},
        lambda rng: {"prob": rng.random(60)},
    ],
)
def test_parts_that_nobody_judged_do_not_show(columns, rng):
    given = columns(rng)
    truth = np.where(np.arange(60) < 20, np.nan, rng.integers(0, 2, 60))
    table = pa.table(given | {"correct" if "confidence" in given else "label": truth})
    reading = Reading(unlabelled="drop", columns={"weight": "weight"} if "weight" in given else {})
    parts = (table, *(table[i : i + 10] for i in range(0, 60, 10)))
    scored = [states_of_batches([part], OPTIONS, reading=reading)["system"] for part in parts]
    merged = merge(scored[1:])
    assert packed(merged) == packed(scored[0])
    assert [*map(str, merged.notes)] == [*map(str, scored[0].notes)]
    with pytest.raises(InputError, match="a state must have rows that are judged"):
        compute_summary_results(scored[1])


@pytest.fixture
def logs(table, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    for i in range(3):
        pq.write_table(table[i * 200 : (i + 1) * 200], folder / f"{i}.parquet", row_group_size=64)
    return folder


@pytest.mark.long
def test_files_folders_patterns_and_addresses_hold_the_same_rows(logs, table, tmp_path):
    expected = of_systems(table)
    for pattern in (str(logs), f"{logs}/*.parquet", f"file://{logs}/*.parquet", f"file://{logs}"):
        assert scored(pattern) == expected
    with pytest.raises(FileError, match="0.parquet: is named twice"):
        scored(logs, f"{logs}/0.parquet")
    singles = scored(("one", f"{logs}/0.parquet"), f"{logs}/1.parquet")
    assert singles.keys() == {"a", "b"}
    for place in (str(logs), f"file://{logs}"):
        assert [part.address for part in find_pattern_files(place)] == [
            f"{place}/{i}.parquet" for i in range(3)
        ]
    for path in logs.iterdir():  # which name their rows where no column does
        pq.write_table(pq.read_table(path).drop_columns(["model"]), path)
    assert scored(("mine", str(logs))).keys() == {"mine"}
    assert scored(f"{logs}/0.parquet", f"{logs}/1.parquet").keys() == {"0", "1"}
    assert scored(f"{logs}/*.parquet").keys() == {f"{logs}/*.parquet"}


def test_folders_named_for_a_column_are_that_column_of_their_files(tmp_path):
    systems = (("a b", 0.5), ("c", 0.25))
    for name, q in systems:
        folder = tmp_path / "logs" / "year=2026" / f"model={quote(name)}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"confidence": [q], "correct": [1]}), folder / "0.parquet")
    logs = tmp_path / "logs"
    assert scored(logs) == {
        n: packed(state_of("confidences", [q], [1], OPTIONS)) for n, q in systems
    }
    reading = Reading(columns={"system": "year+model"})
    assert scored(logs, reading=reading).keys() == {"2026 a b", "2026 c"}
    other = logs / "model=__HIVE_DEFAULT_PARTITION__"
    other.mkdir()
    pq.write_table(pa.table({"confidence": [0.5], "correct": [1]}), other / "0.parquet")
    with pytest.raises(
        FileError, match="0.parquet: column 'model' must name a system; it is empty in row 1"
    ):
        scored(logs)


@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.e2e)])
def test_files_and_folders_may_be_called_as_patterns_are(engine, tmp_path):
    if engine == "spark":
        session()
    folder = tmp_path / "run [1] {a,b}" / "model=x[y]"
    folder.mkdir(parents=True)
    for name in ("a[0].parquet", "a0.parquet"):
        path = folder / name
        pq.write_table(pa.table({"confidence": [0.5], "correct": [int("[" in name)]}), path)
    both = score_files([str(tmp_path / "run [1] {a,b}")], OPTIONS, engine=engine)
    assert {name: state.rows for name, state in both.states.items()} == {"x[y]": 2}
    (one,) = score_files([str(folder / "a[0].parquet")], OPTIONS, engine=engine).states.values()
    assert (one.rows, one.wrong) == (1, 0)


def test_what_an_engine_leaves_beside_its_files_is_no_part_of_them(tmp_path):
    pq.write_table(pa.table(THREE), tmp_path / "0.parquet")
    expected = scored(tmp_path)
    pq.write_table(pa.table(THREE)[:0], tmp_path / "1.parquet")
    (tmp_path / "_temporary").mkdir()
    for name in ("_SUCCESS", ".0.parquet.crc", "_metadata.parquet", "_temporary/half.parquet"):
        (tmp_path / name).write_bytes(b"PAR1")
    assert [*scored(tmp_path).values()] == [*expected.values()]


def test_files_and_batches_of_other_settings_are_named(tmp_path, monkeypatch):
    for name, row in (("0", [0.5, 0.5]), ("1", [0.5, 0.25, 0.25])):
        pq.write_table(pa.table({"posteriors": [row], "label": [0]}), tmp_path / f"{name}.parquet")
    with pytest.raises(
        FileError, match=r"1.parquet: does not fit to the files before: .*numbers of classes K"
    ):
        scored(tmp_path)
    monkeypatch.setattr(batches, "CHUNK", 1)
    tables = [pq.read_table(tmp_path / f"{name}.parquet") for name in "01"]
    with pytest.raises(
        FileError, match="part 3: rows 2 to 2 do not fit to those before: .*numbers of classes K"
    ):
        states_of_batches(tables, OPTIONS, source="part 3")


def test_the_row_of_an_error_is_named_in_a_file_that_an_engine_adds_up(table, tmp_path):
    confidence = table["confidence"].to_numpy().copy()
    confidence[17] = 2.0
    pq.write_table(table.set_column(1, "confidence", pa.array(confidence)), tmp_path / "1.parquet")
    with pytest.raises(
        FileError, match=r"1.parquet: column 'confidence' must lie .* got 2.0 in row 18"
    ):
        scored(tmp_path)


def test_the_engine_writes_nothing_beside_the_table_and_what_memory_does_not_hold_elsewhere():
    """Nothing, that is, on the terminal, nor in the folder of the user."""
    settings = {
        "enable_progress_bar": False,
        "temp_directory": gettempdir(),
        "memory_limit": f"{256e6 / 2**20:.1f} MiB",
    }
    with local._open_engine("local") as read_frame:
        (connection,) = read_frame.args
        for name, value in settings.items():
            found = connection.sql(f"SELECT current_setting('{name}')").fetchall()
            assert found == [(value,)], name


def test_a_copy_of_a_file_is_refused_beside_it_unless_it_is_empty(logs):
    copy = logs / "again" / "0.parquet"
    copy.parent.mkdir()
    copy.write_bytes((logs / "0.parquet").read_bytes())
    for patterns in ([logs], [copy, logs / "0.parquet"]):
        with pytest.raises(FileError, match=r"holds the rows of .*/0.parquet, as"):
            scored(*patterns)
    empty = pq.read_table(copy)[:0]
    for path in (copy, logs / "0.parquet"):
        pq.write_table(empty, path)
    assert scored(logs).keys() == {"a", "b"}


def test_nothing_there_is_an_error(tmp_path):
    for pattern in (f"{tmp_path}/*.parquet", f"{tmp_path}/none.parquet", str(tmp_path)):
        with pytest.raises(FileError, match="there is no such Parquet file"):
            find_pattern_files(pattern)
    with pytest.raises(FileError, match="cannot be read: Protocol not known"):
        find_pattern_files("nowhere://x")

import io
import json
import pickle
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric.errors import FileError, InputError
from ecuas_metric.options import checked_options
from ecuas_metric.scale import storage
from ecuas_metric.scale.local import score_files
from ecuas_metric.scale.rows import state_of
from ecuas_metric.scale.spark import merge_rows
from ecuas_metric.scale.storage import (
    Collection,
    from_bytes,
    merge_collections,
    pack,
    to_bytes,
    unpack,
)
from ecuas_metric.summary import merge
from tests.ecuas_metric.scale.parts import FORMS, packed

OPTIONS = checked_options(n=1)
ONE = state_of("confidences", [0.9, 0.5, 0.5], [1, 0, 1], OPTIONS)


def test_states_of_every_form_are_what_they_were(rng):
    states = {name: FORMS[name](rng, 40).state() for name in FORMS}
    collection = Collection(states, {"logs/a.parquet": "1a2b"})
    found = from_bytes(to_bytes(collection))
    assert found.files == collection.files
    assert to_bytes(found) == to_bytes(collection)
    for name, state in states.items():
        assert packed(found.states[name]) == packed(state), name
        assert [*map(str, found.states[name].notes)] == [*map(str, state.notes)]
        assert found.states[name].basis == state.basis


@pytest.mark.long
def test_an_error_of_a_server_names_the_file(tmp_path, monkeypatch):
    """One that takes no requests for parts of files, as Python's own."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"confidence": [0.9], "correct": [1]}), "a.parquet")
    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/a.parquet"
        with pytest.raises(FileError, match="a.parquet: cannot be read: .*range requests"):
            score_files([address], OPTIONS)
        server.shutdown()


def test_anyone_reads_a_file_of_states():
    table = pq.read_table(pa.BufferReader(to_bytes(Collection({"a": ONE}))))
    rows = [
        {"first": 0.9, "last": 0.9, "weight": 1.0, "cost": 0.0},
        {"first": 0.5, "last": 0.5, "weight": 2.0, "cost": 1.0},
    ]
    columns = ["system", *rows[0]]
    assert table.select(columns).to_pylist() == [{"system": "a", **row} for row in rows]
    (system,) = json.loads(table.schema.metadata[b"ecuas"])["systems"]
    assert (system["name"], system["options"]["n"], system["wrong"]) == ("a", [1.0], 1)


def parquet(table, metadata=None):
    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), sink)
    return sink.getvalue()


def changed(content, *, is_signed=False, **fields):
    """Return a file with other metadata, and with the checksum that it had or that of what it has now."""
    table = pq.read_table(pa.BufferReader(content))
    header = json.loads(table.schema.metadata[b"ecuas"]) | fields
    if is_signed:
        header["sha256"] = storage._digest(
            {name: header[name] for name in header if name != "sha256"}, table
        )
    return parquet(table, {"ecuas": json.dumps(header)})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda content: b"no", "not a file of states"),
        (lambda content: b"ECUAS state\x02" + content, "not a file of states"),
        (lambda content: parquet(pa.table({"confidence": [0.5]})), "but not one of states"),
        (lambda content: content[: len(content) // 2], "cannot be read to its end"),
        (lambda content: changed(content, version=7), "must have version"),
        (lambda content: changed(content, files={"b": 1}), "its checksum is another"),
        (lambda content: changed(content, systems=[]), "its checksum is another"),
    ],
)
def test_files_that_are_no_states_are_refused_by_name(change, reason, tmp_path):
    path = tmp_path / "month.state"
    path.write_bytes(change(to_bytes(Collection({"a": ONE}))))
    with pytest.raises(FileError) as raised:
        storage.read_collection(path)
    assert raised.value.file == str(path)
    assert reason in str(raised.value)


@pytest.mark.long
def test_no_changed_byte_changes_a_number(rng):
    """Bytes in turn: what cannot be read is refused, and what can be read is what was written."""
    content = to_bytes(Collection({"a": FORMS["weighted confidences"](rng, 3).state()}))
    refused = 0
    for place in range(4, len(content), 11):
        torn = bytearray(content)
        torn[place] ^= 1 << int(rng.integers(8))
        try:
            found = from_bytes(bytes(torn))
        except FileError:
            refused += 1
        else:
            assert to_bytes(found) == content
    assert refused > len(content) / 22


@pytest.mark.parametrize("field", ["options", "basis"])
def test_a_state_of_options_that_are_no_more_says_so(field):
    content = to_bytes(Collection({"a": ONE}))
    systems = json.loads(pq.read_schema(pa.BufferReader(content)).metadata[b"ecuas"])["systems"]
    systems[0][field]["m"] = [1.0]
    with pytest.raises(
        FileError, match=r"was made with options that there are not any more: .*'m'"
    ):
        from_bytes(changed(content, is_signed=True, systems=systems))


def test_collections_merge_but_count_no_rows_twice(tmp_path):
    one = Collection({"a": ONE}, {"0.parquet": "a"})
    two = Collection({"a": ONE, "b": ONE}, {"1.parquet": "b"})
    merged = merge_collections([one, two])
    assert {name: state.rows for name, state in merged.states.items()} == {"a": 6, "b": 3}
    assert packed(merged.states["a"]) == packed(merge_collections([two, one]).states["a"])
    with pytest.raises(FileError) as raised:
        merge_collections([one, two, one], names=["a.state", "b.state", "c.state"])
    assert raised.value.file == "c.state"
    other = state_of("confidences", [0.5], [1], checked_options(n=2))
    with pytest.raises(InputError, match="they differ in their n of ECUAS_n"):
        merge_collections([one, Collection({"a": other})])
    with pytest.raises(
        InputError, match="of one table must have one form and the same options; those of 'b'"
    ):
        merge_collections([one, Collection({"b": other})])
    # whatever the name of the file
    with pytest.raises(FileError, match="holds the rows of copy.parquet"):
        merge_collections([one, Collection({"a": ONE}, {"copy.parquet": "a"})])


def test_files_that_cannot_be_read_or_written_are_named(tmp_path):
    for path in (tmp_path / "a.state", tmp_path):
        with pytest.raises(FileError, match="cannot be read: (No such file|Is a directory)"):
            storage.read_collection(path)
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot be written: Not a directory"):
        storage.write_collection(tmp_path / "file" / "a.state", Collection({"a": ONE}))


def merged_rows(*states, error=b""):
    """Return the row of partitions of Spark with these states, and after them one with an error."""
    rows = [{"state": pack(state), "error": b""} for state in states]
    if error:
        rows.append({"state": b"", "error": error})
    numbered = [{**row, "system": "", "slot": 0, "part": part} for part, row in enumerate(rows)]
    (merged,) = merge_rows(pa.Table.from_pylist(numbered)).to_pylist()
    return merged


def test_states_of_partitions_are_merged_or_the_first_error_comes_back():
    assert packed(unpack(merged_rows(ONE, ONE)["state"])) == packed(merge([ONE, ONE]))
    other = state_of("confidences", [0.5], [1], checked_options(n=2))
    assert str(pickle.loads(merged_rows(ONE, other)["error"])).startswith(
        "partitions 0 and 1: states that are merged must depend on the same"
    )
    assert merged_rows(ONE, other, error=b"why")["error"] == b"why"

import bz2
import gzip
import io
import json
import lzma
import re
import sys
from contextlib import suppress

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ecuas_metric import read_submissions
from ecuas_metric.errors import FileError
from ecuas_metric.files.read import frame_of, read_sheet, stem
from ecuas_metric.files.values import encode, plain

CSV = b"confidence,correct\n0.9,1\n0.25,0\n"
FRAME = pd.DataFrame({"confidence": [0.9, 0.25], "correct": [1, 0]})


def cells(path):
    return frame_of(read_sheet(path)).to_numpy(dtype=float).tolist()


@pytest.mark.parametrize("suffix", ["gz", "zip", "zst"])
def test_compressed_files_hold_what_was_compressed(suffix, tmp_path):
    path = tmp_path / f"gpt-4.1.csv.{suffix}"
    if suffix == "zst":  # pandas needs one more package
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(CSV)
    else:
        FRAME.to_csv(path, index=False)
    assert cells(path) == FRAME.to_numpy().tolist()
    assert stem(path) == "gpt-4.1"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"cannot be read as csv: "):
        read_sheet(path)


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
def test_what_is_compressed_in_another_way_is_refused_with_the_ways_that_are_read(
    compress, tmp_path
):
    path = tmp_path / "a.csv.packed"
    path.write_bytes(compress(CSV))
    with pytest.raises(FileError, match=r"suffix must be one of .*\.gz, \.zst, \.zip"):
        read_sheet(path)


def test_no_number_of_a_file_that_was_cut_is_another(tmp_path):
    text = "id,confidence,correct\n1,0.91,1\n22,0.825,0\n333,0.7411,1"
    read = {}
    for end in range(text.index("\n") + 2, len(text) + 1):
        (tmp_path / "a.csv").write_text(text[:end])
        with suppress(FileError):
            (one,) = read_submissions(tmp_path / "a.csv", unlabelled="bounds")
            read[end] = one.predictions.tolist()
    assert read[len(text)] == [0.91, 0.825, 0.7411]
    assert all(numbers == read[len(text)][: len(numbers)] for numbers in read.values())
    assert set(map(len, read.values())) == {1, 2, 3}


def test_other_formats_hold_the_same(tmp_path):
    FRAME.to_feather(tmp_path / "a.feather")
    table = pa.Table.from_pandas(FRAME)
    with (
        pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file,
        pa.ipc.new_stream(file, table.schema) as stream,
    ):
        stream.write_table(table)
    np.savez(tmp_path / "a.npz", **{name: FRAME[name].to_numpy() for name in FRAME})
    FRAME.to_csv(tmp_path / "a.dat", index=False)
    FRAME.to_parquet(tmp_path / "a")
    FRAME.to_json(tmp_path / "list.jsonl", orient="records", indent=2)
    for name in ("a.feather", "a.arrow", "a.npz", "a.dat", "a", "list.jsonl"):
        assert cells(tmp_path / name) == FRAME.to_numpy().tolist(), name


def test_columns_of_runs_are_their_values(tmp_path):
    runs = pa.RunEndEncodedArray.from_arrays(
        pa.array([1, 2], pa.int32()), pa.array(FRAME["correct"])
    )
    table = pa.table({"confidence": FRAME["confidence"], "correct": runs})
    with (
        pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file,
        pa.ipc.new_stream(file, table.schema) as stream,
    ):
        stream.write_table(table)
    assert cells(tmp_path / "a.arrow") == FRAME.to_numpy().tolist()


def test_excel_files(tmp_path):
    pytest.importorskip("openpyxl")
    FRAME.to_excel(tmp_path / "a.xlsx", index=False)
    assert cells(tmp_path / "a.xlsx") == FRAME.to_numpy().tolist()
    assert read_sheet(tmp_path / "a.xlsx").rows.tolist() == [2, 3]
    zeros = FRAME * 0
    with pd.ExcelWriter(tmp_path / "c.xlsx") as book:
        zeros.to_excel(book, sheet_name="One", index=False)
    assert cells(tmp_path / "c.xlsx") == zeros.to_numpy().tolist()
    with pd.ExcelWriter(tmp_path / "d.xlsx") as book:
        FRAME.to_excel(book, index=False, startrow=2)
        book.sheets["Sheet1"]["A1"] = "Results"
    below = read_sheet(tmp_path / "d.xlsx", skip="1")
    assert below.names == list(FRAME)
    assert below.rows.tolist() == [4, 5]
    assert frame_of(below).to_numpy().tolist() == FRAME.to_numpy().tolist()
    with pd.ExcelWriter(tmp_path / "b.xlsx") as book:
        FRAME.head(0).to_excel(book, sheet_name="Empty", index=False)
        FRAME.to_excel(book, sheet_name="One", index=False)
    assert cells(tmp_path / "b.xlsx") == FRAME.to_numpy().tolist()
    with pd.ExcelWriter(tmp_path / "b.xlsx", mode="a") as book:
        FRAME.to_excel(book, sheet_name="Two", index=False)
    with pytest.raises(
        ValueError, match=r"several lists or sheets of rows; got One \(2 rows\), Two"
    ):
        read_sheet(tmp_path / "b.xlsx")
    sheet = read_sheet(tmp_path / "b.xlsx", rows="Two")
    assert (sheet.path, sheet.beside) == ("Two", (("One", "2 rows"),))
    with pytest.raises(ValueError, match="it has no sheet 'Three'"):
        read_sheet(tmp_path / "b.xlsx", rows="Three")


@pytest.mark.parametrize(
    "content", [CSV, gzip.compress(CSV, mtime=0), b'{"confidence": 0.9, "correct": 1}\n']
)
def test_standard_input_is_known_by_how_it_begins(content, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert cells("-")[0] == [0.9, 1]


def test_addresses_are_read_by_fsspec():
    with fsspec.open("memory://runs/a.csv", "wb") as file:
        file.write(CSV)
    assert cells("memory://runs/a.csv") == FRAME.to_numpy().tolist()
    with pytest.raises(ValueError, match=re.escape("memory://runs/b.csv: there is no such file.")):
        read_sheet("memory://runs/b.csv")


def test_comments_before_the_header_are_skipped_and_counted(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"# produced by eval.py\n" + CSV)
    assert read_sheet(tmp_path / "a.csv").rows.tolist() == [3, 4]


@pytest.mark.parametrize("name", ["gpt.csv", "part.csv"])
def test_a_folder_of_systems_is_no_table(name, tmp_path):
    FRAME.to_csv(tmp_path / name)
    with pytest.raises(
        ValueError, match=r"is a folder, and not of the parts of one table\. Name its files\."
    ):
        read_sheet(tmp_path)


@pytest.mark.parametrize(
    "values", [["b", None, "a", "b"], [[1], None, [2], [1]]]
)  # Arrow encodes no lists
def test_codes_tell_values_and_where_there_is_none(values):
    known, codes = encode(pa.array(values))
    assert [None if code == -1 else known[code] for code in codes] == values


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string_view(), pa.large_string()]
)
def test_bytes_and_texts_of_all_kinds_are_texts(kind):
    assert plain(pa.array(["ja", None, "né"]).cast(kind)).to_pylist() == ["ja", None, "né"]


@pytest.mark.parametrize("shape", ["lines", "list", "results"])
def test_rows_within_lists_are_read_as_the_refusal_says(shape, tmp_path):
    answers = [{"confidence": 0.9, "correct": 1}, {"confidence": 0.4, "correct": 0}]
    questions = [{"q": name, "answers": answers} for name in "abc"]
    documents = {
        "lines": "\n".join(map(json.dumps, questions)),
        "list": json.dumps(questions),
        "results": json.dumps({"results": questions}),
    }
    path = tmp_path / "a.json"
    path.write_text(documents[shape])
    with pytest.raises(FileError) as refusal:
        read_submissions(path)
    assert refusal.value.advice == "name_rows"
    (one,) = read_submissions(path, columns=refusal.value.columns)
    assert one.predictions.tolist() == [0.9, 0.4] * 3
    with pytest.raises(FileError, match="there is nothing at none"):
        read_submissions(path, columns={"rows": "none"})


def test_rows_within_lists_are_proposed_of_json_alone(tmp_path):
    answers = pa.array([[{"confidence": 0.9, "correct": 1}] * 2] * 2)
    table = pa.table({"answers": answers.cast(pa.large_list(answers.type.value_type))})
    table.to_pandas().to_parquet(tmp_path / "a.parquet", schema=table.schema)
    with pytest.raises(FileError) as refusal:
        read_submissions(tmp_path / "a.parquet")
    assert refusal.value.advice == "name_columns"


def test_a_table_is_of_lists_of_one_length_and_what_stands_beside_is_named(tmp_path):
    table = {"confidence": [0.9, 0.4, 0.8], "correct": [1, 0, 1]}
    document = {"meta": {"a": 1}, **table, "names": ["a", "b"], "model": "x"}
    (tmp_path / "a.json").write_text(json.dumps(document))
    (one,) = read_submissions(tmp_path / "a.json")
    assert (one.name, one.predictions.tolist()) == ("x", table["confidence"])
    assert one.recipe.unused == (("meta", "1 field"), ("names", "2 values"))
    (tmp_path / "a.json").write_text(json.dumps({"run": document, "b": {"x": [1]}}))
    (one,) = read_submissions(tmp_path / "a.json", columns={"rows": "run"})
    beside = (("b", "1 field"), ("run.meta", "1 field"), ("run.names", "2 values"))
    assert one.recipe.unused == beside
    arrays = {"seed": np.int64(3), "classes": np.arange(2), "cube": np.zeros((2, 3, 4))}
    np.savez(tmp_path / "a.npz", **arrays, **table)
    (one,) = read_submissions(tmp_path / "a.npz")
    assert one.predictions.tolist() == table["confidence"]
    beside = (("seed", "1 value"), ("classes", "2 values"), ("cube", "2x3x4 values"))
    assert one.recipe.unused == beside
    np.savez(
        tmp_path / "b.npz", classes=np.arange(2), conf=table["confidence"], ok=table["correct"]
    )
    with pytest.raises(FileError, match=r"beside them: classes \(2 values\)"):
        read_submissions(tmp_path / "b.npz")


def test_what_stands_beside_the_list_of_rows_is_named(tmp_path):
    rows = [{"confidence": 0.9, "correct": 1}, {"confidence": 0.4, "correct": 0}]
    document = {"model": "x", "run": {"seed": 3, "rows": rows, "tags": ["a"]}, "config": {"a": 1}}
    (tmp_path / "a.json").write_text(json.dumps(document))
    (one,) = read_submissions(tmp_path / "a.json")
    assert one.recipe.path == "run.rows"
    beside = {"model": "1 text", "run.seed": "1 value", "run.tags": "1 value", "config": "1 field"}
    assert dict(one.recipe.unused) == beside


def test_a_file_is_cut_where_its_last_row_has_fewer_cells_than_the_header(tmp_path):
    path = tmp_path / "a.csv"
    text = "confidence,correct,note\n0.9,1,ok\n0.8,0,slow, but fine\n0.7,1,ok"
    path.write_text(text)
    with pytest.raises(FileError, match="row 3 has more cells than the header"):
        read_sheet(path)
    path.write_text(text.removesuffix(",ok"))
    with pytest.raises(FileError, match="the file ends within its last row"):
        read_sheet(path)


@pytest.mark.parametrize("space", " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}")
def test_spaces_before_per_cent_are_of_any_width(space, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"confidence,correct\n64{space}%,1\n8{space}%,0\n", encoding="utf-8")
    (one,) = read_submissions(path)
    assert one.predictions.tolist() == [0.64, 0.08]


def test_a_minus_sign_is_a_hyphen(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("confidence,correct\n\N{MINUS SIGN}0.5,1\n-2,0\n", encoding="utf-8")
    (one,) = read_submissions(path, scale="log")
    assert one.predictions == pytest.approx(np.exp([-0.5, -2]), rel=1e-15)


def test_grades_with_decimal_commas_are_those_with_points(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('confidence,correct\n0.9,1\n0.8,"0,5"\n0.7,0\n')
    (one,) = read_submissions(path, correct_from=0.5)
    assert one.references.tolist() == [1, 1, 0]
    path.write_text('confidence,correct\n0.9,4\n0.8,"2,5"\n0.7,0\n')  # or 25
    with pytest.raises(FileError, match="most are whole or with decimal points; got '2,5'"):
        read_submissions(path, correct_from=0.5)


@pytest.mark.parametrize("size", [1, 2, 30])
def test_a_document_with_one_confidence_is_one_row_whatever_lists_it_has(size, tmp_path):
    lists = {"tokens": ["a"] * size, "logprobs": [-0.5] * size}
    row = {"model": "x", "confidence": 0.9, "correct": 1, **lists}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    (one,) = read_submissions(tmp_path / "a.jsonl")
    assert one.predictions.tolist() == [0.9]

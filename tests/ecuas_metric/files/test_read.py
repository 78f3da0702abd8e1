import gzip
import io
import json
import re
import sys
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ecuas_metric import read_submissions
from ecuas_metric.errors import FileError
from ecuas_metric.files.cells import read_numbers
from ecuas_metric.files.read import read_sheet, stem

CSV = b"confidence,correct\n0.9,1\n0.25,0\n"
FRAME = pd.DataFrame({"confidence": [0.9, 0.25], "correct": [1, 0]})


def cells(path):
    return numbers_of(read_sheet(path))


def numbers_of(sheet):
    return np.transpose([read_numbers(sheet, name) for name in sheet.names]).tolist()


@pytest.fixture
def read(tmp_path):
    """Return what writes a file, text or a document of JSON, and reads the one system that it holds."""

    def read(content, suffix=".csv", **options):
        path = tmp_path / f"a{suffix}"
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        (one,) = read_submissions(path, **options)
        return one

    return read


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
    with pytest.raises(FileError, match=r"cannot be read as csv: "):
        read_sheet(path)


def test_an_archive_of_several_files_is_to_be_unpacked(tmp_path):
    """What macOS adds is none of them."""
    for count in (1, 2):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for name in "ab"[:count]:
                archive.writestr(f"{name}.csv", CSV)
                archive.writestr(f"__MACOSX/._{name}.csv", b"\0")
        if count == 1:
            assert cells(tmp_path / "a.zip") == FRAME.to_numpy().tolist()
    with pytest.raises(FileError, match=r"it holds 2: a\.csv, b\.csv; unpack it, and name these"):
        read_sheet(tmp_path / "a.zip")


def test_other_formats_hold_the_same(tmp_path):
    FRAME.to_feather(tmp_path / "a.feather")
    ends = pa.array([1, 2], pa.int32())
    runs = pa.RunEndEncodedArray.from_arrays(ends, pa.array(FRAME["correct"]))
    table = pa.table({"confidence": FRAME["confidence"], "correct": runs})
    with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as stream:
        stream.write_table(table)
    np.savez(tmp_path / "a.npz", **{name: FRAME[name].to_numpy() for name in FRAME})
    FRAME.to_csv(tmp_path / "a.dat", index=False)
    FRAME.to_parquet(tmp_path / "a")
    FRAME.to_json(tmp_path / "list.jsonl", orient="records", indent=2)
    for name in ("a.feather", "a.arrow", "a.npz", "a.dat", "a", "list.jsonl"):
        assert cells(tmp_path / name) == FRAME.to_numpy().tolist(), name


def test_excel_files(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, index=False, startrow=2)
        book.sheets["Sheet1"]["A1"] = "Results"
    below = read_sheet(path, skip="1")
    assert below.names == list(FRAME)
    assert below.rows.tolist() == [4, 5]
    assert numbers_of(below) == FRAME.to_numpy().tolist()
    zeros = FRAME * 0
    with pd.ExcelWriter(path) as book:
        FRAME.head(0).to_excel(book, sheet_name="Empty", index=False)
        zeros.to_excel(book, sheet_name="One", index=False)
    assert cells(path) == zeros.to_numpy().tolist()
    assert read_sheet(path).rows.tolist() == [2, 3]
    with pd.ExcelWriter(path, mode="a") as book:
        FRAME.to_excel(book, sheet_name="Two", index=False)
    with pytest.raises(FileError, match=r"several lists .*; got One \(2 rows\), Two"):
        read_sheet(path)
    sheet = read_sheet(path, rows="Two")
    assert (sheet.path, sheet.beside) == ("Two", (("One", "2 rows"),))
    with pytest.raises(FileError, match="it has no sheet 'Three'"):
        read_sheet(path, rows="Three")


@pytest.mark.parametrize(
    "write",
    [
        lambda file: file.write(CSV),
        lambda file: file.write(gzip.compress(CSV, mtime=0)),
        lambda file: FRAME.to_json(file, orient="records", lines=True),
        lambda file: FRAME.to_excel(file, index=False),
        lambda file: np.savez(file, **FRAME),
        FRAME.to_parquet,
        FRAME.to_feather,
    ],
)
def test_standard_input_is_known_by_how_it_begins(write, monkeypatch):
    content = io.BytesIO()
    write(content)
    content.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    assert cells("-") == FRAME.to_numpy().tolist()


def test_addresses_are_read_by_fsspec():
    with fsspec.open("memory://runs/a.csv", "wb") as file:
        file.write(CSV)
    assert cells("memory://runs/a.csv") == FRAME.to_numpy().tolist()
    with pytest.raises(FileError, match=re.escape("memory://runs/b.csv: there is no such file.")):
        read_sheet("memory://runs/b.csv")


def test_an_answer_of_a_server_that_is_no_file_is_said():
    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            page = b"<!doctype html><html>Log in</html>"
            self.send_response(int(self.path[1:4]))
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        for status, why in (
            (403, "cannot be read: the server answers 403 Forbidden"),
            (404, "there is no such file"),
            (200, "the file is a page of HTML"),
        ):
            address = f"http://127.0.0.1:{server.server_port}/{status}.csv"
            with pytest.raises(FileError, match=f"{status}.csv: {why}"):
                read_sheet(address)
        server.shutdown()


def test_comments_before_the_header_are_skipped_and_counted(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"# produced by eval.py\n" + CSV)
    assert read_sheet(tmp_path / "a.csv").rows.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ("#,confidence\n1,0.9\n2,0.25\n", "#"),
        ("# a\n#;confidence\n1;0,9\n2;0,25\n", "#"),
        ('#,confidence\n1,"0.9\n2"\n', "#"),
        ("# n,confidence\nn,confidence\n1,0.9\n", "n"),
    ],
)
def test_a_name_of_one_sign_begins_a_row_of_as_many_cells_as_those_below(lines, first, tmp_path):
    (tmp_path / "a.csv").write_text(lines)
    assert read_sheet(tmp_path / "a.csv").names == [first, "confidence"]


ANSWERS = [{"confidence": 0.9, "correct": 1}, {"confidence": 0.4, "correct": 0}]
QUESTIONS = [{"q": name, "answers": ANSWERS} for name in "abc"]


@pytest.mark.parametrize(
    "content", ["\n".join(map(json.dumps, QUESTIONS)), QUESTIONS, {"results": QUESTIONS}]
)
def test_rows_within_lists_are_read_as_the_refusal_says(content, read):
    with pytest.raises(FileError) as refusal:
        read(content, ".json")
    (way,) = refusal.value.ways
    one = read(content, ".json", columns=way.columns)
    assert one.predictions.tolist() == [0.9, 0.4] * 3
    with pytest.raises(FileError, match="there is nothing at none"):
        read(content, ".json", columns={"rows": "none"})


def test_a_table_is_of_lists_of_one_length_and_what_stands_beside_is_named(read, tmp_path):
    table = {"confidence": [0.9, 0.4, 0.8], "correct": [1, 0, 1]}
    document = {"meta": {"a": 1}, **table, "names": ["a", "b"], "model": "x"}
    one = read(document, ".json")
    assert (one.name, one.predictions.tolist()) == ("x", table["confidence"])
    assert one.recipe.unused == (("meta", "1 field"), ("names", "2 values"))
    one = read({"run": document, "b": {"x": [1]}}, ".json", columns={"rows": "run"})
    beside = (("b", "1 field"), ("run.meta", "1 field"), ("run.names", "2 values"))
    assert one.recipe.unused == beside
    one = read({"config": {"a": 1}, "run": table}, ".json")
    assert (one.recipe.path, one.recipe.unused) == ("run", (("config", "1 field"),))
    arrays = {"seed": np.int64(3), "classes": np.arange(2), "cube": np.zeros((2, 3, 4))}
    path = tmp_path / "a.npz"
    np.savez(path, **arrays, **table)
    (one,) = read_submissions(path)
    assert one.predictions.tolist() == table["confidence"]
    beside = (("seed", "1 value"), ("classes", "2 values"), ("cube", "2x3x4 values"))
    assert one.recipe.unused == beside
    np.savez(path, classes=np.arange(2), conf=table["confidence"], ok=table["correct"])
    with pytest.raises(FileError, match=r"beside them: classes \(2 values\)"):
        read_submissions(path)


def test_names_with_points_lead_to_rows(read):
    for document in ({"gpt-4.1": ANSWERS}, {"run": {"gpt-4.1": ANSWERS, "seed": 3}}):
        assert read(document, ".json").predictions.tolist() == [0.9, 0.4]


@pytest.mark.parametrize("column", ["w", "grade"])
def test_commas_that_may_separate_thousands_are_no_decimal_commas_but_of_shares(column, tmp_path):
    numbers = ['"1,000"', '"0,5"', "1", '"0,250"']
    rows = "".join(f"{number},1,{number}\n" for number in numbers)
    path = tmp_path / "a.csv"
    path.write_text(f"confidence,correct,{column}\n{rows}")
    (submission,) = read_submissions(path)
    assert submission.predictions.tolist() == [1, 0.5, 1, 0.25]
    role = "weight" if column == "w" else "correct"
    with pytest.raises(FileError, match=f"column '{column}' must hold numbers written in"):
        read_submissions(path, columns={role: column}, correct_from=0.5)


@pytest.mark.parametrize("numbers", [["1,200", "900"], ["1,200", "2,900"], ["1,200,300.5", "7.5"]])
def test_commas_between_thousands_are_refused_with_what_to_write(numbers, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("confidence,correct,w\n" + "".join(f'0.5,1,"{one}"\n' for one in numbers))
    with pytest.raises(FileError, match="Write decimal points, and thousands without commas.$"):
        read_submissions(path, columns={"weight": "w"})


@pytest.mark.parametrize(
    "cell", ["1.234", "+1.234", "\N{MINUS SIGN}1.234", "1.234\N{NO-BREAK SPACE}"]
)
def test_points_beside_decimal_commas_that_may_all_separate_thousands_are_refused(read, cell):
    text = f"answer;p;correct;weight\n3,5;0.850;1;{cell}\n4,25;1.000;0;2\n"
    with pytest.raises(FileError, match="decimal points are commas; got .* in row 2"):
        read(text, columns={"confidence": "p", "weight": "weight"})


def test_a_file_is_cut_where_its_last_row_has_fewer_cells_than_the_header(read):
    text = "confidence,correct,note\n0.9,1,ok\n0.8,0,slow, but fine\n0.7,1,ok"
    with pytest.raises(FileError, match="row 3 has more cells than the header"):
        read(text)
    with pytest.raises(FileError, match="the file ends within its last row"):
        read(text.removesuffix(",ok"))


OPEN = (
    "nothing closes the quote of a cell that begins in line 3 and holds those below; close it there"
)


@pytest.mark.parametrize(
    "rows",
    [
        '1,"one,0.9,1|2,two,0.8,0|3,three,0.7,1|',  # up to the end
        '1,"one,0.9,1|2,"two",0.8,0|3,three,0.7,1|',  # up to the next one, in a row that is whole
        '1,"one,0.9,1|2,"two",0.8,0|3,"three,0.7,1|4,"four",0.6,1|',
    ],
)
def test_a_quote_that_nothing_closes_swallows_no_rows(rows, read):
    rows = "0,zero,0.9,1\n" + rows.replace("|", "\n")
    with pytest.raises(FileError, match=OPEN):
        read(f"id,answer,confidence,correct\n{rows}")


def test_quotes_that_are_closed_hold_several_lines(read):
    """Also before spaces, and where they are doubled or within a text."""
    rows = '1,"a ""b""\nc" ,0.9,1|2,"6"" long",0.8,0|3,5" long,0.7,1|4,"a\n""b"" , c",0.6,1|'
    one = read("id,answer,confidence,correct\n" + rows.replace("|", "\n"))
    assert one.predictions.tolist() == [0.9, 0.8, 0.7, 0.6]


def test_a_point_alone_is_an_empty_cell(read):
    one = read("confidence,correct\n0.9,1\n.4,.\n.7,0\n", unlabelled="bounds")
    assert one.unlabelled.rows.tolist() == [False, True, False]


@pytest.mark.parametrize("space", " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}")
def test_spaces_before_per_cent_are_of_any_width(space, read):
    one = read(f"confidence,correct\n64{space}%,1\n8{space}%,0\n")
    assert one.predictions.tolist() == [0.64, 0.08]


def test_a_minus_sign_is_a_hyphen(read):
    one = read("confidence,correct\n\N{MINUS SIGN}0.5,1\n-2,0\n", scale="log")
    assert one.predictions == pytest.approx(np.exp([-0.5, -2]), rel=1e-15)


def test_grades_with_decimal_commas_are_those_with_points(read):
    text = 'confidence,correct\n0.9,1\n0.8,"0,5"\n0.7,0\n'
    assert read(text, correct_from=0.5).references.tolist() == [1, 1, 0]
    assert read(text.replace("0,5", ",5"), correct_from=0.5).references.tolist() == [1, 1, 0]
    assert read(text.replace("0,5", "2,5"), correct_from=2.6).references.tolist() == [0, 0, 0]
    with pytest.raises(FileError, match="most are whole or with decimal points; got '2,500'"):
        read(text.replace("0,5", "2,500"), correct_from=0.5)  # or 2500


TABLE = pd.DataFrame(
    {"answer": ["a b", "c", "d"], "confidence": [0.9, 0.25, 0.5], "correct": [1, 0, 1]}
)


def test_a_first_cell_that_counts_no_rows_is_no_name_of_a_row(read):
    with pytest.raises(FileError, match="row 2 has more cells than the header"):
        read("confidence,correct\n1,0.9,1\n3,0.8,0\n")


@pytest.mark.parametrize(
    "name",
    [
        "part-{}.parquet",
        "part.{}.parquet",
        "part-0000{}-c000.snappy.parquet",
        "data_{}.parquet",
        "train-0000{}-of-00002.parquet",
        "00000000000{}.parquet",
    ],
)
def test_folders_of_parts_are_tables_as_tools_name_them(name, tmp_path):
    for number in (0, 1):
        TABLE.to_parquet(tmp_path / name.format(number))
    (one,) = read_submissions(tmp_path)
    assert one.predictions.tolist() == [0.9, 0.25, 0.5] * 2


@pytest.mark.parametrize(
    "names", [["2026-01-01", "2026-01-02"], ["train-00000-of-00001", "test-00000-of-00001"]]
)
def test_files_of_several_tables_are_named_one_by_one(names, tmp_path):
    for name in names:
        TABLE.to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(FileError, match="Name its files"):
        read_submissions(tmp_path)


@pytest.mark.parametrize("orient", ["index", "columns", "split"])
@pytest.mark.parametrize("keys", [["b", "a", "c"], ["901", "17", "902"], [40, 41, 42]])
def test_the_keys_of_objects_are_ids_unless_they_count_them(keys, orient, read):
    table = TABLE.drop(columns="answer")
    one = read(table.set_axis(keys).to_json(orient=orient), ".json")
    assert one.predictions.tolist() == [0.9, 0.25, 0.5]
    assert one.references.tolist() == [1, 0, 1]
    assert list(map(str, one.ids.to_pylist())) == list(map(str, keys))
    assert read(table.to_json(orient=orient), ".json").ids is None


VALUES_OF_JSON = {
    "whole": [0, -5, 2**60],
    "number": [0.5, 1, None, 2**53 + 1, float("nan")],
    "large": [2**64, 1, 1e300],
    "text": ["a", " b ", "", "\u2003x\u00a0", "1"],
    "date": ["2024-01-01", "2024-01-01T00:00:00", None],
    "truth": [True, False, None],
    "several": [True, 1, "x"],
    "list": [[0.1, 2.0], [], None],
    "counts": [[1, 2], [3, None]],
    "texts": [["a "], []],
    "object": [{"x": 1}, {"x": None}],
    "nothing": [None],
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", " "])
def test_objects_in_lines_are_read_as_those_of_a_list_are(end, tmp_path, rng):
    for _ in range(40):
        names = rng.permutation(list(VALUES_OF_JSON))[: rng.integers(1, 4)]
        rows = [
            {
                name: VALUES_OF_JSON[name][rng.integers(len(VALUES_OF_JSON[name]))]
                for name in names
                if rng.random() < 0.9
            }
            for _ in range(rng.integers(3, 7))
        ]
        (tmp_path / "a.jsonl").write_bytes(end.join(map(json.dumps, rows)).encode())
        (tmp_path / "a.json").write_text(json.dumps(rows), encoding="utf-8")
        lines, listed = (read_sheet(tmp_path / name) for name in ("a.jsonl", "a.json"))
        assert lines.table.schema == listed.table.schema
        assert repr(lines.table.to_pylist()) == repr(listed.table.to_pylist())
        if end.strip(" "):
            assert lines.rows.tolist() == [1 + k * end.count("\n") for k in range(len(rows))]

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric.reporting.submissions import ENDINGS, NAMES
from space import uploads

ROW = b"confidence,correct\n0.5,1\n"
TOO_MUCH = r"the page takes at most [\d,]+ {}; got [\d,]+\. Use the command `ecuas`\."


def text_bomb():
    """A Parquet file of two kilobytes whose one text, repeated, is a terabyte."""
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int32)), pa.array(["x" * 10_000_000]))
    table = pa.table({"confidence": np.ones(100_000), "correct": np.ones(100_000), "question": texts})
    pq.write_table(table, buffer := io.BytesIO(), compression="zstd")
    return buffer.getvalue()


def wide_parquet():
    pq.write_table(pa.table({f"c{i}": [1] for i in range(uploads.MAX_COLUMNS + 1)}), buffer := io.BytesIO())
    return buffer.getvalue()


BAD = {  # what a visitor may send -> what the page says of it
    "empty.csv": (b"", "the file is empty."),
    "head.csv": (b"confidence,correct\n", "the file has no rows."),
    "blank.csv": (b"\n\n\n", "cannot be read as csv"),
    "nothing.jsonl": (b"\n\n", "the file has no rows."),
    "picture.csv": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "it is not UTF-8 text. Save it as UTF-8."),
    "zeros.csv": (b"\0" * 5000, "the file has no rows."),
    "twice.csv": (b"confidence,confidence,correct\n1,1,1\n", "columns must have different names"),
    "which.csv": (b"confidence,conf,correct\n1,1,1\n", "may both be the confidence. Choose it under Columns."),
    "latin.csv": ("confidence,correct,né\n0.5,1,é\n".encode("latin-1"), "it is not UTF-8 text"),
    "quote.csv": (b'confidence,correct\n"0.5,1\n', "EOF inside string"),
    "ragged.csv": (b"confidence,correct\n0.5,1,7\n", "the rows have more cells than the head has names"),
    "formula.csv": (
        b"confidence,correct\n=1+1,1\n@x,0\n",
        r"column 'confidence' must hold numbers; got '=1\+1' in row 2",
    ),
    "other.csv": (b"a,b\n1,2\n", "there must be columns confidence and correct, .* Choose them under Columns."),
    "unjudged.csv": (b"confidence,correct\n0.5,\n0.4,1\n", "Tick “Leave out answers without a verdict”"),
    "columns.csv": (b"," * (uploads.MAX_COLUMNS + 1) + b"\n", TOO_MUCH.format("columns")),
    "billion.csv": (b"c," * 10_000 + b"\n" + b"1\n" * 100_000, TOO_MUCH.format("cells")),
    "keys.jsonl": (b"".join(b'{"k%d":1}\n' % i for i in range(30_000)), TOO_MUCH.format("columns")),
    "cells.jsonl": (b"".join(b'{"k%d":1}\n' % (i % 9000) for i in range(9000)), TOO_MUCH.format("cells")),
    "keys.json": (b"{%s}" % b",".join(b'"k%d":[1]' % i for i in range(30_000)), TOO_MUCH.format("columns")),
    "wide.parquet": (wide_parquet(), TOO_MUCH.format("columns")),
    "bomb.parquet": (text_bomb(), TOO_MUCH.format("bytes when unfolded")),
    "cut.parquet": (b"PAR1" + b"x" * 50 + b"PAR1", "Parquet"),
    "deep.json": (b"[" * 1_000_000, "the JSON is nested too deeply."),
    "deep.jsonl": (b'{"a":' * 1_000_000, "the JSON is nested too deeply."),
    "number.json": (b"3", "it must be a list of objects, or an object of columns"),
    "digits.jsonl": (b'{"confidence":' + b"9" * 5000 + b',"correct":1}\n', "Exceeds the limit"),
    "systems.csv": (b"system," + ROW[:19] + b"".join(b"s%d,0.5,1\n" % i for i in range(60)), "at most 50 systems"),
    "book.xlsx": (b"PK\x03\x04", "the file must end in one of .csv"),
    "many.csv": (b"x" * (uploads.MAX_BYTES + 1), TOO_MUCH.format("bytes")),
}


@pytest.mark.parametrize("name", BAD)
def test_every_bad_file_is_a_readable_error(name, tmp_path):
    content, message = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        uploads.read_uploads([str(path)])
    said = str(caught.value)
    assert str(tmp_path) not in said
    assert " --" not in said
    assert name in said or "at most 50 systems" in said


def test_no_file_is_an_error():
    with pytest.raises(ValueError, match=r"^There is no file yet: upload one, or load an example\.$"):
        uploads.read_uploads([])


def test_many_large_files_are_an_error(tmp_path):
    paths = [tmp_path / f"{i}.csv" for i in range(4)]
    for path in paths:
        path.write_bytes(b"x" * (uploads.MAX_BYTES - 1))
    with pytest.raises(ValueError, match=r"^The page takes at most 60,000,000 bytes in all; got 79,999,996\.$"):
        uploads.read_uploads(list(map(str, paths)))


def test_a_missing_file_is_an_error_without_its_folder(tmp_path):
    with pytest.raises(ValueError, match=r"^gone\.csv: ") as caught:
        uploads.read_uploads([str(tmp_path / "gone.csv")])
    assert str(tmp_path) not in str(caught.value)


def test_columns_are_detected_in_the_words_of_the_page(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question_id,model,conf,is_correct,note\nq1,m,0.5,1,x\n")
    names, used = uploads.detect(path)
    assert names == ["question_id", "model", "conf", "is_correct", "note"]
    found = {name: column for name, column in used.items() if column}
    assert found == {"id": "question_id", "system": "model", "confidence": "conf", "correct": "is_correct"}
    path.write_text("label,prob_0,prob_1\n0,0.5,0.5\n")
    assert uploads.detect(path)[1]["posteriors"] is None  # several columns


def test_every_column_of_the_command_line_can_be_chosen_but_strata():
    assert set(uploads.COLUMNS) == set(NAMES) - {"stratum"}


def test_chosen_columns_are_those_of_the_files_that_have_them(tmp_path):
    (tmp_path / "a.csv").write_text("p,good\n0.5,1\n")
    (tmp_path / "b.csv").write_text("confidence,correct\n0.25,0\n")
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    columns = {"confidence": "p", "correct": "good", "id": "", "system": None}
    first, second = uploads.read_uploads(paths, columns=columns)
    assert (first.predictions[0], second.predictions[0]) == (0.5, 0.25)
    with pytest.raises(
        ValueError, match=r"^There is no column 'nowhere' in any file\. Choose another under Columns\.$"
    ):
        uploads.read_uploads(paths, columns=columns | {"group": "nowhere"})


def test_systems_may_be_named_by_several_columns(tmp_path):
    (tmp_path / "a.csv").write_text("llm,method,confidence,correct\nx,1,0.5,1\nx,2,0.5,1\n")
    names = [table.name for table in uploads.read_uploads([str(tmp_path / "a.csv")], columns={"system": "llm+method"})]
    assert names == ["x 1", "x 2"]


def test_later_errors_name_the_file_without_its_folder(tmp_path):
    (tmp_path / "a.csv").write_text("confidence,correct\n,1\n")
    (table,) = uploads.read_uploads([str(tmp_path / "a.csv")])
    assert table.where.file == "a.csv"


def test_files_of_a_million_rows_pass(tmp_path):
    pd.DataFrame({"confidence": 0.5, "correct": np.ones(10**6, int)}).to_parquet(tmp_path / "a.parquet")
    uploads.check_size(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_bytes(ROW[:19] + b"0.5,1\n" * 10**6)
    uploads.check_size(tmp_path / "a.csv")


def test_a_long_error_is_cut():
    assert uploads.in_words_of_the_page("x" * 1000) == "x" * 600


def test_all_endings_of_the_command_line_are_taken():
    assert {".csv", ".jsonl", ".parquet"} <= set(ENDINGS)

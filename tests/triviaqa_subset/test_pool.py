"""Rows from files: JSON lines, JSON documents, Parquet."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from triviaqa_subset.pool import read_rows
from triviaqa_subset.selection import read_release

ROWS = [{"question_id": "q1", "n": [1]}, {"question_id": "q\u2028\x85", "n": [2, 3]}]  # characters that end no line
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
DOCUMENT = json.dumps(ROWS, indent=1)
COLUMNS = json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]})


@pytest.mark.parametrize(
    ("suffix", "content", "rows"),
    [
        (".jsonl", LINES, ROWS),
        (".ndjson", LINES.removesuffix("\n"), ROWS),
        (".json", DOCUMENT, ROWS),
        (".json", COLUMNS, ROWS),
        (".json", LINES, ROWS),  # an earlier version wrote and read these as .json
        (".json", LINES.split("\n")[0] + "\n", ROWS[:1]),
        (".json", "[]", []),
        (".jsonl", "", []),
        (".json", "", []),
    ],
)
def test_a_file_is_read_by_its_suffix(suffix, content, rows, tmp_path):
    file = tmp_path / f"rows{suffix}"
    file.write_text(content, encoding="utf-8")
    assert read_rows(str(file)) == rows
    assert read_release(str(file)).to_dict("records") == rows


def test_parquet(tmp_path):
    file = str(tmp_path / "rows.parquet")
    pq.write_table(pa.Table.from_pylist(ROWS), file)
    assert read_rows(file) == ROWS


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (".jsonl", DOCUMENT, ", line 1 must be JSON; got '[' ("),
        (".json", "[1, 2]", " must hold a list of objects, or an object of columns of one length; got [1, 2]."),
        (".json", "7", " must hold a list of objects, or an object of columns of one length; got 7."),
        (".json", '{"a": [1], "b": []}', " must hold a list of objects, or an object of columns of one length; got {"),
        (".json", '{"a": 1}\n{"a"', ", line 2 must be JSON; got '{\"a\"' ("),
        (".csv", "a\n1\n", None),
    ],
)
def test_content_of_another_form_is_refused(suffix, content, message, tmp_path):
    file = tmp_path / f"rows{suffix}"
    file.write_text(content)
    unknown = f"source must end in one of .jsonl, .ndjson, .json, .parquet; got {file}."
    expected = f"{file}{message}" if message else unknown
    with pytest.raises(ValueError, match="^" + re.escape(expected)):
        read_rows(str(file))

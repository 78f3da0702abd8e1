"""Rows from files: JSON lines, JSON documents, Parquet."""

import json
import re

import pytest

from triviaqa_subset.pool import read_rows
from triviaqa_subset.selection import read_release

# characters that end no line
ROWS = [{"question_id": "q1", "n": [1]}, {"question_id": "q\u2028\x85", "n": [2, 3]}]
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
DOCUMENT = json.dumps(ROWS, indent=1)


@pytest.mark.parametrize(
    "suffix, content, rows",
    [(".jsonl", LINES, ROWS), (".ndjson", LINES.removesuffix("\n"), ROWS), (".json", DOCUMENT, ROWS),
     (".json", LINES, ROWS), (".json", "[]", []), (".jsonl", "", [])],
)  # fmt: skip
def test_a_file_is_read_by_its_suffix(suffix, content, rows, tmp_path):
    file = tmp_path / f"rows{suffix}"
    file.write_text(content, "utf-8")
    assert read_rows(str(file)) == rows
    assert read_release(str(file)).to_dict("records") == rows


FORM = "{} must be UTF-8 with a JSON object per line, or a list of objects; "


@pytest.mark.parametrize(
    "suffix, content, message",
    [
        (".jsonl", b"\xff\xfe", FORM),
        (".json", b'{"a": 1}\n{"a"', FORM),
        (".json", b"[1, 2]", "{}: a row must be a JSON object; got 1 at index 0 (2 of 2)."),
        (".csv", b"a\n1\n", "source must end in one of .jsonl, .ndjson, .json, .parquet; got {}."),
    ],
)
def test_content_of_another_form_is_refused(suffix, content, message, tmp_path):
    file = tmp_path / f"rows{suffix}"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="^" + re.escape(message.format(file))):
        read_rows(str(file))

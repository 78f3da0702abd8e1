import csv
import io
import json
import math

import pytest

from ecuas_metric.reporting.export import neutral, to_csv, to_json, write
from ecuas_metric.reporting.report import make_report, prepare_submissions, report_grid, report_records
from tests.ecuas_metric.files.submitted import submission


@pytest.fixture
def submissions(rng):
    return [submission(name, rng) for name in ("one", "two", "=three")]


def test_csv_and_json_hold_all_digits_and_no_formula(submissions):
    report = make_report(prepare_submissions(submissions))
    rows = list(csv.DictReader(io.StringIO(to_csv(report_records(report), report.signature))))
    assert [row["system"] for row in rows] == ["one", "two", "'=three"]
    assert float(rows[1]["ecuas_0"]) == report.results["two"].flat()["ecuas_0"]
    assert rows[0]["signature"] == report.signature
    content = json.loads(to_json([{"a": math.nan, "b": 0.1}], "line", ["note"]))
    assert content == {"signature": "line", "notes": ["note"], "rows": [{"a": None, "b": 0.1}]}


@pytest.mark.parametrize("suffix", ["md", "tex", "csv", "json", "txt"])
def test_every_format_holds_names_numbers_and_signature(suffix, submissions, tmp_path):
    report = make_report(prepare_submissions(submissions))
    path = tmp_path / "new" / f"table.{suffix}"
    write(path, report_grid(report), report_records(report))
    text = path.read_text()
    assert "three" in text
    assert report.signature in text
    assert f"{report.results['one'].flat()['ecuas_0']:.3f}"[:4] in text


def test_another_format_is_an_error(submissions, tmp_path):
    report = make_report(prepare_submissions(submissions))
    with pytest.raises(ValueError, match=r"table\.doc: a table can be written as \.md, \.tex, \.txt, \.csv, \.json\.$"):
        write(tmp_path / "table.doc", report_grid(report), [])


@pytest.mark.parametrize("start", list("=+-@"))
def test_formulas_are_neutralised(start):
    assert neutral(f"{start}cmd()") == f"'{start}cmd()"
    assert neutral(f"a{start}") == f"a{start}"

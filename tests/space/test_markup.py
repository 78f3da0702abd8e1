import re

import pytest

from ecuas_metric.metrics import METRICS, Key
from ecuas_metric.reporting.report import make_report, prepare_submissions, report_grid
from space import drawings, markup
from space.uploads import read_uploads


def text_of(html):
    return re.sub(r"<[^>]*>", "", html)


@pytest.fixture
def report(files):
    return make_report(prepare_submissions(read_uploads(files), confidence_level=0.9, n_resamples=50))


def table(report):
    return markup.report_table(report, report_grid(report))


def test_the_table_holds_every_cell_of_the_reports_grid(report):
    rows = re.findall(r"<tr>(.*?)</tr>", table(report))
    cells = [[text_of(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]
    grid = report_grid(report)
    expected = [[re.sub(" (?=\\[)", "", cell.text) for cell in row] for row in grid.rows]
    assert cells[0] == grid.header
    assert [[cell.replace(" ★", "") for cell in row] for row in cells[1:]] == expected
    assert [["★" in cell for cell in row] for row in cells[1:]] == [[cell.is_best for cell in row] for row in grid.rows]


def test_ecuas_comes_first_and_all_metrics_are_folded(report):
    first, folded = markup.folded_table(report, report_grid(report)).split("<details", 1)
    titles = re.findall(r'<th scope="col">(.*?)</th>', first)
    assert [text_of(title) for title in titles] == ["system", "ECUAS_0 ↓", "ECUAS_1 ↓", "ECUAS_128 ↓"]
    assert "N = 120." in first
    assert report.signature in first
    assert table(report) in folded


def test_names_are_text_everywhere(report):
    evil = '<img src=x onerror="alert(1)">'
    named = report._replace(results={evil: report.results["first"]})
    noted = report_grid(named)._replace(notes=[evil])
    for html in (markup.report_table(named, noted), markup.message(evil), markup.bullets([evil])):
        assert "<img" not in html
        assert "&lt;img" in html


def test_code_in_a_message_is_code_and_nothing_else():
    assert markup.message("use `ecuas <b>`") == (
        '<div class="message note" role="status">use <code>ecuas &lt;b&gt;</code></div>'
    )
    assert markup.message("") == ""


@pytest.mark.parametrize(
    "key",
    [
        *map(Key, METRICS),
        Key("ecuas", 0.5),
        Key("ecuas", 0.0, "normalized"),
        Key("ecuas", 1.0, "recalibrated"),
        Key("ecuas", 1.0, "calibration_loss"),
    ],
)
def test_every_metric_has_a_tooltip_that_says_what_it_assesses(key):
    tip = markup.describe(key)
    assert re.search(r"Assesses .*; (lower is|higher is|neither is) better\.", tip)
    assert ("ignores its input" in tip) == (key.variant == "normalized")
    assert ("confidences only" in tip) == (key.assesses == "confidences")


def test_a_row_of_the_table_is_marked_as_its_lines_are(report):
    marked = dict(re.findall(r'swatch (slot-\d)"></i>(\w+)<', table(report)))
    assert {name: slot for slot, name in marked.items()} == {
        name: style for name, style in drawings.styles(report.results).items() if name in report.results
    }

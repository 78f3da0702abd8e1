import re

import pytest

from ecuas_metric.errors import Advice, FileAdvice, FileError, InputError
from ecuas_metric.reporting.report import make_report, prepare_submissions, report_grid
from publishing.staging import PARTS
from space import markup
from space.plots import slots
from space.uploads import plain, read_uploads
from tests.conftest import ROOT


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
    marked = dict(re.findall(r'swatch (slot-\d)"></i><bdi>(\w+)<', table(report)))
    assert {name: slot for slot, name in marked.items()} == slots(report.results)


def test_ecuas_comes_first_and_all_metrics_are_folded(report):
    first, folded = markup.main_table(report, report_grid(report)).split("<details", 1)
    titles = re.findall(r'<th scope="col">(.*?)</th>', first)
    assert [text_of(title) for title in titles] == ["system", "ECUAS_0 ↓", "ECUAS_1 ↓", "ECUAS_128 ↓"]
    assert "N = 120." in first
    assert report.signature in folded
    assert table(report) in folded


def test_names_are_text_everywhere(report):
    evil = '<img src=x onerror="alert(1)">'
    named = report._replace(results={evil: report.results["first"]})
    noted = report_grid(named)._replace(notes=[evil])
    for html in (markup.report_table(named, noted), markup.message(evil), markup.isolated(evil)):
        assert "<img" not in html
        assert "&lt;img" in html


def test_code_in_a_message_is_code_and_nothing_else():
    assert markup.message("use `ecuas <b>`") == (
        '<div class="message note" role="status">use <code>ecuas &lt;b&gt;</code></div>'
    )
    assert markup.message("") == ""


@pytest.mark.parametrize("advice", [*Advice, *FileAdvice])
def test_no_advice_speaks_of_python_or_of_the_command(advice):
    shown = markup.in_words(InputError("n", "must be >= 0", advice=advice))
    assert not {"_", "=", "--", "'"} & set(shown.partition(". ")[2])
    assert "--" not in shown


def test_errors_are_one_line_in_the_words_of_the_page():
    assert markup.in_words(InputError("num_classes", "must be a whole number", value=2.5)) == (
        "Number of possible answers K must be a whole number; got 2.5."
    )
    error = FileError("a.csv", "must hold numbers", column="p", advice=FileAdvice.SAY_WHICH)
    assert markup.in_words(error) == "a.csv: column 'p' must hold numbers. Choose it under Columns."
    assert markup.in_words(InputError("n", "must\nbe \u202e" + "x" * 1000)) == ("n must be " + "x" * 1000)[:600]
    assert markup.UNLABELLED in markup.WORDS[FileAdvice.UNLABELLED]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb\u2066c\u200fd\x00e", "abcde"),
        ("a\r\n\tb \u2028 c", "a b c"),
        ("\u200b\ufeff", ""),
        ("שלום µ 模型", "שלום µ 模型"),
        ("x" * 999, "x" * 200),
    ],
)
def test_names_have_nothing_that_hides_or_reorders_text(text, shown):
    assert plain(text) == shown


def test_a_published_page_links_the_three_repositories_and_the_paper():
    found = re.findall(r"\]\((.*?)\)", markup.links("somebody"))
    kinds = {"space": "spaces", "dataset": "datasets"}
    places = {f"https://huggingface.co/{kinds[part.repo_type]}/somebody/{part.repo_name}" for part in PARTS.values()}
    assert {link.removesuffix("/tree/main") for link in found} == {*places, "https://arxiv.org/abs/2605.20490"}
    assert "spaces/somebody/ecuas-demo/resolve/main/thumbnail.png" in markup.previews("a", "b", "somebody")


def test_a_clone_names_folders_that_exist_and_no_page_that_does_not():
    line = markup.links()
    assert "huggingface.co" not in line + markup.previews("a", "b")
    folders = re.findall("`(.*?)`", line)
    assert len(folders) == 3
    assert all((ROOT / folder).is_dir() for folder in folders)

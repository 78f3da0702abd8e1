"""Words and HTML of the page."""

import re
from html import unescape

import pytest

from ecuas_metric.errors import InputError
from ecuas_metric.files.systems import prepare_submissions
from ecuas_metric.messages import ADVICE, NOTES, SENTENCES
from ecuas_metric.reporting.report import make_report, report_grid
from publishing.staging import PARTS
from space import markup
from space.figures import slots
from space.uploads import plain_text, read_uploads
from space.words import CONTROLS, PAGE_WORDS
from tests.conftest import ROOT

ELSEWHERE = {  # advice of functions and flags that the page has not, and their notes
    "add_system",
    "classes_in_order_of_texts",
    "kept_after_error",
    "name_scale",
    "log_samples",
    "save_details",
    "score_as_posteriors",
}


# texts of the program itself, and its style
NO_DATA = ('Markup("', 'Markup(read_file("style.css"))')


def text_of(html):
    return unescape(re.sub(r"<[^>]*>", "", html))


def test_the_tables_hold_every_cell_of_the_reports_grid(files):
    report = make_report(prepare_submissions(read_uploads(files), confidence_level=0.9))
    grid = report_grid(report)
    styles = slots(report.results)
    html = markup.report_tables(report, grid, styles)
    assert report.signature in text_of(html)
    cells = list(map(text_of, re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", html)))
    expected = list(grid.header)
    for row in grid.rows:
        expected += [cell.text.replace(" [", " ★[" if cell.is_best else "[") for cell in row]
    assert cells == expected
    marked = dict(re.findall(r'swatch (slot-\d)"></i><bdi>(\w+)<', html))
    assert {name: slot for slot, name in marked.items()} == styles


def test_what_is_elsewhere_is_there():
    assert ADVICE.keys() | NOTES.keys() >= ELSEWHERE


@pytest.mark.parametrize("identifier", sorted((ADVICE | NOTES).keys() - ELSEWHERE))
def test_no_advice_and_no_note_speaks_of_python_or_of_the_command(identifier):
    said = PAGE_WORDS.get(identifier, SENTENCES[identifier])
    reprs = "|!r" if identifier in ADVICE else ""
    assert not re.search(r"{(other_)?(arguments|columns|said)\b" + reprs, said)
    labels = "|".join(re.escape(control.label) for control in CONTROLS.values())
    # who is sent to the options is told to which one
    assert said.count("Options") == len(
        re.findall(rf"“({labels})” [\w ]*under Options|Options, “({labels})”", said)
    )
    said = re.sub(r"{\w*[^}]*}|ECUAS_0|u_M", "X", said.replace("{{", "<").replace("}}", ">"))
    assert not re.search(r"_|--|=[<'\"]|\b([Pp]ass|NaN)\b", said)


def test_errors_are_one_line_in_the_words_of_the_page_and_nothing_hides_or_reorders_text():
    said = markup.in_words(InputError("num_classes", "must be a whole number", value=2.5))
    assert said == "Number of possible answers K must be a whole number; got 2.5."
    assert (
        markup.in_words(InputError("n", "must\nbe \u202e" + "x" * 1000))
        == ("n must be " + "x" * 1000)[:600]
    )
    assert plain_text("a\u202eb\u2066c\u200fd\x00e\r\n\tf \u2028 g\u200b") == "abcde f g"
    assert plain_text("שלום µ 模型" + "x" * 999) == "שלום µ 模型" + "x" * 191
    shown = '<div class="message note" role="status">use `ecuas &lt;b&gt;`</div>'
    assert markup.html("message", text="use `ecuas <b>`") == shown


def test_a_published_page_links_the_three_repositories_and_a_clone_its_folders():
    line = markup.links("somebody")
    assert "(https://arxiv.org/abs/2605.20490)" in line
    for part in PARTS.values():
        place = f"{part.repo_type}s/somebody/{part.repo_name}"
        assert re.search(rf"\(https://huggingface\.co/{place}(/tree/main)?\)", line)
    previews = markup.previews("a", "b", "somebody")
    assert "spaces/somebody/ecuas-demo/resolve/main/thumbnail.png" in previews
    assert "huggingface.co" not in markup.links() + markup.previews("a", "b")
    assert sum((ROOT / folder).is_dir() for folder in re.findall("`(.*?)`", markup.links())) == 3


def test_no_text_is_marked_as_safe_and_none_is_parsed_as_html():
    """HTML is made by `parts.html`, whose texts are escaped; in Python only what is no data is marked as such."""
    for path in (*ROOT.glob("space/*.*"), *ROOT.glob("ecuas_metric/**/*.py")):
        if path.suffix in (".py", ".html", ".js"):
            text = path.read_text("utf-8")
            assert not re.search(
                r"\|\s*safe\b|autoescape (false|off)|(inner|outer)HTML|insertAdjacentHTML|document\.write"
                r"|createContextualFragment|escape=False|\bsafe\(",
                text,
            ), path
            marked = re.findall(r"\bMarkup\((?!\))[^\n]*", text)
            assert all(one.startswith(NO_DATA) for one in marked), (path, marked)

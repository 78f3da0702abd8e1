"""The page in a real browser, by mouse and by keyboard, at three widths and in both themes, which one page changes."""

import json
import re
import shutil
from difflib import unified_diff
from functools import cache
from html import unescape
from itertools import product
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.comparison.verdict import plain_name
from ecuas_metric.plotting.curves import reject_cost_curve
from ecuas_metric.reporting.sentences import sentence_by_metric
from space.figures import NUM_SLOTS
from space.uploads import LIMITS
from space.verdict import REJECTING, decide, hundredths
from space.words import CONTROLS
from tests import markup
from tests.space.conftest import contrast

CHROMIUM = shutil.which("chromium")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        CHROMIUM is None, reason="there is no chromium (Debian: apt-get install chromium)"
    ),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
TABS = {"Compare": ".verdict", "TriviaQA": "table.rates", "Code": "p"}  # and what each shows
WIDTHS = {"phone": 390, "tablet": 768, "desk": 1280}
CLASSIFIER = "Show a classifier instead"
PRICES = (".wrong", ".rejected")
CLIPPED = """() => {
    const right = e => { const text = document.createRange(); text.selectNodeContents(e);
        return text.getBoundingClientRect().right };
    const cuts = (p, edge) => p && (getComputedStyle(p).overflowX === 'hidden'
        && p.getBoundingClientRect().right + 1 < edge || cuts(p.parentElement, edge));
    return [...document.querySelectorAll('label')].filter(e => e.offsetParent && !e.closest('.file-preview, .file'))
        .filter(e => cuts(e.parentElement, right(e))).map(e => e.innerText) }"""
FOCUS = """() => { const e = document.activeElement, s = getComputedStyle(e);
    return [(e.innerText || e.ariaLabel || '').trim(), e.tagName, s.outlineStyle, parseFloat(s.outlineWidth),
        s.outlineColor, getComputedStyle(document.body).backgroundColor] }"""


@pytest.fixture(scope="module")
def window(page):
    """Return a window of one browser, and what came from elsewhere or failed there."""
    from playwright.sync_api import sync_playwright

    faults = []
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET) as browser,
    ):
        tab = browser.new_page(accept_downloads=True)
        tab.set_default_timeout(60_000)
        tab.on(
            "request",
            lambda r: None if r.url.startswith((page, "data:", "blob:")) else faults.append(r.url),
        )
        # of uploads that have ended Gradio knows no progress
        tab.on(
            "response",
            lambda r: (
                faults.append(r.url) if r.status == 404 and "_progress" not in r.url else None
            ),
        )
        tab.on("pageerror", lambda error: faults.append(str(error)))
        yield tab, faults


@pytest.fixture
def tab(window, page):
    """Return the page as who opens it sees it."""
    tab, faults = window
    dress(tab, "desk", "light")
    tab.goto(page)
    # colours of another theme are there at once
    tab.add_style_tag(content="* { transition: none !important }")
    tab.locator("gradio-app .decision.ready").wait_for()
    yield tab
    assert not faults


def dress(tab, width, theme):
    tab.set_viewport_size({"width": WIDTHS[width], "height": 900})
    tab.emulate_media(color_scheme=theme)


def go(tab, name):
    """Choose a tab, all of which are in sight on a phone too."""
    tab.get_by_role("tab", name=name, exact=True).click()


def wait_for(tab, system):
    has = "name => [...document.querySelectorAll('gradio-app .averages')].some(e => e.textContent.includes(name))"
    tab.wait_for_function(has, arg=system)


def remove_file(tab):
    """Take the file away, which brings the example back."""
    tab.get_by_label("Remove this file").or_(tab.get_by_label("Clear")).first.click()
    tab.get_by_text("There is no file yet, so this is the example").wait_for()


def set_prices(tab, *prices):
    for field, price in zip(PRICES, prices, strict=True):
        put(tab.locator(field).first, price)


def walk(tab, key, to):
    """Press a key until the focus, which is always seen, is on an element of this text; return texts and tags."""
    passed = []
    while not passed or passed[-1][0] != to:
        tab.keyboard.press(key)
        text, tag, style, width, color, background = tab.evaluate(FOCUS)
        passed.append((text, tag))
        assert len(passed) < 40
        assert style != "none", tag
        assert width >= 2, tag
        assert contrast(color, background) >= 3, tag
    return passed


def put(locator, value):
    locator.evaluate(
        "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})) }", value
    )


def test_the_first_screen_asks_answers_and_is_used_by_keyboard_alone(tab):
    for width in WIDTHS:
        dress(tab, width, "light")
        form = tab.get_by_role("heading", name="Compare your own")
        for seen in (
            tab.locator(".question").first,
            tab.locator(".verdict").first,
            tab.locator(".bars").first,
            form if width == "desk" else tab.locator(".jump").first,
        ):
            box = seen.bounding_box()
            assert box["y"] + box["height"] <= 900
    (first, _), *others = walk(tab, "Tab", to=CLASSIFIER)
    assert {"BUTTON", "SUMMARY", "INPUT"} <= {tag for _, tag in others}
    tab.keyboard.press("Enter")
    wait_for(tab, "classifier")
    dress(tab, "desk", "dark")
    walk(tab, "Shift+Tab", to=first)


def test_the_verdict_follows_the_prices_in_their_money_and_all_is_in_the_address(tab, examples):
    verdict = tab.locator(".verdict").first
    decision = decide(examples)
    for cost, ranking in zip(decision.tested[9::30], decision.rankings[9::30], strict=True):
        # where a wrong answer costs 1, the sentence is that of the command, to the digit
        set_prices(tab, "1", f"{cost:.2f}")
        said = sentence_by_metric(ranking).partition(", ")[2]
        assert verdict.inner_text().lower() == said.lower()
        for name, bar in zip(ranking.values, tab.locator(".bars .bar").all(), strict=True):
            found, share = decision.at(cost)[name]
            assert f"{plain_name(name)} {found:.3f}" in bar.inner_text().replace("\n", " ").replace(
                "\u2060", ""
            )
            assert f"answers {hundredths(share)}%" in bar.inner_text() or found > 0.2
    for prices, words in (
        (("10", "1"), "calibrated_model costs users least: 0.49, then verbal_model with 0.84."),
        (("5000", "600"), "calibrated_model costs users least: 284, then"),
        (("10", "20"), "overconfident_model costs users least: 1.20, then"),
        (("10", "0,010"), "Too close to call between "),
        (("10", "2"), "calibrated_model costs users 0.82 and overconfident_model 1.02"),
    ):
        set_prices(tab, *prices)
        assert words in verdict.inner_text()
    assert tab.locator(".mark").first.inner_text() == "you: 2"
    assert tab.locator(".bar.best").count() == 0
    for price in ("", "0", "-5", "x", "7 or 8", "1,000", "1,000 ", "1e400", "1e-300"):
        put(tab.locator(".wrong").first, price)
        assert tab.locator(".asked").inner_text().startswith("Enter two numbers above 0, thousands")
        assert "0.82" in verdict.inner_text()
    set_prices(tab, "4", "3")
    assert not tab.locator(".asked").is_visible()
    assert tab.locator(".bars .best .who").all_inner_texts() == ["overconfident_model"]
    tab.get_by_role("button", name=CLASSIFIER).click()
    wait_for(tab, "classifier")
    said = verdict.inner_text()
    assert said.startswith("classifier costs users less than rejecting everything")
    tab.get_by_role("tab", name="Compare").focus()
    for step, name in (("Right", "triviaqa"), ("Right", "code"), ("Left", "triviaqa")):
        tab.keyboard.press(f"Arrow{step}")
        assert f"tab={name}" in tab.url
    tab.reload()
    tab.get_by_role("heading", name="Leaderboard").wait_for()
    tab.go_back()
    tab.get_by_role("tab", name="Code", selected=True).wait_for()
    go(tab, "Compare")
    wait_for(tab, "classifier")
    assert verdict.inner_text() == said
    assert [tab.locator(one).first.input_value() for one in PRICES] == ["4", "3"]


def test_what_is_pointed_at_is_what_is_computed(tab, examples):
    """The tooltip at 500 positions: each system and rejecting everything, between the points of their lines too."""
    set_prices(tab, "1", "0.1")
    tips = tab.evaluate("""() => [...Array(500).keys()].map((i) => {
        const plot = document.querySelector("gradio-app .plot"), box = plot.getBoundingClientRect();
        const part = (i + 0.5) / 500, at = { clientX: box.left + part * box.width, clientY: box.top + 9 };
        plot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, ...at }));
        const text = (row, one) => row.querySelector(one).textContent;
        const rows = [...plot.querySelectorAll(".tip p")];
        return [part, Object.fromEntries(rows.map((row) => [text(row, "bdi"), +text(row, "b")]))];
    })""")
    parts = [part for part, _ in tips]
    for name, system in examples.items():
        computed = reject_cost_curve(system, reject_cost=parts).expected_cost
        said = [costs[name] for _, costs in tips]
        np.testing.assert_allclose(said, computed, atol=5.1e-4)
    np.testing.assert_allclose([costs[REJECTING] for _, costs in tips], parts, atol=5.1e-4)
    assert tab.locator(".tip").count() == 1


def test_without_scripts_the_example_is_answered_drawn_and_fits(window, page):
    tab, _ = window
    with tab.context.browser.new_context(java_script_enabled=False) as context:
        still = context.new_page()
        for width in WIDTHS.values():
            still.set_viewport_size({"width": width, "height": 900})
            still.goto(page)
            assert still.locator(".verdict").inner_text().startswith("calibrated_model costs users")
            assert still.locator(".bars .bar").count() == 4
            drawn = still.locator("svg path").evaluate_all(
                "all => all.map(e => e.getTotalLength())"
            )
            assert min(drawn) > 1e6
            assert still.locator("noscript p").is_visible()
            assert still.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_files_are_refused_or_their_columns_and_options_chosen_and_what_is_left_of_them_is_deleted(
    tab, app, tmp_path
):
    from gradio.route_utils import delete_files_created_by_app
    from gradio.utils import get_upload_folder

    before = set((cache := Path(get_upload_folder())).rglob("*.*"))
    for name, content, message in (
        ("large.csv", "x" * (LIMITS.file_bytes + 1), "exceed the maximum allowed size of 20"),
        ("book.xlsx", "PK", "book.xlsx must have one of the suffixes .csv"),
        ('<u title="x">.xlsx', "PK", "must have one of the suffixes .csv"),
        (
            "a.csv",
            "system,p_true,verdict\nfirst,0.75,1\nfirst,0.25,0\nsecond,0.5,1\n",
            "under Options, “Columns”",
        ),
    ):
        (tmp_path / name).write_text(content)
        tab.locator("input[type=file]").first.set_input_files(str(tmp_path / name))
        tab.get_by_text(message).first.wait_for()
        assert tab.locator("u").count() == 0
        if name.endswith(".xlsx"):
            remove_file(tab)
    tab.get_by_role("button", name="Options").click()
    tab.get_by_label("Columns").fill("confidence=p_true, correct=verdict")
    tab.get_by_role("textbox", name=re.compile(r"^n\b")).first.fill("0, ∞")
    tab.get_by_role("button", name="Score with these options").click()
    for _ in range(2):
        wait_for(tab, "second")
        tab.get_by_text("All scores").first.click()
        tab.get_by_text("ECUAS_∞ ↓").first.wait_for()
        cells = tab.locator("table.all tbody tr").first.locator("td").all_text_contents()
        assert cells[0] == "2"
        assert cells[1].startswith("0.500")
        assert tab.get_by_text("ECUAS_128").count() == 0
        assert tab.locator(".message.error").count() == 0
        tab.reload()  # which restores files, columns and options from the address
    wait_for(tab, "second")
    tab.get_by_role("button", name="Draw further curves").click()
    tab.locator(".pictures img").first.wait_for()
    tab.wait_for_function(
        "[...document.querySelectorAll('.pictures img')].every(e => e.complete && e.naturalWidth > 300)"
    )
    made = set(cache.rglob("*.*")) - before
    assert {"a.csv", "ecuas.csv", "ecuas.md", "ecuas.tex", "risk_coverage.png"} <= {
        path.name for path in made
    }
    assert sum(app.demo.delete_cache) <= 3600
    delete_files_created_by_app(app.demo, app.storage.OLD)
    assert all(path.exists() for path in made)
    delete_files_created_by_app(app.demo, -1)  # as if all this time had passed
    assert not any(path.exists() for path in made)
    tab.reload()
    tab.get_by_text("they are deleted after 30 to 40 minutes").wait_for()


def test_answers_are_graded_put_on_the_leaderboard_and_restored_from_the_address(tab, tmp_path):
    go(tab, "TriviaQA")
    first = tab.locator("table.rates tbody tr").first
    assert " ".join(first.inner_text().split()).startswith("1 to 2 gemini-2.5-pro")
    assert tab.locator("table.board").bounding_box()["width"] <= tab.viewport_size["width"]
    tab.get_by_label("Show systems with").fill("qwen")
    assert tab.locator("table.board tbody tr:visible").count() == 4
    tab.get_by_label("Show systems with").fill("nobody")
    tab.get_by_text("No system of this name is on the leaderboard.").wait_for()
    tab.get_by_label("Show systems with").fill("")
    for title, first in (("system", "gemini-2.5-flash-lite"), ("place", "gemini-2.5-pro")):
        tab.get_by_role("button", name=title, exact=True).click()
        assert tab.locator("table.board tbody th").first.inner_text().startswith(first)
    tab.get_by_role("button", name="What the paper prints").click()
    tab.get_by_role("button", name="ECUAS_0 ↓").click()
    numbers = tab.locator("table.sorted td:nth-child(2)").all_inner_texts()
    assert numbers == sorted(numbers, key=float)
    assert "by=ecuas_0" in tab.url
    header = "question_id,answer,confidence,correct\n"
    rows = "odql_14427,London.,0.2,\nsfq_178,my own,0.9,1\n"
    (tmp_path / "mine.csv").write_text(header + rows)
    tab.locator("input[type=file]").last.set_input_files(str(tmp_path / "mine.csv"))
    tab.get_by_role("button", name="Grade and score").click()
    mine = tab.locator("table.rates tr.own")
    mine.wait_for()
    tab.get_by_text("2 answers: 1 decided by the label bank, 1 by you.").wait_for()
    expected = "- mine your model 2 of 455 answered, 2 known to be right or wrong: no place"
    assert " ".join(mine.inner_text().split()).startswith(expected)
    row = tab.locator("table.all").last.locator("tr").last.inner_text()
    tab.get_by_text("All scores").last.click()
    with tab.expect_download() as download:
        tab.get_by_role("link", name="graded answers").click()
    assert pd.read_csv(download.value.path())["correct"].tolist() == [1, 0]
    tab.wait_for_url("**result=*")
    tab.reload()
    mine.wait_for()  # the tab is open
    top = tab.get_by_text("From a link: self-reported, not checked.").first
    assert top.bounding_box()["y"] < mine.bounding_box()["y"]
    assert "self-reported, not checked" in mine.inner_text()
    again = tab.locator("table.all").last.locator("tr").last.inner_text()
    assert again.replace("mine (self-reported)", "mine") == row


def test_what_is_set_and_what_is_shown_never_differ_without_a_word(tab, tmp_path):
    """New options, a removed file, an error: the result is of them, or says of what it is; and a phone shows it."""
    dress(tab, "phone", "light")
    (tmp_path / "mine.csv").write_text("confidence,correct\n" + "0.9,1\n0.6,1\n0.7,0\n0.2,0\n" * 10)
    tab.locator("input[type=file]").first.set_input_files(str(tmp_path / "mine.csv"))
    wait_for(tab, "mine")
    tab.wait_for_function("document.querySelector('.result').getBoundingClientRect().top > -50")
    assert "files=" in tab.url
    tab.get_by_role("button", name="Options").click()
    orders = tab.get_by_role("textbox", name=re.compile(r"^n\b")).first
    old = tab.get_by_text("The options have changed")
    for text, state in (("0", "visible"), ("0, 1, 128", "detached"), ("0", "visible")):
        orders.fill(text)
        old.wait_for(state=state)
    averages = tab.locator(".averages").first
    assert "ECUAS_1" in averages.inner_text()
    tab.get_by_role("button", name="Score with these options").click()
    old.wait_for(state="detached")
    averages.get_by_text("ECUAS_0. 0 is perfect").wait_for()
    tab.get_by_role("button", name="Draw further curves").click()
    tab.locator(".pictures img").first.wait_for()
    remove_file(tab)
    assert "files=" not in tab.url
    tab.locator(".pictures").wait_for(state="detached")


WCAG = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
SEEN = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
LOOKS = {"type": "rule", "values": SEEN}
ALL = dict.fromkeys(product(WIDTHS, ("light", "dark")), WCAG)


@pytest.mark.parametrize(  # axe takes seconds: of a second width and theme it tries what may look different there
    "looks",
    [
        {("desk", "light"): WCAG, ("phone", "dark"): LOOKS},
        pytest.param(ALL, marks=pytest.mark.slow),
    ],
)
def test_every_tab_is_free_of_barriers_and_fits_a_long_name(looks, tab, tmp_path):
    rows = f"{'long' * 50},0.5,1\nshort,0.7,0\n"
    (tmp_path / "a.csv").write_text("system,confidence,correct\n" + rows)
    tab.locator("input[type=file]").first.set_input_files(str(tmp_path / "a.csv"))
    wait_for(tab, "longlong")
    tab.get_by_text("All scores").first.click()
    name = tab.locator("table.report th[scope=row]").first
    assert name.locator(".name").get_attribute("title") == "long" * 50
    tab.get_by_role("button", name="Options").click()
    for why in tab.locator(".why:visible summary").all():
        why.click()
    for title, shown in TABS.items():
        go(tab, title)
        tab.locator(f"[role=tabpanel]:visible {shown}:visible").first.wait_for()
        for (width, theme), rules in looks.items():
            dress(tab, width, theme)
            if title == "Compare":
                assert name.bounding_box()["width"] <= (150 if width == "phone" else 320)
            background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (contrast(background, "#000000") < 5) == (theme == "dark")
            options = {"resultTypes": ["violations"], "runOnly": rules}
            found = axe.Axe().run(tab, options=options).response["violations"]
            serious = [one for one in found if one["impact"] in ("serious", "critical")]
            assert serious == [], (title, width, theme)
            assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), title
            assert tab.evaluate(CLIPPED) == [], title


# the elements of a part of the page, with the names of their attributes; names may break after an underscore
ELEMENTS = """e => [...e.querySelectorAll('*')].filter(e => e.tagName !== 'WBR')
    .map(e => [e.tagName, ...e.getAttributeNames()].join(' '))"""


def test_names_are_text_wherever_the_page_has_them(tab, tmp_path):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    found = []
    for names in (markup.PLAIN, markup.NAMES):
        (path := tmp_path / "a.csv").write_text(markup.systems(names))
        tab.locator("input[type=file]").first.set_input_files(str(path))
        wait_for(tab, names[0])
        tab.get_by_text("All scores").first.click()
        set_prices(tab, "10", "4")
        tab.get_by_role("button", name="Draw further curves").click()
        tab.locator(".pictures img").first.wait_for()
        (plot := tab.locator(".plot").first).scroll_into_view_if_needed()
        box = plot.bounding_box()
        tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 9)
        tab.locator(".tip").wait_for()
        parts = [
            tab.locator(f"gradio-app .block{part}").first
            for part in (".result", ".averages", ".more", ":has(> * .pictures)")
        ]
        found.append([part.evaluate(ELEMENTS) for part in parts])
        assert all(name in "".join(part.text_content() for part in parts) for name in names)
        titles = parts[0].locator(".bars .who").evaluate_all("all => all.map(e => e.title)")
        assert {*titles} == {*names, REJECTING}
        tab.locator(".copy").first.click()
        tab.get_by_role("status").get_by_text("Copied, as Markdown.").wait_for()
        copied = tab.evaluate("navigator.clipboard.readText()")
        elements, texts = markup.rendered(copied)
        assert elements == {"p", "a", *markup.OF_TABLES}
        assert not re.search(r"https?://x|www\.", copied)  # which some renderers make a link
        assert "\u2060" not in copied
        assert sum(name in texts for name in names) >= NUM_SLOTS
        remove_file(tab)
    for plain, marked in zip(*found, strict=True):
        assert "\n".join(unified_diff(plain, marked)) == ""


def test_a_copied_link_holds_what_the_page_puts_into_its_address_alone(tab, page):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(f"{page}?x=a)%20[b](https://x.example&columns=a)[b](c&rejected=3#)[b](c")
    tab.locator(".copy").first.click()
    tab.get_by_role("status").get_by_text("Copied, as Markdown.").wait_for()
    copied = tab.evaluate("navigator.clipboard.readText()")
    (address,) = re.findall(r"https?://[^\s)]*", copied)
    assert address.startswith(f"{page}?")
    assert parse_qs(urlsplit(address).query) == {"columns": ["a)[b](c"], "rejected": ["3"]}
    assert copied.endswith(f"[Computed here]({address})")


def test_the_code_of_the_api_has_the_address_of_this_page(tab, page):
    tab.goto(f"{page}?tab=code")
    tab.wait_for_function(
        "(code) => document.body.innerText.includes(code)", arg=f'Client("{page}")'
    )


def posteriors(name):
    """Return a table with a class of a name."""
    header = ["label", f"prob_{name}", "prob_other"]
    return markup.table(header, [name, 0.75, 0.25], ["other", 0.5, 0.5], [name, 0.5, 0.5])


ROWS = (["q1", 0.5, 1], ["q2", 0.25, 0], ["q3", 0.75, 1])
PLACES = {  # where a name is -> its file, and the option "Columns"
    "a class": lambda name: (posteriors(name), ""),
    "a class that there is not": lambda name: (posteriors("n").replace("\nother", f'\n"{name}"'), ""),
    "an id that is there twice": lambda name: (
        markup.table(["id", "confidence", "correct"], *ROWS, [name, 0.5, 1], [name, 0.25, 0]),
        "",
    ),
    "a column that is not used": lambda name: (
        markup.table(["id", "confidence", "correct", name], *([*row, 7] for row in ROWS)),
        "",
    ),
    "columns of no role": lambda name: (markup.table([name, "a", "b"], *ROWS), ""),
    "a cell": lambda name: (markup.table(["id", "confidence", "correct"], *ROWS, ["q", name, 1]), ""),
    "an option": lambda name: (markup.table(["id", "confidence", "correct"], *ROWS), f"confidence={name}"),
    "a system of which something is missing": lambda name: (
        markup.table(["system", "confidence", "correct"], [name, 0.5, 1], [name, "", 1], ["a", 1, 0]),
        "",
    ),
}  # fmt: skip


def shown_of(name, app, folder):
    """Return the HTML of results and errors with a name in each place, also that of the file and of a link."""
    defaults = {one: control.default for one, control in CONTROLS.items()}
    pieces = []
    for content, columns in (make(name) for make in PLACES.values()):
        (path := folder / "a.csv").write_text(content)
        pieces.append(app.show_score([str(path)], *(defaults | {"columns": columns}).values()))
    as_file = name.replace("/", "|")
    (path := folder / f"{as_file}.csv").write_text(
        markup.table(["confidence", "correct"], *(row[1:] for row in ROWS))
    )
    pieces.append(app.show_score([str(path)], *defaults.values()))
    path.write_text("question_id,answer,confidence,correct\nsfq_178,my own,0.9,1\n")
    _, *graded = app.show_graded(str(path), "curated")
    pieces.append(graded)
    token = json.loads(unescape(re.search('data-changes="([^"]*)"', graded[1])[1]))["result"]
    pieces.append(app.restore(app.gr.Request(query_params={"result": token})))
    pieces.append(app.show_curves([str(path)], *defaults.values()))
    return [f"<section>{''.join(piece)}</section>" for piece in pieces]


SEVERAL = [
    *markup.NAMES[:3],
    *(pytest.param(one, marks=pytest.mark.slow) for one in markup.NAMES[3:]),
]


@pytest.fixture(scope="module")
def elements(window, app, tmp_path_factory):
    """Return a function of a name to the elements of all that shows it, in which it is a text."""
    tab, _ = window

    def elements(name):
        tab.set_content("".join(shown_of(name, app, tmp_path_factory.mktemp("names"))))
        texts = tab.locator("section").all_text_contents()
        forms = (
            name,
            name.replace("/", "|"),
            repr(name)[1:-1],
        )  # the last as a value that is refused
        shown = [any(form in text for form in forms) for text in texts]
        assert sum(shown) >= len(PLACES), (name, shown)
        return tab.locator("section").evaluate_all(f"all => all.map({ELEMENTS})")

    return cache(elements)


@pytest.mark.parametrize("name", SEVERAL)
def test_names_are_text_in_every_note_and_error_and_in_what_a_link_holds(name, elements):
    assert elements(name) == elements("n")

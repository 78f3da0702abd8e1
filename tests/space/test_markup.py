"""Words and HTML of the page; what is drawn are the arrays of `plotting`, read back from the SVG."""

import json
import re
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

from ecuas_metric import confidence_system, posterior_system
from ecuas_metric.errors import Advice, FileAdvice, InputError
from ecuas_metric.plotting.bands import order_band, reject_cost_band
from ecuas_metric.plotting.curves import order_curve, reject_cost_curve, reliability, risk_coverage
from ecuas_metric.reporting.report import make_report, prepare_submissions, report_grid
from publishing.staging import PARTS
from space import markup
from space.uploads import plain_text, read_uploads
from tests.conftest import ROOT
from tests.space.conftest import contrast

STYLE = (ROOT / "space" / "style.css").read_text()
EVIL = '<img src=x onerror="alert(1)">'


def text_of(html):
    return unescape(re.sub(r"<[^>]*>", "", html))


def test_the_tables_hold_every_cell_of_the_reports_grid(files):
    report = make_report(prepare_submissions(read_uploads(files), confidence_level=0.9))
    grid = report_grid(report)
    first, folded = markup.report_tables(report, grid).split("<details", 1)
    titles = re.findall(r'<th scope="col">(.*?)</th>', first)
    assert [text_of(title) for title in titles] == ["system", "ECUAS_0 ↓", "ECUAS_1 ↓", "ECUAS_128 ↓"]
    assert "N = 120." in first
    assert report.signature in text_of(folded)
    rows = re.findall(r"<tr>(.*?)</tr>", folded.replace("</tr></thead>\n", "</tr>"), flags=re.DOTALL)
    cells = [[text_of(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]
    expected = [[re.sub(" (?=\\[)", "", cell.text) for cell in row] for row in grid.rows]
    assert cells[0] == grid.header
    assert [[cell.replace(" ★", "") for cell in row] for row in cells[1:]] == expected
    assert [["★" in cell for cell in row] for row in cells[1:]] == [[cell.is_best for cell in row] for row in grid.rows]
    marked = dict(re.findall(r'swatch (slot-\d)"></i><bdi>(\w+)<', folded))
    assert {name: slot for slot, name in marked.items()} == markup.slots(report.results)


def test_names_are_text_everywhere(rng):
    systems = {EVIL: system(rng), "\u202eevil": system(rng)}
    report, drawn = make_report(systems), markup.figures(systems)
    tables = markup.report_tables(report, report_grid(report)._replace(notes=[EVIL]))
    for html in (tables, markup.html("message", text=EVIL), markup.isolate(EVIL), drawn):
        assert "<img" not in html
        assert "&lt;img" in html
    assert unescape(drawn).count(f'data-name="{EVIL}"') == 5
    shown = '<div class="message note" role="status">use <code>ecuas &lt;b&gt;</code></div>'
    assert markup.html("message", text="use `ecuas <b>`") == shown


@pytest.mark.parametrize("advice", [*Advice, *FileAdvice])
def test_no_advice_speaks_of_python_or_of_the_command(advice):
    shown = markup.in_words(InputError("n", "must be >= 0", advice=advice))
    assert not {"_", "=", "--", "'"} & set(shown.partition(". ")[2])
    assert "--" not in shown


def test_errors_are_one_line_in_the_words_of_the_page_and_nothing_hides_or_reorders_text():
    said = markup.in_words(InputError("num_classes", "must be a whole number", value=2.5))
    assert said == "Number of possible answers K must be a whole number; got 2.5."
    assert markup.in_words(InputError("n", "must\nbe \u202e" + "x" * 1000)) == ("n must be " + "x" * 1000)[:600]
    assert markup.UNLABELLED in markup.WORDS["label_or_bound"]
    assert plain_text("a\u202eb\u2066c\u200fd\x00e\r\n\tf \u2028 g\u200b") == "abcde f g"
    assert plain_text("שלום µ 模型" + "x" * 999) == "שלום µ 模型" + "x" * 191


def test_a_published_page_links_the_three_repositories_and_a_clone_its_folders():
    found = re.findall(r"\]\((.*?)\)", markup.links("somebody"))
    kinds = {"space": "spaces", "dataset": "datasets"}
    places = {f"https://huggingface.co/{kinds[part.repo_type]}/somebody/{part.repo_name}" for part in PARTS.values()}
    assert {link.removesuffix("/tree/main") for link in found} == {*places, "https://arxiv.org/abs/2605.20490"}
    assert "spaces/somebody/ecuas-demo/resolve/main/thumbnail.png" in markup.previews("a", "b", "somebody")
    assert "huggingface.co" not in markup.links() + markup.previews("a", "b")
    assert sum((ROOT / folder).is_dir() for folder in re.findall("`(.*?)`", markup.links())) == 3


def system(rng, size=300, **options):
    confidence = rng.random(size)
    return confidence_system((rng.random(size) < confidence).astype(int), confidence, **options)


def figures_in(html):
    """Return by title the points of each line and of each band, in the units of the axes."""
    found = {}
    for figure in re.findall("<figure.*?</figure>", html, flags=re.DOTALL):
        tree = ElementTree.fromstring(figure.replace("class=few", 'class="few"'))
        curves = next(node for node in tree.iter() if node.get("class") == "curves")
        _, *x, _, y_low, y_high, names = json.loads(curves.get("data-axes"))
        scales = {"y": (y_high, y_low, markup.TOP, markup.HEIGHT), "x": (*x, markup.LEFT, markup.WIDTH)}
        for side, (start, end, first, length) in list(scales.items())[: 1 if names else 2]:
            for tick in tree.iterfind(f".//text[@class='{side} tick']"):
                close(start + (float(tick.get(side)) - first) / length * (end - start), float(tick.text))
        found[tree.find(".//h3").text] = {node.get("data-name"): points_of(node, *x, y_low, y_high) for node in curves}
    return found


def points_of(node, x_low, x_high, y_low, y_high):
    bars = [bar.get("d").replace("V", ",").replace("M", " ") for bar in node.findall("path[@class='bars']")]
    read, bands = [], [band.get("points") for band in node.findall("polygon")]
    for part in (node.find("path").get("d")[1:], *bands, *bars):
        numbers = np.array([list(map(float, pair.split(","))) for pair in part.split()])
        numbers[:, 0] = x_low + numbers[:, 0] / markup.WIDTH * (x_high - x_low)
        numbers[:, 1:] = y_high - numbers[:, 1:] / markup.HEIGHT * (y_high - y_low)
        read.append(numbers)
    return read


def close(drawn, computed, rounded=0.0):
    """Two decimals of a drawing's units, of which a plot has hundreds."""
    np.testing.assert_allclose(drawn, computed, atol=0.01 * (1 + np.max(np.abs(computed))) / markup.HEIGHT + rounded)


@pytest.mark.parametrize("form", ["confidences", "tied", "posteriors", "few", "weighted"])
def test_drawn_values_are_the_computed_ones_after_any_upload(form, rng):
    options = {"confidence_level": 0.95}
    if form == "posteriors":
        posteriors = rng.dirichlet(np.ones(3), 200)
        systems = {name: posterior_system(rng.integers(0, 3, 200), posteriors, **options) for name in "ab"}
    elif form == "tied":
        systems = {"a": confidence_system([1, 0] * 40, [0.9] * 40 + [0.3] * 40, **options)}
    else:
        size = 6 if form == "few" else 1000
        more = {"sample_weight": rng.integers(1, 4, size)} if form == "weighted" else {}
        systems = {name: system(rng, size, **options, **more) for name in "ab"}
    costs, orders, risks, accuracies, confidences = figures_in(markup.figures(systems)).values()
    for name, one in systems.items():
        curve = reject_cost_curve(one, num_points=markup.NUM_POINTS + 1)
        close(costs[name][0], np.stack([curve.reject_cost, curve.expected_cost], axis=1))
        band = reject_cost_band(one, curve.reject_cost[::8])
        half = len(costs[name][1]) // 2
        close(costs[name][1][:half, 1], band.low[np.isfinite(band.low)])
        drawn = np.array(markup.DRAWN_ORDERS)
        close(orders[name][0][:, 1], order_curve(one, n=drawn).ecuas)
        band = order_band(one, drawn)
        close(orders[name][1][:, 1:], np.stack([band.low, band.high], axis=1))
        risk = risk_coverage(one)
        rows = np.searchsorted(risk.coverage, risks[name][0][:, 0] - 1e-4)
        close(risks[name][0][:, 1], risk.risk[rows])
        assert len(rows) == min(len(risk.risk), markup.NUM_POINTS)
        bins = reliability(one)
        some = bins.counts > 0
        close(accuracies[name][0], np.stack([bins.confidence[some], bins.accuracy[some]], axis=1))
        close(confidences[name][0][:, 1], bins.shares)


def test_intervals_and_colours_are_drawn_where_there_are_some(rng):
    assert 'class="band"' in markup.figures({"a": system(rng, confidence_level=0.9)})
    assert 'class="ba' not in markup.figures({"a": system(rng)})
    html = markup.figures({f"s{i}": system(rng, 40, confidence_level=0.95) for i in range(9)})
    assert "3 more" in html
    assert html.count('class="marks slot-6"') == 3
    assert not re.search('class="[a-z]+ rest"[^>]*>(<path[^>]*>)?<(circle|polygon)', html)
    few = markup.figures({"a": confidence_system([1, 0, 1], [0.9, 0.2, 0.8])})
    assert few.count("class=few") == 3
    assert "Hollow: fewer than 5 samples." in few


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0.00123), (-3, 12345), (0, 0)])
def test_ticks_are_round_numbers_inside_the_axis(low, high):
    axis = markup.axis("x", high, low=low)
    ticks = list(axis.ticks)
    assert axis.low <= ticks[0] < ticks[-1] <= axis.high
    assert 3 <= len(ticks) <= 8
    assert np.allclose(np.diff(ticks), ticks[1] - ticks[0])
    assert len(set(axis.ticks.values())) == len(ticks)


@pytest.mark.parametrize(("theme", "ground"), [("", "#ffffff"), (".dark ", "#27272a")])
def test_lines_are_told_apart_by_colour_and_by_dashes(theme, ground):
    colours = re.findall(rf"^{re.escape(theme)}\.slot-(\d) {{ --line: (#\w+)", STYLE, flags=re.MULTILINE)
    assert len(colours) == markup.NUM_SLOTS
    assert all(contrast(colour, ground) >= 3 for _, colour in colours)
    assert len(set(re.findall("--dashes: ([^;]+);", STYLE))) >= markup.NUM_SLOTS - 1

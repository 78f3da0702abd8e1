"""What is drawn are the arrays of `plotting.curves`, read back from the SVG."""

import json
import re
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

from ecuas_metric import confidence_system, posterior_system
from ecuas_metric.plotting.bands import order_band, reject_cost_band
from ecuas_metric.plotting.curves import order_curve, reject_cost_curve, reliability, risk_coverage
from space import plots
from tests.conftest import ROOT
from tests.space.conftest import contrast

STYLE = (ROOT / "space" / "style.css").read_text()
SVG = "{http://www.w3.org/2000/svg}"


def system(rng, size=300, **options):
    confidence = rng.random(size)
    return confidence_system((rng.random(size) < confidence).astype(int), confidence, **options)


def figures_in(html):
    """Return by title the points of each line and of each band, in the units of the axes."""
    found = {}
    for figure in re.findall("<figure.*?</figure>", html, flags=re.DOTALL):
        tree = ElementTree.fromstring(figure.replace("class=few", 'class="few"'))
        curves = next(node for node in tree.iter() if node.get("class") == "curves")
        x_title, *x, y_title, y_low, y_high, _ = json.loads(curves.get("data-axes"))
        scale = (*x, y_low, y_high)
        lines = {node.get("data-name"): points_of(node, scale) for node in curves}
        found[tree.find(".//h3").text] = (x_title, y_title), lines
    return found


def points_of(node, scale):
    x_low, x_high, y_low, y_high = scale
    parts = [node.find("path").get("d")[1:], *(band.get("points") for band in node.findall("polygon"))]
    for bars in node.findall("path[@class='bars']"):
        parts.append(" ".join(bar.replace("V", ",") for bar in bars.get("d").split("M")[1:]))
    read = []
    for part in parts:
        numbers = np.array([list(map(float, pair.split(","))) for pair in part.split()])
        numbers[:, 0] = x_low + numbers[:, 0] / plots.WIDTH * (x_high - x_low)
        numbers[:, 1:] = y_high - numbers[:, 1:] / plots.HEIGHT * (y_high - y_low)
        read.append(numbers)
    return read


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
    drawn = figures_in(plots.figures(systems))
    assert len(drawn) == 5
    for name, one in systems.items():
        _, lines = drawn["What does it cost its users?"]
        curve = reject_cost_curve(one, num_points=plots.NUM_POINTS + 1)
        close(lines[name][0], np.stack([curve.reject_cost, curve.expected_cost], axis=1))
        band = reject_cost_band(one, curve.reject_cost[::8])
        half = len(lines[name][1]) // 2
        close(lines[name][1][:half, 1], band.low[np.isfinite(band.low)])
        _, lines = drawn["ECUAS_n for every n"]
        orders = np.array(plots.ORDERS)
        close(lines[name][0][:, 1], order_curve(one, n=orders).ecuas)
        close(lines[name][1][:, 1:], np.stack(order_band(one, orders), axis=1))
        _, lines = drawn["Risk of the answers used"]
        risks = risk_coverage(one)
        rows = np.searchsorted(risks.coverage, lines[name][0][:, 0] - 1e-4)
        close(lines[name][0][:, 1], risks.risk[rows])
        assert len(rows) == min(len(risks.risk), plots.NUM_POINTS)
        _, lines = drawn["Are the confidences true?"]
        bins = reliability(one)
        some = bins.counts > 0
        close(lines[name][0], np.stack([bins.confidence[some], bins.accuracy[some]], axis=1))
        _, lines = drawn["How confident is it?"]
        close(lines[name][0][:, 1], bins.shares)


def close(drawn, computed):
    """Two decimals of a drawing's units, of which a plot has hundreds."""
    np.testing.assert_allclose(drawn, computed, atol=0.01 * (1 + np.max(np.abs(computed))) / plots.HEIGHT)


def test_names_are_text_that_stands_by_itself(rng):
    html = plots.figures({"<b>&": system(rng), "\u202eevil": system(rng)})
    assert "<b>" not in html
    assert "<bdi>&lt;b&gt;&amp;</bdi>" in html
    assert unescape(html).count('data-name="<b>&"') == 5


def test_there_are_intervals_where_systems_have_a_level_only(rng):
    assert 'class="band"' in plots.figures({"a": system(rng, confidence_level=0.9)})
    assert 'class="ba' not in plots.figures({"a": system(rng)})


def test_more_than_six_systems_share_one_grey(rng):
    html = plots.figures({f"s{i}": system(rng, 40, confidence_level=0.95) for i in range(9)})
    assert "3 more" in html
    assert html.count('class="marks slot-6"') == 3
    assert not re.search('class="[a-z]+ rest"[^>]*>(<path[^>]*>)?<(circle|polygon)', html)


def test_few_samples_are_hollow():
    html = plots.reliability_figure({"a": confidence_system([1, 0, 1], [0.9, 0.2, 0.8])})
    assert html.count("class=few") == 3
    assert "Hollow: fewer than 5 samples." in html


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0.00123), (-3, 12345), (0, 0)])
def test_ticks_are_round_numbers_inside_the_axis(low, high):
    axis = plots.axis("x", high, low=low)
    ticks = list(axis.ticks)
    assert axis.low <= ticks[0] < ticks[-1] <= axis.high
    assert 3 <= len(ticks) <= 8
    assert np.allclose(np.diff(ticks), ticks[1] - ticks[0])
    assert len(set(axis.ticks.values())) == len(ticks)


@pytest.mark.parametrize(("theme", "ground"), [("", "#ffffff"), (".dark ", "#27272a")])
def test_lines_are_told_apart_by_colour_and_by_dashes(theme, ground):
    colours = re.findall(rf"^{re.escape(theme)}\.slot-(\d) {{ --line: (#\w+)", STYLE, flags=re.MULTILINE)
    assert len(colours) == plots.NUM_SLOTS
    assert all(contrast(colour, ground) >= 3 for _, colour in colours)
    assert len(set(re.findall("--dashes: ([^;]+);", STYLE))) >= plots.NUM_SLOTS - 1

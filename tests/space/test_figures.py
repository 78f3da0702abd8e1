"""What is drawn are the arrays of `plotting`, read back from the SVG."""

import json
import re
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

from ecuas_metric import confidence_system, posterior_system
from ecuas_metric.plotting.curves import (
    order_band,
    order_curve,
    reject_cost_band,
    reject_cost_curve,
    reliability,
    risk_coverage,
)
from space import figures
from tests.conftest import ROOT
from tests.space.conftest import contrast

STYLE = (ROOT / "space" / "style.css").read_text()


def system(rng, size=300, **options):
    confidence = rng.random(size)
    return confidence_system((rng.random(size) < confidence).astype(int), confidence, **options)


def figures_in(html):
    """Return by title the points of each line, then of its band or bars, in the units of the axes."""
    drawn = {}
    for figure in re.findall("(?s)<figure.*?</figure>", html):
        tree = ElementTree.fromstring(figure)
        curves = next(node for node in tree.iter() if node.get("class") == "curves")
        _, *x, _, y_low, y_high, names = json.loads(curves.get("data-axes"))
        for tick in tree.iterfind(".//text[@class='y tick']"):
            share = (float(tick.get("y")) - figures.TOP) / figures.HEIGHT
            close(y_high - share * (y_high - y_low), float(tick.text))
        for tick in [] if names else tree.iterfind(".//text[@class='x tick']"):
            share = (float(tick.get("x")) - figures.LEFT) / figures.WIDTH
            close(x[0] + share * (x[1] - x[0]), float(tick.text))
        drawn[tree.find(".//h3").text] = {
            node.get("data-name"): points_of(node, *x, y_low, y_high) for node in curves
        }
    return drawn


def points_of(node, x_low, x_high, y_low, y_high):
    drawn = [path.get("d").replace("V", ",").replace("M", " ") for path in node.findall("path")]
    drawn[1:1] = [band.get("points") for band in node.findall("polygon")]
    parts = []
    for part in drawn:
        numbers = np.array([list(map(float, pair.split(","))) for pair in part.split()])
        numbers[:, 0] = x_low + numbers[:, 0] / figures.WIDTH * (x_high - x_low)
        numbers[:, 1:] = y_high - numbers[:, 1:] / figures.HEIGHT * (y_high - y_low)
        parts.append(numbers)
    return parts


def close(drawn, computed, rounded=0.0):
    """Two decimals of a drawing's units, of which a plot has hundreds."""
    np.testing.assert_allclose(
        drawn, computed, atol=0.01 * (1 + np.max(np.abs(computed))) / figures.HEIGHT + rounded
    )


def systems_of(form, rng):
    options = {"confidence_level": 0.95}
    if form == "posteriors":
        posteriors = rng.dirichlet(np.ones(3), 200)
        return {"a": posterior_system(rng.integers(0, 3, 200), posteriors, **options)}
    if form == "tied":
        return {"a": confidence_system([1, 0] * 40, [0.9] * 40 + [0.3] * 40, **options)}
    options["sample_weight"] = rng.integers(1, 4, 1000)
    return {name: system(rng, 1000, **options) for name in "ab"}


@pytest.mark.parametrize("form", ["tied", "posteriors", "weighted"])
def test_drawn_values_are_the_computed_ones(form, rng):
    systems = systems_of(form, rng)
    costs, orders, risks, accuracies = figures_in(figures.figures(systems)).values()
    for name, one in systems.items():
        curve = reject_cost_curve(one, num_points=figures.NUM_POINTS + 1)
        close(costs[name][0], np.stack([curve.reject_cost, curve.expected_cost], axis=1))
        band = reject_cost_band(one, curve.reject_cost[::8])
        close(costs[name][1][: len(costs[name][1]) // 2, 1], band.low[np.isfinite(band.low)])
        drawn = np.array(figures.DRAWN_ORDERS)
        close(orders[name][0][:, 1], order_curve(one, n=drawn).ecuas)
        band = order_band(one, drawn)
        close(orders[name][1][:, 1:], np.stack([band.low, band.high], axis=1))
        risk = risk_coverage(one)
        rows = np.searchsorted(risk.coverage, risks[name][0][:, 0] - 1e-4)
        close(risks[name][0][:, 1], risk.risk[rows])
        assert len(rows) == min(len(risk.risk), figures.NUM_POINTS)
        bins = reliability(one)
        filled = bins.counts > 0
        close(accuracies[name][0], np.stack([bins.confidence, bins.accuracy], axis=1)[filled])


def test_intervals_and_colours_are_drawn_where_there_are_some(rng):
    assert 'class="band"' in figures.figures({"a": system(rng, confidence_level=0.9)})
    assert 'class="ba' not in figures.figures({"a": system(rng)})
    html = figures.figures({f"s{i}": system(rng, 40, confidence_level=0.95) for i in range(9)})
    assert "3 more" in html
    assert html.count('class="marks slot-6"') == 2
    assert not re.search('class="[a-z]+ rest"[^>]*>(<path[^>]*>)?<(circle|polygon)', html)
    one = confidence_system([1, 0, 1], [0.9, 0.2, 0.8])
    names = (
        "<a>",
        "(reject all)",
        "(calibrated)",
    )  # the last are also called so where they are drawn
    few = figures.figures(dict.fromkeys(names, one))
    assert "<a>" not in few
    assert all(unescape(few).count(f'data-name="{name}"') == 4 for name in names)


@pytest.mark.parametrize("theme, ground", [("", "#ffffff"), (".dark ", "#27272a")])
def test_lines_are_told_apart_by_colour_and_by_dashes(theme, ground):
    colours = re.findall(
        rf"^{re.escape(theme)}\.slot-\d {{ --line: (#\w+)", STYLE, flags=re.MULTILINE
    )
    assert len(colours) == figures.NUM_SLOTS
    assert all(contrast(colour, ground) >= 3 for colour in colours)
    assert len(set(re.findall("--dashes: ([^;]+);", STYLE))) >= figures.NUM_SLOTS - 1

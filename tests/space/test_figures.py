"""What is drawn on the first screen are the costs that are said, read back from its HTML; and other pictures."""

import json
import re
from functools import partial
from html import unescape

import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.plotting.curves import reject_cost_curve
from space import figures, verdict
from tests.conftest import ROOT
from tests.space.conftest import contrast

STYLE = (ROOT / "space" / "style.css").read_text()
pytestmark = pytest.mark.usefixtures("few_reject_costs")
system_of = partial(confidence_system, confidence_level=0.95)


def shown(systems):
    """Return the decision on systems, the first screen, and the data that it holds."""
    decision = verdict.decide(systems)
    html = figures.opening_html(decision, figures.slots(systems))
    return decision, html, json.loads(unescape(re.search(r'data-all="([^"]*)"', html)[1]))


def drawn_at(html, data, cost):
    """Return the cost of each choice where the drawing has it: between the points of its line."""
    x = figures.SCALE * cost / data["largest"]
    found = []
    for path in re.findall(r' d="M0,0(L[^"]*)"', html):
        points = [(0.0, 0.0)]
        for across, below, after in re.findall(r"L(\d+),(\d+)(?:V(\d+))?", path):
            points += [(float(across), float(one)) for one in (below, after) if one]
        row = max(i for i, (across, _) in enumerate(points[:-1]) if across <= x + 0.5)
        (left, low), (right, high) = points[row : row + 2]
        part = (x - left) / (right - left) if right > left else 0.0
        found.append((low + part * (high - low)) * data["top"] / figures.SCALE)
    return found


def random_systems(rng, size=300, count=2, **options):
    systems = {}
    for i in range(count):
        confidence = rng.random(size).round(2 if i else 6)
        correct = (rng.random(size) < confidence).astype(int)
        systems[f"s{i}"] = system_of(correct, confidence, **options)
    return systems


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"num_classes": 3}, {"sample_weight": True}])
def test_drawn_costs_are_the_computed_ones(options, rng):
    if "sample_weight" in options:
        options = {"sample_weight": rng.integers(1, 5, 300)}
    systems = random_systems(rng, **options)
    decision, html, data = shown(systems)
    anywhere = np.append(decision.tested, rng.random(500) * data["largest"])
    drawn = np.array([drawn_at(html, data, cost) for cost in anywhere])
    for i, system in enumerate(systems.values()):
        computed = reject_cost_curve(system, reject_cost=anywhere).expected_cost
        np.testing.assert_allclose(drawn[:, i], computed, atol=2e-6)
    np.testing.assert_allclose(drawn[:, -1], anywhere, atol=2e-6)


def test_strip_and_sentence_never_disagree(rng):
    """The strip covers the axis, and has a winner's colour at the costs that are tested, where the winner is clear."""
    good = system_of([1, 1, 1, 0] * 60, [0.9, 0.8, 0.9, 0.2] * 60)
    bad = system_of([1, 0, 1, 0] * 60, [0.9, 0.9, 0.6, 0.2] * 60)
    decision, html, data = shown({"a": good, "b": bad})
    stretches = figures.stretches(decision)
    winners, lows, highs = zip(*stretches, strict=True)
    assert {None, "a"} <= set(winners)
    assert (0, *highs) == (*lows, data["largest"])
    widths = re.findall(r'style="width:([\d.]+)%"><s>', html)
    assert sum(map(float, widths)) == pytest.approx(100, abs=0.1)
    for ranking, best in zip(decision.rankings, data["best"], strict=True):
        at = ranking.key.parameter
        coloured = {one for one, low, high in stretches if one and low <= at <= high}
        assert coloured == ({ranking.winner} - {None})
        assert [list(decision.curves)[i] for i in best] == list(ranking.best)


def test_the_screen_opens_on_a_price_that_is_tested_and_in_its_money(rng):
    systems = random_systems(rng)
    decision, html, _ = shown(systems)
    ranking = decision.rankings[0]
    assert ranking.key.parameter == figures.REJECTED
    bars = re.findall(
        r"<bdi>([^<]*)</bdi></span><span class=\"track\">.*?</span><b>([\d.]+)<", html
    )
    assert {name: float(cost) for name, cost in bars} == {
        name: pytest.approx(10 * value, abs=0.005) for name, value in ranking.values.items()
    }
    assert 'value="10"' in html
    assert 'value="1"' in html


def test_of_many_systems_six_have_colours_and_labels_and_all_a_bar(rng):
    systems = random_systems(rng, 60, 9)
    _, html, data = shown(systems)
    assert html.count('class="bar ') == len(data["names"]) == 10
    assert "<summary>3 more</summary>" in html
    assert len(re.findall(r'<path class="rest"', html)) == 3
    labels = [float(top) for top in re.findall(r'class="label [^>]*top:([\d.]+)%', html)]
    assert 1 <= len(labels) <= figures.NUM_SLOTS
    assert all(np.diff(labels) >= 100 * figures.LABEL_HEIGHT - 0.1)


def test_names_are_text_also_in_data_and_nothing_is_drawn_without_a_decision():
    system = system_of([1, 0, 1] * 20, [0.9, 0.2, 0.8] * 20)
    _, html, data = shown({"<u>": system, "b": system})
    assert "<u>" not in html
    assert data["names"][:2] == ["<u>", "b"]
    assert "a reason" in figures.opening_html("a reason", {})
    assert "not tested" not in html


@pytest.mark.parametrize("theme, ground", [(0, "#ffffff"), (1, "#0f0f11")])
def test_lines_are_told_apart_by_colour_and_by_dashes(theme, ground):
    pairs = re.findall(r"\.slot-\d { --line: light-dark\((#\w+), (#\w+)\)", STYLE)
    assert len(pairs) == figures.NUM_SLOTS
    assert all(contrast(pair[theme], ground) >= 3 for pair in pairs)


@pytest.mark.long
def test_there_is_a_picture_of_each_curve_that_the_systems_have(rng, tmp_path):
    correct = rng.integers(0, 2, 60)
    system = confidence_system(correct, rng.random(60), confidence_level=0.95)
    drawn = figures.draw({"$<b>x": system}, tmp_path)
    assert list(drawn) == [*figures.TITLES.values()]
    for path in drawn.values():
        with open(path, "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n"

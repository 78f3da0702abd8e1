import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from space import plots
from tests.conftest import ROOT
from tests.space.conftest import contrast


def frame(names, x=(0.0, 0.5, 1.0), y=(0.0, 0.4, 0.2)):
    parts = [pd.DataFrame({"coverage": x, "risk": y, "system": name}) for name in names]
    return pd.concat(parts, ignore_index=True)


def drawn(html):
    """Return the points of each line, in the units of the axes as a reader takes them from the ticks."""
    figure = ElementTree.fromstring(html)
    scales = []
    for axis, place in (("x tick", "x"), ("y tick", "y")):
        ticks = [text for text in figure.iter("text") if text.get("class") == axis]
        at, values = ([float(text.get(place)) for text in ticks], [float(text.text) for text in ticks])
        scales.append(np.polynomial.Polynomial.fit(at, values, 1))
    lines = {}
    for line in figure.iter("g"):
        if line.get("data-name"):
            points = np.array(re.findall(r"([\d.-]+),([\d.-]+)", line.find("path").get("d")), float)
            points += plots.LEFT, plots.TOP
            lines[line.get("data-name")] = np.stack([scales[0](points[:, 0]), scales[1](points[:, 1])], axis=1)
    return lines


@pytest.mark.parametrize("limits", [{}, {"x_lim": (0, 2), "y_lim": (0, 0.3)}])
def test_what_is_drawn_is_the_data(limits, rng):
    data = frame("ab", x=np.arange(30) / 29, y=rng.random(30).round(1))
    lines = drawn(plots.plot(data, plots.slots("ab"), title="Risk", **limits))
    for name, part in data.groupby("system"):
        given = part[["coverage", "risk"]].to_numpy()
        nearest = np.abs(given[:, None] - lines[name]).sum(axis=2).argmin(axis=0)
        np.testing.assert_allclose(lines[name], given[nearest], atol=4e-4)
        np.testing.assert_allclose(np.interp(given[:, 0], *lines[name].T), given[:, 1], atol=6e-3)


def test_names_are_text():
    evil = '<img src=x onerror="alert(1)">'
    html = plots.plot(frame([evil, "b"]), plots.slots([evil, "b"]), title=evil)
    html += plots.multiples(frame([evil]), plots.slots([evil]), title=evil)
    assert "<img" not in html


def test_six_lines_have_names_and_the_rest_are_counted():
    names = [f"s{i}" for i in range(50)]
    html = plots.plot(frame(names), plots.slots(names), title="Risk")
    legend = re.findall(r"<span>(.*?)</span>", html)
    assert legend == [*names[:6], "44 more"]
    assert len(re.findall("data-name", html)) == 50
    assert "s6 0" not in html  # no value under the mouse without a name in the legend
    assert plots.multiples(frame(names), plots.slots(names), title="x").count("<figure") == 6


def test_under_the_mouse_are_the_points_of_every_line():
    html = plots.plot(frame("ab"), plots.slots("ab"), title="Risk")
    tips = [re.findall("<tspan[^>]*>(.*?)</tspan>", strip) for strip in re.findall('<text class="tip.*?</text>', html)]
    assert tips == [[f"coverage {x}", f"a {y}", f"b {y}"] for x, y in (("0", "0"), ("0.5", "0.4"), ("1", "0.2"))]


def test_points_of_few_samples_are_hollow():
    data = frame("a").assign(samples=[1, 4, 5])
    html = plots.plot(data, plots.slots("a"), title="Reliability", kind="marks")
    assert re.findall('<circle( class="few")?', html) == [' class="few"', ' class="few"', ""]
    assert "fewer than 5 samples" in html
    assert "few" not in plots.plot(data, plots.slots("a"), title="Risk")


def test_texts_are_spaced_evenly_in_their_order():
    data = pd.DataFrame({"n": ["0", "1/8", "∞"], "ecuas": [0.5, 0.4, 0.2], "system": "a"})
    html = plots.plot(data, {"a": "slot-1"}, title="ECUAS_n", kind="marks")
    figure = ElementTree.fromstring(html)
    at = [float(text.get("x")) for text in figure.iter("text") if text.get("class") == "x tick"]
    assert at[1] - at[0] == pytest.approx(at[2] - at[1])
    assert [float(mark.get("cx")) + plots.LEFT for mark in figure.iter("circle")] == pytest.approx(at)


@pytest.mark.parametrize(("theme", "page"), [("", "#ffffff"), (r"\.dark ", "#27272a")])
def test_every_line_stands_out_from_the_page(theme, page):
    css = (ROOT / "space" / "style.css").read_text()
    colors = re.findall(rf"^{theme}\.(?:slot-\d|rest)\b[^{{]*{{ --line: (#\w{{6}});", css, flags=re.MULTILINE)
    assert len(colors) == plots.NUM_SLOTS + 1
    for color in colors:
        assert contrast(color, page) >= 4.5, color
    assert len(set(re.findall("--dashes: [^;]*", css))) >= plots.NUM_SLOTS - 1


@pytest.mark.parametrize("name", ["a", "a_long_name_of_a_system_that_is_cut"])
def test_what_is_under_the_mouse_lies_inside_the_plot(name):
    html = plots.plot(
        frame([name], x=np.linspace(0, 1, 32), y=np.linspace(0, 1, 32)), plots.slots([name]), title="Risk"
    )
    box = 480 - plots.LEFT - plots.RIGHT
    tips = re.findall(r'<text class="tip( end)?" y="0">(.*?)</text>', html)
    assert len(tips) == plots.NUM_STRIPS
    for is_end, spans in tips:
        at, *_ = map(float, re.findall(r'x="([\d.-]+)"', spans))
        length = plots.CHARACTER * max(map(len, re.findall("<tspan[^>]*>(.*?)</tspan>", spans)))
        first, last = (at - length, at) if is_end else (at, at + length)
        assert -1e-6 <= first < last <= box + 1e-6

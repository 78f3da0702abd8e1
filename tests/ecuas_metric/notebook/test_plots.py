import io

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from ecuas_metric import InputError, make_report, plan_of_systems, score_frame
from ecuas_metric.notebook.plots import PLOTS
from tests.ecuas_metric.notebook.test_html import made
from tests.ecuas_metric.systems import frame_of


@pytest.mark.long
@pytest.mark.parametrize("kind", PLOTS)
def test_axes_of_the_callers_show_the_lines_of_a_figure(rng, kind):
    systems = made(rng, ["a", "b", "_c"])
    ax = Figure().subplots()
    assert make_report(systems, only=["ecuas_1"]).plot(kind, ax=ax) is ax
    figure = make_report(systems, only=["ecuas_1"]).plot(kind)
    expected = [line.get_xydata() for axes in figure.axes for line in axes.lines]
    for line in filter(lambda line: len(line.get_xdata()), ax.lines):
        assert any(np.array_equal(line.get_xydata(), one, equal_nan=True) for one in expected)
    assert {text.get_text().lstrip("\u200b") for text in ax.get_legend().get_texts()} >= {*systems}
    assert ax.get_xlabel()


def lines_of(figure):
    return [line.get_xydata() for axes in figure.axes for line in axes.lines]


@pytest.mark.parametrize("kind", [None, "order", "risk_coverage"])
def test_results_draw_the_curves_of_their_systems_and_so_do_sums_over_rows(kind, rng):
    systems = made(rng, ["a", "b"])
    frames = {name: frame_of(system) for name, system in systems.items()}
    report = make_report(systems, only=["ecuas_1"])
    for name, frame in frames.items():
        for results in (report.results[name], score_frame(frame)):
            found = lines_of(results.plot(kind))
            for line, expected in zip(found, lines_of(systems[name].plot(kind)), strict=True):
                np.testing.assert_allclose(line, expected, atol=1e-12)
    joined = pd.concat([frame.assign(system=name) for name, frame in frames.items()])
    found = lines_of(score_frame(joined).plot(kind))
    for line, expected in zip(found, lines_of(report.plot(kind)), strict=True):
        np.testing.assert_allclose(line, expected, atol=1e-12)


def test_a_plan_draws_the_samples_that_each_difference_takes(rng):
    plans = plan_of_systems(made(rng, ["a", "b"]), only=["ecuas_0", "ecuas_1"], by_position=True)
    ax = Figure().subplots()
    assert plans.plot(ax=ax) is ax
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert points == [plan.needed for plan in plans]
    ranges = [tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2]
    assert {(plan.needed_low, plan.needed_high) for plan in plans} < {*ranges}
    assert not any("$" in text.get_text() for text in ax.get_xticklabels(which="both"))
    assert lines_of(plans.plot())
    same = made(rng, ["a"])["a"]
    with pytest.raises(InputError, match=r"^a figure needs a difference"):
        plan_of_systems({"a": same, "b": same}, by_position=True).plot()


def test_a_figure_is_a_picture_for_notebooks_of_the_size_that_it_has(rng):
    figure = made(rng, ["a"])["a"].plot()
    content, size = figure._repr_png_()
    with Image.open(io.BytesIO(content)) as picture:  # of 150 dots an inch
        assert tuple(1.5 * length for length in size.values()) == picture.size


@pytest.mark.long
def test_what_cannot_be_drawn_is_refused_in_one_line(rng):
    systems = made(rng, "abcdefg")
    with pytest.raises(InputError, match=r"^ax takes at most 6 systems; got 7\. Leave ax out"):
        make_report(systems, only=["ecuas_1"]).plot(ax=Figure().subplots())
    with pytest.raises(InputError, match="^kind must be "):
        make_report(systems, only=["ecuas_1"]).plot("roc")
    of_sums = make_report({"a": score_frame(frame_of(systems["a"]))})
    with pytest.raises(InputError, match=r"^a figure needs the rows of systems"):
        of_sums.plot()
    with pytest.raises(InputError, match=r"^a figure needs the rows of systems"):
        score_frame(frame_of(systems["a"])).plot("reliability")

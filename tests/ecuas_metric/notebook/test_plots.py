import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from ecuas_metric import InputError, make_report, score_frame
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

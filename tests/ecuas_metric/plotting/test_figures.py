from xml.etree import ElementTree

import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.plotting import figures
from ecuas_metric.plotting.figures import (
    COLORS,
    FEW_SAMPLES,
    Bar,
    Panel,
    forest_figure,
    order_figure,
    reject_cost_figure,
    reliability_figure,
    risk_coverage_figure,
)
from tests import markup

pytestmark = pytest.mark.long  # it draws

CURVES = [risk_coverage_figure, reject_cost_figure, order_figure]


def answering(rng, **options):
    confidence = rng.random(60)
    return confidence_system(rng.random(60) < confidence, confidence, **options)


def xs(lines):
    """Return where the points of lines are, of those that have any."""
    points = [line.get_xdata() for line in lines]
    return [np.round(x, 2).tolist() for x in points if len(x)]


@pytest.fixture
def systems(rng):
    return {f"system {i}": answering(rng) for i in range(len(COLORS) + 1)}


@pytest.mark.parametrize("draw", [*CURVES, reliability_figure])
def test_every_system_is_named_and_more_than_six_have_a_panel_each_with_the_others_in_grey(
    draw, systems
):
    systems = {
        f"{name} of sixty letters, of which no title leaves out one": systems[name]
        for name in systems
    }
    figure = draw(systems)
    legends = [text.get_text() for legend in figure.legends for text in legend.texts]
    titles = [axes.get_title().replace("\n", " ") for axes in figure.axes]
    assert set(systems) <= {*titles, *legends}
    assert figure.axes[-1].get_xlabel()
    if draw in CURVES:
        assert "the other systems" in legends
        for axes in figure.axes:
            assert len(xs(line for line in axes.lines if line.get_color() == "0.8")) == 6
        assert (len(draw(dict(list(systems.items())[:6])).axes), len(figure.axes)) == (1, 7)


@pytest.mark.parametrize("draw", [*CURVES, reliability_figure])
def test_intervals_are_bands_where_there_is_a_level(draw, rng):
    plain = draw({"a": answering(rng)})
    banded = draw({"a": answering(rng, confidence_level=0.9)})
    assert len(banded.axes[0].collections) > len(plain.axes[0].collections) == 0


def test_few_samples_of_a_bin_are_visible_and_all_are_counted():
    confidence = [0.95] * 300 + [0.55] * FEW_SAMPLES + [0.15] * (FEW_SAMPLES - 1)
    system = confidence_system([1] * len(confidence), confidence)
    figure = reliability_figure({"model": system})
    accuracy, counts = figure.axes
    marked = [line for line in accuracy.lines if line.get_marker() == "o"]
    assert xs(line for line in marked if line.get_markerfacecolor() == "white") == [[0.15]]
    assert xs(line for line in marked if line.get_linestyle() == "-") == [[0.55, 0.95]]
    assert [text.get_text() for text in counts.texts if text.get_text()] == ["4", "5", "300"]
    assert figure.legends[0].texts[-1].get_text() == "fewer than 5 samples"


@pytest.mark.parametrize("count", [1, 5])
def test_panels_have_room_whatever_their_number(count, systems, recwarn):
    """Matplotlib warns where labels leave no room for an axis."""
    system = systems["system 0"]
    many = {f"a-long-name-{i}_verbalized": system for i in range(count)}
    panel = Panel("ER", "first - second", [Bar(name, 0.1, -0.1, 0.2) for name in many])
    for figure in (reliability_figure(many), forest_figure([panel] * min(count, 3))):
        figure.draw_without_rendering()
    assert not recwarn.list


@pytest.mark.parametrize("count", [1, 2, 4, 6])
@pytest.mark.parametrize("draw", CURVES)
def test_a_legend_covers_no_line_and_shows_names_of_60_letters_whole(draw, count, systems):
    names = [f"{i} {'meta-llama/Llama-3.3-70B-Instruct few-shot ' * 2}"[:60] for i in range(count)]
    figure = draw(dict(zip(names, systems.values(), strict=False)))
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert names == [text.get_text() for text in legend.texts][:count]
    extent = legend.get_window_extent()
    assert extent.y1 <= figure.axes[0].get_tightbbox().y0
    assert extent.y0 >= 0
    assert 0 <= extent.x0 < extent.x1 <= figure.bbox.x1


@pytest.mark.parametrize(("num_classes", "end"), [(10, 0.9), (np.inf, 1)])
def test_the_axis_of_reject_costs_says_why_it_ends(num_classes, end, rng):
    (axes,) = reject_cost_figure({"a": answering(rng, num_classes=num_classes)}).axes
    assert axes.get_xlabel() == f"reject cost\n(above {end} nothing is rejected)"
    assert axes.get_xlim() == (0, end)


def test_a_forest_plot_has_a_bar_for_each_difference_that_has_an_interval():
    limits = {
        "a - b": (0.05, 0.2),
        "a - c": (-0.05, 0.2),
        f"{'a' * 30} - {'d' * 30}": (-0.2, -0.05),
        "b - c": (np.nan, np.nan),
    }
    bars = [Bar(name, 0.1, *both, name in ("a - b", "a - c")) for name, both in limits.items()]
    (axes,) = forest_figure([Panel("ER", "first - second", bars)], caption="not drawn: ECE").axes
    names = [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]
    assert names == list(limits)
    points = [line for line in axes.lines if line.get_marker() == "o"]
    filled = [line.get_markerfacecolor() != "white" for line in points]
    assert filled[:4] == [True, True, False, False]
    legends = [
        forest_figure([Panel("ER", "", bars[:shown])]).legends[0].texts[2].get_text()
        for shown in (1, 2)
    ]
    assert ["step by step" in legend for legend in legends] == [False, True]
    _, *intervals = xs(line for line in axes.lines if line.get_marker() == "None")
    assert intervals == [list(both) for both in list(limits.values())[:3]]


def test_names_are_shown_as_they_are_and_files_are_written_reproducibly(systems, tmp_path):
    named = dict(zip(("a$b^$", "_base"), systems.values(), strict=False))
    drawn = risk_coverage_figure(named), risk_coverage_figure(named)
    texts = [text.get_text() for text in drawn[0].legends[0].texts]
    assert [text.replace("\\", "").replace("\u200b", "") for text in texts] == list(named)
    first, second = (
        figures.save(figure, tmp_path / str(k) / "figure") for k, figure in enumerate(drawn)
    )
    assert [path.suffix for path in first] == [".png", ".svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize("start", range(0, len(markup.NAMES), 4))
def test_names_with_markup_are_no_elements_of_a_drawing(start, systems, tmp_path):
    system = next(iter(systems.values()))
    tags = []
    for names in (markup.PLAIN, markup.NAMES):
        figure = risk_coverage_figure(dict.fromkeys(names[start : start + 4], system))
        _, drawing = figures.save(figure, tmp_path / "figure")
        tags.append({node.tag for node in ElementTree.parse(drawing).iter()})
    assert tags[0] == tags[1]


def test_the_papers_figure_1_has_a_panel_for_each_n():
    figure = figures.confidence_cost_figure((0, 1), (2, None))
    assert [axes.get_title() for axes in figure.axes] == ["n = 0", "n = 1"]
    solid, dashed = figure.axes[1].lines[:2]
    # epsilon
    np.testing.assert_allclose([solid.get_ydata()[-1], dashed.get_ydata()[-1]], [0, 4], atol=1e-6)


def test_letters_that_the_usual_font_lacks_are_of_another_or_are_named(tmp_path, monkeypatch):
    from matplotlib import font_manager

    def letters_of(name):
        return figures._letters_of(font_manager.findfont(name))

    letters = [letters_of(name) for name in ("DejaVu Sans", "STIXGeneral")]
    other = min(letter for letter in letters[1] - letters[0] if letter.isprintable())
    figure = figures.panels(1)[0]
    text = figure.text(0, 0, f"a{other}")
    figures.save(figure, tmp_path / "a", suffixes=(".png",))
    assert text.get_fontfamily()[0] == figure.text(0, 0, "a").get_fontfamily()[0]
    assert other in letters_of(text.get_fontfamily()[-1])
    figures._font_with.cache_clear()
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [])
    with pytest.warns(UserWarning, match=f"^Figures show boxes for {other}: no installed font"):
        figures.save(figure, tmp_path / "a", suffixes=(".png",))


@pytest.mark.parametrize("draw", [reject_cost_figure, order_figure])
def test_intervals_end_within_the_panel(draw, rng):
    (axes,) = draw({"a": answering(rng, confidence_level=0.95)}).axes
    band, *_ = axes.collections  # and the patch of the legend
    assert band.get_paths()[0].get_extents().ymax < axes.get_ylim()[1]

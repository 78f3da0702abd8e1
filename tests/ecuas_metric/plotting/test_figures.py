import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.plotting.figures import (
    COLORS,
    confidence_cost_figure,
    order_figure,
    reject_cost_figure,
    reliability_figure,
    risk_coverage_figure,
    save,
)


@pytest.fixture
def systems(rng):
    return {
        f"system {i}": confidence_system((rng.random(60) < (confidence := rng.random(60))).astype(int), confidence)
        for i in range(len(COLORS) + 1)
    }


@pytest.mark.parametrize("draw", [risk_coverage_figure, reject_cost_figure, reliability_figure, order_figure])
def test_every_system_is_drawn_and_named(draw, systems):
    figure = draw(systems)
    named = [axes.get_title() for axes in figure.axes] + [
        text.get_text() for legend in (*figure.legends, figure.axes[0].get_legend()) if legend for text in legend.texts
    ]
    assert set(systems) <= set(named)
    assert figure.axes[-1].get_xlabel()


def test_names_are_shown_as_they_are(systems, tmp_path):
    named = dict(zip(("a$b^$", "_base"), systems.values(), strict=False))
    figure = risk_coverage_figure(named)
    save(figure, tmp_path / "figure")
    texts = [text.get_text() for text in figure.axes[0].get_legend().texts]
    assert [text.replace("\\", "").replace("\u200b", "") for text in texts] == list(named)


def test_the_papers_figure_1_has_a_panel_for_each_n():
    figure = confidence_cost_figure((0, 1), (2, None))
    assert [axes.get_title() for axes in figure.axes] == ["n = 0", "n = 1"]
    solid, dashed = figure.axes[1].lines[:2]
    np.testing.assert_allclose([solid.get_ydata()[-1], dashed.get_ydata()[-1]], [0, 4], atol=1e-12)


def test_files_are_written_reproducibly(systems, tmp_path):
    first, second = (save(risk_coverage_figure(systems), tmp_path / name / "figure") for name in ("a", "b"))
    assert [path.suffix for path in first] == [".png", ".svg"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()

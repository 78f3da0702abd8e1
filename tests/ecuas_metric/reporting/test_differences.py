from dataclasses import replace

import pytest

from ecuas_metric.plotting import figures
from ecuas_metric.reporting.differences import comparison_grid, explain_columns, write_differences
from tests.ecuas_metric.reporting.compared import ALPHA, AUROC, COVERAGE, rows_of

SIDES = "← {} is better      first - second      {} is better →"


@pytest.mark.parametrize(
    ("count", "below"),
    [
        (2, [SIDES.format("first", "second"), SIDES.format("second", "first")]),
        (7, ["difference from system 0", "difference from system 6"]),
    ],
)
def test_the_figure_has_a_panel_for_each_metric_and_says_what_is_better(count, below, monkeypatch):
    monkeypatch.setattr(figures, "save", lambda figure, path: figure)
    values = {f"system {i}": i / 10 for i in range(count)}
    rows = rows_of(values) + rows_of(values, AUROC) + rows_of(values, COVERAGE)
    drawn = write_differences(rows, "", alpha=ALPHA)
    assert [axes.get_title() for axes in drawn.axes] == ["ER ↓", "AUROC ↑", "Cov_0.2"]
    assert [axes.get_xlabel() for axes in drawn.axes[:2]] == below


@pytest.mark.parametrize("p", [0.001, 0.2])
def test_the_figure_fills_what_the_verdict_calls_clear_though_an_interval_holds_0(p, monkeypatch):
    monkeypatch.setattr(figures, "save", lambda figure, path: figure)
    rows = rows_of({"a": 0.1, "b": 0.15}, p=p)
    assert rows[0].low_all < 0 < rows[0].high_all
    (axes,) = write_differences(rows, "", alpha=ALPHA).axes
    (point, *_) = [line for line in axes.lines if line.get_marker() == "o"]
    assert (point.get_markerfacecolor() != "white") == (rows[0].verdict == "first")


def test_one_test_needs_no_adjustment():
    rows = rows_of({"a": 0.1, "b": 0.2})
    assert "the same, since" in explain_columns(rows, 1, 0.95)[-1]
    assert "all 12 tests together: judge by this one;" in explain_columns(rows, 12, 0.95)[-1]
    assert not any("adjusted p" in line for line in explain_columns(rows, 0, 0.95))


def test_a_row_has_the_difference_its_limits_from_the_lower_and_both_p():
    (row,) = rows_of({"a": 0.1, "b": 0.25}, p=0.012)
    (cells,) = comparison_grid(
        [replace(row, p_adjusted=0.034)], "", level=0.95, tests=2, digits=3
    ).rows
    texts = [cell.text for cell in cells[1:]]
    assert texts == ["a", "b", "-0.150", "[-0.250, -0.050]", "0.012", "0.034"]

import math
from dataclasses import replace

import pytest

from ecuas_metric.plotting import figures
from ecuas_metric.reporting.differences import explain_columns, is_significant, num_tests, sort_rows, write_differences
from tests.ecuas_metric.reporting.compared import ALPHA, AUROC, COVERAGE, ER, row, rows_of

ENDS = [("first", "second"), ("second", "first")]  # where lower is better, and where higher is


def test_differences_are_sorted_and_chosen_within_their_metric():
    rows = [row("a", "b", ER, 0.1, 0.2), row("a", "b", AUROC, 0.3), row("a", "c", ER, -0.4), row("a", "c", AUROC, 0.2)]
    assert [r.key for r in sort_rows(rows)] == [ER, ER, AUROC, AUROC]
    assert [r.difference for r in sort_rows(rows, order="difference")] == [-0.4, 0.1, 0.3, 0.2]
    assert [r.p for r in sort_rows(rows, order="p")] == [0.001, 0.2, 0.001, 0.001]
    assert [r.difference for r in sort_rows(rows) if is_significant(r, ALPHA)] == [-0.4, 0.3, 0.2]
    undefined = [row("a", "b", AUROC, math.nan, math.nan), row("a", "c", AUROC, 0.1)]
    assert [r.second for order in ("difference", "p") for r in sort_rows(undefined, order=order)] == list("cbcb")
    assert num_tests(undefined) == 1


@pytest.mark.parametrize(
    ("count", "below"),
    [
        (2, [f"← {one} is better      first - second      {other} is better →" for one, other in ENDS]),
        (7, [f"difference from system {best}, the best" for best in (0, 6)]),
    ],
)
def test_the_figure_has_a_panel_for_each_metric_and_says_what_is_better(count, below, monkeypatch):
    monkeypatch.setattr(figures, "save", lambda figure, path: figure)
    values = {f"system {i}": i / 10 for i in range(count)}
    rows = rows_of(values) + rows_of(values, AUROC) + rows_of(values, COVERAGE)
    drawn = write_differences(rows, "", alpha=ALPHA)
    assert [axes.get_title() for axes in drawn.axes] == ["ER ↓", "AUROC ↑", "Cov_0.2"]
    assert [axes.get_xlabel() for axes in drawn.axes[:2]] == below
    drawn = write_differences([replace(row, comparable=row.key != AUROC) for row in rows], "", alpha=ALPHA)
    assert [axes.get_title() for axes in drawn.axes] == ["ER ↓", "Cov_0.2"]
    assert drawn.get_suptitle() == "Not drawn, since the systems' answers differ: AUROC ↑"


def test_one_test_needs_no_adjustment():
    assert "the same as p" in explain_columns(1, 0.95)[-1]
    assert "all 12 tests" in explain_columns(12, 0.95)[-1]

import math

import pytest

from ecuas_metric.plotting.forest import Bar
from ecuas_metric.reporting.differences import explain_columns, is_significant, num_tests, sort_rows, write_differences
from tests.ecuas_metric.reporting.compared import ALPHA, AUROC, COVERAGE, ER, row, rows_of


def test_differences_are_sorted_and_chosen_within_their_metric():
    rows = [row("a", "b", ER, 0.1, 0.2), row("a", "b", AUROC, 0.3), row("a", "c", ER, -0.4), row("a", "c", AUROC, 0.2)]
    assert [r.key for r in sort_rows(rows)] == [ER, ER, AUROC, AUROC]
    assert [r.difference for r in sort_rows(rows, order="difference")] == [-0.4, 0.1, 0.3, 0.2]
    assert [r.p for r in sort_rows(rows, order="p")] == [0.001, 0.2, 0.001, 0.001]
    assert [r.difference for r in sort_rows(rows) if is_significant(r, ALPHA)] == [-0.4, 0.3, 0.2]
    undefined = [row("a", "b", AUROC, math.nan, math.nan), row("a", "c", AUROC, 0.1)]
    assert [r.second for order in ("difference", "p") for r in sort_rows(undefined, order=order)] == list("cbcb")
    assert num_tests(undefined) == 1


@pytest.mark.parametrize(("count", "comparable"), [(7, True), (2, False)])
def test_the_figure_has_a_panel_for_each_metric(count, comparable, tmp_path):
    values = {f"system {i}": i / 10 for i in range(count)}
    rows = rows_of(values) + rows_of(values, AUROC, comparable=comparable) + rows_of(values, COVERAGE)
    paths = write_differences(rows, tmp_path, alpha=ALPHA)
    assert [path.name for path in paths] == ["differences.png", "differences.svg"]


def test_a_bar_is_filled_where_the_interval_that_is_drawn_excludes_zero():
    limits = ((-1, 1), (0.1, 1), (-1, -0.1), (math.nan, math.nan))
    assert [Bar("", 0.0, *both).excludes_zero for both in limits] == [False, True, True, False]


def test_one_test_needs_no_adjustment():
    assert "the same as p" in explain_columns(1, 0.95)[-1]
    assert "all 12 tests" in explain_columns(12, 0.95)[-1]

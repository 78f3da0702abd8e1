import math
from dataclasses import replace

import pytest

from ecuas_metric.plotting import figures
from ecuas_metric.reporting.differences import (
    explain_columns,
    is_significant,
    num_tests,
    pairs_by_key,
    ranking_of,
    write_differences,
)
from tests.ecuas_metric.reporting.compared import ALPHA, AUROC, COVERAGE, ER, row, rows_of

ENDS = [("first", "second"), ("second", "first")]  # where lower is better, and where higher is


def test_differences_are_grouped_by_metric_and_counted_if_they_were_tested():
    rows = [
        row("a", "b", ER, 0.1, 0.2),
        row("a", "b", AUROC, 0.3),
        row("a", "c", ER, -0.4),
        row("a", "c", AUROC, 0.2),
    ]
    grouped = pairs_by_key(rows)
    assert {key: [row.difference for row in pairs] for key, pairs in grouped.items()} == {
        ER: [0.1, -0.4],
        AUROC: [0.3, 0.2],
    }
    assert [row.difference for row in rows if is_significant(row, ALPHA)] == [0.3, -0.4, 0.2]
    assert num_tests([row("a", "b", AUROC, math.nan, math.nan), row("a", "c", AUROC, 0.1)]) == 1


@pytest.mark.parametrize(("key", "expected"), [(ER, "bca"), (AUROC, "acb"), (COVERAGE, "abc")])
def test_systems_are_ranked_by_what_is_better(key, expected):
    assert "".join(ranking_of(rows_of({"a": 0.3, "b": 0.1, "c": 0.2}, key))) == expected


@pytest.mark.parametrize(
    ("count", "below"),
    [
        (
            2,
            [
                f"← {one} is better      first - second      {other} is better →"
                for one, other in ENDS
            ],
        ),
        (7, [f"difference from system {best}" for best in (0, 6)]),
    ],
)
def test_the_figure_has_a_panel_for_each_metric_and_says_what_is_better(count, below, monkeypatch):
    monkeypatch.setattr(figures, "save", lambda figure, path: figure)
    values = {f"system {i}": i / 10 for i in range(count)}
    rows = rows_of(values) + rows_of(values, AUROC) + rows_of(values, COVERAGE)
    drawn = write_differences(rows, "", alpha=ALPHA)
    assert [axes.get_title() for axes in drawn.axes] == ["ER ↓", "AUROC ↑", "Cov_0.2"]
    assert [axes.get_xlabel() for axes in drawn.axes[:2]] == below
    drawn = write_differences(
        [replace(row, comparable=row.key != AUROC) for row in rows], "", alpha=ALPHA
    )
    assert [axes.get_title() for axes in drawn.axes] == ["ER ↓", "Cov_0.2"]
    assert drawn.get_suptitle() == "Not drawn, since the systems' answers differ: AUROC ↑"


def test_one_test_needs_no_adjustment():
    assert "the same, since" in explain_columns(1, 0.95)[-1]
    assert "all 12 tests" in explain_columns(12, 0.95)[-1]
    assert not any("adjusted p" in line for line in explain_columns(0, 0.95))

"""Who beats whom: sentences, the matrix of wins, and what is left of the differences."""

import itertools
import math

import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.comparison.compare import Comparison, compare_systems
from ecuas_metric.metrics import Key
from ecuas_metric.reporting.differences import arranged, explanation, num_tests, write_differences
from ecuas_metric.reporting.grids import Grid
from ecuas_metric.reporting.overview import introduction, limits, overview
from ecuas_metric.reporting.summary import summary, winner, wins, wins_grid
from ecuas_metric.reporting.terminal import Screen

ALPHA = 0.05
ER, AUROC, COVERAGE = Key("error_rate"), Key("auroc"), Key("coverage", 0.2)


def row(first, second, key, difference, p=0.001, *, fair=True):
    return Comparison(first, second, key, difference, difference - 0.1, difference + 0.1, p, p, fair)


def rows_of(values, key=ER, p=0.001, **options):
    pairs = itertools.combinations(values, 2)
    return [row(a, b, key, values[a] - values[b], p(a, b) if callable(p) else p, **options) for a, b in pairs]


def said(values, key=ER, p=0.001, **options):
    of_system = {name: {key: value} for name, value in values.items()}
    return summary(rows_of(values, key, p, **options), of_system, alpha=ALPHA)


@pytest.mark.parametrize(
    ("key", "difference", "p", "fair", "expected"),
    [
        (ER, -0.1, 0.01, True, "a"),
        (ER, 0.1, 0.01, True, "b"),
        (AUROC, 0.1, 0.05, True, "a"),
        (AUROC, 0.1, 0.06, True, None),
        (AUROC, 0.1, 0.01, False, None),
        (AUROC, math.nan, math.nan, True, None),
        (ER, 0.0, 0.01, True, None),
        (COVERAGE, 0.1, 0.01, True, None),
    ],
)
def test_a_winner_is_better_significantly_and_fairly(key, difference, p, fair, expected):
    assert winner(row("a", "b", key, difference, p, fair=fair), ALPHA) == expected


def test_two_systems_have_one_sentence_a_metric():
    assert said({"a": 0.1, "b": 0.3}) == ["ER ↓  a is better: 0.100 against 0.300, significant (p = 0.001)."]
    (line,) = said({"a": 0.1, "b": 0.3}, AUROC, 0.4)
    assert line == "AUROC ↑  b has the better value, 0.300 against 0.100, but that may be chance (p = 0.400)."
    assert said({"a": 0.1, "b": 0.1}, p=1.0) == ["ER ↓  no difference: 0.100 each."]
    assert said({"a": 0.1, "b": math.nan}, AUROC, math.nan) == ["AUROC ↑  undefined for b."]


def test_of_many_systems_the_best_is_named_and_whom_it_does_not_beat():
    values = {"a": 0.3, "b": 0.1, "c": 0.2, "d": 0.4}
    assert said(values) == ["ER ↓  b is best (0.100), significantly better than all 3 others."]
    assert said(values, p=1.0) == ["ER ↓  b has the best value (0.100), but no two systems differ significantly."]
    (line,) = said(values, p=lambda *pair: 0.01 if set(pair) == {"c", "d"} else 0.2)
    assert line == "ER ↓  b has the best value (0.100), but is not significantly better than any other."
    (line,) = said(values, p=lambda *pair: 0.2 if set(pair) == {"b", "c"} else 0.01)
    assert line.endswith("significantly better than all others but c.")
    (line,) = said(values, p=lambda *pair: 0.01 if set(pair) == {"b", "d"} else 0.2)
    assert line.endswith("significantly better than 1 of 3 others, not than c, a.")


def test_what_must_not_be_ranked_has_no_winner():
    (line,) = said({"a": 0.1, "b": 0.3}, AUROC, fair=False)
    assert line.startswith("AUROC ↑†: no winner, since the systems' answers differ")
    assert said({"a": 0.1, "b": 0.3}, COVERAGE) == ["Cov_0.2: neither higher nor lower is better."]


def test_a_win_is_a_loss_of_another_and_the_best_come_first(rng):
    values = {f"a system of the name {i:02}": value for i, value in enumerate(rng.permutation(12) / 12)}
    rows = rows_of(values) + rows_of(values, AUROC, p=0.2) + rows_of(values, COVERAGE)
    won = wins(rows, ALPHA)
    assert sum(won.values()) == 66
    assert not any((loser, best) in won for best, loser in won)
    grid = wins_grid(rows, alpha=ALPHA)
    assert [line[0].text.lstrip().split(" ", 1)[1] for line in grid.rows] == sorted(values, key=values.get)
    assert [int(line[-2].text) - int(line[-1].text) for line in grid.rows] == list(range(11, -12, -2))
    assert grid.above[0].startswith("Wins: on how many of 2 metrics the row's")


def test_there_is_a_matrix_of_three_systems_or_more_by_metrics_that_rank():
    values = {"a": 0.1, "b": 0.2, "c": 0.3}
    grid = Grid(["system"], [], [], "signature")
    shown = overview(grid, rows_of(values), Screen(), alpha=ALPHA)
    assert "Wins: 1 where the row's system is significantly better than the column's; a dot means none." in shown
    for rows in (rows_of(values, AUROC, fair=False), rows_of({"a": 0.1, "b": 0.2})):
        assert "Wins" not in overview(grid, rows, Screen(), alpha=ALPHA)


def test_differences_are_sorted_and_chosen_within_their_metric():
    rows = [row("a", "b", ER, 0.1, 0.2), row("a", "b", AUROC, 0.3), row("a", "c", ER, -0.4), row("a", "c", AUROC, 0.2)]
    assert [r.key for r in arranged(rows)] == [ER, ER, AUROC, AUROC]
    assert [r.difference for r in arranged(rows, order="difference")] == [-0.4, 0.1, 0.3, 0.2]
    assert [r.p for r in arranged(rows, order="p")] == [0.001, 0.2, 0.001, 0.001]
    assert [r.difference for r in arranged(rows, significant_at=ALPHA)] == [-0.4, 0.3, 0.2]
    undefined = [row("a", "b", AUROC, math.nan, math.nan), row("a", "c", AUROC, 0.1)]
    assert [r.second for order in ("difference", "p") for r in arranged(undefined, order=order)] == list("cbcb")
    assert num_tests(undefined) == 1


def system(size=40, **options):
    rng = np.random.default_rng(0)
    options = {"confidence_level": 0.95, "n_resamples": 99} | options
    return confidence_system(np.arange(size) % 2, rng.random(size), **options)


def test_what_the_sample_makes_impossible_is_said():
    assert limits(system(), ALPHA) == []
    (line,) = limits(system(5), ALPHA)
    assert line.startswith("With 5 samples no p-value can be below 0.062, so nothing can be significant")
    (line,) = limits(system(groups=np.arange(40) // 10), ALPHA)
    assert line.startswith("With 4 groups no p-value can be below 0.12,")


def test_no_p_value_is_below_the_limit_that_is_said(rng):
    arrays = [(rng.random(4), [1, 1, 1, 0]), (rng.random(4), [0, 0, 0, 1])]
    options = {"confidence_level": 0.95, "n_resamples": 500, "n": 1}
    rows = compare_systems({str(i): confidence_system(c, p, **options) for i, (p, c) in enumerate(arrays)})
    assert min(r.p for r in rows) > 0.11  # 2 of 2^4 swaps


def test_the_introduction_says_what_is_compared():
    systems = {"a": system(), "b": system(n=(0, 1, 128))}
    rows = compare_systems(systems)
    lines = introduction(systems, rows, alpha=ALPHA)
    assert lines[0] == (
        "2 systems on 40 samples, paired by their rows: there is no column of ids. Significant: p (all tests) at most "
        "0.05."
    )
    assert all("no difference" in line for line in lines[2:-1])
    assert len(lines[2:-1]) == len(rows)
    with_ids = {name: one._replace(ids=[str(i) for i in range(40)]) for name, one in systems.items()}
    assert "paired by id." in introduction(with_ids, rows, alpha=ALPHA)[0]


def test_the_explanation_has_the_numbers_of_this_call():
    text = " ".join(explanation(system(confidence_level=0.9).options, tests=12, by_row=False))
    assert all(part in text for part in ("paired by id", "90% interval", "all 12 tests", "p <= 0.1 "))
    assert "paired by their rows" in explanation(system().options, tests=1, by_row=True)[0]


@pytest.mark.parametrize(("count", "fair"), [(2, True), (7, True), (7, False)])
def test_the_figure_has_a_panel_for_each_metric(count, fair, tmp_path):
    values = {f"system {i}": i / 10 for i in range(count)}
    rows = rows_of(values) + rows_of(values, AUROC, fair=fair) + rows_of(values, COVERAGE)
    paths = write_differences(rows, tmp_path, alpha=ALPHA)
    assert [path.name for path in paths] == ["differences.png", "differences.svg"]


def test_the_confidence_set_for_the_best_is_named_where_it_is_another():
    values = {"a": 0.1, "b": 0.2, "c": 0.3}
    of_system = {name: {ER: value} for name, value in values.items()}
    may_be_best = {"a": 0.9, "b": 0.2, "c": 0.01}
    rows = [
        one._replace(p_first_best=may_be_best[one.first], p_second_best=may_be_best[one.second])
        for one in rows_of(values)
    ]
    (line,) = summary(rows, of_system, alpha=ALPHA)
    assert line.endswith("both others. By this metric alone, at 95% confidence, the best is a or b.")
    same = [one._replace(p_adjusted=0.2) if (one.first, one.second) == ("a", "b") else one for one in rows]
    (line,) = summary(same, of_system, alpha=ALPHA)
    assert line.endswith("significantly better than all others but b.")

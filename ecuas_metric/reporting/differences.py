"""Comparisons, verdicts and plans -> what is shown of them: tables and a figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ..comparison.planning import LabelPlan
from ..comparison.rows import Comparison, list_fields
from ..comparison.verdict import Ranking, Verdict, make_ranking, rows_by_key
from ..inputs import grouped
from ..metric import Key
from ..options import LEVEL
from ..plotting.names import short_names
from .report import (
    DAGGER,
    DIGITS,
    NO_INTERVAL,
    digits_for,
    interval_text,
    legend_of,
    p_text,
    title,
)
from .tables import COLUMN_GAP, MIN_NAME, Cell, Grid, Record

if TYPE_CHECKING:
    from ..comparison.planning import Plan, Plans
    from ..plotting.figures import Panel

DIFFERENCE = "difference: first minus second; below 0, the first is better if lower is better (↓), else the second"
MAX_BARS = 15  # pairs in a panel of the figure; of more, those with the best system
MAX_ROWS = 60  # differences that are printed unless all are asked for
SCREEN = 80  # columns, where nothing says otherwise


CLEARLY, PERHAPS = "*", "~"  # marks of plain text
OF_A_PAIR = "intervals: each alone; adj. p: "
BOLD_MEANS = (
    "the best, and all that are not worse by more than chance: adjusted p above {alpha:g}, {tests}"
)


def is_significant(row: Comparison) -> bool:
    """Return whether a difference is more than chance."""
    return row.verdict in ("first", "second")


def verdict_grid(
    verdict: Verdict,
    keys: Sequence[Key],
    line: str,
    *,
    width: int | None,
    digits: int | None,
) -> Grid:
    """Lay a verdict out: of two systems a row per metric with their difference, of more a row per system.

    In files what may be best is bold; in plain text the best has `CLEARLY` behind it, or what may be `PERHAPS`.
    """
    rankings = {key: verdict.rankings[key] for key in keys}
    names = list(next(iter(rankings.values())).values)
    to_grid = _grid_of_two if len(names) == 2 else _grid_of_many
    header, rows = to_grid(verdict, rankings, width, digits)
    best = BOLD_MEANS.format(alpha=verdict.alpha, tests=_tests_together(verdict))
    return Grid(
        header,
        rows,
        _dagger(list(chain.from_iterable(ranking.rows for ranking in rankings.values()))),
        line,
        best=best,
        marks=_explain_marks(verdict, rows),
        legend=legend_of(keys),
        ruled=False,
    )


def _explain_marks(verdict: Verdict, rows: Iterable[Sequence[Cell]]) -> str:
    """Say in a line what the marks in the plain text of a verdict mean, and of how many tests."""
    tests = _tests_together(verdict)
    marks = {cell.mark for row in rows for cell in row if cell.is_best}
    if PERHAPS in marks:
        return f"{CLEARLY} clearly best  {PERHAPS} may be best  ({tests})"
    if CLEARLY in marks:
        is_pair = len(next(iter(verdict.rankings.values())).values) == 2
        how = f"better ({OF_A_PAIR}" if is_pair else "best  ("
        return f"{CLEARLY} clearly {how}{tests})" if verdict.num_tests > 1 else ""
    return f"{OF_A_PAIR}{tests}" if verdict.num_tests > 1 else ""


def _tests_together(verdict: Verdict) -> str:
    if verdict.num_tests == 1:
        return "one test"
    costs = len(verdict.strip)
    where = f", most at {costs} reject costs" if costs > len(verdict.rankings) else ""
    return f"{verdict.num_tests} tests together{where}"


def _marked(verdict: Verdict, ranking: Ranking, name: str, digits: int) -> Cell:
    """Return a value with the mark of a system that is the best, or may be."""
    # at a reject cost that is tested, rejecting everything is a choice too
    judged = verdict.ranking(ranking.key) or ranking
    is_best = name in judged.best
    is_one_of_two = len(ranking.values) == 2
    mark = CLEARLY if judged.winner else "" if is_one_of_two else PERHAPS
    return Cell(f"{ranking.values[name]:.{digits}f}", is_best, mark)


def _grid_of_two(
    verdict: Verdict, rankings: Mapping[Key, Ranking], width: int | None, digits: int | None
) -> tuple[list[str], list[list[Cell]]]:
    rows = []
    for ranking in rankings.values():
        (row,) = ranking.rows
        shown = digits_for(ranking.rows, digits)
        form = f"+.{shown}f"
        difference = "none" if math.isnan(row.difference) else f"{row.difference:{form}}"
        difference = f"{difference} {interval_text(row.low, row.high, form)}"
        rows.append(
            [
                Cell(_marked_title(row)),
                _marked(verdict, ranking, row.first, shown),
                _marked(verdict, ranking, row.second, shown),
                Cell(difference),
                Cell(p_text(row.p_adjusted, verdict.alpha, in_cell=True)),
            ]
        )
    (first, *_), *_ = (ranking.rows for ranking in rankings.values())
    level = f"difference [{100 * (1 - verdict.alpha):.10g}%]"
    p = "p" if verdict.num_tests == 1 else "adj. p"
    texts = [["metric", *(row[0].text for row in rows)], [level, *(row[3].text for row in rows)]]
    taken = sum(max(map(len, column)) for column in texts) + len("adj. p") + 4 * COLUMN_GAP
    names = _names_that_fit([first.first, first.second], (width or SCREEN) - taken)
    return ["metric", *names, level, p], rows


def _names_that_fit(names: Sequence[str], room: int) -> list[str]:
    """Return names in the header, as long as the room lets them be."""
    for longest in range(max(MIN_NAME, *map(len, names)), MIN_NAME - 1, -1):
        short = short_names(names, longest=longest)
        if sum(map(len, short.values())) <= room:
            break
    return list(short.values())


def _grid_of_many(
    verdict: Verdict, rankings: Mapping[Key, Ranking], width: int | None, digits: int | None
) -> tuple[list[str], list[list[Cell]]]:
    order = rankings.get(verdict.headline) if verdict.headline else None
    names = (order or next(iter(rankings.values()))).values
    rows = []
    for name in names:
        cells = [Cell(name)]
        for ranking in rankings.values():
            shown = digits_for(ranking.rows, digits)
            cells.append(_marked(verdict, ranking, name, shown))
        rows.append(cells)
    return ["system", *(_marked_title(ranking.rows[0]) for ranking in rankings.values())], rows


def comparison_grid(
    rows: Sequence[Comparison],
    line: str,
    *,
    level: float,
    tests: int,
    digits: int,
    above: Iterable[str] = (),
) -> Grid:
    """Lay differences out, metric by metric: one row per pair, † on those that must not be compared.

    p-values are adjusted for a number of tests; `line` is the signature.
    """
    form = f"+.{digits}f"
    alpha = round(1 - level, 12)
    cells = []
    for row in rows:
        texts = [_marked_title(row), row.first, row.second, f"{row.difference:{form}}"]
        texts.append(interval_text(row.low, row.high, form))
        texts.append(p_text(row.p, alpha, in_cell=True))
        texts.append(p_text(row.p_adjusted, alpha, in_cell=True))
        cells.append(list(map(Cell, texts)))
    interval = f"{100 * level:.10g}% interval"
    notes = explain_columns(rows, tests, level) + _dagger(rows)
    if any(math.isnan(row.low) for row in rows):
        notes.append(NO_INTERVAL)
    return Grid(
        ["metric", "first", "second", "difference", interval, "p", "adjusted p"],
        cells,
        notes,
        line,
        labels=3,
        above=list(above),
        grouped=True,
        legend=legend_of(row.key for row in rows),
    )


def _marked_title(row: Comparison | Plan) -> str:
    return title(row.key) if row.comparable else f"{title(row.key)}†"


def _dagger(rows: Iterable[Comparison | Plan]) -> list[str]:
    """Return what the mark of differences that must not be compared means, if there are any."""
    return [] if all(row.comparable for row in rows) else [DAGGER]


def within_grid(
    by_part: Mapping[str, Sequence[Comparison]],
    column: str,
    line: str,
    *,
    level: float,
    digits: int,
) -> tuple[Grid, list[Record]]:
    """Lay out the differences within each value of a column, metric by metric; also return them part by part."""
    pairs = [(row, part) for part, of_part in by_part.items() for row in of_part]
    by_key = grouped(pairs, lambda pair: pair[0].key)
    rows = list(chain.from_iterable(by_key.values()))
    differences = [row for row, _ in rows]
    tests = sum(row.family for row in differences)
    above = [f"Within each {column}; adjusted p holds for all {tests} tests of this table."]
    grid = comparison_grid(differences, line, level=level, tests=tests, digits=digits, above=above)
    grid.header.insert(1, column)
    for cells, (_, part) in zip(grid.rows, rows, strict=True):
        cells.insert(1, Cell(part))
    records: list[Record] = [{"within": part, **list_fields(row)} for row, part in pairs]
    return replace(grid, labels=grid.labels + 1, notes=[], legend=()), records


def explain_columns(
    rows: Iterable[Comparison],
    tests: int,
    level: float,
) -> list[str]:
    """Return one line on each column of numbers of a comparison; of intervals and p-values only if there are tests."""
    if not tests:
        return [DIFFERENCE]
    adjusted = f"for all {tests} tests together: judge by this one"
    if tests == 1:
        adjusted = "the same, since there is one test"
    return [
        DIFFERENCE,
        f"{100 * level:.10g}% interval: for this pair and metric alone; 0 lies outside where p, not adjusted, is "
        f"at most {1 - level:.2g}",
        f"adjusted p: {adjusted}; a large one does not mean that systems are equal (see ecuas plan)",
    ]


def plan_grid(
    plans: Plans,
    *,
    digits: int | None = None,
    signature: str = "",
) -> Grid:
    """Lay plans out: one row per metric."""
    digits = DIGITS if digits is None else digits
    rows = []
    for plan in plans:
        texts = [_marked_title(plan), f"{plan.difference:+.{digits}f}"]
        texts.append(f"{plan.deviation:.{digits}f}")
        texts.append("" if math.isnan(plan.detectable) else f"{plan.detectable:.{digits}f}")
        texts.append(_needed_text(plan))
        rows.append(list(map(Cell, texts)))
    reached = f"detectable with N = {plans[0].samples if plans else 0}"
    header = [
        "metric",
        "planned" if plans.planned else "difference",
        "deviation",
        reached,
        "N to find it",
    ]
    test = f"a two-sided test at the level {plans.alpha:g}, of one metric and one pair"
    above = f"For a power of {100 * plans.power:.10g}% in {test}:"
    notes = ["deviation: standard deviation of the paired difference of one sample"]
    if any(plan.needed_low for plan in plans):
        notes.append("in brackets: the 95% range of N, as far as the pilot knows the deviation")
    notes += _dagger(plans)
    return Grid(
        header, rows, notes, signature, above=[above], legend=legend_of(plan.key for plan in plans)
    )


def _needed_text(plan: Plan) -> str:
    if plan.needed is None:
        return ""
    if plan.needed_low is None:
        return str(plan.needed)
    return f"{plan.needed} [{plan.needed_low}, {plan.needed_high}]"


def label_grid(
    plans: Mapping[str, Sequence[LabelPlan]],
    *,
    digits: int | None,
    signature: str,
) -> Grid:
    """Lay out how far intervals reach with so many labels: one row per system and metric."""
    every = list(chain.from_iterable(plans.values()))
    labels = sorted({plan.labels for plan in every})
    shown = DIGITS if digits is None else digits
    rows = []
    for name, of_system in plans.items():
        for key, of_key in grouped(of_system, lambda plan: plan.key).items():
            reach = {plan.labels: f"{plan.half_width:.{shown}f}" for plan in of_key}
            reaches = [reach.get(count, "") for count in labels]
            rows.append(list(map(Cell, [name, title(key), *reaches])))
    header = ["system", "metric", *(f"± with {count:,} labels" for count in labels)]
    keys = dict.fromkeys(plan.key for plan in every)
    above = [
        f"How far {100 * LEVEL:.10g}% intervals reach with the labels of people, and about with more:"
    ]
    legend = legend_of(keys)
    return Grid(header, rows, [], signature, labels=2, above=above, grouped=True, legend=legend)


def write_differences(
    rows: Sequence[Comparison], folder: str | Path, *, alpha: float
) -> list[Path]:
    """Draw the tested differences of all pairs with their simultaneous intervals into a folder, as PNG and SVG."""
    from ..plotting.figures import forest_figure, save

    by_key = rows_by_key([row for row in rows if row.family] or rows)
    ranking = {key: pairs for key, pairs in by_key.items() if not _dagger(pairs)} or by_key
    left_out = ", ".join(title(key) for key in by_key if key not in ranking)
    caption = f"Not drawn, since the systems' answers differ: {left_out}" if left_out else ""
    panels = list(map(_panel, ranking.values()))
    figure = forest_figure(panels, level=1 - alpha, caption=caption)
    return save(figure, Path(folder) / "differences")


def _panel(rows: Sequence[Comparison]) -> Panel:
    """Return all differences of a metric; where pairs are many, those of the other systems from the best."""
    from ..plotting.figures import Bar, Panel

    ranking = make_ranking(rows)
    names = short_names(ranking.values)
    if len(rows) <= MAX_BARS:
        labels = [f"{names[row.first]} - {names[row.second]}" for row in rows]
        xlabel = _directions(rows[0].key)
    else:
        best, *others = ranking.values
        rows = [ranking.row(name, best) for name in others]
        rows.sort(key=lambda row: abs(row.difference))
        labels = [names[row.first] for row in rows]
        xlabel = f"difference from {names[best]}"
    bars = [
        Bar(name, row.difference, row.low_all, row.high_all, is_significant(row))
        for name, row in zip(labels, rows, strict=True)
    ]
    return Panel(title(rows[0].key), xlabel, bars)


def _directions(key: Key) -> str:
    """Say on which side of 0 which system is better."""
    if key.entry.higher_is_better is None:
        return "first - second"
    left, right = ("second", "first") if key.entry.higher_is_better else ("first", "second")
    return f"← {left} is better      first - second      {right} is better →"

"""Comparisons and plans -> what is shown of them: who beats whom in a sentence, tables, a figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ..comparison.compare import Comparison, fields_of
from ..inputs import grouped
from ..metric import Key
from ..plotting.names import short_names
from .report import (
    DAGGER,
    DIGITS,
    NO_INTERVAL,
    SAME,
    Systems,
    digits_for,
    few_of,
    interval_text,
    legend_of,
    p_text,
    texts_apart,
    title,
)
from .tables import Cell, Grid, Record, to_text, wrapped

if TYPE_CHECKING:
    from ..comparison.planning import Plan
    from ..plotting.figures import Panel

DIFFERENCE = "difference: first minus second; below 0, the first is better if lower is better (↓), else the second"
WHY_UNTESTED = {  # by the ids of the notes
    "biased": ", since the metric is biased",
    "decided_by_fit": ", since the fit of a recalibration decides what is accepted",
    "too_few_units": ", since there are too few answers or groups",
}
MAX_BARS = 15  # pairs in a panel of the figure; of more, those with the best system
MAX_ROWS = 60  # differences that are printed unless all are asked for


def is_significant(row: Comparison, alpha: float) -> bool:
    """Return whether a difference is more than chance: whether its adjusted p-value is at most alpha."""
    return row.p_adjusted <= alpha


def pairs_by_key(rows: Iterable[Comparison]) -> dict[Key, list[Comparison]]:
    """Return the comparisons of each metric."""
    return grouped(rows, lambda row: row.key)


def ranking_of(rows: Sequence[Comparison]) -> dict[str, float]:
    """Return the value of each system in the comparisons of a metric, the best first if the metric has a direction."""
    values: dict[str, float] = {}
    for row in rows:
        values[row.first] = row.first_value
        values[row.second] = row.second_value
    better = rows[0].key.entry.higher_is_better
    if better is None:
        return values
    return dict(sorted(values.items(), key=lambda item: item[1], reverse=better))


# ---- who beats whom ------------------------------------------------------------------------------------------------


def winner(row: Comparison, alpha: float) -> str | None:
    """Return the system that is significantly better; None if neither is, or they must not be ranked."""
    better = row.key.entry.higher_is_better
    if better is None or not row.comparable or not row.difference or not is_significant(row, alpha):
        return None
    return row.first if (row.difference > 0) == better else row.second


def summary(
    rows: Sequence[Comparison],
    *,
    alpha: float,
    digits: int | None = None,
) -> list[str]:
    """Return one line per metric: which system is best, and which of the others it beats significantly."""
    verdicts = {}
    unequal = []
    undirected = []
    for key, pairs in pairs_by_key(rows).items():
        if _dagger(pairs):
            unequal.append(_marked_title(pairs[0]))
        elif key.entry.higher_is_better is None:
            undirected.append(title(key))
        else:
            verdicts[title(key)] = verdict(pairs, alpha, digits)
    width = max(map(len, verdicts), default=0)
    lines = [f"{name:{width}}  {sentence}" for name, sentence in verdicts.items()]
    if unequal:
        lines.append(
            f"{', '.join(unequal)}: no winner, since the systems' answers differ (see † below)."
        )
    if undirected:
        lines.append(f"{', '.join(undirected)}: neither high nor low is better by itself.")
    return lines


def verdict(
    rows: Sequence[Comparison],
    alpha: float,
    digits: int | None = None,
) -> str:
    """Say who is best by one metric that ranks, of the rows of all pairs, and whom it beats significantly."""
    if digits is None:
        digits = digits_for(rows)
    values = ranking_of(rows)
    undefined = [name for name, value in values.items() if math.isnan(value)]
    if undefined:
        return f"it is undefined for {few_of(undefined)}."
    if not any(row.difference for row in rows):
        return f"all are equal: {max(values.values()):.{digits}f} each."
    return _verdict_of_ranking(rows, values, alpha, digits)


def _verdict_of_ranking(
    rows: Sequence[Comparison],
    values: Mapping[str, float],
    alpha: float,
    digits: int,
) -> str:
    """Say whom the best of systems that differ beats significantly."""
    best, second, *_ = values
    if abs(values[best] - values[second]) <= SAME:
        return _verdict_of_equals(rows, values, alpha, digits)
    rivals = _rows_of_rivals(rows, best)
    unbeaten = _unbeaten(rivals, best, values, alpha)
    whose = f" for {second}" if len(values) > 2 else ""
    texts = texts_apart([values[best], values[second]], digits)
    numbers = f"{' against '.join(texts)}{whose}"
    untested = [row.untested for row in rivals.values() if math.isnan(row.p_adjusted)]
    if untested:
        because = WHY_UNTESTED.get(untested[0] or "", "")
        return f"{best} has the best value: {numbers}; no valid test of it is known{because}."
    p = p_text(rivals[second].p_adjusted, alpha)
    beaten = [name for name in values if name in rivals and name not in unbeaten]
    return f"{best} {_how_surely(unbeaten, beaten)}: {numbers} (adjusted {p})."


def _verdict_of_equals(
    rows: Sequence[Comparison],
    values: Mapping[str, float],
    alpha: float,
    digits: int,
) -> str:
    """Say which systems have the best value, and whether all of them beat all others significantly."""
    best = next(iter(values.values()))
    leaders = [name for name, value in values.items() if abs(value - best) <= SAME]
    others = [name for name in values if name not in leaders]
    unbeaten = [_unbeaten(_rows_of_rivals(rows, name), name, others, alpha) for name in leaders]
    how = ", significantly better than all others" if others and not any(unbeaten) else ""
    return f"{few_of(leaders)} have the best value{how}: {best:.{digits}f} each."


def _unbeaten(
    rivals: Mapping[str, Comparison], best: str, names: Iterable[str], alpha: float
) -> list[str]:
    """Return which of these systems another one does not beat significantly, of its comparisons with them."""
    return [name for name in names if name in rivals and winner(rivals[name], alpha) != best]


def _rows_of_rivals(
    rows: Iterable[Comparison],
    best: str,
) -> dict[str, Comparison]:
    """Return the comparison of each other system with the best."""
    rivals = {}
    for row in rows:
        if best in (row.first, row.second):
            rivals[row.second if row.first == best else row.first] = row
    return rivals


def _how_surely(unbeaten: Sequence[str], beaten: Sequence[str]) -> str:
    """Say how sure the lead over other systems is, of which only some are beaten significantly."""
    if not unbeaten:
        return "is best, significantly"
    if not beaten:
        return "has the best value, which may be due to chance"
    if len(beaten) < len(unbeaten):
        return f"has the best value, but is significantly better only than {few_of(beaten)}"
    return f"is best, significantly better than all but {few_of(unbeaten)}"


def introduction(
    systems: Systems,
    rows: Sequence[Comparison],
    *,
    alpha: float,
    digits: int,
    by_position: bool,
) -> list[str]:
    """Return the lines above the differences: what is compared, what cannot be found, and the summary."""
    first = next(iter(systems.values()))
    paired = "id" if first.ids is not None else "their rows"
    if first.ids is None and not by_position:
        paired += ": there is no column of ids"
    subject = f"{len(systems)} systems on {first.num_samples} samples, paired by {paired}."
    lines = summary(rows, alpha=alpha, digits=digits)
    return [f"{subject} Significant: adjusted p at most {alpha:g}.", "", *lines, ""]


def overview(
    grid: Grid,
    rows: Sequence[Comparison],
    width: int | None,
    *,
    alpha: float,
) -> str:
    """Return the text of a comparison, without its differences if there are none or too many."""
    if 0 < len(grid.rows) <= MAX_ROWS:
        return to_text(grid, width)
    lines = list(grid.above)
    if grid.rows:
        significant = sum(is_significant(row, alpha) for row in rows)
        lines.append(
            f"The {len(grid.rows)} differences, {significant} of them significant, are not shown. --only significant "
            "or --metrics shows some of them; --output FILE writes all, --figures DIR draws them."
        )
    lines += ["", *_dagger(rows), *grid.hints, grid.signature]
    return "\n".join(wrapped(lines, width)) + "\n"


# ---- tables and a figure ---------------------------------------------------------------------------------------------


def comparison_grid(
    rows: Sequence[Comparison],
    line: str,
    *,
    level: float,
    tests: int,
    digits: int = 3,
    above: Iterable[str] = (),
    hints: Sequence[str] = (),
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
        hints=hints,
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
    digits: int = 3,
) -> tuple[Grid, list[Record]]:
    """Lay out the differences within each value of a column, metric by metric; also return them part by part."""
    pairs = [(row, part) for part, of_part in by_part.items() for row in of_part]
    by_key = grouped(pairs, lambda pair: pair[0].key)
    rows = list(chain.from_iterable(by_key.values()))
    differences = [row for row, _ in rows]
    tests = num_tests(differences)
    above = [f"Within each {column}; adjusted p holds for all {tests} tests of this table."]
    grid = comparison_grid(differences, line, level=level, tests=tests, digits=digits, above=above)
    grid.header.insert(1, column)
    for cells, (_, part) in zip(grid.rows, rows, strict=True):
        cells.insert(1, Cell(part))
    records: list[Record] = [{"within": part, **fields_of(row)} for row, part in pairs]
    return replace(grid, labels=grid.labels + 1, notes=[], legend=()), records


def explain_columns(
    rows: Iterable[Comparison],
    tests: int,
    level: float,
) -> list[str]:
    """Return one line on each column of numbers of a comparison; of intervals and p-values only if there are tests."""
    if not tests:
        return [DIFFERENCE]
    where = " where there is no †" if _dagger(rows) else ""
    adjusted = f"for all {tests} tests of this table: judge by this one{where}"
    if tests == 1:
        adjusted = "the same, since there is one test"
    return [
        DIFFERENCE,
        f"{100 * level:.10g}% interval: for this pair and metric alone; 0 lies outside where p, not adjusted, is "
        f"at most {1 - level:.2g}",
        f"adjusted p: {adjusted}; a large one does not mean that systems are equal (see ecuas plan)",
    ]


def num_tests(rows: Iterable[Comparison]) -> int:
    """Return how many tests there were: a metric without a value has none."""
    return sum(not math.isnan(row.p) for row in rows)


def plan_grid(
    plans: Sequence[Plan],
    *,
    planned: bool,
    power: float,
    alpha: float,
    digits: int | None = None,
    signature: str = "",
) -> Grid:
    """Lay plans out: one row per metric; `planned` if their difference was asked for."""
    digits = DIGITS if digits is None else digits
    rows = []
    for plan in plans:
        texts = [_marked_title(plan), f"{plan.difference:+.{digits}f}"]
        texts.append(f"{plan.deviation:.{digits}f}")
        texts.append("" if math.isnan(plan.detectable) else f"{plan.detectable:.{digits}f}")
        texts.append("" if plan.needed is None else str(plan.needed))
        rows.append(list(map(Cell, texts)))
    reached = f"detectable with N = {plans[0].samples if plans else 0}"
    header = [
        "metric",
        "planned" if planned else "difference",
        "deviation",
        reached,
        "N to find it",
    ]
    test = f"a two-sided test at the level {alpha:g}, of one metric and one pair"
    above = f"For a power of {100 * power:.10g}% in {test}:"
    notes = ["deviation: standard deviation of the paired difference of one sample"]
    notes += _dagger(plans)
    return Grid(
        header, rows, notes, signature, above=[above], legend=legend_of(plan.key for plan in plans)
    )


def write_differences(
    rows: Sequence[Comparison], folder: str | Path, *, alpha: float
) -> list[Path]:
    """Draw the differences of all pairs with their simultaneous intervals into a folder, as PNG and SVG."""
    from ..plotting.figures import forest_figure, save

    by_key = pairs_by_key(rows)
    unequal = [key for key, pairs in by_key.items() if _dagger(pairs)]
    drawn = [key for key in by_key if key not in unequal] or unequal
    caption = ""
    if unequal and drawn != unequal:
        caption = f"Not drawn, since the systems' answers differ: {', '.join(map(title, unequal))}"
    panels = [_panel(by_key[key]) for key in drawn]
    figure = forest_figure(panels, level=1 - alpha, caption=caption)
    return save(figure, Path(folder) / "differences")


def _panel(rows: Sequence[Comparison]) -> Panel:
    """Return all differences of a metric; where pairs are many, those of the other systems from the best."""
    from ..plotting.figures import Bar, Panel

    ranking = ranking_of(rows)
    names = short_names(ranking)
    if len(rows) <= MAX_BARS:
        labels = [f"{names[row.first]} - {names[row.second]}" for row in rows]
        xlabel = _directions(rows[0].key)
    else:
        best = next(iter(ranking))
        rows = [
            row if row.second == best else row.turned()
            for row in _rows_of_rivals(rows, best).values()
        ]
        rows.sort(key=lambda row: abs(row.difference))
        labels = [names[row.first] for row in rows]
        xlabel = f"difference from {names[best]}"
    bars = [
        Bar(name, row.difference, row.low_all, row.high_all)
        for name, row in zip(labels, rows, strict=True)
    ]
    return Panel(title(rows[0].key), xlabel, bars)


def _directions(key: Key) -> str:
    """Say on which side of 0 which system is better."""
    if key.entry.higher_is_better is None:
        return "first - second"
    left, right = ("second", "first") if key.entry.higher_is_better else ("first", "second")
    return f"← {left} is better      first - second      {right} is better →"

"""Comparisons -> what is shown of them: chosen and sorted, as a table, as records, and in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..comparison.compare import UNFAIR, Comparison
from ..metrics import METRICS, Key
from ..options import Options
from .grids import Cell, Grid, Record
from .report import NO_INTERVAL, interval_text, title
from .summary import is_significant

if TYPE_CHECKING:
    from ..plotting.forest import Panel

ORDERS = ("systems", "difference", "p")
MAX_BARS = 15  # pairs in a panel of the figure; of more, those with the best system
MAX_ROWS = 60  # differences that are printed unless all are asked for


def arranged(
    rows: Sequence[Comparison], *, order: str = "systems", significant_at: float | None = None
) -> list[Comparison]:
    """Return comparisons metric by metric, in the order in which these come, and sorted within each.

    Parameters
    ----------
    rows : sequence of Comparison
    order : {"systems", "difference", "p"}
        As the systems were given, the largest difference first, or the least adjusted p-value first.
    significant_at : float, optional
        Leave out those whose adjusted p-value is larger.

    Returns
    -------
    list of Comparison
    """
    kept = [row for row in rows if significant_at is None or is_significant(row, significant_at)]
    if order == "difference":
        kept.sort(key=lambda row: -abs(row.difference) if row.difference == row.difference else math.inf)
    elif order == "p":
        kept.sort(key=lambda row: row.p_adjusted if row.p_adjusted == row.p_adjusted else math.inf)
    metrics = list(dict.fromkeys(row.key for row in rows))
    return sorted(kept, key=lambda row: metrics.index(row.key))


def comparison_grid(
    rows: Sequence[Comparison], line: str, *, options: Options, tests: int, digits: int = 3, above: Iterable[str] = ()
) -> Grid:
    """Lay comparisons out: one row per metric and pair, † on those that must not be compared.

    Parameters
    ----------
    rows : sequence of Comparison
        Metric by metric.
    line : str
        The signature.
    options : Options
        With the level of the intervals and the number of swaps.
    tests : int
        How many the p-values are corrected for.
    digits : int
        After the point.
    above : iterable of str
        To be shown before the table.

    Returns
    -------
    Grid
    """
    level = options.confidence_level or 0.0
    header = ["metric", "first", "second", "difference", f"{level:.0%} interval", "p (swap)", "p (all tests)"]
    cells = [
        [
            *(Cell(text) for text in (title(row.key) + ("" if row.fair else "†"), row.first, row.second)),
            Cell(f"{row.difference:+.{digits}f}"),
            Cell(interval_text(row.low, row.high, f"+.{digits}f")),
            *(Cell(_p(value)) for value in (row.p, row.p_adjusted)),
        ]
        for row in rows
    ]
    unfair = [] if all(row.fair for row in rows) else [f"† {UNFAIR}"]
    bare = [NO_INTERVAL] if any(math.isnan(row.low) for row in rows) else []
    return Grid(header, cells, [*legend(tests), *unfair, *bare], line, labels=3, above=list(above), grouped=True)


def legend(tests: int) -> list[str]:
    """Return one line on each column of numbers that does not explain itself."""
    return [
        "difference: first minus second; below 0, the first is better if lower is better (↓), else the second",
        "p (swap): how often so large a difference comes about if the two systems' outputs are swapped at random",
        f"p (all tests): the same, corrected for all {tests} tests made here; go by this one",
    ]


def explanation(options: Options, *, tests: int, by_row: bool) -> list[str]:
    """Return how the numbers of a comparison came about and what they do not say, in sentences.

    Parameters
    ----------
    options : Options
        With the level of the intervals.
    tests : int
        How many the p-values are corrected for.
    by_row : bool
        Whether the samples were paired by their rows, not by ids.

    Returns
    -------
    list of str
    """
    level = options.confidence_level or 0.0
    return [
        f"Every system is compared with every other on the same samples, paired by {'their rows' if by_row else 'id'}.",
        "A difference is the metric of the first system minus that of the second. ↓: lower is better, so that a "
        "negative difference favours the first. ↑: higher is better, so that a positive one does.",
        f"The {level:.0%} interval shows how large the true difference may be, for one pair and one metric "
        "alone. There is none where no valid interval is known.",
        "p (swap) comes from a randomisation test: if the two systems were equally good, it would not matter which "
        "gave which output. So their outputs are swapped on a random half of the samples, again and again, and p is "
        "the share of swaps after which they differ at least as much as observed. More --resamples make it finer.",
        f"p (all tests) is corrected for all {tests} tests of this call (Westfall and Young's step-down method, which "
        "takes into account how they are correlated): if no systems differed, the probability of any false alarm "
        f"at p <= {1 - level:.2g} would be {1 - level:.2g}. Fewer --metrics and systems make fewer tests.",
        "If that is a different set of systems, a line also names those that may be the best by its metric alone: in "
        f"{level:.0%} of such comparisons the true best one is among them.",
        "An interval may exclude 0 even if p (all tests) is not small: the interval is for one difference alone.",
        "Not significant does not mean equal: there may just be too few samples. The interval shows what is possible.",
    ]


def num_tests(rows: Iterable[Comparison]) -> int:
    """Return how many tests there were: a metric without a value has none."""
    return sum(not math.isnan(row.p) for row in rows)


def write_differences(rows: Sequence[Comparison], folder: str | Path, *, alpha: float) -> list[Path]:
    """Draw the differences with their intervals into a folder, as PNG and SVG.

    Parameters
    ----------
    rows : sequence of Comparison
        Of all pairs.
    folder : path
        Created if it does not exist.
    alpha : float
        See `summary.winner`.

    Returns
    -------
    list of Path

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    from ..plotting.forest import forest_figure
    from ..plotting.panels import save

    rows = arranged(rows)
    unfair = dict.fromkeys(row.key for row in rows if not row.fair)
    drawn = [key for key in dict.fromkeys(row.key for row in rows) if key not in unfair] or list(unfair)
    left_out = [] if drawn == list(unfair) else [title(key) for key in unfair]
    caption = f"Not drawn, since the systems' answers differ: {', '.join(left_out)}" if left_out else ""
    panels = [_panel([row for row in rows if row.key == key], alpha) for key in drawn]
    return save(forest_figure(panels, alpha=alpha, caption=caption), Path(folder) / "differences")


def _panel(rows: Sequence[Comparison], alpha: float) -> Panel:
    """Return all differences of a metric; where pairs are many, those of the other systems from the best."""
    from ..plotting.forest import Bar, Panel
    from ..plotting.names import short_names

    names = short_names([name for row in rows for name in (row.first, row.second)])
    if len(rows) <= MAX_BARS:
        bars = [Bar(f"{names[row.first]} - {names[row.second]}", *row[3:6], is_significant(row, alpha)) for row in rows]
        return Panel(title(rows[0].key), _sides(rows[0].key), bars)
    reference, what = _reference(rows)
    others = [row if row.second == reference else _turned(row) for row in rows if reference in (row.first, row.second)]
    others.sort(key=lambda row: abs(row.difference))
    bars = [Bar(names[row.first], *row[3:6], is_significant(row, alpha)) for row in others]
    return Panel(title(rows[0].key), f"difference from {names[reference]}{what}", bars)


def _sides(key: Key) -> str:
    better = METRICS[key.metric].higher_is_better
    sides = {True: ("second", "first"), False: ("first", "second")}
    if better is None:
        return "first - second"
    left, right = sides[better]
    return f"← {left} is better      first - second      {right} is better →"


def _reference(rows: Sequence[Comparison]) -> tuple[str, str]:
    """Return the best system, or the first where none is, and what it is."""
    better = METRICS[rows[0].key.metric].higher_is_better
    totals: dict[str, float] = {}
    for row in rows:
        totals[row.first] = totals.get(row.first, 0.0) + row.difference
        totals[row.second] = totals.get(row.second, 0.0) - row.difference
    if better is None or not all(row.fair for row in rows) or any(math.isnan(total) for total in totals.values()):
        return rows[0].first, ""
    return (max if better else min)(totals, key=lambda name: totals[name]), ", the best"


def _turned(row: Comparison) -> Comparison:
    return row._replace(first=row.second, second=row.first, difference=-row.difference, low=-row.high, high=-row.low)


def comparison_records(rows: Iterable[Comparison]) -> list[Record]:
    """Return one dict per pair and metric.

    Parameters
    ----------
    rows : iterable of Comparison

    Returns
    -------
    list of Record
        The fields of `Comparison`, the key as text.
    """
    return [{**row._asdict(), "key": str(row.key)} for row in rows]


def _p(value: float) -> str:
    return "" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"

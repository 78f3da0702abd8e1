"""The table of a plan of a comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..comparison.planning import ALPHA, POWER, Plan
from .grids import Cell, Grid, Record
from .report import title


def plan_grid(
    plans: Iterable[Plan],
    *,
    planned: bool = False,
    power: float = POWER,
    alpha: float = ALPHA,
    digits: int = 3,
    signature: str = "",
) -> Grid:
    """Lay plans out: one row per metric.

    Parameters
    ----------
    plans : iterable of Plan
    planned : bool
        Whether their difference was asked for.
    power, alpha : float
        For the line above.
    digits : int
        After the point.
    signature : str

    Returns
    -------
    Grid
    """
    plans = list(plans)
    samples = plans[0].samples if plans else 0
    header = [
        "metric",
        "planned" if planned else "difference",
        "deviation",
        f"detectable with N = {samples}",
        "N to find it",
    ]
    rows = [
        [
            Cell(title(plan.key)),
            Cell(f"{plan.difference:+.{digits}f}"),
            Cell(f"{plan.deviation:.{digits}f}"),
            Cell("" if math.isnan(plan.detectable) else f"{plan.detectable:.{digits}f}"),
            Cell("" if plan.needed is None else f"{plan.needed}"),
        ]
        for plan in plans
    ]
    above = f"For a power of {power:.0%} in a two-sided test at the level {alpha:g}, of one metric and one pair:"
    return Grid(header, rows, [], signature, above=[above])


def plan_records(plans: Iterable[Plan]) -> list[Record]:
    """Return one dict per metric, the key as text."""
    return [{**plan._asdict(), "key": str(plan.key)} for plan in plans]

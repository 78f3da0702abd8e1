"""Differences of systems -> who beats whom on what, and how surely: sentences and a matrix of wins."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..comparison.compare import Comparison
from ..metrics import METRICS, Key
from ..plotting.names import short_names
from .explanation import best_systems
from .grids import Cell, Grid
from .report import title

MAX_NAMES = 4  # systems listed in a sentence
Values = Mapping[str, Mapping[Key, float]]
Found = Mapping[str, tuple[float, str]]  # the value of each system, and how it is shown
Name = Callable[[str], str]


def is_significant(row: Comparison, alpha: float) -> bool:
    """Return whether a difference is more than chance, after the correction for all tests."""
    return row.p_adjusted <= alpha


def winner(row: Comparison, alpha: float) -> str | None:
    """Return the system that is better by more than chance; None if neither is, or they must not be ranked.

    Parameters
    ----------
    row : Comparison
    alpha : float
        The chance of a false alarm that is accepted, over all tests.

    Returns
    -------
    str or None

    Examples
    --------
    >>> row = Comparison("a", "b", Key("auroc"), 0.2, 0.1, 0.3, 0.001, 0.004, fair=True)
    >>> winner(row, 0.05), winner(row._replace(key=Key("ece")), 0.05), winner(row, 0.001)
    ('a', 'b', None)
    """
    better = METRICS[row.key.metric].higher_is_better
    if better is None or not row.fair or not row.difference or not is_significant(row, alpha):
        return None
    return row.first if (row.difference > 0) == better else row.second


def summary(
    rows: Sequence[Comparison], values: Values, *, alpha: float, digits: int = 3, name: Name = str
) -> list[str]:
    """Return one line per metric: which system is best, and which of the others it beats by more than chance.

    Parameters
    ----------
    rows : sequence of Comparison
    values : mapping of system to a mapping of Key to float
        The metrics themselves, in the order of the systems.
    alpha : float
        See `winner`.
    digits : int
        After the point.
    name : callable
        What a system is called.

    Returns
    -------
    list of str

    Examples
    --------
    >>> rows = [Comparison("a", "b", Key("error_rate"), -0.2, -0.3, -0.1, 0.001, 0.004, fair=True)]
    >>> summary(rows, {"a": {Key("error_rate"): 0.1}, "b": {Key("error_rate"): 0.3}}, alpha=0.05)
    ['ER ↓  a is better: 0.100 against 0.300, significant (p = 0.004).']
    """
    keys = list(dict.fromkeys(row.key for row in rows))
    unfair = {row.key for row in rows if not row.fair}
    ranked = [key for key in keys if key not in unfair and METRICS[key.metric].higher_is_better is not None]
    width = max(map(len, map(title, ranked)), default=0)
    sets = best_systems(rows, level=1 - alpha)
    lines: list[str] = []
    for key in ranked:
        of_key = [row for row in rows if row.key == key]
        found = {system: (of_system[key], f"{of_system[key]:.{digits}f}") for system, of_system in values.items()}
        lines.append(f"{title(key):{width}}  {_of_metric(key, of_key, found, sets.get(key, []), alpha, name)}")
    if unfair:
        named = ", ".join(f"{title(key)}†" for key in keys if key in unfair)
        lines.append(f"{named}: no winner, since the systems' answers differ (see † below).")
    neither = [title(key) for key in keys if key not in unfair and METRICS[key.metric].higher_is_better is None]
    return lines + ([f"{', '.join(neither)}: neither higher nor lower is better."] if neither else [])


def ranking_metrics(rows: Iterable[Comparison]) -> list[Key]:
    """Return the metrics by which at least two of the systems may be ranked."""
    fair = (row.key for row in rows if METRICS[row.key.metric].higher_is_better is not None and row.fair)
    return list(dict.fromkeys(fair))


def wins(rows: Iterable[Comparison], alpha: float) -> dict[tuple[str, str], int]:
    """Return on how many metrics one system beats another, by winner and loser.

    Parameters
    ----------
    rows : iterable of Comparison
    alpha : float
        See `winner`.

    Returns
    -------
    dict of (str, str) to int
    """
    won = [(row, winner(row, alpha)) for row in rows]
    return Counter((name, row.second if name == row.first else row.first) for row, name in won if name is not None)


def wins_grid(rows: Sequence[Comparison], *, alpha: float) -> Grid:
    """Lay out who beats whom: in each cell on how many metrics the row's system beats the column's; best first.

    Parameters
    ----------
    rows : sequence of Comparison
    alpha : float
        See `winner`.

    Returns
    -------
    Grid

    Examples
    --------
    >>> rows = [Comparison("a", "b", Key("error_rate"), 0.2, 0.1, 0.3, 0.001, 0.004, fair=True)]
    >>> [[cell.text for cell in row] for row in wins_grid(rows, alpha=0.05).rows]
    [['1 b', '', '1', '1', '0'], ['2 a', '.', '', '0', '1']]
    """
    names = list(dict.fromkeys(name for row in rows for name in (row.first, row.second)))
    won, short = wins(rows, alpha), short_names(names)
    plus = {name: sum(won.get((name, other), 0) for other in names) for name in names}
    minus = {name: sum(won.get((other, name), 0) for other in names) for name in names}
    names.sort(key=lambda name: (minus[name] - plus[name], -plus[name]))
    numbers = [str(i) for i in range(1, len(names) + 1)]
    cells = [
        [
            f"{number:>{len(numbers[-1])}} {short[one]}",
            *("" if one == other else str(won.get((one, other), 0) or ".") for other in names),
            str(plus[one]),
            str(minus[one]),
        ]
        for number, one in zip(numbers, names, strict=True)
    ]
    ranking = ranking_metrics(rows)
    without = "" if all(row.fair for row in rows) else " without †"
    what = f"on how many of {len(ranking)} metrics{without}" if len(ranking) > 1 else "1 where"
    above = [f"Wins: {what} the row's system is significantly better than the column's; a dot means none."]
    header = ["system", *numbers, "wins", "losses"]
    return Grid(header, [[Cell(text) for text in row] for row in cells], [], "", above=above)


def _of_metric(
    key: Key, rows: Sequence[Comparison], found: Found, may_be_best: Sequence[str], alpha: float, name: Name
) -> str:
    undefined = [system for system, (value, _) in found.items() if math.isnan(value)]
    if undefined:
        return f"undefined for {_listed(undefined, name)}."
    sign = -1 if METRICS[key.metric].higher_is_better else 1
    best, *others = sorted(found, key=lambda system: sign * found[system][0])
    pairs = {frozenset((row.first, row.second)): row for row in rows}
    if len(others) == 1:
        return _of_two(best, others[0], found, pairs[frozenset(found)], alpha, name)
    tied = [other for other in others if winner(pairs[frozenset((best, other))], alpha) != best]
    is_same = not may_be_best or set(may_be_best) == {best, *tied}
    return _of_many(best, tied, rows, found, alpha, name) + ("" if is_same else _of_best(may_be_best, alpha, name))


def _of_many(best: str, tied: Sequence[str], rows: Sequence[Comparison], found: Found, alpha: float, name: Name) -> str:
    num_others = len(found) - 1
    first = f"{name(best)} is best ({found[best][1]})"
    if not tied:
        return f"{first}, significantly better than {'both' if num_others == 2 else f'all {num_others}'} others."
    if len(tied) == num_others:
        first = f"{name(best)} has the best value ({found[best][1]})"
        if any(winner(row, alpha) for row in rows):
            return f"{first}, but is not significantly better than any other."
        return f"{first}, but no two systems differ significantly."
    if len(tied) <= min(MAX_NAMES, num_others - len(tied)):
        return f"{first}, significantly better than all others but {_listed(tied, name)}."
    beaten = num_others - len(tied)
    return f"{first}, significantly better than {beaten} of {num_others} others, not than {_listed(tied, name)}."


def _of_best(names: Sequence[str], alpha: float, name: Name) -> str:
    """Say which systems may be the best."""
    known = " or ".join(map(name, names)) if len(names) <= MAX_NAMES else f"one of {_listed(names, name)}"
    return f" By this metric alone, at {1 - alpha:.0%} confidence, the best is {known}."


def _of_two(best: str, other: str, found: Found, row: Comparison, alpha: float, name: Name) -> str:
    if not row.difference:
        return f"no difference: {found[best][1]} each."
    numbers = f"{found[best][1]} against {found[other][1]}"
    p = "p < 0.001" if row.p_adjusted < 0.001 else f"p = {row.p_adjusted:.3f}"
    if is_significant(row, alpha):
        return f"{name(best)} is better: {numbers}, significant ({p})."
    return f"{name(best)} has the better value, {numbers}, but that may be chance ({p})."


def _listed(systems: Sequence[str], name: Name) -> str:
    more = len(systems) - MAX_NAMES
    if more <= 1:
        return ", ".join(map(name, systems))
    return f"{', '.join(map(name, systems[:MAX_NAMES]))} and {more} more"

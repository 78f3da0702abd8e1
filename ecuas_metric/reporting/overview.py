"""What `ecuas compare` shows: what is compared, who beats whom, and the differences as far as they fit a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..comparison.compare import Comparison
from ..intervals import units
from ..results import System, all_values, resampling_of
from .differences import MAX_ROWS, arranged
from .grids import Grid, to_text
from .summary import is_significant, ranking_metrics, summary, wins_grid
from .terminal import Screen


def introduction(
    systems: Mapping[str, System],
    rows: Sequence[Comparison],
    *,
    alpha: float,
    digits: int = 3,
    by_position: bool = False,
) -> list[str]:
    """Return the lines above the table: what is compared, what cannot be found, and the summary.

    Parameters
    ----------
    systems : mapping of name to System
    rows : sequence of Comparison
        Of all pairs.
    alpha : float
        See `summary.winner`.
    digits : int
        After the point.
    by_position : bool
        Whether it was asked for to pair samples by their rows.

    Returns
    -------
    list of str
    """
    first = next(iter(systems.values()))
    size = len(first.decisions.uncertainty)
    paired = "id" if first.ids is not None else "their rows" if by_position else "their rows: there is no column of ids"
    rows = arranged(rows)
    keys = list(dict.fromkeys(row.key for row in rows))
    values = {
        name: {key: float(value) for key, value in all_values(system, only=keys).items()}
        for name, system in systems.items()
    }
    about = (
        f"{len(systems)} systems on {size} samples, paired by {paired}. Significant: p (all tests) at most {alpha:g}."
    )
    return [about, *limits(first, alpha), "", *summary(rows, values, alpha=alpha, digits=digits), ""]


def limits(system: System, alpha: float) -> list[str]:
    """Return a line if there are so few samples that no difference can be significant.

    Parameters
    ----------
    system : System
        One of those compared.
    alpha : float
        See `summary.winner`.

    Returns
    -------
    list of str
    """
    resampling, size = resampling_of(system.options), len(system.decisions.uncertainty)
    swapped = len(units(size, resampling)[1])
    least = 2.0 ** (1 - swapped)  # all swaps are as likely, and half of them differ in sign only
    if least <= alpha:
        return []
    what = "samples" if resampling.groups is None else "groups"
    return [f"With {swapped} {what} no p-value can be below {least:.2g}, so nothing can be significant."]


def overview(grid: Grid, rows: Sequence[Comparison], screen: Screen, *, alpha: float, full: bool = False) -> str:
    """Return the text of a comparison: the summary, a matrix of wins, and the differences unless they are too many.

    Parameters
    ----------
    grid : Grid
        Of `differences.comparison_grid`.
    rows : sequence of Comparison
        Of all pairs.
    screen : Screen
    alpha : float
        See `summary.winner`.
    full : bool
        Show all differences, however many there are.

    Returns
    -------
    str
    """
    has_matrix = len({row.first for row in rows}) > 1 and ranking_metrics(rows)
    matrix = to_text(wins_grid(rows, alpha=alpha), screen) if has_matrix else ""
    if not full and len(grid.rows) > MAX_ROWS:
        table = _too_many(grid, rows, screen, alpha)
    else:
        table = to_text(grid._replace(above=()), screen)
    return "\n".join(["\n".join(screen.wrapped(grid.above)), *([matrix] if matrix else []), table])


def _too_many(grid: Grid, rows: Sequence[Comparison], screen: Screen, alpha: float) -> str:
    significant = sum(is_significant(row, alpha) for row in rows)
    how = (
        f"The {len(grid.rows)} differences, {significant} of them significant, are not shown. --full shows all, "
        "--only significant or --metrics some of them; --output FILE writes all, --figures DIR draws them."
    )
    footnotes = [note for note in grid.notes if note.startswith("†")]
    return "\n".join(screen.wrapped([how, "", *footnotes, grid.signature])) + "\n"

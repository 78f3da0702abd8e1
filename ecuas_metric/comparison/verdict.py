"""The verdict on a set of systems: who is best by what, how surely, where over reject costs, and who is not ranked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from ..costs import ECUAS_N
from ..display import Drawn
from ..errors import InputError, Note
from ..inputs import grouped
from ..intervals import NO_UNITS
from ..metric import Key
from ..options import ALPHA
from ..results import System
from .rows import Comparison, list_fields

if TYPE_CHECKING:
    from pandas import DataFrame

TIED = 1e-12  # numbers as close are equal but for rounding
HEADLINE = Key(ECUAS_N.name, 1.0)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The systems by one metric, of the comparisons of all their pairs.

    Attributes
    ----------
    key : Key
        The metric.
    values : dict of name to float
        The best first, where the metric has a direction.
    state : str
        "clear" if each other system is worse than one by more than chance; "close" if several may be the best;
        "equal" if all are; "untested", "unranked" or "undefined" as of `compare.VERDICTS`.
    best : tuple of str
        Who may be the best: those that are not worse than another one by more than chance.
    rows : tuple of Comparison
        Of all pairs.

    Examples
    --------
    >>> row = Comparison("a", "b", Key("error_rate"), -0.1, -0.18, -0.02, 0.012, 0.04, True,
    ...                  first_value=0.2, second_value=0.3, verdict="first")
    >>> make_ranking([row]).winner, make_ranking([row]).values
    ('a', {'a': 0.2, 'b': 0.3})
    """

    key: Key
    values: dict[str, float]
    state: str
    best: tuple[str, ...]
    rows: tuple[Comparison, ...]

    @property
    def winner(self) -> str | None:
        """Who is clearly the best."""
        return self.best[0] if self.state == "clear" else None

    @property
    def leaders(self) -> list[str]:
        """Who has the best value, several if they share it."""
        first = next(iter(self.values.values()))
        return [name for name, value in self.values.items() if abs(value - first) <= TIED]

    def row(self, first: str, second: str) -> Comparison:
        """Return the comparison of two systems, first minus second."""
        for row in self.rows:
            if (row.first, row.second) == (first, second):
                return row
            if (row.second, row.first) == (first, second):
                return row.turned()
        raise KeyError((first, second))


@dataclass(frozen=True, slots=True)
class Region:
    """Reject costs, from the first to the last that was tested, at which one choice is clearly the cheapest.

    Attributes
    ----------
    winner : str
        A system, or `compare.REJECTING`.
    low, high : float

    Examples
    --------
    >>> Region("gpt", low=0.05, high=0.2).winner
    'gpt'
    """

    winner: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Verdict(Drawn):
    """Who is best by what, and how surely.

    Attributes
    ----------
    rankings : dict of Key to Ranking
        By each metric that was compared.
    headline : Key or None
        The metric of the first sentence: the first one that was asked for, a reject cost that was, or ECUAS_1.
    strip : dict of Key to Ranking
        By the expected cost at each tested reject cost, with rejecting everything (`compare.REJECTING`) as a choice.
    regions : tuple of Region
        Where over reject costs one choice is clearly the cheapest, by the tests of the family.
    left_out : dict of name to InputError
        The systems that could not be paired with the others, and why.
    num_tests : int
        The number of tests in the family.
    alpha : float
        The level of the family of tests.
    rows : tuple of Comparison
        Of all pairs by all metrics, from which this follows.
    notes : tuple of pairs of str and Note
        As of `compare.Comparisons`.
    systems : dict of name to System
        Those that were compared, aligned.

    Examples
    --------
    >>> from ecuas_metric import compare_systems, confidence_system
    >>> systems = [confidence_system([1, 1, 0], q, confidence_level=0.95) for q in ([0.9, 0.8, 0.2], [0.5, 0.6, 0.5])]
    >>> verdict = compare_systems(systems, by_position=True).verdict
    >>> str(verdict.headline), verdict.ranking(verdict.headline).leaders
    ('ecuas_1', ['system 1'])
    """

    rankings: dict[Key, Ranking]
    headline: Key | None
    strip: dict[Key, Ranking]
    regions: tuple[Region, ...]
    num_tests: int
    alpha: float
    rows: tuple[Comparison, ...]
    notes: tuple[tuple[str, Note], ...] = ()
    left_out: Mapping[str, InputError] = field(default_factory=dict)
    systems: Mapping[str, System] = field(default_factory=dict)

    @property
    def tells_errors(self) -> bool:
        """Whether there are enough answers, or groups of them, for any test."""
        return NO_UNITS not in (note for _, note in self.notes)

    def ranking(self, key: Key | None) -> Ranking | None:
        """Return the ranking by a metric; at a reject cost that of the strip, with rejecting everything."""
        return None if key is None else self.strip.get(key) or self.rankings.get(key)

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each pair of systems by each metric."""
        import pandas as pd

        return pd.DataFrame([list_fields(row) for row in self.rows])

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as what JSON can hold."""
        headline = self.ranking(self.headline)
        return {
            "headline": None if self.headline is None else str(self.headline),
            "state": "unranked" if headline is None else headline.state,
            "best": [] if headline is None else [*map(plain_name, headline.best)],
            "by_metric": {
                str(key): {"state": one.state, "best": list(one.best), "values": one.values}
                for key, one in self.rankings.items()
            },
            "regions": [
                {"winner": plain_name(one.winner), "low": one.low, "high": one.high}
                for one in self.regions
            ],
            "reject_costs": [key.parameter for key in self.strip],
            "left_out": {name: str(error) for name, error in self.left_out.items()},
            "tests": self.num_tests,
            "alpha": self.alpha,
        }


def make_verdict(
    rows: Sequence[Comparison],
    strip: Mapping[Key, Sequence[Comparison]] | None = None,
    *,
    notes: Sequence[tuple[str, Note]] = (),
    asked: Sequence[Key] = (),
    alpha: float = ALPHA,
    systems: Mapping[str, System] | None = None,
) -> Verdict:
    """Return the verdict that follows from comparisons of all pairs, and from those of the strip, by key.

    `asked` are the keys that were asked for, the first of which is the headline.
    """
    rankings = {key: make_ranking(of_key) for key, of_key in rows_by_key(rows).items()}
    by_cost = {key: make_ranking(of_key) for key, of_key in (strip or {}).items() if of_key}
    every = chain(rows, *(ranking.rows for ranking in by_cost.values()))
    tested = {(row.key, row.first, row.second) for row in every if row.family}
    return Verdict(
        rankings=rankings,
        headline=_choose_headline(asked, rankings, by_cost),
        strip=by_cost,
        regions=_find_regions(by_cost),
        num_tests=len(tested),
        alpha=alpha,
        rows=tuple(rows),
        notes=tuple(notes),
        systems=systems or {},
    )


def make_ranking(rows: Sequence[Comparison]) -> Ranking:
    """Return the ranking that follows from the comparisons of all pairs by one metric."""
    key = rows[0].key
    values: dict[str, float] = {}
    for row in rows:
        values.setdefault(row.first, row.first_value)
        values.setdefault(row.second, row.second_value)
    higher_is_better = key.entry.higher_is_better
    if higher_is_better is not None:
        sign = -1 if higher_is_better else 1
        # what is undefined comes last
        order = sorted(values, key=lambda name: (math.isnan(values[name]), sign * values[name]))
        values = {name: values[name] for name in order}
    state, best = _choose_state(rows, values)
    return Ranking(key, values, state, best, tuple(rows))


def _choose_state(
    rows: Sequence[Comparison], values: Mapping[str, float]
) -> tuple[str, tuple[str, ...]]:
    """Return the state of a ranking, and who may be the best."""
    verdicts = {row.verdict for row in rows}
    for state in ("unranked", "undefined", "untested"):
        if state in verdicts:
            return state, ()
    if verdicts == {"equal"}:
        return "equal", tuple(values)
    best = _find_unbeaten(rows, values)
    # all that is named is right together: whoever alone is worse than none is better than all
    return ("clear" if len(best) == 1 else "close"), best


def _find_unbeaten(rows: Iterable[Comparison], names: Iterable[str]) -> tuple[str, ...]:
    losers = {"first": "second", "second": "first"}
    beaten = {getattr(row, losers[row.verdict]) for row in rows if row.verdict in losers}
    return tuple(name for name in names if name not in beaten)


def _choose_headline(
    asked: Sequence[Key],
    rankings: Mapping[Key, Ranking],
    strip: Mapping[Key, Ranking],
) -> Key | None:
    """Return the metric of the first sentence: the first asked for that ranks, else ECUAS_1 or another ECUAS_n."""
    ranked = [key for key, one in {**strip, **rankings}.items() if one.state != "unranked"]
    orders = [key for key in rankings if key.entry is ECUAS_N and not key.variant]
    candidates = [*asked, HEADLINE, *orders, *rankings]
    return next((key for key in candidates if key in ranked), None)


def _find_regions(strip: Mapping[Key, Ranking]) -> tuple[Region, ...]:
    """Return the runs of neighbouring reject costs of the strip that have the same winner."""
    regions = []
    for winner, group in groupby(strip.values(), lambda ranking: ranking.winner):
        costs = [ranking.key.parameter or 0.0 for ranking in group]
        if winner is not None:
            regions.append(Region(winner, costs[0], costs[-1]))
    return tuple(regions)


def rows_by_key(rows: Iterable[Comparison]) -> dict[Key, list[Comparison]]:
    """Return the comparisons by their key."""
    return grouped(rows, lambda row: row.key)


def plain_name(name: str) -> str:
    """Return a name without the mark that `REJECTING` has."""
    return name.removesuffix("\u2060")

"""Who costs users least at each reject cost: one comparison of the systems, arranged as sentences, strip and bars."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter

import numpy as np
from markupsafe import Markup

from ecuas_metric.comparison.compare import Comparison, compare_systems
from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats
from ecuas_metric.intervals import NO_UNITS
from ecuas_metric.metric import Key
from ecuas_metric.options import ALPHA
from ecuas_metric.plotting.curves import RejectCostCurve, reject_cost_curve
from ecuas_metric.reporting.differences import pairs_by_key, ranking_of, summary
from ecuas_metric.reporting.report import digits_for
from ecuas_metric.results import System, ranked

from .figures import NOTHING, NUM_SLOTS, REFERENCE, axis
from .markup import html, in_words

SHOWN_FIRST = 0.1  # the reject cost that a result opens on: a wrong answer costs as much as ten that are rejected
GRIDS = (100, 50, 20, 10)  # numbers of reject costs up to 1
MAX_WORK = 1_200_000  # pairs of systems times samples times reject costs: a second or two
FEW_SAMPLES = 300  # with fewer, tests take as long
MAX_NAMES = 3  # in a sentence
NOT_SAID = "Which is cheapest is not said:"
TOO_MANY = "Which is cheapest is not tested here: there are too many samples and systems. The command “ecuas” does it."


@dataclass(frozen=True, slots=True)
class Call:
    """The cheapest system at one reject cost, and all others minus it, the nearest first."""

    cheapest: str
    rivals: tuple[Comparison, ...]

    def alone(self) -> list[str]:
        """Return who may be the cheapest, by the test of this reject cost alone."""
        close = [row.first for row in self.rivals if not (row.difference and row.low_best > 0)]
        return [self.cheapest, *close]

    def winner(self) -> str | None:
        """Return who is clearly cheapest, by the test of all reject costs and pairs together."""
        is_clear = all(row.difference and row.p_adjusted <= ALPHA for row in self.rivals)
        return self.cheapest if is_clear else None

    def nearest(self) -> Comparison:
        """Return the comparison with the nearest system that may be the cheapest, or else with the next of all."""
        names = self.alone()
        return next((row for row in self.rivals if row.first in names), self.rivals[0])


@dataclass(frozen=True, slots=True)
class Decision:
    """Curves at the same reject costs (M,), who is cheapest there, and how the systems differ by ECUAS_n.

    Rejecting everything is a choice at a reject cost, and no system: ECUAS_n compares the others alone.
    """

    reject_costs: Floats
    curves: Mapping[str, RejectCostCurve]
    calls: Sequence[Call]
    orders: Sequence[Comparison]

    @property
    def systems(self) -> list[str]:
        """All that have a curve, but for rejecting everything."""
        return [name for name in self.curves if name != NOTHING]


def decide(systems: Mapping[str, System]) -> Decision | str:
    """Compare systems by ECUAS_n, and their costs with those of rejecting everything; or say why not."""
    grid = _grid(systems)
    if not len(grid):
        return TOO_MANY
    first = next(iter(systems.values()))
    is_alone = len(systems) == 1
    if is_alone:  # its rows are paired with themselves, whichever ids they have
        first = replace(first, ids=None)
        systems = dict.fromkeys(systems, first)
    candidates = {**systems, NOTHING: rejecting_system(first)}
    costs = list(map(partial(Key, "expected_cost"), grid.tolist()))
    orders = list(map(partial(Key, "ecuas"), first.options.n))
    try:
        compared = compare_systems(candidates, only=costs)
        differences = [] if is_alone else compare_systems(systems, only=orders)
    except InputError as error:
        return f"{NOT_SAID} {in_words(error)}"
    if NO_UNITS in (note for _, note in compared.notes):
        return f"{NOT_SAID} there are too few answers, or groups of them, to tell."
    rows = pairs_by_key(compared)
    curves = {
        name: reject_cost_curve(system, reject_cost=grid) for name, system in candidates.items()
    }
    return Decision(
        reject_costs=grid,
        curves=curves,
        calls=[_call(rows[key]) for key in costs],
        orders=differences,
    )


def rejecting_system(system: System) -> System:
    """Return a system that is asked the same, and never answers."""
    decisions = system.decisions
    never = np.full(len(decisions.uncertainty), math.inf)
    nothing = replace(
        decisions,
        uncertainty=never,
        candidate_cost=np.full(len(never), decisions.max_uncertainty),
        confidence=None if decisions.confidence is None else 1 - never,
    )
    return ranked(nothing, system.options, ids=system.ids)


def stretches(decision: Decision) -> list[tuple[str | None, float, float]]:
    """Return who is clearly cheapest (None: nobody) from which to which reject cost, by the test of all together."""
    strip = []
    low = 0.0
    winners = map(Call.winner, decision.calls)
    pieces = zip(winners, decision.reject_costs.tolist(), strict=True)
    for winner, group in groupby(pieces, itemgetter(0)):
        high = max(cost for _, cost in group)
        strip.append((winner, low, high))
        low = high
    return strip


def strip_in_words(decision: Decision) -> Markup:
    """Say who is clearly cheapest where, by the test of all reject costs together."""
    clear: dict[str, list[tuple[float, float]]] = {}
    for winner, low, high in stretches(decision):
        if winner is not None:
            clear.setdefault(winner, []).append((low, high))
    return html("over_all", systems=decision.systems, clear=clear)


def by_importance(decision: Decision) -> list[str]:
    """Return the systems: who is clearly cheapest somewhere, then the others from the cheapest on average."""
    winners = {winner for winner, *_ in stretches(decision)}
    mean = {name: curve.expected_cost.mean() for name, curve in decision.curves.items()}
    return sorted(decision.systems, key=lambda name: (name not in winners, mean[name]))


def said(call: Call, cost: float) -> Markup:
    """Say who is cheapest at a reject cost in one sentence, and give the numbers behind it."""
    return html(
        "said",
        call=call,
        cost=cost,
        names=call.alone(),
        most=MAX_NAMES,
        digits=digits_for([call.nearest()]),
    )


def sentences(decision: Decision | str) -> list[str]:
    """Say who is cheapest where, and by each ECUAS_n what `ecuas compare` says of these; or why this is not said."""
    if isinstance(decision, str):
        return [decision]
    digits = digits_for(decision.orders)
    verdicts = summary(decision.orders, alpha=ALPHA, digits=digits)
    return [strip_in_words(decision).striptags(), *verdicts]


def as_html(decision: Decision | str, styles: Mapping[str, str]) -> Markup:
    """Lay out a reject cost that can be set, and with it who is cheapest and what each system costs."""
    if isinstance(decision, str):
        return html("undecided", remark=decision)
    data = _data(decision)
    styles = {**styles, NOTHING: REFERENCE}
    return html(
        "decision",
        data=data,
        said=list(map(said, decision.calls, decision.reject_costs)),
        start=int(np.abs(decision.reject_costs - SHOWN_FIRST).argmin()),
        strip=stretches(decision),
        scale=axis("", float(decision.reject_costs[-1])),
        styles=styles,
        summary=strip_in_words(decision),
        bars={name: styles[name] for name in decision.curves},
    )


def _data(decision: Decision) -> dict[str, object]:
    """Return what page.js shows at each reject cost; the last of the systems rejects everything."""
    curves = decision.curves.values()
    costs = np.array([curve.expected_cost for curve in curves])
    coverage = np.array([curve.coverage for curve in curves])
    place = {name: i for i, name in enumerate(decision.curves)}
    return {
        "at": decision.reject_costs.round(2).tolist(),
        "costs": costs.round(6).tolist(),
        "shares": (100 * coverage).round().astype(int).tolist(),
        "best": [[place[name] for name in call.alone()] for call in decision.calls],
        "highest": costs.max(),
        "most": NUM_SLOTS,
    }


def _call(rows: Sequence[Comparison]) -> Call:
    """Return the call by one metric, of the rows of all pairs."""
    cheapest, *others = ranking_of(rows)
    both = [*rows, *(row.turned() for row in rows)]
    rivals = {row.first: row for row in both if row.second == cheapest}
    return Call(cheapest, tuple(rivals[name] for name in others))


def _grid(systems: Mapping[str, System]) -> Floats:
    """Return the reject costs that are tested, in [0, u_M]: fewer of many samples or systems, or none."""
    samples = max(FEW_SAMPLES, *(system.num_samples for system in systems.values()))
    pairs = math.comb(len(systems) + 1, 2)
    points = next((points for points in GRIDS if pairs * samples * points <= MAX_WORK), 0)
    grid = np.arange(1, points + 1) / max(points, 1)
    largest = next(iter(systems.values())).decisions.max_uncertainty
    return grid[grid <= largest * (1 + 1e-12)]

"""Which system costs its users least, at each reject cost and on average: by a test, or too close to call."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from markupsafe import escape

from ecuas_metric.comparison.compare import Comparison, compare_systems
from ecuas_metric.comparison.planning import plan_of
from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats
from ecuas_metric.metrics import Key
from ecuas_metric.plotting.curves import reject_cost_curve
from ecuas_metric.reporting.report import p_text
from ecuas_metric.results import System, as_given, ranked

from .markup import REFERENCE, REST, html, isolated, order_name

LEVEL = 0.95
NOTHING = ""  # the system that rejects every answer; no other has this name
NO_SYSTEM = "answering nothing"
SHOWN_FIRST = 0.1  # the reject cost that a result opens on
GRIDS = (100, 50, 20, 10)  # numbers of reject costs up to 1
MAX_WORK, MAX_ROWS = 600_000, 4_000  # samples, and pairs of systems, times reject costs: about half a second
MAX_SAMPLES, MAX_PAIRS = 300_000, 350
MAX_NAMES = 3  # in a sentence
MAX_CROSSINGS = 3
NOT_SAID = "Which is cheapest is not said: these systems do not answer the same questions, or not all are labelled."
TOO_MANY = "Which is cheapest is not tested here: there are too many samples and systems. Use `ecuas compare`."
CHOSEN = "for an answer that is not used; a mistake costs 1"
HOW = "Each reject cost is tested by itself, adjusted for all pairs of systems; grey: too close to call."
Namer = Callable[[str], str]
Rows = dict[tuple[str, str], Comparison]  # of one metric, by pair


class Verdict(NamedTuple):
    """Who costs least by one number: the cheapest, and those that a test cannot tell from it, cheapest first.

    The comparison is of a rival with the cheapest, adjusted for all pairs; `needed` is the N that finds its difference
    with 80 % power, if it is what it seems. A rival is the nearest that may be the best, or the next of all if the
    cheapest is clearly so.
    """

    best: tuple[str, ...]
    rival: Comparison
    needed: int | None

    @property
    def winner(self) -> str | None:
        """The system that is clearly cheapest."""
        return self.best[0] if len(self.best) == 1 else None


class Crossing(NamedTuple):
    """The reject cost at which two systems cost the same, with the interval in which they cannot be told apart."""

    first: str
    second: str
    at: float
    low: float
    high: float


class Decision(NamedTuple):
    """What systems cost at each reject cost (M,), the share of answers they accept, and who is cheapest.

    `orders` has the verdicts by ECUAS_n. All are empty where there is a `remark`, the reason why nothing is tested.
    """

    reject_costs: Floats
    costs: Mapping[str, Floats]
    coverage: Mapping[str, Floats]
    verdicts: Sequence[Verdict]
    orders: Mapping[float, Verdict]
    crossings: Sequence[Crossing]
    remark: str = ""


def decide(systems: Mapping[str, System]) -> Decision:
    """Compare the costs of systems, and of answering nothing, at all reject costs and by ECUAS_n."""
    first = next(iter(systems.values()))
    grid = _grid(systems)
    if not len(grid):
        return undecided(TOO_MANY)
    options = {"confidence_level": LEVEL, "reject_costs": tuple(grid), "normalize": False, "decompose": False}
    tested = {name: _with_options(system, options) for name, system in {**systems, NOTHING: rejecting(first)}.items()}
    orders = [Key("ecuas", n) for n in first.options.n]
    keys = [Key("expected_cost", float(cost)) for cost in grid]
    try:
        found = compare_systems(tested, only=[*keys, *orders], by_metric=True)
    except InputError as error:
        return undecided(f"These systems cannot be compared sample by sample: {error}")
    by_key = _by_key(found)
    size, rows = len(first.decisions.uncertainty), [by_key[key] for key in keys]
    costs = {name: np.array([_values(of_key)[name] for of_key in rows]) for name in tested}
    coverage = {name: reject_cost_curve(system, reject_cost=grid).coverage for name, system in tested.items()}
    verdicts = [_verdict(of_key, size) for of_key in rows]
    by_order = {key.parameter or 0.0: _verdict(by_key[key], size) for key in orders}
    return Decision(grid, costs, coverage, verdicts, by_order, _crossings(grid, costs, rows))


def undecided(remark: str) -> Decision:
    """Return the reason why nothing was tested as a decision."""
    return Decision(np.zeros(0), {}, {}, [], {}, [], remark)


def rejecting(system: System) -> System:
    """Return a system that is asked the same, and rejects every answer."""
    decisions, options = as_given(system)
    size, u_max = len(decisions.uncertainty), decisions.max_uncertainty
    confidence = None if decisions.confidence is None else np.full(size, 1 - u_max)
    nothing = decisions._replace(
        uncertainty=np.full(size, u_max), candidate_cost=np.full(size, u_max), confidence=confidence
    )
    return ranked(nothing, options, ids=system.ids)


def sentences(decision: Decision, name: Namer = str) -> list[str]:
    """Say who is cheapest on average over reject costs, by each ECUAS_n; names as the caller writes them."""
    return [
        f"{headline(verdict, f'By ECUAS_{order_name(n)}', decision, name)} {detail(verdict, name)}"
        for n, verdict in decision.orders.items()
    ]


def headline(verdict: Verdict, where: str, decision: Decision, name: Namer = str) -> str:
    """Say who is cheapest in one sentence."""
    names = [_called(one, name) for one in verdict.best]
    if len(names) == 1:
        only = len(decision.costs) == 2
        than = f"clearly cheaper than {_called(verdict.rival.first, name)}" if only else "clearly cheapest"
        return f"{where}, {names[0]} is {than}."
    more = len(names) - MAX_NAMES
    shown = [*names[: MAX_NAMES - 1], f"{more + 1} more"] if more > 0 else names
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}"
    if len(names) == 2 and not verdict.rival.difference:
        return f"{where}, {listed} cost the same."
    return f"{where}, it is too close to call between {listed}."


def detail(verdict: Verdict, name: Namer = str) -> str:
    """Give the numbers behind `headline`."""
    row = verdict.rival
    if not row.difference:
        return f"{row.second_value:.3f} each."
    interval = f" [{row.low:.3f}, {row.high:.3f}]" if math.isfinite(row.low) else ""
    rival = f"{row.first_value:.3f} for {_called(row.first, name)}"
    p = p_text(row.p_adjusted)
    text = f"{row.second_value:.3f} against {rival}: {row.difference:.3f} less{interval}, adjusted {p}."
    if verdict.needed and verdict.winner is None:
        text += f" If that is the true difference, N = {_rounded(verdict.needed):,} would settle it."
    return text


def segments(decision: Decision) -> list[tuple[str | None, float, float]]:
    """Return who is clearly cheapest (None: nobody) from which to which reject cost."""
    found, low = [], 0.0
    winners = (verdict.winner for verdict in decision.verdicts)
    for winner, group in groupby(zip(winners, decision.reject_costs, strict=True), key=lambda pair: pair[0]):
        *_, (_, high) = group
        found.append((winner, low, float(high)))
        low = float(high)
    return found


def summary(decision: Decision, name: Namer = str) -> str:
    """Say where who is clearly cheapest, and where two cost the same, with its interval."""
    clear = [
        f"{_called(winner, name)} from {low:.2f} to {high:.2f}"
        for winner, low, high in segments(decision)
        if winner is not None
    ]
    if len(clear) > 2 * MAX_CROSSINGS:
        clear = ["changes often, see the strip"]
    text = f"Clearly cheapest: {', '.join(clear)}." if clear else "Nothing is clearly cheapest at any reject cost."
    if 0 < len(decision.crossings) <= MAX_CROSSINGS:
        where = [
            f"{_called(one.first, name)} and {_called(one.second, name)} cost the same at {one.at:.2f} "
            f"[{one.low:.2f}, {one.high:.2f}]"
            for one in decision.crossings
        ]
        text += f" {'; '.join(where)}."
    return text


def as_html(decision: Decision, styles: Mapping[str, str]) -> str:
    """Lay out a reject cost that can be set, and with it who is cheapest and what each system costs."""
    if decision.remark:
        return f'<p class="verdict undecided">{escape(decision.remark)}</p>'
    grid, width = decision.reject_costs, decision.reject_costs[-1]
    start = int(np.abs(grid - SHOWN_FIRST).argmin())
    names = [name for name in decision.costs if styles.get(name) != REST]
    said = [_said(verdict, float(cost), decision) for verdict, cost in zip(decision.verdicts, grid, strict=True)]
    at = [f"{cost:.2f}" for cost in grid]
    data = {
        "at": at,
        "said": said,
        "costs": [[f"{cost:.3f}" for cost in decision.costs[name]] for name in names],
        "shares": [np.round(100 * decision.coverage[name]).astype(int).tolist() for name in names],
        "best": [[names.index(name) for name in verdict.best if name in names] for verdict in decision.verdicts],
        "highest": max(float(decision.costs[name].max()) for name in names),
    }
    return html(
        "decision",
        data=json.dumps(data),
        said=said[start],
        start=start,
        last=len(grid) - 1,
        at=at[start],
        note=CHOSEN,
        parts=[
            ("open" if who is None else styles.get(who, REFERENCE), 100 * (high - low) / width, _called(who, str))
            for who, low, high in segments(decision)
        ],
        marks=[100 * one.at / width for one in decision.crossings],
        summary=f"{summary(decision, _bold)} {HOW}",
        bars=[(_called(name, str), styles.get(name, REFERENCE)) for name in names],
        more=len(decision.costs) - len(names),
    )


def _said(verdict: Verdict, cost: float, decision: Decision) -> str:
    return (
        f'<p class="verdict">{headline(verdict, f"At reject cost {cost:.2f}", decision, _bold)}</p>'
        f'<p class="caption">Cost per question: {detail(verdict, isolated)}</p>'
    )


def _called(name: str | None, namer: Namer) -> str:
    return "too close to call" if name is None else NO_SYSTEM if name == NOTHING else namer(name)


def _bold(name: str) -> str:
    return f"<b>{isolated(name)}</b>"


def _rounded(number: int) -> int:
    """Return a number in two digits: it is an estimate.

    >>> _rounded(1873), _rounded(42)
    (1900, 42)
    """
    return round(number, -max(len(str(number)) - 2, 0))


def _grid(systems: Mapping[str, System]) -> Floats:
    """Return the reject costs that are tested, in [0, u_M]: fewer of many samples or systems, or none."""
    size = max(len(system.decisions.uncertainty) for system in systems.values())
    num, u_max = len(systems) + 1, next(iter(systems.values())).decisions.max_uncertainty
    pairs = num * (num - 1) // 2
    if size * num > MAX_SAMPLES or pairs > MAX_PAIRS:
        return np.zeros(0)
    fits = (points for points in GRIDS if size * num * points <= MAX_WORK and pairs * points <= MAX_ROWS)
    points = next(fits, GRIDS[-1])
    grid = np.arange(1, points + 1) / points
    return grid[grid <= u_max * (1 + 1e-12)]


def _with_options(system: System, options: Mapping[str, object]) -> System:
    changed = system.options.replace(**options)
    if system.order is not None:
        return system._replace(options=changed)
    return ranked(system.decisions, changed, ids=system.ids)


def _by_key(rows: Iterable[Comparison]) -> dict[Key, Rows]:
    """Return the comparisons by each metric, by pair; each pair in both directions."""
    found: dict[Key, Rows] = {}
    for row in rows:
        found.setdefault(row.key, {}).update({(row.first, row.second): row, (row.second, row.first): row.turned()})
    return found


def _values(rows: Rows) -> dict[str, float]:
    return {row.first: row.first_value for row in rows.values()}


def _verdict(rows: Rows, size: int) -> Verdict:
    values = _values(rows)
    first, *others = sorted(values, key=lambda name: values[name])
    close = [name for name in others if not _is_significant(rows[name, first])]
    row = rows[close[0] if close else others[0], first]
    half = (row.high - row.low) / 2
    needed = None
    if math.isfinite(half) and half > 0 and row.difference:
        deviation = half / NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(size)
        needed = plan_of(row.key, row.difference, deviation, size).needed
    return Verdict((first, *close), row, needed)


def _is_significant(row: Comparison) -> bool:
    return row.p_adjusted <= 1 - LEVEL + 1e-12 and row.difference != 0


def _crossings(grid: Floats, costs: Mapping[str, Floats], rows: Sequence[Rows]) -> list[Crossing]:
    """Return where the cheapest changes, and around it the reject costs at which the two cannot be told apart."""
    names = list(costs)
    lowest = np.argmin([costs[name] for name in names], axis=0)
    found = []
    for i, (one, other) in enumerate(pairwise(lowest)):
        pair = names[one], names[other]
        if one == other or costs[pair[0]][i] == costs[pair[1]][i]:
            continue
        open_ = np.array([row[pair].p > 1 - LEVEL for row in rows])
        low, high = i, i + 1
        while low > 0 and open_[low - 1]:
            low -= 1
        while high < len(grid) - 1 and open_[high + 1]:
            high += 1
        found.append(Crossing(*pair, float(grid[i : i + 2].mean()), float(grid[low]), float(grid[high])))
    return found

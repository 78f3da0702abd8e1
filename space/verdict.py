"""Who costs users least, at each reject cost and by each ECUAS_n: by a test, or too close to call."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
from markupsafe import escape

from ecuas_metric.comparison.compare import Comparison, compare_systems
from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats
from ecuas_metric.metric import Key
from ecuas_metric.options import ALPHA, LEVEL
from ecuas_metric.plotting.curves import reject_cost_curve
from ecuas_metric.reporting.report import p_text
from ecuas_metric.results import System, as_given, ranked

from .figures import REFERENCE, REST, order_name
from .markup import html, in_words, isolate

NOTHING = ""  # the system that rejects every answer; no other has this name
NO_SYSTEM = "answering nothing"
SHOWN_FIRST = 0.1  # the reject cost that a result opens on: a wrong answer costs as much as ten that are rejected
GRIDS = (100, 50, 20, 10)  # numbers of reject costs up to 1
MAX_WORK = 1_200_000  # pairs of systems times samples times reject costs: a second or two
FEW_SAMPLES = 300  # with fewer, tests take as long
MAX_NAMES = 3  # in a sentence
TOO_MANY = "Which is cheapest is not tested here: there are too many samples and systems. Use `ecuas compare`."
NOWHERE = "nothing is clearly cheapest at any"
Namer = Callable[[str], str]
Rows = dict[tuple[str, str], Comparison]  # of one metric, by pair


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who costs least by one number: those that may be the best, the cheapest first, and the nearest to it."""

    best: tuple[str, ...]
    rival: Comparison  # minus the cheapest: the nearest that may be the best, or else the next of all
    p: float  # of the test by which the rival is the best, or is not

    @property
    def winner(self) -> str | None:
        """The system that is clearly cheapest."""
        return self.best[0] if len(self.best) == 1 else None


@dataclass(frozen=True, slots=True)
class Decision:
    """Costs and shares accepted (M,) at reject costs; verdicts on each alone, and on all together; or why none."""

    reject_costs: Floats = field(default_factory=lambda: np.zeros(0))
    costs: Mapping[str, Floats] = field(default_factory=dict)
    coverage: Mapping[str, Floats] = field(default_factory=dict)
    alone: Sequence[Verdict] = ()
    together: Sequence[Verdict] = ()
    orders: Mapping[float, Verdict] = field(default_factory=dict)  # by ECUAS_n, together with all reject costs
    remark: str = ""


def decide(systems: Mapping[str, System]) -> Decision:
    """Compare the costs of systems, and of answering nothing, at all reject costs and by ECUAS_n."""
    grid = _grid(systems)
    if not len(grid):
        return Decision(remark=TOO_MANY)
    first = next(iter(systems.values()))
    candidates = {**systems, NOTHING: rejecting_system(first)}
    tested = {name: _with_reject_costs(system, grid) for name, system in candidates.items()}
    keys = [Key("expected_cost", cost) for cost in grid.tolist()]
    keys += [Key("ecuas", n) for n in first.options.n]
    try:
        comparisons = compare_systems(tested, only=keys)
    except InputError as error:
        return Decision(remark=f"These systems cannot be compared sample by sample: {in_words(error)}")
    rows = _rows_by_key(comparisons)
    together = {key: _verdict(rows[key], lambda row: row.p_adjusted) for key in keys}
    curves = {name: reject_cost_curve(system, reject_cost=grid) for name, system in tested.items()}
    return Decision(
        reject_costs=grid,
        costs={name: curve.expected_cost for name, curve in curves.items()},
        coverage={name: curve.coverage for name, curve in curves.items()},
        alone=[_verdict(rows[key], lambda row: row.p_first_best) for key in keys[: len(grid)]],
        together=list(together.values())[: len(grid)],
        orders=dict(zip(first.options.n, list(together.values())[len(grid) :], strict=True)),
    )


def rejecting_system(system: System) -> System:
    """Return a system that is asked the same, and rejects every answer."""
    decisions, options = as_given(system)
    u_max = decisions.max_uncertainty
    largest = np.full(len(decisions.uncertainty), u_max)
    confidence = None if decisions.confidence is None else 1 - largest
    nothing = replace(decisions, uncertainty=largest, candidate_cost=largest, confidence=confidence)
    return ranked(nothing, options, ids=system.ids)


def sentences(decision: Decision, name: Namer = str) -> list[str]:
    """Say who is cheapest on average over reject costs, by each ECUAS_n; names as the caller writes them."""
    return [
        f"{headline(verdict, f'By ECUAS_{order_name(n)}', decision, name)} {detail(verdict, name)}"
        for n, verdict in decision.orders.items()
    ]


def headline(
    verdict: Verdict,
    where: str,
    decision: Decision,
    name: Namer = str,
) -> str:
    """Say who is cheapest in one sentence."""
    names = [_name_of(system, name) for system in verdict.best]
    if len(names) == 1 and len(decision.costs) == 2:
        return f"{where}, {names[0]} is clearly cheaper than {_name_of(verdict.rival.first, name)}."
    if len(names) == 1:
        return f"{where}, {names[0]} is clearly cheapest."
    unnamed = len(names) - MAX_NAMES
    if unnamed > 0:
        names = [*names[: MAX_NAMES - 1], f"{unnamed + 1} more"]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    if len(names) == 2 and not verdict.rival.difference:
        return f"{where}, {listed} cost the same."
    return f"{where}, it is too close to call between {listed}."


def detail(verdict: Verdict, name: Namer = str) -> str:
    """Give the numbers behind `headline`."""
    rival = verdict.rival
    if not rival.difference:
        return f"{rival.second_value:.3f} each."
    interval = f" [{rival.low:.3f}, {rival.high:.3f}]" if math.isfinite(rival.low) else ""
    against = f"{rival.first_value:.3f} for {_name_of(rival.first, name)}"
    return f"{rival.second_value:.3f} against {against}: {rival.difference:.3f} less{interval}, {p_text(verdict.p)}."


def stretches(decision: Decision) -> list[tuple[str | None, float, float]]:
    """Return who is clearly cheapest (None: nobody) from which to which reject cost, by the test of all together."""
    pairs = zip((verdict.winner for verdict in decision.together), decision.reject_costs.tolist(), strict=True)
    highs = [(winner, max(cost for _, cost in group)) for winner, group in groupby(pairs, key=lambda pair: pair[0])]
    lows = [0.0, *(high for _, high in highs)]
    return [(winner, low, high) for (winner, high), low in zip(highs, lows, strict=False)]


def summary(decision: Decision, name: Namer = str) -> str:
    """Say who is clearly cheapest where, by the test of all reject costs together."""
    clear = [
        f"{_name_of(winner, name)} is clearly cheapest from {low:.2f} to {high:.2f}"
        for winner, low, high in stretches(decision)
        if winner is not None
    ]
    return f"Over all reject costs at once, {', '.join(clear) or NOWHERE}."


def as_html(decision: Decision, styles: Mapping[str, str]) -> str:
    """Lay out a reject cost that can be set, and with it who is cheapest and what each system costs."""
    if decision.remark:
        return f'<p class="verdict undecided">{escape(decision.remark)}</p>'
    names = [name for name in decision.costs if styles.get(name) != REST]
    data = _data(decision, names)
    return html(
        "decision",
        data=data,
        json=json.dumps(data),
        start=int(np.abs(decision.reject_costs - SHOWN_FIRST).argmin()),
        strip=stretches(decision),
        styles={**styles, NOTHING: REFERENCE},
        summary=summary(decision, _bold),
        bars={_name_of(name, str): styles.get(name, REFERENCE) for name in names},
        unnamed=len(decision.costs) - len(names),
    )


def _data(decision: Decision, names: Sequence[str]) -> dict[str, object]:
    """Return what page.js shows at each reject cost, of systems that have a bar."""
    costs = np.array([decision.costs[name] for name in names])
    coverage = np.array([decision.coverage[name] for name in names])
    verdicts = list(zip(decision.alone, decision.reject_costs, strict=True))
    return {
        "at": decision.reject_costs.round(2).tolist(),
        "said": [_said(verdict, cost, decision) for verdict, cost in verdicts],
        "costs": costs.round(3).tolist(),
        "shares": (100 * coverage).round().astype(int).tolist(),
        "best": [[names.index(name) for name in verdict.best if name in names] for verdict, _ in verdicts],
        "highest": costs.max(),
    }


def _said(verdict: Verdict, cost: float, decision: Decision) -> str:
    said = headline(verdict, f"At reject cost {cost:.2f}", decision, _bold)
    return f'<p class="verdict">{said}</p><p class="caption">Cost per question: {detail(verdict, isolate)}</p>'


def _name_of(name: str, namer: Namer) -> str:
    return NO_SYSTEM if name == NOTHING else namer(name)


def _bold(name: str) -> str:
    return f"<b>{isolate(name)}</b>"


def _grid(systems: Mapping[str, System]) -> Floats:
    """Return the reject costs that are tested, in [0, u_M]: fewer of many samples or systems, or none."""
    decisions = [system.decisions for system in systems.values()]
    samples = max(FEW_SAMPLES, *(len(one.uncertainty) for one in decisions))
    pairs = math.comb(len(systems) + 1, 2)
    points = next((points for points in GRIDS if pairs * samples * points <= MAX_WORK), 0)
    grid = np.arange(1, points + 1) / max(points, 1)
    return grid[grid <= decisions[0].max_uncertainty * (1 + 1e-12)]


def _with_reject_costs(system: System, grid: Floats) -> System:
    options = system.options.replace(
        confidence_level=LEVEL,
        reject_costs=tuple(grid),
        normalize=False,
        decompose=False,
    )
    if system.order is not None:
        return replace(system, options=options)
    return ranked(system.decisions, options, ids=system.ids)


def _rows_by_key(comparisons: Iterable[Comparison]) -> dict[Key, Rows]:
    """Return the comparisons by each metric, by pair; each pair in both directions."""
    by_key: dict[Key, Rows] = {}
    for row in comparisons:
        rows = by_key.setdefault(row.key, {})
        rows[row.first, row.second] = row
        rows[row.second, row.first] = row.turned()
    return by_key


def _verdict(
    rows: Rows,
    p_of: Callable[[Comparison], float],
) -> Verdict:
    """Return the verdict by the p-values of rivals against the cheapest: of each metric alone, or of all together."""
    values = {row.first: row.first_value for row in rows.values()}
    first, *rivals = sorted(values, key=lambda name: values[name])
    against_first = [rows[name, first] for name in rivals]
    close = [row for row in against_first if not row.difference or p_of(row) > ALPHA]
    nearest, *_ = close or against_first
    return Verdict((first, *(row.first for row in close)), nearest, p_of(nearest))

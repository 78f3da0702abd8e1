"""Who costs users least at each reject cost: one comparison of the systems, arranged as sentences, strip and bars."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from markupsafe import Markup

from ecuas_metric.comparison.compare import Comparison, compare_systems
from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats
from ecuas_metric.metric import Key
from ecuas_metric.options import ALPHA
from ecuas_metric.plotting.curves import reject_cost_curve
from ecuas_metric.reporting.differences import pairs_by_key, summary
from ecuas_metric.reporting.report import p_text
from ecuas_metric.results import System, ranked

from .figures import REFERENCE, REST
from .markup import html, in_words

NOTHING = "rejecting everything\u2060"  # the system that rejects every answer; the mark is in no name of an upload
SHOWN_FIRST = 0.1  # the reject cost that a result opens on: a wrong answer costs as much as ten that are rejected
GRIDS = (100, 50, 20, 10)  # numbers of reject costs up to 1
MAX_WORK = 1_200_000  # pairs of systems times samples times reject costs: a second or two
FEW_SAMPLES = 300  # with fewer, tests take as long
MAX_NAMES = 3  # in a sentence
TOO_MANY = "Which is cheapest is not tested here: there are too many samples and systems. Use `ecuas compare`."


@dataclass(frozen=True, slots=True)
class Call:
    """The cheapest system at one reject cost, and all others minus it, the nearest first."""

    cheapest: str
    rivals: tuple[Comparison, ...]

    def alone(self) -> list[str]:
        """Return who may be the cheapest, by the test of this reject cost alone."""
        return self._best(lambda row: row.p_first_best)

    def together(self) -> list[str]:
        """Return who may be the cheapest, by the test of all reject costs, pairs and ECUAS_n together."""
        return self._best(lambda row: row.p_adjusted)

    def nearest(self) -> Comparison:
        """Return the comparison with the nearest system that may be the cheapest, or else with the next of all."""
        names = self.alone()
        return next((row for row in self.rivals if row.first in names), self.rivals[0])

    def _best(
        self,
        p_of: Callable[[Comparison], float],
    ) -> list[str]:
        close = [row.first for row in self.rivals if not row.difference or p_of(row) > ALPHA]
        return [self.cheapest, *close]


@dataclass(frozen=True, slots=True)
class Decision:
    """Costs and shares accepted (M,) at reject costs, who is cheapest there, and differences by ECUAS_n; or why not."""

    reject_costs: Floats = field(default_factory=lambda: np.zeros(0))
    costs: Mapping[str, Floats] = field(default_factory=dict)
    coverage: Mapping[str, Floats] = field(default_factory=dict)
    calls: Sequence[Call] = ()
    orders: Sequence[Comparison] = ()
    remark: str = ""

    def sentences(self) -> list[str]:
        """Say who is cheapest where, and by each ECUAS_n, as `ecuas compare` does."""
        if self.remark:
            return [self.remark]
        return [Markup(strip_in_words(self)).striptags(), *summary(self.orders, alpha=ALPHA)]


def decide(systems: Mapping[str, System]) -> Decision:
    """Compare the costs of systems, and of rejecting everything, at all reject costs and by ECUAS_n."""
    grid = _grid(systems)
    if not len(grid):
        return Decision(remark=TOO_MANY)
    first = next(iter(systems.values()))
    candidates = {**systems, NOTHING: rejecting_system(first)}
    costs = _keys("expected_cost", grid.tolist())
    orders = _keys("ecuas", first.options.n)
    try:
        rows = pairs_by_key(compare_systems(candidates, only=costs + orders))
    except InputError as error:
        return Decision(
            remark=f"These systems cannot be compared sample by sample: {in_words(error)}"
        )
    curves = {
        name: reject_cost_curve(system, reject_cost=grid) for name, system in candidates.items()
    }
    return Decision(
        reject_costs=grid,
        costs={name: curve.expected_cost for name, curve in curves.items()},
        coverage={name: curve.coverage for name, curve in curves.items()},
        calls=[_call(rows[key]) for key in costs],
        orders=[row for key in orders for row in rows[key]],
    )


def _keys(metric: str, parameters: Iterable[float]) -> list[Key]:
    return [Key(metric, parameter) for parameter in parameters]


def rejecting_system(system: System) -> System:
    """Return a system that is asked the same, and rejects every answer."""
    decisions = system.decisions
    u_max = decisions.max_uncertainty
    largest = np.full(len(decisions.uncertainty), u_max)
    confidence = None if decisions.confidence is None else 1 - largest
    nothing = replace(decisions, uncertainty=largest, candidate_cost=largest, confidence=confidence)
    return ranked(nothing, system.options, ids=system.ids)


def stretches(decision: Decision) -> list[tuple[str | None, float, float]]:
    """Return who is clearly cheapest (None: nobody) from which to which reject cost, by the test of all together."""
    strip: list[tuple[str | None, float, float]] = []
    low = 0.0
    for call, high in zip(
        decision.calls,
        decision.reject_costs.tolist(),
        strict=True,
    ):
        names = call.together()
        winner = names[0] if len(names) == 1 else None
        if strip and strip[-1][0] == winner:
            low = strip.pop()[1]
        strip.append((winner, low, high))
        low = high
    return strip


def strip_in_words(decision: Decision) -> str:
    """Say who is clearly cheapest where, by the test of all reject costs together."""
    return html("over_all", clear=[part for part in stretches(decision) if part[0] is not None])


def said(call: Call, cost: float) -> str:
    """Say who is cheapest at a reject cost in one sentence, and give the numbers behind it."""
    return html(
        "said",
        call=call,
        cost=cost,
        names=call.alone(),
        most=MAX_NAMES,
        p_text=p_text,
    )


def as_html(decision: Decision, styles: Mapping[str, str]) -> str:
    """Lay out a reject cost that can be set, and with it who is cheapest and what each system costs."""
    if decision.remark:
        return html("undecided", remark=decision.remark)
    shown = [name for name in decision.costs if styles.get(name) != REST]
    data = _data(decision, shown)
    styles = {**styles, NOTHING: REFERENCE}
    return html(
        "decision",
        data=data,
        json=json.dumps(data),
        start=int(np.abs(decision.reject_costs - SHOWN_FIRST).argmin()),
        strip=stretches(decision),
        styles=styles,
        summary=strip_in_words(decision),
        bars={name: styles[name] for name in shown},
        unnamed=len(decision.costs) - len(shown),
    )


def _data(
    decision: Decision,
    names: Sequence[str],
) -> dict[str, object]:
    """Return what page.js shows at each reject cost, of systems that have a bar."""
    costs = np.array([decision.costs[name] for name in names])
    coverage = np.array([decision.coverage[name] for name in names])
    place = {name: i for i, name in enumerate(names)}
    return {
        "at": decision.reject_costs.round(2).tolist(),
        "said": list(map(said, decision.calls, decision.reject_costs)),
        "costs": costs.round(3).tolist(),
        "shares": (100 * coverage).round().astype(int).tolist(),
        "best": [
            [place[name] for name in call.alone() if name in place] for call in decision.calls
        ],
        "highest": costs.max(),
    }


def _call(rows: Sequence[Comparison]) -> Call:
    """Return the call by one metric, of the rows of all pairs."""
    rows = [*(row.turned() for row in rows), *rows]
    cheapest = min(rows, key=lambda row: row.second_value).second
    rivals = sorted(
        (row for row in rows if row.second == cheapest), key=lambda row: row.first_value
    )
    return Call(cheapest, tuple(rivals))


def _grid(systems: Mapping[str, System]) -> Floats:
    """Return the reject costs that are tested, in [0, u_M]: fewer of many samples or systems, or none."""
    samples = max(FEW_SAMPLES, *(system.num_samples for system in systems.values()))
    pairs = math.comb(len(systems) + 1, 2)
    points = next((points for points in GRIDS if pairs * samples * points <= MAX_WORK), 0)
    grid = np.arange(1, points + 1) / max(points, 1)
    largest = next(iter(systems.values())).decisions.max_uncertainty
    return grid[grid <= largest * (1 + 1e-12)]

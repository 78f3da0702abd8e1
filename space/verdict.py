"""Who costs users least at each reject cost: the verdict on the systems, arranged as sentences, strip and bars."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from ecuas_metric.comparison.compare import rejecting_system
from ecuas_metric.comparison.judge import judge_systems
from ecuas_metric.comparison.rows import REJECTING, Comparison
from ecuas_metric.comparison.verdict import Ranking, Verdict
from ecuas_metric.costs import ECUAS_N
from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats
from ecuas_metric.plotting.curves import RejectCostCurve, reject_cost_curve
from ecuas_metric.reporting.report import digits_for, short_title
from ecuas_metric.reporting.sentences import sentence_by_metric
from ecuas_metric.results import System

from .figures import NUM_SLOTS, REFERENCE, axis
from .markup import html, in_words

SHOWN_FIRST = 0.1  # the reject cost that a result opens on: a wrong answer costs as much as ten that are rejected
MAX_NAMES = 3  # in a sentence
NOT_SAID = "Which is cheapest is not said:"
TOO_MANY = "Which is cheapest is not tested here: there are too many samples and systems. The command “ecuas” does it."


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on systems, with curves at the same reject costs (M,).

    Rejecting everything is a choice at a reject cost, and no system: ECUAS_n compares the others alone.
    """

    verdict: Verdict
    reject_costs: Floats  # the tested ones (M,)
    curves: Mapping[str, RejectCostCurve]

    @property
    def calls(self) -> list[Ranking]:
        """Who is cheapest at each reject cost."""
        return list(self.verdict.strip.values())

    @property
    def systems(self) -> list[str]:
        """All that have a curve, but for rejecting everything."""
        return [name for name in self.curves if name != REJECTING]


def decide(systems: Mapping[str, System]) -> Decision | str:
    """Judge systems, as the command does, with the curves of those that can be compared; or say why not."""
    try:
        verdict = judge_systems(systems, by_position=True)
    except InputError as error:
        return f"{NOT_SAID} {in_words(error)}"
    if not verdict.tells_errors:
        return f"{NOT_SAID} there are too few answers, or groups of them, to tell."
    if not verdict.strip:
        return TOO_MANY
    costs = np.array([key.parameter for key in verdict.strip])
    first = next(iter(verdict.systems.values()))
    candidates = {**verdict.systems, REJECTING: rejecting_system(first)}
    curves = {
        name: reject_cost_curve(system, reject_cost=costs) for name, system in candidates.items()
    }
    return Decision(verdict, costs, curves)


def stretches(decision: Decision) -> list[tuple[str | None, float, float]]:
    """Return who is clearly cheapest (None: nobody) from which to which reject cost, by the test of all together."""
    strip: list[tuple[str | None, float, float]] = []
    end = 0.0
    for region in decision.verdict.regions:
        strip += [(None, end, region.low), (region.winner, region.low, region.high)]
        end = region.high
    return [*strip, (None, end, float(decision.reject_costs[-1]))]


def strip_in_words(decision: Decision) -> Markup:
    """Say who is clearly cheapest where, by the test of all reject costs together."""
    clear: dict[str, list[tuple[float, float]]] = {}
    for region in decision.verdict.regions:
        clear.setdefault(region.winner, []).append((region.low, region.high))
    return html("over_all", systems=decision.systems, clear=clear)


def by_importance(decision: Decision) -> list[str]:
    """Return the systems: who is clearly cheapest somewhere, others by their mean cost, and who is left out."""
    winners = {region.winner for region in decision.verdict.regions}
    mean = {name: curve.expected_cost.mean() for name, curve in decision.curves.items()}
    judged = sorted(decision.systems, key=lambda name: (name not in winners, mean[name]))
    return [*judged, *decision.verdict.left_out]


def nearest(call: Ranking) -> Comparison:
    """Return the comparison of the next choice with the cheapest, of those that may be it if there are several."""
    cheapest, second, *_ = [*call.best, *(name for name in call.values if name not in call.best)]
    return call.row(second, cheapest)


def said(call: Ranking) -> Markup:
    """Say who is cheapest at a reject cost in one sentence, and give the numbers behind it."""
    rival = nearest(call)
    return html(
        "said",
        cost=call.key.parameter,
        names=call.best,
        rival=rival,
        is_alone=len(call.values) == 2,
        most=MAX_NAMES,
        digits=digits_for([rival]),
    )


def remarks(decision: Decision) -> list[str]:
    """Say which systems are left out, and how samples are paired unless by ids."""
    left_out = decision.verdict.left_out.items()
    noted = [note.fact for name, note in decision.verdict.notes if not name]
    return [*(f"Left out: {name}. {in_words(error)}" for name, error in left_out), *noted]


def sentences(decision: Decision | str) -> list[str]:
    """Say who is cheapest where, and by each ECUAS_n what `ecuas compare` says of these; or why this is not said."""
    if isinstance(decision, str):
        return [decision]
    of_orders = [
        f"{short_title(key)}: {sentence_by_metric(ranking, scaled=False)}"
        for key, ranking in decision.verdict.rankings.items()
        if key.entry is ECUAS_N and not key.variant
    ]
    return [strip_in_words(decision).striptags(), *of_orders, *remarks(decision)]


def as_html(decision: Decision | str, styles: Mapping[str, str]) -> Markup:
    """Lay out a reject cost that can be set, and with it who is cheapest and what each system costs."""
    if isinstance(decision, str):
        return html("undecided", remark=decision)
    styles = {**styles, REJECTING: REFERENCE}
    return html(
        "decision",
        data=_data(decision),
        said=list(map(said, decision.calls)),
        start=int(np.abs(decision.reject_costs - SHOWN_FIRST).argmin()),
        strip=stretches(decision),
        scale=axis("", float(decision.reject_costs[-1])),
        styles=styles,
        summary=strip_in_words(decision),
        remarks=remarks(decision),
        bars={name: styles[name] for name in decision.curves},
    )


def _data(decision: Decision) -> dict[str, object]:
    """Return what page.js shows at each reject cost; the last of the systems rejects everything."""
    curves = decision.curves.values()
    costs = np.array([curve.expected_cost for curve in curves])
    coverage = np.array([curve.coverage for curve in curves])
    place = {name: i for i, name in enumerate(decision.curves)}
    return {
        "at": decision.reject_costs.round(6).tolist(),
        "costs": costs.round(6).tolist(),
        "shares": (100 * coverage).round().astype(int).tolist(),
        "best": [[place[name] for name in call.best] for call in decision.calls],
        "highest": costs.max(),
        "most": NUM_SLOTS,
    }

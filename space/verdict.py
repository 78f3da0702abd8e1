"""Who costs users least at each reject cost: the verdict of `ecuas_metric`, whose sentences take a visitor's prices.

A sentence of the page is one of `ecuas_metric.reporting`, in which places stand for names and amounts: page.js fills
them with what the visitor's prices lead to, as `fill` does for those that a result opens with.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ecuas_metric.comparison.compare import compare_pairable, rejecting_system
from ecuas_metric.comparison.rows import REJECTING
from ecuas_metric.comparison.verdict import Ranking, Region, Verdict, plain_name
from ecuas_metric.costs import ECUAS_N
from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats
from ecuas_metric.plotting.curves import RejectCostCurve, reject_cost_curve
from ecuas_metric.reporting.sentences import sentence_by_metric, sentence_on_costs
from ecuas_metric.results import System

from .markup import in_words

UNDECIDED = "Which is cheapest cannot be decided:"
TOO_MANY = (
    "Which is cheapest at a price is not tested here: there are too many samples and systems."
)
POINTS = 4000  # of all curves together, beside the tested reject costs
LEAST_POINTS = 100  # of a curve
ROUNDING = 1e-9  # of a reject cost, relative
COVERED = 0.85  # of all reject costs: up to where a grid of tests goes at least
PER_MISTAKE = (
    " of a mistake"  # the unit of reject costs in sentences; those of the page are in money
)
# a place in a sentence: what is to stand there, and of which choice or end of a region
Place = tuple[str, int]
Template = list[str | Place]
UNTESTED: Template = [
    ("name", 0),
    " costs ",
    ("cost", 0),
    ", ",
    ("name", 1),
    " ",
    ("cost", 1),
    f". {TOO_MANY}",
]
SUB: Template = [
    ("name", 0),
    " answers ",
    ("share", 0),
    " of 100 questions, and ",
    ("right", 0),
    " of 100 of these answers are right.",
]


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on systems, with a curve for each choice: the systems, and last rejecting everything.

    ECUAS_n compares the systems alone. Where there is too much to test, no reject cost is tested.
    """

    verdict: Verdict
    curves: Mapping[str, RejectCostCurve]
    tested: Floats  # reject costs (M,)
    largest: float  # reject cost: that of answering never

    @property
    def rankings(self) -> list[Ranking]:
        """The choices at each tested reject cost."""
        return list(self.verdict.strip.values())

    @property
    def last(self) -> float:
        """The reject cost from which on what holds at the last tested one is taken to hold: there are no others."""
        last = max(self.tested, default=0.0)
        return float(last) if last > COVERED * self.largest else np.inf

    @property
    def systems(self) -> list[str]:
        """All that have a curve, but for rejecting everything."""
        return [name for name in self.curves if name != REJECTING]

    def at(self, cost: float) -> dict[str, tuple[float, float]]:
        """Return the expected cost and the coverage of each choice at a reject cost."""
        found = {}
        for name, curve in self.curves.items():
            row = np.searchsorted(curve.reject_cost, cost * (1 + ROUNDING), side="right") - 1
            share = curve.coverage[row]
            rise = (cost - curve.reject_cost[row]) * (1 - share)
            found[name] = float(curve.expected_cost[row] + rise), float(share)
        return found


def decide(systems: Mapping[str, System]) -> Decision | str:
    """Judge systems, as the command does, with the curves of those that can be compared; or say why not."""
    try:
        verdict = compare_pairable(systems)
    except InputError as error:
        return f"{UNDECIDED} {in_words(error)}"
    if not verdict.tells_errors:
        return f"{UNDECIDED} there are too few answers, or groups of them, to tell."
    tested = np.array([key.parameter for key in verdict.strip])
    first = next(iter(verdict.systems.values()))
    choices = {**verdict.systems, REJECTING: rejecting_system(first)}
    most = max(LEAST_POINTS, POINTS // len(choices))
    curves = {name: cost_steps(one, tested, most) for name, one in choices.items()}
    return Decision(verdict, curves, tested, first.decisions.max_uncertainty)


def cost_steps(system: System, tested: Floats, most: int) -> RejectCostCurve:
    """Return the expected cost and the coverage at the reject costs at which more answers are accepted, and at 0.

    Between two of them the cost is linear. Of more than `most`, about so many stand for the others; at tested reject
    costs nothing changes.
    """
    uncertainty = system.decisions.uncertainty_from_rank(system.ties.rank)
    acceptable = uncertainty[uncertainty <= system.decisions.max_uncertainty]
    rows = np.arange(len(acceptable))
    if len(acceptable) > most:
        coverage = system.ties.weight_until[: len(acceptable)]
        spread = np.searchsorted(coverage, np.linspace(coverage[0], coverage[-1], most))
        at_tested = np.searchsorted(acceptable, tested, side="right") - 1
        rows = np.unique(np.append(spread, at_tested).clip(0, len(acceptable) - 1))
    costs = np.unique(np.append(0.0, acceptable[rows]))
    return reject_cost_curve(system, reject_cost=costs)


def by_importance(decision: Decision) -> list[str]:
    """Return the systems: who is clearly cheapest somewhere, others by their mean cost, and who is left out."""
    winners = {region.winner for region in decision.verdict.regions}
    costs = [decision.at(cost) for cost in np.linspace(0, decision.largest, 101)]
    mean = {name: np.mean([one[name][0] for one in costs]) for name in decision.systems}
    judged = sorted(decision.systems, key=lambda name: (name not in winners, mean[name]))
    return [*judged, *decision.verdict.left_out]


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
        sentence_by_metric(ranking)
        for key, ranking in decision.verdict.rankings.items()
        if key.entry is ECUAS_N and not key.variant
    ]
    of_costs = sentence_on_costs(decision.verdict) if decision.rankings else TOO_MANY
    return [*filter(None, [of_costs]), *of_orders, *remarks(decision)]


# ---- sentences with places


def templates(decision: Decision) -> dict[str, Template]:
    """Return the sentence on each standing: "equal", "tied" for two that cost the same, or how many may be cheapest.

    One may be if it is clear.
    Their places are those of the choices that may be the cheapest, then of the others, the cheapest first.
    """
    count = len(decision.curves)
    if not decision.rankings:
        return {"untested": UNTESTED}
    standings = {"equal": ("equal", count, 0.9), "tied": ("close", 2, 0.0)} | {
        str(number): ("close" if number > 1 else "clear", number, 0.9)
        for number in range(1, count + 1)
    }
    names = [_token("name", i) for i in range(count)]
    stand_ins = [*names[:-1], REJECTING]  # which the sentences know
    amounts = {f"{(100 + i) / 1000:.3f}": _token("cost", i) for i in range(count)}
    amounts["0.900"] = _token("gap", 0)
    values = dict(zip(stand_ins, map(float, amounts), strict=False))
    key = next(iter(decision.verdict.strip))
    row = replace(decision.rankings[0].rows[0], first=stand_ins[0], second=stand_ins[1])
    written = {}
    for standing, (state, number, gap) in standings.items():
        best = tuple(stand_ins[:number])
        rows = (replace(row, difference=gap),)
        sentence = sentence_by_metric(Ranking(key, values, state, best, rows))
        _, _, said = sentence.partition(", ")  # the page's own question says at which reject cost
        said = said.replace(plain_name(REJECTING), names[-1])
        written[standing] = _parts(said, amounts)
    return written


def template_on_costs(decision: Decision) -> tuple[Template, list[float]]:
    """Return the sentence on who is clearly cheapest where, and the reject costs of its places.

    Its names are those of the choices, by their places among the curves.
    """
    verdict = decision.verdict
    ends = sorted({end for one in verdict.regions for end in (one.low, one.high)})
    places = {end: 10 + i / 100 for i, end in enumerate(ends)}
    names = list(decision.curves)
    regions = tuple(
        Region(_token("name", names.index(one.winner)), places[one.low], places[one.high])
        for one in verdict.regions
    )
    said = sentence_on_costs(replace(verdict, regions=regions)).replace(PER_MISTAKE, "")
    amounts = {f"{place:.2f}": _token("at", i) for i, place in enumerate(places.values())}
    return _parts(said, amounts), ends


def _token(kind: str, i: int) -> str:
    return f"\ue000{kind}:{i}\ue001"


def _parts(said: str, amounts: Mapping[str, str]) -> Template:
    """Return a sentence in parts: texts, and places where there are tokens or amounts that stand for one."""
    for amount, token in amounts.items():
        said = said.replace(amount, token)
    texts = re.split("\ue000(.*?)\ue001", said[:1].upper() + said[1:])
    parts: Template = []
    for i, text in enumerate(texts):
        kind, _, place = text.partition(":")
        parts.append((kind, int(place)) if i % 2 else text)
    return [part for part in parts if part]


def fill(
    template: Sequence[str | Place], value: Callable[[str, int], str]
) -> list[tuple[str, str]]:
    """Return what kind each part of a sentence is, and its text: of places what `value` gives."""
    return [
        ("text", part) if isinstance(part, str) else (part[0], value(*part)) for part in template
    ]


def standing_of(ranking: Ranking | None) -> str:
    """Return the standing of a ranking, of which `templates` has the sentence."""
    if ranking is None:
        return "untested"
    if ranking.state == "equal":
        return "equal"
    is_tied = len(ranking.best) == 2 and not ranking.row(*ranking.best).difference
    return "tied" if is_tied else str(len(ranking.best))


def unclear(decision: Decision) -> str:
    """Return what stands in the strip where nobody is clearly cheapest."""
    return "too close to call" if decision.rankings else "not tested"


def hundredths(share: float) -> int:
    """Return a share as so many of 100, which are all or none only if the share is."""
    return int(share) * 100 if share in (0, 1) else min(max(round(100 * share), 1), 99)

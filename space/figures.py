"""What each choice costs, as sentence, bars, curve, strip and mark in the visitor's money; and further curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup

from ecuas_metric.comparison.rows import REJECTING
from ecuas_metric.inputs import Floats
from ecuas_metric.plotting.curves import RejectCostCurve
from ecuas_metric.plotting.figures import (
    order_figure,
    reject_cost_figure,
    reliability_figure,
    risk_coverage_figure,
    save,
)
from ecuas_metric.plotting.names import short_names
from ecuas_metric.reporting.report import texts_apart
from ecuas_metric.results import System

from .markup import html
from .verdict import (
    SUB,
    Decision,
    fill,
    hundredths,
    remarks,
    standing_of,
    template_on_costs,
    templates,
    unclear,
)

NUM_SLOTS = 6  # colours that are told apart, see style.css
REST = "rest"  # the class of the systems after the sixth
REFERENCE = "reference"  # the class of rejecting everything
WRONG = 10.0  # what a mistake costs where a result opens, and
SHOWN_FIRST = 0.1  # of this what a rejected answer does
SHOWN_DIGITS = 2  # of an amount there
SCALE = 1_000_000  # units of both axes of the drawing
CUT = 1.35  # times the dearest system: where the bar of rejecting everything is cut
STEPS = [step * 10.0**power for power in range(-9, 3) for step in (1, 2, 5)]
MOST_TICKS = 5
LABEL = 24  # characters of a name at its curve
LABEL_HEIGHT = 0.1  # of the height of the plot
HEADROOM = 1.12  # for a label

FIGURES = {
    "cost": ("Cost against the cost of a rejected answer, with intervals", reject_cost_figure),
    "ecuas": ("ECUAS_n for every n", order_figure),
    "risk": ("How often the accepted answers are wrong", risk_coverage_figure),
    "reliability": ("Are the confidences true?", reliability_figure),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A choice: its place among the curves, its class, what a question costs, how many of 100 it answers."""

    place: int
    name: str
    style: str
    cost: str
    answers: int
    width: float  # of the longest bar, in percent
    is_best: bool


def slots(names: Mapping[str, object] | list[str]) -> dict[str, str]:
    """Return a class for each name: the first six have their own, the others share `rest`.

    >>> slots(list("abcdefg"))["g"]
    'rest'
    """
    numbered = enumerate(dict.fromkeys(names), 1)
    return {name: f"slot-{i}" if i <= NUM_SLOTS else REST for i, name in numbered}


def opening_html(decision: Decision | str, styles: Mapping[str, str]) -> Markup:
    """Lay out the two prices, and what they decide: the sentence, bars, curves, strip and mark, in the same money."""
    if isinstance(decision, str):
        return html("undecided", remark=decision)
    styles = {**styles, REJECTING: REFERENCE}
    screen = _Opening(decision, SHOWN_FIRST)
    largest = decision.largest
    top = HEADROOM * max(peak(decision.curves[name], largest) for name in decision.systems) or 1.0
    on_costs, ends = template_on_costs(decision)
    names = list(decision.curves)
    data = {
        "at": decision.tested.round(9).tolist(),
        "best": [[names.index(name) for name in one.best] for one in decision.rankings],
        "equal": [int(one.state == "equal") for one in decision.rankings],
        "last": min(decision.last, largest),
        "templates": templates(decision),
        "sub": SUB,
        "costs": on_costs,
        "ends": ends,
        "names": names,
        "largest": largest,
        "top": top,
        "cut": CUT,
        "shown": NUM_SLOTS,
    }
    return html(
        "decision",
        data=data,
        said=screen.said(),
        sub=screen.sub(),
        on_costs=fill(
            on_costs, lambda kind, i: f"{WRONG * ends[i]:g}" if kind == "at" else names[i]
        ),
        wrong=f"{WRONG:g}",
        rejected=f"{WRONG * SHOWN_FIRST:g}",
        mark=100 * SHOWN_FIRST / largest,
        bars=screen.bars(styles),
        curves=[
            (name, styles[name], draw_line(curve, largest, top), _shares(curve))
            for name, curve in decision.curves.items()
        ],
        labels=_labels(decision, styles, top),
        strip=[
            (winner, styles.get(winner or "", ""), 100 * low / largest, 100 * high / largest)
            for winner, low, high in stretches(decision)
        ],
        ticks=[(f"{WRONG * tick:g}", tick, 100 * tick / largest) for tick in ticks(largest)],
        heights=[(f"{WRONG * tick:g}", tick, 100 * tick / top) for tick in ticks(top)],
        remarks=remarks(decision),
        samples=next(iter(decision.verdict.systems.values())).num_samples,
        alpha=f"{decision.verdict.alpha:.0%}",
        tested=len(decision.rankings),
        shown=NUM_SLOTS,
        nobody=unclear(decision),
    )


def stretches(decision: Decision) -> list[tuple[str | None, float, float]]:
    """Return who is clearly cheapest (None: nobody) from which to which reject cost, by the test of all together."""
    strip: list[tuple[str | None, float, float]] = []
    end = 0.0
    for region in decision.verdict.regions:
        high = decision.largest if region.high >= decision.last else region.high
        strip += [(None, end, region.low), (region.winner, region.low, high)]
        end = high
    return [*strip, (None, end, decision.largest)]


def draw_line(curve: RejectCostCurve, largest: float, top: float) -> str:
    """Return a curve as the path of an SVG, in units of its axes: a line to each step, and up or down it.

    page.js takes every cost from it: what is said is what is drawn.
    """
    x = (SCALE * curve.reject_cost / largest).round().astype(int)
    below = (SCALE * _before_steps(curve) / top).round().astype(int)
    y = (SCALE * curve.expected_cost / top).round().astype(int)
    steps = zip(x.tolist(), below.tolist(), y.tolist(), strict=True)
    end = round(SCALE * _at_end(curve, largest) / top)
    return "M0,0" + "".join(f"L{a},{b}V{c}" for a, b, c in steps) + f"L{SCALE},{end}"


def peak(curve: RejectCostCurve, largest: float) -> float:
    """Return the largest expected cost of a curve."""
    costs = [*_before_steps(curve), *curve.expected_cost, _at_end(curve, largest)]
    return float(max(costs))


def ticks(high: float) -> list[float]:
    """Return a few round numbers from 0 to `high`."""
    step = next(step for step in STEPS if high / step <= MOST_TICKS * (1 + 1e-9))
    return [round(i * step, 12) for i in range(int(high / step + 1e-9) + 1)]


def _before_steps(curve: RejectCostCurve) -> Floats:
    """Return the expected cost just before each step (G,)."""
    rise = np.diff(curve.reject_cost) * (1 - curve.coverage[:-1])
    return np.append(0.0, curve.expected_cost[:-1] + rise)


def _at_end(curve: RejectCostCurve, largest: float) -> float:
    rejected = 1 - float(curve.coverage[-1])
    return float(curve.expected_cost[-1]) + (largest - float(curve.reject_cost[-1])) * rejected


def _shares(curve: RejectCostCurve) -> str:
    """Return the coverage from each step on, in units of the drawing."""
    return " ".join(map(str, (SCALE * curve.coverage).round().astype(int).tolist()))


class _Opening:
    """What stands on the first screen where it opens, at the prices `WRONG` and a part of it."""

    def __init__(self, decision: Decision, cost: float) -> None:
        found = decision.at(cost)
        ranking = min(
            decision.rankings, key=lambda one: abs((one.key.parameter or 0.0) - cost), default=None
        )
        cheapest = sorted(found, key=lambda name: found[name][0])
        best = ranking.best if ranking else ()
        self.order = [*best, *(name for name in cheapest if name not in best)]
        self.cheapest = cheapest
        self.winner = ranking.winner if ranking else None
        self.template = templates(decision)[standing_of(ranking)]
        self.decision = decision
        self.cost = cost
        self.found = found

    def said(self) -> list[tuple[str, str]]:
        """Return who is cheapest."""
        first, second = (self.found[name][0] for name in self.order[:2])
        amounts = {
            part: WRONG
            * (abs(first - second) if part[0] == "gap" else self.found[self.order[part[1]]][0])
            for part in self.template
            if not isinstance(part, str) and part[0] != "name"
        }
        texts = dict(zip(amounts, texts_apart(list(amounts.values()), SHOWN_DIGITS), strict=True))
        return fill(
            self.template, lambda *part: self.order[part[1]] if part[0] == "name" else texts[part]
        )

    def sub(self) -> list[tuple[str, str]]:
        """Return how many answers the cheapest choice gives, and how many of them are right."""
        name = self.order[0]
        cost, share = self.found[name]
        if not share:
            return []
        right = 1 - (cost - self.cost * (1 - share)) / share
        values = {"name": name, "share": f"{hundredths(share)}", "right": f"{hundredths(right)}"}
        return fill(SUB, lambda kind, _: values[kind])

    def bars(self, styles: Mapping[str, str]) -> list[Bar]:
        """Return the choices, the cheapest first."""
        dearest = max(self.found[name][0] for name in self.decision.systems)
        full = max(dearest, min(self.cost, CUT * dearest)) or 1.0
        names = list(self.decision.curves)
        return [
            Bar(
                names.index(name),
                name,
                styles[name],
                f"{WRONG * self.found[name][0]:.{SHOWN_DIGITS}f}",
                hundredths(self.found[name][1]),
                width=100 * min(self.found[name][0] / full, 1.0),
                is_best=name == self.winner,
            )
            for name in self.cheapest
        ]


def _labels(
    decision: Decision, styles: Mapping[str, str], top: float
) -> list[tuple[str, str, float]]:
    """Return short names, classes, and how far below the top of the plot a name stands beside the end of its curve.

    Those for which there is no room are left out: the bars have all names and colours.
    """
    coloured = [name for name in decision.systems if styles[name] != REST]
    ends = {name: 1 - _at_end(decision.curves[name], decision.largest) / top for name in coloured}
    short = short_names(coloured, longest=LABEL)
    labels = []
    free = 0.0
    for name in sorted(coloured, key=ends.__getitem__):
        place = ends[name] - LABEL_HEIGHT
        if place >= free:
            labels.append((short[name], styles[name], 100 * place))
            free = ends[name]
    return labels


def draw(systems: Mapping[str, System], folder: Path) -> dict[str, str]:
    """Write the figures of systems into a folder; return the path of each by its title."""
    paths = {}
    for name, (title, figure) in FIGURES.items():
        (path,) = save(figure(systems), folder / name, suffixes=(".png",))
        paths[title] = str(path)
    return paths

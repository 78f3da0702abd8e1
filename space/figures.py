"""What each choice costs, as sentence, bars, curve, strip and mark in the visitor's money; and further curves."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup

from ecuas_metric.comparison.rows import REJECTING
from ecuas_metric.plotting.curves import RejectCostCurve
from ecuas_metric.plotting.names import short_names
from ecuas_metric.reporting.report import texts_apart, write_figures
from ecuas_metric.results import System

from .markup import html
from .verdict import (
    SUB,
    Decision,
    Template,
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
REJECTED = 0.1  # of this what a rejected answer does
SHOWN_DIGITS = 2  # of an amount there
SCALE = 1_000_000  # units of both axes of the drawing
CUT = 1.35  # times the dearest system: where the bar of rejecting everything is cut
STEPS = [step * 10.0**power for power in range(-9, 3) for step in (1, 2, 5)]
MOST_TICKS = 5
LABEL = 24  # characters of a name at its curve
LABEL_HEIGHT = 0.1  # of the height of the plot
HEADROOM = 1.12  # for a label

TITLES = {  # of figures, by the names of their files
    "reject_cost": "Cost against the cost of a rejected answer, with intervals",
    "ecuas_against_n": "ECUAS_n for every n",
    "risk_coverage": "How often the accepted answers are wrong",
    "reliability": "Are the confidences true?",
}


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
    largest = decision.largest
    ends = {name: cost for name, (cost, _) in decision.at(largest).items()}
    curves = decision.curves
    names = list(curves)
    peaks = [max(ends[name], curves[name].expected_cost.max()) for name in decision.systems]
    top = HEADROOM * float(max(peaks)) or 1.0
    on_costs, edges = template_on_costs(decision)
    data = {
        "at": decision.tested.round(9).tolist(),
        "best": [[names.index(name) for name in one.best] for one in decision.rankings],
        "equal": [int(one.state == "equal") for one in decision.rankings],
        "last": min(decision.last, largest),
        "templates": templates(decision),
        "sub": SUB,
        "costs": on_costs,
        "ends": edges,
        "names": names,
        "largest": largest,
        "top": top,
        "cut": CUT,
        "shown": NUM_SLOTS,
    }

    def edge(kind: str, i: int) -> str:
        return names[i] if kind == "name" else f"{WRONG * edges[i]:g}"

    return html(
        "decision",
        **_lay_out_screen(decision, styles),
        data=data,
        on_costs=fill(on_costs, edge),
        prices=[f"{WRONG:g}", f"{WRONG * REJECTED:g}"],
        mark=100 * REJECTED / largest,
        curves=[
            (styles[name], draw_line(curve, largest, top, ends[name]), shares_of(curve))
            for name, curve in curves.items()
        ],
        labels=_labels({name: 1 - ends[name] / top for name in decision.systems}, styles),
        strip=stretches(decision),
        styles=styles,
        ticks=ticks(largest),
        heights=ticks(top),
        money=WRONG,
        remarks=remarks(decision),
        samples=next(iter(decision.verdict.systems.values())).num_samples,
        alpha=f"{decision.verdict.alpha:.0%}",
        nobody=unclear(decision),
    )


def _lay_out_screen(decision: Decision, styles: Mapping[str, str]) -> dict[str, object]:
    """Return what page.js changes, for the prices of the opening: who is cheapest, what it answers, and bars."""
    found = decision.at(REJECTED)
    cheapest = sorted(found, key=lambda name: found[name][0])
    near = {abs((one.key.parameter or 0.0) - REJECTED): one for one in decision.rankings}
    ranking = near[min(near)] if near else None
    best = ranking.best if ranking else ()
    order = list(dict.fromkeys([*best, *cheapest]))
    template = templates(decision)[standing_of(ranking)]
    cost, share = found[order[0]]
    right = 1 - (cost - REJECTED * (1 - share)) / share if share else 0.0
    counts = {"name": order[0], "share": f"{hundredths(share)}", "right": f"{hundredths(right)}"}
    return {
        "said": _said(template, order, [WRONG * found[name][0] for name in order]),
        "sub": fill(SUB, lambda kind, _: counts[kind]) if share else [],
        "bars": _bars({name: found[name] for name in cheapest}, decision, styles),
        "winner": ranking and ranking.winner,
    }


def _said(
    template: Template, names: Sequence[str], costs: Sequence[float]
) -> list[tuple[str, str]]:
    """Return the sentence on choices and their costs, in which amounts that differ look different."""
    gap = abs(costs[1] - costs[0])
    places = [part for part in template if isinstance(part, tuple) and part[0] != "name"]
    amounts = [gap if kind == "gap" else costs[i] for kind, i in places]
    texts = dict(zip(places, texts_apart(amounts, SHOWN_DIGITS), strict=True))
    return fill(template, lambda *place: texts.get(place) or names[place[1]])


def _bars(
    found: Mapping[str, tuple[float, float]], decision: Decision, styles: Mapping[str, str]
) -> list[dict[str, object]]:
    """Return a bar for each choice with its cost and the share that it answers, as long as its cost."""
    dearest = max(found[name][0] for name in decision.systems)
    full = max(dearest, min(REJECTED, CUT * dearest)) or 1.0
    places = list(decision.curves)
    return [
        {
            "place": places.index(name),
            "name": name,
            "style": styles[name],
            "cost": f"{WRONG * cost:.{SHOWN_DIGITS}f}",
            "answers": hundredths(share),
            "width": 100 * min(cost / full, 1),
        }
        for name, (cost, share) in found.items()
    ]


def stretches(decision: Decision) -> list[tuple[str | None, float, float]]:
    """Return who is clearly cheapest (None: nobody) from which to which reject cost, by the test of all together."""
    strip: list[tuple[str | None, float, float]] = []
    end = 0.0
    for region in decision.verdict.regions:
        high = decision.largest if region.high >= decision.last else region.high
        strip += [(None, end, region.low), (region.winner, region.low, high)]
        end = high
    return [*strip, (None, end, decision.largest)]


def draw_line(curve: RejectCostCurve, largest: float, top: float, end: float) -> str:
    """Return a curve as the path of an SVG, in units of its axes: a line to each step, and up or down it.

    page.js takes every cost from it: what is said is what is drawn.
    """
    rise = np.diff(curve.reject_cost) * (1 - curve.coverage[:-1])
    before = np.append(0.0, curve.expected_cost[:-1] + rise)  # each step
    columns = (curve.reject_cost / largest, before / top, curve.expected_cost / top)
    steps = (SCALE * np.column_stack(columns)).round().astype(int)
    lines = (f"L{x},{low}V{high}" for x, low, high in steps.tolist())
    return f"M0,0{''.join(lines)}L{SCALE},{round(SCALE * end / top)}"


def shares_of(curve: RejectCostCurve) -> str:
    """Return the coverage from each step on, in units of the drawing."""
    return " ".join(map(str, (SCALE * curve.coverage).round().astype(int).tolist()))


def ticks(high: float) -> dict[float, float]:
    """Return a few round numbers from 0 to `high`, and where they are, in percent."""
    step = next(step for step in STEPS if high / step <= MOST_TICKS * (1 + 1e-9))
    values = (round(i * step, 12) for i in range(int(high / step + 1e-9) + 1))
    return {value: 100 * value / high for value in values}


def _labels(below: Mapping[str, float], styles: Mapping[str, str]) -> list[tuple[str, str, float]]:
    """Return short names, classes, and how far below the top of the plot a name stands, above the end of its curve.

    Those for which there is no room are left out: the bars have all names and colours.
    """
    coloured = [name for name in sorted(below, key=below.__getitem__) if styles[name] != REST]
    short = short_names(coloured, longest=LABEL)
    labels = []
    free = 0.0
    for name in coloured:
        place = below[name] - LABEL_HEIGHT
        if place >= free:
            labels.append((short[name], styles[name], 100 * place))
            free = below[name]
    return labels


def draw(systems: Mapping[str, System], folder: Path) -> dict[str, str]:
    """Write the figures of systems into a folder; return the path of each by its title."""
    drawn = {path.stem: str(path) for path in write_figures(systems, folder, (".png",))}
    return {title: drawn[name] for name, title in TITLES.items() if name in drawn}

"""Which system costs its users least, at the reject cost that the visitor sets."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np

from ecuas_metric.plotting.curves import reject_cost_curve
from ecuas_metric.results import System

from .markup import message
from .plots import NUM_SLOTS, slots

REJECT_COSTS = np.arange(101) / 100  # where the slider can be
SAME = 5e-4  # costs that are equal in three digits are called equal
NOT_SAID = "Which to deploy is not said: these systems do not answer the same questions, or not all are judged."
Costs = Mapping[str, Mapping[str, list[float]]]


def costs_of(systems: Mapping[str, System]) -> dict[str, dict[str, list[float]]]:
    """Return the expected cost, and the share of answers that are accepted, of each system at each `REJECT_COSTS`."""
    curves = {name: reject_cost_curve(system, reject_cost=REJECT_COSTS) for name, system in systems.items()}
    return {
        name: {"cost": curve.expected_cost.tolist(), "coverage": curve.coverage.tolist()}
        for name, curve in curves.items()
    }


def deployment(costs: Costs | None, reject_cost: float) -> str:
    """Say which system to deploy at a reject cost, and show what each costs there; nothing without systems.

    Parameters
    ----------
    costs : mapping, optional
        Of `costs_of`; empty if the systems must not be ranked.
    reject_cost : float
        In [0, 1].
    """
    if costs is None:
        return ""
    if not costs:
        return message(NOT_SAID)
    row = min(max(round(100 * reject_cost), 0), 100)
    now = {name: curve["cost"][row] for name, curve in costs.items()}
    best = [name for name, cost in now.items() if cost <= min(now.values()) + SAME]
    best = best if min(now.values()) + SAME < row / 100 else []
    highest = max(max(curve["cost"]) for curve in costs.values())
    styles, bars = slots(costs), []
    for name in sorted(costs, key=lambda name: styles[name] == "rest" and now[name])[: NUM_SLOTS + 1]:
        answered = f"answers {costs[name]['coverage'][row]:.0%}"
        bars.append(_bar(name, now[name], highest, styles[name], answered, is_best=name in best))
    bars.append(_bar("no system", row / 100, highest, "reference", "answers nothing", is_best=not best))
    verdict = f'<div role="status">{_verdict(best, now, row / 100)}</div>'
    return f'{verdict}{_winners(costs, styles)}<ul class="costs">{"".join(bars)}</ul>'


def winners(costs: Costs) -> list[tuple[str, float, float]]:
    """Return the cheapest system, and from which to which reject cost it is; "no system" where that costs no more."""
    names = ["no system", *costs]
    table = np.array([REJECT_COSTS + SAME, *(curve["cost"] for curve in costs.values())])
    best = table[:, 1:].argmin(axis=0)  # at 0 all are free
    starts = np.flatnonzero(np.diff(best, prepend=-1))
    ends = [*starts[1:], len(best)]
    return [
        (names[best[start]], float(REJECT_COSTS[start + 1 if start else 0]), float(REJECT_COSTS[end]))
        for start, end in zip(starts, ends, strict=True)
    ]


def _winners(costs: Costs, styles: Mapping[str, str]) -> str:
    """Show the cheapest system at each reject cost as one strip, below the slider that sets it."""
    found = winners(costs)
    parts = "".join(
        f'<i class="{styles.get(name, "reference")}" style="width:{high - low:.0%}" title="{escape(name)}"></i>'
        for name, low, high in _joined(found)
    )
    shown = [f"{escape(name)} up to {high:.2f}" for name, _, high in found[:-1]] + [escape(found[-1][0])]
    text = ", then ".join(shown) if len(found) <= NUM_SLOTS else f"{len(found)} changes"
    caption = f'<p class="caption">Cheapest as the reject cost grows from 0 to 1: {text}.</p>'
    return f'{caption}<div class="winners">{parts}</div>'


def _joined(found: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Let each winner begin where the one before ends."""
    starts = [0.0, *(high for _, _, high in found[:-1])]
    return [(name, start, high) for start, (name, _, high) in zip(starts, found, strict=True)]


def _verdict(best: list[str], now: Mapping[str, float], reject_cost: float) -> str:
    names = " or ".join(f"<b>{escape(name)}</b>" for name in best[:3]) or "<b>none</b>"
    cost = f"{min(now.values()):.3f} for each of these questions"
    why = f"It costs {cost}" if best else f"The cheapest costs {cost}, and answering nothing no more"
    return (
        f'<p class="verdict">At reject cost {reject_cost:.2f}, deploy {names}.</p>'
        f'<p class="caption">{why}, where a mistake costs 1 and a rejected answer {reject_cost:.2f}.</p>'
    )


def _bar(name: str, cost: float, highest: float, style: str, answered: str, *, is_best: bool) -> str:
    wide = 100 * min(cost / highest, 1) if highest else 0.0
    mark = " ★" if is_best else ""
    style, name = f"{style} best" if is_best else style, escape(name)
    return (
        f'<li class="{style}"><span class="who" title="{name}">{name}</span>'
        f'<span class="track"><i style="width:{wide:.1f}%"></i></span>'
        f"<b>{cost:.3f}{mark}</b><small>{answered}</small></li>"
    )

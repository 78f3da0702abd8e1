"""Systems -> their curves, the data frame of each plot, and the plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ecuas_metric.inputs import Floats
from ecuas_metric.plotting.curves import (
    OrderCurve,
    RejectCostCurve,
    Reliability,
    RiskCoverage,
    order_curve,
    reject_cost_curve,
    reliability,
    risk_coverage,
)
from ecuas_metric.results import System

from .plots import multiples, plot, slots

NUM_POINTS = 200
ORDERS = (0, *(2.0**power for power in range(-3, 8)), math.inf)
ACCEPT, REJECT, CALIBRATED = "(accept all)", "(reject all)", "(calibrated)"  # unlikely names of systems


class Curves(NamedTuple):
    """What the plots show of one system, computed once from its one sort."""

    reject_cost: RejectCostCurve
    orders: OrderCurve
    risk_coverage: RiskCoverage
    reliability: Reliability


def curves_of(system: System) -> Curves:
    """Compute all curves of a system."""
    return Curves(
        reject_cost_curve(system, num_points=NUM_POINTS + 1),
        order_curve(system, n=ORDERS),
        risk_coverage(system),
        reliability(system),
    )


def figures(systems: Mapping[str, System]) -> tuple[str, str, str, str, str]:
    """Draw cost against reject cost, ECUAS_n against n, risk against coverage, reliability, and the confidences."""
    drawn = {name: curves_of(system) for name, system in systems.items()}
    costs, styled = reject_cost_frame(drawn), styles(systems)
    return (
        plot(costs, styled, title="Cost against reject cost", y_lim=(0, highest_cost(costs))),
        plot(order_frame(drawn), styled, title="ECUAS_n against n", y_title="ECUAS_n", kind="marks"),
        plot(risk_coverage_frame(drawn), styled, title="Risk against coverage", x_lim=(0, 1)),
        reliability_figure(drawn),
        multiples(counts_frame(drawn), slots(systems), title="Samples by confidence"),
    )


def reliability_figure(drawn: Mapping[str, Curves]) -> str:
    """Draw accuracy against confidence."""
    frame = reliability_frame(drawn)
    return plot(frame, styles(drawn), title="Reliability", kind="marks", x_lim=(0, 1), y_lim=(0, 1))


def risk_coverage_frame(drawn: Mapping[str, Curves]) -> pd.DataFrame:
    """Return columns coverage, risk, system: at most `NUM_POINTS` points per system."""
    risks = {name: curves.risk_coverage for name, curves in drawn.items()}
    return stacked({name: _thinned(curve.coverage, curve._asdict()) for name, curve in risks.items()})


def reject_cost_frame(drawn: Mapping[str, Curves]) -> pd.DataFrame:
    """Return columns reject_cost, expected_cost, coverage, system; also of users who accept or reject everything."""
    costs = {name: curves.reject_cost for name, curves in drawn.items()}
    columns = ("reject_cost", "expected_cost", "coverage")
    frames = {name: {column: getattr(curve, column) for column in columns} for name, curve in costs.items()}
    all_, none = np.ones(NUM_POINTS + 1), np.zeros(NUM_POINTS + 1)
    for name, curve in costs.items():
        frames[f"{ACCEPT} {name}"] = frames[name] | {"expected_cost": curve.accept_all, "coverage": all_}
    widest = max(costs.values(), key=lambda curve: curve.reject_cost[-1])
    reject = {"reject_cost": widest.reject_cost, "expected_cost": widest.reject_all, "coverage": none}
    return stacked(frames | {REJECT: reject})


def highest_cost(frame: pd.DataFrame) -> float:
    """Return the upper limit of a plot of `reject_cost_frame` that cuts only the line of rejecting everything."""
    return 1.15 * float(frame["expected_cost"][frame["system"] != REJECT].max())


def reliability_frame(drawn: Mapping[str, Curves]) -> pd.DataFrame:
    """Return columns confidence, accuracy, samples, system, one row for each bin with samples; and the diagonal."""
    frames: dict[str, dict[str, Any]] = {}
    for name, (*_, bins) in drawn.items():
        some = np.isfinite(bins.accuracy)
        frames[name] = {"confidence": bins.confidence[some], "accuracy": bins.accuracy[some]}
        frames[name]["samples"] = bins.counts[some]
    diagonal = np.array([0.0, 1.0])
    return stacked(frames | {CALIBRATED: {"confidence": diagonal, "accuracy": diagonal, "samples": [0, 0]}})


def counts_frame(drawn: Mapping[str, Curves]) -> pd.DataFrame:
    """Return columns confidence (a bin), samples, system: how many confidences lie in each bin of ECE."""
    frames = {}
    for name, (*_, bins) in drawn.items():
        names = [f"{low:.1f}-{high:.1f}" for low, high in zip(bins.low, bins.high, strict=True)]
        frames[name] = {"confidence": names, "samples": bins.counts}
    return stacked(frames)


def order_frame(drawn: Mapping[str, Curves]) -> pd.DataFrame:
    """Return columns n, ecuas, system, for n = 0, powers of two, and infinity; n is text, evenly spaced in a plot."""
    names = [order_name(order) for order in ORDERS]
    return stacked({name: {"n": names, "ecuas": curves.orders.ecuas} for name, curves in drawn.items()})


def order_name(order: float) -> str:
    """Return an n as people write it, e.g. 1/8, 4 or ∞."""
    if 0 < order < 1:
        return f"1/{1 / order:g}"
    return "∞" if order == math.inf else f"{order:g}"


def styles(systems: Iterable[str]) -> dict[str, str]:
    """Return a class for each line that a plot of these systems may have; accepting all is drawn faintly."""
    own = slots(systems)
    faint = {f"{ACCEPT} {name}": f"{style} faint" for name, style in own.items()}
    return own | faint | dict.fromkeys((REJECT, CALIBRATED), "reference")


def stacked(frames: Mapping[str, Mapping[str, Any]], *, names: str = "system") -> pd.DataFrame:
    """Stack the columns of all lines, rounded to what a reader can use; the column `names` has their names."""
    parts = [pd.DataFrame(columns).assign(**{names: name}) for name, columns in frames.items()]
    frame = pd.concat(parts, ignore_index=True)
    return frame.round({column: 5 for column in frame.select_dtypes("float")})


def _thinned(along: Floats, columns: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the rows whose values of `along`, increasing, are nearest above evenly spaced ones, and first and last."""
    if len(along) <= NUM_POINTS:
        return dict(columns)
    rows = np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], NUM_POINTS)))
    return {name: values[rows] for name, values in columns.items()}

"""Reports and systems -> what the page shows: HTML tables, and the data frame of each plot. No Gradio here."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from ecuas_metric.costs import ecuas_cost
from ecuas_metric.metrics import metric_of
from ecuas_metric.plotting.curves import confidence_cost, order_curve, reject_cost_curve, reliability, risk_coverage
from ecuas_metric.reporting.comparison import base_key
from ecuas_metric.reporting.report import Report, report_grid
from ecuas_metric.results import System

from .plots import multiples, plot, slots

NUM_POINTS = 200
ORDERS = (0, *(2.0**power for power in range(-3, 8)), math.inf)
JUDGES = {"both": "answers and confidences", "decisions": "answers", "confidences": "confidences only"}
ACCEPT, REJECT, CALIBRATED = "(accept all)", "(reject all)", "(calibrated)"  # not likely names of systems
COST_LIMIT = 5.0  # of the plot: at n = 0 a sure mistake costs 16
CORRECT, INCORRECT, CHOSEN = "correct answer", "incorrect answer", "your confidence"
Systems = Mapping[str, System]


def report_table(report: Report, *, digits: int = 3) -> str:
    """Return a report as an HTML table: the best marked, what each metric tells on its head, a colour a row.

    Parameters
    ----------
    report : Report
    digits : int
        After the decimal point.

    Returns
    -------
    str
        Names are escaped.
    """
    grid = report_grid(report, digits=digits)
    heads = [f'<th scope="col">{escape(grid.head[0])}</th>']
    for key, head in zip(report.keys, grid.head[1:], strict=True):
        heads.append(f'<th scope="col"><abbr title="{escape(tells(key))}">{escape(head)}</abbr></th>')
    swatches = slots(report.values)
    body = "".join(
        f"<tr>{_name(row[0].text, swatches[row[0].text])}{''.join(map(_cell, row[1:]))}</tr>" for row in grid.rows
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in grid.notes)
    glossary = "".join(
        f"<dt>{escape(head)}</dt><dd>{escape(tells(key))}</dd>"
        for key, head in zip(report.keys, grid.head[1:], strict=True)
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Metrics of each system"><table class="report">'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{body}</tbody></table></div>{notes}"
        f"<details><summary>What each metric tells</summary><dl>{glossary}</dl></details>"
    )


def tells(key: str) -> str:
    """Return in one line what a metric tells, what it judges, and which way is better."""
    metric = metric_of(base_key(key))
    judged = JUDGES.get(metric.judges, metric.judges)
    better = {True: "higher is better", False: "lower is better", None: "neither way is better"}[
        metric.higher_is_better
    ]
    relative = {"normalized": " Divided by the value of a system that ignores its input."}.get(key.split("_")[0], "")
    return f"{metric.tells}. Judges {judged}; {better}.{relative}"


def figures(systems: Systems) -> list[str]:
    """Draw cost against reject cost, ECUAS_n against n, risk against coverage, reliability, and the confidences."""
    costs, styled = reject_cost_frame(systems), styles(systems)
    return [
        plot(costs, styled, title="Cost against reject cost", y_lim=(0, highest_cost(costs))),
        plot(order_frame(systems), styled, title="ECUAS_n against n", y_title="ECUAS_n", kind="marks"),
        plot(risk_coverage_frame(systems), styled, title="Risk against coverage", x_lim=(0, 1)),
        reliability_figure(systems),
        multiples(counts_frame(systems), slots(systems), title="Samples by confidence"),
    ]


def risk_coverage_frame(systems: Systems) -> pd.DataFrame:
    """Return columns coverage, risk, system: at most `NUM_POINTS` points a system."""
    curves = {name: risk_coverage(system.graded, **_weight(system)) for name, system in systems.items()}
    return _stacked({name: _thinned(curve.coverage, curve._asdict()) for name, curve in curves.items()})


def reject_cost_frame(systems: Systems) -> pd.DataFrame:
    """Return columns reject_cost, expected_cost, coverage, system; also of users who accept or reject everything."""
    curves = {
        name: reject_cost_curve(system.graded, num_points=NUM_POINTS + 1, **_weight(system))
        for name, system in systems.items()
    }
    columns = ("reject_cost", "expected_cost", "coverage")
    frames = {name: {column: getattr(curve, column) for column in columns} for name, curve in curves.items()}
    for name, curve in curves.items():
        frames[f"{ACCEPT} {name}"] = frames[name] | {
            "expected_cost": curve.accept_all,
            "coverage": np.ones(NUM_POINTS + 1),
        }
    widest = max(curves.values(), key=lambda curve: curve.reject_cost[-1])
    nothing = {"expected_cost": widest.reject_all, "coverage": np.zeros(NUM_POINTS + 1)}
    return _stacked(frames | {REJECT: {"reject_cost": widest.reject_cost} | nothing})


def highest_cost(frame: pd.DataFrame) -> float:
    """Return the upper limit of a plot of `reject_cost_frame` that leaves out only what rejecting everything costs."""
    return 1.15 * float(frame["expected_cost"][frame["system"] != REJECT].max())


def reliability_frame(systems: Systems) -> pd.DataFrame:
    """Return columns confidence, accuracy, samples, system, a row for each bin that has samples; and the diagonal."""
    frames: dict[str, Any] = {}
    for name, system in systems.items():
        bins = reliability(system.graded, **_weight(system))
        some = np.isfinite(bins.accuracy)
        frames[name] = {"confidence": bins.confidence[some], "accuracy": bins.accuracy[some]}
        frames[name]["samples"] = bins.counts[some]
    diagonal = np.array([0.0, 1.0])
    return _stacked(frames | {CALIBRATED: {"confidence": diagonal, "accuracy": diagonal, "samples": [0, 0]}})


def counts_frame(systems: Systems) -> pd.DataFrame:
    """Return columns confidence (a bin), samples, system: how many confidences lie in each bin of ECE."""
    frames = {}
    for name, system in systems.items():
        bins = reliability(system.graded, **_weight(system))
        names = [f"{low:.1f}-{high:.1f}" for low, high in zip(bins.low, bins.high, strict=True)]
        frames[name] = {"confidence": names, "samples": bins.counts}
    return _stacked(frames)


def order_frame(systems: Systems) -> pd.DataFrame:
    """Return columns n, ecuas, system, for n = 0, powers of two, and infinity; n is text, evenly spaced in a plot."""
    names = [order_name(order) for order in ORDERS]
    curves = {name: order_curve(system.graded, n=ORDERS, **_weight(system)) for name, system in systems.items()}
    return _stacked({name: {"n": names, "ecuas": curve.ecuas} for name, curve in curves.items()})


def order_name(order: float) -> str:
    """Return an n as people write it, as 1/8, 4 or ∞."""
    if 0 < order < 1:
        return f"1/{1 / order:g}"
    return "∞" if order == math.inf else f"{order:g}"


def cost_frame(*, n: float, num_classes: float | None, confidence: float) -> pd.DataFrame:
    """Return columns confidence, cost, answer: the two curves of ECUAS_n, and a line between them at a confidence."""
    curve = confidence_cost(n=n, num_classes=num_classes, num_points=NUM_POINTS + 1)
    costs = answer_costs(n=n, num_classes=num_classes, confidence=confidence)
    lines: dict[str, Any] = {
        CORRECT: {"confidence": curve.confidence, "cost": curve.correct},
        INCORRECT: {"confidence": curve.confidence, "cost": curve.incorrect},
        CHOSEN: {"confidence": [confidence, confidence], "cost": costs},
    }
    return _stacked(lines, names="answer")


def answer_costs(*, n: float, num_classes: float | None, confidence: float) -> tuple[float, float]:
    """Return what a correct and an incorrect answer of this confidence cost."""
    u_max = 1.0 if num_classes is None else 1 - 1 / num_classes
    uncertainty = min(1 - confidence, u_max)  # below 1/K the answer counts as rejected, which costs 1
    right, wrong = ecuas_cost([uncertainty] * 2, [0, 1], n=n, max_uncertainty=u_max)
    return float(right), float(wrong)


def cost_numbers(*, n: float, num_classes: float | None, confidence: float) -> str:
    """Return the two costs of `answer_costs` as HTML, with a word on confidences that say less than nothing."""
    right, wrong = answer_costs(n=n, num_classes=num_classes, confidence=confidence)
    numbers = "".join(
        f'<div><span>{name}</span><b class="{style}">{value:.3f}</b></div>'
        for name, value, style in ((CORRECT, right, "slot-1"), (INCORRECT, wrong, "slot-2"))
    )
    low = 0.0 if num_classes is None else 1 / num_classes
    note = f"Below 1/K = {low:.3f} an answer counts as rejected, which costs 1." if confidence < low else ""
    return f'<div class="numbers">{numbers}</div>{message(note)}'


def reliability_figure(systems: Systems) -> str:
    """Draw accuracy against confidence."""
    frame = reliability_frame(systems)
    return plot(frame, styles(systems), title="Reliability", kind="marks", x_lim=(0, 1), y_lim=(0, 1))


def cost_figure(*, n: float, num_classes: float | None, confidence: float) -> str:
    """Draw `cost_frame`."""
    frame = cost_frame(n=n, num_classes=num_classes, confidence=confidence)
    lines, limits = slots(frame["answer"]), (0.0, COST_LIMIT)
    return plot(frame, lines, title="Cost of an answer", names="answer", x_lim=(0, 1), y_lim=limits)


def metrics_figure(frame: pd.DataFrame) -> str:
    """Draw `simulation.metrics_frame`."""
    return plot(frame, slots(frame["metric"]), title="Metrics along overconfidence", names="metric")


def rates_figure(frame: pd.DataFrame) -> str:
    """Draw `subset.error_rates`."""
    order = ["llm", "error_rate", "estimate"]
    settings: dict[str, Any] = {"kind": "points", "names": "estimate", "y_lim": (0, 0.6), "size": (480, 340)}
    return plot(frame[order], slots(frame["estimate"]), title="Error rates", **settings)


def styles(systems: Iterable[str]) -> dict[str, str]:
    """Return a class for each line that a plot of these systems may have: accepting all is drawn faintly."""
    own = slots(systems)
    return (
        own
        | {f"{ACCEPT} {name}": f"{style} faint" for name, style in own.items()}
        | dict.fromkeys((REJECT, CALIBRATED), "reference")
    )


def message(text: str, *, kind: str = "note") -> str:
    """Return a box of text, escaped; empty for no text. Kinds: error, note."""
    role = "alert" if kind == "error" else "status"
    return f'<div class="message {kind}" role="{role}">{_escaped(text)}</div>' if text else ""


def bullets(sentences: Iterable[str]) -> str:
    """Return sentences as an HTML list, escaped."""
    return "<ul class='sentences'>" + "".join(f"<li>{_escaped(text)}</li>" for text in sentences) + "</ul>"


def _weight(system: System) -> dict[str, Any]:
    return {"sample_weight": system.options["sample_weight"]}


def _escaped(text: str) -> str:
    """Escape a text, but for code between backticks."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _name(name: str, style: str) -> str:
    text = escape(name)
    return f'<th scope="row"><span class="name" title="{text}"><i class="swatch {style}"></i>{text}</span></th>'


def _cell(cell: Any) -> str:
    value, _, limits = cell.text.partition(" ")
    interval = f"<small>{escape(limits)}</small>" if limits else ""
    best = ' class="best"' if cell.is_best else ""
    return f"<td{best}>{value}{' ★' if cell.is_best else ''}{interval}</td>"


def _thinned(along: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows whose values of `along`, increasing, lie nearest above evenly spaced ones; first and last too."""
    if len(along) <= NUM_POINTS:
        return dict(columns)
    rows = np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], NUM_POINTS)))
    return {name: values[rows] for name, values in columns.items()}


def _stacked(frames: Mapping[str, Mapping[str, Any]], *, names: str = "system") -> pd.DataFrame:
    """Put the columns of all systems below each other, rounded to what a reader can use."""
    parts = [pd.DataFrame(columns).assign(**{names: name}) for name, columns in frames.items()]
    frame = pd.concat(parts, ignore_index=True)
    return frame.round({column: 5 for column in frame.select_dtypes("float")})

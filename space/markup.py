"""Words and HTML of the page: errors and notes in its own words, tables, curves as SVG. All text is escaped."""

import json
import logging
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Bools, Floats, Ints
from ecuas_metric.metric import METRICS
from ecuas_metric.plotting.bands import Band, accuracy_band, order_band, reject_cost_band, risk_band
from ecuas_metric.plotting.curves import confidence_cost, order_curve, reject_cost_curve, reliability, risk_coverage
from ecuas_metric.reporting.report import Report
from ecuas_metric.reporting.tables import Grid
from ecuas_metric.results import System

from .uploads import plain_text

MAX_LENGTH = 600  # characters of a message
HUB = "https://huggingface.co"
NAMESPACE = "<namespace>"  # publishing writes the real one here
BEST = "★ best value, which need not be significantly better than the others"
PAPER = "https://arxiv.org/abs/2605.20490"
LABELS = {  # an option of the metric -> the label of its control
    "n": "n",
    "num_classes": "Number of possible answers K",
    "predictions_are": "Form of the posteriors",
    "reject_costs": "Reject costs",
    "missing_confidence": "Missing confidence",
    "normalize": "Normalise",
    "decompose": "Decompose",
    "calibration": "Calibration",
    "confidence_level": "Intervals",
}
LABELS_OF_READING = {"scale": "Largest confidence", "correct_from": "Correct from"}  # what a file has -> its control
UNLABELLED = "Answers without correctness"
CHOOSE = f"Choose how to treat them under Options, “{UNLABELLED}”."
WORDS = {  # arguments and advice of the metric -> the page's own words
    **LABELS,
    **LABELS_OF_READING,
    "pass_posteriors": "Class labels? Then the predictions must be posteriors, one column per class.",
    "pass_flat_list": "Confidences? Choose their column under Columns.",
    "logits_not_exponentials": "Logits? This is the sum of their exponentials. Choose logits under Options.",
    "use_probabilities": "Are they class labels? Then upload probabilities instead.",
    "name_logits": "Logits? Choose logits under Options; their rows may have any sum.",
    "margins_are_logits": "Margins? They are logits: choose these under Options.",
    "set_missing_confidence": "Missing confidences? Enter a value for them under Options of the first tab.",
    "name_form": "Logits or log-probabilities? Choose them under Options.",
    "divide_by_sums": "Rounded probabilities? The command `ecuas` can divide each row by its sum.",
    "check_cost": "Under Options, the number of possible answers may be too small.",
    "use_analytic_intervals": "Use the analytic intervals of the command `ecuas` instead.",
    "set_correct_from": "Partly correct? Enter the lowest grade that counts as correct under Options.",
    "set_scale_100": "Percentages? Enter 100 under Options, “Largest confidence”.",
    "set_scale": "On another scale? Enter its largest value under Options, “Largest confidence”.",
    "name_confidence_field": "The command `ecuas` can read another field of it.",
    "name_filter": "The command `ecuas` can read one of them.",
    "keep_common": "The command `ecuas` can keep only the common ones.",
    "count_as_wrong": CHOOSE,
    "label_or_bound": CHOOSE,
    "name_columns": "Choose them under Columns.",
    "name_role": "Choose it under Columns.",
    "name_guesses": "Choose it under Columns.",
    "name_probabilities": "Probabilities of one of two classes? The command `ecuas` reads them as such.",
    "name_complement": "The command `ecuas` reads its complement.",
    "name_other_class": "Of the other class? The command `ecuas` reads its complement.",
    "name_ids": "Other ids? Choose their columns under Columns.",
    "set_num_classes": "Is a confidence of one of these classes? Enter their number under Options.",
    "set_infinite_classes": "For free text, leave the number of possible answers empty under Options.",
    "name_whole_id": "Choose all columns of the id under Columns, joined by +.",
    "read_partial": "The command `ecuas` can read what there is.",
    "keep_all_classes": "Keep the columns of all classes.",
    "name_one_role": "Choose it under Columns.",
}
FAILED = "This could not be computed here. The command `ecuas` may do it, and says more."
NUM_SLOTS = 6
NUM_POINTS = 200  # of a line
NUM_LIMITS = 25  # points of a line that have an interval
LEFT, TOP, WIDTH, HEIGHT = 56, 26, 412, 220
SIZE = (480, 290)
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
REST, REFERENCE = "rest", "reference"
DRAWN_ORDERS = (0, *(2.0**power for power in range(-3, 8)), math.inf)
COST_LIMIT = 5.0  # of the plot: at n = 0 a confident mistake costs 16
FEW = 5  # samples of a bin below which its mark is hollow
REJECT, CALIBRATED = "(reject all)", "(calibrated)"  # unlikely names of systems
_Result = TypeVar("_Result")


class Axis(NamedTuple):
    """What an axis measures, its limits and ticks."""

    title: str
    low: float
    high: float
    ticks: Mapping[float, str]


class Line(NamedTuple):
    """A curve: its points, shape (M,), its class, its intervals at some x, and which of its marks are hollow."""

    style: str
    x: Floats
    y: Floats
    at: Floats | None = None
    band: Band | None = None
    marks: bool = False
    few: Bools | None = None


def in_words(error: InputError) -> str:
    """Return an error as one line in the words of the page."""
    return plain_text(error.render(WORDS), MAX_LENGTH)


def attempt(function: Callable[..., _Result], *arguments: object) -> tuple[_Result | None, str]:
    """Return the result of a function, or None and the reason for its failure in one line."""
    try:
        return function(*arguments), ""
    except InputError as error:
        return None, in_words(error)
    except ImportError as error:  # an extra that is not installed
        return None, plain_text(str(error), MAX_LENGTH)
    except Exception:  # visitors see no traceback; the log has it
        logging.exception("in %s", getattr(function, "__name__", function))
        return None, FAILED


def links(namespace: str = NAMESPACE) -> str:
    """Return a line of Markdown; in a clone, which has no namespace, folders instead of links to the Hub."""
    paper = f"[Paper (arXiv 2605.20490)]({PAPER})"
    if namespace.startswith("<"):
        return f"{paper} · Metric: `ecuas_metric` · Dataset: `triviaqa_subset` · Source: `space`, all in this clone"
    pages = {
        "Metric": f"spaces/{namespace}/ecuas",
        "Dataset": f"datasets/{namespace}/triviaqa-curated",
        "Source": f"spaces/{namespace}/ecuas-demo/tree/main",
    }
    return " · ".join([paper, *(f"[{name}]({HUB}/{place})" for name, place in pages.items())])


def previews(title: str, description: str, namespace: str = NAMESPACE) -> str:
    """Return the preview that other sites show of a link to this page, as tags of its head."""
    page = f"{HUB}/spaces/{namespace}/ecuas-demo"
    tags = {"og:type": "website", "og:title": title, "og:description": description}
    tags |= {"twitter:title": title, "twitter:description": description, "twitter:card": "summary_large_image"}
    if not namespace.startswith("<"):
        image = f"{page}/resolve/main/thumbnail.png"
        tags |= {"og:url": page, "og:image": image, "twitter:image": image}
    return html("previews", tags=tags)


def html(part: str, **values: object) -> str:
    """Return a macro of `parts.html` with values; what is text is escaped."""
    return str(getattr(_PARTS, part)(**values))


def isolate(name: str) -> str:
    """Return a name as HTML that cannot change the order of the text around it."""
    return f"<bdi>{escape(name)}</bdi>"


def report_tables(report: Report, grid: Grid) -> str:
    """Return ECUAS_n of each system with N and signature, and folded below it all metrics."""
    first = len(grid.header) - len(report.keys)
    columns = [first + i for i, key in enumerate(report.keys) if key.metric == "ecuas"]
    sizes = sorted(set(report.sizes.values()))
    return html(
        "tables",
        grid=grid,
        columns=columns,
        tips=[""] * first + [METRICS[key.metric].description for key in report.keys],
        slots=slots(report.results),
        size=f"N = {sizes[0]:,}" if len(sizes) == 1 else f"N = {sizes[0]:,} to {sizes[-1]:,}",
        has_best=any(row[column].is_best for row in grid.rows for column in columns),
        notes=[*grid.above, *([BEST] if grid.best else []), *grid.notes],
    )


def _code(text: str) -> Markup:
    """Return a text as HTML in which what is between backticks is code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _wbr(name: str) -> Markup:
    """Return a name as HTML that may go on in the next line after each underscore."""
    return Markup("_<wbr>").join(name.split("_"))


_HTML = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
_HTML.filters |= {"code": _code, "wbr": _wbr}
_PARTS = _HTML.from_string((Path(__file__).parent / "parts.html").read_text(encoding="utf-8")).module


# ---- curves


def slots(names: Iterable[str]) -> dict[str, str]:
    """Return a class for each name: the first six have their own, the others share `rest`.

    >>> slots("abcdefg")["g"]
    'rest'
    """
    return {name: f"slot-{i}" if i <= NUM_SLOTS else REST for i, name in enumerate(dict.fromkeys(names), 1)}


def figures(systems: Mapping[str, System]) -> str:
    """Draw cost against reject cost, ECUAS_n against n, risk against coverage, reliability, and the confidences."""
    styles = slots(systems)
    drawn = [_reject_costs(systems, styles), _orders(systems, styles), _risks(systems, styles)]
    if all(system.decisions.confidence is not None for system in systems.values()):
        drawn += [_reliability(systems, styles), _confidences(systems, styles)]
    return f'<div class="plots">{"".join(drawn)}</div>'


def cost_figure(n: float, num_classes: float | None, confidence: float, costs: Sequence[float]) -> str:
    """Draw the costs of correct and incorrect answers over their confidence, and a line between them at one."""
    curve = confidence_cost(n=n, num_classes=num_classes)
    lines = {
        "correct answer": Line("slot-1", curve.confidence, curve.correct),
        "incorrect answer": Line("slot-2", curve.confidence, curve.incorrect),
        "your confidence": Line("slot-3", np.full(2, confidence), np.array(costs)),
    }
    return figure("Cost of an answer", lines, (axis("confidence", 1), axis("cost", COST_LIMIT)))


def figure(title: str, lines: Mapping[str, Line], axes: tuple[Axis, Axis], *, hint: str = "") -> str:
    """Draw lines by name as HTML of one figure; the values of those with a class of their own are shown on demand."""
    x, y = axes
    named = {name: line.style for name, line in lines.items() if line.style != REST}
    rest = len(lines) - len(named)
    return html(
        "figure",
        title=title,
        x=x,
        y=y,
        names=list(named),
        legend=[(style, name) for name, style in named.items()] + ([(REST, f"{rest} more")] if rest else []),
        hint=hint,
        lines=[_curve(name, line, axes) for name, line in reversed(list(lines.items()))],
        box=(LEFT, TOP, WIDTH, HEIGHT),
        size=SIZE,
        axes=json.dumps([*x[:3], *y[:3], x.ticks if x.low == -0.5 else {}]),
    )


def axis(title: str, high: float, *, low: float = 0.0) -> Axis:
    """Return an axis with about six round ticks, up to `high`."""
    high = high if high > low else low + 1
    rough = (high - low) / 6
    power = 10 ** np.floor(np.log10(rough))
    step = next(step for step in STEPS if step * power >= rough * (1 - 1e-9)) * power
    at = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    ticks = np.round(at, 12) + 0.0  # never -0
    return Axis(title, low, high, {float(tick): f"{tick:g}" for tick in ticks})


def order_name(order: float) -> str:
    """Return an n as people write it, e.g. 1/8, 4 or ∞."""
    if 0 < order < 1:
        return f"1/{1 / order:g}"
    return "∞" if order == math.inf else f"{order:g}"


def place_points(x: Floats, y: Floats, axes: tuple[Axis, Axis]) -> Floats:
    """Return where points are in a box whose origin is at the top left, shape (M, 2)."""
    across, up = ((at - of.low) / (of.high - of.low) for at, of in zip((x, y), axes, strict=True))
    return np.stack([across * WIDTH, HEIGHT - up * HEIGHT], axis=1)


def _reject_costs(systems: Mapping[str, System], styles: Mapping[str, str]) -> str:
    curves = {name: reject_cost_curve(system, num_points=NUM_POINTS + 1) for name, system in systems.items()}
    lines = {}
    for name, curve in curves.items():
        at = curve.reject_cost[:: (NUM_POINTS // NUM_LIMITS)]
        band = _band(reject_cost_band, systems[name], styles[name], at)
        lines[name] = Line(styles[name], curve.reject_cost, curve.expected_cost, at, band)
    widest = max((curve.reject_cost for curve in curves.values()), key=lambda at: float(at[-1]))[[0, -1]]
    axes = axis("reject cost", float(widest[-1])), axis("cost per question", 1.25 * _highest(lines))
    return figure("What does it cost its users?", lines | {REJECT: Line(REFERENCE, widest, widest)}, axes)


def _orders(systems: Mapping[str, System], styles: Mapping[str, str]) -> str:
    places, orders, lines = np.arange(len(DRAWN_ORDERS), dtype=float), np.array(DRAWN_ORDERS), {}
    for name, system in systems.items():
        band = _band(order_band, system, styles[name], orders)
        lines[name] = Line(styles[name], places, order_curve(system, n=orders).ecuas, places, band, marks=True)
    tops = [float(line.band.high.max()) for line in lines.values() if line.band is not None]
    x = Axis("n", -0.5, len(DRAWN_ORDERS) - 0.5, {i: order_name(order) for i, order in enumerate(DRAWN_ORDERS)})
    y = axis("ECUAS_n", 1.05 * np.nanmax([_highest(lines), *tops]))
    return figure("ECUAS_n for every n", lines, (x, y))


def _risks(systems: Mapping[str, System], styles: Mapping[str, str]) -> str:
    lines = {}
    for name, system in systems.items():
        curve = risk_coverage(system)
        rows, few = (_thin(curve.coverage, number) for number in (NUM_POINTS, NUM_LIMITS))
        band = _band(risk_band, system, styles[name], curve.coverage[few])
        lines[name] = Line(styles[name], curve.coverage[rows], curve.risk[rows], curve.coverage[few], band)
    top = 1.1 * max(float(line.y[line.x > 0.05].max(initial=0.0)) for line in lines.values())  # first steps are wild
    return figure("Risk of the answers used", lines, (axis("coverage", 1), axis("risk", top)))


def _reliability(systems: Mapping[str, System], styles: Mapping[str, str]) -> str:
    """Draw accuracy against mean confidence in the bins of ECE."""
    lines = {}
    for name, style in styles.items():
        bins = reliability(systems[name])
        some, band = bins.counts > 0, _band(accuracy_band, systems[name], style)
        band = band and Band(band.low[some], band.high[some])
        few, at = bins.counts[some] < FEW, bins.confidence[some]
        lines[name] = Line(style, at, bins.accuracy[some], at, band, marks=True, few=few)
    hint = f"Hollow: fewer than {FEW} samples." if any(np.any(line.few) for line in lines.values()) else ""
    ends = np.array([0.0, 1.0])
    axes = axis("confidence", 1), axis("accuracy", 1)
    return figure("Are the confidences true?", lines | {CALIBRATED: Line(REFERENCE, ends, ends)}, axes, hint=hint)


def _confidences(systems: Mapping[str, System], styles: Mapping[str, str]) -> str:
    binned = {name: reliability(system) for name, system in systems.items()}
    lines = {
        name: Line(styles[name], (bins.low + bins.high) / 2, bins.shares, marks=True) for name, bins in binned.items()
    }
    axes = axis("confidence", 1), axis("share of answers", 1.1 * _highest(lines))
    return figure("How confident is it?", lines, axes)


def _band(band: Callable[..., Band], system: System, style: str, *at: Floats) -> Band | None:
    """Return the intervals of a curve, if it has a class of its own and the system a level."""
    return band(system, *at) if style != REST and system.options.confidence_level is not None else None


def _highest(lines: Mapping[str, Line]) -> float:
    return max(float(line.y.max()) for line in lines.values())


def _thin(along: Floats, number: int) -> Ints:
    """Return the rows whose values of `along`, increasing, are nearest above evenly spaced ones, and first and last."""
    if len(along) <= number:
        return np.arange(len(along))
    return np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], number)))


def _curve(name: str, line: Line, axes: tuple[Axis, Axis]) -> tuple[object, ...]:
    """Return name, class, path, intervals as a band and as bars, and marks of a line as `parts.html` takes them."""
    places, kind = place_points(line.x, line.y, axes), "marks" if line.marks else "line"
    few = np.zeros(len(places), bool) if line.few is None else line.few
    marked = zip(places, few, strict=True) if line.marks and line.style != REST else ()
    marks = [(f"{x:.2f}", f"{y:.2f}", is_few) for (x, y), is_few in marked]
    return name, f"{kind} {line.style}", _path(places), *_interval(line, axes), marks


def _interval(line: Line, axes: tuple[Axis, Axis]) -> tuple[str, str]:
    """Return the intervals of a line as a band, those of marks as bars."""
    if line.band is None or line.at is None:
        return "", ""
    some = np.isfinite(line.band.low)
    low = place_points(line.at[some], line.band.low[some], axes)
    high = place_points(line.at[some], line.band.high[some], axes)
    if not line.marks:
        return _path(np.concatenate([low, high[::-1]])), ""
    return "", "".join(f"M{x:.2f},{bottom:.2f}V{top:.2f}" for (x, bottom), (_, top) in zip(low, high, strict=True))


def _path(places: Floats) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in places)

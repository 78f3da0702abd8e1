"""Files -> every number of their systems, and which costs its users least: by a test, or too close to call."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from markupsafe import escape

from ecuas_metric.comparison.compare import Comparison, compare_systems
from ecuas_metric.comparison.planning import plan_of
from ecuas_metric.errors import InputError
from ecuas_metric.files.submissions import Submission
from ecuas_metric.inputs import POSTERIOR_FORMS, Floats
from ecuas_metric.metric import Key
from ecuas_metric.options import ALPHA, DEFAULTS, LEVEL, OPTIONS, Options, checked_options, is_set
from ecuas_metric.plotting.curves import reject_cost_curve
from ecuas_metric.reporting.report import BELOW, Report, make_report, p_text, prepare_open, report_grid, report_records
from ecuas_metric.reporting.tables import Grid, Record, to_json, write
from ecuas_metric.reporting.text import explain
from ecuas_metric.results import System, as_given, ranked

from . import markup
from .markup import LABELS, LABELS_OF_READING, REFERENCE, REST, html, isolate, order_name, slots
from .uploads import COLUMNS, RULES, read_uploads

NOTHING = ""  # the system that rejects every answer; no other has this name
NO_SYSTEM = "answering nothing"
SHOWN_FIRST = 0.1  # the reject cost that a result opens on
GRIDS = (100, 50, 20, 10)  # numbers of reject costs up to 1
MAX_WORK, MAX_ROWS = 600_000, 4_000  # samples, and pairs of systems, times reject costs: about half a second
MAX_SAMPLES, MAX_PAIRS = 300_000, 350
MAX_NAMES, MAX_CROSSINGS = 3, 3  # in a sentence
NOT_SAID = "Which is cheapest is not said: these systems do not answer the same questions, or not all are labelled."
TOO_MANY = "Which is cheapest is not tested here: there are too many samples and systems. Use `ecuas compare`."
CHOSEN = "for an answer that is not used; a mistake costs 1"
HOW = "Each reject cost is tested by itself, adjusted for all pairs of systems; grey: too close to call."
MAX_NUMBERS, MAX_EXPLAINED = 20, 10  # of a control; systems
LONGEST = 60  # characters of a value in an error
NOT_DECIDED = "The plots count answers without correctness as wrong. No best system is named while there are any."
Json = dict[str, object]
Number = float | None
Numbers = str | float | list[float]
Given = Mapping[str, Numbers | None]  # values of `CONTROLS`
Namer = Callable[[str], str]
Rows = dict[tuple[str, str], Comparison]  # of one metric, by pair


class Verdict(NamedTuple):
    """Who costs least by one number: the cheapest, and those that a test cannot tell from it."""

    best: tuple[str, ...]  # cheapest first
    rival: Comparison  # with the nearest that may be the best, or the next of all if the cheapest is clearly so
    needed: int | None  # the N that finds this difference with 80 % power, if it is what it seems

    @property
    def winner(self) -> str | None:
        """The system that is clearly cheapest."""
        return self.best[0] if len(self.best) == 1 else None


class Crossing(NamedTuple):
    """The reject cost at which two systems cost the same, with the interval in which they cannot be told apart."""

    first: str
    second: str
    at: float
    low: float
    high: float


class Decision(NamedTuple):
    """Costs (M,), shares accepted and verdicts at reject costs, verdicts by ECUAS_n; or a `remark`: why none."""

    reject_costs: Floats = np.zeros(0)
    costs: Mapping[str, Floats] = {}
    coverage: Mapping[str, Floats] = {}
    verdicts: Sequence[Verdict] = ()
    orders: Mapping[float, Verdict] = {}
    crossings: Sequence[Crossing] = ()
    remark: str = ""


def decide(systems: Mapping[str, System]) -> Decision:
    """Compare the costs of systems, and of answering nothing, at all reject costs and by ECUAS_n."""
    first = next(iter(systems.values()))
    grid = _grid(systems)
    if not len(grid):
        return Decision(remark=TOO_MANY)
    options = {"confidence_level": LEVEL, "reject_costs": tuple(grid), "normalize": False, "decompose": False}
    tested = {
        name: _with_options(system, options) for name, system in {**systems, NOTHING: rejecting_system(first)}.items()
    }
    orders = [Key("ecuas", n) for n in first.options.n]
    keys = [Key("expected_cost", float(cost)) for cost in grid]
    try:
        found = compare_systems(tested, only=[*keys, *orders], by_metric=True)
    except InputError as error:
        return Decision(remark=f"These systems cannot be compared sample by sample: {error}")
    by_key = _by_key(found)
    size, rows = len(first.decisions.uncertainty), [by_key[key] for key in keys]
    values = [_values(of_key) for of_key in rows]
    costs = {name: np.array([one[name] for one in values]) for name in tested}
    coverage = {name: reject_cost_curve(system, reject_cost=grid).coverage for name, system in tested.items()}
    verdicts = [_verdict(of_key, size) for of_key in rows]
    by_order = {key.parameter or 0.0: _verdict(by_key[key], size) for key in orders}
    return Decision(grid, costs, coverage, verdicts, by_order, _crossings(grid, costs, rows))


def rejecting_system(system: System) -> System:
    """Return a system that is asked the same, and rejects every answer."""
    decisions, options = as_given(system)
    size, u_max = len(decisions.uncertainty), decisions.max_uncertainty
    confidence = None if decisions.confidence is None else np.full(size, 1 - u_max)
    nothing = replace(
        decisions, uncertainty=np.full(size, u_max), candidate_cost=np.full(size, u_max), confidence=confidence
    )
    return ranked(nothing, options, ids=system.ids)


def sentences(decision: Decision, name: Namer = str) -> list[str]:
    """Say who is cheapest on average over reject costs, by each ECUAS_n; names as the caller writes them."""
    return [
        f"{headline(verdict, f'By ECUAS_{order_name(n)}', decision, name)} {detail(verdict, name)}"
        for n, verdict in decision.orders.items()
    ]


def headline(verdict: Verdict, where: str, decision: Decision, name: Namer = str) -> str:
    """Say who is cheapest in one sentence."""
    names = [_name_of(one, name) for one in verdict.best]
    if len(names) == 1:
        only = len(decision.costs) == 2
        than = f"clearly cheaper than {_name_of(verdict.rival.first, name)}" if only else "clearly cheapest"
        return f"{where}, {names[0]} is {than}."
    more = len(names) - MAX_NAMES
    shown = [*names[: MAX_NAMES - 1], f"{more + 1} more"] if more > 0 else names
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}"
    if len(names) == 2 and not verdict.rival.difference:
        return f"{where}, {listed} cost the same."
    return f"{where}, it is too close to call between {listed}."


def detail(verdict: Verdict, name: Namer = str) -> str:
    """Give the numbers behind `headline`."""
    row = verdict.rival
    if not row.difference:
        return f"{row.second_value:.3f} each."
    interval = f" [{row.low:.3f}, {row.high:.3f}]" if math.isfinite(row.low) else ""
    rival, p = f"{row.first_value:.3f} for {_name_of(row.first, name)}", p_text(row.p_adjusted)
    text = f"{row.second_value:.3f} against {rival}: {row.difference:.3f} less{interval}, adjusted {p}."
    if verdict.needed and verdict.winner is None:
        about = float(f"{verdict.needed:.2g}")  # it is an estimate
        text += f" If that is the true difference, N = {about:,.0f} would settle it."
    return text


def segments(decision: Decision) -> list[tuple[str | None, float, float]]:
    """Return who is clearly cheapest (None: nobody) from which to which reject cost."""
    found, low = [], 0.0
    winners = (verdict.winner for verdict in decision.verdicts)
    for winner, group in groupby(zip(winners, decision.reject_costs, strict=True), key=lambda pair: pair[0]):
        *_, (_, high) = group
        found.append((winner, low, float(high)))
        low = float(high)
    return found


def summary(decision: Decision, name: Namer = str) -> str:
    """Say where who is clearly cheapest, and where two cost the same, with its interval."""
    clear = [
        f"{_name_of(winner, name)} from {low:.2f} to {high:.2f}"
        for winner, low, high in segments(decision)
        if winner is not None
    ]
    if len(clear) > 2 * MAX_CROSSINGS:
        clear = ["changes often, see the strip"]
    text = f"Clearly cheapest: {', '.join(clear)}." if clear else "Nothing is clearly cheapest at any reject cost."
    if 0 < len(decision.crossings) <= MAX_CROSSINGS:
        where = [
            f"{_name_of(one.first, name)} and {_name_of(one.second, name)} cost the same at {one.at:.2f} "
            f"[{one.low:.2f}, {one.high:.2f}]"
            for one in decision.crossings
        ]
        text += f" {'; '.join(where)}."
    return text


def as_html(decision: Decision, styles: Mapping[str, str]) -> str:
    """Lay out a reject cost that can be set, and with it who is cheapest and what each system costs."""
    if decision.remark:
        return f'<p class="verdict undecided">{escape(decision.remark)}</p>'
    grid, width = decision.reject_costs, decision.reject_costs[-1]
    start = int(np.abs(grid - SHOWN_FIRST).argmin())
    names = [name for name in decision.costs if styles.get(name) != REST]
    at = [f"{cost:.2f}" for cost in grid]
    said = [
        f'<p class="verdict">{headline(verdict, f"At reject cost {cost}", decision, _bold)}</p>'
        f'<p class="caption">Cost per question: {detail(verdict, isolate)}</p>'
        for verdict, cost in zip(decision.verdicts, at, strict=True)
    ]
    data = {
        "at": at,
        "said": said,
        "costs": [[f"{cost:.3f}" for cost in decision.costs[name]] for name in names],
        "shares": [np.round(100 * decision.coverage[name]).astype(int).tolist() for name in names],
        "best": [[names.index(name) for name in verdict.best if name in names] for verdict in decision.verdicts],
        "highest": max(float(decision.costs[name].max()) for name in names),
    }
    return html(
        "decision",
        data=json.dumps(data),
        said=said[start],
        start=start,
        last=len(grid) - 1,
        at=at[start],
        note=CHOSEN,
        parts=[
            ("open" if who is None else styles.get(who, REFERENCE), 100 * (high - low) / width, _name_of(who, str))
            for who, low, high in segments(decision)
        ],
        marks=[100 * one.at / width for one in decision.crossings],
        summary=f"{summary(decision, _bold)} {HOW}",
        bars=[(_name_of(name, str), styles.get(name, REFERENCE)) for name in names],
        more=len(decision.costs) - len(names),
    )


def _name_of(name: str | None, namer: Namer) -> str:
    return "too close to call" if name is None else NO_SYSTEM if name == NOTHING else namer(name)


def _bold(name: str) -> str:
    return f"<b>{isolate(name)}</b>"


def _grid(systems: Mapping[str, System]) -> Floats:
    """Return the reject costs that are tested, in [0, u_M]: fewer of many samples or systems, or none."""
    size = max(len(system.decisions.uncertainty) for system in systems.values())
    num, u_max = len(systems) + 1, next(iter(systems.values())).decisions.max_uncertainty
    pairs = num * (num - 1) // 2
    if size * num > MAX_SAMPLES or pairs > MAX_PAIRS:
        return np.zeros(0)
    fits = (points for points in GRIDS if size * num * points <= MAX_WORK and pairs * points <= MAX_ROWS)
    points = next(fits, GRIDS[-1])
    grid = np.arange(1, points + 1) / points
    return grid[grid <= u_max * (1 + 1e-12)]


def _with_options(system: System, options: Mapping[str, object]) -> System:
    changed = system.options.replace(**options)
    if system.order is not None:
        return replace(system, options=changed)
    return ranked(system.decisions, changed, ids=system.ids)


def _by_key(rows: Iterable[Comparison]) -> dict[Key, Rows]:
    """Return the comparisons by each metric, by pair; each pair in both directions."""
    found: dict[Key, Rows] = {}
    for row in rows:
        found.setdefault(row.key, {}).update({(row.first, row.second): row, (row.second, row.first): row.turned()})
    return found


def _values(rows: Rows) -> dict[str, float]:
    return {row.first: row.first_value for row in rows.values()}


def _verdict(rows: Rows, size: int) -> Verdict:
    values = _values(rows)
    first, *others = sorted(values, key=lambda name: values[name])
    of_first = {name: rows[name, first] for name in others}
    close = [name for name, row in of_first.items() if row.p_adjusted > ALPHA or not row.difference]
    row = of_first[close[0] if close else others[0]]
    half = (row.high - row.low) / 2
    needed = None
    if math.isfinite(half) and half > 0 and row.difference:
        deviation = half / NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(size)
        needed = plan_of(row.key, row.difference, deviation, size).needed
    return Verdict((first, *close), row, needed)


def _crossings(grid: Floats, costs: Mapping[str, Floats], rows: Sequence[Rows]) -> list[Crossing]:
    """Return where the cheapest changes, and around it the reject costs at which the two cannot be told apart."""
    names = list(costs)
    lowest = np.argmin([costs[name] for name in names], axis=0)
    found = []
    for i, (one, other) in enumerate(pairwise(lowest)):
        pair = names[one], names[other]
        if one == other or costs[pair[0]][i] == costs[pair[1]][i]:
            continue
        open_ = np.array([row[pair].p > ALPHA for row in rows])
        low, high = i, i + 1
        while low > 0 and open_[low - 1]:
            low -= 1
        while high < len(grid) - 1 and open_[high + 1]:
            high += 1
        found.append(Crossing(*pair, float(grid[i : i + 2].mean()), float(grid[low]), float(grid[high])))
    return found


# ---- files and what is asked of them


class Control(NamedTuple):
    """An argument of `score`, for programs and on the page: its type, default, label, and what it means."""

    kind: object
    default: Any
    label: str
    help: str


CONTROLS = {
    **{role: Control(str, "", role, f"Column: {content}") for role, content in COLUMNS.items()},
    **{
        name: Control(kind, default, LABELS[name], OPTIONS[name].help)
        for name, kind, default in (
            ("n", Numbers, ", ".join(f"{n:g}" for n in DEFAULTS.n)),
            ("num_classes", Number, None),
            ("predictions_are", Literal[POSTERIOR_FORMS], DEFAULTS.predictions_are),
            ("reject_costs", Numbers, ""),
            ("missing_confidence", Number, None),
            ("normalize", bool, False),
            ("decompose", bool, False),
            ("calibration", bool, False),
        )
    },
    "intervals": Control(bool, True, LABELS["confidence_level"], f"{LEVEL:.0%}"),
    "unlabelled": Control(
        Literal[RULES], "bounds", markup.UNLABELLED, "bounds: best and worst case; wrong; drop: left out"
    ),
    "scale": Control(Number, None, LABELS_OF_READING["scale"], "What a confidence of 1 is, e.g. 100 for percentages"),
    "correct_from": Control(Number, None, LABELS_OF_READING["correct_from"], "Lowest grade that counts, e.g. 0.5"),
}


@dataclass(frozen=True)
class Scored:
    """Systems, every number of theirs, and whether some are bounds, since not all answers have correctness."""

    systems: dict[str, System]
    report: Report
    is_open: bool

    @cached_property
    def decision(self) -> Decision:
        """Who is cheapest, if these systems can be compared."""
        not_comparable = any(key.metric == "ecuas" and not key.variant for key in self.report.not_comparable)
        if self.is_open or self.report.differing or not_comparable:
            return Decision(remark=NOT_SAID)
        return decide(self.systems)

    def sentences(self) -> list[str]:
        """Return an interpretation of the numbers: who is cheapest, and what each system's confidences are worth."""
        if self.is_open:
            return [NOT_DECIDED]
        found = self.decision
        return [found.remark or summary(found), *sentences(found), *self.sentences_alone()]

    def sentences_alone(self) -> list[str]:
        """Return the sentences about each system alone."""
        systems = {} if self.is_open or len(self.systems) > MAX_EXPLAINED else self.systems
        return [sentence for name, system in systems.items() for sentence in explain({name: system})]

    def notes(self) -> list[str]:
        """Return the notes beside the numbers; the table has answers without correctness."""
        found: dict[str, dict[str, None]] = {}
        for name, note in self.report.notes():
            if note.id not in BELOW:
                found.setdefault(note.render(markup.WORDS), {})[name] = None
        return [f"{', '.join(names)}: {text}" for text, names in found.items()]

    def json(self, *, explained: bool = False) -> Json:
        """Return one row per system, signature and notes; what is not a number is None."""
        grid, records = self.tables()
        result: Json = json.loads(to_json(records, grid.signature, [*grid.above, *grid.below(), *self.notes()]))
        return result | ({"in_words": self.sentences()} if explained else {})

    def html(self, *, title: str, remarks: Sequence[str] = ()) -> str:
        """Lay out everything but the plots: it is one piece, so that no part is of another result."""
        grid, _ = self.tables()
        return html(
            "result",
            title=title,
            remark=" ".join([*remarks, *[NOT_DECIDED] * self.is_open]),
            decision=as_html(self.decision, slots(self.systems)),
            tables=markup.report_tables(self.report, grid),
            notes=self.notes(),
            sentences=sentences(self.decision, isolate),
            more=self.sentences_alone(),
        )

    def plots(self) -> str:
        """Draw the curves."""
        return f"<h2>The curves behind the numbers</h2>{markup.figures(self.systems)}"

    def tables(self) -> tuple[Grid, list[Record]]:
        """Return the table for people and that for programs."""
        return report_grid(self.report, sizes=True), report_records(self.report)

    def write(self, folder: Path) -> list[str]:
        """Write the table as `ecuas score --output` does; return the paths of CSV, Markdown and LaTeX."""
        paths = [folder / f"ecuas.{suffix}" for suffix in ("csv", "md", "tex")]
        for path in paths:
            write(path, *self.tables())
        return list(map(str, paths))


def score_files(files: Sequence[str], given: Given) -> Scored:
    """Read and score files as `CONTROLS` ask for."""
    options = options_of(given)
    columns = {role: str(given[role]) for role in COLUMNS if given.get(role)}
    scale, grade = (number(given.get(name), LABELS_OF_READING[name]) for name in ("scale", "correct_from"))
    rule, scale = str(given["unlabelled"]) if given.get("unlabelled") else None, 1.0 if scale is None else scale
    submissions = read_uploads(files, columns=columns, unlabelled=rule, scale=scale, correct_from=grade)
    return score_submissions(submissions, options)


def score_submissions(submissions: Sequence[Submission], options: Options) -> Scored:
    """Evaluate systems as the command `ecuas score` does, and compare their costs."""
    given = {name: getattr(options, name) for name in LABELS if is_set(options, name)}
    systems, unlabelled = prepare_open(submissions, **given)
    report = make_report(systems, unlabelled=unlabelled)
    return Scored(systems, report, any(found.rule == "bounds" for found in unlabelled.values()))


def options_of(given: Given) -> Options:
    """Return the options that controls ask for; what is empty or missing asks for the default."""
    found: dict[str, object] = {name: numbers(given.get(name), LABELS[name]) or None for name in ("n", "reject_costs")}
    found |= {name: number(given.get(name), LABELS[name]) for name in ("num_classes", "missing_confidence")}
    found |= {name: bool(given.get(name)) for name in ("normalize", "decompose", "calibration")}
    level = LEVEL if given.get("intervals", True) else None
    return checked_options(**found, predictions_are=given.get("predictions_are") or None, confidence_level=level)


def numbers(given: Numbers | None, name: str) -> list[float]:
    """Return numbers, of a text those separated by commas or blanks; inf and ∞ are infinity.

    >>> numbers("0, 1 ∞", "n"), numbers(5, "n")
    ([0.0, 1.0, inf], [5.0])
    """
    parts: Sequence[str | float]
    if isinstance(given, str):
        parts = [part for part in re.split(r"[,;\s]+", given) if part]
    else:
        parts = [] if given is None else [given] if isinstance(given, (int, float)) else given
    if len(parts) > MAX_NUMBERS:
        raise InputError(name, f"must be at most {MAX_NUMBERS} numbers", value=len(parts))
    try:
        return [math.inf if part == "∞" else float(part) for part in parts]
    except (ValueError, TypeError):
        raise InputError(name, "must be numbers, separated by commas", value=shorten(given)) from None


def number(given: Numbers | None, name: str) -> float | None:
    """Return a number, None if a text is empty."""
    found = numbers(given, name)
    if len(found) > 1:
        raise InputError(name, "must be one number", value=shorten(given))
    return found[0] if found else None


def shorten(value: object) -> object:
    """Return a value of a visitor as an error shows it: cut if it is long."""
    is_long = isinstance(value, (str, list, dict)) and len(str(value)) > LONGEST
    return f"{str(value)[:LONGEST]}…" if is_long else value

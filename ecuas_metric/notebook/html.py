"""Results -> their HTML in a notebook: a verdict in words, one row a system, and what else is known of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from ..comparison.compare import Comparisons
from ..comparison.gate import Gate
from ..comparison.locked import VersionCheck
from ..comparison.planning import Plans
from ..comparison.verdict import Ranking, Verdict, plain_name
from ..costs import ECUAS_N, ERROR_RATE, RISK
from ..errors import Note
from ..inputs import NO_LIMITS, Floats, Limits
from ..metric import Key
from ..metrics import column_order
from ..plotting.curves import reject_cost_curve
from ..rejection import RejectCostChoice, RowDecisions
from ..reporting.differences import plan_grid
from ..reporting.report import (
    DIGITS,
    Report,
    digits_for,
    estimate_text,
    explain_scale,
    interval_text,
    main_keys,
    meanings_of,
    not_below,
    p_text,
    report_grid,
    report_of,
    short_title,
    title,
)
from ..reporting.sentences import (
    STEPWISE,
    findings,
    gate_sentences,
    headline,
    sentence_on_costs,
    sentences_on_left_out,
)
from ..results import Results, System, compute_results
from ..summary import SystemResults
from .markup import View, colors, curve, name, page, strip, text, view_of_grid

WRONG = Key(ERROR_RATE.name)  # shown in percent
MOST_ROWS = 30  # systems that are shown
MOST_COLUMNS = 5  # of metrics in a report
MOST_METRICS = 4  # columns of metrics that were asked for
POINTS = 61  # of a curve
FIRST_ROWS = 10  # of decisions
NO_MARK = '<b class="m"></b>'  # the room of one
REJECTING_COLOR = "currentColor"  # no grey, which is of nobody
ALL_NUMBERS = "<code>.to_frame()</code> all numbers"
ALL_CURVES = "<code>.plot()</code> the curves in full"


def result_html(result: Any) -> str:
    """Return the HTML of a result."""
    return page(view_of(result))


@singledispatch
def view_of(result: Any) -> View:
    """Return what is shown of a result."""
    return View(sentences=[f"<code>{text(repr(result))}</code>"])


# ---- the verdict on several systems ---------------------------------------------------------------------------------


@view_of.register
def _view_of_comparisons(result: Comparisons) -> View:
    return view_of(result.verdict) if result else View(sentences=["No comparisons."])


@view_of.register
def _view_of_verdict(verdict: Verdict) -> View:
    if not verdict.rankings:
        return View(sentences=[*map(text, findings(verdict))])
    keys = _shown_keys(verdict)
    first = verdict.rankings[keys[0]]
    names = list(first.values)
    shown = names[:MOST_ROWS]
    winners = [region.winner for region in verdict.regions if region.winner in names]
    of_system = colors(verdict.systems or names, [*winners, *names])
    columns = {_samples(verdict): [name(one, of_system[one]) for one in shown]}
    columns |= _columns_of_headline(verdict, first, shown)
    for key in keys[1:]:
        columns[_header(key)] = _values(verdict, verdict.rankings[key], shown)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    view = View(
        sentences=[_headline(verdict, first), *map(text, sentences_on_left_out(verdict))],
        header=list(columns),
        rows=rows,
        below=_marks(verdict, rows),
    )
    if len(verdict.strip) > 1:
        view = _with_strip(view, verdict, shown, of_system)
    return replace(
        view,
        below=[*view.below, *_below_verdict(verdict, left_out=len(names) - len(shown))],
        folded={**view.folded, **_folded_notes(verdict.notes)},
    )


def _below_verdict(verdict: Verdict, *, left_out: int) -> list[str]:
    """Return what is below a verdict whose last systems are not shown: where all of it is."""
    more = [f"{left_out} more systems: <code>.to_frame()</code>."] if left_out else []
    curves = [ALL_CURVES] if verdict.systems else []
    return [*more, ALL_NUMBERS, *curves]


def _with_strip(
    view: View, verdict: Verdict, shown: Sequence[str], of_system: Mapping[str, str]
) -> View:
    """Return a view with the cost of each system by reject cost, and where one is clearly the cheapest."""
    costs = np.array([0.0, *(key.parameter for key in verdict.strip)])
    lines = {
        one: (costs, np.array([0.0, *(ranking.values[one] for ranking in verdict.strip.values())]))
        for one in shown
    }
    regions = [
        (one.low, one.high, of_system.get(one.winner, REJECTING_COLOR), plain_name(one.winner))
        for one in verdict.regions
    ]
    return replace(
        _with_curves(view, lines, of_system),
        last=("clearly cheapest (grey: too close to call)", strip(regions, end=costs[-1])),
        below=[*view.below, "Dashed: rejecting everything."],
        folded={"over reject costs": [text(sentence_on_costs(verdict))]},
    )


def _shown_keys(verdict: Verdict) -> list[Key]:
    """Return the metrics that have a column, that of the sentence first."""
    tested = {row.key for row in verdict.rows if row.family}
    keys = sorted(tested or verdict.rankings, key=column_order)
    first = verdict.headline if verdict.headline in verdict.rankings else keys[0]
    asked = [] if len(verdict.strip) > 1 else keys  # with a strip, the family is the usual one
    others = [WRONG, *asked]
    shown = dict.fromkeys([first, *(key for key in others if key in verdict.rankings)])
    return list(shown)[:MOST_METRICS]


def _headline(verdict: Verdict, first: Ranking) -> str:
    sentence = text(headline(verdict))
    winner = name(plain_name(first.winner)) if first.winner else ""
    if winner and sentence.startswith(winner):
        return f"<b>{winner}</b>{sentence[len(winner) :]}"
    return sentence


def _samples(verdict: Verdict) -> str:
    """Return the header of the names: of how many samples, and how these are paired."""
    if not verdict.systems:
        return "system"
    first = next(iter(verdict.systems.values()))
    how = "by id" if first.ids is not None else "by position"
    return f"{first.num_samples:,} samples, paired {how}"


def _columns_of_headline(
    verdict: Verdict, ranking: Ranking, shown: Sequence[str]
) -> dict[str, list[str]]:
    """Return the columns of the metric of the sentence: the values, and the differences from the best."""
    digits = digits_for(ranking.rows)
    cells = []
    for one, value in zip(shown, _values(verdict, ranking, shown), strict=True):
        limits = _limits(verdict.systems.get(one), ranking.key)
        cells.append(value + _second_line(limits, f".{digits}f", NO_MARK))
    columns = {_header(ranking.key): cells}
    if ranking.key.entry.higher_is_better is not None and ranking.state != "undefined":
        best = next(iter(ranking.values))
        is_less = ranking.key.entry.higher_is_better
        header = "less than the best" if is_less else "more than the best"
        columns[header] = [_from_best(ranking, one, best, digits) for one in shown]
    return columns


def _header(key: Key) -> str:
    """Return the header of a metric's column."""
    return "wrong ↓" if key == WRONG else text(title(key))


def _values(verdict: Verdict, ranking: Ranking, shown: Sequence[str]) -> list[str]:
    """Return the values of a metric, the best bold, with the mark of what is the best or may be."""
    judged = verdict.ranking(ranking.key) or ranking
    digits = digits_for(ranking.rows)
    is_share = ranking.key == WRONG
    cells = []
    for one in shown:
        value = ranking.values[one]
        number = f"{100 * value:.1f}%" if is_share else f"{value:.{digits}f}"
        is_best = one in judged.best
        mark = ("*" if judged.winner else "~") if is_best else ""
        number = f"<b>{number}</b>" if one == judged.winner else number
        cells.append(f'{number}<b class="m">{mark}</b>')
    return cells


def _limits(system: System | None, key: Key) -> Limits:
    """Return the analytic interval of a number of a system; nan where it is not known."""
    if system is None:
        return NO_LIMITS
    options = system.options.replace(interval_method="analytic")
    estimates = compute_results(replace(system, options=options), only=[key]).estimates
    return estimates[key].limits if key in estimates else NO_LIMITS


def _second_line(limits: Limits, form: str, room: str = "") -> str:
    """Return limits below a number, nothing where they are not known."""
    if math.isnan(limits[0]):
        return ""
    return f'<br><span class="s">{interval_text(*limits, form)}{room}</span>'


def _from_best(ranking: Ranking, one: str, best: str, digits: int) -> str:
    if one == best:
        return ""
    row = ranking.row(one, best)
    form = f"+.{digits}f"
    if math.isnan(row.difference):
        return ""
    return f"{row.difference:{form}}{_second_line((row.low, row.high), form)}"


def _marks(verdict: Verdict, rows: Iterable[Sequence[str]]) -> list[str]:
    """Return what the marks mean that are shown."""
    shown = "".join(cell for row in rows for cell in row)
    marks = {"*": "clearly best", "~": "may be best"}
    found = [f"{mark} {what}" for mark, what in marks.items() if f'class="m">{mark}<' in shown]
    if not found:
        return []
    tests = (
        "one test"
        if verdict.num_tests == 1
        else f"{verdict.num_tests} tests together, intervals each alone"
    )
    return [f"{'; '.join(found)}: {tests}."]


def _with_curves(
    view: View, lines: Mapping[str, tuple[Floats, Floats]], of_system: Mapping[str, str]
) -> View:
    """Return a view with the cost curves of the systems of its rows, on one scale, as the last column."""
    top = max(float(y.max()) for _, y in lines.values())
    end = max(float(x[-1]) for x, _ in lines.values())
    rows = []
    for row, (one, (x, y)) in zip(view.rows, lines.items(), strict=True):
        label = f"cost of {one} against reject cost"
        drawn = curve(x, y, end=end, top=top, color=of_system[one], label=label)
        rows.append([*row, drawn])
    header = [*view.header, f"cost by reject cost, 0 to {end:.2g}"]
    return replace(view, header=header, rows=rows, left=[len(view.header)])


def _folded_notes(notes: Sequence[tuple[str, Note]]) -> dict[str, list[str]]:
    """Return notes with their systems, under how many there are."""
    lines = [text(f"{one}: {note}" if one else str(note)) for one, note in notes]
    return {f"{len(lines)} note{'s' if len(lines) > 1 else ''}": lines}


# ---- reports, and results of one system -----------------------------------------------------------------------------


@view_of.register
def _view_of_report(report: Report) -> View:
    keys, others = _columns_of_report(report)
    view = view_of_grid(report_grid(report, keys=keys))
    header = view.header
    rows = [[row[0], *map(_in_two_lines, row[1:])] for row in view.rows]
    sizes = {*report.sizes.values()}
    if len(sizes) == 1:  # then once, for all
        header = [f"{sizes.pop():,} samples", *header[2:]]
        rows = [[row[0], *row[2:]] for row in rows]
    view = replace(view, header=header, rows=rows[:MOST_ROWS])
    if report.systems and len(rows) <= MOST_ROWS:
        view = _with_system_curves(view, report.systems)
    also = ", ".join(text(short_title(key)) for key in others)
    numbers = f"{ALL_NUMBERS}, also {also}" if also else ALL_NUMBERS
    curves = [ALL_CURVES] if report.systems else []
    return replace(
        view,
        below=[*view.below, numbers, *curves],
        folded={
            **view.folded,
            "is that good?": list(map(text, explain_scale(report, keys))),
            **_folded_notes(not_below(report.notes())),
        },
    )


def _with_system_curves(view: View, systems: Mapping[str, System]) -> View:
    """Return a view with the names of systems in their colours, and the cost of each by reject cost."""
    of_system = colors(systems)
    lines = {}
    rows = []
    for (one, system), row in zip(systems.items(), view.rows, strict=True):
        costs = reject_cost_curve(system, num_points=POINTS)
        lines[one] = costs.reject_cost, costs.expected_cost
        rows.append([name(one, of_system[one]), *row[1:]])
    return _with_curves(replace(view, rows=rows), lines, of_system)


def _columns_of_report(report: Report) -> tuple[list[Key], list[Key]]:
    """Return the metrics that have a column, all if they are few, else those of a comparison; and the others."""
    keys = main_keys(report.keys) or report.keys
    if len(keys) > MOST_COLUMNS:
        keys = [key for key in keys if key.entry in (ERROR_RATE, RISK, ECUAS_N)]
    return keys, [key for key in report.keys if key not in keys and not key.variant]


def _in_two_lines(cell: str) -> str:
    """Return a number with its interval below it."""
    number, bracket, limits = cell.partition(" [")
    return f'{number}<br><span class="s">[{limits}</span>' if bracket else cell


@view_of.register
def _view_of_systems(results: SystemResults) -> View:
    return view_of(replace(report_of(results), systems=results.systems))


@view_of.register
def _view_of_results(results: Results) -> View:
    keys = [key for key in results.estimates if not key.entry.only_in_full] or [*results.estimates]
    meanings = meanings_of(keys)
    digits = digits_for(results.estimates[key] for key in keys)
    rows = []
    for key in keys:
        meaning = meanings.get(short_title(key)) or key.entry.description
        number = estimate_text(results.estimates[key], digits)
        value, _, limits = number.partition(" ")
        rows.append([text(title(key)), f"<b>{value}</b>", limits, text(meaning)])
    size = results.basis.num_samples
    above = [f"{size:,} samples."] if size else []
    curves = [] if results.system is None else [ALL_CURVES]
    return View(
        sentences=above,
        header=["metric", "value", "interval", "what it is"],
        rows=rows,
        left=[3],
        below=["↓ lower is better, ↑ higher", ALL_NUMBERS, *curves],
        folded={
            "is that good?": list(map(text, explain_scale(report_of({"": results}), keys))),
            **_folded_notes([("", note) for note in results.notes]),
        },
    )


# ---- gates, plans, thresholds, decisions, checks --------------------------------------------------------------------


@view_of.register
def _view_of_gate(gate: Gate) -> View:
    first, *others = gate_sentences(gate)
    word, _, sentence = first.partition(" ")
    digits = digits_for([gate])  # type: ignore[list-item]
    cells = [f"{value:.{digits}f}" for value in (gate.old_value, gate.new_value)]
    worse = f"{gate.worsening:+.{digits}f} {interval_text(gate.low, gate.high, f'+.{digits}f')}"
    return View(
        sentences=[f"<b>{word}</b> {text(sentence.strip())}", *map(text, others)],
        header=["metric", name(gate.old), name(gate.new), "worse by", "p"],
        rows=[[text(title(gate.key)), *cells, worse, text(p_text(gate.p, in_cell=True))]],
        below=[ALL_NUMBERS],
    )


@view_of.register
def _view_of_plans(plans: Plans) -> View:
    if not plans:
        return View(sentences=["No metric of these can be planned."])
    grid = plan_grid(plans)
    view = view_of_grid(grid)
    return replace(view, below=[*view.below, ALL_NUMBERS, "<code>.plot()</code> the last column"])


@view_of.register
def _view_of_choice(choice: RejectCostChoice) -> View:
    if math.isnan(choice.reject_cost):
        needed = choice.num_samples_needed
        why = "More of such answers would not help."
        if needed is not None:
            why = f"About {needed:,} such answers are needed."
        return View(sentences=[f"No reject cost can be certified with these answers. {why}"])
    coverage = f"{100 * choice.coverage.value:.1f}%"
    risk = f"{choice.risk.value:.{DIGITS}f}"
    sentence = (
        f"Accept what is at most <b>{choice.reject_cost:.6g}</b> uncertain: {coverage} of the answers, whose mean "
        f"cost is {risk}."
    )
    estimates = [choice.coverage, choice.risk, choice.expected_cost]
    digits = digits_for(estimates)
    cells = [f"{choice.reject_cost:.6g}", *(estimate_text(one, digits) for one in estimates)]
    header = ["reject cost", "coverage", "risk", "expected cost"]
    return View(sentences=[sentence], header=header, rows=[cells], below=[ALL_NUMBERS])


@view_of.register
def _view_of_decisions(decisions: RowDecisions) -> View:
    count = len(decisions.accepted)
    accepted = int(np.count_nonzero(decisions.accepted))
    rows = []
    for i in range(min(count, FIRST_ROWS)):
        decision = [] if decisions.decision is None else [text(str(decisions.decision[i]))]
        word = "yes" if decisions.accepted[i] else "no"
        rows.append([str(i), *decision, f"{decisions.uncertainty[i]:.{DIGITS}f}", word])
    named = [] if decisions.decision is None else ["decision"]
    more = [f"{count - len(rows):,} more rows"] if count > len(rows) else []
    return View(
        sentences=[
            f"<b>{accepted:,} of {count:,}</b> rows are accepted; the others are left to a person."
        ],
        header=["row", *named, "uncertainty", "accepted"],
        rows=rows,
        below=[*more, ALL_NUMBERS],
    )


@view_of.register
def _view_of_check(check: VersionCheck) -> View:
    digits = digits_for(check.rows)
    form = f"+.{digits}f"
    rows = []
    for row in check.rows:
        values = [f"{value:.{digits}f}" for value in (row.second_value, row.first_value)]
        limits = interval_text(row.low_all, row.high_all, form)
        p = p_text(row.p_adjusted, check.alpha, in_cell=True)
        rows.append([text(title(row.key)), *values, f"{row.difference:{form}}", limits, text(p)])
    word, what = "PASS", "Not clearly worse than what is locked."
    if check.failed:
        worse = " and ".join(short_title(row.key) for row in check.failed)
        word, what = "FAIL", f"Worse than what is locked, by more than chance: {worse}."
    accepts = f"It accepts {check.coverage:.{DIGITS}f}, where {check.locked_coverage:.{DIGITS}f} is locked."
    interval = f"[{100 * (1 - check.alpha):.4g}%]"
    return View(
        sentences=[f"<b>{word}</b> {text(what)} {accepts}"],
        header=["metric", "locked", "new", "worse by", interval, "adj. p"],
        rows=rows,
        below=[f"{len(rows)} tests together; {STEPWISE}.", ALL_NUMBERS],
    )

"""Systems -> what a paper needs: a table that compiles, figures, a paragraph on methods, and all numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..basis import Basis, join_signatures
from ..comparison.compare import (
    compare_pairable,
    default_family,
    make_comparison_basis,
    make_pairing_basis,
)
from ..comparison.rows import list_fields
from ..comparison.verdict import Verdict
from ..costs import ECUAS_N, EXPECTED_COST
from ..errors import FileError
from ..files.recipe import Recipe
from ..files.submissions import UNLABELLED_ADVICE
from ..files.write import write_whole
from ..metric import Key
from ..options import LEVEL, Options
from ..plotting.names import short_names
from ..results import System
from ..version import BIBTEX, VERSION
from .report import (
    Report,
    Systems,
    are_few,
    digits_for,
    draw_figures,
    estimate_text,
    make_report,
    meanings_of,
    numbers_to_beat,
    origin_fields,
    p_text,
    report_records,
    short_title,
    title,
)
from .sentences import (
    findings,
    headline,
    sentence_by_metric,
    sentences_by_question,
    verdict_fields,
)
from .tables import latex_text, to_json

DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs,graphicx}
\setlength{\textwidth}{6.9in}
\setlength{\columnsep}{0.3in}
\setlength{\oddsidemargin}{-0.2in}
\begin{document}
\sloppy
\section*{Methods}
\input{methods}
\section*{Results}
\input{results}
\input{table}
%(figures)s
\bibliographystyle{plain}
\bibliography{references}
\end{document}
"""
# notes on what was done to the data, which a reader of a paper must know
OF_DATA = (
    "unlabelled_answers",
    "missing",
    "clipped",
    "rounded",
    "renormalized",
    "zeros_replaced",
)
# and notes on what the intervals of some numbers rest on
OF_INTERVALS = ("unseen", "assumed", "decided_by_fit", "few_groups", "too_few_units")
RULES_OF_UNLABELLED = {
    UNLABELLED_ADVICE["wrong"]: "They count as wrong.",
    UNLABELLED_ADVICE["drop"]: "They are left out.",
}
CAPTIONS = {
    "risk_coverage": "Mean cost of the accepted answers against the share that is accepted.",
    "reject_cost": "Expected cost against reject cost; a system is of use below rejecting and accepting everything.",
    "ecuas_against_n": "ECUAS_n against n; on the left confident mistakes cost most.",
    "reliability": "Accuracy against confidence in bins, and the number of samples in each.",
}
LISTING = "results.json"  # of all files: written first, in case writing them ends early
TEXTS = (LISTING, "report.tex", "table.tex", "methods.tex", "results.tex", "references.bib")
FIGURE_SUFFIXES = (".pdf", ".png")
REFERENCES = (
    BIBTEX
    + r"""@article{rubin1981bayesian,
  title   = {The {Bayesian} bootstrap},
  author  = {Rubin, Donald B.},
  journal = {The Annals of Statistics},
  volume  = {9},
  number  = {1},
  pages   = {130--134},
  year    = {1981}
}
@book{westfall1993resampling,
  title     = {Resampling-Based Multiple Testing},
  author    = {Westfall, Peter H. and Young, S. Stanley},
  publisher = {Wiley},
  year      = {1993}
}
@article{hothorn2008simultaneous,
  title   = {Simultaneous inference in general parametric models},
  author  = {Hothorn, Torsten and Bretz, Frank and Westfall, Peter},
  journal = {Biometrical Journal},
  volume  = {50},
  number  = {3},
  pages   = {346--363},
  year    = {2008}
}"""
)
FIGURE = r"""\begin{figure}
\centering
\includegraphics[width=\columnwidth]{%(file)s}
\caption{%(caption)s}
\label{fig:%(label)s}
\end{figure}
"""


MOST_DIGITS_IN_COLUMN = 4
METRICS_IN_COLUMN = 4  # beside names of systems
LONGEST_NAME = 30  # in two lines
TABLE = r"""%% To \input into a column of 3.3in or more; needs \usepackage{booktabs}.
%% \footnotesize is 8 pt where the text has 10 pt; nothing is scaled.
\begin{table}[t]
\centering\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{4pt}
\caption{%(caption)s}
\label{tab:%(label)s}
\footnotesize\setlength{\tabcolsep}{3pt}
\begin{tabular*}{\columnwidth}{@{\extracolsep{\fill}}%(columns)s@{}}
\toprule
%(header)s
\midrule
%(rows)s
\bottomrule
\end{tabular*}
\par\smallskip\raggedright
%(notes)s
\end{table}
"""


def write_paper(
    systems: Systems,
    folder: str | Path,
    *,
    only: Iterable[Key] | None,
    recipes: Sequence[Recipe],
    questions: Mapping[str, Systems],
) -> list[Path]:
    """Write a document, its table, methods, results and references, all numbers, and figures; return their paths.

    Several systems are judged as `ecuas compare` judges them, by the metrics in `only` or the family of its tests.
    Where each is the mean of several `questions`, these are its answers to them, by their names. Files of a former
    report in the folder are replaced, and nothing else.
    """
    folder = Path(folder)
    former = _former_files(folder)
    verdict = None
    if len(systems) > 1:
        verdict = compare_pairable(systems, only=only)
        systems = verdict.systems
    keys = _shown_keys(next(iter(systems.values())), only)
    report = make_report(systems, only=keys)
    if verdict is not None:
        report = replace(report, signature=_signature(systems))
    figures = draw_figures(systems, FIGURE_SUFFIXES)
    names = [*TEXTS, *figures]
    texts = {
        LISTING: _numbers(report, verdict, recipes, names),
        "report.tex": DOCUMENT % {"figures": _figures(figures)},
        "table.tex": latex_tables(report, verdict, keys),
        "methods.tex": methods_of(report, verdict, keys, questions),
        "results.tex": describe_results(report, verdict, keys, questions),
        "references.bib": REFERENCES,
    }
    contents = {name: f"{text.rstrip()}\n".encode() for name, text in texts.items()} | figures
    for name in names:
        write_whole(folder / name, contents[name])
    for name in former.difference(names):
        (folder / name).unlink(missing_ok=True)
    return [folder / name for name in names]


def _shown_keys(first: System, only: Iterable[Key] | None) -> list[Key]:
    """Return the metrics of the table: those that are asked for, or that are tested."""
    if only is not None:
        return list(only)
    costs = [Key(EXPECTED_COST.name, cost) for cost in first.options.reject_costs]
    return [*default_family(first), *costs]


def _numbers(
    report: Report,
    verdict: Verdict | None,
    recipes: Sequence[Recipe],
    names: Sequence[str],
) -> str:
    """Return all numbers as JSON, in the keys of `ecuas compare`, with the values of each system and the files."""
    fields: dict[str, object] = {"files": names, "values": report_records(report)}
    bases: dict[str, Basis] = {}
    rows = []
    if verdict is not None:
        bases = {name: make_comparison_basis(system) for name, system in report.systems.items()}
        fields["verdict"] = verdict_fields(verdict)
        rows = [list_fields(row) for row in verdict.rows]
    fields |= origin_fields(recipes, bases)
    notes = [f"{name}: {note.fact}" for name, note in report.notes()]
    return to_json(rows, report.signature, notes, fields)


def _former_files(folder: Path) -> set[str]:
    """Return the names of files that a former report wrote; FileError if another file would be overwritten."""
    listing = folder / LISTING
    try:
        former = set(json.loads(listing.read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, TypeError, KeyError):
        former = set()
    ours = {*TEXTS, *(f"{name}{suffix}" for name in CAPTIONS for suffix in FIGURE_SUFFIXES)}
    for name in sorted(ours - former):
        if (folder / name).exists():
            raise FileError(
                folder / name, "file_is_there", advice="name_another_output", flag="--output"
            )
    return former & ours


def _signature(systems: Systems) -> str:
    """Return what values, intervals and differences depend on: the last also on the draws of their tests."""
    return join_signatures(
        replace(make_pairing_basis(system), deviates=make_comparison_basis(system).deviates)
        for system in systems.values()
    )


def _figures(figures: Iterable[str]) -> str:
    """Return the figures of the document."""
    shown = [
        FIGURE % {"file": name, "caption": latex_text(CAPTIONS[stem]), "label": stem}
        for name in figures
        if name.endswith(".pdf") and (stem := Path(name).stem)
    ]
    return "".join(shown)


def methods_of(
    report: Report,
    verdict: Verdict | None,
    keys: Sequence[Key],
    questions: Mapping[str, Systems],
) -> str:
    """Return the paragraph on methods in LaTeX; `keys` are of the numbers that the table shows."""
    first = _first_system(report)
    is_weighted = first.options.sample_weight is not None and not questions
    orders = ", ".join(f"{order:g}".replace("inf", r"\infty") for order in first.options.n)
    sentences = [
        rf"We evaluate {_subject(report)} by ECUAS$_n$~\cite{{estienne2026ecuas}}, $n = {orders}$: the cost to users "
        "who accept answers whose uncertainty, the cost that the system expects of them, is at most their reject cost "
        f"$r$, and reject the others. {_costs(first, questions)} Their mean is integrated over $r$, from 0 to the "
        "largest uncertainty, with the weight $r^{n-1}$, and divided by what rejecting all answers costs: 0 is "
        "perfect, 1 as rejecting everything.",
        _abbreviations(keys),
        "Samples are weighted." if is_weighted else "",
        f"Intervals, at the level {_level(report)}, are quantiles of gamma distributions with the first three moments "
        rf"of the Bayesian bootstrap~\cite{{rubin1981bayesian}} of the samples' influences{_units(first.options)}. "
        "They count one answer more than was seen: for each limit the one that would move the value most towards it.",
    ]
    sentences += map(latex_text, _recalibrations(report.systems))
    for name, note in report.notes():
        if note.id in OF_DATA:
            rule = RULES_OF_UNLABELLED.get(note.advice, "")
            sentences.append(latex_text(f"{name}: {note.fact} {rule}".rstrip()))
    sentences += map(latex_text, _what_intervals_rest_on(report, keys))
    if verdict is not None:
        sentences.append(_tests("ids" if first.ids is not None else "position", verdict))
    signature = latex_text(report.signature).replace("$|$", r"$|$\allowbreak{}")
    sentences.append(f"Computed by ecuas {VERSION} ({signature}).")
    return "\n".join(filter(None, sentences))


def describe_results(
    report: Report,
    verdict: Verdict | None,
    keys: Sequence[Key],
    questions: Mapping[str, Systems],
) -> str:
    """Return the paragraph on what came out in LaTeX: the verdict first."""
    sentences = []
    if verdict is not None:
        sentences.append(headline(verdict))
        sentences += _by_other_metrics(verdict, keys)
        sentences += findings(verdict)
    elif report.results:
        ((name, results),) = report.results.items()
        numbers = [f"{short_title(key)} {estimate_text(results.estimates[key], 3)}" for key in keys]
        sentences.append(f"{name} scores {', '.join(numbers)}.")
    for text in sentences_by_question(keys[0] if verdict is None else verdict.headline, questions):
        sentences.append(f"{text}.")
    beaten = numbers_to_beat(report.results, keys, are_beaten=are_few(report))
    if beaten and are_few(report):
        sentences.append(f"With confidence 1 - ER for all answers, the scores would be {beaten}.")
    elif beaten:
        sentences.append(f"No better than with confidence 1 - ER for all answers are {beaten}.")
    return "\n".join(map(latex_text, sentences))


def _by_other_metrics(verdict: Verdict, keys: Sequence[Key]) -> Iterator[str]:
    """Yield who is best by each metric but that of the headline."""
    for key in keys:
        ranking = verdict.rankings[key]
        if key != verdict.headline and ranking.state != "unranked":
            text = sentence_by_metric(ranking, scaled=False)
            yield f"By {short_title(key)}: {_uncapitalised(text)}"


def _uncapitalised(text: str) -> str:
    """Return a sentence as it goes on after a colon."""
    return f"too {text.removeprefix('Too ')}" if text.startswith("Too ") else text


def _subject(report: Report) -> str:
    """Say how many systems and samples there are."""
    systems = len(report.results)
    return f"{systems} system{'s' if systems > 1 else ''} on {_size(report)} samples"


def _size(report: Report) -> str:
    """Return the number of samples, which all systems share."""
    return f"{_first_system(report).num_samples:,}"


def _costs(system: System, questions: Mapping[str, Systems]) -> str:
    """Say what an answer costs a user."""
    if questions:
        names = ", ".join(next(iter(questions.values())))
        return (
            "What an accepted answer costs, given the true class, is divided by the largest uncertainty of its "
            f"question ({latex_text(names)}); a rejected one costs $r$; each question counts the same."
        )
    if system.decisions.confidence is not None:
        return "An accepted wrong answer costs 1, an accepted right one nothing, and a rejected one $r$."
    by_what = "a logarithmic loss" if isinstance(system.options.cost, str) else "a matrix of costs"
    return f"What an accepted answer costs, given the true class, is set by {by_what}; a rejected one costs $r$."


def _abbreviations(keys: Iterable[Key]) -> str:
    """Say what the other metrics of the table are."""
    others = [key for key in keys if key.entry is not ECUAS_N]
    named = [latex_text(f"{name} ({text})") for name, text in meanings_of(others).items()]
    if not named:
        return ""
    *before, last = named
    listed = f"{', '.join(before)} and {last}" if before else last
    return f"We also report {listed}."


def _what_intervals_rest_on(report: Report, keys: Sequence[Key]) -> list[str]:
    """Say what the intervals of some numbers rest on, of which system."""
    sentences = []
    for name, note in report.notes():
        metrics: Any = note.fields.get("metrics", keys)
        named = [short_title(key) for key in metrics if key in keys]
        if note.id in OF_INTERVALS and named:
            shown = replace(note, fields={**note.fields, "metrics": named})
            sentences.append(f"{name}: {shown.fact}")
    return sentences


def _units(options: Options) -> str:
    """Say what depends on what, with a leading comma, or nothing."""
    groups = "groups of samples that depend on each other"
    strata = "strata whose sizes were fixed in advance"
    units = {groups: options.groups, strata: options.strata}
    named = [name for name, values in units.items() if values is not None]
    return f", computed over {' in '.join(named)}" if named else ""


def _tests(paired: str, verdict: Verdict) -> str:
    """Say how differences were tested."""
    metrics = ", ".join(
        latex_text(short_title(key))
        for key, ranking in verdict.rankings.items()
        if any(row.family for row in ranking.rows)
    )
    over = ""
    if verdict.strip:
        over = f", and of the expected costs at {len(verdict.strip)} reject costs, also with rejecting everything"
    return (
        f"Systems are compared on the same samples, paired by {paired}. The two-sided $p$-values of their differences "
        f"are adjusted together for the {verdict.num_tests:,} tests of all pairs by {metrics}{over}, by the "
        r"step-down max-T procedure~\cite{westfall1993resampling} with a multivariate normal null distribution"
        rf"~\cite{{hothorn2008simultaneous}}. With an adjusted $p$ of at most {verdict.alpha:g}, a difference is "
        "called more than chance."
    )


def _recalibrations(systems: Systems) -> list[str]:
    """Say how systems were recalibrated, if any were."""
    fits = dict.fromkeys(system.basis.recalibration for system in systems.values())
    parts = [fit.split("/") for fit in fits if fit]
    return [
        f"Systems named with '{one[0]}' are recalibrated in {one[1]}-fold cross-validation, whose fits intervals and "
        "tests take as given."
        for one in parts
    ]


def _first_system(report: Report) -> System:
    return next(iter(report.systems.values()))


def _level(report: Report) -> str:
    """Return the level of intervals, in percent."""
    return rf"{100 * (_first_system(report).options.confidence_level or LEVEL):.10g}\%"


# ---- tables ----


def latex_tables(report: Report, verdict: Verdict | None, keys: Sequence[Key]) -> str:
    """Return the tables of a report by some metrics: of two systems their differences, else the values of each system.

    Both have intervals; the best, and what is not worse by more than chance, is bold.
    """
    if verdict is not None and len(report.results) == 2:
        return _table_of_two(report, verdict, keys)
    starts = range(0, len(keys), METRICS_IN_COLUMN)
    parts = [keys[start : start + METRICS_IN_COLUMN] for start in starts]
    tables = []
    for number, part in enumerate(parts, 1):
        label = "results" if len(parts) == 1 else f"results-{number}"
        tables.append(_table_of_systems(report, verdict, part, label))
    return "\n".join(tables)


def _table_of_two(report: Report, verdict: Verdict, keys: Sequence[Key]) -> str:
    rows = []
    rankings = [verdict.rankings[key] for key in keys]
    for ranking in rankings:
        (row,) = ranking.rows
        digits = min(digits_for(ranking.rows), MOST_DIGITS_IN_COLUMN)
        cells = [
            _heading(ranking.key, keys),
            _value(row.first_value, verdict, row.key, row.first, digits),
            _value(row.second_value, verdict, row.key, row.second, digits),
            _number(row.difference, digits),
            _interval(row.low, row.high, digits),
            _p_value(row.p_adjusted, verdict.alpha),
        ]
        rows.append(_line(cells))
    first, second = (_two_lines(name) for name in _names([row.first, row.second]))
    level = _level(report)
    difference = rf"\multicolumn{{2}}{{c}}{{difference [{level}]}}"
    header = [_line(["", first[0], second[0]]), _line(["", first[1], second[1], difference, "$p$"])]
    return TABLE % {
        "caption": f"Two systems on {_size(report)} samples: paired differences with {level} intervals.",
        "label": "results",
        "columns": r"lrrr@{\extracolsep{3pt}}l@{\extracolsep{\fill}}r",
        "header": "\n".join(header),
        "rows": "\n".join(rows),
        "notes": _notes(verdict, keys, "Difference: first minus second."),
    }


def _table_of_systems(
    report: Report, verdict: Verdict | None, keys: Sequence[Key], label: str
) -> str:
    results = report.results
    order = list(results)
    if verdict is not None and verdict.headline in verdict.rankings:
        order = list(verdict.rankings[verdict.headline].values)
    rows = []
    for name, short in zip(order, _names(order), strict=True):
        above, below = _two_lines(short)
        values, limits = [above], [rf"\enspace {below}" if below else ""]
        for key in keys:
            estimate = results[name].estimates[key]
            digits = min(digits_for([estimate]), MOST_DIGITS_IN_COLUMN)
            values.append(_value(estimate.value, verdict, key, name, digits))
            limits.append(_range(estimate.low, estimate.high, digits))
        rows += [_line(values), _line(limits).removesuffix("\\\\") + r"\\[3pt]"]
    count = "One system" if len(results) == 1 else f"{len(results)} systems"
    return TABLE % {
        "caption": f"{count} on {_size(report)} samples, with {_level(report)} intervals.",
        "label": label,
        "columns": "l" + "c" * len(keys),
        "header": _line(["", *(_heading(key, keys) for key in keys)]),
        "rows": "\n".join(rows),
        "notes": _notes(verdict, keys, ""),
    }


def _notes(verdict: Verdict | None, keys: Sequence[Key], on_differences: str) -> str:
    """Return what stands below a table: what is bold, and what the metrics are."""
    bold = ""
    if verdict is not None and verdict.num_tests:
        tests = "one test" if verdict.num_tests == 1 else f"{verdict.num_tests:,} tests together"
        bold = (
            r"\textbf{Bold}: the best, and all that are not worse than another by more than chance (adjusted "
            rf"$p > {verdict.alpha:g}$; {tests})."
        )
    meanings = [
        f"{latex_text(name)}: {latex_text(text)}." for name, text in meanings_of(keys).items()
    ]
    direction = "" if _have_arrows(keys) else "Lower is better."
    return " ".join(filter(None, [bold, on_differences, direction, *meanings]))


def _have_arrows(keys: Sequence[Key]) -> bool:
    """Return whether metrics differ in which values are better; else one sentence says it."""
    return {key.entry.higher_is_better for key in keys} != {False}


def _heading(key: Key, keys: Sequence[Key]) -> str:
    return latex_text(title(key) if _have_arrows(keys) else short_title(key))


def _value(value: float, verdict: Verdict | None, key: Key, name: str, digits: int) -> str:
    """Return a value, bold if its system may be the best."""
    text = _number(value, digits)
    ranking = verdict.ranking(key) if verdict is not None and key in verdict.rankings else None
    return rf"\textbf{{{text}}}" if ranking is not None and name in ranking.best else text


def _number(value: float, digits: int) -> str:
    if math.isnan(value):
        return "--"
    return f"${value:.{digits}f}$" if value < 0 else f"{value:.{digits}f}"


def _interval(low: float, high: float, digits: int) -> str:
    return "" if math.isnan(low) else f"$[{low:.{digits}f}, {high:.{digits}f}]$"


def _range(low: float | None, high: float | None, digits: int) -> str:
    """Return an interval below its value, without zeros before the decimal point."""
    if low is None or high is None or math.isnan(low):
        return ""
    return "--".join(f"{end:.{digits}f}".removeprefix("0") for end in (low, high))


def _p_value(p: float, alpha: float) -> str:
    text = p_text(p, alpha, in_cell=True)
    return f"$<${text[1:]}" if text.startswith("<") else text


def _line(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _names(names: Sequence[str]) -> list[str]:
    """Return names short enough for two lines, with blanks for underscores."""
    short = short_names(names, longest=LONGEST_NAME)
    return [short[name].replace("_", " ") for name in names]


def _two_lines(name: str) -> tuple[str, str]:
    """Return a name in two lines, broken at the blank or hyphen that makes the longer one shortest."""
    breaks = [found.end() for found in re.finditer(r"[ -]|$", name)]
    lines = [(name[:end].rstrip(), name[end:].lstrip()) for end in breaks]
    best = min(lines, key=lambda pair: max(map(len, pair)))
    above, below = map(latex_text, best)
    return above, below

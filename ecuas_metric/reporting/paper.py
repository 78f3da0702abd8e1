"""Systems -> what a paper needs: a table that compiles, figures, a paragraph on methods, and all numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..basis import signature_of
from ..comparison.compare import basis_of_comparison, basis_of_pairs, compare_systems
from ..comparison.rows import Comparison, fields_of
from ..comparison.verdict import rows_by_key as pairs_by_key
from ..costs import ECUAS_N
from ..errors import FileError
from ..files.submissions import MEANING
from ..files.write import write_whole
from ..metric import Key
from ..options import LEVEL, Options
from ..results import System
from ..version import BIBTEX, VERSION
from .differences import MAX_ROWS, comparison_grid, num_tests
from .report import (
    Report,
    Systems,
    are_few,
    digits_for,
    draw_figures,
    main_keys,
    make_report,
    meanings_of,
    numbers_to_beat,
    report_grid,
    report_records,
    short_title,
)
from .sentences import sentence_by_metric
from .tables import Grid, latex_text, to_json, to_latex

DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs,graphicx,threeparttable}
\begin{document}
%(tables)s
%(figures)s
\begin{sloppypar}
%(methods)s
\end{sloppypar}
\end{document}
"""
TABLE = r"""\begin{table}
\centering
\caption{%(caption)s}
\label{tab:%(label)s}
\resizebox{\textwidth}{!}{%%
%(table)s}
\end{table}
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
    MEANING["wrong"]: "They count as wrong.",
    MEANING["drop"]: "They are left out.",
}
CAPTIONS = {
    "risk_coverage": "Mean cost of the accepted answers against the share that is accepted.",
    "reject_cost": "Expected cost against reject cost; a system is of use below rejecting and accepting everything.",
    "ecuas_against_n": "ECUAS_n against n; on the left confident mistakes cost most.",
    "reliability": "Accuracy against confidence in bins, and the number of samples in each.",
}
# the first lists all files, also if writing them ends early
TEXTS = ("numbers.json", "results.tex", "methods.txt", "references.bib")
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
CITATION = "Estienne et al., arXiv:2605.20490"
FIGURE = r"""\begin{figure}
\centering
\includegraphics[width=0.7\textwidth]{%(file)s}
\caption{%(caption)s}
\label{fig:%(label)s}
\end{figure}
"""


def write_paper(systems: Systems, folder: str | Path) -> list[Path]:
    """Write results.tex, methods.txt, references.bib, numbers.json and figures as PDF and PNG; return their paths.

    They replace those of a former report in the folder, and nothing else.
    """
    folder = Path(folder)
    former = _former_files(folder)
    report = make_report(systems)
    keys = [key for key in main_keys(report.keys) if key.assesses != "confidences"]
    rows = compare_systems(systems, only=keys, by_position=True) if len(systems) > 1 else []
    figures = draw_figures(systems, FIGURE_SUFFIXES)
    if rows:
        report = replace(report, signature=_signature(systems))
    methods = methods_of(systems, report, rows, keys)
    paragraphs = f"{methods}\n\n{_results(systems, report, rows, keys)}"
    grid = replace(report_grid(report, keys=keys), hints=())
    tables = _tables(grid, rows, report, _level(systems))
    texts = {
        "results.tex": _document(tables, paragraphs, figures),
        "methods.txt": paragraphs,
        "references.bib": REFERENCES,
    }
    names = [*TEXTS, *figures]
    listed = {"differences": [fields_of(row) for row in rows], "files": names}
    texts["numbers.json"] = to_json(report_records(report), report.signature, grid.notes, listed)
    contents = {name: f"{text}\n".encode() for name, text in texts.items()} | figures
    for name in names:
        write_whole(folder / name, contents[name])
    for name in former.difference(names):
        (folder / name).unlink(missing_ok=True)
    return [folder / name for name in names]


def _former_files(folder: Path) -> set[str]:
    """Return the names of files that a former report wrote; FileError if another file would be overwritten."""
    listing = folder / "numbers.json"
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
    return signature_of(
        replace(basis_of_pairs(system), deviates=basis_of_comparison(system).deviates)
        for system in systems.values()
    )


def _tables(
    grid: Grid,
    rows: Sequence[Comparison],
    report: Report,
    level: float,
) -> str:
    """Return the table of results, and that of differences unless they are too many."""
    intervals = f"{100 * level:.10g}\\% intervals"
    caption = f"Costs and errors of {_subject(report)}, with {intervals}."
    tables = TABLE % {"label": "results", "caption": caption, "table": to_latex(grid)}
    if 0 < len(rows) <= MAX_ROWS:
        digits = digits_for(rows)
        tests = num_tests(rows)
        differences = comparison_grid(rows, grid.signature, level=level, tests=tests, digits=digits)
        # what the metrics are stands below the table of results
        table = to_latex(replace(differences, legend=()))
        caption = (
            f"Differences of all pairs of systems by each metric, with {intervals} and p-values."
        )
        tables += TABLE % {"label": "differences", "caption": caption, "table": table}
    return tables


def _document(
    tables: str,
    paragraphs: str,
    figures: Iterable[str],
) -> str:
    """Return the text of a LaTeX document."""
    shown = [
        FIGURE % {"file": name, "caption": latex_text(CAPTIONS[stem]), "label": stem}
        for name in figures
        if name.endswith(".pdf") and (stem := Path(name).stem)
    ]
    fields = {
        "tables": tables,
        "figures": "".join(shown),
        # a signature is longer than a line
        "methods": latex_text(paragraphs).replace("$|$", r"$|$\allowbreak{}"),
    }
    return DOCUMENT % fields


def methods_of(
    systems: Systems,
    report: Report,
    rows: Sequence[Comparison],
    keys: Sequence[Key],
) -> str:
    """Return the paragraph on methods; `keys` are of the numbers that the table shows."""
    first = next(iter(systems.values()))
    level = _level(systems)
    orders = ", ".join(f"{order:g}" for order in first.options.n)
    sentences = [
        f"We evaluate {_subject(report)} by ECUAS_n ({CITATION}), n = {orders}: the cost to users who accept answers "
        "whose uncertainty, the cost that the system expects of them, is at most their reject cost r, and reject the "
        f"others. {_costs(first)} Their mean is integrated over r, from 0 to the largest uncertainty, with the weight "
        "r^(n-1), and divided by what rejecting all answers costs: 0 is perfect, 1 as rejecting everything.",
        _abbreviations(keys),
        "Samples are weighted." if first.options.sample_weight is not None else "",
        f"Intervals, at the level {100 * level:.10g}%, are quantiles of gamma distributions with the first three "
        f"moments of the Bayesian bootstrap (Rubin 1981) of the samples' influences{_units(first.options)}. They count "
        "one answer more than was seen: for each limit the one that would move the value most towards it.",
    ]
    sentences += _recalibrations(systems)
    for name, note in report.notes():
        if note.id in OF_DATA:
            sentences += [f"{name}: {note.fact}", RULES_OF_UNLABELLED.get(note.advice, "")]
    sentences += _what_intervals_rest_on(report, keys)
    sentences += _tests("ids" if first.ids is not None else "position", rows, level)
    sentences.append(f"Computed by ecuas {VERSION} ({report.signature}).")
    return " ".join(filter(None, sentences))


def _subject(report: Report) -> str:
    """Say how many systems and samples there are."""
    sizes = sorted(set(report.sizes.values()))
    counts = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    systems = len(report.results)
    return f"{systems} system{'s' if systems > 1 else ''} on {counts} samples"


def _costs(system: System) -> str:
    """Say what an answer costs a user."""
    if system.decisions.confidence is not None:
        return (
            "An accepted wrong answer costs 1, an accepted right one nothing, and a rejected one r."
        )
    by_what = "a logarithmic loss" if isinstance(system.options.cost, str) else "a matrix of costs"
    return f"What an accepted answer costs, given the true class, is set by {by_what}; a rejected one costs r."


def _results(
    systems: Systems,
    report: Report,
    rows: Any,
    keys: Sequence[Key],
) -> str:
    """Return the paragraph on what came out."""
    sentences = []
    numbers = numbers_to_beat(report.results, keys, are_beaten=are_few(report))
    if numbers and are_few(report):
        sentences.append(f"With confidence 1 - ER for all answers, the scores would be {numbers}.")
    elif numbers:
        sentences.append(f"No better than with confidence 1 - ER for all answers are {numbers}.")
    if rows:
        rankings = rows.verdict.rankings.values()
        sentences += [sentence_by_metric(one) for one in rankings if one.state != "unranked"]
    return " ".join(sentences)


def _abbreviations(keys: Iterable[Key]) -> str:
    """Say what the other metrics of the table are."""
    others = [key for key in keys if key.entry is not ECUAS_N]
    named = [f"{name} ({meaning})" for name, meaning in meanings_of(others).items()]
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


def _tests(
    paired: str,
    rows: Sequence[Comparison],
    level: float,
) -> list[str]:
    """Say how differences were tested, if there are any."""
    if not rows:
        return []
    tested = [row for row in rows if not math.isnan(row.p)]
    metrics = ", ".join(map(short_title, pairs_by_key(tested)))
    return [
        f"Systems are compared on the same samples, paired by {paired}. The two-sided p-values of their differences "
        f"are adjusted for the {num_tests(rows)} tests of all pairs by {metrics}, by the step-down max-T procedure "
        "(Westfall and Young 1993) with a multivariate normal null distribution (Hothorn et al. 2008). Differences "
        f"with an adjusted p of at most {1 - level:.2g} are called significant."
    ]


def _recalibrations(systems: Systems) -> list[str]:
    """Say how systems were recalibrated, if any were."""
    fits = dict.fromkeys(system.basis.recalibration for system in systems.values())
    parts = [fit.split("/") for fit in fits if fit]
    return [
        f"Systems named with '{one[0]}' are recalibrated in {one[1]}-fold cross-validation, whose fits intervals and "
        "tests take as given."
        for one in parts
    ]


def _level(systems: Systems) -> float:
    return next(iter(systems.values())).options.confidence_level or LEVEL

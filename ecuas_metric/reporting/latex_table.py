"""A verdict -> the LaTeX table of a paper: 8 points in a column of 3.3 inches, nothing scaled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ..comparison.verdict import Ranking, Verdict
from ..metric import Key
from ..plotting.names import short_names
from ..results import Results
from .report import digits_for, meanings_of, p_text, short_title, title
from .tables import latex_text

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


def latex_tables(
    results: Mapping[str, Results], verdict: Verdict | None, keys: Sequence[Key], *, level: float
) -> str:
    """Return the tables of results by some metrics: of two systems their differences, else the values of each system.

    Both have intervals; the best, and what is not worse by more than chance, is bold.
    """
    size = next(iter(results.values())).basis.num_samples
    words = {"level": rf"{100 * level:.10g}\%", "size": f"{size:,}", "count": len(results)}
    if verdict is not None and len(results) == 2:
        return _table_of_two(verdict, keys, words)
    starts = range(0, len(keys), METRICS_IN_COLUMN)
    parts = [keys[start : start + METRICS_IN_COLUMN] for start in starts]
    tables = []
    for number, part in enumerate(parts, 1):
        label = "results" if len(parts) == 1 else f"results-{number}"
        tables.append(_table_of_systems(results, verdict, part, words, label))
    return "\n".join(tables)


def _table_of_two(verdict: Verdict, keys: Sequence[Key], words: Mapping[str, object]) -> str:
    rows = []
    rankings = [verdict.rankings[key] for key in keys]
    for ranking in rankings:
        (row,) = ranking.rows
        digits = min(digits_for(ranking.rows), MOST_DIGITS_IN_COLUMN)
        cells = [
            _heading(ranking.key, keys),
            _value(verdict, ranking, row.first, digits),
            _value(verdict, ranking, row.second, digits),
            _number(row.difference, digits),
            _interval(row.low, row.high, digits),
            _p_value(row.p_adjusted, verdict.alpha),
        ]
        rows.append(_line(cells))
    first, second = (_two_lines(name) for name in _names([row.first, row.second]))
    difference = rf"\multicolumn{{2}}{{c}}{{difference [{words['level']}]}}"
    header = [_line(["", first[0], second[0]]), _line(["", first[1], second[1], difference, "$p$"])]
    return TABLE % {
        "caption": f"Two systems on {words['size']} samples: paired differences with {words['level']} intervals.",
        "label": "results",
        "columns": r"lrrr@{\extracolsep{3pt}}l@{\extracolsep{\fill}}r",
        "header": "\n".join(header),
        "rows": "\n".join(rows),
        "notes": _notes(verdict, keys, "Difference: first minus second."),
    }


def _table_of_systems(
    results: Mapping[str, Results],
    verdict: Verdict | None,
    keys: Sequence[Key],
    words: Mapping[str, object],
    label: str,
) -> str:
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
            ranking = verdict.rankings.get(key) if verdict else None
            if verdict is None or ranking is None:
                values.append(_number(estimate.value, digits))
            else:
                values.append(_value(verdict, ranking, name, digits))
            limits.append(_range(estimate.low, estimate.high, digits))
        rows += [_line(values), _line(limits).removesuffix("\\\\") + r"\\[3pt]"]
    count = "One system" if len(results) == 1 else f"{len(results)} systems"
    return TABLE % {
        "caption": f"{count} on {words['size']} samples, with {words['level']} intervals.",
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


def _value(verdict: Verdict, ranking: Ranking, name: str, digits: int) -> str:
    """Return a value, bold if its system may be the best."""
    judged = verdict.ranking(ranking.key) or ranking
    text = _number(ranking.values[name], digits)
    return rf"\textbf{{{text}}}" if name in judged.best else text


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
    """Return names short enough for two lines, with blanks where they may be broken."""
    short = short_names(names, longest=LONGEST_NAME)
    return [short[name].replace("_", " ").replace("-", " ") for name in names]


def _two_lines(name: str) -> tuple[str, str]:
    """Return a name in two lines, broken after the word that makes the longer one shortest."""
    words = name.split()
    breaks = range(1, len(words) + 1)
    lines = [(" ".join(words[:i]), " ".join(words[i:])) for i in breaks]
    best = min(lines, key=lambda pair: max(map(len, pair)))
    above, below = map(latex_text, best)
    return above, below

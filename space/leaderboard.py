"""Error rates of 21 systems on the curated TriviaQA subset, with intervals, and of a visitor's model beside them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd

from ecuas_metric.api import confidence_system
from ecuas_metric.errors import InputError
from ecuas_metric.metrics import Key
from ecuas_metric.results import Estimate, compute_results

from .scoring import LEVEL
from .subset import tables

LABELS = ("correct", "exact_match")
ERROR_RATE = Key("error_rate")
COLUMNS = {  # an estimate -> its title and what it is
    "weighted": ("weighted", "On the 455 questions, weighted to represent the 918 kept ones"),
    "subset": ("unweighted", "On the 455 questions as they are; easy ones are over-represented"),
    "pool": ("all kept", "On all 918 kept questions"),
}
BETWEEN = " · "  # the language model and the method
NONE = Estimate(float("nan"))


class Row(NamedTuple):
    """Error rates of one system.

    Attributes
    ----------
    system : str
    weighted, subset, pool : Estimate
        On the questions of `COLUMNS`; nan where it did not answer them all. A value of nan with limits: the lowest and
        highest possible ones.
    answered, unknown, questions : int
        How many of the questions it answered, and of how many of these nobody knows whether they are correct.
    """

    system: str
    weighted: Estimate
    subset: Estimate
    pool: Estimate
    answered: int
    unknown: int
    questions: int

    @property
    def order(self) -> float:
        """The worst of what its rate may be: unknown answers earn no better place."""
        shown = self.pool if np.isnan(list(_ends(self.weighted))).all() else self.weighted
        return _worst(shown)


@cache
def known_rows(labels: str = LABELS[0]) -> tuple[Row, ...]:
    """Return the rows of the dataset's own systems.

    Raises
    ------
    InputError
        If the labels are none of `LABELS`.
    """
    if labels not in LABELS:
        raise InputError("labels", f"must be one of {', '.join(LABELS)}", value=labels)
    systems = tables()["systems"].groupby(["llm", "method"], sort=False)
    return tuple(
        row_of(f"{llm}{BETWEEN}{method}", part.set_index("question_id")[labels].astype(float))
        for (llm, method), part in systems
    )


def row_of(system: str, correct: pd.Series, asked: str = "kept") -> Row:
    """Return the row of a system.

    Parameters
    ----------
    system : str
    correct : Series
        1, 0, or missing if unknown, by question_id; questions that are not in it count as unknown.
    asked : {"curated", "kept"}
        Which questions it was asked: those that it has not answered count as unknown.
    """
    curated, kept = tables()["curated"], tables()["kept"]
    questions = kept if asked == "kept" else curated
    given = correct[correct.index.isin(questions["question_id"])]
    return Row(
        system,
        _rate(curated, correct, curated["weight"]),
        _rate(curated, correct),
        _rate(kept, correct) if asked == "kept" else NONE,
        len(given),
        int(given.isna().sum()),
        len(questions),
    )


def table(rows: Iterable[Row], *, mine: Row | None = None) -> str:
    """Return rows as an HTML table, the lowest error rates first; the visitor's own is marked."""
    ordered = sorted([*rows, *([mine] if mine else [])], key=lambda row: row.order)
    header = "".join(
        f'<th scope="col"><abbr title="{escape(tip)}">{title}</abbr></th>' for title, tip in COLUMNS.values()
    )
    body = "".join(_html(place, row, is_own=row is mine) for place, row in enumerate(ordered, 1))
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Error rates of each system"><table class="report '
        f'rates"><thead><tr><th scope="col">system</th>{header}<th scope="col">weighted, 0 to 1</th></tr>'
        f'</thead><tbody>{body}</tbody></table></div><p class="caption">Error rates, lower is better, with {LEVEL:.0%} '
        "intervals in brackets. Where answers are missing or unknown: the lowest and highest possible rate, and the "
        "highest decides the place. The 21 systems come without confidences, hence without ECUAS_n.</p>"
    )


def record(row: Row) -> dict[str, object]:
    """Return a row as JSON: each rate with its limits, None where there is none."""
    rates: dict[str, object] = {}
    for name in COLUMNS:
        estimate: Estimate = getattr(row, name)
        rates[name] = dict(zip(("value", "low", "high"), map(_or_none, estimate), strict=True))
    return {"system": row.system, **rates, "answered": row.answered, "unknown": row.unknown, "asked": row.questions}


def _rate(questions: pd.DataFrame, correct: pd.Series, weight: pd.Series | None = None) -> Estimate:
    """Return the error rate with its interval, or, where some correctness is unknown, nan with its bounds."""
    right = questions["question_id"].map(correct).to_numpy(float)
    weights = np.ones(len(right)) if weight is None else weight.to_numpy(float)
    if (unknown := np.isnan(right)).any():
        shares = (np.average(np.where(unknown, fill, 1 - right), weights=weights) for fill in (0.0, 1.0))
        return Estimate(float("nan"), *map(float, shares))
    strata = None if len(questions) > len(tables()["curated"]) else questions["stratum"].to_numpy()
    half = np.full(len(right), 0.5)  # confidences, which change no error rate
    system = confidence_system(right.astype(int), half, sample_weight=weights, strata=strata, confidence_level=LEVEL)
    return compute_results(system, only=[ERROR_RATE]).estimates[ERROR_RATE]


def _html(place: int, row: Row, *, is_own: bool) -> str:
    llm, _, method = row.system.partition(BETWEEN)
    name = f"{place}. {escape(llm)}<small>{escape(method)}</small>"
    if row.answered < row.questions or row.unknown:
        known = row.answered - row.unknown
        name += f"<small>{row.answered} of {row.questions} answered, {known} known to be right or wrong</small>"
    cells = "".join(_cell(getattr(row, column)) for column in COLUMNS)
    own = ' class="own"' if is_own else ""
    return f'<tr{own}><th scope="row">{name}</th>{cells}<td>{_bar(row)}</td></tr>'


def _cell(rate: Estimate) -> str:
    value, low, high = rate
    if low is None or high is None or np.isnan(low):
        return "<td>-</td>" if np.isnan(value) else f"<td>{value:.3f}</td>"
    if np.isnan(value):
        return f"<td>{low:.3f} to {high:.3f}</td>"
    return f"<td>{value:.3f}<small>[{low:.3f}, {high:.3f}]</small></td>"


def _bar(row: Row) -> str:
    value, low, high = row.weighted
    if low is None or high is None or np.isnan(low):
        return ""
    point = "" if np.isnan(value) else f'<b style="left:{100 * value:.1f}%"></b>'
    return f'<span class="range"><i style="left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"></i>{point}</span>'


def _ends(rate: Estimate) -> Iterable[float]:
    return (float("nan") if end is None else end for end in rate)


def _worst(rate: Estimate) -> float:
    value, _, high = _ends(rate)
    return high if np.isnan(value) else value


def _or_none(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)

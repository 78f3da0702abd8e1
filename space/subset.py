"""The TriviaQA subset -> its questions, what the paper prints of 21 systems, and a leaderboard by our labels."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
from markupsafe import Markup

from ecuas_metric.api import confidence_system
from ecuas_metric.basis import Basis, Origin, why_not_comparable
from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.metric import Key
from ecuas_metric.options import ALPHA, LEVEL
from ecuas_metric.results import Estimate, System, compute_results
from triviaqa_subset.tables import table

from .answers import submissions
from .markup import PAPER, html

SUBMITTED = "submitted"
PAPER_DATE = "2026-05"
SAME_ANSWERS = "is_true"  # this method asks about the answers of the first
ERROR_RATE = Key("error_rate")
ECUAS_1 = Key("ecuas", 1.0)
PRINTED = {"ecuas_0": "ECUAS_0", "ecuas_1": "ECUAS_1", "ecuas_128": "ECUAS_128", "error_rate": "ER"}
POPULATIONS = {
    "curated": "the 455 of the subset, weighted",  # so that they represent the 918
    "kept": "all 918 that were kept",
}
ABOUT = (
    "Error rates by our labels, questions: {population}. [{level:.0%} interval]; a place goes from 1 + the number of "
    "systems that are significantly better to the number of those that are not significantly worse, by paired tests "
    "of all pairs together. A third method, is_true, asks the model whether its answer is true. Its answers are "
    "those of sequence posterior, so that it has no row of its own. The dataset has no confidences of these systems, "
    "so ECUAS_n by our labels is known of those alone whose confidences were sent."
)
ABOUT_PRINTED = (
    "As printed in the paper, unweighted. These numbers and those of the other table differ in their {reasons}, so "
    "they may not be ranked together. Choose a column to sort by it; lower is better."
)
GRADING = (("labels", "ours"),)
GRADING_OF_PAPER = (("labels", "the paper's"),)


Which = tuple[str, str]  # language model and method


@dataclass(frozen=True, slots=True)
class Row:
    """A system on the leaderboard: its error rate, or nan and what it could be, and the places it may have, or 0.

    ECUAS_1 is that of a system whose confidences are known.
    """

    system: str
    method: str
    error_rate: Estimate
    basis: Basis  # what this number depends on
    first: int = 0
    last: int = 0
    ecuas_1: Estimate | None = None
    answered: int = 0
    unknown: int = 0  # of the answers, whether they are correct
    mark: str = ""  # whose row it is
    link: str = ""  # to what it is about, and of which day
    date: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """A system that answered all questions, and whether its confidences are known; else all of them are a half."""

    system: System
    has_confidences: bool
    link: str = ""  # to what it is about, and of which day
    date: str = ""


@cache
def known_systems(asked: str) -> dict[Which, Answered]:
    """Return the systems of the paper and those that were sent, if they answered all questions of a configuration."""
    systems = table("systems").query("method != @SAME_ANSWERS")
    labels = systems.pivot(index=["llm", "method"], columns="question_id", values="correct")
    known = {
        which: _answered(asked, row, link=PAPER, date=PAPER_DATE)
        for which, row in labels.iterrows()
    }
    for name, kept in submissions().systems.items():
        known[name, SUBMITTED] = _answered(
            asked, kept.correct, kept.confidence, link=kept.link, date=kept.date
        )
    return {which: one for which, one in known.items() if one is not None}


@cache
def known_rows(asked: str) -> tuple[Row, ...]:
    """Return the leaderboard of the known systems on the questions of a configuration, the best first."""
    return tuple(sorted(_ranked(known_systems(asked)), key=lambda row: row.error_rate.value))


def rows_with(
    asked: str,
    name: str,
    correct: pd.Series,
    mark: str,
    confidence: pd.Series | None = None,
) -> list[Row]:
    """Return the leaderboard with a visitor's model: 1, 0 or missing by question_id; without a place unless complete.

    His row comes first; of what is not complete it has the lowest and the highest error rate that is possible.
    """
    own = _answered(asked, correct, confidence)
    if own is not None:
        *known, mine = _ranked({**known_systems(asked), (name, ""): own})
        return [replace(mine, mark=mark), *known]
    questions = table(asked)
    labels = correct.reindex(questions["question_id"]).to_numpy(float)
    low, high = (
        float(np.average(1 - np.nan_to_num(labels, nan=best), weights=questions["weight"]))
        for best in (1.0, 0.0)
    )
    row = Row(
        name,
        "",
        Estimate(math.nan, low, high),
        replace(known_rows(asked)[0].basis, num_samples=len(correct)),
        answered=len(correct),
        unknown=int(correct.isna().sum()),
        mark=mark,
    )
    return [row, *known_rows(asked)]


def board_html(asked: str, rows: Iterable[Row]) -> Markup:
    """Return the leaderboard as an HTML table, those without a place first."""
    about = ABOUT.format(population=POPULATIONS[asked], level=LEVEL)
    for name, reason in submissions().broken.items():
        about += f" Left out: {name}: {reason}"
    rows = list(rows)
    by_rate = sorted(rows, key=lambda row: (row.first > 0, row.error_rate.value))
    return html(
        "board",
        rows=by_rate,
        questions=len(table(asked)),
        has_confidences=any(row.ecuas_1 for row in rows),
        about=about,
    )


def printed() -> pd.DataFrame:
    """Return what the paper prints of 21 systems on TriviaQA."""
    published = table("published").query("task == 0")
    return published[["llm", "method", *PRINTED]].sort_values("ecuas_1")


def printed_html() -> Markup:
    """Return what the paper prints as an HTML table that can be sorted, and why it is not on the leaderboard."""
    ours = known_rows("kept")[0].basis
    theirs = replace(ours, population="TriviaQA, the paper's selection", grading=GRADING_OF_PAPER)
    reasons = why_not_comparable(ours, theirs)
    about = ABOUT_PRINTED.format(reasons=" and ".join(reasons))
    return html(
        "printed",
        columns=PRINTED,
        rows=printed().to_dict("records"),
        about=about,
    )


def record(row: Row) -> dict[str, object]:
    """Return a row as JSON; None where there is no number."""
    rate = asdict(row.error_rate) | ({} if row.first else {"value": None})
    place = [row.first, row.last] if row.first else None
    numbers = {name: getattr(row, name) for name in ("system", "method", "answered", "unknown")}
    ecuas_1 = None if row.ecuas_1 is None else asdict(row.ecuas_1)
    return {
        **numbers,
        "error_rate": rate,
        "ecuas_1": ecuas_1,
        "place": place,
        "signature": str(row.basis),
    }


def _ranked(answered: Mapping[Which, Answered]) -> list[Row]:
    """Return the rows of systems, with the places that they may have."""
    systems = {str(i): one.system for i, one in enumerate(answered.values())}
    better, worse = Counter[str](), Counter[str]()
    for comparison in compare_systems(systems, only=[ERROR_RATE]):
        row = comparison if comparison.difference < 0 else comparison.turned()
        is_clear = row.p_adjusted <= ALPHA
        worse[row.first] += is_clear
        better[row.second] += is_clear
    rows = []
    for name, ((llm, method), one) in zip(systems, answered.items(), strict=True):
        results = compute_results(one.system, only=[ERROR_RATE, ECUAS_1])
        rows.append(
            Row(
                llm,
                method,
                results.estimates[ERROR_RATE],
                results.basis,
                first=1 + better[name],
                last=len(systems) - worse[name],
                ecuas_1=results.estimates[ECUAS_1] if one.has_confidences else None,
                answered=one.system.num_samples,
                link=one.link,
                date=one.date,
            )
        )
    return rows


def _answered(
    asked: str,
    correct: pd.Series,
    confidence: pd.Series | None = None,
    **source: str,
) -> Answered | None:
    """Return a system by what is correct, and how sure, by question_id; None unless all of it is known to be."""
    questions = table(asked).set_index("question_id")
    labels = correct.reindex(questions.index).to_numpy(float)
    if np.isnan(labels).any():  # it is of other questions, or not complete
        return None
    stated = np.nan if confidence is None else confidence.reindex(questions.index).to_numpy(float)
    has_confidences = bool(np.all((stated >= 0) & (stated <= 1)))
    system = confidence_system(
        labels.astype(int),
        stated if has_confidences else np.full(len(labels), 0.5),
        confidence_level=LEVEL,
        sample_weight=questions["weight"].to_numpy(float),
        strata=questions["stratum"].to_numpy(),
    )
    origin = Origin(population=f"TriviaQA {asked}", grading=GRADING)
    system = replace(system, ids=list(questions.index), origin=origin)
    return Answered(system, has_confidences, **source)

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
from ecuas_metric.inputs import Floats
from ecuas_metric.metric import Key
from ecuas_metric.options import ALPHA, LEVEL
from ecuas_metric.results import Estimate, System, compute_results
from triviaqa_subset.labels import METHODS
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


@cache
def known_labels(asked: str) -> dict[tuple[str, str], Floats]:
    """Return by language model and method which of its answers to the questions of a configuration are correct."""
    ids = table(asked)["question_id"]
    systems = table("systems").query("method != @SAME_ANSWERS")
    labels = systems.pivot(index=["llm", "method"], columns="question_id", values="correct")
    known = {which: row.to_numpy(float) for which, row in labels[ids].iterrows()}
    for name, kept in submissions().systems.items():
        correct = kept.correct.reindex(ids).to_numpy(float)
        if np.isfinite(correct).all():  # else it is of other questions, or not complete
            known[name, SUBMITTED] = correct
    return known


@cache
def known_confidences(asked: str) -> dict[tuple[str, str], Floats]:
    """Return the confidences of systems that were sent, by name and method: the paper's have none in the dataset."""
    ids = table(asked)["question_id"]
    return {
        (name, SUBMITTED): kept.confidence.reindex(ids).to_numpy(float)
        for name, kept in submissions().systems.items()
    }


@cache
def known_rows(asked: str) -> tuple[Row, ...]:
    """Return the leaderboard of the systems of the paper on the questions of a configuration, the best first."""
    rows = _ranked(asked, known_labels(asked), known_confidences(asked))
    return tuple(sorted(rows, key=lambda row: row.error_rate.value))


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
    questions = table(asked)
    labels = correct.reindex(questions["question_id"]).to_numpy(float)
    if not np.isnan(labels).any():
        confidences = dict(known_confidences(asked))
        if confidence is not None:
            confidences[name, ""] = confidence.reindex(questions["question_id"]).to_numpy(float)
        *known, mine = _ranked(asked, known_labels(asked) | {(name, ""): labels}, confidences)
        return [replace(mine, mark=mark), *known]
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


def _ranked(
    asked: str,
    labels: Mapping[tuple[str, str], Floats],
    confidences: Mapping[tuple[str, str], Floats],
) -> list[Row]:
    """Return the rows of systems that answered all questions: those of the paper, a visitor's, those that were sent."""
    stated = {
        which: confidence
        for which, confidence in confidences.items()
        if ((confidence >= 0) & (confidence <= 1)).all()
    }
    systems = {
        str(i): _system(asked, correct, stated.get(which))
        for i, (which, correct) in enumerate(labels.items())
    }
    better, worse = Counter[str](), Counter[str]()
    for comparison in compare_systems(systems, only=[ERROR_RATE]):
        row = comparison if comparison.difference < 0 else comparison.turned()
        is_clear = row.p_adjusted <= ALPHA
        worse[row.first] += is_clear
        better[row.second] += is_clear
    rows = []
    for (name, system), (llm, method) in zip(systems.items(), labels, strict=True):
        results = compute_results(system, only=[ERROR_RATE, ECUAS_1])
        placed = Row(
            llm,
            method,
            results.estimates[ERROR_RATE],
            results.basis,
            first=1 + better[name],
            last=len(systems) - worse[name],
            ecuas_1=results.estimates[ECUAS_1] if (llm, method) in stated else None,
            answered=system.num_samples,
        )
        if method in METHODS:
            placed = replace(placed, link=PAPER, date=PAPER_DATE)
        elif method == SUBMITTED:
            kept = submissions().systems[llm]
            placed = replace(placed, link=kept.link, date=kept.date)
        rows.append(placed)
    return rows


def _system(asked: str, correct: Floats, confidence: Floats | None) -> System:
    questions = table(asked)
    system = confidence_system(
        correct.astype(int),
        np.full(len(correct), 0.5) if confidence is None else confidence,
        confidence_level=LEVEL,
        sample_weight=questions["weight"].to_numpy(float),
        strata=questions["stratum"].to_numpy(),
    )
    origin = Origin(population=f"TriviaQA {asked}", grading=GRADING)
    return replace(system, ids=questions["question_id"].tolist(), origin=origin)

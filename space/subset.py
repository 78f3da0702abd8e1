"""The TriviaQA subset -> its questions, what the paper prints of 21 systems, and a leaderboard by our labels."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from ecuas_metric.api import confidence_system
from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats
from ecuas_metric.metric import Key
from ecuas_metric.options import ALPHA, LEVEL
from ecuas_metric.results import Estimate, System, compute_results
from triviaqa_subset.folders import BUILT, FOLDER
from triviaqa_subset.labels import METHODS, STRATA

from .markup import html

ASKED = ("curated", "kept")
WORDS_OF = {  # a configuration -> its class labels
    "curated": ("stratum", tuple(STRATA)),
    "kept": ("stratum", tuple(STRATA)),
    "systems": ("method", METHODS),
    "published": ("method", METHODS),
}
SAME_ANSWERS = "is_true"  # this method asks about the answers of the first
ERROR_RATE = Key("error_rate")
PRINTED = {"ecuas_0": "ECUAS_0", "ecuas_1": "ECUAS_1", "ecuas_128": "ECUAS_128", "error_rate": "ER"}
POPULATIONS = {
    "curated": "the 455 of the subset, weighted",  # so that they represent the 918
    "kept": "all 918 that were kept",
}
ABOUT = (
    "Error rates by our labels, questions: {population}. [{level:.0%} interval]; a place goes from 1 + the number of "
    "systems that are significantly better to the number of those that are not significantly worse, by paired tests "
    "of all pairs together. What is_true was asked about are the answers of sequence posterior. The dataset has no "
    "confidences of these systems, so ECUAS_n by our labels is not known for them."
)
ABOUT_PRINTED = (
    "As printed in the paper, for its own selection of questions and its own labels, unweighted: not comparable with "
    "the numbers of the other table, nor with yours. Choose a column to sort by it; lower is better."
)


@dataclass(frozen=True, slots=True)
class Row:
    """A system on the leaderboard: its error rate, or nan and what it could be, and the places it may have, or 0."""

    system: str
    method: str
    error_rate: Estimate
    first: int = 0
    last: int = 0
    answered: int = 0
    unknown: int = 0  # of the answers, whether they are correct
    mark: str = ""  # whose row it is


@cache
def tables() -> dict[str, pd.DataFrame]:
    """Return the configurations, with names for class labels."""
    folder = (BUILT if (BUILT / "data").is_dir() else FOLDER) / "data"
    frames = {}
    for name, (column, words) in WORDS_OF.items():
        frame = pd.read_parquet(folder / f"{name}.parquet")
        frame[column] = frame[column].map(dict(enumerate(words)))
        frames[name] = frame
    return frames


def questions_of(asked: str) -> pd.DataFrame:
    """Return the questions of a configuration that a visitor's model can be asked."""
    if asked not in ASKED:
        raise InputError("Questions", "not_a_choice", value=asked, choices=list(ASKED))
    return tables()[asked]


def has_text() -> bool:
    """Return whether this copy has questions and gold answers."""
    return "question" in questions_of("curated")


def llms() -> list[str]:
    """Return the names of the language models."""
    return list(tables()["systems"]["llm"].unique())


@cache
def known_labels(asked: str) -> dict[tuple[str, str], Floats]:
    """Return by language model and method which of its answers to the questions of a configuration are correct."""
    ids = questions_of(asked)["question_id"]
    systems = tables()["systems"].query("method != @SAME_ANSWERS")
    labels = systems.pivot(index=["llm", "method"], columns="question_id", values="correct")
    return {which: row.to_numpy(float) for which, row in labels[ids].iterrows()}


@cache
def known_rows(asked: str) -> tuple[Row, ...]:
    """Return the leaderboard of the systems of the paper on the questions of a configuration, the best first."""
    return tuple(_ranked(asked, known_labels(asked)))


def rows_with(asked: str, name: str, correct: pd.Series, mark: str) -> list[Row]:
    """Return the leaderboard with a visitor's model: 1, 0 or missing by question_id; without a place unless complete.

    His row comes first.
    """
    labels = correct.reindex(questions_of(asked)["question_id"]).to_numpy(float)
    row = Row(name, "", Estimate(math.nan), answered=len(correct), unknown=int(correct.isna().sum()), mark=mark)
    if np.isnan(labels).any():
        return [replace(row, error_rate=_possible(asked, labels)), *known_rows(asked)]
    mine = (name, mark)  # no language model and method
    rows = {(row.system, row.method): row for row in _ranked(asked, known_labels(asked) | {mine: labels})}
    ranked = rows.pop(mine)
    row = replace(row, error_rate=ranked.error_rate, first=ranked.first, last=ranked.last)
    return [row, *rows.values()]


def board_html(asked: str, rows: Iterable[Row]) -> str:
    """Return the leaderboard as an HTML table, those without a place first."""
    about = ABOUT.format(population=POPULATIONS[asked], level=LEVEL)
    by_rate = sorted(rows, key=lambda row: (row.first > 0, row.error_rate.value))
    return html("board", rows=by_rate, questions=len(questions_of(asked)), about=about)


def printed() -> pd.DataFrame:
    """Return what the paper prints of 21 systems on TriviaQA."""
    published = tables()["published"].query("task == 0")
    return published[["llm", "method", *PRINTED]].sort_values("ecuas_1")


def printed_html() -> str:
    """Return what the paper prints as an HTML table that can be sorted."""
    rows = [(row.llm, row.method, [getattr(row, key) for key in PRINTED]) for row in printed().itertuples()]
    return html("printed", columns=list(PRINTED.items()), rows=rows, about=ABOUT_PRINTED)


def record(row: Row) -> dict[str, object]:
    """Return a row as JSON; None where there is no number."""
    limits = (row.error_rate.value, row.error_rate.low, row.error_rate.high)
    value, low, high = (None if limit is None or np.isnan(limit) else float(limit) for limit in limits)
    return {
        "system": row.system,
        "method": row.method,
        "error_rate": {"value": value, "low": low, "high": high},
        "place": [row.first, row.last] if row.first else None,
        "answered": row.answered,
        "unknown": row.unknown,
    }


def _ranked(asked: str, labels: Mapping[tuple[str, str], Floats]) -> list[Row]:
    """Return the rows of systems that answered all questions, the best first."""
    systems = {str(i): _system(asked, correct) for i, correct in enumerate(labels.values())}
    better, worse = Counter[str](), Counter[str]()
    for comparison in compare_systems(systems, only=[ERROR_RATE]):
        if comparison.p_adjusted > ALPHA:
            continue
        row = comparison if comparison.difference < 0 else comparison.turned()
        worse[row.first] += 1
        better[row.second] += 1
    rows = []
    for (name, system), (llm, method) in zip(systems.items(), labels, strict=True):
        rate = compute_results(system, only=[ERROR_RATE]).estimates[ERROR_RATE]
        rows.append(Row(llm, method, rate, 1 + better[name], len(systems) - worse[name], len(labels[llm, method])))
    return sorted(rows, key=lambda row: row.error_rate.value)


def _system(asked: str, correct: Floats) -> System:
    questions = questions_of(asked)
    return confidence_system(
        correct.astype(int),
        np.full(len(correct), 0.5),  # which changes no error rate
        confidence_level=LEVEL,
        sample_weight=questions["weight"].to_numpy(float),
        strata=questions["stratum"].to_numpy(),
    )


def _possible(asked: str, correct: Floats) -> Estimate:
    """Return the lowest and the highest error rate that is possible, where some answers are unknown or missing."""
    weight = questions_of(asked)["weight"]
    low, high = (float(np.average(1 - np.nan_to_num(correct, nan=filled), weights=weight)) for filled in (1.0, 0.0))
    return Estimate(math.nan, low, high)

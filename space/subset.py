"""The curated TriviaQA subset -> its questions, a plan with them, and a leaderboard of the paper's systems."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from ecuas_metric.api import confidence_system
from ecuas_metric.comparison.planning import plan_of_rates
from ecuas_metric.errors import InputError
from ecuas_metric.metric import Key
from ecuas_metric.options import LEVEL
from ecuas_metric.results import Estimate, compute_results
from triviaqa_subset.folders import BUILT, FOLDER
from triviaqa_subset.labels import METHODS, STRATA

from .markup import html

ASKED = ("curated", "kept")
WORDS_OF = dict.fromkeys(ASKED, ("stratum", tuple(STRATA)))  # a configuration -> its class labels
WORDS_OF |= dict.fromkeys(("systems", "published"), ("method", METHODS))
ERROR_RATE = Key("error_rate")
ORDERS = {"0": Key("ecuas", 0.0), "1": Key("ecuas", 1.0), "128": Key("ecuas", 128.0), "∞ (error rate)": ERROR_RATE}
PLANNED = (ERROR_RATE, Key("ecuas", 0.0), Key("ecuas", 1.0))
BETWEEN = " · "  # the language model and the method
ABOUT = (
    "ECUAS_n and ER, the error rate: printed in the paper, for its own selection of questions. “Our labels”: error "
    "rate on the curated subset, weighted to represent all kept questions, [95% interval]. Lower is better."
)
BOUNDS = "Where answers are missing or unknown: the lowest and highest possible value; the highest decides the place."
NONE = Estimate(float("nan"))


@cache
def tables() -> dict[str, pd.DataFrame]:
    """Return the configurations, with names for class labels."""
    folder, frames = (BUILT if (BUILT / "data").is_dir() else FOLDER) / "data", {}
    for name, (column, words) in WORDS_OF.items():
        frame = pd.read_parquet(folder / f"{name}.parquet")
        frames[name] = frame.assign(**{column: frame[column].map(dict(enumerate(words)))})
    return frames


def questions_of(name: str) -> pd.DataFrame:
    """Return the questions of a configuration that a visitor's model can be asked."""
    if name not in ASKED:
        raise InputError("Questions", f"must be one of {', '.join(ASKED)}", value=name)
    return tables()[name]


def has_text() -> bool:
    """Return whether this copy has questions and gold answers."""
    return "question" in questions_of("curated")


def llms() -> list[str]:
    """Return the names of the language models."""
    return list(tables()["systems"]["llm"].unique())


def plan_table(
    error_rates: Sequence[float], *, auroc: float, correlation: float, difference: float
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows: the differences that the questions detect with 80 % power, and the number one needs."""
    weights = tables()["curated"]["weight"].to_numpy()
    effect = float(np.mean(weights**2) / np.mean(weights) ** 2)
    plan = partial(plan_of_rates, samples=len(weights), auroc=auroc, correlation=correlation, difference=difference)
    plans = {key: plan(key, error_rates) for key in PLANNED}
    if any(one.needed is None for one in plans.values()):
        raise InputError("difference", "is too small", value=difference)
    kept = len(tables()["kept"])
    size = len(weights)
    sizes = ((f"{size}, weighted", size / effect), (str(size), size), (f"{kept} (kept)", kept))
    rows = [
        [name, *(f"{one.detectable * (one.samples / number) ** 0.5:.3f}" for one in plans.values())]
        for name, number in sizes
    ]
    needed = [f"needed for {difference:g}", *("-" if one.needed is None else str(one.needed) for one in plans.values())]
    return ["questions", *map(str, plans)], [*rows, needed]


class Row(NamedTuple):
    """A system on the leaderboard: the paper's numbers (nan: none), and its error rate by our labels."""

    system: str
    published: Mapping[Key, Estimate]
    weighted: Estimate  # nan with limits: the lowest and the highest possible value
    answered: int = 0
    unknown: int = 0  # of the answers, whether they are correct
    questions: int = 0
    mark: str = ""  # whose row it is

    def place(self, key: Key) -> float:
        """Return the worst of what its number may be: unknown answers earn no better place."""
        estimate = self.published.get(key, self.weighted if key == ERROR_RATE else NONE)
        worst = estimate.high if np.isnan(estimate.value) else estimate.value
        return float("inf") if worst is None or np.isnan(worst) else worst


@cache
def known_rows() -> tuple[Row, ...]:
    """Return the rows of the paper's systems, with its numbers and their error rates by our labels."""
    published, rows = tables()["published"].query("task == 0").set_index(["llm", "method"]), []
    for which, part in tables()["systems"].groupby(["llm", "method"], sort=False):
        numbers = {key: Estimate(float(published.loc[which, str(key)])) for key in ORDERS.values()}
        correct = part.set_index("question_id")["correct"].astype(float)
        rows.append(row_of(BETWEEN.join(which), correct, "kept", numbers))
    return tuple(rows)


def row_of(
    system: str, correct: pd.Series, name: str, own: Mapping[Key, Estimate] | None = None, mark: str = ""
) -> Row:
    """Return the row of a system that was asked the questions of a configuration: 1, 0 or missing by question_id."""
    questions, curated = questions_of(name), tables()["curated"]
    given = correct[correct.index.isin(questions["question_id"])]
    numbers = len(given), int(given.isna().sum()), len(questions)
    return Row(system, own or {}, _rate(curated, correct), *numbers, mark)


def board_html(rows: Iterable[Row], order: str) -> str:
    """Return rows as an HTML table, the lowest ECUAS of an order first; those of a visitor are marked."""
    chosen, rows = ORDERS[order], list(rows)
    by_rate = {row.system: i for i, row in enumerate(sorted(rows, key=lambda row: row.place(ERROR_RATE)), 1)}
    shown, number = [], 0
    for row in sorted(rows, key=lambda row: (row.place(chosen), row.weighted.value)):
        number += not row.mark
        llm, _, method = row.system.partition(BETWEEN)
        shown.append((row, llm, method.replace("_", " "), 0 if row.mark else number, by_rate[row.system]))
    columns = [("ER" if key == ERROR_RATE else f"ECUAS_{n}", key, key == chosen) for n, key in ORDERS.items()]
    return html("board", columns=columns, rows=shown, missing=NONE, about=f"{ABOUT} {BOUNDS}")


def record(row: Row) -> dict[str, object]:
    """Return a row as JSON: each number with its limits, None where there is none."""
    numbers = {str(key): _record(estimate) for key, estimate in row.published.items()}
    counts = {"answered": row.answered, "unknown": row.unknown, "asked": row.questions}
    return {"system": row.system, "published": numbers, "weighted": _record(row.weighted), **counts}


def _rate(questions: pd.DataFrame, correct: pd.Series) -> Estimate:
    """Return the weighted error rate with its interval, or, where some are unknown, nan with its bounds."""
    right, weights = questions["question_id"].map(correct).to_numpy(float), questions["weight"].to_numpy(float)
    if (unknown := np.isnan(right)).any():
        shares = (np.average(np.where(unknown, fill, 1 - right), weights=weights) for fill in (0.0, 1.0))
        return Estimate(float("nan"), *map(float, shares))
    half = np.full(len(right), 0.5)  # confidences, which change no error rate
    strata = questions["stratum"].to_numpy()
    system = confidence_system(right.astype(int), half, confidence_level=LEVEL, sample_weight=weights, strata=strata)
    return compute_results(system, only=[ERROR_RATE]).estimates[ERROR_RATE]


def _record(estimate: Estimate) -> dict[str, float | None]:
    values = asdict(estimate)
    return {name: None if value is None or np.isnan(value) else float(value) for name, value in values.items()}

"""The curated TriviaQA subset -> its questions, and a leaderboard with the paper's numbers and our labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ecuas_metric.api import confidence_system
from ecuas_metric.comparison.planning import plan_of_rates
from ecuas_metric.errors import InputError
from ecuas_metric.metrics import Key
from ecuas_metric.results import Estimate, compute_results
from triviaqa_subset.folders import BUILT, FOLDER
from triviaqa_subset.labels import METHODS, REASONS, STRATA

from .markup import scrolled

ANY = "any"
VERDICTS = ("right", "wrong")
ASKED = ("curated", "kept")
CONFIGURATIONS = ("pool", "curated", "kept", "systems", "answers", "published")
TASKS = ("TriviaQA", "MMLU")  # of the paper's figures
NO_TEXT = (
    "This copy has no text. To see questions and gold answers, look the id up in the dataset mandarjoshi/trivia_qa "
    "(rc.nocontext, validation), or build the subset with text: python -m triviaqa_subset.build"
)
LEVEL = 0.95
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
    folder = (BUILT if (BUILT / "data").is_dir() else FOLDER) / "data"
    frames = {name: pd.read_parquet(folder / f"{name}.parquet") for name in CONFIGURATIONS}
    for name, column, words in (
        ("pool", "stratum", tuple(STRATA)),
        ("curated", "stratum", tuple(STRATA)),
        ("kept", "stratum", tuple(STRATA)),
        ("pool", "reason", REASONS),
        ("systems", "method", METHODS),
        ("published", "method", METHODS),
    ):
        frames[name][column] = frames[name][column].map(dict(enumerate(words)))
    right = frames["systems"].groupby("question_id")["correct"].sum()
    weight = frames["curated"].set_index("question_id")["weight"]
    pool = frames["pool"]
    frames["pool"] = pool.assign(right=pool["question_id"].map(right), weight=pool["question_id"].map(weight))
    return frames


def asked(name: str) -> pd.DataFrame:
    """Return the questions of a configuration that a visitor's model can be asked."""
    if name not in ASKED:
        raise InputError("Questions", f"must be one of {', '.join(ASKED)}", value=name)
    return tables()[name]


def has_text() -> bool:
    """Return whether this copy has questions and gold answers."""
    return "question" in tables()["pool"]


def llms() -> list[str]:
    """Return the names of the language models."""
    return list(tables()["systems"]["llm"].unique())


def browse(
    *, selected: bool, stratum: str, decision: str, reason: str, llm: str, method: str, verdict: str
) -> pd.DataFrame:
    """Return the questions of the pool that pass all filters; a verdict is that on one system's answer."""
    pool, systems = tables()["pool"], tables()["systems"]
    keep = pool["selected"] | (not selected)
    for column, value in (("stratum", stratum), ("decision", decision), ("reason", reason)):
        if value != ANY:
            keep &= pool[column] == value
    if verdict != ANY:
        fits = (systems["llm"] == llm) & (systems["method"] == method) & (systems["correct"] == (verdict == "right"))
        keep &= pool["question_id"].isin(systems["question_id"][fits])
    columns = ["question_id", "stratum", "decision", "reason", "weight", "right"]
    shown = pool[keep][columns + (["question"] if has_text() else [])]
    return shown.assign(weight=shown["weight"].round(3)).reset_index(drop=True)


def facts_of(question_id: str) -> tuple[dict[str, str], pd.DataFrame]:
    """Return the known facts of a question, and how each system's answer to it was graded."""
    pool, judged, systems = (tables()[name] for name in ("pool", "answers", "systems"))
    rows = pool[pool["question_id"] == question_id.strip()]
    if rows.empty:
        given = question_id.strip()[:60]
        raise InputError("Question id", "must be one of the pool", value=given, advice="An id looks like sfq_178.")
    row = rows.iloc[0]
    judged = judged[judged["question_id"] == row["question_id"]]
    texts = {"question": str(row["question"]), "gold answer": str(row["answer"]["value"])} if has_text() else {}
    facts = {
        "question_id": str(row["question_id"]),
        **texts,
        "stratum": str(row["stratum"]),
        "decision": f"{row['decision']} ({row['reason']})",
        "in the subset": f"yes, weight {row['weight']:.3f}" if row["selected"] else "no",
        "right": f"{row['right']} of 21 systems",
        "judged answers": f"{len(judged)}: {judged['correct'].sum()} correct, {judged['debatable'].sum()} debatable",
    }
    return facts, _verdicts(systems[systems["question_id"] == row["question_id"]])


def question_html(facts: dict[str, str]) -> str:
    """Lay out the facts of `facts_of`."""
    title, text, gold = (facts.pop(name, "") for name in ("question_id", "question", "gold answer"))
    shown = f"<p class='question'>{escape(text)}</p><p>Gold answer: {escape(gold)}</p>"
    listed = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    return f"<h2>{escape(title)}</h2>{shown if text else f'<p>{escape(NO_TEXT)}</p>'}<dl>{listed}</dl>"


def plan(
    error_rates: Sequence[float], *, auroc: float, correlation: float, difference: float
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows: the differences that the questions detect with 80 % power, and the number one needs."""
    weights = tables()["curated"]["weight"].to_numpy()
    effect = float(np.mean(weights**2) / np.mean(weights) ** 2)
    settings: dict[str, Any] = {"auroc": auroc, "correlation": correlation, "difference": difference}
    try:
        plans = {key: plan_of_rates(key, error_rates, samples=len(weights), **settings) for key in PLANNED}
    except OverflowError:
        raise InputError("difference", "is too small", value=difference) from None
    kept = len(tables()["kept"])
    sizes = (("455, weighted", len(weights) / effect), ("455", len(weights)), (f"{kept} (kept)", kept))
    rows = [
        [name, *(f"{one.detectable * (one.samples / size) ** 0.5:.3f}" for one in plans.values())]
        for name, size in sizes
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
        value, _, high = self.published.get(key, self.weighted if key == ERROR_RATE else NONE)
        worst = value if not np.isnan(value) else high
        return float("inf") if worst is None or np.isnan(worst) else worst


@cache
def known_rows(labels: str = "correct", task: str = TASKS[0]) -> tuple[Row, ...]:
    """Return the rows of the paper's systems, on TriviaQA with their error rates by our labels."""
    published = _published(task)
    if task != TASKS[0]:
        return tuple(Row(name, numbers, NONE) for name, numbers in published.items())
    rows = []
    for (llm, method), part in tables()["systems"].groupby(["llm", "method"], sort=False):
        correct = part.set_index("question_id")[labels].astype(float)
        name = f"{llm}{BETWEEN}{method}"
        rows.append(row_of(name, correct, "kept", published[name]))
    return tuple(rows)


def row_of(
    system: str, correct: pd.Series, name: str, own: Mapping[Key, Estimate] | None = None, mark: str = ""
) -> Row:
    """Return the row of a system that was asked the questions of a configuration: 1, 0 or missing by question_id."""
    questions, curated = asked(name), tables()["curated"]
    given = correct[correct.index.isin(questions["question_id"])]
    numbers = len(given), int(given.isna().sum()), len(questions)
    return Row(system, own or {}, _rate(curated, correct), *numbers, mark)


def leaderboard(rows: Iterable[Row], order: str) -> str:
    """Return rows as an HTML table, the lowest ECUAS of an order first; those of a visitor are marked."""
    key = ORDERS[order]
    rows = list(rows)
    ordered = sorted(rows, key=lambda row: (row.place(key), row.weighted[0]))
    by_rate = {row.system: i for i, row in enumerate(sorted(rows, key=lambda row: row.place(ERROR_RATE)), 1)}
    titles = {key: name for name, key in ORDERS.items()}
    names = {one: "ER" if one == ERROR_RATE else f"ECUAS_{name}" for one, name in titles.items()}
    header = "".join(
        f'<th scope="col"{" class=chosen" if one == key else ""}>{name} ↓</th>' for one, name in names.items()
    )
    body, number = "", 0
    for row in ordered:
        number += not row.mark
        body += _html(row, f"{number}. " if not row.mark else "", by_rate[row.system], key)
    top = f'<tr><th scope="col">system</th>{header}<th scope="col">our labels ↓</th></tr>'
    content = f"<thead>{top}</thead><tbody>{body}</tbody>"
    return f'{scrolled(content, "Leaderboard", "report rates")}<p class="caption">{ABOUT} {BOUNDS}</p>'


def record(row: Row) -> dict[str, object]:
    """Return a row as JSON: each number with its limits, None where there is none."""
    numbers = {str(key): _record(estimate) for key, estimate in row.published.items()}
    counts = {"answered": row.answered, "unknown": row.unknown, "asked": row.questions}
    return {"system": row.system, "published": numbers, "weighted": _record(row.weighted), **counts}


def _published(task: str) -> dict[str, dict[Key, Estimate]]:
    """Return the paper's numbers on a task by system."""
    frame = tables()["published"]
    return {
        f"{row['llm']}{BETWEEN}{row['method']}": {key: Estimate(float(row[str(key)])) for key in ORDERS.values()}
        for row in frame[frame["task"] == TASKS.index(task)].to_dict("records")
    }


def _rate(questions: pd.DataFrame, correct: pd.Series) -> Estimate:
    """Return the weighted error rate with its interval, or, where some are unknown, nan with its bounds."""
    right, weights = questions["question_id"].map(correct).to_numpy(float), questions["weight"].to_numpy(float)
    if (unknown := np.isnan(right)).any():
        shares = (np.average(np.where(unknown, fill, 1 - right), weights=weights) for fill in (0.0, 1.0))
        return Estimate(float("nan"), *map(float, shares))
    half = np.full(len(right), 0.5)  # confidences, which change no error rate
    design: dict[str, Any] = {"sample_weight": weights, "strata": questions["stratum"].to_numpy()}
    system = confidence_system(right.astype(int), half, confidence_level=LEVEL, **design)
    return compute_results(system, only=[ERROR_RATE]).estimates[ERROR_RATE]


def _html(row: Row, number: str, by_rate: int, key: Key) -> str:
    llm, _, method = row.system.partition(BETWEEN)
    name = f"{number}<bdi>{escape(llm)}</bdi><small>{escape(method.replace('_', ' '))}</small>"
    name += f"<small class=badge>{escape(row.mark)}</small>" if row.mark else ""
    if row.answered < row.questions or row.unknown:
        known = row.answered - row.unknown
        name += f"<small>{row.answered} of {row.questions} answered, {known} known to be right or wrong</small>"
    cells = "".join(_cell(row.published.get(one, NONE), is_chosen=one == key) for one in ORDERS.values())
    own = ' class="own"' if row.mark else ""
    place = "" if row.mark else f"<small>{_ordinal(by_rate)} by error rate</small>"
    return f'<tr{own}><th scope="row">{name}{place}</th>{cells}{_cell(row.weighted)}</tr>'


def _ordinal(number: int) -> str:
    """Return a place in words.

    >>> [_ordinal(number) for number in (1, 2, 12, 23)]
    ['1st', '2nd', '12th', '23rd']
    """
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _cell(rate: Estimate, *, is_chosen: bool = False) -> str:
    value, low, high = rate
    style = " class=chosen" if is_chosen else ""
    if low is None or high is None or np.isnan(low):
        return f"<td{style}>{'-' if np.isnan(value) else f'{value:.3f}'}</td>"
    if np.isnan(value):
        return f"<td{style}>{low:.3f} to {high:.3f}</td>"
    return f"<td{style}>{value:.3f}<small>[{low:.3f}, {high:.3f}]</small></td>"


def _record(estimate: Estimate) -> dict[str, float | None]:
    values = (None if value is None or np.isnan(value) else float(value) for value in estimate)
    return dict(zip(("value", "low", "high"), values, strict=True))


def _verdicts(answered: pd.DataFrame) -> pd.DataFrame:
    """Return how the answers to a question were graded: one row per language model, one column per method."""
    is_exact = answered["exact_match"]
    graded = answered["correct"].map({True: "judged correct", False: "wrong"}).mask(is_exact, "exact match")
    wide = answered.assign(graded=graded).pivot(index="llm", columns="method", values="graded")
    return wide.loc[llms(), list(METHODS)].reset_index()

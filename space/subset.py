"""The curated TriviaQA subset -> what the page shows of it."""

from __future__ import annotations

from functools import cache
from html import escape

import pandas as pd

from ecuas_metric.errors import InputError
from triviaqa_subset.folders import BUILT, FOLDER
from triviaqa_subset.labels import METHODS, REASONS, STRATA

ANY = "any"
VERDICTS = ("right", "wrong")
CONFIGURATIONS = ("pool", "curated", "kept", "systems", "answers")
NO_TEXT = (
    "This copy has no text. To see questions and gold answers, look the id up in the dataset mandarjoshi/trivia_qa "
    "(rc.nocontext, validation), or build the subset with text: python -m triviaqa_subset.build"
)


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
    ):
        frames[name][column] = frames[name][column].map(dict(enumerate(words)))
    right = frames["systems"].groupby("question_id")["correct"].sum()
    weight = frames["curated"].set_index("question_id")["weight"]
    pool = frames["pool"]
    frames["pool"] = pool.assign(right=pool["question_id"].map(right), weight=pool["question_id"].map(weight))
    return frames


def has_text() -> bool:
    """Return whether this copy has questions and gold answers."""
    return "question" in tables()["pool"]


def llms() -> list[str]:
    """Return the names of the language models."""
    return list(tables()["systems"]["llm"].unique())


def browse(
    *, selected: bool, stratum: str, decision: str, reason: str, llm: str, method: str, verdict: str
) -> pd.DataFrame:
    """Return the questions of the pool that pass all filters; a verdict is that on one system's answer.

    Returns
    -------
    DataFrame
        question_id, stratum, decision, reason, weight, right (number of systems), and question if there is text.
    """
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
    """Return what is known of a question, and how each system's answer to it was graded.

    Raises
    ------
    InputError
        If the pool has no such question.
    """
    pool, answers, systems = (tables()[name] for name in ("pool", "answers", "systems"))
    rows = pool[pool["question_id"] == question_id.strip()]
    if rows.empty:
        given = question_id.strip()[:60]
        raise InputError("Question id", "must be one of the pool", value=given, advice="An id looks like sfq_178.")
    row = rows.iloc[0]
    texts = {"question": str(row["question"]), "gold answer": str(row["answer"]["value"])} if has_text() else {}
    facts = _facts(row, answers[answers["question_id"] == row["question_id"]])
    verdicts = _verdicts(systems[systems["question_id"] == row["question_id"]])
    return {"question_id": str(row["question_id"]), **texts, **facts}, verdicts


def question(question_id: str) -> tuple[str, pd.DataFrame]:
    """Return what `facts_of` returns, the facts as HTML."""
    facts, verdicts = facts_of(question_id)
    title, asked, gold = (facts.pop(name, "") for name in ("question_id", "question", "gold answer"))
    text = f"<p class='question'>{escape(asked)}</p><p>Gold answer: {escape(gold)}</p>"
    listed = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    return f"<h2>{escape(title)}</h2>{text if asked else f'<p>{escape(NO_TEXT)}</p>'}<dl>{listed}</dl>", verdicts


def _facts(row: pd.Series, judged: pd.DataFrame) -> dict[str, str]:
    return {
        "stratum": str(row["stratum"]),
        "decision": f"{row['decision']} ({row['reason']})",
        "in the subset": f"yes, weight {row['weight']:.3f}" if row["selected"] else "no",
        "right": f"{row['right']} of 21 systems",
        "judged answers": f"{len(judged)}: {judged['correct'].sum()} correct, {judged['debatable'].sum()} debatable",
    }


def _verdicts(answered: pd.DataFrame) -> pd.DataFrame:
    """Return how the answers to a question were graded: one row per language model, one column per method."""
    is_exact = answered["exact_match"]
    graded = answered["correct"].map({True: "judged correct", False: "wrong"}).mask(is_exact, "exact match")
    wide = answered.assign(graded=graded).pivot(index="llm", columns="method", values="graded")
    return wide.loc[llms(), list(METHODS)].reset_index()

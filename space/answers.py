"""Answers of a visitor's model -> graded by the curated TriviaQA subset, and by the visitor where it does not know."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import pandas as pd

from triviaqa_subset.grading import grade, normalize_answer

TEXT = ("question_id", "answer")
NEEDED = (*TEXT, "confidence")
MAX_TEXT = 1000  # characters
REST = ("wrong", "unknown: leave them out")
STATES = {"exact": "exact match", "bank": "the label bank", "you": "you"}


def checked_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns question_id, answer, confidence of a file; no answer is an empty one.

    Parameters
    ----------
    frame : DataFrame
        The file with `TEXT` as text: 007 and None are answers.

    Raises
    ------
    ValueError
        If a column is missing.
    """
    missing = [name for name in NEEDED if name not in frame]
    if missing:
        found = ", ".join(map(str, frame.columns[:20]))
        raise ValueError(f"There must be columns {', '.join(NEEDED)}; {missing[0]} is missing among {found}.")
    texts = {name: frame[name].fillna("").astype(str) for name in TEXT}
    for name, values in texts.items():
        if (long := values.str.len() > MAX_TEXT).any():
            raise ValueError(
                f"column {name!r} must have at most {MAX_TEXT:,} characters in a row; {long.sum():,} have more."
            )
    return frame[list(NEEDED)].assign(**texts)


def graded(
    answers: pd.DataFrame, curated: pd.DataFrame, *, accepted: Iterable[str] = (), rest: str = REST[1]
) -> tuple[pd.DataFrame, str]:
    """Grade answers by exact match and label bank, and by the visitor where these do not know.

    Parameters
    ----------
    answers : DataFrame
        Of `checked_answers`; with a column `row`, errors name it.
    curated : DataFrame
        The configuration `curated`, with or without text.
    accepted : iterable of str
        Keys (see `open_answers`) that the visitor takes for correct.
    rest : str
        One of `REST`: what the other unknown answers count as.

    Returns
    -------
    DataFrame
        question_id, confidence, correct (empty where unknown), weight, answer, decided_by.
    str
        How many were decided which way.

    Raises
    ------
    ValueError
        A question that the subset does not have; an unknown `rest`.
    """
    if rest not in REST:
        raise ValueError(f"The answers not ticked must count as one of {', '.join(REST)}; got {rest!r}.")
    if (strange := ~answers["question_id"].isin(set(curated["question_id"]))).any():
        first = answers[strange].iloc[0]
        where = f" in row {first['row']}" if "row" in answers else ""
        raise ValueError(
            f"every question_id must be one of the {len(curated)} of the subset; {strange.sum()} of {len(answers)} "
            f"rows are not, the first{where}: {first['question_id'][:60]!r}. Leave them out."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no text stands on the page already
        grades = grade(answers, curated)
    done = answers.assign(correct=pd.Series(grades.correct, dtype=object), decided_by=grades.decided_by)
    done["weight"] = done["question_id"].map(curated.set_index("question_id")["weight"])
    unknown = done["decided_by"] == "unjudged"
    ticked = unknown & _keys(done).isin(set(accepted))
    done.loc[ticked, ["correct", "decided_by"]] = [True, "you"]
    if rest == REST[0]:
        done.loc[unknown & ~ticked, ["correct", "decided_by"]] = [False, "you"]
    counts = done["decided_by"].value_counts().to_dict()
    how = ", ".join(f"{counts[state]} by {name}" for state, name in STATES.items() if state in counts)
    left = counts.get("unjudged", 0)
    open_ = f" {left} are unknown and left out, so that the model can look better or worse than it is." if left else ""
    return done, f"Of {len(done)} answers were decided: {how or 'none'}.{open_}"


def open_answers(done: pd.DataFrame, curated: pd.DataFrame) -> list[tuple[str, str]]:
    """Return (text, key) of each different answer that is not decided, in the order of the file."""
    unknown = done[done["decided_by"] == "unjudged"].assign(key=_keys).drop_duplicates("key")
    asked = curated.set_index("question_id").get("question", pd.Series(dtype=str))
    return [
        (f"{row.question_id}: {asked.get(row.question_id, '')} → {row.answer}".replace(":  →", " →"), row.key)
        for row in unknown.itertuples()
    ]


def _keys(frame: pd.DataFrame) -> pd.Series:
    return frame["question_id"] + "\t" + frame["answer"].map(normalize_answer)

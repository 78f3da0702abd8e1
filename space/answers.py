"""Answers of a visitor's model -> graded by the curated TriviaQA subset, or by the visitor where it cannot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ecuas_metric.errors import InputError
from ecuas_metric.files.read import Sheet, frame_of, sheet_of
from ecuas_metric.files.submissions import Submission, submissions_of
from ecuas_metric.reporting.tables import neutral
from triviaqa_subset.grading import grade, normalize_answer

TEXT = ("question_id", "answer")
NEEDED = (*TEXT, "confidence")
MAX_TEXT = 1000  # characters
REST = ("unknown: best and worst case", "wrong", "left out (makes systems look better)")
STATES = {
    "exact": "exact match",
    "bank": "the label bank",
    "official": "TriviaQA's own normal form",
    "refusal": "their refusal to answer",
    "you": "you",
}
NO_GOLD = {"value": "", "aliases": [], "normalized_aliases": []}
COLUMNS = {"confidence": "confidence", "correct": "correct", "id": "question_id", "stratum": "stratum"}


def checked_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns question_id, answer, confidence of a file; a missing answer is an empty one.

    Parameters
    ----------
    frame : DataFrame
        The file, read with `TEXT` as text: 007 and None are answers.

    Raises
    ------
    InputError
        If a column is missing or a text is too long.
    """
    missing = [name for name in NEEDED if name not in frame]
    if missing:
        found = ", ".join(map(str, frame.columns[:20]))
        raise InputError("Answers", f"must have columns {', '.join(NEEDED)}; {missing[0]} is missing among {found}")
    texts = {name: frame[name].fillna("").astype(str) for name in TEXT}
    for name, values in texts.items():
        if (long := values.str.len() > MAX_TEXT).any():
            rule = f"must have at most {MAX_TEXT:,} characters in a row; {long.sum():,} rows have more"
            raise InputError(f"column {name!r}", rule)
    return frame[list(NEEDED)].assign(**texts)


def graded(
    answers: Sheet, curated: pd.DataFrame, *, accepted: Iterable[str] = (), rest: str = REST[0]
) -> tuple[Sheet, str]:
    """Grade answers by exact match and label bank, and by the visitor where these do not decide.

    Parameters
    ----------
    answers : Sheet
        Of `uploads.read_answers`.
    curated : DataFrame
        The configuration `curated` or `kept`, with or without text.
    accepted : iterable of str
        Keys (see `open_answers`) of answers that the visitor takes for correct.
    rest : str
        One of `REST`: what the other open answers count as.

    Returns
    -------
    Sheet
        question_id, answer, confidence, correct (1, 0, or missing if unknown), decided_by, weight, stratum.
    str
        How many were decided which way.

    Raises
    ------
    InputError
        If the subset does not have a question, one is answered twice, or `rest` is none of `REST`.
    """
    if rest not in REST:
        raise InputError("Other answers", f"must count as one of {', '.join(REST)}", value=rest)
    _require_known(answers, curated)
    # Without text there is no gold answer: the label bank alone decides, as the page says.
    gold = curated if "answer" in curated else curated.assign(answer=[NO_GOLD] * len(curated))
    frame = frame_of(answers, text=TEXT)
    grades = grade(frame, gold)
    decided = frame.assign(correct=pd.Series(grades.correct, dtype=float), decided_by=grades.decided_by)
    done = with_design(decided, curated)
    is_open = done["decided_by"] == "unjudged"
    ticked = is_open & _keys(done).isin(set(accepted))
    done.loc[ticked, ["correct", "decided_by"]] = [1.0, "you"]
    if rest == REST[1]:
        done.loc[is_open & ~ticked, ["correct", "decided_by"]] = [0.0, "you"]
    return sheet_of(done, answers.rows), _summary(done["decided_by"], len(curated))


def with_design(frame: pd.DataFrame, questions: pd.DataFrame) -> pd.DataFrame:
    """Return answers with the weight and the stratum of each question."""
    known = questions.set_index("question_id")[["weight", "stratum"]]
    return frame.join(known, on="question_id")


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write graded answers as CSV, with an apostrophe before what a spreadsheet would take for a formula."""
    texts = frame.select_dtypes(["object", "string"]).columns
    frame.assign(**{name: frame[name].map(neutral) for name in texts}).to_csv(path, index=False)


def open_answers(graded: Sheet, curated: pd.DataFrame) -> list[tuple[str, str]]:
    """Return text and key of each answer that is not decided, in the order of the file."""
    done = frame_of(graded, text=TEXT)
    unknown = done[done["decided_by"] == "unjudged"].assign(key=_keys)
    asked = curated.set_index("question_id").get("question", pd.Series(dtype=str))
    texts = (
        f"{question_id}: {asked[question_id]} → {answer}" if question_id in asked else f"{question_id} → {answer}"
        for question_id, answer in zip(unknown["question_id"], unknown["answer"], strict=True)
    )
    return list(zip(texts, unknown["key"], strict=True))


def submission(graded: Sheet, file: str, *, weighted: bool, rest: str = REST[0]) -> Submission:
    """Return graded answers as the submission of a system named after its file.

    Parameters
    ----------
    graded : Sheet
        Of `graded`.
    file : str
        Path of the file that the answers come from.
    weighted : bool
        Weight the questions so that they represent the pool.
    rest : str
        One of `REST`: whether unknown answers bound the result or are left out.
    """
    frame = frame_of(graded, text=TEXT)
    if frame["correct"].isna().all():
        advice = "Tick the correct ones, count the others as wrong, or grade with the text of the questions."
        raise InputError("Answers", "must not all be unknown", got=f"{len(frame):,} unknown ones", advice=advice)
    columns = COLUMNS | ({"weight": "weight"} if weighted else {})
    sheet = sheet_of(frame[list(columns.values())], graded.rows)
    (only,) = submissions_of(sheet, Path(file).name, columns=columns, unjudged="drop" if rest == REST[2] else "bounds")
    return only


def _require_known(answers: Sheet, curated: pd.DataFrame) -> None:
    given = frame_of(answers, text=TEXT)["question_id"]
    if (unknown := ~given.isin(set(curated["question_id"]))).any():
        first = given[unknown].iloc[0][:60]
        raise InputError(
            "question_id",
            f"must be one of the {len(curated)} that are asked",
            value=first,
            got=f"{first!r} in row {answers.rows[unknown.to_numpy()][0]}",
            count=int(unknown.sum()),
            total=len(given),
            advice="Leave other questions out.",
        )
    if (again := given.duplicated()).any():
        first = given[again].iloc[0]
        raise InputError(
            "question_id",
            "must not be repeated",
            value=first,
            got=f"{first!r} in row {answers.rows[again.to_numpy()][0]} again",
            count=int(again.sum()),
            total=len(given),
            advice="Keep one answer to each question.",
        )


def _summary(decided_by: pd.Series, num_questions: int) -> str:
    counts = decided_by.value_counts().to_dict()
    how = ", ".join(f"{counts[state]} by {name}" for state, name in STATES.items() if state in counts)
    left = counts.get("unjudged", 0)
    remark = f" {left} are unknown." if left else ""
    missing = num_questions - len(decided_by)
    if missing:
        remark += f" {len(decided_by)} of {num_questions} questions are answered: the metrics are of these alone, and "
        remark += f"the leaderboard counts the {missing} others as unknown."
    return f"Of {len(decided_by)} answers were decided: {how or 'none'}.{remark}"


def _keys(frame: pd.DataFrame) -> pd.Series:
    return frame["question_id"] + "\t" + frame["answer"].map(normalize_answer)

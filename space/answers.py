"""Answers of a visitor's model -> graded by the TriviaQA subset or the visitor."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from ecuas_metric.errors import InputError
from ecuas_metric.files.read import sheet_of
from ecuas_metric.files.recipe import Reading
from ecuas_metric.files.submissions import Submission, submissions_of
from ecuas_metric.inputs import Ints
from ecuas_metric.reporting.tables import neutral
from triviaqa_subset.grading import grade

from . import subset
from .uploads import GRADED_COLUMNS, POPULATION, Answers

STATES = {
    "exact": "exact match",
    "bank": "the label bank",
    "official": "TriviaQA's own normal form",
    "refusal": "their refusal to answer",
    "you": "you",
}
PARTIAL = (
    "{answered} of {total} questions are answered: your numbers are of these alone, and there is no place on the "
    "leaderboard."
)
_COLUMNS = {"confidence": "confidence", "correct": "correct", "id": "question_id", **GRADED_COLUMNS}


@dataclass(frozen=True, slots=True)
class Graded:
    """Graded answers in the order of the questions: question_id, answer, confidence, correct, decided_by, weight."""

    frame: pd.DataFrame
    rows: Ints
    asked: str

    @property
    def correct(self) -> pd.Series:
        """1, 0 or missing, by question_id."""
        return self.frame.set_index("question_id")["correct"].astype(float)

    def submission(self, name: str) -> Submission:
        """Return them as a submission, with weights by which the questions represent all that were kept."""
        if self.frame["correct"].isna().all():
            unknown = f"{len(self.frame):,} unknown ones"
            raise InputError("Answers", "all_unknown", got=unknown, advice="say_correct_ones")
        sheet = sheet_of(self.frame[list(_COLUMNS.values())], self.rows)
        (only,) = submissions_of(sheet, name, columns=_COLUMNS, reading=Reading("bounds"))
        return replace(only, name=name)

    def summary(self) -> str:
        """Say how many answers were decided which way."""
        counts = self.frame["decided_by"].value_counts()
        ways = ", ".join(
            f"{counts[state]} by {name}" for state, name in STATES.items() if state in counts
        )
        answered = len(self.frame)
        total = len(subset.questions_of(self.asked))
        unknown = len(self.open_questions())
        parts = [f"Of {answered} answers were decided: {ways or 'none'}."]
        if unknown:
            parts.append(f"{unknown} are unknown.")
        if answered < total:
            parts.append(PARTIAL.format(answered=answered, total=total))
        return " ".join(parts)

    def open_questions(self) -> list[str]:
        """Return the questions whose answers are not decided."""
        return list(self.frame["question_id"][self.frame["decided_by"] == "unlabelled"])

    def write(self, path: Path) -> None:
        """Write them as CSV, which the first tab scores as here; no text is a formula in a spreadsheet."""
        texts = self.frame.select_dtypes(["object", "string"]).columns
        frame = self.frame.assign(**{name: self.frame[name].map(neutral) for name in texts})
        day = datetime.now(UTC).date().isoformat()
        frame.assign(**{POPULATION: f"TriviaQA {self.asked}", "link": "", "date": day}).to_csv(
            path, index=False
        )


def grade_answers(answers: Answers, asked: str) -> Graded:
    """Grade answers by the gold answers and the label bank, then by the visitor's own column.

    They come in the order of the questions, which links have too.
    """
    questions = subset.questions_of(asked)
    _require_asked(answers, questions)
    grades = grade(answers.frame, questions)
    frame = answers.frame.assign(
        correct=pd.Series(grades.correct, dtype=float), decided_by=grades.decided_by
    )
    is_open = frame["correct"].isna() & answers.correct.notna()
    frame.loc[is_open, "correct"] = answers.correct
    frame.loc[is_open, "decided_by"] = "you"
    order = np.argsort(pd.Index(questions["question_id"]).get_indexer(frame["question_id"]))
    return Graded(
        with_design(frame.iloc[order], asked),
        answers.rows[order],
        asked,
    )


def with_design(frame: pd.DataFrame, asked: str) -> pd.DataFrame:
    """Return answers with the weight and the stratum of each question."""
    design = subset.questions_of(asked).set_index("question_id")[["weight", "stratum"]]
    return frame.join(design, on="question_id").reset_index(drop=True)


def _require_asked(answers: Answers, questions: pd.DataFrame) -> None:
    ids = answers.frame["question_id"]
    for wrong, rule, advice in (
        (~ids.isin(questions["question_id"]), "not_asked", "leave_questions_out"),
        (ids.duplicated(), "answered_twice", "keep_one_answer"),
    ):
        if wrong.any():
            got = f"{ids[wrong].iloc[0][:60]!r} in row {answers.rows[wrong][0]}"
            counts = {"count": wrong.sum(), "total": len(ids), "asked": len(questions)}
            raise InputError("question_id", rule, got=got, advice=advice, **counts)

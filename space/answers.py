"""Answers of a visitor's model, or of one that was sent to be kept -> graded by the TriviaQA subset or by them."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ecuas_metric.errors import InputError
from ecuas_metric.files.recipe import Reading
from ecuas_metric.files.submissions import Submission, make_submissions
from ecuas_metric.files.values import Sheet
from ecuas_metric.reporting.tables import neutral
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.grading import grade
from triviaqa_subset.tables import table, with_design

from .markup import attempt
from .uploads import GRADED_COLUMNS, POPULATION, plain_text, read_answers

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
    """Graded answers by their rows, in the order of the questions, and of which these are.

    Columns are question_id, answer, confidence, correct (1, 0 or missing), decided_by, and weight and stratum.
    """

    frame: pd.DataFrame
    asked: str

    @property
    def correct(self) -> pd.Series:
        """1, 0 or missing, by question_id."""
        return self.frame.set_index("question_id")["correct"].astype(float)

    @property
    def confidence(self) -> pd.Series:
        """The confidences by question_id; what is no number is missing."""
        return pd.to_numeric(self.frame.set_index("question_id")["confidence"], errors="coerce")

    def submission(self, name: str) -> Submission:
        """Return them as a submission, with weights by which the questions represent all that were kept."""
        if self.frame["correct"].isna().all():
            unknown = f"{len(self.frame):,} unknown ones"
            raise InputError("Answers", "all_unknown", got=unknown, advice="say_correct_ones")
        columns = self.frame[list(_COLUMNS.values())]
        rows = pa.Table.from_pandas(columns, preserve_index=False)
        sheet = Sheet(rows, self.frame.index.to_numpy(), format="data frame")
        try:
            (only,) = make_submissions(sheet, name, reading=Reading("bounds", columns=_COLUMNS))
        except InputError as error:
            error.advice = "write_as_asked"  # there are no options here
            raise
        return replace(only, name=name)

    def summary(self) -> str:
        """Say how many answers were decided which way."""
        counts = self.frame["decided_by"].value_counts()
        ways = [f"{counts[state]} by {name}" for state, name in STATES.items() if state in counts]
        decided = ", ".join(ways).replace(" by", " decided by", 1) or "none decided"
        answered = len(self.frame)
        total = len(table(self.asked))
        unknown = len(self.open_questions())
        parts = [f"{answered} answers: {decided}."]
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
        frame = self.frame.map(lambda cell: neutral(cell) if isinstance(cell, str) else cell)
        day = datetime.now(UTC).date().isoformat()
        frame.assign(**{POPULATION: f"TriviaQA {self.asked}", "link": "", "date": day}).to_csv(
            path, index=False
        )


def grade_answers(frame: pd.DataFrame, asked: str) -> Graded:
    """Grade answers by the gold answers and the label bank, then by the visitor's own column.

    They come in the order of the questions, which links have too.
    """
    questions = table(asked)
    _require_asked(frame["question_id"], questions["question_id"])
    grades = grade(frame, questions)
    correct = pd.Series(grades.correct, frame.index, dtype=float)
    is_open = correct.isna() & frame["correct"].notna()
    decided_by = pd.Series(grades.decided_by, frame.index).mask(is_open, "you")
    graded = frame.assign(correct=correct.fillna(frame["correct"]), decided_by=decided_by)
    return Graded(with_design(graded, asked), asked)


def _require_asked(ids: pd.Series, questions: pd.Series) -> None:
    for wrong, rule, advice in (
        (~ids.isin(questions), "not_asked", "leave_questions_out"),
        (ids.duplicated(), "answered_twice", "keep_one_answer"),
    ):
        if wrong.any():
            row, offender = next(ids[wrong].items())
            got = f"{offender[:60]!r} in row {row}"
            counts = {"count": wrong.sum(), "total": len(ids), "asked": len(questions)}
            raise InputError("question_id", rule, got=got, advice=advice, **counts)


# ---- what was sent to be kept


@dataclass(frozen=True, slots=True)
class Kept:
    """A system that was sent to be kept: which answers are correct, and how sure, by question_id; link and date."""

    correct: pd.Series
    confidence: pd.Series
    link: str
    date: str


@dataclass(frozen=True, slots=True)
class Submissions:
    """The files that were sent: systems by their names, and by the names of the others why they are left out."""

    systems: dict[str, Kept] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)


@cache
def submissions() -> Submissions:
    """Return what was sent to be kept, each file by itself: a broken one hides no other."""
    sent = Submissions()
    for file in sorted((FOLDER / "submissions").glob("*.csv")):
        kept, reason = attempt(_read, file)
        if kept is None:
            sent.broken[file.name] = plain_text(reason.removeprefix(f"{file.name}: "))
        else:
            sent.systems[plain_text(file.stem)] = kept
    return sent


def require_whole() -> None:
    """Raise a ValueError of the first file that would be left out of the leaderboard."""
    for name, reason in submissions().broken.items():
        raise ValueError(f"submissions/{name}: {reason}")


def _read(file: Path) -> Kept:
    graded = grade_answers(read_answers(str(file)), "kept")
    first = pd.read_csv(file, dtype=str, keep_default_na=False, nrows=1).iloc[0]
    link, date = (plain_text(first.get(name, "")) for name in ("link", "date"))
    return Kept(
        graded.correct, graded.confidence, link if link.startswith("https://") else "", date
    )

"""Answers of a visitor's model -> graded by the curated TriviaQA subset or the visitor; links that hold a result."""

import base64
import unicodedata
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NamedTuple, TypedDict

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from ecuas_metric.errors import InputError
from ecuas_metric.files.read import sheet_of
from ecuas_metric.files.submissions import Reading, Submission, submissions_of
from ecuas_metric.inputs import Ints
from ecuas_metric.reporting.tables import neutral
from triviaqa_subset.grading import grade, normalize_answer

from . import subset
from .uploads import RULES, Answers, plain_text

STATES = {
    "exact": "exact match",
    "bank": "the label bank",
    "official": "TriviaQA's own normal form",
    "refusal": "their refusal to answer",
    "you": "you",
}
NO_GOLD = {"value": "", "aliases": [], "normalized_aliases": []}
_COLUMNS = {"confidence": "confidence", "correct": "correct", "id": "question_id", "stratum": "stratum"}
WRONG, RIGHT, UNKNOWN, MISSING = "0123"
MAX_LETTERS = 8000  # of a link: what servers and browsers pass on
MAX_UNPACKED = 100_000
LONGEST_NAME = 60
SELF_REPORTED = "self-reported, not checked"


class Settings(TypedDict):
    """The options of a result that change a number."""

    n: str
    weighted: bool
    intervals: bool


class _Link(BaseModel):
    """What a link holds: grades and confidences by question, and the options that change a number."""

    model_config = ConfigDict(strict=True, extra="forbid")
    name: str
    asked: str
    rule: str
    states: str = Field(pattern="^[0-3]+$")
    confidence: list[Annotated[float, Field(ge=0, le=1)]]
    n: str
    weighted: bool
    intervals: bool


class Graded(NamedTuple):
    """Graded answers in the order of the questions: question_id, answer, confidence, correct, decided_by, weight."""

    frame: pd.DataFrame
    rows: Ints
    asked: str
    rule: str

    def submission(self, name: str, *, weighted: bool) -> Submission:
        """Return them as a submission, with weights by which the questions represent the pool or without."""
        if self.frame["correct"].isna().all():
            advice = "Tick the correct ones, count the others as wrong, or grade with the text of the questions."
            got = f"{len(self.frame):,} unknown ones"
            raise InputError("Answers", "must not all be unknown", got=got, advice=advice)
        columns = _COLUMNS | ({"weight": "weight"} if weighted else {})
        sheet = sheet_of(self.frame[list(columns.values())], self.rows)
        unlabelled = "drop" if self.rule == "drop" else "bounds"
        (only,) = submissions_of(sheet, name, columns=columns, reading=Reading(unlabelled))
        return only._replace(name=name)

    def summary(self) -> str:
        """Say how many answers were decided which way."""
        counts, total = self.frame["decided_by"].value_counts().to_dict(), len(subset.questions_of(self.asked))
        how = ", ".join(f"{counts[state]} by {name}" for state, name in STATES.items() if state in counts)
        text = f"Of {len(self.frame)} answers were decided: {how or 'none'}."
        if left := counts.get("unlabelled", 0):
            text += f" {left} are unknown."
        if missing := total - len(self.frame):
            text += f" {len(self.frame)} of {total} questions are answered: the metrics are of these alone, and the "
            text += f"leaderboard counts the {missing} others as unknown."
        return text

    def open_answers(self) -> list[tuple[str, str]]:
        """Return text and key of each answer that is not decided."""
        unknown = self.frame[self.frame["decided_by"] == "unlabelled"]
        texts = subset.questions_of(self.asked).set_index("question_id").get("question", pd.Series(dtype=str))
        return [
            (f"{own}: {texts[own]} → {answer}" if own in texts else f"{own} → {answer}", key)
            for own, answer, key in zip(unknown["question_id"], unknown["answer"], _keys(unknown), strict=True)
        ]

    def write(self, path: Path) -> None:
        """Write them as CSV, with an apostrophe before what a spreadsheet would take for a formula."""
        texts = self.frame.select_dtypes(["object", "string"]).columns
        self.frame.assign(**{name: self.frame[name].map(neutral) for name in texts}).to_csv(path, index=False)


def grade_answers(answers: Answers, asked: str, *, accepted: Iterable[str] = (), rule: str = "bounds") -> Graded:
    """Grade answers; the visitor decides what is left: `accepted` keys of `open_answers`, and the `rule` for others."""
    if rule not in RULES:
        raise InputError("Other answers", f"must count as one of {', '.join(RULES)}", value=rule)
    questions = subset.questions_of(asked)
    _require_known(answers, questions)
    # Without text there is no gold answer: the label bank alone decides, as the page says.
    gold = questions if "answer" in questions else questions.assign(answer=[NO_GOLD] * len(questions))
    grades = grade(answers.frame, gold)
    done = answers.frame.assign(correct=pd.Series(grades.correct, dtype=float), decided_by=grades.decided_by)
    is_open = done["decided_by"] == "unlabelled"
    ticked = is_open & _keys(done).isin(set(accepted))
    done.loc[ticked, ["correct", "decided_by"]] = [1.0, "you"]
    if rule == "wrong":
        done.loc[is_open & ~ticked, ["correct", "decided_by"]] = [0.0, "you"]
    places = pd.Index(questions["question_id"]).get_indexer(done["question_id"])
    order = np.argsort(places)  # a link has this order, and random draws go by it
    return Graded(_with_design(done.iloc[order], questions), answers.rows[order], asked, rule)


def pack(graded: Graded, *, name: str, settings: Settings) -> str:
    """Return a result as the text of a link, or nothing if it is too long for one."""
    known = graded.frame.set_index("question_id")
    correct = known["correct"].reindex(subset.questions_of(graded.asked)["question_id"])
    answered = correct.index.isin(known.index)
    states = np.where(correct.isna(), UNKNOWN, np.where(correct == 1, RIGHT, WRONG))
    link = _Link(
        name=plain_text(name, LONGEST_NAME),
        asked=graded.asked,
        rule=graded.rule,
        states="".join(np.where(answered, states, MISSING)),
        confidence=known["confidence"].reindex(correct.index[answered]).tolist(),
        **settings,
    )
    token = base64.urlsafe_b64encode(zlib.compress(link.model_dump_json().encode(), 9)).decode().rstrip("=")
    return token if len(token) <= MAX_LETTERS else ""


def unpack(token: str) -> tuple[str, Graded, Settings]:
    """Return name, graded answers and settings from a text of `pack`; any other text is an error."""
    try:
        if len(token) > MAX_LETTERS:
            raise ValueError
        packed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        link = _Link.model_validate_json(zlib.decompressobj().decompress(packed, MAX_UNPACKED))
        questions, states = subset.questions_of(link.asked), np.array(list(link.states))
        answered = states != MISSING
        if link.rule not in RULES or len(states) != len(questions) or not 0 < answered.sum() == len(link.confidence):
            raise ValueError
    except (ValueError, zlib.error):
        raise InputError("The link", "is not one of this page's, or is not whole") from None
    correct = pd.Series(states[answered]).map({RIGHT: 1.0, WRONG: 0.0})
    ids, rows = questions["question_id"][answered].reset_index(drop=True), np.arange(1, len(correct) + 1)
    frame = pd.DataFrame({"question_id": ids, "confidence": link.confidence, "correct": correct})
    graded = Graded(_with_design(frame, questions), rows, link.asked, link.rule)
    return _safe_name(link.name), graded, Settings(n=link.n, weighted=link.weighted, intervals=link.intervals)


def _safe_name(name: str) -> str:
    """Return the name of a system from a link: never that of one of the dataset's, however it is spelled."""
    shown = plain_text(name, LONGEST_NAME)
    letters = _letters(shown)
    is_mixed = len({one.isascii() for one in letters if one.isalpha()}) > 1  # of scripts that look alike
    is_theirs = is_mixed or any(_letters(llm) in letters for llm in subset.llms())
    return f"{'a model' if is_theirs or not shown else shown} ({SELF_REPORTED.partition(',')[0]})"


def _letters(text: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFKC", text).casefold() if one.isalnum())


def _with_design(frame: pd.DataFrame, questions: pd.DataFrame) -> pd.DataFrame:
    """Return answers with the weight and the stratum of each question."""
    known = questions.set_index("question_id")[["weight", "stratum"]]
    return frame.join(known, on="question_id").reset_index(drop=True)


def _require_known(answers: Answers, questions: pd.DataFrame) -> None:
    given = answers.frame["question_id"]
    unknown, again = ~given.isin(set(questions["question_id"])), given.duplicated()
    for wrong, rule, advice in (
        (unknown, f"must be one of the {len(questions)} that are asked", "Leave other questions out."),
        (again, "must not be repeated", "Keep one answer to each question."),
    ):
        if wrong.any():
            first, row = str(given[wrong].iloc[0])[:60], answers.rows[wrong.to_numpy()][0]
            got, count = f"{first!r} in row {row}", int(wrong.sum())
            raise InputError("question_id", rule, value=first, got=got, count=count, total=len(given), advice=advice)


def _keys(frame: pd.DataFrame) -> pd.Series:
    return frame["question_id"] + "\t" + frame["answer"].map(normalize_answer)

"""Links that hold a whole result: grades and confidences, not the answers; and what forged ones may say."""

import base64
import unicodedata
import zlib
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from ecuas_metric.errors import InputError
from triviaqa_subset.tables import ASKED, table, with_design

from .answers import Graded
from .uploads import plain_text

DIGITS = {0.0: "0", 1.0: "1"}  # of answers that are wrong or right
UNKNOWN = "2"
MISSING = "3"
MAX_LETTERS = 8000  # of a link: what servers and browsers pass on
MAX_UNPACKED = 100_000  # bytes
LONGEST_NAME = 60
SELF_REPORTED = "self-reported, not checked"


class _Link(BaseModel):
    """What a link holds: grades and confidences by question."""

    model_config = ConfigDict(strict=True, extra="forbid")
    name: str
    asked: Literal[ASKED]  # type: ignore[valid-type]
    states: str = Field(pattern="^[0-3]+$")
    confidence: list[Annotated[float, Field(ge=0, le=1)] | None]


def pack(name: str, graded: Graded) -> str:
    """Return a result as the text of a link, or nothing if it is too long for one, or has strange confidences."""
    given = graded.frame["confidence"]
    confidence = pd.to_numeric(given, errors="coerce")
    if not (confidence.between(0, 1) | given.isna()).all():
        return ""
    ids = table(graded.asked)["question_id"]
    states = graded.correct.map(DIGITS).fillna(UNKNOWN).reindex(ids, fill_value=MISSING)
    link = _Link(
        name=plain_text(name, LONGEST_NAME),
        asked=graded.asked,
        states="".join(states),
        confidence=[None if one != one else one for one in confidence.tolist()],
    )
    packed = zlib.compress(link.model_dump_json().encode(), 9)
    token = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return token if len(token) <= MAX_LETTERS else ""


def unpack(token: str) -> tuple[str, Graded]:
    """Return name and graded answers from a text of `pack`; any other text is an error."""
    try:
        _require(len(token) <= MAX_LETTERS)
        packed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        text = zlib.decompressobj().decompress(packed, MAX_UNPACKED)
        link = _Link.model_validate_json(text)
        ids = table(link.asked)["question_id"]
        states = pd.Series(list(link.states))
        _require(len(states) == len(ids))
        ids = ids[states != MISSING]
        _require(0 < len(ids) == len(link.confidence))
    except (ValueError, zlib.error):
        raise InputError("The link", "wrong_link") from None
    grades = {state: grade for grade, state in DIGITS.items()}
    correct = states[states != MISSING].map(grades)
    confidence = pd.Series(link.confidence, ids.index, dtype=float)
    frame = pd.DataFrame({"question_id": ids, "confidence": confidence, "correct": correct})
    frame.index += 1
    return _safe_name(link.name), Graded(with_design(frame, link.asked), link.asked)


def _require(is_true: bool) -> None:
    if not is_true:
        raise ValueError


def _safe_name(name: str) -> str:
    """Return the name of a system from a link: never that of one of the dataset's, however it is spelled."""
    plain = plain_text(name, LONGEST_NAME)
    letters = _letters(plain)
    # of which some look alike
    scripts = {letter.isascii() for letter in letters if letter.isalpha()}
    llms = table("systems")["llm"].unique()
    if not plain or len(scripts) > 1 or any(_letters(llm) in letters for llm in llms):
        plain = "a model"
    return f"{plain} ({SELF_REPORTED.partition(',')[0]})"


def _letters(text: str) -> str:
    return "".join(
        letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum()
    )

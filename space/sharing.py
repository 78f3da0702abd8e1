"""Graded answers <-> the text of a link, so that a result can be shown again without anything kept on the server.

A link holds a name, and of each question whether the answer to it is right, and its confidence in 16 bits. It has no
answers, and whoever makes a link may write anything into it: what is restored says so.
"""

from __future__ import annotations

import base64
import binascii
import zlib

import numpy as np
import pandas as pd

from ecuas_metric.errors import InputError
from ecuas_metric.inputs import Floats

from .uploads import MAX_NAME

WRONG, RIGHT, UNKNOWN, MISSING = range(4)
STEPS = 2**16 - 1  # of a confidence
ASKED = ("curated", "kept")
MAX_LETTERS = 8000  # of a link; one of 918 answers has about 2,500


def pack(graded: pd.DataFrame, questions: pd.DataFrame, *, name: str, asked: str) -> str:
    """Return graded answers as the text of a link.

    Parameters
    ----------
    graded : DataFrame
        question_id, confidence, correct (1, 0, or missing if unknown); each question once.
    questions : DataFrame
        The configuration with the name `asked`; its order is that of the link.
    name : str
        Of the system.
    asked : {"curated", "kept"}
    """
    ordered = graded.set_index("question_id").reindex(questions["question_id"])
    correct, confidence = ordered["correct"].to_numpy(float), ordered["confidence"].to_numpy(float)
    answered = questions["question_id"].isin(graded["question_id"]).to_numpy()
    states = np.where(np.isnan(correct), UNKNOWN, correct).astype(np.uint8)
    states[~answered] = MISSING
    steps = np.round(confidence[answered] * STEPS).astype(">u2")
    text = name[:MAX_NAME].encode()
    parts = (bytes([ASKED.index(asked)]), len(text).to_bytes(2), text, states.tobytes(), steps.tobytes())
    return base64.urlsafe_b64encode(zlib.compress(b"".join(parts), 9)).decode().rstrip("=")


def unpack(token: str) -> tuple[str, str, bytes]:
    """Return name, `asked` and the rest of what `pack` made.

    Raises
    ------
    InputError
        If it is no such text.
    """
    try:
        if len(token) > MAX_LETTERS:
            raise ValueError
        packed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        content = zlib.decompressobj().decompress(packed, 10 * MAX_LETTERS)
        asked, length = ASKED[content[0]], int.from_bytes(content[1:3])
        return content[3 : 3 + length].decode()[:MAX_NAME], asked, content[3 + length :]
    except (ValueError, IndexError, binascii.Error, zlib.error):
        raise _broken() from None


def answers_of(content: bytes, questions: pd.DataFrame) -> pd.DataFrame:
    """Return question_id, confidence, correct of the answered questions, from what `unpack` returned.

    Raises
    ------
    InputError
        If it does not fit these questions.
    """
    states = np.frombuffer(content[: len(questions)], np.uint8)
    answered = states != MISSING
    if len(states) != len(questions) or states.max() > MISSING or not answered.any():
        raise _broken()
    if len(content) != len(questions) + 2 * answered.sum():
        raise _broken()
    confidence: Floats = np.frombuffer(content[len(questions) :], ">u2") / STEPS
    correct = np.where(states == UNKNOWN, np.nan, states)[answered]
    ids = questions["question_id"][answered]
    return pd.DataFrame({"question_id": ids.to_numpy(), "confidence": confidence, "correct": correct})


def _broken() -> InputError:
    return InputError("The link", "is not one of this page's, or is not whole")

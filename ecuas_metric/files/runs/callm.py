"""The results of callm, the code of the reference's authors: ``evaluation_results.csv``."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ...errors import FileError
from .parts import Part, Reader, RunOptions, confidences_in, named_columns, part_of, starts_with

_HEADER = b"Question,Gold Answers,Predicted Answer,Confidence,Correct"
_NO_NUMBER = {"", "nan"}  # of a reply whose confidence could not be parsed


def _parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read files of results: one part each, named by its folder. Replies without a confidence stay without."""
    return [_part(file, options.confidence or "Confidence", options) for file in files]


def _part(file: Path, name: str, options: RunOptions) -> Part:
    with file.open(encoding="utf-8", newline="") as content:
        answers = list(csv.DictReader(content))
    rows = np.arange(2, len(answers) + 2)  # below the header
    if not answers or name not in answers[0]:
        raise FileError(file, f"has no column {name}")
    values = [None if (text := answer[name] or "").strip().lower() in _NO_NUMBER else text for answer in answers]
    questions = [answer["Question"] for answer in answers]
    columns = {
        **({"id": questions} if len(set(questions)) == len(questions) else {}),  # they are cut at 200 characters
        **named_columns(answers, options.per_sample, file, rows),
        "confidence": confidences_in(values, name, file, rows) if any(values) else np.full(len(rows), np.nan),
        "correct": [answer["Correct"] for answer in answers],
    }
    return part_of((file, _system(file), ""), rows, columns, f"Results of callm, {len(answers):,} answers")


def _system(file: Path) -> str:
    """Return the name of the experiment, ``<method>_<model>_evaluation/version_0/evaluation_results.csv``."""
    folder = file.parent.parent if re.fullmatch(r"version_\d+", file.parent.name) else file.parent
    return folder.name.removesuffix("_evaluation") or file.stem


CALLM = Reader(("evaluation_results.csv",), partial(starts_with, needed=[_HEADER]), _parts)

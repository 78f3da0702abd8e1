"""The results of callm, the code of the reference's authors: ``evaluation_results.csv``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ...errors import FileError, Note
from .parts import Part, RunOptions, files_in, starts_with

HEADER = (b"Question,Gold Answers,Predicted Answer,Confidence,Correct",)


def files_of(path: Path) -> list[Path]:
    """Return the files of results that a path is or holds; none if there are none."""
    files = files_in(path, "*.csv") if path.is_dir() else [path]
    return [file for file in files if file.suffix == ".csv" and starts_with(file, HEADER, size=len(HEADER[0]))]


def parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read files of results: one part each, named by its folder. Replies without a confidence stay without."""
    return [_part(file, options.confidence or "Confidence") for file in files]


def _part(file: Path, confidence: str) -> Part:
    read = pd.read_csv(file, encoding="utf-8")
    if confidence not in read:
        raise FileError(file, f"has no column {confidence}")
    frame = pd.DataFrame({"confidence": read[confidence], "correct": read["Correct"]})
    if not read["Question"].duplicated().any():  # questions are cut at 200 characters
        frame.insert(0, "id", read["Question"])
    fact = f"Results of callm, {len(frame):,} answers."
    return Part(_system(file), "", frame, str(file), Note("run", fact))


def _system(file: Path) -> str:
    """Return the name of the experiment, ``<method>_<model>_evaluation/version_0/evaluation_results.csv``."""
    folder = file.parent.parent if re.fullmatch(r"version_\d+", file.parent.name) else file.parent
    return folder.name.removesuffix("_evaluation") or file.stem

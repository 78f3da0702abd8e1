"""Parts of one model on several tasks -> one part, where their answers are of one kind."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pandas as pd

from ...errors import Note
from .parts import Part


def pooled(parts: Sequence[Part]) -> list[Part]:
    """Return one part per model: of all its tasks with the same number of choices, and of all others.

    The ids are those of the tasks with the task before each, so that models are paired question by question.
    """
    kinds = dict.fromkeys((part.model, part.num_classes) for part in parts)
    return [_pool([part for part in parts if (part.model, part.num_classes) == kind]) for kind in kinds]


def _pool(parts: Sequence[Part]) -> Part:
    first, *others = parts
    if not others:
        return first
    frame = pd.concat([_with_task(part) for part in parts], ignore_index=True)
    if "group" in frame:
        frame["group"] = frame["group"].fillna(frame["id"])
    choices = "" if first.num_classes is None else f" with {first.num_classes} choices"
    fact = f"{len(parts)} tasks{choices} are pooled, {len(frame):,} samples: {', '.join(part.task for part in parts)}."
    path = os.path.commonpath([part.path for part in parts])
    return Part(first.model, "", frame, path, Note("run", fact), first.num_classes)


def _with_task(part: Part) -> pd.DataFrame:
    frame = part.frame.copy()
    for column in {"id", "group"} & set(frame):
        frame[column] = f"{part.task} " + frame[column].astype(str)
    return frame

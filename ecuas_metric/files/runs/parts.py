"""A part of a run: one model on one task, as a table with our own names of columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...errors import FileAdvice, FileError, Note
from ...inputs import Floats, Ints

Row = Mapping[str, Any]  # of JSON
VERDICTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # Inspect's; no answer is no right answer
CHOICE = "choice_"  # in the names of the columns of log-posteriors
LENGTHS: dict[str, Callable[[str], int]] = {"chars": len, "bytes": lambda text: len(text.encode())}


class RunOptions(NamedTuple):
    """What a run leaves open.

    Attributes
    ----------
    tasks : collection of str, or None
        Those to read; None is all.
    filter : str or None
        The filter of lm-eval, or the scorer of Inspect, where there are several.
    length : {"none", "chars", "bytes"}
        What log-likelihoods of choices are divided by before they are compared.
    confidence : str or None
        The dotted name of the field with the confidence, for tasks in which the model writes its answer.
    """

    tasks: Collection[str] | None = None
    filter: str | None = None
    length: str = "none"
    confidence: str | None = None


class Part(NamedTuple):
    """One model on one task.

    Attributes
    ----------
    model, task : str
    frame : DataFrame
        With id, and label and choice_0, .. (log-posteriors), or confidence and correct; see `columns_of`.
    path : str
        The file it was read from.
    note : Note
        What it was recognised as.
    num_classes : int or None
        K of posteriors; those of differing K are different parts.
    """

    model: str
    task: str
    frame: pd.DataFrame
    path: str
    note: Note
    num_classes: int | None = None


def only(found: Sequence[str], wanted: str | None, path: object, what: str) -> str:
    """Return the one of several names that was asked for, or the only one there is.

    Raises
    ------
    FileError
        If there are several and none was asked for, or it is not among them.
    """
    names = list(dict.fromkeys(found))
    if wanted is not None and wanted not in names:
        raise FileError(path, f"has no {what} {wanted!r}", value=wanted, got=f"{wanted!r}, not {', '.join(names)}")
    if wanted is None and len(names) > 1:
        raise FileError(path, f"has several {what}s", got=", ".join(names), advice=FileAdvice.NAME_FILTER)
    return wanted or names[0]


def files_in(folder: Path, *patterns: str) -> list[Path]:
    """Return the files below a folder whose names fit one of the patterns, in order."""
    return sorted({file for pattern in patterns for file in folder.rglob(pattern) if file.is_file()})


def starts_with(file: Path, needed: Iterable[bytes], size: int = 20_000) -> bool:
    """Return whether the beginning of a file holds all of these."""
    with file.open("rb") as content:
        start = content.read(size)
    return all(part in start for part in needed)


def field(row: Row, name: str) -> Any:
    """Return what a dotted name leads to; None where there is nothing."""
    value: Any = row
    for word in name.split("."):
        value = value.get(word) if isinstance(value, Mapping) else None
    return value


def names_of(parts: Sequence[Part]) -> list[str]:
    """Return the names of the systems: the models', with the task and the number of choices where they differ."""
    many = len({part.task for part in parts}) > 1
    tasks = [f"{part.model} {part.task}" for part in parts]
    return [
        f"{name}, {part.num_classes} choices" if tasks.count(name) > 1 else name if many else part.model
        for name, part in zip(tasks, parts, strict=True)
    ]


def tasks_among(files: Sequence[tuple[Path, str, str]], options: RunOptions) -> list[tuple[Path, str, str]]:
    """Return the files, with their models and tasks, of the tasks that were asked for.

    Raises
    ------
    FileError
        If there is none, or a model has two files of a task.
    """
    wanted = [one for one in files if options.tasks is None or one[2] in options.tasks]
    if not wanted:
        raise FileError(files[0][0], "has no such task", got=no_task(options, (task for *_, task in files)))
    seen: dict[tuple[str, str], Path] = {}
    for file, model, task in wanted:
        if (again := seen.setdefault((model, task), file)) != file:
            got = f"{again.name} and {file.name}" if again.name != file.name else f"{again.parent} and {file.parent}"
            rule = f"has more than one run of task {task} by {model}"
            raise FileError(file, rule, got=got, advice="Give the file of one run.")
    return wanted


def verdict(value: object, file: Path, line: int) -> float:
    """Return 1 for what is scored as right, 0 for what is scored as wrong, and else the grade.

    Raises
    ------
    FileError
        If it is no number, nor a letter that stands for one.
    """
    number = VERDICTS.get(value) if isinstance(value, str) else value
    if isinstance(number, (bool, int, float)):
        return float(number)
    raise FileError(file, "must be scored as right or wrong: C, I, P, N, or a number", row=line + 1, value=value)


def no_task(options: RunOptions, found: Iterable[str]) -> str:
    """Return what was asked for and what there is."""
    return f"{', '.join(map(repr, options.tasks or ()))}, not {', '.join(sorted(set(found)))}"


def log_posteriors(scores: Floats) -> Floats:
    """Return log-likelihoods of choices (N, K) as log-posteriors."""
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


def posterior_frame(ids: Sequence[str], label: Ints, posteriors: Floats, rows: Ints) -> pd.DataFrame:
    """Return log-posteriors (N, K) as the frame of a part, with the rows of the file as its index."""
    columns = {f"{CHOICE}{k}": posteriors[:, k] for k in range(posteriors.shape[1])}
    return pd.DataFrame({"id": ids, "label": label, **columns}, index=rows)


def columns_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return the column of each role in the frame of a part."""
    choices = [name for name in frame if name.startswith(CHOICE)]
    roles = {name: name for name in frame if name not in choices}
    return roles | ({"posteriors": "+".join(choices)} if choices else {})


def missing(confidences: pd.Series, name: str, path: object) -> None:
    """Raise FileError if none has a value."""
    if confidences.isna().all():
        raise FileError(path, f"has no field {name}")

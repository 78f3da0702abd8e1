"""A part of a run: one system on one task, its samples as arrays; and what the readers of all tools share."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ...errors import FileError, InputError, Note
from ...inputs import Array, Floats, Ints
from ..values import from_column, value_at
from . import RunOptions

Fields = Mapping[str, Any]  # of JSON
Column = Array | Sequence[object]
T = TypeVar("T")
SIZES: dict[str, Callable[[str], int]] = {
    "chars": len,
    "bytes": lambda text: len(text.encode()),
}
FEW = 10  # samples of which all may be alike by chance


@dataclass(frozen=True, slots=True)
class Place:
    """A file of samples, and the model and the task that they are of."""

    file: Path
    model: str
    task: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in words: its grades by metric, and the fields that can be named."""

    id: str
    grades: Fields
    fields: Fields


@dataclass(frozen=True, slots=True)
class RunPart:
    """One system on one task.

    Attributes
    ----------
    model, task, path : str
        The name of the system without its task, the task, and the file.
    rows : array of int, shape (N,)
        Where the samples are in the file, counted from 1.
    columns : mapping
        By role: log-posteriors (N, K) and labels, or confidences and correctness or nan.
    notes : tuple of Note
        What it was recognised as, and what is odd about it.
    num_classes : int or None
        K of posteriors; those of differing K are different parts.
    settings : mapping of str to str
        How the model was asked.
    unused : tuple of (str, str)
        Files that another one replaces, and why.
    """

    model: str
    task: str
    path: str
    rows: Ints
    columns: Mapping[str, Column]
    notes: tuple[Note, ...]
    num_classes: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[tuple[str, str], ...] = ()

    def table(self) -> tuple[pa.Table, dict[str, str]]:
        """Return the columns (N,) by name, and the name of each role's column for `submissions_of`."""
        columns = {
            role: from_column(self.columns[role]) for role in self.columns if role != "posteriors"
        }
        roles = {role: role for role in columns}
        if "posteriors" in self.columns:
            posteriors = np.asarray(self.columns["posteriors"])
            choices = {f"choice_{k}": from_column(values) for k, values in enumerate(posteriors.T)}
            columns |= choices
            roles["posteriors"] = "+".join(choices)
        return pa.table(columns), roles


@dataclass(frozen=True, slots=True)
class Reader:
    """How the runs of a tool are read."""

    recognises: Callable[[Path], bool]  # a file with one of its names by its content
    parts: Callable[[Sequence[Path], RunOptions], list[RunPart]]


def part_of(
    place: Place,
    rows: Ints,
    columns: Mapping[str, Column],
    facts: Sequence[Note],
    *,
    answers: Collection[object] = (),
    **fields: Any,
) -> RunPart:
    """Return a part with notes on what it was recognised as, on weights, and on samples that are all alike."""
    if "weight" in columns:
        total = np.asarray(columns["weight"]).sum()
        facts = [*facts, Note("run_weighted", {"count": len(rows), "sum": total})]
    notes = [Note("run", {"facts": "; ".join(map(str, facts))})]
    for rule, values in (
        ("run_of_one_answer", answers),
        ("run_of_one_confidence", columns.get("confidence", ())),
    ):
        distinct = set(values)
        if len(rows) >= FEW and len(distinct) == 1:
            notes.append(
                Note(
                    rule,
                    {"count": len(rows), "value": str(distinct.pop())},
                )
            )
    return RunPart(
        place.model,
        place.task,
        str(place.file),
        rows,
        columns,
        tuple(notes),
        **fields,
    )


def part_of_choices(
    place: Place,
    rows: Ints,
    columns: Mapping[str, Column],
    tool: str,
    facts: Sequence[Note] = (),
    **fields: Any,
) -> RunPart:
    """Return the part of the log-posteriors (N, K) of choices."""
    posteriors = np.asarray(columns["posteriors"])
    count, num_classes = posteriors.shape
    fact = Note(
        "run_of_choices",
        {"what": tool, "task": place.task, "count": count, "choices": num_classes},
    )
    chosen = posteriors.argmax(axis=1).tolist()
    return part_of(
        place,
        rows,
        columns,
        [fact, *facts],
        answers=chosen,
        num_classes=num_classes,
        **fields,
    )


def part_in_words(
    place: Place,
    rows: Ints,
    answers: Sequence[Answer],
    options: RunOptions,
    *,
    tool: str,
    metrics: Sequence[str],
    rule: str,
) -> RunPart:
    """Return the part of answers in words, by the named metric or the first there is; `rule` is of no confidence."""
    name = options.confidence
    wanted = [options.correct] if options.correct else metrics
    metric = next(filter(answers[0].grades.__contains__, wanted), None)
    if metric is None or name is None:
        raise FileError(
            place.file, rule if metric else "no_metric_of_right", advice="name_confidence_field"
        )
    fields = [answer.fields for answer in answers]
    columns: dict[str, Column] = {
        "id": [answer.id for answer in answers],
        **named_columns(fields, options.per_sample, place.file, rows),
        "correct": [answer.grades.get(metric) for answer in answers],
        "confidence": confidences_in(
            [value_at(each, name) for each in fields], name, place.file, rows
        ),
    }
    fact = Note(
        "run_of_answers",
        {"what": tool, "task": place.task, "count": len(answers), "metric": metric},
    )
    return part_of(place, rows, columns, [fact])


def differing_settings(settings: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the names of the settings that are not the same in all runs."""
    names = dict.fromkeys(chain.from_iterable(settings))
    return [name for name in names if len({each.get(name) for each in settings}) > 1]


def names_of(parts: Sequence[RunPart]) -> list[str]:
    """Return the names of the systems: the models', with the task and the number of choices where they differ."""
    has_several_tasks = len({part.task for part in parts}) > 1
    of_tasks = [f"{part.model} {part.task}".rstrip() for part in parts]
    names = []
    for part, name in zip(parts, of_tasks, strict=True):
        if of_tasks.count(name) > 1:
            names.append(f"{name}, {part.num_classes} choices")
        else:
            names.append(name if has_several_tasks else part.model)
    return names


def tell_apart(parts: Sequence[RunPart]) -> list[RunPart]:
    """Return parts in whose ids the task stands, where several tasks number their questions: these are not the same."""
    are_several = len({part.task for part in parts}) > 1
    return [
        replace(part, columns=_with_task(part, is_grouped=False))
        if are_several and _are_numbers(part)
        else part
        for part in parts
    ]


def _are_numbers(part: RunPart) -> bool:
    return all(word.isdecimal() for text in part.columns["id"] for word in str(text).split())


def pool_tasks(
    parts: Sequence[RunPart],
    *,
    as_strata: bool = False,
) -> list[RunPart]:
    """Return one part per model: of all its tasks with the same number of choices, and of those in words."""
    if as_strata:
        parts = [
            replace(part, columns={**part.columns, "stratum": [part.task] * len(part.rows)})
            for part in parts
        ]
    kinds: dict[tuple[str, int | None], list[RunPart]] = {}
    for part in parts:
        kinds.setdefault((part.model, part.num_classes), []).append(part)
    return [_pool(same) if len(same) > 1 else same[0] for same in kinds.values()]


def _pool(parts: Sequence[RunPart]) -> RunPart:
    first = parts[0]
    columns = _pooled_columns(parts)
    count = len(columns["id"])
    choices = "" if first.num_classes is None else f" with {first.num_classes} choices"
    tasks = [part.task for part in parts]
    fact = Note(
        "run_of_tasks",
        {"number": len(parts), "choices": choices, "count": count, "tasks": tasks},
    )
    place = Place(
        Path(os.path.commonpath([part.path for part in parts])),
        first.model,
        "",
    )
    unused = tuple(chain.from_iterable(part.unused for part in parts))
    return part_of(
        place,
        np.arange(1, count + 1),
        columns,
        [fact],
        num_classes=first.num_classes,
        unused=unused,
    )


def _pooled_columns(parts: Sequence[RunPart]) -> dict[str, Column]:
    """Return the columns that all parts have, weights in all or none."""
    if len({"weight" in part.columns for part in parts}) > 1:
        raise FileError(parts[0].path, "weights_in_some_tasks")
    is_grouped = any("group" in part.columns for part in parts)
    tables = [_with_task(part, is_grouped=is_grouped) for part in parts]
    roles = [role for role in tables[0] if all(role in table for table in tables)]
    return {role: _joined([table[role] for table in tables]) for role in roles}


def _with_task(
    part: RunPart,
    *,
    is_grouped: bool,
) -> dict[str, Column]:
    """Return the columns with the task before each id, group and stratum, so that models are paired by question."""
    columns = dict(part.columns)
    if is_grouped:
        columns.setdefault("group", columns["id"])
    for role in ("id", "group", "stratum"):
        if role in columns:
            columns[role] = [
                text if text == part.task else f"{part.task} {text}" for text in columns[role]
            ]
    return columns


def _joined(columns: Sequence[Column]) -> Column:
    arrays = [column for column in columns if isinstance(column, np.ndarray)]
    if len(arrays) == len(columns):
        return np.concatenate(arrays)
    return list(chain.from_iterable(columns))


def only(
    found: Iterable[str],
    wanted: str | None,
    path: object,
    what: str,
) -> str:
    """Return the requested one of several names, or the only one, or raise FileError."""
    names = list(dict.fromkeys(found))
    listed = ", ".join(names)
    if wanted is None and len(names) > 1:
        raise FileError(path, "several_in_run", got=listed, advice="name_filter", what=what)
    if wanted is not None and wanted not in names:
        got = f"{wanted!r}, not {listed}"
        raise FileError(
            path,
            "not_in_run",
            value=wanted,
            got=got,
            what=what,
            wanted=wanted,
        )
    return wanted or names[0]


def files_in(place: Path, *patterns: str) -> list[Path]:
    """Return a file, or those below a folder in order, whose names fit one of the patterns."""
    files = place.rglob("*") if place.is_dir() else [place]
    return sorted(
        file
        for file in files
        if any(fnmatchcase(file.name, name) for name in patterns) and file.is_file()
    )


def starts_with(
    file: Path,
    needed: Iterable[bytes],
    size: int = 20_000,
) -> bool:
    """Return whether the beginning of a file holds all of some texts."""
    with file.open("rb") as content:
        start = content.read(size)
    return all(text in start for text in needed)


def once(places: Sequence[Place], options: RunOptions) -> list[Place]:
    """Return the files of the requested tasks; raise FileError if there is none, or a model has two of a task."""
    wanted = [place for place in places if options.tasks is None or place.task in options.tasks]
    if not wanted:
        tasks = ", ".join(sorted({place.task for place in places}))
        got = f"{', '.join(map(repr, options.tasks or ()))}, not {tasks}"
        raise FileError(places[0].file, "no_such_task", got=got)
    first: dict[tuple[str, str], Path] = {}
    for place in wanted:
        before = first.setdefault((place.model, place.task), place.file)
        if before != place.file:
            refuse_two(place, before)
    return wanted


def refuse_two(place: Place, before: Path) -> None:
    """Raise the FileError of two files of one run."""
    names = [
        path.name if before.name != place.file.name else str(path.parent)
        for path in (before, place.file)
    ]
    got = " and ".join(names)
    raise FileError(
        place.file,
        "several_runs",
        got=got,
        advice="give_one_run",
        task=place.task,
        model=place.model,
    )


def in_file(
    file: object,
    row: int,
    read: Callable[..., T],
    *values: object,
) -> T:
    """Return `read(*values)`; an error about a value becomes one about a row of the file."""
    try:
        return read(*values)
    except InputError as error:
        raise FileError(
            file,
            error.rule,
            row=row,
            value=error.value,
            advice=error.advice,
            **error.fields,
        ) from None


def true_choice(target: object, choices: Sequence[str]) -> int:
    """Return the choice that an index, a text that no other has, or a list of one of these names, or InputError."""
    if isinstance(target, (list, tuple)) and len(target) == 1:
        return true_choice(target[0], choices)
    if isinstance(target, str) and choices.count(target) == 1:
        return choices.index(target)
    if (
        isinstance(target, (int, np.integer))
        and not isinstance(target, bool)
        and 0 <= target < len(choices)
    ):
        return int(target)
    raise InputError("target", "no_one_right_choice", value=target)


def log_posteriors(
    scores: Floats,
    file: object = "",
    rows: Ints | None = None,
) -> Floats:
    """Return log-likelihoods of choices, shape (N, K), which must be finite, as log-posteriors."""
    are_finite = np.isfinite(scores).all(axis=1)
    if not are_finite.all():
        row = int(np.argmin(are_finite))
        rule = "log_likelihoods_not_finite"
        raise (
            InputError("choices", rule, index=row)
            if rows is None
            else FileError(file, rule, row=int(rows[row]))
        )
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


def without_nan(values: Iterable[object]) -> list[object]:
    """Return values with None for nan."""
    return [None if value != value else value for value in values]


def confidences_in(
    values: Iterable[object],
    name: str,
    file: object,
    rows: Ints,
) -> list[object]:
    """Return numbers or texts, None where there is none."""
    kept = without_nan(values)
    if all(value is None for value in kept):
        raise FileError(file, "no_field", name=name)
    for row, value in zip(rows.tolist(), kept, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float, str, type(None))):
            raise FileError(file, "no_numbers", column=name, row=row, value=value)
    return kept


def named_columns(
    samples: Sequence[Fields],
    names: Mapping[str, str],
    file: object,
    rows: Ints,
) -> dict[str, Column]:
    """Return weights as numbers, groups and strata as text, by the dotted name of each; every sample must have one."""
    columns: dict[str, Column] = {}
    for role, name in names.items():
        values = [value_at(sample, name) for sample in samples]
        for row, value in zip(rows.tolist(), values, strict=True):
            if value is None:
                raise FileError(file, "no_value", column=name, row=row, value=value)
            if role == "weight" and not isinstance(value, (int, float)):
                raise FileError(file, "no_numbers", column=name, row=row, value=value)
        columns[role] = (
            np.array(values, dtype=np.float64) if role == "weight" else list(map(str, values))
        )
    return columns


_TOTALS = {  # files of results without samples: the tool, keys by which they are known, and what to do
    "lm-eval": ((b'"results"', b'"configs"', b'"n-shot"'), "log_samples"),
    "lighteval": ((b'"results"', b'"config_general"', b'"config_tasks"'), "save_details"),
}


def refuse_totals(path: Path) -> None:
    """Raise FileError if a file, or one in a folder, is a tool's results without samples."""
    for file in files_in(path, "*.json"):
        for tool, (keys, advice) in _TOTALS.items():
            if starts_with(file, keys, size=-1):
                raise FileError(file, "results_without_samples", advice=advice, tool=tool)

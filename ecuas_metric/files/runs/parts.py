"""A part of a run: one system on one task, its samples as columns; and what the readers of all tools share."""

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ...errors import FileError, InputError, Note
from ...inputs import Floats, Ints, grouped
from ..documents import parse_documents
from ..read import open_content, read_content
from ..values import JOINT, from_values, value_by_path
from . import RunOptions

Fields = Mapping[str, Any]  # of JSON
Column = Sequence[Any]  # None where there is no value
T = TypeVar("T")
R = TypeVar("R", bound="Run")
_FIRST = 100_000  # bytes of a file that tell what it is
_BETWEEN = re.compile(r"[\s,\[]*")  # what is between records
FEW = 10  # samples of which all may be alike by chance
STRANGE = (TypeError, AttributeError, LookupError)  # what reading fields of other types raises


@dataclass(frozen=True, slots=True)
class Run:
    """A file of samples: the model and the task that they are of, how it was asked, and the files it replaces."""

    file: Path
    model: str
    task: str
    settings: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[tuple[str, str], ...] = ()  # files, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart(Run):
    """One system on one task: a run, or those of several tasks, of which only the folder is one, and no settings.

    Attributes
    ----------
    rows : array of int, shape (N,)
        Where the samples are in the file, counted from 1.
    columns : mapping
        By role, (N,) each: ids, and confidences and correctness, or labels and the log-posteriors of choices, as
        ``choice_0``.
    notes : tuple of Note
        What it was recognised as, and what is odd about it.
    num_classes : int or None
        How many choices there are; questions of differing numbers are different parts.
    predictions_are : str
        What the columns of choices hold.
    cost : str or None
        What a mistake costs, where not all cost the same.
    fields_read : tuple of str
        Roles whose fields are in no column of their own.
    truth : array of float64, shape (N,), or None
        Numbers for what is true, where the columns have verdicts alone.
    """

    rows: Ints
    columns: Mapping[str, Column]
    notes: tuple[Note, ...]
    num_classes: int | None = None
    predictions_are: str = "log_probabilities"
    cost: str | None = None
    fields_read: tuple[str, ...] = ()
    truth: Floats | None = None

    def table(self) -> tuple[pa.Table, dict[str, str]]:
        """Return the columns (N,) by name, and the name of each role's column for `submissions_of`."""
        columns = {role: from_values(values) for role, values in self.columns.items()}
        choices = [name for name in columns if name.startswith("choice_")]
        roles = {role: role for role in columns if role not in choices}
        if choices:
            roles["posteriors"] = "+".join(choices)
        return pa.table(columns), roles


@dataclass(frozen=True, slots=True)
class Reader:
    """How the runs of a tool are read."""

    recognises: Callable[[Path], bool]  # a file with one of its names by its content
    parts: Callable[[Sequence[Path], RunOptions], list[RunPart]]
    lacks_truth: bool = False  # whether what is true may be in another file


def part_of(
    run: Run,
    rows: Ints,
    columns: Mapping[str, Column],
    facts: Sequence[Note] = (),
    *,
    answers: Collection[object] = (),
    **fields: Any,
) -> RunPart:
    """Return a part with notes on what it was recognised as, on weights, and on answers that are all alike.

    `fields` are further ones of `RunPart`.
    """
    if "weight" in columns:
        total = np.sum(columns["weight"])
        facts = [*facts, Note("run_weighted", {"count": len(rows), "sum": total})]
    notes = [Note("run", {"facts": "; ".join(map(str, facts))})] if facts else []
    distinct = set(map(str, answers))
    if len(rows) >= FEW and len(distinct) == 1:
        notes.append(Note("run_of_one_answer", {"count": len(rows), "value": distinct.pop()}))
    return RunPart(
        run.file,
        run.model,
        run.task,
        run.settings,
        run.unused,
        rows=rows,
        columns=columns,
        notes=tuple(notes),
        **fields,
    )


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
    return [_with_task(part) if are_several and _are_numbers(part) else part for part in parts]


def _are_numbers(part: RunPart) -> bool:
    texts = map(str, part.columns.get("id", ()))
    return all(word.isdecimal() for text in texts for word in text.split())


def pool_tasks(
    parts: Sequence[RunPart],
    *,
    as_strata: bool,
) -> list[RunPart]:
    """Return one part per model: of all its tasks with the same number of choices, and of those in words."""
    if as_strata:
        parts = [_set_columns(part, stratum=[part.task] * len(part.rows)) for part in parts]
    kinds = grouped(parts, lambda part: (part.model, part.num_classes, part.cost)).values()
    return [_pool(same) if len(same) > 1 else same[0] for same in kinds]


def _pool(parts: Sequence[RunPart]) -> RunPart:
    first = parts[0]
    columns = _pooled_columns(parts)
    count = sum(len(part.rows) for part in parts)
    choices = "" if first.num_classes is None else f" with {first.num_classes} choices"
    tasks = [part.task for part in parts]
    fact = Note(
        "run_of_tasks",
        {"number": len(parts), "choices": choices, "count": count, "tasks": tasks},
    )
    folder = Path(os.path.commonpath([part.file for part in parts]))
    unused = tuple(chain.from_iterable(part.unused for part in parts))
    return part_of(
        Run(folder, first.model, "", unused=unused),
        np.arange(1, count + 1),
        columns,
        [fact],
        num_classes=first.num_classes,
        predictions_are=first.predictions_are,
        cost=first.cost,
    )


def _pooled_columns(parts: Sequence[RunPart]) -> dict[str, Column]:
    """Return the columns that all parts have, weights in all or none; questions are groups where some have groups."""
    roles = [part.columns.keys() for part in parts]
    if len({"weight" in each for each in roles}) > 1:
        raise FileError(parts[0].file, "weights_in_some_tasks")
    if any("group" in each for each in roles):
        parts = list(map(_set_groups, parts))
    tables = [_with_task(part).columns for part in parts]
    common = set(tables[0]).intersection(*tables)
    return {
        role: list(chain.from_iterable(table[role] for table in tables))
        for role in tables[0]
        if role in common
    }


def _set_groups(part: RunPart) -> RunPart:
    """Return a part whose questions are groups, unless it has groups."""
    return _set_columns(part, group=part.columns.get("group", part.columns["id"]))


def _set_columns(part: RunPart, **columns: Column) -> RunPart:
    """Return a part with further or other columns, by their roles."""
    return replace(part, columns={**part.columns, **columns})


def _with_task(part: RunPart) -> RunPart:
    """Return a part with the task before each id, group and stratum, so that models are paired by question."""
    columns = {
        role: [text if text == part.task else f"{part.task} {text}" for text in part.columns[role]]
        for role in part.columns.keys() & {"id", "group", "stratum"}
    }
    return _set_columns(part, **columns)


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
        raise FileError(path, "not_in_run", value=wanted, got=got, what=what, wanted=wanted)
    return wanted or names[0]


def repeated(names: Sequence[str], places: Sequence[int], what: str = "") -> dict[str, Column]:
    """Return ids (N,), those of further places with their number, and where places differ, the samples as a group."""
    ids = [
        name if place == 1 else f"{name} ({what}{place})"
        for name, place in zip(names, places, strict=True)
    ]
    return {"id": ids, "group": names} if len(set(places)) > 1 else {"id": ids}


def files_in(place: Path, pattern: str) -> list[Path]:
    """Return a file, or those below a folder in order, whose names fit a pattern."""
    files = place.rglob("*") if place.is_dir() else [place]
    return sorted(file for file in files if re.fullmatch(pattern, file.name) and file.is_file())


def starts_with(
    file: Path,
    needed: Iterable[bytes],
    size: int = 20_000,
) -> bool:
    """Return whether the beginning of a file holds all of some texts."""
    with file.open("rb") as content:
        start = content.read(size)
    return all(text in start for text in needed)


def once(runs: Sequence[R], options: RunOptions) -> list[R]:
    """Return the runs of the requested tasks; raise FileError if there is none, or a model has two of a task."""
    wanted = [run for run in runs if options.tasks is None or run.task in options.tasks]
    if not wanted:
        tasks = ", ".join(sorted({run.task for run in runs}))
        got = f"{', '.join(map(repr, options.tasks or ()))}, not {tasks}"
        raise FileError(runs[0].file, "no_such_task", got=got)
    for first, *further in grouped(wanted, lambda run: (run.model, run.task)).values():
        if further:
            refuse_two(first, further[0])
    return wanted


def refuse_two(first: Run, second: Run, rule: str = "several_runs") -> None:
    """Raise the FileError of two files of one run."""
    files = [first.file, second.file]
    are_alike = first.file.name == second.file.name
    names = [str(file.parent) if are_alike else file.name for file in files]
    raise FileError(
        second.file,
        rule,
        got=" and ".join(names),
        advice="give_one_run",
        task=second.task or "without a name",
        model=second.model,
    )


def records_in(file: Path) -> Iterator[tuple[int, Fields]]:
    """Yield the JSON objects of a file, in lines or lists, compressed or not, each with its line or its place."""
    place = 0
    for line, document in _documents_in(file):
        is_list = isinstance(document, list)
        for record in document if isinstance(document, list) else [document]:
            place = place + 1 if is_list else line
            if not isinstance(record, Mapping):
                raise FileError(file, "must hold JSON objects", row=place)
            yield place, record


def _documents_in(file: Path) -> Iterator[tuple[int, object]]:
    try:
        content, _ = read_content(file)
        yield from parse_documents(content.to_pybytes().decode("utf-8-sig"))
    except (ValueError, OSError, EOFError) as error:
        raise FileError(file, "unreadable", reason=str(error).rstrip(".")) from None


def first_records(file: Path) -> Iterator[Fields]:
    """Yield the JSON objects that are whole at the start of a file, one after the other or in a list."""
    decoder = json.JSONDecoder()
    position = 0
    try:
        with open_content(file) as content:
            start = (content.read(_FIRST) + content.readline()).decode("utf-8-sig", "ignore")
        while between := _BETWEEN.match(start, position):
            record, position = decoder.raw_decode(start, between.end())
            if isinstance(record, Mapping):
                yield record
    except (ValueError, OSError, EOFError, RecursionError):  # of what is cut, or no JSON
        return


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
        raise error.in_file(file, row=row) from None
    except STRANGE as error:
        raise strange_error(file, error, row) from error


def strange_error(file: object, error: Exception, row: int | None = None) -> FileError:
    """Return the error of a file, or of a row of it, whose fields are of other types than those of its tool."""
    reason = f"it is not as its tool writes it ({error})"
    return FileError(file, "unreadable", row=row, reason=reason)


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


def log_posteriors(scores: Floats) -> Floats:
    """Return log-likelihoods of choices, shape (N, K), as log-posteriors: one of -inf is a probability of 0.

    InputError where one is nan or inf, or no choice of a row is possible.
    """
    are_known = (scores < np.inf).all(axis=1) & np.isfinite(scores).any(axis=1)
    if not are_known.all():
        row = int(np.argmin(are_known))
        raise InputError("choices", "log_likelihoods_not_finite", index=row)
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


def without_nan(values: Iterable[object]) -> list[object]:
    """Return values with None for nan."""
    return [None if value != value else value for value in values]


def named_columns(
    samples: Sequence[Fields],
    names: Mapping[str, str],
    file: Path,
    rows: Ints,
) -> dict[str, Column]:
    """Return the columns of some roles by the dotted name of the field of each; of ids also several, joined by +."""
    columns = {}
    for role, names_of_role in names.items():
        parts = [
            column_of([value_by_path(sample, name) for sample in samples], role, name, file, rows)
            for name in names_of_role.split("+")
        ]
        columns[role] = (
            parts[0] if len(parts) == 1 else list(map(JOINT.join, zip(*parts, strict=True)))
        )
    return columns


def column_of(
    values: Sequence[object],
    role: str,
    name: str,
    file: Path,
    rows: Ints,
) -> Column:
    """Return a field as a column: confidences, which some samples may lack, as they are, weights, others as text."""
    parse = _PARSERS.get(role, str)
    known = without_nan(values)
    if role == "confidence" and known.count(None) == len(known):
        raise FileError(file, "no_field", name=name)
    column = []
    for row, value in zip(rows.tolist(), known, strict=True):
        if value is None and role != "confidence":
            raise FileError(file, "no_value", column=name, row=row, value=value)
        try:
            column.append(parse(value))
        except (TypeError, ValueError):
            raise FileError(file, "no_numbers", column=name, row=row, value=value) from None
    return column


def _stated_confidence(value: object) -> object:
    """Return a confidence as it is: a number, its text, or nothing; else TypeError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, NoneType)):
        raise TypeError
    return value


_PARSERS: dict[str, Callable[[Any], object]] = {"confidence": _stated_confidence, "weight": float}

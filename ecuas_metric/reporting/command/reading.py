"""The files that a command line names -> submissions, each by the name of its system."""

import csv
import os
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from ...errors import FileError, InputError
from ...files.read import distinct_names, read_sheet, stem
from ...files.recipe import (
    NAMES,
    ColumnNames,
    Reading,
    Recipe,
    reading_in,
    require_role,
    scale_of,
)
from ...files.runs import RunOptions
from ...files.submissions import Submission, read_new_rows, read_run, submissions_of
from .flags import flag_of
from .parameters import FormOptions, NewRowFlags, PairFlags, ReadingFlags, RowFlags

# the commas that are in no column's name
ROLES = re.compile(rf",(?=\s*(?:[^,=]*:)?\s*(?:{'|'.join(NAMES)})\s*=)")
OF_RUNS = ("tasks", "filter", "partial", "choice_length", "pool_tasks")
TRUTH = ("label", "correct")  # roles that new rows need not have
# lm-eval's and lighteval's
NOT_OF_CHOICES = ("scale", "correct_from", "right", "unlabelled", "predictions_are", "partial")


@dataclass(frozen=True, slots=True)
class File:
    """A file of the command line, with the name that was given to its system, if one was."""

    name: str | None
    path: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The systems of a file."""

    file: File
    submissions: list[Submission]
    is_run: bool  # of an evaluation tool


def read_files(
    texts: Iterable[str],
    flags: NewRowFlags,
    *,
    part: str | None = None,
    stratum: str | None = None,
    pool_tasks: bool = False,
    metric: FormOptions,
    unlabelled: str | None = None,
    outputs: Sequence[str],
    are_new: bool = False,
    classes: Sequence[str] | None = None,
    beside: Iterable[str | None] = (),
) -> list[Submission]:
    """Read all files of the command line.

    `part` is the column, or what of a run, whose values are parts of a system, `unlabelled` and `classes` what counts
    where nothing is asked for; new rows have no truth. `beside` are further files of the command.
    InputError if a flag has no effect on these files; FileError if an output would overwrite one.
    """
    rows = PairFlags(**asdict(flags))
    files = [parse_file(text) for text in texts]
    others = list(map(parse_file, filter(None, [*beside, rows.recipe])))
    require_kept([*files, *others], outputs)
    common = _columns_of(weight=rows.weight, group=rows.groups, part=part, stratum=stratum)
    reading = reading_of(rows, metric, unlabelled)
    reading = replace(reading, labels=reading.labels or classes)
    run = RunOptions(_tasks(rows), rows.filter, rows.choice_length, partial=rows.partial)
    read = []
    for file, columns in zip(files, columns_of_files(rows.columns, files, others), strict=True):
        of_file = by_recipe(reading.with_columns({**common, **columns}), rows.recipe)
        read.append(_read(file, of_file, run, pool_tasks=pool_tasks, are_new=are_new))
    are_set = {
        one.name
        for flags in (rows, metric)
        for one in fields(flags)
        if getattr(flags, one.name) != one.default
    }
    _require_use(are_set | ({"pool_tasks"} if pool_tasks else set()), read)
    _require_tasks(rows, read, pooled=pool_tasks or part == "model" or stratum == "task")
    return _paired(_with_names(read, has_parts=part is not None), rows)


def _paired(submissions: list[Submission], rows: PairFlags) -> list[Submission]:
    """Return the rows that are paired: those that all have, or all, without the ids that would pair them otherwise."""
    if rows.common and rows.by_position:
        raise InputError("--by-position", "idle_beside_common")
    if rows.by_position:
        return [replace(one, ids=None) for one in submissions]
    if not rows.common:
        return submissions
    from ...comparison.compare import in_common

    return in_common(submissions)


def _columns_of(**roles: str | None) -> dict[str, str]:
    """Return the columns of the roles that have one."""
    return {role: name for role, name in roles.items() if name}


def reading_of(rows: ReadingFlags, metric: FormOptions, unlabelled: str | None) -> Reading:
    """Return what flags say of files, but for their columns."""
    labels = None
    if rows.labels is not None:
        labels = next(csv.reader([rows.labels], skipinitialspace=True))
    rule = rows.unlabelled or unlabelled
    return Reading(
        rule, labels, rows.correct_from, scale_of(rows.scale), metric.predictions_are, rows.right
    )


def by_recipe(reading: Reading, path: str | None) -> Reading:
    """Return what a file of a recipe says, if there is one, changed by what was asked for."""
    if path is None:
        return reading
    return reading_in(Path(path).read_text(encoding="utf-8")).changed(reading)


def recipes_of(submissions: Iterable[Submission]) -> list[Recipe]:
    """Return how files were read."""
    return [submission.recipe for submission in submissions]


def without_truth(recipe: Recipe) -> Recipe:
    """Return how new rows were read, whose truth is a stand-in."""
    columns = {role: names for role, names in recipe.columns.items() if role not in TRUTH}
    return replace(recipe, columns=columns)


def parse_file(text: str) -> File:
    """Return the file of NAME=FILE, or of FILE."""
    name, equals, path = text.partition("=")
    is_name = bool(equals and name) and not set(name) & set("/\\")
    if not is_name or Path(text).exists():
        return File(None, text)
    return File(name, path)


def columns_of_files(
    texts: Iterable[str],
    files: Sequence[File],
    others: Sequence[File] = (),
) -> list[ColumnNames]:
    """Return the columns of each file by role, or by system and role; texts may also name other files.

    From texts of ROLE=COLUMN,.., or of OF:ROLE=COLUMN,.. where OF is a file, its name, or a system in the one file.
    """
    common: dict[str, Any] = {}
    special: list[dict[str, Any]] = [{} for _ in files]
    for text in texts:
        meant = [common]
        for pair in filter(str.strip, ROLES.split(text)):
            subject, equals, column = pair.partition("=")
            if not equals:
                raise InputError("--columns", "wrong_pairs", value=pair)
            of, colon, role = subject.strip().rpartition(":")
            # in the order in which they stand, also of those that separate nothing: a=NAME,b=NAME
            for one in (role, *re.findall(r",\s*(\w+)\s*=", column)):
                require_role(one)
            if colon:
                is_of_another = any(map(partial(_is_called, of), others))
                meant = _columns_meant(of, files, special, or_none=is_of_another)
            for columns in meant:
                columns[role] = column.strip()
    return [common | of_file for of_file in special]


def _columns_meant(
    of: str, files: Sequence[File], special: Sequence[dict[str, Any]], *, or_none: bool
) -> list[dict[str, Any]]:
    """Return the columns of the files with a path, a file name or a name, or those of a system in the one file."""
    meant = []
    for one, columns in zip(files, special, strict=True):
        if _is_called(of, one):
            meant.append(columns)
    if meant or or_none:
        return meant
    if len(files) > 1 or stem(of) != of:
        raise InputError("--columns", "unknown_file", value=of)
    return [special[0].setdefault(of, {})]


def _is_called(text: str, file: File) -> bool:
    """Return whether a text is a file's path, the last part of it, or the name that was given to it."""
    return text in (file.name, file.path, Path(file.path).name)


def _read(
    file: File, reading: Reading, run: RunOptions, *, pool_tasks: bool, are_new: bool
) -> ReadFile:
    if are_new:
        return ReadFile(file, read_new_rows(file.path, reading=reading), is_run=False)
    parts = {"part": "model"} if pool_tasks else {}
    of_run = read_run(file.path, replace(reading, columns={**reading.columns, **parts}), run)
    if of_run is not None:
        return ReadFile(file, of_run, is_run=True)
    sheet = read_sheet(file.path, **reading.of_file())
    return ReadFile(file, submissions_of(sheet, file.path, reading=reading), is_run=False)


def _tasks(rows: RowFlags) -> list[str] | None:
    if rows.tasks is None:
        return None
    return [task.strip() for task in rows.tasks.split(",")]


def require_kept(files: Iterable[File], outputs: Iterable[str]) -> None:
    """Raise FileError if a file that is read would be overwritten."""
    inputs = [file.path for file in files if os.path.exists(file.path)]
    for path in filter(os.path.exists, outputs):
        if any(os.path.samefile(path, one) for one in inputs):
            raise FileError(path, "file_is_read", advice="name_another_output")


def _require_use(flags: Container[str], read: Sequence[ReadFile]) -> None:
    """Raise InputError if a flag means nothing for what was read."""
    forms = {(item.is_run, one.form) for item in read for one in item.submissions}
    idle = {}
    if not any(one.recipe.of("weight") for item in read for one in item.submissions):
        idle["weights_are"] = "idle_without_weight"
    if (False, "posteriors") not in forms:
        idle["labels"] = "idle_of_posteriors"
    if (True, "posteriors") not in forms:
        idle["choice_length"] = "idle_of_log_likelihoods"
    if not any(item.is_run for item in read):
        idle |= dict.fromkeys(OF_RUNS, "idle_of_runs")
    if forms == {(True, "posteriors")}:
        idle |= dict.fromkeys(NOT_OF_CHOICES, "idle_of_tables")
    for name, rule in idle.items():
        if name in flags:
            raise InputError(flag_of(name), rule)


def _require_tasks(
    rows: RowFlags,
    read: Sequence[ReadFile],
    *,
    pooled: bool,
) -> None:
    """Raise InputError if a task is asked for that no run has; where they are pooled, nothing says which there were."""
    parts = {one.part for item in read if item.is_run for one in item.submissions}
    for task in () if pooled else _tasks(rows) or ():
        if not any(f"{part}, ".startswith(f"{task}, ") for part in parts):
            raise InputError("--tasks", "task_missing", value=task)


def _rename(submission: Submission, item: ReadFile) -> Submission:
    """Return a system of a file by the name that was given to the file, if one was."""
    name = item.file.name
    if name is None:
        return submission
    systems = {one.of for one in item.submissions}
    of = name if len(systems) == 1 else f"{name} {submission.of}"
    has_part = submission.part and len(item.submissions) > 1
    return replace(submission, name=f"{of} {submission.part}" if has_part else of, of=of)


def _with_names(
    read: Sequence[ReadFile],
    *,
    has_parts: bool,
) -> list[Submission]:
    """Return the systems, with folder or suffix in their names where files have one name; FileError if two stay."""
    pairs = [(item, _rename(one, item)) for item in read for one in item.submissions]
    submissions = [submission for _, submission in pairs]
    files = [submission.file for submission in submissions]
    names = distinct_names(_names(submissions, has_parts=has_parts), files, _stems(pairs))
    for name, file in zip(names, files, strict=True):
        if names.count(name) > 1:
            raise FileError(file, "same_name_in_other_file", advice="name_files", name=name)
    return [
        replace(submission, name=name) for name, submission in zip(names, submissions, strict=True)
    ]


def _names(
    submissions: Sequence[Submission],
    *,
    has_parts: bool,
) -> list[str]:
    """Return the names of systems, or those of the parts of the only one."""
    if has_parts and len({submission.of for submission in submissions}) == 1:
        return [submission.part or submission.of for submission in submissions]
    return [submission.name for submission in submissions]


def _stems(pairs: Iterable[tuple[ReadFile, Submission]]) -> list[str]:
    """Return the names of files, which tell systems apart; nothing of files that were named."""
    return [stem(one.file) if item.file.name is None else "" for item, one in pairs]

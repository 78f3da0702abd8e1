"""The files that a command line names -> submissions, each by the name of its system."""

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ...errors import FileError, InputError, pairs_of, quoted
from ...files.read import distinct_names, stem
from ...files.recipe import (
    SEVERAL,
    ColumnNames,
    Reading,
    Recipe,
    labels_in,
    pairs_in,
    reading_in,
    scale_of,
)
from ...files.runs import RunOptions
from ...files.submissions import Submission, read_new_rows, read_run, read_tables
from ...inputs import grouped
from .flags import flag_of
from .parameters import ADDING, FormOptions, NewRowFlags, PairFlags, ReadingFlags

OF_RUNS = ("tasks", "filter", "partial", "choice_length", "pool_tasks")
FORMS_OF_POSTERIORS = ("posteriors", "positive")
LONGEST = 200  # characters of files and flags that are printed again
TRUTH = ("label", "correct")  # roles that new rows need not have
# lm-eval's and lighteval's
NOT_OF_CHOICES = ("scale", "correct_from", "right", "unlabelled", "predictions_are", "partial")


@dataclass(frozen=True, slots=True)
class File:
    """A file of the command line, with the name that was given to its system, if one was."""

    name: str | None
    path: str


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
    readings = readings_of(
        rows,
        metric,
        files,
        others,
        roles={"group": rows.groups, "part": part, "stratum": stratum},
        unlabelled=unlabelled,
        classes=classes,
    )
    tasks = _list_of(rows.tasks)
    run = RunOptions(tasks or None, rows.filter, rows.choice_length, partial=rows.partial)
    submissions: list[Submission] = []
    stems: list[str] = []
    for file, reading in zip(files, readings, strict=True):
        systems = _read(file.path, reading, run, pool_tasks=pool_tasks, are_new=are_new)
        submissions += _named(systems, file.name)
        stems += [stem(one.file) if file.name is None else "" for one in systems]
    require_use([rows, metric], recipes_of(submissions), pool_tasks=pool_tasks)
    if not (pool_tasks or part == "model" or stratum == "task"):
        _require_tasks(tasks, submissions)
    return _paired(_distinct(submissions, stems, has_parts=part is not None), rows)


def _paired(submissions: list[Submission], rows: PairFlags) -> list[Submission]:
    """Return the rows that are paired: those that all have, or all, without the ids that would pair them otherwise."""
    if rows.common and rows.by_position:
        raise InputError("--by-position", "idle_beside_common")
    if not rows.common and not rows.by_position:
        return submissions
    from ...comparison.compare import in_common, note_on_order

    if rows.by_position:
        by_position = []
        for one in submissions:
            note = note_on_order(submissions[0], one)
            notes = one.notes if note is None else (*one.notes, note)
            by_position.append(replace(one, ids=None, notes=notes))
        return by_position
    return in_common(submissions)


def readings_of(
    rows: ReadingFlags,
    metric: FormOptions,
    files: Sequence[File],
    others: Sequence[File] = (),
    *,
    roles: Mapping[str, str | None],
    unlabelled: str | None = None,
    classes: Sequence[str] | None = None,
) -> list[Reading]:
    """Return how flags, or else a recipe, say that each file is read; further flags have the columns of `roles`."""
    said = Reading(
        rows.unlabelled or unlabelled,
        classes if rows.labels is None else labels_in(rows.labels),
        rows.correct_from,
        scale_of(rows.scale),
        metric.predictions_are,
        rows.right,
    )
    columns_of_flags = {"weight": rows.weight, **roles}
    common = {role: column for role, column in columns_of_flags.items() if column}
    readings = []
    for columns in columns_of_files(common, rows.columns, files, others):
        reading = said.with_columns(columns)
        if rows.recipe is not None:
            recipe = reading_in(Path(rows.recipe).read_text(encoding="utf-8"))
            reading = recipe.changed(reading)
        readings.append(reading)
    return readings


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
    common: Mapping[str, str],
    texts: Iterable[str],
    files: Sequence[File],
    others: Sequence[File],
) -> Sequence[ColumnNames]:
    """Return the columns of each file by role, or by system and role; texts may also name other files.

    From those of all files, and texts of ROLE=COLUMN,.., or of OF:ROLE=COLUMN,.. where OF is a file, its name, or a
    system in the one file.
    """
    columns: list[dict[str, Any]] = [{} for _ in files]
    pairs = [("", role, column) for role, column in common.items()]
    for text in texts:
        pairs += pairs_in(text, "--columns")
    _require_once(pairs)
    for of, role, column in sorted(pairs, key=lambda pair: bool(pair[0])):  # those of all first
        is_of_another = any(_is_called(of, one) for one in others)
        meant = _columns_meant(of, files, columns, or_none=is_of_another) if of else columns
        for of_file in meant:
            of_file[role] = column
    return columns


def _require_once(pairs: Iterable[tuple[str, str, str]]) -> None:
    """Raise InputError if two pairs name the columns of one role, of the same file or system."""
    said: dict[tuple[str, str], str] = {}
    for of, role, column in pairs:
        first = said.setdefault((of, role), column)
        if first != column:
            joined = pairs_of({role: "+".join([first, column])}, of)
            advice = "join_columns" if role in SEVERAL else ""
            raise InputError("--columns", "role_twice", value=role, advice=advice, pairs=joined)


def _columns_meant(
    of: str,
    files: Sequence[File],
    columns: Sequence[dict[str, Any]],
    *,
    or_none: bool,
) -> list[dict[str, Any]]:
    """Return the columns of the files with a path, a file name or a name, or those of a system in the one file."""
    pairs = zip(files, columns, strict=True)
    meant = [of_file for file, of_file in pairs if _is_called(of, file)]
    if meant or or_none:
        return meant
    if len(files) > 1 or stem(of) != of:
        raise InputError("--columns", "unknown_file", value=of)
    return [columns[0].setdefault(of, {})]


def _is_called(text: str, file: File) -> bool:
    """Return whether a text is a file's path, the last part of it, or the name that was given to it."""
    return text in (file.name, file.path, Path(file.path).name)


def _read(
    path: str, reading: Reading, run: RunOptions, *, pool_tasks: bool, are_new: bool
) -> list[Submission]:
    if are_new:
        return read_new_rows(path, reading=reading)
    parts = {"part": "model"} if pool_tasks else {}
    of_run = read_run(path, replace(reading, columns={**reading.columns, **parts}), run)
    if of_run is not None:
        return of_run
    try:
        return read_tables(path, reading)
    except FileError as error:
        if error.rule == "no_such_file" and glob.has_magic(path):
            error.advice = "leave_pattern_to_shell"
        raise


def require_kept(files: Iterable[File], outputs: Iterable[str]) -> None:
    """Raise FileError if a file that is read would be overwritten."""
    inputs = [file.path for file in files if os.path.exists(file.path)]
    for path in filter(os.path.exists, outputs):
        if any(os.path.samefile(path, one) for one in inputs):
            raise FileError(path, "file_is_read", advice="name_another_output")


def require_use(
    flags: Iterable[NewRowFlags | FormOptions],
    recipes: Sequence[Recipe],
    *,
    pool_tasks: bool = False,
) -> None:
    """Raise InputError if a flag means nothing for what was read."""
    are_set = {name for record in flags for name in _names_set(record)}
    if pool_tasks:
        are_set.add("pool_tasks")
    for names, rule in _idle_flags(recipes):
        for name in names:
            if name in are_set:
                raise InputError(flag_of(name), rule)


def _idle_flags(recipes: Sequence[Recipe]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the names of flags that mean nothing for what was read, with the rule that says so."""
    by_format = grouped(recipes, lambda one: one.format == "run")
    runs = _have_posteriors(by_format.get(True, []))
    tables = _have_posteriors(by_format.get(False, []))
    if not any(one.of("weight") for one in recipes):
        yield ("weights_are",), "idle_without_weight"
    if not any(tables):
        yield ("labels",), "idle_of_posteriors"
    if not runs:
        yield OF_RUNS, "idle_of_runs"
    if not any(runs):
        yield ("choice_length",), "idle_of_log_likelihoods"
    if runs and all(runs) and not tables:  # runs of choices
        yield NOT_OF_CHOICES, "idle_of_tables"


def _have_posteriors(recipes: Iterable[Recipe]) -> list[bool]:
    return [one.form in FORMS_OF_POSTERIORS for one in recipes]


def _list_of(text: str | None) -> list[str]:
    """Return the parts of a text between commas; none of no text."""
    return [] if text is None else [part.strip() for part in text.split(",")]


@dataclass(frozen=True, slots=True)
class Said:
    """What a command line says of its files, and how they are read."""

    files: Sequence[str]
    flags: Sequence[Any]  # dataclasses of flags

    def next_step(self, command: str, *further: str, why: str) -> str:
        """Return the line of a command that reads the same in the same way, as far as its flags say so."""
        from .help import COMMANDS

        taken = COMMANDS[command].parameters().keys() - {*ADDING, "bins"}
        words = list(map(quoted, self.files))
        for record in self.flags:
            for name in filter(taken.__contains__, _names_set(record)):
                words += _words_of(name, getattr(record, name))
        if sum(map(len, words)) > LONGEST:
            words = ["FILES"]
        # what is said already is not said again
        line = " ".join(dict.fromkeys([*words, *further]))
        return f"next: ecuas {command} {line}  # {why}"


def _words_of(name: str, value: object) -> list[str]:
    """Return what a command line says for a flag and its value."""
    flag = flag_of(name)
    if value is True:
        return [flag]
    values = value if isinstance(value, list) else [value]
    texts = [f"{one:.12g}" if isinstance(one, float) else str(one) for one in values]
    return [f"{flag}{'=' if text.startswith('-') else ' '}{quoted(text)}" for text in texts]


def _names_set(flags: Any) -> Iterator[str]:
    """Yield the names of the flags that are not at their defaults."""
    for one in fields(flags):
        if getattr(flags, one.name) != one.default:
            yield one.name


def _require_tasks(tasks: Iterable[str], submissions: Iterable[Submission]) -> None:
    """Raise InputError if a task is asked for that no run has; where they are pooled, nothing says which there were."""
    parts = {f"{one.part}, " for one in submissions if one.recipe.format == "run"}
    for task in tasks:
        if not any(part.startswith(f"{task}, ") for part in parts):
            raise InputError("--tasks", "task_missing", value=task)


def _named(systems: Sequence[Submission], name: str | None) -> list[Submission]:
    """Return the systems of a file by the name that was given to the file, if one was."""
    if name is None:
        return list(systems)
    is_alone = len({one.of for one in systems}) == 1
    named = []
    for one in systems:
        of = name if is_alone else f"{name} {one.of}"
        part = one.part if len(systems) > 1 else ""
        named.append(replace(one, name=f"{of} {part}".rstrip(), of=of))
    return named


def _distinct(
    submissions: Sequence[Submission], stems: Sequence[str], *, has_parts: bool
) -> list[Submission]:
    """Return systems with distinct names, the parts of a single one by their own; FileError if two have the same.

    Names that are those of their files (`stems`) get folders or suffixes.
    """
    are_of_one = has_parts and len({one.of for one in submissions}) == 1
    short = [one.part or one.of if are_of_one else one.name for one in submissions]
    names = distinct_names(short, [one.file for one in submissions], stems)
    for name, shown, one in zip(names, short, submissions, strict=True):
        if names.count(name) > 1:
            raise FileError(one.file, "same_name_in_other_file", advice="name_files", name=shown)
    return [replace(one, name=name) for name, one in zip(names, submissions, strict=True)]

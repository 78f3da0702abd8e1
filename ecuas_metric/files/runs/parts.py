"""A part of a run: one model on one task, its samples as arrays; and what the readers of all tools share."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...errors import FileError, InputError, Note
from ...inputs import Array, Floats, Ints
from ..values import value_at

Fields = Mapping[str, Any]  # of JSON
Column = Array | Sequence[object]
Of = tuple[Path, str, str]  # a file, its model and its task
Answer = tuple[str, Fields, Fields]  # in words: an id, grades by metric, and the fields that can be named
T = TypeVar("T")
LENGTHS: dict[str, Callable[[str], int]] = {"chars": len, "bytes": lambda text: len(text.encode())}


class RunOptions(NamedTuple):
    """What a run leaves open."""

    tasks: Collection[str] | None = None  # None reads all
    filter: str | None = None  # of lm-eval, the scorer of Inspect or the metric of HELM, where there are several
    length: str = "none"  # or a key of `LENGTHS`: what log-likelihoods are divided by before they are compared
    confidence: str | None = None  # the dotted name of its field, as for weight and group
    weight: str | None = None
    group: str | None = None
    partial: bool = False  # whether to read runs that did not end

    @property
    def per_sample(self) -> dict[str, str]:
        """The fields that were named for weights and groups."""
        return {role: name for role, name in (("weight", self.weight), ("group", self.group)) if name}


class RunPart(NamedTuple):
    """One model on one task."""

    model: str
    task: str
    path: str
    rows: Ints  # (N,), where the samples are in the file, counted from 1
    columns: Mapping[str, Column]  # by role: log-posteriors (N, K) and labels, or confidences and correctness or nan
    note: Note  # what it was recognised as
    num_classes: int | None = None  # K of posteriors; those of differing K are different parts

    def table(self) -> tuple[dict[str, Column], dict[str, str]]:
        """Return the one-dimensional columns (N,) by name, and the name of each role's column for `submissions_of`."""
        columns = {role: values for role, values in self.columns.items() if role != "posteriors"}
        roles = {role: role for role in columns}
        if "posteriors" in self.columns:
            choices = {f"choice_{k}": values for k, values in enumerate(np.asarray(self.columns["posteriors"]).T)}
            columns, roles = columns | choices, roles | {"posteriors": "+".join(choices)}
        return columns, roles


class Reader(NamedTuple):
    """How the runs of a tool are found and read."""

    names: tuple[str, ...]  # patterns of the names of its files
    recognises: Callable[[Path], bool]  # a file of such a name by its content
    parts: Callable[[Sequence[Path], RunOptions], list[RunPart]]


def part_of(
    of: Of, rows: Ints, columns: Mapping[str, Column], facts: Sequence[Note], num_classes: int | None = None
) -> RunPart:
    """Return the part of a file, a model and a task, with a note on what it was recognised as and on weights."""
    file, model, task = of
    if "weight" in columns:
        total = np.asarray(columns["weight"]).sum()
        facts = [*facts, Note("run_weighted", {"count": len(rows), "sum": total})]
    note = Note("run", {"facts": "; ".join(map(str, facts))})
    return RunPart(model, task, str(file), rows, columns, note, num_classes)


def part_in_words(
    of: Of, rows: Ints, answers: Sequence[Answer], options: RunOptions, *, what: str, metrics: Sequence[str], rule: str
) -> RunPart:
    """Return the part of answers in words, by the first metric there is; `rule` is of those without confidence."""
    (file, _, task), name = of, options.confidence
    metric = next((one for one in metrics if one in answers[0][1]), None)
    if metric is None or name is None:
        raise FileError(file, rule if metric else "no_metric_of_right", advice="name_confidence_field")
    ids, grades, fields = zip(*answers, strict=True)
    columns: dict[str, Column] = {
        "id": list(ids),
        **named_columns(fields, options.per_sample, file, rows),
        "correct": [grade.get(metric) for grade in grades],
        "confidence": confidences_in([value_at(of, name) for of in fields], name, file, rows),
    }
    fact = Note("run_of_answers", {"what": what, "task": task, "count": len(answers), "metric": metric})
    return part_of(of, rows, columns, [fact])


def names_of(parts: Sequence[RunPart]) -> list[str]:
    """Return the names of the systems: the models', with the task and the number of choices where they differ."""
    many = len({part.task for part in parts}) > 1
    tasks = [f"{part.model} {part.task}".rstrip() for part in parts]
    return [
        f"{name}, {part.num_classes} choices" if tasks.count(name) > 1 else name if many else part.model
        for name, part in zip(tasks, parts, strict=True)
    ]


def pool_tasks(parts: Sequence[RunPart]) -> list[RunPart]:
    """Return one part per model: of all its tasks with the same number of choices, and of all others."""
    kinds = dict.fromkeys((part.model, part.num_classes) for part in parts)
    return [_pool([part for part in parts if (part.model, part.num_classes) == kind]) for kind in kinds]


def _pool(parts: Sequence[RunPart]) -> RunPart:
    first, *others = parts
    if not others:
        return first
    if len({"weight" in part.columns for part in parts}) > 1:
        raise FileError(first.path, "weights_in_some_tasks")
    tables = [_with_task(part, grouped=any("group" in one.columns for one in parts)) for part in parts]
    columns: dict[str, Column] = {}
    for role in [role for role in tables[0] if all(role in table for table in tables)]:
        arrays = [values for table in tables if isinstance(values := table[role], np.ndarray)]
        values = [value for table in tables for value in table[role]] if len(arrays) < len(tables) else []
        columns[role] = values or np.concatenate(arrays)
    count = sum(len(part.rows) for part in parts)
    choices = "" if first.num_classes is None else f" with {first.num_classes} choices"
    tasks = [part.task for part in parts]
    fact = Note("run_of_tasks", {"number": len(parts), "choices": choices, "count": count, "tasks": tasks})
    path = Path(os.path.commonpath([part.path for part in parts]))
    return part_of((path, first.model, ""), np.arange(1, count + 1), columns, [fact], first.num_classes)


def _with_task(part: RunPart, *, grouped: bool) -> dict[str, Column]:
    """Return the columns with the task before each id, group and stratum, so that models are paired by question."""
    columns = dict(part.columns)
    if grouped and "id" in columns:
        columns.setdefault("group", columns["id"])
    named = [role for role in ("id", "group", "stratum") if role in columns]
    return columns | {role: [f"{part.task} {text}" for text in columns[role]] for role in named}


def only(found: Iterable[str], wanted: str | None, path: object, what: str) -> str:
    """Return the requested one of several names, or the only one, or raise FileError."""
    names = list(dict.fromkeys(found))
    if wanted is not None and wanted not in names:
        got = f"{wanted!r}, not {', '.join(names)}"
        raise FileError(path, "not_in_run", value=wanted, got=got, what=what, wanted=wanted)
    if wanted is None and len(names) > 1:
        raise FileError(path, "several_in_run", got=", ".join(names), advice="name_filter", what=what)
    return wanted or names[0]


def files_in(place: Path, *patterns: str) -> list[Path]:
    """Return a file, or those below a folder in order, whose names fit one of the patterns."""
    found = place.rglob("*") if place.is_dir() else [place]
    return sorted(file for file in found if any(fnmatchcase(file.name, name) for name in patterns) and file.is_file())


def starts_with(file: Path, needed: Iterable[bytes], size: int = 20_000) -> bool:
    """Return whether the beginning of a file holds all of some texts."""
    with file.open("rb") as content:
        start = content.read(size)
    return all(part in start for part in needed)


def of_tasks(files: Sequence[Of], options: RunOptions) -> list[Of]:
    """Return the files of the requested tasks."""
    wanted = [one for one in files if options.tasks is None or one[2] in options.tasks]
    if not wanted:
        got = f"{', '.join(map(repr, options.tasks or ()))}, not {', '.join(sorted({task for *_, task in files}))}"
        raise FileError(files[0][0], "no_such_task", got=got)
    return wanted


def once(files: Sequence[Of]) -> Sequence[Of]:
    """Return the files; raise FileError if a model has two of a task."""
    seen: dict[tuple[str, str], Path] = {}
    for file, model, task in files:
        if (again := seen.setdefault((model, task), file)) != file:
            got = f"{again.name} and {file.name}" if again.name != file.name else f"{again.parent} and {file.parent}"
            raise FileError(file, "several_runs", got=got, advice="give_one_run", task=task, model=model)
    return files


def in_file(file: object, row: int, read: Callable[..., T], *values: object) -> T:
    """Return `read(*values)`; an error about a value becomes one about a row of the file."""
    try:
        return read(*values)
    except InputError as error:
        raise FileError(file, error.rule, row=row, value=error.value, advice=error.advice, **error.fields) from None


def true_choice(target: object, choices: Sequence[str]) -> int:
    """Return the choice that an index, a text that no other has, or a list of one of these names, or InputError."""
    named = target[0] if isinstance(target, (list, tuple)) and len(target) == 1 else target
    if isinstance(named, str) and choices.count(named) == 1:
        return choices.index(named)
    if isinstance(named, bool) or not isinstance(named, int) or not 0 <= named < len(choices):
        raise InputError("target", "no_one_right_choice", value=target)
    return int(named)


def log_posteriors(scores: Floats, file: object = "", rows: Ints | None = None) -> Floats:
    """Return log-likelihoods of choices, shape (N, K), which must be finite, as log-posteriors."""
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        rule = "log_likelihoods_not_finite"
        raise InputError("choices", rule, index=row) if rows is None else FileError(file, rule, row=int(rows[row]))
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


def without_nan(values: Iterable[object]) -> list[object]:
    """Return values with None for nan."""
    return [None if value != value else value for value in values]


def confidences_in(values: Iterable[object], name: str, file: object, rows: Ints) -> list[object]:
    """Return numbers or texts, None where there is none."""
    kept = without_nan(values)
    if all(value is None for value in kept):
        raise FileError(file, "no_field", name=name)
    for row, value in zip(rows.tolist(), kept, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float, str, type(None))):
            raise FileError(file, "no_numbers", column=name, row=row, value=value)
    return kept


def named_columns(samples: Sequence[Fields], names: Mapping[str, str], file: object, rows: Ints) -> dict[str, Column]:
    """Return weights as numbers, groups and strata as text, by the dotted name of each; every sample must have one."""
    columns: dict[str, Column] = {}
    for role, name in names.items():
        values = [value_at(sample, name) for sample in samples]
        for row, value in zip(rows.tolist(), values, strict=True):
            if value is None or (role == "weight" and not isinstance(value, (int, float))):
                rule = "no_value" if value is None else "no_numbers"
                raise FileError(file, rule, column=name, row=row, value=value)
        columns[role] = np.array(values, dtype=np.float64) if role == "weight" else list(map(str, values))
    return columns


def refuse_totals(path: Path) -> None:
    """Raise FileError if a file, or one in a folder, is a tool's results without samples."""
    for file in files_in(path, "*.json"):
        for tool, keys, advice in _TOTALS:
            if starts_with(file, keys, size=-1):
                raise FileError(file, "results_without_samples", advice=advice, tool=tool)


_TOTALS = (  # files of results: the tool, keys by which they are known, and what to do
    ("lm-eval", (b'"results"', b'"configs"', b'"n-shot"'), "log_samples"),
    ("lighteval", (b'"results"', b'"config_general"', b'"config_tasks"'), "save_details"),
    (
        "simple-evals",
        (b'"score"', b'"metrics"', b'"htmls"', b'"convos"'),
        "write_verdicts",
    ),
)

"""A run of an evaluation tool -> submissions, one for each model and task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import FileError
from ..read import is_address
from ..recipe import Reading
from ..submissions import Submission, make_submissions
from ..values import Sheet
from . import RUN_FIELDS, RunOptions, may_be_run
from .addresses import read_copy
from .parts import RunPart, names_of, pool_tasks, tell_apart

_RUN_PARTS = {
    "part": ("task", "question", "model"),
    "stratum": ("task",),
}  # what runs call these roles


def read_run(
    path: str | Path, reading: Reading, run: RunOptions | None = None
) -> list[Submission] | None:
    """Return the systems of a run, or None if it is none; see `read_submissions`."""
    if is_address(path):
        return read_copy(str(path), lambda place: read_run(place, reading, run))
    if not may_be_run(path):
        return None
    from .tools import read_parts

    own = {"id": "id", "group": "group"}  # what a recipe of a run has
    fields = {
        role: name
        for role, name in reading.columns.items()
        if role in RUN_FIELDS and own.get(role) != name
    }
    options = replace(run or RunOptions(), fields=fields)
    parts = read_parts(path, options)
    if parts is None:
        return None
    _refuse_columns_of_tables(path, reading)
    return _systems_of_run(parts, reading, options)


def _refuse_columns_of_tables(path: str | Path, reading: Reading) -> None:
    for system in reading.systems:
        raise FileError(path, "run_has_no_columns", value=system)
    for role, choices in _RUN_PARTS.items():
        name = reading.columns.get(role, choices[0])
        if name not in choices:
            raise FileError(path, "run_has_other_parts", value=name, got=repr(name))


def _systems_of_run(
    parts: Sequence[RunPart], reading: Reading, options: RunOptions
) -> list[Submission]:
    """Return the system of each part, or of the parts of each model if its tasks are pooled."""
    has_strata = "stratum" in reading.columns
    is_pooled = options.pools_tasks or has_strata or reading.columns.get("part") == "model"
    parts = pool_tasks(parts, as_strata=has_strata) if is_pooled else tell_apart(parts)
    systems = [
        submission_of(part, name, reading, options)
        for part, name in zip(parts, names_of(parts), strict=True)
    ]
    _require_roles(systems, reading.columns)
    is_whole = is_pooled and len({one.of for one in systems}) == len(systems)
    return [replace(one, part="") for one in systems] if is_whole else systems


def _require_roles(systems: Sequence[Submission], said: Mapping[str, str]) -> None:
    """Raise FileError if a role was said to be of another column than those of the run, or fields that were named."""
    for role in said.keys() - _RUN_PARTS.keys():
        columns = {"+".join(one.recipe.of(role)) for one in systems} - {""}
        if columns != {said[role]}:
            raise FileError(systems[0].file, "run_has_other_roles", role=role)


def submission_of(
    part: RunPart, name: str, reading: Reading, run: RunOptions | None = None
) -> Submission:
    """Return the system of a part of a run."""
    table, columns = part.table()
    reading = replace(reading, labels=None, columns=columns)
    if "correct" not in columns:
        reading = replace(reading, correct_from=None, right=None, scale=1)
    sheet = Sheet(table, part.rows, format="run")
    (submission,) = make_submissions(sheet, part.file, reading=reading)
    is_of_choices = submission.form == "posteriors"
    # the tasks of other parts say it, where there are several numbers
    choices = f"{part.num_classes} choices" if is_of_choices and part.cost is None else ""
    options = run or RunOptions()
    recipe = replace(
        submission.recipe,
        columns={**submission.recipe.columns, **options.columns_of({*columns, *part.fields_read})},
        unused=part.unused,
        head=0,
        tasks=part.task,
        filter=options.filter or "",
        length="" if options.length == "none" else options.length,
    )
    return replace(
        submission,
        name=name,
        notes=(*part.notes, *submission.notes),
        predictions_are=part.predictions_are if is_of_choices else None,
        num_classes=None if is_of_choices else part.num_classes,
        cost=part.cost,
        truth=part.truth,
        of=part.model,
        # several tasks that were pooled have no name
        part=", ".join(filter(None, (part.task, choices))),
        recipe=recipe,
    )

"""A file whose rows have no truth -> systems with a stand-in for it, of which only predictions may be used."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from ...errors import FileError, Way
from ...files.asking import ANY_NAME, ANY_NAMES, list_columns
from ...files.read import read_sheet
from ...files.recipe import Reading
from ...files.roles import ROLES_LACKING
from ...files.runs import RunOptions
from ...files.runs.submissions import read_run
from ...files.submissions import Submission, make_submissions
from ...files.values import Sheet, from_values

# notes that hold predictions against the truth
_OF_TRUTH = ("like_yes", "never_wrong", "of_other_class", "of_other_order", "labels_from_1")


def read_new_rows(path: str | Path, reading: Reading, run: RunOptions) -> list[Submission]:
    """Return the systems of a file whose rows have no truth, which stands in their place: 1, or each class in turn.

    A run is read as new. Nothing may be computed of the references. Labels that all rows have say what the classes are.
    """
    of_run = read_run(path, reading, run)
    if of_run is not None:
        return of_run
    sheet = read_sheet(path, **reading.of_file())
    said = replace(reading, correct_from=None, right=None)  # rules for what is not there
    errors: list[FileError] = []
    stand_ins: dict[str, Sequence[object]] = {
        "correct": [1],
        "label": reading.labels or [0, 1],
    }
    for role, values in stand_ins.items():
        try:
            return _with_stand_in(sheet, path, role, values, said)
        except FileError as error:
            if error.rule == "not_among_classes" and not reading.labels:  # mappings name theirs
                return _with_stand_in(sheet, path, role, error.fields["classes"], said)
            if error.rule not in ROLES_LACKING:
                errors.append(error)
    listed = list_columns(sheet.table)
    ways = [
        Way("how sure each answer is", {"confidence": ANY_NAME}),
        Way("the probability of each class", {"posteriors": ANY_NAMES}, {"labels": ["A", "B"]}),
        Way("columns that are named after the classes", {}, {"labels": ["A", "B"]}),
    ]
    errors.append(FileError(path, "no_predictions", listed=listed, ways=ways))
    raise errors[0]


def _with_stand_in(
    sheet: Sheet, path: str | Path, role: str, values: Sequence[object], reading: Reading
) -> list[Submission]:
    """Return the systems of rows, the truth of which is values, in turn; labels that all rows have are kept."""
    name = reading.columns.get(role, role)
    is_there = name in sheet.names
    if role == "label" and is_there and not sheet.table[name].null_count:
        return make_submissions(sheet, path, reading=reading)
    in_turn = from_values(list(islice(cycle(values), len(sheet.rows))))
    kept = [column for column in sheet.names if column != name]
    table = sheet.table.select(kept).append_column(name, in_turn)
    replaced = ((name, "the truth"),) if is_there else ()
    systems = []
    for one in make_submissions(replace(sheet, table=table), path, reading=reading):
        unused = (*replaced, *one.recipe.without([name]).unused)
        notes = tuple(note for note in one.notes if note.id not in _OF_TRUTH)
        systems.append(replace(one, recipe=replace(one.recipe, unused=unused), notes=notes))
    return systems

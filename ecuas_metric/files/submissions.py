"""A file of confidences or posteriors -> submissions, one per system, by the recipe of its columns."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..basis import numbers_of_texts
from ..errors import UNLABELLED, FileError, InputError, Note, Way, fields_of_unlabelled
from ..inputs import (
    Array,
    Bools,
    Floats,
    Ints,
    confidences,
    note_hard,
    numbers,
    picked,
    posteriors,
    stacked,
)
from ..options import check_number
from ..results import note_first_class
from .abstentions import abstained_in, with_abstentions
from .asking import list_columns
from .cells import (
    classes_of,
    columns_in,
    numbers_in,
    parse_cells,
    row_of_numbers,
    said_words,
    texts_of_names,
    truths_in,
)
from .checks import (
    MAX_SYSTEMS,
    check_confidences,
    check_grades,
    check_rows,
    do_recur,
    note_other_class,
    note_separated,
    refuse_positive,
    refuse_two_scales,
    refuse_without_id,
    scale_marks,
)
from .read import read_sheet, stem
from .recipe import (
    LOGARITHMS,
    OF_FILES,
    ColumnNames,
    Reading,
    Recipe,
    complement_of,
    limits_of,
    name_of,
    on_unit_scale,
)
from .roles import resolve, with_nested
from .runs import RUN_FIELDS, RunOptions, may_be_run
from .values import (
    Sheet,
    as_ids,
    encode,
    first_of,
    floats_in,
    from_texts,
    from_values,
    is_in,
    is_numeric,
    join_texts,
    lists_in,
    nulls_in,
    positions_in,
    texts_in,
)

if TYPE_CHECKING:
    from .runs.parts import RunPart

OPTION_OF_ROLE = {"weight": "sample_weight", "group": "groups", "stratum": "strata"}
_PARTLY = {  # what reading a file can do
    "count_from_0": "pass_labels",
    "choose_lowest_grade": "set_correct_from",
    "divide_by_100": "set_scale_100",
    "name_scale": "set_scale",
    "exponentiate": "set_scale_log",
}
_RUN_PARTS = {"part": ("task", "model"), "stratum": ("task",)}  # what runs call these roles
_JOINT = " | "  # between the parts of an id
_CLASSES_SHOWN = 5
_WHOLE_NUMBER = re.compile(r"[$€£]? ?(\d{1,3}(?:,\d{3})+|\d+)(?:\.0*)?")
_MOST_CLASSES_SHOWN = 20
_TRIED = 1000  # rows that a way to read a file is tried on, before it is printed
_TO_BE_TRIED = ("roles_missing", "one_role_missing")  # rules of errors with ways by types alone
_ASKED_NEXT = ("two_codes", "neither_word")  # rules of errors that have ways of their own
MEANING = {  # the rule for unlabelled answers -> the advice on what it does to the numbers
    "bounds": "unlabelled_bounded",
    "wrong": "unlabelled_are_wrong",
    "drop": "unlabelled_dropped",
}
RULES = tuple(MEANING)


@dataclass(frozen=True, slots=True, eq=False)
class Unlabelled:
    """The answers of a submission of which something is unknown: whether they are correct, or their confidence."""

    rule: str  # a key of `MEANING`
    rows: Bools  # (N,), true for answers without a label; none where they were dropped
    share: float  # of the (weighted) answers, before any were dropped
    # (N,), true for answers without a confidence, where these are bounded
    missing: Bools | None = None

    def note(self, count: int, total: int) -> Note:
        """Return what a reader must know: how many there are, and what the rule does to the numbers."""
        fields = fields_of_unlabelled(count, total, self.share)
        return Note(UNLABELLED, fields, MEANING[self.rule])


def unlabelled_among(is_open: Bools, weight: Floats, rule: str) -> Unlabelled | None:
    """Return what is unlabelled of answers (N,) of these weights (N,), and the rule for it; None if nothing is."""
    if not is_open.any():
        return None
    total = weight.sum()
    share = weight[is_open].sum() / total if total > 0 else is_open.mean()
    left = is_open if rule != "drop" else np.zeros(np.count_nonzero(~is_open), np.bool_)
    return Unlabelled(rule, left, float(share))


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """The output of one system, as a file has it."""

    name: str
    recipe: Recipe  # how the file became these arrays
    rows: Ints  # (N,), the number of each row in the file
    predictions: Array  # (N,) or (N, K), checked by `inputs`, except for what depends on options
    references: Array  # (N,), 0 where unlabelled
    # whole numbers or text, which pair its samples with those of other systems
    ids: pa.Array | None = None
    per_sample: Mapping[str, list[object]] = field(default_factory=dict)  # by the metric's option
    notes: tuple[Note, ...] = ()
    predictions_are: str | None = None  # of a run: log-probabilities
    unlabelled: Unlabelled | None = None
    of: str = ""  # the system that this is a part of: of a column of parts, or a task of a run
    part: str = ""
    num_classes: int | None = None  # that a confidence in one of them refers to; None for free text
    cost: str | Floats | None = None  # where mistakes do not all cost the same
    truth: Floats | None = None  # (N,), numbers for the true ones of these classes
    population: str = ""  # which of the questions of the file these are, if not all

    def of_rows(self, rows: Ints) -> Submission:
        """Return these of its rows alone, by their place; what is unlabelled is counted among them."""
        per_sample = {
            option: [values[row] for row in rows] for option, values in self.per_sample.items()
        }
        part = replace(
            self,
            predictions=self.predictions[rows],
            references=self.references[rows],
            ids=None if self.ids is None else self.ids.take(pa.array(rows)),
            per_sample=per_sample,
            rows=self.rows[rows],
            truth=picked(self.truth, rows),
        )
        if (
            self.unlabelled is None or self.unlabelled.rule == "drop"
        ):  # these are counted in the file
            return part
        each = np.ones(len(rows))
        weight = np.array(per_sample.get("sample_weight", each), dtype=np.float64)
        is_open = self.unlabelled.rows[rows]
        unlabelled = unlabelled_among(is_open, weight, self.unlabelled.rule)
        notes = [note for note in self.notes if note.id != UNLABELLED]
        if unlabelled is not None:
            notes.append(unlabelled.note(int(np.count_nonzero(is_open)), len(rows)))
        return replace(part, unlabelled=unlabelled, notes=tuple(notes))

    @property
    def form(self) -> str:
        """Confidences or posteriors."""
        return "confidences" if self.predictions.ndim == 1 else "posteriors"

    @property
    def file(self) -> str:
        """The file as errors call it."""
        return self.recipe.source


def located(
    error: InputError,
    recipe: Recipe,
    file: str,
    rows: Ints,
) -> FileError:
    """Return an error of the metric with file, column and row (N,), as far as known; one of a file as it is."""
    if isinstance(error, FileError):
        return error
    columns = {"predictions": name_of(recipe.predictions), "references": recipe.truth}
    for role, option in {**OPTION_OF_ROLE, "id": "ids", "count": "count", "wrong": "wrong"}.items():
        columns[option] = "+".join(recipe.of(role))
    column = columns.get(error.argument) or None
    row = None
    if column is not None and error.index is not None:
        place = error.index if isinstance(error.index, int) else error.index[0]
        row = int(rows[place])
    file_error = FileError(file, error.rule, column=column, row=row)
    vars(file_error).update(vars(error))
    file_error.advice = _PARTLY.get(error.advice, error.advice)
    return file_error


def read_submissions(
    path: str | Path,
    *,
    columns: ColumnNames | None = None,
    unlabelled: str | None = None,
    labels: Sequence[str] | None = None,
    run: RunOptions | None = None,
    correct_from: float | None = None,
    scale: float | str = 1,
    right: str | None = None,
    abstained: str | None = None,
    predictions_are: str | None = None,
    recipe: Recipe | None = None,
) -> list[Submission]:
    """Read the systems of a file, or of a run of lm-eval, lighteval or Inspect.

    Parameters
    ----------
    path : path
        CSV with commas, semicolons (decimal commas too) or tabs, JSON lines, JSON, Parquet, Arrow, .npz or Excel;
        also compressed by gzip, zstd or zip, at an address that fsspec knows, or ``-`` for standard input. A run is a
        file or a folder, and recognised by its content.
    columns : mapping, optional
        The role of a column (a key of `NAMES`) to its name in the file, where that is not one of the role's own: a
        dotted name for what is nested, ``1-NAME`` for the complement. Several are joined by ``+``: parts of an id or
        of the name of a system, or the posteriors of all classes. Of systems side by side in the columns of one table,
        the name of each to its own columns by role: ``{"a": {"confidence": "conf_a", "correct": "ok_a"}, "b": ..}``.
    unlabelled : {"bounds", "wrong", "drop"}, optional
        How to treat answers whose correctness is missing, instead of raising an error: `make_report` bounds what
        depends on them, they count as wrong, or they are left out, which flatters nearly every system.
    labels : sequence of str, optional
        The names of all classes, in the order of the posteriors; of two, the second is that of a column ``prob``.
    run : RunOptions, optional
        What a run leaves open: tasks, filter, the lengths that log-likelihoods are divided by.
    correct_from : float, optional
        Answers with this grade or a higher one are correct, others not; by default only 0 and 1 are taken.
    scale : float or str
        What confidences or probabilities of 1 are in the file, e.g. 100 for percentages without a sign; "1:5" for a
        rating that is 1 for 0 and 5 for 1; "log" for log-probabilities.
    right : str, optional
        The word or number for a correct answer, or that and those for wrong ones: "1/2" or "A/B,C".
    abstained : str, optional
        The word that stands in place of an answer, in the column of correctness or of the predicted class, where it may
        be empty: such a row costs what rejecting costs.
    predictions_are : str, optional
        As for `compute`: "logits" in one column are margins, as of a `decision_function`.
    recipe : Recipe, optional
        How another file was read, instead of all of these but what is given beside it.

    Returns
    -------
    list of Submission
        One for each model and task of a run; of another file one, named after it, or one for each value of the column
        of systems.

    Raises
    ------
    InputError
        If `columns` has an unknown role, or `unlabelled` is no rule.
    FileError
        Names file, row and column of what cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.json")
    >>> _ = path.write_text('[{"confidence": 0.9, "correct": 1}, {"confidence": 0.4, "correct": 0}]')
    >>> [submission] = read_submissions(path)
    >>> submission.name, submission.form, submission.predictions.tolist()
    ('model', 'confidences', [0.9, 0.4])
    """
    if not isinstance(path, str | Path):
        raise InputError("path", "not_one_file", value=path, advice="read_each")
    said = Reading(
        unlabelled, labels, correct_from, scale, predictions_are, right, abstained
    ).with_columns(columns or {})
    reading = said if recipe is None else recipe.reading().changed(said)
    of_run = read_run(path, reading, run)
    return read_tables(path, reading) if of_run is None else of_run


def read_tables(path: str | Path, reading: Reading) -> list[Submission]:
    """Return the systems of a file that is no run."""
    sheet = read_sheet(path, **reading.of_file())
    try:
        return submissions_of(sheet, path, reading=reading)
    except FileError as error:
        if error.rule in _TO_BE_TRIED:
            error.ways = tuple(way for way in error.ways if _is_read_so(sheet, way, reading))
        raise


def _is_read_so(sheet: Sheet, way: Way, reading: Reading) -> bool:
    """Return whether the first rows are not refused if they are read in a way, as far as it says that."""
    names = {part for name in way.columns.values() for part in name.split("+")}
    if reading.systems or names & {"NAME", "A"} or way.columns.keys() & set(OF_FILES):
        return True
    said = replace(Reading(), **dict[str, Any](way.options)).with_columns(way.columns)
    whole = reading.changed(replace(said, columns={**reading.columns, **said.columns}))
    try:
        submissions_of(sheet.head(_TRIED), sheet.source or "head", reading=whole)
    except FileError as error:
        return error.rule in _ASKED_NEXT
    except InputError:
        return False
    return True


def read_new_rows(
    path: str | Path,
    *,
    reading: Reading,
) -> list[Submission]:
    """Return the systems of a file whose rows have no truth, which stands in their place: 1, or each class in turn.

    Nothing may be computed of the references. Labels that all rows have say what the classes are.
    """
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
            if error.rule not in ("one_role_missing", "roles_missing"):
                errors.append(error)
    listed = list_columns(sheet.table)
    ways = [
        Way("how sure each answer is", {"confidence": "NAME"}),
        Way("the probability of each class", {"posteriors": "A+B"}, {"labels": ["A", "B"]}),
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
        return submissions_of(sheet, path, reading=reading)
    in_turn = from_values(list(islice(cycle(values), len(sheet.rows))))
    kept = [column for column in sheet.names if column != name]
    table = sheet.table.select(kept).append_column(name, in_turn)
    replaced = ((name, "the truth"),) if is_there else ()
    systems = []
    for one in submissions_of(replace(sheet, table=table), path, reading=reading):
        unused = (*replaced, *one.recipe.without([name]).unused)
        systems.append(replace(one, recipe=replace(one.recipe, unused=unused)))
    return systems


def read_run(
    path: str | Path, reading: Reading, run: RunOptions | None = None
) -> list[Submission] | None:
    """Return the systems of a run, or None if it is none; see `read_submissions`."""
    if not may_be_run(path):
        return None
    from .runs.tools import read_parts

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
    for system in reading.systems:
        raise FileError(path, "run_has_no_columns", value=system)
    for role, choices in _RUN_PARTS.items():
        name = reading.columns.get(role, choices[0])
        if name not in choices:
            raise FileError(path, "run_has_other_parts", value=name, got=repr(name))
    return _systems_of_run(parts, reading, options)


def _systems_of_run(
    parts: Sequence[RunPart], reading: Reading, options: RunOptions
) -> list[Submission]:
    """Return the system of each part, or of the parts of each model if its tasks are pooled."""
    from .runs.parts import names_of, pool_tasks, tell_apart

    has_strata = "stratum" in reading.columns
    is_pooled = has_strata or reading.columns.get("part") == "model"
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
    (submission,) = submissions_of(sheet, part.file, reading=reading)
    is_of_choices = submission.form == "posteriors"
    choices = "" if part.num_classes is None else f"{part.num_classes} choices"
    options = run or RunOptions()
    named = {role: (name,) for role, name in options.fields.items() if role in columns}
    recipe = replace(
        submission.recipe,
        columns={**submission.recipe.columns, **named},
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
        of=part.model,
        # several tasks that were pooled have no name
        part=", ".join(filter(None, (part.task, choices))),
        recipe=recipe,
    )


def submissions_of(
    sheet: Sheet,
    path: str | Path,
    *,
    reading: Reading,
) -> list[Submission]:
    """Return the systems of a sheet of `read_sheet`; `path` names a single one, see `read_submissions`."""
    if reading.unlabelled not in (None, *RULES):
        raise InputError(
            "unlabelled", "not_a_choice", value=reading.unlabelled, choices=list(RULES)
        )
    if not len(sheet.rows):
        raise FileError(path, "no_rows" if sheet.format else "file_empty")
    check_numbers(reading.scale, reading.correct_from)
    sheet = replace(sheet, source=str(path))
    if reading.systems:
        return _side_by_side(sheet, reading)
    sheet = _nested(sheet, reading)
    recipe = recipe_of(sheet, reading, rows=len(sheet.rows))
    return list(_submissions(with_abstentions(sheet, recipe), recipe, reading))


def _side_by_side(sheet: Sheet, reading: Reading) -> list[Submission]:
    """Return the systems in the columns of one table; what one of them uses is not unused by another."""
    read = []
    for system, columns in reading.systems.items():
        one = reading.with_columns({**reading.columns, **columns})
        rows = _nested(sheet, one)
        read.append((system, rows, one, resolve(rows, one, rows=len(rows.rows))))
    used = {name for *_, recipe in read for names in recipe.columns.values() for name in names}
    submissions: list[Submission] = []
    for system, rows, one, recipe in read:
        rows = with_abstentions(rows, recipe)
        checked_recipe = _checked_recipe(rows, recipe.without(used), one)
        submissions += _submissions(rows, replace(checked_recipe, system=system), one)
    return submissions


def recipe_of(sheet: Sheet, reading: Reading, *, rows: int) -> Recipe:
    """Return how `rows` rows are read, by those of a sheet, all or the first; FileError if these contradict it."""
    recipe = resolve(sheet, reading, rows=rows)
    return _checked_recipe(with_abstentions(sheet, recipe), recipe, reading)


def _checked_recipe(sheet: Sheet, recipe: Recipe, reading: Reading) -> Recipe:
    """Return a recipe with both words of correctness, one pair for all systems, and with notes on the rows."""
    if recipe.right is not None:
        column = sheet.stored(recipe.truth)
        is_whole = len(sheet.rows) == recipe.rows
        recipe = replace(recipe, right=said_words(sheet, column, recipe.right, is_whole=is_whole))
    return replace(recipe, notes=check_rows(sheet, recipe, reading))


def _nested(sheet: Sheet, reading: Reading) -> Sheet:
    """Return a sheet with the columns in nested cells that are named."""
    return replace(sheet, table=with_nested(sheet.table, reading.columns))


def _submissions(sheet: Sheet, recipe: Recipe, reading: Reading) -> Iterator[Submission]:
    """Yield the systems of rows that are read by a recipe, which may be of one of several side by side."""
    columns = [column for column in recipe.systems if column not in recipe.parts]
    for name, rows in _split(sheet, columns):
        of = " ".join(filter(None, [recipe.system, name])) or stem(sheet.source)
        for part, rows_of_part in _split(rows, recipe.parts):
            try:
                submission = _submission(rows_of_part, recipe, reading)
            except FileError as error:
                if error.column == recipe.truth and recipe.form == "confidences":
                    truth_in(sheet, recipe)  # of all systems, if their verdicts are refused too
                raise
            yield replace(
                submission,
                name=f"{of} {part}" if part else of,
                of=of,
                part=part,
                notes=(*recipe.notes, *submission.notes),
            )


def check_numbers(scale: float | str, correct_from: float | None) -> None:
    """Raise InputError unless a scale is positive and finite, and a grade finite."""
    low, high = limits_of(scale)
    check_number(high - low, "scale", 0, math.inf, inside=True)
    if correct_from is not None:
        check_number(correct_from, "correct_from", -math.inf, math.inf, inside=True)


def systems_in(
    sheet: Sheet,
    names: Sequence[str],
) -> tuple[list[str], Ints]:
    """Return the systems that columns name, and which of them each row (N,) is of."""
    for name in names:
        texts = texts_in(sheet.column(name))
        blank = nulls_in(texts) | is_in(texts, [""])
        if blank.any():
            raise sheet.error(name, "no_name_of_system", blank)
    systems, codes = encode(join_texts([sheet.column(name) for name in names], " "))
    if len(systems) > MAX_SYSTEMS:
        count = len(systems)
        raise sheet.error(
            "+".join(names), "too_many_systems", value=count, got=f"{count:,}", most=MAX_SYSTEMS
        )
    return list(map(str, systems)), codes


def _split(sheet: Sheet, names: Sequence[str]) -> list[tuple[str, Sheet]]:
    """Return the rows by what columns name, or all without a name."""
    if not names:
        return [("", sheet)]
    systems, codes = systems_in(sheet, names)
    if len(systems) == 1:
        return [(systems[0], sheet)]
    return [(system, sheet.select(codes == code)) for code, system in enumerate(systems)]


def _submission(sheet: Sheet, recipe: Recipe, reading: Reading) -> Submission:
    """Return the system that all rows are of, without a name."""
    if recipe.form in ("costs", "counts"):
        advice = "score_out_of_core" if sheet.format == "parquet" else "convert_to_parquet"
        raise FileError(sheet.source, "read_out_of_core_only", form=recipe.form, advice=advice)
    num_classes = None
    true_classes = None
    notes: tuple[Note, ...] = ()
    if recipe.form == "predicted":
        truth, num_classes, true_classes = _hits(sheet, recipe)
    else:
        truth = truth_in(sheet, recipe)
    is_open = np.isnan(truth)
    unlabelled = _unlabelled_in(sheet, is_open, recipe)
    if unlabelled is not None:
        notes += (unlabelled.note(int(np.count_nonzero(is_open)), len(truth)),)
        if unlabelled.rule == "drop":
            sheet = sheet.select(~is_open)
            truth = truth[~is_open]
            true_classes = picked(true_classes, ~is_open)
    elif recipe.unlabelled == "bounds":
        recipe = replace(recipe, unlabelled=None)
    truth = truth if unlabelled is None else np.nan_to_num(truth)
    predictions, references = _arrays_of(
        sheet, truth, recipe, predictions_are=reading.predictions_are
    )
    is_margin = recipe.form == "positive" and reading.predictions_are == "logits"
    return Submission(
        name="",
        recipe=recipe,
        rows=sheet.rows,
        predictions=predictions,
        references=references,
        ids=_ids_in(sheet, recipe),
        per_sample=_per_sample(sheet, recipe),
        notes=(
            *notes,
            *_notes_on(predictions, references, recipe, num_classes),
        ),
        predictions_are="logits" if is_margin else None,
        unlabelled=unlabelled,
        num_classes=num_classes,
        truth=true_classes,
    )


def _arrays_of(
    sheet: Sheet, truth: Floats, recipe: Recipe, *, predictions_are: str | None
) -> tuple[Array, Array]:
    """Return predictions and references as the metric takes them; FileError with the place of what it does not take."""
    values = values_in(sheet, recipe)
    try:
        if recipe.scale != 1:
            marks = scale_marks(numbers(values, "predictions"))
            refuse_two_scales(marks.sum(axis=1), recipe, sheet.source)
        return checked(values, truth, sheet, recipe, predictions_are=predictions_are)
    except InputError as error:
        raise located(error, recipe, sheet.source, sheet.rows) from None


def _notes_on(
    predictions: Array, references: Ints, recipe: Recipe, num_classes: int | None
) -> tuple[Note, ...]:
    """Return notes on predictions, and on their classes, if there are `num_classes`, or they have columns."""
    total = len(references)
    if predictions.ndim == 1:
        notes = note_separated(predictions, references)
        if num_classes is None:
            return notes
        wrong = int(total - references.sum())
        return notes + note_other_class(wrong, total, recipe, num_classes)
    occurs = np.bincount(references, minlength=predictions.shape[1]) > 0
    wrong = int(np.count_nonzero(predictions.argmax(axis=1) != references))
    return (
        *note_first_class(occurs),
        *note_hard(predictions, "probabilities"),
        *note_other_class(wrong, total, recipe, predictions.shape[1]),
    )


def _ids_in(sheet: Sheet, recipe: Recipe) -> pa.Array | None:
    """Return the ids (N,) of rows, or None if no column has them; FileError about rows without one."""
    names = recipe.of("id")
    for name in names:
        refuse_without_id(sheet, name)
    return as_ids(_joined(sheet, names)) if names else None


def _joined(sheet: Sheet, names: Sequence[str]) -> pa.Array:
    """Return a column, or the text of several joined."""
    if len(names) == 1:
        return sheet.column(names[0])
    return join_texts([sheet.column(name) for name in names], _JOINT)


def _per_sample(
    sheet: Sheet,
    recipe: Recipe,
) -> dict[str, list[object]]:
    """Return weights, groups, strata and abstentions by the metric's option."""
    columns: dict[str, list[object]] = {}
    for role, option in OPTION_OF_ROLE.items():
        names = recipe.of(role)
        if role == "weight" and names:
            columns[option] = numbers_in(sheet, names[0]).tolist()
        elif names:
            columns[option] = _joined(sheet, names).to_pylist()
    abstained = abstained_in(sheet)
    if abstained is not None:
        columns["abstained"] = abstained.tolist()
    return columns


def values_in(sheet: Sheet, recipe: Recipe) -> Array | list[object]:
    """Return the numbers of one column or of several, in cells or in lists within them, in the order of classes."""
    names = recipe.predictions
    if recipe.form == "posteriors" and len(names) == 1:
        return _lists_of(sheet, names[0], recipe.classes or ())
    if recipe.scale in LOGARITHMS and any(map(complement_of, names)):
        raise sheet.error(names[0], "complement_of_logarithms")
    whole = sum(limits_of(recipe.scale))
    columns = columns_in(sheet, names, share=recipe.scale == 1, whole=whole)
    return columns if len(names) > 1 else columns.ravel()


def _lists_of(sheet: Sheet, name: str, classes: Sequence[str]) -> Array | list[object]:
    """Return the lists of numbers in the cells of a column, or those of mappings in the order of the classes."""
    cells = sheet.column(name)
    missing = nulls_in(cells)
    if missing.any():
        raise sheet.error(name, "no_value", missing)
    lists = lists_in(cells)
    if lists is not None:
        return lists
    values = cells.to_pylist()
    if classes_of(values[0]) is None:
        return list(map(row_of_numbers, values))
    return _numbers_by_class(sheet, name, values, classes)


def _numbers_by_class(
    sheet: Sheet, name: str, cells: Sequence[object], classes: Sequence[str]
) -> list[object]:
    """Return the numbers of mappings (N,) in the order of the classes."""
    known = set(classes)
    rows: list[object] = []
    for number, cell in zip(sheet.rows.tolist(), cells, strict=True):
        by_class = classes_of(cell) or {}
        others = by_class.keys() ^ known
        if others:
            fields: dict[str, Any] = {
                "classes": list(classes[:_MOST_CLASSES_SHOWN]),
                "others": sorted(others)[:_CLASSES_SHOWN],
            }
            raise sheet.error(name, "classes_differ_between_rows", row=number, **fields)
        rows.append(row_of_numbers([by_class[one] for one in classes]))
    return rows


def checked(
    values: Array | list[object],
    truth: Floats,
    sheet: Sheet,
    recipe: Recipe,
    *,
    predictions_are: str | None = None,
) -> tuple[Array, Array]:
    """Return predictions and references as the metric takes them; or raise InputError."""
    array = numbers(values, "predictions")
    is_margin = recipe.form == "positive" and predictions_are == "logits"
    if array.ndim == 1 and not is_margin and recipe.form != "posteriors":
        check_confidences(sheet, recipe, array)
    if recipe.scale != 1:
        values = on_unit_scale(array, recipe.scale)
    if recipe.form == "posteriors":
        return posteriors(values, truth)
    if is_margin:
        margins = array.astype(np.float64)
        return posteriors(np.stack([np.zeros(len(margins)), margins], axis=1), truth)
    if recipe.form == "positive":
        of_class_1, _ = confidences(values, np.zeros(len(values)))
        return posteriors(stacked(of_class_1), truth)
    return confidences(values, truth)


def truth_in(sheet: Sheet, recipe: Recipe) -> Floats:
    """Return correctness or the numbers of the true classes (N,), NaN where there is none."""
    if recipe.form in ("posteriors", "positive"):
        return _labels_in(sheet, recipe)
    grades = truths_in(sheet, recipe.truth, recipe.right)
    check_grades(sheet, recipe, grades)
    if recipe.correct_from is None:
        return grades
    return np.where(np.isnan(grades), np.nan, grades >= recipe.correct_from)


def _labels_in(sheet: Sheet, recipe: Recipe) -> Floats:
    """Return the numbers of the true classes (N,), NaN where missing."""
    name = recipe.truth
    if recipe.classes is None:
        labels = parse_cells(sheet.column(name))
        if not is_numeric(labels.type):
            raise _unnumbered(sheet, recipe, _classes_in(texts_in(labels)))
        return numbers_in(sheet, name)
    texts = texts_of_names(sheet.column(name), recipe.classes)
    numbers_of_classes = positions_in(texts, from_texts(recipe.classes))
    missing = nulls_in(texts)
    wrong = (numbers_of_classes < 0) & ~missing
    if wrong.any():
        are_lists = recipe.form == "posteriors" and len(recipe.predictions) == 1
        advice = "" if are_lists else "pass_labels"
        classes = list(recipe.classes[:20])
        raise sheet.error(name, "not_among_classes", wrong, advice=advice, classes=classes)
    return np.where(missing, np.nan, numbers_of_classes)


def _unnumbered(sheet: Sheet, recipe: Recipe, classes: Sequence[str]) -> FileError:
    """Return the error about labels that are names of classes; of two, one column has the probability of either."""
    got = ", ".join(classes[:_CLASSES_SHOWN])
    ways = []
    if recipe.form == "positive" and len(classes) == 2:
        share = recipe.predictions[0]
        ways = [
            Way(f"{share}: the probability of {high}", {}, {"labels": [low, high]})
            for low, high in (sorted(classes), sorted(classes, reverse=True))
        ]
    advice = "" if ways else "pass_labels"
    return sheet.error(recipe.truth, "labels_are_text", got=got, advice=advice, ways=ways)


def _hits(
    sheet: Sheet,
    recipe: Recipe,
) -> tuple[Floats, int | None, Floats | None]:
    """Return 1 where the predicted class is the true one, else 0, nan without a true one.

    Of classes that recur also how many there are, and numbers for the true ones (N,).
    """
    label = recipe.truth
    (name,) = recipe.of("predicted")
    predicted = texts_of_names(sheet.column(name), _classes_in(texts_in(sheet.column(label))))
    true = texts_of_names(sheet.column(label), _classes_in(texts_in(sheet.column(name))))
    if predicted.null_count:
        raise sheet.error_of_rows(name, "no_value", nulls_in(predicted), advice="say_abstained")
    known = _classes_in(predicted)
    classes = {*known, *_classes_in(true)}
    if len(set(map(_plain_name, classes))) < len(classes):
        raise sheet.error(label, "classes_differ_in_case", other=name, advice="write_in_one_case")
    if not is_in(true, known).any():
        first = first_of(sheet.table[label])
        some = known[:_CLASSES_SHOWN]
        raise sheet.error(label, "no_common_class", value=first, other=name, classes=some)
    if recipe.scale == 1 and len(classes) == 2:
        confidence = recipe.predictions[0]
        values = numbers_in(sheet, confidence, share=True)
        refuse_positive(sheet, confidence, predicted, values, label)
    hits = floats_in(pc.equal(predicted, true))
    if not do_recur(len(classes), len(hits)):
        return hits, None, None
    names, codes = encode(true)
    numbers_of_names = numbers_of_texts([*map(_plain_name, map(str, names)), ""])
    return hits, len(classes), numbers_of_names[codes]


def _classes_in(texts: pa.Array) -> list[str]:
    return list(map(str, encode(texts)[0]))


def _plain_name(text: str) -> str:
    """Return a class without what a reader does not see: case, kinds of spaces and quotes, forms of letters.

    A whole number is without a currency, commas between thousands, and zeros after the point.
    """
    name = unicodedata.normalize("NFKC", text).casefold()
    name = " ".join(name.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    number = _WHOLE_NUMBER.fullmatch(name)
    return name if number is None else number[1].replace(",", "")


def _unlabelled_in(sheet: Sheet, rows: Bools, recipe: Recipe) -> Unlabelled | None:
    """Return the unlabelled answers, by the rows (N,) that are, and the rule for them."""
    if not rows.any():
        return None
    if rows.all():
        raise sheet.error(recipe.truth, "no_value_at_all")
    rule = recipe.unlabelled
    has_classes = recipe.form in ("posteriors", "positive")
    if rule is None or (has_classes and rule != "drop"):
        advice = "label_or_drop" if has_classes else "label_or_bound"
        raise sheet.error(recipe.truth, "no_value", rows, advice=advice)
    weights = [numbers_in(sheet, name) for name in recipe.of("weight")]
    weight = weights[0] if weights else np.ones(len(rows))
    return unlabelled_among(rows, weight, rule)

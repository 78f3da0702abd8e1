"""A sheet of confidences or posteriors -> submissions, one per system, by the recipe of its columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..errors import UNLABELLED, FileError, InputError, Note, fields_of_unlabelled
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
from .arrays import abstained_in, class_numbers, hits_in, values_in, with_abstentions
from .cells import (
    numbers_in,
    said_words,
    truths_in,
)
from .checks import (
    MAX_SYSTEMS,
    check_confidences,
    check_grades,
    check_rows,
    note_of_yes,
    note_other_class,
    note_separated,
    refuse_two_scales,
    scale_marks,
)
from .read import stem
from .recipe import (
    Reading,
    Recipe,
    limits_of,
    name_of,
    on_unit_scale,
)
from .roles import resolve, with_nested
from .values import (
    Sheet,
    as_ids,
    encode,
    is_in,
    join_texts,
    nulls_in,
    texts_in,
)

OPTION_OF_ROLE = {
    "weight": "sample_weight",
    "group": "groups",
    "stratum": "strata",
    "judge": "judge",
    "audit_probability": "audit_probability",
}
_OF_NAMES = ("group", "stratum")
_PARTLY = {  # what reading a file can do
    "count_from_0": "pass_labels",
    "choose_lowest_grade": "set_correct_from",
    "divide_by_100": "set_scale_100",
    "name_scale": "set_scale",
    "exponentiate": "set_scale_log",
}
_JOINT = " | "  # between the parts of an id
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
    """The output of one system, as a file or a frame has it.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecuas_metric import read_submissions
    >>> [submission] = read_submissions(pd.DataFrame({"confidence": [0.9, 0.4], "correct": [1, 0]}))
    >>> submission.form, submission.references.tolist()
    ('confidences', [1, 0])
    """

    name: str
    recipe: Recipe  # how the file became these arrays
    rows: Ints  # (N,), the number of each row in the file
    predictions: Array  # (N,) or (N, K), checked by `inputs`, except for what depends on options
    references: Array  # (N,), 0 where unlabelled, and nan where there is a judge
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
        notes = self.notes
        unlabelled = self.unlabelled
        if unlabelled is not None and unlabelled.rule != "drop":  # these are counted in the file
            is_open = unlabelled.rows[rows]
            weight = np.array(per_sample.get("sample_weight", np.ones(len(rows))), np.float64)
            unlabelled = unlabelled_among(is_open, weight, unlabelled.rule)
            notes = tuple(note for note in notes if note.id != UNLABELLED)
            if unlabelled is not None:
                notes += (unlabelled.note(int(np.count_nonzero(is_open)), len(rows)),)
        return replace(
            self,
            predictions=self.predictions[rows],
            references=self.references[rows],
            ids=None if self.ids is None else self.ids.take(pa.array(rows)),
            per_sample=per_sample,
            rows=self.rows[rows],
            truth=picked(self.truth, rows),
            unlabelled=unlabelled,
            notes=notes,
        )

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
    for role, option in {**OPTION_OF_ROLE, "id": "ids"}.items():
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
    submissions: list[Submission] = []
    for part, rows in _by_classes(_nested(sheet, reading), reading):
        recipe = replace(recipe_of(rows, reading, rows=len(rows.rows)), tasks=part)
        submissions += _submissions(with_abstentions(rows, recipe), recipe, reading)
    return submissions


def _by_classes(sheet: Sheet, reading: Reading) -> list[tuple[str, Sheet]]:
    """Return the rows of each part by its name, if these have classes of their own, or all rows without a name."""
    if "part" not in reading.columns:
        return [("", sheet)]
    parts = _split(sheet, resolve(sheet, reading, rows=len(sheet.rows)).parts)
    recipes = [resolve(rows, reading, rows=len(rows.rows)) for _, rows in parts]
    have_names = all(one.is_of_mappings for one in recipes)
    return parts if have_names and len({one.classes for one in recipes}) > 1 else [("", sheet)]


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
            submission = _submission(rows_of_part, recipe, reading)
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
        got = f"{len(systems):,}"
        raise sheet.error("+".join(names), "too_many_systems", got=got, most=MAX_SYSTEMS)
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
    if recipe.form == "costs":
        advice = "score_out_of_core" if sheet.format == "parquet" else "convert_to_parquet"
        raise FileError(sheet.source, "read_out_of_core_only", form=recipe.form, advice=advice)
    num_classes = None
    true_classes = None
    if recipe.form == "predicted":
        truth, num_classes, true_classes = hits_in(sheet, recipe)
    else:
        truth = truth_in(sheet, recipe)
    is_open = np.isnan(truth) & (not recipe.of("judge"))
    notes = _note_on_judge(recipe)
    unlabelled = _unlabelled_in(sheet, is_open, recipe)
    if unlabelled is not None:
        notes += (unlabelled.note(int(np.count_nonzero(is_open)), len(truth)),)
        if unlabelled.rule == "drop":
            sheet = sheet.select(~is_open)
            truth = truth[~is_open]
            true_classes = picked(true_classes, ~is_open)
    elif recipe.unlabelled == "bounds":
        recipe = replace(recipe, unlabelled=None)
    if unlabelled is not None:  # beside a judge nan stays: nobody looked
        truth = np.nan_to_num(truth)
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


def _note_on_judge(recipe: Recipe) -> tuple[Note, ...]:
    """Return a note if a judge's verdicts are taken for the truth."""
    if recipe.of("judge") or "judge" not in recipe.truth.lower():
        return ()
    return (Note("judge_for_truth", {"column": recipe.truth}, "audit_judge"),)


def _notes_on(
    predictions: Array, references: Ints, recipe: Recipe, num_classes: int | None
) -> tuple[Note, ...]:
    """Return notes on predictions, and on their classes, if there are `num_classes`, or they have columns."""
    total = len(references)
    if predictions.ndim == 1:
        notes = note_separated(predictions, references)
        notes += note_of_yes(predictions, references, recipe)
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
    """Return the ids (N,) of rows, or None if no column has them; see `check_rows`."""
    names = recipe.of("id")
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
    """Return weights, groups, strata, verdicts and abstentions by the metric's option."""
    columns: dict[str, list[object]] = {}
    for role, option in OPTION_OF_ROLE.items():
        names = recipe.of(role)
        if role in _OF_NAMES and names:
            columns[option] = _joined(sheet, names).to_pylist()
        elif names:
            read = truths_in if role == "judge" else numbers_in
            columns[option] = read(sheet, names[0]).tolist()
    abstained = abstained_in(sheet)
    if abstained is not None:
        columns["abstained"] = abstained.tolist()
    return columns


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
    return confidences(values, truth, are_drawn=bool(recipe.of("judge")))


def truth_in(sheet: Sheet, recipe: Recipe) -> Floats:
    """Return correctness or the numbers of the true classes (N,), NaN where there is none."""
    if recipe.form in ("posteriors", "positive"):
        return class_numbers(sheet, recipe)
    grades = truths_in(sheet, recipe.truth, recipe.right)
    check_grades(sheet, recipe, grades)
    if recipe.correct_from is None:
        return grades
    return np.where(np.isnan(grades), np.nan, grades >= recipe.correct_from)


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

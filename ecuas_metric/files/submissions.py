"""A sheet -> submissions, the arrays of one system each, by the recipe of its columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..errors import UNLABELLED, FileError, InputError, Note, Way, unlabelled_fields
from ..inputs import (
    Array,
    Bools,
    Floats,
    Ints,
    note_hard_predictions,
    parse_confidences,
    parse_numbers,
    parse_posteriors,
    posteriors_from_positive,
    select_or_none,
)
from ..options import check_number
from ..results import note_first_class
from .arrays import (
    fill_abstentions,
    find_abstentions,
    read_class_numbers,
    read_hits,
    read_predictions,
)
from .cells import (
    complete_right_words,
    numbers_if_any,
    parse_cells,
    read_numbers,
    read_truths,
)
from .checks import (
    MAX_SYSTEMS,
    check_confidences,
    check_grades,
    check_rows,
    note_other_class,
    note_probability_of_yes,
    note_separated,
    refuse_two_scales,
    scale_marks,
)
from .read import stem
from .recipe import (
    CLASS_FORMS,
    Reading,
    Recipe,
    format_names,
    on_unit_scale,
    scale_limits,
)
from .roles import add_nested, class_name, resolve
from .values import (
    JOINT,
    TEXT,
    Sheet,
    are_null,
    clear_texts,
    encode,
    join_texts,
    match_any,
    to_ids,
    to_texts,
)

OPTION_OF_ROLE = {
    "weight": "sample_weight",
    "group": "groups",
    "stratum": "strata",
    "judge": "judge",
    "audit_probability": "audit_probability",
}
_OF_NAMES = ("group", "stratum")
_ADVICE_OF_OPTIONS = "Leave the cells of options empty that a question does not have."
_FILE_ADVICE = {  # ids of advice on arrays -> those for files
    "count_from_0": "pass_labels",
    "choose_lowest_grade": "set_correct_from",
    "divide_by_100": "set_scale_100",
    "name_scale": "set_scale",
    "exponentiate": "set_scale_log",
}
_Resolved = tuple[Sheet, Reading, Recipe]  # rows, how the user and the file say they are read
UNLABELLED_ADVICE = {  # a treatment of unlabelled answers -> the advice on what it does to the numbers
    "bounds": "unlabelled_bounded",
    "wrong": "unlabelled_are_wrong",
    "drop": "unlabelled_dropped",
}
UNLABELLED_RULES = tuple(UNLABELLED_ADVICE)


@dataclass(frozen=True, slots=True, eq=False)
class Unlabelled:
    """Which answers of a submission have no label or no confidence, and how they are treated."""

    rule: str  # a key of `UNLABELLED_ADVICE`
    rows: Bools  # (N,), whether an answer has no label; all false if those were dropped
    share: float  # of weight without a label, before any were dropped
    # (N,), whether an answer has no confidence, if numbers are bounded for that
    missing: Bools | None = None

    def note(self, is_open: Bools) -> Note:
        """Return the note that some of N answers, `is_open` (N,), have no label, and what that does to the numbers."""
        fields = unlabelled_fields(int(np.count_nonzero(is_open)), len(is_open), self.share)
        return Note(UNLABELLED, fields, UNLABELLED_ADVICE[self.rule])


def make_unlabelled(is_open: Bools, weight: Floats, rule: str) -> Unlabelled | None:
    """Return the record of answers without a label, where `is_open` (N,), with `weight` (N,); None if all have one."""
    if not is_open.any():
        return None
    total = weight.sum()
    share = weight[is_open].sum() / total if total > 0 else is_open.mean()
    left = is_open if rule != "drop" else np.zeros(np.count_nonzero(~is_open), np.bool_)
    return Unlabelled(rule, left, float(share))


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """The output of one system, as arrays from a file or a frame.

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
    # (N,), whole numbers or text, by which samples of systems are paired
    ids: pa.Array | None = None
    per_sample: Mapping[str, list[object]] = field(default_factory=dict)  # by option of `compute`
    notes: tuple[Note, ...] = ()
    predictions_are: str | None = None  # of a run: log-probabilities
    unlabelled: Unlabelled | None = None
    of: str = (
        ""  # name of the system that this is a part of, by a column of parts or a task of a run
    )
    part: str = ""
    num_classes: int | None = None  # K, if confidences are of predicted classes; None for free text
    cost: str | Floats | None = None  # other than the 0-1 cost
    # (N,), the true classes as numbers, if confidences are of predicted classes
    truth: Floats | None = None
    population: str = ""  # name of the selection of questions, if these are not all of the file

    def of_rows(self, rows: Ints) -> Submission:
        """Return the submission of the rows with these indices, its unlabelled answers counted anew."""
        per_sample = {
            option: [values[row] for row in rows] for option, values in self.per_sample.items()
        }
        notes = self.notes
        unlabelled = self.unlabelled
        if unlabelled is not None and unlabelled.rule != "drop":  # these are counted in the file
            is_open = unlabelled.rows[rows]
            weight = np.array(per_sample.get("sample_weight", np.ones(len(rows))), np.float64)
            unlabelled = make_unlabelled(is_open, weight, unlabelled.rule)
            notes = tuple(note for note in notes if note.id != UNLABELLED)
            if unlabelled is not None:
                notes += (unlabelled.note(is_open),)
        return replace(
            self,
            predictions=self.predictions[rows],
            references=self.references[rows],
            ids=None if self.ids is None else self.ids.take(pa.array(rows)),
            per_sample=per_sample,
            rows=self.rows[rows],
            truth=select_or_none(self.truth, rows),
            unlabelled=unlabelled,
            notes=notes,
        )

    @property
    def form(self) -> str:
        """The form of input: "confidences" or "posteriors"."""
        return "confidences" if self.predictions.ndim == 1 else "posteriors"

    @property
    def file(self) -> str:
        """The name of the file in errors."""
        return self.recipe.source


def add_location(
    error: InputError,
    recipe: Recipe,
    file: str,
    rows: Ints,
) -> FileError:
    """Return an error about arrays as one about a file, with column and row; an error about a file unchanged.

    `rows` (N,) are the numbers in the file of the rows of the arrays.
    """
    if isinstance(error, FileError):
        return error
    columns = {"predictions": format_names(recipe.predictions), "references": recipe.truth}
    for role, option in {**OPTION_OF_ROLE, "id": "ids"}.items():
        columns[option] = "+".join(recipe.of(role))
    column = columns.get(error.argument) or None
    row = None
    if column is not None and error.index is not None:
        place = error.index if isinstance(error.index, int) else error.index[0]
        row = int(rows[place])
    located = error.in_file(file, column=column, row=row, argument=error.argument)
    located.advice = _FILE_ADVICE.get(error.advice, error.advice)
    return located


def make_submissions(
    sheet: Sheet,
    path: str | Path,
    *,
    reading: Reading,
) -> list[Submission]:
    """Return the systems in a sheet of `read_sheet`; a single one without a name has that of the file at `path`."""
    if reading.unlabelled not in (None, *UNLABELLED_RULES):
        raise InputError(
            "unlabelled", "not_a_choice", value=reading.unlabelled, choices=list(UNLABELLED_RULES)
        )
    if not len(sheet.rows):
        raise FileError(path, "no_rows" if sheet.format else "file_empty")
    check_scale(reading.scale, reading.correct_from)
    sheet = replace(sheet, source=str(path))
    if reading.systems:
        resolved = _side_by_side(sheet, reading)
    else:
        resolved = _parts_of_table(_add_nested(sheet, reading), reading)
    submissions: list[Submission] = []
    for rows, one, recipe in resolved:
        filled = fill_abstentions(rows.combine(dict(recipe.unused)), recipe)
        submissions += _yield_submissions(filled, _checked_recipe(filled, recipe, one), one)
    return submissions


def _parts_of_table(sheet: Sheet, reading: Reading) -> Iterator[_Resolved]:
    """Yield the rows of each part with how they are read; of all parts together if they have the same classes."""
    for part, rows, one in _split_by_classes(sheet, reading):
        yield rows, one, replace(resolve(rows, one, rows=len(rows.rows)), tasks=part)


def _split_by_classes(sheet: Sheet, reading: Reading) -> list[tuple[str, Sheet, Reading]]:
    """Return the rows by part, and how each is read, if posteriors of the parts are of different classes.

    Else all rows, with an empty name. FileError if only zeros tell that columns are of other parts.
    """
    whole = [("", sheet, reading)]
    if "part" not in reading.columns:
        return whole
    recipe = resolve(sheet, reading, rows=len(sheet.rows))
    parts = split_by_names(sheet, recipe.parts)
    if recipe.has_mappings:
        classes = {resolve(rows, reading, rows=len(rows.rows)).classes for _, rows in parts}
        return [(part, rows, reading) for part, rows in parts] if len(classes) > 1 else whole
    if recipe.form == "posteriors" and recipe.classes is not None and reading.labels is None:
        return _split_by_columns(parts, recipe, reading) or whole
    return whole


def _split_by_columns(
    parts: Sequence[tuple[str, Sheet]], recipe: Recipe, reading: Reading
) -> list[tuple[str, Sheet, Reading]]:
    """Return the rows by part, and how each is read, if a part has columns of classes that another has not."""
    options = [_list_options(rows, recipe) for _, rows in parts]
    if all(own == options[0] for own in options):
        return []
    split = []
    for (part, rows), own in zip(parts, options, strict=True):
        _refuse_zeros(rows, recipe, own)
        split.append((part, rows, replace(reading, labels=list(map(class_name, own)))))
    return split


def _list_options(sheet: Sheet, recipe: Recipe) -> list[str]:
    """Return the columns of the classes that have a probability above 0, or are true, in a row."""
    true = to_texts(sheet.column(recipe.truth))
    return [
        name
        for name in recipe.predictions
        if (on_unit_scale(numbers_if_any(sheet, name), recipe.scale) > 0).any()
        or match_any(true, [class_name(name)]).any()
    ]


def _refuse_zeros(sheet: Sheet, recipe: Recipe, options: Sequence[str]) -> None:
    """Refuse columns other than those of the options of a part that are not empty."""
    for name in recipe.predictions:
        if name not in options and not are_null(parse_cells(sheet.column(name))).all():
            way = Way(
                "all of them are options of each part", {}, {"labels": list(recipe.classes or ())}
            )
            got = f"others in the part of row {sheet.rows[0]}: {format_names(options)}"
            rule = "has zeros only in a part of the rows, which has other options"
            raise sheet.error(name, rule, advice=_ADVICE_OF_OPTIONS, got=got, ways=[way])


def _side_by_side(sheet: Sheet, reading: Reading) -> Iterator[_Resolved]:
    """Yield the rows of each system that stands beside others in the columns of one table, with how it is read.

    No recipe lists a column as unused that another system uses.
    """
    read = []
    for system, columns in reading.systems.items():
        one = reading.with_columns({**reading.columns, **columns})
        rows = _add_nested(sheet, one)
        recipe = resolve(rows, one, rows=len(rows.rows))
        read.append((rows, one, replace(recipe, system=system)))
    used = {name for *_, recipe in read for names in recipe.columns.values() for name in names}
    for rows, one, recipe in read:
        yield rows, one, recipe.without(used)


def resolve_recipe(sheet: Sheet, reading: Reading, *, rows: int) -> Recipe:
    """Return the recipe for a table of `rows` rows by its first ones, or all; FileError if a check of them fails."""
    recipe = resolve(sheet, reading, rows=rows)
    return _checked_recipe(fill_abstentions(sheet, recipe), recipe, reading)


def _checked_recipe(sheet: Sheet, recipe: Recipe, reading: Reading) -> Recipe:
    """Return a recipe with the words for right and wrong, the same for all systems, and the notes of `check_rows`."""
    if recipe.right is not None:
        column = sheet.stored(recipe.truth)
        is_whole = len(sheet.rows) == recipe.rows
        recipe = replace(
            recipe, right=complete_right_words(sheet, column, recipe.right, is_whole=is_whole)
        )
    return replace(recipe, notes=check_rows(sheet, recipe, reading))


def _add_nested(sheet: Sheet, reading: Reading) -> Sheet:
    """Return a sheet with the nested columns that the reading names."""
    return replace(sheet, table=add_nested(sheet.table, reading.columns))


def _yield_submissions(sheet: Sheet, recipe: Recipe, reading: Reading) -> Iterator[Submission]:
    """Yield the systems, and their parts, in the rows of a sheet that are read by one recipe."""
    columns = [column for column in recipe.systems if column not in recipe.parts]
    for name, rows in split_by_names(sheet, columns):
        of = " ".join(filter(None, [recipe.system, name])) or stem(sheet.source)
        for part, rows_of_part in split_by_names(rows, recipe.parts):
            submission = _make_submission(rows_of_part, recipe, reading)
            yield replace(
                submission,
                name=f"{of} {part}" if part else of,
                of=of,
                part=part,
                notes=(*recipe.notes, *submission.notes),
            )


def check_scale(scale: float | str, correct_from: float | None) -> None:
    """Raise InputError unless a scale has LOW < HIGH, finite, and the lowest right grade is finite."""
    low, high = scale_limits(scale)
    if not 0 < high - low < math.inf:
        raise InputError("scale", "no_scale", value=scale)
    if correct_from is not None:
        check_number(correct_from, "correct_from", -math.inf, math.inf, inside=True)


def _read_systems(
    sheet: Sheet,
    names: Sequence[str],
) -> tuple[list[str], Ints]:
    """Return the names of systems in these columns, and the index (N,) of the system of each row."""
    for name in names:
        texts = to_texts(sheet.column(name))
        blank = are_null(texts) | match_any(texts, [""])
        if blank.any():
            raise sheet.error(name, "no_name_of_system", blank)
    systems, codes = encode(join_texts([sheet.column(name) for name in names], " "))
    if len(systems) > MAX_SYSTEMS:
        got = f"{len(systems):,}"
        raise sheet.error("+".join(names), "too_many_systems", got=got, most=MAX_SYSTEMS)
    return list(map(str, systems)), codes


def split_by_names(sheet: Sheet, names: Sequence[str]) -> list[tuple[str, Sheet]]:
    """Return the rows by the names in these columns; without columns all rows, with an empty name."""
    if not names:
        return [("", sheet)]
    systems, codes = _read_systems(sheet, names)
    if len(systems) == 1:
        return [(systems[0], sheet)]
    return [(system, sheet.select(codes == code)) for code, system in enumerate(systems)]


def _make_submission(sheet: Sheet, recipe: Recipe, reading: Reading) -> Submission:
    """Return the submission of all rows, still without a name."""
    if recipe.form == "costs":
        advice = "score_out_of_core" if sheet.format == "parquet" else "convert_to_parquet"
        raise FileError(sheet.source, "read_out_of_core_only", form=recipe.form, advice=advice)
    num_classes = None
    true_classes = None
    if recipe.form == "predicted":
        truth, num_classes, true_classes = read_hits(sheet, recipe)
    else:
        truth = read_truth(sheet, recipe)
    is_open = np.isnan(truth) & (not recipe.of("judge"))
    notes = _note_on_judge(recipe)
    unlabelled = _find_unlabelled(sheet, is_open, recipe)
    if unlabelled is not None:
        notes += (unlabelled.note(is_open),)
        if unlabelled.rule == "drop":
            sheet = sheet.select(~is_open)
            truth = truth[~is_open]
            true_classes = select_or_none(true_classes, ~is_open)
    elif recipe.unlabelled == "bounds":
        recipe = replace(recipe, unlabelled=None)
    if unlabelled is not None:  # beside a judge nan stays: nobody looked
        truth = np.nan_to_num(truth)
    predictions, references = _read_arrays(
        sheet, truth, recipe, predictions_are=reading.predictions_are
    )
    is_margin = recipe.form == "positive" and reading.predictions_are == "logits"
    return Submission(
        name="",
        recipe=recipe,
        rows=sheet.rows,
        predictions=predictions,
        references=references,
        ids=_read_ids(sheet, recipe),
        per_sample=_read_sample_options(sheet, recipe),
        notes=(
            *notes,
            *_note_values(predictions, references, recipe, num_classes),
        ),
        predictions_are="logits" if is_margin else None,
        unlabelled=unlabelled,
        num_classes=num_classes,
        truth=true_classes,
    )


def _read_arrays(
    sheet: Sheet, truth: Floats, recipe: Recipe, *, predictions_are: str | None
) -> tuple[Array, Array]:
    """Return predictions and references, checked; FileError with the place of what is wrong."""
    values = read_predictions(sheet, recipe)
    try:
        if recipe.scale != 1:
            marks = scale_marks(parse_numbers(values, "predictions"))
            refuse_two_scales(marks.sum(axis=1), recipe, sheet.source)
        return check_arrays(values, truth, sheet, recipe, predictions_are=predictions_are)
    except InputError as error:
        raise add_location(error, recipe, sheet.source, sheet.rows) from None


def _note_on_judge(recipe: Recipe) -> tuple[Note, ...]:
    """Return a note if the column of correctness seems to have a judge's labels."""
    if recipe.of("judge") or "judge" not in recipe.truth.lower():
        return ()
    return (Note("judge_for_truth", {"column": recipe.truth}, "audit_judge"),)


def _note_values(
    predictions: Array, references: Ints, recipe: Recipe, num_classes: int | None
) -> tuple[Note, ...]:
    """Return notes on predictions; on classes too, if posteriors or `num_classes` predicted ones are there."""
    total = len(references)
    if predictions.ndim == 1:
        notes = note_separated(predictions, references)
        notes += note_probability_of_yes(predictions, references, recipe)
        if num_classes is None:
            return notes
        wrong = int(total - references.sum())
        return notes + note_other_class(wrong, total, recipe, num_classes)
    occurs = np.bincount(references, minlength=predictions.shape[1]) > 0
    wrong = int(np.count_nonzero(predictions.argmax(axis=1) != references))
    return (
        *note_first_class(occurs),
        *note_hard_predictions(predictions, "probabilities"),
        *note_other_class(wrong, total, recipe, predictions.shape[1]),
    )


def _read_ids(sheet: Sheet, recipe: Recipe) -> pa.Array | None:
    """Return the ids (N,) of rows, None if no column has them; `check_rows` has checked them."""
    names = recipe.of("id")
    return to_ids(_join_columns(sheet, names)) if names else None


def _join_columns(sheet: Sheet, names: Sequence[str]) -> pa.Array:
    """Return a column (N,) of values, or the texts of several that are joined, or of lists."""
    columns = [sheet.column(name) for name in names]
    if len(columns) == 1 and not pa.types.is_nested(columns[0].type):
        return columns[0]
    return join_texts(columns, JOINT)


def _read_memberships(sheet: Sheet, names: Sequence[str]) -> pa.Array:
    """Return groups or strata (N,) in these columns, null where empty: whole numbers if all are, also as texts."""
    cells = _join_columns(sheet, names)
    if cells.type != TEXT:
        return to_ids(cells)
    texts = to_texts(cells)
    texts = clear_texts(texts, match_any(texts, [""]))
    with suppress(pa.ArrowInvalid):  # a name
        numbers = texts.cast(pa.int64())
        if numbers.cast(TEXT).equals(texts):  # else 007 and 7 would be one
            return numbers
    return texts


def _read_sample_options(
    sheet: Sheet,
    recipe: Recipe,
) -> dict[str, list[object]]:
    """Return weights, groups, strata, a judge's labels and abstentions (N,), if there are any, by option."""
    columns: dict[str, list[object]] = {}
    for role, option in OPTION_OF_ROLE.items():
        names = recipe.of(role)
        if role in _OF_NAMES and names:
            columns[option] = _read_memberships(sheet, names).to_pylist()
        elif names:
            read = read_truths if role == "judge" else read_numbers
            columns[option] = read(sheet, names[0]).tolist()
    abstained = find_abstentions(sheet)
    if abstained is not None:
        columns["abstained"] = abstained.tolist()
    return columns


def check_arrays(
    values: Array | list[object],
    truth: Floats,
    sheet: Sheet,
    recipe: Recipe,
    *,
    predictions_are: str | None = None,
) -> tuple[Array, Array]:
    """Return predictions on the unit scale, and references, checked; else InputError."""
    array = parse_numbers(values, "predictions")
    is_margin = recipe.form == "positive" and predictions_are == "logits"
    if array.ndim == 1 and not is_margin and recipe.form != "posteriors":
        check_confidences(sheet, recipe, array)
    if recipe.scale != 1:
        values = on_unit_scale(array, recipe.scale)
    if recipe.form == "posteriors":
        return parse_posteriors(values, truth)
    if is_margin:
        margins = array.astype(np.float64)
        return parse_posteriors(np.stack([np.zeros(len(margins)), margins], axis=1), truth)
    if recipe.form == "positive":
        of_class_1, _ = parse_confidences(values, np.zeros(len(values)))
        return parse_posteriors(posteriors_from_positive(of_class_1), truth)
    return parse_confidences(values, truth, are_drawn=bool(recipe.of("judge")))


def read_truth(sheet: Sheet, recipe: Recipe) -> Floats:
    """Return correctness or the numbers of the true classes (N,), NaN where missing."""
    if recipe.form in CLASS_FORMS:
        return read_class_numbers(sheet, recipe)
    grades = read_truths(sheet, recipe.truth, recipe.right)
    check_grades(sheet, recipe, grades)
    if recipe.correct_from is None:
        return grades
    return np.where(np.isnan(grades), np.nan, grades >= recipe.correct_from)


def _find_unlabelled(sheet: Sheet, rows: Bools, recipe: Recipe) -> Unlabelled | None:
    """Return the record of answers without a label, true in `rows` (N,); FileError if the recipe has no treatment."""
    if not rows.any():
        return None
    if rows.all():
        raise sheet.error(recipe.truth, "no_value_at_all")
    rule = recipe.unlabelled
    has_classes = recipe.form in CLASS_FORMS
    if rule is None or (has_classes and rule != "drop"):
        advice = "label_or_drop" if has_classes else "label_or_bound"
        raise sheet.error(recipe.truth, "no_value", rows, advice=advice)
    return make_unlabelled(rows, read_weights(sheet, recipe), rule)


def read_weights(sheet: Sheet, recipe: Recipe) -> Floats:
    """Return the weights (N,) of rows, 1 if no column has them."""
    names = recipe.of("weight")
    return read_numbers(sheet, names[0]) if names else np.ones(len(sheet.rows))

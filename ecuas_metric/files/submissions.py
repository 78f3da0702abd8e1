"""A file of confidences or posteriors -> submissions, one per system; columns are found by their names."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ..errors import FileError, InputError, Note
from ..inputs import (
    IGNORED,
    ROUNDED_SUM_TOLERANCE,
    Array,
    Bools,
    Floats,
    Ints,
    blocks,
    confidences,
    numbers,
    posteriors,
    require,
    stacked,
)
from ..options import OPTIONS, check_number
from ..results import note_hard
from .columns import (
    JOINED,
    ROLES_OF_FORM,
    ColumnsByRole,
    Roles,
    are_numbered,
    class_in_name,
    class_names,
    complement_of,
    match_columns,
    name_of,
    system_in_name,
)
from .read import read_sheet, stem, value_at
from .runs import RUN_FILE, RunOptions, RunPart, names_of, pool_tasks, read_parts
from .values import (
    TRUTH_WORDS,
    Sheet,
    as_ids,
    as_text,
    classes_of,
    encode,
    first_of,
    from_numpy,
    from_values,
    is_in,
    is_missing,
    is_number_text,
    is_numeric,
    join_texts,
    nulls_in,
    numbers_in,
    parse_cells,
    row_of_numbers,
    texts_in,
)

OPTION_OF_ROLE = {"weight": "sample_weight", "group": "groups", "stratum": "strata"}
_OF_RUNS = ("confidence", "weight", "group")  # roles whose fields in a run can be named
_PARTLY = {"choose_lowest_grade": "set_correct_from", "divide_by_100": "set_scale_100"}
_PARTLY["divide_by_largest"] = "set_scale"  # what reading a file can do
MAX_SYSTEMS = 1000  # more is a column of something else
_JOINT = " | "  # between the parts of an id
_SUMMARIES = {"mean", "average", "avg", "total", "sum", "overall", "std", "macro", "micro", "macro avg", "weighted avg"}
_MIXED = 0.05  # the share of numbers below 1 from which, and twice that of even ones, others are on another scale
_MARGINS = ("margin", "decision_function", "logit")
_EVENTS = {"event_id", "sample_id", "type", "data"}  # of a log of OpenAI's evals: rows of other events hold no answers
_SAMPLES_PER_CLASS = 5  # from which texts are classes, and not answers
RULES = ("bounds", "wrong", "drop")
MEANING = {  # the advice on what each rule does to the numbers
    "bounds": "unlabelled_bounded",
    "wrong": "unlabelled_are_wrong",
    "drop": "unlabelled_dropped",
}


class Unlabelled(NamedTuple):
    """The answers of a submission whose correctness is unknown."""

    rule: str  # a key of `MEANING`
    rows: Bools  # (N,), true for these answers; none where they were dropped
    share: float  # of the (weighted) answers, before any were dropped

    def note(self, count: int, total: int) -> Note:
        """Return what a reader must know: how many there are, and what the rule does to the numbers."""
        by_weight = " by weight" if abs(self.share - count / total) >= 5e-4 else ""
        fields = {"count": count, "total": total, "share": self.share, "by_weight": by_weight}
        return Note("unlabelled_answers", fields, MEANING[self.rule])


class Source(NamedTuple):
    """Where values come from: translates an error of the metric into the words of the file."""

    file: str
    columns: Mapping[str, str]  # an argument or option of the metric, e.g. "predictions", to its column
    rows: Ints  # the number of each row in the file

    def error(self, error: InputError) -> FileError:
        """Return the error with file, column and row, as far as these are known."""
        column, row = self.columns.get(error.argument), None
        if column is not None and error.index is not None:
            row = int(self.rows[error.index if isinstance(error.index, int) else error.index[0]])
        located = FileError(self.file, error.rule, column=column, row=row)
        vars(located).update(vars(error))
        located.advice = _PARTLY.get(error.advice, error.advice)
        return located


class Reading(NamedTuple):
    """The options of `read_submissions` for the values in the columns of a file."""

    unlabelled: str | None = None
    labels: Sequence[str] | None = None
    correct_from: float | None = None
    scale: float = 1
    predictions_are: str | None = None


class Submission(NamedTuple):
    """The output of one system, as a file has it."""

    name: str
    form: str  # "confidences" or "posteriors"
    predictions: Array  # checked by `inputs`, except for what depends on options
    references: Array  # 0 where unlabelled
    ids: pa.Array | None  # whole numbers or text, which pair its samples with those of other systems
    per_sample: Mapping[str, list[object]]  # weights, groups and strata, by the metric's option
    notes: tuple[Note, ...]
    source: Source
    predictions_are: str | None = None  # as named by its columns
    unlabelled: Unlabelled | None = None
    of: str = ""  # the system that this is a part of: of a column of parts, or a task of a run
    part: str = ""
    num_classes: int | None = None  # that a confidence in one of them refers to; None for free text


def read_submissions(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    unlabelled: str | None = None,
    labels: Sequence[str] | None = None,
    run: RunOptions | None = None,
    correct_from: float | None = None,
    scale: float = 1,
    predictions_are: str | None = None,
) -> list[Submission]:
    """Read the systems of a file, or of a run of lm-eval, lighteval, Inspect or HELM.

    Parameters
    ----------
    path : path
        CSV with commas, semicolons (decimal commas too) or tabs, JSON lines, JSON, Parquet, Arrow, .npz, .npy or Excel;
        also compressed, at an address that fsspec knows, or ``-`` for standard input. A run is a file or a folder, and
        recognised by its content.
    columns : mapping, optional
        The role of a column (a key of `NAMES`) to its name in the file, where its name does not say: a dotted name
        for what is nested. Several are joined by ``+``: names of systems, the posteriors of all classes, or the
        confidences of several systems.
    unlabelled : {"bounds", "wrong", "drop"}, optional
        How to treat answers whose correctness is missing, instead of raising an error: `make_report` bounds what
        depends on them, they count as wrong, or they are left out, which flatters nearly every system.
    labels : sequence of str, optional
        The names of all classes, in the order of the posteriors, where the columns do not have them.
    run : RunOptions, optional
        What a run leaves open: tasks, filter, the lengths that log-likelihoods are divided by.
    correct_from : float, optional
        Answers with this grade or a higher one are correct, others not; by default only 0 and 1 are taken.
    scale : float
        What confidences or probabilities of 1 are in the file, e.g. 100 for percentages without a sign.
    predictions_are : str, optional
        As for `compute`: "logits" in one column are margins, as of a `decision_function`.

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
    reading = Reading(unlabelled, labels, correct_from, scale, predictions_are)
    of_run = read_run(path, columns=columns, run=run, reading=reading)
    if of_run is not None:
        return of_run
    sheet = read_sheet(path, rows=(columns or {}).get("rows"))
    return submissions_of(sheet, path, columns=columns, reading=reading)


def read_run(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    run: RunOptions | None = None,
    reading: Reading | None = None,
) -> list[Submission] | None:
    """Return the systems of a run, or None if it is none; see `read_submissions`."""
    if not RUN_FILE.fullmatch(Path(path).name) and not Path(path).is_dir():
        return None
    given = columns or {}
    named = {role: given.get(role) for role in _OF_RUNS}
    parts = read_parts(path, RunOptions(**{**(run or RunOptions())._asdict(), **named}))
    if parts is None:
        return None
    if (by := given.get("part")) not in (None, "task", "model"):
        raise FileError(path, "is a run, which has parts by task or by model", value=by, got=repr(by))
    parts = pool_tasks(parts) if by == "model" else parts
    found = [submission_of(part, name, reading or Reading()) for part, name in zip(parts, names_of(parts), strict=True)]
    is_whole = by == "model" and len({one.of for one in found}) == len(found)
    return [one._replace(part="") for one in found] if is_whole else found


def submission_of(part: RunPart, name: str, reading: Reading) -> Submission:
    """Return the system of a part of a run."""
    values, columns = part.table()
    arrays = {
        name: from_numpy(column, None if column.dtype.kind != "f" else ~np.isnan(column))
        if isinstance(column, np.ndarray)
        else from_values(column)
        for name, column in values.items()
    }
    reading = reading._replace(labels=None)
    if "correct" not in columns:
        reading = reading._replace(correct_from=None, scale=1)
    (submission,) = submissions_of(Sheet(pa.table(arrays), part.rows), part.path, columns=columns, reading=reading)
    are = "log_probabilities" if submission.form == "posteriors" else None
    choices = "" if part.num_classes is None else f"{part.num_classes} choices"
    of_task = ", ".join(filter(None, (part.task, choices)))  # several tasks that were pooled have no name
    notes = (part.note, *submission.notes)
    return submission._replace(name=name, notes=notes, predictions_are=are, of=part.model, part=of_task)


def submissions_of(
    sheet: Sheet, path: str | Path, *, columns: Mapping[str, str] | None = None, reading: Reading | None = None
) -> list[Submission]:
    """Return the systems of a sheet of `read_sheet`; `path` names a single one, see `read_submissions`."""
    given, reading, sheet = dict(columns or {}), reading or Reading(), sheet._replace(source=str(path))
    if reading.unlabelled not in (None, *RULES):
        raise InputError("unlabelled", f"must be one of {', '.join(RULES)}", value=reading.unlabelled)
    if not len(sheet.rows):
        raise FileError(path, "the file has no rows")
    check_numbers(reading.scale, reading.correct_from)
    sheet = _add_derived(sheet, given, reading.scale)
    roles = match_columns(sheet.table.schema, given, source=sheet.source, rows=sheet.table)
    if reading.correct_from is not None and roles.form != "confidences":
        raise InputError("correct_from", "requires confidences", value=reading.correct_from)
    if set(sheet.table.column_names) >= _EVENTS:
        outputs = [is_missing(sheet.column(name)) for name in (*roles.predictions, *roles.references)]
        sheet = sheet.select(~np.all(outputs, axis=0))
    _refuse_summary(sheet, roles)
    systems = [name for name in roles.used["system"] if name not in roles.used["part"]]
    return [
        _submission(f"{of} {part}" if part else of, of_part, of_one, reading)._replace(of=of, part=part)
        for name, of_system in _parts(sheet, systems) or [(stem(path), sheet)]
        for of, of_one in _roles_of_systems(name, roles, sheet.source)
        for part, of_part in _parts(of_system, roles.used["part"]) or [("", of_system)]
    ]


def _add_derived(sheet: Sheet, given: Mapping[str, str], scale: float) -> Sheet:
    """Return a sheet with the named columns that are derived from others: doc.id, id+task, 1-error."""
    wanted = {name: role for role, text in given.items() for name in (text.strip(), *text.strip().split("+"))}
    within = [(part, role) for name, role in wanted.items() for part in (complement_of(name), name) if part]
    for name, role in within:
        if name not in sheet.table.column_names and (cells := _derive_cells(sheet, name, role, scale)) is not None:
            sheet = sheet._replace(table=sheet.table.append_column(name, cells))
    return sheet


def _derive_cells(sheet: Sheet, name: str, role: str, scale: float) -> pa.Array | None:
    """Return the cells of a column that is derived from others, or None if it is not."""
    names, (first, _, rest) = sheet.table.column_names, name.partition(".")
    if rest and first in names:
        values = [value_at(value, rest) for value in sheet.column(first).to_pylist()]
        return from_values(values) if any(value is not None for value in values) else None
    if (of := complement_of(name)) in names:
        words, whole = (TRUTH_WORDS, 1.0) if role == "correct" else (None, scale)
        return from_numpy(whole - numbers_in(sheet, of, words=words, share=role != "correct" and scale == 1))
    by_name = {known.strip().lower(): known for known in names} | {known: known for known in names}
    parts = [by_name.get(part.strip(), by_name.get(part.strip().lower())) for part in name.split("+")]
    if role in JOINED and role not in ("system", "part") and len(parts) > 1 and None not in parts:
        return join_texts([sheet.column(part) for part in parts if part], _JOINT)
    return None


def _refuse_summary(sheet: Sheet, roles: Roles) -> None:
    """Raise FileError if the last row is named as a mean or a total, and its correctness is not that of a sample."""
    last, is_last = sheet.table.slice(len(sheet.rows) - 1), np.arange(len(sheet.rows)) == len(sheet.rows) - 1
    truths = [str(first_of(last, name)).strip() for name in roles.references]
    for name in dict.fromkeys([*roles.used["id"], *sheet.table.column_names[:3]]):  # where the name of a row is
        value = first_of(last, name)
        is_summary = isinstance(value, str) and value.strip().lower().rstrip(":") in _SUMMARIES
        if is_summary and not set(truths) <= {"0", "1", "True", "False"}:
            error = sheet.error(name, "must hold samples; the last row is a summary", is_last, value=value)
            error.count, error.advice = None, "leave_rows_out"
            raise error


def _parts(sheet: Sheet, names: Sequence[str]) -> list[tuple[str, Sheet]]:
    """Return the rows of each system, by the columns of their names; nothing without such columns."""
    if not names:
        return []
    systems, codes = systems_in(sheet, names)
    if (count := len(systems)) > MAX_SYSTEMS:
        rule = f"must name at most {MAX_SYSTEMS:,} systems"
        raise sheet.error("+".join(names), rule, value=count, got=f"{count:,}")
    return [(name, sheet.select(codes == code)) for code, name in enumerate(systems)]


def check_numbers(scale: float, correct_from: float | None) -> None:
    """Raise InputError unless a scale is positive and finite, and a grade finite."""
    check_number(scale, "scale", 0, math.inf, inside=True)
    if correct_from is not None:
        check_number(correct_from, "correct_from", -math.inf, math.inf, inside=True)


def systems_in(sheet: Sheet, names: Sequence[str]) -> tuple[list[str], Ints]:
    """Return the systems that columns name, and which of them each row (N,) is of."""
    for name in names:
        texts = texts_in(sheet.column(name))
        if (blank := nulls_in(texts) | is_in(texts, [""])).any():
            raise sheet.error(name, "must name a system; it is empty", row=int(sheet.rows[blank][0]))
    systems, codes = encode(join_texts([sheet.column(name) for name in names], " "))
    return list(map(str, systems)), codes


def _roles_of_systems(name: str, roles: Roles, path: str) -> list[tuple[str, Roles]]:
    """Return the systems with the roles of their columns: several where each has columns of its own."""
    role, truth, *_ = ROLES_OF_FORM[roles.form]
    columns, truths = roles.predictions, list(roles.references)
    if roles.form == "posteriors" or len(columns) == len(truths) == 1:
        return [(name, roles)]
    truths *= len(columns) if len(truths) == 1 else 1
    if len(truths) != len(columns):
        rule = f"there must be one column {truth} or as many as columns {role}"
        raise FileError(path, rule, value=len(truths), got=f"{len(truths)} and {len(columns)}")
    prefix = f"{name} " if roles.used["system"] else ""
    return [
        (prefix + system_in_name(column), roles._replace(used={**roles.used, role: [column], truth: [true]}))
        for column, true in zip(columns, truths, strict=True)
    ]


def _submission(name: str, sheet: Sheet, roles: Roles, reading: Reading) -> Submission:
    form, used, reference = roles.form, roles.used, roles.references[0]
    labels = None if reading.labels is None else [label.strip() for label in reading.labels]
    prediction = _by_labels(list(roles.predictions), labels, sheet.source)
    has_classes, num_classes = form in ("posteriors", "positive"), None
    classes = _classes_in(sheet, prediction, reference, labels) if has_classes else None
    if form == "predicted":
        truth, num_classes, notes = _hits(sheet, reference, used["predicted"][0])
        _refuse_positive(sheet, used, reading)
    else:
        truth = _truth_in(sheet, reference, classes, reading, is_class=has_classes)
        notes = _note_classes(sheet, used) if form == "confidences" else ()
    unlabelled = _unlabelled_in(sheet, truth, reference, used["weight"], reading.unlabelled, has_classes)
    if unlabelled is not None:
        notes += (unlabelled.note(int(np.count_nonzero(np.isnan(truth))), len(truth)),)
        known, is_dropped = ~np.isnan(truth), unlabelled.rule == "drop"
        sheet, truth = (sheet.select(known), truth[known]) if is_dropped else (sheet, np.where(known, truth, 0.0))
    columns = {"predictions": name_of(prediction), "references": reference}
    columns |= {option: used[role][0] for role, option in OPTION_OF_ROLE.items() if used[role]}
    source = Source(sheet.source, columns | ({"ids": used["id"][0]} if used["id"] else {}), sheet.rows)
    values = _predictions_in(sheet, prediction, classes, share=reading.scale == 1)
    try:
        predictions, references, are, noted = _check_values(values, truth, sheet, roles, prediction, classes, reading)
    except InputError as error:
        raise advised(source.error(error), values, truth, form) from None
    ids = as_ids(sheet.column(used["id"][0])) if used["id"] else None
    per_sample = {option: sheet.column(column).to_pylist() for option, column in columns.items() if option in OPTIONS}
    if used["weight"]:
        per_sample["sample_weight"] = numbers_in(sheet, used["weight"][0]).tolist()
    kind, notes = "posteriors" if has_classes else "confidences", roles.notes + notes + noted
    return Submission(
        name, kind, predictions, references, ids, per_sample, notes, source, are, unlabelled, num_classes=num_classes
    )


def _check_values(
    values: Array | list[object],
    truth: Floats,
    sheet: Sheet,
    roles: Roles,
    prediction: Sequence[str],
    classes: Sequence[str] | None,
    reading: Reading,
) -> tuple[Array, Ints, str | None, tuple[Note, ...]]:
    """Return predictions and references as the metric takes them, what they are, and notes; or raise InputError."""
    reference, scale, are_logits, notes = roles.references[0], reading.scale, False, tuple[Note, ...]()
    if scale != 1:
        values = numbers(values, "predictions")
        if scale > 1 and are_mixed(counts := scale_counts(values), scale):  # some look divided already
            ok = (values <= 0) | (values >= 1)
            require(ok, values, "predictions", one_scale(counts), "write_in_one_scale")
        values = values / scale
    if roles.form not in ("posteriors", "positive"):
        return *confidences(values, truth), None, notes
    if roles.form == "positive":
        are_logits = _are_margins(prediction[0], values, reading)
        values, notes = _both_classes(values, prediction[0], reference, classes, sheet, are_margins=are_logits)
    predictions, references = posteriors(values, truth)
    if roles.form == "posteriors":
        are_logits = _are_logits(prediction, reference, predictions)
        notes += (Note("logits", f"Column {name_of(prediction)!r} is read as logits."),) if are_logits else ()
        notes += note_hard(predictions, "probabilities")
    notes += _note_first_class(references, predictions.shape[1])
    return predictions, references, "logits" if are_logits else None, notes


def _by_labels(columns: list[str], labels: Sequence[str] | None, path: str) -> list[str]:
    """Return columns that are named after classes in the order of the given labels."""
    if labels is None or len(columns) < 2:
        return columns
    classes = class_names(columns, labels)
    if classes is not None:
        return [columns[classes.index(label)] for label in labels]
    some = {class_in_name(name, name) for name in columns} & {label for label in labels if not label.isdecimal()}
    if some:
        rule = f"has columns of some of the labels, as {min(some)}, and not of all"
        raise FileError(path, rule, advice="label_as_columns")
    return columns


def _predictions_in(
    sheet: Sheet, columns: Sequence[str], classes: Sequence[str] | None, *, share: bool
) -> Array | list[object]:
    """Return the numbers of one column or of several, in cells or in lists within them, in the order of classes."""
    if len(columns) > 1:
        parts = [numbers_in(sheet, name, share=share) for name in columns]
        array = np.empty((len(sheet.rows), len(columns)))
        for rows in blocks(len(array), row_size=len(columns)):  # a third faster than all rows at once
            for k, part in enumerate(parts):
                array[rows, k] = part[rows]
        return array
    first, missing = first_of(sheet.table, columns[0]), nulls_in(sheet.column(columns[0]))
    by_class = classes_of(first)
    if missing.any() and isinstance(row_of_numbers(first), list):
        raise sheet.error(columns[0], "has no value", missing)
    if by_class is not None:
        return _of_classes(sheet, columns[0], classes or sorted(by_class))
    if isinstance(row_of_numbers(first), list):
        return [row_of_numbers(value) for value in sheet.column(columns[0]).to_pylist()]
    return numbers_in(sheet, columns[0], share=share)


def _of_classes(sheet: Sheet, column: str, classes: Sequence[str]) -> list[object]:
    rows: list[object] = []
    for number, value in zip(sheet.rows, sheet.column(column).to_pylist(), strict=True):
        row = classes_of(value)
        if row is None or row.keys() != set(classes):
            rule = f"must name the same classes in each row, {', '.join(classes[:20])}"
            raise sheet.error(column, rule, row=int(number))
        rows.append(row_of_numbers({name: row[name] for name in classes}))
    return rows


def _both_classes(
    values: Array | list[object],
    column: str,
    reference: str,
    classes: Sequence[str] | None,
    sheet: Sheet,
    *,
    are_margins: bool,
) -> tuple[Array, tuple[Note, ...]]:
    """Return posteriors (N, 2) of the probabilities of one class, or logits of margins, and a note of which."""
    if are_margins:
        q = np.stack([np.zeros(len(values)), numbers(values, "predictions")], axis=1).astype(np.float64)
    else:
        q = stacked(confidences(values, np.zeros(len(values)))[0])
    named, is_first = class_in_name(column), is_of_first(column, parse_cells(sheet.column(reference)).type, classes)
    of = f"class {(classes or ('0', '1'))[0 if is_first else 1]}"
    fact = f"Column {column!r} is read as the {'logit' if are_margins else 'probability'} of {of}, "
    advice = "name_other_class" if classes and not named else ""
    note = Note("positive", f"{fact}column {reference!r} as the class.", advice)
    return q[:, ::-1] if is_first else q, (note, *note_hard(q[:, 1], "probabilities"))


def is_of_first(column: str, labels: pa.DataType, classes: Sequence[str] | None = None) -> bool:
    """Return whether a column's name says that it is of the first of two classes, by the type of their labels."""
    named = class_in_name(column)
    words = {} if is_numeric(labels) and not pa.types.is_boolean(labels) else TRUTH_WORDS
    return named == classes[0] if classes else named == "0" or words.get(named.lower()) == 0


def _are_margins(column: str, values: Array | list[object], reading: Reading) -> bool:
    """Return whether one number per sample is a logit, by the options or by the column's name."""
    if reading.predictions_are is not None:
        return reading.predictions_are == "logits"
    array = numbers(values, "predictions")
    return column.strip().lower() in _MARGINS and bool((array < 0).any() or (array > 1).any())


def _are_logits(columns: Sequence[str], reference: str, values: Array) -> bool:
    """Return whether posteriors are named as logits, and are no probabilities."""
    name = columns[0].strip().lower()
    if not (name.startswith("logit") or (name.startswith("predictions") and reference == "label_ids")):
        return False
    in_range = ((values >= 0) & (values <= 1)).all()
    return not (in_range and (np.abs(values.sum(axis=1) - 1) <= ROUNDED_SUM_TOLERANCE).all())


def advised(error: FileError, values: Array | list[object], truth: Floats, form: str) -> FileError:
    """Return an error with advice that fits what a file holds: margins, several scales, marks of ignored rows."""
    is_range, value = error.rule == "out_of_unit_interval", error.value
    of_scale = error.advice in ("set_scale_100", "set_scale")
    if of_scale and are_mixed(counts := scale_counts(array := numbers(values, "")), float(np.nanmax(array))):
        error.rule, error.advice = one_scale(counts), "write_in_one_scale"
    if form == "positive" and is_range and error.advice in ("", "exponentiate", "set_scale"):
        error.advice = "margins_are_logits"
    elif form in ("confidences", "predicted") and is_range and not error.advice:
        error.advice = "recalibrate_first"
    elif error.advice == "pass_posteriors" and form == "confidences":
        error.advice = "set_correct_from"
    elif error.advice == "count_from_0" and (value == IGNORED or (value == -1 and (truth == 0).any())):
        error.advice = "leave_ignored_rows_out"
    return error


def scale_counts(values: Array) -> Ints:
    """Return how many confidences (N,) there are, are at most 1, between 0 and 1, and above 0; none of posteriors."""
    if values.ndim > 1:
        return np.zeros(4, np.int64)
    counts = (np.count_nonzero(which) for which in (values <= 1, (values > 0) & (values < 1), values > 0))
    return np.array([len(values), *counts])


def one_scale(counts: Ints) -> str:
    """Return the rule that `scale_counts` break."""
    return f"must lie on one scale; {counts[1]} of {counts[0]} lie in [0, 1]"


def are_mixed(counts: Ints, scale: float) -> bool:
    """Return whether more numbers are below 1 than expected on a scale from 0 to `scale`: some are on another."""
    return bool(counts[2] > min(0.5, _MIXED + 2 / scale) * counts[3])


def _refuse_positive(sheet: Sheet, used: ColumnsByRole, reading: Reading) -> None:
    """Raise FileError if a column named confidence, of two classes, has the probability of one of them."""
    label, predicted, confidence = (used[role][0] for role in ("label", "predicted", "confidence"))
    classes, codes = _codes(sheet, (label, predicted))
    values = numbers_in(sheet, confidence, share=reading.scale == 1) / reading.scale
    chosen, known = np.split(codes, 2)[1], ~np.isnan(values)
    of = [values[known & (chosen == code)] for code in range(2)]
    if len(classes) != 2 or not (values < 0.5).any() or not all(map(len, of)):
        return
    for low, high in ((0, 1), (1, 0)):
        if of[low].max() <= of[high].min():
            rule = f"is lowest where the class {classes[low]!r} of two was chosen: the probability of the other"
            second = max(classes, key=lambda text: (TRUTH_WORDS.get(text.lower(), 0), text))
            columns = {"label": label, "positive": confidence if classes[high] == second else f"1-{confidence}"}
            raise sheet.error(confidence, rule, advice="name_probabilities", columns=columns)


def _codes(sheet: Sheet, columns: Sequence[str]) -> tuple[list[str], Ints]:
    """Return the classes in several columns, sorted, and which each cell is, one column after the other; -1 if none."""
    cells = [encode(parse_cells(sheet.column(name))) for name in columns]
    texts = [[as_text(value) for value in values] for values, _ in cells]
    classes = sorted({text for part in texts for text in part if text and text != "nan"})
    place = {text: k for k, text in enumerate(classes)}
    codes = [np.array([*(place.get(t, -1) for t in part), -1])[of] for part, (_, of) in zip(texts, cells, strict=True)]
    return classes, np.concatenate(codes)


def _classes_in(
    sheet: Sheet, prediction: Sequence[str], reference: str, labels: Sequence[str] | None
) -> list[str] | None:
    """Return the names of the classes in the order of the posteriors, or None where labels are their numbers."""
    if labels is not None:
        return list(labels)
    if len(prediction) > 1:
        are_numbers = are_numbered(prediction) and is_numeric(parse_cells(sheet.column(reference)).type)
        names = None if are_numbers else class_names(prediction, _codes(sheet, [reference])[0])
        return names or (None if are_numbered(prediction) else [class_in_name(name, name) for name in prediction])
    by_class = classes_of(first_of(sheet.table, prediction[0]))
    if by_class is not None:
        return sorted(by_class)
    cells = parse_cells(sheet.column(reference))
    if is_numeric(cells.type) or not is_numeric(parse_cells(sheet.column(prediction[0])).type):
        return None
    texts, _ = _codes(sheet, [reference])
    words = all(text.lower() in TRUTH_WORDS for text in texts)
    return texts if len(texts) == 2 and not words and not all(map(is_number_text, texts)) else None


def _hits(sheet: Sheet, label: str, predicted: str) -> tuple[Floats, int | None, tuple[Note, ...]]:
    """Return 1 where the predicted class is the true one, else 0, nan without a true one; how many classes; notes."""
    missing = is_missing(sheet.column(predicted))
    if missing.any():
        raise sheet.error(predicted, "has no value", missing)
    classes, codes = _codes(sheet, (label, predicted))
    true, answer = np.split(codes, 2)
    if not np.isin(true, answer).any():
        rule = f"has no class in common with column {predicted!r}"
        raise sheet.error(label, rule, value=first_of(sheet.table, label))
    if len({text.lower() for text in classes}) < len(classes):
        rule = f"and column {predicted!r} have classes that differ in upper and lower case only"
        raise sheet.error(label, rule, advice="write_in_one_case")
    fact = f"An answer counts as correct where column {predicted!r} equals column {label!r}."
    notes, num_classes = [Note("predicted", fact)], len(classes)
    if 2 <= num_classes <= len(true) / _SAMPLES_PER_CLASS:
        fact = f"There are {num_classes} classes in these columns, and K is {num_classes}."
        notes.append(Note("classes", fact, "set_infinite_classes"))
    truth = np.where(true < 0, np.nan, (true == answer).astype(np.float64))
    return truth, num_classes if len(notes) > 1 else None, tuple(notes)


def _note_classes(sheet: Sheet, used: ColumnsByRole) -> tuple[Note, ...]:
    """Return a note if confidences and correctness are beside true and predicted classes, of which K is not taken."""
    columns = [*used["label"], *used["predicted"]]
    count = len(_codes(sheet, columns)[0]) if used["label"] and used["predicted"] else 0
    if not 2 <= count <= len(sheet.rows) / _SAMPLES_PER_CLASS:
        return ()
    fact = f"Columns {columns[0]!r} and {columns[1]!r} hold {count} classes, which K is not taken from."
    return (Note("classes", fact, "set_num_classes"),)


def _truth_in(
    sheet: Sheet, reference: str, classes: Sequence[str] | None, reading: Reading, *, is_class: bool
) -> Floats:
    """Return correctness, or numbers of classes if these are given; nan where missing."""
    if classes is None:
        try:
            grades = numbers_in(sheet, reference, words=TRUTH_WORDS)
        except FileError as error:
            if is_class and error.advice == "write_1_or_0":
                error.advice = "pass_labels"
            raise
        _refuse_mean(sheet, reference, grades)
        if reading.correct_from is None:
            return grades
        return np.where(np.isnan(grades), np.nan, (grades >= reading.correct_from).astype(np.float64))
    texts, codes = _codes(sheet, [reference])
    index = {name: float(k) for k, name in enumerate(classes)}
    numbers = np.array([*(index.get(text, -1.0) for text in texts), np.nan])[codes]
    wrong = numbers == -1
    if wrong.any():
        rule, value = f"must be among the classes {', '.join(classes[:20])}", sheet.first(reference, wrong)
        raise sheet.error(reference, rule, wrong, value=value, advice="pass_labels")
    return numbers


def _refuse_mean(sheet: Sheet, reference: str, grades: Floats) -> None:
    """Raise FileError if the only grade (N,) that is not 0 or 1 is the mean of all others."""
    odd = (grades > 0) & (grades < 1)
    others = grades[~odd & ~np.isnan(grades)]
    if np.count_nonzero(odd) != 1 or len(others) < 2 or not np.isin(others, (0, 1)).all():
        return
    value = float(grades[odd][0])
    if abs(value - others.mean()) <= (0 if value == 0.5 else 0.005):
        rule = "must hold samples; one row is the mean of the others"
        raise sheet.error(reference, rule, odd, value=value, advice="leave_rows_out")


def _unlabelled_in(
    sheet: Sheet, truth: Floats, reference: str, weights: Sequence[str], rule: str | None, has_classes: bool
) -> Unlabelled | None:
    """Return which answers are unlabelled and the rule for them."""
    rows = np.isnan(truth)
    count = int(np.count_nonzero(rows))
    if not count:
        return None
    if count == len(rows):
        raise sheet.error(reference, "has no value at all")
    if rule is None or (has_classes and rule != "drop"):
        raise sheet.error(reference, "has no value", rows, advice="" if has_classes else "label_or_bound")
    weight = numbers_in(sheet, weights[0]) if weights else np.ones(len(rows))
    share = float(weight[rows].sum() / total) if (total := weight.sum()) > 0 else count / len(rows)
    return Unlabelled(rule, rows if rule != "drop" else np.zeros(len(rows) - count, dtype=bool), share)


def _note_first_class(labels: Ints, num_classes: int) -> tuple[Note, ...]:
    """Return a note if the labels may have been counted from 1 where the last class is never true."""
    occurs = np.bincount(labels, minlength=num_classes) > 0
    if num_classes < 3 or occurs[0] or not occurs[1:].all():
        return ()
    fact = f"Class 0 never occurs, and all other classes up to {num_classes - 1} do: are labels counted from 0?"
    return (Note("labels", fact),)

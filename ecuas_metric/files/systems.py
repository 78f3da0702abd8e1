"""A path or a frame -> the submissions of a table or of a run -> systems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..audit import prepare_with_judge
from ..basis import Origin
from ..errors import FileError, InputError, Note, Way
from ..inputs import POSTERIOR_FORMS, grouped
from ..options import LEVEL, check_choice, check_number, checked_options, refuse_idle_options
from ..results import Results, System, name_systems, number_systems
from .asking import ANY_NAME, ANY_NAMES
from .read import read_sheet
from .recipe import FILE_ROLES, ColumnNames, Reading, Recipe, parse_scale
from .roles import ROLES_LACKING
from .runs import RunOptions
from .runs.submissions import read_run
from .submissions import Submission, add_location, make_submissions
from .values import Sheet, as_text, from_values, make_selectable

FRAME = "frame"  # what errors call a frame, and the only system in it
# what says how a frame is read; its other options are those of `prepare_submissions`
_OF_READING = ("columns", "correct_from", "labels", "right", "scale")
_TRIED = 1000  # rows that a way to read a file is tried on, before it is printed
_ASKED_NEXT = ("two_codes", "neither_word")  # rules of errors that have ways of their own


def read_submissions(
    path: Any,
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
    """Read the systems of a file, of a frame, or of a run of lm-eval, lighteval or Inspect.

    Parameters
    ----------
    path : path or frame
        A data frame of pandas or Polars, an Arrow table, or the path of a file:
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
    user_reading = make_reading(
        columns,
        unlabelled=unlabelled,
        labels=labels,
        correct_from=correct_from,
        scale=scale,
        predictions_are=predictions_are,
        right=right,
        abstained=abstained,
    )
    if not isinstance(recipe, Recipe | None):
        raise InputError("recipe", "must be that of a submission", value=recipe)
    reading = user_reading if recipe is None else recipe.reading().override(user_reading)
    if is_frame(path):
        submissions = make_submissions(sheet_of_frame(path), FRAME, reading=reading)
    elif isinstance(path, str | Path):
        submissions = read_file(path, reading, run)
    else:
        raise InputError("path", "not_one_file", value=path, advice="read_each")
    forms = {one.form for one in submissions}
    if labels is not None and "posteriors" not in forms:
        raise InputError("labels", "requires_form", forms="posteriors", form=forms.pop())
    return submissions


def is_frame(value: object) -> bool:
    """Return whether a value is a frame in memory, of a library that passes its columns on as Arrow's."""
    return hasattr(value, "__arrow_c_stream__")


def sheet_of_frame(frame: Any) -> Sheet:
    """Return the rows of a frame, numbered from 0; what Arrow has no type for becomes text."""
    index = getattr(frame, "index", None)
    if getattr(index, "name", None) is not None:  # of pandas: a column beside others
        frame = frame.reset_index()
    names = [str(name) for name in getattr(frame, "column_names", frame.columns)]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError("frame", "must have columns of different names", value=repeated[0])
    table = _table_of_frame(frame)
    if not table.num_rows:
        raise InputError("frame", "empty")
    return Sheet(table, np.arange(table.num_rows), format="data frame")


def _table_of_frame(frame: Any) -> pa.Table:
    try:
        table = frame if isinstance(frame, pa.Table) else pa.table(frame)
    except (pa.ArrowException, TypeError, OverflowError):  # of pandas, a column of mixed types
        columns = {name: from_values(frame[name].tolist()) for name in frame.columns}
        table = pa.table({str(name): values for name, values in columns.items()})
    return make_selectable(table)


def read_file(
    path: str | Path, reading: Reading, run: RunOptions | None = None
) -> list[Submission]:
    """Return the systems of a run, or of a table; FileError with the ways that its first rows can be read in."""
    of_run = read_run(path, reading, run)
    if of_run is not None:
        return of_run
    sheet = read_sheet(path, **reading.of_file())
    try:
        return make_submissions(sheet, path, reading=reading)
    except FileError as error:
        if error.rule in ROLES_LACKING:
            error.ways = tuple(way for way in error.ways if _can_be_read(sheet, way, reading))
        raise


def _can_be_read(sheet: Sheet, way: Way, reading: Reading) -> bool:
    """Return whether the first rows can be read in a way, or it leaves names open; another choice may follow."""
    is_open = {ANY_NAME, ANY_NAMES} & {*way.columns.values()}
    if reading.systems or is_open or way.columns.keys() & {*FILE_ROLES}:
        return True
    chosen = replace(Reading(), **dict[str, Any](way.options)).with_columns(way.columns)
    whole = reading.override(replace(chosen, columns={**reading.columns, **chosen.columns}))
    try:
        make_submissions(sheet.head(_TRIED), sheet.source or "head", reading=whole)
    except FileError as error:
        return error.rule in _ASKED_NEXT
    except InputError:
        return False
    return True


def prepare_submissions(
    submissions: Iterable[Submission],
    **options: object,
) -> dict[str, System]:
    """Prepare every submission with the same options; their columns of weights, groups and strata are used.

    Parameters
    ----------
    submissions : iterable of Submission
        Of `read_submissions`.
    **options
        Every option of `compute` for their form.

    Returns
    -------
    dict of name to System

    Raises
    ------
    FileError
        In the words of the file, with row and column; also if answers have no label.
    InputError
        If two systems have the same name or their forms differ; or if an option is out of its range.
    TypeError
        If there is no such option.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ecuas_metric import read_submissions
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.json")
    >>> _ = path.write_text('[{"confidence": 0.9, "correct": 1}, {"confidence": 0.4, "correct": 0}]')
    >>> prepare_submissions(read_submissions(path), n=1)["model"].decisions.uncertainty.round(2).tolist()
    [0.1, 0.6]
    """
    submissions = list(submissions) if isinstance(submissions, Iterable) else [submissions]
    for one in submissions:
        if not isinstance(one, Submission):
            raise InputError("submissions", "must be those of read_submissions", value=one)
    for of_part in grouped(submissions, lambda one: one.part).values():
        _require_one_form(of_part)
    if not any("sample_weight" in one.per_sample for one in submissions):
        refuse_idle_options(checked_options(**options), ["weights_are"])
    systems: dict[str, System] = {}
    for submission in submissions:
        name = submission.name
        if name in systems:
            raise InputError("systems", "names_repeated", value=name, got=f"{name!r} repeatedly")
        systems[name] = prepare_submission(submission, options)
    return systems


def _require_one_form(submissions: Iterable[Submission]) -> None:
    """Raise InputError if some submissions are of confidences, and others of posteriors."""
    forms = {submission.form: submission.file for submission in submissions}
    if len(forms) > 1:
        listed = [f"{file} holds {form}" for form, file in forms.items()]
        raise InputError("systems of one table", "forms_differ", forms=listed, advice="score_apart")


def prepare_submission(submission: Submission, options: Mapping[str, object]) -> System:
    """Prepare one submission, see `prepare_submissions`."""
    if submission.unlabelled and submission.unlabelled.rule == "bounds":
        raise FileError(submission.file, "answers_unlabelled", advice="label_or_bound")
    said = {name: value for name, value in options.items() if value is not None}
    for name in said.keys() & submission.per_sample.keys():
        raise InputError(name, "is in a column too: leave one of them out")
    own = {name: getattr(submission, name) for name in ("predictions_are", "num_classes", "cost")}
    checked_options(**own | said)
    try:
        checked = checked_options(**own | said, **submission.per_sample)
        system = prepare_with_judge(
            submission.form,
            submission.predictions,
            submission.references,
            checked,
            ids=submission.ids,
        )
    except InputError as error:
        raise add_location(error, submission.recipe, submission.file, submission.rows) from None
    notes = () if "num_classes" in said else _notes_on_classes(submission)
    return replace(
        system,
        notes=notes + submission.notes + system.notes,
        truth=submission.truth,
        origin=_make_origin(submission, system.origin),
    )


def _make_origin(submission: Submission, origin: Origin) -> Origin:
    """Return the origin of a system with that of its submission."""
    return replace(
        origin,
        recipe=submission.recipe.digest(),
        reading=submission.recipe.rules(),
        unlabelled=submission.unlabelled.rule if submission.unlabelled else None,
        part=submission.part or None,
        population=submission.population or None,
    )


def _notes_on_classes(submission: Submission) -> tuple[Note, ...]:
    """Return the note that K is the number of the classes that occur, if it is that of predicted ones."""
    recipe = submission.recipe
    if recipe.form != "predicted" or submission.num_classes is None:
        return ()
    fields = {
        "count": submission.num_classes,
        "label": recipe.truth,
        "predicted": recipe.of("predicted")[0],
    }
    return (Note("classes", fields, "set_infinite_classes"),)


def collect_systems(given: Any, **options: object) -> dict[str, System]:
    """Return systems by name, however they are given: as systems, submissions, or frames whose names tell all.

    Options are those of `prepare_submissions`, for what is not prepared, and for frames those that say how a table is
    read; there is a confidence level unless they say another. InputError if options are given and all systems are
    prepared.
    """
    if isinstance(given, Mapping) and any(isinstance(one, Results) for one in given.values()):
        rule = "must have rows to be paired, and results have none"
        raise InputError("systems", rule, advice="Pass the systems or the frame itself.")
    reading = {name: one for name, one in options.items() if _is_of_reading(name, one)}
    named = _submissions_by_name(given, reading)
    if named is None:
        if options:
            rule = "have no effect on systems, which were prepared with theirs"
            raise InputError(", ".join(options), rule)
        return name_systems(given)
    left = {name: one for name, one in options.items() if name not in reading}
    return prepare_submissions(named, **{"confidence_level": LEVEL, **left})


def _is_of_reading(name: str, value: object) -> bool:
    """Return whether an option says how a frame is read; no answers are a word of its cells, or an array."""
    return name in _OF_READING or (name == "abstained" and isinstance(value, str))


def _submissions_by_name(given: Any, options: Mapping[str, Any]) -> list[Submission] | None:
    """Return the submissions of frames, read with options, or of a list of submissions; None if it is neither."""
    if is_frame(given):
        return read_submissions(given, **options)
    named = given if isinstance(given, Mapping) else {}
    if isinstance(given, Sequence):
        if given and all(isinstance(one, Submission) for one in given):
            return list(given)
        named = number_systems(given)
    are_frames = named and all(map(is_frame, named.values()))
    return _submissions_of_frames(named, make_reading(**options)) if are_frames else None


def _submissions_of_frames(frames: Mapping[str, Any], reading: Reading) -> list[Submission]:
    """Return the submissions of frames by name; of a frame of several systems each is named after both."""
    submissions: list[Submission] = []
    for name, frame in frames.items():
        read = make_submissions(sheet_of_frame(frame), name, reading=reading)
        names = [name] if len(read) == 1 else [f"{name} {one.name}" for one in read]
        submissions += [replace(one, name=of) for one, of in zip(read, names, strict=True)]
    return submissions


def make_reading(
    columns: ColumnNames | None = None,
    *,
    labels: object = None,
    scale: object = 1,
    correct_from: object = None,
    right: object = None,
    abstained: object = None,
    predictions_are: object = None,
    unlabelled: str | None = None,
) -> Reading:
    """Return how a table is to be read, of the options of `read_submissions`; InputError for values of other types."""
    return Reading(
        unlabelled=unlabelled,
        labels=None if labels is None else _parse_labels(labels),
        correct_from=None if correct_from is None else _parse_number(correct_from, "correct_from"),
        scale=parse_scale(scale) if isinstance(scale, str) else _parse_number(scale, "scale"),
        predictions_are=_parse_form(predictions_are),
        right=_parse_word(right, "right"),
        abstained=_parse_word(abstained, "abstained"),
    ).with_columns({} if columns is None else columns)


def _parse_labels(labels: object) -> tuple[str, ...]:
    """Return the names of classes as texts; InputError for one text, or a name that is there twice."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError("labels", "must be a list of the names of classes", value=labels)
    names = tuple(map(as_text, labels))
    if len(set(names)) < max(len(names), 2):
        raise InputError("labels", "must be two or more names that differ", value=names)
    return names


def _parse_number(value: object, name: str) -> float:
    return check_number(value, name, -math.inf, math.inf)


def _parse_form(predictions_are: object) -> str | None:
    if predictions_are is None:
        return None
    return check_choice(predictions_are, POSTERIOR_FORMS, "predictions_are")


def _parse_word(value: object, name: str) -> str | None:
    """Return a word, or a number as one; InputError for values of other types."""
    if not isinstance(value, str | int | float | np.number | np.bool_ | None):
        raise InputError(name, "must be a word or a number", value=value)
    return None if value is None else as_text(value)

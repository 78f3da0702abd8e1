"""A file of confidences or posteriors -> submissions, one per system; columns are found by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..errors import Advice, FileAdvice, FileError, InputError, Note
from ..inputs import Array, Ints, confidences, numbers, posteriors
from ..options import OPTIONS
from .columns import FORMS, Columns, find_columns, form_of, system_of, text_columns, with_nested
from .predictions import in_order, name_of, of_both_classes, predictions_in, told_logits
from .read import Sheet, read_sheet
from .runs import Part, RunOptions, names_of, pooled, read_parts
from .sources import stem
from .truth import RULES, Unjudged, classes_in, hits, note_first_class, settled, truth_in, unjudged_in
from .values import as_ids, column_of_numbers

OPTION_OF_ROLE = {"weight": "sample_weight", "group": "groups", "stratum": "strata"}
OF_RUNS = ("confidence", "weight", "group")  # roles whose fields in a run can be named
PARTLY = {Advice.PARTLY_CORRECT: FileAdvice.PARTLY_CORRECT, Advice.PERCENTAGES: FileAdvice.PERCENTAGES}
PARTLY[Advice.OTHER_SCALE] = FileAdvice.OTHER_SCALE  # what reading a file can do
MAX_SYSTEMS = 1000  # more is a column of something else


class Source(NamedTuple):
    """Where values come from: translates an error of the metric into the words of the file.

    Attributes
    ----------
    file : str
    columns : dict of str to str
        An argument or option of the metric, e.g. "predictions", to its column in the file.
    rows : ndarray of int
        The number of each row in the file.
    """

    file: str
    columns: Mapping[str, str]
    rows: Ints

    def error(self, error: InputError) -> FileError:
        """Return the error with file, column and row, as far as it is about them.

        Parameters
        ----------
        error : InputError

        Returns
        -------
        FileError
        """
        column, row = self.columns.get(error.argument), None
        if column is not None and error.index is not None:
            row = int(self.rows[error.index if isinstance(error.index, int) else error.index[0]])
        located = FileError(self.file, error.rule, column=column, row=row)
        vars(located).update(vars(error))
        located.advice = PARTLY.get(error.advice, error.advice)  # type: ignore[call-overload]
        return located


class Reading(NamedTuple):
    """How to read what is in the columns of a file, as `read_submissions` was told."""

    unjudged: str | None = None
    labels: Sequence[str] | None = None
    correct_from: float | None = None
    scale: float = 1


class Submission(NamedTuple):
    """The output of one system, as a file has it.

    Attributes
    ----------
    name, form : str
        The system's name; "confidences" or "posteriors".
    predictions, references : ndarray
        Checked by `inputs`, except for what depends on options.
    ids : pandas.Index or None
        What pairs its samples with those of other systems: whole numbers or text.
    per_sample : dict of str to list
        Columns of weights, groups and strata, under the names of the metric's options.
    notes : tuple of Note
        E.g. how many answers are unjudged.
    source : Source
        For errors.
    predictions_are : str or None
        What the names of its columns say they are, if they say it.
    unjudged : Unjudged or None
        Which answers nobody judged, if there are any; `references` has 0 there.
    of, part : str
        Where the role `part` or the tasks of a run make several of a system: the system's name, and the part's.
    """

    name: str
    form: str
    predictions: Array
    references: Array
    ids: pd.Index | None
    per_sample: Mapping[str, list[object]]
    notes: tuple[Note, ...]
    source: Source
    predictions_are: str | None = None
    unjudged: Unjudged | None = None
    of: str = ""
    part: str = ""


def read_submissions(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    unjudged: str | None = None,
    labels: Sequence[str] | None = None,
    run: RunOptions | None = None,
    correct_from: float | None = None,
    scale: float = 1,
) -> list[Submission]:
    """Read the systems of a file, or of a run of lm-eval, lighteval, Inspect, HELM or callm.

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
    unjudged : {"bounds", "wrong", "drop"}, optional
        What becomes of answers whose correctness is missing, instead of an error: `make_report` bounds what depends
        on them, they count as wrong, or they are left out, which flatters nearly every system.
    labels : sequence of str, optional
        The names of all classes, in the order of the posteriors, where the columns do not have them.
    run : RunOptions, optional
        What a run leaves open: tasks, filter, the lengths that log-likelihoods are divided by.
    correct_from : float, optional
        Answers with this grade or a higher one are correct, others not; by default only 0 and 1 are taken.
    scale : float
        What confidences or probabilities of 1 are in the file, e.g. 100 for percentages without a sign.

    Returns
    -------
    list of Submission
        One for each model and task of a run; of another file one, named after it, or one for each value of the column
        of systems.

    Raises
    ------
    InputError
        If `columns` has an unknown role, or `unjudged` is no rule.
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
    told = Reading(unjudged, labels, correct_from, scale)
    of_run = read_run(path, columns=columns, run=run, told=told)
    if of_run is not None:
        return of_run
    sheet = read_sheet(path, text=text_columns(columns))
    return submissions_of(sheet, path, columns=columns, **told._asdict())


def read_run(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    run: RunOptions | None = None,
    told: Reading | None = None,
) -> list[Submission] | None:
    """Return the systems of a run, or None if it is none; see `read_submissions`."""
    given = columns or {}
    named = {role: given.get(role) for role in OF_RUNS}
    parts = read_parts(path, RunOptions(**{**(run or RunOptions())._asdict(), **named}))
    if parts is None:
        return None
    parts = _by(parts, given.get("part"), path)
    return [submission_of(part, name, told or Reading()) for part, name in zip(parts, names_of(parts), strict=True)]


def _by(parts: list[Part], by: str | None, path: str | Path) -> list[Part]:
    """Return the parts of a run as they are, one per task, or with the tasks of each model pooled."""
    if by not in (None, "task", "model"):
        raise FileError(path, "is a run, which has parts by task or by model", value=by, got=repr(by))
    return pooled(parts) if by == "model" else parts


def submission_of(part: Part, name: str, reading: Reading) -> Submission:
    """Return the system of a part of a run."""
    table, columns = part.table()
    if "correct" not in columns:
        reading = reading._replace(correct_from=None, scale=1)
    sheet = Sheet(pd.DataFrame(table), part.rows)
    (submission,) = submissions_of(sheet, part.path, columns=columns, **reading._replace(labels=None)._asdict())
    told = "log_probabilities" if submission.form == "posteriors" else None
    of_task = part.task if part.num_classes is None else f"{part.task}, {part.num_classes} choices"
    notes = (part.note, *submission.notes)
    return submission._replace(name=name, notes=notes, predictions_are=told, of=part.model, part=of_task)


def submissions_of(
    sheet: Sheet,
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    unjudged: str | None = None,
    labels: Sequence[str] | None = None,
    correct_from: float | None = None,
    scale: float = 1,
) -> list[Submission]:
    """Return the systems of a sheet.

    Parameters
    ----------
    sheet : Sheet
        Of `read_sheet`.
    path : path
        What it was read from: names a single system, and is named by errors.
    columns, unjudged, labels, correct_from, scale
        See `read_submissions`.

    Returns
    -------
    list of Submission

    Raises
    ------
    FileError
        See `read_submissions`.
    """
    given = columns or {}
    if unjudged is not None and unjudged not in RULES:
        raise InputError("unjudged", f"must be one of {', '.join(RULES)}", value=unjudged)
    if sheet.frame.empty:
        raise FileError(path, "the file has no rows")
    sheet = sheet._replace(frame=with_nested(sheet.frame, given))
    used = find_columns(sheet.frame, given, str(path))
    form = form_of(sheet.frame, used, given, str(path))
    if not scale > 0 or (correct_from is not None and form != "confidences"):
        name, rule = ("correct_from", "requires confidences") if scale > 0 else ("scale", "must be positive")
        raise InputError(name, rule, value=correct_from if scale > 0 else scale)
    told = Reading(unjudged, labels, correct_from, scale)
    systems = [name for name in used["system"] if name not in used["part"]]
    return [
        _submission(f"{of} {part}" if part else of, of_part, of_one, form, str(path), told)._replace(of=of, part=part)
        for name, of_system in _parts(sheet, systems, path)
        for of, of_one in _wide(name, used, form, str(path))
        for part, of_part in (_parts(of_system, used["part"], path) if used["part"] else [("", of_system)])
    ]


def _parts(sheet: Sheet, names: Sequence[str], path: str | Path) -> list[tuple[str, Sheet]]:
    """Return the rows of each system, by the columns of their names."""
    if not names:
        return [(stem(path), sheet)]
    systems = _systems(sheet, names, path)
    return [(name, sheet.select((systems == name).to_numpy())) for name in dict.fromkeys(systems)]


def _wide(name: str, used: Columns, form: str, path: str) -> list[tuple[str, Columns]]:
    """Return the columns of each system where several have columns of their own."""
    role, truth, *_ = FORMS[form]
    if len(used[role]) == 1 or form == "posteriors":
        return [(name, used)]
    truths = list(used[truth]) * (len(used[role]) if len(used[truth]) == 1 else 1)
    if len(truths) != len(used[role]):
        rule = f"there must be one column {truth} or as many as columns {role}"
        raise FileError(path, rule, value=len(truths), got=f"{len(truths)} and {len(used[role])}")
    prefix = f"{name} " if used["system"] else ""
    return [
        (prefix + system_of(column), {**used, role: [column], truth: [true]})
        for column, true in zip(used[role], truths, strict=True)
    ]


def _systems(sheet: Sheet, names: Sequence[str], path: str | Path) -> pd.Series:
    frame = sheet.frame
    for name in names:
        blank = (frame[name].isna() | (frame[name].astype(str).str.strip() == "")).to_numpy()
        if blank.any():
            row = int(sheet.rows[blank][0])
            raise FileError(path, "must name a system; it is empty", column=name, row=row)
    parts = frame[list(names)].astype(str)
    systems = parts.iloc[:, 0] if len(names) == 1 else parts.agg(" ".join, axis=1)
    if (count := systems.nunique()) > MAX_SYSTEMS:
        rule = f"must name at most {MAX_SYSTEMS:,} systems"
        raise FileError(path, rule, column="+".join(names), value=count, got=f"{count:,}")
    return systems


def _submission(name: str, sheet: Sheet, used: Columns, form: str, path: str, told: Reading) -> Submission:
    role, truth_role, *_ = FORMS[form]
    prediction, reference = in_order(list(used[role]), told.labels), used[truth_role][0]
    has_classes = form in ("posteriors", "positive")
    classes = classes_in(sheet, prediction, reference, told.labels, path) if has_classes else None
    if form == "predicted":
        truth, notes = hits(sheet, reference, used["predicted"][0], path)
    else:
        truth, notes = truth_in(sheet, reference, path, classes, told.correct_from), ()
    unjudged, noted = unjudged_in(sheet, truth, reference, used["weight"], path, told.unjudged, has_classes=has_classes)
    if unjudged is not None:
        sheet, truth = settled(sheet, truth, unjudged.rule)
    columns = {"predictions": name_of(prediction), "references": reference}
    columns |= {"ids": used["id"][0]} if used["id"] else {}
    columns |= {option: used[role][0] for role, option in OPTION_OF_ROLE.items() if used[role]}
    source, notes = Source(path, columns, sheet.rows), notes + noted
    values = predictions_in(sheet, prediction, path, share=told.scale == 1)
    try:
        values = values if told.scale == 1 else numbers(values, "predictions") / told.scale
        if form == "positive":
            values, noted = of_both_classes(values, prediction[0], reference, classes, sheet.frame[reference])
            notes += noted
        predictions, references = (posteriors if has_classes else confidences)(values, truth)
    except InputError as error:
        raise source.error(error) from None
    ids = as_ids(sheet.frame[used["id"][0]]) if used["id"] else None
    per_sample = {option: sheet.frame[column].tolist() for option, column in columns.items() if option in OPTIONS}
    if used["weight"]:
        per_sample["sample_weight"] = column_of_numbers(sheet, used["weight"][0], path).tolist()
    are, said = told_logits(prediction, reference, predictions) if form == "posteriors" else (None, ())
    notes += said + (note_first_class(references, predictions.shape[1]) if has_classes else ())
    kind = "posteriors" if has_classes else "confidences"
    return Submission(name, kind, predictions, references, ids, per_sample, notes, source, are, unjudged)

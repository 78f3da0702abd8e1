"""A path -> the systems of a table or of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import FileError, InputError, Way
from .read import read_sheet
from .recipe import OF_FILES, ColumnNames, Reading, Recipe
from .runs import RunOptions
from .runs.submissions import read_run
from .submissions import Submission, submissions_of
from .values import Sheet

_TRIED = 1000  # rows that a way to read a file is tried on, before it is printed
_TO_BE_TRIED = ("roles_missing", "one_role_missing")  # rules of errors with ways by types alone
_ASKED_NEXT = ("two_codes", "neither_word")  # rules of errors that have ways of their own


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

"""Files of visitors -> submissions, or an error. Unless a file is harmless, a process with little memory reads it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from ecuas_metric.errors import FileError, InputError
from ecuas_metric.files.cells import truths_in
from ecuas_metric.files.read import TABLE_SUFFIXES as TABLES
from ecuas_metric.files.read import frame_of, read_sheet
from ecuas_metric.files.recipe import Reading
from ecuas_metric.files.submissions import Submission, read_run, submissions_of
from ecuas_metric.files.values import Sheet
from ecuas_metric.inputs import Floats

from .bounded import LimitExceededError, bounded

PACKED = (".parquet", ".eval")  # a small one may expand to any size
SUFFIXES = (*TABLES, ".eval")  # also runs of lm-eval, lighteval, Inspect
MAX_BYTES = 20 * 1024 * 1024  # what Gradio calls 20 MB
MAX_BYTES_OF_ALL = 3 * MAX_BYTES
SMALL = 10_000  # bytes of text: at most 12,500,000 cells
MEDIUM, FEW = 1_000_000, 100  # bytes of a table as text, and its columns: at most 50,000,000 cells
COUNTED, SEPARATORS = (".csv", ".tsv", ".txt"), b",;\t|"
MAX_FILES = 50
MAX_SYSTEMS = 50
MAX_COLUMNS = 5_000  # finding roles among 100,000 takes minutes
MAX_NAME = 200  # characters of the name of a system
TREATMENTS = {  # of answers without correctness: a rule, in words
    "bounds": "show best and worst case",
    "wrong": "count as wrong",
    "drop": "leave out (makes systems look better)",
}
RULES = tuple(TREATMENTS)
POPULATION = "population"  # a column of graded answers alone, see `answers`: whose weights and strata are used unasked
GRADED_COLUMNS = {"id": "question_id", "weight": "weight", "stratum": "stratum"}
HELP = (
    "CSV, JSON lines or Parquet with columns `confidence` and `correct` (0 or 1), or `label`, `prob_0`, `prob_1`, ... "
    "Samples of lm-eval, lighteval and Inspect are read as they are. "
    "Several systems in one file need a column `system`; a column `id` pairs their samples. Columns of other names: "
    "see Options. "
    f"At most 20 MB per file, {MAX_FILES} files and {MAX_SYSTEMS} systems; the command `ecuas` takes more."
)
TEXT = ("question_id", "answer")
NEEDED = (*TEXT, "confidence")
TYPES = {**dict.fromkeys(TEXT, str), "correct": float}
MAX_TEXT = 1000  # characters of an answer
_Result = TypeVar("_Result")


def read_uploads(
    paths: Sequence[str],
    reading: Reading | None = None,
) -> list[Submission]:
    """Read the systems of all files, each file once."""
    if not paths:
        raise InputError("Files", "no_file", advice="upload_one")
    require_at_most("Files", "too_many_files", len(paths), MAX_FILES)
    return _call_safely(_read, paths, reading or Reading())


def require_at_most(
    what: str,
    rule: str,
    number: int,
    most: int,
) -> None:
    """Raise an InputError if there is more than this page takes."""
    if number > most:
        raise InputError(what, rule, got=f"{number:,}", advice="use_the_command", most=most)


def plain_text(text: str, longest: int = MAX_NAME) -> str:
    """Return a text as one line without what could hide or reorder text: control, format and private characters."""
    one_line = " ".join(text.split())
    shown = [one for one in one_line if unicodedata.category(one)[0] != "C"]
    return "".join(shown)[:longest].strip()


def read_answers(path: str) -> pd.DataFrame:
    """Return the columns question_id, answer, confidence and correct of a file, by its rows.

    A missing answer is an empty one. What is correct, 1, 0 or missing, is what the visitor says.
    """
    return _call_safely(_read_answers, [path])


def _size_of(file: Path) -> int:
    """Return the number of bytes of a file, or refuse it by its name and size, before it is read."""
    if file.suffix.lower() not in SUFFIXES:
        raise InputError(
            file.name, "suffix_of_no_table", advice="other_tables", suffixes=list(SUFFIXES)
        )
    if not file.is_file():
        raise InputError(file.name, "file_gone")
    size = file.stat().st_size
    if not size:
        raise InputError(file.name, "file_empty")
    require_at_most(file.name, "too_many_bytes", size, MAX_BYTES)
    return size


def _call_safely(
    function: Callable[..., _Result],
    paths: Sequence[str],
    *arguments: object,
) -> _Result:
    """Call a function of files in a process of its own, which takes half a second, unless they are harmless."""
    files = [Path(path) for path in paths]
    size = sum(map(_size_of, files))
    require_at_most("All files together", "too_many_bytes", size, MAX_BYTES_OF_ALL)
    if size <= MEDIUM and all(map(_is_harmless, files)):
        return function(paths, *arguments)
    try:
        # Plain strings: those of Gradio would make the process import Gradio, which takes seconds.
        return bounded(function, [str(path) for path in files], *arguments)
    except LimitExceededError:
        what = files[0].name if len(files) == 1 else "these files"
        raise InputError(f"Reading {what}", "takes_too_long", advice="use_the_command") from None


def _is_harmless(path: Path) -> bool:
    """Return whether a file is text that can become only so many cells."""
    suffix = path.suffix.lower()
    is_small = path.stat().st_size <= SMALL and suffix not in PACKED
    return is_small or (suffix in COUNTED and _width_of(path) <= FEW)


def _width_of(path: Path) -> int:
    """Return the largest number of columns that a table can have by its first line: longer rows are refused."""
    with path.open("rb") as file:
        header = file.readline(MEDIUM)
    return max(map(header.count, SEPARATORS)) + 1


def _read(paths: Sequence[str], reading: Reading) -> list[Submission]:
    submissions: list[Submission] = []
    for path in map(Path, paths):
        with _errors_of(path):
            run = read_run(path, reading)
            submissions += (
                _read_table(path, reading) if run is None else [_named(one, path) for one in run]
            )
        if len(submissions) > MAX_SYSTEMS:
            raise InputError(
                "Systems", "too_many_systems_of_files", advice="use_the_command", most=MAX_SYSTEMS
            )
    return _with_different_names(submissions)


def _named(submission: Submission, path: Path) -> Submission:
    """Name a system of a run after its file: without the results beside it, it bears its folder's name."""
    name = submission.name.replace(path.parent.name, path.stem)
    return replace(submission, name=name, recipe=replace(submission.recipe, source=path.name))


def _read_table(path: Path, reading: Reading) -> list[Submission]:
    """Return the systems of a table; the columns of graded answers have their roles unasked."""
    sheet = _read_sheet(path, **reading.of_file())
    if {POPULATION, *GRADED_COLUMNS.values()} <= set(sheet.table.column_names):
        reading = replace(reading, columns={**GRADED_COLUMNS, **reading.columns})
    return submissions_of(sheet, path.name, reading=reading)


def _with_different_names(submissions: list[Submission]) -> list[Submission]:
    """Return submissions with names that show as they are: `plain_text`, not empty, and all different by a number."""
    by_name: dict[str, Submission] = {}
    for submission in submissions:
        name = plain_text(submission.name) or "unnamed"
        candidates = (name, *(f"{name} ({i})" for i in range(2, MAX_SYSTEMS + 1)))
        free = next(candidate for candidate in candidates if candidate not in by_name)
        by_name[free] = replace(submission, name=free)
    return list(by_name.values())


def _read_answers(paths: Sequence[str]) -> pd.DataFrame:
    path = Path(paths[0])
    with _errors_of(path):
        sheet = _read_sheet(path)
    if not len(sheet.rows):
        raise FileError(path.name, "no_rows")
    columns = frame_of(sheet, text=TEXT)
    if missing := [name for name in NEEDED if name not in columns]:
        names = list(columns)[:20]
        raise InputError(
            "Answers", "column_missing", needed=list(NEEDED), missing=missing[0], columns=names
        )
    if "correct" in columns:
        with _errors_of(path):
            columns["correct"] = _verdicts_in(sheet)
    columns = columns.reindex(columns=[*NEEDED, "correct"]).fillna(dict.fromkeys(TEXT, ""))
    frame = columns.set_axis(sheet.rows).astype(TYPES)
    is_long = frame["answer"].str.len() > MAX_TEXT
    if is_long.any():
        raise InputError("column 'answer'", "too_long_texts", most=MAX_TEXT, rows=is_long.sum())
    return frame


def _verdicts_in(sheet: Sheet) -> Floats:
    """Return 1, 0 or nan of the column `correct` (N,): no grades, since nothing here says which count as correct."""
    try:
        verdicts = truths_in(sheet, "correct")
    except InputError as error:
        error.advice = "write_1_for_right"  # there are no options here
        raise
    wrong = ~(np.isin(verdicts, (0, 1)) | np.isnan(verdicts))
    if wrong.any():
        raise sheet.error("correct", "not_0_or_1", wrong, advice="write_1_for_right")
    return verdicts


def _read_sheet(path: Path) -> Sheet:
    if path.suffix.lower() in COUNTED:
        # before so many are read
        require_at_most(path.name, "too_many_columns", _width_of(path), MAX_COLUMNS)
    sheet = read_sheet(path)
    require_at_most(path.name, "too_many_columns", sheet.table.num_columns, MAX_COLUMNS)
    return sheet


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Turn any error of reading a strange file into one that has the file's name, not its folder."""
    try:
        yield
    except FileError as error:
        error.file = path.name
        for name, value in error.fields.items():
            if isinstance(value, str):
                error.fields[name] = value.replace(str(path), path.name)
        raise
    except (InputError, MemoryError):
        raise
    except RecursionError:
        raise FileError(path.name, "nested_too_deeply") from None
    except Exception as error:  # what strange files raise is beyond listing
        whole = str(error).replace(str(path), path.name).strip()
        reason = whole.split("\n")[0].rstrip(".")
        raise FileError(path.name, "unreadable", reason=reason) from None

"""Files of visitors -> submissions, or an error. Unless a file is harmless, a process with little memory reads it."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ecuas_metric.errors import FileError, InputError
from ecuas_metric.files.read import TABLE_SUFFIXES as TABLES
from ecuas_metric.files.read import frame_of, read_sheet
from ecuas_metric.files.recipe import HEAD, Reading, resolve
from ecuas_metric.files.submissions import Submission, read_run, submissions_of
from ecuas_metric.files.values import Sheet
from ecuas_metric.inputs import Ints

from .bounded import LimitExceededError, bounded

if TYPE_CHECKING:
    import pandas as pd

PACKED = (".parquet", ".eval")  # a small one may expand to any size
SUFFIXES = (*TABLES, ".eval")  # also runs of lm-eval, lighteval, Inspect
MAX_BYTES = 20 * 1024 * 1024  # what Gradio calls 20 MB
MAX_BYTES_OF_ALL = 3 * MAX_BYTES
SMALL = 10_000  # bytes of text: at most 12,500,000 cells
MEDIUM, FEW = 1_000_000, 100  # bytes of a table as text, and its columns by counting
COUNTED, SEPARATORS, ENDS = (".csv", ".tsv", ".txt"), b",;\t|", b"\r\n"
MAX_FILES = 50
MAX_SYSTEMS = 50
MAX_COLUMNS = 5_000  # finding roles among 100,000 takes minutes
MAX_NAME = 200  # characters of the name of a system or a column
COLUMNS = {  # the roles that visitors can choose a column for -> what it holds
    "confidence": "Numbers in [0, 1]",
    "correct": "0 or 1, true or false",
    "label": "The true class, from 0",
    "predicted": "The class that the confidence is of, beside the true one",
    "posteriors": "A column of lists; prob_0, prob_1, .. are found without it",
    "system": "Names of systems; join several columns by +, e.g. llm+method",
    "id": "Pairs the samples of different systems",
    "weight": "How much each sample counts",
    "group": "Samples of one group depend on each other",
}
TREATMENTS = {  # of answers without correctness, in words -> the rule
    "show best and worst case": "bounds",
    "count as wrong": "wrong",
    "leave out (makes systems look better)": "drop",
}
RULES = tuple(TREATMENTS.values())
POPULATION = "population"  # a column of graded answers alone, see `answers`: whose weights and strata are used unasked
GRADED_COLUMNS = {"id": "question_id", "weight": "weight", "stratum": "stratum"}
HELP = (
    "CSV, JSON lines or Parquet with columns `confidence` and `correct` (0 or 1), or `label`, `prob_0`, `prob_1`, ... "
    "Samples of lm-eval, lighteval and Inspect are read as they are. "
    "Several systems in one file need a column `system`; a column `id` pairs their samples. "
    f"At most 20 MB per file, {MAX_FILES} files and {MAX_SYSTEMS} systems; the command `ecuas` takes more."
)
TEXT = ("question_id", "answer")
NEEDED = (*TEXT, "confidence")
MAX_TEXT = 1000  # characters of an answer
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of a visitor's model: question_id, answer, confidence, and the number of each row in its file."""

    frame: pd.DataFrame
    rows: Ints


def read_uploads(
    paths: Sequence[str],
    *,
    columns: Mapping[str, str | None] | None = None,
    unlabelled: str | None = None,
    scale: float = 1,
    correct_from: float | None = None,
) -> list[Submission]:
    """Read the systems of all files, each file once; of `columns` (role -> name) a file uses those that it has."""
    if not paths:
        raise InputError("Files", "no_file", advice="upload_one")
    if len(paths) > MAX_FILES:
        raise InputError("Files", "too_many_files", got=f"{len(paths):,}", advice="use_the_command", most=MAX_FILES)
    chosen = {role: column for role, column in (columns or {}).items() if column}
    return _call_safely(_read, paths, chosen, Reading(unlabelled, correct_from=correct_from, scale=scale))


def plain_text(text: str, longest: int = MAX_NAME) -> str:
    """Return a text as one line without what could hide or reorder text: control, format and private characters."""
    one_line = " ".join(text.split())
    return "".join(one for one in one_line if unicodedata.category(one)[0] != "C")[:longest].strip()


def read_answers(path: str) -> Answers:
    """Return the columns question_id, answer, confidence of a file, a missing answer as an empty one."""
    return _call_safely(_read_answers, [path])


def detect(path: str) -> tuple[list[str], dict[str, str | None]]:
    """Return the names of a file's columns, and which of them has which role (None: none, or several)."""
    return _call_safely(_detect, [path])


def _size_of(file: Path) -> int:
    """Return the number of bytes of a file, or refuse it by its name and size, before it is read."""
    if file.suffix.lower() not in SUFFIXES:
        raise InputError(file.name, "suffix_of_no_table", suffixes=list(SUFFIXES))
    if not file.is_file():
        raise InputError(file.name, "file_gone")
    size = file.stat().st_size
    if not size:
        raise InputError(file.name, "file_empty")
    if size > MAX_BYTES:
        raise InputError(
            file.name,
            "too_many_bytes",
            got=f"{size:,}",
            advice="use_the_command",
            most=MAX_BYTES,
        )
    return size


def _call_safely(
    function: Callable[..., _Result],
    paths: Sequence[str],
    *arguments: object,
) -> _Result:
    """Call a function of files in a process of its own, which takes half a second, unless they are harmless."""
    files = [Path(path) for path in paths]
    size = sum(map(_size_of, files))
    if size > MAX_BYTES_OF_ALL:
        raise InputError("All files together", "too_many_bytes", got=f"{size:,}", most=MAX_BYTES_OF_ALL)
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
    size = path.stat().st_size
    suffix = path.suffix.lower()
    if suffix in PACKED:
        return False
    if size <= SMALL:
        return True
    if suffix not in COUNTED or size > MEDIUM:
        return False
    text = np.frombuffer(path.read_bytes() + b"\n", np.uint8)
    until = np.cumsum(np.isin(text, list(SEPARATORS)))[np.isin(text, list(ENDS))]
    return bool(np.diff(until, prepend=0).max() < FEW)


def _read(
    paths: Sequence[str],
    chosen: Mapping[str, str],
    reading: Reading,
) -> list[Submission]:
    known: set[str] = set()
    submissions: list[Submission] = []
    for path in map(Path, paths):
        submissions += _read_run(path, chosen, reading) or _read_table(
            path,
            chosen,
            reading,
            known,
        )
        if len(submissions) > MAX_SYSTEMS:
            raise InputError("Systems", "too_many_systems_of_files", advice="use_the_command", most=MAX_SYSTEMS)
    for role, column in chosen.items():
        if known and not _parts(role, column) <= known:
            raise InputError("No file", "no_column_in_any_file", advice="choose_another_column", column_name=column)
    return _with_different_names(submissions)


def _read_run(
    path: Path,
    chosen: Mapping[str, str],
    reading: Reading,
) -> list[Submission]:
    """Return the systems of a run, named after its file: without the results beside it, it bears its folder's name."""
    with _errors_of(path):
        systems = read_run(path, columns=chosen, reading=reading)
    return [_named(system, system.name.replace(path.parent.name, path.stem)) for system in systems or ()]


def _read_table(
    path: Path,
    chosen: Mapping[str, str],
    reading: Reading,
    known: set[str],
) -> list[Submission]:
    """Return the systems of a table by those chosen columns that it has, and add its columns to the `known` ones."""
    sheet = _read_sheet(path)
    names = set(sheet.table.column_names)
    known |= names
    columns = {role: column for role, column in chosen.items() if _parts(role, column) <= names}
    if {POPULATION, *GRADED_COLUMNS.values()} <= names:
        columns = GRADED_COLUMNS | columns
    with _errors_of(path):
        return submissions_of(sheet, path.name, columns=columns, reading=reading)


def _named(submission: Submission, name: str) -> Submission:
    return submission._replace(name=name)


def _with_different_names(submissions: list[Submission]) -> list[Submission]:
    """Return submissions with names that show as they are: `plain_text`, not empty, and all different by a number."""
    by_name: dict[str, Submission] = {}
    for submission in submissions:
        _check_length("Names of systems", submission.name)
        name = plain_text(submission.name) or "unnamed"
        candidates = (name, *(f"{name} ({i})" for i in range(2, MAX_SYSTEMS + 1)))
        free = next(candidate for candidate in candidates if candidate not in by_name)
        by_name[free] = _named(submission, free)
    return list(by_name.values())


def _read_answers(paths: Sequence[str]) -> Answers:
    sheet = _read_sheet(Path(paths[0]))
    frame = frame_of(sheet, text=TEXT)
    missing = [name for name in NEEDED if name not in frame]
    if missing:
        names = list(frame.columns[:20])
        raise InputError(
            "Answers",
            "column_missing",
            needed=list(NEEDED),
            missing=missing[0],
            columns=names,
        )
    texts = {name: frame[name].fillna("").astype(str) for name in TEXT}
    for name, values in texts.items():
        is_long = values.str.len() > MAX_TEXT
        if is_long.any():
            raise InputError(f"column {name!r}", "too_long_texts", most=MAX_TEXT, rows=is_long.sum())
    return Answers(frame[list(NEEDED)].assign(**texts), sheet.rows)


def _detect(paths: Sequence[str]) -> tuple[list[str], dict[str, str | None]]:
    path = Path(paths[0])
    with suppress(InputError), _errors_of(path):
        if read_run(path) is not None:
            return [], dict.fromkeys(COLUMNS)
    table = _read_sheet(path).table
    roles: dict[str, str | None] = dict.fromkeys(COLUMNS)
    with suppress(InputError):  # e.g. a role is missing: the visitor chooses
        recipe = resolve(table.slice(0, HEAD), Reading(), source=path.name, rows=len(table))
        for role, columns in recipe.columns.items():
            if role in roles and len(columns) == 1:
                roles[role] = columns[0]
    return table.column_names, roles


def _read_sheet(path: Path) -> Sheet:
    if path.suffix.lower() in COUNTED:
        with path.open("rb") as file:  # before so many are read
            header = file.readline()
        _check_columns(path, max(map(header.count, SEPARATORS)) + 1)
    with _errors_of(path):
        sheet = read_sheet(path)
    _check_columns(path, sheet.table.num_columns)
    for name in sheet.table.column_names:
        _check_length(f"{path.name}: names of columns", name)
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
    except InputError:
        raise
    except RecursionError:
        raise FileError(path.name, "nested_too_deeply") from None
    except (ValueError, TypeError, LookupError, OSError, RuntimeError, OverflowError, csv.Error) as error:
        reason = str(error).replace(str(path), path.name).strip().split("\n")[0].rstrip(".")
        raise FileError(path.name, "unreadable", reason=reason) from None


def _check_columns(path: Path, count: int) -> None:
    if count > MAX_COLUMNS:
        raise InputError(
            path.name,
            "too_many_columns",
            got=f"{count:,}",
            advice="use_the_command",
            most=MAX_COLUMNS,
        )


def _check_length(what: str, name: str) -> None:
    if len(name) > MAX_NAME:
        got = f"{len(name):,}: {name[:40]!r}"
        raise InputError(
            what,
            "too_long_name",
            value=name[:40],
            got=got,
            most=MAX_NAME,
        )


def _parts(role: str, column: str) -> set[str]:
    return set(column.split("+")) if role == "system" else {column}

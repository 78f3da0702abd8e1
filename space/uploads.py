"""Files of visitors -> submissions, or an error; read by a process of its own, see `bounded`."""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from ecuas_metric.errors import FileError, InputError
from ecuas_metric.files.cells import parse_cells, read_truths
from ecuas_metric.files.read import TABLE_SUFFIXES as TABLES
from ecuas_metric.files.read import read_sheet
from ecuas_metric.files.recipe import Reading
from ecuas_metric.files.runs.submissions import read_run
from ecuas_metric.files.submissions import Submission, make_submissions
from ecuas_metric.files.values import Sheet
from ecuas_metric.inputs import Floats

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest of each; a process that computes takes these with its task, see `bounded`."""

    # of what is sent
    file_bytes: int = 20 * 1024 * 1024  # what Gradio calls 20 MB
    all_bytes: int = 60 * 1024 * 1024
    call_bytes: int = 1 * MB  # of a call with its texts: in memory JSON takes many times its size
    files: int = 50
    # of what it becomes
    unpacked_bytes: int = 400 * MB
    rows: int = 1_000_000
    columns: int = 5_000
    systems: int = 50
    # of a task
    memory: int = 1000 * MB  # besides what Python and its libraries take
    cpu_seconds: int = 15
    seconds: int = 120  # where processors are busy
    result_bytes: int = 8 * MB
    # of all together
    tasks: int = 4  # at once
    waiting: int = 200
    unread: int = 200  # results for programs that nobody has fetched yet
    patience: int = 120  # seconds
    disk_bytes: int = 1000 * MB


LIMITS = Limits()
LOG_SUFFIX = ".eval"
SUFFIXES = (*TABLES, LOG_SUFFIX)  # also runs of lm-eval, lighteval, Inspect
SEPARATORS = b",;\t|"
JSON_STARTS = (b"{", b"[")
BEGINNING = 1_000_000  # bytes that show how many columns a table has
CELL = 8  # bytes, at the least
ARCHIVE = b"PK\3\4"
PACKED = (ARCHIVE, b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"ARROW1", b"\xff\xff\xff\xff", b"\x93NUMPY")
LOG_PARTS = {"header.json", "_journal/start.json"}  # one of which each log of Inspect has
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
    "enter these under Options, “Columns”. "
    f"At most 20 MB per file, {LIMITS.files} files and {LIMITS.systems} systems; the command `ecuas` takes more."
)
TEXT = ("question_id", "answer")
NEEDED = (*TEXT, "confidence")
TYPES = {**dict.fromkeys(TEXT, str), "correct": float}
MAX_TEXT = 1000  # characters of an answer


def read_uploads(paths: Sequence[str], reading: Reading | None = None) -> list[Submission]:
    """Read the systems of all files, each file once."""
    if not paths:
        raise InputError("Files", "no_file", advice="upload_one")
    require_at_most("Files", "too_many_files", len(paths), LIMITS.files)
    files = list(map(Path, paths))
    size = sum(map(_size, files))
    require_at_most("All files together", "too_many_bytes", size, LIMITS.all_bytes)
    submissions: list[Submission] = []
    for file in files:
        with _errors_of(file):
            submissions += _read(file, reading or Reading())
        if len(submissions) > LIMITS.systems:
            rule = "too_many_systems_of_files"
            raise InputError("Systems", rule, advice="use_the_command", most=LIMITS.systems)
        rows = sum(len(one.rows) for one in submissions)
        require_at_most("All files together", "too_many_rows", rows, LIMITS.rows)
    return _with_different_names(submissions)


def require_at_most(what: str, rule: str, number: int, most: int) -> None:
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
    file = Path(path)
    _size(file)
    with _errors_of(file):
        return _answers_in(_read_sheet(file))


def _size(file: Path) -> int:
    """Return the number of bytes of a file; refuse it before it is read, by its name, its size and its content."""
    if file.suffix.lower() not in SUFFIXES:
        raise InputError(
            file.name, "suffix_of_no_table", advice="other_tables", suffixes=list(SUFFIXES)
        )
    if not file.is_file():
        raise InputError(file.name, "file_gone")
    size = file.stat().st_size
    if not size:
        raise InputError(file.name, "file_empty")
    require_at_most(file.name, "too_many_bytes", size, LIMITS.file_bytes)
    with _errors_of(file):
        _require_moderate(file)
    return size


def _require_moderate(file: Path) -> None:
    """Refuse a file by its content if it is of no kind that is read here, or unpacks to too much."""
    with file.open("rb") as content:
        start = content.read(BEGINNING)
    if file.suffix.lower() == LOG_SUFFIX and start.startswith(ARCHIVE):
        return _require_log(file)
    if start.startswith(b"PAR1"):
        described = parquet.read_metadata(file)
        groups = map(described.row_group, range(described.num_row_groups))
        size = sum(group.total_byte_size for group in groups)
        return _require_size(file, described.num_rows, described.num_columns, size)
    if start.startswith(PACKED) or file.suffix.lower() == LOG_SUFFIX:
        raise InputError(file.name, "content_of_no_table", advice="other_tables")
    if start.lstrip().startswith(JSON_STARTS):
        return None
    header, _, _ = start.lstrip().partition(b"\n")
    columns = max(map(header.count, SEPARATORS)) + 1
    return _require_size(file, _lines(file), columns)


def _require_size(file: Path, rows: int, columns: int, size: int = 0) -> None:
    """Refuse a table of too many rows, columns or bytes."""
    unpacked = max(size, CELL * rows * columns)
    require_at_most(file.name, "too_many_columns", columns, LIMITS.columns)
    require_at_most(file.name, "too_many_rows", rows, LIMITS.rows)
    require_at_most(file.name, "too_much_unpacked", unpacked, LIMITS.unpacked_bytes)


def _require_log(file: Path) -> None:
    """Refuse an archive that is no log of Inspect, or unpacks to too much: no member gives more than it declares."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    if LOG_PARTS.isdisjoint(member.filename for member in members):
        raise InputError(file.name, "content_of_no_table", advice="other_tables")
    size = sum(member.file_size for member in members)
    require_at_most(file.name, "too_much_unpacked", size, LIMITS.unpacked_bytes)


def _lines(file: Path) -> int:
    with file.open("rb") as content:
        return sum(block.count(b"\n") for block in iter(partial(content.read, BEGINNING), b""))


def _read(path: Path, reading: Reading) -> list[Submission]:
    """Return the systems of a run or a table; the columns of graded answers have their roles unasked."""
    run = read_run(path, reading)
    if run is not None:
        return [_named(one, path) for one in run]
    sheet = _read_sheet(path, **reading.of_file())
    if {POPULATION, *GRADED_COLUMNS.values()} <= set(sheet.table.column_names):
        reading = replace(reading, columns={**GRADED_COLUMNS, **reading.columns})
    return make_submissions(sheet, path.name, reading=reading)


def _named(submission: Submission, path: Path) -> Submission:
    """Name a system of a run after its file: without the results beside it, it bears its folder's name."""
    name = submission.name.replace(path.parent.name, path.stem)
    return replace(submission, name=name, recipe=replace(submission.recipe, source=path.name))


def _with_different_names(submissions: list[Submission]) -> list[Submission]:
    """Return submissions with names that show as they are: `plain_text`, not empty, and all different by a number."""
    by_name: dict[str, Submission] = {}
    for submission in submissions:
        name = free = plain_text(submission.name) or "unnamed"
        number = 1
        while free in by_name:
            number += 1
            free = f"{name} ({number})"
        by_name[free] = replace(submission, name=free)
    return list(by_name.values())


def _answers_in(sheet: Sheet) -> pd.DataFrame:
    if not len(sheet.rows):
        raise FileError(sheet.source, "no_rows")
    columns = _columns_of(sheet)
    if "correct" in columns:
        columns["correct"] = _verdicts_in(sheet)
    columns = columns.reindex(columns=[*NEEDED, "correct"]).fillna(dict.fromkeys(TEXT, ""))
    frame = columns.set_axis(sheet.rows).astype(TYPES)
    is_long = frame["answer"].str.len() > MAX_TEXT
    if is_long.any():
        raise InputError("column 'answer'", "too_long_texts", most=MAX_TEXT, rows=is_long.sum())
    return frame


def _columns_of(sheet: Sheet) -> pd.DataFrame:
    """Return the columns of answers, in which texts stay texts; InputError if one that is needed is missing."""
    cells = {name: sheet.column(name) for name in sheet.names}
    parsed = {name: one if name in TEXT else parse_cells(one) for name, one in cells.items()}
    columns = pa.table(parsed).to_pandas()
    for name in NEEDED:
        if name not in columns:
            names = list(columns)[:20]
            raise InputError(
                "Answers", "column_missing", needed=list(NEEDED), missing=name, columns=names
            )
    return columns


def _verdicts_in(sheet: Sheet) -> Floats:
    """Return 1, 0 or nan of the column `correct` (N,): no grades, since nothing here says which count as correct."""
    try:
        verdicts = read_truths(sheet, "correct")
    except InputError as error:
        error.advice = "write_1_for_right"  # there are no options here
        raise
    wrong = ~(np.isin(verdicts, (0, 1)) | np.isnan(verdicts))
    if wrong.any():
        raise sheet.error("correct", "not_0_or_1", wrong, advice="write_1_for_right")
    return verdicts


def _read_sheet(path: Path, **rows: str) -> Sheet:
    sheet = read_sheet(path, **rows)
    _require_size(path, len(sheet.rows), sheet.table.num_columns)  # of JSON it is known now
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

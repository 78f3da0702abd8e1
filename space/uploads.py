"""Files of visitors -> tables, or an error in words of the page. Files are read in a process with little memory."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from ecuas_metric.reporting.files import File
from ecuas_metric.reporting.submissions import ENDINGS, Table, find_columns, read_frame, read_tables

from .answers import TEXT, checked_answers
from .bounded import TOO_MUCH, bounded

MAX_BYTES = 20 * 1024 * 1024  # what Gradio calls 20 MB
MAX_BYTES_OF_ALL = 3 * MAX_BYTES
SMALL = 10_000  # bytes of text: not more than 12,500,000 cells
MAX_FILES = 50
MAX_SYSTEMS = 50
MAX_NAME = 200  # characters of the name of a system or a column
Result = TypeVar("Result")
COLUMNS = {  # what the page lets visitors choose a column for -> what to choose
    "confidence": "Numbers in [0, 1]",
    "correct": "0 or 1, true or false",
    "label": "The true class, from 0",
    "posteriors": "A column of lists; prob_0, prob_1, .. are found by themselves",
    "system": "Names of systems; several columns as llm+method",
    "id": "Pairs the samples of different systems",
    "weight": "How much each sample counts",
    "group": "Samples that are resampled together",
}
HELP = (
    "CSV, JSON lines or Parquet with columns `confidence` and `correct` (0 or 1), or `label`, `prob_0`, `prob_1`, .. "
    "Several systems in one file need a column `system`; a column `id` pairs their samples. "
    "At most 20 MB a file."
)
WORDS = {  # how the command line says what to do, a pattern -> how the page does
    r" Name them with --columns, as .*": " Choose them under Columns.",
    r" Say which with --columns, as .*": " Choose it under Columns.",
    r"Leave such answers out with --drop-unjudged\.": "Tick “Leave out answers without a verdict” to go on.",
    r"Set missing_confidence to a number in \[0, 1\] to count them as that\.": "Say under Options what they count as.",
    r"Say so with predictions_are\.": "Say so under Options.",
    r"predictions_are='logits' takes rows of any sum\.": "Under Options, logits may have rows of any sum.",
    "num_classes goes with": "The number of possible answers goes with",
    "missing_confidence goes with": "What missing confidences count as goes with",
    "predictions_are goes with": "What posteriors are goes with",
}


def read_uploads(
    paths: Sequence[str], *, columns: Mapping[str, str | None] | None = None, drop_unjudged: bool = False
) -> list[Table]:
    """Read the systems of all files.

    Parameters
    ----------
    paths : sequence of str
        As `tables.read_tables` takes them.
    columns : mapping, optional
        What a column is for to its name, for those files that have a column of that name; nothing where it is empty.
    drop_unjudged : bool
        Leave out answers whose correctness is missing, and count them.

    Raises
    ------
    ValueError
        In the words of the page, with file name, row and column.
    """
    if not paths:
        raise ValueError("There is no file yet: upload one, or load an example.")
    if len(paths) > MAX_FILES:
        raise ValueError(f"The page takes at most {MAX_FILES} files; got {len(paths):,}. Use the command `ecuas`.")
    for path in map(Path, paths):
        check_size(path)
    if (size := sum(Path(path).stat().st_size for path in paths)) > MAX_BYTES_OF_ALL:
        raise ValueError(f"The page takes at most {MAX_BYTES_OF_ALL:,} bytes in all; got {size:,}.")
    chosen = {name: column for name, column in (columns or {}).items() if column}
    return _bounded(_read, paths, chosen, drop_unjudged)


def _bounded(function: Callable[..., Result], paths: Sequence[str], *arguments: Any) -> Result:
    """Call a function of files in a process of its own, which takes half a second, unless they are harmless."""
    if all(Path(path).suffix.lower() != ".parquet" and Path(path).stat().st_size <= SMALL for path in paths):
        return function(paths, *arguments)
    try:
        return bounded(function, paths, *arguments)
    except ValueError as error:
        names = Path(paths[0]).name if len(paths) == 1 else "these files"
        raise ValueError(f"Reading {names} {TOO_MUCH}" if str(error) == TOO_MUCH else str(error)) from None


def _read(paths: Sequence[str], chosen: Mapping[str, str], drop_unjudged: bool) -> list[Table]:
    known: set[str] = set()
    tables: list[Table] = []
    for path in map(Path, paths):
        found = {str(name) for name in _file(path).frame.columns}
        known |= found
        present = {name: column for name, column in chosen.items() if _parts(name, column) <= found}
        tables += _told(read_tables, path, columns=present, drop_unjudged=drop_unjudged)
        if len(tables) > MAX_SYSTEMS:
            raise ValueError(f"The page shows at most {MAX_SYSTEMS} systems; got more. Use the command `ecuas`.")
    for name, column in chosen.items():
        if not _parts(name, column) <= known:
            raise ValueError(f"There is no column {column!r} in any file. Choose another under Columns.")
    for table in tables:
        if len(table.name) > MAX_NAME:
            raise ValueError(_too_long("names of systems", table.name))
    return [table._replace(where=table.where._replace(file=Path(table.where.file).name)) for table in tables]


def read_answers(path: str) -> pd.DataFrame:
    """Return the columns question_id, answer, confidence of a file (see `answers.checked_answers`), and its rows."""
    check_size(Path(path))
    return _bounded(_answers, [path])


def _answers(paths: Sequence[str]) -> pd.DataFrame:
    file = _file(Path(paths[0]), text=TEXT)
    return checked_answers(file.frame).assign(row=file.rows)


def detect(path: str) -> tuple[list[str], dict[str, str | None]]:
    """Return the names of a file's columns, and which of them is used for what (None: none, or several)."""
    check_size(Path(path))
    return _bounded(_detect, [path])


def _detect(paths: Sequence[str]) -> tuple[list[str], dict[str, str | None]]:
    path = Path(paths[0])
    frame = _file(path).frame
    try:
        used = find_columns(frame, {}, path.name)
    except ValueError:  # as two that may be meant: to be chosen
        used = {}
    names = {name: used.get(name) if isinstance(used.get(name), str) else None for name in COLUMNS}
    return [str(name) for name in frame.columns], names


def _file(path: Path, *, text: Collection[str] = ()) -> File:
    file: File = _told(read_frame, path, text=text)
    for name in map(str, file.frame.columns):
        if len(name) > MAX_NAME:
            raise ValueError(f"{path.name}: {_too_long('names of columns', name)}")
    return file


def _too_long(what: str, name: str) -> str:
    return f"{what} must have at most {MAX_NAME} characters; got {len(name):,}: {name[:40]!r}."


def check_size(path: Path) -> None:
    """Refuse a file by its name and its size, before it is read.

    Raises
    ------
    ValueError
        In the words of the page.
    """
    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"{path.name}: the file must end in one of {', '.join(ENDINGS)}.")
    if not path.is_file():
        raise ValueError(f"{path.name}: there is no such file.")
    size = path.stat().st_size
    if not size:
        raise ValueError(f"{path.name}: the file is empty.")
    if size > MAX_BYTES:
        raise ValueError(
            f"{path.name}: the page takes at most {MAX_BYTES:,} bytes; got {size:,}. Use the command `ecuas`."
        )


def in_words_of_the_page(error: Exception | str, path: Path | None = None) -> str:
    """Return an error's text with file names for paths, and boxes of the page for options of the command line."""
    text = " ".join(str(error).split())
    if path is not None:
        text = text.replace(str(path), path.name)
    for there, here in WORDS.items():
        text = re.sub(there, here, text)
    return text[:600]


def _parts(name: str, column: str) -> set[str]:
    return set(column.split("+")) if name == "system" else {column}


def _told(function: Callable[..., Any], path: Path, **options: Any) -> Any:
    try:
        return function(path, **options)
    except RecursionError:
        raise ValueError(f"{path.name}: the JSON is nested too deeply.") from None
    except (ValueError, TypeError, LookupError, OSError, RuntimeError, OverflowError, csv.Error) as error:
        text = in_words_of_the_page(error, path)
        raise ValueError(text if text.startswith(path.name) else f"{path.name}: {text}") from None

"""Tables -> files: Markdown, LaTeX and text of the grid, CSV and JSON of the numbers with all their digits."""

from __future__ import annotations

import io
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd

from ..errors import FileError
from .grids import Grid, Record, to_latex, to_markdown, to_text

SUFFIXES = (".md", ".tex", ".txt", ".csv", ".json")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write(path: str | Path, grid: Grid, records: Sequence[Record]) -> None:
    """Write a table in the format of the path's suffix: .md, .tex, .csv, .json or .txt.

    Parameters
    ----------
    path : path
        Its folder is created.
    grid : Grid
        What .md, .tex and .txt show, rounded.
    records : sequence of Record
        What .csv and .json hold, with all digits.

    Raises
    ------
    FileError
        If the suffix is another.
    """
    path = Path(path)
    writers: dict[str, Callable[[], str]] = {
        ".md": lambda: to_markdown(grid),
        ".tex": lambda: to_latex(grid),
        ".txt": lambda: to_text(grid),
        ".csv": lambda: to_csv(records, grid.signature),
        ".json": lambda: to_json(records, grid.signature, [*grid.above, *grid.notes]),
    }
    check_suffix(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = writers[path.suffix.lower()]()
    # The name appears with the whole text, and what had it before is there until then.
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", encoding="utf-8", delete=False) as file:
        try:
            file.write(text)
            file.close()
            os.chmod(file.name, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
            os.replace(file.name, path.resolve() if path.is_symlink() else path)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def check_suffix(path: str | Path) -> None:
    """Raise FileError if there is no format for the suffix of the path.

    Parameters
    ----------
    path : path

    Raises
    ------
    FileError
        It lists `SUFFIXES`.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise FileError(path, f"a table can be written as {', '.join(SUFFIXES)}")


def to_csv(records: Sequence[Record], line: str) -> str:
    """Return CSV with the signature in a column of its own; names that look like formulas are neutralised.

    Parameters
    ----------
    records : sequence of Record
    line : str
        The signature.

    Returns
    -------
    str

    Examples
    --------
    >>> print(to_csv([{"system": "=a", "ece": 0.1}], "ecuas|n:0"), end="")
    system,ece,signature
    '=a,0.1,ecuas|n:0
    """
    safe = [
        {key: neutral(value) if isinstance(value, str) else value for key, value in record.items()}
        | {"signature": line}
        for record in records
    ]
    buffer = io.StringIO()
    pd.DataFrame(safe).to_csv(buffer, index=False, lineterminator="\n")
    return buffer.getvalue()


def to_json(records: Sequence[Record], line: str, notes: Iterable[str] = ()) -> str:
    """Return JSON of records, signature and notes; what is not a finite number is null.

    Parameters
    ----------
    records : sequence of Record
    line : str
        The signature.
    notes : iterable of str

    Returns
    -------
    str
    """
    clean = [
        {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in record.items()}
        for record in records
    ]
    return json.dumps({"signature": line, "notes": list(notes), "rows": clean}, indent=2, ensure_ascii=False) + "\n"


def neutral(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: an apostrophe goes before = + - @.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    References
    ----------
    OWASP, "CSV injection".

    Examples
    --------
    >>> neutral("=1+1"), neutral("model")
    ("'=1+1", 'model')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text

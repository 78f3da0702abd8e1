"""The file of a run: a header, then a line per question, written as it comes and continued by the next start."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from filelock import FileLock, Timeout

Row = dict[str, Any]


class Run(NamedTuple):
    """What a run file holds: the header's parameters and facts, and the rows by their key."""

    parameters: dict[str, Any]
    facts: list[dict[str, Any]]
    rows: dict[str, Row]


def read_run(path: str | Path, key: str = "question_id") -> Run:
    """Read a run file; a last line that was cut off is left out.

    Parameters
    ----------
    path : path
    key : str
        The field that tells rows apart.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        A file that is no run, a broken line within it, a key that comes twice; names the line.
    OSError
        A file that cannot be read.
    """
    content = Path(path).read_bytes()
    lines = content[: content.rfind(b"\n") + 1].splitlines()
    parsed = [_parse(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]
    if not parsed or "parameters" not in parsed[0]:
        raise ValueError(f"{path} is not a run: its first line must hold the run's parameters")
    rows: dict[str, Row] = {}
    for number, row in enumerate(parsed, 1):
        if key in row and row[key] in rows:
            raise ValueError(f"{path}, line {number}: {row[key]} comes twice")
        if key in row:
            rows[row[key]] = row
    facts = [line["facts"] for line in parsed if "facts" in line]
    return Run(parsed[0]["parameters"], facts, rows)


@contextmanager
def open_run(
    path: str | Path,
    parameters: dict[str, Any],
    facts: dict[str, Any],
    key: str = "question_id",
    *,
    drop_errors: bool = False,
) -> Iterator[tuple[dict[str, Row], TextIO]]:
    """Open a run file to go on with it, or start it.

    Parameters
    ----------
    path : path
    parameters : dict
        All that the answers depend on; a file made with others is refused.
    facts : dict
        Versions and the like: recorded anew when they have changed, never refused.
    key : str
    drop_errors : bool
        Take the rows with an error out first, so that they are asked again.

    Yields
    ------
    rows : dict
        What is there already, by key.
    file : text file
        For `append`.

    Raises
    ------
    ValueError
        As `read_run`; other parameters; a file that another process writes to.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise ValueError(f"{path} is being written by another process: wait for it, or use another --out") from error
    try:
        if drop_errors and path.exists():
            _drop_errors(path)
        rows = _continued(path, parameters, facts, key)
        with path.open("a", encoding="utf-8") as file:
            yield rows, file
    finally:
        lock.release()


def append(file: TextIO, row: Row) -> None:
    """Write one line and hand it to the system, so that no end of this process can lose it."""
    file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    file.flush()


def _continued(path: Path, parameters: dict[str, Any], facts: dict[str, Any], key: str) -> dict[str, Row]:
    if not path.exists() or b"\n" not in path.read_bytes():
        with path.open("w", encoding="utf-8") as file:
            append(file, {"parameters": parameters, "facts": facts})
        return {}
    run = read_run(path, key)
    for name in dict.fromkeys([*run.parameters, *parameters]):
        before, now = run.parameters.get(name), parameters.get(name)
        if before != now:
            raise ValueError(
                f"{path} was made with {name} {_short(before)}, this start has {_short(now)}: "
                f"use the same options, or another --out"
            )
    _cut_torn_line(path)
    if facts not in run.facts:
        with path.open("a", encoding="utf-8") as file:
            append(file, {"facts": facts})
    return run.rows


def _drop_errors(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if line.endswith(b"\n") and not json.loads(line).get("error")]
    stage = path.with_name(f".{path.name}.kept")
    stage.write_bytes(b"".join(kept))
    os.replace(stage, path)


def _cut_torn_line(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def _parse(line: bytes, place: str) -> Row:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{place} is broken: {error}") from error
    if not isinstance(row, dict):
        raise ValueError(f"{place} must be a JSON object; it is {str(row)[:40]}")
    return row


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."

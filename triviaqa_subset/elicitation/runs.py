"""The file of a run: a header, then one line per question, written as it comes and resumed by the next start."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TextIO, TypedDict
from urllib.parse import urlsplit

from filelock import FileLock, Timeout


class RecordedReply(TypedDict):
    """A reply as it came, with the hash of the messages that it answers."""

    messages_sha256: str
    text: str
    tokens: Sequence[tuple[str, float, list[tuple[str, float]]]] | None
    finish_reason: str | None
    reasoning: NotRequired[str]
    usage: NotRequired[dict[str, int]]
    model: NotRequired[str]


class Row(TypedDict):
    """What became of a question: an answer, with a confidence unless that is missing, or an error."""

    question_id: str
    answer: str | None
    confidence: float | None
    error: str | None
    kind: NotRequired[str | None]  # of the error, see `Failure`
    remark: NotRequired[str | None]
    messages_sha256: str
    replies: list[RecordedReply]


Rows = dict[str, Any]  # of type Row, or RecordedVerdict in the file of a judge


class Run(NamedTuple):
    """The content of a run file.

    Attributes
    ----------
    parameters : dict
        All that the answers depend on.
    facts : list of dict
        Versions, prompts and the like, of each start that had others than the one before.
    rows : dict
        The rows by their key.
    """

    parameters: dict[str, object]
    facts: list[dict[str, object]]
    rows: Rows


def read_run(path: str | Path, key: str = "question_id") -> Run:
    """Read a run file; a last line that was cut off is ignored.

    Parameters
    ----------
    path : path
    key : str
        The field that identifies a row.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        A file that is not a run, a broken line, a repeated key, with the line.
    OSError
        A file that cannot be read.
    """
    content = Path(path).read_bytes()
    lines = content[: content.rfind(b"\n") + 1].splitlines()
    parsed = [_parse(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]
    if not parsed or "parameters" not in parsed[0]:
        raise ValueError(f"{path} must be a run, with its parameters in the first line; got none there.")
    rows: Rows = {}
    for number, row in enumerate(parsed, 1):
        if key in row and row[key] in rows:
            raise ValueError(f"{path}, line {number}: {key} must be unique; got {row[key]} again.")
        if key in row:
            rows[row[key]] = row
    facts = [line["facts"] for line in parsed if "facts" in line]
    return Run(parsed[0]["parameters"], facts, rows)


@contextmanager
def open_run(
    path: str | Path,
    parameters: Mapping[str, object],
    facts: Mapping[str, object],
    key: str = "question_id",
    *,
    drop: Callable[[dict[str, Any]], object] | None = None,
    wait: bool = False,
) -> Iterator[tuple[Rows, "RunFile"]]:
    """Open a run file, to resume it or to start it.

    Parameters
    ----------
    path : path
    parameters : dict
        All that the answers depend on; a file made with others is refused.
    facts : dict
        Versions and the like: recorded again if they have changed, never refused.
    key : str
        The field that identifies a row.
    drop : callable, optional
        Row -> whether to remove it first, so that its question is asked again.
    wait : bool
        Whether to wait for another process that is writing the file.

    Yields
    ------
    rows : dict
        Those in the file already, by key.
    file : RunFile
        For `append`. The header is written with the first row: a start that fails before leaves nothing.

    Raises
    ------
    ValueError
        As `read_run`; other parameters; a file that another process is writing.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except Timeout as error:
        raise ValueError(
            f"{path} must be written by one process; another one is writing it. Wait for it, or use another --out."
        ) from error
    try:
        if drop and path.exists():
            _drop(path, key, drop)
        rows, header = _resumed(path, parameters, facts, key)
        with path.open("a", encoding="utf-8") as file:
            yield rows, RunFile(file, header)
    finally:
        if path.exists() and not path.stat().st_size:
            path.unlink()
        lock.release()


@dataclass
class RunFile:
    """An open run file, and the header or the new facts that are to stand before its next row."""

    file: TextIO
    header: dict[str, object] | None


def append(run: RunFile, row: Mapping[str, object]) -> None:
    """Write one line and hand it to the operating system, so that it survives the end of this process."""
    line = json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
    before = "" if run.header is None else json.dumps(run.header, ensure_ascii=False, allow_nan=False) + "\n"
    run.file.write(before + line)
    run.file.flush()
    run.header = None


def _resumed(
    path: Path, parameters: Mapping[str, object], facts: Mapping[str, object], key: str
) -> tuple[Rows, dict[str, object] | None]:
    """Return the rows, and the header that is still to be written; a file of nothing but errors may begin anew."""
    begun = path.exists() and b"\n" in path.read_bytes()
    run = read_run(path, key) if begun else Run({}, [], {})
    answered = [row for row in run.rows.values() if not row.get("error")]
    if not begun or (run.parameters != parameters and not answered):
        path.write_bytes(b"")
        return {}, {"parameters": parameters, "facts": facts}
    for name in dict.fromkeys([*run.parameters, *parameters]):
        before, now = run.parameters.get(name), parameters.get(name)
        if before != now and not (name == "base_url" and _same_service(before, now)):
            raise ValueError(
                f"{path}: {name} must be {_short(before)}, as when the run was started; got {_short(now)}. "
                f"Use the same options, or another --out."
            )
    _cut_torn_line(path)
    return run.rows, None if facts in run.facts else {"facts": facts}


def _same_service(before: object, now: object) -> bool:
    """Return whether two URLs differ in host, port and a slash at the end only: a server may move."""
    if not isinstance(before, str) or not isinstance(now, str):
        return False
    return urlsplit(before).path.rstrip("/") == urlsplit(now).path.rstrip("/")


def _drop(path: Path, key: str, drop: Callable[[dict[str, Any]], object]) -> None:
    gone = {own for own, row in read_run(path, key).rows.items() if drop(row)}
    if not gone:
        return
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if line.endswith(b"\n") and json.loads(line).get(key) not in gone]
    stage = path.with_name(f".{path.name}.kept")
    stage.write_bytes(b"".join(kept))
    os.replace(stage, path)


def _cut_torn_line(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def _parse(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{place} must be JSON; got {line[:40].decode(errors='replace')!r} ({error}).") from error
    if not isinstance(row, dict):
        raise ValueError(f"{place} must be a JSON object; got {str(row)[:40]}.")
    return row


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."

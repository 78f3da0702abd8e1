"""Lines of samples of lm-evaluation-harness -> arrays. One line is held at a time, since prompts make them long."""

from __future__ import annotations

import gzip
import json
import math
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from ...errors import FileError
from .parts import LENGTHS, Row, RunOptions, field, only

NEEDED = {"doc_id", "target", "filtered_resps", "arguments"}
METRICS = ("exact_match", "acc", "f1", "em", "mc1")  # of a task in which the model writes its answer
BY_LENGTH = {"none": "", "chars": "acc_norm", "bytes": "acc_bytes"}  # what tells whether lengths are as lm-eval's


class Samples(NamedTuple):
    """What is kept of the lines of one filter.

    Attributes
    ----------
    lines : array of int
        Their numbers in the file, from 1.
    ids : list of str
    counts : array of int
        The number of choices; 0 where the model writes its answer.
    scores : array of float
        The log-likelihoods of all choices of all lines.
    targets : list of str
    named : array of int
        The only choice whose text is the target; -1 if there is not one.
    acc, acc_by_length : array of float
        nan where they are not recorded.
    lengths, spaces : array of int
        Of each choice: its length, and 1 if a space before it is part of it. Empty if lengths were not asked for.
    answers : list of tuple
        Of lines without choices: the first of `METRICS`, its value, and the confidence.
    """

    lines: array[int]
    ids: list[str]
    counts: array[int]
    scores: array[float]
    targets: list[str]
    named: array[int]
    acc: array[float]
    acc_by_length: array[float]
    lengths: array[int]
    spaces: array[int]
    answers: list[tuple[str | None, object, object]]


def samples_of(file: Path, options: RunOptions) -> Samples:
    """Read the lines of a file that have the filter which was asked for, or the only one there is.

    Raises
    ------
    FileError
        If a line holds no sample, the file holds none, or it has several filters.
    """
    kept = Samples(
        array("q"), [], array("q"), array("d"), [], array("q"), array("d"), array("d"), array("q"), array("q"), []
    )
    filters: dict[str, None] = {}
    for number, row in _rows(file):
        name = str(row.get("filter", "none"))
        filters[name] = None
        if options.filter is None or options.filter == name:
            _keep(kept, number, row, options)
    if not filters:
        raise FileError(file, "holds no samples", advice="Was the run interrupted?")
    only(list(filters), options.filter, file, "filter")
    return kept


def is_samples(file: Path) -> bool:
    """Return whether the first line of a file is a sample, or nothing where the name says that it holds samples."""
    try:
        with opened(file) as lines:
            line = lines.readline()
        row = json.loads(line) if line else None
    except (ValueError, OSError, EOFError, RecursionError):
        return False
    return row.keys() >= NEEDED if isinstance(row, dict) else not line and file.name.startswith("samples_")


@contextmanager
def opened(file: Path) -> Iterator[IO[str]]:
    """Open a file of lines, compressed or not; only a newline ends one."""
    if file.suffix == ".gz":
        with gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines:
            yield lines
    else:
        with file.open(encoding="utf-8", newline="\n") as lines:
            yield lines


def _rows(file: Path) -> Iterator[tuple[int, Row]]:
    with opened(file) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                if line.isspace():
                    continue
                advice = "" if line.endswith("\n") else "The file ends within a line: was the run interrupted?"
                raise FileError(file, "must be JSON in each line", row=number, got=str(error), advice=advice) from None
            if not isinstance(row, dict) or not row.keys() >= NEEDED:
                raise FileError(file, "must hold samples of lm-eval in each line", row=number)
            yield number, row


def _keep(kept: Samples, number: int, row: Row, options: RunOptions) -> None:
    responses = row["filtered_resps"]
    kept.lines.append(number)
    kept.ids.append(str(row.get("doc_hash", row["doc_id"])))
    if not (isinstance(responses, list) and len(responses) > 1 and isinstance(responses[0], list)):
        metric = next((name for name in METRICS if name in row), None)
        kept.counts.append(0)
        kept.answers.append((metric, row.get(metric or ""), field(row, options.confidence or "")))
        return
    if "acc_mutual_info" in row:  # the second half are the choices without their question
        responses = responses[: len(responses) // 2]
    kept.counts.append(len(responses))
    kept.scores.extend([float(response[0]) for response in responses])
    target, texts = str(row["target"]), _texts(row, len(responses))
    same = [place for place, text in enumerate(texts) if text.strip() == target.strip()]
    kept.targets.append(target)
    kept.named.append(same[0] if len(same) == 1 else -1)
    kept.acc.append(_number(row.get("acc")))
    if options.length != "none":
        kept.acc_by_length.append(_number(row.get(BY_LENGTH[options.length])))
        kept.lengths.extend(map(LENGTHS[options.length], texts))
        kept.spaces.extend([text.startswith(" ") for text in texts])


def _texts(row: Row, number: int) -> Sequence[str]:
    """Return the continuations that were scored; earlier versions keep the arguments as a list."""
    given = row["arguments"]
    if isinstance(given, list):
        return [str(arguments[1]) for arguments in given[:number]]
    return [str(given[f"gen_args_{choice}"]["arg_1"]) for choice in range(number)]


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan

"""The details of lighteval: ``--save-details``, one Parquet file per task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import FileAdvice, FileError, Note
from ...inputs import Bools
from .parts import LENGTHS, Part, Row, RunOptions, field, files_in, log_posteriors, missing, no_task, posterior_frame

NEEDED = {"doc", "metric", "model_response"}
METRICS = ("em", "exact_match", "extractive_match", "acc", "quasi_exact_match", "pqem")


def files_of(path: Path) -> list[Path]:
    """Return the files of details that a path is or holds; none if there are none."""
    files = files_in(path, "details_*.parquet") if path.is_dir() else [path]
    return [file for file in files if file.suffix == ".parquet" and _is_details(file)]


def parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read files of details: one part per model, task and number of choices.

    Raises
    ------
    FileError
        If a task was run repeatedly; if its samples hold neither log-probabilities of choices nor the confidence that
        was asked for.
    """
    found: dict[tuple[str, str], Path] = {}
    parts: list[Part] = []
    for file in files:
        # Tokens and texts of answers are most of a file.
        columns = None if options.confidence else ["doc", "metric", "model_response.logprobs"]
        with pq.ParquetFile(file) as details:
            rows = details.read(columns=columns).to_pylist()
        if not rows:
            raise FileError(file, "holds no samples", advice="Was the run interrupted?")
        task = str(rows[0]["doc"].get("task_name"))
        again = found.setdefault((_model(file), task), file)
        if again != file:
            got = f"{again.name} and {file.name}"
            raise FileError(file, f"task {task} was run more than once", got=got, advice="Give the file of one run.")
        if options.tasks is None or task in options.tasks:
            parts += _parts(file, task, rows, options)
    if not parts:
        raise FileError(files[0], "has no such task", got=no_task(options, (task for _, task in found)))
    return parts


def _parts(file: Path, task: str, rows: Sequence[Row], options: RunOptions) -> list[Part]:
    scores = [(row.get("model_response") or {}).get("logprobs") or [] for row in rows]
    choices = [row["doc"].get("choices") or [] for row in rows]
    if not all(len(score) == len(texts) > 1 for score, texts in zip(scores, choices, strict=True)):
        return [_generated(file, task, rows, options)]
    counts = np.array([len(score) for score in scores])
    return [_choices(file, task, rows, counts == number, options.length) for number in np.unique(counts)]


def _choices(file: Path, task: str, rows: Sequence[Row], of_number: Bools, length: str) -> Part:
    lines = np.flatnonzero(of_number)
    samples = [rows[line] for line in lines.tolist()]
    scores = np.array([row["model_response"]["logprobs"] for row in samples], dtype=np.float64)
    if length != "none":
        sizes = [[max(LENGTHS[length](text), 1) for text in row["doc"]["choices"]] for row in samples]
        scores = scores / np.array(sizes)
    label = [_gold(row["doc"]["gold_index"], file, int(line)) for row, line in zip(samples, lines, strict=True)]
    ids = [str(row["doc"].get("id")) for row in samples]
    frame = posterior_frame(ids, np.array(label), log_posteriors(scores), lines)
    fact = f"lighteval details, task {task}, {len(samples):,} questions, {scores.shape[1]} choices."
    return Part(_model(file), task, frame, str(file), Note("run", fact), scores.shape[1])


def _generated(file: Path, task: str, rows: Sequence[Row], options: RunOptions) -> Part:
    metric = next((name for name in METRICS if name in (rows[0]["metric"] or {})), None)
    if metric is None or options.confidence is None:
        rule = "holds answers in words, without log-probabilities of choices"
        raise FileError(file, rule, advice=FileAdvice.CONFIDENCE_FIELD)
    frame = pd.DataFrame(
        {
            "id": [str(row["doc"].get("id")) for row in rows],
            "correct": [row["metric"][metric] for row in rows],
            "confidence": [field(row, options.confidence) for row in rows],
        }
    )
    missing(frame["confidence"], options.confidence, file)
    fact = f"lighteval details, task {task}, {len(rows):,} answers, correct by {metric}."
    return Part(_model(file), task, frame, str(file), Note("run", fact))


def _gold(value: object, file: Path, line: int) -> int:
    found = list(value) if isinstance(value, list) else [value]
    if len(found) != 1 or not isinstance(found[0], int):
        raise FileError(file, "must have one right choice in each sample", row=line, value=value)
    return found[0]


def _model(file: Path) -> str:
    """Return the model's name: the folders between `details` and the time, where there are such."""
    above = list(file.parent.parts)
    if "details" in above:
        return "/".join(above[len(above) - above[::-1].index("details") : -1]) or file.parent.name
    return file.parent.name or file.stem


def _is_details(file: Path) -> bool:
    try:
        return set(pq.read_schema(file).names) >= NEEDED
    except (OSError, pa.ArrowException):
        return False

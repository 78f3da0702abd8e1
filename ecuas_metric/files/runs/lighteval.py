"""The details of lighteval: ``--save-details``, one Parquet file per task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import FileAdvice, FileError, InputError, Note
from ...inputs import Ints
from .parts import (
    LENGTHS,
    Column,
    Part,
    Reader,
    Row,
    RunOptions,
    confidences_in,
    field,
    in_file,
    log_posteriors,
    named_columns,
    of_tasks,
    once,
    weighed,
)

NEEDED = {"doc", "metric", "model_response"}
METRICS = ("em", "exact_match", "extractive_match", "acc", "quasi_exact_match", "pqem")
ONE_RIGHT = "must have one right choice in each sample"


def true_choice(gold: object, number: int) -> int:
    """Return the right one of so many choices: an index, or a list of one; else raise InputError."""
    found = list(gold) if isinstance(gold, (list, tuple)) else [gold]
    if len(found) != 1 or isinstance(found[0], bool) or not isinstance(found[0], int) or not 0 <= found[0] < number:
        raise InputError("gold_index", ONE_RIGHT, value=gold)
    return found[0]


def _parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read files of details: one part per model, task and number of choices."""
    read = {file: _rows(file, options) for file in files}
    named = [(file, _model(file), str(rows[0]["doc"].get("task_name"))) for file, rows in read.items()]
    return [part for one in once(of_tasks(named, options)) for part in _of_task(*one, read[one[0]], options)]


def _rows(file: Path, options: RunOptions) -> list[Row]:
    """Return the samples of a file; without tokens and texts, which are most of it, unless a field is named."""
    named = options.confidence or options.weight or options.group
    with pq.ParquetFile(file) as details:
        rows: list[Row] = details.read(
            columns=None if named else ["doc", "metric", "model_response.logprobs"]
        ).to_pylist()
    if not rows:
        raise FileError(file, "holds no samples", advice="Was the run interrupted?")
    return rows


def _of_task(file: Path, model: str, task: str, samples: Sequence[Row], options: RunOptions) -> Iterator[Part]:
    scores = [(sample.get("model_response") or {}).get("logprobs") or [] for sample in samples]
    choices = [sample["doc"].get("choices") or [] for sample in samples]
    if not all(len(score) == len(texts) > 1 for score, texts in zip(scores, choices, strict=True)):
        yield _generated(file, model, task, samples, options)
        return
    counts = np.array([len(score) for score in scores])
    for number in np.unique(counts).tolist():
        rows = np.flatnonzero(counts == number) + 1
        yield _choices(file, (model, task, number), [samples[row - 1] for row in rows.tolist()], rows, options)


def _choices(file: Path, of: tuple[str, str, int], samples: Sequence[Row], rows: Ints, options: RunOptions) -> Part:
    model, task, number = of
    scores = np.array([sample["model_response"]["logprobs"] for sample in samples], dtype=np.float64)
    if options.length != "none":
        size = LENGTHS[options.length]
        scores = scores / np.array([[max(size(text), 1) for text in sample["doc"]["choices"]] for sample in samples])
    pairs = zip(rows.tolist(), samples, strict=True)
    columns: dict[str, Column] = {
        "id": [str(sample["doc"].get("id")) for sample in samples],
        **named_columns(samples, options, file, rows),
        "label": np.array([in_file(file, row, true_choice, each["doc"]["gold_index"], number) for row, each in pairs]),
        "posteriors": log_posteriors(scores, file, rows),
    }
    fact = f"lighteval details, task {task}, {len(samples):,} questions, {number} choices{weighed(columns)}."
    return Part(model, task, str(file), rows, columns, Note("run", fact), number)


def _generated(file: Path, model: str, task: str, samples: Sequence[Row], options: RunOptions) -> Part:
    metric = next((name for name in METRICS if name in (samples[0]["metric"] or {})), None)
    if metric is None or options.confidence is None:
        rule = "holds answers in words, without log-probabilities of choices"
        raise FileError(file, rule, advice=FileAdvice.CONFIDENCE_FIELD)
    rows = np.arange(1, len(samples) + 1)
    stated = [field(sample, options.confidence) for sample in samples]
    columns: dict[str, Column] = {
        "id": [str(sample["doc"].get("id")) for sample in samples],
        **named_columns(samples, options, file, rows),
        "correct": [sample["metric"][metric] for sample in samples],
        "confidence": confidences_in(stated, options.confidence, file, rows),
    }
    fact = f"lighteval details, task {task}, {len(samples):,} answers, correct by {metric}{weighed(columns)}."
    return Part(model, task, str(file), rows, columns, Note("run", fact))


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


LIGHTEVAL = Reader(("details_*.parquet",), _is_details, _parts)

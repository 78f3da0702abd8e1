"""The details of lighteval: ``--save-details``, one Parquet file per task."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from ...errors import FileError, Note
from ...inputs import Floats, Ints
from ..values import value_by_path
from . import RunOptions, parts
from .parts import Fields, Reader, Run
from .questions import Question, Tool, sizes_of

_NEEDED = {"doc", "metric", "model_response"}
_METRICS = ("em", "exact_match", "extractive_match", "acc", "quasi_exact_match", "pqem")


def _is_details(file: Path) -> bool:
    import pyarrow.parquet as pq

    try:
        return set(pq.read_schema(file).names) >= _NEEDED
    except (OSError, pa.ArrowException):
        return False


def _run_of(file: Path) -> Run:
    tasks = {str(value_by_path(row, "doc.task_name")) for row in _rows(file, ["doc.task_name"])}
    if not tasks:
        raise FileError(file, "no_samples", advice="check_interruption")
    if len(tasks) > 1:
        raise FileError(file, "must hold samples of one task", got=", ".join(sorted(tasks)))
    folders = file.parent.parts
    model = file.parent.name or file.stem
    if "details" in folders:  # the folders between this and the time
        depth = folders[::-1].index("details")
        model = "/".join(folders[len(folders) - depth : -1]) or model
    (task,) = tasks
    return Run(file, model, task)


def _rows(file: Path, columns: list[str] | None) -> list[Fields]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as details:
        rows: list[Fields] = details.read(columns=columns).to_pylist()
    return rows


def _questions(file: Path, options: RunOptions) -> list[Question]:
    """Return the samples of a file; without tokens and texts, which are most of it, unless a field is named."""
    parts.only(["none"], options.filter, file, "filter")
    is_small = options.fields.keys() <= {"correct"}
    rows = _rows(file, ["doc", "metric", "model_response.logprobs"] if is_small else None)
    of_choices = list(map(_log_likelihoods, rows))
    numbers = [len(row["doc"].get("choices") or ()) for row in rows]
    are_choices = list(map(len, of_choices)) == numbers and min(numbers) > 1
    return [
        Question(
            number,
            str(row["doc"].get("id")),
            row["doc"].get("gold_index"),
            scores if are_choices else (),
            row["doc"].get("choices") or (),
            row["metric"] or {},
            row,
        )
        for number, (row, scores) in enumerate(zip(rows, of_choices, strict=True), 1)
    ]


def _log_likelihoods(row: Fields) -> Sequence[float]:
    """Return those of the choices, none of an answer in words."""
    return (row.get("model_response") or {}).get("logprobs") or ()


def _labels(
    file: Path,
    questions: Sequence[Question],
    scores: Floats,
) -> tuple[Ints, list[Note]]:
    labels = [
        parts.in_file(file, question.row, parts.true_choice, question.target, question.texts)
        for question in questions
    ]
    return np.array(labels), []


def _lengths(
    questions: Sequence[Question],
    scores: Floats,
    labels: Ints,
    length: str,
) -> Ints:
    return np.maximum(sizes_of(questions, length), 1)


_TOOL = Tool(
    "lighteval details", _METRICS, "answers_of_lighteval", _run_of, _questions, _labels, _lengths
)
LIGHTEVAL = Reader(_is_details, _TOOL.parts)

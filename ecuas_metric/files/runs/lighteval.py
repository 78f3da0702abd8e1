"""The details of lighteval: ``--save-details``, one Parquet file per task."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import FileError, Note
from ...inputs import Ints
from . import parts
from .parts import Fields, Of, Reader, RunOptions, RunPart

_NEEDED = {"doc", "metric", "model_response"}
_METRICS = ("em", "exact_match", "extractive_match", "acc", "quasi_exact_match", "pqem")


def _is_details(file: Path) -> bool:
    try:
        return set(pq.read_schema(file).names) >= _NEEDED
    except (OSError, pa.ArrowException):
        return False


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read files of details: one part per model, task and number of choices."""
    read = {file: _rows(file, options) for file in files}
    named = [(file, _model(file), str(rows[0]["doc"].get("task_name"))) for file, rows in read.items()]
    return [part for of in parts.once(parts.of_tasks(named, options)) for part in _of_task(of, read[of[0]], options)]


def _rows(file: Path, options: RunOptions) -> list[Fields]:
    """Return the samples of a file; without tokens and texts, which are most of it, unless a field is named."""
    few = None if options.confidence or options.per_sample else ["doc", "metric", "model_response.logprobs"]
    with pq.ParquetFile(file) as details:
        rows: list[Fields] = details.read(columns=few).to_pylist()
    if not rows:
        raise FileError(file, "no_samples", advice="check_interruption")
    return rows


def _of_task(of: Of, samples: Sequence[Fields], options: RunOptions) -> Iterator[RunPart]:
    scores = [(sample.get("model_response") or {}).get("logprobs") or [] for sample in samples]
    choices = [sample["doc"].get("choices") or [] for sample in samples]
    counts = np.array([len(score) for score in scores])
    if not all(count == len(texts) > 1 for count, texts in zip(counts, choices, strict=True)):
        answers = [(str(sample["doc"].get("id")), sample["metric"] or {}, sample) for sample in samples]
        rows = np.arange(1, len(samples) + 1)
        yield parts.part_in_words(
            of,
            rows,
            answers,
            options,
            what="lighteval details",
            metrics=_METRICS,
            rule="answers_of_lighteval",
        )
        return
    for number in np.unique(counts).tolist():
        rows = np.flatnonzero(counts == number) + 1
        yield _choices(of, [samples[row - 1] for row in rows.tolist()], rows, options)


def _choices(of: Of, samples: Sequence[Fields], rows: Ints, options: RunOptions) -> RunPart:
    file, _, task = of
    scores = np.array([sample["model_response"]["logprobs"] for sample in samples], dtype=np.float64)
    if options.length != "none":
        size = parts.LENGTHS[options.length]
        scores = scores / np.array([[max(size(text), 1) for text in sample["doc"]["choices"]] for sample in samples])
    golds = [(doc["gold_index"], doc["choices"]) for doc in (sample["doc"] for sample in samples)]
    numbered = zip(rows.tolist(), golds, strict=True)
    columns = {
        "id": [str(sample["doc"].get("id")) for sample in samples],
        **parts.named_columns(samples, options.per_sample, file, rows),
        "label": np.array([parts.in_file(file, row, parts.true_choice, *gold) for row, gold in numbered]),
        "posteriors": parts.log_posteriors(scores, file, rows),
    }
    num_classes = scores.shape[1]
    fields = {"what": "lighteval details", "task": task, "count": len(samples), "choices": num_classes}
    return parts.part_of(of, rows, columns, [Note("run_of_choices", fields)], num_classes)


def _model(file: Path) -> str:
    """Return the model's name: the folders between `details` and the time, where there are such."""
    above = list(file.parent.parts)
    if "details" in above:
        return "/".join(above[len(above) - above[::-1].index("details") : -1]) or file.parent.name
    return file.parent.name or file.stem


LIGHTEVAL = Reader(("details_*.parquet",), _is_details, _parts)

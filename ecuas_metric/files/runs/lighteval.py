"""The details of lighteval: ``--save-details``, one Parquet file per task."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import FileError
from ...inputs import Ints
from . import RunOptions, parts
from .parts import Answer, Fields, Place, Reader, RunPart

_NEEDED = {"doc", "metric", "model_response"}
_METRICS = ("em", "exact_match", "extractive_match", "acc", "quasi_exact_match", "pqem")
_TOOL = "lighteval details"


def _is_details(file: Path) -> bool:
    try:
        return set(pq.read_schema(file).names) >= _NEEDED
    except (OSError, pa.ArrowException):
        return False


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read files of details: one part per model, task and number of choices."""
    details = {file: _rows(file, options) for file in files}
    places = [
        Place(file, _model(file), str(rows[0]["doc"].get("task_name")))
        for file, rows in details.items()
    ]
    read: list[RunPart] = []
    for place in parts.once(places, options):
        read.extend(_of_task(place, details[place.file], options))
    return read


def _rows(file: Path, options: RunOptions) -> list[Fields]:
    """Return the samples of a file; without tokens and texts, which are most of it, unless a field is named."""
    names = (
        None
        if options.confidence or options.per_sample
        else ["doc", "metric", "model_response.logprobs"]
    )
    with pq.ParquetFile(file) as details:
        rows: list[Fields] = details.read(columns=names).to_pylist()
    if not rows:
        raise FileError(file, "no_samples", advice="check_interruption")
    return rows


def _of_task(
    place: Place,
    samples: Sequence[Fields],
    options: RunOptions,
) -> Iterator[RunPart]:
    counts = np.array([len(_log_likelihoods(sample)) for sample in samples])
    choices = np.array([len(sample["doc"].get("choices") or ()) for sample in samples])
    rows = np.arange(1, len(samples) + 1)
    if (counts != choices).any() or counts.min() < 2:
        answers = [
            Answer(str(sample["doc"].get("id")), sample["metric"] or {}, sample)
            for sample in samples
        ]
        rule = "answers_of_lighteval"
        yield parts.part_in_words(
            place, rows, answers, options, tool=_TOOL, metrics=_METRICS, rule=rule
        )
        return
    for number in np.unique(counts).tolist():
        same = rows[counts == number]
        yield _choices(place, [samples[row - 1] for row in same.tolist()], same, options)


def _log_likelihoods(sample: Fields) -> Sequence[float]:
    """Return those of the choices, none of an answer in words."""
    return (sample.get("model_response") or {}).get("logprobs") or ()


def _choices(
    place: Place,
    samples: Sequence[Fields],
    rows: Ints,
    options: RunOptions,
) -> RunPart:
    scores = np.array(
        [sample["model_response"]["logprobs"] for sample in samples],
        dtype=np.float64,
    )
    docs = [sample["doc"] for sample in samples]
    if options.length != "none":
        size = parts.SIZES[options.length]
        scores = scores / np.array(
            [[max(size(text), 1) for text in doc["choices"]] for doc in docs]
        )
    labels = []
    for row, doc in zip(rows.tolist(), docs, strict=True):
        labels.append(
            parts.in_file(
                place.file,
                row,
                parts.true_choice,
                doc["gold_index"],
                doc["choices"],
            )
        )
    columns = {
        "id": [str(doc.get("id")) for doc in docs],
        **parts.named_columns(samples, options.per_sample, place.file, rows),
        "label": np.array(labels),
        "posteriors": parts.log_posteriors(scores, place.file, rows),
    }
    return parts.part_of_choices(place, rows, columns, _TOOL)


def _model(file: Path) -> str:
    """Return the model's name: the folders between `details` and the time, where there are such."""
    folders = file.parent.parts
    if "details" in folders:
        depth = folders[::-1].index("details")
        return "/".join(folders[len(folders) - depth : -1]) or folders[-1]
    return file.parent.name or file.stem


LIGHTEVAL = Reader(_is_details, _parts)

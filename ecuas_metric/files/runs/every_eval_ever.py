"""The samples of Every Eval Ever 0.3, ``UUID_samples.jsonl``: verdicts, and confidences as text in their metadata.

A sample has a record for each epoch, and for each result of the evaluation that it counts in.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import FileError, InputError, Note
from ...inputs import Ints, grouped
from ..values import value_by_path
from . import RunOptions, parts
from .parts import Column, Fields, Reader, Run, RunPart

_NEEDED = {"evaluation_id", "evaluation_name", "evaluation", "model_id", "sample_id"}
_CONFIDENCE = "metadata.confidence"
_DESIGN = ("weight", "group", "stratum")
_Record = tuple[int, Fields]  # with its number in the file, from 1


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read files of samples: one part for each model and evaluation. Epochs of a sample are a group."""
    records: dict[tuple[Path, str, str], Sequence[_Record]] = {}
    for file in files:
        for task, same in grouped(parts.records_in(file), _task_of).items():
            records[file, *task] = same
    runs = parts.once([Run(*key) for key in records], options)
    return [_part(run, records[run.file, run.model, run.task], options) for run in runs]


def _task_of(record: _Record) -> tuple[str, str]:
    _, fields = record
    return str(fields.get("model_id")), str(fields.get("evaluation_name"))


def _part(run: Run, records: Sequence[_Record], options: RunOptions) -> RunPart:
    ran = [(row, sample) for row, sample in records if not sample.get("error")]
    if not ran:
        raise FileError(run.file, "no_scores", got=f"{len(records):,} samples that failed")
    result = parts.only(
        [_result(sample) for _, sample in ran], options.filter, run.file, "evaluation_result_id"
    )
    kept = [(row, sample) for row, sample in ran if _result(sample) == result]
    fields = {"task": run.task, "result": result, "count": len(kept)}
    facts = [Note("samples of Every Eval Ever, {task}, {result}, {count:,} records", fields)]
    if len(ran) < len(records):
        failed = {"count": len(records) - len(ran), "total": len(records)}
        facts.append(Note("{count:,} of {total:,} failed, which are left out", failed))
    rows, samples = zip(*kept, strict=True)
    columns = _columns(run.file, np.array(rows), samples, options)
    return parts.part_of(run, np.array(rows), columns, facts)


def _columns(
    file: Path, rows: Ints, samples: Sequence[Fields], options: RunOptions
) -> dict[str, Column]:
    names = [str(sample.get("sample_id")) for sample in samples]
    records = zip(rows.tolist(), samples, strict=True)
    return {
        **parts.repeated(names, list(map(_epoch, samples)), "epoch "),
        **parts.named_columns(samples, _design(samples) | options.per_sample, file, rows),
        "correct": [parts.in_file(file, row, _grade, one, options) for row, one in records],
        **_confidences(file, samples, options),
    }


def _design(samples: Sequence[Fields]) -> dict[str, str]:
    """Return the fields of weights, groups and strata that all samples have."""
    names = {role: f"metadata.{role}" for role in _DESIGN}
    return {
        role: name
        for role, name in names.items()
        if all(value_by_path(sample, name) is not None for sample in samples)
    }


def _result(sample: Fields) -> str:
    return str(sample.get("evaluation_result_id") or "no evaluation_result_id")


def _epoch(sample: Fields) -> int:
    epoch = str(value_by_path(sample, "metadata.epoch"))
    return int(epoch) if epoch.isdecimal() else 1


def _grade(sample: Fields, options: RunOptions) -> object:
    """Return the field that was named, or else the verdict; InputError if the score beside it says something else."""
    name = options.fields.get("correct")
    if name is not None:
        return value_by_path(sample, name)
    verdict = value_by_path(sample, "evaluation.is_correct")
    score = value_by_path(sample, "evaluation.score")
    if score not in (0, 1) or verdict not in (None, score):
        rule = "must be 0 or 1, as evaluation.is_correct: converters write means over epochs"
        advice = "If evaluation.is_correct is true all the same, name it as correct."
        raise InputError("evaluation.score", rule, value=score, advice=advice)
    return verdict


def _confidences(file: Path, samples: Sequence[Fields], options: RunOptions) -> dict[str, Column]:
    """Return the column of confidences, and of samples without an answer, whose confidence is 0, if there are any."""
    name = options.fields.get("confidence", _CONFIDENCE)
    abstained = [
        str(value_by_path(sample, "metadata.abstained")).lower() == "true" for sample in samples
    ]
    values = [
        "0" if without else value_by_path(sample, name)
        for sample, without in zip(samples, abstained, strict=True)
    ]
    if values.count(None) == len(values):
        rule = "keeps no confidence, as {name} would be"
        raise FileError(file, rule, advice="name_confidence_field", name=name)
    return {"confidence": values, **({"abstained": abstained} if any(abstained) else {})}


def _is_of_samples(file: Path) -> bool:
    """Return whether the first record of a file is one of a sample."""
    return next(parts.first_records(file), {}).keys() >= _NEEDED


EVERY_EVAL_EVER = Reader(_is_of_samples, _parts)

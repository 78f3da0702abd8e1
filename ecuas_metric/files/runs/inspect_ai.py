"""The logs of Inspect: ``.eval`` and ``.json`` files, in which a scorer keeps its confidence as metadata."""

import copy
import json
import math
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ...errors import FileError, InputError, Note
from ..values import value_at
from . import parts
from .parts import Column, Fields, Reader, RunOptions, RunPart

_ZSTANDARD = 93  # a method of compression that zipfile knows from Python 3.14 on
_NEEDED = (b'"eval"', b'"task"', b'"model"', b'"version"')
_CONFIDENCE = "metadata.confidence"  # of a score
_VERDICTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}  # Inspect's
_OTHERS = {"eval-set.json", "logs.json"}  # beside the logs of an eval set


class Log(NamedTuple):
    """The samples of a run in order, and its facts; a status of started is of one that goes on, or was killed."""

    file: Path
    samples: Sequence[Fields]
    model: str = ""
    task: str = ""
    status: str = "success"
    planned: int = 0  # samples that the run was to have, each epoch counted
    attempt: tuple[str, str] = ("", "")  # what it was an attempt at, and when


def part_of_scorer(log: Log, scorer: str, options: RunOptions) -> RunPart:
    """Return the part of one scorer on the samples of a log, for the reader and the plug-in."""
    samples = [sample for sample in log.samples if scorer in (sample.get("scores") or {})]
    rows, scores = np.arange(1, len(samples) + 1), [sample["scores"][scorer] for sample in samples]
    name = options.confidence or _CONFIDENCE
    holders = [score if _keeps(score, name) else sample for score, sample in zip(scores, samples, strict=True)]
    stated = [value_at(holder, name) for holder in holders]
    epochs = max(int(sample.get("epoch", 1)) for sample in samples)
    ids = [str(sample["id"]) for sample in samples]
    confidences = parts.confidences_in(stated, f"{name} with a value, of scorer {scorer}", log.file, rows)
    grades = [parts.in_file(log.file, row, _grade, score.get("value")) for row, score in enumerate(scores, 1)]
    columns: dict[str, Column] = {
        "id": [f"{name} {sample.get('epoch', 1)}" for name, sample in zip(ids, samples, strict=True)],
        **({"group": ids} if epochs > 1 else {}),
        **parts.named_columns(samples, _per_sample(samples, options), log.file, rows),
        "correct": np.array(grades),
        "confidence": confidences,
    }
    missing = confidences.count(None)
    fields = {"task": log.task, "scorer": scorer, "count": len(set(ids)), "epochs": epochs}
    facts = [Note("run_in_epochs" if epochs > 1 else "run_of_inspect", fields)]
    if missing:
        facts.append(Note("run_without_confidence", {"count": missing, "total": len(ids)}))
    progress = {"count": len(samples), "total": log.planned, "status": log.status}
    if log.status != "success":
        facts.append(Note("run_not_ended", progress))
    elif len(samples) < log.planned:
        facts.append(Note("run_partial", progress))
    return parts.part_of((log.file, log.model, log.task), rows, columns, facts)


def _grade(value: object) -> float:
    """Return 1 for what Inspect takes as right, 0 for wrong, a grade between them, nan for unscored; or raise."""
    if isinstance(value, str):
        value = _VERDICTS.get(value, _VERDICTS.get(value.lower(), value))
    try:
        return math.nan if value is None else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError("score", "not_a_verdict", value=value) from None


def _per_sample(samples: Sequence[Fields], options: RunOptions) -> dict[str, str]:
    """Return the fields of weights, groups and strata: those that were named, else those that samples have."""
    given, usual = options.per_sample.items(), {role: f"metadata.{role}" for role in ("weight", "stratum")}
    named = {role: name if _any_keeps(samples, name) else f"metadata.{name}" for role, name in given}
    return {role: name for role, name in usual.items() if _any_keeps(samples, name)} | named


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read logs: one part for each log and scorer that keeps a confidence. Epochs of a sample are a group."""
    read = sorted(map(_read_log, files), key=lambda log: log.attempt[1])
    last = {log.attempt[0] or str(log.file): log for log in read}  # of the attempts that an eval set repeats
    logs = {log.file: log for log in sorted(last.values(), key=lambda log: log.file)}
    named = parts.of_tasks([(file, log.model, log.task) for file, log in logs.items()], options)
    systems = [(*of, scorer) for of in named for scorer in _scorers_in(logs[of[0]], options)]
    parts.once([(file, f"{model} {scorer}", task) for file, model, task, scorer in systems])
    several = len({system[1:] for system in systems}) > len({system[1:3] for system in systems})
    found = [(part_of_scorer(logs[file], scorer, options), scorer) for file, *_, scorer in systems]
    return [part._replace(model=f"{part.model} {scorer}") if several else part for part, scorer in found]


def _scorers_in(log: Log, options: RunOptions) -> list[str]:
    """Return the scorers that are systems: the requested one, or each that keeps a confidence."""
    scored = [sample for sample in log.samples if sample.get("scores")]
    if not scored or (log.status != "success" and not options.partial):
        got = f"status {log.status}, {len(scored):,} of {log.planned:,} planned samples scored"
        rule = "run_did_not_end" if scored else "no_scores"
        raise FileError(log.file, rule, got=got, advice="read_partial" if scored else "")
    names = list(dict.fromkeys(name for sample in scored for name in sample["scores"]))
    name = options.confidence or _CONFIDENCE
    keeping = [scorer for scorer in names if _any_keeps([sample["scores"].get(scorer) for sample in scored], name)]
    if options.filter is not None or (not keeping and _any_keeps(scored, name)):
        return [parts.only(names, options.filter, log.file, "scorer")]
    if not keeping and options.confidence:
        raise FileError(log.file, "no_field", name=name)
    if not keeping:
        raise FileError(log.file, "scorer_without_confidence", advice="name_confidence_field", scorers=names)
    return keeping


def _any_keeps(rows: Sequence[Fields | None], name: str) -> bool:
    return any(_keeps(row, name) for row in rows)


def _keeps(row: Fields | None, name: str) -> bool:
    """Return whether a row has a field of this dotted name, be it without a value."""
    above, _, last = name.rpartition(".")
    holder = value_at(row, above) if above else row
    return isinstance(holder, dict) and last in holder


def _is_log(file: Path) -> bool:
    return file.name not in _OTHERS and parts.starts_with(file, [b"PK"] if file.suffix == ".eval" else _NEEDED)


def _read_log(file: Path) -> Log:
    try:
        if file.suffix == ".json":
            header = json.loads(file.read_text(encoding="utf-8"))
            return _log_of(file, header, header.get("samples") or [])
        with zipfile.ZipFile(file) as archive:
            members = [info for info in archive.infolist() if info.filename.startswith("samples/")]
            ended = "header.json" in archive.namelist()
            header = json.loads(_content(archive, archive.getinfo("header.json" if ended else "_journal/start.json")))
            samples = [json.loads(_content(archive, info)) for info in members]
        return _log_of(file, header, sorted(samples, key=lambda sample: (sample.get("epoch", 1), str(sample["id"]))))
    except (ValueError, KeyError, zipfile.BadZipFile, OSError, pa.ArrowException) as error:
        raise FileError(file, "not_a_log_of_inspect", got=str(error)[:80]) from None


def _log_of(file: Path, header: Fields, samples: Sequence[Fields]) -> Log:
    run = header["eval"]
    dataset, epochs = run.get("dataset") or {}, (run.get("config") or {}).get("epochs") or 1
    count = len(dataset.get("sample_ids") or ()) or dataset.get("samples") or 0
    planned = max(int(count) * int(epochs), len(samples))
    attempt = str(run.get("task_id") or ""), str(run.get("created", ""))
    model = str(run.get("model") or file.stem)
    return Log(file, samples, model, str(run["task"]), str(header.get("status", "started")), planned, attempt)


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return a member of an archive, compressed in any way that Inspect uses."""
    if info.compress_type != _ZSTANDARD:
        return archive.read(info)
    stored = copy.copy(info)
    stored.compress_type, stored.file_size = zipfile.ZIP_STORED, info.compress_size
    del stored.CRC  # which is of the content
    with pa.CompressedInputStream(pa.py_buffer(archive.read(stored)), "zstd") as stream:
        content = bytes(stream.read())
    if zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile(f"{info.filename} is damaged")
    return content


INSPECT = Reader(("*.eval", "*.json"), _is_log, _parts)
